"""Common TCP Evaluation Suite, draft-irtf-iccrg-tcpeval-01: its basic scenarios and the experiments of §5 and §6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .measures import HARM, HIGHER, LOSS, LOWER_DELAY, LOWER_LOSS, QUEUE, UTILISATION, one, ratio
from .networks import Lab, Tree, constant, custom, custom_link, dumbbell, packets, scenario
from .rows import Battery, Row, Samples, Unfinished
from .subject import Subject

TRANSFERS = frozenset({"unicast", "backlogged", "transfers"})
DRAFT = "draft-irtf-iccrg-tcpeval-01"

LEFT_MS, RIGHT_MS = (0.0, 12.0, 25.0), (2.0, 37.0, 75.0)
"""§4.1: one-way delays of the links of nodes 1 to 3 and 4 to 6. The nine pairs have round-trip times from 4 to 200 ms."""
LOAD = 0.85
"""§4.2: the high one of the three loads."""
BACK = 0.25
"""Load in the opposite direction, as a share of `LOAD`. The suite's traces are asymmetric; this ratio is our choice."""
SIZE_BYTES, LARGE_BYTES = 60e3, 300e3
"""Mean of the transfers at 10 Mbit/s, and from 40 Mbit/s. The suite replays traces of a campus (Tmix) instead."""
SHAPE = 1.5
"""Shape of their Pareto-distributed sizes."""


@dataclass(frozen=True)
class Central:
    """The central link of a scenario of §4.4."""

    title: str
    section: str
    rate_mbps: float
    delay: str
    buffer_ms: float
    edge: str
    back_mbps: float | None = None
    """Rate in the opposite direction, if it differs, with a buffer of 1 s."""
    left: Sequence[str] | None = None
    right: Sequence[str] | None = None
    """Delays of edge links, if they differ from §4.1."""
    duration_s: float = 60.0
    size_bytes: float = LARGE_BYTES


SCENARIOS = {
    "data-center": Central(
        "Data centre",
        "4.4.1",
        1000.0,
        "0 us",
        10.0,
        "1 Gbit/s",
        left=("10 us", "10 us", "100 us"),
        right=("10 us", "100 us", "100 us"),
        duration_s=6.0,
        size_bytes=1e6,
    ),
    "access-link": Central("Access link", "4.4.2", 100.0, "2 ms", 100.0, "100 Mbit/s", duration_s=30.0),
    "trans-oceanic": Central(
        "Trans-oceanic link", "4.4.3", 1000.0, "65 ms", 100.0, "1 Gbit/s", duration_s=15.0, size_bytes=1e6
    ),
    "satellite": Central(
        "Geostationary satellite", "4.4.4", 40.0, "300 ms", 100.0, "100 Mbit/s", back_mbps=4.0
    ),
    "dial-up": Central(
        "Dial-up link", "4.4.6", 0.064, "5 ms", 1250.0, "100 Mbit/s", duration_s=600.0, size_bytes=6e3
    ),
}
"""§4.4. Durations are ours: the suite's are up to two days."""


def _queue(rate_mbps: float, wait_ms: float) -> str:
    return f"{max(2, round(rate_mbps * 1e3 * wait_ms / 8 / 1500))} packets"


def _transfers(
    subject: Subject, name: str, ends: tuple[str, str], load_mbps: float, group: str, size: float
) -> Tree:
    """Transfers that arrive at random and bring this load."""
    arrivals = {
        "load": f"{load_mbps * 1e3:.6g} kbit/s",
        "size": f"{size / 1e3:g} kB",
        "size_shape": SHAPE,
    }
    flow = subject.flow(name, to=ends[1], group=group, arrivals=arrivals, **{"from": ends[0]})
    del flow["start_spread"]
    return flow


def _pairs(
    subject: Subject,
    rate_mbps: float,
    load: float,
    *,
    group: str = "forward",
    back: float | None = None,
    size: float = SIZE_BYTES,
) -> list[Tree]:
    """The traffic of §4.2: transfers between all nine pairs; with `back`, a rate, also in the opposite direction."""
    flows = []
    for left in (1, 2, 3):
        for right in (4, 5, 6):
            ends = (f"n{left}", f"n{right}")
            flows.append(
                _transfers(subject, f"{group}{left}{right}", ends, load * rate_mbps / 9, group, size)
            )
            if back is not None:
                rate = BACK * load * back / 9
                flows.append(
                    _transfers(subject, f"back{left}{right}", (ends[1], ends[0]), rate, "back", size)
                )
    return flows


