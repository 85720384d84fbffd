"""RFC 5166, Metrics for the Evaluation of Congestion Control Mechanisms: the metrics of §2, each in a network."""

from __future__ import annotations

from typing import Any

from .measures import (
    HIGHER,
    LOSS,
    LOWER_DELAY,
    LOWER_LOSS,
    PACKET_BITS,
    UTILISATION,
    last_quarter,
    one,
    ratio,
)
from .networks import Lab, Tree, at, custom, custom_link, dumbbell, packets, scenario
from .rows import Battery, NotWorse, Row, Samples
from .subject import Subject

UNICAST = frozenset({"unicast", "backlogged"})
TRANSFERS = UNICAST | {"transfers"}
EQUAL = UNICAST | {"equal"}


def _several(subject: Subject, lab: Lab) -> dict[str, Tree]:
    return {"several": dumbbell(lab, [subject.flow("x", count=8)])}


def _transfer(subject: Subject, lab: Lab) -> dict[str, Tree]:
    size = f"{lab.rate_mbps * 0.1:g} MB"
    return {"transfer": dumbbell(lab, [subject.flow("x", size=size)], rtt_ms=100.0) | {"warmup": "0 s"}}


def _change(factor: float) -> Any:
    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        first, second = (
            (lab.rate_mbps, lab.rate_mbps * factor) if factor < 1 else (lab.rate_mbps / factor, lab.rate_mbps)
        )
        events = [at(lab.half_s, rate=f"{second:g} Mbit/s")]
        series = ["rate", "backlog", "utilisation"]
        buffer = {"buffer": f"{packets(lab.rate_mbps, 40.0, 2.0)} packets"}
        return {
            "change": dumbbell(
                lab, [subject.flow("x")], rate_mbps=first, link=buffer, events=events, series=series
            )
        }

    return cases


def _wait_after(runs: Samples, lab: Lab) -> float:
    backlog = runs["change"].mean("backlog", "link.bottleneck", lab.half_s, lab.half_s + 3)
    return backlog * PACKET_BITS / (lab.rate_mbps / 2 * 1e6)


def _beside(other: str) -> Any:
    return lambda subject, lab: {"beside": dumbbell(lab, [subject.flow("x"), Subject(other).flow("other")])}


def _newcomer(subject: Subject, lab: Lab) -> dict[str, Tree]:
    second = subject.flow("y", start=f"{lab.half_s:g} s")
    return {"newcomer": dumbbell(lab, [subject.flow("x"), second])}


def _two_round_trips(subject: Subject, lab: Lab) -> dict[str, Tree]:
    bottleneck: Tree = {
        "rate": f"{lab.rate_mbps:g} Mbit/s",
        "delay": "5 ms",
        "buffer": f"{packets(lab.rate_mbps, 60.0)} packets",
    }
    links = [custom_link("bottleneck", "r1", "r2", **bottleneck)]
    flows = []
    for name, delay in (("x", "4 ms"), ("y", "44 ms")):
        links += [
            custom_link(f"in-{name}", f"s-{name}", "r1", delay=delay),
            custom_link(f"out-{name}", "r2", f"d-{name}"),
        ]
        flows.append(subject.flow(name, to=f"d-{name}", **{"from": f"s-{name}"}))
    return {"rtts": scenario(lab, custom(links), flows)}


def _parking_lot(subject: Subject, lab: Lab) -> dict[str, Tree]:
    hops = 3
    topology = {
        "kind": "parking_lot",
        "hops": hops,
        "bottleneck": {
            "rate": f"{lab.rate_mbps:g} Mbit/s",
            "delay": "5 ms",
            "buffer": f"{packets(lab.rate_mbps, 40.0)} packets",
        },
    }
    flows = [subject.flow("x", to="right", **{"from": "left"})]
    flows += [
        subject.flow(f"cross{hop}", to=f"out{hop}", **{"from": f"in{hop}"}) for hop in range(1, hops + 1)
    ]
    return {"hops": scenario(lab, topology, flows)}


