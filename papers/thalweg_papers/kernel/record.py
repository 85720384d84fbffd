"""Runs the cells of the grid that are not recorded yet, in the guest or in ns-3, and writes them down.

    python -m thalweg_papers.kernel.record kernel|ns3 [--only WORD ...] [--jobs N]

`--only` keeps the cells that have all the words, as in `thalweg_papers.kernel.compare`. The file is written after each
cell, so that what is measured is kept if the command is stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from thalweg.jobs import Job
from thalweg.jobs import run as run_jobs

from .._base import Sample, Scale
from . import experiments, guest, ns3, scenarios


@dataclass(frozen=True)
class World:
    """What runs the cells."""

    file: Path
    version: Callable[[], str]
    run: Callable[[str, int, Scale], Sample]
    prepare: Callable[[], object]
    """Makes its program, once."""
    runs: Callable[[str], bool] = lambda _cell: True
    """Whether it can run a cell."""


WORLDS = {
    "kernel": World(experiments.MEASURED, guest.version, experiments.in_kernel, guest.kernel),
    "ns3": World(ns3.RECORDED, ns3.version, ns3.run, ns3.build, ns3.runs),
}


def record(name: str, words: Sequence[str], jobs: int) -> int:
    """Runs the cells with all the words that the file of a world lacks; the number of those that failed."""
    world = WORLDS[name]
    found = experiments.recorded(world.file)
    kept = dict(found["cells"])
    world.prepare()
    if found[name] != world.version():
        raise SystemExit(f"{world.file} has cells of {name} {found[name]}, and here is {world.version()}")
    failed = 0
    for cell in scenarios.matching(words):
        if not world.runs(cell) or len(kept.get(cell, {})) == scenarios.SEEDS:
            continue

        def job(seed: int, cell: str = cell) -> Job[Sample]:
            return Job(f"{cell}, seed {seed}", lambda _: world.run(cell, seed, Scale()))

        try:
            samples = run_jobs([job(seed) for seed in range(1, scenarios.SEEDS + 1)], at_once=jobs)
        except Exception as error:
            print(f"{cell}: {error}", file=sys.stderr)
            failed += 1
            continue
        kept[cell] = {str(seed): sample for seed, sample in enumerate(samples, 1)}
        lines = [f'  "{key}": {json.dumps(kept[key])}' for key in sorted(kept)]
        text = f'{{\n "{name}": "{world.version()}",\n "cells": {{\n' + ",\n".join(lines) + "\n }\n}\n"
        world.file.write_text(text, encoding="utf-8")
        print(cell, flush=True)
    return failed


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("world", choices=list(WORLDS))
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="WORD", help="keep the cells that have all the words"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    given = parser.parse_args(arguments)
    return 1 if record(given.world, given.only, given.jobs) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
