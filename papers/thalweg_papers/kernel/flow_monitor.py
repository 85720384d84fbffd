"""Four scenarios beside FlowMonitor of ns-3: the same datagrams at the same times over the same links, column by column.

    python -m thalweg_papers.kernel.flow_monitor

A run is recorded packet by packet. ns-3 sends the datagrams of the record at the same nanoseconds, and loses those that the
record says were lost at random. The columns of the table `flows` are then compared with what FlowMonitor counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import thalweg as tw
from thalweg.quantities import base_value
from thalweg.verification import Record
from thalweg.verification.rerun import record_run

from . import ns3

SOURCE = Path(__file__).with_name("ns3_flow_monitor.cc")
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


def compare(name: str, program: Path) -> list[dict[str, Any]]:
    """The columns of each flow of a scenario: `flow`, `column`, `ours`, `ns3`."""
    with tempfile.TemporaryDirectory(prefix="thalweg-ns3-") as work:
        folder = Path(work)
        plan = scenario(name).plan()
        result = record_run(plan, folder)
        record = Record.load(folder, plan.tree)
        theirs = _in_ns3(name, program, record, folder)
    rows = []
    for number, flow in enumerate(result.flows.rows(named=True)):
        for column, (ours, other) in _columns(flow, theirs[number], result).items():
            rows.append({"flow": flow["flow"], "column": column, "ours": ours, "ns3": other})
    return rows


def _in_ns3(name: str, program: Path, record: Record, folder: Path) -> dict[int, Mapping[str, Any]]:
    """What FlowMonitor counts of each flow."""
    sent = record.sent.sort("created_ns", "packet")
    lines = (
        f"{at + LATER_NS} {flow} {size}"
        for at, flow, size in sent.select("created_ns", "flow", "size_bytes").rows()
    )
    (folder / "sends").write_text("\n".join(lines), encoding="utf-8")
    links = record.names["ports"]
    arriving = record.hops.filter(pl.col("departed_ns").is_not_null()).sort("port", "departed_ns")
    arriving = arriving.with_columns(place=pl.int_range(pl.len()).over("port"))
    lost = arriving.filter(pl.col("drop_reason") == "random_loss").select("port", "place").rows()
    lines = (f"{links[port]['link'].removeprefix('link')} {place}" for port, place in lost)
    (folder / "losses").write_text("\n".join(lines), encoding="utf-8")
    described = ";".join(
        f"{base_value(link['rate']):.0f},{1e9 * base_value(link['delay']):.0f},{link['buffer'].split()[0]}"
        for link in LINKS[name]
    )
    done = subprocess.run(
        [
            program,
            f"--links={described}",
            "--flows=" + ";".join(f"{flow['from']},{flow['to']}" for flow in FLOWS[name]),
            f"--sends={folder / 'sends'}",
            f"--losses={folder / 'losses'}",
            f"--seconds={LATER_NS / 1e9 + SENDING_S + DRAIN_S}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return {flow["flow"]: flow for flow in json.loads(done.stdout)}


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


def main() -> None:
    """Prints the columns of the four scenarios."""
    with tempfile.TemporaryDirectory(prefix="thalweg-ns3-") as folder:
        try:
            program = build(Path(folder))
        except ns3.Ns3Error as error:
            sys.exit(str(error))
        print("| scenario | flow | column | Thalweg | FlowMonitor | difference |")
        print("| --- | --- | --- | --- | --- | --- |")
        for name in LINKS:
            for row in compare(name, program):
                difference = row["ours"] - row["ns3"]
                print(
                    f"| {name} | {row['flow']} | `{row['column']}` | {row['ours']:.12g} | {row['ns3']:.12g} "
                    f"| {difference:.3g} |"
                )


if __name__ == "__main__":
    main()
