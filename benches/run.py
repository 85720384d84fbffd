#!/usr/bin/env python3
"""Measures the workloads, beside ns-2 and ns-3 where they are installed, and counts their instructions.

usage: run.py [--runs=N] [--no-peer] [--no-emulator] [--instructions | --instructions=update] [--only=NAME,NAME] [--out=FILE]

Prints a table and writes FILE (out/bench.json): rows of workload, packet_hops, cpu_s, packet_hops_per_cpu_s,
peak_rss_bytes, peer_ratio, ns3_ratio, ns3_peak_rss_bytes; and how the emulator performs at 105 000 packets a second, in
real time, where it may make network namespaces. CPU seconds and memory are of the whole process, set-up included;
the median of the runs is quoted, and each run of ours stands beside one of ns-2, and for s10 to s1k and fat trees a
shorter one of ns-3. Counts of instructions and cache misses (callgrind, shorter runs) are compared with
benches/instructions.json and may not grow by more than two per cent. A cache miss is a read or write that neither the
first-level cache of 32 kB nor a second one of 1 MB holds, both simulated.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
# n1 and n2 are meant to be 100 s long; that takes about a tenth of a second
SECONDS = {
    "w1": 100,
    "w2": 20,
    "w3": 100,
    "w4": 400,
    "w4s": 400,
    "w4n": 400,
    "n1": 1000,
    "n2": 1000,
    "n3": 20,
    "s10": 10,
    "s100": 10,
    "s1k": 10,
    "s10k": 3,
    "s100k": 2,
    "s1m": 0.3,
    "f8p": 1,
    "f8i": 10,
    "f16p": 0.2,
    "f16i": 10,
    "m1k": 40,
    "m10k": 10,
    "m100k": 2,
    "n3k": 4,
    "n10k": 4,
    "t1k": 5,
    "t10k": 5,
    "t100k": 5,
    "t1m": 14,
}
COUNTED_SECONDS = {
    "w1": 5,
    "w2": 1,
    "w3": 5,
    "w4": 20,
    "w4s": 20,
    "w4n": 20,
    "n1": 20,
    "n2": 20,
    "n3": 1,
    "s10": 10,
    "s100": 2,
    "s1k": 1,
    "s10k": 0.5,
    "s100k": 0.1,
    "s1m": 0.01,
    "f8p": 0.01,
    "f8i": 1,
    "f16p": 0.003,
    "f16i": 0.3,
    "m1k": 2,
    "m10k": 0.5,
    "m100k": 0.1,
    "n3k": 0.2,
    "n10k": 0.2,
    "t1k": 0.2,
    "t10k": 0.2,
    "t100k": 0.2,
    "t1m": 0.2,
}
TITLES = {
    "w1": "10 TCP flows, dumbbell",
    "w2": "1000 TCP flows, dumbbell",
    "w3": "chain of 10 links",
    "w4": "multicast, 64 receivers",
    "w4s": "the same as a stream",
    "w4n": "that stream by name",
    "n1": "named data, constant rate",
    "n2": "named data, windows",
    "n3": "200 routers, controller",
    "s10": "10 flows of 1 Mbit/s",
    "s100": "100 flows of 1 Mbit/s",
    "s1k": "1 000 flows of 1 Mbit/s",
    "s10k": "10 000 flows of 1 Mbit/s",
    "s100k": "100 000 flows of 1 Mbit/s",
    "s1m": "1 000 000 flows",
    "f8p": "fat tree, permutation",
    "f8i": "fat tree, incast",
    "f16p": "fat tree, 1024 hosts",
    "f16i": "the same, incast",
    "m1k": "multicast, 1 000 receivers",
    "m10k": "multicast, 10 000 receivers",
    "m100k": "multicast, 100 000",
    "n3k": "1 000 routers, controller",
    "n10k": "10 000 routers, controller",
    "t1k": "tables of 1 000 names",
    "t10k": "tables of 10 000 names",
    "t100k": "tables of 100 000 names",
    "t1m": "tables of 1 000 000 names",
}
# these run once: a run takes minutes
LONG = {"s10k", "s100k", "s1m", "m100k", "n10k", "t1m"}
# these take gigabytes, and run only if they are named
HUGE = {"s1m"}
# ndnSIM 2.8 on n1 and n2 (BIC), 100 simulated seconds: packet-hops per CPU second as released, and with its timer leak
# removed. Quoted: it takes half an hour of CPU to build. Measured on two shared cores, spread 25 % and more.
NDNSIM = {"n1": (52e3, 78e3), "n2": (41e3, 99e3)}
# what ns-2 has as well
PEERED = {"w1", "w2", "w3", "w4", "s10", "s100", "s1k", "s10k", "f8p", "f16p"}
# what ns-3 has as well, and the seconds that it simulates of each
NS3 = {"s10": 10, "s100": 2, "s1k": 1, "f8p": 0.02, "f8i": 0.1, "f16p": 0.005, "f16i": 0.1}
ALLOWED_GROWTH = 0.02
# the emulator: packets a second and seconds of each run, and what is aimed at
EMULATED = (105_000, 5)
EMULATOR_LIMIT_S = 60
EMULATOR_AIMS = {"packets_per_s": 100_000, "added_p50_us": 200, "added_p99_us": 2000}


def measure(command: list[str]) -> tuple[str, float]:
    """Standard output and CPU seconds (user and system) of one process."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, cwd=HERE)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with {process.returncode}")
    return text, usage.ru_utime + usage.ru_stime


