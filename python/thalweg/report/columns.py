"""Columns of a run's tables for terminal and pages: selection, headings, units."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from ..stats import interval_text
from .numbers import number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars

    from ..result import Result

Column = tuple[str, str, float]
"""Column of the table, heading, factor."""

FLOWS: tuple[Column, ...] = (
    ("flow", "flow", 1.0),
    ("scheme", "scheme", 1.0),
    ("from", "from", 1.0),
    ("prefix", "prefix", 1.0),
    ("worst_receiver", "worst receiver", 1.0),
    ("throughput_worst_bps", "throughput, worst (Mbit/s)", 1e-6),
    ("loss_ratio_worst", "loss, worst (%)", 100.0),
    ("queueing_delay_worst_s", "queueing, worst (ms)", 1e3),
    ("throughput_bps", "throughput (Mbit/s)", 1e-6),
    ("goodput_bps", "goodput (Mbit/s)", 1e-6),
    ("active_throughput_bps", "throughput while active (Mbit/s)", 1e-6),
    ("active_goodput_bps", "goodput while active (Mbit/s)", 1e-6),
    ("interests_bps", "Interests sent (Mbit/s)", 1e-6),
    ("loss_ratio", "loss (%)", 100.0),
    ("ack_loss_ratio", "ACK loss (%)", 100.0),
    ("drops_no_route", "drops, no route", 1.0),
    ("drops_hop_limit", "drops, hop limit", 1.0),
    ("drops_not_listening", "not listening", 1.0),
    ("rtt_s", "RTT (ms)", 1e3),
    ("delay_s", "delay (ms)", 1e3),
    ("delay_std_s", "delay deviation (ms)", 1e3),
    ("rtp_queue_s", "RTP queue (ms)", 1e3),
    ("owd_s", "one-way delay (ms)", 1e3),
    ("base_delay_s", "base delay (ms)", 1e3),
    ("queueing_delay_s", "queueing (ms)", 1e3),
    ("queueing_delay_p50_s", "queueing p50 (ms)", 1e3),
    ("queueing_delay_p95_s", "queueing p95 (ms)", 1e3),
    ("queueing_delay_p99_s", "queueing p99 (ms)", 1e3),
    ("retransmits", "retransmitted", 1.0),
    ("timeouts", "timeouts", 1.0),
    ("nacks", "NACKs", 1.0),
    ("feedback_packets", "feedback", 1.0),
    ("feedback_received", "feedback received", 1.0),
    ("signals", "signals", 1.0),
    ("startup_s", "plays after (s)", 1.0),
    ("stalls", "stalls", 1.0),
    ("stalled_s", "stalled (s)", 1.0),
    ("frames_played", "frames played", 1.0),
    ("frames_late", "late", 1.0),
    ("frames_lost", "lost", 1.0),
    ("frames_undecodable", "undecodable", 1.0),
    ("frames_dropped", "dropped by the sender", 1.0),
    ("fct_s", "completed in (s)", 1.0),
)
GROUPS: tuple[Column, ...] = (
    ("group", "group", 1.0),
    ("count", "flows", 1.0),
    ("throughput", "throughput (Mbit/s)", 1e-6),
    ("goodput", "goodput (Mbit/s)", 1e-6),
    ("throughput_mean", "throughput per flow (Mbit/s)", 1e-6),
    ("loss_ratio", "loss (%)", 100.0),
    ("fairness", "fairness (Jain)", 1.0),
    ("fairness_mean", "fairness over 1 s, mean", 1.0),
    ("fairness_min", "fairness over 1 s, minimum", 1.0),
    ("recovery", "recovery after an event (s)", 1.0),
    ("transfers", "transfers", 1.0),
    ("completions", "completed", 1.0),
    ("unfinished", "unfinished", 1.0),
    ("fct", "FCT mean (s)", 1.0),
    ("fct_p50", "FCT p50 (s)", 1.0),
    ("fct_p95", "FCT p95 (s)", 1.0),
    ("fct_p99", "FCT p99 (s)", 1.0),
    ("queueing_delay", "queueing (ms)", 1e3),
    ("queueing_delay_p50", "queueing p50 (ms)", 1e3),
    ("queueing_delay_p95", "queueing p95 (ms)", 1e3),
    ("queueing_delay_p99", "queueing p99 (ms)", 1e3),
)
RECEIVERS: tuple[Column, ...] = (
    ("flow", "flow", 1.0),
    ("node", "node", 1.0),
    ("throughput_bps", "throughput (Mbit/s)", 1e-6),
    ("goodput_bps", "goodput (Mbit/s)", 1e-6),
    ("loss_ratio", "loss (%)", 100.0),
    ("owd_s", "one-way delay (ms)", 1e3),
    ("owd_max_s", "one-way delay, maximum (ms)", 1e3),
    ("queueing_delay_s", "queueing (ms)", 1e3),
    ("queueing_delay_p95_s", "queueing p95 (ms)", 1e3),
    ("missing", "missing", 1.0),
    ("reordered", "reordered", 1.0),
    ("late", "late", 1.0),
    ("feedback_packets", "feedback", 1.0),
    ("suppressed", "suppressed", 1.0),
    ("signals", "signals", 1.0),
    ("startup_s", "plays after (s)", 1.0),
    ("stalls", "stalls", 1.0),
    ("stalled_s", "stalled (s)", 1.0),
    ("frames_played", "frames played", 1.0),
    ("frames_late", "late", 1.0),
    ("frames_lost", "lost", 1.0),
    ("frames_undecodable", "undecodable", 1.0),
)
LINKS: tuple[Column, ...] = (
    ("link", "link", 1.0),
    ("direction", "direction", 1.0),
    ("rate_bps", "rate (Mbit/s)", 1e-6),
    ("delay_s", "delay (ms)", 1e3),
    ("utilisation", "utilisation (%)", 100.0),
    ("queue_packets", "queue (packets)", 1.0),
    ("queue_max_packets", "maximum (packets)", 1.0),
    ("queue_s", "wait (ms)", 1e3),
    ("queue_p50_s", "wait p50 (ms)", 1e3),
    ("queue_p95_s", "wait p95 (ms)", 1e3),
    ("queue_p99_s", "wait p99 (ms)", 1e3),
    ("loss_ratio", "loss (%)", 100.0),
    ("drops", "drops", 1.0),
    ("drops_queue_full", "drops, queue full", 1.0),
    ("drops_early", "drops, early", 1.0),
    ("drops_random_loss", "drops, random loss", 1.0),
    ("drops_link_down", "drops, link down", 1.0),
    ("drops_policed", "drops, policed", 1.0),
    ("drops_corrupted", "drops, corrupted", 1.0),
    ("marked_packets", "marked", 1.0),
)
APPS: tuple[Column, ...] = (
    ("app", "application", 1.0),
    ("kind", "kind", 1.0),
    ("connections", "connections", 1.0),
    ("exchanges", "completed", 1.0),
    ("duration_s", "time, mean (s)", 1.0),
    ("duration_p50_s", "p50 (s)", 1.0),
    ("duration_p95_s", "p95 (s)", 1.0),
    ("duration_p99_s", "p99 (s)", 1.0),
    ("startup_s", "plays after (s)", 1.0),
    ("stalls", "stalls", 1.0),
    ("stalled_s", "stalled (s)", 1.0),
    ("switches", "switches", 1.0),
    ("bitrate_bps", "bit rate (Mbit/s)", 1e-6),
    ("qoe_bps", "QoE, linear (Mbit/s)", 1e-6),
)
NODES: tuple[Column, ...] = (
    ("node", "node", 1.0),
    ("role", "role", 1.0),
    ("groups", "groups", 1.0),
    ("forwarded_packets", "forwarded", 1.0),
    ("statuses", "statuses", 1.0),
    ("commands", "commands", 1.0),
    ("reroutes", "reroutes", 1.0),
    ("feedback_received", "feedback received", 1.0),
    ("feedback_packets", "feedback sent", 1.0),
    ("signals", "signals", 1.0),
    ("sent_packets", "sent (packets)", 1.0),
    ("sent_bytes", "sent (kB)", 1e-3),
    ("ignored", "ignored", 1.0),
    ("interests_in", "Interests in", 1.0),
    ("interests_out", "Interests out", 1.0),
    ("data_in", "Data in", 1.0),
    ("data_out", "Data out", 1.0),
    ("hit_ratio", "hits (%)", 100.0),
    ("aggregated", "aggregated", 1.0),
    ("pending_peak", "pending, maximum", 1.0),
    ("nacks_out", "NACKs sent", 1.0),
    ("no_route", "NACKed, no route", 1.0),
    ("policed", "policed", 1.0),
    ("expired", "expired", 1.0),
    ("unsolicited", "unsolicited Data", 1.0),
)
FIRST = (
    *("flow", "link", "node", "direction"),
    *("utilisation", "rate_bps", "throughput_bps", "fct_s", "scheme", "goodput_bps", "loss_ratio"),
    *("queueing_delay_s", "worst_receiver", "rtt_s", "queue_packets", "drops", "queue_s"),
    *("retransmits", "timeouts", "throughput_worst_bps", "loss_ratio_worst", "owd_s", "delay_s"),
    *("interests_bps", "queueing_delay_p95_s"),
    *("role", "hit_ratio", "groups", "interests_in", "data_out", "feedback_received"),
    *("app", "exchanges", "duration_s", "duration_p95_s", "stalls", "bitrate_bps", "kind"),
)
"""Columns that are kept if not all fit, in order of importance; then the others in their order."""

FIRST_OF_GROUPS = (
    *("group", "count", "throughput", "completions", "unfinished", "fct", "fct_p95", "queueing_delay"),
    *("fairness", "loss_ratio", "goodput", "queueing_delay_p95", "fct_p50", "transfers", "fct_p99"),
)
"""The same columns of groups."""

ONLY_IN_FULL = {
    "from",
    *("active_throughput_bps", "active_goodput_bps", "throughput_mean", "base_delay_s", "delay_std_s"),
    *("queueing_delay_p50_s", "queueing_delay_p99_s", "queueing_delay_p50", "queueing_delay_p99"),
    *("drops_queue_full", "drops_early", "drops_random_loss", "drops_link_down", "drops_policed"),
    *("drops_corrupted", "drops_not_listening"),
    *("queue_p50_s", "queue_p99_s", "fairness_mean", "fairness_min", "transfers", "fct_p99"),
}
"""Columns that the terminal prints with `--full` only; the pages have all."""

OF_WORST_RECEIVER = {
    *("worst_receiver", "throughput_worst_bps", "loss_ratio_worst", "queueing_delay_worst_s")
}
"""Columns that say something of flows with several receivers only."""

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

OMIT_IF_ZERO = {
    "retransmits",
    "timeouts",
    "feedback_packets",
    "feedback_received",
    "suppressed",
    "missing",
    "reordered",
    "late",
    "signals",
    "marked_packets",
    "ignored",
    "nacks",
    "groups",
    "forwarded_packets",
    "statuses",
    "sent_packets",
    "sent_bytes",
    "hit_ratio",
    "aggregated",
    "nacks_out",
    "policed",
    "expired",
    "frames_late",
    "frames_undecodable",
    "frames_dropped",
    "completions",
    "transfers",
    "unfinished",
    "ack_loss_ratio",
    "no_route",
    "unsolicited",
    *("drops_queue_full", "drops_early", "drops_random_loss", "drops_link_down", "drops_policed"),
    *("drops_corrupted", "drops_no_route", "drops_hop_limit", "drops_not_listening"),
}
"""Columns that are omitted if they are zero in all rows."""


UNITS = {
    **dict.fromkeys(("rate", "throughput", "goodput", "interests"), ("Mbit/s", 1e-6)),
    **dict.fromkeys(
        [f"{word}_{of}" for word in ("throughput", "goodput") for of in ("mean", "worst", "best")],
        ("Mbit/s", 1e-6),
    ),
    **dict.fromkeys(("active_throughput", "active_goodput"), ("Mbit/s", 1e-6)),
    **dict.fromkeys(("rtt", "rtt_min", "owd", "owd_min", "owd_max", "queueing_delay", "queue"), ("ms", 1e3)),
    **dict.fromkeys(("base_delay", "queueing_delay_worst", "owd_worst"), ("ms", 1e3)),
    **dict.fromkeys(("delay", "delay_std", "delay_min", "delay_max"), ("ms", 1e3)),
    **dict.fromkeys([f"queueing_delay_p{percent}" for percent in (50, 95, 99)], ("ms", 1e3)),
    **dict.fromkeys(("rtp_queue", "rtp_queue_p95", "rtp_queue_max"), ("ms", 1e3)),
    **dict.fromkeys([f"delay_p{percent}" for percent in (5, 25, 50, 75, 95)], ("ms", 1e3)),
    **dict.fromkeys([f"fct_p{percent}" for percent in (50, 95, 99)], ("s", 1.0)),
    **dict.fromkeys([f"queue_p{percent}" for percent in (50, 95, 99)], ("ms", 1e3)),
    **dict.fromkeys([f"duration_p{percent}" for percent in (50, 95, 99)], ("s", 1.0)),
    **dict.fromkeys(("duration", "recovery"), ("s", 1.0)),
    **dict.fromkeys(("bitrate", "qoe"), ("Mbit/s", 1e-6)),
    "power": ("Mbit/s²", 1e-6),
    **dict.fromkeys(("fct", "convergence", "started", "completed", "active"), ("s", 1.0)),
    **dict.fromkeys(("startup", "stalled"), ("s", 1.0)),
    **dict.fromkeys(
        ("utilisation", "loss_ratio", "loss_ratio_worst", "ack_loss_ratio", "hit_ratio"), ("%", 100.0)
    ),
}
"""Unit and factor for output of a key of the summary, by its last word."""


TABLES: dict[str, tuple[Column, ...]] = {
    "flows": FLOWS,
    "receivers": RECEIVERS,
    "links": LINKS,
    "nodes": NODES,
    "apps": APPS,
    "summary": GROUPS,
}
"""The columns that are printed, by the table in which `thalweg metrics` lists their meaning."""


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
            (table, key) for table, columns in TABLES.items() for key, heading, _ in columns if test(heading)
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


def columns_shown(frame: polars.DataFrame, columns: Sequence[Column], *, full: bool = True) -> list[Column]:
    """The columns that have information; unless `full`, without those of `ONLY_IN_FULL`."""
    return [
        column
        for column in columns
        if column[0] in frame.columns
        and (full or column[0] not in ONLY_IN_FULL)
        and _has_information(frame, column[0])
    ]


def table_rows(
    frame: polars.DataFrame, columns: Sequence[Column], *, full: bool = True
) -> tuple[list[tuple[str, str]], list[dict[str, Any]]]:
    """Headings, and rows in the units of the headings; columns without information are omitted.

    Unless `full`, those of `ONLY_IN_FULL` are omitted as well.
    """
    there = columns_shown(frame, columns, full=full)
    rows = [
        {key: _scaled(_rounded(key, row[key]), factor) for key, _, factor in there}
        for row in frame.select([key for key, _, _ in there]).to_dicts()
    ]
    return [(key, _heading(frame, key, heading)) for key, heading, _ in there], rows


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


def _has_information(frame: polars.DataFrame, name: str) -> bool:
    column = frame[name].drop_nulls()
    if column.is_empty():
        return False
    if name == "drops_queue_full" and "drops" in frame.columns:
        # that queues were full is what the drops of a link say
        return bool((column != 0).any() and (frame[name] != frame["drops"]).any())
    if name in OMIT_IF_ZERO:
        return bool((column != 0).any())
    if name in SAME_AS:
        other = frame[SAME_AS[name]]
        return bool(((frame[name] - other).abs() > 1e-3 * other.abs()).any())
    if name in OF_WORST_RECEIVER:
        lower = frame["throughput_worst_bps"] < frame["throughput_bps"]
        return bool(lower.fill_null(value=False).any())
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
