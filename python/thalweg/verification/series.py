"""The table `series` from packets, and the keys of the summary that come from the rate over time.

A sample at time t is over the interval [t − d, t) of the run, d being the plan's `record.every`.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import polars as pl

from ..quantities import base_value
from .curves import CURVES, Key, Range, curves, subjects_of_links
from .flows import scheme_of
from .receivers import goodput_arrivals
from .record import NS, Record

WINDOW_NS = NS
"""Minimum length of the windows of Jain's index, of convergence and of recovery."""

HELD = 5
"""Windows in which a flow must stay at its fair value."""

BAND = 0.1
"""Maximum distance from a fair or a final value, relative to it."""


def every_ns(record: Record) -> int | None:
    """The sampling interval; None if the plan records no series."""
    every = record.plan.get("record", {}).get("every")
    return None if every is None else round(base_value(every) * NS)


def samples(record: Record) -> dict[Key, tuple[float, float]]:
    """The minimum and the maximum that each sample can be, of the series that can be recomputed, where something happened.

    What happens at the very instant of a sample can be in it or in the next one.
    """
    step = every_ns(record)
    found: dict[Key, tuple[float, float]] = {}
    if step is None:
        return found
    flows = {row["flow"]: f"flow.{row['name']}" for row in record.flows.rows(named=True)}
    sent = record.own.filter(pl.col("copy_of").is_null() & (pl.col("source") == pl.col("sender")))
    bits = 8 * pl.col("size_bytes").sum()
    _add(found, "rate", sent, ("flow", "created_ns"), bits, flows, step, 8)
    ends = subjects_of_ends(record)
    arrived = record.delivered.filter("data")
    _add(found, "throughput", arrived, ("end", "ended_ns"), bits, ends, step, 8)
    if "goodput" in names_of(record):
        new = pl.col("new_bytes").sum() * 8
        _add(found, "goodput", goodput_arrivals(record), ("end", "ended_ns"), new, ends, step, 8)
    links = subjects_of_links(record)
    for name, column in (("drops", "dropped_ns"), ("queue_marks", "marked_ns")):
        rows = record.hops.filter(pl.col(column).is_not_null())
        _add(found, name, rows, ("port", column), pl.len(), links, step, None)
    return found


def ranges(record: Record) -> dict[Key, Range]:
    """As `samples`, with the series that are no sums, of those that the run recorded."""
    step = every_ns(record)
    found: dict[Key, Range] = {key: (low, high, False) for key, (low, high) in samples(record).items()}
    if step is not None:
        found |= curves(record, names_of(record), step, subjects_of_ends(record), subjects_of_links(record))
    return found


def names_of(record: Record) -> list[str]:
    """The series that the plan records."""
    return list(record.plan.get("record", {}).get("series", []))


def subjects_of_ends(record: Record) -> dict[int, str]:
    """The subject of each end of a flow: its receiver, or the flow itself for a consumer of named data."""
    rows = record.ends.join(
        record.flows.select("flow", "name", "transport"), on="flow", maintain_order="left"
    )
    return {
        row["end"]: f"flow.{row['name']}"
        if row["transport"] == "ndn"
        else f"receiver.{row['name']}@{row['node']}"
        for row in rows.rows(named=True)
    }


