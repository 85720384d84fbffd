"""Quantities of scenarios, such as `10 Mbit/s`, as numbers of one unit for axes and columns; sizes and rates as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS: tuple[dict[str, float], ...] = (
    {"Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1.0},
    {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9},
    {"GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1.0, "GiB": 2.0**30, "MiB": 2.0**20, "KiB": 2.0**10},
    {"packets": 1.0, "packet": 1.0},
    {"bdp": 1.0},
    {"ppm": 1e-6, "ppb": 1e-9},
)
"""Units that can be converted into each other, with their sizes, as in `crates/units`, and the units of buffers."""

_SIZES = {unit: (kind, size) for kind, units in enumerate(KINDS) for unit, size in units.items()}
_TEXT = re.compile(r"\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\W\d]+(?:/s)?)\s*")


def quantity(text: str) -> tuple[float, str] | None:
    """The number and the unit of a text; None if it is no quantity."""
    found = _TEXT.fullmatch(text)
    return (float(found[1].replace("_", "")), found[2]) if found and found[2] in _SIZES else None


def base_value(text: str) -> float:
    """The number in the base unit of its kind: bit/s, seconds, bytes, packets. ``ValueError`` if it is no quantity."""
    found = quantity(text)
    if found is None:
        raise ValueError(f"{text!r} is no quantity")
    return found[0] * _SIZES[found[1]][1]


def numbers(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """The values as numbers, and their unit; None unless all are quantities of one kind, or all are plain numbers.

    The unit is the common one, or else the unit of the largest value. Plain numbers have the unit "".
    """
    if values and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values], ""
    read = [quantity(value) if isinstance(value, str) else None for value in values]
    known = [pair for pair in read if pair is not None]
    if not known or len(known) < len(values) or len({_SIZES[unit][0] for _, unit in known}) > 1:
        return None
    units = {unit for _, unit in known}
    unit = max(known, key=lambda pair: (abs(pair[0]) * _SIZES[pair[1]][1], pair[1]))[1]
    if len(units) == 1:
        return [number for number, _ in known], unit
    size = _SIZES[unit][1]
    # rounded, so that 500 kbit/s are 0.5 Mbit/s
    return [float(f"{number * _SIZES[own][1] / size:.15g}") for number, own in known], unit


def format_size(count: float) -> str:
    """`12.3 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1000
    return f"{count:.3g} TB"


def format_rate(bps: float) -> str:
    """`12.3 Mbit/s`."""
    for unit in ("bit/s", "kbit/s", "Mbit/s"):
        if bps < 1000:
            return f"{bps:.3g} {unit}"
        bps /= 1000
    return f"{bps:.3g} Gbit/s"
