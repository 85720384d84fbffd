"""Invariants that packets obey: nothing is lost without a reason, times are in order, a round trip takes both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .record import Record


def check(record: Record) -> list[str]:
    """The invariants that a record breaks, one sentence each."""
    return [*_balance(record), *_order(record), *_conservation(record), *_round_trips(record)]


def _balance(record: Record) -> Iterator[str]:
    """Sent + copied = delivered + dropped + in flight, of each flow."""
    packets = record.packets
    unknown = packets.filter(~pl.col("end").is_in(["delivered", "dropped", "in_flight"])).height
    if unknown or packets["end"].null_count():
        yield f"{unknown + packets['end'].null_count()} packets have no end: sent = delivered + dropped + in flight"
    if packets["packet"].n_unique() != packets.height:
        yield "the number of a packet is not unique"
    delivered = packets.filter((pl.col("end") == "delivered") & pl.col("taken_by").is_null()).height
    if delivered:
        yield f"{delivered} delivered packets were taken by nobody"
    ended = (pl.col("end") != "in_flight") != pl.col("ended_ns").is_not_null()
    if count := packets.filter(ended).height:
        yield f"{count} packets have an end and no time of it, or a time and no end"
    without = packets.filter((pl.col("end") == "dropped") & pl.col("drop_reason").is_null()).height
    if without:
        yield f"{without} packets were dropped without a reason"
    # a packet that crossed links and was not dropped on one is in flight or was taken after its last arrival
    last = record.hops.group_by("packet").agg(pl.col("arrived_ns").max(), dropped=pl.col("dropped_ns").max())
    both = packets.join(last, on="packet")
    early = both.filter((pl.col("end") == "delivered") & (pl.col("arrived_ns") > pl.col("ended_ns"))).height
    if early:
        yield f"{early} packets were taken before they arrived"
    lost = both.filter(pl.col("dropped").is_not_null() & (pl.col("end") != "dropped")).height
    if lost:
        yield f"{lost} packets were dropped at a port and did not end there"


def _order(record: Record) -> Iterator[str]:
    """Offered <= started <= departed <= arrived, at every port."""
    for before, after in (
        ("offered_ns", "started_ns"),
        ("started_ns", "departed_ns"),
        ("departed_ns", "arrived_ns"),
        ("offered_ns", "dropped_ns"),
    ):
        count = record.hops.filter(pl.col(after) < pl.col(before)).height
        if count:
            yield f"{count} hops have {after} before {before}"
    for before, after in (("created_ns", "ended_ns"), ("sent_ns", "created_ns")):
        count = record.packets.filter(pl.col(after) < pl.col(before)).height
        if count:
            yield f"{count} packets have {after} before {before}"


def _conservation(record: Record) -> Iterator[str]:
    """A port transmits one packet at a time: the transmissions of a port do not overlap."""
    rows = record.hops.filter(pl.col("started_ns").is_not_null() & pl.col("departed_ns").is_not_null())
    rows = rows.sort("port", "started_ns", "departed_ns").with_columns(
        previous_ns=pl.col("departed_ns").shift(1).over("port")
    )
    count = rows.filter(pl.col("started_ns") < pl.col("previous_ns")).height
    if count:
        yield f"{count} transmissions began before the one before had ended"


def _round_trips(record: Record) -> Iterator[str]:
    """A round-trip time is at least the shortest way of the data plus the shortest way back."""
    tcp = record.flows.filter(pl.col("transport") == "tcp").select("flow", "sender")
    own = record.own.filter((pl.col("kind") == "tcp") & (pl.col("end") == "delivered"))
    own = own.with_columns(owd_ns=pl.col("ended_ns") - pl.col("sent_ns"))
    onward = own.filter("data").group_by("flow").agg(onward=pl.col("owd_ns").min())
    back = own.filter(~pl.col("data") & (pl.col("taken_by") == pl.col("sender")))
    back = back.group_by("flow").agg(back=pl.col("owd_ns").min())
    samples = record.meters.filter((pl.col("counter") == "rtt_ns") & (pl.col("samples") > 0))
    each = samples.group_by("endpoint").agg(rtt=(pl.col("change") / pl.col("samples")).min())
    rows = tcp.join(each, left_on="sender", right_on="endpoint").join(onward, on="flow").join(back, on="flow")
    clocks = {clock["node"] for clock in record.plan.get("clocks", [])}
    for row in rows.filter(pl.col("rtt") < pl.col("onward") + pl.col("back")).rows(named=True):
        if record.node_of(row["sender"]) in clocks:
            continue
        name = record.names["flows"][row["flow"]]["name"]
        yield (
            f"flow {name}: a round-trip time of {row['rtt']:.0f} ns is less than the shortest way there and back, "
            f"{row['onward']} + {row['back']} ns"
        )
