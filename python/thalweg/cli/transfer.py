"""Common parts of `thalweg send` and `thalweg recv`: the bar, Ctrl-C, changes of mode, the final message."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from .._text import printable
from ..quantities import format_rate, format_size
from ..transfers import INTERFACE_HINT, describe_outcome, is_complete, outcome_hint
from .output import console, print_table, show_json
from .progress import Meter, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..studio.transfer import TransferActivity
    from ..transfers import Transfer

INCOMPLETE = 1
"""Exit code of an incomplete transfer."""

TERMINATE_AFTER_S = 2.0
"""A command of `--on-rate` ends within this time after its input, or is terminated."""

KEYS = {"r": "real_time", "b": "background"}
SIGNALS = {"SIGUSR1": "real_time", "SIGUSR2": "background"}


def run_transfer(
    transfer: Transfer,
    *,
    sending: bool,
    json: bool,
    scheme: str = "",
    modes: bool = False,
    pipe: bool = False,
    on_rate: str | None = None,
    live: str | None = None,
) -> int:
    """Runs the transfer to its end and prints the outcome; returns the exit code.

    A sender with `scheme` prints it at the start. The command `on_rate` reads the bit rate for the
    content. With `pipe`, standard output is the received data, and nothing else is
    written to it. With `live`, a title, the browser shows the transfer.
    """
    with ExitStack() as opened:
        activity = None
        if live is not None:
            from .studio import watched_transfer

            activity = opened.enter_context(watched_transfer(transfer, live, sending=sending))
        return _run_transfer(
            transfer,
            activity,
            sending=sending,
            json=json,
            scheme=scheme,
            modes=modes,
            pipe=pipe,
            on_rate=on_rate,
        )


def _run_transfer(
    transfer: Transfer,
    activity: TransferActivity | None,
    *,
    sending: bool,
    json: bool,
    scheme: str,
    modes: bool,
    pipe: bool,
    on_rate: str | None,
) -> int:
    stopped: list[int] = []
    with (
        transfer,
        _stop_on_signal(transfer, stopped),
        _mode_control(transfer, modes=modes),
        _on_rate_command(on_rate) as write_rate,
    ):
        with Meter("send" if sending else "recv", quiet=json) as meter:
            began = time.monotonic()
            if sending:
                meter.note(_describe_scheme(transfer.mode, scheme))
            meter.note(f"security: {transfer.security.description}")
            sent, done = RateMeter(1.0), RateMeter(5.0)
            warned = False
            for state in transfer.states():
                if state["deaf"] and not warned:
                    warned = True
                    meter.note(f"{_no_data_message(sending=sending)}\nhint: {INTERFACE_HINT}")
                write_rate(state)
                now = time.monotonic() - began
                rates = sent.rate(now, state["bytes"]), done.rate(now, state["done_bytes"])
                line = _status_line(state, now, *rates)
                meter.show(*_progress(state), line, estimate=False)
                if activity is not None:
                    activity.look(state, now, line)
        result = transfer.result()
        now = time.monotonic() - began
    result["complete"] = is_complete(result)
    outcome, hint = describe_outcome(result, sending=sending), outcome_hint(result, sending=sending)
    if json:
        show_json({"outcome": outcome, "hint": hint, **result})
    else:
        _print_result(result, outcome, hint, sending=sending, table=not pipe)
    if activity is not None:
        activity.interrupted = bool(stopped) or activity.stop_requested
        activity.finish(result, now, outcome, hint, _rows(result, sending=sending))
    if stopped or (activity is not None and activity.stop_requested):
        return 130
    return 0 if result["complete"] else INCOMPLETE


@contextmanager
def _on_rate_command(command: str | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Runs the command of `--on-rate`, and writes each change of the content's bit rate by at least a twentieth to it."""
    if command is None:
        yield lambda _state: None
        return
    last = 0.0
    with subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, text=True) as process:
        pipe = process.stdin
        assert pipe is not None

        def write_rate(state: dict[str, Any]) -> None:
            nonlocal last
            rate_bps = content_bps(state)
            if rate_bps and abs(rate_bps - last) >= last / 20 and process.poll() is None:
                last = rate_bps
                # a command that has ended or closed its input is ignored
                with suppress(BrokenPipeError):
                    pipe.write(f"{rate_bps:.0f}\n")
                    pipe.flush()

        yield write_rate
        with suppress(BrokenPipeError):
            pipe.close()
        try:
            process.wait(TERMINATE_AFTER_S)
        except subprocess.TimeoutExpired:
            process.terminate()


def content_bps(state: dict[str, Any]) -> float:
    """The part of the allowed rate that content can have, by what headers and repairs have cost so far; 0 if unknown."""
    allowed: float = min(state["allowed_bps"], state["limit_bps"] or math.inf)
    if not allowed or not state["done_bytes"]:
        return 0.0
    share: float = state["done_bytes"] / state["bytes"]
    return allowed * min(1.0, share)


