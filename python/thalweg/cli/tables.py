"""Layout of tables for a terminal of a given width: columns that fit, their widths, and breaks within cells.

A word, a name or a number is never broken. Columns that do not fit are omitted, in reverse order of importance.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

GAP = 2
"""Spaces between columns."""

NARROW = 20
"""Minimum width of a terminal; a narrower one is treated as this wide."""

PROSE = 28
"""A column with a longer cell of several words is prose: it may be broken at spaces."""

PROSE_MIN = 20
"""Minimum width of prose."""

SLASH = "\u2215"
"""Placeholder for a slash at which a heading must not be broken."""


@dataclass(frozen=True)
class Layout:
    """The visible part of a table."""

    columns: list[str]
    """Keys of the columns that fit, in the order of the table."""
    widths: dict[str, int]
    """Widths of these columns."""
    headings: dict[str, str]
    """Headings of these columns, broken into lines."""
    omitted: list[str]
    """Keys of the columns that do not fit."""


def layout(
    columns: Sequence[tuple[str, str]],
    cells: Mapping[str, Sequence[str]],
    width: int,
    *,
    first: Sequence[str] = (),
) -> Layout:
    """Selects columns and widths.

    `columns` are keys and headings, in order; `cells` the texts of each; `first` the important keys, in order of
    importance. Keys that are not in `first` follow, in the order of the table.
    """
    width = max(width, NARROW)
    keys = [key for key, _ in columns]
    headings = dict(columns)
    order = [key for key in first if key in headings]
    order += [key for key in keys if key not in order]
    body = {key: _cell_widths(cells[key]) for key in keys}
    narrow = {key: max(body[key][0], _longest(_break_points(headings[key]))) for key in keys}
    shown: list[str] = []
    used = 0
    for key in order:
        wanted = narrow[key] if shown else min(narrow[key], width)
        if used + wanted + GAP * bool(shown) <= width:
            shown.append(key)
            used += wanted + GAP * (len(shown) > 1)
    shown.sort(key=keys.index)
    widths = {key: min(narrow[key], width) for key in shown}
    spare = width - used
    # prose first, then headings on fewer lines
    for wide in (
        {key: body[key][1] for key in shown},
        {key: max(len(headings[key]), body[key][1]) for key in shown},
    ):
        spare = _widen(widths, wide, spare)
    return Layout(
        shown,
        widths,
        {key: wrap_heading(headings[key], widths[key]) for key in shown},
        [key for key in keys if key not in shown],
    )


def is_prose(texts: Iterable[str]) -> bool:
    """Whether cells can be broken at spaces: one of them is long and has several words."""
    return any(len(text) > PROSE and " " in text for text in texts)


def shorten(text: str, width: int) -> str:
    """A name that is longer than `width` without its middle; both ends distinguish names."""
    if len(text) <= width:
        return text
    kept = max(width - 1, 2)
    return f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"


def wrap_heading(heading: str, width: int) -> str:
    """A heading on lines of at most `width`, broken at spaces, after slashes and commas, and after dots between words."""
    lines: list[str] = []
    for piece in _break_points(heading):
        if lines and len((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
        else:
            lines.append(piece)
    shown = (line.strip().replace(SLASH, "/").replace("\u00a0", " ") for line in lines)
    return "\n".join(shorten(line, width) for line in shown)


def _break_points(heading: str) -> list[str]:
    """The parts between which a heading can be broken."""
    return re.split(r"(?<=[ /,])(?=\S)|(?<=\.)(?=[^\W\d])", _protect_units(heading))


def _protect_units(heading: str) -> str:
    """A heading in which a unit stays unbroken: its slash and its space are no break points."""
    return re.sub(
        r"\([^()]{1,16}\)", lambda unit: unit[0].replace("/", SLASH).replace(" ", "\u00a0"), heading
    )


def _longest(pieces: Sequence[str]) -> int:
    return max((len(piece.strip()) for piece in pieces), default=0)


def _cell_widths(texts: Sequence[str]) -> tuple[int, int]:
    """The minimum and the maximum sensible width of some cells."""
    widest = max((len(line) for text in texts for line in text.split("\n")), default=0)
    if not is_prose(texts):
        return widest, widest
    word = max(len(word) for text in texts for word in text.split())
    return max(word, min(widest, PROSE_MIN)), widest


def _widen(widths: dict[str, int], wanted: Mapping[str, int], spare: int) -> int:
    """Distributes spare width evenly to the columns that need more; returns the rest."""
    while spare > 0:
        short = [key for key in widths if widths[key] < wanted[key]]
        if not short:
            break
        for key in short[:spare]:
            widths[key] += 1
        spare -= min(len(short), spare)
    return spare
