"""Readings: passages of the paper that have several readings, and the options."""

from __future__ import annotations

from typing import Any

from .._base import Tree
from .._readings import Change, parameters


def scheme(**values: Any) -> Change:
    """Other parameters of all flows of the scheme. What an experiment varies stays."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if flow.get("scheme") == "mca":
                flow["params"] = {**values, **flow.get("params", {})}

    return change


def out_of_band(tree: Tree) -> None:
    """Control packets are separate packets, in a class of their own on each link."""
    parameters("mca", control="out_of_band")(tree)
    for link in tree["topology"]["links"]:
        link["classes"] = [1, 1]


def access_delay(delay: str) -> Change:
    """The links of the sources have this delay."""

    def change(tree: Tree) -> None:
        for link in tree["topology"]["links"]:
            if link["name"].startswith("access"):
                link["delay"] = delay

    return change


def start_spread(span: str) -> Change:
    """Flows that start together start within this span."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            flow["start_spread"] = span

    return change


def buffer(packets: int) -> Change:
    """Bottlenecks of the lossless situation hold this many packets; those of the lossy one keep theirs."""

    def change(tree: Tree) -> None:
        for link in tree["topology"]["links"]:
            if link["buffer"] == "200 packets":
                link["buffer"] = f"{packets} packets"

    return change


def slower_link_1(tree: Tree) -> None:
    """Link 1 has 0.8 Mbit/s, and residues are carried over."""
    parameters("mca", early="residue")(tree)
    for link in tree["topology"]["links"]:
        if link["name"] == "link1":
            link["rate"] = "0.8 Mbit/s"
