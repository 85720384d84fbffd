"""Experiments beyond the paper: a heterogeneous tree, groups of up to a thousand receivers, and their cost."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from .. import _cost, _read
from .._base import Sample, Scale, Tree
from .._common import custom, jain, link, mean_between, recording
from .scenarios import NAMES, QUEUE, SENDER, group, icn, noise, tcp, wire

# --- a tree with three bottlenecks -----------------------------------------------------------------------------------

TREE_S = 200.0
SUBTREES: dict[str, tuple[float, float, int, int]] = {
    "a": (6e6, 10, 3, 3),
    "b": (4e6, 20, 1, 3),
    "c": (3e6, 40, 2, 2),
}
"""Bottleneck (bit/s), its delay (ms), TCP connections over it, and routers below it with eight receivers each."""
LEAVES = 8


def tree_members() -> dict[str, list[str]]:
    """The receivers of each subtree: 64 together."""
    return {
        name: [f"{name}{router}d{i}" for router in range(1, routers + 1) for i in range(1, LEAVES + 1)]
        for name, (_, _, _, routers) in SUBTREES.items()
    }


def fair_bps(name: str) -> float:
    """An equal share of a subtree's bottleneck, the group counted as one flow."""
    rate_bps, _, tcps, _ = SUBTREES[name]
    return rate_bps / (tcps + 1)


def tree(scheme: str, scale: Scale) -> Tree:
    """64 receivers behind three bottlenecks of different rate, delay and company; the third has the minimum fair share."""
    links: list[Tree] = [link("access", "s", "r0", **SENDER)]
    flows: list[Tree] = []
    for name, (rate_bps, delay_ms, tcps, count) in SUBTREES.items():
        links.append(wire(f"bottleneck_{name}", "r0", f"r{name}", rate_bps, delay_ms))
        for router in range(1, count + 1):
            below = f"r{name}{router}"
            links.append(wire(f"middle_{name}{router}", f"r{name}", below, 20e6, 2))
            for i in range(1, LEAVES + 1):
                # Receivers of one router differ in delay: equal ones would lose and speak in step.
                links.append(
                    wire(f"leaf_{name}{router}x{i}", below, f"{name}{router}d{i}", 10e6, 1 + 0.5 * i)
                )
        for i in range(1, tcps + 1):
            links.append(link(f"tcp_access_{name}{i}", f"t{name}{i}", "r0", **SENDER))
            links.append(wire(f"tcp_leaf_{name}{i}", f"r{name}", f"u{name}{i}", 10e6, 3))
            flows.append(tcp(f"tcp_{name}{i}", f"t{name}{i}", f"u{name}{i}"))
        flows.append(noise(f"noise_{name}", f"t{name}1", f"u{name}1"))
    everybody = [node for nodes in tree_members().values() for node in nodes]
    routers = ["r0", *(f"r{n}" for n in SUBTREES)]
    routers += [f"r{n}{i}" for n, (_, _, _, count) in SUBTREES.items() for i in range(1, count + 1)]
    return custom(
        f"SRMCC and others, a tree of 64 receivers with three bottlenecks, {NAMES[scheme]}",
        scale.seconds(TREE_S),
        links,
        [group("mc", scheme, "s", everybody), *flows],
        icn=icn(*routers),
        record=recording("1 s", "rate", "goodput", "utilisation"),
    )


def keep_tree(result: Any, _scheme: str, scale: Scale) -> Sample:
    """The group's rate over time; shares, utilisation and loss at each bottleneck after a quarter of the run."""
    times = _read.times(result, "rate")
    begin, end = 0.25 * scale.seconds(TREE_S), scale.seconds(TREE_S)
    rate = _read.series(result, "rate", ["flow.mc"])["flow.mc"]
    arrived = {row["node"]: row for row in result.receivers.to_dicts() if row["flow"] == "mc"}
    flow = _read.flow(result, "mc")
    sample: Sample = {
        "times_s": times,
        "rate_bps": rate,
        "mean_rate_bps": mean_between(times, rate, begin, end),
        "loss": float(flow["loss_ratio"]),
        "feedback": float(flow["feedback_received"]),
        "seconds": end,
    }
    for name, (_, _, tcps, _) in SUBTREES.items():
        subjects = [f"receiver.tcp_{name}{i}@u{name}{i}" for i in range(1, tcps + 1)]
        goodput = _read.series(result, "goodput", subjects)
        tcp_bps = [mean_between(times, goodput[s], begin, end) for s in subjects]
        link_name = f"link.bottleneck_{name}"
        used = _read.series(result, "utilisation", [link_name])[link_name]
        nodes = tree_members()[name]
        missing = sum(arrived[node]["missing"] for node in nodes)
        packets = sum(arrived[node]["packets"] for node in nodes)
        sample[f"tcp_{name}_bps"] = float(np.mean(tcp_bps))
        sample[f"utilisation_{name}"] = mean_between(_read.times(result, "utilisation"), used, begin, end)
        sample[f"loss_{name}"] = missing / max(missing + packets, 1)
        sample[f"jain_{name}"] = jain(np.array([sample["mean_rate_bps"], *tcp_bps]))
    return sample


