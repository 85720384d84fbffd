"""Rules of the scheme, held against its table of parameters and against a run that was looked at each millisecond."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, measure
from .keys import Key


@cache
def _scheme() -> dict[str, Any]:
    from thalweg.catalogue import schemes

    return next(scheme for scheme in schemes() if scheme["name"] == "cvihis")


def default(name: str) -> Quantity:
    """A default of the catalogue."""
    row = next(row for row in _scheme()["params"] if row["name"] == name)
    return Quantity((float(row["default"]),))


@measure()
def steps(_samples: Samples) -> Measured:
    """Packets for each √RTT of commands 1 and 4, 2, 3, 6 and 7."""
    return {name: default(f"step_{name}") for name in ("far", "down", "up", "gradient")}


@measure()
def factors(_samples: Samples) -> Measured:
    """SF, and PF of either mode."""
    return {
        "smoothing": default("smoothing"),
        "push": default("push"),
        "push_in_background": default("background_push"),
    }


@measure()
def one_set(_samples: Samples) -> Measured:
    """Parameters that one of the modes has to itself, the push apart."""
    own = [
        row["name"] for row in _scheme()["params"] if row["name"].startswith(("background_", "real_time_"))
    ]
    return {"own": Quantity((float(len([name for name in own if name != "background_push"])),))}


@measure()
def division(_samples: Samples) -> Measured:
    """Measurements of the source: one-way delays; and all others: the round trip, and its own step."""
    from thalweg.catalogue import series

    offered = [row for row in series() if row["offered_by"] == "cvihis"]
    mine = [row["name"] for row in offered if row["subject"] == "flow"]
    return {
        "delays": Quantity((float(len([name for name in mine if "delay" in name or name == "position"])),)),
        "measured": Quantity((float(len(set(mine) & {"srtt", "update"})),)),
    }


def arrivals(sample: Sample) -> Any:
    """Indices of samples at which a packet had come since the one before: its delay differs."""
    place = sample["position video"]
    known = ~np.isnan(place[1:]) & ~np.isnan(place[:-1])
    return 1 + np.flatnonzero(known & (np.diff(place) != 0))


EDGES = (0.10, 0.25, 0.35, 0.45, 0.60, 0.80)


def wanted(x: float, gradient: float) -> int:
    """The command of Fig. 1."""
    area = sum(x >= edge for edge in EDGES)
    if area == 0:
        return 4
    if area <= 2:
        return 6 if gradient > 0 else 3
    if area == 3:
        return 0
    if area <= 5:
        return 7 if gradient < 0 else 2
    return 1


@measure(Key.RULES)
def gradient_wins(samples: Samples) -> Measured:
    """The share of packets of a background stream that were answered according to areas and gradients."""
    (sample,) = samples[Key.RULES, "background"]
    x, command = sample["position video"], sample["command video"]
    same_scale = np.diff(sample["max_delay video"], prepend=np.nan) == 0
    same_scale &= np.diff(sample["min_delay video"], prepend=np.nan) == 0
    seen = [i for i in arrivals(sample) if same_scale[i] and command[i] != 5]
    right = [int(command[i]) == wanted(x[i], x[i] - x[i - 1]) for i in seen]
    conflicts = sum(int(command[i]) in (6, 7) for i in seen)
    return {
        "agree": Quantity((float(np.mean(right)),)),
        "packets": Quantity((float(len(seen)),)),
        "conflicts": Quantity((float(conflicts),)),
    }


@measure(Key.RULES)
def references(samples: Samples) -> Measured:
    """The minDelay of a background stream against the minimum delay of all its packets; maxDelay against losses."""
    (sample,) = samples[Key.RULES, "background"]
    min_delay = sample["min_delay video"]
    known = min_delay[~np.isnan(min_delay)]
    max_delay = sample["max_delay video"]
    changes = np.flatnonzero(np.diff(max_delay) != 0) + 1
    by_loss = [
        float(5 in sample["command video"][i - 1 : i + 2]) for i in changes if not np.isnan(max_delay[i - 1])
    ]
    return {
        "error_s": Quantity((abs(float(known[-1]) - sample["flows"]["video"]["owd_min_s"]),)),
        "grows": Quantity((float(np.sum(np.diff(known) > 0)),)),
        "changes_with_losses": Quantity((float(np.mean(by_loss)) if by_loss else 1.0,)),
    }


@measure(Key.RULES)
def reset(samples: Samples) -> Measured:
    """Place of the lowest delay in real-time mode: below zero it would be under minDelay."""
    (sample,) = samples[Key.RULES, "real_time"]
    min_delay = sample["min_delay video"]
    known = min_delay[~np.isnan(min_delay)]
    return {
        "lowest": Quantity((float(np.nanmin(sample["position video"])),)),
        "pushed": Quantity((float(np.sum(np.diff(known) > 0)),)),
        "lowered": Quantity((float(np.sum(np.diff(known) < 0)),)),
    }


@measure(Key.RULES)
def decrease(samples: Samples) -> Measured:
    """Falls of the rate by a loss in real-time mode: factor, and time between two in round trips, each."""
    (sample,) = samples[Key.RULES, "real_time"]
    rate, update = sample["allowed_rate video"], sample["update video"]
    over = rate[:-1] / rate[1:]
    # a step moves `update` as well
    falls = np.flatnonzero((np.abs(over - 1.1) < 0.005) & (np.diff(update) == 0)) + 1
    gaps = np.diff(sample["times_s"][falls])
    trips = sample["srtt video"][falls[1:]]
    return {
        "factor": Quantity(tuple(float(value) for value in over[falls - 1])),
        "round_trips_apart": Quantity(tuple(float(value) for value in gaps / trips)),
        "falls": Quantity((float(len(falls)),)),
    }
