"""The scenarios of the MIRCC paper, and what it leaves open. Each function makes the same tree as a scenario file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._base import Scale, Tree
from .._common import custom, link, recording

# What the paper does not say, or says in a figure that is lost. Key: choice and reason.
CHOICES: dict[str, str] = {
    "interest": "50 bytes; the paper gives the Data packet alone (1250 bytes on the wire).",
    "generated": "The plotted rate is that at which the application generates Interests, before its node's bucket: the only "
    "reading under which a figure can show 1000 while 400 a second pass.",
    "loss": "Interests that the bucket drops are not repeated; the paper names no retransmission.",
    "counting": "y counts Interests before policing, as the text says received; see `--readings` for those that pass.",
    "bounds": "R stays between 1 % of C and C. The paper prints neither bound; see `--readings` without the upper one.",
    "start": "A consumer starts at the rate of its access link, as the figures do; half of all runs start at 100 packets/s.",
    "phase": "Each case runs with four phases of the routers' ticks (0 to 80 ms), twice: a result must not hang on them.",
    "rtt": "d is smoothed with a gain of 0.1 and is 0.4 s before the first sample; the paper says smoothed.",
    "ticks": "A consumer's clock starts when the consumer does, as the paper's class calls itself: at 1 s and at 3 s.",
    "methods": "Other methods run with queues of 200 packets, as deep as the buckets, and with Interests late by up "
    "to 0.8 ms at random; NACK's limits are computed with 400 ms, and timers take 600 ms at least: with the usual "
    "200 ms they expire early where round trips always take the same, and NACK with an exact clock receives 850 Data "
    "a second, less than with a clock of 100 ms. Windows, which need longer at this round-trip time, are measured "
    "after 200 s as well.",
    "episodes": "Windows of other methods cut again when a loss is noticed after the first Data beyond the recovery "
    'point, as ndnSIM\'s consumers do (`episode_check = "highest"`).',
    "buffers": "Queues hold 10 000 packets, more than ever wait: the buckets keep them short.",
    "bins": "Rates are means over 0.5 s, drawn over 0.1 s.",
}

CLOCKS_MS = (100, 250, 500, 750)
"""The clock intervals of the paper."""

DATA = {"payload": "1174 B", "data": "1250 B"}
DATA_BITS = 10_000.0
BUFFER = "10000 packets"
INTEREST_BITS = 400.0
PAYLOAD_BITS = 8.0 * (1250 - 76)
ACCESS_PER_S, CORE_PER_S = 1000.0, 1200.0
"""Data packets a second that access links and the bottleneck carry."""
FAIR_PER_S = CORE_PER_S / 2
RTT_S = 0.4
DEPTH = 200
FIRST_S, SECOND_S, LEAVES_S, END_S = 1.0, 3.0, 8.0, 10.0
"""C1 is active from 1 to 10 s, C2 from 3 to 8 s."""
EVERY_S = 0.1
"""Interval of recorded series."""

RUNS: tuple[str, ...] = tuple(f"{phase}/{start}" for start in ("C", "100") for phase in (0, 20, 50, 80))
"""The runs of a case: phase of the routers' ticks in ms, and rate at which consumers start, in packets/s or C."""


@dataclass(frozen=True)
class Case:
    """Differences from the paper's set-up."""

    tick_ms: float = 100.0
    """Interval of the consumers' clocks; 0 for an exact one."""
    tick_phase_ms: float = 0.0
    """Phase of the clocks: delay of ticks relative to multiples of the interval from their start."""
    interval_ms: float = 100.0
    """Interval T of all forwarders, those of consumers included."""
    core_ms: float = 100.0
    """Delay between the routers."""
    longer_s: float = 0.0
    """Additional time in which both consumers are active."""
    alone: bool = False
    """Without C2."""
    params: dict[str, Any] = field(default_factory=dict)
    """Parameters of the scheme in forwarders."""
    series: tuple[str, ...] = ()
    """Additional recorded series."""
    every_s: float = EVERY_S
    """Interval of recorded series."""

    @property
    def both(self) -> tuple[float, float]:
        """The span in which both are active and settled, if they ever settle: the last 2.5 s."""
        leaves = LEAVES_S + self.longer_s
        return leaves - 2.5, leaves


def variants(cases: dict[str, Case], runs: tuple[str, ...] = RUNS) -> tuple[str, ...]:
    """A variant for each run of each case."""
    return tuple(f"{case} {run}" for case in cases for run in runs)


def case_of(variant: str) -> str:
    """The case of a variant."""
    return variant.rpartition(" ")[0]


