"""Measures of the claims of §5, from samples. claims.toml uses their names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, Scale, measure, take
from .._common import inside, over_seeds
from . import scenarios
from .keys import Key

ALL = (1, 2, 3, 4)
STATIC = (1, 2, 3)
"""The scenarios in which traffic does not come and go."""

Value = Callable[[Sample], float]


# --- values of a sample ----------------------------------------------------------------------------------------------


def ratio(sample: Sample) -> float:
    """Throughput of the group over that of a TCP connection."""
    return float(sample["mc_mean_bps"] / sample["tcp_mean_bps"])


def whole_ratio(sample: Sample) -> float:
    """Throughput ratio over the whole run, with the connection that is always active."""
    return float(sample["mc_whole_bps"] / sample["tcp1_whole_bps"])


def mbps(key: str) -> Value:
    """A rate in Mbit/s."""
    return take(key, 1e-6)


def share_percent(number: int, key: str = "mc_mean_bps") -> Value:
    """Throughput over an equal share of the bottleneck, in per cent."""
    flows = 4 if number == 4 else 3
    return take(key, 100 * flows / scenarios.BOTTLENECK_BPS[number])


def group_utilisation(number: int) -> Value:
    """The share of the bottleneck of the group's throughput, in per cent."""
    return take("mc_mean_bps", 100 / scenarios.BOTTLENECK_BPS[number])


total_utilisation = take("utilisation_mean", 100)
loss_percent = take("loss", 100)
feedback = take("feedback")


# --- over scenarios and seeds ----------------------------------------------------------------------------------------


def case(samples: Samples, number: int, scheme: str) -> Sequence[Sample]:
    """The runs of a scheme in one of the four scenarios."""
    return samples[Key.SCENARIOS, f"{number}-{scheme}"]


def values(samples: Samples, number: int, scheme: str, value: Value) -> list[float]:
    """One value per seed."""
    return [value(sample) for sample in case(samples, number, scheme)]


def per_scenario(
    numbers: Iterable[int], unit: str, of: Callable[[Samples, int], Iterable[float]]
) -> Callable[[Samples], Measured]:
    """One quantity a scenario, `scenario_1` and so on."""
    chosen = tuple(numbers)

    def measure(samples: Samples) -> Measured:
        return {f"scenario_{n}": Quantity(tuple(map(float, of(samples, n))), unit) for n in chosen}

    return measure


def simply(numbers: Iterable[int], scheme: str, value: Value, unit: str) -> Callable[[Samples], Measured]:
    """A value of one scheme, a scenario at a time."""
    return per_scenario(numbers, unit, lambda samples, n: values(samples, n, scheme, value))


def lead(numbers: Iterable[int], scheme: str, value: Value, unit: str) -> Callable[[Samples], Measured]:
    """Margin of a scheme above the highest of the paper's others, seed by seed; negative if it is below."""

    def margins(samples: Samples, number: int) -> Iterable[float]:
        own = values(samples, number, scheme, value)
        others = [
            values(samples, number, other, value) for other in scenarios.PAPER_SCHEMES if other != scheme
        ]
        return (a - max(rest) for a, *rest in zip(own, *others, strict=True))

    return per_scenario(numbers, unit, margins)


def gain_percent(samples: Samples, number: int, value: Value, scheme: str = "asmp") -> list[float]:
    """Gain of SRMCC over another scheme, in per cent of the other's, seed by seed."""
    pairs = zip(values(samples, number, "srmcc", value), values(samples, number, scheme, value), strict=True)
    return [100 * (a / b - 1) for a, b in pairs]


# --- γ ---------------------------------------------------------------------------------------------------------------


def gamma_variant(number: int, gamma: float) -> str:
    """Name of a run of the γ grid."""
    return f"{number}-{gamma:.2f}"


def gamma_curves(samples: Samples, number: int, value: Value) -> list[list[float]]:
    """One curve over γ a seed."""
    runs = [samples[Key.GAMMA, gamma_variant(number, gamma)] for gamma in scenarios.GAMMAS]
    return [[value(sample) for sample in seed] for seed in zip(*runs, strict=True)]


