"""Points with their names beside them, and rows of bars. Knows nothing of schemes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thalweg import plots
from thalweg.plots import FAINT, INK, MARKERS, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Ends = tuple[float, float] | None
"""The ends of an interval; None for none."""


@dataclass(frozen=True)
class Point:
    """A mean with its intervals, by name."""

    name: str
    x: float
    y: float
    x_interval: Ends
    y_interval: Ends
    colour: str
    marker: int


def sheet(count: int) -> tuple[Figure, Axes, list[Axes]]:
    """A wide panel, and so many narrow ones in a row below it."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(style()):
        figure = Figure(figsize=(9.2, 7.6))
        grid = figure.add_gridspec(2, count, height_ratios=[1, 1.1])
        wide = figure.add_subplot(grid[0, :])
        narrow = [figure.add_subplot(grid[1, place]) for place in range(count)]
    return figure, wide, narrow


def scatter(axes: Axes, points: Sequence[Point], x: str, y: str, ticks: Sequence[float], top: float) -> None:
    """Points on a logarithmic axis, each with a cross of its intervals; `name_points` names them."""
    from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

    axes.set_xscale("log")
    axes.set_xlim(ticks[0], ticks[-1])
    axes.set_ylim(0, top)
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    for point in points:
        colour = point.colour
        look: dict[str, Any] = {"colour": colour, "linewidth": 1.2, "cap": 0.0}
        plots.intervals(axes, [point.x], [point.y_interval], **look)
        plots.intervals(axes, [point.y], [point.x_interval], along="x", **look)
        axes.plot(point.x, point.y, MARKERS[point.marker], color=colour, markersize=6, alpha=0.9)


def key(axes: Axes, entries: Sequence[tuple[str, int]]) -> None:
    """Says what markers mean: (words, marker)."""
    from matplotlib import rc_context
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", marker=MARKERS[marker], color=INK, label=words)
        for words, marker in entries
    ]
    with rc_context(style()):
        axes.legend(handles=handles, loc="lower right", handletextpad=0.2, borderaxespad=0.8)


def bars(
    axes: Axes,
    names: Sequence[str],
    stacks: Sequence[tuple[str, Sequence[float], Sequence[Ends]]],
    title: str,
    colours: Sequence[str],
    *,
    top: float | None = None,
    minimum: float | None = None,
    named: bool,
) -> None:
    """Bars to the right, from the top down. `stacks` are (what, values, intervals), each on the one before.

    With `minimum` the axis is logarithmic, and what is below it has no bar.
    """
    from matplotlib import rc_context

    places = list(range(len(names)))
    left = [0.0] * len(names)
    for number, (what, values, intervals) in enumerate(stacks):
        hatch = "////" if number else None
        axes.barh(
            places,
            values,
            0.72,
            left,
            color=list(colours) if not number else "none",
            edgecolor=list(colours),
            hatch=hatch,
            linewidth=0 if not number else 0.6,
            label=what,
        )
        ends = [
            None if interval is None else (start + interval[0], start + interval[1])
            for start, interval in zip(left, intervals, strict=True)
        ]
        plots.intervals(axes, places, ends, along="x", colour=INK, linewidth=0.8, cap=1.5)
        left = [a + b for a, b in zip(left, values, strict=True)]
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(places, list(names) if named else [""] * len(names))
    axes.tick_params(axis="y", length=0, labelsize=8.5)
    axes.grid(visible=False, axis="y")
    if minimum is not None:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(minimum or 0, top)
    with rc_context(style()):
        axes.set_title(title, loc="left")


def name_points(figure: Figure, axes: Axes, points: Sequence[Point]) -> None:
    """Writes each point's name where there is room, with a thin line to it where that is not beside it.

    To be called when all else of the figure stands.
    """
    figure.draw_without_rendering()
    points_per_pixel = 72 / figure.dpi
    frame = axes.get_window_extent()
    taken: list[Box] = []
    for point in points:
        middle = (point.x, point.y)
        taken.append(_around(axes, middle, middle, 5.0))
        if point.x_interval is not None:
            (low, high), (left, right) = point.x_interval, axes.get_xlim()
            taken.append(_around(axes, (max(low, left), point.y), (min(high, right), point.y), 1.0))
        if point.y_interval is not None:
            taken.append(_around(axes, (point.x, point.y_interval[0]), (point.x, point.y_interval[1]), 1.0))
    for point in sorted(points, key=lambda point: (-point.y, point.x)):
        at = axes.transData.transform((point.x, point.y))
        text = axes.annotate(
            point.name,
            (point.x, point.y),
            (0, 0),
            textcoords="offset points",
            fontsize=8.5,
            color=point.colour,
            ha="left",
            va="center",
        )
        extent = text.get_window_extent()
        width, height = extent.width, extent.height

        def cost(place: tuple[float, float], at: Any = at, size: Any = (width, height)) -> float:
            box = _box(at, place, size)
            beyond = (frame.x0 - box[0], box[2] - frame.x1, frame.y0 - box[1], box[3] - frame.y1)
            outside = sum(max(0.0, float(length)) for length in beyond)
            clashes = sum(_overlap(box, other) for other in taken)
            return 1e3 * outside + 10 * clashes + abs(place[0]) / 4 + abs(place[1])

        best = min(_places(width, height), key=cost)
        text.set_position((best[0] * points_per_pixel, best[1] * points_per_pixel))
        box = _box(at, best, (width, height))
        taken.append(box)
        if abs(best[1]) > height:
            x = min(max(at[0], box[0]), box[2])
            y = box[1] if best[1] > 0 else box[3]
            start, end = (axes.transData.inverted().transform(place) for place in (at, (x, y)))
            axes.plot([start[0], end[0]], [start[1], end[1]], color=FAINT, linewidth=0.7, zorder=1)
            taken.append((min(at[0], x) - 1, min(at[1], y), max(at[0], x) + 1, max(at[1], y)))


Box = tuple[float, float, float, float]


def _places(width: float, height: float) -> list[tuple[float, float]]:
    """Offsets of a name's left end and middle from its point, in pixels: beside it, above and below it, ever farther."""
    gap = 8.0
    places = [(gap, 0.0), (-width - gap, 0.0)]
    for rows in range(1, 12):
        for x in (gap, -width / 2, -width - gap, gap + width / 2, -1.5 * width - gap):
            places += [(x, rows * (height + 1) + 2), (x, -rows * (height + 1) - 2)]
    return places


def _box(at: Any, place: tuple[float, float], size: tuple[float, float]) -> Box:
    x, y = at[0] + place[0], at[1] + place[1]
    return (x, y - size[1] / 2, x + size[0], y + size[1] / 2)


def _around(axes: Axes, start: tuple[float, float], end: tuple[float, float], margin: float) -> Box:
    """The area around a line to the right or upwards, with a margin, in pixels."""
    low, high = axes.transData.transform(start), axes.transData.transform(end)
    return (low[0] - margin, low[1] - margin, high[0] + margin, high[1] + margin)


def _overlap(one: Box, other: Box) -> float:
    """Area that two boxes share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)
