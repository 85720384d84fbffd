"""Every table of a run, recomputed from its packet record."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from .apps import APPS, EXCHANGES
from .columns import Table
from .flows import FLOWS
from .links import LINKS, ports
from .nodes import NODES, machines
from .receivers import RECEIVERS
from .record import Record

TABLES = (FLOWS, RECEIVERS, LINKS, NODES, APPS, EXCHANGES)
"""Tables whose columns are recomputed; `summary` follows from them."""

TYPES = {
    "count": pl.Float64,
    "float": pl.Float64,
    "percentile": pl.Float64,
    "text": pl.String,
}


def recompute(record: Record) -> dict[str, pl.DataFrame]:
    """Each table with its keys and every column that is recomputed, in the order of the record."""
    return {table.name: _table(record, table) for table in TABLES}


def rows_of(record: Record, table: Table) -> tuple[str, pl.DataFrame]:
    """Name of the column that numbers the rows of a table in the record, and the rows with their keys."""
    if table is FLOWS:
        return "flow", record.flows.select("flow", key_flow="name")
    if table is RECEIVERS:
        names = record.flows.select("flow", "transport", key_flow="name")
        rows = record.ends.join(names, on="flow", maintain_order="left").filter(pl.col("transport") != "ndn")
        return "end", rows.select("end", "key_flow", key_node="node")
    if table is LINKS:
        return "port", ports(record).select("port", key_link="link", key_direction="direction")
    if table is NODES:
        numbers = machines(record)["row"].unique().sort().to_list()
        return "row", _frame("key_node", numbers, [record.names["nodes"][number] for number in numbers])
    apps = [app["name"] for app in record.names["apps"]]
    if table is APPS:
        return "row", _frame("key_app", range(len(apps)), apps)
    listed = record.exchanges.sort("app", "number").with_row_index("row")
    own = [apps[app] for app in listed["app"].to_list()]
    return "row", listed.select("row", key_app=pl.Series(own, dtype=pl.String), key_number="number")


def _frame(key: str, numbers: Iterable[int], names: Iterable[str]) -> pl.DataFrame:
    return pl.DataFrame({"row": list(numbers), key: list(names)}, schema={"row": pl.Int64, key: pl.String})


def _table(record: Record, table: Table) -> pl.DataFrame:
    number, rows = rows_of(record, table)
    keys = [pl.col(f"key_{name}").alias(name) for name in table.keys]
    done = rows.select(pl.col(number).cast(pl.Int64).alias("#"), *keys)
    for name, column in table.columns.items():
        found = column.compute(record)
        value = name if column.kind == "text" and name in found.columns else "value"
        found = found.select(
            pl.col(number).cast(pl.Int64).alias("#"), pl.col(value).cast(TYPES[column.kind]).alias(name)
        )
        done = done.join(found, on="#", how="left", maintain_order="left")
        if column.slack is not None:
            allowed = column.slack(record).select(
                pl.col(number).cast(pl.Int64).alias("#"),
                pl.col("value").cast(pl.Float64).alias(slack_of(name)),
            )
            done = done.join(allowed, on="#", how="left", maintain_order="left")
        if column.absent is not None:
            done = done.with_columns(pl.col(name).fill_null(column.absent))
    return done.drop("#")


def slack_of(name: str) -> str:
    """Name of the column that holds the difference up to which values of a column count as equal."""
    return f"slack of {name}"
