"""`thalweg ndn forward`: our forwarder as a process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from .out import Refusal, console, print_table, show_json
from .progress import until


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
    """Forward named data between hosts and programs, with any strategy and link part of the catalogue, until Ctrl-C.

    Says how it stood at the end; on SIGUSR1, how it stands.

    Parameters
    ----------
    settings
        A TOML file: where to listen, links with their rates, routes, strategy, link part, store, limits, controller.
    seconds
        End after so long.
    controller
        Report to the SDN controller there and take its orders: address and port; `thalweg ndn control` is one.
    key
        A file that the controller has as well; `head -c 32 /dev/urandom > key` makes one.
    node
        The name of this forwarder in the controller's network.
    example
        Print settings to start from, and nothing else.
    pcap
        Write what all faces send and receive to this file, for Wireshark with the dissector in thalweg/wireshark.
    json
        Print one JSON object at the end.
    """
    from .. import forward as library
    from ..errors import TransferError

    if example:
        sys.stdout.write(library.example())
        return 0
    if settings is None:
        raise Refusal("which settings?", "thalweg ndn forward FILE; `--example` prints some to start from")
    told = until(seconds, lambda stats: _print(stats, error=True))

    given = {"at": controller, "key": key and str(key), "node": node}
    if not settings.is_file():
        raise Refusal(f"{settings}: {'not a file' if settings.exists() else 'no such file'}")
    try:
        table = library.settings_of(settings)
        if any(value is not None for value in given.values()):
            known = {name: value for name, value in given.items() if value is not None}
            table["controller"] = {**table.get("controller", {}), **known}
        stats = library.forward(table, told=told, pcap=pcap)
    except TransferError as error:
        raise Refusal(str(error), error.hint) from error
    except ValueError as error:
        raise Refusal(str(error), "`thalweg ndn forward --example` prints settings to start from") from error
    except OSError as error:
        raise Refusal(str(error), code=1) from error
    if json:
        show_json(stats)
    else:
        _print(stats)
        if stats.get("capture_failure"):
            console(error=True).print(
                f"note: the capture is not complete: {stats['capture_failure']}", style="yellow"
            )
    return 0


def _print(stats: dict[str, Any], *, error: bool = False) -> None:
    screen = console(error=error)
    packets = {name: count for name, count in stats["packets"].items() if count}
    screen.print(
        ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in packets.items()) or "no packets"
    )
    screen.print(
        f"pending {stats['pending']:,} (at most {stats['pending_peak']:,}), stored {stats['stored']:,}, "
        f"names {stats['names']:,} in {stats['bytes'] / 1e6:.1f} MB, routes {stats['routes']:,}"
    )
    refused = stats["refused_for_room"] + stats["refused_for_share"]
    if refused or stats["names_too_long"]:
        screen.print(
            f"note: {refused:,} Interests refused for lack of room, {stats['refused_for_share']:,} of them because "
            f"their face or strangers together had their share; "
            f"{stats['names_too_long']:,} packets with names that are too long",
            style="yellow",
        )
    if outpost := stats["controller"]:
        there = "there" if outpost["connected"] else outpost["sent_away"] or "not there"
        screen.print(
            f"controller: {there}; {outpost['statuses']:,} statuses, {outpost['signals']:,} signals, "
            f"{outpost['orders']:,} orders, {outpost['moves']:,} moves, "
            f"{sum(outpost['refused'].values()):,} datagrams of no use"
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
            ("interests_refused", "refused: no room"),
            ("packets_dropped", "dropped: queue full"),
            ("packets_marked", "marked"),
            ("frames_dropped_here", "not taken"),
            ("frames_malformed", "malformed"),
        ],
        stats["faces"],
    )
