"""The series of a run as figures show them: a flow's window or smoothed round-trip time ends when the flow does.

A sender that has stopped keeps its state, which the simulator samples until the end of the run. In a figure such a line says
that the flow still has a window. `series.parquet` and CSV have every sample.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .catalogue import series
from .event_labels import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars

    from .result import Result

Span = tuple[float, float]

OF_INTERVALS = "any run"
"""Offers the series that are sums or means over an interval: of a flow that has stopped they are zero, which is a result."""


def drawn_series(run: Result) -> polars.DataFrame:
    """The recorded values over time; null where they are the state of a flow that is over, or has not started again.

    A series in which nothing else was sampled stays as it is.
    """
    import polars as pl

    states = [
        row["name"] for row in series() if row["subject"] == "flow" and row["offered_by"] != OF_INTERVALS
    ]
    schema = {"subject": pl.String, "begin": pl.Float64, "end": pl.Float64}
    idle = pl.DataFrame(list(_idle(run)), schema=schema, orient="row")
    rows = run.series.with_row_index("row")
    # at its end it still has the state
    over = (
        rows.filter(pl.col("series").is_in(states))
        .join(idle, on="subject")
        .filter((pl.col("time_s") > pl.col("begin")) & (pl.col("time_s") < pl.col("end")))
    )
    value = pl.when(pl.col("row").is_in(over["row"].implode())).then(None).otherwise(pl.col("value"))
    drawn = value.is_not_null().any().over("series")
    return rows.with_columns(pl.when(drawn).then(value).otherwise(pl.col("value")).alias("value")).drop("row")


def _idle(run: Result) -> Iterator[tuple[str, float, float]]:
    """Subjects with times in which the flow is over: it has stopped, or all of its data have arrived."""
    if run.flows.is_empty():
        return
    # churn is not in the plan: nothing says when such a flow is idle
    planned = {flow["name"]: flow for flow in run.plan.get("flows", []) if "churn" not in flow}
    completed = dict(run.flows.select("flow", "completed_s").iter_rows())
    for name, flow in planned.items():
        events = [event for event in run.plan.get("events", []) if event.get("flow") == name]
        for begin, end in idle_spans(flow, events, completed.get(name)):
            yield f"flow.{name}", begin, end


def idle_spans(
    flow: Mapping[str, Any], events: list[Mapping[str, Any]], completed: float | None
) -> list[Span]:
    """The times from a stop of a flow, or from its completion, to its next start."""
    changes = [
        (seconds(event["at"]), event["action"])
        for event in events
        if event.get("action") in ("start", "stop")
    ]
    if (stop := flow.get("stop", "never")) != "never":
        changes.append((seconds(stop), "stop"))
    if completed is not None:
        changes.append((completed, "stop"))
    spans: list[Span] = []
    since: float | None = None
    for at, action in sorted(changes):
        if action == "stop":
            since = at if since is None else since
        elif since is not None:
            spans.append((since, at))
            since = None
    return spans if since is None else [*spans, (since, math.inf)]
