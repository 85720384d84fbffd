"""The recomputation itself, on a record of six packets whose numbers are computed by hand here.

A link of 8 Mbit/s (a byte takes 1 us) and 10 ms from `a` to `b`, and back. The warm-up ends at 100 ms, the run at 1.1 s, so
|T| is 1 s. A TCP flow sends segments of 1000 B with headers of 40 B.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from thalweg.verification import Record, balance
from thalweg.verification.goodput import Numbers, Ranges
from thalweg.verification.series import (
    ActiveSpan,
    Rates,
    convergence_s,
    fairness_samples,
    ranges,
    recovery_s,
)
from thalweg.verification.summary import summary
from thalweg.verification.tables import recompute

MS = 1_000_000

NAMES: dict[str, Any] = {
    "format": 1,
    "warmup_ns": 100 * MS,
    "duration_ns": 1100 * MS,
    "ended_ns": 1100 * MS,
    "nodes": ["a", "b"],
    "ports": [
        {"link": "link", "direction": "forward", "from": 0, "to": 1, "control": False},
        {"link": "link", "direction": "backward", "from": 1, "to": 0, "control": False},
    ],
    "endpoints": [
        {"role": "sender", "node": 0, "flow": 0},
        {"role": "receiver", "node": 1, "flow": 0},
    ],
    "flows": [
        {
            "name": "f",
            "group": "f",
            "scheme": "reno",
            "transport": "tcp",
            "cast": "unicast",
            "sender": 0,
            "receivers": [1],
            "header_bytes": 40,
            "size_bytes": None,
            "start_ns": 0,
            "stop_ns": None,
            "app": None,
            "churns": False,
            "encodes": False,
            "plays": False,
        }
    ],
    "groups": [{"name": "f", "flows": [0]}],
    "apps": [],
}

PACKETS = {
    "packet": pl.UInt64,
    "copy_of": pl.UInt64,
    "flow": pl.UInt32,
    "kind": pl.String,
    "source": pl.UInt32,
    "source_node": pl.UInt32,
    "destination": pl.UInt32,
    "size_bytes": pl.UInt32,
    "payload_bytes": pl.UInt32,
    "number": pl.UInt64,
    "ack": pl.UInt64,
    "syn": pl.Boolean,
    "fin": pl.Boolean,
    "created_ns": pl.Int64,
    "sent_ns": pl.Int64,
    "ended_ns": pl.Int64,
    "end": pl.String,
    "taken_by": pl.UInt32,
    "drop_reason": pl.String,
    "drop_port": pl.UInt32,
    "drop_node": pl.UInt32,
    "marked": pl.Boolean,
}
HOPS = {
    "packet": pl.UInt64,
    "port": pl.UInt32,
    "offered_ns": pl.Int64,
    "started_ns": pl.Int64,
    "departed_ns": pl.Int64,
    "arrived_ns": pl.Int64,
    "dropped_ns": pl.Int64,
    "drop_reason": pl.String,
    "marked_ns": pl.Int64,
}
METERS = {
    "time_ns": pl.Int64,
    "endpoint": pl.UInt32,
    "counter": pl.String,
    "change": pl.Int64,
    "samples": pl.UInt32,
}
ACTIVITY = {
    "time_ns": pl.Int64,
    "endpoint": pl.UInt32,
    "port": pl.UInt32,
    "event": pl.String,
    "value": pl.Int64,
}
EXCHANGES = {
    "app": pl.UInt32,
    "number": pl.UInt32,
    "started_ns": pl.Int64,
    "completed_ns": pl.Int64,
    "bytes": pl.UInt64,
    "quality": pl.UInt32,
    "buffer_ns": pl.Int64,
    "abandoned": pl.UInt32,
}


def segment(
    packet: int, number: int, sent_ms: float, end_ms: float | None, end: str, **more: Any
) -> dict[str, Any]:
    """A segment of 1000 B of the flow."""
    return {
        "packet": packet,
        "flow": 0,
        "kind": "tcp",
        "source": 0,
        "source_node": 0,
        "destination": 1,
        "size_bytes": 1000,
        "payload_bytes": 960,
        "number": number,
        "ack": 0,
        "syn": False,
        "fin": False,
        "created_ns": int(sent_ms * MS),
        "sent_ns": int(sent_ms * MS),
        "ended_ns": None if end_ms is None else int(end_ms * MS),
        "end": end,
        "taken_by": 1 if end == "delivered" else None,
        "marked": False,
        **more,
    }


def hop(
    packet: int, port: int, *times: float | None, dropped: float | None = None, why: str | None = None
) -> dict[str, Any]:
    """A hop by its times of offer, start, departure and arrival in ms."""
    names = ("offered_ns", "started_ns", "departed_ns", "arrived_ns")
    found: dict[str, Any] = {
        name: None if at is None else int(at * MS) for name, at in zip(names, times, strict=True)
    }
    drop = None if dropped is None else int(dropped * MS)
    return {"packet": packet, "port": port, **found, "dropped_ns": drop, "drop_reason": why}


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Segments 1 to 5 and an acknowledgement."""
    packets = [
        # before the warm-up ends, in flight then
        segment(1, 0, 95, 106, "delivered"),
        # three at once: no wait, 1 ms, 2 ms
        segment(2, 960, 200, 211, "delivered"),
        segment(3, 1920, 200, 212, "delivered"),
        segment(4, 2880, 200, 200, "dropped", drop_reason="queue_full", drop_port=0),
        # the retransmission of 3, which is a duplicate
        segment(5, 1920, 500, 511, "delivered", marked=True),
        {
            **segment(6, 0, 212, 222.04, "delivered"),
            "source": 1,
            "source_node": 1,
            "destination": 0,
            "size_bytes": 40,
            "payload_bytes": 0,
            "ack": 2880,
            "taken_by": 0,
        },
        segment(7, 3840, 1095, None, "in_flight"),
    ]
    hops = [
        hop(1, 0, 95, 95, 96, 106),
        hop(2, 0, 200, 200, 201, 211),
        hop(3, 0, 200, 201, 202, 212),
        hop(4, 0, 200, None, None, None, dropped=200, why="queue_full"),
        hop(5, 0, 500, 500, 501, 511),
        hop(6, 1, 212, 212, 212.04, 222.04),
        hop(7, 0, 1095, 1095, 1096, None),
    ]
    meters = [
        {"time_ns": 90 * MS, "endpoint": 0, "counter": "rtt_ns", "change": 999 * MS, "samples": 1},
        {"time_ns": 222 * MS, "endpoint": 0, "counter": "rtt_ns", "change": 22 * MS, "samples": 1},
        {"time_ns": 400 * MS, "endpoint": 0, "counter": "timeouts", "change": 1, "samples": None},
    ]
    activity: list[dict[str, Any]] = [
        {"time_ns": 0, "endpoint": 0, "event": "started"},
        {"time_ns": 0, "endpoint": 1, "event": "started"},
        {"time_ns": 600 * MS, "endpoint": 0, "event": "stopped"},
    ]
    for port in (0, 1):
        activity += [
            {"time_ns": 0, "port": port, "event": "rate_bps", "value": 8_000_000},
            {"time_ns": 0, "port": port, "event": "delay_ns", "value": 10 * MS},
            {"time_ns": 0, "port": port, "event": "loss_ppb", "value": 0},
            {"time_ns": 0, "port": port, "event": "up", "value": 1},
        ]
    # the link is down for a quarter of T, and its rate halves for another
    activity += [
        {"time_ns": 600 * MS, "port": 0, "event": "up", "value": 0},
        {"time_ns": 850 * MS, "port": 0, "event": "up", "value": 1},
        {"time_ns": 850 * MS, "port": 0, "event": "rate_bps", "value": 4_000_000},
    ]
    for name, rows, schema in (
        ("packets", packets, PACKETS),
        ("hops", hops, HOPS),
        ("meters", meters, METERS),
        ("activity", sorted(activity, key=lambda row: int(row["time_ns"])), ACTIVITY),
        ("exchanges", [], EXCHANGES),
    ):
        complete = [{column: row.get(column) for column in schema} for row in rows]
        pl.DataFrame(complete, schema=schema, orient="row").write_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "record.json").write_text(json.dumps(NAMES), encoding="utf-8")
    link = {"name": "link", "ends": ["a", "b"]}
    plan = {"flows": [], "topology": {"links": [link]}, "record": {"distributions": True}}
    return Record.load(tmp_path, plan)


