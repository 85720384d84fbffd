"""Every experiment: its scenarios, what is kept, how many runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._base import Experiment, ExperimentKey, Sample, Scale, Tree
from . import scenarios
from .keys import Key

SEEDS = 10


def extract(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Goodputs of both, and what the measured flow waited in queues and lost."""
    from .. import _read

    measured, reference = (_read.flow(result, name) for name in ("measured", "reference"))
    return {
        "goodput_bps": float(measured["active_goodput_bps"]),
        "reference_bps": float(reference["active_goodput_bps"]),
        "queueing_s": float(measured["queueing_delay_s"]),
        "loss": float(measured["loss_ratio"] or 0.0),
    }


def _variants(key: Key) -> Iterable[str]:
    return (
        scenarios.variant(implementation, network)
        for implementation in scenarios.implementations(key)
        for network in scenarios.NETWORKS
    )


def _all(
    tree: Callable[[Key, str, Scale], Tree], variants: Callable[[Key], Iterable[str]]
) -> dict[ExperimentKey, Experiment]:
    return {
        key: Experiment(
            key,
            key,
            tuple(variants(key)),
            lambda variant, scale, key=key: tree(key, variant, scale),  # type: ignore[misc]
            extract,
            seeds=SEEDS,
            quick_seeds=1,
            weight=0.4,
        )
        for key in Key
    }


EXPERIMENTS: dict[ExperimentKey, Experiment] = _all(scenarios.tree, _variants)
KERNEL: dict[ExperimentKey, Experiment] = _all(scenarios.kernel_tree, lambda _key: scenarios.NETWORKS)
"""Those of `--emulate`."""
