"""MIRCC under coarse clocks: explicit rates in named data networking, with coarse clocks in consumers and routers."""

from __future__ import annotations

from pathlib import Path

from .._base import call_loader, mapping_loader
from .._study import Paper, claims_loader, joint_loader, phases_loader, readings_loader, substitution_loader

PAPER = Paper(
    name="mircc",
    title="A Study on Performance of Explicit Rate Report based Congestion Control under Coarse-grained Clock Management",
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
    live=call_loader(__name__, "figure_3", "live"),
)
"""T. Kato, T. Enda, R. Yamamoto, S. Ohzahata (University of Electro-Communications): experiments, measures, figures and
claims, and two experiments that the paper did not run."""
