"""Measures of the results of the paper, from samples. claims.toml uses their names.

Windows and bins are fixed for all rows: C1 alone 1.5–3 s, both active the last 2.5 s before C2 leaves (5.5–8 s in the
paper's set-up), after C2 left 9–10 s, in bins of 0.5 s. Every value is that of one run; a case has eight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, measure
from .._common import jain, mean_between
from . import others, scenarios
from .keys import Key
from .scenarios import FAIR_PER_S, RUNS, SECOND_S

ALONE_S = (1.5, 3.0)
AFTER_S = (9.0, 10.0)
BIN_S = 0.5
NEAR = (0.85 * FAIR_PER_S, 1.15 * FAIR_PER_S)
"""A consumer that is at its fair rate: 600 packets/s ± 15 %."""

Value = Callable[[Sample], float]


# --- one run ---------------------------------------------------------------------------------------------------------


def leaves_s(sample: Sample) -> float:
    """When C2 leaves: 2 s before the end of the run."""
    return float(sample["times_s"][-1]) - (scenarios.END_S - scenarios.LEAVES_S)


def both_s(sample: Sample) -> tuple[float, float]:
    """The span in which both are active and should have settled."""
    return leaves_s(sample) - 2.5, leaves_s(sample)


def rate(sample: Sample, consumer: int, span: tuple[float, float], what: str = "generated") -> float:
    """Mean rate of C1 (0) or C2 (1) in a span."""
    return mean_between(sample["times_s"], sample[what][consumer], *span)


def bins(sample: Sample, span: tuple[float, float]) -> Any:
    """Generated rate of both in bins of 0.5 s: two rows."""
    starts = np.arange(span[0], span[1] - 1e-9, BIN_S)
    return np.array([[rate(sample, i, (s, s + BIN_S)) for s in starts] for i in (0, 1)])


def convergence_s(sample: Sample) -> float:
    """Time from C2's start to the bin from which on both stay near 600 packets/s; NaN when they never do."""
    values = bins(sample, (SECOND_S, leaves_s(sample)))
    near = np.all((values >= NEAR[0]) & (values <= NEAR[1]), axis=0)
    far = np.flatnonzero(~near)
    first = 0 if len(far) == 0 else int(far[-1]) + 1
    return float("nan") if first == len(near) else BIN_S * first


def deviation(sample: Sample) -> float:
    """Mean of abs(rate − 600) over both consumers and the bins of the span in which both are active."""
    return float(np.mean(np.abs(bins(sample, both_s(sample)) - FAIR_PER_S)))


def received_total(sample: Sample) -> float:
    """Data that both received together, in packets a second, while both are active."""
    return sum(rate(sample, i, both_s(sample), "received") for i in (0, 1))


def mean_of_both(sample: Sample) -> float:
    """Mean generated rate of the two while both are active."""
    return sum(rate(sample, i, both_s(sample)) for i in (0, 1)) / 2


# --- all runs of a case ----------------------------------------------------------------------------------------------


def runs(samples: Samples, experiment: Key, case: str, which: Iterable[str] = RUNS) -> list[Sample]:
    """The samples of a case, in the order of its runs."""
    return [sample for run in which for sample in samples[experiment, f"{case} {run}"]]


def each(samples: Samples, experiment: Key, case: str, value: Value, unit: str = "packets/s") -> Quantity:
    """One value a run."""
    return Quantity(tuple(float(value(sample)) for sample in runs(samples, experiment, case)), unit)


def alone(sample: Sample) -> float:
    """Generated rate of C1 before C2 comes."""
    return rate(sample, 0, ALONE_S)


def both_rates(samples: Samples, experiment: Key, case: str) -> Measured:
    """Generated rate of each consumer while both are active."""
    return {
        "c1": each(samples, experiment, case, lambda s: rate(s, 0, both_s(s))),
        "c2": each(samples, experiment, case, lambda s: rate(s, 1, both_s(s))),
    }


def converged(samples: Samples, experiment: Key, case: str) -> Measured:
    """Runs that converge, and the latest of them."""
    times = each(samples, experiment, case, convergence_s, "s")
    done = Quantity(tuple(float(not np.isnan(t)) for t in times.values))
    return {"convergence_s": times, "converged": done}


# --- Figure 3 --------------------------------------------------------------------------------------------------------


@measure(Key.EQUAL_CLOCKS)
def alone_100(samples: Samples) -> Measured:
    """C1 alone with clocks of 100 ms: mean, lowest and highest bin."""
    found = [bins(s, ALONE_S)[0] for s in runs(samples, Key.EQUAL_CLOCKS, "100")]
    return {
        "mean": each(samples, Key.EQUAL_CLOCKS, "100", alone),
        "lowest_bin": Quantity(tuple(float(b.min()) for b in found), "packets/s"),
        "highest_bin": Quantity(tuple(float(b.max()) for b in found), "packets/s"),
    }


