"""Series that are no sums of packets: means over the packets of an interval, time averages of queues, and utilisation.

A sample at time t is over the interval [t − d, t) of the run. What happens at the very instant of a sample can be in it or
in the next one, so that a sample has a minimum and a maximum.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

import polars as pl

from .links import MAX_PACKET, ports
from .record import NS, Record

Range = tuple[float, float, bool]
"""The minimum and the maximum of a sample, and whether it can be empty."""

Key = tuple[str, str, int]
"""Subject, series, and time of the sample in ns."""

MEANS = {"owd": "owd_ns", "queueing_delay": "wait_ns"}
"""Series of means over packets, and the column that is averaged."""

AVERAGES = {"backlog": "packets", "backlog_bytes": "size_bytes"}
"""Series of time averages of queues, and the column of the weight of a packet."""

CURVES = (*MEANS, *AVERAGES, "utilisation")
"""Series that are recomputed here."""

EMPTY = frozenset((*MEANS, "utilisation"))
"""Series whose sample is empty in an interval without packets or without capacity. The others are zero."""

UNBOUNDED = "of intervals in which a link could transmit at their first and last instants only"
"""Why a sample of the utilisation has no maximum."""

INTEGRALS = 1e-14
"""Rounding of an integral since the start of the run, relative to it."""

ROUNDING_BYTES = 8
"""Bytes of a packet in transmission at an instant, as the core computes with whole nanoseconds and the last rate."""


def curves(
    record: Record, names: Sequence[str], step: int, ends: Mapping[int, str], links: Mapping[int, str]
) -> dict[Key, Range]:
    """The samples of the series in `names` that are recomputed here. `ends` and `links` are the subjects by row."""
    found: dict[Key, Range] = {}
    wanted = {name: column for name, column in MEANS.items() if name in names}
    if wanted:
        rows = record.delivered.filter("data").with_columns(owd_ns=pl.col("ended_ns") - pl.col("sent_ns"))
        rows = rows.join(record.waits(rows), on="packet", how="left").with_columns(
            pl.col("wait_ns").fill_null(0)
        )
        for name, column in wanted.items():
            for (end, place), low_high in _means(rows, column, step).items():
                found[ends[end], name, place * step] = low_high
    for name, column in AVERAGES.items():
        if name in names:
            for (port, place), (value, apart) in _averages(record, column, step).items():
                found[links[port], name, place * step] = (max(value - apart, 0.0), value + apart, False)
    if "utilisation" in names:
        for (port, place), low_high in _utilisation(record, step).items():
            found[links[port], "utilisation", place * step] = low_high
    return found


def _means(rows: pl.DataFrame, column: str, step: int) -> dict[tuple[int, int], Range]:
    """The mean over the packets that arrived in each interval, in seconds."""
    place = pl.col("ended_ns") // step
    inner = rows.filter(pl.col("ended_ns") % step != 0).group_by("end", place=place + 1)
    sums = {
        (end, at): (total, count)
        for end, at, total, count in inner.agg(total=pl.col(column).sum(), count=pl.len())
        .select("end", "place", "total", "count")
        .rows()
    }
    edges: dict[tuple[int, int], list[int]] = defaultdict(list)
    at_edge = rows.filter(pl.col("ended_ns") % step == 0).select("end", place, column)
    for end, at, value in at_edge.rows():
        edges[end, at].append(value)
        edges[end, at + 1].append(value)
    found = {}
    for key in {*sums, *edges}:
        total, count = sums.get(key, (0, 0))
        low, high = (_extreme(total, count, edges.get(key, []), sign) / NS for sign in (1, -1))
        found[key] = (low, high, count == 0)
    return found


def _extreme(total: int, count: int, others: Sequence[int], sign: int) -> float:
    """The minimum (`sign` 1) or maximum (−1) of the mean of `count` values together with any of the others."""
    for value in sorted(others, key=lambda value: sign * value):
        if count and sign * value * count >= sign * total:
            break
        total, count = total + value, count + 1
    return total / count


def _averages(record: Record, weight: str, step: int) -> dict[tuple[int, int], tuple[float, float]]:
    """The time average of each queue over each interval, and its rounding.

    The core takes the difference of two integrals since the start.
    """
    leaves = pl.coalesce("started_ns", "dropped_ns", pl.lit(record.end_ns))
    waits = record.hops.filter(pl.col("offered_ns").is_not_null() & (leaves > pl.col("offered_ns")))
    sizes = record.packets.select("packet", "size_bytes", packets=pl.lit(1, dtype=pl.Int64))
    waits = waits.with_columns(leaves_ns=leaves).join(sizes, on="packet")
    used = waits.select("port").unique()
    instants = pl.DataFrame({"at_ns": list(range(0, record.end_ns + 1, step))})
    changes = pl.concat(
        [
            waits.select("port", at_ns="offered_ns", change=pl.col(weight).cast(pl.Int64)),
            waits.select("port", at_ns="leaves_ns", change=-pl.col(weight).cast(pl.Int64)),
            used.join(instants, how="cross").with_columns(change=pl.lit(0, dtype=pl.Int64)),
        ]
    )
    changes = changes.group_by("port", "at_ns").agg(pl.col("change").sum()).sort("port", "at_ns")
    changes = changes.with_columns(
        held=pl.col("change").cum_sum().over("port"),
        length=pl.col("at_ns").shift(-1).over("port") - pl.col("at_ns"),
        place=pl.col("at_ns") // step + 1,
    )
    areas = changes.group_by("port", "place").agg(area=(pl.col("held") * pl.col("length")).sum())
    since = pl.col("area").cast(pl.Float64).cum_sum().over("port")
    areas = areas.sort("port", "place").with_columns(since=since)
    return {
        (port, place): (area / step, INTEGRALS * whole / step)
        for port, place, area, whole in areas.select("port", "place", "area", "since").rows()
    }


def _utilisation(record: Record, step: int) -> dict[tuple[int, int], Range]:
    """Bits transmitted in each interval / bits that the link could have transmitted while it was up."""
    rates = _rates(record)
    capacity: dict[tuple[int, int], float] = defaultdict(float)
    for port, parts in rates.items():
        for begin, end, rate in parts:
            for place, length in _places(begin, min(end, record.end_ns), step):
                capacity[port, place] += rate * length / NS
    at_once: dict[tuple[int, int], float] = defaultdict(float)
    up = record.activity.filter(pl.col("event") == "up").select("port", "time_ns", "value")
    states: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for port, time_ns, value in up.rows():
        states[port].append((time_ns, value))
    chances = record.activity.filter(pl.col("event") == "opportunity").select("port", "time_ns", "value")
    for port, time_ns, bits in chances.rows():
        if states[port][bisect_right(states[port], (time_ns, 2)) - 1][1] and time_ns < record.end_ns:
            place = time_ns // step + 1
            capacity[port, place] += bits
            if time_ns % step == 0:
                at_once[port, place] += bits
                at_once[port, place - 1] += bits
    bits_sent, slack = _bits(record, rates, step)
    found = {}
    for port, place in {**capacity, **at_once}:
        carried, extra = capacity[port, place], at_once[port, place]
        if carried + extra <= 0:
            continue
        sent, apart = bits_sent[port, place], slack[port, place] + (MAX_PACKET * 8 if extra else 0)
        maximum = math.inf if carried <= extra else (sent + apart) / (carried - extra)
        found[port, place] = (max(sent - apart, 0.0) / (carried + extra), maximum, carried <= extra)
    return found


Parts = list[tuple[int, int, int]]
"""Begin, end and rate of times in which a port was up at one rate."""


def _rates(record: Record) -> dict[int, Parts]:
    """The rates of each port while it was up; none of ports without a limit."""
    rows = record.activity.filter(pl.col("event").is_in(["rate_bps", "up"]) & pl.col("port").is_not_null())
    unlimited = set(
        rows.filter((pl.col("event") == "rate_bps") & pl.col("value").is_null())["port"].to_list()
    )
    now: dict[int, dict[str, int]] = defaultdict(dict)
    since: dict[int, int] = {}
    found: dict[int, Parts] = defaultdict(list)
    ending = [(port, record.end_ns, "end", 0) for port in rows["port"].unique().to_list()]
    for port, time_ns, event, value in [
        *rows.sort("time_ns", maintain_order=True).select("port", "time_ns", "event", "value").rows(),
        *ending,
    ]:
        if port in unlimited:
            continue
        state = now[port]
        if state.get("up") and state.get("rate_bps") and time_ns > since[port]:
            found[port].append((since[port], time_ns, state["rate_bps"]))
        elif state.get("rate_bps") is not None and time_ns > since[port]:
            found[port].append((since[port], time_ns, 0))
        state[event], since[port] = value, time_ns
    return found


def _places(begin: int, end: int, step: int) -> list[tuple[int, int]]:
    """The intervals that a time covers, each with the length that it covers of it."""
    return [
        (place + 1, min(end, (place + 1) * step) - max(begin, place * step))
        for place in range(begin // step, -(-end // step))
    ]


def _bits(
    record: Record, rates: Mapping[int, Parts], step: int
) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
    """Bits that each port transmitted in each interval, and up to how many they are not known."""
    rows = record.hops.filter(pl.col("started_ns").is_not_null() & pl.col("departed_ns").is_not_null())
    rows = rows.join(record.packets.select("packet", "size_bytes"), on="packet")
    inside = (pl.col("started_ns") // step == (pl.col("departed_ns") - 1) // step) & (
        pl.col("departed_ns") > pl.col("started_ns")
    )
    sums = rows.filter(inside).group_by("port", place=pl.col("started_ns") // step + 1)
    bits: dict[tuple[int, int], float] = defaultdict(float)
    slack: dict[tuple[int, int], float] = defaultdict(float)
    for port, place, value in (
        sums.agg(value=8 * pl.col("size_bytes").sum()).select("port", "place", "value").rows()
    ):
        bits[port, place] += value
    for port, started, departed, size in (
        rows.filter(~inside).select("port", "started_ns", "departed_ns", "size_bytes").rows()
    ):
        if departed == started:
            bits[port, started // step + 1] += 8 * size
            if started % step == 0:
                slack[port, started // step + 1] += 8 * size
                slack[port, started // step] += 8 * size
            continue
        parts = rates.get(port, [])
        first = max(bisect_right(parts, (started, math.inf, math.inf)) - 1, 0)
        through = [part for part in parts[first:] if part[0] < departed] if len(parts) < 64 else []
        if not through:
            last = bisect_right(parts, (departed - 1, math.inf, math.inf))
            through = parts[first:last]
        whole = sum(rate * (min(departed, end) - max(started, begin)) / NS for begin, end, rate in through)
        # behind a shaper a packet is not transmitted at the rate of the port
        exact = abs(whole - 8 * size) < 8
        for place, length in _places(started, departed, step):
            low, high = max(started, (place - 1) * step), min(departed, place * step)
            if exact:
                bits[port, place] += sum(
                    rate * max(min(high, end) - max(low, begin), 0) / NS for begin, end, rate in through
                )
                slack[port, place] += 8 * ROUNDING_BYTES
            else:
                bits[port, place] += 8 * size * length / (departed - started)
                slack[port, place] += 8 * size
    return bits, slack


def subjects_of_links(record: Record) -> dict[int, str]:
    """The subject of each port in the table `series`."""
    return {
        row["port"]: f"link.{row['link']}" + ".backward" * (row["direction"] == "backward")
        for row in ports(record).rows(named=True)
    }