def test_numbers_of_a_flow(record: Record) -> None:
    flow = recompute(record)["flows"].row(0, named=True)
    expected = {
        # sent in T: 2 to 5 and 7
        "sent_packets": 5,
        "sent_bytes": 5000,
        "rate_bps": 40_000.0,
        "retransmits": 1,
        # arrived in T: 1, 2, 3 and 5; 5 is a duplicate
        "arrived_packets": 4,
        "throughput_bps": 32_000.0,
        "goodput_bps": 3 * 960 * 8.0,
        # half of T
        "active_s": 0.5,
        "active_throughput_bps": 64_000.0,
        "active_goodput_bps": 6 * 960 * 8.0,
        "drops": 1,
        "data_drops": 1,
        "ack_drops": 0,
        "drops_queue_full": 1,
        "loss_ratio": 0.2,
        "ack_loss_ratio": 0.0,
        "timeouts": 1,
        "rtt_s": 0.022,
        "rtt_min_s": 0.022,
        "owd_s": 0.01125,
        "owd_min_s": 0.011,
        "owd_max_s": 0.012,
        "queueing_delay_s": 0.00025,
        "base_delay_s": 0.011,
        "queueing_delay_p50_s": 0.0,
        "queueing_delay_p95_s": 0.001,
        "queueing_delay_p99_s": 0.001,
        "started_s": 0.0,
        "completed_s": None,
        "fct_s": None,
        "worst_receiver": "b",
    }
    assert {name: flow[name] for name in expected} == pytest.approx(expected)


