"""Measures of the claims of §4.1 to §4.5, from samples. claims.toml uses their names."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, Scale, measure, take
from .._common import jain, mean_between
from . import extracts, scenarios
from .keys import Key

BUFFERS = ("lossless", "lossy")

after_changes = extracts.left_out_of(extracts.PHASES_S[0][1])
"""Left out after each join or leave of §4.1, as a row prints it."""
after_periods = extracts.left_out_of(scenarios.TRACKING_TIMES_S[1])
"""Left out after each change of the traffic of §4.4, as a row prints it."""


def of_indications(scale: Scale) -> str:
    """The time of the counts of §4.3, as a row prints it."""
    return scale.counted(scenarios.STAR_S)


def of_feedback(scale: Scale) -> str:
    """The time in which feedback of §4.5 is counted, as a row prints it."""
    return scale.counted(scenarios.TREE_S)


def busy(scale: Scale) -> str:
    """The periods of §4.4 in which the representative changes most, as a row prints them."""
    return scale.span(scenarios.TRACKING_TIMES_S[BUSY[0]], scenarios.TRACKING_TIMES_S[BUSY[-1] + 1])


BUSY = (2, 3, 4)
"""The periods of Table 1 between 400 and 1000 s."""


def both(
    experiment: Key, value: Callable[[Sample], float], unit: str = "", prefix: str = ""
) -> Callable[[Samples], Measured]:
    """One quantity a buffer size."""

    def measure(samples: Samples) -> Measured:
        return {prefix + buffer: samples.each(experiment, buffer, value, unit) for buffer in BUFFERS}

    return measure


# --- §4.1 ------------------------------------------------------------------------------------------------------------


@measure(Key.ONE_BOTTLENECK, left_out=after_changes)
def one_bottleneck_rates(samples: Samples) -> Measured:
    """Largest deviation of a phase's mean rate from its fair share, and the minimum of Jain's index over phases."""
    fair = np.array([10e6 / flows for flows in extracts.PHASE_FLOWS])
    runs = samples[Key.ONE_BOTTLENECK, "lossless"]
    deviations = [np.max(np.abs(np.nanmean(s["phase_means_bps"], axis=1) / fair - 1)) for s in runs]
    return {
        "worst_phase_deviation": Quantity(tuple(map(float, deviations)), "of the fair share"),
        "worst_jain": Quantity(tuple(min(jain(phase) for phase in s["phase_means_bps"]) for s in runs)),
    }


one_bottleneck_utilisation = measure(Key.ONE_BOTTLENECK, left_out=after_changes)(
    both(Key.ONE_BOTTLENECK, lambda s: float(np.mean(s["utilisation"][_settled(s)])))
)


@measure(Key.ONE_BOTTLENECK, left_out=after_changes)
def one_bottleneck_queue(samples: Samples) -> Measured:
    """Mean queue per flow in the phases of its minimum and its maximum, lossless."""
    runs = [_queue_per_flow(s) for s in samples[Key.ONE_BOTTLENECK, "lossless"]]
    lossy = [_queue_per_flow(s) for s in samples[Key.ONE_BOTTLENECK, "lossy"]]
    return {
        "highest_phase": Quantity(tuple(max(run) for run in runs), "packets per flow"),
        "lowest_phase": Quantity(tuple(min(run) for run in runs), "packets per flow"),
        "highest_phase_lossy": Quantity(tuple(max(run) for run in lossy), "packets per flow"),
    }


@measure(Key.ONE_BOTTLENECK)
def join_spikes(samples: Samples) -> Measured:
    """Peak of the queue within 20 s of a join over the settled phase's mean, and time until below twice that mean."""
    heights, recoveries = [], []
    for sample in samples[Key.ONE_BOTTLENECK, "lossless"]:
        whole, settled = _windows(sample)
        height, recovery = [], []
        for phase in (1, 2):
            queue, steady = sample["backlog"][whole[phase]], float(np.mean(sample["backlog"][settled[phase]]))
            start = int(extracts.SETTLING_S)
            peak = int(np.argmax(queue[:start]))
            below = np.flatnonzero(queue[peak:] < 2 * steady)
            height.append(float(queue[peak]) / steady)
            recovery.append(float(peak + below[0] + 1) if len(below) else float(len(queue)))
        heights.append(min(height))
        recoveries.append(max(recovery))
    return {
        "spike_over_steady": Quantity(tuple(heights), "times the steady mean"),
        "recovery_s": Quantity(tuple(recoveries), "s"),
    }


