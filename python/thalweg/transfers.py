"""Real transfers over QUIC: a thread runs the session with the interpreter lock released; others observe and control it."""

from __future__ import annotations

import ipaddress
import json
import secrets
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _native
from ._worker import EVERY_S, WorkerThread
from .errors import TransferError, without_number
from .keys import Credentials, resolve_credentials
from .keys import Security as Security

UDP_PREFIX = "udp://"
"""Begins the address of a program that sends or receives a live stream in datagrams."""

PACKET_BYTES = 1428
"""Size of a data packet with all headers, which every Ethernet carries."""

MEDIA_PACKET_BYTES = 1472
"""Size of a datagram of seven packets of MPEG-TS (1316 bytes) with all headers, which is then one piece."""

AUTHENTICATION_FAILURES = ("is not the expected one", "does not accept this one")
"""Parts of the messages of failed authentication: at a client, and at a server."""

KEY_HINT = "both sides need the same `--key`, or each the fingerprint of the other as `--peer`"

INTERFACE_HINT = (
    "`--interface` at both ends selects the network interface; on one computer it is 127.0.0.1. Between networks, "
    "switches with IGMP or MLD snooping and routers have to forward the group"
)
"""The hint if no data arrive from a group."""


class Transfer:
    """A running transfer. A context manager: at the end of the block the transfer is stopped, if it is not over."""

    def __init__(self, verb: str, settings: dict[str, Any], credentials: Credentials) -> None:
        self._connects = "call" in settings
        self.security = credentials
        """The credentials of this end."""
        self.mode: str | None = None
        """The mode of the scheme at the start, if it has modes and the mode is known."""
        self._native = _native.Transfer()
        words = json.dumps(settings)
        self._work = WorkerThread(
            lambda: getattr(self._native, verb)(words), self._native.stop, name=f"thalweg-{verb}"
        )

    def __enter__(self) -> Transfer:
        self._work.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._work.wait(10)

    def states(self) -> Iterator[dict[str, Any]]:
        """The status, ten times per second, until the transfer is over."""
        while not self._work.finished:
            yield self._with_mode(json.loads(self._native.status()))
            self._work.wait(EVERY_S)

    def result(self) -> dict[str, Any]:
        """The final status. Waits until the transfer is over. Raises `TransferError` if it could not start."""
        try:
            status: dict[str, Any] = json.loads(self._work.result())
        except (OSError, ValueError) as failure:
            message, _, hint = without_number(str(failure)).partition("\n")
            if "Address already in use" in message:
                hint = "another program, or another transfer, has this port: take another one"
            raise TransferError(message, hint or None) from failure
        status["connects"], status["security"] = self._connects, self.security.mode
        self._with_mode(status)
        status["why"] = status["why"] and without_number(status["why"])
        status["notes"] = [without_number(note) for note in status["notes"]]
        return status

    def _with_mode(self, status: dict[str, Any]) -> dict[str, Any]:
        status["mode"] = status["mode"] or self.mode
        return status

    def stop(self) -> None:
        """Closes the session and ends the transfer; received data are kept."""
        self._native.stop()

    def change_mode(self, mode: str) -> None:
        """Requests both ends to change to this mode of the scheme."""
        self._native.change_mode(mode)


@dataclass(frozen=True, kw_only=True)
class Congestion:
    """Congestion control of a sender."""

    scheme: str = "cvihis"
    """A stream scheme paces packets, a window scheme works like TCP."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the scheme that differ from the default."""
    mode: str | None = None
    """`"real_time"` or `"background"`, for schemes with modes. By default, a live stream (one with a deadline) starts in
    the real-time mode, and everything else in the scheme's default mode, the background mode of CVIHIS."""
    rate: str | None = None
    """Limit of the sending rate, headers included, such as `"20 Mbit/s"`."""
    packet: int | None = None
    """Size of a data packet in bytes, all headers included; by default 1428, and 1472 for datagrams of a program."""


