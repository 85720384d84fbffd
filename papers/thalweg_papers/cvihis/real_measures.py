"""Measures of claims from some or all of the paper's tests. `emulated.toml` uses their names.

A value is one test's, or what all tests that were run say together. What was not run gives nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._base import Measure, Measured, Quantity, Sample, Samples, measure
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
    """Variation of the stream's rate over the connection's variation: the maximum of the round trips, and the mean."""

    def over(sample: Sample, _: str) -> float:
        return measures.variation(sample, "video") / measures.variation(sample, "tcp")

    by_trip = [
        each(samples, Key.FRIENDLINESS, over, [v for v, case in scenarios.FRIENDLY.items() if case[1] == ms])
        for ms in scenarios.FRIENDLY_MS
    ]
    means = [float(np.mean(values)) for values in by_trip if values]
    if not means:
        return {}
    every = [value for values in by_trip for value in values]
    return {"most": quantity(max(means)), "ratio": quantity(np.mean(every))}


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


def _pairs(samples: Samples) -> list[float]:
    return [apart(value) for value in each(samples, Key.ITSELF, lambda s, _: ratio(s, "one", "other"))]


@measure(Key.ITSELF)
def differences(samples: Samples) -> Measured:
    """Part of the tests in which two streams differ by less than a tenth."""
    ratios = _pairs(samples)
    return (
        {"below_a_tenth": quantity(np.mean(np.array(ratios) < 1.1), "of the tests")} if _given(ratios) else {}
    )


def _pair(samples: Samples, variant: str) -> Measured:
    ratios = each(samples, Key.ITSELF, lambda s, _: ratio(s, "one", "other"), [variant])
    return {"ratio": quantity(ratios[0])} if _given(ratios) else {}


@measure(Key.ITSELF)
def worst_pair(samples: Samples) -> Measured:
    """Round trips of 10 and 180 ms, and the maximum ratio of the tests that were run, either way."""
    pair = _pair(samples, scenarios.WORST)
    return {**pair, "worst": quantity(max(_pairs(samples)))} if pair else {}


@measure(Key.ITSELF)
def figure_5(samples: Samples) -> Measured:
    """Round trips of 60 and 180 ms."""
    return _pair(samples, scenarios.FIGURE_5)


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
    """The remaining share at 10, 150 and 200 ms, after 150 s; its increase from 10 to the others, and from 150 to 200 ms."""
    shares = {
        ms: each(samples, Key.MIXED, lambda s, v: measures.left(s, v, 200), [variant])
        for ms, variant in measures.FIGURE_7.items()
    }
    if not all(map(_given, shares.values())):
        return {}
    left = {ms: values[0] for ms, values in shares.items()}
    rise = min(value for ms, value in left.items() if ms != 10) - left[10]
    last = left[200] - left[150]
    return {
        "rise": quantity(rise),
        "last": quantity(last),
        **{f"left_at_{ms}": quantity(value) for ms, value in left.items()},
    }


def _row(row: str, found: Measure) -> Measure:
    """A row of Table 2 as the simulation measures it, if it was run."""
    return measure(Key.TWO_QUEUES)(
        lambda samples: found(samples) if row in samples.variants(Key.TWO_QUEUES) else {}
    )


@measure(Key.ONE_LONGER)
def one_longer(samples: Samples) -> Measured:
    """Maximum ratios when one has 150 ms one way: of those with one trip, and of those over both links."""

    def alike(sample: Sample, variant: str) -> float:
        first, second = (name for name in scenarios.LONGER if name != variant)
        return apart(ratio(sample, first, second))

    found = each(samples, Key.ONE_LONGER, alike)
    if not _given(found, len(scenarios.LONGER)):
        return {}
    links = each(samples, Key.ONE_LONGER, lambda s, _: apart(ratio(s, "v1", "v2")))
    return {"same_trips": quantity(max(found)), "same_links": quantity(max(links))}


@measure(Key.FIGURE_8)
def figure_8(samples: Samples) -> Measured:
    """Deviation while the third stream is there over that before; the less of the first two."""
    return path_measures.figure_8(samples) if samples.variants(Key.FIGURE_8) else {}


row_1 = _row("1", path_measures.row_1)
row_2 = _row("2", path_measures.row_2)
row_3 = _row("3", path_measures.row_3)
row_4 = _row("4", path_measures.row_4)
row_5 = _row("5", path_measures.row_5)
row_6 = _row("6", path_measures.row_6)


def test_rates(sample: Sample) -> dict[str, Quantity]:
    """Mean rate of each flow from 50 s on, in kbit/s."""
    names = [key.removeprefix("rate ") for key in sample if key.startswith("rate ")]
    return {name: quantity(rate(sample, name, end=_end(sample)) / 1e3, "kbit/s") for name in names}


def _end(sample: Sample) -> Any:
    return float(sample["times_s"][-1])