def _edges(
    left: Sequence[str] | None = None, right: Sequence[str] | None = None, rate: str = "100 Mbit/s"
) -> list[Tree]:
    """The edge links of §4.1, to nodes `n1` … `n6`."""
    delays = [
        *(left or [f"{delay:g} ms" for delay in LEFT_MS]),
        *(right or [f"{delay:g} ms" for delay in RIGHT_MS]),
    ]
    links = []
    for number, delay in enumerate(delays, start=1):
        ends = (f"n{number}", "r1") if number <= 3 else ("r2", f"n{number}")
        links.append(custom_link(f"e{number}", *ends, rate=rate, delay=delay, buffer="10000 packets"))
    return links


def _basic(central: Central) -> Any:
    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        lab = _scaled(lab, central.duration_s)
        link: Tree = {
            "rate": f"{central.rate_mbps * 1e3:g} kbit/s",
            "delay": central.delay,
            "buffer": _queue(central.rate_mbps, central.buffer_ms),
        }
        back = central.rate_mbps
        if central.back_mbps is not None:
            back = central.back_mbps
            link["backward"] = {"rate": f"{back * 1e3:g} kbit/s", "buffer": _queue(back, 1000.0)}
        links = [
            custom_link("bottleneck", "r1", "r2", **link),
            *_edges(central.left, central.right, central.edge),
        ]
        flows = _pairs(subject, central.rate_mbps, LOAD, back=back, size=central.size_bytes)
        return {"basic": scenario(lab, custom(links), flows, series=[])}

    return cases


def _scaled(lab: Lab, duration_s: float) -> Lab:
    """A laboratory whose full runs last so long; a third of it is warm-up."""
    share = lab.duration_s / 60.0
    return replace(lab, duration_s=duration_s * share, warmup_s=duration_s * share / 3)


def _basic_rows() -> tuple[Row, ...]:
    rows = []
    for name, central in SCENARIOS.items():
        source = f"{DRAFT} §{central.section}, §4.5"
        rate = f"{central.rate_mbps:g} Mbit/s" if central.rate_mbps >= 1 else "64 kbit/s"
        network = f"{rate}, load {LOAD:.0%} by transfers between nine pairs".replace("%", " %")
        for word, title, what, unit, key, band in (
            ("utilisation", "utilisation", f"{network}: utilisation of the central link.", "share", UTILISATION, HIGHER),
            ("loss", "drop rate", "The same network: drop rate at the central link.", "share", LOSS, LOWER_LOSS),
            ("delay", "queueing delay", "The same network: mean queueing delay at the central link.", "s", QUEUE,
             LOWER_DELAY),
        ):  # fmt: skip
            rows.append(
                Row(
                    f"4.4-{name}-{word}",
                    f"{central.title}: {title}",
                    source,
                    what,
                    unit,
                    TRANSFERS,
                    _basic(central),
                    one(key),
                    band,
                )
            )
    return tuple(rows)


# --- §5 latency ------------------------------------------------------------------------------------------------------

BUFFERS = (0.1, 0.2, 0.5, 1.0, 2.0)
"""§5.1.1: of the bandwidth-delay product of 100 ms."""


def _buffers(subject: Subject, lab: Lab) -> dict[str, Tree]:
    lab = _scaled(lab, 20.0)
    cases = {}
    for share in BUFFERS:
        link = {"rate": "100 Mbit/s", "delay": "2 ms", "buffer": _queue(100.0, 100.0 * share)}
        links = [custom_link("bottleneck", "r1", "r2", **link), *_edges()]
        flows = _pairs(subject, 100.0, LOAD, back=100.0, size=LARGE_BYTES)
        cases[f"{share:g} BDP"] = scenario(lab, custom(links), flows, series=[])
    return cases


def _mean(key: str) -> Any:
    return lambda runs, _lab: sum(run.value(key) for run in runs.values()) / len(runs)


ROUND_TRIPS = {
    "80, 80 ms": (0, 0, 38, 38),
    "120, 30 ms": (23, 12, 35, 1),
    "30, 120 ms": (12, 23, 1, 35),
}
"""Table 8: delays of the links of T_n1 … T_n4 in ms, with a central link of 2 ms."""


