"""Files of results, read with errors that name the file: records in JSON, tables in Parquet, texts in TOML."""

from __future__ import annotations

import json
import tomllib
import warnings
from typing import TYPE_CHECKING, Any

from . import catalogue
from .errors import ResultError, ResultWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import polars

AGAIN = "the command that wrote this folder writes it again"
"""The remedy for a damaged file of any folder of results."""

INDEX_AGAIN = "the same `thalweg run` or `Sweep.run` writes it again, and repeats no run"
"""The remedy for a damaged file beside the runs of a sweep."""

COLUMNS = {
    "flows": ("flow", "group", "scheme", "transport"),
    "receivers": ("flow", "node"),
    "links": ("link", "direction", "sent_packets", "utilisation"),
    "nodes": ("node", "role"),
    "apps": ("app", "kind"),
    "exchanges": ("app",),
    "series": ("subject", "series", "time_s", "value"),
    "events": ("time_s", "subject", "event"),
    "packets": ("link", "direction", "event"),
    "distributions": ("subject", "measure", "value_s", "share"),
    "summary": ("metric", "value"),
    "expect": ("key", "expected", "measured", "pass"),
}
"""Columns without which a table of a run says nothing. Versions add others."""

Kinds = type | tuple[type, ...]


def read_json(file: Path, hint: str = AGAIN) -> Any:
    """The value in a JSON file. Raises `ResultError`; `FileNotFoundError` or `NotADirectoryError` if there is no file."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise ResultError(f"{file} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ResultError(f"{file} is damaged: byte {error.start} is not UTF-8", hint) from error
    except ValueError as error:
        raise ResultError(f"{file} is damaged: {error}", hint) from error
    except RecursionError as error:
        raise ResultError(f"{file} is damaged: nested too deeply", hint) from error


def read_record(file: Path, hint: str = AGAIN) -> dict[str, Any]:
    """The object in a JSON file. Raises as `read_json` does."""
    record = read_json(file, hint)
    if not isinstance(record, dict):
        raise ResultError(f"{file} is damaged: it holds no JSON object", hint)
    return record


def check_keys(
    record: Mapping[str, Any],
    file: Path,
    needed: Mapping[str, Kinds],
    optional: Mapping[str, Kinds] | None = None,
    hint: str = AGAIN,
) -> None:
    """Raises `ResultError` if a key of a record is missing, or its value is of another type."""
    for key, kinds in {**needed, **(optional or {})}.items():
        if key not in record:
            if key in needed:
                raise ResultError(f"{file} is damaged: `{key}` is missing", hint)
        elif not isinstance(record[key], kinds):
            found = json.dumps(record[key])
            shown = found if len(found) <= 40 else f"{found[:40]} …"
            raise ResultError(f"{file} is damaged: `{key}` cannot be {shown}", hint)


def read_index(file: Path) -> dict[str, Any]:
    """The content of the `sweep.json` of a sweep. Raises as `read_record` does."""
    hint = INDEX_AGAIN
    record = read_record(file, hint)
    needed = {
        "version": str,
        "title": str,
        "planned": int,
        **dict.fromkeys(("keys", "metrics", "runs"), list),
    }
    optional = {**dict.fromkeys(("overrides", "spans", "times", "scatter"), dict), "failures": list}
    check_keys(record, file, needed, {**optional, "plans": list}, hint)
    for run in record["runs"]:
        if not isinstance(run, dict):
            raise ResultError(f"{file} is damaged: `runs` holds {json.dumps(run)[:40]}", hint)
        needed = {"values": dict, "seed": int, "trace_hash": str, "packet_hops": int, "passed": bool}
        check_keys(run, file, {**needed, "folder": (str, type(None))}, {"metrics": dict}, hint)
    return record


def parse_toml(text: str, file: str | Path) -> dict[str, Any]:
    """The keys of a text in TOML that was read from `file`. Raises `ResultError`."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ResultError(f"{file} is damaged: {error}", AGAIN) from error


def read_table(file: Path, columns: Iterable[str] = (), hint: str = AGAIN) -> polars.DataFrame:
    """A table with at least these columns. Raises `ResultError`."""
    import polars

    try:
        frame = polars.read_parquet(file)
    except (OSError, polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise _damaged_table(file, error, hint) from error
    _check_columns(frame.schema, file, columns, hint)
    return frame


def read_table_of_run(file: Path, table: str, hint: str = AGAIN) -> polars.DataFrame:
    """A table of a run, with its columns as this version writes them. Raises `ResultError`."""
    frame = read_table(file, COLUMNS[table], hint)
    check_types(frame.schema, file, table, hint)
    return frame


def check_table_of_run(file: Path, table: str, columns: Iterable[str] = ()) -> None:
    """As `read_table_of_run`, but reads only the end of the file, which is missing if the file was cut."""
    import polars

    try:
        schema = polars.Schema(polars.read_parquet_schema(file))
    except (OSError, polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise _damaged_table(file, error, AGAIN) from error
    _check_columns(schema, file, [*COLUMNS[table], *columns], AGAIN)
    check_types(schema, file, table, AGAIN)


def warn_of_damage(error: ResultError, remedy: str) -> None:
    """Says that a damaged file is not used, and what is done instead."""
    warnings.warn(f"{error}; {remedy}", ResultWarning, stacklevel=3)


def check_types(schema: polars.Schema, file: Path, table: str, hint: str = AGAIN) -> None:
    """Raises `ResultError` if a column with a unit holds no numbers, or one without a unit does."""
    units = catalogue.units(table)
    for row in catalogue.metrics():
        if row["table"] == table and (kind := schema.get(row["name"])) is not None:
            number = row["name"] in units
            if kind.is_numeric() != number and not kind.is_(_null()):
                what = "numbers" if number else "text"
                raise ResultError(f"{file} is damaged: its column `{row['name']}` holds no {what}", hint)


def _null() -> type[polars.Null]:
    """The type of a column that has no value in any row."""
    import polars

    return polars.Null


def _check_columns(schema: polars.Schema, file: Path, columns: Iterable[str], hint: str) -> None:
    for column in columns:
        if column not in schema:
            raise ResultError(f"{file} is damaged: it has no column `{column}`", hint)


def _damaged_table(file: Path, error: BaseException, hint: str) -> ResultError:
    """Says in a few words why a table cannot be read."""
    if not file.exists():
        return ResultError(f"{file} is missing", hint)
    if file.is_file() and file.stat().st_size == 0:
        return ResultError(f"{file} is damaged: it is empty", hint)
    why = str(error).partition("\n")[0].removeprefix("parquet: ")
    if isinstance(error, OSError):
        return ResultError(f"{file} cannot be read: {error.strerror or why}")
    return ResultError(f"{file} is damaged: {why}", hint)
