"""What a group costs the program: processor time per delivered packet, and memory per receiver.

The paper claims constant state and work at the source and at each receiver. Here it is measured on the program itself,
in a process of its own for each size, so that caches and the allocator start equal.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

from .._base import Sample, Scale, Tree
from .scenarios import FAST, link, mca

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
    return {
        "title": f"MCA rules, a group of {size}",
        "duration": f"{duration_s:g} s",
        "topology": {"kind": "custom", "links": links},
        "flows": [mca("m", "s", receivers, params=params)],
    }


def measure(variant: str, seed: int, scale: Scale) -> Sample:
    """Runs a group of one size in a process of its own."""
    arguments = [sys.executable, "-m", __spec__.name, variant, str(seed), str(scale.factor)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    sample: Sample = json.loads(done.stdout)
    return sample


def main(size: int, seed: int, factor: float) -> Sample:
    """Time of a long run without what its start costs; memory without what the interpreter takes."""
    from ... import Scenario

    long_s = max(2.0, factor * DELIVERIES / size / RATE_PACKETS_PER_S)
    Scenario.from_tree(group(2, 0.1)).run(seed=seed)
    before = peak_bytes()
    short = Scenario.from_tree(group(size, long_s / 2)).run(seed=seed)
    long = Scenario.from_tree(group(size, long_s)).run(seed=seed)
    after = peak_bytes()
    hops = long.packet_hops - short.packet_hops
    return {
        "receivers": float(size),
        "ns_per_hop": 1e9 * (long.cpu_s - short.cpu_s) / hops,
        "entries_per_hop": (long.record["events_handled"] - short.record["events_handled"]) / hops,
        "bytes_per_receiver": (after - before) / size,
        "packet_hops": float(long.packet_hops + short.packet_hops),
        "trace_hash": long.trace_hash,
    }


def peak_bytes() -> float:
    """Most memory that this process has held. A child's `ru_maxrss` begins at its parent's, so Linux is asked first."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return 1024.0 * float(line.split()[1])
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