@dataclass(frozen=True, kw_only=True)
class Network:
    """Sockets and timeouts of an end."""

    bind: str | None = None
    """The local address to listen on; default: all."""
    family: int = 0
    """`socket.AF_INET` or `socket.AF_INET6`; 0 for both."""
    interface: str | None = None
    """The interface of a multicast group: its name, its index, or its IPv4 address."""
    patience_s: float | None = None
    """The transfer ends after this number of seconds without data; default 60. An end that listens waits for its first
    connection without limit unless this is given."""
    pcap: str | Path | None = None
    """A capture file for sent and received packets."""
    qlog: str | Path | None = None
    """A folder for logs of the QUIC connections, one file each: `send-1.sqlog`, `recv-1.sqlog`. It is created if missing."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """The receivers of an IP multicast group."""

    address: str
    """Address and port, such as `"239.1.2.3:9000"` or `"[ff15::7]:9000"`."""
    receivers: int = 1
    """Nothing is sent before this number of receivers have joined."""


def send(
    path: str | Path | None,
    to: str,
    *,
    name: str | None = None,
    deadline: str | None = None,
    group: Group | None = None,
    congestion: Congestion | None = None,
    security: Security | None = None,
    network: Network | None = None,
) -> Transfer:
    """A transfer of a file, a folder, standard input (`path` is `None`) or the live stream of a program (`udp://HOST:PORT`).

    With a host in `to` it connects, without one it listens. With a `group` it listens, and sends to all receivers that
    connect. `deadline`, such as `"500 ms"`, makes it a live stream: older data are dropped. `name` is sent to the
    receiver; default: the name of the file or folder. Links in a folder, and names that other systems read as paths,
    are not sent; the result counts and notes them, and is not complete. Raises `TransferError`.
    """
    congestion, security = congestion or Congestion(), security or Security()
    network = network or Network()
    address, interface, family = None, network.interface, network.family
    if group is not None:
        if network.qlog is not None:
            raise TransferError(
                "--qlog: data to a group are not sent on a QUIC connection", "`--pcap` captures them"
            )
        address, interface, kind = _parse_group(group.address, interface)
        if family not in (0, kind):
            raise TransferError(f"{address}: the group and `-4` or `-6` have different versions of IP")
        family = kind
    datagrams = udp_address(path)
    if datagrams is not None and deadline is None:
        raise TransferError(f"{path}: datagrams have no end", 'they are a live stream: `--deadline "500 ms"`')
    tree = path is not None and not datagrams and Path(path).is_dir()
    if tree and (group is not None or deadline is not None):
        raise TransferError(
            f"{path}: a folder cannot be sent to a group or with a deadline", "send an archive of it"
        )
    _check_capture(network.pcap, None if datagrams or tree else path)
    places, credentials = _endpoint_settings(
        to, network, security, family=family, group=address, interface=interface
    )
    settings = {
        **places,
        "group": address,
        "receivers": 1 if group is None else group.receivers,
        "path": None if path is None or datagrams or tree else str(path),
        "tree": str(path) if tree else None,
        "datagrams": datagrams,
        "name": name or ("stdin" if path is None else "live" if datagrams else Path(path).resolve().name),
        "scheme": congestion.scheme,
        "params": dict(congestion.params),
        "mode": congestion.mode
        or (None if "mode" in congestion.params else _mode_for(congestion.scheme, live=deadline is not None)),
        "rate": congestion.rate,
        "deadline": deadline,
        "packet": congestion.packet or (MEDIA_PACKET_BYTES if datagrams else PACKET_BYTES),
        "id": secrets.randbits(63),
    }
    transfer = Transfer("send", settings, credentials)
    transfer.mode = settings["mode"] or congestion.params.get("mode") or default_mode(congestion.scheme)
    return transfer


def _endpoint_settings(
    place: str,
    network: Network,
    security: Security,
    *,
    family: int = 0,
    group: str | None = None,
    interface: str | None = None,
) -> tuple[dict[str, Any], Credentials]:
    """The network settings of an end for the core, and its credentials."""
    _check_patience(network.patience_s)
    places = _parse_endpoint(place, family, network.bind)
    credentials = resolve_credentials(places, security, group=group, interface=interface)
    pcap = None if network.pcap is None else str(network.pcap)
    qlog = None if network.qlog is None else str(_folder(network.qlog))
    more = {"interface": interface, "patience_s": network.patience_s, "pcap": pcap, "qlog": qlog}
    return {**places, **more, **credentials.to_settings()}, credentials


def default_mode(scheme: str) -> str | None:
    """The default mode of a scheme; `None` for one without modes."""
    from .catalogue import schemes

    params = (param for row in schemes() if row["name"] == scheme for param in row["params"])
    return next((str(param["default"]) for param in params if param["name"] == "mode"), None)


def _mode_for(scheme: str, *, live: bool) -> str | None:
    """`None` for the scheme's default. Data with a deadline cannot yield to other traffic."""
    return "real_time" if live and default_mode(scheme) is not None else None


