"""`thalweg ndn forward`: the NDN forwarder as a process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from .output import CommandError, console, print_table, show_json
from .progress import status_callback


def forward(
    settings: Path | None = None,
    /,
    *,
    seconds: float | None = None,
    controller: str | None = None,
    key: Path | None = None,
    node: str | None = None,
    example: bool = False,
    pcap: Path | None = None,
    json: bool = False,
) -> int:
    """Forward named data between hosts and programs until Ctrl-C, with any strategy and link scheme of the catalogue.

    It prints its status at the end, and on SIGUSR1.

    Parameters
    ----------
    settings
        Path of a TOML file: listening addresses, links with their rates, routes, strategy, link scheme, store, limits,
        controller.
    seconds
        Stop after this time, in seconds.
    controller
        Report to the SDN controller at this address and port, and execute its commands; see `thalweg ndn control`.
    key
        Read the key shared with the controller from this file; `head -c 32 /dev/urandom > key` creates one.
    node
        Use this name in the controller's network.
    example
        Print example settings, and do nothing else.
    pcap
        Write sent and received packets of all faces to this capture file; the dissector in thalweg/wireshark reads it.
    json
        Print one JSON object at the end.
    """
    from .. import forward as library
    from ..errors import TransferError

    if example:
        sys.stdout.write(library.example())
        return 0
    if settings is None:
        raise CommandError(
            "the settings file is missing", "thalweg ndn forward FILE; `--example` prints example settings"
        )
    on_status = status_callback(seconds, lambda stats: _print(stats, error=True))

    given = {"at": controller, "key": key and str(key), "node": node}
    if not settings.is_file():
        raise CommandError(f"{settings}: {'not a file' if settings.exists() else 'no such file'}")
    hint = "`thalweg ndn forward --example` prints example settings"
    try:
        table = library.read_settings(settings)
    except ValueError as error:
        raise CommandError(str(error), hint) from error
    try:
        if any(value is not None for value in given.values()):
            known = {name: value for name, value in given.items() if value is not None}
            table["controller"] = {**table.get("controller", {}), **known}
        stats = library.forward(table, on_status=on_status, pcap=pcap)
    except TransferError as error:
        raise CommandError(str(error), error.hint) from error
    except ValueError as error:
        raise CommandError(str(error), hint) from error
    except OSError as error:
        raise CommandError(str(error), code=1) from error
    if json:
        show_json(stats)
    else:
        _print(stats)
        if stats.get("capture_failure"):
            console(error=True).print(
                f"note: the capture is incomplete: {stats['capture_failure']}", style="yellow"
            )
    return 0


def _print(stats: dict[str, Any], *, error: bool = False) -> None:
    screen = console(error=error)
    packets = {name: count for name, count in stats["packets"].items() if count}
    screen.print(
        ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in packets.items()) or "no packets"
    )
    screen.print(
        f"pending {stats['pending']:,} (maximum {stats['pending_peak']:,}), stored {stats['stored']:,}, "
        f"names {stats['names']:,} in {stats['bytes'] / 1e6:.1f} MB, routes {stats['routes']:,}"
    )
    refused = stats["refused_for_room"] + stats["refused_for_share"]
    if refused or stats["names_too_long"]:
        screen.print(
            f"note: {refused:,} Interests refused because the table was full, "
            f"{stats['refused_for_share']:,} of them because their face, or all unknown peers together, had used its share; "
            f"{stats['names_too_long']:,} packets had names that are too long",
            style="yellow",
        )
    if agent := stats["controller"]:
        there = "connected" if agent["connected"] else agent["sent_away"] or "not connected"
        screen.print(
            f"controller: {there}; {agent['statuses']:,} statuses, {agent['signals']:,} signals, "
            f"{agent['commands']:,} commands, {agent['reroutes']:,} route changes, "
            f"{sum(agent['refused'].values()):,} datagrams discarded"
        )
    if error:
        for face in stats["faces"]:
            screen.print(
                f"{face['name']}: {face['frames_received']:,} frames in, {face['frames_sent']:,} out"
            )
        return
    print_table(
        "Faces",
        [
            ("name", "face"),
            ("frames_received", "frames in"),
            ("frames_received_bytes", "bytes in"),
            ("frames_sent", "frames out"),
            ("frames_sent_bytes", "bytes out"),
            ("interests_pending", "pending"),
            ("interests_refused", "refused: table full"),
            ("packets_dropped", "dropped: queue full"),
            ("packets_marked", "marked"),
            ("frames_dropped_here", "dropped at socket"),
            ("frames_malformed", "malformed"),
        ],
        stats["faces"],
    )
