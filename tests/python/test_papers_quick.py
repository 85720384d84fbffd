"""Quick reproductions say what was run, and the scenarios of a figure can be changed and taken away."""

from __future__ import annotations

import json
import re
import tomllib

import numpy as np
import polars
import pytest

import thalweg as tw
import thalweg_papers as papers
from cli_calls import asked, refused
from thalweg.event_labels import seconds
from thalweg_papers import _scenarios
from thalweg_papers._base import FULL, Figure, Samples, Scale
from thalweg_papers.mca import extracts, rules
from thalweg_papers.mca.keys import Key

STUDIES = {**papers.PAPERS, **papers.STUDIES}
SIMULATED = [study for study in STUDIES.values() if not study.only_emulated]


def own_words(text: str) -> str:
    """A caption without the sentences about the paper, about extrapolation and about what a full run is."""
    sentences = re.split(r"(?<=[.;]) ", text)
    kept = [
        sentence for sentence in sentences if not re.match(r"(The|In the) paper|Its |Quick run", sentence)
    ]
    return re.sub(r"in [\d.]+ s, extrapolated from", "", " ".join(kept))


def times_of(text: str) -> list[float]:
    """The moments and lengths in seconds that a text names: `50–200 s`, `30, 80 and 120 s`."""
    found = []
    for numbers in re.findall(r"((?:\d+(?:\.\d+)?(?:–|, | and ))*\d+(?:\.\d+)?) s\b", text):
        found += [float(number) for number in re.findall(r"\d+(?:\.\d+)?", numbers)]
    return found


@pytest.fixture(
    scope="module",
    params=[
        ("srmcc", "figure-7"),
        ("srmcc", "figure-8"),
        ("srmcc", "figure-11"),
        ("mca", "figure-8"),
        ("mca", "figure-14"),
        ("scaling", "death"),
    ],
    ids=lambda pair: f"{pair[0]} {pair[1]}",
)
def quick_figure(request, tmp_path_factory) -> tuple[papers.Study, str, papers.Reproduction]:
    """A study, one of its figures, and its quick reproduction."""
    name, figure = request.param
    folder = tmp_path_factory.getbasetemp() / f"quick-{name}"
    return STUDIES[name], figure, STUDIES[name].reproduce(figure=figure, quick=True, out=folder)


def test_no_time_of_a_quick_figure_is_later_than_its_runs(quick_figure) -> None:
    study, name, done = quick_figure
    scenarios = study.scenarios(figure=name, quick=True)
    longest = max(seconds(row.scenario.tree["duration"]) for row in scenarios)
    figure = done.figures[name]
    words = [own_words(figure.caption), *map(own_words, re.findall(r"<text[^>]*>([^<]*)</text>", figure.svg))]
    words += [own_words(table.title) for table in figure.tables.values()]
    assert max((time for text in words for time in times_of(text)), default=0.0) <= longest


def test_a_quick_figure_says_what_was_run_and_what_a_full_run_is(quick_figure) -> None:
    study, name, done = quick_figure
    lengths = [
        {seconds(row.scenario.tree["duration"]) for row in study.scenarios(figure=name, quick=quick)}
        for quick in (True, False)
    ]
    sentence = done.figures[name].caption.rpartition("Quick run: ")[2]
    assert sentence != done.figures[name].caption
    if lengths[0] == lengths[1]:
        assert not times_of(sentence)
    else:
        assert times_of(sentence) == [max(lengths[0]), max(lengths[1])]
    assert int(re.search(r"(\d+) seeds? instead of", sentence)[1]) == len({run["seed"] for run in done.runs})


def test_the_reader_of_times_finds_each() -> None:
    assert times_of("Means over 50–200 s, in scenario 4 over 12.5–30 s (7.5, 20 and 42.5 s)") == [
        *(50, 200, 12.5, 30),
        *(7.5, 20, 42.5),
    ]
    assert not times_of("10 Mbit/s, 1-s means, 4 sources")


SHORT = Scale(0.25, fewer=True)
SHORTENED = [paper for paper in papers.PAPERS.values() if paper.quick_factor < 1.0]


def claim_of(paper: str, name: str):
    """A claim of a paper."""
    return next(claim for claim in papers.PAPERS[paper].claims() if claim.id == name)


@pytest.mark.parametrize("paper", SHORTENED, ids=lambda paper: paper.name)
def test_what_rows_accept_of_shortened_runs_names_no_time_but_that_of_its_measure(paper) -> None:
    experiments = paper.experiments()

    def is_shortened(key) -> bool:
        experiment = experiments[key]
        return experiment.measure is None and any(
            experiment.tree(variant, SHORT)["duration"] != experiment.tree(variant, FULL)["duration"]
            for variant in experiment.variants
        )

    seen = 0
    for claim in paper.claims():
        if claim.measure and any(map(is_shortened, claim.measure.experiments)):
            seen += 1
            fixed = claim.expected_at(FULL).replace("per 100 s", "")
            for span in claim.measure.spans.values():
                fixed = fixed.replace(span(FULL), "")
            limits = {
                float(number) for check in claim.accept for number in re.findall(r"\d+(?:\.\d+)?", check.text)
            }
            assert set(times_of(fixed)) <= limits, claim.id
    assert seen > 20


