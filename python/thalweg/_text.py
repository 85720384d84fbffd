"""Text from networks, programs and files, made safe for terminals and shells."""

from __future__ import annotations

import json
import re
import shlex

_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Control characters that a terminal executes, or that change their neighbours; the same set as `printable` in the
core."""


def printable(text: str, *, lines: bool = False) -> str:
    r"""The text with every control character escaped, such as ``\x1b``; with `lines`, line feeds are kept.

    For all output of text from another host, a program or a file.
    """
    return _CONTROL.sub(lambda found: _escaped(found[0], lines=lines), text)


def _escaped(letter: str, *, lines: bool) -> str:
    if letter == "\n" and lines:
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def json_printable(text: str) -> str:
    """JSON with its control characters as escapes of JSON: the same value for a program, and harmless on a terminal.

    Control characters occur inside strings only, except the line feeds between entries.
    """
    return _CONTROL.sub(lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], text)


def quoted(path: object) -> str:
    """A path quoted for a shell."""
    return shlex.quote(str(path))
