"""Links against the kernel: policer, shaper and impairments, cell by cell, beside `police`, `tbf` and `netem` of Linux.

    python -m thalweg_papers.kernel.links            # compares with what the kernel was measured to do
    python -m thalweg_papers.kernel.links measure    # runs the guest (`guest build` first) and writes links.json

A source sends a datagram at constant intervals through one link, in the guest and in the simulator. Bands were written
before the first measurement:

- policer and shaper: at most 0.5 % of the datagrams differ in whether they pass, and for 99 % of them the shaper's times
  by at most 50 µs;
- shares of random effects: three standard deviations of the difference of two draws;
- mean, minimum and maximum delay: 2 % or 0.1 ms, where the link varies the delay. (The first bands had the standard
  deviation in place of minimum and maximum; the tables of the simulator do not have it.)
"""

from __future__ import annotations

import json
import math
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import thalweg as tw

RECORDED = Path(__file__).with_name("links.json")
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Cell:
    """A link in both forms, and the datagrams through it."""

    name: str
    commands: tuple[str, ...]
    """The arguments of `tc`, for the device `r1`."""
    link: dict[str, Any]
    """The keys of the link in the simulator."""
    packet: int = 1000
    """Bytes with all headers."""
    packets: int = 4000
    every_us: int = 1000
    exact: bool = False
    """Nothing is random: the datagrams that pass are compared one by one."""
    correlation: float = 0.0
    """Of the losses of datagrams that follow each other."""


def _police(rate: str, burst: int) -> tuple[str, ...]:
    action = f"police rate {rate} burst {burst} conform-exceed drop"
    return ("qdisc add dev r1 clsact", f"filter add dev r1 egress matchall action {action}")


def _root(words: str) -> tuple[str, ...]:
    return (f"qdisc add dev r1 root {words}",)


def _bucket(rate: str, burst: int) -> dict[str, str]:
    return {"rate": rate, "burst": f"{burst} B"}


CELLS = (
    Cell("police", _police("3.77mbit", 15_100), {"policer": _bucket("3.77 Mbit/s", 15_100)}, exact=True),
    Cell(
        "police, short burst",
        _police("6.13mbit", 3001),
        {"policer": _bucket("6.13 Mbit/s", 3001)},
        packet=1400,
        exact=True,
    ),
    Cell(
        "tbf",
        _root("tbf rate 3.77mbit burst 5100 limit 20000"),
        {"shaper": _bucket("3.77 Mbit/s", 5100), "buffer": "20000 B"},
        exact=True,
    ),
    Cell(
        "tbf, long burst",
        _root("tbf rate 2.31mbit burst 30100 limit 60000"),
        {"shaper": _bucket("2.31 Mbit/s", 30_100), "buffer": "60000 B"},
        packet=1400,
        every_us=3000,
        exact=True,
    ),
    Cell("corrupt", _root("netem corrupt 5% limit 10000"), {"impair": {"corrupt": 0.05}}),
    Cell("loss", _root("netem loss 3% limit 10000"), {"loss": 0.03}),
    # in the bad state for 4 datagrams on average, 7.4 % of the time
    Cell(
        "gemodel",
        _root("netem loss gemodel 2% 25% limit 10000"),
        {"impair": {"bursts": {"to_bad": 0.02, "to_good": 0.25}}},
        correlation=1 - 0.02 - 0.25,
    ),
    Cell("duplicate", _root("netem duplicate 10% limit 10000"), {"impair": {"duplicate": 0.1}}),
    Cell(
        "jitter", _root("netem delay 20ms 5ms limit 10000"), {"delay": "20 ms", "impair": {"jitter": "5 ms"}}
    ),
    Cell(
        "reorder",
        _root("netem delay 20ms reorder 20% gap 5 limit 10000"),
        {"delay": "20 ms", "impair": {"reorder": 0.2, "gap": 5}},
    ),
)


def simulated(cell: Cell, seed: int) -> dict[str, Any]:
    """The simulation of the datagrams."""
    wire = {"rate": "100 Gbit/s", "delay": "0 ms", "buffer": "100000 packets"}
    link = tw.Link(name="wire", ends=["a", "b"], **{**wire, **cell.link}, backward={"impair": {}})
    source = {"kind": "constant", "rate": f"{cell.packet * 8_000_000 // cell.every_us} bit/s"}
    scenario = tw.Scenario(
        topology=tw.Custom(links=[link]),
        flows=[
            tw.Flow(name="sent", from_="a", to="b", source=source, packet=f"{cell.packet} B", stop=_end(cell))
        ],
        duration=f"{cell.packets * cell.every_us // 1000 + 2000} ms",
    )
    with tempfile.TemporaryDirectory() as folder:
        result = scenario.plan(seed).run(out=folder, capture=("wire",))
        times = _times(Path(folder) / "capture.pcapng")
    row = result.receivers.row(0, named=True)
    return _summary(cell, times, [row["owd_s"], row["owd_min_s"], row["owd_max_s"]])


