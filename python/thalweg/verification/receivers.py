"""The table `receivers`, from packets: what each receiver of a flow got. Rows are the ends of `Record.ends`.

T is the measured span, |T| its length. A consumer of named data is an end, too: the table `flows` needs its values.
"""

from __future__ import annotations

import polars as pl

from .columns import Table, nearest_rank
from .goodput import first_arrivals
from .record import NS, Record

RECEIVERS = Table("receivers", ("flow", "node"))


def of_ends(record: Record, endpoints: pl.DataFrame) -> pl.DataFrame:
    """Values by `endpoint` as values by row."""
    return record.ends.join(endpoints, on="endpoint").select("end", "value")


def per_second(record: Record, sums: pl.DataFrame) -> pl.DataFrame:
    """8 × bytes / |T|, of every end that was active in T."""
    active = active_times(record).filter(pl.col("active_s") > 0).select("end")
    rows = active.join(sums, on="end", how="left")
    return rows.select("end", value=8 * pl.col("value").fill_null(0) / record.span_s)


@RECEIVERS.count()
def packets(record: Record) -> pl.DataFrame:
    """Number of packets that the receiver took in T, without signalling messages of the network."""
    return counted(record).group_by("end").agg(value=pl.len())


@RECEIVERS.count("bytes")
def size(record: Record) -> pl.DataFrame:
    """Sum of the sizes of the packets that the receiver took in T."""
    return counted(record).group_by("end").agg(value=pl.col("size_bytes").sum())


def counted(record: Record) -> pl.DataFrame:
    """Packets that ends took in T, without signalling messages."""
    return record.arrived.filter(pl.col("kind") != "signal")


@RECEIVERS.number()
def active_s(record: Record) -> pl.DataFrame:
    """Time in T between its joins and leaves."""
    ends = record.ends.select("endpoint", until_ns=pl.lit(None, dtype=pl.Int64)).unique()
    found = record.ends.select("end").join(of_ends(record, record.active(ends)), on="end", how="left")
    return found.with_columns(pl.col("value").fill_null(0.0))


@RECEIVERS.number()
def completed_s(record: Record) -> pl.DataFrame:
    """Time at which all data of a finite transfer had arrived."""
    times = record.completed.select("endpoint", value=pl.col("time_ns") / NS)
    return of_ends(record, times)


@RECEIVERS.number()
def throughput_bps(record: Record) -> pl.DataFrame:
    """8 × bytes of data packets that arrived in T / |T|; empty if the flow was not active in T."""
    sums = record.arrivals.group_by("end").agg(value=pl.col("size_bytes").sum())
    return per_second(record, sums)


@RECEIVERS.number()
def goodput_bps(record: Record) -> pl.DataFrame:
    """8 × payload bytes that arrived for the first time, in T / |T|."""
    return per_second(record, goodput_bytes(record))


def goodput_bytes(record: Record) -> pl.DataFrame:
    """Payload bytes that arrived for the first time in T."""
    new = goodput_arrivals(record).filter(record.measured("ended_ns"))
    return new.group_by("end").agg(value=pl.col("new_bytes").sum())


def goodput_arrivals(record: Record) -> pl.DataFrame:
    """Payload that arrived for the first time: `end`, `ended_ns`, `new_bytes`; of transport stacks as they report it."""
    ours = record.flows.filter(pl.col("transport").is_in(["tcp", "stream", "datagram", "ndn"]))
    others = record.ends.join(ours, on="flow", how="anti").select("end", "endpoint")
    counted = record.meters.filter(pl.col("counter") == "goodput_bytes").join(others, on="endpoint")
    new_bytes = pl.col("change").cast(pl.Int64)
    return pl.concat([first_arrivals(record), counted.select("end", ended_ns="time_ns", new_bytes=new_bytes)])


def active_times(record: Record) -> pl.DataFrame:
    """The shorter of the time in which the end was a member and the time in which its sender was active, in T."""
    sender = record.sender_active.select("flow", sender_s="value")
    member = record.ends.join(active_s(record), on="end", how="left")
    both = member.join(sender, on="flow", how="left").with_columns(
        pl.col("value").fill_null(0), pl.col("sender_s").fill_null(0)
    )
    return both.select("end", active_s=pl.min_horizontal("value", "sender_s"))


def while_active(record: Record, rates: pl.DataFrame) -> pl.DataFrame:
    """A rate over |T| as a rate over the active time; empty if that is zero."""
    rows = rates.join(active_times(record), on="end").filter(pl.col("active_s") > 0)
    return rows.select("end", value=pl.col("value") * record.span_s / pl.col("active_s"))


@RECEIVERS.number()
def active_throughput_bps(record: Record) -> pl.DataFrame:
    """8 × bytes of data packets that arrived in T / active time in T."""
    return while_active(record, throughput_bps(record))


@RECEIVERS.number()
def active_goodput_bps(record: Record) -> pl.DataFrame:
    """8 × payload bytes that arrived for the first time in T / active time in T."""
    return while_active(record, goodput_bps(record))


