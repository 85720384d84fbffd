"""Tables: the kernel's numbers beside ours, disagreements first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base import FigureSpec, Sample, Samples, Scale, Table
from .._common import short, table
from . import scenarios
from .keys import Key

QUANTITIES = ("goodput", "queueing", "drops", "marks")


def mean(samples: Sequence[Sample], key: str) -> float:
    """Mean over the runs."""
    return float(np.mean([sample[key] for sample in samples]))


def spread(samples: Sequence[Sample], key: str) -> float:
    """Half of the difference between the largest and the smallest run."""
    values = [sample[key] for sample in samples]
    return float(max(values) - min(values)) / 2


def agreed(theirs: dict[str, float], ours: dict[str, float]) -> dict[str, bool]:
    """Which quantities of a cell are in their bands."""

    def near(key: str, share: float, at_once: float = 0.0) -> bool:
        return abs(ours[key] - theirs[key]) <= max(share * theirs[key], at_once)

    return {
        "goodput": near("goodput_bps", scenarios.GOODPUT_BAND),
        "queueing": near("queueing_s", scenarios.DELAY_BAND, scenarios.DELAY_BAND_S),
        "drops": near("drops", scenarios.DROPS_BAND),
        "marks": near("marks", scenarios.DROPS_BAND),
    }


def rows(samples: Samples) -> list[dict[str, Any]]:
    """A row per cell, those first that agree in the fewest quantities."""
    found = []
    for variant in samples.variants(Key.KERNEL):
        worlds = [samples[key, variant] for key in (Key.KERNEL, Key.SIMULATED)]
        means = [
            {key: mean(runs, key) for key in ("goodput_bps", "queueing_s", "drops", "marks")}
            for runs in worlds
        ]
        agrees = agreed(*means)
        queue, tcp, network = variant.split()
        row: dict[str, Any] = {
            "queue": queue,
            "tcp": tcp,
            "network": network,
            "differs": ", ".join(name for name in QUANTITIES if not agrees[name]) or "–",
        }
        for name, key, factor in (
            ("goodput_{}_mbps", "goodput_bps", 1e-6),
            ("queueing_{}_ms", "queueing_s", 1e3),
            ("drops_{}", "drops", 1.0),
        ):
            for world, runs in zip(("kernel", "ours"), worlds, strict=True):
                row[name.format(world)] = f"{mean(runs, key) * factor:.4g} ± {spread(runs, key) * factor:.2g}"
        row["agrees"] = all(agrees.values())
        found.append((sum(agrees.values()), row))
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def cells(samples: Samples, _scale: Scale) -> Table:
    """Every cell."""
    return table("Cell by cell, disagreements first; ± is half the range of the runs", rows(samples))


def summary(samples: Samples, _scale: Scale) -> Table:
    """How many cells agree, by queue discipline and by TCP."""
    found = rows(samples)
    names = [("queue", name) for name in scenarios.known()[0]] + [
        ("tcp", name) for name in scenarios.known()[1]
    ]
    lines = []
    for kind, name in [*names, ("", "all")]:
        here = [row for row in found if name in (row.get(kind), "all")]
        line: dict[str, Any] = {"part": name, "cells": len(here), "agree": sum(row["agrees"] for row in here)}
        for quantity in QUANTITIES:
            line[quantity] = sum(quantity not in row["differs"].split(", ") for row in here)
        line["agree_percent"] = short(100 * line["agree"] / len(here))
        lines.append(line)
    return table("Cells that agree", lines)


def figure_specs() -> tuple[FigureSpec, ...]:
    """The summary and the cells."""
    both = (Key.KERNEL, Key.SIMULATED)
    return (
        FigureSpec("summary", "Cells that agree", both, summary),
        FigureSpec("cells", "Cell by cell", both, cells),
    )
