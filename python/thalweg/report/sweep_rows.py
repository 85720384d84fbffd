"""The points of a sweep as rows, with their metrics as text. Terminal and page share them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..stats import MIN_SEEDS, interval_text
from .columns import below_grain, expected_text, known, known_digits, unit_of
from .numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..result import Result

MAX_GROUPS = 3
"""Maximum number of flow names with separate columns."""

Row = dict[str, Any]

Interval = tuple[float | None, float | None, float | None]
"""A mean and the ends of its confidence interval, None where there is none."""


def key_metrics(result: Result) -> list[str]:
    """Metrics with a column: expectations, throughput, delay, fairness, completion times, fullest link, feedback."""
    expected: list[str] = result.expect["key"].to_list()
    groups = [key.split(".")[1] for key in result.values if re.fullmatch(r"flows\.[^.]+\.throughput", key)]
    each = groups if 2 <= len(groups) <= MAX_GROUPS else []
    throughput = [f"flows.{group}.throughput" for group in each] or ["flows.throughput"]
    waits = [f"flows.{group}.queueing_delay" for group in groups[:MAX_GROUPS]]
    delays = [key for key in waits if result.get(key) is not None]
    done = [f"flows.{group}" for group in groups if result.get(f"flows.{group}.completions")]
    times = [
        key
        for group in done[:MAX_GROUPS]
        for key in (f"{group}.fct", *([f"{group}.fct_p95"] * ((result.get(f"{group}.completions") or 0) > 1)))
    ]
    finite = [group for group in groups if result.get(f"flows.{group}.transfers")]
    transfers = [
        f"flows.{group}.{word}" for group in finite[:MAX_GROUPS] for word in ("transfers", "unfinished")
    ]
    fairness = ["flows.fairness"] if result.get("flows.fairness") is not None else []
    feedback_keys = [f"flows.{group}.feedback_received" for group in groups[:MAX_GROUPS]]
    feedback = [key for key in feedback_keys if result.get(key)]
    return list(
        dict.fromkeys(
            [
                *expected,
                *throughput,
                *delays,
                *fairness,
                *times,
                *transfers,
                *_bottleneck_utilisation(result),
                *feedback,
            ]
        )
    )


def points(summary: Iterable[Row], keys: list[str], metrics: list[str]) -> list[Row]:
    """One row per point of the grid: its keys, `n`, and for each metric `(mean, low, high)` in the unit for output.

    `low` and `high` are the ends of the confidence interval, None if there is none, and below three seeds: an interval of
    two values is too wide to mean anything.
    """
    found: dict[tuple[Any, ...], Row] = {}
    for row in summary:
        if row["metric"] not in metrics:
            continue
        point = found.setdefault(tuple(row[key] for key in keys), {**{key: row[key] for key in keys}, "n": 0})
        factor = unit_of(row["metric"])[1]
        point["n"] = max(point["n"], row["n"])
        # sweeps of earlier versions have no ends
        ends = [row.get(end) if row["n"] >= MIN_SEEDS else None for end in ("low", "high")]
        point[row["metric"]] = tuple(_times(value, factor) for value in (row["mean"], *ends))
    return list(found.values())


def add_samples(
    rows: list[Row], keys: list[str], metrics: list[str], runs: Iterable[tuple[Row, Row]]
) -> None:
    """Adds the key `samples` to the rows of `points`: the values of each metric with the seeds of its point, sorted.

    A run has the values of its keys before its record. Sweeps of earlier versions have no metrics of runs.
    """
    by_point: dict[tuple[Any, ...], dict[int, Row]] = {}
    for values, run in runs:
        by_point.setdefault(tuple(values[key] for key in keys), {})[run["seed"]] = run
    for row in rows:
        seeds = by_point.get(tuple(row[key] for key in keys), {}).values()
        row["samples"] = {}
        for metric in metrics:
            known = [run.get("metrics", {}).get(metric) for run in seeds]
            factor = unit_of(metric)[1]
            row["samples"][metric] = sorted(value * factor for value in known if value is not None)


def has_intervals(rows: Iterable[Row]) -> bool:
    """Whether a row of `points` has an interval."""
    return any(
        isinstance(value, tuple) and len(value) == 3 and value[1] is not None
        for row in rows
        for value in row.values()
    )


def heading(metric: str) -> str:
    """A metric with its unit."""
    unit = unit_of(metric)[0]
    return f"{metric} ({unit})" if unit else metric


def axis_label(metric: str) -> str:
    """The label of a metric's axis; the caption has the whole key."""
    return heading(metric).rpartition(".")[2].replace("_", " ")