def test_numbers_of_a_link(record: Record) -> None:
    forward, backward = recompute(record)["links"].rows(named=True)
    expected = {
        # 8 Mbit/s for half of T, nothing for a quarter, 4 Mbit/s for a quarter
        "rate_bps": 5e6,
        "delay_s": 0.01,
        "offered_packets": 5,
        "sent_packets": 4,
        "sent_bytes": 4000,
        "utilisation": 32_000 / 5e6,
        "queue_packets": 0.001,
        "queue_bytes": 1.0,
        "queue_s": 0.00025,
        "queue_max_packets": 1,
        "drops": 1,
        "drops_queue_full": 1,
        "loss_ratio": 0.2,
        "marked_packets": 0,
        "queue_p50_s": 0.0,
        "queue_p95_s": 0.001,
    }
    assert {name: forward[name] for name in expected} == pytest.approx(expected)
    assert backward["sent_bytes"] == 40


def test_a_queue_counts_the_wait_that_a_packet_can_expect(record: Record) -> None:
    # the rate halves while two segments wait: each is told what is ahead of it at the rate of that moment
    late = [
        {"packet": 1, "port": 0, "offered_ns": 900 * MS, "started_ns": 900 * MS, "departed_ns": 902 * MS},
        {"packet": 2, "port": 0, "offered_ns": 901 * MS, "started_ns": 902 * MS, "departed_ns": 912 * MS},
        {"packet": 3, "port": 0, "offered_ns": 902 * MS, "started_ns": 912 * MS, "departed_ns": 922 * MS},
        {"packet": 5, "port": 0, "offered_ns": 903 * MS, "started_ns": 922 * MS, "departed_ns": 932 * MS},
    ]
    slower = {"time_ns": 902 * MS + 1, "port": 0, "event": "rate_bps", "value": 800_000}
    changed = replace(
        record,
        hops=pl.DataFrame([{**dict.fromkeys(HOPS), **row} for row in late], schema=record.hops.schema),
        activity=pl.concat(
            [
                record.activity,
                pl.DataFrame([{**dict.fromkeys(ACTIVITY), **slower}], schema=record.activity.schema),
            ]
        ),
    )
    port = recompute(changed)["links"].row(0, named=True)
    # 0, 1 ms and 2 ms at 4 Mbit/s; at 800 kbit/s almost all of one segment and another one: 20 ms less what was sent
    assert port["queue_p50_s"] == pytest.approx(0.001)
    assert port["queue_p95_s"] == pytest.approx(0.019, abs=1e-6)


