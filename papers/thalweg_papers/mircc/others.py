"""The other methods that the paper speaks of, in its set-up: exact clocks for all of them, and NACK under coarse ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Measured, Quantity, Sample, Samples, Scale, Tree
from .._common import custom, inside, link, recording
from . import extracts, scenarios
from .keys import Key

QUEUE = "200 packets"
"""Our choice: as many Data may wait as a bucket holds Interests. The paper names no queue."""
JITTER = "0.8 ms"
"""Our choice: about one Data packet's time at the bottleneck, so that drop-tail queues do not decide by phase."""
MIN_TIMEOUT = "600 ms"
"""Our choice: a round-trip time that never changes leaves the estimate of a timer no margin: timers would expire early."""

METHODS: dict[str, Tree] = {
    "mircc": {"link": "mircc"},
    "hobhis": {"link": "hobhis"},
    "ecn_rate": {"link": "ecn_rate"},
    # limits of faces are computed from the path's round-trip time
    "nack": {"strategy": "nack", "strategy_params": {"rtt": "400 ms"}},
    "his": {"link": "his"},
    "aimd": {},
    "reno": {},
    "cubic": {},
    "bic": {},
    "icp": {},
    "raaqm": {"strategy": "raaqm", "link": "raaqm"},
    "cctcp": {"link": "cctcp"},
    "chopcop": {"link": "chopcop"},
    "pcon": {"strategy": "pcon", "link": "pcon"},
}
"""Each method by its scheme, with its parts in forwarders."""

EXPLICIT = ("mircc", "hobhis", "ecn_rate")
"""Methods whose routers report a rate to consumers."""

LENGTHS: dict[str, tuple[float, float, float]] = {
    "short": (scenarios.END_S, scenarios.SECOND_S, scenarios.LEAVES_S),
    "long": (305.0, 203.0, 303.0),
}
"""End of the run, and the span that is measured, at whose end C2 leaves: all of C2's time as in the paper, or the last 100 s
of five minutes, which windows without slow start need at this round-trip time."""


def tree(scheme: str, length: str, tick_ms: float = 0.0, **params: Any) -> Tree:
    """The paper's set-up with another method."""
    end_s, _, leaves_s = LENGTHS[length]
    access = {"rate": "10 Mbit/s", "delay": "50 ms", "buffer": QUEUE}
    links = [
        link("access1", "c1", "r1", **access),
        link("access2", "c2", "r1", **access),
        link("core", "r1", "r2", rate="12 Mbit/s", delay="100 ms", buffer=QUEUE),
        link("edge1", "r2", "p1", **access),
        link("edge2", "r2", "p2", **access),
    ]
    clock = {"tick": f"{tick_ms:g} ms"} if tick_ms else {"jitter": JITTER}
    spans = {1: (scenarios.FIRST_S, end_s), 2: (scenarios.SECOND_S, leaves_s)}
    flows = [
        {
            "name": f"C{number}",
            "network": "ndn",
            "scheme": scheme,
            "from": f"c{number}",
            "prefix": f"/p{number}",
            "start": f"{begin:g} s",
            "stop": f"{end:g} s",
            "start_spread": "100 ms",
            "consumer": {**clock, "min_rto": MIN_TIMEOUT, "episode_check": "highest"},
        }
        for number, (begin, end) in spans.items()
    ]
    ndn = {key: dict(part) if isinstance(part, dict) else part for key, part in METHODS[scheme].items()}
    if params:
        ndn["strategy_params"] = {**ndn.get("strategy_params", {}), **params}
    return custom(
        f"MIRCC §1, {scheme}, {length}, clock {tick_ms:g} ms",
        end_s,
        links,
        flows,
        ndn=ndn,
        producers=[{"prefix": f"/p{number}", "node": f"p{number}", **scenarios.DATA} for number in (1, 2)],
        record=recording("500 ms", "goodput"),
    )


VARIANTS = tuple(f"{scheme} {length}" for scheme in METHODS for length in LENGTHS)


def method(variant: str, _scale: Scale) -> Tree:
    """`mircc long`."""
    scheme, length = variant.split()
    return tree(scheme, length)


CLOCKS_MS = (0, *scenarios.CLOCKS_MS)
FORMS = ("window", "rate")
CLOCKED = tuple(f"{form} {ms}" for form in FORMS for ms in CLOCKS_MS)


def clocked(variant: str, _scale: Scale) -> Tree:
    """`rate 250`: form of the limits, and clock of the consumers in ms."""
    form, ms = variant.split()
    return tree("nack", "long", float(ms), limit=form)


def keep_method(result: Any, variant: str, _scale: Scale) -> Sample:
    """Data a second of both together, how much a consumer's vary over time (deviation over mean), mean delay, refusals."""
    return _keep(result, variant.split()[1])


def keep_clocked(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Measurements of a method with a coarse clock, as in `keep_method`."""
    return _keep(result, "long")


def _keep(result: Any, length: str) -> Sample:
    times = _read.times(result, "goodput")
    _, begin, end = LENGTHS[length]
    received = extracts.received(result, times)[:, inside(times, begin, end)]
    delays = [_read.flow(result, f"C{number}")["delay_s"] for number in (1, 2)]
    return {
        "total": float(received.sum(axis=0).mean()),
        "variation": float(np.mean(received.std(axis=1) / received.mean(axis=1))),
        "delay_ms": 1e3 * float(np.mean(delays)),
        "refusals": float(sum(_read.flow(result, f"C{number}")["nacks"] or 0 for number in (1, 2))),
    }


# --- measures --------------------------------------------------------------------------------------------------------


def ranking(samples: Samples) -> Measured:
    """MIRCC over the best of the others, run by run: Data received, and how much they vary over time.

    `explicit_…` is the minimum of the methods that report explicit rates over the maximum of all other methods, in Data.
    """
    found: Measured = {}
    for length in LENGTHS:
        totals = {
            scheme: [s["total"] for s in samples[Key.METHODS, f"{scheme} {length}"]] for scheme in METHODS
        }
        slowest = [min(runs) for runs in zip(*(totals[scheme] for scheme in EXPLICIT), strict=True)]
        others = [totals[scheme] for scheme in METHODS if scheme not in EXPLICIT]
        best_other = [max(runs) for runs in zip(*others, strict=True)]
        found[f"explicit_{length}"] = Quantity(tuple(a / b for a, b in zip(slowest, best_other, strict=True)))
        for name, pick in (("total", max), ("variation", min)):
            own = [s[name] for s in samples[Key.METHODS, f"mircc {length}"]]
            rest = [
                [s[name] for s in samples[Key.METHODS, f"{scheme} {length}"]]
                for scheme in METHODS
                if scheme != "mircc"
            ]
            best = [pick(values) for values in zip(*rest, strict=True)]
            found[f"{name}_{length}"] = Quantity(tuple(a / b for a, b in zip(own, best, strict=True)))
    return found


def nack_clock(samples: Samples) -> Measured:
    """Data that NACK receives with a coarse clock, as a share of what it receives with an exact one."""
    exact = [s["total"] for s in samples[Key.NACK_CLOCKS, "window 0"]]
    return {
        f"kept_{ms}": Quantity(
            tuple(
                s["total"] / base
                for s, base in zip(samples[Key.NACK_CLOCKS, f"window {ms}"], exact, strict=True)
            )
        )
        for ms in reversed(scenarios.CLOCKS_MS)
    }
