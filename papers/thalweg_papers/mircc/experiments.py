"""Every experiment: its scenario, what is kept, how many runs."""

from __future__ import annotations

from .._base import Experiment, ExperimentKey
from . import extracts, measures, others, scenarios
from .keys import Key


def _compared(
    name: Key, title: str, cases: dict[str, scenarios.Case], runs: tuple[str, ...] = scenarios.RUNS
) -> Experiment:
    """An experiment of cases. Nothing in it is drawn, so one seed is enough: its runs differ in phase and start."""
    return Experiment(
        name,
        title,
        scenarios.variants(cases, runs),
        scenarios.tree_of(cases, name),
        extracts.rates,
        seeds=1,
        quick_seeds=1,
        weight=0.1,
    )


EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        _compared(Key.EQUAL_CLOCKS, "Figure 3: consumers and routers have the same clock", scenarios.EQUAL),
        _compared(
            Key.FINE_CONSUMER_CLOCK,
            "Figure 4: consumers tick every 100 ms, routers more seldom",
            scenarios.FINE,
        ),
        _compared(Key.GRID, "Every consumer clock with every router interval", scenarios.GRID),
        _compared(Key.ONE_THING_CHANGED, "Interval above the RTT, or bucket below a burst?", scenarios.APART),
        _compared(
            Key.CLOCK_AND_DEPTH,
            "Clock intervals with buckets of five depths",
            scenarios.BY_DEPTH,
            measures.SWEEP_RUNS,
        ),
        _compared(
            Key.CLOCK_AND_RTT,
            "Clock intervals over paths of four lengths",
            scenarios.BY_RTT,
            measures.SWEEP_RUNS,
        ),
        _compared(Key.EXACT_CLOCK, "Consumers with an exact clock", scenarios.EXACT),
        _compared(Key.NO_CAP, "The rate without an upper bound", scenarios.NO_CAP),
        Experiment(
            Key.METHODS,
            "§1: other methods in the paper's set-up, with exact clocks",
            others.VARIANTS,
            others.method,
            others.keep_method,
            seeds=5,
            quick_seeds=2,
            weight=2.0,
            schemes=tuple(("mircc", other) for other in others.METHODS if other != "mircc"),
        ),
        Experiment(
            Key.NACK_CLOCKS,
            "§1: Stateful Forwarding under coarse clocks",
            others.CLOCKED,
            others.clocked,
            others.keep_clocked,
            seeds=5,
            quick_seeds=2,
            weight=2.0,
        ),
        Experiment(
            Key.C1_ALONE,
            "What a consumer's bucket passes",
            scenarios.variants(scenarios.LONE),
            scenarios.tree_of(scenarios.LONE, "C1 alone"),
            extracts.lone,
            seeds=1,
            quick_seeds=1,
            weight=0.1,
        ),
        Experiment(
            Key.INSPECTION,
            "The nine quantities of Table 1, tick by tick",
            scenarios.variants(scenarios.INSPECTED, scenarios.INSPECTED_RUNS),
            scenarios.tree_of(scenarios.INSPECTED, "inspection"),
            extracts.inspection,
            seeds=1,
            quick_seeds=1,
            weight=0.1,
        ),
        Experiment(
            Key.DEPARTURES,
            "When a coarse clock lets Interests go",
            scenarios.variants(scenarios.DEPARTURES, ("0/C",)),
            scenarios.tree_of(scenarios.DEPARTURES, "departures"),
            extracts.departures,
            seeds=1,
            quick_seeds=1,
            weight=0.1,
        ),
        Experiment(
            Key.BURST,
            "A burst of 250 Interests on an empty bucket",
            ("250",),
            scenarios.burst,
            extracts.burst,
            seeds=1,
            quick_seeds=1,
            weight=0.01,
        ),
        Experiment(
            Key.SPACING,
            "§1: Interests at line rates",
            tuple(scenarios.SPACINGS),
            scenarios.spacing,
            extracts.spacing,
            seeds=1,
            quick_seeds=1,
            weight=0.01,
        ),
    )
}
