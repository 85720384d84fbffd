"""`thalweg evaluate`: the report card of a scheme."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from .._lock import locked
from .options import SchemeFiles, load_scheme_files
from .output import CommandError, check_minimum, check_seed, console, nearest, show_json
from .overrides import parse_overrides, parse_params
from .progress import Meter
from .run import check_on

if TYPE_CHECKING:
    from rich.text import Text

    from ..errors import Problem
    from ..evaluation.rows import Outcome
    from ..evaluation.runner import Card

STYLES = {
    "pass": ("✓", "green"),
    "fail": ("✗", "red"),
    "undecided": ("◐", "yellow"),
    "not applicable": ("–", "dim"),
}
"""Sign and colour of a verdict."""


def evaluate(
    scheme: str,
    /,
    *,
    against: str = "cubic,reno,bbr",
    scheme_file: SchemeFiles = (),
    settings: Annotated[tuple[str, ...], Parameter(name="--set")] = (),
    kind: Literal["background", "media"] | None = None,
    row: tuple[str, ...] = (),
    quick: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    on: str | None = None,
    out: Path | None = None,
    all_rows: Annotated[bool, Parameter(name=["--full", "--all"])] = False,
    json: bool = False,
) -> int:
    """Evaluate a scheme, transport stack or queue discipline by every battery that applies, and write its report card.

    A row passes if the 95 % interval over seeds is in its band, fails if it is outside, and is undecided otherwise.
    Bands come from the documents, or from the reference schemes in the same networks with the same seeds.

    Parameters
    ----------
    scheme
        Name of the scheme, such as `vegas`; of a queue discipline, such as `codel`; or of a transport stack with one of its
        own controllers, such as `quinn:cubic`.
    against
        Reference schemes, separated by commas; also stacks.
    scheme_file
        Import this Python file and add its schemes to the catalogue; may be repeated. It runs with your rights.
    settings
        Set this parameter of the scheme or queue discipline to another value, `NAME=VALUE`.
    kind
        Judge it as a scheme for background transfers or for real-time media as well.
    row
        Decide only this row or battery, such as `rfc9743/5.1.4-fairness` or `rfc9743`.
    quick
        Use fewer seeds and shorter runs; the report card says so.
    seed
        Start with this seed; repetitions use the seeds that follow it.
    jobs
        Run this number of simulations at a time; one per core by default.
    on
        Run the simulations on the workers of a Dask cluster, as `thalweg run --on` does.
    out
        Write the report card, `report.html` and `evaluation.json`, to this folder; `out/evaluate/SCHEME` by default
        (`out/evaluate/quinn-cubic` for `quinn:cubic`). Measurements are kept beside it.
    all_rows
        Print every row. Otherwise rows that pass are only counted, unless `--row` names some.
    json
        Print one JSON object.
    """
    from ..catalogue import schemes
    from ..evaluation import batteries
    from ..evaluation.runner import evaluate as run
    from ..evaluation.subject import SEPARATOR, queue_disciplines, stacks
    from ..report import save_evaluation

    load_scheme_files(scheme_file)
    check_seed(seed)
    check_minimum("--jobs", jobs)
    check_on(on, jobs)
    known = [found["name"] for found in schemes()]
    references = [name.strip() for name in against.split(",") if name.strip()]
    disciplines = queue_disciplines()
    for name, among in ((scheme, [*known, *disciplines]), *((name, known) for name in references)):
        if SEPARATOR in name or name in stacks():
            _check_stack(name, kind if name == scheme else None)
        elif name not in among:
            raise CommandError(f"no scheme is called `{name}`", nearest(name, among))
    if not references:
        raise CommandError("--against names no scheme", "such as --against cubic,reno")
    rows = [f"{battery.id}/{one.id}" for battery in batteries() for one in battery.rows]
    every = [*(battery.id for battery in batteries()), *rows]
    for name in row:
        if name not in every:
            raise CommandError(f"no row is called `{name}`", nearest(name, every))
    if scheme in disciplines:
        params = parse_overrides(settings, "target=20ms")
    elif SEPARATOR in scheme and settings:
        raise CommandError(f"the controller of `{scheme}` has no parameters", "leave --set out")
    else:
        params = parse_params(settings, scheme, "beta=0.8") if settings else {}
    folder = out or Path("out") / "evaluate" / scheme.replace(SEPARATOR, "-")
    began = time.monotonic()
    with locked(folder), Meter(scheme, quiet=json) as meter:
        try:
            card = run(
                scheme,
                params=params,
                kind=kind,
                against=references,
                rows=row or None,
                quick=quick,
                jobs=jobs or os.cpu_count() or 1,
                on=on,
                seed=seed,
                cache=folder.parent / "measurements",
                progress=lambda done, total, _label: meter.show(done, total, f"{done} of {total} runs"),
            )
        except KeyboardInterrupt:
            raise _interrupted() from None
        page = save_evaluation(card, folder)
    if json:
        show_json({**card.as_dict(), "report": str(page), "folder": str(folder)})
    else:
        _print(card, page, time.monotonic() - began, every=all_rows or bool(row))
    return 0


def _check_stack(name: str, kind: str | None) -> None:
    """Refuses a stack or a controller that this build does not have."""
    from ..evaluation.subject import SEPARATOR, stacks

    stack, separator, _ = name.partition(SEPARATOR)
    if stack not in stacks():
        raise CommandError(f"no transport stack is called `{stack}`", f"there are: {', '.join(stacks())}")
    if (refused := _refused(name if separator else stack + SEPARATOR, kind)) is None:
        return
    if not refused.key.endswith(".controller"):
        raise CommandError(refused.message, refused.hint)
    unnamed = _refused(stack + SEPARATOR, None)
    known = unnamed.hint.partition(";")[0] if unnamed is not None and unnamed.hint else ""
    if not separator:
        raise CommandError(
            f"`{stack}` is a transport stack, of which a controller is evaluated",
            f"write {stack}:CONTROLLER; {known}",
        )
    hint = refused.hint or known
    raise CommandError(
        refused.message, hint if known in hint or "did you mean" in hint else f"{hint}; {known}"
    )


def _refused(name: str, kind: str | None) -> Problem | None:
    """Why a flow of this stack and controller is refused; None if it is not."""
    from ..errors import ScenarioError
    from ..evaluation import Subject

    try:
        Subject.of(name, kind=kind)
    except ScenarioError as error:
        return error.problems[0]
    return None


def _interrupted() -> CommandError:
    return CommandError("interrupted", "the same command again runs only what is missing", code=130)


def _print(card: Card, page: Path, seconds: float, *, every: bool) -> None:
    """Counts per battery, and the rows that do not pass with what decides them; with `every` all rows."""
    from rich.text import Text

    from ..stats import few_seeds

    screen = console()
    for battery, outcomes in card.outcomes:
        decided = [outcome for outcome in outcomes if outcome.verdict != "not applicable"]
        if not decided:
            screen.print(f"{battery.title}: not applicable", style="dim", soft_wrap=True)
            continue
        verdicts = [outcome.verdict for outcome in decided]
        counts = [
            _verdict(verdict, short=False).append(f" {verdicts.count(verdict)}")
            for verdict in STYLES
            if verdict in verdicts
        ]
        screen.print(Text(f"\n{battery.title}  ", style="bold").append(Text("  ").join(counts)))
        for outcome in decided:
            if every or outcome.verdict != "pass":
                _print_row(outcome)
    screen.print(
        Text("\n").append(
            Text("  ").join(
                _verdict(verdict, short=False).append(f" {count}") for verdict, count in card.counts().items()
            )
        )
    )
    equal = sum(
        outcome.verdict == "pass"
        and outcome.comparison is not None
        and outcome.comparison.relation == "equal to"
        for _, outcomes in card.outcomes
        for outcome in outcomes
    )
    if equal:
        screen.print(f"{equal} of the rows that pass are equal to a reference, not better.", soft_wrap=True)
    if any(
        set(outcome.references) - set(outcome.counting)
        for _, outcomes in card.outcomes
        for outcome in outcomes
    ):
        screen.print("References in parentheses do not count for the band.", style="dim")
    few = few_seeds(card.seeds)
    if card.quick:
        screen.print(
            f"note: quick: shorter runs, and {few or 'fewer seeds'}, so that more rows are undecided",
            style="yellow",
        )
    screen.print(f"{card.runs} runs with {card.seeds} seeds in {seconds:.0f} s. Report: {page}")


def _print_row(outcome: Outcome) -> None:
    """The verdict of a row; below it what decides it, and what was measured."""
    from rich.padding import Padding
    from rich.text import Text

    from ..evaluation.runner import row_record
    from ..report._evaluation import measured, references

    screen = console()
    record = row_record(outcome)
    screen.print(
        _verdict(outcome.verdict, short=True).append(
            f" {outcome.row.id}  {outcome.row.title}", style="default"
        ),
        soft_wrap=True,
    )
    lines = [outcome.decision or outcome.reason]
    if shown := references(record):
        lines.append(f"measured {measured(record)}; {shown}")
    elif outcome.unfinished:
        lines.append(measured(record))
    for line in lines:
        text = Text(line, style="dim" if line is not lines[0] else "")
        screen.print(Padding(text, (0, 0, 0, 4), expand=False))


def _verdict(verdict: str, *, short: bool) -> Text:
    from rich.text import Text

    sign, style = STYLES[verdict]
    return Text(sign if short else f"{sign} {verdict}", style=style)
