"""`thalweg emulate`: a scenario in real time, with the kernel's TCP and any command at its ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..errors import EmulationError, Interrupted
from .answers import answer_of_run
from .folders import name_of, place_of, settle
from .out import Refusal, check_seed, console, print_table, show_json
from .progress import Meter
from .run import changed, check_links, print_result

if TYPE_CHECKING:
    from ..result import Result
    from ..scenario import Plan

NOT_VALID = 3
"""Exit code of an emulation that the machine could not keep up with."""

ROWS = {
    "departures": "packets to programs left late by",
    "pickups": "packets from programs waited at most",
    "endpoints": "live endpoints were late by",
    "events": "the loop was late by",
}


def emulate(
    scenario: Path | None = None,
    /,
    *,
    seed: int | None = None,
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    out: Path | None = None,
    pcap: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    urgent: bool = False,
    spin_us: int = 50,
    grain_us: int = 0,
    clean: bool = False,
    json: bool = False,
) -> int:
    """Run a scenario in real time. Flows with `kernel`, `live` or `commands` end in network namespaces; needs root.

    Ends with 3 when the machine could not keep up: what was measured is not to be believed then.

    Parameters
    ----------
    scenario
        The file.
    seed
        Takes the place of the scenario's.
    changes
        A dotted key and its value, such as `--set topology.bottleneck.buffer="1 bdp"`; may be repeated.
    out
        Folder of the results; `out/SCENARIO/emulated` when not given, with the keys of `--set` and the seed in its name.
    pcap
        A link, what passes which is written to `capture.pcapng`; may be repeated.
    urgent
        Prefer the network to all ordinary processes of the machine.
    spin_us
        The loop does not sleep when something is due within so many microseconds.
    grain_us
        The loop looks at most once in so many microseconds: less processor time, more lateness.
    clean
        Only remove what emulations that were killed have left.
    json
        Print one JSON object.
    """
    from ..scenario import load

    if clean:
        return _clean(json=json)
    if scenario is None:
        raise Refusal("which scenario?", "thalweg emulate FILE")
    check_seed(seed)
    if not 0 <= spin_us <= 1_000_000:
        raise Refusal(f"--spin-us {spin_us}: from 0 to 1000000")
    if not 0 <= grain_us <= 1_000_000:
        raise Refusal(f"--grain-us {grain_us}: from 0 to 1000000")
    loaded = changed(load(scenario), changes)
    plan = loaded.plan(seed)
    check_links(plan, pcap)
    words = ["emulated"] if seed is None else ["emulated", f"seed={seed}"]
    place = place_of(
        plan, Path("out") / scenario.stem / name_of(loaded.overrides, *words), out, emulated=True
    )
    result, interrupted = _run(
        plan, place.work, pcap, urgent=urgent, spin_us=spin_us, grain_us=grain_us, quiet=json
    )
    folder, note = settle(place, result)
    if json:
        show_json(answer_of_run(result, folder))
    else:
        print_result(result, folder, note)
        _print_accuracy(result.record["emulation"], folder, urgent=urgent)
    if interrupted:
        return 130
    if not result.valid:
        return NOT_VALID
    return 0 if result.passed else 1


def _clean(*, json: bool) -> int:
    from .. import _native

    removed = _native.clean_emulations()
    if json:
        show_json({"removed": removed})
    else:
        console().print(f"removed: {', '.join(removed)}" if removed else "nothing was left")
    return 0


def _run(
    plan: Plan, folder: Path, pcap: tuple[str, ...], *, urgent: bool, spin_us: int, grain_us: int, quiet: bool
) -> tuple[Result, bool]:
    with Meter(plan.title or "emulation", quiet=quiet) as meter:
        try:
            result = plan.emulate(
                progress=lambda at: meter.show(
                    at.now_s, at.duration_s, f"{at.now_s:.0f} of {at.duration_s:g} s"
                ),
                out=folder,
                urgent=urgent,
                spin_us=spin_us,
                grain_us=grain_us,
                capture=pcap,
            )
        except Interrupted as stop:
            return stop.result, True
        except EmulationError as error:
            raise Refusal(str(error), error.hint, code=1) from error
    return result, False


def _print_accuracy(said: dict[str, Any], folder: Path, *, urgent: bool) -> None:
    screen = console()
    shares = {"p50_s": "half (ms)", "p99_s": "99 % (ms)", "p999_s": "99.9 % (ms)", "max_s": "all (ms)"}
    rows = [
        {"what": words, **{share: said[name][share] * 1e3 for share in shares}}
        for name, words in ROWS.items()
        if name in said
    ]
    print_table("Accuracy", [("what", ""), *shares.items()], rows)
    busy = 100 * said["cpu_loop_s"] / said["wall_s"] if said["wall_s"] else 0.0
    screen.print(
        f"{said['packets_in']:,} packets from programs, {said['packets_out']:,} to programs: "
        f"{said['packets_per_s']:,.0f} a second; the loop used {busy:.0f} % of a core"
        + f"; {said['strays']} belonged to no flow"
        * bool(said["strays"])
    )
    for note in dict.fromkeys(said["notes"]):
        screen.print(f"note: {note}", style="yellow", markup=False)
    if any("ended with code" in note for note in said["notes"]):
        screen.print(f"hint: what commands said is in {folder / 'commands'}", style="dim", markup=False)
    if said["valid"]:
        screen.print("valid: the machine kept up", style="green")
        return
    for fault in said["faults"]:
        screen.print(f"not valid: {fault}", style="red")
    hint = "" if urgent else "; `--urgent` prefers it to other work of the machine"
    screen.print(f"hint: a slower or smaller network, or an idle machine{hint}", style="dim")
