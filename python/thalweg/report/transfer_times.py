"""Completion times of a sweep's transfers: the distribution at each point of the grid, and how far its seeds are apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import plots
from .._points import value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ..sweep import SweepResult

MAX_GROUPS = 3
"""Groups of flows of which a page draws the distribution."""

MAX_LINES = 10
"""Lines of a panel."""

MAX_PANELS = 6
"""Panels of a picture, one per value of a key, if there are too many lines for one."""

MAX_RUNS = 2000
"""Runs of a sweep whose transfers are read again."""

MIN_SAMPLES = 5
"""Completed transfers of a run, at minimum, for its distribution."""

SHARES = (*(share / 50 for share in range(1, 50)), 0.99, 0.999)
"""Shares of transfers at which distributions are known."""

Row = tuple[float, float, float, float]
"""A share; the time within which this share of the transfers was completed: median, minimum and maximum over the seeds."""

Point = dict[str, Any]
"""A point of the grid: `values` of its keys as text, `rows` of its distribution."""


def of_sweep(done: SweepResult) -> dict[str, list[Point]]:
    """The points of the grid by group; empty if no run completed several transfers, or too many would be read."""
    if len(done.runs) > MAX_RUNS:
        return {}
    several = [key for key in done.keys if len({value_text(run.values[key]) for run in done.runs}) > 1]
    found: dict[str, dict[tuple[str, ...], list[list[float]]]] = {}
    for run in done.runs:
        values = tuple(value_text(run.values[key]) for key in several)
        for (group,), part in (
            run.result.frame("flows").drop_nulls("fct_s").group_by("group", maintain_order=True)
        ):
            if part.height >= MIN_SAMPLES:
                times = found.setdefault(str(group), {}).setdefault(values, [])
                times.append(sorted(part["fct_s"].to_list()))
    return {
        group: [{"values": list(values), "rows": over_seeds(seeds)} for values, seeds in points.items()]
        for group, points in list(found.items())[:MAX_GROUPS]
        if panels([{"values": list(values)} for values in points])
    }


def panels(points: Sequence[Point]) -> list[tuple[str, list[tuple[str, Point]]]]:
    """Titles of panels, and their points with labels; empty if there are too many points.

    A panel has all points, or those of one value of the key with the fewest values for which all panels have few enough.
    """

    def label(point: Point, without: int | None = None) -> str:
        return ", ".join(value for place, value in enumerate(point["values"]) if place != without)

    if len(points) <= MAX_LINES:
        return [("", [(label(point), point) for point in points])]
    found: list[list[tuple[str, list[tuple[str, Point]]]]] = []
    for place in range(len(points[0]["values"])):
        parts: dict[str, list[tuple[str, Point]]] = {}
        for point in points:
            parts.setdefault(point["values"][place], []).append((label(point, place), point))
        if len(parts) <= MAX_PANELS and max(map(len, parts.values())) <= MAX_LINES:
            found.append(list(parts.items()))
    return min(found, key=len, default=[])


def over_seeds(seeds: Sequence[Sequence[float]]) -> list[Row]:
    """The rows of a distribution from the sorted times of each seed; a percentile is the nearest rank."""
    rows = []
    for share in SHARES:
        # 1 - 1/n is the last share of which n transfers say anything
        known = sorted(
            # rounded, since 0.14 · 50 is more than 7 in floating point
            times[max(math.ceil(round(share * len(times), 9)) - 1, 0)]
            for times in seeds
            if share <= 1 - 1 / len(times)
        )
        if len(known) == len(seeds):
            half = len(known) // 2
            median = known[half] if len(known) % 2 else (known[half - 1] + known[half]) / 2
            rows.append((share, median, known[0], known[-1]))
    return rows


def figure(points: Sequence[Point]) -> Figure:
    """Cumulative distributions, a line per point of the grid, with a band from the minimum to the maximum seed."""
    import matplotlib.pyplot as plt
    from matplotlib import rc_context
    from matplotlib.ticker import LogLocator

    from .. import styles

    look = styles.page()
    shown = panels(points)
    across = min(len(shown), 3)
    down = math.ceil(len(shown) / across)
    labels = list(dict.fromkeys(label for _, listed in shown for label, _ in listed))
    with rc_context(look.settings):
        drawn, grid = plt.subplots(
            down,
            across,
            figsize=look.size((8.2, 2.9 * down)),
            sharex=True,
            sharey=True,
            squeeze=False,
            FigureClass=styles.figure_class(),
        )
        for axes, (title, listed) in zip(grid.flat, shown, strict=False):
            for label, point in listed:
                colour = plots.COLOURS[labels.index(label) % len(plots.COLOURS)]
                shares, medians, minimum, maximum = zip(*point["rows"], strict=True)
                if minimum != maximum:
                    axes.fill_betweenx(shares, minimum, maximum, color=colour, alpha=0.16, linewidth=0)
                axes.plot(medians, shares, color=colour, label=label or None)
            axes.set_title(title, loc="left")
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("")
            axes.set_ylim(0, 1)
            axes.set_xlabel("flow completion time (s)")
        for row in grid:
            row[0].set_ylabel("share of completed transfers")
        for axes in list(grid.flat)[len(shown) :]:
            axes.set_visible(False)
        if len(shown) == 1:
            plots.place_legend(grid[0][0], rows=3)
        elif len(labels) > 1:
            handles, names = grid[0][0].get_legend_handles_labels()
            drawn.legend(handles, names, loc="upper right", ncols=min(len(names), 5))
    return drawn
