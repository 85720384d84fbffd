"""Folders of results: a folder belongs to one plan, and a run of another plan is never written into it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .._folder_names import QUANTITY, pair, sanitize, short_key, value_text
from .._lock import LOCK_FILE
from .._run_folder import MANIFEST, PAGE, PART, manifest
from .._stored import read_record
from ..dataset import INCOMING, LOCK, RUNS
from ..errors import ResultError
from .requests import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..result import Result
    from ..scenario import Plan
    from ..sweep import Sweep

MAX_NAME_BYTES = 120
"""Maximum length of a folder's name."""

DIGEST_DIGITS = 8
"""Hexadecimal digits of a digest in a folder's name; more if that name is taken."""

Content = Literal["nothing", "this", "another", "files"]
"""Content of a folder: nothing, a run of this plan, a run of another plan, or something else."""


@dataclass(frozen=True)
class RunLocation:
    """The folder of one run."""

    folder: Path
    """The folder of the results at the end."""
    work: Path
    """The folder during the run: `FOLDER.part` if the folder holds an earlier run of the same plan."""
    has_page: bool = False
    """Whether the folder had a page, which must be written again."""
    note: str = ""
    """The reason if it is not the folder that the name suggests."""


@dataclass(frozen=True)
class SweepLocation:
    """The folder of a sweep."""

    folder: Path
    """Summary and page."""
    runs: Path
    """The folder of the runs, which several sweeps of a scenario share."""
    has_page: bool = False
    """Whether the folder had a page, which must be written again."""
    note: str = ""
    """The reason if it is not the folder that the name suggests."""


def folder_name(overrides: Mapping[str, Any], *last: str) -> str:
    """A folder's name: the changed keys and their values, then `last`: `bottleneck.buffer=0.2bdp,seed=1`.

    The name is valid on all file systems and of bounded length. If it cannot show a value in full, it ends with a digest.
    """
    seeded = any(word.startswith("seed=") for word in last)
    pairs = {key: value for key, value in sorted(overrides.items()) if key != "seed" or not seeded}
    exact = all(
        sanitize(short_key(key)) == short_key(key) and _is_exact(value, sanitize(value_text(value)))
        for key, value in pairs.items()
    )
    tail = list(last)
    words = [pair(key, value) for key, value in pairs.items()]
    if not exact or len(",".join([*words, *tail]).encode()) > MAX_NAME_BYTES:
        tail = [*last, f"set={_digest(json.dumps(pairs, sort_keys=True, default=str))}"]
    room = MAX_NAME_BYTES - len(",".join(tail)) - 1
    name = ""
    for word in words:
        longer = f"{name},{word}" if name else word
        if len(longer) > room:
            name = name or word[:room]
            break
        name = longer
    return ",".join(filter(None, [name, *tail]))


def locate_run(plan: Plan, name: Path, requested: Path | None, *, emulated: bool = False) -> RunLocation:
    """The folder of a run of this plan: `requested` if the user names a folder, otherwise `name`, or one beside it.

    Refuses a given folder that holds anything except a run of this plan.
    """
    if requested is not None:
        content = folder_content(requested, plan, emulated=emulated)
        if content in ("another", "files"):
            raise _occupied_error(requested, content)
        return _run_location(requested, content)
    for folder in _candidate_folders(name, plan):
        content = folder_content(folder, plan, emulated=emulated)
        if content == "this" and emulated and manifest(folder) is not None:
            # it measures again, and earlier measurements are kept
            folder, content = _next_numbered(folder), "nothing"
        if content in ("nothing", "this"):
            break
    note = (
        ""
        if folder == name
        else f"{name} holds {_DESCRIPTIONS[folder_content(name, plan, emulated=emulated)]}"
    )
    return _run_location(folder, content, note)


def finalize_run(location: RunLocation, result: Result) -> tuple[Path, str]:
    """Moves a finished run to its folder, and renews its page if there was one; returns the folder and the reason.

    An interrupted run does not replace one that lasted longer.
    """
    from ..report import write

    note = location.note
    if location.work != location.folder:
        if not result.complete and _simulated_time(location.folder) >= float(result.record["ended_s"]):
            return location.work, f"{location.folder} keeps the earlier run, which is longer"
        _move_run(location.work, location.folder)
    if location.has_page:
        write(location.folder)
    return location.folder, note