@measure(Key.ONE_BOTTLENECK, left_out=after_changes)
def lossless_drops(samples: Samples) -> Measured:
    """Packets dropped at the bottleneck with 200 packets of buffer, without the time after joins and leaves, and in all."""
    runs = samples[Key.ONE_BOTTLENECK, "lossless"]
    return {
        "drops_outside_changes": Quantity(tuple(map(drops_outside_changes, runs)), "packets"),
        "drops_in_all": Quantity(tuple(float(np.sum(s["drops"])) for s in runs), "packets"),
    }


def drops_outside_changes(sample: Sample) -> float:
    """Packets dropped at the bottleneck of §4.1, without the time after joins and leaves."""
    return float(np.sum(sample["drops"][_settled(sample)]))


def _windows(sample: Sample) -> tuple[list[Any], list[Any]]:
    return extracts.phase_windows(sample["times_s"], _scale_of(sample))


def _scale_of(sample: Sample) -> Scale:
    """The scale of a sample of §4.1, from its length."""
    return Scale(round(float(sample["times_s"][-1])) / scenarios.ONE_BOTTLENECK_S)


def _settled(sample: Sample) -> Any:
    return np.any(_windows(sample)[1], axis=0)


def _queue_per_flow(sample: Sample) -> list[float]:
    windows = _windows(sample)[1]
    return [
        float(np.mean(sample["backlog"][window])) / flows
        for window, flows in zip(windows, extracts.PHASE_FLOWS, strict=True)
    ]


# --- §4.2 ------------------------------------------------------------------------------------------------------------


def _class_rate(sample: Sample, hops: int) -> float:
    return float(np.mean(sample[f"rate_{hops}_bps"]))


one_to_two_hop = measure(Key.CHAIN)(both(Key.CHAIN, lambda s: _class_rate(s, 1) / _class_rate(s, 2), "ratio"))
two_to_four_hop = measure(Key.CHAIN)(
    both(Key.CHAIN, lambda s: _class_rate(s, 2) / _class_rate(s, 4), "ratio")
)


@measure(Key.CHAIN)
def proportional_fairness(samples: Samples) -> Measured:
    """Difference of each class from the proportionally fair rate, lossless."""
    # Σ log x under x₁ + x₂ + x₄ = 1 Mbit/s with 4, 2 and 1 classes of flows: x₁ = 4/7, x₂ = 2/7, x₄ = 1/7.
    fair = {1: 4e6 / 7, 2: 2e6 / 7, 4: 1e6 / 7}
    names = {1: "one_hop", 2: "two_hop", 4: "four_hop"}
    runs = samples[Key.CHAIN, "lossless"]
    rates = {hops: [_class_rate(sample, hops) for sample in runs] for hops in fair}
    return {
        **{
            f"{names[hops]}_deviation": Quantity(
                tuple(abs(rate / fair[hops] - 1) for rate in rates[hops]), "of the fair rate"
            )
            for hops in fair
        },
        **{
            f"{names[hops]}_kbps": Quantity(tuple(rate / 1e3 for rate in rates[hops]), "kbit/s")
            for hops in fair
        },
    }


@measure(Key.CHAIN, left_out=extracts.left_out_of(scenarios.CHAIN_S))
def chain_links(samples: Samples) -> Measured:
    """Minimum utilisation of the bottlenecks, and packets per flow in the longest queue, after settling."""

    def late(sample: Sample, name: str) -> Any:
        skip = int(extracts.settling(len(sample["times_s"])))
        return np.mean(sample[name][:, skip:], axis=1)

    return {
        **both(Key.CHAIN, lambda s: float(np.min(late(s, "utilisation"))), prefix="utilisation_")(samples),
        **both(Key.CHAIN, lambda s: float(np.max(late(s, "backlog"))) / 30, "packets per flow", "queue_")(
            samples
        ),
    }


