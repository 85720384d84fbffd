"""Samples of runs: its series, and a few counters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale


def curves(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Every recorded series by `series name`, on common times; NaN where there is no value yet."""
    import polars

    times = _read.times(result, "rate")
    sample: Sample = {"times_s": times}
    pairs = result.series.select("series", "subject").unique().sort("series", "subject")
    for name, subject in pairs.iter_rows():
        when, values = _read.one(result, name, subject)
        column = np.full(len(times), np.nan)
        column[np.searchsorted(times, when - 1e-9)] = values
        # `receiver.video@d-video` is the receiver of `video`
        sample[f"{name} {subject.split('.')[1].split('@')[0]}"] = column
    rows = result.flows.select("flow", "owd_min_s", "missing", "rtt_min_s").to_dicts()
    sample["flows"] = {
        row["flow"]: {key: row[key] for key in ("owd_min_s", "missing", "rtt_min_s")} for row in rows
    }
    links = result.links.filter(polars.col("direction") == "forward")
    used = links.select("link", "utilisation").to_dicts()
    sample["utilisation"] = {row["link"]: row["utilisation"] for row in used}
    for flow in result.plan["flows"]:
        if flow["name"] == "tcp" and flow["stop"] != "never":
            sample["tcp_until_s"] = float(flow["stop"].removesuffix(" s"))
    return sample


def means(result: Any, variant: str, scale: Scale) -> Sample:
    """Means of the curves, without the series that only rules need: single precision is enough for a mean."""
    sample = curves(result, variant, scale)
    return {
        key: value.astype(np.float32) if key != "times_s" and isinstance(value, np.ndarray) else value
        for key, value in sample.items()
    }
