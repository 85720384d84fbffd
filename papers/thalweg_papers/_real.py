"""Runs a study's scenarios in real time beside their simulation: which, several at a time, each kept for the next time."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from thalweg import Scenario
from thalweg.errors import EmulationError
from thalweg.jobs import Control, Job, SampleFile, Standing, digest
from thalweg.jobs import run as run_jobs

from . import _claims, _judge, _runner
from ._base import (
    Emulated,
    Experiment,
    ExperimentKey,
    Measured,
    Pair,
    Reproduction,
    Sample,
    Samples,
    Scale,
    Study,
    Tree,
)

Progress = Callable[[float, float, str], object]
"""Seconds of runs that are done, seconds of all runs, and words."""

SPIN_US = 0
"""Runs that share a machine sleep rather than spin: half the processor time, and some ten microseconds later."""
TRIES = 2
"""A run that was not valid is run once more."""
WATCHED_S = 0.5


@dataclass
class RealRun:
    """One emulated run."""

    experiment: Experiment
    variant: str
    seed: int
    tries: int = 0

    @property
    def tree(self) -> Tree:
        """Its scenario."""
        return self.experiment.tree(self.variant, Scale())

    @property
    def label(self) -> str:
        """What a progress bar says."""
        return f"{self.experiment.name} {self.variant}"

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return duration_s(self.tree)

    @property
    def key(self) -> str:
        """Digest of everything that it depends on and can be known: the kernel, too."""
        what = [self.experiment.name, self.variant, self.seed, self.tree, platform.release()]
        return digest(*_runner.code_of(self.experiment.extract), json.dumps(what, sort_keys=True))

    def carry_out(self, control: Control) -> Sample | None:
        """Emulates it in this thread; `control` may stop it from another."""
        self.tries += 1
        plan = Scenario.from_tree(self.tree).plan(self.seed)
        try:
            result = plan.carry_out_in_real_time(control, spin_us=SPIN_US, urgent=True)
        except EmulationError as error:
            # such as a congestion control that this kernel has not: trying again does not help
            self.tries = TRIES
            return {"emulation": {"valid": False, "faults": [str(error)], "notes": [], **self._about()}}
        if not result.complete:
            return None
        sample = self.experiment.extract(result, self.variant, Scale())
        return {
            **sample,
            "trace_hash": result.trace_hash,
            "packet_hops": float(result.packet_hops),
            "emulation": {**result.record["emulation"], **self._about()},
        }

    def job(self, out: Path | None) -> Job[Sample]:
        """The same as a job, which is tried again where it was not valid."""
        return Job(
            self.label,
            self.carry_out,
            None if out is None else SampleFile(out / "emulated" / f"{self.key}.npz", holds=_valid),
            seconds=self.seconds,
            again=lambda sample: not _valid(sample) and self.tries < TRIES,
        )

    def _about(self) -> dict[str, Any]:
        return {"tries": self.tries, "kernel": platform.release()}


def duration_s(tree: Tree) -> float:
    """The length that a tree says, which is in seconds."""
    number, unit = str(tree["duration"]).split()
    if unit != "s":
        raise ValueError(f"durations of papers are in seconds, not in {unit}")
    return float(number)


def meets_reality(tree: Tree) -> bool:
    """Whether anything in it is not simulated. Otherwise the emulation is the simulation, hash and all."""
    return any(flow.get(key) for flow in tree["flows"] for key in ("kernel", "commands", "live"))


def live_flows() -> bool:
    """Whether flows of our own schemes can run over real sockets here."""
    from thalweg import schema

    return "live" in schema()["$defs"]["Flow"]["properties"]


def within(runs: Sequence[RealRun], minutes: float, at_once: int) -> list[RealRun]:
    """As many runs, in order, as are done in time when `at_once` of them go on together; one at least."""
    lanes = [0.0] * at_once
    taken: list[RealRun] = []
    for run in runs:
        lane = lanes.index(min(lanes))
        if lanes[lane] + run.seconds <= 60 * minutes or not taken:
            lanes[lane] += run.seconds
            taken.append(run)
    return taken


def run_all(
    runs: Sequence[RealRun], *, at_once: int, out: Path | None, progress: Progress | None
) -> list[tuple[RealRun, Sample]]:
    """Samples in the order of `runs`. Valid ones found in `out` are not run again; what is not valid is tried twice.

    Ctrl-C ends all that go on, and leaves nothing behind but what is kept in `out`.
    """

    def tell(at: Standing) -> None:
        if progress is not None and at.total_s > 0:
            words = f"{at.done} of {at.total} runs, {at.going} going on"
            progress(at.now_s, at.total_s, words)

    samples = run_jobs([run.job(out) for run in runs], at_once=at_once, progress=tell, every_s=WATCHED_S)
    return list(zip(runs, samples, strict=True))


def _valid(sample: Sample) -> bool:
    return bool(sample["emulation"]["valid"])


# --- a study from end to end -----------------------------------------------------------------------------------------


def carry_out(
    study: Study,
    *,
    minutes: float | None,
    at_once: int,
    seed: int,
    out: Path | None,
    progress: Progress | None,
) -> Reproduction:
    """See `thalweg_papers.emulate`."""
    if at_once < 1:
        raise ValueError("at_once must be at least 1")
    assert study.emulated is not None
    part = study.emulated()
    experiments = part.experiments()
    claims = _runner.checked(part.claims(), experiments)
    wanted = planned(part, experiments, seed)
    real = [run for run in wanted if meets_reality(run.tree)]
    runs = real if minutes is None else within(real, minutes, at_once)
    cases = {(run.experiment.name, run.variant): run.experiment for run in runs}
    simulated = _simulated(cases, seed, out, progress)
    emulated = run_all(runs, at_once=at_once, out=out, progress=progress)

    valid = [(run, sample) for run, sample in emulated if sample["emulation"]["valid"]]
    pair = Pair(simulated, _collected(valid))
    verdicts = side_by_side(claims, pair, emulated)
    figures, tables = _runner.draw_all((spec.id, partial(spec.draw, pair)) for spec in part.figure_specs())
    return Reproduction(
        paper=study.name,
        title=study.title,
        claims=verdicts,
        figures=figures,
        tables=tables,
        runs=[_row(run, sample) for run, sample in emulated],
        choices=dict(part.choices()),
        notes=_notes(runs, wanted, real, emulated, minutes),
        quick=minutes is not None,
        seed=seed,
        of_paper=study.of_paper,
        emulated=True,
    )


def planned(part: Emulated, experiments: Mapping[ExperimentKey, Experiment], seed: int) -> list[RealRun]:
    """All runs: first those that tell most, then the others; a case's second run comes after the first of all."""
    first = list(part.cases())
    cases = first + [
        (name, variant)
        for name, experiment in experiments.items()
        for variant in experiment.variants
        if (name, variant) not in set(first)
    ]
    return [
        RealRun(experiments[name], variant, seed + number)
        for number in range(part.runs)
        for name, variant in cases
    ]


