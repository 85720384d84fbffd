"""Runs the experiments of a paper: selection, several runs at a time, a cache of their samples."""

from __future__ import annotations

import inspect
import itertools
import json
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from thalweg import Scenario, invariants, plots
from thalweg.errors import ClusterError
from thalweg.jobs import POLL_INTERVAL_S, Control, Job, JobProgress, SampleFile, digest
from thalweg.jobs import run as run_jobs
from thalweg.sweep import value_text

from . import (
    _claims,
    _common,
    _cost,
    _joint,
    _judge,
    _mutants,
    _phases,
    _profiles,
    _read,
    _scenarios,
    _specific,
)
from ._base import (
    Experiment,
    ExperimentKey,
    Figure,
    FigureSpec,
    Measure,
    Measured,
    NothingMeasuredError,
    Paper,
    Sample,
    Samples,
    Scale,
    Study,
    Table,
    Tree,
    seeds_of,
)
from ._reproduction import Reproduction

if TYPE_CHECKING:
    from distributed import Client

    from thalweg import Result

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
        """Label of the progress bar."""
        return f"{self.experiment.name} {self.variant}, seed {self.seed}"

    def simulate(self, control: Control) -> Sample | None:
        """Simulates in this thread and returns the sample of the experiment; `control` can stop it from another thread."""
        if self.experiment.measure is not None:
            return self.experiment.measure(self.variant, self.seed, self.scale)
        plan = Scenario.from_tree(self.tree).plan(self.seed)
        result = plan.carry_out(control)
        if not result.complete:
            return None
        wrong = violated(result)
        try:
            sample = self.experiment.extract(result, self.variant, self.scale)
        except ZeroDivisionError as error:
            raise NothingMeasuredError(f"{self.label}: nothing to measure") from error
        return {
            **sample,
            "trace_hash": result.trace_hash,
            "packet_hops": float(result.packet_hops),
            **wrong,
        }

    @property
    def tree(self) -> Tree:
        """Its scenario, without the seed."""
        tree = self.experiment.tree(self.variant, self.scale)
        return tree if self.experiment.draw is None else self.experiment.draw(tree, self.seed)

    @property
    def key(self) -> str:
        """Digest of all inputs of the sample."""
        code = source_code_of(self.experiment.measure or self.experiment.extract)
        tree = {} if self.experiment.measure is not None else self.tree
        what = json.dumps(
            [self.experiment.name, self.variant, self.seed, self.scale.factor, tree], sort_keys=True
        )
        return digest(*code, what)

    def job(self, out: Path | None) -> Job[Sample]:
        """The run as a job. Measurements of cost are exclusive, because other runs would change them."""
        cache = None if out is None else SampleFile(out / "samples" / f"{self.key}.npz")
        return Job(self.label, self.simulate, cache, exclusive=self.experiment.measure is not None)


def violated(result: Result) -> Sample:
    """The invariants that a run breaks, as a part of its sample, so that they are said with a stored sample too."""
    return {VIOLATED: "\n".join(result.violated_invariants)} if result.violated_invariants else {}


def warn_of_violations(labels: Iterable[str], samples: Iterable[Sample]) -> None:
    """Says what runs violate: their numbers are wrong, and so is what rests on them."""
    invariants.warn(
        (label, str(sample[VIOLATED]).split("\n"))
        for label, sample in zip(labels, samples, strict=True)
        if VIOLATED in sample
    )


VIOLATED = "violated_invariants"
"""The key of a sample whose run breaks invariants: one sentence per line."""


def simulate_same(run: Run, key: str, control: Control) -> Sample | None:
    """Simulates in a worker of a cluster. Raises `ClusterError` if its thalweg-papers would give another sample."""
    if run.key != key:
        raise ClusterError(
            f"the worker on {platform.node()} has another version of thalweg-papers",
            "install the same wheel in the environment of the workers as here, and start them again",
        )
    return run.simulate(control)


