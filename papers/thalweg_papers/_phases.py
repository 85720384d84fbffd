"""Phases of packets at drop-tail queues: scenarios with drawn delays and starts, and the rows whose verdict they decide.

With equal delays, a sender whose packets arrive just after a queue has drained loses none of them (Floyd and Jacobson, On
Traffic Phase Effects in Packet-Switched Gateways, 1992). A verdict that changes where delays and starts are drawn depends on
the phases of one set of delays.
"""

from __future__ import annotations

import itertools
import math
import random
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from thalweg.event_labels import seconds

from ._base import Experiment, ExperimentKey, Scale, Tree
from ._claims import RESULTS, Claim

FILE = "phases.toml"
"""Name of the file beside ``claims.toml``."""

DELAYS = 0.05
"""Share by which a drawn delay may differ from the delay of the scenario."""
DELAYS_S = 0.001
"""Time by which it may differ at least, in seconds."""
SEEDS = 10
"""Seeds of each case."""
REQUIRED_SHARE = 0.9
"""Share of the seeds for which each check of a confirmed row holds."""

PHASE_DEPENDENT = "phase-dependent"
"""What a row counts as in place of its verdict."""


def drawn(tree: Tree, seed: int) -> Tree:
    """A scenario over listed links, with delays of this seed.

    Each delay is uniform within 5 % of the delay of the scenario, at least within 1 ms, and not below zero; a link has the
    same in all variants of an experiment. Each flow starts within a round trip, where its start is not spread over more.
    """
    tree = deepcopy(tree)
    if tree["topology"]["kind"] != "custom":
        return tree
    links = {link["name"]: link for link in tree["topology"]["links"]}
    for name, link in links.items():
        if "delay" in link:
            usual = seconds(link["delay"])
            width = max(DELAYS * usual, DELAYS_S)
            delay = random.Random(f"{seed} {name}").uniform(max(usual - width, 0.0), usual + width)
            link["delay"] = f"{1e3 * delay:.3f} ms"
    paths: dict[str, list[tuple[str, float]]] = {}
    for link in links.values():
        delay_s = seconds(links.get(link.get("like", ""), link)["delay"])
        for near, far in itertools.permutations(link["ends"]):
            paths.setdefault(near, []).append((far, delay_s))
    for flow in tree["flows"]:
        spread_s = max(_round_trip_s(paths, flow), seconds(flow.get("start_spread", "0 s")))
        flow["start_spread"] = f"{1e3 * spread_s:.3f} ms"
    return tree


def _round_trip_s(paths: Mapping[str, Sequence[tuple[str, float]]], flow: Tree) -> float:
    """Base round-trip time of a flow to its farthest receiver, in seconds: propagation only; 0 without ends."""
    ends = flow.get("to", [])
    at_s = {flow.get("from", ""): 0.0}
    to_visit = list(at_s)
    for node in to_visit:
        for far, delay_s in paths.get(node, ()):
            if at_s[node] + delay_s < at_s.get(far, math.inf):
                at_s[far] = at_s[node] + delay_s
                to_visit.append(far)
    return 2 * max((at_s.get(end, 0.0) for end in ([ends] if isinstance(ends, str) else ends)), default=0.0)


def experiments(
    usual: Mapping[ExperimentKey, Experiment], claims: Iterable[Claim], scale: Scale
) -> dict[ExperimentKey, Experiment]:
    """The experiments on which results of the paper rest, with drawn delays and starts, and with at least `SEEDS` seeds.

    Without those in which nothing is to be drawn, and those whose phases are what a row asks about.
    """
    keys = {
        key
        for claim in claims
        if claim.evidence in RESULTS and claim.measure
        for key in claim.measure.experiments
    }
    found = {}
    for key in usual:
        experiment = usual[key]
        if key not in keys or experiment.measure is not None or experiment.own_phases:
            continue
        if any(drawn(tree, 1) != tree for tree in (experiment.tree(v, scale) for v in experiment.variants)):
            found[key] = replace(experiment, draw=drawn, seeds=max(SEEDS, experiment.seeds))
    return found


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of a row where delays and starts are drawn."""

    usual: str
    """Verdict with the delays of the scenario."""
    verdict: str
    """Verdict with drawn delays and starts."""
    share_of_seeds: float | None
    """The minimum share of seeds for which a check holds; None where nothing is checked."""
    measured: str
    """What the checks measure, as a row prints it."""
    accept: tuple[str, ...]
    """The checks; where the row has others now, this says nothing of it."""

    @property
    def dependent(self) -> bool:
        """Whether the verdict is another, or a confirmed row does not hold for nine seeds of ten."""
        few = self.share_of_seeds is not None and self.share_of_seeds < REQUIRED_SHARE
        return self.verdict != self.usual or (self.usual == "reproduced" and few)

    def record(self) -> dict[str, Any]:
        """The values as a row of a report has them."""
        values = {**msgspec.structs.asdict(self), "dependent": self.dependent}
        del values["accept"]  # the row has its checks
        return values


class Phases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`phases.toml`: the rows of a paper with drawn delays and starts."""

    seeds: int
    """Seeds of each case, from `seed` on."""
    seed: int
    quick: bool
    """Whether runs were shorter, or seeds fewer."""
    rows: dict[str, Row]

    def toml(self, paper: str) -> str:
        """The file."""
        command = f"thalweg reproduce {paper} --jitter" + " --quick" * self.quick
        command += f" --seed {self.seed}" if self.seed != 1 else ""
        lines = [
            f"# Written by `{command}`: rows where delays and starts are drawn for each seed.",
            "# Beside `claims.toml` it says in each report which rows are phase-dependent.",
            f"seeds = {self.seeds}",
            f"seed = {self.seed}",
            f"quick = {str(self.quick).lower()}",
        ]
        for name, row in self.rows.items():
            values = msgspec.structs.asdict(row).items()
            lines += ["", f"[rows.{name}]"]
            lines += [
                f"{key} = {msgspec.json.encode(value).decode()}" for key, value in values if value is not None
            ]
        return "\n".join(lines) + "\n"


def row(usual: Mapping[str, Any], judged: Mapping[str, Any]) -> Row:
    """A row as it was judged with the delays of the scenarios, and with drawn ones."""
    checks = judged["checks"]
    return Row(
        usual=usual["verdict"],
        verdict=judged["verdict"],
        share_of_seeds=min((check["share_of_seeds"] for check in checks), default=None),
        measured="; ".join(check["text"] for check in checks if check["mean"] is not None),
        accept=_accepted(judged),
    )


def _accepted(judged: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(check["check"] for check in judged["checks"])


def mark(claims: Sequence[dict[str, Any]], phases: Phases) -> None:
    """Says in each row what becomes of it with drawn delays and starts, and what it counts as.

    Rows whose checks were changed since are passed over.
    """
    for claim in claims:
        found = phases.rows.get(claim["id"])
        if found is not None and found.accept == _accepted(claim):
            claim["phases"] = found.record()
            if found.dependent:
                claim["standing"] = PHASE_DEPENDENT


def read(path: Path) -> Phases | None:
    """The file beside ``claims.toml``; None without one. Raises ``ValueError`` with its name for what is wrong in it."""
    if not path.exists():
        return None
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
        for values in rows.get("rows", {}).values():
            values.setdefault("share_of_seeds", None)
        return msgspec.convert(rows, Phases)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
