"""RFC 7928, Characterization Guidelines for Active Queue Management: its scenarios, for queue disciplines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .measures import HIGHER, LOSS, QUEUE, highest, one, ratio
from .networks import Lab, Tree, at, constant, custom, custom_link, dumbbell, packets, scenario
from .rows import Battery, Limit, NotWorse, Row, Samples
from .subject import Subject

AQM = frozenset({"queue"})
REFERENCES = ("fifo", "codel", "pie")
"""Drop-tail (§8.2.6 asks for it), and the two queue disciplines with one queue that are RFCs (8289, 8033)."""

DELAY = NotWorse("lower", "delay", without=frozenset({"fifo"}))
"""Drop-tail is no measure of a delay that active queue management is to reduce."""
FEWER = NotWorse("lower", "loss")

RENO, CUBIC = Subject("reno"), Subject("cubic")
RTT_MS = 100.0
"""Category I of §6.2."""


def _size(lab: Lab, rtt_ms: float = RTT_MS) -> int:
    """§3.2: a bandwidth-delay product of the largest round-trip time, in packets."""
    return packets(lab.rate_mbps, rtt_ms)


def _network(
    subject: Subject, lab: Lab, flows: Sequence[Tree], *, link: Tree | None = None, **keys: Any
) -> Tree:
    """The topology of §3.1; the discipline works in both directions."""
    return dumbbell(lab, flows, rtt_ms=RTT_MS, link={"queue": subject.queue(), **(link or {})}, **keys)


def _one(*flows: Tree, **keys: Any) -> Any:
    """A network with these flows."""
    return lambda subject, lab: {"queue": _network(subject, lab, flows, **keys)}


def _bulk(count: int, name: str = "bulk", **keys: Any) -> Tree:
    return RENO.flow(name, count=count, **keys)


# §5.1 the same initial window of three packets; §5.2 an aggressive sender
FRIENDLY = RENO.flow("x", tcp={"initial_window": 3})
AGGRESSIVE = CUBIC.flow("x")


def _beside_droptail(subject: Subject, lab: Lab) -> dict[str, Tree]:
    return {
        "queue": _network(subject, lab, [FRIENDLY]),
        "drop-tail": _network(Subject("fifo"), lab, [FRIENDLY]),
    }


def _windows(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """§5.1.2: a transfer of 50 packets that starts in the steady state, with an initial window of 3 or 10 packets."""
    return {
        f"initial window {window}": _network(
            subject,
            lab,
            [
                RENO.flow("long"),
                RENO.flow("short", size="73 kB", start=f"{lab.warmup_s:g} s", tcp={"initial_window": window}),
            ],
        )
        for window in (3, 10)
    }


def _overload(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flow = constant("udp", 1.2 * lab.rate_mbps, packet="1500 B")
    return {"queue": _network(subject, lab, [flow])}


def _mixed(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flows = [RENO.flow("x"), constant("udp", 0.6 * lab.rate_mbps, packet="1500 B")]
    return {"queue": _network(subject, lab, flows)}


LEDBAT = Subject("ledbat", {"target": "5 ms"})
"""§5.4 recommends a target of 5 ms and a gain of 10; RFC 6817 allows no gain above 1, which stays."""


def _round_trips(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """§6.2: a flow of 100 ms, and one of 5 to 560 ms; the buffer fits 560 ms in all runs (§3.2)."""
    cases = {}
    for rtt_ms in (5.0, 50.0, 200.0, 560.0):
        wire = {
            "rate": f"{lab.rate_mbps:g} Mbit/s",
            "delay": "1 ms",
            "buffer": f"{_size(lab, 560.0)} packets",
            "queue": subject.queue(),
        }
        links = [custom_link("bottleneck", "r1", "r2", **wire)]
        flows = []
        for name, whole in (("i", RTT_MS), ("ii", rtt_ms)):
            delay = f"{(whole / 2 - 1) / 2:g} ms"
            links += [
                custom_link(f"in-{name}", f"s-{name}", "r1", delay=delay),
                custom_link(f"out-{name}", "r2", f"d-{name}", delay=delay),
            ]
            flows.append(RENO.flow(name, to=f"d-{name}", **{"from": f"s-{name}"}))
        cases[f"{rtt_ms:g} ms"] = scenario(lab, custom(links), flows)
    return cases


def _lowest_ratio(runs: Samples, _lab: Lab) -> float:
    return min(
        ratio(run.value("flow.i.active_goodput"), run.value("flow.ii.active_goodput"))
        for run in runs.values()
    )


PAGE: Tree = {"kind": "page", "connections": 6, "number": 50, "weight": "500 kB", "think": "1 s"}
"""§7.2: fifty objects over six connections; 10 kB each on average."""


def _pages(count: int = 1) -> list[Tree]:
    return [
        RENO.flow(f"page{number}", app={**PAGE, "name": f"page{number}"}) for number in range(1, count + 1)
    ]


def _cbr(lab: Lab, name: str = "cbr", share: float = 0.1) -> Tree:
    return constant(name, share * lab.rate_mbps, packet="1500 B")


def _frames(lab: Lab) -> Tree:
    """Bursty video: 25 frames per second, each sent within 5 ms; a tenth of the link on average."""
    source = {
        "kind": "on_off",
        "rate": f"{0.8 * lab.rate_mbps:g} Mbit/s",
        "on": "5 ms",
        "off": "35 ms",
        "fixed": True,
    }
    return {"name": "video", "source": source, "packet": "1500 B", "start_spread": "100 ms"}


def _bursts(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """Figure 2: cases I to IV."""
    cases = {}
    for name, video, bulk in (("I", 0, 0), ("II", 0, 1), ("III", 1, 0), ("IV", 1, 1)):
        flows = [*_pages(), _cbr(lab)]
        flows += [_frames(lab)] * video + [_bulk(1)] * bulk
        cases[name] = _network(subject, lab, flows)
    return cases


LEVELS = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}
"""§8.2.2 to §8.2.4: flows per packet of bandwidth-delay product and buffer."""


def _flows(lab: Lab, level: str) -> int:
    return max(1, round(LEVELS[level] * 2 * _size(lab)))


def _congestion(level: str) -> Any:
    return lambda subject, lab: {"queue": _network(subject, lab, [_bulk(_flows(lab, level))])}


def _varying_congestion(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """§8.2.5: mild, medium, heavy, each for a third of the measured time."""
    third = (lab.duration_s - lab.warmup_s) / 3
    mild, medium, heavy = (_flows(lab, level) for level in LEVELS)
    flows = [
        _bulk(mild),
        _bulk(medium - mild, name="more", group="bulk", start=f"{lab.warmup_s + third:g} s"),
        _bulk(heavy - medium, name="most", group="bulk", start=f"{lab.warmup_s + 2 * third:g} s"),
    ]
    return {"queue": _network(subject, lab, flows)}


def _capacity(phase_s: float) -> Any:
    """§8.2.6: 100 and 10 Mbit/s in turn."""

    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        fast = replace(lab, rate_mbps=100.0)
        phase = phase_s * lab.duration_s / 60 if phase_s >= 1 else phase_s
        count = round(lab.duration_s / phase)
        events = [
            at(number * phase, rate="10 Mbit/s" if number % 2 else "100 Mbit/s") for number in range(1, count)
        ]
        flow = _bulk(6)
        return {"queue": _network(subject, fast, [flow], events=events)}

    return cases


def _call(name: str, **ends: str) -> Tree:
    """Speech: 64 kbit/s in packets of 20 ms with their headers."""
    return constant(name, 0.08, packet="200 B", **ends)


def _mix(lab: Lab) -> list[Tree]:
    """§9.1: a call in both directions, six pages, a constant rate, a player, five transfers."""
    player = RENO.flow(
        "player",
        app={"kind": "player", "rates": ["500 kbit/s", "1 Mbit/s", "2 Mbit/s", "4 Mbit/s"], "name": "player"},
    )
    return [_call("call"), *_pages(6), _cbr(lab), player, _bulk(5)]


def _traffic_mix(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flows = _mix(lab)
    tree = _network(subject, lab, flows)
    flows.append(_call("back", **{"from": "right1", "to": "left1"}))
    tree["flows"] = flows
    tree["topology"]["pairs"] = 15
    return {"queue": tree}


def _bidirectional(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """§9.2: mild congestion in both directions."""
    count = _flows(lab, "mild")
    there = [
        RENO.flow(f"there{n}", group="there", to=f"right{n}", **{"from": f"left{n}"})
        for n in range(1, count + 1)
    ]
    back = [
        RENO.flow(f"back{n}", group="back", to=f"left{n}", **{"from": f"right{n}"})
        for n in range(1, count + 1)
    ]
    tree = _network(subject, lab, [*there, *back])
    tree["topology"]["pairs"] = count
    return {"queue": tree}


def _several(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """§10.2, figure 3: half of the flows pass two of the disciplines, half the second only."""
    half = max(1, _flows(lab, "mild") // 2)
    wire = {
        "rate": f"{lab.rate_mbps:g} Mbit/s",
        "buffer": f"{_size(lab)} packets",
        "queue": subject.queue(),
    }
    links = [
        custom_link("first", "r1", "r2", delay="10 ms", **wire),
        custom_link("bottleneck", "r2", "r3", delay="10 ms", **wire),
        custom_link("a", "a", "r1", delay="20 ms"),
        custom_link("b", "b", "r2", delay="30 ms"),
        custom_link("da", "r3", "da", delay="10 ms"),
        custom_link("db", "r3", "db", delay="10 ms"),
    ]
    flows = [RENO.flow(name, count=half, to=f"d{name}", **{"from": name}) for name in ("a", "b")]
    return {"queue": scenario(lab, custom(links), flows)}


def _largest(prefix: str, suffix: str) -> Any:
    """The maximum over the runs of a value of the flows or applications whose names begin so."""

    def value(runs: Samples, _lab: Lab) -> float:
        return max(
            run.value(key)
            for run in runs.values()
            for key in run.values
            if key.startswith(prefix) and key.endswith(suffix)
        )

    return value


def _of_droptail(runs: Samples, _lab: Lab) -> float:
    return runs["queue"].value(QUEUE) / max(runs["drop-tail"].value(QUEUE), 1e-6)


GOODPUT = one("flows.goodput")
P95 = ".queueing_delay_p95"


def _pair(name: str, title: str, source: str, network: str, cases: Any) -> tuple[Row, Row]:
    """The two axes of the graph of §2.7."""
    return (
        Row(
            f"{name}-goodput",
            f"{title}: goodput",
            f"RFC 7928 {source}, §2.5",
            f"{network}: goodput of all flows.",
            "bit/s",
            AQM,
            cases,
            GOODPUT,
            HIGHER,
        ),
        Row(
            f"{name}-delay",
            f"{title}: delay",
            f"RFC 7928 {source}, §2.6",
            "The same network: mean wait in the queue.",
            "s",
            AQM,
            cases,
            one(QUEUE),
            DELAY,
        ),
    )


TALK = "It asks for a discussion; there is nothing to measure"

ROWS = (
    Row(
        "4.5-ecn",
        "Interaction with ECN",
        "RFC 7928 §4.5",
        "One flow of reno with ECN: loss ratio at the bottleneck.",
        "share",
        AQM,
        _one(RENO.flow("x", tcp={"ecn": True})),
        one(LOSS),
        FEWER,
    ),
    Row("4.6", "Interaction with scheduling", "RFC 7928 §4.6", "", never=TALK),
    Row(
        "5.1.1-droptail",
        "Less delay than drop-tail",
        "RFC 7928 §4.3, §5.1.1",
        "One flow of reno with an initial window of 3 packets, 100 ms: mean wait in the queue over the wait with drop-tail.",
        "ratio",
        AQM,
        _beside_droptail,
        _of_droptail,
        Limit("less than drop-tail (the goal of §1.1)", high=1.0),
    ),
    *_pair(
        "5.1.1",
        "TCP-friendly sender",
        "§5.1.1",
        "One flow of reno with an initial window of 3 packets, 100 ms",
        _one(FRIENDLY),
    ),
    Row(
        "5.1.2-completion",
        "TCP-friendly senders with different initial windows",
        "RFC 7928 §5.1.2",
        "A transfer of 50 packets with an initial window of 3 or 10 packets beside a long one, reno: the longer completion "
        "time.",
        "s",
        AQM,
        _windows,
        highest("flow.short.fct"),
        DELAY,
    ),
    *_pair("5.2", "Aggressive sender", "§5.2", "One flow of cubic, 100 ms", _one(AGGRESSIVE)),
    Row(
        "5.3-overload",
        "Unresponsive sender: queue",
        "RFC 7928 §5.3",
        "Datagrams of 1.2 times the capacity: mean wait in the queue.",
        "s",
        AQM,
        _overload,
        one(QUEUE),
        DELAY,
    ),
    Row(
        "5.3-mixed",
        "Unresponsive sender beside TCP",
        "RFC 7928 §5.3",
        "Datagrams of 0.6 times the capacity beside one flow of reno: goodput of reno.",
        "bit/s",
        AQM,
        _mixed,
        one("flow.x.active_goodput"),
        HIGHER,
    ),
    Row(
        "5.4-lbe",
        "Less-than-best-effort sender",
        "RFC 7928 §5.4",
        "One flow of LEDBAT with a target of 5 ms beside one of reno: goodput of reno.",
        "bit/s",
        AQM,
        _one(RENO.flow("x"), LEDBAT.flow("lbe")),
        one("flow.x.active_goodput"),
        HIGHER,
    ),
    Row(
        "6.2-round-trips",
        "Round-trip time fairness",
        "RFC 7928 §6.2, §6.3",
        "A flow of reno with 100 ms and one with 5, 50, 200 or 560 ms: lowest ratio of their goodputs.",
        "share",
        AQM,
        _round_trips,
        _lowest_ratio,
        HIGHER,
    ),
    Row(
        "7.2-page",
        "Burst absorption: page load time",
        "RFC 7928 §7.2",
        "Pages of 50 objects over six connections beside a constant rate, with and without bursty video and a transfer: "
        "longest mean page load time of the four cases.",
        "s",
        AQM,
        _bursts,
        _largest("app.page1", ".duration"),
        DELAY,
    ),
    Row(
        "7.2-delay",
        "Burst absorption: delay of others",
        "RFC 7928 §7.2",
        "The same networks: highest 95th percentile of the queueing delay of the constant rate.",
        "s",
        AQM,
        _bursts,
        _largest("flow.cbr", P95),
        DELAY,
    ),
    *(
        row
        for level, section in (("mild", "8.2.2"), ("medium", "8.2.3"), ("heavy", "8.2.4"))
        for row in _pair(
            section,
            f"{level.capitalize()} congestion",
            f"§{section}",
            f"Flows of reno, {LEVELS[level]} per packet of bandwidth-delay product and buffer",
            _congestion(level),
        )
    ),
    *_pair(
        "8.2.5",
        "Varying congestion",
        "§8.2.5",
        "Mild, medium and heavy congestion in turn",
        _varying_congestion,
    ),
    *_pair(
        "8.2.6-slow",
        "Varying capacity, large timescale",
        "§8.2.6",
        "100 and 10 Mbit/s for 20 s in turn (10 s with --quick), six flows of reno",
        _capacity(20.0),
    ),
    *_pair(
        "8.2.6-fast",
        "Varying capacity, short timescale",
        "§8.2.6",
        "100 and 10 Mbit/s for 100 ms in turn, six flows of reno",
        _capacity(0.1),
    ),
    Row("8.3", "Parameter sensitivity and stability analysis", "RFC 7928 §8.3", "", never=TALK),
    Row(
        "9.1-call",
        "Traffic mix: delay of a call",
        "RFC 7928 §9.1",
        "A call in both directions, six pages, a constant rate, a player and five transfers: 95th percentile of the "
        "queueing delay of the call.",
        "s",
        AQM,
        _traffic_mix,
        one("flow.call.queueing_delay_p95"),
        DELAY,
    ),
    Row(
        "9.1-page",
        "Traffic mix: page load time",
        "RFC 7928 §9.1",
        "The same network: longest mean page load time.",
        "s",
        AQM,
        _traffic_mix,
        _largest("app.page", ".duration"),
        DELAY,
    ),
    Row(
        "9.1-bulk",
        "Traffic mix: transfers",
        "RFC 7928 §9.1",
        "The same network: goodput of the five transfers.",
        "bit/s",
        AQM,
        _traffic_mix,
        one("flows.bulk.goodput"),
        HIGHER,
    ),
    Row(
        "9.2-utilisation",
        "Bidirectional traffic: utilisation",
        "RFC 7928 §9.2",
        "Mild congestion in both directions: lower utilisation of the two.",
        "share",
        AQM,
        _bidirectional,
        lambda runs, _lab: min(
            runs["queue"].value(f"link.bottleneck.{way}utilisation") for way in ("", "backward.")
        ),
        HIGHER,
    ),
    Row(
        "9.2-delay",
        "Bidirectional traffic: delay",
        "RFC 7928 §9.2",
        "The same network: longer mean wait in a queue of the two.",
        "s",
        AQM,
        _bidirectional,
        lambda runs, _lab: max(
            runs["queue"].value(f"link.bottleneck.{way}queue") for way in ("", "backward.")
        ),
        DELAY,
    ),
    *_pair(
        "10.2",
        "Several queues with the discipline",
        "§10.2",
        "Mild congestion of reno at two queues in a row, half of it at the second only",
        _several,
    ),
    Row("11.2", "Implementation cost", "RFC 7928 §11.2", "", never=TALK),
    Row("12.2", "Operator control and auto-tuning", "RFC 7928 §12.2", "", never=TALK),
)

BATTERY = Battery(
    "rfc7928",
    "RFC 7928: active queue management",
    "The scenarios that §13 of the document lists, on a link of 10 Mbit/s and 100 ms with a buffer of one bandwidth-delay "
    "product. It has no thresholds: bands are what drop-tail, CoDel and PIE get in the same networks; a delay is compared "
    "with CoDel and PIE only.",
    ROWS,
    references=REFERENCES,
    traits=AQM,
)
