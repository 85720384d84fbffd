"""Runs the batteries that apply to a scheme, and decides their rows."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import cluster, invariants
from ..jobs import Control, Job, JobProgress, SampleFile, digest
from ..jobs import run as run_jobs
from ..scenario import Scenario
from .networks import Lab, Tree
from .registry import batteries
from .rows import NOT_APPLICABLE, VERDICTS, Battery, Comparison, Outcome, Row, Sample, decide
from .subject import Subject

if TYPE_CHECKING:
    from distributed import Client

    from ..stats import Estimate

REFERENCES = ("cubic", "reno", "bbr")
"""Reference schemes where none are named: standards-track, and the most deployed of the others."""

SEEDS, QUICK_SEEDS = 6, 3
"""Runs per scenario."""

VIOLATED = "violated_invariants"
"""What the measurements of a run have besides if it breaks invariants: one sentence each."""

MANY_RECEIVERS = 64
"""Of larger groups the values of single receivers are not kept."""

MANY_FLOWS = 64
"""Of more flows those are not kept that arrived at random: `flow.NAME.NUMBER`."""

COPY = re.compile(r"flow\.[^.]+\.\d+\.")
"""Keys of a copy of a flow."""

MANY_LINKS = 256
"""Of more links those are not kept that lead to a receiver: `link.mNUMBER`."""

RECEIVER_LINK = re.compile(r"link\.m\d+\.")
"""Keys of a link to a receiver."""

FORMAT = 2
"""Version of the record of an evaluation."""


@dataclass(frozen=True)
class Card:
    """A report card: the decided rows of every battery."""

    subject: Subject
    against: tuple[str, ...]
    quick: bool
    seed: int
    seeds: int
    runs: int
    """Different runs that the card rests on."""
    cpu_s: float
    """Processor time of the runs that this call simulated; runs of earlier calls are not simulated again."""
    outcomes: tuple[tuple[Battery, tuple[Outcome, ...]], ...]
    only: tuple[str, ...] | None = None
    """The rows and batteries that were chosen; None for all."""

    def counts(self) -> dict[str, int]:
        """Number of rows per verdict."""
        verdicts = [outcome.verdict for _, outcomes in self.outcomes for outcome in outcomes]
        return {verdict: verdicts.count(verdict) for verdict in VERDICTS}

    def verdicts(self) -> dict[str, str]:
        """The verdict of each row, by `BATTERY/ROW`."""
        return {
            f"{battery.id}/{outcome.row.id}": outcome.verdict
            for battery, outcomes in self.outcomes
            for outcome in outcomes
        }

    def as_dict(self) -> dict[str, Any]:
        """The record that is written as JSON."""
        from .. import __version__

        return {
            "format": FORMAT,
            "version": __version__,
            "scheme": self.subject.scheme,
            "params": self.subject.params,
            "kind": self.subject.kind,
            "against": list(self.against),
            "quick": self.quick,
            "seed": self.seed,
            "seeds": self.seeds,
            "runs": self.runs,
            "cpu_s": round(self.cpu_s, 3),
            "only": None if self.only is None else list(self.only),
            "counts": self.counts(),
            "batteries": [
                {
                    "id": battery.id,
                    "title": battery.title,
                    "about": battery.about,
                    "rows": [row_record(outcome) for outcome in outcomes],
                }
                for battery, outcomes in self.outcomes
            ],
        }


def row_record(outcome: Outcome) -> dict[str, Any]:
    """A decided row as it is written as JSON."""
    row = outcome.row
    return {
        "id": row.id,
        "title": row.title,
        "source": row.source,
        "what": row.what,
        "unit": row.unit,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "band": outcome.band,
        "decision": outcome.decision,
        "unfinished": dict(outcome.unfinished),
        "measured": _estimate(outcome.measured),
        "references": {name: _estimate(found) for name, found in outcome.references.items()},
        "counting": list(outcome.counting),
        "comparison": _comparison(outcome.comparison),
    }


def _comparison(found: Comparison | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "reference": found.reference,
        "worst": found.worst,
        "relation": found.relation,
        "difference": _estimate(found.difference),
        "limit": found.limit,
    }


def _estimate(found: Estimate | None) -> dict[str, Any] | None:
    if found is None or found.n == 0:
        return None
    low, high = found.interval or (None, None)
    return {"mean": found.mean, "low": low, "high": high, "n": found.n}


@dataclass(frozen=True)
class _Run:
    """One run of a row: the actor is the scheme, or a reference in its place."""

    battery: Battery
    row: Row
    actor: str | None
    """Name of the reference; None for the scheme itself."""
    case: str
    seed: int
    key: str
    """Equal for equal runs."""


def evaluate(
    scheme: str | Subject,
    *,
    params: Mapping[str, Any] | None = None,
    kind: str | None = None,
    against: Sequence[str] = REFERENCES,
    rows: Sequence[str] | None = None,
    quick: bool = False,
    jobs: int = 1,
    seed: int = 1,
    cache: str | Path | None = None,
    progress: Callable[[int, int, str], object] | None = None,
    on: str | Client | None = None,
) -> Card:
    """The report card of a scheme, or of a transport stack with its own controller: `STACK:CONTROLLER`.

    `against` names the reference schemes; `rows` only these, by `BATTERY` or `BATTERY/ROW`; `kind` is background or media
    for a scheme of that kind whose name the catalogue does not have as such. Runs whose measurements are in the folder
    `cache` are not simulated again. With `on`, a cluster runs them: see `thalweg.cluster`. Ctrl-C raises `Interrupted`,
    and the same call continues.

    Raises `KeyError` for an unknown scheme, reference or row, and `ScenarioError` for parameters that the scheme does not
    have, or a controller that the stack does not have.
    """
    subject = scheme if isinstance(scheme, Subject) else Subject.of(scheme, params, kind)
    for name in against:
        Subject.of(name)
    lab = Lab.of(subject.traits, quick=quick)
    seeds = [seed + number for number in range(QUICK_SEEDS if quick else SEEDS)]
    chosen = _choose(rows)
    cases: dict[str, tuple[Tree, int]] = {}
    runs: list[_Run] = []
    for battery, row in chosen:
        if row.reason(subject) is not None:
            continue
        for actor, acting in _actors(battery, row, subject, against).items():
            assert row.cases is not None
            for case, tree in row.cases(acting, lab).items():
                for number in seeds:
                    key = digest(json.dumps(tree, sort_keys=True), str(number), invariants.own_digest())
                    cases[key] = (tree, number)
                    runs.append(_Run(battery, row, actor or None, case, number, key))
    samples, cpu_s = _measure(cases, cache, jobs, progress, on)
    found: dict[tuple[str, str, str | None, int], dict[str, Sample]] = {}
    for run in runs:
        found.setdefault((run.battery.id, run.row.id, run.actor, run.seed), {})[run.case] = samples[run.key]
    outcomes: dict[str, tuple[Battery, list[Outcome]]] = {}
    for battery, row in chosen:
        reason = row.reason(subject)
        if reason is not None:
            outcome = Outcome(row, NOT_APPLICABLE, f"not applicable, because {reason[0].lower()}{reason[1:]}")
        else:
            assert row.value is not None
            measured = {
                actor or None: [
                    row.value(found[battery.id, row.id, actor or None, number], lab) for number in seeds
                ]
                for actor in _actors(battery, row, subject, against)
            }
            outcome = decide(
                row, measured[None], {name: values for name, values in measured.items() if name is not None}
            )
        outcomes.setdefault(battery.id, (battery, []))[1].append(outcome)
    return Card(
        subject,
        tuple(against),
        quick,
        seed,
        len(seeds),
        len(cases),
        cpu_s,
        tuple((battery, tuple(listed)) for battery, listed in outcomes.values()),
        None if rows is None else tuple(rows),
    )


def _choose(rows: Sequence[str] | None) -> list[tuple[Battery, Row]]:
    """The rows to decide, in order."""
    every = [(battery, row) for battery in batteries() for row in battery.rows]
    if rows is None:
        return every
    known = {name for battery, row in every for name in (battery.id, f"{battery.id}/{row.id}")}
    for name in rows:
        if name not in known:
            from .._names import unknown_name

            raise KeyError(unknown_name("row", name, sorted(known)))
    return [pair for pair in every if {pair[0].id, f"{pair[0].id}/{pair[1].id}"} & set(rows)]


def _actors(battery: Battery, row: Row, subject: Subject, against: Sequence[str]) -> dict[str, Subject]:
    """The scheme, by the empty name, and those references that the row's band compares it with."""
    from .rows import NotWorse

    actors = {"": subject}
    if isinstance(row.band, NotWorse):
        names = battery.references or tuple(against)
        actors |= {
            name: reference for name in names if not (reference := Subject.of(name)).lacks(_needed(row))
        }
    return actors


