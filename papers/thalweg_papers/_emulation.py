"""Emulates a study's scenarios and compares them with their simulation; several runs at a time, a cache of valid runs."""

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
from thalweg.jobs import Control, Job, JobProgress, SampleFile, digest
from thalweg.jobs import run as run_jobs

from . import _claims, _judge, _runner
from ._base import (
    Emulated,
    Experiment,
    ExperimentKey,
    Measured,
    Pair,
    Sample,
    Samples,
    Scale,
    Study,
    Tree,
)
from ._reproduction import Reproduction

Progress = Callable[[float, float, str], object]
"""Seconds of finished runs, seconds of all runs, and a text."""

EMULATION_SPIN_US = 0
"""Simultaneous runs sleep instead of spinning: half the processor time, and some ten microseconds more lateness."""
MAX_TRIES = 2
"""Maximum number of attempts: an invalid run is repeated once."""
POLL_INTERVAL_S = 0.5


@dataclass
class EmulatedRun:
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
        """Label of the progress bar."""
        return f"{self.experiment.name} {self.variant}"

    @property
    def seconds(self) -> float:
        """Duration of the run, in seconds."""
        return duration_s(self.tree)

    @property
    def key(self) -> str:
        """Digest of all known inputs, the kernel included."""
        what = [self.experiment.name, self.variant, self.seed, self.tree, platform.release()]
        return digest(*_runner.source_code_of(self.experiment.extract), json.dumps(what, sort_keys=True))

    def emulate(self, control: Control) -> Sample | None:
        """Emulates it in this thread; `control` may stop it from another."""
        self.tries += 1
        plan = Scenario.from_tree(self.tree).plan(self.seed)
        try:
            result = plan.carry_out_in_real_time(control, spin_us=EMULATION_SPIN_US, urgent=True)
        except EmulationError as error:
            # such as a congestion control that this kernel has not: trying again does not help
            self.tries = MAX_TRIES
            return {"emulation": {"valid": False, "faults": [str(error)], "notes": [], **self._host_record()}}
        if not result.complete:
            return None
        wrong = _runner.violated(result)
        sample = self.experiment.extract(result, self.variant, Scale())
        return {
            **sample,
            **wrong,
            "trace_hash": result.trace_hash,
            "packet_hops": float(result.packet_hops),
            "emulation": {**result.record["emulation"], **self._host_record()},
        }

    def job(self, out: Path | None) -> Job[Sample]:
        """The run as a job, which is repeated once if it is not valid."""
        return Job(
            self.label,
            self.emulate,
            None if out is None else SampleFile(out / "emulated" / f"{self.key}.npz", is_valid=_valid),
            seconds=self.seconds,
            must_repeat=lambda sample: not _valid(sample) and self.tries < MAX_TRIES,
        )

    def _host_record(self) -> dict[str, Any]:
        return {"tries": self.tries, "kernel": platform.release()}


def duration_s(tree: Tree) -> float:
    """The duration of a scenario, in seconds."""
    number, unit = str(tree["duration"]).split()
    if unit != "s":
        raise ValueError(f"durations of papers are in seconds, not in {unit}")
    return float(number)


def has_real_endpoint(tree: Tree) -> bool:
    """Whether a flow has a real endpoint. Without one the emulation equals the simulation, with the same trace hash."""
    return any(flow.get(key) for flow in tree["flows"] for key in ("kernel", "commands", "live"))


def live_flows() -> bool:
    """Whether flows of Thalweg's schemes can run over real sockets in this build."""
    from thalweg import schema

    return "live" in schema()["$defs"]["Flow"]["properties"]


def fit_in_time(runs: Sequence[EmulatedRun], minutes: float, at_once: int) -> list[EmulatedRun]:
    """The first runs that end within this time with `at_once` at a time; at least one."""
    slots = [0.0] * at_once
    chosen: list[EmulatedRun] = []
    for run in runs:
        slot = slots.index(min(slots))
        if slots[slot] + run.seconds <= 60 * minutes or not chosen:
            slots[slot] += run.seconds
            chosen.append(run)
    return chosen


def run_all(
    runs: Sequence[EmulatedRun], *, at_once: int, out: Path | None, progress: Progress | None
) -> list[tuple[EmulatedRun, Sample]]:
    """Samples in the order of `runs`. Valid ones found in `out` are not run again; what is not valid is tried twice.

    Ctrl-C ends all that go on, and leaves nothing behind but what is kept in `out`.
    """

    def report_progress(at: JobProgress) -> None:
        if progress is not None and at.total_s > 0:
            words = f"{at.done} of {at.total} runs, {at.running} going on"
            progress(at.now_s, at.total_s, words)

    samples = run_jobs(
        [run.job(out) for run in runs], at_once=at_once, progress=report_progress, every_s=POLL_INTERVAL_S
    )
    _runner.warn_of_violations((run.label for run in runs), samples)
    return list(zip(runs, samples, strict=True))


def _valid(sample: Sample) -> bool:
    return bool(sample["emulation"]["valid"])


# --- a study from end to end -----------------------------------------------------------------------------------------