# --- large groups ----------------------------------------------------------------------------------------------------

LARGE_S = 60.0
SIZES = (10, 100, 1000)
EDGES = 10


LARGE_BPS = 5e6


def large(scheme: str, size: int, duration_s: float, *, tcps: int = 2, rate_bps: float = LARGE_BPS) -> Tree:
    """A group behind ten edge routers, all of them behind one bottleneck that TCP shares."""
    links = [
        link("access", "s", "r0", **SENDER),
        wire("bottleneck", "r0", "r1", rate_bps, 20),
        *(
            link(f"edge{i}", "r1", f"e{i}", rate="100 Mbit/s", delay="2 ms", buffer=QUEUE)
            for i in range(1, EDGES + 1)
        ),
    ]
    nodes = [f"d{i}" for i in range(1, size + 1)]
    for i, node in enumerate(nodes):
        # Delays of 1 to 5 ms: receivers of equal delay would lose and speak in step.
        links.append(wire(f"leaf{i + 1}", f"e{i % EDGES + 1}", node, 10e6, 1 + 4 * i / size))
    flows = [group("mc", scheme, "s", nodes)]
    for i in range(1, tcps + 1):
        links.append(link(f"tcp_access{i}", f"t{i}", "r0", **SENDER))
        links.append(wire(f"tcp_leaf{i}", "r1", f"u{i}", 10e6, 3))
        flows.append(tcp(f"tcp{i}", f"t{i}", f"u{i}"))
    if tcps:
        flows.append(noise("noise", "t1", "u1"))
    return custom(
        f"SRMCC and others, a group of {size}, {NAMES[scheme]}",
        duration_s,
        links,
        flows,
        icn=icn("r0", "r1", *(f"e{i}" for i in range(1, EDGES + 1))),
    )


def large_case(variant: str, scale: Scale) -> Tree:
    """`tfmcc-1000`."""
    scheme, _, size = variant.partition("-")
    tree = large(scheme, int(size), scale.seconds(LARGE_S))
    tree["record"] = recording("1 s", "rate", "goodput")
    return tree


def keep_large(result: Any, variant: str, scale: Scale) -> Sample:
    """Rates over time, loss, and what the source hears, joins included in none of it."""
    times = _read.times(result, "rate")
    begin, end = 0.25 * scale.seconds(LARGE_S), scale.seconds(LARGE_S)
    rate = _read.series(result, "rate", ["flow.mc"])["flow.mc"]
    goodput = _read.series(result, "goodput", ["receiver.tcp1@u1", "receiver.tcp2@u2"])
    tcp_bps = np.mean(list(goodput.values()), axis=0)
    arrived = result.receivers.filter(result.receivers["flow"] == "mc")
    flow = _read.flow(result, "mc")
    return {
        "times_s": times,
        "rate_bps": rate,
        "tcp_bps": tcp_bps,
        "mean_rate_bps": mean_between(times, rate, begin, end),
        "mean_tcp_bps": mean_between(_read.times(result, "goodput"), tcp_bps, begin, end),
        "loss": float(flow["loss_ratio"]),
        "feedback_per_s": float(flow["feedback_received"]) / end,
        "feedback_sent_per_s": float(flow["feedback_packets"]) / end,
        "signals": float(flow["signals"]),
        "delivered": float(arrived["packets"].sum()),
        "min_delivered": float(arrived["packets"].min()),
        "receivers": float(variant.partition("-")[2]),
    }


# --- cost ------------------------------------------------------------------------------------------------------------

COST_BPS = 1e6
PACKETS_PER_S = 120
"""About what fills the bottleneck."""
DELIVERIES = 1_200_000
MIN_S = 20.0
"""Longer than a start takes."""


def measure_cost(variant: str, seed: int, scale: Scale) -> Sample:
    """Runs a group of one scheme and size in a process of its own."""
    return _cost.own_process(__spec__.name, variant, seed, scale)


def main(variant: str, seed: int, factor: float) -> Sample:
    """The group of `large` at 1 Mbit/s, without company."""
    scheme, _, size = variant.partition("-")
    long_s = max(MIN_S, factor * DELIVERIES / int(size) / PACKETS_PER_S)
    return _cost.spend(lambda n, s: large(scheme, n, s, tcps=0, rate_bps=COST_BPS), int(size), long_s, seed)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
