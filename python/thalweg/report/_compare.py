"""The page that compares runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import plots
from ..event_labels import event_marks
from ._page import render
from .comparison import differences, metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ..result import Result


def page(runs: Sequence[tuple[str, Result]]) -> str:
    """The page; each run has the name that the page uses for it."""
    listed = [
        {
            "name": name,
            "title": run.heading,
            "seed": run.seed,
            "version": run.record["version"],
            "status": run.record["status"],
            "trace": run.trace_hash,
        }
        for name, run in runs
    ]
    columns = [("metric", "metric"), ("unit", "unit"), *((name, name) for name, _ in runs)]
    if len(runs) == 2:
        columns.append(("change", "change"))
    return render(
        "compare.html",
        "Runs side by side",
        titles=list(dict.fromkeys(run.title for _, run in runs)),
        warnings=differences(runs),
        runs=listed,
        run_columns=[(key, key) for key in listed[0]],
        metrics=[{**row, **row["values"]} for row in metrics(runs)],
        metric_columns=columns,
        throughput=_throughput(runs),
        series=_series(runs),
    )


def _throughput(runs: Sequence[tuple[str, Result]]) -> str | None:
    """Mean throughput of each group of flows, one bar per run; None for no group or too many."""
    groups = list(dict.fromkeys(group for _, run in runs for group in run.flows["group"].to_list()))
    if not groups or len(groups) > 24:
        return None
    bars = {
        name: [(run.values.get(f"flows.{group}.throughput") or 0.0) * 1e-6 for group in groups]
        for name, run in runs
    }
    return plots.svg(plots.bars(groups, bars, "mean throughput of a flow (Mbit/s)"), "throughput")


def _series(runs: Sequence[tuple[str, Result]]) -> list[dict[str, Any]]:
    """Every series that all runs recorded, below each other."""
    common = set.intersection(*(set(run.series["series"].unique().to_list()) for _, run in runs))
    return [
        {
            "name": name,
            "title": plots.series_title(name),
            "panels": [
                {
                    "run": run_name,
                    "anchor": f"{name}-{number}",
                    "drawing": plots.svg(_drawn(run, name), f"{name}-{number}"),
                }
                for number, (run_name, run) in enumerate(runs)
            ],
        }
        for name in sorted(common)
    ]


def _drawn(run: Result, name: str) -> Figure:
    return plots.series(
        run.series,
        name,
        colours=run.colours,
        marks=event_marks(run.plan),
        size=(6.4, 2.7),
        title=run.title_of(name),
    )
