"""Pages from the templates beside this module: rendering, and the format of values.

`templates/page.html` is the common frame of all pages, `parts.html` has facts, badges, tables and figures, and each kind
of page has its own template. Values in a template are escaped, unless they are `Markup`.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..plots import prepare_svg, use_page_colours
from .claims import check_texts, phases_text
from .numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

VERDICTS = {
    "reproduced": ("good", "✓"),
    "partly": ("half", "◐"),
    "not reproduced": ("bad", "✗"),
    "not testable": ("none", "–"),
    "phase-dependent": ("none", "~"),
    "holds": ("good", "✓"),
    "fails": ("bad", "✗"),
    "pass": ("good", "✓"),
    "undecided": ("half", "◐"),
    "fail": ("bad", "✗"),
    "not applicable": ("none", "–"),
}
"""Class and sign of a verdict: verdicts differ not only in colour."""

WORST_FIRST = (
    *("not reproduced", "fails", "fail", "partly", "undecided"),
    *("phase-dependent", "not testable", "not applicable", "reproduced", "holds", "pass"),
)
"""Verdicts in the order in which a long page has their rows."""

SETTLED = frozenset(WORST_FIRST[5:])
"""Verdicts whose rows a long page folds: they leave nothing to look into."""

MANY_ROWS = 10
"""More rows than this have a table for each verdict."""

FEW_PIECES = 3
"""More figures, tables or choices than this are folded, except the first."""

MANY_COLUMNS = 9
"""A table with more columns is wide."""


@dataclass(frozen=True)
class Entry:
    """An entry of the table of contents."""

    level: int
    title: str
    anchor: str


@dataclass
class Contents:
    """The table of contents, which collects a page's headings during rendering."""

    entries: list[Entry] = field(default_factory=list)

    def section(self, title: str, anchor: str | None = None) -> Markup:
        """Adds the heading of a section."""
        return self._heading(Entry(1, title, slug(anchor or title)))

    def subsection(self, title: str, anchor: str | None = None) -> Markup:
        """Adds the heading of a part of a section."""
        return self._heading(Entry(2, title, slug(anchor or title)))

    def groups(self) -> Iterator[tuple[int, list[Entry]]]:
        """Groups consecutive entries of one level."""
        for level, entries in itertools.groupby(self.entries, lambda entry: entry.level):
            yield level, list(entries)

    def _heading(self, entry: Entry) -> Markup:
        self.entries.append(entry)
        tag = f"h{entry.level + 1}"
        return Markup('<{0} id="{1}">{2}</{0}>').format(tag, entry.anchor, entry.title)


def render(template: str, title: str, **content: Any) -> str:
    """The complete page with this title."""
    from .. import __version__

    contents = Contents()
    text = (
        _templates()
        .get_template(template)
        .render(
            **{"version": __version__, **content},
            title=title,
            contents=contents,
            section=contents.section,
            subsection=contents.subsection,
        )
    )
    return with_units_kept(text)


_APART = r"<(script|style|title|pre|code|svg)\b.*?</\2>|<[^>]*>"
_UNIT = r"(?:%|(?:[kMGT]?bit(?:/s)?|[kMGT]?B|[mnuµ]?s|min|h|[kMG]?Hz)\b)"
_PLACE = re.compile(rf"({_APART})|(?<=\d) (?={_UNIT})|(?:(?<=[≤≥])|(?<=&[gl]t;=)) (?=[+−\d])", re.DOTALL)


def with_units_kept(page: str) -> str:
    """The page with spaces that are not broken between a number and its unit, and after a relation, in its text."""
    return _PLACE.sub(lambda place: place[1] or "\u00a0", page)


def part(name: str, *arguments: Any, **named: Any) -> str:
    """One of the parts separately; its content is `caller`."""
    return template_macro("parts.html", name, *arguments, **named)


def template_macro(template: str, name: str, *arguments: Any, **named: Any) -> str:
    """A macro of a template."""
    return str(getattr(_templates().get_template(template).module, name)(*arguments, **named))


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader(__package__ or "thalweg.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    templates.globals.update(
        check_texts=check_texts,
        phases_text=phases_text,
        verdicts=VERDICTS,
        settled=SETTLED,
        few_pieces=FEW_PIECES,
        by_verdict=by_verdict,
        many_columns=MANY_COLUMNS,
        numeric_columns=numeric_columns,
        embed_svg=embed_svg,
    )
    templates.filters.update(cell=cell, number=number, prose=prose, breakable=breakable, slug=slug)
    return templates


def by_verdict(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Many rows by verdict, the worst first; nothing where they are few or all to look into, and stay together."""
    verdicts = sorted({str(row["verdict"]) for row in rows}, key=WORST_FIRST.index)
    if len(rows) <= MANY_ROWS or (len(verdicts) == 1 and not SETTLED.intersection(verdicts)):
        return []
    return [(verdict, [row for row in rows if row["verdict"] == verdict]) for verdict in verdicts]


def prose(text: str) -> Markup:
    """Text in which backticks mark code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


SHORT = 10
"""Names of at most this length have no place for a break: `cubic.1` stays in one line, `flows.goodput` need not."""


def breakable(text: str) -> Markup:
    """A dotted key that can be broken after its dots and its underscores, if it is long."""
    if len(text) <= SHORT:
        return escape(text)
    return Markup("").join(
        part if part not in "._" else Markup("{}<wbr>").format(part)
        for part in re.split(r"([._])", text)
        if part
    )


def unit_after(row: Mapping[str, Any]) -> str:
    """A space and the unit of a row."""
    return f" {row['unit']}" if row.get("unit") and row["unit"] != "1" else ""


_ONE = r"[+−-]?\d[\d\u202f.]*(e[−+-]?\d+|·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
_INTERVAL = rf"{_ONE}(\s±\s{_ONE}|\s\[{_ONE},\s{_ONE}\])?"
NUMBER = re.compile(rf"–|same|from\s0|×\s[\d.e+]+|({_INTERVAL}|\({_INTERVAL}\)·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)(\s%)?")
"""What `number` writes, with an interval or without, a change in percent, and the word for none."""


def numeric_columns(columns: Sequence[tuple[str, str]], rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Columns with numbers only, also as text with their intervals."""

    def is_number(value: Any) -> bool:
        return value is None or isinstance(value, int | float) or bool(NUMBER.fullmatch(str(value)))

    return {key for key, _ in columns if rows and all(is_number(row.get(key)) for row in rows)}


def embed_svg(drawing: str, anchor: str) -> Markup:
    """A figure in the colours of the page, with unique ids, and with a name for screen readers unless it has one."""
    name = f'role="img" aria-label="{escape(anchor.replace("-", " "))}" xmlns:xlink'
    body = use_page_colours(prepare_svg(drawing, anchor)).replace('role="img" xmlns:xlink', name, 1)
    # a figure of matplotlib has the size of its points, so that its text is as large as that of all charts
    if wide := re.search(
        r'<svg[^>]*? viewBox="0 0 ([\d.]+) [\d.]+"[^>]*xmlns:xlink|<svg[^>]*xmlns:xlink[^>]*? viewBox="0 0 ([\d.]+)',
        body,
    ):
        pixels = round(float(wide[1] or wide[2]) * 96 / 72)
        body = body.replace("<svg ", f'<svg style="max-width:{pixels}px" ', 1)
    return Markup(body)


def cell(value: Any) -> str:
    """The text of a value in a table."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    return str(value)


def slug(text: str) -> str:
    """A name that is valid in a URL."""
    return "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")
