"""The grid: queue disciplines, TCPs and networks, with the same settings for the kernel and for the simulator.

Networks, settings and bands were written before the first measurement.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any

from .._base import Scale, Tree
from .._common import custom, link

CHOICES: dict[str, str] = {
    "networks": "10 Mbit/s and 40 ms with two flows and 100 packets; 20 Mbit/s and 20 ms with one flow and 33 packets; "
    "5 Mbit/s and 100 ms with four flows and 100 packets. The round-trip time is that without a queue; of a full packet "
    "it includes its transmission.",
    "flows": "All flows of a cell have the same TCP and send without end. They start at random within 500 ms; the starts "
    "depend on the seed and are the same in both worlds.",
    "loads": "Behind FIFO and fq_codel, five of the TCPs with applications that pause, in the first two networks: *short* "
    "transfers of 15 to 500 kB that take half of the link, *limited*, a flow without end beside one whose application "
    "writes 40 % of the link, and *requests*, answers of 200 and 300 kB over two connections, each 1 s after the one "
    "before it has arrived.",
    "length": "60 s, of which the first 10 s do not count; three seeds.",
    "settings": "The kernel's defaults: initial window 10, SACK, RACK, delayed acknowledgements. Segmentation is not "
    "offloaded, and socket buffers do not limit the window. Ours: `tcp.like` of Linux. Packets have 1514 bytes in both: "
    "1448 of payload, 52 of IP and TCP with timestamps, and 14 of Ethernet, which the kernel's queues count.",
    "queues": "The parameters are the kernel's defaults, and where it has none, the same numbers in both.",
    "bands": "A cell agrees if the goodput of all flows is within 5 %, the median queueing delay within 15 % or 2 ms, and "
    "drops and marks within 20 % of the kernel's, means of three runs; the mean time of a transfer or answer, as a delay, "
    "within 15 % or 2 ms, and beside a limited flow the goodput of the slower one within 5 %. 90 % of the cells should "
    "agree.",
    "bottleneck": "HTB takes a packet from the queue discipline when the transmission of the one before it is over. TBF "
    "looks one packet ahead, which would show an active queue one packet less than there is.",
    "ns-3": "The same TCPs and queue disciplines of ns-3 3.37, with its defaults except for the settings above: one packet "
    "less in the queue discipline, because its device holds one; the target of PIE is the kernel's 15 ms. It was added "
    "after the first comparison with the kernel; nothing of ours was changed by it.",
    "time": "The kernel runs as a program with a clock of its own (user-mode Linux, `time-travel=inf-cpu`). Its random "
    "numbers are from the seed. Computation takes no time in it, as in the simulator.",
}

DURATION_S, WARMUP_S, SPREAD_S = 60.0, 10.0, 0.5
SEEDS = 3
EDGE_RATE = "10 Gbit/s"
"""Of links that are no bottleneck; the kernel's take no time."""
PACKET_B, HEADER_B = 1514, 66
"""Ethernet 14, IPv4 20, TCP 20, timestamps 12."""

GOODPUT_BAND, DELAY_BAND, DELAY_BAND_S, DROPS_BAND = 0.05, 0.15, 0.002, 0.20
WANTED = 0.9
"""Share of the cells that should agree."""


@dataclass(frozen=True)
class Network:
    """A bottleneck and the flows over it."""

    mbps: float
    rtt_ms: float
    packets: int
    """Limit of the queue."""
    flows: int
    """For short transfers their number follows from the seed."""
    load: str = "endless"
    """What the applications do: `endless`, or one of `LOADS`."""

    @property
    def rate_bps(self) -> int:
        """Rate of the bottleneck."""
        return round(self.mbps * 1e6)

    @property
    def transmission_s(self) -> float:
        """Time that a packet takes at the bottleneck."""
        return 8 * PACKET_B / self.rate_bps

    @property
    def one_way_s(self) -> float:
        """Propagation delay of the simulated bottleneck: a packet takes its transmission as well."""
        return (self.rtt_ms / 1e3 - self.transmission_s) / 2


