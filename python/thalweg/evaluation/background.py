"""LEDBAT's goals (RFC 6817 §1.2) for schemes that yield to other traffic."""

from __future__ import annotations

from typing import Any

from .measures import HARM, HIGHER, QUEUE, UTILISATION, last_quarter, one, ratio
from .networks import Lab, Tree, at, dumbbell, packets
from .rows import Battery, Limit, Row, Samples
from .subject import Subject

BACKGROUND = frozenset({"unicast", "background"})
TARGET_S = 0.1
"""RFC 6817 §2.5: TARGET is 100 ms or less."""
RTT_MS = 40.0


LEFT = Limit(
    "at least 95 % of its rate without the scheme (to yield, §1.2; a difference of up to 5 % counts as equal)",
    low=0.95,
)


def _queue(lab: Lab, wait_ms: float) -> Tree:
    """A queue that holds so many milliseconds of packets."""
    return {"buffer": f"{packets(lab.rate_mbps, wait_ms)} packets"}


def _alone(subject: Subject, lab: Lab) -> dict[str, Tree]:
    return {"alone": dumbbell(lab, [subject.flow("x")], link=_queue(lab, 400.0))}


def _beside(other: str, wait_ms: float) -> Any:
    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        tcp, link = Subject(other).flow("tcp"), _queue(lab, wait_ms)
        return {
            "with": dumbbell(lab, [subject.flow("x"), tcp], link=link),
            "without": dumbbell(lab, [tcp], link=link),
        }

    return cases


def _joins(subject: Subject, lab: Lab) -> dict[str, Tree]:
    tcp, link = Subject("reno").flow("tcp", start=f"{lab.half_s:g} s"), _queue(lab, 400.0)
    return {
        "with": dumbbell(lab, [subject.flow("x"), tcp], link=link),
        "without": dumbbell(lab, [tcp], link=link),
    }


def _left(runs: Samples, _lab: Lab) -> float:
    return runs["with"].value("flow.tcp.active_throughput") / runs["without"].value(
        "flow.tcp.active_throughput"
    )


def _left_soon(runs: Samples, lab: Lab) -> float:
    rates = [
        runs[name].mean("rate", "flow.tcp", lab.half_s + 5, lab.half_s + 10) for name in ("with", "without")
    ]
    return rates[0] / rates[1] if rates[1] else 0.0


LONG = 5
"""Runs that must last: multiples of the duration of the others."""


def _latecomer(subject: Subject, lab: Lab) -> dict[str, Tree]:
    second = subject.flow("y", start=f"{2 * lab.duration_s:g} s")
    tree = dumbbell(lab, [subject.flow("x"), second], link=_queue(lab, 400.0))
    return {"latecomer": tree | {"duration": f"{LONG * lab.duration_s:g} s"}}


def _clock(**clock: str) -> Any:
    return lambda subject, lab: {
        "clock": dumbbell(
            lab,
            [subject.flow("x")],
            link=_queue(lab, 400.0),
            series=["rate", "utilisation"],
            clocks=[{"node": "right*", **clock}],
        )
        | {"duration": f"{LONG * lab.duration_s:g} s"}
    }


def _longer(subject: Subject, lab: Lab) -> dict[str, Tree]:
    events = [at(lab.half_s, delay=f"{RTT_MS / 2 + 28:g} ms")]
    tree = dumbbell(
        lab, [subject.flow("x")], link=_queue(lab, 400.0), events=events, series=["rate", "utilisation"]
    )
    return {"longer": tree}


ROWS = (
    Row(
        "utilise",
        "Uses the capacity that is there",
        "RFC 6817 §1.2",
        "One flow, 40 ms, a queue of 400 ms: utilisation.",
        "share",
        BACKGROUND,
        _alone,
        one(UTILISATION),
        HIGHER,
    ),
    Row(
        "target",
        "Keeps the queueing delay low",
        "RFC 6817 §1.2, §2.5",
        "The same network: mean wait in the queue.",
        "s",
        BACKGROUND,
        _alone,
        one(QUEUE),
        Limit("at most 100 ms (TARGET, §2.5)", high=TARGET_S),
    ),
    *(
        Row(
            f"yield-{other}-{word}",
            f"Yields to {other} at {words} queue",
            "RFC 6817 §1.2",
            f"One flow beside one of {other}, 40 ms, a queue of {wait:g} ms: throughput of {other} over that "
            "without the scheme.",
            "ratio",
            BACKGROUND,
            _beside(other, wait),
            _left,
            LEFT,
        )
        for other in ("cubic", "reno")
        for wait, word, words in ((400.0, "deep", "a deep"), (40.0, "shallow", "a shallow"))
    ),
    Row(
        "yield-soon",
        "Yields soon",
        "RFC 6817 §1.2",
        "A flow of reno joins: its rate 5 to 10 s after that over that without the scheme.",
        "ratio",
        BACKGROUND,
        _joins,
        _left_soon,
        LEFT,
    ),
    Row(
        "not-aggressive",
        "Is no more aggressive than standard TCP",
        "RFC 6817 §1",
        "One flow beside one of reno, a queue of 20 ms, below the target: throughput of reno.",
        "bit/s",
        BACKGROUND,
        _beside("reno", 20.0),
        lambda runs, _lab: runs["with"].value("flow.tcp.active_throughput"),
        HARM,
    ),
    Row(
        "latecomer",
        "Fairness to a latecomer",
        "RFC 6817 §4.4",
        "A second flow joins after two fifths of the run: smaller over larger rate in the last fifth.",
        "share",
        BACKGROUND,
        _latecomer,
        lambda runs, lab: ratio(
            *(
                runs["latecomer"].mean(
                    "rate", f"flow.{name}", lab.duration_s * (LONG - 1), lab.duration_s * LONG
                )
                for name in "xy"
            )
        ),
        HIGHER,
    ),
    Row(
        "offset",
        "Tolerates an offset of the clocks",
        "RFC 6817 appendix A.1",
        "The receiver's clock is an hour ahead: utilisation in the last fifth of a run of five times the duration.",
        "share",
        BACKGROUND,
        _clock(offset="1 h"),
        lambda runs, lab: runs["clock"].mean(
            "utilisation", "link.bottleneck", lab.duration_s * (LONG - 1), lab.duration_s * LONG
        ),
        HIGHER,
    ),
    *(
        Row(
            f"skew-{word}",
            f"Tolerates clocks that drift: the receiver's is {words}",
            "RFC 6817 appendix A.2",
            f"The receiver's clock drifts by {drift}: utilisation in the last fifth of a run of five times the duration.",
            "share",
            BACKGROUND,
            _clock(drift=drift),
            lambda runs, lab: runs["clock"].mean(
                "utilisation", "link.bottleneck", lab.duration_s * (LONG - 1), lab.duration_s * LONG
            ),
            HIGHER,
        )
        for word, words, drift in (("fast", "fast", "200 ppm"), ("slow", "slow", "-200 ppm"))
    ),
    Row(
        "longer-path",
        "Tolerates a longer path",
        "RFC 6817 §3.1.1",
        "The propagation delay grows by 60 ms: utilisation in the last quarter.",
        "share",
        BACKGROUND,
        _longer,
        last_quarter("link.bottleneck"),
        HIGHER,
    ),
)

BATTERY = Battery(
    "background",
    "RFC 6817: goals of a background scheme",
    "What LEDBAT is made for: to use what is left, to add little delay, and to yield. Bands of the RFC, and of the "
    "reference schemes where it has none.",
    ROWS,
    traits=BACKGROUND,
)
