"""Profiles of a paper: every claim judged in another set-up as well, apart from the totals; and TCP of ns-2 beside ours."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import numpy as np
import pytest

from thalweg.report import save_reproduction, write
from thalweg_papers import _claims, _runner
from thalweg_papers._base import Experiment, ExperimentKey, Measure, Scale
from thalweg_papers._common import custom, link
from thalweg_papers._profiles import Profile
from thalweg_papers._study import Paper
from thalweg_papers.srmcc import PAPER, ns2, profiles, scenarios
from thalweg_papers.srmcc.keys import Key as Srmcc


class Key(ExperimentKey):
    DATAGRAMS = "datagrams"
    SILENCE = "silence"


def a_link(variant, scale):
    links = [link("wire", "a", "b", rate="1 Mbit/s", delay="1 ms", buffer="10 packets")]
    flow = {"name": "f", "from": "a", "to": "b", "source": {"kind": "constant", "rate": "400 kbit/s"}}
    return custom(f"one link, {variant}", scale.seconds(2.0), links, [flow] if variant == "-" else [])


def keep(result, _variant, _scale):
    rows = result.flows.to_dicts()
    return {"rate_bps": float(rows[0]["rate_bps"]) if rows else 0.0}


def faster(tree):
    for flow in tree["flows"]:
        flow["source"]["rate"] = "800 kbit/s"


def claim(name, key, accept):
    def measured(samples):
        return {"rate": samples.each(key, samples.variants(key)[0], lambda s: s["rate_bps"] / 1e3, "kbit/s")}

    return _claims.Claim(
        id=name,
        kind="N",
        source="§1",
        statement="The rate.",
        expected="as accepted",
        measure=Measure((key,), measured),
        accept=(_claims.Check.parse(accept),),
    )


FAST = Profile("fast", "Twice the rate.", faster)


@pytest.fixture(scope="module")
def done():
    experiments = {
        Key.DATAGRAMS: Experiment(Key.DATAGRAMS, "datagrams", ("-",), a_link, keep, seeds=2),
        Key.SILENCE: Experiment(Key.SILENCE, "nothing", ("none",), a_link, keep, seeds=2),
    }
    paper = Paper(
        name="small",
        title="A small paper",
        experiments=lambda: experiments,
        figure_specs=list,
        choices=dict,
        claims=lambda: [
            claim("S-1", Key.DATAGRAMS, "rate in 380..420"),
            claim("S-2", Key.DATAGRAMS, "rate in 700..900"),
            claim("S-3", Key.SILENCE, "rate <= 0"),
        ],
        profiles=lambda: [FAST],
    )
    return paper.reproduce(jobs=1)


def test_a_claim_has_a_verdict_of_its_own_in_a_profile(done):
    verdicts = {row["id"]: (row["verdict"], row["profiles"]["fast"]["verdict"]) for row in done.claims}
    assert verdicts == {
        "S-1": ("reproduced", "not reproduced"),
        "S-2": ("not reproduced", "reproduced"),
        "S-3": ("reproduced", "reproduced"),
    }
    first = done.claims[0]
    assert first["measured"] == pytest.approx(400, rel=0.05)
    assert first["profiles"]["fast"]["measured"] == pytest.approx(800, rel=0.05)


def test_the_totals_are_those_of_the_first_set_up(done):
    assert done.counts()["reproduced"] == 2
    (profile,) = json.loads(json.dumps(done.as_dict(), allow_nan=False))["profiles"]
    assert profile["name"] == "fast"
    assert profile["counts"]["reproduced"] == 2
    assert profile["counts"]["not reproduced"] == 1


def test_only_what_a_profile_changes_runs_again(done):
    assert [(run["experiment"], run["seed"]) for run in done.runs] == [
        ("datagrams", 1),
        ("datagrams", 2),
        ("silence", 1),
        ("silence", 2),
        ("datagrams, fast", 1),
        ("datagrams, fast", 2),
    ]
    assert done.runs[0]["trace_hash"] != done.runs[4]["trace_hash"]


def test_a_profile_leaves_the_scenarios_that_it_changes_as_they_were():
    tree = a_link("-", Scale())
    kept = json.dumps(tree)
    usual = {Key.DATAGRAMS: Experiment(Key.DATAGRAMS, "datagrams", ("-",), lambda *_: tree, keep)}
    changed = FAST.experiments(usual, Scale())[Key.DATAGRAMS].tree("-", Scale())
    assert changed["flows"][0]["source"]["rate"] == "800 kbit/s"
    assert json.dumps(tree) == kept


def test_the_page_and_the_terminal_show_both_verdicts_side_by_side(done, tmp_path, capsys):
    from thalweg.cli.reproduce import _print

    save_reproduction(done, tmp_path)
    page = write(tmp_path).read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "<th>fast</th>" in page
    assert "Twice the rate." in page
    assert re.search(r"<div>rate 800(\.\d+)? kbit/s, limit 380 to 420 kbit/s</div>", page)
    assert "2 seeds: too few for an interval to mean much" in page
    _print(done, tmp_path, 1.0)
    said = capsys.readouterr().out
    assert "fast, apart from these totals" in said
    assert re.search(r"rate 800(\.\d+)? kbit/s", " ".join(said.split()))
    assert "2 seeds: too few for an interval to mean much" in " ".join(said.split())


# --- SRMCC -----------------------------------------------------------------------------------------------------------


def test_the_stock_profile_is_tahoe_with_20_packets_and_nothing_else():
    tree = scenarios.scenario(4, "tfmcc", Scale())
    before = json.loads(json.dumps(tree))
    profiles.stock(tree)
    connections = [flow for flow in tree["flows"] if flow.get("scheme") == "reno"]
    assert len(connections) == 2
    for flow in connections:
        # 20 · (1000 − 40)
        assert flow["tcp"]["receive_window"] == "19200 B"
        assert flow["tcp"]["fast_recovery"] is False
        assert flow["tcp"]["sack"] is False
    others = [flow for flow in tree["flows"] if flow not in connections]
    assert others == [flow for flow in before["flows"] if flow.get("scheme") != "reno"]
    assert tree["topology"] == before["topology"]


def test_every_experiment_beside_tcp_that_a_claim_rests_on_is_another_in_the_stock_profile():
    (profile,) = PAPER.profiles()
    changed = profile.experiments(PAPER.experiments(), Scale())
    judges = {key for row in PAPER.claims() if row.measure for key in row.measure.experiments}
    assert judges - set(changed) == {Srmcc.GROUPS, Srmcc.RAMP, Srmcc.LIMITING_RECEIVER}


# --- ns-2 ------------------------------------------------------------------------------------------------------------


def test_ns2_has_run_all_cases_with_ten_seeds():
    runs = ns2.measured()
    assert set(runs) == set(ns2.VARIANTS)
    assert all(len({run["seed"] for run in found}) == 10 for found in runs.values())


@pytest.mark.parametrize("variant", ns2.VARIANTS)
def test_connections_have_the_throughput_that_they_have_in_ns2(variant):
    experiment = dataclasses.replace(PAPER.experiments()[Srmcc.NS2], variants=(variant,), seeds=4)
    runs = _runner.plan([experiment], {Srmcc.NS2}, Scale(), 1)
    ours = [ns2._mean_of_two(sample) for _, sample in _runner.run_all(runs, jobs=1)]
    theirs = [ns2._mean_of_two(run) for run in ns2.measured()[variant]]

    def mean(rows: list[dict[str, Any]], key: str) -> float:
        return float(np.mean([row[key] for row in rows]))

    for key, tolerance in (("tcp_mbps", 0.0), ("utilisation", 0.0), ("drops", 30.0)):
        assert mean(ours, key) == pytest.approx(mean(theirs, key), rel=TOLERANCE[key], abs=tolerance), key


TOLERANCE = {"tcp_mbps": 0.03, "utilisation": 0.03, "drops": 0.25}
"""Drops depend on the phase in which the connections come to the queue."""
