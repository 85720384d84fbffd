"""The paper's tests in real time: the trees of `scenarios`, with TCP of the kernel and live streams where there are such."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from .._base import Experiment, ExperimentKey, Scale, Tree
from .._emulation import live_flows
from . import extracts, scenarios
from .keys import Key

CHOICES: dict[str, str] = {
    "network": "As in the simulation: hosts whose links have the delay, three routers, two links with a capacity and a "
    "queue. The paper made it of seven machines and `tc`; here its links and routers run in real time in one process, and "
    "each end of a connection is a network namespace.",
    "newreno": "`reno` of the kernel without SACK and with an acknowledgement for each segment, as in the simulation; the "
    "variants `linux` have both as Linux has them. What the kernel does besides, its windows and its timers, stays.",
    "cubic": "`cubic` of the kernel as Linux has it, with SACK and delayed acknowledgements, HyStart included.",
    "simulation": "The same scenarios; each connection is our TCP with the scheme of that name, like Linux (`tcp.like`).",
    "length": "As long as in the paper, in real time: several runs go on at once.",
    "runs": "One emulated run of each test, as in the paper; the kernel's own chance is in it. Simulations: three seeds.",
}

LINUX_TCP = {"sack": True, "delayed_ack": True}
BESIDE: dict[str, tuple[str, Tree]] = {
    "linux": ("reno", LINUX_TCP),
    "cubic": ("cubic", LINUX_TCP),
}
"""Kinds of TCP beside the real-time mode, as Linux has them: scheme, settings."""
BESIDE_KBPS = (2000, 3000, 4500)
VARIED = tuple(
    f"{kind} {kbps} {rtt}" for kind in BESIDE for kbps in BESIDE_KBPS for rtt in scenarios.FRIENDLY_MS
)


def varied(variant: str, _scale: Scale) -> Tree:
    """The real-time mode beside a kind of TCP: `cubic 3000 80`."""
    kind, kbps, rtt = variant.split()
    scheme, tcp = BESIDE[kind]
    flows = [
        scenarios.Flow("video", "real_time", float(rtt), float(kbps) / 4),
        scenarios.Flow("tcp", scheme, float(rtt), tcp=tcp),
    ]
    return scenarios.network(f"CVIHIS beside {variant}", flows, first=(float(kbps), 50))


def real(tree: Tree, *, live: bool) -> Tree:
    """The scenario with the kernel's TCP for connections, and live streams where that is possible."""
    flows = []
    for flow in tree["flows"]:
        if flow.get("scheme") in ("reno", "cubic"):
            flow = {**flow, "kernel": flow["scheme"]}
        elif flow.get("scheme") == "cvihis" and live:
            flow = {**flow, "live": True}
        flows.append(flow)
    return {**tree, "flows": flows}


def _made_real(tree: Callable[[str, Scale], Tree]) -> Callable[[str, Scale], Tree]:
    return lambda variant, scale: real(tree(variant, scale), live=_live())


@cache
def _live() -> bool:
    return live_flows()


def _experiment(
    name: Key, title: str, variants: Iterable[str], tree: Callable[[str, Scale], Tree]
) -> Experiment:
    return Experiment(name, title, tuple(variants), _made_real(tree), extracts.means, seeds=3, weight=0.3)


EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        _experiment(
            Key.FIGURE_3,
            "Figure 3: back-off with three round trips",
            scenarios.FIGURE_3_MS,
            scenarios.figure_3,
        ),
        _experiment(
            Key.FRIENDLINESS,
            "Figure 4: real-time mode against NewReno, 26 tests",
            scenarios.FRIENDLY,
            scenarios.friendliness,
        ),
        _experiment(Key.BESIDE, "§4.3: NewReno and CUBIC as Linux has them", VARIED, varied),
        _experiment(
            Key.BACK_OFF,
            "§4.2: background mode against NewReno, 20 tests",
            scenarios.STABILITY,
            scenarios.back_off,
        ),
        _experiment(
            Key.BIAS, "§4.3: round-trip times of 20 and 200 ms", ("reno", "real_time"), scenarios.bias
        ),
        _experiment(Key.ITSELF, "§4.4: two streams, 30 tests", scenarios.ITSELF, scenarios.itself),
        _experiment(
            Key.MIXED,
            "Figure 7: background against real-time mode, 50 tests",
            scenarios.MIXED,
            scenarios.mixed,
        ),
        _experiment(Key.FOUR, "Figure 6: four streams", ("30",), scenarios.four),
        _experiment(Key.TWO_QUEUES, "Table 2", scenarios.TABLE_2, scenarios.two_queues),
        _experiment(Key.FIGURE_8, "Figure 8: a third stream for a while", ("4000",), scenarios.figure_8),
        _experiment(
            Key.STABILITY, "§4.2: background mode alone, 20 tests", scenarios.STABILITY, scenarios.stability
        ),
        _experiment(Key.ONE_LONGER, "§4.5: one of three with 150 ms", scenarios.LONGER, scenarios.longer),
        _experiment(Key.ALONE, "§5: each mode alone", scenarios.MODES, scenarios.alone),
    )
}

CASES: tuple[tuple[Key, str], ...] = (
    *((Key.FIGURE_3, ms) for ms in scenarios.FIGURE_3_MS),
    *((Key.FRIENDLINESS, f"3000 {ms}") for ms in scenarios.FRIENDLY_MS),
    (Key.BESIDE, "cubic 3000 20"),
    (Key.BESIDE, "linux 3000 20"),
    (Key.BESIDE, "cubic 3000 200"),
    (Key.BESIDE, "linux 3000 200"),
    (Key.BACK_OFF, "3000 50"),
    (Key.BACK_OFF, "4000 100"),
    (Key.ITSELF, scenarios.FIGURE_5),
    (Key.ITSELF, scenarios.WORST),
    (Key.ITSELF, "120 120 4000"),
    (Key.MIXED, "4000 50 10"),
    (Key.MIXED, "4000 50 150"),
    (Key.MIXED, "4000 50 200"),
    (Key.FOUR, "30"),
    (Key.TWO_QUEUES, "2"),
    (Key.TWO_QUEUES, "3"),
    (Key.FIGURE_8, "4000"),
    (Key.STABILITY, "3000 100"),
    *((Key.FRIENDLINESS, f"{kbps} {ms}") for kbps in (2000, 4500) for ms in (20, 200)),
    (Key.BESIDE, "cubic 3000 80"),
    (Key.BESIDE, "linux 3000 80"),
    (Key.BACK_OFF, "2000 50"),
    (Key.BACK_OFF, "4500 10"),
    (Key.BIAS, "reno"),
    (Key.BIAS, "real_time"),
)
"""Cases for ten minutes, the most informative first."""
