"""Files that users name, read to a limit: a device or a pipe can be without an end."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

__all__ = ["MAX_BYTES", "check_size", "read_stream", "read_text"]

MAX_BYTES = 256 * 2**20
"""Maximum size of a file of text; a scenario with 100 000 tables of flows has 20 MB."""


def check_size(path: Path) -> bool:
    """Whether a file is regular, and so has a size. Raises ``OSError`` if that is above `MAX_BYTES`, or without a file."""
    about = path.stat()
    if about.st_size > MAX_BYTES:
        raise _too_large(path)
    return stat.S_ISREG(about.st_mode)


def read_text(path: Path) -> str:
    """The text of a file, a pipe or a device in UTF-8, with or without a byte order mark.

    Raises ``OSError``, also if it is longer than `MAX_BYTES`, and ``UnicodeDecodeError``.
    """
    check_size(path)
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _too_large(path)
    # line ends as in a file that is opened as text
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def read_stream(path: Path) -> str | None:
    """The text of a pipe or a device; None for a file, a folder and what does not exist. Raises ``OSError``."""
    if path.is_dir() or not path.exists() or check_size(path):
        return None
    try:
        return read_text(path)
    except UnicodeDecodeError as error:
        raise OSError(errno.EILSEQ, "not UTF-8 text", str(path)) from error


def _too_large(path: Path) -> OSError:
    return OSError(errno.EFBIG, f"longer than {MAX_BYTES // 2**20} MiB, or without an end", str(path))
