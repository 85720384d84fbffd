"""Cost of a group: processor time per delivered packet, and memory per receiver.

Each case runs in a process of its own, so that caches and the allocator start equal. A paper's module calls
`own_process` from its `measure` with its own name, and `spend` when it is run as that process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ._base import Sample, Scale, Tree


def own_process(module: str, variant: str, seed: int, scale: Scale) -> Sample:
    """The output of `python -m module VARIANT SEED FACTOR`."""
    arguments = [sys.executable, "-m", module, variant, str(seed), str(scale.factor)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    sample: Sample = json.loads(done.stdout)
    return sample


def spend(group: Callable[[int, float], Tree], size: int, long_s: float, seed: int) -> Sample:
    """Processor time of a long run and of one half as long; memory without that of the interpreter.

    `group` makes the scenario of a group with this number of receivers and this duration in seconds.
    """
    from thalweg import Scenario

    Scenario.from_tree(group(2, 0.1)).run(seed=seed)
    before = peak_bytes()
    short = Scenario.from_tree(group(size, long_s / 2)).run(seed=seed)
    long = Scenario.from_tree(group(size, long_s)).run(seed=seed)
    after = peak_bytes()
    hops = long.packet_hops - short.packet_hops
    return {
        "receivers": float(size),
        "simulated_s": long_s,
        "cpu_s": long.cpu_s,
        "short_cpu_s": short.cpu_s,
        "delivered": float(long.receivers["packets"].sum()),
        "hops": float(hops),
        "entries_per_hop": (long.record["events_handled"] - short.record["events_handled"]) / hops,
        "bytes_per_receiver": (after - before) / size,
        "packet_hops": float(long.packet_hops + short.packet_hops),
        "trace_hash": long.trace_hash,
    }


def ns_per_hop(runs: Sequence[Sample]) -> float:
    """Processor time per packet-hop without the start, in ns.

    Of each duration the run with the minimum time counts: other programs on the computer only add to it.
    """
    long_s, short_s = (min(float(run[key]) for run in runs) for key in ("cpu_s", "short_cpu_s"))
    return 1e9 * (long_s - short_s) * len(runs) / sum(float(run["hops"]) for run in runs)


def peak_bytes() -> float:
    """Most memory that this process has held. A child's `ru_maxrss` begins at its parent's, so Linux is asked first."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return 1024.0 * float(line.split()[1])
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
