"""The comparison with a Linux kernel: the settings of its cells in both worlds, its bands, and one cell in the guest."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from thalweg import Scenario
from thalweg_papers import _runner
from thalweg_papers._base import Samples, Scale
from thalweg_papers.kernel import STUDY, experiments, figures, flow_monitor, guest, links, ns3, scenarios
from thalweg_papers.kernel.keys import Key

VERIFICATION = Path(__file__).resolve().parents[2] / "docs/concepts/verification.md"


def test_cells_are_those_whose_queue_and_tcp_the_catalogue_has():
    queues, tcps = scenarios.known()
    assert {"fifo", "codel", "red"} <= set(queues) <= set(scenarios.QUEUES)
    assert {"reno", "cubic", "bic", "bbr", "tcp_lp"} <= set(tcps) <= set(scenarios.TCPS)
    endless = [cell for cell in scenarios.grid() if scenarios.parts(cell)[2].load == "endless"]
    assert len(endless) == len(queues) * len(tcps) * 3
    assert len(scenarios.grid()) - len(endless) == 60


@pytest.mark.parametrize("load", scenarios.LOADS)
def test_applications_that_pause_are_the_same_in_both_worlds(load):
    variant = f"fq_codel bbr 20-20-{load}"
    tree, cell = scenarios.tree(variant, 2, Scale()), scenarios.cell(variant, 2, Scale())
    Scenario.from_tree(tree).plan(2)
    assert cell["load"] == load
    assert cell["starts_s"] == [flow["start_s"] for flow in cell["flows"]]
    for ours, theirs in zip(tree["flows"], cell["flows"], strict=True):
        assert ours["start"] == f"{1e6 * theirs['start_s']:.0f} us"
        assert ours.get("size") == (None if theirs["size_b"] is None else f"{theirs['size_b']} B")
        assert ours.get("rate") == (None if theirs["rate_bps"] is None else "8000000 bit/s")
        assert ours.get("app", {}).get("size") == (
            None if theirs["answer_b"] is None else f"{theirs['answer_b']} B"
        )


def test_short_transfers_take_half_of_the_link():
    # the mean of sizes that are uniform on a logarithmic scale: (500 − 15) kB / ln(500 / 15) = 138.3 kB
    runs = [scenarios.flows("fifo reno 20-20-short", seed) for seed in range(1, 41)]
    sizes = [flow.size_b for run in runs for flow in run]
    assert min(sizes) >= 15_000
    assert max(sizes) <= 500_000
    assert sum(sizes) / len(sizes) == pytest.approx(138_300, rel=0.02)
    assert 8 * sum(sizes) / len(runs) / scenarios.SHORT_UNTIL_S == pytest.approx(10e6, rel=0.03)


def test_transfers_without_an_end_took_until_the_end_of_the_cell():
    variant = "fifo reno 10-40-short"
    starts = scenarios.starts(variant, 1)
    late = [start for start in starts if start >= 10]
    ends = [start + 0.25 for start in starts]
    assert experiments.transfer_time_s(ends, variant, 1, Scale()) == pytest.approx(0.25)
    expected = sum(60 - start for start in late) / len(late)
    assert experiments.transfer_time_s([None] * len(starts), variant, 1, Scale()) == pytest.approx(expected)


def test_times_and_the_slower_flow_have_bands():
    names = figures.compared("fifo reno 10-40-requests")
    assert names == ("goodput", "queueing", "drops", "marks", "time")
    theirs = cell(time_s=0.1)
    assert figures.agreed(theirs, cell(time_s=0.1149), names)["time"]
    assert not figures.agreed(theirs, cell(time_s=0.1151), names)["time"]
    names = figures.compared("fifo reno 10-40-limited")
    theirs = cell(lowest_bps=4e6)
    assert figures.agreed(theirs, cell(lowest_bps=3.81e6), names)["slower"]
    assert not figures.agreed(theirs, cell(lowest_bps=3.79e6), names)["slower"]
    assert figures.compared("fifo reno 10-40-short")[-1] == "time"
    assert figures.compared("fifo reno 10-40") == figures.QUANTITIES


@pytest.mark.parametrize("queue", scenarios.known()[0])
def test_every_cell_is_a_scenario_with_the_settings_of_the_guest(queue):
    for network in scenarios.NETWORKS:
        variant = f"{queue} cubic {network}"
        tree, cell = scenarios.tree(variant, 2, Scale()), scenarios.cell(variant, 2, Scale())
        Scenario.from_tree(tree).plan(2)
        assert [flow["start"] for flow in tree["flows"]] == [f"{1e6 * at:.0f} us" for at in cell["starts_s"]]
        assert tree["flows"][0]["tcp"]["ecn"] == bool(cell["sysctl"]["net.ipv4.tcp_ecn"])
        assert not any("{" in word for word in cell["queue"])
        bottleneck = next(link for link in tree["topology"]["links"] if link["name"] == "bottleneck")
        assert "{" not in str(bottleneck["queue"]).removeprefix("{")


def test_parameters_can_name_the_numbers_of_a_network():
    tree = scenarios.tree("fq cubic 20-20", 1, Scale())
    bottleneck = next(link for link in tree["topology"]["links"] if link["name"] == "bottleneck")
    assert bottleneck["queue"] == {"kind": "fq", "flow_limit": 33}
    assert scenarios.cell("fq cubic 20-20", 1, Scale())["queue"] == [
        "fq",
        "limit",
        "33",
        "flow_limit",
        "33",
        "nopacing",
    ]


def test_the_round_trip_time_of_a_full_packet_is_that_of_the_guest():
    # 1514 B at 10 Mbit/s take 1.2112 ms, and there are 40 ms in all
    network = scenarios.NETWORKS["10-40"]
    assert network.transmission_s == pytest.approx(0.0012112)
    assert 2 * network.one_way_s + network.transmission_s == pytest.approx(0.040)
    assert scenarios.cell("fifo cubic 10-40", 1, Scale())["delay_us"] == 40_000


def test_the_weight_of_red_is_that_of_tc():
    # 20 + 1 − 10 = 11; (1 − (1 − w)^20) / w is 7.45 for w = 1/8 and 11.6 for w = 1/16
    assert scenarios.red_log(10, 20) == 4
    assert scenarios.QUEUES["red"].ours["weight"] == 1 / 16


def cell(**values: float) -> dict[str, float]:
    """The means of a cell."""
    return {"goodput_bps": 10e6, "queueing_s": 0.020, "drops": 100.0, "marks": 0.0, **values}


@pytest.mark.parametrize(
    ("ours", "differs"),
    [
        ({}, ()),
        ({"goodput_bps": 9.51e6, "queueing_s": 0.0229, "drops": 119.0}, ()),
        ({"goodput_bps": 9.49e6}, ("goodput",)),
        ({"queueing_s": 0.0231}, ("queueing",)),
        ({"drops": 79.0}, ("drops",)),
        ({"marks": 1.0}, ("marks",)),
    ],
)
def test_a_cell_agrees_within_the_bands(ours, differs):
    found = figures.agreed(cell(), cell(**ours))
    assert tuple(name for name, agrees in found.items() if not agrees) == differs


def test_a_short_delay_agrees_within_2_ms():
    assert figures.agreed(cell(queueing_s=0.001), cell(queueing_s=0.0029))["queueing"]
    assert not figures.agreed(cell(queueing_s=0.001), cell(queueing_s=0.0031))["queueing"]


def test_disagreements_are_listed_first():
    first, second = "fifo reno 10-40", "fifo cubic 10-40"
    samples = Samples(
        {
            (Key.KERNEL, first): [cell(), cell(drops=120.0)],
            (Key.SIMULATED, first): [cell()] * 2,
            (Key.KERNEL, second): [cell()] * 2,
            (Key.SIMULATED, second): [cell(drops=50.0)] * 2,
            (Key.NS3, second): [cell(goodput_bps=9e6)] * 2,
        }
    )
    rows = figures.rows(samples)
    assert [row["tcp"] for row in rows] == ["cubic", "reno"]
    assert [row["ours_differs"] for row in rows] == ["drops", "–"]
    assert [row["ns3_differs"] for row in rows] == ["goodput", "not run"]
    assert rows[1]["drops_kernel"] == "110 (100 to 120)"
    assert rows[1]["drops_ns3"] == "–"
    *_, total = figures.summary(samples, Scale()).rows()
    assert (total["cells"], total["agree"], total["ns3_cells"], total["ns3_agree"]) == (2, 1, 1, 0)


def test_a_recorded_cell_needs_neither_a_guest_nor_ns3(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert experiments.in_kernel("fifo cubic 20-20", 1, Scale())["drops"] == 35
    assert experiments.in_ns3("fifo cubic 20-20", 1, Scale())["drops"] > 0


@pytest.mark.parametrize("key", list(Key))
def test_recorded_cells_have_all_seeds(key):
    variants = experiments.EXPERIMENTS[key].variants
    assert len([one for one in variants if one.split()[2] in scenarios.NETWORKS]) >= 190 - 15 * (
        key is Key.NS3
    )
    assert len([one for one in variants if one.split()[2] in scenarios.LOADED]) == 60 * (key is not Key.NS3)
    assert set(variants) <= set(scenarios.grid())


@pytest.mark.skipif(shutil.which("g++") is None or not ns3.installed(), reason="ns-3 is not installed")
def test_a_cell_in_ns3_can_be_repeated_and_is_the_recorded_one(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, again = (ns3.run("fifo reno 20-20", 1, Scale()) for _ in range(2))
    assert first == again
    if ns3.version() == experiments.recorded(ns3.RECORDED)["ns3"]:
        assert first == experiments.in_ns3("fifo reno 20-20", 1, Scale())


def test_counters_of_the_warm_up_do_not_count():
    counters = [{"drops": 7, "ecn_mark": 1}, {"drops": 30, "ecn_mark": 5}]
    assert experiments.events(counters, experiments.DROPS) == 23
    assert experiments.events(counters, experiments.MARKS) == 4


def test_without_a_guest_the_message_says_how_to_build_one(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(guest.GuestError, match=r"kernel\.guest build"):
        guest.run(scenarios.cell("fifo reno 20-20", 1, Scale()))


def test_the_changes_of_the_kernel_refuse_another_source(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(guest.shutil, "which", lambda _name: "/bin/true")
    tree = guest.cache() / "source"
    (tree / "arch" / "um").mkdir(parents=True)
    (tree / "Makefile").touch()
    (tree / "arch" / "um" / "Kconfig").write_text("config HZ\n\tint\n\tdefault 250\n")
    with pytest.raises(guest.GuestError, match=r"Kconfig is not that of Linux 6\.1"):
        guest.build()


@pytest.mark.skipif(guest.missing() is not None, reason=str(guest.missing()))
def test_a_cell_in_the_guest_can_be_repeated_and_fills_the_link():
    cell = scenarios.cell("fifo reno 20-20", 1, Scale(0.1))
    first, again = guest.run(cell, 1), guest.run(cell, 1)
    assert first == again
    assert 0.8 * 20e6 < sum(first["goodputs_bps"]) < 20e6
    # 33 packets of 1514 B at 20 Mbit/s
    assert 0 <= first["flows"][0]["p50_s"] <= 0.0206


def test_the_study_has_all_worlds():
    assert set(STUDY.experiments()) == set(Key)
    assert [spec.id for spec in STUDY.figure_specs()] == [
        "summary",
        "scatter",
        "cells",
        "loads",
        "loaded-cells",
    ]
    assert _runner.source_code_of(experiments.simulated)


@pytest.mark.parametrize("cell", links.CELLS, ids=[cell.name for cell in links.CELLS])
def test_a_link_does_what_the_kernel_was_measured_to_do(cell: links.Cell) -> None:
    for seed, theirs in zip(links.SEEDS, links.recorded()[cell.name], strict=False):
        assert links.differences(cell, links.simulated(cell, seed), theirs) == []


def test_a_different_link_is_distinguished_from_that_of_the_kernel() -> None:
    cell = next(cell for cell in links.CELLS if cell.name == "police")
    wider = replace(cell, link={"policer": {"rate": "3.9 Mbit/s", "burst": "15100 B"}})
    (theirs,) = links.recorded()[cell.name]
    assert links.differences(cell, links.simulated(wider, 1), theirs) != []


@pytest.mark.parametrize("name", flow_monitor.LINKS)
def test_columns_of_flows_are_those_that_flow_monitor_of_ns3_counted(name):
    result, traffic = flow_monitor.ran(name)
    counted = flow_monitor.recorded()[name]
    # if this fails, the datagrams are others: `python -m thalweg_papers.kernel.flow_monitor record`
    assert traffic.digest() == counted["traffic"]
    rows = flow_monitor.compare(result, counted["flows"])
    assert len(rows) == 7 * len(flow_monitor.FLOWS[name])
    for row in rows:
        # a packet that comes to a full queue as another leaves it: the programs drop different packets, though as many
        tie = name == "constant" and row["column"] == "owd_s"
        assert row["ours"] == pytest.approx(row["ns3"], rel=2e-5 if tie else 1e-12), row


def test_the_documented_counts_of_flow_monitor_are_those_that_are_stored():
    text = VERIFICATION.read_text(encoding="utf-8")
    table = text[text.index("## FlowMonitor of ns-3 beside it") :]
    first = {"constant": "constant", "poisson": "Poisson", "two-hops": "two hops", "lossy": "random loss"}
    for name, counted in flow_monitor.recorded().items():
        (line,) = (row for row in table.splitlines() if row.startswith(f"| {first[name]}"))
        flows = counted["flows"]
        sent, lost = (sum(flow[key] for flow in flows) for key in ("tx_packets", "lost_packets"))
        written = [
            int(number.replace(" ", ""))
            for number in re.findall(r"(\d+(?: \d+)*) (?:sent|dropped|lost)", line)
        ]
        assert written == ([sent, lost] if lost else [sent]), line
        delays = [f"{flow['delay_ns'] / flow['rx_packets'] / 1e6:.6f}" for flow in flows]
        ours, theirs = line.split("|")[4:6]
        if "the same" not in theirs:
            assert re.findall(r"\d+\.\d+", theirs) == delays, line
        # in the first scenario the programs drop different packets at ties
        for own, other in zip(re.findall(r"\d+\.\d+", ours), delays, strict=True):
            assert float(own) == pytest.approx(float(other), rel=2e-5 if name == "constant" else 1e-12), line
