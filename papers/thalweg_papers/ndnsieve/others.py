"""Statements of the paper about other schemes (§2, Table 1) that the catalogue has: scenarios, samples, measures.

Two consumers at one bottleneck of 10 Mbit/s, which falls to 3 Mbit/s after 10 s; scenario 2 with a way that is
three times as long; scenario 3 under CHoPCoP.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Measured, Quantity, Sample, Samples, Scale, Tree, measure
from .._common import recording
from .keys import Key
from .measures import each
from .scenarios import (
    DATA_BITS,
    DURATION_S,
    EVERY_S,
    STARTS_S,
    SchemeSetup,
    network,
    wires,
    with_links,
)

STEP_S = 10.0
SLOW_MBPS = 3.0

ALONE = ("ICP", "RAAQM", "CCTCP", "ECP")
"""Schemes of consumers alone, by §2.1 and Table 1. ECP's routers write a level into Data, and do not react."""

STEPS: dict[str, SchemeSetup] = {
    "ICP": SchemeSetup("ICP, consumers alone", {}, "icp"),
    "RAAQM": SchemeSetup("RAAQM, consumers alone", {"strategy": "raaqm", "link": "raaqm"}, "raaqm"),
    "CCTCP": SchemeSetup("CCTCP, consumers alone", {"link": "cctcp"}, "cctcp"),
    "ECP": SchemeSetup("ECP, consumers alone", {"link": "ecp"}, "ecp"),
    "AIMD": SchemeSetup("AIMD, consumers alone", {}, "aimd"),
    "CUBIC": SchemeSetup("CUBIC, consumers alone", {}, "cubic"),
    "HIS": SchemeSetup("HIS, hop by hop", {"link": "his"}, "his"),
    "HoBHIS": SchemeSetup("HoBHIS, hop by hop", {"link": "hobhis"}, "hobhis"),
    "NACK": SchemeSetup("NACK, hop by hop", {"strategy": "nack"}, "nack"),
    "PCON": SchemeSetup("PCON, both", {"strategy": "pcon", "link": "pcon"}, "pcon"),
    "calibrated": SchemeSetup(
        "ndnSieve, calibrated, both",
        {"link": "ndnsieve"},
        "ndnsieve",
        app={"app": "ndnsieve"},
    ),
}
"""Cases: which scheme reacts, and where."""

BLIND = "HIS, constant"
"""Consumers that go on asking at 10 Mbit/s, whatever routers say."""

ROUNDS = {"strategy": "weighted"}
"""One next hop after the other, at random and with equal weights."""

PATHS: dict[str, SchemeSetup] = {
    "ICP, two ways": SchemeSetup("ICP", ROUNDS, "icp"),
    "ICP, one way": SchemeSetup("ICP", {}, "icp"),
    "AIMD, two ways": SchemeSetup("AIMD", ROUNDS, "aimd"),
    "AIMD, one way": SchemeSetup("AIMD", {}, "aimd"),
    "RAAQM, two ways": SchemeSetup("RAAQM", {"strategy": "raaqm", "link": "raaqm"}, "raaqm"),
    "RAAQM, one way": SchemeSetup("RAAQM", {"link": "raaqm"}, "raaqm"),
    "CCTCP, two ways": SchemeSetup("CCTCP", {**ROUNDS, "link": "cctcp"}, "cctcp"),
    "CCTCP, one way": SchemeSetup("CCTCP", {"link": "cctcp"}, "cctcp"),
}

CHOPCOP = SchemeSetup("CHoPCoP", {"link": "chopcop"}, "chopcop")
ECP = SchemeSetup("ECP", {"link": "ecp"}, "ecp")

CASES = (*STEPS, BLIND)


