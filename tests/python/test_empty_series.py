"""A series that is recorded and has no value: the run, the page and the plot say so, with the reason."""

from __future__ import annotations

from pathlib import Path

import polars as pl
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


NAMED_DATA = """
duration = "2 s"
[topology]
kind = "custom"
links = [{ name = "a", ends = ["c", "p"], rate = "10 Mbit/s", delay = "30 ms", buffer = "50 packets" }]
[[producers]]
prefix = "/v"
node = "p"
[[flows]]
name = "f"
network = "ndn"
prefix = "/v"
from = "c"
scheme = "reno"
"""
OVER_IP = """
duration = "2 s"
[topology]
kind = "custom"
links = [{ name = "a", ends = ["c", "p"], rate = "10 Mbit/s", delay = "30 ms", buffer = "50 packets" }]
[[flows]]
name = "f"
from = "c"
to = "p"
"""
EVERY = '[record]\nevery = "10 ms"\nseries = ["srtt", "rtt"]\n'


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (OVER_IP, 'scheme = "cubic"\n'),
        (OVER_IP, 'scheme = "reno"\ntcp = { like = "linux", handshake = true }\n'),
        (OVER_IP, 'stack = "quinn"\n'),
        (NAMED_DATA, ""),
    ],
)
def test_the_smoothed_round_trip_time_has_no_value_before_the_first_sample(text: str, keys: str) -> None:
    result = tw.Scenario.from_toml(text + keys + EVERY).run()
    smoothed = result.series.filter(pl.col("series") == "srtt")
    # the first sample is no earlier than the shortest round trip of 60 ms, and the first point follows within 10 ms or,
    # where a handshake or the first Interest comes before it, within a few round trips
    assert 0.06 <= smoothed["time_s"].min() < 0.3
    assert 0.06 <= smoothed["value"].min() <= smoothed["value"][0] < 0.2


@pytest.mark.parametrize("series", ["rtt", "srtt"])
def test_a_flow_without_an_answer_has_no_round_trip_time(series: str) -> None:
    text = APART.replace('delay = "10 ms" }', 'delay = "10 ms", loss = 1.0 }')
    run = tw.Scenario.from_toml(text.replace('"rate", "fairness"', f'"window", "{series}"')).run()
    reason = f"the series `{series}` has no value: no round-trip time was measured"
    assert run.empty_series == {series: reason}
    with pytest.raises(ValueError, match="no round-trip time"):
        run.plot(series)
