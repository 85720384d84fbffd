"""A battery for named data: consumers, caches, several paths and sources."""

from __future__ import annotations

from typing import Any

from .measures import HIGHER, one
from .networks import Lab, Tree, at, custom, custom_link, packets, scenario
from .rows import Battery, NotWorse, Row, Samples
from .subject import Subject

NDN = frozenset({"ndn"})
RATE_MBPS = 10.0
DATA: Tree = {"payload": "1174 B", "data": "1250 B"}
"""Data packets of the comparison in docs/named-data-comparison.md."""
DATA_BYTES = 1250
JITTER = "1 ms"
"""Interests leave with a random delay of up to the time of one Data packet, so that nothing is decided by phase."""
UTILISATION = "link.bottleneck.backward.utilisation"
SERIES = ("rate", "utilisation")
LESS_LOSS = NotWorse("lower", "loss")


def _queue(rate_mbps: float = RATE_MBPS) -> Tree:
    return {"rate": f"{rate_mbps:g} Mbit/s", "buffer": f"{packets(rate_mbps, 60.0, 1.0, DATA_BYTES)} packets"}


def _consumer(subject: Subject, name: str, node: str, prefix: str, **keys: Any) -> Tree:
    consumer = {"jitter": JITTER, **keys.pop("consumer", {})}
    return subject.consumer(name, node, prefix, consumer=consumer, **keys)


def _network(
    subject: Subject,
    lab: Lab,
    links: list[Tree],
    flows: list[Tree],
    producers: list[Tree],
    *,
    ndn: Tree | None = None,
    **keys: Any,
) -> Tree:
    tree = scenario(lab, custom(links), flows, series=SERIES, producers=producers, **keys)
    tree["ndn"] = subject.forwarders(**(ndn or {}))
    if subject.scheme == "ndnsieve":
        tree["sdn"] = {"app": "ndnsieve"}
    return tree


def _dumbbell(
    subject: Subject,
    lab: Lab,
    delays_ms: tuple[float, ...],
    *,
    bottleneck: Tree | None = None,
    others: tuple[Tree, ...] = (),
    **consumer: Any,
) -> Tree:
    """Consumers `c1` … of producers of their own behind one bottleneck; a delay each, of the consumer's link."""
    links = [custom_link("bottleneck", "r1", "r2", delay="10 ms", **{**_queue(), **(bottleneck or {})})]
    flows, producers = [], []
    for number, delay in enumerate(delays_ms, start=1):
        links += [
            custom_link(f"c{number}", f"c{number}", "r1", delay=f"{delay:g} ms"),
            custom_link(f"p{number}", "r2", f"p{number}", delay="5 ms"),
        ]
        producers.append({"prefix": f"/p{number}", "node": f"p{number}", **DATA})
        flows.append(_consumer(subject, f"c{number}", f"c{number}", f"/p{number}", consumer=dict(consumer)))
    return _network(subject, lab, links, [*flows, *others], producers)


def _case(delays_ms: tuple[float, ...], **keys: Any) -> Any:
    return lambda subject, lab: {"dumbbell": _dumbbell(subject, lab, delays_ms, **keys)}


