"""Readings: passages of the paper that have several readings, and the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._base import Tree
from .._readings import Change, Option, Reading, parameters
from . import scenarios
from .keys import Key

LONGER_S = 240.0
"""Duration of the connection in the longer tests of §4.2."""

VARIED = (Key.FRIENDLINESS, Key.ITSELF)
"""Experiments of which the paper says that starting rates varied."""

JITTERED = tuple(
    key for key in Key if key not in (Key.RULES, Key.MODES, Key.CLOCKS, Key.PERSISTENT, Key.BESIDE)
)
"""Experiments that measure rates, of which packets' times can be a chance."""

NOISE = 0.02
"""Share of the capacity that random traffic has, where there is any."""


def _bottleneck(tree: Tree) -> Tree:
    first: Tree
    (first,) = (wire for wire in tree["topology"]["links"] if wire["name"] == "first")
    return first


def _kbps(tree: Tree) -> float:
    return float(_bottleneck(tree)["rate"].split()[0])


def start(part: float) -> Change:
    """Streams start at this part of the first link's capacity."""

    def change(tree: Tree) -> None:
        parameters("cvihis", initial_rate=f"{_kbps(tree) * part:g} kbit/s")(tree)

    return change


def background(**values: Any) -> Change:
    """A change of parameters in flows that are in background mode, at first or later."""

    def change(tree: Tree) -> None:
        switched = {event["flow"] for event in tree.get("events", ()) if event.get("action") == "mode"}
        for flow in tree["flows"]:
            params = flow.get("params", {})
            if params.get("mode") == "background" or flow["name"] in switched:
                flow["params"] = {**values, **params}

    return change


