"""Several readings of a paper at once: as a command names them, or as a search found them (`joint.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ._base import STARTS, Experiment, ExperimentKey, Paper, Scale, Tree
from ._profiles import Profile

if TYPE_CHECKING:
    from ._readings import Option, Reading

JOINT = "joint"
"""Name of the profile of `joint.toml`."""

FITTED_JOINTLY = "fitted jointly"
"""Mark of its rows."""


@dataclass(frozen=True)
class Setting:
    """A reading and the chosen option."""

    reading: Reading
    option: Option

    def __str__(self) -> str:
        return f"{self.reading.name}={self.option.name}"


def words(settings: Iterable[Setting]) -> str:
    """The settings as a command names them, with spaces."""
    return ", ".join(map(str, settings))


def parse(readings: Sequence[Reading], texts: Iterable[str]) -> tuple[Setting, ...]:
    """Settings from texts such as ``early=residue,deviation=standard``, in the order of the readings.

    Raises ``KeyError`` for names that do not exist, with the nearest and with all, and ``ValueError`` for a text without
    ``=`` and for a reading that is named twice.
    """
    by_name = {reading.name: reading for reading in readings}
    found: dict[str, Setting] = {}
    for text in (part.strip() for whole in texts for part in whole.split(",")):
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ValueError(f"{text!r} is not a reading and an option, such as {_example(readings)}")
        if name not in by_name:
            raise KeyError(f"no reading is called {name!r}{_nearest(name, list(by_name))}")
        options = {option.name: option for option in by_name[name].options}
        if value not in options:
            raise KeyError(f"the reading {name} has no option {value!r}{_nearest(value, list(options))}")
        if name in found:
            raise ValueError(f"the reading {name} is named twice")
        found[name] = Setting(by_name[name], options[value])
    return tuple(found[name] for name in by_name if name in found)


def _example(readings: Sequence[Reading]) -> str:
    return str(Setting(readings[0], readings[0].others[0])) if readings else "early=residue"


def _nearest(word: str, known: list[str]) -> str:
    begin = [name for name in known if name.startswith(word)]
    near = begin or get_close_matches(word, known, 1, 0.4)
    return (f"; did you mean {near[0]}? There are: " if near else "; there are: ") + ", ".join(known)


def with_settings(experiment: Experiment, settings: Iterable[Setting]) -> Callable[[str, Scale], Tree]:
    """Scenarios of an experiment as several options change them, in order."""
    changes = [
        setting.option.change
        for setting in settings
        if setting.option.change is not None and setting.option.concerns(experiment.name)
    ]

    def tree(variant: str, scale: Scale) -> Tree:
        edited = deepcopy(experiment.tree(variant, scale))
        for change in changes:
            change(edited)
        return edited

    return tree


def changed_experiments(
    experiments: Mapping[ExperimentKey, Experiment], setting: Setting, scale: Scale
) -> set[ExperimentKey]:
    """The experiments of which a setting changes a scenario when it is one of several."""
    if setting.option.change is None:
        return set()
    return {
        key
        for key, experiment in experiments.items()
        if experiment.measure is None
        and setting.option.concerns(key)
        and any(
            with_settings(experiment, (setting,))(variant, scale) != experiment.tree(variant, scale)
            for variant in experiment.variants
        )
    }


def conflict(
    experiments: Mapping[ExperimentKey, Experiment], first: Setting, second: Setting, scale: Scale
) -> str | None:
    """The first key of a scenario that two settings give different values, so that their order would matter; or None."""
    for experiment in experiments.values():
        if experiment.measure is not None or not all(
            one.option.change is not None and one.option.concerns(experiment.name) for one in (first, second)
        ):
            continue
        one_way, other_way = (with_settings(experiment, pair) for pair in ((first, second), (second, first)))
        for variant in experiment.variants:
            if (key := _first_difference(one_way(variant, scale), other_way(variant, scale))) is not None:
                return key
    return None


def check(experiments: Mapping[ExperimentKey, Experiment], settings: Sequence[Setting], scale: Scale) -> None:
    """Raises ``ValueError`` with the settings that give one key different values, and the key."""
    for number, second in enumerate(settings):
        for first in settings[:number]:
            if (key := conflict(experiments, first, second, scale)) is not None:
                raise ValueError(f"{first} and {second} give {key} different values; leave one of them out")


def _first_difference(one: Any, other: Any, path: str = "") -> str | None:
    """The dotted key of the first difference of two trees; parts of a list are called by their names."""
    if one == other:
        return None
    pairs: Iterable[tuple[str, Any, Any]] = ()
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = ((str(key), one.get(key), other.get(key)) for key in {**one, **other})
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = ((_name_of(a, i), a, b) for i, (a, b) in enumerate(zip(one, other, strict=True)))
    for name, a, b in pairs:
        if (found := _first_difference(a, b, f"{path}.{name}" if path else name)) is not None:
            return found
    return path


def _name_of(part: Any, number: int) -> str:
    return str(part.get("name", number)) if isinstance(part, dict) else str(number)


def _nothing(_tree: Tree) -> None:
    """Changes nothing."""


@dataclass(frozen=True, kw_only=True)
class JointProfile(Profile):
    """A profile of several readings at once."""

    change: Callable[[Tree], None] = _nothing
    settings: tuple[Setting, ...]

    def edited(self, experiment: Experiment) -> Callable[[str, Scale], Tree]:
        """Scenarios of an experiment as the readings change them."""
        return with_settings(experiment, self.settings)


def requested(settings: tuple[Setting, ...]) -> JointProfile:
    """The profile of readings that a command names."""
    text = words(settings)
    return JointProfile(
        name=f"with {text}",
        sentence=f"Every row once more with {text}. The verdicts in the totals are those of the default readings.",
        settings=settings,
    )


class Count(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows by verdict, of those that a reading can change."""

    confirmed: int
    partly: int
    contradicted: int

    def __str__(self) -> str:
        return f"{self.confirmed} confirmed, {self.partly} partly, {self.contradicted} contradicted"


