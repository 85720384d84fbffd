"""Which step from TCP to a stack makes each difference, and where that is in the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .._base import FigureSpec, Sample, Samples, Scale, Table
from .._common import short, table
from . import measures, steps
from .keys import Key
from .measures import NAMES, QUANTITIES
from .scenarios import BASELINE, LABELS, NETWORKS, variant
from .steps import Step

STACKS = ("quinn", "noq")
SHORT = {
    "halt": "reduction",
    "packets": "packet sizes",
    "acks": "acknowledgements",
    "pacing": "pacing",
    "noq-linux": "bursts and losses",
    "quinn-linux": "bursts, rate, undo",
    "no-hystart": "slow start",
    "own": "growth",
}
"""The steps in tables."""


def _last(key: Key, stack: str) -> str:
    """The implementation at the end of the steps: the stack's own, or ours in the stack."""
    return stack if key in steps.STEPS else f"{stack}-plugged"


def _cell(samples: Samples, key: Key, stack: str, name: str, network: str) -> Sequence[Sample]:
    if name in ("own", BASELINE):
        return samples[key, variant(stack if name == "own" else name, network)]
    if key not in steps.STEPS:
        return samples[key, variant(name.replace("-linux", "-plugged"), network)]
    return samples[steps.STEPS[key], variant(steps.case(stack, name), network)]


def _values(samples: Samples, key: Key, stack: str, network: str, quantity: str) -> list[tuple[str, float]]:
    """The quantity at the baseline and after each step."""
    names = (BASELINE, *steps.names(key, stack))
    return [(name, measures.mean(_cell(samples, key, stack, name, network), quantity)) for name in names]


def _not_significant(one: Sequence[Sample], other: Sequence[Sample], quantity: str) -> bool:
    """Whether two means are no further apart than twice the standard error of their difference."""
    sides = [[QUANTITIES[quantity](sample) for sample in samples] for samples in (one, other)]
    if min(len(side) for side in sides) < 2:
        return False
    error = np.sqrt(sum(np.var(side, ddof=1) / len(side) for side in sides))
    return bool(abs(np.mean(sides[0]) - np.mean(sides[1])) <= 2 * error)


def _found(samples: Samples) -> Iterator[tuple[Key, str, str, str, str | None]]:
    """Each difference above 15 %: algorithm, stack, quantity, network, and its largest step, unless not significant."""
    for key in Key:
        for stack in STACKS:
            for quantity in QUANTITIES:
                for network in NETWORKS:
                    values = _values(samples, key, stack, network, quantity)
                    (_, baseline), (_, value) = values[0], values[-1]
                    difference = measures.apart(value, baseline, quantity)
                    if difference is None or abs(difference) <= measures.BAND:
                        continue
                    first, last = (
                        _cell(samples, key, stack, name, network) for name in (values[0][0], values[-1][0])
                    )
                    if _not_significant(first, last, quantity):
                        yield key, stack, quantity, network, None
                        continue
                    sign = np.sign(value - baseline)
                    parts = {name: sign * (after - before) for (_, before), (name, after) in pairwise(values)}
                    yield key, stack, quantity, network, max(parts, key=lambda name: parts[name])


def origins(samples: Samples, _scale: Scale) -> Table:
    """The number of differences that each step makes."""
    found = list(_found(samples))
    rows = []
    for key in Key:
        for stack in STACKS:
            for quantity in QUANTITIES:
                here = [
                    step
                    for one, other, what, _, step in found
                    if (one, other, what) == (key, stack, quantity)
                ]
                if not here:
                    continue
                row: dict[str, Any] = {
                    "algorithm": NAMES[key],
                    "implementation": LABELS[_last(key, stack)],
                    "quantity": quantity.rpartition("_")[0].replace("_", " "),
                    "differences": len(here),
                    "not_significant": here.count(None),
                }
                for step, name in SHORT.items():
                    row[name.replace(",", "").replace(" ", "_")] = here.count(step)
                rows.append(row)
    return table(
        "Differences above 15 % from TCP with the settings of Linux, by the step that makes most of each",
        rows,
    )


def walk(samples: Samples, _scale: Scale) -> Table:
    """Means over the networks after each step, and on how many the step alone changes more than 15 %."""
    rows = []
    for key in Key:
        for stack in STACKS:
            names = (BASELINE, *steps.names(key, stack))
            for before, name in zip((None, *names), names, strict=False):
                # what both stacks have in common has been shown
                if stack == STACKS[1] and name in (BASELINE, *steps.TCP_STEPS, "noq-linux"):
                    continue
                row: dict[str, Any] = {
                    "algorithm": NAMES[key],
                    "towards": stack if name in ("own", "no-hystart", "quinn-linux") else "both",
                    "step": "TCP, settings of Linux" if name == BASELINE else steps.label(name),
                }
                for quantity in QUANTITIES:
                    cells = [_cell(samples, key, stack, name, network) for network in NETWORKS]
                    values = [measures.mean(cell, quantity) for cell in cells]
                    row[quantity] = short(float(np.mean(values)))
                    changed = None
                    if before is not None:
                        # the first step of noq after the common ones follows its transport, not quinn's
                        bases = [
                            measures.mean(_cell(samples, key, stack, before, network), quantity)
                            for network in NETWORKS
                        ]
                        apart = [measures.apart(v, b, quantity) for v, b in zip(values, bases, strict=True)]
                        changed = sum(d is not None and abs(d) > measures.BAND for d in apart)
                    row[f"{quantity.rpartition('_')[0]}_changes"] = changed
                rows.append(row)
    return table("From TCP to the stacks, step by step", rows)


def lines(_samples: Samples, _scale: Scale) -> Table:
    """The place of each step in the source of the stacks."""
    rows = []
    for one in steps.LINES:
        crate, version = steps.VERSIONS[one.stack]
        rows.append(
            {
                "step": SHORT[one.step],
                "crate": f"{crate} {version}",
                "file": one.file,
                "lines": f"{one.first}–{one.last}",
                "standard": one.standard,
            }
        )
    return table("The lines of source of each step", rows)


def figure_specs() -> tuple[FigureSpec, ...]:
    """Which step makes what, the steps one by one, and their lines."""
    every = (*Key, *Step)
    return (
        FigureSpec("origins", "Which step makes each difference", every, origins),
        FigureSpec("steps", "From TCP to the stacks, step by step", every, walk),
        FigureSpec("lines", "Lines of source", every, lines),
    )
