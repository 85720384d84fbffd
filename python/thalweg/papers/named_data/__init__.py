"""Named data compared: consumers and shapers of the literature on a dumbbell, a parking lot and a tree with stores."""

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
    name="named-data",
    title="Congestion control for named data: fifteen schemes on three networks",
    experiments=_experiments,
    plates=_plates,
    choices=_choices,
    quick_factor=0.5,
)
"""A comparison of our own; no paper has it."""
