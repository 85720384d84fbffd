"""SRMCC: a single-rate multicast congestion control mechanism for name-based networks, and four competitors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .._base import Experiment, Measure, Paper, Plate


def _experiments() -> Mapping[str, Experiment]:
    from .experiments import EXPERIMENTS

    return EXPERIMENTS


def _measures() -> Mapping[str, Measure]:
    from . import measures, rule_measures

    return {**measures.MEASURES, **rule_measures.MEASURES}


def _plates() -> Sequence[Plate]:
    from .figures import plates

    return plates()


def _choices() -> Mapping[str, str]:
    from .scenarios import CHOICES

    return CHOICES


PAPER = Paper(
    name="srmcc",
    title="SRMCC: A Single-Rate Multicast Congestion Control Mechanism for ICN",
    claims_file=Path(__file__).with_name("claims.toml"),
    experiments=_experiments,
    measures=_measures,
    plates=_plates,
    choices=_choices,
)
"""Experiments, measures, figures and claims, and two comparisons that the paper does not make."""
