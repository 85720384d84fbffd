"""The table `nodes`: state machines of nodes, from their packets and counters. Rows are numbers of nodes."""

from __future__ import annotations

import polars as pl

from .columns import Table
from .record import Record

NODES = Table(
    "nodes",
    ("node",),
    without={
        "role": "a text of the scenario, which is no measurement",
        "groups": "the table of a router at the end of the run: an entry leaves no packet when it expires",
    },
)

ROLES = ("router", "resolver", "forwarder", "switch", "controller")
"""Roles of state machines of nodes."""

BY_NAME = ("interest", "data", "nack")
"""Kinds of packets of named data."""


def machines(record: Record) -> pl.DataFrame:
    """One row per state machine: `row`, the number of its node, and `endpoint`."""
    listed = [
        (endpoint["node"], number, endpoint["role"])
        for number, endpoint in enumerate(record.names["endpoints"])
        if endpoint["role"] in ROLES
    ]
    schema = {"row": pl.Int64, "endpoint": pl.Int64, "role": pl.String}
    return pl.DataFrame(listed, schema=schema, orient="row")


def _of_nodes(record: Record, endpoints: pl.DataFrame) -> pl.DataFrame:
    rows = machines(record).join(endpoints, on="endpoint")
    return rows.group_by("row").agg(pl.col("value").sum())


def originated(record: Record) -> pl.DataFrame:
    """Packets that state machines sent in T, without those that they forwarded."""
    rows = record.packets.filter(pl.col("copy_of").is_null() & record.measured("created_ns"))
    return rows.join(machines(record), left_on="source", right_on="endpoint")


@NODES.count()
def sent_packets(record: Record) -> pl.DataFrame:
    """Packets that it originated in T."""
    return originated(record).group_by("row").agg(value=pl.len())


@NODES.count()
def sent_bytes(record: Record) -> pl.DataFrame:
    """Sum of their sizes."""
    return originated(record).group_by("row").agg(value=pl.col("size_bytes").sum())


@NODES.count()
def forwarded_packets(record: Record) -> pl.DataFrame:
    """Packets that it forwarded by name in T: offers to its ports of packets that others sent."""
    origin = machines(record).filter(pl.col("role").is_in(["router", "forwarder"]))
    where = pl.DataFrame(
        [(number, port["from"]) for number, port in enumerate(record.names["ports"])],
        schema={"port": pl.Int64, "row": pl.Int64},
        orient="row",
    )
    hops = record.hops.filter(record.measured("offered_ns")).join(where, on="port").join(origin, on="row")
    packets = record.packets.join(
        record.flows.select("flow", "cast", "transport"), on="flow", how="left"
    ).select("packet", "kind", "source", "cast", "transport")
    rows = hops.join(packets, on="packet").filter(pl.col("source") != pl.col("endpoint"))
    by_name = pl.col("kind").is_in(BY_NAME) | (
        (pl.col("role") == "router") & pl.col("kind").is_in(["stream", "stream_control"])
    )
    return rows.filter(by_name).group_by("row").agg(value=pl.len())


@NODES.count()
def feedback_received(record: Record) -> pl.DataFrame:
    """Feedback packets that it took in T."""
    taken = record.packets.filter(
        (pl.col("kind") == "feedback") & (pl.col("end") == "delivered") & record.measured("ended_ns")
    )
    rows = taken.join(machines(record), left_on="taken_by", right_on="endpoint")
    return rows.group_by("row").agg(value=pl.len())


@NODES.count()
def feedback_packets(record: Record) -> pl.DataFrame:
    """Feedback packets that it sent in T."""
    return originated(record).filter(pl.col("kind") == "feedback").group_by("row").agg(value=pl.len())


def _counted(*names: str) -> None:
    for name in names:

        def compute(record: Record, name: str = name) -> pl.DataFrame:
            return _of_nodes(record, record.counter(name))

        compute.__doc__ = f"Sum of the changes of the counter `{name}` of the node in T."
        NODES.count(name)(compute)


