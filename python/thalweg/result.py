"""The tables of a run: in memory, in a folder, as DataFrames.

A run folder holds `scenario.toml` (as given), `plan.toml` (all defaults filled in), one Parquet file per table, and
`run.json`, which is written last: a folder without it is not complete. Until then there is `run.json.part`, and the
tables of the last checkpoint.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from . import _native, catalogue
from ._folder_names import run_of_cell
from ._names import unknown_name
from ._run_folder import (
    FORMAT,
    KEYS,
    MANIFEST,
    OPTIONAL_KEYS,
    PART,
    SINCE,
    TABLES,
    TEXTS,
    prepare_folder,
    record_of,
    texts_of,
    with_overrides,
)
from ._stored import (
    AGAIN,
    check_keys,
    check_table_of_run,
    parse_toml,
    read_record,
    read_table,
    read_table_of_run,
)
from .errors import InvariantWarning, ResultError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    import polars
    from matplotlib.figure import Figure

    from ._part import Keys
    from .dataset import RunDataset
    from .scenario import Plan

FAIRNESS = "fairness"
"""A series that is computed from the rates of flows, and has no value where no two are active together."""
OF_ROUND_TRIPS = ("rtt", "srtt")
"""Series that begin with the first sample of a round-trip time."""

CONNECTION_LOST = "connection_lost"
"""The event of an end of a QUIC connection that lost it; its text says why."""


def has_stacks(tree: Mapping[str, Any]) -> bool:
    """Whether flows of a scenario or plan run over transport stacks, also by a variable of its sweep."""
    return any("stack" in flow for flow in tree.get("flows", [])) or any(
        key.endswith(".stack") for key in tree.get("sweep", {})
    )


class TableSource(Protocol):
    """The tables of a run that is neither in memory of the core nor in a folder of its own."""

    def frame(self, table: str) -> polars.DataFrame:
        """A table."""


class ArrowTable(Protocol):
    """An object that exports an Arrow C stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """An Arrow C stream, in a capsule."""


