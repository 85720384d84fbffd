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

from ..result import MANIFEST, PAGE, PART, manifest
from .out import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..result import Result
    from ..scenario import Plan
    from ..sweep import Sweep, SweepResult

NAME_BYTES = 120
"""Maximum length of a folder's name."""

DIGEST = 8
"""Hexadecimal digits of a digest in a folder's name; more if that name is taken."""

Holds = Literal["nothing", "this", "another", "files"]
"""Content of a folder: nothing, a run of this plan, a run of another plan, or something else."""


@dataclass(frozen=True)
class Place:
    """The folder of one run."""

    folder: Path
    """The folder of the results at the end."""
    work: Path
    """The folder during the run: `FOLDER.part` if the folder holds an earlier run of the same plan."""
    paged: bool = False
    """Whether the folder had a page, which must be written again."""
    note: str = ""
    """The reason if it is not the folder that the name suggests."""


@dataclass(frozen=True)
class SweepPlace:
    """The folder of a sweep."""

    folder: Path
    """Summary and page."""
    runs: Path
    """The folder of the runs, which several sweeps of a scenario share."""
    plans: list[str]
    """Digests of its plans."""
    paged: bool = False
    """Whether the folder had a page, which must be written again."""
    note: str = ""
    """The reason if it is not the folder that the name suggests."""


def name_of(overrides: Mapping[str, Any], *last: str) -> str:
    """A folder's name: the changed keys and their values, then `last`: `bottleneck.buffer=0.2bdp,seed=1`.

    The name is valid on all file systems and of bounded length. If it cannot show a value in full, it ends with a digest.
    """
    seeded = any(word.startswith("seed=") for word in last)
    pairs = {key: value for key, value in sorted(overrides.items()) if key != "seed" or not seeded}
    words = [f"{_safe(_short(key))}={_safe(_written(value))}" for key, value in pairs.items()]
    exact = all(
        _safe(_short(key)) == _short(key) and _is_exact(value, _safe(_written(value)))
        for key, value in pairs.items()
    )
    tail = list(last)
    if not exact or len(",".join([*words, *tail]).encode()) > NAME_BYTES:
        tail = [*last, f"set={_digest(json.dumps(pairs, sort_keys=True, default=str))}"]
    room = NAME_BYTES - len(",".join(tail)) - 1
    name = ""
    for word in words:
        longer = f"{name},{word}" if name else word
        if len(longer) > room:
            name = name or word[:room]
            break
        name = longer
    return ",".join(filter(None, [name, *tail]))


def place_of(plan: Plan, name: Path, given: Path | None, *, emulated: bool = False) -> Place:
    """The folder of a run of this plan: `given` if the user names a folder, otherwise `name`, or one beside it.

    Refuses a given folder that holds anything except a run of this plan.
    """
    if given is not None:
        holds = held_by(given, plan, emulated=emulated)
        if holds in ("another", "files"):
            raise _refused(given, holds)
        return _at(given, holds)
    for folder in _candidates(name, plan):
        holds = held_by(folder, plan, emulated=emulated)
        if holds == "this" and emulated and manifest(folder) is not None:
            # it measures again, and earlier measurements are kept
            folder, holds = _numbered(folder), "nothing"
        if holds in ("nothing", "this"):
            break
    note = "" if folder == name else f"{name} holds {_WORDS[held_by(name, plan, emulated=emulated)]}"
    return _at(folder, holds, note)


def settle(place: Place, result: Result) -> tuple[Path, str]:
    """Moves a finished run to its folder, and renews its page if there was one; returns the folder and the reason.

    An interrupted run does not replace one that lasted longer.
    """
    from ..report import write

    note = place.note
    if place.work != place.folder:
        if not result.complete and _reached(place.folder) >= float(result.record["ended_s"]):
            return place.work, f"{place.folder} keeps the earlier run, which is longer"
        _replace(place.work, place.folder)
    if place.paged:
        write(place.folder)
    return place.folder, note


def place_of_sweep(
    sweep: Sweep, parent: Path, given: Path | None, overrides: Mapping[str, Any]
) -> SweepPlace:
    """The folder of a sweep: `given` if the user names a folder, otherwise below `parent`.

    A sweep with all the runs of an earlier one replaces it; any other is stored beside it. Refuses a given folder that
    holds anything else.
    """
    plans = sorted(_digest_of(plan.toml) for _, plan in sweep.plans)
    if given is not None:
        if given.exists() and not given.is_dir():
            raise Refusal(f"--out {given}: not a folder")
        extended = _extends(given, plans)
        if extended is False:
            raise Refusal(
                f"--out {given}: the folder holds another sweep",
                "name another folder, or remove this one",
            )
        if extended is None and given.is_dir() and any(not _is_run(entry) for entry in given.iterdir()):
            raise Refusal(
                f"--out {given}: the folder holds other files",
                "name an empty folder, or one that does not exist",
            )
        return _sweep_at(given, given, plans)
    name = parent / name_of(overrides) if overrides else parent
    if _extends(name, plans) is not False:
        return _sweep_at(name, parent, plans)
    digest = _digest("\n".join(plans))
    beside = parent / name_of(overrides, f"sweep={digest}")
    return _sweep_at(beside, parent, plans, f"{name} holds another sweep")


