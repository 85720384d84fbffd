"""Legends of figures: above the plot if that takes few rows, otherwise beside it."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

LABEL = 30
"""Characters per line of a legend's label; a longer label is broken between words."""


def place_legend(axes: Axes, title: str = "", *, rows: int = 2) -> int:
    """A legend above the plot if that takes at most this number of rows, otherwise beside it; none for a single entry.

    It stays within the figure: a row has as many entries as fit. Returns the rows above the plot.
    """
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) <= 1:
        return 0
    labels = [textwrap.fill(label, LABEL, break_long_words=False) for label in labels]
    words: dict[str, Any] = {
        "alignment": "left",
        **({"title": title} if title else {}),
    }
    across = axes.get_subplotspec()
    room = axes.figure.bbox.width / (across.get_gridspec().ncols if across else 1) * 0.95 - _left(axes)
    for columns in range(min(len(labels), 8), 0, -1):
        lines = math.ceil(len(labels) / columns)
        if lines > rows:
            break
        legend = axes.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=columns,
            borderaxespad=0.2,
            **words,
        )
        if legend_width(legend) <= room:
            return lines + bool(title)
    legend = axes.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, **words
    )
    high = axes.figure.bbox.height * 0.9
    lines = max(int(len(labels) * high / max(_height(legend), 1.0)), 1)
    if lines < len(labels):
        columns = math.ceil(len(labels) / lines)
        axes.legend(
            handles,
            labels,
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0,
            ncols=columns,
            **words,
        )
    return 0


def legend_width(legend: Legend) -> float:
    """The width of a legend, in pixels of its figure."""
    return float(legend.get_window_extent(_renderer(legend)).width)


def _left(axes: Axes) -> float:
    """The width of the labels left of the plot, where a legend above it begins: those on the vertical axis.

    Plots below each other begin at one place, so that the widest labels of them count.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = axes.get_figure(root=True)
    canvas: Any = FigureCanvasAgg(figure)
    place = axes.get_subplotspec()
    below = [
        other
        for other in axes.figure.axes
        if place is not None
        and (spec := other.get_subplotspec()) is not None
        and spec.colspan.start == place.colspan.start
    ]
    boxes = [other.yaxis.get_tightbbox(canvas.get_renderer()) for other in {axes, *below}]
    return max((float(box.width) for box in boxes if box is not None), default=0.0)


def _height(legend: Legend) -> float:
    return float(legend.get_window_extent(_renderer(legend)).height)


def _renderer(legend: Legend) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(legend.get_figure(root=True))
    return canvas.get_renderer()
