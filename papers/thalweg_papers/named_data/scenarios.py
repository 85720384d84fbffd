"""The three networks of the comparison, and the schemes in them. Each function makes the same tree as a scenario file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .._base import Scale, Tree
from .._common import custom, link

CHOICES: dict[str, str] = {
    "schemes": "Each with the constants of its source, and with its own part in every forwarder. Nothing is tuned to "
    "these networks.",
    "data": "1250 bytes on the wire, with a payload of 1174, as the MIRCC paper has it; Interests have 50. "
    "Throughput is that of Data that a consumer waited for, as it was on the wire: what came twice does not count.",
    "constant": "Two consumers without a congestion controller, for comparison: one asks for nine tenths of its fair "
    "share, which it would have to know; the other for one and a half. They ask for each segment once.",
    "queues": "Drop-tail, of about one bandwidth-delay product.",
    "starts": "Consumers start at random within the first 2 s. What is measured begins after 20 s of 60.",
    "chance": "Interests leave with a random delay of up to the time of one Data packet at the bottleneck (`jitter`). "
    "Without it nothing in these networks is left to chance, and whose Interests find the one free place is decided "
    "by parts of a millisecond, for as long as a run lasts (table `settings`).",
    "delay": "From the first Interest for a segment to its Data, the mean of the consumers; loss is in it, since "
    "what is lost is asked for again.",
    "loss": "Packets that queues or link parts dropped, Interests and Data alike, for 100 Interests of consumers. "
    "Refusals are counted apart: they cost a consumer a round trip, not a timeout.",
    "dumbbell": "20 Mbit/s, 200 packets; four consumers whose round trips take 40, 60, 100 and 160 ms without queues.",
    "parking lot": "Three links of 20 Mbit/s; two consumers ask over all three, and two over each. The fair share is "
    "5 Mbit/s each, for long and short alike.",
    "tree": "Eight consumers ask for contents of one catalogue of 10 000, by popularity (Zipf, exponent 0.8), of one "
    "producer at the root. All links have 10 Mbit/s; all 15 nodes keep the last 500 Data, those of consumers too.",
}

DATA = {"payload": "1174 B", "data": "1250 B"}
LARGE = {"payload": "9924 B", "data": "10000 B"}
"""Segments as large as those in the scenarios of ICP's authors."""
DATA_BITS = 10_000.0
QUEUE = 200
"""Packets that wait at a bottleneck of 20 Mbit/s: 100 ms."""
DURATION_S, WARMUP_S = 60.0, 20.0
SPREAD_S = 2.0


@dataclass(frozen=True)
class Way:
    """How consumers of one row ask, and what forwarders do for them."""

    label: str
    scheme: str | None = None
    kind: str = "window"
    """What moves, in words: nothing, a window or a rate; and whether forwarders have a part."""
    ndn: Tree = field(default_factory=dict)
    """The parts in forwarders."""
    app: str | None = None
    """What its controller does, where it has one."""
    share: float = 0.0
    """Of consumers without a scheme: what they ask for, as a share of what is fair."""
    chance: bool = True
    """Whether its Interests have a random delay."""
    gaps: str = "constant"
    """Of consumers without a scheme: how far apart their Interests are."""
    params: Tree = field(default_factory=dict)
    """Parameters of the scheme, which its parts in forwarders have too."""

    def flow(
        self, name: str, node: str, prefix: str, fair_bps: float, jitter_ms: float, **consumer: Any
    ) -> Tree:
        """A consumer."""
        if self.chance:
            consumer["jitter"] = f"{jitter_ms:g} ms"
        flow: Tree = {
            "name": name,
            "network": "ndn",
            "from": node,
            "prefix": prefix,
            "start_spread": f"{SPREAD_S:g} s",
        }
        if consumer:
            flow["consumer"] = consumer
        if self.scheme is None:
            flow["source"] = {"kind": self.gaps, "interests": self.share * fair_bps / DATA_BITS}
        else:
            flow["scheme"] = self.scheme
            if self.params:
                flow["params"] = dict(self.params)
        return flow

    def forwarders(self, **more: Any) -> Tree:
        """The table [ndn]."""
        table: Tree = {**self.ndn, **more}
        if self.params:
            table |= {f"{part}_params": dict(self.params) for part in self.ndn}
        return table


CONSTANT, WINDOW = "no controller", "window"
WITH_ROUTERS, RATE = "window, and a part in forwarders", "rate that forwarders write"

