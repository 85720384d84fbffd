"""The MIRCC paper: its scenarios, how its claims are measured, and a reproduction of its figures."""

from __future__ import annotations

import json

import numpy as np
import pytest

import thalweg_papers as papers
from thalweg_papers import _judge
from thalweg_papers._base import Samples, Scale
from thalweg_papers.mircc import PAPER, measures, others, rule_measures, scenarios


def test_all_claims_are_listed():
    rows = PAPER.claims()
    assert [row.id for row in rows if row.id not in ("S1-31b", "S1-31c")] == [
        f"S1-{number:02d}" for number in range(1, 48)
    ]
    assert [row.id for row in rows if not row.testable] == [f"S1-{n:02d}" for n in (5, 11, 15, 46, 47)]


# --- scenarios -------------------------------------------------------------------------------------------------------


def test_the_paths_of_the_set_up_have_a_round_trip_time_of_400_ms():
    tree = scenarios.dumbbell(scenarios.Case(), "0/C", "")
    delays = {link["name"]: float(link["delay"].split()[0]) for link in tree["topology"]["links"]}
    assert 2 * (delays["access1"] + delays["core"] + delays["edge1"]) == 400
    for rtt_s, core_ms in scenarios.CORES_MS.items():
        assert 2 * (delays["access1"] + core_ms + delays["edge1"]) == pytest.approx(1e3 * rtt_s)


def test_a_variant_says_phase_start_and_case():
    tree = scenarios.tree_of(scenarios.GRID, "grid")("500,250 20/100", Scale())
    assert tree["ndn"]["link_params"] == {"interval": "250 ms", "phase": "20 ms", "depth": 200}
    assert [flow["consumer"]["tick"] for flow in tree["flows"]] == ["500 ms", "500 ms"]
    assert [flow["consumer"]["tick_phase"] for flow in tree["flows"]] == ["0 ms", "0 ms"]
    assert [flow["params"] for flow in tree["flows"]] == [{"initial_rate": "1 Mbit/s"}] * 2
    assert [(flow["start"], flow["stop"]) for flow in tree["flows"]] == [("1 s", "10 s"), ("3 s", "8 s")]
    usual = scenarios.tree_of(scenarios.GRID, "grid")("500,250 20/C", Scale())
    assert all("params" not in flow for flow in usual["flows"])


def test_a_consumers_clock_starts_with_it():
    tree = scenarios.dumbbell(scenarios.Case(tick_ms=750), "0/C", "")
    # 1000 = 750 + 250, 3000 = 4 · 750
    assert [flow["consumer"]["tick_phase"] for flow in tree["flows"]] == ["250 ms", "0 ms"]


def test_a_case_has_eight_runs_and_figures_share_their_first_panel():
    assert len(set(scenarios.RUNS)) == 8
    equal = scenarios.tree_of(scenarios.EQUAL, "x")("100 50/C", Scale())
    fine = scenarios.tree_of(scenarios.FINE, "x")("100 50/C", Scale())
    assert equal == fine
    assert len(scenarios.variants(scenarios.GRID)) == 128


def test_longer_runs_keep_the_times_of_arrivals_and_departures():
    tree = scenarios.dumbbell(scenarios.Case(longer_s=20.0), "0/C", "")
    assert tree["duration"] == "30 s"
    assert [(flow["start"], flow["stop"]) for flow in tree["flows"]] == [("1 s", "30 s"), ("3 s", "28 s")]


# --- measures --------------------------------------------------------------------------------------------------------


def sample(first, second, received=(600.0, 600.0), length_s=10.0, **more):
    """A run of which only the rates matter, told by functions of the end of each interval of 0.1 s."""
    times = np.arange(1, round(length_s * 10) + 1) / 10
    generated = np.array([[first(t) for t in times], [second(t) for t in times]])
    got = np.array([[rate] * len(times) for rate in received])
    return {"times_s": times, "generated": generated, "received": got, "policed": np.zeros(4), **more}


def settles_at(moment_s):
    """Both at 1000 until a moment, then at 600."""
    return sample(*[lambda t: 1000.0 if t <= moment_s + 1e-9 else 600.0] * 2)


