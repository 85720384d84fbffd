"""Named data over real networks: files fetched from NDN forwarders by any scheme of consumers, and served to them."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from . import _native
from ._work import Work
from .errors import Interrupted, NdnError

NFD_SOCKET = "/run/nfd/nfd.sock"
"""Where NFD listens."""

Discovery = Literal["metadata", "prefix", "none"]


@dataclass(frozen=True)
class Progress:
    """How far a fetch or a producer is."""

    ready: bool
    """The version is found, or the prefix is registered."""
    bytes: int
    """Bytes that are there, in order; of a producer, bytes of content sent."""
    whole: int
    """Bytes of the whole; 0 while that is not known."""
    segments: int
    """Segments that came; of a producer, Interests that came."""
    again: int
    """Segments asked for again."""
    wall_s: float
    """Seconds since it began."""


def default_socket() -> str:
    """The Unix socket of this user's forwarder: the settings of `thalweg ndn forward --example` listen there."""
    return str(Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp", "thalweg-ndn.sock"))


def default_face() -> str:
    """Where the forwarder is: as NDN_CLIENT_TRANSPORT says, or `client.conf`, or at `default_socket`, or where NFD is."""
    said = os.environ.get("NDN_CLIENT_TRANSPORT")
    if said:
        return said
    for folder in (Path.home() / ".ndn", Path("/usr/local/etc/ndn"), Path("/etc/ndn")):
        try:
            lines = (folder / "client.conf").read_text(encoding="utf-8").splitlines()
        except OSError:
            continue
        for line in lines:
            key, _, value = line.partition("=")
            if key.strip() == "transport" and value.strip():
                return value.strip()
    own = default_socket()
    return f"unix://{next((path for path in (own, NFD_SOCKET) if _listens(path)), own)}"


def _listens(path: str) -> bool:
    """Whether somebody takes connections at this Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as way:
        try:
            way.connect(path)
        except OSError:
            return False
    return True


@dataclass(frozen=True, kw_only=True)
class Consumer:
    """How a consumer requests segments and controls congestion. Quantities are texts with units."""

    scheme: str = "cubic"
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the scheme that are not default."""
    initial_window: int | None = None
    """In segments; 2 when not given."""
    marks: bool = True
    """Congestion marks count."""
    lifetime: str | None = None
    """Of Interests; `"4 s"` when not given."""
    min_rto: str | None = None
    """Minimum retransmission timeout; `"200 ms"` when not given."""
    access: str | None = None
    """The rate at which Data can reach this host, for schemes that use it."""


def get(
    name: str,
    out: str | Path | None,
    *,
    face: str | None = None,
    consumer: Consumer | None = None,
    discovery: Discovery = "metadata",
    patience: str | None = None,
    sha256: str | None = None,
    pcap: str | Path | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> dict[str, Any]:
    """Fetches the file `name` and writes it to `out`, or to standard output where that is None.

    `out` is there only when it is whole. It is given up where no Data comes for `patience`, such as `"15 s"`. The frames are
    written to the capture file `pcap`. What came, with its counts, is a dict; raises `NdnError` where it is not whole,
    `ValueError` for what cannot be meant, and `Interrupted` after Ctrl-C.
    """
    consumer = consumer or Consumer()
    wanted = {
        "name": name,
        "face": default_face() if face is None else face,
        **vars(consumer),
        "params": dict(consumer.params),
        "discovery": discovery,
        "patience": patience,
        "sha256": sha256,
        "pcap": None if pcap is None else str(pcap),
        "now_ns": time.time_ns(),
    }
    if sha256 is not None and (len(sha256) != 64 or set(sha256.lower()) - set("0123456789abcdef")):
        raise ValueError("sha256: 64 hexadecimal digits")
    path = None if out is None else Path(out)
    part = None if path is None else path.with_name(f".{path.name}.{os.getpid()}.part")
    words = json.dumps({key: value for key, value in wanted.items() if value is not None})
    try:
        told = _watch(
            lambda control: _native.ndn_get(words, None if part is None else str(part), control), progress
        )
        if path is not None and part is not None:
            part.replace(path)
        return told
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def put(
    name: str,
    file: str | Path | BinaryIO,
    *,
    face: str | None = None,
    version: int | None = None,
    segment: int | None = None,
    freshness: str | None = None,
    cost: int = 0,
    register: bool = True,
    pcap: str | Path | None = None,
    stop: threading.Event | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> dict[str, Any]:
    """Serves `file` under `name` until Ctrl-C, or until `stop` is set; what was served, with its counts, is a dict.

    What is no path is read whole, into memory. The version is the time in microseconds where none is given. The frames
    are written to the capture file `pcap`. Raises `NdnError` where it cannot be served.
    """
    wanted = {
        "name": name,
        "face": default_face() if face is None else face,
        "version": version,
        "segment": segment,
        "freshness": freshness,
        "cost": cost,
        "register": register,
        "pcap": None if pcap is None else str(pcap),
        "now_ns": time.time_ns(),
    }
    words = json.dumps({key: value for key, value in wanted.items() if value is not None})
    path = str(file) if isinstance(file, str | Path) else None
    content = None if isinstance(file, str | Path) else file.read()
    try:
        return _watch(lambda control: _native.ndn_put(words, path, content, control), progress, stop)
    except Interrupted as interrupted:
        return dict(interrupted.result)


def _watch(
    call: Callable[[_native.NdnControl], str],
    progress: Callable[[Progress], object] | None,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Lets `call` go on in a thread, says how far it is, and stops it on Ctrl-C."""
    control = _native.NdnControl()
    began, cpu = time.monotonic(), time.process_time()

    def look() -> None:
        if stop is not None and stop.is_set():
            control.stop()
        if progress is not None:
            progress(
                Progress(
                    ready=control.ready,
                    bytes=control.bytes,
                    whole=control.whole,
                    segments=control.segments,
                    again=control.again,
                    wall_s=time.monotonic() - began,
                )
            )

    work = Work(lambda: call(control), control.stop, name="thalweg-ndn")
    interrupted = work.watch(look)
    told: dict[str, Any] = json.loads(work.result())
    told["cpu_s"] = time.process_time() - cpu
    failure = told.pop("failure")
    if interrupted:
        raise Interrupted(told)
    if failure is not None:
        raise NdnError(failure["message"], failure["hint"], told)
    return told
