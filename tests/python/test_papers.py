"""Papers: their claims, how they are judged, and a quick reproduction."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars
import pytest

import thalweg_papers as papers
from thalweg_papers import _claims, _read, _runner
from thalweg_papers._base import Experiment, ExperimentKey, Measure, Quantity, Samples, Scale
from thalweg_papers.mca import PAPER, extracts, measures, rule_measures, rules, scenarios
from thalweg_papers.mca.keys import Key

KEYS = {
    "id",
    "source",
    "statement",
    "expected",
    "measured",
    "quantity",
    "low",
    "high",
    "limit",
    "checks",
    "n",
    "verdict",
    "reason",
    "evidence",
    "ratios",
}


def test_all_claims_of_mca_are_listed():
    rows = PAPER.claims()
    assert [row.id for row in rows] == [f"S004-{number:02d}" for number in range(1, 50)]
    fitted = {row.id for row in rows if row.evidence == "fitted"}
    assert fitted == {f"S004-{number}" for number in (11, 16, 20, *range(23, 35), 39)}
    assert {row.id for row in rows if row.evidence == "conformance"} == {f"S004-0{n}" for n in range(1, 9)}


@pytest.mark.parametrize("name", papers.PAPERS)
def test_claims_measures_and_experiments_of_a_paper_need_each_other(name):
    paper = papers.PAPERS[name]
    runs = paper.experiments()
    measured = [claim.measure for claim in _runner.check_measures(paper.claims(), runs) if claim.testable]
    used = {experiment for measure in measured for experiment in measure.experiments}
    drawn = {experiment for spec in paper.figure_specs() for experiment in spec.experiments}
    assert used | drawn == set(runs)
    package = type(paper).__module__.rpartition(".")[0]
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{package}.{paper.name}.")]
    known = [
        value
        for module in modules
        if not module.__name__.endswith(".real_measures")
        for value in vars(module).values()
        if isinstance(value, Measure)
    ]
    assert known
    assert all(any(measure is one for one in measured) for measure in known), "each belongs to a claim"


@pytest.mark.parametrize("study", [*papers.PAPERS.values(), *papers.STUDIES.values()], ids=lambda s: s.name)
def test_experiments_and_figures_are_joined_by_typed_keys(study):
    runs = study.experiments()
    assert all(isinstance(key, ExperimentKey) and runs[key].name is key for key in runs)
    for spec in study.figure_specs():
        assert all(isinstance(key, ExperimentKey) and key in runs for key in spec.experiments), spec.id


@pytest.mark.parametrize("name", papers.PAPERS)
def test_every_experiment_of_a_paper_has_scenarios_that_are_accepted(name):
    from thalweg import Scenario

    for experiment in papers.PAPERS[name].experiments().values():
        # some of each, since there are hundreds
        for variant in experiment.variants[:: max(1, len(experiment.variants) // 6)]:
            Scenario.from_tree(experiment.tree(variant, Scale())).plan(1)


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("x <= 3", 3.0, 3.1),
        ("x > -1e-3", 0.0, -1e-3),
        ("x in 1..3", 1.0, 0.9),
        ("x in -0.5 .. 0.5", -0.5, 0.6),
        ("x <= 5 %", 0.05, 0.06),
    ],
)
def test_checks_have_the_relations_of_scenarios(text, yes, no):
    check = _claims.Check.parse(text)
    assert (check.name, check.text) == ("x", text)
    assert check.holds(yes)
    assert not check.holds(no)
    assert not check.holds(float("nan"))


@pytest.mark.parametrize("text", ["x", "x 3", "x in 3", "x in 1..", "x in >= 3", "3 <= x", "x >= three"])
def test_an_acceptance_that_is_no_relation_is_refused(text):
    with pytest.raises(ValueError, match="is not"):
        _claims.Check.parse(text)


def line(item):
    key, value = item
    if isinstance(value, dict):
        return "".join(f"{key}.{name} = {number}\n" for name, number in value.items())
    return f"{key} = {json.dumps(value)}\n"


GOOD = {
    "id": "T-9",
    "kind": "R",
    "source": "§1",
    "statement": "s",
    "expected": "e",
    "measure": "rule_measures.thresholds",
    "accept": ["x <= 1"],
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sauce": "§1"}, "unknown field `sauce`"),
        ({"kind": "Z"}, "'Z' - at `$.kind`"),
        ({"statement": 3}, "Expected `str`, got `int` - at `$.statement`"),
        ({"accept": ["x <= 1", 2]}, "Expected `str`, got `int` - at `$.accept[1]`"),
        ({"accept": ["x is 1"]}, "'x is 1' is not"),
        ({"accept": []}, "needs `measure` and `accept`"),
        ({"testable": False}, "needs a `reason`"),
        ({"evidence": "fitted"}, "'fitted'` needs a `why`"),
        ({"evidence": "by construction"}, "needs a `why`"),
        ({"evidence": "set-up"}, "needs a `why`"),
        ({"kind": "U", "evidence": "independent"}, "is no result of the paper"),
        ({"evidence": "hearsay"}, "'hearsay' - at `$.evidence`"),
        ({"kind": "D"}, "is no independent evidence"),
        ({"kind": "N"}, "needs `printed`"),
        (
            {"printed": {"x": 1}, "accept": ["x in 0.5..1.05"]},
            "x may differ from the printed 1 by more than 10%",
        ),
        ({"printed": {"x": 1}}, "say why in `band`"),
        ({"measure": "rule_measures.treshold"}, "no `treshold`.*did you mean `thresholds`"),
        ({"measure": "rule_measure.thresholds"}, "no module `rule_measure`.*did you mean `rule_measures`"),
        ({"measure": "rule_measures.keys"}, "measure: no `keys`"),
    ],
)
def test_errors_in_claims_name_file_claim_and_key(tmp_path, changes, said):
    path = tmp_path / "claims.toml"
    row = {**GOOD, **changes}
    path.write_text("[[claim]]\n" + "".join(map(line, row.items())), encoding="utf-8")
    with pytest.raises(ValueError, match=said.replace("[", r"\[").replace("$", r"\$")) as error:
        _claims.read(path, "thalweg_papers.mca")
    assert f"{path}: claim T-9: " in str(error.value)


def test_a_claim_finds_the_function_that_measures_it(tmp_path):
    (first, *_) = PAPER.claims()
    assert first.measure is rule_measures.thresholds
    assert first.measure.experiments == (Key.ONE_QUEUE,)


def test_a_measure_of_an_unknown_experiment_is_refused():
    class Other(ExperimentKey):
        ELSEWHERE = "elsewhere"

    wrong = dataclasses.replace(PAPER.claims()[0], measure=Measure((Other.ELSEWHERE,), lambda _: {}))
    with pytest.raises(ValueError, match=r"S004-01.*'elsewhere'"):
        _runner.check_measures([wrong], PAPER.experiments())


def test_a_confidence_interval_is_that_of_student():
    assert Quantity((1.0, 2.0, 30.0), within=(0.0, 40.0)).interval == (0.0, 40.0)
    low, high = Quantity((11.0, 12.0, 13.0)).interval
    assert (low, high) == (pytest.approx(12 - 2.4841, abs=1e-3), pytest.approx(12 + 2.4841, abs=1e-3))
    assert Quantity((1.0, 2.0, 3.0)).interval[0] == 0, "no seed is negative"
    assert Quantity((-0.1, 2.0, 3.0)).interval[0] < -1
    assert Quantity((1.0,)).interval is None


def test_a_figure_is_found_under_its_short_names():
    for name in ("8", "fig8", "Figure 8", "figure-8", "Fig. 8"):
        assert _runner.find_figure(PAPER, name).id == "figure-8"
    assert _runner.find_figure(PAPER, "Table 1").id == "table-1"
    with pytest.raises(KeyError, match="figure-14"):
        _runner.find_figure(PAPER, "9")


def test_an_unknown_paper_is_refused_with_the_known_ones():
    with pytest.raises(KeyError, match="there are: cvihis, mca, mircc"):
        papers.reproduce("macro")


def test_slow_links_of_the_tree_are_2_4_and_8_with_one_on_any_path():
    slow = scenarios.slow_links()
    assert [sum(len(path) == level for path in slow) for level in (1, 2, 3)] == [2, 4, 8]
    leaves = [a + b + c for a in "abcd" for b in "abcd" for c in "abcd"]
    assert max(sum(leaf[:depth] in slow for depth in (1, 2, 3)) for leaf in leaves) == 1


def test_every_bottleneck_of_the_chain_is_shared_by_30_flows():
    tree = scenarios.chain("lossless", Scale())
    shared = {1: 0, 2: 0, 3: 0, 4: 0}
    for flow in tree["flows"]:
        first, last = int(flow["from"][1]), int(flow["to"][0][1])
        for hop in range(first, last + 1):
            shared[hop] += flow["count"]
    assert shared == {1: 30, 2: 30, 3: 30, 4: 30}


def test_time_is_compressed_with_its_events():
    tree = scenarios.one_bottleneck("lossless", Scale(0.25))
    assert tree["duration"] == "125 s"
    assert [(flow["start"], flow["stop"]) for flow in tree["flows"]] == [
        ("0 s", "125 s"),
        ("25 s", "100 s"),
        ("50 s", "75 s"),
    ]


def fabricated(series=(), events=()):
    """A result that holds only these rows."""
    return SimpleNamespace(
        series=polars.DataFrame(
            [*series],
            schema={"time_s": polars.Float64, "subject": str, "series": str, "value": polars.Float64},
            orient="row",
        ),
        events=polars.DataFrame(
            [*events],
            schema={
                "time_s": polars.Float64,
                "subject": str,
                "event": str,
                "value": polars.Float64,
                "text": str,
            },
            orient="row",
        ),
    )


def replay(values, begins, ends):
    """The hysteresis over one value a millisecond, with epochs that begin and end at these milliseconds."""
    subject = "receiver.m@d"
    rows = [(0.001 * (i + 1), subject, "accumulation", float(value)) for i, value in enumerate(values)]
    marks = [
        (0.001 * (i + 1), subject, event, float(values[i]), "")
        for event, at in (("congestion_begins", begins), ("congestion_ends", ends))
        for i in at
    ]
    return rules._replay_hysteresis(fabricated(rows, marks), "m")


def test_the_replayed_hysteresis_accepts_what_follows_the_rule():
    found = replay([0, 1500, 2100, 1200, 900, 1500, 2500, 500], begins=[2, 6], ends=[4, 7])
    assert found == {"epochs": 2, "violations": 0, "smallest_entry": 2100.0, "largest_exit": 900.0}
    assert replay([0, 2100, 1500], begins=[1], ends=[])["violations"] == 0


@pytest.mark.parametrize(
    ("values", "begins", "ends"),
    [
        ([0, 1900], [1], []),
        ([0, 2100], [], []),
        ([0, 2100, 1200, 1500], [1], [2]),
        ([0, 2100, 800, 1200], [1], [3]),
    ],
    ids=["entered below 2 packets", "not entered above", "left above 1 packet", "not left below"],
)
def test_the_replayed_hysteresis_finds_what_breaks_the_rule(values, begins, ends):
    assert replay(values, begins, ends)["violations"] >= 1


def steps(rates, period_s=0.1):
    """Rates, one a millisecond, with a steady period."""
    rows = [(0.001 * (i + 1), "flow.m", "allowed_rate", float(rate)) for i, rate in enumerate(rates)]
    rows += [(0.001 * (i + 1), "flow.m", "period", period_s) for i in range(len(rates))]
    return rules._replay_rates(fabricated(rows), "flow.m")


def test_the_replayed_rates_have_both_reductions_and_the_increase():
    rates = np.repeat([800e3, 720e3, 540e3, 620e3], 121)
    assert steps(rates) == {
        "accumulation_cuts": 1,
        "loss_cuts": 1,
        "wrong_factor": 0,
        "too_soon": 0,
        "increases": 1,
        "wrong_step": 0,
    }


def test_the_replayed_rates_find_other_cuts_hasty_cuts_and_other_steps():
    assert steps([1000e3, 800e3])["wrong_factor"] == 1
    assert steps([1000e3, 900e3, 810e3])["too_soon"] == 1
    assert steps([1000e3, 1100e3])["wrong_step"] == 1


def test_series_of_several_subjects_share_their_times():
    rows = [(1.0, "flow.a", "rate", 1.0), (2.0, "flow.a", "rate", 2.0), (2.0, "flow.b", "rate", 3.0)]
    found = _read.series(fabricated(rows), "rate")
    np.testing.assert_array_equal(found["flow.a"], [1.0, 2.0])
    np.testing.assert_array_equal(found["flow.b"], [np.nan, 3.0])


def tracked(switch_s, switch_link):
    return {"end_s": 1400.0, "switch_s": np.array(switch_s), "switch_link": np.array(switch_link)}


def test_time_on_the_most_congested_link_leaves_out_the_first_20_s():
    right = tracked([0, 200, 400, 600, 800, 1000, 1200], [1, 2, 3, 4, 3, 2, 1])
    assert measures.period_shares(right) == [1.0] * 7
    late = tracked([0, 290, 400, 600, 800, 1000, 1200], [1, 2, 3, 4, 3, 2, 1])
    assert measures.period_shares(late)[1] == pytest.approx(110 / 180)
    assert measures.period_switches(right) == [0.5] * 7


def test_phases_leave_out_the_time_after_joins():
    times = np.arange(1.0, 501.0)
    whole, settled = extracts.phase_windows(times, Scale())
    assert [int(window.sum()) for window in whole] == [100] * 5
    assert [int(window.sum()) for window in settled] == [80] * 5


def test_the_longest_runs_start_first_and_seeds_are_in_order():
    def nothing(*_):
        return {}

    short = Experiment("short", "", ("a",), nothing, nothing, seeds=2, weight=1)
    long = Experiment("long", "", ("a", "b"), nothing, nothing, seeds=1, weight=5)
    runs = _runner.plan([short, long], {"short", "long"}, Scale(), seed=7)
    assert [(run.experiment.name, run.variant, run.seed) for run in runs] == [
        ("long", "a", 7),
        ("long", "b", 7),
        ("short", "a", 7),
        ("short", "a", 8),
    ]


def test_a_kept_sample_depends_on_the_modules_that_its_extract_uses():
    from thalweg_papers.ndnsieve import extracts, signals

    code = _runner.source_code_of(extracts.counters)
    assert Path(extracts.__file__).read_bytes() in code
    assert Path(signals.__file__).read_bytes() in code


def test_samples_list_the_experiments_that_were_run():
    samples = Samples({("star", "lossy"): [{"x": 1.0}, {"x": 3.0}]})
    assert samples.has("star")
    assert not samples.has("chain")
    assert samples.each("star", "lossy", lambda s: s["x"]).mean == 2.0


@pytest.fixture(scope="module")
def figure_8(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduction")
    told = []
    done = papers.reproduce(
        "mca", figure="8", quick=True, out=out, progress=lambda done, total, what: told.append((done, total))
    )
    return done, told, out


def test_a_quick_reproduction_draws_its_figure_and_judges_its_claims(figure_8):
    done, told, _ = figure_8
    assert list(done.figures) == ["figure-8"]
    assert done.figures["figure-8"].svg.startswith("<svg")
    # the numbers below both panels say of which runs they are
    assert (
        "in the runs without packet loss the phase mean that is furthest from"
        in done.figures["figure-8"].caption
    )
    assert {claim["id"] for claim in done.claims} == {f"S004-{number}" for number in range(14, 19)}
    assert told == sorted(told)
    assert {(number, 4) for number in range(1, 5)} <= set(told) <= {(number, 4) for number in range(5)}
    assert done.quick
    assert "Quick" in done.notes[0]


def test_the_output_is_json_with_the_agreed_keys(figure_8):
    done, _, _ = figure_8
    text = json.loads(json.dumps(done.as_dict(), allow_nan=False))
    for row in text["claims"]:
        assert set(row) >= KEYS
        assert row["verdict"] in {"reproduced", "partly", "not reproduced", "not testable"}
        assert (row["reason"] is None) == (row["verdict"] == "reproduced")
    assert all(len(run["trace_hash"]) == 16 for run in text["runs"])


def test_a_second_reproduction_reads_what_the_first_kept_and_jobs_change_nothing(figure_8):
    done, _, out = figure_8
    again = papers.reproduce("mca", figure="8", quick=True, out=out, jobs=1)
    assert again.as_dict() == done.as_dict()
    fresh = papers.reproduce("mca", figure="8", quick=True, jobs=1)
    assert fresh.runs == done.runs
    assert fresh.claims == done.claims
