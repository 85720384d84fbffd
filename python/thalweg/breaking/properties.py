"""What counts as a failure: a number that is measured in a result, and the threshold beyond which a scheme fails.

The margin of a result is the logarithm of the ratio between the two: above 0 the property holds, so that the scheme fails;
it grows as the failure becomes worse, which gives the search a slope.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._part import Keys
from ..event_labels import seconds
from .bounds import CHANGES, DISTURBANCES, Network

if TYPE_CHECKING:
    from ..result import Result

WORST = 4.0
"""Margins are from -WORST to WORST."""

OWN = ("own", "late", "cross")
"""First words of the names of the flows of the scheme."""

BOTTLENECKS = ("bottleneck", "detour", "hop")
"""First words of the names of the links that are not access links."""

FEW = 0.01
"""Drops by queues, as a share of drops by a rule of routers, that are next to nothing."""

SHORT_S, LONG_S = 0.1, 1.0
"""Sampling intervals of series."""


@dataclass(frozen=True)
class Property:
    """A kind of failure."""

    name: str
    definition: str
    source: str
    threshold: float
    above: bool
    """A scheme fails above the threshold; otherwise below it."""
    unit: str
    measure: Callable[[Result, Network], float | None]
    """The measured value; None if the run cannot show it."""
    series: str = "goodput"
    """The series that a figure shows."""
    record: Keys = field(default_factory=dict)
    """What the measurement needs recorded; `flows` has the first words of the names of the flows whose series it reads."""
    without: frozenset[str] = frozenset()
    """Parameters of networks in which it could have another cause."""
    always: frozenset[str] = frozenset()
    """Parameters without which it cannot be measured."""
    families: tuple[str, ...] = ("ip", "ndn")
    """Families of schemes that can have it."""
    lasting: bool = False
    """It must hold in a long run, too: otherwise flows would only have been slow to converge."""

    def margin(self, measured: float | None) -> float:
        """How far a measured value is beyond the threshold, as the logarithm of their ratio."""
        if measured is None:
            return -WORST
        if measured <= 0:
            return -WORST if self.above else WORST
        ratio = measured / self.threshold if self.above else self.threshold / measured
        return min(max(math.log(ratio), -WORST), WORST)

    @property
    def condition(self) -> str:
        """`above 0.15 s`."""
        return f"{'above' if self.above else 'below'} {self.threshold:g} {self.unit}".rstrip()


def is_own(flow: str) -> bool:
    """Whether a flow is one of the scheme under test."""
    return flow.startswith(OWN)


def shares(result: Result, words: Sequence[str] = (*OWN, "rival")) -> dict[str, float]:
    """Goodput in bit/s of the flows without an end, by name."""
    rows = result.flows.select("flow", "active_goodput_bps").rows()
    return {name: value or 0.0 for name, value in rows if name.startswith(tuple(words))}


def starvation(result: Result, network: Network) -> float | None:
    """The lowest goodput as a share of an equal one."""
    del network
    goodputs = shares(result)
    mean = math.fsum(goodputs.values()) / max(len(goodputs), 1)
    return min(goodputs.values()) / mean if len(goodputs) > 1 and mean > 0 else None


def fairness(result: Result, network: Network) -> float | None:
    """Jain's index of the goodputs of the scheme's own flows."""
    del network
    own = list(shares(result, OWN).values())
    squares = len(own) * math.fsum(value * value for value in own)
    return math.fsum(own) ** 2 / squares if len(own) > 1 and squares > 0 else None


def queueing_delay(result: Result, network: Network) -> float | None:
    """The highest 95th percentile of the queueing delay of its flows, in seconds."""
    del network
    rows = result.flows.select("flow", "queueing_delay_p95_s").rows()
    return max((value for name, value in rows if is_own(name) and value is not None), default=None)


def queue_loss(result: Result, network: Network) -> float | None:
    """Packets of its flows that queues dropped / packets that they sent."""
    del network
    rows = [row for row in result.flows.to_dicts() if is_own(row["flow"])]
    sent = sum(row["sent_packets"] or 0 for row in rows)
    dropped = sum((row["drops_queue_full"] or 0) + (row["drops_early"] or 0) for row in rows)
    return dropped / sent if sent else None


def use(result: Result, network: Network) -> float | None:
    """Goodput of its flows / what the bottleneck could carry while it was up."""
    del network
    rows = [row for row in result.links.to_dicts() if row["link"].startswith(BOTTLENECKS)]
    busiest = max(rows, key=lambda row: row["sent_bytes"])
    measured_s = result["run.measured"] or 0.0
    if not busiest["utilisation"]:
        return 0.0
    capacity_bits = 8 * busiest["sent_bytes"] / busiest["utilisation"]
    return float(math.fsum(shares(result, OWN).values()) * measured_s / capacity_bits)


def policed(result: Result, network: Network) -> float | None:
    """Interests that routers dropped by a rule of their own / Interests sent, but at most the unused share of the link.

    Queues may drop `FEW` times as many as the rule; with more drops the value is less by that factor, so that the
    search has a slope.
    """
    sent = sum(row["sent_packets"] or 0 for row in result.flows.to_dicts() if is_own(row["flow"]))
    by_rule = sum(result.nodes["policed"].drop_nulls())
    by_queues = sum(result.links["drops_queue_full"]) + sum(result.links["drops_early"])
    unused = 1.0 - (use(result, network) or 0.0)
    if not sent or not by_rule:
        return 0.0
    return float(min(by_rule / sent, unused)) * min(1.0, FEW * by_rule / max(by_queues, 1e-9))


def longest_stall(result: Result, network: Network) -> float | None:
    """The longest time in which nothing arrived at a receiver of its flows, without the time of an outage."""
    series = result.series.filter(result.series["series"] == "throughput")
    if series.is_empty():
        return None
    # not the plan, which has a table for each of thousands of short flows
    scenario = tomllib.loads(result.scenario_toml)
    begin = seconds(scenario["warmup"]) if "warmup" in scenario else 0.0
    down, up = _outage(scenario, network)
    worst = 0.0
    for (subject,), part in series.group_by("subject", maintain_order=True):
        if not is_own(str(subject).removeprefix("receiver.")):
            continue
        silent = 0.0
        for time_s, value in zip(part["time_s"], part["value"], strict=True):
            if time_s <= begin or down < time_s <= up + SHORT_S:
                continue
            silent = 0.0 if value else silent + SHORT_S
            worst = max(worst, silent)
    return round(worst, 3)


def _outage(scenario: Keys, network: Network) -> tuple[float, float]:
    """Begin and end of the outage; an empty time without an outage."""
    if "outage" not in network:
        return math.inf, -math.inf
    # in milliseconds, as plans have them
    times = [1e-3 * round(1e3 * seconds(event["at"])) for event in scenario["events"] if "up" in event]
    return times[0], times[1]


def oscillation(result: Result, network: Network) -> float | None:
    """The highest coefficient of variation of the rates of its flows over windows of a second."""
    del network
    rows = [
        value
        for key, value in result.values.items()
        if key.startswith("flow.") and key.endswith(".cov") and is_own(key.removeprefix("flow."))
    ]
    return max((value for value in rows if value is not None), default=None)


def never(result: Result, network: Network) -> float | None:
    """0: a run that ends did not panic."""
    del result, network
    return 0.0


PROPERTIES: dict[str, Property] = {
    row.name: row
    for row in (
        Property(
            "starve",
            "A flow without an end, of the scheme or beside it, has less than a tenth of an equal share of the "
            "goodput that all have together, in long runs as well.",
            "V. Arun, M. Alizadeh, H. Balakrishnan, Starvation in End-to-End Congestion Control, SIGCOMM 2022: an unbounded "
            "ratio of throughputs. A tenth is our choice.",
            0.1,
            above=False,
            unit="of an equal share",
            measure=starvation,
            lasting=True,
        ),
        Property(
            "unfair",
            "Jain's fairness index of the goodputs of the scheme's own flows, which have one round-trip time, is below "
            "0.8, in long runs as well.",
            "RFC 5166 §2.3; Jain, Chiu, Hawe 1984. With two flows 0.8 is a ratio of 3 to 1; the bound is our choice.",
            0.8,
            above=False,
            unit="",
            measure=fairness,
            lasting=True,
            without=DISTURBANCES | {"rtt_ratio", "cross"},
            always=frozenset({"latecomer"}),
        ),
        Property(
            "delay",
            "The 95th percentile of the queueing delay of a flow of the scheme, without other traffic, is above 150 ms.",
            "RFC 5166 §2.1 names the metric; ITU-T G.114: most conversations tolerate a one-way delay of 150 ms.",
            0.15,
            above=True,
            unit="s",
            measure=queueing_delay,
            series="backlog",
            without=DISTURBANCES | {"outage"},
        ),
        Property(
            "loss",
            "Queues drop more than 5 % of the packets of the scheme, without other traffic.",
            "RFC 5166 §2.1 names the metric; the bound is our choice.",
            0.05,
            above=True,
            unit="of the packets",
            measure=queue_loss,
            series="drops",
            without=DISTURBANCES,
        ),
        Property(
            "policed",
            "Routers drop more than half of the Interests of a scheme by its own rule, such as a bucket, although half of "
            "the bottleneck is unused and queues drop next to nothing.",
            "RFC 5166 §2.1: throughput. MIRCC's bucket stands for the queue that Data would cause; half is our choice.",
            0.5,
            above=True,
            unit="of the Interests",
            measure=policed,
            without=DISTURBANCES | {"cross"},
            families=("ndn",),
        ),
        Property(
            "collapse",
            "The goodput of the scheme, without other traffic, is below 0.3 of the rate that the bottleneck can carry, "
            "in long runs as well.",
            "RFC 2914 §5 defines congestion collapse, RFC 5166 §2.1 the metric; the bound is our choice.",
            0.3,
            above=False,
            unit="of the link",
            measure=use,
            lasting=True,
            without=DISTURBANCES | {"cross"},
        ),
        Property(
            "stall",
            "Nothing arrives from a flow of the scheme for more than 3 s, the time of an outage not counted.",
            "RFC 6298 §2: the retransmission timeout is 1 s at the start and doubles, so that the second in a row "
            "ends after 3 s.",
            3.0,
            above=True,
            unit="s",
            measure=longest_stall,
            record={"every": f"{SHORT_S * 1e3:g} ms", "series": ["throughput"], "flows": list(OWN)},
            without=frozenset({"trace"}),
        ),
        Property(
            "oscillate",
            "The coefficient of variation of the rate of a flow of the scheme, over windows of 1 s and without other "
            "traffic or changes of the link, is above 0.5.",
            "RFC 5166 §2.2 names the metric; the sawtooth of Reno has 0.19, the bound is our choice.",
            0.5,
            above=True,
            unit="",
            measure=oscillation,
            series="rate",
            record={"every": f"{LONG_S:g} s", "series": ["rate"]},
            without=DISTURBANCES | CHANGES,
        ),
        Property(
            "panic",
            "The implementation of the scheme panics: an invariant that it asserts is broken. There is no slope; the "
            "search is random.",
            "ARCHITECTURE.md: a broken invariant is a defect, whatever arrives from the network.",
            0.5,
            above=True,
            unit="panics",
            measure=never,
        ),
    )
}
"""Every property by its name."""


def finite(value: Any) -> float | None:
    """A measured value as it is kept; None for what was not measured."""
    return float(value) if value is not None and math.isfinite(value) else None
