"""Distributions of samples: cumulative, and as box plots."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from .. import styles
from ..styles import COLOURS
from ._axes import from_zero
from ._legend import LABEL, place_legend
from ._series import subject_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars
    from matplotlib.figure import Figure

    from ..styles import Style


def cdf(
    samples: Mapping[str, Sequence[float]],
    axis: str,
    *,
    logarithmic: bool = False,
    limit: int = 10,
    size: tuple[float, float] = (8.2, 2.6),
    look: Style | None = None,
) -> Figure:
    """Cumulative distributions of samples, one line per name: at each value the share of samples that do not exceed it.

    At most `limit` lines, in their order. `logarithmic` is the horizontal axis. Raises ``ValueError`` without samples.
    """
    import polars as pl

    sorted_samples = {name: sorted(values) for name, values in samples.items() if len(values) > 0}
    if not sorted_samples:
        raise ValueError("there are no samples")
    frame = pl.DataFrame(
        [
            (name, value, (index + 1) / len(values))
            for name, values in list(sorted_samples.items())[:limit]
            for index, value in enumerate(values)
        ],
        schema={"subject": pl.String, "value_s": pl.Float64, "share": pl.Float64},
        orient="row",
    )
    return distributions(frame, axis, 1.0, logarithmic=logarithmic, size=size, look=look)


def cdf_bands(
    curves: Mapping[str, Sequence[Sequence[float]]],
    axis: str,
    *,
    logarithmic: bool = False,
    size: tuple[float, float] = (8.2, 2.8),
    look: Style | None = None,
) -> Figure:
    """Cumulative distributions over the seeds of runs: by name, the samples of each run.

    A line is the mean over the runs of the share of samples that do not exceed a value, and its band the 95 % confidence
    interval of that mean (Student t, within 0 and 1), from three runs on. Raises ``ValueError`` without samples.
    """
    import numpy
    from matplotlib import rc_context
    from matplotlib.ticker import LogLocator

    from ..stats import mean_interval

    known = {name: [sorted(one) for one in runs if len(one) > 0] for name, runs in curves.items()}
    known = {name: runs for name, runs in known.items() if runs}
    if not known:
        raise ValueError("there are no samples")
    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        for index, (name, runs) in enumerate(known.items()):
            values = numpy.unique(numpy.concatenate([numpy.asarray(one, dtype=float) for one in runs]))
            if len(values) > MAX_STEPS:
                values = values[numpy.linspace(0, len(values) - 1, MAX_STEPS).round().astype(int)]
            shares = numpy.array([numpy.searchsorted(one, values, side="right") / len(one) for one in runs])
            mean = shares.mean(axis=0)
            line = look.line(index, COLOURS[index % len(COLOURS)], len(values) + 1, lines=len(known))
            places, heights = [values[0], *values], [0.0, *mean]
            axes.step(places, heights, where="post", label=name, **line)
            if len(runs) >= MIN_BAND:
                low, high = mean_interval(len(runs), mean, shares.std(axis=0, ddof=1), within=(0.0, 1.0))
                axes.fill_between(values, low, high, step="post", color=line["color"], alpha=0.2, linewidth=0)
        if logarithmic:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("")
        axes.set_ylim(0, 1)
        axes.margins(x=0.02)
        axes.set_xlabel(axis)
        axes.set_ylabel("share")
        place_legend(axes, rows=look.legend_rows)
    return figure


MAX_STEPS = 2000
"""Maximum number of steps of a line over many samples."""

MIN_BAND = 3
"""Minimum number of runs of a band."""


def distributions(
    frame: polars.DataFrame,
    axis: str,
    factor: float = 1.0,
    *,
    colours: Mapping[str, str] | None = None,
    logarithmic: bool = False,
    limit: int = 10,
    size: tuple[float, float] = (8.2, 2.6),
    look: Style | None = None,
) -> Figure:
    """Rows of the table `distributions` as lines, one per subject, at most `limit`; values are multiplied by `factor`."""
    from matplotlib import rc_context
    from matplotlib.ticker import LogLocator

    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        parts = list(frame.group_by("subject", maintain_order=True))[:limit]
        for index, ((subject,), part) in enumerate(parts):
            colour = (colours or {}).get(str(subject)) or COLOURS[index % len(COLOURS)]
            values = [value * factor for value in part["value_s"]]
            # a step begins at its first value
            axes.step(
                [values[0], *values],
                [0.0, *part["share"]],
                where="post",
                label=subject_name(str(subject)),
                **look.line(index, colour, len(values) + 1, lines=len(parts)),
            )
        if logarithmic:
            axes.set_xscale("log")
            # plain numbers, also where the values span less than a power of ten
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("")
        else:
            axes.set_xlim(left=0)
        axes.set_ylim(0, 1)
        axes.set_xlabel(axis)
        axes.set_ylabel("share")
        place_legend(axes, rows=look.legend_rows)
    return figure


def boxes(
    samples: Mapping[str, Sequence[float]],
    axis: str,
    *,
    size: tuple[float, float] = (8.2, 2.6),
    look: Style | None = None,
) -> Figure:
    """Box plots of samples, one box per name: median, quartiles, whiskers to the last value within 1.5 interquartile ranges.

    Values beyond the whiskers are dots.
    """
    from matplotlib import rc_context

    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        for index, (name, values) in enumerate(samples.items()):
            colour = COLOURS[index % len(COLOURS)]
            line: dict[str, Any] = {"color": colour, "linewidth": 1.2}
            axes.boxplot(
                [list(values)],
                positions=[index],
                tick_labels=[name],
                widths=0.34,
                boxprops=line,
                whiskerprops=line,
                capprops=line,
                medianprops={"color": colour, "linewidth": 2.2},
                flierprops={"marker": "o", "markersize": 3.5, "markeredgecolor": colour},
            )
        axes.set_xlim(-0.6, len(samples) - 0.4)
        axes.set_ylabel(textwrap.fill(axis, LABEL))
        axes.grid(visible=False, axis="x")
        from_zero(axes)
    return figure
