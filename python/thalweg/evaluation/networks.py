"""Networks of the batteries. Each function makes the same tree as a scenario file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Tree = dict[str, Any]
"""Keys of a scenario, or of a part of one."""

SERIES = ("rate",)
EVERY_MS = 100
"""Sampling interval of series."""


@dataclass(frozen=True)
class Lab:
    """What all networks of an evaluation have in common."""

    rate_mbps: float = 10.0
    """Rate of a bottleneck where a row names no other."""
    duration_s: float = 60.0
    warmup_s: float = 20.0
    receivers: int = 10_000
    """Receivers of a large group."""
    quick: bool = False
    """Whether rows with many networks have a few of them."""

    @classmethod
    def of(cls, traits: frozenset[str], *, quick: bool) -> Lab:
        """For a scheme with these traits: schemes for media have 1 Mbit/s, as in RFC 8867 §5."""
        rate = 1.0 if "media" in traits else 10.0
        return cls(rate, 30.0, 10.0, 300, quick=True) if quick else cls(rate)

    @property
    def half_s(self) -> float:
        """The middle of a run, at which networks change."""
        return self.duration_s / 2


def packets(rate_mbps: float, rtt_ms: float, bdp: float = 1.0, size: int = 1500) -> int:
    """Packets of a queue that holds so many bandwidth-delay products; at least two."""
    return max(2, round(bdp * rate_mbps * 1e6 * rtt_ms / 1e3 / 8 / size))


def dumbbell(
    lab: Lab,
    flows: Sequence[Tree],
    *,
    rtt_ms: float = 40.0,
    bdp: float = 1.0,
    rate_mbps: float | None = None,
    link: Tree | None = None,
    events: Sequence[Tree] = (),
    series: Sequence[str] = SERIES,
    **keys: Any,
) -> Tree:
    """Flows over one bottleneck, each between hosts of its own; a queue of `bdp` bandwidth-delay products."""
    rate = lab.rate_mbps if rate_mbps is None else rate_mbps
    edge_ms = min(1.0, rtt_ms / 8)
    bottleneck: Tree = {
        "delay": f"{rtt_ms / 2 - 2 * edge_ms:g} ms",
        "buffer": f"{packets(rate, rtt_ms, bdp)} packets",
        **(link or {}),
    }
    if "trace" not in bottleneck:
        bottleneck["rate"] = f"{rate:g} Mbit/s"
    edge = {"rate": f"{max(100.0, 10 * rate):g} Mbit/s", "delay": f"{edge_ms:g} ms"}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck, "edge": edge}
    return scenario(lab, topology, flows, events=events, series=series, **keys)


def scenario(
    lab: Lab,
    topology: Tree,
    flows: Sequence[Tree],
    *,
    events: Sequence[Tree] = (),
    series: Sequence[str] = SERIES,
    **keys: Any,
) -> Tree:
    """A scenario with the duration of the laboratory."""
    tree: Tree = {
        "title": "evaluation",
        "duration": f"{lab.duration_s:g} s",
        "warmup": f"{lab.warmup_s:g} s",
        "topology": topology,
        "flows": list(flows),
        **keys,
    }
    if series:
        tree["record"] = {"every": f"{EVERY_MS} ms", "series": list(series)}
    if events:
        tree["events"] = list(events)
    return tree


def at(seconds: float, link: str = "bottleneck", **change: Any) -> Tree:
    """A change of a link."""
    return {"at": f"{seconds:g} s", "link": link, **change}


def constant(name: str, rate_mbps: float, **keys: Any) -> Tree:
    """A sender without congestion control."""
    return {
        "name": name,
        "source": {"kind": "constant", "rate": f"{rate_mbps:g} Mbit/s"},
        "start_spread": "100 ms",
        **keys,
    }


def custom_link(name: str, first: str, second: str, **keys: Any) -> Tree:
    """A link of a topology that is listed; 100 Mbit/s and 1 ms unless it says otherwise."""
    fast = {"rate": "100 Mbit/s", "delay": "1 ms", "buffer": "1000 packets"}
    return {"name": name, "ends": [first, second], **fast, **keys}


def custom(links: Sequence[Tree]) -> Tree:
    """A topology of listed links."""
    return {"kind": "custom", "links": list(links)}
