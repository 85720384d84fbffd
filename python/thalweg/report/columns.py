"""Columns of a run's tables for terminal and pages: selection, headings, units, as the catalogue declares them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..catalogue import columns
from ..stats import interval_text
from .numbers import number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars

    from ..result import Result


class Column(NamedTuple):
    """How a column of a table is printed."""

    key: str
    """Column of the table; of the table of groups, the last word of the key."""
    heading: str
    """Heading, with the unit."""
    factor: float
    """Factor from the unit of the column to the unit of the heading."""
    rank: int | None
    """Importance from 1 where not all columns fit; columns without a rank are the first to go."""
    unless_zero: bool
    """Omitted if all rows are zero."""
    in_full: bool
    """In a terminal printed with `--full` only; pages have all columns."""


def word_of(column: str) -> str:
    """A column's name as the last word of a key of the summary, without the suffix of its unit."""
    return re.sub(r"_(bps|s)$", "", column)


def _printed(table: str) -> tuple[Column, ...]:
    """The printed columns of a table, in order; for `summary`, the columns of the table of groups."""
    rows = [(row, row["name"], row["shown"]) for row in columns() if row["table"] == table]
    if table == "summary":
        rows = [*((row, word_of(row["name"]), row["groups"]) for row in columns()), *rows]
    shown = sorted((row for row in rows if row[2]), key=lambda row: row[2]["place"])
    return tuple(
        Column(
            name,
            f"{how['heading']} ({row['display']})" if row["display"] else how["heading"],
            row["factor"],
            how["rank"],
            how["unless_zero"],
            how["in_full"],
        )
        for row, name, how in shown
    )


TABLES = {
    table: _printed(table)
    for table in dict.fromkeys(row["table"] for row in columns() if row["shown"] is not None)
}
"""The columns that are printed, by the table in which `thalweg metrics` lists their meaning; `summary` is of groups."""


def first_of(table: str) -> list[str]:
    """The columns that are kept if not all of the table fit, in order of importance."""
    ranked = [(column.rank, column.key) for column in TABLES[table] if column.rank is not None]
    return [key for _, key in sorted(ranked)]


def by_importance(table: str) -> list[str]:
    """All printed columns of a table by importance: by rank, then those that a terminal prints, then the rest."""
    unranked = sorted(
        (column for column in TABLES[table] if column.rank is None), key=lambda column: column.in_full
    )
    return [*first_of(table), *(column.key for column in unranked)]


OF_WORST_RECEIVER = {
    "worst_receiver": "",
    "throughput_worst_bps": "throughput_bps",
    "loss_ratio_worst": "loss_ratio",
    "queueing_delay_worst_s": "queueing_delay_s",
}
"""Columns that say something of flows with several receivers only, each with the mean over the receivers."""

SPREAD_OF_TRANSFERS = {"fct_p50", "fct_p95", "fct_p99"}
"""Columns that say something of several transfers only."""

DIGITS = 4
"""Significant digits of numbers, at most."""

HISTOGRAM = re.compile(r"(delay|queue|queueing|waited)_p\d+(_|$)")
"""Percentiles that a histogram gives: they are exact to 0.4 % of their value."""

GRAIN = 0.004
"""Relative error of these percentiles."""

KNOWN_DIGITS = 3
"""Significant digits of these percentiles that are printed."""

SMALLEST = {"queue_packets": 1e-3, "queue_s": 1e-6}
"""The unit of the last digit that is printed: a thousandth of a packet, a microsecond."""

UNLESS_ZERO = {column.key for shown in TABLES.values() for column in shown if column.unless_zero}
"""Columns that are omitted if they are zero in all rows, of any table."""


UNITS = {
    word_of(row["name"]): (row["display"], row["factor"])
    for row in columns()
    if row["display"] and row["unit"] != "bytes"
}
"""Unit and factor for output of a key of the summary, by its last word; sizes are printed in bytes."""


def words_of(heading: str) -> str:
    """The words of a heading without unit, in lower case, by which `thalweg metrics` finds the column."""
    return re.sub(r"\s*\([^()]*\)$", "", heading.replace(" of Data", "")).strip().lower()


def columns_called(words: str, *, exactly: bool = False) -> list[tuple[str, str]]:
    """Table and name of the columns with this heading; unless `exactly`, otherwise of those that begin with it or have it.

    Headings are found with or without their unit, in any case.
    """
    wanted = words_of(words)
    tests: tuple[Callable[[str], bool], ...] = (
        lambda heading: words_of(heading) == wanted,
        lambda heading: words_of(heading).startswith((f"{wanted} ", f"{wanted},")),
        lambda heading: wanted in re.split(r"[ ,()]+", heading.lower()),
    )
    for test in tests[:1] if exactly else tests:
        found = [
            (table, column.key) for table, shown in TABLES.items() for column in shown if test(column.heading)
        ]
        if found:
            return found
    return []


BARE_NUMBER = re.compile(r"(?<!\w)(?<!\d\.)\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\s*[A-Za-z%µ]|\.?\d)")
"""A number without a unit."""


