"""Differences between implementations of one algorithm: how large, and on how many networks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from .._base import FigureSpec, Pair, PairFigureSpec, Samples, Scale, Table
from .._common import short, table
from . import origins, scenarios
from .keys import Key
from .measures import BAND, NAMES, QUANTITIES, apart, mean
from .scenarios import BASELINE, LABELS, NETWORKS, variant


def _differ(difference: float | None) -> bool:
    return difference is not None and abs(difference) > BAND


def summary(samples: Samples, _scale: Scale) -> Table:
    """Each implementation: means over the networks, and on how many it differs from the baseline."""
    rows = []
    for key in Key:
        for implementation in scenarios.implementations(key):
            row: dict[str, Any] = {"algorithm": NAMES[key], "implementation": LABELS[implementation]}
            for quantity in QUANTITIES:
                cells = [
                    [
                        mean(samples[key, variant(one, network)], quantity)
                        for one in (implementation, BASELINE)
                    ]
                    for network in NETWORKS
                ]
                row[quantity] = short(float(np.mean([value for value, _ in cells])))
                differ = sum(_differ(apart(value, baseline, quantity)) for value, baseline in cells)
                row[f"{quantity.rpartition('_')[0]}_differs"] = differ
            rows.append(row)
    return table("Means over 24 networks, and the networks on which it differs by more than 15 %", rows)


def differences(samples: Samples, _scale: Scale) -> Table:
    """Each difference above 15 % of a stack's own controller: the parts of controller and transport."""
    return table("Differences above 15 %, network by network", list(_differences(samples)))


def _differences(samples: Samples) -> Iterator[dict[str, Any]]:
    for key in Key:
        for implementation in scenarios.implementations(key):
            if implementation in ("tcp", BASELINE) or implementation.endswith("-plugged"):
                continue
            for network in NETWORKS:
                for quantity in QUANTITIES:
                    own, plugged, baseline = (
                        mean(samples[key, variant(one, network)], quantity)
                        for one in (implementation, f"{implementation}-plugged", BASELINE)
                    )
                    difference = apart(own, baseline, quantity)
                    if not _differ(difference):
                        continue
                    controller, transport = apart(own, plugged, quantity), apart(plugged, baseline, quantity)
                    yield {
                        "algorithm": NAMES[key],
                        "implementation": LABELS[implementation],
                        "network": network,
                        "quantity": quantity.rpartition("_")[0].replace("_", " "),
                        "value": short(own),
                        "baseline": short(baseline),
                        "difference_percent": _percent(difference),
                        "of_controller_percent": _percent(controller),
                        "of_transport_percent": _percent(transport),
                    }


def _percent(share: float | None) -> float | None:
    return None if share is None else short(100 * share)


def kernel(pair: Pair) -> Table | None:
    """TCP of the kernel: means over the networks that were run, and on how many it differs from the baseline there."""
    rows = []
    for key in Key:
        networks = pair.variants(key)
        if not networks:
            continue
        row: dict[str, Any] = {
            "algorithm": NAMES[key],
            "implementation": "TCP of the kernel",
            "networks": len(networks),
        }
        for quantity in QUANTITIES:
            cells = [
                [mean(world[key, network], quantity) for world in (pair.emulated, pair.simulated)]
                for network in networks
            ]
            row[quantity] = short(float(np.mean([value for value, _ in cells])))
            row[f"{quantity.rpartition('_')[0]}_differs"] = sum(
                _differ(apart(value, baseline, quantity)) for value, baseline in cells
            )
        rows.append(row)
    return (
        table("TCP of the kernel: means, and networks more than 15 % from the baseline", rows)
        if rows
        else None
    )


def kernel_differences(pair: Pair) -> Table | None:
    """Each network and quantity of the kernel more than 15 % from the baseline."""
    rows = []
    for key in Key:
        for network, quantity in product(pair.variants(key), QUANTITIES):
            value, baseline = (
                mean(world[key, network], quantity) for world in (pair.emulated, pair.simulated)
            )
            difference = apart(value, baseline, quantity)
            if not _differ(difference):
                continue
            rows.append(
                {
                    "algorithm": NAMES[key],
                    "network": network,
                    "quantity": quantity.rpartition("_")[0].replace("_", " "),
                    "value": short(value),
                    "baseline": short(baseline),
                    "difference_percent": _percent(difference),
                }
            )
    return table("The kernel: differences above 15 %, network by network", rows) if rows else None


def pair_specs() -> tuple[PairFigureSpec, ...]:
    """The kernel beside the baseline: means, each difference."""
    return (
        PairFigureSpec("kernel", kernel),
        PairFigureSpec("kernel_differences", kernel_differences),
    )


def figure_specs() -> tuple[FigureSpec, ...]:
    """The summary, each difference, and the steps that make them, with their lines of source."""
    every = tuple(Key)
    return (
        FigureSpec("summary", "Implementations of three algorithms", every, summary),
        FigureSpec("differences", "Differences above 15 %", every, differences),
        *origins.figure_specs(),
    )
