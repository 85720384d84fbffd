"""How derived numbers, rules and small scenarios are measured. The names are those that claims.toml uses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._base import Measure, Measured, Quantity, Samples, Scale, take
from . import audit, law, others, rules, scenarios

# --- numbers that follow from stated ones ----------------------------------------------------------------------------

LINK_MBPS, FLOWS = 5.0, 3
TFMCC_SHARE, TCP_SHARE = 1.518, 0.726
TFMCC_ABOVE_SRMCC, SRMCC_ABOVE_ASMP = 0.197, 0.113
FEWER_THAN = {"asmp": 0.508, "tfmcc": 0.824, "perif": 0.941}
"""What the text states of scenario 1, and of feedback."""


def once(**numbers: tuple[float, str]) -> Measured:
    """Quantities that no run decides."""
    return {name: Quantity((value,), unit) for name, (value, unit) in numbers.items()}


def stated_shares(_samples: Samples) -> Measured:
    """What the two percentages make of the link."""
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


def reading_of_utilisation(_samples: Samples) -> Measured:
    """SRMCC's share in scenario 1, read as points and as a relative difference."""
    fair = LINK_MBPS / FLOWS
    return once(
        srmcc_share_percent=(100 * derived_srmcc_mbps() / fair, "% of its share"),
        if_relative_percent=(100 * TFMCC_SHARE / (1 + TFMCC_ABOVE_SRMCC), "% of its share"),
    )


def asmp_derived(_samples: Samples) -> Measured:
    """ASMP in scenario 1."""
    mbps = derived_srmcc_mbps() / (1 + SRMCC_ABOVE_ASMP)
    return once(
        mbps=(mbps, "Mbit/s"),
        share_percent=(100 * mbps * FLOWS / LINK_MBPS, "% of its share"),
        of_link_percent=(100 * mbps / LINK_MBPS, "% of the link"),
    )


def ratio_derived(_samples: Samples) -> Measured:
    """SRMCC over TCP in scenario 1, for totals of 100 and of 98 %."""
    mine = derived_srmcc_mbps()
    return once(
        low=(mine / (0.5 * (1.00 * LINK_MBPS - mine)), "ratio"),
        high=(mine / (0.5 * (0.98 * LINK_MBPS - mine)), "ratio"),
    )


def feedback_derived(_samples: Samples) -> Measured:
    """Feedback of the others, SRMCC's being 1."""
    return once(**{name: (1 / (1 - fewer), "times SRMCC's") for name, fewer in FEWER_THAN.items()})


def heavy_factor(_samples: Samples) -> Measured:
    """The factor at the paper's γ, the γ at which it is 1, and from which γ on the program refuses."""
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if law.heavy_factor(middle) < 1 else (low, middle)
    return once(
        at_paper_gamma=(law.heavy_factor(scenarios.GAMMA), "times the rate"),
        gamma_of_no_fall=(high, ""),
        refused_from=(_refused_from(), ""),
    )


def _refused_from() -> float:
    """The least γ, of some, that no scenario may have."""
    from thalweg import Scenario
    from thalweg.errors import ScenarioError

    for gamma in (0.30, 0.33, 0.333, 0.3334, 0.34, 0.4, 0.5, 1.0):
        tree = scenarios.scenario(1, "srmcc", Scale(0.01), params={"gamma": gamma})
        try:
            Scenario.from_tree(tree).plan(1)
        except ScenarioError:
            return gamma
    return float("nan")


def parameters(_samples: Samples) -> Measured:
    """Rows of Table 1, and how many of them are otherwise here."""
    rows = audit.rows()
    return once(
        differing=(float(sum(not row["agrees"] for row in rows)), "parameters"),
        compared=(float(len(rows)), "parameters"),
    )


# --- rules -----------------------------------------------------------------------------------------------------------


def keys(experiment: str, variant: str, *names: str) -> Callable[[Samples], Measured]:
    """Quantities that the sample already holds."""
    return lambda samples: {
        name: samples.each(experiment, variant, take(name), UNITS.get(name, name.replace("_", " ")))
        for name in names
    }


UNITS = {
    "access_error": "of the capacity",
    "apart": "adaptations with different occupancies",
    "greatest_factor": "times the rate",
    "later_rate_of_fair": "of the fair share",
    "least_factor": "times the rate",
    "limiting": "reports",
    "not_folded": "adaptations to what no node measured",
    "not_whole": "steps that are no whole packets",
    "others": "reports",
    "others_below_rate": "reports",
    "per_round_trip": "reports a round trip",
    "wrong_fair": "adaptations with another share",
}


def rate_law(samples: Samples) -> Measured:
    """Adaptations that the equations do not explain, of both trees."""
    pairs = list(zip(samples["rate law", "tree"], samples["rate law", "line"], strict=True))

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
    """The same, states first."""
    measured = rate_law(samples)
    return {"wrong_states": measured["wrong_states"], **measured}


def one_message(samples: Samples) -> Measured:
    """Messages a cycle, and the shortest time between two of them in cycles, whatever the number of children."""
    runs = list(zip(*(samples["children", str(count)] for count in rules.CHILDREN), strict=True))
    return {
        "per_cycle": Quantity(tuple(max(s["per_cycle"] for s in run) for run in runs), "messages a cycle"),
        "shortest_gap": Quantity(tuple(min(s["shortest_gap"] for s in run) for run in runs), "cycles"),
        "messages": Quantity(tuple(min(s["messages"] for s in run) for run in runs), "messages"),
    }


