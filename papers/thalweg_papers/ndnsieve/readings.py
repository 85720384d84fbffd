"""Passages of the paper that have several readings, and the options. Options of ndnSieve change its calibrated profile."""

from __future__ import annotations

from typing import Any

from .._base import Tree
from .._readings import Change, Option, Reading
from . import abstracts
from .keys import Key
from .scenarios import SCENES

SIEVE = "calibrated"
"""The profile that options of ndnSieve change; the literal one has its own rows."""

THREE = (Key.THREE_FLOWS,)
WITH_GRAPHS = (*SCENES, Key.GRAPHS)
WITH_RATES = (*SCENES, Key.RATES)


def sieve(**values: Any) -> Change:
    """A change of ndnSieve's parameters in all its parts."""

    def change(tree: Tree) -> None:
        if tree["ndn"].get("link") != "ndnsieve":
            return
        if tree["ndn"].get("link_params", {}).get("profile", SIEVE) != SIEVE:
            return
        tree["ndn"]["link_params"] = {**tree["ndn"].get("link_params", {}), **values}
        tree["sdn"]["app_params"] = {**tree["sdn"].get("app_params", {}), **values}
        for flow in tree["flows"]:
            flow["params"] = {**flow.get("params", {}), **values}

    return change


def links(scheme: str, **values: Any) -> Change:
    """A change of the parameters of a scheme's part at links."""

    def change(tree: Tree) -> None:
        if tree["ndn"].get("link") == scheme:
            tree["ndn"]["link_params"] = {**tree["ndn"].get("link_params", {}), **values}

    return change


def forwarders(scheme: str, **values: Any) -> Change:
    """A change of the parameters of a scheme's strategy."""

    def change(tree: Tree) -> None:
        if tree["ndn"].get("strategy") == scheme:
            tree["ndn"]["strategy_params"] = {**tree["ndn"].get("strategy_params", {}), **values}

    return change


def consumers(scheme: str, **values: Any) -> Change:
    """A change of the parameters of a scheme's consumers. What a scenario has set stays."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if flow.get("scheme") == scheme:
                flow["params"] = {**values, **flow.get("params", {})}

    return change


def prefixes(count: int) -> Change:
    """Each producer has several prefixes, and its consumer's node a consumer for each."""

    def change(tree: Tree) -> None:
        numbers = range(1, count + 1)
        tree["flows"] = [
            {**flow, "name": f"{flow['name']}-{k}", "group": flow["name"], "prefix": f"{flow['prefix']}/{k}"}
            for flow in tree["flows"]
            for k in numbers
        ]
        tree["producers"] = [
            {**producer, "prefix": f"{producer['prefix']}/{k}"}
            for producer in tree["producers"]
            for k in numbers
        ]

    return change


def control_delay(tree: Tree) -> None:
    """50 ms from a router to the controller, and 50 ms back."""
    if "sdn" in tree:
        tree["sdn"]["link"] = {"delay": "50 ms"}


def signals_every(span: str) -> Change:
    """Routers decide on signals at the end of each period of this length."""

    def change(tree: Tree) -> None:
        if tree["ndn"].get("link") == "ndnsieve" and "sdn" in tree:
            tree["sdn"]["detection"] = span

    return change


def no_jitter(tree: Tree) -> None:
    """Interests leave when they are due."""
    for flow in tree["flows"]:
        flow["consumer"] = {key: value for key, value in flow["consumer"].items() if key != "jitter"}


def lasting(seconds: float) -> Change:
    """Runs of another length."""

    def change(tree: Tree) -> None:
        tree["duration"] = f"{seconds:g} s"

    return change


def falls_to(mbps: float) -> Change:
    """The middle link falls to this rate."""

    def change(tree: Tree) -> None:
        for event in tree.get("events", ()):
            if event.get("link") == "core" and "rate" in event:
                event["rate"] = f"{mbps:g} Mbit/s"

    return change


def third_at_r3(tree: Tree) -> None:
    """The third producer is at R3, where the way round passes."""
    for wire in tree["topology"]["links"]:
        if wire["name"] == "p3":
            wire["ends"] = ["r3", "p3"]


def readings() -> tuple[Reading, ...]:
    """The readings, in the order of the paper; those of the schemes that it compares with come last."""
    return (*_of_ndnsieve(), *_of_the_network(), *_of_others())


