"""Every command that computes with runs says on standard error when a number of one violates an invariant, and fails.

The violation is planted: `invariants.check` finds one in every run.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import thalweg as tw
from cli_calls import asked
from thalweg import invariants
from thalweg.breaking import PROPERTIES, Evaluator, Space
from thalweg.breaking.evaluation import Log
from thalweg.cli import call
from thalweg.errors import InvariantWarning

SCENARIO = """
title = "Two flows"
duration = "3 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }
[[flows]]
name = "one"
scheme = "reno"
count = 2
"""

SENTENCE = "owd_s = 2, owd_max_s = 1; invariant: mean <= maximum"

ROW = "rfc9743/6.3-wired"


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number of every run is wrong."""
    broken = invariants.Violation("mean <= maximum", "flows", "one.1", "owd_s = 2, owd_max_s = 1")
    monkeypatch.setattr(invariants, "check", lambda _result: [broken])


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def loud(capsys: pytest.CaptureFixture[str], where: str, *words: str) -> None:
    """The command fails, and names the run and the invariant on standard error, once."""
    capsys.readouterr()
    assert call(words) == 1
    said = [line for line in capsys.readouterr().err.splitlines() if SENTENCE in line]
    assert said
    assert all("WRONG NUMBER" in line for line in said), said
    assert any(where in line for line in said), said
    assert len(set(said)) == len(said)


@pytest.mark.usefixtures("planted")
def test_runs_and_sweeps_fail(scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loud(capsys, "flows, one.1", "run", str(scenario), "--out", str(tmp_path / "run"))
    words = ["run", str(scenario), "--runs", "2", "--out", str(tmp_path / "study")]
    loud(capsys, "seed 2: flows, one.1", *words)
    again = asked(capsys, *words, code=1)
    assert len(again["violated_invariants"]) == 2


@pytest.mark.usefixtures("planted")
def test_a_comparison_and_an_explanation_name_the_run(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("left", "right"):
        call(["run", str(scenario), "--out", str(tmp_path / name)])
    runs, page = [str(tmp_path / name) for name in ("left", "right")], tmp_path / "compare.html"
    loud(capsys, "WRONG NUMBER in left", "compare", *runs, "--out", str(page))
    assert SENTENCE.split(";")[0] in page.read_text(encoding="utf-8")
    said = asked(capsys, "compare", *runs, "--out", str(page), code=1)["warnings"]
    assert [SENTENCE in warning for warning in said[:2]] == [True, True]
    loud(capsys, "WRONG NUMBER in Two flows", "explain", runs[0], "--flow", "one.1")
    loud(capsys, "WRONG NUMBER in Two flows", "explain", str(scenario), "--flow", "one.1")


@pytest.mark.usefixtures("planted")
def test_a_search_names_the_network_also_from_its_log(tmp_path: Path) -> None:
    space = Space.of("reno", [], {"rivals"}, {})
    for _ in range(2):
        # the second finds what the first kept
        evaluator = Evaluator(space, PROPERTIES["delay"], log=Log(tmp_path / "delay.jsonl", {}))
        network = space.network([0.5] * len(space.bounds))
        with pytest.warns(
            InvariantWarning, match=r"WRONG NUMBER in reno, delay: .*delay .*, seed 1.*owd_s = 2"
        ):
            evaluator.measure([network], [1], 2.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            evaluator.measure([network], [1], 2.0)


@pytest.mark.usefixtures("planted")
def test_break_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["break", "reno", "--property", "loss", "--trials", "1", "--out", str(tmp_path / "found")]
    loud(capsys, "WRONG NUMBER in reno, loss: ", *words)


@pytest.mark.usefixtures("planted")
def test_an_evaluation_names_the_case_also_from_its_cache(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", "reno", "--quick", "--row", ROW, "--out", str(tmp_path / "card")]
    for _ in range(2):
        loud(capsys, "seed ", *words)


@pytest.mark.usefixtures("planted")
def test_a_reproduction_names_the_run_also_from_its_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "mca", "--quick", "--figure", "8", "--out", str(tmp_path / "mca")]
    for _ in range(2):
        loud(capsys, "seed ", *words)


@pytest.mark.usefixtures("planted")
def test_a_run_in_python_names_itself() -> None:
    with pytest.warns(InvariantWarning, match=r"WRONG NUMBER in Two flows, seed 1, .*owd_s = 2"):
        assert tw.Scenario.from_toml(SCENARIO).run().flows.height == 2


def test_many_violations_are_counted() -> None:
    with pytest.warns(InvariantWarning) as said:
        invariants.warn((f"run {number}", ["wrong"]) for number in range(25))
    texts = [str(one.message) for one in said]
    assert texts[0] == "WRONG NUMBER in run 0, an invariant is violated: wrong"
    assert texts[-1] == "15 more invariants are violated"
    assert len(texts) == 11


def test_what_is_right_says_nothing(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["run", str(scenario), "--out", str(tmp_path / "run")]) == 0
    assert call(["explain", str(tmp_path / "run"), "--flow", "one.1"]) == 0
    assert "WRONG" not in capsys.readouterr().err
    assert tw.Result.load(tmp_path / "run").violated_invariants == []
