"""CVIHIS: video that yields or takes its share, in one mechanism whose mode changes on the fly."""

from __future__ import annotations

from pathlib import Path

from .._base import Emulated, call_loader, mapping_loader
from .._study import Paper, claims_loader, joint_loader, phases_loader, readings_loader, substitution_loader


def _emulated() -> Emulated:
    from . import real_scenarios

    return Emulated(
        experiments=mapping_loader(__name__, "EXPERIMENTS", "real_scenarios"),
        cases=lambda: real_scenarios.CASES,
        figure_specs=call_loader(__name__, "figure_specs", "real_figures"),
        choices=mapping_loader(__name__, "CHOICES", "real_scenarios"),
        claims=claims_loader(__name__, Path(__file__).with_name("emulated.toml")),
    )


PAPER = Paper(
    name="cvihis",
    title="Congestion Control Supported Dual-mode Video Transfer",
    claims=claims_loader(__name__, Path(__file__).with_name("claims.toml")),
    experiments=mapping_loader(__name__, "EXPERIMENTS", "experiments"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=mapping_loader(__name__, "CHOICES", "scenarios"),
    readings=readings_loader(__name__, Path(__file__).with_name("readings.toml")),
    joint=joint_loader(__file__),
    phases=phases_loader(__file__),
    substitutes=call_loader(__name__, "substitutes", "substitutes"),
    substitution=substitution_loader(__file__),
    # to yield takes two minutes, however quick the reader is
    quick_factor=1.0,
    emulated=_emulated,
)
"""J. Vihervaara, T. Alapaholuoma, T. Lipping, P. Loula (Tampere University of Technology): experiments, measures, figures
and claims. The real network of the paper is a scenario here; the same trees can be carried out elsewhere."""
