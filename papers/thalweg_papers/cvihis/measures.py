"""Measures of the results of the paper, from samples. claims.toml uses their names.

Rates are those at which is sent, in intervals of a second; averages begin at 50 s. Where a claim speaks of some tests, a
value is what one seed gives for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, measure
from .._common import inside, jain, mean_between
from . import scenarios
from .keys import Key
from .scenarios import SETTLED_S, TCP_S

END_S = 300.0


# --- one run ---------------------------------------------------------------------------------------------------------


def rate(sample: Sample, name: str, begin: float = SETTLED_S, end: float = END_S) -> float:
    """Mean rate of a flow between two moments, in bit/s."""
    return mean_between(sample["times_s"], sample[f"rate {name}"], begin, end)


def deviation(
    sample: Sample, name: str, begin: float = SETTLED_S, end: float = END_S, span_s: float = 1.0
) -> float:
    """Standard deviation of the rate in intervals of 1 s, or longer ones, in bit/s."""
    if span_s > 1.0:
        return float(np.std(means_of(sample, name, begin, end, span_s), ddof=1))
    return float(np.std(sample[f"rate {name}"][inside(sample["times_s"], begin, end)], ddof=1))


def variation(sample: Sample, name: str, begin: float = SETTLED_S, end: float = END_S) -> float:
    """The deviation relative to the mean."""
    return deviation(sample, name, begin, end) / rate(sample, name, begin, end)


def ratio(sample: Sample, one: str, other: str) -> float:
    """Rate of one flow over that of another."""
    return rate(sample, one) / rate(sample, other)


def apart(value: float) -> float:
    """The greater over the less."""
    return max(value, 1 / value)


def means_of(sample: Sample, name: str, begin: float, end: float, span_s: float) -> Any:
    """Means of a flow's rate over spans one after the other."""
    starts = np.arange(begin, end - span_s / 2, span_s)
    return np.array([rate(sample, name, start, start + span_s) for start in starts])


def first_time(
    sample: Sample, name: str, begin: float, reached: Callable[[float], bool], span_s: float = 5.0
) -> float:
    """Time from `begin` until a mean over `span_s` fits; up to the end where none does."""
    end = float(sample["times_s"][-1])
    for start in np.arange(begin, end - span_s + 0.5, 1.0):
        if reached(rate(sample, name, start, start + span_s)):
            return float(start + span_s - begin)
    return end - begin


# --- cases and seeds -------------------------------------------------------------------------------------------------


def by_seed(
    samples: Samples, experiment: Key, variants: Iterable[str], value: Callable[[Sample, str], float]
) -> Any:
    """A row for each seed, a column for each variant."""
    columns = [[value(sample, variant) for sample in samples[experiment, variant]] for variant in variants]
    return np.array(columns).T


def quantity(values: Any, unit: str = "") -> Quantity:
    """One value per seed, or per case and seed."""
    return Quantity(tuple(float(value) for value in np.ravel(values)), unit)


def capacity_kbps(variant: str) -> float:
    """The first word of most variants."""
    return float(variant.split()[0])


# --- background mode -------------------------------------------------------------------------------------------------


def settled(sample: Sample, variant: str) -> bool:
    """Means over 10 s vary by 5 % at most, and 97 % of the link is used."""
    kbps = capacity_kbps(variant)
    means = means_of(sample, "video", 100, END_S, 10.0)
    return bool(np.std(means, ddof=1) / np.mean(means) <= 0.05 and np.mean(means) >= 0.97 * kbps * 1e3)


@measure(Key.STABILITY)
def stability(samples: Samples) -> Measured:
    """The number of tests, of twenty, that settle: 10-s means vary by 5 % at most, and 97 % of the link is used."""
    done = by_seed(samples, Key.STABILITY, scenarios.STABILITY, lambda s, v: float(settled(s, v)))
    used = by_seed(
        samples,
        Key.STABILITY,
        scenarios.STABILITY,
        lambda s, v: rate(s, "video", 100) / capacity_kbps(v) / 1e3,
    )
    return {"settled": quantity(done.sum(axis=1), "tests of 20"), "min_used": quantity(used.min(axis=1))}


