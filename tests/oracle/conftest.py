"""The profile of Hypothesis for the tests of the oracle."""

from __future__ import annotations

from hypothesis import settings

# the same examples in each run, however busy the host is; `--hypothesis-seed` looks for others
settings.register_profile("thalweg", derandomize=True, deadline=None)
settings.load_profile("thalweg")
