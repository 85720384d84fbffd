"""Output of all verbs: JSON, messages, tables."""

from __future__ import annotations

import json as _json
import math
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, TextIO

from .._names import nearest as nearest
from .._text import json_printable, printable
from .._text import quoted as quoted
from ..errors import InvariantWarning, ResultWarning, without_number
from ..runs.requests import CommandError as CommandError
from ..runs.requests import check_minimum as check_minimum
from ..runs.requests import check_seed as check_seed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console, ConsoleRenderable, RenderHook
    from rich.text import Text

WIDTH = 160
"""Width of output without a terminal, unless `COLUMNS` is set; rich's 80 would omit many columns in logs."""


DATA_ENDINGS = {
    ".csv",
    ".tsv",
    ".txt",
    ".dat",
    ".json",
    ".jsonl",
    ".parquet",
    ".xlsx",
    ".xls",
    ".md",
    ".html",
    ".tex",
}
"""Endings of files that contain numbers or text instead of a figure."""


def console(*, error: bool = False) -> Console:
    """The console for messages: standard output, or standard error."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    known = stream.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    screen = Console(stderr=error, width=None if known else WIDTH, highlight=False)
    screen.push_render_hook(_guard())
    return screen


def _guard() -> RenderHook:
    """The last filter before a terminal: no control characters pass except rich's own.

    Text of other hosts is escaped where it is received (`printable`); this is a second safeguard.
    """
    from rich.console import ConsoleOptions, RenderHook, RenderResult
    from rich.segment import Segment

    class Guarded:
        def __init__(self, inner: ConsoleRenderable) -> None:
            self.inner = inner

        def __rich_console__(self, screen: Console, options: ConsoleOptions) -> RenderResult:
            for segment in screen.render(self.inner, options):
                if segment.control:
                    yield segment
                else:
                    yield Segment(printable(segment.text, lines=True), segment.style)

    class Guard(RenderHook):
        def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
            return [Guarded(renderable) for renderable in renderables]

    return Guard()


def show_json(value: Mapping[str, Any]) -> None:
    """Prints one JSON object on standard output. Not-a-number is null."""
    # in one call: `dump` writes each number and each comma separately, which takes longer than formatting them
    text = _json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(json_printable(text) + "\n")


def print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Prints a warning on standard error, for `warnings.showwarning`; one about results without its place in a program."""
    text = warnings.formatwarning(message, category, filename, lineno, line)
    if issubclass(category, ResultWarning | InvariantWarning):
        text = printable(f"warning: {message}", lines=True) + "\n"
    (file or sys.stderr).write(text)


def print_error(
    message: str,
    *,
    hint: str | None = None,
    problems: Sequence[Mapping[str, Any]] = (),
    json: bool,
    framed: bool = False,
    code: int = 2,
) -> int:
    """Prints an error on standard error (with `--json` as one object on standard output); returns the exit code."""
    message = without_number(message)
    if json:
        show_json({"error": {"message": message, "hint": hint, "problems": list(problems)}})
        return code
    text = message.rstrip() if framed else f"error: {message.rstrip()}"
    if hint:
        text += f"\nhint: {hint}"
    sys.stderr.write(printable(text, lines=True) + "\n")
    return code


def print_table(
    title: str,
    columns: Sequence[tuple[str, str]],
    rows: Iterable[Mapping[str, Any]],
    *,
    limit: int | None = None,
    first: Sequence[str] = (),
    all_in: str = "`--json` has all",
    whole: bool = False,
) -> None:
    """A table on the terminal; `columns` are (key, heading) pairs, numbers are aligned to the right.

    If the terminal is too narrow for all columns, those in `first` are kept in order of importance. A line below the
    table lists the omitted columns, and where they are: `all_in`. With `whole` they follow in further tables instead, each
    with the first column.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from .tables import is_prose, layout, shorten

    screen = console()
    listed = list(rows)
    shown = listed if limit is None else listed[:limit]
    texts = {key: [_cell_text(row.get(key)) for row in shown] for key, _ in columns}
    plain = {key: [text.plain for text in column] for key, column in texts.items()}
    chosen = layout(columns, plain, screen.width, first=first)
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_header=any(heading for _, heading in columns),
    )
    for key in chosen.columns:
        numeric = bool(shown) and all(isinstance(row.get(key), int | float | None) for row in shown)
        table.add_column(
            Text(chosen.headings[key]),
            justify="right" if numeric else "left",
            width=chosen.widths[key],
            no_wrap=not is_prose(plain[key]),
            overflow="fold",
        )
        if max(map(len, plain[key]), default=0) > chosen.widths[key] and not is_prose(plain[key]):
            texts[key] = [Text(shorten(text.plain, chosen.widths[key])) for text in texts[key]]
    for index in range(len(shown)):
        table.add_row(*(texts[key][index] for key in chosen.columns))
    screen.print()
    if title:
        screen.print(Text(title, style="bold"))
    screen.print(table)
    if len(listed) > len(shown):
        screen.print(f"… and {len(listed) - len(shown)} more", style="dim")
    if chosen.omitted and whole and len(chosen.columns) > 1:
        kept = [column for column in columns if column[0] in (columns[0][0], *chosen.omitted)]
        print_table("", kept, shown, first=(columns[0][0],), all_in=all_in, whole=True)
    elif chosen.omitted:
        headings = dict(columns)
        names = ", ".join(headings[key] or key for key in chosen.omitted)
        screen.print(Text(f"Not shown at this width: {names}. {all_in}.", style="dim"))


def _cell_text(value: Any) -> Text:
    """The text of a cell."""
    from rich.text import Text

    return value if isinstance(value, Text) else Text(cell(value))


def cell(value: Any) -> str:
    """A value as tables show it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    return printable(str(value))


def range_text(parameter: Mapping[str, Any]) -> str:
    """`0 … 1`; a dash if every value of its kind is allowed."""
    if parameter["range"] is None:
        return "–"
    low, high = parameter["range"]
    return f"{exact(low)} … {exact(high)}"


def exact(value: Any) -> str:
    """A value that a user chose, with all its digits."""
    return f"{value:.12g}" if isinstance(value, float) else cell(value)


def number(value: float, digits: int = 3) -> str:
    """A number with this many significant digits, without trailing zeros; whole numbers keep all digits before the point."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1e6 or abs(value) < 1e-4:
        return f"{value:.{digits - 1}e}"
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def check_figure(out: Path | None, numbers: str) -> None:
    """Refuse a file for a figure whose ending is one of data; `numbers` says how to get the numbers."""
    if out is not None and out.suffix.lower() in DATA_ENDINGS:
        raise CommandError(
            f"a figure is no {out.suffix} file: {quoted(out)}",
            f"{numbers}; figures end in .svg, .pdf or .png",
        )


def check_scheme(name: str, family: str, purpose: str) -> None:
    """Refuses schemes of other families. The hint omits schemes that need a part in routers, which sockets do not have."""
    from ..catalogue import schemes

    family_rows = [row for row in schemes() if family in row["families"]]
    if all(row["name"] != name for row in family_rows):
        usable = [row["name"] for row in family_rows if not row["router"]]
        known = next((row for row in schemes() if row["name"] == name), None)
        hint = f"there are: {', '.join(usable)}" if known else nearest(name, usable)
        if known and known["router"]:
            raise CommandError(f"`{name}` needs reports of routers, which paths over UDP do not have", hint)
        raise CommandError(f"`{name}` is no scheme for {purpose}", hint)


def _plain(value: Any) -> Any:
    """Only values that JSON has."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
