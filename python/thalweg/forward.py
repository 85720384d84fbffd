"""The NDN forwarder as a process, and an SDN controller for several of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._files import read_text
from ._worker import WorkerThread

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import _native
    from .scenario import Scenario

EVERY_S = 0.2
"""Interval between calls of `told`."""

_EXAMPLE = """# A forwarder with MIRCC between a consumer's host and the next router.
[listen]
udp = "0.0.0.0:6363"
unix = "{socket}"

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


def example() -> str:
    """Example settings. They listen where `thalweg ndn get` and `put` look for a forwarder."""
    from .ndn import default_socket

    return _EXAMPLE.replace("{socket}", default_socket())


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a file. Raises ``ValueError`` for invalid TOML, with its place, and ``OSError`` for no file."""
    try:
        return tomllib.loads(read_text(path))
    except UnicodeDecodeError as error:
        message = f"{path}: no text"
        raise ValueError(message) from error
    except tomllib.TOMLDecodeError as error:
        message = f"{path}: {error}"
        raise ValueError(message) from error


def resolve_key(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with the bytes of the controller's key in place of its file name.

    Raises `TransferError` for an invalid key, ``OSError`` if the file cannot be read.
    """
    from .keys import read_key

    controller = settings.get("controller")
    if not isinstance(controller, dict) or not isinstance(controller.get("key"), str):
        return settings
    return {**settings, "controller": {**controller, "key": read_key(controller["key"])}}


def forward(
    settings: dict[str, Any],
    *,
    on_status: Callable[[dict[str, Any]], bool] | None = None,
    pcap: str | Path | None = None,
) -> dict[str, Any]:
    """Forwards until `told`, which receives the status some times per second, returns False, or until Ctrl-C.

    Returns the final status. Frames of all faces are written to the capture file `pcap`. Raises ``ValueError`` for
    invalid settings and ``OSError`` for sockets or files that cannot be opened.
    """
    from . import _native

    control = _native.ForwardControl()
    text = json.dumps(resolve_key(settings))
    file = None if pcap is None else str(pcap)
    return _run_until_stopped(
        lambda: _native.ndn_forward(text, control, file), control, on_status, name="thalweg-forward"
    )


def control(
    scenario: Scenario,
    listen: str,
    key: str | Path,
    *,
    seed: int | None = None,
    on_status: Callable[[dict[str, Any]], bool] | None = None,
) -> dict[str, Any]:
    """Controls forwarders by the network and ``[sdn]`` of `scenario`, until `told` returns False, or Ctrl-C.

    `listen` is an address with a port; `key` a file that the forwarders have as well. Returns the final status.
    Raises ``ValueError`` for scenarios without a controller of named data, `TransferError` for an invalid key,
    ``OSError`` for a socket that cannot be opened.
    """
    from . import _native
    from .keys import read_key

    secret, plan = bytes(read_key(key) or []), scenario.plan(seed)
    watch = _native.SdnControl()
    return _run_until_stopped(
        lambda: plan.control(listen, secret, watch), watch, on_status, name="thalweg-control"
    )


def run_forwarders(experiment: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs several hosts as forwarders of this process, over sockets of this host; returns the final status of each.

    `experiment` has `span`, `hosts` and the `wires` between them. Ctrl-C ends it early. Raises ``ValueError`` for an
    invalid experiment, ``OSError`` for a socket that cannot be opened.
    """
    from . import _native

    control, text = _native.ForwardControl(), json.dumps(experiment)
    work = WorkerThread(lambda: _native.ndn_together(text, control), control.stop, name="thalweg-together")
    if work.watch(every_s=EVERY_S):
        raise KeyboardInterrupt
    hosts: list[dict[str, Any]] = json.loads(work.result())
    return hosts


def _run_until_stopped(
    call: Callable[[], str],
    control: _native.ForwardControl | _native.SdnControl,
    on_status: Callable[[dict[str, Any]], bool] | None,
    *,
    name: str,
) -> dict[str, Any]:
    def poll() -> None:
        stats = control.stats
        if on_status is not None and stats is not None and not on_status(json.loads(stats)):
            control.stop()

    # the status is returned after Ctrl-C too
    work = WorkerThread(call, control.stop, name=name)
    work.watch(poll, every_s=EVERY_S)
    answer: dict[str, Any] = json.loads(work.result())
    return answer
