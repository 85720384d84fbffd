"""Readings: passages of the paper that have several readings, and the options, as parameters of the scheme."""

from __future__ import annotations

from .._base import Tree
from .._common import link
from .._readings import Change
from . import scenarios
from .keys import Key
from .profiles import STOCK_TCP

PAPER = (Key.SCENARIOS, Key.GAMMA)
"""The experiments over the topology of Fig. 4."""


def connections(*settings: str) -> Change:
    """Gives all TCP connections some settings of stock ns-2."""
    stock = {name: STOCK_TCP[name] for name in settings}

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if "tcp" in flow:
                flow["tcp"] = {**flow["tcp"], **stock}

    return change


def delay(ms: int) -> Change:
    """R0 – R1 has this delay."""

    def change(tree: Tree) -> None:
        for wire in tree["topology"]["links"]:
            if wire["name"] == "bottleneck":
                wire["delay"] = f"{ms} ms"

    return change


def receivers(count: int) -> Change:
    """The group has so many receivers behind R1."""

    def change(tree: Tree) -> None:
        (group,) = (flow for flow in tree["flows"] if flow["name"] == "mc")
        links = tree["topology"]["links"]
        like = next(wire for wire in links if wire["name"] == "leaf1")
        links[:] = [wire for wire in links if not wire["name"].startswith("leaf")]
        group["to"] = scenarios.members(count)
        kept = {key: like[key] for key in ("rate", "delay", "buffer")}
        links += [link(f"leaf{i}", "r1", node, **kept) for i, node in enumerate(group["to"], 1)]

    return change


def random_traffic(tree: Tree) -> None:
    """A little random traffic between the hosts of the first connection."""
    tree["flows"].append(scenarios.noise("noise", "t1", "u1"))
