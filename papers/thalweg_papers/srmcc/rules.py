"""Small scenarios that show one rule of SRMCC each, and what is kept of them.

Series are sampled every millisecond here, so that each adaptation of the rate is seen by itself.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale, Tree
from .._common import custom, inside, link, recording
from . import algorithm
from .scenarios import SENDER, constant, dumbbell, group, icn, members, tcp, wire

FINE = "1 ms"
TICK_S = 0.001
AT_SOURCE = ("allowed_rate", "o_max", "o_min", "fair_rate", "t_adapt")


def fine(
    title: str,
    duration_s: float,
    links: list[Tree],
    flows: list[Tree],
    routers: tuple[str, ...],
    *series: str,
    **more: Any,
) -> Tree:
    """A small scenario with what the source knew at each adaptation, and other series, every millisecond."""
    record = recording(FINE, *dict.fromkeys((*AT_SOURCE, *series)), events=True)
    return custom(f"SRMCC rules, {title}", duration_s, links, flows, icn=icn(*routers), record=record, **more)


def adaptations(result: Any, flow: str = "mc") -> Sample:
    """State of the source at each adaptation: rate before and after, occupancies, fair share, cycle."""
    subject = f"flow.{flow}"
    when, _, _ = _read.events(result, "adapted", subject)
    times, rate = _read.one(result, "allowed_rate", subject)
    # The tick that ends an interval has what was known at its end.
    after = np.searchsorted(times, when - 1e-9)
    seen = (after > 0) & (after < len(times))
    when, after = when[seen], after[seen]
    known = {name: _at(result, name, subject, times[after]) for name in AT_SOURCE if name != "allowed_rate"}
    return {"when_s": when, "before_bps": rate[after - 1], "after_bps": rate[after], **known}


def _at(result: Any, name: str, subject: str, moments: Any) -> Any:
    """A series at some ticks; not-a-number before its first value."""
    times, values = _read.one(result, name, subject)
    place = np.searchsorted(times, moments - 1e-9)
    found = np.full(len(moments), np.nan)
    there = (place < len(times)) & (moments > (times[0] if len(times) else np.inf) - 1e-9)
    found[there] = values[place[there]]
    return found


# --- the rate update ----------------------------------------------------------------------------------------------------

LAW_S = 60.0
GAMMA = 0.15
RATE_TOLERANCE = 1e-5
"""Rates are recorded in whole bits per second."""


def rate_update(variant: str, _scale: Scale) -> Tree:
    """Two tree nodes with four receivers beside TCP that comes and goes; or one node whose only queue is shared by both.

    With one node and one queue maximum and minimum occupancy are the same.
    """
    span = {"start": "10 s", "stop": "40 s"}
    if variant == "tree":
        flows = [
            group("mc", "srmcc", "s", members()),
            *(tcp(f"tcp{i}", f"t{i}", f"u{i}", **span) for i in (1, 2)),
        ]
        return fine("two nodes", LAW_S, dumbbell(2e6, 10e6), flows, ("r0", "r1"))
    links = [
        link("access", "s", "r0", **SENDER),
        link("tcp_access", "t", "r0", **SENDER),
        wire("bottleneck", "r0", "x", 2e6, 20),
        wire("leaf", "x", "d", 10e6, 3),
        wire("tcp_leaf", "x", "u", 10e6, 3),
    ]
    # The fair share is not that of a link above a node here, but what the probe found: all of the bottleneck.
    flows = [group("mc", "srmcc", "s", ["d"]), tcp("tcp", "t", "u", **span)]
    return fine("one node", LAW_S, links, flows, ("r0",))


def keep_rate_update(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Every adaptation held against Eqs. (3) to (10): rates that differ, and states that another one explains better."""
    steps = adaptations(result)
    columns = (steps[name] for name in ("o_max", "o_min", "before_bps", "fair_rate", "after_bps"))
    wrong = unexplained = apart = 0
    seen = dict.fromkeys(range(4), 0)
    moderate: list[float] = []
    for o_max, o_min, before, fair, after in zip(*columns, strict=True):
        expected = algorithm.next_rate(o_max, o_min, before, fair, GAMMA)
        wrong += abs(after / expected - 1) > RATE_TOLERANCE
        apart += abs(o_max - o_min) > 1e-6
        state = algorithm.state(o_max)
        seen[state] += 1
        high = algorithm.candidate(o_min, before, fair)
        fits = [
            s
            for s in range(4)
            if abs(after / _mixed(algorithm.candidate(o_max, before, fair, s), high) - 1) <= RATE_TOLERANCE
        ]
        unexplained += state not in fits
        if state == 2 == algorithm.state(o_min) and 1.0625 * before < fair:
            moderate.append(after / before)
    return {
        "steps": float(len(steps["when_s"])),
        "wrong": float(wrong),
        "wrong_states": float(unexplained),
        "apart": float(apart),
        **{f"state_{state}": float(count) for state, count in seen.items()},
        "moderate": float(len(moderate)),
        "min_factor": float(np.min(moderate, initial=np.inf)) if moderate else float("nan"),
        "max_factor": float(np.max(moderate, initial=-np.inf)) if moderate else float("nan"),
        "access_error": float(np.max(np.abs(steps["fair_rate"] / 2e6 - 1))),
    }


