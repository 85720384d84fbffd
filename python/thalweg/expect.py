"""Accepted values of a number: the relations of `[expect]` in scenarios, such as ``">= 0.9"`` and ``"in 1 .. 3"``.

>>> from thalweg.expect import Relation
>>> Relation("<= 20 ms").holds(0.015)
True
"""

from __future__ import annotations

from ._native import Relation

__all__ = ["Relation"]
