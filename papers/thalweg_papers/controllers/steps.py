"""From TCP to a stack's own controller in named steps, each with one behaviour and the lines of source that make it.

The first steps are TCP of this library with one behaviour of QUIC stacks more each; then the same controller, with
the parameters of Linux, is plugged into noq and into quinn; the last is the stack's own controller. What a step changes
is what its behaviour makes. The steps and their order were written before they were measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._base import Experiment, ExperimentKey, Scale, Tree
from . import experiments, scenarios
from .keys import Key
from .scenarios import BASELINE, NETWORKS, SCHEMES


class Step(ExperimentKey):
    """The steps, by algorithm."""

    CUBIC = "cubic-steps"
    NEWRENO = "newreno-steps"


PARAMS: dict[Key, Tree] = {
    Key.CUBIC: {"variant": "linux", "hystart": "linux", "beta": 717 / 1024, "c": 410 / 1024},
    Key.NEWRENO: {"variant": "linux"},
}
"""Parameters that `tcp.like = "linux"` sets, for a controller in a stack; those of BBR are the standard ones."""

TCP_STEPS: dict[str, tuple[str, Tree]] = {
    "halt": (
        "no proportional rate reduction: nothing is sent until less than the window is in flight",
        {"tcp": {"reduction": "halt"}},
    ),
    "packets": (
        "packets of 1480 B with 1418 B of payload, not 1500 B with 1460 B",
        {"packet": "1480 B", "tcp": {"header": "62 B"}},
    ),
    "acks": (
        "acknowledgements every second packet from the start, and after 25 ms at most",
        {"tcp": {"quick_acks": 0, "ack_delay": "25 ms"}},
    ),
    "pacing": (
        "pacing at 1.25 windows per round-trip time, without bursts",
        {"tcp": {"pacing": "quic"}},
    ),
}
"""Settings of TCP, each step with those before it: what it switches, and its keys."""

STACK_STEPS: dict[str, str] = {
    "noq-linux": "into noq: bursts of at most 10 ms, and losses by three packets or 9/8 round-trip times",
    "quinn-linux": "from noq into quinn: bursts of ten datagrams, no rate of the controller, no undo",
    "no-hystart": "slow start until a loss, without HyStart",
    "own": "the growth of the stack's own controller",
}


@dataclass(frozen=True)
class Lines:
    """The place of a behaviour in the source of a stack, and its specification."""

    step: str
    stack: str
    file: str
    first: int
    last: int
    about: str
    """An identifier in the first of these lines."""
    standard: str


STEPS = {Key.CUBIC: Step.CUBIC, Key.NEWRENO: Step.NEWRENO}
"""The experiment of the steps of an algorithm."""

VERSIONS = {"quinn": ("quinn-proto", "0.11.19"), "noq": ("noq-proto", "1.4.0")}
"""Crate and version of each stack: those of the lock file."""


def names(key: Key, stack: str) -> tuple[str, ...]:
    """The steps to a stack's implementation of an algorithm, in order. Of BBR, those of the transports only."""
    plugged = ("noq-linux",) if stack == "noq" else ("noq-linux", "quinn-linux")
    if key not in STEPS:
        return plugged
    hystart = ("no-hystart",) if key is Key.CUBIC else ()
    return (*TCP_STEPS, *plugged, *hystart, "own")


def cases(key: Key) -> tuple[str, ...]:
    """The steps that are experiments of their own, by what is run."""
    hystart = ("noq-no-hystart", "quinn-no-hystart") if key is Key.CUBIC else ()
    return (*TCP_STEPS, "noq-linux", "quinn-linux", *hystart)


def case(stack: str, name: str) -> str:
    """The flow that is run for a step of a stack."""
    return f"{stack}-{name}" if name == "no-hystart" else name


def flow(key: Key, case: str) -> Tree:
    """The keys of the flow of a case."""
    scheme = SCHEMES[key]
    if case in TCP_STEPS:
        found: Tree = {"scheme": scheme, "tcp": {"like": "linux"}}
        for name, (_, keys) in TCP_STEPS.items():
            tcp = {**found["tcp"], **keys.get("tcp", {})}
            found = {**found, **keys, "tcp": tcp}
            if name == case:
                break
        return found
    stack, _, rest = case.partition("-")
    params = PARAMS[key] | ({"hystart": "off"} if rest == "no-hystart" else {})
    return {"stack": stack, "scheme": scheme} | ({"params": params} if params else {})


def label(name: str) -> str:
    """The parameter that a step switches."""
    return TCP_STEPS[name][0] if name in TCP_STEPS else STACK_STEPS[name]