def reproduce_study(
    study: Study,
    *,
    figure: str | None,
    claim: str | None,
    quick: bool,
    jobs: int,
    seed: int,
    out: Path | None,
    progress: Progress | None,
    on: str | Client | None,
    changes: Mapping[str, Any] | None = None,
    readings: Sequence[str] = (),
    jitter: bool = False,
) -> Reproduction:
    """See `thalweg_papers.reproduce`."""
    chosen = select(study, figure, claim, changes)
    experiments, selected, figure_specs = chosen.experiments, chosen.selected, chosen.figure_specs
    claims, claim = chosen.claims, chosen.claim
    scale = scale_of(study, quick=quick)
    whole_paper = isinstance(study, Paper) and figure is None and not changes
    profiles: list[_profiles.Profile] = []
    if isinstance(study, Paper):
        settings = _joint.settings_of(study, readings, scale)
        profiles += _joint.profiles_of(study) if whole_paper else ()
        profiles += [_joint.requested(settings)] if settings else ()
    elif readings or jitter:
        raise KeyError(f"{study.name!r} is no paper: it has no {'readings' if readings else 'claims'}")
    measured_keys = selected & {name for row in claims if row.measure for name in row.measure.experiments}
    planned = [plan(experiments.values(), selected, scale, seed)]
    planned += [
        plan(p.experiments(experiments, scale).values(), measured_keys, scale, seed) for p in profiles
    ]
    drawn = _phases.experiments(experiments, claims, scale) if jitter else {}
    planned.append(plan(drawn.values(), measured_keys, scale, seed))
    every = [run for runs in planned for run in runs]
    # what a profile leaves as it is runs once
    keys = [run.key for run in every]
    once = dict(zip(keys, every, strict=True))
    ran = run_all(list(once.values()), jobs=jobs, out=out, progress=progress, on=on)
    found_by_key = {key: sample for key, (_, sample) in zip(once, ran, strict=True)}
    done = iter([(run, found_by_key[key]) for run, key in zip(every, keys, strict=True)])
    samples, *others, phased = [list(itertools.islice(done, len(runs))) for runs in planned]
    collected = collect(samples)

    figures, tables = draw_figures(
        (spec.id, partial(_draw, spec, collected, scale, experiments)) for spec in figure_specs
    )
    verdicts = list(judge_claims(claims, collected, experiments, whole=figure is None, scale=scale))
    for profile, found in zip(profiles, others, strict=True):
        combined = Samples({**collected.by_case, **collect(found).by_case})
        rows = judge_claims(claims, combined, experiments, whole=figure is None, scale=scale)
        for verdict, row in zip(verdicts, rows, strict=True):
            verdict.setdefault("profiles", {})[profile.name] = _profiles.verdict(row, profile)
    phases: _phases.Phases | None = None
    substitutes: dict[str, str] = {}
    if jitter:
        substitutes = mark_specific(study, claims, verdicts) if not changes else {}
        phases = _with_phases(claims, verdicts, collected, collect(phased), scale, seed)
        _phases.mark(verdicts, phases)
    elif not changes:
        phases, substitutes = mark_stored(study, claims, verdicts)
    return Reproduction(
        paper=study.name,
        title=study.title,
        claims=verdicts,
        figures=figures,
        tables=tables,
        runs=[
            _run_record(run, sample, name)
            for name, found in zip(
                ("", *(p.name for p in profiles), "drawn phases"), (samples, *others, phased), strict=True
            )
            for run, sample in found
        ],
        choices=dict(study.choices()),
        notes=notes(study, scale, None if figure is None else figure_specs[0].id, claim, changes),
        quick=quick,
        seed=seed,
        figure=None if figure is None else figure_specs[0].id,
        claim=claim,
        changes=dict(changes or {}),
        readings=list(readings),
        of_paper=study.of_paper,
        profiles={profile.name: profile.sentence for profile in profiles},
        phases=phases,
        jitter=jitter,
        substitutes=substitutes,
    )


def _with_phases(
    claims: Sequence[_claims.Claim],
    verdicts: Sequence[Mapping[str, Any]],
    usual: Samples,
    phased: Samples,
    scale: Scale,
    seed: int,
) -> _phases.Phases:
    """The results that rest on scenarios with drawn delays and starts, judged with these."""
    combined = Samples({**usual.by_case, **phased.by_case})
    by_id = {row["id"]: row for row in verdicts}
    rows = {
        claim.id: _phases.row(by_id[claim.id], judge_one(claim, claim.measure, combined, scale)[0])
        for claim in claims
        if claim.id in by_id
        and claim.evidence in _claims.RESULTS
        and claim.measure
        and any(phased.has(key) for key in claim.measure.experiments)
    }
    seeds = max(map(len, phased.by_case.values()), default=0)
    return _phases.Phases(seeds=seeds, seed=seed, quick=scale.quick, rows=rows)


