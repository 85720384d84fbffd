"""The parameters of the networks that are searched, with ranges and units.

A network is a dict of parameters. A parameter that is absent from it has its simplest form: no loss, no competitor, a FIFO.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

Network = dict[str, float | str]
"""The parameters of a network that are present."""

ROUNDED = (1.0, 2.0, 5.0, 10.0)
"""First digits of round numbers."""


@dataclass(frozen=True)
class Bound:
    """A parameter of a network with its range."""

    name: str
    unit: str
    meaning: str
    reason: str
    """Why the range has its ends."""
    low: float = 0.0
    high: float = 1.0
    linear: bool = False
    """Values are spread evenly; otherwise their logarithms are."""
    whole: bool = False
    """Values are whole numbers."""
    choices: tuple[str, ...] = ()
    """The values, if they are words."""
    absent: float = 0.0
    """Share of the networks without it; 0 for parameters that every network has."""
    families: tuple[str, ...] = ("ip", "ndn")
    needs: tuple[str, ...] = ()
    """Parameters without which it has no effect."""
    part: str = ""
    """The parameter of the schemes' parts in routers that it is; schemes without it lack this bound."""
    app: bool = False
    """Only schemes with a part in an SDN controller have it."""

    @property
    def optional(self) -> bool:
        """Whether a network can lack it."""
        return self.absent > 0

    def value(self, share: float) -> float | str | None:
        """The value at a share of the range, 0 to 1; None if it is absent there."""
        if share < self.absent:
            return None
        inner = min((share - self.absent) / (1 - self.absent), 1.0)
        if self.choices:
            return self.choices[min(int(inner * len(self.choices)), len(self.choices) - 1)]
        if self.linear or self.whole:
            value = self.low + inner * (self.high + self.whole - self.low)
        else:
            value = self.low * (self.high / self.low) ** inner
        return float(min(int(value), int(self.high))) if self.whole else digits(value, 3)

    def simpler(self, value: float | str) -> Iterator[float | str | None]:
        """Simpler values, the simplest first; None is its absence."""
        if self.optional:
            yield None
        if isinstance(value, str):
            yield from self.choices[: self.choices.index(value)]
        elif self.whole:
            yield from (float(count) for count in range(int(self.low), int(value)))
        else:
            for candidate in (nearest_round(value), digits(value, 1), digits(value, 2)):
                if candidate != value and self.low <= candidate <= self.high:
                    yield candidate

    @property
    def range_text(self) -> str:
        """`1 … 100`, or the choices."""
        words = ", ".join(self.choices) if self.choices else f"{self.low:g} … {self.high:g}"
        return f"none, {words}" if self.optional else words


def digits(value: float, count: int) -> float:
    """A number with this many significant digits."""
    return float(f"{value:.{count - 1}e}")


def nearest_round(value: float) -> float:
    """The nearest of 1, 2, 5, 10, 20 …, by ratio."""
    power = 10.0 ** math.floor(math.log10(value))
    return digits(min(ROUNDED, key=lambda step: abs(math.log(step * power / value))) * power, 1)


