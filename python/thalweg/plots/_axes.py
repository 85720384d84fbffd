"""Ranges and ticks of axes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ._intervals import IntervalBars

MIN_AXIS_RANGE = 0.02
"""Minimum range of an axis as a share of its value, so that noise in the last digits does not look like a change."""


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


def widen_axis(axes: Axes) -> None:
    """Extends the axis of values that are almost equal."""
    low, high = axes.get_ylim()
    span = MIN_AXIS_RANGE * max(abs(low), abs(high))
    if high - low < span:
        middle = (low + high) / 2
        axes.set_ylim(middle - span / 2, middle + span / 2)


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