WAYS: dict[str, Way] = {
    "constant_90": Way("constant, 90 %", kind=CONSTANT, share=0.9),
    "constant_150": Way("constant, 150 %", kind=CONSTANT, share=1.5),
    "aimd": Way("AIMD", "aimd"),
    "reno": Way("Reno", "reno"),
    "cubic": Way("CUBIC", "cubic"),
    "cubic_ndn": Way("explicit CUBIC", "cubic_ndn", WITH_ROUTERS, {"link": "cubic_ndn"}),
    "bic": Way("BIC", "bic"),
    "icp": Way("ICP", "icp"),
    "hr_icp": Way("HR-ICP", "hr_icp", WITH_ROUTERS, {"link": "hr_icp"}),
    "cctcp": Way("CCTCP", "cctcp", WITH_ROUTERS, {"link": "cctcp"}),
    "raaqm": Way("RAAQM", "raaqm", WITH_ROUTERS, {"strategy": "raaqm", "link": "raaqm"}),
    "nack": Way("NACK", "nack", WITH_ROUTERS, {"strategy": "nack"}),
    "chopcop": Way("CHoPCoP", "chopcop", WITH_ROUTERS, {"link": "chopcop"}),
    "ecp": Way("ECP", "ecp", WITH_ROUTERS, {"link": "ecp"}),
    "pcon": Way("PCON", "pcon", WITH_ROUTERS, {"strategy": "pcon", "link": "pcon"}),
    "coopcon": Way("CoopCon", "coopcon", WITH_ROUTERS, {"strategy": "coopcon", "link": "coopcon"}),
    "flecom": Way("FleCom", "flecom", WITH_ROUTERS, {"strategy": "flecom", "link": "flecom"}),
    "ndnsieve": Way("ndnSieve", "ndnsieve", WITH_ROUTERS, {"link": "ndnsieve"}, app="ndnsieve"),
    "his": Way("HIS", "his", WITH_ROUTERS, {"link": "his"}),
    "ecn_rate": Way("explicit rate", "ecn_rate", RATE, {"strategy": "ecn_rate", "link": "ecn_rate"}),
    "hobhis": Way("HoBHIS", "hobhis", RATE, {"link": "hobhis"}),
    "mircc": Way("MIRCC", "mircc", RATE, {"link": "mircc"}),
    "mircc_multipath": Way(
        "MIRCC multipath",
        "mircc_multipath",
        RATE,
        {"strategy": "mircc_multipath", "link": "mircc_multipath"},
    ),
}
"""Every row of the comparison."""

# --- dumbbell --------------------------------------------------------------------------------------------------------

DUMBBELL_BPS = 20e6
ROUND_TRIPS_MS = (40.0, 60.0, 100.0, 160.0)
A_LITTLE_LONGER_MS = (40.0, 60.2, 100.4, 160.1)
"""The same but for a fifth of a Data packet's time or two."""


def dumbbell(variant: str, scale: Scale) -> Tree:
    """Consumers of different round-trip times at one bottleneck."""
    return _dumbbell(Setting("", WAYS[variant]), f"named data, dumbbell, {variant}", scale)


def _dumbbell(setting: Setting, title: str, scale: Scale) -> Tree:
    way, data = setting.way, setting.data
    # the same queue in bytes, whatever the size of Data
    buffer = round(QUEUE * data_bytes(DATA) / data_bytes(data))
    links = [link("bottleneck", "r1", "r2", rate="20 Mbit/s", delay="10 ms", buffer=f"{buffer} packets")]
    flows, producers = [], []
    fair, jitter_ms = DUMBBELL_BPS / len(ROUND_TRIPS_MS), 8e3 * data_bytes(data) / DUMBBELL_BPS
    for number, round_trip_ms in enumerate(setting.round_trips_ms, start=1):
        access_ms = round_trip_ms / 2 - 15
        wire = {"rate": "100 Mbit/s", "buffer": "1000 packets"}
        links.append(link(f"left{number}", f"c{number}", "r1", delay=f"{access_ms:g} ms", **wire))
        links.append(link(f"right{number}", "r2", f"p{number}", delay="5 ms", **wire))
        producers.append({"prefix": f"/p{number}", "node": f"p{number}", **data})
        flows.append(way.flow(f"c{number}", f"c{number}", f"/p{number}", fair, jitter_ms))
    return _scenario(title, links, flows, producers, way, scale)


# --- parking lot -----------------------------------------------------------------------------------------------------

LOT_BPS = 20e6
HOPS, EACH = 3, 2


def parking_lot(variant: str, scale: Scale) -> Tree:
    """Long ways over three bottlenecks, each of which short ones share."""
    way = WAYS[variant]
    wire = {"rate": "100 Mbit/s", "delay": "5 ms", "buffer": "1000 packets"}
    links, flows, producers = [], [], []
    fair = LOT_BPS / (2 * EACH)

    def pair(name: str, first: int, last: int) -> None:
        links.append(link(f"to_{name}", name, f"r{first}", **wire))
        links.append(link(f"from_{name}", f"r{last}", f"of_{name}", **wire))
        producers.append({"prefix": f"/{name}", "node": f"of_{name}", **DATA})
        flows.append(way.flow(name, name, f"/{name}", fair, 1e3 * DATA_BITS / LOT_BPS))

    for hop in range(1, HOPS + 1):
        links.append(
            link(
                f"hop{hop}",
                f"r{hop}",
                f"r{hop + 1}",
                rate="20 Mbit/s",
                delay="10 ms",
                buffer=f"{QUEUE} packets",
            )
        )
    for number in range(1, EACH + 1):
        pair(f"long{number}", 1, HOPS + 1)
    for hop in range(1, HOPS + 1):
        for number in range(1, EACH + 1):
            pair(f"short{hop}x{number}", hop, hop + 1)
    return _scenario(f"named data, parking lot, {variant}", links, flows, producers, way, scale)


