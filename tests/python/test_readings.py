"""Readings for questions that a paper leaves open: how they are declared, run and compared."""

from __future__ import annotations

import dataclasses
import json
from copy import deepcopy

import pytest

import thalweg_papers as papers
from thalweg_papers import _claims, _readings
from thalweg_papers._base import Experiment, ExperimentKey, Measure, Scale
from thalweg_papers._readings import Option, Reading, parameters
from thalweg_papers._study import Paper
from thalweg_papers.cvihis import scenarios as cvihis_scenarios


class Key(ExperimentKey):
    FAST = "fast"
    SLOW = "slow"


def flow(scheme="reno", **params):
    return {"name": "f", "scheme": scheme, "params": params}


def tree(variant, _scale):
    return {
        "title": variant,
        "duration": "2 s",
        "topology": {
            "kind": "dumbbell",
            "edge": {"rate": "100 Mbit/s", "delay": "1 ms"},
            "bottleneck": {"rate": f"{variant} Mbit/s", "delay": "5 ms", "buffer": "20 packets"},
        },
        "flows": [{"name": "f", "scheme": "cubic", "start_spread": "0.1 s"}],
    }


def keep(result, _variant, _scale):
    return {"bps": float(result.flows["throughput_bps"][0])}


def mean(key, variant):
    return Measure((key,), lambda samples: {"bps": samples.each(key, variant, lambda s: s["bps"])})


def claim(name, measure, *accept):
    return _claims.Claim(
        id=name,
        kind="N",
        source="§1",
        statement=f"statement {name}",
        expected="some",
        measure=measure,
        accept=tuple(map(_claims.Check.parse, accept)),
    )


def halved(tree):
    if tree["topology"]["bottleneck"]["rate"] == "2 Mbit/s":
        tree["topology"]["bottleneck"]["rate"] = "1 Mbit/s"


RATE = Reading(
    "rate",
    "How fast is the link?",
    (Option("as-said", "“2 Mbit/s” (§1)."), Option("half", "Ours.", halved)),
    default="as-said",
)


def paper(*readings):
    experiments = {
        Key.FAST: Experiment(Key.FAST, "", ("2", "4"), tree, keep, seeds=3, quick_seeds=2),
        Key.SLOW: Experiment(Key.SLOW, "", ("1",), tree, keep, seeds=3, quick_seeds=2),
    }
    claims = [
        claim("T-1", mean(Key.FAST, "2"), "bps >= 1.2e6"),
        claim("T-2", mean(Key.FAST, "4"), "bps >= 1.2e6"),
        claim("T-3", mean(Key.SLOW, "1"), "bps <= 1.2e6"),
        dataclasses.replace(claim("T-4", None), testable=False, reason="no run decides it"),
    ]
    return Paper(
        name="test",
        title="A paper",
        experiments=lambda: experiments,
        figure_specs=tuple,
        choices=dict,
        claims=lambda: claims,
        readings=lambda: readings,
    )


def test_only_the_default_option_changes_nothing():
    for options, default in (
        ((Option("a", ""), Option("b", "")), "a"),
        ((Option("a", "", halved), Option("b", "", halved)), "a"),
        ((Option("a", ""), Option("b", "", halved)), "b"),
    ):
        with pytest.raises(ValueError, match=r"reading r: .*changes nothing"):
            Reading("r", "?", options, default)
    with pytest.raises(ValueError, match="one name"):
        Reading("r", "?", (Option("a", ""), Option("a", "", halved)), "a")


def test_parameters_change_the_flows_of_one_scheme_and_keep_the_others():
    tree = {"flows": [flow(a=1, b=1), flow("cubic"), {"name": "noise"}]}
    parameters("reno", b=2, c=3)(tree)
    assert tree["flows"] == [flow(a=1, b=2, c=3), flow("cubic"), {"name": "noise"}]


