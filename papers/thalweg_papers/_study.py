"""Studies and papers with what can be done with them: they are run, emulated and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _base
from ._base import COMBINATIONS, EMULATIONS_PER_CORE, STARTS

if TYPE_CHECKING:
    from os import PathLike

    from distributed import Client

    from ._claims import Claim
    from ._joint import Joint, Setting
    from ._phases import Phases
    from ._profiles import Profile
    from ._readings import Comparison, Reading
    from ._reproduction import Reproduction
    from ._scenarios import StudyScenario
    from ._search import Found
    from ._specific import Substitution
    from ._substitution import Substituted


def claims_loader(package: str, file: Path) -> Callable[[], Sequence[Claim]]:
    """A function that reads the claims of a package's paper from a file, and finds the measures that they name."""

    def load() -> Sequence[Claim]:
        from ._claims import read

        return read(file, package)

    return load


def readings_loader(package: str, file: Path) -> Callable[[], tuple[Reading, ...]]:
    """A function that reads the readings of a package's paper from a file, with the changes that they name."""

    def load() -> tuple[Reading, ...]:
        from ._readings import read

        return read(file, package)

    return load


def joint_loader(module_file: str) -> Callable[[], Joint | None]:
    """A function that reads the file ``joint.toml`` beside a module of a paper."""

    def load() -> Joint | None:
        from ._joint import read

        return read(Path(module_file).with_name("joint.toml"))

    return load


def phases_loader(module_file: str) -> Callable[[], Phases | None]:
    """A function that reads the file ``phases.toml`` beside a module of a paper."""

    def load() -> Phases | None:
        from ._phases import FILE, read

        return read(Path(module_file).with_name(FILE))

    return load


def substitution_loader(module_file: str) -> Callable[[], Substitution | None]:
    """A function that reads the file ``substitution.toml`` beside a module of a paper."""

    def load() -> Substitution | None:
        from ._specific import read

        return read(Path(module_file).with_name("substitution.toml"))

    return load


class Study(_base.Study):
    """Experiments and figures that can be run from end to end."""

    def reproduce(
        self,
        *,
        figure: str | None = None,
        claim: str | None = None,
        quick: bool = False,
        jobs: int = 2,
        seed: int = 1,
        out: str | PathLike[str] | None = None,
        progress: Callable[[int, int, str], object] | None = None,
        on: str | Client | None = None,
        changes: Mapping[str, Any] | None = None,
        readings: Sequence[str] = (),
        jitter: bool = False,
    ) -> Reproduction:
        """See `thalweg_papers.reproduce`."""
        from ._runner import reproduce_study

        if self.only_emulated:
            raise KeyError(f"{self.name!r} is about real time: it can be emulated only")
        return reproduce_study(
            self,
            figure=figure,
            claim=claim,
            quick=quick,
            jobs=jobs,
            seed=seed,
            out=None if out is None else Path(out),
            progress=progress,
            on=on,
            changes=changes,
            readings=readings,
            jitter=jitter,
        )

    def scenarios(
        self,
        *,
        figure: str | None = None,
        claim: str | None = None,
        quick: bool = False,
        seed: int = 1,
        changes: Mapping[str, Any] | None = None,
        jitter: bool = False,
    ) -> list[StudyScenario]:
        """The scenarios of the study, or of one figure or claim, without running them; arguments as `reproduce` has.

        Each has the first seed of its runs; with ``jitter`` there is one for each seed, with its delays. Measurements of
        time and memory have no scenario.
        """
        from ._runner import study_scenarios

        return study_scenarios(
            self, figure=figure, claim=claim, quick=quick, seed=seed, changes=changes, jitter=jitter
        )

    def emulate(
        self,
        *,
        minutes: float | None = 10.0,
        at_once: int | None = None,
        seed: int = 1,
        out: str | PathLike[str] | None = None,
        progress: Callable[[float, float, str], object] | None = None,
    ) -> Reproduction:
        """See `thalweg_papers.emulate`."""
        import os

        from thalweg.errors import EmulationError
        from thalweg.real import emulation_refusal

        from ._emulation import emulate_study

        if self.emulated is None:
            raise KeyError(f"nothing of {self.name!r} is emulated")
        if (why := emulation_refusal()) is not None:
            raise EmulationError(why, "run it as root; `thalweg doctor` says what is missing")
        return emulate_study(
            self,
            minutes=minutes,
            at_once=at_once or EMULATIONS_PER_CORE * (os.cpu_count() or 1),
            seed=seed,
            out=None if out is None else Path(out),
            progress=progress,
        )


class Paper(Study, _base.Paper):
    """A paper that can be reproduced, with its claims."""

    def settings(self, texts: Sequence[str], *, quick: bool = False) -> tuple[Setting, ...]:
        """The readings that texts such as ``early=residue,deviation=standard`` name.

        Raises ``KeyError`` for unknown names, and ``ValueError`` for a text that names none and for readings that give one
        key of a scenario different values.
        """
        from ._joint import settings_of
        from ._runner import scale_of

        return settings_of(self, texts, scale_of(self, quick=quick))

    def all_profiles(self) -> list[Profile]:
        """The profiles of the paper, and the one of the readings that a search chose."""
        from ._joint import profiles_of

        return profiles_of(self)

    def search_readings(
        self,
        *,
        quick: bool = False,
        starts: int = STARTS,
        combinations: int = COMBINATIONS,
        jobs: int = 2,
        seed: int = 1,
        out: str | PathLike[str] | None = None,
        progress: Callable[[int, int, str], object] | None = None,
        on: str | Client | None = None,
    ) -> Found:
        """See `thalweg_papers.search_readings`."""
        from ._search import search

        folder = None if out is None else Path(out)
        return search(
            self,
            quick=quick,
            starts=starts,
            combinations=combinations,
            jobs=jobs,
            seed=seed,
            out=folder,
            progress=progress,
            on=on,
        )

    def compare_readings(
        self,
        *,
        claim: str | None = None,
        quick: bool = False,
        jobs: int = 2,
        seed: int = 1,
        out: str | PathLike[str] | None = None,
        progress: Callable[[int, int, str], object] | None = None,
        on: str | Client | None = None,
    ) -> Comparison:
        """See `thalweg_papers.compare_readings`."""
        from ._readings import compare

        folder = None if out is None else Path(out)
        return compare(
            self, claim=claim, quick=quick, jobs=jobs, seed=seed, out=folder, progress=progress, on=on
        )

    def substitute_schemes(
        self,
        *,
        claim: str | None = None,
        quick: bool = False,
        jobs: int = 2,
        seed: int = 1,
        out: str | PathLike[str] | None = None,
        progress: Callable[[int, int, str], object] | None = None,
        on: str | Client | None = None,
    ) -> Substituted:
        """See `thalweg_papers.substitute_schemes`."""
        from ._substitution import substitute

        folder = None if out is None else Path(out)
        return substitute(
            self, claim=claim, quick=quick, jobs=jobs, seed=seed, out=folder, progress=progress, on=on
        )
