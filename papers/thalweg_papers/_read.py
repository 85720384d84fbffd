"""Reading the tables of a result into arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def series(
    result: Any, name: str, subjects: Iterable[str] | Callable[[str], bool] | None = None
) -> dict[str, Array]:
    """Values of a series by subject, on the times of `times`; all subjects, those listed, or those that fit.

    A subject that starts late or ends early has NaN where it has no value.
    """
    import polars

    grid = times(result, name)
    table = result.series.filter(polars.col("series") == name)
    if subjects is not None and not callable(subjects):
        table = table.filter(polars.col("subject").is_in(list(subjects)))
    found: dict[str, Array] = {}
    for (subject,), part in table.group_by("subject", maintain_order=True):
        if callable(subjects) and not subjects(str(subject)):
            continue
        values = np.full(len(grid), np.nan)
        values[np.searchsorted(grid, part["time_s"].to_numpy() - 1e-9)] = part["value"].to_numpy()
        found[str(subject)] = values
    return found


def times(result: Any, name: str) -> Array:
    """Every time at which the series has a value, in seconds."""
    import polars

    column = result.series.filter(polars.col("series") == name)["time_s"]
    return np.asarray(column.unique().sort().to_numpy(), dtype=np.float64)


def one(result: Any, name: str, subject: str) -> tuple[Array, Array]:
    """Times and values of one subject's series; empty when it was not recorded."""
    import polars

    part = result.series.filter((polars.col("series") == name) & (polars.col("subject") == subject))
    return part["time_s"].to_numpy().astype(np.float64), part["value"].to_numpy().astype(np.float64)


def events(result: Any, name: str, subject: str | None = None) -> tuple[Array, Array, list[str]]:
    """Times, numbers and subjects of the events called ``name``."""
    import polars

    part = result.events.filter(polars.col("event") == name)
    if subject is not None:
        part = part.filter(polars.col("subject") == subject)
    return (
        part["time_s"].to_numpy().astype(np.float64),
        part["value"].to_numpy().astype(np.float64),
        part["subject"].to_list(),
    )


def link(result: Any, name: str) -> dict[str, Any]:
    """The row of a link's forward direction."""
    import polars

    row: dict[str, Any] = result.links.filter(
        (polars.col("link") == name) & (polars.col("direction") == "forward")
    ).row(0, named=True)
    return row


def flow(result: Any, name: str) -> dict[str, Any]:
    """The row of a flow."""
    import polars

    row: dict[str, Any] = result.flows.filter(polars.col("flow") == name).row(0, named=True)
    return row


def active_rate(row: dict[str, Any]) -> float:
    """Rate of a flow's sender over its receivers' active time, in bit/s, from its row."""
    return 8 * float(row["sent_bytes"]) / float(row["active_s"])


def node(result: Any, name: str) -> dict[str, Any]:
    """The row of a node that knows names."""
    import polars

    row: dict[str, Any] = result.nodes.filter(polars.col("node") == name).row(0, named=True)
    return row


def group(result: Any, name: str) -> list[dict[str, Any]]:
    """The rows of all flows of a group, in the order of their numbers."""
    import polars

    rows: list[dict[str, Any]] = result.flows.filter(polars.col("group") == name).to_dicts()
    return rows
