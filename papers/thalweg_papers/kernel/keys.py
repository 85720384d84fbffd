"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Where the cells are run; their variants are the cells of the grid."""

    KERNEL = "kernel"
    NS3 = "ns3"
    SIMULATED = "simulated"
