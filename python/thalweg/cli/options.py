"""Options that commands share."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .output import CommandError

if TYPE_CHECKING:
    from ..transfers import Network, Security


SchemeFiles = Annotated[tuple[Path, ...], Parameter(name="--scheme-file", show_default=False)]
"""Python files with schemes."""


def load_scheme_files(files: tuple[Path, ...]) -> None:
    """Registers the schemes of `--scheme-file`."""
    if files:
        from ..scheme import load_schemes

        for file in files:
            load_schemes(file)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SecurityOptions:
    """How the two ends authenticate each other.

    Parameters
    ----------
    key
        Read the key that both sides have from this file; `head -c 32 /dev/urandom > secret` creates one. A key or a peer
        is required unless all addresses belong to this computer (127.0.0.1, ::1).
    key_env
        Read the key from this environment variable instead; THALWEG_KEY is read if no other credentials are given.
    identity
        Present the certificate of the private key in this file, which is created if it does not exist. Its fingerprint is
        printed at the start, and by `thalweg identity FILE`.
    peer
        Accept the other side only if its certificate has this fingerprint, `sha256:…`; may be repeated.
    insecure
        Accept any other side, without authentication. Data are still encrypted.
    """

    key: Path | None = None
    key_env: str | None = None
    identity: Path | None = None
    peer: tuple[str, ...] = ()
    insecure: bool = False

    def settings(self) -> Security:
        """The settings for the library."""
        from ..transfers import Security

        return Security(
            key=self.key,
            key_env=self.key_env,
            identity=self.identity,
            peers=self.peer,
            insecure=self.insecure,
        )


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """Addresses, interface and capture of an end.

    Parameters
    ----------
    interface
        Use this interface for multicast groups: its name, its index, or its IPv4 address.
    bind
        Listen at this local address only.
    ipv4
        Use IPv4 only.
    ipv6
        Use IPv6 only.
    pcap
        Write the datagrams sent and received to a capture file for Wireshark. Their content is encrypted: Wireshark reads it
        with the secrets that are written to the file named by the environment variable SSLKEYLOGFILE.
    qlog
        Log each connection in a file in this folder, which qvis reads: `send-1.sqlog`, `recv-1.sqlog`. Not for `--group`.
    """

    interface: str | None = None
    bind: str | None = None
    ipv4: Annotated[bool, Parameter(name=["--ipv4", "-4"])] = False
    ipv6: Annotated[bool, Parameter(name=["--ipv6", "-6"])] = False
    pcap: Path | None = None
    qlog: Path | None = None

    def settings(self, patience_s: float | None) -> Network:
        """The settings for the library."""
        from ..transfers import Network

        if self.ipv4 and self.ipv6:
            raise CommandError("--ipv4 and --ipv6 exclude each other")
        return Network(
            bind=self.bind,
            family=socket.AF_INET if self.ipv4 else socket.AF_INET6 if self.ipv6 else 0,
            interface=self.interface,
            patience_s=patience_s,
            pcap=self.pcap,
            qlog=self.qlog,
        )
