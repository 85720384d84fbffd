"""`thalweg break`: the network in which a scheme fails, as a scenario of a few lines."""

from __future__ import annotations

import math
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from .._lock import locked
from .options import SchemeFiles, load_scheme_files
from .output import (
    CommandError,
    check_minimum,
    check_seed,
    console,
    nearest,
    number,
    print_error,
    print_table,
    quoted,
    show_json,
)
from .progress import Meter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..breaking import Best, Elite, Finding, Property, Search, Space
    from ..breaking.shrink import Shrunk

OUT = Path("out") / "break"
"""The folder of all searches, in the working directory."""

MINUTES = 5.0
"""Default time of a command."""

SEARCHING = 0.6
"""Share of the time of a property for the search; the rest is for making the network small."""

NONE = "none"
"""Word of `--against` for networks without other traffic."""


def break_(
    scheme: str | None = None,
    /,
    *,
    property_: Annotated[tuple[str, ...], Parameter(name="--property", show_default=False)] = (),
    against: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    without: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    minutes: float | None = None,
    trials: int | None = None,
    seed: int = 1,
    method: Literal["cma", "qd", "random"] = "cma",
    emulate: bool = False,
    jobs: int | None = None,
    out: Path | None = None,
    scheme_file: SchemeFiles = (),
    json: bool = False,
) -> int:
    """Search for networks in which a scheme fails, and write the shortest scenario of each failure.

    Without a scheme, list the properties and the parameters of networks with their ranges.

    Parameters
    ----------
    scheme
        Name of the scheme.
    property_
        Search for this failure: starve, unfair, delay, loss, policed, collapse, stall, oscillate or panic; several with
        commas, or repeated. By default all.
    against
        Use this scheme for the flows beside it; several with commas, or repeated. By default cubic, reno and bbr, or nothing
        beside it; `none`: never anything beside it.
    without
        Search networks without this parameter, such as `loss`; several with commas, or repeated.
    minutes
        Search and shrink so long, for all properties together; 5 by default. Runs that have begun are finished first. The
        same command continues.
    trials
        Try at most this number of networks for each property instead. The result then depends on the seed alone.
    seed
        Use this seed of the search.
    method
        Search with CMA-ES (`cma`); search the worst network of each cell of a map of delays and buffers (`qd`,
        quality-diversity); or try random networks only (`random`).
    emulate
        Run each short scenario in real time as well, with TCP of the kernel or live endpoints. Needs root.
    jobs
        Run this number of simulations at a time; one per core by default. The result does not depend on it.
    out
        Write to this folder; by default `out/break/SCHEME`. It keeps what was tried, so that the same command continues.
    scheme_file
        Import this Python file and add its schemes to the catalogue; may be repeated. It runs with your rights.
    json
        Print one JSON object.
    """
    from ..breaking import BOUNDS, PROPERTIES
    from ..errors import Interrupted

    if scheme is None:
        _list(json=json)
        return 0
    began = time.monotonic()
    check_seed(seed)
    load_scheme_files(scheme_file)
    check_minimum("--trials", trials)
    check_minimum("--jobs", jobs)
    if minutes is not None and not minutes > 0:
        raise CommandError(f"--minutes {minutes:g}: above 0")
    wanted = _known("--property", "property", _words(property_) or list(PROPERTIES), list(PROPERTIES))
    left_out = _known("--without", "parameter", _words(without), [bound.name for bound in BOUNDS])
    if needed := sorted({"delay", "buffer"} & set(left_out)):
        raise CommandError(f"--without {needed[0]}: every network has it")
    folder = out or OUT / scheme
    spaces = {name: _space(scheme, _words(against), left_out, PROPERTIES[name]) for name in wanted}
    for name, space in list(spaces.items()):
        if space.family not in PROPERTIES[name].families:
            if property_:
                raise CommandError(f"--property {name}: `{scheme}` is no scheme of named data")
            del spaces[name]
    until = math.inf if minutes is None and trials is not None else began + 60 * (minutes or MINUTES)
    if method == "qd":
        _need_ribs()
    found: list[Finding] = []
    best: dict[str, Best] = {}
    maps: dict[str, list[Elite]] = {}
    unfinished: list[str] = []
    try:
        with locked(folder):
            for place, name in enumerate(spaces):
                left = until - time.monotonic()
                if best and left <= 0:
                    break
                search = _search(
                    spaces[name], PROPERTIES[name], seed, method, jobs or os.cpu_count() or 1, folder
                )
                seconds = None if left == math.inf else left / (len(spaces) - place)
                best[name], finding, finished = _find(search, trials, seconds, emulate=emulate, json=json)
                if not finished:
                    unfinished.append(name)
                if method == "qd":
                    maps[name] = sorted(search.elites.values(), key=lambda elite: elite.cell)
                if finding is not None:
                    finding.save(folder)
                    found.append(finding)
    except Interrupted:
        return print_error(
            "interrupted; what was tried is kept, and the same command continues", json=json, code=130
        )
    skipped = [name for name in spaces if name not in best]
    if json:
        show_json(
            {
                "scheme": scheme,
                "seed": seed,
                "folder": str(folder),
                "findings": [
                    {
                        **finding.as_json(),
                        "shrunk": finding.wanted.name not in unfinished,
                        "file": str(folder / f"{finding.wanted.name}.toml"),
                    }
                    for finding in found
                ],
                "skipped": skipped,
                "searches": [
                    {
                        "property": name,
                        "trials": row.trials,
                        "found_after": row.found_after,
                        "margin": row.margin,
                        **({"map": [asdict(elite) for elite in maps[name]]} if name in maps else {}),
                    }
                    for name, row in best.items()
                ],
            }
        )
    else:
        _print(scheme, best, found, folder)
        _print_rest(skipped, unfinished)
        for name, elites in maps.items():
            _print_map(name, elites)
    return 0