# --- tree ------------------------------------------------------------------------------------------------------------

LEAVES, DEPTH = 8, 3
TREE_BPS = 10e6
STORE = 500
CONTENTS = 10_000
EXPONENT = 1.0


def tree(variant: str, scale: Scale) -> Tree:
    """Consumers at the leaves want the contents of one catalogue; every node has a store."""
    way = WAYS[variant]
    wire = {"rate": "10 Mbit/s", "delay": "5 ms", "buffer": "100 packets"}
    # A producer of its own: where it was the root itself, no shaper would stand before the queues of its Data.
    links = [link("server", node(0, 0), "server", rate="100 Mbit/s", delay="5 ms", buffer="1000 packets")]
    for level in range(DEPTH):
        for number in range(2**level):
            for child in (2 * number, 2 * number + 1):
                links.append(
                    link(node(level + 1, child), node(level, number), node(level + 1, child), **wire)
                )
    catalogue = {"pattern": "zipf", "contents": CONTENTS, "exponent": EXPONENT}
    fair, jitter_ms = 2 * TREE_BPS / LEAVES, 1e3 * DATA_BITS / TREE_BPS
    flows = [
        way.flow(f"c{number + 1}", node(DEPTH, number), "/films", fair, jitter_ms, **catalogue)
        for number in range(LEAVES)
    ]
    producers = [{"prefix": "/films", "node": "server", **DATA}]
    return _scenario(
        f"named data, tree with stores, {variant}",
        links,
        flows,
        producers,
        way,
        scale,
        store={"policy": "lru", "size": STORE},
    )


def node(level: int, number: int) -> str:
    """Name of a node of the tree; level 0 is the root, level 3 the consumers."""
    return f"n{level}x{number + 1}"


# --- other settings --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A scheme on the dumbbell with other Data, other parameters or other consumers."""

    words: str
    way: Way
    data: Tree = field(default_factory=lambda: DATA)
    round_trips_ms: tuple[float, ...] = ROUND_TRIPS_MS


def _with(way: str, **params: Any) -> Way:
    return replace(WAYS[way], params=params)


def _fixed(way: str) -> Way:
    return replace(WAYS[way], chance=False)


SETTINGS: dict[str, Setting] = {
    "constant_fixed": Setting("constant, 150 %, no jitter", _fixed("constant_150")),
    "poisson": Setting("constant, 150 %, Poisson", replace(WAYS["constant_150"], gaps="poisson")),
    "aimd_fixed": Setting("AIMD, no jitter", _fixed("aimd")),
    "aimd_large": Setting("AIMD, large Data", WAYS["aimd"], LARGE),
    "icp_1000": Setting("ICP, 1000 samples", _with("icp", samples=1000)),
    "icp_large": Setting("ICP, large Data", WAYS["icp"], LARGE),
    "raaqm_gentle": Setting("RAAQM, Δp = 0.02, 0.99 kept", _with("raaqm", delta_p=0.02, beta=0.99)),
    "raaqm_large": Setting("RAAQM, large Data", WAYS["raaqm"], LARGE),
    "nack_fixed": Setting("NACK, no jitter", _fixed("nack")),
    "nack_longer": Setting(
        "NACK, no jitter, paths 0.1 ms longer", _fixed("nack"), round_trips_ms=A_LITTLE_LONGER_MS
    ),
    "nack_counting": Setting("NACK, consumers that count", _with("nack", consumer="counting")),
    "his_fixed": Setting("HIS, no jitter", _fixed("his")),
    "his_pie": Setting("HIS, PIE", _with("his", queue="pie")),
    "his_codel": Setting("HIS, CoDel", _with("his", queue="codel")),
    "hobhis_aimd": Setting("HoBHIS, AIMD consumers", replace(WAYS["aimd"], ndn={"link": "hobhis"})),
}
"""One thing set otherwise on the dumbbell; the first word says of what row above."""


def setting(variant: str, scale: Scale) -> Tree:
    """The dumbbell again."""
    return _dumbbell(SETTINGS[variant], f"named data, dumbbell, {variant}", scale)


def data_bytes(data: Tree) -> float:
    """Size of a Data packet on the wire."""
    return float(data["data"].split()[0])


def payload_bytes(data: Tree) -> float:
    """Size of its payload."""
    return float(data["payload"].split()[0])


def _scenario(
    title: str,
    links: list[Tree],
    flows: list[Tree],
    producers: list[Tree],
    way: Way,
    scale: Scale,
    **forwarders: Any,
) -> Tree:
    controlled = {} if way.app is None else {"sdn": {"app": way.app}}
    return custom(
        title,
        scale.seconds(DURATION_S),
        links,
        flows,
        warmup=scale.text(WARMUP_S),
        ndn=way.forwarders(**forwarders),
        producers=producers,
        **controlled,
    )
