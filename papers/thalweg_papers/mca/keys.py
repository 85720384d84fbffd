"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Every experiment by name: what scenarios, measures and figures are joined by."""

    ONE_BOTTLENECK = "one bottleneck"
    CHAIN = "chain"
    STAR = "star"
    ONE_BRANCH = "one branch"
    TRACKING = "tracking"
    DYNAMIC_TREE = "dynamic tree"
    ONE_QUEUE = "one queue"
    CHANGED_PATH = "changed path"
    DRIFT = "drift"
    EQUAL_BRANCHES = "equal branches"
    ABSENCE = "absence"
    BURSTS = "bursts"
    SILENCE = "silence"
    FLUID_LIMIT = "fluid limit"
    PACED_FLOWS = "paced flows"
    TRADE_OFF = "trade-off"
    COMPANY = "company"
    SOLITUDE = "solitude"
    CONSTANT_COST = "constant cost"
