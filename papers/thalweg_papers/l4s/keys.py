"""Keys of the experiments."""

from __future__ import annotations

from .._base import ExperimentKey


class Key(ExperimentKey):
    """Two flows behind DualPI2: the pairs of a published testbed, and the matrix of rates and round-trip times."""

    TESTBED = "testbed"
    MATRIX = "matrix"
