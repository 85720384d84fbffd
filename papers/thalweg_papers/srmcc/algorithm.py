"""Equations (3) to (10) of the paper, implemented a second time from the text. The steps of runs are compared with them."""

from __future__ import annotations

OTH1, OTH2 = 0.25, 0.50
HEAVY = 3


def state(occupancy: float) -> int:
    """Congestion state value, Eq. (5)."""
    if occupancy == 0:
        return 0
    if occupancy <= OTH1:
        return 1
    return 2 if occupancy <= OTH2 else HEAVY


def calculated(occupancy: float, rate: float, fair: float, in_state: int) -> float:
    """The calculation rate of a state, before the limit of Eq. (4)."""
    if in_state == 0:
        return 2.0 * rate
    if in_state == 1:
        w = 1 - 0.75 * occupancy**2 / OTH1**2
        return rate * (1 + w * (OTH1 - occupancy))
    if in_state == 2:
        w = 0.25 * (occupancy - OTH2) / (OTH1 - OTH2)
        return rate * (1 + w * (OTH2 - occupancy))
    if rate >= fair:
        return min(rate * (1 + OTH2 - occupancy), 0.5 * rate)
    return 2.0 * rate


def candidate(occupancy: float, rate: float, fair: float, in_state: int | None = None) -> float:
    """R_min or R_max: Eq. (6) in state 0, else Eq. (4). `in_state` replaces the state of Eq. (5)."""
    chosen = state(occupancy) if in_state is None else in_state
    raw = calculated(occupancy, rate, fair, chosen)
    return raw if chosen == 0 else min(raw, fair)


def next_rate(o_max: float, o_min: float, rate: float, fair: float, gamma: float) -> float:
    """Eq. (10)."""
    low, high = candidate(o_max, rate, fair), candidate(o_min, rate, fair)
    return low + gamma * (high - low)


def heavy_factor(gamma: float) -> float:
    """The factor for a rate above its fair share, with one full and one empty queue (row S000-D6)."""
    return next_rate(1.0, 0.0, 2.0, 1.0, gamma) / 2.0
