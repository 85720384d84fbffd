"""Payload that arrived for the first time (RFC 2647 §3.17, RFC 5166 §2.1.1), by sequence numbers."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from .record import Record


def connections(record: Record, packets: pl.DataFrame) -> pl.DataFrame:
    """The packets with `connection`: how many times their sender had started when they were sent."""
    starts = record.phases.sort("begin_ns").with_columns(
        connection=pl.int_range(pl.len()).over("endpoint", order_by="begin_ns")
    )
    starts = starts.select(sender="endpoint", sent_ns="begin_ns", connection="connection").sort("sent_ns")
    return packets.sort("sent_ns").join_asof(
        starts, on="sent_ns", by="sender", strategy="backward", check_sortedness=False
    )


def first_arrivals(record: Record) -> pl.DataFrame:
    """New payload bytes of each data packet that arrived, in the whole run: `end`, `ended_ns`, `new_bytes`."""
    data = record.delivered.filter(pl.col("data") & (pl.col("payload_bytes").fill_null(0) > 0))
    parts = [
        _of_segments(connections(record, data.filter(pl.col("kind") == "tcp"))),
        _of_datagrams(
            connections(
                record, unless_ignored(record, data).filter(pl.col("kind").is_in(["stream", "datagram"]))
            )
        ),
        _of_named(record, data.filter(pl.col("kind") == "data")),
    ]
    return pl.concat([part.select("end", "ended_ns", pl.col("new_bytes").cast(pl.Int64)) for part in parts])


def _of_segments(rows: pl.DataFrame) -> pl.DataFrame:
    """TCP: bytes of each segment that no earlier segment of the connection brought."""
    rows = rows.sort("ended_ns", "packet")
    found: list[int] = []
    covered: dict[tuple[int, int], Ranges] = defaultdict(Ranges)
    for end, connection, number, payload in rows.select(
        "end", "connection", "number", "payload_bytes"
    ).rows():
        found.append(covered[end, connection].add(number, number + payload))
    return rows.with_columns(new_bytes=pl.Series(found, dtype=pl.Int64))


def unless_ignored(record: Record, rows: pl.DataFrame) -> pl.DataFrame:
    """Without packets that the end ignored: a member of a group by name throws data away until it has measured its path."""
    ignored = record.meters.filter(pl.col("counter") == "ignored")
    ignored = ignored.select(taken_by="endpoint", ended_ns="time_ns").unique()
    return rows.join(ignored, on=["taken_by", "ended_ns"], how="anti")


def _of_datagrams(rows: pl.DataFrame) -> pl.DataFrame:
    """Streams and datagrams: the payload of packets whose number is above those of all that arrived before."""
    rows = rows.sort("ended_ns", "packet")
    highest = pl.col("number").cum_max().shift(1).over("end", "connection")
    newer = highest.is_null() | (pl.col("number") > highest)
    return rows.with_columns(new_bytes=pl.when(newer).then(pl.col("payload_bytes")).otherwise(0))


def _of_named(record: Record, rows: pl.DataFrame) -> pl.DataFrame:
    """Named data: the payload of Data that the consumer had requested and that had not arrived since."""
    asked = record.own.filter((pl.col("kind") == "interest") & (pl.col("source") == pl.col("sender")))
    asked = asked.filter(pl.col("copy_of").is_null()).select("flow", "number", "packet", time_ns="created_ns")
    came = rows.select("flow", "number", "packet", time_ns="ended_ns", wanted=pl.lit(value=True))
    both = pl.concat([asked.with_columns(wanted=pl.lit(value=False)), came]).sort("time_ns", "packet")
    previous = pl.col("wanted").shift(1).over("flow", "number")
    useful = both.with_columns(useful=pl.col("wanted") & previous.not_())
    useful = useful.filter(pl.col("wanted")).select("packet", "useful")
    rows = rows.join(useful, on="packet", how="left")
    return rows.with_columns(
        new_bytes=pl.when(pl.col("useful").fill_null(value=False)).then(pl.col("payload_bytes")).otherwise(0)
    )


class Ranges:
    """Ranges of bytes that arrived, disjoint and in order."""

    def __init__(self) -> None:
        self._listed: list[tuple[int, int]] = []

    def add(self, begin: int, end: int) -> int:
        """Adds a range; the number of its bytes that were not there."""
        listed = self._listed
        if not listed or begin > listed[-1][1]:
            listed.append((begin, end))
            return end - begin
        if listed[-1][0] <= begin:
            last_begin, last_end = listed[-1]
            listed[-1] = (last_begin, max(last_end, end))
            return max(end - last_end, 0)
        before = [part for part in listed if part[1] < begin]
        after = [part for part in listed if part[0] > end]
        touched = listed[len(before) : len(listed) - len(after)]
        held = sum(max(min(high, end) - max(low, begin), 0) for low, high in touched)
        merged = (min([begin, *(low for low, _ in touched)]), max([end, *(high for _, high in touched)]))
        self._listed = [*before, merged, *after]
        return end - begin - held
