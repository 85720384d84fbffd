"""What the paper leaves open, and the options for it."""

from __future__ import annotations

from .._base import Tree
from .._readings import Change, Option, Reading, parameters
from . import scenarios
from .keys import Key

LONGER_S = 240.0
"""How long the connection stays in the longer tests of §4.2."""

VARIED = (Key.FRIENDLINESS, Key.WITH_SACK, Key.WITH_NOISE, Key.IMPATIENT, Key.ITSELF)
"""Experiments of which the paper says that starting rates varied."""


def start(part: float) -> Change:
    """Streams start at this part of the first link's capacity."""

    def change(tree: Tree) -> None:
        (first,) = (wire for wire in tree["topology"]["links"] if wire["name"] == "first")
        kbps = float(first["rate"].split()[0]) * part
        parameters("cvihis", initial_rate=f"{kbps:g} kbit/s")(tree)

    return change


def longer(tree: Tree) -> None:
    """The connection stays for 240 s, and the run ends 130 s after it, as before."""
    more = LONGER_S - (scenarios.TCP_S[1] - scenarios.TCP_S[0])
    for flow in tree["flows"]:
        if flow["name"] == "tcp":
            flow["stop"] = f"{scenarios.TCP_S[1] + more:g} s"
    tree["duration"] = f"{float(tree['duration'].split()[0]) + more:g} s"


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
                    parameters("cvihis", background_push=1.001),
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