def dumbbell(case: Case, run: str, title: str) -> Tree:
    """§4.1, Fig. 2: C1, C2 – R1 – R2 – P1, P2."""
    phase_ms, start = run.split("/")
    access = {"rate": "10 Mbit/s", "delay": "50 ms", "buffer": BUFFER}
    links = [
        link("access1", "c1", "r1", **access),
        link("access2", "c2", "r1", **access),
        link("core", "r1", "r2", rate="12 Mbit/s", delay=f"{case.core_ms:g} ms", buffer=BUFFER),
        link("edge1", "r2", "p1", **access),
        link("edge2", "r2", "p2", **access),
    ]
    starts = (
        {} if start == "C" else {"params": {"initial_rate": f"{float(start) * DATA_BITS / 1e6:g} Mbit/s"}}
    )
    spans = {1: (FIRST_S, END_S + case.longer_s), 2: (SECOND_S, LEAVES_S + case.longer_s)}
    flows = [
        {
            "name": f"C{number}",
            "network": "ndn",
            "scheme": "mircc",
            "from": f"c{number}",
            "prefix": f"/p{number}",
            "start": f"{begin:g} s",
            "stop": f"{end:g} s",
            "consumer": {**ticks(case, begin), "retries": 0},
            **starts,
        }
        for number, (begin, end) in spans.items()
        if number == 1 or not case.alone
    ]
    params = {
        "interval": f"{case.interval_ms:g} ms",
        "phase": f"{phase_ms} ms",
        "depth": DEPTH,
        **case.params,
    }
    return custom(
        title,
        END_S + case.longer_s,
        links,
        flows,
        ndn={"link": "mircc", "link_params": params},
        producers=[{"prefix": f"/p{number}", "node": f"p{number}", **DATA} for number in (1, 2)],
        record=recording(f"{case.every_s * 1e3:g} ms", "generated", "goodput", *case.series),
    )


def ticks(case: Case, begin_s: float) -> Tree:
    """The clock of a consumer that starts at a moment."""
    if case.tick_ms == 0:
        return {"tick": "0 s"}
    phase_ms = (1e3 * begin_s + case.tick_phase_ms) % case.tick_ms
    return {"tick": f"{case.tick_ms:g} ms", "tick_phase": f"{phase_ms:g} ms"}


# --- the paper's figures ---------------------------------------------------------------------------------------------

EQUAL: dict[str, Case] = {f"{ms}": Case(tick_ms=ms, interval_ms=ms) for ms in CLOCKS_MS}
"""Figure 3: consumers and routers have the same clock."""

FINE: dict[str, Case] = {f"{ms}": Case(interval_ms=ms) for ms in CLOCKS_MS}
"""Figure 4: consumers tick every 100 ms; the routers' interval by case."""

GRID: dict[str, Case] = {
    f"{tick},{interval}": Case(tick_ms=tick, interval_ms=interval)
    for tick in CLOCKS_MS
    for interval in CLOCKS_MS
}
"""Every consumer clock with every router interval; most of them the paper did not run."""

# --- what decides ----------------------------------------------------------------------------------------------------

DEPTHS = (50, 100, 200, 400, 0)
"""Depths of the buckets in packets; 0 is without limit."""
CORES_MS = {0.2: 0.0, 0.4: 100.0, 0.8: 300.0, 1.6: 700.0}
"""Delay between the routers by round-trip time in s."""
SWEEP_MS = (50, 80, 100, 125, 160, 200, 250, 280, 320, 340, 360, 400, 500, 640, 750)
"""Clock intervals of the separating experiment, tick and T alike."""
SETTLING_S = 20.0
"""Time that both are active longer than in the paper there, so that long intervals and paths settle."""

BY_DEPTH: dict[str, Case] = {
    f"{depth},{ms}": Case(tick_ms=ms, interval_ms=ms, longer_s=SETTLING_S, params={"depth": depth})
    for depth in DEPTHS
    for ms in SWEEP_MS
}
"""The paper's path; the depth of the buckets and the clock by case."""

BY_RTT: dict[str, Case] = {
    f"{rtt:g},{ms}": Case(tick_ms=ms, interval_ms=ms, longer_s=SETTLING_S, core_ms=core)
    for rtt, core in CORES_MS.items()
    for ms in SWEEP_MS
}
"""The paper's buckets; the round-trip time and the clock by case."""

