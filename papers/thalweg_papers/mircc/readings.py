"""Readings: passages of the paper that have several readings, and the options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base import Tree
from .._readings import Change
from .keys import Key

FIGURES = (Key.EQUAL_CLOCKS, Key.FINE_CONSUMER_CLOCK)
"""The experiments of the paper."""

RESULTS = (
    *FIGURES,
    Key.GRID,
    Key.ONE_THING_CHANGED,
    Key.CLOCK_AND_DEPTH,
    Key.CLOCK_AND_RTT,
    Key.C1_ALONE,
)
"""These, and the experiments that vary one of their settings; the rules of §2 and §3 are tested in other ones."""


def parameters(**values: Any) -> Change:
    """A change of the scheme's parameters in all forwarders."""

    def change(tree: Tree) -> None:
        tree["ndn"]["link_params"].update(values)

    return change


def consumers(without: Sequence[str] = (), **values: Any) -> Change:
    """A change of settings of all consumers, without some of them."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            settings = {**flow["consumer"], **values}
            flow["consumer"] = {key: value for key, value in settings.items() if key not in without}

    return change
