"""Both ends of the studio, for its tests: a program in a process of its own, and what asks it."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

TOKEN = "a-token"

HOST = "127.0.0.1:8123"

LONG = """\
# How do Reno and CUBIC share a bottleneck? It runs until it is stopped.
title    = "Reno and CUBIC at one bottleneck"
seed     = 7
duration = "100000 s"
warmup   = "5 s"

[topology]
kind       = "dumbbell"
edge       = { rate = "1 Gbit/s", delay = "1 ms", buffer = "10000 packets" }
bottleneck = { rate = "5 Mbit/s", delay = "20 ms", buffer = "1 bdp" }

[[flows]]
name   = "reno"
scheme = "reno"

[[flows]]
name   = "cubic"
scheme = "cubic"

[record]
every  = "200 s"
series = ["rate", "backlog"]
"""

SWEEP = """\
title = "Buffers and schemes"
duration = "20 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }
[[flows]]
name = "a"
scheme = "reno"
[expect]
"link.bottleneck.utilisation" = ">= 0.5"
[sweep]
"topology.bottleneck.buffer" = ["10 packets", "100 packets"]
"flows.a.scheme" = ["reno", "cubic"]
"""


def until(client, number, *, over=True, seconds=60):
    """The state of an activity when it is over, or when it has charts."""
    deadline = time.monotonic() + seconds
    with client.websocket_connect(f"/{TOKEN}/live", headers={"host": HOST}) as socket:
        cells = {}
        while time.monotonic() < deadline:
            for one in socket.receive_json()["activities"]:
                if one["id"] != number:
                    continue
                for index, cell in one.get("cells", {}).items():
                    cells[index] = {**cells.get(index, {}), **cell}
                ended = one["state"] not in ("running", "stopping")
                if ended if over else one.get("charts"):
                    return {**one, "cells": cells}
    raise AssertionError("it takes too long")


@contextlib.contextmanager
def started(*words, cwd):
    """The studio in a process of its own, and its address."""
    environment = {**os.environ, "BROWSER": "true"}
    command = [sys.executable, "-m", "thalweg", *words]
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def address_of(lines):
    """The address in what a command prints."""
    for line in lines:
        if found := re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", line):
            return found[0]
    raise AssertionError("it prints no address")


def fetched(address, path, given=None):
    """An answer of a studio in another process."""
    from urllib.request import Request, urlopen

    body = None if given is None else json.dumps(given).encode()
    with urlopen(Request(address + path, data=body), timeout=300) as answer:
        return json.loads(answer.read())
