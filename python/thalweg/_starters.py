"""Scenarios to begin with."""

from __future__ import annotations

from importlib.resources import files

STARTERS = ("tcp", "sweep", "call", "multicast")
"""Scenarios to begin with: the names of the files in `starters`."""


def starter_text(name: str) -> str:
    """The text of a scenario to begin with."""
    return files("thalweg").joinpath(f"starters/{name}.toml").read_text(encoding="utf-8")


def starter_question(name: str) -> str:
    """The question that it asks: its first line."""
    return starter_text(name).splitlines()[0].removeprefix("# ")