def locate_sweep(
    sweep: Sweep, parent: Path, requested: Path | None, overrides: Mapping[str, Any]
) -> SweepLocation:
    """The folder of a sweep: `requested` if the user names a folder, otherwise below `parent`.

    A sweep with all the runs of an earlier one replaces it; any other is stored beside it. Refuses a given folder that
    holds anything else.
    """
    plans = sweep.plan_digests
    if requested is not None:
        if requested.exists() and not requested.is_dir():
            raise CommandError(f"--out {requested}: not a folder")
        extended = _includes_sweep(requested, plans)
        if extended is False:
            raise CommandError(
                f"--out {requested}: the folder holds another sweep",
                "name another folder, or remove this one",
            )
        if (
            extended is None
            and requested.is_dir()
            and any(not _holds_runs(entry) for entry in requested.iterdir())
        ):
            raise CommandError(
                f"--out {requested}: the folder holds other files",
                "name an empty folder, or one that does not exist",
            )
        return _sweep_location(requested, requested)
    name = parent / folder_name(overrides) if overrides else parent
    if _includes_sweep(name, plans) is not False:
        return _sweep_location(name, parent)
    digest = _digest("\n".join(plans))
    beside = parent / folder_name(overrides, f"sweep={digest}")
    return _sweep_location(beside, parent, f"{name} holds another sweep")


def folder_content(folder: Path, plan: Plan, *, emulated: bool = False) -> Content:
    """The content of a folder relative to a run of this plan."""
    if not folder.exists():
        return "nothing"
    if not folder.is_dir():
        return "files"
    try:
        text = (folder / "plan.toml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "files" if any(entry.name != LOCK_FILE for entry in folder.iterdir()) else "nothing"
    record = manifest(folder)
    if record is not None and ("emulation" in record) != emulated:
        return "another"
    return "this" if text == plan.toml else "another"


_DESCRIPTIONS: dict[Content, str] = {
    "this": "an earlier run of this plan",
    "another": "a run of another plan",
    "files": "other files",
    "nothing": "nothing",
}


def _occupied_error(folder: Path, content: Content) -> CommandError:
    if folder.exists() and not folder.is_dir():
        return CommandError(
            f"--out {folder}: not a folder", "name an empty folder, or one that does not exist"
        )
    what = "a sweep" if (folder / "sweep.json").exists() else _DESCRIPTIONS[content]
    return CommandError(
        f"--out {folder}: the folder holds {what}",
        "name another folder, or remove this one; without --out each plan has a folder of its own",
    )


def _run_location(folder: Path, content: Content, note: str = "") -> RunLocation:
    work = folder.with_name(f"{folder.name}.part") if content == "this" else folder
    return RunLocation(folder, work, (folder / PAGE).exists(), note)


def _sweep_location(folder: Path, runs: Path, note: str = "") -> SweepLocation:
    return SweepLocation(folder, runs, (folder / PAGE).exists(), note)


def _includes_sweep(folder: Path, plans: list[str]) -> bool | None:
    """Whether these plans include all plans of the sweep in the folder; None without a sweep."""
    from ..report import sweep_plan_digests

    found = sweep_plan_digests(folder)
    return None if found is None else set(found) <= set(plans)


def _holds_runs(entry: Path) -> bool:
    """A folder of a run, or of the runs of a scenario, an entry of a dataset, or what is written beside `sweep.json`."""
    if entry.name in (INCOMING, LOCK, LOCK_FILE, RUNS, "summary.parquet", PAGE) or re.fullmatch(
        r"\.?part-\d+|\.damaged-part-.*|sweep\.json(\..+)?", entry.name
    ):
        return True
    return entry.is_dir() and ((entry / "plan.toml").exists() or any(entry.glob("seed=*/plan.toml")))


def _candidate_folders(name: Path, plan: Plan) -> Iterator[Path]:
    """Candidate folders for a run of this plan, in order."""
    yield name
    digest = _digest(plan.toml, 64)
    for digits in range(DIGEST_DIGITS, len(digest) + 1, 4):
        yield name.with_name(f"{name.name},plan={digest[:digits]}")


def _next_numbered(folder: Path) -> Path:
    """The first folder of this name and a number that does not exist."""
    numbered = (folder.with_name(f"{folder.name},run={number}") for number in count(2))
    return next(path for path in numbered if not path.exists())


def _simulated_time(folder: Path) -> float:
    """The simulated time of the run in a folder; infinite if it is complete."""
    for name in (MANIFEST, PART):
        try:
            record = read_record(folder / name)
            return float("inf") if record["status"] == "complete" else float(record["ended_s"])
        except (OSError, ResultError, ValueError, KeyError, TypeError):
            continue
    return -1.0


def _move_run(work: Path, folder: Path) -> None:
    """Moves the files of a run over an earlier run's; `run.json` last, so that a folder with it is complete."""
    for name in (MANIFEST, PART):
        (folder / name).unlink(missing_ok=True)
    for entry in sorted(work.iterdir(), key=lambda entry: entry.name == MANIFEST):
        target = folder / entry.name
        if target.is_dir():
            shutil.rmtree(target)
        os.replace(entry, target)
    work.rmdir()


def _is_exact(value: Any, shown: str) -> bool:
    """Whether the name of a value is unique."""
    written = value_text(value)
    return shown == written or bool(re.fullmatch(QUANTITY, written))


def _digest(text: str, digits: int = DIGEST_DIGITS) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