def _two_flows(
    subject: Subject, lab: Lab, delays_ms: Sequence[float], flows: Sequence[Tree], *, buffer: str
) -> Tree:
    """The topology of §5.2: two flows under test, and half of 10 Mbit/s by background transfers between nine pairs."""
    bottleneck = {"rate": "10 Mbit/s", "delay": "2 ms", "buffer": buffer}
    links = [custom_link("bottleneck", "r1", "r2", **bottleneck), *_edges(rate="1 Gbit/s")]
    for name, ends, delay in zip(
        ("t1", "t2", "t3", "t4"),
        (("t1", "r1"), ("t2", "r1"), ("r2", "t3"), ("r2", "t4")),
        delays_ms,
        strict=True,
    ):
        links.append(custom_link(name, *ends, rate="1 Gbit/s", delay=f"{delay:g} ms"))
    background = _pairs(subject, 10.0, 0.5)
    return scenario(lab, custom(links), [*flows, *background], series=[])


def _ramp_up(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flows = [
        subject.flow("x", to="t3", **{"from": "t1"}),
        subject.flow("y", to="t4", size="1.5 MB", start=f"{lab.warmup_s:g} s", **{"from": "t2"}),
    ]
    buffer = _queue(10.0, 80.0)
    return {
        name: _two_flows(subject, lab, delays, flows, buffer=buffer) for name, delays in ROUND_TRIPS.items()
    }


def _slowest_ramp(runs: Samples, lab: Lab) -> float:
    """The longest time until the new flow has brought 1.5 MB; what is not complete counts with the rest of the run."""
    return max(_completion(runs[name].values.get("flow.y.fct"), lab) for name in ROUND_TRIPS)


def _completion(found: float | None, lab: Lab) -> float:
    return Unfinished(lab.duration_s - lab.warmup_s, "not complete") if found is None else found


TRANSIENT_S = 100.0


def _transient(subject: Subject, lab: Lab, events: Sequence[Tree], first: str | None) -> Tree:
    """The network of §5.3: 100 Mbit/s, 100 ms, 1024 packets, one flow, and datagrams that change at the warm-up."""
    other = constant("other", 75.0, packet="1500 B", **({} if first is None else {"start": first}))
    link = {"buffer": "1024 packets"}
    flows = [subject.flow("x"), other]
    duration = lab.warmup_s + TRANSIENT_S * lab.duration_s / 60
    tree = dumbbell(lab, flows, rate_mbps=100.0, rtt_ms=100.0, link=link, events=events)
    return tree | {"duration": f"{duration:g} s"}


def _release(subject: Subject, lab: Lab) -> dict[str, Tree]:
    events = [{"at": f"{lab.warmup_s:g} s", "flow": "other", "action": "stop"}]
    return {"release": _transient(subject, lab, events, None)}


def _arrival(subject: Subject, lab: Lab) -> dict[str, Tree]:
    return {"arrival": _transient(subject, lab, (), f"{lab.warmup_s:g} s")}


def _steps(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """Thirty sources of 2.5 Mbit/s, one more each second."""
    tree = _transient(subject, lab, (), "0 s")
    flows = [tree["flows"][0]]
    for number in range(30):
        other = constant(
            f"other{number + 1}", 2.5, packet="1500 B", group="other", start=f"{lab.warmup_s + number:g} s"
        )
        flows.append(other)
    return {"steps": tree | {"flows": flows}}


def _until(share: float) -> Any:
    """Seconds from the release until the flow sends at this share of the link for the first time."""

    def value(runs: Samples, lab: Lab) -> float:
        run = runs["release"]
        times, rates = run.series["rate@flow.x"]
        reached = times[(times > lab.warmup_s) & (rates >= share * 100e6)]
        if len(reached):
            return float(reached[0] - lab.warmup_s)
        return Unfinished(TRANSIENT_S * lab.duration_s / 60, "not taken up")

    return value


def _lost(runs: Samples, _lab: Lab) -> float:
    """Datagrams dropped per datagram sent."""
    run = next(iter(runs.values()))
    names = {
        key.rsplit(".", 1)[0]
        for key in run.values
        if key.startswith("flow.other") and key.endswith(".sent_packets")
    }
    sent = sum(run.value(f"{name}.sent_packets") for name in names)
    return sum(run.value(f"{name}.drops") for name in names) / max(sent, 1.0)


# --- §6 throughput and fairness --------------------------------------------------------------------------------------


def _impact(load: float) -> Any:
    """Camps A, of standard TCP, and B, of the scheme, with equal loads; and both of standard TCP."""

    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        standard = Subject("reno")
        link = {"rate": "10 Mbit/s", "delay": "2 ms", "buffer": _queue(10.0, 80.0)}
        links = [custom_link("bottleneck", "r1", "r2", **link), *_edges(rate="1 Gbit/s")]
        camp = {
            name: _pairs(actor, 10.0, load / 2, group=group)
            for name, actor, group in (("a", standard, "a"), ("b", subject, "b"), ("same", standard, "b"))
        }
        return {
            "mix": scenario(lab, custom(links), camp["a"] + camp["b"], series=[]),
            "baseline": scenario(lab, custom(links), camp["a"] + camp["same"], series=[]),
        }

    return cases


def _camp(group: str) -> Any:
    """Throughput of a camp in the mix over that in the baseline: L of camp A, G of camp B."""

    def value(runs: Samples, _lab: Lab) -> float:
        mix, baseline = (runs[name].value(f"flows.{group}.goodput") for name in ("mix", "baseline"))
        return mix / max(baseline, 1.0)

    return value


RTTS_MS = (10, 20, 40, 80, 160)


def _fair(pairs: Sequence[tuple[int, int]]) -> Any:
    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        found = {}
        for first, second in pairs:
            delays = (0.0, 0.0, first / 2 - 2, second / 2 - 2)
            spread = f"{lab.duration_s / 10:g} s"
            flows = [
                subject.flow("x", to="t3", **{"from": "t1", "start_spread": spread}),
                subject.flow("y", to="t4", **{"from": "t2", "start_spread": spread}),
            ]
            buffer = f"{packets(10.0, 100.0)} packets"
            found[f"{first}, {second} ms"] = _two_flows(subject, lab, delays, flows, buffer=buffer)
        return found

    return cases


def _lowest_ratio(runs: Samples, _lab: Lab) -> float:
    return min(
        ratio(run.value("flow.x.active_throughput"), run.value("flow.y.active_throughput"))
        for run in runs.values()
    )


def _parking_lot(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """Figure 10: three links of 100 Mbit/s and 10 ms; every flow has a round-trip time of 60 ms."""
    lab = _scaled(lab, 20.0)
    wire = {"rate": "100 Mbit/s", "delay": "10 ms", "buffer": f"{packets(100.0, 60.0)} packets"}
    links = [custom_link(name, f"r{n}", f"r{n + 1}", **wire) for n, name in enumerate("abc", start=1)]
    delays = {1: 0, 2: 10, 3: 10, 4: 10, 5: 10, 6: 10, 7: 10, 8: 0}
    places = {1: "r1", 2: "r1", 3: "r2", 4: "r2", 5: "r3", 6: "r3", 7: "r4", 8: "r4"}
    links += [
        custom_link(f"e{n}", f"n{n}", places[n], rate="1 Gbit/s", delay=f"{delay} ms")
        for n, delay in delays.items()
    ]
    flows = []
    for number, (first, last) in enumerate(((1, 8), (2, 3), (4, 5), (6, 7)), start=1):
        group = "long" if number == 1 else "short"
        ends = (f"n{first}", f"n{last}")
        flows.append(_transfers(subject, f"f{number}", ends, 50.0, group, LARGE_BYTES))
        flows.append(_transfers(subject, f"b{number}", (ends[1], ends[0]), 50.0, group, LARGE_BYTES))
    return {"hops": scenario(lab, custom(links), flows, series=[])}


def _long_share(runs: Samples, _lab: Lab) -> float:
    """Throughput of the flows over three links over the mean of those over one."""
    run = runs["hops"]
    return run.value("flows.long.goodput") * 3 / max(run.value("flows.short.goodput"), 1.0)


ROWS = (
    *_basic_rows(),
    Row(
        "4.4-wireless-lan",
        "Wireless LAN",
        f"{DRAFT} §4.4.5",
        "",
        never="The simulator has no shared medium with contention (802.11g); RFC 9743 §6.4 above has models of radio links",
    ),
    Row(
        "5.1-utilisation",
        "Trade-off between delay and throughput: throughput",
        f"{DRAFT} §5.1",
        "The access link with buffers of 10, 20, 50, 100 and 200 % of the product of 100 ms: mean utilisation.",
        "share",
        TRANSFERS,
        _buffers,
        _mean(UTILISATION),
        HIGHER,
    ),
    Row(
        "5.1-loss",
        "Trade-off between delay and throughput: drop rate",
        f"{DRAFT} §5.1",
        "The same five networks: mean drop rate.",
        "share",
        TRANSFERS,
        _buffers,
        _mean(LOSS),
        LOWER_LOSS,
    ),
    Row(
        "5.1-delay",
        "Trade-off between delay and throughput: delay",
        f"{DRAFT} §5.1",
        "The same five networks: mean queueing delay.",
        "s",
        TRANSFERS,
        _buffers,
        _mean(QUEUE),
        LOWER_DELAY,
    ),
    Row(
        "5.2-ramp-up",
        "Ramp-up time",
        f"{DRAFT} §5.2",
        "10 Mbit/s, half of it background: time until a new flow beside one of the scheme has brought 1.5 MB, the longest "
        "of three pairs of round-trip times. It has slow start (§5.2.2.1).",
        "s",
        TRANSFERS,
        _ramp_up,
        _slowest_ramp,
        LOWER_DELAY,
    ),
    Row(
        "5.3-release",
        "Transients: release of capacity",
        f"{DRAFT} §5.3",
        "75 of 100 Mbit/s become free, 100 ms: time until the flow sends 80 Mbit/s.",
        "s",
        TRANSFERS,
        _release,
        _until(0.8),
        LOWER_DELAY,
    ),
    Row(
        "5.3-arrival",
        "Transients: arrival of many flows",
        f"{DRAFT} §5.3",
        "75 of 100 Mbit/s are taken by datagrams: share of them that is dropped.",
        "share",
        TRANSFERS,
        _arrival,
        _lost,
        LOWER_LOSS,
    ),
    Row(
        "5.3-steps",
        "Transients: arrival step by step",
        f"{DRAFT} §5.3",
        "Thirty sources of 2.5 Mbit/s arrive, one per second: share of their datagrams that is dropped.",
        "share",
        TRANSFERS,
        _steps,
        _lost,
        LOWER_LOSS,
    ),
    *(
        Row(
            f"6.1-{word}",
            f"Impact on standard TCP, load {load:.0%}: throughput left".replace("%", " %"),
            f"{DRAFT} §6.1",
            f"Camps of equal load, 10 Mbit/s, {load:.0%} together: goodput of standard TCP beside the scheme over that "
            "beside standard TCP (L).".replace("%", " %"),
            "ratio",
            TRANSFERS,
            _impact(load),
            _camp("a"),
            HARM,
        )
        for load, word in ((0.5, "half"), (1.0, "full"))
    ),
    Row(
        "6.1-gain",
        "Impact on standard TCP: gain",
        f"{DRAFT} §6.1",
        "The same network at full load: goodput of the scheme's camp over the goodput of standard TCP in its place (G).",
        "ratio",
        TRANSFERS,
        _impact(1.0),
        _camp("b"),
        HIGHER,
    ),
    Row(
        "6.2-intra-protocol",
        "Intra-protocol fairness",
        f"{DRAFT} §6.2.2.1",
        "Two flows with equal round-trip times of 10 to 160 ms, half of 10 Mbit/s background: lowest ratio of throughputs.",
        "share",
        TRANSFERS,
        _fair([(rtt, rtt) for rtt in RTTS_MS]),
        _lowest_ratio,
        HIGHER,
    ),
    Row(
        "6.2-inter-rtt",
        "Inter-RTT fairness",
        f"{DRAFT} §6.2.2.2",
        "A flow with 160 ms and one with 10 to 80 ms in the same network: lowest ratio of throughputs.",
        "share",
        TRANSFERS,
        _fair([(160, rtt) for rtt in RTTS_MS[:-1]]),
        _lowest_ratio,
        HIGHER,
    ),
    Row(
        "6.3-bottlenecks",
        "Multiple bottlenecks",
        f"{DRAFT} §6.3",
        "Three links of 100 Mbit/s in a row, each with a load of 50 % over all and 50 % of its own: goodput over three "
        "links over that over one.",
        "ratio",
        TRANSFERS,
        _parking_lot,
        _long_share,
        HIGHER,
    ),
)

BATTERY = Battery(
    "tcpeval",
    "TCP Evaluation Suite",
    f"The scenarios of the Common TCP Evaluation Suite ({DRAFT}) at its high load. Its Tmix traces are replaced by "
    "transfers with Pareto-distributed sizes, and its runs of up to two days by shorter ones. It has no thresholds: bands "
    "are what the reference schemes get in the same networks.",
    ROWS,
    traits=TRANSFERS,
)
