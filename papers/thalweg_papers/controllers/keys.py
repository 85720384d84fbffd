"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Every experiment by name: the algorithms."""

    CUBIC = "cubic"
    NEWRENO = "newreno"
    BBR = "bbr"
