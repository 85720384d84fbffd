"""`thalweg run` and `check`: tables, `--json`, sweeps, warnings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import thalweg as tw
from cli_calls import asked, refused
from thalweg import sweep
from thalweg.cli import call
from thalweg.scenario import Plan


def test_run_prints_tables_and_keeps_results(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = small.parent / "results"
    assert call(["run", str(small), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "throughput" in shown
    assert "bottleneck" in shown
    assert "✓ holds" in shown
    assert str(out) in shown
    assert (out / "run.json").is_file()


def test_run_as_json(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked(capsys, "run", str(small), "--seed", "9", "--out", str(small.parent / "results"))
    assert answer["seed"] == 9
    assert answer["status"] == "complete"
    assert answer["passed"] is True
    assert answer["flows"][0]["flow"] == "reno"
    assert answer["summary"]["link.bottleneck.utilisation"] > 0.5


def test_equal_seeds_give_equal_traces_from_command_and_python(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import thalweg as tw

    answer = asked(capsys, "run", str(small), "--out", str(small.parent / "results"))
    assert answer["trace_hash"] == tw.load(small).run().trace_hash


def test_set_changes_a_key(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(small.parent / "results")
    changes = ["--set", "topology.bottleneck.rate=2 Mbit/s", "--set", "flows.reno.count=2"]
    answer = asked(capsys, "run", str(small), *changes, "--out", out)
    assert [flow["flow"] for flow in answer["flows"]] == ["reno.1", "reno.2"]
    bottleneck = next(row for row in answer["links"] if row["link"] == "bottleneck")
    assert bottleneck["rate_bps"] == 2e6


def test_an_expectation_that_fails_gives_exit_code_1(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small.write_text(small.read_text().replace(">= 0.5", ">= 1.5"), encoding="utf-8")
    out = small.parent / "results"
    assert call(["run", str(small), "--out", str(out)]) == 1
    assert "✗ fails" in capsys.readouterr().out
    assert asked(capsys, "run", str(small), "--out", str(out), code=1)["passed"] is False


def test_a_sweep_runs_every_cell_with_every_seed(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small.open("a", encoding="utf-8") as file:
        file.write('\n[sweep]\n"topology.bottleneck.buffer" = ["0.5 bdp", "2 bdp"]\n')
    out = small.parent / "sweep"
    answer = asked(capsys, "run", str(small), "--runs", "2", "--jobs", "2", "--out", str(out))
    assert [(run["values"], run["seed"]) for run in answer["runs"]] == [
        ({"topology.bottleneck.buffer": buffer}, seed) for buffer in ("0.5 bdp", "2 bdp") for seed in (3, 4)
    ]
    assert (out / "summary.parquet").is_file()
    assert call(["run", str(small), "--runs", "2", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "0.5 bdp" in shown
    assert "One Reno flow: mean\n" in shown, "two seeds have no interval"
    assert "±" not in shown
    assert "2 seeds: too few for an interval to mean much." in shown


def test_what_has_no_title_has_a_heading(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = re.sub(r"(?m)^title.*$", "", small.read_text(encoding="utf-8"))
    for name, more in (("A run", ""), ("A sweep", "\n[sweep]\nseed = [2, 9]\n")):
        small.write_text(text + more, encoding="utf-8")
        out = small.parent / name
        assert call(["run", str(small), "--out", str(out)]) == 0
        assert f"\n{name}: " in capsys.readouterr().out
        assert call(["report", str(out)]) == 0
        assert f"<h1>{name}</h1>" in (out / "report.html").read_text(encoding="utf-8")


def test_a_sweep_can_list_its_seeds(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small.open("a", encoding="utf-8") as file:
        file.write("\n[sweep]\nseed = [2, 9]\n")
    out = str(small.parent / "sweep")
    answer = asked(capsys, "run", str(small), "--out", out)
    assert [(run["values"], run["seed"]) for run in answer["runs"]] == [({}, 2), ({}, 9)]
    assert len({run["trace_hash"] for run in answer["runs"]}) == 2
    for more in (["--runs", "2"], ["--seed", "3"]):
        assert "[sweep] lists the seeds" in refused(capsys, "run", str(small), *more, "--out", out)


def test_jobs_do_not_change_results(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hashes = [
        [
            run["trace_hash"]
            for run in asked(
                capsys, "run", str(small), "--runs", "3", "--jobs", jobs, "--out", str(small.parent / jobs)
            )["runs"]
        ]
        for jobs in ("1", "2")
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == 3


def test_check_prints_the_plan_with_relative_units_filled_in(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked(capsys, "check", str(small))
    assert answer["duration_s"] == 4.0
    assert "bdp" not in json.dumps(answer["plan"]["topology"])
    assert call(["check", str(small)]) == 0
    assert 'title = "One Reno flow"' in capsys.readouterr().out


def test_check_takes_set_as_run_does(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked(capsys, "check", str(small), "--set", "flows.reno.count=3", "--set", "duration=2 s")
    assert answer["duration_s"] == 2.0
    assert len(answer["plan"]["flows"]) == 3
    assert "did you mean `duration`" in refused(capsys, "check", str(small), "--set", "duraton=2 s")


def test_check_lists_the_names_that_generators_give(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked(capsys, "check", str(small), "--set", "flows.reno.count=3")
    left, right = ([f"{side}{n}" for n in (1, 2, 3)] for side in ("left", "right"))
    assert answer["nodes"] == [*left, "router_left", "router_right", *right]
    assert answer["links"] == ["bottleneck", *left, *right]
    assert call(["check", str(small), "--set", "flows.reno.count=3"]) == 0
    shown = capsys.readouterr().out
    assert "# nodes: left1 … left3, router_left, router_right, right1 … right3\n" in shown
    assert "# links: bottleneck, left1 … left3, right1 … right3\n" in shown
    assert tw.Scenario.from_toml(shown).plan().seed == answer["seed"]


def test_warnings_are_printed_once_are_in_the_json_and_change_no_exit_code(
    small: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    late = ["--set", "record.every='1 h'"]
    for words in (
        ["check", str(small), *late],
        ["run", str(small), *late, "--out", str(tmp_path / "one")],
        ["run", str(small), *late, "--out", str(tmp_path / "many"), "--runs", "2"],
    ):
        assert call(words) == 0
        shown = capsys.readouterr()
        assert shown.err.count("nothing is recorded") == 1
        assert "record.every" in shown.err
        assert "1 warning: the scenario runs nevertheless" in shown.err
        (warning,) = asked(capsys, *words)["warnings"]
        assert warning["key"] == "record.every"
        assert warning["line"] is not None
        assert "shorter interval" in warning["hint"]
        assert capsys.readouterr().err == ""
    assert asked(capsys, "check", str(small))["warnings"] == []


SHORT = """
[[flows]]
name     = "short"
scheme   = "reno"
arrivals = { rate = 100.0, size = "3 kB" }

