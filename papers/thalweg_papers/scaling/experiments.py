"""Every experiment: its scenarios, what is kept, how many runs."""

from __future__ import annotations

from .._base import Experiment, ExperimentKey
from . import extracts, scenarios
from .keys import Key

SEEDS = 5

EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            Key.FAR,
            "A controller behind long links",
            scenarios.FAR_VARIANTS,
            scenarios.far,
            extracts.controlled,
            seeds=SEEDS,
            weight=0.5,
        ),
        Experiment(
            Key.DEAF,
            "A controller behind links that lose",
            scenarios.DEAF_VARIANTS,
            scenarios.deaf,
            extracts.controlled,
            seeds=SEEDS,
            weight=0.5,
        ),
        Experiment(
            Key.DEATH,
            "A controller that dies",
            scenarios.DEATH_VARIANTS,
            scenarios.death,
            extracts.controlled,
            seeds=SEEDS,
            weight=0.5,
        ),
        Experiment(
            Key.SIZE,
            "Networks of 10, 50 and 200 routers",
            scenarios.SIZE_VARIANTS,
            scenarios.size,
            extracts.operations,
            seeds=2,
            quick_seeds=1,
            weight=3.0,
        ),
    )
}