def _mixed(low: float, high: float) -> float:
    return low + GAMMA * (high - low)


# --- the occupancy filter --------------------------------------------------------------------------------------------

FILTER_QUEUE = 50
ALPHA = 0.9


def occupancy_filter(_variant: str, _scale: Scale) -> Tree:
    """A slow group beside TCP at one queue that is sampled only when a message passes; cycles of always 0.4 s."""
    params = {"sampling": "mcc", "rtt": "static", "max_rate": "100 kbit/s"}
    links = [
        link("access", "s", "r0", **SENDER),
        link("tcp_access", "t", "r0", **SENDER),
        wire("bottleneck", "r0", "x", 2e6, 20),
        wire("leaf", "x", "d", 10e6, 3),
        wire("tcp_leaf", "x", "u", 10e6, 3),
    ]
    flows = [group("mc", "srmcc", "s", ["d"], params=params), tcp("tcp", "t", "u")]
    return fine("occupancy filter", 120.0, links, flows, ("r0",), "occupancy")


def keep_filter(result: Any, _variant: str, _scale: Scale) -> Sample:
    """The queue length that each step of the average stands for: a whole number of packets, if α is 0.9.

    An average that counts as empty is reported as 0, and says nothing of the next step.
    """
    when, _, _ = _read.events(result, "mcc", "node.r0")
    times, _ = _read.one(result, "occupancy", "node.r0")
    average = _at(
        result, "occupancy", "node.r0", times[np.searchsorted(times, when[when <= times[-1]] - 1e-9)]
    )
    now, last = average[1:], average[:-1]
    known = (now > 0) & (last > 0)
    packets = (now - (1 - ALPHA) * last)[known] / ALPHA * FILTER_QUEUE
    whole = np.round(packets)
    wrong = (np.abs(packets - whole) > 0.01) | (whole < 0) | (whole > FILTER_QUEUE)
    return {
        "samples": float(known.sum()),
        "not_whole": float(wrong.sum()),
        "lengths": float(len(np.unique(whole))),
    }


# --- fair shares and folding -----------------------------------------------------------------------------------------

FOLD_S = 100.0
FOLD_PHASES_S = (0.0, 30.0, 55.0, 80.0, FOLD_S)
FOLD_FAIR_BPS = (1.2e6, 2.0e6, 3.0e6, 4.0e6)
"""Minimum of: 8 Mbit/s for two flows; 6 Mbit/s for three, two and one; and 1.2 Mbit/s of access until 30 s."""
FOLD_SETTLING_S = 6.0
"""The window in which flows are counted (2 s), and some cycles."""