def _no_data_message(*, sending: bool) -> str:
    """The message that no data arrive from a group."""
    if sending:
        return "no receiver has reported data of the group for three seconds: does the network carry it?"
    return "no data of the group have arrived for three seconds: does the network carry it?"


def _describe_scheme(mode: str | None, scheme: str) -> str:
    """The scheme and the mode of the transfer, and how to change the mode."""
    match mode:
        case "background":
            effect = "yields to other traffic; `--mode real-time` or the key r competes with it"
        case "real_time":
            effect = "takes its share beside other traffic; `--mode background` or the key b yields to it"
        case _:
            return f"scheme {scheme}"
    return f"scheme {scheme}, mode {mode.replace('_', '-')}: {effect}"


class RateMeter:
    """A moving average of a rate over about the last `span_s` seconds, from readings of a counter of bytes."""

    def __init__(self, span_s: float) -> None:
        self._span_s = span_s
        self._readings: deque[tuple[float, int]] = deque()

    def rate(self, now_s: float, count: int) -> float:
        """Bits per second, after another reading; 0 from the first one."""
        self._readings.append((now_s, count))
        while len(self._readings) > 2 and self._readings[1][0] <= now_s - self._span_s:
            self._readings.popleft()
        began_s, before = self._readings[0]
        return 8 * (count - before) / (now_s - began_s) if now_s > began_s else 0.0


def _progress(state: dict[str, Any]) -> tuple[float, float]:
    if state["phase"] == "meeting" and 0 < state["hashed_bytes"] < state["total_bytes"]:
        return state["hashed_bytes"], state["total_bytes"]
    return state["done_bytes"], state["total_bytes"] or float("inf")


def _status_line(state: dict[str, Any], elapsed_s: float, achieved_bps: float, done_bps: float) -> str:
    if state["phase"] == "meeting":
        if 0 < state["hashed_bytes"] < state["total_bytes"]:
            return "reading"
        other = f", {state['forged']} connection attempts rejected" if state["forged"] else ""
        return f"waiting for the other side, {elapsed_s:.0f} s{other}"
    text = format_size(state["done_bytes"])
    if state["total_bytes"]:
        text += f" of {format_size(state['total_bytes'])}"
    if state["phase"] == "silent":
        return text + ", the other side is silent"
    text += f", {format_rate(achieved_bps)}"
    if state["limit_bps"] and state["allowed_bps"] >= state["limit_bps"]:
        text += f" (limit {format_rate(state['limit_bps'])})"
    elif state["allowed_bps"]:
        text += f" ({format_rate(state['allowed_bps'])} allowed)"
    text += _remaining_text(state, done_bps) + _files_text(state)
    if state["mode"]:
        text += f", {state['mode'].replace('_', '-')}"
    if state["reordered"]:
        text += f", {_reordering_text(state)}"
    if state["rtt_s"]:
        text += f", RTT {1e3 * state['rtt_s']:.1f} ms"
    return text


def _files_text(state: dict[str, Any]) -> str:
    """The number of complete files of a folder; empty for a single object."""
    complete, total = state["files"]["complete"], state["files"]["total"]
    if total:
        return f", {complete:,} of {total:,} files"
    return f", {complete:,} files before" if complete else ""


def _reordering_text(counts: dict[str, Any]) -> str:
    """`12 packets overtaken, 1 of them taken for lost`."""
    text = f"{counts['reordered']:,} packets overtaken"
    return (
        f"{text}, {counts['reordered_lost']:,} of them taken for lost" if counts["reordered_lost"] else text
    )


def _remaining_text(state: dict[str, Any], done_bps: float) -> str:
    """The remaining time at this rate; empty if it is unknown."""
    missing = 8 * (state["total_bytes"] - state["done_bytes"])
    if state["phase"] != "open" or missing <= 0 or done_bps <= 0:
        return ""
    return f", {format_duration(missing / done_bps)} left"


def _print_result(
    result: dict[str, Any], outcome: str, hint: str | None, *, sending: bool, table: bool
) -> None:
    screen = console(error=True)
    rows = _rows(result, sending=sending)
    if table and rows:
        print_table(
            "", [("what", ""), ("value", "")], [{"what": what, "value": value} for what, value in rows]
        )
    for member in result.get("members", []):
        if member["end"] != "complete":
            screen.print(
                printable(f"{member['address']}: {_departure_reason(member)}"), style="yellow", markup=False
            )
    for note in result["notes"]:
        screen.print(printable(f"note: {note}"), style="yellow", markup=False)
    where = f": {result['path']}" if result["path"] else ""
    if result["files"]["complete"] > 1:
        where = f": {result['files']['complete']:,} files"
    screen.print(printable(outcome + where), style="green" if result["complete"] else "red", markup=False)
    if hint:
        screen.print(f"hint: {hint}", style="dim", markup=False)


