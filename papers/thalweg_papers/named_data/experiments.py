"""Every experiment: its scenarios, what is kept, how many runs."""

from __future__ import annotations

from .._base import Experiment, ExperimentKey
from . import extracts, scenarios
from .keys import Key

SEEDS = 10

EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            Key.DUMBBELL,
            "Four round-trip times at one bottleneck",
            tuple(scenarios.SETUPS),
            scenarios.dumbbell,
            extracts.consumers,
            seeds=SEEDS,
            weight=0.9,
        ),
        Experiment(
            Key.PARKING_LOT,
            "Long ways over three bottlenecks, and short ones",
            tuple(scenarios.SETUPS),
            scenarios.parking_lot,
            extracts.consumers,
            seeds=SEEDS,
            weight=2.0,
        ),
        Experiment(
            Key.TREE,
            "One catalogue, and stores in all nodes",
            tuple(scenarios.SETUPS),
            scenarios.tree,
            extracts.stores,
            seeds=SEEDS,
            weight=1.2,
        ),
        Experiment(
            Key.SETTINGS,
            "The dumbbell with one thing set otherwise",
            tuple(scenarios.SETTINGS),
            scenarios.setting,
            extracts.setting,
            seeds=SEEDS,
            weight=0.8,
        ),
    )
}