# --- §4.3 ------------------------------------------------------------------------------------------------------------


def star_ratio(buffer: str) -> Callable[[Samples], Measured]:
    """Rate of the multicast flow over the mean rate of the unicast flows, each what was sent from 0 over that time.

    Footnote 6 of the paper defines average rates so, also for flows that start later than at 0.
    """

    def measure(samples: Samples) -> Measured:
        return {
            "ratio": samples.each(Key.STAR, buffer, rate_ratio, "ratio"),
            "multicast_kbps": samples.each(
                Key.STAR, buffer, lambda s: s["multicast_rate_bps"] / 1e3, "kbit/s"
            ),
            "unicast_kbps": samples.each(Key.STAR, buffer, lambda s: s["unicast_rate_bps"] / 1e3, "kbit/s"),
        }

    return measure


def rate_ratio(sample: Sample) -> float:
    """Rate of the multicast flow over the mean rate of the unicast flows."""
    return float(sample["multicast_rate_bps"] / sample["unicast_rate_bps"])


@measure(Key.STAR, Key.ONE_BRANCH)
def drop_to_zero(samples: Samples) -> Measured:
    """Rate with 64 receivers over the rate with one."""
    return {
        buffer: Quantity(
            tuple(
                s["multicast_rate_bps"] / alone["multicast_rate_bps"]
                for s, alone in zip(samples[Key.STAR, buffer], samples[Key.ONE_BRANCH, buffer], strict=False)
            ),
            "ratio",
        )
        for buffer in BUFFERS
    }


@measure(Key.STAR, left_out=lambda scale: f"{extracts.settled_star_s(scale):g} s")
def star_links(samples: Samples) -> Measured:
    """Mean utilisation and packets per flow over the 64 bottlenecks, after settling."""
    return {
        **both(Key.STAR, lambda s: float(np.mean(s["utilisations"])), prefix="utilisation_")(samples),
        **both(Key.STAR, lambda s: float(np.mean(s["backlogs"])) / 4, "packets per flow", "queue_")(samples),
    }


def indications(buffer: str, key: str) -> Callable[[Samples], Measured]:
    """CIs in 400 s."""
    return lambda samples: {"packets": samples.each(Key.STAR, buffer, take(f"{key}_indications"), "packets")}


def indication_ratio(buffer: str, key: str) -> Callable[[Samples], Measured]:
    """CIs of the multicast session over those of another kind."""
    return lambda samples: {"ratio": samples.each(Key.STAR, buffer, session_over(key), "ratio")}


def session_over(key: str) -> Callable[[Sample], float]:
    """CIs of the multicast session over those of another kind."""
    return lambda sample: float(sample["session_indications"] / sample[f"{key}_indications"])


@measure(Key.STAR, counted=of_indications)
def indications_lossless(samples: Samples) -> Measured:
    """The three counts without loss."""
    return {
        key: samples.each(Key.STAR, "lossless", take(f"{key}_indications"), "packets")
        for key in ("session", "receiver", "unicast")
    }


@measure(Key.STAR)
def indication_ratios_lossless(samples: Samples) -> Measured:
    """The two ratios without loss."""
    return {
        f"per_{key}": samples.each(Key.STAR, "lossless", session_over(key), "ratio")
        for key in ("receiver", "unicast")
    }


@measure(Key.STAR)
def indications_per_second(samples: Samples) -> Measured:
    """CIs a second of the session and of a unicast flow."""
    return {
        f"{key}_{buffer}": samples.each(
            Key.STAR, buffer, take(f"{key}_indications", 1 / scenarios.STAR_S), "per second"
        )
        for buffer in BUFFERS
        for key in ("session", "unicast")
    }


# --- §4.4 ------------------------------------------------------------------------------------------------------------


def periods(sample: Sample) -> list[tuple[float, float]]:
    """The seven periods of Table 1 in simulated time."""
    factor = sample["end_s"] / scenarios.TRACKING_S
    times = [t * factor for t in scenarios.TRACKING_TIMES_S]
    return list(itertools.pairwise(times))


