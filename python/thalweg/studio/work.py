"""What a studio carries out: runs, emulations, sweeps and reproductions, each in a thread; browsers watch and stop them.

The commands do the same work: `thalweg.runs.execution`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import traceback
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .._run_folder import PAGE, TABLES, with_overrides
from ..errors import ResultError, ScenarioError
from ..event_labels import event_marks
from ..report import _charts, is_sweep
from ..report._page import cell as cell_text
from ..report.columns import flows_shown, known, table_rows, unit_of
from ..report.numbers import number
from ..report.sweep_rows import key_metrics
from ..result import Result
from ..runs import execution
from ..runs.requests import CommandError
from ..sweep import load_if_complete, run_folders
from .files import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ..jobs import JobProgress
    from ..papers import Study
    from ..result import Progress
    from ..runs.execution import Finished, FinishedSweep
    from ..runs.folders import RunLocation, SweepLocation
    from ..scenario import Plan, Scenario
    from ..sweep import Sweep

LIVE_S = 1.0
"""Minimum seconds between two checkpoints of a run, from which its charts are drawn while it runs."""

INTERRUPTED = 130
"""Code of a refusal that says that the work was interrupted."""

MAX_METRICS = 3
"""Metrics of a finished run in the table of a sweep."""

MAX_FLOWS = 40
"""Flows in the table of a run."""


class Stopped(KeyboardInterrupt):
    """A browser, or the end of the studio, stopped an activity: it acts as Ctrl-C."""


class Activity(ABC):
    """Something that runs, or has run, since the studio was opened."""

    kind: str
    """`run`, `emulation`, `sweep`, `paper` or `transfer`."""

    def __init__(self, title: str, command: str, file: str, folder: Path, writes: Path) -> None:
        self.title = title
        """Title for the page."""
        self.command = command
        """The command that does the same."""
        self.file = file
        """The scenario; empty for a paper."""
        self.folder = folder
        """The folder of the results."""
        self.writes = writes
        """The folder that no other activity may write at the same time."""
        self.state = "running"
        """`running`, `stopping`, `done`, `stopped` or `failed`."""
        self.number = 0
        """Number in the studio, from 1."""
        self.version = 0
        """Count of the hub at the last change."""
        self.born = 0
        """Count of the hub when it began."""
        self.interrupted = False
        """Whether it was stopped before its end."""
        self._hub: Hub | None = None
        self._stopping = threading.Event()
        self._over = threading.Event()
        self._said: dict[str, Any] = {"message": "", "hint": None, "note": "", "passed": None, "page": False}
        self._progress: dict[str, Any] = {"share": 0.0}
        self._began = time.monotonic()

    def join_hub(self, hub: Hub, number: int) -> None:
        """Becomes an activity of this hub."""
        self._hub, self.number = hub, number

        def enter(count: int) -> None:
            self.version = self.born = count

        self._number_change(enter)

    def start(self) -> None:
        """Does the work in a thread."""
        threading.Thread(target=self._in_thread, name=f"thalweg-{self.kind}", daemon=True).start()

    def stop(self) -> None:
        """Requests the end; the results until then are kept."""
        if self.state == "running":
            self._stopping.set()
            self.state = "stopping"
            self.changed()

    @property
    def has_page(self) -> bool:
        """Whether it has left a page, whose folder browsers may read."""
        return bool(self._said["page"])

    @property
    def stop_requested(self) -> bool:
        """Whether `stop` was called, as a browser does."""
        return self._stopping.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it is over, after a wait of at most `seconds`."""
        return self._over.wait(seconds)

    def changed(self) -> None:
        """Tells the browsers."""
        self._number_change(partial(setattr, self, "version"))

    def _number_change(self, note: Callable[[int], None]) -> None:
        if self._hub is not None:
            self._hub.number_change(note)

    def snapshot(self, since: int = 0) -> dict[str, Any]:
        """What a browser shows, without parts that have not changed since that count."""
        del since
        return {
            "id": self.number,
            "kind": self.kind,
            "title": self.title,
            "command": self.command,
            "file": self.file,
            "folder": str(self.folder),
            "state": self.state,
            "progress": self._progress,
            **self._said,
        }

    def check(self) -> None:
        """Raises `Stopped` if the end was requested; called within the callbacks of the work."""
        if self._stopping.is_set():
            raise Stopped

    def carry_out(self) -> None:
        """Does the work in this thread, and writes its page. Errors are raised after browsers have got them."""
        with self._told():
            self.work()
        self.publish()

    def publish(self) -> None:
        """Writes the page of finished work; then it is over."""
        with self._told():
            try:
                self.write_page()
            finally:
                self._end("stopped" if self.interrupted else "done")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tells browsers what ends the block."""
        try:
            yield
        except CommandError as error:
            self._said |= {"message": error.message, "hint": error.hint}
            self._end("stopped" if error.code == INTERRUPTED else "failed")
            raise
        except KeyboardInterrupt:
            self._end("stopped")
            raise
        except BaseException as error:
            self._said |= {"message": str(error) or repr(error)}
            self._end("failed")
            raise

    def _end(self, state: str) -> None:
        self.state = state
        self._over.set()
        self.changed()

    def _in_thread(self) -> None:
        try:
            self.carry_out()
        except (CommandError, ResultError, ScenarioError, OSError, KeyboardInterrupt):
            pass
        except BaseException:  # a panic of the core too
            traceback.print_exc()

    @abstractmethod
    def work(self) -> None:
        """The work itself."""

    def write_page(self) -> None:
        """Writes the page of the results."""
        write_page(self.folder)
        self._said["page"] = True

    def _show(self, share: float, **more: Any) -> None:
        wall_s = time.monotonic() - self._began
        left_s = wall_s * (1 - share) / share if share > 0 else None
        self._progress = {"share": share, "wall_s": wall_s, "left_s": left_s, **more}
        self.changed()


class RunActivity(Activity):
    """A run, or an emulation, of one plan."""

    def __init__(
        self, plan: Plan, location: RunLocation, command: str, file: str, *, emulated: bool = False
    ) -> None:
        title = with_overrides(plan.title, plan.scenario.overrides) or file
        super().__init__(title, command, file, location.folder, location.folder)
        self.kind = "emulation" if emulated else "run"
        self.finished: Finished | None = None
        """The result, when it is over."""
        self._settings: dict[str, Any] = {}
        self._also: Callable[[Progress], object] | None = None
        self._plan, self._location = plan, location
        self._stamp = 0
        self._charts = 0
        self._read: tuple[int, dict[str, Any]] | None = None
        self._reading = threading.Lock()

    def simulate(self, progress: Callable[[Progress], object], **settings: Any) -> Finished:
        """Runs the plan in this thread; `progress` and `settings` as for `execution.simulate`. `publish` must follow."""
        self._also, self._settings = progress, settings
        with self._told():
            self.work()
        assert self.finished is not None, "it raises if it fails"
        return self.finished

    def work(self) -> None:
        """Runs the plan."""
        # the page is written by another process, afterwards
        location = replace(self._location, has_page=False)
        if self.kind == "emulation":
            done = execution.emulate(self._plan, location, progress=self._look, **self._settings)
        else:
            done = execution.simulate(
                self._plan, location, progress=self._look, keep_s=LIVE_S, **self._settings
            )
        self.finished, self.folder = done, done.folder
        self._said |= {"note": done.note, "passed": done.result.passed}
        if not done.result.valid:
            self._said["note"] = "not valid: this host was too slow"
        self.interrupted = done.interrupted
        self._charts += 1
        self.changed()

    def snapshot(self, since: int = 0) -> dict[str, Any]:
        """Adds the number of the current charts to what every activity reports."""
        return {**super().snapshot(since), "charts": self._charts, "duration_s": self._plan.duration_s}

    def _look(self, at: Progress) -> None:
        self.check()
        try:
            stamp = (self._location.work / f"{TABLES[-1]}.parquet").stat().st_mtime_ns
        except OSError:
            stamp = 0
        if stamp != self._stamp:
            self._stamp = stamp
            self._charts += 1
        self._show(at.share, now_s=at.now_s, duration_s=at.duration_s, speed=at.speed)
        if self._also is not None:
            self._also(at)

    def charts(self) -> dict[str, Any]:
        """The charts so far, in the format of the page of a run, and the table of flows. `ResultError` before the first."""
        number = self._charts
        with self._reading:
            if self._read is None or self._read[0] != number:
                folder = self.folder if self.finished is not None else self._location.work
                self._read = (number, self._charts_of(Result.load(folder)))
            return self._read[1]

    def _charts_of(self, run: Result) -> dict[str, Any]:
        # the rate first: it is what most runs are about
        recorded = sorted(run.series["series"].unique(), key=lambda name: (name != "rate", name))
        titles = {name: run.title_of(name) for name in recorded}
        columns, rows = table_rows(flows_shown(run, MAX_FLOWS), "flows")
        return {
            "data": str(_charts.data(run, titles, event_marks(run.plan))) if recorded else None,
            "flows": {
                "heading": "Flows so far",
                "columns": columns,
                "rows": [{key: _text(value) for key, value in row.items()} for row in rows],
                "more": max(run.flows.height - MAX_FLOWS, 0),
            },
        }


class SweepActivity(Activity):
    """A sweep, cell by cell."""

    kind = "sweep"

    def __init__(
        self, sweep: Sweep, scenario: Scenario, location: SweepLocation, jobs: int, command: str, file: str
    ) -> None:
        title = with_overrides(scenario.title, scenario.overrides) or file
        super().__init__(title, command, file, location.folder, location.runs)
        self.finished: FinishedSweep | None = None
        """The result, when it is over."""
        self._sweep, self._location, self._jobs = sweep, location, jobs
        self._cells: list[dict[str, Any]] = [
            {"state": "waiting", "share": 0.0, "passed": None, "metrics": []} for _ in sweep.plans
        ]
        self._versions = [0] * len(sweep.plans)
        self._metrics: list[str] = []
        self._running: set[int] = set()

    def work(self) -> None:
        """Runs all cells that earlier sweeps have not left."""
        location = replace(self._location, has_page=False)
        done = execution.run_sweep(self._sweep, location, jobs=self._jobs, watch=self._look)
        self.finished = done
        failed = sum(not run.result.passed for run in done.result.runs)
        self._said |= {"note": done.note, "passed": failed == 0}
        for index, (cell, (_, plan)) in enumerate(zip(self._cells, self._sweep.plans, strict=True)):
            if cell["state"] != "done" and load_if_complete(
                run_folders(self._location.runs, [plan])[0], plan
            ):
                # it finished while the others were stopped
                self._finish(index)
            elif cell["state"] == "running":
                self._set(index, state="waiting", share=0.0)
        self.interrupted = done.interrupted
        self.changed()

    def write_page(self) -> None:
        """Writes the page of the sweep, unless no run was finished."""
        if is_sweep(self.folder):
            super().write_page()

    def snapshot(self, since: int = 0) -> dict[str, Any]:
        """Adds the cells that have changed to what every activity reports; in the first snapshot they have their values."""
        whole = since < self.born
        cells = {
            str(index): {**cell, **(self._fixed(index) if whole else {})}
            for index, (cell, version) in enumerate(zip(self._cells, self._versions, strict=True))
            if whole or version > since
        }
        grid = {"keys": list(self._sweep.grid), "metrics": [_heading(key) for key in self._metrics]}
        return {**super().snapshot(since), "cells": cells, **grid}

    def _fixed(self, index: int) -> dict[str, Any]:
        cell, plan = self._sweep.plans[index]
        return {"values": [_text(value) for value in cell.values.values()], "seed": plan.seed}

    def _look(self, at: JobProgress) -> None:
        if at.last is not None and self._cells[at.last]["state"] != "done":
            self._finish(at.last)
        running = dict(at.current)
        for index in self._running - running.keys():
            if self._cells[index]["state"] == "running":
                self._set(index, state="waiting", share=0.0)
        self._running = set(running)
        share = float(at.done)
        for index, now_s in running.items():
            part = min(now_s / self._sweep.plans[index][1].duration_s, 1.0)
            share += part
            self._set(index, state="running", share=part)
        self._show(share / at.total, done=at.done, total=at.total, going=at.running)
        self.check()

    def _finish(self, index: int) -> None:
        _, plan = self._sweep.plans[index]
        result = load_if_complete(run_folders(self._location.runs, [plan])[0], plan)
        if result is None:
            self._set(index, state="done", share=1.0)
            return
        if not self._metrics:
            self._metrics = key_metrics(result)[:MAX_METRICS]
        values = [_metric(key, result.values.get(key)) for key in self._metrics]
        self._set(index, state="done", share=1.0, passed=result.passed, metrics=values)

    def _set(self, index: int, **new: Any) -> None:
        self._cells[index] |= new
        self._number_change(partial(self._versions.__setitem__, index))


class PaperActivity(Activity):
    """The reproduction of a paper."""

    kind = "paper"

    def __init__(self, study: Study, folder: Path, command: str, *, quick: bool, jobs: int) -> None:
        super().__init__(f"Reproduction of {study.name}", command, "", folder, folder)
        self._study, self._quick, self._jobs = study, quick, jobs

    def work(self) -> None:
        """Runs the experiments, draws the figures and evaluates the claims."""

        def look(ready: int, total: int, label: str) -> None:
            self._show(ready / total if total else 0.0, done=ready, total=total, label=label)
            self.check()

        execution.reproduce(
            self._study, self.folder, progress=look, quick=self._quick, jobs=self._jobs, seed=1
        )

    def write_page(self) -> None:
        """The reproduction has written it."""
        self._said["page"] = True


class Hub:
    """The activities of a studio."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._activities: list[Activity] = []

    def number_change(self, note: Callable[[int], None]) -> None:
        """Gives a change its number, which `note` keeps before a browser can see it."""
        with self._lock:
            self._count += 1
            note(self._count)

    def add(self, activity: Activity) -> Activity:
        """Takes an activity. Raises `Refused` while another one writes the same folder, or reproduces a paper as well."""
        with self._lock:
            for other in self._activities:
                if other.wait(0):
                    continue
                if other.writes == activity.writes:
                    raise Refused("this is running already", f"it is activity {other.number}")
                if other.kind == activity.kind == "paper":
                    raise Refused("a paper is being reproduced", "stop it, or wait for its end")
            self._activities.append(activity)
            number = len(self._activities)
        activity.join_hub(self, number)
        return activity

    def start(self, activity: Activity) -> Activity:
        """Takes an activity, and starts it."""
        self.add(activity).start()
        return activity

    def find(self, number: int) -> Activity:
        """The activity of this number. Raises `Refused`."""
        if not 1 <= number <= len(self._activities):
            raise Refused(f"there is no activity {number}")
        return self._activities[number - 1]

    def changes(self, since: int) -> tuple[int, list[dict[str, Any]]]:
        """The number of the last change, and the activities that have changed since the one with that number."""
        with self._lock:
            changed = [activity.snapshot(since) for activity in self._activities if activity.version > since]
            return self._count, changed

    def running(self) -> Iterator[Activity]:
        """The activities that are not over."""
        return (activity for activity in self._activities if not activity.wait(0))

    def close(self) -> list[Activity]:
        """Stops what runs, waits until its results are kept, and returns it."""
        stopped = list(self.running())
        for activity in stopped:
            activity.stop()
        for activity in stopped:
            activity.wait()
        return stopped


def write_page(folder: Path) -> Path:
    """The page of a folder of results, written by `thalweg report` in a process of its own. Raises `ResultError`.

    Matplotlib keeps state, so that two threads of one process cannot draw.
    """
    _command("report", str(folder))
    return folder / PAGE


def write_comparison(runs: list[Path], page: Path) -> Path:
    """The page of `thalweg compare`. Raises `ResultError`."""
    _command("compare", *map(str, runs), "--out", str(page))
    return page


def _command(*words: str) -> None:
    # a session of its own: Ctrl-C in the terminal does not reach it
    done = subprocess.run(
        [sys.executable, "-m", "thalweg", *words],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    if done.returncode != 0:
        raise ResultError(done.stderr.strip() or f"thalweg {words[0]} failed")


def _heading(key: str) -> str:
    unit = unit_of(key)[0]
    return f"{key} ({unit})" if unit else key


def _metric(key: str, value: float | None) -> str:
    return "–" if value is None else number(known(key, value * unit_of(key)[1]), 3)


def _text(value: Any) -> str:
    return number(value, 3) if isinstance(value, float) else cell_text(value)
