"""Measures of derived numbers, rules and small scenarios. claims.toml uses their names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._base import Measured, Quantity, Samples, Scale, measure, take
from . import algorithm, audit, others, rules, scenarios
from .keys import Key

# --- numbers that follow from stated ones ----------------------------------------------------------------------------

LINK_MBPS, FLOWS = 5.0, 3
TFMCC_SHARE, TCP_SHARE = 1.518, 0.726
TFMCC_ABOVE_SRMCC, SRMCC_ABOVE_ASMP = 0.197, 0.113
FEWER_THAN = {"asmp": 0.508, "tfmcc": 0.824, "perif": 0.941}
"""Statements of the text about scenario 1, and about feedback."""


def once(**numbers: tuple[float, str]) -> Measured:
    """Quantities that no run decides."""
    return {name: Quantity((value,), unit) for name, (value, unit) in numbers.items()}


@measure()
def stated_shares(_samples: Samples) -> Measured:
    """The utilisation that follows from the two percentages."""
    fair = LINK_MBPS / FLOWS
    tfmcc, tcp = TFMCC_SHARE * fair, TCP_SHARE * fair
    return once(
        sum_percent=(100 * (tfmcc + 2 * tcp) / LINK_MBPS, "% of the link"),
        tfmcc_mbps=(tfmcc, "Mbit/s"),
        tcp_mbps=(tcp, "Mbit/s"),
    )


def derived_srmcc_mbps() -> float:
    """SRMCC's throughput in scenario 1, with differences of utilisation read as points."""
    return TFMCC_SHARE * LINK_MBPS / FLOWS - TFMCC_ABOVE_SRMCC * LINK_MBPS


@measure()
def reading_of_utilisation(_samples: Samples) -> Measured:
    """SRMCC's share in scenario 1, read as points and as a relative difference."""
    fair = LINK_MBPS / FLOWS
    return once(
        srmcc_share_percent=(100 * derived_srmcc_mbps() / fair, "% of its share"),
        if_relative_percent=(100 * TFMCC_SHARE / (1 + TFMCC_ABOVE_SRMCC), "% of its share"),
    )


@measure()
def asmp_derived(_samples: Samples) -> Measured:
    """ASMP in scenario 1."""
    mbps = derived_srmcc_mbps() / (1 + SRMCC_ABOVE_ASMP)
    return once(
        mbps=(mbps, "Mbit/s"),
        share_percent=(100 * mbps * FLOWS / LINK_MBPS, "% of its share"),
        of_link_percent=(100 * mbps / LINK_MBPS, "% of the link"),
    )


@measure()
def ratio_derived(_samples: Samples) -> Measured:
    """SRMCC over TCP in scenario 1, for totals of 100 and of 98 %."""
    mine = derived_srmcc_mbps()
    return once(
        low=(mine / (0.5 * (1.00 * LINK_MBPS - mine)), "ratio"),
        high=(mine / (0.5 * (0.98 * LINK_MBPS - mine)), "ratio"),
    )


@measure()
def feedback_derived(_samples: Samples) -> Measured:
    """Feedback of the others, SRMCC's being 1."""
    return once(**{name: (1 / (1 - fewer), "times SRMCC's") for name, fewer in FEWER_THAN.items()})


@measure()
def heavy_factor(_samples: Samples) -> Measured:
    """The factor at the paper's γ, the γ at which it is 1, and from which γ on the program refuses."""
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if algorithm.heavy_factor(middle) < 1 else (low, middle)
    return once(
        at_paper_gamma=(algorithm.heavy_factor(scenarios.GAMMA), "times the rate"),
        gamma_of_no_fall=(high, ""),
        refused_from=(_refused_from(), ""),
    )


def _refused_from() -> float:
    """The minimum γ, of some, that no scenario may have."""
    from thalweg import Scenario
    from thalweg.errors import ScenarioError

    for gamma in (0.30, 0.33, 0.333, 0.3334, 0.34, 0.4, 0.5, 1.0):
        tree = scenarios.scenario(1, "srmcc", Scale(0.01), params={"gamma": gamma})
        try:
            Scenario.from_tree(tree).plan(1)
        except ScenarioError:
            return gamma
    return float("nan")


@measure()
def parameters(_samples: Samples) -> Measured:
    """Rows of Table 1, and how many of them are otherwise here."""
    rows = audit.rows()
    return once(
        differing=(float(sum(not row["agrees"] for row in rows)), "parameters"),
        compared=(float(len(rows)), "parameters"),
    )


