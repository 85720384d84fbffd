"""ndnSieve: a controller for mild congestion and consumers for severe congestion, against PCON, CoopCon and FleCom."""

from __future__ import annotations

from pathlib import Path

from .._base import Paper, called, held

PAPER = Paper(
    name="ndnsieve",
    title="ndnSieve: hybrid congestion control of named data networking with a controller",
    claims_file=Path(__file__).with_name("claims.toml"),
    experiments=held(__name__, "EXPERIMENTS", "experiments"),
    measures=held(__name__, "MEASURES", "rule_measures", "measures", "path_measures", "signals", "others"),
    plates=called(__name__, "plates", "figures"),
    choices=held(__name__, "CHOICES", "scenarios"),
    quick_factor=1.0,
)
"""Ma et al. 2024: three scenarios, four schemes, two profiles of ndnSieve."""
