"""The folder of a run: its files, the record in it, and the title of the run."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from ._stored import read_record
from .errors import ResultError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._part import Keys
    from .scenario import Plan

FORMAT = 5
"""Version of the run folder's format."""

TABLES = (
    *("flows", "receivers", "links", "nodes", "apps", "exchanges"),
    *("series", "events", "packets", "distributions", "summary", "expect"),
)
"""Every table of a run."""

SINCE = {"nodes": 2, "apps": 4, "exchanges": 4, "distributions": 4, "packets": 5}
"""Tables that are missing in folders of an earlier format; they are read as empty."""

TEXTS = ("scenario.toml", "plan.toml")
"""The scenario as it was given, and the plan."""

KEYS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("version", "title", "status", "trace_hash"), str),
    **dict.fromkeys(("seed", "packet_hops"), int),
    **dict.fromkeys(("ended_s", "wall_s", "cpu_s"), (int, float)),
}
"""Keys of the record of a run that every version writes, and the types of their values."""

OPTIONAL_KEYS: dict[str, type] = {
    "overrides": dict,
    "emulation": dict,
    "drill": dict,
    "violated_invariants": list,
}
"""Keys that only some records have."""

MANIFEST = "run.json"
PART = "run.json.part"

PAGE = "report.html"
"""Default title of the page of a folder."""

KEYS_IN_TITLE = 4
"""Maximum number of changed keys in a title."""

VALUE_IN_TITLE = 24
"""Maximum characters of a value in a title."""

CHANGES_IN_TITLE = 72
"""Maximum characters of all changed keys in a title; of those that do not fit, the number is there."""


def begin(plan: Plan, folder: str | Path) -> Path:
    """Makes a run folder for a run that is about to start."""
    folder = Path(folder)
    record = record_of(plan) | {
        "status": "unfinished",
        "trace_hash": "",
        "ended_s": 0.0,
        "packet_hops": 0,
        "events_handled": 0,
        "wall_s": 0.0,
        "cpu_s": 0.0,
    }
    try:
        prepare_folder(folder, texts_of(plan))
        for table in TABLES:
            (folder / f"{table}.parquet").unlink(missing_ok=True)
        (folder / PART).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise ResultError(f"{folder} cannot be written: {error.strerror or error}") from error
    return folder


def with_overrides(title: str, overrides: Mapping[str, Any]) -> str:
    """A title and the changed keys: `A first run · bottleneck.buffer = 0.2 bdp`."""
    words = [f"{key.removeprefix('topology.')} = {_shown(value)}" for key, value in overrides.items()]
    kept = KEYS_IN_TITLE
    while kept > 1 and len(", ".join(words[:kept])) > CHANGES_IN_TITLE:
        kept -= 1
    if len(words) > kept:
        words[kept:] = [f"{len(words) - kept} more"]
    return " · ".join(filter(None, [title, ", ".join(words)]))


def _shown(value: Any) -> str:
    """A value in a few words: of a table its kind, of a list of tables their number."""
    if isinstance(value, dict):
        return str(value.get("kind", f"{len(value)} keys"))
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return "1 entry" if len(value) == 1 else f"{len(value)} entries"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_IN_TITLE else f"{text[: VALUE_IN_TITLE - 1]}…"


def prepare_folder(folder: Path, texts: dict[str, str]) -> None:
    """Makes the folder, and removes the record and the page of an earlier run, which would contradict the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (MANIFEST, PAGE):
        (folder / name).unlink(missing_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def texts_of(plan: Plan) -> dict[str, str]:
    return {"scenario.toml": plan.scenario.toml, "plan.toml": plan.toml}


def record_of(plan: Plan) -> Keys:
    """The record of a run before it starts."""
    return {
        "format": FORMAT,
        "version": _native.__version__,
        "title": plan.title,
        "overrides": plan.scenario.overrides,
        "seed": plan.seed,
        "duration_s": plan.duration_s,
        "argv": list(plan.argv),
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "python": platform.python_version(),
        },
    }


def manifest(folder: str | Path) -> dict[str, Any] | None:
    """The content of a run folder's `run.json`; None if there is no complete run."""
    try:
        return read_record(Path(folder) / MANIFEST)
    except (OSError, ResultError):
        return None
