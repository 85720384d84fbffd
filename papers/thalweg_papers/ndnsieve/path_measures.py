"""Measures of scenarios 2 and 3: two paths for one prefix, and a detour for three.

261 is R1's interface to R3, 260 the one to R2; shares are of the Data that came to R1 by the two.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, measure
from .._common import jain
from . import measures
from .keys import Key
from .measures import (
    Value,
    below,
    chosen,
    deviations,
    each,
    four,
    jain_in_bins,
    jain_of_totals,
    losses,
    lowest,
    middle,
    profiled,
    ratio,
    total,
    totals,
    unsteady,
)

TWO, THREE = Key.TWO_WAYS, Key.THREE_FLOWS
SETTLED_S = 5.0
"""From here on in scenario 3: the last consumer began at 2 s."""


def share(begin: float, end: float = np.inf) -> Value:
    """Share of 261 between two moments."""

    def value(sample: Sample) -> float:
        faces = sample["faces"][:, chosen(sample, begin, end)].sum(axis=1)
        return float(faces[1] / faces.sum())

    return value


def moved(begin: float = 0.0, end: float = np.inf) -> Value:
    """Times that a prefix took another way between two moments."""
    return lambda s: float(np.sum((s["moves_s"] > begin) & (s["moves_s"] <= end)))


def first_move(sample: Sample) -> float:
    """When a prefix first took another way; never is NaN."""
    return float(sample["moves_s"][0]) if len(sample["moves_s"]) else float("nan")


def nearest_move(sample: Sample, moment_s: float) -> float:
    """When a prefix took another way nearest to a moment; never is NaN."""
    moves = sample["moves_s"]
    return float(moves[np.argmin(np.abs(moves - moment_s))]) if len(moves) else float("nan")


# --- both ------------------------------------------------------------------------------------------------------------


@profiled(TWO, THREE)
def converges(samples: Samples, sieve: str) -> Measured:
    """Moves in the last 10 s of scenario 3, and in all of scenario 2."""
    return {
        "late_moves_3": each(samples, THREE, sieve, moved(10.0), "moves"),
        "moves_2": each(samples, TWO, sieve, moved(), "moves"),
        "moves_3": each(samples, THREE, sieve, moved(), "moves"),
    }


# --- scenario 2 ------------------------------------------------------------------------------------------------------


@profiled(TWO)
def pcon_lowest(samples: Samples, sieve: str) -> Measured:
    """PCON's total against the others', and its deviation."""
    rates = four(samples, TWO, sieve, total(), "Mbit/s")
    swings = four(samples, TWO, sieve, unsteady(0.0), "Mbit/s")
    others = [swings[setup] for setup in ("ndnsieve", "coopcon", "flecom")]
    return {
        "pcon": rates["pcon"],
        "lowest": below(rates["pcon"], [rates[setup] for setup in ("ndnsieve", "coopcon", "flecom")]),
        "deviation": swings["pcon"],
        "most_unstable": Quantity(
            (min(swings["pcon"].values) - max(max(other.values) for other in others),), "Mbit/s"
        ),
    }


@profiled(TWO)
def dips(samples: Samples, sieve: str) -> Measured:
    """Decrease of the total below 10 Mbit/s, in per cent: around the move, and later; and between moves."""

    def deepest(begin: float, end: float) -> Value:
        return lambda s: float(10 * (10 - totals(s, begin, end).min()))

    return {
        "around_1_s": each(samples, TWO, sieve, deepest(0.9, 1.4), "%"),
        "later": each(samples, TWO, sieve, deepest(1.4, np.inf), "%"),
    }


@measure(TWO)
def around_ten(samples: Samples) -> Measured:
    """Totals of CoopCon and FleCom."""
    return {setup: each(samples, TWO, setup, total(), "Mbit/s") for setup in ("coopcon", "flecom")}


@measure(TWO)
def flecom_over_coopcon(samples: Samples) -> Measured:
    """Margin of FleCom's total above CoopCon's, and of its deviation below."""
    rate = {setup: each(samples, TWO, setup, total(), "Mbit/s") for setup in ("coopcon", "flecom")}
    swing = {setup: each(samples, TWO, setup, unsteady(2.0), "Mbit/s") for setup in ("coopcon", "flecom")}
    return {
        "higher": below(rate["coopcon"], [rate["flecom"]]),
        "steadier": below(swing["flecom"], [swing["coopcon"]]),
    }


@profiled(TWO)
def comparable(samples: Samples, sieve: str) -> Measured:
    """FleCom's total over ndnSieve's."""
    return {"ratio": ratio(each(samples, TWO, "flecom", total()), each(samples, TWO, sieve, total()))}


@profiled(TWO)
def switch(samples: Samples, sieve: str) -> Measured:
    """When the prefix moves, what 261 carries then, and how often it moves."""
    return {
        "first_s": each(samples, TWO, sieve, first_move, "s"),
        "share_261": each(samples, TWO, sieve, share(1.5, 2.5)),
        "moves": each(samples, TWO, sieve, moved(), "moves"),
    }


def share_in_2(setup: str, begin: float) -> Callable[[Samples], Measured]:
    """Traffic of face 261 in scenario 2."""
    return lambda samples: {"share_261": each(samples, TWO, setup, share(begin))}


@measure(TWO, THREE)
def heavy_marks(samples: Samples) -> Measured:
    """Traffic of face 261 under CoopCon, in both networks with two paths."""
    return {
        "share_261_in_2": each(samples, TWO, "coopcon", share(0.0)),
        "share_261_in_3": each(samples, THREE, "coopcon", share(0.0)),
    }


@profiled(TWO)
def lowest_in_2(samples: Samples, sieve: str) -> Measured:
    """Mean delay of the consumer."""
    return lowest(samples, TWO, sieve, (0,), measures.delay)


def deviation_order(samples: Samples, sieve: str) -> Measured:
    """Deviations of ndnSieve and FleCom over those of PCON and CoopCon, as medians."""
    found = {name: middle(q) for name, q in four(samples, TWO, sieve, measures.deviation(0), "ms").items()}
    return {
        **{
            f"{one}_over_{other}": Quantity((found[one] / found[other],))
            for one in ("ndnsieve", "flecom")
            for other in ("pcon", "coopcon")
        },
        "flecom_over_ndnsieve": Quantity((found["flecom"] / found["ndnsieve"],)),
    }


@profiled(TWO)
def narrow(samples: Samples, sieve: str) -> Measured:
    """Interquartile ranges of ndnSieve and FleCom."""
    return {
        "ndnsieve": each(samples, TWO, sieve, measures.quartiles_apart(0), "ms"),
        "flecom": each(samples, TWO, "flecom", measures.quartiles_apart(0), "ms"),
    }


@measure(TWO, Key.READINGS)
def one_reaction(samples: Samples) -> Measured:
    """Totals of PCON in scenario 2 with one of its two reactions, over that with both."""
    both = each(samples, TWO, "pcon", total(), "Mbit/s")
    return {
        "pcon": both,
        "without_shift": ratio(each(samples, Key.READINGS, f"{TWO}: no shift", total()), both),
        "without_cut": ratio(each(samples, Key.READINGS, f"{TWO}: no cut", total()), both),
    }


# --- scenario 3 ------------------------------------------------------------------------------------------------------


@measure(THREE)
def starts(samples: Samples) -> Measured:
    """First Interests."""

    def start(i: int) -> Value:
        return lambda s: float(s["first_s"][i])

    return {f"c{i + 1}": each(samples, THREE, "calibrated", start(i), "s") for i in (1, 2)}


@profiled(THREE)
def consistently_high(samples: Samples, sieve: str) -> Measured:
    """Total from 5 s on, and the lowest bin of 0.5 s."""
    return {
        "mean": each(samples, THREE, sieve, total(SETTLED_S), "Mbit/s"),
        "lowest_bin": each(
            samples, THREE, sieve, lambda s: totals(s, SETTLED_S, np.inf, 0.5).min(), "Mbit/s"
        ),
    }


@profiled(THREE)
def switch_at_4(samples: Samples, sieve: str) -> Measured:
    """The move that is nearest to 4.1 s, and the first of all."""
    return {
        "nearest_s": each(samples, THREE, sieve, lambda s: nearest_move(s, 4.1), "s"),
        "first_s": each(samples, THREE, sieve, first_move, "s"),
        "moves": each(samples, THREE, sieve, moved(), "moves"),
    }


@measure(THREE)
def rises(samples: Samples) -> Measured:
    """PCON's total from 15 to 20 s over that from 3 to 8 s, and its slope from 3 s on."""

    def slope(sample: Sample) -> float:
        means = totals(sample, 3.0, np.inf, 1.0)
        return float(np.polyfit(np.arange(len(means)), means, 1)[0])

    def growth(sample: Sample) -> float:
        return total(15.0)(sample) / total(3.0, 8.0)(sample)

    return {
        "ratio": each(samples, THREE, "pcon", growth),
        "slope": each(samples, THREE, "pcon", slope, "Mbit/s per s"),
    }


