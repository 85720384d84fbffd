"""Every experiment: its scenarios, what is kept, how many runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base import Experiment, ExperimentKey
from . import extracts, scenarios
from .keys import Key

SEEDS = 10


def _experiment(
    name: Key, title: str, variants: tuple[str, ...], tree: Callable[..., Any], weight: float
) -> Experiment:
    return Experiment(
        name,
        title,
        variants,
        tree,
        extracts.over_time,
        seeds=SEEDS,
        quick_seeds=2,
        weight=weight,
    )


BACKGROUND: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        _experiment(Key.ALONE, "A background flow that has the link", scenarios.ALONE, scenarios.alone, 0.45),
        _experiment(
            Key.BESIDE_TCP,
            "A connection joins a background flow",
            scenarios.GIVEN_WAY,
            scenarios.given_way,
            0.46,
        ),
        _experiment(
            Key.LATECOMER, "Two of a kind, the second later", scenarios.LATE, scenarios.latecomer, 0.7
        ),
        _experiment(Key.ROUTE, "The route becomes longer or shorter", scenarios.ROUTES, scenarios.route, 0.8),
        _experiment(Key.DRIFT, "The receiver's clock drifts", scenarios.DRIFTS, scenarios.drift, 1.4),
    )
}

REAL_TIME: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        _experiment(
            Key.ALONE, "A real-time flow that has the link", scenarios.REAL_ALONE, scenarios.real_alone, 0.4
        ),
        _experiment(
            Key.BESIDE_TCP, "A real-time flow and a connection", scenarios.SHARED, scenarios.shared, 0.4
        ),
    )
}