def _simulated(
    cases: Mapping[tuple[ExperimentKey, str], Experiment],
    seed: int,
    out: Path | None,
    progress: Progress | None,
) -> Samples:
    """The same cases, simulated; the progress of that is not time that passes, so it is only named."""
    runs = [
        _runner.Run(experiment, variant, seed + number, Scale())
        for (_, variant), experiment in cases.items()
        for number in range(experiment.seeds)
    ]

    def say(ready: int, total: int, _what: str) -> None:
        if progress is not None:
            progress(0.0, 1.0, f"simulating first: {ready} of {total} runs")

    return _runner.collect(_runner.run_all(runs, jobs=os.cpu_count() or 1, out=out, progress=say))


def _collected(runs: Sequence[tuple[RealRun, Sample]]) -> Samples:
    by_case: dict[tuple[ExperimentKey, str], list[Sample]] = {}
    for run, sample in runs:
        by_case.setdefault((run.experiment.name, run.variant), []).append(sample)
    return Samples(by_case)


def side_by_side(
    claims: Sequence[_claims.Claim], pair: Pair, emulated: Sequence[tuple[RealRun, Sample]]
) -> list[dict[str, Any]]:
    """The claims that what was run can decide, judged by the emulation; beside them the simulation of the same cases."""
    rows = []
    both = {case: pair.simulated.by_case[case] for case in pair.emulated.by_case}
    for claim in claims:
        measure = claim.measure
        if measure is None:
            continue
        tried = [sample for run, sample in emulated if run.experiment.name in measure.experiments]
        if not tried:
            continue
        valid = [sample for sample in tried if sample["emulation"]["valid"]]
        counts = {"valid_runs": len(valid), "all_runs": len(tried)}
        found: Measured = measure(pair.emulated)
        if not found and not measure(_collected(emulated)):
            # it needs tests that were not run
            continue
        if not found:
            why = "too few of the runs that it needs were valid"
            rows.append(
                {
                    **_judge.not_testable(replace(claim, reason=why)),
                    "simulated": None,
                    **counts,
                },
            )
            continue
        beside = _judge.judge(claim, measure(Samples(both)), quick=False)
        kept = ("measured", "unit", "ci95", "n", "verdict", "quantities")
        rows.append(
            {
                **_judge.judge(claim, found, quick=False),
                "simulated": {key: beside[key] for key in kept},
                **counts,
            }
        )
    return rows