def connection(tcp: Mapping[str, Any], **values: Any) -> Change:
    """A change of settings of TCP and of parameters in NewReno connections."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if flow["scheme"] == "reno":
                flow["tcp"] = {**flow["tcp"], **tcp}
                flow["params"] = {**flow["params"], **values}

    return change


def random_traffic(tree: Tree) -> None:
    """A little Poisson traffic between the hosts of the connection."""
    ends = {"from": "s-tcp", "to": "d-tcp"}
    source = {"kind": "poisson", "rate": f"{NOISE * _kbps(tree):g} kbit/s"}
    tree["flows"].append({"name": "noise", "packet": "500 B", "source": source, **ends})


def jitter(by: str) -> Change:
    """Packets arrive at receivers later or earlier by up to this time, at random and in order."""

    def change(tree: Tree) -> None:
        for wire in tree["topology"]["links"]:
            if wire["name"].startswith("out"):
                wire["impair"] = {"jitter": by, "keep_order": True}

    return change


def packets(size: str) -> Change:
    """Streams have packets of this size; connections keep theirs."""

    def change(tree: Tree) -> None:
        for flow in tree["flows"]:
            if flow["scheme"] == "cvihis":
                flow["packet"] = size

    return change


def longer(tree: Tree) -> None:
    """The connection stays for 240 s, and the run ends 130 s after it, as before."""
    more = LONGER_S - (scenarios.TCP_S[1] - scenarios.TCP_S[0])
    for flow in tree["flows"]:
        if flow["name"] == "tcp":
            flow["stop"] = f"{scenarios.TCP_S[1] + more:g} s"
    tree["duration"] = f"{float(tree['duration'].split()[0]) + more:g} s"


def only_forward(tree: Tree) -> None:
    """Of the stream with 150 ms one way the way back takes 50 ms, as for the others."""
    for wire in tree["topology"]["links"]:
        if wire["delay"] == "75 ms":
            wire["backward"] = {"delay": "25 ms"}


def trip(ms: float) -> Change:
    """All round trips are of this length."""

    def change(tree: Tree) -> None:
        for wire in tree["topology"]["links"]:
            if wire["name"].startswith(("in-", "out-")):
                wire["delay"] = f"{ms / 4:g} ms"

    return change


def trip_of_200_ms(tree: Tree) -> None:
    """The connection's round trip is 200 ms, whatever the stream's."""
    for wire in tree["topology"]["links"]:
        if wire["name"] in ("in-tcp", "out-tcp"):
            wire["delay"] = "50 ms"


def twice_as_long(tree: Tree) -> None:
    """All of the run, and when flows come and go, in twice the time."""
    for part, keys in ((tree, ("duration",)), *((flow, ("start", "stop")) for flow in tree["flows"])):
        for key in keys:
            if key in part:
                part[key] = f"{2 * float(part[key].split()[0]):g} s"


def unequal_pairs(kbps: int, queue: int) -> Change:
    """Another capacity and queue for pairs of streams with different round trips."""

    def change(tree: Tree) -> None:
        delays = {wire["delay"] for wire in tree["topology"]["links"] if wire["name"].startswith("in-")}
        if len(delays) == 1:
            return
        for flow, part in zip(tree["flows"], (1 / 4, 1 / 2), strict=True):
            flow["params"] = {**flow["params"], "initial_rate": f"{kbps * part:g} kbit/s"}
        _bottleneck(tree).update(rate=f"{kbps} kbit/s", buffer=f"{queue} packets")

    return change


def two_links(first_kbps: int, second_kbps: int) -> Change:
    """Other capacities of the two links that can be slow."""

    def change(tree: Tree) -> None:
        rates = {"first": first_kbps, "second": second_kbps}
        for wire in tree["topology"]["links"]:
            if wire["name"] in rates:
                wire["rate"] = f"{rates[wire['name']]} kbit/s"
        parameters("cvihis", initial_rate=f"{first_kbps / 4:g} kbit/s")(tree)

    return change


def connections_congest(tree: Tree) -> None:
    """NewReno connections keep the queue, not streams."""
    for i, flow in enumerate(tree["flows"]):
        if flow["name"] != "late":
            tree["flows"][i] = scenarios.Flow(flow["name"], "reno", 60).tree()


def readings() -> tuple[Reading, ...]:
    """The readings, in the order of the paper."""
    return (
        Reading(
            "smoothing",
            "What does the smoothing factor SF apply to?",
            (
                Option(
                    "steps",
                    "To the six steps: “0.5 * last update 0.5 * history” (Table 1), and not to the decrease: “MD is a"
                    " multiplicative decrease factor used after packet drops to increase the sending gap of packets” "
                    "(§3.2), by 1.10.",
                ),
                Option(
                    "all-steps",
                    "To all seven: “The seventh adjustment step is a multiplicative decrease step taken after a "
                    "packet drop” (§3.2).",
                    parameters("cvihis", smoothed_decrease=True),
                ),
                Option(
                    "rate",
                    "To the rate that steps make: “SF is a smoothing factor used for the EWMA filter to filter out "
                    "quick rate changes” (§3.2); the decrease at once.",
                    parameters("cvihis", smoothed="rate"),
                ),
                Option(
                    "rate-and-decrease",
                    "To the rate, whatever changes it: “EWMA is also used by CVIHIS to filter out quick rate changes”"
                    " (§3.1).",
                    parameters("cvihis", smoothed="rate", smoothed_decrease=True),
                ),
            ),
            default="steps",
        ),
        Reading(
            "min-delay-update",
            "How does minDelay follow a route that became longer?",
            (
                Option(
                    "push",
                    "By the push of the real-time mode alone: “PF is a pushing factor used only by the real-time "
                    "mode” (§3.2).",
                ),
                Option(
                    "background-push",
                    "By a slow push in background mode, too: “the shifting factor of this mode should be only "
                    "slightly over one” (§4.6); 1.001 is ours.",
                    background(background_push=1.001),
                ),
                Option(
                    "window",
                    "As reference [25] does: “After receiving a certain number of data packets, the receiver can "
                    "check the smallest delay value among these packets …” (§4.6); 20 packets, 0.6 of the delay "
                    "space, four times are ours.",
                    parameters("cvihis", window=20),
                ),
            ),
            default="push",
        ),
        Reading(
            "areas",
            "Where are the delay areas, and what do the outer ones with arrows command?",
            (
                Option(
                    "0.1-to-0.8",
                    "Fig. 1, which prints the factors, is lost. “The targetDelay area is not placed in the middle … but "
                    "is shifted somewhat downwards” (§3.2): it is 0.35 to 0.45. “Short steps in the delay areas just "
                    "beside the targetDelay area” (§3.2), and the same in the outer two.",
                ),
                Option(
                    "lower",
                    "The same sentence, with all areas further down: the target area is 0.25 to 0.35.",
                    parameters(
                        "cvihis", edge_1=0.05, edge_2=0.15, edge_3=0.25, edge_4=0.35, edge_5=0.55, edge_6=0.75
                    ),
                ),
                Option(
                    "strong",
                    "“Bigger steps are used when the queue level is further away from the target” (§3.2): the outer two "
                    "command the steps of the extremes.",
                    parameters("cvihis", outer="strong"),
                ),
            ),
            default="0.1-to-0.8",
        ),
        Reading(
            "push-cadence",
            "How often is minDelay pushed, while the stream shall slow down?",
            (
                Option(
                    "packet",
                    "With each packet: “the minimum delay value is pushed upwards in a continuous manner” (§3.3).",
                ),
                Option(
                    "step",
                    "With each step of the rate, √RTT apart: the paper gives no interval.",
                    parameters("cvihis", push_every="step"),
                ),
                Option(
                    "rtt",
                    "Once per round trip: the paper gives no interval.",
                    parameters("cvihis", push_every="rtt"),
                ),
            ),
            default="packet",
        ),
        Reading(
            "decrease",
            "By how much does a loss reduce the rate?",
            (
                Option("1.10", "“MD (5) 1.10” (Table 1): the gap between packets grows by a tenth."),
                Option(
                    "1.05",
                    "Not the paper's: half of it, to see what follows from the size of the decrease.",
                    parameters("cvihis", decrease=1.05),
                ),
                Option(
                    "2",
                    "Not the paper's: halves the rate, as TCP does, to see what follows from the size of the decrease.",
                    parameters("cvihis", decrease=2.0),
                ),
            ),
            default="1.10",
        ),
        Reading(
            "packet-size",
            "How large are the packets of a stream?",
            (
                Option("1500-B", "The paper gives no size: as large as those of the connection."),
                Option("1000-B", "The paper gives no size.", packets("1000 B")),
                Option("500-B", "The paper gives no size.", packets("500 B")),
            ),
            default="1500-B",
        ),
        Reading(
            "connection",
            "What does the NewReno of the hosts do beside NewReno?",
            (
                Option("newreno", "“the TCP NewReno version” (§4.3), and no more than that."),
                Option(
                    "sack",
                    "The hosts ran Linux (Fig. 2), whose connections have selective acknowledgements by default.",
                    connection({"sack": True}),
                ),
                Option(
                    "linux",
                    "The same, with all defaults of Linux: acknowledgements are delayed and bytes are counted. “Only "
                    "some TCP implementations have adopted these improvements” (§2.3).",
                    connection({"sack": True, "delayed_ack": True}, counting="bytes"),
                ),
                Option(
                    "impatient",
                    "With the timer of RFC 6582, which starts again once in a recovery; Linux does not have it.",
                    connection({"recovery_timer": "impatient"}),
                ),
            ),
            default="newreno",
        ),
        Reading(
            "phases",
            "What takes connections and streams out of step?",
            (
                Option(
                    "nothing",
                    "“Individual measurements depart from the trend due to the phase effect” (§4.3).",
                ),
                Option(
                    "random-traffic",
                    "Not the paper's: 2 % of random traffic, to see what phases decide.",
                    random_traffic,
                    (Key.FRIENDLINESS,),
                ),
                Option(
                    "jitter-0.2-ms",
                    "“The real network tests of this study verify the proper operation” (abstract): up to 0.2 ms, in "
                    "order, before each receiver; the paper names no amount.",
                    jitter("0.2 ms"),
                    JITTERED,
                ),
                Option("jitter-0.5-ms", "The same, up to 0.5 ms.", jitter("0.5 ms"), JITTERED),
                Option("jitter-2-ms", "The same, up to 2 ms.", jitter("2 ms"), JITTERED),
            ),
            default="nothing",
        ),
        Reading(
            "start-rate",
            "At what part of the capacity do streams start in §4.3 and §4.4?",
            (
                Option(
                    "varied",
                    "“The starting rates of the connections also varied among the tests” (§4.3, §4.4): at a quarter "
                    "and at a half.",
                ),
                Option("quarter", "The paper gives no rate: all at a quarter.", start(1 / 4), VARIED),
                Option("half", "The paper gives no rate: all at a half.", start(1 / 2), VARIED),
                Option("eighth", "The paper gives no rate: all at an eighth.", start(1 / 8), VARIED),
            ),
            default="varied",
        ),
        Reading(
            "start-rate-of-four",
            "At what part of the capacity do the four streams of Fig. 6 start?",
            (
                Option("sixteenth", "The paper gives no rate: at a quarter of an even share."),
                Option(
                    "quarter",
                    "As streams do in the other tests: at a quarter of the capacity.",
                    start(1 / 4),
                    (Key.FOUR,),
                ),
            ),
            default="sixteenth",
        ),
        Reading(
            "phases-of-four",
            "How long are the phases of Fig. 6?",
            (
                Option("40-s", "The paper gives no times: a stream joins or leaves every 40 s."),
                Option(
                    "80-s",
                    "The paper gives no times: every 80 s.",
                    twice_as_long,
                    (Key.FOUR,),
                ),
            ),
            default="40-s",
        ),
        Reading(
            "unequal-pairs",
            "Over which link do two streams with different round trips share in §4.4?",
            (
                Option(
                    "4-Mbit/s",
                    "As in Fig. 5: “The capacity of the bottleneck link is 4 Mbps” (§4.4), with 40 to 60 packets.",
                ),
                Option(
                    "2-Mbit/s",
                    "“between 40 and 60 packets … between 2 and 6 Mbps” (§4.4): the slowest, 60 packets.",
                    unequal_pairs(2000, 60),
                    (Key.ITSELF,),
                ),
                Option(
                    "5-Mbit/s",
                    "The same: 50 packets.",
                    unequal_pairs(5000, 50),
                    (Key.ITSELF,),
                ),
                Option(
                    "6-Mbit/s",
                    "The same: the fastest, 40 packets.",
                    unequal_pairs(6000, 40),
                    (Key.ITSELF,),
                ),
            ),
            default="4-Mbit/s",
        ),
        Reading(
            "longer-over",
            "Over which links has one of three streams 150 ms one way in §4.5?",
            (
                Option("4-and-6-Mbit/s", "As in the first rows of Table 2; §4.5 does not say."),
                Option(
                    "4-and-6.5-Mbit/s",
                    "As in row 3 of Table 2: “1.5 times as much as the capacity of the first bottleneck link, or a "
                    "little bit more” (§4.5).",
                    two_links(4000, 6500),
                    (Key.ONE_LONGER,),
                ),
                Option("6-and-9-Mbit/s", "As in row 4 of Table 2.", two_links(6000, 9000), (Key.ONE_LONGER,)),
                Option(
                    "6-and-10-Mbit/s", "As in row 6 of Table 2.", two_links(6000, 10_000), (Key.ONE_LONGER,)
                ),
            ),
            default="4-and-6-Mbit/s",
        ),
        Reading(
            "longer-trip",
            "What is 150 ms long in §4.5?",
            (
                Option(
                    "both-ways",
                    "Each way of that stream: “one of these three connections owned the one-way propagation delay value "
                    "of 150 ms” (§4.5), as the 50 ms of all others.",
                ),
                Option(
                    "one-way",
                    "The way of its data, and the way back takes 50 ms: the same sentence, and “at the end nodes, tc is "
                    "used to define the delay characteristics of the outgoing links” (§4.1).",
                    only_forward,
                    (Key.ONE_LONGER,),
                ),
            ),
            default="both-ways",
        ),
        Reading(
            "minimum-rate",
            "How slowly does a stream send that yields?",
            (
                Option("1-packet/s", "The paper has no minimum; a sender without packets measures no delay."),
                Option(
                    "10-packets/s",
                    "The same: ten packets per second.",
                    parameters("cvihis", min_packet_rate=10.0),
                    (Key.MODES,),
                ),
                Option(
                    "25-packets/s",
                    "The same: one packet per picture of a video with 25 per second.",
                    parameters("cvihis", min_packet_rate=25.0),
                    (Key.MODES,),
                ),
            ),
            default="1-packet/s",
        ),
        Reading(
            "persistent-congestion",
            "Who keeps the queue in persistent congestion?",
            (
                Option(
                    "streams",
                    "“CVIHIS pushes its delay areas upwards … This increases the congestion level of the network leading "
                    "finally to packet drops” (§4.6).",
                ),
                Option(
                    "connections",
                    "“Many connections back off after these packet drops” (§4.6), read of NewReno.",
                    connections_congest,
                    (Key.PERSISTENT,),
                ),
            ),
            default="streams",
        ),
        Reading(
            "persistent-trip",
            "How long are round trips in persistent congestion?",
            (
                Option("60-ms", "§4.6 describes no network; 60 ms are ours."),
                Option(
                    "100-ms",
                    "The same; the middle of the three of Fig. 3 (§4.2).",
                    trip(100),
                    (Key.PERSISTENT,),
                ),
                Option("200-ms", "The same; the longest of Fig. 3.", trip(200), (Key.PERSISTENT,)),
            ),
            default="60-ms",
        ),
        Reading(
            "back-off-trip",
            "Which round trip has the connection in the twenty tests of §4.2?",
            (
                Option(
                    "same",
                    "“by using the same kinds of test setups as in the case of the stability check” (§4.2): that of the "
                    "stream.",
                ),
                Option(
                    "200-ms",
                    "As in Fig. 3: “TCP used the round-trip time of 200 milliseconds in all these cases” (§4.2).",
                    trip_of_200_ms,
                    (Key.BACK_OFF,),
                ),
            ),
            default="same",
        ),
        Reading(
            "back-off-length",
            "How long is the connection active in the twenty tests of §4.2?",
            (
                Option(
                    "120-s",
                    "As in Fig. 3: “The TCP connections were active between the test time of about 50-170 seconds” "
                    "(§4.2).",
                ),
                Option("240-s", "The paper says so of Fig. 3 only: twice as long.", longer, (Key.BACK_OFF,)),
            ),
            default="120-s",
        ),
    )