def _reverse(subject: Subject, lab: Lab) -> dict[str, Tree]:
    forward = subject.flow("x", to="right1", **{"from": "left1"})
    back = subject.flow("back", to="left2", **{"from": "right2"})
    tree = dumbbell(lab, [forward, back])
    tree["topology"]["pairs"] = 2
    return {"reverse": tree}


def _asymmetric(subject: Subject, lab: Lab) -> dict[str, Tree]:
    back = {"rate": f"{lab.rate_mbps / 40:g} Mbit/s", "buffer": "20 packets"}
    return {"asymmetric": dumbbell(lab, [subject.flow("x")], link={"backward": back})}


def _failure(subject: Subject, lab: Lab) -> dict[str, Tree]:
    wire: Tree = {"rate": f"{lab.rate_mbps:g} Mbit/s", "buffer": f"{packets(lab.rate_mbps, 40.0)} packets"}
    links = [
        custom_link("in", "s", "r1"),
        custom_link("short", "r1", "r2", delay="18 ms", **wire),
        custom_link("long1", "r1", "r3", delay="15 ms", **wire),
        custom_link("long2", "r3", "r2", delay="15 ms", **wire),
        custom_link("out", "r2", "d"),
    ]
    events = [at(lab.half_s, "short", up=False)]
    flow = subject.flow("x", to="d", **{"from": "s"})
    return {"failure": scenario(lab, custom(links), [flow], events=events, series=["rate", "utilisation"])}


def _page(subject: Subject, lab: Lab) -> dict[str, Tree]:
    page = subject.flow("page", app={"kind": "page", "count": 3, "think": "1 s"})
    return {"page": dumbbell(lab, [page], rtt_ms=60.0) | {"duration": "120 s", "warmup": "0 s"}}