def test_an_option_affects_the_experiments_whose_scenarios_it_changes():
    experiments = paper().experiments()
    option = RATE.options[1]
    assert _readings.affected_experiments(experiments, option, Scale()) == {Key.FAST}
    assert experiments[Key.FAST].tree("2", Scale())["topology"]["bottleneck"]["rate"] == "2 Mbit/s"
    for wrong in (dataclasses.replace(option, only=(Key.SLOW,)), Option("x", "", lambda _: None)):
        with pytest.raises(ValueError, match="no scenario changes"):
            _readings.affected_experiments(experiments, wrong, Scale())


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        (("partly", 1.0, None), ("partly", 1.0, None), False),
        (("partly", 1.0, None), ("reproduced", 1.0, None), True),
        (("partly", 1.0, (0.7, 1.3)), ("partly", 1.5, (1.2, 1.8)), False),
        (("partly", 1.0, (0.8, 1.2)), ("partly", 1.5, (1.3, 1.7)), True),
        (("partly", 1.0, (0.9, 1.6)), ("partly", 1.5, (1.4, 1.5)), False),
        (("partly", 1.0, None), ("partly", 1.01, None), True),
        (("partly", None, None), ("partly", None, None), False),
        (("partly", None, None), ("partly", 1.0, None), True),
    ],
)
def test_a_claim_changes_with_its_verdict_or_beyond_both_intervals(before, after, changed):
    first, second = (
        {
            "verdict": verdict,
            "quantity": "x",
            "measured": mean,
            **dict(zip(("low", "high"), ends or (None, None), strict=True)),
        }
        for verdict, mean, ends in (before, after)
    )
    assert _readings.differs(first, second) is changed
    assert _readings.differs(first, {**second, "quantity": "y"}) is True


def test_each_option_is_judged_by_the_claims_that_its_experiments_feed(tmp_path):
    told = []
    done = paper(RATE).compare_readings(
        jobs=2, out=tmp_path, progress=lambda now, total, what: told.append((now, total))
    )
    # three seeds of both variants, and three of the changed one; the experiment that feeds no changed claim is not run
    assert (done.runs, told[-1]) == (9, (9, 9))
    assert [row["id"] for row in done.claims] == ["T-1"]
    assert done.unchanged == {"rate": 1}
    (row,) = done.rows("rate")
    assert row["verdict"] == "reproduced"
    assert row["measured"] > 1.5e6
    half = row["options"]["rate"]["half"]
    assert (half["verdict"], half["changed"], half["n"]) == ("not reproduced", True, 3)
    assert half["measured"] < 1e6
    described = json.loads(json.dumps(done.as_dict()))
    assert described["readings"][0]["default"] == "as-said"
    # what is kept is not run again, and gives the same
    assert paper(RATE).compare_readings(jobs=1, out=tmp_path).as_dict() == done.as_dict()


def test_one_claim_is_judged_under_each_option_that_touches_it_changed_or_not(tmp_path):
    done = paper(RATE).compare_readings(jobs=2, claim="t-2", out=tmp_path)
    # both variants of the experiment under the option's changed scenario, and without it
    assert (done.claim, done.runs, [row["id"] for row in done.claims]) == ("T-2", 9, ["T-2"])
    assert done.claims[0]["options"]["rate"]["half"]["changed"] is False
    with pytest.raises(KeyError, match="no reading of test touches T-3"):
        paper(RATE).compare_readings(claim="T-3")
    with pytest.raises(KeyError, match="test has no claim 'T-9'; did you mean T-"):
        paper(RATE).compare_readings(claim="T-9")


@pytest.mark.parametrize("name", [name for name, paper in papers.PAPERS.items() if paper.readings()])
def test_the_readings_of_a_paper_change_scenarios_that_are_accepted(name):
    from thalweg import Scenario

    paper = papers.PAPERS[name]
    experiments = paper.experiments()
    readings = paper.readings()
    assert len({reading.name for reading in readings}) == len(readings)
    for reading in readings:
        for option in reading.others:
            assert option.sentence
            keys = _readings.affected_experiments(experiments, option, Scale())
            fed = [c for c in paper.claims() if c.testable and keys.intersection(c.measure.experiments)]
            assert fed, f"{reading.name}, {option.name}: no claim rests on what it changes"
            experiment = experiments[sorted(keys)[0]]
            for variant in experiment.variants[:: max(1, len(experiment.variants) // 3)]:
                edited = deepcopy(experiment.tree(variant, Scale()))
                option.change(edited)
                Scenario.from_tree(edited).plan(1)


READING = """
[[reading]]
name = "smoothing"
question = "Which part?"
default = "steps"
[[reading.option]]
name = "steps"
sentence = "Of steps."
[[reading.option]]
name = "rate"
sentence = "Of the rate."
"""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "reading smoothing: .*must be the one option that changes nothing; there are: steps, rate"),
        ("change = { paremeters = 1 }", "option rate: change: .*did you mean `parameters`"),
        ("change = { start = 0.5, longer = true }", "option rate: change: one function"),
        ("change = { jitter = { bye = '1 ms' } }", "option rate: change: jitter.*'bye'"),
        ("change = { longer = true }\nonly = ['back off']", "option rate: only: .*did you mean `back-off`"),
        (
            "change = { longer = true }\nonly = ['VARIES']",
            "option rate: only: no experiment `VARIES`; did you mean `VARIED`",
        ),
        ("changes = { longer = true }", "reading smoothing: .*unknown field `changes`"),
    ],
)
def test_errors_in_readings_name_file_reading_option_and_key(tmp_path, more, said):
    path = tmp_path / "readings.toml"
    path.write_text(READING + more, encoding="utf-8")
    with pytest.raises(ValueError, match=said) as error:
        _readings.read(path, "thalweg_papers.cvihis")
    assert str(error.value).startswith(f"{path}: reading smoothing")


