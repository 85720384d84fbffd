"""Thousands of runs as a dataset: parts, interrupted compaction, old folders, and SQL over all of it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import thalweg as tw
from thalweg import dataset
from thalweg._run_folder import TABLES
from thalweg.cli import call
from thalweg.dataset import RunDataset
from thalweg.packed import PackedRun
from thalweg.query import VIEWS
from thalweg.result import of_dataset
from thalweg.scenario import Plan
from thalweg.sweep import run_folder_name


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataset begins with few runs."""
    monkeypatch.setattr(dataset, "BATCH", 4)


GRID = {"flows.reno.count": [1, 2]}


def test_a_dataset_has_the_tables_of_its_runs_with_one_schema(small: Path, tmp_path: Path) -> None:
    sweep = tw.load(small).sweep(GRID, runs=5)
    done = sweep.run(out=tmp_path / "study", jobs=2)
    parts = sorted(entry.name for entry in (tmp_path / "study").iterdir())
    index = ["runs.parquet", "summary.parquet", "sweep.json"]
    assert parts == [".lock", "part-000000", "part-000001", "part-000002", *index]
    memory = sweep.run()
    for table in TABLES:
        scanned = pl.scan_parquet(tmp_path / "study" / "part-*" / f"{table}.parquet").collect()
        assert scanned.columns[0] == "run"
        assert done.table(table).equals(memory.table(table)), table
        assert scanned.height == memory.table(table).height
    assert done.summary.equals(memory.summary)
    one, other = done.runs[7].result, memory.runs[7].result
    assert (one.trace_hash, one.seed, one.plan_toml) == (other.trace_hash, other.seed, other.plan_toml)
    assert one.values == other.values
    assert one.passed == other.passed
    # as if it had a folder of its own
    assert one.folder is not None
    assert not one.folder.exists()
    assert tw.Result.load(one.folder).flows.equals(other.flows)
    assert call(["report", str(one.folder)]) == 0
    assert one.trace_hash in (one.folder / "report.html").read_text(encoding="utf-8")
    assert tw.Result.load(one.folder).trace_hash == one.trace_hash
    assert tw.Result.load(one.save(tmp_path / "copy")).links.equals(other.links)


