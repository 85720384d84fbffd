"""The page's skeleton and its small parts: facts, badges, tables, figures. Knows nothing of runs or papers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..plots import adopt, inked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

VERDICTS = {
    "reproduced": ("good", "✓"),
    "partly": ("half", "◐"),
    "not reproduced": ("bad", "✗"),
    "not testable": ("none", "–"),
    "holds": ("good", "✓"),
    "fails": ("bad", "✗"),
}
"""Class and sign of a verdict: colour is never the only difference."""

MANY_COLUMNS = 9
"""A table of more columns is a wide one."""


@dataclass
class Page:
    """A page under construction: its parts in order, and the table of contents that they make."""

    title: str
    footer: str = ""
    parts: list[str] = field(default_factory=list)
    contents: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, html: str) -> None:
        """Adds ready HTML."""
        self.parts.append(html)

    def section(self, title: str, anchor: str | None = None) -> None:
        """Begins a section, which the contents list."""
        self._heading(1, title, anchor)

    def subsection(self, title: str, anchor: str | None = None) -> None:
        """Begins a part of a section, which the contents list too."""
        self._heading(2, title, anchor)

    def html(self) -> str:
        """The whole page."""
        shell = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
        for marker, text in {
            "title": escape(self.title),
            "contents": self._contents(),
            "footer": f"{self.footer} Terms: docs/glossary.md of the source tree.".strip(),
            "body": "\n".join(self.parts),
        }.items():
            shell = shell.replace(f"<!--{marker}-->", text, 1)
        return shell

    def _heading(self, level: int, title: str, anchor: str | None) -> None:
        anchor = slug(anchor or title)
        self.contents.append((level, title, anchor))
        self.add(f'<h{level + 1} id="{anchor}">{escape(title)}</h{level + 1}>')

    def _contents(self) -> str:
        lines = ["<ol>"]
        inner = False
        for level, title, anchor in self.contents:
            if level == 2 and not inner:
                lines.append("<li><ol>")
            if level == 1 and inner:
                lines.append("</ol></li>")
            inner = level == 2
            lines.append(f'<li><a href="#{anchor}">{escape(title)}</a></li>')
        lines.append("</ol></li></ol>" if inner else "</ol>")
        return "\n".join(lines)


def prose(text: str) -> str:
    """Words for people; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def head(kicker: str, title: str, lead: str) -> str:
    """The top of the page."""
    wave = "M0 13 " + " ".join(f"q 20 {-9 if i % 2 else 9} 40 0" for i in range(31))
    return (
        f'<header class="top"><p class="kicker">{escape(kicker)}</p><h1>{escape(title)}</h1>'
        f'<p class="lead">{lead}</p>'
        '<svg class="river" viewBox="0 0 1240 26" preserveAspectRatio="none" aria-hidden="true">'
        f'<path d="{wave}" fill="none" stroke="currentColor" stroke-width="1.6"/></svg></header>'
    )


def facts(rows: Iterable[tuple[str, str, str]]) -> str:
    """Cards with a name, a value and a remark under it."""
    cards = []
    for name, value, remark in rows:
        kind = ' class="mono"' if name == "trace hash" else ""
        small = f" <small>{escape(remark)}</small>" if remark else ""
        cards.append(f"<div><dt>{escape(name)}</dt><dd{kind}>{escape(value)}{small}</dd></div>")
    return f'<dl class="facts">{"".join(cards)}</dl>'


def badge(verdict: str) -> str:
    """A verdict as a coloured badge with its sign."""
    kind, sign = VERDICTS.get(verdict, ("none", "–"))
    return f'<span class="badge {kind}"><span aria-hidden="true">{sign}</span>{escape(verdict)}</span>'


def verdict_bar(counts: Mapping[str, int]) -> str:
    """Verdicts as shares of one bar, and in words."""
    total = max(sum(counts.values()), 1)
    spans = "".join(
        f'<span class="{VERDICTS[verdict][0]}" style="width:{100 * count / total:.2f}%" title="{count} {verdict}"></span>'
        for verdict, count in counts.items()
        if count
    )
    words = " &nbsp; ".join(f"{badge(verdict)} {count}" for verdict, count in counts.items() if count)
    return f'<div class="bar" role="img" aria-label="verdicts">{spans}</div><p>{words}</p>'


def table(
    columns: Sequence[tuple[str, str]],
    rows: Iterable[Mapping[str, Any]],
    *,
    names: str | None = None,
    kind: str = "",
) -> str:
    """A table; `columns` are (key, heading) pairs, cells are escaped. `names` is the column printed in bold.

    A table of many columns is set smaller, and keeps its first column in sight where it is moved sideways.
    """
    listed = list(rows)
    if len(columns) > MANY_COLUMNS:
        kind = f"{kind} wide".strip()
    numeric = {
        key
        for key, _ in columns
        if all(isinstance(row.get(key), int | float | None) for row in listed) and listed
    }
    heads = "".join(
        f"<th{' class=number' if key in numeric else ''}>{_heading(heading)}</th>" for key, heading in columns
    )
    body = []
    for row in listed:
        cells = []
        for key, _ in columns:
            class_ = "number" if key in numeric else "name" if key == names else ""
            cells.append(f"<td{f' class={class_}' if class_ else ''}>{cell(row.get(key))}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll"><table class="{kind}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def figure(anchor: str, drawing: str, caption: str, data: Sequence[tuple[str, str]] = ()) -> str:
    """A picture with its caption, and links to the data that it shows. `caption` is HTML."""
    drawing = inked(adopt(drawing, anchor))
    plate = "plate" if "var(--ink" in drawing else "plate fixed"
    links = " · ".join(f'<a href="{escape(href)}">{escape(name)}</a>' for name, href in data)
    links = f'<span class="data">Data: {links}</span>' if links else ""
    return f'<figure><div class="{plate}">{drawing}</div><figcaption>{caption}{links}</figcaption></figure>'


def folded(title: str, inner: str) -> str:
    """What is there for those who ask."""
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def cell(value: Any) -> str:
    """A value as a table shows it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    return escape(str(value))


def number(value: float | None, digits: int = 4) -> str:
    """A number with `digits` significant digits, thousands apart; a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e9 or size < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}·10{_raised(int(exponent))}".replace("-", "−")
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    text = f"{value:,.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace(",", "\u202f").replace("-", "−")


def slug(text: str) -> str:
    """A name that an address can carry."""
    return "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")


def _heading(text: str) -> str:
    """`rate (Mbit/s)`: the unit in small. A dotted key may be broken after its dots."""
    name, _, unit = text.partition(" (")
    shown = escape(name).replace(".", ".<wbr>")
    return f"{shown} <small>({escape(unit)}</small>" if unit else shown


def _raised(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
