"""Every scenario that is shipped ends as it says, with its sweep; those that are broken on purpose fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import thalweg as tw
from conftest import ROOT
from thalweg.cli import call

FILES = sorted(
    file
    for file in (ROOT / "scenarios").rglob("*.toml")
    # a stack that is off by default
    if "broken" not in file.parts and 'stack = "str0m"' not in file.read_text(encoding="utf-8")
)

LONG = {
    "does-bbr3-leave-room-for-cubic",
    "how-long-do-short-flows-take",
    "what-do-heavy-tails-do",
    "what-does-each-impairment-cost",
    "what-is-each-access-link-worth",
    "which-queue-keeps-the-delay-short",
    "who-fills-a-long-path-that-loses",
}
"""Scenarios of which two more seeds take more than 2 s of CPU time."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT / "scenarios")))
def test_a_scenario_meets_its_expectations_at_every_point_of_its_sweep(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if tw.load(file).tree.get("slow") and not os.environ.get("THALWEG_SLOW"):
        pytest.skip("slow: it runs where THALWEG_SLOW is set")
    monkeypatch.chdir(tmp_path)
    code = call(["run", str(file)])
    shown = capsys.readouterr()
    assert code == 0, shown.out[-3000:] + shown.err


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT / "scenarios")))
def test_expectations_do_not_depend_on_the_seed(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if (file.stem in LONG or tw.load(file).tree.get("slow")) and not os.environ.get("THALWEG_SLOW"):
        pytest.skip("slow: it runs where THALWEG_SLOW is set")
    monkeypatch.chdir(tmp_path)
    code = call(["run", str(file), "--seed", "2", "--runs", "2", "--jobs", "1"])
    shown = capsys.readouterr()
    assert code == 0, shown.out[-3000:] + shown.err


def test_scenarios_that_are_long_exist() -> None:
    assert {file.stem for file in FILES} >= LONG
