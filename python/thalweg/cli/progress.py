"""Progress of a long command, on standard error: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from .._text import printable
from .output import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

EVERY_S = 5.0
"""Seconds between plain lines."""


class Meter:
    """A bar or lines for work of a known size. A context manager; does nothing when `quiet` and there is no terminal."""

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        self.what = printable(what)
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._silent = quiet and not sys.stderr.isatty()
        self._began = self._printed = time.monotonic()

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.progress import BarColumn, Progress, TextColumn
            from rich.table import Column

            from .output import console

            self._bar = Progress(
                TextColumn("[bold]{task.description}", table_column=Column(max_width=22, no_wrap=True)),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[words]}", table_column=Column(no_wrap=True), markup=False),
                console=console(error=True),
                transient=True,
            )
            self._task = self._bar.add_task(self.what, total=1.0, words="")
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def note(self, words: str) -> None:
        """Prints a line that stays on the terminal."""
        if self._bar is not None:
            self._bar.console.print(printable(words, lines=True), markup=False)
        elif not self._silent:
            print(printable(words, lines=True), file=sys.stderr, flush=True)

    def show(self, done: float, total: float, words: str, *, estimate: bool = True) -> None:
        """`done` of `total`, described by `words`; with `estimate` also the remaining time at the current speed."""
        words = printable(words)
        share = min(done / total, 1.0) if total > 0 else 1.0
        now = time.monotonic()
        if share > 0 and estimate:
            words += f", {format_duration((now - self._began) * (1 - share) / share)} left"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=share, words=words)
        elif not self._silent and now - self._printed >= EVERY_S:
            self._printed = now
            print(f"{self.what}: {100 * share:.0f} %, {words}", file=sys.stderr, flush=True)


def status_callback(
    seconds: float | None, show: Callable[[dict[str, Any]], None]
) -> Callable[[dict[str, Any]], bool]:
    """A callback for processes without an end: False after `seconds`; on SIGUSR1 it shows their status."""
    if seconds is not None and not seconds > 0:
        raise CommandError(f"--seconds {seconds:g}: above 0")
    requests: list[int] = []
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, lambda number, _: requests.append(number))
    began = time.monotonic()

    def on_status(stats: dict[str, Any]) -> bool:
        if requests:
            requests.clear()
            show(stats)
        return seconds is None or time.monotonic() - began < seconds

    return on_status


def format_progress(now_s: float, total_s: float, wall_s: float) -> str:
    """`12 of 60 s, 35 × real time`."""
    speed = f", {format_speed(now_s, wall_s)}" if wall_s > 0 and now_s > 0 else ""
    return f"{now_s:.0f} of {total_s:g} s{speed}"


def format_speed(simulated_s: float, wall_s: float) -> str:
    """`35 × real time`."""
    speed = simulated_s / wall_s
    return f"{speed:,.0f} × real time" if speed >= 10 else f"{speed:.2g} × real time"


def format_duration(seconds: float) -> str:
    """`35 s`, `4 min`."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
