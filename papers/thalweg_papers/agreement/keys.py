"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Every experiment by name: the kinds of flows."""

    NEWRENO = "newreno"
    CUBIC = "cubic"
    CVIHIS = "cvihis"
    BBR = "bbr"
    CVIHIS_ALONE = "cvihis alone"
    QUINN = "quinn"
    NOQ = "noq"
