"""`thalweg reproduce`: runs a paper, or a comparison of this project, from the experiments to the report."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..runs import execution
from ..runs.folders import folder_name
from .emulate import NOT_VALID
from .output import (
    CommandError,
    check_minimum,
    check_seed,
    console,
    nearest,
    number,
    print_table,
    quoted,
    show_json,
)
from .overrides import parse_overrides
from .progress import Meter
from .readings import compare_readings, paper_with_readings
from .run import check_on
from .search import search_readings
from .substitutes import substitute_schemes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.text import Text

    from ..papers import Study

STYLES = {
    "reproduced": ("✓", "green"),
    "partly": ("◐", "yellow"),
    "not reproduced": ("✗", "red"),
    "not testable": ("–", "dim"),
}
"""Sign and colour of a verdict."""

NARROW = 110
"""In a narrower table of claims only the signs of the verdicts are shown."""

COUNTS = (
    ("paper", "paper"),
    ("reproduced", "✓ reproduced"),
    ("partly", "◐ partly"),
    ("not", "✗ not"),
    ("untestable", "– not testable"),
    ("phase_dependent", "phase-dependent"),
    ("fitted", "fitted"),
    ("conformance", "conformance"),
    ("derived", "derived"),
    ("literal", "literal"),
    ("set_up", "set-up"),
    ("not_specific", "not specific"),
    ("by_construction", "by construction"),
    ("mutants_killed", "mutants rejected"),
)
"""Counts of rows and their headings."""

FOOTNOTE = (
    "Verdicts are those of independent results. Of each other kind of row: how many hold of how many; rows by construction "
    "cannot fail."
)

PHASES = "phases.toml"
"""The file with what `--jitter` found; beside `claims.toml` of the paper it is used by all reports."""

SIGNIFICANT_DIGITS = 4
"""Significant digits of a number that is compared with a claim."""


def reproduce(
    paper: str | None = None,
    /,
    *,
    every: Annotated[bool, Parameter(name="--all")] = False,
    figure: str | None = None,
    claim: str | None = None,
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    export: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    quick: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    on: str | None = None,
    emulate: bool = False,
    live: bool = False,
    readings: bool = False,
    together: Annotated[tuple[str, ...], Parameter(name="--with", show_default=False)] = (),
    search: bool = False,
    substitute: bool = False,
    starts: int | None = None,
    combinations: int | None = None,
    jitter: bool = False,
    full: bool = False,
    minutes: float | None = None,
    at_once: int | None = None,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Reproduce a paper: run its experiments, draw its figures, evaluate its claims and write a report.

    The papers are cvihis, mca, mircc, ndnsieve and srmcc. The comparisons background, controllers, kernel, l4s,
    named-data, real-time and scaling have tables instead of claims; agreement compares simulation with emulation.
    `--emulate` runs the tests of cvihis in real time as well, with the kernel's TCP; it needs root.

    Parameters
    ----------
    paper
        Name of the paper or comparison, such as `mca`.
    every
        Reproduce all papers, each in a folder of its own, and print their verdicts in one table.
    figure
        Run only what this figure or table needs, such as `figure-8` or `table-1`.
    claim
        Run only what this claim needs, such as `S004-19`, and evaluate it.
    changes
        Set a dotted key in the scenarios of the figure or claim, such as `--set flows.mc.params.gamma=0.3`; may be repeated.
    export
        Write the scenarios of the figure, the claim or the whole study to this folder, as files for `thalweg run`, and run
        nothing. `-` prints the only one.
    quick
        Use fewer seeds and shorter runs; the report says so.
    seed
        Start with this seed; repetitions use the seeds that follow it.
    jobs
        Run this number of simulations at a time; one per core by default.
    on
        Run the simulations on the workers of a Dask cluster, as `thalweg run --on` does; measurements of time and memory
        stay here.
    emulate
        Run in real time in addition to the simulation.
    live
        Run Figure 3 of mircc with live consumers and forwarders over local sockets in addition to the simulation.
    readings
        Run the alternative readings of ambiguous passages, one at a time, and list the claims that they change; with
        --claim, the effect of each on that claim.
    together
        Judge each claim once more, beside the default, with these options of the paper's readings together, such as
        `--with early-control-packet=unexplained-part,deviation=mean`; may be repeated.
    search
        Search for the readings that together confirm the most claims on half of the seeds, and report them on the other
        half. `joint.toml` has what was found.
    substitute
        Run other schemes in the place of the paper's, and list which claims they pass as well; with --claim, that claim.
    starts
        Start `--search` from the default and from random combinations, this number in all; 3 by default.
    combinations
        Run at most this number of combinations with `--search`; 200 by default.
    jitter
        Judge each result once more with delays and starts that are drawn for each of ten seeds, and mark the rows whose
        verdict changes; of a whole paper, `phases.toml` has them. With `--export`, write these scenarios.
    full
        Run all tests with `--emulate`, or all clock intervals of the figure with `--live`, however long that takes.
    minutes
        Run as many tests as this time allows with `--emulate`; 10 by default.
    at_once
        Run this number of emulations at a time; six per core by default.
    out
        Write the report and its data to this folder; `out/PAPER`, or `out/PAPER-emulated`, by default. With `--all`, write
        the folders of the papers to this one; `out` by default.
    json
        Print one JSON object.
    """
    from .. import papers

    known = papers.names()
    if not known:
        raise CommandError("no papers are installed", papers.INSTALL)
    check_seed(seed)
    check_minimum("--jobs", jobs)
    check_minimum("--at-once", at_once)
    check_minimum("--starts", starts)
    check_minimum("--combinations", combinations)
    check_on(on, jobs)
    settings: dict[str, Any] = {"quick": quick, "jobs": jobs or os.cpu_count() or 1, "seed": seed, "on": on}
    overrides = parse_overrides(changes, "flows.mc.params.gamma=0.3")
    if every:
        excluded = (
            paper,
            figure,
            claim,
            readings,
            together,
            search,
            jitter,
            substitute,
            emulate,
            live,
            full,
            minutes is not None,
            at_once is not None,
            changes,
            export,
        )
        if any(excluded):
            raise CommandError(
                "`--all` works with `--quick`, `--seed`, `--jobs`, `--on`, `--out` and `--json` only",
                "thalweg reproduce --all",
            )
        return _reproduce_all(out or Path("out"), settings, json=json)
    if paper is None:
        raise CommandError("no paper is named", f"name one of {', '.join(known)}, or write `--all`")
    if paper not in known:
        raise CommandError(f"no paper or comparison is called `{paper}`", nearest(paper, known))
    study = papers.find(paper)
    simulated_only = {
        "--with": together,
        "--search": search,
        "--readings": readings,
        "--jitter": jitter,
        "--substitute": substitute,
        "--set": overrides and export is None,
    }
    if study.only_emulated and (refused := [option for option, value in simulated_only.items() if value]):
        raise CommandError(
            f"`{refused[0]}` works with simulations only, and `{paper}` runs in real time only",
            f"thalweg reproduce {paper}",
        )
    compared = readings or search or substitute
    _check_changes(overrides, export, figure or claim, other=live or emulate or compared)
    emulate = emulate or study.only_emulated
    if together and (compared or live or emulate or overrides or export is not None):
        raise CommandError(
            "`--with` excludes `--readings`, `--search`, `--substitute`, `--set`, `--export`, `--live` and `--emulate`",
            f"thalweg reproduce {paper} --with READING=OPTION",
        )
    if (starts is not None or combinations is not None) and not search:
        raise CommandError("`--starts` and `--combinations` work with `--search` only", "add `--search`")
    if jitter and (not study.of_paper or compared or live or emulate or overrides):
        raise CommandError(
            "`--jitter` works with papers, and excludes `--readings`, `--search`, `--substitute`, `--set`, `--live` and "
            "`--emulate`",
            "thalweg reproduce mca --jitter",
        )
    if export is not None:
        only = {"figure": figure, "claim": claim, "quick": quick, "seed": seed, "changes": overrides}
        if jitter:
            only["jitter"] = True
        return _export(study, export, only, json=json)
    if compared and (live or emulate):
        option = "--readings" if readings else "--search" if search else "--substitute"
        raise CommandError(f"`{option}` works with simulations only", f"thalweg reproduce {paper} {option}")
    if search and (readings or figure is not None or claim is not None):
        raise CommandError(
            "`--search` excludes `--readings`, `--figure` and `--claim`",
            f"thalweg reproduce {paper} --search",
        )
    if substitute and (readings or search or figure is not None):
        raise CommandError(
            "`--substitute` excludes `--readings`, `--search` and `--figure`",
            f"thalweg reproduce {paper} --substitute",
        )
    if live:
        if study.live is None or emulate:
            available = _studies_with(lambda other: other.live)
            raise CommandError(
                f"`--live` works with {', '.join(available)} only", f"thalweg reproduce {available[0]} --live"
            )
        return _run_live(study, out or Path("out") / f"{paper}-live", full=full, json=json)
    if emulate:
        if study.emulated is None:
            available = _studies_with(lambda other: other.emulated)
            raise CommandError(f"`{paper}` has no emulation", f"emulations exist for {', '.join(available)}")
        if figure is not None or claim is not None or quick or jobs is not None or on is not None:
            raise CommandError(
                "`--figure`, `--claim`, `--quick`, `--jobs` and `--on` work with simulations only",
                "use `--minutes` for a shorter emulation",
            )
        if full and minutes is not None:
            raise CommandError("`--full` and `--minutes` exclude each other", "write one of them")
        if minutes is not None and not 0 < minutes < 1e6:
            raise CommandError(f"--minutes {minutes:g}: must be above 0")
        return _run_emulated(study, None if full else minutes or 10.0, at_once, seed, out, json=json)
    if full or minutes is not None or at_once is not None:
        raise CommandError(
            "`--full`, `--minutes` and `--at-once` work with emulations only", "add `--emulate`"
        )
    if figure is not None and claim is not None:
        raise CommandError("`--figure` and `--claim` exclude each other", "write one of them")
    folder = out or Path("out") / (f"{paper},{folder_name(overrides)}" if overrides else paper)
    if readings:
        return compare_readings(
            paper, folder, figure=figure, settings={**settings, "claim": claim}, json=json
        )
    if substitute:
        return substitute_schemes(paper, folder, settings={**settings, "claim": claim}, json=json)
    if search:
        limits = {"starts": starts, "combinations": combinations}
        given = {name: value for name, value in limits.items() if value is not None}
        return search_readings(paper, folder, settings={**settings, **given}, json=json)
    began = time.monotonic()
    part = {"figure": figure, "claim": claim, "changes": overrides}
    if overrides:
        _scenarios(study, {**part, "quick": quick, "seed": seed})
    if together:
        _check_readings(paper, together, quick=quick)
        settings["readings"] = together
    if jitter:
        settings["jitter"] = True
    done, page = _reproduce_study(study, folder, {**settings, **part}, json=json)
    if jitter and figure is None and claim is None:
        (folder / PHASES).write_text(done.phases.toml(paper), encoding="utf-8")
    if json:
        show_json({**done.as_dict(), "report": str(page), "folder": str(folder)})
    else:
        _print(done, page, time.monotonic() - began)
    return 0


