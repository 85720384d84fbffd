"""Runs lists of jobs: several at a time, with progress and Ctrl-C; each output is kept when it is finished.

Sweeps, papers and emulated tests are lists of jobs. An output that an earlier call kept is not computed again. A job
is passed to a thread only when that thread is free, so that memory does not grow with the list.
"""

from __future__ import annotations

import json
import time
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ._digests import core_digest, digest, native_digest
from ._native import Control
from ._stored import warn_of_damage
from ._worker import POLL_INTERVAL_S
from .errors import Interrupted, ResultError

if TYPE_CHECKING:
    from distributed import Client

__all__ = [
    "POLL_INTERVAL_S",
    "Control",
    "Job",
    "JobProgress",
    "OutputCache",
    "SampleFile",
    "core_digest",
    "digest",
    "native_digest",
    "run",
]

Output = TypeVar("Output")


class OutputCache(Protocol[Output]):
    """The place where the output of a job is kept between calls."""

    def load(self) -> Output | None:
        """The output of an earlier call; None if there is no valid one."""

    def save(self, output: Output) -> Output:
        """Writes the output atomically; returns it, or an object that reads it when needed."""


def _no(_output: Any) -> bool:
    return False


@dataclass(frozen=True)
class Job(Generic[Output]):
    """One run of a scenario with a seed, and its output."""

    label: str
    """Label in a progress bar."""
    work: Callable[[Control], Output | None]
    """Runs the job in the calling thread. `Control` can stop it from another thread; the result is then None."""
    cache: OutputCache[Output] | None = None
    """The file that keeps the output for the next time; None if it is not kept."""
    seconds: float = 0.0
    """Expected duration, if known."""
    exclusive: bool = False
    """The job measures time or memory: it runs after the others, alone."""
    must_repeat: Callable[[Output], bool] = _no
    """Whether the job must be repeated."""


@dataclass(frozen=True)
class JobProgress:
    """Progress of a list of jobs."""

    done: int
    """Finished jobs."""
    total: int
    running: int
    """Running jobs."""
    label: str
    """The job that finished last."""
    now_s: float
    """Seconds of this call's jobs that are finished or have passed."""
    total_s: float
    """Seconds of all of this call's jobs."""
    last: int | None
    """Number of the job that finished last; None before the first."""
    current: tuple[tuple[int, float], ...]
    """Numbers of the running jobs, each with the seconds that have passed in it; with a cluster without these."""
    waiting_for: str = ""
    """What a cluster lacks: a worker, or its scheduler; empty if nothing."""


def run(
    jobs: Sequence[Job[Output]],
    *,
    at_once: int = 1,
    progress: Callable[[JobProgress], object] | None = None,
    every_s: float | None = None,
    on: str | Client | None = None,
) -> list[Output]:
    """Outputs in the order of ``jobs``, with ``at_once`` jobs at a time.

    ``progress`` is called in the calling thread after each finished job, and every ``every_s`` seconds. Ctrl-C stops
    all running jobs and raises `Interrupted`, whose `result` is the list with None for each missing output. Raises
    ``ValueError`` for ``at_once`` below 1.

    With ``on``, the workers of a Dask cluster run the jobs instead of threads, except those that are exclusive: see
    `thalweg.cluster`. Outputs come back to this process, which keeps them. Raises `ClusterError`.
    """
    if at_once < 1:
        raise ValueError("jobs must be at least 1")
    return _JobRunner(jobs, at_once, progress, every_s, on).outputs()


