"""RFC 8867 and RFC 8869: test cases for real-time media, for schemes that control an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .networks import Lab, Tree, at, dumbbell
from .rows import Battery, NotWorse, Row, Samples
from .subject import Subject

MEDIA = frozenset({"unicast", "media"})
REFERENCES = ("nada", "scream")
"""NADA (RFC 8698) and SCReAM (RFC 8298), the two that are RFCs."""

RTT_MS = 100.0
QUEUE_MS = 300
"""RFC 8867 §5: a one-way delay of 50 ms, a queue of 300 ms."""


def _video(subject: Subject, name: str = "video", **keys: Any) -> Tree:
    """A call of RFC 8867 §5, from 150 kbit/s to 1.5 Mbit/s."""
    return subject.flow(
        name, **{"packet": "1200 B", "encoder": {"min": "150 kbit/s", "max": "1.5 Mbit/s"}, **keys}
    )


def _path(
    lab: Lab, rate_mbps: float, flows: Sequence[Tree], *, link: Tree | None = None, **keys: Any
) -> Tree:
    """A path of RFC 8867; the queue holds 300 ms at the rate."""
    buffer = {"buffer": f"{round(rate_mbps * 1e3 * QUEUE_MS / 8)} B", **(link or {})}
    return dumbbell(lab, flows, rate_mbps=rate_mbps, rtt_ms=RTT_MS, link=buffer, **keys)


LONG_S = 120.0
"""Duration of these runs; RFC 8867 has 100 to 300 s."""


def _long(lab: Lab) -> Lab:
    from dataclasses import replace

    return replace(lab, duration_s=LONG_S if lab.duration_s >= 60 else LONG_S / 2)


def _steps(lab: Lab, scale: float = 1.0) -> list[Tree]:
    """The capacities of §5.1: 1, 2.5, 0.6 and 1 Mbit/s, at 40, 60 and 80 of 100 s."""
    unit = _long(lab).duration_s / 100
    return [
        at(second * unit, rate=f"{rate * scale:g} Mbit/s")
        for second, rate in ((40, 2.5), (60, 0.6), (80, 1.0))
    ]


def _variable(subject: Subject, lab: Lab) -> dict[str, Tree]:
    lab = _long(lab)
    return {"video": _path(lab, 1.0, [_video(subject)], link={"buffer": "37500 B"}, events=_steps(lab))}


def _variable_several(subject: Subject, lab: Lab) -> dict[str, Tree]:
    lab = _long(lab)
    flows = [_video(subject, count=2)]
    return {"video": _path(lab, 2.0, flows, link={"buffer": "75000 B"}, events=_steps(lab, 2.0))}


def _feedback(subject: Subject, lab: Lab) -> dict[str, Tree]:
    lab = _long(lab)
    forward = _video(subject, to="right1", **{"from": "left1"})
    back = _video(subject, "back", to="left2", **{"from": "right2"})
    tree = _path(lab, 2.0, [forward, back], link={"backward": {"rate": "0.6 Mbit/s", "buffer": "22500 B"}})
    tree["topology"]["pairs"] = 2
    return {"video": tree}


def _competing(subject: Subject, lab: Lab) -> dict[str, Tree]:
    lab = _long(lab)
    third = lab.duration_s / 6
    flows = [_video(subject, f"video{number}", start=f"{third * (number - 1):g} s") for number in (1, 2, 3)]
    return {"video": _path(lab, 3.5, flows) | {"warmup": f"{3 * third:g} s"}}


def _round_trips(subject: Subject, lab: Lab) -> dict[str, Tree]:
    from .networks import custom, custom_link, scenario

    lab = _long(lab)
    bottleneck = {"rate": "4 Mbit/s", "delay": "5 ms", "buffer": "150000 B"}
    links, flows = [custom_link("bottleneck", "r1", "r2", **bottleneck)], []
    for number, one_way_ms in enumerate((10, 25, 50, 100, 150), start=1):
        links += [
            custom_link(f"in{number}", f"s{number}", "r1", delay=f"{one_way_ms - 6} ms"),
            custom_link(f"out{number}", "r2", f"d{number}", delay="1 ms"),
        ]
        flows.append(_video(subject, f"video{number}", to=f"d{number}", **{"from": f"s{number}"}))
    return {"video": scenario(lab, custom(links), flows)}


def _long_tcp(subject: Subject, lab: Lab) -> dict[str, Tree]:
    lab = _long(lab)
    return {"video": _path(lab, 2.0, [_video(subject), Subject("reno").flow("tcp", packet="1200 B")])}


def _short_tcp(subject: Subject, lab: Lab) -> dict[str, Tree]:
    lab = _long(lab)
    transfers = Subject("reno").flow("tcp", arrivals={"rate": 0.4, "size": "100 kB"})
    del transfers["start_spread"]
    return {"video": _path(lab, 2.0, [_video(subject, count=2), transfers])}


def _pause(subject: Subject, lab: Lab) -> dict[str, Tree]:
    lab = _long(lab)
    flows = [_video(subject, f"video{number}") for number in (1, 2, 3)]
    events = [
        {"at": f"{lab.duration_s * share:g} s", "flow": "video1", "action": action}
        for share, action in ((1 / 3, "stop"), (2 / 3, "start"))
    ]
    return {"video": _path(lab, 3.5, flows, events=events)}


def _wireless(model: str) -> Any:
    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        link = {"trace": model, "buffer": "100 packets"}
        return {"video": dumbbell(_long(lab), [_video(subject)], rtt_ms=RTT_MS, link=link)}

    return cases


def _flows_of(runs: Samples) -> list[str]:
    """Keys of the calls."""
    return sorted({key.rsplit(".", 1)[0] for key in runs["video"].values if key.startswith("flow.video")})


def _delay(runs: Samples, _lab: Lab) -> float:
    return max(runs["video"].value(f"{flow}.queueing_delay_p95") for flow in _flows_of(runs))


def _rate(runs: Samples, _lab: Lab) -> float:
    return min(runs["video"].value(f"{flow}.active_throughput") for flow in _flows_of(runs))


def _pair(name: str, title: str, source: str, network: str, cases: Any) -> tuple[Row, Row]:
    return (
        Row(
            f"{name}-rate",
            f"{title}: rate",
            source,
            f"{network}: lowest throughput of the calls.",
            "bit/s",
            MEDIA,
            cases,
            _rate,
            NotWorse("higher", "rate"),
        ),
        Row(
            f"{name}-delay",
            f"{title}: delay",
            source,
            "The same network: highest 95th percentile of the queueing delays of the calls.",
            "s",
            MEDIA,
            cases,
            _delay,
            NotWorse("lower", "delay"),
        ),
    )


ROWS = (
    *_pair(
        "5.1", "Variable capacity, one flow", "RFC 8867 §5.1", "1, 2.5, 0.6 and 1 Mbit/s in turn", _variable
    ),
    *_pair(
        "5.2",
        "Variable capacity, two flows",
        "RFC 8867 §5.2",
        "Twice these rates, two calls",
        _variable_several,
    ),
    *_pair(
        "5.3",
        "Congested feedback link",
        "RFC 8867 §5.3",
        "Calls in both directions, 2 and 0.6 Mbit/s",
        _feedback,
    ),
    *_pair(
        "5.4",
        "Competing flows of one scheme",
        "RFC 8867 §5.4",
        "Three calls in turn on 3.5 Mbit/s",
        _competing,
    ),
    *_pair(
        "5.5",
        "Round-trip time fairness",
        "RFC 8867 §5.5",
        "Five calls with one-way delays from 10 to 150 ms on 4 Mbit/s",
        _round_trips,
    ),
    *_pair(
        "5.6",
        "Beside a long TCP flow",
        "RFC 8867 §5.6",
        "A call beside a flow of reno on 2 Mbit/s",
        _long_tcp,
    ),
    *_pair(
        "5.7",
        "Beside short TCP flows",
        "RFC 8867 §5.7",
        "Two calls beside transfers by reno on 2 Mbit/s",
        _short_tcp,
    ),
    *_pair(
        "5.8", "Pause and resume", "RFC 8867 §5.8", "Three calls on 3.5 Mbit/s, one of which pauses", _pause
    ),
    Row(
        "6.1",
        "Flows with priority",
        "RFC 8867 §6.1",
        "",
        never="Flows of the simulator have no priority among each other",
    ),
    Row(
        "6.2",
        "Explicit congestion notification",
        "RFC 8867 §6.2",
        "",
        never="The catalogue does not say which schemes for streams react to marks",
    ),
    Row(
        "6.3",
        "Several bottlenecks",
        "RFC 8867 §6.3",
        "",
        never="RFC 5166 §2.3.2 above has several bottlenecks",
    ),
    *_pair(
        "8869-cellular",
        "Cellular network with mobility",
        "RFC 8869 §2",
        "A call on a model of LTE in a car",
        _wireless("lte_driving"),
    ),
    *_pair(
        "8869-wifi",
        "Wi-Fi as the bottleneck",
        "RFC 8869 §3.2",
        "A call on a model of Wi-Fi in a crowd",
        _wireless("wifi_crowded"),
    ),
)

BATTERY = Battery(
    "media",
    "RFC 8867 and RFC 8869: real-time media",
    "The test cases for interactive real-time media, wired and wireless. They have no thresholds: bands are what NADA and "
    "SCReAM get in the same networks. Jitter, which RFC 8867 adds, is left out.",
    ROWS,
    references=REFERENCES,
    traits=MEDIA,
)
