"""The scenario of a network."""

from __future__ import annotations

from dataclasses import dataclass

from .. import catalogue
from .._part import Keys
from .bounds import Bound, Network, digits

HOST_DELAY_MS = 1.0
"""Propagation delay of each of the two access links."""


@dataclass(frozen=True)
class Scenario:
    """One scenario that is made of a network."""

    scheme: str
    family: str
    """ip or ndn."""
    bounds: tuple[Bound, ...]
    """Parameters of networks for this scheme."""
    network: Network
    duration_s: float

    def tree(self) -> Keys:
        """All keys but `record` and `expect`."""
        named_data = self.family == "ndn"
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
                keys["sdn"] = {"app": self.scheme, "link": link}
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
        scheme, known = self.scheme, catalogue.schema()["$defs"]["Ndn"]["properties"]
        params = {
            bound.part: f"{self._number(bound.name):g} ms"
            if bound.unit == "ms"
            else int(self._number(bound.name))
            for bound in self.bounds
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
            pairs = {"pairs": len(self._consumers())} if self.family == "ndn" else {}
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
        scheme = self.scheme
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
                "scheme": self.scheme,
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
