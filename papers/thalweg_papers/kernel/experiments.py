"""The cells of the grid in both worlds, and what is kept of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import polars as pl

from thalweg import Scenario

from .._base import Experiment, ExperimentKey, Sample, Scale
from . import guest, ns3, scenarios
from .keys import Key

MEASURED = Path(__file__).with_name("measured.json")
"""What the guest measured."""


@cache
def recorded(file: Path) -> dict[str, Any]:
    """The version of a kernel or of ns-3, and the samples by cell and seed."""
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def measured() -> dict[str, Any]:
    """What the guest measured: its kernel, and the samples by cell and seed."""
    return recorded(MEASURED)


def cells(file: Path) -> tuple[str, ...]:
    """The cells of the grid that are recorded with all seeds."""
    found = recorded(file)["cells"]
    return tuple(cell for cell in scenarios.grid() if len(found.get(cell, ())) == scenarios.SEEDS)


def in_kernel(variant: str, seed: int, scale: Scale) -> Sample:
    """A cell in the kernel: what is recorded of the whole cell, or a run of the guest.

    Raises `guest.GuestError` where neither is there.
    """
    found = measured()["cells"].get(variant, {}).get(str(seed))
    if found is not None and scale.factor == 1:
        return dict(found)
    program = "inside.py" if scenarios.parts(variant)[2].load == "endless" else "inside_loads.py"
    return kept(guest.run(scenarios.cell(variant, seed, scale), seed, program), variant, seed, scale)


def in_ns3(variant: str, seed: int, scale: Scale) -> Sample:
    """A cell in ns-3: what is recorded of the whole cell, or a run.

    Raises `ns3.Ns3Error` where neither is there.
    """
    found = recorded(ns3.RECORDED)["cells"].get(variant, {}).get(str(seed))
    if found is not None and scale.factor == 1:
        return dict(found)
    return ns3.run(variant, seed, scale)


def kept(found: dict[str, Any], variant: str, seed: int, scale: Scale) -> Sample:
    """The sample of a cell in the guest, in the format of the simulator."""
    drops, marks = (events(found["counters"], names) for names in (DROPS, MARKS))
    waits = [flow["p50_s"] for flow in found["flows"] if flow["packets"]]
    sample = {
        "goodput_bps": sum(found["goodputs_bps"]),
        "lowest_bps": min(found["goodputs_bps"]),
        # of several flows, the mean of their medians
        "queueing_s": sum(waits) / len(waits),
        "drops": drops,
        "marks": marks,
    }
    match scenarios.parts(variant)[2].load:
        case "short":
            ends = [times[0] if times else None for times in found["times_s"]]
            sample["time_s"] = transfer_time_s(ends, variant, seed, scale)
        case "requests":
            sample["time_s"] = mean([one for times in found["times_s"] for one in times])
    return sample


def transfer_time_s(ends: Sequence[float | None], variant: str, seed: int, scale: Scale) -> float:
    """The mean time of the transfers that start after the warm-up, by their ends; without one, until the end of the cell."""
    warmup_s, length_s = scale.seconds(scenarios.WARMUP_S), scale.seconds(scenarios.DURATION_S)
    starts = scenarios.starts(variant, seed)
    return mean(
        [
            (length_s if end is None else end) - start
            for start, end in zip(starts, ends, strict=True)
            if start >= warmup_s
        ]
    )


DROPS, MARKS = ("drops",), ("ecn_mark", "marked")
"""Counters of `tc -s qdisc`."""


def events(counters: list[dict[str, Any]], names: tuple[str, ...]) -> float:
    """The increase of counters between the end of the warm-up and the end."""
    first, last = (sum(one.get(name, 0) for name in names) for one in counters)
    return float(last - first)


def simulated(variant: str, seed: int, scale: Scale) -> Sample:
    """A cell in the simulator. The starts of the flows depend on the seed, so each seed has a scenario of its own."""
    result: Any = Scenario.from_tree(scenarios.tree(variant, seed, scale)).run(seed=seed)
    flows, load = result.flows, scenarios.parts(variant)[2].load
    # a transfer before the warm-up has no goodput
    goodputs = flows["active_goodput_bps" if load == "endless" else "goodput_bps"].fill_null(0.0).to_list()
    sample = {
        "goodput_bps": float(sum(goodputs)),
        "lowest_bps": float(min(goodputs)),
        "queueing_s": float(flows["queueing_delay_p50_s"].mean()),
        "drops": float(result["link.bottleneck.drops"]),
        "marks": float(result["link.bottleneck.marked_packets"]),
        "trace_hash": result.trace_hash,
        "packet_hops": float(result.packet_hops),
    }
    match load:
        case "short":
            ends = result.receivers["completed_s"].to_list()
            sample["time_s"] = transfer_time_s(ends, variant, seed, scale)
        case "requests":
            within = result.exchanges.filter(pl.col("completed_s") >= scale.seconds(scenarios.WARMUP_S))
            sample["time_s"] = mean(within["duration_s"].to_list())
    return sample


def _experiment(key: Key, title: str, variants: tuple[str, ...], measure: Any) -> Experiment:
    return Experiment(
        key,
        title,
        variants,
        lambda variant, scale: scenarios.tree(variant, 1, scale),
        lambda *_: {},
        seeds=scenarios.SEEDS,
        quick_seeds=1,
        measure=measure,
    )


EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    Key.SIMULATED: _experiment(Key.SIMULATED, "The simulator", cells(MEASURED), simulated),
    Key.KERNEL: _experiment(Key.KERNEL, "The Linux kernel", cells(MEASURED), in_kernel),
    Key.NS3: _experiment(Key.NS3, "ns-3", cells(ns3.RECORDED), in_ns3),
}
