"""Measures from samples: common functions of all three scenarios, the headlines, and scenario 1.

The names are those that claims.toml uses; `NAME.literal` takes ndnSieve's literal profile. Rates are in Mbit/s
on the wire, over the whole run unless it is said otherwise. `below_…` is the minimum of the others minus our maximum:
above zero where the ranges over all seeds are apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base import Measure, Measured, Quantity, Sample, Samples, measure
from .._common import jain
from .keys import Key
from .scenarios import SCENES

OTHERS = ("pcon", "coopcon", "flecom")
Value = Callable[[Sample], float]
Profiled = Callable[[Samples, str], Measured]


# --- one run ---------------------------------------------------------------------------------------------------------


def chosen(sample: Sample, begin: float, end: float) -> Any:
    """The bins of 0.1 s between two moments."""
    times = sample["times_s"]
    return (times > begin + 1e-9) & (times <= end + 1e-9)


def total(begin: float = 0.0, end: float = np.inf) -> Value:
    """Mean of all consumers' throughput together."""
    return lambda s: float(s["throughput"][:, chosen(s, begin, end)].sum(axis=0).mean()) / 1e6


def totals(sample: Sample, begin: float, end: float, bin_s: float = 0.1) -> Any:
    """All consumers' throughput together, bin by bin."""
    together = sample["throughput"][:, chosen(sample, begin, end)].sum(axis=0) / 1e6
    return together.reshape(-1, round(bin_s / 0.1)).mean(axis=1)


def unsteady(begin: float, end: float = np.inf, bin_s: float = 0.1) -> Value:
    """Standard deviation of the total over bins."""
    return lambda s: float(np.std(totals(s, begin, end, bin_s)))


def delay(consumer: int) -> Value:
    """Mean delay of a consumer, in ms."""
    return lambda s: float(s["delay_ms"][consumer])


def deviation(consumer: int) -> Value:
    """Standard deviation of a consumer's delay over segments, in ms."""
    return lambda s: float(s["std_ms"][consumer])


def quartiles_apart(consumer: int) -> Value:
    """Interquartile range of a consumer's delay, in ms."""
    return lambda s: float(s["boxes_ms"][consumer][3] - s["boxes_ms"][consumer][1])


def median(consumer: int) -> Value:
    """Median of a consumer's delay, in ms."""
    return lambda s: float(s["boxes_ms"][consumer][2])


def jain_in_bins(bin_s: float, begin: float = 0.0, end: float = np.inf) -> Value:
    """Mean over bins of Jain's index of all consumers, those that are idle with nothing; empty bins left out."""

    def value(sample: Sample) -> float:
        rows = sample["throughput"][:, chosen(sample, begin, end)]
        binned = rows.reshape(len(rows), -1, round(bin_s / 0.1)).mean(axis=2).T
        return float(np.mean([jain(rates) for rates in binned if rates.any()]))

    return value


def jain_of_totals(begin: float = 0.0, end: float = np.inf) -> Value:
    """Jain's index of the consumers' totals."""
    return lambda s: jain(s["throughput"][:, chosen(s, begin, end)].mean(axis=1))


def loss(sample: Sample) -> float:
    """Data that found queues full, in packets."""
    return float(sample["lost"])


# --- all runs --------------------------------------------------------------------------------------------------------


def each(samples: Samples, scene: Key, setup: str, value: Value, unit: str = "") -> Quantity:
    """One value per seed."""
    return samples.each(scene, setup, value, unit)


def below(ours: Quantity, others: Sequence[Quantity]) -> Quantity:
    """The minimum of the others minus our maximum."""
    return Quantity((min(min(other.values) for other in others) - max(ours.values),), ours.unit)


def middle(quantity: Quantity) -> float:
    """Median over seeds."""
    return float(np.median(quantity.values))


def ratio(one: Quantity, other: Quantity) -> Quantity:
    """Of medians over seeds: seeds of different schemes have nothing in common."""
    return Quantity((middle(one) / middle(other),))


def lowest(
    samples: Samples, scene: Key, sieve: str, consumers: Sequence[int], value: Callable[[int], Value]
) -> Measured:
    """The value of ndnSieve for each consumer, and its margin below all others."""
    found: Measured = {}
    for i in consumers:
        ours = each(samples, scene, sieve, value(i), "ms")
        found[f"c{i + 1}"] = ours
        found[f"below_c{i + 1}"] = below(
            ours, [each(samples, scene, setup, value(i), "ms") for setup in OTHERS]
        )
    return found


