"""Datasets of runs: a folder of Parquet files in which thousands of runs share one file per table.

A finished run is first one file in `incoming`. Runs are then compacted, `BATCH` at a time, in the order of their sweep: a
part such as `part-000003` holds one Parquet file per table, with the column `run`, and `runs.parquet`, with one row per run.
All parts have the same schema: `polars.scan_parquet("STUDY/part-*/flows.parquet")` reads them as one table.

A part appears by a single rename of its complete folder, and the files in `incoming` are removed after that. If compaction
is interrupted before the rename, the runs are still in `incoming`; if after it, a run that is also in a part counts once.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ._run_folder import FORMAT, TABLES, TEXTS
from ._stored import COLUMNS, check_table_of_run, read_table, warn_of_damage
from .errors import ResultError
from .packed import PackedRun

if TYPE_CHECKING:
    import polars

__all__ = ["BATCH", "RunDataset", "StoredRun"]

BATCH = 500
"""Runs of a part; a sweep of more runs than this is stored as a dataset."""

PART_BYTES = 256 * 2**20
"""Packed runs of more bytes than this are several parts, because a part is written from memory."""

INCOMING = "incoming"
LOOSE = ".zip"
"""Last letters of the name of a file in `incoming`."""

LOCK = ".lock"
DAMAGED = ".damaged-"
"""First letters of the name of a part that cannot be read."""
RUNS = "runs.parquet"
"""The file of a part, and of a sweep, with one row per run."""

CACHED_TABLES = 24
"""Tables of parts that are kept in memory."""

Read = TypeVar("Read")


@dataclass(frozen=True)
class StoredRun:
    """A run of a dataset: the source of the tables of a `Result`."""

    dataset: RunDataset
    name: str

    def frame(self, table: str) -> polars.DataFrame:
        """A table of this run."""
        return self.dataset.frame(self.name, table)


@dataclass(frozen=True)
class _Entry:
    """Where a run is."""

    place: Path
    """Its part, or its file in `incoming`."""
    columns: tuple[str, ...] = ()
    """Of a run in a part: record, scenario and plan."""

    @property
    def loose(self) -> bool:
        """Whether it is in `incoming`."""
        return not self.columns

    def describe(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The record, and the texts of scenario and plan."""
        if self.loose:
            packed = PackedRun(self.place.read_bytes())
            return packed.record, packed.texts
        record, *texts = self.columns
        return json.loads(record), dict(zip(TEXTS, texts, strict=True))


