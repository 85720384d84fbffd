"""`thalweg compare`: runs side by side."""

from __future__ import annotations

import sys
from pathlib import Path

from .output import CommandError, print_table, show_json


def compare(*runs: Path, out: Path = Path("out/compare.html"), json: bool = False) -> int:
    """Compare runs: print their metrics side by side, and write a page with plots.

    Warns when their scenarios or the versions of the program differ, and when a number of a run violates an invariant and is
    wrong.

    Parameters
    ----------
    runs
        Folders of two or more runs, as `thalweg run` or `thalweg emulate` wrote them.
    out
        HTML file to write.
    json
        Print one JSON object instead of the table.
    """
    from ..report import compare as write
    from ..report.comparison import differences, known_values, metrics, names, violations
    from ..result import Result

    if len(runs) < 2:
        raise CommandError("a comparison needs at least two runs", "thalweg compare RUN RUN")
    results = [Result.load(run) for run in runs]
    loaded = list(zip(names(results), results, strict=True))
    warnings = differences(loaded)
    rows = metrics(loaded)
    page = write(loaded, out)
    code = 1 if violations(loaded) else 0
    if json:
        show_json(
            {
                "report": str(page),
                "warnings": warnings,
                "runs": [
                    {"name": name, "folder": str(run)} for (name, _), run in zip(loaded, runs, strict=True)
                ],
                "metrics": rows,
            }
        )
        return code
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    columns = [("metric", "metric"), ("unit", "unit"), *((name, name) for name, _ in loaded)]
    if len(loaded) == 2:
        columns.append(("change", "change"))
    first = ["metric", *(name for name, _ in loaded), "unit", "change"]
    print_table("Side by side", columns, ({**row, **known_values(row)} for row in rows), first=first)
    print(f"Page: {page}")
    return code
