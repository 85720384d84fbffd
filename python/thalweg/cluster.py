"""Runs on many machines: jobs of `thalweg.jobs` on the workers of a Dask cluster.

A job goes to a worker as the text of its plan, and its output comes back to this process, which keeps it. Dask repeats a
job whose worker ends. When the scheduler ends, this process waits for it and then passes the jobs that are not finished to
it again. Workers need the same build of thalweg: another core is refused, because its results can differ.

It needs Dask: `pip install thalweg[cluster]`.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import platform
import queue
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from . import _native
from ._worker import WorkerThread
from .errors import ClusterError
from .jobs import POLL_INTERVAL_S, Control, native_digest

if TYPE_CHECKING:
    from types import TracebackType

    from distributed import Client, Future


__all__ = ["PATIENCE_S", "QUEUES", "Workers", "check", "check_schemes", "run_in_worker"]

QUEUES = {
    "htcondor": "HTCondorCluster",
    "lsf": "LSFCluster",
    "moab": "MoabCluster",
    "oar": "OARCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "slurm": "SLURMCluster",
}
"""Batch systems and their classes in `dask_jobqueue`."""

PATIENCE_S = 300.0
"""How long a scheduler that no longer answers is waited for."""

CONNECT_S = 30.0
"""How long a connection may take to be made."""

COUNT_S = 1.0
"""Seconds between two counts of the workers."""

MAX_EVENTS = 64
"""Outputs that are fetched at a time."""

JOBS_PER_THREAD = 4
"""Jobs that are passed to the scheduler for each thread of a worker, so that no worker waits for the next one."""

MIN_JOBS = 16
"""Jobs that are passed to the scheduler at least, also before the first worker is there."""

DASHBOARD = "127.0.0.1:0"
"""Address of the status page of a cluster that is started here: any free port, for this host only."""

INSTALL = "pip install thalweg[cluster]"


class Workers:
    """The workers of a cluster. A context manager; at its end unfinished jobs are cancelled.

    `on` is a client of `distributed`, the address of a scheduler (`tcp://HOST:8786`), `local:N` for N processes of this
    host, or a batch system of `QUEUES` with the number of its batch jobs (`slurm:20`). Raises `ClusterError`.
    """

    def __init__(self, on: str | Client) -> None:
        self.waiting_for = ""
        """A worker, or the scheduler; empty if nothing."""
        self._on = on
        self._opened = ExitStack()
        self._events: queue.SimpleQueue[tuple[int, Future | None]] = queue.SimpleQueue()
        self._running: dict[int, tuple[Future | None, str]] = {}
        self._threads, self._counted_at = 0, 0.0
        self._lost_at: float | None = None
        self._core = native_digest()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            self._client = _open(self._on, opened) if isinstance(self._on, str) else self._on
            self._address = str(self._client.scheduler.address)
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._running and self._alive:
                with suppress(OSError, TimeoutError):
                    self._client.cancel(
                        [future for future, _ in self._running.values() if future is not None]
                    )
        finally:
            self._opened.close()

    @property
    def room(self) -> int:
        """How many jobs may be with the scheduler at a time; 0 while it does not answer."""
        if not self._alive:
            return 0
        if time.monotonic() - self._counted_at > COUNT_S:
            with suppress(OSError, TimeoutError):
                self._threads = sum(self._client.nthreads().values())
            self._counted_at = time.monotonic()
            self.waiting_for = "" if self._threads else "a worker"
        return max(MIN_JOBS, JOBS_PER_THREAD * self._threads)

    def submit(self, number: int, label: str, work: Callable[[Control], Any]) -> None:
        """Passes a job to the scheduler."""
        from distributed.protocol.pickle import dumps

        packed = dumps(work)
        future: Future | None = None
        try:
            future = self._client.submit(
                run_in_worker, packed, self._core, key=f"thalweg-{number}-{uuid4().hex}", pure=False
            )
            self._running[number] = (future, label)
            future.add_done_callback(lambda done: self._events.put((number, done)))
        except Exception:
            if self._alive:
                raise
            self._running[number] = (future, label)
            self._events.put((number, future))

    def finished(self, timeout_s: float) -> tuple[list[tuple[int, Any]], list[int]]:
        """Outputs of finished jobs, and numbers of jobs that are lost and must be submitted again.

        Waits for at most `timeout_s` for the first. Raises the exception of a job, and `ClusterError`.
        """
        if not self._alive:
            self._reconnect()
        done: list[tuple[int, Future]] = []
        lost: list[int] = []
        for number, future in self._next_events(timeout_s):
            if number not in self._running or self._running[number][0] is not future:
                continue
            if future is not None and future.status == "finished":
                done.append((number, future))
            elif future is not None and future.status == "error":
                raise self._failure(number, future)
            else:
                lost.append(number)
        outputs: Sequence[Any] = self._gather([future for _, future in done]) if done else []
        if len(outputs) < len(done):
            lost += [number for number, _ in done]
            done = []
        for number in [*lost, *(number for number, _ in done)]:
            del self._running[number]
        if not self._alive:
            lost += self._running
            self._running.clear()
        return [(number, output) for (number, _), output in zip(done, outputs, strict=True)], lost

    def _next_events(self, timeout_s: float) -> list[tuple[int, Future | None]]:
        events = []
        with suppress(queue.Empty):
            events.append(self._events.get(timeout=timeout_s))
            while len(events) < MAX_EVENTS:
                events.append(self._events.get_nowait())
        return events

    @property
    def _alive(self) -> bool:
        """Whether the scheduler answers."""
        stream = self._client.scheduler_comm
        return self._client.status == "running" and stream is not None and not stream.comm.closed()

    def _gather(self, futures: Sequence[Future]) -> Sequence[Any]:
        """Outputs; none if the scheduler or a worker was lost meanwhile."""
        from distributed import CancelledError

        async def fetch() -> Sequence[Any]:
            gathered: Sequence[Any] = await self._client.gather(futures, asynchronous=True)
            return gathered

        # `gather` waits without end for what only the former scheduler knew
        fetching = asyncio.run_coroutine_threadsafe(fetch(), self._client.loop.asyncio_loop)
        while not fetching.done():
            if not self._alive or any(future.status != "finished" for future in futures):
                fetching.cancel()
                return []
            wait([fetching], timeout=POLL_INTERVAL_S)
        try:
            return fetching.result()
        except (CancelledError, OSError, TimeoutError):
            return []

    def _failure(self, number: int, future: Future) -> BaseException:
        """The exception of a job, in the words of users."""
        from distributed import KilledWorker

        error: BaseException = future.exception()
        if isinstance(error, KilledWorker):
            return ClusterError(
                f"{self._running[number][1]}: {error.allowed_failures + 1} workers ended while they ran it",
                "the log of a worker may name the reason; often it is too little memory",
            )
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("thalweg"):
            return ClusterError(
                f"a worker has no {error.name}", "install the same wheels in its environment as here"
            )
        return error

    def _reconnect(self) -> None:
        """Tries once to connect to a scheduler that does not answer; raises `ClusterError` after `PATIENCE_S`."""
        self.waiting_for, self._counted_at = "the scheduler", 0.0
        if self._lost_at is None:
            self._lost_at = time.monotonic()
            return
        if self._client.status != "connecting":
            try:
                self._client = _connect(self._address, self._opened)
            except ClusterError as error:
                if time.monotonic() - self._lost_at > PATIENCE_S:
                    raise ClusterError(
                        f"the scheduler at {self._address} ended",
                        "start it again; the same command continues",
                    ) from error
        if self._alive:
            self._lost_at = None


def run_in_worker(work: bytes, core: str) -> Any:
    """Runs a job in a worker; stops it if it is cancelled. Raises `ClusterError` if the core is not that of the client."""
    if native_digest() != core:
        raise ClusterError(
            f"the worker on {platform.node()} has another core: thalweg {_native.__version__}, "
            f"digest {native_digest()[:12]} instead of {core[:12]}",
            "install the same wheel in the environment of the workers as here, and start them again",
        )
    control = Control()
    function: Callable[[Control], Any] = pickle.loads(work)
    thread = WorkerThread(lambda: function(control), control.stop, name="thalweg-run")
    thread.start()
    while not thread.wait(POLL_INTERVAL_S):
        if _is_cancelled():
            control.stop()
    return thread.result()


def _is_cancelled() -> bool:
    """Whether the task of this thread of a worker is no longer wanted."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state in {"cancelled", "resumed"} or worker.status.name != "running"


