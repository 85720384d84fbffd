"""The ndnSieve paper: its scenarios, how its claims are measured, and a reproduction of a figure."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import thalweg_papers as papers
from thalweg import Scenario
from thalweg_papers import _judge
from thalweg_papers._base import Samples, Scale
from thalweg_papers.ndnsieve import (
    PAPER,
    abstracts,
    extracts,
    measures,
    path_measures,
    readings,
    rule_measures,
    scenarios,
    signals,
)
from thalweg_papers.ndnsieve.keys import Key


def test_all_claims_are_listed():
    rows = PAPER.claims()
    numbers = [int(found[1]) for row in rows if (found := re.fullmatch(r"S3-(\d+)", row.id))]
    assert numbers == list(range(1, 103))


def test_a_row_of_the_literal_profile_has_limits_of_the_calibrated_one():
    rows = {row.id: row for row in PAPER.claims()}
    literal = [name for name in rows if name.endswith("L")]
    assert len(literal) >= 30
    for name in literal:
        row, calibrated = rows[name], rows[name[:-1]]
        assert set(row.accept) <= set(calibrated.accept), name
        assert row.testable == calibrated.testable, name
        assert row.measure is (calibrated.measure.literal if row.testable else None), name
        assert row.evidence in ("literal", "by construction"), name


def test_all_figures_and_tables_of_the_paper_exist():
    wanted = [f"figure-{n}" for n in range(4, 18)] + [f"table-{n}" for n in range(4, 9)]
    assert set(wanted) <= set(PAPER.figures)


# --- scenarios -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scene", "path", "rtt_ms"),
    [
        ("dumbbell", ("c1", "core", "p1"), 60),
        ("two ways", ("c1", "260", "p1"), 60),
        ("two ways", ("c1", "261", "p2"), 60),
        ("three flows", ("c1", "260", "p1"), 42),
        ("three flows", ("c1", "261", "back", "p1"), 72),
    ],
)
def test_round_trip_times_are_those_of_the_specification(scene, path, rtt_ms):
    delays = {link["name"]: float(link["delay"].split()[0]) for link in scenarios.wires(scene)}
    assert 2 * sum(delays[name] for name in path) == rtt_ms


def test_scenario_3_has_nine_devices():
    ends = {end for link in scenarios.wires("three flows") for end in link["ends"]}
    assert len(ends) == 9


def test_a_profile_is_passed_to_all_three_parts():
    tree = scenarios.scene_tree("dumbbell")("literal", Scale())
    chosen = {"profile": "literal"}
    assert tree["ndn"]["link_params"] == tree["sdn"]["app_params"] == chosen
    assert all(flow["params"] == chosen for flow in tree["flows"])
    assert "sdn" not in scenarios.scene_tree("dumbbell")("pcon", Scale())


# --- measures --------------------------------------------------------------------------------------------------------


def sample(throughput=((5.0,), (5.0,)), faces=((10.0,), (0.0,)), **more):
    """A run in which every bin is alike, in Mbit/s, unless rows of 200 are given."""

    def rows(values):
        return 1e6 * np.array([np.resize(np.array(row), 200) for row in values])

    return {
        "times_s": np.arange(1, 201) * 0.1,
        "throughput": rows(throughput),
        "faces": rows(faces),
        "moves_s": np.array([]),
        "lost": 0.0,
        **more,
    }


def test_the_index_over_bins_is_the_mean_of_theirs():
    # one bin of two in the second half has one consumer only: 1, and 1/2
    first = [5.0] * 100 + [10.0] * 100
    second = [5.0] * 100 + [0.0] * 100
    run = sample((first, second))
    assert measures.jain_in_bins(1.0)(run) == pytest.approx(0.75)
    assert measures.jain_of_totals()(run) == pytest.approx(400 / (2 * (15**2 + 5**2)) * 1.0, rel=1e-9)
    # what alternates within a bin is even there
    assert measures.jain_in_bins(1.0)(sample(([10.0, 0.0], [0.0, 10.0]))) == pytest.approx(1.0)
    assert measures.jain_in_bins(0.1)(sample(([10.0, 0.0], [0.0, 10.0]))) == pytest.approx(0.5)


def test_idle_consumers_count_as_zero():
    ideal = [[10.0] * 10 + [5.0] * 10 + [10 / 3] * 180, [0.0] * 10 + [5.0] * 10 + [10 / 3] * 180]
    ideal.append([0.0] * 20 + [10 / 3] * 180)
    run = sample(ideal)
    # (1/3 + 2/3 + D − 2) / D
    assert measures.jain_in_bins(1.0)(run) == pytest.approx(0.95)
    assert measures.jain_in_bins(1.0, 0.0, 10.0)(run) == pytest.approx(0.9)
    assert measures.jain_in_bins(1.0, 0.0, 9.0)(run) == pytest.approx(8 / 9)
    assert measures.jain_in_bins(1.0, 2.0)(run) == pytest.approx(1.0)


def test_a_share_is_relative_to_the_sum_of_both():
    run = sample(faces=([10.0] * 100 + [2.0] * 100, [0.0] * 100 + [8.0] * 100))
    assert path_measures.share(0.0)(run) == pytest.approx(0.4)
    assert path_measures.share(10.0)(run) == pytest.approx(0.8)
    assert path_measures.faces_alike(sample(faces=((10.0,), (0.0,)))) == pytest.approx(0.5)


def test_the_margin_is_positive_if_ranges_do_not_overlap():
    def quantity(*values):
        return measures.Quantity(values)

    assert measures.below(quantity(1, 2), [quantity(3, 4), quantity(2.5, 9)]).mean == pytest.approx(0.5)
    assert measures.below(quantity(1, 3), [quantity(2, 4)]).mean == pytest.approx(-1.0)


def test_a_way_that_was_used_less_is_the_one_with_the_lowest_metric():
    to_and_fro = [10.0] * 5 + [0.0] * 5
    assert signals._not_lowest(sample(faces=(to_and_fro, to_and_fro[::-1]))) == 0
    # the first is used in all forty periods: it is not the idle one in 39
    assert signals._not_lowest(sample(faces=((10.0,), (0.0,)))) == 39


def test_the_queue_in_a_metric_is_compared_with_that_of_its_signal():
    exact = (10 * 0.9 * np.exp(5 / 500), 0.9, 5.0)
    assert signals._metric_error([exact, exact]) == pytest.approx(0.0, abs=1e-9)
    # ε of 0.6 is 300 packets of 500, and 2 were reported
    assert signals._metric_error([(10 * 0.94 * np.exp(0.6), 0.94, 2.0)]) == pytest.approx(298.0)
    assert np.isnan(signals._metric_error([]))


def test_the_order_of_table_7_is_that_of_medians():
    def consumers(*rates):
        return {"throughput": tuple((rate,) for rate in rates)}

    fair, less, unfair = consumers(5.0, 5.0), consumers(6.0, 4.0), consumers(8.0, 2.0)
    assert verdict("S3-79b", four("three flows", flecom=fair, calibrated=less, pcon=unfair)) == "reproduced"
    assert verdict("S3-79b", four("three flows", flecom=fair, calibrated=unfair, pcon=less)) == "partly"


def test_each_fall_of_a_share_is_by_two_per_cent():
    def falls(*pairs):
        before, after = np.array(pairs).T
        return Samples({("share", "pcon"): [{"before": before, "after": after}]})

    assert verdict("S3-53", falls((1.0, 0.98), (0.98, 0.9604), (0.5, 0.49))) == "reproduced"
    assert verdict("S3-53", falls((1.0, 0.98), (0.98, 0.97), (0.5, 0.49))) == "not reproduced"


def test_another_length_of_the_run_is_measured_to_its_end():
    tree = scenarios.scene_tree("dumbbell")("pcon", Scale())
    readings.lasting(10)(tree)
    assert tree["duration"] == "10 s"
    longer = {**sample(), "times_s": np.arange(1, 301) * 0.1}
    longer["throughput"] = np.array([[0.0] * 200 + [3e6] * 100])
    assert measures.total()(longer) == pytest.approx(1.0)


def verdict(identity, samples):
    """The verdict of a claim on these samples."""
    claim = next(row for row in PAPER.claims() if row.id == identity)
    return _judge.judge(claim, claim.measure(samples))["verdict"]


def four(scene, **ours):
    """The four schemes alike, ndnSieve in both profiles."""
    return Samples({(scene, setup): [sample(**ours.get(setup, {}))] * 2 for setup in scenarios.SETUPS})


def test_a_lost_packet_spoils_no_loss():
    assert verdict("S3-43", four("dumbbell")) == "reproduced"
    assert verdict("S3-43", four("dumbbell", pcon={"lost": 1.0})) == "partly"
    assert verdict("S3-43", four("dumbbell", literal={"lost": 1.0})) == "reproduced"
    assert verdict("S3-43L", four("dumbbell", literal={"lost": 1.0})) == "not reproduced"


def test_both_readings_of_the_gain_take_the_same_number():
    slow = {"throughput": ((7.5,), (0.0,))}
    for identity, scene in (("S3-21", "dumbbell"), ("S3-22", "two ways")):
        assert verdict(identity, four(scene, pcon=slow)) == "reproduced"
        assert verdict(identity, four(scene)) == "not reproduced"


def test_a_switch_is_at_1_s_and_moves_all_traffic():
    faces = ([10.0] * 10 + [0.0] * 190, [0.0] * 10 + [10.0] * 190)
    moved = {"calibrated": {"faces": faces, "moves_s": np.array([1.0])}}
    assert verdict("S3-50", four("two ways", **moved)) == "reproduced"
    assert verdict("S3-50", four("two ways")) == "not reproduced"
    late = {"calibrated": {"faces": faces, "moves_s": np.array([4.1])}}
    assert verdict("S3-50", four("two ways", **late)) == "partly"


def test_places_are_those_among_four():
    std = {"calibrated": (3.0, 30.0, 60.0), "literal": (1.0, 1.0, 1.0)}
    std |= {"pcon": (30.0, 31.0, 18.0), "coopcon": (55.0, 45.0, 31.0), "flecom": (21.0, 17.0, 23.0)}
    samples = four("three flows", **{setup: {"std_ms": np.array(values)} for setup, values in std.items()})
    found = path_measures.excellent(samples)
    assert {name: quantity.mean for name, quantity in found.items()} == {
        "place_c1": 1.0,
        "place_c2": 2.0,
        "place_c3": 4.0,
        "place_of_mean": 3.0,
    }
    assert verdict("S3-89b", samples) == "partly"


def test_constants_are_those_of_table_3():
    found = rule_measures.table_3(Samples({}))
    assert {name: quantity.mean for name, quantity in found.items()} == {
        "queue_packets": 500.0,
        "payload_bytes": 1024.0,
        "period_s": 0.5,
        "th1": 0.85,
        "th2": 0.9,
    }


# --- in the running network ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def figure_9():
    return papers.reproduce("ndnsieve", figure="9", quick=True)


def test_figure_9_is_reproduced(figure_9):
    assert list(figure_9.figures) == ["figure-9"]
    assert figure_9.figures["figure-9"].svg.startswith("<svg")
    assert len(figure_9.figures["figure-9"].tables) == len(scenarios.SETUPS)
    verdicts = {claim["id"]: claim["verdict"] for claim in figure_9.claims}
    assert verdicts["S3-50"] == "reproduced"


def test_the_output_is_json(figure_9):
    text = json.loads(json.dumps(figure_9.as_dict(), allow_nan=False))
    assert text["paper"] == "ndnsieve"


def test_signals_are_read_with_their_queues_and_the_metrics_of_commands():
    """A real run: two seconds of scenario 2, in which the prefix is moved once."""
    from thalweg import Scenario
    from thalweg_papers.ndnsieve import signals

    tree = scenarios.scene_tree("two ways")("calibrated", Scale())
    tree["duration"] = "3 s"
    found = signals.read(Scenario.from_tree(tree).plan(1).run(), "two ways", "calibrated")
    assert found["mild_over"] <= 0 < found["sieved_over"]
    assert found["commands_without"] == found["worse"] == 0
    assert 0 <= found["metric_min"] <= found["metric_max"] < 27.2
    assert found["load_min"] > 0.85
    assert signals.read(None, "two ways", "pcon") == {}


def test_a_port_has_the_name_of_its_series():
    from thalweg_papers.ndnsieve import signals

    # links in order: c1, 260, 261, p1, p2; then the links of the controller
    assert [signals._port("two ways", n) for n in (2, 3, 5)] == [
        "link.260",
        "link.260.backward",
        "link.261.backward",
    ]
    assert signals._port("two ways", 10) is None


def test_a_queue_is_calm_when_it_has_been_short_for_a_while():
    from thalweg_papers.ndnsieve import others

    times = np.arange(1, 101) * scenarios.EVERY_S
    queue = np.where((times < 0.5) | ((times > 0.6) & (times < 0.7)), 300.0, 10.0)
    # short from 0.5 to 0.6 s, which is not 0.2 s, then from 0.7 s on
    assert others._calm(times, queue) == pytest.approx(0.7, abs=0.021)
    assert others._calm(times, np.full(100, 300.0)) == pytest.approx(2.0)


# --- readings, and what abstracts of others claim -------------------------------------------------------------------


def test_options_of_ndnsieve_reach_all_three_parts_of_the_calibrated_profile_only():
    change = readings.sieve(severe=0)
    tree = scenarios.scene_tree("dumbbell")("calibrated", Scale())
    change(tree)
    chosen = {"profile": "calibrated", "severe": 0}
    assert tree["ndn"]["link_params"] == tree["sdn"]["app_params"] == chosen
    assert all(flow["params"] == chosen for flow in tree["flows"])
    for setup in ("literal", "pcon"):
        other = scenarios.scene_tree("dumbbell")(setup, Scale())
        change(other)
        assert other == scenarios.scene_tree("dumbbell")(setup, Scale())


def test_several_prefixes_have_a_consumer_each_and_count_as_one():
    tree = scenarios.scene_tree("three flows")("calibrated", Scale())
    readings.prefixes(2)(tree)
    assert [(flow["group"], flow["prefix"]) for flow in tree["flows"]][:3] == [
        ("C1", "/1/1"),
        ("C1", "/1/2"),
        ("C2", "/2/1"),
    ]
    assert [row["prefix"] for row in tree["producers"]] == [flow["prefix"] for flow in tree["flows"]]
    tree["duration"] = "4 s"
    result = Scenario.from_tree(tree).run(seed=1)
    of_first = [row for row in result.flows.to_dicts() if row["group"] == "C1"]
    assert len(of_first) == 2
    mean, deviation = extracts.pooled(of_first)
    assert mean == pytest.approx(
        sum(1e3 * row["delay_s"] * row["arrived_packets"] for row in of_first)
        / sum(row["arrived_packets"] for row in of_first)
    )
    assert deviation >= min(1e3 * row["delay_std_s"] for row in of_first)


def test_deviations_of_two_flows_have_the_distance_of_their_means_in_them():
    def flow(mean_ms, deviation_ms, segments):
        return {"delay_s": mean_ms / 1e3, "delay_std_s": deviation_ms / 1e3, "arrived_packets": segments}

    # 1, 3 and 5, 7: a mean of 4, squares of 9, 1, 1 and 9
    assert extracts.pooled([flow(2, 1, 2), flow(6, 1, 2)]) == pytest.approx((4.0, 5**0.5))
    assert extracts.pooled([flow(2, 1, 2)]) == pytest.approx((2.0, 1.0))


@pytest.mark.parametrize(
    ("params", "packets"),
    [
        ({"level": "profile", "profile": "calibrated"}, 3),
        ({"level": "profile", "profile": "literal"}, 450),
        ({"level": "limit", "profile": "calibrated"}, 450),
        ({"level": "packets", "profile": "literal"}, 3),
    ],
)
def test_the_level_of_a_sieve_is_that_of_its_parameters(params, packets):
    assert signals.level({"severe": 3, "th2": 0.9, **params}) == packets


def test_graphs_are_connected_have_two_links_for_each_router_and_stay_the_same():
    made = abstracts.graph(1)
    assert made == abstracts.graph(1) != abstracts.graph(2)
    assert len(made.links) == len(set(made.links)) == 3 + abstracts.JOINS * (abstracts.ROUTERS - 3)
    reached = {0}
    for _ in range(abstracts.ROUTERS):
        reached |= {end for link in made.links if reached & set(link) for end in link}
    assert len(reached) == abstracts.ROUTERS
    assert len(set(made.ends)) == 2 * abstracts.PAIRS
    # some routers have many links
    assert max(sum(node in link for link in made.links) for node in range(abstracts.ROUTERS)) >= 8


def test_abstracts_are_judged_graph_by_graph():
    cases = {
        (Key.GRAPHS, variant): [{"mbps": 12.0 if variant.startswith("coopcon") else 10.0}] * 2
        for variant in abstracts.VARIANTS
    }
    assert verdict("AX-1", Samples(cases)) == "reproduced"
    assert verdict("AX-2", Samples(cases)) == "not reproduced"
    found = abstracts.coopcon(Samples(cases))
    assert found["ratio"].values == pytest.approx((1.2,) * abstracts.GRAPHS)


def test_nearer_next_hops_lead_to_the_producer_without_a_routing_loop():
    tree = abstracts.tree("pcon, graph 1", Scale())
    abstracts.nearer(tree)
    for producer in tree["producers"]:
        hops = {}
        for route in tree["ndn"]["routes"]:
            if route["prefix"] == producer["prefix"]:
                hops.setdefault(route["at"], []).append(route["via"])
        # every router but the producer's has some; what only leads to finished ones is finished itself
        assert len(hops) == abstracts.ROUTERS - 1
        finished = {producer["node"]}
        for _ in hops:
            finished |= {node for node, vias in hops.items() if finished.issuperset(vias)}
        assert len(finished) == abstracts.ROUTERS
    assert any(len(vias) > 1 for vias in hops.values())
