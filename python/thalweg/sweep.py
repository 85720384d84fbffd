"""Sweeps: grids, seeds, jobs. Results do not depend on the number of jobs.

With a folder, each finished run is kept in a sub-folder named after a digest of its scenario and of the program, and
its seed; thousands of runs are kept as a dataset (`thalweg.dataset`) instead. The same call with more seeds or a wider
grid therefore runs only what is missing. The folder also has the index of the last sweep (`thalweg.report.sweep_index`).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from . import _sweep_output, cluster, dataset
from ._folder_names import joined
from ._lock import locked
from ._names import unknown_name
from ._points import SEED as SEED
from ._points import Point as Point
from ._points import cells_of, group_by_point, notes, sameness
from ._points import value_text as value_text
from ._run_folder import MANIFEST
from ._stored import warn_of_damage
from .dataset import RunDataset, StoredRun
from .errors import Interrupted, ResultError
from .jobs import POLL_INTERVAL_S, Control, Job, JobProgress, core_digest
from .jobs import run as run_jobs
from .packed import PackedRun
from .quantities import numbers as as_numbers
from .result import Result, of_dataset
from .stats import Estimate, estimate

if TYPE_CHECKING:
    from types import TracebackType

    import polars
    from distributed import Client
    from matplotlib.figure import Figure

    from .scenario import Plan, Scenario

ProgressCallback = Callable[[int, int, str], object]
"""Called with `(done, total, label)` after each run, in the caller's thread."""


MAX_RUNS = 1_000_000
"""Maximum runs of a sweep: the plan of each takes 16 kB of memory."""

NUMBER = "run number"
"""Column with the number of a run in a sweep, in tables under construction."""


@dataclass(frozen=True)
class Cell:
    """One point of a grid."""

    values: dict[str, Any]
    """The dotted keys that it sets."""
    scenario: Scenario
    """The scenario with these keys set."""

    @property
    def label(self) -> str:
        """Label in a progress bar."""
        return ", ".join(f"{key.rsplit('.', 1)[-1]} {value}" for key, value in self.values.items())


@dataclass(frozen=True)
class SweepRun:
    """One finished run of a sweep."""

    values: dict[str, Any]
    """The point of the grid."""
    seed: int
    result: Result