@measure(Key.STABILITY)
def position(samples: Samples) -> Measured:
    """Mean place of the delay in the delay space, each test."""
    places = by_seed(
        samples,
        Key.STABILITY,
        scenarios.STABILITY,
        lambda s, _: mean_between(s["times_s"], s["position video"], 100, END_S),
    )
    lossless = [
        i for i, (_, _, rtt) in enumerate(scenarios.STABILITY.values()) if rtt > min(scenarios.RTTS_MS)
    ]
    return {"place": quantity(places), "beyond_10_ms": quantity(places[:, lossless])}


def last_minute(sample: Sample, kbps: float) -> float:
    """Share of the link in the last minute of the connection."""
    end = sample["tcp_until_s"]
    return rate(sample, "video", end - 60, end) / kbps / 1e3


@measure(Key.BACK_OFF)
def back_off(samples: Samples) -> Measured:
    """The number of tests, of twenty, in which the stream keeps at most a quarter of the link.

    Of these again those in which the path holds no more than 1.5 times what the queue holds.
    """
    short = np.array(
        [kbps * rtt / 12_000 <= 1.5 * queue for kbps, queue, rtt in scenarios.STABILITY.values()]
    )
    shares = by_seed(
        samples, Key.BACK_OFF, scenarios.STABILITY, lambda s, v: last_minute(s, capacity_kbps(v))
    )
    return {
        "yields": quantity((shares <= 0.25).sum(axis=1), "tests of 20"),
        "yields_on_short_paths": quantity((shares[:, short] <= 0.25).sum(axis=1), f"tests of {short.sum()}"),
        "max_share": quantity(shares.max(axis=1)),
        "share": quantity(shares.mean(axis=1)),
    }


@measure(Key.FIGURE_3)
def figure_3(samples: Samples) -> Measured:
    """Share of the link in the last minute of the connection."""
    return {
        f"share_{ms}": samples.each(Key.FIGURE_3, ms, lambda s: last_minute(s, scenarios.FIGURE_3_KBPS))
        for ms in scenarios.FIGURE_3_MS
    }


def back(sample: Sample) -> float:
    """Time from the connection's end until the stream is back at nine tenths of the link."""
    return first_time(sample, "video", TCP_S[1], lambda bps: bps >= 0.9e3 * scenarios.FIGURE_3_KBPS)


@measure(Key.FIGURE_3)
def recovery(samples: Samples) -> Measured:
    """Time back to 90 %, and how much later with longer round trips."""
    times = by_seed(samples, Key.FIGURE_3, scenarios.FIGURE_3_MS, lambda s, _: back(s))
    later = np.diff(times, axis=1)
    named = {f"back_{ms}": quantity(times[:, i], "s") for i, ms in enumerate(scenarios.FIGURE_3_MS)}
    return {**named, "later_100": quantity(later[:, 0], "s"), "later_200": quantity(later[:, 1], "s")}


# --- real-time mode against TCP --------------------------------------------------------------------------------------


def share(sample: Sample) -> float:
    """The stream's part of what both send."""
    video, tcp = rate(sample, "video"), rate(sample, "tcp")
    return video / (video + tcp)


def friendly_shares(samples: Samples, rtt: int | None = None) -> Any:
    """Shares of the 26 tests, or of those with a round trip."""
    wanted = [v for v, case in scenarios.FRIENDLY.items() if rtt is None or case[1] == rtt]
    return by_seed(samples, Key.FRIENDLINESS, wanted, lambda s, _: share(s))


