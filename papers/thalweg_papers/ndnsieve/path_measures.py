"""How results of scenarios 2 and 3 are measured: two ways for one prefix, and a way round for three.

261 is R1's interface to R3, 260 the one to R2; shares are of the Data that came to R1 by the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base import Measure, Measured, Quantity, Sample, Samples
from .._common import jain
from . import measures
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

TWO, THREE = "two ways", "three flows"
SETTLED_S = 5.0
"""From here on in scenario 3: the last consumer began at 2 s."""


def share(begin: float, end: float = 20.0) -> Value:
    """Share of 261 between two moments."""

    def value(sample: Sample) -> float:
        faces = sample["faces"][:, chosen(sample, begin, end)].sum(axis=1)
        return float(faces[1] / faces.sum())

    return value


def moved(begin: float = 0.0, end: float = 20.0) -> Value:
    """Times that a prefix took another way between two moments."""
    return lambda s: float(np.sum((s["moves_s"] > begin) & (s["moves_s"] <= end)))


def first_move(sample: Sample) -> float:
    """When a prefix first took another way; never is NaN."""
    return float(sample["moves_s"][0]) if len(sample["moves_s"]) else float("nan")


# --- both ------------------------------------------------------------------------------------------------------------


def converges(samples: Samples, sieve: str) -> Measured:
    """Moves in the last 10 s of scenario 3, and in all of scenario 2."""
    return {
        "late_moves_3": each(samples, THREE, sieve, moved(10.0), "moves"),
        "moves_2": each(samples, TWO, sieve, moved(), "moves"),
        "moves_3": each(samples, THREE, sieve, moved(), "moves"),
    }


# --- scenario 2 ------------------------------------------------------------------------------------------------------


def pcon_lowest(samples: Samples, sieve: str) -> Measured:
    """PCON's total against the others', and its deviation."""
    rates = four(samples, TWO, sieve, total(), "Mbit/s")
    swings = four(samples, TWO, sieve, unsteady(0.0), "Mbit/s")
    others = [swings[way] for way in ("ndnsieve", "coopcon", "flecom")]
    return {
        "pcon": rates["pcon"],
        "lowest": below(rates["pcon"], [rates[way] for way in ("ndnsieve", "coopcon", "flecom")]),
        "deviation": swings["pcon"],
        "most_unstable": Quantity(
            (min(swings["pcon"].values) - max(max(other.values) for other in others),), "Mbit/s"
        ),
    }


def dips(samples: Samples, sieve: str) -> Measured:
    """How far the total falls below 10 Mbit/s, in per cent: around the move, and later; and between moves."""

    def deepest(begin: float, end: float) -> Value:
        return lambda s: float(10 * (10 - totals(s, begin, end).min()))

    return {
        "around_1_s": each(samples, TWO, sieve, deepest(0.9, 1.4), "%"),
        "later": each(samples, TWO, sieve, deepest(1.4, 20.0), "%"),
    }


def around_ten(samples: Samples) -> Measured:
    """Totals of CoopCon and FleCom."""
    return {way: each(samples, TWO, way, total(), "Mbit/s") for way in ("coopcon", "flecom")}


def flecom_over_coopcon(samples: Samples) -> Measured:
    """How far FleCom's total is above CoopCon's, and its deviation below."""
    rate = {way: each(samples, TWO, way, total(), "Mbit/s") for way in ("coopcon", "flecom")}
    swing = {way: each(samples, TWO, way, unsteady(2.0), "Mbit/s") for way in ("coopcon", "flecom")}
    return {
        "higher": below(rate["coopcon"], [rate["flecom"]]),
        "steadier": below(swing["flecom"], [swing["coopcon"]]),
    }


def comparable(samples: Samples, sieve: str) -> Measured:
    """FleCom's total over ndnSieve's."""
    return {"ratio": ratio(each(samples, TWO, "flecom", total()), each(samples, TWO, sieve, total()))}


def switch(samples: Samples, sieve: str) -> Measured:
    """When the prefix moves, what 261 carries then, and how often it moves."""
    return {
        "first_s": each(samples, TWO, sieve, first_move, "s"),
        "share_261": each(samples, TWO, sieve, share(1.5, 2.5)),
        "moves": each(samples, TWO, sieve, moved(), "moves"),
    }


def share_in_2(way: str, begin: float) -> Callable[[Samples], Measured]:
    """What 261 carries in scenario 2."""
    return lambda samples: {"share_261": each(samples, TWO, way, share(begin))}


def heavy_marks(samples: Samples) -> Measured:
    """What 261 carries under CoopCon, in both networks with two ways."""
    return {
        "share_261_in_2": each(samples, TWO, "coopcon", share(0.0)),
        "share_261_in_3": each(samples, THREE, "coopcon", share(0.0)),
    }


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


def narrow(samples: Samples, sieve: str) -> Measured:
    """Interquartile ranges of ndnSieve and FleCom."""
    return {
        "ndnsieve": each(samples, TWO, sieve, measures.quartiles_apart(0), "ms"),
        "flecom": each(samples, TWO, "flecom", measures.quartiles_apart(0), "ms"),
    }


def one_reaction(samples: Samples) -> Measured:
    """Totals of PCON in scenario 2 with one of its two reactions, over that with both."""
    both = each(samples, TWO, "pcon", total(), "Mbit/s")
    return {
        "pcon": both,
        "without_shift": ratio(each(samples, "readings", f"{TWO}: no shift", total()), both),
        "without_cut": ratio(each(samples, "readings", f"{TWO}: no cut", total()), both),
    }


# --- scenario 3 ------------------------------------------------------------------------------------------------------


def starts(samples: Samples) -> Measured:
    """First Interests."""

    def start(i: int) -> Value:
        return lambda s: float(s["first_s"][i])

    return {f"c{i + 1}": each(samples, THREE, "calibrated", start(i), "s") for i in (1, 2)}


def consistently_high(samples: Samples, sieve: str) -> Measured:
    """Total from 5 s on, and the lowest bin of 0.5 s."""
    return {
        "mean": each(samples, THREE, sieve, total(SETTLED_S), "Mbit/s"),
        "lowest_bin": each(samples, THREE, sieve, lambda s: totals(s, SETTLED_S, 20.0, 0.5).min(), "Mbit/s"),
    }


def switch_at_4(samples: Samples, sieve: str) -> Measured:
    """Moves between 3.6 and 4.6 s, and the first of all."""
    return {
        "moves_then": each(samples, THREE, sieve, moved(3.6, 4.6), "moves"),
        "first_s": each(samples, THREE, sieve, first_move, "s"),
        "moves": each(samples, THREE, sieve, moved(), "moves"),
    }


def rises(samples: Samples) -> Measured:
    """PCON's total from 15 to 20 s over that from 3 to 8 s, and its slope from 3 s on."""

    def slope(sample: Sample) -> float:
        means = totals(sample, 3.0, 20.0, 1.0)
        return float(np.polyfit(np.arange(len(means)), means, 1)[0])

    def growth(sample: Sample) -> float:
        return total(15.0)(sample) / total(3.0, 8.0)(sample)

    return {
        "ratio": each(samples, THREE, "pcon", growth),
        "slope": each(samples, THREE, "pcon", slope, "Mbit/s per s"),
    }


