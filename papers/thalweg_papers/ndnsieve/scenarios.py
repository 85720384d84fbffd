"""The three networks of the paper, and what is varied in them. Each function makes the same tree as a scenario file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._base import Scale, Tree
from .._common import custom, link, recording
from .keys import Key

CHOICES: dict[str, str] = {
    "profiles": "The paper's text does not determine ndnSieve. Two profiles run side by side: literal takes every "
    "sentence as it stands; calibrated was chosen in a model to come near the paper's results, so that its agreement "
    "with them is a fit and no evidence. Rows whose number ends in L judge the literal profile.",
    "others": "PCON follows its authors' release, with BIC and 0.5. CoopCon and FleCom are reconstructions from "
    "abstracts and from what this paper says of them; some of their constants were chosen to fit that.",
    "duration": "20 s, all of which is measured, since the paper gives no duration. Averages of Jain's index are "
    "given for 10 s as well.",
    "data": "1024 bytes of payload are 1100 on the wire; throughput is that of Data on the wire.",
    "queues": "500 packets for each direction of each link, drop-tail.",
    "scenario 3": "The picture is lost. Consumers are at R1, producers at R2, and R1–R3–R2 is the way round, the only "
    "wiring with nine devices, the links that the text names, and two interfaces of R1.",
    "chance": "Interests leave up to 0.1 ms later at random, a ninth of the time of a Data packet. Without it seeds of "
    "the same deterministic scheme would not differ (table `chance` has runs without it).",
    "delay": "From the first Interest for a segment to its Data. Means and deviations are of all segments.",
    "boxes": "Quartiles and the 5th and 95th percentile are of all segments, to a thousandth of their delay.",
    "operations": "Of a node, as equation (6) counts: β, ε and their comparison for each port and period, and each "
    "signal. The calibrated profile's look at a queue every 20 ms is not among them; it is counted with what "
    "the other schemes do for each packet, in the study `scaling`.",
    "other work": "ICP, RAAQM, HIS, HoBHIS and NACK are as their READMEs have them. CHoPCoP, CCTCP and ECP are "
    "reconstructions from their abstracts.",
    "relations": "One scheme is below another where the ranges over all seeds do not overlap; otherwise they are not "
    "told apart, and the relation counts as missed.",
    "loss": "Data that queues dropped because they were full, of 1100 bytes each.",
    "episodes": "Consumers cut again when a loss is noticed after the first Data beyond the recovery point, as those of "
    'ndnSIM 2.8 do (`episode_check = "highest"`).',
}

DATA = {"payload": "1024 B", "data": "1100 B"}
DATA_BITS = 8800.0
MBPS = 10.0
QUEUE_PACKETS = 500
BUFFER = f"{QUEUE_PACKETS} packets"
DURATION_S = 20.0
PERIOD_S = 0.5
EVERY_S = 0.02
JITTER = "100 us"
CONSUMER = {"episode_check": "highest"}
"""Settings of all consumers, as in the simulator of the paper's time."""


@dataclass(frozen=True)
class SchemeSetup:
    """A scheme with its part in forwarders, and its controller."""

    label: str
    ndn: Tree
    scheme: str
    params: Tree = field(default_factory=dict)
    app: Tree = field(default_factory=dict)


def _sieve(profile: str, label: str) -> SchemeSetup:
    chosen = {"profile": profile}
    return SchemeSetup(
        label,
        {"link": "ndnsieve", "link_params": chosen},
        "ndnsieve",
        chosen,
        {"app": "ndnsieve", "app_params": chosen},
    )


def _strategic(
    scheme: str, label: str, params: Tree | None = None, strategy: Tree | None = None
) -> SchemeSetup:
    more = {} if strategy is None else {"strategy_params": strategy}
    return SchemeSetup(label, {"strategy": scheme, "link": scheme, **more}, scheme, params or {})


SETUPS: dict[str, SchemeSetup] = {
    "calibrated": _sieve("calibrated", "ndnSieve, calibrated"),
    "literal": _sieve("literal", "ndnSieve, literal"),
    "pcon": _strategic("pcon", "PCON"),
    "coopcon": _strategic("coopcon", "CoopCon (R)"),
    "flecom": _strategic("flecom", "FleCom (R)"),
}
"""The paper's four schemes, one of them in two profiles; (R): a reconstruction."""

READINGS: dict[str, SchemeSetup] = {
    "BIC, 0.8": _strategic("pcon", "PCON, BIC 0.8", {"beta": 0.8}),
    "AIMD": _strategic("pcon", "PCON, AIMD", {"window": "aimd"}),
    "no shift": _strategic("pcon", "PCON whose forwarders keep their shares", strategy={"change": 0.0}),
    "no cut": _strategic("pcon", "PCON whose windows keep 0.99", {"beta": 0.99}),
}
"""PCON otherwise: other windows, and one of its two reactions switched off."""

SERIES = ("throughput", "delay", "utilisation", "window", "backlog", "queue_marks")

SCENES = (Key.DUMBBELL, Key.TWO_WAYS, Key.THREE_FLOWS)
"""Scenarios 1 to 3."""

CONSUMERS = {"dumbbell": 2, "two ways": 1, "three flows": 3}
STARTS_S = {"dumbbell": (0, 0), "two ways": (0,), "three flows": (0, 1, 2)}


def wire(name: str, near: str, far: str, mbps: float = MBPS, delay: str = "10 ms") -> Tree:
    """A link; `near` is the end towards consumers, so that Data go backward."""
    return link(name, near, far, rate=f"{mbps:g} Mbit/s", delay=delay, buffer=BUFFER)


