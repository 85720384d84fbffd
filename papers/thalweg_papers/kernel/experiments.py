"""The cells of the grid in both worlds, and what is kept of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

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
    return kept(guest.run(scenarios.cell(variant, seed, scale), seed))


def in_ns3(variant: str, seed: int, scale: Scale) -> Sample:
    """A cell in ns-3: what is recorded of the whole cell, or a run.

    Raises `ns3.Ns3Error` where neither is there.
    """
    found = recorded(ns3.RECORDED)["cells"].get(variant, {}).get(str(seed))
    if found is not None and scale.factor == 1:
        return dict(found)
    return ns3.run(variant, seed, scale)


def kept(found: dict[str, Any]) -> Sample:
    """The sample of a cell in the guest, in the format of the simulator."""
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
    """The increase of counters between the end of the warm-up and the end."""
    first, last = (sum(one.get(name, 0) for name in names) for one in counters)
    return float(last - first)


def simulated(variant: str, seed: int, scale: Scale) -> Sample:
    """A cell in the simulator. The starts of the flows depend on the seed, so each seed has a scenario of its own."""
    result: Any = Scenario.from_tree(scenarios.tree(variant, seed, scale)).run(seed=seed)
    flows = result.flows
    goodputs = flows["active_goodput_bps"].to_list()
    return {
        "goodput_bps": float(sum(goodputs)),
        "lowest_bps": float(min(goodputs)),
        "queueing_s": float(flows["queueing_delay_p50_s"].mean()),
        "drops": float(result["link.bottleneck.drops"]),
        "marks": float(result["link.bottleneck.marked_packets"]),
        "trace_hash": result.trace_hash,
        "packet_hops": float(result.packet_hops),
    }


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
