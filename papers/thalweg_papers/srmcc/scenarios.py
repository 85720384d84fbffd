"""The scenarios of the SRMCC paper's §5, and what it leaves open. Each function makes the same tree as a scenario file."""

from __future__ import annotations

from typing import Any

from .._base import Scale, Tree
from .._common import custom, link, recording

# What the paper does not say, or says in a figure that is lost. Key: choice and reason.
CHOICES: dict[str, str] = {
    "topology": "Our choice: senders – R0 100 Mbit/s, 2 ms; R0 – R1 20 ms; R1 – receivers 10 Mbit/s (1.5 in scenario 3), "
    "3 ms: a base RTT of 50 ms. Figure 4 is lost; of the first guesses tried, this one came near the published shares.",
    "receivers": "Our choice: four multicast receivers. The number is not given.",
    "tcp": "Our choice: NewReno with 1000-byte segments, no delayed acknowledgements, no window limit, minimum timeout "
    "0.2 s; each connection has a sender and a sink of its own, because flows are told apart by their ends.",
    "queues": "Drop-tail, 50 packets everywhere (Table 1); a queue is what waits, without the packet in transmission.",
    "averages": "Our choice: throughput and utilisation are means over 50–200 s, those of scenario 4 over 80–120 s, which "
    "is the paper's own window for its utilisation. Loss and feedback are counts of the whole run.",
    "gamma": "Our choice: γ from 0 to 0.30 in steps of 0.05. From 1/3 on the rate cannot fall beside an idle branch.",
    "groups": "Our choice: 1, 2, 4, 8 and 10 groups of four receivers on 10 Mbit/s, without TCP.",
    "network": "All five schemes run over the same name-based network: R0 and R1 know names, the resolver is a node "
    "beside R0, joins travel over the network. SRMCC and PerIfwithECN have parts in the routers, the others do not "
    "use them.",
    "counting": "Our choice: flows are counted exactly, as every passing packet is looked at; sampling is one of the "
    "readings.",
    "starts": "Our choice: TCP connections start within 0.5 s and gaps between multicast packets vary by 1 %, against phase "
    "effects of deterministic queues.",
    "noise": "Our choice: in the comparisons that the paper does not make, a little Poisson traffic (100 kbit/s) between "
    "the hosts of a connection. Without it senders that answer arrivals fall into step at drop-tail queues; the paper's own "
    "scenarios have none, and the table of phase effects shows what that does to them.",
    "baselines": "TFMCC follows RFC 4654 and PGMCC its last draft, both in full. ASMP and PerIfwithECN are reconstructions "
    "from abstracts and from what this paper says of them. The paper used programs of others with settings that it does "
    "not give, so relations can be expected to hold, digits cannot.",
    "percentages": "Differences of utilisation in §5.3.2 are read as percentage points: read as relative ones they "
    "contradict §5.3.1 (rows S000-D1 and -D2).",
}

SCHEMES = ("srmcc", "tfmcc", "asmp", "perif_ecn", "pgmcc")
PAPER_SCHEMES = SCHEMES[:4]
"""PGMCC is in §2 of the paper, not in its evaluation."""
NAMES = {
    "srmcc": "SRMCC",
    "tfmcc": "TFMCC",
    "asmp": "ASMP*",
    "perif_ecn": "PerIfwithECN*",
    "pgmcc": "PGMCC",
}
RECONSTRUCTED = " * a reconstruction: the scheme is public only as an abstract."

DURATION_S = 200.0
MEMBERS = 4
QUEUE = "50 packets"
PACKET = "1000 B"
PACKET_BITS = 8000.0
TCP_PACKET_BYTES, TCP_HEADER_BYTES = 1000, 40
CBR_BPS = 600e3
INITIAL_BPS = 50e3
BOTTLENECK_BPS = {1: 5e6, 2: 2e6, 3: 2e6, 4: 2e6}
LEAF_BPS = {1: 10e6, 2: 10e6, 3: 1.5e6, 4: 10e6}
AVERAGED_S = {1: (50.0, 200.0), 2: (50.0, 200.0), 3: (50.0, 200.0), 4: (80.0, 120.0)}
"""The span over which throughput and utilisation are averaged."""
GROUPS_AVERAGED_S = (20.0, DURATION_S)
"""The same with several groups: "after a short adjustment"."""
TCP2_S = (30.0, 120.0)
CBR_S = (80.0, 170.0)
SENDER = {"rate": "100 Mbit/s", "delay": "2 ms", "buffer": QUEUE}
TCP = {"sack": False, "delayed_ack": False, "min_rto": "200 ms"}
RECORD = recording("1 s", "throughput", "utilisation")
GAMMAS = (0.0, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30)
GAMMA = 0.15
GROUPS = (1, 2, 4, 8, 10)
GROUPS_BPS = 10e6


def mbps(rate_bps: float) -> str:
    """A rate as a scenario writes it."""
    return f"{rate_bps / 1e6:g} Mbit/s"


def wire(name: str, start: str, end: str, rate_bps: float, delay_ms: float) -> Tree:
    """A link with the paper's queue at both ends."""
    return link(name, start, end, rate=mbps(rate_bps), delay=f"{delay_ms:g} ms", buffer=QUEUE)