@dataclass(frozen=True)
class Progress:
    """Progress of a run."""

    now_s: float
    """Simulated time reached."""
    duration_s: float
    """Simulated time at the end."""
    events: int
    """Agenda entries handled."""
    wall_s: float
    """Time since the start of the run."""

    @property
    def share(self) -> float:
        """Finished part, 0 to 1."""
        return min(self.now_s / self.duration_s, 1.0) if self.duration_s > 0 else 1.0

    @property
    def speed(self) -> float:
        """Simulated seconds per second."""
        return self.now_s / self.wall_s if self.wall_s > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Remaining time at the current speed; None while it is unknown."""
        return (self.duration_s - self.now_s) / self.speed if self.speed > 0 else None


class Result:
    """The result of a run: tables, and their scenario and plan."""

    def __init__(self, record: Keys, source: _native.Run | Path | TableSource, texts: dict[str, str]) -> None:
        self.record = record
        """The content of `run.json`: format, version, seed, trace hash, status, times."""
        self._source = source
        self._texts = texts
        self._frames: dict[str, polars.DataFrame] = {}
        self._orders: dict[str, list[str]] = {}
        self._unchecked = isinstance(source, _native.Run)

    @classmethod
    def of(cls, plan: Plan, native: _native.Run, wall_s: float, cpu_s: float) -> Result:
        """Takes the output of the core."""
        record = record_of(plan) | {
            "status": "complete" if native.complete else "interrupted",
            "trace_hash": native.trace_hash,
            "ended_s": native.ended_s,
            "packet_hops": native.packet_hops,
            "events_handled": native.events_handled,
            "wall_s": wall_s,
            "cpu_s": cpu_s,
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        if native.emulation is not None:
            record["emulation"] = json.loads(native.emulation)
        if native.script is not None:
            record["drill"] = json.loads(native.script)
        return cls(record, native, texts_of(plan))

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """Reads a run folder. Raises `ResultError` if it holds no run, or one of a later format.

        Of a killed run the last checkpoint is read; its status is `unfinished`. A run of a dataset is named as if it had a
        folder: `STUDY/NAME-DIGEST/seed=7`. A run of a sweep is also found by its values:
        `STUDY/bottleneck.buffer=2bdp,seed=7`.
        """
        folder = Path(folder)
        folder = run_of_cell(folder) or folder
        if (stored := stored_run(folder)) is not None:
            return stored
        try:
            file = next(
                (folder / name for name in (MANIFEST, PART) if (folder / name).exists()), folder / MANIFEST
            )
            record: Keys = read_record(file)
            texts = {name: (folder / name).read_text(encoding="utf-8") for name in TEXTS}
        except (FileNotFoundError, NotADirectoryError) as error:
            raise _no_run(folder, Path(error.filename).name) from error
        except UnicodeDecodeError as error:
            raise ResultError(f"{folder}: scenario.toml or plan.toml is damaged: {error}", AGAIN) from error
        except OSError as error:
            raise ResultError(f"{error.filename} cannot be read: {error.strerror}") from error
        check_keys(record, file, {"format": int})
        if record["format"] > FORMAT:
            raise ResultError(f"{folder} has format {record['format']}; this version reads up to {FORMAT}")
        check_keys(record, file, KEYS, OPTIONAL_KEYS)
        return cls(record, folder, texts)

    def save(self, folder: str | Path) -> Path:
        """Writes the run folder; `run.json` last, so that a folder with it is complete."""
        from .packed import PackedRun

        folder = Path(folder)
        try:
            prepare_folder(folder, self._texts)
            if isinstance(self._source, _native.Run):
                self._source.save(str(folder))
            elif not (isinstance(self._source, PackedRun) and self._source.save_tables(folder)):
                for name in TABLES:
                    self.frame(name).write_parquet(folder / f"{name}.parquet", compression="zstd")
            (folder / PART).write_text(json.dumps(self.record, indent=2) + "\n", encoding="utf-8")
            os.replace(folder / PART, folder / MANIFEST)
        except OSError as error:
            raise ResultError(f"{folder} cannot be written: {error.strerror or error}") from error
        return folder

    @cached_property
    def plan(self) -> Keys:
        """The plan as nested dicts, with every default and every relative unit filled in."""
        return parse_toml(self.plan_toml, "plan.toml" if self.folder is None else self.folder / "plan.toml")

    @property
    def plan_toml(self) -> str:
        """The plan as TOML: a scenario that gives the same run."""
        return self._texts["plan.toml"]

    @property
    def scenario_toml(self) -> str:
        """The scenario as it was given."""
        return self._texts["scenario.toml"]

    @property
    def title(self) -> str:
        """The scenario's title."""
        return str(self.record["title"])

    @property
    def overrides(self) -> Keys:
        """Dotted keys that were set before the run, and their values: by `--set`, by `Scenario.with_`, by a sweep."""
        return dict(self.record.get("overrides", {}))

    @property
    def heading(self) -> str:
        """The title, and the changed keys; some words for a run that has neither."""
        return with_overrides(self.title, self.overrides) or "A run"

    @property
    def texts(self) -> dict[str, str]:
        """The files `scenario.toml` and `plan.toml`."""
        return self._texts

    @property
    def source(self) -> _native.Run | Path | TableSource:
        """The place of its tables."""
        return self._source

    @property
    def folder(self) -> Path | None:
        """The folder that `load` takes for it; None for a run in memory."""
        from .dataset import StoredRun

        if isinstance(self._source, StoredRun):
            return self._source.dataset.folder / self._source.name
        return self._source if isinstance(self._source, Path) else None

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return int(self.record["seed"])

    @property
    def trace_hash(self) -> str:
        """Digest of every event in order: equal for equal runs."""
        return str(self.record["trace_hash"])

    @property
    def complete(self) -> bool:
        """Whether the run is complete; otherwise the tables hold the data until it was stopped."""
        return bool(self.record["status"] == "complete")

    @property
    def valid(self) -> bool:
        """Whether the host kept up with an emulation; always true for a simulation."""
        return bool(self.record.get("emulation", {}).get("valid", True))

    @property
    def packet_hops(self) -> int:
        """Packets put on links."""
        return int(self.record["packet_hops"])

    @property
    def wall_s(self) -> float:
        """Duration of the run in real time."""
        return float(self.record["wall_s"])

    @property
    def cpu_s(self) -> float:
        """Processor time of the run."""
        return float(self.record["cpu_s"])

    def arrow(self, table: str) -> ArrowTable:
        """A table for any library that takes an Arrow C stream: polars, pandas, pyarrow, duckdb."""
        self._known(table)
        return self._source.table(table) if isinstance(self._source, _native.Run) else self.frame(table)

    def frame(self, table: str) -> polars.DataFrame:
        """A table as a polars DataFrame. `KeyError` for an unknown name."""
        import polars

        self._known(table)
        if self._unchecked:
            self._unchecked = False
            from .invariants import wrong

            for sentence in self.violated_invariants:
                where = f"{self.title or 'the run'}, seed {self.seed}"
                warnings.warn(wrong(where, sentence), InvariantWarning, stacklevel=2)
        if table not in self._frames:
            if isinstance(self._source, _native.Run):
                self._frames[table] = polars.DataFrame(self._source.table(table))
            elif int(self.record["format"]) < SINCE.get(table, 0):
                self._frames[table] = self._empty(table)
            elif isinstance(self._source, Path):
                path = self._source / f"{table}.parquet"
                self._frames[table] = (
                    read_table_of_run(path, table)
                    if self.record["format"] == FORMAT
                    else _with_new_names(table, read_table(path))
                )
            else:
                # the source keeps what is worth keeping
                return self._source.frame(table)
        return self._frames[table]

    def check_tables(self) -> None:
        """Raises `ResultError` if a table in the folder of this run is damaged; reads only the end of each."""
        if isinstance(self._source, Path) and self.record["format"] == FORMAT:
            for table in TABLES:
                check_table_of_run(self._source / f"{table}.parquet", table)

    def _empty(self, table: str) -> polars.DataFrame:
        """A table without rows: text for columns without a unit, floats for seconds, rates and ratios, else integers."""
        import polars

        types = {"": polars.String, "s": polars.Float64, "bps": polars.Float64, "1": polars.Float64}
        columns = [row for row in catalogue.metrics() if row["table"] == table]
        return polars.DataFrame(
            schema={row["name"]: types.get(row["unit"], polars.UInt64) for row in columns}
        )

    def table(self, name: str = "flows", *, full: bool = False) -> polars.DataFrame:
        """A table with the columns that `thalweg run` prints, in their order, and without those that have no values.

        With `full` all columns that have values. Units are the base units of the names, as in `frame`. `KeyError` for an
        unknown name.
        """
        from .report.columns import TABLES, columns_shown

        frame = self._by_use(name)
        if full or name not in TABLES or name == "summary":
            return frame.select([one for one in frame.columns if not frame[one].is_null().all()])
        return frame.select([one.key for one in columns_shown(frame, name, full=False)])

    def latex(self, name: str = "flows", *, labels: Mapping[str, str] | None = None, digits: int = 3) -> str:
        """A LaTeX table (`booktabs`) of a table, in the columns and units that `thalweg run` prints.

        `labels` gives headings and names other words; `digits` are the significant digits. `KeyError` for a table that is
        not printed.
        """
        from .latex import tabular
        from .report.columns import TABLES, table_rows
        from .report.numbers import number

        known = [table for table in TABLES if table != "summary"]
        if name not in known:
            raise KeyError(unknown_name("printed table", name, known))
        headings, rows = table_rows(self.frame(name), name, full=False)
        names = labels or {}
        cells = [
            [
                number(row[key], digits)
                if isinstance(row[key], float)
                else "–"
                if row[key] is None
                else names.get(str(row[key]), str(row[key]))
                for key, _ in headings
            ]
            for row in rows
        ]
        numeric = [all(isinstance(row[key], int | float | None) for row in rows) for key, _ in headings]
        return tabular([names.get(key, heading) for key, heading in headings], cells, numeric)

    def _by_use(self, name: str) -> polars.DataFrame:
        """A table with the columns that are printed first, and those without values last."""
        from .report.columns import order_by_use

        frame = self.frame(name)
        if name not in self._orders:
            self._orders[name] = order_by_use(frame, name)
        return frame.select(self._orders[name])

    def to_pandas(self, table: str = "flows") -> Any:
        """A table as a pandas DataFrame, with columns as in `flows`; counts that were not measured become floats."""
        pandas = import_module("pandas")
        frame = self._by_use(table)
        return pandas.DataFrame({name: frame[name].to_numpy() for name in frame.columns})

    @property
    def flows(self) -> polars.DataFrame:
        """One row per flow; columns that are used most are first, and those without values last."""
        return self._by_use("flows")

    @property
    def groups(self) -> polars.DataFrame:
        """One row per group of flows: the keys of `flows.GROUP` in the summary; columns are the last words of the keys."""
        import polars

        names: list[str] = self.flows["group"].unique(maintain_order=True).to_list()
        rows: dict[str, dict[str, Any]] = {name: {"group": name} for name in names}
        counts = {"count", "completions"}
        for name, row in rows.items():
            for word, value in self._values_of(f"flows.{name}"):
                row[word] = int(value) if word in counts and value is not None else value
        return polars.DataFrame(list(rows.values()), infer_schema_length=None)

    def _values_of(self, subject: str) -> Iterable[tuple[str, float | None]]:
        """The values of a subject of the summary, by the last word of their keys."""
        import polars

        if isinstance(self._source, _native.Run):
            return self._source.values_of(subject).items()
        key = polars.col("metric")
        # a network of many flows has a hundred keys for each of them
        own = self.summary.filter(key.str.starts_with(f"{subject}."))
        own = own.select(key.str.slice(len(subject) + 1), "value")
        return own.filter(~key.str.contains(".", literal=True)).rows()

    @property
    def receivers(self) -> polars.DataFrame:
        """One row per receiver of a flow; columns as in `flows`."""
        return self._by_use("receivers")

    @property
    def links(self) -> polars.DataFrame:
        """One row per direction of a link; columns as in `flows`."""
        return self._by_use("links")

    @property
    def nodes(self) -> polars.DataFrame:
        """One row per node that routes or forwards by name, or resolves names; empty if all nodes route by address."""
        return self.frame("nodes")

    @property
    def apps(self) -> polars.DataFrame:
        """One row per application that requests data: page load times, rounds of incast, stalls of players."""
        return self.frame("apps")

    @property
    def exchanges(self) -> polars.DataFrame:
        """One row per exchange of an application: a round of requests, the load of a page, or a segment of a video."""
        return self.frame("exchanges")

    @property
    def distributions(self) -> polars.DataFrame:
        """Cumulative distributions of delays in queues; empty unless the scenario has `record.distributions`."""
        return self.frame("distributions")

    @property
    def series(self) -> polars.DataFrame:
        """Recorded values over time, one per row."""
        return self.frame("series")

    @cached_property
    def drawn_series(self) -> polars.DataFrame:
        """The series as figures show them: null where a value is the state of a flow that is over, such as its window."""
        from ._drawn_series import drawn_series

        return drawn_series(self)

    @property
    def events(self) -> polars.DataFrame:
        """Reports of endpoints, in order of time."""
        return self.frame("events")

    @property
    def packets(self) -> polars.DataFrame:
        """When each packet reached the end of each link, or was dropped, in the time that `record.packets` names."""
        return self.frame("packets")

    @property
    def summary(self) -> polars.DataFrame:
        """One number per dotted key."""
        return self.frame("summary")

    @property
    def expect(self) -> polars.DataFrame:
        """The expectations of the scenario, and whether each is met."""
        return self.frame("expect")

    @property
    def passed(self) -> bool:
        """Whether all expectations of the scenario are met; true without expectations."""
        return bool(self.expect["pass"].all())

    @cached_property
    def violated_invariants(self) -> list[str]:
        """Invariants that its numbers break, one sentence each: see `thalweg.invariants`. Empty if all hold.

        A run of this version is checked when the first of its tables is read, which gives a `InvariantWarning` for each.
        """
        from . import invariants

        self._unchecked = False
        if int(self.record["format"]) != FORMAT:
            return []
        return [broken.sentence for broken in invariants.check(self)]

    @cached_property
    def lost_connections(self) -> list[str]:
        """QUIC connections that were lost in this run, with the reason: one sentence for each flow that ended so."""
        if not has_stacks(self.plan):
            return []
        events = self.events
        ends = events.filter(
            (events["event"] == CONNECTION_LOST) & events["subject"].str.starts_with("flow.")
        )
        return [
            f"`{row['subject'].removeprefix('flow.')}` lost its connection at {row['time_s']:.3f} s and ended: {row['text']}"
            for row in ends.iter_rows(named=True)
        ]

    @cached_property
    def empty_series(self) -> dict[str, str]:
        """Series that the scenario records and that have no value in this run, with the reason."""
        recorded = [
            name
            for name in self.plan.get("record", {}).get("series", [])
            if name in (FAIRNESS, *OF_ROUND_TRIPS)
        ]
        present = set(self.series["series"].unique()) if recorded else set()
        reasons = {name: self._reason_of_no_value(name) for name in recorded if name not in present}
        return {
            name: f"the series `{name}` has no value: {reason}" for name, reason in reasons.items() if reason
        }

    def _reason_of_no_value(self, series: str) -> str | None:
        if series in OF_ROUND_TRIPS:
            return "no round-trip time was measured"
        # its mean is over the windows after the warm-up
        if self.get("flows.fairness_mean") is not None:
            return None
        several = self.flows["scheme"].drop_nulls().len() > 1
        return (
            "no two flows with a scheme were active at the same time for a whole window of 1 s"
            if several
            else "fewer than two flows have a scheme"
        )

    @cached_property
    def values(self) -> dict[str, float | None]:
        """The summary as a dict: dotted key → value, None where it could not be measured. For single values take `get`."""
        return self._source.values if isinstance(self._source, _native.Run) else dict(self.summary.rows())

    def get(self, key: str, default: float | None = None) -> float | None:
        """The value of a dotted key; `default` for an unknown one. It takes far less memory than `values` of a large run."""
        if not isinstance(self._source, _native.Run):
            return self.values.get(key, default)
        try:
            return self._source.value(key)
        except KeyError:
            return default

    def __getitem__(self, key: str) -> float | None:
        """The value of a dotted key, such as `link.bottleneck.utilisation`; `KeyError` for an unknown one."""
        try:
            return self._source.value(key) if isinstance(self._source, _native.Run) else self.values[key]
        except KeyError:
            pass
        subject = key.rpartition(".")[0] + "."
        words = {known.removeprefix(subject) for known in self.values if known.startswith(subject)}
        if new := _new_names([key], words).get(key):
            raise KeyError(f"{key!r} was renamed to {new!r}")
        raise KeyError(unknown_name("result", key, self.values))

    def units(self, table: str) -> dict[str, str]:
        """Unit of each column of a table that has one."""
        self._known(table)
        return catalogue.units(table)

    def check_series(self, series: str) -> None:
        """Raises `ValueError` with the reason for a series that is recorded and has no value."""
        if series in self.empty_series:
            raise ValueError(self.empty_series[series])

    def plot(
        self,
        series: str,
        subjects: Sequence[str] | None = None,
        *,
        labels: Mapping[str, str] | None = None,
        out: str | Path | None = None,
        style: str = "page",
        width: str | float | None = None,
        latex: bool = False,
    ) -> Figure:
        """Plots a recorded series over time, one line per subject; writes it to `out` (SVG, PDF, PNG …) if given.

        `labels` gives subjects and the series other names: ``{"flow.cubic": "CUBIC", "rate": "sending rate (Mbit/s)"}``.
        A flow has the same colour in every figure: its scheme's if no other flow has that scheme. Dashed lines are
        events of the scenario. `style="paper"` makes a figure for print of an exact `width`, by default "acm-column", with
        text by LaTeX on demand: see `thalweg.styles`. Raises ``ValueError`` with the nearest names for an unknown series,
        subject, style or width, and if LaTeX is missing.
        """
        from . import plots, styles
        from .event_labels import event_marks

        self.check_series(series)
        figure = plots.series(
            self.drawn_series,
            series,
            subjects,
            colours=self.colours,
            marks=event_marks(self.plan),
            title=self.title_of(series),
            labels=labels,
            look=styles.get_style(style, width, latex=latex),
        )
        if labels and series in labels:
            figure.axes[0].set_ylabel(labels[series])
        if out is not None:
            figure.savefig(out)
        return figure

    def charts(self, series: Sequence[str] | None = None) -> Any:
        """The interactive charts of the recorded series, as on the page of a run, as a widget for a notebook.

        It needs anywidget: `pip install thalweg[notebook]`. Raises ``ValueError`` with the nearest name for a series that
        was not recorded, and `ImportError` without anywidget.
        """
        from .widget import charts

        return charts(self, series)

    def title_of(self, series: str) -> str:
        """The label of a recorded series. For consumers of named data it says that they send Interests."""
        from . import plots

        if series != "rate" or self.flows.is_empty():
            return plots.series_title(series)
        consumers = self.flows["transport"] == "ndn"
        if consumers.all():
            return "Rate of Interests sent"
        return "Rate (of consumers: Interests sent)" if consumers.any() else plots.series_title(series)

    @cached_property
    def colours(self) -> dict[str, str]:
        """The colour of each flow in figures, and of its receiver, by subject of a series."""
        from . import plots

        flows: list[str] = self.flows["flow"].to_list()
        of_flow = plots.flow_colours(flows, self.flows["scheme"].to_list())
        receiver_flows: list[str] = self.receivers["flow"].to_list()
        ends = zip(receiver_flows, self.receivers["node"].to_list(), strict=True)
        members = Counter(receiver_flows)
        return {
            **{f"flow.{flow}": colour for flow, colour in of_flow.items()},
            **{
                f"receiver.{flow}@{node}": of_flow[flow]
                for flow, node in ends
                if flow in of_flow and members[flow] == 1
            },
        }

    def __reduce__(self) -> tuple[Callable[[bytes], Result], tuple[bytes]]:
        """The whole run, with its tables."""
        from .packed import PackedRun

        return _unpack, (PackedRun.of(self).data,)

    def _known(self, table: str) -> None:
        if table not in TABLES:
            raise KeyError(unknown_name("table", table, TABLES))

    def _repr_html_(self) -> str:
        """The output in a notebook."""
        from .report._notebook import of_run

        return of_run(self)

    def __repr__(self) -> str:
        return f"<Result {self.title!r}, seed {self.seed}, {self.record['status']}, trace {self.trace_hash}>"


