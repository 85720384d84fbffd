"""Files without an end, and larger ones than any of their kind, are refused before memory ends."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

import thalweg as tw
from cli_calls import refused_after
from conftest import SMALL
from thalweg import _files
from thalweg.cli import call

COMMANDS = {
    "run": ["run"],
    "sweep": ["run", "--runs", "2"],
    "check": ["check"],
    "drill": ["drill"],
    "forward": ["ndn", "forward"],
    "verify": ["verify"],
    "explain": ["explain", "--flow", "reno"],
    "report": ["report"],
}


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_files, "MAX_BYTES", 2**16)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", sorted(COMMANDS))
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_an_end_is_refused(
    command: str, device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert device in refused_after(capsys, *COMMANDS[command], device)


@pytest.mark.parametrize("command", ["run", "check", "drill", "forward"])
def test_a_large_file_is_refused_before_it_is_read(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "large.toml"
    with file.open("wb") as holes:
        holes.truncate(2**40)
    said = refused_after(capsys, *COMMANDS[command], str(file))
    assert "longer than" in said
    assert str(file) in said


def test_a_scheme_is_no_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").symlink_to("/dev/zero")
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    said = refused_after(capsys, "run", "small.toml", "--scheme-file", "mine.py")
    assert "mine.py is no file" in said


@pytest.mark.parametrize(("data", "message"), [(b"x" * 2**20, "longer than"), (b"\xff", "not UTF-8")])
def test_what_a_pipe_gives_is_read_to_the_limit(
    data: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"pipe: {message}" in refused_after(capsys, "check", str(piped(tmp_path, data)))


def test_a_scenario_can_come_from_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["check", str(piped(tmp_path, b"\xef\xbb\xbf" + SMALL.encode()))]) == 0
    assert tw.load(piped(tmp_path, SMALL.replace("\n", "\r\n").encode())).title == "One Reno flow"


def piped(folder: Path, data: bytes) -> Path:
    """A named pipe to which another thread writes these bytes once."""
    pipe = folder / "pipe"
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)

    def write() -> None:
        # the reader may have seen enough
        with suppress(BrokenPipeError):
            pipe.write_bytes(data)

    threading.Thread(target=write, daemon=True).start()
    return pipe
