"""`thalweg recv`: receive from `thalweg send` into a folder or to standard output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..errors import TransferError
from .out import Refusal
from .send import _family


def recv(
    at: str,
    /,
    *,
    into: Annotated[str, Parameter(allow_leading_hyphen=True)] = ".",
    name: str | None = None,
    overwrite: bool = False,
    key: Path | None = None,
    key_env: str | None = None,
    insecure: bool = False,
    bind: str | None = None,
    patience: float | None = None,
    interface: str | None = None,
    ipv4: Annotated[bool, Parameter(name=["--ipv4", "-4"])] = False,
    ipv6: Annotated[bool, Parameter(name=["--ipv6", "-6"])] = False,
    pcap: Path | None = None,
    json: bool = False,
) -> int:
    """Receive one file or stream of `thalweg send`.

    With `PORT` it listens and the sender calls; with `HOST:PORT` it calls a sender that listens. Until it is complete a
    file is called `NAME.thalweg-part`; run the same command again to resume an interrupted file.
    Exit codes: 0 every byte arrived; 1 not every byte arrived; 2 an error in the command; 130 Ctrl-C or SIGTERM.

    Parameters
    ----------
    at
        Listen at `PORT`, or call `HOST:PORT`.
    into
        Write into this folder, which is created if missing; `-` is standard output.
    name
        Use this file name instead of the one that the sender proposes.
    overwrite
        Replace an existing file of the same name once the new one is complete.
    key
        Read the key from this file, which both sides have; `head -c 32 /dev/urandom > secret` creates one. Required unless
        all addresses are of this computer (127.0.0.1, ::1).
    key_env
        Read the key from this environment variable instead; THALWEG_KEY is read when no key is named.
    insecure
        Do not use a key: anybody on the path can take part, and can take the other side's place.
    bind
        Listen at this local address only.
    patience
        Give up after this time without data, in seconds; 60 by default. A receiver that listens waits for its first call
        without limit unless this is given.
    interface
        Join multicast groups on this interface: its name, its index, or its IPv4 address.
    ipv4
        Use IPv4 only.
    ipv6
        Use IPv6 only.
    pcap
        Write the packets sent and received to a capture file for Wireshark.
    json
        Print the result as one JSON object. Cannot be combined with `--into -`.
    """
    from .. import transfers
    from .transfer import carry

    if json and into == "-":
        raise Refusal("--json prints to standard output, and so does --into -")
    try:
        transfer = transfers.receive(
            at if ":" in at else f":{at}",
            into=None if into == "-" else into,
            name=name,
            replace=overwrite,
            security=transfers.Security(key=key, key_env=key_env, insecure=insecure),
            network=transfers.Network(
                bind=bind,
                family=_family(ipv4=ipv4, ipv6=ipv6),
                interface=interface,
                patience_s=patience,
                pcap=pcap,
            ),
        )
        return carry(transfer, sending=False, json=json, pipe=into == "-")
    except TransferError as error:
        raise Refusal(str(error), error.hint) from error