class Half(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What half of the seeds says of the default readings, and of those that were found."""

    default: Count
    joint: Count
    gained: tuple[str, ...] = ()
    """Rows with a better verdict than by default."""
    lost: tuple[str, ...] = ()
    """Rows with a worse one."""


class HeldOut(Half, frozen=True, forbid_unknown_fields=True):
    """What the half of the seeds says that the search did not use."""

    same_in_both_halves: tuple[str, ...] = ()
    """Rows of which, with the readings that were found, both halves are one run: no seed is held out for them."""

    def shared(self) -> str:
        """How many rows, and how many of those gained, rest on runs that are the same in both halves."""
        same = self.same_in_both_halves
        gained = len(set(same).intersection(self.gained))
        return f"{len(same)}, of which {gained} are better than by default"


class SearchFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How readings were searched for."""

    quick: bool
    seed: int
    starts: int
    combinations: int
    """Combinations of readings that were run."""
    exhausted: bool
    """Whether the search ended before its limit of combinations."""
    readings: int
    rows: int
    """Rows that a reading can change."""
    one_run: tuple[str, ...] = ()
    """Experiments in which, with these readings, each seed gives the same run."""

    def command(self, paper: str) -> str:
        """The command that searches once more."""
        words = [f"thalweg reproduce {paper} --search"]
        words += ["--quick"] if self.quick else []
        words += [f"--seed {self.seed}"] if self.seed != 1 else []
        words += [f"--starts {self.starts}"] if self.starts != STARTS else []
        words += [] if self.exhausted else [f"--combinations {self.combinations}"]
        return " ".join(words)


class Joint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`joint.toml`: readings that were chosen together, by which rows they satisfy on a half of the seeds."""

    settings: dict[str, str]
    search: SearchFacts
    training: Half
    held_out: HeldOut

    @property
    def texts(self) -> list[str]:
        """The settings as a command names them."""
        return [f"{reading}={option}" for reading, option in self.settings.items()]

    def sentence(self) -> str:
        """What was chosen, from what, and what it gains and loses on seeds that it was not chosen by."""
        chosen = len(self.settings)
        half = self.held_out
        parts = [
            f"{', '.join(self.texts) or 'the default readings'}: {chosen} of {self.search.readings} readings changed, "
            f"the best of {self.search.combinations} combinations on half of the seeds"
            + (" of quick runs" if self.search.quick else "")
            + ("" if self.search.exhausted else ", where the search was cut off"),
            f"On the other half {half.joint} of the {self.search.rows} rows that a reading can change; by default "
            f"{half.default}",
            f"Better there: {', '.join(half.gained) or 'none'}; worse: {', '.join(half.lost) or 'none'}",
            f"Every row is {FITTED_JOINTLY}, and in no total",
        ]
        if self.search.one_run:
            parts.append(
                f"Without chance, so that both halves are one run: {', '.join(self.search.one_run)}",
            )
            parts.append(f"Rows that rest on such runs alone: {half.shared()}")
        return ". ".join(parts) + "."

    def toml(self, paper: str) -> str:
        """The file."""
        lines = [
            f"# Written by `{self.search.command(paper)}`:",
            "# readings that were chosen together, by the rows that they satisfy on half of the seeds.",
            "# Beside `claims.toml` they are a profile of the report.",
        ]
        for name, table in msgspec.to_builtins(self).items():
            lines += ["", f"[{name}]", *(f"{key} = {toml_value(value)}" for key, value in table.items())]
        return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """A value as TOML, on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return msgspec.json.encode(value).decode()


def read(path: Path) -> Joint | None:
    """The file beside ``claims.toml``; None without one. Raises ``ValueError`` with its name for what is wrong in it."""
    if not path.exists():
        return None
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Joint)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def found_profile(readings: Sequence[Reading], joint: Joint, claims: Iterable[str]) -> JointProfile:
    """The profile of `joint.toml`, whose rows are all fitted jointly. Raises ``KeyError`` for readings that are no more."""
    return JointProfile(
        name=JOINT,
        sentence=joint.sentence(),
        settings=parse(readings, joint.texts),
        fitted=tuple(claims),
        mark=FITTED_JOINTLY,
    )


def settings_of(paper: Paper, texts: Sequence[str], scale: Scale) -> tuple[Setting, ...]:
    """The readings of a paper that texts such as ``early=residue,deviation=standard`` name.

    Raises ``KeyError`` for unknown names, and ``ValueError`` for a text that names none and for readings that give one
    key of a scenario different values.
    """
    found = parse(paper.readings(), texts)
    check(paper.experiments(), found, scale)
    return found


def profiles_of(paper: Paper) -> list[Profile]:
    """The profiles of a paper, and the one of the readings that a search chose."""
    profiles = list(paper.profiles())
    if (joint := paper.joint()) is not None:
        profiles.append(found_profile(paper.readings(), joint, [claim.id for claim in paper.claims()]))
    return profiles
