"""The keys `flows.*` and `flows.GROUP.*` of the summary: values of several flows together.

Sums of counts and rates, pooled delays, worst and best over the flows, percentiles over all packets or transfers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from . import flows, series
from .columns import nearest_rank
from .receivers import is_group
from .record import NS, Record

Row = Mapping[str, Any]
"""The recomputed columns of a flow."""


SUMS = ("throughput_bps", "goodput_bps", "rate_bps", "interests_bps")
"""Rates over the measured span: sums over the flows of a group."""

MINIMA = ("owd_min_s", "rtt_min_s", "delay_min_s", "throughput_worst_bps", "goodput_worst_bps")
"""Columns of which a group has the minimum."""

MAXIMA = (
    *("owd_max_s", "delay_max_s", "rtp_queue_max_s", "throughput_best_bps"),
    *("loss_ratio_worst", "queueing_delay_worst_s", "owd_worst_s"),
)
"""Columns of which a group has the maximum."""

MEANS = (
    *("started_s", "completed_s", "active_s", "fct_s", "stalled_s", "startup_s"),
    *("active_throughput_bps", "active_goodput_bps"),
)
"""Columns of which a group has the mean over its flows."""


def key_of(column: str) -> str:
    """The word of a column in a key of the summary: without its unit."""
    return column.removesuffix("_bps").removesuffix("_s")


def values(
    record: Record, rows: Sequence[Row], numbers: Sequence[int], rates: series.Rates | None
) -> dict[str, tuple[str, float | None]]:
    """The keys of a group: key → kind of comparison and value. `rows` are its flows, `numbers` their numbers."""
    found: dict[str, tuple[str, float | None]] = {"count": ("count", len(rows))}

    def column(name: str) -> list[float]:
        return [row[name] for row in rows if row.get(name) is not None]

    for name, known in flows.FLOWS.columns.items():
        if known.kind == "count":
            found[key_of(name)] = ("count", sum(column(name)))
    for names, how in (
        (SUMS, math.fsum),
        (MINIMA, min),
        (MAXIMA, max),
        (MEANS, _mean),
    ):
        for name in names:
            found[key_of(name)] = ("float", _over(how, column(name)))
    for name in ("throughput", "goodput"):
        # no flow that was active is no bit
        found[name] = ("float", math.fsum(column(f"{name}_bps")))
        found[f"{name}_mean"] = ("float", _over(_mean, column(f"{name}_bps")))
    found |= _delays(record, numbers)
    found |= _losses(record, rows, numbers)
    found |= _transfers(record, rows)
    found["fairness"] = ("float", fairness(record, rows))
    found["power"] = ("float", ratio(found["throughput"][1], found["owd"][1]))
    found |= series.of_group(record, numbers, rates)
    return found


def _over(how: Callable[[list[float]], float], listed: list[float]) -> float | None:
    return how(listed) if listed else None


def _mean(listed: Sequence[float]) -> float:
    return math.fsum(listed) / len(listed)


def ratio(above: float | None, below: float | None) -> float | None:
    """A quotient; None without a divisor."""
    return None if above is None or not below else above / below


def _delays(record: Record, numbers: Sequence[int]) -> dict[str, tuple[str, float | None]]:
    """Delays weighted by packets or samples, and percentiles over all of them."""
    packets = flows.pooled(record).filter(pl.col("flow").is_in(list(numbers)))
    waits, owds = packets["wait_ns"], packets["owd_ns"]
    found: dict[str, tuple[str, float | None]] = {
        "owd": ("float", _seconds(owds.mean())),
        "queueing_delay": ("float", _seconds(waits.mean())),
        "base_delay": ("float", _seconds((owds - waits).mean())),
    }
    for percent in (50, 95, 99):
        point = None if packets.is_empty() else packets.select(nearest_rank("wait_ns", percent / 100)).item()
        found[f"queueing_delay_p{percent}"] = ("percentile", _seconds(point))
    senders = record.flows.filter(pl.col("flow").is_in(list(numbers))).select("flow", endpoint="sender")
    rtts = senders.join(record.samples("rtt_ns"), on="endpoint")
    found["rtt"] = ("float", _pooled_mean(rtts))
    for name, of_queue in (("delay", False), ("rtp_queue", True)):
        samples = flows.delays(record, of_queue=of_queue).filter(pl.col("flow").is_in(list(numbers)))
        found[name] = ("float", _pooled_mean(samples))
        if not of_queue:
            found["delay_std"] = ("float", flows.deviation_s(samples))
        each = samples.with_columns(each=pl.col("change") / pl.col("samples"))
        if not record.distributions:
            frames = record.flows.filter(pl.col("transport") != "ndn").select("flow")
            each = each.join(frames, on="flow", how="semi")
        for percent in (95,) if of_queue else (5, 25, 50, 75, 95):
            point = None if each.is_empty() else each.select(nearest_rank("each", percent / 100)).item()
            found[f"{name}_p{percent}"] = ("percentile", _seconds(point))
    return found


def _pooled_mean(samples: pl.DataFrame) -> float | None:
    count = int(samples["samples"].sum())
    return int(samples["change"].sum()) / count / NS if count else None


def _seconds(value: Any) -> float | None:
    return None if value is None else float(value) / NS


def _losses(
    record: Record, rows: Sequence[Row], numbers: Sequence[int]
) -> dict[str, tuple[str, float | None]]:
    """Unicast flows pooled; the mean of the ratios if a flow goes to a group. Acknowledgements are pooled."""
    listed = record.flows.filter(pl.col("flow").is_in(list(numbers)))
    if listed.filter(is_group()).is_empty():
        lost = record.lost.filter(pl.col("data") & pl.col("flow").is_in(list(numbers))).height
        arrived = flows.pooled(record).filter(pl.col("flow").is_in(list(numbers))).height
        loss = ratio(lost, lost + arrived)
    else:
        loss = _over(_mean, [row["loss_ratio"] for row in rows if row["loss_ratio"] is not None])
    acks = flows.ack_counts(record).filter(pl.col("flow").is_in(list(numbers)))
    return {
        "loss_ratio": ("float", loss),
        "ack_loss_ratio": ("float", ratio(int(acks["lost"].sum()), int(acks["decided"].sum()))),
    }


def _transfers(record: Record, rows: Sequence[Row]) -> dict[str, tuple[str, float | None]]:
    """Completion times of finite transfers."""
    finite = {row["name"] for row in record.flows.rows(named=True) if row["size_bytes"] is not None}
    begun = [row for row in rows if row["flow"] in finite and row["started_s"] is not None]
    times = sorted(row["fct_s"] for row in rows if row["fct_s"] is not None)
    found: dict[str, tuple[str, float | None]] = {
        "transfers": ("count", len(begun)),
        "unfinished": ("count", sum(row["completed_s"] is None for row in begun)),
        "completions": ("count", len(times)),
    }
    for percent in (50, 95, 99):
        rank = max(math.ceil(len(times) * percent / 100 - 1e-9), 1)
        found[f"fct_p{percent}"] = ("float", times[rank - 1] if times else None)
    return found


def fairness(record: Record, rows: Sequence[Row]) -> float | None:
    """Jain's index of the active goodputs of flows with a scheme that are no finite transfers and were active in T."""
    finite = {row["name"] for row in record.flows.rows(named=True) if row["size_bytes"] is not None}
    sharing = [
        row for row in rows if row["scheme"] and row["flow"] not in finite and (row["active_s"] or 0) > 0
    ]
    if len(sharing) < 2 or not _ever_together(record, {row["flow"] for row in sharing}):
        return None
    shares = [row["active_goodput_bps"] or 0.0 for row in sharing]
    squares = math.fsum(share**2 for share in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares > 0 else None


def _ever_together(record: Record, names: set[str]) -> bool:
    """Whether all of these flows were active at one instant of T."""
    senders = record.flows.filter(pl.col("name").is_in(list(names))).select(endpoint="sender", flow="flow")
    begin = pl.max_horizontal(pl.col("begin_ns"), pl.lit(record.begin_ns))
    phases = record.phases.join(senders, on="endpoint").with_columns(begin_ns=begin)
    phases = phases.filter(pl.col("end_ns") > pl.col("begin_ns"))
    return any(
        phases.filter((pl.col("begin_ns") <= at) & (pl.col("end_ns") > at))["flow"].n_unique() == len(names)
        for at in phases["begin_ns"].unique().to_list()
    )