def aggregation(samples: Samples) -> Measured:
    """Change of the feedback at the source from 4 to 64 receivers."""
    pairs = zip(samples["children", "4"], samples["children", "64"], strict=True)
    return {
        "change_percent": Quantity(
            tuple(100 * (b["feedback_per_s"] / a["feedback_per_s"] - 1) for a, b in pairs), "%"
        ),
        **{
            f"per_s_{count}": samples.each("children", str(count), take("feedback_per_s"), "per second")
            for count in rules.CHILDREN
        },
    }


def probes(samples: Samples) -> Measured:
    """Probe packets after the joins, and with them."""
    return {
        "later": samples.each("probes", "later", take("probes"), "packets"),
        "at_join": samples.each("probes", "from the start", take("probes"), "packets"),
    }


# --- others ----------------------------------------------------------------------------------------------------------


def perif_growth(samples: Samples) -> Measured:
    """Least growth of the feedback from one number of congested routers to the next."""
    runs = zip(*(samples["congested routers", str(count)] for count in others.CONGESTED), strict=True)
    return {
        "least_growth": Quantity(
            tuple(float(np.min(np.diff([s["feedback_per_s"] for s in run]))) for run in runs), "per second"
        ),
        **{
            f"per_s_{count}": samples.each(
                "congested routers", str(count), take("feedback_per_s"), "per second"
            )
            for count in others.CONGESTED
        },
        **{
            f"per_packet_{count}": samples.each(
                "congested routers", str(count), take("feedback_per_packet"), "per packet sent"
            )
            for count in others.CONGESTED
        },
    }


def limiting_change(samples: Samples) -> Measured:
    """Mean settling time over both changes: TFMCC's less SRMCC's."""

    def settled(scheme: str) -> list[float]:
        pairs = zip(
            samples["limiting receiver", f"{scheme}-cut"],
            samples["limiting receiver", f"{scheme}-freed"],
            strict=True,
        )
        return [0.5 * (a["settled_s"] + b["settled_s"]) for a, b in pairs]

    def of(scheme: str, how: str) -> Quantity:
        return samples.each("limiting receiver", f"{scheme}-{how}", take("settled_s"), "s")

    own, other = settled("srmcc"), settled("tfmcc")
    return {
        "tfmcc_less_srmcc_s": Quantity(tuple(b - a for a, b in zip(own, other, strict=True)), "s"),
        **{f"{s}_{how}_s": of(s, how) for s in ("tfmcc", "srmcc") for how in ("cut", "freed")},
    }


def several_tfmcc(samples: Samples) -> Measured:
    """TCP's share beside as many TFMCC groups, and theirs."""
    return {
        key: samples.each("several TFMCC", "-", take(key), "of its share")
        for key in ("tcp_share", "tfmcc_share")
    }


def pgmcc_suppression(samples: Samples) -> Measured:
    """NAKs kept back when the transport does not delay them, and when it does."""
    return {
        "suppressed_without_delay": samples.each("NAK suppression", "at once", take("suppressed"), "NAKs"),
        "suppressed_with_delay": samples.each("NAK suppression", "delayed", take("suppressed"), "NAKs"),
        "per_packet_without_delay": samples.each(
            "NAK suppression", "at once", take("feedback_per_packet"), "per packet sent"
        ),
        "per_packet_with_delay": samples.each(
            "NAK suppression", "delayed", take("feedback_per_packet"), "per packet sent"
        ),
    }


def total(samples: Samples, key: str) -> Quantity:
    """A number of ASMP's runs, summed over the four scenarios."""
    runs = zip(*(samples["scenarios", f"{n}-asmp"] for n in (1, 2, 3, 4)), strict=True)
    return Quantity(tuple(float(sum(s[key] for s in run)) for run in runs), "words")


MEASURES: dict[str, Measure] = {
    "stated_shares": Measure((), stated_shares),
    "reading_of_utilisation": Measure((), reading_of_utilisation),
    "asmp_derived": Measure((), asmp_derived),
    "ratio_derived": Measure((), ratio_derived),
    "feedback_derived": Measure((), feedback_derived),
    "heavy_factor": Measure((), heavy_factor),
    "parameters": Measure((), parameters),
    "rate_law": Measure(("rate law",), rate_law),
    "states": Measure(("rate law",), wrong_states),
    "neutral_start": Measure(("rate law",), keys("rate law", "line", "apart", "access_error", "steps")),
    "moderate": Measure(
        ("rate law",), keys("rate law", "line", "least_factor", "greatest_factor", "moderate")
    ),
    "occupancy_filter": Measure(
        ("occupancy filter",), keys("occupancy filter", "-", "not_whole", "samples", "lengths")
    ),
    "folding": Measure(("folding",), keys("folding", "-", "not_folded", "folded")),
    "fair_share": Measure(("folding",), keys("folding", "-", "wrong_fair", "fair_steps")),
    "one_message": Measure(("children",), one_message),
    "aggregation": Measure(("children",), aggregation),
    "probes": Measure(("probes",), probes),
    "ramp": Measure(("ramp",), keys("ramp", "empty", "cycles", "reached")),
    "pushed_up": Measure(
        ("ramp",),
        keys(
            "ramp",
            "full",
            "later_rate_of_fair",
            "fell_below_fair",
            "longest_at_floor",
            "reached",
            "heavy_steps",
        ),
    ),
    "several_tfmcc": Measure(("several TFMCC",), several_tfmcc),
    "perif_growth": Measure(("congested routers",), perif_growth),
    "tfmcc_classes": Measure(
        ("feedback classes",),
        keys("feedback classes", "-", "limiting", "others", "others_below_rate", "per_round_trip"),
    ),
    "pgmcc_suppression": Measure(("NAK suppression",), pgmcc_suppression),
    "limiting_change": Measure(("limiting receiver",), limiting_change),
    "asmp_routers": Measure(("scenarios",), lambda samples: {"router_words": total(samples, "router_words")}),
}
