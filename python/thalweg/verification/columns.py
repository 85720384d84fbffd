"""Columns of a table as functions of the record, and how a recomputed value is compared with the printed one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import polars as pl

from .record import Record

Compute = Callable[[Record], pl.DataFrame]
"""Gives the values of a column: the number of the row, and `value`. Rows that are missing have the column's `absent`."""

Slack = Callable[[Record], pl.DataFrame]
"""Gives the difference up to which values count as equal: the number of the row, and `value`."""

FLOATS = 1e-9
"""Relative difference of two equal floats: sums in another order."""

HISTOGRAM = 0.004
"""Relative error of a percentile that the core reads from a histogram."""

HISTOGRAM_S = 1.1e-6
"""Error in seconds that it has besides."""


@dataclass(frozen=True)
class Column:
    """A column that is recomputed."""

    name: str
    compute: Compute
    kind: str
    """`count`, `float`, `percentile` or `text`."""
    absent: float | None = None
    """Value of rows for which `compute` has none."""
    slack: Slack | None = None
    """Difference that counts as equal besides rounding; none by default. Of a row with an infinite one nothing is known."""
    unknown: str = ""
    """Why nothing is known of such rows."""

    @property
    def formula(self) -> str:
        """The first line of the docstring of its function."""
        return (self.compute.__doc__ or "").strip().partition("\n")[0]


@dataclass
class Table:
    """The columns of a table."""

    name: str
    keys: tuple[str, ...]
    """Columns that name a row."""
    columns: dict[str, Column] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)
    """Columns that are not recomputed, and why."""

    def count(self, *names: str) -> Callable[[Compute], Compute]:
        """Registers a count: an integer, compared exactly. Zero and empty are equal: not every endpoint counts it."""
        return self._register(names, "count", 0)

    def number(self, *names: str) -> Callable[[Compute], Compute]:
        """Registers a float, compared with the rounding of sums."""
        return self._register(names, "float", None)

    def exact_to(self, name: str, slack: Slack, unknown: str = "") -> None:
        """Lets a registered column differ by what a function gives. `unknown` says why it can be infinite."""
        self.columns[name] = replace(self.columns[name], slack=slack, unknown=unknown)

    def slack(self, name: str, record: Record) -> pl.DataFrame:
        """The difference that counts as equal for a column that has one."""
        how = self.columns[name].slack
        if how is None:
            raise KeyError(f"{name} is exact")
        return how(record)

    def percentile(self, *names: str) -> Callable[[Compute], Compute]:
        """Registers a percentile, which the core reads from a histogram."""
        return self._register(names, "percentile", None)

    def text(self, *names: str) -> Callable[[Compute], Compute]:
        """Registers a text."""
        return self._register(names, "text", None)

    def _register(
        self, names: tuple[str, ...], kind: str, absent: float | None
    ) -> Callable[[Compute], Compute]:
        def register(compute: Compute) -> Compute:
            for name in names or (compute.__name__,):
                self.columns[name] = Column(name, compute, kind, absent)
            return compute

        return register


def equal(kind: str, printed: object, again: object, slack: float = 0.0) -> bool:
    """Whether a printed value and a recomputed one are equal, to the accuracy of the kind of column and to `slack`."""
    if kind == "text":
        return (printed or None) == (again or None)
    if printed is None or again is None:
        return (printed or 0) == (again or 0) if kind == "count" else printed is again
    if not isinstance(printed, int | float) or not isinstance(again, int | float):
        return False
    if abs(printed - again) <= slack * (1 + FLOATS):
        return True
    if kind == "count":
        return printed == again
    if kind == "percentile":
        return abs(printed - again) <= HISTOGRAM * abs(again) + HISTOGRAM_S
    return math.isclose(printed, again, rel_tol=FLOATS, abs_tol=1e-12)


def nearest_rank(column: str, share: float) -> pl.Expr:
    """The nearest-rank percentile: the smallest value that a share of all values do not exceed (RFC 2330 §11.3)."""
    rank = (pl.len() * share - 1e-9).ceil().cast(pl.Int64).clip(lower_bound=1)
    return pl.col(column).sort().gather(rank - 1).first()