NETWORKS: dict[str, Network] = {
    "10-40": Network(10, 40, 100, 2),
    "20-20": Network(20, 20, 33, 1),
    "5-100": Network(5, 100, 100, 4),
}

LOADS: dict[str, str] = {
    "short": "short transfers",
    "limited": "a limited application",
    "requests": "requests with pauses",
}
"""Applications that pause, and their words."""
LOADED: dict[str, Network] = {
    f"{name}-{load}": replace(NETWORKS[name], flows=0 if load == "short" else 2, load=load)
    for name, load in product(("10-40", "20-20"), LOADS)
}
LOADED_QUEUES = ("fifo", "fq_codel")
LOADED_TCPS = ("reno", "cubic", "bbr", "htcp", "vegas")
"""The two that hosts have by default and the base of both, one more that loss drives, and one that delay drives."""

SHORT_SHARE, SHORT_B, SHORT_UNTIL_S = 0.5, (15_000, 500_000), 55.0
"""Short transfers: their share of the link, the ends of their sizes, uniform on a logarithmic scale, and the last start."""
LIMITED_SHARE = 0.4
"""Of the link, that a limited application writes."""
ANSWERS_B, REQUEST_B, THINK_S = (200_000, 300_000), 400, 1.0
"""Requests: the answers of each connection, the size of a request with headers, and the pause."""


@dataclass(frozen=True)
class Queue:
    """A queue discipline in both worlds."""

    name: str
    """Its name in Thalweg."""
    kernel: tuple[str, ...]
    """Arguments of `tc qdisc add`; `{limit}` is the limit in packets, and others are those of `numbers`."""
    ours: Tree = field(default_factory=dict)
    """Parameters where the default is not the kernel's; values may name the same numbers."""
    marks: bool = False
    """Whether ECN is on in this cell."""


RED_MIN, RED_MAX, RED_BURST, RED_PROBABILITY = 10, 30, 20, 0.02
"""Thresholds in packets, `burst` of tc, and the maximum probability."""


def red_log(minimum: float = RED_MIN, burst: float = RED_BURST) -> int:
    """The logarithm of 1 / weight that tc(8) derives from `burst`, as FJ93 §6 asks for.

    The average stays below `minimum` during a burst of `burst` packets into an empty queue:
    burst + 1 − minimum ≤ (1 − (1 − w)^burst) / w.
    """
    for power in range(1, 32):
        weight = 0.5**power
        if burst + 1 - minimum <= (1 - (1 - weight) ** burst) / weight:
            return power
    raise ValueError(f"a burst of {burst} packets has no weight")


QUEUES: dict[str, Queue] = {
    "fifo": Queue("fifo", ("pfifo", "limit", "{limit}")),
    "codel": Queue("codel", ("codel", "limit", "{limit}", "noecn"), {"mark": False, "like": "linux"}),
    "red": Queue(
        "red",
        (
            *("red", "limit", "{limit_b}", "min", "{min_b}", "max", "{max_b}", "avpkt", str(PACKET_B)),
            *("burst", str(RED_BURST), "probability", str(RED_PROBABILITY), "bandwidth", "{rate_bps}bit"),
        ),
        {
            "min_th": RED_MIN,
            "max_th": RED_MAX,
            "max_p": RED_PROBABILITY,
            "weight": 0.5 ** red_log(),
            "gentle": False,
            "packet": f"{PACKET_B} B",
            "mark": False,
        },
    ),
    "pie": Queue("pie", ("pie", "limit", "{limit}", "noecn"), {"mark": False, "like": "linux"}),
    "fq_codel": Queue(
        "fq_codel", ("fq_codel", "limit", "{limit}", "noecn"), {"mark": False, "like": "linux"}
    ),
    "fq": Queue(
        "fq", ("fq", "limit", "{limit}", "flow_limit", "{limit}", "nopacing"), {"flow_limit": "{limit}"}
    ),
    "pfifo_head_drop": Queue("pfifo_head_drop", ("pfifo_head_drop", "limit", "{limit}")),
}
"""Those that Thalweg lacks have no cells; they join when the catalogue has them."""

