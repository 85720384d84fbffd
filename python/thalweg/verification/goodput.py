"""Payload that arrived for the first time (RFC 2647 §3.17, RFC 5166 §2.1.1), by sequence numbers."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import polars as pl

from .record import NS

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
        _of_datagrams(connections(record, data.filter(pl.col("kind") == "datagram"))),
        _of_streams(
            record, connections(record, unless_ignored(record, data).filter(pl.col("kind") == "stream"))
        ),
        _of_named(record, data.filter(pl.col("kind") == "data")),
    ]
    return pl.concat([part.select("end", "ended_ns", pl.col("new_bytes").cast(pl.Int64)) for part in parts])


def _of_segments(rows: pl.DataFrame) -> pl.DataFrame:
    """TCP: bytes of each segment that no earlier segment of the connection brought."""
    rows = rows.sort("ended_ns", "place")
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
    """Datagrams: the payload of packets whose number is above all that arrived before."""
    rows = rows.sort("ended_ns", "place")
    highest = pl.col("number").cum_max().shift(1).over("end", "connection")
    newer = highest.is_null() | (pl.col("number") > highest)
    return rows.with_columns(new_bytes=pl.when(newer).then(pl.col("payload_bytes")).otherwise(0))


def _of_streams(record: Record, rows: pl.DataFrame) -> pl.DataFrame:
    """Streams: also of packets that a later one overtook, once each, if the receiver still knew that they were missing."""
    known = record.meters.filter(pl.col("counter") == "reordered").select("endpoint", "time_ns").unique()
    counted = set(known.rows())
    numbers: dict[tuple[int, int, int], Numbers] = defaultdict(Numbers)
    rows = _memberships(record, rows).sort("ended_ns", "place")
    found = []
    for end, connection, member, endpoint, number, payload, at_ns in rows.select(
        *("end", "connection", "member", "taken_by", "number", "payload_bytes", "ended_ns")
    ).rows():
        is_known = (endpoint, at_ns) in counted
        new = numbers[end, connection, member].add(number, at_ns, is_known=is_known)
        found.append(payload if new else 0)
    return rows.with_columns(new_bytes=pl.Series(found, dtype=pl.Int64))


REMEMBERED_NS = NS
"""How long a receiver of a stream remembers a packet that it has declared lost."""


class Numbers:
    """Numbers of packets that arrived at a receiver of a stream since it was last made."""

    def __init__(self) -> None:
        self._came: set[int] = set()
        self._first: int | None = None
        self._highest = -1
        self._overtaken_ns: dict[int, int] = {}

    def add(self, number: int, at_ns: int, *, is_known: bool) -> bool:
        """Whether the packet counts. `is_known` is the receiver's word on one that it can have forgotten."""
        if self._first is None:
            self._first, self._highest = number, number - 1
        if number < self._first or number in self._came:
            return False
        self._came.add(number)
        if number > self._highest:
            self._overtaken_ns |= dict.fromkeys(range(self._highest + 1, number), at_ns)
            self._highest = number
            return True
        return at_ns - self._overtaken_ns.pop(number) <= REMEMBERED_NS or is_known


def _memberships(record: Record, packets: pl.DataFrame) -> pl.DataFrame:
    """The packets with `member`: how many times their receiver had joined when they arrived."""
    joins = record.phases.sort("begin_ns").with_columns(
        member=pl.int_range(pl.len()).over("endpoint", order_by="begin_ns")
    )
    joins = joins.select(taken_by="endpoint", ended_ns="begin_ns", member="member").sort("ended_ns")
    return packets.sort("ended_ns").join_asof(
        joins, on="ended_ns", by="taken_by", strategy="backward", check_sortedness=False
    )


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