@pytest.mark.parametrize(("scale", "left_out"), [(FULL, 20), (SHORT, 12)], ids=["full", "quick"])
def test_the_time_that_rows_of_mca_leave_out_is_the_one_that_they_print(scale, left_out) -> None:
    times = np.arange(1.0, scale.seconds(500.0) + 1)
    # one packet is lost in each second, and the queue is long in those that a row says are left out
    after_changes = (times - 1) % scale.seconds(100.0) < left_out
    sample = {
        "times_s": times,
        "drops": np.ones(len(times)),
        "backlog": np.where(after_changes, 1e6, 30.0),
    }
    samples = Samples({(Key.ONE_BOTTLENECK, buffer): [sample] for buffer in ("lossless", "lossy")})
    for name, quantity, found in (
        ("S004-16", "highest_phase", 3.0),
        ("S004-18", "drops_outside_changes", len(times) - 5 * left_out),
    ):
        claim = claim_of("mca", name)
        assert times_of(claim.expected_at(scale)) == [left_out]
        assert claim.measure(samples)[quantity].mean == found


@pytest.mark.parametrize("scale", [FULL, SHORT], ids=["full", "quick"])
def test_losses_are_counted_from_the_second_that_a_row_prints(scale) -> None:
    length = scale.seconds(400.0)
    drops = {"series": "drops", "time_s": np.arange(1.0, length + 1), "value": 1.0}
    result = type("Result", (), {"series": polars.DataFrame(drops)})
    joins, chain, star = times_of(claim_of("mca", "S004-45").expected_at(scale))
    assert joins == extracts.settling(scale.seconds(100.0))
    assert extracts._late_drops(result, extracts.settling(length)) == length - chain
    assert extracts._late_drops(result, extracts.settled_star_s(scale)) == length - star


def test_what_rows_accept_has_the_times_that_were_run() -> None:
    for paper, name, full, short in (
        ("mca", "S004-27", "in 400 s", "in 400 s, extrapolated from 100 s"),
        ("mca", "S004-37", "400–1000 s", "100–250 s"),
        ("srmcc", "S000-18", "20–200 s", "5–50 s"),
        ("srmcc", "S000-29", "80–120 s", "20–30 s"),
        ("srmcc", "S000-37", "30, 80, 120 and 170 s", "7.5, 20, 30 and 42.5 s"),
    ):
        claim = claim_of(paper, name)
        assert full in claim.expected_at(FULL)
        assert short in claim.expected_at(SHORT)


def test_the_throughput_of_mcas_dynamic_tree_is_that_of_receivers() -> None:
    sample = {"throughput_bps": 200e3, "staying_throughput_bps": 190e3, "rate_bps": 240e3}
    samples = Samples({(Key.DYNAMIC_TREE, "all"): [sample, {**sample, "throughput_bps": 220e3}]})
    measured = claim_of("mca", "S004-38").measure(samples)
    assert measured["throughput_kbps"].mean == pytest.approx(210)
    assert measured["sending_kbps"].mean == pytest.approx(240)
    assert measured["standard_deviation"].mean == pytest.approx(10 * 2**0.5)


def test_a_rate_that_never_reaches_the_bound_does_so_when_the_representative_is_given_up() -> None:
    times, bound = np.arange(10.0), np.full(10, 5.0)
    assert rules._crossed(times, np.arange(10.0), bound, 2.0, 8.0) == 5.0
    assert rules._crossed(times, np.arange(10.0), bound, 5.0, 8.0) == 6.0
    assert rules._crossed(times, np.zeros(10), bound, 2.0, 8.0) == 8.0


def test_table_1_of_a_quick_reproduction_has_the_time_that_was_run() -> None:
    for quick, here, agrees in ((True, "50 s", False), (False, "200 s", True)):
        (spec,) = [spec for spec in papers.PAPERS["srmcc"].figure_specs() if spec.id == "table-1"]
        rows = {row["parameter"]: row for row in spec.draw(None, Scale(0.25) if quick else Scale()).rows()}
        assert rows["simulation time"] == {
            "parameter": "simulation time",
            "paper": "200 s",
            "from": "scenario",
            "here": here,
            "agrees": agrees,
        }