def folding(_variant: str, _scale: Scale) -> Tree:
    """Three tree nodes in a row with receivers and TCP at each, of which some leave: who limits the group changes."""
    links = [
        link("access", "s", "r0", **SENDER),
        wire("first", "r0", "r1", 8e6, 10),
        wire("second", "r1", "r2", 6e6, 10),
        wire("slow", "r1", "d1", 1.2e6, 3),
        *(wire(f"leaf{i}", "r2", f"d{i}", 10e6, 3) for i in (2, 3, 4)),
    ]
    ends = {"a": ("r0", "r1"), "b": ("r1", "r2"), "c": ("r1", "r2")}
    flows = [group("mc", "srmcc", "s", members())]
    for name, (begin, end) in ends.items():
        links.append(link(f"tcp_access_{name}", f"t{name}", begin, **SENDER))
        links.append(wire(f"tcp_leaf_{name}", end, f"u{name}", 10e6, 3))
        stop = {"b": "55 s", "c": "80 s"}.get(name)
        flows.append(tcp(f"tcp_{name}", f"t{name}", f"u{name}", **({"stop": stop} if stop else {})))
    events = [{"at": "30 s", "flow": "mc", "action": "leave", "node": "d1"}]
    return fine("folding", FOLD_S, links, flows, ("r0", "r1", "r2"), "occupancy", "fair_rate", events=events)


def keep_folding(result: Any, _variant: str, _scale: Scale) -> Sample:
    """At each adaptation: the fair share against the one that follows from the scenario, and what was folded.

    The maximum occupancy must be one that some node measured in its last two periods, and no node may have measured more
    in both of them.
    """
    steps = adaptations(result)
    wrong = compared = 0
    for (begin, end), fair in zip(itertools.pairwise(FOLD_PHASES_S), FOLD_FAIR_BPS, strict=True):
        settled = (steps["when_s"] > begin + FOLD_SETTLING_S) & (steps["when_s"] <= end)
        compared += int(settled.sum())
        wrong += int(np.sum(np.abs(steps["fair_rate"][settled] / fair - 1) > 0.01))
    measured = [_periods(result, "occupancy", f"node.r{i}") for i in range(3)]
    foreign = folded = 0
    for when, o_max in zip(steps["when_s"], steps["o_max"], strict=True):
        recent = [
            values[np.searchsorted(times, when) - 2 : np.searchsorted(times, when)]
            for times, values in measured
        ]
        if any(len(values) < 2 for values in recent):
            continue
        folded += 1
        known = any(np.any(np.abs(values - o_max) < 1e-6) for values in recent)
        foreign += not known or any(np.all(values > o_max + 1e-6) for values in recent)
    return {
        "fair_steps": float(compared),
        "wrong_fair": float(wrong),
        "folded": float(folded),
        "not_folded": float(foreign),
    }


def _periods(result: Any, name: str, subject: str) -> tuple[Any, Any]:
    """When a node measured, and what: at most one value before each of its messages, from the tick at which it changed."""
    when, _, _ = _read.events(result, "mcc", subject)
    times, values = _read.one(result, name, subject)
    place = np.searchsorted(times, when - 1e-9)
    there = place < len(times)
    return when[there], values[place[there]]


# --- messages per period ---------------------------------------------------------------------------------------------

CHILDREN = (1, 4, 64)
CHILDREN_S = 60.0


def children(variant: str, _scale: Scale) -> Tree:
    """Scenario 2 with one TCP connection, and 1, 4 or 64 receivers behind R1."""
    count = int(variant)
    flows = [group("mc", "srmcc", "s", members(count)), tcp("tcp1", "t1", "u1")]
    links = dumbbell(2e6, 10e6, count, tcps=1)
    return fine(f"{count} children", CHILDREN_S, links, flows, ("r0", "r1"))