@measure(THREE)
def more_by_261(samples: Samples) -> Measured:
    """PCON's share of 261 from 15 to 20 s less that from 3 to 8 s."""
    return {
        "more": each(samples, THREE, "pcon", lambda s: share(15.0)(s) - share(3.0, 8.0)(s)),
        "at_the_end": each(samples, THREE, "pcon", share(15.0)),
    }


@profiled(THREE)
def coopcon_lowest(samples: Samples, sieve: str) -> Measured:
    """CoopCon's total from 5 s on against the others'."""
    found = four(samples, THREE, sieve, total(SETTLED_S), "Mbit/s")
    return {
        "coopcon": found["coopcon"],
        "lowest": below(found["coopcon"], [found[setup] for setup in ("ndnsieve", "pcon", "flecom")]),
    }


@measure(THREE)
def nearly_twice(samples: Samples) -> Measured:
    """Maximum bin of 1 s of FleCom over CoopCon's; and the ratio of means."""

    def maximum(sample: Sample) -> float:
        return float(totals(sample, 0.0, np.inf, 1.0).max())

    def of(value: Value) -> Quantity:
        return ratio(each(samples, THREE, "flecom", value), each(samples, THREE, "coopcon", value))

    return {"maxima": of(maximum), "means": of(total(SETTLED_S))}


