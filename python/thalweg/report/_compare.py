"""The page that puts runs side by side."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .. import plots
from ..changes import marks
from ._page import Page, figure, head, table
from .pairing import differences, metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ..result import Result


def page(runs: Sequence[tuple[str, Result]]) -> Page:
    """The page; each run comes with the name that it goes by."""
    from .. import __version__

    titles = list(dict.fromkeys(run.title for _, run in runs))
    made = Page(
        "Runs side by side",
        footer=f"Made by Thalweg {escape(__version__)}; nothing here is loaded from elsewhere.",
    )
    made.add(head("Comparison", " and ".join(titles), f"{len(runs)} runs side by side."))
    made.section("Runs")
    for warning in differences(runs):
        made.add(f'<p class="warn">{escape(warning)}.</p>')
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
    made.add(table([(key, key) for key in listed[0]], listed, names="name"))
    made.section("Metrics")
    columns = [("metric", "metric"), ("unit", "unit"), *((name, name) for name, _ in runs)]
    if len(runs) == 2:
        columns.append(("change", "change"))
    made.add(table(columns, [{**row, **row["values"]} for row in metrics(runs)], names="metric"))
    _groups(made, runs)
    _series(made, runs)
    return made


def _groups(made: Page, runs: Sequence[tuple[str, Result]]) -> None:
    """Mean throughput of each group of flows, a bar a run."""
    groups = list(dict.fromkeys(group for _, run in runs for group in run.flows["group"].to_list()))
    if not groups or len(groups) > 24:
        return
    bars = {
        name: [(run.values.get(f"flows.{group}.throughput") or 0.0) * 1e-6 for group in groups]
        for name, run in runs
    }
    made.section("Throughput")
    chart = plots.bars(groups, bars, "mean throughput of a flow (Mbit/s)")
    made.add(
        figure(
            "throughput",
            plots.svg(chart, "throughput"),
            "Mean over the flows of each group, headers included.",
        )
    )


def _series(made: Page, runs: Sequence[tuple[str, Result]]) -> None:
    """Every series that was recorded in all runs, below each other."""
    common = set.intersection(*(set(run.series["series"].unique().to_list()) for _, run in runs))
    if not common:
        return
    made.section("Over time")
    for name in sorted(common):
        made.subsection(plots.title_of(name), f"series-{name}")
        made.add('<div class="panels">')
        for number, (run_name, run) in enumerate(runs):
            anchor = f"{name}-{number}"
            drawing = plots.svg(_drawn(run, name), anchor)
            made.add(figure(anchor, drawing, f"<strong>{escape(run_name)}</strong>"))
        made.add("</div>")


def _drawn(run: Result, name: str) -> Figure:
    return plots.series(
        run.series,
        name,
        colours=run.colours,
        marks=marks(run.plan),
        size=(6.4, 2.7),
        title=run.title_of(name),
    )