def four(samples: Samples, scene: Key, sieve: str, value: Value, unit: str) -> dict[str, Quantity]:
    """The four schemes, ndnSieve in one profile."""
    return {
        name: each(samples, scene, setup, value, unit)
        for name, setup in (("ndnsieve", sieve), *((setup, setup) for setup in OTHERS))
    }


@dataclass(frozen=True, kw_only=True)
class ProfiledMeasure(Measure):
    """A measure of ndnSieve's calibrated profile that has one of the literal profile beside it."""

    literal: Measure


def profiled(*scenes: Key) -> Callable[[Profiled], ProfiledMeasure]:
    """Makes a function of samples and profile a measure for each profile."""

    def both(function: Profiled) -> ProfiledMeasure:
        literal = Measure(scenes, lambda samples: function(samples, "literal"))
        return ProfiledMeasure(scenes, lambda samples: function(samples, "calibrated"), literal=literal)

    return both


# --- headlines -------------------------------------------------------------------------------------------------------


def gain(scene: Key) -> Profiled:
    """Total of ndnSieve over that of PCON."""

    def measure(samples: Samples, sieve: str) -> Measured:
        ours, pcon = (each(samples, scene, setup, total(), "Mbit/s") for setup in (sieve, "pcon"))
        return {"ratio": ratio(ours, pcon), "ndnsieve": ours, "pcon": pcon, "above_pcon": below(pcon, [ours])}

    return measure


@profiled(*SCENES)
def lowest_everywhere(samples: Samples, sieve: str) -> Measured:
    """Mean delays: scenarios 1 and 2 all consumers, scenario 3 the first two."""
    found: Measured = {}
    for number, (scene, consumers) in enumerate(zip(SCENES, ((0, 1), (0,), (0, 1)), strict=True), 1):
        parts = lowest(samples, scene, sieve, consumers, delay)
        found |= {f"{name}_in_{number}": quantity for name, quantity in parts.items()}
    return found


@profiled(*SCENES)
def relatively_high(samples: Samples, sieve: str) -> Measured:
    """Throughput of ndnSieve over the best of four, and its Jain index less the best, in each scenario."""
    found: Measured = {}
    for number, scene in enumerate(SCENES, 1):
        rates = {n: middle(q) for n, q in four(samples, scene, sieve, total(), "").items()}
        found[f"throughput_{number}"] = Quantity((rates["ndnsieve"] / max(rates.values()),))
        if scene != Key.TWO_WAYS:
            fair = {n: middle(q) for n, q in four(samples, scene, sieve, jain_of_totals(), "").items()}
            found[f"jain_{number}"] = Quantity((fair["ndnsieve"] - max(fair.values()),))
    return found


# --- scenario 1 ------------------------------------------------------------------------------------------------------


@profiled(Key.DUMBBELL)
def jitters(samples: Samples, sieve: str) -> Measured:
    """Deviation of the total after 2 s: PCON, and how far ndnSieve and FleCom are below it."""
    found = four(samples, Key.DUMBBELL, sieve, unsteady(2.0), "Mbit/s")
    return {
        "pcon": found["pcon"],
        "above_ndnsieve": below(found["ndnsieve"], [found["pcon"]]),
        "above_flecom": below(found["flecom"], [found["pcon"]]),
    }


@profiled(Key.DUMBBELL)
def near_the_limit(samples: Samples, sieve: str) -> Measured:
    """Mean and deviation of ndnSieve's total after 2 s."""
    return {
        "mean": each(samples, Key.DUMBBELL, sieve, total(2.0), "Mbit/s"),
        "deviation": each(samples, Key.DUMBBELL, sieve, unsteady(2.0), "Mbit/s"),
    }


@measure(Key.DUMBBELL)
def great(samples: Samples) -> Measured:
    """Totals of CoopCon and FleCom."""
    return {setup: each(samples, Key.DUMBBELL, setup, total(), "Mbit/s") for setup in ("coopcon", "flecom")}


@profiled(Key.DUMBBELL)
def lowest_of_both(samples: Samples, sieve: str) -> Measured:
    """Mean delay of both consumers."""
    return lowest(samples, Key.DUMBBELL, sieve, (0, 1), delay)


def deviations(scene: Key, setup: str, consumers: int) -> Callable[[Samples], Measured]:
    """Standard deviations of the consumers' delays."""
    return lambda samples: {
        f"c{i + 1}": each(samples, scene, setup, deviation(i), "ms") for i in range(consumers)
    }


