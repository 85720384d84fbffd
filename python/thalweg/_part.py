"""Base class of the builders of a scenario's parts.

A builder assembles a plain dict with the keys of a scenario file. It refuses keys that its table does not have, and numbers
where a text with a unit is needed. One loader, in the core, reads all scenarios and says what else is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import Parameter, Signature
from typing import Any, ClassVar, SupportsFloat

from ._names import nearest

Keys = dict[str, Any]
"""A part of a scenario: the keys of a scenario file with plain values."""


class _KeySignature:
    """`__signature__` of a class whose arguments are keys, for `help`, `inspect` and the completion of notebooks."""

    def __get__(self, instance: object, owner: type[Part]) -> Signature:
        lead = owner.__init__.__code__.co_varnames[1 : owner.__init__.__code__.co_argcount]
        parameters = [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
            if name in lead
            else Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=None if kind.endswith("None") else Parameter.empty,
                annotation=kind,
            )
            for name, (kind, _) in owner.KEYS.items()
        ]
        return Signature(sorted(parameters, key=lambda one: one.kind))


class Part(Keys):
    """A plain dict, built by name. Keys with the value None are left out, and an underscore behind a key is dropped.

    Raises ``TypeError`` for a key that the table does not have, and for a number where a text is needed, such as a quantity
    without its unit.
    """

    KEYS: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Each key with its type and, if it takes texts only, an example."""

    __signature__ = _KeySignature()

    def __init__(self, keys: Mapping[str, object]) -> None:
        given = {key: value for key, value in keys.items() if value is not None}
        name = type(self).__name__
        check_keys("Scenario" if name == "File" else name, type(self).KEYS, given)
        super().__init__((key.removesuffix("_"), _listed(value)) for key, value in given.items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.items())})"


def check_keys(name: str, known: Mapping[str, tuple[str, str]], given: Mapping[str, object]) -> None:
    """Refuses keys that `name` does not have, and numbers for keys that take texts only."""
    for key, value in given.items():
        kind, example = known.get(key) or known.get(f"{key}_") or ("", "")
        if not kind and key != "kind":
            raise TypeError(f"{name} has no key {key!r}: {nearest(key, list(known))}")
        if example and isinstance(value, SupportsFloat) and not isinstance(value, bool):
            raise TypeError(f"{name}: {key} = {value!r} is a number, and this is a text such as {example!r}")


def _listed(value: object) -> object:
    """An iterable, except a text, bytes or a table, as a list."""
    return (
        list(value) if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)) else value
    )


def plain(value: Any) -> Any:
    """A deep copy made of dicts, lists and plain values only."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
