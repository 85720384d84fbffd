"""Names of folders of runs: changed keys with their values, as a reader writes them, valid on every file system."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._stored import read_index
from .errors import ResultError

if TYPE_CHECKING:
    from collections.abc import Mapping

QUANTITY = r"([0-9.]+) ([A-Za-z]+(?:/s)?)"
"""A number with its unit, which a name has without the space: `0.2bdp`, `5Mbps`."""


def short_key(key: str) -> str:
    """A dotted key without the word that most keys have; `*` is each entry of a list."""
    return key.removeprefix("topology.").replace("*", "each")


def value_text(value: Any) -> str:
    """A value as its name begins."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value, default=str)


def sanitize(text: str) -> str:
    """Only characters that every file system accepts. A quantity is written without its space."""
    if quantity := re.fullmatch(QUANTITY, text):
        unit = quantity[2].replace("bit/s", "bps").replace("/", "_per_")
        return f"{quantity[1]}{unit}"
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", text)


def pair(key: str, value: Any) -> str:
    """A changed key with its value: `bottleneck.buffer=0.2bdp`."""
    return f"{sanitize(short_key(key))}={sanitize(value_text(value))}"


def joined(overrides: Mapping[str, Any], room: int) -> str:
    """Changed keys with their values, as many whole ones as this number of bytes has room for; one alone is cut."""
    name = ""
    for word in (pair(key, overrides[key]) for key in sorted(overrides) if key != "seed"):
        longer = f"{name},{word}" if name else word
        if len(longer) > room:
            return name or word[:room]
        name = longer
    return name


def run_of_cell(folder: str | Path) -> Path | None:
    """The folder of a run of a sweep that is called by its values: `STUDY/bottleneck.buffer=0.2bdp,seed=1`.

    A key can be given by its last words, and the seed left out if the sweep has one. None if the folder exists, if there
    is no sweep above it, or if not exactly one run has these values.
    """
    folder = Path(folder)
    if folder.exists() or "=" not in folder.name:
        return None
    try:
        record = read_index(folder.parent / "sweep.json")
    except (OSError, ResultError):
        return None
    runs = [(run["values"], run["seed"], run["folder"]) for run in record["runs"]]
    wanted = [word.partition("=")[::2] for word in folder.name.split(",")]

    def has(values: Mapping[str, Any], seed: int, key: str, value: str) -> bool:
        if key == "seed":
            return value == str(seed)
        return any(
            pair(known, held) == f"{sanitize(short_key(known))}={value}"
            and f".{sanitize(short_key(known))}".endswith(f".{key}")
            for known, held in values.items()
        )

    found = [
        place for values, seed, place in runs if place and all(has(values, seed, *word) for word in wanted)
    ]
    return folder.parent / found[0] if len(found) == 1 else None
