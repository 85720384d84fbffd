"""`thalweg verify`: equal numbers, numbers that were changed, runs that cannot be repeated."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import cast

import polars
import pytest

import thalweg as tw
from cli_calls import asked, refused_after
from oracle import assert_verified
from thalweg.cli import call
from thalweg.verification import verify
from thalweg.verification.series import RECOMPUTED

SCENARIO = """\
title    = "Two flows"
duration = "5 s"
warmup   = "1 s"

[topology]
kind       = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", buffer = "1 bdp", loss = 0.002 }

[[flows]]
name   = "reno"
scheme = "reno"

[[flows]]
name   = "short"
scheme = "cubic"
size   = "200 kB"
start  = "2 s"

[record]
every         = "100 ms"
series        = ["rate", "throughput", "goodput", "owd", "queueing_delay", "backlog", "utilisation", "window"]
distributions = true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run."""
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    assert call(["run", str(file), "--out", str(tmp_path / "out")]) == 0
    return tmp_path / "out"


def test_a_run_and_a_scenario_are_verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert call(["verify", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "all equal" in shown
    assert "not recomputed: summary.run.events_handled" in shown
    answer = asked(capsys, "verify", str(folder.parent / "two.toml"), "--set", "duration=3 s")
    assert answer["passed"] is True
    assert answer["numbers"] > 500
    assert answer["columns"] > 100
    assert answer["events"] > 10_000
    assert answer["differences"] == []


@pytest.mark.parametrize(
    ("table", "column", "factor"),
    [
        ("flows", "goodput_bps", 1 + 1e-8),
        ("flows", "owd_s", 1 - 1e-8),
        ("flows", "queueing_delay_p95_s", 1.01),
        ("receivers", "throughput_bps", 1 + 1e-8),
        ("links", "queue_s", 1 + 1e-8),
        ("links", "utilisation", 1 - 1e-8),
    ],
)
def test_a_number_that_was_changed_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], table: str, column: str, factor: float
) -> None:
    file = folder / f"{table}.parquet"
    frame = polars.read_parquet(file)
    frame.with_columns(polars.col(column) * factor).write_parquet(file)
    capsys.readouterr()
    answer = asked(capsys, "verify", str(folder), code=1)
    assert {(each["table"], each["column"]) for each in answer["differences"]} == {(table, column)}


@pytest.mark.parametrize("series", ["goodput", "owd", "queueing_delay", "backlog", "utilisation"])
def test_a_sample_that_was_changed_or_is_missing_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], series: str
) -> None:
    file = folder / "series.parquet"
    frame = polars.read_parquet(file)
    sample = (polars.col("series") == series) & (polars.col("value") > 0)
    number = frame.with_row_index().filter(sample)["index"][20]
    for value in (polars.col("value") * 1.01, None):
        here = polars.int_range(polars.len()) == number
        changed = polars.when(here).then(value).otherwise(polars.col("value"))
        frame.with_columns(changed.alias("value")).write_parquet(file)
        capsys.readouterr()
        answer = asked(capsys, "verify", str(folder), code=1)
        assert [(each["table"], each["column"]) for each in answer["differences"]] == [("series", series)]


@pytest.fixture(scope="module")
def all_series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that has each series that is recomputed, with values above zero: drops and marks, too."""
    tree = tomllib.loads(SCENARIO)
    tree["topology"]["bottleneck"] |= {"buffer": "60 packets", "mark_above": 4, "loss": 0.01}
    tree["flows"][0]["tcp"] = {"ecn": True}
    tree["record"]["series"] = list(RECOMPUTED)
    place = tmp_path_factory.mktemp("series")
    tw.Scenario(**tree).run(out=place / "out")
    return place / "out"