def rank_correlation(curve: Sequence[float]) -> float:
    """Spearman's correlation of a curve with γ; 0 for a curve that is flat."""
    from scipy import stats

    if np.ptp(curve) == 0:
        return 0.0
    return float(stats.spearmanr(scenarios.GAMMAS, curve).statistic)


def rising(value: Value) -> Callable[[Samples], Measured]:
    """Rank correlation with γ, a scenario and seed at a time."""

    def measure(samples: Samples) -> Measured:
        return {
            f"scenario_{n}": Quantity(
                tuple(map(rank_correlation, gamma_curves(samples, n, value))), "rank correlation"
            )
            for n in STATIC
        }

    return measure


def balance(samples: Samples) -> Measured:
    """Ratio and loss both rise with γ."""
    return {
        **{f"ratio_{name}": quantity for name, quantity in rising(ratio)(samples).items()},
        **{f"loss_{name}": quantity for name, quantity in rising(loss_percent)(samples).items()},
    }


def best_gamma(samples: Samples) -> Measured:
    """The γ of the grid whose ratio, averaged over seeds, is closest to 1; over all scenarios, and in each."""
    distance = {n: np.abs(np.mean(gamma_curves(samples, n, ratio), axis=0) - 1) for n in STATIC}
    best = {n: scenarios.GAMMAS[int(np.argmin(d))] for n, d in distance.items()}
    overall = scenarios.GAMMAS[int(np.argmin(np.mean(list(distance.values()), axis=0)))]
    return {
        "overall": Quantity((overall,)),
        **{f"scenario_{n}": Quantity((gamma,)) for n, gamma in best.items()},
    }


def loss_at_gamma(samples: Samples) -> Measured:
    """Loss at the paper's γ."""
    return {
        f"scenario_{n}": samples.each(
            Key.GAMMA, gamma_variant(n, scenarios.GAMMA), loss_percent, "% of packets"
        )
        for n in STATIC
    }


def wide_range(samples: Samples) -> Measured:
    """Minimum and maximum ratio for γ from 0.10 to 0.20, over the three scenarios."""
    curves = [gamma_curves(samples, n, ratio) for n in STATIC]
    near = [i for i, gamma in enumerate(scenarios.GAMMAS) if 0.10 - 1e-9 <= gamma <= 0.20 + 1e-9]
    seeds = [[curve[i] for curve in run for i in near] for run in zip(*curves, strict=True)]
    return {
        "lowest": Quantity(tuple(map(min, seeds)), "ratio"),
        "highest": Quantity(tuple(map(max, seeds)), "ratio"),
    }


# --- groups ----------------------------------------------------------------------------------------------------------


def four_groups(key: str, name: str, unit: str = "") -> Callable[[Samples], Measured]:
    """A number of the four groups of Figure 6a."""
    return lambda samples: {name: samples.each(Key.GROUPS, "4", take(key), unit)}


@measure(Key.GROUPS)
def groups_loss(samples: Samples) -> Measured:
    """Highest mean loss over the numbers of groups."""
    runs = [[100 * s["loss"] for s in samples[Key.GROUPS, str(count)]] for count in scenarios.GROUPS]
    return {
        "highest": Quantity(tuple(map(max, zip(*runs, strict=True))), "% of packets"),
        **{
            f"groups_{count}": Quantity(tuple(run), "% of packets")
            for count, run in zip(scenarios.GROUPS, runs, strict=True)
        },
    }


@measure(Key.GROUPS)
def groups_utilisation(samples: Samples) -> Measured:
    """Utilisation with ten groups over that with one, and how many points it is below."""
    used = {
        count: [100 * s["utilisation"] for s in samples[Key.GROUPS, str(count)]] for count in scenarios.GROUPS
    }
    first, last = scenarios.GROUPS[0], scenarios.GROUPS[-1]
    return {
        "kept": Quantity(tuple(b / a for a, b in zip(used[first], used[last], strict=True)), "ratio"),
        "drop_points": Quantity(tuple(a - b for a, b in zip(used[first], used[last], strict=True)), "points"),
        **{f"groups_{count}": Quantity(tuple(run), "%") for count, run in used.items()},
    }