def period_shares(sample: Sample, _scale: Scale | None = None) -> list[float]:
    """Share of each period, after settling, with the representative on the most congested link."""
    shares = []
    for (start, end), worst in zip(periods(sample), scenarios.TRACKING_LINKS, strict=True):
        begin = start + extracts.settling(end - start)
        shares.append(_time_on(sample, worst, begin, end) / (end - begin))
    return shares


def period_switches(sample: Sample, _scale: Scale | None = None) -> list[float]:
    """Changes of representative per 100 s in each period."""
    return [
        100 * float(np.sum((sample["switch_s"] >= start) & (sample["switch_s"] < end))) / (end - start)
        for start, end in periods(sample)
    ]


def unicast_on_worst_link(sample: Sample, _scale: Scale | None = None) -> list[float]:
    """Mean rate, after settling, of the unicast flow on the most congested link of each period, in bit/s."""
    return [
        mean_between(
            sample["times_s"], sample["unicast_bps"][worst - 1], start + extracts.settling(end - start), end
        )
        for (start, end), worst in zip(periods(sample), scenarios.TRACKING_LINKS, strict=True)
    ]


@measure(Key.TRACKING, left_out=after_periods)
def tracking_share(samples: Samples) -> Measured:
    """The minimum of the seven shares."""
    return {
        f"{buffer}_worst_period": samples.each(
            Key.TRACKING, buffer, lambda s: min(period_shares(s)), "of the period"
        )
        for buffer in BUFFERS
    }


@measure(Key.TRACKING, left_out=after_periods)
def tracking_rate(samples: Samples) -> Measured:
    """Multicast rate over that of the unicast flow on the worst link, in the period in which they differ most."""
    return {
        f"{buffer}_worst_period": samples.each(Key.TRACKING, buffer, _tracking_ratio, "of the unicast rate")
        for buffer in BUFFERS
    }


def _tracking_ratio(sample: Sample) -> float:
    ratios = []
    for (start, end), unicast in zip(periods(sample), unicast_on_worst_link(sample), strict=True):
        begin = start + extracts.settling(end - start)
        ratios.append(mean_between(sample["times_s"], sample["multicast_bps"], begin, end) / unicast)
    return max(ratios, key=lambda ratio: abs(ratio - 1))


@measure(Key.TRACKING, busy=busy)
def tracking_switches(samples: Samples) -> Measured:
    """Switches per 100 s from 400 to 1000 s, less those at other times; without the time after changes, all of them."""

    def rates(sample: Sample) -> tuple[float, float]:
        spans = periods(sample)
        per_period = period_switches(sample)
        lengths = [end - start for start, end in spans]

        def mean(numbers: list[int]) -> float:
            return sum(per_period[i] * lengths[i] for i in numbers) / sum(lengths[i] for i in numbers)

        return mean(list(BUSY)), mean([i for i in range(len(spans)) if i not in BUSY])

    measured: Measured = {}
    for buffer in BUFFERS:
        measured[f"{buffer}_excess"] = samples.each(
            Key.TRACKING, buffer, lambda s: rates(s)[0] - rates(s)[1], "per 100 s"
        )
    for buffer in BUFFERS:
        measured[f"{buffer}_inside"] = samples.each(Key.TRACKING, buffer, lambda s: rates(s)[0], "per 100 s")
        measured[f"{buffer}_outside"] = samples.each(Key.TRACKING, buffer, lambda s: rates(s)[1], "per 100 s")
        measured[f"{buffer}_settled"] = samples.each(Key.TRACKING, buffer, _settled_switches, "in all")
    return measured


def _settled_switches(sample: Sample) -> float:
    """Changes of representative outside the time after each change of the traffic."""
    spans = [(start + extracts.settling(end - start), end) for start, end in periods(sample)]
    return float(
        sum(np.sum((sample["switch_s"] >= start) & (sample["switch_s"] < end)) for start, end in spans)
    )


def _time_on(sample: Sample, link: int, begin: float, end: float) -> float:
    """Time between two moments during which the representative was the receiver behind a link."""
    starts = sample["switch_s"]
    ends = np.append(starts[1:], sample["end_s"])
    inside = np.clip(np.minimum(ends, end) - np.maximum(starts, begin), 0, None)
    return float(inside[sample["switch_link"] == link].sum())


# --- §4.5 ------------------------------------------------------------------------------------------------------------


