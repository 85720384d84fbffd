"""Two numbers against each other: of flows, and of runs with the ellipses of their normal distributions."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from .. import styles
from ..styles import COLOURS, MARKERS
from ._axes import from_zero
from ._legend import LABEL, place_legend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars
    from matplotlib.figure import Figure

    from ..styles import Style


def scatter(
    flows: polars.DataFrame,
    colours: Mapping[str, str] | None = None,
    *,
    delay: str = "queueing_delay_s",
    limit: int = 10,
    size: tuple[float, float] = (8.2, 3.6),
    look: Style | None = None,
) -> Figure:
    """Throughput over delay, one point per flow of the table `flows`; `delay` is a column of it, in seconds.

    With more than `limit` flows the points have no names.
    """
    from matplotlib import rc_context

    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        for index, row in enumerate(flows.drop_nulls([delay, "throughput_bps"]).to_dicts()):
            axes.plot(
                row[delay] * 1e3,
                row["throughput_bps"] / 1e6,
                linestyle="none",
                marker=MARKERS[index % len(MARKERS)] if flows.height <= limit else "o",
                color=(colours or {}).get(f"flow.{row['flow']}") or COLOURS[index % len(COLOURS)],
                label=row["flow"] if flows.height <= limit else None,
            )
        # delays from the data, with room for points that are almost equal; throughput from 0, so that shares are seen
        if flows.height and axes.dataLim.y1 > 0:
            axes.set_ylim(0, 1.08 * axes.dataLim.y1)
            low, high = axes.dataLim.intervalx
            room = max(0.12 * (high - low), 0.02 * high)
            axes.set_xlim(max(low - room, 0.0), high + room)
        axes.set_xlabel(f"{delay.removesuffix('_s').replace('_', ' ')} (ms)")
        axes.set_ylabel("throughput (Mbit/s)")
        place_legend(axes, rows=look.legend_rows)
    return figure


def scatter_runs(
    samples: Mapping[str, Sequence[tuple[float, float]]],
    x: str,
    y: str,
    *,
    colours: Sequence[str] = COLOURS,
    size: tuple[float, float] = (8.2, 3.6),
    look: Style | None = None,
) -> Figure:
    """Two numbers of runs against each other: a point per run, a colour per name, and the ellipse of the runs of a name.

    `x` and `y` are the labels of the axes. A name with fewer than three runs has no ellipse.
    """
    from matplotlib import rc_context
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        for index, (name, points) in enumerate(samples.items()):
            dots = look.points(index, colours[index % len(colours)]) | {"linestyle": "none"}
            axes.plot(*zip(*points, strict=True), label=name, **dots)
            if outline := ellipse(points):
                colour = dots["color"]
                axes.add_collection(
                    PolyCollection(
                        [outline], facecolors=[to_rgba(colour, 0.16)], edgecolors=[colour], linewidths=0.8
                    )
                )
        axes.margins(0.08)
        axes.autoscale_view()
        axes.set_xlim(left=max(axes.get_xlim()[0], 0.0))
        from_zero(axes)
        axes.set_xlabel(x)
        axes.set_ylabel(textwrap.fill(y, LABEL) if look.printed else y)
        place_legend(axes, rows=look.legend_rows)
    return figure


MIN_ELLIPSE = 3
"""Minimum number of points of an ellipse."""


def ellipse(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Outline of the ellipse of points, closed; empty for fewer than three.

    It is the contour at one standard deviation of the normal distribution of two dimensions that fits the points best
    (maximum likelihood), as in Winstein and Balakrishnan, "TCP ex Machina", SIGCOMM 2013.
    """
    n = len(points)
    if n < MIN_ELLIPSE:
        return []
    centre = [math.fsum(point[axis] for point in points) / n for axis in (0, 1)]
    aside = [(x - centre[0], y - centre[1]) for x, y in points]
    xx, xy, yy = (
        math.fsum(one[first] * one[second] for one in aside) / n for first, second in ((0, 0), (0, 1), (1, 1))
    )
    # the triangular root of the covariance takes a circle to the contour
    across = math.sqrt(xx)
    slant = xy / across if across > 0 else 0.0
    along = math.sqrt(max(yy - slant * slant, 0.0))
    angles = [2 * math.pi * step / 72 for step in range(73)]
    return [
        (
            centre[0] + across * math.cos(angle),
            centre[1] + slant * math.cos(angle) + along * math.sin(angle),
        )
        for angle in angles
    ]
