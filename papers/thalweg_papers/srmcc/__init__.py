"""SRMCC: a single-rate multicast congestion control mechanism for name-based networks, and four competitors."""

from __future__ import annotations

from pathlib import Path

from .._base import call_loader, mapping_loader
from .._study import Paper, claims_loader, joint_loader, phases_loader, readings_loader

PAPER = Paper(
    name="srmcc",
    title="SRMCC: A Single-Rate Multicast Congestion Control Mechanism for ICN",
    claims=claims_loader(__name__, Path(__file__).with_name("claims.toml")),
    experiments=mapping_loader(__name__, "EXPERIMENTS", "experiments"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=mapping_loader(__name__, "CHOICES", "scenarios"),
    readings=readings_loader(__name__, Path(__file__).with_name("readings.toml")),
    joint=joint_loader(__file__),
    phases=phases_loader(__file__),
    profiles=call_loader(__name__, "all_profiles", "profiles"),
)
"""Experiments, measures, figures and claims, and two comparisons that the paper does not make."""
