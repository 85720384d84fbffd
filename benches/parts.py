#!/usr/bin/env python3
"""Counts what each queue discipline and each impairment costs: instructions per packet-hop, beside plain drop-tail.

usage: parts.py [PART ...]

A part is in the bottleneck of a dumbbell of ten TCP flows with SACK, or in every link of a chain of ten links with random
traffic at 80 % of their rate. Impairments are rare, so that TCP's recovery has a small part in the cost. Callgrind
counts in the second half of a run: set-up and start do not count, and other load on the machine has no effect. It fails if
a part takes more than 30 per cent more than drop-tail in one of the two. It needs the installed package, release build, and
valgrind.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LIMIT = 0.30
SECONDS = 1.0
RARE = 1e-4
BURST = "100 kB"
MBPS = 100
QUEUES = ("cake", "codel", "dualpi2", "fq", "fq_codel", "pfifo_head_drop", "pie", "red")
OPPORTUNITIES = 25
"""Packets of 1500 bytes in 3 ms, which are 100 Mbit/s."""


def parts(folder: Path) -> dict[str, dict[str, Any]]:
    """The keys of a link with each part; drop-tail first."""
    trace = folder / "trace"
    trace.write_text(
        "".join(f"{1 + n * 3 // OPPORTUNITIES}\n" for n in range(OPPORTUNITIES)), encoding="ascii"
    )
    bucket = {"rate": f"{MBPS} Mbit/s", "burst": BURST}
    impairments: dict[str, dict[str, Any]] = {
        "bursts": {"bursts": {"to_bad": RARE, "to_good": 0.5}},
        "corrupt": {"corrupt": RARE},
        "duplicate": {"duplicate": RARE},
        "jitter": {"jitter": "100 us"},
        "jitter, in order": {"jitter": "100 us", "keep_order": True},
        "reorder": {"reorder": RARE},
        "release_every": {"release_every": "1 ms"},
    }
    return {
        "fifo": {},
        **{name: {"queue": name} for name in QUEUES},
        "loss": {"loss": RARE},
        **{name: {"impair": keys} for name, keys in impairments.items()},
        "policer": {"policer": bucket},
        "shaper": {"shaper": bucket},
        "trace": {"trace": str(trace)},
    }


def rate(link: dict[str, Any]) -> dict[str, Any]:
    """The rate of a link that has no trace."""
    return {} if "trace" in link else {"rate": f"{MBPS} Mbit/s"}


def dumbbell(link: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Ten flows over a bottleneck with a part."""
    return {
        "title": "A part in a bottleneck",
        "duration": f"{seconds} s",
        "topology": {
            "kind": "dumbbell",
            "edge": {"rate": "1 Gbit/s", "delay": "1 ms", "buffer": "10000 packets"},
            "bottleneck": {**rate(link), "delay": "10 ms", "buffer": "100 packets", **link},
        },
        "flows": [
            {"name": "tcp", "count": 10, "scheme": "reno", "packet": "1000 B", "start_spread": "100 ms"}
        ],
    }


def chain(link: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Random traffic over ten links with a part."""
    links = [
        {
            "name": f"l{n}",
            "ends": [f"n{n}", f"n{n + 1}"],
            **rate(link),
            "delay": "1 ms",
            "buffer": "100 packets",
            **link,
        }
        for n in range(10)
    ]
    source = {"kind": "poisson", "rate": f"{MBPS * 8 // 10} Mbit/s"}
    return {
        "title": "A part in ten links",
        "duration": f"{seconds} s",
        "topology": {"kind": "custom", "links": links},
        "flows": [{"name": "traffic", "from": "n0", "to": "n10", "packet": "1000 B", "source": source}],
    }


NETWORKS = {"dumbbell": dumbbell, "chain": chain}


def child(folder: Path, names: list[str]) -> None:
    """Runs everything in this process, with a dump of callgrind after each run; prints the packet-hops of each."""
    from thalweg import Scenario

    links = parts(folder)
    # the first run loads modules
    dump()
    Scenario.from_tree(dumbbell({}, 0.1)).run(seed=1)
    dump()
    for name in names:
        for network, make in NETWORKS.items():
            for length in (SECONDS / 2, SECONDS):
                plan = Scenario.from_tree(make(links[name], length))
                dump()
                hops = plan.run(seed=1).packet_hops
                print(json.dumps([name, network, hops, dump()]), flush=True)


def dump() -> int:
    """Lets callgrind write its counts and begin again at zero; returns the instructions since the last dump."""
    subprocess.run(["callgrind_control", "-d", str(os.getpid())], stdout=subprocess.DEVNULL, check=True)
    folder = Path(os.environ["PARTS_FOLDER"])
    newest = max(folder.glob("out.*"), key=lambda file: int(file.suffix[1:]))
    found = re.search(r"^totals: (\d+)", newest.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        sys.exit(f"error: {newest} has no total")
    return int(found.group(1))


def main(arguments: list[str]) -> int:
    """The command line."""
    if not shutil.which("valgrind"):
        sys.exit("error: valgrind is not installed (Debian package valgrind)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = list(parts(folder))
        if wrong := set(arguments) - set(known):
            sys.exit(f"error: unknown part {', '.join(sorted(wrong))}: there are {', '.join(known)}")
        names = ["fifo", *(one for one in known[1:] if not arguments or one in arguments)]
        command = [
            "valgrind",
            "-q",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/out",
            sys.executable,
            __file__,
        ]
        environment = {**os.environ, "PARTS_FOLDER": name, "PYTHONHASHSEED": "0"}
        counted: dict[tuple[str, str], list[tuple[int, int]]] = {}
        plain: dict[str, float] = {}
        dear = False
        with subprocess.Popen(
            [*command, "--child", *names], stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            for line in process.stdout or ():
                part, network, hops, instructions = json.loads(line)
                runs = counted.setdefault((part, network), [])
                runs.append((hops, instructions))
                if len(runs) < 2:
                    continue
                (half_hops, half), (whole_hops, whole) = runs
                cost = (whole - half) / (whole_hops - half_hops)
                more = cost / plain.setdefault(network, cost) - 1
                dear |= more > LIMIT
                print(
                    f"{part:18} {network:9} {cost:7.0f} instructions per packet-hop  {more:+7.1%}", flush=True
                )
        if process.returncode:
            sys.exit(f"error: the runs ended with {process.returncode}")
    return int(dear)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(Path(os.environ["PARTS_FOLDER"]), sys.argv[2:])
        sys.exit(0)
    sys.exit(main(sys.argv[1:]))
