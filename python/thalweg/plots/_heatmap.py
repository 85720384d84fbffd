"""A metric over two keys of a sweep, as a coloured table."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from .. import styles
from ..quantities import numbers
from ._legend import LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from ..styles import Style

MAX_WRITTEN = 12
"""Columns up to which cells have their number."""


def heatmap(
    rows: Sequence[Mapping[str, Any]],
    keys: tuple[str, str],
    metric: str,
    axis: str,
    number: Callable[[float], str],
    *,
    size: tuple[float, float] = (8.2, 3.2),
    look: Style | None = None,
) -> Figure:
    """The mean of a metric at each point of two keys, across and up; a point without it is empty.

    Rows are as in `grid`. Columns and rows have the order of the values: numbers and quantities rise, words are in the
    order of the rows. `number` writes the numbers in the cells, which are left out above twelve columns.
    """
    from matplotlib import rc_context

    look = look or styles.page()
    columns, lines = (_ordered([row[key] for row in rows]) for key in keys)
    means = {(row[keys[0]], row[keys[1]]): row[metric][0] for row in rows if metric in row}
    cells = [[means.get((column, line)) for column in columns] for line in lines]
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        axes.grid(visible=False)
        shades = axes.imshow(
            [[float("nan") if mean is None else mean for mean in line] for line in cells],
            cmap="viridis",
            aspect="auto",
            origin="lower",
        )
        room = max(int(60 * figure.get_figwidth() / 8.2 / max(len(columns), 1)), 8)
        axes.set_xticks(range(len(columns)), [textwrap.fill(str(value), room) for value in columns])
        axes.set_yticks(range(len(lines)), [textwrap.fill(str(value), LABEL) for value in lines])
        axes.set_xlabel(keys[0].removeprefix("topology."))
        axes.set_ylabel(textwrap.fill(keys[1].removeprefix("topology."), LABEL))
        bar = figure.colorbar(shades, ax=axes)
        bar.set_label(textwrap.fill(axis, LABEL))
        if len(columns) <= MAX_WRITTEN:
            low, high = shades.get_clim()
            for up, line in enumerate(cells):
                for across, mean in enumerate(line):
                    if mean is not None:
                        # viridis is dark below and light above its middle
                        dark = high > low and (mean - low) / (high - low) < 0.55
                        axes.text(
                            across,
                            up,
                            number(mean),
                            ha="center",
                            va="center",
                            color="#ffffff" if dark else "#000000",
                        )
    return figure


def _ordered(values: Sequence[Any]) -> list[Any]:
    """The different values: numbers and quantities rise, others are in their order."""
    different = list(dict.fromkeys(values))
    found = numbers(different)
    if found is None:
        return different
    places = dict(zip(different, found[0], strict=True))
    return sorted(different, key=lambda value: places[value])
