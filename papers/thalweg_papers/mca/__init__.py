"""MCA: an end-to-end multicast congestion avoidance scheme with feedback suppression."""

from __future__ import annotations

from pathlib import Path

from .._base import Paper, called, held

PAPER = Paper(
    name="mca",
    title="MCA: An End-to-end Multicast Congestion Avoidance Scheme with Feedback Suppression",
    claims_file=Path(__file__).with_name("claims.toml"),
    experiments=held(__name__, "EXPERIMENTS", "experiments"),
    measures=held(__name__, "MEASURES", "measures", "rule_measures"),
    plates=called(__name__, "plates", "figures"),
    choices=held(__name__, "CHOICES", "scenarios"),
)
"""J. Li, S. Kalyanaraman (Rensselaer Polytechnic Institute): experiments, measures, figures and claims."""
