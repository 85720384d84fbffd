"""Report cards: a scheme by the community's own criteria, each row decided over seeds.

>>> from thalweg.evaluation import evaluate
>>> card = evaluate("vegas", quick=True)  # doctest: +SKIP
>>> card.counts()  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .registry import batteries
from .subject import Subject

if TYPE_CHECKING:
    from .rows import Battery
    from .runner import Card, evaluate

__all__ = ["Battery", "Card", "Subject", "batteries", "evaluate"]


def __getattr__(name: str) -> object:
    if name in ("Card", "evaluate"):
        from . import runner

        return getattr(runner, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