def _departure_reason(member: dict[str, Any]) -> str:
    """The message for a receiver of a group that has not received everything."""
    match member["end"]:
        case "silent":
            return "stopped answering"
        case "quiet":
            return "answered, but accepted no data"
        case "stopped":
            return "had not finished"
        case _:
            return f"left, since {member['why']}"


def _rows(result: dict[str, Any], *, sending: bool) -> list[tuple[str, str]]:
    """The counts of a transfer; none where nothing was sent."""
    stats = result.get("stats")
    if not stats or not stats["packets"]:
        return []
    return [(row["what"], row["value"]) for row in _result_rows(result, stats, sending=sending)]


def _result_rows(result: dict[str, Any], stats: dict[str, Any], *, sending: bool) -> Iterator[dict[str, str]]:
    if result["scheme"]:
        yield {"what": "scheme", "value": result["scheme"]}
    if result["mode"]:
        yield {"what": "mode", "value": result["mode"].replace("_", "-")}
    span = stats["span_s"]
    moved = result["done_bytes"] - (0 if sending else result["resumed_bytes"])
    yield {"what": "bytes", "value": format_size(result["done_bytes"])}
    if result["resumed_bytes"]:
        yield {"what": "resumed", "value": format_size(result["resumed_bytes"])}
    yield {"what": "time", "value": f"{span:.2f} s"}
    if span > 0:
        yield {"what": "goodput", "value": format_rate(8 * moved / span)}
        yield {"what": "rate with headers and repairs", "value": format_rate(8 * stats["bytes"] / span)}
    if result["limit_bps"]:
        yield {"what": "limit", "value": format_rate(result["limit_bps"])}
    yield {"what": "packets", "value": f"{stats['packets']:,}"}
    if sending:
        sent = result["sent"]
        if any(sent.values()):
            text = f"{sent['first']:,} first, {sent['coded']:,} coded, {sent['again']:,} again"
            yield {"what": "of them", "value": text}
        if stats["retransmits"]:
            yield {"what": "packets lost", "value": f"{stats['retransmits']:,}"}
        yield {
            "what": "receivers that have it",
            "value": f"{result['complete_receivers']} of {result['receivers']}",
        }
        if stats["lateness_p99_s"] is not None:
            yield {
                "what": "pacing delay, 99th percentile",
                "value": f"{1e3 * stats['lateness_p99_s']:.3g} ms",
            }
    elif stats["missing"] is not None:
        yield {"what": "packets missing", "value": f"{stats['missing']:,}"}
    if stats["reordered"]:
        yield {"what": "packets overtaken", "value": f"{stats['reordered']:,}"}
        yield {"what": "of them taken for lost", "value": f"{stats['reordered_lost']:,}"}
    if result["dropped"] or result["late"]:
        text = f"{result['dropped']:,} at the source, {result['late']:,} on the way"
        yield {"what": "pieces too late", "value": text}
    if stats["rtt_mean_s"]:
        yield {"what": "round-trip time, mean", "value": f"{1e3 * stats['rtt_mean_s']:.3g} ms"}
    if stats["sessions"] > 1:
        yield {"what": "sessions", "value": str(stats["sessions"])}
    refused = sum(stats["refused"].values())
    if refused:
        yield {"what": "datagrams or connections refused", "value": f"{refused:,}"}


@contextmanager
def _stop_on_signal(transfer: Transfer, stopped: list[int]) -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP close the transfer's session; a second signal ends the program."""

    def stop(number: int, _frame: object) -> None:
        # a list, not an event: an event has a lock, and another signal can interrupt it
        stopped.append(number)
        transfer.stop()
        if len(stopped) > 1:
            raise KeyboardInterrupt

    with _signal_handlers(dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), stop)):
        yield


@contextmanager
def _signal_handlers(handlers: dict[signal.Signals, Callable[[int, Any], None]]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        # as with `nohup`
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _mode_control(transfer: Transfer, *, modes: bool) -> Iterator[None]:
    """SIGUSR1 and SIGUSR2, and the keys r and b at a terminal, change the mode during the transfer."""
    if not modes:
        yield
        return

    def handler(mode: str) -> Callable[[int, Any], None]:
        return lambda _number, _frame: transfer.change_mode(mode)

    handlers = {
        getattr(signal, name): handler(mode) for name, mode in SIGNALS.items() if hasattr(signal, name)
    }
    with _signal_handlers(handlers), _mode_keys(transfer.change_mode):
        yield


@contextmanager
def _mode_keys(change: Callable[[str], None]) -> Iterator[None]:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        yield
        return
    import select
    import termios
    import tty

    finished = threading.Event()

    def listen() -> None:
        while not finished.is_set():
            if select.select([sys.stdin], [], [], 0.2)[0]:
                mode = KEYS.get(sys.stdin.read(1).lower())
                if mode:
                    change(mode)

    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join(1)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
