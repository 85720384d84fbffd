"""`thalweg run`: a scenario, or every cell of its sweep."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .._run_folder import with_overrides
from ..result import FAIRNESS, has_stacks
from ..runs.execution import create_sweep, results_folder, run_location, run_sweep, simulate, sweep_location
from . import studio
from .json_output import run_as_json, sweep_as_json, violated_invariants
from .options import SchemeFiles, load_scheme_files
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
from .progress import Meter, format_progress, format_speed
from .scenario_warnings import print_empty_series, print_lost_connections, print_warnings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..result import Progress, Result
    from ..scenario import Plan, Scenario
    from ..sweep import SweepResult

MAX_LINKS = 12
MAX_FLOWS = 20
"""Flows that are printed one by one; of more, only their groups."""
MAX_NODES = 12
MAX_VIOLATIONS = 10
MAX_FAILURES = 12
IDLE = 0.05
"""Utilisation below which a link without drops is only counted."""

SIGNIFICANT_DIGITS = 4
"""Significant digits of a number that is compared with a bound."""


def run(
    scenario: Path,
    /,
    *,
    seed: int | None = None,
    runs: int = 1,
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    no_sweep: bool = False,
    jobs: int | None = None,
    on: str | None = None,
    out: Path | None = None,
    scheme_file: SchemeFiles = (),
    pcap: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    qlog: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    export_drill: str | None = None,
    live: bool = False,
    full: bool = False,
    json: bool = False,
) -> int:
    """Run a scenario, or every cell of its `[sweep]`; print tables and the folder of the results.

    Parameters
    ----------
    scenario
        Path of the scenario file.
    seed
        Use this seed instead of the scenario's.
    runs
        Run with this number of seeds: the first and those that follow it.
    changes
        Set a dotted key, such as `--set topology.bottleneck.buffer="1 bdp"`; may be repeated.
    no_sweep
        Ignore the scenario's `[sweep]`.
    jobs
        Run this number of simulations at a time; one per core by default.
    on
        Run a sweep on the workers of a Dask cluster: the address of its scheduler (`tcp://HOST:8786`), `local:4` for four
        processes, or `slurm:20` for 20 jobs of a batch system (also pbs, sge, lsf, oar, htcondor, moab).
    out
        Write the results to this folder: a new one, or the folder of an earlier run of the same plan. By default each plan
        has its own: `out/SCENARIO/seed=1`, with `--set` also the keys, such as `out/SCENARIO/bottleneck.buffer=1bdp,seed=1`.
    scheme_file
        Import this Python file and add its schemes to the catalogue; may be repeated. It runs with your rights.
    pcap
        Write packets on this link to `capture.pcapng`, with headers that Wireshark reads; may be repeated.
    qlog
        Log the congestion controller of this flow in `FLOW.sqlog`, which qvis reads; may be repeated.
    export_drill
        Write what arrives at the sender of this flow, and what leaves, as the script `FLOW.pkt` for packetdrill on a real
        kernel.
    live
        Show the run in the browser: its charts while it runs, then its page. It stays until it is closed, or Ctrl-C.
    full
        Print all columns and all rows: every flow, links that are nearly idle, all percentiles.
    json
        Print one JSON object.
    """
    from ..scenario import load

    check_seed(seed)
    check_minimum("--runs", runs)
    check_minimum("--jobs", jobs)
    check_on(on, jobs)
    load_scheme_files(scheme_file)
    loaded = apply_overrides(load(scenario), changes)
    sweep = "sweep" in loaded.tree and not no_sweep
    if sweep or runs > 1:
        if pcap or qlog or export_drill or live:
            option = "pcap" if pcap else "qlog" if qlog else "export-drill" if export_drill else "live"
            raise CommandError(f"--{option} is for one run", "leave --runs out, and add --no-sweep")
        return _run_sweep(
            loaded,
            sweep,
            seed,
            runs,
            jobs or os.cpu_count() or 1,
            on,
            results_folder(scenario),
            out,
            full=full,
            json=json,
        )
    if on is not None:
        raise CommandError("--on is for many runs", "add --runs N, or a `[sweep]` to the scenario")
    if live and export_drill:
        raise CommandError("--export-drill is for a run that is not shown live", "leave out --live")
    return _run_once(loaded, seed, scenario, out, pcap, qlog, export_drill, live=live, full=full, json=json)


def apply_overrides(scenario: Scenario, changes: tuple[str, ...]) -> Scenario:
    """A scenario with the keys of `--set` set."""
    overrides = parse_overrides(changes, 'topology.bottleneck.buffer="1 bdp"')
    if not overrides:
        return scenario
    try:
        return scenario.with_(overrides)
    except (KeyError, TypeError) as error:
        raise CommandError(f"--set {error.args[0]}") from error


def check_on(on: str | None, jobs: int | None) -> None:
    """Refuses a cluster that cannot be, before anything is run."""
    if on is None:
        return
    if jobs is not None:
        raise CommandError("--jobs is for this computer, and --on for a cluster", "leave out one of them")
    from ..cluster import check

    check(on)


def check_pcap_links(plan: Plan, names: tuple[str, ...]) -> None:
    """Refuses unknown links."""
    if not names:
        return
    known = [link["name"] for link in plan.layout["links"]]
    for name in names:
        if name not in known:
            raise CommandError(f"--pcap {name}: there is no such link", nearest(name, known))


def check_qlog_flows(plan: Plan, names: tuple[str, ...], *, emulated: bool = False) -> None:
    """Refuses unknown flows, and those without a congestion controller of this library."""
    known = plan.controlled(emulated=emulated)
    for name in names:
        if name not in known:
            raise CommandError(f"--qlog {name}: no flow of that name has a scheme here", nearest(name, known))


def check_drilled_flow(plan: Plan, name: str | None) -> None:
    """Refuses an unknown flow, and one of which no script for packetdrill can be written."""
    known = plan.drillable()
    if name is not None and name not in known:
        hint = nearest(name, known) if known else "no flow of this scenario is over TCP with one receiver"
        raise CommandError(f"--export-drill {name}: no flow of that name is over TCP with one receiver", hint)


def _run_once(
    scenario: Scenario,
    seed: int | None,
    file: Path,
    out: Path | None,
    pcap: tuple[str, ...],
    qlog: tuple[str, ...],
    drill: str | None,
    *,
    live: bool,
    full: bool,
    json: bool,
) -> int:
    plan = scenario.plan(seed)
    check_pcap_links(plan, pcap)
    check_qlog_flows(plan, qlog)
    check_drilled_flow(plan, drill)
    warnings = print_warnings(scenario, json=json)
    location = run_location(plan, results_folder(file), out)
    with ExitStack() as opened:
        watched = opened.enter_context(studio.watched(plan, location, str(file))) if live else None
        with Meter(plan.title or "run", quiet=json) as meter:

            def show(at: Progress) -> None:
                meter.show(at.now_s, at.duration_s, format_progress(at.now_s, at.duration_s, at.wall_s))

            if watched is None:
                done = simulate(plan, location, progress=show, pcap=pcap, qlog=qlog, drill=drill)
            else:
                done = watched.simulate(show, pcap=pcap, qlog=qlog)
        warnings += print_empty_series([done.result], str(file), json=json)
        warnings += print_lost_connections([done.result], str(file), json=json)
        if json:
            show_json({**run_as_json(done.result, done.folder), "warnings": warnings})
        else:
            print_result(done.result, done.folder, done.note, full=full)
            if drill is not None:
                _print_script(done.result, done.folder / f"{drill}.pkt")
    if done.interrupted:
        return 130
    if drill is not None and "error" in done.result.record["drill"]:
        return 1
    return 0 if done.result.passed and not done.result.violated_invariants else 1


def _print_script(result: Result, file: Path) -> None:
    """Prints where the script of a flow is, or why it has no script."""
    script = result.record["drill"]
    if "error" in script:
        text, style = f"No script: {script['error']}", "bold red"
    else:
        which = "the first " if script["shortened"] else ""
        text, style = (
            f"Script of {which}{script['packets']:,} packets: {file}; thalweg drill {quoted(file)} runs it",
            "",
        )
    console().print(text, style=style or None, soft_wrap=True, markup=False)


def print_result(result: Result, folder: Path, note: str = "", *, full: bool = False) -> None:
    """Prints the main tables, and where the rest is. Unless `full`, without columns and rows that say little."""
    from ..report.columns import first_of, table_rows

    screen = console()
    wrong = result.violated_invariants
    _print_flows(result, full=full)
    if not result.apps.is_empty():
        columns, rows = table_rows(result.apps, "apps", full=full)
        limit = None if full else MAX_FLOWS
        print_table(
            "Applications",
            columns,
            rows,
            limit=limit,
            first=first_of("apps"),
            all_in="apps.parquet has all",
            whole=full,
        )
    _print_links(result, full=full)
    if not result.nodes.is_empty():
        columns, rows = table_rows(result.nodes, "nodes", full=full)
        limit = None if full else MAX_NODES
        print_table(
            "Nodes",
            columns,
            rows,
            limit=limit,
            first=first_of("nodes"),
            all_in="nodes.parquet has all",
            whole=full,
        )
    _print_expectations(result)
    print_violations(wrong)
    record = result.record
    simulated = "emulation" not in record
    speed = (
        f", {format_speed(record['ended_s'], record['wall_s'])}" if record["wall_s"] > 0 and simulated else ""
    )
    screen.print(
        f"{number(record['ended_s'])} s {'simulated' if simulated else 'emulated'} in {record['wall_s']:.2f} s{speed}; "
        f"{result.packet_hops:,} packet-hops; seed {result.seed}; trace {result.trace_hash}"
    )
    if not result.complete:
        screen.print(
            f"interrupted at {number(record['ended_s'])} s: the results until then are kept", style="yellow"
        )
    print_folder(folder, note)


def _print_flows(result: Result, *, full: bool) -> None:
    """Groups and flows: of many flows the groups only, of few flows the groups that have several."""
    import polars

    from ..report.columns import first_of, flows_shown, table_rows

    flows, groups = result.flows, result.groups
    grouped = groups.height < flows.height
    many = flows.height > MAX_FLOWS and grouped and not full
    if grouped:
        shown = groups if full or many else groups.filter(polars.col("count") > 1)
        columns, rows = table_rows(shown, "summary", full=full)
        print_table(
            f"{result.heading}: groups of flows",
            columns,
            rows,
            limit=None if full else MAX_FLOWS,
            first=first_of("summary"),
            all_in="summary.parquet has all",
            whole=full,
        )
    if many:
        count = f"{flows.height:,}".replace(",", "\u202f")
        console().print(f"{count} flows: flows.parquet has each, `--full` prints all", style="dim")
        return
    columns, rows = table_rows(flows_shown(result), "flows", full=full)
    print_table(
        f"{result.heading}: flows",
        columns,
        rows,
        limit=None if full else MAX_FLOWS,
        first=first_of("flows"),
        all_in="flows.parquet has all",
        whole=full,
    )


def _print_links(result: Result, *, full: bool) -> None:
    """Links by utilisation; unless `full`, those that are nearly idle and drop nothing are only counted."""
    import polars

    from ..report.columns import drops_text, first_of, table_rows

    used = result.links.filter(polars.col("sent_packets") > 0)
    used = used.sort("utilisation", descending=True, nulls_last=True)
    busy = used.filter((polars.col("utilisation") >= IDLE) | (polars.col("drops") > 0))
    shown = used if full or busy.is_empty() else busy
    columns, rows = table_rows(shown, "links", full=full)
    limit = None if full else MAX_LINKS
    print_table(
        "Links, by utilisation",
        columns,
        rows,
        limit=limit,
        first=first_of("links"),
        all_in="links.parquet has all",
        whole=full,
    )
    if idle := used.height - shown.height:
        links = "1 direction of a link is" if idle == 1 else f"{idle} directions of links are"
        console().print(
            f"{links} used below {100 * IDLE:g} % without drops: `--full` prints all", style="dim"
        )
    reasons = drops_text(result)
    # that queues were full is what the drops of the links say
    only_full_queues = reasons.endswith("queue full") and "," not in reasons
    if full or (reasons and not only_full_queues):
        console().print(f"Dropped packets by reason: {reasons or 'none'}")


def print_folder(folder: Path, note: str) -> None:
    """Prints the folder of the results, the command for a page of them, and the reason for an unexpected folder."""
    screen = console()
    screen.print(f"Results: {folder}" + (f" ({note})" if note else ""), soft_wrap=True, markup=False)
    screen.print(f"Page of them: thalweg report {quoted(folder)}", soft_wrap=True, markup=False)


def print_violations(sentences: Sequence[str]) -> None:
    """Says on standard error which numbers cannot be right."""
    screen = console(error=True)
    for sentence in sentences[:MAX_VIOLATIONS]:
        screen.print(
            f"WRONG NUMBER, an invariant is violated: {sentence}",
            style="bold red",
            soft_wrap=True,
            markup=False,
        )
    if len(sentences) > MAX_VIOLATIONS:
        screen.print(f"{len(sentences) - MAX_VIOLATIONS} more invariants are violated", style="bold red")


def _print_expectations(result: Result) -> None:
    from rich.text import Text

    from ..report.columns import expected_text

    if result.expect.is_empty():
        return
    rows = [
        {
            **row,
            "expected": expected_text(row["key"], row["expected"]),
            "measured": format_metric(row["key"], row["measured"]),
            "verdict": Text("✓ holds", style="green") if row["pass"] else Text("✗ fails", style="red"),
        }
        for row in result.expect.to_dicts()
    ]
    columns = [("key", "key"), ("expected", "expected"), ("measured", "measured"), ("verdict", "verdict")]
    print_table("Expectations", columns, rows)


def _run_sweep(
    scenario: Scenario,
    use_grid: bool,
    seed: int | None,
    runs: int,
    jobs: int,
    on: str | None,
    parent: Path,
    out: Path | None,
    *,
    full: bool,
    json: bool,
) -> int:
    warnings = print_warnings(scenario, json=json)
    sweep = create_sweep(scenario, use_grid=use_grid, seed=seed, runs=runs)
    location = sweep_location(sweep, scenario, parent, out)
    with Meter(scenario.title or "sweep", quiet=json) as meter:
        meter.show(0, len(sweep), f"0 of {len(sweep)} runs")
        ended = run_sweep(
            sweep,
            location,
            jobs=jobs,
            on=on,
            progress=lambda ready, total, what: meter.show(ready, total, f"{ready} of {total} runs, {what}"),
        )
    done = ended.result
    failed = [run for run in done.runs if not run.result.passed]
    if FAIRNESS in scenario.tree.get("record", {}).get("series", []):
        warnings += print_empty_series((run.result for run in done.runs), scenario.title, json=json)
    if has_stacks(scenario.tree):
        warnings += print_lost_connections((run.result for run in done.runs), scenario.title, json=json)
    if json:
        show_json({**sweep_as_json(done, ended.folder), "warnings": warnings})
    else:
        title = with_overrides(scenario.title, scenario.overrides) or "A sweep"
        _print_sweep(done, title, ended.folder, ended.note, len(failed), full=full)
    if ended.interrupted:
        return 130
    return 1 if failed or violated_invariants(done) else 0


def _print_sweep(done: SweepResult, title: str, folder: Path, note: str, failed: int, *, full: bool) -> None:
    from ..report import is_sweep

    screen = console()
    if done.runs:
        _print_points(done, title)
    print_violations(violated_invariants(done))
    _print_failures(done, full=full)
    for sentence in done.notes:
        screen.print(sentence, style="yellow", soft_wrap=True, markup=False)
    screen.print(
        f"{len(done.runs)} of {done.planned} runs"
        + (f", {failed} of them did not meet what the scenario expects" * bool(failed))
    )
    if not done.complete:
        screen.print("interrupted: the same command runs the missing ones", style="yellow")
    if is_sweep(folder):
        print_folder(folder, note)


def _print_points(done: SweepResult, title: str) -> None:
    from ..report.sweep_rows import has_intervals, heading, key_metrics, metric_text, points

    metrics = key_metrics(done.runs[0].result)
    rows = points(done.summary.to_dicts(), done.keys, metrics)
    shown = [metric for metric in metrics if any(metric in row for row in rows)]
    columns = [
        *((key, key.removeprefix("topology.")) for key in done.keys),
        *((metric, heading(metric)) for metric in shown),
        ("n", "seeds"),
    ]
    listed = [
        {**row, **{metric: metric_text(metric, row[metric], 3) for metric in shown if metric in row}}
        for row in rows
    ]
    what = "one run each"
    if has_intervals(rows):
        what = "mean and 95 % confidence interval"
    elif max(row["n"] for row in rows) > 1:
        what = "all seeds gave the same run" if all(point.distinct == 1 for point in done.points) else "mean"
    print_table(f"{title}: {what}", columns, listed, all_in="summary.parquet has all")


def _print_failures(done: SweepResult, *, full: bool) -> None:
    """The expectations that do not hold: at which point, which key, what was measured."""
    from ..report.sweep_rows import failed_cells, failure_columns

    if done.failures.is_empty():
        return
    rows = failed_cells(done.failures.to_dicts(), done.keys)
    first = ("key", "expected", "measured", *done.keys)
    print_table(
        "Expectations that do not hold",
        failure_columns(done.keys),
        rows,
        limit=None if full else MAX_FAILURES,
        first=first,
    )


def format_metric(key: str, value: float | None) -> str:
    """A value of the summary in the unit for output."""
    from ..report.columns import known, unit_of

    unit, factor = unit_of(key)
    return (
        "–" if value is None else f"{number(known(key, value * factor), SIGNIFICANT_DIGITS)} {unit}".rstrip()
    )
