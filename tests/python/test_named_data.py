"""The comparison of schemes for named data: its networks, what is kept of a run, its figures and tables."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars
import pytest

import thalweg_papers as papers
from thalweg import Scenario
from thalweg.cli import reproduce
from thalweg.plots import COLOURS
from thalweg.report import save_reproduction, write
from thalweg.report.columns import column_heading, with_intervals
from thalweg_papers._base import Samples, Scale
from thalweg_papers.named_data import STUDY, drawing, extracts, figures, scenarios

TREES = {
    "dumbbell": scenarios.dumbbell,
    "parking lot": scenarios.parking_lot,
    "tree": scenarios.tree,
    "settings": scenarios.setting,
}


def test_studies_are_listed_with_the_papers():
    assert STUDY is papers.STUDIES["named-data"]
    assert not set(papers.STUDIES) & set(papers.PAPERS)
    with pytest.raises(KeyError, match="named-data"):
        papers.reproduce("nothing")


def test_every_scheme_for_named_data_is_compared():
    from thalweg import catalogue

    known = {row["name"] for row in catalogue.schemes() if "ndn" in row["families"]}
    compared = {setup.scheme for setup in scenarios.SETUPS.values() if setup.scheme}
    assert compared == known
    assert len(compared) == 21


def test_a_scheme_with_a_controller_has_one():
    assert scenarios.tree("ndnsieve", Scale())["sdn"] == {"app": "ndnsieve"}
    assert [setup for setup in scenarios.SETUPS if "sdn" in scenarios.dumbbell(setup, Scale())] == [
        "ndnsieve"
    ]


@pytest.mark.parametrize("experiment", TREES)
def test_every_scenario_is_accepted(experiment):
    for variant in STUDY.experiments()[experiment].variants:
        Scenario.from_tree(TREES[experiment](variant, Scale())).plan(1)


def delays_ms(tree, first, last):
    """One way along listed links."""
    by_name = {link["name"]: float(link["delay"].split()[0]) for link in tree["topology"]["links"]}
    return sum(by_name[name] for name in (first, *last))


def test_round_trips_of_the_dumbbell_are_those_of_its_list():
    tree = scenarios.dumbbell("aimd", Scale())
    for number, round_trip_ms in enumerate(scenarios.ROUND_TRIPS_MS, start=1):
        assert 2 * delays_ms(tree, f"left{number}", ("bottleneck", f"right{number}")) == round_trip_ms


def test_each_hop_of_the_parking_lot_is_shared_by_four():
    flows = scenarios.parking_lot("aimd", Scale())["flows"]
    assert len(flows) == 2 + 3 * 2
    assert scenarios.LOT_BPS / 4 == 5e6
    assert [flow["name"] for flow in flows[: figures.LONG]] == ["long1", "long2"]


def test_every_node_of_the_tree_has_a_store_and_one_server_has_all():
    tree = scenarios.tree("mircc", Scale())
    nodes = {end for link in tree["topology"]["links"] for end in link["ends"]}
    assert len(nodes) == 1 + 15
    assert tree["ndn"]["store"] == {"policy": "lru", "size": scenarios.STORE}
    assert [producer["node"] for producer in tree["producers"]] == ["server"]
    assert len(tree["flows"]) == 8
    assert len({flow["from"] for flow in tree["flows"]}) == 8


def test_a_scheme_brings_its_parts_and_their_parameters():
    tree = scenarios.setting("his_codel", Scale())
    assert tree["ndn"] == {"link": "his", "link_params": {"queue": "codel"}}
    assert all(flow["params"] == {"queue": "codel"} for flow in tree["flows"])
    assert "strategy" not in scenarios.dumbbell("aimd", Scale())["ndn"]


def test_consumers_without_a_scheme_request_their_share():
    flow = scenarios.dumbbell("constant_90", Scale())["flows"][0]
    # 0.9 · 20 Mbit/s / 4, in Data of 10 000 bits
    assert flow["source"] == {"kind": "constant", "interests": pytest.approx(450.0)}
    assert "scheme" not in flow


def test_a_queue_of_large_data_has_the_same_bytes():
    def buffer(variant):
        return scenarios.setting(variant, Scale())["topology"]["links"][0]["buffer"]

    assert (buffer("aimd_fixed"), buffer("aimd_large")) == ("200 packets", "25 packets")


def test_chance_is_that_of_one_data_packet_and_can_be_left_out():
    assert scenarios.dumbbell("aimd", Scale())["flows"][0]["consumer"] == {"jitter": "0.5 ms"}
    assert scenarios.tree("aimd", Scale())["flows"][0]["consumer"]["jitter"] == "1 ms"
    assert "consumer" not in scenarios.setting("aimd_fixed", Scale())["flows"][0]


# --- what is kept of a run, and said of it ---------------------------------------------------------------------------


def test_losses_are_the_drops_of_queues_and_link_parts():
    result = SimpleNamespace(
        flows=polars.DataFrame(
            {
                "goodput_bps": [1174.0, 2348.0],
                "delay_s": [0.1, None],
                "sent_packets": [60, 40],
                "retransmits": [3, 0],
                "nacks": [2, 0],
                "drops": [1, 2],
            }
        ),
        nodes=polars.DataFrame({"policed": [4, None], "pending_peak": [7, 9]}),
        links=polars.DataFrame({"queue_max_packets": [5, 6]}),
    )
    kept = extracts.consumers(result, "aimd", Scale())
    assert kept["wire_bps"] == pytest.approx([1250.0, 2500.0])
    found = {name: value(kept) for name, value in figures.VALUES.items()}
    assert found == {
        "throughput_mbps": pytest.approx(0.00375),
        # of those that had any Data
        "delay_ms": pytest.approx(100.0),
        # (1 + 2)² / (2 · (1 + 4))
        "jain": pytest.approx(0.9),
        "min_mbps": pytest.approx(0.00125),
        "lost_percent": pytest.approx(7.0),
        "refused_percent": pytest.approx(2.0),
        "again_percent": pytest.approx(3.0),
        "longest_queue": 6.0,
    }


def test_rows_are_means_over_seeds_with_intervals():
    kept = [{"wire_bps": np.array([1e6, bps])} for bps in (1e6, 2e6, 3e6)]
    samples = Samples({("dumbbell", "aimd"): kept})
    value = {"throughput_mbps": figures.VALUES["throughput_mbps"]}
    # the half width of 1, 2, 3 by Student: 4.303 · 1/√3
    assert figures.rows(samples, "dumbbell", {"aimd": "AIMD"}, value) == [
        {
            "scheme": "AIMD",
            "throughput_mbps": 3.0,
            "throughput_mbps_low": 0.515862288,
            "throughput_mbps_high": 5.48413771,
        }
    ]


def test_people_see_a_mean_with_its_interval_in_one_column():
    rows = [
        {"scheme": "AIMD", "delay_ms": 10.25, "delay_ms_low": 10.1266, "delay_ms_high": 10.3734, "n_low": 5.0}
    ]
    shown = with_intervals(rows, lambda value: f"{value:g}")
    assert shown == [{"scheme": "AIMD", "delay_ms": "10.25 ± 0.12", "n_low": 5.0}]
    one = {"x": 1.0, "x_low": None, "x_high": None}
    assert with_intervals([one], lambda value: f"{value:g}") == [{"x": "1"}]
    cut = {"x": 0.98, "x_low": 0.9123, "x_high": 1.0}
    assert with_intervals([cut], lambda value: f"{value:g}") == [{"x": "0.980 [0.912, 1.000]"}]
    assert [column_heading(name) for name in ("lost_percent", "long_mbps", "feedback_per_s")] == [
        "lost (%)",
        "long (Mbit/s)",
        "feedback per s",
    ]


def test_names_of_points_do_not_cover_each_other():
    figure, wide, _ = drawing.sheet(3)
    points = [drawing.Point(f"scheme number {i}", 100 + i, 10.0, None, None, COLOURS[i], i) for i in range(8)]
    drawing.scatter(wide, points, "x", "y", (50, 100, 200), 20.0)
    drawing.name_points(figure, wide, points)
    boxes = [text.get_window_extent() for text in wide.texts]
    assert len(boxes) == 8
    for i, one in enumerate(boxes):
        assert wide.get_window_extent().contains(one.x0, one.y0)
        assert not any(one.overlaps(other) for other in boxes[:i])


# --- windows at a drop-tail queue -----------------------------------------------------------------------------------


def at_a_short_queue(scheme, count, *, named, check="segment"):
    """Use of a link of 10 Mbit/s, 44 ms and 25 packets by this many flows, and their cuts."""
    flows = [{"name": f"f{i}", "scheme": scheme, "from": f"left{i}"} for i in range(1, count + 1)]
    tree = {
        "title": "A short queue",
        "duration": "120 s",
        "warmup": "20 s",
        "topology": {
            "kind": "dumbbell",
            "pairs": count,
            "edge": {"rate": "100 Mbit/s", "delay": "1 ms", "buffer": "1000 packets"},
            "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms", "buffer": "25 packets"},
        },
        "flows": flows,
    }
    for i, flow in enumerate(flows, 1):
        consumer = {"network": "ndn", "prefix": f"/p{i}", "consumer": {"episode_check": check}}
        flow |= consumer if named else {"to": f"right{i}"}
    if named:
        tree["producers"] = [
            {"prefix": f"/p{i}", "node": f"right{i}", "payload": "1424 B", "data": "1500 B"}
            for i in range(1, count + 1)
        ]
    result = Scenario.from_tree(tree).run()
    used = result["link.bottleneck.backward.utilisation" if named else "link.bottleneck.utilisation"]
    return used, result.flows["episodes"].sum()


@pytest.mark.parametrize(
    ("scheme", "count"), [("aimd", 1), ("aimd", 2), ("reno", 1), ("reno", 2), ("cubic", 1)]
)
def test_a_window_scheme_uses_a_link_over_named_data_as_over_tcp(scheme, count):
    # two flows of AIMD use 93.9 % where a late loss of an episode cuts again, 99.3 % with one cut per window
    tcp, _ = at_a_short_queue(scheme, count, named=False)
    used, cuts = at_a_short_queue(scheme, count, named=True)
    older, more_cuts = at_a_short_queue(scheme, count, named=True, check="highest")
    assert used > tcp - 0.005
    assert used > 0.98
    assert older < used
    assert more_cuts > 1.3 * cuts


# --- the whole -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick():
    return papers.reproduce("named-data", figure="dumbbell", quick=True)


def test_the_dumbbell_tells_rates_from_windows(quick):
    (rows,) = (list(table.rows()) for table in quick.figures["dumbbell"].tables.values())
    by_name = {row["scheme"]: row for row in rows}
    assert list(by_name) == [setup.label for setup in scenarios.SETUPS.values()]
    for name in ("MIRCC", "HoBHIS"):
        assert by_name[name]["jain"] >= 0.99
        assert by_name[name]["lost_percent"] == 0.0
    # what windows fill is the queue, unless forwarders refuse before
    assert by_name["AIMD"]["longest_queue"] == scenarios.QUEUE
    assert 100 < by_name["NACK"]["longest_queue"] < scenarios.QUEUE
    assert by_name["MIRCC"]["longest_queue"] < 10
    assert by_name["constant, 150 %"]["lost_percent"] == pytest.approx(100 / 3, abs=1.0)
    assert quick.figures["dumbbell"].svg.startswith("<svg")


def test_the_terminal_shows_a_row_for_each_scheme(quick, capsys):
    reproduce._print(quick, Path("report.html"), 1.0)
    shown = capsys.readouterr().out
    assert "throughput" in shown
    assert "report.html" in shown
    for label in ("AIMD", "CUBIC", "HoBHIS"):
        assert sum(line.strip().startswith(label) for line in shown.splitlines()) == 1


def test_a_study_says_that_it_is_no_paper(quick, tmp_path):
    assert quick.claims == []
    assert not quick.of_paper
    assert all("claim" not in note and "verdict" not in note for note in quick.notes)
    assert json.loads(json.dumps(quick.as_dict(), allow_nan=False))["of_paper"] is False
    save_reproduction(quick, tmp_path)
    page = write(tmp_path).read_text(encoding="utf-8")
    assert "How it is compared" in page
    assert "What the paper leaves open" not in page
    assert "A comparison of our own" in page
    assert "Paper, reproduced" not in page
