"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Every experiment by name: what scenarios, measures and figures are joined by."""

    DUMBBELL = "dumbbell"
    TWO_WAYS = "two ways"
    THREE_FLOWS = "three flows"
    READINGS = "readings"
    EXACT = "exact"
    STEP = "step"
    PATHS = "paths"
    LOAD = "load"
    PLACES = "places"
    ONE_PATH = "one path"
    RATES = "rates"
    SIZES = "sizes"
    LOST_PACKETS = "lost packets"
    GRAPHS = "graphs"
    SHARE = "share"
