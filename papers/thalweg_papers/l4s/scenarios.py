"""Two flows behind DualPI2: pairs of which a testbed published the rates, and a matrix of rates and round-trip times.

The networks and the checks were written before the first measurement. What was changed after it is the queue of the testbed
and what a delay is measured from; `CHOICES` has both.
"""

from __future__ import annotations

from itertools import product

from .._base import Scale, Tree
from .._common import custom, link

CHOICES: dict[str, str] = {
    "testbed": "Heist and Morton, Tests of L4S, scenario 1 (RTT fairness), results of 11 November 2020: two flows over a "
    "dumbbell of network namespaces, with DualPI2, Prague and CUBIC of the L4S project's kernel of August 2020. Their "
    "steady state is the mean of 60 s at the end of 180 s; so is ours.",
    "matrix": "Prague beside CUBIC at the rates and round-trip times of De Schepper, Bondarenko, Tsang and Briscoe, PI2: A "
    "Linearized AQM for both Classic and Scalable TCP, CoNEXT 2016: 4 to 200 Mbit/s and 5 to 100 ms. 120 s, of which the "
    "last 60 s count.",
    "round-trip time": "That without queues. The bottleneck has 0.1 ms each way, the links beside it the rest.",
    "settings": "TCP of Linux with ECN for CUBIC, the defaults of the schemes and of dualpi2, except for the next row. "
    "Packets have 1514 bytes. Both start at random within 500 ms; one seed.",
    "step of the testbed": "min_qlen_step = 2. The queue was changed after the first comparison, which had dualpi2 of "
    "Linux 6.17, whose step marks every packet that waits longer than 1 ms. In the kernel of the testbed it marks only "
    "packets that find at least two others in the L4S queue (sch_dualpi2.c, apply_step: qlen > 1, in its versions before "
    "and after that of August 2020), so that this is the rule of the testbed itself. The bands are the first ones. The "
    "matrix has the default.",
    "queueing delay": "The time that a packet waits in the queues of its path.",
}

TESTBED_S, MATRIX_S, COUNTED_S = 180.0, 120.0, 60.0
SPREAD = "500 ms"
PACKET_B, HEADER_B = 1514, 66
EDGE_RATE = "10 Gbit/s"
EDGE_BPS = 10e9
TESTBED_QUEUE: Tree = {"kind": "dualpi2", "min_qlen_step": 2}
BOTTLENECK_MS = 0.1
"""Propagation delay of the bottleneck, each way."""

SUM_BAND, SHARE_BAND = 0.05, 0.10
"""The sum of the goodputs, relative to the published one; the first flow's share of it, less the published share."""
RATIO_BAND = 2.0
"""Prague's goodput over CUBIC's, or the inverse: CoNEXT 2016, figure 19."""
UTILISATION = 0.95
L4S_DELAY_S = 2e-3
"""99th percentile of the queueing delay of L4S [De Schepper et al., arXiv 2209.01078: below 2 ms]."""
L4S_DELAY_MBPS = 12
"""The delay is compared from this rate on: a packet takes 3 ms at 4 Mbit/s."""
TARGET_S, TARGET_BAND = 15e-3, 0.5
"""Mean delay of the classic queue: the target of RFC 9332, appendix A.1, within this share."""