@measure(Key.FRIENDLINESS)
def worst(samples: Samples) -> Measured:
    """The maximum ratio of the 26 tests, either way; and the minimum, the maximum and the median."""
    ratios = by_seed(samples, Key.FRIENDLINESS, scenarios.FRIENDLY, lambda s, _: ratio(s, "video", "tcp"))
    either = np.maximum(ratios, 1 / ratios)
    return {
        "worst": quantity(either.max(axis=1)),
        "minimum": quantity(ratios.min(axis=1)),
        "maximum": quantity(ratios.max(axis=1)),
        "median": quantity(np.median(either, axis=1)),
        "above_1.8": quantity((either > 1.8).sum(axis=1), "tests of 26"),
    }


@measure(Key.FRIENDLINESS)
def fairness(samples: Samples) -> Measured:
    """Mean share of the 26 tests."""
    return {"share": quantity(friendly_shares(samples).mean(axis=1))}


@measure(Key.FRIENDLINESS)
def short(samples: Samples) -> Measured:
    """Mean share with round trips of 20 ms."""
    return {"share": quantity(friendly_shares(samples, 20).mean(axis=1))}


@measure(Key.FRIENDLINESS)
def long(samples: Samples) -> Measured:
    """Mean share with round trips of 200 ms, and how much more that is than with 20 ms."""
    far = friendly_shares(samples, 200).mean(axis=1)
    return {"share": quantity(far), "more": quantity(far - friendly_shares(samples, 20).mean(axis=1))}


@measure(Key.BIAS)
def bias(samples: Samples) -> Measured:
    """Rate with 20 ms over rate with 200 ms: two streams, two connections."""
    streams, connections = (
        samples.each(Key.BIAS, kind, lambda s: ratio(s, "near", "far")) for kind in ("real_time", "reno")
    )
    less = np.array(connections.values) - np.array(streams.values)
    return {"streams": streams, "connections": connections, "less": quantity(less)}


def varied_share(samples: Samples, kind: str) -> Any:
    """Mean share of the stream beside a kind of TCP, a value a seed."""
    wanted = [variant for variant in scenarios.VARIED if variant.split()[0] == kind]
    return by_seed(samples, Key.TCP_VARIANTS, wanted, lambda s, _: share(s)).mean(axis=1)


@measure(Key.TCP_VARIANTS)
def cubic(samples: Samples) -> Measured:
    """Share beside CUBIC, and how much less that is than beside NewReno."""
    beside = varied_share(samples, "cubic")
    return {"share": quantity(beside), "less": quantity(varied_share(samples, "newreno") - beside)}


@measure(Key.FRIENDLINESS)
def smoothness(samples: Samples) -> Measured:
    """Variation of the stream's rate over that of the connection's: mean of the 26 tests, and by round trip."""
    over = by_seed(
        samples,
        Key.FRIENDLINESS,
        scenarios.FRIENDLY,
        lambda s, _: variation(s, "video") / variation(s, "tcp"),
    )
    trips = np.array([rtt for _, rtt, _ in scenarios.FRIENDLY.values()])
    return {
        "ratio": quantity(over.mean(axis=1)),
        **{f"ratio_{ms}": quantity(over[:, trips == ms].mean(axis=1)) for ms in scenarios.FRIENDLY_MS},
    }


@measure(Key.ALONE)
def oscillation(samples: Samples) -> Measured:
    """Variation of the rate alone, in real-time mode and by how much it is above that in background mode."""
    real, background = (
        samples.each(Key.ALONE, mode, lambda s: variation(s, "video")) for mode in ("real_time", "background")
    )
    return {"variation": real, "more": quantity(np.array(real.values) - np.array(background.values))}


# --- against itself --------------------------------------------------------------------------------------------------


def _equal(case: tuple[int, int, int, int]) -> bool:
    return case[0] == case[1]


def itself_ratios(samples: Samples, wanted: Callable[[tuple[int, int, int, int]], bool]) -> Any:
    """Rate of the first over that of the second stream."""
    variants = [variant for variant, case in scenarios.ITSELF.items() if wanted(case)]
    return by_seed(samples, Key.ITSELF, variants, lambda s, _: ratio(s, "one", "other"))