def test_numbers_of_a_group(record: Record) -> None:
    values = summary(record, recompute(record), None)
    assert values["flows.throughput"][1] == pytest.approx(32_000)
    assert values["flows.f.throughput_mean"][1] == pytest.approx(32_000)
    assert values["flows.f.power"][1] == pytest.approx(32_000 / 0.01125)
    assert values["flows.transfers"][1] == 0
    assert values["link.link.backward.sent_packets"][1] == 1


def test_series_by_hand(record: Record) -> None:
    plan = {
        **record.plan,
        "record": {
            "every": "100 ms",
            "series": ["goodput", "owd", "queueing_delay", "backlog", "backlog_bytes", "utilisation"],
        },
    }
    known = ranges(replace(record, plan=plan))

    def sample(subject: str, name: str, at_ms: int) -> tuple[float, float] | None:
        found = known.get((subject, name, at_ms * MS))
        return None if found is None else found[:2]

    def exactly(value: float) -> Any:
        return pytest.approx((value, value))

    # segments 2 and 3 arrive after 11 ms and 12 ms, of which 3 waited for 1 ms; 4 was dropped, and did not wait
    assert sample("receiver.f@b", "owd", 300) == exactly(0.0115)
    assert sample("receiver.f@b", "queueing_delay", 300) == exactly(0.0005)
    assert sample("receiver.f@b", "owd", 400) is None
    assert sample("receiver.f@b", "goodput", 300) == exactly(2 * 960 * 80)
    # 5 is a duplicate
    assert sample("receiver.f@b", "goodput", 600) == exactly(0)
    assert sample("link.link", "backlog", 300) == exactly(0.01)
    assert sample("link.link", "backlog_bytes", 300) == exactly(10.0)
    assert sample("link.link", "backlog", 400) == exactly(0)
    # two segments, 16 kbit of 800 kbit; nothing while the link is down
    assert sample("link.link", "utilisation", 300) == exactly(0.02)
    assert sample("link.link", "utilisation", 800) is None
    assert sample("link.link", "utilisation", 900) == exactly(0)


def test_a_packet_between_two_intervals_can_be_in_either(record: Record) -> None:
    plan = {**record.plan, "record": {"every": "1 ms", "series": ["owd"]}}
    known = ranges(replace(record, plan=plan))
    # segment 2 arrives at 211 ms, segment 3 at 212 ms
    assert known["receiver.f@b", "owd", 212 * MS] == pytest.approx((0.011, 0.012, True))
    assert known["receiver.f@b", "owd", 211 * MS] == pytest.approx((0.011, 0.011, True))


