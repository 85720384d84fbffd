"""The table `links`, from the hops of packets and the changes of links. Rows are ports: the two directions of each link."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections import deque

import polars as pl

from .columns import HISTOGRAM, HISTOGRAM_S, Table, nearest_rank
from .record import NS, Record

MAX_PACKET = 1514
"""Bytes of the largest usual packet."""
UNPREDICTABLE = (
    "where an event takes down a link with a shaper, or changes a link without a limit: "
    "the record does not have what a packet could expect to wait"
)
"""Why a percentile of waits is not recomputed."""

LINKS = Table("links", ("link", "direction"))


def ports(record: Record) -> pl.DataFrame:
    """One row per port."""
    listed = record.names["ports"]
    return pl.DataFrame(
        {
            "port": list(range(len(listed))),
            "link": [port["link"] for port in listed],
            "direction": [port["direction"] for port in listed],
            "from": [record.names["nodes"][port["from"]] for port in listed],
            "to": [record.names["nodes"][port["to"]] for port in listed],
        },
        schema={
            "port": pl.Int64,
            **dict.fromkeys(("link", "direction", "from", "to"), pl.String),
        },
    )


@LINKS.text("from", "to")
def ends(record: Record) -> pl.DataFrame:
    """As `record.json` names it."""
    return ports(record)


def steps(record: Record, event: str) -> pl.DataFrame:
    """A quantity of ports over T as steps: `port`, `begin_ns`, `end_ns`, `value`."""
    rows = record.activity.filter((pl.col("event") == event) & pl.col("port").is_not_null())
    rows = rows.select("port", "value", at_ns="time_ns").with_columns(
        next_ns=pl.col("at_ns").shift(-1).over("port").fill_null(record.end_ns)
    )
    begin = pl.max_horizontal(pl.col("at_ns"), pl.lit(record.begin_ns))
    end = pl.min_horizontal(pl.col("next_ns"), pl.lit(record.end_ns))
    return rows.with_columns(begin_ns=begin, end_ns=end).filter(pl.col("end_ns") > pl.col("begin_ns"))


def capacity_bits(record: Record) -> pl.DataFrame:
    """Bits that each port could have carried in T while it was up: `port` and `value`; none if its rate is not limited."""
    rate = steps(record, "rate_bps").select("port", "begin_ns", "end_ns", rate="value")
    up = steps(record, "up").filter(pl.col("value") == 1).select("port", up_ns="begin_ns", down_ns="end_ns")
    both = rate.join(up, on="port")
    begin, end = pl.max_horizontal("begin_ns", "up_ns"), pl.min_horizontal("end_ns", "down_ns")
    both = both.with_columns(length=(end - begin).clip(lower_bound=0))
    # in floats: the product of a rate and a time in ns exceeds an integer of 64 bits
    carried = both.group_by("port").agg(value=(pl.col("rate").cast(pl.Float64) * pl.col("length") / NS).sum())
    limited = rate.group_by("port").agg(known=pl.col("rate").is_not_null().all())
    down = (
        limited.filter("known")
        .join(carried, on="port", how="left")
        .with_columns(pl.col("value").fill_null(0.0))
    )
    chances = record.activity.filter((pl.col("event") == "opportunity") & record.measured("time_ns"))
    chances = chances.select("port", "time_ns", bits="value").join(up, on="port")
    chances = chances.filter((pl.col("time_ns") >= pl.col("up_ns")) & (pl.col("time_ns") < pl.col("down_ns")))
    by_chance = chances.group_by("port").agg(value=pl.col("bits").sum().cast(pl.Float64))
    # a port that has no rate has opportunities, of which none may fall in the run
    by_chance_ports = ports(record).select("port").join(rate.select("port").unique(), on="port", how="anti")
    by_chance = by_chance_ports.join(by_chance, on="port", how="left").with_columns(
        pl.col("value").fill_null(0.0)
    )
    return pl.concat([down.select("port", "value").join(by_chance_ports, on="port", how="anti"), by_chance])


@LINKS.number()
def rate_bps(record: Record) -> pl.DataFrame:
    """Bits that it could have carried while it was up / |T|."""
    return capacity_bits(record).with_columns(pl.col("value") / record.span_s)


@LINKS.number()
def delay_s(record: Record) -> pl.DataFrame:
    """Time average of its propagation delay over T, with what a trace adds to it."""
    length = pl.col("end_ns") - pl.col("begin_ns")
    mean = (pl.col("value").cast(pl.Float64) * length).sum() / length.sum() / NS
    own, added = (
        steps(record, event).group_by("port").agg(value=mean) for event in ("delay_ns", "trace_delay_ns")
    )
    rows = own.join(added, on="port", how="left", suffix="_added")
    return rows.select("port", value=pl.col("value") + pl.col("value_added").fill_null(0.0))


@LINKS.count()
def offered_packets(record: Record) -> pl.DataFrame:
    """Packets offered to its queue in T."""
    return record.hops.filter(record.measured("offered_ns")).group_by("port").agg(value=pl.len())


def sent(record: Record) -> pl.DataFrame:
    """Hops whose transmission started in T and was not cut off. One that takes no time when T begins is before T."""
    leaves = (pl.col("departed_ns") > record.begin_ns) | pl.lit(record.begin_ns == 0)
    rows = record.hops.filter(record.measured("started_ns") & pl.col("departed_ns").is_not_null() & leaves)
    return rows.join(record.packets.select("packet", "size_bytes"), on="packet")


@LINKS.count()
def sent_packets(record: Record) -> pl.DataFrame:
    """Packets whose transmission started in T."""
    return sent(record).group_by("port").agg(value=pl.len())


@LINKS.count()
def sent_bytes(record: Record) -> pl.DataFrame:
    """Their sizes, + what was still to be transmitted when T began, − what still is when T ends, in whole bytes."""
    whole = sent(record).group_by("port").agg(whole=pl.col("size_bytes").sum())
    rows = ports(record).select("port").join(whole, on="port", how="left")
    for name, at_ns in (("before", record.begin_ns), ("after", record.end_ns)):
        rows = rows.join(unsent_bytes(record, at_ns).select("port", **{name: "value"}), on="port", how="left")
    rows = rows.with_columns(pl.col("whole", "before", "after").fill_null(0))
    return rows.select("port", value=pl.col("whole") + pl.col("before") - pl.col("after"))


def unsent_bytes(record: Record, at_ns: int) -> pl.DataFrame:
    """Whole bytes of the packet in transmission at an instant that are not transmitted yet.

    Where the rate changes during the transmission, what was sent is the integral of the rate; otherwise it is in
    proportion to time. `exact` says that the transmission has one rate, the port's.
    """
    rows = record.hops.filter((pl.col("started_ns") < at_ns) & (pl.col("departed_ns") > at_ns))
    rows = rows.join(record.packets.select("packet", "size_bytes"), on="packet")
    rates = record.activity.filter((pl.col("event") == "rate_bps") & pl.col("value").is_not_null())
    rates = rates.select("port", rate="value", from_ns="time_ns").with_columns(
        to_ns=pl.col("from_ns").shift(-1).over("port").fill_null(record.end_ns)
    )
    both = rows.join(rates, on="port")
    length = pl.min_horizontal(pl.col("to_ns"), pl.lit(at_ns)) - pl.max_horizontal("from_ns", "started_ns")
    changed = (pl.col("from_ns") > pl.col("started_ns")) & (pl.col("from_ns") <= pl.col("departed_ns"))
    ends_early = (pl.col("to_ns") > pl.col("started_ns")) & (pl.col("to_ns") < pl.col("departed_ns"))
    integral = both.group_by("packet", "port").agg(
        bits=(pl.col("rate").cast(pl.Float64) * length.clip(lower_bound=0)).sum() / NS,
        varies=(changed | ends_early).any(),
        rate_now=pl.col("rate").filter(pl.col("from_ns") <= at_ns).last().cast(pl.Float64),
    )
    rows = rows.join(integral, on=["packet", "port"], how="left")
    # in whole bits first, as the departure is in whole ns
    constant = (pl.col("rate_now") * (pl.col("departed_ns") - pl.lit(at_ns)) / NS / 8 + 1e-6).floor()
    share = (pl.lit(at_ns) - pl.col("started_ns")) / (pl.col("departed_ns") - pl.col("started_ns"))
    varying = pl.col("size_bytes") - pl.col("bits") / 8 + 1e-6
    # a shaper limits the rate of the port, and not the rate of a transmission
    whole = pl.col("rate_now") * (pl.col("departed_ns") - pl.col("started_ns")) / NS / 8
    constant = pl.when((whole - pl.col("size_bytes")).abs() < 1).then(constant)
    in_time = pl.coalesce(constant, (pl.col("size_bytes") * (1 - share)).floor())
    left = pl.when("varies").then(varying.floor()).otherwise(in_time).cast(pl.Int64)
    exact = constant.is_not_null() & pl.col("varies").fill_null(value=False).not_()
    return rows.select("port", value=left, exact=exact)


@LINKS.number()
def utilisation(record: Record) -> pl.DataFrame:
    """Bits sent / bits that it could have carried while it was up."""
    rows = capacity_bits(record).filter(pl.col("value") > 0).rename({"value": "capacity"})
    rows = rows.join(sent_bytes(record), on="port", how="left")
    return rows.select("port", value=8 * pl.col("value").fill_null(0) / pl.col("capacity"))


def _partial_bytes(record: Record) -> pl.DataFrame:
    """Bytes per packet in transmission when T begins or ends: eight, as the core computes with whole ns and the last rate.

    The whole packet if it is not transmitted at one rate, or not at the port's, as behind a shaper.
    """
    found = [unsent_bytes(record, at_ns) for at_ns in (record.begin_ns, record.end_ns)]
    slack = pl.when("exact").then(8).otherwise(MAX_PACKET).sum()
    return pl.concat(found).group_by("port").agg(value=slack)


def _whole_bits(record: Record) -> pl.DataFrame:
    """A bit per second of T: the core counts the bits that a link could have carried in whole bits since the start."""
    return ports(record).select("port", value=pl.lit(1.0 / (record.span_s or 1.0)))


def _partial_of_capacity(record: Record) -> pl.DataFrame:
    """Partly transmitted bytes, and a bit of capacity, as a share of the bits that the link could have carried."""
    rows = capacity_bits(record).filter(pl.col("value") > 0).rename({"value": "capacity"})
    rows = rows.join(_partial_bytes(record), on="port", how="left").rename({"value": "partial"})
    rows = rows.join(utilisation(record).select("port", used="value"), on="port", how="left")
    bits = 8 * pl.col("partial").fill_null(0) + pl.col("used").fill_null(0)
    return rows.select("port", value=bits / pl.col("capacity"))


LINKS.exact_to("rate_bps", _whole_bits)
LINKS.exact_to("sent_bytes", _partial_bytes)
LINKS.exact_to("utilisation", _partial_of_capacity)


def waiting(record: Record) -> pl.DataFrame:
    """Times in T in which packets wait in queues: `port`, `begin_ns`, `end_ns`, `size_bytes`."""
    begin = pl.max_horizontal(pl.col("offered_ns"), pl.lit(record.begin_ns))
    leaves = pl.coalesce("started_ns", "dropped_ns", pl.lit(record.end_ns))
    end = pl.min_horizontal(leaves, pl.lit(record.end_ns))
    # a copy that the link made was not offered
    rows = (
        record.hops.filter(pl.col("offered_ns").is_not_null())
        .with_columns(begin_ns=begin, end_ns=end)
        .filter(pl.col("end_ns") > pl.col("begin_ns"))
    )
    return rows.join(record.packets.select("packet", "size_bytes"), on="packet")


def _average(record: Record, weight: pl.Expr) -> pl.DataFrame:
    rows = waiting(record)
    sums = rows.group_by("port").agg(value=((pl.col("end_ns") - pl.col("begin_ns")) * weight).sum() / NS)
    rows = ports(record).select("port").join(sums, on="port", how="left")
    return rows.select("port", value=pl.col("value").fill_null(0.0) / record.span_s)


@LINKS.number()
def queue_packets(record: Record) -> pl.DataFrame:
    """Time average over T of the packets that wait."""
    return _average(record, pl.lit(1))


@LINKS.number()
def queue_bytes(record: Record) -> pl.DataFrame:
    """Time average over T of their bytes."""
    return _average(record, pl.col("size_bytes"))


@LINKS.number()
def queue_s(record: Record) -> pl.DataFrame:
    """Time that packets waited in T, summed / packets sent in T (Little's law)."""
    rows = queue_packets(record).join(sent_packets(record).select("port", sent="value"), on="port")
    return rows.select("port", value=pl.col("value") * record.span_s / pl.col("sent"))


@LINKS.count()
def queue_max_packets(record: Record) -> pl.DataFrame:
    """Maximum number of packets that wait at an instant of T."""
    rows = waiting(record)
    changes = pl.concat(
        [
            rows.select("port", time_ns="begin_ns", change=pl.lit(1)),
            rows.select("port", time_ns="end_ns", change=pl.lit(-1)),
        ]
    )
    # a packet that leaves makes room for one that comes at the same instant
    changes = changes.group_by("port", "time_ns").agg(pl.col("change").sum()).sort("port", "time_ns")
    changes = changes.with_columns(held=pl.col("change").cum_sum().over("port"))
    return changes.group_by("port").agg(value=pl.col("held").max())


def _waits(record: Record) -> pl.DataFrame:
    """Waits of packets: of those that another discipline sent in T, and of those that a drop-tail queue accepted in T.

    A drop-tail queue counts what a packet can expect when it comes. Where the rate is constant, this is what it waits, and
    `known` says that it did: a packet that is held at the end, or lost, has waited at least until then.
    """
    by_discipline = pl.col("port").is_in(disciplined(record))
    rows = record.hops.filter(pl.col("offered_ns").is_not_null())
    sent = rows.filter(by_discipline & record.measured("started_ns")).with_columns(known=pl.lit(value=True))
    accepted = rows.filter(~by_discipline & ~refused() & record.measured("offered_ns"))
    accepted = accepted.with_columns(known=pl.col("started_ns").is_not_null())
    until = pl.coalesce("started_ns", "dropped_ns", pl.lit(record.end_ns))
    found = pl.concat([sent, accepted]).with_columns(wait_ns=until - pl.col("offered_ns"))
    expected = [_expected_waits(record, port) for port in sorted(varying(record) - _not_predictable(record))]
    found = found.select("port", "known", "wait_ns")
    return pl.concat(
        [found.filter(~pl.col("port").is_in([port for port, _ in expected])), *(rows for _, rows in expected)]
    )


def varying(record: Record) -> set[int]:
    """Ports with a drop-tail queue whose rate an event changes, or whose link goes down.

    The steps of a trace are known in advance: what a packet can expect is what it waits.
    """
    changes = record.activity.filter(pl.col("event").is_in(["rate_bps", "up"]) & (pl.col("time_ns") > 0))
    return set(changes["port"].unique().to_list()) - set(disciplined(record)) - _with(record, "trace")


def _not_predictable(record: Record) -> set[int]:
    """Ports without a rate of transmissions: those without a limit, or with a shaper, which events only take down."""
    rates = record.activity.filter((pl.col("event") == "rate_bps") & pl.col("value").is_null())
    return set(rates["port"].to_list()) | _with(record, "shaper")


def _with(record: Record, key: str) -> set[int]:
    """Ports whose link has a key in the plan, in either direction."""
    links = record.plan["topology"].get("links", [])
    named = {link["name"] for link in links if link.get(key) or link.get("backward", {}).get(key)}
    return {number for number, port in enumerate(record.names["ports"]) if port["link"] in named}


def _expected_waits(record: Record, port: int) -> tuple[int, pl.DataFrame]:
    """What is ahead of each accepted packet of a port as it comes, at the rate of that instant."""
    rows = record.hops.filter((pl.col("port") == port) & pl.col("offered_ns").is_not_null() & ~refused())
    rows = rows.join(record.packets.select("packet", "size_bytes"), on="packet", maintain_order="left")
    rows = rows.sort("offered_ns", pl.col("started_ns").fill_null(2**62), maintain_order=True)
    rates = record.activity.filter((pl.col("port") == port) & (pl.col("event") == "rate_bps"))
    times, values = rates["time_ns"].to_list(), rates["value"].to_list()

    def carried(begin: int, end: int) -> float:
        first = max(bisect_right(times, begin) - 1, 0)
        parts = zip(times[first:], values[first:], [*times[first + 1 :], end], strict=True)
        return math.fsum(
            rate * max(min(until, end) - max(since, begin), 0) / NS
            for since, rate, until in itertools.takewhile(lambda part: part[0] < end, parts)
        )

    ahead: deque[tuple[int, int, int]] = deque()
    queued, found = 0, []
    last: tuple[int, int, int] | None = None
    for offered, started, departed, dropped, size in rows.select(
        "offered_ns", "started_ns", "departed_ns", "dropped_ns", "size_bytes"
    ).rows():
        while ahead and ahead[0][0] <= offered:
            last = ahead.popleft()
            queued -= last[2]
        bits = 8.0 * queued
        if last is not None and last[1] > offered:
            bits += max(8 * last[2] - carried(last[0], offered), 0)
        rate = values[max(bisect_right(times, offered) - 1, 0)]
        if record.begin_ns <= offered <= record.end_ns and rate:
            found.append(round(bits / rate * NS))
        leaves = started if started is not None else dropped if dropped is not None else record.end_ns + 1
        gone = departed if departed is not None else dropped if dropped is not None else record.end_ns + 1
        ahead.append((leaves, gone if started is not None else leaves, size))
        queued += size
    waits = pl.DataFrame({"wait_ns": found}, schema={"wait_ns": pl.Int64})
    known = waits.select(
        pl.lit(port, dtype=pl.Int64).alias("port"), pl.lit(value=True).alias("known"), "wait_ns"
    )
    return port, known


def _percentile(record: Record, share: float) -> pl.DataFrame:
    if not record.distributions:
        return pl.DataFrame(schema={"port": pl.Int64, "value": pl.Float64})
    return _waits(record).group_by("port").agg(value=nearest_rank("wait_ns", share) / NS)


def _range_of_percentile(record: Record, share: float) -> pl.DataFrame:
    """How far the percentile of a drop-tail queue can be from the percentile of its packets' waits.

    Those that wait at the end, or were lost with their link, may have waited for any time; nothing is known where the rate
    changes and is no rate of transmissions.
    """
    if not record.distributions:
        return pl.DataFrame(schema={"port": pl.Int64, "value": pl.Float64})
    found = [(port, math.inf) for port in sorted(varying(record) & _not_predictable(record))]
    longest = pl.when("known").then(pl.col("wait_ns")).otherwise(2**60)
    high = _waits(record).with_columns(wait_ns=longest).group_by("port")
    both = _percentile(record, share).join(high.agg(other=nearest_rank("wait_ns", share) / NS), on="port")
    # and the accuracy of a histogram, of the value that differs
    apart = pl.col("other") - pl.col("value") + HISTOGRAM * pl.col("other") + HISTOGRAM_S
    found += both.filter(pl.col("other") > pl.col("value")).select("port", apart).rows()
    table = pl.DataFrame(found, schema={"port": pl.Int64, "value": pl.Float64}, orient="row")
    return table.group_by("port").agg(pl.col("value").max())


@LINKS.percentile()
def queue_p50_s(record: Record) -> pl.DataFrame:
    """Median (nearest rank) of the waits in the queue: of packets that a drop-tail queue accepted in T, or another sent."""
    return _percentile(record, 0.50)


@LINKS.percentile()
def queue_p95_s(record: Record) -> pl.DataFrame:
    """95th percentile of them."""
    return _percentile(record, 0.95)


@LINKS.percentile()
def queue_p99_s(record: Record) -> pl.DataFrame:
    """99th percentile of them."""
    return _percentile(record, 0.99)


@LINKS.count()
def marked_packets(record: Record) -> pl.DataFrame:
    """Packets that were marked here in T."""
    return record.hops.filter(record.measured("marked_ns")).group_by("port").agg(value=pl.len())


def dropped(record: Record) -> pl.DataFrame:
    """Hops that ended with a drop in T."""
    return record.hops.filter(record.measured("dropped_ns"))


def packet_hops(record: Record) -> int:
    """Packets put on links in the whole run: those that a drop-tail queue accepted, and those that another queue sent.

    A queue that refuses a packet drops it at the instant of its offer.
    """
    hops = record.hops.filter(pl.col("offered_ns").is_not_null())
    by_discipline = pl.col("port").is_in(disciplined(record))
    put = pl.when(by_discipline).then(pl.col("started_ns").is_not_null()).otherwise(~refused())
    # at the instant of the end a queue sends the next packet where one has just left: no row has this start
    waits = pl.col("started_ns").is_null() & pl.col("dropped_ns").is_null()
    just_left = pl.col("departed_ns") == record.end_ns
    last = hops.filter(by_discipline).group_by("port").agg(next=waits.any() & just_left.any())
    return hops.filter(put).height + int(last["next"].sum())


def refused() -> pl.Expr:
    """Whether a drop-tail queue refused a packet."""
    dropped = (pl.col("dropped_ns") == pl.col("offered_ns")) & pl.col("started_ns").is_null()
    return dropped.fill_null(value=False)


def disciplined(record: Record) -> list[int]:
    """Ports whose queue is no single drop-tail queue."""
    listed = {link["name"]: link for link in record.plan["topology"].get("links", [])}
    found = []
    for number, port in enumerate(record.names["ports"]):
        link = listed.get(port["link"], {})
        back = link.get("backward", {}) if port["direction"] == "backward" else {}
        queue = back.get("queue", link.get("queue", "fifo"))
        kind = queue["kind"] if isinstance(queue, dict) else queue
        if kind != "fifo" or back.get("classes", link.get("classes")):
            found.append(number)
    return found


@LINKS.count()
def drops(record: Record) -> pl.DataFrame:
    """Packets dropped here in T."""
    return dropped(record).group_by("port").agg(value=pl.len())


@LINKS.number()
def loss_ratio(record: Record) -> pl.DataFrame:
    """Drops / packets offered, at most 1: of the drops some may have been offered before T."""
    rows = offered_packets(record).select("port", offered="value")
    rows = rows.join(drops(record), on="port", how="left")
    ratio = pl.col("value").fill_null(0) / pl.col("offered")
    return rows.select("port", value=ratio.clip(upper_bound=1.0))


def _by_reason(*reasons: str) -> None:
    for reason in reasons:

        def compute(record: Record, reason: str = reason) -> pl.DataFrame:
            rows = dropped(record).filter(pl.col("drop_reason") == reason)
            return rows.group_by("port").agg(value=pl.len())

        compute.__doc__ = f"Packets dropped here in T because of {reason}."
        LINKS.count(f"drops_{reason}")(compute)


_by_reason("queue_full", "early", "random_loss", "link_down", "policed", "corrupted")

for _percent in (50, 95, 99):
    LINKS.exact_to(
        f"queue_p{_percent}_s",
        lambda record, share=_percent / 100: _range_of_percentile(record, share),  # type: ignore[misc]
        unknown=UNPREDICTABLE,
    )
