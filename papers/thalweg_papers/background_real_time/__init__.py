"""Background and real-time schemes compared, each with what a user would pick instead: two comparisons of our own."""

from __future__ import annotations

from .._base import call_loader, mapping_loader
from .._study import Study

BACKGROUND = Study(
    name="background",
    title="Low priority: CVIHIS in background mode, LEDBAT, LEDBAT++ and TCP-LP",
    experiments=mapping_loader(__name__, "BACKGROUND", "experiments"),
    figure_specs=call_loader(__name__, "background_figure_specs", "figures"),
    choices=mapping_loader(__name__, "BACKGROUND_CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""Which schemes yield, which use an idle link, and the effects of delay, a latecomer, another route and drifting clocks."""

REAL_TIME = Study(
    name="real-time",
    title="Real time: CVIHIS in real-time mode, TFRC, GCC and BBR beside NewReno, CUBIC and BBR",
    experiments=mapping_loader(__name__, "REAL_TIME", "experiments"),
    figure_specs=call_loader(__name__, "real_time_figure_specs", "figures"),
    choices=mapping_loader(__name__, "REAL_TIME_CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""Shares, delays and smoothness of flows."""