def printed(record: Record, **changed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables `links` and `flows` as a run prints them, with changed numbers in their first rows."""
    frames = []
    for name in ("links", "flows"):
        frame = recompute(record)[name]
        first = pl.int_range(pl.len()) == 0
        frames.append(
            frame.with_columns(
                pl.when(first).then(pl.col(column) + by).otherwise(pl.col(column)).alias(column)
                for column, by in changed.items()
                if column in frame.columns
            )
        )
    return frames[0], frames[1]


def test_what_links_carry_is_the_sum_of_the_flows(record: Record) -> None:
    links, _ = printed(record)
    assert list(balance.flows_of_links(record, links)) == []
    # the packet in transmission at the end is known to eight bytes
    for change in ({"sent_packets": 1}, {"sent_bytes": 100}):
        links, _ = printed(record, **change)
        assert len(list(balance.flows_of_links(record, links))) == 1


def test_what_is_sent_arrives_is_dropped_or_is_in_flight(record: Record) -> None:
    _, flows = printed(record)
    assert list(balance.fates_of_flows(record, flows)) == []
    for column in ("sent_packets", "arrived_packets", "data_drops"):
        _, flows = printed(record, **{column: 1})
        assert len(list(balance.fates_of_flows(record, flows))) == 1


def test_a_packet_that_leaps_is_found(record: Record) -> None:
    assert list(balance.paths(record)) == []
    # packet 6 goes from `b` to `a`: a hop that leaves `a` cannot begin its way, and another from `b` cannot follow it
    later = record.hops.with_columns(
        packet=pl.when(pl.col("packet") == 6).then(2).otherwise(pl.col("packet"))
    )
    assert len(list(balance.paths(replace(record, hops=later)))) == 1
    turned = record.hops.with_columns(port=pl.when(pl.col("packet") == 6).then(0).otherwise(pl.col("port")))
    assert len(list(balance.paths(replace(record, hops=turned)))) == 2
    twice = pl.concat(
        [record.hops, record.hops.filter(pl.col("packet") == 2).with_columns(pl.col("offered_ns") + 1)]
    )
    assert any("begin at another node" in line for line in balance.paths(replace(record, hops=twice)))


def test_ranges_count_each_byte_once() -> None:
    ranges = Ranges()
    assert [
        ranges.add(*part) for part in ((0, 10), (20, 30), (5, 25), (0, 30), (40, 50), (35, 60), (30, 35))
    ] == [
        *(10, 10, 10, 0),
        *(10, 15, 5),
    ]
    assert ranges.add(0, 60) == 0


def test_a_stream_counts_a_packet_that_is_overtaken_once_and_for_a_second() -> None:
    numbers = Numbers()
    # 5 is the first; 4 was sent before the receiver was there
    assert numbers.add(5, 0, is_known=False)
    assert not numbers.add(4, 0, is_known=False)
    assert numbers.add(9, 10, is_known=False)
    assert numbers.add(7, 10 + 1000 * MS, is_known=False)
    assert not numbers.add(7, 10 + 1000 * MS, is_known=False)
    assert not numbers.add(6, 11 + 1000 * MS, is_known=False)
    assert numbers.add(8, 11 + 1000 * MS, is_known=True)


def test_a_flow_is_active_from_the_interval_in_which_it_starts_to_the_last_whole_one() -> None:
    once = ActiveSpan(start_ns=150, end_ns=390, restarts=False)
    assert [at for at in (100, 200, 300, 400) if once.has(at, 0.0)] == [200, 300]
    again = ActiveSpan(start_ns=150, end_ns=400, restarts=True)
    assert [at for at in (100, 200, 300, 400) if again.has(at, float(at != 300))] == [200, 400]


def rates(*curves: list[float | None]) -> Rates:
    """Rates of flows in intervals of half a second: two of them are a window."""
    listed = [
        {place: rate for place, rate in enumerate(curve, start=1) if rate is not None} for curve in curves
    ]
    whole = [{place: rate or 0.0 for place, rate in enumerate(curve, start=1)} for curve in curves]
    return Rates(500 * MS, dict(enumerate(whole)), dict(enumerate(listed)))


def test_windows_are_whole_and_begin_with_the_run() -> None:
    known = rates([None, 2.0, 2.0, 4.0, 6.0, 6.0, 1.0])
    assert known.windows == 3
    assert known.curves == {0: [None, 3.0, 6.0]}


def test_convergence_and_fairness_by_hand(record: Record) -> None:
    # alone it has its fair value in each window; it started at 0, and its first whole window begins 1 s later
    known = rates([None, 2.0, *[2.0] * 12])
    assert convergence_s(record, known) == {0: 1.0}
    assert convergence_s(record, rates([None, 2.0, *[2.0] * 8])) == {}
    assert fairness_samples(record, [0], known) == {}


def test_recovery_by_hand(record: Record) -> None:
    # windows of 9, 4, 7, 10, 10, 10 after an event at 0.5 s: from the first, at 1 s, the fourth begins at 3 s
    curve = [9.0, 9.0, 4.0, 4.0, 7.0, 7.0, *[10.0] * 6]
    changed = replace(
        record, plan={**record.plan, "events": [{"at": "500 ms"}]}, names={**NAMES, "ended_ns": 6000 * MS}
    )
    assert recovery_s(changed, [0], rates(curve)) == 2.5
    assert recovery_s(record, [0], rates(curve)) is None