def unit_of(key: str) -> tuple[str, float]:
    """Unit and factor for output of a key of the summary."""
    return UNITS.get(key.rsplit(".", 1)[-1], ("", 1.0))


def expected_text(key: str, expected: str) -> str:
    """What a scenario expects of a key, with shares in percent, as its value is shown: `>= 0.9` is `>= 90 %`."""
    unit, factor = unit_of(key)
    if unit != "%":
        return expected
    return BARE_NUMBER.sub(lambda found: f"{number(float(found[0]) * factor, 6)} %", expected)


ALIKE = 0.01
"""Share by which throughputs of receivers differ that are called alike: a packet may be under way to one of them."""

ALIKE_LOSS = 0.1
"""Share by which loss ratios of receivers differ that are called alike."""


def flows_shown(run: Result, limit: int | None = None) -> polars.DataFrame:
    """The first flows of a run as tables print them: a flow with one receiver has no worst one.

    Where several receivers are as slow as the slowest one, it is `far and 2 more`, and `all alike` if all are.
    """
    import polars as pl

    flows = run.flows.slice(0, limit)
    several = set(flows.filter(pl.col("receivers") > 1)["flow"])
    slowest = {flow: slowest_receivers(run, flow) for flow in several}

    def words(flow: str) -> str | None:
        alike, count = slowest.get(flow, ([], 0))
        more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
        return None if not alike else "all alike" if len(alike) == count else f"{alike[0]['node']}{more}"

    return flows.with_columns(
        pl.when(pl.col("receivers") > 1).then(pl.col(column))
        for column in OF_WORST_RECEIVER
        if column in flows
    ).with_columns(worst_receiver=pl.Series([words(flow) for flow in flows["flow"]], dtype=pl.String))


def slowest_receivers(run: Result, flow: str) -> tuple[list[dict[str, Any]], int]:
    """The receivers of a flow that are as slow as the slowest one, except for a share of `ALIKE`, and the number of all.

    Where some of them lost packets, the others are not as slow: it is those that lost as much as the one that lost most,
    except for a share of `ALIKE_LOSS`.
    """
    import polars as pl

    rows = run.receivers.filter((pl.col("flow") == flow) & pl.col("throughput_bps").is_not_null())
    listed = rows.sort("throughput_bps", "goodput_bps", maintain_order=True).to_dicts()
    alike = [row for row in listed if row["throughput_bps"] * (1 - ALIKE) <= listed[0]["throughput_bps"]]
    lost = max((row["loss_ratio"] or 0.0 for row in alike), default=0.0)
    alike = [row for row in alike if (row["loss_ratio"] or 0.0) >= lost * (1 - ALIKE_LOSS)]
    return alike, len(listed)


def columns_shown(frame: polars.DataFrame, table: str, *, full: bool = True) -> list[Column]:
    """The printed columns of a table that have information in `frame`; unless `full`, without columns for `--full`."""
    return [
        column
        for column in TABLES.get(table, ())
        if column.key in frame.columns and (full or not column.in_full) and _has_information(frame, column)
    ]


def order_by_use(frame: polars.DataFrame, table: str) -> list[str]:
    """All columns of a table: those that are printed first, then those for `--full`, and those without values last."""
    printed = sorted(columns_shown(frame, table), key=lambda column: column.in_full)
    names = list(dict.fromkeys([*(column.key for column in printed), *frame.columns]))
    return sorted(names, key=lambda name: frame.height > 0 and not _has_values(frame[name]))


def _has_values(column: polars.Series) -> bool:
    is_text = str(column.dtype) == "String"
    return column.null_count() < column.len() and (not is_text or bool((column != "").any()))


def table_rows(
    frame: polars.DataFrame, table: str, *, full: bool = True
) -> tuple[list[tuple[str, str]], list[dict[str, Any]]]:
    """Headings, and rows in the units of the headings; columns without information are omitted.

    Unless `full`, columns for `--full` are omitted as well.
    """
    there = columns_shown(frame, table, full=full)
    rows = [
        {one.key: _scaled(_rounded(one.key, row[one.key]), one.factor) for one in there}
        for row in frame.select([one.key for one in there]).to_dicts()
    ]
    return [(one.key, _heading(frame, one.key, one.heading)) for one in there], rows


SAME_AS = {"active_throughput_bps": "throughput_bps", "active_goodput_bps": "goodput_bps"}
"""Columns that are omitted if they differ from another in no row by more than a thousandth."""


def _heading(frame: polars.DataFrame, key: str, heading: str) -> str:
    """A column's heading; if all flows are consumers of named data, what they receive is called Data."""
    received = key in {"throughput_bps", "goodput_bps"} and "interests_bps" in frame.columns
    if received and not frame.is_empty() and frame["interests_bps"].null_count() == 0:
        return heading.replace(" (", " of Data (")
    return heading


def column_heading(column: str) -> str:
    """The heading of a column of a paper's table: `rate_kbps` as `rate (kbit/s)`."""
    for ending, unit in {
        "_kbps": "kbit/s",
        "_mbps": "Mbit/s",
        "_bps": "bit/s",
        "_ms": "ms",
        "_s": "s",
        "_percent": "%",
    }.items():
        if column.endswith(ending) and not column.endswith(f"_per{ending}"):
            return f"{column.removesuffix(ending).replace('_', ' ')} ({unit})"
    return column.replace("_", " ")


