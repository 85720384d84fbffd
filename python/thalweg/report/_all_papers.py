"""The page of all papers: their verdicts as cards, measured over printed values, what is not reproduced, and links.

Claims, figures and tables are on the papers' own pages. It reads the folders of the papers, which lie below its own, and
nothing else.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from .._run_folder import PAGE
from .._stored import read_record
from . import _paper
from ._page import render
from .numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

FILE = "papers.json"
"""Names the papers of a folder, in order."""

PAGE_OF_ALL = "papers.html"
"""Name of the page, beside the folders of the papers."""

SPAN = 4.0
"""The picture of ratios goes from a quarter to four times the printed value; what is beyond lies at its edge."""

ROW, DOT = 74.0, 4.2
"""Minimum height of a paper in the picture of ratios, and the radius of a dot."""

PICTURES = {
    "broad": (720.0, 0.0, (0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0)),
    "narrow": (300.0, 18.0, (0.25, 0.5, 1.0, 2.0, 4.0)),
}
"""Pictures of ratios: width, height above the dots of a paper, ticks. On a phone, names of papers are above their dots."""


def save(papers: Sequence[str], folder: Path) -> None:
    """Writes `papers.json`; the papers' own folders are written by `_paper.save`."""
    from .. import __version__

    record = {"format": 1, "version": __version__, "papers": list(papers)}
    (folder / FILE).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def page(folder: Path) -> str:
    """The page of a folder that `save` wrote."""
    record = read_record(folder / FILE)
    papers = [_read(folder, name) for name in record["papers"]]
    counts = _sum(paper["bar"] for paper in papers)
    return render(
        "all_papers.html",
        "Papers, reproduced",
        version=record["version"],
        lead=_lead(papers, counts),
        papers=papers,
        counts=counts,
        quick=any(paper["quick"] for paper in papers),
        ratios={name: _ratios(papers, *shape) for name, shape in PICTURES.items()},
    )


def _read(folder: Path, name: str) -> dict[str, Any]:
    record = read_record(folder / name / _paper.FILE)
    return {
        **record,
        "page": f"{name}/{PAGE}",
        "bar": _paper.verdict_counts(record),
        "open": [
            claim
            for claim in _paper.by_kind(record)["results"]
            if claim["verdict"] in {"partly", "not reproduced"} or "standing" in claim
        ],
        "printed": [
            {"id": entry["id"], "label": _paper.label(entry)}
            for entry in record["figures"]
            if entry.get("marks")
        ],
        "mutants": _paper.killed_mutants(record),
    }


def _sum(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Verdicts of all papers, in their order."""
    total: dict[str, int] = {}
    for one in counts:
        for verdict, count in one.items():
            total[verdict] = total.get(verdict, 0) + count
    return total


def _lead(papers: Sequence[dict[str, Any]], counts: dict[str, int]) -> str:
    claims = sum(counts.values())
    testable = claims - counts.get("not testable", 0)
    runs = sum(len(paper["runs"]) for paper in papers)
    return (
        f"{claims} statements of {len(papers)} papers, judged by {number(float(runs))} simulations. "
        f"{counts.get('reproduced', 0)} of the {testable} that can be tested are reproduced."
    )


def _ratios(
    papers: Sequence[dict[str, Any]], width: float, above: float, ticks: Sequence[float]
) -> dict[str, Any] | None:
    """Places of the dots in a picture of measured over printed values, a row a paper; None where nothing is printed."""
    rows: list[dict[str, Any]] = []
    height = 0.0
    for paper in papers:
        dots = [
            {"claim": claim, "quantity": quantity, "ratio": ratio, "x": _place(ratio, width), "y": 0.0}
            for claim in paper["claims"]
            if claim["evidence"] in _paper.RESULTS
            for quantity, ratio in claim["ratios"].items()
            if ratio is not None and ratio > 0
        ]
        if dots:
            half = max(ROW / 2, _spread(dots) + 2 * DOT)
            rows.append({"paper": paper, "dots": dots, "top": height, "middle": height + above + half})
            height += above + 2 * half
    if not rows:
        return None
    return {
        "rows": rows,
        "ticks": [(_place(ratio, width), f"{ratio:g}") for ratio in ticks],
        "width": width,
        "height": height,
        "radius": DOT,
        "band": (_place(0.9, width), _place(1.1, width)),
        "count": sum(len(row["dots"]) for row in rows),
        "near": sum(0.9 <= dot["ratio"] <= 1.1 for row in rows for dot in row["dots"]),
        "near_but": sum(
            0.9 <= dot["ratio"] <= 1.1 and dot["claim"]["verdict"] == "not reproduced"
            for row in rows
            for dot in row["dots"]
        ),
    }


def _place(ratio: float, width: float) -> float:
    """Horizontal place of a ratio; logarithmic."""
    within = min(max(ratio, 1 / SPAN), SPAN)
    margin = 2 * DOT
    return margin + (width - 2 * margin) * (math.log(within) / math.log(SPAN) + 1) / 2


def _spread(dots: list[dict[str, Any]]) -> float:
    """Moves dots that would lie on each other up and down from the middle, in turns; returns the farthest distance."""
    dots.sort(key=lambda dot: dot["x"])
    levels: list[float] = []
    for dot in dots:
        level = next((i for i, last in enumerate(levels) if dot["x"] - last >= 2 * DOT), len(levels))
        levels[level : level + 1] = [dot["x"]]
        dot["y"] = (level + 1) // 2 * 2 * DOT * (-1 if level % 2 else 1)
    return max(abs(float(dot["y"])) for dot in dots)