def mark_stored(
    study: Study, claims: Iterable[_claims.Claim], rows: Sequence[dict[str, Any]]
) -> tuple[_phases.Phases | None, dict[str, str]]:
    """Marks judged rows by what is stored beside `claims.toml`: which depend on phases, and which are not specific.

    Returns the stored phases, and the schemes that took the place of the paper's, by name, with titles.
    """
    substitutes = mark_specific(study, claims, rows)
    phases = study.phases() if isinstance(study, Paper) else None
    if phases is not None:
        _phases.mark(rows, phases)
    return phases, substitutes


def mark_specific(
    study: Study, claims: Iterable[_claims.Claim], rows: Iterable[dict[str, Any]]
) -> dict[str, str]:
    """Adds to rows what other schemes gave in the place of the paper's; returns these schemes by name, with titles."""
    stored = study.substitution() if isinstance(study, Paper) else None
    if stored is None:
        return {}
    by_id = {claim.id: claim for claim in claims}
    for row in rows:
        _specific.mark(row, by_id[row["id"]], stored)
    return dict(stored.schemes)


@dataclass(frozen=True)
class Selection:
    """The part of a study that is run."""

    experiments: Mapping[ExperimentKey, Experiment]
    """All experiments; those selected have changed keys, if there are any."""
    selected: set[ExperimentKey]
    figure_specs: list[FigureSpec]
    claims: Sequence[_claims.Claim]
    claim: str | None
    """The id of the only claim."""


def select(
    study: Study, figure: str | None, claim: str | None, changes: Mapping[str, Any] | None
) -> Selection:
    """What a figure or a claim needs, or everything; with changed keys only a named claim is judged.

    Raises ``ValueError`` for a figure and a claim, and for changed keys of the whole study.
    """
    if figure is not None and claim is not None:
        raise ValueError("a figure and a claim exclude each other")
    if changes and figure is None and claim is None:
        raise ValueError("settings can be changed for one figure or one claim only")
    figure_specs = list(study.figure_specs()) if figure is None else [find_figure(study, figure)]
    experiments = study.experiments()
    claims = check_measures(study.claims(), experiments) if isinstance(study, Paper) else []
    selected = set(experiments)
    if figure is not None:
        selected = {name for spec in figure_specs for name in spec.experiments}
    if claim is not None:
        one = find_claim(study, claims, claim)
        claim, claims, figure_specs = one.id, [one], []
        selected = set(one.measure.experiments) if one.measure else set()
    if changes:
        experiments = _scenarios.with_changes(experiments, selected, changes)
        claims = claims if claim is not None else []
    return Selection(experiments, selected, figure_specs, claims, claim)


def scale_of(study: Study, *, quick: bool) -> Scale:
    """The length and the number of runs."""
    return Scale(study.quick_factor, fewer=True) if quick else Scale()


def study_scenarios(
    study: Study,
    *,
    figure: str | None,
    claim: str | None,
    quick: bool,
    seed: int,
    changes: Mapping[str, Any] | None,
    jitter: bool = False,
) -> list[_scenarios.StudyScenario]:
    """See `Study.scenarios`."""
    chosen = select(study, figure, claim, changes)
    scale = scale_of(study, quick=quick)
    experiments = chosen.experiments
    if jitter:
        experiments = _phases.experiments(experiments, chosen.claims, scale)
    return _scenarios.listed(plan(experiments.values(), chosen.selected, scale, seed))


def _draw(
    spec: FigureSpec, samples: Samples, scale: Scale, experiments: Mapping[ExperimentKey, Experiment]
) -> Figure | Table | None:
    """A figure or table that says how its runs are shorter or fewer."""
    return _scenarios.marked(spec.draw(samples, scale), [experiments[key] for key in spec.experiments], scale)


def draw_figures(
    specs: Iterable[tuple[str, Callable[[], Figure | Table | None]]],
) -> tuple[dict[str, Figure], dict[str, Table]]:
    """Figures and tables by id, each drawn in the style of plots; empty ones are omitted."""
    figures: dict[str, Figure] = {}
    tables: dict[str, Table] = {}
    for name, draw in specs:
        with plots.in_style():
            drawn = draw()
        if isinstance(drawn, Figure):
            figures[name] = drawn
        elif drawn is not None:
            tables[name] = drawn
    return figures, tables


