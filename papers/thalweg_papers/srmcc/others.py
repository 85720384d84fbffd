"""Small scenarios for what the paper says of the schemes that SRMCC is compared with, and what is kept of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale, Tree
from .._common import custom, inside, link, mean_between, recording
from .scenarios import NAMES, SENDER, dumbbell, group, icn, members, tcp, wire

# --- several TFMCC groups beside TCP ---------------------------------------------------------------------------------

SEVERAL = (2, 4, 8)
SEVERAL_BPS = 2.5e6
"""Capacity for each group and the connection beside it."""
SEVERAL_S = 120.0


def several(variant: str, _scale: Scale) -> Tree:
    """So many TFMCC groups of two receivers and as many TCP connections; four of each on 10 Mbit/s."""
    count = int(variant)
    links = [wire("bottleneck", "r0", "r1", count * SEVERAL_BPS, 20)]
    flows = []
    for i in range(1, count + 1):
        links.append(link(f"access{i}", f"s{i}", "r0", **SENDER))
        links.append(link(f"tcp_access{i}", f"t{i}", "r0", **SENDER))
        links.append(wire(f"tcp_leaf{i}", "r1", f"u{i}", 10e6, 3))
        links += [wire(f"leaf{i}x{j}", "r1", f"g{i}d{j}", 10e6, 3) for j in (1, 2)]
        flows.append(group(f"g{i}", "tfmcc", f"s{i}", [f"g{i}d1", f"g{i}d2"]))
        flows.append(tcp(f"tcp{i}", f"t{i}", f"u{i}"))
    return custom(
        f"SRMCC §5.3.1, {count} TFMCC groups and {count} TCP connections",
        SEVERAL_S,
        links,
        flows,
        warmup="30 s",
        icn=icn("r0", "r1"),
    )


def keep_several(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Mean throughput of both kinds over an equal share."""
    fair = SEVERAL_BPS / 2
    rows = result.flows.to_dicts()

    def mean(prefix: str) -> float:
        return float(
            np.mean([row["active_throughput_bps"] for row in rows if row["flow"].startswith(prefix)])
        )

    return {"tcp_share": mean("tcp") / fair, "tfmcc_share": mean("g") / fair}


# --- congested routers -----------------------------------------------------------------------------------------------

CONGESTED = (1, 4, 16)
CONGESTED_S = 60.0


def congested(variant: str, _scale: Scale) -> Tree:
    """A PerIfwithECN group over so many branches of 2 Mbit/s, each with a TCP connection of its own."""
    count = int(variant)
    links = [link("access", "s", "r0", **SENDER)]
    flows = [group("mc", "perif_ecn", "s", members(count))]
    for i in range(1, count + 1):
        links.append(link(f"branch{i}", "r0", f"b{i}", rate="100 Mbit/s", delay="10 ms", buffer="50 packets"))
        links.append(wire(f"bottleneck{i}", f"b{i}", f"c{i}", 2e6, 10))
        links.append(wire(f"leaf{i}", f"c{i}", f"d{i}", 10e6, 3))
        links.append(link(f"tcp_access{i}", f"t{i}", f"b{i}", **SENDER))
        links.append(wire(f"tcp_leaf{i}", f"c{i}", f"u{i}", 10e6, 3))
        flows.append(tcp(f"tcp{i}", f"t{i}", f"u{i}"))
    routers = ["r0", *(f"{kind}{i}" for kind in "bc" for i in range(1, count + 1))]
    return custom(
        f"SRMCC §5.3.4, PerIfwithECN over {count} congested routers",
        CONGESTED_S,
        links,
        flows,
        icn=icn(*routers),
    )