@profiled(Key.DUMBBELL)
def deviation_order(samples: Samples, sieve: str) -> Measured:
    """By how much each scheme's deviation is below that of the next in the paper's order."""
    found: Measured = {}
    for i in (0, 1):
        by_way = four(samples, Key.DUMBBELL, sieve, deviation(i), "ms")
        order = ("ndnsieve", "flecom", "pcon", "coopcon")
        found[f"lowest_c{i + 1}"] = below(by_way["ndnsieve"], [by_way[setup] for setup in order[1:]])
        found[f"highest_c{i + 1}"] = Quantity(
            (min(by_way["coopcon"].values) - max(max(by_way[setup].values) for setup in order[:3]),), "ms"
        )
        found[f"flecom_below_pcon_c{i + 1}"] = below(by_way["flecom"], [by_way["pcon"]])
    return found


@profiled(Key.DUMBBELL)
def alike(samples: Samples, sieve: str) -> Measured:
    """Difference of the deviations of both consumers relative to their mean, in per cent."""

    def value(sample: Sample) -> float:
        one, other = sample["std_ms"]
        return float(200 * abs(one - other) / (one + other))

    return dict(four(samples, Key.DUMBBELL, sieve, value, "%"))


def fairness(setup: str) -> Callable[[Samples], Measured]:
    """Jain's index of scenario 1 in bins of 1 s, in bins of 0.1 s, and of totals."""
    return lambda samples: {
        "bins_1_s": each(samples, Key.DUMBBELL, setup, jain_in_bins(1.0), "Jain index"),
        "bins_0_1_s": each(samples, Key.DUMBBELL, setup, jain_in_bins(0.1), "Jain index"),
        "totals": each(samples, Key.DUMBBELL, setup, jain_of_totals(), "Jain index"),
    }


@profiled(Key.DUMBBELL)
def fair_pair(samples: Samples, sieve: str) -> Measured:
    """Jain's index of ndnSieve and FleCom in bins of 1 s."""
    found = four(samples, Key.DUMBBELL, sieve, jain_in_bins(1.0), "Jain index")
    return {"ndnsieve": found["ndnsieve"], "flecom": found["flecom"]}


@profiled(Key.DUMBBELL)
def fairness_order(samples: Samples, sieve: str) -> Measured:
    """Differences of medians in bins of 1 s, in the paper's order."""
    found = {n: middle(q) for n, q in four(samples, Key.DUMBBELL, sieve, jain_in_bins(1.0), "").items()}
    return {
        "ndnsieve_less_flecom": Quantity((found["ndnsieve"] - found["flecom"],)),
        "flecom_less_coopcon": Quantity((found["flecom"] - found["coopcon"],)),
        "coopcon_less_pcon": Quantity((found["coopcon"] - found["pcon"],)),
    }


def boxes(samples: Samples, sieve: str) -> Measured:
    """Interquartile ranges and medians of both consumers against the others'."""
    found = lowest(samples, Key.DUMBBELL, sieve, (0, 1), quartiles_apart)
    medians = lowest(samples, Key.DUMBBELL, sieve, (0, 1), median)
    return {**found, **{f"median_{name}": quantity for name, quantity in medians.items()}}


def losses(scene: Key) -> Profiled:
    """Data that found queues full, in packets."""
    return lambda samples, sieve: dict(four(samples, scene, sieve, loss, "packets"))


def commands(samples: Samples, sieve: str) -> Measured:
    """Commands that the controller sent in scenario 1."""
    return {
        "commands": each(samples, Key.DUMBBELL, sieve, lambda s: float(s["controller_commands"]), "commands")
    }


gain_1 = profiled(Key.DUMBBELL)(gain(Key.DUMBBELL))
gain_2 = profiled(Key.TWO_WAYS)(gain(Key.TWO_WAYS))
deviation_1 = profiled(Key.DUMBBELL)(lambda samples, setup: deviations(Key.DUMBBELL, setup, 2)(samples))
deviation_1_pcon = measure(Key.DUMBBELL)(deviations(Key.DUMBBELL, "pcon", 2))
deviation_1_coopcon = measure(Key.DUMBBELL)(deviations(Key.DUMBBELL, "coopcon", 2))
deviation_1_flecom = measure(Key.DUMBBELL)(deviations(Key.DUMBBELL, "flecom", 2))
fairness_coopcon = measure(Key.DUMBBELL)(fairness("coopcon"))
fairness_pcon = measure(Key.DUMBBELL)(fairness("pcon"))
boxes_1 = profiled(Key.DUMBBELL)(boxes)
losses_1 = profiled(Key.DUMBBELL)(losses(Key.DUMBBELL))
commands_1 = profiled(Key.DUMBBELL)(commands)
