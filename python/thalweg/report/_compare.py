"""The page that compares runs."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from .. import plots
from .._run_folder import with_overrides
from ..stats import estimate
from . import _charts, _panels, comparison
from . import runs_scatter as scatter
from ._page import render
from .columns import unit_of
from .comparison import by_scenario, differences, known_values, metrics, places, shown_keys
from .sweep_rows import axis_label, heading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..plots import Drawing
    from ..result import Result


MIN_SEEDS = 3
"""Minimum number of seeds of a scenario whose values are drawn as boxes."""

MAX_BOXES = 12
"""Maximum number of metrics that are drawn as boxes."""

PYTHON = """from pathlib import Path

import thalweg as tw

for folder in sorted(Path(".").rglob("run.json")):  # below the folder that has all runs
    print(folder.parent, tw.Result.load(folder.parent).values.get("{metric}"))
"""
"""Python that prints what a box is of."""


THROUGHPUT = """import math

from thalweg.report import comparison

groups = comparison.groups_of_flows(runs)
bars = {
    name: [
        math.nan if (rate := run.get(f"flows.{group}.throughput")) is None else rate / 1e6 for group in groups
    ]
    for name, run in runs
}
chart = plots.bars(
    list(groups.values()), bars, "throughput (Mbit/s)", colours=comparison.colours(runs), x="group of flows"
)
chart.savefig("throughput.svg")
"""
"""Python that makes the picture of throughputs."""

ELLIPSES = """from thalweg.report import comparison, runs_scatter

