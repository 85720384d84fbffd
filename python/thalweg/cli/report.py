"""`thalweg report`: an HTML page about the results in a folder."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .._stored import AGAIN, INDEX_AGAIN
from ..errors import ResultError
from .output import CommandError, quoted, show_json
from .usage import arguments

if TYPE_CHECKING:
    from collections.abc import Sequence


def report(
    run: Path,
    /,
    *,
    out: Path | None = None,
    show: Annotated[bool, Parameter(name="--open")] = False,
    json: bool = False,
) -> int:
    """Write an HTML page about a run, a sweep or a reproduced paper: one file, opened without a server.

    Parameters
    ----------
    run
        Folder that `thalweg run`, `thalweg emulate` or `thalweg reproduce` wrote.
    out
        HTML file to write. Default: `report.html` in the folder.
    show
        Open the page in the browser.
    json
        Print one JSON object.
    """
    from ..report import write

    try:
        page = write(run, out)
    except ResultError as error:
        inside = sorted(path.parent for path in run.glob("*/**/run.json"))[:3] if run.is_dir() else []
        if inside and error.hint not in (AGAIN, INDEX_AGAIN):
            raise CommandError(str(error), f"runs below it: {', '.join(map(str, inside))}") from error
        raise
    if show:
        webbrowser.open(page.resolve().as_uri())
    if json:
        show_json({"report": str(page), "bytes": page.stat().st_size})
    else:
        print(f"written to {page}")
    return 0


def unused(words: Sequence[str]) -> str | None:
    """The hint for several folders."""
    folders = [quoted(word) for word in arguments(words)]
    if len(folders) < 2:
        return None
    together = f"one page of several runs: `thalweg compare {' '.join(folders)}`"
    return f"{together}; a page of each: `thalweg report {folders[0]}`, and so on"
