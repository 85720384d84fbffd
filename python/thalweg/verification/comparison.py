"""Printed tables beside recomputed ones, number by number."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from . import balance, curves, series
from .columns import equal
from .groups import key_of
from .record import Record
from .summary import summary
from .tables import TABLES, recompute, slack_of

if TYPE_CHECKING:
    from ..result import Result

OUTSIDE = {
    "run.events_handled": "what the simulator had to plan, such as timers that nothing came of, which is not in the record",
}
"""Keys of the summary that are not recomputed, and why."""


@dataclass(frozen=True)
class Difference:
    """A number of the run that its packets do not give."""

    table: str
    row: str
    column: str
    printed: object
    recomputed: object


@dataclass
class Verification:
    """The comparison of a run with its packets."""

    events: int
    """Packet events that the numbers were recomputed from."""
    numbers: int = 0
    """Numbers that were compared."""
    columns: set[tuple[str, str]] = field(default_factory=set)
    """Table and column of each comparison; of the summary the last word of the key."""
    differences: list[Difference] = field(default_factory=list)
    violated: list[str] = field(default_factory=list)
    """Invariants that the packets or the tables break."""
    without: dict[tuple[str, str], str] = field(default_factory=dict)
    """Columns of the run that are not recomputed, and why."""

    @property
    def passed(self) -> bool:
        """All numbers are equal, and no invariant is violated."""
        return not self.differences and not self.violated

    def compare(
        self,
        table: str,
        row: str,
        column: str,
        kind: str,
        printed: object,
        again: object,
        slack: float = 0.0,
        unknown: str = "",
    ) -> None:
        """Compares a number. One with an infinite slack is not recomputed, for the reason `unknown`."""
        if math.isinf(slack):
            self.without[table, column] = unknown
            return
        self.columns.add((table, column))
        self.numbers += 1
        if not equal(kind, printed, again, slack):
            self.differences.append(Difference(table, row, column, printed, again))


def verify_record(result: Result, record: Record) -> Verification:
    """Compares every number of a run with what its packet record gives."""
    found = Verification(record.events)
    tables = recompute(record)
    for table in TABLES:
        _compare_table(found, table.name, result.frame(table.name), tables[table.name])
        for name in result.frame(table.name).columns:
            if name not in tables[table.name].columns:
                found.without[table.name, name] = table.without.get(name, "no second way is known")
    rates = series.Rates.of(record, result.series)
    _compare_summary(found, result, record, tables, rates)
    _compare_series(found, result, record, rates)
    found.violated += balance.check(record, result)
    return found


def _compare_table(found: Verification, name: str, printed: pl.DataFrame, again: pl.DataFrame) -> None:
    table = next(table for table in TABLES if table.name == name)
    keys = list(table.keys)
    by_key = defaultdict(list)
    for row in again.rows(named=True):
        by_key[tuple(row[key] for key in keys)].append(row)
    for row in printed.rows(named=True):
        key = tuple(row[key] for key in keys)
        text = " ".join(str(part) for part in key)
        if not by_key[key]:
            found.compare(name, text, "(row)", "text", "present", "absent")
            continue
        other = by_key[key].pop(0)
        for column in table.columns.values():
            if column.name in printed.columns:
                slack = other.get(slack_of(column.name)) or 0.0
                found.compare(
                    name,
                    text,
                    column.name,
                    column.kind,
                    row[column.name],
                    other[column.name],
                    slack,
                    column.unknown,
                )
    for key, rows in by_key.items():
        for _ in rows:
            text = " ".join(str(part) for part in key)
            found.compare(name, text, "(row)", "text", "absent", "present")


def _compare_summary(
    found: Verification,
    result: Result,
    record: Record,
    tables: dict[str, pl.DataFrame],
    rates: series.Rates | None,
) -> None:
    again = summary(record, tables, rates)
    for key, printed in result.values.items():
        subject, _, word = key.rpartition(".")
        if key in again:
            kind, value, *slack = again[key]
            apart = slack[0] if slack else 0.0
            found.compare("summary", subject, word, kind, printed, value, apart, _reason(key, word))
        elif key in OUTSIDE:
            found.without["summary", key] = OUTSIDE[key]
        else:
            found.without["summary", word] = _reason(key, word)


def _reason(key: str, word: str) -> str:
    """Why a key is not recomputed: the reason of its column."""
    tables = {"flow": "flows", "flows": "flows", "receiver": "receivers", "link": "links", "node": "nodes"}
    name = tables.get(key.partition(".")[0])
    for table in TABLES:
        if table.name == name and word in table.without:
            return table.without[word]
        for column in table.columns.values() if table.name == name else ():
            if column.unknown and key_of(column.name) == word:
                return column.unknown
    return "no second way is known"


def _compare_series(found: Verification, result: Result, record: Record, rates: series.Rates | None) -> None:
    again = series.ranges(record)
    shares = series.fairness_series(record, rates)
    for row in result.series.rows(named=True):
        name, subject, at_ns = row["series"], row["subject"], round(row["time_s"] * 1e9)
        place = f"{subject} at {row['time_s']} s"
        if name == "fairness":
            found.compare("series", place, name, "float", row["value"], shares.pop((subject, at_ns), None))
            continue
        if name not in series.RECOMPUTED:
            found.without["series", name] = "a state over time, which packets show in part only"
            continue
        none: curves.Range | None = None if name in curves.EMPTY else (0.0, 0.0, False)
        expected = again.pop((subject, name, at_ns), none)
        if expected is not None and math.isinf(expected[1]):
            found.without["series", name] = curves.UNBOUNDED
            continue
        found.compare("series", place, name, "float", row["value"], _nearest(row["value"], expected))
    recorded = series.names_of(record)
    for (subject, name, at_ns), (low, _, can_be_empty) in again.items():
        # a run need not have a sample that can be empty or, of a sum or an average, zero
        needed = not can_be_empty if name in curves.EMPTY else low > 0
        if needed and name in recorded and at_ns <= record.end_ns:
            found.compare("series", f"{subject} at {at_ns / 1e9} s", name, "float", None, low)
    if "fairness" in recorded:
        for (subject, at_ns), value in shares.items():
            found.compare("series", f"{subject} at {at_ns / 1e9} s", "fairness", "float", None, value)


def _nearest(printed: float | None, expected: curves.Range | None) -> float | None:
    """The value that a sample can have that is nearest to the printed one."""
    if expected is None:
        return None
    low, high, can_be_empty = expected
    if printed is None:
        return None if can_be_empty else low
    inside = low * (1 - 1e-9) <= printed <= high * (1 + 1e-9)
    return printed if inside else low
