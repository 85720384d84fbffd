"""`thalweg new`: a first scenario file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .output import CommandError, nearest, print_table, show_json

STARTERS = ("tcp", "sweep", "call", "multicast")
"""Scenarios to begin with: the names of the files in `starters`."""


def new(
    file: Path = Path("scenario.toml"),
    /,
    *,
    like: str = "tcp",
    listed: Annotated[bool, Parameter(name="--list")] = False,
    json: bool = False,
) -> int:
    """Write a first scenario file. Existing files are never overwritten.

    Parameters
    ----------
    file
        Path of the new file.
    like
        Write this scenario: `tcp` has two kinds of TCP flows at one bottleneck, `--list` lists all.
    listed
        List the scenarios that a file can begin with.
    json
        Print one JSON object.
    """
    if listed:
        rows = [{"name": name, "question": starter_question(name)} for name in STARTERS]
        if json:
            show_json({"scenarios": rows})
        else:
            print_table("", [("name", "name"), ("question", "question")], rows)
        return 0
    if like not in STARTERS:
        raise CommandError(f"no scenario to begin with is called `{like}`", nearest(like, STARTERS))
    if file.exists():
        raise CommandError(f"{file} exists already", "name another file: existing files are not overwritten")
    file.write_text(starter_text(like), encoding="utf-8")
    if json:
        show_json({"file": str(file)})
    else:
        print(f"wrote {file}; next: thalweg run {file}")
    return 0


def starter_text(name: str) -> str:
    """The text of a scenario to begin with."""
    return files("thalweg").joinpath(f"starters/{name}.toml").read_text(encoding="utf-8")


def starter_question(name: str) -> str:
    """The question that it asks: its first line."""
    return starter_text(name).splitlines()[0].removeprefix("# ")
