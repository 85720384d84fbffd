"""Claims of abstracts: CoopCon and FleCom over PCON, CCTCP over ICP and AIMD. Scenarios, samples, measures.

Those of CoopCon and FleCom speak of a topology of BRITE and give no parameters. Here: routers on a square that join one
after the other, each with two links, to others by degree, as BRITE's model of Barabási and Albert; five such graphs take
the place of seeds.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._base import Measured, Quantity, Sample, Samples, Scale, Tree, measure
from .._common import custom
from .keys import Key
from .scenarios import CONSUMER, DATA, DURATION_S, JITTER, SETUPS, wire

ROUTERS = 50
JOINS = 2
"""Links of a router that joins."""
ACROSS_MS = 20.0
"""Delay along a side of the square; a millisecond at least."""
PAIRS = 10
"""Consumers, each with a producer of its own; all of them at different routers."""
SPREAD = "1 s"
GRAPHS = 5
SCHEMES = ("pcon", "coopcon", "flecom")
STORE = {"policy": "lru", "size": 1000}
CATALOGUE = {"pattern": "zipf", "contents": 200, "segments": 50, "exponent": 1.0}
"""With content stores consumers ask for contents by popularity; five ask for each of two catalogues."""
CATALOGUES = 2

VARIANTS = tuple(
    f"{setup}, {where} {graph}"
    for setup in SCHEMES
    for where in ("graph", "stores")
    for graph in range(1, GRAPHS + 1)
)


@dataclass(frozen=True)
class Graph:
    """Routers by number, on a square of side 1, and their links."""

    places: list[tuple[float, float]]
    links: list[tuple[int, int]]
    ends: list[int]
    """Routers with consumers, then those with producers."""


def graph(number: int) -> Graph:
    """One of the graphs: always the same for the same number."""
    chance = random.Random(number)
    places = [(chance.random(), chance.random()) for _ in range(ROUTERS)]
    links = [(0, 1), (0, 2), (1, 2)]
    for new in range(3, ROUTERS):
        # a router is listed as often as it has links
        ends = [end for link in links for end in link]
        others: list[int] = []
        while len(others) < JOINS:
            other = chance.choice(ends)
            if other not in others:
                others.append(other)
        links += [(other, new) for other in others]
    return Graph(places, links, chance.sample(range(ROUTERS), 2 * PAIRS))


def tree(variant: str, _scale: Scale) -> Tree:
    """`SCHEME, graph NUMBER`, or with content stores `SCHEME, stores NUMBER`."""
    name, _, rest = variant.partition(", ")
    where, _, number = rest.partition(" ")
    setup, topology, stores = SETUPS[name], graph(int(number)), where == "stores"
    wires = [
        wire(f"{a}-{b}", f"r{a}", f"r{b}", delay=f"{_delay_ms(topology, a, b):.3f} ms")
        for a, b in topology.links
    ]
    sources = CATALOGUES if stores else PAIRS
    flows = [
        {
            "name": f"C{i + 1}",
            "network": "ndn",
            "scheme": setup.scheme,
            "from": f"r{topology.ends[i]}",
            "prefix": f"/{i % sources + 1}",
            "start_spread": SPREAD,
            "consumer": {**CONSUMER, "jitter": JITTER, **(CATALOGUE if stores else {})},
        }
        for i in range(PAIRS)
    ]
    producers = [
        {"prefix": f"/{k + 1}", "node": f"r{topology.ends[PAIRS + k]}", **DATA} for k in range(sources)
    ]
    return custom(
        f"ndnSieve paper, abstracts: {variant}",
        DURATION_S,
        wires,
        flows,
        ndn={**setup.ndn, **({"store": STORE} if stores else {})},
        producers=producers,
    )


def nearer(tree: Tree) -> None:
    """Keeps only next hops that are nearer to the producer, so that no Interest takes a detour."""
    near: dict[str, dict[str, float]] = {}
    for link in tree["topology"]["links"]:
        for one, other in (link["ends"], reversed(link["ends"])):
            near.setdefault(one, {})[other] = float(link["delay"].split()[0])
    tree["ndn"]["routes"] = [
        {"at": node, "prefix": producer["prefix"], "via": hop, "cost": round(1e3 * (delay + away[hop]))}
        for producer in tree["producers"]
        for away in (_distances(near, producer["node"]),)
        for node in near
        for hop, delay in near[node].items()
        if away[hop] < away[node]
    ]


def _distances(near: Mapping[str, Mapping[str, float]], start: str) -> dict[str, float]:
    """Delays of the shortest paths to a node, in ms, by node."""
    away: dict[str, float] = {}
    known = [(0.0, start)]
    while known:
        delay, node = heapq.heappop(known)
        if node not in away:
            away[node] = delay
            for other, more in near[node].items():
                heapq.heappush(known, (delay + more, other))
    return away


def _delay_ms(topology: Graph, a: int, b: int) -> float:
    return max(1.0, ACROSS_MS * math.dist(topology.places[a], topology.places[b]))


def kept(result: Any, _variant: str, _scale: Scale) -> Sample:
    """All consumers' throughput together."""
    return {"mbps": sum(row["active_throughput_bps"] for row in result.flows.to_dicts()) / 1e6}


