"""The cells of the grid in ns-3: compiles one program against an installed ns-3 and runs a cell in it.

    python -m thalweg_papers.kernel.ns3 build
    python -m thalweg_papers.kernel.ns3 run QUEUE TCP NETWORK SEED

`thalweg reproduce kernel` reads what was recorded of it, in `ns3.json`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._base import Sample, Scale
from . import scenarios

SOURCE = Path(__file__).with_name("ns3_cell.cc")
RECORDED = Path(__file__).with_name("ns3.json")
MODULES = ("applications", "point-to-point", "internet", "traffic-control", "network", "core")

TCPS: dict[str, str] = {
    "reno": "ns3::TcpLinuxReno",
    "cubic": "ns3::TcpCubic",
    "bic": "ns3::TcpBic",
    "bbr": "ns3::TcpBbr",
    "tcp_lp": "ns3::TcpLp",
    "highspeed": "ns3::TcpHighSpeed",
    "scalable": "ns3::TcpScalable",
    "htcp": "ns3::TcpHtcp",
    "illinois": "ns3::TcpIllinois",
    "hybla": "ns3::TcpHybla",
    "veno": "ns3::TcpVeno",
    "vegas": "ns3::TcpVegas",
    "yeah": "ns3::TcpYeah",
    "westwood": "ns3::TcpWestwoodPlus",
}
"""Schemes of this library, and the types of ns-3."""

QUEUES = ("fifo", "codel", "red", "pie", "fq_codel")
"""Queue disciplines of the grid that ns-3 has."""


class Ns3Error(Exception):
    """ns-3 is not there, or a cell failed in it; the text says what to do."""


def cache() -> Path:
    """The folder of the compiled program."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "thalweg" / "ns3"


def program() -> Path:
    """The compiled program, which may not exist."""
    return cache() / "ns3-cell"


def installed() -> bool:
    """Whether pkg-config finds an ns-3."""
    return (
        shutil.which("pkg-config") is not None
        and not subprocess.run(["pkg-config", "--exists", "ns3-core"]).returncode
    )


def version() -> str:
    """The version of the installed ns-3, such as 3.37."""
    return _output(["pkg-config", "--modversion", "ns3-core"]).strip()


def build() -> Path:
    """Compiles the program against the installed ns-3 and returns it."""
    return compiled(SOURCE, MODULES, program())


def compiled(source: Path, modules: Sequence[str], target: Path) -> Path:
    """Compiles a program against modules of the installed ns-3 and returns it. Raises ``Ns3Error``."""
    if shutil.which("g++") is None or not installed():
        raise Ns3Error(
            "ns-3 not found: `apt-get install g++ pkg-config libns3-dev` installs it with what it needs"
        )
    names = [f"ns3-{module}" for module in modules]
    folder = _output(["pkg-config", "--variable=libdir", "ns3-core"]).strip()
    flags = _output(["pkg-config", "--libs-only-l", *names]).split()
    # Debian's files name libraries that its package does not bring
    libraries = [flag for flag in flags if flag.startswith("-lns3")]
    target.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [
            *("g++", "-std=c++17", "-O2", str(source), "-o", str(target), f"-L{folder}"),
            *(*libraries, "-Wl,--allow-shlib-undefined"),
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise Ns3Error(f"g++ failed: {done.stderr[-2000:]}")
    return target


def _output(argv: Sequence[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def arguments(variant: str, seed: int, scale: Scale) -> list[str]:
    """The arguments of the program for a cell: the numbers of the kernel's."""
    queue, tcp, network = scenarios.parts(variant)
    values: dict[str, Any] = {
        "queue": queue.name,
        "tcp": TCPS[tcp],
        "rate": network.rate_bps,
        "one-way": network.one_way_s,
        "limit": network.packets,
        "starts": ",".join(map(str, scenarios.starts(variant, seed))),
        "warmup": scale.seconds(scenarios.WARMUP_S),
        "seconds": scale.seconds(scenarios.DURATION_S),
        "seed": seed,
        "red-min": scenarios.RED_MIN,
        "red-max": scenarios.RED_MAX,
        "red-probability": scenarios.RED_PROBABILITY,
        "red-weight": 0.5 ** scenarios.red_log(),
    }
    return [f"--{name}={value}" for name, value in values.items()]


def run(variant: str, seed: int, scale: Scale) -> Sample:
    """A cell in ns-3.

    Raises ``Ns3Error`` where ns-3 is missing or ends with an error.
    """
    if not program().exists():
        build()
    done = subprocess.run([program(), *arguments(variant, seed, scale)], capture_output=True, text=True)
    if done.returncode:
        raise Ns3Error(f"{variant}, seed {seed}: ns-3 ended with {done.returncode}: {done.stderr[-1000:]}")
    found: Sample = json.loads(done.stdout)
    return found


def runs(variant: str) -> bool:
    """Whether ns-3 has the queue and the TCP of a cell, whose applications send without end."""
    queue, tcp, network = scenarios.parts(variant)
    return queue.name in QUEUES and tcp in TCPS and network.load == "endless"


def main(words: Sequence[str]) -> int:
    """The command line."""
    try:
        match words:
            case ["build"]:
                print(f"{build()} built")
            case ["run", queue, tcp, network, seed]:
                print(json.dumps(run(f"{queue} {tcp} {network}", int(seed), Scale())))
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except Ns3Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