ROWS = (
    Row(
        "2.1.1-utilisation",
        "Throughput: utilisation by several flows",
        "RFC 5166 §2.1.1",
        "Eight flows, 40 ms, a queue of 1 BDP: utilisation.",
        "share",
        UNICAST,
        _several,
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "2.1.1-completion",
        "Throughput: completion time of a transfer",
        "RFC 5166 §2.1.1",
        "A transfer of as much as the link carries in 0.8 s, 100 ms: flow completion time.",
        "s",
        TRANSFERS,
        _transfer,
        one("flows.fct"),
        LOWER_DELAY,
    ),
    Row(
        "2.1.2-delay",
        "Delay of several flows",
        "RFC 5166 §2.1.2",
        "Eight flows, 40 ms, a queue of 1 BDP: 99th percentile of the queueing delay, the maximum of the flows.",
        "s",
        UNICAST,
        _several,
        lambda runs, _lab: max(
            runs["several"].value(f"flow.x.{number}.queueing_delay_p99") for number in range(1, 9)
        ),
        LOWER_DELAY,
    ),
    Row(
        "2.1.3-loss",
        "Packet loss rate of several flows",
        "RFC 5166 §2.1.3",
        "The same network: loss ratio at the bottleneck.",
        "share",
        UNICAST,
        _several,
        one(LOSS),
        LOWER_LOSS,
    ),
    Row(
        "2.2.1-less",
        "Response to changes: half of the capacity",
        "RFC 5166 §2.2.1",
        "Capacity falls to a half: mean wait in the queue in the 3 s after that.",
        "s",
        UNICAST,
        _change(0.5),
        _wait_after,
        LOWER_DELAY,
    ),
    Row(
        "2.2.1-more",
        "Response to changes: four times the capacity",
        "RFC 5166 §2.2.1",
        "Capacity grows to four times as much: utilisation in the 5 s after that.",
        "share",
        UNICAST,
        _change(4.0),
        lambda runs, lab: runs["change"].mean("utilisation", "link.bottleneck", lab.half_s, lab.half_s + 5),
        HIGHER,
    ),
    Row(
        "2.2.2-oscillation",
        "Minimising oscillations",
        "RFC 5166 §2.2.2",
        "One flow, 40 ms, 1 BDP: coefficient of variation of its rate over intervals of 100 ms.",
        "ratio",
        UNICAST,
        lambda subject, lab: {"alone": dumbbell(lab, [subject.flow("x")])},
        one("flow.x.cov"),
        NotWorse("lower", "rate"),
    ),
    *(
        Row(
            f"2.3.1-beside-{other}",
            f"Fairness between flows: its throughput beside {other}",
            "RFC 5166 §2.3.1",
            f"One flow beside one of {other}, 40 ms, a queue of 1 BDP: throughput of the scheme.",
            "bit/s",
            EQUAL,
            _beside(other),
            one("flow.x.active_throughput"),
            HIGHER,
        )
        for other in ("cubic", "reno")
    ),
    Row(
        "2.3.3-convergence",
        "Convergence of a newcomer",
        "RFC 5166 §2.3.3",
        "A second flow joins at half time: smaller over larger rate in the 10 s after that.",
        "share",
        UNICAST,
        _newcomer,
        lambda runs, lab: ratio(
            *(runs["newcomer"].mean("rate", f"flow.{name}", lab.half_s, lab.half_s + 10) for name in "xy")
        ),
        HIGHER,
    ),
    Row(
        "2.3.2-round-trips",
        "Fairness with different round-trip times",
        "RFC 5166 §2.3.2",
        "Two flows with 20 and 100 ms at one bottleneck: Jain's index.",
        "index",
        UNICAST,
        _two_round_trips,
        one("flows.fairness"),
        HIGHER,
    ),
    Row(
        "2.3.2-bottlenecks",
        "Fairness with several bottlenecks",
        "RFC 5166 §2.3.2",
        "A flow over three bottlenecks, each shared with another flow: its throughput.",
        "bit/s",
        UNICAST,
        _parking_lot,
        one("flow.x.active_throughput"),
        HIGHER,
    ),
    Row(
        "2.4-loss",
        "Robustness: rare random loss",
        "RFC 5166 §2.4",
        "One flow, 40 ms, 0.1 % random loss: utilisation.",
        "share",
        UNICAST,
        lambda subject, lab: {"loss": dumbbell(lab, [subject.flow("x")], link={"loss": 0.001})},
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "2.4-reverse",
        "Robustness: traffic on the reverse path",
        "RFC 5166 §2.4",
        "A flow of the scheme in each direction: utilisation.",
        "share",
        UNICAST,
        _reverse,
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "2.4-asymmetric",
        "Robustness: asymmetric links",
        "RFC 5166 §2.4",
        "One flow, a fortieth of the rate and 20 packets on the way back: utilisation.",
        "share",
        UNICAST,
        _asymmetric,
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "2.5-failure",
        "Robustness to failures",
        "RFC 5166 §2.5",
        "The link fails and a longer path remains: its utilisation in the last quarter.",
        "share",
        UNICAST,
        _failure,
        last_quarter("link.long2"),
        HIGHER,
    ),
    Row(
        "2.5-users",
        "Robustness to misbehaving users",
        "RFC 5166 §2.5",
        "",
        never="The rows of RFC 9743 §7.6 have a sender that does not respond, and receivers that lie",
    ),
    Row(
        "2.6",
        "Deployability",
        "RFC 5166 §2.6",
        "",
        never="It is a judgement about code and protocols; there is nothing to measure",
    ),
    Row(
        "2.7",
        "Metrics for specific types of transport",
        "RFC 5166 §2.7",
        "",
        never="The batteries of background, multicast, named data and media have them",
    ),
    Row(
        "2.8-page",
        "User-based metrics: page load time",
        "RFC 5166 §2.8",
        "Loads of a median page over six connections, 60 ms, a queue of 1 BDP: mean page load time.",
        "s",
        TRANSFERS,
        _page,
        one("app.page.duration"),
        LOWER_DELAY,
    ),
)

BATTERY = Battery(
    "rfc5166",
    "RFC 5166: metrics for congestion control",
    "The metrics of §2. The document has no thresholds: bands are what the reference schemes get in the same networks.",
    ROWS,
    traits=UNICAST,
)
