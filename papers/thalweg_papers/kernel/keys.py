"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """The two worlds; their variants are the cells of the grid."""

    KERNEL = "kernel"
    SIMULATED = "simulated"
