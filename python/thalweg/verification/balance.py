"""Invariants that packets obey: nothing is lost without a reason, times are in order, a round trip takes both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from . import links
from .columns import equal
from .record import FLOW_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..result import Result
    from .record import Record


def check(record: Record, result: Result) -> list[str]:
    """The invariants that a record breaks, or the tables of its run beside it, one sentence each."""
    return [
        *_balance(record),
        *_order(record),
        *_conservation(record),
        *_round_trips(record),
        *paths(record),
        *flows_of_links(record, result.links),
        *fates_of_flows(record, result.flows),
    ]


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


def paths(record: Record) -> Iterator[str]:
    """A packet goes on where it has arrived: its hops follow each other, from its source to where it ends."""
    places = pl.DataFrame(
        [(number, port["from"], port["to"]) for number, port in enumerate(record.names["ports"])],
        schema={"port": pl.Int64, "out_of": pl.Int64, "into": pl.Int64},
        orient="row",
    )
    hops = record.hops.with_columns(at_ns=pl.coalesce("offered_ns", "arrived_ns", "dropped_ns"))
    hops = hops.join(places, on="port").sort("packet", "at_ns", "arrived_ns", nulls_last=True)
    hops = hops.with_columns(before=pl.col("into").shift(1).over("packet"))
    apart = hops.filter(pl.col("before").is_not_null() & (pl.col("before") != pl.col("out_of"))).height
    if apart:
        yield f"{apart} hops begin at another node than that at which the one before ended"
    ends = hops.group_by("packet", maintain_order=True).agg(
        pl.col("out_of").first(), pl.col("into").last(), gone=pl.col("arrived_ns").last().is_null()
    )
    packets = record.packets.join(ends, on="packet")
    own = packets.filter(pl.col("copy_of").is_null() & (pl.col("source_node") != pl.col("out_of"))).height
    if own:
        yield f"{own} packets leave another node than the node of their source"
    nodes = [endpoint["node"] for endpoint in record.names["endpoints"]]
    takers = pl.DataFrame(
        {"taken_by": list(range(len(nodes))), "taken_at": nodes},
        schema={"taken_by": pl.Int64, "taken_at": pl.Int64},
    )
    taken = packets.filter(pl.col("end") == "delivered").join(takers, on="taken_by")
    wrong = taken.filter((pl.col("taken_at") != pl.col("into")) | pl.col("gone")).height
    wrong += packets.filter(
        pl.col("drop_node").is_not_null() & (pl.col("drop_node") != pl.col("into"))
    ).height
    if wrong:
        yield f"{wrong} packets end at another node than that at which they have arrived"


def flows_of_links(record: Record, printed: pl.DataFrame) -> Iterator[str]:
    """What a link carries is the sum over each flow and messages that belong to no flow."""
    flow = record.packets.select("packet", "flow")
    each = links.sent(record).join(flow, on="packet")
    parts = each.group_by("port", "flow").agg(packets=pl.len(), size=pl.col("size_bytes").sum())
    sums = parts.group_by("port").agg(
        pl.col("packets", "size").sum(), messages=pl.col("packets").filter(pl.col("flow").is_null()).sum()
    )
    rows = links.ports(record).join(sums, on="port", how="left")
    # of packets in transmission at an end of the time, their part
    for name, at_ns in (("before", record.begin_ns), ("after", record.end_ns)):
        part = links.unsent_bytes(record, at_ns).group_by("port").agg(pl.col("value").sum().alias(name))
        rows = rows.join(part, on="port", how="left")
    rows = rows.join(
        links.LINKS.slack("sent_bytes", record).select("port", slack="value"), on="port", how="left"
    )
    rows = rows.with_columns(pl.col("packets", "size", "messages", "before", "after", "slack").fill_null(0))
    both = printed.select("link", "direction", "sent_packets", "sent_bytes").join(
        rows, on=["link", "direction"], maintain_order="left"
    )
    for row in both.rows(named=True):
        size = row["size"] + row["before"] - row["after"]
        if row["packets"] == row["sent_packets"] and equal("count", row["sent_bytes"], size, row["slack"]):
            continue
        yield (
            f"link {row['link']} {row['direction']}: its flows sent {row['packets'] - row['messages']} packets and nodes "
            f"{row['messages']}, {size} B together, and the link {row['sent_packets']} packets, {row['sent_bytes']} B"
        )


def fates_of_flows(record: Record, printed: pl.DataFrame) -> Iterator[str]:
    """Sent + copied + in flight before = arrived + dropped + in flight at the end: of data to one receiver, in T."""
    one = record.flows.filter(
        (pl.col("cast") == "unicast") & (pl.col("receivers") == 1) & (pl.col("transport") != "ndn")
    )
    own = record.own.filter(pl.col("source") == pl.col("sender"))
    # a sender of other packets than data has drops that its column does not count
    others = own.filter(~pl.col("kind").is_in(FLOW_KINDS)).select("flow").unique()
    one = one.join(others, on="flow", how="anti")
    at_begin = pl.col("created_ns") < record.begin_ns
    copied = pl.col("copy_of").is_not_null() & ~at_begin
    unheard = (pl.col("drop_reason") == "not_listening") & record.measured("ended_ns")
    ended_before = (pl.col("ended_ns") < record.begin_ns).fill_null(value=False)
    sums = own.group_by("flow").agg(
        before=(at_begin & ~ended_before).sum(),
        copied=copied.sum(),
        unheard=unheard.fill_null(value=False).sum(),
        after=(pl.col("end") == "in_flight").sum(),
    )
    rows = (
        one.select("flow", "name")
        .join(sums, on="flow", how="left")
        .with_columns(pl.exclude("name").fill_null(0))
    )
    both = rows.join(printed, left_on="name", right_on="flow", maintain_order="left")
    for row in both.rows(named=True):
        come = row["before"] + row["copied"] + (row["sent_packets"] or 0)
        gone = (row["arrived_packets"] or 0) + (row["data_drops"] or 0) + row["unheard"] + row["after"]
        if come != gone:
            yield (
                f"flow {row['name']}: sent {row['sent_packets']} + copied {row['copied']} + in flight {row['before']} "
                f"is not arrived {row['arrived_packets']} + dropped {row['data_drops']} + not listened to {row['unheard']} "
                f"+ in flight {row['after']}"
            )