def keep_children(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Messages of a node per cycle, and the shortest time between two of them in cycles; feedback at the source."""
    times, cycle = _read.one(result, "t_adapt", "flow.mc")
    shortest, max_per_cycle, messages = np.inf, 0.0, 0
    for node in ("node.r0", "node.r1"):
        when, _, _ = _read.events(result, "mcc", node)
        messages += len(when)
        meanwhile = inside(times, when[0], when[-1])
        max_per_cycle = max(max_per_cycle, (len(when) - 1) / float(np.sum(TICK_S / cycle[meanwhile])))
        for before, after in itertools.pairwise(when):
            # What a node knows of the cycle is as old as the data that told it.
            first = np.searchsorted(times, before - 1.0)
            shortest = min(
                shortest, (after - before) / np.min(cycle[first : np.searchsorted(times, after) + 1])
            )
    return {
        "messages": float(messages),
        "per_cycle": max_per_cycle,
        "shortest_gap": float(shortest),
        "feedback_per_s": float(_read.flow(result, "mc")["feedback_received"]) / CHILDREN_S,
    }


# --- probes ----------------------------------------------------------------------------------------------------------

PROBE_BYTES, SIGNAL_BYTES, FEEDBACK_BYTES = 1000, 64, 40


def probes(variant: str, _scale: Scale) -> Tree:
    """Four receivers that join at the start; counted from the start, or from 5 s on."""
    tree = custom(
        f"SRMCC rules, probes, {variant}",
        60.0,
        dumbbell(2e6, 10e6, tcps=1),
        [group("mc", "srmcc", "s", members()), tcp("tcp1", "t1", "u1")],
        icn={
            **icn("r0", "r1"),
            "probe": f"{PROBE_BYTES} B",
            "signal": f"{SIGNAL_BYTES} B",
        },
    )
    if variant == "later":
        tree["warmup"] = "5 s"
    return tree


def keep_probes(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Probe packets that routers sent: what their bytes are beyond those of as many feedback and signal packets."""
    found = 0.0
    for row in result.nodes.to_dicts():
        feedback = row["feedback_packets"]
        usual = FEEDBACK_BYTES * feedback + SIGNAL_BYTES * (row["sent_packets"] - feedback)
        found += (row["sent_bytes"] - usual) / (PROBE_BYTES - SIGNAL_BYTES)
    return {"probes": found}


# --- ramp and others' queues -----------------------------------------------------------------------------------------


def ramp(variant: str, _scale: Scale) -> Tree:
    """A group alone on an empty path of 5 Mbit/s; or beside datagrams that fill 2 Mbit/s by themselves."""
    flows = [group("mc", "srmcc", "s", members())]
    if variant == "empty":
        return fine("empty path", 20.0, dumbbell(5e6, 10e6, tcps=0), flows, ("r0", "r1"))
    links = dumbbell(2e6, 10e6, tcps=0)
    for i in (1, 2):
        links.append(link(f"cbr_access{i}", f"c{i}", "r0", **SENDER))
        links.append(wire(f"cbr_leaf{i}", "r1", f"v{i}", 10e6, 3))
        flows.append(constant(f"cbr{i}", f"c{i}", f"v{i}", 1.2e6))
    return fine("others' queue", 60.0, links, flows, ("r0", "r1"))


def keep_ramp(result: Any, variant: str, _scale: Scale) -> Sample:
    """Cycles until the rate first is at its fair share; and, beside others, how it went on."""
    steps = adaptations(result)
    fair = {"empty": 5e6, "full": 2e6 / 3}[variant]
    there = np.flatnonzero(steps["after_bps"] >= 0.99 * fair)
    first = int(there[0]) if len(there) else len(steps["when_s"])
    below = steps["before_bps"] < steps["fair_rate"]
    heavy = (steps["o_max"] > algorithm.OTH2) & below
    fell = heavy & (steps["after_bps"] < steps["before_bps"])
    floor = steps["after_bps"] <= 8e3 * 1.001
    return {
        "cycles": float(first + 1),
        "reached": float(len(there) > 0),
        "heavy_steps": float(heavy.sum()),
        "fell_below_fair": float(fell.sum()),
        "longest_at_floor": float(_longest(floor)),
        "later_rate_of_fair": float(np.mean(steps["after_bps"][first:])) / fair if len(there) else 0.0,
    }


def _longest(flags: Any) -> int:
    """Length of the longest run of true values."""
    longest = current = 0
    for flag in flags.tolist():
        current = current + 1 if flag else 0
        longest = max(longest, current)
    return longest
