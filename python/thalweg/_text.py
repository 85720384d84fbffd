"""Text from networks, programs and files, made safe for terminals."""

from __future__ import annotations

import json
import re

_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What a terminal obeys instead of showing it, or what changes its neighbours: as `printable` of the core has it."""


def printable(text: str, *, lines: bool = False) -> str:
    r"""The text with every control character written as an escape, such as ``\x1b``; with `lines`, line feeds stay.

    For all that people read of what another host, a program or a file said.
    """
    return _CONTROL.sub(lambda found: _escaped(found[0], lines=lines), text)


def _escaped(letter: str, *, lines: bool) -> str:
    if letter == "\n" and lines:
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def json_printable(text: str) -> str:
    """JSON with its control characters as JSON's own escapes: the same text to a program, and nothing that a terminal obeys.

    They can stand inside strings only, but for the line feeds between entries.
    """
    return _CONTROL.sub(lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], text)