@measure(Key.DYNAMIC_TREE)
def tree_throughput(samples: Samples) -> Measured:
    """Throughput of the multicast flow's receivers while they are in the session, and its deviation over the runs.

    Beside it that of the receiver that always stays, and the rate at which the source sends.
    """
    rates = {
        name: samples.each(Key.DYNAMIC_TREE, "all", take(key, 1e-3), "kbit/s")
        for name, key in (
            ("throughput_kbps", "throughput_bps"),
            ("staying_kbps", "staying_throughput_bps"),
            ("sending_kbps", "rate_bps"),
        )
    }
    return {**rates, **_deviation(rates["throughput_kbps"])}


@measure(Key.DYNAMIC_TREE, counted=of_feedback)
def tree_feedback(samples: Samples) -> Measured:
    """Feedback packets that the source received in a full run and in a second, and the deviation over the runs."""
    counts = samples.each(
        Key.DYNAMIC_TREE, "all", lambda s: s["feedback_packets"] / s["duration_s"], "per second"
    )
    packets = tuple(rate * scenarios.TREE_S for rate in counts.values)
    return {"packets": Quantity(packets, "packets"), "per_second": counts, **_deviation(counts)}


@measure(Key.DYNAMIC_TREE)
def tree_suppression(samples: Samples) -> Measured:
    """Feedback of the session over the feedback of the receiver that stays, alone in the same tree."""
    pairs = zip(samples[Key.DYNAMIC_TREE, "all"], samples[Key.DYNAMIC_TREE, "lone"], strict=False)
    return {
        "session_per_lone_receiver": Quantity(
            tuple(s["feedback_packets"] / lone["feedback_packets"] for s, lone in pairs), "ratio"
        ),
        "suppressed_share": samples.each(
            Key.DYNAMIC_TREE, "all", lambda s: s["suppressed"] / (s["suppressed"] + s["feedback_packets"])
        ),
    }


def _deviation(quantity: Quantity) -> Measured:
    spread = float(np.std(quantity.values, ddof=1)) if len(quantity.values) > 1 else float("nan")
    return {
        "standard_deviation": Quantity((spread,), quantity.unit),
        "relative_deviation": Quantity((spread / quantity.mean,), "of the mean"),
    }


# --- several ---------------------------------------------------------------------------------------------------------


@measure(
    Key.ONE_BOTTLENECK,
    Key.CHAIN,
    Key.STAR,
    left_out_1=after_changes,
    left_out_2=extracts.left_out_of(scenarios.CHAIN_S),
    left_out_3=lambda scale: f"{extracts.settled_star_s(scale):g} s",
)
def reacts_before_loss(samples: Samples) -> Measured:
    """Packets lost in the lossless runs after start-up (each would be, or be part of, one indication of loss)."""
    runs = [samples[key, "lossless"] for key in (Key.ONE_BOTTLENECK, Key.CHAIN, Key.STAR)]
    by_section = [
        (drops_outside_changes(single), float(chain["late_drops"]), float(star["late_drops"]))
        for single, chain, star in zip(*runs, strict=False)
    ]
    indications = (sum(s["indications"] for s in of_seed) for of_seed in zip(*runs, strict=False))
    return {
        "lost_packets": Quantity(tuple(map(sum, by_section)), "packets"),
        "indications": Quantity(tuple(indications), "indications"),
        **{
            f"lost_in_4_{number}": Quantity(lost, "packets")
            for number, lost in enumerate(zip(*by_section, strict=True), 1)
        },
    }


star_ratio_lossless = measure(Key.STAR)(star_ratio("lossless"))
star_ratio_lossy = measure(Key.STAR)(star_ratio("lossy"))
session_indications_lossy = measure(Key.STAR, counted=of_indications)(indications("lossy", "session"))
receiver_indications_lossy = measure(Key.STAR, counted=of_indications)(indications("lossy", "receiver"))
unicast_indications_lossy = measure(Key.STAR, counted=of_indications)(indications("lossy", "unicast"))
session_per_receiver_lossy = measure(Key.STAR)(indication_ratio("lossy", "receiver"))
session_per_unicast_lossy = measure(Key.STAR)(indication_ratio("lossy", "unicast"))
