"""A QUIC connection that is lost: the run, its events and its page say when and why, and the flow ends."""

from __future__ import annotations

from pathlib import Path

import pytest

import thalweg as tw
from cli_calls import asked
from thalweg import report
from thalweg.cli import call

# at most 1024 gaps in a stream: slow start leaves more of them in this queue
LOST = """
title = "A window that the receiver cannot keep"
duration = "2 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "200 Mbit/s", delay = "50 ms", buffer = "500 packets" }
[[flows]]
name = "upload"
stack = "STACK"
quic = { receive_window = "WINDOW" }
"""
WHY = "too many gaps in stream buffer"


def written(folder: Path, stack: str, window: str) -> str:
    file = folder / "upload.toml"
    file.write_text(LOST.replace("STACK", stack).replace("WINDOW", window), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("stack", ["quinn", "noq"])
def test_a_lost_connection_is_said_with_its_reason(
    stack: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", written(tmp_path, stack, "10 MB"), "--out", str(tmp_path / "run")]
    assert call(words) == 0
    said = capsys.readouterr().err
    assert said.count("warning: `upload` lost its connection at 1.") == 1
    assert said.count(WHY) == 1
    # the plan was warned of, with a window that has no effect of this kind
    assert "receive_window" in said
    assert "gaps in a stream" in said
    [warning] = [one for one in asked(capsys, *words)["warnings"] if one["key"] == "flows"]
    assert warning["message"].endswith(WHY)
    run = tw.Result.load(tmp_path / "run")
    assert run["flow.upload.active"] < 2
    assert WHY in report.write(tmp_path / "run").read_text(encoding="utf-8")


def test_a_window_that_the_path_holds_is_not_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", written(tmp_path, "quinn", "3 MB"), "--out", str(tmp_path / "run")]
    assert call(words) == 0
    assert "warning" not in capsys.readouterr().err