@measure(THREE)
def several_links(samples: Samples) -> Measured:
    """FleCom's share of 261 from 5 s on."""
    return {"share_261": each(samples, THREE, "flecom", share(SETTLED_S))}


@profiled(THREE)
def steadiest(samples: Samples, sieve: str) -> Measured:
    """Deviation of the total in bins of 0.5 s from 5 s on."""
    found = four(samples, THREE, sieve, unsteady(SETTLED_S, np.inf, 0.5), "Mbit/s")
    return {
        "ndnsieve": found["ndnsieve"],
        "below_others": below(found["ndnsieve"], [found[setup] for setup in measures.OTHERS]),
        **{setup: found[setup] for setup in measures.OTHERS},
    }


def faces_alike(sample: Sample) -> float:
    """Jain's index of the two interfaces' throughput from 5 s on."""
    return jain(sample["faces"][:, chosen(sample, SETTLED_S, np.inf)].mean(axis=1))


@profiled(THREE)
def both_used(samples: Samples, sieve: str) -> Measured:
    """Jain's index of R1's two interfaces, by scheme."""
    found = four(samples, THREE, sieve, faces_alike, "Jain index")
    return {setup: found[setup] for setup in ("ndnsieve", "pcon", "flecom")}


@measure(THREE)
def one_used(samples: Samples) -> Measured:
    """CoopCon's share of 261 and Jain's index of the interfaces."""
    return {
        "share_261": each(samples, THREE, "coopcon", share(0.0)),
        "jain": each(samples, THREE, "coopcon", faces_alike, "Jain index"),
    }


def _average_jain(setup: str) -> Callable[[Samples], Measured]:
    """Jain's index of consumers by every reading of `average`: all bins with idle ones, bins from 2 s on, totals."""

    def measure(samples: Samples) -> Measured:
        readings: dict[str, Value] = {
            "all_bins": jain_in_bins(1.0),
            "totals": jain_of_totals(),
            "totals_10_s": jain_of_totals(0.0, 10.0),
            "bins_from_2_s": jain_in_bins(1.0, 2.0),
            "all_bins_10_s": jain_in_bins(1.0, 0.0, 10.0),
            "all_bins_9_s": jain_in_bins(1.0, 0.0, 9.0),
        }
        return {name: each(samples, THREE, setup, value, "Jain index") for name, value in readings.items()}

    return measure


