"""Samples of runs: enough for every figure and claim, small enough to store."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale
from .._common import mean_between
from . import scenarios


def rates(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Packets per second that each consumer generated and received, over 0.1 s; Interests dropped by each node's bucket."""
    times, generated = per_second(result)
    sample: Sample = {
        "times_s": times,
        "generated": generated,
        "received": received(result, times),
        "policed": np.array([float(_read.node(result, name)["policed"]) for name in NODES]),
    }
    offered = _read.series(result, "stamping_rate", ["node.c1"])
    if offered:
        sample["stamping_rate"] = offered["node.c1"]
    return sample


NODES = ("c1", "c2", "r1", "r2")
"""Nodes with a bucket before a link towards producers."""


def lone(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Interests that C1's node let go to the link, per second, from 3 to 12 s: whole ticks of every clock."""
    times, rate = _read.one(result, "utilisation", "link.access1")
    begin, end = LONE_S
    return {"passed_per_s": mean_between(times, rate, begin, end) * ACCESS_BPS / scenarios.INTEREST_BITS}


LONE_S = (3.0, 12.0)
ACCESS_BPS = 10e6


def per_second(result: Any) -> tuple[Any, Any]:
    """Ends of the intervals, and Interests that C1 and C2 generated in each, per second."""
    times = _read.times(result, "goodput")
    rows = np.zeros((2, len(times)))
    for number in (1, 2):
        total = np.zeros(len(times))
        # there is no value before the first Interest
        when, values = _read.one(result, "generated", f"flow.C{number}")
        total[np.searchsorted(times, when - 1e-9)] = values
        rows[number - 1] = np.diff(total, prepend=0.0) / np.diff(times, prepend=0.0)
    return times, rows


def received(result: Any, times: Any) -> Any:
    """Data packets that C1 and C2 received in each interval, per second."""
    found = _read.series(result, "goodput")
    nothing = np.zeros(len(times))
    return np.stack([found.get(f"flow.C{number}", nothing) for number in (1, 2)]) / scenarios.PAYLOAD_BITS


def inspection(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Every quantity of Table 1 at C1's node and at R1, tick by tick."""
    times = _read.times(result, "stamping_rate")
    sample: Sample = {"times_s": times}
    for node in ("c1", "r1"):
        for symbol, series in scenarios.TABLE_1.items():
            sample[f"{node}_{symbol}"] = _read.series(result, series, [f"node.{node}"])[f"node.{node}"]
    row = _read.flow(result, "C1")
    sample["rtt_min_s"] = float(row["rtt_min_s"])
    other = _read.flow(result, "C2")
    sample["spans"] = np.array([row["started_s"], row["active_s"], other["started_s"], other["active_s"]])
    sample["hits"] = float(sum(node["hits"] or 0 for node in result.nodes.to_dicts()))
    sample["c1_policed"] = float(_read.node(result, "c1")["policed"])
    sample["c1_sent"] = float(row["sent_packets"])
    sample["r2_R"] = _read.series(result, scenarios.TABLE_1["R"], ["node.r2"])["node.r2"]
    # there is no value before the first Data
    when, values = _read.one(result, "offered_rate", "flow.C1")
    offered = np.full(len(times), np.nan)
    offered[np.searchsorted(times, when - 1e-9)] = values / scenarios.DATA_BITS
    sample["offered"] = offered
    return sample


def departures(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Interests of C1 that were generated and that left, interval by interval."""
    times, rate = _read.one(result, "rate", "flow.C1")
    every_s = float(times[1] - times[0])
    _, total = _read.one(result, "generated", "flow.C1")
    generated = np.zeros(len(times))
    generated[len(times) - len(total) :] = np.diff(total, prepend=0.0)
    left = np.round(rate * every_s / scenarios.INTEREST_BITS)
    return {"times_s": times, "every_s": every_s, "generated": generated, "left": left}


def burst(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Interests that the consumer sent, and that went on to the link."""
    return {
        "sent": float(_read.flow(result, "C")["sent_packets"]),
        "passed": float(_read.link(result, "wire")["sent_packets"]),
    }


def spacing(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Mean time between Interests."""
    row = _read.flow(result, "C")
    return {"spacing_ns": 1e9 * 0.003 / float(row["sent_packets"])}
