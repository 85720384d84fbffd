"""Throughput over delay of runs, with the ellipses of their seeds: for the pages of sweeps and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import plots
from .._names import unknown_name
from .columns import unit_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..plots import Drawing
    from ..result import Result

X, Y = "queueing_delay", "throughput"
"""The metrics of a group of flows that pages draw."""

NAME = "throughput-over-delay"
"""The figure of a page, and its files."""

Samples = dict[str, list[tuple[float, float]]]


def pairs(
    runs: Sequence[tuple[str, Result]], x: str = X, y: str = Y, groups: Sequence[str] | None = None
) -> Samples:
    """Two metrics of groups of flows in each run, in the units for output, by label of the run and group."""
    chosen = groups or [
        group for group, metrics in metrics_of_groups(run for _, run in runs).items() if {x, y} <= metrics
    ]
    found: Samples = {}
    for label, run in runs:
        for group in chosen:
            across, along = (run.get(f"flows.{group}.{metric}") for metric in (x, y))
            if across is None or along is None:
                continue
            name = ", ".join(filter(None, (group if len(chosen) > 1 else "", label))) or group
            found.setdefault(name, []).append((across * unit_of(x)[1], along * unit_of(y)[1]))
    return found


def metrics_of_groups(runs: Iterable[Result]) -> dict[str, set[str]]:
    """The groups of flows in these runs, with the metrics that each has."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for key in run.values:
            words = key.split(".")
            if len(words) == 3 and words[0] == "flows":
                found.setdefault(words[1], set()).add(words[2])
    return found


def check(
    runs: Iterable[tuple[str, Result]], metrics: Sequence[str], groups: Sequence[str] | None = None
) -> None:
    """Raises ``KeyError`` with the nearest name if no run has one of these metrics or groups."""
    known = metrics_of_groups(run for _, run in runs)
    for kind, names, there in (
        (
            "metric of a group of flows",
            metrics,
            sorted({metric for each in known.values() for metric in each}),
        ),
        ("group of flows", groups or (), list(known)),
    ):
        if unknown := [name for name in names if name not in there]:
            raise KeyError(unknown_name(kind, unknown[0], there))


def worth_drawing(samples: Mapping[str, Sequence[Sequence[float]]]) -> bool:
    """Whether a page draws it: each name has a colour of its own, and there is an ellipse."""
    return len(samples) <= len(plots.COLOURS) and any(
        len(points) >= plots.MIN_ELLIPSE and len(set(map(tuple, points))) > 1 for points in samples.values()
    )


def drawing(samples: Mapping[str, Sequence[tuple[float, float]]], lines: Sequence[str] = ()) -> Drawing:
    """The figure of a page; `lines` are the labels of lines in its other charts, in the order of their colours."""
    colours = colours_of(list(samples), lines)
    chart = plots.scatter_runs(samples, "mean queueing delay (ms)", "throughput (Mbit/s)", colours=colours)
    return plots.svg(chart, NAME)


def colours_of(names: Sequence[str], lines: Sequence[str]) -> list[str]:
    """A colour per name: a shade of the colour of a line whose label ends the name, such as `reno` for `4 bdp, reno`.

    Names have colours of their own if one of them is of no line, or a line has more names than a colour has shades.
    """
    turns: dict[str, int] = dict.fromkeys(lines, 0)
    found: list[str] = []
    for name in names:
        of = max((line for line in lines if line and name.endswith(f", {line}")), key=len, default="")
        shades = plots.shades(plots.COLOURS[lines.index(of) % len(plots.COLOURS)]) if of else ()
        if not of or turns[of] == len(shades):
            return list(plots.COLOURS)
        found.append(shades[turns[of]])
        turns[of] += 1
    return found
