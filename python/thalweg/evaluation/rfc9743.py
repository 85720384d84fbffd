"""RFC 9743, Specifying New Congestion Control Algorithms (BCP 133): each criterion of §5, each path of §6 and §7."""

from __future__ import annotations

import math
from typing import Any

from .measures import (
    HARM,
    HARM_DELAY,
    HIGHER,
    LOSS,
    LOWER_DELAY,
    LOWER_LOSS,
    PACKET_BITS,
    QUEUE,
    UTILISATION,
    highest,
    last_quarter,
    lowest,
    one,
    packets_per_rtt,
)
from .networks import Lab, Tree, at, constant, dumbbell
from .rows import Battery, Limit, NotWorse, Row, Samples
from .subject import Subject

UNICAST = frozenset({"unicast", "backlogged"})
TRANSFERS = UNICAST | {"transfers"}
ECN = UNICAST | {"ecn"}
TCP = UNICAST | {"tcp"}
SMALL = UNICAST | {"small"}


def _alone(**keys: Any) -> Any:
    """One flow on a dumbbell."""
    return lambda subject, lab: {"alone": dumbbell(lab, [subject.flow("x")], **keys)}


# --- §5.1 one algorithm ----------------------------------------------------------------------------------------------

RTT_MS = 100.0


def _persistent_loss(subject: Subject, lab: Lab) -> dict[str, Tree]:
    events = [at(lab.warmup_s / 2, loss=0.7)]
    return {"loss": dumbbell(lab, [subject.flow("x")], rtt_ms=RTT_MS, events=events)}


def _no_feedback(subject: Subject, lab: Lab) -> dict[str, Tree]:
    events = [at(lab.warmup_s / 2, up=False)]
    return {"outage": dumbbell(lab, [subject.flow("x")], rtt_ms=RTT_MS, events=events)}


def _several(count: int, **keys: Any) -> Any:
    return lambda subject, lab: {
        "several": dumbbell(lab, [subject.flow("x", count=count)], **keys),
    }


def _short_flows(scheme: Subject, lab: Lab, name: str, share: float) -> Tree:
    size = 30e3
    rate = share * lab.rate_mbps * 1e6 / 8 / size
    flow = scheme.flow(name, arrivals={"rate": rate, "size": "30 kB"})
    del flow["start_spread"]
    return flow


CUBIC, RENO = Subject("cubic"), Subject("reno")

# --- §5.2 several algorithms -----------------------------------------------------------------------------------------


def _beside(victim: Subject, bdp: float) -> Any:
    return lambda subject, lab: {
        "beside": dumbbell(lab, [subject.flow("x"), victim.flow("victim")], bdp=bdp),
    }


def _harm_rows() -> tuple[Row, ...]:
    rows = []
    for victim in (CUBIC, RENO):
        for bdp, words, word in ((0.5, "a shallow", "shallow"), (1.0, "a", "1bdp"), (4.0, "a deep", "deep")):
            name = victim.scheme
            rows.append(
                Row(
                    f"5.2.1-{name}-{word}",
                    f"Throughput left to {name} at {words} queue",
                    "RFC 9743 §5.2.1",
                    f"One flow beside one of {name}, 40 ms, a queue of {bdp:g} BDP: throughput of {name}.",
                    "bit/s",
                    UNICAST,
                    _beside(victim, bdp),
                    one("flow.victim.active_throughput"),
                    HARM,
                )
            )
    rows += [
        Row(
            "5.2-latency",
            "Latency given to CUBIC",
            "RFC 9743 §5.2",
            "One flow beside one of cubic, 40 ms, a queue of 4 BDP: 95th percentile of the queueing delay of cubic.",
            "s",
            UNICAST,
            _beside(CUBIC, 4.0),
            one("flow.victim.queueing_delay_p95"),
            HARM_DELAY,
        ),
        Row(
            "5.2-loss",
            "Loss given to CUBIC",
            "RFC 9743 §5.2",
            "One flow beside one of cubic, 40 ms, a queue of 0.5 BDP: loss ratio of cubic.",
            "share",
            UNICAST,
            _beside(CUBIC, 0.5),
            one("flow.victim.loss_ratio"),
            LOWER_LOSS,
        ),
        Row(
            "5.2-starvation",
            "Backoff when all feedback is lost",
            "RFC 9743 §5.2",
            "The link fails for good: packets sent per round trip of 100 ms in the last third of the run.",
            "packets/RTT",
            UNICAST,
            _no_feedback,
            lambda runs, lab: packets_per_rtt(runs, lab.duration_s * 2 / 3, lab.duration_s, RTT_MS / 1e3),
            Limit("at most one packet per round trip (§5.1.1)", high=1.0),
        ),
    ]
    return tuple(rows)