class Sweep:
    """Runs over a grid, several seeds each. Every point is checked at construction; raises `ScenarioError`."""

    def __init__(
        self,
        scenario: Scenario,
        grid: Mapping[str, Sequence[Any]],
        *,
        runs: int = 1,
        seeds: Sequence[int] | None = None,
    ) -> None:
        if runs < 1:
            raise ValueError("runs must be at least 1")
        self.grid = {key: list(values) for key, values in grid.items() if key != SEED}
        """Dotted keys and their values."""
        if SEED in grid:
            if seeds is not None or runs > 1:
                raise ValueError("the grid lists the seeds, so that no others can be named")
            seeds = [cell.plan().seed for _, cell in scenario.grid({SEED: grid[SEED]})]
            if twice := sorted({one for one in seeds if seeds.count(one) > 1}):
                raise ValueError(f"sweep.seed lists {twice[0]} more than once: write every seed once")
        self.cells = [Cell(values, point) for values, point in scenario.grid(self.grid)]
        """Every point of the grid; the last key changes fastest."""
        self.title = scenario.title
        """The title of the scenario."""
        self.overrides = scenario.overrides
        """Dotted keys that were set for all points, and their values."""
        first = self.cells[0].scenario.plan().seed if self.cells else 0
        total = len(self.cells) * (runs if seeds is None else len(seeds))
        if total > MAX_RUNS:
            raise ValueError(f"a sweep has at most {MAX_RUNS:,} runs, and this {total:,}")
        self.seeds = list(range(first, first + runs) if seeds is None else seeds)
        """The seeds, equal for each point, so that points can be compared in pairs."""
        self.plans = [(cell, cell.scenario.plan(seed)) for cell in self.cells for seed in self.seeds]
        """Every run, in order."""

    @cached_property
    def plan_digests(self) -> list[str]:
        """Digests of the plans, sorted."""
        return sorted(plan_digest(plan.toml) for _, plan in self.plans)

    def _repr_html_(self) -> str:
        """The output in a notebook."""
        from .report._notebook import of_sweep

        return of_sweep(self)

    def __len__(self) -> int:
        return len(self.plans)

    def run(
        self,
        *,
        jobs: int = 1,
        progress: ProgressCallback | None = None,
        watch: Callable[[JobProgress], object] | None = None,
        out: str | Path | None = None,
        study: str | Path | None = None,
        on: str | Client | None = None,
    ) -> SweepResult:
        """Runs all, `jobs` at a time. Ctrl-C raises `Interrupted`, whose `result` contains the finished runs.

        With `on`, a cluster runs them: a client of `dask.distributed`, the address of a scheduler (`tcp://HOST:8786`),
        `local:4`, or `slurm:20`; see `thalweg.cluster`. The results are the same.

        The runs are kept in the folder `out`. The index of the sweep, which `SweepResult.load`, `thalweg query` and
        `thalweg report` read, is written to the folder `study`, by default `out`, in place of an earlier sweep's. An
        interrupted sweep does not replace one with other runs.

        Raises `ResultError` if another process writes this folder.

        `watch` is called five times per second, and after each run, with the numbers of runs in `plans`;
        `KeyboardInterrupt` in it acts as Ctrl-C.
        """
        labels = [", ".join(filter(None, (cell.label, f"seed {plan.seed}"))) for cell, plan in self.plans]
        folder = out if study is None else study
        with locked(folder):
            save = None if folder is None else self._begin(Path(folder))
            try:
                results: Sequence[Result | None] = run_plans(
                    [plan for _, plan in self.plans],
                    labels,
                    jobs=jobs,
                    progress=progress,
                    watch=watch,
                    out=out,
                    on=on,
                )
            except Interrupted as stop:
                raise Interrupted(self._result(stop.result, save)) from None
            return self._result(results, save)

    def _begin(self, folder: Path) -> Callable[[SweepResult], None]:
        """Records the plans in the folder of the index; returns what writes the index at the end."""
        from .report import sweep_index

        sweep_index.warn_if_damaged(folder)
        earlier = (
            set(sweep_index.plan_digests(folder) or ()) if (folder / sweep_index.FILE).is_file() else set()
        )
        sweep_index.begin(self.plan_digests, folder)

        def save(done: SweepResult) -> None:
            if done.complete or (done.runs and earlier <= set(done.plan_digests)):
                sweep_index.save(done, self.title, folder, self.overrides)

        return save

    def _result(
        self, results: Sequence[Result | None], save: Callable[[SweepResult], None] | None
    ) -> SweepResult:
        runs = [
            SweepRun(cell.values, plan.seed, result)
            for (cell, plan), result in zip(self.plans, results, strict=True)
            if result is not None
        ]
        done = SweepResult(list(self.grid), runs, len(self.plans))
        if save is not None:
            save(done)
        return done


