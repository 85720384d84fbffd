"""Common functions for scenarios, measures and figures of papers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
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


DIFFERENCE = re.compile(
    r"(^|_)(less|more|above|below|beyond|higher|lower|longer|later|sooner|steadier|apart|by|gain|excess|drift|error|residue"
    r"|slope|correlation|rise|rises|falls|grows|growth|change|changes|jump|deviation|reduction|left)(_|$)"
)
"""Names of quantities that may be negative."""
SHARE = re.compile(r"(^|_)(share|jain|utilisation|used|received|generated)(_|$)")
"""Names of quantities that are at most 1, if no seed has more."""
PERCENT = re.compile(r"(^|_)(lost|loss|refused|hits|stores)(_\w+)?_percent(_|$)")
"""Names of quantities that are at most 100, if no seed has more."""


Interval = tuple[Any, Any, Any]
"""A mean, or an array of means, and both ends of its interval."""


def over_seeds(values: Any) -> Interval:
    """Mean over seeds (the first axis) of rates, times, counts or ratios, with its 95 % interval, value by value.

    No interval goes below zero. Below three seeds its ends are not-a-number: an interval of two values is meaningless.
    """
    stacked = np.asarray(values, dtype=float)
    mean = stacked.mean(axis=0)
    from thalweg.stats import MIN_SEEDS, mean_interval

    if len(stacked) < MIN_SEEDS:
        nothing = np.full_like(mean, np.nan)
        return mean, nothing, nothing
    low, high = mean_interval(len(stacked), mean, stacked.std(axis=0, ddof=1), within=(0.0, math.inf))
    return mean, low, high


def in_range(name: str, quantity: Quantity) -> Quantity:
    """A quantity with its possible range, by its name, if it has none yet."""
    if quantity.within is not None:
        return quantity
    from thalweg.stats import ANY

    if DIFFERENCE.search(name):
        return replace(quantity, within=ANY)
    for names, top in ((SHARE, 1.0), (PERCENT, 100.0)):
        if names.search(name) and all(0 <= value <= top for value in quantity.values):
            return replace(quantity, within=(0.0, top))
    return quantity


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


def columns(name: str, found: Quantity | Interval) -> dict[str, float | None]:
    """Cells of a table: a mean, and as `name_low` and `name_high` the ends of its interval."""
    if isinstance(found, Quantity):
        mean, (low, high) = found.mean, in_range(name, found).interval or (math.nan, math.nan)
    else:
        mean, low, high = (float(value) for value in found)
    # more digits than are printed: rounded ends would lie on different sides of the mean at different distances
    return {
        key: None if math.isnan(value) else float(f"{value:.9g}")
        for key, value in ((name, mean), (f"{name}_low", low), (f"{name}_high", high))
    }


def plain(found: Quantity | Interval) -> str:
    """`0.95 ± 0.01`, or `0.95 [0.91, 0.97]` if the sides differ."""
    from thalweg.stats import interval_text

    if isinstance(found, Quantity):
        mean, ends = found.mean, found.interval
    else:
        mean, *rest = (float(value) for value in found)
        ends = None if any(map(math.isnan, rest)) else (rest[0], rest[1])
    return interval_text(mean, ends, lambda value, _: f"{value:.2f}")


def percent(quantity: Quantity) -> str:
    """`95.2 %`, with three significant digits."""
    from thalweg.report.numbers import number

    return f"{number(100 * quantity.mean, 3)} %"
