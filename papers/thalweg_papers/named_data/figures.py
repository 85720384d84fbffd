"""Throughput against delay, fairness and loss on each network, and what other settings do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from thalweg.plots import NO_SCHEME

from .. import _plot
from .._base import Figure, FigureSpec, Sample, Samples, Scale, Table
from .._common import columns, jain, table
from . import drawing, scenarios
from .keys import Key
from .scenarios import SETUPS

Value = Callable[[Sample], float]

LOOKS = {
    scenarios.CONSTANT: 4,
    scenarios.WINDOW: 0,
    scenarios.WITH_ROUTERS: 1,
    scenarios.RATE: 2,
}
"""Marker by what moves: nothing, a window, a window with help of forwarders, a rate that forwarders write. Colours are the
schemes'."""

VALUES: dict[str, Value] = {
    "throughput_mbps": lambda s: float(s["wire_bps"].sum()) / 1e6,
    "delay_ms": lambda s: 1e3 * float(np.nanmean(s["delay_s"])),
    "jain": lambda s: jain(s["wire_bps"]),
    "min_mbps": lambda s: float(s["wire_bps"].min()) / 1e6,
    "lost_percent": lambda s: 100 * s["lost"] / s["asked"],
    "refused_percent": lambda s: 100 * s["refused"] / s["asked"],
    "again_percent": lambda s: 100 * s["again"] / s["asked"],
    "longest_queue": lambda s: s["longest_queue"],
}
"""Columns of every network: one number per run."""

LONG = 2 * scenarios.EACH // 2
LOT: dict[str, Value] = {
    "long_mbps": lambda s: float(s["wire_bps"][:LONG].mean()) / 1e6,
    "short_mbps": lambda s: float(s["wire_bps"][LONG:].mean()) / 1e6,
}
"""Additional columns of the parking lot, per consumer."""

STORES: dict[str, Value] = {
    "from_stores_percent": lambda s: 100 * (1 - s["from_server"]),
    "own_hits_percent": lambda s: 100 * s["own_hits"],
    "router_hits_percent": lambda s: 100 * s["router_hits"],
    "pit_peak": lambda s: s["pending_peak"],
}
"""Additional columns of the tree."""


def rows(
    samples: Samples, experiment: Key, labels: dict[str, str], values: dict[str, Value]
) -> list[dict[str, Any]]:
    """A row for each variant: means over seeds, each followed by the ends of its interval."""
    found = []
    for variant, label in labels.items():
        row: dict[str, Any] = {"scheme": label}
        for name, value in values.items():
            quantity = samples.each(experiment, variant, value)
            row |= columns(name, quantity)
        found.append(row)
    return found


def _ends(row: dict[str, Any], name: str) -> _plot.Ends:
    """The interval of a column of a row; None without one."""
    return None if row[f"{name}_low"] is None else (row[f"{name}_low"], row[f"{name}_high"])


def labels() -> dict[str, str]:
    """Names of the rows."""
    return {variant: setup.label for variant, setup in SETUPS.items()}


def _colour(setup: scenarios.SchemeSetup) -> str:
    return NO_SCHEME if setup.scheme is None else _plot.colour_of(setup.scheme)