class _JobRunner(Generic[Output]):
    """One call of `run`."""

    def __init__(
        self,
        jobs: Sequence[Job[Output]],
        at_once: int,
        progress: Callable[[JobProgress], object] | None,
        every_s: float | None,
        on: str | Client | None,
    ) -> None:
        self.jobs, self.at_once, self.progress, self.every_s, self.on = jobs, at_once, progress, every_s, on
        self.done: dict[int, Output] = {}
        self.running: dict[Future[Output | None], tuple[int, Control]] = {}
        self.ready_s = self.total_s = 0.0
        self.label = ""
        self.last: int | None = None
        self.on_workers = 0
        self.waiting_for = ""

    def outputs(self) -> list[Output]:
        """Runs the jobs whose output is missing."""
        try:
            for number, job in enumerate(self.jobs):
                if job.cache is not None and (found := job.cache.load()) is not None:
                    self.finish(number, found)
            missing = [number for number in range(len(self.jobs)) if number not in self.done]
            self.total_s = sum(self.jobs[number].seconds for number in missing)
            shared = [number for number in missing if not self.jobs[number].exclusive]
            if self.on is None or not shared:
                self.run_parallel(shared)
            else:
                self.run_on_workers(shared, self.on)
            for number in missing:
                if self.jobs[number].exclusive:
                    # in this thread, so that Ctrl-C reaches the functions that it calls
                    self.record(number, self.run_job(number, Control()))
        except KeyboardInterrupt:
            raise Interrupted([self.done.get(number) for number in range(len(self.jobs))]) from None
        return [self.done[number] for number in range(len(self.jobs))]

    def run_parallel(self, numbers: Sequence[int]) -> None:
        """Runs jobs, several at a time."""
        waiting = deque(numbers)
        with ThreadPoolExecutor(max_workers=self.at_once, thread_name_prefix="thalweg-run") as pool:
            try:
                while waiting or self.running:
                    while waiting and len(self.running) < self.at_once:
                        number, control = waiting.popleft(), Control()
                        self.running[pool.submit(self.run_job, number, control)] = (number, control)
                    timeout = POLL_INTERVAL_S if self.every_s is None else self.every_s
                    for future in wait(self.running, timeout=timeout, return_when=FIRST_COMPLETED).done:
                        number, _ = self.running.pop(future)
                        if not self.record(number, future.result()):
                            waiting.append(number)
                    if self.every_s is not None:
                        self.report_progress()
            except BaseException as error:
                for _, control in self.running.values():
                    control.stop()
                if isinstance(error, KeyboardInterrupt):
                    self.collect_stopped()
                raise

    def run_on_workers(self, numbers: Sequence[int], on: str | Client) -> None:
        """Runs jobs on the workers of a cluster. Outputs that have arrived when it is interrupted are kept."""
        from .cluster import Workers

        waiting = deque(numbers)
        with Workers(on) as workers:
            while waiting or self.on_workers:
                while waiting and self.on_workers < workers.room:
                    number = waiting.popleft()
                    workers.submit(number, self.jobs[number].label, self.jobs[number].work)
                    self.on_workers += 1
                outputs, lost = workers.finished(POLL_INTERVAL_S if self.every_s is None else self.every_s)
                waiting.extendleft(reversed(lost))
                self.on_workers -= len(outputs) + len(lost)
                for number, output in outputs:
                    if not self.record(number, self.keep(number, output)):
                        waiting.append(number)
                news, self.waiting_for = self.waiting_for != workers.waiting_for, workers.waiting_for
                if self.every_s is not None or news:
                    self.report_progress()

    def run_job(self, number: int, control: Control) -> Output | None:
        """Runs one job in the calling thread, and keeps its output unless the job must be repeated."""
        return self.keep(number, self.jobs[number].work(control))

    def keep(self, number: int, output: Output | None) -> Output | None:
        """Keeps the output of a job unless the job must be repeated."""
        job = self.jobs[number]
        if output is None or job.cache is None or job.must_repeat(output):
            return output
        return job.cache.save(output)

    def record(self, number: int, output: Output | None) -> bool:
        """Records the output of a job; false if the job must be repeated."""
        job = self.jobs[number]
        if output is None:
            raise KeyboardInterrupt
        self.ready_s += job.seconds
        if job.must_repeat(output):
            self.total_s += job.seconds
            return False
        self.finish(number, output)
        return True

    def finish(self, number: int, output: Output) -> None:
        """Records that a job is finished."""
        self.done[number] = output
        self.label, self.last = self.jobs[number].label, number
        self.report_progress()

    def collect_stopped(self) -> None:
        """Waits for stopped jobs; an output that one of them finished before counts."""
        for future, (number, _) in self.running.items():
            if future.exception() is None and (output := future.result()) is not None:
                self.done[number] = output

    def report_progress(self) -> None:
        """Calls `progress`."""
        if self.progress is None:
            return
        passed = [min(control.now_s, self.jobs[number].seconds) for number, control in self.running.values()]
        self.progress(
            JobProgress(
                done=len(self.done),
                total=len(self.jobs),
                running=len(self.running) + self.on_workers,
                label=self.label,
                now_s=self.ready_s + sum(passed),
                total_s=self.total_s,
                last=self.last,
                current=tuple((number, control.now_s) for number, control in self.running.values()),
                waiting_for=self.waiting_for,
            )
        )


@dataclass(frozen=True)
class SampleFile:
    """A file with the output of a run: numbers, texts and arrays by name."""

    path: Path
    is_valid: Callable[[dict[str, Any]], bool] = lambda _sample: True
    """Whether the stored output is valid."""

    def load(self) -> dict[str, Any] | None:
        """The output that `save` wrote; None if there is no valid one."""
        import numpy

        if not self.path.exists():
            return None
        try:
            with numpy.load(self.path, allow_pickle=False) as cache:
                sample: dict[str, Any] = json.loads(str(cache["__rest__"]))
                sample.update({key: cache[key] for key in cache.files if key != "__rest__"})
        except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            warn_of_damage(ResultError(f"{self.path} is damaged: {error}"), "this run is run again")
            return None
        return sample if self.is_valid(sample) else None

    def save(self, output: dict[str, Any]) -> dict[str, Any]:
        """Arrays in their own format, everything else as JSON; written atomically."""
        import numpy

        arrays: dict[str, Any] = {
            key: value for key, value in output.items() if isinstance(value, numpy.ndarray)
        }
        rest = {key: value for key, value in output.items() if key not in arrays}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(f".{time.monotonic_ns()}.part")
        with partial.open("wb") as file:
            numpy.savez_compressed(file, __rest__=numpy.array(json.dumps(rest)), **arrays)
        partial.replace(self.path)
        return output
