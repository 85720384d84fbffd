"""The table `summary`: one number per dotted key, from the recomputed tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import groups, series
from .apps import APPS
from .columns import Table
from .flows import FLOWS
from .links import LINKS, packet_hops
from .nodes import NODES
from .receivers import RECEIVERS
from .record import NS, Record
from .tables import slack_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

Values = dict[str, tuple[str, float | None] | tuple[str, float | None, float]]
"""Key → kind of comparison, value, and the difference that counts as equal."""


def summary(
    record: Record,
    tables: Mapping[str, pl.DataFrame],
    rates: series.Rates | None,
) -> Values:
    """Every key that can be recomputed. `rates` are the rates over time."""
    found: Values = {}
    for prefix, table, name in (
        ("flow", FLOWS, "{flow}"),
        ("receiver", RECEIVERS, "{flow}@{node}"),
        ("node", NODES, "{node}"),
        ("app", APPS, "{app}"),
    ):
        for row in tables[table.name].rows(named=True):
            _of_row(found, f"{prefix}.{name.format(**row)}", table, row)
    for row in tables["links"].rows(named=True):
        back = ".backward" if row["direction"] == "backward" else ""
        _of_row(found, f"link.{row['link']}{back}", LINKS, row)
    rows = tables["flows"].rows(named=True)
    for number, row in enumerate(rows):
        for key, value in series.of_flow(record, number, rates).items():
            found[f"flow.{row['flow']}.{key}"] = value
        power = groups.ratio(row["throughput_bps"], row["owd_s"])
        found[f"flow.{row['flow']}.power"] = ("float", power)
    for key, value in groups.values(record, rows, range(len(rows)), rates).items():
        found[f"flows.{key}"] = value
    for group in record.names["groups"]:
        own = [rows[number] for number in group["flows"]]
        for key, value in groups.values(record, own, group["flows"], rates).items():
            found[f"flows.{group['name']}.{key}"] = value
    found["run.packet_hops"] = ("count", packet_hops(record))
    found["run.ended"] = ("float", record.end_ns / NS)
    found["run.measured"] = ("float", record.span_s)
    return found


def _of_row(found: Values, subject: str, table: Table, row: Mapping[str, float | None]) -> None:
    for name, column in table.columns.items():
        if column.kind != "text":
            slack = row.get(slack_of(name)) or 0.0
            found[f"{subject}.{groups.key_of(name)}"] = (column.kind, row[name], slack)
