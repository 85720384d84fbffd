"""Samples of runs: rates in bins of 0.1 s, delays, moves and counters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale
from . import signals
from .keys import Key
from .scenarios import DATA_BITS, EVERY_S, MBPS, PERIOD_S

BIN_S = 0.1
PERCENTILES = (5, 25, 50, 75, 95)
"""Percentiles of a consumer's delays for box plots."""
FACES = ("260", "261")
"""Links of R1 towards producers, by the numbers that the paper gives their interfaces."""


def seconds(result: Any) -> float:
    """The duration of a run."""
    return float(result.plan["duration"].removesuffix(" s"))


def scene(name: Key) -> Callable[[Any, str, Scale], Sample]:
    """The sample of a scenario of the paper: the network, and the controller's signals."""

    def extract(result: Any, variant: str, scale: Scale) -> Sample:
        return {**network(result, variant, scale), **signals.read(result, name, variant)}

    return extract


def network(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Rates of consumers and of R1's two interfaces, delays, losses, moves and counters."""
    flows = result.flows.sort("flow").to_dicts()
    names = [f"flow.{row['flow']}" for row in flows]
    groups = list(dict.fromkeys(row["group"] for row in flows))
    consumers = [[row for row in flows if row["group"] == group] for group in groups]
    return {
        "times_s": np.arange(1, round(seconds(result) / BIN_S) + 1) * BIN_S,
        "throughput": np.stack(
            [
                _bins(result, "throughput", [f"flow.{row['flow']}" for row in rows]).sum(axis=0)
                for rows in consumers
            ]
        ),
        "faces": _bins(result, "utilisation", [f"link.{face}.backward" for face in FACES]) * MBPS * 1e6,
        "delay_ms": np.array([pooled(rows)[0] for rows in consumers]),
        "std_ms": np.array([pooled(rows)[1] for rows in consumers]),
        "boxes_ms": _boxes(result, groups),
        "delay_bins_ms": _delays(result, names),
        "first_s": np.array([min(row["started_s"] for row in rows) for rows in consumers]),
        "marks": np.array([float(sum(row["marks"] or 0 for row in rows)) for rows in consumers]),
        "lost": _lost(result),
        "moves_s": _read.events(result, "prefix_moved")[0],
        "rise_error": _rise_error(result, names[0]),
        **counters(result, _variant, _scale),
        **_loads(result),
    }


def _grid(result: Any, series: str, subject: str) -> Any:
    """Values of a series on the whole grid of the run; NaN where it has no value."""
    times, values = _read.one(result, series, subject)
    grid = np.full(round(seconds(result) / EVERY_S), np.nan)
    grid[np.rint(times / EVERY_S).astype(int) - 1] = values
    return grid


def _bins(result: Any, series: str, subjects: list[str], bin_s: float = BIN_S) -> Any:
    """A row for each subject, in bins; nothing where it has no value."""
    size = round(bin_s / EVERY_S)
    rows = [np.nan_to_num(_grid(result, series, subject)) for subject in subjects]
    return np.stack([row.reshape(-1, size).mean(axis=1) for row in rows])


def pooled(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Mean and standard deviation of the delays of all segments of a consumer's flows, in ms."""
    means, deviations = (np.array([1e3 * row[key] for row in rows]) for key in ("delay_s", "delay_std_s"))
    if len(rows) == 1:
        return float(means[0]), float(deviations[0])
    segments = np.array([row["arrived_packets"] for row in rows], dtype=float)
    mean = float(np.average(means, weights=segments))
    return mean, float(np.sqrt(np.average(deviations**2 + (means - mean) ** 2, weights=segments)))


def _boxes(result: Any, groups: list[str]) -> Any:
    """Percentiles of each consumer's delays, in ms: a row for each consumer."""
    return np.array(
        [[1e3 * result[f"flows.{group}.delay_p{percent}"] for percent in PERCENTILES] for group in groups]
    )


def _delays(result: Any, names: list[str]) -> Any:
    """Mean delay of all consumers in bins of 1 s, in ms."""
    rows = np.stack([_grid(result, "delay", name).reshape(-1, round(1 / EVERY_S)) for name in names])
    with np.errstate(invalid="ignore"):
        return 1e3 * np.nanmean(rows, axis=(0, 2))


def _lost(result: Any) -> float:
    """Data packets that found a queue full."""
    import polars

    rows = result.links.filter(polars.col("direction") == "backward")
    return float(rows.filter(~polars.col("link").str.starts_with("control"))["drops_queue_full"].sum())


def _rise_error(result: Any, flow: str) -> float:
    """Packets by which a flow's window differs from 1 + what arrived, until it first falls; NaN without a window."""
    window = _grid(result, "window", flow) / (DATA_BITS / 8)
    arrived = np.cumsum(_grid(result, "throughput", flow)) * EVERY_S / DATA_BITS
    falls = np.flatnonzero(np.diff(window) < 0)
    until = int(falls[0]) if len(falls) else len(window)
    differences = np.abs(window[:until] - 1 - arrived[:until])
    return float("nan") if np.isnan(differences).all() else float(np.nanmax(differences))


def _loads(result: Any) -> Sample:
    """Ports and periods with a load above th1, as links were used, in the periods that the controller heard of."""
    import polars

    links = result.links.filter(~polars.col("link").str.starts_with("control"))
    names = [
        f"link.{row['link']}" + (".backward" if row["direction"] == "backward" else "")
        for row in links.to_dicts()
    ]
    used = _bins(result, "utilisation", names, PERIOD_S)[:, :-1]
    return {"loaded": float((used > 0.85).sum()), "unloaded": float((used < 0.85).sum())}


def counters(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Operations of the nodes that report, and of the controller."""
    nodes = [row for row in result.nodes.to_dicts() if row["role"] == "forwarder"]
    sample: Sample = {
        "ports": float(sum(not row["link"].startswith("control") for row in result.links.to_dicts())),
        "statuses": float(sum(row["statuses"] or 0 for row in nodes)),
        "signals": float(sum(row["signals"] or 0 for row in nodes)),
        "operations": float(sum(row["operations"] or 0 for row in nodes)),
        "max_per_port": max(
            [(row["operations"] or 0) / row["statuses"] for row in nodes if row["statuses"]] or [0.0]
        ),
        "data": float(sum(row["data_out"] or 0 for row in nodes)),
        "interests": float(sum(row["interests_out"] or 0 for row in nodes)),
    }
    controllers = [row for row in result.nodes.to_dicts() if row["role"] == "controller"]
    for key in (
        "commands",
        "operations",
        "filter_operations",
        "search_operations",
        "switch_operations",
        "signals",
    ):
        sample[f"controller_{key}"] = float(sum(row[key] or 0 for row in controllers))
    return sample


def lost_once(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Segments asked for again, and the longest delay of a segment."""
    rows = result.flows.to_dicts()
    return {
        "again": float(sum(row["retransmits"] for row in rows)),
        "longest_ms": 1e3 * max(row["delay_max_s"] for row in rows),
    }


def share_steps(result: Any, _variant: str, _scale: Scale) -> Sample:
    """The share of the first next hop at R1 under PCON before and after each fall."""
    _, shares = _read.one(result, "share", "node.r1")
    falls = np.flatnonzero(np.diff(shares) < 0)
    return {"before": shares[falls], "after": shares[falls + 1]}