def _check_changes(overrides: dict[str, Any], export: Path | None, only: str | None, *, other: bool) -> None:
    """Refuses changes of a whole study, and changes and exports of runs that are not simulated once."""
    option = "--set" if overrides else "--export"
    if other and (overrides or export is not None):
        raise CommandError(
            f"`{option}` does not work with `--emulate`, `--live`, `--readings`, `--search` or `--substitute`",
            "leave them out",
        )
    if overrides and only is None:
        raise CommandError(
            "`--set` changes the scenarios of one figure or claim", "add `--figure` or `--claim`"
        )


def _check_readings(name: str, together: tuple[str, ...], *, quick: bool) -> None:
    """Refuses readings that the paper does not have, and those that exclude each other."""
    try:
        paper_with_readings(name).settings(together, quick=quick)
    except (KeyError, ValueError) as error:
        raise CommandError(str(error.args[0]), "`--readings` lists all, with what the paper says") from error


def _scenarios(study: Study, only: dict[str, Any]) -> Sequence[Any]:
    """The scenarios of a figure, of a claim or of all. Refuses unknown ones, and changes that they do not take."""
    from ..errors import ScenarioError

    try:
        return study.scenarios(**only)
    except ScenarioError:
        raise
    except (KeyError, ValueError) as error:
        raise CommandError(str(error.args[0])) from error


