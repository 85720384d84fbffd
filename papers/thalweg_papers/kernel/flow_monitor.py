"""Four scenarios beside FlowMonitor of ns-3: the same datagrams at the same times over the same links, column by column.

    python -m thalweg_papers.kernel.flow_monitor [record]

A run is recorded packet by packet. ns-3 sends the datagrams of the record at the same nanoseconds, and loses those that the
record says were lost at random. The columns of the table `flows` are then compared with what FlowMonitor counts.
What it counted is in `flow_monitor.json`, with a digest of the datagrams; `record` runs ns-3 again.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import thalweg as tw
from thalweg.quantities import base_value
from thalweg.verification import Record
from thalweg.verification.rerun import record_run

from . import ns3

SOURCE = Path(__file__).with_name("ns3_flow_monitor.cc")
RECORDED = Path(__file__).with_name("flow_monitor.json")
MODULES = ("flow-monitor", "point-to-point", "internet", "traffic-control", "network", "core")

LINK_HEADER_B = 2
"""Bytes of a point-to-point frame that FlowMonitor does not count."""

DRAIN_S = 20.0
"""Time after the last datagram in which those in the network arrive."""

LATER_NS = 1_000_000_000
"""Time by which ns-3 is later: what it sends at time 0 precedes the start of FlowMonitor."""

LINKS: dict[str, list[dict[str, Any]]] = {
    "constant": [
        {"rate": "100 Mbit/s", "delay": "1 ms", "buffer": "1000 packets"},
        {"rate": "10 Mbit/s", "delay": "10 ms", "buffer": "50 packets"},
    ],
    "poisson": [{"rate": "10 Mbit/s", "delay": "5 ms", "buffer": "1000 packets"}],
    "two-hops": [
        {"rate": "10 Mbit/s", "delay": "3 ms", "buffer": "40 packets"},
        {"rate": "8 Mbit/s", "delay": "7 ms", "buffer": "30 packets"},
    ],
    "lossy": [{"rate": "10 Mbit/s", "delay": "20 ms", "buffer": "100 packets", "loss": 0.02}],
}
"""The links of each scenario, one after the other."""

FLOWS: dict[str, list[dict[str, Any]]] = {
    "constant": [
        {"from": 0, "to": 2, "packet": "1002 B", "source": {"kind": "constant", "rate": "11.37 Mbit/s"}},
    ],
    "poisson": [{"from": 0, "to": 1, "packet": "1250 B", "source": {"kind": "poisson", "rate": "8 Mbit/s"}}],
    "two-hops": [
        {"from": 0, "to": 2, "packet": "1502 B", "source": {"kind": "poisson", "rate": "6 Mbit/s"}},
        {"from": 0, "to": 1, "packet": "302 B", "source": {"kind": "poisson", "rate": "3 Mbit/s"}},
        {"from": 1, "to": 2, "packet": "702 B", "source": {"kind": "poisson", "rate": "3 Mbit/s"}},
    ],
    "lossy": [{"from": 0, "to": 1, "packet": "802 B", "source": {"kind": "poisson", "rate": "5 Mbit/s"}}],
}
"""The sources of each scenario, between nodes by their numbers."""

SENDING_S = 60.0
"""Time in which sources send."""


def scenario(name: str) -> tw.Scenario:
    """One of the scenarios."""
    links = [
        {"name": f"link{place}", "ends": [f"n{place}", f"n{place + 1}"], **link}
        for place, link in enumerate(LINKS[name])
    ]
    flows = [
        {
            **flow,
            "name": f"flow{place}",
            "from": f"n{flow['from']}",
            "to": f"n{flow['to']}",
            "stop": f"{SENDING_S} s",
        }
        for place, flow in enumerate(FLOWS[name])
    ]
    return tw.Scenario.from_tree(
        {
            "title": f"FlowMonitor: {name}",
            "duration": f"{SENDING_S + DRAIN_S} s",
            "topology": {"kind": "custom", "links": links},
            "flows": flows,
        }
    )


def build(folder: Path) -> Path:
    """Compiles the program against the installed ns-3. Raises `ns3.Ns3Error`."""
    return ns3.compiled(SOURCE, MODULES, folder / "flow-monitor")


class Traffic(NamedTuple):
    """What ns-3 is to send and to lose, as its program reads it."""

    sends: str
    """A line for each datagram: nanoseconds, flow, bytes."""
    losses: str
    """A line for each random loss: the link, and its place among the packets that left."""

    def digest(self) -> str:
        """SHA-256 of both."""
        return hashlib.sha256(f"{self.sends}\n\n{self.losses}".encode()).hexdigest()


def ran(name: str) -> tuple[tw.Result, Traffic]:
    """Runs a scenario; returns its result and its datagrams."""
    with tempfile.TemporaryDirectory(prefix="thalweg-ns3-") as work:
        plan = scenario(name).plan()
        result = record_run(plan, Path(work))
        return result, _traffic(Record.load(Path(work), plan.tree))


def compare(result: tw.Result, counted: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The columns of each flow of a scenario: `flow`, `column`, `ours`, `ns3`. FlowMonitor `counted` the last."""
    theirs = {flow["flow"]: flow for flow in counted}
    return [
        {"flow": flow["flow"], "column": column, "ours": ours, "ns3": other}
        for number, flow in enumerate(result.flows.rows(named=True))
        for column, (ours, other) in _columns(flow, theirs[number], result).items()
    ]


