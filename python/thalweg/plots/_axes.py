"""Ranges and ticks of axes."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ._intervals import IntervalBars

ROOM_BELOW = 0.03
"""Room below zero, as a share of the axis, for a line that is zero all the time: on the edge it could not be seen."""

MAX_TICKS = 10
"""Maximum number of quantities that each have a tick."""


def set_axis(axes: Axes, places: Sequence[float], logarithmic: bool) -> None:
    """The horizontal axis for these quantities, with a tick at each if they are few."""
    from matplotlib.ticker import NullLocator

    low, high = min(places), max(places)
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")
    ordered = sorted(places)
    gaps = [after - before for before, after in itertools.pairwise(ordered)]
    if len(places) <= MAX_TICKS and (logarithmic or min(gaps, default=1.0) >= 0.04 * (high - low)):
        axes.set_xticks(places, [f"{place:g}" for place in places])


def from_zero(axes: Axes) -> None:
    """A linear axis of values that begins at zero, so that differences have their size; below it where values are.

    If a line is zero all the time, there is a little room below zero.
    """
    if axes.get_yscale() != "linear":
        return
    low, high = axes.dataLim.y0, axes.dataLim.y1
    bottom, top = axes.get_ylim()
    if not math.isfinite(low) or not math.isfinite(high) or low == high == 0:
        bottom, top = 0.0, 1.0
    else:
        bottom, top = (bottom if low < 0 else 0.0), (top if high > 0 else 0.0)
    if any(_is_zero(line) for line in axes.lines):
        room = ROOM_BELOW * (top - bottom)
        bottom, top = (bottom if low < 0 else -room), (top if top > 0 else room)
    axes.set_ylim(bottom, top)


def _is_zero(line: Line2D) -> bool:
    """Whether a line is zero all the time."""
    import numpy

    values = numpy.asarray(line.get_ydata(), dtype=float)
    there = values[~numpy.isnan(values)]
    return bool(there.size) and not there.any()


def intervals(
    axes: Axes, places: Sequence[float], ends: Sequence[tuple[float, float] | None], **more: Any
) -> IntervalBars:
    """Draws confidence intervals at these places, None for none; keywords as for `IntervalBars`.

    They set no axis: an end beyond the limits of the axes is an arrow at their edge.
    """
    from ._intervals import IntervalBars

    bars = IntervalBars(places, ends, **more)
    bars.set_in_layout(False)
    axes.add_collection(bars, autolim=False)
    return bars


def interval_band(axes: Axes, x: Any, low: Any, high: Any, **more: Any) -> None:
    """The area between the ends of intervals, which sets no axis; keywords as for `fill_between`."""
    limits = axes.dataLim.get_points().copy()
    area = axes.fill_between(x, low, high, **more)
    area.set_in_layout(False)
    # what the area added
    axes.dataLim.set_points(limits)
    axes.autoscale_view()