def same_everywhere(rows: Sequence[Row], metrics: Sequence[str]) -> dict[str, str]:
    """Metrics whose mean is printed alike at all points that have it, with that text and its unit: they need no chart."""
    found = {}
    for metric in metrics:
        texts = {number(known(metric, row[metric][0])) for row in rows if metric in row}
        if len(rows) > 1 and len(texts) == 1:
            unit = unit_of(metric)[0]
            found[metric] = f"{texts.pop()} {unit}".rstrip()
    return found


def means_table(
    rows: list[Row], keys: list[str], metrics: list[str]
) -> tuple[list[tuple[str, str]], list[Row]]:
    """Columns and rows of the means."""
    listed = [
        {
            **{key: row[key] for key in keys},
            # one line each, with any number of columns
            **{
                metric: metric_text(metric, row[metric]).replace(" ", "\u00a0")
                for metric in metrics
                if metric in row
            },
            "n": row["n"],
        }
        for row in rows
    ]
    columns = [
        *((key, key) for key in keys),
        *((metric, heading(metric)) for metric in metrics),
        ("n", "seeds"),
    ]
    return columns, listed


def failed_cells(failures: Iterable[Row], keys: list[str]) -> list[Row]:
    """The failed expectations of a sweep, one row per point and key, for output.

    `measured` is the value or the range over the failed runs, in the unit for output; `runs` their number.
    """
    found: dict[str, tuple[Row, list[float]]] = {}
    for row in failures:
        point = {key: row[key] for key in keys}
        cell, values = found.setdefault(
            repr((point, row["key"])),
            (
                {
                    **point,
                    "key": row["key"],
                    "expected": expected_text(row["key"], row["expected"]),
                    "runs": 0,
                },
                [],
            ),
        )
        cell["runs"] += 1
        if row["measured"] is not None:
            values.append(row["measured"])
    return [{**cell, "measured": _range_text(cell["key"], values)} for cell, values in found.values()]


def failure_columns(keys: list[str]) -> list[tuple[str, str]]:
    """Keys and headings of `failed_cells`."""
    return [
        *((key, key.removeprefix("topology.")) for key in keys),
        *((word, word) for word in ("key", "expected", "measured")),
        ("runs", "failed runs"),
    ]


def _range_text(key: str, values: Sequence[float]) -> str:
    """`82.2 %`, or `82.2 … 83 %`."""
    unit, factor = unit_of(key)
    ends = (
        list(dict.fromkeys(number(known(key, value * factor), 4) for value in (min(values), max(values))))
        if values
        else ["–"]
    )
    return f"{' … '.join(ends)} {unit}".rstrip()


def mean_text(value: Interval, digits: int = 4) -> str:
    """`0.95 ± 0.01`, or `0.95 [0.91, 0.97]` if the sides of the interval differ."""
    mean, low, high = value
    if mean is None:
        return "–"
    return interval_text(mean, None if low is None or high is None else (low, high), number, digits)


def metric_text(metric: str, value: Interval, digits: int = 4) -> str:
    """The same for a metric, with no more digits than are known of it."""
    mean, low, high = value
    if mean is None or low is None or high is None or below_grain(metric, mean, low, high):
        return mean_text((known(metric, mean), None, None), digits)
    return mean_text(value, known_digits(metric, digits))


def _bottleneck_utilisation(result: Result) -> list[str]:
    """The key of the fullest link's utilisation."""
    if result.links.is_empty():
        return []
    row: Mapping[str, Any] = result.links.sort("utilisation", descending=True, nulls_last=True).row(
        0, named=True
    )
    back = "" if row["direction"] == "forward" else ".backward"
    return [f"link.{row['link']}{back}.utilisation"]


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
