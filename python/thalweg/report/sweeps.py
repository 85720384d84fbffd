"""The page of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import plots
from .._points import cells_of, group_by_point, notes
from .._run_folder import with_overrides
from .._stored import INDEX_AGAIN, read_table
from . import _charts, _panels, transfer_times
from . import runs_scatter as scatter
from ._page import render
from ._topology import time_text
from ._width import divided
from .numbers import number
from .sweep_index import FILE as FILE
from .sweep_index import read
from .sweep_rows import (
    Row,
    add_samples,
    axis_label,
    failed_cells,
    failure_columns,
    has_intervals,
    means_table,
    points,
    same_everywhere,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


MAX_SEEDS = 10
"""Seeds that a page lists."""
TIMES = """import thalweg as tw
from thalweg.report import transfer_times

times = transfer_times.of_sweep(tw.SweepResult.load("."))  # the folder of the sweep
transfer_times.figure(times["{group}"]).savefig("times-{group}.svg")
"""
"""Python that makes the picture of completion times."""

PYTHON = """import thalweg as tw

done = tw.SweepResult.load(".")  # the folder of the sweep
done.scatter("queueing_delay", "throughput", out="throughput-over-delay.svg")
"""
"""Python that makes the picture of throughput over delay."""


def _seeds(listed: Iterable[int]) -> str:
    """The seeds of each point: `per point: 1 to 5`, or each of them, as many as are listed."""
    seeds = sorted(set(listed))
    if len(seeds) > 1 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"per point: {seeds[0]} to {seeds[-1]}"
    return f"per point: {', '.join(map(str, seeds[:MAX_SEEDS]))}{', …' * (len(seeds) > MAX_SEEDS)}"


def _durations(spans: Mapping[str, list[float]]) -> list[tuple[str, str, str]]:
    """How long a run was, and how much of it was measured. Sweeps of earlier versions do not say."""
    if not spans:
        return []
    ended, measured = (
        time_text(low) if low == high else f"{time_text(low)} to {time_text(high)}"
        for low, high in (spans["ended"], spans["measured"])
    )
    return [("a run", ended, f"measured over {measured}, after the warm-up")]


def _values(keys: list[str], runs: list[Row]) -> list[Row]:
    """What the columns of the keys have for each run: a queue discipline with its details is text, as in the summary."""
    cells = {key: cells_of([run["values"].get(key) for run in runs]) for key in keys}
    return [{key: cells[key](run["values"].get(key)) for key in keys} for run in runs]


def page(folder: Path) -> str:
    """The page of a folder with the index of a sweep."""
    record = read(folder)
    keys, runs = record["keys"], record["runs"]
    summary = read_table(folder / "summary.parquet", [*keys, "metric", "n", "mean"], INDEX_AGAIN).to_dicts()
    rows = points(summary, keys, record["metrics"])
    metrics = [metric for metric in record["metrics"] if any(metric in row for row in rows)]
    values = _values(keys, runs)
    add_samples(rows, keys, metrics, zip(values, runs, strict=True))
    title = with_overrides(record["title"], record.get("overrides", {})) or "A sweep"
    same = same_everywhere(rows, metrics) if keys else {}
    drawn = [metric for metric in metrics if metric not in same] if keys and len(rows) > 1 else []
    cells = group_by_point((run["values"], run["seed"], run["trace_hash"]) for run in runs)
    columns, listed = means_table(rows, keys, metrics)
    # sweeps of earlier versions have none
    samples = record.get("scatter", {})
    lines = list(dict.fromkeys(", ".join(str(row[key]) for key in keys[1:]) for row in rows))
    drawing = scatter.drawing(samples, lines) if samples else None
    times = {
        group: plots.svg(transfer_times.figure(points), f"times-{group}")
        for group, points in record.get("times", {}).items()
    }
    panels = _panels.interactive(
        {scatter.NAME: (drawing, "Throughput over queueing delay", PYTHON)}
        | {
            f"times-{group}": (one, f"Completion times, {group}", TIMES.format(group=group))
            for group, one in times.items()
        }
    )
    return render(
        "sweep.html",
        f"{title} · sweep",
        version=record["version"],
        name=title,
        lead=_lead(len(rows), keys, len(runs)),
        planned=record["planned"],
        notes=notes(cells),
        overview=[
            ("points", str(len(rows)), ""),
            ("runs", str(len(runs)), ""),
            ("seeds", str(len({run["seed"] for run in runs})), _seeds([run["seed"] for run in runs])),
            *_durations(record.get("spans", {})),
            ("distinct runs", str(sum(point.distinct for point in cells)), "by trace hash"),
            ("packet-hops", number(float(sum(run["packet_hops"] for run in runs)), 3), ""),
        ],
        expected=record.get("expected", True),
        failures=failed_cells(record.get("failures", []), keys),
        failure_columns=failure_columns(keys),
        failed=sum(not run["passed"] for run in runs),
        intervals=has_intervals(rows),
        means=any(row["n"] > 1 for row in rows),
        keys=keys,
        results=_results(columns, listed, keys),
        pictures=[
            (metric, plots.svg(plots.grid(rows, keys, metric, axis_label(metric)), metric))
            for metric in drawn
        ],
        same=same,
        grids=_charts.grids(title, rows, keys, {metric: axis_label(metric) for metric in drawn})
        if drawn
        else None,
        scatter=drawing,
        times=times,
        answering={name: name for name in panels},
        panels=_panels.element(panels) if panels else None,
        chart_script=_charts.script(),
        runs=[
            {**at, "seed": run["seed"], "folder": run["folder"], "trace_hash": run["trace_hash"]}
            for at, run in zip(values, runs, strict=True)
        ],
        run_columns=[
            *((key, key) for key in keys),
            ("seed", "seed"),
            ("folder", "folder"),
            ("trace_hash", "trace hash"),
        ],
    )


def _results(columns: list[tuple[str, str]], rows: list[Row], keys: Sequence[str]) -> dict[str, Any]:
    """The table of means: the columns that fit, and those that are for those who ask."""
    first, more = divided(columns, rows, [key for key, _ in columns], keys)
    return {"first": first, "more": more, "others": len(columns) - len(first), "rows": rows}


def _lead(points: int, keys: Sequence[str], runs: int) -> str:
    """A sentence about the sweep."""
    several = f"{runs} run{'s' * (runs != 1)}"
    if not keys:
        return f"One scenario with {several}, which differ by their seeds."
    return f"{points} point{'s' * (points != 1)} of a grid over {', '.join(keys)}, {several}."
