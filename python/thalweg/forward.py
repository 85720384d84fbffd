"""Our NDN forwarder as a process: settings from a TOML file, and the run."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._work import Work

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

    def look() -> None:
        stats = control.stats
        if told is not None and stats is not None and not told(json.loads(stats)):
            control.stop()

    # after Ctrl-C too it says how it stood
    work = Work(lambda: _native.ndn_forward(text, control), control.stop, name="thalweg-forward")
    work.watch(look, every_s=EVERY_S)
    answer: dict[str, Any] = json.loads(work.result())
    return answer