def receive(
    at: str,
    *,
    into: str | Path | None = ".",
    name: str | None = None,
    replace: bool = False,
    security: Security | None = None,
    network: Network | None = None,
) -> Transfer:
    """A transfer into a folder, which is created if missing, or to standard output if `into` is `None`.

    With `into="udp://HOST:PORT"` it passes a live stream on to a program, each piece in a datagram.

    Without a host in `at` it listens, with one it connects. A sender that it connects to can send to an IP multicast group,
    which it joins then. The file or folder gets `name`, or the name that the sender proposes; a file of that name is
    replaced only with `replace`. Raises `TransferError`.
    """
    security, network = security or Security(), network or Network()
    settings, credentials = _endpoint_settings(
        at, network, security, family=network.family, interface=network.interface
    )
    datagrams = udp_address(into)
    if into is not None and datagrams is None:
        _folder(into, "`--name` sets the name of the file in a folder")
    folder = None if into is None or datagrams else str(into)
    more = {"folder": folder, "datagrams": datagrams, "name": name, "replace": replace}
    return Transfer("receive", {**settings, **more}, credentials)


def _folder(place: str | Path, hint: str | None = None) -> Path:
    """A folder, which is created if missing."""
    folder = Path(place)
    if folder.exists() and not folder.is_dir():
        raise TransferError(f"{place}: not a folder", hint)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TransferError(f"{place}: {error.strerror}") from error
    return folder


def udp_address(place: str | Path | None) -> str | None:
    """The address in `udp://HOST:PORT`, a program that sends or receives datagrams; `None` for anything else."""
    if not isinstance(place, str) or not place.startswith(UDP_PREFIX):
        return None
    host, _, port = place.removeprefix(UDP_PREFIX).rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise TransferError(f"{place}: no address and port", "udp://127.0.0.1:5000")
    address: str = _resolve(host.strip("[]"), port, 0)[0]
    return address


def is_complete(result: dict[str, Any]) -> bool:
    """Whether all data arrived: every piece of a live stream, and everything in a folder."""
    lacking = result["dropped"] or result["late"] or result["missed"] or result["files"]["omitted"]
    return result["end"] == "complete" and not lacking


