"""`thalweg new`: a first scenario file, or a first scheme in Python."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .._starters import STARTERS, starter_question, starter_text
from .output import CommandError, nearest, print_table, show_json

SCHEME = "scheme"
"""The scheme in Python to begin with, a file there as well."""


def new(
    file: Path = Path("scenario.toml"),
    /,
    *,
    like: str = "tcp",
    listed: Annotated[bool, Parameter(name="--list")] = False,
    json: bool = False,
) -> int:
    """Write a first scenario file, or with `--like scheme` a first scheme in Python. Existing files are never overwritten.

    Parameters
    ----------
    file
        Path of the new file.
    like
        Write this scenario: `tcp` has two kinds of TCP flows at one bottleneck, `--list` lists all. `scheme` is a Python
        file with a congestion-control scheme, named after the file.
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
    if like not in (*STARTERS, SCHEME):
        raise CommandError(
            f"no scenario to begin with is called `{like}`", nearest(like, (*STARTERS, SCHEME))
        )
    if file.exists():
        raise CommandError(f"{file} exists already", "name another file: existing files are not overwritten")
    next_step = f"thalweg run {file}"
    if like == SCHEME:
        text, name = scheme_text(file)
        next_step = f"thalweg run first.toml --scheme-file {file} --set flows.reno.scheme={name}"
    elif file.suffix != ".toml":
        hint = (
            "`--like scheme` writes a scheme in Python" if file.suffix == ".py" else f"as in {file.name}.toml"
        )
        raise CommandError(f"{file}: the name of a scenario file ends in .toml", hint)
    else:
        text = starter_text(like)
    file.write_text(text, encoding="utf-8")
    if json:
        show_json({"file": str(file)})
    else:
        print(f"wrote {file}; next: {next_step}")
    return 0


def scheme_text(file: Path) -> tuple[str, str]:
    """The text of a scheme that is named after its file, and its name."""
    if file.suffix != ".py" or not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", file.stem):
        raise CommandError(
            f"{file} is no name of a scheme's file", "lower-case words joined by _ and .py, as in fast_tcp.py"
        )
    name = file.stem
    title = "".join(word.capitalize() for word in name.split("_"))
    text = files("thalweg").joinpath("starters/scheme.py").read_text(encoding="utf-8")
    text = text.replace("MyScheme(", f"{title}(").replace("my_scheme", name).replace("THIS_FILE", file.name)
    return text, name
