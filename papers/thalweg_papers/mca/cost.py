"""Cost of a group: the paper claims constant state and work at the source and at each receiver.

Here it is measured on the program itself. All cases have as many receivers, in groups of different sizes, so that what
the state of all receivers costs, in caches above all, is in each of them.
"""

from __future__ import annotations

import json
import sys
from functools import partial

from .. import _cost
from .._base import Sample, Scale, Tree
from .._common import custom, link
from .scenarios import FAST, mca

SIZES = (128, 1024, 16_384)
"""Receivers in a group. Powers of two: lists grow by doubling, and their slack would be measured otherwise."""
RECEIVERS = SIZES[-1]
"""Receivers in all."""
LONG_S = 2.0
"""About three million deliveries."""
RATE_PACKETS_PER_S = 100


def groups(size: int, receivers: int, duration_s: float) -> Tree:
    """Steady MCA flows to stars of receivers, in groups of a size, of which none is congested."""
    rate = f"{RATE_PACKETS_PER_S * 8} kbit/s"
    params = {"initial_rate": rate, "min_rate": rate, "max_rate": rate}
    links, flows = [], []
    for group, first in enumerate(range(0, receivers, size)):
        members = [f"d{i}" for i in range(first, min(first + size, receivers))]
        links += [link(f"leaf-{node}", f"r{group}", node, **FAST) for node in members]
        links.append(link(f"access{group}", f"s{group}", f"r{group}", **FAST))
        flows.append(mca(f"m{group}", f"s{group}", members, params=params, start_spread="0 s"))
    return custom(f"MCA rules, {receivers} receivers in groups of {size}", duration_s, links, flows)


def measure(variant: str, seed: int, scale: Scale) -> Sample:
    """Runs groups of one size in a process of its own."""
    return _cost.own_process(__spec__.name, variant, seed, scale)


def main(size: int, seed: int, factor: float) -> Sample:
    """The same time for every size."""
    return _cost.spend(partial(groups, size), RECEIVERS, max(1.0, factor * LONG_S), seed)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
