"""Ends of transfers as processes, for the tests of `thalweg send` and `thalweg recv`."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from thalweg import transfers

LONGEST_S = 60
"""No wait of these tests is longer."""

HERE = transfers.Network(bind="127.0.0.1")

BLOCK_BYTES = 256 * 1270
"""A little less than a block of a file."""

GROUP_BLOCK_BYTES = 256 * 1150
"""A little less than a block of a group, whose packets have a proof of their sender."""


def port(family: int = socket.AF_INET, host: str = "127.0.0.1") -> int:
    """One that nobody uses."""
    with socket.socket(family, socket.SOCK_DGRAM) as free:
        free.bind((host, 0))
        number: int = free.getsockname()[1]
        return number


def start(*words: Any, **more: Any) -> subprocess.Popen[bytes]:
    """The command, under way."""
    command = [sys.executable, "-m", "thalweg", *map(str, words)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **{**pipes, **more})


def end(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Waits for a command with `--json`; what it said, with its exit code as `code`."""
    out, err = process.communicate(timeout=LONGEST_S)
    assert out, err.decode()
    said: dict[str, Any] = json.loads(out)
    return {**said, "code": process.returncode}


def both(source: Path, into: Path, sending: tuple[Any, ...] = (), receiving: tuple[Any, ...] = ()) -> Any:
    """Sends to a receiver with these options; the answers of the sender and the receiver."""
    at = port()
    receiver = start("recv", at, "--into", into, *receiving, "--json")
    sent = end(start("send", source, f"127.0.0.1:{at}", *sending, "--json"))
    return sent, end(receiver)


def until(true: Any) -> None:
    """Waits until something is so."""
    last = time.monotonic() + LONGEST_S
    while not true():
        assert time.monotonic() < last, "it did not happen"
        time.sleep(0.01)


def blocks(into: Path, name: str = "film.bin") -> int:
    """Blocks of an unfinished file that are there: numbers of four bytes after a heading, which has the name."""
    try:
        return ((into / f"{name}.thalweg-state").stat().st_size - 136 - len(name)) // 4
    except FileNotFoundError:
        return 0
