"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Every experiment by name: what scenarios, measures and figures are joined by."""

    EQUAL_CLOCKS = "equal clocks"
    FINE_CONSUMER_CLOCK = "fine consumer clock"
    GRID = "grid"
    ONE_THING_CHANGED = "one thing changed"
    CLOCK_AND_DEPTH = "clock and depth"
    CLOCK_AND_RTT = "clock and RTT"
    EXACT_CLOCK = "exact clock"
    NO_CAP = "no cap"
    METHODS = "methods"
    NACK_CLOCKS = "NACK clocks"
    C1_ALONE = "C1 alone"
    INSPECTION = "inspection"
    DEPARTURES = "departures"
    BURST = "burst"
    SPACING = "spacing"
