"""Background and real-time schemes compared, each with what a user would pick instead: two comparisons of our own."""

from __future__ import annotations

from .._base import Study, called, held

BACKGROUND = Study(
    name="background",
    title="Low priority: CVIHIS in background mode, LEDBAT, LEDBAT++ and TCP-LP",
    experiments=held(__name__, "BACKGROUND", "experiments"),
    plates=called(__name__, "background_plates", "figures"),
    choices=held(__name__, "BACKGROUND_CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""Who gives way, who uses an idle link, and what delay, a latecomer, another route and clocks that drift do."""

REAL_TIME = Study(
    name="real-time",
    title="Real time: CVIHIS in real-time mode, TFRC and BBR beside NewReno, CUBIC and BBR",
    experiments=held(__name__, "REAL_TIME", "experiments"),
    plates=called(__name__, "real_time_plates", "figures"),
    choices=held(__name__, "REAL_TIME_CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""Who gets which share, with what delay, and how smoothly."""
