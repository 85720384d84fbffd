"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Every experiment by name: what scenarios, measures and figures are joined by."""

    FAR = "far"
    DEAF = "deaf"
    DEATH = "death"
    SIZE = "size"