def test_a_larger_sweep_runs_only_what_is_missing_also_beside_folders(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried_out: list[Any] = []
    carry_out = Plan.carry_out
    monkeypatch.setattr(Plan, "carry_out", lambda *args: carried_out.append(args) or carry_out(*args))
    scenario, out = tw.load(small), tmp_path / "study"
    scenario.sweep(runs=3).run(out=out)
    assert len(list(out.glob("*/seed=*"))) == 3
    scenario.sweep(runs=6).run(out=out)
    assert len(carried_out) == 6
    done = scenario.sweep(runs=10).run(out=out)
    assert len(carried_out) == 10
    assert done.table("flows")["seed"].to_list() == list(range(3, 13))
    # a few of them again
    few = scenario.sweep(seeds=[12, 3]).run(out=out)
    assert len(carried_out) == 10
    assert [run.seed for run in few.runs] == [12, 3]
    assert few.runs[0].result["flows.goodput"] == done.runs[-1].result["flows.goodput"]


def test_a_sweep_in_python_renews_the_index_of_its_folder(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb")
    study = tmp_path / "study"
    assert call(["run", str(small), "--runs", "2", "--out", str(study)]) == 0
    scenario = tw.load(small)
    done = scenario.sweep(runs=5).run(out=study)
    assert ask(capsys, study, "select count(*) n from flows") == [{"n": 5}]
    loaded = tw.SweepResult.load(study)
    assert [run.result.trace_hash for run in loaded.runs] == [run.result.trace_hash for run in done.runs]
    assert call(["report", str(study)]) == 0
    # from Python only, and the command continues it
    other = tmp_path / "other"
    scenario.sweep(GRID).run(out=other)
    assert tw.SweepResult.load(other).keys == list(GRID)
    assert ask(capsys, other, "select count(*) n from runs") == [{"n": 2}]
    words = ["run", str(small), "--runs", "3", "--out"]
    assert call([*words, str(study)]) == 2
    assert call(["run", str(small), "--runs", "6", "--out", str(study)]) == 0
    assert ask(capsys, study, "select count(*) n from runs") == [{"n": 6}]

    # a part of the runs does not replace an index with more of them
    def stop(done: int, _total: int, _label: str) -> None:
        if done == 1:
            raise KeyboardInterrupt

    other = tmp_path / "stopped"
    for runs, kept in ((2, 1), (3, 1)):
        with pytest.raises(tw.Interrupted):
            scenario.sweep(runs=runs).run(out=other, progress=stop)
        assert len(tw.SweepResult.load(other).runs) == kept
    scenario.sweep(runs=3).run(out=other)
    with pytest.raises(tw.Interrupted):
        scenario.sweep(seeds=[20, 21]).run(out=other, progress=stop)
    assert [run.seed for run in tw.SweepResult.load(other).runs] == [3, 4, 5]


def test_a_crash_while_the_index_is_written_leaves_the_plans(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = tw.load(small).sweep(runs=2)
    with monkeypatch.context() as broken:

        def fail(*_args: Any, **_keys: Any) -> None:
            raise OSError("no space")

        broken.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="no space"):
            sweep.run(out=tmp_path / "study")
    assert not (tmp_path / "study" / "sweep.json").exists()
    assert call(["run", str(small), "--runs", "2", "--out", str(tmp_path / "study")]) == 0
    assert tw.SweepResult.load(tmp_path / "study").complete


@pytest.mark.parametrize("place", ["mkdir", "write", "rename", "unlink"])
def test_an_interrupted_compaction_loses_nothing_and_duplicates_nothing(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    sweep = tw.load(small).sweep(runs=4)
    names = [run_folder_name(plan) for _, plan in sweep.plans]
    packed = [PackedRun.of(plan.run(), arrow=True) for _, plan in sweep.plans]
    stored = RunDataset(tmp_path)
    for name, run in zip(names, packed, strict=True):
        stored.add(name, run)

    def fail(*_args: Any, **_keys: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        match place:
            case "mkdir" | "rename" | "unlink":
                broken.setattr(Path, place, fail)
            case "write":
                written: list[Path] = []

                def write(frame: pl.DataFrame, file: Path) -> None:
                    written.append(file)
                    if len(written) == 7:
                        fail()
                    frame.write_parquet(file)

                broken.setattr(dataset, "_write_durably", write)
        with pytest.raises(KeyboardInterrupt):
            stored.compact(names)
    assert bool(stored.parts) == (place == "unlink")
    again = RunDataset(tmp_path)
    assert sorted(again.names) == sorted(names)
    again.compact(names)
    again.end()
    assert not (tmp_path / "incoming").exists()
    assert [part.name for part in again.parts] == ["part-000000"]
    for table in ("flows", "summary"):
        rows = pl.read_parquet(tmp_path / "part-*" / f"{table}.parquet")
        assert rows.height == sum(run.frame(table).height for run in packed)
    flows = of_dataset(again, names[2]).flows
    # a table of a result has its columns in the order of their use
    assert flows.equals(packed[2].frame("flows").select(flows.columns))


def test_a_damaged_file_of_a_run_is_run_again(small: Path, tmp_path: Path) -> None:
    scenario = tw.load(small)
    plan = scenario.plan(3)
    RunDataset(tmp_path).add(run_folder_name(plan), PackedRun(b"half of a file"))
    assert run_folder_name(plan) not in RunDataset(tmp_path)
    assert scenario.sweep(runs=5).run(out=tmp_path).complete


def test_two_processes_that_add_the_same_runs_count_them_once(small: Path, tmp_path: Path) -> None:
    plan = tw.load(small).plan(3)
    name, packed = run_folder_name(plan), PackedRun.of(plan.run(), arrow=True)
    one, other = RunDataset(tmp_path), RunDataset(tmp_path)
    one.add(name, packed)
    one.compact([name])
    other.add(name, packed)
    other.compact([name])
    other.refresh()
    assert len(other.parts) == 1
    assert pl.read_parquet(tmp_path / "part-*" / "runs.parquet").height == 1
    assert list((tmp_path / "incoming").iterdir()) == []


def test_a_run_of_a_later_format_is_refused(small: Path, tmp_path: Path) -> None:
    result = tw.load(small).plan(3).run()
    result.record["format"] = 99
    stored = RunDataset(tmp_path)
    stored.add("small-0/seed=3", PackedRun.of(result, arrow=True))
    with pytest.raises(tw.ResultError, match="format 99"):
        of_dataset(stored, "small-0/seed=3")


@pytest.fixture
def queried(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scenario, in the current folder, where DuckDB is installed."""
    pytest.importorskip("duckdb")
    monkeypatch.chdir(small.parent)
    return small


def ask(capsys: pytest.CaptureFixture[str], study: str | Path, sql: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert call(["query", str(study), sql, "--json"]) == 0, capsys.readouterr()
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
    return rows


@pytest.mark.parametrize("runs", [2, 5])
def test_a_query_sees_all_runs_of_a_sweep_with_their_keys(
    queried: Path, runs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    text = queried.read_text() + '\n[sweep]\n"flows.reno.count" = [1, 2]\n'
    queried.write_text(text, encoding="utf-8")
    assert call(["run", str(queried), "--runs", str(runs), "--out", "study"]) == 0
    rows = ask(
        capsys,
        "study",
        'select "flows.reno.count" n, count(*) flows, count(distinct seed) seeds, avg(goodput_bps) goodput '
        "from flows group by all order by all",
    )
    done = tw.SweepResult.load("study")
    flows = done.table("flows")
    assert [(row["n"], row["flows"], row["seeds"]) for row in rows] == [(1, runs, runs), (2, 2 * runs, runs)]
    mean = flows.filter(flows["flows.reno.count"] == 2)["goodput_bps"].mean()
    assert rows[1]["goodput"] == pytest.approx(mean)
    hashes = [row["trace_hash"] for row in ask(capsys, "study", "from runs")]
    assert hashes == [run.result.trace_hash for run in done.runs]
    assert call(["query", "study", "select * from summary", "--out", "all.csv"]) == 0
    assert pl.read_csv("all.csv").height == done.table("summary").height
    # an older study has no `runs.parquet`
    Path("study/runs.parquet").unlink()
    assert ask(capsys, "study", "select trace_hash from runs") == [{"trace_hash": word} for word in hashes]
    # one run
    folder = done.runs[0].result.folder
    assert folder is not None
    assert ask(capsys, folder, "select count(*) n from flows") == [{"n": 1}]
    shutil.rmtree("study")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["out/none", "from runs"], "out/none does not exist"),
        (["small.toml", "from runs"], "small.toml is not a folder"),
        (["empty", "from runs"], "empty is an empty folder"),
        (["study", "select nothing_such from flows"], "nothing_such"),
        (["study", "select * from flow"], "the views are runs, flows, receivers"),
        (["study", "select * from runs, flow"], "the views are runs, flows, receivers"),
        (["study", "from flows", "--out", "rows.xlsx"], "extension"),
        (["study", "set threads = 1", "--out", "rows.csv"], "only the rows of a query"),
        (["study", ""], "one statement, and this has none"),
        (["study", ";"], "one statement, and this has none"),
        (["study", "select 1; select 2"], "one statement, and this has 2"),
    ],
)
def test_a_mistake_in_a_query_is_a_message(
    queried: Path,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("empty").mkdir()
    assert call(["run", str(queried), "--runs", "2", "--out", "study"]) == 0
    assert call(["query", *words]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "pg_" not in said
    assert "Errno" not in said


@pytest.mark.parametrize(
    ("file", "text"), [("sweep.json", "{"), ("sweep.json", "{}"), ("runs.parquet", "PAR1 cut off")]
)
def test_a_damaged_index_is_named_and_written_again(
    queried: Path, file: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", str(queried), "--runs", "2", "--out", "study"]
    assert call(run) == 0
    Path("study", file).write_text(text, encoding="utf-8")
    assert call(["query", "study", "from runs"]) == 2
    said = capsys.readouterr().err
    assert f"study/{file} is damaged" in said
    assert "hint: " in said
    assert call(run) == 0
    assert len(ask(capsys, "study", "from runs")) == 2


def test_a_folder_that_is_no_study_is_called_what_it_is(
    queried: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tw.load(queried).sweep(runs=5).run(out="study")
    for verb, last in (("query", ["from runs"]), ("report", [])):
        assert call([verb, "study/part-000000", *last]) == 2
        assert "is a part of a study\nhint: give the study: study\n" in capsys.readouterr().err
    Path("study/sweep.json").unlink()
    assert call(["query", "study", "from runs"]) == 2
    assert "holds runs of a sweep, but no sweep.json\nhint: repeat" in capsys.readouterr().err
    with pytest.raises(tw.ResultError, match=r"holds no sweep: sweep\.json is missing"):
        tw.SweepResult.load("study")


def test_all_views_are_listed(queried: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for runs in (2, 5):
        tw.load(queried).sweep(runs=runs).run(out="study")
        assert [row["name"] for row in ask(capsys, "study", "show tables")] == sorted(VIEWS)
    assert call(["query", "--help"]) == 0
    words = set(re.findall(r"\w+", capsys.readouterr().out))
    assert set(VIEWS) <= words
    assert "avg" in words


def test_a_query_with_a_comment_is_written_to_a_file_and_mistakes_show_its_own_text(
    queried: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tw.load(queried).sweep(runs=2).run(out="study")
    assert call(["query", "study", "from runs -- all of them", "--out", "all.csv"]) == 0
    assert pl.read_csv("all.csv").height == 2
    for sql in ("select nothing_such from runs -- none", "select cast(run as int) from runs"):
        assert call(["query", "study", sql, "--out", "none.csv"]) == 2
        assert "copy" not in capsys.readouterr().err


def test_the_page_of_a_run_of_a_dataset_is_written_to_any_file(small: Path, tmp_path: Path) -> None:
    done = tw.load(small).sweep(runs=5).run(out=tmp_path / "study")
    folder, page = done.runs[0].result.folder, tmp_path / "r.html"
    assert call(["report", str(folder), "--out", str(page)]) == 0
    assert done.runs[0].result.trace_hash in page.read_text(encoding="utf-8")


def test_the_json_of_a_sweep_does_not_grow_with_its_tables(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    sizes = []
    for count in ("2", "60"):
        words = ["--runs", "3", "--set", f"flows.reno.count={count}", "--set", "duration=1.5 s", "--json"]
        assert call(["run", str(small), *words]) in (0, 1)
        sizes.append(len(capsys.readouterr().out))
    assert sizes[1] < 1.2 * sizes[0]
