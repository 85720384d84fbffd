"""Carries out the experiments of a paper: which runs are needed, several at a time, each kept for the next time."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg import Scenario, plots
from thalweg.jobs import Control, Job, SampleFile, Standing, digest
from thalweg.jobs import run as run_jobs

from . import _claims, _common, _cost, _read
from ._base import (
    Experiment,
    Figure,
    Measure,
    Paper,
    Plate,
    Reproduction,
    Sample,
    Samples,
    Scale,
    Study,
    Table,
)

Progress = Callable[[int, int, str], object]


@dataclass(frozen=True)
class Run:
    """One run of an experiment."""

    experiment: Experiment
    variant: str
    seed: int
    scale: Scale

    @property
    def label(self) -> str:
        """What a progress bar says."""
        return f"{self.experiment.name} {self.variant}, seed {self.seed}"

    def carry_out(self, control: Control) -> Sample | None:
        """Simulates in this thread and keeps what the experiment keeps; `control` may stop it from another."""
        if self.experiment.measure is not None:
            return self.experiment.measure(self.variant, self.seed, self.scale)
        plan = Scenario.from_tree(self.experiment.tree(self.variant, self.scale)).plan(self.seed)
        result = plan.carry_out(control)
        if not result.complete:
            return None
        sample = self.experiment.extract(result, self.variant, self.scale)
        return {**sample, "trace_hash": result.trace_hash, "packet_hops": float(result.packet_hops)}

    @property
    def key(self) -> str:
        """Digest of everything the sample depends on."""
        code = code_of(self.experiment.measure or self.experiment.extract)
        tree = {} if self.experiment.measure is not None else self.experiment.tree(self.variant, self.scale)
        what = json.dumps(
            [self.experiment.name, self.variant, self.seed, self.scale.factor, tree], sort_keys=True
        )
        return digest(*code, what)

    def job(self, out: Path | None) -> Job[Sample]:
        """The same as a job. What measures cost goes on alone: what else runs would be in its numbers."""
        kept = None if out is None else SampleFile(out / "samples" / f"{self.key}.npz")
        return Job(self.label, self.carry_out, kept, alone=self.experiment.measure is not None)


def carry_out(
    study: Study,
    *,
    figure: str | None,
    quick: bool,
    jobs: int,
    seed: int,
    out: Path | None,
    progress: Progress | None,
) -> Reproduction:
    """See `thalweg_papers.reproduce`."""
    plates = list(study.plates()) if figure is None else [find_plate(study, figure)]
    experiments = study.experiments()
    wanted = (
        {name for plate in plates for name in plate.experiments} if figure is not None else set(experiments)
    )
    scale = Scale(study.quick_factor, fewer=True) if quick else Scale()
    runs = plan(experiments.values(), wanted, scale, seed)
    samples = run_all(runs, jobs=jobs, out=out, progress=progress)
    collected = collect(samples)

    figures: dict[str, Figure] = {}
    tables: dict[str, Table] = {}
    for plate in plates:
        with plots.in_style():
            drawn = plate.draw(collected, scale)
        if isinstance(drawn, Figure):
            figures[plate.id] = drawn
        else:
            tables[plate.id] = drawn
    claims: list[dict[str, Any]] = []
    if isinstance(study, Paper):
        rows = _claims.read(study.claims_file)
        claims = list(judged(rows, study.measures(), collected, all_rows=figure is None, quick=quick))
    return Reproduction(
        paper=study.name,
        title=study.title,
        claims=claims,
        figures=figures,
        tables=tables,
        runs=[_row(run, sample) for run, sample in samples],
        choices=dict(study.choices()),
        notes=_notes(study, scale, figure),
        quick=quick,
        seed=seed,
        figure=None if figure is None else plates[0].id,
        of_paper=isinstance(study, Paper),
    )


def find_plate(study: Study, text: str) -> Plate:
    """The figure or table called ``text``; ``8``, ``fig8``, ``Figure 8`` and ``figure-8`` are the same."""
    plates = study.plates()
    for plate in plates:
        if _plain(text) in (_plain(plate.id), _plain(plate.id.removeprefix("figure-"))):
            return plate
    raise KeyError(
        f"{study.name} has no figure {text!r}; there are: {', '.join(plate.id for plate in plates)}"
    )


def plan(experiments: Iterable[Experiment], wanted: set[str], scale: Scale, seed: int) -> list[Run]:
    """All runs of the wanted experiments, the longest first so that jobs end together."""
    runs = [
        Run(experiment, variant, seed + number, scale)
        for experiment in experiments
        if experiment.name in wanted
        for variant in experiment.variants
        for number in range(_seeds(experiment, variant, scale))
    ]
    return sorted(runs, key=lambda run: -run.experiment.weight)


def run_all(
    runs: list[Run], *, jobs: int, out: Path | None = None, progress: Progress | None = None
) -> list[tuple[Run, Sample]]:
    """Samples in the order of ``runs``, ``jobs`` at a time. What is found in ``out`` is not run again."""

    def tell(at: Standing) -> None:
        if progress is not None:
            progress(at.done, at.total, at.label)

    samples = run_jobs([run.job(out) for run in runs], at_once=jobs, progress=tell)
    return list(zip(runs, samples, strict=True))


def collect(samples: list[tuple[Run, Sample]]) -> Samples:
    """By experiment and variant, seeds in order."""
    by_case: dict[tuple[str, str], list[Sample]] = {}
    for run, sample in sorted(samples, key=lambda pair: pair[0].seed):
        by_case.setdefault((run.experiment.name, run.variant), []).append(sample)
    return Samples(by_case)


def judged(
    claims: list[_claims.Claim],
    measures: Any,
    samples: Samples,
    *,
    all_rows: bool,
    quick: bool,
) -> Iterable[dict[str, Any]]:
    """Every claim with its verdict. Unless ``all_rows``, only those whose experiments were run."""
    for claim in claims:
        if not claim.testable:
            if all_rows:
                yield _claims.not_testable(claim)
            continue
        measure: Measure = measures[claim.measure]
        # A row that rests on no run belongs to the whole paper, not to one of its figures.
        if (all_rows or measure.experiments) and all(samples.has(name) for name in measure.experiments):
            yield _claims.judge(claim, measure.function(samples), quick=quick)


def code_of(function: Callable[..., object]) -> list[bytes]:
    """What the sample's making depends on: the function's module, and what all papers read results with."""
    return [Path(inspect.getfile(part)).read_bytes() for part in (function, _read, _common, _cost)]


def _seeds(experiment: Experiment, variant: str, scale: Scale) -> int:
    most = experiment.quick_seeds if scale.quick else experiment.seeds
    return min(most, dict(experiment.fewer).get(variant, most))


def _row(run: Run, sample: Sample) -> dict[str, Any]:
    return {
        "experiment": run.experiment.name,
        "variant": run.variant,
        "seed": run.seed,
        "trace_hash": sample.get("trace_hash", ""),
        "packet_hops": int(sample.get("packet_hops", 0)),
    }


def _notes(study: Study, scale: Scale, figure: str | None) -> list[str]:
    of_paper = isinstance(study, Paper)
    notes = []
    if scale.quick:
        whose, what = ("the paper's", "verdicts") if of_paper else ("the whole", "numbers")
        time = f"runs take {scale.factor:.0%} of {whose} time, with" if scale.factor < 1.0 else "runs take"
        notes.append(f"Quick: {time} fewer seeds; {what} are indicative.")
    if figure is not None:
        claims = "; only the claims that rest on it are listed" if of_paper else ""
        notes.append(f"Only what {figure} needs was run{claims}.")
    return notes


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower().removeprefix("fig.") if letter.isalnum()).removeprefix(
        "fig"
    )


__all__ = [
    "Run",
    "carry_out",
    "code_of",
    "collect",
    "find_plate",
    "judged",
    "plan",
    "run_all",
]