def step(variant: str, _scale: Scale) -> Tree:
    """The dumbbell, whose middle link falls to 3 Mbit/s."""
    setup = STEPS["HIS"] if variant == BLIND else STEPS[variant]
    tree = network("dumbbell", setup, f"ndnSieve paper, a link that gets slower: {variant}")
    tree["events"] = [{"at": f"{STEP_S:g} s", "link": "core", "rate": f"{SLOW_MBPS:g} Mbit/s"}]
    tree["record"] = recording(f"{EVERY_S * 1e3:g} ms", "throughput", "backlog", "utilisation")
    if variant == BLIND:
        for flow in tree["flows"]:
            flow.pop("scheme")
            flow["source"] = {"kind": "constant", "interests": 5e6 / DATA_BITS}
    return tree


def load(_variant: str, _scale: Scale) -> Tree:
    """The scenario under ECP, with the waits of its Interests."""
    tree = network("dumbbell", ECP, "ndnSieve paper, a link that gets slower: ECP")
    tree["events"] = [{"at": f"{STEP_S:g} s", "link": "core", "rate": f"{SLOW_MBPS:g} Mbit/s"}]
    tree["record"] = recording(f"{EVERY_S * 1e3:g} ms", "backlog", "shaper_queue", "queue_level")
    return tree


def one_way(_variant: str, _scale: Scale) -> Tree:
    """Scenario 3 under CHoPCoP."""
    return network("three flows", CHOPCOP, "ndnSieve paper, three flows: CHoPCoP")


def paths(variant: str, _scale: Scale) -> Tree:
    """Scenario 2, its second way three times as long."""
    links = wires("two ways")
    for one in links:
        if one["name"] in ("261", "p2"):
            one["delay"] = "30 ms"
    title = f"ndnSieve paper, ways that differ: {variant}"
    # best_route retransmits to the second producer, which would be a second source
    nodes = ["p1"] if variant == "CCTCP, one way" else ["p1", "p2"]
    tree = with_links(PATHS[variant], title, DURATION_S, links, {1: nodes}, STARTS_S["two ways"])
    if PATHS[variant].scheme == "cctcp":
        tree["record"] = recording(f"{EVERY_S * 1e3:g} ms", "sources")
    return tree


# --- what is kept ----------------------------------------------------------------------------------------------------


