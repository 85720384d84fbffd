"""Samples of the runs of §5: enough for every figure and claim, small enough to store."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale
from .._common import inside, jain, mean_between
from . import scenarios


def shared(result: Any, number: int, scale: Scale) -> Sample:
    """The sample of one of the four scenarios: 1-s means of arrived data, shares of the bottleneck, loss and feedback."""
    times = _read.times(result, "utilisation")
    arrived = _read.series(result, "throughput")
    group = [values for subject, values in arrived.items() if subject.startswith("receiver.mc@")]
    sample: Sample = {
        "factor": scale.factor,
        "times_s": times,
        "mc_bps": np.mean(np.nan_to_num(group), axis=0),
        "utilisation": _read.series(result, "utilisation", ["link.bottleneck"])["link.bottleneck"],
    }
    for name, node in (("tcp1", "u1"), ("tcp2", "u2"), ("cbr", "v")):
        values = arrived.get(f"receiver.{name}@{node}")
        if values is not None:
            sample[f"{name}_bps"] = np.nan_to_num(values)
    flow = _read.flow(result, "mc")
    begin, end = (scale.seconds(t) for t in scenarios.AVERAGED_S[number])
    for name in ("mc", "tcp1", "tcp2"):
        sample[f"{name}_mean_bps"] = mean_between(times, sample[f"{name}_bps"], begin, end)
        sample[f"{name}_whole_bps"] = float(np.mean(sample[f"{name}_bps"]))
    return {
        **sample,
        "tcp_mean_bps": 0.5 * (sample["tcp1_mean_bps"] + sample["tcp2_mean_bps"]),
        "utilisation_mean": mean_between(times, sample["utilisation"], begin, end),
        "loss": float(flow["loss_ratio"]),
        "feedback": float(flow["feedback_received"]) / scale.factor,
        "router_words": float(result.nodes["feedback_packets"].sum()),
    }


def paper_case(result: Any, variant: str, scale: Scale) -> Sample:
    """See `scenarios.paper_case`."""
    return shared(result, int(variant[0]), scale)


def gamma_case(result: Any, variant: str, scale: Scale) -> Sample:
    """See `scenarios.gamma_case`; means only."""
    return means(shared(result, int(variant[0]), scale))


def means(sample: Sample) -> Sample:
    """A sample without what varies over time."""
    return {key: value for key, value in sample.items() if not isinstance(value, np.ndarray)}


def groups_case(result: Any, variant: str, scale: Scale) -> Sample:
    """Throughput of each group over time, its fairness and steadiness after a tenth of the run, loss, utilisation."""
    times = _read.times(result, "utilisation")
    arrived = _read.series(result, "throughput")
    begin, end = (scale.seconds(t) for t in scenarios.GROUPS_AVERAGED_S)
    later = inside(times, begin, end)
    rates = np.stack(
        [
            np.mean(np.nan_to_num([v for s, v in arrived.items() if s.startswith(f"receiver.g{g}@")]), axis=0)
            for g in range(1, int(variant) + 1)
        ]
    )
    steady = rates[:, later]
    used = _read.series(result, "utilisation", ["link.bottleneck"])["link.bottleneck"]
    return {
        "times_s": times,
        "rates_bps": rates,
        "jain": jain(steady.mean(axis=1)),
        "cov": float(np.max(steady.std(axis=1) / steady.mean(axis=1))),
        "loss": float(np.mean([row["loss_ratio"] for row in result.flows.to_dicts()])),
        "utilisation": mean_between(times, used, begin, end),
    }
