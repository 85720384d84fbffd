"""Papers reproduced: the experiments of a paper as scenarios, its figures as code, its claims as a table with verdicts.

Beside them comparisons of our own, made with the same tools, without claims.

>>> from thalweg import papers
>>> done = papers.reproduce("mca", figure="figure-8", quick=True)  # doctest: +SKIP
>>> done.claims[0]["verdict"]  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ._base import Figure, Paper, Reproduction, Study, Table
from .background_real_time import BACKGROUND, REAL_TIME
from .cvihis import PAPER as CVIHIS
from .mca import PAPER as MCA
from .mircc import PAPER as MIRCC
from .named_data import STUDY as NAMED_DATA
from .ndnsieve import PAPER as NDNSIEVE
from .srmcc import PAPER as SRMCC

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["PAPERS", "STUDIES", "Figure", "Paper", "Reproduction", "Study", "Table", "reproduce"]

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (CVIHIS, MCA, MIRCC, NDNSIEVE, SRMCC)}
"""Every paper that can be reproduced, by name."""

STUDIES: dict[str, Study] = {study.name: study for study in (BACKGROUND, NAMED_DATA, REAL_TIME)}
"""Comparisons of our own, by name."""


def reproduce(
    paper: str,
    *,
    figure: str | None = None,
    quick: bool = False,
    jobs: int = 2,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    progress: Callable[[int, int, str], object] | None = None,
) -> Reproduction:
    """Run a paper's experiments, draw its figures and judge its claims; or run and draw a comparison of our own.

    ``figure`` (such as ``figure-8``, ``8``, ``table-1``; see ``PAPERS[paper].figures``, ``STUDIES[…].figures``) runs
    only the experiments that the figure needs and judges only the claims that rest on them. ``quick`` takes fewer seeds
    and shorter runs and says so. Runs take the seeds ``seed``, ``seed + 1`` and so on, ``jobs`` at a time; the numbers
    do not depend on ``jobs``. With ``out`` the measurements are kept there and reused as long as scenario, seed and
    program are the same.
    ``progress(done, total, what)`` is called after each run, from the calling thread.

    Raises ``KeyError`` for an unknown paper or figure, ``ValueError`` for ``jobs`` below 1.
    """
    from ._runner import carry_out

    known: dict[str, Study] = {**PAPERS, **STUDIES}
    if paper not in known:
        raise KeyError(f"no paper called {paper!r}; there are: {', '.join(known)}")
    return carry_out(
        known[paper],
        figure=figure,
        quick=quick,
        jobs=jobs,
        seed=seed,
        out=None if out is None else Path(out),
        progress=progress,
    )
