"""Measures of the rules and the arithmetic of the paper. claims.toml uses their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, measure
from . import scenarios
from .keys import Key
from .scenarios import CLOCKS_MS, INSPECTED_RUNS, SPACINGS, TABLE_1

NODES = ("c1", "r1")


def inspected(samples: Samples) -> list[tuple[int, Sample]]:
    """Every inspected run with its clock interval in ms."""
    return [
        (ms, sample)
        for ms in CLOCKS_MS
        for run in INSPECTED_RUNS
        for sample in samples[Key.INSPECTION, f"{ms} {run}"]
    ]


def over_nodes(samples: Samples, value: Callable[[int, dict[str, Any]], float]) -> tuple[float, ...]:
    """One value for each inspected run and node; `value` is told the interval and the quantities of Table 1 by symbol."""
    return tuple(
        value(ms, {symbol: sample[f"{node}_{symbol}"] for symbol in TABLE_1})
        for ms, sample in inspected(samples)
        for node in NODES
    )


def worst(found: Any, wanted: Any) -> float:
    """Maximum relative difference."""
    return float(np.max(np.abs(found - wanted) / np.maximum(np.abs(wanted), 1e-12)))


# --- arithmetic ------------------------------------------------------------------------------------------------------


def spacing(gbps: str) -> Callable[[Samples], Measured]:
    """Time between the Interests of a consumer at a constant rate."""
    return lambda samples: {"ns": samples.each(Key.SPACING, gbps, lambda s: float(s["spacing_ns"]), "ns")}


@measure()
def clock_needed(_samples: Samples) -> Measured:
    """Maximum error of the three spacings when they are rounded to ticks of 0.1 and 1 µs."""

    def error(tick_ns: float) -> float:
        spacings = list(SPACINGS.values())
        return max(abs(round(x / tick_ns) * tick_ns - x) / x for x in spacings)

    return {
        "percent_at_0_1_us": Quantity((100 * error(100.0),), "%"),
        "percent_at_1_us": Quantity((100 * error(1000.0),), "%"),
    }


@measure(Key.INSPECTION)
def conversion(samples: Samples) -> Measured:
    """C at the access link and at the bottleneck."""
    return {
        node: Quantity(tuple(float(s[f"{node}_C"][-1]) for _, s in inspected(samples)), "packets/s")
        for node in NODES
    }


@measure(Key.INSPECTION)
def round_trip(samples: Samples) -> Measured:
    """Minimum round-trip time of C1."""
    return {"ms": Quantity(tuple(1e3 * float(s["rtt_min_s"]) for _, s in inspected(samples)), "ms")}


# --- equations, recomputed from what the run recorded ----------------------------------------------------------------


@measure(Key.INSPECTION)
def number_of_flows(samples: Samples) -> Measured:
    """Relative error of the recorded N against max(C, y)/R(t−T), at ticks that show the same link as the tick before."""

    def error(x: dict[str, Any]) -> float:
        same = x["C"][1:] == x["C"][:-1]
        return worst(x["N"][1:][same], (np.maximum(x["C"], x["y"])[1:] / x["R"][:-1])[same])

    return {
        "error": Quantity(over_nodes(samples, lambda _, x: error(x))),
        "ticks": Quantity((float(sum(len(s["times_s"]) - 1 for _, s in inspected(samples))),)),
    }


@measure(Key.INSPECTION)
def growth(samples: Samples) -> Measured:
    """Relative error of the recorded β, and what it is when no Interests come, and when the first come."""

    def wanted(x: dict[str, Any]) -> Any:
        y, before = x["y"][1:], x["y"][:-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(y > 0, np.maximum(0.1, (y - before) / y), 0.1)

    def first(x: dict[str, Any]) -> float:
        return float(x["beta"][int(np.flatnonzero(x["y"] > 0)[0])])

    return {
        "error": Quantity(over_nodes(samples, lambda _, x: worst(x["beta"][1:], wanted(x)))),
        "of_none": Quantity(over_nodes(samples, lambda _, x: float(np.max(x["beta"][x["y"] == 0])))),
        "of_the_first": Quantity(over_nodes(samples, lambda _, x: first(x))),
    }


@measure(Key.INSPECTION)
def rates(samples: Samples) -> Measured:
    """Relative error of the recorded R against equations 2, 4 and 5 with two averages, and with one average of the sum."""

    def replay(x: dict[str, Any], together: bool) -> float:
        base_mean, excess_mean, before, found = float(x["C"][-1]), 0.0, float(x["C"][-1]), []
        # before its first Interest a node shows another link, while this one was idle
        shown = x["C"] == x["C"][-1]
        for k in range(len(x["R"])):
            c = float(x["C"][-1])
            n, y, q = (
                float(x[symbol][k]) if shown[k] else idle
                for symbol, idle in (("N", 1.0), ("y", 0.0), ("q", 0.0))
            )
            base = max(0.0, (float(x["eta"][k]) * c - float(x["beta"][k]) * q / float(x["d"][k])) / n)
            excess = before - y / n
            if together:
                base_mean, excess_mean = 0.5 * (base_mean + excess_mean) + 0.5 * (base + excess), 0.0
            else:
                base_mean, excess_mean = 0.5 * base_mean + 0.5 * base, 0.5 * excess_mean + 0.5 * excess
            before = min(max(base_mean + excess_mean, 0.01 * c), c)
            found.append(before)
        return worst(x["R"][shown], np.array(found)[shown])

    return {
        "error": Quantity(over_nodes(samples, lambda _, x: replay(x, together=False))),
        "error_of_one_average": Quantity(over_nodes(samples, lambda _, x: replay(x, together=True))),
    }


@measure(Key.INSPECTION)
def base_and_excess(samples: Samples) -> Measured:
    """Difference of each tick's rate from two averages of weight one half of base and excess rate."""

    def error(x: dict[str, Any]) -> float:
        # where no bound holds, 2 R(t) − R(t−T) is the tick's own base + excess
        r, c = x["R"], x["C"]
        free = (
            (r[1:] < c[1:] - 1e-6)
            & (r[:-1] < c[:-1] - 1e-6)
            & (r[1:] > 0.011 * c[1:])
            & (r[:-1] > 0.011 * c[:-1])
        )
        base = (x["eta"] * c - x["beta"] * x["q"] / x["d"])[1:] / x["N"][1:]
        excess = r[:-1] - x["y"][1:] / x["N"][1:]
        return worst((2 * r[1:] - r[:-1])[free], (base + excess)[free]) if np.any(free) else 0.0

    return {
        "error": Quantity(over_nodes(samples, lambda _, x: error(x))),
        "ticks": Quantity(
            (float(sum(np.sum(s["r1_R"] < s["r1_C"] - 1e-6) for _, s in inspected(samples))),),
            "ticks without a bound",
        ),
    }


