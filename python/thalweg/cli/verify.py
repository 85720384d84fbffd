"""`thalweg verify`: the numbers of a run beside what its packets give."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..errors import ResultError
from .options import SchemeFiles, load_scheme_files
from .output import CommandError, console, print_table, show_json
from .run import apply_overrides

if TYPE_CHECKING:
    from ..verification import Verification

MAX_DIFFERENCES = 40


def verify(
    run: Path,
    /,
    *,
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    scheme_file: SchemeFiles = (),
    json: bool = False,
) -> int:
    """Verify a run: repeat it, record every packet, and recompute every number of its tables from the packets.

    Parameters
    ----------
    run
        Folder that `thalweg run` wrote, or a scenario file, of which the sweep is ignored.
    changes
        Set a dotted key of a scenario file, such as `--set duration="10 s"`; may be repeated.
    scheme_file
        Import this Python file and add its schemes to the catalogue; may be repeated. It runs with your rights.
    json
        Print one JSON object.
    """
    from ..result import Result
    from ..scenario import load
    from ..verification import verify as verify_run

    load_scheme_files(scheme_file)
    if changes and not run.is_file():
        raise CommandError("--set changes a scenario file, not a finished run")
    source = apply_overrides(load(run), changes) if run.is_file() else Result.load(run)
    try:
        found = verify_run(source)
    except ResultError as error:
        raise CommandError(str(error), error.hint) from error
    if json:
        show_json(as_json(found))
    else:
        _print(found)
    return 0 if found.passed else 1


def as_json(found: Verification) -> dict[str, Any]:
    """The verification for programs."""
    return {
        "passed": found.passed,
        "sentence": sentence(found),
        "numbers": found.numbers,
        "columns": len(found.columns),
        "events": found.events,
        "differences": [vars(difference) for difference in found.differences],
        "violated_invariants": found.violated,
        "not_recomputed": [
            {"table": table, "column": column, "reason": reason}
            for (table, column), reason in sorted(found.without.items())
        ],
    }


def sentence(found: Verification) -> str:
    """The outcome in one sentence."""
    head = f"{found.numbers:,} numbers of {len(found.columns)} columns recomputed from {found.events:,} packet events"
    if not found.differences:
        return f"{head}: all equal"
    return f"{head}: {len(found.differences):,} differ"


def _print(found: Verification) -> None:
    screen = console()
    if found.differences:
        rows = [
            {
                "table": difference.table,
                "row": difference.row,
                "column": difference.column,
                "printed": _text(difference.printed),
                "recomputed": _text(difference.recomputed),
            }
            for difference in found.differences
        ]
        columns = [(name, name) for name in ("table", "row", "column", "printed", "recomputed")]
        print_table("Differences", columns, rows, limit=MAX_DIFFERENCES)
    for invariant in found.violated:
        screen.print(f"violated invariant: {invariant}", style="red", markup=False, soft_wrap=True)
    if found.without:
        reasons: dict[str, list[str]] = {}
        for (table, column), reason in sorted(found.without.items()):
            reasons.setdefault(reason, []).append(f"{table}.{column}")
        for reason, names in reasons.items():
            screen.print(
                f"not recomputed: {', '.join(names)} ({reason})", style="dim", markup=False, soft_wrap=True
            )
    screen.print(sentence(found), style="green" if found.passed else "red", markup=False, soft_wrap=True)


def _text(value: object) -> str:
    return "–" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)
