"""Runs on many machines: jobs of `thalweg.jobs` on the workers of a Dask cluster.

A job goes to a worker as the text of its plan, and its output comes back to this process, which keeps it. Dask repeats a
job whose worker ends. When the scheduler ends, this process waits for it and then passes the jobs that are not finished to
it again. Workers need the same build of thalweg: another core is refused, because its results can differ.

It needs Dask: `pip install thalweg[cluster]`.
"""

from __future__ import annotations

import asyncio
import difflib
import logging
import os
import pickle
import platform
import queue
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from . import _native
from ._digests import native_digest
from ._native import Control
from ._worker import POLL_INTERVAL_S, WorkerThread
from .errors import ClusterError

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

LOGGERS = ["asyncio", "distributed", "distributed.client", "tornado.application"]
"""Where Dask writes what users learn from errors and the progress."""

INSTALL = "pip install thalweg[cluster]"

SETTINGS = "~/.config/dask/jobqueue.yaml"
"""The file of Dask with the settings of batch systems."""


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
        self._refused: list[Exception] = []
        """Why the batch system accepted none of the jobs, one reason each; empty while it may accept one."""
        self._core = native_digest()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            self._client = _open(self._on, opened, self._refused) if isinstance(self._on, str) else self._on
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
        """How many jobs may be with the scheduler at a time; 0 while it does not answer. Raises `ClusterError`."""
        if self._refused:
            reason = str(self._refused[0]).strip().splitlines()[-1]
            raise ClusterError(
                f"{self._on}: no job was accepted: {reason}", f"the settings are in {SETTINGS}"
            )
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
                _sent_by_value(), packed, self._core, key=f"thalweg-{number}-{uuid4().hex}", pure=False
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


def _sent_by_value() -> Callable[[bytes, str], Any]:
    """A function that a worker without thalweg can read, so that its call says what is missing."""

    def run(work: bytes, core: str) -> Any:
        from thalweg.cluster import run_in_worker

        return run_in_worker(work, core)

    return run


def run_in_worker(work: bytes, core: str) -> Any:
    """Runs a job in a worker; stops it if it is cancelled. Raises `ClusterError` if the core is not the client's."""
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
            f"{on!r} needs a number of {'workers' if kind == 'local' else 'batch jobs'} above 0",
            f"write {kind}:4",
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


def _open(on: str, opened: ExitStack, refused: list[Exception]) -> Client:
    """A client of the cluster of this name; `opened` closes it, and the cluster if it was started here.

    `refused` gets the reasons why a batch system accepted none of the jobs.
    """
    check(on)
    kind, _, number = on.partition(":")
    distributed = _imported(on, "distributed")
    opened.enter_context(_quiet())
    if "://" in on:
        return _connect(on, opened)
    if kind == "local":
        cluster = opened.enter_context(_local_cluster(int(number) if number else os.cpu_count() or 1))
    else:
        cluster = opened.enter_context(_batch_cluster(on, kind, int(number), refused))
        cluster.scale(jobs=int(number))
    client: Client = opened.enter_context(distributed.Client(cluster, set_as_default=False))
    return client


def _imported(on: str, name: str) -> Any:
    """A module of Dask."""
    # a module of dask_jobqueue replaces what Ctrl-C does
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        return import_module(name)
    except ImportError as error:
        raise ClusterError(f"`{on}` needs {error.name}, which is not installed", INSTALL) from error
    except ValueError as error:
        raise ClusterError(f"the settings of Dask cannot be read: {error}") from error
    finally:
        if signal.getsignal(signal.SIGINT) is not interrupt:
            signal.signal(signal.SIGINT, interrupt)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the log of Dask from the terminal."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _local_cluster(workers: int) -> Any:
    """A cluster of processes of this host, which take jobs from this process only."""
    _imported(f"local:{workers}", "cryptography")
    from distributed import LocalCluster

    # Ctrl-C is for this process, which ends the others; until they have started, it waits
    resource_tracker.ensure_running()
    blocks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else set()
    try:
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=DASHBOARD,
            # keys that only these processes have: other users of this host are refused
            security=True,
            silence_logs=logging.CRITICAL + 1,
        )
    except RuntimeError as error:
        raise ClusterError(
            f"the processes of local:{workers} cannot be started; a script must call this below "
            '`if __name__ == "__main__":`, because every process reads the script'
        ) from error
    finally:
        if blocks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _batch_cluster(on: str, kind: str, jobs: int, refused: list[Exception]) -> Any:
    """A cluster whose workers are jobs of a batch system, with the settings of Dask's configuration files."""
    dask_jobqueue = _imported(on, "dask_jobqueue")
    _check_settings(kind, Path(dask_jobqueue.__file__).with_name("jobqueue.yaml"))
    batch_system = getattr(dask_jobqueue, QUEUES[kind])
    reasons: list[Exception] = []

    class Submitted(batch_system.job_cls):  # type: ignore[misc, name-defined]
        """A job that tells why the batch system did not accept it; Dask goes on without it."""

        async def start(self) -> None:
            from distributed.core import Status

            try:
                await super().start()
            except Exception as error:
                self.status = Status.failed
                reasons.append(error)
                if len(reasons) == jobs:
                    refused.extend(reasons)
                raise

    try:
        return batch_system(job_cls=Submitted, scheduler_options={"dashboard_address": DASHBOARD})
    except (ValueError, TypeError) as error:
        raise ClusterError(
            f"{kind}: {error}",
            f"set cores, memory, walltime and the queue under jobqueue.{kind} in {SETTINGS}",
        ) from error


def _check_settings(kind: str, defaults: Path) -> None:
    """Refuses settings that Dask does not know, and ignores. Raises `ClusterError`."""
    import dask.config

    known = dask.config.merge(*dask.config.collect_yaml([str(defaults)]))["jobqueue"][kind]
    for key in dask.config.get(f"jobqueue.{kind}", {}):
        if key.replace("_", "-") not in known:
            near = difflib.get_close_matches(key, known, n=1)
            raise ClusterError(
                f"{kind} has no setting `{key}`: jobqueue.{kind} in {SETTINGS}",
                f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}",
            )


def _connect(address: str, opened: ExitStack) -> Client:
    """A client of a scheduler that runs."""
    from distributed import Client
    from distributed.core import rpc
    from distributed.security import Security
    from distributed.utils import LoopRunner

    async def ask() -> Any:
        arguments = Security().get_connection_args("client")
        async with rpc(address, connection_args=arguments, timeout=CONNECT_S) as there:
            return await asyncio.wait_for(there.identity(), CONNECT_S)

    # a client that cannot connect waits for a minute when it is closed
    try:
        identity = LoopRunner(asynchronous=False).run_sync(ask)
        if identity["type"] != "Scheduler":
            raise ValueError(f"it is of type {identity['type']}")
        return opened.enter_context(Client(address, timeout=CONNECT_S, set_as_default=False))
    except Exception as error:
        raise ClusterError(
            f"no scheduler answers at {address}: {error}",
            "start one with `dask scheduler`, and workers with `dask worker`",
        ) from error
