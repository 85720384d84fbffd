"""Readings: passages of the paper that have several readings, and the options."""

from __future__ import annotations

from typing import Any

from .._base import Tree
from .._readings import Change, Option, Reading, parameters
from .keys import Key


def option(name: str, sentence: str, *only: Key, **values: Any) -> Option:
    """Other parameters of all flows of the scheme: by itself in these experiments, with other readings in all."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if flow.get("scheme") == "mca":
                # what an experiment varies stays
                flow["params"] = {**values, **flow.get("params", {})}

    return Option(name, sentence, change, only, whole=True)


def out_of_band(tree: Tree) -> None:
    """Control packets are separate packets, in a class of their own on each link."""
    parameters("mca", control="out_of_band")(tree)
    for link in tree["topology"]["links"]:
        link["classes"] = [1, 1]


def access_delay(delay: str) -> Change:
    """The links of the sources have this delay."""

    def change(tree: Tree) -> None:
        for link in tree["topology"]["links"]:
            if link["name"].startswith("access"):
                link["delay"] = delay

    return change


def start_spread(span: str) -> Change:
    """Flows that start together start within this span."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            flow["start_spread"] = span

    return change


def buffer(packets: int) -> Change:
    """Bottlenecks of the lossless situation hold this many packets; those of the lossy one keep theirs."""

    def change(tree: Tree) -> None:
        for link in tree["topology"]["links"]:
            if link["buffer"] == "200 packets":
                link["buffer"] = f"{packets} packets"

    return change


def slower_link_1(tree: Tree) -> None:
    """Link 1 has 0.8 Mbit/s, and residues are carried over."""
    parameters("mca", early="residue")(tree)
    for link in tree["topology"]["links"]:
        if link["name"] == "link1":
            link["rate"] = "0.8 Mbit/s"


def readings() -> tuple[Reading, ...]:
    """The readings, in the order of the paper: of the scheme, and then of the simulations."""
    return (*_of_the_scheme(), *_of_the_simulations())


def _of_the_scheme() -> tuple[Reading, ...]:
    return (
        Reading(
            "suppression",
            "How far below the representative's must a receiver's G-TRAC be for it to send an indication?",
            (
                Option(
                    "two-deviations",
                    "Two deviations D: ours. The filter is in the part of §3.2.2 that is lost, and its summaries in §1 "
                    "leave margins out: that of the representative's choice, too, which is U − D (§3.1.3).",
                ),
                option(
                    "average",
                    "Not at all: “Other receivers suppress their feedback if their average G-TRACs are higher than "
                    "that of CR” (§1).",
                    Key.STAR,
                    k_rx=0.0,
                ),
                option(
                    "one-deviation",
                    "As far as makes it the representative: “If it is lower than U − D …, the receiver sending this CI "
                    "will be chosen as the new CR” (§3.1.3).",
                    Key.STAR,
                    k_rx=1.0,
                ),
            ),
            default="two-deviations",
        ),
        Reading(
            "control-packets",
            "Do control packets wait in queues with the data?",
            (
                Option(
                    "in-band",
                    "Yes: “we send synchronization packets (a.k.a control packets) “in-band” instead of “out-of-band”” "
                    "(§2.2).",
                ),
                Option(
                    "out-of-band",
                    "No: “This can be done by sending synchronization data “out-of-band,” i.e., the synchronization "
                    "data experience only the fixed one-way delays and not the queueing delays” (§2.1).",
                    out_of_band,
                    (Key.STAR,),
                ),
            ),
            default="in-band",
        ),
        Reading(
            "measurement-interval",
            "How long is the interval τ between control packets?",
            (
                Option(
                    "20-ms",
                    "“The second control packet (CP1) is multicast after the measurement interval τ” (§2.2), of which "
                    "the paper gives no number; this one is ours.",
                ),
                option("25-ms", "As above; ours.", Key.STAR, control_interval="25 ms"),
                option(
                    "100-ms",
                    "A round-trip time: “initial RTT is 0.1 second” (§4).",
                    Key.CHAIN,
                    control_interval="100 ms",
                ),
                option("200-ms", "As 25 ms; ours.", Key.TRACKING, control_interval="200 ms"),
            ),
            default="20-ms",
        ),
        Reading(
            "threshold-unit",
            "Is the accumulation a number of bytes or of whole packets?",
            (
                Option(
                    "bytes",
                    "Of bytes: “A receiver measures “out”, the number of bytes received during the period of τ” (§2.2).",
                ),
                option(
                    "packets",
                    "Of packets, which arrive whole, with the control packet: “declare congestion if accumulation becomes "
                    "larger than two packets” (§2.2).",
                    Key.ONE_BOTTLENECK,
                    Key.TRACKING,
                    accumulation="packets",
                ),
                option(
                    "arrivals",
                    "Of the bytes that arrive after the control packet was expected, with it: “in − out is then the "
                    "accumulation” (§2.2).",
                    Key.ONE_BOTTLENECK,
                    Key.TRACKING,
                    accumulation="bytes",
                ),
            ),
            default="bytes",
        ),
        Reading(
            "early-control-packet",
            "What does an early control packet leave of a residue?",
            (
                Option(
                    "nothing",
                    "Nothing: “If a control packet arrives at the receiver before its expected arrival time, we "
                    "re-synchronize (not shown in the figure) and set accumulation to zero” (§2.2).",
                ),
                option(
                    "unexplained-part",
                    "What its earliness does not explain: “In practice, any residual positive accumulation is carried "
                    "over to the next epoch” (§2.2).",
                    Key.CHAIN,
                    Key.STAR,
                    early="residue",
                ),
                option(
                    "unexplained-part-30-ms",
                    "The same, with 30 ms between control packets: the paper gives no number, and this one is ours.",
                    Key.CHAIN,
                    Key.STAR,
                    early="residue",
                    control_interval="30 ms",
                ),
            ),
            default="nothing",
        ),
        Reading(
            "end-of-epoch",
            "What resynchronises a receiver whose route became longer?",
            (
                Option(
                    "below-one-packet",
                    "“if we detect the end of a congestion epoch, we re-synchronize” (§2.2).",
                ),
                option(
                    "rate-zero",
                    "“The source keeps reducing the sending rate until it reaches zero, and receivers re-synchronize at "
                    "that point” (§2.2): no epoch ends before.",
                    Key.CHANGED_PATH,
                    leave=0.0,
                ),
            ),
            default="below-one-packet",
        ),
        Reading(
            "deviation",
            "How is the deviation σ of the round-trip time updated?",
            (
                Option(
                    "printed",
                    "As printed: “The deviation is calculated as σ = 7/8·σ + 1/8·(|SRTT − s| − σ)” (§3.1.1).",
                ),
                option(
                    "mean",
                    "As the mean that the sentence before has, “SRTT = 7/8·SRTT + 1/8·s” (§3.1.1), and RFC 6298.",
                    Key.ONE_BOTTLENECK,
                    Key.STAR,
                    deviation="standard",
                ),
            ),
            default="printed",
        ),
        Reading(
            "deviations",
            "What are the deviations D and D′ of G-TRAC and TRAC?",
            (
                Option(
                    "standard-of-trac",
                    "“U′ and D′ are the mean and standard deviation of TRAC” (§3.1.3), while “U and D are the G-TRAC "
                    "average and deviation”: a mean of differences, as the deviation of the round-trip time.",
                ),
                option(
                    "standard",
                    "Both standard deviations: U − D is used “on the basis of assuming G-TRAC is a random variable” "
                    "(§3.1.3).",
                    Key.STAR,
                    g_deviation="standard",
                ),
                option(
                    "mean",
                    "Not the paper's: both means of differences, to see what follows from the standard deviation.",
                    Key.STAR,
                    trac_deviation="mean",
                ),
            ),
            default="standard-of-trac",
        ),
        Reading(
            "frequency-period",
            "Over how many packets is the congestion occurrence frequency f counted?",
            (
                Option(
                    "20-packets",
                    "“Over a certain period (e.g the period between two congestion epochs)” (§3.1.3), of which the paper "
                    "gives no number; this one is ours.",
                ),
                option("200-packets", "As above; ours.", Key.STAR, Key.TRACKING, f_window=200),
                option(
                    "epochs",
                    "From one epoch to the next: “e.g the period between two congestion epochs” (§3.1.3).",
                    Key.STAR,
                    Key.TRACKING,
                    f_period="epochs",
                    f_gain=1.0,
                ),
            ),
            default="20-packets",
        ),
        Reading(
            "indications",
            "Does a receiver indicate congestion once, or with each control packet?",
            (
                Option(
                    "control-packet",
                    "With each: “receivers detect congestion upon receipt of control packets”, and “convey the information "
                    "to the source by sending CIs” (§3).",
                ),
                option(
                    "epoch",
                    "Once: receivers “declare congestion if accumulation becomes larger than two packets” (§2.2).",
                    Key.ONE_BOTTLENECK,
                    indication="per_epoch",
                ),
            ),
            default="control-packet",
        ),
    )


