"""Background and real-time schemes compared, each with what a user would pick instead: two comparisons of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._base import Experiment, Plate, Study


def _background() -> Mapping[str, Experiment]:
    from .experiments import BACKGROUND

    return BACKGROUND


def _background_plates() -> Sequence[Plate]:
    from .figures import background_plates

    return background_plates()


def _background_choices() -> Mapping[str, str]:
    from .scenarios import BACKGROUND_CHOICES

    return BACKGROUND_CHOICES


def _real_time() -> Mapping[str, Experiment]:
    from .experiments import REAL_TIME

    return REAL_TIME


def _real_time_plates() -> Sequence[Plate]:
    from .figures import real_time_plates

    return real_time_plates()


def _real_time_choices() -> Mapping[str, str]:
    from .scenarios import REAL_TIME_CHOICES

    return REAL_TIME_CHOICES


BACKGROUND = Study(
    name="background",
    title="Low priority: CVIHIS in background mode, LEDBAT, LEDBAT++ and TCP-LP",
    experiments=_background,
    plates=_background_plates,
    choices=_background_choices,
    quick_factor=0.5,
)
"""Who gives way, who uses an idle link, and what delay, a latecomer, another route and clocks that drift do."""

REAL_TIME = Study(
    name="real-time",
    title="Real time: CVIHIS in real-time mode, TFRC and BBR beside NewReno, CUBIC and BBR",
    experiments=_real_time,
    plates=_real_time_plates,
    choices=_real_time_choices,
    quick_factor=0.5,
)
"""Who gets which share, with what delay, and how smoothly."""