def recorded() -> dict[str, dict[str, Any]]:
    """For each scenario the digest of its datagrams, `traffic`, and what FlowMonitor counted of each of its `flows`."""
    scenarios: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))["scenarios"]
    return scenarios


def record() -> None:
    """Runs the scenarios in ns-3 and writes what FlowMonitor counts. Raises `ns3.Ns3Error`."""
    with tempfile.TemporaryDirectory(prefix="thalweg-ns3-") as folder:
        program = build(Path(folder))
        rows = {}
        for name in LINKS:
            traffic = ran(name)[1]
            rows[name] = {"traffic": traffic.digest(), "flows": _in_ns3(name, program, traffic)}
    written = json.dumps({"ns3": ns3.version(), "scenarios": rows}, indent=1)
    RECORDED.write_text(written + "\n", encoding="utf-8")


def _traffic(record: Record) -> Traffic:
    """The datagrams of a record."""
    sent = record.sent.sort("created_ns", "packet").select("created_ns", "flow", "size_bytes")
    sends = "\n".join(f"{at + LATER_NS} {flow} {size}" for at, flow, size in sent.rows())
    links = record.names["ports"]
    arriving = record.hops.filter(pl.col("departed_ns").is_not_null()).sort("port", "departed_ns")
    arriving = arriving.with_columns(place=pl.int_range(pl.len()).over("port"))
    lost = arriving.filter(pl.col("drop_reason") == "random_loss").select("port", "place").rows()
    losses = "\n".join(f"{links[port]['link'].removeprefix('link')} {place}" for port, place in lost)
    return Traffic(sends, losses)


def _in_ns3(name: str, program: Path, traffic: Traffic) -> list[dict[str, Any]]:
    """What FlowMonitor counts of each flow."""
    described = ";".join(
        f"{base_value(link['rate']):.0f},{1e9 * base_value(link['delay']):.0f},{link['buffer'].split()[0]}"
        for link in LINKS[name]
    )
    with tempfile.TemporaryDirectory(prefix="thalweg-ns3-") as work:
        sends, losses = Path(work) / "sends", Path(work) / "losses"
        sends.write_text(traffic.sends, encoding="utf-8")
        losses.write_text(traffic.losses, encoding="utf-8")
        done = subprocess.run(
            [
                program,
                f"--links={described}",
                "--flows=" + ";".join(f"{flow['from']},{flow['to']}" for flow in FLOWS[name]),
                f"--sends={sends}",
                f"--losses={losses}",
                f"--seconds={LATER_NS / 1e9 + SENDING_S + DRAIN_S}",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    counted: list[dict[str, Any]] = json.loads(done.stdout)
    return counted


def _columns(
    flow: Mapping[str, Any], other: Mapping[str, Any], result: tw.Result
) -> dict[str, tuple[float, float]]:
    """Columns of the table `flows`, and the same of FlowMonitor."""
    span = result["run.measured"] or 1.0
    frames = other["rx_bytes"] + LINK_HEADER_B * other["rx_packets"]
    decided = other["rx_packets"] + other["lost_packets"]
    return {
        "sent_packets": (flow["sent_packets"], other["tx_packets"]),
        "sent_bytes": (flow["sent_bytes"], other["tx_bytes"] + LINK_HEADER_B * other["tx_packets"]),
        "arrived_packets": (flow["arrived_packets"], other["rx_packets"]),
        "throughput_bps": (flow["throughput_bps"], 8 * frames / span),
        "drops": (flow["drops"], other["lost_packets"]),
        "loss_ratio": (flow["loss_ratio"], other["lost_packets"] / decided),
        "owd_s": (flow["owd_s"], other["delay_ns"] / other["rx_packets"] / 1e9),
    }


def main(arguments: Sequence[str]) -> None:
    """Prints the columns of the four scenarios."""
    if arguments:
        if list(arguments) != ["record"]:
            sys.exit(__doc__)
        try:
            record()
        except ns3.Ns3Error as error:
            sys.exit(str(error))
    print("| scenario | flow | column | Thalweg | FlowMonitor | difference |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, counted in recorded().items():
        result, traffic = ran(name)
        if traffic.digest() != counted["traffic"]:
            sys.exit(f"{name}: the datagrams are not those of {RECORDED.name}; `record` runs ns-3 with them")
        for row in compare(result, counted["flows"]):
            difference = row["ours"] - row["ns3"]
            print(
                f"| {name} | {row['flow']} | `{row['column']}` | {row['ours']:.12g} | {row['ns3']:.12g} "
                f"| {difference:.3g} |"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