def _need_ribs() -> None:
    """Refuses a quality-diversity search without its library."""
    from importlib.util import find_spec

    if find_spec("ribs") is None:
        raise CommandError(
            "--method qd: the package `ribs` is not installed", "`pip install thalweg[diversity]` installs it"
        )


def _words(given: Sequence[str]) -> list[str]:
    """The words of a repeated option, each of which can be several with commas."""
    return list(dict.fromkeys(word for words in given for word in words.split(",") if word))


def _known(option: str, kind: str, words: list[str], known: list[str]) -> list[str]:
    """The words; refuses unknown ones."""
    for word in words:
        if word not in known:
            raise CommandError(f"{option} {word}: there is no such {kind}", nearest(word, known))
    return words


def _space(scheme: str, against: list[str], without: list[str], wanted: Property) -> Space:
    """The networks to search; refuses unknown schemes."""
    from ..breaking import Space
    from ..breaking.bounds import DISTURBANCES
    from ..catalogue import schemes

    known = [row["name"] for row in schemes()]
    over_ip = [row["name"] for row in schemes() if "ip" in row["families"]]
    if scheme not in known:
        raise CommandError(f"no scheme is called `{scheme}`", nearest(scheme, known))
    left_out = wanted.without | set(without)
    if against == [NONE]:
        against, left_out = [], left_out | DISTURBANCES
    for rival in against:
        if rival not in over_ip:
            raise CommandError(f"--against {rival}: no scheme over IP has this name", nearest(rival, over_ip))
    try:
        return Space.of(scheme, against if "rivals" not in left_out else [], left_out, wanted.always)
    except ValueError as error:
        raise CommandError(f"`{scheme}` cannot be searched: {error}") from error


def _search(space: Space, wanted: Property, seed: int, method: str, jobs: int, folder: Path) -> Search:
    """The search of one property, with the log of its earlier attempts."""
    from .. import __version__
    from ..breaking import Evaluator, Search
    from ..breaking.evaluation import Log
    from ..jobs import core_digest

    header = {
        "scheme": space.scheme,
        "property": wanted.name,
        "version": __version__,
        "core": core_digest()[:16],
    }
    log = Log(folder / f"{wanted.name}.jsonl", header)
    return Search(Evaluator(space, wanted, jobs, log), seed, method)


def _find(
    search: Search, trials: int | None, seconds: float | None, *, emulate: bool, json: bool
) -> tuple[Best, Finding | None, bool]:
    """Searches, and makes what was found small; false if there was no time for all of the latter."""
    from ..breaking import Finding, shrink

    evaluator, began = search.evaluator, time.monotonic()
    wanted = evaluator.wanted
    searching = None if seconds is None else SEARCHING * seconds
    with Meter(wanted.name, quiet=json) as meter:

        def show(best: Best) -> None:
            spent = (
                (best.trials, trials) if trials is not None else (time.monotonic() - began, searching or 1.0)
            )
            meter.show(spent[0], spent[1], f"{best.trials} networks, {_so_far(best)}")

        def show_smaller(shrunk: Shrunk) -> None:
            meter.show(1, 1, f"shrinking, {len(shrunk.network)} parameters", estimate=False)

        best = search.run(trials=trials, seconds=searching, progress=show)
        if best.network is None or best.margin <= 0:
            return best, None, True
        left = None if seconds is None else began + seconds - time.monotonic()
        small = shrink(evaluator, best.network, progress=show_smaller, seconds=left)
        if small is None:
            return best, None, True
        finding = Finding.of(evaluator, small)
        if emulate:
            meter.show(1, 1, f"emulating, {small.duration_s:g} s", estimate=False)
            finding = finding.in_emulation()
    return best, finding, small.finished


