"""A sweep: the content of its folder, its points as rows, and its page. Terminal and page share the rows."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import plots
from .._points import cells_of, group_by_point, notes
from .._run_folder import PAGE, with_overrides
from .._stored import INDEX_AGAIN, read_index, read_record, read_table, warn_of_damage
from ..dataset import RUNS
from ..errors import ResultError
from ..stats import MIN_SEEDS, interval_text
from . import _charts, _panels, transfer_times
from . import runs_scatter as scatter
from ._page import render
from ._topology import time_text
from .columns import below_grain, expected_text, known, known_digits, unit_of
from .numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..result import Result
    from ..sweep import SweepResult

MAX_GROUPS = 3
"""Maximum number of flow names with separate columns."""

MAX_SEEDS = 10
"""Seeds that a page lists."""
MAX_FAILURES = 1000
"""Maximum number of failed expectations in `sweep.json`; the dataset and the folders of the runs have all."""

FILE = "sweep.json"
"""The file of a sweep beside `summary.parquet` and the folders of its runs."""

PART = "sweep.json.part"
"""The file before the sweep has ended; it lists the plans."""

TIMES = """import thalweg as tw
from thalweg.report import transfer_times

times = transfer_times.of_sweep(tw.SweepResult.load("."))  # the folder of the sweep
transfer_times.figure(times["{group}"]).savefig("times-{group}.svg")
"""
"""Python that makes the picture of completion times."""

PYTHON = """import thalweg as tw

done = tw.SweepResult.load(".")  # the folder of the sweep
done.scatter("queueing_delay", "throughput", out="throughput-over-delay.svg")
"""
"""Python that makes the picture of throughput over delay."""

Row = dict[str, Any]

Interval = tuple[float | None, float | None, float | None]
"""A mean and the ends of its confidence interval, None where there is none."""


def warn_if_damaged(folder: Path) -> None:
    """Says that the index of a sweep cannot be read and will be written again."""
    with suppress(OSError):
        try:
            read_index(folder / FILE)
        except ResultError as error:
            warn_of_damage(error, "it is written again")


def begin(plans: Sequence[str], folder: Path) -> None:
    """Records the plans of a sweep before it starts, so that the folder of a killed one can be recognised."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PART).write_text(json.dumps({"plans": list(plans)}, indent=1) + "\n", encoding="utf-8")


def plan_digests(folder: Path) -> list[str] | None:
    """Digests of the plans of the sweep in a folder; None if there is none."""
    for read, name in ((read_index, FILE), (read_record, PART)):
        try:
            record = read(folder / name)
        except (OSError, ResultError):
            # nobody can read it: it is written again
            continue
        # without digests: any other sweep differs
        plans = record.get("plans")
        return list(plans) if isinstance(plans, list) else ["unknown"]
    return None


def save(done: SweepResult, title: str, folder: Path, overrides: Mapping[str, Any]) -> None:
    """Writes `summary.parquet` (means over seeds), `runs.parquet` and `sweep.json` (the runs); removes an earlier page.

    `overrides` are the keys that were changed for all of it.
    """
    from .. import __version__

    folder.mkdir(parents=True, exist_ok=True)
    for name in (PAGE, FILE):
        (folder / name).unlink(missing_ok=True)
    done.summary.write_parquet(folder / "summary.parquet")
    metrics = key_metrics(done.runs[0].result) if done.runs else []
    rows = done.rows(metrics)
    rows.write_parquet(folder / RUNS)
    samples = scatter.pairs(done.labelled())
    record = {
        "format": 1,
        "version": __version__,
        "title": title,
        "overrides": dict(overrides),
        "keys": done.keys,
        "metrics": metrics,
        "planned": done.planned,
        "plans": done.plan_digests,
        "spans": _spans(done),
        "times": transfer_times.of_sweep(done),
        "scatter": samples if scatter.worth_drawing(samples) else {},
        "failures": done.failures.head(MAX_FAILURES).to_dicts(),
        "expected": any(not run.result.expect.is_empty() for run in done.runs),
        "runs": [
            {
                "values": run.values,
                "seed": run.seed,
                "folder": relative_folder(run.result, folder),
                "trace_hash": run.result.trace_hash,
                "packet_hops": run.result.packet_hops,
                "passed": row["passed"],
                "metrics": {metric: row.get(metric) for metric in metrics},
            }
            for run, row in zip(done.runs, rows.to_dicts(), strict=True)
        ],
    }
    written = folder / f"{FILE}.{os.getpid()}"
    written.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    written.replace(folder / FILE)
    (folder / PART).unlink(missing_ok=True)


def _spans(done: SweepResult) -> dict[str, list[float]]:
    """Shortest and longest duration of a run, and measured time after its warm-up, in seconds."""
    spans = {
        name: [run.result.values.get(f"run.{name}") or 0.0 for run in done.runs]
        for name in ("ended", "measured")
    }
    return {name: [min(listed), max(listed)] for name, listed in spans.items() if listed}


def _seeds(listed: Iterable[int]) -> str:
    """The seeds of each point: `per point: 1 to 5`, or each of them, as many as are listed."""
    seeds = sorted(set(listed))
    if len(seeds) > 1 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"per point: {seeds[0]} to {seeds[-1]}"
    return f"per point: {', '.join(map(str, seeds[:MAX_SEEDS]))}{', …' * (len(seeds) > MAX_SEEDS)}"


