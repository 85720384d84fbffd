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
class SchemeSetup:
    """A row of the comparison: the scheme of consumers, and the parts in forwarders."""

    label: str
    scheme: str | None = None
    kind: str = "window"
    """The controlled variable: none, a window or a rate; and whether forwarders have a part."""
    ndn: Tree = field(default_factory=dict)
    """The parts in forwarders."""
    app: str | None = None
    """The task of its controller, if it has one."""
    share: float = 0.0
    """Request rate of consumers without a scheme, relative to the fair rate."""
    chance: bool = True
    """Whether its Interests have a random delay."""
    gaps: str = "constant"
    """Interval of Interests of consumers without a scheme."""
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

SETUPS: dict[str, SchemeSetup] = {
    "constant_90": SchemeSetup("constant, 90 %", kind=CONSTANT, share=0.9),
    "constant_150": SchemeSetup("constant, 150 %", kind=CONSTANT, share=1.5),
    "aimd": SchemeSetup("AIMD", "aimd"),
    "reno": SchemeSetup("Reno", "reno"),
    "cubic": SchemeSetup("CUBIC", "cubic"),
    "cubic_ndn": SchemeSetup("explicit CUBIC", "cubic_ndn", WITH_ROUTERS, {"link": "cubic_ndn"}),
    "bic": SchemeSetup("BIC", "bic"),
    "icp": SchemeSetup("ICP", "icp"),
    "hr_icp": SchemeSetup("HR-ICP", "hr_icp", WITH_ROUTERS, {"link": "hr_icp"}),
    "cctcp": SchemeSetup("CCTCP", "cctcp", WITH_ROUTERS, {"link": "cctcp"}),
    "raaqm": SchemeSetup("RAAQM", "raaqm", WITH_ROUTERS, {"strategy": "raaqm", "link": "raaqm"}),
    "nack": SchemeSetup("NACK", "nack", WITH_ROUTERS, {"strategy": "nack"}),
    "chopcop": SchemeSetup("CHoPCoP", "chopcop", WITH_ROUTERS, {"link": "chopcop"}),
    "ecp": SchemeSetup("ECP", "ecp", WITH_ROUTERS, {"link": "ecp"}),
    "pcon": SchemeSetup("PCON", "pcon", WITH_ROUTERS, {"strategy": "pcon", "link": "pcon"}),
    "coopcon": SchemeSetup("CoopCon", "coopcon", WITH_ROUTERS, {"strategy": "coopcon", "link": "coopcon"}),
    "flecom": SchemeSetup("FleCom", "flecom", WITH_ROUTERS, {"strategy": "flecom", "link": "flecom"}),
    "ndnsieve": SchemeSetup("ndnSieve", "ndnsieve", WITH_ROUTERS, {"link": "ndnsieve"}, app="ndnsieve"),
    "his": SchemeSetup("HIS", "his", WITH_ROUTERS, {"link": "his"}),
    "ecn_rate": SchemeSetup("explicit rate", "ecn_rate", RATE, {"strategy": "ecn_rate", "link": "ecn_rate"}),
    "hobhis": SchemeSetup("HoBHIS", "hobhis", RATE, {"link": "hobhis"}),
    "mircc": SchemeSetup("MIRCC", "mircc", RATE, {"link": "mircc"}),
    "mircc_multipath": SchemeSetup(
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
"""The round-trip times, longer by a fifth of a Data packet's time or two."""


def dumbbell(variant: str, scale: Scale) -> Tree:
    """Consumers of different round-trip times at one bottleneck."""
    return _dumbbell(Setting("", SETUPS[variant]), f"named data, dumbbell, {variant}", scale)


def _dumbbell(setting: Setting, title: str, scale: Scale) -> Tree:
    setup, data = setting.setup, setting.data
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
        flows.append(setup.flow(f"c{number}", f"c{number}", f"/p{number}", fair, jitter_ms))
    return _scenario(title, links, flows, producers, setup, scale)


# --- parking lot -----------------------------------------------------------------------------------------------------

LOT_BPS = 20e6
HOPS, EACH = 3, 2


def parking_lot(variant: str, scale: Scale) -> Tree:
    """Long ways over three bottlenecks, each of which short ones share."""
    setup = SETUPS[variant]
    wire = {"rate": "100 Mbit/s", "delay": "5 ms", "buffer": "1000 packets"}
    links, flows, producers = [], [], []
    fair = LOT_BPS / (2 * EACH)

    def pair(name: str, first: int, last: int) -> None:
        links.append(link(f"to_{name}", name, f"r{first}", **wire))
        links.append(link(f"from_{name}", f"r{last}", f"of_{name}", **wire))
        producers.append({"prefix": f"/{name}", "node": f"of_{name}", **DATA})
        flows.append(setup.flow(name, name, f"/{name}", fair, 1e3 * DATA_BITS / LOT_BPS))

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
    return _scenario(f"named data, parking lot, {variant}", links, flows, producers, setup, scale)


# --- tree ------------------------------------------------------------------------------------------------------------

LEAVES, DEPTH = 8, 3
TREE_BPS = 10e6
STORE = 500
CONTENTS = 10_000
EXPONENT = 1.0


def tree(variant: str, scale: Scale) -> Tree:
    """Consumers at the leaves want the contents of one catalogue; every node has a store."""
    setup = SETUPS[variant]
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
        setup.flow(f"c{number + 1}", node(DEPTH, number), "/films", fair, jitter_ms, **catalogue)
        for number in range(LEAVES)
    ]
    producers = [{"prefix": "/films", "node": "server", **DATA}]
    return _scenario(
        f"named data, tree with stores, {variant}",
        links,
        flows,
        producers,
        setup,
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
    setup: SchemeSetup
    data: Tree = field(default_factory=lambda: DATA)
    round_trips_ms: tuple[float, ...] = ROUND_TRIPS_MS


def _with(setup: str, **params: Any) -> SchemeSetup:
    return replace(SETUPS[setup], params=params)


def _fixed(setup: str) -> SchemeSetup:
    return replace(SETUPS[setup], chance=False)


SETTINGS: dict[str, Setting] = {
    "constant_fixed": Setting("constant, 150 %, no jitter", _fixed("constant_150")),
    "poisson": Setting("constant, 150 %, Poisson", replace(SETUPS["constant_150"], gaps="poisson")),
    "aimd_fixed": Setting("AIMD, no jitter", _fixed("aimd")),
    "aimd_large": Setting("AIMD, large Data", SETUPS["aimd"], LARGE),
    "icp_1000": Setting("ICP, 1000 samples", _with("icp", samples=1000)),
    "icp_large": Setting("ICP, large Data", SETUPS["icp"], LARGE),
    "raaqm_gentle": Setting("RAAQM, Δp = 0.02, 0.99 kept", _with("raaqm", delta_p=0.02, beta=0.99)),
    "raaqm_large": Setting("RAAQM, large Data", SETUPS["raaqm"], LARGE),
    "nack_fixed": Setting("NACK, no jitter", _fixed("nack")),
    "nack_longer": Setting(
        "NACK, no jitter, paths 0.1 ms longer", _fixed("nack"), round_trips_ms=A_LITTLE_LONGER_MS
    ),
    "nack_counting": Setting("NACK, consumers that count", _with("nack", consumer="counting")),
    "his_fixed": Setting("HIS, no jitter", _fixed("his")),
    "his_pie": Setting("HIS, PIE", _with("his", queue="pie")),
    "his_codel": Setting("HIS, CoDel", _with("his", queue="codel")),
    "hobhis_aimd": Setting("HoBHIS, AIMD consumers", replace(SETUPS["aimd"], ndn={"link": "hobhis"})),
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
    setup: SchemeSetup,
    scale: Scale,
    **forwarders: Any,
) -> Tree:
    controlled = {} if setup.app is None else {"sdn": {"app": setup.app}}
    return custom(
        title,
        scale.seconds(DURATION_S),
        links,
        flows,
        warmup=scale.text(WARMUP_S),
        ndn=setup.forwarders(**forwarders),
        producers=producers,
        **controlled,
    )
