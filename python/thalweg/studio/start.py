"""What the commands need of the studio: it is served for a folder, or beside a run or a transfer that it shows."""

from __future__ import annotations

from pathlib import Path

from .app import Studio
from .files import Folder
from .server import Served
from .transfer import TransferActivity
from .work import RunActivity

__all__ = ["RunActivity", "Served", "TransferActivity", "serve"]


def serve(folder: Path, port: int) -> Served:
    """A studio for a folder at a port; 0 is any free one. Raises `OSError` if the port is taken."""
    return Served(Studio(Folder(folder)), port)