def _of_ndnsieve() -> tuple[Reading, ...]:
    return (
        Reading(
            "severe-level",
            "How many packets wait when ε is th2?",
            (
                Option(
                    "three-packets",
                    "Ours, a fit. By “Maximum Queue Length 500 packets” and “Queue occupancy threshold 0.9” (Table 3) "
                    "450 wait, 0.4 s, which “the number of packets queued in the router fluctuates seldomly” "
                    "(§6.2.1) excludes.",
                ),
                Option(
                    "two-packets",
                    "Two in the place of three, which the text prints as little: §6.2.1, as above.",
                    sieve(severe=2),
                    WITH_RATES,
                ),
                Option("one-packet", "One in the place of three.", sieve(severe=1), WITH_RATES),
                Option(
                    "bytes",
                    "“by using ns-3 based simulator, namely the ndnSIM” (§6), whose send queue length is in bytes: "
                    "compared with “500 packets” (Table 3), one waiting Data packet of 1100 is above 0.9.",
                    sieve(severe=0),
                    WITH_RATES,
                ),
                Option(
                    "limit",
                    "“the queue occupancy is also calculated” as “q_M / Q_N” (§4.1), Q = “500 packets” (Table 3): 450.",
                    sieve(level="limit"),
                    WITH_RATES,
                ),
            ),
            default="three-packets",
        ),
        Reading(
            "detection",
            "When does a router decide whether congestion is severe?",
            (
                Option(
                    "period",
                    "Once per period: “for each detection period, the router must calculate link utilization, queue "
                    "occupancy” (§5.1); 20 ms, and the minimum in it, are ours.",
                ),
                Option(
                    "departure",
                    "With each Data packet: “the router transmits Data packet with congestion label” when “the network"
                    " is severely busy” (§4.1).",
                    sieve(detection="departure"),
                    SCENES,
                ),
            ),
            default="period",
        ),
        Reading(
            "detection-period",
            "How long is a detection period, where there is one?",
            (
                Option("20-ms", "“for each detection period” (§5.1), without a number; 20 ms are ours."),
                Option("24-ms", "The same; ours.", sieve(detection_period="24 ms"), SCENES),
                Option("40-ms", "The same; ours.", sieve(detection_period="40 ms"), SCENES),
            ),
            default="20-ms",
        ),
        Reading(
            "window-step",
            "What does k count in cwnd(k+1) = cwnd(k) ± 1?",
            (
                Option(
                    "rounds",
                    "Ours, a fit: “the proposed scheme employs a smoother method to reduce the window size” (§4.3).",
                ),
                Option(
                    "data",
                    "“the cwnd at the consumer increases by 1 for each received unmarked Data packet” (§4.3).",
                    sieve(steps="data"),
                    SCENES,
                ),
            ),
            default="rounds",
        ),
        Reading(
            "moves",
            "Which moves to a lower metric are made?",
            (
                Option(
                    "evening-out",
                    "Those that even out the prefixes per interface: “Such scheduling processes eventually converge to"
                    " a stable state, achieving traffic balance” (§4.2.1); to count prefixes is ours.",
                ),
                Option(
                    "all",
                    "“The router will then divert traffic to the new optimal interface” (§4.2.1).",
                    sieve(moves="any"),
                    SCENES,
                ),
            ),
            default="evening-out",
        ),
        Reading(
            "signals",
            "When does a router signal a loaded link?",
            (
                Option(
                    "reports",
                    "With its report: “Polling period T_p = 0.5 s” (§4.1) is the only period with a number.",
                ),
                Option(
                    "20-ms",
                    "In each detection period: “for each detection period, the router must calculate link utilization … and"
                    " sends notifications” (§5.1); 20 ms, as for marks, is ours.",
                    signals_every("20 ms"),
                    SCENES,
                ),
                Option("100-ms", "The same, each 100 ms.", signals_every("100 ms"), SCENES),
            ),
            default="reports",
        ),
        Reading(
            "refresh",
            "When are metrics calculated?",
            (
                Option("signals", "On a signal: “if Cost Calculator receive signal” (Algorithm 1)."),
                Option(
                    "statuses",
                    "With the reports, too: “the metrics of each interface are periodically refreshed” (§4.2.1).",
                    sieve(refresh="status"),
                    SCENES,
                ),
            ),
            default="signals",
        ),
        Reading(
            "share",
            "Which part of a link's prefixes does the controller move at once?",
            (
                Option("third", "“Num ← signal.FIBNum * a” (Algorithm 1) without a number; 0.34 is ours."),
                Option(
                    "all",
                    "“Num ← signal.FIBNum * a” (Algorithm 1) without a number: a = 1.",
                    sieve(share=1.0),
                    SCENES,
                ),
            ),
            default="third",
        ),
        Reading(
            "control-delay",
            "How long does the controller take?",
            (
                Option(
                    "none",
                    "“The ndnSieve diverts the traffic from interface 260 to 261 at 1 s” (§6.2.2), with a reporting "
                    "cycle of 0.5 s.",
                ),
                Option(
                    "0.1-s",
                    "“when 4.1 s, congestion is detected and path switching function is triggered” (§6.2.3), with the "
                    "same cycle; 50 ms each way.",
                    control_delay,
                    SCENES,
                ),
            ),
            default="none",
        ),
    )


