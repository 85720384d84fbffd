"""The networks of both comparisons, and the schemes in them. Each function makes the same tree as a scenario file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._base import Scale, Tree
from .._common import custom, link, recording

COMMON: dict[str, str] = {
    "schemes": "Each with the constants of its source and with the defaults of its folder. Nothing is tuned to these "
    "networks.",
    "network": "One queue at 6 Mbit/s, drop-tail; each flow has hosts of its own with 100 Mbit/s. Round trips without a "
    "queue of 20, 60 and 200 ms, the same for all flows of a run; room for 40, 120 and 360 ms of packets. A "
    "target of 60 or 100 ms does not fit into the first, fits into the second, and leaves the third mostly "
    "empty.",
    "packets": "1500 bytes on the wire for all data, so that queues that count packets treat all alike.",
    "tcp": "NewReno and CUBIC with SACK and delayed acknowledgements, the defaults of TCP here.",
    "chance": "Flows start at random within 2 s, and 2 % of the capacity is random traffic (Poisson, 500 bytes) in the "
    "same queue: without it senders without chance fall into step.",
    "shares": "Throughput is what arrives at the receiver, headers included; shares of the capacity are of all 6 "
    "Mbit/s, of which the random traffic takes two parts in a hundred.",
    "delay": "Mean wait in the queue, its mean backlog in bytes over its rate; propagation and transmission are not in"
    " it.",
    "means": "Where a row speaks of several networks, a seed's value is the mean over them; the interval is that of "
    "the seeds.",
}

BACKGROUND_CHOICES: dict[str, str] = {
    **COMMON,
    "beside TCP": "The scheme is there from the start, a connection joins at 40 s; measured from 80 to 200 s. What TCP "
    "keeps is its throughput over that of the same connection without the scheme, in the same network with "
    "the same seed.",
    "alone": "Measured from 80 to 200 s.",
    "latecomer": "Two of a kind, 60 ms; the second starts at 100 s, and its part of both is measured from 180 to 300 s.",
    "route": "One flow. At 150 s the route becomes 60 ms longer (60 to 120 ms) or as much shorter, with the same "
    "capacity and no loss but that of what is on the way; measured are the last 60 of 300 s.",
    "drift": "60 ms, room for 360 ms; the receiver's clock gains or loses 100 ppm. Measured are the last 120 of 600 s,"
    " alone and beside NewReno.",
    "reference": "NewReno in the place of a background scheme shows what one that does not yield looks like.",
}

REAL_TIME_CHOICES: dict[str, str] = {
    **COMMON,
    "beside TCP": "One flow of each kind; measured from 60 to 180 s.",
    "share": "Throughput over that of both; half is fair. Beside itself a scheme has half of both.",
    "smoothness": "Standard deviation over mean of what arrives in intervals of 0.5 s.",
    "references": "NewReno and CUBIC in the place of a real-time scheme. BBR is in both places: nothing in it is made for "
    "real-time traffic, but it is what is picked against delay.",
}

RATE_BPS = 6e6
PACKET_BYTES = 1500
NOISE = 0.02
ROUND_TRIPS_MS = (20, 60, 200)
BUFFERS_MS = (40, 120, 360)
GRID = tuple(f"{rtt} {buffer}" for rtt in ROUND_TRIPS_MS for buffer in BUFFERS_MS)
"""Round trip and room of the queue, in milliseconds."""
EVERY_S = 0.5
SPREAD_S = 2.0


@dataclass(frozen=True)
class SchemeSetup:
    """A scheme in the role in which it is compared."""

    label: str
    scheme: str
    params: Tree = field(default_factory=dict)

    def flow(self, name: str, start_s: float = 0.0) -> Tree:
        """A flow between a pair of hosts of its own."""
        flow: Tree = {
            "name": name,
            "from": f"s-{name}",
            "to": f"d-{name}",
            "scheme": self.scheme,
            "packet": f"{PACKET_BYTES} B",
            "start": f"{start_s:g} s",
            "start_spread": f"{SPREAD_S:g} s",
        }
        if self.params:
            flow["params"] = dict(self.params)
        return flow


RENO = SchemeSetup("NewReno", "reno")
CUBIC = SchemeSetup("CUBIC", "cubic")
BBR = SchemeSetup("BBR", "bbr")

LOW: dict[str, SchemeSetup] = {
    "cvihis": SchemeSetup("CVIHIS, background", "cvihis", {"mode": "background"}),
    "ledbat": SchemeSetup("LEDBAT", "ledbat"),
    "ledbat_pp": SchemeSetup("LEDBAT++", "ledbat_pp"),
    "tcp_lp": SchemeSetup("TCP-LP", "tcp_lp"),
    "reno": RENO,
}
"""Low-priority schemes, and one that does not yield."""

REAL: dict[str, SchemeSetup] = {
    "cvihis": SchemeSetup("CVIHIS, real-time", "cvihis", {"mode": "real_time"}),
    "tfrc": SchemeSetup("TFRC", "tfrc"),
    "gcc": SchemeSetup("GCC", "gcc"),
    "bbr": BBR,
    "reno": RENO,
    "cubic": CUBIC,
}
"""Real-time schemes, and two references."""

BESIDE: dict[str, SchemeSetup] = {"reno": RENO, "cubic": CUBIC, "bbr": BBR}
"""The flows that compete with them."""


def packets(buffer_ms: float) -> int:
    """Packets that so much time of the bottleneck holds."""
    return round(RATE_BPS * buffer_ms / 8e3 / PACKET_BYTES)


def _hosts(names: list[str], rtt_ms: float) -> list[Tree]:
    # half of a round trip each way: a quarter on each host's link
    side = {"rate": "100 Mbit/s", "delay": f"{rtt_ms / 4:g} ms", "buffer": "1000 packets"}
    return [
        made
        for name in names
        for made in (
            link(f"in-{name}", f"s-{name}", "r1", **side),
            link(f"out-{name}", "r2", f"d-{name}", **side),
        )
    ]


def _noise() -> Tree:
    source = {"kind": "poisson", "rate": f"{NOISE * RATE_BPS / 1e3:g} kbit/s"}
    return {"name": "noise", "from": "s-noise", "to": "d-noise", "packet": "500 B", "source": source}


def network(
    title: str,
    flows: list[Tree],
    *,
    rtt_ms: float,
    buffer_ms: float,
    seconds: float,
    scale: Scale,
    middle: list[Tree] | None = None,
    **more: Any,
) -> Tree:
    """Hosts – r1 – r2 – hosts; `middle` in the place of the one link between routers."""
    flows = [*flows, _noise()]
    if middle is None:
        middle = [
            link("bottleneck", "r1", "r2", rate=_rate(), delay="0 s", buffer=f"{packets(buffer_ms)} packets")
        ]
    return custom(
        title,
        scale.seconds(seconds),
        [*middle, *_hosts([flow["name"] for flow in flows], rtt_ms)],
        flows,
        record=recording(f"{EVERY_S * 1e3:g} ms", "throughput", "backlog_bytes"),
        **more,
    )


def _rate() -> str:
    return f"{RATE_BPS / 1e6:g} Mbit/s"


# --- low priority ----------------------------------------------------------------------------------------------------

BESIDE_S, MEASURED_S, END_S = 40.0, 80.0, 200.0
ALONE = tuple(f"{name} {case}" for name in LOW for case in GRID)
GIVEN_WAY = tuple(
    f"{name} {tcp} {case}" for name in ("none", *LOW) for tcp in ("reno", "cubic") for case in GRID
)
"""`ledbat cubic 60 120`: scheme, connection, round trip, room; `none` for the connection without a scheme."""


def alone(variant: str, scale: Scale) -> Tree:
    """A low-priority flow that has the link."""
    name, rtt, buffer = variant.split()
    return network(
        f"Background, alone: {variant}",
        [LOW[name].flow("yields")],
        rtt_ms=float(rtt),
        buffer_ms=float(buffer),
        seconds=END_S,
        scale=scale,
    )


def given_way(variant: str, scale: Scale) -> Tree:
    """A low-priority flow and a connection that joins."""
    name, tcp, rtt, buffer = variant.split()
    flows = [] if name == "none" else [LOW[name].flow("yields")]
    return network(
        f"Background, beside TCP: {variant}",
        [*flows, BESIDE[tcp].flow("tcp", scale.seconds(BESIDE_S))],
        rtt_ms=float(rtt),
        buffer_ms=float(buffer),
        seconds=END_S,
        scale=scale,
    )


LATE_S, LATE_MEASURED_S, LATE_END_S = 100.0, 180.0, 300.0
LATE = tuple(f"{name} {buffer}" for name in LOW for buffer in BUFFERS_MS)
MIDDLE_MS = 60.0
"""The round trip where only one is measured."""


def latecomer(variant: str, scale: Scale) -> Tree:
    """Two of a kind, the second later."""
    name, buffer = variant.split()
    return network(
        f"Background, latecomer: {variant}",
        [LOW[name].flow("first"), LOW[name].flow("late", scale.seconds(LATE_S))],
        rtt_ms=MIDDLE_MS,
        buffer_ms=float(buffer),
        seconds=LATE_END_S,
        scale=scale,
    )


CHANGE_S, CHANGED_S, CHANGE_END_S = 150.0, 240.0, 300.0
DETOUR_MS = 60.0
"""Additional round-trip time over the other route."""
ROUTES = tuple(
    f"{name} {change} {buffer}" for name in LOW for change in ("longer", "shorter") for buffer in BUFFERS_MS
)


def route(variant: str, scale: Scale) -> Tree:
    """The direct route goes, or comes, in the middle of the run."""
    name, change, buffer = variant.split()
    room = f"{packets(float(buffer))} packets"
    middle = [
        link("direct", "r1", "r2", rate=_rate(), delay="0 s", buffer=room),
        # both halves at the same rate, so that a queue is at the first alone
        link("up", "r1", "r3", rate=_rate(), delay=f"{DETOUR_MS / 4:g} ms", buffer=room),
        link("down", "r3", "r2", rate="100 Mbit/s", delay=f"{DETOUR_MS / 4:g} ms", buffer="1000 packets"),
    ]
    at = scale.text(CHANGE_S)
    events = [{"at": at, "link": "direct", "up": change == "shorter"}]
    if change == "shorter":
        events.insert(0, {"at": "0 s", "link": "direct", "up": False})
    return network(
        f"Background, route: {variant}",
        [LOW[name].flow("yields")],
        rtt_ms=MIDDLE_MS,
        buffer_ms=float(buffer),
        seconds=CHANGE_END_S,
        scale=scale,
        middle=middle,
        events=events,
    )


DRIFT_S, DRIFT_END_S = 480.0, 600.0
CLOCKS = {"right": "", "gains": "100 ppm", "loses": "-100 ppm"}
"""The receiver's clock."""
DRIFTS = tuple(f"{name} {clock} {where}" for name in LOW for clock in CLOCKS for where in ("alone", "beside"))
DRIFT_BUFFER_MS = 360.0


