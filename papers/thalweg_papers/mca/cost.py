"""What a group costs the program: the paper claims constant state and work at the source and at each receiver.

Here it is measured on the program itself.
"""

from __future__ import annotations

import json
import sys

from .. import _cost
from .._base import Sample, Scale, Tree
from .._common import custom, link
from .scenarios import FAST, mca

SIZES = (128, 1024, 16_384)
"""Powers of two: lists grow by doubling, and their slack would be measured otherwise."""
DELIVERIES = 3_000_000
RATE_PACKETS_PER_S = 100


def group(size: int, duration_s: float) -> Tree:
    """A steady MCA flow to a star of receivers of which none is congested."""
    rate = f"{RATE_PACKETS_PER_S * 8} kbit/s"
    params = {"initial_rate": rate, "min_rate": rate, "max_rate": rate}
    receivers = [f"d{i}" for i in range(1, size + 1)]
    links = [link(f"leaf{i}", "r", node, **FAST) for i, node in enumerate(receivers, 1)]
    links.append(link("access", "s", "r", **FAST))
    flows = [mca("m", "s", receivers, params=params)]
    return custom(f"MCA rules, a group of {size}", duration_s, links, flows)


def measure(variant: str, seed: int, scale: Scale) -> Sample:
    """Runs a group of one size in a process of its own."""
    return _cost.own_process(__spec__.name, variant, seed, scale)


def main(size: int, seed: int, factor: float) -> Sample:
    """As many deliveries for every size."""
    return _cost.spend(group, size, max(2.0, factor * DELIVERIES / size / RATE_PACKETS_PER_S), seed)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
