"""ndnSieve: a controller for mild congestion and consumers for severe congestion, against PCON, CoopCon and FleCom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .._base import Experiment, Measure, Paper, Plate


def _experiments() -> Mapping[str, Experiment]:
    from .experiments import EXPERIMENTS

    return EXPERIMENTS


def _measures() -> Mapping[str, Measure]:
    from . import measures, others, path_measures, rule_measures, signals

    tables = (rule_measures, measures, path_measures, signals, others)
    return {name: measure for table in tables for name, measure in table.MEASURES.items()}


def _plates() -> Sequence[Plate]:
    from .figures import plates

    return plates()


def _choices() -> Mapping[str, str]:
    from .scenarios import CHOICES

    return CHOICES


PAPER = Paper(
    name="ndnsieve",
    title="ndnSieve: hybrid congestion control of named data networking with a controller",
    claims_file=Path(__file__).with_name("claims.toml"),
    experiments=_experiments,
    measures=_measures,
    plates=_plates,
    choices=_choices,
    quick_factor=1.0,
)
"""Ma et al. 2024: three scenarios, four schemes, two profiles of ndnSieve."""