PUBLISHED: dict[str, tuple[float, float]] = {
    "50 cubic 10 prague 10": (12.65, 34.57),
    "50 prague 10 cubic 10": (34.09, 13.04),
    "50 cubic 10 cubic 10": (23.11, 24.18),
    "50 prague 10 prague 10": (23.51, 22.75),
    "50 prague 20 cubic 10": (28.4, 18.84),
    "50 cubic 20 prague 10": (9.21, 37.86),
    "50 prague 20 prague 10": (15.84, 30.77),
    "50 cubic 20 cubic 10": (20.61, 26.76),
    "50 cubic 20 prague 20": (14.94, 32.39),
    "50 prague 20 prague 20": (23.5, 23.36),
    "50 prague 20 cubic 20": (31.85, 15.51),
    "50 cubic 20 cubic 20": (24.8, 22.67),
    "50 cubic 80 prague 20": (6.43, 40.69),
    "50 prague 80 prague 20": (5.8, 41.48),
    "50 prague 80 cubic 20": (22.43, 24.89),
    "50 cubic 80 cubic 20": (14.75, 32.73),
    "50 cubic 80 prague 80": (17.85, 29.58),
    "50 prague 80 cubic 80": (29.92, 17.48),
    "50 cubic 80 cubic 80": (23.88, 23.47),
    "50 prague 80 prague 80": (23.45, 23.6),
    "50 cubic 160 prague 10": (4.87, 41.67),
    "50 prague 160 prague 10": (1.56, 45.46),
    "50 prague 160 cubic 10": (10.13, 37.28),
    "50 cubic 160 cubic 10": (10.74, 36.5),
    "10 cubic 10 prague 10": (2.93, 6.22),
    "10 prague 10 prague 10": (4.31, 4.27),
    "10 prague 10 cubic 10": (6.25, 2.93),
    "10 cubic 10 cubic 10": (4.82, 4.47),
    "10 cubic 20 cubic 10": (3.52, 5.75),
    "10 prague 20 prague 10": (2.48, 6.17),
    "10 cubic 20 prague 10": (2.28, 6.87),
    "10 prague 20 cubic 10": (5.0, 4.22),
    "10 prague 20 prague 20": (4.33, 4.43),
    "10 cubic 20 cubic 20": (4.58, 4.75),
    "10 cubic 20 prague 20": (3.28, 5.93),
    "10 prague 20 cubic 20": (6.01, 3.23),
    "10 cubic 80 cubic 20": (2.71, 6.56),
    "10 prague 80 cubic 20": (3.64, 5.67),
    "10 cubic 80 prague 20": (1.22, 7.88),
    "10 prague 80 prague 20": (1.61, 7.36),
    "10 cubic 80 cubic 80": (4.26, 4.97),
    "10 cubic 80 prague 80": (3.48, 5.9),
    "10 prague 80 prague 80": (4.57, 4.7),
    "10 prague 80 cubic 80": (5.94, 3.42),
    "10 cubic 160 cubic 10": (1.21, 8.04),
    "10 cubic 160 prague 10": (1.18, 7.89),
    "10 prague 160 cubic 10": (1.22, 8.1),
    "10 prague 160 prague 10": (0.2, 8.66),
}
"""Rate in Mbit/s, then scheme and round-trip time in ms of both flows; and the published goodputs in Mbit/s."""

MBPS = (4, 12, 40, 120, 200)
RTT_MS = (5, 10, 20, 50, 100)
MATRIX: tuple[str, ...] = tuple(f"{mbps} prague {rtt} cubic {rtt}" for mbps, rtt in product(MBPS, RTT_MS))
"""Cells of the matrix, in the same words."""


def parts(variant: str) -> tuple[float, tuple[tuple[str, float], tuple[str, float]]]:
    """Rate in Mbit/s; scheme and round-trip time in ms of both flows."""
    mbps, first, first_rtt, second, second_rtt = variant.split()
    return float(mbps), ((first, float(first_rtt)), (second, float(second_rtt)))


def flow(name: str, scheme: str) -> Tree:
    """One of the two flows."""
    tcp: Tree = {"like": "linux", "header": f"{HEADER_B} B"}
    return {
        "name": name,
        "from": f"{name}-sender",
        "to": f"{name}-receiver",
        "scheme": scheme,
        "packet": f"{PACKET_B} B",
        "start_spread": SPREAD,
        "tcp": tcp if scheme == "prague" else {**tcp, "ecn": True},
    }


def tree(variant: str, length_s: float, scale: Scale, queue: str | Tree = "dualpi2") -> Tree:
    """The scenario of a cell."""
    mbps, flows = parts(variant)
    links = [
        link(
            *("bottleneck", "left", "right"),
            rate=f"{mbps:g} Mbit/s",
            delay=f"{BOTTLENECK_MS} ms",
            buffer="10000 packets",
            queue=queue,
            backward={"rate": EDGE_RATE, "queue": "fifo"},
        )
    ]
    for name, (_, rtt) in zip(("first", "second"), flows, strict=True):
        delay = f"{rtt / 2 - BOTTLENECK_MS:g} ms"
        more = {"rate": EDGE_RATE, "buffer": "10000 packets"}
        links.append(link(f"{name}-left", f"{name}-sender", "left", delay=delay, **more))
        links.append(link(f"{name}-right", "right", f"{name}-receiver", delay="0 s", **more))
    both = [flow(name, scheme) for name, (scheme, _) in zip(("first", "second"), flows, strict=True)]
    warmup = scale.text(length_s - COUNTED_S)
    return custom(f"Behind DualPI2, {variant}", scale.seconds(length_s), links, both, warmup=warmup)
