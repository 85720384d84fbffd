"""The grid: queue disciplines, TCPs and networks, with the same settings for the kernel and for the simulator.

Networks, settings and bands were written before the first measurement.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
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
    "length": "60 s, of which the first 10 s do not count; three seeds.",
    "settings": "The kernel's defaults: initial window 10, SACK, RACK, delayed acknowledgements. Segmentation is not "
    "offloaded, and socket buffers do not limit the window. Ours: `tcp.like` of Linux. Packets have 1514 bytes in both: "
    "1448 of payload, 52 of IP and TCP with timestamps, and 14 of Ethernet, which the kernel's queues count.",
    "queues": "The parameters are the kernel's defaults, and where it has none, the same numbers in both.",
    "bands": "A cell agrees if the goodput of all flows is within 5 %, the median queueing delay within 15 % or 2 ms, and "
    "drops and marks within 20 % of the kernel's, means of three runs. 90 % of the cells should agree.",
    "bottleneck": "HTB takes a packet from the queue discipline when the transmission of the one before it is over. TBF "
    "looks one packet ahead, which would show an active queue one packet less than there is.",
    "ns-3": "The same TCPs and queue disciplines of ns-3 3.37, with its defaults but for the settings above: one packet "
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
    """The cells: `QUEUE TCP NETWORK`."""
    return tuple(" ".join(words) for words in product(*known(), NETWORKS))


def parts(variant: str) -> tuple[Queue, str, Network]:
    """Queue, TCP and network of a cell."""
    queue, tcp, network = variant.split()
    return QUEUES[queue], tcp, NETWORKS[network]


def starts(variant: str, seed: int) -> list[float]:
    """When the flows start, in seconds, to the microsecond."""
    draw = random.Random(f"{variant} {seed}")
    return [round(draw.uniform(0, SPREAD_S), 6) for _ in range(parts(variant)[2].flows)]


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
    flows = [
        {
            "name": f"f{number}",
            "from": "left",
            "to": "right",
            "scheme": tcp,
            "params": PARAMS.get(tcp, {}),
            "packet": f"{PACKET_B} B",
            "start": f"{1e6 * start:.0f} us",
            "tcp": {
                "like": "linux",
                "header": f"{HEADER_B} B",
                "ecn": queue.marks,
                "send_buffer": SEND_BUFFER,
                "receive_buffer": RECEIVE_BUFFER,
                "gso": True,
            },
        }
        for number, start in enumerate(starts(variant, seed))
    ]
    length, warmup = scale.seconds(DURATION_S), scale.text(WARMUP_S)
    return custom(f"Kernel grid, {variant}", length, [edge, bottleneck], flows, warmup=warmup)


def cell(variant: str, seed: int, scale: Scale) -> dict[str, Any]:
    """The command of the guest for a cell."""
    queue, tcp, network = parts(variant)
    return {
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
