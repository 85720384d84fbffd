"""QUIC stacks of others as programs at the ends of an emulation: aioquic and quic-go, each beside CUBIC of the kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import thalweg as tw
from emulated import needs_namespaces

pytestmark = pytest.mark.wall_clock

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scenarios" / "quic-programs"


def emulated(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> tw.Result:
    """The scenario in 6 s, with the programs' output in `folder`."""
    scenario = tw.load(FOLDER / f"{name}.toml").with_({"duration": "6 s", "warmup": "2 s"})
    monkeypatch.chdir(folder)
    return scenario.emulate(out=folder / "run", urgent=True)


def value(result: tw.Result, key: str) -> float:
    """A metric that is there."""
    found = result[key]
    assert found is not None, key
    return found


def check(result: tw.Result) -> None:
    """Both flows use the link, if the host kept up; no program ended with an error."""
    said = result.record["emulation"]
    assert said["notes"] == []
    if not said["valid"]:
        pytest.skip(f"the host could not keep up: {said['faults']}")
    # of 8 Mbit/s
    assert value(result, "flow.quic.goodput") > 0.5e6
    assert value(result, "flow.tcp.goodput") > 0.5e6
    assert value(result, "link.bottleneck.utilisation") > 0.85


@needs_namespaces
def test_aioquic_shares_a_link_with_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = os.environ.get("THALWEG_PYTHON", "python3")
    if (
        shutil.which(python) is None
        or subprocess.run([python, "-c", "import aioquic"], check=False, capture_output=True).returncode
    ):
        pytest.skip(f"{python} has no aioquic: pip install aioquic, or name another Python in THALWEG_PYTHON")
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    check(emulated("aioquic", monkeypatch, tmp_path))


@needs_namespaces
def test_quic_go_shares_a_link_with_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("go") is None:
        pytest.skip("needs Go")
    program = tmp_path / "out" / "quic-go"
    words = ["go", "build", "-o", str(program), "."]
    built = subprocess.run(
        words, cwd=FOLDER / "quic-go", check=False, capture_output=True, text=True, timeout=300
    )
    if built.returncode:
        # its modules are not here and cannot be had, or this Go is too old
        pytest.skip(f"quic-go could not be built: {built.stderr[-300:]}")
    check(emulated("quic-go", monkeypatch, tmp_path))


@pytest.mark.parametrize("name", ["aioquic", "quic-go"])
def test_the_scenarios_of_programs_are_simulated_with_a_scheme_in_their_place(name: str) -> None:
    result = tw.load(FOLDER / f"{name}.toml").with_({"duration": "6 s", "warmup": "2 s"}).run()
    assert value(result, "flow.quic.goodput") > 1e6
