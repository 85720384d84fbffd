"""Throughput, swings and moves against the way to the controller; a life and a death; operations by size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _plot
from .._base import Figure, FigureSpec, Quantity, Sample, Samples, Scale, Table
from .._common import columns, over_seeds, series_table, table
from ..ndnsieve.figures import LOOKS
from ..ndnsieve.scenarios import SETUPS
from . import scenarios
from .extracts import BIN_S
from .keys import Key
from .scenarios import BACK_S, DIES_S, FAR_S, FROM_S, JOINS_S, PROFILES, SIZES

Value = Callable[[Sample], float]


def _part(sample: Sample, begin: float, end: float) -> Any:
    return sample["total_mbps"][round(begin / BIN_S) : round(end / BIN_S)]


def throughput(begin: float = FROM_S, end: float = FAR_S) -> Value:
    """Mean of the total between two moments, in Mbit/s."""
    return lambda s: float(_part(s, begin, end).mean())


def swings(begin: float = FROM_S, end: float = FAR_S) -> Value:
    """Standard deviation of the total in bins of 0.5 s, in Mbit/s."""
    return lambda s: float(_part(s, begin, end).reshape(-1, 5).mean(axis=1).std())


def moves(begin: float = 0.0, end: float = FAR_S) -> Value:
    """Moves between two moments."""
    return lambda s: float(((s["moves_s"] > begin) & (s["moves_s"] <= end)).sum())


def until(begin: float) -> Value:
    """Seconds from a moment to the next move; up to the end if no move follows."""

    def value(sample: Sample) -> float:
        later = sample["moves_s"][sample["moves_s"] > begin]
        return float((later[0] if len(later) else FAR_S) - begin)

    return value


SAID: dict[str, Value] = {
    "throughput_mbps": throughput(),
    "swings_mbps": swings(),
    "moves": moves(),
    "delay_ms": lambda s: s["delay_ms"],
    "commands": lambda s: s["commands"],
    "retransmitted": lambda s: s["retransmitted"],
}
"""Columns of runs with delay or loss to the controller."""

LIFE: dict[str, Value] = {
    "before_mbps": throughput(2.0, DIES_S),
    "dead_mbps": throughput(JOINS_S + 2, BACK_S),
    "after_mbps": throughput(BACK_S + 2, FAR_S),
    "swings_mbps": swings(JOINS_S, FAR_S),
    "moves": moves(),
    "recovery_s": until(BACK_S),
}
"""Columns of runs with a failure of the controller."""

COSTS: dict[str, Value] = {
    "throughput_mbps": lambda s: s["total_mbps"],
    "jain": lambda s: s["jain"],
    "delay_ms": lambda s: s["delay_ms"],
    "lost_percent": lambda s: s["lost_percent"],
    "packets_per_router": lambda s: s["packets"],
    "by_period": lambda s: s["by_period"],
    "by_packet": lambda s: s["by_packet"],
    "by_packet_max": lambda s: s["by_packet_max"],
    "controller": lambda s: s["controller"],
    "search": lambda s: s["search"],
    "messages": lambda s: s["messages"],
    "moves": lambda s: s["moves"],
}
"""Columns of a network size; operations, packets and messages are per second."""


def _row(samples: Samples, experiment: Key, variant: str, values: dict[str, Value]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in values.items():
        quantity = samples.each(experiment, variant, value)
        row |= columns(name, quantity)
    return row


# --- the way to the controller -----------------------------------------------------------------------------------------


def controller(samples: Samples, _scale: Scale) -> Figure:
    """Throughput, swings and moves against delay and loss."""
    title = "Scenario 3 with a controller that is far, or hears one message in some"
    figure, axes = _plot.panels(3, 2, height=2.3)
    sweeps = (
        (Key.FAR, scenarios.FAR_MS, "delay of control links (ms)"),
        (Key.DEAF, scenarios.LOSSES, "messages lost (%)"),
    )
    rows = (
        ("throughput_mbps", "Data (Mbit/s)", 20.0),
        ("swings_mbps", "deviation over 0.5 s (Mbit/s)", None),
        ("moves", f"moves in {FAR_S:g} s", None),
    )
    for column, (experiment, places, x) in enumerate(sweeps):
        for line, (key, y, top) in enumerate(rows):
            panel = axes[line][column]
            for setup in PROFILES:
                found = [samples.each(experiment, f"{setup}: {place}", SAID[key]) for place in places]
                _line(panel, range(len(places)), found, SETUPS[setup].label, setup)
            panel.set_xticks(range(len(places)), [str(place) for place in places])
            _plot.finish(
                panel,
                "",
                y if column == 0 else "",
                x=x if line == 2 else "",
                top=top,
                margin=0.04,
                legend=False,
            )
    _plot.legend(figure, axes[0][0])
    words = f"Means and 95 % intervals over seeds, from {FROM_S:g} s on; moves from the start. Loss with 10 ms of delay."
    return Figure(title, words, _plot.svg(figure, "controller", title), {"rows": _sweep(samples)})


def _line(
    panel: Any, x: Sequence[float], found: Sequence[Quantity], label: str, setup: str, **more: Any
) -> None:
    """Means with their intervals, in the colour of a scheme."""
    _plot.points(
        panel,
        list(x),
        [quantity.mean for quantity in found],
        [quantity.interval for quantity in found],
        label,
        colour=LOOKS.get(setup, setup),
        **{"marker": _plot.MARKERS[list(SETUPS).index(setup)], "markersize": 4, **more},
    )


def _sweep(samples: Samples) -> Table:
    rows = []
    for experiment, places, unit in (
        (Key.FAR, scenarios.FAR_MS, "ms"),
        (Key.DEAF, scenarios.LOSSES, "% lost"),
    ):
        for setup in PROFILES:
            for place in places:
                case = f"{SETUPS[setup].label}, {place} {unit}"
                rows.append({"case": case, **_row(samples, experiment, f"{setup}: {place}", SAID)})
    return table("The way to the controller", rows)


def death(samples: Samples, _scale: Scale) -> Figure:
    """The total over time, by the controller's life."""
    title = "Scenario 3 with a controller that dies"
    figure, axes = _plot.panels(2, 1, height=2.6)
    tables = {}
    for line, setup in enumerate(PROFILES):
        panel = axes[line][0]
        times = np.arange(1, round(FAR_S / 0.5) + 1) * 0.5
        lines = {}
        for colour, life in enumerate(scenarios.LIVES):
            rows = [
                sample["total_mbps"].reshape(-1, 5).mean(axis=1)
                for sample in samples[Key.DEATH, f"{setup}: {life}"]
            ]
            mean, low, high = over_seeds(rows)
            _plot.band(panel, times, mean, low, high, life, colour=colour)
            lines[f"{life.replace(' ', '_').lower()}_mbps"] = mean
        _plot.shade(panel, [(DIES_S, BACK_S)])
        _plot.finish(panel, SETUPS[setup].label, "Data (Mbit/s)", top=22.0, legend=line == 0)
        tables[setup] = series_table(f"{title}: {SETUPS[setup].label}", times, lines)
    words = (
        f"Means over seeds in bins of 0.5 s with 95 % intervals. The controller dies at {DIES_S:g} s and comes "
        f"back at {BACK_S:g} s (shaded), or not; the third consumer comes at {JOINS_S:g} s."
    )
    return Figure(title, words, _plot.svg(figure, "death", title), tables)


