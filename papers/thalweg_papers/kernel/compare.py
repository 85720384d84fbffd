"""Prints the grid: this library's simulator beside what the kernel measured, cell by cell, and which band fails.

    python -m thalweg_papers.kernel.compare [--only WORD ...] [--seeds N] [--all] [--jobs N] [--save FILE]

The cells are those of `measured.json`; no guest is needed. `--only` keeps the cells that have all the words, a word with
commas standing for any of its parts: `--only fifo,codel bbr` is BBR behind two queue disciplines. By default only the cells
that disagree are printed; `--all` prints the others as well. Columns are ours/kernel's.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from thalweg.jobs import Job
from thalweg.jobs import run as run_jobs

from .._base import Sample, Scale
from . import experiments, figures, scenarios

SHOWN = (
    ("goodput_bps", 1e-6, "Mbit/s"),
    ("queueing_s", 1e3, "ms"),
    ("time_s", 1e3, "ms"),
    ("drops", 1.0, "drops"),
    ("marks", 1.0, "marks"),
)


def chosen(words: Sequence[str]) -> list[str]:
    """The measured cells of the grid that have all the words."""
    return [cell for cell in scenarios.matching(words) if cell in experiments.measured()["cells"]]


def simulate(cells: Sequence[str], seeds: int, jobs: int) -> dict[str, list[Sample]]:
    """Samples of the simulator by cell, one per seed."""

    def job(cell: str, seed: int) -> Job[Sample]:
        return Job(f"{cell}, seed {seed}", lambda _: experiments.simulated(cell, seed, Scale()))

    found = iter(run_jobs([job(cell, seed) for cell in cells for seed in range(1, seeds + 1)], at_once=jobs))
    return {cell: [next(found) for _ in range(seeds)] for cell in cells}


def line(cell: str, theirs: dict[str, float], ours: dict[str, float], failing: Sequence[str]) -> str:
    """One cell: ours/kernel's of each quantity, and the bands that fail."""
    values = "  ".join(
        f"{ours[key] * factor:8.4g}/{theirs[key] * factor:<8.4g} {unit}"
        for key, factor, unit in SHOWN
        if ours.get(key) or theirs.get(key)
    )
    return f"{cell:26} {values}  {', '.join(failing) or 'agrees'}"


def compare(simulated: dict[str, list[Sample]], seeds: int, everything: bool) -> str:
    """The text of the comparison: cells, the most bands that fail first, then how many agree by part and by band."""
    rows, agreeing, wrong = [], Counter[str](), Counter[tuple[str, str]]()
    total = Counter(word for cell in simulated for word in (*cell.split(), "all"))
    for cell, samples in simulated.items():
        kept = experiments.measured()["cells"][cell]
        theirs, ours = (
            figures.means([kept[key] for key in sorted(kept) if int(key) <= seeds]),
            figures.means(samples),
        )
        failing = [
            name
            for name, agrees in figures.agreed(theirs, ours, figures.compared(cell)).items()
            if not agrees
        ]
        for word in (*cell.split(), "all"):
            agreeing[word] += not failing
            wrong.update((word, name) for name in failing)
        if failing or everything:
            rows.append((-len(failing), line(cell, theirs, ours, failing)))
    lines = [text for _, text in sorted(rows, key=lambda row: row[0])]
    for word, cells in total.items():
        bands = ", ".join(f"{name} {wrong[word, name]}" for name in figures.BANDS if wrong[word, name])
        lines.append(f"{word:12} {agreeing[word]:3} of {cells:3} agree; out of band: {bands or 'none'}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="WORD", help="keep the cells that have all the words"
    )
    parser.add_argument("--seeds", type=int, default=scenarios.SEEDS, help="seeds of each cell")
    parser.add_argument("--all", action="store_true", help="print the cells that agree as well")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write our samples to a JSON file")
    given = parser.parse_args(arguments)
    simulated = simulate(chosen(given.only), given.seeds, given.jobs)
    if given.save is not None:
        given.save.write_text(json.dumps(simulated, indent=1), encoding="utf-8")
    print(compare(simulated, given.seeds, given.all))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