class SweepResult:
    """The results of a sweep."""

    def __init__(self, keys: list[str], runs: list[SweepRun], planned: int) -> None:
        self.keys = keys
        """The dotted keys of the grid."""
        self.runs = runs
        """Finished runs, in the order of the grid and the seeds."""
        self.planned = planned
        """Number of planned runs."""

    @classmethod
    def load(cls, folder: str | Path) -> SweepResult:
        """Reads the folder of a sweep that `thalweg run` or `Sweep.run` wrote. Raises `ResultError` if it holds none."""
        from .report import sweep_index

        folder = Path(folder)
        record = sweep_index.read(folder)
        if any(run["folder"] is None for run in record["runs"]):
            raise ResultError(f"{folder}: the runs of this sweep were not written")
        runs = [
            SweepRun(run["values"], run["seed"], Result.load(folder / run["folder"]))
            for run in record["runs"]
        ]
        return cls(record["keys"], runs, record["planned"])

    @cached_property
    def plan_digests(self) -> list[str]:
        """Digests of the plans of the runs, sorted."""
        return sorted(plan_digest(run.result.plan_toml) for run in self.runs)

    @property
    def complete(self) -> bool:
        """Whether every run is complete."""
        return len(self.runs) == self.planned and all(run.result.complete for run in self.runs)

    @cached_property
    def failures(self) -> polars.DataFrame:
        """The expectations that do not hold: the grid's keys, `seed`, `key`, `expected`, `measured`; a row per run and key.

        `measured` is in the base unit of the key, and null where the run does not have it.
        """
        import polars

        rows = self._table("expect", self.runs)
        if rows.is_empty():
            return rows
        return rows.filter(~polars.col("pass")).drop("pass")

    @property
    def points(self) -> list[Point]:
        """Each point of the grid, with the number of its seeds and of distinct runs."""
        return group_by_point((run.values, run.seed, run.result.trace_hash) for run in self.runs)

    @property
    def sameness(self) -> str | None:
        """A sentence about seeds that gave equal runs; None if each seed gave another run."""
        return sameness(self.points)

    @property
    def notes(self) -> list[str]:
        """Sentences about what the seeds can tell: those that make no difference, and too few of them."""
        return notes(self.points)

    def _each_seed(self) -> list[SweepRun]:
        """The first run of each seed of a point: a seed that is listed twice is one observation."""
        found: dict[tuple[str, int], SweepRun] = {}
        for run in self.runs:
            found.setdefault((repr(run.values), run.seed), run)
        return list(found.values())

    @cached_property
    def summary(self) -> polars.DataFrame:
        """One row per point and metric: the grid's keys, `metric`, `n`, `mean`, `sd`, `low`, `high`.

        `n` counts the seeds that measured the metric, and `low` and `high` are the ends of the 95 % confidence interval of
        the mean over seeds (`thalweg.stats`). They are null for one seed, and where all seeds gave the same run: nothing is
        random there.
        """
        import polars

        runs = self._each_seed()
        frame = self._numbered("summary", runs)
        if frame.is_empty():
            return polars.DataFrame()
        at = {repr(point.values): point.random for point in self.points}
        random = polars.Series([at[repr(run.values)] for run in runs])
        return summarise(frame.with_columns(random=random.gather(frame[NUMBER])), self.keys)

    @cached_property
    def units(self) -> dict[str, str]:
        """Unit of each key of the grid whose values are quantities, such as ``{"topology.bottleneck.rate": "Mbit/s"}``."""
        found = {
            key: as_numbers(list(dict.fromkeys(map(value_text, self._column(key))))) for key in self.keys
        }
        return {key: pair[1] for key, pair in found.items() if pair}

    @property
    def numbers(self) -> polars.DataFrame:
        """`summary` with quantities as numbers: a key in `units` has a column of floats in that unit."""
        return self._in_numbers(self.summary)

    def table(self, name: str, *, numbers: bool = False) -> polars.DataFrame:
        """One table of all runs, concatenated, with the grid's keys and `seed` before its columns.

        With `numbers`, a key in `units` has a column of floats in that unit. `KeyError` with the nearest name for an unknown
        table.
        """
        frame = self._table(name, self.runs)
        return self._in_numbers(frame) if numbers else frame

    def _column(self, key: str) -> list[Any]:
        return [run.values[key] for run in self.runs]

    def _in_numbers(self, frame: polars.DataFrame) -> polars.DataFrame:
        import polars

        if frame.is_empty():
            return frame
        columns = []
        for key in self.units:
            texts = list(dict.fromkeys(self._column(key)))
            found = as_numbers(texts)
            if found:
                new = dict(zip(texts, found[0], strict=True))
                columns.append(polars.col(key).replace_strict(new, return_dtype=polars.Float64))
        return frame.with_columns(columns)

    def plot(
        self,
        x: str,
        y: str,
        by: str | Sequence[str] | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        out: str | Path | None = None,
        style: str = "page",
        width: str | float | None = None,
        latex: bool = False,
    ) -> Figure:
        """Plots the mean of the metric `y` over the key `x` of the grid, with its 95 % confidence interval over seeds.

        There is one line per value of the keys in `by`: all other keys with several values, unless `where` fixes them. A key
        is named in full or by its last words: `plot("buffer", "flows.fairness", by="scheme", where={"count": 2})`. `labels`
        gives keys, values and metrics other names: ``{"buffer": "buffer size", "reno": "NewReno"}``. The other
        arguments are as for `Result.plot`.

        Raises ``KeyError`` with the nearest name for an unknown key, value or metric, and ``ValueError`` if a key with
        several values is neither in `by` nor in `where`.
        """
        from . import plots, styles
        from .report.sweep_rows import add_samples, axis_label, points

        look = styles.get_style(style, width, latex=latex)
        kept = self._where(where or {})
        several = [key for key in self.keys if len({value_text(value) for value in kept._column(key)}) > 1]
        across = self._key(x)
        if by is None:
            lines = [key for key in several if key != across]
        else:
            lines = [self._key(name) for name in ([by] if isinstance(by, str) else by)]
        if open_keys := [key for key in several if key not in (across, *lines)]:
            raise ValueError(
                f"{', '.join(open_keys)} has several values: name it in `by`, or fix it by `where={{...}}`"
            )
        summary = kept.summary
        known = summary["metric"].unique(maintain_order=True).to_list() if kept.runs else []
        if y not in known:
            raise KeyError(unknown_name("result", y, known))
        keys = [across, *lines]
        rows = points(summary.to_dicts(), keys, [y])
        add_samples(rows, keys, [y], kept._samples(y, keys))
        names = labels or {}
        rows, keys = _sweep_output.rename(rows, keys, names)
        figure = plots.grid(rows, keys, y, names.get(y, axis_label(y)), look=look)
        if out is not None:
            figure.savefig(out)
        return figure

    def scatter(
        self,
        x: str = "queueing_delay",
        y: str = "throughput",
        *,
        groups: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        out: str | Path | None = None,
        style: str = "page",
        width: str | float | None = None,
        latex: bool = False,
    ) -> Figure:
        """Plots two metrics of groups of flows against each other, a point per run, with an ellipse over the seeds.

        `x` and `y` are the last words of the metrics ``flows.GROUP.x``; `groups` are all that have both, unless they are
        named. The ellipse of a point of the grid is the contour at one standard deviation of the normal distribution that
        fits its runs best; it needs three seeds. The other arguments are as for `plot`.

        Raises ``KeyError`` with the nearest name for an unknown metric, group, key or value.
        """
        from . import plots, styles
        from .report.runs_scatter import check, pairs
        from .report.sweep_rows import axis_label

        look = styles.get_style(style, width, latex=latex)
        runs = self._where(where or {}).labelled()
        check(runs, (x, y), groups)
        samples = pairs(runs, x, y, groups)
        figure = plots.scatter_runs(
            samples, axis_label(f"flows.group.{x}"), axis_label(f"flows.group.{y}"), look=look
        )
        if out is not None:
            figure.savefig(out)
        return figure

    def heatmap(
        self,
        x: str,
        y: str,
        metric: str,
        *,
        where: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        out: str | Path | None = None,
        style: str = "page",
        width: str | float | None = None,
        latex: bool = False,
    ) -> Figure:
        """Plots the mean of a metric over two keys of the grid, as a map of colours with numbers.

        All other keys must have one value, or be fixed by `where`. Arguments and errors are as for `plot`.
        """
        from . import styles

        look = styles.get_style(style, width, latex=latex)
        kept = self._where(where or {})
        figure = _sweep_output.heatmap(kept, self._key(x), self._key(y), metric, labels or {}, look)
        if out is not None:
            figure.savefig(out)
        return figure

    def cdf(
        self,
        metric: str,
        by: str | Sequence[str] | None = None,
        *,
        flows: str | None = None,
        where: Mapping[str, Any] | None = None,
        logarithmic: bool = False,
        labels: Mapping[str, str] | None = None,
        out: str | Path | None = None,
        style: str = "page",
        width: str | float | None = None,
        latex: bool = False,
    ) -> Figure:
        """Plots cumulative distributions: a line for each value of the keys in `by`, by default of all with several values.

        A key of the summary, such as `flows.short.fct_p95`, is distributed over the seeds. A column of the flows, such as
        `fct` or `goodput`, is distributed over the flows of a run, of the group `flows` only if it is named: the line is the
        mean of the runs' distributions, and the band its 95 % confidence interval, from three seeds on. Arguments and
        errors are as for `plot`; `logarithmic` is the horizontal axis.
        """
        from . import styles

        look = styles.get_style(style, width, latex=latex)
        kept = self._where(where or {})
        names = _sweep_output.several(kept) if by is None else [by] if isinstance(by, str) else by
        lines = [self._key(name) for name in names]
        figure = _sweep_output.cdf(kept, metric, lines, flows, labels or {}, look, logarithmic=logarithmic)
        if out is not None:
            figure.savefig(out)
        return figure

    def latex(
        self,
        *metrics: str,
        where: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        digits: int = 3,
    ) -> str:
        """A LaTeX table (`booktabs`) of means with their 95 % confidence intervals, a row per point of the grid.

        Headings have units; `labels` renames as in `plot`, and `digits` are the significant digits of a mean. Without
        metrics it has the metrics of the table that `thalweg run` prints. Raises ``KeyError`` as `plot` does.
        """
        from .report.sweep_rows import key_metrics

        kept = self._where(where or {})
        shown = metrics or (key_metrics(kept.runs[0].result) if kept.runs else ())
        return _sweep_output.latex(kept, shown, labels or {}, digits)

    def results(self, where: Mapping[str, Any] | None = None, *, seed: int | None = None) -> list[Result]:
        """The results of the runs in which keys have these values, with one seed or all; `.folder` of each is its folder.

        Raises ``KeyError`` with the nearest name for an unknown key or value, and for a seed without a run.
        """
        runs = [run for run in self._where(where or {}).runs if seed is None or run.seed == seed]
        if not runs:
            raise KeyError(f"no run has the seed {seed}")
        return [run.result for run in runs]

    def labelled(self) -> list[tuple[str, Result]]:
        """The run of each seed, with the values of the keys that have several, as a label."""
        runs = self._each_seed()
        texts = {key: [value_text(run.values[key]) for run in runs] for key in self.keys}
        several = [key for key in self.keys if len(set(texts[key])) > 1]
        return [
            (", ".join(texts[key][number] for key in several), run.result) for number, run in enumerate(runs)
        ]

    def _key(self, name: str) -> str:
        """The key of the grid with this name, in full or by its last words."""
        found = [key for key in self.keys if key == name or key.endswith(f".{name}")]
        if len(found) > 1:
            raise KeyError(f"{name!r} is ambiguous: {' or '.join(found)}")
        if not found:
            raise KeyError(
                unknown_name("key", name, [*self.keys, *(key.rsplit(".", 1)[-1] for key in self.keys)])
            )
        return found[0]

    def _where(self, fixed: Mapping[str, Any]) -> SweepResult:
        """The runs in which these keys have these values."""
        wanted = {self._key(name): value for name, value in fixed.items()}
        for key, value in wanted.items():
            there = list(dict.fromkeys(map(value_text, self._column(key))))
            if value_text(value) not in there:
                raise KeyError(unknown_name(f"value of {key}", value_text(value), there))
        runs = [
            run
            for run in self.runs
            if all(value_text(run.values[key]) == value_text(value) for key, value in wanted.items())
        ]
        return SweepResult(self.keys, runs, self.planned)

    def rows(self, metrics: Sequence[str]) -> polars.DataFrame:
        """One row per run: its name, the grid's keys, `seed`, `trace_hash`, `packet_hops`, `passed`, and these metrics."""
        import polars

        runs = [run.result for run in self.runs]
        frame = polars.DataFrame(
            {
                "run": [_name(result) for result in runs],
                **self._key_columns(self.runs),
                "seed": [run.seed for run in self.runs],
                "trace_hash": [result.trace_hash for result in runs],
                "packet_hops": [result.packet_hops for result in runs],
                "passed": [result.passed for result in runs],
                NUMBER: range(len(runs)),
            }
        )
        long = self._numbered("summary", self.runs, metrics)
        if not long.is_empty():
            wide = long.pivot("metric", index=NUMBER, values="value")
            shown = [metric for metric in metrics if metric in wide.columns]
            frame = frame.join(wide.select(NUMBER, *shown), on=NUMBER, how="left", maintain_order="left")
        return frame.drop(NUMBER)

    def _table(self, name: str, runs: Sequence[SweepRun]) -> polars.DataFrame:
        import polars

        frame = self._numbered(name, runs)
        return frame.drop(NUMBER) if NUMBER in frame.columns else polars.DataFrame()

    def _numbered(
        self, name: str, runs: Sequence[SweepRun], metrics: Sequence[str] | None = None
    ) -> polars.DataFrame:
        """One table of these runs, with their numbers; if metrics are given, only their rows of the summary."""
        import polars

        if not runs:
            return polars.DataFrame()
        rows = polars.DataFrame(
            {NUMBER: range(len(runs)), **self._key_columns(runs), "seed": [run.seed for run in runs]}
        )
        wanted = polars.lit(True) if metrics is None else polars.col("metric").is_in(metrics)
        sources = [run.result.source for run in runs]
        stored = [source for source in sources if isinstance(source, StoredRun)]
        if len(stored) == len(runs) and len({id(source.dataset) for source in stored}) == 1:
            rows = rows.with_columns(run=polars.Series([source.name for source in stored]))
            tables = stored[0].dataset.scan(name, list(dict.fromkeys(rows["run"])))
            found = tables.filter(wanted).join(rows.lazy(), on="run").sort(NUMBER, maintain_order=True)
            try:
                return found.select(*rows.drop("run").columns, polars.exclude(*rows.columns)).collect()
            except polars.exceptions.PolarsError as error:
                folder = stored[0].dataset.folder
                raise ResultError(f"{folder}/part-*/{name}.parquet: a file is damaged: {error}") from error
        parts = [
            run.result.frame(name)
            .filter(wanted)
            .select(*(polars.lit(rows[key][number]).alias(key) for key in rows.columns), polars.all())
            for number, run in enumerate(runs)
        ]
        return polars.concat(parts, how="vertical_relaxed")

    def _key_columns(self, runs: Sequence[SweepRun]) -> dict[str, list[Any]]:
        """The grid's keys, each with its value for each of these runs."""
        cells = {key: cells_of(self._column(key)) for key in self.keys}
        return {key: [cells[key](run.values[key]) for run in runs] for key in self.keys}

    def values(self, metric: str, **point: Any) -> list[float | None]:
        """A metric of each seed at one point of the grid, for `paired`.

        A key of the grid is named by its last word: `values("flows.fairness", buffer="1 bdp")`.
        """
        return [run.result[metric] for run in self._at(point)]

    def estimate(self, metric: str, **point: Any) -> Estimate:
        """The mean of a metric over the seeds of one point of the grid, with its interval; see `values`.

        There is no interval if all seeds gave the same run.
        """
        runs = SweepResult(self.keys, self._at(point), self.planned)
        found = estimate([run.result[metric] for run in runs._each_seed()], metric)
        if any(at.random for at in runs.points):
            return found
        return replace(found, low=math.nan, high=math.nan)

    def _at(self, point: Mapping[str, Any]) -> list[SweepRun]:
        """The runs of a point of the grid, whose keys are named by their last words."""
        known = {key.rsplit(".", 1)[-1] for key in self.keys}
        if unknown := set(point) - known:
            raise KeyError(
                f"the grid has no {', '.join(sorted(unknown))}; it has {', '.join(sorted(known)) or 'nothing'}"
            )
        return [
            run
            for run in self.runs
            if all(run.values[key] == point.get(key.rsplit(".", 1)[-1], run.values[key]) for key in self.keys)
        ]

    def _samples(self, metric: str, keys: Sequence[str]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """For `report.sweep_rows.add_samples`: the keys of each run, and the value of a metric in it."""
        runs = self._each_seed()
        columns = self._key_columns(runs)
        for number, run in enumerate(runs):
            value = run.result.get(metric)
            yield {key: columns[key][number] for key in keys}, {"seed": run.seed, "metrics": {metric: value}}

    def _repr_html_(self) -> str:
        """The output in a notebook."""
        from .report._notebook import of_sweep_result

        return of_sweep_result(self)

    def __repr__(self) -> str:
        return (
            f"<SweepResult of {len(self.runs)} of {self.planned} runs over {', '.join(self.keys) or 'seeds'}>"
        )


def run_many(
    scenarios: Sequence[tuple[Scenario, int | None]],
    *,
    jobs: int = 1,
    progress: ProgressCallback | None = None,
    out: str | Path | None = None,
    on: str | Client | None = None,
) -> list[Result]:
    """Runs each scenario with its seed (None: its own), `jobs` at a time or `on` a cluster; results in the same order.

    Ctrl-C raises `Interrupted`, whose `result` is the list with None for each run that is not finished. Raises
    `ResultError` if another process writes the folder `out`.
    """
    plans = [scenario.plan(seed) for scenario, seed in scenarios]
    labels = [f"{plan.title}, seed {plan.seed}" for plan in plans]
    with locked(out):
        return run_plans(plans, labels, jobs=jobs, progress=progress, out=out, on=on)


def run_plans(
    plans: Sequence[Plan],
    labels: Sequence[str],
    *,
    jobs: int,
    progress: ProgressCallback | None,
    watch: Callable[[JobProgress], object] | None = None,
    out: str | Path | None,
    on: str | Client | None = None,
) -> list[Result]:
    """See `run_many` and `Sweep.run`; `labels` are passed to `progress`.

    Each run has a folder below `out`. More than `dataset.BATCH` runs are stored as a dataset instead.
    """
    folder = None if out is None else Path(out)
    if on is not None:
        cluster.check_schemes(plan.tree for plan in plans)
    finished, lacking = 0, ""

    def report_progress(at: JobProgress) -> None:
        nonlocal finished, lacking
        if progress is not None and (at.done > finished or at.waiting_for != lacking):
            progress(at.done, at.total, f"waiting for {at.waiting_for}" if at.waiting_for else at.label)
        finished, lacking = at.done, at.waiting_for
        if watch is not None:
            watch(at)

    every_s = None if watch is None else POLL_INTERVAL_S
    settings: dict[str, Any] = {"at_once": jobs, "every_s": every_s, "on": on}
    if folder is None or len(plans) <= dataset.BATCH:
        places = [None] * len(plans) if folder is None else run_folders(folder, plans)
        listed = [
            Job(label, partial(_run, plan), None if place is None else RunFolder(place, plan))
            for plan, label, place in zip(plans, labels, places, strict=True)
        ]
        return run_jobs(listed, progress=report_progress, **settings)
    return _run_into_dataset(plans, labels, folder, report_progress, settings)


def summarise(frame: polars.DataFrame, keys: Sequence[str]) -> polars.DataFrame:
    """Means over seeds of rows with the grid's `keys`, `metric`, `value`, and `random`: see `SweepResult.summary`.

    The same numbers as from `stats.estimate` with the name of the metric, for a hundred thousand rows at once.
    """
    import numpy
    import polars

    from .stats import ROUNDING, is_skewed, mean_interval, possible_range

    value = polars.col("value")
    known = value.drop_nulls()
    equal = known.max() - known.min() <= ROUNDING * known.abs().max()
    moments = frame.group_by(*keys, "metric", maintain_order=True).agg(
        n=value.count(),
        mean=value.mean(),
        sd=polars.when(equal).then(0.0).otherwise(known.std()),
        skewness=polars.when(equal).then(0.0).otherwise(known.skew()),
        random=polars.col("random").first(),
    )
    metrics = moments["metric"].unique()
    kinds = polars.DataFrame(
        {
            "metric": metrics,
            "skewed": [is_skewed(metric) for metric in metrics],
            "minimum": [possible_range(metric)[0] for metric in metrics],
            "maximum": [possible_range(metric)[1] for metric in metrics],
        }
    )
    rows = moments.join(kinds, on="metric", how="left", maintain_order="left")
    mean, sd, skewness = (
        rows[name].cast(polars.Float64).fill_null(math.nan).to_numpy() for name in ("mean", "sd", "skewness")
    )
    skewness = numpy.where(rows["skewed"], skewness, 0.0)
    ends = numpy.full((2, rows.height), math.nan)
    of_kind = rows.select("n", "minimum", "maximum", polars.int_range(polars.len()).alias("row"))
    for (n, minimum, maximum), part in of_kind.filter(rows["random"]).group_by("n", "minimum", "maximum"):
        at = part["row"].to_numpy()
        ends[:, at] = mean_interval(int(n), mean[at], sd[at], skewness[at], (minimum, maximum))
    return moments.drop("skewness", "random").with_columns(
        polars.Series(name, values).fill_nan(None) for name, values in zip(("low", "high"), ends, strict=True)
    )


def _run(plan: Plan, control: Control) -> Result | None:
    result = plan.carry_out(control)
    if result.violated_invariants:
        result.record["violated_invariants"] = result.violated_invariants
    return result if result.complete else None


def _run_packed(plan: Plan, control: Control) -> PackedRun | None:
    result = _run(plan, control)
    return None if result is None else PackedRun.of(result, arrow=True)


def _run_into_dataset(
    plans: Sequence[Plan],
    labels: Sequence[str],
    folder: Path,
    report_progress: Callable[[JobProgress], object],
    settings: dict[str, Any],
) -> list[Result]:
    """Runs many plans. Finished runs are compacted in the order of the plans, while others run."""
    folder.mkdir(parents=True, exist_ok=True)
    dataset.set_damaged_parts_aside(folder)
    stored = RunDataset.at(folder)
    places = run_folders(folder, plans, stored.names)
    names = [f"{place.parent.name}/{place.name}" for place in places]
    listed: list[Job[PackedRun | str]] = [
        Job(label, partial(_run_packed, plan), DatasetRun(stored, name, plan))
        for plan, label, name in zip(plans, labels, names, strict=True)
    ]
    batches = Batches(stored, names)

    def look(at: JobProgress) -> None:
        if at.last is not None:
            batches.finish(names[at.last])
        report_progress(at)

    def results(outputs: Iterable[object]) -> list[Result | None]:
        stored.refresh()
        return [
            None if output is None else of_dataset(stored, name)
            for name, output in zip(names, outputs, strict=True)
        ]

    try:
        with batches:
            outputs = run_jobs(listed, progress=look, **settings)
    except Interrupted as stop:
        raise Interrupted(results(stop.result)) from None
    return [result for result in results(outputs) if result is not None]


class Batches:
    """Compacts each batch of a list of runs as soon as all of it is finished, in a thread. A context manager."""

    def __init__(self, stored: RunDataset, names: Sequence[str]) -> None:
        self._stored = stored
        missing = [name for name in dict.fromkeys(names) if not stored.compacted(name)]
        self._batches = [
            missing[first : first + dataset.BATCH] for first in range(0, len(missing), dataset.BATCH)
        ]
        self._open = [set(batch) for batch in self._batches]
        self._batch_of = {name: number for number, batch in enumerate(self._batches) for name in batch}
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="thalweg-compact")
        self._compacting: list[Future[None]] = []

    def finish(self, name: str) -> None:
        """Records that a run is in the dataset. Raises what an earlier compaction raised."""
        if name not in self._batch_of:
            return
        number = self._batch_of.pop(name)
        self._open[number].discard(name)
        if not self._open[number]:
            self._compacting.append(self._pool.submit(self._stored.compact, self._batches[number]))
        for ended in [future for future in self._compacting if future.done()]:
            self._compacting.remove(ended)
            ended.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()
        self._stored.end()
        if error is None:
            for future in self._compacting:
                future.result()