def _of_the_simulations() -> tuple[Reading, ...]:
    return (
        Reading(
            "buffer",
            "How many packets does a bottleneck of §4.2 hold in the lossless situation?",
            (
                Option(
                    "200-packets",
                    "“Bottleneck buffer size is set to 200 and 40 packets for lossless and lossy situation” (§4.2).",
                ),
                Option(
                    "400-packets",
                    "“In reality, bottleneck queue capacity can be much larger than 200 packets. However, in terms of no "
                    "packet loss, a 200-packet queue is equivalent to any larger queue” (§4.1); twice as many is ours.",
                    buffer(400),
                    (Key.CHAIN,),
                ),
            ),
            default="200-packets",
        ),
        Reading(
            "access-delay",
            "How long are the sources' links of §4.3?",
            (
                Option(
                    "45-ms", "The base round-trip time is the initial one: “initial RTT is 0.1 second” (§4)."
                ),
                Option(
                    "1-ms",
                    "As in §4.2: “we set the bottleneck delays to 10 milliseconds and others to 1 millisecond”.",
                    access_delay("1 ms"),
                    (Key.STAR,),
                ),
            ),
            default="45-ms",
        ),
        Reading(
            "link-1",
            "Why is link 1 of §4.4 the most congested at first (Table 1)?",
            (
                Option(
                    "0.9",
                    "It has 0.9 Mbit/s instead of 1. All links carry the same traffic then; this is ours.",
                ),
                Option(
                    "0.8-unexplained-part",
                    "It has 0.8 Mbit/s, and of a residue stays what the earliness of a control packet does not explain: "
                    "“any residual positive accumulation is carried over to the next epoch” (§2.2).",
                    slower_link_1,
                    (Key.TRACKING,),
                ),
            ),
            default="0.9",
        ),
        Reading(
            "start",
            "When do the flows of §4.3 start?",
            (
                Option(
                    "spread",
                    "At different times: the star is there “to generate asynchronous congestion on 64 different "
                    "bottlenecks”, by flows that “congest the link in an asynchronous manner” (§4.3); within 20 s, which "
                    "is ours.",
                ),
                Option(
                    "together",
                    "Together, as those of §4.1, which “start at the beginning”; within half a second, which is ours.",
                    start_spread("0.5 s"),
                    (Key.STAR,),
                ),
            ),
            default="spread",
        ),
    )