def drift(variant: str, scale: Scale) -> Tree:
    """A receiver's clock that runs too fast or too slow."""
    name, clock, where = variant.split()
    flows = [LOW[name].flow("yields")]
    if where == "beside":
        flows.append(RENO.flow("tcp", scale.seconds(BESIDE_S)))
    wrong = [{"node": "d-yields", "drift": CLOCKS[clock]}] if CLOCKS[clock] else []
    return network(
        f"Background, clocks: {variant}",
        flows,
        rtt_ms=MIDDLE_MS,
        buffer_ms=DRIFT_BUFFER_MS,
        seconds=DRIFT_END_S,
        scale=scale,
        clocks=wrong,
    )


# --- real time -------------------------------------------------------------------------------------------------------

REAL_MEASURED_S, REAL_END_S = 60.0, 180.0
REAL_ALONE = tuple(f"{name} {case}" for name in REAL for case in GRID)
SHARED = tuple(f"{name} {other} {case}" for name in REAL for other in BESIDE for case in GRID)
"""`tfrc cubic 60 120`: scheme, what is beside it, round trip, room."""


def real_alone(variant: str, scale: Scale) -> Tree:
    """A real-time flow that has the link."""
    name, rtt, buffer = variant.split()
    return network(
        f"Real time, alone: {variant}",
        [REAL[name].flow("stream")],
        rtt_ms=float(rtt),
        buffer_ms=float(buffer),
        seconds=REAL_END_S,
        scale=scale,
    )


def shared(variant: str, scale: Scale) -> Tree:
    """A real-time flow and a connection."""
    name, other, rtt, buffer = variant.split()
    return network(
        f"Real time, beside TCP: {variant}",
        [REAL[name].flow("stream"), BESIDE[other].flow("tcp")],
        rtt_ms=float(rtt),
        buffer_ms=float(buffer),
        seconds=REAL_END_S,
        scale=scale,
    )
