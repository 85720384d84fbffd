"""Readings: passages of the paper that have several readings, and the options, as parameters of the scheme."""

from __future__ import annotations

from .._base import Tree
from .._common import link
from .._readings import Change, Option, Reading, parameters
from . import scenarios
from .keys import Key
from .profiles import STOCK_TCP

PAPER = (Key.SCENARIOS, Key.GAMMA)
"""The experiments over the topology of Fig. 4."""


def connections(*settings: str) -> Change:
    """Gives all TCP connections some settings of stock ns-2."""
    stock = {name: STOCK_TCP[name] for name in settings}

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if "tcp" in flow:
                flow["tcp"] = {**flow["tcp"], **stock}

    return change


def delay(ms: int) -> Change:
    """R0 – R1 has this delay."""

    def change(tree: Tree) -> None:
        for wire in tree["topology"]["links"]:
            if wire["name"] == "bottleneck":
                wire["delay"] = f"{ms} ms"

    return change


def receivers(count: int) -> Change:
    """The group has so many receivers behind R1."""

    def change(tree: Tree) -> None:
        (group,) = (flow for flow in tree["flows"] if flow["name"] == "mc")
        links = tree["topology"]["links"]
        like = next(wire for wire in links if wire["name"] == "leaf1")
        links[:] = [wire for wire in links if not wire["name"].startswith("leaf")]
        group["to"] = scenarios.members(count)
        kept = {key: like[key] for key in ("rate", "delay", "buffer")}
        links += [link(f"leaf{i}", "r1", node, **kept) for i, node in enumerate(group["to"], 1)]

    return change


def random_traffic(tree: Tree) -> None:
    """A little random traffic between the hosts of the first connection."""
    tree["flows"].append(scenarios.noise("noise", "t1", "u1"))


