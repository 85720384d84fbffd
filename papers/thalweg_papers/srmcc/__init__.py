"""SRMCC: a single-rate multicast congestion control mechanism for name-based networks, and four competitors."""

from __future__ import annotations

from pathlib import Path

from .._base import Paper, called, held

PAPER = Paper(
    name="srmcc",
    title="SRMCC: A Single-Rate Multicast Congestion Control Mechanism for ICN",
    claims_file=Path(__file__).with_name("claims.toml"),
    experiments=held(__name__, "EXPERIMENTS", "experiments"),
    measures=held(__name__, "MEASURES", "measures", "rule_measures"),
    plates=called(__name__, "plates", "figures"),
    choices=held(__name__, "CHOICES", "scenarios"),
)
"""Experiments, measures, figures and claims, and two comparisons that the paper does not make."""