[sweep]
"topology.bottleneck.buffer" = ["0.5 bdp", "1 bdp", "2 bdp"]
"""


def test_the_json_of_a_sweep_is_bounded_and_names_the_tables_that_have_the_rest(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import polars

    with small.open("a", encoding="utf-8") as file:
        file.write(SHORT)
    words = ["run", str(small), "--out", str(small.parent / "sweep"), "--json"]
    assert call(words) == 0
    shown = capsys.readouterr().out
    assert len(shown) < 10_000
    answer = json.loads(shown)
    assert "link.bottleneck.utilisation" in answer["metrics"]
    assert [list(run["summary"]) for run in answer["runs"]] == [answer["metrics"]] * 3
    assert len(answer["summary"]) == 3 * len(answer["metrics"])
    every = polars.read_parquet(answer["tables"]["summary"])
    assert every.height > 3 * 300 * 20
    flows = polars.read_parquet(Path(answer["runs"][0]["folder"]) / "flows.parquet")
    assert flows.height > 200


def test_the_json_of_a_run_with_many_flows_is_bounded_and_counts_omitted_rows(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import polars

    from thalweg.cli.json_output import MAX_ROWS

    with small.open("a", encoding="utf-8") as file:
        file.write(SHORT)
    answer = asked(capsys, "run", str(small), "--no-sweep", "--out", str(small.parent / "results"))
    assert len(answer["flows"]) == MAX_ROWS
    flows = polars.read_parquet(answer["tables"]["flows"])
    assert flows.height == MAX_ROWS + answer["left_out"]["flows"]
    named = {key.removeprefix("flow.").rpartition(".")[0] for key in answer["summary"] if key[:5] == "flow."}
    assert named == set(flows["flow"][:MAX_ROWS])
    assert "flows.short.throughput" in answer["summary"]
    every = polars.read_parquet(answer["tables"]["summary"])
    assert every.height == len(answer["summary"]) + answer["left_out"]["summary"]


def test_a_sweep_that_is_stopped_at_once_names_no_results(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(plans: list[Plan], *_args: object, **_keys: object) -> None:
        raise tw.Interrupted([None] * len(plans))

    out = small.parent / "study"
    monkeypatch.setattr(sweep, "run_plans", stop)
    assert call(["run", str(small), "--runs", "3", "--out", str(out)]) == 130
    shown = capsys.readouterr().out
    assert "0 of 3 runs" in shown
    assert "Results" not in shown
    assert "thalweg report" not in shown


@pytest.mark.parametrize("more", [[], ["--seed", "5"]])
def test_more_runs_than_fit_into_memory_are_refused(
    small: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "run", str(small), "--runs", "999999999999", *more)
    assert "at most 1,000,000 runs, and this 999,999,999,999" in said
    with pytest.raises(ValueError, match="at most 1,000,000 runs, and this 1,200,000"):
        tw.load(small).sweep({"flows.reno.count": [1, 2]}, runs=600_000)
