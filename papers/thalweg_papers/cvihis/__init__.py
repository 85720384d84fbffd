"""CVIHIS: video that yields or takes its share, in one mechanism whose mode changes on the fly."""

from __future__ import annotations

from pathlib import Path

from .._base import Emulated, Paper, called, held


def _emulated() -> Emulated:
    from . import real_scenarios

    return Emulated(
        experiments=held(__name__, "EXPERIMENTS", "real_scenarios"),
        cases=lambda: real_scenarios.CASES,
        plates=called(__name__, "plates", "real_figures"),
        choices=held(__name__, "CHOICES", "real_scenarios"),
        claims_file=Path(__file__).with_name("emulated.toml"),
        measures=held(__name__, "MEASURES", "real_measures"),
    )


PAPER = Paper(
    name="cvihis",
    title="Congestion Control Supported Dual-mode Video Transfer",
    claims_file=Path(__file__).with_name("claims.toml"),
    experiments=held(__name__, "EXPERIMENTS", "experiments"),
    measures=held(__name__, "MEASURES", "measures", "path_measures", "rule_measures"),
    plates=called(__name__, "plates", "figures"),
    choices=held(__name__, "CHOICES", "scenarios"),
    # to yield takes two minutes, however quick the reader is
    quick_factor=1.0,
    emulated=_emulated,
)
"""J. Vihervaara, T. Alapaholuoma, T. Lipping, P. Loula (Tampere University of Technology): experiments, measures, figures
and claims. The real network of the paper is a scenario here; the same trees can be carried out elsewhere."""