def _real_time(subject: Subject, lab: Lab) -> dict[str, Tree]:
    media = Subject("nada").flow("media", packet="1200 B", encoder={"min": "150 kbit/s", "max": "1.5 Mbit/s"})
    return {"beside": dumbbell(lab, [subject.flow("x"), media], rate_mbps=4.0, rtt_ms=60, bdp=2.0)}


def _short_and_long(subject: Subject, lab: Lab) -> dict[str, Tree]:
    return {"beside": dumbbell(lab, [subject.flow("x"), _short_flows(CUBIC, lab, "short", 0.2)])}


# --- §6 general use --------------------------------------------------------------------------------------------------


def _grid(subject: Subject, lab: Lab) -> dict[str, Tree]:
    rates = (lab.rate_mbps / 4, lab.rate_mbps * 4) if lab.rate_mbps > 1 else (0.5, 1.0)
    return {
        f"{rate:g} Mbit/s, {rtt:g} ms, {bdp:g} BDP": dumbbell(
            lab, [subject.flow("x")], rate_mbps=rate, rtt_ms=rtt, bdp=bdp
        )
        for rate in rates
        for rtt in (10.0, 100.0)
        for bdp in (0.5, 4.0)
    }


# --- §7 special cases ------------------------------------------------------------------------------------------------


def _with_queue(kind: str) -> Any:
    return lambda subject, lab: {
        kind: dumbbell(lab, [subject.flow("x")], bdp=10.0, link={"queue": kind, "buffer": "1000 packets"})
    }


def _aqm_rows() -> tuple[Row, ...]:
    return tuple(
        row
        for kind, name in (("fq_codel", "FQ-CoDel"), ("pie", "PIE"), ("dualpi2", "DualPI2"))
        for row in (
            Row(
                f"7.1-{kind}-utilisation",
                f"Utilisation behind {name}",
                "RFC 9743 §7.1",
                f"One flow, 40 ms, {name}: utilisation.",
                "share",
                UNICAST,
                _with_queue(kind),
                one(UTILISATION),
                HIGHER,
            ),
            Row(
                f"7.1-{kind}-delay",
                f"Queueing delay behind {name}",
                "RFC 9743 §7.1",
                f"One flow, 40 ms, {name}: 95th percentile of the queueing delay.",
                "s",
                UNICAST,
                _with_queue(kind),
                one("flow.x.queueing_delay_p95"),
                LOWER_DELAY,
            ),
        )
    )


