"""The table `series` from packets, and the keys of the summary that come from the rate over time.

A sample at time t is over the interval [t − d, t) of the run, d being the plan's `record.every`.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import polars as pl

from ..quantities import base_value
from .flows import scheme_of
from .links import ports
from .record import NS, Record

WITHOUT = {
    "convergence": "its windows and limits are defined in words only; the series that it comes from is recomputed",
    "recovery": "its windows and limits are defined in words only; the series that it comes from is recomputed",
}
"""Keys that are not recomputed, and why."""

WINDOW_NS = NS
"""Length of the windows of Jain's index."""

Key = tuple[str, str, int]
"""Subject, series, and time of the sample in ns."""


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
    names = record.ends.join(record.flows.select("flow", "name"), on="flow", maintain_order="left")
    ends = {row["end"]: f"receiver.{row['name']}@{row['node']}" for row in names.rows(named=True)}
    consumers = set(record.flows.filter(pl.col("transport") == "ndn")["name"].to_list())
    ends |= {row["end"]: f"flow.{row['name']}" for row in names.rows(named=True) if row["name"] in consumers}
    arrived = record.delivered.filter("data")
    _add(found, "throughput", arrived, ("end", "ended_ns"), bits, ends, step, 8)
    links = {
        row["port"]: f"link.{row['link']}" + ".backward" * (row["direction"] == "backward")
        for row in ports(record).rows(named=True)
    }
    for name, column in (("drops", "dropped_ns"), ("queue_marks", "marked_ns")):
        rows = record.hops.filter(pl.col(column).is_not_null())
        _add(found, name, rows, ("port", column), pl.len(), links, step, None)
    return found


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


RECOMPUTED = ("rate", "throughput", "drops", "queue_marks")
"""Series whose samples are recomputed. One that has none in an interval is zero."""


Reading = Literal["at the end", "in all", "in a part"]
"""Which intervals belong to the time in which a flow was active: the definition does not say."""

READINGS: tuple[Reading, ...] = ("at the end", "in all", "in a part")


@dataclass(frozen=True)
class Rates:
    """The printed samples of the rates of flows, and when the flows were active."""

    step_ns: int
    samples: Mapping[str, Mapping[int, float]]
    """By flow, then by the number of the interval from 1."""

    @classmethod
    def of(cls, record: Record, series: pl.DataFrame) -> Rates | None:
        """From the table `series`; None if it has no rates."""
        step = every_ns(record)
        rows = series.filter(pl.col("series") == "rate")
        if step is None or rows.is_empty():
            return None
        found: dict[str, dict[int, float]] = defaultdict(dict)
        for subject, time_s, value in rows.select("subject", "time_s", "value").rows():
            found[subject.removeprefix("flow.")][round(time_s * NS / step)] = value
        return cls(step, found)

    def active(self, record: Record, number: int, reading: Reading = "at the end") -> list[tuple[int, float]]:
        """Time and value of the samples of a flow in whose intervals it was active, at the end, in all, or in a part."""
        flow = record.names["flows"][number]
        samples = self.samples.get(flow["name"], {})
        phases = activity_of(record).get(flow["sender"], ())
        step = self.step_ns
        if flow["churns"] or len(phases) > 1:
            # of a flow that stops and starts again, the intervals after its first start in which it sent
            start = min((begin for begin, _ in phases), default=record.end_ns)
            return [
                (place * step, value)
                for place, value in samples.items()
                if place * step > start and value > 0
            ]

        def is_active(end: int) -> bool:
            if reading == "at the end":
                return any(begin < end <= stop for begin, stop in phases)
            if reading == "in all":
                return any(begin <= end - step and end <= stop for begin, stop in phases)
            return any(begin < end and stop > end - step for begin, stop in phases)

        return [(place * step, value) for place, value in samples.items() if is_active(place * step)]


@lru_cache(maxsize=1)
def activity_of(record: Record) -> dict[int, list[tuple[int, int]]]:
    """Times in which each sender was active, until its transfer was complete."""
    done = dict(record.completed.rows())
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for endpoint, begin, end in record.phases.rows():
        found[endpoint].append((begin, min(end, done.get(endpoint, end))))
    return found


def of_flows(
    record: Record, numbers: Sequence[int], rates: Rates | None, printed: Mapping[str, float | None]
) -> dict[str, tuple[str, float | None]]:
    """Keys of a group of flows that come from the series `rate`: `cov`, `fairness_mean` and `fairness_min`.

    `printed` are the values of the run, to choose among the readings of the definition; one must give the printed value.
    """
    if rates is None:
        return {}
    names = [record.names["flows"][number]["name"] for number in numbers]
    found: dict[str, tuple[str, float | None]] = {}
    if len(numbers) == 1:
        values = [coefficient_of_variation(record, numbers[0], rates, reading) for reading in READINGS]
        found["cov"] = ("float", _chosen(values, printed.get(f"flow.{names[0]}.cov")))
    else:
        # each of them is compared by itself
        each = [value for name in names if (value := printed.get(f"flow.{name}.cov")) is not None]
        found["cov"] = ("float", math.fsum(each) / len(each) if each else None)
    return found


def shares_of_flows(
    record: Record, numbers: Sequence[int], rates: Rates | None, means: tuple[float | None, float | None]
) -> dict[str, tuple[str, float | None]]:
    """`fairness_mean` and `fairness_min` of a group; `means` are the printed ones."""
    found: dict[str, tuple[str, float | None]] = {}
    if rates is None or WINDOW_NS % rates.step_ns:
        return found
    listed = [fairness_samples(record, numbers, rates, reading) for reading in READINGS]
    inside = [[value for at, value in shares.items() if at > record.begin_ns] for shares in listed]
    mean = [math.fsum(values) / len(values) if values else None for values in inside]
    found["fairness_mean"] = ("float", _chosen(mean, means[0]))
    found["fairness_min"] = ("float", _chosen([min(values, default=None) for values in inside], means[1]))
    return found


def _chosen(values: Sequence[float | None], printed: float | None) -> float | None:
    """The value that is printed, if one of them is; otherwise the first."""
    for value in values:
        if value is None or printed is None:
            if value is printed:
                return value
        elif math.isclose(value, printed, rel_tol=1e-9):
            return value
    return values[0]


def coefficient_of_variation(record: Record, number: int, rates: Rates, reading: Reading) -> float | None:
    """Standard deviation of a sample / mean, of the samples of the rate in T at which the flow was active."""
    values = [rate for at, rate in rates.active(record, number, reading) if at > record.begin_ns]
    if len(values) < 2 or not any(values):
        return None
    return statistics.stdev(values) / statistics.fmean(values)


def fairness_samples(
    record: Record, numbers: Sequence[int], rates: Rates, reading: Reading
) -> dict[int, float]:
    """Jain's index of the mean rates in windows of 1 s of the flows with a scheme that were active in all of the window."""
    per_window = WINDOW_NS // rates.step_ns
    windows: dict[int, list[float]] = defaultdict(list)
    for number in numbers:
        if scheme_of(record, record.names["flows"][number]) is None:
            continue
        known = dict(rates.active(record, number, reading))
        for end in range(WINDOW_NS, record.end_ns + 1, WINDOW_NS):
            inside = [known.get(end - place * rates.step_ns) for place in range(per_window)]
            if all(rate is not None for rate in inside):
                windows[end].append(math.fsum(rate for rate in inside if rate is not None) / per_window)
    return {
        end: math.fsum(shares) ** 2 / (len(shares) * squares)
        for end, shares in windows.items()
        if len(shares) > 1 and (squares := math.fsum(share**2 for share in shares)) > 0
    }
