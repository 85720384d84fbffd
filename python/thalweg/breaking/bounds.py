"""The networks that are searched: parameters with ranges and units, and the scenario of a network.

A network is a dict of parameters. A parameter that is absent from it has its simplest form: no loss, no competitor, a FIFO.
The search sees a network as one number from 0 to 1 per parameter.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .. import catalogue
from .._part import Keys

Network = dict[str, float | str]
"""The parameters of a network that are present."""

HOST_DELAY_MS = 1.0
"""Propagation delay of each of the two access links."""

PACKET_BYTES = 1500
"""Size of a packet, for the minimum of buffers."""

MIN_BUFFER_PACKETS = 10
"""Smallest buffer: a multiple of a bandwidth-delay product that is a few packets is no network."""

RATE_MBPS = 10.0
"""Rate of a link whose trace is taken away."""

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
        "up to that of a busy radio link",
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
        "round-trip time of the latecomer and of the rivals / that of the other flows",
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
        "propagation delay of a second way around the bottleneck, over one more router, / that of the bottleneck",
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


POLICED = frozenset({"mircc", "mircc_multipath"})
"""Schemes with leaky buckets: parameters of other schemes that have the same name mean something else."""


def has_app(scheme: str) -> bool:
    """Whether a scheme has a part in an SDN controller."""
    return scheme in catalogue.schema()["$defs"]["Sdn"]["properties"]["app"]["enum"]


def part_params(scheme: str) -> frozenset[str]:
    """Names of the parameters of a scheme."""
    row = next(row for row in catalogue.schemes() if row["name"] == scheme)
    return frozenset(parameter["name"] for parameter in row["params"])


@dataclass(frozen=True)
class Space:
    """The networks for one scheme, and their scenarios."""

    scheme: str
    family: str
    """ip or ndn."""
    against: tuple[str, ...] = ()
    """Schemes of the competitors; with one, every network has competitors."""
    without: frozenset[str] = frozenset()
    """Parameters that no network has."""
    always: frozenset[str] = frozenset()
    """Parameters that every network has."""
    groups: bool = False
    """Flows of the scheme can have several receivers."""
    bounds: tuple[Bound, ...] = field(init=False)

    def __post_init__(self) -> None:
        listed = [
            self._fitted(bound)
            for bound in BOUNDS
            if ({self.family, "multicast"} if self.groups else {self.family}) & set(bound.families)
            and bound.name not in self.without
            and (not bound.app or has_app(self.scheme))
            and (not bound.part or (self.scheme in POLICED and bound.part in part_params(self.scheme)))
        ]
        object.__setattr__(self, "bounds", tuple(listed))

    def _fitted(self, bound: Bound) -> Bound:
        """A bound as this space has it."""
        from dataclasses import replace

        if bound.name == "rival_scheme" and self.against:
            bound = replace(bound, choices=self.against)
        if bound.name in self.always or (bound.name == "rivals" and self.against):
            bound = replace(bound, absent=0.0)
        return bound

    @classmethod
    def of(
        cls,
        scheme: str,
        against: Sequence[str] = (),
        without: Collection[str] = (),
        always: Collection[str] = (),
    ) -> Space:
        """The space of a scheme of the catalogue. `ValueError` for schemes of families that are not searched."""
        families = next(row["families"] for row in catalogue.schemes() if row["name"] == scheme)
        family = next((family for family in ("ip", "ndn") if family in families), None)
        if family is None:
            raise ValueError(f"networks of the family {families[0]} are not searched")
        groups = family == "ip" and "multicast" in families
        return cls(scheme, family, tuple(against), frozenset(without), frozenset(always), groups)

    def network(self, shares: Sequence[float]) -> Network:
        """The network at a point of the unit cube, one coordinate per bound."""
        values = {
            bound.name: bound.value(min(max(share, 0.0), 1.0))
            for bound, share in zip(self.bounds, shares, strict=True)
        }
        return self.normal({name: value for name, value in values.items() if value is not None})

    def normal(self, network: Mapping[str, float | str]) -> Network:
        """The network without parameters that have no effect."""
        useless = {
            bound.name for bound in self.bounds if any(need not in network for need in bound.needs)
        } | ({"rate", "rate_step"} if "trace" in network else set())
        kept = {name: value for name, value in network.items() if name not in useless}
        if "rate" not in kept and "trace" not in kept:
            # a trace was taken away
            kept["rate"] = RATE_MBPS
        if "cross" in kept:
            kept["cross"] = min(float(kept["cross"]), float(kept["routers"]) - 1)
        if "jitter" in kept:
            kept["jitter"] = min(float(kept["jitter"]), float(kept["delay"]))
        if "rate" in kept:
            packets = (
                float(kept["rate"]) * 1e3 * 2 * (float(kept["delay"]) + 2 * HOST_DELAY_MS) / 8 / PACKET_BYTES
            )
            if float(kept["buffer"]) * packets < MIN_BUFFER_PACKETS:
                kept["buffer"] = digits(MIN_BUFFER_PACKETS / packets + 5e-4, 3)
        return kept

    def scenario(
        self, network: Mapping[str, float | str], duration_s: float, record: Keys | None = None
    ) -> Keys:
        """The scenario of a network as a tree. The second half of the run is measured.

        `flows` of `record` are first words of names: the other flows, such as thousands of short ones, have no series.
        """
        tree = _Scenario(self, dict(network), duration_s).tree()
        if not record:
            return tree
        names = [flow["name"] for flow in tree["flows"]]
        wanted = [name for name in names if name.startswith(tuple(record.get("flows", names)))]
        kept = {key: value for key, value in record.items() if key != "flows"}
        return {**tree, "record": kept if wanted == names else {**kept, "flows": wanted}}


@dataclass(frozen=True)
class _Scenario:
    """One scenario that is made of a network."""

    space: Space
    network: Network
    duration_s: float

    def tree(self) -> Keys:
        """All keys but `record` and `expect`."""
        named_data = self.space.family == "ndn"
        keys: Keys = {
            "duration": f"{self.duration_s:g} s",
            "warmup": f"{self.duration_s / 2:g} s",
            "topology": self._topology(),
        }
        if named_data:
            if forwarders := self._forwarders():
                keys["ndn"] = forwarders
            if "controller" in self.network:
                link = {"delay": f"{self._number('controller'):g} ms"}
                keys["sdn"] = {"app": self.space.scheme, "link": link}
            producers = {self._prefix(name): server for name, _, server, _ in reversed(self._consumers())}
            keys["producers"] = [
                {"prefix": prefix, "node": server} for prefix, server in reversed(producers.items())
            ]
        keys["flows"] = self._consumer_flows() if named_data else self._flows()
        if events := self._events():
            keys["events"] = events
        return keys

    def _number(self, name: str, default: float = 0.0) -> float:
        return float(self.network.get(name, default))

    def _forwarders(self) -> Keys:
        """The table [ndn]: the scheme's parts in routers with their parameters, and content stores."""
        scheme, known = self.space.scheme, catalogue.schema()["$defs"]["Ndn"]["properties"]
        params = {
            bound.part: f"{self._number(bound.name):g} ms"
            if bound.unit == "ms"
            else int(self._number(bound.name))
            for bound in self.space.bounds
            if bound.part and bound.name in self.network
        }
        table: Keys = {}
        for part in ("strategy", "link"):
            if scheme in known[part]["enum"]:
                table[part] = scheme
                table |= {f"{part}_params": params} if params else {}
        if "store" in self.network:
            table["store"] = {"size": int(self._number("store"))}
        return table

    def _prefix(self, consumer: str) -> str:
        """The name that a consumer requests; those that cross one link have producers of their own."""
        shared = "names" in self.network and not consumer.startswith("cross")
        return "/own" if shared else f"/{consumer}"

    def _topology(self) -> Keys:
        bottleneck: Keys = (
            {"trace": self.network["trace"]}
            if "trace" in self.network
            else {"rate": f"{self._number('rate'):g} Mbit/s"}
        )
        ratio = self._number("rtt_ratio", 1.0)
        whole = self._number("delay") + 2 * HOST_DELAY_MS
        delay = self._number("delay") if ratio >= 1 else whole * ratio - 2 * HOST_DELAY_MS
        delay = max(digits(delay / (self._routers() - 1), 3), 0.1)
        bottleneck |= {"delay": f"{delay:g} ms", "buffer": f"{self._number('buffer'):g} bdp"}
        if "queue" in self.network:
            bottleneck["queue"] = self.network["queue"]
        if "loss" in self.network:
            bottleneck["loss"] = self._number("loss")
        if "jitter" in self.network:
            jitter = min(self._number("jitter"), delay)
            bottleneck["impair"] = {"jitter": f"{jitter:g} ms", "keep_order": True}
        if "ack_aggregation" in self.network:
            bottleneck["backward"] = {"impair": {"release_every": f"{self._number('ack_aggregation'):g} ms"}}
        if self._is_parking_lot():
            return {"kind": "parking_lot", "hops": self._routers() - 1, "bottleneck": bottleneck}
        if not self._has_ends():
            pairs = {"pairs": len(self._consumers())} if self.space.family == "ndn" else {}
            return {"kind": "dumbbell", **pairs, "bottleneck": bottleneck}
        near, far = (whole, whole * ratio) if ratio > 1 else (whole * ratio, whole)
        longer = f"{digits(far - near + HOST_DELAY_MS, 3):g} ms"
        same = f"{HOST_DELAY_MS:g} ms"
        one, other = (same, longer) if ratio > 1 else (longer, same)
        access = {"rate": "1 Gbit/s", "buffer": "10000 packets"}
        last = f"r{self._routers()}"
        alone = not {"rtt_ratio", "receivers", "latecomer"} & self.network.keys()
        return {
            "kind": "custom",
            "links": [
                *self._between_routers(bottleneck, delay),
                {"name": "one", "ends": ["s1", "r1"], "delay": one, **access},
                *([] if alone else [{"name": "other", "ends": ["s2", "r1"], "delay": other, **access}]),
                *(
                    {"name": name, "ends": [last, end], "delay": same, **access, **more}
                    for name, end, more in self._receivers()
                ),
                *(
                    {"name": node, "ends": [node, router], "delay": same, **access}
                    for number in range(1, self._cross() + 1)
                    for node, router in ((f"x{number}", f"r{number}"), (f"y{number}", f"r{number + 1}"))
                ),
            ],
        }

    def _routers(self) -> int:
        """Number of routers from end to end."""
        return int(self._number("routers", 2))

    def _is_parking_lot(self) -> bool:
        """Whether all links of the chain are equal, so that the generator makes it."""
        return (
            "routers" in self.network and not {"rtt_ratio", "detour", "loss", "jitter"} & self.network.keys()
        )

    def _first_link(self) -> str:
        """The name of the bottleneck, in a chain of its first link."""
        return "hop1" if self._is_parking_lot() else "bottleneck"

    def _cross(self) -> int:
        """Number of consumers that cross one link each: the first link, the second, and so on."""
        return int(self._number("cross"))

    def _between_routers(self, bottleneck: Keys, delay_ms: float) -> list[Keys]:
        """The bottleneck; the other links of a chain, and the second way around the first one, without losses and jitter."""
        like = {key: value for key, value in bottleneck.items() if key not in ("loss", "impair")}
        found: list[Keys] = [{"name": "bottleneck", "ends": ["r1", "r2"], **bottleneck}]
        found += [
            {"name": f"bottleneck{number}", "ends": [f"r{number}", f"r{number + 1}"], **like}
            for number in range(2, self._routers())
        ]
        if "detour" in self.network:
            like["delay"] = f"{digits(delay_ms * self._number('detour') / 2, 3):g} ms"
            found += [
                {"name": name, "ends": ends, **like}
                for name, ends in (("detour1", ["r1", "r0"]), ("detour2", ["r0", "r2"]))
            ]
        return found

    def _has_ends(self) -> bool:
        """Whether the hosts of the flows are listed."""
        return bool({"rtt_ratio", "receivers", "routers", "detour"} & self.network.keys())

    def _receivers(self) -> list[tuple[str, str, Keys]]:
        """Link, node and further keys of the link of each receiver; the last one of a group is the one with losses."""
        count = int(self._number("receivers", 1))
        found: list[tuple[str, str, Keys]] = [("far", "d", {})]
        found += [(f"far{number}", f"d{number}", {}) for number in range(2, count + 1)]
        if "receiver_loss" in self.network:
            found[-1][2]["loss"] = self._number("receiver_loss")
        return found

    def _at(self, name: str) -> Keys:
        """The start of flows, at a tenth of a second."""
        if name not in self.network:
            return {"start_spread": "100 ms"}
        return {"start": f"{round(self._number(name) * self.duration_s, 1):g} s", "start_spread": "100 ms"}

    def _flows(self) -> list[Keys]:
        ends = self._has_ends()
        near: Keys = {"from": "s1", "to": "d"} if ends else {}
        far: Keys = {"from": "s2", "to": "d"} if ends else {}
        group: Keys = (
            {"to": [node for _, node, _ in self._receivers()]} if "receivers" in self.network else {}
        )
        scheme = self.space.scheme
        flows: list[Keys] = [
            {
                "name": "own",
                "scheme": scheme,
                **_copies(self._number("own", 1)),
                **self._at(""),
                **near,
                **group,
            }
        ]
        if "latecomer" in self.network:
            flows.append({"name": "late", "scheme": scheme, **self._at("latecomer"), **far, **group})
        if "rivals" in self.network:
            copies = _copies(self._number("rivals"))
            flows.append(
                {
                    "name": "rival",
                    "scheme": self.network["rival_scheme"],
                    **copies,
                    **self._at("rival_start"),
                    **far,
                }
            )
        rate = self._number("rate", 10.0)
        if "short_flows" in self.network:
            load = digits(self._number("short_flows") * rate, 3)
            arrivals = {
                "load": f"{load:g} Mbit/s",
                "size": f"{self._number('short_size'):g} kB",
                "size_shape": 1.5,
            }
            flows.append({"name": "short", "scheme": "cubic", "arrivals": arrivals, **near})
        if "unresponsive" in self.network:
            constant = digits(self._number("unresponsive") * rate, 3)
            source = {"kind": "poisson", "rate": f"{constant:g} Mbit/s"}
            flows.append({"name": "unresponsive", "source": source, **near})
        if "reverse" in self.network:
            back: Keys = {"from": "d", "to": "s1"} if ends else {"from": "right1", "to": "left1"}
            copies = _copies(self._number("reverse"))
            flows.append({"name": "reverse", "scheme": "cubic", **copies, **self._at(""), **back})
        return flows

    def _consumers(self) -> list[tuple[str, str, str, str]]:
        """Name, node, node of the producer, and parameter of the start of each consumer."""
        names = [
            f"own{number}" if number > 1 else "own" for number in range(1, int(self._number("own", 1)) + 1)
        ]
        late = ["late"] if "latecomer" in self.network else []
        if self._has_ends():
            one, other, far, enter, leave = (
                ("left", "left", "right", "in", "out")
                if self._is_parking_lot()
                else ("s1", "s2", "d", "x", "y")
            )
            numbers = range(1, self._cross() + 1)
            return [
                *((name, one, far, "") for name in names),
                *((name, other, far, "latecomer") for name in late),
                *((f"cross{number}", f"{enter}{number}", f"{leave}{number}", "") for number in numbers),
            ]
        ends = [(f"left{number}", f"right{number}") for number in range(1, len(names) + len(late) + 1)]
        starts = ["" for _ in names] + ["latecomer" for _ in late]
        return [
            (name, left, right, start)
            for name, (left, right), start in zip(names + late, ends, starts, strict=True)
        ]

    def _consumer_flows(self) -> list[Keys]:
        tick: Keys = {"consumer": {"tick": f"{self._number('tick'):g} ms"}} if "tick" in self.network else {}
        return [
            {
                "name": name,
                "network": "ndn",
                "scheme": self.space.scheme,
                "from": node,
                "prefix": self._prefix(name),
                **self._at(start),
                **tick,
            }
            for name, node, _, start in self._consumers()
        ]

    def _events(self) -> list[Keys]:
        events: list[Keys] = []
        if "rate_step" in self.network:
            rate = digits(self._number("rate") * self._number("rate_step"), 3)
            events.append(
                {"at": f"{self.duration_s / 2:g} s", "link": self._first_link(), "rate": f"{rate:g} Mbit/s"}
            )
        if "outage" in self.network:
            at = 0.6 * self.duration_s
            events += [
                {"at": f"{at:g} s", "link": self._first_link(), "up": False},
                {
                    "at": f"{digits(at + self._number('outage'), 4):g} s",
                    "link": self._first_link(),
                    "up": True,
                },
            ]
        return events


def _copies(count: float) -> Keys:
    return {"count": int(count)} if count > 1 else {}
