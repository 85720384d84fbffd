"""Every experiment: its scenario, what is kept, how many runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._base import Experiment, ExperimentKey
from . import extracts, scenarios
from .keys import Key


def _experiment(
    name: Key,
    title: str,
    variants: Iterable[str],
    tree: Callable[..., Any],
    *,
    seeds: int = 3,
    weight: float = 0.3,
    schemes: tuple[tuple[str, str], ...] = (),
) -> Experiment:
    return Experiment(
        name,
        title,
        tuple(variants),
        tree,
        extracts.curves if name == Key.RULES else extracts.means,
        seeds=seeds,
        quick_seeds=1,
        weight=weight,
        schemes=schemes,
    )


EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        _experiment(
            Key.STABILITY, "§4.2: background mode alone, 20 tests", scenarios.STABILITY, scenarios.stability
        ),
        _experiment(
            Key.BACK_OFF,
            "§4.2: background mode against NewReno, 20 tests",
            scenarios.STABILITY,
            scenarios.back_off,
        ),
        _experiment(
            Key.FIGURE_3,
            "Figure 3: back-off with three round trips",
            scenarios.FIGURE_3_MS,
            scenarios.figure_3,
            seeds=5,
        ),
        _experiment(
            Key.FRIENDLINESS,
            "Figure 4: real-time mode against NewReno, 26 tests",
            scenarios.FRIENDLY,
            scenarios.friendliness,
            seeds=5,
        ),
        _experiment(
            Key.TCP_VARIANTS,
            "§4.3: other kinds of TCP",
            scenarios.VARIED,
            scenarios.varied,
            schemes=(("newreno", "cubic"),),
        ),
        _experiment(
            Key.BIAS,
            "§4.3: round-trip times of 20 and 200 ms",
            ("real_time", "reno"),
            scenarios.bias,
            seeds=5,
            schemes=(("real_time", "reno"),),
        ),
        _experiment(
            Key.ALONE,
            "§5: each mode alone",
            scenarios.MODES,
            scenarios.alone,
            seeds=5,
            schemes=(scenarios.MODES,),
        ),
        _experiment(Key.ITSELF, "§4.4: two streams, 30 tests", scenarios.ITSELF, scenarios.itself, seeds=5),
        _experiment(Key.FOUR, "Figure 6: four streams", ("30",), scenarios.four, seeds=5, weight=0.6),
        _experiment(
            Key.FOUR_AT_ONCE,
            "§4.4: how long four take to share",
            scenarios.FOUR_LONG,
            scenarios.four_together,
            seeds=5,
            weight=0.6,
        ),
        _experiment(
            Key.MIXED,
            "Figure 7: background against real-time mode, 50 tests",
            scenarios.MIXED,
            scenarios.mixed,
        ),
        _experiment(
            Key.MILDER, "§4.4: shorter steps in background mode", scenarios.STEPS, scenarios.milder, seeds=5
        ),
        _experiment(Key.TWO_QUEUES, "Table 2", scenarios.TABLE_2, scenarios.two_queues, seeds=5, weight=0.5),
        _experiment(
            Key.FIGURE_8,
            "Figure 8: a third stream for a while",
            ("4000",),
            scenarios.figure_8,
            seeds=5,
            weight=0.5,
        ),
        _experiment(
            Key.ONE_LONGER,
            "§4.5: one of three with 150 ms",
            scenarios.LONGER,
            scenarios.longer,
            seeds=5,
            weight=0.5,
        ),
        _experiment(Key.PLACE, "§4.5: where the queue is", ("first", "second"), scenarios.place, seeds=5),
        _experiment(
            Key.ROUTES, "Figure 9: rerouting", scenarios.ROUTES, scenarios.rerouting, seeds=5, weight=0.1
        ),
        _experiment(
            Key.PERSISTENT, "§4.6: persistent congestion", ("6",), scenarios.persistent, seeds=5, weight=1.0
        ),
        _experiment(
            Key.CLOCKS,
            "§4.6: clocks that are off and drift",
            (*scenarios.CLOCKS, "right alone", "fast alone", "slow alone"),
            scenarios.clocks,
            weight=0.7,
        ),
        _experiment(Key.MODES, "§2.2: the mode changes", scenarios.MODE_VARIANTS, scenarios.modes, seeds=5),
        _experiment(
            Key.RULES, "§3: rules, packet by packet", scenarios.MODES, scenarios.rules, seeds=1, weight=0.1
        ),
    )
}