@measure(Key.EQUAL_CLOCKS)
def fairness_100(samples: Samples) -> Measured:
    """Jain's index of generated and of received rates with clocks of 100 ms."""

    def index(what: str) -> Value:
        return lambda s: jain(np.array([rate(s, i, both_s(s), what) for i in (0, 1)]))

    return {
        "generated": each(samples, Key.EQUAL_CLOCKS, "100", index("generated"), "Jain index"),
        "received": each(samples, Key.EQUAL_CLOCKS, "100", index("received"), "Jain index"),
    }


@measure(Key.EQUAL_CLOCKS)
def received_100(samples: Samples) -> Measured:
    """Data received by both with clocks of 100 ms."""
    return {"total": each(samples, Key.EQUAL_CLOCKS, "100", received_total)}


@measure(Key.EQUAL_CLOCKS)
def like_100(samples: Samples) -> Measured:
    """Clocks of 250 ms: C1 alone, and each of both."""
    return {
        "alone": each(samples, Key.EQUAL_CLOCKS, "250", alone),
        **both_rates(samples, Key.EQUAL_CLOCKS, "250"),
    }


@measure(Key.EQUAL_CLOCKS)
def convergence_250(samples: Samples) -> Measured:
    """Time to convergence with clocks of 250 ms."""
    return converged(samples, Key.EQUAL_CLOCKS, "250")


@measure(Key.EQUAL_CLOCKS)
def convergence_longer(samples: Samples) -> Measured:
    """Additional convergence time with clocks of 250 ms relative to clocks of 100 ms, run by run."""
    pairs = zip(runs(samples, Key.EQUAL_CLOCKS, "250"), runs(samples, Key.EQUAL_CLOCKS, "100"), strict=True)
    longer = tuple(convergence_s(slow) - convergence_s(fast) for slow, fast in pairs)
    return {
        "longer_by_s": Quantity(longer, "s"),
        "at_250_s": each(samples, Key.EQUAL_CLOCKS, "250", convergence_s, "s"),
        "at_100_s": each(samples, Key.EQUAL_CLOCKS, "100", convergence_s, "s"),
    }


def as_if_alone(case: str) -> Callable[[Samples], Measured]:
    """Both keep their rate; whether any run converges."""

    def measure(samples: Samples) -> Measured:
        return {
            **both_rates(samples, Key.EQUAL_CLOCKS, case),
            "converged": converged(samples, Key.EQUAL_CLOCKS, case)["converged"],
        }

    return measure


@measure(Key.EQUAL_CLOCKS)
def catastrophe(samples: Samples) -> Measured:
    """Data received with clocks of 500 and 750 ms, as a share of the bottleneck, and Interests that buckets dropped."""
    found: Measured = {}
    for case in ("500", "750"):
        found[f"share_{case}"] = each(
            samples, Key.EQUAL_CLOCKS, case, lambda s: received_total(s) / scenarios.CORE_PER_S, ""
        )
    for case in ("500", "750"):
        found[f"policed_{case}"] = each(
            samples, Key.EQUAL_CLOCKS, case, lambda s: float(np.sum(s["policed"])), "Interests"
        )
    return found


@measure(Key.ONE_THING_CHANGED)
def explanation(samples: Samples) -> Measured:
    """Mean generated rate where two explanations differ: an interval above the RTT, and a bucket too small for a burst."""

    def at(case: str) -> Quantity:
        return each(samples, Key.ONE_THING_CHANGED, case, mean_of_both)

    return {
        "unlimited_depth_500_ms": at("unlimited depth, 500 ms"),
        "depth_50_at_100_ms": at("depth 50, 100 ms"),
        "depth_150_at_250_ms": at("depth 150, 250 ms"),
        "below_the_rtt_340_ms": at("340 ms"),
        "below_the_rtt_360_ms": at("360 ms"),
        "rtt_1200_ms_at_500_ms": at("RTT 1.2 s, 500 ms"),
        "rtt_1200_ms_at_500_ms_longer": at("RTT 1.2 s, 500 ms, longer"),
        "rtt_1200_ms_at_100_ms_longer": at("RTT 1.2 s, 100 ms, longer"),
    }


FAILS_ABOVE = (FAIR_PER_S + scenarios.ACCESS_PER_S) / 2
"""Both fail to share when their mean rate is nearer to that of one alone than to the fair one."""


