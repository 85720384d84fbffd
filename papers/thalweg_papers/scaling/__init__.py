"""Control from one place, beyond ndnSieve's paper: a controller that is far, deaf or dead, and networks of many routers."""

from __future__ import annotations

from .._base import Study, called, held

STUDY = Study(
    name="scaling",
    title="ndnSieve with a controller that is far, deaf or dead, and in networks of 10, 50 and 200 routers",
    experiments=held(__name__, "EXPERIMENTS", "experiments"),
    plates=called(__name__, "plates", "figures"),
    choices=held(__name__, "CHOICES", "scenarios"),
    quick_factor=0.5,
)
"""A comparison of our own; no paper has it."""
