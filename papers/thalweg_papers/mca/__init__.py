"""MCA: an end-to-end multicast congestion avoidance scheme with feedback suppression."""

from __future__ import annotations

from pathlib import Path

from .._base import call_loader, mapping_loader
from .._study import Paper, claims_loader, joint_loader, phases_loader, readings_loader

PAPER = Paper(
    name="mca",
    title="MCA: An End-to-end Multicast Congestion Avoidance Scheme with Feedback Suppression",
    claims=claims_loader(__name__, Path(__file__).with_name("claims.toml")),
    experiments=mapping_loader(__name__, "EXPERIMENTS", "experiments"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=mapping_loader(__name__, "CHOICES", "scenarios"),
    readings=readings_loader(__name__, Path(__file__).with_name("readings.toml")),
    joint=joint_loader(__file__),
    phases=phases_loader(__file__),
)
"""J. Li, S. Kalyanaraman (Rensselaer Polytechnic Institute): experiments, measures, figures and claims."""
