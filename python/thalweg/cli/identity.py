"""`thalweg identity`: the fingerprint of a private key, which is created at its first use."""

from __future__ import annotations

from pathlib import Path

from ..errors import TransferError
from .output import CommandError, show_json


def identity(file: Path, /, *, json: bool = False) -> int:
    """Print the fingerprint of the identity in a file, `sha256:…`, which the other side names with `--peer`.

    The file holds a private key (Ed25519, PKCS #8, PEM). If it does not exist, it is created, readable by its owner only.
    Exit codes: 0 printed; 2 the file contains something else, or other users can read it.

    Parameters
    ----------
    file
        Read or create this private key.
    json
        Print one JSON object: `fingerprint`, `path`.
    """
    from ..keys import fingerprint

    try:
        found = fingerprint(file)
    except TransferError as error:
        raise CommandError(str(error), error.hint) from error
    if json:
        show_json({"fingerprint": found, "path": str(file)})
    else:
        print(found)
    return 0