def tree(key: Key, variant: str, scale: Scale) -> Tree:
    """The scenario of a case on a network: that of the baseline with another flow."""
    case, network = variant.split(" ", 1)
    found = scenarios.tree(key, scenarios.variant(BASELINE, network), scale)
    first, *others = found["flows"]
    kept = {name: first[name] for name in ("name", "packet", "start_spread")}
    return found | {"title": f"Steps, {key}, {variant}", "flows": [kept | flow(key, case), *others]}


EXPERIMENTS: dict[ExperimentKey, Experiment] = experiments.EXPERIMENTS | {
    step: Experiment(
        step,
        step,
        tuple(scenarios.variant(case, network) for case in cases(key) for network in NETWORKS),
        lambda variant, scale, key=key: tree(key, variant, scale),  # type: ignore[misc]
        experiments.extract,
        seeds=experiments.SEEDS,
        quick_seeds=1,
        weight=0.4,
    )
    for key, step in STEPS.items()
}
"""Those of the comparison, and the steps."""

LINES: tuple[Lines, ...] = (
    Lines("halt", "quinn", "src/connection/mod.rs", 606, 623, "ack_eliciting", "RFC 9002 §7.3.2"),
    Lines("halt", "noq", "src/connection/mod.rs", 1978, 1994, "Congestion control", "RFC 9002 §7.3.2"),
    Lines("packets", "quinn", "src/config/transport.rs", 746, 755, "MtuDiscoveryConfig", "RFC 9000 §14.3"),
    Lines("packets", "noq", "src/config/transport.rs", 914, 923, "MtuDiscoveryConfig", "RFC 9000 §14.3"),
    Lines("acks", "quinn", "src/connection/spaces.rs", 718, 731, "ack_eliciting_threshold", "RFC 9000 §13.2"),
    Lines("acks", "noq", "src/connection/spaces.rs", 1226, 1239, "ack_eliciting_threshold", "RFC 9000 §13.2"),
    Lines("pacing", "noq", "src/connection/pacing.rs", 81, 155, "delay", "RFC 9002 §7.7"),
    Lines("noq-linux", "noq", "src/connection/pacing.rs", 221, 236, "rate_capacity", "RFC 9002 §7.7"),
    Lines("noq-linux", "noq", "src/connection/mod.rs", 3315, 3416, "detect_lost_packets", "RFC 9002 §6.1"),
    Lines("pacing", "quinn", "src/connection/pacing.rs", 48, 115, "delay", "RFC 9002 §7.7"),
    Lines("noq-linux", "quinn", "src/connection/mod.rs", 1692, 1815, "detect_lost_packets", "RFC 9002 §6.1"),
    Lines("quinn-linux", "quinn", "src/connection/pacing.rs", 129, 151, "optimal_capacity", "RFC 9002 §7.7"),
    Lines("quinn-linux", "quinn", "src/connection/mod.rs", 616, 623, "congestion.window", "RFC 9002 §7"),
    Lines("quinn-linux", "quinn", "src/connection/mod.rs", 625, 633, "pacing", "RFC 9002 §7.7"),
    Lines("quinn-linux", "quinn", "src/congestion.rs", 17, 85, "Controller", "RFC 9438 §4.9"),
    Lines("no-hystart", "quinn", "src/congestion/cubic.rs", 111, 113, "ssthresh", "RFC 9438 §4.10"),
    Lines("no-hystart", "noq", "src/congestion/cubic.rs", 123, 125, "ssthresh", "RFC 9438 §4.10"),
    Lines(
        "own",
        "quinn",
        "src/congestion/cubic.rs",
        51,
        56,
        "w_est",
        "RFC 8312 §4.2, eq. 4; RFC 9438 §4.3, eq. 4",
    ),
    Lines("own", "quinn", "src/congestion/cubic.rs", 133, 163, "w_cubic", "RFC 9438 §4.3 to §4.5"),
    Lines(
        "own", "noq", "src/congestion/cubic.rs", 65, 70, "w_est", "RFC 8312 §4.2, eq. 4; RFC 9438 §4.3, eq. 4"
    ),
    Lines("own", "noq", "src/congestion/cubic.rs", 168, 181, "cwnd_inc", "RFC 9438 §4.3 to §4.5"),
    Lines("own", "quinn", "src/congestion/new_reno.rs", 76, 81, "bytes_acked", "RFC 9002 §7.3.3"),
    Lines("own", "noq", "src/congestion/new_reno.rs", 77, 82, "bytes_acked", "RFC 9002 §7.3.3"),
)
"""Every step's lines. Where quinn's and noq's are the same, both have a row."""
