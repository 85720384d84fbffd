"""The same controller in several stacks: CUBIC, NewReno and BBR of QUIC stacks and of this library."""

from __future__ import annotations

from .._base import Study, call_loader, mapping_loader

STUDY = Study(
    name="controllers",
    title="One controller, many stacks: CUBIC, NewReno and BBR on 24 networks",
    experiments=mapping_loader(__name__, "EXPERIMENTS", "steps"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=mapping_loader(__name__, "CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""A comparison of our own; no paper has it."""