def overload(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Losses, NACKs and requests, the maximum delay, the queue after the step, and bytes of NACKs."""
    flows, nodes, links = (getattr(result, name).to_dicts() for name in ("flows", "nodes", "links"))
    own = [row for row in links if not row["link"].startswith("control")]
    times, backlog = _read.one(result, "backlog", "link.core.backward")
    after = times > STEP_S + 1e-9
    nacks = sum(row["nacks_out"] or 0 for row in nodes)
    interest_bytes = 50.0
    return {
        "lost": float(sum(row["drops_queue_full"] for row in own if row["direction"] == "backward")),
        "turned_away": float(sum((row["nacked"] or 0) + (row["policed"] or 0) for row in nodes)),
        "asked": float(sum(row["sent_packets"] for row in flows)),
        "longest_ms": 1e3 * max(row["delay_max_s"] or 0.0 for row in flows),
        "calm_s": _calm(times[after] - STEP_S, backlog[after]),
        "worst_queue": float(backlog[after].max()),
        "nack_share": nacks * interest_bytes / sum(row["sent_bytes"] for row in own),
    }


def _calm(times: Any, backlog: Any, packets: float = 100.0, span_s: float = 0.2) -> float:
    """Seconds until the queue has been below 100 packets for 0.2 s; all of them where it never is."""
    size = round(span_s / EVERY_S)
    low = np.convolve(backlog < packets, np.ones(size), "valid") >= size
    return float(times[np.argmax(low)]) if low.any() else float(times[-1])


def queues(result: Any, _variant: str, _scale: Scale) -> Sample:
    """After the step: the maximum number of pending Interests, the longest queue of Data, and the highest level in Data.

    `data_before` is the longest queue of Data before it.
    """

    def longest(name: str, subject: str, *, after: bool = True) -> float:
        times, values = _read.one(result, name, subject)
        return float(np.nanmax(values[(times > STEP_S + 1e-9) == after]))

    return {
        "interests": longest("shaper_queue", "node.r1"),
        "data": longest("backlog", "link.core.backward"),
        "data_before": longest("backlog", "link.core.backward", after=False),
        "level": longest("queue_level", "node.r1"),
    }


def final_windows(result: Any, variant: str, _scale: Scale) -> Sample:
    """Throughput of a consumer, its retransmissions, and its final windows."""
    (flow,) = result.flows.to_dicts()
    windows = 1.0
    if PATHS[variant].scheme == "cctcp":
        windows = float(_read.one(result, "sources", f"flow.{flow['flow']}")[1][-1])
    return {
        "windows": windows,
        "mbps": flow["active_throughput_bps"] / 1e6,
        "again": 100 * flow["retransmits"] / flow["sent_packets"],
    }


# --- measures --------------------------------------------------------------------------------------------------------


def _of(samples: Samples, name: str, key: str, unit: str = "") -> Quantity:
    return each(samples, Key.STEP, name, lambda s: s[key], unit)


def icp(samples: Samples) -> Measured:
    """Gain of ICP, RAAQM and AIMD by a second path, RAAQM over both, and the needless retransmissions of ICP.

    AIMD has one window and one timer, as ICP, and a timer above all round-trip times, with which it fills a link.
    """
    mbps = {name: each(samples, Key.PATHS, name, lambda s: s["mbps"], "Mbit/s") for name in PATHS}

    def over(one: str, other: str) -> Quantity:
        return Quantity(tuple(a / b for a, b in zip(mbps[one].values, mbps[other].values, strict=True)))

    return {
        **{
            f"{scheme.lower()}_gain": over(f"{scheme}, two ways", f"{scheme}, one way")
            for scheme in ("ICP", "AIMD", "RAAQM")
        },
        "raaqm_over_icp": over("RAAQM, two ways", "ICP, two ways"),
        "raaqm_over_aimd": over("RAAQM, two ways", "AIMD, two ways"),
        "icp": mbps["ICP, one way"],
        "aimd": mbps["AIMD, one way"],
        "raaqm": mbps["RAAQM, one way"],
        "icp_again": each(samples, Key.PATHS, "ICP, two ways", lambda s: s["again"], "%"),
        "icp_again_one": each(samples, Key.PATHS, "ICP, one way", lambda s: s["again"], "%"),
    }


def alone(samples: Samples) -> Measured:
    """Lost Data and longest delays: the minimum of the schemes of consumers alone, minus the maximum of the others."""
    both = ("PCON", "calibrated")
    hops = ("HIS", "HoBHIS", "NACK")

    def worst(key: str, unit: str) -> Measured:
        mine = [_of(samples, name, key, unit) for name in ALONE]
        return {
            **{f"{key}_{name.lower()}": quantity for name, quantity in zip(ALONE, mine, strict=True)},
            f"{key}_aimd": _of(samples, "AIMD", key, unit),
            f"{key}_alone": min(mine, key=lambda q: q.mean),
            f"{key}_hop_by_hop": max((_of(samples, name, key, unit) for name in hops), key=lambda q: q.mean),
            f"{key}_both": max((_of(samples, name, key, unit) for name in both), key=lambda q: q.mean),
        }

    lost, longest = worst("lost", "packets"), worst("longest_ms", "ms")
    return {
        **lost,
        **longest,
        "more_lost": Quantity(
            (lost["lost_alone"].mean - max(lost["lost_hop_by_hop"].mean, lost["lost_both"].mean),)
        ),
        "longer": Quantity(
            (
                longest["longest_ms_alone"].mean
                - max(longest["longest_ms_hop_by_hop"].mean, longest["longest_ms_both"].mean),
            )
        ),
    }


@measure(Key.STEP)
def hop_by_hop(samples: Samples) -> Measured:
    """Time until the queue is short again, and the NACKs of routers to consumers that do not react."""
    calm = {name: _of(samples, name, "calm_s", "s") for name in ("AIMD", "HIS", "HoBHIS", "NACK")}
    slowest = max((calm[name] for name in ("HIS", "HoBHIS", "NACK")), key=lambda q: q.mean)
    return {
        "calm_alone": calm["AIMD"],
        "calm_hop_by_hop": slowest,
        "sooner": Quantity((calm["AIMD"].mean - slowest.mean,), "s"),
        "turned_away": Quantity(
            tuple(
                100 * a / b
                for a, b in zip(
                    _of(samples, BLIND, "turned_away").values,
                    _of(samples, BLIND, "asked").values,
                    strict=True,
                )
            ),
            "%",
        ),
    }


def nacks(samples: Samples) -> Measured:
    """Bytes of refusals of all bytes."""
    share = _of(samples, "NACK", "nack_share")
    return {"nack_percent": Quantity(tuple(100 * value for value in share.values), "%")}


@measure(Key.PATHS)
def state(samples: Samples) -> Measured:
    """Windows of a CCTCP consumer with two producers and with one, and of a RAAQM consumer with two ways."""

    def windows(case: str) -> Quantity:
        return each(samples, Key.PATHS, case, lambda s: s["windows"])

    return {
        "two_sources": windows("CCTCP, two ways"),
        "one_source": windows("CCTCP, one way"),
        "raaqm_two_ways": windows("RAAQM, two ways"),
    }


def _of_ecp(samples: Samples, *keys: str) -> Measured:
    runs = samples[Key.LOAD, "ECP"]
    return {key: Quantity(tuple(float(run[key]) for run in runs)) for key in keys}


@measure(Key.LOAD)
def level(samples: Samples) -> Measured:
    """The level in Data under ECP when the bottleneck falls to 3 Mbit/s."""
    return _of_ecp(samples, "level")


@measure(Key.LOAD)
def waiting(samples: Samples) -> Measured:
    """Interests and Data that wait under ECP when the bottleneck falls to 3 Mbit/s, and Data before that."""
    return _of_ecp(samples, "interests", "data", "data_before")


@measure(Key.THREE_FLOWS, Key.ONE_PATH)
def one_path(samples: Samples) -> Measured:
    """Scenario 3 of PCON over CHoPCoP."""

    def total(sample: Sample) -> float:
        return float(sample["throughput"].sum(axis=0)[50:].mean()) / 1e6

    alone_ = each(samples, Key.ONE_PATH, "CHoPCoP", total, "Mbit/s")
    free = each(samples, Key.THREE_FLOWS, "pcon", total, "Mbit/s")
    return {
        "one_path": alone_,
        "all_paths": free,
        "gain": Quantity(tuple(a / b for a, b in zip(free.values, alone_.values, strict=True))),
    }


@measure(Key.THREE_FLOWS, Key.READINGS)
def disorder(samples: Samples) -> Measured:
    """In scenario 3 under PCON: how delay goes with the share of 261, and what it is without a share."""
    rows = samples[Key.THREE_FLOWS, "pcon"]

    def correlation(sample: Sample) -> float:
        faces = sample["faces"].reshape(2, -1, 10).mean(axis=2)[:, 3:]
        share = faces[1] / np.maximum(faces.sum(axis=0), 1.0)
        delays = sample["delay_bins_ms"][3:]
        return float(np.corrcoef(share, delays)[0, 1])

    kept = each(samples, Key.READINGS, "three flows: no shift", lambda s: float(s["delay_ms"].mean()), "ms")
    moved = each(samples, Key.THREE_FLOWS, "pcon", lambda s: float(s["delay_ms"].mean()), "ms")
    return {
        "correlation": Quantity(tuple(correlation(sample) for sample in rows)),
        "delay_without": kept,
        "delay_with": moved,
    }


icp_two_ways = measure(Key.PATHS)(icp)
consumers_alone = measure(Key.STEP)(alone)
nack_load = measure(Key.STEP)(nacks)
