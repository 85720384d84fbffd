"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Every experiment by name: what scenarios, measures and figures are joined by."""

    RULES = "rules"
    STABILITY = "stability"
    BACK_OFF = "back-off"
    FIGURE_3 = "figure 3"
    FRIENDLINESS = "friendliness"
    TCP_VARIANTS = "tcp variants"
    BIAS = "bias"
    ALONE = "alone"
    ITSELF = "itself"
    FOUR = "four"
    FOUR_AT_ONCE = "four at once"
    MIXED = "mixed"
    MILDER = "milder"
    TWO_QUEUES = "two queues"
    FIGURE_8 = "figure 8"
    ONE_LONGER = "one longer"
    PLACE = "place"
    ROUTES = "routes"
    PERSISTENT = "persistent"
    CLOCKS = "clocks"
    MODES = "modes"
    BESIDE = "beside"
