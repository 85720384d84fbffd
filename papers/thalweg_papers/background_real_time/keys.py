"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Every experiment by name: what scenarios, measures and figures are joined by."""

    ALONE = "alone"
    BESIDE_TCP = "beside TCP"
    LATECOMER = "latecomer"
    ROUTE = "route"
    DRIFT = "drift"
