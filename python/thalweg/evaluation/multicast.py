"""A battery for multicast: one source, many receivers, and one rate for all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .measures import HIGHER, LOWER_LOSS, last_quarter, one
from .networks import Lab, Tree, at, custom, custom_link, packets, scenario
from .rows import Battery, Limit, NotWorse, Row, Samples
from .subject import Subject

MULTICAST = frozenset({"multicast"})
REFERENCES = ("tfmcc", "pgmcc")
"""TFMCC (RFC 4654), and PGMCC: the published single-rate schemes that groups of other schemes are compared with."""

RATE_MBPS = 2.0
RTT_MS = 40.0
PACKET_BITS = 8e3
LEAST_PACKETS = 20
"""Shortest queue. It was 6 packets at first, in which TCP lived on timeouts beside any group, TFMCC included."""
FAIR = Limit("from a half to twice the rate of TCP (reasonably fair, RFC 5348 §1)", low=0.5, high=2.0)
FEWER = NotWorse("lower", "loss")


def _queue(rate_mbps: float = RATE_MBPS) -> Tree:
    """A link of this rate; its queue holds 1.5 bandwidth-delay products, and at least what TCP needs for its recovery."""
    buffer = max(LEAST_PACKETS, packets(rate_mbps, RTT_MS, 1.5, 1000))
    return {"rate": f"{rate_mbps:g} Mbit/s", "buffer": f"{buffer} packets"}


def _tree(
    receivers: int,
    *,
    wire: Tree | None = None,
    wires: dict[int, Tree] | None = None,
    bottleneck: Tree | None = None,
    pairs: int = 0,
) -> list[Tree]:
    """Source, bottleneck, receivers `m1` … behind links of their own, and hosts of other flows on both sides."""
    leaf = {"rate": "10 Mbit/s", "delay": "3 ms", "buffer": "100 packets", **(wire or {})}
    links = [
        custom_link("access", "source", "r1"),
        custom_link("bottleneck", "r1", "r2", delay="15 ms", **{**_queue(), **(bottleneck or {})}),
    ]
    links += [
        custom_link(f"m{number}", "r2", f"m{number}", **{**leaf, **(wires or {}).get(number, {})})
        for number in range(1, receivers + 1)
    ]
    for number in range(1, pairs + 1):
        links += [
            custom_link(f"s{number}", f"s{number}", "r1"),
            custom_link(f"d{number}", "r2", f"d{number}", delay="3 ms"),
        ]
    return links


def _names(receivers: int) -> list[Any]:
    return [f"m{number}" for number in range(1, receivers + 1)]


def _group(receivers: int, **keys: Any) -> Any:
    """A group alone."""

    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        flow = subject.group("x", "source", _names(receivers))
        return {"group": scenario(lab, custom(_tree(receivers, **keys)), [flow])}

    return cases


def _tcp(name: str, source: str, target: str, **keys: Any) -> Tree:
    return Subject("reno").flow(name, to=target, packet="1000 B", **{"from": source, **keys})


def _beside_tcp(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flows = [subject.group("x", "source", _names(4)), _tcp("tcp", "s1", "d1")]
    return {"beside": scenario(lab, custom(_tree(4, pairs=1)), flows)}


def _slowest(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """TCP goes to the host of the slowest receiver, on whose link both meet."""
    wires = {1: _queue(0.8)}
    flows = [subject.group("x", "source", _names(8)), _tcp("tcp", "s1", "m1")]
    links = _tree(8, wires=wires, bottleneck={"rate": "20 Mbit/s", "buffer": "200 packets"}, pairs=1)
    return {"slowest": scenario(lab, custom(links), flows)}


def _over_tcp(runs: Samples, _lab: Lab) -> float:
    run = next(iter(runs.values()))
    return run.value("flow.x.throughput_worst") / max(run.value("flow.tcp.active_throughput"), 1.0)


def _losses(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """Receivers that lose independently."""
    wire = {"loss": 0.01}
    return {
        f"{count} receivers": scenario(
            lab, custom(_tree(count, wire=wire)), [subject.group("x", "source", _names(count))]
        )
        for count in (1, 64)
    }


def _drop_to_zero(runs: Samples, _lab: Lab) -> float:
    return runs["64 receivers"].value("flow.x.rate") / max(runs["1 receivers"].value("flow.x.rate"), 1.0)


IMPLOSION_S, IMPLOSION_WARMUP_S = 12.0, 4.0
IMPLOSION_MBPS = 0.5
"""Shorter runs at a lower rate than in other rows: 10 000 receivers of 2 Mbit/s for 60 s never ran to their end."""


def _implosion(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """Receivers of one star, all behind the same bottleneck, which lose independently besides."""
    short = replace(lab, duration_s=IMPLOSION_S, warmup_s=IMPLOSION_WARMUP_S)
    cases = {}
    for count in implosion_sizes(lab):
        links = _tree(count, wire={"loss": 0.002}, bottleneck=_queue(IMPLOSION_MBPS))
        flow = subject.group("x", "source", _names(count))
        cases[str(count)] = scenario(short, custom(links), [flow], series=[])
    return cases


def implosion_sizes(lab: Lab) -> list[int]:
    """Sizes of groups: 10, 100 and so on up to the largest."""
    return [size for size in (10, 100, 1000) if size < lab.receivers] + [lab.receivers]


def _feedback_growth(runs: Samples, lab: Lab) -> float:
    """The largest growth of the feedback per packet, over all sizes."""
    few, *many = (
        runs[str(count)].value("flow.x.feedback_received")
        / max(runs[str(count)].value("flow.x.sent_packets"), 1.0)
        for count in implosion_sizes(lab)
    )
    return max(many) / max(few, 1e-9)


def _late(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """The last receiver joins at half time, behind a link of a third of the rate."""
    members = [*_names(7), {"node": "m8", "start": f"{lab.half_s:g} s"}]
    links = _tree(8, wires={8: _queue(RATE_MBPS / 3)})
    flow = subject.group("x", "source", members)
    return {"late": scenario(lab, custom(links), [flow], series=["rate", "utilisation"])}


def _bad(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """One receiver loses a tenth of the packets."""
    links = _tree(8, wires={1: {"loss": 0.1}})
    return {"bad": scenario(lab, custom(links), [subject.group("x", "source", _names(8))])}


def _claims(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """To the source a receiver that claims losses is like one whose link has them: half of the packets."""
    links = _tree(8, wires={1: {"loss": 0.5}})
    return {"claims": scenario(lab, custom(links), [subject.group("x", "source", _names(8))])}


def _depths(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """A tree of two levels: branches of 1.6, 0.8 and 0.4 times the rate of the first link, with three receivers each."""
    links = [
        custom_link("access", "source", "r1"),
        custom_link("bottleneck", "r1", "r2", delay="15 ms", **_queue()),
    ]
    members = []
    for branch, share in enumerate((1.6, 0.8, 0.4), start=1):
        links.append(
            custom_link(f"b{branch}", "r2", f"t{branch}", delay="10 ms", **_queue(share * RATE_MBPS))
        )
        for leaf in range(1, 4):
            name = f"m{branch}{leaf}"
            members.append(name)
            links.append(
                custom_link(
                    name, f"t{branch}", name, rate="10 Mbit/s", delay=f"{leaf * 5} ms", buffer="100 packets"
                )
            )
    return {"depths": scenario(lab, custom(links), [subject.group("x", "source", members)])}


def _distances(subject: Subject, lab: Lab) -> dict[str, Tree]:
    wires = {number: {"delay": f"{3 + 25 * (number - 1)} ms"} for number in range(1, 9)}
    return {
        "distances": scenario(lab, custom(_tree(8, wires=wires)), [subject.group("x", "source", _names(8))])
    }


def _churn(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flow = subject.group("x", "source", _names(16), receivers={"churn": {"on": "4 s", "off": "4 s"}})
    return {"churn": scenario(lab, custom(_tree(16)), [flow])}


def _leave(subject: Subject, lab: Lab) -> dict[str, Tree]:
    """The slowest receiver, which represents the group, leaves at half time."""
    members = [{"node": "m1", "stop": f"{lab.half_s:g} s"}, *_names(8)[1:]]
    links = _tree(8, wires={1: _queue(RATE_MBPS / 4)})
    flow = subject.group("x", "source", members)
    return {"leave": scenario(lab, custom(links), [flow], series=["rate", "utilisation"])}


def _two_groups(subject: Subject, lab: Lab) -> dict[str, Tree]:
    links = _tree(8)
    links.append(custom_link("access2", "source2", "r1"))
    flows = [subject.group("x", "source", _names(8)[:4]), subject.group("y", "source2", _names(8)[4:])]
    return {"groups": scenario(lab, custom(links), flows)}


def _silence(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flow = subject.group("x", "source", _names(4))
    return {"silence": scenario(lab, custom(_tree(4)), [flow], events=[at(lab.warmup_s, up=False)])}


def _less(subject: Subject, lab: Lab) -> dict[str, Tree]:
    flow = subject.group("x", "source", _names(8))
    events = [at(lab.half_s, rate=f"{RATE_MBPS / 4:g} Mbit/s")]
    return {"less": scenario(lab, custom(_tree(8)), [flow], events=events)}


ROWS = (
    Row(
        "utilisation",
        "Uses the capacity that is there",
        "multicast battery",
        "Eight receivers behind one bottleneck, 2 Mbit/s, 40 ms: utilisation.",
        "share",
        MULTICAST,
        _group(8),
        one("link.bottleneck.utilisation"),
        HIGHER,
    ),
    Row(
        "tcp-fairness",
        "Fairness to TCP at a shared bottleneck",
        "RFC 5348 §1",
        "A group of four beside one flow of reno: throughput of the group over the throughput of reno.",
        "ratio",
        MULTICAST,
        _beside_tcp,
        _over_tcp,
        FAIR,
    ),
    Row(
        "slowest-receiver",
        "Fairness to TCP by the slowest receiver",
        "RFC 5348 §1",
        "A group of eight, the slowest of which has a link of 0.8 Mbit/s that it shares with reno: the same ratio. "
        "The queue there has 20 packets; it had 6 in a first version, too few for TCP.",
        "ratio",
        MULTICAST,
        _slowest,
        _over_tcp,
        FAIR,
    ),
    Row(
        "drop-to-zero",
        "No drop to zero with many independent losses",
        "multicast battery",
        "Receivers that lose 1 % of the packets each: rate with 64 of them over the rate with one.",
        "ratio",
        MULTICAST,
        _losses,
        _drop_to_zero,
        HIGHER,
    ),
    Row(
        "implosion",
        "No feedback implosion",
        "multicast battery",
        "Feedback that reaches the source per packet sent, 0.5 Mbit/s, 12 s: the largest growth from 10 receivers to 100, "
        "1000 and 10 000 (300 with --quick). Runs of 60 s at 2 Mbit/s with 10 000 receivers never ran to their end.",
        "ratio",
        MULTICAST,
        _implosion,
        _feedback_growth,
        FEWER,
    ),
    Row(
        "late-joiner",
        "A late joiner behind a slow link: loss",
        "multicast battery",
        "A receiver behind a third of the rate joins at half time: loss ratio at its link.",
        "share",
        MULTICAST,
        _late,
        one("link.m8.loss_ratio"),
        LOWER_LOSS,
    ),
    Row(
        "late-joiner-rate",
        "A late joiner behind a slow link: rate",
        "multicast battery",
        "The same network: utilisation of its link in the last quarter.",
        "share",
        MULTICAST,
        _late,
        last_quarter("link.m8"),
        HIGHER,
    ),
    Row(
        "bad-receiver",
        "One bad receiver",
        "multicast battery",
        "One of eight receivers loses a tenth of the packets: rate of the group.",
        "bit/s",
        MULTICAST,
        _bad,
        one("flow.x.rate"),
        HIGHER,
    ),
    Row(
        "lying-receiver",
        "A lying receiver: claimed losses",
        "multicast battery",
        "One of eight receivers reports that it loses half of the packets: rate of the group. To the source it is the same "
        "as a receiver behind a link that loses them, and the network has such a link.",
        "bit/s",
        MULTICAST,
        _claims,
        one("flow.x.rate"),
        HIGHER,
    ),
    Row(
        "lying-receiver-conceals",
        "A lying receiver: concealed losses",
        "multicast battery",
        "",
        never="No source can know of losses that their receiver does not report, whatever the scheme",
    ),
    Row(
        "tree",
        "Heterogeneous trees: branches of different rates",
        "multicast battery",
        "Nine receivers behind branches of 3.2, 1.6 and 0.8 Mbit/s, 46 to 86 ms: utilisation of the slowest branch.",
        "share",
        MULTICAST,
        _depths,
        one("link.b3.utilisation"),
        HIGHER,
    ),
    Row(
        "tree-loss",
        "Heterogeneous trees: loss at the slowest branch",
        "multicast battery",
        "The same network: loss ratio of the slowest branch.",
        "share",
        MULTICAST,
        _depths,
        one("link.b3.loss_ratio"),
        LOWER_LOSS,
    ),
    Row(
        "distances",
        "Heterogeneous trees: receivers at different distances",
        "multicast battery",
        "Eight receivers with round-trip times from 40 to 390 ms behind one bottleneck: utilisation.",
        "share",
        MULTICAST,
        _distances,
        one("link.bottleneck.utilisation"),
        HIGHER,
    ),
    Row(
        "churn",
        "Churn",
        "multicast battery",
        "Sixteen receivers join and leave at random, for 4 s each: utilisation.",
        "share",
        MULTICAST,
        _churn,
        one("link.bottleneck.utilisation"),
        HIGHER,
    ),
    Row(
        "leave",
        "Leave of the representative",
        "multicast battery",
        "The receiver behind a quarter of the rate leaves at half time: utilisation of the bottleneck in the last quarter.",
        "share",
        MULTICAST,
        _leave,
        last_quarter("link.bottleneck"),
        HIGHER,
    ),
    Row(
        "two-groups",
        "Two groups",
        "multicast battery",
        "Two groups of four at one bottleneck: Jain's index.",
        "index",
        MULTICAST,
        _two_groups,
        one("flows.fairness"),
        HIGHER,
    ),
    Row(
        "silence",
        "Backoff when all feedback is lost",
        "RFC 9743 §5.2, §5.1.1",
        "The bottleneck fails for good: packets sent per round trip of 40 ms in the last quarter.",
        "packets/RTT",
        MULTICAST,
        _silence,
        lambda runs, lab: (
            runs["silence"].mean("rate", "flow.x", lab.duration_s * 3 / 4, lab.duration_s)
            * RTT_MS
            / 1e3
            / PACKET_BITS
        ),
        Limit("at most one packet per round trip (RFC 9743 §5.1.1)", high=1.0),
    ),
    Row(
        "less-capacity",
        "Response to less capacity",
        "multicast battery",
        "Capacity falls to a quarter at half time: loss ratio at the bottleneck.",
        "share",
        MULTICAST,
        _less,
        one("link.bottleneck.loss_ratio"),
        LOWER_LOSS,
    ),
)

BATTERY = Battery(
    "multicast",
    "Multicast",
    "No document has test cases for multicast congestion control; these are the questions that its papers ask. Bands come "
    "from RFC 5348 for fairness to TCP, and from TFMCC (RFC 4654) and PGMCC in the same networks for the rest.",
    ROWS,
    references=REFERENCES,
    traits=MULTICAST,
)