def find_figure(study: Study, text: str) -> FigureSpec:
    """The figure or table called ``text``; ``8``, ``fig8``, ``Figure 8`` and ``figure-8`` are the same."""
    figure_specs = study.figure_specs()
    for spec in figure_specs:
        if _plain(text) in (_plain(spec.id), _plain(spec.id.removeprefix("figure-"))):
            return spec
    raise KeyError(
        f"{study.name} has no figure {text!r}; there are: {', '.join(spec.id for spec in figure_specs)}"
    )


def find_claim(study: Study, claims: Sequence[_claims.Claim], text: str) -> _claims.Claim:
    """The claim of that id. Raises ``KeyError`` with the nearest one."""
    for claim in claims:
        if claim.id.lower() == text.lower():
            return claim
    ids = [claim.id for claim in claims]
    near = get_close_matches(text.upper(), ids, 1, 0.5) or ids[:1]
    hint = f"; did you mean {near[0]}?" if near else ""
    raise KeyError(f"{study.name} has no claim {text!r}{hint}")


def plan(
    experiments: Iterable[Experiment], selected: set[ExperimentKey], scale: Scale, seed: int
) -> list[Run]:
    """All runs of the selected experiments, the longest first, so that jobs end at about the same time."""
    runs = [
        Run(experiment, variant, seed + number, scale)
        for experiment in experiments
        if experiment.name in selected
        for variant in experiment.variants
        for number in range(seeds_of(experiment, variant, scale))
    ]
    return sorted(runs, key=lambda run: -run.experiment.weight)


def run_all(
    runs: list[Run],
    *,
    jobs: int,
    out: Path | None = None,
    progress: Progress | None = None,
    on: str | Client | None = None,
) -> list[tuple[Run, Sample]]:
    """Samples in the order of ``runs``, ``jobs`` at a time or ``on`` a cluster.

    Runs with a sample in ``out`` are not repeated.
    """

    def report_progress(at: JobProgress) -> None:
        if progress is not None:
            progress(at.done, at.total, f"waiting for {at.waiting_for}" if at.waiting_for else at.label)

    listed = [run.job(out) for run in runs]
    if on is not None:
        listed = [
            job if job.exclusive else replace(job, work=partial(simulate_same, run, run.key))
            for job, run in zip(listed, runs, strict=True)
        ]
    samples = run_jobs(listed, at_once=jobs, progress=report_progress, every_s=POLL_INTERVAL_S, on=on)
    warn_of_violations((run.label for run in runs), samples)
    return list(zip(runs, samples, strict=True))


def collect(samples: list[tuple[Run, Sample]]) -> Samples:
    """By experiment and variant, seeds in order."""
    by_case: dict[tuple[ExperimentKey, str], list[Sample]] = {}
    for run, sample in sorted(samples, key=lambda pair: pair[0].seed):
        by_case.setdefault((run.experiment.name, run.variant), []).append(sample)
    return Samples(by_case)


def check_measures(
    claims: Sequence[_claims.Claim], experiments: Mapping[ExperimentKey, Experiment]
) -> Sequence[_claims.Claim]:
    """The same claims. Raises ``ValueError`` if a measure needs an experiment that does not exist."""
    for claim in claims:
        for key in claim.measure.experiments if claim.measure else ():
            if key not in experiments:
                raise ValueError(
                    f"claim {claim.id}: its measure rests on {key!r}, which is no experiment of the paper"
                )
    return claims


def judge_claims(
    claims: Sequence[_claims.Claim],
    samples: Samples,
    experiments: Mapping[ExperimentKey, Experiment],
    *,
    whole: bool,
    scale: Scale,
) -> Iterable[dict[str, Any]]:
    """Every claim with its verdict and its mutants. Unless ``whole``, only those whose experiments were run."""
    for claim in claims:
        measure = claim.measure
        if not claim.testable or measure is None:
            if whole:
                yield _judge.not_testable(claim)
            continue
        # A claim that rests on no run belongs to the whole paper, not to one of its figures.
        if (whole or measure.experiments) and all(samples.has(name) for name in measure.experiments):
            row, measured = judge_one(claim, measure, samples, scale)
            if row["verdict"] != "not testable" and claim.evidence not in _claims.OF_NO_SCHEME:
                row["mutants"] = _mutants.run_mutants(claim, measured, samples, experiments)
            yield row