# --- throughput and friendliness -------------------------------------------------------------------------------------


def over_asmp(number: int) -> Callable[[Samples], Measured]:
    """SRMCC's throughput above ASMP's, in per cent."""
    return lambda samples: {
        "gain_percent": Quantity(tuple(gain_percent(samples, number, take("mc_mean_bps"))), "%"),
        "srmcc_mbps": Quantity(tuple(values(samples, number, "srmcc", mbps("mc_mean_bps"))), "Mbit/s"),
        "asmp_mbps": Quantity(tuple(values(samples, number, "asmp", mbps("mc_mean_bps"))), "Mbit/s"),
    }


def share(scheme: str, key: str, number: int = 1) -> Callable[[Samples], Measured]:
    """Throughput of the group, or of a connection, in per cent of an equal share."""
    return lambda samples: {
        "share_percent": Quantity(
            tuple(values(samples, number, scheme, share_percent(number, key))), "% of its share"
        )
    }


def ratios(scheme: str, numbers: Iterable[int]) -> Callable[[Samples], Measured]:
    """The group over a connection; in scenario 4 over the whole run, too."""
    chosen = tuple(numbers)

    def measure(samples: Samples) -> Measured:
        measured = simply(chosen, scheme, ratio, "ratio")(samples)
        if 4 in chosen:
            measured["scenario_4_whole_run"] = Quantity(
                tuple(values(samples, 4, scheme, whole_ratio)), "ratio"
            )
        return measured

    return measure


tcp_gain = measure(Key.SCENARIOS)(
    per_scenario(ALL, "%", lambda samples, n: gain_percent(samples, n, take("tcp_mean_bps")))
)


@measure(Key.SCENARIOS)
def both_gain(samples: Samples) -> Measured:
    """The minimum gain over the scenarios, of the group and of TCP, against ASMP."""
    group = [gain_percent(samples, n, take("mc_mean_bps")) for n in ALL]
    tcp = [gain_percent(samples, n, take("tcp_mean_bps")) for n in ALL]
    return {
        "min_group_gain": Quantity(tuple(map(min, zip(*group, strict=True))), "%"),
        "min_tcp_gain": Quantity(tuple(map(min, zip(*tcp, strict=True))), "%"),
    }


@measure(Key.SCENARIOS)
def unfriendliness(samples: Samples) -> Measured:
    """Mean distance of the ratio from 1 over the four scenarios: ASMP's less SRMCC's."""

    def distance(scheme: str) -> list[float]:
        runs = [[abs(1 - ratio(s)) for s in case(samples, n, scheme)] for n in ALL]
        return [float(np.mean(seed)) for seed in zip(*runs, strict=True)]

    own, other = distance("srmcc"), distance("asmp")
    return {
        "asmp_less_srmcc": Quantity(tuple(b - a for a, b in zip(own, other, strict=True)), "of the ratio"),
        "srmcc": Quantity(tuple(own)),
        "asmp": Quantity(tuple(other)),
    }


@measure(Key.SCENARIOS)
def beats_the_others(samples: Samples) -> Measured:
    """SRMCC's throughput less the best of the others': of all, and of those beside which TCP keeps 90 % of its share."""

    def margin(number: int, friendly: bool) -> list[float]:
        found = []
        for own, *others in zip(
            *(case(samples, number, scheme) for scheme in scenarios.PAPER_SCHEMES), strict=True
        ):
            rivals = [
                s["mc_mean_bps"]
                for s in others
                if not friendly or share_percent(number, "tcp_mean_bps")(s) >= 90
            ]
            found.append((own["mc_mean_bps"] - max(rivals, default=0.0)) / 1e6)
        return found

    def minimum(friendly: bool) -> Quantity:
        runs = [margin(n, friendly) for n in STATIC]
        return Quantity(tuple(map(min, zip(*runs, strict=True))), "Mbit/s")

    return {"min_lead": minimum(friendly=False), "min_lead_among_friendly": minimum(friendly=True)}


