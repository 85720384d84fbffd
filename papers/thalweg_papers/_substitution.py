"""Substitution: a paper's results once more with other schemes in the place of the paper's.

A row that every one of them passes says nothing of the paper's scheme: it is not specific, and apart from the totals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from . import _runner
from ._base import Experiment, ExperimentKey, Paper, Samples, Scale
from ._profiles import Profile
from ._specific import Substitution, Tried, passed_by_all

if TYPE_CHECKING:
    from pathlib import Path

    from distributed import Client

    from ._claims import Claim

UNMOVED = "its numbers are the same with each of the other schemes"


@dataclass
class Substituted:
    """What became of a paper's rows with other schemes in the place of its scheme."""

    paper: str
    title: str
    substitution: Substitution
    claims: list[dict[str, Any]]
    """Rows that were tried, as they are judged with the paper's scheme; `substitutes` has them by the other schemes."""
    runs: int
    notes: list[str] = field(default_factory=list)

    @property
    def not_specific(self) -> list[str]:
        """Ids of the rows that the paper's scheme and every other one pass."""
        return [
            row["id"]
            for row in self.claims
            if row["verdict"] == "reproduced" and passed_by_all(self.substitution.tried[row["id"]].verdicts)
        ]

    def as_dict(self) -> dict[str, Any]:
        """All values as JSON types."""
        return {
            "paper": self.paper,
            "title": self.title,
            **msgspec.to_builtins(self.substitution),
            "not_specific": self.not_specific,
            "claims": self.claims,
            "runs": self.runs,
            "notes": self.notes,
        }


def substitute(
    paper: Paper,
    *,
    claim: str | None,
    quick: bool,
    jobs: int,
    seed: int,
    out: Path | None,
    progress: _runner.Progress | None,
    on: str | Client | None,
) -> Substituted:
    """See `thalweg_papers.substitute_schemes`."""
    declared = paper.substitutes()
    if declared is None:
        raise KeyError(f"{paper.name!r} names no schemes to put in the place of its own")
    experiments = paper.experiments()
    claims: Sequence[Claim] = _runner.check_measures(paper.claims(), experiments)
    if claim is not None:
        one = _runner.find_claim(paper, claims, claim)
        claim, claims = one.id, [one]
    scale = _runner.scale_of(paper, quick=quick)
    edited = {
        scheme.name: Profile(scheme.name, scheme.title, scheme.change).experiments(experiments, scale)
        for scheme in declared.schemes
    }
    changed = set[ExperimentKey].intersection(*(set(found) for found in edited.values()))
    untried = {row.id: why for row in claims if (why := declared.why_untried(row, changed))}
    tried = [row for row in claims if row.id not in untried]
    if claim is not None and not tried:
        raise KeyError(f"{claim} is not tried with other schemes: {untried[claim]}")
    keys = {key for row in tried if row.measure for key in row.measure.experiments}
    worlds: dict[str, Mapping[ExperimentKey, Experiment]] = {"": experiments, **edited}
    planned = {
        name: _runner.plan(world.values(), keys & set(world), scale, seed) for name, world in worlds.items()
    }

    # a variant without the scheme is the same in all, and runs once
    once = {run.key: run for runs in planned.values() for run in runs}
    done = _runner.run_all(list(once.values()), jobs=jobs, out=out, progress=progress, on=on)
    samples = {key: sample for key, (_, sample) in zip(once, done, strict=True)}
    usual = _runner.collect([(run, samples[run.key]) for run in planned.pop("")])
    rows = _judged(tried, usual, scale)
    others = {
        name: _judged(
            tried,
            Samples(
                {
                    **usual.by_case,
                    **_runner.collect([(run, samples[run.key]) for run in runs]).by_case,
                }
            ),
            scale,
        )
        for name, runs in planned.items()
    }
    for row in tried:
        if all(_numbers(world[row.id]) == _numbers(rows[row.id]) for world in others.values()):
            untried[row.id] = UNMOVED
    tried = [row for row in tried if row.id not in untried]
    return Substituted(
        paper=paper.name,
        title=paper.title,
        substitution=Substitution(
            quick=quick,
            seed=seed,
            schemes={scheme.name: scheme.title for scheme in declared.schemes},
            tried={
                row.id: Tried(
                    tuple(check.text for check in row.accept),
                    {name: world[row.id]["verdict"] for name, world in others.items()},
                )
                for row in tried
            },
            untried={row.id: untried[row.id] for row in claims if row.id in untried},
        ),
        claims=[
            {
                **rows[row.id],
                "substitutes": {name: world[row.id] for name, world in others.items()},
            }
            for row in tried
        ],
        runs=len(once),
        notes=_runner.notes(paper, scale, None, claim),
    )


def _judged(claims: Iterable[Claim], samples: Samples, scale: Scale) -> dict[str, dict[str, Any]]:
    return {
        claim.id: _runner.judge_one(claim, claim.measure, samples, scale)[0]
        for claim in claims
        if claim.measure
    }


def _numbers(row: Mapping[str, Any]) -> list[Any]:
    """The numbers that decide a row."""
    return [check["mean"] for check in row["checks"]]