def plans_of(done: SweepResult) -> list[str]:
    """Digests of the plans of the finished runs of a sweep."""
    return sorted(_digest_of(run.result.plan_toml) for run in done.runs)


def held_by(folder: Path, plan: Plan, *, emulated: bool = False) -> Holds:
    """The content of a folder relative to a run of this plan."""
    if not folder.exists():
        return "nothing"
    if not folder.is_dir():
        return "files"
    try:
        text = (folder / "plan.toml").read_text(encoding="utf-8")
    except OSError:
        return "files" if any(folder.iterdir()) else "nothing"
    record = manifest(folder)
    if record is not None and ("emulation" in record) != emulated:
        return "another"
    return "this" if text == plan.toml else "another"


_WORDS: dict[Holds, str] = {
    "this": "an earlier run of this plan",
    "another": "a run of another plan",
    "files": "other files",
    "nothing": "nothing",
}


def _refused(folder: Path, holds: Holds) -> Refusal:
    if folder.exists() and not folder.is_dir():
        return Refusal(f"--out {folder}: not a folder", "name an empty folder, or one that does not exist")
    what = "a sweep" if (folder / "sweep.json").exists() else _WORDS[holds]
    return Refusal(
        f"--out {folder}: the folder holds {what}",
        "name another folder, or remove this one; without --out each plan has a folder of its own",
    )


def _at(folder: Path, holds: Holds, note: str = "") -> Place:
    work = folder.with_name(f"{folder.name}.part") if holds == "this" else folder
    return Place(folder, work, (folder / PAGE).exists(), note)


def _sweep_at(folder: Path, runs: Path, plans: list[str], note: str = "") -> SweepPlace:
    return SweepPlace(folder, runs, plans, (folder / PAGE).exists(), note)


def _extends(folder: Path, plans: list[str]) -> bool | None:
    """Whether a sweep of these plans has all those of the sweep in the folder; None if there is no sweep."""
    from ..report import plans_of_sweep

    found = plans_of_sweep(folder)
    return None if found is None else set(found) <= set(plans)


def _is_run(entry: Path) -> bool:
    """A folder of a run, or of the runs of a scenario."""
    return entry.is_dir() and ((entry / "plan.toml").exists() or any(entry.glob("seed=*/plan.toml")))


def _candidates(name: Path, plan: Plan) -> Iterator[Path]:
    """Candidate folders for a run of this plan, in order."""
    yield name
    digest = _digest(plan.toml, 64)
    for digits in range(DIGEST, len(digest) + 1, 4):
        yield name.with_name(f"{name.name},plan={digest[:digits]}")


def _numbered(folder: Path) -> Path:
    """The first folder of this name and a number that does not exist."""
    numbered = (folder.with_name(f"{folder.name},run={number}") for number in count(2))
    return next(path for path in numbered if not path.exists())


def _reached(folder: Path) -> float:
    """The simulated time of the run in a folder; infinite if it is complete."""
    for name in (MANIFEST, PART):
        try:
            record = json.loads((folder / name).read_text(encoding="utf-8"))
            return float("inf") if record["status"] == "complete" else float(record["ended_s"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return -1.0


def _replace(work: Path, folder: Path) -> None:
    """Moves the files of a run over those of an earlier one; `run.json` last, so that a folder with it is complete."""
    for name in (MANIFEST, PART):
        (folder / name).unlink(missing_ok=True)
    for entry in sorted(work.iterdir(), key=lambda entry: entry.name == MANIFEST):
        target = folder / entry.name
        if target.is_dir():
            shutil.rmtree(target)
        os.replace(entry, target)
    work.rmdir()


def _short(key: str) -> str:
    """A dotted key without the word that most keys have; `*` is each entry of a list."""
    return key.removeprefix("topology.").replace("*", "each")


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _safe(text: str) -> str:
    """Only characters that every file system accepts. A quantity is written without its space: `0.2bdp`, `5Mbps`."""
    if quantity := re.fullmatch(_QUANTITY, text):
        unit = quantity[2].replace("bit/s", "bps").replace("/", "_per_")
        return f"{quantity[1]}{unit}"
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", text)


_QUANTITY = r"([0-9.]+) ([A-Za-z]+(?:/s)?)"


def _is_exact(value: Any, shown: str) -> bool:
    """Whether the name of a value is unique."""
    written = _written(value)
    return shown == written or bool(re.fullmatch(_QUANTITY, written))


def _digest_of(plan: str) -> str:
    return _digest(plan, 12)


def _digest(text: str, digits: int = DIGEST) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
