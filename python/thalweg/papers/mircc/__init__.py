"""MIRCC under coarse clocks: explicit rates in named data networking, with coarse clocks in consumers and routers."""

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
    name="mircc",
    title="A Study on Performance of Explicit Rate Report based Congestion Control under Coarse-grained Clock Management",
    claims_file=Path(__file__).with_name("claims.toml"),
    experiments=_experiments,
    measures=_measures,
    plates=_plates,
    choices=_choices,
    quick_factor=1.0,
)
"""T. Kato, T. Enda, R. Yamamoto, S. Ohzahata (University of Electro-Communications): experiments, measures, figures and
claims, and two experiments that the paper did not run."""
