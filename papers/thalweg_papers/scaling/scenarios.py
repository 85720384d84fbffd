"""Variations: the path to the controller, its failures, and the network; as trees of scenario files."""

from __future__ import annotations

import math
import random
from typing import Any

from .._base import Scale, Tree
from .._common import custom, link, recording
from ..ndnsieve.scenarios import (
    BUFFER,
    CONSUMER,
    DATA,
    JITTER,
    PERIOD_S,
    SETUPS,
    SchemeSetup,
    wires,
    with_links,
)
from . import networks

CHOICES: dict[str, str] = {
    "schemes": "ndnSieve in both profiles of its paper's reproduction, literal and calibrated; PCON after its "
    "authors' release; CoopCon and FleCom as reconstructions.",
    "controller": "Scenario 3 of the paper, three consumers and a way round, over 30 s; measured from 5 s on. Delay is "
    "that of each control link, one way; loss is that of each message, statuses, signals, commands and "
    "acknowledgements alike.",
    "death": "The same scenario, where the third consumer comes at 10 s. The controller dies at 4 s, before that, "
    "and comes back without memory at 20 s, or not.",
    "networks": "Generated: Barabási and Albert's, where a new router joins two others by preference, and Waxman's, "
    "four links a router by distance. The Internet Topology Zoo asks to be cited and grants no licence to "
    'pass its files on; a file of it can be run with topology.kind = "graphml".',
    "routers": "10, 50 and 200, with as many consumers and a fifth as many producers, each at a random router; "
    "all links of consumers and between routers have 10 Mbit/s, producers' 100. Each consumer has content "
    "of its own under one of the producers' prefixes. 10 s, two seeds over the same network.",
    "operations": "Two ways to count. Equation (6): 3 for each port of a router and period, 1 for each signal. By "
    "packet: what a scheme's parts do in routers, one for each quantity that is computed or compared to "
    "find congestion or to act on it, each mark set, each share changed; tables, queues and carrying "
    "marks on are none. The controller's are those of equations (7) and (8).",
}

FAR_MS = (0, 10, 50, 100, 200, 500, 900)
LOSSES = (0, 10, 30, 50, 70, 90)
"""Percent of control messages."""
PROFILES = ("calibrated", "literal")
FAR_S = 30.0
FROM_S = 5.0
"""When what is said of a run begins."""

FAR_VARIANTS = tuple(f"{setup}: {ms}" for setup in PROFILES for ms in FAR_MS)
DEAF_VARIANTS = tuple(f"{setup}: {percent}" for setup in PROFILES for percent in LOSSES)


def _controlled(setup: SchemeSetup, title: str, wire: Tree, starts_s: tuple[float, ...] = (0, 1, 2)) -> Tree:
    tree = with_links(setup, title, FAR_S, wires("three flows"), {i: f"p{i}" for i in (1, 2, 3)}, starts_s)
    tree["record"] = recording("100 ms", "throughput", events=True)
    if setup.app:
        tree["sdn"]["link"] = wire
    return tree


def far(variant: str, _scale: Scale) -> Tree:
    """`PROFILE: DELAY`, in ms."""
    setup, _, ms = variant.partition(": ")
    return _controlled(
        SETUPS[setup], f"A far controller: {SETUPS[setup].label}, {ms} ms", {"delay": f"{ms} ms"}
    )


def deaf(variant: str, _scale: Scale) -> Tree:
    """`PROFILE: LOSS`, in percent."""
    setup, _, percent = variant.partition(": ")
    wire = {"delay": "10 ms", "loss": int(percent) / 100}
    return _controlled(SETUPS[setup], f"A deaf controller: {SETUPS[setup].label}, {percent} %", wire)


# --- death -----------------------------------------------------------------------------------------------------------

DIES_S, BACK_S, JOINS_S = 4.0, 20.0, 10.0
LIVES = ("lives", "dies", "comes back", "PCON")
DEATH_VARIANTS = tuple(f"{setup}: {life}" for setup in PROFILES for life in LIVES)


def death(variant: str, _scale: Scale) -> Tree:
    """`PROFILE: LIFE`; PCON has no controller, and is the same beside both."""
    name, _, life = variant.partition(": ")
    setup = SETUPS["pcon"] if life == "PCON" else SETUPS[name]
    tree = _controlled(setup, f"A controller that {life}: {setup.label}", {"delay": "10 ms"}, (0, 1, JOINS_S))
    ends = {"lives": (), "PCON": (), "dies": (DIES_S,), "comes back": (DIES_S, BACK_S)}[life]
    actions = [
        {"at": f"{at:g} s", "node": "controller", "action": action}
        for at, action in zip(ends, ("stop", "start"), strict=False)
    ]
    if actions:
        tree["events"] = actions
    return tree


# --- many routers ----------------------------------------------------------------------------------------------------

SIZES = (10, 50, 200)
FAMILIES = {"preference": "Barabási–Albert", "distance": "Waxman"}
SIZE_S = 10.0
GRAPH_SEED = 5
SIZE_VARIANTS = tuple(
    f"{family}, {count}: {setup}" for family in FAMILIES for count in SIZES for setup in SETUPS
)


def routers(family: str, count: int) -> list[Tree]:
    """The links between routers."""
    draw = random.Random(GRAPH_SEED + 1)
    if family == "preference":
        edges = networks.preferred(count, 2, GRAPH_SEED)
        delays = [float(draw.randint(1, 10)) for _ in edges]
    else:
        edges, places = networks.near(count, 4.0, GRAPH_SEED)
        # 20 ms from one side of the square to the other
        delays = [1.0 + 19.0 * math.dist(places[a], places[b]) for a, b in edges]
    return [
        link(f"r{a}-r{b}", f"r{a}", f"r{b}", rate="10 Mbit/s", delay=f"{ms:.3f} ms", buffer=BUFFER)
        for (a, b), ms in zip(edges, delays, strict=True)
    ]


def size(variant: str, scale: Scale) -> Tree:
    """`FAMILY, COUNT: SCHEME`."""
    family, _, rest = variant.partition(", ")
    number, _, name = rest.partition(": ")
    count, setup = int(number), SETUPS[name]
    draw = random.Random(GRAPH_SEED + 2)
    links = routers(family, count)
    producers = max(2, count // 5)

    def host(name: str, mbps: int) -> None:
        at = f"r{draw.randrange(count)}"
        ends = (name, at) if name.startswith("c") else (at, name)
        links.append(link(name, *ends, rate=f"{mbps} Mbit/s", delay="1 ms", buffer=BUFFER))

    for i in range(producers):
        host(f"p{i}", 100)
    flows: list[Tree] = []
    for i in range(count):
        host(f"c{i}", 10)
        flow: dict[str, Any] = {
            "name": f"C{i}",
            "network": "ndn",
            "scheme": setup.scheme,
            "from": f"c{i}",
            "prefix": f"/{i % producers}/{i}",
            "start_spread": "1 s",
            "consumer": {**CONSUMER, "jitter": JITTER},
        }
        if setup.params:
            flow["params"] = setup.params
        flows.append(flow)
    served = [{"prefix": f"/{i}", "node": f"p{i}", **DATA} for i in range(producers)]
    control = (
        {"sdn": {**setup.app, "period": f"{PERIOD_S:g} s", "link": {"delay": "10 ms"}}} if setup.app else {}
    )
    title = f"{count} routers by {family}: {setup.label}"
    return custom(title, scale.seconds(SIZE_S), links, flows, ndn=setup.ndn, producers=served, **control)