def more_by_261(samples: Samples) -> Measured:
    """PCON's share of 261 from 15 to 20 s less that from 3 to 8 s."""
    return {
        "more": each(samples, THREE, "pcon", lambda s: share(15.0)(s) - share(3.0, 8.0)(s)),
        "at_the_end": each(samples, THREE, "pcon", share(15.0)),
    }


def coopcon_lowest(samples: Samples, sieve: str) -> Measured:
    """CoopCon's total from 5 s on against the others'."""
    found = four(samples, THREE, sieve, total(SETTLED_S), "Mbit/s")
    return {
        "coopcon": found["coopcon"],
        "lowest": below(found["coopcon"], [found[way] for way in ("ndnsieve", "pcon", "flecom")]),
    }


def nearly_twice(samples: Samples) -> Measured:
    """Greatest bin of 1 s of FleCom over CoopCon's; and the ratio of means."""

    def greatest(sample: Sample) -> float:
        return float(totals(sample, 0.0, 20.0, 1.0).max())

    def of(value: Value) -> Quantity:
        return ratio(each(samples, THREE, "flecom", value), each(samples, THREE, "coopcon", value))

    return {"maxima": of(greatest), "means": of(total(SETTLED_S))}


def several_links(samples: Samples) -> Measured:
    """FleCom's share of 261 from 5 s on."""
    return {"share_261": each(samples, THREE, "flecom", share(SETTLED_S))}


