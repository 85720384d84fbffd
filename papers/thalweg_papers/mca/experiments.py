"""Every experiment: its scenario, what is kept, how many seeds."""

from __future__ import annotations

from typing import Any

from .._base import Experiment, ExperimentKey, Sample, Scale, Tree
from .._common import custom, link
from . import cost, extracts, rules, scenarios, variations
from .keys import Key


def _one_branch(variant: str, scale: Scale) -> Tree:
    """One branch of the star of §4.3 by itself, which no other branch touches: the multicast flow has one receiver."""
    size = {"lossless": 200, "lossy": 10}[variant]
    links = [
        link("bottleneck1", "r", "d1", rate="1 Mbit/s", delay="5 ms", buffer=f"{size} packets"),
        link("access1", "s1", "r", **scenarios.FAR),
        link("access65", "s65", "r", **scenarios.FAR),
    ]
    flows = [scenarios.mca("unicast1", "s1", "d1", count=3), scenarios.mca("multicast", "s65", "d1")]
    return custom(
        f"MCA §4.3, one branch of the star, {variant}",
        scale.seconds(scenarios.STAR_S),
        links,
        flows,
        record=scenarios.RECORD,
    )


def _keep_one_branch(result: Any, _variant: str, _scale: Scale) -> Sample:
    from .. import _read

    return {"multicast_rate_bps": float(_read.flow(result, "multicast")["rate_bps"])}


EXPERIMENTS: dict[ExperimentKey, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            Key.ONE_BOTTLENECK,
            "§4.1: one bottleneck of 10 Mbit/s, 10 to 30 flows to 16 receivers",
            ("lossless", "lossy"),
            scenarios.one_bottleneck,
            extracts.one_bottleneck,
            weight=13,
        ),
        Experiment(
            Key.CHAIN,
            "§4.2: four bottlenecks of 10 Mbit/s in a row",
            ("lossless", "lossy"),
            scenarios.chain,
            extracts.chain,
            weight=28,
        ),
        Experiment(
            Key.STAR,
            "§4.3: 64 bottlenecks of 1 Mbit/s, one multicast and 192 unicast flows",
            ("lossless", "lossy"),
            scenarios.star,
            extracts.star,
            seeds=10,
            weight=10,
        ),
        Experiment(
            Key.ONE_BRANCH,
            "§4.3: one branch of the star, where the multicast flow has one receiver",
            ("lossless", "lossy"),
            _one_branch,
            _keep_one_branch,
            seeds=10,
            weight=0.3,
        ),
        Experiment(
            Key.TRACKING,
            "§4.4: 32 receivers, the most congested link changes every 200 s",
            ("lossless", "lossy"),
            scenarios.tracking,
            extracts.tracking,
            weight=13,
        ),
        Experiment(
            Key.DYNAMIC_TREE,
            "§4.5: three levels of links of 20 and 200 ms, traffic and receivers that come and go",
            ("all", "lone"),
            scenarios.dynamic_tree,
            extracts.dynamic_tree,
            seeds=10,
            quick_seeds=3,
            weight=9,
        ),
        Experiment(
            Key.ONE_QUEUE, "Rules: one queue", ("wide", "narrow"), rules.one_queue, rules.keep_one_queue
        ),
        Experiment(
            Key.CHANGED_PATH,
            "Rules: a path changes",
            ("shorter", "longer"),
            rules.changed_path,
            rules.keep_changed_path,
        ),
        Experiment(Key.DRIFT, "Rules: a thousand epochs", ("-",), rules.drift, rules.keep_drift, seeds=3),
        Experiment(
            Key.EQUAL_BRANCHES,
            "Rules: representatives over equal branches",
            ("k_rx2", "k0", "k1", "k3"),
            rules.branches,
            rules.keep_branches,
        ),
        Experiment(
            Key.ABSENCE,
            "Rules: the representative leaves",
            ("n1", "n4", "n16"),
            rules.absence,
            rules.keep_absence,
        ),
        Experiment(Key.BURSTS, "Rules: bursts of loss", ("-",), rules.bursts, rules.keep_bursts, weight=0.1),
        Experiment(
            Key.SILENCE, "Rules: no feedback without arrivals", ("-",), rules.silence, rules.keep_silence
        ),
        Experiment(
            Key.FLUID_LIMIT,
            "Rules: accumulation against the queues of random paths, for smaller and smaller packets",
            rules.FLUID,
            rules.fluid,
            rules.keep_fluid,
            seeds=1,
            quick_seeds=1,
            weight=0.5,
            own_phases="its paths have random delays",
        ),
        Experiment(
            Key.PACED_FLOWS,
            "Rules: paced flows",
            ("10", "20", "30", "10 at once", "20 at once", "30 at once"),
            variations.paced,
            variations.keep_paced,
            weight=0.3,
            own_phases="S004-12 is about flows that begin together",
        ),
        Experiment(
            Key.TRADE_OFF,
            "Rules: trade-offs",
            tuple(variations.TRADE_OFFS),
            variations.trade_off,
            variations.keep_trade_off,
        ),
        Experiment(
            Key.COMPANY,
            "Scope: with TCP",
            ("together", "classes"),
            variations.company,
            variations.keep_company,
            weight=0.4,
        ),
        Experiment(
            Key.SOLITUDE,
            "Scope: no receiver",
            ("open", "capped"),
            variations.solitude,
            variations.keep_solitude,
            weight=0.1,
        ),
        Experiment(
            Key.CONSTANT_COST,
            "Cost: 16 384 receivers in groups of 128 to 16 384",
            tuple(str(size) for size in cost.SIZES),
            lambda variant, scale: cost.groups(int(variant), cost.RECEIVERS, scale.seconds(cost.LONG_S)),
            rules.keep_one_queue,
            seeds=3,
            quick_seeds=1,
            measure=cost.measure,
        ),
    )
}
