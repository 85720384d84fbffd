"""Named data compared: consumers and shapers of the literature on a dumbbell, a parking lot and a tree with stores."""

from __future__ import annotations

from .._base import call_loader, mapping_loader
from .._study import Study

STUDY = Study(
    name="named-data",
    title="Congestion control for named data: twenty-one schemes on three networks",
    experiments=mapping_loader(__name__, "EXPERIMENTS", "experiments"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=mapping_loader(__name__, "CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""A comparison of our own; no paper has it."""
