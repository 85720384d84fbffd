"""What is evaluated: a scheme with its parameters, or a transport stack with its controller; and its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .. import catalogue
from .._names import unknown_name
from .networks import Lab, Tree, dumbbell

BACKGROUND = ("cvihis", "ledbat", "ledbat_pp", "tcp_lp")
"""Schemes of the catalogue that are made to yield to others."""

MEDIA = ("gcc", "nada", "scream")
"""Schemes of the catalogue that control the encoder of real-time media."""

STANDARDS = {"cubic": "RFC 9438", "reno": "RFC 5681"}
"""Standards-track congestion controls, which RFC 9743 §5.2 names for comparisons."""

TRAITS = {
    "queue": "it is no queue discipline",
    "endpoint": "it sends no data itself",
    "unicast": "it is not a scheme for one receiver over IP",
    "backlogged": "it sends what the encoder of a video produces, which need not fill a link",
    "transfers": "it sends streams, which have no finite transfers",
    "ecn": "it sends streams, of which the catalogue does not say whether they react to marks",
    "tcp": "its receiver does not acknowledge by TCP",
    "small": "its transport stack needs a path that carries larger packets (QUIC: 1200 B of UDP payload, RFC 9000 §14)",
    "stream": "it is no scheme for streams",
    "equal": "it is made to yield to other traffic",
    "multicast": "it has one receiver",
    "ndn": "it is no scheme for named data",
    "background": "it is not made to yield to other traffic (`--kind background` if it is)",
    "media": "it controls no encoder of real-time media (`--kind media` if it does)",
}
"""Every trait, and the reason why a row does not apply to a scheme without it."""

MEDIA_STACKS = ("str0m",)
"""Transport stacks that carry real-time media; the others are QUIC."""

SEPARATOR = ":"
"""Between a transport stack and its controller, as in `quinn:cubic`."""

ELSEWHERE = {
    "multicast": "it sends to groups, which the multicast battery judges",
    "queue": "it is a queue discipline, which the battery of RFC 7928 judges",
}
"""Why rows for one receiver over IP do not apply to what has these traits."""


@dataclass(frozen=True)
class Subject:
    """A scheme with parameters, a transport stack with its own controller, or a queue discipline."""

    scheme: str
    """Its name in the catalogue, the name of a queue discipline, or `STACK:CONTROLLER`."""
    params: Tree = field(default_factory=dict)
    """Parameters that differ from the default."""
    traits: frozenset[str] = frozenset()
    """What applies to it, of `TRAITS`."""

    @classmethod
    def of(cls, scheme: str, params: Mapping[str, Any] | None = None, kind: str | None = None) -> Subject:
        """The scheme or queue discipline of that name, or the stack of `STACK:CONTROLLER`.

        `kind` adds a trait: background or media. `KeyError` with the nearest name if unknown, `ScenarioError` for a
        controller that the stack lacks, or a stack that the build lacks.
        """
        if SEPARATOR in scheme:
            return cls._of_stack(scheme, params, kind)
        rows = {row["name"]: row for row in catalogue.schemes()}
        if scheme in queue_disciplines():
            return cls(scheme, dict(params or {}), frozenset({"queue"}))
        if scheme not in rows:
            raise KeyError(unknown_name("scheme", scheme, [*rows, *queue_disciplines()]))
        families, transport = set(rows[scheme]["families"]), rows[scheme]["transport"]
        traits = {"endpoint"} if families & {"ip", "multicast", "icn", "ndn"} else set()
        if families & {"multicast", "icn"}:
            traits.add("multicast")
        elif "ip" in families:
            traits |= {"unicast", "backlogged", "small"}
            traits |= {"transfers", "ecn", "tcp"} if transport == "tcp" else {"stream"}
        if "ndn" in families:
            traits.add("ndn")
        if scheme in BACKGROUND:
            traits.add("background")
        if scheme in MEDIA:
            traits.add("media")
        if kind is not None:
            traits.add(kind)
        if "background" not in traits:
            traits.add("equal")
        return cls(scheme, dict(params or {}), frozenset(traits))

    @classmethod
    def _of_stack(cls, name: str, params: Mapping[str, Any] | None, kind: str | None) -> Subject:
        """The transport stack and its controller. Only the core knows which controllers there are: it plans a run."""
        from ..scenario import Scenario

        stack = name.partition(SEPARATOR)[0]
        if stack not in stacks():
            raise KeyError(unknown_name("transport stack", stack, stacks()))
        if params:
            raise KeyError(f"a controller of {stack} has no parameters, such as {next(iter(params))!r}")
        traits = {"endpoint", "unicast"}
        traits |= {"media"} if stack in MEDIA_STACKS else {"backlogged", "transfers", "ecn"}
        if kind is not None:
            traits.add(kind)
        if "background" not in traits:
            traits.add("equal")
        subject = cls(name, {}, frozenset(traits))
        keys: Tree = {"encoder": {}} if "media" in traits else {}
        Scenario.from_tree(dumbbell(Lab(), [subject.flow("x", **keys)])).plan(1)
        return subject

    @property
    def over(self) -> Tree:
        """The keys of a flow that say what sends it."""
        stack, separator, controller = self.scheme.partition(SEPARATOR)
        return {"stack": stack, "controller": controller} if separator else {"scheme": self.scheme}

    @property
    def marked(self) -> Tree:
        """The keys of a flow that asks for marks instead of drops. QUIC stacks do so of themselves."""
        return {} if SEPARATOR in self.scheme else {"tcp": {"ecn": True}}

    @property
    def kind(self) -> str:
        """What it is, in words."""
        words = {
            "tcp": "window or paced window over TCP",
            "stream": "paced stream",
            "multicast": "multicast",
            "ndn": "named data",
            "background": "background",
            "media": "real-time media",
            "queue": "queue discipline",
        }
        found = ["transport stack"] if SEPARATOR in self.scheme else []
        found += [word for trait, word in words.items() if trait in self.traits]
        return ", ".join(found) or "no endpoint"

    @property
    def label(self) -> str:
        """Name and parameters."""
        return " ".join([self.scheme, *(f"{key}={value}" for key, value in self.params.items())])

    def lacks(self, traits: frozenset[str]) -> str | None:
        """Why a row that needs these traits does not apply; None if it does."""
        lacking = next((trait for trait in TRAITS if trait in traits and trait not in self.traits), None)
        if lacking == "unicast":
            return next((ELSEWHERE[trait] for trait in ELSEWHERE if trait in self.traits), TRAITS[lacking])
        return None if lacking is None else TRAITS[lacking]

    def flow(self, name: str, **keys: Any) -> Tree:
        """A flow of this scheme or stack. Copies start within 100 ms of each other, so that they are not in phase."""
        flow: Tree = {
            "name": name,
            **self.over,
            "packet": "1500 B",
            "start_spread": "100 ms",
            **keys,
        }
        if self.params:
            flow["params"] = dict(self.params)
        return flow

    def queue(self) -> str | Tree:
        """The key `queue` of a link with this discipline."""
        return {"kind": self.scheme, **self.params} if self.params else self.scheme

    def group(self, name: str, source: str, to: list[Any], **keys: Any) -> Tree:
        """A flow of this scheme to a group; by name if the scheme has a part in routers."""
        flow = self.flow(name, **{"from": source, "to": to, "packet": "1000 B", **keys})
        row = next(row for row in catalogue.schemes() if row["name"] == self.scheme)
        if row["router"] or "multicast" not in row["families"]:
            flow["network"] = "icn"
        return flow

    def consumer(self, name: str, node: str, prefix: str, **keys: Any) -> Tree:
        """A consumer of named data with this scheme."""
        flow = self.flow(name, network="ndn", prefix=prefix, **{"from": node, "start_spread": "1 s", **keys})
        del flow["packet"]
        return flow

    def forwarders(self, **more: Any) -> Tree:
        """The table [ndn] with the scheme's parts in forwarders."""
        table: Tree = dict(more)
        for part in ("strategy", "link"):
            if self.scheme in _parts(part):
                table[part] = self.scheme
                if self.params:
                    table[f"{part}_params"] = dict(self.params)
        return table


@cache
def stacks() -> tuple[str, ...]:
    """Transport stacks that the key `stack` of a flow takes; this build may lack some."""
    return tuple(catalogue.schema()["$defs"]["Flow"]["properties"]["stack"]["enum"])


@cache
def queue_disciplines() -> tuple[str, ...]:
    """Names that the key `queue` of a link takes."""
    kinds = catalogue.schema()["$defs"]["Link"]["properties"]["queue"]["anyOf"]
    return tuple(next(kind["enum"] for kind in kinds if "enum" in kind))


@cache
def _parts(part: str) -> frozenset[str]:
    """Names that the key `part` of [ndn] takes."""
    return frozenset(catalogue.schema()["$defs"]["Ndn"]["properties"][part]["enum"])
