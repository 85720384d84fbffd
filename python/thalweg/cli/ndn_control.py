"""`thalweg ndn control`: an SDN controller for forwarders on real networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .output import CommandError, console, number, print_table, show_json
from .progress import status_callback


def control(
    scenario: Path,
    /,
    *,
    key: Path,
    listen: str = "0.0.0.0:6364",
    seed: int | None = None,
    seconds: float | None = None,
    json: bool = False,
) -> int:
    """Run the SDN controller of a scenario for real forwarders until Ctrl-C, with the control app that `[sdn]` names.

    Forwarders connect to it with `thalweg ndn forward --controller`. It prints its status at the end, and on SIGUSR1.

    Parameters
    ----------
    scenario
        Path of a scenario with named data and `[sdn]`: it defines nodes, links, producers and routes.
    key
        Read the shared key from this file, which the forwarders have as well; `head -c 32 /dev/urandom > key` creates one.
    listen
        Listen on this address and port.
    seed
        Use this seed for the control app instead of the scenario's.
    seconds
        Stop after this time, in seconds.
    json
        Print one JSON object at the end.
    """
    from .. import forward as library
    from ..errors import TransferError
    from ..scenario import load

    on_status = status_callback(seconds, lambda stats: _print(stats, error=True))

    loaded = load(scenario)
    try:
        stats = library.control(loaded, listen, key, seed=seed, on_status=on_status)
    except TransferError as error:
        raise CommandError(str(error), error.hint) from error
    except ValueError as error:
        raise CommandError(f"{scenario}: {error}") from error
    except OSError as error:
        raise CommandError(str(error), code=1) from error
    if json:
        show_json(stats)
    else:
        _print(stats)
    return 0


def _print(stats: dict[str, Any], *, error: bool = False) -> None:
    screen = console(error=error)
    screen.print(
        f"{stats['statuses']:,} statuses, {stats['signals']:,} signals; {stats['commands']:,} commands, "
        f"{stats['commands_retransmitted']:,} retransmitted, {stats['commands_open']:,} not acknowledged; "
        f"{stats['reroutes']:,} route changes"
    )
    if refused := sum(stats["refused"].values()):
        screen.print(
            f"note: {refused:,} datagrams were discarded: {_words(stats['refused'])}", style="yellow"
        )
    if stats["unknown_nodes"]:
        screen.print(
            f"note: {stats['unknown_nodes']:,} messages named a node that the scenario does not control",
            style="yellow",
        )
    rows = [{**node, "at": node["at"] or "not connected", "loads": _loads(node)} for node in stats["nodes"]]
    if error:
        for row in rows:
            screen.print(f"{row['name']}: {row['at']}; {row['loads']}")
        return
    print_table("Nodes", [("name", "node"), ("at", "address"), ("loads", "load of links")], rows)


def _words(refused: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in refused.items() if count)


def _loads(node: dict[str, Any]) -> str:
    return ", ".join(f"{row['link']} {number(row['load'])}" for row in node["loads"])
