"""Damaged folders of results: every command says which file it is, and what to do; none ends with a traceback."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg as tw
from cli_calls import refused_after
from conftest import SMALL
from thalweg import _stored
from thalweg._run_folder import TABLES
from thalweg.breaking.evaluation import Log, Measured
from thalweg.cli import call
from thalweg.jobs import SampleFile

DEEP = "[" * 100_000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, a sweep with a folder per run, and a sweep as a dataset; tests do not change it."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    scenario = tw.load(folder / "small.toml")
    scenario.run(out=folder / "run")
    scenario.sweep(runs=2).run(out=folder / "sweep")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("thalweg.dataset.BATCH", 2)
        scenario.sweep(runs=4).run(out=folder / "dataset")
    return folder


@pytest.fixture
def there(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folders, in which the test works."""
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy)
    monkeypatch.chdir(copy)
    return copy


def of_other_columns() -> bytes:
    """A Parquet table that Thalweg did not write."""
    file = io.BytesIO()
    pl.DataFrame({"x": [1]}).write_parquet(file)
    return file.getvalue()


def damaged(data: bytes) -> Iterator[tuple[bytes | None, str]]:
    """What can have become of a table, and what the message says of it."""
    yield None, "is missing"
    yield b"", "is empty"
    yield data[: len(data) // 2], "is damaged"
    yield b"not a table", "is damaged"
    yield of_other_columns(), "has no column"
    texts = pl.read_parquet(io.BytesIO(data)).select(pl.all().cast(pl.String))
    file = io.BytesIO()
    texts.write_parquet(file)
    yield file.getvalue(), "holds no numbers"


def write(file: Path, data: bytes | str | None) -> None:
    if data is None:
        file.unlink()
    else:
        file.write_bytes(data.encode() if isinstance(data, str) else data)


@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_table_of_a_run_is_named_with_a_remedy(table: str, there: Path) -> None:
    file = there / "run" / f"{table}.parquet"
    for data, words in damaged(file.read_bytes()):
        write(file, data)
        for read in (
            lambda: tw.Result.load("run").frame(table),
            lambda: _stored.check_table_of_run(file.relative_to(there), table),
        ):
            with pytest.raises(tw.ResultError, match=rf"run/{table}\.parquet .*{words}") as told:
                read()
            assert told.value.hint == _stored.AGAIN


@given(st.data())
def test_a_table_is_damaged_wherever_it_is_cut(whole: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(sorted(whole.glob("run/*.parquet"))))
    whole_file = file.read_bytes()
    cut = whole / f"cut-{file.name}"
    cut.write_bytes(whole_file[: data.draw(st.integers(0, len(whole_file) - 1))])
    for read in (_stored.read_table_of_run, _stored.check_table_of_run):
        with pytest.raises(tw.ResultError, match="is damaged"):
            read(cut, file.stem)


COMMANDS = {
    "report": ["report", "run"],
    "compare": ["compare", "run", "sweep/seed=3"],
    "plot": ["plot", "run", "rate"],
    "query": ["query", "run", "from flows"],
    "verify": ["verify", "run"],
    "explain": ["explain", "run", "--flow", "reno"],
}
if find_spec("duckdb") is None:
    del COMMANDS["query"]

USED = {"plot": "series", "query": "flows"}
"""A table that a command needs, unless it needs all."""


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"explain"}))
def test_no_command_ends_with_a_traceback_if_a_table_is_damaged(
    command: str, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = there / "run" / f"{USED.get(command, 'flows')}.parquet"
    for data, words in damaged(file.read_bytes()):
        write(file, data)
        said = refused_after(capsys, *COMMANDS[command])
        assert f"run/{file.name}" in said
        assert words in said
        assert f"hint: {_stored.AGAIN}" in said


def records(text: str) -> Iterator[str]:
    """Records of which something is missing or of another type."""
    yield from ("", text[: len(text) // 2], "[]", "null", DEEP)
    record: dict[str, Any] = json.loads(text)
    for key in record:
        yield json.dumps({**record, key: [[]]})
        yield json.dumps({other: record[other] for other in record if other != key})


def refusal_of(folder: str) -> tw.ResultError | None:
    """Why a run or a sweep is not read; None if it is, with all that its record says."""
    try:
        if folder == "sweep":
            assert len(tw.SweepResult.load(folder).runs) == 2
        else:
            result = tw.Result.load(folder)
            assert result.complete
            assert result.seed == 3
            assert result.packet_hops > 0
            assert result.heading
    except tw.ResultError as error:
        return error
    return None


@pytest.mark.parametrize("file", ["run/run.json", "sweep/sweep.json"])
def test_a_record_is_read_or_its_damage_is_named(
    file: str, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = file.partition("/")[0]
    text = (there / file).read_text(encoding="utf-8")
    for damage in records(text):
        write(there / file, damage)
        refusal = refusal_of(folder)
        assert refusal is None or (file in str(refusal) and refusal.hint)
    for damage in ("", text[: len(text) // 2], "[]", DEEP):
        write(there / file, damage)
        for command, words in COMMANDS.items():
            if folder == "run" or command in ("report", "plot", "query"):
                said = refused_after(capsys, *[folder if word == "run" else word for word in words])
                assert f"{file} is damaged" in said
                assert "writes it again" in said, command


@pytest.mark.parametrize("file", ["plan.toml", "scenario.toml"])
@pytest.mark.parametrize("damage", [b"a = [", b"\xff\xfe\xff", DEEP.encode()])
def test_a_damaged_plan_is_a_message(
    file: str, damage: bytes, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(there / "run" / file, damage)
    for words in COMMANDS.values():
        capsys.readouterr()
        code = call(words)
        assert code in (0, 2)
        said = capsys.readouterr().err
        assert code == 0 or file in said, words


@pytest.mark.parametrize("name", ["summary.parquet", "runs.parquet"])
def test_a_damaged_table_of_a_sweep_is_named(
    name: str, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = there / "sweep" / name
    words = ["report", "sweep"] if name.startswith("summary") else ["query", "sweep", "from runs"]
    if words[0] not in COMMANDS:
        pytest.skip("DuckDB is not installed")
    whole_file = file.read_bytes()
    for damage in (b"", whole_file[:-9], b"not a table", of_other_columns()):
        write(file, damage)
        said = refused_after(capsys, *words)
        assert f"sweep/{name} is damaged" in said
        assert "hint: " in said


@pytest.mark.parametrize("table", ["flows", "summary", "runs"])
def test_a_damaged_part_of_a_dataset_is_named(
    table: str, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = there / "dataset" / "part-000000" / f"{table}.parquet"
    whole_file = file.read_bytes()
    words = {
        "flows": ["plot", "dataset", "fct", "--kind", "cdf"],
        "summary": ["plot", "dataset", "flows.throughput", "--kind", "cdf"],
        "runs": ["plot", "dataset", "flows.throughput", "--kind", "cdf"],
    }
    for damage in (b"", whole_file[:-9], b"not a table", of_other_columns()):
        write(file, damage)
        assert f"part-000000/{table}.parquet is damaged" in refused_after(capsys, *words[table])


@pytest.mark.parametrize("file", ["evaluation.json", "reproduction.json"])
@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "{}", DEEP, '{"format": 2, "version": "0", "claims": 1, "runs": [], "batteries": [1]}'],
)
def test_a_damaged_card_or_reproduction_is_named(
    file: str, damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / file).write_text(damage, encoding="utf-8")
    said = refused_after(capsys, "report", str(tmp_path))
    assert f"{file} is damaged: " in said
    assert f"hint: {_stored.AGAIN}" in said


def hashes(folder: str) -> list[str]:
    return [run.result.trace_hash for run in tw.SweepResult.load(folder).runs]


@pytest.mark.parametrize("table", ["flows", "packets", "summary", "run.json"])
def test_a_sweep_repeats_a_run_whose_files_are_damaged_and_says_so(
    table: str, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder,) = there.glob("sweep/*/seed=3")
    file = folder / (table if "." in table else f"{table}.parquet")
    before, whole_file = hashes("sweep"), file.read_bytes()
    other = folder.with_name("seed=4") / "run.json"
    stamp = other.stat().st_mtime_ns
    for data in (b"", whole_file[: len(whole_file) // 2], whole_file[:-1] if "." not in table else b"[]"):
        write(file, data)
        capsys.readouterr()
        assert call(["run", "small.toml", "--runs", "2", "--out", "sweep"]) == 0
        said = capsys.readouterr().err
        assert f"{file.relative_to(there)} is damaged" in said
        assert "this run is run again" in said
        assert table == "run.json" or file.read_bytes() == whole_file
        assert hashes("sweep") == before
        assert other.stat().st_mtime_ns == stamp
    assert call(["run", "small.toml", "--runs", "2", "--out", "sweep"]) == 0
    assert "damaged" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["flows.parquet", "runs.parquet"])
def test_a_sweep_sets_a_damaged_part_aside_and_repeats_its_runs(
    name: str, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thalweg.dataset.BATCH", 2)
    file = there / "dataset" / "part-000000" / name
    before, whole_file = hashes("dataset"), file.read_bytes()
    for number, data in enumerate((b"", whole_file[: len(whole_file) // 2])):
        part = min(there.glob("dataset/part-*"))
        write(part / name, data)
        with pytest.warns(tw.ResultWarning, match=rf"{part.name}/{name} is damaged.*kept as \.damaged-part"):
            tw.load("small.toml").sweep(runs=4).run(out="dataset")
        assert hashes("dataset") == before
        assert len(list(there.glob("dataset/.damaged-part-*"))) == number + 1
        assert pl.read_parquet(there / "dataset" / "part-*" / "flows.parquet").height == 4
    assert call(["run", "small.toml", "--runs", "4", "--out", "dataset"]) == 0


@given(st.data())
def test_measurements_are_repeated_wherever_their_file_is_cut(whole: Path, data: st.DataObject) -> None:
    file = SampleFile(whole / "sample.npz")
    file.save({"values": {"flow.a.rtt": 0.25}, "series": numpy.arange(20.0)})
    whole_file = file.path.read_bytes()
    file.path.write_bytes(whole_file[: data.draw(st.integers(0, len(whole_file) - 1))])
    with pytest.warns(tw.ResultWarning, match=r"sample\.npz is damaged"):
        assert file.load() is None


def test_lines_of_a_search_that_are_damaged_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "delay.jsonl"
    log = Log(path, {"scheme": "reno"})
    log.append("one", Measured(1.0))
    log.append("two", Measured(2.0))
    lines = path.read_text("utf-8").split("\n")
    for damage in (lines[1][:7], "[]", "null", "", DEEP):
        path.write_text("\n".join([lines[0], damage, *lines[2:]]), "utf-8")
        with pytest.warns(tw.ResultWarning, match=r"delay\.jsonl:2 is damaged"):
            assert Log(path, {"scheme": "reno"}).known.keys() == {"two"}