def _end(cell: Cell) -> str:
    """The last datagram is sent half an interval before."""
    return f"{(2 * cell.packets - 1) * cell.every_us // 2} us"


def _times(path: Path) -> list[int]:
    """The times in ns of the packets of a capture."""
    data, at, times = path.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low = struct.unpack_from("<II", data, at + 12)
            times.append(high << 32 | low)
        at += length
    return times


def measured(cell: Cell, seed: int) -> dict[str, Any]:
    """The measurement of the datagrams in the kernel."""
    from . import guest

    order = {
        "packet": cell.packet,
        "packets": cell.packets,
        "every_us": cell.every_us,
        "commands": [command.split() for command in cell.commands],
    }
    found = guest.run(order, seed, "inside_links.py")
    arrived = found["arrived"]
    delays = [delay / 1e9 for _, delay, _ in arrived]
    return _summary(cell, [at for *_, at in arrived], [sum(delays) / len(delays), min(delays), max(delays)])


def _summary(cell: Cell, times: list[int], delays_s: list[float]) -> dict[str, Any]:
    summary = {"arrived": len(times), "delays_s": delays_s}
    # each time is counted from that of the first datagram, which nothing delays
    return {**summary, "times_us": [round((at - times[0]) / 1000) for at in times]} if cell.exact else summary


def differences(cell: Cell, ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """The bands that a cell misses."""
    missed = []
    if cell.exact:
        apart = abs(ours["arrived"] - theirs["arrived"])
        if "policer" in cell.link:
            passed = [{round(at / cell.every_us) for at in one["times_us"]} for one in (ours, theirs)]
            apart = max(apart, len(passed[0] ^ passed[1]))
        if apart > 0.005 * cell.packets:
            missed.append(f"{apart} datagrams differ")
        if "shaper" in cell.link:
            pairs = zip(ours["times_us"], theirs["times_us"], strict=False)
            late = sorted(abs(one - other) for one, other in pairs)
            if late[len(late) * 99 // 100] > 50:
                missed.append(f"times differ by {late[len(late) * 99 // 100]} us")
        return missed
    n = cell.packets
    share = (ours["arrived"] + theirs["arrived"]) / 2 / n
    odd = abs(share - 1)
    spread = math.sqrt(2 * odd * (1 - odd) / n * (1 + cell.correlation) / (1 - cell.correlation))
    if abs(ours["arrived"] - theirs["arrived"]) / n > 3 * spread:
        missed.append(f"{ours['arrived']} and {theirs['arrived']} datagrams arrive")
    if "delay" in cell.link:
        for one, other in zip(ours["delays_s"], theirs["delays_s"], strict=True):
            if abs(one - other) > max(0.02 * other, 0.0001):
                missed.append(f"delays of {one:.6f} and {other:.6f} s")
    return missed


def recorded() -> dict[str, list[dict[str, Any]]]:
    """Stored measurements of the kernel: a run for each seed, by the name of the cell."""
    found: dict[str, list[dict[str, Any]]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def main(arguments: list[str]) -> int:
    """Measures or compares all cells."""
    if arguments == ["measure"]:
        seeds = {cell.name: SEEDS[:1] if cell.exact else SEEDS for cell in CELLS}
        rows = {cell.name: [measured(cell, seed) for seed in seeds[cell.name]] for cell in CELLS}
        RECORDED.write_text(json.dumps(rows, separators=(",", ":")) + "\n", encoding="utf-8")
    theirs, failed = recorded(), 0
    for cell in CELLS:
        for seed, row in zip(SEEDS, theirs[cell.name], strict=False):
            ours = simulated(cell, seed)
            missed = differences(cell, ours, row)
            failed += bool(missed)
            delays = f"{ours['delays_s'][0] * 1e3:.3f} / {row['delays_s'][0] * 1e3:.3f} ms"
            print(f"{cell.name}: {ours['arrived']} / {row['arrived']}, {delays}", *missed, sep="; ")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