@measure(Key.CLOCK_AND_DEPTH, Key.CLOCK_AND_RTT)
def separation(samples: Samples) -> Measured:
    """Share of runs of the separating experiment whose failure each of the two explanations predicts correctly.

    Bucket: it fails when what both buckets let through, 2·depth/tick, is below what the bottleneck carries. Interval: it
    fails when the interval is above the round-trip time.
    """
    bucket, interval = [], []
    for experiment, cases in (
        (Key.CLOCK_AND_DEPTH, scenarios.BY_DEPTH),
        (Key.CLOCK_AND_RTT, scenarios.BY_RTT),
    ):
        for name, case in cases.items():
            depth = case.params.get("depth", scenarios.DEPTH)
            tick_s = case.tick_ms / 1e3
            offered = np.inf if depth == 0 else 2 * depth / tick_s
            rtt_s = scenarios.RTT_S + 2 * (case.core_ms - 100) / 1e3
            for sample in runs(samples, experiment, name, SWEEP_RUNS):
                fails = mean_of_both(sample) > FAILS_ABOVE
                bucket.append(float(fails == (offered < scenarios.CORE_PER_S)))
                interval.append(float(fails == (tick_s > rtt_s)))
    return {
        "right_by_bucket": Quantity((float(np.mean(bucket)),), "share of runs"),
        "right_by_interval": Quantity((float(np.mean(interval)),), "share of runs"),
    }


SWEEP_RUNS = ("0/C", "50/C")
"""The separating experiment has many cases and two runs of each."""

# --- Figure 4 --------------------------------------------------------------------------------------------------------


@measure(Key.EQUAL_CLOCKS, Key.FINE_CONSUMER_CLOCK)
def identity(samples: Samples) -> Measured:
    """Runs of Figures 3(a) and 4(a) whose traces differ."""
    pairs = zip(
        runs(samples, Key.EQUAL_CLOCKS, "100"), runs(samples, Key.FINE_CONSUMER_CLOCK, "100"), strict=True
    )
    return {
        "different": Quantity(tuple(float(a["trace_hash"] != b["trace_hash"]) for a, b in pairs), "traces")
    }


def fine(case: str) -> Callable[[Samples], Measured]:
    """Each of both with a consumer clock of 100 ms; when they have converged; their rates in the last second."""

    def measure(samples: Samples) -> Measured:
        def last(i: int) -> Value:
            return lambda s: rate(s, i, (leaves_s(s) - 1.0, leaves_s(s)))

        name = Key.FINE_CONSUMER_CLOCK
        return {
            **both_rates(samples, name, case),
            "converged_at_s": each(samples, name, case, lambda s: SECOND_S + convergence_s(s), "s"),
            **{f"last_second_c{i + 1}": each(samples, name, case, last(i)) for i in (0, 1)},
        }

    return measure


@measure(Key.EQUAL_CLOCKS, Key.FINE_CONSUMER_CLOCK)
def fall(samples: Samples) -> Measured:
    """Reduction of the mean rate by a consumer clock of 100 ms, run by run."""
    found: Measured = {}
    for case in ("500", "750"):
        pairs = zip(
            runs(samples, Key.EQUAL_CLOCKS, case), runs(samples, Key.FINE_CONSUMER_CLOCK, case), strict=True
        )
        values = tuple(mean_of_both(coarse) - mean_of_both(fine) for coarse, fine in pairs)
        found[f"lower_by_{case}"] = Quantity(values, "packets/s")
    return found


@measure(Key.FINE_CONSUMER_CLOCK)
def all_intervals(samples: Samples) -> Measured:
    """With a consumer clock of 100 ms: over all router intervals, lowest and highest rate, and the latest convergence."""
    by_run = list(
        zip(*(runs(samples, Key.FINE_CONSUMER_CLOCK, case) for case in scenarios.FINE), strict=True)
    )

    def over(
        function: Callable[[list[float]], float], value: Callable[[Sample], list[float]]
    ) -> tuple[float, ...]:
        return tuple(function([v for sample in run for v in value(sample)]) for run in by_run)

    def pair(sample: Sample) -> list[float]:
        return [rate(sample, i, both_s(sample)) for i in (0, 1)]

    return {
        "lowest": Quantity(over(min, pair), "packets/s"),
        "highest": Quantity(over(max, pair), "packets/s"),
        "converged_at_s": Quantity(over(max, lambda s: [SECOND_S + convergence_s(s)]), "s"),
    }


# --- §5 --------------------------------------------------------------------------------------------------------------