def keep_congested(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Feedback at the source, and the group's rate."""
    flow = _read.flow(result, "mc")
    return {
        "feedback_per_s": float(flow["feedback_received"]) / CONGESTED_S,
        "feedback_per_packet": float(flow["feedback_received"]) / max(float(flow["sent_packets"]), 1),
        "rate_bps": _read.active_rate(flow),
    }


# --- the limiting receiver -------------------------------------------------------------------------------------------

CHANGE_S, CHANGED_END_S = 60.0, 120.0
NEAR = 0.2


def limiting_change(variant: str, _scale: Scale) -> Tree:
    """Branches of 4 and 2 Mbit/s; at 60 s the first is cut to 1 Mbit/s, or the second has 10 Mbit/s.

    Either way another receiver limits the group from then on.
    """
    scheme, _, how = variant.partition("-")
    links = [
        link("access", "s", "r0", **SENDER),
        wire("a", "r0", "ra", 4e6, 20),
        wire("b", "r0", "rb", 2e6, 20),
        wire("leaf_a", "ra", "d1", 100e6, 3),
        wire("leaf_b", "rb", "d2", 100e6, 3),
    ]
    change = {"cut": ("a", "1 Mbit/s"), "freed": ("b", "10 Mbit/s")}[how]
    return custom(
        f"SRMCC §2, another receiver limits ({how}), {NAMES[scheme]}",
        CHANGED_END_S,
        links,
        [group("mc", scheme, "s", members(2))],
        icn=icn("r0", "ra", "rb"),
        events=[{"at": f"{CHANGE_S:g} s", "link": change[0], "rate": change[1]}],
        record=recording("200 ms", "rate"),
    )


def keep_limiting_change(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Time from the change until the rate, averaged over 1 s, is within 20 % of its mean over the last 30 s."""
    times, rate = _read.one(result, "rate", "flow.mc")
    steady = mean_between(times, rate, 0.5 * (CHANGE_S + CHANGED_END_S), CHANGED_END_S)
    smooth = np.convolve(rate, np.full(5, 0.2))[: len(times)]
    after = inside(times, CHANGE_S, CHANGED_END_S)
    near = np.abs(smooth[after] - steady) <= NEAR * steady
    return {
        "settled_s": float(times[after][near][0] - CHANGE_S) if near.any() else CHANGED_END_S - CHANGE_S,
        "before_bps": mean_between(times, rate, 30.0, CHANGE_S),
        "after_bps": steady,
    }


# --- classes of feedback ---------------------------------------------------------------------------------------------

CLASSES_S = 60.0


def classes(_variant: str, _scale: Scale) -> Tree:
    """Scenario 1 with sixteen TFMCC receivers; every report is an event."""
    flows = [group("mc", "tfmcc", "s", members(16)), *(tcp(f"tcp{i}", f"t{i}", f"u{i}") for i in (1, 2))]
    return custom(
        "SRMCC §5.3.4, classes of TFMCC's feedback",
        CLASSES_S,
        dumbbell(5e6, 10e6, 16),
        flows,
        icn=icn("r0", "r1"),
        record=recording("1 s", "rate", events=True),
    )


def keep_classes(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Reports of the limiting receiver, per round-trip time too, and of others, of which some are below the rate."""
    limiting, _, _ = _read.events(result, "feedback_clr", "flow.mc")
    others, over_rate, _ = _read.events(result, "feedback_other", "flow.mc")
    round_trips = CLASSES_S / float(_read.flow(result, "mc")["rtt_s"])
    return {
        "limiting": float(len(limiting)),
        "others": float(len(others)),
        "others_below_rate": float(np.sum(over_rate < 1)),
        "per_round_trip": len(limiting) / round_trips,
    }


# --- suppression of NAKs ---------------------------------------------------------------------------------------------

SUPPRESSION_S = 60.0


def suppression(variant: str, _scale: Scale) -> Tree:
    """Scenario 1 with sixteen PGMCC receivers, whose transport delays NAKs or not."""
    params = {"nak_delay": {"delayed": "1 s", "at once": "0 s"}[variant]}
    flows = [
        group("mc", "pgmcc", "s", members(16), params=params),
        *(tcp(f"tcp{i}", f"t{i}", f"u{i}") for i in (1, 2)),
    ]
    return custom(
        f"SRMCC §2, PGMCC, NAKs {variant}", SUPPRESSION_S, dumbbell(5e6, 10e6, 16), flows, icn=icn("r0", "r1")
    )


def keep_suppression(result: Any, _variant: str, _scale: Scale) -> Sample:
    """NAKs that were not sent, and feedback of all kinds at the source for each packet."""
    flow = _read.flow(result, "mc")
    return {
        "suppressed": float(flow["suppressed"]),
        "feedback_per_packet": float(flow["feedback_received"]) / max(float(flow["sent_packets"]), 1),
    }
