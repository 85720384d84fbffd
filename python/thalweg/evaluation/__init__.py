"""Report cards: a scheme by the community's own criteria, each row decided over seeds.

>>> from thalweg.evaluation import evaluate
>>> card = evaluate("vegas", quick=True)  # doctest: +SKIP
>>> card.counts()  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .subject import Subject

if TYPE_CHECKING:
    from .rows import Battery
    from .runner import Card, evaluate

__all__ = ["Battery", "Card", "Subject", "batteries", "evaluate"]


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


def __getattr__(name: str) -> object:
    if name in ("Card", "evaluate"):
        from . import runner

        return getattr(runner, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
