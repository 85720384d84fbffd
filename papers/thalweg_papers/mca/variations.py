"""Small scenarios that vary one thing, or show where MCA's scope ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale, Tree
from .._common import custom, link
from .rules import WIDE
from .scenarios import FAST, STREAM, mca

# --- paced flows and trade-offs --------------------------------------------------------------------------------------


def paced(variant: str, _scale: Scale) -> Tree:
    """Evenly paced flows that load 10 Mbit/s to 95 %; `30 at once`: all begin together, the worst phase that there is."""
    count, _, phase = variant.partition(" ")
    access, more = FAST, {}
    if phase:
        access = {**FAST, "rate": "1 Gbit/s"}
        more = {"start_spread": "0 s", "stream": {**STREAM, "jitter": 0.0}}
    rate = f"{9500 / int(count):g} kbit/s"
    still = {"initial_rate": rate, "min_rate": rate, "max_rate": rate, "enter": 1000.0}
    links = [
        link("access", "s", "r", **access),
        link("bottleneck", "r", "d", rate="10 Mbit/s", delay="10 ms", buffer=WIDE),
    ]
    return custom(
        f"MCA rules, paced flows, {variant}",
        60.0,
        links,
        [mca("m", "s", "d", count=int(count), params=still, **more)],
        warmup="2 s",
    )


def keep_paced(result: Any, variant: str, _scale: Scale) -> Sample:
    """Mean and maximum queue per flow."""
    row, count = _read.link(result, "bottleneck"), int(variant.split()[0])
    return {
        "mean_packets_per_flow": float(row["queue_packets"]) / count,
        "max_packets_per_flow": float(row["queue_max_packets"]) / count,
    }


TRADE_OFFS: dict[str, dict[str, Any]] = {
    "2/1": {"enter": 2.0, "leave": 1.0},
    "4/2": {"enter": 4.0, "leave": 2.0},
    "8/4": {"enter": 8.0, "leave": 4.0},
    "5/12": {"keep_accumulation": 0.95, "keep_loss": 0.88},
    "10/25": {"keep_accumulation": 0.90, "keep_loss": 0.75},
    "20/50": {"keep_accumulation": 0.80, "keep_loss": 0.50},
    "200": {},
    "1000": {},
}
"""Thresholds in packets; cuts in per cent; buffers in packets."""


def trade_off(variant: str, _scale: Scale) -> Tree:
    """Ten flows at 10 Mbit/s; and beside them one steady flow among Poisson traffic that never fills its link."""
    params = TRADE_OFFS[variant]
    buffer = variant if variant.isdigit() else "200"
    links = [
        link("access", "s", "r", **FAST),
        link("bottleneck", "r", "d", rate="10 Mbit/s", delay="10 ms", buffer=f"{buffer} packets"),
        link("access2", "t", "q", **FAST),
        link("noisy", "q", "e", rate="10 Mbit/s", delay="10 ms", buffer=WIDE),
    ]
    still = {"initial_rate": "2 Mbit/s", "min_rate": "2 Mbit/s", "max_rate": "2 Mbit/s"}
    flows = [
        mca("m", "s", "d", count=10, params=params),
        mca("steady", "t", "e", params={**still, **params}),
        {
            "name": "noise",
            "from": "t",
            "to": "e",
            "packet": "1000 B",
            "source": {"kind": "poisson", "rate": "7 Mbit/s"},
        },
    ]
    return custom(f"MCA rules, trade-off {variant}", 100.0, links, flows, warmup="20 s")


def keep_trade_off(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Queue, utilisation and rate of the ten flows, and the indications of the flow that needs none."""
    row = _read.link(result, "bottleneck")
    return {
        "queue": float(row["queue_packets"]),
        "utilisation": float(row["utilisation"]),
        "drops": float(row["drops"]),
        "rate_bps": float(np.mean([flow["rate_bps"] for flow in _read.group(result, "m")])),
        "alarms_per_s": float(_read.flow(result, "steady")["feedback_packets"]) / 80.0,
    }


# --- company and solitude --------------------------------------------------------------------------------------------


def company(variant: str, _scale: Scale) -> Tree:
    """MCA and NewReno at one link: in one queue, or in two classes of equal weight."""
    apart = {"classes": [1, 1]} if variant == "classes" else {}
    links = [
        link("access", "s", "r", **FAST),
        link("bottleneck", "r", "d", rate="10 Mbit/s", delay="20 ms", buffer="100 packets", **apart),
    ]
    flows = [
        mca("m", "s", "d"),
        {"name": "tcp", "scheme": "reno", "from": "s", "to": "d", "packet": "1000 B"},
    ]
    if apart:
        flows[1]["class"] = 1
    return custom(f"MCA rules, with TCP, {variant}", 120.0, links, flows, warmup="20 s")


def keep_company(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Throughput of both."""
    return {name: float(_read.flow(result, name)["active_throughput_bps"]) for name in ("m", "tcp")}


def solitude(variant: str, _scale: Scale) -> Tree:
    """All receivers leave at 30 s; the rate has no cap, or one of 5 Mbit/s."""
    links = [
        link("access", "s", "r", **FAST),
        link("path", "r", "d", rate="1 Mbit/s", delay="20 ms", buffer="50 packets"),
    ]
    params = {"max_rate": "5 Mbit/s"} if variant == "capped" else {}
    flow = mca("m", "s", ["d"], multicast=True, params=params)
    tree = custom(
        f"MCA rules, no receiver, {variant}",
        90.0,
        links,
        [flow],
        events=[{"at": "30 s", "flow": "m", "action": "leave", "node": "d"}],
    )
    tree["record"] = {"every": "1 s", "series": ["allowed_rate"]}
    return tree


def keep_solitude(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Rate when the last receiver left, rate at the end, and seconds in which it fell."""
    times, rate = _read.one(result, "allowed_rate", "flow.m")
    after = rate[times >= 31.0]
    return {
        "rate_when_left_bps": float(rate[times <= 30.0][-1]),
        "rate_at_end_bps": float(after[-1]),
        "falls": float(np.sum(np.diff(after) < 0)),
    }
