"""Control from one place, beyond ndnSieve's paper: a controller that is far, deaf or dead, and networks of many routers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._base import Experiment, Plate, Study


def _experiments() -> Mapping[str, Experiment]:
    from .experiments import EXPERIMENTS

    return EXPERIMENTS


def _plates() -> Sequence[Plate]:
    from .figures import plates

    return plates()


def _choices() -> Mapping[str, str]:
    from .scenarios import CHOICES

    return CHOICES


STUDY = Study(
    name="scaling",
    title="ndnSieve with a controller that is far, deaf or dead, and in networks of 10, 50 and 200 routers",
    experiments=_experiments,
    plates=_plates,
    choices=_choices,
    quick_factor=0.5,
)
"""A comparison of our own; no paper has it."""