def readings() -> tuple[Reading, ...]:
    """The readings, in the order of the paper."""
    return (
        Reading(
            "sampling",
            "When does a router sample its queue?",
            (
                Option(
                    "enqueue",
                    "With each packet that joins: “… and then perceives the current network congestion state through "
                    "a weighted moving average queue occupancy ratio” (§3.2); a weight of 0.9 is current if samples "
                    "are many.",
                ),
                Option(
                    "message",
                    "When an MCC message passes: “The multicast tree node obtains the current queue length …” (§3.2),"
                    " in the paragraph on these messages.",
                    parameters("srmcc", sampling="mcc"),
                ),
            ),
            default="enqueue",
        ),
        Reading(
            "transmission",
            "Does the packet in transmission count as queued?",
            (
                Option(
                    "no",
                    "“We develop and implement the SRMCC mechanism in NS-2” (§1), whose queues do not hold it.",
                ),
                Option(
                    "yes",
                    "“The multicast tree node obtains the current queue length” (§3.2), of which the paper says no more.",
                    parameters("srmcc", in_service=True),
                ),
            ),
            default="no",
        ),
        Reading(
            "minimum-occupancy",
            "Of which queue is the minimum occupancy?",
            (
                Option(
                    "minimum",
                    "Of the one with minimum occupancy: “each MTN maintains an MCC table, which records … the maximum "
                    "occupancy ratio (Max qocc), minimum occupancy ratio (Min qocc) …” (§3.2).",
                ),
                Option(
                    "same",
                    "Of the one with maximum occupancy: the average “is recorded as the maximum occupancy ratio (Max qocc) "
                    "and minimum occupancy ratio (Min qocc)” (§3.2); γ then has no effect.",
                    parameters("srmcc", o_min="same"),
                ),
            ),
            default="minimum",
        ),
        Reading(
            "occupancies",
            "What are the maximum and the minimum occupancy of one queue?",
            (
                Option(
                    "current",
                    "Both its average when a message is sent: the average “is recorded as the maximum occupancy ratio (Max "
                    "qocc) and minimum occupancy ratio (Min qocc) in the MCC table” (§3.2).",
                ),
                Option(
                    "extremes",
                    "The extremes of the average over the time between messages: “Similarly, the values of Max qocc and "
                    "Min qocc are updated by comparing”, until “a new MCC message is then generated … after a period of "
                    "time” (§3.2).",
                    parameters("srmcc", occupancy="extremes"),
                ),
            ),
            default="current",
        ),
        Reading(
            "empty-queue",
            "When is a queue empty?",
            (
                Option(
                    "half-a-packet",
                    "At an average below half a packet: Eq. (1) does not return to the 0 of Eq. (5); half a packet is ours.",
                ),
                Option("zero", "At an average of 0, as Eq. (5) has it.", parameters("srmcc", empty=0.0)),
            ),
            default="half-a-packet",
        ),
        Reading(
            "aggregation",
            "When does a router send its message?",
            (
                Option(
                    "children",
                    "When all children have sent theirs, “so that only one MCC message is forwarded upstream” (§3.2).",
                ),
                Option(
                    "period",
                    "“A new MCC message is then generated according to the MCC table in the MTN after a period of time” "
                    "(§3.2): one cycle after the first, which is ours.",
                    parameters("srmcc", aggregate="period"),
                ),
            ),
            default="children",
        ),
        Reading(
            "reset",
            "Does a router clear its MCC table after a message?",
            (
                Option("yes", "The paper does not say; without it extremes of the past would remain."),
                Option(
                    "no",
                    "“If the Min fair shared rate in the message is less than the value recorded in the MCC table, then the "
                    "Min fair shared rate in the MCC table is updated” (§3.2), and nothing that clears it.",
                    parameters("srmcc", reset=False),
                ),
            ),
            default="yes",
        ),
        Reading(
            "counting",
            "How many packets are looked at to count flows?",
            (
                Option("all", "The paper gives no share; to look at all takes chance out of it."),
                Option(
                    "tenth",
                    "“It then randomly samples the received data packets” (§3.2): one in ten is ours.",
                    parameters("srmcc", sampled=0.1),
                ),
            ),
            default="all",
        ),
        Reading(
            "fair-share-limit",
            "Does the fair share limit the doubling over an empty queue?",
            (
                Option(
                    "no",
                    "“calculate R(t + 1)min or R(t + 1)max using Equation (6)” (Algorithm 1, line 5), where lines 9, 13, 19 "
                    "and 22 have Equation (4).",
                ),
                Option(
                    "yes",
                    "“Finally, R(t + 1)min or R(t + 1)max are adjusted for the next round according to Equation (4)” "
                    "(§4.2.4), read as of all stages.",
                    parameters("srmcc", clamp_empty=True),
                ),
            ),
            default="no",
        ),
        Reading(
            "connection",
            "Which TCP has the paper's simulator?",
            (
                Option(
                    "newreno",
                    "“We introduced TCP as the primary competitive traffic” (§5.1) says no more: NewReno without a limit of "
                    "the window.",
                ),
                Option(
                    "tahoe",
                    "“We developed SRMCC and PerIfwithECN over NS-2” (§5), whose `Agent/TCP` is Tahoe.",
                    connections("fast_recovery", "undo", "initial_window", "initial_rto"),
                ),
                Option(
                    "window",
                    "The same: its window is 20 packets. Tahoe and the window together are the profile `stock ns-2`.",
                    connections("receive_window"),
                ),
            ),
            default="newreno",
        ),
        Reading(
            "delay",
            "How long is the path of Fig. 4?",
            (
                Option("20-ms", "Fig. 4 is lost: 20 ms from R0 to R1, a round trip of 50 ms."),
                Option("5-ms", "Fig. 4 is lost: 5 ms from R0 to R1, a round trip of 20 ms.", delay(5), PAPER),
                Option(
                    "45-ms", "Fig. 4 is lost: 45 ms from R0 to R1, a round trip of 100 ms.", delay(45), PAPER
                ),
            ),
            default="20-ms",
        ),
        Reading(
            "receivers",
            "How many receivers has the group of Fig. 4?",
            (
                Option("4", "Fig. 4 is lost."),
                Option("2", "Fig. 4 is lost.", receivers(2), PAPER),
                Option("3", "Fig. 4 is lost.", receivers(3), PAPER),
                Option("8", "Fig. 4 is lost.", receivers(8), PAPER),
            ),
            default="4",
        ),
        Reading(
            "phases",
            "What takes senders out of step at the drop-tail queues of §5.1?",
            (
                Option(
                    "nothing",
                    "The paper lists the traffic of each scenario (§5.1), and nothing random is in it.",
                ),
                Option(
                    "random-traffic",
                    "Not the paper's: 100 kbit/s of random traffic, to see what phases decide.",
                    random_traffic,
                    PAPER,
                ),
            ),
            default="nothing",
        ),
        Reading(
            "asmp",
            "Which rules has ASMP?",
            (
                Option(
                    "fractions",
                    "“Multicast receivers need to calculate the TCP-friendly bandwidth share” (§2) from a loss rate that is "
                    "not public: RTCP's fractions.",
                ),
                Option(
                    "events",
                    "“According to the TFRC specification” (§2), with loss events as TFRC counts them.",
                    parameters("asmp", estimator="loss_events"),
                ),
                Option(
                    "one-way",
                    "The factor from the one-way delay to the round trip is never calibrated; no text says how it is.",
                    parameters("asmp", calibration="never"),
                ),
                Option(
                    "slower-reports",
                    "Reports every 1.25 s, not every second; no text says how often.",
                    parameters("asmp", interval="1250 ms"),
                ),
            ),
            default="fractions",
        ),
        Reading(
            "perif",
            "When does a router of PerIfwithECN notify, and what does it suggest?",
            (
                Option(
                    "half",
                    "“Once the outgoing interface queue … detects that the congestion condition is met” (§5.3.4), which is "
                    "not public: at half of the queue, 0.95 of the rate.",
                ),
                Option(
                    "quarter", "The same, at a quarter of the queue.", parameters("perif_ecn", threshold=0.25)
                ),
                Option("keeps-0.9", "The same, 0.9 of the rate.", parameters("perif_ecn", keep=0.9)),
            ),
            default="half",
        ),
        Reading(
            "round-trip-time",
            "Which round-trip time sets the rate adaptation cycle?",
            (
                Option(
                    "measured",
                    "Table 1 gives the cycle in round-trip times; one that is measured includes queues.",
                ),
                Option(
                    "static",
                    "The paper has no rule that measures it: 100 ms for all of the run.",
                    parameters("srmcc", rtt="static"),
                ),
            ),
            default="measured",
        ),
    )