@dataclass(frozen=True)
class DatasetRun:
    """The place of a run in a dataset."""

    dataset: RunDataset
    name: str
    plan: Plan

    def load(self) -> str | None:
        """The name of the run, if the dataset has it; a folder of the run is taken over."""
        if self.name in self.dataset:
            return self.name if of_dataset(self.dataset, self.name).plan_toml == self.plan.toml else None
        found = load_if_complete(self.dataset.folder / self.name, self.plan)
        return None if found is None else self.save(PackedRun.of(found, arrow=True))

    def save(self, output: PackedRun | str) -> str:
        """Stores the run; returns its name."""
        if isinstance(output, PackedRun):
            self.dataset.add(self.name, output)
        return self.name


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run of a sweep."""

    folder: Path
    plan: Plan

    def load(self) -> Result | None:
        """The run, if it is complete and readable."""
        return load_if_complete(self.folder, self.plan)

    def save(self, output: Result) -> Result:
        """The run is written, and read again when needed, so that a long sweep does not keep its tables in memory."""
        # a sweep with another index can have the same run
        with locked(self.folder, wait=True):
            found = load_if_complete(self.folder, self.plan, warn=False)
            return found or Result.load(output.save(self.folder))


def load_if_complete(folder: Path, plan: Plan, *, warn: bool = True) -> Result | None:
    """The run of this exact plan in `folder`, if it is complete and readable; a `ResultWarning` if it is damaged."""
    try:
        result = Result.load(folder)
        if not result.complete or result.plan_toml != plan.toml:
            return None
        result.check_tables()
    except ResultError as error:
        if warn and (folder / MANIFEST).exists():
            warn_of_damage(error, "this run is run again")
        return None
    return result


def run_folder_name(plan: Plan) -> str:
    """Folder of a run below a sweep's: changed keys or else the title, digest of scenario and program, seed.

    `bottleneck.buffer=0.2bdp,flows.reno.count=2-3c3aba329c49/seed=1`. Only the seeds of one scenario share a folder; other
    settings or another program never do. `Result.load` and the commands also find it as
    `bottleneck.buffer=0.2bdp,flows.reno.count=2,seed=1`.
    """
    digest = hashlib.sha256(f"{core_digest()}\n{plan.scenario.identity}".encode()).hexdigest()[:_DIGITS]
    words = joined(plan.scenario.overrides, MAX_NAME_BYTES)
    words = words or "-".join(re.findall(r"[a-z0-9]+", plan.title.lower())[:8])
    return f"{words or 'run'}-{digest}/seed={plan.seed}"


def run_folders(folder: Path, plans: Iterable[Plan], stored: Iterable[str] = ()) -> list[Path]:
    """The folders of runs below a sweep's; those that are there already, or have names in a dataset, keep their names.

    What a folder's name says of a scenario depends on the sweep that made it, the digest at its end does not.
    """
    there = [name.partition("/")[0] for name in stored]
    if folder.is_dir():
        there += sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    by_digest = {name[-_DIGITS:]: name for name in there if re.search(rf"-[0-9a-f]{{{_DIGITS}}}$", name)}
    found = []
    for plan in plans:
        name, _, seed = run_folder_name(plan).partition("/")
        found.append(folder / by_digest.setdefault(name[-_DIGITS:], name) / seed)
    return found


_DIGITS = 12
"""Hexadecimal digits of the digest in the name of a run's folder."""

MAX_NAME_BYTES = 120
"""Maximum length of the name of a run's folder, before its digest."""


def plan_digest(toml: str) -> str:
    """Digest of a plan, by which the index of a sweep knows it."""
    return hashlib.sha256(toml.encode()).hexdigest()[:12]


def _name(result: Result) -> str | None:
    """The name of a run among the runs of its scenario; None for a run in memory."""
    return None if result.folder is None else "/".join(result.folder.parts[-2:])
