"""Schemes in the place of CVIHIS: a rate that follows an equation, and two windows."""

from __future__ import annotations

from .._base import Tree
from .._readings import Change
from .._specific import Substitute, Substitutes
from .keys import Key

OWN_SERIES = frozenset({"position", "command", "min_delay", "max_delay", "update", "allowed_rate"})
"""Series that only streams of CVIHIS have."""


def instead(scheme: str) -> Change:
    """Flows of CVIHIS have this scheme, with its defaults, whichever mode they were in."""

    def change(tree: Tree) -> None:
        own = [flow for flow in tree["flows"] if flow["scheme"] == "cvihis"]
        for flow in own:
            flow["scheme"] = scheme
            del flow["params"]
        if own:
            tree["record"]["series"] = [name for name in tree["record"]["series"] if name not in OWN_SERIES]

    return change


def substitutes() -> Substitutes:
    """The schemes, and the rows that look at what only CVIHIS has."""
    return Substitutes(
        schemes=(
            Substitute("tfrc", "TFRC (RFC 5348), which the paper names beside CVIHIS", instead("tfrc")),
            Substitute("aimd", "a window that adds one and halves, without slow start", instead("aimd")),
            Substitute("reno", "TCP NewReno", instead("reno")),
        ),
        untried={
            Key.RULES: "it looks at the scheme's areas, commands and delays, packet by packet",
            Key.MODES: "other schemes have no modes to change",
            Key.PERSISTENT: "other schemes have no minDelay",
            Key.MILDER: "the steps that are shortened are CVIHIS's",
            "S002-52": "other schemes have no target area",
            "S002-08": "other schemes have no receiver whose clock could matter",
            "S002-09": "the same",
            "S002-21": "it compares the two modes",
            "S002-47": "it compares two ways of pushing minDelay",
        },
    )
