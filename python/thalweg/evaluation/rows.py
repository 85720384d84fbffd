"""Rows of a battery: what is run, what is measured, the band, and the verdict over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..stats import Estimate, estimate, paired
from .subject import STANDARDS, Subject, Tree

if TYPE_CHECKING:
    from .networks import Lab

PASS, FAIL, UNDECIDED, NOT_APPLICABLE = "pass", "fail", "undecided", "not applicable"
VERDICTS = (PASS, FAIL, UNDECIDED, NOT_APPLICABLE)

RESOLUTION: dict[str, tuple[float, float, str]] = {
    "rate": (0.05, 0.0, "5 %"),
    "delay": (0.15, 2e-3, "15 % or 2 ms"),
    "loss": (0.20, 0.0, "20 %"),
}
"""Relative and absolute difference that decides nothing, and its words: docs/kernel.md allows it beside the kernel.

A smaller difference between two schemes is within the simulator's own error.
"""


@dataclass(frozen=True)
class Sample:
    """What is kept of one run: its summary, and its recorded series."""

    values: Mapping[str, float | None]
    series: Mapping[str, tuple[Any, Any]]
    """Times and values of each series, by `series@subject`."""

    def value(self, key: str) -> float:
        """A value of the summary; not-a-number if it was not measured. `KeyError` for an unknown key."""
        found = self.values[key]
        return math.nan if found is None else found

    def mean(self, series: str, subject: str, start_s: float, end_s: float) -> float:
        """Mean of a series in (start, end]; zero if the subject reported nothing in that time."""
        found = self.series.get(f"{series}@{subject}")
        if found is None:
            return 0.0
        times, values = found
        inside = values[(times > start_s) & (times <= end_s)]
        return float(inside.mean()) if len(inside) else 0.0


Samples = Mapping[str, Sample]
"""The runs of a row with one seed, by their names."""


@dataclass(frozen=True)
class Limit:
    """A band from the document."""

    text: str
    """The band, in words, with its source."""
    low: float = -math.inf
    high: float = math.inf

    def words(self, _references: Sequence[str]) -> str:
        """The band for readers."""
        return self.text


@dataclass(frozen=True)
class NotWorse:
    """A band from what reference schemes get in the same run: not worse than the worst of them."""

    better: str
    """`higher` or `lower`: which direction is better."""
    kind: str
    """Of `RESOLUTION`: the difference that decides nothing."""
    standards: bool = False
    """Only those references that are standards-track."""
    without: frozenset[str] = frozenset()
    """References that do not count."""

    def among(self, references: Sequence[str]) -> list[str]:
        """The references that count; all if none of them would."""
        found = [
            name
            for name in references
            if name not in self.without and (name in STANDARDS or not self.standards)
        ]
        return found or list(references)

    def words(self, references: Sequence[str]) -> str:
        """The band for readers."""
        side = "at least" if self.better == "higher" else "at most"
        which = "lowest" if self.better == "higher" else "highest"
        return f"{side} the {which} of {', '.join(self.among(references))}; {RESOLUTION[self.kind][2]} decides nothing"


@dataclass(frozen=True)
class Row:
    """One row of a battery."""

    id: str
    title: str
    source: str
    """Document and section."""
    what: str
    """The network and the measure, in a sentence."""
    unit: str = "1"
    traits: frozenset[str] = frozenset()
    """What a scheme must be for the row to apply."""
    cases: Callable[[Subject, Lab], Mapping[str, Tree]] | None = None
    """Scenarios of a scheme, by their names in `value`."""
    value: Callable[[Samples, Lab], float] | None = None
    """The measure with one seed; not-a-number if it could not be measured."""
    band: Limit | NotWorse | None = None
    never: str | None = None
    """Why it applies to no scheme."""

    def reason(self, subject: Subject) -> str | None:
        """Why it does not apply to a scheme; None if it does."""
        return self.never or subject.lacks(self.traits)


@dataclass(frozen=True)
class Battery:
    """Rows from one document, or for one kind of network."""

    id: str
    title: str
    about: str
    rows: tuple[Row, ...]
    references: tuple[str, ...] | None = None
    """Reference schemes; None: those of `--against`."""
    traits: frozenset[str] = frozenset()
    """What a scheme must be for the battery to apply."""


@dataclass(frozen=True)
class Outcome:
    """A decided row."""

    row: Row
    verdict: str
    reason: str = ""
    """Why it is not applicable, or not decided."""
    measured: Estimate | None = None
    references: dict[str, Estimate] = field(default_factory=dict)
    band: str = ""
    seeds: int = 0


def decide(row: Row, values: Sequence[float], references: Mapping[str, Sequence[float]]) -> Outcome:
    """The verdict: `pass` if the 95 % interval over seeds is in the band, `fail` if it is outside, otherwise `undecided`.

    Against references the interval is that of the difference from the worst reference, seed by seed.
    """
    assert row.band is not None
    known = {name: estimate(_known(found)) for name, found in references.items()}
    outcome = Outcome(
        row, UNDECIDED, "", estimate(_known(values)), known, row.band.words(list(references)), len(values)
    )
    if any(map(math.isnan, values)):
        return _with(outcome, UNDECIDED, "a run measured nothing")
    if isinstance(row.band, Limit):
        interval = estimate(values)
        low, high = row.band.low, row.band.high
    else:
        measured = {
            name: references[name]
            for name in row.band.among(list(references))
            if not known_nan(references[name])
        }
        if not measured:
            return _with(outcome, UNDECIDED, "no reference measured anything")
        sign = 1.0 if row.band.better == "higher" else -1.0
        worst = min(measured, key=lambda name: sign * known[name].mean)
        difference = paired(values, measured[worst])
        share, absolute, _ = RESOLUTION[row.band.kind]
        margin = max(share * abs(known[worst].mean), absolute)
        interval = Estimate(difference.n, sign * difference.mean, difference.sd, difference.ci95)
        low, high = -margin, math.inf
    if math.isnan(interval.ci95):
        return _with(outcome, UNDECIDED, "one seed gives no interval")
    if low <= interval.low and interval.high <= high:
        return _with(outcome, PASS, "")
    if interval.high < low or interval.low > high:
        return _with(outcome, FAIL, "")
    return _with(outcome, UNDECIDED, "the interval over seeds is on both sides of the limit")


def known_nan(values: Sequence[float]) -> bool:
    """Whether a value is missing."""
    return any(map(math.isnan, values))


def _known(values: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def _with(outcome: Outcome, verdict: str, reason: str) -> Outcome:
    from dataclasses import replace

    return replace(outcome, verdict=verdict, reason=reason)