def _sheet(
    samples: Samples,
    experiment: Key,
    title: str,
    caption: str,
    *,
    ticks: Sequence[float],
    top: float,
    line: tuple[float | None, float | None] = (None, None),
    panel: tuple[str, Value, float | None],
    more: dict[str, Value],
) -> Figure:
    """Throughput against delay above; fairness, loss and one thing more below."""
    listed = rows(samples, experiment, labels(), {**VALUES, **more})
    figure, wide, narrow = drawing.sheet(3)
    points = [
        drawing.Point(
            setup.label,
            row["delay_ms"],
            row["throughput_mbps"],
            _ends(row, "delay_ms"),
            _ends(row, "throughput_mbps"),
            _colour(setup),
            LOOKS[setup.kind],
        )
        for setup, row in zip(SETUPS.values(), listed, strict=True)
    ]
    for place, draw in zip(line, (wide.axvline, wide.axhline), strict=True):
        if place is not None:
            draw(place, color=_plot.FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
    drawing.scatter(wide, points, "delay (ms)", "throughput (Mbit/s)", ticks, top)
    drawing.key(wide, list(LOOKS.items()))
    names = [setup.label for setup in SETUPS.values()]
    colours = [_colour(setup) for setup in SETUPS.values()]

    def column(name: str) -> tuple[list[float], list[_plot.Ends]]:
        return [row[name] for row in listed], [_ends(row, name) for row in listed]

    drawing.bars(narrow[0], names, [("", *column("jain"))], "Jain index", colours, top=1.0, named=True)
    drawing.bars(
        narrow[1],
        names,
        [("lost", *column("lost_percent")), ("refused", *column("refused_percent"))],
        "Lost, refused (%)",
        colours,
        minimum=0.01,
        top=100.0,
        named=False,
    )
    words, value, end = panel
    quantities = [samples.each(experiment, variant, value) for variant in SETUPS]
    drawing.bars(
        narrow[2],
        names,
        [("", [q.mean for q in quantities], [q.interval for q in quantities])],
        words,
        colours,
        top=end,
        named=False,
    )
    drawing.name_points(figure, wide, points)
    return Figure(
        title,
        caption + " Crosses and whiskers are 95 % intervals over seeds; hatched, refused.",
        _plot.svg(figure, experiment.replace(" ", "-"), f"{title}: throughput against delay, fairness, loss"),
        {"rows": table(title, listed)},
    )


def dumbbell(samples: Samples, _scale: Scale) -> Figure:
    """Four consumers of different round-trip times."""
    return _sheet(
        samples,
        Key.DUMBBELL,
        "Dumbbell: four round-trip times at one bottleneck",
        "Sum of what four consumers get of 20 Mbit/s, and their mean delay; dashed, the delay without queues. Below: "
        "fairness among them, what was lost and refused of 100 Interests, and the longest queue; there is room for 200.",
        ticks=(80, 90, 100, 120, 150, 200, 250),
        top=23.0,
        line=(float(np.mean(scenarios.ROUND_TRIPS_MS)), None),
        panel=("Longest queue (packets)", VALUES["longest_queue"], None),
        more={},
    )


def parking_lot(samples: Samples, _scale: Scale) -> Figure:
    """Long ways and short ones."""
    return _sheet(
        samples,
        Key.PARKING_LOT,
        "Parking lot: long ways over three bottlenecks, and short ones",
        "Sum of what all get and their mean delay. Dashed, the sum at fair shares: who is above it took it from the long "
        "ways, whose part of their fair 5 Mbit/s is on the right.",
        ticks=(40, 50, 70, 100, 150, 200, 300, 500),
        top=66.0,
        line=(None, 8 * scenarios.LOT_BPS / (2 * scenarios.EACH) / 1e6),
        panel=(
            "Long ways (Mbit/s each)",
            LOT["long_mbps"],
            None,
        ),
        more=LOT,
    )


def tree(samples: Samples, _scale: Scale) -> Figure:
    """One catalogue and stores."""
    return _sheet(
        samples,
        Key.TREE,
        "Tree: eight consumers of one catalogue, stores in all nodes",
        "Sum of what eight consumers get, what their own stores have included, and the mean delay of all of it; without "
        "stores the two links of the root could bring 20 Mbit/s. Right: maximum number of Interests pending in one node.",
        ticks=(10, 20, 30, 50, 100, 200, 300),
        top=70.0,
        panel=("Pending at most (Interests)", STORES["pit_peak"], None),
        more=STORES,
    )


def settings(samples: Samples, _scale: Scale) -> Table:
    """One thing set otherwise on the dumbbell, below the row that it differs from."""
    listed = []
    for variant, setup in SETUPS.items():
        others = {
            name: setting.words
            for name, setting in scenarios.SETTINGS.items()
            if setting.words.startswith(f"{setup.label},")
        }
        if others:
            listed += rows(samples, Key.DUMBBELL, {variant: setup.label}, VALUES)
            listed += rows(samples, Key.SETTINGS, others, VALUES)
    return table("The dumbbell with one thing set otherwise", listed)


def _table(experiment: Key, title: str, more: dict[str, Value]) -> Callable[[Samples, Scale], Table]:
    def draw_table(samples: Samples, _scale: Scale) -> Table:
        return table(title, rows(samples, experiment, labels(), {**VALUES, **more}))

    return draw_table


def figure_specs() -> list[FigureSpec]:
    """Everything that is drawn or tabulated."""
    return [
        FigureSpec("dumbbell", "Four round-trip times at one bottleneck", (Key.DUMBBELL,), dumbbell),
        FigureSpec("parking-lot", "Long ways and short ones", (Key.PARKING_LOT,), parking_lot),
        FigureSpec("tree", "One catalogue, and stores in all nodes", (Key.TREE,), tree),
        FigureSpec("table-dumbbell", "Dumbbell", (Key.DUMBBELL,), _table(Key.DUMBBELL, "Dumbbell", {})),
        FigureSpec(
            "table-parking-lot",
            "Parking lot",
            (Key.PARKING_LOT,),
            _table(Key.PARKING_LOT, "Parking lot", LOT),
        ),
        FigureSpec(
            "table-tree", "Tree with stores", (Key.TREE,), _table(Key.TREE, "Tree with stores", STORES)
        ),
        FigureSpec(
            "settings", "The dumbbell with one thing set otherwise", (Key.DUMBBELL, Key.SETTINGS), settings
        ),
    ]
