"""Measures that several batteries have: functions of the runs of a row with one seed."""

from __future__ import annotations

from collections.abc import Callable

from .networks import Lab
from .rows import NotWorse, Samples

UTILISATION = "link.bottleneck.utilisation"
QUEUE = "link.bottleneck.queue"
LOSS = "link.bottleneck.loss_ratio"
PACKET_BITS = 12e3
"""Bits of a packet of 1500 bytes."""

Measure = Callable[[Samples, Lab], float]

HIGHER = NotWorse("higher", "rate")
LOWER_DELAY = NotWorse("lower", "delay")
LOWER_LOSS = NotWorse("lower", "loss", standards=True)
"""Standards-track references only: RFC 9743 §5.1.3 names BBRv1 as an algorithm that fails."""
HARM = NotWorse("higher", "rate", standards=True)
"""RFC 9743 §5.2: more harm than previous standards-track algorithms."""
HARM_DELAY = NotWorse("lower", "delay", standards=True)


def one(key: str) -> Measure:
    """A value of a row with one run."""
    return lambda runs, _lab: next(iter(runs.values())).value(key)


def lowest(key: str) -> Measure:
    """The lowest value of a row with several runs."""
    return lambda runs, _lab: min(run.value(key) for run in runs.values())


def highest(key: str) -> Measure:
    """The highest value of a row with several runs."""
    return lambda runs, _lab: max(run.value(key) for run in runs.values())


def last_quarter(subject: str, series: str = "utilisation") -> Measure:
    """The lowest mean of a series in the last quarter of each run."""
    return lambda runs, lab: min(
        run.mean(series, subject, lab.duration_s * 3 / 4, lab.duration_s) for run in runs.values()
    )


def packets_per_rtt(
    runs: Samples, start_s: float, end_s: float, rtt_s: float, bits: float = PACKET_BITS
) -> float:
    """Packets that the flow `x` sent per round trip."""
    return next(iter(runs.values())).mean("rate", "flow.x", start_s, end_s) * rtt_s / bits


def ratio(first: float, second: float) -> float:
    """The smaller over the larger; zero if one is zero."""
    return min(first, second) / max(first, second) if max(first, second) > 0 else 0.0
