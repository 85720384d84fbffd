"""What the paper leaves open, and the options for it, as parameters of the scheme."""

from __future__ import annotations

from .._readings import Option, Reading, parameters


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
                    "least",
                    "Of the least occupied one: “each MTN maintains an MCC table, which records … the maximum "
                    "occupancy ratio (Max qocc), minimum occupancy ratio (Min qocc) …” (§3.2).",
                ),
                Option(
                    "same",
                    "Of the most occupied one: the average “is recorded as the maximum occupancy ratio (Max qocc) and"
                    " minimum occupancy ratio (Min qocc)” (§3.2); γ then has no effect.",
                    parameters("srmcc", o_min="same"),
                ),
            ),
            default="least",
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
                Option("no", "“R(t + 1) = 2.0 × R(t)” (§4.2.1, Eq. 6), without the limit of Eq. 4."),
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