def group(name: str, scheme: str, source: str, to: list[str], **more: Any) -> Tree:
    """A multicast flow of a scheme, known by name."""
    return {
        "name": name,
        "scheme": scheme,
        "from": source,
        "to": to,
        "multicast": True,
        "network": "icn",
        "packet": PACKET,
        **more,
    }


def tcp(name: str, source: str, to: str, **more: Any) -> Tree:
    """A NewReno connection."""
    return {
        "name": name,
        "scheme": "reno",
        "from": source,
        "to": to,
        "packet": PACKET,
        "tcp": dict(TCP),
        "start_spread": "0.5 s",
        **more,
    }


def constant(name: str, source: str, to: str, rate_bps: float, **more: Any) -> Tree:
    """Datagrams at a constant rate."""
    return {
        "name": name,
        "from": source,
        "to": to,
        "packet": PACKET,
        "source": {"kind": "constant", "rate": mbps(rate_bps)},
        **more,
    }


def noise(name: str, source: str, to: str) -> Tree:
    """A little random traffic against phase effects, between hosts of a connection, so that it counts as no other flow."""
    return {
        "name": name,
        "from": source,
        "to": to,
        "packet": "200 B",
        "source": {"kind": "poisson", "rate": "100 kbit/s"},
    }


def dumbbell(bottleneck_bps: float, leaf_bps: float, members: int = MEMBERS, tcps: int = 2) -> list[Tree]:
    """Fig. 4 as we draw it: senders – R0 – R1 – receivers, every TCP connection between hosts of its own."""
    links = [
        link("access", "s", "r0", **SENDER),
        wire("bottleneck", "r0", "r1", bottleneck_bps, 20),
        *(wire(f"leaf{i}", "r1", f"d{i}", leaf_bps, 3) for i in range(1, members + 1)),
    ]
    for i in range(1, tcps + 1):
        links.append(link(f"tcp_access{i}", f"t{i}", "r0", **SENDER))
        links.append(wire(f"tcp_leaf{i}", "r1", f"u{i}", leaf_bps, 3))
    return links


def members(count: int = MEMBERS) -> list[str]:
    """The receivers behind R1."""
    return [f"d{i}" for i in range(1, count + 1)]


def icn(*routers: str) -> Tree:
    """The routers that know names; the resolver is a node of its own beside the first of them."""
    return {"routers": list(routers)}


def scenario(number: int, scheme: str, scale: Scale, **more: Any) -> Tree:
    """One of the four scenarios of §5.1. `more` goes into the multicast flow."""
    links = dumbbell(BOTTLENECK_BPS[number], LEAF_BPS[number])
    flows = [group("mc", scheme, "s", members(), **more)]
    flows += [tcp(f"tcp{i}", f"t{i}", f"u{i}") for i in (1, 2)]
    if number == 4:
        start, stop = map(scale.text, TCP2_S)
        flows[2].update(start=start, stop=stop)
        links.append(link("cbr_access", "c", "r0", **SENDER))
        links.append(wire("cbr_leaf", "r1", "v", LEAF_BPS[number], 3))
        start, stop = map(scale.text, CBR_S)
        flows.append(constant("cbr", "c", "v", CBR_BPS, start=start, stop=stop))
    return custom(
        f"SRMCC §5.1, scenario {number}, {NAMES[scheme]}",
        scale.seconds(DURATION_S),
        links,
        flows,
        icn=icn("r0", "r1"),
        record=RECORD,
    )


def paper_case(variant: str, scale: Scale) -> Tree:
    """`2-tfmcc`: scenario 2 with TFMCC."""
    number, _, scheme = variant.partition("-")
    return scenario(int(number), scheme, scale)


def noisy_case(variant: str, scale: Scale) -> Tree:
    """`2-tfmcc`: scenario 2 with TFMCC, and a little random traffic between the hosts of the first TCP connection."""
    tree = paper_case(variant, scale)
    tree["flows"].append(noise("noise", "t1", "u1"))
    return tree


def gamma_case(variant: str, scale: Scale) -> Tree:
    """`2-0.10`: scenario 2 with SRMCC at γ = 0.10."""
    number, _, gamma = variant.partition("-")
    return scenario(int(number), "srmcc", scale, params={"gamma": float(gamma)})


def groups_case(variant: str, scale: Scale, **more: Any) -> Tree:
    """§5.2.2: so many SRMCC groups with four receivers each share 10 Mbit/s; each has a source of its own.

    `more` goes into each group's flow.
    """
    count = int(variant)
    links = [wire("bottleneck", "r0", "r1", GROUPS_BPS, 20)]
    flows = []
    for g in range(1, count + 1):
        links.append(link(f"access{g}", f"s{g}", "r0", **SENDER))
        nodes = [f"g{g}d{i}" for i in range(1, MEMBERS + 1)]
        links += [wire(f"leaf{g}x{i}", "r1", node, 10e6, 3) for i, node in enumerate(nodes, 1)]
        flows.append(group(f"g{g}", "srmcc", f"s{g}", nodes, **more))
    return custom(
        f"SRMCC §5.2.2, {count} groups",
        scale.seconds(DURATION_S),
        links,
        flows,
        icn=icn("r0", "r1"),
        record=RECORD,
    )
