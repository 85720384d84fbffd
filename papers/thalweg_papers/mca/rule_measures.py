"""Measures of the rules and trade-offs, from the samples of the small scenarios."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from .. import _cost
from .._base import Measured, Quantity, Sample, Samples, measure, take
from . import cost, rules
from .keys import Key


def keys(experiment: Key, variant: str, *names: str) -> Callable[[Samples], Measured]:
    """Quantities that the sample already holds."""
    return lambda samples: {
        name: samples.each(experiment, variant, take(name), UNITS.get(name, name.replace("_", " ")))
        for name in names
    }


UNITS = {
    "base_error_ms": "ms",
    "detection_s": "s",
    "drift_packet_times": "own packet times",
    "indications_per_burst": "1",
    "largest_error_packet_times": "own packet times",
    "late": "late replacements",
    "residue_bytes": "bytes",
    "waited_s": "s",
    "worst_burst": "CIs",
}


@measure(Key.ONE_QUEUE)
def cuts(samples: Samples) -> Measured:
    """Cuts of both kinds, with room for every packet and without."""
    return _summed(samples, "wrong_factor", "too_soon", "accumulation_cuts", "loss_cuts")


@measure(Key.ONE_QUEUE)
def increases(samples: Samples) -> Measured:
    """Increases, with room for every packet and without."""
    return _summed(samples, "wrong_step", "increases")


@measure(Key.ONE_QUEUE)
def thresholds(samples: Samples) -> Measured:
    """Decisions that the hysteresis does not explain."""
    return _summed(samples, "violations", "epochs")


def _summed(samples: Samples, *names: str) -> Measured:
    wide, narrow = samples[Key.ONE_QUEUE, "wide"], samples[Key.ONE_QUEUE, "narrow"]
    return {
        name: Quantity(
            tuple(a[name] + b[name] for a, b in zip(wide, narrow, strict=True)), name.replace("_", " ")
        )
        for name in names
    }


@measure(Key.FLUID_LIMIT)
def fluid_limit(samples: Samples) -> Measured:
    """Share of samples in which accumulation and backlog disagree about the existence of a queue, and the error of its size.

    For small and for large packets; `error_shrinks` is the error with large packets over that with small ones, with
    control packets out of band, and in band.
    """
    means = {packet: _over_paths(samples, f"{packet}") for packet in rules.FLUID_PACKETS}
    largest, smallest = rules.FLUID_PACKETS[0], rules.FLUID_PACKETS[-1]
    in_band = [_over_paths(samples, f"{packet}-in band") for packet in (largest, smallest)]

    def shrinks(large: list[Sample], small: list[Sample]) -> Quantity:
        pairs = zip(large, small, strict=True)
        return Quantity(tuple(a["error_bytes"] / b["error_bytes"] for a, b in pairs), "times")

    return {
        "disagreement": Quantity(tuple(s["disagreement"] for s in means[smallest]), "of the time"),
        "error_shrinks": shrinks(means[largest], means[smallest]),
        "error_shrinks_in_band": shrinks(*in_band),
        "false_zero_share": Quantity(tuple(s["false_zero"] for s in means[smallest]), "of the time"),
        "false_positive_share": Quantity(tuple(s["false_positive"] for s in means[smallest]), "of the time"),
        "disagreement_large_packets": Quantity(
            tuple(s["disagreement"] for s in means[largest]), "of the time"
        ),
        "error_bytes": Quantity(tuple(s["error_bytes"] for s in means[smallest]), "bytes"),
        "error_bytes_large_packets": Quantity(tuple(s["error_bytes"] for s in means[largest]), "bytes"),
        "paths": Quantity((float(len(rules.FLUID_PATHS)),)),
        "queued_share": Quantity(tuple(s["queued_share"] for s in means[smallest]), "of the time"),
    }


def _over_paths(samples: Samples, packet: str) -> list[Sample]:
    """Mean over the paths, a seed at a time."""
    per_path = [samples[Key.FLUID_LIMIT, f"path-{path}-{packet}"] for path in rules.FLUID_PATHS]
    return [
        {key: float(np.mean([s[key] for s in seed])) for key in seed[0] if isinstance(seed[0][key], float)}
        for seed in zip(*per_path, strict=True)
    ]


@measure(Key.CONSTANT_COST)
def constant_cost(samples: Samples) -> Measured:
    """Time and agenda entries per packet-hop, and memory per receiver: one large group over many small ones.

    Time is one value of all runs.
    """
    ns_per_hop = {size: _cost.ns_per_hop(samples[Key.CONSTANT_COST, str(size)]) for size in cost.SIZES}
    small, large = (samples[Key.CONSTANT_COST, str(size)] for size in (cost.SIZES[0], cost.SIZES[-1]))

    def growth(key: str) -> Quantity:
        return Quantity(tuple(a[key] / b[key] for a, b in zip(large, small, strict=True)), "ratio")

    return {
        "time_growth": Quantity((ns_per_hop[cost.SIZES[-1]] / ns_per_hop[cost.SIZES[0]],), "ratio"),
        "memory_growth": growth("bytes_per_receiver"),
        "entries_growth": growth("entries_per_hop"),
        **{f"ns_per_hop_{size}": Quantity((value,), "ns") for size, value in ns_per_hop.items()},
        **{
            f"bytes_per_receiver_{size}": samples.each(
                Key.CONSTANT_COST, str(size), lambda s: s["bytes_per_receiver"], "bytes"
            )
            for size in cost.SIZES
        },
    }


@measure(Key.STAR, Key.SILENCE)
def suppression(samples: Samples) -> Measured:
    """Part of the indications of §4.3's multicast session that was not sent; feedback that no arrival explains."""

    def share(sample: Sample) -> float:
        sent, suppressed = sample["session_indications"], sample["session_suppressed"]
        return float(suppressed / (sent + suppressed))

    return {
        "suppressed_share_lossless": samples.each(Key.STAR, "lossless", share, "of all indications"),
        "suppressed_share_lossy": samples.each(Key.STAR, "lossy", share, "of all indications"),
        "late_feedback": samples.each(Key.SILENCE, "-", lambda s: s["late_feedback"], "packets"),
    }


