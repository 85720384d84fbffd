"""Two flows over one bottleneck: rate, round-trip time and buffer vary, and what the flows are."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

from .._base import Experiment, ExperimentKey, Sample, Scale, Tree
from .._common import recording
from .._emulation import live_flows
from .keys import Key

CHOICES: dict[str, str] = {
    "flows": "Two flows of a kind, the second a second later; a CVIHIS stream in real-time mode beside a NewReno "
    "connection, since a scenario of which every machine is inside the network gives the simulation's trace; two CVIHIS "
    "streams where flows can be live; two uploads of a QUIC stack with its CUBIC, over UDP sockets.",
    "chance": "Random traffic of small packets shares the bottleneck, other with each seed, in both worlds: senders "
    "without chance fall into step, and then one run says nothing about the next. It is 2 % of the rate, and in a "
    "second set of cells with TCP alone 0.5 %, with which the simulated senders have no more chance than the kernel's.",
    "settings": "SACK, delayed acknowledgements, an initial window of 10 segments; our TCP like Linux (`tcp.like`).",
    "length": "120 s, of which the first 20 s do not count: one run of 12 s differs from the next by more than the bands.",
    "runs": "Three emulated runs of a cell and five simulated seeds; of the QUIC stacks six and twenty, because with two "
    "and five their shares were left to chance.",
    "bands": "Shares within 15 %, mean queue within 25 % of the simulation's, means of all valid runs. "
    "Of the QUIC stacks, both within 10 %, in at least 90 % of their 24 cells.",
    "bbr": "Reported only: the kernel's BBR is the first version with years of repairs, ours is the draft with two of "
    "them.",
}

SECONDS, WARMUP = 120, 20
MBPS = (5, 20)
RTT_MS = (30, 90)
BUFFERS_BDP = (0.5, 1, 2)
GRID: tuple[str, ...] = tuple(
    f"{mbps} {rtt} {buffer:g}" for buffer, mbps, rtt in product(BUFFERS_BDP, MBPS, RTT_MS)
)
"""Rate in Mbit/s, round-trip time in ms, buffer in bandwidth-delay products."""
NOISE_PERCENT = 2.0
"""Random traffic in the cells of the grid, of the bottleneck's rate."""
LIGHT_NOISE_PERCENT = 0.5
"""Random traffic in the second set of cells, of the bottleneck's rate."""
NOISE_PACKET_B = 200
LIGHT_GRID: tuple[str, ...] = tuple(f"{cell} {LIGHT_NOISE_PERCENT:g}" for cell in GRID)
"""The grid again, each cell with the percentage of random traffic behind it."""

NEWRENO: Tree = {"scheme": "reno", "kernel": "reno"}
CUBIC: Tree = {"scheme": "cubic", "kernel": "cubic"}
BBR: Tree = {"scheme": "bbr", "kernel": "bbr"}
QUINN: Tree = {"stack": "quinn", "controller": "cubic", "live": True}
NOQ: Tree = {"stack": "noq", "controller": "cubic", "live": True}


def _cvihis(mbps: float) -> Tree:
    params = {"mode": "real_time", "initial_rate": f"{250 * mbps:g} kbit/s"}
    return {"scheme": "cvihis", "params": params, **({"live": True} if _live() else {})}


@cache
def _live() -> bool:
    return live_flows()


def pair(kind: str, mbps: float) -> tuple[Tree, Tree]:
    """The two flows of a kind."""
    if kind == "cvihis":
        return _cvihis(mbps), NEWRENO
    if kind == "cvihis alone":
        return _cvihis(mbps), _cvihis(mbps)
    flow = {"newreno": NEWRENO, "cubic": CUBIC, "bbr": BBR, "quinn": QUINN, "noq": NOQ}[kind]
    return flow, flow


def parts(variant: str) -> tuple[float, float, float, float]:
    """Rate in Mbit/s, round-trip time in ms, buffer in bandwidth-delay products, random traffic in per cent."""
    mbps, rtt, buffer, *traffic = (float(word) for word in variant.split())
    return mbps, rtt, buffer, traffic[0] if traffic else NOISE_PERCENT


def tree(kind: str, variant: str) -> Tree:
    """The scenario of one cell."""
    mbps, rtt, buffer, traffic = parts(variant)
    rate = f"{mbps:g} Mbit/s"
    first, second = pair(kind, mbps)
    return {
        "title": f"Agreement, {kind}, {rate}, {rtt:g} ms, {buffer:g} BDP, {traffic:g} % random traffic",
        "duration": f"{SECONDS} s",
        "warmup": f"{WARMUP} s",
        "topology": {
            "kind": "dumbbell",
            "edge": {"rate": "200 Mbit/s", "delay": f"{rtt / 8:g} ms", "buffer": "2000 packets"},
            "bottleneck": {"rate": rate, "delay": f"{rtt / 4:g} ms", "buffer": f"{buffer:g} bdp"},
        },
        "flows": [
            {"name": "a", "packet": "1500 B", **first},
            {"name": "b", "packet": "1500 B", "start": "1 s", **second},
            {
                "name": "noise",
                "packet": f"{NOISE_PACKET_B} B",
                "source": {"kind": "poisson", "rate": f"{traffic * mbps * 10:g} kbit/s"},
            },
        ],
        "record": recording("1000 ms", "goodput"),
    }


def extract(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Goodputs, the mean queue, what was lost and how often a timer went off."""
    from .. import _read

    kept: Sample = {
        "queue_packets": float(result["link.bottleneck.queue_packets"]),
        "utilisation": float(result["link.bottleneck.utilisation"]),
    }
    for name in ("a", "b"):
        row = _read.flow(result, name)
        kept[f"goodput {name}"] = float(row["active_goodput_bps"])
        kept[f"loss {name}"] = float(row["loss_ratio"] or 0.0)
        kept[f"timeouts {name}"] = float(row["timeouts"] or 0.0)
    return kept


KINDS = (Key.NEWRENO, Key.CUBIC, Key.CVIHIS, Key.BBR)
ONLY_LIVE = (Key.CVIHIS_ALONE,)
STACKS = (Key.QUINN, Key.NOQ)
LIGHT_KINDS = (Key.NEWRENO, Key.CUBIC, Key.BBR)
"""Kinds of which every machine is the kernel's, so that only the random traffic is left to chance."""

EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    kind: Experiment(
        kind,
        kind,
        GRID + (LIGHT_GRID if kind in LIGHT_KINDS else ()),
        lambda variant, _scale, kind=kind: tree(kind, variant),  # type: ignore[misc]
        extract,
        seeds=20 if kind in STACKS else 5,
        emulated_runs=6 if kind in STACKS else 0,
    )
    for kind in (*KINDS, *ONLY_LIVE, *STACKS)
}

CASES: tuple[tuple[Key, str], ...] = tuple(
    (kind, variant) for variant in GRID for kind in (*KINDS[:3], *ONLY_LIVE, *STACKS)
) + tuple((kind, variant) for variant in LIGHT_GRID for kind in LIGHT_KINDS[:2])
"""The kinds that have bands come first."""
