"""Agreement of simulation and emulation: the same scenarios in both over a grid."""

from __future__ import annotations

from .._base import Emulated, call_loader, mapping_loader
from .._study import Study

EXPERIMENTS = mapping_loader(__name__, "EXPERIMENTS", "scenarios")
CHOICES = mapping_loader(__name__, "CHOICES", "scenarios")


def _emulated() -> Emulated:
    from . import scenarios

    return Emulated(
        experiments=EXPERIMENTS,
        cases=lambda: scenarios.CASES,
        figure_specs=call_loader(__name__, "figure_specs", "figures"),
        choices=CHOICES,
        runs=3,
    )


STUDY = Study(
    name="agreement",
    title="Simulation and emulation of the same scenarios",
    experiments=EXPERIMENTS,
    figure_specs=tuple,
    choices=CHOICES,
    emulated=_emulated,
    only_emulated=True,
)
"""A comparison of our own: what the simulator says is worth where a kernel can be asked."""