def _export(study: Study, folder: Path, only: dict[str, Any], *, json: bool) -> int:
    """Writes scenarios as files, each with a comment about its origin."""
    found = _scenarios(study, only)
    if not found:
        raise CommandError("no scenario belongs to it", "name another figure or claim")
    if str(folder) == "-":
        if len(found) > 1:
            names = ", ".join(row.name for row in found)
            raise CommandError(f"`--export -` prints one scenario, and there are {len(found)}: {names}")
        sys.stdout.write(found[0].toml)
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{row.name}.toml" for row in found]
    for file, row in zip(files, found, strict=True):
        if file.exists() and file.read_text(encoding="utf-8") != row.toml:
            raise CommandError(f"{file}: there is another file of this name", "name another folder")
        file.write_text(row.toml, encoding="utf-8")
    rows = [
        {"file": str(file), "experiment": row.experiment, "seeds": list(row.seeds)}
        for file, row in zip(files, found, strict=True)
    ]
    if json:
        show_json({"scenarios": rows})
        return 0
    columns = [("file", "scenario"), ("experiment", "experiment"), ("seeds", "seeds")]
    print_table(
        "", columns, [{**row, "seeds": ", ".join(map(str, row["seeds"]))} for row in rows], first=("file",)
    )
    console().print(f"Run one of them: thalweg run {quoted(files[0])}", soft_wrap=True, markup=False)
    return 0


