"""Readings: passages of a paper that have several readings, the options, and their effect on the paper's claims.

A reading changes scenarios and nothing else. An experiment is affected by an option where a scenario of it changes, so that
nobody lists which claims an option touches.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from ._base import Experiment, ExperimentKey, Paper, Scale, Tree
from ._claims import nearest

if TYPE_CHECKING:
    from distributed import Client

    from ._claims import Claim
    from ._runner import Progress, Run

Change = Callable[[Tree], None]
"""Edits a scenario in place; it is given a copy. A scenario that it does not concern is left as it is."""


@dataclass(frozen=True)
class Option:
    """One way to read the paper."""

    name: str
    sentence: str
    """The sentence of the paper that supports it, with its place; or a remark that it is Thalweg's."""
    change: Change | None = None
    """The change of scenarios; None for the default, which changes nothing."""
    only: tuple[ExperimentKey, ...] = ()
    """The experiments that it changes; all where it is empty."""
    whole: bool = False
    """It is a rule of the scheme, which several readings at once change in all experiments; by itself it runs in `only`."""

    def concerns(self, experiment: ExperimentKey) -> bool:
        """Whether it changes an experiment together with other readings."""
        return self.whole or not self.only or experiment in self.only


@dataclass(frozen=True)
class Reading:
    """A question that the paper leaves open, and its possible answers."""

    name: str
    question: str
    options: tuple[Option, ...]
    default: str
    """The option that all runs of the paper use: chosen by what the paper says, not by what it reproduces."""

    def __post_init__(self) -> None:
        names = [option.name for option in self.options]
        if len(set(names)) != len(names):
            raise ValueError(f"reading {self.name}: two options have one name")
        unchanged = [option.name for option in self.options if option.change is None]
        if unchanged != [self.default]:
            raise ValueError(
                f"reading {self.name}: `{self.default}` must be the one option that changes nothing; "
                f"there are: {', '.join(unchanged) or 'none'}"
            )

    @property
    def others(self) -> tuple[Option, ...]:
        """Options beside the default."""
        return tuple(option for option in self.options if option.name != self.default)


def parameters(scheme: str, **values: Any) -> Change:
    """A change of parameters in all flows of a scheme."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if flow.get("scheme") == scheme:
                flow["params"] = {**flow.get("params", {}), **values}

    return change


class OptionRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An option as it is written in ``readings.toml``."""

    name: str
    sentence: str
    change: dict[str, Any] = {}
    only: tuple[str, ...] = ()
    whole: bool = False


class ReadingRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reading as it is written in ``readings.toml``."""

    name: str
    question: str
    default: str
    option: tuple[OptionRow, ...]


def read(path: Path, package: str) -> tuple[Reading, ...]:
    """All readings, in the order of the file, with what they name in the module ``readings`` of a package.

    Raises ``ValueError`` that names the file, the reading, the option and the key.
    """
    with path.open("rb") as file:
        rows = tomllib.load(file)["reading"]
    home = import_module(f"{package}.readings")
    keys = {str(key): (key,) for key in import_module(f"{package}.keys").Key}
    sets = keys | {name: found for name, found in vars(home).items() if name.isupper()}
    readings = []
    for row in rows:
        place = f"{path}: reading {row.get('name', '?')}"
        try:
            reading = msgspec.convert(row, ReadingRow)
            options = []
            for option in reading.option:
                place = f"{path}: reading {reading.name}, option {option.name}"
                options.append(
                    Option(
                        option.name,
                        option.sentence,
                        _change(home, option.change),
                        tuple(key for name in option.only for key in _experiments(sets, name)),
                        option.whole,
                    )
                )
            place = f"{path}: reading {reading.name}"
            readings.append(Reading(reading.name, reading.question, tuple(options), reading.default))
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    return tuple(readings)


def _change(home: ModuleType, written: Mapping[str, Any]) -> Change | None:
    """The change that a table of a function and its arguments names; None for an empty one."""
    if not written:
        return None
    known: dict[str, Callable[..., Any]] = {"parameters": parameters}
    known |= {
        name: made
        for name, made in vars(home).items()
        if isinstance(made, FunctionType) and not name.startswith("_")
    }
    ((name, given),) = written.items() if len(written) == 1 else (("", None),)
    if name not in known:
        raise ValueError(f"change: one function of {home.__name__} is needed{nearest(name, sorted(known))}")
    made = known[name]
    try:
        match given:
            case True:
                change: Change = made
            case dict():
                change = made(**given)
            case list():
                change = made(*given)
            case _:
                change = made(given)
    except TypeError as error:
        raise ValueError(f"change: {error}") from error
    return change


def _experiments(sets: Mapping[str, tuple[ExperimentKey, ...]], name: str) -> tuple[ExperimentKey, ...]:
    """The experiment of this name, or the set of this name in capitals."""
    if name not in sets:
        raise ValueError(f"only: no experiment `{name}`{nearest(name, list(sets))}")
    return sets[name]


def affected_experiments(
    experiments: Mapping[ExperimentKey, Experiment], option: Option, scale: Scale
) -> set[ExperimentKey]:
    """The experiments of which an option changes a scenario. Raises ``ValueError`` where there are none."""
    found = {
        key
        for key, experiment in experiments.items()
        if experiment.measure is None
        and (not option.only or key in option.only)
        and any(
            _edited(experiment, option)(v, scale) != experiment.tree(v, scale) for v in experiment.variants
        )
    }
    if option.change is not None and not found:
        raise ValueError(f"option {option.name}: no scenario changes")
    return found


@dataclass
class Comparison:
    """The effect of the options of a paper's readings on its claims."""

    paper: str
    title: str
    readings: list[dict[str, Any]]
    """Question, default and options of each reading."""
    claims: list[dict[str, Any]]
    """Claims that an option changes: as it is judged, and `options`, by reading and option, with what becomes of it."""
    unchanged: dict[str, int]
    """By reading: claims that its experiments feed and no option changes."""
    runs: int
    quick: bool
    seed: int
    claim: str | None = None
    """The only requested claim; None for all. It is listed even if no option changes it."""
    notes: list[str] = field(default_factory=list)

    def rows(self, reading: str) -> list[dict[str, Any]]:
        """The claims that an option of this reading changes."""
        return [
            claim
            for claim in self.claims
            if any(case["changed"] for case in claim["options"].get(reading, {}).values())
        ]

    def as_dict(self) -> dict[str, Any]:
        """All values as JSON types."""
        return {
            "paper": self.paper,
            "title": self.title,
            "quick": self.quick,
            "seed": self.seed,
            "claim": self.claim,
            "readings": self.readings,
            "claims": self.claims,
            "unchanged": self.unchanged,
            "runs": self.runs,
            "notes": self.notes,
        }


def compare(
    paper: Paper,
    *,
    claim: str | None,
    quick: bool,
    jobs: int,
    seed: int,
    out: Path | None,
    progress: Progress | None,
    on: str | Client | None,
) -> Comparison:
    """Runs each option by itself over the claims that its experiments feed. See `thalweg_papers.compare_readings`."""
    from . import _runner

    readings, experiments = tuple(paper.readings()), paper.experiments()
    claims = _runner.check_measures(paper.claims(), experiments)
    if claim is not None:
        one = _runner.find_claim(paper, claims, claim)
        claim, claims = one.id, [one]
    scale = Scale(paper.quick_factor, fewer=True) if quick else Scale()
    cases = [
        _OptionCase(reading, option, affected_experiments(experiments, option, scale))
        for reading in readings
        for option in reading.others
    ]
    cases = [case for case in cases if case.affected(claims)]
    if claim is not None and not cases:
        raise KeyError(f"no reading of {paper.name} touches {claim}")
    needed: dict[_OptionCase | None, list[Run]] = {}
    for case in cases:
        affected = {key for claim in case.affected(claims) for key in _experiments_of(claim)}
        needed[case] = _runner.plan(case.experiments(experiments).values(), affected & case.keys, scale, seed)
    default_keys = {
        key for case in cases for claim in case.affected(claims) for key in _experiments_of(claim)
    }
    needed[None] = _runner.plan(experiments.values(), default_keys, scale, seed)

    # a variant that an option leaves as it is has the same key as without it, and runs once
    runs = {run.key: run for planned in needed.values() for run in planned}
    done = _runner.run_all(list(runs.values()), jobs=jobs, out=out, progress=progress, on=on)
    samples = {key: sample for key, (_, sample) in zip(runs, done, strict=True)}

    def judge_claims(case: _OptionCase | None, of: Iterable[Claim]) -> dict[str, dict[str, Any]]:
        """Rows of claims by id, with the runs of an option where it has some."""
        taken = [run for run in needed[None] if case is None or run.experiment.name not in case.keys]
        collected = _runner.collect(
            [(run, samples[run.key]) for run in (*(needed[case] if case else ()), *taken)]
        )
        return {
            claim.id: _runner.judge_one(claim, claim.measure, collected, scale)[0]
            for claim in of
            if claim.measure
        }

    usual = judge_claims(
        None,
        [claim for claim in claims if any(case.affected([claim]) for case in cases)],
    )
    options = {case: judge_claims(case, case.affected(claims)) for case in cases}
    return Comparison(
        paper=paper.name,
        title=paper.title,
        readings=[_described(reading) for reading in readings],
        claims=list(_rows(usual, options, every=claim is not None)),
        unchanged={reading.name: _unchanged(reading, usual, options) for reading in readings},
        runs=len(runs),
        quick=quick,
        seed=seed,
        claim=claim,
        notes=_runner.notes(paper, scale, None, claim),
    )


