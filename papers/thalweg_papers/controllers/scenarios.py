"""The 24 networks, and who implements each algorithm. Both were written before the first measurement."""

from __future__ import annotations

from itertools import product
from typing import Any

from .._base import Scale, Tree
from .keys import Key

CHOICES: dict[str, str] = {
    "networks": "4 and 20 Mbit/s; 20 and 100 ms without queues; drop-tail buffers of 0.5, 1 and 4 bandwidth-delay "
    "products; with random traffic of 2 % of the rate, or with random loss of 0.1 %.",
    "reference": "Each implementation shares the bottleneck with the same connection: TCP of this library with the "
    "settings of Linux and CUBIC. The share is that of the goodput of both.",
    "baseline": "Differences are relative to TCP of this library with the settings of Linux and the same algorithm.",
    "band": "A difference counts above 15 %: of the share of the goodput, of the mean queueing delay, of the loss. "
    "Losses below 0.01 % are too few to compare.",
    "own": "BBR of quinn and BBRv3 of noq draw numbers from the operating system, so that no run could be repeated. "
    "They are left out.",
    "plugged": "The scheme of this library as controller of the same stack separates controller and transport: what "
    "is between it and TCP comes from acknowledgements, loss recovery, pacing and headers of the stack; what is "
    "between it and the stack's own comes from the controller.",
    "length": "40 s, of which the first 10 s do not count; both start at random within 500 ms; ten seeds. "
    "The first measurement had three, with which half of the differences were not significant.",
    "kernel": "TCP of the kernel is emulated: its algorithms are those of `tcp_available_congestion_control`, and a "
    "missing one has no row. The reference is simulated, in the same queue.",
}

DURATION_S, WARMUP_S = 40.0, 10.0
MBPS = (4, 20)
RTT_MS = (20, 100)
BUFFERS_BDP = (0.5, 1, 4)
PATHS: dict[str, tuple[float, float]] = {"traffic": (2.0, 0.0), "loss": (0.0, 0.001)}
"""Random traffic in per cent of the rate, and the probability of loss."""
NETWORKS: tuple[str, ...] = tuple(
    f"{mbps} {rtt} {buffer:g} {path}" for path, buffer, mbps, rtt in product(PATHS, BUFFERS_BDP, MBPS, RTT_MS)
)
"""Rate in Mbit/s, round-trip time in ms, buffer in bandwidth-delay products, and what is random."""

SCHEMES = {Key.CUBIC: "cubic", Key.NEWRENO: "reno", Key.BBR: "bbr"}
BASELINE = "tcp-linux"
OWN = (Key.CUBIC, Key.NEWRENO)
"""Algorithms of which the QUIC stacks have an implementation that can be repeated."""
LABELS = {
    "tcp": "TCP",
    BASELINE: "TCP, settings of Linux",
    "quinn": "quinn",
    "quinn-plugged": "quinn, our controller",
    "noq": "noq",
    "noq-plugged": "noq, our controller",
}
LINUX: Tree = {"tcp": {"like": "linux"}}


def implementations(key: Key) -> list[str]:
    """The implementation of the algorithm."""
    return [
        implementation for implementation in LABELS if key in OWN or implementation not in ("quinn", "noq")
    ]


def flow(key: Key, implementation: str) -> Tree:
    """The keys of the flow of one implementation."""
    scheme = SCHEMES[key]
    stack, _, plugged = implementation.partition("-")
    if stack == "tcp":
        return {"scheme": scheme, **(LINUX if plugged else {})}
    return {"stack": stack, **({"scheme": scheme} if plugged else {"controller": str(key)})}


def parts(network: str) -> tuple[float, float, float, float, float]:
    """Rate in Mbit/s, round-trip time in ms, buffer in bandwidth-delay products, random traffic in per cent, loss."""
    mbps, rtt, buffer, path = network.split()
    return float(mbps), float(rtt), float(buffer), *PATHS[path]


def variant(implementation: str, network: str) -> str:
    """The name of a case."""
    return f"{implementation} {network}"


def tree(key: Key, variant: str, scale: Scale) -> Tree:
    """The scenario of one case."""
    implementation, network = variant.split(" ", 1)
    return _tree(flow(key, implementation), f"{key}, {variant}", network, scale)


def kernel_tree(key: Key, network: str, scale: Scale) -> Tree:
    """The scenario with TCP of the kernel, of which the simulation is the baseline."""
    kernel = {"scheme": SCHEMES[key], "kernel": SCHEMES[key]}
    return _tree(kernel, f"{key}, kernel {network}", network, scale)


def _tree(measured: Tree, title: str, network: str, scale: Scale) -> Tree:
    mbps, rtt, buffer, traffic, loss = parts(network)
    rate = f"{mbps:g} Mbit/s"
    bottleneck: dict[str, Any] = {"rate": rate, "delay": f"{rtt / 4:g} ms", "buffer": f"{buffer:g} bdp"}
    if loss:
        bottleneck["loss"] = loss
    flows: list[Tree] = [
        {"name": "measured", "packet": "1500 B", "start_spread": "500 ms", **measured},
        {"name": "reference", "packet": "1500 B", "start_spread": "500 ms", "scheme": "cubic", **LINUX},
    ]
    if traffic:
        source = {"kind": "poisson", "rate": f"{traffic * mbps * 10:g} kbit/s"}
        flows.append({"name": "traffic", "packet": "200 B", "source": source})
    return {
        "title": f"Controllers, {title}",
        "duration": scale.text(DURATION_S),
        "warmup": scale.text(WARMUP_S),
        "topology": {
            "kind": "dumbbell",
            "edge": {"rate": "200 Mbit/s", "delay": f"{rtt / 8:g} ms", "buffer": "2000 packets"},
            "bottleneck": bottleneck,
        },
        "flows": flows,
    }


KERNEL_CASES: tuple[tuple[Key, str], ...] = tuple((key, network) for network in NETWORKS for key in Key)
