"""The scenarios of the CVIHIS paper, and what it leaves open. Each function makes the same tree as a scenario file.

The paper's network is real: hosts whose links have a delay, three routers, and two links between them that can be slow. All
scenarios are such networks, in words that say nothing of a simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._base import Scale, Tree
from .._common import custom, link, recording

# What the paper does not say, or says in a figure that is lost. Key: choice and reason.
CHOICES: dict[str, str] = {
    "packets": "1500 bytes on the wire for all, so that packets and bytes agree in queues that count packets; "
    "the paper gives no size.",
    "time": "300 s, averages from 50 s as in the paper's §4.4, unless a figure says otherwise.",
    "start": "Streams start at a quarter or at half of the capacity; the paper varies it without saying how.",
    "tcp": "NewReno without SACK, an acknowledgement for each segment: the paper calls delayed ones an improvement "
    "that only some implementations had. Its hosts ran Linux, whose timer starts again with each acknowledgement of "
    "something new, in a recovery too (`recovery_timer`). The table tcp-variants has other kinds.",
    "delays": "Half of a round trip each way, a quarter on each host's link; access links carry 100 Mbit/s.",
    "rates": "Rates are those at which is sent, as in the paper's Table 2, in intervals of 1 s.",
    "cases": "Which capacities, queues and round trips met in the 20, 26, 30 and 50 tests is not said: grids over the "
    "printed ranges.",
    "joins": "Fig. 6: streams join at 0, 40, 80 and 120 s and leave at 160, 200 and 240 s.",
    "routes": "Fig. 9: 20 and 60 ms one way, queues of 50 packets, 400 s.",
    "readings": "The edges of the delay areas, the cadence of the push and what is smoothed are parameters of the scheme, "
    "each marked as our choice; they were chosen before, against some of the numbers here. Such rows say so.",
}

ACCESS = "100 Mbit/s"
EVERY_S = 1.0
SETTLED_S = 50.0
"""Averages begin here."""


@dataclass(frozen=True)
class Flow:
    """A stream or a connection between a pair of hosts of its own."""

    name: str
    kind: str
    """`real_time`, `background`, or the scheme of a TCP connection."""
    rtt_ms: float
    rate_kbps: float = 500.0
    """Rate at the start of a stream."""
    start_s: float = 0.0
    stop_s: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    tcp: Mapping[str, Any] = field(default_factory=dict)
    enters: int = 1
    """The router by which it comes in: 1, or 2 for the second link only."""

    def tree(self) -> Tree:
        """The flow as a table of a scenario."""
        ends: Tree = {
            "name": self.name,
            "from": f"s-{self.name}",
            "to": f"d-{self.name}",
            "start": f"{self.start_s:g} s",
        }
        if self.stop_s is not None:
            ends["stop"] = f"{self.stop_s:g} s"
        if self.kind not in MODES:
            settings = {"sack": False, "delayed_ack": False, "recovery_timer": "steady", **self.tcp}
            return {
                **ends,
                "scheme": self.kind,
                "packet": "1500 B",
                "tcp": settings,
                "params": dict(self.params),
            }
        # the paper has neither a minimum width of the delay space nor a timeout that follows the gap between packets
        params = {
            "mode": self.kind,
            "initial_rate": f"{self.rate_kbps:g} kbit/s",
            "min_space": 0.0,
            "noise": 0.0,
            "timeout_packets": 0.0,
            **self.params,
        }
        return {**ends, "scheme": "cvihis", "packet": "1500 B", "params": params}


MODES = ("background", "real_time")


def network(
    title: str,
    flows: list[Flow],
    *,
    first: tuple[float, int],
    second: tuple[float, int] = (100_000.0, 1000),
    seconds: float = 300.0,
    series: tuple[str, ...] = (),
    every_s: float = EVERY_S,
    **more: Any,
) -> Tree:
    """Fig. 2: hosts – R1 – R2 – R3 – hosts. `first` and `second`: kbit/s and packets of queue of the two links."""
    links = [
        link(name, start, end, rate=f"{rate:g} kbit/s", delay="0 s", buffer=f"{packets} packets")
        for name, start, end, (rate, packets) in (
            ("first", "r1", "r2", first),
            ("second", "r2", "r3", second),
        )
    ]
    for flow in flows:
        side = {"rate": ACCESS, "delay": f"{flow.rtt_ms / 4:g} ms", "buffer": "1000 packets"}
        links.append(link(f"in-{flow.name}", f"s-{flow.name}", f"r{flow.enters}", **side))
        links.append(link(f"out-{flow.name}", "r3", f"d-{flow.name}", **side))
    return custom(
        title,
        seconds,
        links,
        [flow.tree() for flow in flows],
        record=recording(f"{every_s * 1e3:g} ms", "rate", *series, events=False),
        **more,
    )


# --- background mode -------------------------------------------------------------------------------------------------

CAPACITIES_KBPS = (2000, 3000, 4000, 4500)
RTTS_MS = (10, 50, 100, 180, 250)
QUEUES = (40, 50, 60)
STABILITY: dict[str, tuple[int, int, int]] = {
    f"{kbps} {rtt}": (kbps, QUEUES[(i + j) % 3], rtt)
    for i, kbps in enumerate(CAPACITIES_KBPS)
    for j, rtt in enumerate(RTTS_MS)
}
"""§4.2: twenty tests, 2–4.5 Mbit/s, 40–60 packets, 10–250 ms."""

TCP_S = (50.0, 170.0)
"""Fig. 3: the connection is active."""


def stability(variant: str, _scale: Scale) -> Tree:
    """The background mode alone."""
    kbps, packets, rtt = STABILITY[variant]
    flow = Flow("video", "background", rtt, kbps / 4)
    return network(
        f"CVIHIS stability, {variant}", [flow], first=(kbps, packets), series=("position",), every_s=0.1
    )


def back_off(variant: str, _scale: Scale) -> Tree:
    """The scenario of stability with a NewReno connection from 50 to 170 s."""
    kbps, packets, rtt = STABILITY[variant]
    flows = [
        Flow("video", "background", rtt, kbps / 4),
        Flow("tcp", "reno", rtt, start_s=TCP_S[0], stop_s=TCP_S[1]),
    ]
    return network(f"CVIHIS back-off, {variant}", flows, first=(kbps, packets))


FIGURE_3_MS = ("10", "100", "200")
FIGURE_3_KBPS = 3000


def figure_3(variant: str, _scale: Scale) -> Tree:
    """Fig. 3: round trips of 10, 100, 200 ms against a connection with 200 ms."""
    video = Flow("video", "background", float(variant), FIGURE_3_KBPS / 4)
    tcp = Flow("tcp", "reno", 200, start_s=TCP_S[0], stop_s=TCP_S[1])
    return network(f"CVIHIS Figure 3, {variant} ms", [video, tcp], first=(FIGURE_3_KBPS, 50))


# --- real-time mode against TCP --------------------------------------------------------------------------------------

FRIENDLY_MS = (20, 80, 140, 200)
FRIENDLY_KBPS = (2000, 2500, 3000, 3500, 4000, 4500)
FRIENDLY: dict[str, tuple[int, int, int]] = {
    **{
        f"{kbps} {rtt}": (kbps, rtt, 4 if (i + j) % 2 else 2)
        for i, kbps in enumerate(FRIENDLY_KBPS)
        for j, rtt in enumerate(FRIENDLY_MS)
    },
    "3000 80 start": (3000, 80, 8),
    "3000 140 start": (3000, 140, 8),
}
"""§4.3: twenty-six tests; capacity, round trip, and the part of the capacity at which the stream starts."""

TCP_VARIANTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "newreno": ("reno", {}, {}),
    "impatient": ("reno", {"recovery_timer": "impatient"}, {}),
    "sack": ("reno", {"sack": True}, {}),
    "as-linux": ("reno", {"sack": True, "delayed_ack": True}, {"counting": "bytes"}),
    "delayed": ("reno", {"sack": True, "delayed_ack": True}, {}),
    "cubic": ("cubic", {}, {}),
}
"""The flow that competes with the stream: scheme, settings of TCP, parameters."""

VARIED_KBPS = (2000, 3000, 4500)


def friendliness(variant: str, _scale: Scale) -> Tree:
    """The real-time mode beside a NewReno connection."""
    kbps, rtt, part = FRIENDLY[variant]
    flows = [Flow("video", "real_time", rtt, kbps / part), Flow("tcp", "reno", rtt)]
    return network(f"CVIHIS friendliness, {variant}", flows, first=(kbps, 50))


def varied(variant: str, _scale: Scale) -> Tree:
    """The real-time mode beside other kinds of TCP: `cubic 3000 80`."""
    kind, kbps, rtt = variant.split()
    scheme, tcp, params = TCP_VARIANTS[kind]
    flows = [
        Flow("video", "real_time", float(rtt), float(kbps) / 4),
        Flow("tcp", scheme, float(rtt), tcp=tcp, params=params),
    ]
    return network(f"CVIHIS beside {variant}", flows, first=(float(kbps), 50))


VARIED = tuple(f"{kind} {kbps} {rtt}" for kind in TCP_VARIANTS for kbps in VARIED_KBPS for rtt in FRIENDLY_MS)


def bias(variant: str, _scale: Scale) -> Tree:
    """Two of a kind with round trips of 20 and 200 ms."""
    flows = [Flow("near", variant, 20, 750), Flow("far", variant, 200, 750)]
    return network(f"CVIHIS round-trip bias, {variant}", flows, first=(3000, 50))


def alone(variant: str, _scale: Scale) -> Tree:
    """One stream in one of the modes."""
    return network(f"CVIHIS alone, {variant}", [Flow("video", variant, 80, 750)], first=(3000, 50))


# --- against itself --------------------------------------------------------------------------------------------------

EQUAL_MS = (10, 60, 120, 180, 240)
EQUAL_KBPS = (2000, 3000, 4000, 6000)
PAIRS_MS = (
    (10, 30),
    (20, 60),
    (60, 120),
    (120, 240),
    (60, 180),
    (30, 120),
    (20, 140),
    (30, 240),
    (10, 180),
    (100, 240),
)
ITSELF: dict[str, tuple[int, int, int, int]] = {
    **{
        f"{rtt} {rtt} {kbps}": (rtt, rtt, kbps, QUEUES[(i + j) % 3])
        for i, rtt in enumerate(EQUAL_MS)
        for j, kbps in enumerate(EQUAL_KBPS)
    },
    **{f"{a} {b} 4000": (a, b, 4000, QUEUES[i % 3]) for i, (a, b) in enumerate(PAIRS_MS)},
}
"""§4.4: thirty tests, 2–6 Mbit/s, 40–60 packets, 10–240 ms, some with two round trips."""
FIGURE_5 = "60 180 4000"
WORST = "10 180 4000"


def itself(variant: str, _scale: Scale) -> Tree:
    """Two streams in real-time mode that start at a quarter and at half of the capacity."""
    first_ms, second_ms, kbps, packets = ITSELF[variant]
    flows = [Flow("one", "real_time", first_ms, kbps / 4), Flow("other", "real_time", second_ms, kbps / 2)]
    return network(f"CVIHIS against itself, {variant}", flows, first=(kbps, packets))


JOINS_S = (0.0, 40.0, 80.0, 120.0)
LEAVES_S = (240.0, 200.0, 160.0, None)
FOUR_S = 280.0
FOUR_MS = ("30", "100", "200")
FOUR_KBPS = 10_000


def four(variant: str, _scale: Scale) -> Tree:
    """Fig. 6: up to four streams at 10 Mbit/s; all active from 120 to 160 s."""
    flows = [
        Flow(f"v{i + 1}", "real_time", float(variant), FOUR_KBPS / 16, start_s=start, stop_s=stop)
        for i, (start, stop) in enumerate(zip(JOINS_S, LEAVES_S, strict=True))
    ]
    return network(f"CVIHIS Figure 6, {variant} ms", flows, first=(FOUR_KBPS, 60), seconds=FOUR_S)


FOUR_LONG = tuple(f"{ms} {kbps}" for ms in FOUR_MS for kbps in (4000, 10_000))


def four_together(variant: str, _scale: Scale) -> Tree:
    """Four streams that start together at unequal rates, to see how long they take to share."""
    rtt, kbps = (float(word) for word in variant.split())
    flows = [
        Flow(f"v{i + 1}", "real_time", rtt, kbps * part) for i, part in enumerate((0.55, 0.2, 0.15, 0.1))
    ]
    return network(f"CVIHIS four at once, {variant}", flows, first=(kbps, 60))


# --- background against real-time ------------------------------------------------------------------------------------

MIXED_MS = (10, 50, 100, 150, 200)
MIXED: tuple[str, ...] = tuple(
    f"{kbps} {bg} {rt}" for kbps in (2000, 4000) for bg in MIXED_MS for rt in MIXED_MS
)
"""§4.4: fifty tests; capacity, round trip of the background stream, of the real-time stream."""
MIXED_START_S = 50.0


def mixed(variant: str, _scale: Scale, params: Mapping[str, Any] | None = None) -> Tree:
    """A background stream, and from 50 s on a real-time stream."""
    kbps, background, real = (float(word) for word in variant.split()[:3])
    flows = [
        Flow("yields", "background", background, kbps / 4, params=params or {}),
        Flow("takes", "real_time", real, kbps / 4, start_s=MIXED_START_S),
    ]
    return network(f"CVIHIS background against real-time, {variant}", flows, first=(kbps, 60))


MILDER = {"step_far": 0.7, "step_down": 0.49, "step_up": 0.35, "step_gradient": 0.14}


STEPS = ("shorter", "usual")


def milder(variant: str, scale: Scale) -> Tree:
    """The mixed scenario at 150 ms with steps of the background stream that are 0.7 times as long, or as usual."""
    return mixed("4000 50 150", scale, MILDER if variant == "shorter" else None)


# --- two queues ------------------------------------------------------------------------------------------------------

TABLE_2: dict[str, tuple[int, int, bool]] = {
    "1": (4000, 6000, False),
    "2": (4000, 6000, True),
    "3": (4000, 6500, True),
    "4": (6000, 9000, False),
    "5": (6000, 9000, True),
    "6": (6000, 10_000, True),
}
"""Table 2: capacities of the two links in kbit/s, and whether the third stream is there."""
FIGURE_8_S = (70.0, 170.0)


def _three(
    kbps: float, third: bool, rtts: tuple[float, float, float] = (100, 100, 100), **span: Any
) -> list[Flow]:
    flows = [Flow(f"v{i}", "real_time", rtts[i - 1], kbps / 4) for i in (1, 2)]
    return [*flows, Flow("v3", "real_time", rtts[2], kbps / 4, enters=2, **span)] if third else flows


def two_queues(variant: str, _scale: Scale) -> Tree:
    """A row of Table 2."""
    first, second, third = TABLE_2[variant]
    return network(
        f"CVIHIS Table 2, row {variant}", _three(first, third), first=(first, 40), second=(second, 40)
    )


def figure_8(_variant: str, _scale: Scale) -> Tree:
    """Fig. 8: the third stream from 70 to 170 s."""
    start, stop = FIGURE_8_S
    flows = _three(4000, True, start_s=start, stop_s=stop)
    return network("CVIHIS Figure 8", flows, first=(4000, 40), second=(6000, 40), seconds=240)


LONGER = {"v1": (300, 100, 100), "v2": (100, 300, 100), "v3": (100, 100, 300)}


def longer(variant: str, _scale: Scale) -> Tree:
    """§4.5: one of the three has 150 ms one way."""
    flows = _three(4000, True, LONGER[variant])
    return network(f"CVIHIS two queues, {variant} longer", flows, first=(4000, 40), second=(6000, 40))


def place(variant: str, _scale: Scale) -> Tree:
    """§4.5: the one queue is at the first link or at the second."""
    slow, quick = (4000, 40), (100_000, 1000)
    first, second = (slow, quick) if variant == "first" else (quick, slow)
    return network(f"CVIHIS one queue at the {variant} link", _three(4000, False), first=first, second=second)


# --- routes, clocks, modes -------------------------------------------------------------------------------------------

DIRECT_KBPS, BACKUP_KBPS = 700, 400
OFF_S = ((80.0, 150.0), (220.0, 320.0))
ROUTES = ("real_time", "background", "wide background", "wide background pushed", "shorter")
"""Fig. 9; the same in background mode; in background mode over quick links, where 100 ms more are most of what a full queue
takes, without and with a slow push; and with routes of one capacity, to see what a shorter one does."""
WIDE_KBPS = 4000


def rerouting(variant: str, _scale: Scale) -> Tree:
    """Fig. 9: the direct route is off from 80 to 150 s and from 220 to 320 s."""
    shorter, wide = variant == "shorter", "wide" in variant
    mode = "background" if "background" in variant else "real_time"
    params: Tree = {
        "mode": mode,
        "initial_rate": f"{DIRECT_KBPS / 4:g} kbit/s",
        "min_space": 0.0,
        "noise": 0.0,
        "timeout_packets": 0.0,
    }
    if "pushed" in variant:
        params["background_push"] = 1.001
    side = {"rate": ACCESS, "delay": "1 ms", "buffer": "1000 packets"}
    # to a shorter route the capacities stay the same, so that only the delay changes
    direct_kbps = WIDE_KBPS if wide else DIRECT_KBPS
    kbps = direct_kbps if shorter or wide else BACKUP_KBPS
    backup = {"rate": f"{kbps} kbit/s", "delay": "59 ms" if wide else "29 ms", "buffer": "50 packets"}
    links = [
        link("direct", "r1", "r3", rate=f"{direct_kbps} kbit/s", delay="18 ms", buffer="50 packets"),
        link("up", "r1", "r2", **backup),
        link("down", "r2", "r3", **backup),
        link("in", "s", "r1", **side),
        link("out", "r3", "d", **side),
    ]
    flow = {"name": "video", "scheme": "cvihis", "packet": "1500 B", "from": "s", "to": "d", "params": params}
    events = [
        {"at": f"{at:g} s", "link": "direct", "up": up}
        for span in OFF_S
        for at, up in zip(span, (False, True), strict=True)
    ]
    return custom(
        f"CVIHIS Figure 9, {variant}",
        400,
        links,
        [flow],
        events=events,
        record=recording("1000 ms", "rate", "throughput"),
    )


LATE_S = 100.0


def persistent(_variant: str, _scale: Scale) -> Tree:
    """§4.6: six streams keep the queue, and a seventh starts late."""
    flows = [Flow(f"v{i}", "real_time", 60, 500) for i in range(1, 7)]
    flows.append(Flow("late", "real_time", 60, 500, start_s=LATE_S))
    return network(
        "CVIHIS persistent congestion", flows, first=(6000, 50), series=("min_delay",), every_s=0.1
    )


CLOCKS: dict[str, dict[str, str]] = {
    "right": {},
    "ahead": {"offset": "1000000 s"},
    "behind": {"offset": "-1000000 s"},
    "hour": {"offset": "1 h"},
    "fast": {"drift": "100 ppm"},
    "slow": {"drift": "-100 ppm"},
}
"""The receiver's clock."""