APART: dict[str, Case] = {
    "unlimited depth, 500 ms": Case(tick_ms=500, interval_ms=500, params={"depth": 0}),
    "unlimited depth, 750 ms": Case(tick_ms=750, interval_ms=750, params={"depth": 0}),
    "depth 50, 100 ms": Case(params={"depth": 50}),
    "depth 150, 250 ms": Case(tick_ms=250, interval_ms=250, params={"depth": 150}),
    "340 ms": Case(tick_ms=340, interval_ms=340),
    "360 ms": Case(tick_ms=360, interval_ms=360),
    "RTT 1.2 s, 500 ms": Case(tick_ms=500, interval_ms=500, core_ms=500),
    "RTT 1.2 s, 500 ms, longer": Case(tick_ms=500, interval_ms=500, core_ms=500, longer_s=SETTLING_S),
    "RTT 1.2 s, 100 ms, longer": Case(core_ms=500, longer_s=SETTLING_S),
}
"""One thing changed at a time: does the interval decide against the round-trip time, or the bucket?"""

# --- an exact clock, and an unbounded rate -----------------------------------------------------------------------------

EXACT: dict[str, Case] = {
    f"T {ms} ms": Case(tick_ms=0, interval_ms=ms, series=("stamping_rate",)) for ms in (100, 10)
}
"""Consumers whose clock is exact, with routers that compute a rate every 100 or 10 ms."""

NO_CAP: dict[str, Case] = {"100": Case(params={"capped": False}, series=("stamping_rate",))}
"""The equations as they are printed, without an upper bound of R, at clocks of 100 ms."""

LONE: dict[str, Case] = {
    f"{ms}": Case(tick_ms=ms, interval_ms=ms, alone=True, longer_s=2.0, series=("utilisation",))
    for ms in (250, 500, 750)
}
"""C1 alone, to see how much of its Interests its own node lets go."""

TABLE_1 = {
    "R": "stamping_rate",
    "C": "upstream_capacity",
    "N": "full_rate_flows",
    "T": "rate_interval",
    "q": "inflated_queue",
    "y": "interest_rate",
    "d": "upstream_rtt",
    "beta": "beta",
    "eta": "target_utilisation",
}
"""Series of the nine quantities of Table 1."""

INSPECTED: dict[str, Case] = {
    f"{ms}": Case(tick_ms=ms, interval_ms=ms, series=(*TABLE_1.values(), "offered_rate"), every_s=ms / 1000)
    for ms in CLOCKS_MS
}
"""All quantities that the scheme computes, once per tick."""

INSPECTED_RUNS = ("50/C", "50/100")
"""Ticks in the middle between samples, so that each sample shows one tick."""

DEPARTURES: dict[str, Case] = {"100": Case(tick_phase_ms=10, series=("rate",), every_s=0.02)}
"""A coarse clock that ticks in the middle between samples, looked at five times a tick."""


def tree_of(cases: dict[str, Case], words: str) -> Any:
    """The function from a variant to its scenario."""

    def tree(variant: str, _scale: Scale) -> Tree:
        case, _, run = variant.rpartition(" ")
        return dumbbell(cases[case], run, f"MIRCC {words}, {case}, phase/start {run}")

    return tree


def burst(_variant: str, _scale: Scale) -> Tree:
    """250 Interests within a quarter of a millisecond, on an empty bucket."""
    links = [link("wire", "c", "p", rate="10 Mbit/s", delay="50 ms", buffer=BUFFER)]
    flow = {
        "name": "C",
        "network": "ndn",
        "from": "c",
        "prefix": "/p",
        "start": "1 s",
        "stop": "1000249500 ns",
        "source": {"kind": "constant", "rate": "10 Gbit/s"},
    }
    return custom(
        "MIRCC rules, a burst of 250 Interests",
        2.0,
        links,
        [flow],
        ndn={"link": "mircc", "link_params": {"depth": DEPTH}},
        producers=[{"prefix": "/p", "node": "p", **DATA}],
    )


# --- §1 --------------------------------------------------------------------------------------------------------------

SPACINGS = {"10": 1000.0, "5": 2000.0, "3": 10_000.0 / 3.0}
"""Rate in Gbit/s, and time between Interests for Data of 10 000 bits, in ns."""


def spacing(variant: str, _scale: Scale) -> Tree:
    """§1: Interests at a line rate, for 3 ms."""
    links = [link("wire", "c", "p", rate="100 Gbit/s", delay="1 us", buffer=BUFFER)]
    flow = {
        "name": "C",
        "network": "ndn",
        "from": "c",
        "prefix": "/p",
        "source": {"kind": "constant", "rate": f"{variant} Gbit/s"},
    }
    return custom(
        f"MIRCC §1, Interests for {variant} Gbit/s",
        0.003,
        links,
        [flow],
        ndn={},
        producers=[{"prefix": "/p", "node": "p", **DATA}],
    )