class RunDataset:
    """The runs in a folder that `add` and `compact` have written. Several processes can write to the same folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._entries: dict[str, _Entry] = {}
        self._seen: dict[Path, tuple[int, list[str]]] = {}
        self._frames: OrderedDict[tuple[Path, str], Any] = OrderedDict()
        self._lock = threading.RLock()
        self.refresh()

    @staticmethod
    def at(folder: str | Path) -> RunDataset:
        """The dataset in a folder, as it is now. Objects are shared, so that a part is read once."""
        dataset = _shared(Path(folder).resolve())
        dataset.refresh()
        return dataset

    def refresh(self) -> None:
        """Reads what has been added since, by this process or another."""
        with self._lock:
            # files of `incoming` first: a run that is moved meanwhile is found in its part
            loose = {}
            with suppress(FileNotFoundError):
                for file in os.scandir(self.folder / INCOMING):
                    with suppress(FileNotFoundError):
                        if file.name.endswith(LOOSE):
                            loose[Path(file.path)] = file.stat().st_mtime_ns
            found = {**loose, **{part: part.stat().st_mtime_ns for part in self.parts}}
            for place in [place for place, (stamp, _) in self._seen.items() if found.get(place) != stamp]:
                for name in self._seen.pop(place)[1]:
                    if name in self._entries and self._entries[name].place == place:
                        del self._entries[name]
                for key in [key for key in self._frames if key[0] == place]:
                    del self._frames[key]
            for place in [place for place in found if place not in self._seen]:
                entries = _read_incoming(place) if place in loose else _read_part(place)
                self._seen[place] = (found[place], list(entries))
                for name, entry in entries.items():
                    if name not in self._entries or self._entries[name].loose:
                        self._entries[name] = entry

    @property
    def parts(self) -> list[Path]:
        """Folders of compacted runs."""
        return sorted(part for part in self.folder.glob("part-*") if (part / RUNS).is_file())

    @property
    def names(self) -> list[str]:
        """Names of its runs."""
        return list(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def compacted(self, name: str) -> bool:
        """Whether a run is in a part."""
        entry = self._entries.get(name)
        return entry is not None and not entry.loose

    def run(self, name: str) -> tuple[dict[str, Any], StoredRun, dict[str, str]]:
        """Record, tables and texts of a run. Raises `KeyError` if it is not here, `ResultError` for a later format."""
        record, texts = self._read(name, _Entry.describe)
        if int(record["format"]) > FORMAT:
            raise ResultError(
                f"{self.folder / name} has format {record['format']}; this version reads up to {FORMAT}"
            )
        return record, StoredRun(self, name), texts

    def frame(self, name: str, table: str) -> polars.DataFrame:
        """A table of a run."""

        def read(entry: _Entry) -> polars.DataFrame:
            if entry.loose:
                return PackedRun(entry.place.read_bytes()).frame(table)
            by_name, empty = self._part_table(entry.place, table)
            found: polars.DataFrame = by_name.get((name,), empty)
            return found

        return self._read(name, read)

    def _read(self, name: str, read: Callable[[_Entry], Read]) -> Read:
        """Reads a run, also if it is compacted meanwhile."""
        try:
            return read(self._entries[name])
        except FileNotFoundError:
            self.refresh()
            return read(self._entries[name])

    def _part_table(self, part: Path, table: str) -> tuple[dict[Any, polars.DataFrame], polars.DataFrame]:
        """A table of a part by run, and without rows."""
        if (part, table) not in self._frames:
            frame = read_table(part / f"{table}.parquet", ["run", *COLUMNS[table]])
            by_name = frame.partition_by("run", as_dict=True, include_key=False)
            self._frames[part, table] = (by_name, frame.drop("run").clear())
            if len(self._frames) > CACHED_TABLES:
                self._frames.popitem(last=False)
        found: tuple[dict[Any, polars.DataFrame], polars.DataFrame] = self._frames[part, table]
        return found

    def scan(self, table: str, names: Sequence[str] | None = None) -> polars.LazyFrame:
        """A table of these runs, or of all, with the column `run`. Runs in `incoming` are read at once."""
        import polars

        wanted = set(self._entries if names is None else names)
        parts = sorted({self._entries[name].place for name in wanted if self.compacted(name)})
        for part in parts:
            check_table_of_run(part / f"{table}.parquet", table, ["run"])
        frames = [polars.scan_parquet([part / f"{table}.parquet" for part in parts])] if parts else []
        frames += [
            self.frame(name, table).select(polars.lit(name).alias("run"), polars.all()).lazy()
            for name in list(self._entries)
            if name in wanted and not self.compacted(name)
        ]
        whole = polars.concat(frames, how="vertical_relaxed")
        return whole if names is None else whole.filter(polars.col("run").is_in(wanted))

    def add(self, name: str, run: PackedRun) -> None:
        """Stores a finished run in a file of its own, which appears by a rename."""
        file = self.folder / INCOMING / f"{name.replace('/', ',')}{LOOSE}"
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}.part")
        partial.write_bytes(run.data)
        partial.replace(file)
        with self._lock:
            self._seen[file] = (file.stat().st_mtime_ns, [name])
            if not self.compacted(name):
                self._entries[name] = _Entry(file)

    def compact(self, names: Sequence[str]) -> None:
        """Moves the runs that are in `incoming` to parts, in this order."""
        with self._locked():
            self.refresh()
            batch: list[tuple[str, Path]] = []
            size = 0
            for name in dict.fromkeys(names):
                entry = self._entries.get(name)
                if entry is None or not entry.loose:
                    continue
                batch.append((name, entry.place))
                size += entry.place.stat().st_size
                if size > PART_BYTES:
                    self._write_part(batch)
                    batch, size = [], 0
            if batch:
                self._write_part(batch)
            self.refresh()
            for place, (_, stored) in list(self._seen.items()):
                if place.name.endswith(LOOSE) and stored and all(map(self.compacted, stored)):
                    place.unlink(missing_ok=True)

    def end(self) -> None:
        """Removes `incoming` if it is empty."""
        with suppress(OSError):
            (self.folder / INCOMING).rmdir()

    def _write_part(self, batch: Sequence[tuple[str, Path]]) -> None:
        import polars

        runs = [(name, PackedRun(file.read_bytes())) for name, file in batch]
        numbers = [int(part.name.removeprefix("part-")) for part in self.folder.glob("part-[0-9]*")]
        part = self.folder / f"part-{max(numbers, default=-1) + 1:06}"
        work = self.folder / f".{part.name}"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        for table in TABLES:
            frames = [run.frame(table) for _, run in runs]
            # once for all, because an operation on each of thousands of small frames takes long
            column = [
                name for (name, _), frame in zip(runs, frames, strict=True) for _ in range(frame.height)
            ]
            whole = polars.concat(frames, how="vertical_relaxed", rechunk=True)
            whole.insert_column(0, polars.Series("run", column, polars.String))
            _write_durably(whole, work / f"{table}.parquet")
        _write_durably(polars.DataFrame([_row(name, run) for name, run in runs]), work / RUNS)
        _sync(work)
        work.rename(part)
        _sync(self.folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process compacts at a time."""
        with (self.folder / LOCK).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def set_damaged_parts_aside(folder: Path) -> None:
    """Gives parts with a file that cannot be read another name, `DAMAGED`, and says so: their runs are run again.

    They are kept, because they can have runs of other sweeps.
    """
    for part in sorted(folder.glob("part-*")):
        if not (part / RUNS).exists():
            continue
        try:
            _read_part(part)
            for table in TABLES:
                check_table_of_run(part / f"{table}.parquet", table, ["run"])
        except ResultError as error:
            numbers = (f"{DAMAGED}{part.name}{'.' * bool(number)}{number or ''}" for number in count())
            aside = next(folder / name for name in numbers if not (folder / name).exists())
            part.rename(aside)
            warn_of_damage(
                error, f"the part is kept as {aside.name}, and its runs are run again if this sweep has them"
            )


