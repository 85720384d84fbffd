"""What the tests of the oracle share: the profile of Hypothesis, and how many random scenarios a run takes."""

from __future__ import annotations

import os

from hypothesis import settings

# the same examples in each run, however busy the host is; `--hypothesis-seed` looks for others
settings.register_profile("thalweg", derandomize=True, deadline=None)
settings.load_profile("thalweg")

SLOW = bool(os.environ.get("THALWEG_SLOW"))
"""Whether the tests may take minutes."""