@measure(Key.PACED_FLOWS)
def paced_queue(samples: Samples) -> Measured:
    """Worst over 10, 20 and 30 flows: when all begin together, and in phases that chance decides."""
    found: Measured = {}
    for name, phase in (("at_once", " at once"), ("by_chance", "")):
        cases = (samples[Key.PACED_FLOWS, f"{count}{phase}"] for count in (10, 20, 30))
        runs = list(zip(*cases, strict=True))
        for key in ("mean", "max"):
            worst = tuple(max(s[f"{key}_packets_per_flow"] for s in run) for run in runs)
            found[f"{key}_{name}"] = Quantity(worst, "packets per flow")
    return found


@measure(Key.TRADE_OFF)
def threshold_tradeoff(samples: Samples) -> Measured:
    """Minimum step, over the settings, by which false alarms fall and queues grow."""
    variants = ("2/1", "4/2", "8/4")
    return {
        "alarms_fall_by": _minimum_step(samples, Key.TRADE_OFF, variants, "alarms_per_s", -1, "per second"),
        "queue_grows_by": _minimum_step(samples, Key.TRADE_OFF, variants, "queue", 1, "packets"),
        **_each(samples, Key.TRADE_OFF, variants, "alarms_per_s", "per second"),
        **_each(samples, Key.TRADE_OFF, variants, "queue", "packets"),
    }


@measure(Key.TRADE_OFF)
def cut_tradeoff(samples: Samples) -> Measured:
    """Minimum step, over the settings, by which queue and utilisation fall."""
    variants = ("5/12", "10/25", "20/50")
    return {
        "queue_falls_by": _minimum_step(samples, Key.TRADE_OFF, variants, "queue", -1, "packets"),
        "utilisation_falls_by": _minimum_step(samples, Key.TRADE_OFF, variants, "utilisation", -1),
        **_each(samples, Key.TRADE_OFF, variants, "queue", "packets"),
        **_each(samples, Key.TRADE_OFF, variants, "utilisation", ""),
    }


@measure(Key.TRADE_OFF)
def larger_buffer(samples: Samples) -> Measured:
    """Differences of rate and queue with 1000 packets from those with 200."""

    def deviation(key: str) -> Quantity:
        pairs = zip(samples[Key.TRADE_OFF, "1000"], samples[Key.TRADE_OFF, "200"], strict=True)
        return Quantity(tuple(abs(a[key] / b[key] - 1) for a, b in pairs), "of the smaller buffer's")

    return {
        "queue_deviation": deviation("queue"),
        "rate_deviation": deviation("rate_bps"),
        "drops_200": samples.each(Key.TRADE_OFF, "200", lambda s: s["drops"], "packets"),
    }


@measure(Key.ABSENCE)
def absence_tradeoff(samples: Samples) -> Measured:
    """Time to notice an absent representative, and the times a present one is given up, for n = 1, 4 and 16."""
    variants = ("n1", "n4", "n16")
    return {
        "detection_grows_by": _minimum_step(samples, Key.ABSENCE, variants, "detection_s", 1, "s"),
        "false_alarms_fall_by": _minimum_step(samples, Key.ABSENCE, variants, "false_alarms", -1),
        **_each(samples, Key.ABSENCE, variants, "detection_s", "s"),
        **_each(samples, Key.ABSENCE, variants, "false_alarms", ""),
    }