def _durations(spans: Mapping[str, list[float]]) -> list[tuple[str, str, str]]:
    """How long a run was, and how much of it was measured. Sweeps of earlier versions do not say."""
    if not spans:
        return []
    ended, measured = (
        time_text(low) if low == high else f"{time_text(low)} to {time_text(high)}"
        for low, high in (spans["ended"], spans["measured"])
    )
    return [("a run", ended, f"measured over {measured}, after the warm-up")]


def load(folder: Path) -> SweepResult:
    """The sweep that `save` wrote, with the runs in their folders. Raises `ResultError` if one cannot be read."""
    from ..result import Result
    from ..sweep import SweepResult, SweepRun

    record = read(folder)
    if any(run["folder"] is None for run in record["runs"]):
        raise ResultError(f"{folder}: the runs of this sweep were not written")
    runs = [
        SweepRun(run["values"], run["seed"], Result.load(folder / run["folder"])) for run in record["runs"]
    ]
    return SweepResult(record["keys"], runs, record["planned"])


def read(folder: Path) -> dict[str, Any]:
    """The content of `sweep.json`. Raises `ResultError` if it is missing or damaged."""
    try:
        return read_index(folder / FILE)
    except (FileNotFoundError, NotADirectoryError) as error:
        hint = "give the folder of a sweep, or for one run take `Result.load`"
        raise ResultError(f"{folder} holds no sweep: {FILE} is missing", hint) from error


def relative_folder(result: Result, beside: Path) -> str | None:
    """The folder of a run relative to another one; None for a run in memory."""
    return None if result.folder is None else Path(os.path.relpath(result.folder, beside)).as_posix()


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


def _values(keys: list[str], runs: list[Row]) -> list[Row]:
    """What the columns of the keys have for each run: a queue discipline with its details is text, as in the summary."""
    cells = {key: cells_of([run["values"].get(key) for run in runs]) for key in keys}
    return [{key: cells[key](run["values"].get(key)) for key in keys} for run in runs]


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


def page(folder: Path) -> str:
    """The page of a folder that `save` wrote."""
    record = read(folder)
    keys, runs = record["keys"], record["runs"]
    summary = read_table(folder / "summary.parquet", [*keys, "metric", "n", "mean"], INDEX_AGAIN).to_dicts()
    rows = points(summary, keys, record["metrics"])
    metrics = [metric for metric in record["metrics"] if any(metric in row for row in rows)]
    values = _values(keys, runs)
    add_samples(rows, keys, metrics, zip(values, runs, strict=True))
    title = with_overrides(record["title"], record.get("overrides", {}))
    same = same_everywhere(rows, metrics) if keys else {}
    drawn = [metric for metric in metrics if metric not in same] if keys and len(rows) > 1 else []
    cells = group_by_point((run["values"], run["seed"], run["trace_hash"]) for run in runs)
    columns, listed = means_table(rows, keys, metrics)
    # sweeps of earlier versions have none
    samples = record.get("scatter", {})
    drawing = scatter.drawing(samples) if samples else None
    times = {
        group: plots.svg(transfer_times.figure(points), f"times-{group}")
        for group, points in record.get("times", {}).items()
    }
    panels = _panels.interactive(
        {scatter.NAME: (drawing, "Throughput over queueing delay", PYTHON)}
        | {
            f"times-{group}": (one, f"Completion times, {group}", TIMES.format(group=group))
            for group, one in times.items()
        }
    )
    return render(
        "sweep.html",
        f"{title} · sweep",
        version=record["version"],
        name=title,
        lead=_lead(len(rows), keys, len(runs)),
        planned=record["planned"],
        notes=notes(cells),
        overview=[
            ("points", str(len(rows)), ""),
            ("runs", str(len(runs)), ""),
            ("seeds", str(len({run["seed"] for run in runs})), _seeds([run["seed"] for run in runs])),
            *_durations(record.get("spans", {})),
            ("distinct runs", str(sum(point.distinct for point in cells)), "by trace hash"),
            ("packet-hops", number(float(sum(run["packet_hops"] for run in runs)), 3), ""),
        ],
        expected=record.get("expected", True),
        failures=failed_cells(record.get("failures", []), keys),
        failure_columns=failure_columns(keys),
        failed=sum(not run["passed"] for run in runs),
        intervals=has_intervals(rows),
        means=any(row["n"] > 1 for row in rows),
        keys=keys,
        columns=columns,
        rows=listed,
        pictures=[
            (metric, plots.svg(plots.grid(rows, keys, metric, axis_label(metric)), metric))
            for metric in drawn
        ],
        same=same,
        grids=_charts.grids(title, rows, keys, {metric: axis_label(metric) for metric in drawn})
        if drawn
        else None,
        scatter=drawing,
        times=times,
        answering={name: name for name in panels},
        panels=_panels.element(panels) if panels else None,
        chart_script=_charts.script(),
        runs=[
            {**at, "seed": run["seed"], "folder": run["folder"], "trace_hash": run["trace_hash"]}
            for at, run in zip(values, runs, strict=True)
        ],
        run_columns=[
            *((key, key) for key in keys),
            ("seed", "seed"),
            ("folder", "folder"),
            ("trace_hash", "trace hash"),
        ],
    )


def _lead(points: int, keys: Sequence[str], runs: int) -> str:
    """A sentence about the sweep."""
    several = f"{runs} run{'s' * (runs != 1)}"
    if not keys:
        return f"One scenario with {several}, which differ by their seeds."
    return f"{points} point{'s' * (points != 1)} of a grid over {', '.join(keys)}, {several}."


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
