"""Security of transfers: the key that both ends share, or the fingerprints that they pin, and where none is required."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _native
from .errors import TransferError, without_number

MAX_KEY_BYTES = 4096
MIN_KEY_BYTES = 16

KEY_VARIABLE = "THALWEG_KEY"
"""The environment variable with the key if neither a file nor another variable is named."""

CREATE_KEY_HINT = "`head -c 32 /dev/urandom > secret` makes a key file"

FINGERPRINT = re.compile(r"sha256:(?:[0-9a-fA-F]{2}:?){31}[0-9a-fA-F]{2}")


@dataclass(frozen=True, kw_only=True)
class Security:
    """Authentication of the ends of a transfer: by a key that both have, or by fingerprints of their certificates.

    For other hosts than this one, a key, a peer or `insecure` is required.
    """

    key: str | Path | None = None
    """A file that both ends have, of 16 to 4096 bytes. Excludes the other settings."""
    key_env: str | None = None
    """An environment variable with the key; `THALWEG_KEY` is read if nothing else is given."""
    identity: str | Path | None = None
    """The private key of this end (Ed25519, PKCS #8, PEM), which is created with mode 0600 if there is no such file. Without
    one, this end presents a certificate that is used once."""
    peers: Sequence[str] = ()
    """Fingerprints of the other end, `sha256:…`: its certificate must have one of them."""
    insecure: bool = False
    """Accept any other end, without authentication."""


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """The credentials of an end, as the core needs them."""

    key: list[int] | None
    identity: str | None
    peers: list[str]
    mode: str
    """`"key"`, `"pinned"` or `"open"`."""
    description: str
    """The mode as a sentence for users."""

    def to_settings(self) -> dict[str, Any]:
        """The settings for the core."""
        return {"key": self.key, "identity": self.identity, "peers": self.peers}


def resolve_credentials(
    places: dict[str, Any], security: Security, *, group: str | None = None, interface: str | None = None
) -> Credentials:
    """The credentials of an end, and the peers that it accepts.

    Loopback addresses and `Security.insecure` need no key and no peer. Otherwise one is required: raises
    `TransferError` if it is missing, if settings exclude each other, or if one is invalid.
    """
    _check(security)
    key = _configured_key(security)
    if key is not None:
        return Credentials(
            key=key, identity=None, peers=[], mode="key", description="both ends have the same key"
        )
    description = "the other end is not authenticated"
    if not security.peers and not security.insecure:
        _require_loopback(places, security, group, interface)
        description = "the other end is not authenticated, and is on this computer"
    identity, own = None, ""
    if security.identity is not None:
        identity = str(security.identity)
        own = f"; this end is {fingerprint(identity)}"
    peers = list(security.peers)
    if peers:
        description = f"the other end must be {' or '.join(peers)}"
    return Credentials(
        key=None,
        identity=identity,
        peers=peers,
        mode="pinned" if peers else "open",
        description=f"{description}{own}",
    )


def fingerprint(path: str | Path) -> str:
    """The fingerprint of the identity in a file, `sha256:…`. A missing file is created. Raises `TransferError`."""
    try:
        return _native.identity(str(path), secrets.token_bytes(32))
    except OSError as error:
        raise TransferError(without_number(str(error))) from error


def _check(security: Security) -> None:
    """Refuses settings that exclude each other."""
    given = [
        name
        for name, value in (
            ("--key", security.key),
            ("--key-env", security.key_env),
            ("--peer", security.peers),
            ("--insecure", security.insecure),
        )
        if value
    ]
    if security.identity is not None and {"--key", "--key-env"} & set(given):
        given.append("--identity")
    if len(given) > 1:
        raise TransferError(f"{' and '.join(given)} exclude each other", "use one of them")
    for peer in security.peers:
        if FINGERPRINT.fullmatch(peer) is None:
            raise TransferError(
                f"{peer}: not a fingerprint: `sha256:` and 64 hexadecimal digits",
                "`thalweg identity FILE` at the other end prints it",
            )


def _configured_key(security: Security) -> list[int] | None:
    if security.key is not None:
        return read_key(security.key)
    if security.key_env is not None:
        return _key_from_environment(security.key_env)
    others = security.insecure or security.peers or security.identity is not None
    return None if others or not os.environ.get(KEY_VARIABLE) else _key_from_environment(KEY_VARIABLE)


def _require_loopback(
    places: dict[str, Any], security: Security, group: str | None, interface: str | None
) -> None:
    addresses = places.get("listen") or [places["call"]]
    remote = [address for address in addresses if not is_loopback(address)]
    listens = "listen" in places
    if group is not None and not remote and not _is_loopback_interface(interface):
        remote, listens = [group], False
    if not remote:
        return
    action = f"listening at {', '.join(remote)}" if listens else f"a transfer with {remote[0]}"
    here = "; `--bind 127.0.0.1` listens to this computer only" if listens else ""
    if security.identity is not None:
        raise TransferError(
            f"{action} with `--identity` needs `--peer`: the fingerprint of the other side",
            f"`thalweg identity FILE` prints it at the other side{here}; `--insecure` accepts any side",
        )
    raise TransferError(
        f"{action} needs a key: without one, an attacker on the path could impersonate the other side",
        f"{CREATE_KEY_HINT}; copy it to the other side and add `--key secret` at both, or pin certificates with "
        f"`--identity` and `--peer`{here}; `--insecure` works without authentication",
    )


def read_key(path: str | Path | None) -> list[int] | None:
    """The bytes of a key file. Raises `TransferError` for an invalid length, ``OSError`` if the file is missing."""
    if path is None:
        return None
    with Path(path).open("rb") as file:
        key = file.read(MAX_KEY_BYTES + 1)
    if not MIN_KEY_BYTES <= len(key) <= MAX_KEY_BYTES:
        raise TransferError(
            f"{path}: a key file has {MIN_KEY_BYTES} to {MAX_KEY_BYTES} bytes",
            "`head -c 32 /dev/urandom > key` creates one",
        )
    return list(key)


def is_loopback(address: str) -> bool:
    """Whether datagrams to `ADDRESS:PORT`, or a listener there, stay on this host."""
    host = address.rpartition(":")[0].strip("[]").partition("%")[0]
    ip = ipaddress.ip_address(host)
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return (mapped or ip).is_loopback


def _key_from_environment(name: str) -> list[int]:
    value = os.environ.get(name)
    if value is None:
        raise TransferError(f"{name}: there is no such environment variable", f"`export {name}=…` sets it")
    key = os.fsencode(value)
    if not MIN_KEY_BYTES <= len(key) <= MAX_KEY_BYTES:
        raise TransferError(
            f"the environment variable {name}: a key has {MIN_KEY_BYTES} to {MAX_KEY_BYTES} bytes",
            f'`export {name}="$(head -c 32 /dev/urandom | base64)"` makes one',
        )
    return list(key)


def _is_loopback_interface(interface: str | None) -> bool:
    """Whether a group on this interface stays on this host."""
    if interface is None:
        return False
    try:
        if interface.isdigit():
            interface = socket.if_indextoname(int(interface))
        return ipaddress.ip_address(interface).is_loopback
    except (OSError, ValueError):
        return interface == "lo"