@measure(Key.INSPECTION)
def min_of_path(samples: Samples) -> Measured:
    """Samples in which the rate that C1 was told is not the minimum R of its path when the Data passed, with T = 100 ms.

    Ticks fall in the middle between samples. Data that arrives just before a sample passed R1 51 ms before, thus one tick
    earlier, and R2 at least 152 ms before, thus two ticks earlier, or three if it waited.
    """
    violations, bounds = [], 0
    for ms, sample in inspected(samples):
        if ms != 100:
            continue
        offered, own, core, edge = (sample[key] for key in ("offered", "c1_R", "r1_R", "r2_R"))
        wrong = 0
        for k in np.flatnonzero((sample["times_s"] > 2.0) & (sample["times_s"] < scenarios.END_S)):
            passed = [min(own[k], core[k - 1], edge[k - back]) for back in (2, 3)]
            wrong += min(abs(offered[k] - rate) / rate for rate in passed) > 1e-6
            bounds += core[k - 1] < own[k]
        violations.append(float(wrong))
    return {
        "violations": Quantity(tuple(violations), "samples"),
        "bound_by_r1": Quantity((float(bounds),), "samples"),
    }


@measure(Key.INSPECTION)
def counts(samples: Samples) -> Measured:
    """Interests that C1 sent and its node did not count by its last tick, in bursts; the maximum q; η; what was policed."""

    def uncounted(sample: Sample, ms: int) -> float:
        counted = float(np.sum(sample["c1_y"])) * ms / 1e3
        return (float(sample["c1_sent"]) - counted) / (scenarios.ACCESS_PER_S * ms / 1e3)

    return {
        "bursts_not_counted": Quantity(tuple(uncounted(s, ms) for ms, s in inspected(samples)), "bursts"),
        "max_q": Quantity(over_nodes(samples, lambda _, x: float(np.max(x["q"]))), "packets"),
        "eta": Quantity(over_nodes(samples, lambda _, x: float(np.max(x["eta"])))),
        "policed_at_750_ms": Quantity(
            tuple(float(s["c1_policed"]) for ms, s in inspected(samples) if ms == 750), "Interests"
        ),
    }


