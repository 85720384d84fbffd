"""Work in a thread: what it gives, what it raises, and how Ctrl-C ends it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import pytest

from thalweg._worker import WorkerThread


def until_told(given: str = "all of it") -> WorkerThread[str]:
    """Goes on until it is stopped."""
    told = threading.Event()

    def call() -> str:
        assert told.wait(60)
        return given

    return WorkerThread(call, told.set, name="test")


def test_the_result_is_that_of_the_call() -> None:
    work = WorkerThread(lambda: 42, lambda: None, name="test")
    assert work.watch() is False
    assert (work.finished, work.result()) == (True, 42)


def test_exceptions_of_the_call_are_raised_by_result() -> None:
    def call() -> None:
        raise SystemError("a panic")

    work = WorkerThread(call, lambda: None, name="test")
    assert work.watch() is False
    with pytest.raises(SystemError, match="a panic"):
        work.result()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_however_many_stop_it_once_and_it_is_waited_for(number: signal.Signals) -> None:
    before = signal.signal(number, signal.default_int_handler)
    try:
        work = until_told()

        def poll() -> None:
            for _ in range(5):
                signal.raise_signal(number)

        assert work.watch(poll, every_s=0.001) is True
        assert work.result() == "all of it"
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


def test_a_signal_with_another_handler_keeps_it() -> None:
    came = []
    before = signal.signal(signal.SIGTERM, lambda *_: came.append("told"))
    try:
        work = until_told()

        def poll() -> None:
            signal.raise_signal(signal.SIGTERM)
            work.stop()

        assert work.watch(poll, every_s=0.001) is False
        assert came[0] == "told"
    finally:
        signal.signal(signal.SIGTERM, before)


def raising(error: type[BaseException]) -> Callable[[], None]:
    def poll() -> None:
        raise error

    return poll


def test_exceptions_of_poll_are_raised_after_the_thread_ended() -> None:
    work = until_told()
    with pytest.raises(ZeroDivisionError):
        work.watch(raising(ZeroDivisionError), every_s=0.001)
    assert work.finished


def test_looking_that_is_interrupted_is_as_good_as_ctrl_c() -> None:
    work = until_told()
    assert work.watch(raising(KeyboardInterrupt), every_s=0.001) is True
    assert work.finished


def test_in_another_thread_it_is_watched_without_signals() -> None:
    work, found = until_told(), []
    thread = threading.Thread(target=lambda: found.append(work.watch(work.stop, every_s=0.001)))
    thread.start()
    thread.join(60)
    assert found == [False]


def test_the_result_of_a_thread_that_was_not_started_is_refused() -> None:
    with pytest.raises(RuntimeError, match="not begun"):
        until_told().result()
