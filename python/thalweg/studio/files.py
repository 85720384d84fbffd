"""The files of the studio: scenarios below a folder, drafts of them, and results."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _starters
from .._run_folder import MANIFEST, PART, with_overrides
from .._starters import STARTERS, starter_question
from .._stored import read_record
from ..errors import ResultError, ScenarioError
from ..report import network_of_plan
from ..scenario import Scenario
from .guard import MAX_BYTES, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIPPED = {"node_modules", "target", "out", "__pycache__", "venv", "broken", "warned"}
"""Folders without scenarios of users; so are those whose name begins with a point."""

MAX_SCENARIOS = 400
"""Maximum number of scenarios in the gallery."""

MAX_RESULTS = 200
"""Maximum number of results in the list, the newest first."""

MAX_SHOWN = 80
"""Characters of a name that is too long, in a message."""

MAX_INTRODUCTION = 300
"""Characters of a scenario's comment in the gallery."""

MAX_DEPTH = 4
"""Levels of folders in which scenarios are looked for; results are at most as deep."""

RECORDS = {"run": MANIFEST, "sweep": "sweep.json", "paper": "reproduction.json", "unfinished": PART}
"""The record of each kind of result; the first that a folder has says what it is."""

_OF_SWEEP = re.compile(r".*(-[0-9a-f]{12}|\.part)")
"""Folders of the runs of a sweep, which its row stands for, and of runs that an earlier one outlasts."""