def steadiest(samples: Samples, sieve: str) -> Measured:
    """Deviation of the total in bins of 0.5 s from 5 s on."""
    found = four(samples, THREE, sieve, unsteady(SETTLED_S, 20.0, 0.5), "Mbit/s")
    return {
        "ndnsieve": found["ndnsieve"],
        "below_others": below(found["ndnsieve"], [found[way] for way in measures.OTHERS]),
    }


def faces_alike(sample: Sample) -> float:
    """Jain's index of the two interfaces' throughput from 5 s on."""
    return jain(sample["faces"][:, chosen(sample, SETTLED_S, 20.0)].mean(axis=1))


def both_used(samples: Samples, sieve: str) -> Measured:
    """Jain's index of R1's two interfaces, by scheme."""
    found = four(samples, THREE, sieve, faces_alike, "Jain index")
    return {way: found[way] for way in ("ndnsieve", "pcon", "flecom")}


def one_used(samples: Samples) -> Measured:
    """CoopCon's share of 261 and Jain's index of the interfaces."""
    return {
        "share_261": each(samples, THREE, "coopcon", share(0.0)),
        "jain": each(samples, THREE, "coopcon", faces_alike, "Jain index"),
    }


def average_jain(way: str) -> Callable[[Samples], Measured]:
    """Jain's index of consumers by every reading of `average`: totals, bins from 2 s on, all bins with idle ones."""

    def measure(samples: Samples) -> Measured:
        readings: dict[str, Value] = {
            "totals": jain_of_totals(),
            "totals_10_s": jain_of_totals(0.0, 10.0),
            "bins_from_2_s": jain_in_bins(1.0, 2.0),
            "all_bins": jain_in_bins(1.0),
            "all_bins_10_s": jain_in_bins(1.0, 0.0, 10.0),
            "all_bins_9_s": jain_in_bins(1.0, 0.0, 9.0),
        }
        found = {name: each(samples, THREE, way, value, "Jain index") for name, value in readings.items()}
        return {**found, **best_reading(way, found)}

    return measure


PRINTED = {"calibrated": 0.87, "literal": 0.87, "pcon": 0.84, "flecom": 0.89}
"""Table 7."""


def best_reading(way: str, found: dict[str, Any]) -> Measured:
    """How far the nearest reading is from the printed value."""
    if way not in PRINTED:
        return {}
    return {"nearest": Quantity((min(abs(quantity.mean - PRINTED[way]) for quantity in found.values()),))}


def readings_of_average(samples: Samples) -> Measured:
    """The greatest miss of three printed values when one and the same reading is taken for all; the least of readings."""
    by_way = {way: average_jain(way)(samples) for way in ("calibrated", "pcon", "flecom")}
    names = [name for name in by_way["pcon"] if name != "nearest"]
    misses = {name: max(abs(by_way[way][name].mean - PRINTED[way]) for way in by_way) for name in names}
    return {"least_miss": Quantity((min(misses.values()),)), **{n: Quantity((m,)) for n, m in misses.items()}}


def lowest_in_3(samples: Samples, sieve: str) -> Measured:
    """Mean delays of the first two consumers."""
    return lowest(samples, THREE, sieve, (0, 1), measures.delay)


def narrow_in_3(samples: Samples, sieve: str) -> Measured:
    """Interquartile ranges beside standard deviations."""
    found: Measured = {}
    for i in range(3):
        found[f"c{i + 1}"] = each(samples, THREE, sieve, measures.quartiles_apart(i), "ms")
    for i in range(3):
        found[f"deviation_c{i + 1}"] = each(samples, THREE, sieve, measures.deviation(i), "ms")
    return found