scenarios = comparison.by_scenario(runs).items()
samples = runs_scatter.pairs([(label, run) for label, listed in scenarios for run in listed])
plots.scatter_runs(samples, "queueing delay (ms)", "throughput (Mbit/s)").savefig("throughput-over-delay.svg")
"""
"""Python that makes the picture of throughput over delay."""


def page(runs: Sequence[tuple[str, Result]]) -> str:
    """The page; each run has the name that the page uses for it."""
    folders = places(runs)
    # with names that say what differs, the title says the rest
    described = folders != [name for name, _ in runs]
    listed = [
        {
            "name": name,
            "title": run.title if described else run.heading,
            "seed": run.seed,
            "version": run.record["version"],
            "status": run.record["status"],
            "trace": run.trace_hash,
            **({"folder": folder} if described else {}),
        }
        for (name, run), folder in zip(runs, folders, strict=True)
    ]
    columns = [("metric", "metric"), *((name, name) for name, _ in runs)]
    if len(runs) == 2:
        columns.append(("change", "change"))
    same = {
        key: value
        for key, value in runs[0][1].overrides.items()
        if all(run.overrides.get(key) == value for _, run in runs)
    }
    titles = list(dict.fromkeys(with_overrides(run.title, same) for _, run in runs))
    series = _series(runs)
    over_seeds = _over_seeds(runs)
    throughput = _throughput(runs)
    samples = scatter.pairs([(label, run) for label, listed in by_scenario(runs).items() for run in listed])
    ellipses = scatter.drawing(samples) if scatter.worth_drawing(samples) else None
    panels = _panels.interactive(
        {
            "throughput-of-groups": (throughput, "Throughput", f"{_load(runs)}{THROUGHPUT}"),
            scatter.NAME: (ellipses, "Throughput over queueing delay", f"{_load(runs)}{ELLIPSES}"),
        }
    )
    return render(
        "compare.html",
        comparison.question(runs),
        heading=comparison.question(runs),
        titles=titles,
        warnings=differences(runs),
        runs=listed,
        # the lead says a title that all have
        run_columns=[
            (key, key) for key in listed[0] if key != "title" or len({run[key] for run in listed}) > 1
        ],
        metrics=[
            {
                **known_values(row),
                "change": row["change"] and row["change"].replace("-", "−"),
                "metric": heading(row["metric"]),
            }
            for row in metrics(runs)
        ],
        metric_columns=columns,
        schemes=_schemes(runs),
        throughput=throughput,
        scatter=ellipses,
        answering={name: name for name in panels},
        panels=_panels.element(panels) if panels else None,
        series=series,
        charts=_charts.compared(
            comparison.question(runs),
            runs,
            {one["name"]: one["title"] for one in series},
            _load(runs),
        )
        if series
        else None,
        over_seeds=over_seeds,
        grids=_charts.grids(
            " and ".join(titles),
            over_seeds["rows"],
            ["runs"],
            {metric: axis_label(metric) for metric in over_seeds["drawings"]},
            boxes=True,
            python=PYTHON,
        )
        if over_seeds
        else None,
        chart_script=_charts.script(),
    )


def _schemes(runs: Sequence[tuple[str, Result]]) -> dict[str, str]:
    """What groups of flows run whose scheme differs, in a comparison of few runs: `reno in one, bbr in two`."""
    groups = comparison.groups_of_flows(runs).keys() if len(runs) <= comparison.FEW else ()
    return {
        group: ", ".join(
            f"{scheme} in {name}" for scheme, (name, _) in zip(schemes, runs, strict=True) if scheme
        )
        for group, schemes in comparison.schemes_that_differ(runs).items()
        if group in groups
    }


def _load(runs: Sequence[tuple[str, Result]]) -> str:
    """Python that loads the runs, from the folder below which they are."""
    names = [name for name, _ in runs]
    folders = json.dumps(dict(zip(names, places(runs), strict=True)), ensure_ascii=False, indent=4)
    return (
        "import thalweg as tw\nfrom thalweg import plots\n\n"
        f"folders = {folders}\nruns = [(name, tw.Result.load(folder)) for name, folder in folders.items()]\n"
    )


def _throughput(runs: Sequence[tuple[str, Result]]) -> Drawing | None:
    """Mean throughput of each group of flows, one bar per run; None for no group or too many."""
    groups = comparison.groups_of_flows(runs)
    if not groups or len(groups) > 24:
        return None
    bars = {
        name: [
            (math.nan if (rate := run.get(f"flows.{group}.throughput")) is None else rate * 1e-6)
            for group in groups
        ]
        for name, run in runs
    }
    colours = comparison.colours(runs)
    labels = list(groups.values())
    chart = plots.bars(labels, bars, "throughput (Mbit/s)", colours=colours, x="group of flows")
    return plots.svg(chart, "throughput-of-groups")


def _over_seeds(runs: Sequence[tuple[str, Result]]) -> dict[str, Any] | None:
    """Box plots of metrics over seeds, a box per scenario; None if no scenario has enough runs that differ.

    `rows` are as those of `sweep_rows.points`, `drawings` are by metric.
    """
    scenarios = by_scenario(runs)
    if not any(len(listed) >= MIN_SEEDS for listed in scenarios.values()):
        return None
    rows: list[dict[str, Any]] = []
    keys = shown_keys(runs)
    for label, listed in scenarios.items():
        row: dict[str, Any] = {"runs": label, "n": len(listed), "samples": {}}
        random = len({run.trace_hash for run in listed}) > 1
        for key in keys:
            factor = unit_of(key)[1]
            known = [run.get(key) for run in listed]
            values = sorted(value * factor for value in known if value is not None)
            if values:
                found = estimate(known, key)
                ends = found.interval if random and found.interval else (None, None)
                row[key] = tuple(None if end is None else end * factor for end in (found.mean, *ends))
                row["samples"][key] = values
        rows.append(row)
    several = [key for key in keys if any(_spread(row["samples"].get(key, ())) for row in rows)]
    if not several:
        return None
    drawings = {
        key: plots.svg(
            plots.boxes({row["runs"]: row["samples"].get(key, []) for row in rows}, axis_label(key)),
            f"boxes-{key}",
        )
        for key in several[:MAX_BOXES]
    }
    return {"rows": rows, "drawings": drawings}


def _spread(values: Sequence[float]) -> bool:
    """Whether a box plot shows something."""
    return len(values) >= MIN_SEEDS and values[0] < values[-1]


def _series(runs: Sequence[tuple[str, Result]]) -> list[dict[str, Any]]:
    """Every series that all runs recorded, with all runs in one picture."""
    common = set.intersection(*(set(run.series["series"].unique().to_list()) for _, run in runs))
    return [
        {
            "name": name,
            "title": runs[0][1].title_of(name),
            "drawing": plots.svg(comparison.overlay(runs, name), name),
            "subjects": len({line.subject for line in comparison.lines(runs, name) if line.shown}),
        }
        for name in sorted(common)
    ]
