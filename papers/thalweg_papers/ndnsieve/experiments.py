"""Every experiment: its scenarios, what is kept, how many runs."""

from __future__ import annotations

from .._base import Experiment, ExperimentKey
from . import abstracts, extracts, others, scenarios
from .keys import Key

SEEDS = 10

_TITLES = {
    Key.DUMBBELL: "Scenario 1: two consumers at one bottleneck",
    Key.TWO_WAYS: "Scenario 2: one prefix at two producers",
    Key.THREE_FLOWS: "Scenario 3: three consumers and a way round",
}

EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *(
            Experiment(
                scene,
                _TITLES[scene],
                tuple(scenarios.SETUPS),
                scenarios.scene_tree(scene),
                extracts.scene(scene),
                seeds=SEEDS,
                quick_seeds=3,
                weight=0.3,
                schemes=tuple(("calibrated", other) for other in scenarios.SETUPS if other != "calibrated"),
            )
            for scene in scenarios.SCENES
        ),
        Experiment(
            Key.READINGS,
            "PCON with other windows, and with one reaction only",
            scenarios.READING_VARIANTS,
            scenarios.reading,
            extracts.network,
            seeds=SEEDS,
            quick_seeds=3,
            weight=0.3,
        ),
        Experiment(
            Key.EXACT,
            "Interests that leave when they are due",
            scenarios.EXACT_VARIANTS,
            scenarios.exact,
            extracts.network,
            seeds=SEEDS,
            quick_seeds=3,
            weight=0.3,
        ),
        Experiment(
            Key.STEP,
            "A bottleneck that gets slower, under other schemes",
            others.CASES,
            others.step,
            others.overload,
            seeds=5,
            quick_seeds=2,
            weight=0.2,
            schemes=(("AIMD", "HIS"), ("CUBIC", "NACK")),
        ),
        Experiment(
            Key.PATHS,
            "Ways that differ, under other schemes",
            tuple(others.PATHS),
            others.paths,
            others.final_windows,
            seeds=5,
            quick_seeds=2,
            weight=0.2,
            schemes=(("ICP", "RAAQM"),),
        ),
        Experiment(
            Key.LOAD,
            "A bottleneck that gets slower, under ECP",
            ("ECP",),
            others.load,
            others.queues,
            seeds=5,
            quick_seeds=2,
            weight=0.2,
        ),
        Experiment(
            Key.ONE_PATH,
            "Scenario 3 under CHoPCoP",
            ("CHoPCoP",),
            others.one_way,
            extracts.network,
            seeds=SEEDS,
            quick_seeds=3,
            weight=0.3,
        ),
        Experiment(
            Key.PLACES,
            "CCTCP, ICP and AIMD, chunks in two places",
            abstracts.PLACED,
            abstracts.places,
            abstracts.placed,
            seeds=5,
            quick_seeds=2,
            weight=0.3,
            schemes=(("cctcp", "icp"),),
        ),
        Experiment(
            Key.SHARE,
            "The shares of PCON in scenario 2",
            ("pcon",),
            scenarios.share,
            extracts.share_steps,
            seeds=5,
            quick_seeds=2,
            weight=0.3,
        ),
        Experiment(
            Key.RATES,
            "The controller's work at two rates",
            scenarios.RATES,
            scenarios.rated,
            extracts.counters,
            seeds=3,
            quick_seeds=1,
            weight=0.4,
        ),
        Experiment(
            Key.SIZES,
            "The controller's work in larger networks",
            scenarios.SIZES,
            scenarios.side_by_side,
            extracts.counters,
            seeds=1,
            quick_seeds=1,
            weight=2.0,
        ),
        Experiment(
            Key.LOST_PACKETS,
            "What the delay of a segment is",
            ("1 %",),
            scenarios.lossy,
            extracts.lost_once,
            seeds=3,
            quick_seeds=1,
            weight=0.2,
        ),
        Experiment(
            Key.GRAPHS,
            "CoopCon and FleCom in random graphs",
            abstracts.VARIANTS,
            abstracts.tree,
            abstracts.kept,
            seeds=2,
            quick_seeds=1,
            weight=0.6,
            schemes=(("pcon", "coopcon"), ("pcon", "flecom")),
        ),
    )
}
