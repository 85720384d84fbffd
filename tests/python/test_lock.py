"""Two processes do not write one folder: the second is told who holds it, and nothing stays locked."""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import thalweg as tw
from cli_calls import refused_after
from thalweg._lock import LOCK_FILE, locked
from thalweg.cli import call

HOLD = """\
import sys, time
from thalweg._lock import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


@contextmanager
def held_by_another(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes a folder."""
    with subprocess.Popen([sys.executable, "-c", HOLD, folder], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        try:
            yield other
        finally:
            other.kill()


@pytest.mark.processes
@pytest.mark.parametrize(
    "words",
    [
        ["run", "small.toml", "--out", "held"],
        ["run", "small.toml", "--runs", "2", "--out", "held"],
        ["evaluate", "reno", "--quick", "--out", "held"],
        ["break", "reno", "--trials", "1", "--out", "held"],
    ],
    ids=["run", "sweep", "evaluate", "break"],
)
def test_a_folder_that_another_process_writes_is_refused(
    words: list[str], small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(small.parent)
    with held_by_another(small.parent / "held") as other:
        said = refused_after(capsys, *words)
        assert f"held is being written by process {other.pid} on {platform.node()}" in said
        assert "hint: wait for its end" in said
        assert [entry.name for entry in Path("held").iterdir()] == [LOCK_FILE]


@pytest.mark.processes
def test_a_killed_process_leaves_no_lock(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(small.parent)
    for words in (["--out", "one"], ["--runs", "2", "--out", "sweep"]):
        folder = Path(words[-1])
        with held_by_another(folder) as other:
            other.send_signal(signal.SIGKILL)
            other.wait()
        assert (folder / LOCK_FILE).is_file()
        assert call(["run", "small.toml", *words]) == 0
        assert not list(folder.rglob(LOCK_FILE))


def test_the_folder_of_an_earlier_run_is_held_as_well(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(small.parent)
    words = ["run", "small.toml", "--out", "one"]
    assert call(words) == 0
    before = {path: path.read_bytes() for path in Path("one").iterdir()}
    with locked("one"):
        assert f"one is being written by process {os.getpid()}" in refused_after(capsys, *words)
    assert {path: path.read_bytes() for path in Path("one").iterdir()} == before


def test_a_lock_is_of_one_folder_and_of_one_block(tmp_path: Path) -> None:
    with (
        locked(tmp_path / "one"),
        locked(tmp_path / "other"),
        pytest.raises(tw.ResultError, match="one is being written"),
        locked(tmp_path / "one"),
    ):
        pass
    with pytest.raises(KeyError), locked(tmp_path / "one"):
        raise KeyError
    with locked(tmp_path / "one"):
        pass
    with locked(None), locked(None):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(tw.ResultError, match="cannot be written"), locked(tmp_path / "file"):
        pass


def test_a_file_system_without_locks_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path):
        pass


@pytest.mark.processes
def test_processes_that_begin_one_sweep_together_leave_all_its_runs(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    small.write_text(small.read_text().replace('"4 s"', '"200 s"'), encoding="utf-8")
    words = [
        sys.executable,
        "-m",
        "thalweg",
        "run",
        str(small),
        "--runs",
        "3",
        "--jobs",
        "1",
        "--out",
        "study",
    ]
    begun = [
        subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ended = [(process.communicate()[1], process.returncode) for process in begun]
    assert 0 in [code for _, code in ended]
    for said, code in ended:
        assert "Traceback" not in said
        assert code == 0 or (code == 2 and "study is being written by process" in said), said
    assert tw.SweepResult.load("study").complete


@pytest.mark.processes
def test_sweeps_with_an_index_each_share_runs_that_are_written_together(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    code = (
        "import sys, thalweg as tw\ntw.load('small.toml').sweep(runs=6).run(out='runs', study=sys.argv[1])\n"
    )
    begun = [
        subprocess.Popen([sys.executable, "-c", code, name], stderr=subprocess.PIPE, text=True)
        for name in "abc"
    ]
    for process in begun:
        said = process.communicate()[1]
        assert process.returncode == 0, said
    for name in "abc":
        assert len(tw.SweepResult.load(name).table("flows")) == 6
