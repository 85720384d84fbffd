"""Base class of the builders of a scenario's parts.

A builder only assembles a plain dict with the keys of a scenario file, and passes on keys that it does not know: one
loader, in the core, reads all scenarios and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Keys = dict[str, Any]
"""A part of a scenario: the keys of a scenario file with plain values."""


class Part(Keys):
    """A plain dict that was built by name. Keys that are None are left out, and an underscore behind a key is dropped."""

    def __init__(self, keys: Mapping[str, object]) -> None:
        given = ((key, value) for key, value in keys.items() if value is not None)
        super().__init__((key.removesuffix("_"), _listed(value)) for key, value in given)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.items())})"


def _listed(value: object) -> object:
    """An iterable, except a text or a table, as a list."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)) else value


def plain(value: Any) -> Any:
    """A deep copy made of dicts, lists and plain values only."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