@pytest.mark.parametrize(("moment_s", "time_s"), [(2.0, 0.0), (4.0, 1.0), (4.2, 1.5), (7.5, 4.5)])
def test_convergence_is_the_time_from_which_on_both_stay_near_600(moment_s, time_s):
    assert measures.convergence_s(settles_at(moment_s)) == time_s


def test_a_rate_far_from_600_at_the_end_never_converges():
    assert np.isnan(measures.convergence_s(settles_at(7.9)))
    only_one = sample(lambda t: 600.0, lambda t: 700.0)
    assert np.isnan(measures.convergence_s(only_one))


def test_both_are_measured_in_the_last_two_and_a_half_seconds_together():
    assert measures.both_s(settles_at(3.0)) == (5.5, 8.0)
    assert measures.both_s(sample(lambda t: 600.0, lambda t: 600.0, length_s=30.0)) == (25.5, 28.0)
    ramp = sample(lambda t: 100 * t, lambda t: 600.0)
    # intervals that end at 5.6 to 8.0 s
    assert measures.rate(ramp, 0, measures.both_s(ramp)) == pytest.approx(680.0)
    assert measures.mean_of_both(ramp) == pytest.approx(640.0)


def test_the_deviation_is_that_of_bins_of_half_a_second():
    assert measures.deviation(sample(lambda t: 700.0, lambda t: 560.0)) == pytest.approx(70.0)
    # what evens out within a bin is no deviation
    hasty = sample(lambda t: 600.0 + (250.0 if round(t * 10) % 5 == 1 else -62.5), lambda t: 600.0)
    assert measures.deviation(hasty) == pytest.approx(0.0, abs=1e-9)


def cases(experiment, by_case, runs=scenarios.RUNS):
    """Samples of some cases, the same in every run."""
    return Samples({(experiment, f"{case} {run}"): [kept] for case, kept in by_case.items() for run in runs})


def verdict(identity, samples):
    """The verdict of a claim on these samples."""
    claim = next(row for row in PAPER.claims() if row.id == identity)
    return _judge.judge(claim, claim.measure(samples))["verdict"]


def test_in_a_catastrophe_both_consumers_request_the_full_rate_and_receive_half():
    alone = sample(lambda t: 1000.0, lambda t: 1000.0, received=(400.0, 100.0))
    alone["policed"] = np.array([4000.0, 3000.0, 100.0, 0.0])
    samples = cases("equal clocks", {"500": alone, "750": alone})
    assert verdict("S1-28", samples) == "reproduced"
    assert verdict("S1-30", samples) == "reproduced"
    samples = cases("equal clocks", {"500": settles_at(4.0), "750": alone})
    assert verdict("S1-28", samples) == "not reproduced"


def test_one_run_that_differs_spoils_a_gate():
    good = settles_at(4.0)
    samples = Samples(
        {("equal clocks", f"100 {run}"): [good] for run in scenarios.RUNS[:-1]}
        | {("equal clocks", f"100 {scenarios.RUNS[-1]}"): [sample(lambda t: 600.0, lambda t: 800.0)]}
    )
    assert verdict("S1-22", samples) == "partly"
    assert verdict("S1-22", cases("equal clocks", {"100": good})) == "reproduced"


def test_an_explanation_is_right_if_the_run_behaves_as_predicted():
    fails = sample(lambda t: 1000.0, lambda t: 1000.0, length_s=30.0)
    works = sample(lambda t: 600.0, lambda t: 600.0, length_s=30.0)

    def by(experiment, rule, table):
        return {
            (experiment, f"{name} {run}"): [fails if rule(case) else works]
            for name, case in table.items()
            for run in measures.SWEEP_RUNS
        }

    def small(case):
        depth = case.params.get("depth", 200)
        return depth > 0 and 2 * depth / (case.tick_ms / 1e3) < 1200

    def late(case):
        return case.tick_ms > 400 + 2 * (case.core_ms - 100)

    for rule, right in ((small, "right_by_bucket"), (late, "right_by_interval")):
        found = measures.separation(
            Samples(
                by("clock and depth", rule, scenarios.BY_DEPTH) | by("clock and RTT", rule, scenarios.BY_RTT)
            )
        )
        assert found[right].mean == 1.0
        assert all(
            found[name].mean < 1.0 for name in ("right_by_bucket", "right_by_interval") if name != right
        )


