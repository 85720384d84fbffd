"""A run as bytes: sent between processes by `thalweg.cluster`, and stored by `thalweg.dataset` until it is compacted."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ._run_folder import MANIFEST, TABLES, TEXTS

if TYPE_CHECKING:
    import polars

    from .result import Result

__all__ = ["PackedRun"]


@dataclass(frozen=True)
class PackedRun:
    """A ZIP archive of the files of a run folder, with tables as Parquet or as Arrow IPC streams."""

    data: bytes

    @classmethod
    def of(cls, result: Result, *, arrow: bool = False) -> PackedRun:
        """Packs a run. Parquet tables have the bytes of a run folder; Arrow tables take a tenth of the time."""
        if not arrow:
            with TemporaryDirectory(prefix="thalweg-") as folder:
                result.save(folder)
                # tables are compressed already
                return cls(_archive({file.name: file.read_bytes() for file in Path(folder).iterdir()}))
        files = {MANIFEST: json.dumps(result.record).encode()}
        files |= {name: text.encode() for name, text in result.texts.items()}
        for table in TABLES:
            files[f"{table}.arrow"] = (
                result.frame(table).write_ipc_stream(None, compression="zstd").getvalue()
            )
        return cls(_archive(files))

    @cached_property
    def _archive(self) -> zipfile.ZipFile:
        return zipfile.ZipFile(io.BytesIO(self.data))

    @property
    def damaged(self) -> bool:
        """Whether the bytes are not those that were written."""
        try:
            return self._archive.testzip() is not None
        except (zipfile.BadZipFile, zlib.error, EOFError):
            return True

    @cached_property
    def record(self) -> dict[str, Any]:
        """The content of `run.json`."""
        record: dict[str, Any] = json.loads(self._archive.read(MANIFEST))
        return record

    @property
    def texts(self) -> dict[str, str]:
        """Scenario and plan."""
        return {name: self._archive.read(name).decode() for name in TEXTS}

    def frame(self, table: str) -> polars.DataFrame:
        """A table."""
        import polars

        if f"{table}.arrow" in self._archive.NameToInfo:
            return polars.read_ipc_stream(io.BytesIO(self._archive.read(f"{table}.arrow")))
        return polars.read_parquet(io.BytesIO(self._archive.read(f"{table}.parquet")))

    def save_tables(self, folder: Path) -> bool:
        """Writes the tables as they are, if they are Parquet; false if they are not."""
        if f"{TABLES[0]}.parquet" not in self._archive.NameToInfo:
            return False
        for table in TABLES:
            (folder / f"{table}.parquet").write_bytes(self._archive.read(f"{table}.parquet"))
        return True


def _archive(files: dict[str, bytes]) -> bytes:
    """A ZIP archive with checksums."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 1)
    return buffer.getvalue()