def rate(command: list[str]) -> tuple[int, float, int]:
    """Packet-hops, CPU seconds, peak memory in bytes."""
    text, cpu_s = measure(command)
    results = json.loads(text.strip().splitlines()[-1])
    return results["packet_hops"], cpu_s, results["peak_rss_bytes"]


def ns3_program() -> Path | None:
    """The dumbbells and fat trees in ns-3, compiled; None where ns-3 or a compiler is missing."""
    modules = (
        "applications",
        "point-to-point",
        "nix-vector-routing",
        "internet",
        "traffic-control",
        "network",
        "core",
    )
    names = [f"ns3-{module}" for module in modules]
    if not shutil.which("g++") or not shutil.which("pkg-config"):
        return None
    flags = subprocess.run(
        ["pkg-config", "--libs-only-l", *names], capture_output=True, text=True, check=False
    )
    if flags.returncode:
        return None
    source, program = HERE / "ns3.cc", TARGET / "ns3-bench"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        folder = subprocess.run(
            ["pkg-config", "--variable=libdir", "ns3-core"], capture_output=True, text=True, check=True
        )
        # Debian's files name libraries that its package does not bring
        libraries = [flag for flag in flags.stdout.split() if flag.startswith("-lns3")]
        command = ["g++", "-std=c++17", "-O2", str(source), "-o", str(program), f"-L{folder.stdout.strip()}"]
        subprocess.run([*command, *libraries, "-Wl,--allow-shlib-undefined"], check=True)
    return program


