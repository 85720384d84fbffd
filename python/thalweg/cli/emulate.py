"""`thalweg emulate`: a scenario in real time, with the kernel's TCP and real programs at its ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..errors import EmulationError
from ..real import endpoint_hint, with_kernel
from ..runs.execution import emulate as emulate_plan
from ..runs.execution import emulation_location, results_folder
from .json_output import run_as_json
from .output import CommandError, check_seed, console, print_table, show_json
from .progress import Meter
from .run import apply_overrides, check_pcap_links, check_qlog_flows, print_result
from .scenario_warnings import print_empty_series, print_warnings

if TYPE_CHECKING:
    from ..scenario import Scenario

NOT_VALID = 3
"""Exit code of an emulation for which this host was too slow."""

LATENESS_LABELS = {
    "departures": "delivery of packets to programs",
    "pickups": "reading of packets from programs",
    "endpoints": "live endpoints",
    "events": "event loop",
}
"""Labels of lateness, by the names in `run.json`."""


def emulate(
    scenario: Path | None = None,
    /,
    *,
    seed: int | None = None,
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    kernel: bool = False,
    out: Path | None = None,
    pcap: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    qlog: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    urgent: bool = False,
    spin_us: int = 50,
    poll_interval_us: int = 0,
    grain_us: Annotated[int | None, Parameter(show=False)] = None,
    clean: bool = False,
    full: bool = False,
    json: bool = False,
) -> int:
    """Run a scenario in real time; flows with `kernel`, `live` or `commands` end in network namespaces. Needs root.

    Parameters
    ----------
    scenario
        Path of the scenario file.
    seed
        Use this seed instead of the scenario's.
    changes
        Set a dotted key, such as `--set topology.bottleneck.buffer="1 bdp"`; may be repeated.
    kernel
        Give each TCP flow with scheme `reno`, `cubic` or `bbr` the kernel's congestion control of that name.
    out
        Write the results to this folder; `out/SCENARIO/emulated` by default, with the keys of `--set` and the seed in its
        name.
    pcap
        Write packets on this link to `capture.pcapng`; may be repeated.
    qlog
        Log the congestion controller of this flow in `FLOW.sqlog`, which qvis reads; may be repeated. Flows of the kernel
        and of programs have none.
    urgent
        Run the emulation with real-time priority, ahead of all ordinary processes of this host.
    spin_us
        Poll instead of sleeping when the next event is due within this number of microseconds: more precise, more CPU time.
    poll_interval_us
        Poll at most once per this number of microseconds: less CPU time, less precise.
    grain_us
        Set `--poll-interval-us`, which is its new name.
    clean
        Remove namespaces and devices of killed emulations, and do nothing else.
    full
        Print all columns and all rows.
    json
        Print one JSON object; with `--kernel` it lists the flows that have the `kernel`'s TCP and those that stay
        `simulated`.
    """
    from ..scenario import load

    if clean:
        return _clean(json=json)
    if scenario is None:
        raise CommandError("the scenario file is missing", "thalweg emulate FILE")
    check_seed(seed)
    if not 0 <= spin_us <= 1_000_000:
        raise CommandError(f"--spin-us {spin_us}: from 0 to 1000000")
    if grain_us is not None:
        raise CommandError("--grain-us was renamed to --poll-interval-us", f"--poll-interval-us {grain_us}")
    if not 0 <= poll_interval_us <= 1_000_000:
        raise CommandError(f"--poll-interval-us {poll_interval_us}: from 0 to 1000000")
    loaded = apply_overrides(load(scenario), changes)
    real: dict[str, Any] = {}
    if kernel:
        loaded, real["kernel"], real["simulated"] = _with_kernel(loaded, quiet=json)
    plan = loaded.plan(seed)
    check_pcap_links(plan, pcap)
    check_qlog_flows(plan, qlog, emulated=True)
    if not plan.has_real_ends:
        raise CommandError(
            "no flow of this scenario has a real endpoint: nothing would be emulated", endpoint_hint(loaded)
        )
    warnings = print_warnings(loaded, json=json)
    location = emulation_location(plan, results_folder(scenario), out, name_seed=seed is not None)
    with Meter(plan.title or "emulation", quiet=json) as meter:
        done = emulate_plan(
            plan,
            location,
            progress=lambda at: meter.show(at.now_s, at.duration_s, f"{at.now_s:.0f} of {at.duration_s:g} s"),
            urgent=urgent,
            spin_us=spin_us,
            poll_interval_us=poll_interval_us,
            capture=pcap,
            qlog=qlog,
        )
    result, folder = done.result, done.folder
    warnings += print_empty_series([result], str(scenario), json=json)
    if json:
        show_json({**run_as_json(result, folder), **real, "warnings": warnings})
    else:
        print_result(result, folder, done.note, full=full)
        _print_accuracy(result.record["emulation"], folder, urgent=urgent)
    if done.interrupted:
        return 130
    if not result.valid:
        return NOT_VALID
    return 0 if result.passed and not result.violated_invariants else 1


def _with_kernel(scenario: Scenario, *, quiet: bool) -> tuple[Scenario, list[str], list[str]]:
    """The scenario with the kernel's TCP where possible; the flows that have it now, and those that stay simulated."""
    try:
        mapped_scenario, mapped, simulated = with_kernel(scenario)
    except EmulationError as error:
        raise CommandError(str(error), error.hint) from error
    if not quiet:
        screen = console(error=True)
        if mapped:
            screen.print(f"kernel TCP: {', '.join(mapped)}", markup=False)
        if simulated:
            screen.print(f"simulated: {', '.join(simulated)}", markup=False)
    return mapped_scenario, mapped, simulated


def _clean(*, json: bool) -> int:
    from .. import _native

    removed = _native.clean_emulations()
    if json:
        show_json({"removed": removed})
    else:
        console().print(f"removed: {', '.join(removed)}" if removed else "nothing to remove")
    return 0


def _print_accuracy(accuracy: dict[str, Any], folder: Path, *, urgent: bool) -> None:
    screen = console()
    shares = {"p50_s": "median (ms)", "p99_s": "p99 (ms)", "p999_s": "p99.9 (ms)", "max_s": "maximum (ms)"}
    rows = [
        {"what": words, **{share: accuracy[name][share] * 1e3 for share in shares}}
        for name, words in LATENESS_LABELS.items()
        if name in accuracy
    ]
    print_table("Lateness of the emulation", [("what", "what"), *shares.items()], rows)
    busy = 100 * accuracy["cpu_loop_s"] / accuracy["wall_s"] if accuracy["wall_s"] else 0.0
    screen.print(
        f"{accuracy['packets_in']:,} packets from programs, {accuracy['packets_out']:,} to programs, "
        f"{accuracy['packets_per_s']:,.0f} packets/s; the event loop used {busy:.0f} % of a core"
        + f"; {accuracy['strays']} packets belonged to no flow"
        * bool(accuracy["strays"])
    )
    for note in dict.fromkeys(accuracy["notes"]):
        screen.print(f"note: {note}", style="yellow", markup=False)
    if any("ended with code" in note for note in accuracy["notes"]):
        screen.print(
            f"hint: the output of the commands is in {folder / 'commands'}", style="dim", markup=False
        )
    if accuracy["valid"]:
        screen.print("valid: this host kept up", style="green")
        return
    for fault in accuracy["faults"]:
        screen.print(f"not valid: {fault}", style="red")
    hint = "" if urgent else ", or `--urgent` for real-time priority"
    screen.print(f"hint: use a slower or smaller network, an idle host{hint}", style="dim")
