"""Runs a call of the core in a thread with the interpreter lock released, with progress and Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

EVERY_S = 0.1
"""Seconds between polls of the progress."""

POLL_INTERVAL_S = 0.2
"""Default number of seconds between polls of the progress of a list of jobs."""

Returned = TypeVar("Returned")


class WorkerThread(Generic[Returned]):
    """`call` in a thread; `stop` can be called from any other thread and ends it early."""

    def __init__(self, call: Callable[[], Returned], stop: Callable[[], object], *, name: str) -> None:
        self.stop = stop
        self.interrupted = False
        """Ctrl-C arrived while the thread was watched."""
        self._call = call
        self._returned: list[Returned] = []
        self._failure: BaseException | None = None
        # Not `Thread.join`: up to Python 3.12 a signal that interrupts it makes the thread look dead.
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def _run(self) -> None:
        try:
            self._returned.append(self._call())
        except BaseException as failure:  # a panic of the core too: raised again where it is waited for
            self._failure = failure
        finally:
            self._finished.set()

    def start(self) -> None:
        """Starts the thread; once."""
        self._thread.start()

    @property
    def finished(self) -> bool:
        """Whether the call has returned or raised."""
        return self._finished.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether the call is over, after a wait of at most `seconds`."""
        return self._finished.wait(seconds)

    def result(self) -> Returned:
        """The result of the call; waits for it. Raises its exception, and `RuntimeError` if it was not started."""
        if self._thread.ident is None:
            raise RuntimeError("it was not begun")
        self.wait()
        if self._failure is not None:
            raise self._failure
        return self._returned[0]

    def watch(self, poll: Callable[[], object] | None = None, *, every_s: float = EVERY_S) -> bool:
        """Starts the thread, and calls `poll` periodically until it is over. True if Ctrl-C stopped it.

        The thread is joined in any case, also when `poll` raises; the exception is raised after that.
        """
        with _signals_call(self._interrupt):
            self.start()
            while not self.wait(every_s):
                try:
                    if poll is not None and not self.interrupted:
                        poll()
                except KeyboardInterrupt:
                    self._interrupt()
                except BaseException:
                    self.stop()
                    self.wait()
                    raise
        return self.interrupted

    def _interrupt(self) -> None:
        # no lock here: a second signal may come in the middle of it
        self.interrupted = True
        self.stop()


@contextmanager
def _signals_call(handler: Callable[[], None]) -> Iterator[None]:
    """Replaces `KeyboardInterrupt` by a call of `handler` while the block runs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handled = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.default_int_handler
    ]
    for number in handled:
        signal.signal(number, lambda *_: handler())
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.default_int_handler)
