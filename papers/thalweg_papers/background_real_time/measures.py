"""Measures of runs: one number per seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._base import Quantity, Sample, Samples, Scale
from .._common import inside, mean_between
from . import scenarios
from .keys import Key

Span = tuple[float, float]
Value = Callable[[Sample], float]


def rate(sample: Sample, name: str, span: Span) -> float:
    """Rate of arrival of a flow between two instants, in bit/s."""
    return mean_between(sample["times_s"], sample[f"throughput {name}"], *span)


def use_percent(sample: Sample, name: str, span: Span) -> float:
    """Part of the capacity that a flow has."""
    return 100 * rate(sample, name, span) / scenarios.RATE_BPS


def wait_ms(sample: Sample, span: Span) -> float:
    """Mean wait in the queue."""
    return 1e3 * mean_between(sample["times_s"], sample["wait"], *span)


def share_percent(sample: Sample, one: str, other: str, span: Span) -> float:
    """Part of a flow in what it and another have."""
    mine, theirs = rate(sample, one, span), rate(sample, other, span)
    return 100 * mine / (mine + theirs)


def variation(sample: Sample, name: str, span: Span) -> float:
    """Standard deviation over mean of what arrives of a flow in the intervals of a span."""
    values = sample[f"throughput {name}"][inside(sample["times_s"], *span)].astype(float)
    return float(values.std(ddof=1) / values.mean())


def lost_percent(sample: Sample, name: str) -> float:
    """Dropped of a hundred packets sent, in the whole run."""
    sent, drops = sample["flows"][name]
    return float(100 * drops / sent)


def span(scale: Scale, begin: float, end: float) -> Span:
    """Two moments of the full run, in this one."""
    return scale.seconds(begin), scale.seconds(end)


# --- cases and seeds -------------------------------------------------------------------------------------------------


def each(samples: Samples, experiment: Key, variant: str, value: Value) -> Any:
    """A value each seed."""
    return np.array([value(sample) for sample in samples[experiment, variant]])


def over(values: Iterable[Any]) -> Quantity:
    """Mean over networks, one value per seed."""
    return quantity(np.mean(list(values), axis=0))


def quantity(values: Any) -> Quantity:
    """One value per seed."""
    return Quantity(tuple(float(value) for value in values))


def kept(samples: Samples, name: str, tcp: str, case: str, when: Span) -> Any:
    """What a connection has beside a scheme, of that without it in the same network with the same seed (%)."""
    beside, without = (
        each(samples, Key.BESIDE_TCP, f"{who} {tcp} {case}", lambda sample: rate(sample, "tcp", when))
        for who in (name, "none")
    )
    return 100 * beside / without


def added_ms(samples: Samples, name: str, tcp: str, case: str, when: Span) -> Any:
    """Wait in the queue of a connection and a scheme beyond that of the connection without it."""
    beside, without = (
        each(samples, Key.BESIDE_TCP, f"{who} {tcp} {case}", lambda sample: wait_ms(sample, when))
        for who in (name, "none")
    )
    return beside - without
