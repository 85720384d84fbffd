"""A lock on a folder of results, so that two processes do not write it at the same time.

The operating system releases it when its process ends, in whatever way: the file that names the holder never blocks.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import ResultError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LOCK_FILE", "locked"]

LOCK_FILE = ".writing"
"""The file in a folder that names the process that writes it. It is removed at the end, unless the process was killed."""


NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP}
"""What file systems without locks answer: there, two processes are not kept apart."""


@contextmanager
def locked(folder: str | Path | None, *, wait: bool = False) -> Iterator[None]:
    """Holds the lock of a folder, which is made if it does not exist; nothing if there is no folder.

    Raises `ResultError` with the number and the host of the process that holds it; with `wait` it waits instead.
    """
    if folder is None:
        yield
        return
    file = Path(folder) / LOCK_FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        number = _acquire(file, wait=wait)
    except OSError as error:
        raise ResultError(f"{folder} cannot be written: {error.strerror or error}") from error
    try:
        os.ftruncate(number, 0)
        os.write(number, f"process {os.getpid()} on {platform.node()}\n".encode())
        yield
    finally:
        # before it is released: nobody else holds it yet
        file.unlink(missing_ok=True)
        os.close(number)


def _acquire(file: Path, *, wait: bool) -> int:
    """The descriptor of the file with the lock."""
    while True:
        number = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(number, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(number), os.stat(file)):
                return number
        except FileNotFoundError:
            # the holder removed it between both calls
            pass
        except BlockingIOError as error:
            holder = os.read(number, 200).decode(errors="replace").strip()
            os.close(number)
            raise ResultError(
                f"{file.parent} is being written by {holder or 'another process'}",
                "wait for its end or stop it, or write to another folder",
            ) from error
        except OSError as error:
            if error.errno in NO_LOCKS:
                return number
            os.close(number)
            raise
        os.close(number)