def check(on: str) -> None:
    """Refuses what is no address and no cluster. Raises `ClusterError`."""
    kind, colon, number = on.partition(":")
    if "://" in on:
        return
    if kind != "local" and kind not in QUEUES:
        raise ClusterError(
            f"{on!r} is neither the address of a scheduler nor a cluster",
            f"write tcp://HOST:8786, local:N, or one of {', '.join(QUEUES)} and the number of its jobs, as in slurm:20",
        )
    if not (number.isdecimal() and int(number) > 0) and (colon or kind != "local"):
        raise ClusterError(
            f"{on!r}: the number of {'workers' if kind == 'local' else 'batch jobs'} is missing", f"{kind}:4"
        )


def check_schemes(trees: Iterable[Mapping[str, Any]]) -> None:
    """Refuses scenarios with schemes of classes that only this process has. Raises `ClusterError`."""
    from .scheme import registered

    classes = registered()
    for tree in trees if classes else ():
        for flow in tree.get("flows", []):
            if flow.get("scheme") in classes:
                raise ClusterError(
                    f"flow `{flow['name']}`: `{flow['scheme']}` is written in Python, which workers do not have",
                    "run it on this computer: leave out `on`",
                )


def _open(on: str, opened: ExitStack) -> Client:
    """A client of the cluster of this name; `opened` closes it, and the cluster if it was started here."""
    check(on)
    kind, _, number = on.partition(":")
    if "://" in on:
        return _connect(on, opened)
    try:
        from distributed import Client, LocalCluster

        if kind == "local":
            cluster = LocalCluster(
                n_workers=int(number) if number else os.cpu_count(),
                threads_per_worker=1,
                dashboard_address=DASHBOARD,
            )
            opened.enter_context(cluster)
        else:
            cluster = opened.enter_context(_batch_cluster(kind))
            cluster.scale(jobs=int(number))
    except ImportError as error:
        raise ClusterError(f"`{on}` needs {error.name}, which is not installed", INSTALL) from error
    client: Client = opened.enter_context(Client(cluster, set_as_default=False))
    return client


def _batch_cluster(kind: str) -> Any:
    """A cluster whose workers are jobs of a batch system, with the settings of Dask's configuration files."""
    import dask_jobqueue

    try:
        return getattr(dask_jobqueue, QUEUES[kind])(scheduler_options={"dashboard_address": DASHBOARD})
    except (ValueError, TypeError) as error:
        raise ClusterError(
            f"{kind}: {error}",
            f"set cores, memory, walltime and the queue under jobqueue.{kind} in ~/.config/dask/jobqueue.yaml",
        ) from error


def _connect(address: str, opened: ExitStack) -> Client:
    """A client of a scheduler that runs."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(f"`{address}` needs {error.name}, which is not installed", INSTALL) from error
    try:
        return opened.enter_context(Client(address, timeout=CONNECT_S, set_as_default=False))
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"no scheduler answers at {address}",
            "start one with `dask scheduler`, and workers with `dask worker`",
        ) from error
