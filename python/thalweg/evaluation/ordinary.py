"""A battery of ordinary networks: a flow alone fills the link, and loses little."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from .measures import LOSS, UTILISATION, highest, lowest
from .networks import Lab, Tree, at, packets
from .one_flow import alone
from .rows import Battery, Limit, Row
from .subject import Subject

STEPS = {"": 1.0, "up": 2.0, "down": 0.5}
"""Factor of the rate from the middle of the run on, by its name."""


@dataclass(frozen=True)
class Network:
    """A bottleneck, and what its rate does."""

    rate_mbps: float
    rtt_ms: float
    """Without queueing."""
    bdp: float
    """Of the queue, in bandwidth-delay products before the step; at least two packets."""
    step: str = ""
    """Of `STEPS`."""

    @property
    def name(self) -> str:
        """In words."""
        step = f", {self.step} by a factor of 2" if self.step else ""
        return f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {self.bdp:g} BDP{step}"

    def lab(self, lab: Lab) -> Lab:
        """Long enough for 150 round trips, of which a third are warm-up."""
        duration_s = max(lab.duration_s, 150 * self.rtt_ms / 1e3)
        return replace(lab, duration_s=duration_s, warmup_s=duration_s / 3)

    def tree(self, subject: Subject, lab: Lab, tcp: str) -> Tree:
        """The scenario of a scheme. `tcp` is the key `like` of its TCP; empty for a scheme that does not use TCP."""
        lab = self.lab(lab)
        link = {
            "rate": f"{self.rate_mbps:g} Mbit/s",
            "buffer": f"{packets(self.rate_mbps, self.rtt_ms, self.bdp)} packets",
        }
        rate = f"{self.rate_mbps * STEPS[self.step]:g} Mbit/s"
        events = [at(lab.half_s, rate=rate)] if self.step else []
        keys = {"tcp": {"like": tcp}} if tcp else {}
        return alone(subject, lab, self.rtt_ms, link, events=events, **keys)


NETWORKS = (
    Network(10, 40, 1),
    Network(2, 20, 2),
    Network(5, 100, 2, "down"),
    Network(10, 10, 4, "up"),
    Network(2, 10, 8),
    Network(1, 20, 8),
    Network(1, 100, 1),
    Network(1, 300, 2),
    Network(1, 600, 0.5),
    Network(2, 40, 1, "up"),
    Network(2, 100, 8),
    Network(2, 300, 1, "down"),
    Network(5, 10, 8),
    Network(5, 40, 0.5),
    Network(5, 200, 4),
    Network(5, 600, 1),
    Network(10, 2, 4),
    Network(10, 20, 0.5),
    Network(10, 60, 8),
    Network(10, 100, 4, "down"),
    Network(10, 300, 2),
    Network(20, 5, 2),
    Network(20, 20, 1, "down"),
    Network(20, 40, 4),
    Network(20, 150, 0.5),
    Network(20, 600, 1),
    Network(50, 2, 8),
    Network(50, 10, 1, "up"),
    Network(50, 30, 2),
    Network(50, 80, 0.5, "down"),
    Network(50, 200, 1),
    Network(100, 5, 4),
    Network(100, 20, 0.5),
    Network(100, 50, 4),
    Network(100, 100, 1, "up"),
    Network(200, 2, 2),
    Network(200, 40, 1),
    Network(500, 10, 1, "down"),
    Network(500, 30, 0.5),
    Network(1000, 10, 2),
)
"""Rates from 1 to 1000 Mbit/s, round-trip times from 2 to 600 ms, queues from 0.5 to 8 BDP, ten with a step of the rate.

A quick card has the first four.
"""
QUICK = 4

TCPS = {"standard": "TCP of the RFCs", "linux": "TCP like Linux"}
"""Values of `tcp.like`, and their words."""

USE = Limit("at least 80 % in each network (ours)", low=0.8)
LITTLE = Limit("at most 5 % in each network (ours)", high=0.05)


def _described(networks: tuple[Network, ...]) -> str:
    """`40 networks: 1 to 1000 Mbit/s, 2 to 600 ms, queues of 0.5 to 8 BDP, 10 of them with a step of the rate`."""

    def ends(name: str) -> str:
        values = [getattr(network, name) for network in networks]
        return f"{min(values):g} to {max(values):g}"

    steps = sum(bool(network.step) for network in networks)
    return (
        f"{len(networks)} networks: {ends('rate_mbps')} Mbit/s, {ends('rtt_ms')} ms, queues of {ends('bdp')} BDP, "
        f"{steps or 'none'} of them with half or twice the rate from the middle on"
    )


def networks(lab: Lab) -> tuple[Network, ...]:
    """The networks of a card."""
    return NETWORKS[:QUICK] if lab.quick else NETWORKS


def _cases(tcp: str) -> Callable[[Subject, Lab], dict[str, Tree]]:
    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        over = tcp if "tcp" in subject.traits else ""
        return {network.name: network.tree(subject, lab, over) for network in networks(lab)}

    return cases


def _rows(tcp: str, words: str) -> tuple[Row, Row]:
    traits = frozenset({"endpoint"}) if tcp == "standard" else frozenset({"endpoint", "tcp"})
    what = f"One flow alone, {_described(NETWORKS)} (with --quick {_described(NETWORKS[:QUICK])}); {words}"
    source = "RFC 5166 §2.1, §2.3"
    cases = _cases(tcp)
    return (
        Row(
            f"use-{tcp}",
            f"Use of a link of its own, {words}",
            source,
            f"{what}: lowest utilisation.",
            "share",
            traits,
            cases,
            lowest(UTILISATION),
            USE,
        ),
        Row(
            f"loss-{tcp}",
            f"Loss on a link of its own, {words}",
            source,
            f"{what}: highest loss ratio at the bottleneck.",
            "share",
            traits,
            cases,
            highest(LOSS),
            LITTLE,
        ),
    )


ROWS = tuple(row for tcp, words in TCPS.items() for row in _rows(tcp, words))

BATTERY = Battery(
    "ordinary",
    "Ordinary networks",
    "A flow alone fills the link, and loses little. RFC 5166 names the measures; the limits are ours.",
    ROWS,
    traits=frozenset({"endpoint"}),
)