@dataclass(frozen=True, eq=False)
class _OptionCase:
    """An option of a reading, and the experiments that it changes."""

    reading: Reading
    option: Option
    keys: set[ExperimentKey]

    def experiments(self, usual: Mapping[ExperimentKey, Experiment]) -> dict[ExperimentKey, Experiment]:
        """The changed experiments."""
        return {
            key: replace(usual[key], tree=_edited(usual[key], self.option))
            for key in usual
            if key in self.keys
        }

    def affected(self, claims: Iterable[Claim]) -> list[Claim]:
        """The claims that rest on one of the changed experiments."""
        return [claim for claim in claims if self.keys.intersection(_experiments_of(claim))]


def _experiments_of(claim: Claim) -> tuple[ExperimentKey, ...]:
    return claim.measure.experiments if claim.testable and claim.measure else ()


def _edited(experiment: Experiment, option: Option) -> Callable[[str, Scale], Tree]:
    """Scenarios of an experiment as an option changes them."""

    def tree(variant: str, scale: Scale) -> Tree:
        edited = deepcopy(experiment.tree(variant, scale))
        if option.change is not None:
            option.change(edited)
        return edited

    return tree


def _described(reading: Reading) -> dict[str, Any]:
    return {
        "name": reading.name,
        "question": reading.question,
        "default": reading.default,
        "options": [{"name": option.name, "sentence": option.sentence} for option in reading.options],
    }


def _rows(
    usual: Mapping[str, dict[str, Any]],
    options: Mapping[_OptionCase, Mapping[str, dict[str, Any]]],
    *,
    every: bool,
) -> Iterable[dict[str, Any]]:
    """Claims that an option changes, or every one that was judged, in the order of the paper."""
    for name, before in usual.items():
        found: dict[str, dict[str, Any]] = {}
        for case, rows in options.items():
            if name in rows:
                after = rows[name]
                found.setdefault(case.reading.name, {})[case.option.name] = {
                    **{key: after[key] for key in RESULT},
                    "changed": differs(before, after),
                }
        if every or any(case["changed"] for reading in found.values() for case in reading.values()):
            yield {**{key: before[key] for key in COLUMNS}, "options": found}


RESULT = ("verdict", "measured", "quantity", "low", "high", "unit", "limit", "n", "checks")
COLUMNS = ("id", "source", "statement", "expected", *RESULT)
"""Columns of a claim in a comparison."""


def differs(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a claim's verdict is another, or another quantity decides, or the 95 % intervals of that do not overlap."""
    if before["verdict"] != after["verdict"] or before["quantity"] != after["quantity"]:
        return True
    if before["measured"] is None or after["measured"] is None:
        return bool(before["measured"] != after["measured"])
    # the same number but for the order of a sum
    floor = 1e-9 * max(abs(before["measured"]), abs(after["measured"]))
    (low, high), (other_low, other_high) = _ends(before), _ends(after)
    return bool(other_low - high > floor or low - other_high > floor)


def _ends(claim: Mapping[str, Any]) -> tuple[float, float]:
    """The interval of what decides a claim; twice the number without an interval."""
    low, high = claim["low"], claim["high"]
    return (claim["measured"], claim["measured"]) if low is None or high is None else (low, high)


def _unchanged(
    reading: Reading,
    usual: Mapping[str, dict[str, Any]],
    options: Mapping[_OptionCase, Mapping[str, dict[str, Any]]],
) -> int:
    affected = {name for case, rows in options.items() if case.reading is reading for name in rows}
    return sum(
        not any(
            differs(usual[name], rows[name])
            for case, rows in options.items()
            if case.reading is reading and name in rows
        )
        for name in affected
    )
