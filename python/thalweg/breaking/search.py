"""Search for the worst network: random networks, then CMA-ES from the best of them, restarted when it stagnates.

Sources: N. Hansen, The CMA Evolution Strategy: A Tutorial, 2016 (library `cma`); restarts as in A. Auger, N. Hansen,
A Restart CMA Evolution Strategy with Increasing Population Size, CEC 2005, from other places instead of larger.
Quality-diversity: M. Fontaine, J. Togelius, S. Nikolaidis, A. Hoover, Covariance Matrix Adaptation for the Rapid
Illumination of Behavior Space, GECCO 2020, the improvement emitter (library `ribs`).
"""

from __future__ import annotations

import math
import time
import warnings
import zlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .bounds import BOUNDS, Network
from .evaluation import Evaluator

if TYPE_CHECKING:
    import numpy

POPULATION = 16
"""Networks of a generation."""

RANDOM_GENERATIONS = 6
"""Generations of random networks before each start of CMA-ES."""

STEP = 0.25
"""Initial step of CMA-ES, as a share of each range."""

STAGNATION = 8
"""Generations without a better network after which CMA-ES is restarted."""

SEEDS = (1, 2, 3)
"""Seeds of a trial: the first, and the others if the property holds with that one."""

CLEAR = math.log(2.0)
"""A search ends with a network that misses the threshold by a factor of two in all seeds."""

AXES = ("delay", "buffer")
"""Parameters of the map of a quality-diversity search."""

CELLS = 6
"""Cells of the map per axis, spread by logarithm."""


@dataclass(frozen=True)
class Elite:
    """The worst network of one cell of the map."""

    cell: tuple[int, ...]
    """Index per axis of `AXES`, from 0."""
    network: Network
    margin: float
    """Its lowest margin over the seeds."""


@dataclass(frozen=True)
class Best:
    """The worst network so far, and how far the search is."""

    network: Network | None
    margin: float
    """Its lowest margin over the seeds; minus infinity before the first trial."""
    trials: int
    """Networks that were tried."""
    found_after: int
    """Trials until this network."""


