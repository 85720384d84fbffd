"""Makes a counterexample small: every parameter as simple as the failure allows, and the shortest run.

As delta debugging does (A. Zeller, R. Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE TSE 2002), with
the parameters of a network as the parts: a simpler one is kept if the property still holds with every seed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .bounds import Bound, Network
from .evaluation import DURATION_S, Evaluator

SEEDS = (1, 2, 3, 4, 5)
"""Seeds with which a counterexample must hold."""

DURATIONS_S = (20.0, 30.0)
"""Shorter runs that are tried."""

CLEARANCE = math.log(1.25)
"""A simpler network must miss the threshold by a quarter, or as far as the given one."""


@dataclass(frozen=True)
class Shrunk:
    """A counterexample that cannot be made simpler."""

    network: Network
    duration_s: float
    margin: float
    """The lowest margin over the seeds."""
    tried: int
    """Simpler networks that were tried."""
    finished: bool = True
    """No simpler network has the property; otherwise the time was over before all were tried."""


def shrink(
    evaluator: Evaluator,
    network: Network,
    *,
    duration_s: float = DURATION_S,
    seeds: Sequence[int] = SEEDS,
    progress: Callable[[Shrunk], object] | None = None,
    seconds: float | None = None,
) -> Shrunk | None:
    """The simplest network that still has the property with all seeds; None if the given one has not.

    Optional parts go first, then values become round, then the run becomes shorter. Ends when no step succeeds, or after
    `seconds`.
    """
    until = math.inf if seconds is None else time.monotonic() + seconds

    network = evaluator.space.normal(network)
    margin = evaluator.margins([network], seeds, duration_s, lasting=True)[0]
    if margin <= 0:
        return None
    enough = min(margin, CLEARANCE)
    best = Shrunk(network, duration_s, margin, 0)
    while True:
        before = (best.network, best.duration_s)
        for bound in sorted(evaluator.space.bounds, key=_order):
            best = _simplify(evaluator, best, bound, seeds, enough, until)
            if progress is not None:
                progress(best)
        for shorter in DURATIONS_S:
            if shorter < best.duration_s and time.monotonic() < until:
                margin = evaluator.margins([best.network], seeds, shorter, lasting=True)[0]
                best = Shrunk(best.network, best.duration_s, best.margin, best.tried + 1)
                if margin >= enough:
                    best = Shrunk(best.network, shorter, margin, best.tried)
                    break
        if time.monotonic() >= until:
            return replace(best, finished=False)
        if (best.network, best.duration_s) == before:
            return best


def _order(bound: Bound) -> int:
    """Parts that can be absent before whole numbers, and those before values."""
    return 0 if bound.optional else 1 if bound.whole or bound.choices else 2


def _simplify(
    evaluator: Evaluator, best: Shrunk, bound: Bound, seeds: Sequence[int], enough: float, until: float
) -> Shrunk:
    """The network with the simplest value of one parameter that keeps the property, of those tried by then."""
    if bound.name not in best.network:
        return best
    tried = best.tried
    for value in bound.simpler(best.network[bound.name]):
        if time.monotonic() >= until:
            break
        changed = {name: kept for name, kept in best.network.items() if name != bound.name}
        if value is not None:
            changed[bound.name] = value
        changed = evaluator.space.normal(changed)
        tried += 1
        margin = evaluator.margins([changed], seeds, best.duration_s, lasting=True)[0]
        if margin >= enough:
            return Shrunk(changed, best.duration_s, margin, tried)
    return Shrunk(best.network, best.duration_s, best.margin, tried)