def test_spans_of_the_paper_are_written_in_the_time_that_was_run() -> None:
    quarter = Scale(0.25)
    assert (Scale().span(50, 200), quarter.span(50, 200)) == ("50–200 s", "12.5–50 s")
    assert quarter.moments(30, 80, 120) == "7.5, 20 and 30 s"
    assert quarter.counted(200) == "in 200 s, extrapolated from 50 s"
    assert Scale(fewer=True).counted(200) == "in 200 s"


def test_a_figure_whose_runs_are_not_shortened_does_not_say_so() -> None:
    study = STUDIES["scaling"]
    experiments = study.experiments()
    (spec,) = [spec for spec in study.figure_specs() if spec.id == "controller"]
    chosen = [experiments[key] for key in spec.experiments]
    assert "instead of" in _scenarios.shortened(chosen, Scale(0.5, fewer=True))
    assert " s instead" not in _scenarios.shortened(chosen, Scale(0.5, fewer=True))
    assert _scenarios.shortened(chosen, Scale()) == ""
    drawn = _scenarios.marked(Figure("t", "words.", ""), chosen, Scale())
    assert drawn.caption == "words."


# --- other settings, and scenarios as files --------------------------------------------------------------------------


@pytest.mark.parametrize("study", SIMULATED, ids=lambda study: study.name)
def test_every_figure_has_scenarios_that_are_read_again(study) -> None:
    for spec in study.figure_specs()[:3]:
        found = study.scenarios(figure=spec.id, quick=True)
        assert len({row.name for row in found}) == len(found)
        for row in found[:2]:
            again = tw.Scenario.from_toml(row.toml)
            assert again.plan().toml == row.scenario.plan().toml
            assert again.plan().seed == row.seeds[0]


def test_an_exported_scenario_gives_the_run_of_the_figure(tmp_path) -> None:
    study = papers.PAPERS["mca"]
    done = study.reproduce(figure="figure-8", quick=True, out=tmp_path / "out")
    (lossy,) = [row for row in study.scenarios(figure="figure-8", quick=True) if row.name.endswith("-lossy")]
    (run,) = [run for run in done.runs if run["variant"] == "lossy" and run["seed"] == 1]
    assert tw.Scenario.from_toml(lossy.toml).run().trace_hash == run["trace_hash"]


def test_settings_of_a_figure_can_be_changed() -> None:
    study = papers.PAPERS["mca"]
    usual = study.reproduce(figure="figure-8", quick=True)
    same = study.reproduce(figure="figure-8", quick=True, changes={"flows.source1.params.k": 3})
    other = study.reproduce(figure="figure-8", quick=True, changes={"flows.*.packet": "500 B"})
    hashes = [[run["trace_hash"] for run in done.runs] for done in (usual, same, other)]
    assert hashes[0] == hashes[1], "3 is the default"
    assert not set(hashes[0]) & set(hashes[2])
    assert usual.claims
    assert not other.claims
    assert any("flows.*.packet = 500 B" in note for note in other.notes)
    assert other.as_dict()["changes"] == {"flows.*.packet": "500 B"}


def test_changes_that_cannot_be_are_refused() -> None:
    study = papers.PAPERS["srmcc"]
    with pytest.raises(ValueError, match="one figure or one claim"):
        study.reproduce(changes={"duration": "20 s"})
    with pytest.raises(ValueError, match="measures the program"):
        study.reproduce(figure="cost", changes={"duration": "20 s"})
    with pytest.raises(tw.ScenarioError, match="no parameter `gama`"):
        study.scenarios(figure="figure-8", changes={"flows.mc.params.gama": 0.3})


def test_the_command_writes_scenarios_and_changes_them(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["reproduce", "mca", "--figure", "8", "--quick", "--set", "flows.source1.params.k=2"]
    rows = asked(capsys, *words, "--export", "files")["scenarios"]
    assert [row["seeds"] for row in rows] == [[1, 2], [1, 2]]
    for row in rows:
        tree = tomllib.loads((tmp_path / row["file"]).read_text(encoding="utf-8"))
        assert tree["flows"][0]["params"] == {"k": 2}
    assert "prints one scenario" in refused(capsys, *words, "--export", "-")
    assert "--figure" in refused(capsys, "reproduce", "mca", "--set", "duration=20 s")
    assert "--emulate" in refused(capsys, "reproduce", "cvihis", "--emulate", "--set", "duration=20 s")
    assert "duration" in refused(capsys, *words[:4], "--set", "duration=soon")
    asked(capsys, *words, "--jobs", "1")
    folder = tmp_path / "out/mca,flows.source1.params.k=2"
    record = json.loads((folder / "reproduction.json").read_text("utf-8"))
    assert record["changes"] == {"flows.source1.params.k": 2}
    assert "--set flows.source1.params.k=2" in (folder / "report.html").read_text("utf-8")
