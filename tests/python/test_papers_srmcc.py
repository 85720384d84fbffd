"""The SRMCC paper: its scenarios, how its claims are measured, and a quick reproduction of one figure."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars
import pytest

import thalweg_papers as papers
from thalweg_papers import _common
from thalweg_papers._base import Samples, Scale
from thalweg_papers.srmcc import PAPER, algorithm, audit, beyond, measures, rule_measures, rules, scenarios


def test_all_claims_are_listed():
    rows = PAPER.claims()
    derived = [f"S000-D{number}" for number in range(1, 7)]
    assert [row.id for row in rows] == derived + [f"S000-{number:02d}" for number in range(1, 66)]
    fitted = (13, 15, *range(22, 29), 30, 31, 33, 34, 36, *range(43, 47), *range(54, 58))
    assert {row.id for row in rows if row.evidence == "fitted"} == {f"S000-{number}" for number in fitted}
    assert [row.id for row in rows if not row.testable] == ["S000-61"]


# --- the algorithm ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "occupancy", "expected"),
    [
        (1000, 0, 2000),
        (1000, 0.125, 1101.5625),
        (1000, 0.25, 1000),
        (1000, 0.26, 1057.6),
        (1000, 0.375, 1015.625),
        (1000, 0.5, 1000),
        (1000, 0.75, 1667),
        (2000, 0.75, 1000),
        (2000, 1.0, 1000),
    ],
)
def test_the_reimplemented_equations_give_the_values_computed_by_hand(rate, occupancy, expected):
    # 1 + (1 − ¾·¼)·⅛ = 1.1015625; 1 + ¼·0.96·0.24 = 1.0576; 1 + ¼·½·⅛ = 1.015625
    assert algorithm.candidate(occupancy, rate, 1667) == pytest.approx(expected, rel=1e-12)


def test_the_selection_factor_mixes_both_candidates():
    # R_min = 1000, R_max = 4000
    assert algorithm.next_rate(0.75, 0, 2000, 1667, 0.15) == pytest.approx(1450)
    assert algorithm.heavy_factor(0.15) == pytest.approx(0.725)
    assert algorithm.heavy_factor(1 / 3) == pytest.approx(1.0)


def test_the_four_states_meet_where_the_paper_says():
    assert [algorithm.state(o) for o in (0, 0.25, 0.250001, 0.5, 0.500001)] == [0, 1, 2, 2, 3]


# --- derived numbers -------------------------------------------------------------------------------------------------


def value(measured, name):
    return measured[name].mean


def test_numbers_that_follow_from_stated_ones():
    none = Samples({})
    # 5/3 · 1.518 = 2.53; 5/3 · 0.726 = 1.21; 2.53 + 2.42 = 4.95 of 5
    assert value(rule_measures.stated_shares(none), "sum_percent") == pytest.approx(99.0)
    # 2.53 − 0.985 = 1.545 of 1.6667
    assert value(rule_measures.reading_of_utilisation(none), "srmcc_share_percent") == pytest.approx(92.7)
    assert value(rule_measures.asmp_derived(none), "mbps") == pytest.approx(1.3881, abs=1e-4)
    # 2 · 1.545 / (5 − 1.545) and 2 · 1.545 / (4.9 − 1.545)
    assert value(rule_measures.ratio_derived(none), "low") == pytest.approx(0.8944, abs=1e-4)
    assert value(rule_measures.ratio_derived(none), "high") == pytest.approx(0.9210, abs=1e-4)
    assert value(rule_measures.feedback_derived(none), "tfmcc") == pytest.approx(5.68, abs=0.01)


# --- replayed runs ---------------------------------------------------------------------------------------------------


def recorded(rows, events):
    """A run that recorded these."""
    common = {"time_s": polars.Float64, "subject": str}
    return SimpleNamespace(
        series=polars.DataFrame(rows, schema={**common, "series": str, "value": float}, orient="row"),
        events=polars.DataFrame(
            events, schema={**common, "event": str, "value": float, "text": str}, orient="row"
        ),
    )


def adapted(steps, fair=2e6):
    """A run with one adaptation a tenth of a second: (maximum occupancy, minimum occupancy, next rate)."""
    rows, events, rate = [], [], 1e6
    known = (0.0, 0.0)
    for tick in range(1, 100 * len(steps) + 1):
        if tick % 100 == 0:
            *known, rate = steps[tick // 100 - 1]
            events.append((0.001 * tick - 0.0005, "flow.mc", "adapted", 0.0, ""))
        for name, number in zip(
            ("allowed_rate", "o_max", "o_min", "fair_rate", "t_adapt"), (rate, *known, fair, 0.1), strict=True
        ):
            rows.append((0.001 * tick, "flow.mc", name, float(number)))
    return recorded(rows, events)


def test_the_replay_accepts_adaptations_that_follow_the_equations():
    # 1 Mbit/s, nothing queued: doubled. 2 Mbit/s at its share, full and empty queue: × 0.725. Moderate: × 1.015625.
    found = rules.keep_rate_update(
        adapted([(0, 0, 2e6), (1, 0, 1.45e6), (0.375, 0.375, 1.45e6 * 1.015625)]), "line", Scale()
    )
    assert (found["steps"], found["wrong"], found["wrong_states"], found["apart"]) == (3, 0, 0, 1)
    assert [found[f"state_{s}"] for s in range(4)] == [1, 0, 1, 1]
    assert found["min_factor"] == pytest.approx(1.015625)


def test_the_replay_finds_another_rate_and_another_state():
    assert rules.keep_rate_update(adapted([(0, 0, 1.99e6)]), "line", Scale())["wrong"] == 1
    # heavy above its share, but doubled as below it
    found = rules.keep_rate_update(adapted([(1, 1, 2e6)], fair=1e6), "line", Scale())
    assert (found["wrong"], found["wrong_states"]) == (1, 1)


def filtered(averages):
    """A node that sends one message a tenth of a second, with these average occupancies."""
    rows = [
        (0.001 * tick, "node.r0", "occupancy", float(averages[(tick - 1) // 100]))
        for tick in range(1, 100 * len(averages) + 1)
    ]
    events = [(0.1 * i + 0.0005, "node.r0", "mcc", 0.0, "") for i in range(len(averages))]
    return recorded(rows, events)


def test_a_filter_with_another_weight_gives_no_whole_number_of_packets():
    def averages(alpha):
        average, found = 0.0, []
        for packets in (5, 21, 34, 50, 7):
            average = alpha * packets / 50 + (1 - alpha) * average
            found.append(average)
        return found

    assert rules.keep_filter(filtered(averages(0.9)), "-", Scale()) == {
        "samples": 4.0,
        "not_whole": 0.0,
        "lengths": 4.0,
    }
    assert rules.keep_filter(filtered(averages(0.85)), "-", Scale())["not_whole"] >= 3


# --- measures --------------------------------------------------------------------------------------------------------


def test_a_flat_curve_does_not_rise():
    assert measures.rank_correlation([1.0] * 7) == 0
    assert measures.rank_correlation([1, 2, 3, 4, 5, 6, 7]) == pytest.approx(1)
    assert measures.rank_correlation([7, 6, 5, 4, 3, 2, 1]) == pytest.approx(-1)


def test_the_best_gamma_is_that_of_the_mean_over_seeds():
    def sample(ratio):
        return {"mc_mean_bps": ratio, "tcp_mean_bps": 1.0}

    by_case = {
        ("gamma", measures.gamma_variant(n, gamma)): [
            sample(0.4 + 4 * gamma + shift) for shift in (-0.1, 0.1)
        ]
        for n in measures.STATIC
        for gamma in scenarios.GAMMAS
    }
    assert value(measures.best_gamma(Samples(by_case)), "overall") == 0.15


def test_settling_is_timed_from_each_change_to_the_new_level():
    times = np.arange(1.0, 201.0)
    # 400 kbit/s; from 80 s on it takes until 90 s to be at 200
    rates = np.where(times <= 90, 400e3, 200e3)
    found = measures.settling_times({"times_s": times, "factor": 1.0, "mc_bps": rates})
    # The mean of three seconds is within 20 % of 200 at 93 s; without a change it is there after the first second.
    assert found == [1.0, 13.0, 1.0, 1.0]


def test_an_order_of_feedback_is_a_matter_of_quotients():
    counts = {"srmcc": 10, "tfmcc": 50, "asmp": 20, "perif_ecn": 100}
    by_case = {
        ("scenarios", f"{n}-{scheme}"): [{"feedback": count}]
        for n in measures.ALL
        for scheme, count in counts.items()
    }
    measured = measures.feedback_order(Samples(by_case))
    assert [value(measured, key) for key in ("srmcc_fewest", "perif_highest", "tfmcc_second")] == [2, 2, 2.5]
    fewer = measures.fewer_than("tfmcc")(Samples(by_case))
    assert value(fewer, "reduction_percent") == pytest.approx(80)
    assert value(fewer, "quotient") == pytest.approx(5)


def test_an_interval_over_seeds_is_that_of_student_at_each_point():
    mean, low, high = _common.over_seeds([[1.0, 5.0, 11.0], [2.0, 5.0, 12.0], [3.0, 5.0, 13.0]])
    np.testing.assert_allclose(mean, [2.0, 5.0, 12.0])
    # t = 4.3027 for two degrees of freedom, over √3: 2.4841; nothing is below zero
    np.testing.assert_allclose(low, [0.0, 5.0, 9.5159], atol=1e-3)
    np.testing.assert_allclose(high, [4.4841, 5.0, 14.4841], atol=1e-3)
    assert np.isnan(_common.over_seeds([[1.0], [2.0]])[1]).all(), "two values have none"


# --- scenarios -------------------------------------------------------------------------------------------------------


def test_the_traffic_of_scenario_4_starts_and_stops_as_published():
    tree = scenarios.scenario(4, "srmcc", Scale(0.5))
    flows = {flow["name"]: flow for flow in tree["flows"]}
    assert tree["duration"] == "100 s"
    assert (flows["tcp2"]["start"], flows["tcp2"]["stop"]) == ("15 s", "60 s")
    assert (flows["cbr"]["start"], flows["cbr"]["stop"]) == ("40 s", "85 s")
    assert "start" not in flows["tcp1"]


def test_no_two_tcp_connections_share_a_pair_of_hosts():
    for tree in (scenarios.scenario(4, "srmcc", Scale()), beyond.tree("srmcc", Scale())):
        ends = [(flow["from"], flow["to"]) for flow in tree["flows"] if flow.get("scheme") == "reno"]
        assert len({end for pair in ends for end in pair}) == 2 * len(ends)


def test_the_tree_has_64_receivers_and_three_fair_shares():
    assert sum(map(len, beyond.tree_members().values())) == 64
    assert sorted(beyond.fair_bps(name) for name in beyond.SUBTREES) == [1e6, 1.5e6, 2e6]


def test_the_parameters_of_table_1_are_all_ours():
    rows = audit.rows()
    assert len(rows) == 10
    assert [row["parameter"] for row in rows if not row["agrees"]] == []


# --- a quick reproduction --------------------------------------------------------------------------------------------


def test_a_quick_reproduction_draws_its_figure_and_judges_its_claims():
    done = papers.reproduce("srmcc", figure="6", quick=True)
    assert list(done.figures) == ["figure-6"]
    assert done.figures["figure-6"].svg.startswith("<svg")
    assert {claim["id"] for claim in done.claims} == {f"S000-{number}" for number in range(18, 22)}
    assert len(done.runs) == 2 * len(scenarios.GROUPS)
    rows = list(done.figures["figure-6"].tables["numbers"].rows())
    assert [row["groups"] for row in rows] == list(scenarios.GROUPS)


def test_claims_without_runs_are_judged_with_the_whole_paper_only():
    table = papers.reproduce("srmcc", figure="table-1", quick=True)
    assert table.claims == []
    assert list(table.tables) == ["table-1"]