def describe_outcome(result: dict[str, Any], *, sending: bool) -> str:
    """The outcome, in a sentence."""
    other = "receiver" if sending else "sender"
    prefix = "incomplete"
    if not (result.get("stats") or {}).get("packets"):
        prefix = "nothing was sent" if sending else "nothing was received"
    match result["end"]:
        case "complete" if is_complete(result):
            return (
                "complete: every byte arrived, and the hash is correct"
                if result["total_bytes"]
                else "complete"
            )
        case "complete":
            late = result["dropped"] + result["late"]
            reasons = [f"{late} pieces were too late"] if late else []
            if result["missed"]:
                reasons.append(f"{result['missed']} pieces had been sent before this receiver connected")
            if omitted := result["files"]["omitted"]:
                count = f"{omitted:,} files or folders" if omitted > 1 else "1 file or folder"
                reasons.append(
                    f"{count} in the folder cannot be sent{'' if sending else ', says the sender'}"
                )
            return f"incomplete: {' and '.join(reasons)}"
        case "stopped":
            return f"{prefix}: it was stopped"
        case "unanswered":
            return f"{prefix}: no {other} {'answered' if result['connects'] else 'connected'}"
        case "silent":
            return f"{prefix}: the {other} stopped answering"
        case "quiet" if sending:
            return f"{prefix}: the receiver answered, but accepted no data for too long"
        case "quiet":
            return f"{prefix}: the sender answered, but sent no data for too long"
        case "refused" | "failed" if _failed_authentication(result["why"]):
            return f"{prefix}: the {other} seems to have another key or identity, or none"
        case "refused":
            return f"{prefix}: the {other} refused: {result['why']}"
        case "closed":
            return f"{prefix}: the {other} closed the session: {result['why']}"
        case _:
            return f"{prefix}: {result['why']}"


def _failed_authentication(why: str | None) -> bool:
    return any(part in (why or "") for part in AUTHENTICATION_FAILURES)


def outcome_hint(result: dict[str, Any], *, sending: bool) -> str | None:
    """A hint for the user about the outcome, if there is one."""
    why, stats = result["why"] or "", result.get("stats") or {}
    if _failed_authentication(why):
        # with fingerprints, the reason names those that were expected and found
        return f"{why}; {KEY_HINT}" if result["security"] == "pinned" else KEY_HINT
    if not stats.get("sessions") and stats.get("refused", {}).get("forged"):
        return f"a connection attempt was rejected: {KEY_HINT}"
    if result["end"] == "quiet" or "no data arrived for too long" in why:
        idle = "a program that pauses for longer needs `--key` or `--peer` at both ends"
        return f"`--patience` sets this time; {idle}"
    if sending and result["end"] == "complete" and result["files"]["omitted"]:
        return "the notes say why; an archive has everything: `tar c FOLDER | thalweg send - …`"
    if sending and "use smaller packets" in why:
        return "`--packet 1228` fits every path that carries QUIC over IPv4, `--packet 1248` over IPv6"
    if "is there already" in why:
        return "`--overwrite` at the receiver replaces it, `--name` sets another name"
    if "another client is being served" in why:
        return "one at a time; if this was the other side of an interrupted transfer, repeat the command three seconds later"
    if "does the network carry it" in why or "cannot be joined" in why:
        return INTERFACE_HINT
    if "No space left" in why:
        return "free space at the receiver and repeat the command: the transfer of a file resumes"
    if result["end"] == "unanswered" and result["connects"]:
        command = "thalweg recv PORT" if sending else "thalweg send FILE :PORT"
        return (
            f"run `{command}` at the other side, with the same `--key` if it has one and the same version of Thalweg; "
            "firewalls must let UDP pass"
        )
    return None


def _check_patience(seconds: float | None) -> None:
    # the core's clock cannot represent a longer time
    if seconds is not None and not 0 < seconds <= 1e9:
        raise TransferError(f"patience of {seconds:g} seconds", "more than 0, and 60 when not given")


def _check_capture(pcap: str | Path | None, source: str | Path | None) -> None:
    """Refuses a capture file that is the file to send."""
    if None not in (pcap, source) and Path(str(pcap)).exists() and Path(str(pcap)).samefile(str(source)):
        raise TransferError(f"{pcap}: the capture would replace the file that is sent")


