"""A metric of the runs of a sweep over its first key, and bars."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import styles
from ..quantities import numbers
from ..styles import COLOURS
from ._axes import from_zero, intervals, set_axis
from ._legend import LABEL, place_legend

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

    from ..styles import Style

LOGARITHMIC_RATIO = 16.0
"""An axis of quantities whose largest is at least this many times the smallest is logarithmic."""


def grid(
    rows: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    metric: str,
    axis: str,
    *,
    size: tuple[float, float] = (8.2, 2.6),
    look: Style | None = None,
) -> Figure:
    """A metric over the first key of a grid, one line per combination of the others.

    `rows` hold `(mean, low, high)`, with None for the ends where there is no interval, and by the key `samples` the values
    with each seed. The axis covers means and values; an interval beyond it ends at its edge with an arrow.
    Quantities have their places on an axis with their unit, which is logarithmic over a wide range. Words have no order, so
    that no line joins them; their points are side by side.
    """
    from matplotlib import rc_context

    axis_x = GridAxis.of(rows, keys[0])
    lines = group_lines(rows, keys, metric)
    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        for index, (rest, part) in enumerate(lines.items()):
            aside = 0.0 if axis_x.joined else min(0.12, 0.6 / len(lines)) * (index - (len(lines) - 1) / 2)
            part.sort(key=lambda row: axis_x.places[row[keys[0]]])
            places = [axis_x.places[row[keys[0]]] + aside for row in part]
            (line,) = axes.plot(
                places,
                [row[metric][0] for row in part],
                label=", ".join(map(str, rest)) or None,
                **look.points(index, COLOURS[index % len(COLOURS)], lines=len(lines))
                | ({} if axis_x.joined else {"linestyle": "none"}),
            )
            intervals(
                axes,
                places,
                [None if None in row[metric][1:] else row[metric][1:] for row in part],
                colour=line.get_color(),
                linewidth=0.8 if look.printed else 1.2,
                cap=2 if look.printed else 3,
            )
            samples = [
                (place, value)
                for place, row in zip(places, part, strict=True)
                for value in row.get("samples", {}).get(metric, ())
            ]
            if samples:
                axes.update_datalim(samples)
        axes.set_xlabel(axis_x.label)
        if axis_x.numeric:
            set_axis(axes, list(axis_x.places.values()), axis_x.logarithmic)
        else:
            # characters that have room between two values
            room = max(int(80 * figure.get_figwidth() / 8.2 / max(len(axis_x.places), 1)), 8)
            words = [textwrap.fill(str(value), room, break_long_words=False) for value in axis_x.places]
            longest = [max(map(len, word.splitlines()), default=0) for word in words]
            turned = any(before + after > 2 * room for before, after in itertools.pairwise(longest))
            axes.set_xticks(range(len(words)), words, rotation=60 if turned else 0)
        axes.margins(x=0.06)
        axes.set_ylabel(textwrap.fill(axis, LABEL))
        from_zero(axes)
        # tick labels are the values; their keys are above them
        place_legend(
            axes, ", ".join(key.removeprefix("topology.") for key in keys[1:]), rows=look.legend_rows
        )
    return figure


@dataclass(frozen=True)
class GridAxis:
    """The horizontal axis of a grid."""

    places: dict[Any, float]
    """The place of each value of the key: its number, or how many values come before it."""
    label: str
    numeric: bool
    """The values are numbers or quantities."""
    joined: bool
    """The values have an order, so that lines join their points."""
    logarithmic: bool

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], key: str) -> GridAxis:
        """The axis for a key of these rows."""
        values = list(dict.fromkeys(row[key] for row in rows))
        name = key.removeprefix("topology.")
        if found := numbers(values):
            low, high = min(found[0]), max(found[0])
            places = dict(zip(values, found[0], strict=True))
            return cls(
                places,
                f"{name} ({found[1]})" if found[1] else name,
                True,
                True,
                low > 0 and high / low >= LOGARITHMIC_RATIO,
            )
        ordered = not any(isinstance(value, str) and not value[:1].isdigit() for value in values)
        return cls({value: float(place) for place, value in enumerate(values)}, name, False, ordered, False)


def group_lines(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], metric: str
) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    """The rows that have the metric, by the values of all keys but the first."""
    lines: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        if metric in row and row[metric][0] is not None:
            lines.setdefault(tuple(row[key] for key in keys[1:]), []).append(row)
    return lines


def bars(
    labels: Sequence[str],
    groups: Mapping[str, Iterable[float]],
    axis: str,
    *,
    colours: Sequence[str] | None = None,
    size: tuple[float, float] = (8.2, 2.4),
    x: str = "",
) -> Figure:
    """One bar per label and group, side by side; `colours` are of the groups, or of the labels if there is one group.

    `axis` is the title of the vertical axis, `x` of the horizontal one.
    """
    from matplotlib import rc_context
    from matplotlib.ticker import MaxNLocator

    look = styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        width = min(0.8, 0.08 * max(len(labels), 4)) / max(len(groups), 1)
        for index, (group, values) in enumerate(groups.items()):
            at = [place + (index - (len(groups) - 1) / 2) * width for place in range(len(labels))]
            given = list(colours or COLOURS)
            colour = given if colours and len(groups) == 1 else given[index % len(given)]
            axes.bar(at, list(values), width * 0.92, color=colour, label=group if len(groups) > 1 else None)
        axes.set_xticks(range(len(labels)), labels, rotation=0 if len(labels) <= 8 else 60)
        edge = max(0.6, 2.4 - len(labels) / 2)
        axes.set_xlim(-edge, len(labels) - 1 + edge)
        axes.set_xlabel(x)
        axes.set_ylabel(axis)
        # a tick above every bar
        if (highest := axes.dataLim.y1) > 0 and axes.dataLim.y0 >= 0:
            ends = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]).tick_values(0, highest)
            axes.set_ylim(0, max(ends))
        axes.grid(visible=False, axis="x")
        place_legend(axes)
    return figure
