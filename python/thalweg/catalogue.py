"""The catalogue: schemes, strategies, metrics, series, and the keys of a scenario."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from collections.abc import Collection


@cache
def schemes() -> list[dict[str, Any]]:
    """Every scheme: `{name, title, families, transport, router, rack, documented, sources, params}`, ordered by name."""
    rows: list[dict[str, Any]] = json.loads(_native.schemes())
    return rows


@cache
def strategies() -> list[dict[str, Any]]:
    """Forwarding strategies for named data that belong to no scheme: `{name, title, params}`."""
    rows: list[dict[str, Any]] = json.loads(_native.strategies())
    return rows


@cache
def trace_models() -> list[dict[str, Any]]:
    """Models of links: `{name, about, mean_bps, low_bps, high_bps, outage, period_s}`.

    `low_bps` and `high_bps` are the 10th and the 90th percentile of the rate over time, `outage` is the share of time
    at rate 0; all are of the trace with seed 1.
    """
    rows: list[dict[str, Any]] = json.loads(_native.trace_models())
    return rows


@cache
def systems() -> list[dict[str, str]]:
    """Systems that the papers name and Thalweg lacks: `{name, text, named_by, known, missing}`, in the order of names."""
    text = files(__package__).joinpath("systems.toml").read_text(encoding="utf-8")
    rows: list[dict[str, str]] = tomllib.loads(text)["system"]
    return rows


@cache
def metrics() -> list[dict[str, str]]:
    """Every column and key of a result: `{table, name, unit, definition, measured}`."""
    return [
        {key: row[key] for key in ("table", "name", "unit", "definition", "measured")} for row in columns()
    ]


@cache
def columns() -> list[dict[str, Any]]:
    """The rows of `metrics`, each with how it is printed: `{…, display, factor, shown, groups}`.

    `display` is the printed unit, empty for values that are printed as they are, `factor` that from `unit`. `shown` and
    `groups`, which is of the table of groups, are `{place, heading, rank, unless_zero, in_full}`, or None for what is not
    printed there.
    """
    rows: list[dict[str, Any]] = json.loads(_native.metrics())
    return rows


@cache
def series() -> list[dict[str, str]]:
    """Every series that can be recorded: `{name, unit, subject, definition, offered_by}`."""
    rows: list[dict[str, str]] = json.loads(_native.series())
    return rows


@cache
def renames() -> list[tuple[str, str]]:
    """Names of earlier versions: `(old, new)` of keys, parameters, series and columns."""
    return [(old, new) for old, new in json.loads(_native.renamed())]


def renamed(word: str, known: Collection[str]) -> str | None:
    """The current name of `word`, if that is one of `known`; None otherwise."""
    return next((new for old, new in renames() if old == word and new in known), None)


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    tree: dict[str, Any] = json.loads(_native.schema())
    return tree


def units(table: str) -> dict[str, str]:
    """Unit of each column of a table that has one."""
    return {row["name"]: row["unit"] for row in metrics() if row["table"] == table and row["unit"]}
