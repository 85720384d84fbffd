"""Schemes in the place of MIRCC: two other explicit rates, and a window."""

from __future__ import annotations

from .._base import Tree
from .._readings import Change
from .._specific import Substitute, Substitutes
from .keys import Key
from .scenarios import TABLE_1

OWN_SERIES = frozenset({*TABLE_1.values(), "offered_rate"})
"""Series that only MIRCC has, or its like."""


def instead(scheme: str, ndn: Tree) -> Change:
    """Consumers and forwarders of MIRCC have this scheme, with its defaults. Clocks of consumers stay as they are."""

    def change(tree: Tree) -> None:
        if not any(flow.get("scheme") == "mircc" for flow in tree["flows"]):
            return
        tree["ndn"] = dict(ndn)
        tree["record"]["series"] = [name for name in tree["record"]["series"] if name not in OWN_SERIES]
        for flow in tree["flows"]:
            flow["scheme"] = scheme
            flow.pop("params", None)

    return change


def substitutes() -> Substitutes:
    """The schemes, and the rows that look at what only MIRCC has."""
    inside = "it looks at the quantities that the scheme computes"
    return Substitutes(
        schemes=(
            Substitute(
                "hobhis", "HoBHIS, whose routers shape Interests", instead("hobhis", {"link": "hobhis"})
            ),
            Substitute("ecn_rate", "the explicit rates of RCP", instead("ecn_rate", {"link": "ecn_rate"})),
            Substitute("aimd", "a window that adds one and halves", instead("aimd", {})),
        ),
        untried={
            Key.INSPECTION: inside,
            Key.NO_CAP: inside,
            Key.METHODS: "it compares MIRCC with methods of which these are three",
        },
    )