def emulate_study(
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
    claims = _runner.check_measures(part.claims(), experiments)
    wanted = plan_runs(part, experiments, seed)
    real = [run for run in wanted if has_real_endpoint(run.tree)]
    runs = real if minutes is None else fit_in_time(real, minutes, at_once)
    cases = {(run.experiment.name, run.variant): run.experiment for run in runs}
    simulated = _simulated(cases, seed, out, progress)
    emulated = run_all(runs, at_once=at_once, out=out, progress=progress)

    valid = [(run, sample) for run, sample in emulated if sample["emulation"]["valid"]]
    pair = Pair(simulated, _collected(valid))
    verdicts = side_by_side(claims, pair, emulated)
    phases, substitutes = _runner.mark_stored(study, claims, verdicts)
    figures, tables = _runner.draw_figures(
        (spec.id, partial(spec.draw, pair)) for spec in part.figure_specs()
    )
    return Reproduction(
        paper=study.name,
        title=study.title,
        claims=verdicts,
        figures=figures,
        tables=tables,
        runs=[_run_record(run, sample) for run, sample in emulated],
        choices=dict(part.choices()),
        notes=_notes(runs, wanted, real, emulated, minutes),
        quick=minutes is not None,
        seed=seed,
        of_paper=study.of_paper,
        emulated=True,
        phases=phases,
        substitutes=substitutes,
    )


def plan_runs(
    part: Emulated, experiments: Mapping[ExperimentKey, Experiment], seed: int
) -> list[EmulatedRun]:
    """All runs: the listed cases first, then the others; second runs follow the first runs of all cases."""
    first = list(part.cases())
    cases = first + [
        (name, variant)
        for name, experiment in experiments.items()
        for variant in experiment.variants
        if (name, variant) not in set(first)
    ]
    count = {name: max(part.runs, experiment.emulated_runs) for name, experiment in experiments.items()}
    return [
        EmulatedRun(experiments[name], variant, seed + number)
        for number in range(max(count.values(), default=0))
        for name, variant in cases
        if number < count[name]
    ]


def _simulated(
    cases: Mapping[tuple[ExperimentKey, str], Experiment],
    seed: int,
    out: Path | None,
    progress: Progress | None,
) -> Samples:
    """Simulates the same cases; progress is reported without a duration, because the remaining time is unknown."""
    runs = [
        _runner.Run(experiment, variant, seed + number, Scale())
        for (_, variant), experiment in cases.items()
        for number in range(experiment.seeds)
    ]

    def report_simulation(ready: int, total: int, _what: str) -> None:
        if progress is not None:
            progress(0.0, 1.0, f"simulating first: {ready} of {total} runs")

    return _runner.collect(
        _runner.run_all(runs, jobs=os.cpu_count() or 1, out=out, progress=report_simulation)
    )


def _collected(runs: Sequence[tuple[EmulatedRun, Sample]]) -> Samples:
    by_case: dict[tuple[ExperimentKey, str], list[Sample]] = {}
    for run, sample in runs:
        by_case.setdefault((run.experiment.name, run.variant), []).append(sample)
    return Samples(by_case)


def side_by_side(
    claims: Sequence[_claims.Claim], pair: Pair, emulated: Sequence[tuple[EmulatedRun, Sample]]
) -> list[dict[str, Any]]:
    """The claims that these runs can decide, judged by the emulation, with the simulation of the same cases."""
    rows = []
    both = {case: pair.simulated.by_case[case] for case in pair.emulated.by_case}
    for claim in claims:
        measure = claim.measure
        if measure is None:
            continue
        runs = [sample for run, sample in emulated if run.experiment.name in measure.experiments]
        if not runs:
            continue
        valid = [sample for sample in runs if sample["emulation"]["valid"]]
        counts = {"valid_runs": len(valid), "all_runs": len(runs)}
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
        simulation = _judge.judge(claim, measure(Samples(both)))
        columns = (
            "measured",
            "quantity",
            "unit",
            "low",
            "high",
            "limit",
            "n",
            "verdict",
            "quantities",
            "checks",
        )
        rows.append(
            {
                **_judge.judge(claim, found),
                "simulated": {key: simulation[key] for key in columns},
                **counts,
            }
        )
    return rows


def _run_record(run: EmulatedRun, sample: Sample) -> dict[str, Any]:
    emulation = sample["emulation"]
    return {
        "experiment": str(run.experiment.name),
        "variant": run.variant,
        "seed": run.seed,
        "valid": emulation["valid"],
        "tries": emulation["tries"],
        "late_p99_ms": round(
            1e3 * emulation.get("departures", emulation.get("events", {})).get("p99_s", 0.0), 3
        ),
        "waited_p99_ms": round(1e3 * emulation.get("pickups", {}).get("p99_s", 0.0), 3),
        "packet_hops": int(sample.get("packet_hops", 0)),
        "kernel": emulation["kernel"],
        "faults": "; ".join(emulation["faults"]),
    }


def _notes(
    runs: Sequence[EmulatedRun],
    wanted: Sequence[EmulatedRun],
    real: Sequence[EmulatedRun],
    emulated: Sequence[tuple[EmulatedRun, Sample]],
    minutes: float | None,
) -> list[str]:
    live = any(flow.get("live") for run in runs for flow in run.tree["flows"])
    notes = [
        "Streams ran as live endpoints over sockets in network namespaces, connections as TCP of the kernel."
        if live
        else "Streams ran as simulated endpoints in the emulated network, connections as TCP of the kernel in namespaces."
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
            f"{len(wanted) - len(real)} runs have no real endpoint: they equal the simulation, with the same trace hash, "
            "so that they are omitted."
        )
    invalid = [run.label for run, sample in emulated if not sample["emulation"]["valid"]]
    if invalid:
        notes.append(
            f"{len(invalid)} of {len(runs)} runs were not valid after two attempts, and are not evaluated: "
            f"{', '.join(invalid)}."
        )
    else:
        notes.append(f"All {len(runs)} runs were valid." if len(runs) > 1 else "The run was valid.")
    emulation_notes = {note for _, sample in emulated for note in sample["emulation"]["notes"]}
    return [*notes, *sorted(emulation_notes)]


__all__ = [
    "EmulatedRun",
    "duration_s",
    "emulate_study",
    "fit_in_time",
    "has_real_endpoint",
    "live_flows",
    "plan_runs",
    "run_all",
]
