"""The kernel's numbers beside those of the simulator and of ns-3, disagreements first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import _plot
from .._base import Figure, FigureSpec, Sample, Samples, Scale, Table
from .._common import short, table
from . import scenarios
from .keys import Key

QUANTITIES = ("goodput", "queueing", "drops", "marks")
"""Of every cell."""
BANDS: dict[str, tuple[str, float, float]] = {
    "goodput": ("goodput_bps", scenarios.GOODPUT_BAND, 0.0),
    "queueing": ("queueing_s", scenarios.DELAY_BAND, scenarios.DELAY_BAND_S),
    "drops": ("drops", scenarios.DROPS_BAND, 0.0),
    "marks": ("marks", scenarios.DROPS_BAND, 0.0),
    "time": ("time_s", scenarios.DELAY_BAND, scenarios.DELAY_BAND_S),
    "slower": ("lowest_bps", scenarios.GOODPUT_BAND, 0.0),
}
"""Key of a sample, share of the kernel's value, and difference that is always in the band."""


def mean(samples: Sequence[Sample], key: str) -> float:
    """Mean over the runs."""
    return float(np.mean([sample[key] for sample in samples]))


def in_words(samples: Sequence[Sample], key: str, factor: float) -> str:
    """Mean, smallest and largest run, `4.41 (4.37 to 4.44)`; the mean alone if the others print the same."""
    from thalweg.report.numbers import number

    values = [sample[key] * factor for sample in samples]
    low, high = number(min(values), 3), number(max(values), 3)
    middle = number(mean(samples, key) * factor, 3)
    return middle if low == high else f"{middle} ({low} to {high})"


def _tick(first: float, value: float, _position: int | None = None) -> str:
    """The label of a tick; at the first one are smaller values too."""
    return f"{'≤ ' if value <= first else ''}{value:,g}"


def compared(variant: str) -> tuple[str, ...]:
    """The quantities of a cell."""
    more = {"short": ("time",), "requests": ("time",), "limited": ("slower",)}
    return (*QUANTITIES, *more.get(scenarios.parts(variant)[2].load, ()))


def agreed(
    theirs: dict[str, float], ours: dict[str, float], names: Sequence[str] = QUANTITIES
) -> dict[str, bool]:
    """Which quantities of a cell are in their bands."""

    def near(name: str) -> bool:
        key, share, at_once = BANDS[name]
        return abs(ours[key] - theirs[key]) <= max(share * theirs[key], at_once)

    return {name: near(name) for name in names}


WORLDS: dict[str, Key] = {"kernel": Key.KERNEL, "ours": Key.SIMULATED, "ns3": Key.NS3}
"""Names in columns."""

SHOWN: dict[str, tuple[str, str, float]] = {
    "goodput": ("goodput_{}_mbps", "goodput_bps", 1e-6),
    "queueing": ("queueing_{}_ms", "queueing_s", 1e3),
    "drops": ("drops_{}", "drops", 1.0),
    "time": ("time_{}_ms", "time_s", 1e3),
    "slower": ("slower_{}_mbps", "lowest_bps", 1e-6),
}
"""Column, key of a sample, and factor of the quantities that cells show."""


def means(samples: Sequence[Sample]) -> dict[str, float]:
    """Means over the runs, of the quantities that are compared."""
    return {key: mean(samples, key) for key, _, _ in BANDS.values() if key in samples[0]}


def differing(samples: Samples, world: Key, variant: str) -> list[str] | None:
    """The quantities of a cell in which a world is out of the kernel's bands; None where the cell was not run in it."""
    if (world, variant) not in samples.by_case:
        return None
    names = compared(variant)
    agrees = agreed(means(samples[Key.KERNEL, variant]), means(samples[world, variant]), names)
    return [name for name in names if not agrees[name]]


def variants(samples: Samples, *, loaded: bool) -> list[str]:
    """The cells of flows without end, or those whose applications pause."""
    return [one for one in samples.variants(Key.KERNEL) if (one.split()[2] in scenarios.LOADED) == loaded]


def rows(samples: Samples, *, loaded: bool = False) -> list[dict[str, Any]]:
    """A row per cell, those first in which the simulator differs in the most quantities."""
    found = []
    worlds = {name: world for name, world in WORLDS.items() if not (loaded and world is Key.NS3)}
    for variant in variants(samples, loaded=loaded):
        queue, tcp, network = variant.split()
        out = {name: differing(samples, world, variant) for name, world in worlds.items()}
        row: dict[str, Any] = {"queue": queue, "tcp": tcp, "network": network}
        for name in [name for name in out if name != "kernel"]:
            names = out[name]
            row[f"{name}_differs"] = "not run" if names is None else ", ".join(names) or "–"
        for quantity, (column, key, factor) in SHOWN.items():
            if quantity not in QUANTITIES and not loaded:
                continue
            for name, world in worlds.items():
                runs = samples.by_case.get((world, variant)) if quantity in compared(variant) else None
                row[column.format(name)] = in_words(runs, key, factor) if runs else "–"
        found.append((-len(out["ours"] or ()), row))
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def cells(samples: Samples, _scale: Scale) -> Table:
    """Every cell."""
    return table(
        "Cell by cell, disagreements first; in parentheses the smallest and the largest run", rows(samples)
    )


def loaded_cells(samples: Samples, _scale: Scale) -> Table:
    """Every cell whose applications pause."""
    title = "Cells with applications that pause, disagreements first; in parentheses the smallest and the largest run"
    return table(title, rows(samples, loaded=True))