@cache
def _shared(folder: Path) -> RunDataset:
    return RunDataset(folder)


def _row(name: str, run: PackedRun) -> dict[str, Any]:
    """The row of a run in `runs.parquet`."""
    record, expect = run.record, run.frame("expect")
    return {
        "run": name,
        "seed": record["seed"],
        "trace_hash": record["trace_hash"],
        "packet_hops": record["packet_hops"],
        "passed": bool(expect["pass"].all()),
        "wall_s": record["wall_s"],
        "cpu_s": record["cpu_s"],
        "record": json.dumps(record),
        **dict(zip(("scenario_toml", "plan_toml"), (run.texts[name] for name in TEXTS), strict=True)),
    }


def _read_part(part: Path) -> dict[str, _Entry]:
    columns = ["run", "record", "scenario_toml", "plan_toml"]
    rows = read_table(part / RUNS, columns).select(columns).rows()
    return {name: _Entry(part, tuple(about)) for name, *about in rows}


def _read_incoming(file: Path) -> dict[str, _Entry]:
    """The run in a file; nothing if the file is damaged, so that the run is repeated."""
    try:
        damaged = PackedRun(file.read_bytes()).damaged
    except FileNotFoundError:
        return {}
    return {} if damaged else {file.name.removesuffix(LOOSE).replace(",", "/"): _Entry(file)}


def _write_durably(frame: polars.DataFrame, file: Path) -> None:
    frame.write_parquet(file, compression="zstd")
    _sync(file)


def _sync(path: Path) -> None:
    """Waits until a file or the entries of a folder are on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