@measure(Key.ITSELF)
def differences(samples: Samples) -> Measured:
    """Part of the 30 tests in which two streams differ by less than a tenth; and of those with equal round trips."""

    def part(wanted: Callable[[tuple[int, int, int, int]], bool]) -> Quantity:
        ratios = itself_ratios(samples, wanted)
        return quantity((np.maximum(ratios, 1 / ratios) < 1.1).mean(axis=1), "of the tests")

    return {"below_a_tenth": part(lambda _: True), "with_equal_trips": part(_equal)}


@measure(Key.ITSELF)
def unexpected(samples: Samples) -> Measured:
    """Tests in which they differ by more than a tenth, though no round trip is twice the other."""
    ratios = itself_ratios(samples, lambda case: max(case[:2]) < 2 * min(case[:2]))
    return {"unexpected": quantity((np.maximum(ratios, 1 / ratios) > 1.1).sum(axis=1), "tests")}


@measure(Key.ITSELF)
def worst_pair(samples: Samples) -> Measured:
    """Round trips of 10 and 180 ms, and the maximum ratio of all 30 tests, either way."""
    ratios = itself_ratios(samples, lambda _: True)
    return {
        "ratio": samples.each(Key.ITSELF, scenarios.WORST, lambda s: ratio(s, "one", "other")),
        "worst": quantity(np.maximum(ratios, 1 / ratios).max(axis=1)),
    }


@measure(Key.ITSELF)
def figure_5(samples: Samples) -> Measured:
    """Round trips of 60 and 180 ms."""
    return {"ratio": samples.each(Key.ITSELF, scenarios.FIGURE_5, lambda s: ratio(s, "one", "other"))}


PHASES_S = {(20, 40): 1, (60, 80): 2, (100, 120): 3, (140, 160): 4, (180, 200): 3, (220, 240): 2}
"""Fig. 6: the second half of each phase, and how many streams are active in it."""


def phase_jain(sample: Sample, span: tuple[float, float]) -> float:
    """Jain's index of those that are active in a span; in a longer run the span is longer, too."""
    stretched = float(sample["times_s"][-1]) / scenarios.FOUR_S
    begin, end = (stretched * moment for moment in span)
    rates = np.array([rate(sample, f"v{i}", begin, end) for i in range(1, 5)])
    active = [
        start <= span[0] and (stop is None or stop >= span[1])
        for start, stop in zip(scenarios.JOINS_S, scenarios.LEAVES_S, strict=True)
    ]
    return jain(rates[active])


@measure(Key.FOUR)
def four(samples: Samples) -> Measured:
    """Minimum index of the phases with several streams."""
    several = [span for span, count in PHASES_S.items() if count > 1]
    return {"jain": samples.each(Key.FOUR, "30", lambda s: min(phase_jain(s, span) for span in several))}


def sharing_s(sample: Sample) -> float:
    """Time until the index over 5 s is 0.95."""
    for start in np.arange(0.0, END_S - 5, 1.0):
        if jain(np.array([rate(sample, f"v{i}", start, start + 5) for i in range(1, 5)])) >= 0.95:
            return float(start + 5)
    return END_S


@measure(Key.FOUR_AT_ONCE)
def convergence(samples: Samples) -> Measured:
    """Time until four that began unequal share, mean of two capacities; how much longer with longer round trips."""
    times = {
        ms: np.mean(
            [[sharing_s(s) for s in samples[Key.FOUR_AT_ONCE, f"{ms} {kbps}"]] for kbps in (4000, 10_000)],
            axis=0,
        )
        for ms in scenarios.FOUR_MS
    }
    return {
        **{f"time_{ms}": quantity(values, "s") for ms, values in times.items()},
        "longer_100": quantity(times["100"] - times["30"], "s"),
        "longer_200": quantity(times["200"] - times["100"], "s"),
    }


# --- background against real-time ------------------------------------------------------------------------------------


def left(sample: Sample, variant: str, begin: float, end: float = END_S) -> float:
    """The share of the link of the background stream."""
    return rate(sample, "yields", begin, end) / capacity_kbps(variant) / 1e3