def _marks(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flow = subject.flow("x", **subject.marked)
    return {"marks": dumbbell(lab, [flow], bdp=10.0, link={"mark_above": 20})}


BREAKER_LOSS = 0.02
BREAKER_RTT_MS = 50.0


def _breaker(subject: Subject, lab: Lab) -> dict[str, Tree]:
    return {
        "loss": dumbbell(
            lab, [subject.flow("x")], rate_mbps=50.0, rtt_ms=BREAKER_RTT_MS, link={"loss": BREAKER_LOSS}
        )
    }


def _breaker_ratio(runs: Samples, _lab: Lab) -> float:
    """Rate over the TCP throughput equation, [RFC 8083 §4.3]: s / (RTT √(2p/3))."""
    run = next(iter(runs.values()))
    rtt_s, loss = BREAKER_RTT_MS / 1e3, run.value("flow.x.loss_ratio")
    return run.value("flow.x.rate") / (PACKET_BITS / (rtt_s * math.sqrt(2 * max(loss, BREAKER_LOSS) / 3)))


def _delay_step(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flow = [subject.flow("x")]
    return {
        "longer": dumbbell(lab, flow, bdp=2.0, events=[at(lab.half_s, delay="58 ms")]),
        "shorter": dumbbell(lab, flow, rtt_ms=120.0, bdp=1.0, events=[at(lab.half_s, delay="18 ms")]),
    }


def _iot(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flow = subject.flow("x", packet="128 B")
    link = {"buffer": "20 packets"}
    return {"slow": dumbbell(lab, [flow], rate_mbps=0.1, rtt_ms=200.0, link=link)}


def _unresponsive(subject: Subject, lab: Lab) -> dict[str, Tree]:
    return {
        "beside": dumbbell(lab, [subject.flow("x"), constant("other", lab.rate_mbps / 2, packet="1500 B")])
    }


def _lying(**tcp: Any) -> Any:
    """A flow whose receiver lies, beside a CUBIC flow."""

    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        return {"beside": dumbbell(lab, [subject.flow("x", tcp=tcp), CUBIC.flow("victim")])}

    return cases


LIES: dict[str, tuple[str, str, Any]] = {
    "ack-division": (
        "a receiver that divides acknowledgements",
        "eight acknowledgements per segment, each of another part",
        {"acks": "divided"},
    ),
    "dupack-spoofing": (
        "a receiver that forges duplicate acknowledgements",
        "five copies of each acknowledgement, without SACK",
        {"acks": "repeated", "sack": False},
    ),
    "optimistic": (
        "a receiver with optimistic acknowledgements",
        "acknowledgements of lost segments, and of four segments in advance, with a receive window of 3 MB",
        # the largest of Linux, half of tcp_rmem: without it windows that no loss stops grow beyond all memory
        {"acks": "optimistic", "receive_window": "3 MB"},
    ),
}
"""Receivers that lie: S. Savage et al., TCP Congestion Control with a Misbehaving Receiver, CCR 29(5), 1999."""


def _lying_rows() -> tuple[Row, ...]:
    return tuple(
        Row(
            f"7.6-{name}",
            f"Misbehaving nodes: {title}",
            "RFC 9743 §7.6, Savage et al. 1999",
            f"The receiver sends {what}: throughput of a CUBIC flow beside it.",
            "bit/s",
            TCP,
            _lying(**tcp),
            one("flow.victim.active_throughput"),
            HARM,
        )
        for name, (title, what, tcp) in LIES.items()
    )


def _outage(subject: Subject, lab: Lab) -> dict[str, Tree]:
    events = [at(lab.half_s, up=False), at(lab.half_s + 2, up=True)]
    return {"outage": dumbbell(lab, [subject.flow("x")], events=events, series=["rate", "utilisation"])}


def _onset(subject: Subject, lab: Lab) -> dict[str, Tree]:
    other = constant("other", 0.75 * lab.rate_mbps, packet="1500 B", start=f"{lab.half_s:g} s")
    return {"onset": dumbbell(lab, [subject.flow("x"), other])}


def _path_change(subject: Subject, lab: Lab) -> dict[str, Tree]:
    rate = lab.rate_mbps
    third = (lab.duration_s - lab.warmup_s) / 3
    events = [
        at(lab.warmup_s + third, rate=f"{rate / 4:g} Mbit/s", delay="48 ms"),
        at(lab.warmup_s + 2 * third, rate=f"{rate:g} Mbit/s", delay="18 ms"),
    ]
    return {"change": dumbbell(lab, [subject.flow("x")], events=events, series=["rate", "utilisation"])}


def _incast(subject: Subject, lab: Lab) -> dict[str, Tree]:
    del lab
    link = {"rate": "1 Gbit/s", "delay": "25 us", "buffer": "64 packets"}
    answer = subject.flow("x", to="leaf17", size="64 kB", start="1 s", start_spread="100 us")
    answer["from"] = "leaf*"
    return {
        "incast": {
            "title": "evaluation",
            "duration": "10 s",
            "topology": {"kind": "star", "leaves": 17, "link": link},
            "flows": [answer],
        }
    }


WORDS = "It is a duty of the document that proposes the scheme; there is nothing to measure"

ROWS: tuple[Row, ...] = (
    Row(
        "5.1.1-full-backoff",
        "Protection against congestion collapse: full backoff",
        "RFC 9743 §5.1.1",
        "70 % of the packets are lost: packets sent per round trip of 100 ms in the second half of the run.",
        "packets/RTT",
        UNICAST,
        _persistent_loss,
        lambda runs, lab: packets_per_rtt(runs, lab.half_s, lab.duration_s, RTT_MS / 1e3),
        Limit("at most one packet per round trip (§5.1.1)", high=1.0),
    ),
    Row(
        "5.1.2-bufferbloat",
        "Protection against bufferbloat",
        "RFC 9743 §5.1.2",
        "One flow, 40 ms, a queue of 10 BDP: mean wait in the queue.",
        "s",
        UNICAST,
        _alone(bdp=10.0),
        one(QUEUE),
        LOWER_DELAY,
    ),
    Row(
        "5.1.3-loss",
        "Protection against high packet loss",
        "RFC 9743 §5.1.3",
        "Four flows, 40 ms, a queue of 0.5 BDP: loss ratio at the bottleneck.",
        "share",
        UNICAST,
        _several(4, bdp=0.5),
        one(LOSS),
        LOWER_LOSS,
    ),
    Row(
        "5.1.3-start",
        "Loss at the start",
        "RFC 9743 §5.1.3",
        "One flow, 100 ms, a queue of 1 BDP, the first 10 s: packets dropped per packet offered.",
        "share",
        UNICAST,
        lambda subject, lab: {
            "start": dumbbell(lab, [subject.flow("x")], rtt_ms=100.0) | {"duration": "10 s", "warmup": "0 s"}
        },
        one(LOSS),
        LOWER_LOSS,
    ),
    Row(
        "5.1.4-fairness",
        "Fairness within the algorithm",
        "RFC 9743 §5.1.4",
        "Four flows, 40 ms, a queue of 1 BDP: Jain's index of their goodput.",
        "index",
        UNICAST,
        _several(4),
        one("flows.fairness"),
        HIGHER,
    ),
    Row(
        "5.1.5-short",
        "Short flows beside a long one",
        "RFC 9743 §5.1.5",
        "Transfers of 30 kB take a fifth of the link beside a long flow, all of the scheme: 95th percentile of the "
        "completion times.",
        "s",
        TRANSFERS,
        lambda subject, lab: {
            "short": dumbbell(lab, [subject.flow("x"), _short_flows(subject, lab, "short", 0.2)])
        },
        one("flows.fct_p95"),
        LOWER_DELAY,
    ),
    Row(
        "5.1.5-long",
        "A long flow beside short ones",
        "RFC 9743 §5.1.5",
        "The same network: throughput of the long flow.",
        "bit/s",
        TRANSFERS,
        lambda subject, lab: {
            "short": dumbbell(lab, [subject.flow("x"), _short_flows(subject, lab, "short", 0.2)])
        },
        one("flow.x.active_throughput"),
        HIGHER,
    ),
    *_harm_rows(),
    Row(
        "5.2.2-delay",
        "Delay of real-time media beside it",
        "RFC 9743 §5.2.2",
        "A video call by NADA (RFC 8698) beside one flow, 4 Mbit/s, 60 ms, 2 BDP: 95th percentile of its queueing delay.",
        "s",
        UNICAST,
        _real_time,
        one("flow.media.queueing_delay_p95"),
        HARM_DELAY,
    ),
    Row(
        "5.2.2-rate",
        "Rate of real-time media beside it",
        "RFC 9743 §5.2.2",
        "The same network: throughput of the call.",
        "bit/s",
        UNICAST,
        _real_time,
        one("flow.media.active_throughput"),
        HARM,
    ),
    Row(
        "5.2.3-short",
        "Short flows of CUBIC beside it",
        "RFC 9743 §5.2.3",
        "Transfers of 30 kB by cubic take a fifth of the link beside one long flow: 95th percentile of the "
        "completion times.",
        "s",
        UNICAST,
        _short_and_long,
        one("flows.fct_p95"),
        HARM_DELAY,
    ),
    Row(
        "5.2.3-long",
        "It beside short flows of CUBIC",
        "RFC 9743 §5.2.3",
        "The same network: throughput of the long flow.",
        "bit/s",
        UNICAST,
        _short_and_long,
        one("flow.x.active_throughput"),
        HIGHER,
    ),
    Row("5.3.1", "Differences with congestion control principles", "RFC 9743 §5.3.1", "", never=WORDS),
    Row("5.3.2", "Incremental deployment", "RFC 9743 §5.3.2", "", never=WORDS),
    Row(
        "6.1-tail-drop",
        "Paths with tail-drop queues",
        "RFC 9743 §6.1",
        "One flow at two rates, with 10 and 100 ms, 0.5 and 4 BDP: the lowest utilisation of the eight.",
        "share",
        UNICAST,
        _grid,
        lowest(UTILISATION),
        HIGHER,
    ),
    Row(
        "6.1-tail-drop-loss",
        "Loss at tail-drop queues",
        "RFC 9743 §6.1",
        "The same networks: the highest loss ratio of the eight.",
        "share",
        UNICAST,
        _grid,
        highest(LOSS),
        LOWER_LOSS,
    ),
    Row(
        "6.2-tunnel",
        "Tunnel behaviour: no marks arrive",
        "RFC 9743 §6.2",
        "One flow that asks for marks at a drop-tail queue without any, 40 ms, 1 BDP: utilisation.",
        "share",
        ECN,
        lambda subject, lab: {"tunnel": dumbbell(lab, [subject.flow("x", **subject.marked)])},
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "6.3-wired",
        "Wired paths",
        "RFC 9743 §6.3",
        "One flow, 40 ms, a queue of 1 BDP: utilisation.",
        "share",
        UNICAST,
        _alone(),
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "6.4-loss",
        "Wireless paths: random loss",
        "RFC 9743 §6.4",
        "One flow, 40 ms, 1 % random loss: utilisation.",
        "share",
        UNICAST,
        _alone(link={"loss": 0.01}),
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "6.4-capacity",
        "Wireless paths: varying capacity",
        "RFC 9743 §6.4",
        "One flow on a model of LTE in a car, a queue of 250 packets: throughput.",
        "bit/s",
        UNICAST,
        _alone(link={"trace": "lte_driving", "buffer": "250 packets"}),
        one("flow.x.active_throughput"),
        HIGHER,
    ),
    Row(
        "6.4-delay",
        "Wireless paths: delay at varying capacity",
        "RFC 9743 §6.4",
        "The same network: 95th percentile of the queueing delay.",
        "s",
        UNICAST,
        _alone(link={"trace": "lte_driving", "buffer": "250 packets"}),
        one("flow.x.queueing_delay_p95"),
        LOWER_DELAY,
    ),
    Row(
        "6.4-jitter",
        "Wireless paths: jitter",
        "RFC 9743 §6.4",
        "One flow, 40 ms, jitter of 5 ms in order and release every 5 ms: utilisation.",
        "share",
        UNICAST,
        _alone(link={"impair": {"jitter": "5 ms", "keep_order": True, "release_every": "5 ms"}}),
        one(UTILISATION),
        HIGHER,
    ),
    *_aqm_rows(),
    Row(
        "7.1-marks",
        "Response to congestion marks",
        "RFC 9743 §7.1",
        "One flow with ECN, 40 ms, marks above 20 packets of a queue of 10 BDP: mean wait in the queue.",
        "s",
        ECN,
        _marks,
        one(QUEUE),
        HARM_DELAY,
    ),
    Row(
        "7.2-circuit-breaker",
        "Within the envelope of circuit breakers",
        "RFC 9743 §7.2, RFC 8083 §4.3",
        "One flow, 50 Mbit/s, 50 ms, 2 % random loss: rate over the rate of the TCP throughput equation.",
        "ratio",
        UNICAST,
        _breaker,
        _breaker_ratio,
        Limit("at most 10 times the TCP throughput equation (RFC 8083 §4.3)", high=10.0),
    ),
    Row(
        "7.3-delay",
        "Paths with varying delay",
        "RFC 9743 §7.3",
        "The propagation delay changes from 40 to 120 ms, and from 120 to 40 ms: lower utilisation in the last quarter.",
        "share",
        UNICAST,
        lambda subject, lab: {
            name: tree | {"record": {"every": "100 ms", "series": ["rate", "utilisation"]}}
            for name, tree in _delay_step(subject, lab).items()
        },
        last_quarter("link.bottleneck"),
        HIGHER,
    ),
    Row(
        "7.4-control-packets",
        "Constrained nodes: volume of control packets",
        "RFC 9743 §7.4",
        "One flow, packets of 128 B, 100 kbit/s, 200 ms: packets on the way back per data packet.",
        "packets/packet",
        SMALL,
        _iot,
        lambda runs, _lab: (
            runs["slow"].value("link.bottleneck.backward.sent_packets")
            / max(runs["slow"].value("link.bottleneck.sent_packets"), 1.0)
        ),
        NotWorse("lower", "rate"),
    ),
    Row(
        "7.4-utilisation",
        "Constrained nodes: low rate",
        "RFC 9743 §7.4",
        "The same network: utilisation.",
        "share",
        SMALL,
        _iot,
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "7.5-high-delay",
        "Paths with high delay",
        "RFC 9743 §7.5",
        "One flow, 600 ms, a queue of 1 BDP: utilisation.",
        "share",
        UNICAST,
        _alone(rtt_ms=600.0),
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "7.6-unresponsive",
        "Misbehaving nodes: a sender that does not respond",
        "RFC 9743 §7.6",
        "A constant rate of half of the link beside one flow: throughput of the flow.",
        "bit/s",
        UNICAST,
        _unresponsive,
        one("flow.x.active_throughput"),
        HIGHER,
    ),
    *_lying_rows(),
    Row(
        "7.6-routers",
        "Misbehaving nodes: routers",
        "RFC 9743 §7.6",
        "",
        never="The simulator has no routers that lie",
    ),
    Row(
        "7.7-reordering",
        "Extreme packet reordering",
        "RFC 9743 §7.7",
        "One flow, 40 ms, 2 % of the packets overtake all others on the way: utilisation.",
        "share",
        UNICAST,
        _alone(link={"impair": {"reorder": 0.02}}),
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "7.8-outage",
        "Transient events: a disconnection",
        "RFC 9743 §7.8",
        "The link is down for 2 s: utilisation in the 5 s after it is up again.",
        "share",
        UNICAST,
        _outage,
        lambda runs, lab: runs["outage"].mean(
            "utilisation", "link.bottleneck", lab.half_s + 2, lab.half_s + 7
        ),
        HIGHER,
    ),
    Row(
        "7.8-onset",
        "Transient events: sudden congestion",
        "RFC 9743 §7.8",
        "A constant rate takes three quarters of the link at half time: loss ratio over the run.",
        "share",
        UNICAST,
        _onset,
        one(LOSS),
        LOWER_LOSS,
    ),
    Row(
        "7.9-less",
        "Sudden changes in the path: less capacity",
        "RFC 9743 §7.9",
        "Capacity falls to a quarter and the delay grows from 40 to 100 ms, and both return: loss ratio.",
        "share",
        UNICAST,
        _path_change,
        one(LOSS),
        LOWER_LOSS,
    ),
    Row(
        "7.9-more",
        "Sudden changes in the path: more capacity",
        "RFC 9743 §7.9",
        "The same network: utilisation after capacity and delay have returned.",
        "share",
        UNICAST,
        _path_change,
        lambda runs, lab: runs["change"].mean(
            "utilisation",
            "link.bottleneck",
            lab.warmup_s + 2 / 3 * (lab.duration_s - lab.warmup_s),
            lab.duration_s,
        ),
        HIGHER,
    ),
    Row(
        "7.10",
        "Multipath transport",
        "RFC 9743 §7.10",
        "",
        never="The transports of the simulator have one path per flow; several paths are in the battery of named data",
    ),
    Row(
        "7.11-incast",
        "Data centres: incast",
        "RFC 9743 §7.11",
        "Sixteen senders answer at once with 64 kB, 100 us, 64 packets: 99th percentile of the completion times.",
        "s",
        TRANSFERS,
        _incast,
        one("flows.fct_p99"),
        LOWER_DELAY,
    ),
)

BATTERY = Battery(
    "rfc9743",
    "RFC 9743: specifying new congestion control algorithms",
    "Every criterion of BCP 133 by its section. The document gives few thresholds, so that most bands are what the "
    "reference schemes get in the same networks.",
    ROWS,
    traits=UNICAST,
)
