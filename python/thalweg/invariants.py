"""Invariants that the tables of a run obey, whatever the scenario: orders, balances and identities of the field.

If one is violated, a number of the run is wrong. `check` finds violations from the tables alone, in milliseconds.
`thalweg verify` checks more: it computes every number a second time from the packets of the run.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._text import printable
from .errors import InvariantWarning
from .quantities import base_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import polars

    from .result import Result

ROUNDING = 1e-9
"""Relative difference of two numbers that counts as equal: sums in another order differ by less."""

GRAIN = 0.004
"""Relative error of a percentile that is read from a histogram."""

GRAIN_S = 1.1e-6
"""Error in seconds that a percentile from a histogram has besides."""

MAX_PACKET = 65536
"""Maximum size of a packet in bytes."""

AT_LINKS = ("queue_full", "early", "random_loss", "link_down", "policed", "corrupted")
"""Reasons of drops that happen at a link."""

SIMULATED = ("tcp", "stream", "datagram", "ndn")
"""Transports whose goodput is what arrives; for others it is what their application reads."""
READ = "read_after_warmup"
"""Column that is added to a table: the goodput is what was read, which can have arrived during the warm-up."""

WITHOUT_MESSAGES = ("forwarder",)
"""Roles of nodes that send packets of flows only."""

MAX_GROUPS = 200
"""Groups of flows whose sums are checked."""

MAX_WARNINGS = 10
"""Violations of many runs that are said one by one; the others are counted."""


@dataclass(frozen=True)
class Violation:
    """An invariant that a row of a table breaks."""

    invariant: str
    """The invariant, as one sentence."""
    table: str
    """Table of the row; `summary` for a group of flows."""
    row: str
    """Name of the row, such as a flow or a direction of a link."""
    numbers: str
    """The numbers that break the invariant."""
    more: int = 0
    """Number of further rows of the table that break it."""

    @property
    def sentence(self) -> str:
        """Row, numbers and invariant in one line."""
        rest = f" ({self.more} further rows)" if self.more else ""
        return f"{self.table}, {self.row}: {self.numbers}; invariant: {self.invariant}{rest}"


@dataclass(frozen=True)
class Order:
    """`low <= high` in each row where both were measured."""

    table: str
    low: str
    high: str | float
    invariant: str
    grain: bool = False
    """One of the numbers is read from a histogram."""
    unless: str = ""
    """Rows in which this column is true are exempt."""

    def columns(self) -> list[str]:
        """Columns that it needs."""
        return [self.low] if isinstance(self.high, float) else [self.low, self.high]

    def breaks(self) -> polars.Expr:
        """True in rows that break it."""
        import polars

        low = polars.col(self.low)
        high = polars.lit(self.high) if isinstance(self.high, float) else polars.col(self.high)
        broken = low > high + high.abs() * (GRAIN if self.grain else ROUNDING) + (
            GRAIN_S if self.grain else 1e-15
        )
        return broken & ~polars.col(self.unless) if self.unless else broken


@dataclass(frozen=True)
class Identity:
    """`left = right` in each row where all terms were measured; `left` is a sum, `right` a sum or a product."""

    table: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    invariant: str
    product: bool = False
    """`right` is a product."""
    optional: bool = False
    """Terms that were not measured count as zero."""
    capped: bool = False
    """The first factor is a ratio that is printed as at most 1: packets of the warm-up may be dropped after it."""

    def columns(self) -> list[str]:
        """Columns that it needs."""
        return [*self.left, *self.right]

    def breaks(self) -> polars.Expr:
        """True in rows that break it."""
        import polars

        def term(name: str) -> polars.Expr:
            column = polars.col(name).cast(polars.Float64)
            return column.fill_null(0.0) if self.optional else column

        left = term(self.left[0])
        for name in self.left[1:]:
            left = left + term(name)
        right = term(self.right[0])
        for name in self.right[1:]:
            right = right * term(name) if self.product else right + term(name)
        difference = (left - right).abs()
        if self.capped:
            difference = (
                polars.when(term(self.right[0]) < 1)
                .then(difference)
                .otherwise((right - left).clip(lower_bound=0))
            )
        return difference > ROUNDING * polars.max_horizontal(left.abs(), right.abs()) + 1e-12


def _orders() -> Iterator[Order]:
    goodput = "goodput is at most throughput, because payload is a part of a packet (RFC 5166 §2.1.1)"
    for table in ("flows", "receivers"):
        yield Order(table, "goodput_bps", "throughput_bps", goodput, unless=READ)
        yield Order(table, "active_goodput_bps", "active_throughput_bps", goodput, unless=READ)
        active = (
            "a rate over the measured time is at most the rate over the active time, which is a part of it"
        )
        for name in ("throughput", "goodput"):
            yield Order(table, f"{name}_bps", f"active_{name}_bps", active)
        yield Order(table, "owd_min_s", "owd_s", "minimum <= mean")
        yield Order(table, "owd_s", "owd_max_s", "mean <= maximum")
        base = "queueing is a part of the one-way delay"
        yield Order(table, "queueing_delay_s", "owd_s", base)
        yield Order(table, "base_delay_s", "owd_s", base)
        for name in ("queueing_delay_p50_s", "queueing_delay_p95_s", "queueing_delay_p99_s"):
            yield Order(table, name, "owd_max_s", base, grain=True)
        for low, high in (("p50", "p95"), ("p95", "p99")):
            yield Order(
                table, f"queueing_delay_{low}_s", f"queueing_delay_{high}_s", f"{low} <= {high}", grain=True
            )
        yield Order(table, "loss_ratio", 1.0, "a ratio is at most 1")
    yield Order("flows", "ack_loss_ratio", 1.0, "a ratio is at most 1")
    for low, high in (("throughput_worst_bps", "throughput_bps"), ("goodput_worst_bps", "goodput_bps")):
        yield Order("flows", low, high, "the worst receiver has at most the mean")
    for name in ("loss_ratio", "queueing_delay", "owd"):
        unit = "" if name == "loss_ratio" else "_s"
        yield Order(
            "flows", f"{name}{unit}", f"{name}_worst{unit}", "the worst receiver has at least the mean"
        )
    yield Order("flows", "rtt_min_s", "rtt_s", "minimum <= mean")
    yield Order("flows", "delay_min_s", "delay_s", "minimum <= mean")
    yield Order("flows", "delay_s", "delay_max_s", "mean <= maximum")
    points = ("min", "p5", "p25", "p50", "p75", "p95", "max")
    for low, high in pairwise(points):
        yield Order("flows", f"delay_{low}_s", f"delay_{high}_s", f"{low} <= {high}", grain=True)
    yield Order("flows", "rtp_queue_s", "rtp_queue_max_s", "mean <= maximum")
    yield Order("flows", "rtp_queue_p95_s", "rtp_queue_max_s", "p95 <= maximum", grain=True)
    yield Order("links", "queue_packets", "queue_max_packets", "mean <= maximum")
    yield Order("links", "queue_p50_s", "queue_p95_s", "p50 <= p95", grain=True)
    yield Order("links", "queue_p95_s", "queue_p99_s", "p95 <= p99", grain=True)
    yield Order("links", "loss_ratio", 1.0, "a ratio is at most 1")
    yield Order("nodes", "hit_ratio", 1.0, "a ratio is at most 1")
    yield Order("apps", "duration_p50_s", "duration_p95_s", "p50 <= p95")
    yield Order("apps", "duration_p95_s", "duration_p99_s", "p95 <= p99")


def _identities() -> Iterator[Identity]:
    for table in ("flows", "receivers"):
        yield Identity(
            table,
            ("owd_s",),
            ("base_delay_s", "queueing_delay_s"),
            "one-way delay = base delay + queueing delay",
        )
    yield Identity(
        "links",
        ("drops",),
        tuple(f"drops_{reason}" for reason in AT_LINKS),
        "drops = sum of the drops by reason",
        optional=True,
    )
    yield Identity(
        "flows",
        ("drops",),
        tuple(f"drops_{reason}" for reason in (*AT_LINKS, "no_route", "hop_limit")),
        "drops = sum of the drops by reason",
        optional=True,
    )
    yield Identity(
        "flows", ("drops",), ("data_drops", "ack_drops"), "drops = drops of data + drops of acknowledgements"
    )
    yield Identity(
        "links",
        ("drops",),
        ("loss_ratio", "offered_packets"),
        "drops = loss ratio × offered packets",
        product=True,
        capped=True,
    )


INVARIANTS: tuple[Order | Identity, ...] = (*_orders(), *_identities())
"""Invariants of single rows."""

NAMES = {
    "flows": ("flow",),
    "receivers": ("flow", "node"),
    "links": ("link", "direction"),
    "nodes": ("node",),
    "apps": ("app",),
}
"""Columns that name a row."""

SUMS = (
    *(("throughput", "throughput_bps"), ("goodput", "goodput_bps"), ("rate", "rate_bps")),
    *(("sent_packets", "sent_packets"), ("sent_bytes", "sent_bytes"), ("arrived_packets", "arrived_packets")),
    *(("drops", "drops"), ("data_drops", "data_drops"), ("ack_drops", "ack_drops")),
    *(("retransmits", "retransmits"), ("timeouts", "timeouts"), ("episodes", "episodes")),
)
"""Keys of a group that are the sum of a column over its flows."""


def check(result: Result) -> list[Violation]:
    """The invariants that the tables of a run break; empty if all hold. Columns that a run lacks are skipped."""
    found: list[Violation] = []
    for table in NAMES:
        frame = result.frame(table)
        if not frame.is_empty():
            found += _of_rows(table, _marked(result, frame) if table in ("flows", "receivers") else frame)
    found += _capacity(result)
    found += _little(result)
    found += _sums(result)
    found += _access(result)
    found += _drops_of_flows(result)
    found += _offers(result)
    found += _arrivals(result)
    return found


def _marked(result: Result, frame: polars.DataFrame) -> polars.DataFrame:
    """A table of flows or receivers with the column `READ`."""
    import polars

    flows = result.frame("flows")
    if base_value(result.plan.get("warmup", "0 s")) == 0 or "transport" not in flows.columns:
        return frame.with_columns(polars.lit(value=False).alias(READ))
    if "emulation" in result.record:
        return frame.with_columns(polars.lit(value=True).alias(READ))
    reading = flows.filter(~polars.col("transport").is_in(SIMULATED))["flow"].to_list()
    return frame.with_columns(polars.col("flow").is_in(reading).alias(READ))


@cache
def own_digest() -> str:
    """Digest of the invariants: violations found in a kept run are current if it has this digest."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]


