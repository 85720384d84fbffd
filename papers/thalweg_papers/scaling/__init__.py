"""Control from one place, beyond ndnSieve's paper: a controller that is far, deaf or dead, and networks of many routers."""

from __future__ import annotations

from .._base import call_loader, mapping_loader
from .._study import Study

STUDY = Study(
    name="scaling",
    title="ndnSieve with a controller that is far, deaf or dead, and in networks of 10, 50 and 200 routers",
    experiments=mapping_loader(__name__, "EXPERIMENTS", "experiments"),
    figure_specs=call_loader(__name__, "figure_specs", "figures"),
    choices=mapping_loader(__name__, "CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""A comparison of our own; no paper has it."""