def wires(scene: str, mbps: float = MBPS) -> list[Tree]:
    """The links of a scenario."""
    access = [wire(f"c{i}", f"c{i}", "r1", mbps) for i in range(1, CONSUMERS[scene] + 1)]
    if scene == "dumbbell":
        inner = [wire("core", "r1", "r2", mbps)]
        return access + inner + [wire(f"p{i}", "r2", f"p{i}", mbps) for i in (1, 2)]
    inner = [wire("260", "r1", "r2", mbps), wire("261", "r1", "r3", mbps)]
    if scene == "two ways":
        return access + inner + [wire("p1", "r2", "p1", mbps), wire("p2", "r3", "p2", mbps)]
    inner.append(wire("back", "r3", "r2", mbps, "15 ms"))
    return access + inner + [wire(f"p{i}", "r2", f"p{i}", mbps, "1 ms") for i in (1, 2, 3)]


def network(scene: str, setup: SchemeSetup, title: str, *, mbps: float = MBPS) -> Tree:
    """A scenario of the paper with a scheme in it."""
    producers = {i: ["p1", "p2"] if scene == "two ways" else f"p{i}" for i in range(1, CONSUMERS[scene] + 1)}
    return with_links(setup, title, DURATION_S, wires(scene, mbps), producers, STARTS_S[scene])


def with_links(
    setup: SchemeSetup,
    title: str,
    duration_s: float,
    links: list[Tree],
    producers: dict[int, Any],
    starts_s: tuple[float, ...],
) -> Tree:
    """Consumers C1 … at the nodes c1 …, each with the producers of its prefix, over these links."""
    flows = [
        {
            "name": f"C{i}",
            "network": "ndn",
            "scheme": setup.scheme,
            "from": f"c{i}",
            "prefix": f"/{i}",
            "start": f"{starts_s[i - 1]:g} s",
            "consumer": {**CONSUMER, "jitter": JITTER},
            **({"params": setup.params} if setup.params else {}),
        }
        for i in producers
    ]
    return custom(
        title,
        duration_s,
        links,
        flows,
        ndn=setup.ndn,
        producers=[{"prefix": f"/{i}", "node": node, **DATA} for i, node in producers.items()],
        record={
            **recording(f"{EVERY_S * 1e3:g} ms", *SERIES, events=bool(setup.app)),
            "distributions": True,
        },
        **({"sdn": {**setup.app, "period": f"{PERIOD_S:g} s"}} if setup.app else {}),
    )


def scene_tree(scene: str) -> Any:
    """The function from a scheme to a scenario of the paper."""

    def tree(variant: str, _scale: Scale) -> Tree:
        setup = SETUPS[variant]
        return network(scene, setup, f"ndnSieve paper, {scene}: {setup.label}")

    return tree


def reading(variant: str, _scale: Scale) -> Tree:
    """`SCENE: READING`."""
    scene, _, name = variant.partition(": ")
    return network(scene, READINGS[name], f"ndnSieve paper, {scene}: {READINGS[name].label}")


def exact(variant: str, _scale: Scale) -> Tree:
    """`SCENE: SCHEME`, with Interests that leave when they are due."""
    scene, _, name = variant.partition(": ")
    tree = network(scene, SETUPS[name], f"ndnSieve paper without chance, {scene}: {SETUPS[name].label}")
    for flow in tree["flows"]:
        flow["consumer"] = dict(CONSUMER)
    return tree


EXACT_VARIANTS = tuple(f"{scene}: {name}" for scene in SCENES for name in SETUPS)
READING_VARIANTS = tuple(f"{scene}: {name}" for scene in SCENES for name in READINGS)

# --- rules and counters ----------------------------------------------------------------------------------------------

SHARE_EVERY_S = 0.001


def share(_variant: str, _scale: Scale) -> Tree:
    """Scenario 2 under PCON, with the share of the first next hop, more often than Data arrive."""
    tree = network("two ways", SETUPS["pcon"], "ndnSieve paper, two ways: the shares of PCON")
    tree["record"] = recording(f"{SHARE_EVERY_S * 1e3:g} ms", "share")
    return tree


RATES = ("10", "20")
"""Mbit/s of all links."""


def rated(variant: str, _scale: Scale) -> Tree:
    """Scenario 1 at another rate, in the calibrated profile."""
    return network(
        "dumbbell", SETUPS["calibrated"], f"ndnSieve counters, links of {variant} Mbit/s", mbps=float(variant)
    )


SIZES = ("2", "20", "200")
"""Routers in dumbbells side by side."""
SIZES_S = 5.0


def side_by_side(variant: str, _scale: Scale) -> Tree:
    """Scenario 1 several times over, each joined to the next by a link that nothing takes."""
    count = int(variant) // 2
    links: list[Tree] = []
    producers: dict[int, Any] = {}
    for k in range(count):
        links += [
            *(wire(f"c{i}", f"c{i}", f"a{k}") for i in (2 * k + 1, 2 * k + 2)),
            wire(f"core{k}", f"a{k}", f"b{k}"),
            *(wire(f"p{i}", f"b{k}", f"p{i}") for i in (2 * k + 1, 2 * k + 2)),
        ]
        producers |= {i: f"p{i}" for i in (2 * k + 1, 2 * k + 2)}
    links += [wire(f"join{k}", f"b{k - 1}", f"a{k}") for k in range(1, count)]
    title = f"ndnSieve counters, {variant} routers"
    tree = with_links(SETUPS["calibrated"], title, SIZES_S, links, producers, (0,) * len(producers))
    tree.pop("record")
    return tree


def lossy(_variant: str, _scale: Scale) -> Tree:
    """Scenario 1 with a core link that loses one packet in a hundred."""
    tree = network("dumbbell", SETUPS["calibrated"], "ndnSieve rules, lost packets")
    for one in tree["topology"]["links"]:
        if one["name"] == "core":
            one["loss"] = 0.01
    return tree
