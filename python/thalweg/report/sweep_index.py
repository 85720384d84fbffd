"""The index of a sweep: what its folder has besides its runs."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._run_folder import PAGE
from .._stored import read_index, read_record, warn_of_damage
from ..dataset import RUNS
from ..errors import ResultError
from . import runs_scatter as scatter
from . import transfer_times
from .sweep_rows import key_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..result import Result
    from ..sweep import SweepResult

MAX_FAILURES = 1000
"""Maximum number of failed expectations in `sweep.json`; the dataset and the folders of the runs have all."""

FILE = "sweep.json"
"""The file of a sweep beside `summary.parquet` and the folders of its runs."""

PART = "sweep.json.part"
"""The file before the sweep has ended; it lists the plans."""


def warn_if_damaged(folder: Path) -> None:
    """Says that the index of a sweep cannot be read and will be written again."""
    with suppress(OSError):
        try:
            read_index(folder / FILE)
        except ResultError as error:
            warn_of_damage(error, "it is written again")


def begin(plans: Sequence[str], folder: Path) -> None:
    """Records the plans of a sweep before it starts, so that the folder of a killed one can be recognised."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PART).write_text(json.dumps({"plans": list(plans)}, indent=1) + "\n", encoding="utf-8")


def plan_digests(folder: Path) -> list[str] | None:
    """Digests of the plans of the sweep in a folder; None if there is none."""
    for read, name in ((read_index, FILE), (read_record, PART)):
        try:
            record = read(folder / name)
        except (OSError, ResultError):
            # nobody can read it: it is written again
            continue
        # without digests: any other sweep differs
        plans = record.get("plans")
        return list(plans) if isinstance(plans, list) else ["unknown"]
    return None


def save(done: SweepResult, title: str, folder: Path, overrides: Mapping[str, Any]) -> None:
    """Writes `summary.parquet` (means over seeds), `runs.parquet` and `sweep.json` (the runs); removes an earlier page.

    `overrides` are the keys that were changed for all of it.
    """
    from .. import __version__

    folder.mkdir(parents=True, exist_ok=True)
    for name in (PAGE, FILE):
        (folder / name).unlink(missing_ok=True)
    done.summary.write_parquet(folder / "summary.parquet")
    metrics = key_metrics(done.runs[0].result) if done.runs else []
    rows = done.rows(metrics)
    rows.write_parquet(folder / RUNS)
    samples = scatter.pairs(done.labelled())
    record = {
        "format": 1,
        "version": __version__,
        "title": title,
        "overrides": dict(overrides),
        "keys": done.keys,
        "metrics": metrics,
        "planned": done.planned,
        "plans": done.plan_digests,
        "spans": _spans(done),
        "times": transfer_times.of_sweep(done),
        "scatter": samples if scatter.worth_drawing(samples) else {},
        "failures": done.failures.head(MAX_FAILURES).to_dicts(),
        "expected": any(not run.result.expect.is_empty() for run in done.runs),
        "runs": [
            {
                "values": run.values,
                "seed": run.seed,
                "folder": relative_folder(run.result, folder),
                "trace_hash": run.result.trace_hash,
                "packet_hops": run.result.packet_hops,
                "passed": row["passed"],
                "metrics": {metric: row.get(metric) for metric in metrics},
            }
            for run, row in zip(done.runs, rows.to_dicts(), strict=True)
        ],
    }
    written = folder / f"{FILE}.{os.getpid()}"
    written.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    written.replace(folder / FILE)
    (folder / PART).unlink(missing_ok=True)


def _spans(done: SweepResult) -> dict[str, list[float]]:
    """Shortest and longest duration of a run, and measured time after its warm-up, in seconds."""
    spans = {
        name: [run.result.values.get(f"run.{name}") or 0.0 for run in done.runs]
        for name in ("ended", "measured")
    }
    return {name: [min(listed), max(listed)] for name, listed in spans.items() if listed}


def read(folder: Path) -> dict[str, Any]:
    """The content of `sweep.json`. Raises `ResultError` if it is missing or damaged."""
    try:
        return read_index(folder / FILE)
    except (FileNotFoundError, NotADirectoryError) as error:
        hint = "give the folder of a sweep, or for one run take `Result.load`"
        raise ResultError(f"{folder} holds no sweep: {FILE} is missing", hint) from error


def relative_folder(result: Result, beside: Path) -> str | None:
    """The folder of a run relative to another one; None for a run in memory."""
    return None if result.folder is None else Path(os.path.relpath(result.folder, beside)).as_posix()
