"""GCC of the catalogue beside GCC of pion/interceptor (Go), on RFC 8867's test cases."""

from __future__ import annotations

import bisect
import math
import os
import shutil
import struct
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars
import pytest

import thalweg as tw

FOLDER = Path(__file__).parents[1] / "gcc-pion"
SCENARIOS = Path(__file__).parents[2] / "scenarios" / "rfc8867"
DELAY = 0.05
"""One-way propagation delay of RFC 8867 §5, in seconds."""

PACKET = 1200


@pytest.fixture(scope="module")
def pion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with pion's GCC in virtual time."""
    if shutil.which("go") is None:
        pytest.skip("needs Go")
    program = tmp_path_factory.mktemp("pion") / "gcc"
    words = ["go", "test", "-c", "-o", str(program), "."]
    built = subprocess.run(words, cwd=FOLDER, check=False, capture_output=True, text=True, timeout=300)
    if built.returncode:
        # its modules are not here and cannot be had, or this Go is older than 1.25
        pytest.skip(f"pion's GCC could not be built: {built.stderr[-300:]}")
    return program


@dataclass
class Answer:
    """What pion's GCC did: a target rate after each report, and when packets left and arrived (NaN if lost), in seconds."""

    times: list[float]
    targets: list[float]
    packets: list[tuple[float, float]]


def rows(path: Path) -> list[list[float]]:
    return [[float(word) for word in line.split(",")] for line in path.read_text().splitlines()]


