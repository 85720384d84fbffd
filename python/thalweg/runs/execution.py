"""Runs, emulations, sweeps and reproductions with their folders: what the commands and the studio have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._lock import locked
from ..errors import EmulationError, Interrupted, ScenarioError
from .folders import finalize_run, folder_name, locate_run, locate_sweep
from .requests import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from ..jobs import JobProgress
    from ..papers import Study
    from ..result import Progress, Result
    from ..scenario import Plan, Scenario
    from ..sweep import ProgressCallback, Sweep, SweepResult
    from .folders import RunLocation, SweepLocation

OUT = Path("out")
"""The folder of all results, in the working directory."""


@dataclass(frozen=True)
class Finished:
    """A run or an emulation that has ended."""

    result: Result
    folder: Path
    note: str
    """The reason if the folder is not the one that the name suggests; empty otherwise."""
    interrupted: bool


@dataclass(frozen=True)
class FinishedSweep:
    """A sweep that has ended."""

    result: SweepResult
    folder: Path
    note: str
    """The folder of the results, as for a run."""
    interrupted: bool


def results_folder(scenario: Path, out: Path = OUT) -> Path:
    """The folder of all results of a scenario file."""
    return out / scenario.stem


def run_location(plan: Plan, parent: Path, given: Path | None = None) -> RunLocation:
    """The folder of a run: `given`, or one below `parent`. Refuses a given folder that holds something else."""
    return locate_run(plan, parent / folder_name(plan.scenario.overrides, f"seed={plan.seed}"), given)


def emulation_location(
    plan: Plan, parent: Path, given: Path | None = None, *, name_seed: bool
) -> RunLocation:
    """The folder of an emulation; its name has the seed if `name_seed`. Otherwise as for a run."""
    words = ["emulated", f"seed={plan.seed}"] if name_seed else ["emulated"]
    return locate_run(plan, parent / folder_name(plan.scenario.overrides, *words), given, emulated=True)


def simulate(
    plan: Plan,
    location: RunLocation,
    *,
    progress: Callable[[Progress], object],
    keep_s: float = 60.0,
    pcap: Sequence[str] = (),
    qlog: Sequence[str] = (),
    drill: str | None = None,
) -> Finished:
    """Runs a plan in its folder. `KeyboardInterrupt` in `progress` stops it, as Ctrl-C does; the results are kept."""
    interrupted = False
    with locked_beside(location):
        try:
            result = plan.run(
                progress=progress, out=location.work, keep_s=keep_s, capture=pcap, qlog=qlog, drill=drill
            )
        except Interrupted as stop:
            interrupted, result = True, stop.result
        folder, note = finalize_run(location, result)
    return Finished(result, folder, note, interrupted)


def emulate(
    plan: Plan, location: RunLocation, *, progress: Callable[[Progress], object], **settings: Any
) -> Finished:
    """Emulates a plan in its folder, with the other arguments of `Plan.emulate`; stops as `simulate` does."""
    interrupted = False
    with locked_beside(location):
        try:
            result = plan.emulate(progress=progress, out=location.work, **settings)
        except Interrupted as stop:
            interrupted, result = True, stop.result
        except EmulationError as error:
            raise CommandError(str(error), error.hint, code=1) from error
        folder, note = finalize_run(location, result)
    return Finished(result, folder, note, interrupted)


def locked_beside(location: RunLocation) -> AbstractContextManager[None]:
    """The lock of the folder of the earlier run, which is replaced at the end; the run locks the folder that it writes."""
    return locked(None if location.work == location.folder else location.folder)


def create_sweep(scenario: Scenario, *, use_grid: bool, seed: int | None, runs: int) -> Sweep:
    """The scenario's own sweep if `use_grid`, otherwise one point, with `runs` seeds from `seed` on."""
    from .._points import SEED

    lists_seeds = use_grid and SEED in scenario.tree.get("sweep", {})
    if lists_seeds and (seed is not None or runs > 1):
        raise CommandError(
            "[sweep] lists the seeds, so that --seed and --runs cannot name others",
            "leave out seed in [sweep], or --seed and --runs",
        )
    seeds = None if seed is None else range(seed, seed + runs)
    try:
        return scenario.sweep(None if use_grid else {}, runs=runs, seeds=seeds)
    except ScenarioError:
        raise
    except (ValueError, OverflowError) as error:
        raise CommandError(str(error) if lists_seeds else f"--runs {runs}: {error}") from error


def sweep_location(
    sweep: Sweep, scenario: Scenario, parent: Path, given: Path | None = None
) -> SweepLocation:
    """The folder of a sweep: `given`, or one below `parent`. Refuses a given folder that holds something else."""
    return locate_sweep(sweep, parent, given, scenario.overrides)


def run_sweep(
    sweep: Sweep,
    location: SweepLocation,
    *,
    jobs: int,
    progress: ProgressCallback | None = None,
    watch: Callable[[JobProgress], object] | None = None,
    on: str | None = None,
) -> FinishedSweep:
    """Runs a sweep in its folder, on a cluster if `on` names one.

    `KeyboardInterrupt` in `watch` stops it, as Ctrl-C does; finished runs are kept.
    """
    from ..report import is_sweep, sweep_plan_digests, write

    folder = location.folder
    interrupted = False
    try:
        done = sweep.run(jobs=jobs, progress=progress, watch=watch, out=location.runs, study=folder, on=on)
    except Interrupted as stop:
        interrupted, done = True, stop.result
    note = location.note
    if is_sweep(folder) and sweep_plan_digests(folder) != done.plan_digests:
        note = "interrupted: the folder still has the summary of the earlier sweep, which has more runs"
    elif location.has_page and is_sweep(folder):
        write(folder)
    return FinishedSweep(done, folder, note, interrupted)


def reproduce(
    study: Study, folder: Path, *, progress: Callable[[int, int, str], object], **settings: Any
) -> tuple[Any, Path]:
    """What a study gives, and its page, which is written together with the data.

    `settings` are the other arguments of `Study.reproduce`.
    """
    from ..report import save_reproduction, write

    with locked(folder):
        try:
            done = study.reproduce(**settings, out=folder / "measurements", progress=progress)
        except KeyError as error:
            raise CommandError(str(error.args[0])) from error
        except KeyboardInterrupt:
            raise CommandError(
                "interrupted", "the same command again runs only what is missing", code=130
            ) from None
        save_reproduction(done, folder)
        return done, write(folder)
