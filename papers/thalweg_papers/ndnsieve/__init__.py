"""ndnSieve: a controller for mild congestion and consumers for severe congestion, against PCON, CoopCon and FleCom."""

from __future__ import annotations

from pathlib import Path

from .._base import call_loader, mapping_loader
from .._study import Paper, claims_loader, joint_loader, phases_loader, readings_loader, substitution_loader

PAPER = Paper(
    name="ndnsieve",
    title="ndnSieve: hybrid congestion control of named data networking with a controller",
    claims=claims_loader(__name__, Path(__file__).with_name("claims.toml")),
    experiments=mapping_loader(__name__, "EXPERIMENTS", "experiments"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=mapping_loader(__name__, "CHOICES", "scenarios"),
    readings=readings_loader(__name__, Path(__file__).with_name("readings.toml")),
    joint=joint_loader(__file__),
    phases=phases_loader(__file__),
    substitutes=call_loader(__name__, "substitutes", "substitutes"),
    substitution=substitution_loader(__file__),
    quick_factor=1.0,
)
"""Ma et al. 2024: three scenarios, four schemes, two profiles of ndnSieve."""