def _add(
    found: dict[Key, tuple[float, float]],
    series: str,
    rows: pl.DataFrame,
    columns: tuple[str, str],
    value: pl.Expr,
    subjects: Mapping[int, str],
    step: int,
    per_second: int | None,
) -> None:
    """Adds the samples of a series: sums over the intervals, and over the instants between them."""
    key, time = columns
    inner = rows.filter(pl.col(time) % step != 0)
    sums = inner.group_by(key, (pl.col(time) // step + 1).alias("bin")).agg(value.alias("value"))
    edges = rows.filter(pl.col(time) % step == 0).group_by(key, (pl.col(time) // step).alias("bin"))
    maximum: dict[tuple[int, int], float] = defaultdict(float)
    minimum: dict[tuple[int, int], float] = defaultdict(float)
    for subject, place, amount in sums.select(key, "bin", "value").rows():
        minimum[subject, place] += amount
        maximum[subject, place] += amount
    for subject, place, amount in edges.agg(value.alias("value")).select(key, "bin", "value").rows():
        maximum[subject, place] += amount
        maximum[subject, place + 1] += amount
    scale = NS / step if per_second else 1
    for (subject, place), amount in maximum.items():
        found[subjects[subject], series, place * step] = (minimum[subject, place] * scale, amount * scale)


RECOMPUTED = ("rate", "throughput", "goodput", "drops", "queue_marks", *CURVES)
"""Series whose samples are recomputed. One that has none in an interval is zero, or empty if it is of `EMPTY`."""


@dataclass(frozen=True, eq=False)
class Rates:
    """The series `rate` of flows: mean rates by interval, the intervals in which they were active, means over windows."""

    step_ns: int
    samples: Mapping[int, Mapping[int, float]]
    """By number of the flow, then by the number of the interval from 1."""
    active: Mapping[int, Mapping[int, float]]
    """Of these, the intervals in which the flow was active."""

    @classmethod
    def of(cls, record: Record, series: pl.DataFrame) -> Rates | None:
        """From the packets; None if the run has no series `rate`.

        `series` is the table, which decides in which of two intervals the packets of the instant between them are.
        """
        step = every_ns(record)
        rows = series.filter(pl.col("series") == "rate")
        if step is None or rows.is_empty():
            return None
        sums = samples(record)
        numbers = {f"flow.{flow['name']}": number for number, flow in enumerate(record.names["flows"])}
        found: dict[int, dict[int, float]] = defaultdict(dict)
        for subject, time_s, value in rows.select("subject", "time_s", "value").rows():
            place = round(time_s * NS / step)
            low, high = sums.get((subject, "rate", place * step), (0.0, 0.0))
            found[numbers[subject]][place] = min(max(value, low), high)
        spans = active_spans(record)
        active = {
            number: {place: rate for place, rate in rates.items() if spans[number].has(place * step, rate)}
            for number, rates in found.items()
        }
        return cls(step, found, active)

    @property
    def per_window(self) -> int:
        """Intervals of a window: the fewest that last a second together."""
        return -(-WINDOW_NS // self.step_ns)

    @property
    def window_ns(self) -> int:
        """Length of a window."""
        return self.per_window * self.step_ns

    @cached_property
    def windows(self) -> int:
        """Number of whole windows of the run."""
        return min(len(rates) // self.per_window for rates in self.samples.values())

    @cached_property
    def curves(self) -> Mapping[int, Sequence[float | None]]:
        """By number of the flow, its mean rate in each window; None where it was not active in all of the window."""
        return {number: self._means(known) for number, known in self.active.items()}

    def _means(self, known: Mapping[int, float]) -> list[float | None]:
        size = self.per_window
        found: list[float | None] = []
        for window in range(self.windows):
            inside = [known.get(window * size + place) for place in range(1, size + 1)]
            there = [rate for rate in inside if rate is not None]
            found.append(math.fsum(there) / size if len(there) == size else None)
        return found


@dataclass(frozen=True)
class ActiveSpan:
    """When a flow was active, as far as its rate over time is concerned."""

    start_ns: float
    """Its first start."""
    end_ns: float
    """Its completion, or the stop after which it does not start again, if that is earlier."""
    restarts: bool
    """It stops and starts again: only intervals in which it sent count."""

    def has(self, at_ns: int, rate: float) -> bool:
        """Whether the flow was active in the interval that ends at this instant, in which its rate was `rate`."""
        return self.start_ns < at_ns <= self.end_ns and (rate > 0 or not self.restarts)


@lru_cache(maxsize=1)
def active_spans(record: Record) -> list[ActiveSpan]:
    """The active time of each flow: from the record its start and its completion, from the plan when it stops for good."""
    begun = dict(record.started.rows())
    done = dict(record.completed.rows())
    changes = defaultdict(list)
    for at_ns, event in events(record):
        changes[event.get("flow")].append((at_ns, event.get("action")))
    found = []
    for flow in record.names["flows"]:
        planned = math.inf if flow["start_ns"] is None else flow["start_ns"]
        stop = math.inf if flow["stop_ns"] is None else flow["stop_ns"]
        restarts = bool(flow["churns"])
        for at_ns, action in changes[flow["name"]]:
            if action == "stop" and at_ns >= planned:
                stop = min(stop, at_ns)
            elif action == "start" and stop <= at_ns:
                stop, restarts = math.inf, True
        end = min(stop, done.get(flow["sender"], math.inf))
        found.append(ActiveSpan(begun.get(flow["sender"], math.inf), end, restarts))
    return found


def events(record: Record) -> list[tuple[int, Mapping[str, Any]]]:
    """The events of the plan by their times in ns."""
    listed = [(round(base_value(event["at"]) * NS), event) for event in record.plan.get("events", [])]
    return sorted(listed, key=lambda pair: pair[0])


Values = dict[str, tuple[str, float | None]]
"""Key → kind of comparison and value."""


def of_flow(record: Record, number: int, rates: Rates | None) -> Values:
    """Keys of a flow that come from the series `rate`."""
    return {
        "cov": ("float", None if rates is None else coefficient_of_variation(record, number, rates)),
        "convergence": ("float", None if rates is None else convergence_s(record, rates).get(number)),
        "recovery": ("float", None if rates is None else recovery_s(record, [number], rates)),
    }


def of_group(record: Record, numbers: Sequence[int], rates: Rates | None) -> Values:
    """Keys of a group of flows that come from the series `rate`."""
    names = ("cov", "convergence", "recovery", "fairness_mean", "fairness_min")
    if rates is None:
        return dict.fromkeys(names, ("float", None))
    each = [coefficient_of_variation(record, number, rates) for number in numbers]
    spread = [value for value in each if value is not None]
    times = convergence_s(record, rates)
    with_scheme = [
        number for number in numbers if scheme_of(record, record.names["flows"][number]) is not None
    ]
    converged = [times[number] for number in with_scheme if number in times]
    shares = [
        value for end, value in fairness_samples(record, numbers, rates).items() if end > record.begin_ns
    ]
    values = (
        _mean(spread),
        max(converged) if converged and len(converged) == len(with_scheme) else None,
        recovery_s(record, numbers, rates),
        _mean(shares),
        min(shares, default=None),
    )
    return {name: ("float", value) for name, value in zip(names, values, strict=True)}


def _mean(listed: Sequence[float]) -> float | None:
    return math.fsum(listed) / len(listed) if listed else None


def coefficient_of_variation(record: Record, number: int, rates: Rates) -> float | None:
    """Standard deviation of a sample / mean, of the rates in the intervals of T in which the flow was active."""
    active = rates.active.get(number, {})
    values = [rate for place, rate in active.items() if place * rates.step_ns > record.begin_ns]
    if len(values) < 2 or not any(values):
        return None
    return statistics.stdev(values) / statistics.fmean(values)


def fairness_samples(record: Record, numbers: Sequence[int], rates: Rates) -> dict[int, float]:
    """Jain's index of the mean rates in each window of the flows with a scheme that were active in all of it, by its end."""
    curves = [
        rates.curves[number]
        for number in numbers
        if number in rates.curves and scheme_of(record, record.names["flows"][number]) is not None
    ]
    found = {}
    for window in range(rates.windows):
        shares = [rate for curve in curves if (rate := curve[window]) is not None]
        squares = math.fsum(share**2 for share in shares)
        if len(shares) > 1 and squares > 0:
            found[(window + 1) * rates.window_ns] = math.fsum(shares) ** 2 / (len(shares) * squares)
    return found


def fairness_series(record: Record, rates: Rates | None) -> dict[tuple[str, int], float]:
    """The series `fairness` by subject and end of the window: of all flows, and of groups of several flows."""
    if rates is None:
        return {}
    parts = [("flows", list(range(len(record.names["flows"]))))]
    if len(record.names["groups"]) > 1:
        parts += [
            (f"flows.{group['name']}", group["flows"])
            for group in record.names["groups"]
            if len(group["flows"]) > 1
        ]
    return {
        (subject, end): value
        for subject, numbers in parts
        for end, value in fairness_samples(record, numbers, rates).items()
    }


@lru_cache(maxsize=1)
def convergence_s(record: Record, rates: Rates) -> dict[int, float]:
    """Of each flow with a scheme that converged, the time from its start to the first five windows at its fair value.

    The fair value of a window is the mean over the flows with a scheme that were active in all of it.
    """
    curves = {
        number: curve
        for number, curve in rates.curves.items()
        if scheme_of(record, record.names["flows"][number]) is not None
    }
    fair = []
    for window in range(rates.windows):
        shares = [rate for curve in curves.values() if (rate := curve[window]) is not None]
        fair.append(_mean(shares))
    found = {}
    for number, curve in curves.items():
        near = [
            rate is not None and goal is not None and goal > 0 and abs(rate - goal) <= BAND * goal
            for rate, goal in zip(curve, fair, strict=True)
        ]
        first = next((at for at in range(len(near) - HELD + 1) if all(near[at : at + HELD])), None)
        if first is not None:
            begun_ns = first * rates.window_ns - active_spans(record)[number].start_ns
            found[number] = max(begun_ns, 0) / NS
    return found


def recovery_s(record: Record, numbers: Sequence[int], rates: Rates) -> float | None:
    """The longest time from an event until the total rate of the flows has settled; None if it does not after each."""
    curves = [rates.curves[number] for number in numbers if number in rates.curves]
    total = [
        math.fsum(rate for curve in curves if (rate := curve[window]) is not None)
        for window in range(rates.windows)
    ]
    times = sorted({at_ns for at_ns, _ in events(record)})
    took = []
    for at_ns, next_ns in zip(times, [*times[1:], record.end_ns], strict=False):
        first = -(-at_ns // rates.window_ns)
        until = min(next_ns // rates.window_ns, rates.windows)
        settled = _settled(total[first:until])
        if not curves or settled is None:
            return None
        took.append(((first + settled) * rates.window_ns - at_ns) / NS)
    return max(took, default=None)


def _settled(values: Sequence[float]) -> int | None:
    """The place from which on all values are within ±10 % of the mean of the second half, if it is not in that half."""
    if len(values) < 2:
        return None
    half = len(values) // 2
    goal = math.fsum(values[half:]) / (len(values) - half)
    outside = [place for place, value in enumerate(values) if abs(value - goal) > BAND * goal]
    begin = outside[-1] + 1 if outside else 0
    return begin if goal > 0 and begin <= half else None
