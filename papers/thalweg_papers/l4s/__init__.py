"""DualPI2 and Prague beside published results: rates of two flows, delay and loss of the L4S queue."""

from __future__ import annotations

from .._base import call_loader, mapping_loader
from .._study import Study

STUDY = Study(
    name="l4s",
    title="DualPI2 and Prague beside published results",
    experiments=mapping_loader(__name__, "EXPERIMENTS", "experiments"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=mapping_loader(__name__, "CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""A comparison of our own; no paper has it."""
