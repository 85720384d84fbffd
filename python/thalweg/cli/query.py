"""`thalweg query`: SQL over the runs of a study."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..errors import ResultError
from .output import CommandError, console, print_table, show_json

MAX_ROWS = 100
"""Maximum rows on the terminal."""


def query(study: Path, sql: str, /, *, out: Path | None = None, json: bool = False) -> int:
    """Query the runs of a sweep, or one run, with SQL.

    Parameters
    ----------
    study
        Folder of a sweep, or of a run.
    sql
        Query in the SQL of DuckDB.
    out
        Write the rows to this file instead: CSV, JSON or Parquet, by its extension.
    json
        Print one JSON object.
    """
    try:
        import duckdb
    except ImportError as error:
        raise CommandError(
            "queries need DuckDB, which is not installed", "pip install thalweg[query]", code=1
        ) from error
    from ..query import VIEWS
    from ..query import query as run_query

    try:
        columns, rows = run_query(study, sql, out=out)
    except ResultError:
        raise
    except ValueError as error:
        raise CommandError(
            str(error), 'an example: "select seed, avg(goodput_bps) from flows group by seed"'
        ) from error
    except duckdb.CatalogException as error:
        # DuckDB suggests tables of its own
        message = re.sub(r'\n*Did you mean "pg_\w+"\?', "", str(error).strip())
        hint = f"the views are {', '.join(VIEWS)}" if "Table with name" in message else None
        raise CommandError(message, hint) from error
    except duckdb.Error as error:
        raise CommandError(str(error).strip()) from error
    if out is not None:
        if json:
            show_json({"file": str(out)})
        else:
            console().print(f"Rows: {out}", soft_wrap=True, markup=False)
        return 0
    keys = _unique(columns)
    listed = [dict(zip(keys, map(_plain, row), strict=True)) for row in rows]
    if json:
        show_json({"columns": keys, "rows": listed})
        return 0
    print_table(
        f"{len(rows)} row{'s' * (len(rows) != 1)}",
        [(key, key) for key in keys],
        listed,
        limit=MAX_ROWS,
        all_in="`--out FILE.csv` has all",
    )
    return 0


def _unique(columns: list[str]) -> list[str]:
    """The names of the columns; the second of a name has a number."""
    seen: dict[str, int] = {}
    names = []
    for column in columns:
        seen[column] = seen.get(column, 0) + 1
        names.append(column if seen[column] == 1 else f"{column}_{seen[column]}")
    return names


def _plain(value: Any) -> Any:
    """A value for JSON: numbers and text."""
    if isinstance(value, Decimal):
        return float(value)
    return value if value is None or isinstance(value, bool | int | float | str | list | dict) else str(value)
