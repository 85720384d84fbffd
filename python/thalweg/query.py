"""SQL over the runs of a study, by DuckDB: each table of a run is a view over all runs.

The views have the keys of the sweep and the seed before the columns of the table; the view `runs` has one row per run, with
the main metrics. Parquet files of a dataset are read in place, and only the columns and rows that a query needs.

DuckDB is installed by `pip install thalweg[query]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ._run_folder import TABLES
from ._stored import INDEX_AGAIN, read_table
from .dataset import RUNS, RunDataset
from .errors import ResultError
from .result import Result

if TYPE_CHECKING:
    import duckdb
    import polars

__all__ = ["VIEWS", "query"]

VIEWS = ("runs", *TABLES)
"""Names of the views."""

FORMATS = {".csv": "csv, header true", ".json": "json, array true", ".parquet": "parquet, compression zstd"}
"""Files that a query writes, and the words for DuckDB."""


def query(
    folder: str | Path, sql: str, *, out: str | Path | None = None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Columns and rows of a query over the folder of a sweep or of a run.

    With `out` the rows are written to that file (CSV, JSON or Parquet, by its extension) instead. Raises `ResultError` if
    the folder holds neither, `ValueError` for another extension and for none or several statements, `duckdb.Error` for a
    mistake in the query, and `ImportError` without DuckDB.
    """
    import duckdb

    if out is not None and Path(out).suffix not in FORMATS:
        raise ValueError(f"{out}: the extension is none of {', '.join(FORMATS)}")
    with TemporaryDirectory(prefix="thalweg-") as work, duckdb.connect(":memory:") as database:
        statements = database.extract_statements(sql)
        if len(statements) != 1:
            raise ValueError(f"a query is one statement, and this has {len(statements) or 'none'}")
        _make_views(database, Path(folder), sql, Path(work))
        if out is not None:
            _write(database, sql, statements[0].type, Path(out))
            return [], []
        found = database.execute(sql)
        return [column[0] for column in found.description or ()], found.fetchall()


def _write(database: duckdb.DuckDBPyConnection, sql: str, kind: duckdb.StatementType, out: Path) -> None:
    """Writes the rows of a query to a file. Messages of DuckDB show the user's own text only."""
    import duckdb

    if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI):
        raise ValueError("only the rows of a query can be written to a file, such as the rows of `from runs`")
    # finds mistakes without reading the rows
    database.sql(sql)
    try:
        # the line ends a comment
        database.execute(f"copy ({sql.strip().rstrip(';')}\n) to {_text(out)} (format {FORMATS[out.suffix]})")
    except duckdb.Error as error:
        raise type(error)(str(error).partition("\n\nLINE ")[0]) from error


def _make_views(database: duckdb.DuckDBPyConnection, folder: Path, sql: str, work: Path) -> None:
    """Makes the views whose names are in the query; all of them, without most of the rows, if it names none."""
    root, rows = _runs(folder)
    names: list[str] = rows["run"].to_list()
    rows.write_parquet(work / RUNS)
    database.execute(f"create view runs as select * from read_parquet({_text(work / RUNS)})")
    stored = RunDataset.at(root)
    parts = stored.parts
    loose = [name for name in names if not stored.compacted(name)]
    keys = ", ".join(f"runs.{_name(column)}" for column in _keys(rows))
    named = [view for view in VIEWS if re.search(rf"\b{view}\b", sql, re.IGNORECASE)]
    # `show tables` reads no rows
    some = slice(None if named else 1)
    for table in TABLES:
        if named and table not in named:
            continue
        files = [part / f"{table}.parquet" for part in parts[some]] if len(loose) < len(names) else []
        if loose:
            files.append(work / f"{table}.parquet")
            _collect(root, loose[some], table).write_parquet(files[-1])
        listed = ", ".join(map(_text, files))
        database.execute(
            f"create view {table} as select {keys}, rows.* exclude (run) "
            f"from read_parquet([{listed}], union_by_name = true) rows join runs using (run)"
        )


def _runs(folder: Path) -> tuple[Path, polars.DataFrame]:
    """The folder below which the runs of a study are, and the rows of the view `runs`."""
    import polars

    from .report import sweep_index, sweep_rows
    from .sweep import SweepResult, SweepRun

    if not (folder / sweep_index.FILE).is_file():
        if (folder / sweep_index.PART).is_file():
            raise ResultError(f"{folder}: this sweep has not ended; the command that began it continues it")
        run = Result.load(folder)
        absolute = folder.resolve()
        rows = SweepResult([], [SweepRun({}, run.seed, run)], 1).rows(sweep_rows.key_metrics(run))
        name = f"{absolute.parent.name}/{absolute.name}"
        return absolute.parent.parent, rows.with_columns(run=polars.lit(name))
    record = sweep_index.read(folder)
    places = [run["folder"] for run in record["runs"]]
    if not places or places[0] is None:
        raise ResultError(f"{folder} holds no runs")
    root = (folder / places[0]).resolve().parent.parent
    if (file := folder / RUNS).is_file():
        return root, read_table(file, ["run", "seed", "trace_hash"], INDEX_AGAIN)
    return root, SweepResult.load(folder).rows(record["metrics"])


def _keys(rows: polars.DataFrame) -> Sequence[str]:
    """The columns of `runs` that every view has: the name of a run, the keys of the sweep and the seed."""
    return rows.columns[: rows.columns.index("trace_hash")]


def _collect(root: Path, names: Sequence[str], table: str) -> polars.DataFrame:
    """A table of runs that are not in a part of a dataset."""
    import polars

    frames = [Result.load(root / name).frame(table) for name in names]
    run = [name for name, frame in zip(names, frames, strict=True) for _ in range(frame.height)]
    whole = polars.concat(frames, how="vertical_relaxed")
    return whole.insert_column(0, polars.Series("run", run, polars.String))


def _text(value: str | Path) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
