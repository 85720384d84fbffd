"""Readings: passages of the paper that have several readings, and the options."""

from __future__ import annotations

from typing import Any

from .._base import Tree
from .._readings import Change, Option, Reading
from .keys import Key

FIGURES = (Key.EQUAL_CLOCKS, Key.FINE_CONSUMER_CLOCK)
"""The experiments of the paper."""

RESULTS = (
    *FIGURES,
    Key.GRID,
    Key.ONE_THING_CHANGED,
    Key.CLOCK_AND_DEPTH,
    Key.CLOCK_AND_RTT,
    Key.C1_ALONE,
)
"""These, and the experiments that vary one of their settings; the rules of §2 and §3 are tested in other ones."""


def parameters(**values: Any) -> Change:
    """A change of the scheme's parameters in all forwarders."""

    def change(tree: Tree) -> None:
        tree["ndn"]["link_params"].update(values)

    return change


def consumers(**values: Any) -> Change:
    """A change of settings of all consumers; `None` removes one."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            settings = {**flow["consumer"], **values}
            flow["consumer"] = {key: value for key, value in settings.items() if value is not None}

    return change


def readings() -> tuple[Reading, ...]:
    """The readings, in the order of the paper."""
    return (
        Reading(
            "smooth-sending",
            "How do Interests that are held leave at a tick of the consumer's clock?",
            (
                Option(
                    "together",
                    "At once: “When the longer clock tick is invoked, all the queued Interest packets are "
                    "transmitted actually” (§3.2).",
                ),
                Option(
                    "evenly",
                    "“Moreover, we proposed a method to send Interest packets more smoothly even in the "
                    "coarse-grained clock environment” (§1); how is not said. Ours: as evenly as by an exact clock, "
                    "the most that any method can do. Routers keep their coarse clock.",
                    consumers(tick="0 s", tick_phase=None),
                    (*RESULTS, Key.NACK_CLOCKS),
                ),
            ),
            default="together",
        ),
        Reading(
            "clock-start",
            "When does the consumer's clock tick first?",
            (
                Option(
                    "with-consumer",
                    "One interval after the consumer started: a clock that “calls itself periodically with the "
                    "Schedule() method of the Simulator class” (§3.2) is implemented in the consumer.",
                ),
                Option(
                    "common",
                    "At multiples of the interval, as a clock of the system would: “consumers and NDN routers use "
                    "the system clock with long time interval” (abstract).",
                    consumers(tick_phase="0 s"),
                    RESULTS,
                ),
            ),
            default="with-consumer",
        ),
        Reading(
            "counting",
            "Does y count Interests that the bucket drops?",
            (
                Option(
                    "received",
                    "Yes: “y(t) is given by dividing the number of received Interest packets by T” (§3.1).",
                ),
                Option(
                    "passed",
                    "No: y is the “Incoming Interest rate” (Table 1) of a link, which comes after “policing the "
                    "Interest packet flow” (§4.1).",
                    parameters(counting="passed"),
                    RESULTS,
                ),
            ),
            default="received",
        ),
        Reading(
            "cap",
            "Has R an upper bound?",
            (
                Option(
                    "capacity",
                    "Yes, C: N, the “Equivalent number of flows with full rate” (Table 1), is max(C, y)/R (Eq. 1), and "
                    "there is no less than one flow. No bound is printed.",
                ),
                Option(
                    "none",
                    "No: “R(t) = base_rate_ewma(t) + excess_rate_ewma(t)” (Eq. 5).",
                    parameters(capped=False),
                    FIGURES,
                ),
            ),
            default="capacity",
        ),
        Reading(
            "retransmission",
            "Are Interests that the bucket drops retransmitted?",
            (
                Option(
                    "none",
                    "No: “The SendPacket() method sends one Interest packet actually” (§3.2), every 1/rate; no "
                    "retransmission is named.",
                ),
                Option(
                    "timer",
                    "After a timeout, as by ndnSIM's consumers: “the Consumer class, which is the superclass” (§3.2).",
                    consumers(retries=None),
                    FIGURES,
                ),
            ),
            default="none",
        ),
        Reading(
            "smoothed-rtt",
            "With what gain is the round-trip time d smoothed?",
            (
                Option("0.1", "“Smoothed average RTT” (Table 1); the paper gives no gain, this one is ours."),
                Option("0.125", "As above; the gain of TCP (RFC 6298).", parameters(rtt_gain=0.125), FIGURES),
            ),
            default="0.1",
        ),
    )
