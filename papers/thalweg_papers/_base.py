"""Types of a paper's experiments, figures and claims. They import neither the simulator nor a heavy library."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._claims import Claim
    from ._joint import Joint
    from ._phases import Phases
    from ._profiles import Profile
    from ._readings import Reading
    from ._specific import Substitutes, Substitution

Tree = dict[str, Any]
"""A scenario as plain data: the same keys as a scenario file."""

Sample = dict[str, Any]
"""The stored values of one run: numbers, and arrays of numbers."""


class NothingMeasuredError(ArithmeticError):
    """A run or a claim has nothing to measure, such as a ratio to what does not happen with some readings."""


def mapping_loader(package: str, name: str, module: str) -> Callable[[], dict[Any, Any]]:
    """A function that returns the mapping of this name in a module of a package, which it imports when it is called.

    Experiments need NumPy and other libraries, which most commands do not use.
    """
    return lambda: dict(getattr(import_module(f"{package}.{module}"), name))


def call_loader(package: str, name: str, module: str) -> Callable[[], Any]:
    """A function that calls one of a module of a package, which it imports when it is called."""
    return lambda: getattr(import_module(f"{package}.{module}"), name)()


class ExperimentKey(StrEnum):
    """Base of the keys of a paper's experiments, by which scenarios, measures and figures are joined."""


@dataclass(frozen=True)
class Scale:
    """The share of the paper's duration that is simulated. The events of a run are compressed together with its length."""

    factor: float = 1.0
    fewer: bool = False
    """Fewer seeds, independent of the duration."""

    @property
    def quick(self) -> bool:
        """Whether runs are shorter, or seeds fewer."""
        return self.factor < 1.0 or self.fewer

    def seconds(self, paper_s: float) -> float:
        """A moment or a length of the paper, in simulated seconds."""
        return paper_s * self.factor

    def text(self, paper_s: float) -> str:
        """The same in the notation of scenarios."""
        return f"{self.seconds(paper_s):g} s"

    def span(self, begin_s: float, end_s: float) -> str:
        """Two moments of the paper as a caption writes them: `50–200 s`, at a quarter of the time `12.5–50 s`."""
        return f"{self.seconds(begin_s):g}–{self.text(end_s)}"

    def moments(self, *paper_s: float) -> str:
        """Moments of the paper as a caption lists them: `30, 80 and 120 s`."""
        *first, last = (f"{self.seconds(moment):g}" for moment in paper_s)
        return f"{', '.join(first)} and {last} s" if first else f"{last} s"

    def counted(self, paper_s: float) -> str:
        """The time of a count that is divided by `factor`: `in 200 s`, or `in 200 s, extrapolated from 50 s`."""
        short = "" if self.factor == 1.0 else f", extrapolated from {self.text(paper_s)}"
        return f"in {paper_s:g} s{short}"


FULL = Scale()
"""The paper's durations and all seeds."""

Span = Callable[[Scale], str]
"""A time that a measure uses, as a row prints it for runs of this scale."""


@dataclass(frozen=True)
class Experiment:
    """Scenarios that differ in one property, each run with several seeds."""

    name: ExperimentKey
    title: str
    variants: tuple[str, ...]
    tree: Callable[[str, Scale], Tree]
    """Scenario of a variant."""
    extract: Callable[[Any, str, Scale], Sample]
    """Computes the stored values of a result."""
    seeds: int = 5
    fewer: tuple[tuple[str, int], ...] = ()
    """Variants that take fewer seeds."""
    quick_seeds: int = 2
    weight: float = 1.0
    """Cost of one run, in millions of packet-hops, by which the longest runs start first."""
    measure: Callable[[str, int, Scale], Sample] | None = None
    """Replaces the run of `tree` by a measurement of its own (cost in time and memory)."""
    schemes: tuple[tuple[str, str], ...] = ()
    """Pairs of schemes, by their words in the names of variants, that the test of the judge exchanges."""
    emulated_runs: int = 0
    """Emulated runs of a variant, if more than `Emulated.runs`."""
    draw: Callable[[Tree, int], Tree] | None = None
    """The scenario of a seed, from the scenario of its variant; None where all seeds have the same."""
    own_phases: str = ""
    """Why its delays and starts are never drawn: what a row asks of them."""


def seeds_of(experiment: Experiment, variant: str, scale: Scale) -> int:
    """The number of seeds of a variant."""
    seeds = experiment.quick_seeds if scale.quick else experiment.seeds
    return min(seeds, dict(experiment.fewer).get(variant, seeds))