def _parse_endpoint(place: str, family: int, bind: str | None) -> dict[str, Any]:
    """`HOST:PORT` is connected to; `PORT` and `:PORT` are listened on, on all addresses or on `bind`."""
    host, _, port = place.rpartition(":")
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise TransferError(
            f"{place.lstrip(':')}: no port from 1 to 65535",
            "HOST:PORT connects, `thalweg recv PORT` and `thalweg send FILE :PORT` listen",
        )
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise TransferError(f"{place}: write an IPv6 address in brackets", f"[{host}]:{port}")
    if host:
        address = _resolve(host, port, family)[0]
        if address.startswith("[fe80:") and "%" not in address:
            raise TransferError(f"{host}: a link-local address needs the interface", f"[{host}%eth0]:{port}")
        _check_route(host, address)
        return {"call": address}
    if bind:
        return {"listen": [_resolve(bind, port, family)[0]]}
    both: dict[int, list[str]] = {socket.AF_INET: [f"0.0.0.0:{port}"], socket.AF_INET6: [f"[::]:{port}"]}
    return {"listen": both.get(family) or [address for listed in both.values() for address in listed]}


def _parse_group(group: str, interface: str | None) -> tuple[str, str | None, int]:
    """Address and port of a group with the index of its interface (the zone), and the address family."""
    host, _, port = group.rpartition(":")
    if not port.isdigit() or not 0 < int(port) < 65536:
        example = "[ff15::7]:9001" if "::" in group else "239.1.2.3:9001"
        raise TransferError(f"{group}: no port from 1 to 65535", f"a group is written as {example}")
    if not host.startswith("[") and ":" in host:
        raise TransferError(f"{group}: write an IPv6 address in brackets", f"[{host}]:{port}")
    address, percent, zone = host.strip("[]").partition("%")
    try:
        ip = ipaddress.ip_address(address)
    except ValueError as error:
        raise TransferError(f"{group}: {error}") from error
    if not ip.is_multicast:
        raise TransferError(f"{group}: the address of no group", "239.1.2.3:9001 and [ff15::7]:9001 are")
    if isinstance(ip, ipaddress.IPv4Address):
        return group, interface, socket.AF_INET
    if percent:
        zone = str(_interface_index(zone))
        if interface is not None and str(_interface_index(interface)) != zone:
            raise TransferError(f"{group}: the group is on another interface than {interface}")
        interface = interface or zone
    elif _scope(ip) <= LINK_SCOPE and interface is None:
        raise TransferError(
            f"{group}: a group of one link or one computer needs the interface", f"[{address}%eth0]:{port}"
        )
    return f"[{address}]:{port}", interface, socket.AF_INET6


LINK_SCOPE = 2
"""Scope of IPv6 groups that routers do not forward."""


def _scope(group: ipaddress.IPv6Address) -> int:
    return group.packed[1] & 15


def _interface_index(interface: str) -> int:
    try:
        return int(interface) if interface.isdigit() else socket.if_nametoindex(interface)
    except OSError as error:
        known = ", ".join(name for _, name in socket.if_nameindex())
        raise TransferError(f"{interface}: there is no such interface", f"there are {known}") from error


def _check_route(host: str, address: str) -> None:
    """Whether this host has a route to other hosts; nothing is sent."""
    number, _, port = address.rpartition(":")
    plain = number.strip("[]")
    with socket.socket(socket.AF_INET6 if ":" in plain else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((plain, int(port)))
        except OSError as error:
            raise TransferError(f"{host}: there is no route to it: {error.strerror}") from error


def _resolve(host: str, port: str, family: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, int(port), family, socket.SOCK_DGRAM)
    except OSError as error:
        raise TransferError(f"{host}: {error.strerror or error}") from error
    addresses = []
    for kind, _, _, _, address in found:
        if kind == socket.AF_INET6:
            scope = f"%{address[3]}" if len(address) > 3 and address[3] else ""
            addresses.append(f"[{str(address[0]).partition('%')[0]}{scope}]:{port}")
        elif kind == socket.AF_INET:
            addresses.append(f"{address[0]}:{port}")
    if not addresses:
        raise TransferError(f"{host}: no address of this kind")
    return addresses


_RENAMED = {"is_whole": "is_complete", "words_for": "describe_outcome", "hint_for": "outcome_hint"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        raise AttributeError(f"`thalweg.transfers.{name}` was renamed to `{_RENAMED[name]}`")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