def lives(samples: Samples, _scale: Scale) -> Table:
    """Results of each failure of the controller."""
    rows = [
        {
            "case": "PCON" if life == "PCON" else f"{SETUPS[setup].label}, {life}",
            **_row(samples, Key.DEATH, f"{setup}: {life}", LIFE),
        }
        for setup in PROFILES
        for life in scenarios.LIVES
        if life != "PCON" or setup == PROFILES[0]
    ]
    return table("A controller that dies", rows)


# --- sizes -------------------------------------------------------------------------------------------------------------


def operations(samples: Samples, scale: Scale) -> Figure:
    """Operations a second at routers and controller, by size."""
    title = "Operations a second in networks of 10, 50 and 200 routers"
    figure, axes = _plot.panels(2, len(scenarios.FAMILIES), height=2.9)
    for column, (family, name) in enumerate(scenarios.FAMILIES.items()):
        above, below = axes[0][column], axes[1][column]
        for setup, scheme in SETUPS.items():

            def found(key: str, family: str = family, setup: str = setup) -> list[Quantity]:
                return [samples.each(Key.SIZE, f"{family}, {count}: {setup}", COSTS[key]) for count in SIZES]

            _line(above, SIZES, found("by_packet"), scheme.label, setup)
            if scheme.app:
                _line(
                    above,
                    SIZES,
                    found("by_period"),
                    f"{scheme.label}, eq. (6)",
                    setup,
                    linestyle="--",
                    fillstyle="none",
                )
                _line(below, SIZES, found("controller"), f"{scheme.label}: operations", setup)
                _line(
                    below,
                    SIZES,
                    found("messages"),
                    f"{scheme.label}: messages",
                    setup,
                    linestyle=":",
                    fillstyle="none",
                )
        for panel, y in ((above, "at a router (1/s)"), (below, "at the controller (1/s)")):
            _plot.logarithmic(panel, "x", "y")
            panel.set_xticks(SIZES, [str(count) for count in SIZES])
            panel.minorticks_off()
            _plot.finish(
                panel,
                name if panel is above else "",
                y if column == 0 else "",
                x="routers",
                margin=0.08,
                legend=False,
            )
        low = min(panel.get_ylim()[0] for panel in axes[0])
        high = max(panel.get_ylim()[1] for panel in axes[0])
        for panel in axes[0]:
            panel.set_ylim(max(low, 1.0), high)
    axes[0][0].legend(fontsize=6.5, loc="lower right", ncols=2, handlelength=1.8)
    axes[1][0].legend(fontsize=6.5, loc="upper left", handlelength=1.8)
    words = (
        "Above, the mean router: solid, by packet, all that a scheme's parts do; dashed, by period, as equation (6) "
        "counts. Below, the controller: its operations, equations (7) and (8), and the statuses and signals that it is "
        "sent. Means over two seeds."
    )
    return Figure(
        title,
        words,
        _plot.svg(figure, "operations", title),
        {"rows": sizes(samples, scale)},
    )


def sizes(samples: Samples, _scale: Scale) -> Table:
    """Throughput and cost of each scheme."""
    rows = [
        {
            "case": f"{name}, {count}: {scheme.label}",
            **_row(samples, Key.SIZE, f"{family}, {count}: {setup}", COSTS),
        }
        for family, name in scenarios.FAMILIES.items()
        for count in SIZES
        for setup, scheme in SETUPS.items()
    ]
    return table("Networks of 10, 50 and 200 routers", rows)


def figure_specs() -> list[FigureSpec]:
    """Everything that is drawn or tabulated."""
    return [
        FigureSpec("controller", "The way to the controller", (Key.FAR, Key.DEAF), controller),
        FigureSpec("death", "A controller that dies", (Key.DEATH,), death),
        FigureSpec("operations", "Operations by size", (Key.SIZE,), operations),
        FigureSpec(
            "table-controller",
            "The way to the controller",
            (Key.FAR, Key.DEAF),
            lambda samples, _: _sweep(samples),
        ),
        FigureSpec("table-death", "A controller that dies", (Key.DEATH,), lives),
        FigureSpec("table-sizes", "Networks of many routers", (Key.SIZE,), sizes),
    ]