# --- responsiveness --------------------------------------------------------------------------------------------------

CHANGES_S = (30.0, 80.0, 120.0, 170.0, 200.0)
"""When traffic comes or goes in scenario 4, and the end."""
SMOOTHING_S = 3
NEAR = 0.2


def settling_times(sample: Sample) -> list[float]:
    """For each change, time until throughput over 3 s comes within 20 % of the mean of the phase's second half."""
    times, factor = sample["times_s"], sample["factor"]
    smooth = np.convolve(sample["mc_bps"], np.full(SMOOTHING_S, 1 / SMOOTHING_S))[: len(times)]
    found = []
    for begin, end in itertools.pairwise(CHANGES_S):
        start, stop = begin * factor, end * factor
        steady = float(np.mean(sample["mc_bps"][inside(times, 0.5 * (start + stop), stop)]))
        phase = inside(times, start, stop)
        near = np.abs(smooth[phase] - steady) <= NEAR * steady
        found.append(float(times[phase][near][0] - start) if near.any() else stop - start)
    return found


@measure(Key.SCENARIOS, changes=lambda scale: scale.moments(*CHANGES_S[:-1]))
def response(samples: Samples) -> Measured:
    """Mean rank of the settling times over the four changes: SRMCC's less the best of the paper's others."""
    from scipy import stats

    runs = zip(*(case(samples, 4, scheme) for scheme in scenarios.PAPER_SCHEMES), strict=True)
    excess, times = [], []
    for run in runs:
        seconds = np.array([settling_times(sample) for sample in run])
        ranks = stats.rankdata(seconds, axis=0).mean(axis=1)
        excess.append(float(ranks[0] - ranks[1:].min()))
        times.append(seconds.mean(axis=1))
    return {
        "rank_excess": Quantity(tuple(excess), "ranks"),
        **{
            f"{scheme}_s": Quantity(tuple(float(seed[i]) for seed in times), "s")
            for i, scheme in enumerate(scenarios.PAPER_SCHEMES)
        },
    }


# --- utilisation -----------------------------------------------------------------------------------------------------


@measure(Key.SCENARIOS)
def total_over_asmp(samples: Samples) -> Measured:
    """Total utilisation with SRMCC less that with ASMP: points and per cent, minimum and mean over scenarios."""

    def differences(relative: bool) -> list[tuple[float, ...]]:
        runs = []
        for n in ALL:
            own = values(samples, n, "srmcc", total_utilisation)
            other = values(samples, n, "asmp", total_utilisation)
            runs.append([100 * (a / b - 1) if relative else a - b for a, b in zip(own, other, strict=True)])
        return list(zip(*runs, strict=True))

    points, percent = differences(relative=False), differences(relative=True)
    return {
        "mean_percent": Quantity(tuple(float(np.mean(seed)) for seed in percent), "%"),
        "min_points": Quantity(tuple(map(min, points)), "points"),
        "mean_points": Quantity(tuple(float(np.mean(seed)) for seed in points), "points"),
    }


def totals_apart(schemes: Sequence[str], numbers: Sequence[int]) -> Callable[[Samples], Measured]:
    """Largest difference of total utilisation between schemes, over scenarios."""

    def measure(samples: Samples) -> Measured:
        spread = []
        for n in numbers:
            runs = zip(*(values(samples, n, scheme, total_utilisation) for scheme in schemes), strict=True)
            spread.append([max(run) - min(run) for run in runs])
        return {"largest_points": Quantity(tuple(map(max, zip(*spread, strict=True))), "points")}

    return measure


