"""Panels of a paper's figures, in the common style."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thalweg import plots
from thalweg.plots import COLOURS, FAINT, INK, MARKERS, SCHEME_COLOURS, style, svg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "FAINT",
    "INK",
    "MARKERS",
    "band",
    "bars",
    "colour_of",
    "finish",
    "legend",
    "logarithmic",
    "panels",
    "points",
    "printed",
    "shade",
    "steps",
    "svg",
    "whole_ticks",
]


Ends = tuple[float, float] | None
"""The ends of an interval; None, or not-a-number, for none."""

PRINTED = "printed in the paper"
"""Label of the paper's values in a legend."""


def panels(
    rows: int, columns: int, *, width: float = 9.2, height: float = 2.2
) -> tuple[Figure, list[list[Axes]]]:
    """A grid of panels; ``height`` is the height of a row, in inches."""
    from matplotlib import rc_context

    with rc_context(_settings()):
        figure = plots.figure_class()(figsize=(width, height * rows))
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [list(row) for row in axes]


def colour_of(colour: int | str) -> str:
    """The colour with that number, or the one that a scheme has in every picture.

    `reno +` is a lighter colour, for a second line of the same scheme.
    """
    if isinstance(colour, int):
        return COLOURS[colour]
    name, _, lighter = colour.partition(" ")
    return plots.shades(SCHEME_COLOURS[name])[1] if lighter else SCHEME_COLOURS[name]


def steps(
    axes: Axes, times_s: Any, values: Any, label: str | None = None, *, colour: int | str = 0, **more: Any
) -> None:
    """A line of interval means, drawn at the ends of the intervals."""
    axes.plot(times_s, values, color=colour_of(colour), label=label, **{"linewidth": 1.1, **more})


def band(
    axes: Axes,
    x: Any,
    mean: Any,
    low: Any,
    high: Any,
    label: str | None = None,
    *,
    colour: int | str = 0,
    **more: Any,
) -> None:
    """A line of means in the band of its confidence interval, which sets no axis."""
    steps(axes, x, mean, label, colour=colour, **more)
    plots.interval_band(axes, x, low, high, color=colour_of(colour), alpha=0.22, linewidth=0)


def points(
    axes: Axes,
    x: Sequence[float],
    means: Sequence[float],
    intervals: Sequence[Ends],
    label: str | None = None,
    *,
    colour: int | str = 0,
    **more: Any,
) -> None:
    """Points of means on a line, with their confidence intervals, which set no axis."""
    shade = colour_of(colour)
    axes.plot(x, means, color=shade, label=label, **{"marker": "o", "linewidth": 1.1, **more})
    plots.intervals(axes, x, intervals, colour=shade, linewidth=0.9, cap=2)


def bars(
    axes: Axes,
    places: Sequence[str],
    heights: Mapping[str, tuple[Sequence[float], Sequence[Ends]]],
    *,
    colours: Sequence[int | str] | None = None,
    paper: Mapping[str, Sequence[float | None]] | None = None,
) -> None:
    """Bars side by side at each place, with their confidence intervals; by name: heights and intervals.

    ``paper`` holds the values that the paper prints, by name as ``heights``; None where it prints none.
    """
    width = 0.8 / len(heights)
    marks: list[tuple[float, float]] = []
    for number, (name, (mean, intervals)) in enumerate(heights.items()):
        colour = colour_of(number if colours is None else colours[number])
        x = [place + (number + 0.5) * width - 0.4 for place in range(len(places))]
        axes.bar(x, mean, 0.92 * width, color=colour, label=name)
        plots.intervals(axes, x, intervals, colour=INK, linewidth=0.8, cap=1.5)
        values = (paper or {}).get(name, ())
        marks += [(at, value) for at, value in zip(x, values, strict=False) if value is not None]
    if marks:
        printed(axes, [at for at, _ in marks], [value for _, value in marks])
    axes.set_xticks(range(len(places)), list(places))
    axes.grid(visible=False, axis="x")


def printed(axes: Axes, x: Any, y: Any, label: str | None = PRINTED) -> None:
    """Marks of values that the paper prints: hollow diamonds."""
    axes.plot(
        x,
        y,
        linestyle="",
        marker="D",
        markersize=5.5,
        markerfacecolor="none",
        markeredgecolor=INK,
        markeredgewidth=1.2,
        label=label,
        zorder=5,
    )


def logarithmic(axes: Axes, *which: str) -> None:
    """Makes axes (`x`, `y`) logarithmic; before `finish`."""
    if "x" in which:
        axes.set_xscale("log")
    if "y" in which:
        axes.set_yscale("log")


def whole_ticks(axes: Axes, ticks: Sequence[float], which: str = "y") -> None:
    """Plain numbers instead of powers at logarithmic axes: `x`, `y` or `xy`."""
    for name in which:
        axis = axes.xaxis if name == "x" else axes.yaxis
        low, high = axis.get_view_interval()
        shown = [tick for tick in ticks if low <= tick <= high]
        axis.set_ticks(shown, [f"{tick:g}" for tick in shown])
        axis.set_ticks([], minor=True)


def legend(figure: Figure, axes: Axes) -> None:
    """One legend above all panels, of the names that one of them has."""
    from matplotlib import rc_context

    handles, names = axes.get_legend_handles_labels()
    with rc_context(_settings()):
        for columns in range(len(names), 0, -1):
            placed = figure.legend(
                handles, names, loc="outside upper left", ncols=columns, handlelength=1.2, columnspacing=1.4
            )
            if columns == 1 or plots.legend_width(placed) <= 0.97 * figure.bbox.width:
                break
            placed.remove()


def finish(
    axes: Axes,
    title: str,
    y: str,
    *,
    x: str = "time (s)",
    top: float | None = None,
    margin: float = 0,
    legend: bool = True,
) -> None:
    """Title, axes with units, limits that start at zero, and a legend below the title when lines have names."""
    from matplotlib import rc_context

    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if axes.get_yscale() == "linear":
        plots.from_zero(axes)
        axes.set_ylim(top=top)
    axes.margins(x=margin)
    with rc_context(_settings()):
        above = plots.place_legend(axes, rows=3) if legend else 0
        axes.set_title(title, loc="left", pad=9 + 13 * above if above else 6)


def shade(axes: Axes, spans: Sequence[tuple[float, float]]) -> None:
    """Light background over some spans of time."""
    for start, end in spans:
        axes.axvspan(start, end, color=FAINT, alpha=0.2, zorder=0, linewidth=0)


def _settings() -> Any:
    return style()