def test_a_reading_takes_functions_with_their_arguments_and_sets_of_experiments(tmp_path):
    path = tmp_path / "readings.toml"
    path.write_text(READING + "change = { two_links = [1000, 2000] }\nonly = ['back-off', 'VARIED']", "utf-8")
    (reading,) = _readings.read(path, "thalweg_papers.cvihis")
    (option,) = reading.others
    edited = cvihis_scenarios.figure_8("", Scale())
    option.change(edited)
    rates = {wire["name"]: wire["rate"] for wire in edited["topology"]["links"]}
    assert (rates["first"], rates["second"]) == ("1000 kbit/s", "2000 kbit/s")
    assert [str(key) for key in option.only] == ["back-off", "friendliness", "itself"]


def test_a_paper_without_readings_is_refused_with_those_that_have_some():
    with pytest.raises(KeyError, match=r"'scaling' has no readings; these have some: cvihis"):
        papers.compare_readings("scaling")


def test_longer_tests_of_cvihis_are_measured_at_their_end():
    import numpy as np

    from thalweg_papers.cvihis import measures, readings

    tree = cvihis_scenarios.back_off("2000 10", Scale())
    readings.longer(tree)
    assert tree["duration"] == "420 s"
    assert [flow.get("stop") for flow in tree["flows"]] == [None, "290 s"]
    times = np.arange(1.0, 421.0)
    sample = {"times_s": times, "rate video": np.where(times <= 230, 2e6, 5e5), "tcp_until_s": 290.0}
    assert measures.last_minute(sample, 2000) == pytest.approx(0.25)


def test_control_packets_of_mca_out_of_band_have_a_class_on_every_link():
    from thalweg_papers.mca import readings, scenarios

    tree = scenarios.chain("lossless", Scale())
    readings.out_of_band(tree)
    assert all(link["classes"] == [1, 1] for link in tree["topology"]["links"])
    assert all(flow["params"] == {"control": "out_of_band"} for flow in tree["flows"])


def test_access_delay_and_start_of_mca_change_what_they_name():
    from thalweg_papers.mca import readings, scenarios

    tree = scenarios.star("lossy", Scale())
    readings.access_delay("1 ms")(tree)
    readings.start_spread("20 s")(tree)
    delays = {link["name"].rstrip("0123456789"): link["delay"] for link in tree["topology"]["links"]}
    assert delays == {"access": "1 ms", "bottleneck": "5 ms"}
    assert {flow["start_spread"] for flow in tree["flows"]} == {"20 s"}


def test_smooth_sending_of_mircc_takes_the_consumers_clocks_and_leaves_the_routers():
    from thalweg_papers.mircc import PAPER, scenarios

    (smooth,) = (r for r in PAPER.readings() if r.name == "smooth-sending")
    tree = scenarios.dumbbell(scenarios.Case(tick_ms=500, interval_ms=500), "0/C", "")
    smooth.others[0].change(tree)
    assert [flow["consumer"] for flow in tree["flows"]] == [{"tick": "0 s", "retries": 0}] * 2
    assert tree["ndn"]["link_params"]["interval"] == "500 ms"


def test_groups_of_any_size_have_as_many_receivers_in_all():
    from thalweg_papers.mca import cost

    for size, flows in ((128, 8), (1024, 1)):
        tree = cost.groups(size, 1024, 1.0)
        receivers = [node for flow in tree["flows"] for node in flow["to"]]
        assert (len(tree["flows"]), len(set(receivers)), len(receivers)) == (flows, 1024, 1024)
        assert len(tree["topology"]["links"]) == 1024 + flows
