"""Samples of runs: a number a consumer, and the counters of the network."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base import Sample, Scale, Tree
from . import scenarios


def consumers(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Throughput and delay of consumers; losses of Interests and Data; the maximum queue."""
    return _consumers(result, scenarios.DATA)


def setting(result: Any, variant: str, _scale: Scale) -> Sample:
    """Measurements of consumers for other settings."""
    return _consumers(result, scenarios.SETTINGS[variant].data)


def _consumers(result: Any, data: Tree) -> Sample:
    flows, nodes = result.flows, result.nodes
    goodput = flows["goodput_bps"].to_numpy().astype(float)
    return {
        # empty, not zero, where a consumer had no Data at all
        "delay_s": flows["delay_s"].fill_null(float("nan")).to_numpy().astype(float),
        "wire_bps": goodput * scenarios.data_bytes(data) / scenarios.payload_bytes(data),
        "asked": float(flows["sent_packets"].sum()),
        "again": float(flows["retransmits"].sum() or 0),
        "refused": float(flows["nacks"].sum() or 0),
        "lost": float(flows["drops"].sum()) + float(nodes["policed"].sum() or 0),
        "longest_queue": float(result.links["queue_max_packets"].max()),
        "pending_peak": float(nodes["pending_peak"].max()),
    }


def stores(result: Any, variant: str, scale: Scale) -> Sample:
    """Measurements of consumers, and hit ratios of stores: on the consumers' nodes, on routers, all together."""
    rows = {row["node"]: row for row in result.nodes.to_dicts()}
    own = [rows[scenarios.node(scenarios.DEPTH, i)] for i in range(scenarios.LEAVES)]
    routers = [rows[scenarios.node(level, i)] for level in range(scenarios.DEPTH) for i in range(2**level)]
    wanted = sum(row["interests_in"] for row in own)
    return {
        **consumers(result, variant, scale),
        "own_hits": _ratio(own),
        "router_hits": _ratio(routers),
        "aggregated": sum(row["aggregated"] for row in routers) / wanted,
        "from_server": rows["server"]["interests_in"] / wanted,
        "utilisation": float(
            np.mean([row["utilisation"] for row in result.links.to_dicts() if _below_root(row)])
        ),
    }


def _below_root(row: dict[str, Any]) -> bool:
    return bool(row["from"] == scenarios.node(0, 0) and row["to"] != "server")


def _ratio(rows: list[dict[str, Any]]) -> float:
    hits = sum(row["hits"] for row in rows)
    return float(hits / max(hits + sum(row["misses"] for row in rows), 1))
