"""The comparisons of low-priority and real-time schemes: their networks, what is said of a run, their tables."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import polars
import pytest

import thalweg_papers as papers
from thalweg import Scenario, catalogue
from thalweg_papers._base import Samples, Scale
from thalweg_papers.background_real_time import (
    BACKGROUND,
    REAL_TIME,
    experiments,
    extracts,
    figures,
    measures,
    scenarios,
)

ALL = {
    (study.name, name): experiment
    for study in (BACKGROUND, REAL_TIME)
    for name, experiment in study.experiments().items()
}


def test_both_comparisons_are_listed_with_the_papers():
    assert papers.STUDIES["background"] is BACKGROUND
    assert papers.STUDIES["real-time"] is REAL_TIME


def test_the_schemes_are_those_of_the_catalogue():
    known = {row["name"] for row in catalogue.schemes()}
    low = {setup.scheme for setup in scenarios.LOW.values()}
    real = {setup.scheme for setup in scenarios.REAL.values()}
    assert low | real <= known
    assert low == {"cvihis", "ledbat", "ledbat_pp", "tcp_lp", "reno"}
    assert real == {"cvihis", "tfrc", "gcc", "bbr", "reno", "cubic"}


@pytest.mark.parametrize("case", ALL)
def test_every_scenario_is_accepted(case):
    experiment = ALL[case]
    for variant in experiment.variants:
        Scenario.from_tree(experiment.tree(variant, Scale())).plan(1)


def test_only_the_mode_differs_from_the_defaults():
    setups = (*scenarios.LOW.values(), *scenarios.REAL.values())
    assert {key for setup in setups for key in setup.params} == {"mode"}


def test_a_round_trip_is_four_access_delays():
    tree = scenarios.given_way("ledbat cubic 60 120", Scale())
    delays = {link["name"]: link["delay"] for link in tree["topology"]["links"]}
    assert delays["in-yields"] == delays["out-yields"] == delays["in-tcp"] == "15 ms"
    assert delays["bottleneck"] == "0 s"


def test_buffers_are_in_packets_of_the_bottleneck():
    # 6 Mbit/s are 500 packets of 1500 bytes a second
    assert [scenarios.packets(ms) for ms in scenarios.BUFFERS_MS] == [20, 60, 180]


def test_the_detour_adds_its_delay_and_begins_or_ends():
    longer = scenarios.route("tcp_lp longer 120", Scale())
    links = {link["name"]: link for link in longer["topology"]["links"]}
    # 15 ms on each of two links, each way
    assert links["up"]["delay"] == links["down"]["delay"] == "15 ms"
    assert scenarios.DETOUR_MS == 4 * 15
    assert links["up"]["rate"] == links["direct"]["rate"]
    assert longer["events"] == [{"at": "150 s", "link": "direct", "up": False}]
    shorter = scenarios.route("tcp_lp shorter 120", Scale(0.5))
    assert shorter["events"] == [
        {"at": "0 s", "link": "direct", "up": False},
        {"at": "75 s", "link": "direct", "up": True},
    ]


def test_only_the_receivers_clock_drifts():
    assert scenarios.drift("ledbat right alone", Scale())["clocks"] == []
    clocks = scenarios.drift("ledbat loses beside", Scale())["clocks"]
    assert clocks == [{"node": "d-yields", "drift": "-100 ppm"}]


# --- what is said of a run -------------------------------------------------------------------------------------------


def sample(**throughputs):
    """Four intervals of half a second; Mbit/s by flow, and a wait of 1, 2, 3, 4 ms."""
    return {
        "times_s": np.array([0.5, 1.0, 1.5, 2.0]),
        **{f"throughput {name}": 1e6 * np.array(values) for name, values in throughputs.items()},
        "wait": np.array([0.001, 0.002, 0.003, 0.004]),
        "flows": dict.fromkeys(throughputs, (200, 3)),
    }


def test_values_of_a_run_by_hand():
    kept = sample(one=[0.0, 1.0, 2.0, 3.0], other=[6.0, 5.0, 4.0, 3.0])
    last = (0.5, 2.0)
    # mean of 1, 2, 3 Mbit/s, of 6
    assert measures.use_percent(kept, "one", last) == pytest.approx(100 / 3)
    # 2 of 2 + 4
    assert measures.share_percent(kept, "one", "other", last) == pytest.approx(100 / 3)
    # deviation of 1, 2, 3 is 1
    assert measures.variation(kept, "one", last) == pytest.approx(0.5)
    assert measures.wait_ms(kept, last) == pytest.approx(3.0)
    assert measures.lost_percent(kept, "one") == pytest.approx(1.5)
    assert measures.span(Scale(0.5), 80, 200) == (40.0, 100.0)


def test_the_share_of_tcp_is_relative_to_the_same_seed_without_the_scheme():
    without = [sample(tcp=[4.0] * 4), sample(tcp=[5.0] * 4)]
    beside = [sample(tcp=[3.0] * 4), sample(tcp=[1.0] * 4)]
    for kept in beside:
        kept["wait"] = kept["wait"] + 0.010
    samples = Samples(
        {("beside TCP", "none reno 60 40"): without, ("beside TCP", "ledbat reno 60 40"): beside}
    )
    when = (0.0, 2.0)
    assert measures.kept(samples, "ledbat", "reno", "60 40", when) == pytest.approx([75.0, 20.0])
    assert measures.added_ms(samples, "ledbat", "reno", "60 40", when) == pytest.approx([10.0, 10.0])


def test_a_mean_over_networks_has_the_interval_of_the_seeds():
    found = measures.over([np.array([1.0, 2.0, 3.0]), np.array([3.0, 4.0, 5.0])])
    assert found.values == (2.0, 3.0, 4.0)
    # Student: 4.303 · 1/√3
    assert found.interval == (pytest.approx(3 - 2.484, abs=1e-3), pytest.approx(3 + 2.484, abs=1e-3))


def test_waits_of_both_routes_are_one():
    rows = [
        ("throughput", "receiver.yields@d-yields", 1.0, 5e6),
        ("throughput", "receiver.yields@d-yields", 2.0, 6e6),
        ("backlog_bytes", "link.direct", 1.0, 1500.0),
        ("backlog_bytes", "link.direct", 2.0, 0.0),
        ("backlog_bytes", "link.up", 1.0, 0.0),
        ("backlog_bytes", "link.up", 2.0, 3000.0),
        # not the bottleneck
        ("backlog_bytes", "link.in-yields", 2.0, 9e9),
    ]

    result = SimpleNamespace(
        series=polars.DataFrame(rows, schema=["series", "subject", "time_s", "value"], orient="row"),
        flows=polars.DataFrame({"flow": ["yields"], "sent_packets": [10], "drops": [1]}),
    )
    kept = extracts.over_time(result, "", Scale())
    assert kept["throughput yields"].tolist() == [5e6, 6e6]
    # 1500 bytes at 6 Mbit/s are 2 ms
    assert kept["wait"] == pytest.approx([0.002, 0.004])
    assert kept["flows"] == {"yields": (10, 1)}


# --- the whole -------------------------------------------------------------------------------------------------------


def table_rows(done, name):
    return {row["scheme"]: row for row in done.tables[name].rows()}


@pytest.fixture(scope="module")
def late():
    return papers.reproduce("background", figure="latecomer", quick=True)


def test_ledbat_has_the_advantage_of_latecomers_and_its_successor_has_not(late):
    rows = table_rows(late, "latecomer")
    assert list(rows) == [setup.label for setup in scenarios.LOW.values()]
    last = f"latecomer, room {scenarios.BUFFERS_MS[-1]} ms_percent"
    assert rows["LEDBAT"][last] > 80
    assert 35 < rows["LEDBAT++"][last] < 65
    assert not late.of_paper
    assert json.loads(json.dumps(late.as_dict(), allow_nan=False))["claims"] == []


def test_alone_a_rate_by_equation_is_smoother_than_a_window():
    done = papers.reproduce("real-time", figure="alone", quick=True)
    rows = table_rows(done, "alone")
    assert rows["TFRC"]["variation"] < rows["NewReno"]["variation"]
    # it keeps no queue on purpose, where losses make the others wait
    assert rows["BBR"]["wait_ms"] < rows["CUBIC"]["wait_ms"]
    assert all(row["use_percent"] > 80 for row in rows.values())


def test_the_figure_has_every_network():
    experiment = experiments.REAL_TIME["beside TCP"]
    flat = sample(stream=[3.0] * 4, tcp=[3.0] * 4)
    flat["times_s"] = np.array([60.5, 61.0, 61.5, 62.0])
    samples = Samples({("beside TCP", variant): [flat, flat] for variant in experiment.variants})
    drawn = figures.real_time(samples, Scale())
    assert drawn.svg.startswith("<svg")
    for label in ("20 / 40", "200 / 360"):
        assert label in drawn.svg
    summary = list(figures.real_summary(samples, Scale()).rows())
    assert [row["share_beside_BBR_percent"] for row in summary] == [50.0] * 6