TCPS: dict[str, str] = {
    "reno": "reno",
    "cubic": "cubic",
    "bic": "bic",
    "bbr": "bbr",
    "tcp_lp": "lp",
    "highspeed": "highspeed",
    "scalable": "scalable",
    "htcp": "htcp",
    "illinois": "illinois",
    "hybla": "hybla",
    "veno": "veno",
    "vegas": "vegas",
    "yeah": "yeah",
    "westwood": "westwood",
}
"""Schemes of this library, and their names in the kernel."""

TICKS = 1000
"""Ticks per second of the guest's clock: CONFIG_HZ in `guest.CHANGES`."""
PARAMS: dict[str, Tree] = {"htcp": {"hz": TICKS}, "westwood": {"hz": TICKS}}
"""Parameters of schemes that depend on the configuration of the kernel."""

SEND_BUFFER = "1048576 B"
"""The second number of `net.ipv4.tcp_wmem`."""

RECEIVE_BUFFER = "33554432 B"
"""The second number of `net.ipv4.tcp_rmem`."""

SYSCTL: dict[str, Any] = {
    "net.ipv4.tcp_rmem": "4096 33554432 67108864",
    "net.ipv4.tcp_wmem": "4096 1048576 67108864",
    "net.ipv4.tcp_no_metrics_save": 1,
    "net.ipv4.tcp_ecn": 0,
}


