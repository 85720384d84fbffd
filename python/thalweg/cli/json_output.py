"""The output of `--json` for runs and sweeps: an object of bounded size, and the paths of the tables with the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._run_folder import TABLES
from ..dataset import RUNS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..result import Result
    from ..sweep import SweepResult

MAX_ROWS = 100
"""Maximum rows of each table, and subjects of each kind in `summary`, in the `--json` output of a run."""


def run_as_json(result: Result, folder: Path) -> dict[str, Any]:
    """A run: its record, its summary, the rows of its flows and links, and the paths of its tables.

    Of more than `MAX_ROWS` flows, receivers, links or nodes the first are printed; `left_out` counts the others.
    """
    wrong = result.violated_invariants
    tables = {"groups": result.groups, "flows": result.flows, "links": result.links, "expect": result.expect}
    left_out = {name: frame.height - MAX_ROWS for name, frame in tables.items() if frame.height > MAX_ROWS}
    values = first_subjects(result.values)
    if len(values) < len(result.values):
        left_out["summary"] = len(result.values) - len(values)
    return {
        "folder": str(folder),
        **result.record,
        "passed": result.passed,
        "violated_invariants": wrong,
        "summary": values,
        **{name: frame.head(MAX_ROWS).to_dicts() for name, frame in tables.items()},
        "left_out": left_out,
        "tables": {name: str(folder / f"{name}.parquet") for name in TABLES},
    }


def sweep_as_json(done: SweepResult, folder: Path) -> dict[str, Any]:
    """A sweep: the metrics of its table, of each run and over the seeds; all others are in the listed tables."""
    import polars

    from ..report.sweep_rows import key_metrics

    metrics = key_metrics(done.runs[0].result) if done.runs else []
    summary = done.summary
    if done.runs:
        summary = summary.filter(polars.col("metric").is_in(metrics))
    rows = done.rows(metrics)
    values = rows.select(metric for metric in metrics if metric in rows.columns).to_dicts()
    return {
        "folder": str(folder),
        "planned": done.planned,
        "status": "complete" if done.complete else "interrupted",
        "passed": bool(rows["passed"].all()),
        "keys": done.keys,
        "metrics": metrics,
        "seeds": [
            {"values": point.values, "seeds": point.seeds, "distinct_runs": point.distinct}
            for point in done.points
        ],
        "violated_invariants": violated_invariants(done),
        "notes": done.notes,
        "failures": done.failures.head(MAX_ROWS).to_dicts(),
        "runs": [
            {
                "values": run.values,
                "seed": run.seed,
                "folder": None if run.result.folder is None else str(run.result.folder),
                "trace_hash": run.result.trace_hash,
                "passed": passed,
                "summary": {metric: summary.get(metric) for metric in metrics},
            }
            for run, passed, summary in zip(done.runs, rows["passed"], values, strict=True)
        ],
        "summary": summary.to_dicts(),
        "tables": {"summary": str(folder / "summary.parquet"), "runs": str(folder / RUNS)},
    }


def violated_invariants(done: SweepResult) -> list[str]:
    """The invariants that runs of a sweep break, with the cell and the seed of the run."""
    return [
        f"{' '.join(f'{key} = {value},' for key, value in run.values.items())} seed {run.seed}: {sentence}".strip()
        for run in done.runs
        for sentence in run.result.record.get("violated_invariants", [])
    ]


def first_subjects(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """A summary with the keys of the first `MAX_ROWS` flows, receivers, links and nodes, such as `flow.short.12.rtt`."""
    seen: dict[str, set[str]] = {kind: set() for kind in ("flow", "receiver", "link", "node")}
    kept = {}
    for key, value in values.items():
        kind, _, rest = key.partition(".")
        if kind in seen:
            subject = rest.rpartition(".")[0]
            if subject not in seen[kind] and len(seen[kind]) >= MAX_ROWS:
                continue
            seen[kind].add(subject)
        kept[key] = value
    return kept