def _needed(row: Row) -> frozenset[str]:
    """Traits without which a reference cannot take the place of the scheme: how it is judged is no matter."""
    return row.traits - {"background", "media", "stream", "equal"}


def _measure(
    cases: Mapping[str, tuple[Tree, int]],
    cache: str | Path | None,
    jobs: int,
    progress: Callable[[int, int, str], object] | None,
    on: str | Client | None,
) -> tuple[dict[str, Sample], float]:
    """Runs each scenario once; samples by key, and the processor time that it took.

    A plan is made when its run begins: plans of all runs together would take gigabytes.
    """
    if on is not None:
        cluster.check_schemes(tree for tree, _ in cases.values())
    files = {} if cache is None else {key: SampleFile(Path(cache) / f"{key}.npz") for key in cases}
    measured = {key for key, file in files.items() if file.path.exists()}
    listed = [
        Job(f"{tree['title']}, seed {seed}", partial(_simulate, tree, seed), files.get(key))
        for key, (tree, seed) in cases.items()
    ]

    def report(at: JobProgress) -> None:
        if progress is not None:
            progress(at.done, at.total, f"waiting for {at.waiting_for}" if at.waiting_for else at.label)

    outputs = dict(zip(cases, run_jobs(listed, at_once=jobs, progress=report, on=on), strict=True))
    invariants.warn(
        (job.label, output.get(VIOLATED, ())) for job, output in zip(listed, outputs.values(), strict=True)
    )
    spent = math.fsum(output["cpu_s"] for key, output in outputs.items() if key not in measured)
    return {key: _sample(output) for key, output in outputs.items()}, spent


