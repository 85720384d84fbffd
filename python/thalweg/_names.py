"""Answers to names that do not exist: the nearest ones that do."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from .catalogue import renamed

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_LISTED = 16
"""Up to this number of known names are all listed if none is near."""


def nearest(word: str, known: Collection[str]) -> str:
    """A hint: the nearest known word, or all known words."""
    if new := renamed(word, known):
        return f"`{word}` was renamed to `{new}`"
    near = get_close_matches(word, known, 1, 0.5)
    return f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known)}"


def unknown_name(kind: str, word: str, known: Collection[str]) -> str:
    """A message: there is no such metric, table or flow, and the nearest names; all names if few and none near."""
    near = get_close_matches(word, known, 3, 0.5)
    if near:
        return f"no {kind} {word!r}; did you mean {' or '.join(near)}?"
    listed = f"; there are {', '.join(known)}" if 0 < len(known) <= MAX_LISTED else ""
    return f"no {kind} {word!r}{listed}"
