"""Figure 3 with live endpoints: consumers and forwarders of the catalogue over sockets, beside the simulation.

Each host of the paper's dumbbell is a forwarder with a thread and a UDP socket of its own on the loopback device; links have
the paper's rates and delays; consumers have the coarse clock that they have in the simulation. What decides is the same code
in both; what differs is the clock, the sockets, and bytes instead of sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _plot
from .._base import Live
from . import extracts, measures, scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from .._base import Sample, Tree

TICKS_MS = (100, 500)
"""Clock intervals of the short run: one at which both consumers share, one at which neither hears of the other."""

RUN = scenarios.RUNS[0]
"""Phase and start of both, those that the figure shows."""

PAYLOAD = 1120
"""Payload of a Data packet in bytes, so that it is 1250 bytes on the wire with its stamp and the headers of UDP and IP."""

HOSTS = ("c1", "c2", "r1", "r2", "p1", "p2")
WIRES = (("c1", "r1"), ("c2", "r1"), ("r1", "r2"), ("r2", "p1"), ("r2", "p2"))


@dataclass(frozen=True)
class Pair:
    """A case simulated and live."""

    tick_ms: int
    simulated: Sample
    live: Sample
    late_p50_s: float
    """Half of what was due was handled no later than so long after its time, by the latest of the hosts."""
    late_p99_s: float


def pairs(ticks_ms: Sequence[int], *, on_start: Callable[[int], object] | None = None) -> list[Pair]:
    """Runs each clock interval in the simulator and live; the latter takes 10 s each."""
    found = []
    for tick_ms in ticks_ms:
        if on_start is not None:
            on_start(tick_ms)
        case = scenarios.Case(tick_ms=tick_ms, interval_ms=tick_ms)
        hosts = live(case)
        found.append(
            Pair(
                tick_ms,
                simulated(case),
                sample_of(hosts),
                max(host["late_p50_s"] for host in hosts.values()),
                max(host["late_p99_s"] for host in hosts.values()),
            )
        )
    return found


def simulated(case: scenarios.Case) -> Sample:
    """The case in the simulator."""
    from thalweg import Scenario

    result = Scenario.from_tree(scenarios.dumbbell(case, RUN, "MIRCC, simulated")).run()
    times, generated = extracts.per_second(result)
    return {"times_s": times, "generated": generated, "received": extracts.received(result, times)}


def live(case: scenarios.Case) -> dict[str, Any]:
    """The case over sockets: what each host says of itself, by name."""
    from thalweg.forward import run_forwarders

    return {host["name"]: host for host in run_forwarders(experiment(case))}


def experiment(case: scenarios.Case) -> Tree:
    """The paper's dumbbell [KATO §4.1, Fig. 2] for forwarders in one process."""
    phase_ms = RUN.split("/")[0]
    params = {
        "interval": f"{case.interval_ms:g} ms",
        "phase": f"{phase_ms} ms",
        "depth": scenarios.DEPTH,
        **case.params,
    }
    forwarder = {"link": "mircc", "link_params": params, "data": "1250 B"}
    hosts: dict[str, dict[str, Any]] = {
        name: {"name": name, "forwarder": forwarder, "routes": [], "apps": []} for name in HOSTS
    }
    spans = {1: (scenarios.FIRST_S, scenarios.END_S), 2: (scenarios.SECOND_S, scenarios.LEAVES_S)}
    for number, (begin, end) in spans.items():
        prefix = f"/p{number}"
        for here, there in ((f"c{number}", "r1"), ("r1", "r2"), ("r2", f"p{number}")):
            hosts[here]["routes"].append({"prefix": prefix, "to": HOSTS.index(there)})
        hosts[f"c{number}"]["apps"].append(
            {
                "prefix": prefix,
                "scheme": "mircc",
                "data": "1250 B",
                "payload": PAYLOAD,
                "access": "10 Mbit/s",
                "start": f"{begin:g} s",
                "stop": f"{end:g} s",
                **scenarios.ticks(case, begin),
            }
        )
        hosts[f"p{number}"]["apps"].append({"prefix": prefix, "payload": PAYLOAD})
    wires = [
        {
            "a": HOSTS.index(a),
            "b": HOSTS.index(b),
            "rate": "12 Mbit/s" if (a, b) == ("r1", "r2") else "10 Mbit/s",
            "delay": f"{case.core_ms:g} ms" if (a, b) == ("r1", "r2") else "50 ms",
            "buffer": 10_000,
        }
        for a, b in WIRES
    ]
    return {"span": f"{scenarios.END_S + 0.5:g} s", "hosts": list(hosts.values()), "wires": wires}


