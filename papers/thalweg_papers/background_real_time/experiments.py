"""Every experiment: its scenarios, what is kept, how many runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base import Experiment
from . import extracts, scenarios

SEEDS = 10


def _experiment(
    name: str, title: str, variants: tuple[str, ...], tree: Callable[..., Any], weight: float
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


BACKGROUND: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        _experiment("alone", "A background flow that has the link", scenarios.ALONE, scenarios.alone, 0.45),
        _experiment(
            "beside TCP",
            "A connection joins a background flow",
            scenarios.GIVEN_WAY,
            scenarios.given_way,
            0.46,
        ),
        _experiment("latecomer", "Two of a kind, the second later", scenarios.LATE, scenarios.latecomer, 0.7),
        _experiment("route", "The route becomes longer or shorter", scenarios.ROUTES, scenarios.route, 0.8),
        _experiment("drift", "The receiver's clock drifts", scenarios.DRIFTS, scenarios.drift, 1.4),
    )
}

REAL_TIME: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        _experiment(
            "alone", "A real-time flow that has the link", scenarios.REAL_ALONE, scenarios.real_alone, 0.4
        ),
        _experiment(
            "beside TCP", "A real-time flow and a connection", scenarios.SHARED, scenarios.shared, 0.4
        ),
    )
}