def excellent(samples: Samples, sieve: str) -> Measured:
    """Places of ndnSieve among the four by deviation, for each consumer and on the mean of the three: 1 is the least."""
    found: Measured = {}

    def place(value: Value) -> Quantity:
        by_way = {name: middle(q) for name, q in four(samples, THREE, sieve, value, "ms").items()}
        return Quantity((1.0 + sum(other < by_way["ndnsieve"] for other in by_way.values()),), "place")

    for i in range(3):
        found[f"place_c{i + 1}"] = place(measures.deviation(i))
    found["place_of_mean"] = place(lambda s: float(s["std_ms"].mean()))
    return found


def deviations_of(ways: tuple[str, ...]) -> Callable[[Samples], Measured]:
    """Deviations of schemes in scenario 3."""
    return lambda samples: {
        f"{way}_{name}": quantity
        for way in ways
        for name, quantity in deviations(THREE, way, 3)(samples).items()
    }


MEASURES: dict[str, Measure] = {
    **profiled("converges", (TWO, THREE), converges),
    **profiled("pcon_lowest", (TWO,), pcon_lowest),
    **profiled("dips", (TWO,), dips),
    "around_ten": Measure((TWO,), around_ten),
    "flecom_over_coopcon": Measure((TWO,), flecom_over_coopcon),
    **profiled("comparable", (TWO,), comparable),
    **profiled("switch", (TWO,), switch),
    "share_in_2_pcon": Measure((TWO,), share_in_2("pcon", 2.0)),
    "heavy_marks": Measure((TWO, THREE), heavy_marks),
    "share_in_2_flecom": Measure((TWO,), share_in_2("flecom", 0.0)),
    **profiled("lowest_in_2", (TWO,), lowest_in_2),
    "deviation_2": Measure((TWO,), deviations(TWO, "calibrated", 1)),
    "deviation_2_literal": Measure((TWO,), deviations(TWO, "literal", 1)),
    **{f"deviation_2_{way}": Measure((TWO,), deviations(TWO, way, 1)) for way in measures.OTHERS},
    **profiled("deviation_order_2", (TWO,), deviation_order),
    **profiled("narrow", (TWO,), narrow),
    **profiled("losses_2", (TWO,), losses(TWO)),
    "one_reaction": Measure((TWO, "readings"), one_reaction),
    "starts": Measure((THREE,), starts),
    **profiled("consistently_high", (THREE,), consistently_high),
    **profiled("switch_at_4", (THREE,), switch_at_4),
    "rises": Measure((THREE,), rises),
    "more_by_261": Measure((THREE,), more_by_261),
    **profiled("coopcon_lowest", (THREE,), coopcon_lowest),
    "nearly_twice": Measure((THREE,), nearly_twice),
    "several_links": Measure((THREE,), several_links),
    **profiled("steadiest", (THREE,), steadiest),
    **profiled("both_used", (THREE,), both_used),
    "one_used": Measure((THREE,), one_used),
    "average_jain": Measure((THREE,), average_jain("calibrated")),
    "average_jain_literal": Measure((THREE,), average_jain("literal")),
    "average_jain_pcon": Measure((THREE,), average_jain("pcon")),
    "average_jain_flecom": Measure((THREE,), average_jain("flecom")),
    "readings_of_average": Measure((THREE,), readings_of_average),
    **profiled("lowest_in_3", (THREE,), lowest_in_3),
    **profiled("narrow_in_3", (THREE,), narrow_in_3),
    "deviation_3": Measure((THREE,), deviations(THREE, "calibrated", 3)),
    "deviation_3_literal": Measure((THREE,), deviations(THREE, "literal", 3)),
    "deviation_3_pcon": Measure((THREE,), deviations(THREE, "pcon", 3)),
    "deviation_3_others": Measure((THREE,), deviations_of(("coopcon", "flecom"))),
    **profiled("excellent", (THREE,), excellent),
    **profiled("losses_3", (THREE,), losses(THREE)),
}
"""Measures by name."""