# --- rules -----------------------------------------------------------------------------------------------------------


def keys(experiment: Key, variant: str, *names: str) -> Callable[[Samples], Measured]:
    """Quantities that the sample already holds."""
    return lambda samples: {
        name: samples.each(experiment, variant, take(name), UNITS.get(name, name.replace("_", " ")))
        for name in names
    }


UNITS = {
    "access_error": "of the capacity",
    "apart": "adaptations with different occupancies",
    "max_factor": "times the rate",
    "later_rate_of_fair": "of the fair share",
    "min_factor": "times the rate",
    "limiting": "reports",
    "not_folded": "adaptations to what no node measured",
    "not_whole": "steps that are no whole packets",
    "others": "reports",
    "others_below_rate": "reports",
    "per_round_trip": "reports per round trip",
    "wrong_fair": "adaptations with another share",
}


@measure(Key.RATE_UPDATE)
def rate_update(samples: Samples) -> Measured:
    """Adaptations that the equations do not explain, of both trees."""
    pairs = list(zip(samples[Key.RATE_UPDATE, Key.TREE], samples[Key.RATE_UPDATE, "line"], strict=True))

    def both(key: str) -> Quantity:
        return Quantity(tuple(a[key] + b[key] for a, b in pairs), "adaptations")

    return {
        "wrong": both("wrong"),
        "wrong_states": both("wrong_states"),
        "steps": both("steps"),
        "apart": both("apart"),
        "rarest_state": Quantity(
            tuple(min(a[f"state_{s}"] + b[f"state_{s}"] for s in range(4)) for a, b in pairs), "adaptations"
        ),
    }


def wrong_states(samples: Samples) -> Measured:
    """The measurements of `rate_update`, states first."""
    measured = rate_update(samples)
    return {"wrong_states": measured["wrong_states"], **measured}


@measure(Key.CHILDREN)
def one_message(samples: Samples) -> Measured:
    """Messages a cycle, and the shortest time between two of them in cycles, whatever the number of children."""
    runs = list(zip(*(samples[Key.CHILDREN, str(count)] for count in rules.CHILDREN), strict=True))
    return {
        "per_cycle": Quantity(tuple(max(s["per_cycle"] for s in run) for run in runs), "messages a cycle"),
        "shortest_gap": Quantity(tuple(min(s["shortest_gap"] for s in run) for run in runs), "cycles"),
        "messages": Quantity(tuple(min(s["messages"] for s in run) for run in runs), "messages"),
    }


@measure(Key.CHILDREN)
def aggregation(samples: Samples) -> Measured:
    """Feedback at the source with 64 receivers over that with 4."""
    pairs = zip(samples[Key.CHILDREN, "4"], samples[Key.CHILDREN, "64"], strict=True)
    return {
        "growth": Quantity(tuple(b["feedback_per_s"] / a["feedback_per_s"] for a, b in pairs), "ratio"),
        **{
            f"per_s_{count}": samples.each(Key.CHILDREN, str(count), take("feedback_per_s"), "per second")
            for count in rules.CHILDREN
        },
    }


@measure(Key.PROBES)
def probes(samples: Samples) -> Measured:
    """Probe packets after the joins, and with them."""
    return {
        "later": samples.each(Key.PROBES, "later", take("probes"), "packets"),
        "at_join": samples.each(Key.PROBES, "from the start", take("probes"), "packets"),
    }


# --- others ----------------------------------------------------------------------------------------------------------


@measure(Key.CONGESTED_ROUTERS)
def perif_growth(samples: Samples) -> Measured:
    """Minimum growth of the feedback from one number of congested routers to the next."""
    runs = zip(*(samples[Key.CONGESTED_ROUTERS, str(count)] for count in others.CONGESTED), strict=True)
    return {
        "min_growth": Quantity(
            tuple(float(np.min(np.diff([s["feedback_per_s"] for s in run]))) for run in runs), "per second"
        ),
        **{
            f"per_s_{count}": samples.each(
                Key.CONGESTED_ROUTERS, str(count), take("feedback_per_s"), "per second"
            )
            for count in others.CONGESTED
        },
        **{
            f"per_packet_{count}": samples.each(
                Key.CONGESTED_ROUTERS, str(count), take("feedback_per_packet"), "per packet sent"
            )
            for count in others.CONGESTED
        },
    }


