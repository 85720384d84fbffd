"""Events of a scenario as short texts, for figures and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def event_labels(plan: Mapping[str, Any]) -> list[tuple[float, str]]:
    """The events of a plan: the time in seconds, and a short text such as `l1 down` or `r2 reset`."""
    return [(seconds(event["at"]), _words(event)) for event in plan.get("events", [])]


def event_marks(plan: Mapping[str, Any], limit: int = 12) -> list[tuple[float, str]]:
    """The events for a figure: those at one time are one mark. Empty if there are more than `limit`."""
    by_time: dict[float, list[str]] = {}
    for at, words in event_labels(plan):
        by_time.setdefault(at, []).append(words)
    if len(by_time) > limit:
        return []
    return [
        (at, words[0] if len(words) == 1 else f"{words[0]} +{len(words) - 1}")
        for at, words in sorted(by_time.items())
    ]


def seconds(text: str) -> float:
    """A time in the format of plans."""
    number, _, unit = text.partition(" ")
    return float(number) * UNITS[unit]


def _words(event: Mapping[str, Any]) -> str:
    if route := event.get("route"):
        return f"{route['at']} to {route['to']} via {route['via']}"
    if link := event.get("link"):
        if "up" in event:
            return f"{link} {'up' if event['up'] else 'down'}"
        key = next(key for key in ("rate", "delay", "loss") if key in event)
        if key == "loss" and isinstance(event[key], float):
            return f"{link} loss {100 * event[key]:g} %"
        return f"{link} {'loss ' * (key == 'loss')}{event[key]}"
    who = [str(event[key]) for key in ("flow", "node") if key in event]
    action = event["mode"] if event["action"] == "mode" else event["action"]
    return f"{'@'.join(who)} {action}"
