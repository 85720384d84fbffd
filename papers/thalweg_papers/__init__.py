"""Papers reproduced: the experiments of a paper as scenarios, its figures as code, its claims as a table with verdicts.

Beside them comparisons of our own, made with the same tools, without claims.

>>> import thalweg_papers
>>> done = thalweg_papers.reproduce("mca", figure="figure-8", quick=True)  # doctest: +SKIP
>>> done.claims[0]["verdict"]  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._base import COMBINATIONS, STARTS, Figure, Live, Table
from ._reproduction import Reproduction
from ._study import Paper, Study
from .agreement import STUDY as AGREEMENT
from .background_real_time import BACKGROUND, REAL_TIME
from .controllers import STUDY as CONTROLLERS
from .cvihis import PAPER as CVIHIS
from .kernel import STUDY as KERNEL
from .l4s import STUDY as L4S
from .mca import PAPER as MCA
from .mircc import PAPER as MIRCC
from .named_data import STUDY as NAMED_DATA
from .ndnsieve import PAPER as NDNSIEVE
from .scaling import STUDY as SCALING
from .srmcc import PAPER as SRMCC

if TYPE_CHECKING:
    from os import PathLike

    from distributed import Client

    from ._readings import Comparison
    from ._search import Found
    from ._substitution import Substituted

__all__ = [
    "PAPERS",
    "STUDIES",
    "Figure",
    "Live",
    "Paper",
    "Reproduction",
    "Study",
    "Table",
    "compare_readings",
    "emulate",
    "reproduce",
    "search_readings",
    "substitute_schemes",
]

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (CVIHIS, MCA, MIRCC, NDNSIEVE, SRMCC)}
"""Every paper that can be reproduced, by name."""

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (AGREEMENT, BACKGROUND, CONTROLLERS, KERNEL, L4S, NAMED_DATA, REAL_TIME, SCALING)
}
"""Comparisons of our own, by name."""


def compare_readings(
    paper: str,
    *,
    claim: str | None = None,
    quick: bool = False,
    jobs: int = 2,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    progress: Callable[[int, int, str], object] | None = None,
    on: str | Client | None = None,
) -> Comparison:
    """Run a paper with each other reading of its open questions, one at a time, and judge the claims that this touches.

    An option of a reading changes scenarios; the claims that rest on those experiments are judged again with everything
    else as usual; with ``claim`` only that one is, whether it changes or not. The arguments are those of `reproduce`;
    measurements of the default that are kept in ``out`` are used.

    Raises ``KeyError`` for an unknown paper or claim, a paper without readings, or a claim that none touches,
    ``ValueError`` for ``jobs`` below 1.
    """
    return _with_readings(paper).compare_readings(
        claim=claim, quick=quick, jobs=jobs, seed=seed, out=out, progress=progress, on=on
    )


def search_readings(
    paper: str,
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
    """Search for the readings of a paper that together satisfy the most rows, and judge them on seeds it did not use.

    From the default, and from ``starts - 1`` random combinations, one reading at a time is changed while that confirms more
    rows; where no single change does, two at once are. The first half of the seeds of each experiment is used, and the
    result is judged on the other half; an experiment with one seed takes the next one for that. At most ``combinations``
    are run. Runs that combinations share are run once, and those that ``out`` keeps are not run again, so that an
    interrupted search continues. The other arguments are those of `reproduce`; what is found does not depend on ``jobs``.

    Raises ``KeyError`` for an unknown paper or one without readings, ``ValueError`` for ``starts``, ``combinations`` or
    ``jobs`` below 1.
    """
    return _with_readings(paper).search_readings(
        quick=quick,
        starts=starts,
        combinations=combinations,
        jobs=jobs,
        seed=seed,
        out=out,
        progress=progress,
        on=on,
    )


def substitute_schemes(
    paper: str,
    *,
    claim: str | None = None,
    quick: bool = False,
    jobs: int = 2,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    progress: Callable[[int, int, str], object] | None = None,
    on: str | Client | None = None,
) -> Substituted:
    """Run a paper with other schemes in the place of its scheme, one at a time, and judge its results each time.

    A row that the paper's scheme and each of the others pass is not specific to that scheme. Rules, rows by construction and
    rows about what other schemes do not have are not tried; ``substitution.untried`` has their reasons. With ``claim`` only
    that row is. The other arguments are those of `reproduce`; measurements of the default that are kept in ``out`` are used.

    Raises ``KeyError`` for an unknown paper or claim, for a paper that names no other schemes and for a row that is not
    tried, ``ValueError`` for ``jobs`` below 1.
    """
    study = _known(paper)
    if not isinstance(study, Paper) or study.substitutes() is None:
        able = ", ".join(name for name, known in PAPERS.items() if known.substitutes() is not None)
        raise KeyError(f"{paper!r} names no schemes to put in the place of its own; these do: {able}")
    return study.substitute_schemes(
        claim=claim, quick=quick, jobs=jobs, seed=seed, out=out, progress=progress, on=on
    )


def _with_readings(name: str) -> Paper:
    study = _known(name)
    if not isinstance(study, Paper) or not study.readings():
        able = ", ".join(other for other, known in PAPERS.items() if known.readings())
        raise KeyError(f"{name!r} has no readings; these have some: {able}")
    return study


def emulate(
    paper: str,
    *,
    minutes: float | None = 10.0,
    at_once: int | None = None,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    progress: Callable[[float, float, str], object] | None = None,
) -> Reproduction:
    """Run a paper's tests in real time, with TCP of the kernel, beside their simulation; needs root.

    The tests that tell most are run, as many as ``minutes`` are enough for when ``at_once`` of them go on together (six a
    core when not given); all when it is None. A run that the machine could not keep up with is tried once more; where that
    fails, too, it decides nothing. With ``out`` valid runs are kept there and not run again as long as scenario, seed,
    program and kernel are the same. ``progress(done_s, total_s, what)`` is called twice a second, from the calling thread.

    Raises ``KeyError`` for an unknown paper or one of which nothing is emulated, ``EmulationError`` where there can be no
    emulation.
    """
    study = _known(paper)
    if study.emulated is None:
        able = ", ".join(name for name, known in _all().items() if known.emulated is not None)
        raise KeyError(f"nothing of {paper!r} is emulated; of these something is: {able}")
    return study.emulate(minutes=minutes, at_once=at_once, seed=seed, out=out, progress=progress)


def reproduce(
    paper: str,
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
    """Run a paper's experiments, draw its figures and judge its claims; or run and draw a comparison of our own.

    ``figure`` (such as ``figure-8``, ``8``, ``table-1``; see ``PAPERS[paper].figures``, ``STUDIES[…].figures``) runs
    only the experiments that the figure needs and judges only the claims that rest on them; ``claim`` (such as
    ``S004-19``) runs and judges one claim. ``quick`` takes fewer seeds
    and shorter runs and says so. Runs take the seeds ``seed``, ``seed + 1`` and so on, ``jobs`` at a time; the numbers
    do not depend on ``jobs``. With ``out`` the measurements are kept there and reused as long as scenario, seed and
    program are the same. With ``on`` a Dask cluster runs the simulations: see `thalweg.cluster`.
    ``progress(done, total, what)`` is called after each run and several times per second, from the calling thread.

    ``changes`` sets dotted keys of the scenarios of one figure or claim, as `thalweg.Scenario.with_` does:
    ``{"flows.mc.params.gamma": 0.3}``. Claims that rest on the figure are not judged then. ``PAPERS[paper].scenarios``
    gives the scenarios themselves.

    ``readings`` such as ``["early=residue,deviation=standard"]`` judge each claim once more, as a profile beside the
    default, with these options of the paper's readings together.

    ``jitter`` judges each result once more with delays and starts that are drawn for each of ten seeds. A row whose verdict
    is another then is phase-dependent. Without it, the rows that are marked so are those of the stored run.

    Raises ``KeyError`` for an unknown paper, figure, claim or reading, ``ValueError`` for ``jobs`` below 1, for a figure
    and a claim, for changes of the whole paper, or for readings that give one key different values, and
    `thalweg.ScenarioError` for changes that a scenario does not take.
    """
    study = _known(paper)
    if study.only_emulated:
        raise KeyError(f"{paper!r} is about real time: thalweg_papers.emulate({paper!r})")
    return study.reproduce(
        figure=figure,
        claim=claim,
        quick=quick,
        jobs=jobs,
        seed=seed,
        out=out,
        progress=progress,
        on=on,
        changes=changes,
        readings=readings,
        jitter=jitter,
    )


def _all() -> dict[str, Study]:
    return {**PAPERS, **STUDIES}


def _known(name: str) -> Study:
    known = _all()
    if name not in known:
        raise KeyError(f"no paper called {name!r}; there are: {', '.join(known)}")
    return known[name]
