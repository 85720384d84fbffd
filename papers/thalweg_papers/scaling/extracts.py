"""Samples of runs: the total over time, moves, and operations of routers and controller."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale
from .._common import jain
from .scenarios import FAR_S

BIN_S = 0.1


def controlled(result: Any, _variant: str, _scale: Scale) -> Sample:
    """The total in bins of 0.1 s, in Mbit/s; moves; delays; losses; commands and their retransmissions."""
    names = [f"flow.{name}" for name in result.flows["flow"].to_list()]
    total = np.zeros(round(FAR_S / BIN_S))
    for name in names:
        times, values = _read.one(result, "throughput", name)
        total[np.rint(times / BIN_S).astype(int) - 1] += values / 1e6
    nodes = result.nodes.to_dicts()
    controllers = [row for row in nodes if row["role"] == "controller"]
    return {
        "total_mbps": total,
        "moves_s": np.asarray(_read.events(result, "prefix_moved")[0], dtype=float),
        "delay_ms": 1e3 * float(result.flows["delay_s"].mean()),
        "lost": float(result.flows["drops"].sum()),
        "commands": float(sum(row["commands"] or 0 for row in controllers)),
        "retransmitted": float(sum(row["commands_retransmitted"] or 0 for row in controllers)),
    }


def operations(result: Any, _variant: str, scale: Scale) -> Sample:
    """Operations a second at routers and at the controller, beside what consumers had."""
    seconds = scale.seconds(10.0)
    nodes = result.nodes.to_dicts()
    routers = [row for row in nodes if row["node"].startswith("r")]
    (controller,) = [row for row in nodes if row["role"] == "controller"] or [None]
    flows = result.flows
    rates = flows["active_throughput_bps"].to_numpy().astype(float)
    by_period = [(row["operations"] or 0) / seconds for row in routers]
    by_packet = [(row["part_operations"] or 0) / seconds for row in routers]
    packets = sum((row["interests_out"] or 0) + (row["data_out"] or 0) for row in routers) / seconds

    def of_controller(key: str) -> float:
        return 0.0 if controller is None else (controller[key] or 0) / seconds

    return {
        "routers": float(len(routers)),
        "total_mbps": float(rates.sum()) / 1e6,
        "jain": jain(rates),
        "delay_ms": 1e3
        * float(np.nanmean(flows["delay_s"].fill_null(float("nan")).to_numpy().astype(float))),
        "lost_percent": 100 * float(flows["drops"].sum()) / float(flows["sent_packets"].sum()),
        "by_period": float(np.mean(by_period)),
        "by_period_max": float(np.max(by_period)),
        "by_packet": float(np.mean(by_packet)),
        "by_packet_max": float(np.max(by_packet)),
        "packets": packets / len(routers),
        "controller": of_controller("operations"),
        "filter": of_controller("filter_operations"),
        "search": of_controller("search_operations"),
        "switch": of_controller("switch_operations"),
        "commands": of_controller("commands"),
        "messages": sum(
            (row["statuses"] or 0) + (row["signals"] or 0) for row in nodes if row["role"] != "controller"
        )
        / seconds,
        "moves": float(sum(row["reroutes"] or 0 for row in routers)),
    }
