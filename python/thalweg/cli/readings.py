"""`thalweg reproduce PAPER --readings`: the effect of other readings of a paper on its claims."""

from __future__ import annotations

import json as _json
import time
from typing import TYPE_CHECKING, Any

from .output import CommandError, console, number, print_table, show_json
from .progress import Meter

if TYPE_CHECKING:
    from pathlib import Path

    from rich.text import Text

    from ..papers import Paper

SIGNS = {"reproduced": "✓", "partly": "◐", "not reproduced": "✗", "not testable": "–"}


def paper_with_readings(name: str) -> Paper:
    """The paper of that name. Refuses one without readings."""
    from .. import papers

    paper = papers.with_readings(name)
    if paper is None:
        available = [other for other in papers.names() if papers.with_readings(other) is not None]
        raise CommandError(f"`{name}` has no readings", f"these have some: {', '.join(available) or 'none'}")
    return paper


def compare_readings(
    name: str, folder: Path, *, figure: str | None, settings: dict[str, Any], json: bool
) -> int:
    """Runs each option of each reading by itself; prints a table per reading, or one of the requested claim.

    Keeps all in `readings.json`.
    """
    paper = paper_with_readings(name)
    if figure is not None:
        raise CommandError("`--figure` does not work with `--readings`", "leave out one of them")
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with Meter(f"{name}, readings", quiet=json) as meter:
        try:
            done = paper.compare_readings(
                **settings,
                out=folder / "measurements",
                progress=lambda ready, total, what: meter.show(
                    ready, total, f"{ready} of {total} runs, {what}"
                ),
            )
        except KeyError as error:
            raise CommandError(str(error.args[0])) from error
        except KeyboardInterrupt:
            raise CommandError(
                "interrupted", "the same command again runs only what is missing", code=130
            ) from None
    path = folder / "readings.json"
    path.write_text(_json.dumps(done.as_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if json:
        show_json({**done.as_dict(), "folder": str(folder)})
        return 0
    screen = console()
    screen.print(f"{done.title}: readings", style="bold", soft_wrap=True)
    if done.claim is not None:
        _print_claim(done.claims[0])
    else:
        for reading in done.readings:
            _print_reading(done, reading)
    for note in done.notes:
        screen.print(f"note: {note}", style="yellow" if done.quick else "dim")
    screen.print(f"{done.runs} runs in {time.monotonic() - began:.0f} s. All numbers: {path}")
    return 0


def _print_reading(done: Any, reading: dict[str, Any]) -> None:
    """One reading: its options with what the paper says, and the claims that they change."""
    from rich.text import Text

    screen = console()
    default, rows = reading["default"], []
    others = [option["name"] for option in reading["options"] if option["name"] != default]
    for claim in done.rows(reading["name"]):
        options = claim["options"][reading["name"]]
        rows.append(
            {
                "claim": claim["id"],
                "statement": claim["statement"],
                "paper": claim["expected"],
                default: result(claim),
                **{other: _changed_result(options.get(other)) for other in others},
            }
        )
    title = f"{reading['name']}: {reading['question']}"
    if rows:
        _print_claims(title, default, others, rows)
    else:
        screen.print(f"\n{title}", style="bold", soft_wrap=True)
    same = done.unchanged[reading["name"]]
    screen.print(
        f"{same} {'other ' if rows else ''}claims that rest on these experiments do not change.", style="dim"
    )
    for option in reading["options"]:
        mark = " (default)" if option["name"] == default else ""
        screen.print(Text(f"  {option['name']}{mark}: {option['sentence']}", style="dim"))


def _print_claim(claim: dict[str, Any]) -> None:
    """One claim: its verdict and the mean of each checked quantity, by default and under each option."""
    options = {("", "default"): claim} | {
        (reading, option): outcome
        for reading, options in claim["options"].items()
        for option, outcome in options.items()
    }
    rows = []
    for (reading, option), outcome in options.items():
        checks = {
            check["check"]: "–" if check["mean"] is None else f"{number(check['mean'], 4)}"
            for check in outcome["checks"]
        }
        rows.append({"reading": reading, "option": option, "verdict": SIGNS[outcome["verdict"]], **checks})
    print_table(
        f"{claim['id']} ({claim['source']}): {claim['statement']}",
        [(key, key) for key in rows[0]],
        rows,
        first=("option", "verdict"),
        all_in="`readings.json` has all",
    )


def _print_claims(title: str, default: str, others: list[str], rows: list[dict[str, Any]]) -> None:
    print_table(
        title,
        [
            ("claim", "claim"),
            ("statement", "statement"),
            ("paper", "paper"),
            (default, f"{default} (default)"),
            *((other, other) for other in others),
        ],
        rows,
        first=("claim", default, *others, "paper"),
        all_in="`readings.json` has all",
    )


def _changed_result(outcome: dict[str, Any] | None) -> Text | str:
    """The result of a claim under an option; a dash if the option does not affect it, `same` if nothing changes."""
    if outcome is None:
        return "–"
    return result(outcome) if outcome["changed"] else "same"


def result(claim: dict[str, Any]) -> Text:
    """The sign of a verdict and the first checked number."""
    from rich.text import Text

    from ..report.claims import check_texts

    sign = SIGNS.get(claim["verdict"], claim["verdict"])
    one_run = " (one run)" if claim.get("one_run") else ""
    return Text(f"{sign} {next(iter(check_texts(claim)), '–')}{one_run}")
