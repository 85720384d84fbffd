"""`thalweg report`: a page of a folder of results."""

from __future__ import annotations

from pathlib import Path

from ..errors import ResultError
from .out import Refusal, show_json


def report(run: Path, /, *, out: Path | None = None, json: bool = False) -> int:
    """Write the HTML report of a run, a sweep or a reproduced paper: one file that opens from disk.

    Parameters
    ----------
    run
        The folder that `thalweg run` or `thalweg reproduce` wrote.
    out
        The file to write; `report.html` in the folder when not given.
    json
        Print one JSON object.
    """
    from ..report import write

    try:
        page = write(run, out)
    except ResultError as error:
        inside = sorted(path.parent for path in run.glob("*/**/run.json"))[:3] if run.is_dir() else []
        hint = (
            f"runs below it: {', '.join(map(str, inside))}"
            if inside
            else "give a folder that `thalweg run` wrote"
        )
        raise Refusal(str(error), hint) from error
    if json:
        show_json({"report": str(page), "bytes": page.stat().st_size})
    else:
        print(f"written to {page}")
    return 0