class Refused(Exception):
    """A path is not one that the studio reads or writes."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """What to do instead."""


class Folder:
    """The folder of a studio: where it finds scenarios, and where results are, as the command has them there."""

    def __init__(self, root: Path = Path()) -> None:
        self.root = root
        """The folder."""
        self.out = root / "out"
        """The folder of results."""
        self._drafts = self.out / ".studio"

    def scenario(self, name: str) -> Path:
        """The path of a scenario file. Raises `Refused` for anything but a TOML file below the folder."""
        path = self._below(self.root, name)
        if path.suffix != ".toml":
            raise Refused(f"{name}: not a scenario file", "its name must end in .toml")
        if self.out.resolve() in path.resolve().parents:
            raise Refused(f"{name}: a file of results", "results are not edited")
        return path

    def result(self, name: str) -> Path:
        """The path of a result or of one of its files. Raises `Refused` for anything that is not below `out`."""
        return self._below(self.out, name)

    def name_of(self, path: Path) -> str:
        """A path as the user writes it: relative to the folder if it is in it."""
        try:
            return path.resolve().relative_to(self.root.resolve()).as_posix()
        except ValueError:
            return str(path)

    def _below(self, top: Path, name: str) -> Path:
        path = top / name
        hidden = any(part.startswith(".") for part in Path(name).parts)
        try:
            if not name or hidden or "\0" in name or top.resolve() not in path.resolve().parents:
                raise Refused(f"{name or 'no name'}: not below {self.name_of(top)}")
        except OSError as error:
            # a name that no file can have
            raise Refused(f"{name[:MAX_SHOWN]} …: {error.strerror}") from error
        return path

    def gallery(self) -> dict[str, Any]:
        """Scenario files, by folder, and those to begin with."""
        files = list(self._scenarios())
        return {
            "folder": self.root.resolve().name or str(self.root),
            "scenarios": [row for row in map(self._entry, files) if row is not None],
            "starters": [
                {
                    "name": name,
                    "question": starter_question(name),
                    "title": tomllib.loads(_starters.starter_text(name))["title"],
                }
                for name in STARTERS
            ],
        }

    def _scenarios(self) -> Iterator[Path]:
        found = 0
        for base, folders, names in os.walk(self.root):
            here = Path(base)
            folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
            if len(here.relative_to(self.root).parts) >= MAX_DEPTH:
                folders.clear()
            for name in sorted(names):
                if name.endswith(".toml") and not name.startswith(".") and found < MAX_SCENARIOS:
                    found += 1
                    yield here / name

    def _entry(self, path: Path) -> dict[str, Any] | None:
        """A row of the gallery; None for a TOML file that is no scenario."""
        name = self.name_of(path)
        entry: dict[str, Any] = {
            "file": name,
            "title": path.stem,
            "question": "",
            "sweep": False,
            "fault": "",
        }
        try:
            text = self.read(path)
            tree = tomllib.loads(text)
        except TooLarge as error:
            return entry | {"fault": str(error)}
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            return entry | {"fault": f"not TOML: {error}"} if "[topology]" in text else None
        except (OSError, UnicodeDecodeError):
            return None
        if "topology" not in tree or "flows" not in tree:
            return None
        return entry | {
            "title": str(tree.get("title") or path.stem),
            "question": _introduction(text),
            "sweep": "sweep" in tree,
            "kind": str(tree["topology"].get("kind", "")) if isinstance(tree["topology"], dict) else "",
        }

    def read(self, path: Path) -> str:
        """The text of a scenario file, without a byte order mark. Raises `TooLarge` without reading it, and `OSError`."""
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise TooLarge(self.name_of(path), size)
        return path.read_text(encoding="utf-8-sig")

    def open(self, name: str) -> dict[str, Any]:
        """A scenario in the editor: its text, and whether that is a draft which the file does not have."""
        path = self.scenario(name)
        draft = self._draft(name)
        saved = self.read(path) if path.exists() else None
        if draft.exists():
            text = self.read(draft)
            if text != saved:
                return {"file": name, "text": text, "saved": saved, "draft": True}
        if saved is None:
            raise FileNotFoundError(2, "no such file", name)
        return {"file": name, "text": saved, "saved": saved, "draft": False}

    def open_starter(self, starter: str) -> dict[str, Any]:
        """A new scenario in the editor: the draft of one like it, or its text, and a name that no file has."""
        text, draft = starter_text(starter), self._draft(f"new {starter}")
        names = (f"{starter}{number}.toml" for number in ("", *range(2, 1000)))
        free = next(name for name in names if not (self.root / name).exists())
        if draft.exists() and (kept := self.read(draft)) != text:
            return {"file": free, "text": kept, "draft": True}
        return {"file": free, "text": text, "draft": False}

    def keep(self, name: str, text: str, starter: str = "") -> None:
        """Keeps a text that is not saved yet, so that neither Ctrl-C nor a closed page loses it.

        It belongs to a file, or to a new one that begins as `starter`.
        """
        path = self.scenario(name)
        draft = self._draft(f"new {starter}" if starter else name)
        unchanged = text == starter_text(starter) if starter else path.exists() and self.read(path) == text
        if unchanged:
            draft.unlink(missing_ok=True)
        else:
            _write(draft, text)

    def save(self, name: str, text: str, *, starter: str = "") -> Path:
        """Writes a scenario file; a new one that began as `starter` never replaces a file."""
        path = self.scenario(name)
        if starter and path.exists():
            raise Refused(f"{name} exists already", "name another file: existing files are not overwritten")
        _write(path, text)
        self._draft(f"new {starter}" if starter else name).unlink(missing_ok=True)
        return path

    def _draft(self, name: str) -> Path:
        return self._drafts / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.toml"

    def results(self) -> list[dict[str, Any]]:
        """Runs, sweeps and reproduced papers below `out`, the newest first."""
        rows = []
        for base, folders, names in os.walk(self.out):
            here = Path(base)
            folders[:] = [
                name for name in folders if not name.startswith(".") and not _OF_SWEEP.fullmatch(name)
            ]
            if len(here.relative_to(self.out).parts) >= MAX_DEPTH:
                folders.clear()
            for kind, record in RECORDS.items():
                if record in names:
                    rows.append((here.joinpath(record).stat().st_mtime, kind, here))
                    break
            if "reproduction.json" in names:
                folders.clear()
        rows.sort(key=lambda row: row[0], reverse=True)
        return [self._result(*row) for row in rows[:MAX_RESULTS]]

    def title(self, folder: Path) -> str:
        """The title of a folder of results, or its name."""
        kinds = (kind for kind, record in RECORDS.items() if (folder / record).is_file())
        kind = next(kinds, None)
        return str(self._result(0.0, kind, folder)["title"]) if kind else folder.name

    def _result(self, at: float, kind: str, folder: Path) -> dict[str, Any]:
        row: dict[str, Any] = {
            "folder": folder.relative_to(self.out).as_posix(),
            "kind": kind,
            "title": folder.name,
            "status": "",
            "seed": None,
            "at": at,
        }
        try:
            record = read_record(folder / RECORDS[kind])
            row["title"] = with_overrides(
                str(record.get("title") or folder.name), record.get("overrides") or {}
            )
            row["status"] = str(record.get("status", ""))
            row["seed"] = record.get("seed") if kind == "run" else None
            if kind == "run" and "emulation" in record:
                row["kind"] = "emulation"
        except (OSError, ResultError, AttributeError):
            row["status"] = "cannot be read"
        return row

    def picture(self, name: str) -> str:
        """The network of a scenario as SVG in the colours of the page; empty if the scenario has mistakes."""
        path = self.scenario(name)
        return _picture(self.read(path), str(path))


def starter_text(name: str) -> str:
    """The text of a scenario to begin with. Raises `Refused` for an unknown name."""
    if name not in STARTERS:
        raise Refused(f"no scenario to begin with is called {name}")
    return _starters.starter_text(name)


def starter_picture(name: str) -> str:
    """The network of a scenario to begin with, as `Folder.picture`."""
    return _picture(starter_text(name), name)


def _picture(text: str, name: str) -> str:
    try:
        plan = Scenario.from_toml(text, name).plan()
    except ScenarioError:
        return ""
    return network_of_plan(plan)


def _introduction(text: str) -> str:
    """The comment at the top of a scenario, without directives for editors."""
    lines = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    words = " ".join(line.lstrip("# ") for line in lines if not line.startswith("#:"))
    return words if len(words) <= MAX_INTRODUCTION else f"{words[:MAX_INTRODUCTION].rsplit(' ', 1)[0]} …"


def _write(path: Path, text: str) -> None:
    """Writes a file at once, so that an interrupted write leaves the file that was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