def speed(names: list[str], runs: int, peer: bool) -> list[dict[str, object]]:
    """One row for each workload."""
    rows = []
    ns3 = ns3_program() if peer else None
    for name in names:
        seconds = SECONDS[name]
        ours, ratios, ns3_ratios, ns3_peak = [], [], [], 0
        for _ in range(1 if name in LONG else runs):
            hops, cpu_s, peak = rate([str(TARGET / "workload"), name, str(seconds)])
            ours.append((hops / cpu_s, cpu_s, hops, peak))
            if peer and name in PEERED:
                peer_hops, peer_cpu_s, _ = rate(["ns", str(HERE / "ns2.tcl"), name, str(seconds)])
                ratios.append(hops / cpu_s / (peer_hops / peer_cpu_s))
            if ns3 and name in NS3:
                ns3_hops, ns3_cpu_s, ns3_peak = rate([str(ns3), name, str(NS3[name])])
                ns3_ratios.append(hops / cpu_s / (ns3_hops / ns3_cpu_s))
        speed_now, cpu_s, hops, peak = sorted(ours)[len(ours) // 2]
        ratio = round(statistics.median(ratios), 2) if ratios else None
        ns3_ratio = round(statistics.median(ns3_ratios), 1) if ns3_ratios else None
        rows.append(
            {
                "workload": name,
                "packet_hops": hops,
                "cpu_s": round(cpu_s, 4),
                "packet_hops_per_cpu_s": round(speed_now),
                "peak_rss_bytes": peak,
                "peer_ratio": ratio,
                "ns3_ratio": ns3_ratio,
                "ns3_peak_rss_bytes": ns3_peak or None,
            }
        )
        beside = f"{ratio:6.2f} × ns-2" if ratio else ""
        beside += f"{ns3_ratio:7.1f} × ns-3" if ns3_ratio else ""
        if name in NDNSIM:
            released, repaired = (round(speed_now / figure) for figure in NDNSIM[name])
            beside = f"{released:6} × ndnSIM as released, {repaired} × repaired (quoted)"
        print(
            f"{name:5}  {TITLES[name]:26} {hops / 1e6:6.2f} M packet-hops  {cpu_s:6.3f} CPU s  "
            f"{speed_now / 1e6:6.2f} M/s  {peak / 1e6:6.1f} MB  {beside}",
            flush=True,
        )
    return rows


def emulator(runs: int) -> list[dict[str, object]]:
    """A row for the emulator as any process, one for it preferred: of each the median run by 99th percentile of added delay.

    Nothing where namespaces cannot be made. A machine that does something else meanwhile measures that.
    """
    rate, seconds = EMULATED
    rows = []
    for how in ([], ["urgent"]):
        results = []
        for _ in range(runs):
            command = [str(TARGET / "emulator"), str(rate), str(seconds), *how]
            done = subprocess.run(
                command, capture_output=True, text=True, cwd=HERE, timeout=EMULATOR_LIMIT_S, check=False
            )
            if done.returncode != 0:
                print(f"the emulator is not measured: {done.stderr.strip()}")
                return []
            run = json.loads(done.stdout.strip().splitlines()[-1])
            if run.get("received"):
                results.append(run)
        if not results:
            print("the emulator is not measured: nothing arrived")
            return []
        middle = sorted(results, key=lambda run: run["added_p99_us"])[len(results) // 2]
        kept = (
            "packets_per_s",
            "overruns",
            "drops",
            "cpu_loop_share",
            "added_p50_us",
            "added_p99_us",
            "valid",
        )
        row = {
            "workload": "emulator" + "".join(f", {word}" for word in how),
            **{key: middle[key] for key in kept},
        }
        met = (
            row["packets_per_s"] >= EMULATOR_AIMS["packets_per_s"]
            and row["added_p50_us"] <= EMULATOR_AIMS["added_p50_us"]
            and row["added_p99_us"] <= EMULATOR_AIMS["added_p99_us"]
        )
        rows.append({**row, "aims_met": met})
        print(
            f"{row['workload']:18} {row['packets_per_s']:7} packets/s  {100 * row['cpu_loop_share']:3.0f} % of a core  "
            f"added: half {row['added_p50_us']:.0f} µs, 99 % {row['added_p99_us']:.0f} µs  "
            f"{'as' if met else 'NOT as'} aimed at (100 000/s, 200 µs, 2 ms)",
            flush=True,
        )
    return rows


def counts(name: str) -> dict[str, int]:
    """Instructions and cache misses of a short run, by callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--tool=callgrind",
            "--cache-sim=yes",
            *("--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"),
            f"--callgrind-out-file={folder}/out",
            str(TARGET / "workload"),
        ]
        done = subprocess.run(
            [*command, name, str(COUNTED_SECONDS[name])], capture_output=True, text=True, check=True
        )
    found = [
        re.search(pattern, done.stderr) for pattern in (r"I\s+refs:\s*([\d,]+)", r"LL misses:\s*([\d,]+)")
    ]
    if not all(found):
        sys.exit(f"error: callgrind printed no counts:\n{done.stderr}")
    instructions, misses = (int(match.group(1).replace(",", "")) for match in found if match)
    return {"instructions": instructions, "cache_misses": misses}


def count_instructions(names: list[str], update: bool) -> int:
    """Compares with the committed counts; 1 when one has grown."""
    if not shutil.which("valgrind"):
        sys.exit("error: valgrind is not installed (Debian package valgrind)")
    path = HERE / "instructions.json"
    known = json.loads(path.read_text())
    grown = False
    for name in names:
        counted = counts(name)
        if update:
            known[name] = counted
            path.write_text(json.dumps(known, indent=2) + "\n")
        for what, count in counted.items():
            committed = known.get(name, {}).get(what)
            change = count / committed - 1 if committed else 0.0
            grown |= change > ALLOWED_GROWTH
            beside = f"{change:+.2%} against the committed count" if committed else "no committed count"
            print(f"{name:5}  {count:>13,} {what.replace('_', ' ')}  {beside}", flush=True)
    return int(grown)


def main(arguments: list[str]) -> int:
    options = dict(argument.lstrip("-").partition("=")[::2] for argument in arguments if "=" in argument)
    flags = {argument.lstrip("-") for argument in arguments if "=" not in argument}
    if unknown := (flags | set(options)) - {"runs", "no-peer", "no-emulator", "instructions", "only", "out"}:
        sys.exit(f"error: unknown option {', '.join(sorted(unknown))}\n{__doc__}")
    names = (
        options["only"].split(",") if "only" in options else [name for name in SECONDS if name not in HUGE]
    )
    if wrong := set(names) - set(SECONDS):
        sys.exit(f"error: unknown workload {', '.join(sorted(wrong))}: there are {', '.join(SECONDS)}")
    subprocess.run(["cargo", "build", "--release", "--locked", "-q", "-p", "benches"], cwd=ROOT, check=True)
    if "instructions" in flags or "instructions" in options:
        return count_instructions(names, update=options.get("instructions") == "update")
    peer = shutil.which("ns") is not None and "no-peer" not in flags
    if not peer:
        print("ns-2 is not measured (Debian package ns2)")
    _, yardstick_s = measure([str(TARGET / "yardstick")])
    print(f"yardstick {yardstick_s:.2f} CPU s")
    rows = speed(names, int(options.get("runs", 5)), peer)
    real = [] if "no-emulator" in flags else emulator(min(3, int(options.get("runs", 5))))
    out = Path(options.get("out", ROOT / "out" / "bench.json"))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(
        json.dumps({"yardstick_s": round(yardstick_s, 3), "rows": rows, "emulator": real}, indent=2) + "\n"
    )
    print(f"written: {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