def ask(program: Path, folder: Path, end: float, **more: object) -> Answer:
    """Runs pion's GCC until `end`, with `more` in its environment."""
    targets, packets = folder / "targets.csv", folder / "carried.csv"
    settings = {"TARGETS": targets, "OUT": packets, "DELAY": DELAY, "END": end, **more}
    variables = {f"THALWEG_{name}": str(value) for name, value in settings.items()}
    done = subprocess.run(
        [str(program), "-test.run", "TestTargets"],
        env={**os.environ, **variables},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rates = rows(targets)
    carried = [(left, arrived) for left, arrived in rows(packets)]
    return Answer([row[0] for row in rates], [row[1] for row in rates], carried)


def captured(path: Path, port: int) -> dict[str, dict[int, float]]:
    """Times in seconds at which packets from UDP port `port` came to the end of each interface, by their number."""
    data, at = path.read_bytes(), 0
    names: list[str] = []
    seen: dict[str, dict[int, float]] = {}
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 1:
            code, size = struct.unpack_from("<HH", data, at + 16)
            assert code == 2, "the name is the first option"
            names.append(data[at + 20 : at + 20 + size].decode())
            seen.setdefault(names[-1], {})
        elif kind == 6:
            interface, high, low, kept = struct.unpack_from("<IIII", data, at + 8)
            # headers of IPv4 and UDP, then the number
            if kept >= 36 and struct.unpack_from(">H", data, at + 28 + 20)[0] == port:
                seq = struct.unpack_from(">Q", data, at + 28 + 28)[0]
                seen[names[interface]][seq] = (high << 32 | low) / 1e9
        at += length
    return seen


# Expectations, written before the first measurement. Both controllers follow draft-ietf-rmcat-gcc-02. Its section 5.5
# gives 0.85·R after over-use and growth by at most 8 % per second up to 1.5·R, so that two controllers with the same R
# are within 0.85/1.5 and 1.5/0.85 of each other at any time; means are expected within 25 %. When the capacity falls
# from 2.5 to 0.6 Mbit/s, over-use shows within a report, and R has fallen after its window of 0.5 s: both are below 0.7
# Mbit/s within 2 s. In closed loops both fill the link up to the same fall by 0.85: goodput within 25 % in each phase.
#
# The last phase of the closed loops did not meet the expectation: 0.90 Mbit/s of pion and 0.70 of ours. Section 5.5
# gives the average receive rate at over-use a smoothing factor of 0.95, over several occasions: the weight of the old
# average, in ours. pion gives that weight to the newest rate, so that it forgets the phase before, and grows by 8 % per
# second instead of by half a packet per response time. With the same weight as pion's, ours is within the 25 %, which
# is now expected.
NEAR = 0.25


@dataclass
class Ours:
    """What `gcc` of the catalogue did: target rates every 100 ms, and when packets of the first flow left and arrived."""

    times: list[float]
    targets: list[float]
    packets: list[tuple[float, float]]
    duration: float


def ours(name: str, folder: Path, more: str = "") -> Ours:
    """Runs a scenario of RFC 8867 with `gcc` for media flows, unlimited data up to 1.5 Mbit/s, and `more` parameters."""
    text = (SCENARIOS / f"{name}.toml").read_text()
    text = (
        text[: text.index("[sweep]")].replace('"target_rate"', '"allowed_rate"').replace("200 ms", "100 ms")
    )
    lines = [line for line in text.splitlines() if not line.startswith(("encoder", "warmup"))]
    settings = 'scheme = "gcc"\nparams = { max_rate = "1.5 Mbit/s"' + more + " }"
    file = folder / f"{name}.toml"
    file.write_text("\n".join(lines).replace('scheme = "nada"', settings))
    scenario = tw.load(file)
    result = scenario.plan().run(out=folder / "run", capture=["left1", "right1"])
    seen = captured(folder / "run" / "capture.pcapng", 10000)
    came, arrived = seen["left1"], seen["right1"]
    # at the end of the first link: 5 ms, and 1200 bytes at 100 Mbit/s, after the departure
    before = 0.005 + PACKET * 8 / 100e6
    packets = [(at - before, arrived.get(seq, math.nan)) for seq, at in sorted(came.items())]
    flow = result.flows["flow"][0]
    rates = result.series.filter(
        polars.col("series") == "allowed_rate", polars.col("subject") == f"flow.{flow}"
    )
    times = rates["time_s"].to_list()
    return Ours(times, rates["value"].to_list(), packets, times[-1])


def replayed(program: Path, folder: Path, run: Ours) -> Answer:
    """pion's targets for the packets of our run."""
    packets = folder / "packets.csv"
    packets.write_text("".join(f"{left:.9f},{arrived:.9f}\n" for left, arrived in run.packets))
    answer = ask(program, folder, run.duration, PACKETS=packets)
    assert len(answer.packets) > 0.99 * len(run.packets), "it took them all"
    return answer


def value_at(answer: Answer, at: float) -> float:
    """pion's target rate at a time."""
    index = max(0, bisect.bisect_right(answer.times, at) - 1)
    return answer.targets[index]


def ratios(answer: Answer, run: Ours, begin: float = 5.0) -> list[float]:
    """pion's target rates relative to ours, every 100 ms."""
    pairs = zip(run.times, run.targets, strict=True)
    return [value_at(answer, at) / rate for at, rate in pairs if at >= begin]


def report(name: str, answer: Answer, run: Ours) -> float:
    """The ratio of the means, printed with quartiles of the ratio."""
    each = sorted(ratios(answer, run))
    pairs = [
        (value_at(answer, at), rate) for at, rate in zip(run.times, run.targets, strict=True) if at >= 5.0
    ]
    theirs, own = (sum(pair[n] for pair in pairs) / len(pairs) for n in (0, 1))
    quartiles = [each[int(share * (len(each) - 1))] for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    print(f"{name}: pion {theirs / 1e6:.3f}, ours {own / 1e6:.3f} Mbit/s, ratio {quartiles}")
    return theirs / own


def test_the_targets_of_pion_follow_ours_on_the_same_packets(pion: Path, tmp_path: Path) -> None:
    """RFC 8867 §5.1: the capacity is 1, 2.5, 0.6 and 1 Mbit/s."""
    run = ours("5.1-variable-capacity", tmp_path)
    answer = replayed(pion, tmp_path, run)
    assert abs(report("5.1", answer, run) - 1) < NEAR
    after = [n for n, at in enumerate(run.times) if 62 <= at < 63]
    assert max(run.targets[n] for n in after) < 0.7e6
    assert max(value_at(answer, run.times[n]) for n in after) < 0.7e6


def test_the_targets_of_pion_follow_ours_among_three_flows(pion: Path, tmp_path: Path) -> None:
    """RFC 8867 §5.4: the first of three flows over 3.5 Mbit/s."""
    run = ours("5.4-same-scheme", tmp_path)
    assert abs(report("5.4", replayed(pion, tmp_path, run), run) - 1) < NEAR


PHASES = ((0.0, 1e6), (40.0, 2.5e6), (60.0, 0.6e6), (80.0, 1e6), (100.0, 0.0))
"""RFC 8867 §5.1: capacity in bit/s from each time in seconds; the last is the end."""


def phases(packets: list[tuple[float, float]]) -> list[tuple[float, float, float]]:
    """Goodput in bit/s, mean queueing delay in s and loss ratio of the packets that left in each phase."""
    found = []
    for (begin, rate), (end, _) in pairwise(PHASES):
        sent = [(left, arrived) for left, arrived in packets if begin <= left < end]
        there = [(left, arrived) for left, arrived in sent if not math.isnan(arrived)]
        min_delay = DELAY + PACKET * 8 / rate
        waits = [max(0.0, arrived - left - min_delay) for left, arrived in there]
        goodput = len(there) * PACKET * 8 / (end - begin)
        found.append((goodput, sum(waits) / len(waits), 1 - len(there) / len(sent)))
    return found


def test_both_reach_the_same_rates_in_closed_loops(pion: Path, tmp_path: Path) -> None:
    """RFC 8867 §5.1, each alone over its own bottleneck with a queue of 300 ms at 1 Mbit/s."""
    words = ",".join(f"{at:.0f}:{rate:.0f}" for at, rate in PHASES[:-1])
    theirs = phases(ask(pion, tmp_path, 100.0, PHASES=words, BUFFER=37_500).packets)
    own = phases(ours("5.1-variable-capacity", tmp_path).packets)
    alike = phases(ours("5.1-variable-capacity", tmp_path, ", average_smoothing = 0.05").packets)
    for (begin, rate), them, us, same in zip(PHASES, theirs, own, alike, strict=False):
        print(f"from {begin} s, {rate / 1e6} Mbit/s: pion {them}, ours {us}, with pion's weight {same}")
        assert abs(them[0] / same[0] - 1) < NEAR, begin
        assert abs(them[0] / us[0] - 1) < NEAR or begin == 80.0, begin
