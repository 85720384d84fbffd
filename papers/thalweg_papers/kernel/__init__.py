"""Queues and TCPs of this library and of ns-3 beside those of a Linux kernel that runs in virtual time."""

from __future__ import annotations

from .._base import call_loader, mapping_loader
from .._study import Study

STUDY = Study(
    name="kernel",
    title="Queues and TCPs beside those of the Linux kernel",
    experiments=mapping_loader(__name__, "EXPERIMENTS", "experiments"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=mapping_loader(__name__, "CHOICES", "scenarios"),
    quick_factor=1,
)
"""A comparison of our own; no paper has it."""
