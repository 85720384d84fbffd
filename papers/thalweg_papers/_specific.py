"""Which rows of a paper are specific to its scheme: other schemes in its place, and their verdicts (`substitution.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from . import _joint
from ._base import ExperimentKey, Tree
from ._claims import RESULTS

if TYPE_CHECKING:
    from ._claims import Claim

NO_RESULTS = {
    "conformance": "a rule of the scheme, or arithmetic",
    "derived": "a number that follows from the paper's, but is not printed",
    "literal": "it judges another profile of the scheme",
    "set-up": "it is about our own scenario",
    "by construction": "no scheme can make it fail",
}
"""Kinds of evidence of rows that are no results of the paper, with the reason why they are not tried."""

ABSENT = "the scheme is in none of its scenarios"


@dataclass(frozen=True)
class Substitute:
    """A scheme that takes the place of the paper's."""

    name: str
    title: str
    change: Callable[[Tree], None]
    """Puts it there: edits a scenario in place. A scenario without the paper's scheme is left as it is."""


@dataclass(frozen=True)
class Substitutes:
    """The schemes that a paper's results are tried with, and the rows that cannot be."""

    schemes: tuple[Substitute, ...]
    untried: Mapping[str, str] = field(default_factory=dict)
    """Rows by id, or all rows of an experiment by its key, with the reason: what they look at, other schemes do not have."""

    def why_untried(self, claim: Claim, changed: set[ExperimentKey]) -> str | None:
        """Why a row is not tried; None where it is. `changed` are the experiments that the scheme is in."""
        measured = claim.measure.experiments if claim.measure else ()
        if not claim.testable or claim.measure is None:
            return claim.reason
        if claim.evidence in NO_RESULTS:
            return NO_RESULTS[claim.evidence]
        if not changed.intersection(measured):
            return ABSENT
        named = (self.untried[key] for key in (claim.id, *measured) if key in self.untried)
        return next(named, None)


class Tried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row, by its checks, with the verdict under each scheme."""

    accept: tuple[str, ...]
    verdicts: dict[str, str]


class Substitution(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`substitution.toml`: the verdicts of a paper's rows with other schemes in the place of its scheme."""

    quick: bool
    seed: int
    schemes: dict[str, str]
    """Titles of the other schemes, by name."""
    tried: dict[str, Tried]
    untried: dict[str, str]
    """Other rows, with the reason."""

    def of(self, claim: Claim) -> dict[str, str]:
        """The verdicts of a row by scheme; none where it was not tried, or with other checks than it has now."""
        row = self.tried.get(claim.id)
        same = row is not None and row.accept == tuple(check.text for check in claim.accept)
        return dict(row.verdicts) if row is not None and same else {}

    def toml(self, paper: str) -> str:
        """The file."""
        words = ["--quick"] if self.quick else []
        words += [f"--seed {self.seed}"] if self.seed != 1 else []
        command = " ".join([f"thalweg reproduce {paper} --substitute", *words])
        lines = [
            f"# Written by `{command}`: verdicts with other schemes in the place of the paper's.",
            "# Beside `claims.toml` they say which rows every one of them passes.",
            *(f"{key} = {_joint.toml_value(getattr(self, key))}" for key in ("quick", "seed")),
        ]
        for name in ("schemes", "tried", "untried"):
            table = msgspec.to_builtins(getattr(self, name))
            lines += [
                "",
                f"[{name}]",
                *(f"{key} = {_joint.toml_value(value)}" for key, value in table.items()),
            ]
        return "\n".join(lines) + "\n"


def read(path: Path) -> Substitution | None:
    """The file beside ``claims.toml``; None without one. Raises ``ValueError`` with its name for what is wrong in it."""
    if not path.exists():
        return None
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Substitution)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def passed_by_all(verdicts: Mapping[str, str]) -> bool:
    """Whether a row was tried, and reproduced with every scheme."""
    return bool(verdicts) and set(verdicts.values()) == {"reproduced"}


def mark(row: dict[str, Any], claim: Claim, stored: Substitution) -> None:
    """Adds to a judged row its verdicts with other schemes, and whether it is reproduced with each of them, too."""
    row["substitutes"] = stored.of(claim)
    row["not_specific"] = (
        claim.evidence in RESULTS and row["verdict"] == "reproduced" and passed_by_all(row["substitutes"])
    )
