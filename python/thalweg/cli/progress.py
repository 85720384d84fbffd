"""How far a long command is, on standard error: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

EVERY_S = 5.0
"""Seconds between plain lines."""


class Meter:
    """A bar or lines for work of a known size. A context manager; does nothing when `quiet` and there is no terminal."""

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        self.what = what
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._silent = quiet and not sys.stderr.isatty()
        self._began = self._said = time.monotonic()

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            from .out import console

            self._bar = Progress(
                TextColumn("[bold]{task.description}"),
                BarColumn(bar_width=28),
                TextColumn("{task.fields[words]}"),
                TimeRemainingColumn(compact=True),
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

    def show(self, done: float, total: float, words: str) -> None:
        """`done` of `total`, said in `words`."""
        share = min(done / total, 1.0) if total > 0 else 1.0
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=share, words=words)
            return
        now = time.monotonic()
        if self._silent or now - self._said < EVERY_S:
            return
        self._said = now
        left = (now - self._began) * (1 - share) / share if share > 0 else None
        rest = f", about {_seconds(left)} left" if left is not None else ""
        print(f"{self.what}: {100 * share:.0f} %, {words}{rest}", file=sys.stderr, flush=True)


def speed_words(now_s: float, total_s: float, wall_s: float) -> str:
    """`12.0 of 60 s simulated, 35 × real time`."""
    speed = f", {now_s / wall_s:.3g} × real time" if wall_s > 0 and now_s > 0 else ""
    return f"{now_s:.1f} of {total_s:g} s simulated{speed}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
