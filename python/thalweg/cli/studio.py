"""`thalweg studio`: scenarios in the browser."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .output import CommandError, console, quoted, show_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..runs.folders import RunLocation
    from ..scenario import Plan
    from ..studio.start import RunActivity, Served, TransferActivity
    from ..studio.work import Activity
    from ..transfers import Transfer

LIBRARIES = ("starlette", "uvicorn", "websockets")
"""What the studio needs besides."""


def studio(
    folder: Path = Path(),
    /,
    *,
    port: int = 0,
    no_open: bool = False,
    json: bool = False,
) -> int:
    """Edit, run and watch scenarios in the browser, on this host only; Ctrl-C ends it and keeps what was measured.

    The address contains a token: only browsers that have it are answered. Results are in `out` below the folder, where
    `thalweg run` writes them, too.

    Parameters
    ----------
    folder
        Folder with scenarios; the working directory by default.
    port
        Listen at this TCP port; a free one by default.
    no_open
        Do not open the page in the browser.
    json
        Print one JSON object, with the `address`, when it is ready.
    """
    require()
    if not folder.is_dir():
        raise CommandError(f"{folder}: not a folder", "name a folder with scenarios")
    at = served(folder, port)
    if json:
        show_json({"address": at.address, "folder": str(folder)})
    else:
        console().print(f"Studio: {at.address}", soft_wrap=True, markup=False)
        console().print("Ctrl-C ends it; what runs then is stopped, and its results are kept.", style="dim")
    if not no_open:
        at.open()
    for activity in at.serve():
        console(error=True).print(
            f"stopped: {activity.title}; its results are in {activity.folder}", soft_wrap=True, markup=False
        )
    return 0


def served(folder: Path, port: int) -> Served:
    """A studio for a folder at a port. Refuses a port that is taken, or none."""
    from ..studio import start

    if not 0 <= port <= 65535:
        raise CommandError(f"--port {port}: from 0 to 65535")
    try:
        return start.serve(folder, port)
    except OSError as error:
        raise CommandError(
            f"--port {port}: {error.strerror}", "choose another port, or leave --port out"
        ) from error


@contextmanager
def watched(plan: Plan, location: RunLocation, file: str) -> Iterator[RunActivity]:
    """A run that the browser watches; the block carries it out. Afterwards the page stays until it is left, or Ctrl-C."""
    require()
    from ..studio import start

    activity = start.RunActivity(plan, location, _command(), file)
    with _shown(activity) as at:
        yield activity
        with suppress(KeyboardInterrupt):
            activity.publish()
            if not activity.interrupted or activity.stop_requested:
                _linger(at)


@contextmanager
def watched_transfer(transfer: Transfer, title: str, *, sending: bool) -> Iterator[TransferActivity]:
    """A transfer that the browser watches; the block carries it out. The page then stays until it is left, or Ctrl-C."""
    require()
    from ..studio import start

    activity = start.TransferActivity(transfer, title, _command(), sending=sending)
    with _shown(activity) as at:
        with activity.watched():
            yield activity
        if not activity.interrupted or activity.stop_requested:
            with suppress(KeyboardInterrupt):
                _linger(at)


def _command() -> str:
    """The command of this process."""
    return " ".join(["thalweg", *map(quoted, sys.argv[1:])])


@contextmanager
def _shown(activity: Activity) -> Iterator[Served]:
    """A studio with this activity, open in the browser while the block runs."""
    at = served(Path(), 0)
    at.studio.hub.add(activity)
    with at.in_background():
        page = f"#/activity/{activity.number}"
        console(error=True).print(f"Live: {at.address}{page}", soft_wrap=True, markup=False)
        at.open(page)
        yield at


def _linger(at: Served) -> None:
    console(error=True).print("The page stays until it is closed; Ctrl-C ends it.", style="dim")
    at.linger()


def require() -> None:
    """Refuses if a library of the studio is not installed."""
    from importlib.util import find_spec

    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise CommandError(
            f"the studio needs {', '.join(missing)}, which {'are' if len(missing) > 1 else 'is'} not installed",
            "pip install thalweg[studio]",
            code=1,
        )