def judge_one(
    claim: _claims.Claim, measure: Measure, samples: Samples, scale: Scale
) -> tuple[dict[str, Any], Measured]:
    """A claim with its verdict, and what was measured; "not testable" where the runs have nothing to measure."""
    measured: Measured = {}
    try:
        measured = measure(samples)
        row = _judge.judge(claim, measured, scale=scale)
    except NothingMeasuredError as error:
        row = nothing_measured(claim, error)
    row["one_run"] = without_chance(samples, measure.experiments)
    return row, measured


def nothing_measured(claim: _claims.Claim, why: Exception) -> dict[str, Any]:
    """The result of a claim whose runs have nothing to measure."""
    return _judge.not_testable(replace(claim, reason=f"nothing is measured in these runs: {why}"))


def without_chance(samples: Samples, experiments: Iterable[ExperimentKey]) -> bool:
    """Whether several seeds of these experiments were run and gave the same run, so that they repeat nothing."""
    several = [
        {sample.get("trace_hash", number) for number, sample in enumerate(found)}
        for name in experiments
        for variant in samples.variants(name)
        if len(found := samples[name, variant]) > 1
    ]
    return bool(several) and all(len(hashes) == 1 for hashes in several)


def source_code_of(function: Callable[..., object]) -> list[bytes]:
    """The source code on which a sample depends: modules of the paper that the function uses, and those for results."""
    known = {module.__name__: module for module in (_read, _common, _cost)}
    _add_used(known, inspect.getmodule(function))
    return [Path(inspect.getfile(known[name])).read_bytes() for name in sorted(known)]


def _add_used(known: dict[str, ModuleType], module: ModuleType | None) -> None:
    """Adds a module, and those of its package that it imports or imports from."""
    if module is None or module.__name__ in known:
        return
    known[module.__name__] = module
    for value in vars(module).values():
        used = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", ""))
        if used is not None and used.__package__ == module.__package__:
            _add_used(known, used)


def _run_record(run: Run, sample: Sample, profile: str = "") -> dict[str, Any]:
    return {
        "experiment": f"{run.experiment.name}, {profile}" if profile else str(run.experiment.name),
        "variant": run.variant,
        "seed": run.seed,
        "trace_hash": sample.get("trace_hash", ""),
        "packet_hops": int(sample.get("packet_hops", 0)),
    }


def notes(
    study: Study,
    scale: Scale,
    figure: str | None,
    claim: str | None,
    changes: Mapping[str, Any] | None = None,
) -> list[str]:
    """Notes at the start of a report: fewer or shorter runs, a single figure or claim, changed settings."""
    of_paper = study.of_paper
    lines = []
    if scale.quick:
        whose, what = ("the paper's", "verdicts") if of_paper else ("the whole", "numbers")
        time = f"runs take {scale.factor:.0%} of {whose} time with" if scale.factor < 1.0 else "runs take"
        named = ""
        if scale.factor < 1.0 and of_paper:
            named = "; what rows accept names the times of these runs, what they state those of the paper"
        lines.append(f"Quick: {time} fewer seeds{named}; {what} are indicative.")
    if figure is not None:
        shown = figure.replace("-", " ", 1) if figure.startswith(("figure-", "table-")) else figure
        claims = "; only the claims that rest on it are listed" if of_paper and not changes else ""
        lines.append(f"Only {shown} was run{claims}.")
    if claim is not None:
        lines.append(f"Only claim {claim} was judged.")
    if changes:
        settings = ", ".join(f"{key} = {value_text(value)}" for key, value in changes.items())
        what = "the verdict is of these settings" if claim is not None else "no claim is judged"
        lines.append(f"Changed settings: {settings}. The scenarios are not those of the study; {what}.")
    return lines


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower().removeprefix("fig.") if letter.isalnum()).removeprefix(
        "fig"
    )


__all__ = [
    "Run",
    "collect",
    "find_claim",
    "find_figure",
    "judge_claims",
    "judge_one",
    "notes",
    "plan",
    "reproduce_study",
    "run_all",
    "source_code_of",
]
