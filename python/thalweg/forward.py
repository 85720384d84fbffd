"""Our NDN forwarder as a process: settings from a TOML file, and the run."""

from __future__ import annotations

import json
import threading
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY_S = 0.2
"""How often `told` is called."""

EXAMPLE = """# A forwarder with MIRCC between a consumer's host and the next router.
[listen]
udp = "0.0.0.0:6363"
unix = "/tmp/thalweg-ndn.sock"

[forwarder]
strategy = "best_route"
link = "mircc"
data = "1250 B"
store = { policy = "lru", size = 1024 }

[[links]]
name = "core"
to = "192.0.2.1:6363"
rate = "12 Mbit/s"

[[routes]]
prefix = "/video"
link = "core"
"""
"""Settings to start from."""


def settings_of(path: Path) -> dict[str, Any]:
    """The settings in a file. Raises ``ValueError``, saying where, for what is no TOML."""
    try:
        return tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        message = f"{path}: {error}"
        raise ValueError(message) from error


def forward(
    settings: dict[str, Any], *, told: Callable[[dict[str, Any]], bool] | None = None
) -> dict[str, Any]:
    """Forwards until `told`, which is shown how the forwarder stands some times a second, answers False, or Ctrl-C.

    How it stood at the end. Raises ``ValueError`` for wrong settings and ``OSError`` for sockets that cannot be had.
    """
    from . import _native

    control = _native.ForwardControl()
    text = json.dumps(settings)
    done: list[str] = []
    failed: list[BaseException] = []
    # Not `Thread.join`: up to Python 3.12 a signal that interrupts it makes the thread look dead.
    over = threading.Event()

    def work() -> None:
        try:
            done.append(_native.ndn_forward(text, control))
        except BaseException as error:  # raised where it is waited for
            failed.append(error)
        finally:
            over.set()

    threading.Thread(target=work, name="forward", daemon=True).start()
    while True:
        try:
            if over.wait(EVERY_S):
                break
            stats = control.stats
            if told is not None and stats is not None and not told(json.loads(stats)):
                control.stop()
                over.wait()
        except KeyboardInterrupt:
            # it ends soon, and is waited for, so that nothing stays behind
            control.stop()
        except BaseException:
            control.stop()
            over.wait()
            raise
    if failed:
        raise failed[0]
    answer: dict[str, Any] = json.loads(done[0])
    return answer
