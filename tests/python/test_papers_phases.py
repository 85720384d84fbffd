"""Drawn delays and starts: the scenarios of each seed, and the rows whose verdict they change."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

import reproductions
from cli_calls import asked, refused_after
from thalweg.event_labels import seconds
from thalweg.report import save_reproduction, write
from thalweg_papers import PAPERS, _claims, _judge, _phases
from thalweg_papers._base import Experiment, ExperimentKey, Measure, Scale
from thalweg_papers._common import custom, link
from thalweg_papers._study import Paper


class Key(ExperimentKey):
    PATH = "path"
    OWN = "own"


def two_links(variant, scale):
    links = [
        link("near", "a", "r", rate="10 Mbit/s", delay="1 ms", buffer="10 packets"),
        link("far", "r", "b", rate="10 Mbit/s", delay="100 ms", buffer="10 packets"),
        link("aside", "r", "c", like="near"),
    ]
    flow = {"name": "f", "from": "a", "to": "b", "source": {"kind": "constant", "rate": "400 kbit/s"}}
    return custom(f"two links, {variant}", scale.seconds(2.0), links, [flow])


def delays(tree):
    return {wire["name"]: seconds(wire["delay"]) for wire in tree["topology"]["links"] if "delay" in wire}


# --- scenarios -------------------------------------------------------------------------------------------------------


def test_delays_are_drawn_within_their_bounds_and_are_the_same_in_all_variants():
    tree = two_links("-", Scale())
    before = deepcopy(tree)
    found = [delays(_phases.drawn(tree, seed)) for seed in range(1, 201)]
    assert tree == before
    assert all(set(one) == {"near", "far"} for one in found), "a link that is like another has its delay"
    for name, low, high in (("near", 0.0, 0.002), ("far", 0.095, 0.105)):
        values = [one[name] for one in found]
        assert low <= min(values) < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < max(values) <= high
    other = two_links("another", Scale())
    other["topology"]["links"].reverse()
    assert delays(_phases.drawn(other, 7)) == found[6]
    assert found[6] != found[7]


def test_a_flow_starts_within_a_round_trip_where_its_start_is_not_spread_over_more():
    tree = two_links("-", Scale())
    tree["flows"] += [
        {**tree["flows"][0], "name": "near", "to": "r"},
        {**tree["flows"][0], "name": "both", "to": ["r", "c"]},
        {**tree["flows"][0], "name": "later", "start_spread": "2 s"},
    ]
    drawn = _phases.drawn(tree, 3)
    at = delays(drawn)
    spreads = {flow["name"]: seconds(flow["start_spread"]) for flow in drawn["flows"]}
    assert spreads == pytest.approx(
        {
            "f": 2 * (at["near"] + at["far"]),
            "near": 2 * at["near"],
            "both": 4 * at["near"],
            "later": 2.0,
        },
        abs=1e-5,
    )


def test_a_network_that_is_not_listed_is_left_as_it_is():
    tree = {"topology": {"kind": "dumbbell"}, "flows": [{"name": "f"}]}
    assert _phases.drawn(tree, 1) == tree


# --- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usual", "verdict", "share", "dependent"),
    [
        ("reproduced", "reproduced", 1.0, False),
        ("reproduced", "reproduced", 0.9, False),
        ("reproduced", "reproduced", 0.8, True),
        ("reproduced", "not reproduced", 0.3, True),
        ("not reproduced", "not reproduced", 0.0, False),
        ("not reproduced", "reproduced", 1.0, True),
        ("partly", "partly", 0.2, False),
        ("reproduced", "not testable", None, True),
    ],
)
def test_a_row_depends_on_phases_if_its_verdict_changes_or_too_few_seeds_confirm_it(
    usual, verdict, share, dependent
):
    row = _phases.Row(usual=usual, verdict=verdict, share_of_seeds=share, measured="", accept=())
    assert row.dependent is dependent


def keep(result, _variant, _scale):
    return {"delay_ms": 1e3 * float(result.flows.to_dicts()[0]["base_delay_s"])}


def claim(name, key, accept, evidence="independent"):
    def measured(samples):
        return {"delay": samples.each(key, "-", lambda s: s["delay_ms"], "ms")}

    return _claims.Claim(
        id=name,
        kind="R",
        source="§1",
        statement="The delay.",
        expected="as accepted",
        evidence=evidence,
        measure=Measure((key,), measured),
        accept=(_claims.Check.parse(accept),),
    )


STORED = _phases.Phases(
    seeds=10,
    seed=1,
    quick=False,
    rows={
        "S-1": _phases.Row(
            usual="reproduced",
            verdict="not reproduced",
            share_of_seeds=0.0,
            measured="delay 3 ms",
            accept=("delay in 102.5..102.7",),
        ),
        "S-2": _phases.Row(
            usual="reproduced",
            verdict="not testable",
            share_of_seeds=None,
            measured="",
            accept=("delay in 90..120",),
        ),
    },
)


def small(**more):
    """A paper with a row that holds for one delay only, one that holds for all, and rows that are never drawn."""
    experiments = {
        Key.PATH: Experiment(Key.PATH, "a path", ("-",), two_links, keep, seeds=2),
        Key.OWN: Experiment(
            Key.OWN, "a path", ("-",), two_links, keep, seeds=2, own_phases="S-4 is about them"
        ),
    }
    return Paper(
        name="small",
        title="A small paper",
        experiments=lambda: experiments,
        figure_specs=list,
        choices=dict,
        claims=lambda: [
            claim("S-1", Key.PATH, "delay in 102.5..102.7"),
            claim("S-2", Key.PATH, "delay in 90..120"),
            claim("S-3", Key.PATH, "delay in 102.5..102.7", "conformance"),
            claim("S-4", Key.OWN, "delay in 102.5..102.7"),
        ],
        **more,
    )


@pytest.fixture(scope="module")
def done():
    return small().reproduce(jobs=1, jitter=True)


def test_results_are_judged_with_drawn_delays_and_count_only_if_no_phase_decides_them(done):
    rows = {row["id"]: row for row in done.claims}
    assert {row["verdict"] for row in rows.values()} == {"reproduced"}
    assert {name for name, row in rows.items() if "phases" in row} == {"S-1", "S-2"}
    assert rows["S-1"]["phases"]["verdict"] == "not reproduced"
    assert rows["S-1"]["standing"] == "phase-dependent"
    assert rows["S-2"]["phases"] == {
        "usual": "reproduced",
        "verdict": "reproduced",
        "share_of_seeds": 1.0,
        "measured": rows["S-2"]["phases"]["measured"],
        "dependent": False,
    }
    counts = done.counts()
    assert (counts["reproduced"], counts["phase_dependent"], counts["conformance"]) == (2, 1, "1/1")
    assert "1 depend on the phases of packets" in _judge.summary(done.claims)[0]


def test_a_row_that_depends_on_phases_is_in_no_other_count(done):
    rows = [{**row, "not_specific": row["id"] in ("S-1", "S-2")} for row in done.claims]
    counts = _judge.counts(rows)
    assert (counts["reproduced"], counts["phase_dependent"], counts["not_specific"]) == (1, 1, 1)


def test_each_case_has_ten_seeds_with_delays_of_their_own(done):
    drawn = [run for run in done.runs if run["experiment"] == "path, drawn phases"]
    assert [run["seed"] for run in drawn] == list(range(1, 11))
    assert len({run["trace_hash"] for run in drawn}) == 10
    files = small().scenarios(jitter=True)
    assert [file.name for file in files] == [f"path-seed-{n}" for n in range(1, 11)]
    assert len({file.toml for file in files}) == 10
    assert files[2].scenario.plan().run().trace_hash == drawn[2]["trace_hash"]


def test_what_is_stored_marks_the_rows_of_later_runs(done, tmp_path):
    path = tmp_path / _phases.FILE
    for phases in (STORED, done.phases):
        path.write_text(phases.toml("small"), encoding="utf-8")
        assert _phases.read(path) == phases
    assert path.read_text(encoding="utf-8").startswith("# Written by `thalweg reproduce small --jitter`: ")
    later = small(phases=lambda: _phases.read(path)).reproduce(jobs=1)
    assert later.jitter is False
    assert [row.get("standing") for row in later.claims] == [row.get("standing") for row in done.claims]
    assert _phases.read(tmp_path / "nothing.toml") is None
    path.write_text("seeds = 'ten'", encoding="utf-8")
    with pytest.raises(ValueError, match=r"phases\.toml"):
        _phases.read(path)


def test_what_is_stored_says_nothing_of_a_row_whose_checks_were_changed(done):
    rows = [
        {**row, "checks": [{**check, "check": "delay <= 9"} for check in row["checks"]]}
        for row in done.claims
    ]
    for row in rows:
        row.pop("phases", None)
        row.pop("standing", None)
    _phases.mark(rows, done.phases)
    assert not [row for row in rows if "phases" in row or "standing" in row]


def test_pages_and_reports_say_which_rows_depend_on_phases(done, tmp_path):
    save_reproduction(done, tmp_path)
    page = write(tmp_path).read_text(encoding="utf-8")
    assert '<span class="chip">phase-dependent</span>' in page
    assert "Phase-dependent: with drawn delays and starts not reproduced, each check for at least" in page
    assert (
        "2 of the 3 statements of the paper that can be tested are reproduced; 1 depend on the phases" in page
    )
    assert "--jitter" in page
    record = json.loads((tmp_path / "reproduction.json").read_text(encoding="utf-8"))
    text = reproductions.section(record)
    confirmed, dependent = text.split("### Dependent on phases")
    assert "| S-1 |" not in confirmed
    assert "| S-1 |" in dependent
    assert "with drawn delays and starts not reproduced" in dependent


@pytest.mark.parametrize("name", [name for name, paper in PAPERS.items() if paper.phases()])
def test_the_stored_rows_of_a_paper_are_results_that_it_has(name):
    paper = PAPERS[name]
    phases = paper.phases()
    results = {row.id for row in paper.claims() if row.evidence in _claims.RESULTS}
    assert phases.quick is False
    assert phases.seeds >= _phases.SEEDS
    assert set(phases.rows) <= results
    accepted = {row.id: tuple(check.text for check in row.accept) for row in paper.claims()}
    assert {name: row.accept for name, row in phases.rows.items()} == {
        name: accepted[name] for name in phases.rows
    }


def test_the_command_refuses_what_has_no_delays_to_draw(capsys, tmp_path):
    for words in (
        ("reproduce", "scaling", "--jitter"),
        ("reproduce", "mca", "--jitter", "--readings"),
        ("reproduce", "cvihis", "--jitter", "--substitute"),
    ):
        assert "`--jitter` works with papers" in refused_after(capsys, *words, "--out", str(tmp_path))


def test_the_command_writes_the_rows(capsys, tmp_path, monkeypatch):
    from thalweg import papers as installed

    monkeypatch.setattr(installed, "names", lambda: ["small"])
    monkeypatch.setattr(installed, "find", lambda _name: small())
    words = ("reproduce", "small", "--jitter", "--jobs", "1", "--out", str(tmp_path))
    answer = asked(capsys, *words)
    assert [row.get("standing") for row in answer["claims"]] == ["phase-dependent", None, None, None]
    whole = _phases.read(tmp_path / "phases.toml")
    assert whole.rows["S-1"].dependent
    asked(capsys, *words, "--claim", "S-2")
    assert _phases.read(tmp_path / "phases.toml") == whole, (
        "one claim leaves the file of the whole paper as it is"
    )
