"""What a learned scheme sees of a step and what it is rewarded for: the same in an environment and in a simulation.

`thalweg.gym` uses these in training; a scheme that runs a trained policy calls `Observer.observe` in `on_interval`. All
features are ratios, so that a policy is not tied to the rates and delays that it was trained with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ._native import Summary


@dataclass(frozen=True)
class Feature:
    """One number of an observation."""

    name: str
    low: float
    """Minimum; values below are clipped."""
    high: float
    """Maximum; values above are clipped."""
    about: str
    """Its definition."""


FEATURES = (
    Feature("rtt_ratio", 0.0, 10.0, "mean round-trip time of the step over the minimum so far, minus 1"),
    Feature("rtt_change", -1.0, 1.0, "change of the mean since the step before, over the minimum so far"),
    Feature("lost_share", 0.0, 1.0, "bytes lost over bytes lost and delivered"),
    Feature("marked_share", 0.0, 1.0, "packets marked over packets delivered"),
    Feature("rate_share", 0.0, 1.0, "delivery rate over the maximum so far"),
    Feature(
        "window_ratio", 0.0, 10.0, "window over the maximum delivery rate times the minimum round-trip time"
    ),
    Feature("use", 0.0, 2.0, "bytes in flight over the window"),
)
"""The features of an observation, in order."""
LIMITS = tuple((feature.low, feature.high) for feature in FEATURES)


class Step(NamedTuple):
    """A step of a flow, for rewards."""

    summary: Summary
    """What happened in it."""
    window_bytes: float
    """The window in it."""
    rate_max_bps: float
    """Maximum delivery rate of the connection so far, in bit/s; 0 before the first."""
    features: tuple[float, ...]
    """The observation, in the order of `FEATURES`."""


class Observer:
    """Makes observations of the summaries of one connection."""

    def __init__(self) -> None:
        self.rate_max_bps = 0.0
        self._rtt_s: float | None = None

    def observe(self, summary: Summary, window_bytes: float) -> Step:
        """The observation of the next step, in which the window was `window_bytes`."""
        features = self.features(summary, window_bytes)
        return Step(summary, window_bytes, self.rate_max_bps, features)

    def features(self, summary: Summary, window_bytes: float) -> tuple[float, ...]:
        """The observation alone, which is what a policy needs: for schemes that are called very often."""
        rate, rate_max = summary.delivery_rate_bps, self.rate_max_bps
        if rate > rate_max:
            self.rate_max_bps = rate_max = rate
        base = summary.rtt_base_s or math.inf
        rtt, before = summary.rtt_mean_s, self._rtt_s
        if rtt is None:
            rtt = before
        self._rtt_s = rtt
        change = 0.0 if rtt is None or before is None else (rtt - before) / base
        bdp_bytes = rate_max * base / 8 if base < math.inf else 0.0
        lost, marked = summary.lost_bytes, summary.marked_packets
        values = (
            0.0 if rtt is None else rtt / base - 1.0,
            change,
            lost / (lost + summary.acked_bytes) if lost else 0.0,
            _share(marked, summary.acked_packets) if marked else 0.0,
            rate / rate_max if rate_max > 0 else 0.0,
            window_bytes / bdp_bytes if bdp_bytes > 0 else 0.0,
            summary.in_flight_bytes / window_bytes if window_bytes > 0 else 0.0,
        )
        # not a generator: this runs once per round trip of each flow
        return tuple(
            [
                low if value < low else high if value > high else value
                for value, (low, high) in zip(values, LIMITS, strict=True)
            ]
        )


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def factor(action: float) -> float:
    """The factor of an action in [−1, 1]: 1 + a, or its inverse 1/(1 − a) below 0; from a half to double."""
    if action >= 0:
        return 2.0 if action > 1.0 else 1.0 + action
    return 0.5 if action < -1.0 else 1.0 / (1.0 - action)


MAX_WINDOW = 100_000
"""Maximum window in segments."""


def next_window(window_bytes: float, action: float, segment_bytes: int) -> float:
    """The window in bytes after an action: one segment or more, and at most `MAX_WINDOW` segments."""
    window = window_bytes * factor(action)
    if window < segment_bytes:
        return segment_bytes
    maximum = MAX_WINDOW * segment_bytes
    return min(window, maximum)


LOSS_WEIGHT = 5.0
"""ζ of the reward: a lost byte counts as this number of delivered ones."""
DELAY_TOLERANCE = 1.25
"""β of the reward: round-trip times up to this multiple of the minimum count as the minimum."""


def power(step: Step) -> float:
    """The default reward: throughput minus weighted losses, over the round-trip time, both relative to the best so far.

    It is at most 1. Source: Abbasloo, Yen, Chao: Classic Meets Modern: A Pragmatic Learning-Based Congestion Control for
    the Internet (Orca), SIGCOMM 2020, the reward of its agent.
    """
    summary = step.summary
    if step.rate_max_bps <= 0 or summary.rtt_mean_s is None or summary.rtt_base_s is None:
        return 0.0
    lost_bps = summary.lost_bytes * 8 / summary.duration_s
    rate = (summary.delivery_rate_bps - LOSS_WEIGHT * lost_bps) / step.rate_max_bps
    delay = summary.rtt_mean_s / summary.rtt_base_s
    return rate / (1.0 if delay <= DELAY_TOLERANCE else delay)
