"""The scenarios of a study: with other settings, as files to take away, and how a quick run shortens them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thalweg import Scenario
from thalweg.event_labels import seconds

from ._base import Experiment, ExperimentKey, Figure, Scale, Table, Tree, seeds_of


@dataclass(frozen=True)
class StudyScenario:
    """A scenario of a study: one variant of an experiment."""

    experiment: str
    """Title of the experiment."""
    name: str
    """File name without its extension: `one-bottleneck-lossy`."""
    scenario: Scenario
    seeds: tuple[int, ...]
    """The seeds with which the study runs it."""

    @property
    def toml(self) -> str:
        """The scenario as a file for `thalweg run`, with a comment about its origin."""
        first, last = self.seeds[0], self.seeds[-1]
        seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
        return f"# {self.experiment}; the study runs it with {seeds}.\n{self.scenario.toml}"


class _Changed:
    """A function of variant and scale whose tree has changed keys; it can be sent to another process."""

    def __init__(self, experiment: Experiment, changes: Mapping[str, Any]) -> None:
        self.experiment = experiment
        self.changes = dict(changes)

    def __call__(self, variant: str, scale: Scale) -> Tree:
        tree = self.experiment.tree(variant, scale)
        return Scenario.from_tree(tree).with_(self.changes).tree


def with_changes(
    experiments: Mapping[ExperimentKey, Experiment],
    selected: Iterable[ExperimentKey],
    changes: Mapping[str, Any],
) -> dict[ExperimentKey, Experiment]:
    """The experiments, of which those selected have scenarios with changed dotted keys.

    Raises ``ValueError`` for an experiment that measures the program instead of a scenario, and `ScenarioError` for a
    key or a value that a scenario does not take.
    """
    found = dict(experiments)
    for key in selected:
        experiment = experiments[key]
        if experiment.measure is not None:
            raise ValueError(
                f"{experiment.title}: it measures the program, and its scenario cannot be changed"
            )
        found[key] = replace(experiment, tree=_Changed(experiment, changes))
    return found


def listed(runs: Sequence[Any]) -> list[StudyScenario]:
    """The scenarios of runs, each once, in their order, with its seeds. Measurements of the program have none."""
    cases: dict[tuple[Any, str, str], list[Any]] = {}
    for run in runs:
        if run.experiment.measure is None:
            own = "" if run.experiment.draw is None else f"-seed-{run.seed}"
            cases.setdefault((run.experiment.name, run.variant, own), []).append(run)
    found: dict[str, StudyScenario] = {}
    for (key, variant, own), (first, *more) in cases.items():
        seeds = tuple(sorted([first.seed, *(run.seed for run in more)]))
        tree = {**first.tree, "seed": seeds[0]}
        name = _file_name(f"{key}-{variant}{own}")
        while name in found:
            name += "-2"
        found[name] = StudyScenario(first.experiment.title, name, Scenario.from_tree(tree), seeds)
    return list(found.values())


def _file_name(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9.]+", text.lower().replace("+", "plus")))


# --- quick runs ------------------------------------------------------------------------------------------------------


def marked(
    drawn: Figure | Table | None, experiments: Sequence[Experiment], scale: Scale
) -> Figure | Table | None:
    """A figure whose caption, or a table whose title, says how the runs are shorter or fewer than the study's."""
    sentence = shortened(experiments, scale)
    if not sentence or drawn is None:
        return drawn
    if isinstance(drawn, Figure):
        return replace(drawn, caption=f"{drawn.caption} Quick run: {sentence}.")
    return replace(drawn, title=f"{drawn.title} (quick run: {sentence})")


def shortened(experiments: Sequence[Experiment], scale: Scale) -> str:
    """The difference of a quick run from a full one, from its scenarios: `50 s instead of 200 s, 2 seeds instead of 5`.

    Empty where there is none.
    """
    if not scale.quick:
        return ""
    full, quick = _durations(experiments, Scale()), _durations(experiments, scale)
    words = [] if full == quick else [f"{_range(quick)} s instead of {_range(full)} s"]
    seeds = [
        (seeds_of(experiment, variant, Scale()), seeds_of(experiment, variant, scale))
        for experiment in experiments
        for variant in experiment.variants
    ]
    if any(all_of_them != fewer for all_of_them, fewer in seeds):
        fewer = _range([count for _, count in seeds])
        words.append(f"{fewer} seed{'s' * (fewer != '1')} instead of {_range([count for count, _ in seeds])}")
    return ", ".join(words)


def _durations(experiments: Sequence[Experiment], scale: Scale) -> list[float]:
    """Simulated time of each scenario, in seconds."""
    return [
        seconds(experiment.tree(variant, scale)["duration"])
        for experiment in experiments
        if experiment.measure is None
        for variant in experiment.variants
    ]


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
