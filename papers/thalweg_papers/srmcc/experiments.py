"""Every experiment: its scenario, what is kept, how many seeds."""

from __future__ import annotations

from .._base import Experiment, ExperimentKey
from . import beyond, extracts, ns2, others, rules, scenarios
from .keys import Key

SEEDS = 10

EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            Key.SCENARIOS,
            "§5.1: one group and two TCP connections at a bottleneck, four scenarios, five schemes",
            tuple(f"{n}-{scheme}" for n in (1, 2, 3, 4) for scheme in scenarios.SCHEMES),
            scenarios.paper_case,
            extracts.paper_case,
            seeds=SEEDS,
            weight=0.4,
            schemes=tuple(("srmcc", other) for other in scenarios.PAPER_SCHEMES if other != "srmcc"),
        ),
        Experiment(
            Key.GAMMA,
            "§5.2.1: SRMCC with γ from 0 to 0.30 in scenarios 1 to 3",
            tuple(f"{n}-{gamma:.2f}" for n in (1, 2, 3) for gamma in scenarios.GAMMAS),
            scenarios.gamma_case,
            extracts.gamma_case,
            seeds=SEEDS,
            weight=0.4,
        ),
        Experiment(
            Key.GROUPS,
            "§5.2.2: 1 to 10 SRMCC groups on 10 Mbit/s",
            tuple(str(count) for count in scenarios.GROUPS),
            scenarios.groups_case,
            extracts.groups_case,
            seeds=SEEDS,
            weight=1.5,
        ),
        Experiment(
            Key.NOISE,
            "§5.1, scenarios 1 to 3, with a little random traffic against phase effects",
            tuple(f"{n}-{scheme}" for n in (1, 2, 3) for scheme in scenarios.SCHEMES),
            scenarios.noisy_case,
            extracts.gamma_case,
            seeds=SEEDS,
            weight=0.4,
        ),
        Experiment(
            Key.NS2,
            "§5.1, the connections of scenario 1 without the group, as ns-2 has run them",
            ns2.VARIANTS,
            ns2.case,
            ns2.keep,
            seeds=SEEDS,
            weight=0.4,
        ),
        Experiment(
            Key.TREE,
            "Beyond the paper: a tree of 64 receivers with three bottlenecks",
            scenarios.SCHEMES,
            beyond.tree,
            beyond.keep_tree,
            seeds=SEEDS,
            weight=3,
        ),
        Experiment(
            Key.LARGE_GROUPS,
            "Beyond the paper: groups of 10, 100 and 1000 receivers",
            tuple(f"{scheme}-{size}" for size in reversed(beyond.SIZES) for scheme in scenarios.SCHEMES),
            beyond.large_case,
            beyond.keep_large,
            seeds=SEEDS,
            weight=10,
        ),
        Experiment(
            Key.COST,
            "Processor time of groups of 10, 100 and 1000 receivers",
            tuple(f"{scheme}-{size}" for size in beyond.SIZES for scheme in scenarios.SCHEMES),
            beyond.large_case,
            beyond.keep_large,
            seeds=3,
            quick_seeds=1,
            measure=beyond.measure_cost,
        ),
        Experiment(
            Key.RATE_UPDATE,
            "Rules: every adaptation of the rate",
            ("tree", "line"),
            rules.rate_update,
            rules.keep_rate_update,
        ),
        Experiment(
            Key.OCCUPANCY_FILTER,
            "Rules: the average occupancy",
            ("-",),
            rules.occupancy_filter,
            rules.keep_filter,
        ),
        Experiment(Key.FOLDING, "Rules: what nodes fold", ("-",), rules.folding, rules.keep_folding),
        Experiment(
            Key.CHILDREN,
            "Rules: one message per node and cycle",
            tuple(str(count) for count in rules.CHILDREN),
            rules.children,
            rules.keep_children,
        ),
        Experiment(
            Key.PROBES, "Rules: probes at joins", ("from the start", "later"), rules.probes, rules.keep_probes
        ),
        Experiment(
            Key.RAMP,
            "Rules: the start, and a queue that others fill",
            ("empty", "full"),
            rules.ramp,
            rules.keep_ramp,
        ),
        Experiment(
            Key.SEVERAL_TFMCC,
            "§5.3.1: TFMCC groups beside as many TCP connections",
            tuple(map(str, others.SEVERAL)),
            others.several,
            others.keep_several,
        ),
        Experiment(
            Key.CONGESTED_ROUTERS,
            "§5.3.4: PerIfwithECN over 1, 4 and 16 congested routers",
            tuple(str(count) for count in others.CONGESTED),
            others.congested,
            others.keep_congested,
        ),
        Experiment(
            Key.LIMITING_RECEIVER,
            "§2: another receiver limits the group",
            tuple(f"{scheme}-{how}" for scheme in ("tfmcc", "srmcc") for how in ("cut", "freed")),
            others.limiting_change,
            others.keep_limiting_change,
            schemes=(("srmcc", "tfmcc"),),
        ),
        Experiment(
            Key.FEEDBACK_CLASSES,
            "§5.3.4: who speaks in a TFMCC group",
            ("-",),
            others.classes,
            others.keep_classes,
        ),
        Experiment(
            Key.NAK_SUPPRESSION,
            "§2: PGMCC with and without a transport that delays NAKs",
            ("delayed", "at once"),
            others.suppression,
            others.keep_suppression,
        ),
    )
}