@measure(Key.LIMITING_RECEIVER)
def limiting_change(samples: Samples) -> Measured:
    """Mean settling time over both changes: TFMCC's less SRMCC's."""

    def settled(scheme: str) -> list[float]:
        pairs = zip(
            samples[Key.LIMITING_RECEIVER, f"{scheme}-cut"],
            samples[Key.LIMITING_RECEIVER, f"{scheme}-freed"],
            strict=True,
        )
        return [0.5 * (a["settled_s"] + b["settled_s"]) for a, b in pairs]

    def of(scheme: str, how: str) -> Quantity:
        return samples.each(Key.LIMITING_RECEIVER, f"{scheme}-{how}", take("settled_s"), "s")

    own, other = settled("srmcc"), settled("tfmcc")
    return {
        "tfmcc_less_srmcc_s": Quantity(tuple(b - a for a, b in zip(own, other, strict=True)), "s"),
        **{f"{s}_{how}_s": of(s, how) for s in ("tfmcc", "srmcc") for how in ("cut", "freed")},
    }


@measure(Key.SEVERAL_TFMCC)
def several_tfmcc(samples: Samples) -> Measured:
    """TCP's share beside as many TFMCC groups, and theirs: four of each; then with other numbers of groups."""

    def mean(count: int, key: str) -> Quantity:
        return samples.each(Key.SEVERAL_TFMCC, str(count), take(key), "of its share")

    return {
        "tcp_share": mean(4, "tcp_share"),
        "tfmcc_share": mean(4, "tfmcc_share"),
        **{f"tcp_share_{count}": mean(count, "tcp_share") for count in others.SEVERAL},
    }


@measure(Key.NAK_SUPPRESSION)
def pgmcc_suppression(samples: Samples) -> Measured:
    """NAKs kept back when the transport does not delay them, and when it does."""
    return {
        "suppressed_without_delay": samples.each(Key.NAK_SUPPRESSION, "at once", take("suppressed"), "NAKs"),
        "suppressed_with_delay": samples.each(Key.NAK_SUPPRESSION, "delayed", take("suppressed"), "NAKs"),
        "per_packet_without_delay": samples.each(
            Key.NAK_SUPPRESSION, "at once", take("feedback_per_packet"), "per packet sent"
        ),
        "per_packet_with_delay": samples.each(
            Key.NAK_SUPPRESSION, "delayed", take("feedback_per_packet"), "per packet sent"
        ),
    }


def total(samples: Samples, key: str) -> Quantity:
    """A number of ASMP's runs, summed over the four scenarios."""
    runs = zip(*(samples[Key.SCENARIOS, f"{n}-asmp"] for n in (1, 2, 3, 4)), strict=True)
    return Quantity(tuple(float(sum(s[key] for s in run)) for run in runs), "words")


states = measure(Key.RATE_UPDATE)(wrong_states)
neutral_start = measure(Key.RATE_UPDATE)(keys(Key.RATE_UPDATE, "line", "apart", "access_error", "steps"))
moderate = measure(Key.RATE_UPDATE)(keys(Key.RATE_UPDATE, "line", "min_factor", "max_factor", "moderate"))
occupancy_filter = measure(Key.OCCUPANCY_FILTER)(
    keys(Key.OCCUPANCY_FILTER, "-", "not_whole", "samples", "lengths")
)
folding = measure(Key.FOLDING)(keys(Key.FOLDING, "-", "not_folded", "folded"))
fair_share = measure(Key.FOLDING)(keys(Key.FOLDING, "-", "wrong_fair", "fair_steps"))
ramp = measure(Key.RAMP)(keys(Key.RAMP, "empty", "cycles", "reached"))
pushed_up = measure(Key.RAMP)(
    keys(
        Key.RAMP,
        "full",
        "later_rate_of_fair",
        "fell_below_fair",
        "longest_at_floor",
        "reached",
        "heavy_steps",
    )
)
tfmcc_classes = measure(Key.FEEDBACK_CLASSES)(
    keys(Key.FEEDBACK_CLASSES, "-", "limiting", "others", "others_below_rate", "per_round_trip")
)
asmp_routers = measure(Key.SCENARIOS)(lambda samples: {"router_words": total(samples, "router_words")})
