"""Named data compared: consumers and shapers of the literature on a dumbbell, a parking lot and a tree with stores."""

from __future__ import annotations

from .._base import Study, called, held

STUDY = Study(
    name="named-data",
    title="Congestion control for named data: fifteen schemes on three networks",
    experiments=held(__name__, "EXPERIMENTS", "experiments"),
    plates=called(__name__, "plates", "figures"),
    choices=held(__name__, "CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""A comparison of our own; no paper has it."""