@measure(Key.EQUAL_BRANCHES)
def switching_tradeoff(samples: Samples) -> Measured:
    """Switches per 100 s for k = 0, 1 and 3, all receivers speaking when their G-TRAC is below the representative's."""
    variants = ("k0", "k1", "k3")
    return {
        "switches_fall_by": _minimum_step(
            samples, Key.EQUAL_BRANCHES, variants, "switches_per_100_s", -1, "per 100 s"
        ),
        **_each(samples, Key.EQUAL_BRANCHES, variants, "switches_per_100_s", "per 100 s"),
    }


@measure(Key.COMPANY)
def against_tcp(samples: Samples) -> Measured:
    """MCA's part of the throughput of both."""
    return {
        "mca_share": samples.each(Key.COMPANY, "together", lambda s: s["m"] / (s["m"] + s["tcp"])),
        "mca_kbps": samples.each(Key.COMPANY, "together", lambda s: s["m"] / 1e3, "kbit/s"),
        "tcp_kbps": samples.each(Key.COMPANY, "together", lambda s: s["tcp"] / 1e3, "kbit/s"),
    }


@measure(Key.COMPANY)
def separate_classes(samples: Samples) -> Measured:
    """Difference of each from half of the link."""
    return {
        f"{word}_deviation": samples.each(Key.COMPANY, "classes", _away_from(key, 5e6), "of its half")
        for key, word in (("m", "mca"), ("tcp", "tcp"))
    }


def _away_from(key: str, wanted: float) -> Callable[[Sample], float]:
    return lambda sample: abs(float(sample[key]) / wanted - 1)


@measure(Key.CHANGED_PATH)
def longer_route(samples: Samples) -> Measured:
    """Rate from 40 s after the change over that before it, and the queue then; the same of the lowest rate before that."""
    return {
        "rate_after_over_before": samples.each(
            Key.CHANGED_PATH, "longer", lambda s: s["rate_after_bps"] / s["rate_before_bps"], "ratio"
        ),
        "queue_after_packets": samples.each(Key.CHANGED_PATH, "longer", take("queue_after"), "packets"),
        "lowest_over_before": samples.each(
            Key.CHANGED_PATH, "longer", lambda s: s["lowest_rate_bps"] / s["rate_before_bps"], "ratio"
        ),
        "queue_then_packets": samples.each(Key.CHANGED_PATH, "longer", take("queue_in_dip"), "packets"),
        "dip_s": samples.each(Key.CHANGED_PATH, "longer", take("dip_s"), "s"),
    }


@measure(Key.SOLITUDE)
def no_receiver(samples: Samples) -> Measured:
    """Growth of the rate in the minute after the last receiver left."""
    return {
        "growth": samples.each(
            Key.SOLITUDE, "open", lambda s: s["rate_at_end_bps"] / s["rate_when_left_bps"], "times"
        ),
        "falls": samples.each(Key.SOLITUDE, "open", lambda s: s["falls"]),
        "capped_growth": samples.each(
            Key.SOLITUDE, "capped", lambda s: s["rate_at_end_bps"] / 5e6, "of the cap"
        ),
    }


def _each(samples: Samples, experiment: Key, variants: Sequence[str], key: str, unit: str) -> Measured:
    return {
        f"{key}_{variant.replace('/', '_')}": samples.each(experiment, variant, lambda s: s[key], unit)
        for variant in variants
    }


def _minimum_step(
    samples: Samples, experiment: Key, variants: Sequence[str], key: str, sign: int, unit: str = ""
) -> Quantity:
    """Minimum difference of neighbours, in the wanted direction: negative when the order does not hold."""
    runs = zip(*(samples[experiment, variant] for variant in variants), strict=True)
    return Quantity(
        tuple(min(sign * (b[key] - a[key]) for a, b in itertools.pairwise(run)) for run in runs),
        unit,
    )


early_packet = measure(Key.CHANGED_PATH)(
    keys(Key.CHANGED_PATH, "shorter", "base_error_ms", "residue_bytes", "waited_s")
)
drift = measure(Key.DRIFT)(keys(Key.DRIFT, "-", "drift_packet_times", "epochs", "largest_error_packet_times"))
switching = measure(Key.EQUAL_BRANCHES)(
    keys(
        Key.EQUAL_BRANCHES,
        "k_rx2",
        "wrong_switches",
        "missed_switches",
        "ignored_difference",
        "switches",
        "challenges",
    )
)
absence = measure(Key.ABSENCE)(keys(Key.ABSENCE, "n4", "late", "departures", "detection_s", "missed"))
bursts = measure(Key.BURSTS)(
    keys(Key.BURSTS, "-", "indications_per_burst", "worst_burst", "bursts", "packets_per_burst")
)
