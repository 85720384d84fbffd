"""A counterexample as people read it: a sentence, a scenario of a few lines with `[expect]`, and a figure."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._native import Relation
from .._part import Keys
from ..scenario import Scenario
from . import properties
from .bounds import Network, digits
from .emulated import Emulate, Emulated, emulate
from .evaluation import Evaluator
from .properties import Property, is_own, shares
from .scenario import HOST_DELAY_MS
from .shrink import SEEDS, Shrunk
from .space import Space

if TYPE_CHECKING:
    from ..result import Result

SHORT = 120
"""Maximum number of characters of a list of tables on one line."""

WIDTH = 150
"""Maximum number of characters of a line of a comment."""


@dataclass(frozen=True)
class Finding:
    """A network that has a property with several seeds."""

    space: Space
    wanted: Property
    network: Network
    duration_s: float
    values: tuple[float | None, ...]
    """The measured value with each seed."""
    seeds: tuple[int, ...] = SEEDS
    emulated: Emulated | None = None
    """The result in emulation, if that was asked for."""

    @classmethod
    def of(cls, evaluator: Evaluator, shrunk: Shrunk, seeds: Sequence[int] = SEEDS) -> Finding:
        """What a search and a reduction led to; measures it with each seed."""
        row = evaluator.measure([shrunk.network], seeds, shrunk.duration_s)[0]
        values = tuple(measured.value for measured in row)
        return cls(evaluator.space, evaluator.wanted, shrunk.network, shrunk.duration_s, values, tuple(seeds))

    @cached_property
    def result(self) -> Result | None:
        """The run with the first seed; None if it panics."""
        if self.wanted.name == "panic":
            return None
        return Scenario.from_tree(self.tree).run(seed=self.seeds[0])

    def in_emulation(self, run: Emulate | None = None) -> Finding:
        """The finding with its result in emulation with the first seed, which takes as long as the run."""
        emulated = emulate(self.wanted, self.network, self.tree, self.seeds[0], run)
        return replace(self, emulated=emulated)

    @property
    def tree(self) -> Keys:
        """The scenario without title and expectation."""
        record = self.wanted.record or {"every": "500 ms", "series": [self.wanted.series]}
        return self.space.scenario(self.network, self.duration_s, record)

    @property
    def title(self) -> str:
        """`ledbat: starve`, for files and tables."""
        return f"{self.space.scheme}: {self.wanted.name}"

    @cached_property
    def sentence(self) -> str:
        """What happens, in one sentence."""
        return f"{self._where()}, {self._what()}."

    def _where(self) -> str:
        network, ratio = self.network, float(self.network.get("rtt_ratio", 1.0))
        link = (
            f"a link as `{network['trace']}`" if "trace" in network else f"{float(network['rate']):g} Mbit/s"
        )
        rtt_ms = 2 * (float(network["delay"]) + 2 * HOST_DELAY_MS)
        words = [f"a round trip of {digits(rtt_ms, 3):g} ms", f"a buffer of {float(network['buffer']):g} BDP"]
        if ratio != 1.0:
            words[0] += f" ({digits(rtt_ms * ratio, 3):g} ms for the others)"
        more: dict[str, Callable[[Any], str]] = {
            "queue": lambda value: f"the queue discipline {value}",
            "loss": lambda value: f"{100 * value:g} % of random loss",
            "jitter": lambda value: f"{value:g} ms of jitter",
            "ack_aggregation": lambda value: f"acknowledgements every {value:g} ms",
            "rate_step": lambda value: f"a rate that becomes {value:g} times as high",
            "receivers": lambda value: f"groups of {value:g} receivers",
            "receiver_loss": lambda value: f"{100 * value:g} % of random loss at one of them",
            "outage": lambda value: f"an outage of {value:g} s",
            "short_flows": lambda value: f"short flows with {100 * value:g} % of the rate",
            "unresponsive": lambda value: f"an unresponsive source of {100 * value:g} % of the rate",
            "reverse": lambda value: f"{value:g} CUBIC flow{'s' * (value > 1)} the other way",
            "tick": lambda value: f"clocks of {value:g} ms",
            "router_clock": lambda value: f"clocks of {value:g} ms in routers",
            "bucket": lambda value: f"buckets of {value:g} packets",
            "store": lambda value: f"content stores of {value:g} packets",
            "names": lambda _: "one name for all",
            "routers": lambda value: f"{value:g} routers in a chain",
            "cross": lambda value: f"{value:g} consumer{'s' * (value > 1)} across one link",
            "controller": lambda value: f"an SDN controller at {value:g} ms",
            "detour": lambda value: f"a second way of {value:g} times the delay",
        }
        words += [text(network[name]) for name, text in more.items() if name in network]
        return f"On {link} with {', '.join(words[:-1])} and {words[-1]}"

    def _flow(self, name: str) -> str:
        """A flow in a sentence."""
        first = name.partition(".")[0]
        if first.startswith("cross"):
            return f"a {self.space.scheme} flow across one link"
        if first == "late":
            return f"the {self.space.scheme} flow that starts later"
        if first == "rival":
            return f"a {self.network['rival_scheme']} flow"
        return f"a {self.space.scheme} flow"

    def _what(self) -> str:
        result, scheme = self.result, self.space.scheme
        worst = self.worst
        if result is None:
            return f"the implementation of {scheme} panics"
        if self.wanted.name == "starve":
            goodputs = shares(result)
            lowest = self._lowest
            highest = max(goodputs, key=lambda name: goodputs[name])
            return (
                f"{self._flow(lowest)} gets {_mbps(goodputs[lowest])} and {self._flow(highest)} "
                f"{_mbps(goodputs[highest])}: at most {100 * worst:.2g} % of an equal share, over {len(self.seeds)} seeds"
            )
        values = {
            "unfair": f"{scheme} flows share by a Jain's index of at most {worst:.2f}",
            "delay": f"{scheme} keeps a 95th percentile of at least {1e3 * worst:.0f} ms of queueing delay",
            "loss": f"queues drop at least {100 * worst:.2g} % of the packets of {scheme}",
            "policed": f"routers drop at least {100 * worst:.2g} % of the Interests of {scheme} by their own rule",
            "collapse": f"{scheme} uses at most {100 * worst:.2g} % of the link",
            "stall": f"nothing arrives from a {scheme} flow for at least {worst:.2g} s",
            "oscillate": f"the rate of a {scheme} flow has a coefficient of variation of at least {worst:.2f}",
        }
        return f"{values[self.wanted.name]}, over {len(self.seeds)} seeds"

    @property
    def worst(self) -> float:
        """The measured value that is nearest to the threshold."""
        known = [value for value in self.values if value is not None]
        return (min(known) if self.wanted.above else max(known)) if known else math.nan

    @cached_property
    def _lowest(self) -> str:
        assert self.result is not None, "a run that panics has no goodputs"
        goodputs = shares(self.result)
        return min(goodputs, key=lambda name: goodputs[name])

    @cached_property
    def expect(self) -> dict[str, str]:
        """Relations that the run with the first seed meets because it has the property."""
        result = self.result
        if result is None:
            return {}
        own = [name for name in result.flows["flow"] if is_own(name)]
        relation = f"{'>=' if self.wanted.above else '<='} "
        rows: list[tuple[str, str]] = []
        if self.wanted.name == "starve":
            goodputs = shares(result)
            bound = self.wanted.threshold * math.fsum(goodputs.values()) / len(goodputs)
            rows = [(f"flow.{self._lowest}.active_goodput", relation + _quantity(bound, up=False))]
        elif self.wanted.name == "unfair":
            rows = [("flows.fairness", f"{relation}{self.wanted.threshold:g}")]
        elif self.wanted.name == "delay":
            rows = [(f"flow.{name}.queueing_delay_p95", f"{relation}150 ms") for name in own]
        elif self.wanted.name == "loss":
            rows = [(f"flow.{name}.loss_ratio", f"{relation}{self.wanted.threshold:g}") for name in own]
        elif self.wanted.name == "policed":
            sent = sum(result[f"flow.{name}.sent_packets"] or 0 for name in own)
            nodes = [row["node"] for row in result.nodes.to_dicts() if row["policed"]]
            rows = [
                (f"node.{name}.policed", f"{relation}{self.wanted.threshold * sent:.0f}") for name in nodes
            ]
        elif self.wanted.name == "oscillate":
            rows = [(f"flow.{name}.cov", f"{relation}{self.wanted.threshold:g}") for name in own]
        elif self.wanted.name == "collapse":
            used = properties.use(result, self.network) or 0.0
            total = math.fsum(shares(result).values())
            bound = total * self.wanted.threshold / used if used else 0.0
            rows = [("flows.goodput", relation + _quantity(bound, up=True))]
        met = [row for row in rows if _holds(result, *row)][:1]
        if not met:
            # no key of a result says it: the lowest goodput of its flows must stay as low
            lowest = min(own, key=lambda name: result[f"flow.{name}.active_goodput"] or 0.0)
            met = [
                (
                    f"flow.{lowest}.active_goodput",
                    "<= " + _quantity((result[f"flow.{lowest}.active_goodput"] or 0.0) * 1.01, up=True),
                )
            ]
        return dict(met)

    @property
    def toml(self) -> str:
        """The scenario: one line per table where that is short enough, with what happens as a comment."""
        tree = {"title": self.title, **self.tree}
        if self.expect:
            tree["expect"] = self.expect
        sentences = [self.sentence]
        if self.emulated is not None:
            sentences.append(self.emulated.words(self.wanted.unit))
        comment = "\n".join(f"# {line}" for line in _wrap(" ".join(sentences)))
        return "\n".join([comment, *(f"{key} = {_lines(value)}" for key, value in tree.items())]) + "\n"

    def save(self, folder: Path, *, figure: bool = True) -> dict[str, Path]:
        """Writes `PROPERTY.toml`, and `PROPERTY.svg` with the course of the run."""
        folder.mkdir(parents=True, exist_ok=True)
        files = {"scenario": folder / f"{self.wanted.name}.toml"}
        files["scenario"].write_text(self.toml, encoding="utf-8")
        if figure and self.result is not None:
            files["figure"] = folder / f"{self.wanted.name}.svg"
            series = self.wanted.series
            if series not in set(self.result.series["series"]):
                series = str(self.wanted.record["series"][0])
            drawn = self.result.plot(series, labels=_schemes_of_lines(self.result, series))
            drawn.suptitle(self.title, x=0.01, ha="left", fontweight="bold")
            drawn.savefig(files["figure"])
        return files

    def as_json(self) -> dict[str, Any]:
        """The finding for programs."""
        return {
            "property": self.wanted.name,
            "sentence": self.sentence,
            "network": dict(self.network),
            "duration_s": self.duration_s,
            "seeds": list(self.seeds),
            "values": list(self.values),
            "threshold": self.wanted.threshold,
            "lines": self.lines,
            "emulation": None if self.emulated is None else self.emulated.as_json(),
        }

    @property
    def lines(self) -> int:
        """Lines of the scenario without comments."""
        return sum(1 for line in self.toml.splitlines() if not line.startswith("#"))


def _schemes_of_lines(result: Result, series: str) -> dict[str, str]:
    """Labels of the lines of a series that name the scheme of their flow: `rival.1 (cubic)`."""
    from ..plots import subject_name

    schemes = dict(zip(result.flows["flow"], result.flows["scheme"], strict=True))
    subjects = result.series.filter(result.series["series"] == series)["subject"].unique()
    flows = {subject: subject_name(subject).partition("@")[0] for subject in subjects}
    return {subject: f"{flow} ({schemes[flow]})" for subject, flow in flows.items() if schemes.get(flow)}


def _holds(result: Result, key: str, relation: str) -> bool:
    """Whether a result meets an expectation; false if it lacks the key."""
    value = result.values.get(key)
    return value is not None and Relation(relation).holds(value)


def _mbps(rate: float) -> str:
    """`0.31 Mbit/s`."""
    return f"{rate / 1e6:.2g} Mbit/s" if rate < 1e7 else f"{rate / 1e6:.0f} Mbit/s"


def _quantity(rate: float, *, up: bool) -> str:
    """A rate with three digits, rounded down, or up."""
    if rate <= 0:
        return "0 bit/s"
    step = 10.0 ** (math.floor(math.log10(rate)) - 2)
    rounded = (math.ceil if up else math.floor)(rate / step) * step
    return f"{rounded / 1e6:.6g} Mbit/s"


def _wrap(sentence: str) -> list[str]:
    import textwrap

    return textwrap.wrap(sentence, WIDTH - 2)


def _lines(value: Any) -> str:
    """A value in TOML; an entry of a list of tables has a line of its own if one line would be too long for them all."""
    if len(_inline(value)) <= SHORT:
        return _inline(value)
    if isinstance(value, list) and len(value) > 1 and isinstance(value[0], dict):
        return "[\n" + "".join(f"  {_inline(entry)},\n" for entry in value) + "]"
    if isinstance(value, Mapping) and isinstance(value.get("links"), list):
        rest = {key: kept for key, kept in value.items() if key != "links"}
        return f"{_inline(rest)[:-2]}, links = {_lines(value['links'])} }}"
    return _inline(value)


def _inline(value: Any) -> str:
    """A value in TOML on one line. Strings are escaped as in JSON, which TOML shares."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_inline(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(entry) for entry in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key)
