"""Rows of a battery: what is run, what is measured, the band, and the verdict over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..stats import Estimate, estimate, interval_text, paired
from .subject import STANDARDS, Subject

if TYPE_CHECKING:
    from .networks import Lab, Tree

PASS, FAIL, UNDECIDED, NOT_APPLICABLE = "pass", "fail", "undecided", "not applicable"
VERDICTS = (PASS, FAIL, UNDECIDED, NOT_APPLICABLE)

RESOLUTION: dict[str, tuple[float, float, str]] = {
    "rate": (0.05, 0.0, "5 %"),
    "delay": (0.15, 2e-3, "15 % or 2 ms"),
    "loss": (0.20, 0.0, "20 %"),
}
"""Relative and absolute difference that counts as equal, and its words: docs/kernel.md allows it beside the kernel.

A smaller difference between two schemes is within the simulator's own error.
"""

UNITS: dict[str, tuple[float, str, float]] = {
    "bit/s": (1e-6, "Mbit/s", math.inf),
    "s": (1e3, "ms", math.inf),
    "packets/RTT": (1.0, "packets/RTT", math.inf),
    "packets/packet": (1.0, "packets/packet", math.inf),
    "share": (100.0, "%", 1.0),
    "index": (1.0, "(index)", 1.0),
    "ratio": (1.0, "(ratio)", math.inf),
}
"""Units of rows: the factor and the unit in which values are printed, and the largest possible value. The smallest is 0.