@cache
def known() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Queue disciplines and TCPs of the grid that the catalogue has."""
    from thalweg import catalogue

    schemes = {row["name"] for row in catalogue.schemes()}
    return tuple(q for q in QUEUES if q in disciplines()), tuple(t for t in TCPS if t in schemes)


def disciplines() -> set[str]:
    """Names of queue disciplines that a link accepts, by the schema."""
    from thalweg import catalogue

    def names(part: Any) -> set[str]:
        if isinstance(part, list):
            return set().union(*map(names, part))
        if not isinstance(part, dict):
            return set()
        words = part.get("enum", [])
        return set(words) if "fifo" in words else names(list(part.values()))

    return names(catalogue.schema())


def grid() -> tuple[str, ...]:
    """The cells: `QUEUE TCP NETWORK`; first those of flows without end."""
    return tuple(
        " ".join(words)
        for words in (*product(*known(), NETWORKS), *product(LOADED_QUEUES, LOADED_TCPS, LOADED))
    )


def matching(words: Sequence[str]) -> list[str]:
    """The cells that have all the words; a word with commas stands for any of its parts."""
    return [cell for cell in grid() if all(set(word.split(",")) & set(cell.split()) for word in words)]


def parts(variant: str) -> tuple[Queue, str, Network]:
    """Queue, TCP and network of a cell."""
    queue, tcp, network = variant.split()
    return QUEUES[queue], tcp, (NETWORKS | LOADED)[network]


@dataclass(frozen=True)
class Flow:
    """A flow of a cell in both worlds."""

    start_s: float
    """To the microsecond."""
    size_b: int | None = None
    """Of a transfer; None: without end."""
    rate_bps: float | None = None
    """At which the application writes; None: as fast as the socket takes it."""
    answer_b: int | None = None
    """Of each request; None: the sender does not wait for requests."""
    request_b: int = REQUEST_B
    think_s: float = THINK_S


def flows(variant: str, seed: int) -> list[Flow]:
    """The flows of a cell, the same in both worlds."""
    network, draw = parts(variant)[2], random.Random(f"{variant} {seed}")
    if network.load == "short":
        return list(_short(network, draw))
    made = [Flow(round(draw.uniform(0, SPREAD_S), 6)) for _ in range(network.flows)]
    match network.load:
        case "limited":
            made[1] = replace(made[1], rate_bps=LIMITED_SHARE * network.rate_bps)
        case "requests":
            made = [replace(flow, answer_b=size) for flow, size in zip(made, ANSWERS_B, strict=True)]
    return made


def _short(network: Network, draw: random.Random) -> Iterator[Flow]:
    """Transfers that arrive at random."""
    low, high = map(math.log, SHORT_B)
    mean_b = (SHORT_B[1] - SHORT_B[0]) / (high - low)
    at = 0.0
    while (at := at + draw.expovariate(SHORT_SHARE * network.rate_bps / (8 * mean_b))) < SHORT_UNTIL_S:
        yield Flow(round(at, 6), size_b=round(math.exp(draw.uniform(low, high))))


def starts(variant: str, seed: int) -> list[float]:
    """When the flows start, in seconds, to the microsecond."""
    return [flow.start_s for flow in flows(variant, seed)]


def numbers(network: Network) -> dict[str, int]:
    """Numbers that arguments and parameters of queues may name."""
    return {
        "limit": network.packets,
        "limit_b": network.packets * PACKET_B,
        "min_b": RED_MIN * PACKET_B,
        "max_b": RED_MAX * PACKET_B,
        "rate_bps": network.rate_bps,
    }


def tree(variant: str, seed: int, scale: Scale) -> Tree:
    """The scenario of a cell."""
    queue, tcp, network = parts(variant)
    named = {f"{{{name}}}": number for name, number in numbers(network).items()}
    ours = {
        key: named.get(value, value) if isinstance(value, str) else value for key, value in queue.ours.items()
    }
    discipline: Any = {"kind": queue.name, **ours} if ours else queue.name
    bottleneck = link(
        *("bottleneck", "router", "right"),
        rate=f"{network.mbps:g} Mbit/s",
        delay=f"{round(1e9 * network.one_way_s)} ns",
        buffer=f"{network.packets} packets",
        queue=discipline,
        backward={"rate": EDGE_RATE, "queue": "fifo", "buffer": "10000 packets"},
    )
    edge = link("edge", "left", "router", rate=EDGE_RATE, delay="0 s", buffer="10000 packets")
    listed = [
        {
            "name": f"f{number}",
            "from": "left",
            "to": "right",
            "scheme": tcp,
            "params": PARAMS.get(tcp, {}),
            "packet": f"{PACKET_B} B",
            "start": f"{1e6 * flow.start_s:.0f} us",
            **_application(flow),
            "tcp": {
                "like": "linux",
                "header": f"{HEADER_B} B",
                "ecn": queue.marks,
                "send_buffer": SEND_BUFFER,
                "receive_buffer": RECEIVE_BUFFER,
                "gso": True,
            },
        }
        for number, flow in enumerate(flows(variant, seed))
    ]
    length, warmup = scale.seconds(DURATION_S), scale.text(WARMUP_S)
    return custom(f"Kernel grid, {variant}", length, [edge, bottleneck], listed, warmup=warmup)


def _application(flow: Flow) -> Tree:
    """The keys of a flow whose application pauses."""
    if flow.answer_b is not None:
        think = {"think": f"{flow.think_s} s", "think_fixed": True}
        return {
            "app": {
                "kind": "requests",
                "size": f"{flow.answer_b} B",
                "request": f"{flow.request_b} B",
                **think,
            }
        }
    keys: Tree = {} if flow.size_b is None else {"size": f"{flow.size_b} B"}
    return keys if flow.rate_bps is None else {**keys, "rate": f"{flow.rate_bps:.0f} bit/s"}


def cell(variant: str, seed: int, scale: Scale) -> dict[str, Any]:
    """The command of the guest for a cell."""
    queue, tcp, network = parts(variant)
    load: Tree = {}
    if network.load != "endless":
        load = {"load": network.load, "flows": [asdict(flow) for flow in flows(variant, seed)]}
    return {
        **load,
        "rate_bps": network.rate_bps,
        # HTB sends a packet at the start of its transmission, so that the whole time is delay
        "delay_us": round(1e3 * network.rtt_ms),
        "queue": [word.format(**numbers(network)) for word in queue.kernel],
        "controller": TCPS[tcp],
        "starts_s": starts(variant, seed),
        "warmup_s": scale.seconds(WARMUP_S),
        "seconds": scale.seconds(DURATION_S),
        "sysctl": {**SYSCTL, "net.ipv4.tcp_ecn": int(queue.marks)},
    }
