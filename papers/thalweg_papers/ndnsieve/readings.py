"""Passages of the paper that have several readings, and the options. Options of ndnSieve change its calibrated profile."""

from __future__ import annotations

from typing import Any

from .._base import Tree
from .._readings import Change
from .abstracts import nearer as nearer
from .keys import Key
from .scenarios import SCENES

SIEVE = "calibrated"
"""The profile that options of ndnSieve change; the literal one has its own rows."""

THREE = (Key.THREE_FLOWS,)
WITH_GRAPHS = (*SCENES, Key.GRAPHS)
WITH_RATES = (*SCENES, Key.RATES)


def sieve(**values: Any) -> Change:
    """A change of ndnSieve's parameters in all its parts."""

    def change(tree: Tree) -> None:
        if tree["ndn"].get("link") != "ndnsieve":
            return
        if tree["ndn"].get("link_params", {}).get("profile", SIEVE) != SIEVE:
            return
        tree["ndn"]["link_params"] = {**tree["ndn"].get("link_params", {}), **values}
        tree["sdn"]["app_params"] = {**tree["sdn"].get("app_params", {}), **values}
        for flow in tree["flows"]:
            flow["params"] = {**flow.get("params", {}), **values}

    return change


def links(scheme: str, **values: Any) -> Change:
    """A change of the parameters of a scheme's part at links."""

    def change(tree: Tree) -> None:
        if tree["ndn"].get("link") == scheme:
            tree["ndn"]["link_params"] = {**tree["ndn"].get("link_params", {}), **values}

    return change


def forwarders(scheme: str, **values: Any) -> Change:
    """A change of the parameters of a scheme's strategy."""

    def change(tree: Tree) -> None:
        if tree["ndn"].get("strategy") == scheme:
            tree["ndn"]["strategy_params"] = {**tree["ndn"].get("strategy_params", {}), **values}

    return change


def consumers(scheme: str, **values: Any) -> Change:
    """A change of the parameters of a scheme's consumers. What a scenario has set stays."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if flow.get("scheme") == scheme:
                flow["params"] = {**values, **flow.get("params", {})}

    return change


def prefixes(count: int) -> Change:
    """Each producer has several prefixes, and its consumer's node a consumer for each."""

    def change(tree: Tree) -> None:
        numbers = range(1, count + 1)
        tree["flows"] = [
            {**flow, "name": f"{flow['name']}-{k}", "group": flow["name"], "prefix": f"{flow['prefix']}/{k}"}
            for flow in tree["flows"]
            for k in numbers
        ]
        tree["producers"] = [
            {**producer, "prefix": f"{producer['prefix']}/{k}"}
            for producer in tree["producers"]
            for k in numbers
        ]

    return change


def control_delay(tree: Tree) -> None:
    """50 ms from a router to the controller, and 50 ms back."""
    if "sdn" in tree:
        tree["sdn"]["link"] = {"delay": "50 ms"}


def signals_every(span: str) -> Change:
    """Routers decide on signals at the end of each period of this length."""

    def change(tree: Tree) -> None:
        if tree["ndn"].get("link") == "ndnsieve" and "sdn" in tree:
            tree["sdn"]["detection"] = span

    return change


def no_jitter(tree: Tree) -> None:
    """Interests leave when they are due."""
    for flow in tree["flows"]:
        flow["consumer"] = {key: value for key, value in flow["consumer"].items() if key != "jitter"}


def lasting(seconds: float) -> Change:
    """Runs of another length."""

    def change(tree: Tree) -> None:
        tree["duration"] = f"{seconds:g} s"

    return change


def falls_to(mbps: float) -> Change:
    """The middle link falls to this rate."""

    def change(tree: Tree) -> None:
        for event in tree.get("events", ()):
            if event.get("link") == "core" and "rate" in event:
                event["rate"] = f"{mbps:g} Mbit/s"

    return change


def third_at_r3(tree: Tree) -> None:
    """The third producer is at R3, where the way round passes."""
    for wire in tree["topology"]["links"]:
        if wire["name"] == "p3":
            wire["ends"] = ["r3", "p3"]