@measure(THREE)
def jain_order(samples: Samples) -> Measured:
    """Differences of the medians of Jain's index in bins of 1 s, in the order of Table 7; and these medians."""
    found = {
        name: middle(each(samples, THREE, setup, jain_in_bins(1.0), "Jain index"))
        for name, setup in (("flecom", "flecom"), ("ndnsieve", "calibrated"), ("pcon", "pcon"))
    }
    return {
        "flecom_less_ndnsieve": Quantity((found["flecom"] - found["ndnsieve"],)),
        "ndnsieve_less_pcon": Quantity((found["ndnsieve"] - found["pcon"],)),
        **{name: Quantity((value,), "Jain index") for name, value in found.items()},
    }


PCON_CHANGE = 0.02
"""§6.2.2: the part of a share that a marked Data packet takes."""


@measure(Key.SHARE)
def pcon_steps(samples: Samples) -> Measured:
    """Falls of PCON's share, and how far the ratio of each is from one fall by 2 %, at most."""

    def error(sample: Sample) -> float:
        return float(np.abs(sample["after"] / sample["before"] - (1 - PCON_CHANGE)).max())

    return {
        "error": each(samples, Key.SHARE, "pcon", error),
        "falls": each(samples, Key.SHARE, "pcon", lambda s: float(len(s["after"])), "falls"),
    }


@profiled(THREE)
def lowest_in_3(samples: Samples, sieve: str) -> Measured:
    """Mean delays of the first two consumers."""
    return lowest(samples, THREE, sieve, (0, 1), measures.delay)


@profiled(THREE)
def narrow_in_3(samples: Samples, sieve: str) -> Measured:
    """Interquartile ranges beside standard deviations."""
    found: Measured = {}
    for i in range(3):
        found[f"c{i + 1}"] = each(samples, THREE, sieve, measures.quartiles_apart(i), "ms")
    for i in range(3):
        found[f"deviation_c{i + 1}"] = each(samples, THREE, sieve, measures.deviation(i), "ms")
    return found


@profiled(THREE)
def excellent(samples: Samples, sieve: str) -> Measured:
    """Places of ndnSieve among the four by deviation, for each consumer and on the mean of the three: 1 is the minimum."""
    found: Measured = {}

    def place(value: Value) -> Quantity:
        by_way = {name: middle(q) for name, q in four(samples, THREE, sieve, value, "ms").items()}
        return Quantity((1.0 + sum(other < by_way["ndnsieve"] for other in by_way.values()),), "place")

    for i in range(3):
        found[f"place_c{i + 1}"] = place(measures.deviation(i))
    found["place_of_mean"] = place(lambda s: float(s["std_ms"].mean()))
    return found


def deviations_of(setups: tuple[str, ...]) -> Callable[[Samples], Measured]:
    """Deviations of schemes in scenario 3."""
    return lambda samples: {
        f"{setup}_{name}": quantity
        for setup in setups
        for name, quantity in deviations(THREE, setup, 3)(samples).items()
    }


share_in_2_pcon = measure(TWO)(share_in_2("pcon", 2.0))
share_in_2_flecom = measure(TWO)(share_in_2("flecom", 0.0))
deviation_2 = profiled(TWO)(lambda samples, setup: deviations(TWO, setup, 1)(samples))
deviation_2_pcon = measure(TWO)(deviations(TWO, "pcon", 1))
deviation_2_coopcon = measure(TWO)(deviations(TWO, "coopcon", 1))
deviation_2_flecom = measure(TWO)(deviations(TWO, "flecom", 1))
deviation_order_2 = profiled(TWO)(deviation_order)
losses_2 = profiled(TWO)(losses(TWO))
average_jain = profiled(THREE)(lambda samples, setup: _average_jain(setup)(samples))
average_jain_pcon = measure(THREE)(_average_jain("pcon"))
average_jain_flecom = measure(THREE)(_average_jain("flecom"))
deviation_3 = profiled(THREE)(lambda samples, setup: deviations(THREE, setup, 3)(samples))
deviation_3_pcon = measure(THREE)(deviations(THREE, "pcon", 3))
deviation_3_others = measure(THREE)(deviations_of(("coopcon", "flecom")))
losses_3 = profiled(THREE)(losses(THREE))