def tfmcc_above(number: int) -> Callable[[Samples], Measured]:
    """Utilisation of TFMCC's group less that of SRMCC's."""

    def measure(samples: Samples) -> Measured:
        value = group_utilisation(number)
        pairs = zip(
            values(samples, number, "tfmcc", value), values(samples, number, "srmcc", value), strict=True
        )
        return {"points": Quantity(tuple(a - b for a, b in pairs), "points")}

    return measure


@measure(Key.SCENARIOS)
def perif_utilisation(samples: Samples) -> Measured:
    """PerIfwithECN's group: largest share over scenarios; and how far its total is from SRMCC's."""
    shares = [values(samples, n, "perif_ecn", share_percent(n)) for n in ALL]
    return {
        "largest_share_percent": Quantity(tuple(map(max, zip(*shares, strict=True))), "% of its share"),
        **totals_apart(("srmcc", "perif_ecn"), ALL)(samples),
    }


# --- loss ------------------------------------------------------------------------------------------------------------


@measure(Key.SCENARIOS)
def loss_order(samples: Samples) -> Measured:
    """The lower of TFMCC's and ASMP's loss less the higher of SRMCC's and PerIfwithECN's."""

    def margins(samples: Samples, number: int) -> Iterable[float]:
        lossy = zip(*(values(samples, number, s, loss_percent) for s in ("tfmcc", "asmp")), strict=True)
        clean = zip(*(values(samples, number, s, loss_percent) for s in ("srmcc", "perif_ecn")), strict=True)
        return (min(a) - max(b) for a, b in zip(lossy, clean, strict=True))

    return per_scenario(ALL, "points", margins)(samples)


@measure(Key.SCENARIOS)
def asmp_lowest_in_1(samples: Samples) -> Measured:
    """The minimum of ASMP's losses in scenarios 2 to 4 less that in scenario 1."""
    runs = zip(*(values(samples, n, "asmp", loss_percent) for n in ALL), strict=True)
    return {"margin": Quantity(tuple(min(rest) - first for first, *rest in runs), "points")}


# --- feedback --------------------------------------------------------------------------------------------------------


def fewer_than(scheme: str) -> Callable[[Samples], Measured]:
    """How many times SRMCC's feedback another has, and by how much SRMCC's is below it.

    The reduction is a mean over the scenarios, or of the totals, and `quotient` follows from the mean.
    """

    def measure(samples: Samples) -> Measured:
        own = list(zip(*(values(samples, n, "srmcc", feedback) for n in ALL), strict=True))
        other = list(zip(*(values(samples, n, scheme, feedback) for n in ALL), strict=True))
        mean = [
            float(np.mean([100 * (1 - a / b) for a, b in zip(x, y, strict=True)]))
            for x, y in zip(own, other, strict=True)
        ]
        total = [100 * (1 - sum(x) / sum(y)) for x, y in zip(own, other, strict=True)]
        return {
            "quotient": Quantity(tuple(100 / (100 - one) for one in mean), "times"),
            "reduction_percent": Quantity(tuple(mean), "%"),
            "of_totals_percent": Quantity(tuple(total), "%"),
            "receivers": Quantity((float(scenarios.MEMBERS),), "receivers"),
        }

    return measure


@measure(Key.SCENARIOS)
def feedback_order(samples: Samples) -> Measured:
    """Minimum over the scenarios of three quotients, each at least 1 where the order holds.

    The fewest of the others over SRMCC's, PerIfwithECN's over the most of the others', TFMCC's over ASMP's.
    """
    fewest, highest, second = [], [], []
    for n in ALL:
        counts = [values(samples, n, scheme, feedback) for scheme in scenarios.PAPER_SCHEMES]
        seeds = list(zip(*counts, strict=True))
        fewest.append([min(others) / own for own, *others in seeds])
        highest.append([perif / max(a, b, c) for a, b, c, perif in seeds])
        second.append([tfmcc / asmp for _, tfmcc, asmp, _ in seeds])

    def minimum(runs: list[list[float]]) -> Quantity:
        return Quantity(tuple(map(min, zip(*runs, strict=True))), "times")

    return {
        "srmcc_fewest": minimum(fewest),
        "perif_highest": minimum(highest),
        "tfmcc_second": minimum(second),
    }