@RECEIVERS.number()
def loss_ratio(record: Record) -> pl.DataFrame:
    """Unicast: data dropped / (data dropped + data arrived). Groups: missing / (missing + arrived)."""
    arrived = record.arrivals.group_by("end").agg(arrived=pl.len())
    lost = record.lost.filter("data").group_by("flow").agg(lost=pl.len())
    missing = of_ends(record, record.counter("missing")).select("end", missing="value")
    rows = record.ends.join(record.flows.select("flow", "receivers"), on="flow")
    for frame, key in ((arrived, "end"), (lost, "flow"), (missing, "end")):
        rows = rows.join(frame, on=key, how="left")
    rows = rows.with_columns(pl.col("arrived", "lost", "missing").fill_null(0))
    several = is_group()
    gone = pl.when(several).then(pl.col("missing")).otherwise(pl.col("lost"))
    rows = rows.with_columns(gone=gone).filter(pl.col("gone") + pl.col("arrived") > 0)
    return rows.select("end", value=pl.col("gone") / (pl.col("gone") + pl.col("arrived")))


def is_group() -> pl.Expr:
    """Whether a flow has several receivers."""
    return pl.col("receivers") > 1


@RECEIVERS.number()
def owd_s(record: Record) -> pl.DataFrame:
    """Mean of arrival − departure over the data packets that arrived in T."""
    return record.arrivals.group_by("end").agg(value=pl.col("owd_ns").mean() / NS)


@RECEIVERS.number()
def owd_min_s(record: Record) -> pl.DataFrame:
    """Minimum of these delays."""
    return record.arrivals.group_by("end").agg(value=pl.col("owd_ns").min() / NS)


@RECEIVERS.number()
def owd_max_s(record: Record) -> pl.DataFrame:
    """Maximum of these delays."""
    return record.arrivals.group_by("end").agg(value=pl.col("owd_ns").max() / NS)


@RECEIVERS.number()
def queueing_delay_s(record: Record) -> pl.DataFrame:
    """Mean over the data packets that arrived in T of the sum of their waits in queues."""
    return record.arrivals.group_by("end").agg(value=pl.col("wait_ns").mean() / NS)


@RECEIVERS.number()
def base_delay_s(record: Record) -> pl.DataFrame:
    """Mean over the same packets of one-way delay − sum of waits."""
    return record.arrivals.group_by("end").agg(value=(pl.col("owd_ns") - pl.col("wait_ns")).mean() / NS)


def _percentile(record: Record, share: float) -> pl.DataFrame:
    return record.arrivals.group_by("end").agg(value=nearest_rank("wait_ns", share) / NS)


@RECEIVERS.percentile()
def queueing_delay_p50_s(record: Record) -> pl.DataFrame:
    """Median (nearest rank) of the sums of waits."""
    return _percentile(record, 0.50)


@RECEIVERS.percentile()
def queueing_delay_p95_s(record: Record) -> pl.DataFrame:
    """95th percentile of them."""
    return _percentile(record, 0.95)


@RECEIVERS.percentile()
def queueing_delay_p99_s(record: Record) -> pl.DataFrame:
    """99th percentile of them."""
    return _percentile(record, 0.99)


def _counted(*names: str) -> None:
    for name in names:

        def compute(record: Record, name: str = name) -> pl.DataFrame:
            return of_ends(record, record.counter(name))

        compute.__doc__ = f"Sum of the changes of the counter `{name}` of the receiver in T."
        RECEIVERS.count(name)(compute)


_counted(
    "suppressed",
    "missing",
    "reordered",
    "late",
    "signals",
    "frames_played",
    "frames_late",
    "frames_undecodable",
    "stalls",
)


@RECEIVERS.count()
def feedback_packets(record: Record) -> pl.DataFrame:
    """Number of feedback packets that the receiver sent in T."""
    rows = record.own.filter(
        (pl.col("kind") == "feedback") & pl.col("copy_of").is_null() & record.measured("created_ns")
    )
    sums = rows.group_by("flow", "source").agg(value=pl.len())
    return record.ends.join(sums, left_on=["flow", "endpoint"], right_on=["flow", "source"]).select(
        "end", "value"
    )


@RECEIVERS.count()
def marks(record: Record) -> pl.DataFrame:
    """Number of packets that carried a congestion mark when the receiver took them in T."""
    return record.arrived.filter("marked").group_by("end").agg(value=pl.len())


@RECEIVERS.count()
def frames_lost(record: Record) -> pl.DataFrame:
    """Frames that were incomplete when they were due, less those that became complete later."""
    missed = of_ends(record, record.counter("frames_missed"))
    late = of_ends(record, record.counter("frames_late")).select("end", late="value")
    rows = missed.join(late, on="end", how="left")
    return rows.select("end", value=pl.col("value") - pl.col("late").fill_null(0))


@RECEIVERS.number()
def stalled_s(record: Record) -> pl.DataFrame:
    """Sum of the durations of its stalls in T, of receivers that play a video."""
    sums = of_ends(record, record.counter("stall_nanos"))
    players = record.ends.join(record.flows.filter("plays").select("flow"), on="flow", how="semi").select(
        "end"
    )
    rows = players.join(sums, on="end", how="left")
    return rows.select("end", value=pl.col("value").fill_null(0) / NS)


@RECEIVERS.number()
def startup_s(record: Record) -> pl.DataFrame:
    """From the start of its flow, or its join if that was later, until playback started."""
    playing = (
        record.meters.filter(pl.col("counter") == "playing").group_by("endpoint").agg(pl.col("time_ns").min())
    )
    starts = record.started.select("endpoint", start_ns="time_ns")
    rows = record.ends.join(playing, on="endpoint").join(starts, on="endpoint", how="left")
    senders = record.flows.select("flow", endpoint="sender").join(starts, on="endpoint")
    rows = rows.join(senders.select("flow", flow_start_ns="start_ns"), on="flow", how="left")
    begin = pl.max_horizontal("start_ns", "flow_start_ns")
    return rows.select("end", value=(pl.col("time_ns") - begin) / NS)