@dataclass
class Search:
    """The search for a network that has a property. The networks it tries depend on the seed alone."""

    evaluator: Evaluator
    seed: int = 1
    method: str = "cma"
    """`cma`; `qd` for the worst network of each cell of a map; or `random` for random networks only."""
    elites: dict[tuple[int, ...], Elite] = field(default_factory=dict, init=False)
    """The worst network of each cell that was tried."""

    def run(
        self,
        *,
        trials: int | None = None,
        seconds: float | None = None,
        progress: Callable[[Best], object] | None = None,
        clear: float = CLEAR,
    ) -> Best:
        """The worst network that is found in so many trials or seconds; a few networks are tried in any case.

        It ends early, after a generation, with a network whose margin is `clear`, except with `qd`. Ctrl-C raises
        `Interrupted`; with a log, the same call continues.
        """
        until = math.inf if seconds is None else time.monotonic() + seconds
        best = Best(None, -math.inf, 0, 0)
        strategy = self._strategy()
        points = next(strategy)
        self.elites.clear()
        while True:
            if trials is not None:
                points = points[: trials - best.trials]
            networks = [self.evaluator.space.network(point) for point in points]
            margins = self._margins(networks) if seconds is None else self._margins_until(networks, until)
            for network, margin in zip(networks, margins, strict=False):
                count = best.trials + 1
                self._note(network, margin)
                if margin > best.margin:
                    best = Best(network, margin, count, count)
                else:
                    best = Best(best.network, best.margin, count, best.found_after)
            if progress is not None:
                progress(best)
            over = trials is not None and best.trials >= trials
            if over or time.monotonic() >= until or (best.margin >= clear and self.method != "qd"):
                return best
            points = strategy.send(margins)

    def _note(self, network: Network, margin: float) -> None:
        """Keeps the worst network of its cell."""
        cell = cell_of(network)
        if cell not in self.elites or margin > self.elites[cell].margin:
            self.elites[cell] = Elite(cell, network, margin)

    def _margins_until(self, networks: Sequence[Network], until: float) -> list[float]:
        """The margins of the networks that are tried by then, at least of the first few."""
        margins: list[float] = []
        step = 2 * self.evaluator.at_once
        for begin in range(0, len(networks), step):
            margins += self._margins(networks[begin : begin + step])
            if time.monotonic() >= until:
                break
        return margins

    def _margins(self, networks: Sequence[Network]) -> list[float]:
        """The margin of each network: of the first seed where it is negative, otherwise the lowest of all seeds."""
        margins = self.evaluator.margins(networks, SEEDS[:1])
        holding = [number for number, margin in enumerate(margins) if margin > 0]
        others = self.evaluator.margins([networks[number] for number in holding], SEEDS[1:], lasting=True)
        for number, other in zip(holding, others, strict=True):
            margins[number] = min(margins[number], other)
        return margins

    def _strategy(self) -> Generator[Any, list[float], None]:
        """Points of the unit cube, a generation at a time; takes their margins."""
        import numpy

        wanted = self.evaluator.wanted.name
        random = numpy.random.default_rng([self.seed, zlib.crc32(wanted.encode())])
        size = len(self.evaluator.space.bounds)
        if self.method == "qd" and wanted != "panic":
            yield from self._illuminate(random, size)
        used: list[tuple[float, ...]] = []
        tried: list[tuple[float, tuple[float, ...]]] = []
        while True:
            for _ in range(RANDOM_GENERATIONS):
                points = random.random((POPULATION, size))
                margins = yield points
                tried += [(margin, tuple(point)) for margin, point in zip(margins, points, strict=True)]
            if self.method == "random" or wanted == "panic":
                continue
            fresh = [row for row in tried if row[1] not in used]
            _, start = max(fresh)
            used.append(start)
            yield from self._evolve(start, random)

    def _evolve(
        self, start: Sequence[float], random: numpy.random.Generator
    ) -> Generator[Any, list[float], None]:
        """One run of CMA-ES, until it stagnates."""
        import numpy

        with warnings.catch_warnings():
            # cma says on import that it would draw with matplotlib
            warnings.filterwarnings("ignore", module=r"cma\b")
            import cma

        options = {
            "bounds": [0, 1],
            "popsize": POPULATION,
            # 0 would be the clock
            "seed": int(random.integers(1, 2**31)),
            "randn": numpy.random.RandomState(int(random.integers(2**31))).randn,
            "verbose": -9,
        }
        strategy = cma.CMAEvolutionStrategy(list(start), STEP, options)
        best, waited = -math.inf, 0
        while waited < STAGNATION and not strategy.stop():
            points = strategy.ask()
            margins = yield points
            strategy.tell(points, [-margin for margin in margins])
            waited = 0 if max(margins) > best else waited + 1
            best = max(best, *margins)

    def _illuminate(self, random: numpy.random.Generator, size: int) -> Generator[Any, list[float], None]:
        """CMA-ES that is rewarded for networks that are worse than the worst of their cell, without an end."""
        from ribs.archives import GridArchive
        from ribs.emitters import EvolutionStrategyEmitter

        space = self.evaluator.space
        ranges = [(math.log(low), math.log(high)) for low, high in RANGES.values()]
        archive = GridArchive(
            solution_dim=size, dims=[CELLS] * len(AXES), ranges=ranges, seed=int(random.integers(2**31))
        )

        def measures(points: Any) -> list[list[float]]:
            return [coordinates(space.network(point)) for point in points]

        for _ in range(RANDOM_GENERATIONS):
            points = random.random((POPULATION, size))
            margins = yield points
            archive.add(points, margins, measures(points))
        emitter = EvolutionStrategyEmitter(
            archive,
            x0=archive.best_elite["solution"],
            sigma0=STEP,
            batch_size=POPULATION,
            seed=int(random.integers(2**31)),
        )
        while True:
            points = emitter.ask().clip(0.0, 1.0)
            margins = yield points
            found = measures(points)
            emitter.tell(points, margins, found, archive.add(points, margins, found))


RANGES = {name: next((bound.low, bound.high) for bound in BOUNDS if bound.name == name) for name in AXES}
"""Range of each axis."""


def coordinates(network: Network) -> list[float]:
    """The place of a network on the map, within its ends."""
    return [math.log(min(max(float(network[name]), low), high)) for name, (low, high) in RANGES.items()]


def cell_of(network: Network) -> tuple[int, ...]:
    """The cell of a network."""
    cell = []
    for place, (low, high) in zip(coordinates(network), RANGES.values(), strict=True):
        share = (place - math.log(low)) / math.log(high / low)
        cell.append(min(int(share * CELLS), CELLS - 1))
    return tuple(cell)


def edges(name: str) -> list[float]:
    """The ends of the cells of an axis, in the unit of its parameter."""
    low, high = RANGES[name]
    return [low * (high / low) ** (number / CELLS) for number in range(CELLS + 1)]
