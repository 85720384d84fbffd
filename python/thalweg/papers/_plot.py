"""Figures for paper and page: one style, colours that the colour-blind can tell apart, text that stays text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, the most distinct first."""

STYLE: dict[str, Any] = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "path",
}


def panels(rows: int, columns: int, *, width: float = 7.2, height: float = 1.75) -> tuple[Figure, list[list[Axes]]]:
    """A grid of panels, ``height`` inches a row."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height * rows + 0.3))
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [list(row) for row in axes]


def svg(figure: Figure, salt: str) -> str:
    """The figure as SVG, the same text each time; ``salt`` keeps its ids apart from those of other figures on a page."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": salt}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    drawing = text.getvalue()
    return drawing[drawing.index("<svg") :]


def steps(
    axes: Axes, times_s: Any, values: Any, label: str | None = None, *, colour: int = 0, line: str = "-", **more: Any
) -> None:
    """A line of interval means, drawn at the ends of the intervals."""
    axes.plot(times_s, values, color=COLOURS[colour], linestyle=line, label=label, **more)


def finish(axes: Axes, title: str, y: str, *, x: str = "time (s)", top: float | None = None) -> None:
    """Title, axes with units, limits that start at zero, and a legend when lines have names."""
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0, top=top)
    axes.margins(x=0)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best", ncols=2)


def shade(axes: Axes, spans: Sequence[tuple[float, float]]) -> None:
    """Light background over some spans of time."""
    for start, end in spans:
        axes.axvspan(start, end, color="#f0f0f0", zorder=0, linewidth=0)