def sample_of(hosts: dict[str, Any]) -> Sample:
    """Packets per second that each consumer generated and received, over 0.1 s."""
    edges = np.arange(0, scenarios.END_S + scenarios.EVERY_S / 2, scenarios.EVERY_S)

    def rates(what: str) -> Any:
        rows = [hosts[name]["apps"][0][what] for name in ("c1", "c2")]
        return np.stack([np.histogram(row, edges)[0] / scenarios.EVERY_S for row in rows])

    return {"times_s": edges[1:], "generated": rates("generated_s"), "received": rates("received_s")}


def rows(found: Sequence[Pair]) -> list[dict[str, Any]]:
    """The measures of the paper's Figure 3 for each, simulated and live."""
    table = []
    for pair in found:
        for world, sample in (("simulated", pair.simulated), ("live", pair.live)):
            both = measures.both_s(sample)
            table.append(
                {
                    "tick_ms": pair.tick_ms,
                    "world": world,
                    "c1_alone": measures.rate(sample, 0, (1.5, 3.0)),
                    "c1_both": measures.rate(sample, 0, both),
                    "c2_both": measures.rate(sample, 1, both),
                    "received_both": sum(measures.rate(sample, i, both, "received") for i in (0, 1)),
                    "late_p50_ms": pair.late_p50_s * 1e3 if world == "live" else None,
                    "late_p99_ms": pair.late_p99_s * 1e3 if world == "live" else None,
                }
            )
    return table


def picture(found: Sequence[Pair]) -> Figure:
    """The figure's panels: simulated to the left, live to the right."""
    figure, axes = _plot.panels(len(found), 2, height=2.5)
    for row, pair in zip(axes, found, strict=True):
        for panel, world, sample in zip(row, ("simulated", "live"), (pair.simulated, pair.live), strict=True):
            _plot.shade(panel, [(scenarios.SECOND_S, scenarios.LEAVES_S)])
            for i, width in ((0, 2.0), (1, 1.1)):
                _plot.steps(
                    panel, sample["times_s"], sample["generated"][i], f"C{i + 1}", colour=i, linewidth=width
                )
            panel.axhline(scenarios.FAIR_PER_S, color=_plot.COLOURS[2], linewidth=0.7, linestyle=":")
            _plot.finish(
                panel,
                f"tick = T = {pair.tick_ms} ms, {world}",
                "Interests (packets/s)",
                top=1150.0,
                legend=row is axes[0] and world == "simulated",
            )
            panel.set_xlim(0, scenarios.END_S)
    return figure


def _run(full: bool, progress: Callable[[float, float, str], object]) -> tuple[list[dict[str, Any]], str]:
    """All clock intervals of the figure, or some."""
    from thalweg.plots import svg

    ticks_ms = scenarios.CLOCKS_MS if full else TICKS_MS
    found = pairs(
        ticks_ms,
        on_start=lambda ms: progress(ticks_ms.index(ms), len(ticks_ms), f"clocks of {ms} ms, 10 s each"),
    )
    alt = "Interest rates of both consumers, simulated and live"
    return rows(found), svg(picture(found), "figure-3-live", alt)


def figure_3() -> Live:
    """Figure 3, simulated and live."""
    return Live(
        name="figure-3-live",
        title="Figure 3, simulated and live (packets/s)",
        columns=(
            ("tick_ms", "tick = T (ms)"),
            ("world", ""),
            ("c1_alone", "C1 alone"),
            ("c1_both", "C1, both active"),
            ("c2_both", "C2, both active"),
            ("received_both", "Data, both"),
            ("late_p50_ms", "lateness of event loops (ms): median"),
            ("late_p99_ms", "p99"),
        ),
        run=_run,
    )