def summary(samples: Samples, _scale: Scale) -> Table:
    """How many cells agree with the kernel, by queue discipline and by TCP, and in which quantities the simulator does."""
    lines = []
    for name, here in _by_part(variants(samples, loaded=False)).items():
        theirs = [differing(samples, Key.NS3, variant) for variant in here]
        line = _agreement(samples, name, here, QUANTITIES) | {
            "ns3_cells": sum(names is not None for names in theirs),
            "ns3_agree": sum(names == [] for names in theirs),
        }
        lines.append(line)
    return table("Cells that agree with the kernel", lines)


def loaded_summary(samples: Samples, _scale: Scale) -> Table:
    """The summary of cells whose applications pause, also by what these do."""
    here = variants(samples, loaded=True)
    parts = _by_part(here)
    total = parts.pop("all")
    for load, words in scenarios.LOADS.items():
        parts[words] = [variant for variant in here if scenarios.parts(variant)[2].load == load]
    lines = [
        _agreement(samples, name, cells, tuple(BANDS)) for name, cells in (parts | {"all": total}).items()
    ]
    return table("Cells with applications that pause that agree with the kernel", lines)


def _by_part(variants: Sequence[str]) -> dict[str, list[str]]:
    """The cells of each queue discipline and of each TCP, and all of them."""
    names = [name for names in scenarios.known() for name in names]
    parts = {name: [variant for variant in variants if name in variant.split()] for name in names}
    return {name: here for name, here in parts.items() if here} | {"all": list(variants)}


def _agreement(samples: Samples, name: str, here: Sequence[str], quantities: Sequence[str]) -> dict[str, Any]:
    """How many cells of a part agree, in all and in each quantity that they have."""
    ours = {variant: differing(samples, Key.SIMULATED, variant) or [] for variant in here}
    agree = sum(not names for names in ours.values())
    line: dict[str, Any] = {"part": name, "cells": len(here), "agree": agree}
    for quantity in quantities:
        having = [names for variant, names in ours.items() if quantity in compared(variant)]
        agreeing = sum(quantity not in names for names in having)
        line[f"{quantity}_agrees"] = agreeing if having else "–"
    return line | {"agree_percent": short(100 * agree / len(here))}


def scatter(samples: Samples, scale: Scale) -> Figure:
    """Each cell: the simulator's and ns-3's value over the kernel's; the shade is the band."""
    figure, ((*panels,),) = _plot.panels(1, 3, height=3.2)
    titles = {
        "goodput": ("Goodput", "Mbit/s", scenarios.GOODPUT_BAND, 0.0),
        "queueing": ("Median queueing delay", "ms", scenarios.DELAY_BAND, 1e3 * scenarios.DELAY_BAND_S),
        "drops": ("Dropped packets", "packets", scenarios.DROPS_BAND, 0.0),
    }
    for axes, (quantity, (title, unit, share, at_once)) in zip(panels, titles.items(), strict=True):
        _, key, factor = SHOWN[quantity]
        floor = {"goodput": 2.0, "queueing": 0.1, "drops": 1.0}[quantity]
        top = floor
        for name, world, colour in (("ns-3", Key.NS3, 1), ("Thalweg", Key.SIMULATED, 0)):
            pairs = [
                (mean(samples[Key.KERNEL, variant], key), mean(samples[world, variant], key))
                for variant in variants(samples, loaded=False)
                if (world, variant) in samples.by_case
            ]
            shown = [[max(factor * value, floor) for value in pair] for pair in pairs]
            top = max([top, *(value for pair in shown for value in pair)])
            axes.plot(
                [x for x, _ in shown],
                [y for _, y in shown],
                linestyle="",
                marker=_plot.MARKERS[colour],
                markersize=3.2,
                alpha=0.75,
                color=_plot.colour_of(colour),
                label=name,
            )
        line = np.geomspace(floor, 1.2 * top, 100)
        width = np.maximum(share * line, at_once)
        axes.fill_between(
            line, np.maximum(line - width, floor / 2), line + width, color=_plot.FAINT, alpha=0.3, linewidth=0
        )
        axes.plot(line, line, color=_plot.INK, linewidth=0.6)
        _plot.logarithmic(axes, "x", "y")
        axes.set_xlim(0.9 * floor, 1.3 * top)
        axes.set_ylim(0.9 * floor, 1.3 * top)
        _plot.finish(axes, title, f"simulated ({unit})", x=f"Linux kernel ({unit})", legend=False)
        ticks = (2, 5, 10, 20) if quantity == "goodput" else (0.1, 1, 10, 100, 1000, 10_000)
        _plot.whole_ticks(axes, ticks, "xy")
        if quantity != "goodput":
            # zero has no place on a logarithmic axis: smaller values are at the first tick
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(partial(_tick, floor))
    _plot.legend(figure, panels[0])
    title = "Each cell beside the Linux kernel"
    words = (
        "Means of three runs per cell, of the simulator and of ns-3 over those of the kernel. The shade is the band in "
        "which a cell agrees; values below the first tick are drawn at it."
    )
    return Figure(title, words, _plot.svg(figure, "kernel", title), {"cells": cells(samples, scale)})


def figure_specs() -> tuple[FigureSpec, ...]:
    """The summary, the picture and the cells, and summary and cells of applications that pause."""
    every = (Key.KERNEL, Key.SIMULATED, Key.NS3)
    return (
        FigureSpec("summary", "Cells that agree", every, summary),
        FigureSpec("scatter", "Each cell beside the kernel", every, scatter),
        FigureSpec("cells", "Cell by cell", every, cells),
        FigureSpec("loads", "Cells with applications that pause that agree", every[:2], loaded_summary),
        FigureSpec("loaded-cells", "Cell by cell, with applications that pause", every[:2], loaded_cells),
    )