def _reproduce_study(study: Study, folder: Path, settings: dict[str, Any], *, json: bool) -> tuple[Any, Path]:
    """Reproduces a study; returns the results and the page, which is written together with the data."""
    with Meter(study.name, quiet=json) as meter:
        return execution.reproduce(
            study,
            folder,
            progress=lambda ready, total, what: meter.show(ready, total, f"{ready} of {total} runs, {what}"),
            **settings,
        )


def _reproduce_all(folder: Path, settings: dict[str, Any], *, json: bool) -> int:
    """All papers one after the other, the table of their verdicts, and the page of all."""
    from .. import papers
    from ..report import save_papers

    found: dict[str, dict[str, Any]] = {}
    for study in map(papers.find, papers.names()):
        if study.of_paper:
            done, page = _reproduce_study(study, folder / study.name, settings, json=json)
            record = done.as_dict()
            found[study.name] = {
                **record["counts"],
                **{key: record[key] for key in ("by_evidence", "summary", "no_mutant_kills")},
                "report": str(page),
            }
    front = save_papers(list(found), folder)
    if json:
        show_json(
            {"papers": found, "report": str(front), "quick": settings["quick"], "seed": settings["seed"]}
        )
        return 0
    rows = [{"paper": name, **counts} for name, counts in found.items()]
    first = (
        *("paper", "reproduced", "partly", "not", "untestable", "phase_dependent"),
        *("mutants_killed", "fitted", "conformance"),
    )
    print_table("", list(COUNTS), rows, first=first, all_in="The report has all")
    console().print(FOOTNOTE, style="dim")
    console().print(f"Report: {front}")
    return 0


def _studies_with(part: Callable[[Study], object]) -> list[str]:
    """Names of the studies with an optional part."""
    from .. import papers

    return [name for name in papers.names() if part(papers.find(name)) is not None] or ["none"]


def _run_live(study: Study, folder: Path, *, full: bool, json: bool) -> int:
    """Runs a figure in the simulator and over sockets; prints a table and writes the picture."""
    assert study.live is not None
    figure = study.live()
    folder.mkdir(parents=True, exist_ok=True)
    with Meter(f"{study.name}, live", quiet=json) as meter:
        rows, drawing = figure.run(full, meter.show)
    picture = folder / f"{figure.name}.svg"
    picture.write_text(drawing + "\n")
    if json:
        show_json({"rows": rows, "picture": str(picture)})
        return 0
    print_table(figure.title, list(figure.columns), rows)
    console().print(f"picture: {picture}")
    return 0


def _run_emulated(
    study: Study, minutes: float | None, at_once: int | None, seed: int, out: Path | None, *, json: bool
) -> int:
    from ..errors import EmulationError
    from ..report import save_reproduction, write

    folder = out or Path("out") / f"{study.name}-emulated"
    began = time.monotonic()
    with Meter(study.name, quiet=json) as meter:
        try:
            done = study.emulate(
                minutes=minutes,
                at_once=at_once,
                seed=seed,
                out=folder / "measurements",
                progress=meter.show,
            )
        except KeyError as error:
            raise CommandError(str(error.args[0])) from error
        except EmulationError as error:
            raise CommandError(str(error), error.hint, code=1) from error
        except KeyboardInterrupt:
            raise CommandError(
                "interrupted", "the same command again runs only what is missing", code=130
            ) from None
    folder.mkdir(parents=True, exist_ok=True)
    save_reproduction(done, folder)
    page = write(folder)
    if json:
        show_json({**done.as_dict(), "report": str(page), "folder": str(folder)})
    else:
        _print(done, page, time.monotonic() - began)
    return 0 if all(run["valid"] for run in done.runs) else NOT_VALID


def _print(done: Any, page: Path, seconds: float) -> None:
    screen = console()
    if done.claims and done.emulated:
        _print_emulated_claims(done)
    elif done.claims:
        _print_claims(done)
    else:
        screen.print(done.title, style="bold", soft_wrap=True)
    if not done.of_paper or done.emulated:
        drawn = [table for figure in done.figures.values() for table in figure.tables.values()]
        for table in done.tables.values() or drawn:
            _print_rows(table)
    for note in done.all_notes:
        screen.print(f"note: {note}", style="yellow" if done.quick else "dim")
    screen.print(f"{len(done.runs)} runs in {seconds:.0f} s. Report: {page}")


