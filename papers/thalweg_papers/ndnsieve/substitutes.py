"""Schemes in the place of ndnSieve, as its calibrated profile has it: consumers alone, hop by hop, and explicit rates."""

from __future__ import annotations

from .._base import Tree
from .._readings import Change
from .._specific import Substitute, Substitutes
from .keys import Key
from .readings import SIEVE
from .scenarios import SchemeSetup

AIMD = SchemeSetup("consumers alone: a window that adds one and halves", {}, "aimd")
HOBHIS = SchemeSetup("HoBHIS, hop by hop", {"link": "hobhis"}, "hobhis")
MIRCC = SchemeSetup("MIRCC, explicit rates", {"link": "mircc"}, "mircc")


def instead(setup: SchemeSetup) -> Change:
    """The network of ndnSieve's calibrated profile has this scheme, without a controller. Routes are the shortest."""

    def change(tree: Tree) -> None:
        ndn = tree["ndn"]
        if ndn.get("link") != "ndnsieve" or ndn.get("link_params", {}).get("profile", SIEVE) != SIEVE:
            return
        own = ("link", "link_params")
        tree["ndn"] = {**{key: value for key, value in ndn.items() if key not in own}, **setup.ndn}
        tree.pop("sdn", None)
        for flow in tree["flows"]:
            flow["scheme"] = setup.scheme
            flow.pop("params", None)

    return change


def substitutes() -> Substitutes:
    """The schemes, and the rows that look at what only ndnSieve has."""
    return Substitutes(
        schemes=tuple(
            Substitute(setup.scheme, setup.label, instead(setup)) for setup in (AIMD, HOBHIS, MIRCC)
        ),
        untried={
            Key.RATES: "it counts the operations of the controller",
            Key.READINGS: "it is about PCON",
            "S3-07": "other schemes have no controller that moves prefixes",
            "S3-25": "other schemes have no controller that orders a move",
        },
    )
