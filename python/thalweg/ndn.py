"""Named data over real networks: fetch files from NDN forwarders with any consumer scheme, and serve files to them."""

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
from ._worker import WorkerThread
from .errors import Interrupted, NdnError

NFD_SOCKET = "/run/nfd/nfd.sock"
"""The socket of NFD."""

Discovery = Literal["metadata", "prefix", "none"]


@dataclass(frozen=True)
class Progress:
    """Progress of a fetch or a producer."""

    ready: bool
    """The version is found, or the prefix is registered."""
    bytes: int
    """Bytes received in order; of a producer, bytes of content sent."""
    total: int
    """Total size in bytes; 0 while it is unknown."""
    segments: int
    """Segments received; of a producer, Interests received."""
    again: int
    """Retransmitted segments."""
    wall_s: float
    """Seconds since the start."""


def default_socket() -> str:
    """The Unix socket of this user's forwarder: the settings of `thalweg ndn forward --example` listen there."""
    return str(Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp", "thalweg-ndn.sock"))


def default_face() -> str:
    """Address of the forwarder: NDN_CLIENT_TRANSPORT, `client.conf`, `default_socket`, or NFD's address."""
    transport = os.environ.get("NDN_CLIENT_TRANSPORT")
    if transport:
        return transport
    for folder in (Path.home() / ".ndn", Path("/usr/local/etc/ndn"), Path("/etc/ndn")):
        try:
            lines = (folder / "client.conf").read_text(encoding="utf-8-sig").splitlines()
        except OSError:
            continue
        for line in lines:
            key, _, value = line.partition("=")
            if key.strip() == "transport" and value.strip():
                return value.strip()
    own = default_socket()
    return f"unix://{next((path for path in (own, NFD_SOCKET) if _listens(path)), own)}"


def _listens(path: str) -> bool:
    """Whether a program accepts connections at this Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


@dataclass(frozen=True, kw_only=True)
class Consumer:
    """Requests and congestion control of a consumer. Quantities are texts with units."""

    scheme: str = "cubic"
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the scheme that differ from the default."""
    initial_window: int | None = None
    """In segments; default 2."""
    marks: bool = True
    """React to congestion marks."""
    lifetime: str | None = None
    """Lifetime of Interests; default `"4 s"`."""
    min_rto: str | None = None
    """Minimum retransmission timeout; default `"200 ms"`."""
    access: str | None = None
    """Capacity of this host's access link, for schemes that use it."""


@dataclass(frozen=True, kw_only=True)
class Producer:
    """Version, segments and route of a producer. Quantities are texts with units."""

    version: int | None = None
    """Version of the file, which must increase; default: microseconds since 1970."""
    segment: int | None = None
    """Payload of a segment in bytes, at most 8400; default 8000."""
    freshness: str | None = None
    """How long stores may answer requests for the latest version; default `"4 s"`."""
    cost: int = 0
    """Cost of the registered route."""
    register: bool = True
    """Register the prefix with the forwarder; otherwise the route must exist."""


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
    """Fetches the file `name` and writes it to `out`, or to standard output without `out`.

    `out` is created only when the file is complete. The fetch ends when no Data arrive for `patience`, such as `"15
    s"`. The frames are written to the capture file `pcap`. Returns a dict with counts. Raises `NdnError` if the file
    is not complete, `ValueError` for invalid arguments, and `Interrupted` after Ctrl-C.
    """
    consumer = consumer or Consumer()
    request = {
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
    words = json.dumps({key: value for key, value in request.items() if value is not None})
    try:
        result = _watch(
            lambda control: _native.ndn_get(words, None if part is None else str(part), control), progress
        )
        if path is not None and part is not None:
            part.replace(path)
        return result
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def put(
    name: str,
    file: str | Path | BinaryIO,
    *,
    face: str | None = None,
    producer: Producer | None = None,
    pcap: str | Path | None = None,
    stop: threading.Event | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> dict[str, Any]:
    """Serves `file` under `name` until Ctrl-C, or until `stop` is set; returns a dict with counts.

    A file object is read completely into memory. The frames are written to the capture file `pcap`. Raises `NdnError` if
    the file cannot be served.
    """
    producer = producer or Producer()
    request = {
        "name": name,
        "face": default_face() if face is None else face,
        **vars(producer),
        "pcap": None if pcap is None else str(pcap),
        "now_ns": time.time_ns(),
    }
    words = json.dumps({key: value for key, value in request.items() if value is not None})
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
    """Runs `call` in a thread, reports its progress, and stops it on Ctrl-C."""
    control = _native.NdnControl()
    began, cpu = time.monotonic(), time.process_time()

    def poll() -> None:
        if stop is not None and stop.is_set():
            control.stop()
        if progress is not None:
            progress(
                Progress(
                    ready=control.ready,
                    bytes=control.bytes,
                    total=control.total,
                    segments=control.segments,
                    again=control.again,
                    wall_s=time.monotonic() - began,
                )
            )

    work = WorkerThread(lambda: call(control), control.stop, name="thalweg-ndn")
    interrupted = work.watch(poll)
    result: dict[str, Any] = json.loads(work.result())
    result["cpu_s"] = time.process_time() - cpu
    failure = result.pop("failure")
    if interrupted:
        raise Interrupted(result)
    if failure is not None:
        raise NdnError(failure["message"], failure["hint"], result)
    return result
