"""The same controller in several stacks: CUBIC, NewReno and BBR of QUIC stacks, of this library and of the kernel."""

from __future__ import annotations

from .._base import Emulated, call_loader, mapping_loader
from .._study import Study

CHOICES = mapping_loader(__name__, "CHOICES", "scenarios")


def _emulated() -> Emulated:
    from . import scenarios

    return Emulated(
        experiments=mapping_loader(__name__, "KERNEL", "experiments"),
        cases=lambda: scenarios.KERNEL_CASES,
        figure_specs=call_loader(__name__, "pair_specs", "figures"),
        choices=CHOICES,
        runs=3,
    )


STUDY = Study(
    name="controllers",
    title="Congestion controllers of QUIC stacks: CUBIC, NewReno and BBR on 24 networks",
    experiments=mapping_loader(__name__, "EXPERIMENTS", "steps"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=CHOICES,
    quick_factor=0.5,
    emulated=_emulated,
)
"""A comparison of our own; no paper has it."""