# --- rules -----------------------------------------------------------------------------------------------------------


def link_quantities(ys, qs, d=0.4, capacity=1200.0):
    """The nine quantities of a link, tick by tick, by a second implementation of the equations."""
    rate, before, base_mean, excess_mean = capacity, 0.0, capacity, 0.0
    rows = []
    for y, q in zip(ys, qs, strict=True):
        n = max(capacity, y) / rate
        beta = max(0.1, (y - before) / y) if y else 0.1
        base_mean += 0.5 * (max(0.0, (capacity - beta * q / d) / n) - base_mean)
        excess_mean += 0.5 * (rate - y / n - excess_mean)
        rate, before = min(max(base_mean + excess_mean, 0.01 * capacity), capacity), y
        rows.append(
            {"R": rate, "C": capacity, "N": n, "T": 0.1, "q": q, "y": y, "d": d, "beta": beta, "eta": 1.0}
        )
    return {symbol: np.array([row[symbol] for row in rows]) for symbol in scenarios.TABLE_1}


def inspection(spoil=lambda table: None):
    """The samples of the experiment that the rules are read from."""
    found = {}
    rng = np.random.default_rng(1)
    for ms in scenarios.CLOCKS_MS:
        ys = np.concatenate([[0.0], rng.uniform(900, 2000, 60)])
        table = link_quantities(ys, rng.uniform(0, 200, 61))
        spoil(table)
        kept = {"times_s": np.arange(1.0, 62.0)}
        for node in ("c1", "r1"):
            kept |= {f"{node}_{symbol}": values for symbol, values in table.items()}
        for run in scenarios.INSPECTED_RUNS:
            found["inspection", f"{ms} {run}"] = [kept]
    return Samples(found)


RULES = {"S1-08": "N", "S1-09": "R", "S1-10": "beta", "S1-12": "R"}


@pytest.mark.parametrize("identity", RULES)
def test_the_equations_are_found_where_they_hold(identity):
    assert verdict(identity, inspection()) == "reproduced"


@pytest.mark.parametrize(("identity", "symbol"), RULES.items())
def test_the_equations_are_missed_where_they_do_not(identity, symbol):
    def spoil(table):
        table[symbol][30] *= 1.001

    assert verdict(identity, inspection(spoil)) == "not reproduced"


def test_the_error_of_a_rounded_clock_is_that_of_the_thirds():
    found = rule_measures.clock_needed(Samples({}))
    # 3333.3 → 3300 ns and → 3000 ns
    assert found["percent_at_0_1_us"].mean == pytest.approx(1.0)
    assert found["percent_at_1_us"].mean == pytest.approx(10.0)


# --- in the running network ------------------------------------------------------------------------------------------


def test_a_method_with_explicit_rates_that_receives_less_than_a_window_is_seen():
    def methods(**totals):
        return Samples(
            {
                ("methods", f"{scheme} {length}"): [
                    {"total": totals.get(scheme, 1000.0), "variation": 0.5 if scheme == "mircc" else 1.0}
                ]
                for scheme in others.METHODS
                for length in others.LENGTHS
            }
        )

    assert verdict("S1-44", methods(mircc=1200.0, hobhis=1100.0, ecn_rate=1000.0)) == "reproduced"
    assert verdict("S1-44", methods(mircc=1200.0, hobhis=1100.0, ecn_rate=1000.0, bic=1200.0)) == "partly"


@pytest.fixture(scope="module")
def figure_3():
    return papers.reproduce("mircc", figure="3", quick=True)


def test_figure_3_is_reproduced(figure_3):
    assert list(figure_3.figures) == ["figure-3"]
    assert figure_3.figures["figure-3"].svg.startswith("<svg")
    verdicts = {claim["id"]: claim["verdict"] for claim in figure_3.claims}
    for number in (21, 22, 23, 24, 25, 26, 27, 28, 29, 30):
        assert verdicts[f"S1-{number}"] == "reproduced", number


def test_the_output_is_json(figure_3):
    text = json.loads(json.dumps(figure_3.as_dict(), allow_nan=False))
    assert {claim["n"] for claim in text["claims"]} == {8}