# --- clocks, policing, set-up ----------------------------------------------------------------------------------------


@measure(Key.DEPARTURES)
def coarse_clock(samples: Samples) -> Measured:
    """Interests that left between ticks, and the maximum difference between those that left at a tick and those held."""
    between, differences, ticks = [], [], 0
    for sample in samples[Key.DEPARTURES, "100 0/C"]:
        left, generated = sample["left"], sample["generated"]
        # five samples a tick, which falls into the first of them
        at_tick = np.arange(len(left)) % 5 == 0
        between.append(float(left[~at_tick].sum()))
        waiting = np.cumsum(generated) - np.cumsum(left)
        # the tick is in the middle of its sample, so that half of that sample's Interests come after it
        differences.append(float(max(0.0, -waiting.min(), (waiting - generated)[at_tick & (left > 0)].max())))
        ticks += int(np.sum(left[at_tick] > 0))
    return {
        "left_between_ticks": Quantity(tuple(between), "Interests"),
        "lost_or_invented": Quantity(tuple(differences), "Interests"),
        "ticks": Quantity((float(ticks),)),
    }


@measure(Key.INSPECTION)
def router_clock(samples: Samples) -> Measured:
    """T as recorded over the consumers' tick."""
    return {"t_over_tick": Quantity(over_nodes(samples, lambda ms, x: float(np.max(x["T"])) * 1e3 / ms))}


@measure(Key.BURST)
def burst(samples: Samples) -> Measured:
    """Interests of a burst on an empty bucket, and how many of them went on."""
    return {
        "passed": samples.each(Key.BURST, "250", lambda s: float(s["passed"]), "Interests"),
        "sent": samples.each(Key.BURST, "250", lambda s: float(s["sent"]), "Interests"),
    }


@measure(Key.INSPECTION)
def timing(samples: Samples) -> Measured:
    """When the consumers were active, whether anything was cached, and which clocks were tried."""
    rows = [s for _, s in inspected(samples)]
    return {
        "c1_from_s": Quantity(tuple(float(s["spans"][0]) for s in rows), "s"),
        "c1_for_s": Quantity(tuple(float(s["spans"][1]) for s in rows), "s"),
        "c2_from_s": Quantity(tuple(float(s["spans"][2]) for s in rows), "s"),
        "c2_for_s": Quantity(tuple(float(s["spans"][3]) for s in rows), "s"),
        "hits": Quantity(tuple(float(s["hits"]) for s in rows), "Interests"),
        "clocks": Quantity((float(len({ms for ms, _ in inspected(samples)})),)),
    }


@measure()
def remark(_samples: Samples) -> Measured:
    """The shortest interval that fails, and the longest that works, over the round-trip time."""
    shares = [ms / (1e3 * scenarios.RTT_S) for ms in sorted(CLOCKS_MS)]
    return {"failing_over_rtt": Quantity((shares[2],)), "working_over_rtt": Quantity((shares[1],))}


@measure(Key.INSPECTION)
def inspectable(samples: Samples) -> Measured:
    """Quantities of Table 1 that a trace shows at every tick."""
    return {
        "quantities": Quantity(
            over_nodes(
                samples, lambda _, x: float(sum(bool(np.all(np.isfinite(values))) for values in x.values()))
            )
        )
    }


spacing_10 = measure(Key.SPACING)(spacing("10"))
spacing_5 = measure(Key.SPACING)(spacing("5"))
spacing_3 = measure(Key.SPACING)(spacing("3"))