def clocks(variant: str, _scale: Scale) -> Tree:
    """§4.6: a real-time stream beside a connection, with a clock that is off or drifts; `fast alone` without it."""
    name, _, more = variant.partition(" ")
    flows = [Flow("video", "real_time", 60, 750)] + ([] if more else [Flow("tcp", "reno", 60)])
    wrong = [{"node": "d-video", **CLOCKS[name]}] if CLOCKS[name] else []
    return network(f"CVIHIS clocks, {variant}", flows, first=(3000, 50), seconds=600, clocks=wrong)


MODE_S = {"soon": (60.0, 80.0), "late": (60.0, 180.0), "late, floor 10": (60.0, 180.0)}
"""When the stream changes to the background mode, and back."""
MODE_VARIANTS = (*MODE_S, "never")
"""These, and the same network without a change."""


def modes(variant: str, _scale: Scale) -> Tree:
    """§2.2, §3: real-time, background, real-time, beside a connection."""
    params = {"min_packet_rate": 10.0} if "floor" in variant else {}
    flows = [Flow("video", "real_time", 60, 1000, params=params), Flow("tcp", "reno", 60)]
    events = [
        {"at": f"{at:g} s", "flow": "video", "action": "mode", "mode": mode}
        for at, mode in zip(MODE_S.get(variant, ()), ("background", "real_time"), strict=False)
    ]
    return network(
        f"CVIHIS modes, {variant}",
        flows,
        first=(4000, 50),
        events=events,
        series=("allowed_rate",),
        every_s=0.05,
    )


RULES_S = 40.0


def rules(variant: str, _scale: Scale) -> Tree:
    """A stream in one of the modes, looked at each millisecond: no two packets leave within one."""
    series = ("position", "command", "min_delay", "max_delay", "update", "allowed_rate", "srtt")
    flows = [Flow("video", variant, 60, 500)]
    return network(
        f"CVIHIS rules, {variant}", flows, first=(2000, 40), seconds=RULES_S, series=series, every_s=0.001
    )
