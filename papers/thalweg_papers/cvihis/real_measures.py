"""Measures of claims from some or all of the paper's tests. `emulated.toml` uses their names.

A value is one test's, or what all tests that were run say together. What was not run gives nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, measure
from . import measures, path_measures, scenarios
from .keys import Key
from .measures import apart, quantity, rate, ratio


def each(
    samples: Samples, experiment: Key, value: Callable[[Sample, str], float], variants: Sequence[str] = ()
) -> list[float]:
    """One value a test, the mean of its runs; of those listed, or of all that were run."""
    wanted = [v for v in samples.variants(experiment) if not variants or v in variants]
    return [float(np.mean([value(sample, v) for sample in samples[experiment, v]])) for v in wanted]


def _given(values: Sequence[float], minimum: int = 1) -> bool:
    return len(values) >= minimum


@measure(Key.STABILITY)
def stability(samples: Samples) -> Measured:
    """Part of the tests that settle."""
    settled = each(samples, Key.STABILITY, lambda s, v: float(measures.settled(s, v)))
    return {"settled": quantity(np.mean(settled), "of the tests")} if _given(settled) else {}


@measure(Key.BACK_OFF)
def back_off(samples: Samples) -> Measured:
    """Part of the tests in which the stream keeps a quarter of the link at most."""
    kept = each(samples, Key.BACK_OFF, lambda s, v: measures.last_minute(s, measures.capacity_kbps(v)))
    if not _given(kept):
        return {}
    return {
        "yields": quantity(np.mean(np.array(kept) <= 0.25), "of the tests"),
        "max_share": quantity(max(kept)),
    }


@measure(Key.FIGURE_3)
def figure_3(samples: Samples) -> Measured:
    """Maximum share of the link that is kept, over the round trips."""
    shares = each(samples, Key.FIGURE_3, lambda s, _: measures.last_minute(s, scenarios.FIGURE_3_KBPS))
    return {"share": quantity(max(shares))} if _given(shares) else {}


@measure(Key.FIGURE_3)
def recovery(samples: Samples) -> Measured:
    """Time back to 90 %, and how much later with longer round trips."""
    times = each(samples, Key.FIGURE_3, lambda s, _: measures.back(s))
    if not _given(times, len(scenarios.FIGURE_3_MS)):
        return {}
    named = {f"back_{ms}": quantity(times[i], "s") for i, ms in enumerate(scenarios.FIGURE_3_MS)}
    later = np.diff(times)
    return {**named, "later_100": quantity(later[0], "s"), "later_200": quantity(later[1], "s")}


def _friendly(samples: Samples, *trips: int) -> list[float]:
    wanted = [v for v, case in scenarios.FRIENDLY.items() if not trips or case[1] in trips]
    return each(samples, Key.FRIENDLINESS, lambda s, _: measures.share(s), wanted)


@measure(Key.FRIENDLINESS)
def worst(samples: Samples) -> Measured:
    """Maximum ratio, either way, of the tests that were run."""
    ratios = each(samples, Key.FRIENDLINESS, lambda s, _: ratio(s, "video", "tcp"))
    if not _given(ratios):
        return {}
    farthest = [apart(value) for value in ratios]
    return {"worst": quantity(max(farthest)), "median": quantity(np.median(farthest))}


@measure(Key.FRIENDLINESS)
def fairness(samples: Samples) -> Measured:
    """Mean share."""
    shares = _friendly(samples)
    return {"share": quantity(np.mean(shares))} if _given(shares) else {}


@measure(Key.FRIENDLINESS)
def short(samples: Samples) -> Measured:
    """Mean share with round trips of 20 ms."""
    shares = _friendly(samples, 20)
    return {"share": quantity(np.mean(shares))} if _given(shares) else {}


@measure(Key.FRIENDLINESS)
def long(samples: Samples) -> Measured:
    """Mean share with round trips of 200 ms, and how much more that is than with 20 ms."""
    near, far = _friendly(samples, 20), _friendly(samples, 200)
    if not (_given(near) and _given(far)):
        return {}
    return {"share": quantity(np.mean(far)), "more": quantity(np.mean(far) - np.mean(near))}


@measure(Key.BIAS)
def bias(samples: Samples) -> Measured:
    """Rate with 20 ms over rate with 200 ms: two streams, two connections."""
    found = {
        kind: each(samples, Key.BIAS, lambda s, _: ratio(s, "near", "far"), [kind])
        for kind in ("real_time", "reno")
    }
    if not all(map(_given, found.values())):
        return {}
    streams, connections = found["real_time"][0], found["reno"][0]
    return {
        "less": quantity(connections - streams),
        "streams": quantity(streams),
        "connections": quantity(connections),
    }


@measure(Key.BESIDE)
def cubic(samples: Samples) -> Measured:
    """Share beside CUBIC, and how much less that is than beside NewReno, over the tests that were run with both."""
    shares = {
        v: each(samples, Key.BESIDE, lambda s, _: measures.share(s), [v])[0]
        for v in samples.variants(Key.BESIDE)
    }
    pairs = [
        (share, shares[f"linux {v.removeprefix('cubic ')}"])
        for v, share in shares.items()
        if v.startswith("cubic ") and f"linux {v.removeprefix('cubic ')}" in shares
    ]
    if not pairs:
        return {}
    beside, other = np.mean(np.array(pairs), axis=0)
    return {"share": quantity(beside), "less": quantity(other - beside)}


@measure(Key.FRIENDLINESS)
def smoothness(samples: Samples) -> Measured:
    """Variation of the stream's rate over that of the connection's, mean of the tests."""
    over = each(
        samples, Key.FRIENDLINESS, lambda s, _: measures.variation(s, "video") / measures.variation(s, "tcp")
    )
    return {"ratio": quantity(np.mean(over))} if _given(over) else {}


@measure(Key.ALONE)
def oscillation(samples: Samples) -> Measured:
    """Variation of the rate alone, in real-time mode and by how much it is above that in background mode."""
    found = {
        mode: each(samples, Key.ALONE, lambda s, _: measures.variation(s, "video"), [mode])
        for mode in scenarios.MODES
    }
    if not all(map(_given, found.values())):
        return {}
    real, background = found["real_time"][0], found["background"][0]
    return {"variation": quantity(real), "more": quantity(real - background)}


def _pairs(samples: Samples, wanted: Callable[[tuple[int, int, int, int]], bool]) -> list[float]:
    variants = [v for v, case in scenarios.ITSELF.items() if wanted(case)]
    return [
        apart(value) for value in each(samples, Key.ITSELF, lambda s, _: ratio(s, "one", "other"), variants)
    ]


@measure(Key.ITSELF)
def differences(samples: Samples) -> Measured:
    """Part of the tests with equal round trips in which two streams differ by less than a tenth."""
    ratios = _pairs(samples, lambda case: case[0] == case[1])
    return (
        {"below_a_tenth": quantity(np.mean(np.array(ratios) < 1.1), "of the tests")} if _given(ratios) else {}
    )


def _pair(variant: str) -> Callable[[Samples], Measured]:
    def measure(samples: Samples) -> Measured:
        ratios = each(samples, Key.ITSELF, lambda s, _: ratio(s, "one", "other"), [variant])
        return {"ratio": quantity(ratios[0])} if _given(ratios) else {}

    return measure


@measure(Key.FOUR)
def four(samples: Samples) -> Measured:
    """Minimum index of the phases with several streams."""
    return measures.four(samples) if samples.variants(Key.FOUR) else {}


@measure(Key.MIXED)
def mixed_equal(samples: Samples) -> Measured:
    """Part of the tests with equal round trips in which it keeps a quarter at most."""
    wanted = [v for v in scenarios.MIXED if len(set(v.split()[1:])) == 1]
    shares = each(samples, Key.MIXED, measures.kept_when_equal, wanted)
    return {"yields": quantity(np.mean(np.array(shares) <= 0.25), "of the tests")} if _given(shares) else {}


@measure(Key.MIXED)
def figure_7(samples: Samples) -> Measured:
    """The remaining share at 10, 150 and 200 ms, after 150 s; and its increase from 10 to 150 and 200 ms."""
    shares = {
        ms: each(samples, Key.MIXED, lambda s, v: measures.left(s, v, 200), [variant])
        for ms, variant in measures.FIGURE_7.items()
    }
    if not all(map(_given, shares.values())):
        return {}
    left = {ms: values[0] for ms, values in shares.items()}
    rise = min(value for ms, value in left.items() if ms != 10) - left[10]
    return {"rise": quantity(rise), **{f"left_at_{ms}": quantity(value) for ms, value in left.items()}}


def _row(row: str) -> Callable[[Samples], Measured]:
    """Rates of a row of Table 2 over the printed ones: the farthest, either way."""

    def far(sample: Sample, _: str) -> float:
        printed = path_measures.PRINTED_KBPS[row]
        return max(apart(rate(sample, f"v{i}") / 1e3 / kbps) for i, (kbps, _) in enumerate(printed, 1))

    def measure(samples: Samples) -> Measured:
        found = each(samples, Key.TWO_QUEUES, far, [row])
        return {"factor": quantity(found[0])} if _given(found) else {}

    return measure


@measure(Key.ONE_LONGER)
def one_longer(samples: Samples) -> Measured:
    """Maximum ratio of two streams with the same round trip, when one has 150 ms one way."""

    def alike(sample: Sample, variant: str) -> float:
        first, second = (name for name in scenarios.LONGER if name != variant)
        return apart(ratio(sample, first, second))

    found = each(samples, Key.ONE_LONGER, alike)
    return {"same_trips": quantity(max(found))} if _given(found) else {}


@measure(Key.FIGURE_8)
def figure_8(samples: Samples) -> Measured:
    """Deviation while the third stream is there over that before; the less of the first two."""
    return path_measures.figure_8(samples) if samples.variants(Key.FIGURE_8) else {}


worst_pair = measure(Key.ITSELF)(_pair(scenarios.WORST))
figure_5 = measure(Key.ITSELF)(_pair(scenarios.FIGURE_5))
row_1 = measure(Key.TWO_QUEUES)(_row("1"))
row_2 = measure(Key.TWO_QUEUES)(_row("2"))
row_3 = measure(Key.TWO_QUEUES)(_row("3"))
row_4 = measure(Key.TWO_QUEUES)(_row("4"))
row_5 = measure(Key.TWO_QUEUES)(_row("5"))
row_6 = measure(Key.TWO_QUEUES)(_row("6"))


def test_rates(sample: Sample) -> dict[str, Quantity]:
    """Mean rate of each flow from 50 s on, in kbit/s."""
    names = [key.removeprefix("rate ") for key in sample if key.startswith("rate ")]
    return {name: quantity(rate(sample, name, end=_end(sample)) / 1e3, "kbit/s") for name in names}


def _end(sample: Sample) -> Any:
    return float(sample["times_s"][-1])
