"""Readings: passages of the paper that have several readings, and the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._base import Tree
from .._readings import Change, parameters
from . import scenarios
from .keys import Key

LONGER_S = 240.0
"""Duration of the connection in the longer tests of §4.2."""

VARIED = (Key.FRIENDLINESS, Key.ITSELF)
"""Experiments of which the paper says that starting rates varied."""

JITTERED = tuple(
    key for key in Key if key not in (Key.RULES, Key.MODES, Key.CLOCKS, Key.PERSISTENT, Key.BESIDE)
)
"""Experiments that measure rates, of which packets' times can be a chance."""

NOISE = 0.02
"""Share of the capacity that random traffic has, where there is any."""


def _bottleneck(tree: Tree) -> Tree:
    first: Tree
    (first,) = (wire for wire in tree["topology"]["links"] if wire["name"] == "first")
    return first


def _kbps(tree: Tree) -> float:
    return float(_bottleneck(tree)["rate"].split()[0])


def start(part: float) -> Change:
    """Streams start at this part of the first link's capacity."""

    def change(tree: Tree) -> None:
        parameters("cvihis", initial_rate=f"{_kbps(tree) * part:g} kbit/s")(tree)

    return change


def background(**values: Any) -> Change:
    """A change of parameters in flows that are in background mode, at first or later."""

    def change(tree: Tree) -> None:
        switched = {event["flow"] for event in tree.get("events", ()) if event.get("action") == "mode"}
        for flow in tree["flows"]:
            params = flow.get("params", {})
            if params.get("mode") == "background" or flow["name"] in switched:
                flow["params"] = {**values, **params}

    return change


def connection(tcp: Mapping[str, Any], **values: Any) -> Change:
    """A change of settings of TCP and of parameters in NewReno connections."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if flow["scheme"] == "reno":
                flow["tcp"] = {**flow["tcp"], **tcp}
                flow["params"] = {**flow["params"], **values}

    return change


def random_traffic(tree: Tree) -> None:
    """A little Poisson traffic between the hosts of the connection."""
    ends = {"from": "s-tcp", "to": "d-tcp"}
    source = {"kind": "poisson", "rate": f"{NOISE * _kbps(tree):g} kbit/s"}
    tree["flows"].append({"name": "noise", "packet": "500 B", "source": source, **ends})


def jitter(by: str) -> Change:
    """Packets arrive at receivers later or earlier by up to this time, at random and in order."""

    def change(tree: Tree) -> None:
        for wire in tree["topology"]["links"]:
            if wire["name"].startswith("out"):
                wire["impair"] = {"jitter": by, "keep_order": True}

    return change


def packets(size: str) -> Change:
    """Streams have packets of this size; connections keep theirs."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if flow["scheme"] == "cvihis":
                flow["packet"] = size

    return change


def longer(tree: Tree) -> None:
    """The connection stays for 240 s, and the run ends 130 s after it, as before."""
    more = LONGER_S - (scenarios.TCP_S[1] - scenarios.TCP_S[0])
    for flow in tree["flows"]:
        if flow["name"] == "tcp":
            flow["stop"] = f"{scenarios.TCP_S[1] + more:g} s"
    tree["duration"] = f"{float(tree['duration'].split()[0]) + more:g} s"


def only_forward(tree: Tree) -> None:
    """Of the stream with 150 ms one way the way back takes 50 ms, as for the others."""
    for wire in tree["topology"]["links"]:
        if wire["delay"] == "75 ms":
            wire["backward"] = {"delay": "25 ms"}


def trip(ms: float) -> Change:
    """All round trips are of this length."""

    def change(tree: Tree) -> None:
        for wire in tree["topology"]["links"]:
            if wire["name"].startswith(("in-", "out-")):
                wire["delay"] = f"{ms / 4:g} ms"

    return change


def trip_of_200_ms(tree: Tree) -> None:
    """The connection's round trip is 200 ms, whatever the stream's."""
    for wire in tree["topology"]["links"]:
        if wire["name"] in ("in-tcp", "out-tcp"):
            wire["delay"] = "50 ms"


def twice_as_long(tree: Tree) -> None:
    """All of the run, and when flows come and go, in twice the time."""
    for part, keys in ((tree, ("duration",)), *((flow, ("start", "stop")) for flow in tree["flows"])):
        for key in keys:
            if key in part:
                part[key] = f"{2 * float(part[key].split()[0]):g} s"


def unequal_pairs(kbps: int, queue: int) -> Change:
    """Another capacity and queue for pairs of streams with different round trips."""

    def change(tree: Tree) -> None:
        delays = {wire["delay"] for wire in tree["topology"]["links"] if wire["name"].startswith("in-")}
        if len(delays) == 1:
            return
        for flow, part in zip(tree["flows"], (1 / 4, 1 / 2), strict=True):
            flow["params"] = {**flow["params"], "initial_rate": f"{kbps * part:g} kbit/s"}
        _bottleneck(tree).update(rate=f"{kbps} kbit/s", buffer=f"{queue} packets")

    return change


def two_links(first_kbps: int, second_kbps: int) -> Change:
    """Other capacities of the two links that can be slow."""

    def change(tree: Tree) -> None:
        rates = {"first": first_kbps, "second": second_kbps}
        for wire in tree["topology"]["links"]:
            if wire["name"] in rates:
                wire["rate"] = f"{rates[wire['name']]} kbit/s"
        parameters("cvihis", initial_rate=f"{first_kbps / 4:g} kbit/s")(tree)

    return change


def connections_congest(tree: Tree) -> None:
    """NewReno connections keep the queue, not streams."""
    for i, flow in enumerate(tree["flows"]):
        if flow["name"] != "late":
            tree["flows"][i] = scenarios.Flow(flow["name"], "reno", 60).tree()