def _groups_averaged(scale: Scale) -> str:
    return scale.span(*scenarios.GROUPS_AVERAGED_S)


def _averaged_in_4(scale: Scale) -> str:
    return scale.span(*scenarios.AVERAGED_S[4])


def mean_and_interval(samples: Sequence[Sample], value: Value) -> tuple[float, float, float]:
    """Mean over seeds and both ends of its interval."""
    mean, low, high = over_seeds([value(sample) for sample in samples])
    return float(mean), float(low), float(high)


gamma_ratio = measure(Key.GAMMA)(rising(ratio))
gamma_loss = measure(Key.GAMMA)(rising(loss_percent))
gamma_best = measure(Key.GAMMA)(best_gamma)
gamma_loss_at_choice = measure(Key.GAMMA)(loss_at_gamma)
gamma_range = measure(Key.GAMMA)(wide_range)
gamma_balance = measure(Key.GAMMA)(balance)
groups_fairness = measure(Key.GROUPS, averaged=_groups_averaged)(four_groups("jain", "jain"))
groups_steadiness = measure(Key.GROUPS, averaged=_groups_averaged)(
    four_groups("cov", "variation", "of the mean")
)
over_asmp_1 = measure(Key.SCENARIOS)(over_asmp(1))
over_asmp_2 = measure(Key.SCENARIOS)(over_asmp(2))
over_asmp_3 = measure(Key.SCENARIOS)(over_asmp(3))
tfmcc_share = measure(Key.SCENARIOS)(share("tfmcc", "mc_mean_bps"))
tcp_share_beside_tfmcc = measure(Key.SCENARIOS)(share("tfmcc", "tcp_mean_bps"))
tfmcc_highest = measure(Key.SCENARIOS)(lead(ALL, "tfmcc", mbps("mc_mean_bps"), "Mbit/s"))
tfmcc_ratio = measure(Key.SCENARIOS)(ratios("tfmcc", STATIC))
tfmcc_ratio_4 = measure(Key.SCENARIOS, averaged=_averaged_in_4)(ratios("tfmcc", (4,)))
tfmcc_unfriendliest = measure(Key.SCENARIOS)(lead(STATIC, "tfmcc", ratio, "of the ratio"))
asmp_ratio = measure(Key.SCENARIOS)(ratios("asmp", (1, 2, 4)))
asmp_ratio_3 = measure(Key.SCENARIOS)(ratios("asmp", (3,)))
srmcc_ratio = measure(Key.SCENARIOS)(ratios("srmcc", ALL))
srmcc_share = measure(Key.SCENARIOS)(share("srmcc", "mc_mean_bps"))
perif_ratio = measure(Key.SCENARIOS)(ratios("perif_ecn", ALL))
totals_of_three = measure(Key.SCENARIOS)(totals_apart(("srmcc", "tfmcc", "perif_ecn"), ALL))
totals_of_two = measure(Key.SCENARIOS)(totals_apart(("srmcc", "tfmcc"), STATIC))
tfmcc_above_1 = measure(Key.SCENARIOS)(tfmcc_above(1))
tfmcc_above_2 = measure(Key.SCENARIOS)(tfmcc_above(2))
tfmcc_above_3 = measure(Key.SCENARIOS)(tfmcc_above(3))
srmcc_loss = measure(Key.SCENARIOS)(simply(ALL, "srmcc", loss_percent, "% of packets"))
perif_loss = measure(Key.SCENARIOS)(simply(ALL, "perif_ecn", loss_percent, "% of packets"))
asmp_loss = measure(Key.SCENARIOS)(simply((2, 3, 4), "asmp", loss_percent, "% of packets"))
fewer_than_tfmcc = measure(Key.SCENARIOS)(fewer_than("tfmcc"))
fewer_than_asmp = measure(Key.SCENARIOS)(fewer_than("asmp"))
fewer_than_perif = measure(Key.SCENARIOS)(fewer_than("perif_ecn"))