@measure(Key.EQUAL_CLOCKS)
def degradation(samples: Samples) -> Measured:
    """Data received by both, by clock interval: what is lost from one to the next, run by run."""
    totals = {
        case: [received_total(s) for s in runs(samples, Key.EQUAL_CLOCKS, case)] for case in scenarios.EQUAL
    }

    def lost(fine: str, coarse: str) -> Quantity:
        return Quantity(tuple(a - b for a, b in zip(totals[fine], totals[coarse], strict=True)), "packets/s")

    return {
        **{f"total_{case}": Quantity(tuple(values), "packets/s") for case, values in totals.items()},
        "lost_100_to_250": lost("100", "250"),
        "lost_250_to_500": lost("250", "500"),
        "lost_100_to_500": lost("100", "500"),
        "lost_100_to_750": lost("100", "750"),
    }


@measure(Key.GRID)
def which_matters(samples: Samples) -> Measured:
    """Spread of the deviation from 600 packets/s over consumer clocks at T = 100 ms, and over T at a clock of 100 ms."""

    def spread(cases: list[str]) -> tuple[float, ...]:
        rows = [[deviation(s) for s in runs(samples, Key.GRID, case)] for case in cases]
        return tuple(float(max(run) - min(run)) for run in zip(*rows, strict=True))

    over_tick = spread([f"{ms},100" for ms in scenarios.CLOCKS_MS])
    over_interval = spread([f"100,{ms}" for ms in scenarios.CLOCKS_MS])
    return {
        "more_over_tick": Quantity(
            tuple(a - b for a, b in zip(over_tick, over_interval, strict=True)), "packets/s"
        ),
        "spread_over_tick": Quantity(over_tick, "packets/s"),
        "spread_over_interval": Quantity(over_interval, "packets/s"),
    }


@measure(Key.EQUAL_CLOCKS, Key.FINE_CONSUMER_CLOCK)
def after(samples: Samples) -> Measured:
    """Generated rate of C1 after C2 has left."""
    found = {
        f"equal_{case}": each(samples, Key.EQUAL_CLOCKS, case, lambda s: rate(s, 0, AFTER_S))
        for case in ("100", "250")
    }
    found |= {
        f"fine_{case}": each(samples, Key.FINE_CONSUMER_CLOCK, case, lambda s: rate(s, 0, AFTER_S))
        for case in ("250", "500", "750")
    }
    return found


# --- what was not stated ---------------------------------------------------------------------------------------------


@measure(Key.C1_ALONE)
def passing(samples: Samples) -> Measured:
    """Interests that C1's node lets go to the link, per second, at a generated rate of 1000: from 3 to 12 s, alone."""
    return {
        f"at_{case}_ms": each(samples, Key.C1_ALONE, case, lambda s: float(s["passed_per_s"]))
        for case in scenarios.LONE
    }


@measure(Key.EXACT_CLOCK)
def exact_clock(samples: Samples) -> Measured:
    """Each of both without a coarse clock, what they receive, and the mean with routers that tick every 10 ms."""
    name, case = Key.EXACT_CLOCK, "T 100 ms"
    return {
        **both_rates(samples, name, case),
        "received_c1": each(samples, name, case, lambda s: rate(s, 0, both_s(s), "received")),
        "received_c2": each(samples, name, case, lambda s: rate(s, 1, both_s(s), "received")),
        "mean_at_10_ms": each(samples, name, "T 10 ms", mean_of_both),
    }


@measure(Key.EXACT_CLOCK, Key.NO_CAP)
def cap(samples: Samples) -> Measured:
    """Maximum R at C1's node, whose link is no bottleneck once C2 is there, without and with the cap."""

    def highest(sample: Sample) -> float:
        return float(np.nanmax(sample["stamping_rate"]))

    return {
        "uncapped": each(samples, Key.NO_CAP, "100", highest),
        "capped": each(samples, Key.EXACT_CLOCK, "T 100 ms", highest),
    }


both_100 = measure(Key.EQUAL_CLOCKS)(lambda samples: both_rates(samples, Key.EQUAL_CLOCKS, "100"))
as_if_alone_500 = measure(Key.EQUAL_CLOCKS)(as_if_alone("500"))
as_if_alone_750 = measure(Key.EQUAL_CLOCKS)(as_if_alone("750"))
fine_250 = measure(Key.FINE_CONSUMER_CLOCK)(fine("250"))
fine_500 = measure(Key.FINE_CONSUMER_CLOCK)(fine("500"))
fine_750 = measure(Key.FINE_CONSUMER_CLOCK)(fine("750"))
ranking = measure(Key.METHODS)(others.ranking)
nack_clock = measure(Key.NACK_CLOCKS)(others.nack_clock)
