"""Searches for the readings of a paper that together satisfy the most rows, and judges them on seeds it did not use."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations as pairs_of
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from thalweg.errors import ScenarioError

from . import _joint, _runner
from ._base import Experiment, ExperimentKey, NothingMeasuredError, Paper, Sample, Samples, seeds_of
from ._claims import RESULTS
from ._joint import Count, Half, HeldOut, Joint, SearchFacts, Setting

if TYPE_CHECKING:
    from distributed import Client

    from ._claims import Claim

T = TypeVar("T")

Chosen = tuple[str, ...]
"""The option of each reading, in the order of the readings."""

Rows = dict[str, dict[str, Any]]
"""Judged claims by id."""

SCORED = RESULTS | {"conformance"}
"""Evidence of the rows by which readings are chosen: results of the paper, and its rules, which readings must not break."""

NO_ROW = (ScenarioError, NothingMeasuredError)
"""What readings that no scenario takes together raise, and those that leave an experiment nothing to measure."""

BETTER = ("reproduced", "partly", "not reproduced", "not testable")


@dataclass
class Found:
    """The readings that a search found, and what it says of them."""

    paper: str
    title: str
    joint: Joint
    claims: list[dict[str, Any]]
    """Rows that a reading can change, on the half of the seeds that the search did not use; `joint` is their result then."""
    runs: int
    notes: list[str] = field(default_factory=list)

    @property
    def changed(self) -> list[dict[str, Any]]:
        """Rows whose verdict is another than by default."""
        return [claim for claim in self.claims if claim["verdict"] != claim["joint"]["verdict"]]

    def as_dict(self) -> dict[str, Any]:
        """All values as JSON types."""
        import msgspec

        return {
            "paper": self.paper,
            "title": self.title,
            **msgspec.to_builtins(self.joint),
            "mark": _joint.FITTED_JOINTLY,
            "claims": self.claims,
            "runs": self.runs,
            "notes": self.notes,
        }


def search(
    paper: Paper,
    *,
    quick: bool,
    starts: int,
    combinations: int,
    jobs: int,
    seed: int,
    out: Path | None,
    progress: _runner.Progress | None,
    on: str | Client | None,
) -> Found:
    """See `thalweg_papers.search_readings`."""
    if starts < 1 or combinations < 1:
        raise ValueError("`starts` and `combinations` must be at least 1")
    trials = _Trials(paper, quick=quick, jobs=jobs, seed=seed, out=out, progress=progress, on=on)
    if not trials.readings:
        raise KeyError(f"{paper.name!r} has no readings")
    trials.limit = combinations
    best, exhausted = _best(trials, starts, random.Random(seed))
    default = trials.default
    training, held_out = (
        {chosen: trials.rows_or_none_testable(chosen, held_out=half) for chosen in (default, best)}
        for half in (False, True)
    )
    settings = trials.settings(best)
    one_run = trials.without_chance(best)
    later = _half(held_out[default], held_out[best])
    joint = Joint(
        settings={setting.reading.name: setting.option.name for setting in settings},
        search=SearchFacts(
            quick=quick,
            seed=seed,
            starts=starts,
            combinations=trials.seen,
            exhausted=exhausted,
            readings=len(trials.readings),
            rows=len(trials.claims),
            one_run=tuple(map(str, one_run)),
        ),
        training=_half(training[default], training[best]),
        held_out=HeldOut(
            default=later.default,
            joint=later.joint,
            gained=later.gained,
            lost=later.lost,
            same_in_both_halves=tuple(rows_on(trials.claims, one_run)),
        ),
    )
    shown = ("verdict", "measured", "quantity", "low", "high", "unit", "limit", "n", "checks", "one_run")
    return Found(
        paper=paper.name,
        title=paper.title,
        joint=joint,
        claims=[
            {**row, "joint": {key: held_out[best][name][key] for key in shown}}
            for name, row in held_out[default].items()
        ],
        runs=len(trials.samples),
        notes=_runner.notes(paper, trials.scale, None, None),
    )


class _Spent(Exception):
    """As many combinations were run as may be."""


def _best(trials: _Trials, starts: int, rng: random.Random) -> tuple[Chosen, bool]:
    """The best combination of several climbs, the first from the default; and whether none was cut off."""
    try:
        for number in range(starts):
            _climb(trials, trials.default if number == 0 else _random(trials, rng), rng)
    except _Spent:
        return trials.best, False
    return trials.best, True


def _climb(trials: _Trials, at: Chosen, rng: random.Random) -> Chosen:
    """Changes one reading at a time while that helps, then two at once; ends where neither does."""
    while True:
        better = _singly(trials, at, rng)
        if trials.score(better) == trials.score(at):
            better = _in_pairs(trials, at, rng)
        if trials.score(better) == trials.score(at):
            return at
        at = better


def _singly(trials: _Trials, at: Chosen, rng: random.Random) -> Chosen:
    """Each reading in turn, in a random order, with its best option."""
    for place in _shuffled(range(len(at)), rng):
        tried = [at, *_with_other(trials, at, place)]
        at = max(tried, key=trials.score)
    return at


def _in_pairs(trials: _Trials, at: Chosen, rng: random.Random) -> Chosen:
    """The first change of two readings that is better; `at` where none is."""
    for first, second in _shuffled(pairs_of(range(len(at)), 2), rng):
        for half in _with_other(trials, at, first, allowed=False):
            for both in _with_other(trials, half, second):
                if trials.score(both) > trials.score(at):
                    return both
    return at


def _with_other(trials: _Trials, at: Chosen, place: int, *, allowed: bool = True) -> Iterator[Chosen]:
    """The other options of one reading; only those that agree with the rest, unless a second change comes."""
    for option in trials.readings[place].options:
        changed = (*at[:place], option.name, *at[place + 1 :])
        if changed != at and (not allowed or trials.agree(changed)):
            yield changed


def _random(trials: _Trials, rng: random.Random) -> Chosen:
    """A random option of each reading; the default where that disagrees with those before."""
    chosen = list(trials.default)
    for place, reading in enumerate(trials.readings):
        before = chosen[place]
        chosen[place] = rng.choice(reading.options).name
        if not trials.agree(tuple(chosen)):
            chosen[place] = before
    return tuple(chosen)


def _shuffled(items: Iterable[T], rng: random.Random) -> list[T]:
    listed = list(items)
    rng.shuffle(listed)
    return listed


class _Trials:
    """Runs and judges combinations of readings, each run once: what a combination leaves as it is has the same key."""

    def __init__(
        self,
        paper: Paper,
        *,
        quick: bool,
        jobs: int,
        seed: int,
        out: Path | None,
        progress: _runner.Progress | None,
        on: str | Client | None,
    ) -> None:
        self.seed, self.jobs, self.out, self.on, self.progress = seed, jobs, out, on, progress
        self.scale = _runner.scale_of(paper, quick=quick)
        self.experiments: Mapping[ExperimentKey, Experiment] = paper.experiments()
        every = tuple(paper.readings())
        changed = {
            reading.name: {
                key
                for option in reading.others
                for key in _joint.changed_experiments(self.experiments, Setting(reading, option), self.scale)
            }
            for reading in every
        }
        self.claims = [
            claim
            for claim in _runner.check_measures(paper.claims(), self.experiments)
            if claim.evidence in SCORED and self._can_change(claim, changed.values())
        ]
        self.keys = {key for claim in self.claims if claim.measure for key in claim.measure.experiments}
        self.readings = tuple(reading for reading in every if changed[reading.name] & self.keys)
        self.default: Chosen = tuple(reading.default for reading in self.readings)
        self.samples: dict[str, Sample] = {}
        self.limit = 1
        self.best = self.default
        self._scores: dict[Chosen, tuple[int, int, int]] = {}
        self._keys: dict[tuple[ExperimentKey, str, int, Chosen], str] = {}
        self._conflicts: dict[tuple[str, str], bool] = {}

    def _can_change(self, claim: Claim, changed: Iterable[set[ExperimentKey]]) -> bool:
        """Whether a reading changes what a claim rests on. Measurements of time and memory are no part of a search."""
        keys = set(claim.measure.experiments) if claim.testable and claim.measure else set()
        simulated = all(self.experiments[key].measure is None for key in keys)
        return simulated and any(keys & those for those in changed)

    @property
    def seen(self) -> int:
        """Combinations that were run."""
        return len(self._scores)

    def settings(self, chosen: Chosen) -> tuple[Setting, ...]:
        """The settings of a combination that are not the default."""
        return tuple(
            Setting(reading, next(option for option in reading.options if option.name == name))
            for reading, name in zip(self.readings, chosen, strict=True)
            if name != reading.default
        )

    def agree(self, chosen: Chosen) -> bool:
        """Whether no two settings give a key of a scenario different values."""
        return not any(self._conflict(*pair) for pair in pairs_of(self.settings(chosen), 2))

    def _conflict(self, first: Setting, second: Setting) -> bool:
        key = (str(first), str(second))
        if key not in self._conflicts:
            found = _joint.conflict(self.experiments, first, second, self.scale)
            self._conflicts[key] = found is not None
        return self._conflicts[key]

    def score(self, chosen: Chosen) -> tuple[int, int, int]:
        """Confirmed rows on the seeds of the search, then those confirmed in part, then how few settings that takes."""
        if chosen not in self._scores:
            if self.seen >= self.limit:
                raise _Spent
            try:
                count = _count(self.rows(chosen, held_out=False).values())
                found = (count.confirmed, count.partly, -len(self.settings(chosen)))
            except NO_ROW:
                # readings that no scenario takes together, or that leave an experiment nothing to measure, satisfy no row
                found = (-1, 0, 0)
            self._scores[chosen] = found
            if found > self._scores[self.best]:
                self.best = chosen
        return self._scores[chosen]

    def rows(self, chosen: Chosen, *, held_out: bool) -> Rows:
        """Judged claims, on one half of the seeds."""
        collected = self._samples(chosen, held_out=held_out)
        rows = {}
        for claim in self.claims:
            assert claim.measure is not None
            rows[claim.id], _ = _runner.judge_one(claim, claim.measure, collected, self.scale)
        return rows

    def rows_or_none_testable(self, chosen: Chosen, *, held_out: bool) -> Rows:
        """Judged claims; no row is testable where an experiment cannot be run or has nothing to measure."""
        try:
            return self.rows(chosen, held_out=held_out)
        except NO_ROW as error:
            return {
                claim.id: {**_runner.nothing_measured(claim, error), "one_run": False}
                for claim in self.claims
            }

    def without_chance(self, chosen: Chosen) -> list[ExperimentKey]:
        """Experiments of which all seeds give the same run, over both halves; none where a half has nothing to measure."""
        try:
            halves = [self._samples(chosen, held_out=held_out).by_case for held_out in (False, True)]
        except NO_ROW:
            return []
        both = Samples({case: [*halves[0][case], *halves[1][case]] for case in halves[0]})
        return [key for key in self.experiments if key in self.keys and _runner.without_chance(both, [key])]

    def _samples(self, chosen: Chosen, *, held_out: bool) -> Samples:
        runs = list(self._runs(self.settings(chosen), held_out=held_out))
        missing = {key: run for key, run in runs if key not in self.samples}
        done = _runner.run_all(
            list(missing.values()),
            jobs=self.jobs,
            out=self.out,
            progress=self._report(held_out=held_out),
            on=self.on,
        )
        self.samples.update({key: sample for key, (_, sample) in zip(missing, done, strict=True)})
        return _runner.collect([(run, self.samples[key]) for key, run in runs])

    def _report(self, *, held_out: bool) -> _runner.Progress | None:
        """Progress in combinations, of which a search runs no more than its limit."""
        if (progress := self.progress) is None:
            return None

        def report(done: int, total: int, what: str) -> None:
            best = self._scores.get(self.best)
            rows = "" if best is None else f", best {best[0]} of {len(self.claims)} rows"
            at = "the other half of the seeds" if held_out else f"combination {self.seen + 1}"
            progress(self.seen, self.limit, f"{at}{rows}, run {done} of {total}, {what}")

        return report

    def _runs(self, settings: Sequence[Setting], *, held_out: bool) -> Iterator[tuple[str, _runner.Run]]:
        """The runs of a combination with their keys: the first half of the seeds, or those that follow."""
        for name in self.experiments:
            if name not in self.keys:
                continue
            usual = self.experiments[name]
            own = tuple(setting for setting in settings if setting.option.concerns(name))
            experiment = replace(usual, tree=_joint.with_settings(usual, own))
            for variant in usual.variants:
                for number in _half_of(seeds_of(usual, variant, self.scale), held_out=held_out):
                    run = _runner.Run(experiment, variant, self.seed + number, self.scale)
                    memo = (name, variant, run.seed, tuple(map(str, own)))
                    if memo not in self._keys:
                        self._keys[memo] = run.key
                    yield self._keys[memo], run


def rows_on(claims: Iterable[Claim], experiments: Iterable[str]) -> list[str]:
    """Ids of the claims that rest on these experiments alone."""
    known = set(experiments)
    return [claim.id for claim in claims if claim.measure and known.issuperset(claim.measure.experiments)]


def _half_of(seeds: int, *, held_out: bool) -> range:
    """Numbers of the first half of the seeds, one at least; or of those that follow, one at least."""
    training = max(1, seeds // 2)
    return range(training, max(seeds, training + 1)) if held_out else range(training)


def _count(rows: Iterable[Mapping[str, Any]]) -> Count:
    verdicts = [row["verdict"] for row in rows]
    return Count(
        confirmed=verdicts.count("reproduced"),
        partly=verdicts.count("partly"),
        contradicted=verdicts.count("not reproduced"),
    )


def _half(default: Rows, joint: Rows) -> Half:
    def rank(rows: Rows, name: str) -> int:
        return BETTER.index(rows[name]["verdict"])

    return Half(
        default=_count(default.values()),
        joint=_count(joint.values()),
        gained=tuple(name for name in default if rank(joint, name) < rank(default, name)),
        lost=tuple(name for name in default if rank(joint, name) > rank(default, name)),
    )
