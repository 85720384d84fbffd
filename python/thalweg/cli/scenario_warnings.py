"""Warnings of a scenario, in the format of every command that loads one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..scenario import Scenario


def print_warnings(scenario: Scenario, *, json: bool) -> list[dict[str, Any]]:
    """The warnings for `--json`; without it they are printed on standard error, once. The exit code does not change."""
    found = [vars(problem) for problem in scenario.warnings]
    if found and not json:
        sys.stderr.write(scenario.warnings_picture)
        sys.stderr.write(f"{len(found)} warning{'s' * (len(found) > 1)}: the scenario runs nevertheless\n")
    return found
