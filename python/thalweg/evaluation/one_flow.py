"""The network with one flow, which may be of any family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .networks import Lab, Tree, custom, custom_link, dumbbell, scenario
from .subject import Subject

RECEIVERS = 4
"""Of a group that is alone."""


def alone(
    subject: Subject,
    lab: Lab,
    rtt_ms: float,
    link: Tree,
    *,
    events: Sequence[Tree] = (),
    **keys: Any,
) -> Tree:
    """One flow `x` of any family over one bottleneck: to a host, to a group behind it, or from a producer of named data.

    `rtt_ms` is without queueing and serialisation; `keys` are keys of the flow. Data pass the bottleneck forward.
    """
    edge_ms = min(1.0, rtt_ms / 8)
    link = {"delay": f"{rtt_ms / 2 - 2 * edge_ms:g} ms", **link}
    if "unicast" in subject.traits:
        flows = [subject.flow("x", **keys)]
        rate_mbps = float(link["rate"].split()[0])
        return dumbbell(lab, flows, rtt_ms=rtt_ms, rate_mbps=rate_mbps, link=link, events=events, series=[])
    edge = {"rate": "10 Gbit/s", "delay": f"{edge_ms:g} ms"}
    bottleneck = custom_link("bottleneck", "r1", "r2", **link)
    if "multicast" in subject.traits:
        names = [f"m{number}" for number in range(1, RECEIVERS + 1)]
        links = [custom_link("access", "source", "r1", **edge), bottleneck]
        links += [custom_link(name, "r2", name, **edge) for name in names]
        flows = [subject.group("x", "source", list(names), **keys)]
        return scenario(lab, custom(links), flows, events=events, series=[])
    links = [custom_link("p", "p", "r1", **edge), bottleneck, custom_link("c", "r2", "c", **edge)]
    producers = [{"prefix": "/p", "node": "p", "payload": "1174 B", "data": "1250 B"}]
    more: Tree = {"sdn": {"app": subject.scheme}} if subject.scheme == "ndnsieve" else {}
    flows = [subject.consumer("x", "c", "/p", **keys)]
    return scenario(
        lab,
        custom(links),
        flows,
        events=events,
        series=[],
        producers=producers,
        ndn=subject.forwarders(),
        **more,
    )