def with_intervals(
    rows: Sequence[dict[str, Any]], number: Callable[[float | None], str]
) -> list[dict[str, Any]]:
    """Rows in which `x`, `x_low` and `x_high` are joined to the text `x ± half`, or `x [low, high]`."""
    shown = []
    for row in rows:
        joined = {name for name in row if f"{name}_low" in row and f"{name}_high" in row}
        ends = {f"{name}{end}" for name in joined for end in ("_low", "_high")}
        shown.append(
            {
                name: _with_interval(name, value, row[f"{name}_low"], row[f"{name}_high"], number)
                if name in joined
                else known(name, value)
                for name, value in row.items()
                if name not in ends
            }
        )
    return shown


def _with_interval(name: str, mean: Any, low: Any, high: Any, number: Callable[[float | None], str]) -> str:
    # none for a single seed, or too narrow to be visible
    if mean is None or low is None or high is None or high - low <= 10.0 ** -(DIGITS + 1) * abs(mean):
        return number(known(name, mean))
    if below_grain(name, mean, low, high):
        return number(known(name, mean))
    return interval_text(mean, (low, high), lambda value, _: number(value), known_digits(name))


def _has_information(frame: polars.DataFrame, shown: Column) -> bool:
    name = shown.key
    column = frame[name]
    if column.null_count() == column.len():
        return False
    if name == "drops_queue_full" and "drops" in frame.columns:
        # that queues were full is what the drops of a link say
        return bool((column != 0).any() and (frame[name] != frame["drops"]).any())
    if shown.unless_zero:
        return bool((column != 0).any())
    if name in SAME_AS:
        other = frame[SAME_AS[name]]
        return bool(((frame[name] - other).abs() > 1e-3 * other.abs()).any())
    if name in OF_WORST_RECEIVER:
        return any(
            (frame[worst] != frame[mean]).fill_null(value=False).any()
            for worst, mean in OF_WORST_RECEIVER.items()
            if mean in frame.columns and worst in frame.columns
        )
    if name == "direction":
        return bool((column != "forward").any())
    if name in SPREAD_OF_TRANSFERS and "completions" in frame.columns:
        # the percentiles of one transfer are its completion time
        return bool((frame["completions"].fill_null(0) > 1).any())
    return name not in {"scheme", "prefix"} or bool((column != "").any())


def known_digits(key: str, digits: int = DIGITS) -> int:
    """How many significant digits of a column or a key of the summary are printed: no more than are known."""
    return min(digits, KNOWN_DIGITS) if HISTOGRAM.search(key) else digits


def known(key: str, value: Any) -> Any:
    """A value of a column or a key of the summary without the digits that are not known."""
    if isinstance(value, float) and math.isfinite(value) and HISTOGRAM.search(key):
        return float(f"{value:.{KNOWN_DIGITS}g}")
    return value


def below_grain(key: str, mean: float, low: float, high: float) -> bool:
    """Whether the interval of a mean is narrower than the error of the percentiles that it is of: it says nothing."""
    return HISTOGRAM.search(key) is not None and high - low <= 2 * GRAIN * abs(mean)


def _rounded(name: str, value: Any) -> Any:
    value = known(name, value)
    smallest = SMALLEST.get(name)
    return value if smallest is None or value is None else round(value / smallest) * smallest


def _scaled(value: Any, factor: float) -> Any:
    return value if value is None or factor == 1.0 else value * factor


NOT_LISTENING = "not_listening"
"""The reason of packets that the network delivered: they arrived at an endpoint that had stopped or had not started."""


def drops_by_reason(run: Result) -> dict[str, int]:
    """The number of packets that links and nodes dropped in the measured time, by reason; their sum is the total.

    Reasons of drops at a link are counted over all links, so that packets of no flow are among them; those of drops at a
    node, for which only flows have columns, over all flows. `not_listening` is no drop of the network.
    """
    found: dict[str, int] = {}
    for frame in (run.links, run.flows):
        for name in frame.columns:
            reason = name.removeprefix("drops_")
            if reason != name and reason != NOT_LISTENING and reason not in found and frame.height:
                found[reason] = int(frame[name].sum() or 0)
    return found


def drops_text(run: Result) -> str:
    """The drops by reason, such as "2115 queue full, 3 random loss"; empty if there were none.

    Packets that arrived where no endpoint listened, which are in no count of drops, come after a semicolon.
    """
    shown = ", ".join(
        f"{_count(count)} {reason.replace('_', ' ')}"
        for reason, count in drops_by_reason(run).items()
        if count
    )
    flows, column = run.flows, f"drops_{NOT_LISTENING}"
    unheard = int(flows[column].sum() or 0) if column in flows.columns else 0
    besides = f"not counted: {_count(unheard)} not listening" if unheard else ""
    return "; ".join(filter(None, (shown, besides)))


def _count(value: int) -> str:
    return f"{value:,}".replace(",", "\u202f")