def wrong(where: str, sentence: str) -> str:
    """What is said of a violation in a run, which `where` names."""
    return f"WRONG NUMBER in {where}, an invariant is violated: {sentence}"


def warn(found: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Gives an `InvariantWarning` for each violation of many runs: their names, and the invariants that they break."""
    listed = list(
        dict.fromkeys(wrong(where, sentence) for where, sentences in found for sentence in sentences)
    )
    for text in listed[:MAX_WARNINGS]:
        warnings.warn(text, InvariantWarning, stacklevel=3)
    if len(listed) > MAX_WARNINGS:
        warnings.warn(
            f"{len(listed) - MAX_WARNINGS} more invariants are violated", InvariantWarning, stacklevel=3
        )


def _of_rows(table: str, frame: polars.DataFrame) -> Iterator[Violation]:
    """Invariants of single rows."""
    import polars

    known = [one for one in INVARIANTS if one.table == table and set(one.columns()) <= set(frame.columns)]
    numeric = [name for name, kind in frame.schema.items() if kind.is_float()]
    strange = [polars.col(name).is_finite().not_().any().alias(f"nan.{name}") for name in numeric]
    checks = [one.breaks().any().alias(str(place)) for place, one in enumerate(known)]
    verdicts = frame.select(*checks, *strange).row(0, named=True)
    for place, invariant in enumerate(known):
        if verdicts[str(place)]:
            yield _listed(table, frame.filter(invariant.breaks()), invariant.columns(), invariant.invariant)
    for name in numeric:
        if verdicts[f"nan.{name}"]:
            rows = frame.filter(polars.col(name).is_finite().not_())
            yield _listed(table, rows, [name], "a number is finite, or it was not measured")


def _listed(table: str, rows: polars.DataFrame, columns: Iterable[str], invariant: str) -> Violation:
    """The first of the rows, and the number of the others."""
    first = rows.row(0, named=True)
    return Violation(invariant, table, _name(table, first), _numbers(first, columns), rows.height - 1)


def _name(table: str, row: Mapping[str, Any]) -> str:
    return printable(" ".join(str(row[name]) for name in NAMES[table]))


def _numbers(row: Mapping[str, Any], columns: Iterable[str]) -> str:
    return ", ".join(f"{name} = {_text(row[name])}" for name in dict.fromkeys(columns))


def _text(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _capacity(result: Result) -> Iterator[Violation]:
    """Utilisation is at most 1, except for two bytes of rounding for packets in transmission at either end."""
    import polars

    links, measured = result.frame("links"), result.get("run.measured")
    # the links of an emulation follow the clock of the host, which can be late and catch up
    if links.is_empty() or not measured or "emulation" in result.record:
        return
    capacity = polars.col("rate_bps") * measured
    rows = links.filter((polars.col("utilisation") - 1) * capacity > 16 + ROUNDING * capacity)
    if rows.is_empty():
        return
    listed = {link["name"]: link for link in result.plan["topology"].get("links", [])}

    def burst_bits(row: Mapping[str, Any]) -> float:
        """What a shaper saved before the measured time."""
        link = listed.get(row["link"], {})
        shaper = (link.get("backward", {}) if row["direction"] == "backward" else {}).get("shaper")
        shaper = link.get("shaper") if shaper is None else shaper
        return 8 * base_value(shaper["burst"]) if shaper else 0.0

    numbers = [
        place
        for place, row in enumerate(rows.rows(named=True))
        if (row["utilisation"] - 1) * row["rate_bps"] * measured > burst_bits(row) + 16
    ]
    if numbers:
        invariant = "a link carries at most its capacity, and a shaper its burst besides"
        yield _listed("links", rows[numbers], ["utilisation", "rate_bps"], invariant)


def _little(result: Result) -> Iterator[Violation]:
    """Little's law at every queue: mean number that waits = rate of departures × mean wait."""
    import polars

    links, measured = result.frame("links"), result.get("run.measured")
    if links.is_empty() or not measured or "queue_s" not in links.columns:
        return
    expected = polars.col("queue_s") * polars.col("sent_packets") / measured
    wrong = (polars.col("queue_packets") - expected).abs() > ROUNDING * expected + 1e-12
    rows = links.filter(wrong)
    if not rows.is_empty():
        invariant = "packets in the queue = wait × packets sent / measured time (Little's law)"
        yield _listed("links", rows, ["queue_packets", "queue_s", "sent_packets"], invariant)


def _sums(result: Result) -> Iterator[Violation]:
    """The values of all flows, and of each group, are sums over their flows."""
    flows = result.frame("flows")
    if flows.is_empty() or "active_throughput_bps" not in flows.columns:
        return
    groups = flows["group"].unique(maintain_order=True).to_list()[:MAX_GROUPS]
    parts = [
        ("flows", flows),
        *((f"flows.{name}", flows.filter(flows["group"] == name)) for name in groups),
    ]
    for subject, rows in parts:
        for key, column in SUMS:
            if column not in rows.columns:
                continue
            values = rows[column].drop_nulls().to_list()
            printed = result.get(f"{subject}.{key}")
            if printed is None or not values:
                continue
            total = math.fsum(values)
            if abs(total - printed) > ROUNDING * abs(total):
                numbers = f"{key} = {_text(printed)}, sum of its flows = {_text(total)}"
                yield Violation("the value of a group is the sum over its flows", "summary", subject, numbers)


def _access(result: Result) -> Iterator[Violation]:
    """What arrives at a host is at most what its links carried, and what was in flight when the warm-up ended."""
    import polars

    receivers, links = result.frame("receivers"), result.frame("links")
    if receivers.is_empty() or links.is_empty() or "emulation" in result.record:
        return
    senders = set(result.frame("flows")["from"].to_list())
    arrived = (
        receivers.filter(~polars.col("node").is_in(list(senders)))
        .group_by("node", maintain_order=True)
        .agg(polars.col("bytes").sum())
    )
    carried = links.group_by("to").agg(
        polars.col("sent_bytes").sum(), polars.col("link").unique(maintain_order=True).alias("names")
    )
    both = arrived.join(carried, left_on="node", right_on="to", how="left", maintain_order="left")
    suspects = both.filter(polars.col("bytes") > polars.col("sent_bytes").fill_null(0))
    for row in suspects.rows(named=True):
        allowance = _in_flight(result.plan, row["names"] or [])
        if allowance is None or row["bytes"] <= (row["sent_bytes"] or 0) + allowance:
            continue
        numbers = (
            f"arrived bytes = {row['bytes']}, bytes on its links = {row['sent_bytes'] or 0}, "
            f"at most {allowance:.0f} B in flight at the end of the warm-up"
        )
        invariant = (
            "throughput is at most what the links carry (plus what was in flight at the end of the warm-up)"
        )
        yield Violation(invariant, "receivers", printable(str(row["node"])), numbers)


def _drops_of_flows(result: Result) -> Iterator[Violation]:
    """What flows lost at links is what the links dropped; messages of nodes, which belong to no flow, come on top."""
    flows, links = result.frame("flows"), result.frame("links")
    if flows.is_empty() or links.is_empty() or "emulation" in result.record:
        return
    nodes = result.nodes
    alone = nodes.is_empty() or set(nodes["role"].to_list()) <= set(WITHOUT_MESSAGES)
    invariant = "drops of all flows for a reason = drops of all links for it, except messages of nodes"
    for column in (f"drops_{reason}" for reason in AT_LINKS):
        if column not in flows.columns or column not in links.columns:
            continue
        of_flows, of_links = int(flows[column].sum()), int(links[column].sum())
        if of_flows > of_links or (alone and of_flows != of_links):
            numbers = f"{column} of all flows = {of_flows}, of all links = {of_links}"
            yield Violation(invariant, "links", "all links", numbers)


def _offers(result: Result) -> Iterator[Violation]:
    """What a host with one link offers to it is what its senders sent, and what its receivers answered besides."""
    import polars

    flows, links = result.frame("flows"), result.frame("links")
    needed = {"sent_packets", "drops_no_route"} <= set(flows.columns) and "offered_packets" in links.columns
    # a route of an event can send packets of others through a host
    if any("route" in event for event in result.plan.get("events", [])):
        return
    if flows.is_empty() or links.is_empty() or not needed or "emulation" in result.record:
        return
    # a node with a state machine sends messages, or answers from a store; a switch is found in this table, too
    machines = result.nodes["node"].to_list() if not result.nodes.is_empty() else []
    single = links.group_by("from", maintain_order=True).agg(
        polars.col("offered_packets").sum().alias("offered"), polars.len().alias("ports")
    )
    # what is sent to a group without members goes nowhere
    to_groups = flows.filter(polars.col("flow").is_in(_groups(result.plan)))["from"].to_list()
    apart = [*machines, *to_groups]
    single = single.filter((polars.col("ports") == 1) & ~polars.col("from").is_in(apart))
    sent = flows.group_by("from").agg(
        polars.col("sent_packets").sum().alias("sent"), polars.col("drops_no_route").sum().alias("unrouted")
    )
    receivers = result.frame("receivers")
    answering = set(receivers["node"].to_list()) if not receivers.is_empty() else set()
    rows = single.join(sent, on="from", how="inner", maintain_order="left")
    for row in rows.rows(named=True):
        low = row["sent"] - row["unrouted"]
        if low <= row["offered"] and (row["offered"] <= row["sent"] or row["from"] in answering):
            continue
        numbers = f"sent packets of its flows = {row['sent']}, packets offered to its link = {row['offered']}"
        invariant = "a host offers to its link what its flows send (and what its receivers answer)"
        yield Violation(invariant, "links", printable(str(row["from"])), numbers)


def _groups(plan: Mapping[str, Any]) -> list[str]:
    """Names of the flows of a plan that go to groups of receivers."""
    return [flow["name"] for flow in plan["flows"] if flow.get("multicast") or flow.get("network") == "icn"]


def _arrivals(result: Result) -> Iterator[Violation]:
    """Sent = arrived + dropped + in flight, which is not negative: of flows to one receiver, without a warm-up."""
    import polars

    flows, plan = result.frame("flows"), result.plan
    needed = {"sent_packets", "arrived_packets", "data_drops", "transport", "receivers"}
    if flows.is_empty() or not needed <= set(flows.columns) or "emulation" in result.record:
        return
    ends = [end for link in plan["topology"].get("links", []) for end in (link, link.get("backward", {}))]
    # what is in flight when a warm-up ends arrives without having been sent, and a copy does
    if base_value(plan.get("warmup", "0 s")) > 0 or any(
        end.get("impair", {}).get("duplicate") for end in ends
    ):
        return
    in_flight = (
        polars.col("sent_packets").cast(polars.Int64)
        - polars.col("arrived_packets")
        - polars.col("data_drops")
    )
    rows = flows.filter((polars.col("receivers") == 1) & (polars.col("transport") != "ndn") & (in_flight < 0))
    if not rows.is_empty():
        invariant = "sent = arrived + dropped + in flight, which is not negative"
        yield _listed("flows", rows, ["sent_packets", "arrived_packets", "data_drops"], invariant)


def _in_flight(plan: Mapping[str, Any], names: Iterable[str]) -> float | None:
    """Maximum bytes in flight on links when the warm-up ends; None if the plan does not bound them."""
    warm = base_value(plan.get("warmup", "0 s")) > 0
    listed = {link["name"]: link for link in plan["topology"].get("links", [])}
    total = 0.0
    for name in names:
        link = listed.get(name)
        if link is None:
            return None
        ends = [link, link.get("backward", {})]
        impairments = [end.get("impair", {}) for end in ends]
        if any("trace" in end for end in ends) or any(impair.get("duplicate") for impair in impairments):
            return None
        if not warm:
            continue
        changes = [*ends, *(event for event in plan.get("events", []) if event.get("link") == name)]
        rate = max(base_value(change["rate"]) for change in changes if "rate" in change)
        delay = max(base_value(change["delay"]) for change in changes if "delay" in change)
        late = sum(
            base_value(impair[key])
            for impair in impairments
            for key in ("jitter", "release_every")
            if key in impair
        )
        total += rate * (delay + late) / 8 + MAX_PACKET
    return total


__all__ = ["INVARIANTS", "Identity", "Order", "Violation", "check"]
