"""Measures of §4.5 and §4.6, and of changes of mode: two queues, routes, clocks, modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, measure
from .._common import inside, mean_between
from . import scenarios
from .keys import Key
from .measures import apart, by_seed, deviation, quantity, rate, ratio
from .scenarios import SETTLED_S

# --- two queues ------------------------------------------------------------------------------------------------------


def _second_shares(sample: Sample) -> Any:
    rates = np.array([rate(sample, f"v{i}") for i in (1, 2, 3)])
    return rates / rates.sum()


def _kbps(samples: Samples, row: str) -> Measured:
    return {
        f"v{i}_kbps": samples.each(Key.TWO_QUEUES, row, lambda s, i=i: rate(s, f"v{i}") / 1e3, "kbit/s")  # type: ignore[misc]
        for i, _ in enumerate(PRINTED_KBPS[row], 1)
    }


def _pair(row: str) -> Callable[[Samples], Measured]:
    def measure(samples: Samples) -> Measured:
        return {
            "ratio": samples.each(Key.TWO_QUEUES, row, lambda s: apart(ratio(s, "v1", "v2"))),
            **_kbps(samples, row),
        }

    return measure


def _thirds(row: str) -> Callable[[Samples], Measured]:
    def measure(samples: Samples) -> Measured:
        return {
            "farthest": samples.each(
                Key.TWO_QUEUES, row, lambda s: float(np.abs(_second_shares(s) - 1 / 3).max())
            ),
            **_kbps(samples, row),
        }

    return measure


def _wider(row: str) -> Callable[[Samples], Measured]:
    def measure(samples: Samples) -> Measured:
        return {
            **_pair(row)(samples),
            "third": samples.each(Key.TWO_QUEUES, row, lambda s: float(_second_shares(s)[2])),
        }

    return measure


@measure(Key.ONE_LONGER)
def one_longer(samples: Samples) -> Measured:
    """Maximum ratios when one has 150 ms one way: of those with one trip, of those over both links, of all three.

    `third_longer` is the ratio of the two over both links, whose trips are equal, when the third stream has it.
    """
    pairs = by_seed(samples, Key.ONE_LONGER, scenarios.LONGER, lambda s, _: apart(ratio(s, "v1", "v2")))

    def spread(sample: Sample, _: str) -> float:
        shares = _second_shares(sample)
        return float(shares.max() / shares.min())

    def same(sample: Sample, variant: str) -> float:
        first, second = (name for name in scenarios.LONGER if name != variant)
        return apart(ratio(sample, first, second))

    three = by_seed(samples, Key.ONE_LONGER, scenarios.LONGER, spread)
    alike = by_seed(samples, Key.ONE_LONGER, scenarios.LONGER, same)
    return {
        "same_trips": quantity(alike.max(axis=1)),
        "same_links": quantity(pairs.max(axis=1)),
        "third_longer": quantity(pairs[:, list(scenarios.LONGER).index("v3")]),
        "all_three": quantity(three.max(axis=1)),
    }


@measure(Key.TWO_QUEUES)
def more_deviation(samples: Samples) -> Measured:
    """Deviation with three streams over that with two, at each capacity; the less of the first two streams."""

    def over(with_third: str, without: str) -> Any:
        pairs = zip(samples[Key.TWO_QUEUES, with_third], samples[Key.TWO_QUEUES, without], strict=True)
        return [min(deviation(a, f"v{i}") / deviation(b, f"v{i}") for i in (1, 2)) for a, b in pairs]

    return {"at_4": quantity(over("2", "1")), "at_6": quantity(over("5", "4"))}


PRINTED_KBPS: dict[str, tuple[tuple[float, float], ...]] = {
    "1": ((2008, 33), (2050, 32)),
    "2": ((2005, 47), (2045, 42), (2040, 53)),
    "3": ((1929, 76), (2005, 86), (2646, 75)),
    "4": ((3049, 58), (3053, 57)),
    "5": ((3047, 82), (3042, 87), (3048, 60)),
    "6": ((3081, 83), (3014, 84), (3968, 168)),
}
"""Table 2: rate and standard deviation."""


SPANS_S = (1.0, 5.0, 20.0)
"""Intervals over which rates are taken for a deviation: the paper does not say how long its were."""


def _factors(samples: Samples, span_s: float) -> Any:
    """Our deviations over the printed ones: a row per seed, a column for each of the 16 numbers."""
    return np.array(
        [
            [deviation(s, f"v{i}", span_s=span_s) / 1e3 / sd for s in samples[Key.TWO_QUEUES, row]]
            for row, printed in PRINTED_KBPS.items()
            for i, (_, sd) in enumerate(printed, 1)
        ]
    ).T


@measure(Key.TWO_QUEUES)
def deviations(samples: Samples) -> Measured:
    """Our deviations over the printed ones, for intervals of several lengths: mean, and the farthest either way."""

    def mean(factors: Any) -> Quantity:
        return quantity(np.exp(np.log(factors).mean(axis=1)))

    def farthest(factors: Any) -> Quantity:
        return quantity(np.maximum(factors, 1 / factors).max(axis=1))

    first, *longer = (_factors(samples, span_s) for span_s in SPANS_S)
    found = {"mean_factor": mean(first), "farthest": farthest(first)}
    for span_s, factors in zip(SPANS_S[1:], longer, strict=True):
        found |= {
            f"mean_factor_{span_s:g}_s": mean(factors),
            f"farthest_{span_s:g}_s": farthest(factors),
        }
    return found


@measure(Key.FIGURE_8)
def figure_8(samples: Samples) -> Measured:
    """Deviation while the third stream is there over that before; the less of the first two."""

    def over(sample: Sample) -> float:
        return min(deviation(sample, f"v{i}", 80, 170) / deviation(sample, f"v{i}", 30, 70) for i in (1, 2))

    return {"ratio": samples.each(Key.FIGURE_8, "4000", over)}


@measure(Key.PLACE)
def place(samples: Samples) -> Measured:
    """Rates with the queue in the first place over those with it in the second."""
    pairs = list(zip(samples[Key.PLACE, "first"], samples[Key.PLACE, "second"], strict=True))
    return {v: quantity([rate(a, v) / rate(b, v) for a, b in pairs]) for v in ("v1", "v2")}


# --- routes, clocks, modes -------------------------------------------------------------------------------------------

AWAY_S = ((115.0, 150.0), (270.0, 320.0))
HOME_S = ((185.0, 220.0), (360.0, 400.0))
"""The second halves of the spans without and with the direct route."""


def _used(sample: Sample, spans: tuple[tuple[float, float], ...], kbps: float) -> float:
    times, values = sample["times_s"], sample["throughput video"]
    return min(mean_between(times, values, *span) for span in spans) / kbps / 1e3


@measure(Key.ROUTES)
def rerouting(samples: Samples) -> Measured:
    """Minimum use of the backup and of the direct route in the second half of each span."""
    return {
        "backup": samples.each(Key.ROUTES, "real_time", lambda s: _used(s, AWAY_S, scenarios.BACKUP_KBPS)),
        "direct": samples.each(Key.ROUTES, "real_time", lambda s: _used(s, HOME_S, scenarios.DIRECT_KBPS)),
    }


@measure(Key.ROUTES)
def shorter(samples: Samples) -> Measured:
    """Rate from 5 to 15 s after the way became shorter over that in the 10 s before."""

    def kept(sample: Sample) -> float:
        return min(
            rate(sample, "video", off[1] + 5, off[1] + 15) / rate(sample, "video", off[1] - 10, off[1])
            for off in scenarios.OFF_S
        )

    return {"kept": samples.each(Key.ROUTES, "shorter", kept)}


@measure(Key.ROUTES)
def longer_in_background(samples: Samples) -> Measured:
    """Use of the longer route in background mode, without and with a slow push; and in the network of Fig. 9."""

    def used(variant: str, kbps: float) -> Quantity:
        return samples.each(Key.ROUTES, variant, lambda s: _used(s, AWAY_S, kbps))

    return {
        "plain": used("wide background", scenarios.WIDE_KBPS),
        "pushed": used("wide background pushed", scenarios.WIDE_KBPS),
        "of_figure_9": used("background", scenarios.BACKUP_KBPS),
    }


@measure(Key.PERSISTENT)
def persistent(samples: Samples) -> Measured:
    """Minimum minDelay of a late stream within 60 s, over the delay of an empty path, less one."""

    def error(sample: Sample) -> float:
        within = inside(sample["times_s"], scenarios.LATE_S, scenarios.LATE_S + 60)
        true = min(flow["owd_min_s"] for flow in sample["flows"].values())
        return float(np.nanmin(sample["min_delay late"][within]) / true - 1)

    return {"error": samples.each(Key.PERSISTENT, "6", error)}


@measure(Key.CLOCKS)
def offsets(samples: Samples) -> Measured:
    """Whether the trace with a clock that is off is that with one that is right."""
    right = [sample["trace_hash"] for sample in samples[Key.CLOCKS, "right"]]
    return {
        name: quantity(
            [
                float(s["trace_hash"] == known)
                for s, known in zip(samples[Key.CLOCKS, name], right, strict=True)
            ]
        )
        for name in ("hour", "ahead", "behind")
    }


@measure(Key.CLOCKS)
def drift(samples: Samples) -> Measured:
    """Mean rate with a drift of 100 ppm either way over that without, beside a connection and alone."""

    def change(more: str) -> Any:
        means = by_seed(
            samples,
            Key.CLOCKS,
            [f"{name}{more}" for name in ("right", "fast", "slow")],
            lambda s, _: rate(s, "video", SETTLED_S, 600),
        )
        return means[:, 1:].mean(axis=0) / means[:, 0].mean()

    return {"beside": quantity(change("")), "alone": quantity(change(" alone"))}


STEP_BPS = 12_000 / 0.06**0.5
"""A step of one packet for the root of the shortest round trip."""


@measure(Key.MODES)
def mode_change(samples: Samples) -> Measured:
    """Maximum jump at a change, in steps; rates after and before it; shares at the end, also without a change.

    `late_over_unchanged` is the share after two minutes in the background over that without a change, seed by seed.
    """

    def jump(sample: Sample, variant: str) -> float:
        times, allowed = sample["times_s"], sample["allowed_rate video"]
        at = [int(np.searchsorted(times, change - 1e-6)) for change in scenarios.MODE_S[variant]]
        return max(abs(float(allowed[i + 1]) - float(allowed[i])) for i in at) / STEP_BPS

    jumps = by_seed(samples, Key.MODES, scenarios.MODE_S, jump)

    def back_at(sample: Sample, variant: str, after: float) -> float:
        change = scenarios.MODE_S[variant][1]
        return rate(sample, "video", change + after, change + after + 10) / rate(
            sample, "video", change - 5, change
        )

    def final(variant: str) -> Quantity:
        return samples.each(Key.MODES, variant, lambda s: rate(s, "video", 240) / 4e6)

    late, unchanged = final("late"), final("never")
    return {
        "jump": quantity(jumps.max(axis=1), "steps"),
        "falls": samples.each(
            Key.MODES, "soon", lambda s: rate(s, "video", 65, 75) / rate(s, "video", 50, 60)
        ),
        "rises": samples.each(Key.MODES, "soon", lambda s: back_at(s, "soon", 5)),
        "late_over_unchanged": quantity(np.array(late.values) / np.array(unchanged.values)),
        "late_share": late,
        "unchanged_share": unchanged,
        "late_share_floor_10": final("late, floor 10"),
    }


row_1 = measure(Key.TWO_QUEUES)(_pair("1"))
row_2 = measure(Key.TWO_QUEUES)(_thirds("2"))
row_3 = measure(Key.TWO_QUEUES)(_wider("3"))
row_4 = measure(Key.TWO_QUEUES)(_pair("4"))
row_5 = measure(Key.TWO_QUEUES)(_thirds("5"))
row_6 = measure(Key.TWO_QUEUES)(_wider("6"))
