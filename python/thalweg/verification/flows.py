"""The table `flows`, from packets. T is the measured span, |T| its length.

A flow with several receivers has means over its members, and sums of their counts. A consumer of named data is its own
receiver.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from . import receivers
from .columns import Table, nearest_rank
from .record import NS, Record

FLOWS = Table(
    "flows",
    ("flow",),
    without={
        "prefix": "a text of the scenario, which is no measurement",
    },
)

REASONS = (
    *("queue_full", "early", "random_loss", "link_down", "policed", "corrupted"),
    *("no_route", "not_listening", "hop_limit"),
)
"""Reasons of drops, the names of the columns `drops_*`."""

Value = Callable[[Record], pl.DataFrame]


def of_flows(record: Record, endpoints: pl.DataFrame) -> pl.DataFrame:
    """Values of senders as values of their flows."""
    return record.flows.join(endpoints, left_on="sender", right_on="endpoint").select("flow", "value")


def members(record: Record) -> pl.DataFrame:
    """Ends that were members at some time in T; all ends of a flow that had none."""
    active = receivers.active_s(record).filter(pl.col("value") > 0).select("end", member=pl.lit(value=True))
    rows = record.ends.join(active, on="end", how="left").with_columns(
        pl.col("member").fill_null(value=False)
    )
    return rows.filter(pl.col("member") | ~pl.col("member").any().over("flow"))


def over_members(record: Record, values: pl.DataFrame, how: Callable[[pl.Expr], pl.Expr]) -> pl.DataFrame:
    """A value of each flow, from the values of its members."""
    rows = members(record).join(values, on="end")
    return rows.group_by("flow").agg(value=how(pl.col("value")))


def summed(record: Record, values: pl.DataFrame) -> pl.DataFrame:
    """The sum over all ends of each flow."""
    return record.ends.join(values, on="end").group_by("flow").agg(pl.col("value").sum())


# texts and times


@FLOWS.text("group", "scheme", "transport", "from")
def names(record: Record) -> pl.DataFrame:
    """As `record.json` names it; of a transport stack the controller of the plan."""
    schemes = [scheme_of(record, flow) for flow in record.names["flows"]]
    return record.flows.with_columns(scheme=pl.Series(schemes, dtype=pl.String))


def scheme_of(record: Record, flow: Mapping[str, Any]) -> str | None:
    """The scheme of a flow of `record.json`, or the controller of its transport stack; None without one."""
    if flow["scheme"] is not None:
        return str(flow["scheme"])
    for entry in record.plan["flows"]:
        if flow["name"] == entry["name"] or flow["name"].startswith(entry["name"] + "."):
            own: str | None = entry.get("controller")
            return own
    return None


@FLOWS.count("receivers")
def receiver_count(record: Record) -> pl.DataFrame:
    """Number of its receivers; none for a consumer."""
    rows = record.flows.filter(pl.col("transport") != "ndn")
    return rows.select("flow", value="receivers")


@FLOWS.number()
def started_s(record: Record) -> pl.DataFrame:
    """Time of the first start of the sender."""
    return of_flows(record, record.started.select("endpoint", value=pl.col("time_ns") / NS))


@FLOWS.number()
def completed_s(record: Record) -> pl.DataFrame:
    """Time at which a finite transfer was complete at its sender: TCP: its acknowledgement of all data arrived."""
    counted = of_flows(record, record.completed.select("endpoint", value=pl.col("time_ns") / NS))
    return pl.concat([counted.join(_acknowledged(record), on="flow", how="anti"), _acknowledged(record)])


def _acknowledged(record: Record) -> pl.DataFrame:
    """TCP: the time at which an acknowledgement of all payload reached the sender, of flows that started once."""
    once = record.phases.group_by("endpoint").len().filter(pl.col("len") == 1).select(sender="endpoint")
    finite = record.flows.filter((pl.col("transport") == "tcp") & (pl.col("size_bytes") > 0)).join(
        once, on="sender"
    )
    acks = record.own.filter(
        (pl.col("kind") == "tcp") & (pl.col("end") == "delivered") & (pl.col("taken_by") == pl.col("sender"))
    )
    whole = finite.select("flow", whole="size_bytes")
    rows = acks.join(whole, on="flow").filter(pl.col("ack") >= pl.col("whole"))
    return rows.group_by("flow").agg(value=pl.col("ended_ns").min() / NS)


@FLOWS.number()
def active_s(record: Record) -> pl.DataFrame:
    """Time in T in which the sender was active; it ends when a finite transfer is complete."""
    return record.sender_active


@FLOWS.number()
def fct_s(record: Record) -> pl.DataFrame:
    """completed_s − started_s of a finite transfer."""
    rows = completed_s(record).join(started_s(record).select("flow", start="value"), on="flow")
    return rows.select("flow", value=pl.col("value") - pl.col("start"))


# what the sender sent


@FLOWS.count()
def sent_packets(record: Record) -> pl.DataFrame:
    """Number of packets that the sender sent in T."""
    return record.sent.group_by("flow").agg(value=pl.len())


@FLOWS.count()
def sent_bytes(record: Record) -> pl.DataFrame:
    """Sum of their sizes."""
    return record.sent.group_by("flow").agg(value=pl.col("size_bytes").sum())


def _rate(record: Record, *, consumers: bool) -> pl.DataFrame:
    is_consumer = pl.col("transport") == "ndn"
    active = active_s(record).filter(pl.col("value") > 0).select("flow")
    rows = record.flows.filter(is_consumer if consumers else ~is_consumer).select("flow")
    rows = rows.join(active, on="flow", how="semi").join(sent_bytes(record), on="flow", how="left")
    return rows.select("flow", value=8 * pl.col("value").fill_null(0) / record.span_s)


@FLOWS.number()
def rate_bps(record: Record) -> pl.DataFrame:
    """8 × bytes that the sender sent in T / |T|; empty for a consumer, and if the flow was not active in T."""
    return _rate(record, consumers=False)


@FLOWS.number()
def interests_bps(record: Record) -> pl.DataFrame:
    """8 × bytes of the Interests that a consumer sent in T / |T|."""
    return _rate(record, consumers=True)


@FLOWS.count()
def retransmits(record: Record) -> pl.DataFrame:
    """TCP: segments in T whose first byte was sent before in the connection. Others: as the sender counts them."""
    from .goodput import connections

    data = record.own.filter(
        (pl.col("kind") == "tcp")
        & pl.col("copy_of").is_null()
        & (pl.col("source") == pl.col("sender"))
        & (pl.col("payload_bytes") > 0)
    )
    rows = connections(record, data).sort("created_ns", "packet")
    end = pl.col("number") + pl.col("payload_bytes")
    highest = end.cum_max().shift(1).over("flow", "connection")
    again = rows.filter((pl.col("number") < highest) & record.measured("created_ns"))
    sums = again.group_by("flow").agg(value=pl.len())
    others = record.flows.filter(pl.col("transport") != "tcp").select("flow")
    counted = of_flows(record, record.counter("retransmits")).join(others, on="flow", how="semi")
    return pl.concat([sums.select("flow", pl.col("value").cast(pl.Int64)), counted])


def _of_senders(*names: str) -> None:
    for name in names:

        def compute(record: Record, name: str = name) -> pl.DataFrame:
            return of_flows(record, record.counter(name))

        compute.__doc__ = f"Sum of the changes of the counter `{name}` of the sender in T."
        FLOWS.count(name)(compute)


def _of_both(*names: str) -> None:
    for name in names:

        def compute(record: Record, name: str = name) -> pl.DataFrame:
            both = pl.concat([of_flows(record, record.counter(name)), _at_receivers(record, name)])
            return both.group_by("flow").agg(pl.col("value").sum())

        compute.__doc__ = f"Sum of the changes of the counter `{name}` of the sender and the receivers in T."
        FLOWS.count(name)(compute)


def _at_receivers(record: Record, name: str) -> pl.DataFrame:
    """The sum of a counter over the receivers of each flow, without consumers, which are senders."""
    ends = record.ends.join(record.flows.select("flow", "sender"), on="flow")
    ends = ends.filter(pl.col("endpoint") != pl.col("sender"))
    rows = ends.join(record.counter(name), on="endpoint")
    return rows.group_by("flow").agg(pl.col("value").sum())


_of_senders("timeouts", "episodes", "nacks", "frames_dropped")
_of_both(
    "ignored",
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


# what arrived


@FLOWS.count()
def arrived_packets(record: Record) -> pl.DataFrame:
    """Number of packets that its receivers took in T; of a consumer, Data and NACKs."""
    return summed(record, receivers.packets(record))


@FLOWS.count()
def feedback_packets(record: Record) -> pl.DataFrame:
    """Number of feedback packets that its receivers sent in T."""
    return summed(record, receivers.feedback_packets(record))


@FLOWS.count()
def feedback_received(record: Record) -> pl.DataFrame:
    """Number of feedback packets that the sender took in T."""
    rows = record.own.filter(
        (pl.col("kind") == "feedback")
        & (pl.col("end") == "delivered")
        & (pl.col("taken_by") == pl.col("sender"))
        & record.measured("ended_ns")
    )
    return rows.group_by("flow").agg(value=pl.len())


@FLOWS.count()
def marks(record: Record) -> pl.DataFrame:
    """Congestion marks that its receivers received in T; where they do not count marks, those echoed to the sender."""
    at_receivers = _at_receivers(record, "marks")
    at_sender = of_flows(record, record.counter("marks"))
    return pl.concat([at_receivers, at_sender.join(at_receivers, on="flow", how="anti")])


@FLOWS.count()
def frames_lost(record: Record) -> pl.DataFrame:
    """Frames that were due and never complete, of all receivers."""
    return summed(record, receivers.frames_lost(record))


def _means(*columns: str) -> None:
    for name in columns:

        def compute(record: Record, name: str = name) -> pl.DataFrame:
            values = receivers.RECEIVERS.columns[name].compute(record)
            return over_members(record, values, pl.Expr.mean)

        compute.__doc__ = f"Mean of {name} over the receivers that were members in T."
        FLOWS.number(name)(compute)


_means(
    "throughput_bps", "goodput_bps", "active_throughput_bps", "active_goodput_bps", "stalled_s", "startup_s"
)


# loss


@FLOWS.number()
def loss_ratio(record: Record) -> pl.DataFrame:
    """Unicast: data drops / (data drops + data arrived). Groups: mean of the ratios of the members."""
    return over_members(record, receivers.loss_ratio(record), pl.Expr.mean)


@FLOWS.count()
def drops(record: Record) -> pl.DataFrame:
    """Packets of the flow that the network dropped in T."""
    return record.lost.group_by("flow").agg(value=pl.len())


@FLOWS.count()
def data_drops(record: Record) -> pl.DataFrame:
    """Of these, data packets."""
    return record.lost.filter("data").group_by("flow").agg(value=pl.len())


@FLOWS.count()
def ack_drops(record: Record) -> pl.DataFrame:
    """Of these, all others: acknowledgements, feedback, requests; of named data, Interests and NACKs."""
    return record.lost.filter(~pl.col("data")).group_by("flow").agg(value=pl.len())


@FLOWS.number()
def ack_loss_ratio(record: Record) -> pl.DataFrame:
    """Dropped / (dropped + arrived at the sender) of acknowledgements; named data: dropped / Interests sent."""
    rows = ack_counts(record).filter(pl.col("decided") > 0)
    return rows.select("flow", value=pl.col("lost") / pl.col("decided"))


def ack_counts(record: Record) -> pl.DataFrame:
    """Acknowledgements of each flow that were dropped, `lost`, and those whose fate is known, `decided`."""
    lost = ack_drops(record).select("flow", lost="value")
    back = record.own.filter(
        ~pl.col("data")
        & (pl.col("kind") != "signal")
        & (pl.col("end") == "delivered")
        & (pl.col("taken_by") == pl.col("sender"))
        # a signal comes from a router and not from the other end of the flow
        & (pl.col("kind") != "signal")
        & record.measured("ended_ns")
    )
    rows = record.flows.select("flow", "transport").join(lost, on="flow", how="left")
    rows = rows.join(back.group_by("flow").agg(back=pl.len()), on="flow", how="left")
    rows = rows.join(sent_packets(record).select("flow", sent="value"), on="flow", how="left")
    rows = rows.with_columns(pl.col("lost", "back", "sent").fill_null(0).cast(pl.Int64))
    # of the Interests that were dropped in T, some may have been sent before T
    asked = pl.max_horizontal("sent", "lost")
    decided = pl.when(pl.col("transport") == "ndn").then(asked).otherwise(pl.col("lost") + pl.col("back"))
    return rows.select("flow", "lost", decided=decided)


def _dropped(*reasons: str) -> None:
    for reason in reasons:

        def compute(record: Record, reason: str = reason) -> pl.DataFrame:
            rows = record.dropped.filter(pl.col("drop_reason") == reason)
            return rows.group_by("flow").agg(value=pl.len())

        compute.__doc__ = f"Packets of the flow that were dropped in T because of {reason}."
        FLOWS.count(f"drops_{reason}")(compute)


_dropped(*REASONS)


# delays


def pooled(record: Record) -> pl.DataFrame:
    """Data packets that arrived at any of the receivers of a flow in T."""
    return record.arrivals


@FLOWS.number()
def owd_s(record: Record) -> pl.DataFrame:
    """Mean of arrival − departure over the data packets that arrived in T."""
    return pooled(record).group_by("flow").agg(value=pl.col("owd_ns").mean() / NS)


@FLOWS.number()
def owd_min_s(record: Record) -> pl.DataFrame:
    """Minimum of these delays."""
    return pooled(record).group_by("flow").agg(value=pl.col("owd_ns").min() / NS)


@FLOWS.number()
def owd_max_s(record: Record) -> pl.DataFrame:
    """Maximum of these delays."""
    return pooled(record).group_by("flow").agg(value=pl.col("owd_ns").max() / NS)


@FLOWS.number()
def queueing_delay_s(record: Record) -> pl.DataFrame:
    """Mean over the data packets that arrived in T of the sum of their waits in queues."""
    return pooled(record).group_by("flow").agg(value=pl.col("wait_ns").mean() / NS)


@FLOWS.number()
def base_delay_s(record: Record) -> pl.DataFrame:
    """Mean over the same packets of one-way delay − sum of waits."""
    return pooled(record).group_by("flow").agg(value=(pl.col("owd_ns") - pl.col("wait_ns")).mean() / NS)


def wait_percentile(rows: pl.DataFrame, key: str, share: float) -> pl.DataFrame:
    """A percentile (nearest rank) of the sums of waits."""
    return rows.group_by(key).agg(value=nearest_rank("wait_ns", share) / NS)


@FLOWS.percentile()
def queueing_delay_p50_s(record: Record) -> pl.DataFrame:
    """Median (nearest rank) of the sums of waits."""
    return wait_percentile(pooled(record), "flow", 0.50)


@FLOWS.percentile()
def queueing_delay_p95_s(record: Record) -> pl.DataFrame:
    """95th percentile of them."""
    return wait_percentile(pooled(record), "flow", 0.95)


@FLOWS.percentile()
def queueing_delay_p99_s(record: Record) -> pl.DataFrame:
    """99th percentile of them."""
    return wait_percentile(pooled(record), "flow", 0.99)


@FLOWS.number()
def rtt_s(record: Record) -> pl.DataFrame:
    """Mean of the round-trip times that the sender measured in T."""
    rows = record.samples("rtt_ns").group_by("endpoint").agg(pl.col("change").sum(), pl.col("samples").sum())
    rows = rows.filter(pl.col("samples") > 0)
    return of_flows(record, rows.select("endpoint", value=pl.col("change") / pl.col("samples") / NS))


@FLOWS.number()
def rtt_min_s(record: Record) -> pl.DataFrame:
    """Minimum of these round-trip times."""
    rows = record.samples("rtt_ns").filter(pl.col("samples") > 0)
    rows = rows.group_by("endpoint").agg(value=(pl.col("change") / pl.col("samples")).min() / NS)
    return of_flows(record, rows)


# delays that endpoints report: of segments of named data, of frames, in an RTP queue


def delays(record: Record, *, of_queue: bool) -> pl.DataFrame:
    """Samples of `delay_ns`: of the RTP queue at a sender, of a consumer, or of the receivers of frames."""
    samples = record.samples("delay_ns").filter(pl.col("samples") > 0)
    ends = record.ends.join(record.flows.select("flow", "transport", "encodes"), on="flow")
    if of_queue:
        senders = record.flows.filter(pl.col("encodes")).select("flow", endpoint="sender")
        return senders.join(samples, on="endpoint")
    ends = ends.filter((pl.col("transport") == "ndn") | pl.col("encodes"))
    return ends.select("flow", "endpoint").join(samples, on="endpoint")


@FLOWS.number()
def delay_s(record: Record) -> pl.DataFrame:
    """Mean of the delays of segments or frames in T."""
    rows = delays(record, of_queue=False).group_by("flow").agg(pl.col("change", "samples").sum())
    return rows.select("flow", value=pl.col("change") / pl.col("samples") / NS)


@FLOWS.number()
def delay_std_s(record: Record) -> pl.DataFrame:
    """Standard deviation of these delays."""
    parts = delays(record, of_queue=False).group_by("flow")
    found = [(flow, deviation_s(part)) for (flow,), part in parts]
    return pl.DataFrame(found, schema={"flow": pl.Int64, "value": pl.Float64}, orient="row")


def deviation_s(samples: pl.DataFrame) -> float | None:
    """The standard deviation of samples of delays; None without samples, or if a row is the sum of several."""
    values = [change / NS for change in samples.filter(pl.col("samples") == 1)["change"].to_list()]
    if not values or len(values) != samples["samples"].sum():
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _of_delays(name: str, how: Callable[[], pl.Expr], about: str, *, of_queue: bool = False) -> None:
    def compute(record: Record) -> pl.DataFrame:
        rows = delays(record, of_queue=of_queue).with_columns(each=pl.col("change") / pl.col("samples"))
        if "_p" in name and not record.distributions:
            # distributions of delays of named data are recorded on demand
            frames = record.flows.filter(pl.col("transport") != "ndn").select("flow")
            rows = rows.join(frames, on="flow", how="semi")
        return rows.group_by("flow").agg(value=how() / NS)

    compute.__doc__ = about
    register = FLOWS.percentile if "_p" in name else FLOWS.number
    register(name)(compute)


_of_delays("delay_min_s", lambda: pl.col("each").min(), "Minimum of these delays.")
_of_delays("delay_max_s", lambda: pl.col("each").max(), "Maximum of these delays.")
for _percent in (5, 25, 50, 75, 95):
    _of_delays(
        f"delay_p{_percent}_s",
        lambda share=_percent / 100: nearest_rank("each", share),  # type: ignore[misc]
        f"{_percent}th percentile of these delays.",
    )
_of_delays(
    "rtp_queue_s",
    lambda: pl.col("change").sum() / pl.col("samples").sum(),
    "Mean wait of packets in the RTP queue of the sender in T.",
    of_queue=True,
)
_of_delays("rtp_queue_max_s", lambda: pl.col("each").max(), "Maximum of these waits.", of_queue=True)
_of_delays(
    "rtp_queue_p95_s", lambda: nearest_rank("each", 0.95), "95th percentile of these waits.", of_queue=True
)


# the worst receiver of a group


def _of_worst(name: str, column: str, how: Callable[[pl.Expr], pl.Expr], word: str) -> None:
    def compute(record: Record) -> pl.DataFrame:
        values = receivers.RECEIVERS.columns[column].compute(record)
        return over_members(record, values, how)

    compute.__doc__ = f"{word} of {column} over the members."
    FLOWS.number(name)(compute)


_of_worst("throughput_worst_bps", "throughput_bps", pl.Expr.min, "Minimum")
_of_worst("throughput_best_bps", "throughput_bps", pl.Expr.max, "Maximum")
_of_worst("goodput_worst_bps", "goodput_bps", pl.Expr.min, "Minimum")
_of_worst("loss_ratio_worst", "loss_ratio", pl.Expr.max, "Maximum")
_of_worst("queueing_delay_worst_s", "queueing_delay_s", pl.Expr.max, "Maximum")
_of_worst("owd_worst_s", "owd_s", pl.Expr.max, "Maximum")


@FLOWS.text()
def worst_receiver(record: Record) -> pl.DataFrame:
    """Node of the member with the lowest throughput; of several, that with the highest loss; of several, the first."""
    others = record.flows.filter(pl.col("transport") != "ndn").select("flow")
    rows = members(record).join(others, on="flow", how="semi")
    rows = rows.join(receivers.throughput_bps(record), on="end")
    loss = receivers.loss_ratio(record).select("end", loss="value")
    rows = rows.join(loss, on="end", how="left").with_columns(pl.col("loss").fill_null(0))
    rows = rows.sort(["flow", "value", "loss", "end"], descending=[False, False, True, False])
    return rows.group_by("flow", maintain_order=True).agg(value=pl.col("node").first())
