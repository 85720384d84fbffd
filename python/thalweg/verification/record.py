"""The packet record of a run: its files, and the selections of packets that metrics are computed from.

`docs/reference/packet-record.md` defines the files. Nothing here reads the counters of the simulator's metrics.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NS = 1_000_000_000

FLOW_KINDS = ("tcp", "datagram", "stream", "stream_control", "external")
"""Kinds of packets that carry data if the sender of a flow sent them."""

NOT_LOST = "not_listening"
"""The reason of a drop that the network did not cause."""


@dataclass(frozen=True, eq=False)
class Record:
    """The packets, hops, counters and activities of a run."""

    names: Mapping[str, Any]
    """The content of `record.json`."""
    packets: pl.DataFrame
    """One row per packet, with `place`, its place in the order in which packets ended."""
    hops: pl.DataFrame
    """One row per packet and port."""
    meters: pl.DataFrame
    """One row per change of a counter of an endpoint or of a node."""
    activity: pl.DataFrame
    """One row per start, stop and change of a link."""
    exchanges: pl.DataFrame
    """One row per exchange of an application."""
    plan: Mapping[str, Any]
    """The plan of the run: rates of qualities, events, intervals of series."""

    @classmethod
    def load(cls, folder: Path, plan: Mapping[str, Any]) -> Record:
        """Reads the folder of a record."""
        names = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        tables = {
            name: _signed(pl.read_parquet(folder / f"{name}.parquet"))
            for name in ("packets", "hops", "meters", "activity", "exchanges")
        }
        # rows of packets are in the order in which the packets ended, also of those that ended at one instant
        tables["packets"] = tables["packets"].with_columns(place=pl.int_range(pl.len()))
        return cls(names, plan=plan, **tables)

    @property
    def begin_ns(self) -> int:
        """Begin of the measured span."""
        return min(int(self.names["warmup_ns"]), self.end_ns)

    @property
    def end_ns(self) -> int:
        """End of the measured span, and of the run."""
        return int(self.names["ended_ns"])

    @property
    def span_s(self) -> float:
        """Length of the measured span."""
        return (self.end_ns - self.begin_ns) / NS

    @property
    def distributions(self) -> bool:
        """Whether the plan records distributions, without which some percentiles are not printed."""
        return bool(self.plan.get("record", {}).get("distributions", False))

    @property
    def events(self) -> int:
        """Number of packet events: packets that begin and end, and offers, starts, departures and arrivals at ports."""
        hops = self.hops
        times = ("offered_ns", "started_ns", "departed_ns", "arrived_ns", "dropped_ns")
        return 2 * self.packets.height + sum(hops.height - hops[name].null_count() for name in times)

    def measured(self, column: str) -> pl.Expr:
        """Whether a time lies in the measured span."""
        return pl.col(column).is_between(self.begin_ns, self.end_ns)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow: the columns of `record.json`, and `flow`, its number."""
        listed = self.names["flows"]
        sender = [flow["sender"] for flow in listed]
        return pl.DataFrame(
            {
                "flow": list(range(len(listed))),
                "name": [flow["name"] for flow in listed],
                "group": [flow["group"] for flow in listed],
                "scheme": [flow["scheme"] for flow in listed],
                "transport": [flow["transport"] for flow in listed],
                "cast": [flow["cast"] for flow in listed],
                "sender": sender,
                "from": [self.node_of(endpoint) for endpoint in sender],
                "receivers": [len(flow["receivers"]) for flow in listed],
                "header_bytes": [flow["header_bytes"] for flow in listed],
                "size_bytes": [flow["size_bytes"] for flow in listed],
                "encodes": [bool(flow["encodes"]) for flow in listed],
                "plays": [bool(flow["plays"]) for flow in listed],
            },
            schema_overrides={
                **dict.fromkeys(("flow", "sender", "receivers", "header_bytes", "size_bytes"), pl.Int64),
                **dict.fromkeys(("name", "group", "scheme", "transport", "cast", "from"), pl.String),
            },
        )

    def node_of(self, endpoint: int) -> str:
        """Name of the node of an endpoint."""
        return str(self.names["nodes"][self.names["endpoints"][endpoint]["node"]])

    @cached_property
    def ends(self) -> pl.DataFrame:
        """One row per end at which data of a flow arrive: its receivers, or the consumer of named data itself."""
        rows = []
        for number, flow in enumerate(self.names["flows"]):
            for endpoint in self._ends_of(flow):
                rows.append((number, endpoint, self.node_of(endpoint)))
        return pl.DataFrame(
            rows, schema={"flow": pl.Int64, "endpoint": pl.Int64, "node": pl.String}, orient="row"
        ).with_row_index("end", offset=0)

    @staticmethod
    def _ends_of(flow: Mapping[str, Any]) -> Sequence[int]:
        return [flow["sender"]] if flow["transport"] == "ndn" else flow["receivers"]

    @cached_property
    def own(self) -> pl.DataFrame:
        """Packets of flows, with `sender`, `transport`, and whether they are data."""
        packets = self.packets.join(self.flows.select("flow", "sender", "transport", "cast"), on="flow")
        onward = (pl.col("source") == pl.col("sender")) & pl.col("kind").is_in(FLOW_KINDS)
        data = pl.when(pl.col("transport") == "ndn").then(pl.col("kind") == "data").otherwise(onward)
        return packets.with_columns(data=data)

    @cached_property
    def sent(self) -> pl.DataFrame:
        """Packets that senders of flows sent in the measured span."""
        return self.own.filter(
            pl.col("copy_of").is_null() & (pl.col("source") == pl.col("sender")) & self.measured("created_ns")
        )

    @cached_property
    def delivered(self) -> pl.DataFrame:
        """Packets of flows that an end of the flow took, in the whole run; `end` is the number in `ends`."""
        ends = self.ends.select("flow", "end", taken_by="endpoint")
        taken = self.own.filter(pl.col("end") == "delivered").drop("end")
        return taken.join(ends, on=["flow", "taken_by"])

    @cached_property
    def arrived(self) -> pl.DataFrame:
        """Of these, those in the measured span."""
        return self.delivered.filter(self.measured("ended_ns"))

    @cached_property
    def arrivals(self) -> pl.DataFrame:
        """Data packets that arrived at an end in the measured span, with `owd_ns` and `wait_ns`, the sum of their waits."""
        rows = self.arrived.filter("data").with_columns(owd_ns=pl.col("ended_ns") - pl.col("sent_ns"))
        return rows.join(self.waits(rows), on="packet", how="left", maintain_order="left").with_columns(
            pl.col("wait_ns").fill_null(0)
        )

    def waits(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The sum of waits of each packet: its own, and the waits of packets of which it is a copy, until then."""
        waits = self.hops.filter(pl.col("started_ns").is_not_null()).select(
            "packet", "departed_ns", wait_ns=pl.col("started_ns") - pl.col("offered_ns")
        )
        found = [rows.select("packet").join(waits.select("packet", "wait_ns"), on="packet")]
        origin = self.packets.select("packet", "copy_of", "created_ns")
        chain = rows.filter(pl.col("copy_of").is_not_null()).select(
            "packet", origin="copy_of", until_ns="created_ns"
        )
        while not chain.is_empty():
            earlier = chain.join(waits, left_on="origin", right_on="packet")
            found.append(
                earlier.filter(pl.col("departed_ns") <= pl.col("until_ns")).select("packet", "wait_ns")
            )
            chain = (
                chain.join(origin, left_on="origin", right_on="packet")
                .filter(pl.col("copy_of").is_not_null())
                .select("packet", origin="copy_of", until_ns="created_ns")
            )
        return pl.concat(found).group_by("packet").agg(pl.col("wait_ns").sum())

    @cached_property
    def dropped(self) -> pl.DataFrame:
        """Packets of flows that were dropped in the measured span."""
        return self.own.filter((pl.col("end") == "dropped") & self.measured("ended_ns"))

    @cached_property
    def lost(self) -> pl.DataFrame:
        """Of these, those that the network dropped."""
        return self.dropped.filter(pl.col("drop_reason") != NOT_LOST)

    @cached_property
    def counters(self) -> pl.DataFrame:
        """Sum of the changes of each counter of each endpoint in the measured span."""
        rows = self.meters.filter(self.measured("time_ns"))
        return rows.group_by("endpoint", "counter").agg(pl.col("change").sum().alias("value"))

    def counter(self, name: str) -> pl.DataFrame:
        """A counter over the measured span: `endpoint` and `value`."""
        return self.counters.filter(pl.col("counter") == name).select("endpoint", "value")

    def samples(self, name: str) -> pl.DataFrame:
        """Samples of a counter in the measured span: `endpoint`, `change` and `samples`."""
        rows = self.meters.filter((pl.col("counter") == name) & self.measured("time_ns"))
        return rows.select("endpoint", "time_ns", "change", pl.col("samples").fill_null(1))

    @cached_property
    def completed(self) -> pl.DataFrame:
        """Time at which each endpoint reported that its transfer is complete, warm-up included: `endpoint` and `time_ns`."""
        rows = self.meters.filter(pl.col("counter") == "completed")
        return rows.group_by("endpoint").agg(pl.col("time_ns").max())

    @cached_property
    def phases(self) -> pl.DataFrame:
        """Times in which endpoints are active: `endpoint`, `begin_ns`, `end_ns`, warm-up included."""
        rows: list[tuple[int, int, int]] = []
        open_since: dict[int, int] = {}
        switches = self.activity.filter(pl.col("event").is_in(["started", "stopped"]))
        for endpoint, time_ns, event in switches.select("endpoint", "time_ns", "event").rows():
            if event == "started":
                open_since.setdefault(endpoint, time_ns)
            elif endpoint in open_since:
                rows.append((endpoint, open_since.pop(endpoint), time_ns))
        rows += [(endpoint, begin, self.end_ns) for endpoint, begin in open_since.items()]
        kinds = {"endpoint": pl.Int64, "begin_ns": pl.Int64, "end_ns": pl.Int64}
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def active(self, endpoints: pl.DataFrame) -> pl.DataFrame:
        """Seconds of the measured span in which each of the endpoints was active: `endpoint` and `value`.

        `endpoints` has the columns `endpoint` and `until_ns`, after which it counts as inactive, or empty.
        """
        begin = pl.max_horizontal(pl.col("begin_ns"), pl.lit(self.begin_ns))
        end = pl.min_horizontal(pl.col("end_ns"), pl.col("until_ns"), pl.lit(self.end_ns))
        rows = self.phases.join(endpoints, on="endpoint")
        length = pl.max_horizontal(end - begin, pl.lit(0))
        return rows.group_by("endpoint").agg(value=length.sum() / NS)

    @cached_property
    def sender_active(self) -> pl.DataFrame:
        """Seconds of the measured span in which the sender of each flow was active: `flow` and `value`.

        It is active until a finite transfer is complete.
        """
        done = self.completed.select("endpoint", until_ns="time_ns")
        senders = self.flows.select(endpoint="sender").unique().join(done, on="endpoint", how="left")
        active = self.flows.join(self.active(senders), left_on="sender", right_on="endpoint")
        rows = self.flows.select("flow").join(active.select("flow", "value"), on="flow", how="left")
        return rows.with_columns(pl.col("value").fill_null(0.0))

    @cached_property
    def started(self) -> pl.DataFrame:
        """First start of each endpoint: `endpoint` and `time_ns`."""
        return self.phases.group_by("endpoint").agg(time_ns=pl.col("begin_ns").min())


def _signed(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with signed integers, whose differences cannot wrap, and plain text."""
    unsigned = [name for name, kind in frame.schema.items() if kind.is_unsigned_integer()]
    texts = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Categorical | pl.Enum)]
    return frame.with_columns(pl.col(unsigned).cast(pl.Int64), pl.col(texts).cast(pl.String))
