"""Common functions for scenarios, measures and figures of papers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._base import Quantity, Table, Tree

# --- scenarios -------------------------------------------------------------------------------------------------------


def link(name: str, start: str, end: str, **more: Any) -> Tree:
    """A link between two nodes."""
    return {"name": name, "ends": [start, end], **more}


def custom(title: str, duration_s: float, links: list[Tree], flows: list[Tree], **more: Any) -> Tree:
    """A scenario over listed links; of which only the counters are read, unless it says what it records."""
    return {
        "title": title,
        "duration": f"{duration_s:g} s",
        "topology": {"kind": "custom", "links": links},
        "flows": flows,
        **more,
    }


def recording(every: str, *series: str, events: bool = False) -> Tree:
    """The table `[record]` of a scenario."""
    return {"every": every, "series": list(series), "events": events}


# --- numbers ---------------------------------------------------------------------------------------------------------


def jain(rates: Any) -> float:
    """Jain's index of the rates that are there."""
    present = rates[~np.isnan(rates)]
    return float(present.sum() ** 2 / (len(present) * (present**2).sum()))


def inside(times: Any, begin: float, end: float) -> Any:
    """The intervals that end after `begin` and no later than `end`."""
    return (times > begin + 1e-9) & (times <= end + 1e-9)


def mean_between(times: Any, values: Any, begin: float, end: float) -> float:
    """Mean of what was measured in the intervals between two moments."""
    return float(np.nanmean(values[inside(times, begin, end)]))


MIN_SEEDS = 3
"""Minimum number of seeds for an interval."""


def over_seeds(values: Any) -> tuple[Any, Any]:
    """Mean over seeds (the first axis) and half width of its 95 % confidence interval, value by value.

    Below three seeds the half width is not-a-number: an interval of two values is meaningless.
    """
    stacked = np.asarray(values, dtype=float)
    mean = stacked.mean(axis=0)
    if len(stacked) < MIN_SEEDS:
        return mean, np.full_like(mean, np.nan)
    from thalweg.stats import half_width

    spread = stacked.std(axis=0, ddof=1)
    return mean, np.vectorize(lambda sd: half_width(len(stacked), float(sd)))(spread)


# --- tables and captions ---------------------------------------------------------------------------------------------


def series_table(title: str, times: Any, columns: Mapping[str, Any]) -> Table:
    """Columns over time."""
    return Table(
        title, {"time_s": times.tolist(), **{name: values.tolist() for name, values in columns.items()}}
    )


def table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows with the same keys."""
    return Table(title, {key: [row[key] for row in rows] for key in rows[0]})


def short(value: float | None) -> float | None:
    """A number as tables show it: three digits after the point, none from 100 on; None for not-a-number."""
    if value is None or math.isnan(value):
        return None
    return round(value, 3) if abs(value) < 100 else float(round(value))


def plain(quantity: Quantity) -> str:
    """`0.95 ± 0.01`."""
    if quantity.ci95 is None:
        return f"{quantity.mean:.2f}"
    return f"{quantity.mean:.2f} ± {quantity.ci95:.2f}"


def percent(quantity: Quantity) -> str:
    """`95 %`."""
    return f"{100 * quantity.mean:.0f} %"
