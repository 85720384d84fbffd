"""Papers and comparisons that can be reproduced, found by the entry points of installed distributions.

The distribution `thalweg-papers` has the papers of this project. Any other adds its own with an entry point of the group
`thalweg.papers`: its name is the study's, and it points to a `thalweg_papers.Study`.

>>> from thalweg import papers
>>> papers.find("mca").reproduce(quick=True)  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from importlib.metadata import EntryPoint
    from os import PathLike

GROUP = "thalweg.papers"
"""Group of the entry points."""

INSTALL = "`pip install thalweg-papers`, or `pip install ./papers` in a copy of the repository, installs them"
"""The hint if no study is installed."""


class Live(Protocol):
    """A figure that can also run over real sockets of this host."""

    @property
    def name(self) -> str:
        """File name of the figure, without its extension."""

    @property
    def title(self) -> str:
        """Title of the table."""

    @property
    def columns(self) -> Sequence[tuple[str, str]]:
        """Keys of the table's rows and their headings."""

    @property
    def run(
        self,
    ) -> Callable[[bool, Callable[[float, float, str], object]], tuple[list[dict[str, Any]], str]]:
        """Runs all or a short part of it, with progress; returns the rows of the table, and the figure as SVG."""


class Paper(Protocol):
    """A study with claims, and with readings for questions that the paper leaves open."""

    @property
    def readings(self) -> Callable[[], Sequence[object]]:
        """Passages of the paper that have several readings, with the options."""

    def compare_readings(
        self,
        *,
        claim: str | None = None,
        quick: bool = False,
        jobs: int = 2,
        seed: int = 1,
        out: str | PathLike[str] | None = None,
        progress: Callable[[int, int, str], object] | None = None,
        on: Any = None,
    ) -> Any:
        """Runs each option by itself and judges the claims that it touches."""

    def settings(self, texts: Sequence[str], *, quick: bool = False) -> Sequence[object]:
        """The readings that texts name. Raises ``KeyError`` or ``ValueError`` where they name none or exclude each other."""

    def search_readings(
        self,
        *,
        quick: bool = False,
        starts: int = 3,
        combinations: int = 200,
        jobs: int = 2,
        seed: int = 1,
        out: str | PathLike[str] | None = None,
        progress: Callable[[int, int, str], object] | None = None,
        on: Any = None,
    ) -> Any:
        """Searches for the readings that together satisfy the most claims."""


class WithSubstitutes(Protocol):
    """A study with claims, and with other schemes to put in the place of its scheme."""

    @property
    def substitutes(self) -> Callable[[], object | None]:
        """The other schemes; None for a study without any."""

    def substitute_schemes(
        self,
        *,
        claim: str | None = None,
        quick: bool = False,
        jobs: int = 2,
        seed: int = 1,
        out: str | PathLike[str] | None = None,
        progress: Callable[[int, int, str], object] | None = None,
        on: Any = None,
    ) -> Any:
        """Runs each of them in its place and judges the claims about results."""


class Study(Protocol):
    """A paper with its claims, or a comparison without claims."""

    @property
    def name(self) -> str:
        """Its name in `thalweg reproduce`."""

    @property
    def of_paper(self) -> bool:
        """It makes claims; otherwise it is a comparison of its own."""

    @property
    def only_emulated(self) -> bool:
        """It has a real-time part only."""

    @property
    def emulated(self) -> object | None:
        """The part that can also run in real time."""

    @property
    def live(self) -> Callable[[], Live] | None:
        """The part that can also run over real sockets."""

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
        on: Any = None,
        changes: Mapping[str, Any] | None = None,
        readings: Sequence[str] = (),
        jitter: bool = False,
    ) -> Any:
        """Simulates the experiments, draws the figures and judges the claims."""

    def scenarios(
        self,
        *,
        figure: str | None = None,
        claim: str | None = None,
        quick: bool = False,
        seed: int = 1,
        changes: Mapping[str, Any] | None = None,
        jitter: bool = False,
    ) -> Sequence[Any]:
        """The scenarios, without running them: each has `name`, `toml` and `seeds`."""

    def emulate(
        self,
        *,
        minutes: float | None = 10.0,
        at_once: int | None = None,
        seed: int = 1,
        out: str | PathLike[str] | None = None,
        progress: Callable[[float, float, str], object] | None = None,
    ) -> Any:
        """Runs the tests in real time, beside their simulation."""


def names() -> list[str]:
    """Names of all installed studies; none is imported."""
    return sorted(entry.name for entry in _entries())


def find(name: str) -> Study:
    """The study of that name. Raises ``KeyError`` if it is not installed."""
    for entry in _entries():
        if entry.name == name:
            study: Study = entry.load()
            return study
    there = names()
    raise KeyError(
        f"no paper is called {name!r}; the names are {', '.join(there)}"
        if there
        else f"no papers are installed; {INSTALL}"
    )


def with_readings(name: str) -> Paper | None:
    """The paper of that name where it has readings; None where it has none. Raises ``KeyError`` as `find` does."""
    study: Any = find(name)
    return study if getattr(study, "readings", tuple)() else None


def with_substitutes(name: str) -> WithSubstitutes | None:
    """The paper of that name where it names other schemes; None where it does not. Raises ``KeyError`` as `find` does."""
    study: Any = find(name)
    return study if getattr(study, "substitutes", lambda: None)() is not None else None


def _entries() -> Sequence[EntryPoint]:
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))