def _trips(variant: str) -> tuple[float, float]:
    """Round trips of the background and of the real-time stream."""
    return float(variant.split()[1]), float(variant.split()[2])


def kept_when_equal(sample: Sample, variant: str) -> float:
    """The share of the link of the background stream 120 s after the other started, 200 s with round trips of 200 ms."""
    after = scenarios.MIXED_START_S + (200 if _trips(variant)[0] >= 200 else 120)
    return left(sample, variant, after, after + 30)


@measure(Key.MIXED)
def mixed_equal(samples: Samples) -> Measured:
    """The number of ten tests with equal round trips in which it keeps a quarter at most, after 120 s (200 s at 200 ms)."""
    wanted = [variant for variant in scenarios.MIXED if _trips(variant)[0] == _trips(variant)[1]]

    shares = by_seed(samples, Key.MIXED, wanted, kept_when_equal)
    return {
        "yields": quantity((shares <= 0.25).sum(axis=1), "tests of 10"),
        "max_share": quantity(shares.max(axis=1)),
    }


def yields_s(sample: Sample, variant: str) -> float:
    """Time from the start of the real-time stream until the other has a quarter of the link."""
    limit = 0.25e3 * capacity_kbps(variant)
    return first_time(sample, "yields", scenarios.MIXED_START_S, lambda bps: bps <= limit)


@measure(Key.MIXED)
def mixed_slow(samples: Samples) -> Measured:
    """Tests with a round trip of the real-time stream three times as long: part of them that take twice as long."""
    found = {}
    for name, capacities in (("slower", ("2000", "4000")), ("slower_at_4", ("4000",))):
        long = [v for v in scenarios.MIXED if _trips(v)[1] >= 3 * _trips(v)[0] and v.split()[0] in capacities]
        same = [f"{v.split()[0]} {v.split()[1]} {v.split()[1]}" for v in long]
        times, usual = (by_seed(samples, Key.MIXED, variants, yields_s) for variants in (long, same))
        never = times >= END_S - scenarios.MIXED_START_S
        found[name] = quantity(((times >= 2 * usual) | never).mean(axis=1))
    return found


@measure(Key.MIXED)
def mixed_never(samples: Samples) -> Measured:
    """The remaining share 150 s later with round trips ten times as long and more; with 10 and 200 ms at 4 Mbit/s."""
    wanted = [variant for variant in scenarios.MIXED if _trips(variant)[1] >= 10 * _trips(variant)[0]]
    after = scenarios.MIXED_START_S + 150
    return {
        "share": quantity(by_seed(samples, Key.MIXED, wanted, lambda s, v: left(s, v, after)).mean(axis=1)),
        "share_at_4": quantity(by_seed(samples, Key.MIXED, ["4000 10 200"], lambda s, v: left(s, v, after))),
    }


FIGURE_7 = {ms: f"4000 50 {ms}" for ms in (10, 150, 200)}


@measure(Key.MIXED)
def figure_7(samples: Samples) -> Measured:
    """The remaining share in the last 30 s with round trips of 10, 150 and 200 ms of the real-time stream."""
    shares = {
        ms: np.array([left(s, v, END_S - 30) for s in samples[Key.MIXED, v]]) for ms, v in FIGURE_7.items()
    }
    return {
        **{f"share_{ms}": quantity(values) for ms, values in shares.items()},
        "rise": quantity(np.minimum(shares[150], shares[200]) - shares[10]),
        "last": quantity(shares[200] - shares[150]),
    }


@measure(Key.MILDER)
def milder(samples: Samples) -> Measured:
    """Shorter steps at 150 ms, the usual ones, and the difference, seed by seed."""
    share, plain = (
        samples.each(Key.MILDER, variant, lambda s: left(s, FIGURE_7[150], END_S - 30))
        for variant in scenarios.STEPS
    )
    less = np.array(plain.values) - np.array(share.values)
    return {"share": share, "plain": plain, "less": quantity(less)}
