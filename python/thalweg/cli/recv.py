"""`thalweg recv`: what `thalweg send` sends, into a folder or to standard output."""

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
    bind: str | None = None,
    patience: float | None = None,
    interface: str | None = None,
    ipv4: Annotated[bool, Parameter(name=["--ipv4", "-4"])] = False,
    ipv6: Annotated[bool, Parameter(name=["--ipv6", "-6"])] = False,
    pcap: Path | None = None,
    json: bool = False,
) -> int:
    """Receive one file or stream of `thalweg send`.

    With `PORT` it listens and the sender calls; with `HOST:PORT` it calls a sender that listens. A file has another name
    until it is whole: one that was interrupted goes on where it was when the same command is run again. Ends with 0 when
    every byte arrived, with 1 when not, with 130 after Ctrl-C.

    Parameters
    ----------
    at
        `PORT` to listen, or `HOST:PORT`.
    into
        A folder, made where there is none; `-` is standard output.
    name
        What to call the file, instead of what the sender proposes.
    overwrite
        Replace a file that is there already, once the new one is whole.
    key
        A file that both sides have: nobody without it can take part or steer.
    bind
        Listen at this address only.
    patience
        Seconds without a word of the other side before the transfer is given up; 60 when not given, and without end
        while a first call is waited for.
    interface
        Join groups by this interface: its name, its number, or its IPv4 address.
    ipv4, ipv6
        Only this kind of address.
    pcap
        Write what is sent and received to this file, with headers that Wireshark reads.
    json
        Print one JSON object. Not together with `--into -`.
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
            key=key,
            bind=bind,
            patience_s=patience,
            interface=interface,
            family=_family(ipv4=ipv4, ipv6=ipv6),
            pcap=pcap,
        )
        return carry(transfer, sending=False, json=json, pipe=into == "-")
    except TransferError as error:
        raise Refusal(str(error), error.hint) from error