_counted(
    *("signals", "ignored", "statuses", "commands", "commands_retransmitted", "reroutes", "operations"),
    *("filter_operations", "search_operations", "switch_operations"),
    *("interests_in", "interests_out", "data_in", "data_out", "nacks_in", "nacks_out"),
    *("hits", "misses", "aggregated", "repeated", "loops", "no_route", "delayed", "nacked", "policed"),
    *("expired", "unsolicited", "stale"),
)


@NODES.count()
def part_operations(record: Record) -> pl.DataFrame:
    """Operations of the scheme's parts in T, without those at the instant at which it begins."""
    return _operations(record, pl.col("time_ns") > record.begin_ns)


def _operations(record: Record, when: pl.Expr) -> pl.DataFrame:
    rows = record.meters.filter((pl.col("counter") == "part_operations") & when)
    return _of_nodes(record, rows.group_by("endpoint").agg(value=pl.col("change").sum()))


def _at_the_instant(record: Record) -> pl.DataFrame:
    """Operations at the instant at which T begins: a period can end just before or just after."""
    return _operations(record, pl.col("time_ns") == record.begin_ns)


NODES.exact_to("part_operations", _at_the_instant)


def level(record: Record, name: str, how: pl.Expr) -> pl.DataFrame:
    """A value of a level that goes up and down, over the whole run."""
    rows = record.meters.filter(pl.col("counter") == name)
    rows = rows.with_columns(value=pl.col("change").cum_sum().over("endpoint"))
    return _of_nodes(record, rows.group_by("endpoint", maintain_order=True).agg(value=how))


@NODES.count()
def pending(record: Record) -> pl.DataFrame:
    """Interests that are pending at the end of the run."""
    return level(record, "pending", pl.col("value").last())


@NODES.count()
def pending_peak(record: Record) -> pl.DataFrame:
    """Maximum of the pending Interests in T, those that are pending when it begins included."""
    return _peak(record, pl.col("until_ns") > record.begin_ns)


def _peak(record: Record, holds: pl.Expr) -> pl.DataFrame:
    """Maximum of the levels that hold until then, or to the end."""
    rows = record.meters.filter(pl.col("counter") == "pending")
    rows = rows.with_columns(
        value=pl.col("change").cum_sum().over("endpoint"),
        until_ns=pl.col("time_ns").shift(-1).over("endpoint"),
    )
    inside = rows.filter(pl.col("until_ns").is_null() | holds)
    return _of_nodes(record, inside.group_by("endpoint").agg(pl.col("value").max()))


def _before_the_instant(record: Record) -> pl.DataFrame:
    """How much higher the level just before the instant is, and one: the record has the levels between inputs only.

    An Interest that one input brings and refuses is in no row.
    """
    nodes = machines(record).select("row").unique()
    both = nodes.join(_peak(record, pl.col("until_ns") >= record.begin_ns), on="row", how="left")
    both = both.join(pending_peak(record).select("row", after="value"), on="row", how="left")
    both = both.with_columns(pl.col("value", "after").fill_null(0))
    return both.select("row", value=pl.col("value") - pl.col("after") + 1)


NODES.exact_to("pending_peak", _before_the_instant)


@NODES.count()
def stored(record: Record) -> pl.DataFrame:
    """Data in its content store at the end of the run."""
    return level(record, "stored", pl.col("value").last())


@NODES.number()
def hit_ratio(record: Record) -> pl.DataFrame:
    """Hits / (hits + misses) in T."""
    hits = _of_nodes(record, record.counter("hits"))
    misses = _of_nodes(record, record.counter("misses")).select("row", misses="value")
    rows = hits.join(misses, on="row", how="full", coalesce=True).with_columns(
        pl.col("value", "misses").fill_null(0)
    )
    looked_up = pl.col("value") + pl.col("misses")
    return rows.filter(looked_up > 0).select("row", value=pl.col("value") / looked_up)
