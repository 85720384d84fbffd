"""`thalweg send`: a file or standard input over UDP, by any scheme of the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..errors import TransferError
from .given import params_of
from .out import Refusal, check_least, check_scheme


def send(
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    to: str,
    /,
    *,
    scheme: str = "cvihis",
    mode: Literal["real-time", "background"] | None = None,
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    rate: str | None = None,
    timely: str | None = None,
    name: str | None = None,
    key: Path | None = None,
    packet: int = 1428,
    patience: float | None = None,
    group: str | None = None,
    receivers: int = 1,
    interface: str | None = None,
    bind: str | None = None,
    ipv4: Annotated[bool, Parameter(name=["--ipv4", "-4"])] = False,
    ipv6: Annotated[bool, Parameter(name=["--ipv6", "-6"])] = False,
    pcap: Path | None = None,
    json: bool = False,
) -> int:
    """Send a file, or standard input (`-`), to `thalweg recv`.

    The receiver listens and the sender calls `HOST:PORT`; with `:PORT` the sender listens, and the receiver calls.
    Ends with 0 when every byte arrived, with 1 when not, with 130 after Ctrl-C. Either side can be started again:
    a file goes on where it was.

    Parameters
    ----------
    source
        The file; `-` is standard input.
    to
        `HOST:PORT`, `[IPV6]:PORT`, or `:PORT` to listen.
    scheme
        How fast is sent: a stream scheme paces, a window scheme works as TCP does. `thalweg schemes` lists them.
    mode
        CVIHIS only. While it runs, the keys r and b change it, and so do the signals SIGUSR1 (real-time) and
        SIGUSR2 (background).
    changes
        A parameter of the scheme, such as `--set push=0.9`; may be repeated.
    rate
        Never faster than this, such as "20 Mbit/s".
    timely
        Bytes are worth something for so long, such as "500 ms": what is late is left out. For live streams.
    name
        What the receiver shall call it.
    key
        A file that both sides have: nobody without it can take part or steer.
    packet
        Bytes of a packet with all headers.
    patience
        Seconds without a word of the other side before the transfer is given up; 60 when not given, and without end
        while a first call is waited for.
    group
        Send to this group of IP multicast, such as 239.1.2.3:9000 or [ff15::7]:9000, by MCA, TFMCC or PGMCC. The sender
        listens at `:PORT`, and receivers call it.
    receivers
        Of a group: begin when so many are there.
    interface
        Of a group: on which network it is, by the interface's name, its number, or its IPv4 address.
    bind
        Listen at this address only.
    ipv4, ipv6
        Only this kind of address.
    pcap
        Write what is sent and received to this file, with headers that Wireshark reads.
    json
        Print one JSON object.
    """
    from .. import transfers
    from .transfer import carry

    check_scheme(scheme, "multicast" if group else "ip", "groups" if group else "transfers")
    params = params_of(changes, scheme, "push=0.9")
    modes = has_modes(scheme)
    if mode and not modes:
        raise Refusal(f"`{scheme}` has no modes", "cvihis has")
    if not 200 <= packet <= 9000:
        raise Refusal(f"--packet {packet}: from 200 to 9000 bytes")
    if group and not to.startswith(":"):
        raise Refusal(f"{to}: the sender of a group listens", f"`:{to.rpartition(':')[2]}`")
    check_least("--receivers", receivers)
    path = None if source == "-" else Path(source)
    if path is not None and path.is_dir():
        raise Refusal(f"{source}: not a file", f"`tar c {source} | thalweg send - {to}` sends a folder")
    if path is not None and not path.is_file():
        raise Refusal(f"{source}: {'not a file' if path.exists() else 'no such file'}")
    try:
        transfer = transfers.send(
            path,
            to,
            scheme=scheme,
            params=params,
            mode=mode and mode.replace("-", "_"),
            name=name,
            rate=rate,
            timely=timely,
            key=key,
            packet=packet,
            patience_s=patience,
            group=group,
            receivers=receivers,
            interface=interface,
            bind=bind,
            family=_family(ipv4=ipv4, ipv6=ipv6),
            pcap=pcap,
        )
        return carry(transfer, sending=True, json=json, modes=modes)
    except TransferError as error:
        raise Refusal(str(error), error.hint) from error


def has_modes(scheme: str) -> bool:
    """Whether it has modes that can be changed."""
    from ..catalogue import schemes

    return any(
        row["name"] == scheme and any(param["name"] == "mode" for param in row["params"]) for row in schemes()
    )


def _family(*, ipv4: bool, ipv6: bool) -> int:
    import socket

    if ipv4 and ipv6:
        raise Refusal("--ipv4 and --ipv6 exclude each other")
    return socket.AF_INET if ipv4 else socket.AF_INET6 if ipv6 else 0