def _caches(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """Consumers of one catalogue behind two levels of stores."""
    links = [
        custom_link("server", "r0", "server", delay="5 ms"),
        custom_link("bottleneck", "r1", "r0", delay="10 ms", **_queue()),
    ]
    links += [
        custom_link(f"c{number}", f"c{number}", "r1", delay="5 ms", **_queue()) for number in range(1, 5)
    ]
    catalogue = {"pattern": "zipf", "contents": 2000, "exponent": 1.0}
    flows = [
        _consumer(subject, f"c{number}", f"c{number}", "/films", consumer=catalogue) for number in range(1, 5)
    ]
    producers = [{"prefix": "/films", "node": "server", **DATA}]
    store = {"store": {"policy": "lru", "size": 500}}
    return {"caches": _network(subject, lab, links, flows, producers, ndn=store)}


def _multipath(subject: Subject, lab: Lab) -> dict[str, Tree]:
    links = [
        custom_link("c", "c", "r1"),
        custom_link("north1", "r1", "r2", delay="10 ms", **_queue(5.0)),
        custom_link("north2", "r2", "r4", delay="5 ms"),
        custom_link("south1", "r1", "r3", delay="12 ms", **_queue(5.0)),
        custom_link("south2", "r3", "r4", delay="5 ms"),
        custom_link("p", "r4", "p"),
    ]
    routes = [
        {"at": "r1", "prefix": "/p", "via": node, "cost": cost} for node, cost in (("r2", 0), ("r3", 1))
    ]
    producers = [{"prefix": "/p", "node": "p", **DATA}]
    flows = [_consumer(subject, "c1", "c", "/p")]
    return {"multipath": _network(subject, lab, links, flows, producers, ndn={"routes": routes})}


def _sources(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """Two consumers in the middle of two producers of the same prefix, one behind a slower link."""
    links = [
        custom_link("c1", "c1", "r1"),
        custom_link("c2", "c2", "r1"),
        custom_link("fast", "r1", "p1", delay="10 ms", **_queue(8.0)),
        custom_link("slow", "r1", "p2", delay="15 ms", **_queue(4.0)),
    ]
    routes = [
        {"at": "r1", "prefix": "/p", "via": node, "cost": cost} for node, cost in (("p1", 0), ("p2", 1))
    ]
    producers = [{"prefix": "/p", "node": ["p1", "p2"], **DATA}]
    catalogue = {"pattern": "zipf", "contents": 100_000, "exponent": 0.1}
    flows = [_consumer(subject, name, name, "/p", consumer=catalogue) for name in ("c1", "c2")]
    return {"sources": _network(subject, lab, links, flows, producers, ndn={"routes": routes})}


def _crowd(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """Twelve consumers more at half time, each of contents of its own."""
    count = 13
    links = [
        custom_link("bottleneck", "r1", "r2", delay="10 ms", **_queue()),
        custom_link("p", "r2", "p", delay="5 ms"),
    ]
    links += [custom_link(f"c{number}", f"c{number}", "r1", delay="5 ms") for number in range(1, count + 1)]
    producers = [{"prefix": f"/p{number}", "node": "p", **DATA} for number in range(1, count + 1)]
    flows = [
        _consumer(
            subject,
            f"c{number}",
            f"c{number}",
            f"/p{number}",
            **({} if number == 1 else {"start": f"{lab.half_s:g} s"}),
        )
        for number in range(1, count + 1)
    ]
    return {"crowd": _network(subject, lab, links, flows, producers)}


def _flood(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """Another consumer asks for three quarters of the capacity of the link, and does not slow down."""
    tree = _dumbbell(subject, lab, (5.0, 5.0))
    flood = tree["flows"][1]
    del flood["scheme"]
    flood.pop("params", None)
    flood["source"] = {"kind": "poisson", "interests": 0.75 * RATE_MBPS * 1e6 / 8 / DATA_BYTES}
    return {"flood": tree}


def _failing(subject: Subject, lab: Lab) -> dict[str, Tree]:
    tree = _multipath(subject, lab)["multipath"]
    tree["events"] = [at(lab.half_s, "north2", up=False)]
    return {"failing": tree}


def _total(runs: Samples, _lab: Lab) -> float:
    return next(iter(runs.values())).value("flows.throughput")


ROWS = (
    Row(
        "utilisation",
        "Uses the capacity that is there",
        "named-data battery",
        "One consumer, 10 Mbit/s, 40 ms, a queue of 60 ms: utilisation by Data.",
        "share",
        NDN,
        _case((5.0,)),
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "delay",
        "Adds little delay",
        "named-data battery",
        "The same network: mean delay from the first Interest for a segment to its Data.",
        "s",
        NDN,
        _case((5.0,)),
        one("flow.c1.delay"),
        NotWorse("lower", "delay"),
    ),
    Row(
        "fairness",
        "Fairness",
        "named-data battery",
        "Four consumers with 40 ms: Jain's index.",
        "index",
        NDN,
        _case((5.0, 5.0, 5.0, 5.0)),
        one("flows.fairness"),
        HIGHER,
    ),
    Row(
        "round-trips",
        "Fairness with different round-trip times",
        "named-data battery",
        "Four consumers with 40, 60, 100 and 160 ms: Jain's index.",
        "index",
        NDN,
        _case((5.0, 15.0, 35.0, 65.0)),
        one("flows.fairness"),
        HIGHER,
    ),
    Row(
        "caches",
        "Caches on the way",
        "named-data battery",
        "Four consumers of one catalogue (Zipf) with stores of 500 Data at all nodes: Data that arrive.",
        "bit/s",
        NDN,
        _caches,
        _total,
        HIGHER,
    ),
    Row(
        "multipath",
        "Several paths",
        "named-data battery",
        "Two paths of 5 Mbit/s to one producer, the scheme's forwarding strategy if it has one: Data that arrive.",
        "bit/s",
        NDN,
        _multipath,
        _total,
        HIGHER,
    ),
    Row(
        "sources",
        "Several sources",
        "named-data battery",
        "Two producers of one prefix behind 8 and 4 Mbit/s, two consumers: Data that arrive.",
        "bit/s",
        NDN,
        _sources,
        _total,
        HIGHER,
    ),
    Row(
        "flash-crowd",
        "A flash crowd",
        "named-data battery",
        "Twelve consumers join one at half time: Data lost at the bottleneck.",
        "share",
        NDN,
        _crowd,
        one("link.bottleneck.backward.loss_ratio"),
        LESS_LOSS,
    ),
    Row(
        "flooding",
        "Interest flooding",
        "named-data battery",
        "A consumer without control asks for three quarters of the capacity: Data that arrive at the other.",
        "bit/s",
        NDN,
        _flood,
        one("flow.c1.active_throughput"),
        HIGHER,
    ),
    Row(
        "coarse-clock",
        "A coarse clock",
        "named-data battery",
        "One consumer whose Interests leave at multiples of 10 ms: utilisation by Data.",
        "share",
        NDN,
        _case((5.0,), tick="10 ms"),
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "random-loss",
        "Random loss",
        "named-data battery",
        "One consumer, 1 % of Interests and of Data are lost at random: utilisation by Data.",
        "share",
        NDN,
        _case((5.0,), bottleneck={"loss": 0.01}),
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "failing-link",
        "A failing link",
        "named-data battery",
        "The first of two paths fails behind the next node at half time: Data that arrive.",
        "bit/s",
        NDN,
        _failing,
        _total,
        HIGHER,
    ),
)

BATTERY = Battery(
    "named-data",
    "Named data",
    "No document has test cases for congestion control of named data; these are the questions that its papers ask. Bands "
    "are what the reference schemes get as windows of consumers, without a part in forwarders.",
    ROWS,
    traits=NDN,
)
