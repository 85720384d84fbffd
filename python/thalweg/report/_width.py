"""Columns of a table that fit on a page; the others are in a table of their own below it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ._page import cell

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    Columns = Sequence[tuple[str, str]]

PAGE = 960.0
"""Width of a table on a page that has room for the contents beside it, in pixels."""

LETTER, AROUND = 7.9, 11.0
"""Mean width of a letter in a wide table, of the widest usual font, and the space around a cell; in pixels."""

NAMES = {"flow", "node", "group", "app", "link", "direction"}
"""Columns that say what a row is of."""


def width_of(key: str, heading: str, rows: Sequence[Mapping[str, Any]]) -> float:
    """Minimum width of a column: its longest cell, or the longest word of its heading."""
    words = re.split(r"(?<=[-._])|\s+", heading)
    longest = max(len(text) for text in [*words, *(cell(row.get(key)) for row in rows)])
    return AROUND + LETTER * longest


def divided(
    columns: Columns, rows: Sequence[Mapping[str, Any]], first: Sequence[str], names: Collection[str] = NAMES
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The columns that fit beside each other, and the others behind those that name a row, each in the order of the table.

    `first` are all keys by importance; `names` are in both.
    """
    widths = {key: width_of(key, heading, rows) for key, heading in columns}
    if sum(widths.values()) <= PAGE:
        return list(columns), []
    kept: set[str] = set()
    used = 0.0
    for key in (key for key in first if key in widths):
        if key in names or used + widths[key] <= PAGE:
            kept.add(key)
            used += widths[key]
    return (
        [column for column in columns if column[0] in kept],
        [column for column in columns if column[0] not in kept or column[0] in names],
    )
