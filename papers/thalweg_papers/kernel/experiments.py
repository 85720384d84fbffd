"""The cells of the grid in both worlds, and what is kept of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from thalweg import Scenario

from .._base import Experiment, ExperimentKey, Sample, Scale
from . import guest, scenarios
from .keys import Key

MEASURED = Path(__file__).with_name("measured.json")
"""What the guest measured, for hosts without one."""


@cache
def measured() -> dict[str, Any]:
    """Kernel, settings, and the samples by cell and seed."""
    if not MEASURED.exists():
        return {"cells": {}}
    found: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return found


def in_kernel(variant: str, seed: int, scale: Scale) -> Sample:
    """A cell in the guest; without a guest, what is kept of one."""
    if guest.missing() is None:
        return kept(guest.run(scenarios.cell(variant, seed, scale), seed))
    found = measured()["cells"].get(variant, {}).get(str(seed))
    if found is None or scale.quick:
        raise guest.GuestError(f"{variant}, seed {seed} was not measured, and {guest.missing()}")
    return dict(found)


def kept(found: dict[str, Any]) -> Sample:
    """What is kept of a cell in the guest: as of one in the simulator."""
    drops, marks = (events(found["counters"], names) for names in (DROPS, MARKS))
    return {
        "goodput_bps": sum(found["goodputs_bps"]),
        "lowest_bps": min(found["goodputs_bps"]),
        # of several flows, the mean of their medians
        "queueing_s": sum(flow.get("p50_s", 0.0) for flow in found["flows"]) / len(found["flows"]),
        "drops": drops,
        "marks": marks,
    }


DROPS, MARKS = ("drops",), ("ecn_mark", "marked")
"""Counters of `tc -s qdisc`."""


def events(counters: list[dict[str, Any]], names: tuple[str, ...]) -> float:
    """How much the counters grew between the end of the warm-up and the end."""
    first, last = (sum(one.get(name, 0) for name in names) for one in counters)
    return float(last - first)


def simulated(variant: str, seed: int, scale: Scale) -> Sample:
    """A cell in the simulator. The starts of the flows depend on the seed, so each seed has a scenario of its own."""
    result: Any = Scenario.from_tree(scenarios.tree(variant, seed, scale)).run(seed=seed)
    network = scenarios.parts(variant)[2]
    flows = result.flows
    goodputs = flows["goodput_bps"].to_list()
    # the column is relative to the shortest one-way delay after the warm-up; a queue that is never empty is in that, too
    above = flows["owd_min_s"] - (network.one_way_s + network.transmission_s)
    return {
        "goodput_bps": float(sum(goodputs)),
        "lowest_bps": float(min(goodputs)),
        "queueing_s": float((flows["queueing_delay_p50_s"] + above).mean()),
        "drops": float(result["link.bottleneck.drops"]),
        "marks": float(result["link.bottleneck.marked_packets"]),
        "trace_hash": result.trace_hash,
        "packet_hops": float(result.packet_hops),
    }


def _experiment(key: Key, measure: Any) -> Experiment:
    return Experiment(
        key,
        key,
        scenarios.grid(),
        lambda variant, scale: scenarios.tree(variant, 1, scale),
        lambda *_: {},
        seeds=scenarios.SEEDS,
        quick_seeds=1,
        measure=measure,
    )


EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    Key.SIMULATED: _experiment(Key.SIMULATED, simulated),
    Key.KERNEL: _experiment(Key.KERNEL, in_kernel),
}