def _row(run: RealRun, sample: Sample) -> dict[str, Any]:
    said = sample["emulation"]
    return {
        "experiment": str(run.experiment.name),
        "variant": run.variant,
        "seed": run.seed,
        "valid": said["valid"],
        "tries": said["tries"],
        "late_p99_ms": round(1e3 * said.get("departures", said.get("events", {})).get("p99_s", 0.0), 3),
        "waited_p99_ms": round(1e3 * said.get("pickups", {}).get("p99_s", 0.0), 3),
        "packet_hops": int(sample.get("packet_hops", 0)),
        "kernel": said["kernel"],
        "faults": "; ".join(said["faults"]),
    }


def _notes(
    runs: Sequence[RealRun],
    wanted: Sequence[RealRun],
    real: Sequence[RealRun],
    emulated: Sequence[tuple[RealRun, Sample]],
    minutes: float | None,
) -> list[str]:
    live = any(flow.get("live") for run in runs for flow in run.tree["flows"])
    notes = [
        "Streams ran as live endpoints over sockets in network namespaces, connections as TCP of the kernel."
        if live
        else "Streams ran as our own machines inside the emulated network, connections as TCP of the kernel in namespaces."
    ]
    if len(runs) < len(real):
        enough = f"what {minutes:g} minutes are enough for"
        if minutes is not None and runs[0].seconds > 60 * minutes:
            enough = (
                f"it takes {runs[0].seconds / 60:g} minutes by itself, and {minutes:g} are enough for none"
            )
        notes.append(f"{len(runs)} of {len(real)} runs: {enough}. `--full` runs all.")
    if len(real) < len(wanted):
        notes.append(
            f"{len(wanted) - len(real)} runs have nothing real in them: they would be the simulation, hash and all, "
            "and are left out."
        )
    invalid = [run.label for run, sample in emulated if not sample["emulation"]["valid"]]
    if invalid:
        notes.append(
            f"{len(invalid)} of {len(runs)} runs were not valid, though each was tried twice, and decide nothing: "
            f"{', '.join(invalid)}."
        )
    else:
        notes.append(f"All {len(runs)} runs were valid." if len(runs) > 1 else "The run was valid.")
    told = {note for _, sample in emulated for note in sample["emulation"]["notes"]}
    return [*notes, *sorted(told)]


__all__ = [
    "RealRun",
    "carry_out",
    "duration_s",
    "live_flows",
    "meets_reality",
    "planned",
    "run_all",
    "within",
]
