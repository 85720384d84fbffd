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

import polars as pl

from ..quantities import base_value
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


def samples(record: Record) -> dict[Key, float]:
    """Every sample that packets give, of the series that can be recomputed, where something happened."""
    step = every_ns(record)
    found: dict[Key, float] = {}
    if step is None:
        return found
    flows = {row["flow"]: f"flow.{row['name']}" for row in record.flows.rows(named=True)}
    sent = record.own.filter(pl.col("copy_of").is_null() & (pl.col("source") == pl.col("sender")))
    _add(
        found, "rate", _binned(sent, "flow", "created_ns", step, 8 * pl.col("size_bytes").sum()), flows, step
    )
    names = record.ends.join(record.flows.select("flow", "name"), on="flow", maintain_order="left")
    ends = {row["end"]: f"receiver.{row['name']}@{row['node']}" for row in names.rows(named=True)}
    consumers = set(record.flows.filter(pl.col("transport") == "ndn")["name"].to_list())
    ends |= {row["end"]: f"flow.{row['name']}" for row in names.rows(named=True) if row["name"] in consumers}
    arrived = _binned(
        record.delivered.filter("data"), "end", "ended_ns", step, 8 * pl.col("size_bytes").sum()
    )
    _add(found, "throughput", arrived, ends, step)
    links = {
        row["port"]: f"link.{row['link']}" + ".backward" * (row["direction"] == "backward")
        for row in ports(record).rows(named=True)
    }
    for name, column in (("drops", "dropped_ns"), ("queue_marks", "marked_ns")):
        counts = _binned(record.hops.filter(pl.col(column).is_not_null()), "port", column, step, pl.len())
        _add(found, name, counts, links, step, per_second=False)
    return found


def _binned(rows: pl.DataFrame, key: str, time: str, step: int, value: pl.Expr) -> pl.DataFrame:
    bins = rows.group_by(key, (pl.col(time) // step + 1).alias("bin"))
    return bins.agg(value.alias("value")).select(key, "bin", "value")


def _add(
    found: dict[Key, float],
    series: str,
    rows: pl.DataFrame,
    subjects: Mapping[int, str],
    step: int,
    *,
    per_second: bool = True,
) -> None:
    for key, place, value in rows.rows():
        found[subjects[key], series, place * step] = value * NS / step if per_second else value


RECOMPUTED = ("rate", "throughput", "drops", "queue_marks")
"""Series whose samples are recomputed. One that has none in an interval is zero."""


def of_flows(record: Record, numbers: Sequence[int]) -> dict[str, tuple[str, float | None]]:
    """Keys of a group of flows that come from the series `rate`: `cov`, `fairness_mean` and `fairness_min`."""
    step = every_ns(record)
    if step is None or "rate" not in record.plan["record"].get("series", []):
        return {}
    found: dict[str, tuple[str, float | None]] = {}
    each = [
        value for number in numbers if (value := coefficient_of_variation(record, number, step)) is not None
    ]
    found["cov"] = ("float", math.fsum(each) / len(each) if each else None)
    if (shares := fairness_samples(record, numbers, step)) is not None:
        measured = [value for time_ns, value in shares.items() if time_ns > record.begin_ns]
        found["fairness_mean"] = ("float", math.fsum(measured) / len(measured) if measured else None)
        found["fairness_min"] = ("float", min(measured, default=None))
    return found


@dataclass(frozen=True)
class Rates:
    """What the samples of the rates of flows are computed from."""

    bits: Mapping[int, Mapping[int, int]]
    """Bits that the sender of each flow sent in each interval, by its number from 1."""
    phases: Mapping[int, Sequence[tuple[int, int]]]
    """Times in which each flow was active."""


@lru_cache(maxsize=1)
def _rates_of(record: Record, step: int) -> Rates:
    sent = record.own.filter(pl.col("copy_of").is_null() & (pl.col("source") == pl.col("sender")))
    bits: dict[int, dict[int, int]] = defaultdict(dict)
    for flow, place, value in _binned(
        sent, "flow", "created_ns", step, 8 * pl.col("size_bytes").sum()
    ).rows():
        bits[flow][place] = value
    done = dict(record.completed.rows())
    senders = record.flows.select("flow", endpoint="sender")
    phases: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for flow, endpoint, begin, end in senders.join(record.phases, on="endpoint").rows():
        phases[flow].append((begin, min(end, done.get(endpoint, end))))
    return Rates(bits, phases)


def _rates(record: Record, number: int, step: int) -> list[tuple[int, float]]:
    """Samples of the rate of a flow at times at which it was active."""
    known = _rates_of(record, step)
    bits, phases = known.bits.get(number, {}), known.phases.get(number, ())
    return [
        (place * step, bits.get(place, 0) * NS / step)
        for place in range(1, record.end_ns // step + 1)
        if any(begin < place * step <= end for begin, end in phases)
    ]


def coefficient_of_variation(record: Record, number: int, step: int) -> float | None:
    """Standard deviation of a sample / mean, of the samples of the rate in T at which the flow was active."""
    rates = [rate for at, rate in _rates(record, number, step) if at > record.begin_ns]
    if len(rates) < 2 or not any(rates):
        return None
    return statistics.stdev(rates) / statistics.fmean(rates)


def fairness_samples(record: Record, numbers: Sequence[int], step: int) -> dict[int, float] | None:
    """Jain's index of the mean rates in windows of 1 s of the flows with a scheme that were active in all of the window."""
    if WINDOW_NS % step:
        return None
    per_window = WINDOW_NS // step
    windows: dict[int, list[float]] = defaultdict(list)
    for number in numbers:
        if record.names["flows"][number]["scheme"] is None:
            continue
        rates = dict(_rates(record, number, step))
        for end in range(WINDOW_NS, record.end_ns + 1, WINDOW_NS):
            inside = [rates.get(end - place * step) for place in range(per_window)]
            if all(rate is not None for rate in inside):
                windows[end].append(math.fsum(rate for rate in inside if rate is not None) / per_window)
    return {
        end: math.fsum(rates) ** 2 / (len(rates) * squares)
        for end, rates in windows.items()
        if len(rates) > 1 and (squares := math.fsum(rate**2 for rate in rates)) > 0
    }
