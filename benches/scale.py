#!/usr/bin/env python3
"""What a packet costs as networks grow: measures it, draws the figures of docs/scale.md, and writes its tables.

usage: scale.py [--rounds N] [--only=NAME,NAME] [--draw]

Each workload runs for two durations. The cost of a packet-hop is the difference of their CPU times over the difference of
their packet-hops, so that set-up does not count; the set-up is what remains of the shorter one. All workloads run in each
of N rounds (5), and each CPU time is the minimum of all rounds, so that a minute in which the machine is slow does not
count for one workload only. After each run, results replace earlier ones of the same program and workload in
benches/scale.json. `--draw` only draws docs/images/scale-*.svg from that file, and writes the tables after
`<!-- scale: NAME -->` in docs/scale.md and README.md.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from run import HERE, ROOT, TARGET, ns3_program, rate

FILE = HERE / "scale.json"
IMAGES = ROOT / "docs" / "images"

DURATIONS_S: dict[str, dict[str, tuple[float, float]]] = {
    "Thalweg": {
        "s10": (10, 500),
        "s100": (5, 100),
        "s1k": (1, 4),
        "s10k": (1, 1.5),
        "s100k": (1, 1.2),
        "w4": (20, 2000),
        "m1k": (5, 100),
        "m10k": (1, 10),
        "m100k": (0.5, 3),
        "f8p": (0.02, 0.06),
        "f16p": (0.01, 0.02),
        "f8i": (1, 10),
        "f16i": (1, 10),
        "n3": (2, 6),
        "n3k": (1, 3),
        "n10k": (1, 3),
        "t1k": (1, 5),
        "t10k": (1, 5),
        "t100k": (2, 6),
        "t1m": (11, 15),
    },
    "ns-2": {
        "s10": (10, 500),
        "s100": (5, 25),
        "s1k": (1, 4),
        "s10k": (1, 11),
        "f8p": (0.02, 0.06),
        "f16p": (0.01, 0.02),
    },
    "ns-3": {
        "s10": (10, 50),
        "s100": (1.2, 2.2),
        "s1k": (1.2, 1.6),
        "f8p": (0.01, 0.02),
        "f16p": (0.002, 0.004),
        "f8i": (0.1, 1),
        "f16i": (0.1, 1),
    },
}
"""The durations of each workload in each program, in simulated seconds. All flows of s10 to s100k have started after 1 s."""

SIZES = {
    "flows": {"s10": 10, "s100": 100, "s1k": 1000, "s10k": 10_000, "s100k": 100_000},
    "receivers": {"w4": 64, "m1k": 1000, "m10k": 10_000, "m100k": 100_000},
    "switches": {"f8p": 80, "f16p": 320},
    "switches, incast": {"f8i": 80, "f16i": 320},
    "routers": {"n3": 200, "n3k": 1000, "n10k": 10_000},
    "names": {"t1k": 1000, "t10k": 10_000, "t100k": 100_000, "t1m": 1_000_000},
}
"""What the workloads vary, and how much of it each has."""

STYLES = {"Thalweg": "o-", "ns-2": "s--", "ns-3": "^:"}

PAGES = (ROOT / "README.md", ROOT / "docs" / "scale.md")
COST = ("hop_ns", "ns per packet-hop", 1.0, 0)
SET_UP = ("setup_s", "set-up (s)", 1.0, 1)
MEMORY = ("peak_rss_bytes", "peak memory (MB)", 1e-6, 0)
"""Keys of a row, what a column of theirs is called, their unit and the digits after the point."""

TABLES: dict[str, tuple[str, list[str], list[str], list[tuple[str, str, float, int]]]] = {
    "flows in short": ("TCP flows", ["flows"], list(STYLES), [COST, MEMORY]),
    "flows": ("flows", ["flows"], list(STYLES), [COST, SET_UP, MEMORY]),
    "receivers": ("receivers", ["receivers"], ["Thalweg"], [COST, MEMORY]),
    "switches": ("switches", ["switches", "switches, incast"], list(STYLES), [COST, MEMORY]),
    "routers": ("routers and a controller", ["routers"], ["Thalweg"], [COST, MEMORY]),
    "names": ("names", ["names"], ["Thalweg"], [COST, MEMORY]),
}
"""Of each table: the head of its first column, the sizes in it, the programs, and the columns of each."""


def row(program: str, workload: str, runs: list[tuple[int, float, int]]) -> dict[str, Any]:
    """The costs from packet-hops, CPU seconds and peak memory in bytes of the shorter and of the longer run."""
    (hops, cpu_s, _), (more_hops, more_cpu_s, peak) = runs
    cost_s = (more_cpu_s - cpu_s) / (more_hops - hops)
    return {
        "program": program,
        "workload": workload,
        "hop_ns": round(1e9 * cost_s, 1),
        "setup_s": round(max(cpu_s - cost_s * hops, 0.0), 3),
        "packet_hops": more_hops,
        "cpu_s": round(more_cpu_s, 3),
        "peak_rss_bytes": peak,
    }


def command(program: str, workload: str, seconds: float) -> list[str]:
    """How a program runs a workload."""
    if program == "ns-2":
        return ["ns", str(HERE / "ns2.tcl"), workload, str(seconds)]
    if program == "ns-3":
        return [str(ns3_program()), workload, str(seconds)]
    return [str(TARGET / "workload"), workload, str(seconds)]


def measured(wanted: list[tuple[str, str]], rounds: int) -> Iterator[dict[str, Any]]:
    """Rows of programs and their workloads, from the fastest runs so far; each row once in each round."""
    fastest: dict[tuple[str, str, float], tuple[int, float, int]] = {}
    for number in range(1, rounds + 1):
        for program, workload in wanted:
            keys = [(program, workload, seconds) for seconds in DURATIONS_S[program][workload]]
            for key in keys:
                run = rate(command(*key))
                fastest[key] = min(fastest.get(key, run), run, key=lambda one: one[1])
            yield row(program, workload, [fastest[key] for key in keys]) | {"rounds": number}


def spaced(value: float, digits: int) -> str:
    """A number with spaces between thousands."""
    return f"{value:,.{digits}f}".replace(",", " ")


def table(known: dict[tuple[str, str], dict[str, Any]], name: str) -> str:
    """One of the tables in Markdown; a program has no columns if it ran nothing, and no number where it did not run."""
    first, what, programs, columns = TABLES[name]
    sizes = {workload: size for one in what for workload, size in SIZES[one].items()}
    columns_of = [
        (program, *column)
        for column in columns
        for program in programs
        if any((program, workload) in known for workload in sizes)
    ]
    heads = []
    for program, _, title, *_ in columns_of:
        named = title if len(programs) == 1 else f"{program}, {title}"
        heads.append(program if any(head.endswith(title) for head in heads) else named)
    lines = [f"| {first} | {' | '.join(heads)} |", f"| ---: |{' ---: |' * len(heads)}"]
    for workload, size in sizes.items():
        numbers = [
            spaced(known[program, workload][key] * unit, digits) if (program, workload) in known else "–"
            for program, key, _, unit, digits in columns_of
        ]
        lines.append(f"| {spaced(size, 0)} ({workload.capitalize()}) | {' | '.join(numbers)} |")
    return "\n".join(lines) + "\n"


def write_tables(known: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Replaces each table after its comment in the pages."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in TABLES:
            text = re.sub(rf"(<!-- scale: {name} -->\n)(\|.*\n)*", rf"\g<1>{table(known, name)}", text)
        page.write_text(text, encoding="utf-8")


def draw(known: dict[tuple[str, str], dict[str, Any]]) -> None:
    """The figures: cost and memory against the number of flows, and cost against the size of other networks."""
    import matplotlib.pyplot as plt

    plt.switch_backend("svg")
    plt.rcParams["svg.hashsalt"] = "thalweg"

    def figure(
        name: str, x: str, y: str, lines: list[tuple[str, str, str, str]], key: str, unit: float
    ) -> None:
        drawn, axes = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
        for label, style, program, what in lines:
            there = [
                (size, known[program, workload][key] * unit)
                for workload, size in SIZES[what].items()
                if known.get((program, workload), {}).get(key)
            ]
            axes.loglog([size for size, _ in there], [value for _, value in there], style, label=label)
        axes.set(xlabel=x, ylabel=y)
        axes.grid(which="major", alpha=0.4)
        drawn.legend(loc="outside upper center", ncols=3 if len(lines) == 3 else 2, fontsize="small")
        drawn.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
        plt.close(drawn)

    cost = "CPU time per packet-hop, ns"
    programs = [(program, style, program, "flows") for program, style in STYLES.items()]
    figure("scale-flows", "TCP flows over one bottleneck", cost, programs, "hop_ns", 1)
    figure(
        "scale-memory", "TCP flows over one bottleneck", "peak memory, MB", programs, "peak_rss_bytes", 1e-6
    )
    ours = [
        ("multicast, receivers", "o-", "Thalweg", "receivers"),
        ("fat tree, switches", "s-", "Thalweg", "switches"),
        ("named data and a controller, routers", "^-", "Thalweg", "routers"),
        ("named data, names in each table", "v-", "Thalweg", "names"),
    ]
    figure("scale-size", "receivers of a group, switches, routers, names", cost, ours, "hop_ns", 1)


def main(arguments: list[str]) -> int:
    options = dict(argument.lstrip("-").partition("=")[::2] for argument in arguments)
    if unknown := set(options) - {"rounds", "only", "draw"}:
        sys.exit(f"error: unknown option {', '.join(sorted(unknown))}\n{__doc__}")
    rows: list[dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else []
    if "draw" not in options:
        subprocess.run(
            ["cargo", "build", "--release", "--locked", "-q", "-p", "benches", "--bin", "workload"],
            cwd=ROOT,
            check=True,
        )
        only = options["only"].split(",") if "only" in options else None
        wanted = [(p, w) for p, ws in DURATIONS_S.items() for w in ws if only is None or w in only]
        for new in measured(wanted, int(options.get("rounds") or 5)):
            at = (new["program"], new["workload"])
            rows = [one for one in rows if (one["program"], one["workload"]) != at] + [new]
            print(
                f"{new['rounds']:2}  {at[0]:8} {at[1]:6} {new['hop_ns']:9.1f} ns  set-up {new['setup_s']:.2f} s",
                flush=True,
            )
            FILE.write_text("[\n" + ",\n".join(f"  {json.dumps(one)}" for one in rows) + "\n]\n")
    known = {(one["program"], one["workload"]): one for one in rows}
    write_tables(known)
    draw(known)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
