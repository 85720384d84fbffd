"""Points of a grid: how many of their runs differ, and their values as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .stats import few_seeds

SEED = "seed"
"""The key of a grid whose values are the seeds of its points: it makes no points of its own."""


def extent(grid: Mapping[str, Sequence[Any]]) -> tuple[int, int]:
    """The number of points of a grid, and of the seeds that it lists: 0 if it names none."""
    points = math.prod(len(values) for key, values in grid.items() if key != SEED)
    return points, len(grid.get(SEED, ()))


@dataclass(frozen=True)
class Point:
    """The seeds of one point of a grid."""

    values: dict[str, Any]
    """The point of the grid."""
    seeds: int
    """Different seeds of the runs."""
    distinct: int
    """Number of runs that differ, by their trace hash."""

    @property
    def random(self) -> bool:
        """Whether its runs differ, so that their mean has an interval."""
        return self.distinct > 1


def group_by_point(runs: Iterable[tuple[Mapping[str, Any], int, str]]) -> list[Point]:
    """The points of the runs; each run is given by the keys that its grid sets, its seed and its trace hash."""
    found: dict[str, tuple[dict[str, Any], dict[int, str]]] = {}
    for values, seed, trace_hash in runs:
        found.setdefault(repr(values), (dict(values), {}))[1][seed] = trace_hash
    return [Point(values, len(hashes), len(set(hashes.values()))) for values, hashes in found.values()]


def sameness(points: Sequence[Point]) -> str | None:
    """A sentence about seeds that gave equal runs; None if each seed gave another run."""
    several = [point for point in points if point.seeds > 1]
    same = [point for point in several if not point.random]
    fewer = [point for point in several if point.distinct < point.seeds]
    if not fewer:
        return None
    mend = 'Random starts, such as start_spread = "100 ms" in [[flows]], make seeds differ.'
    if same == several:
        where = " at each point" if len(points) > 1 else ""
        return f"{several[0].seeds} seeds, 1 distinct run{where}: nothing in this scenario is random. {mend}"
    if same:
        return f"At {len(same)} of {len(points)} points all seeds gave 1 distinct run: nothing is random there. {mend}"
    if len(points) == 1:
        return f"{points[0].seeds} seeds, {points[0].distinct} distinct runs: every seed counts."
    return f"At {len(fewer)} of {len(points)} points some seeds gave the same run; every seed counts."


def notes(points: Sequence[Point]) -> list[str]:
    """Sentences about what the seeds can tell: those that make no difference, and too few of them."""
    random = [point.seeds for point in points if point.random]
    few = few_seeds(min(random)) if random else None
    return [note for note in (sameness(points), f"{few}." if few else None) if note]


def cells_of(values: Sequence[Any]) -> Callable[[Any], Any]:
    """The values of one key for a single column: unchanged if they have one type, otherwise as text."""
    there = {type(value) for value in values}
    if there == {int, float}:
        return float
    return (lambda value: value) if len(there) == 1 and there <= {str, bool, int, float} else value_text


def value_text(value: Any) -> str:
    """A value of a key as a reader sees it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, Mapping):
        # a queue discipline with its details: red, adaptive, packet = 1500 B
        words = [value_text(value["kind"])] if "kind" in value else []
        for key, one in value.items():
            if key != "kind":
                words.append(
                    key if one is True else f"{key} = {'false' if one is False else value_text(one)}"
                )
        return ", ".join(words)
    return value if isinstance(value, str) else repr(value)
