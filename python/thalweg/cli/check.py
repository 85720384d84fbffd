"""`thalweg check`: what a scenario means."""

from __future__ import annotations

import sys
from pathlib import Path

from .out import check_seed, console, show_json


def check(scenario: Path, /, *, seed: int | None = None, json: bool = False) -> int:
    """Print a scenario's plan: every default and every relative unit filled in, in the words of a scenario.

    Parameters
    ----------
    scenario
        The file.
    seed
        Takes the place of the scenario's.
    json
        Print one JSON object.
    """
    from ..scenario import load

    check_seed(seed)
    plan = load(scenario).plan(seed)
    if json:
        show_json(
            {"file": str(scenario), "seed": plan.seed, "duration_s": plan.duration_s, "plan": plan.tree}
        )
    elif sys.stdout.isatty():
        from rich.syntax import Syntax

        # lines stay whole, so that they can be copied
        shown = Syntax("", "toml", theme="ansi_dark", background_color="default").highlight(plan.toml)
        console().print(shown, soft_wrap=True)
    else:
        print(plan.toml)
    return 0
