"""One HTML page from a folder of results: of a run, of a sweep, of a reproduced paper, of several runs compared.

A page is one file that opens from disk and makes no network requests. It contains figures and text; the numbers are in
the Parquet tables of its folder, which it reads and links.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._folder_names import run_of_cell
from .._run_folder import PAGE
from .._stored import AGAIN
from ..errors import ResultError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..evaluation.runner import Card
    from ..result import Result
    from ..scenario import Plan

__all__ = [
    "compare",
    "is_sweep",
    "network",
    "network_of_plan",
    "plans_of_sweep",
    "save_evaluation",
    "save_papers",
    "save_reproduction",
    "write",
]


def write(folder: str | Path, page: str | Path | None = None) -> Path:
    """Writes the page of a folder that holds a run, a sweep, a reproduced paper or an evaluation; returns its path.

    Raises `ResultError` if the folder holds none of them.
    """
    from ..result import Result, stored_run
    from . import _evaluation, _paper, _run, sweeps

    folder = run_of_cell(folder) or Path(folder)
    target = Path(page) if page is not None else folder / PAGE
    if stored_run(folder) is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
    for module in (_paper, _evaluation, sweeps):
        if (folder / module.FILE).is_file():
            html = _page_of_record(module.page, folder, module.FILE)
            break
    else:
        html = _run.page(Result.load(folder), folder)
    target.write_text(html, encoding="utf-8")
    return target


def _page_of_record(page: Callable[[Path], str], folder: Path, name: str) -> str:
    """The page that a record describes, whose entries no schema names one by one: `ResultError` if they are others."""
    from jinja2 import UndefinedError

    try:
        return page(folder)
    except ResultError:
        raise
    except FileNotFoundError as error:
        raise ResultError(f"{error.filename} is missing", AGAIN) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, UndefinedError) as error:
        raise ResultError(f"{folder / name} is damaged: its entries are others, {error!r}", AGAIN) from error


def save_reproduction(done: Any, folder: str | Path) -> None:
    """Writes the output of a reproduction: `reproduction.json`, figures and tables, from which `write` makes the page."""
    from . import _paper

    _paper.save(done, Path(folder))


def save_evaluation(card: Card, folder: str | Path) -> Path:
    """Writes the report card of a scheme: `evaluation.json`, and the page, whose path is returned."""
    from . import _evaluation

    _evaluation.save(card, Path(folder))
    return write(folder)


def save_papers(papers: Sequence[str], folder: str | Path) -> Path:
    """Writes the page of all papers to a folder that holds the folders of their reproductions; returns its path."""
    from . import _all_papers

    target = Path(folder) / _all_papers.PAGE_OF_ALL
    _all_papers.save(papers, Path(folder))
    target.write_text(_all_papers.page(Path(folder)), encoding="utf-8")
    return target


def sweep_plan_digests(folder: str | Path) -> list[str] | None:
    """Digests of the plans of the sweep in a folder; None if it holds no sweep."""
    from . import sweep_index

    return sweep_index.plan_digests(Path(folder))


def is_sweep(folder: str | Path) -> bool:
    """Whether a folder holds a sweep that has ended."""
    from . import sweep_index

    return (Path(folder) / sweep_index.FILE).is_file()


def compare(runs: Sequence[tuple[str, Result]], page: str | Path) -> Path:
    """Writes a page that compares runs; each has the name that the page uses for it."""
    from . import _compare

    target = Path(page)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_compare.page(runs), encoding="utf-8")
    return target


def network(run: Result) -> str:
    """An SVG of a run's network: senders, receivers, capacities of links, and their utilisation."""
    from ..plots import resolve_colours
    from . import _run

    return resolve_colours(_run.network(run))


def network_of_plan(plan: Plan, *, enlarged: float = 1.0) -> str:
    """An SVG of a plan's network for a page: text and lines have the colours of the page.

    `enlarged` is by how much text is larger than usual, for a small picture.
    """
    from . import _notebook
    from ._page import embed_svg

    return str(
        embed_svg(
            _notebook.network(plan, plan.tree, enlarged=enlarged), f"network-{_notebook.digest_of(plan)}"
        )
    )
