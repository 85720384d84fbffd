"""Quantities of a run, and how far they are from those of the baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .._base import Sample
from .keys import Key

BAND = 0.15
FEW = 1e-4
"""Losses below are not compared."""
NAMES = {Key.CUBIC: "CUBIC", Key.NEWRENO: "NewReno", Key.BBR: "BBR"}

QUANTITIES: dict[str, Callable[[Sample], float]] = {
    "share_percent": lambda s: 100 * s["goodput_bps"] / (s["goodput_bps"] + s["reference_bps"]),
    "queueing_delay_ms": lambda s: 1e3 * s["queueing_s"],
    "loss_percent": lambda s: 100 * s["loss"],
}


def mean(samples: Sequence[Sample], quantity: str) -> float:
    """Mean over seeds."""
    return float(np.mean([QUANTITIES[quantity](sample) for sample in samples]))


def apart(value: float, baseline: float, quantity: str) -> float | None:
    """The difference of a value from the baseline, relative to the baseline; None if there is nothing to compare."""
    floor = 100 * FEW if quantity == "loss_percent" else 0.0
    if max(value, baseline) <= floor:
        return None
    return value / max(baseline, floor) - 1 if baseline > 0 or floor > 0 else None
