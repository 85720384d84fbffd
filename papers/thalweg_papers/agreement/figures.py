"""Cells of the grid: shares and queues in both worlds, and how many of them agree."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .. import _plot
from .._base import Figure, Pair, PairFigureSpec, Sample, Table
from .._common import short, table
from . import scenarios

SHARE_BAND, QUEUE_BAND = 0.15, 0.25
STACK_BAND = 0.10
"""Shares and mean queues of two flows of a QUIC stack."""
NAMES = {
    "newreno": "NewReno",
    "cubic": "CUBIC",
    "cvihis": "CVIHIS beside NewReno",
    "cvihis alone": "CVIHIS",
    "bbr": "BBR (reported only)",
    "quinn": "quinn, CUBIC",
    "noq": "noq, CUBIC",
}


def share(sample: Sample) -> float:
    """The first flow's share of the sum."""
    first, second = sample["goodput a"], sample["goodput b"]
    return float(first / (first + second))


def mean(samples: Any, value: Any) -> float:
    """Mean of a value over runs."""
    return float(np.mean([value(sample) for sample in samples]))


def apart(emulated: float, simulated: float) -> float:
    """The difference of the emulated and the simulated value, relative to the latter."""
    return abs(emulated / simulated - 1) if simulated else float("inf")


def shares_apart(emulated: float, simulated: float) -> float:
    """The maximum of this difference over the shares of both flows."""
    return max(apart(emulated, simulated), apart(1 - emulated, 1 - simulated))


def bands(kind: str) -> tuple[float, float]:
    """Largest differences of shares and of mean queues with which a cell of this kind agrees."""
    return (STACK_BAND, STACK_BAND) if kind in scenarios.STACKS else (SHARE_BAND, QUEUE_BAND)


def cell_rows(pair: Pair) -> list[dict[str, Any]]:
    """A row for each cell of which a valid run is there."""
    rows = []
    for kind in scenarios.EXPERIMENTS:
        for variant in pair.variants(kind):
            simulated, emulated = pair.simulated[kind, variant], pair.emulated[kind, variant]
            shares = [mean(runs, share) for runs in (simulated, emulated)]
            queues = [mean(runs, lambda s: s["queue_packets"]) for runs in (simulated, emulated)]
            losses = [
                mean(runs, lambda s: 50 * (s["loss a"] + s["loss b"])) for runs in (simulated, emulated)
            ]
            used = [mean(runs, lambda s: 100 * s["utilisation"]) for runs in (simulated, emulated)]
            mbps, rtt, buffer, traffic = scenarios.parts(variant)
            share_band, queue_band = bands(kind)
            rows.append(
                {
                    "flows": NAMES[kind],
                    "rate_mbps": mbps,
                    "rtt_ms": rtt,
                    "buffer_bdp": buffer,
                    "traffic_percent": traffic,
                    "runs": len(emulated),
                    "share_simulated": short(shares[0]),
                    "share_emulated": short(shares[1]),
                    "shares_agree": shares_apart(shares[1], shares[0]) <= share_band,
                    "queue_simulated_packets": short(queues[0]),
                    "queue_emulated_packets": short(queues[1]),
                    "queue_agrees": apart(queues[1], queues[0]) <= queue_band,
                    "used_simulated_percent": short(used[0]),
                    "used_emulated_percent": short(used[1]),
                    "lost_simulated_percent": short(losses[0]),
                    "lost_emulated_percent": short(losses[1]),
                }
            )
    return rows


def cells(pair: Pair) -> Table | None:
    """Every cell."""
    rows = cell_rows(pair)
    return table("Cell by cell: shares of the first flow, mean queue, use and loss", rows) if rows else None


def agreement(pair: Pair) -> Table | None:
    """The number of cells that agree, by kind and by random traffic."""
    rows = []
    found = cell_rows(pair)
    for name, traffic in product(NAMES.values(), (scenarios.NOISE_PERCENT, scenarios.LIGHT_NOISE_PERCENT)):
        here = [row for row in found if row["flows"] == name and row["traffic_percent"] == traffic]
        if not here:
            continue
        queues = [row["queue_emulated_packets"] / row["queue_simulated_packets"] for row in here]
        apart_by = [shares_apart(row["share_emulated"], row["share_simulated"]) for row in here]
        rows.append(
            {
                "flows": name,
                "traffic_percent": traffic,
                "cells": len(here),
                "shares_agree": sum(row["shares_agree"] for row in here),
                "queues_agree": sum(row["queue_agrees"] for row in here),
                "both": sum(row["shares_agree"] and row["queue_agrees"] for row in here),
                "shares_apart_mean_percent": short(100 * float(np.mean(apart_by))),
                "queue_ratio_min": short(min(queues)),
                "queue_ratio_mean": short(float(np.mean(queues))),
                "queue_ratio_max": short(max(queues)),
            }
        )
    title = (
        "Cells that agree, of those that were run: shares within 15 % and mean queues within 25 %, of QUIC stacks both "
        "within 10 %"
    )
    return table(title, rows) if rows else None


def queues(pair: Pair) -> Figure | None:
    """Emulated over simulated queue, and shares, each cell a point."""
    rows = cell_rows(pair)
    if not rows:
        return None
    figure, (panels,) = _plot.panels(1, 2, height=3.2)
    left, right = panels
    for colour, name in enumerate(NAMES.values()):
        here = [row for row in rows if row["flows"] == name]
        style: dict[str, Any] = {
            "linestyle": "",
            "marker": _plot.MARKERS[colour % len(_plot.MARKERS)],
            "color": _plot.COLOURS[colour % len(_plot.COLOURS)],
            "markersize": 5,
        }
        for panel, key in ((left, "queue_{}_packets"), (right, "share_{}")):
            points = [[row[key.format(world)] for row in here] for world in ("simulated", "emulated")]
            if here:
                panel.plot(*points, label=name, **style)
    top = 1.1 * max(row[f"queue_{world}_packets"] for row in rows for world in ("simulated", "emulated"))
    for panel, end, band in ((left, top, QUEUE_BAND), (right, 1.0, SHARE_BAND)):
        panel.fill_between(
            [0, end], [0, end * (1 - band)], [0, end * (1 + band)], color=_plot.FAINT, alpha=0.25
        )
        panel.set_xlim(0, end)
    _plot.finish(left, "mean queue (packets)", "emulated", x="simulated", top=top)
    _plot.finish(right, "share of the first flow", "emulated", x="simulated", top=1.0, legend=False)
    return Figure(
        "Simulated and emulated, cell by cell",
        "Points in the band agree: mean queues within 25 %, shares within 15 %. QUIC stacks have a band of 10 %.",
        _plot.svg(figure, "agreement", "Emulated over simulated queues and shares"),
    )


def figure_specs() -> tuple[PairFigureSpec, ...]:
    """The summary, the picture, the cells."""
    return (
        PairFigureSpec("agreement", agreement),
        PairFigureSpec("queues", queues),
        PairFigureSpec("cells", cells),
    )
