"""All batteries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rows import Battery


def batteries() -> list[Battery]:
    """Every battery, in the order of the card."""
    from . import (
        background,
        media,
        multicast,
        named_data,
        ordinary,
        reordering,
        rfc5166,
        rfc7928,
        rfc9743,
        tcpeval,
    )

    modules = (
        rfc9743,
        rfc5166,
        tcpeval,
        background,
        multicast,
        named_data,
        media,
        ordinary,
        reordering,
        rfc7928,
    )
    return [module.BATTERY for module in modules]
