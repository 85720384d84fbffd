"""`thalweg send`: send a file or standard input over QUIC, with any scheme of the catalogue that QUIC can use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..errors import TransferError
from .options import NetworkOptions, SecurityOptions
from .output import CommandError, check_minimum, check_scheme
from .overrides import parse_params

SMALLEST_PACKET = 1228
"""QUIC needs paths that carry UDP payloads of 1200 bytes (RFC 9000 §14), which have headers of 28 bytes over IPv4."""


def send(
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    to: str,
    /,
    *,
    scheme: str = "cvihis",
    mode: Literal["real-time", "background"] | None = None,
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    rate: str | None = None,
    deadline: str | None = None,
    former_deadline: Annotated[str | None, Parameter(name="--timely", show=False)] = None,
    name: str | None = None,
    packet: int | None = None,
    on_rate: str | None = None,
    patience: float | None = None,
    group: str | None = None,
    receivers: int = 1,
    security: SecurityOptions | None = None,
    network: NetworkOptions | None = None,
    live: bool = False,
    json: bool = False,
) -> int:
    """Send a file, a folder, standard input (`-`) or the datagrams of an encoder (`udp://HOST:PORT`) to `thalweg recv`.

    With `HOST:PORT` the sender connects to a receiver that listens; with `:PORT` it listens, and the receiver connects.
    By default a file is sent by CVIHIS in its background mode, which yields to other traffic.
    `--mode real-time` competes with it, `--scheme cubic` sends as TCP does. A live stream (`--deadline`) starts in the
    real-time mode.
    Exit codes: 0 every byte arrived; 1 not every byte arrived; 2 an error in the command; 130 Ctrl-C or SIGTERM.
    Start either end again to resume a file or a folder.

    Parameters
    ----------
    source
        Read this file, or all files of this folder and of those in it; `-` is standard input. With `--deadline`,
        `udp://127.0.0.1:5000` receives the datagrams that a program such as ffmpeg sends to this address.
    to
        Connect to `HOST:PORT` or `[IPV6]:PORT`, or listen on `:PORT`.
    scheme
        Use this scheme for congestion control. A stream scheme paces packets in DATAGRAM frames, a window scheme is the
        congestion controller of the QUIC connection. `thalweg schemes` lists them.
    mode
        Start in this mode (CVIHIS only). `background`, the default for files, yields to other traffic; `real-time`,
        the default with `--deadline`, takes its share. Change it during the transfer with the keys r and b, or with
        the signals SIGUSR1 (real-time) and SIGUSR2 (background).
    changes
        Set a parameter of the scheme, such as `--set push=1.1`; may be repeated.
    rate
        Limit the sending rate, headers included, such as "20 Mbit/s".
    deadline
        Send a live stream: drop what is older than this, such as "500 ms", instead of delivering it late. Without it
        every byte is delivered.
    former_deadline
        Set `--deadline`, which is its new name.
    name
        Propose this name of the file or folder to the receiver.
    packet
        Set the packet size in bytes, all headers included: 1428 by default; 1472 for `udp://`, so that a packet carries a
        datagram of seven MPEG-TS packets. 1228 fits every path that carries QUIC over IPv4, 1248 over IPv6.
    on_rate
        Run this command, and write the possible bit rate of the content to its standard input, in bit/s: one line for each
        change by at least a twentieth. For encoders that can change their rate.
    patience
        Give up after this time without delivery of data, in seconds; 60 by default. A sender that listens waits for the
        first connection without limit unless this is given.
    group
        Send to this IP multicast group, such as 239.1.2.3:9000 or [ff15::7]:9000, by MCA, TFMCC or PGMCC. The sender
        listens on `:PORT`, and receivers connect to it.
    receivers
        Wait for this number of receivers of the group before sending.
    security
        How the two ends authenticate each other.
    network
        Addresses, interface and capture.
    live
        Show the transfer in the browser: rates, round-trip time and losses while it goes on, and its outcome. The page stays
        until it is closed, or Ctrl-C.
    json
        Print the result as one JSON object.
    """
    from .. import transfers
    from .transfer import run_transfer

    if former_deadline is not None:
        raise CommandError("--timely was renamed to --deadline", f'--deadline "{former_deadline}"')
    check_scheme(scheme, "multicast" if group else "ip", "groups" if group else "transfers")
    params = parse_params(changes, scheme, "push=1.1")
    modes = transfers.default_mode(scheme) is not None
    if mode and not modes:
        raise CommandError(f"`{scheme}` has no modes", "cvihis has")
    if packet is not None and not SMALLEST_PACKET <= packet <= 9000:
        raise CommandError(f"--packet {packet}: from {SMALLEST_PACKET} to 9000 bytes")
    if group and not to.startswith(":"):
        raise CommandError(f"{to}: the sender of a group listens", f"`:{to.rpartition(':')[2]}`")
    check_minimum("--receivers", receivers)
    datagrams = source.startswith(transfers.UDP_PREFIX)
    path = None if source == "-" else Path(source)
    if datagrams or path is None:
        pass
    elif path.is_dir():
        if group or deadline:
            where = "to a group" if group else "with a deadline"
            raise CommandError(
                f"{source}: a folder cannot be sent {where}", f"`tar c {source} | thalweg send - {to} …`"
            )
    elif not path.is_file():
        raise CommandError(f"{source}: {'neither a file nor a folder' if path.exists() else 'no such file'}")
    try:
        transfer = transfers.send(
            source if datagrams else path,
            to,
            name=name,
            deadline=deadline,
            group=transfers.Group(address=group, receivers=receivers) if group else None,
            congestion=transfers.Congestion(
                scheme=scheme, params=params, mode=mode and mode.replace("-", "_"), rate=rate, packet=packet
            ),
            security=(security or SecurityOptions()).settings(),
            network=(network or NetworkOptions()).settings(patience),
        )
        return run_transfer(
            transfer,
            sending=True,
            json=json,
            scheme=scheme,
            modes=modes,
            on_rate=on_rate,
            live=f"{'Standard input' if source == '-' else source} to {group or to}" if live else None,
        )
    except TransferError as error:
        raise CommandError(str(error), error.hint) from error
