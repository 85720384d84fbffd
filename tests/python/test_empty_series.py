"""A series that is recorded and has no value: the run, the page and the plot say so, with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

import thalweg as tw
from cli_calls import asked, refused
from thalweg import report
from thalweg.cli import call

APART = """
title = "Flows that never overlap"
duration = "6 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }
[[flows]]
name = "early"
scheme = "cubic"
stop = "2 s"
[[flows]]
name = "late"
scheme = "cubic"
start = "3 s"
[record]
series = ["rate", "fairness"]
"""

REASON = (
    "the series `fairness` has no value: no two flows with a scheme were active at the same time "
    "for a whole window of 1 s"
)


def written(folder: Path, text: str) -> str:
    file = folder / "apart.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_flows_that_never_overlap_have_no_fairness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", written(tmp_path, APART), "--out", str(tmp_path / "run")]
    assert call(words) == 0
    assert capsys.readouterr().err.count(f"warning: {REASON}") == 1
    [warning] = [one for one in asked(capsys, *words)["warnings"] if one["key"] == "record.series"]
    assert warning["message"] == REASON
    for more in ([], ["--csv"]):
        assert REASON in refused(capsys, "plot", str(tmp_path / "run"), "fairness", *more)
    assert call(["plot", str(tmp_path / "run"), "rate"]) == 0
    page = report.write(tmp_path / "run").read_text(encoding="utf-8")
    assert "no two flows with a scheme were active at the same time" in page
    with pytest.raises(ValueError, match="active at the same time"):
        tw.Result.load(tmp_path / "run").plot("fairness")
    many = [*words[:2], "--runs", "2", "--out", str(tmp_path / "study")]
    capsys.readouterr()
    assert call(many) == 0
    assert f"warning: in 2 runs {REASON}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [APART.replace('start = "3 s"', 'start = "0 s"'), APART.replace(', "fairness"', "")],
    ids=["together", "not asked for"],
)
def test_nothing_is_said_otherwise(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["run", written(tmp_path, text), "--out", str(tmp_path / "run")]) == 0
    assert "fairness" not in capsys.readouterr().err


def test_a_flow_alone_has_no_fairness() -> None:
    alone = APART[: APART.index('[[flows]]\nname = "late"')] + APART[APART.index("[record]") :]
    run = tw.Scenario.from_toml(alone).run()
    assert run.empty_series == {
        "fairness": "the series `fairness` has no value: fewer than two flows have a scheme"
    }
