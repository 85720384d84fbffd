"""A battery for reordering: a flow whose packets overtake, beside the same flow in order."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .networks import Lab, Tree
from .one_flow import alone
from .rows import Battery, Limit, Row, Samples
from .subject import Subject

ENDPOINT = frozenset({"endpoint"})


@dataclass(frozen=True)
class Network:
    """A bottleneck between edges of 1 ms."""

    rate_mbps: float
    delay_ms: float
    """One way, of the bottleneck; at least the jitter of every row, which would be cut at zero."""
    buffer: int
    """Packets."""

    @property
    def rtt_ms(self) -> float:
        """With the edges, without queueing."""
        return 2 * self.delay_ms + 4.0

    def link(self, impair: Tree) -> Tree:
        """The keys of the bottleneck. Its way back is impaired in the same way."""
        keys: Tree = {
            "rate": f"{self.rate_mbps:g} Mbit/s",
            "buffer": f"{self.buffer} packets",
        }
        return keys | ({"impair": dict(impair)} if impair else {})


NETWORKS = {
    "dsl": Network(10.0, 18.0, 50),
    "fibre": Network(40.0, 14.0, 200),
    "long": Network(10.0, 48.0, 100),
    "slow": Network(2.0, 38.0, 30),
}
"""A packet of 1500 bytes takes 1.2, 0.3, 1.2 and 6 ms: 1 ms of jitter overtakes in two of them, 5 ms in all but the last."""

FORMS: dict[str, tuple[str, Tree]] = {
    "rare": ("1 packet of 1000 overtakes all others on the way", {"reorder": 0.001}),
    "frequent": ("1 packet of 100 overtakes all others on the way", {"reorder": 0.01}),
    "jitter-1ms": ("delays vary by ± 1 ms, and packets overtake", {"jitter": "1 ms"}),
    "jitter-5ms": ("delays vary by ± 5 ms, and packets overtake", {"jitter": "5 ms"}),
}
"""What a row does to the packets, in words and as keys of a link. `reorder` works as in Linux's netem."""

HALF = Limit("at least half of the throughput in order, in each of four networks (ours)", low=0.5)


def _cases(impair: Tree) -> Callable[[Subject, Lab], dict[str, Tree]]:
    """Each network in order and impaired. Runs in order are the same in all rows."""

    def cases(subject: Subject, lab: Lab) -> dict[str, Tree]:
        return {
            f"{name}, {what}": alone(subject, lab, network.rtt_ms, network.link(keys))
            for name, network in NETWORKS.items()
            for what, keys in (("in order", {}), ("reordered", impair))
        }

    return cases


def lowest_share(runs: Samples, _lab: Lab) -> float:
    """The lowest throughput, as a share of the throughput in order; of a group, at its worst receiver."""
    key = "flow.x.throughput_worst"

    def share(name: str) -> float:
        before, after = (runs[f"{name}, {what}"].value(key) for what in ("in order", "reordered"))
        return after / before if before > 0 else math.nan

    return min(share(name) for name in NETWORKS)


ROWS = tuple(
    Row(
        name,
        f"Reordering: {words}",
        "RFC 4737, RFC 5236, RFC 9743 §7.7",
        f"One flow, four networks (10 Mbit/s, 40 ms; 40 Mbit/s, 32 ms; 10 Mbit/s, 100 ms; 2 Mbit/s, 80 ms); {words}: "
        "lowest throughput over that in order.",
        "ratio",
        ENDPOINT,
        _cases(impair),
        lowest_share,
        HALF,
    )
    for name, (words, impair) in FORMS.items()
)

BATTERY = Battery(
    "reordering",
    "Reordering",
    "A flow whose packets overtake is not a flow that loses: on an idle path it keeps at least half of its throughput in "
    "order. No document has such a limit; RFC 9743 §7.7 asks for the test.",
    ROWS,
    traits=ENDPOINT,
)