def _with_new_names(table: str, frame: polars.DataFrame) -> polars.DataFrame:
    """A table of an earlier format with the current names of columns, results and series."""
    import polars

    columns = {row["name"] for row in catalogue.metrics()}
    frame = frame.rename(
        _new_names(frame.columns, {row["name"] for row in catalogue.metrics() if row["table"] == table})
    )
    of_series = {row["name"] for row in catalogue.series()}
    for column, known in (("metric", columns), ("key", columns), ("series", of_series)):
        if column in frame.columns:
            frame = frame.with_columns(polars.col(column).replace(_new_names(frame[column].unique(), known)))
    return frame


def _new_names(keys: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """The current names of keys whose last word is from an earlier version."""
    found = {}
    for key in keys:
        subject, dot, word = key.rpartition(".")
        if word not in known and (new := catalogue.renamed(word, known)):
            found[key] = f"{subject}{dot}{new}"
    return found


def _no_run(folder: Path, missing: str) -> ResultError:
    """The error about a place without a complete run: what it is instead."""
    from .dataset import INCOMING, RUNS

    hint = "give a folder that `thalweg run` wrote"
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
    elif not any(folder.iterdir()):
        what = "is an empty folder"
    elif folder.name.startswith("part-") and (folder / RUNS).is_file():
        what, hint = "is a part of a study", f"give the study: {folder.parent}"
    elif (folder / "sweep.json").is_file():
        what, hint = "holds a sweep, not a run", "give the folder of one of its runs"
    elif any(any(folder.glob(name)) for name in ("part-*", INCOMING, "*/seed=*")):
        what = "holds runs of a sweep, but no sweep.json"
        hint = "repeat `thalweg run` or `Sweep.run`, which keeps finished runs, or give the folder of one of its runs"
    else:
        what = f"holds no complete run: {missing} is missing"
    return ResultError(f"{folder} {what}", hint)


def stored_run(folder: Path) -> Result | None:
    """The run of a dataset that is named as this folder; None if the folder holds a run, or no dataset has it."""
    if any((folder / name).exists() for name in (MANIFEST, PART)):
        return None
    root = folder.parent.parent
    if not any(root.glob("part-*")) and not (root / "incoming").is_dir():
        return None
    from .dataset import RunDataset

    dataset, name = RunDataset.at(root), f"{folder.parent.name}/{folder.name}"
    return of_dataset(dataset, name) if name in dataset else None


def of_dataset(dataset: RunDataset, name: str) -> Result:
    """A run of a dataset. Raises `KeyError` if it is not there, `ResultError` if it has a later format."""
    return Result(*dataset.run(name))


def _unpack(data: bytes) -> Result:
    """A packed run, in memory."""
    from .packed import PackedRun

    packed = PackedRun(data)
    return Result(packed.record, packed, packed.texts)
