"""Keys of transfers: the secret that both ends share, and where none is required."""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import TransferError

LONGEST_KEY = 4096
SHORTEST_KEY = 16

VARIABLE = "THALWEG_KEY"
"""The environment variable with the key if neither a file nor another variable is named."""

MAKE = "`head -c 32 /dev/urandom > secret` makes a key file"


@dataclass(frozen=True, kw_only=True)
class Security:
    """Authentication of a transfer. For other hosts one of the three settings is required."""

    key: str | Path | None = None
    """A file that both ends have, of 16 to 4096 bytes."""
    key_env: str | None = None
    """An environment variable with the key; `THALWEG_KEY` is read if none of the three is given."""
    insecure: bool = False
    """Work without a key: anybody on the path can take part, and can pose as either end."""


def key_for(
    places: dict[str, Any], security: Security, *, group: str | None = None, interface: str | None = None
) -> list[int] | None:
    """The bytes of the key of a transfer; `None` if it works without one.

    Loopback addresses and `Security.insecure` need no key. Otherwise a key is required: raises `TransferError` if
    there is none, if there are two, or if it is invalid.
    """
    key, key_env, insecure = security.key, security.key_env, security.insecure
    given = [
        name
        for name, is_there in (("--key", key), ("--key-env", key_env), ("--insecure", insecure))
        if is_there
    ]
    if len(given) > 1:
        raise TransferError(
            f"{' and '.join(given)} exclude each other", "one of them says how the other side is known"
        )
    if key is not None:
        return key_of(key)
    if key_env is not None:
        return _from_environment(key_env)
    if insecure:
        return None
    if os.environ.get(VARIABLE):
        return _from_environment(VARIABLE)
    addresses = places.get("listen") or [places["call"]]
    beyond = [address for address in addresses if not is_loopback(address)]
    listens = "listen" in places
    if group is not None and not beyond and not _stays_here(interface):
        beyond, listens = [group], False
    if not beyond:
        return None
    doing = f"listening at {', '.join(beyond)}" if listens else f"a transfer with {beyond[0]}"
    here = "; `--bind 127.0.0.1` listens to this computer only" if listens else ""
    raise TransferError(
        f"{doing} needs a key: without one, who sees the packets can take the other side's place",
        f"{MAKE}; copy it to the other side and give `--key secret` at both{here}; `--insecure` goes without a key",
    )


def key_of(path: str | Path | None) -> list[int] | None:
    """The bytes of a key file. Raises `TransferError` for an invalid length, ``OSError`` if the file is missing."""
    if path is None:
        return None
    with Path(path).open("rb") as file:
        key = file.read(LONGEST_KEY + 1)
    if not SHORTEST_KEY <= len(key) <= LONGEST_KEY:
        raise TransferError(
            f"{path}: a key file has {SHORTEST_KEY} to {LONGEST_KEY} bytes",
            "`head -c 32 /dev/urandom > key` makes one",
        )
    return list(key)


def is_loopback(address: str) -> bool:
    """Whether datagrams to `ADDRESS:PORT`, or a listener there, stay on this host."""
    host = address.rpartition(":")[0].strip("[]").partition("%")[0]
    ip = ipaddress.ip_address(host)
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return (mapped or ip).is_loopback


def _from_environment(name: str) -> list[int]:
    held = os.environ.get(name)
    if held is None:
        raise TransferError(f"{name}: there is no such environment variable", f"`export {name}=…` sets it")
    key = os.fsencode(held)
    if not SHORTEST_KEY <= len(key) <= LONGEST_KEY:
        raise TransferError(
            f"the environment variable {name}: a key has {SHORTEST_KEY} to {LONGEST_KEY} bytes",
            f'`export {name}="$(head -c 32 /dev/urandom | base64)"` makes one',
        )
    return list(key)


def _stays_here(interface: str | None) -> bool:
    """Whether a group on this interface stays on this host."""
    if interface is None:
        return False
    try:
        if interface.isdigit():
            interface = socket.if_indextoname(int(interface))
        return ipaddress.ip_address(interface).is_loopback
    except (OSError, ValueError):
        return interface == "lo"