@pytest.mark.parametrize("series", RECOMPUTED)
def test_samples_that_are_missing_are_found(
    all_series: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], series: str
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(all_series, folder)
    frame = polars.read_parquet(folder / "series.parquet").with_row_index()
    above = frame.filter((polars.col("series") == series) & (polars.col("value") > 0))
    assert above.height > 2
    one = above["index"][above.height // 2]
    for missing in (polars.col("index") == one, polars.col("series") == series):
        frame.filter(~missing).drop("index").write_parquet(folder / "series.parquet")
        answer = asked(capsys, "verify", str(folder), code=1)
        found = [each for each in answer["differences"] if each["table"] == "series"]
        assert {(each["column"], each["printed"]) for each in found} == {(series, None)}
        assert all(each["recomputed"] >= 0 for each in found)


def test_a_count_that_was_changed_is_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "flows.parquet"
    frame = polars.read_parquet(file)
    frame.with_columns(polars.col("drops") + 1).write_parquet(file)
    capsys.readouterr()
    assert call(["verify", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert "Differences" in shown
    assert "drops" in shown


def bottleneck(**keys: object) -> tw.Scenario:
    """The scenario with other keys of the bottleneck."""
    tree = tomllib.loads(SCENARIO)
    tree["topology"]["bottleneck"] = keys
    return tw.Scenario(**tree)


def test_percentiles_of_waits_that_nothing_is_known_of_are_not_counted() -> None:
    scenario = bottleneck(
        rate="20 Mbit/s", delay="10 ms", buffer="20 packets", shaper={"rate": "5 Mbit/s", "burst": "15 kB"}
    )
    events = [{"at": f"{at} s", "link": "bottleneck", "up": up} for at, up in ((3, False), (4, True))]
    usual, changed = verify(scenario), verify(tw.Scenario(**scenario.tree, events=events))
    assert usual.passed
    assert changed.passed
    keys = [("links", f"queue_p{percent}_s") for percent in (50, 95, 99)]
    keys += [("summary", f"queue_p{percent}") for percent in (50, 95, 99)]
    for key in keys:
        assert key in usual.columns
        assert key not in usual.without
        assert "takes down a link with a shaper" in changed.without[key]


def test_a_utilisation_without_a_maximum_is_not_counted(tmp_path: Path) -> None:
    found = {}
    for name, times in (("edges", (100,)), ("between", (50,))):
        trace = tmp_path / f"{name}.down"
        # the trace is 100 ms long, as the interval of samples is
        trace.write_text("".join(f"{time}\n" * 40 for time in times) + "100\n", encoding="utf-8")
        found[name] = verify(bottleneck(trace=str(trace), delay="10 ms", buffer="20 packets"))
        assert found[name].passed
    series = ("series", "utilisation")
    assert "at their first and last instants only" in found["edges"].without[series]
    assert series not in found["between"].without
    assert series in found["between"].columns


def test_another_run_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    record["trace_hash"] = "0123456789abcdef"
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    assert "another run" in refused_after(capsys, "verify", str(folder))


def test_an_emulation_and_an_unfinished_run_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    for change, words in (
        ({"emulation": {}}, "an emulation cannot be repeated"),
        ({"status": "interrupted"}, "not complete"),
    ):
        (folder / "run.json").write_text(json.dumps(whole | change), encoding="utf-8")
        assert words in refused_after(capsys, "verify", str(folder))


def test_the_record_changes_nothing(tmp_path: Path) -> None:
    from thalweg.verification.rerun import record_run

    scenario = tw.Scenario.from_toml(SCENARIO)
    assert record_run(scenario.plan(), tmp_path).trace_hash == scenario.run().trace_hash


class Differing:
    """A scenario whose plan and whose run are two runs, as if the fast paths differed from the slow path."""

    def __init__(self) -> None:
        self.scenario = tw.Scenario.from_toml(SCENARIO)

    def plan(self) -> tw.Plan:
        return self.scenario.plan(seed=2)

    def run(self) -> tw.Result:
        return self.scenario.run(seed=1)


def test_paths_that_differ_are_named() -> None:
    with pytest.raises(AssertionError, match="the fast paths and the slow path are not one run") as caught:
        assert_verified(cast("tw.Scenario", Differing()))
    assert "version" not in str(caught.value)
