"""Values of `--set`: keys of scenarios, parameters of schemes."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from .output import CommandError, nearest, range_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def parse_value(text: str) -> Any:
    """The value after the `=` of `--set`: a number, truth value, list or table in TOML syntax, otherwise text."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    # a scenario has no dates
    return value if isinstance(value, str | int | float | list | dict) else text


def parse_overrides(texts: Sequence[str], example: str) -> dict[str, Any]:
    """Keys and their values; a message about invalid input shows the example."""
    changes = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            raise CommandError(f"--set {text}: not KEY=VALUE", f"such as --set {example}")
        changes[key.strip()] = parse_value(value.strip())
    return changes


def parse_params(texts: Sequence[str], scheme: str, example: str) -> dict[str, Any]:
    """Parameters of a scheme. Refuses unknown names, and numbers and words that are not allowed."""
    from ..catalogue import schemes

    params = parse_overrides(texts, example)
    known = {row["name"]: row for row in next(row for row in schemes() if row["name"] == scheme)["params"]}
    for name, value in params.items():
        if name not in known:
            hint = nearest(name, list(known)) if known else "it has none"
            raise CommandError(f"--set {name}: `{scheme}` has no such parameter", hint)
        if not _is_valid(value, known[name]):
            words = known[name]["kind"] if known[name]["range"] is None else range_text(known[name])
            raise CommandError(f"--set {name}={value}: not a value of `{name}`", f"it takes {words}")
    return params


def _is_valid(value: Any, parameter: Mapping[str, Any]) -> bool:
    """False for definitely invalid values; the core checks quantities with units."""
    if parameter["kind"] in ("number", "count"):
        low, high = parameter["range"] or (float("-inf"), float("inf"))
        types = (int,) if parameter["kind"] == "count" else (int, float)
        return isinstance(value, types) and not isinstance(value, bool) and low <= value <= high
    if " | " in parameter["kind"]:
        return value in parameter["kind"].split(" | ")
    return isinstance(value, str | int | float)