BOUNDS: tuple[Bound, ...] = (
    Bound("rate", "Mbit/s", "rate of the bottleneck", "from ADSL to fast Ethernet", 1, 100, families=("ip",)),
    Bound(
        "rate",
        "Mbit/s",
        "rate of the bottleneck, for named data",
        "from ADSL up; forwarders take several times as long per packet",
        1,
        20,
        families=("ndn",),
    ),
    Bound(
        "delay",
        "ms",
        "propagation delay of the bottleneck, one way",
        "from a city to the other side of the earth",
        2,
        150,
    ),
    Bound(
        "buffer",
        "BDP",
        "queue limit of the bottleneck, at least 10 packets",
        "from shallow switches to bufferbloat",
        0.1,
        8,
    ),
    Bound(
        "queue",
        "",
        "queue discipline of the bottleneck, otherwise a FIFO",
        "the disciplines of RFC 7567 and its successors that are deployed",
        choices=("codel", "pie", "red", "fq_codel"),
        absent=0.5,
    ),
    Bound("loss", "1", "probability of random loss", "up to a poor radio link", 1e-5, 0.02, absent=0.6),
    Bound(
        "jitter",
        "ms",
        "jitter of the bottleneck, in order; at most `delay`",
        "up to the jitter of a busy radio link",
        0.5,
        20,
        absent=0.6,
    ),
    Bound(
        "ack_aggregation",
        "ms",
        "acknowledgements arrive only at multiples of this time",
        "up to the aggregation of a busy Wi-Fi",
        1,
        30,
        absent=0.6,
        families=("ip",),
    ),
    Bound(
        "trace",
        "",
        "model of a link whose rate varies, instead of `rate`",
        "the models of `thalweg trace` with usual rates",
        choices=("cable", "wifi_home", "lte_stationary", "lte_walking", "lte_driving", "leo"),
        absent=0.75,
        families=("ip",),
    ),
    Bound(
        "rate_step",
        "1",
        "factor by which the rate changes in the middle of the run",
        "another cell or modulation",
        0.2,
        5,
        absent=0.7,
    ),
    Bound(
        "outage",
        "s",
        "time without a link, after 0.6 of the run",
        "up to a slow handover",
        0.1,
        3,
        absent=0.7,
    ),
    Bound(
        "receivers",
        "receivers",
        "receivers of each flow of the scheme, which is then a group",
        "from a unicast to a small group",
        2,
        16,
        whole=True,
        absent=0.5,
        families=("multicast",),
    ),
    Bound(
        "receiver_loss",
        "1",
        "probability of random loss at the link of one receiver of each group",
        "up to a very poor radio link",
        1e-4,
        0.05,
        absent=0.5,
        families=("multicast",),
        needs=("receivers",),
    ),
    Bound("own", "flows", "flows of the scheme from the start", "our choice", 1, 3, whole=True),
    Bound(
        "latecomer",
        "1",
        "start of one more flow of the scheme, as a share of the run",
        "before the measurement begins",
        0.05,
        0.3,
        linear=True,
        absent=0.5,
    ),
    Bound(
        "rivals",
        "flows",
        "flows of another scheme",
        "our choice",
        1,
        4,
        whole=True,
        absent=0.4,
        families=("ip",),
    ),
    Bound(
        "rival_scheme",
        "",
        "their scheme",
        "what carries most traffic; --against names others",
        choices=("cubic", "reno", "bbr"),
        families=("ip",),
        needs=("rivals",),
    ),
    Bound(
        "rival_start",
        "1",
        "their start, as a share of the run",
        "before the measurement begins",
        0.05,
        0.3,
        linear=True,
        absent=0.5,
        families=("ip",),
        needs=("rivals",),
    ),
    Bound(
        "rtt_ratio",
        "1",
        "round-trip time of the latecomer and of the rivals / round-trip time of the other flows",
        "a server near by and one overseas",
        0.25,
        4,
        absent=0.6,
    ),
    Bound(
        "short_flows",
        "1",
        "load of short CUBIC flows, as a share of the rate",
        "a link of which half is used by pages",
        0.05,
        0.5,
        absent=0.7,
        families=("ip",),
    ),
    Bound(
        "short_size",
        "kB",
        "mean size of the short flows, Pareto-distributed",
        "from a small object to a page",
        10,
        1000,
        families=("ip",),
        needs=("short_flows",),
    ),
    Bound(
        "unresponsive",
        "1",
        "rate of a source without congestion control, as a share of the rate",
        "a link of which half is used by streams of a constant rate",
        0.05,
        0.5,
        absent=0.7,
        families=("ip",),
    ),
    Bound(
        "reverse",
        "flows",
        "CUBIC flows in the opposite direction",
        "our choice",
        1,
        4,
        whole=True,
        absent=0.7,
        families=("ip",),
    ),
    Bound(
        "tick",
        "ms",
        "tick of the coarse clock of consumers",
        "up to the clocks of 500 ms that the authors of MIRCC test",
        10,
        500,
        absent=0.5,
        families=("ndn",),
    ),
    Bound(
        "router_clock",
        "ms",
        "time between two calculations of the rates of a router (`interval` of MIRCC), otherwise the scheme's own",
        "from the exact clock to the coarsest that the authors of MIRCC test",
        10,
        750,
        absent=0.5,
        families=("ndn",),
        part="interval",
    ),
    Bound(
        "bucket",
        "packets",
        "depth of the leaky buckets of links (`depth` of MIRCC), otherwise the scheme's own",
        "a tenth to ten times the 200 of the authors of MIRCC",
        20,
        2000,
        absent=0.5,
        families=("ndn",),
        part="depth",
    ),
    Bound(
        "store",
        "packets",
        "content store of each router",
        "up to a second of the fastest link",
        10,
        2000,
        absent=0.6,
        families=("ndn",),
    ),
    Bound(
        "names",
        "",
        "consumers request the same name, so that routers aggregate their Interests; otherwise each its own",
        "a live broadcast",
        choices=("same",),
        absent=0.7,
        families=("ndn",),
    ),
    Bound(
        "routers",
        "routers",
        "routers in a chain, whose links have the rate and the queue of the bottleneck and share its delay; otherwise two",
        "the hops within a provider's network",
        3,
        5,
        whole=True,
        absent=0.5,
        families=("ndn",),
    ),
    Bound(
        "cross",
        "consumers",
        "consumers of the scheme that cross one link of the chain each, at most one per link",
        "the cross traffic of a parking lot",
        1,
        4,
        whole=True,
        absent=0.5,
        families=("ndn",),
        needs=("routers",),
    ),
    Bound(
        "controller",
        "ms",
        "delay of the links of an SDN controller that runs the scheme's app; otherwise none runs",
        "from the same building to another continent",
        0.1,
        100,
        absent=0.3,
        families=("ndn",),
        app=True,
    ),
    Bound(
        "detour",
        "1",
        "propagation delay of a second way around the bottleneck, over one more router, "
        "/ propagation delay of the bottleneck",
        "from an equal way to a path of four times the length",
        1,
        4,
        absent=0.3,
        families=("ndn",),
        needs=("controller",),
        app=True,
    ),
)
"""Every parameter, in the order in which the search sees them."""

DISTURBANCES = frozenset(
    {"rivals", "rival_scheme", "rival_start", "short_flows", "short_size", "unresponsive", "reverse"}
)
"""Parameters of traffic that is not of the scheme."""

CHANGES = frozenset({"trace", "rate_step", "outage"})
"""Parameters that change the link during a run."""
