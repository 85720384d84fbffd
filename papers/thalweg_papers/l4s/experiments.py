"""The cells in the simulator, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._base import Experiment, ExperimentKey, Sample, Scale, Tree
from . import scenarios
from .keys import Key


def extract(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Goodputs, delays and losses of both flows, and the utilisation."""
    from .. import _read

    kept: dict[str, float] = {}
    for name in ("first", "second"):
        row = _read.flow(result, name)
        kept |= {
            f"{name}_bps": float(row["active_goodput_bps"]),
            f"{name}_delay_s": float(row["queueing_delay_s"]),
            f"{name}_delay_p99_s": float(row["queueing_delay_p99_s"]),
            f"{name}_loss": float(row["loss_ratio"] or 0.0),
        }
    return {**kept, "utilisation": float(result["link.bottleneck.utilisation"])}


def _experiment(
    key: Key, title: str, variants: Iterable[str], length_s: float, queue: str | Tree = "dualpi2"
) -> Experiment:
    return Experiment(
        key,
        title,
        tuple(variants),
        lambda variant, scale: scenarios.tree(variant, length_s, scale, queue),
        extract,
        seeds=1,
        quick_seeds=1,
        weight=0.5,
    )


EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    Key.TESTBED: _experiment(
        Key.TESTBED,
        "Pairs of the testbed",
        scenarios.PUBLISHED,
        scenarios.TESTBED_S,
        scenarios.TESTBED_QUEUE,
    ),
    Key.MATRIX: _experiment(Key.MATRIX, "Prague beside CUBIC", scenarios.MATRIX, scenarios.MATRIX_S),
}
