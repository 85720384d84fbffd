"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Every experiment by name: what scenarios, measures and figures are joined by."""

    SCENARIOS = "scenarios"
    GAMMA = "gamma"
    GROUPS = "groups"
    NOISE = "noise"
    NS2 = "ns-2"
    TREE = "tree"
    LARGE_GROUPS = "large groups"
    COST = "cost"
    RATE_UPDATE = "rate update"
    OCCUPANCY_FILTER = "occupancy filter"
    FOLDING = "folding"
    CHILDREN = "children"
    PROBES = "probes"
    RAMP = "ramp"
    SEVERAL_TFMCC = "several TFMCC"
    CONGESTED_ROUTERS = "congested routers"
    LIMITING_RECEIVER = "limiting receiver"
    FEEDBACK_CLASSES = "feedback classes"
    NAK_SUPPRESSION = "NAK suppression"
