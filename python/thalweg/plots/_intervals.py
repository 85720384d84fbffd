"""Confidence intervals as bars that never set an axis: they end at its edge, with an arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.backend_bases import RendererBase

ENDS = {"y": ("_", "v", "^"), "x": ("|", "<", ">")}
"""Markers of an end of a bar: within the axes, beyond their lower and beyond their upper edge."""


class IntervalBars(LineCollection):
    """Intervals at places of an axis, drawn within the limits that the axes have in the end.

    An end beyond the edge of the axes, on a logarithmic axis also one that is not positive, is an arrow at the edge. The
    bars are no data: neither autoscaling nor margins know them.
    """

    def __init__(
        self,
        places: Sequence[float],
        intervals: Sequence[tuple[float, float] | None],
        *,
        along: str = "y",
        colour: str = "black",
        linewidth: float = 1.0,
        cap: float = 3.0,
        zorder: float = 2.5,
    ) -> None:
        super().__init__([], colors=colour, linewidths=linewidth, zorder=zorder)
        known = [(place, *ends) for place, ends in zip(places, intervals, strict=True) if ends is not None]
        self.intervals = [row for row in known if np.isfinite(row[0]) and not np.isnan(row[1:]).any()]
        """Place, low and high of each, in units of the axes."""
        self.colour = colour
        self.width = linewidth
        """Width of the lines, in points."""
        self.along = along
        """The axis of the values: `y`, or `x` for bars that lie."""
        self.cap = cap
        """Half width of the end of a bar, in points."""

    def clipped(self) -> list[tuple[float, float, float, bool, bool]]:
        """Place, low and high of each interval that is in sight, cut at the limits, and whether each end was cut."""
        axes = self.axes
        assert axes is not None
        low, high = sorted(getattr(axes, f"get_{self.along}lim")())
        return [
            (place, max(start, low), min(end, high), bool(start < low), bool(end > high))
            for place, start, end in self.intervals
            if end >= low and start <= high
        ]

    def draw(self, renderer: RendererBase) -> None:
        """Cuts the bars at the limits of the axes, and draws them with their ends."""
        axes = self.axes
        assert axes is not None
        if not self.get_visible():
            return
        shown = self.clipped()
        turned = self.along == "x"
        self.set_segments(
            [
                [(low, place), (high, place)] if turned else [(place, low), (place, high)]
                for place, low, high, *_ in shown
            ]
        )
        super().draw(renderer)
        for end in (0, 1):
            for cut in (False, True):
                at = [(row[0], row[1 + end]) for row in shown if row[3 + end] is cut]
                if not at:
                    continue
                places, values = zip(*at, strict=True)
                mark = Line2D(
                    values if turned else places,
                    places if turned else values,
                    linestyle="none",
                    marker=ENDS[self.along][1 + end if cut else 0],
                    markersize=max(2.0 * self.cap, 4.5) if cut else 2.0 * self.cap,
                    color=self.colour,
                    markeredgewidth=0 if cut else self.width,
                    clip_on=not cut,
                    zorder=self.zorder,
                )
                mark.set_transform(axes.transData)
                mark.set_figure(axes.figure)
                mark.axes = axes
                mark.draw(renderer)