@dataclass(frozen=True)
class Quantity:
    """A measured quantity: one value per seed."""

    values: tuple[float, ...]
    unit: str = ""
    within: tuple[float, float] | None = None
    """The possible range; by default all numbers if a value is negative, otherwise from zero."""

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return sum(self.values) / len(self.values) if self.values else float("nan")

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the mean (Student's t) in the possible range; none below three values."""
        from thalweg.stats import ANY, MIN_SEEDS, estimate

        if len(self.values) < MIN_SEEDS:
            return None

        positive = (0.0, math.inf) if min(self.values) >= 0 else ANY
        return estimate(self.values, within=self.within or positive).interval


Measured = dict[str, Quantity]
"""Quantities by name; the first is the one that is printed."""


def take(key: str, factor: float = 1.0) -> Callable[[Sample], float]:
    """Reads one number of a sample, times a factor."""
    return lambda sample: float(sample[key]) * factor


@dataclass(frozen=True)
class Samples:
    """The samples of the experiments that were run: ``samples[Key.STAR, "lossy"]`` is one per seed."""

    by_case: Mapping[tuple[ExperimentKey, str], Sequence[Sample]]

    def __getitem__(self, case: tuple[ExperimentKey, str]) -> Sequence[Sample]:
        return self.by_case[case]

    def has(self, experiment: ExperimentKey) -> bool:
        """Whether the experiment was run."""
        return any(name == experiment for name, _ in self.by_case)

    def variants(self, experiment: ExperimentKey) -> list[str]:
        """The variants of an experiment that were run, in order."""
        return [variant for name, variant in self.by_case if name == experiment]

    def exchanged(self, pair: tuple[str, str], experiments: Sequence[ExperimentKey]) -> Samples:
        """A copy in which the samples of two schemes are exchanged, in some of the experiments."""
        other = dict(zip(pair, reversed(pair), strict=True))

        def place(variant: str) -> str:
            return "".join(other.get(word, word) for word in re.split(r"([ ,:-])", variant))

        return Samples(
            {
                (name, variant): self.by_case.get((name, place(variant)), kept)
                if name in experiments
                else kept
                for (name, variant), kept in self.by_case.items()
            }
        )

    def each(
        self, experiment: ExperimentKey, variant: str, value: Callable[[Sample], float], unit: str = ""
    ) -> Quantity:
        """One value per seed."""
        return Quantity(tuple(float(value(sample)) for sample in self[experiment, variant]), unit)


@dataclass(frozen=True)
class Measure:
    """The measurement of a claim: the experiments, and a function of their samples.

    A row of ``claims.toml`` names it by module and name: ``measure = "rule_measures.thresholds"``.
    """

    experiments: tuple[ExperimentKey, ...]
    function: Callable[[Samples], Measured]
    spans: Mapping[str, Span] = field(default_factory=dict)
    """Times that the function uses, by the name that the text of a claim has in braces."""

    def __call__(self, samples: Samples) -> Measured:
        """The quantities. Raises `NothingMeasuredError` for a ratio to nothing."""
        try:
            return self.function(samples)
        except ZeroDivisionError as error:
            raise NothingMeasuredError("a ratio to something that does not happen") from error


def measure(*experiments: ExperimentKey, **spans: Span) -> Callable[[Callable[[Samples], Measured]], Measure]:
    """Decorates a function of samples as a measure of claims, which needs these experiments.

    ``spans`` are times that it uses. Claims print them, ``{settling}``, as they were in the runs.
    """
    return lambda function: Measure(experiments, function, spans)


@dataclass(frozen=True)
class Table:
    """Columns of equal length, by name; names carry units."""

    title: str
    columns: dict[str, list[Any]]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Row by row."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))

    def frame(self) -> Any:
        """The table as a polars DataFrame."""
        import polars

        # polars would take keys of experiments for categories
        plain = {
            name: [str(value) if isinstance(value, ExperimentKey) else value for value in values]
            for name, values in self.columns.items()
        }
        return polars.DataFrame(plain, strict=False)


@dataclass(frozen=True)
class Figure:
    """A figure and its numbers."""

    title: str
    caption: str
    svg: str
    tables: dict[str, Table] = field(default_factory=dict)
    marks: bool = False
    """Whether values that the paper prints are drawn in."""


@dataclass(frozen=True)
class FigureSpec:
    """A figure or a table of the paper: its id and title, the experiments that it needs, and the function that draws it."""

    id: str
    title: str
    experiments: tuple[ExperimentKey, ...]
    draw: Callable[[Samples, Scale], Figure | Table]


@dataclass(frozen=True)
class Pair:
    """The same cases simulated and emulated; emulated runs only if they are valid."""

    simulated: Samples
    emulated: Samples

    def variants(self, experiment: ExperimentKey) -> list[str]:
        """Variants that both have."""
        return [v for v in self.simulated.variants(experiment) if (experiment, v) in self.emulated.by_case]


@dataclass(frozen=True)
class PairFigureSpec:
    """A figure or a table of simulation and emulation side by side: its id, and the function that draws it."""

    id: str
    draw: Callable[[Pair], Figure | Table | None]
    """None if no run belongs to it."""


@dataclass(frozen=True, kw_only=True)
class Emulated:
    """The part of a study that is emulated, with TCP of the kernel, and compared with the simulation of its scenarios."""

    experiments: Callable[[], Mapping[ExperimentKey, Experiment]]
    """Their trees are run in both worlds; `seeds` are those of the simulation."""
    cases: Callable[[], Sequence[tuple[ExperimentKey, str]]]
    """Experiments and variants that are run when time is short, those that tell most first; with enough time all are."""
    figure_specs: Callable[[], Sequence[PairFigureSpec]]
    choices: Callable[[], Mapping[str, str]]
    claims: Callable[[], Sequence[Claim]] = tuple
    """A measure of a claim gives nothing where what it needs was not run."""
    runs: int = 1
    """Emulated runs of a case; they take the seed and those that follow it."""


STARTS = 3
"""Starts of a search for readings: the default, and random ones."""
COMBINATIONS = 200
"""Combinations of readings that a search runs at most."""

EMULATIONS_PER_CORE = 6
"""Simultaneous emulations of a few megabits per second for each core; with too many, runs are not valid."""


@dataclass(frozen=True, kw_only=True)
class Live:
    """A figure that is run over real sockets of this host, too."""

    name: str
    """Name of the picture's file, without its ending."""
    title: str
    """Title of the table."""
    columns: Sequence[tuple[str, str]]
    """Keys of the table's rows and their headings."""
    run: Callable[[bool, Callable[[float, float, str], object]], tuple[list[dict[str, Any]], str]]
    """Runs all or a short part of it, with progress; the rows of the table, and the picture as SVG."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """Experiments and figures. `_study.Study` runs them."""

    name: str
    title: str
    experiments: Callable[[], Mapping[ExperimentKey, Experiment]]
    figure_specs: Callable[[], Sequence[FigureSpec]]
    choices: Callable[[], Mapping[str, str]]
    """Choices where the paper is not explicit, or the method of the comparison: key, choice and reason."""
    quick_factor: float = 0.25
    """Share of the simulated time that a quick reproduction takes; 1 where claims need all of it."""
    emulated: Callable[[], Emulated] | None = None
    """The part that can also be run in real time."""
    only_emulated: bool = False
    """The study has a real-time part only."""
    live: Callable[[], Live] | None = None
    """The part that can also be run over real sockets."""

    @property
    def of_paper(self) -> bool:
        """Whether it is a paper, which makes claims, and not a comparison of Thalweg's own."""
        return isinstance(self, Paper)

    @property
    def figures(self) -> tuple[str, ...]:
        """Ids that ``reproduce(figure=…)`` takes."""
        return tuple(spec.id for spec in self.figure_specs())


@dataclass(frozen=True, kw_only=True)
class Paper(Study):
    """Experiments, figures and claims of a paper. `_study.Paper` runs and judges them."""

    claims: Callable[[], Sequence[Claim]]
    """Reads them; raises ``ValueError`` for what is wrong in the file."""
    profiles: Callable[[], Sequence[Profile]] = tuple
    """Other set-ups in which each claim is also judged when the whole paper is reproduced."""
    readings: Callable[[], Sequence[Reading]] = tuple
    """Passages of the paper that have several readings, with the options."""
    joint: Callable[[], Joint | None] = lambda: None
    """The readings that a search chose together, a profile of the report; None where there was no search."""
    phases: Callable[[], Phases | None] = lambda: None
    """The rows with drawn delays and starts, as they were stored; None where they were not run."""
    substitutes: Callable[[], Substitutes | None] = lambda: None
    """Schemes to put in the place of the paper's; None where none can be."""
    substitution: Callable[[], Substitution | None] = lambda: None
    """What they gave when they were last run; None where they were not."""


VERDICTS = ("reproduced", "partly", "not reproduced", "not testable")
