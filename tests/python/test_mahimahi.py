"""Links that follow a file of mahimahi, against the rule of its `mm-link`, packet by packet.

The rule is written again here, as `LinkQueue` of mahimahi has it in `src/packet/link_queue.cc`: `rationalize` before every
arrival, an opportunity for each line, packets in transit over several opportunities, wrap-around by the last line. It works
event by event and without any of the product's code. Its input are the packets at the end of the link before, its output
are those at the end of the traced link.
"""

from __future__ import annotations

import random
import struct
from collections import deque
from pathlib import Path

import pytest

import thalweg as tw
from thalweg import _native

Packets = list[tuple[int, int]]
"""Time in ns and size in bytes of each packet."""


class LinkQueue:
    """The queue of `mm-link` with a drop-tail limit in packets."""

    def __init__(self, schedule: list[int], limit: int, opportunity: int) -> None:
        self.schedule, self.limit, self.opportunity = schedule, limit, opportunity
        self.next, self.base = 0, 0
        self.queue: deque[int] = deque()
        self.in_transit, self.left = 0, 0
        self.delivered: list[tuple[int, int]] = []

    def rationalize(self, now: int) -> None:
        """Uses all opportunities up to `now`, in ms."""
        while self.schedule[self.next] + self.base <= now:
            at = self.schedule[self.next] + self.base
            self.next += 1
            if self.next == len(self.schedule):
                self.next, self.base = 0, self.base + self.schedule[-1]
            room = self.opportunity
            while room > 0:
                if self.left == 0:
                    if not self.queue:
                        break
                    self.in_transit = self.left = self.queue.popleft()
                sent = min(room, self.left)
                self.left -= sent
                room -= sent
                if self.left == 0:
                    self.delivered.append((at, self.in_transit))

    def read_packet(self, now: int, size: int) -> None:
        """Takes a packet, or drops it if the queue is full."""
        self.rationalize(now)
        if len(self.queue) < self.limit:
            self.queue.append(size)


def oracle(schedule: list[int], arrivals: Packets, limit: int, end_ms: int, tun: int = 0) -> Packets:
    """When packets leave, in ns. `tun` bytes of a TUN device are counted with each packet and opportunity."""
    queue = LinkQueue(schedule, limit, 1500 + tun)
    for at_ns, size in arrivals:
        # mahimahi's clock has whole milliseconds
        queue.read_packet(at_ns // 1_000_000, size + tun)
    queue.rationalize(end_ms)
    return [(at * 1_000_000, size - tun) for at, size in queue.delivered]


def captured(path: Path) -> dict[str, Packets]:
    """The packets of each interface of a pcapng file: time in ns and length on the wire."""
    data, at = path.read_bytes(), 0
    names: list[str] = []
    packets: dict[str, Packets] = {}
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 1:
            option, names_ns = at + 16, False
            name = ""
            while option < at + length - 4:
                code, size = struct.unpack_from("<HH", data, option)
                value = data[option + 4 : option + 4 + size]
                if code == 2:
                    name = value.decode()
                if code == 9:
                    names_ns = value == b"\x09"
                if code == 0:
                    break
                option += 4 + (size + 3) // 4 * 4
            assert names_ns, "time stamps are in nanoseconds"
            names.append(name)
            packets.setdefault(name, [])
        elif kind == 6:
            interface, high, low, _, original = struct.unpack_from("<IIIII", data, at + 8)
            packets[names[interface]].append((high << 32 | low, original))
        at += length
    return packets


def model(name: str, seed: int, lines: int) -> list[int]:
    text = _native.model_trace(name, seed, True)
    assert text is not None
    return [int(line) for line in text.split()[:lines]]


def drawn(seed: int, count: int, gap_ms: int) -> list[int]:
    """Opportunities at random times, often several in one millisecond."""
    draw = random.Random(seed)
    return sorted(draw.randrange(1, count * gap_ms) for _ in range(count))


TRACES: dict[str, tuple[list[int], int]] = {
    "one per millisecond": ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 100_000),
    "one line": ([7], 100_000),
    "several at one time": ([2, 2, 2, 5, 9, 9, 30], 100_000),
    "at zero": ([0, 0, 4, 11], 100_000),
    "long gaps": ([3, 120, 121, 122, 400], 100_000),
    "bursts": (drawn(1, 400, 3), 100_000),
    "a short queue": (drawn(2, 300, 4), 7),
    "lte_driving": (model("lte_driving", 1, 3000), 100_000),
    "lte_train": (model("lte_train", 2, 1500), 50),
    "wifi_crowded": (model("wifi_crowded", 3, 2500), 100_000),
}
"""Ten traces, each with a limit of the queue in packets. All but the models are passed many times in a run."""

SOURCES = (
    (1500, "6 Mbit/s"),
    (40, "100 kbit/s"),
    (577, "900 kbit/s"),
    (1200, "1 Mbit/s"),
    (4000, "500 kbit/s"),
)
"""Sizes and rates of packets that arrive at random: full and small ones, and one that needs three opportunities."""


def run(
    folder: Path, schedule: list[int], limit: int, sources: tuple[tuple[int, str], ...]
) -> tuple[Packets, Packets]:
    """The packets that arrive at the traced link, and those that leave it."""
    (folder / "link.up").write_text("".join(f"{at}\n" for at in schedule))
    flows = "".join(
        f'[[flows]]\nname = "f{size}"\nfrom = "a"\nto = "c"\npacket = "{size} B"\n'
        f'source = {{ kind = "poisson", rate = "{rate}" }}\n'
        for size, rate in sources
    )
    (folder / "scenario.toml").write_text(f"""
duration = "4 s"
[topology]
kind = "custom"
links = [
  {{ name = "before", ends = ["a", "b"], rate = "10 Gbit/s", delay = "0 ms", buffer = "100000 packets" }},
  {{ name = "traced", ends = ["b", "c"], trace = "link.up", delay = "0 ms", buffer = "{limit} packets" }},
]
{flows}""")
    out = folder / "out"
    tw.load(folder / "scenario.toml").plan().run(out=out, capture=("before", "traced"))
    found = captured(out / "capture.pcapng")
    into = next(packets for name, packets in found.items() if "before" in name and packets)
    return into, next(packets for name, packets in found.items() if "traced" in name and packets)


@pytest.mark.parametrize("name", TRACES)
def test_every_packet_leaves_when_mm_link_lets_it(name: str, tmp_path: Path) -> None:
    schedule, limit = TRACES[name]
    arrivals, departures = run(tmp_path, schedule, limit, SOURCES)
    assert len(arrivals) > 2000
    expected = oracle(schedule, arrivals, limit, 4000)
    # packets that leave at the end of the run are not captured
    expected = [packet for packet in expected if packet[0] < 4_000_000_000]
    assert len(expected) > 5
    assert departures[: len(expected)] == expected
    assert all(at >= 4_000_000_000 for at, _ in departures[len(expected) :])


def test_full_packets_leave_at_equal_times_with_the_bytes_of_the_tun_device(tmp_path: Path) -> None:
    schedule, limit = TRACES["bursts"]
    arrivals, departures = run(tmp_path, schedule, limit, ((1500, "8 Mbit/s"),))
    expected = oracle(schedule, arrivals, limit, 3999, tun=4)
    assert departures[: len(expected)] == expected
    assert len(expected) > 500