def _print_rows(table: Any) -> None:
    from ..report.columns import column_heading, with_intervals

    rows = with_intervals(list(table.rows()), lambda value: "–" if value is None else number(value))
    print_table(
        table.title, [(name, column_heading(name)) for name in rows[0]], rows, all_in="The report has all"
    )


def _print_claims(done: Any) -> None:
    from rich.text import Text

    screen = console()
    columns = [
        ("claim", "claim"),
        ("statement", "statement"),
        ("paper", "paper"),
        ("measured", "measured"),
        ("ratio", "measured/paper"),
        ("verdict", "verdict"),
    ]
    # the line below the table explains the signs
    narrow = screen.width < NARROW
    rows = [
        {
            "claim": claim["id"],
            "statement": _statement(claim),
            "paper": str(claim["expected"]),
            "measured": _measured(claim),
            "ratio": ", ".join("–" if ratio is None else number(ratio) for ratio in claim["ratios"].values()),
            "verdict": _sign(claim["verdict"]) if narrow else _verdict(claim["verdict"]),
            **{
                name: _measured(one)
                .append(" ")
                .append_text(_sign(one["verdict"]))
                .append(f" ({one['mark']})" if one["mark"] else "")
                for name, one in claim.get("profiles", {}).items()
            },
        }
        for claim in done.claims
    ]
    if not any(claim["ratios"] for claim in done.claims):
        columns = [column for column in columns if column[0] != "ratio"]
    if narrow:
        columns[-1] = ("verdict", "")
    columns += [(name, name) for name in done.profiles]
    first = ("claim", "verdict", "measured", *done.profiles, "paper", "statement", "ratio")
    print_table(done.title, columns, rows, first=first)
    counts = done.counts()
    lines = [
        Text("  ").join(
            _verdict(verdict).append(f" {counts[key]}")
            for verdict, key in zip(STYLES, ("reproduced", "partly", "not", "untestable"), strict=True)
            if counts[key]
        )
    ]
    lines += [Text(line, style="dim") for line in done.as_dict()["summary"]]
    for name, what in done.profiles.items():
        each = ", ".join(
            f"{count} {verdict}" for verdict, count in done.profile_counts(name).items() if count
        )
        lines += [Text(f"{name}, apart from these totals: {each}"), Text(what, style="dim")]
    for line in lines:
        screen.print(line)


def _print_emulated_claims(done: Any) -> None:
    """Paper, simulation, emulation."""
    from rich.text import Text

    rows = [
        {
            "claim": claim["id"],
            "statement": _statement(claim),
            "paper": str(claim["expected"]),
            **{
                world: Text("–")
                if one is None
                else _measured(one).append(" ").append_text(_sign(one["verdict"]))
                for world, one in (("simulated", claim["simulated"]), ("emulated", claim))
            },
            "valid": f"{claim['valid_runs']} of {claim['all_runs']}",
        }
        for claim in done.claims
    ]
    columns = [
        ("claim", "claim"),
        ("statement", "statement"),
        ("paper", "paper"),
        ("simulated", "simulated"),
        ("emulated", "emulated"),
        ("valid", "valid runs"),
    ]
    first = ("claim", "emulated", "simulated", "paper", "statement")
    print_table(f"{done.title}: simulated and emulated", columns, rows, first=first)


def _statement(claim: dict[str, Any]) -> Text:
    """The statement of a claim, what its verdict is evidence of, whether phases decide it, and the reason of the verdict."""
    from rich.text import Text

    from ..report.claims import phases_text

    statement = Text(claim["statement"])
    if (evidence := claim.get("evidence", "independent")) != "independent":
        statement.append(f" ({evidence})", style="dim")
    if "standing" in claim:
        statement.append(f"\n{phases_text(claim)}", style="yellow")
    if claim.get("not_specific"):
        statement.append(" (not specific)", style="dim")
    if claim.get("reason"):
        statement.append(f"\n{claim['reason']}", style="dim")
    return statement


def _sign(verdict: str) -> Text:
    """The sign of a verdict."""
    from rich.text import Text

    sign, style = STYLES.get(verdict, ("–", "dim"))
    return Text(sign, style=style)


def _measured(claim: dict[str, Any]) -> Text:
    from rich.text import Text

    from ..report.claims import check_texts

    texts = check_texts(claim)
    return Text("\n".join([*texts, *(["one run"] if texts and claim.get("one_run") else [])]) or "–")


def _verdict(verdict: str) -> Text:
    from rich.text import Text

    sign, style = STYLES.get(verdict, ("–", "dim"))
    return Text(f"{sign} {verdict}", style=style)
