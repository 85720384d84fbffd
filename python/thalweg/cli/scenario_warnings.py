"""Warnings of a scenario, in the format of every command that loads one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..result import Result
    from ..scenario import Scenario


def print_warnings(scenario: Scenario, *, json: bool) -> list[dict[str, Any]]:
    """The warnings for `--json`; without it they are printed on standard error, once. The exit code does not change."""
    found = [vars(problem) for problem in scenario.warnings]
    if found and not json:
        sys.stderr.write(scenario.warnings_picture)
        sys.stderr.write(f"{len(found)} warning{'s' * (len(found) > 1)}: the scenario runs nevertheless\n")
    return found


def print_empty_series(runs: Iterable[Result], file: str, *, json: bool) -> list[dict[str, Any]]:
    """Series that the scenario records and that have no value in these runs, with the reason; as `print_warnings`."""
    return _print(
        [text for run in runs for text in run.empty_series.values()], "record.series", file, json=json
    )


def print_lost_connections(runs: Iterable[Result], file: str, *, json: bool) -> list[dict[str, Any]]:
    """Connections that were lost in these runs, with the reason; as `print_warnings`."""
    return _print([text for run in runs for text in run.lost_connections], "flows", file, json=json)


def _print(texts: list[str], key: str, file: str, *, json: bool) -> list[dict[str, Any]]:
    """Prints each text once, with the number of runs that have it."""
    found = []
    for text in dict.fromkeys(texts):
        count = texts.count(text)
        message = text if count == 1 else f"in {count} runs {text}"
        found.append(vars(Problem(message, key, file, None, None, None)))
        if not json:
            sys.stderr.write(f"warning: {message}\n")
    return found
