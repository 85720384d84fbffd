"""`thalweg ndn control`: an SDN controller for forwarders on real networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .out import Refusal, console, number, print_table, show_json
from .progress import until


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
    """Control forwarders from one place, until Ctrl-C: the app that the scenario's [sdn] names decides as in a simulation.

    Forwarders call it: `thalweg ndn forward --controller`. Says how it stood at the end; on SIGUSR1, how it stands.

    Parameters
    ----------
    scenario
        A scenario with named data and `[sdn]`: its nodes, links, producers and routes are what the controller
        is set up with.
    key
        A file that the forwarders have as well; `head -c 32 /dev/urandom > key` makes one.
    listen
        Address and port.
    seed
        Of the app's chance; the scenario's own when not given.
    seconds
        End after so long.
    json
        Print one JSON object at the end.
    """
    from .. import forward as library
    from ..errors import TransferError
    from ..scenario import load

    told = until(seconds, lambda stats: _print(stats, error=True))

    loaded = load(scenario)
    try:
        stats = library.control(loaded, listen, key, seed=seed, told=told)
    except TransferError as error:
        raise Refusal(str(error), error.hint) from error
    except ValueError as error:
        raise Refusal(f"{scenario}: {error}") from error
    except OSError as error:
        raise Refusal(str(error), code=1) from error
    if json:
        show_json(stats)
    else:
        _print(stats)
    return 0


def _print(stats: dict[str, Any], *, error: bool = False) -> None:
    screen = console(error=error)
    screen.print(
        f"{stats['statuses']:,} statuses, {stats['signals']:,} signals; {stats['orders']:,} orders, "
        f"{stats['orders_repeated']:,} said again, {stats['orders_open']:,} not acknowledged; {stats['moves']:,} moves"
    )
    if refused := sum(stats["refused"].values()):
        screen.print(
            f"note: {refused:,} datagrams were of no use: {_words(stats['refused'])}", style="yellow"
        )
    if stats["unknown_nodes"]:
        screen.print(
            f"note: {stats['unknown_nodes']:,} times a forwarder named a node without an outpost",
            style="yellow",
        )
    rows = [{**node, "at": node["at"] or "not there", "loads": _loads(node)} for node in stats["nodes"]]
    if error:
        for row in rows:
            screen.print(f"{row['name']}: {row['at']}; {row['loads']}")
        return
    print_table("Nodes", [("name", "node"), ("at", "outpost"), ("loads", "load of links")], rows)


def _words(refused: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in refused.items() if count)


def _loads(node: dict[str, Any]) -> str:
    return ", ".join(f"{row['link']} {number(row['load'])}" for row in node["loads"])
