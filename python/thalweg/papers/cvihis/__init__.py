"""CVIHIS: video that yields or takes its share, in one mechanism whose mode changes on the fly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .._base import Emulated, Experiment, Measure, Paper, Plate


def _experiments() -> Mapping[str, Experiment]:
    from .experiments import EXPERIMENTS

    return EXPERIMENTS


def _measures() -> Mapping[str, Measure]:
    from . import measures, path_measures, rule_measures

    return {**measures.MEASURES, **path_measures.MEASURES, **rule_measures.MEASURES}


def _plates() -> Sequence[Plate]:
    from .figures import plates

    return plates()


def _choices() -> Mapping[str, str]:
    from .scenarios import CHOICES

    return CHOICES


def _emulated() -> Emulated:
    from . import real_figures, real_measures, real_scenarios

    return Emulated(
        experiments=lambda: real_scenarios.EXPERIMENTS,
        cases=lambda: real_scenarios.CASES,
        plates=real_figures.plates,
        choices=lambda: real_scenarios.CHOICES,
        claims_file=Path(__file__).with_name("emulated.toml"),
        measures=lambda: real_measures.MEASURES,
    )


PAPER = Paper(
    name="cvihis",
    title="Congestion Control Supported Dual-mode Video Transfer",
    claims_file=Path(__file__).with_name("claims.toml"),
    experiments=_experiments,
    measures=_measures,
    plates=_plates,
    choices=_choices,
    # to yield takes two minutes, however quick the reader is
    quick_factor=1.0,
    emulated=_emulated,
)
"""J. Vihervaara, T. Alapaholuoma, T. Lipping, P. Loula (Tampere University of Technology): experiments, measures, figures
and claims. The real network of the paper is a scenario here; the same trees can be carried out elsewhere."""