def _of_the_network() -> tuple[Reading, ...]:
    return (
        Reading(
            "prefixes",
            "How many prefixes does a producer of scenario 3 have?",
            (
                Option(
                    "one",
                    "“Each Producer (P1, P2, P3) in this scenario possess Data packets with different prefix” (§6.1).",
                ),
                Option(
                    "two",
                    "“ndnSieve selects specific content for path replacement” (§6.2.3), of “FIBNum * a” entries "
                    "(Algorithm 1); a consumer for each prefix, as ndnSIM's have one.",
                    prefixes(2),
                    THREE,
                ),
                Option("four", "The same, with four.", prefixes(4), THREE),
            ),
            default="one",
        ),
        Reading(
            "wiring",
            "Where is the third producer of scenario 3?",
            (
                Option("r2", "The picture (Fig. 3c) is lost. At R2, with the others."),
                Option(
                    "r3",
                    "The picture (Fig. 3c) is lost. At R3: “The latency between routers and producers is 1ms” (§6.1) "
                    "names no router.",
                    third_at_r3,
                    THREE,
                ),
            ),
            default="r2",
        ),
        Reading(
            "duration",
            "How long is a simulation?",
            (
                Option("20-s", "The paper gives no duration; 20 s are ours."),
                Option("10-s", "The same, half of that.", lasting(10), SCENES),
                Option("30-s", "The same, half as much again.", lasting(30), SCENES),
            ),
            default="20-s",
        ),
        Reading(
            "chance",
            "Is there chance in the departure of Interests?",
            (
                Option("0.1-ms", "Ours: up to 0.1 ms, so that seeds differ. The paper says nothing of it."),
                Option(
                    "none",
                    "Table 4 prints 1.88 ms for both consumers, whom nothing tells apart then.",
                    no_jitter,
                    WITH_RATES,
                ),
            ),
            default="0.1-ms",
        ),
    )


