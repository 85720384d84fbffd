"""How far simulation and emulation agree: the same scenarios in both worlds over a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._base import Emulated, Experiment, Plate, Study


def _experiments() -> Mapping[str, Experiment]:
    from .scenarios import EXPERIMENTS

    return EXPERIMENTS


def _plates() -> Sequence[Plate]:
    return ()


def _choices() -> Mapping[str, str]:
    from .scenarios import CHOICES

    return CHOICES


def _emulated() -> Emulated:
    from . import figures, scenarios

    return Emulated(
        experiments=_experiments,
        cases=lambda: scenarios.CASES,
        plates=figures.plates,
        choices=_choices,
        runs=3,
    )


STUDY = Study(
    name="agreement",
    title="Simulation and emulation of the same scenarios",
    experiments=_experiments,
    plates=_plates,
    choices=_choices,
    emulated=_emulated,
    only_emulated=True,
)
"""A comparison of our own: what the simulator says is worth where a kernel can be asked."""