def _so_far(best: Best) -> str:
    """The best so far, in words."""
    if best.margin <= 0:
        return f"{100 * math.exp(best.margin):.0f} % of the way to a failure"
    return f"fails by a factor of {math.exp(best.margin):.2f}"


def _print(scheme: str, best: dict[str, Best], found: list[Finding], folder: Path) -> None:
    by_name = {finding.wanted.name: finding for finding in found}
    rows = []
    for name, row in best.items():
        finding = by_name.get(name)
        rows.append(
            {
                "property": name,
                "outcome": "fails" if finding else "no network found",
                "trials": row.trials,
                "after": row.found_after if finding else None,
                "measured": None
                if finding is None
                else f"{number(finding.worst)} {finding.wanted.unit}".strip(),
                "condition": _property(name).condition,
                "lines": None if finding is None else finding.lines,
            }
        )
    columns = [
        ("property", "property"),
        ("outcome", "outcome"),
        ("measured", "measured"),
        ("condition", "fails"),
        ("trials", "networks tried"),
        ("after", "found after"),
        ("lines", "lines"),
    ]
    print_table(f"{scheme}: what breaks it", columns, rows, first=("property", "outcome", "measured"))
    screen = console()
    for finding in found:
        file = folder / f"{finding.wanted.name}.toml"
        screen.print(f"{finding.sentence}", markup=False)
        if finding.emulated is not None:
            screen.print(finding.emulated.words(finding.wanted.unit), markup=False)
        screen.print(f"    thalweg run {quoted(file)}", markup=False, soft_wrap=True)
    screen.print(f"Scenarios, figures and what was tried: {folder}", soft_wrap=True, markup=False)


def _print_rest(skipped: list[str], unfinished: list[str]) -> None:
    """Says for what there was no time."""
    screen = console()
    if skipped:
        screen.print(f"Not searched, the time was over: {', '.join(skipped)}", markup=False)
    if unfinished:
        screen.print(f"Not made as small as possible in the time: {', '.join(unfinished)}", markup=False)
    if skipped or unfinished:
        screen.print("The same command continues; --minutes gives it more time.", markup=False)


def _print_map(name: str, elites: list[Elite]) -> None:
    """Prints the worst margin of each cell as the factor by which the threshold is missed; below 1 nothing fails."""
    from ..breaking.search import AXES, CELLS, edges

    down, across = (edges(axis) for axis in AXES)
    known = {elite.cell: math.exp(elite.margin) for elite in elites}
    rows: list[dict[str, Any]] = [
        {"delay": f"{down[row]:.3g} … {down[row + 1]:.3g}"}
        | {str(column): known.get((row, column)) for column in range(CELLS)}
        for row in range(CELLS)
    ]
    heads = [(str(column), f"{across[column]:.2g} … {across[column + 1]:.2g} BDP") for column in range(CELLS)]
    failing = sum(factor > 1 for factor in known.values())
    print_table(
        f"{name}: factor by which the worst network of each cell misses the threshold; it fails in {failing} of "
        f"{CELLS**2} cells",
        [("delay", "delay (ms), buffer:"), *heads],
        rows,
        first=("delay",),
    )


def _property(name: str) -> Property:
    from ..breaking import PROPERTIES

    return PROPERTIES[name]


def _list(*, json: bool) -> None:
    """Prints the properties and the bounds."""
    from ..breaking import BOUNDS, PROPERTIES

    properties: list[dict[str, Any]] = [
        {"name": row.name, "fails": row.condition, "definition": row.definition, "source": row.source}
        for row in PROPERTIES.values()
    ]
    bounds: list[dict[str, Any]] = [
        {
            "name": row.name,
            "range": row.range_text,
            "unit": row.unit,
            "meaning": row.meaning,
            "reason": row.reason,
        }
        for row in BOUNDS
    ]
    if json:
        show_json({"properties": properties, "bounds": bounds})
        return
    print_table(
        "Properties",
        [("name", "property"), ("fails", "a scheme fails"), ("definition", "definition")],
        properties,
        first=("name", "fails", "definition"),
    )
    print_table(
        "Networks that are searched",
        [("name", "parameter"), ("range", "range"), ("unit", "unit"), ("meaning", "meaning")],
        bounds,
        first=("name", "range", "unit", "meaning"),
    )