def _totals(samples: Samples, setup: str, where: str) -> Quantity:
    cases = [samples[Key.GRAPHS, f"{setup}, {where} {number}"] for number in range(1, GRAPHS + 1)]
    means = tuple(sum(run["mbps"] for run in runs) / len(runs) for runs in cases)
    return Quantity(means, "Mbit/s")


def _over_pcon(setup: str, where: str) -> Any:
    """Total of a scheme over PCON's, graph by graph."""

    def found(samples: Samples) -> Measured:
        ours, pcon = (_totals(samples, one, where) for one in (setup, "pcon"))
        return {
            "ratio": Quantity(tuple(a / b for a, b in zip(ours.values, pcon.values, strict=True))),
            setup: ours,
            "pcon": pcon,
        }

    return found


coopcon = measure(Key.GRAPHS)(_over_pcon("coopcon", "graph"))
flecom = measure(Key.GRAPHS)(_over_pcon("flecom", "graph"))
flecom_with_stores = measure(Key.GRAPHS)(_over_pcon("flecom", "stores"))


# --- CCTCP: chunks of one content in several places --------------------------------------------------------------------

PLACED = ("cctcp", "icp", "aimd")
CHUNKS, DRAWS_PER_S, BEFORE_S, FROM_S, TO_S = 25_000, 1250.0, 14.0, 20.0, 40.0
"""Another consumer draws chunks first, so that the next node stores a half of them: 1 − exp(−14·1250/25 000) = 0.50."""


def places(variant: str, _scale: Scale) -> Tree:
    """Half of the chunks 20 ms away, all of them 200 ms away."""
    links = [
        wire("access", "c", "near", delay="10 ms"),
        wire("core", "near", "origin", 100.0, "90 ms"),
        wire("first", "w", "near", 100.0, "1 ms"),
    ]
    first: Tree = {
        "name": "first",
        "network": "ndn",
        "source": {"kind": "constant", "interests": DRAWS_PER_S},
        "from": "w",
        "prefix": "/1",
        "consumer": {"pattern": "zipf", "contents": CHUNKS, "exponent": 0.0},
        "stop": f"{BEFORE_S:g} s",
    }
    second: Tree = {
        "name": "C1",
        "network": "ndn",
        "scheme": variant,
        "from": "c",
        "prefix": "/1",
        "consumer": {"jitter": JITTER},
        "start": f"{FROM_S - 2:g} s",
    }
    return custom(
        f"ndnSieve paper, abstracts: {variant}, chunks in two places",
        TO_S,
        links,
        [first, second],
        warmup=f"{FROM_S:g} s",
        ndn={"link": "cctcp", "stores": [{"node": "near", "policy": "lru", "size": 2 * CHUNKS}]},
        producers=[{"prefix": "/1", "node": "origin", **DATA}],
    )


def placed(result: Any, _variant: str, _scale: Scale) -> Sample:
    """The second consumer's throughput."""
    return {
        "mbps": next(row["active_throughput_bps"] for row in result.flows.to_dicts() if row["flow"] == "C1")
        / 1e6
    }


@measure(Key.PLACES)
def cctcp(samples: Samples) -> Measured:
    """CCTCP over ICP and over AIMD, each of which has one timer, with chunks in two places."""
    found = {
        setup: Quantity(tuple(float(run["mbps"]) for run in samples[Key.PLACES, setup]), "Mbit/s")
        for setup in PLACED
    }

    def over(other: str) -> Quantity:
        pairs = zip(found["cctcp"].values, found[other].values, strict=True)
        return Quantity(tuple(a / b for a, b in pairs))

    return {"over_aimd": over("aimd"), "over_icp": over("icp"), **found}
