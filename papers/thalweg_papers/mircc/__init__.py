"""MIRCC under coarse clocks: explicit rates in named data networking, with coarse clocks in consumers and routers."""

from __future__ import annotations

from pathlib import Path

from .._base import Paper, called, held

PAPER = Paper(
    name="mircc",
    title="A Study on Performance of Explicit Rate Report based Congestion Control under Coarse-grained Clock Management",
    claims_file=Path(__file__).with_name("claims.toml"),
    experiments=held(__name__, "EXPERIMENTS", "experiments"),
    measures=held(__name__, "MEASURES", "measures", "rule_measures"),
    plates=called(__name__, "plates", "figures"),
    choices=held(__name__, "CHOICES", "scenarios"),
    quick_factor=1.0,
    live=called(__name__, "figure_3", "live"),
)
"""T. Kato, T. Enda, R. Yamamoto, S. Ohzahata (University of Electro-Communications): experiments, measures, figures and
claims, and two experiments that the paper did not run."""
