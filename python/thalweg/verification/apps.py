"""The tables `apps` and `exchanges`, from the exchanges of the record. Rows are numbers of applications."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from ..quantities import base_value
from .columns import Table, nearest_rank
from .record import NS, Record

APPS = Table("apps", ("app",))
EXCHANGES = Table("exchanges", ("app", "number"))


def _apps(record: Record) -> pl.DataFrame:
    listed = record.names["apps"]
    return pl.DataFrame(
        {
            "row": list(range(len(listed))),
            "kind": [app["kind"] for app in listed],
            "node": [record.names["nodes"][app["node"]] for app in listed],
            "connections": [len(app["flows"]) for app in listed],
        },
        schema={"row": pl.Int64, "kind": pl.String, "node": pl.String, "connections": pl.Int64},
    )


@APPS.text("kind", "node")
def names(record: Record) -> pl.DataFrame:
    """As `record.json` names it."""
    return _apps(record)


@APPS.count()
def connections(record: Record) -> pl.DataFrame:
    """Number of its flows."""
    return _apps(record).select("row", value="connections")


def complete(record: Record) -> pl.DataFrame:
    """Exchanges that were completed, warm-up included."""
    rows = record.exchanges.filter(pl.col("completed_ns").is_not_null())
    return rows.with_columns(row="app", time_ns=pl.col("completed_ns") - pl.col("started_ns"))


@APPS.count()
def exchanges(record: Record) -> pl.DataFrame:
    """Number of completed exchanges."""
    return complete(record).group_by("row").agg(value=pl.len())


@APPS.count()
def exchange_bytes(record: Record) -> pl.DataFrame:
    """Sum of their payload."""
    return complete(record).group_by("row").agg(value=pl.col("bytes").sum())


@APPS.number()
def duration_s(record: Record) -> pl.DataFrame:
    """Mean of completion − first request."""
    return complete(record).group_by("row").agg(value=pl.col("time_ns").mean() / NS)


def _percentile(record: Record, share: float) -> pl.DataFrame:
    return complete(record).group_by("row").agg(value=nearest_rank("time_ns", share) / NS)


@APPS.number()
def duration_p50_s(record: Record) -> pl.DataFrame:
    """Median (nearest rank) of these times."""
    return _percentile(record, 0.50)


@APPS.number()
def duration_p95_s(record: Record) -> pl.DataFrame:
    """95th percentile of them."""
    return _percentile(record, 0.95)


@APPS.number()
def duration_p99_s(record: Record) -> pl.DataFrame:
    """99th percentile of them."""
    return _percentile(record, 0.99)


def _ladders(record: Record) -> pl.DataFrame:
    """Rates of the qualities of players: `row`, `quality` from 1, `rate` in bit/s."""
    found = []
    for number, app in enumerate(record.names["apps"]):
        if app["kind"] != "player":
            continue
        names = {record.names["flows"][flow]["name"] for flow in app["flows"]}
        entries = [flow for flow in record.plan["flows"] if _is_of(flow, names)]
        rates = entries[0]["app"]["rates"] if entries else []
        found += [(number, place, base_value(rate)) for place, rate in enumerate(rates, start=1)]
    schema = {"row": pl.Int64, "quality": pl.Int64, "rate": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row")


def _is_of(flow: dict[str, object], names: set[str]) -> bool:
    own = str(flow["name"])
    return "app" in flow and any(name == own or name.startswith(own + ".") for name in names)


def _segments(record: Record) -> pl.DataFrame:
    rows = complete(record).filter(pl.col("quality").is_not_null()).sort("row", "number")
    return rows.join(_ladders(record), on=["row", "quality"], maintain_order="left")


@APPS.count()
def switches(record: Record) -> pl.DataFrame:
    """Number of segments with another quality than the one before."""
    changed = pl.col("quality").diff().fill_null(0) != 0
    return _segments(record).group_by("row", maintain_order=True).agg(value=changed.sum())


@APPS.count()
def abandoned(record: Record) -> pl.DataFrame:
    """Requests for its segments that it abandoned, whether the segment was complete in the end or not."""
    rows = record.exchanges.filter(pl.col("quality").is_not_null())
    return rows.group_by(row="app").agg(value=pl.col("abandoned").sum())


@APPS.number()
def bitrate_bps(record: Record) -> pl.DataFrame:
    """Mean of the rates of the qualities of its segments."""
    return _segments(record).group_by("row").agg(value=pl.col("rate").mean())


@dataclass(frozen=True)
class Playback:
    """What a viewer saw, from the times at which segments arrived."""

    startup_s: float | None
    """From the first request to the start of playback."""
    stalls: int
    stalled_s: float


def playback(record: Record, number: int) -> Playback:
    """Plays the segments of a player: it starts, and resumes, when `startup` is buffered; it stops when nothing is.

    A stall that has not ended lasts until the end of the run. No stall follows the last segment of the video.
    """
    app = _entry(record, number)
    segment, needed = (round(base_value(app[key]) * NS) for key in ("segment", "startup"))
    rows = record.exchanges.filter(pl.col("app") == number).sort("number")
    if rows.is_empty():
        return Playback(None, 0, 0.0)
    first_ns = int(rows["started_ns"][0])
    arrivals = rows["completed_ns"].drop_nulls().to_list()
    buffered, playing, began, stalls, stalled = 0, False, None, 0, 0
    since = first_ns
    for arrival in [*arrivals, record.end_ns]:
        if playing and arrival - since > buffered:
            ran_out = since + buffered
            over = arrival == record.end_ns and len(arrivals) == app.get("count")
            if not over:
                playing, buffered, since = False, 0, ran_out
                stalls += 1
        if playing:
            buffered -= arrival - since
            since = arrival
        if not playing and began is not None:
            stalled += arrival - since
            since = arrival
        if arrival == record.end_ns:
            break
        buffered += segment
        if not playing and buffered >= needed:
            playing, since = True, arrival
            began = arrival if began is None else began
    return Playback(None if began is None else (began - first_ns) / NS, stalls, stalled / NS)


def _entry(record: Record, number: int) -> dict[str, Any]:
    """The keys of the application in the plan."""
    names = {record.names["flows"][flow]["name"] for flow in record.names["apps"][number]["flows"]}
    found: dict[str, Any] = next(flow["app"] for flow in record.plan["flows"] if _is_of(flow, names))
    return found


def _of_players(record: Record, value: Callable[[Playback], float | None]) -> pl.DataFrame:
    players = _apps(record).filter(pl.col("kind") == "player")["row"].to_list()
    rows = [(number, value(playback(record, number))) for number in players]
    return pl.DataFrame(rows, schema={"row": pl.Int64, "value": pl.Float64}, orient="row")


@APPS.count()
def stalls(record: Record) -> pl.DataFrame:
    """Number of stalls, warm-up included."""
    return _of_players(record, lambda played: played.stalls)


@APPS.number()
def stalled_s(record: Record) -> pl.DataFrame:
    """Sum of the durations of its stalls, warm-up included."""
    return _of_players(record, lambda played: played.stalled_s)


@APPS.number()
def startup_s(record: Record) -> pl.DataFrame:
    """From the first request to the start of playback."""
    return _of_players(record, lambda played: played.startup_s)


@APPS.number()
def qoe_bps(record: Record) -> pl.DataFrame:
    """(Σ rate − Σ |change of rate| − highest rate × (stalled + start-up)) / segments."""
    top = _ladders(record).group_by("row").agg(top=pl.col("rate").max())
    sums = (
        _segments(record)
        .group_by("row", maintain_order=True)
        .agg(
            total=pl.col("rate").sum(),
            change=pl.col("rate").diff().abs().sum(),
            segments=pl.len(),
        )
    )
    rows = sums.join(top, on="row")
    rows = rows.join(stalled_s(record).select("row", stalled="value"), on="row", how="left")
    rows = rows.join(startup_s(record).select("row", startup="value"), on="row", how="left")
    waited = pl.col("stalled").fill_null(0) + pl.col("startup").fill_null(0)
    score = (pl.col("total") - pl.col("change") - pl.col("top") * waited) / pl.col("segments")
    return rows.select("row", value=score)


def _rows(record: Record) -> pl.DataFrame:
    return record.exchanges.sort("app", "number").with_row_index("row")


def _exchange(name: str, value: pl.Expr, about: str, *, count: bool = False) -> None:
    def compute(record: Record) -> pl.DataFrame:
        return _rows(record).select("row", value=value)

    compute.__doc__ = about
    (EXCHANGES.count if count else EXCHANGES.number)(name)(compute)


_exchange("started_s", pl.col("started_ns") / NS, "Time of its first request.")
_exchange("completed_s", pl.col("completed_ns") / NS, "Time of its last byte.")
_exchange("duration_s", (pl.col("completed_ns") - pl.col("started_ns")) / NS, "The difference.")
_exchange("bytes", pl.col("bytes"), "Payload of the answers.", count=True)
_exchange("quality", pl.col("quality"), "Quality of the segment.", count=True)
_exchange("buffer_s", pl.col("buffer_ns") / NS, "Video in the buffer when the segment had arrived.")
_exchange("abandoned", pl.col("abandoned"), "Requests for the segment that were abandoned.", count=True)
