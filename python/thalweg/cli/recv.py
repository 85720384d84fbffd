"""`thalweg recv`: receive from `thalweg send` into a folder or to standard output."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ..errors import TransferError
from .options import NetworkOptions, SecurityOptions
from .output import CommandError


def recv(
    at: str,
    /,
    *,
    into: Annotated[str, Parameter(allow_leading_hyphen=True)] = ".",
    name: str | None = None,
    overwrite: bool = False,
    patience: float | None = None,
    security: SecurityOptions | None = None,
    network: NetworkOptions | None = None,
    live: bool = False,
    json: bool = False,
) -> int:
    """Receive one file or stream of `thalweg send`.

    With `PORT` it listens and the sender connects; with `HOST:PORT` it connects to a sender that listens. An incomplete
    file is called `NAME.thalweg-part`; run the same command again to resume an interrupted file.
    Exit codes: 0 every byte arrived; 1 not every byte arrived; 2 an error in the command; 130 Ctrl-C or SIGTERM.

    Parameters
    ----------
    at
        Listen on `PORT`, or connect to `HOST:PORT`.
    into
        Write into this folder, which is created if missing; `-` is standard output. `udp://127.0.0.1:6000` sends a live
        stream to the program that receives datagrams at this address.
    name
        Use this name of the file or folder instead of the one that the sender proposes.
    overwrite
        Replace an existing file of the same name once the new one is complete.
    patience
        Give up after this time without data, in seconds; 60 by default. A receiver that listens waits for the first
        connection without limit unless this is given.
    security
        How the two ends authenticate each other.
    network
        Addresses, interface and capture.
    live
        Show the transfer in the browser: rates, round-trip time and losses while it goes on, and its outcome. The page stays
        until it is closed, or Ctrl-C.
    json
        Print the result as one JSON object. Cannot be combined with `--into -`.
    """
    from .. import transfers
    from .transfer import run_transfer

    if json and into == "-":
        raise CommandError("--json prints to standard output, and so does --into -")
    try:
        transfer = transfers.receive(
            at if ":" in at else f":{at}",
            into=None if into == "-" else into,
            name=name,
            replace=overwrite,
            security=(security or SecurityOptions()).settings(),
            network=(network or NetworkOptions()).settings(patience),
        )
        return run_transfer(
            transfer, sending=False, json=json, pipe=into == "-", live=f"Reception at {at}" if live else None
        )
    except TransferError as error:
        raise CommandError(str(error), error.hint) from error
