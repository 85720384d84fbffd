"""Digests that name outputs: of the compiled core, of schemes in Python, and of other things that an output depends on."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path

from . import _native


def digest(*parts: str | bytes) -> str:
    """A name that depends on the compiled core and on these values: 32 hexadecimal digits."""
    whole = [core_digest(), *parts]
    return hashlib.sha256(
        b"\0".join(part if isinstance(part, bytes) else part.encode() for part in whole)
    ).hexdigest()[:32]


def core_digest() -> str:
    """Digest of the compiled core and of registered schemes in Python, because others can give other results."""
    own = sys.modules.get("thalweg.scheme")
    schemes = "" if own is None else own.sources_digest()
    if not schemes:
        return native_digest()
    return hashlib.sha256(f"{native_digest()}\n{schemes}".encode()).hexdigest()


@cache
def native_digest() -> str:
    """Digest of the compiled core."""
    return hashlib.sha256(Path(str(_native.__file__)).read_bytes()).hexdigest()