A share is at most 100 %, an index at most 1 (Jain's), a ratio has no limit.
"""


class Unfinished(float):
    """A time that was not over when the run ended: the event takes at least this long."""

    def __new__(cls, value: float, event: str) -> Unfinished:
        """`event` is what did not happen, such as `not complete`."""
        made = super().__new__(cls, value)
        made.event = event
        return made

    event: str


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
    """Of `RESOLUTION`: the difference that counts as equal."""
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
        among = ", ".join(self.among(references))
        return (
            f"{side} the {which} of {among}; a difference of up to {RESOLUTION[self.kind][2]} counts as equal"
        )


@dataclass(frozen=True)
class Row:
    """One row of a battery."""

    id: str
    title: str
    source: str
    """Document and section."""
    what: str
    """The network and the measure, in a sentence."""
    unit: str = ""
    """Of `UNITS`; empty if it applies to no scheme."""
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
    """Reference schemes; None: the schemes of `--against`."""
    traits: frozenset[str] = frozenset()
    """What a scheme must be for the battery to apply."""


@dataclass(frozen=True)
class Comparison:
    """The difference of a scheme from a reference, seed by seed, in the unit of the row."""

    reference: str
    worst: bool
    """Whether this reference is the worst of those that count, by its mean."""
    difference: Estimate
    """The scheme minus the reference."""
    margin: float
    """The difference that counts as equal; not negative."""
    higher: bool
    """Whether higher values are better."""

    @property
    def limit(self) -> float:
        """The difference from which on the scheme is worse."""
        return -self.margin if self.higher else self.margin

    @property
    def gain(self) -> tuple[float, float]:
        """The ends of the interval of how much better the scheme is; not-a-number without an interval."""
        low, high = self.difference.low, self.difference.high
        return (low, high) if self.higher else (-high, -low)

    @property
    def verdict(self) -> str:
        """By this reference alone."""
        low, high = self.gain
        if math.isnan(low):
            return UNDECIDED
        return PASS if low >= -self.margin else FAIL if high < -self.margin else UNDECIDED

    @property
    def relation(self) -> str:
        """What the interval says: better, worse, equal (within the margin), not worse, or undecided."""
        low, high = self.gain
        if self.verdict == FAIL:
            return "worse than"
        if self.verdict == UNDECIDED:
            return "undecided"
        if low > 0:
            return "better than"
        return "equal to" if high <= self.margin else "not worse than"


@dataclass(frozen=True)
class Outcome:
    """A decided row."""

    row: Row
    verdict: str
    reason: str = ""
    """Why it is not applicable, or not decided."""
    measured: Estimate | None = None
    references: dict[str, Estimate] = field(default_factory=dict)
    counting: tuple[str, ...] = ()
    """References that count."""
    comparison: Comparison | None = None
    """What decides, if the band is one of references."""
    band: str = ""
    seeds: int = 0
    unfinished: Mapping[str, str] = field(default_factory=dict)
    """What did not happen before the end of some runs, such as `not complete within 50 s in 2 of 3 runs`: by the name of the
    reference, and of the scheme by the empty name."""

    @property
    def decision(self) -> str:
        """The number that decides, with its interval, its limit and its unit; empty if nothing was measured.

        `difference to cubic, the worst reference: +1.1 ± 1.6 Mbit/s; limit −0.24 Mbit/s: undecided`.
        """
        unit = self.row.unit
        if self.measured is None or self.measured.n == 0 or self.row.band is None:
            return ""
        if isinstance(self.row.band, Limit):
            limits = " to ".join(
                printed(end, unit) for end in (self.row.band.low, self.row.band.high) if math.isfinite(end)
            )
            which = (
                "limits" if " to " in limits else "minimum" if math.isinf(self.row.band.high) else "maximum"
            )
            return f"{printed_interval(self.measured, unit)}; {which} {limits}"
        if self.comparison is None:
            return ""
        found = self.comparison
        name = f"{found.reference}, the worst reference" if found.worst else found.reference
        words = found.relation
        if found.verdict != UNDECIDED:
            words += " the worst reference" if found.worst else f" {found.reference}"
        return (
            f"difference to {name}: {printed_interval(found.difference, unit, difference=True)}; "
            f"limit {printed(found.limit, unit, difference=True)}: {words}"
        )


def printed(value: float, unit: str, digits: int = 3, *, difference: bool = False) -> str:
    """A value with its unit, as it is printed; a difference has its sign; a difference of shares is in percentage points."""
    return printed_interval(
        Estimate(1, value, math.nan, math.nan, math.nan), unit, digits, difference=difference
    )


def printed_interval(found: Estimate, unit: str, digits: int = 3, *, difference: bool = False) -> str:
    """An estimate with its interval and unit, as it is printed."""
    from ..report.numbers import number

    factor, name, _ = UNITS[unit]
    if unit == "s" and abs(found.mean) >= 1:
        factor, name = 1.0, "s"
    elif unit == "share" and difference:
        name = "percentage points"
    ends = None if found.interval is None else (found.low * factor, found.high * factor)
    plus = "+" if difference and found.mean > 0 else ""
    return f"{plus}{interval_text(found.mean * factor, ends, number, digits)} {name}"


def decide(row: Row, values: Sequence[float], references: Mapping[str, Sequence[float]]) -> Outcome:
    """The verdict: `pass` if the 95 % interval over seeds is in the band, `fail` if it is outside, otherwise `undecided`.

    A band of references is *not worse than the worst of those that count*, which is the same as not worse than one of them.
    The interval covers the difference from a reference, seed by seed. The row passes if the difference from one of the
    references is within the limit, and fails if that from each of them is beyond it. The comparison that the outcome has is
    that with the worst reference, if it gives the verdict, otherwise the clearest one that does.
    """
    assert row.band is not None
    within = (0.0, UNITS[row.unit][2] if row.unit else math.inf)
    known = {name: estimate(_known(found), within=within) for name, found in references.items()}
    band = row.band.words(list(references))
    outcome = Outcome(
        row,
        UNDECIDED,
        measured=estimate(_known(values), within=within),
        references=known,
        band=band,
        seeds=len(values),
        unfinished={
            name: words for name, found in {"": values, **references}.items() if (words := _unfinished(found))
        },
    )
    if isinstance(row.band, NotWorse):
        outcome = replace(outcome, counting=tuple(row.band.among(list(references))))
    if any(map(math.isnan, values)):
        return replace(outcome, reason="a run measured nothing")
    if isinstance(row.band, Limit):
        interval = estimate(values, within=within)
        if interval.interval is None:
            return replace(outcome, reason="one seed gives no interval")
        if row.band.low <= interval.low and interval.high <= row.band.high:
            return replace(outcome, verdict=PASS)
        if interval.high < row.band.low or interval.low > row.band.high:
            return replace(outcome, verdict=FAIL)
        return replace(outcome, reason="the interval over seeds is on both sides of the limit")
    compared = _comparisons(row.band, values, {name: references[name] for name in outcome.counting})
    if not compared:
        return replace(outcome, reason="no reference measured anything")
    verdicts = [one.verdict for one in compared]
    verdict = PASS if PASS in verdicts else FAIL if set(verdicts) == {FAIL} else UNDECIDED
    decisive = max(
        (one for one in compared if one.verdict == verdict),
        key=lambda one: (one.worst, one.gain[0] + one.margin),
    )
    reason = ""
    if verdict == UNDECIDED:
        reason = "the interval of the difference over seeds is on both sides of the limit"
        if decisive.difference.interval is None:
            reason = "one seed gives no interval"
    return replace(outcome, verdict=verdict, reason=reason, comparison=decisive)


def _comparisons(
    band: NotWorse, values: Sequence[float], references: Mapping[str, Sequence[float]]
) -> list[Comparison]:
    """The scheme beside each reference that measured something with every seed."""
    measured = {name: found for name, found in references.items() if not known_nan(found)}
    if not measured:
        return []
    higher = band.better == "higher"
    means = {name: math.fsum(found) / len(found) for name, found in measured.items()}
    worst = min(means, key=lambda name: means[name] if higher else -means[name])
    share, absolute, _ = RESOLUTION[band.kind]
    return [
        Comparison(
            name, name == worst, paired(values, found), max(share * abs(means[name]), absolute), higher
        )
        for name, found in measured.items()
    ]


def _unfinished(values: Sequence[float]) -> str:
    """What did not happen in how many runs."""
    capped = [value for value in values if isinstance(value, Unfinished)]
    if not capped:
        return ""
    return f"{capped[0].event} within {min(capped):.3g} s in {len(capped)} of {len(values)} runs"


def known_nan(values: Sequence[float]) -> bool:
    """Whether a value is missing."""
    return any(map(math.isnan, values))


def _known(values: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]
