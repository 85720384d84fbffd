"""Samples of runs: what arrived of each flow, and the wait in the queue, both over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale
from . import scenarios

QUEUES = ("link.bottleneck", "link.direct", "link.up")
"""Links before which packets wait; the last is that of the longer route."""


def over_time(result: Any, _variant: str, _scale: Scale) -> Sample:
    """By flow what arrived, in bit/s; the wait in the queue, in seconds, from its backlog and its rate."""
    sample: Sample = {"times_s": _read.times(result, "throughput")}
    for subject, values in _read.series(result, "throughput").items():
        name = subject.split(".")[1].split("@")[0]
        # nothing has arrived before a flow starts
        sample[f"throughput {name}"] = np.nan_to_num(values).astype(np.float32)
    waits = _read.series(result, "backlog_bytes", QUEUES)
    bytes_waiting = sum(np.nan_to_num(values) for values in waits.values())
    sample["wait"] = np.asarray(8 * bytes_waiting / scenarios.RATE_BPS, dtype=np.float32)
    rows = result.flows.select("flow", "sent_packets", "drops").to_dicts()
    sample["flows"] = {row["flow"]: (row["sent_packets"], row["drops"]) for row in rows}
    return sample