def _of_others() -> tuple[Reading, ...]:
    return (
        Reading(
            "pcon-window",
            "Which window do PCON's consumers have?",
            (
                Option("bic-0.5", "“Consumer: BIC algorithm” (Table 1); 0.5 is from its authors' release."),
                Option(
                    "bic-0.8",
                    "“Consumer: BIC algorithm” (Table 1); 0.8 is from ndnSIM.",
                    consumers("pcon", beta=0.8),
                    (*WITH_GRAPHS, Key.READINGS),
                ),
                Option(
                    "aimd",
                    "“the size of the cwnd decreases multiplicatively when the congestion occurs” (§6.2.1); ndnSIM's "
                    "consumer unless it is told otherwise.",
                    consumers("pcon", window="aimd"),
                    (*WITH_GRAPHS, Key.READINGS),
                ),
            ),
            default="bic-0.5",
        ),
        Reading(
            "pcon-marks",
            "Which Data packets do PCON's routers mark, and which marks reduce a window?",
            (
                Option(
                    "release",
                    "The next that joins, and each, as in its authors' release: “once received a Data packet with "
                    "congestion mark” (§6.2.2).",
                ),
                Option(
                    "leaving",
                    "What leaves: “Outgoing queue sojourn time” (Table 1).",
                    links("pcon", mark_at="dequeue"),
                    (*WITH_GRAPHS, Key.READINGS),
                ),
                Option(
                    "once-per-window",
                    "What joins, and one in 1.5 windows, as ndnSIM's consumer.",
                    consumers("pcon", marks="once"),
                    (*WITH_GRAPHS, Key.READINGS),
                ),
            ),
            default="release",
        ),
        Reading(
            "coopcon-mark",
            "Which Data packet does CoopCon's router mark?",
            (
                Option(
                    "joining",
                    "The next that joins the queue, as PCON's; the paper says nothing of it.",
                ),
                Option(
                    "leaving",
                    "The one whose departure calls for it; the paper says nothing of it.",
                    links("coopcon", mark_at="dequeue"),
                    WITH_GRAPHS,
                ),
            ),
            default="joining",
        ),
        Reading(
            "coopcon-step",
            "How gradually do CoopCon's consumers reduce their windows?",
            (
                Option(
                    "0.9",
                    "“the consumers gradually adjust the size of cwnd, routers do not experience severe congestion” "
                    "(§6.2.3), without a number; to 0.9.",
                ),
                Option("0.8", "The same, to 0.8.", consumers("coopcon", light=0.8), WITH_GRAPHS),
            ),
            default="0.9",
        ),
        Reading(
            "coopcon-interval",
            "How long may CoopCon's queue wait too long before a mark?",
            (
                Option("100-ms", "The paper says nothing of it: as in PCON."),
                Option("50-ms", "The same; ours.", links("coopcon", interval="50 ms"), WITH_GRAPHS),
            ),
            default="100-ms",
        ),
        Reading(
            "flecom-step",
            "How large is FleCom's step?",
            (
                Option(
                    "change",
                    "“congestion detection takes into account the trend of the sojourn time” (§6.2.2): the change that"
                    " reverses the trend, a tenth at most.",
                ),
                Option(
                    "level",
                    "“FleCom is able to dynamically calculate the adjustive size of cwnd on the level of network "
                    "congestion” (§6.2.2): that level, a tenth at most.",
                    links("flecom", step="level"),
                    WITH_GRAPHS,
                ),
                Option(
                    "half",
                    "The change that reverses the trend, a half at most, looked at every 20 ms: both limits are ours.",
                    links("flecom", max_cut=0.5, interval="20 ms"),
                    WITH_GRAPHS,
                ),
            ),
            default="change",
        ),
        Reading(
            "flecom-interval",
            "How often do FleCom's routers look at the sojourn time?",
            (
                Option("60-ms", "The paper says nothing of it: fitted in a model."),
                Option("46-ms", "The same; ours.", links("flecom", interval="46 ms"), WITH_GRAPHS),
                Option("42-ms", "The same; ours.", links("flecom", interval="42 ms"), WITH_GRAPHS),
            ),
            default="60-ms",
        ),
        Reading(
            "flecom-change",
            "Which part of its share does a next hop of FleCom lose at once?",
            (
                Option("0.02", "The paper says nothing of it: as in PCON."),
                Option("0.01", "The same; ours.", forwarders("flecom", change=0.01), WITH_GRAPHS),
            ),
            default="0.02",
        ),
        Reading(
            "flecom-shaping",
            "Do FleCom's routers shape Interests that have one way only?",
            (
                Option("yes", "“multipath forwarding or Interest shaping”, by FleCom's own abstract."),
                Option(
                    "no",
                    "“FleCom adjusts the forwarding path” (§6.2.3); the paper says nothing of shaping.",
                    links("flecom", shaping=False),
                    WITH_GRAPHS,
                ),
            ),
            default="yes",
        ),
        Reading(
            "overload",
            "To which rate does the link of 10 Mbit/s fall where the schemes of §2 are overloaded?",
            (
                Option("3-Mbit/s", "Ours: §2 speaks of “severe congestion” and describes no experiment."),
                Option("5-Mbit/s", "The same; ours.", falls_to(5), (Key.STEP, Key.LOAD)),
            ),
            default="3-Mbit/s",
        ),
        Reading(
            "next-hops",
            "Which next hops do routers have in the topologies of BRITE, of which abstracts of CoopCon and FleCom speak?",
            (
                Option(
                    "all",
                    "All that reach the producer, as R3 does in scenario 3, which is farther from it than R1 is: “divert"
                    " traffic to alternative links” (§6.2.3).",
                ),
                Option(
                    "nearer",
                    "Those that are nearer to the producer: the abstracts say nothing of routes.",
                    abstracts.nearer,
                    (Key.GRAPHS,),
                ),
            ),
            default="all",
        ),
    )
