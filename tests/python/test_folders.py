"""Where results go: a folder is one plan's, nothing is overwritten by a run of another plan, and no page is stale."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import thalweg as tw
from thalweg.cli import call
from thalweg.runs.folders import MAX_NAME_BYTES, finalize_run, folder_name, locate_run
from thalweg.sweep import run_folder_name

pytestmark = pytest.mark.usefixtures("there")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "there"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def ran(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """The answer of `thalweg run`."""
    assert call(["run", *words, "--json"]) == code, capsys.readouterr()
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def files(folder: str | Path) -> dict[str, bytes]:
    """All files below a folder."""
    root = Path(folder)
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


BUFFER = ("--set", "topology.bottleneck.buffer=0.2 bdp")


def test_a_run_with_changed_keys_has_a_folder_of_its_own(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ran(capsys, str(small))
    assert first["folder"] == "out/small/seed=3"
    before = files(first["folder"])
    changed = ran(capsys, str(small), *BUFFER)
    assert changed["folder"] == "out/small/bottleneck.buffer=0.2bdp,seed=3"
    assert changed["overrides"] == {"topology.bottleneck.buffer": "0.2 bdp"}
    assert files(first["folder"]) == before
    two = ran(capsys, str(small), "--seed", "9", *BUFFER, "--set", "flows.reno.count=2")
    assert two["folder"] == "out/small/flows.reno.count=2,bottleneck.buffer=0.2bdp,seed=9"


def test_a_file_that_was_edited_does_not_overwrite_the_earlier_run(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ran(capsys, str(small))["folder"]
    before = files(first)
    small.write_text(small.read_text().replace('"4 s"', '"5 s"'), encoding="utf-8")
    assert call(["run", str(small)]) == 0
    shown = capsys.readouterr().out
    line = next(line for line in shown.splitlines() if line.startswith("Results: "))
    assert line.startswith(f"Results: {first},plan=")
    assert f"({first} holds a run of another plan)" in line
    beside = Path(line.removeprefix("Results: ").partition(" ")[0])
    assert tw.Result.load(beside).record["duration_s"] == 5.0
    assert files(first) == before
    # and again: the same folder
    assert ran(capsys, str(small))["folder"] == str(beside)


def test_the_same_plan_again_rewrites_its_folder_with_the_same_tables_and_its_page(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(ran(capsys, str(small))["folder"])
    (folder / "notes.txt").write_text("mine")
    assert call(["report", str(folder)]) == 0
    capsys.readouterr()
    before = files(folder)
    assert ran(capsys, str(small))["folder"] == str(folder)
    after = files(folder)
    assert after.keys() == before.keys()
    assert [name for name in after if after[name] != before[name]] in ([], ["run.json"])
    assert not folder.with_name("seed=3.part").exists()


def test_a_page_of_an_earlier_run_does_not_stay_beside_new_tables(small: Path, there: Path) -> None:
    scenario = tw.load(small)
    folder = there / "run"
    scenario.run(out=folder)
    (folder / "report.html").write_text("the page of one flow")
    scenario.with_({"flows.reno.count": 2}).run(out=folder)
    assert not (folder / "report.html").exists()
    (folder / "report.html").write_text("the page of two flows")
    scenario.run().save(folder)
    assert not (folder / "report.html").exists()


def test_changed_keys_are_in_the_page_the_record_and_the_terminal(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["run", str(small), *BUFFER]) == 0
    shown = capsys.readouterr().out
    heading = "One Reno flow · bottleneck.buffer = 0.2 bdp"
    assert f"{heading}: flows" in shown
    folder = Path("out/small/bottleneck.buffer=0.2bdp,seed=3")
    assert json.loads((folder / "run.json").read_text())["overrides"] == {
        "topology.bottleneck.buffer": "0.2 bdp"
    }
    assert call(["report", str(folder)]) == 0
    page = (folder / "report.html").read_text()
    assert f"<title>{heading} · run</title>" in page
    assert f"<h1>{heading}</h1>" in page
    assert tw.Result.load(folder).heading == heading


def test_keys_may_be_set_to_anything_that_a_scenario_takes(small: Path, there: Path) -> None:
    link = {"rate": "3 Mbit/s", "delay": "10 ms", "buffer": "1 bdp"}
    for value in (tw.Link(**link), MappingProxyType(link)):
        changed = tw.load(small).with_({"topology.bottleneck": value, "record.series": ("rate",)})
        changed.run(out=there / "run")
        result = tw.Result.load(there / "run")
        assert result.overrides == {"topology.bottleneck": link, "record.series": ["rate"]}
        assert len(result.heading) < 120
        assert changed.plan().scenario.with_({"seed": 5}).overrides == {**result.overrides, "seed": 5}


@pytest.mark.parametrize("content", ["file", "other", "another run"])
def test_out_refuses_a_folder_with_other_content_and_leaves_it_unchanged(
    content: str, small: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = there / "taken"
    if content == "file":
        out.write_text("precious")
    elif content == "other":
        out.mkdir()
        (out / "precious.txt").write_text("precious")
    else:
        tw.load(small).with_({"duration": "3 s"}).run(out=out)
    before = files(there)
    for words in ([], ["--runs", "2"]):
        assert call(["run", str(small), "--out", str(out), *words]) == 2
        message = capsys.readouterr().err
        assert f"--out {out}" in message
        assert "Traceback" not in message
    assert files(there) == before


def test_out_accepts_a_new_an_empty_and_the_same_runs_folder(
    small: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (there / "empty").mkdir()
    for name in ("new", "empty", "new"):
        assert ran(capsys, str(small), "--out", name)["folder"] == name
        assert (there / name / "run.json").is_file()


def test_an_interrupted_run_does_not_replace_a_complete_one(small: Path, there: Path) -> None:
    scenario = tw.load(small)
    plan = scenario.plan()
    folder = there / "run"
    plan.run(out=folder)
    (folder / "report.html").write_text("its page")
    before = files(folder)
    place = locate_run(plan, folder, None)
    assert place.work != folder
    result = plan.run(out=place.work)
    result.record |= {"status": "interrupted", "ended_s": 1.0}
    assert finalize_run(place, result)[0] == place.work
    assert files(folder) == before


def test_an_emulation_goes_beside_an_earlier_one_and_beside_a_simulation(small: Path, there: Path) -> None:
    plan = tw.load(small).plan()
    name = there / "emulated"
    assert locate_run(plan, name, None, emulated=True).folder == name
    plan.run(out=name)
    # a simulation is not an earlier measurement
    assert locate_run(plan, name, None, emulated=True).folder.name.startswith("emulated,plan=")
    record = json.loads((name / "run.json").read_text())
    (name / "run.json").write_text(json.dumps({**record, "emulation": {"valid": True}}))
    beside = locate_run(plan, name, None, emulated=True)
    assert (beside.folder.name, beside.work) == ("emulated,run=2", beside.folder)
    assert locate_run(plan, name, None).folder.name.startswith("emulated,plan=")
    # an attempt that measured nothing is taken over
    (name / "run.json").unlink()
    assert locate_run(plan, name, None, emulated=True).folder == name


def test_ctrl_c_leaves_an_earlier_run_alone(small: Path, there: Path) -> None:
    text = small.read_text().replace('"4 s"', '"100000 s"').replace('"5 Mbit/s"', '"500 Mbit/s"')
    small.write_text(text.replace('"100 ms"', '"10 s"'), encoding="utf-8")
    words = [sys.executable, "-m", "thalweg", "run", str(small)]
    folder = there / "out" / "small" / "seed=3"
    folder.mkdir(parents=True)
    plan = tw.load(small).plan()
    (folder / "plan.toml").write_text(plan.toml)
    (folder / "run.json").write_text('{"status": "complete"}')
    before = files(folder)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        assert "real time" in run.stderr.readline()
        run.send_signal(signal.SIGINT)
        shown, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    assert "seed=3.part" in shown
    assert files(folder) == before
    assert tw.Result.load(there / "out" / "small" / "seed=3.part").record["status"] == "interrupted"


def test_sweeps_add_or_go_beside_and_pages_are_of_the_tables(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = '\n[sweep]\n"topology.bottleneck.buffer" = [%s]\n'
    text = small.read_text()
    small.write_text(text + grid % '"0.5 bdp", "1 bdp"', encoding="utf-8")
    first = ran(capsys, str(small))
    assert first["folder"] == "out/small"
    assert call(["report", "out/small"]) == 0
    # another value is added: the page is written again
    small.write_text(text + grid % '"0.5 bdp", "1 bdp", "2 bdp"', encoding="utf-8")
    capsys.readouterr()
    assert ran(capsys, str(small))["folder"] == "out/small"
    page = Path("out/small/report.html").read_text()
    assert "3 points of a grid" in page
    before = files("out/small")
    # other keys, and fewer values: beside
    for words in (["--set", "flows.reno.count=2"], []):
        small.write_text(text + grid % '"1 bdp"', encoding="utf-8")
        beside = ran(capsys, str(small), *words)["folder"]
        assert beside.startswith("out/small/")
        name = "flows.reno.count=2" if words else "sweep="
        assert Path(beside).name.startswith(name)
        assert Path(beside, "summary.parquet").is_file()
    other = ran(capsys, str(small), "--runs", "2", "--no-sweep")["folder"]
    assert Path(other).name.startswith("sweep=")
    after = files("out/small")
    assert {name: after[name] for name in before} == before
    # three points, one with two flows, and a second seed: a point that was run already is not run again
    cells = [name for name in after if name.endswith("/run.json")]
    assert len(cells) == 3 + 1 + 1


def test_a_sweep_with_changed_keys_names_them(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["run", str(small), "--set", "flows.reno.count=2", "--runs", "2"]) == 0
    assert "One Reno flow · flows.reno.count = 2: mean" in capsys.readouterr().out
    assert call(["report", "out/small/flows.reno.count=2"]) == 0
    page = Path("out/small/flows.reno.count=2/report.html").read_text()
    assert "<h1>One Reno flow · flows.reno.count = 2</h1>" in page


def test_a_sweep_is_not_written_over_another_one(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, str(small), "--runs", "2", "--out", "sweep")
    before = files("sweep")
    assert call(["run", str(small), "--runs", "2", "--seed", "50", "--out", "sweep"]) == 2
    assert "another sweep" in capsys.readouterr().err
    assert call(["run", str(small), "--out", "sweep"]) == 2
    assert "holds a sweep" in capsys.readouterr().err
    assert files("sweep") == before
    assert ran(capsys, str(small), "--runs", "3", "--out", "sweep")["planned"] == 3


def test_a_killed_sweep_continues_in_its_folder(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, str(small), "--runs", "2", "--out", "sweep")
    record = Path("sweep/sweep.json")
    plans = json.loads(record.read_text())["plans"]
    record.unlink()
    Path("sweep/sweep.json.part").write_text(json.dumps({"plans": plans}))
    assert ran(capsys, str(small), "--runs", "2", "--out", "sweep")["status"] == "complete"
    assert not Path("sweep/sweep.json.part").exists()


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ({}, "seed=1"),
        ({"topology.bottleneck.buffer": "0.2 bdp"}, "bottleneck.buffer=0.2bdp,seed=1"),
        ({"topology.bottleneck.rate": "5 Mbit/s"}, "bottleneck.rate=5Mbps,seed=1"),
        ({"flows.cubic.count": 3, "duration": "5 s"}, "duration=5s,flows.cubic.count=3,seed=1"),
        ({"record.events": True}, "record.events=true,seed=1"),
        ({"flows.*.scheme": "cubic"}, "flows.each.scheme=cubic,seed=1"),
        ({"seed": 1}, "seed=1"),
    ],
)
def test_names_of_folders_can_be_read(overrides: dict[str, Any], name: str) -> None:
    assert folder_name(overrides, "seed=1") == name


def test_names_of_folders_are_safe_short_and_distinct() -> None:
    values = ["a/b", "a_b", "a b", "a:b", "..", "é", "x" * 300, "x" * 301, [1, 2], {"a": 1}, "", "\n", "*"]
    names = [folder_name({"title": value}, "seed=1") for value in values]
    names += [folder_name({f"flows.{'n' * n}.count": n, "duration": "1 s"}, "seed=1") for n in (100, 101)]
    names += [folder_name({key: 1}, "seed=1") for key in ("flows.*.count", "flows._.count", "flows.é.count")]
    assert len(set(names)) == len(names)
    for name in names:
        assert len(name.encode()) <= MAX_NAME_BYTES
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=,+-")
        assert "seed=1" in name.split(",")
    assert folder_name({"a": 1, "b": 2}) == folder_name({"b": 2, "a": 1})


CELLS = """
[sweep]
"topology.bottleneck.buffer" = ["0.2 bdp", "1 bdp"]
"flows.reno.count" = [1, 2]
"""


def test_a_run_of_a_sweep_is_called_by_its_values(
    small: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    small.write_text(small.read_text(encoding="utf-8") + CELLS, encoding="utf-8")
    assert call(["run", str(small), "--runs", "2", "--out", "study"]) == 0
    study = Path("study")
    names = sorted(folder.name for folder in study.iterdir() if folder.is_dir())
    assert [name.rpartition("-")[0] for name in names] == [
        f"flows.reno.count={count},bottleneck.buffer={buffer}"
        for count in (1, 2)
        for buffer in ("0.2bdp", "1bdp")
    ]
    for name in names:
        values = name.rpartition("-")[0]
        for seed in (3, 4):
            run = tw.Result.load(study / f"{values},seed={seed}")
            assert run.folder == study / name / f"seed={seed}"
    # the last words of a key suffice, in any order; what several runs have is none of them
    short = tw.Result.load(study / "seed=4,buffer=1bdp,count=2")
    assert short.overrides == {"topology.bottleneck.buffer": "1 bdp", "flows.reno.count": 2}
    assert call(["report", str(study / "count=2,buffer=1bdp,seed=3")]) == 0
    assert (study / names[3] / "seed=3" / "report.html").is_file()
    capsys.readouterr()
    for wrong in (
        "count=2,seed=3",
        "buffer=1bdp,count=2",
        "buffer=9bdp,count=2,seed=3",
        "uffer=1bdp,count=2,seed=3",
    ):
        with pytest.raises(tw.ResultError, match="does not exist"):
            tw.Result.load(study / wrong)


def test_names_of_runs_are_unique_valid_and_short(small: Path) -> None:
    scenario = tw.load(small)
    grid = {"title": ["é" * 300, "a/b", "a b", "x" * 300, "x" * 301], "flows.reno.count": [1, 2]}
    names = [run_folder_name(plan) for _, plan in scenario.sweep(grid).plans]
    assert len(set(names)) == 10
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9._+=,-]+/seed=3", name)
        assert len(name.encode()) < 200