def _simulate(tree: Tree, seed: int, control: Control) -> dict[str, Any] | None:
    """The measurements of a run, and the processor time that it took."""
    import numpy

    began = time.thread_time()
    result = Scenario.from_tree(tree).plan(seed).carry_out(control)
    if not result.complete:
        return None
    violated = result.violated_invariants
    values = result.values
    if sum(key.startswith("receiver.") for key in values) > MANY_RECEIVERS * 20:
        values = {key: value for key, value in values.items() if not key.startswith("receiver.")}
    if sum(key.startswith("flow.") and key.endswith(".sent_packets") for key in values) > MANY_FLOWS:
        values = {key: value for key, value in values.items() if not COPY.match(key)}
    if sum(key.startswith("link.") and key.endswith(".utilisation") for key in values) > MANY_LINKS:
        values = {key: value for key, value in values.items() if not RECEIVER_LINK.match(key)}
    output: dict[str, Any] = {"values": values, "trace_hash": result.trace_hash}
    frame = result.series
    for (series, subject), rows in frame.group_by("series", "subject", maintain_order=True):
        output[f"{series}@{subject}"] = numpy.stack([rows["time_s"].to_numpy(), rows["value"].to_numpy()])
    if violated:
        output[VIOLATED] = violated
    output["cpu_s"] = time.thread_time() - began
    return output


def _sample(output: Mapping[str, Any]) -> Sample:
    # the same keys in a thousand runs
    values = {sys.intern(key): value for key, value in output["values"].items()}
    return Sample(values, {name: (found[0], found[1]) for name, found in output.items() if "@" in name})


def default_jobs() -> int:
    """One per core."""
    return os.cpu_count() or 1


__all__ = ["Card", "default_jobs", "evaluate"]
