"""`thalweg check`: what a scenario means."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .options import SchemeFiles, load_scheme_files
from .output import check_seed, console, show_json
from .run import apply_overrides
from .scenario_warnings import print_warnings


def check(
    scenario: Path,
    /,
    *,
    seed: int | None = None,
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    scheme_file: SchemeFiles = (),
    json: bool = False,
) -> int:
    """Check a scenario and print its plan: all defaults and relative units filled in, and the names of nodes and links.

    Parameters
    ----------
    scenario
        Path of the scenario file.
    seed
        Use this seed instead of the scenario's.
    changes
        Set a dotted key, such as `--set topology.bottleneck.buffer="1 bdp"`; may be repeated.
    scheme_file
        Import this Python file and add its schemes to the catalogue; may be repeated. It runs with your rights.
    json
        Print one JSON object: `plan`, `nodes`, `links` and `warnings`.
    """
    from ..scenario import load

    check_seed(seed)
    load_scheme_files(scheme_file)
    loaded = apply_overrides(load(scenario), changes)
    plan = loaded.plan(seed)
    warnings = print_warnings(loaded, json=json)
    nodes, links = ([row["name"] for row in plan.layout[kind]] for kind in ("nodes", "links"))
    if json:
        show_json(
            {
                "file": str(scenario),
                "seed": plan.seed,
                "duration_s": plan.duration_s,
                "nodes": nodes,
                "links": links,
                "warnings": warnings,
                "plan": plan.tree,
            }
        )
        return 0
    text = f"# nodes: {join_names(nodes)}\n# links: {join_names(links)}\n{plan.toml}"
    if sys.stdout.isatty():
        from rich.syntax import Syntax

        # lines are not broken, so that they can be copied
        shown = Syntax("", "toml", theme="ansi_dark", background_color="default").highlight(text)
        console().print(shown, soft_wrap=True)
    else:
        print(text)
    return 0


def join_names(names: list[str]) -> str:
    """Names in their order; runs of numbered names are joined: `left1 … left12`."""
    rows: list[tuple[str, str]] = []
    for name in names:
        if rows and _follows(rows[-1][1], name):
            rows[-1] = (rows[-1][0], name)
        else:
            rows.append((name, name))
    return ", ".join(first if first == last else f"{first} … {last}" for first, last in rows)


def _follows(before: str, name: str) -> bool:
    (stem, number), (stem2, number2) = _split_number(before), _split_number(name)
    return stem == stem2 and number is not None and number2 == number + 1


def _split_number(name: str) -> tuple[str, int | None]:
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :]) if len(stem) < len(name) else None
