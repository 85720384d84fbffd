"""The wheels of `dist/` in a new environment without a compiler: from the files to the first picture.

`make wheel-test` runs these tests. Other projects come from `target/needed`, so that no network is part of a measurement.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DIST = ROOT / "dist"
NEEDED = ROOT / "target" / "needed"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
LIMIT_BYTES = 15_000_000
"""More than this a wheel must not be."""
GOAL_S = 10.0
"""CPU time from the wheel to the first picture, installation included. It is printed, not asserted, because machines differ.

Installed with `--no-compile`: pip otherwise compiles every module of every library, used or not, which takes longer than
the rest."""
COMPILERS = ("cc", "gcc", "clang", "c++", "ld", "make", "cmake", "cargo", "rustc", "maturin")


def only(pattern: str) -> Path:
    """The file of `dist/` with this name."""
    (found,) = DIST.glob(pattern)
    return found


def wheel() -> Path:
    return only(f"thalweg-{VERSION}-*.whl")


@dataclass
class Environment:
    """A virtual environment for one test, with nothing of this host but its interpreter."""

    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return {"PATH": str(self.folder / "bin"), "HOME": str(home), "LC_ALL": "C.UTF-8", "COLUMNS": "100"}

    def run(self, *argv: str | Path, ends: int = 0) -> str:
        """Runs a program of the environment in its folder; returns what it prints."""
        program = self.folder / "bin" / argv[0]
        done = subprocess.run(
            [program, *argv[1:]],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == ends, f"{argv}\n{done.stdout}{done.stderr}"
        return done.stdout

    def pip(self, *wanted: str | Path) -> None:
        """Installs wheels, and what they need, from files."""
        options = [
            "--quiet",
            "--disable-pip-version-check",
            "--no-compile",
            "--no-index",
            "--find-links",
            NEEDED,
        ]
        self.run("python", "-m", "pip", "install", *options, "--only-binary", ":all:", *wanted)


def new(folder: Path) -> Environment:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return Environment(folder)


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return new(tmp_path_factory.mktemp("install") / "first")


def spent() -> float:
    """CPU seconds of all programs that ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_from_the_wheel_to_the_first_picture(
    environment: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    path = environment.variables["PATH"]
    assert [name for name in COMPILERS if shutil.which(name, path=path)] == []
    steps, marks = [], [(time.monotonic(), spent())]
    for name, commands in {
        "pip install": [],
        "thalweg new, run": [("new", "first.toml"), ("run", "first.toml", "--out", "first")],
        "thalweg plot": [("plot", "first", "rate")],
        "thalweg report": [("report", "first")],
    }.items():
        if not commands:
            environment.pip(wheel())
        for words in commands:
            environment.run("thalweg", *words)
        marks.append((time.monotonic(), spent()))
        steps.append((name, marks[-1][0] - marks[-2][0], marks[-1][1] - marks[-2][1]))
        if name == "thalweg plot":
            wall, cpu = (after - before for before, after in zip(marks[0], marks[-1], strict=True))
    with capsys.disabled():
        print("\n" + "\n".join(f"{name:18} {w:5.1f} s, {c:4.1f} s of CPU time" for name, w, c in steps))
        print(f"{'to the picture':18} {wall:5.1f} s, {cpu:4.1f} s of CPU time (goal: {GOAL_S:.0f})")
    picture = (environment.folder / "first" / "rate.svg").read_text("utf-8")
    assert picture.count("<path") > 10
    assert "rate (Mbit/s)" in picture
    page = (environment.folder / "first" / "report.html").read_text("utf-8")
    assert "<svg" in page
    assert "//# sourceMappingURL" not in page


def test_the_package_is_the_installed_one(environment: Environment) -> None:
    said = environment.run(
        "python",
        "-c",
        "import thalweg; print(thalweg.__file__, thalweg.__version__, thalweg._native.__file__)",
    ).split()
    assert said[1] == VERSION
    assert all(Path(file).is_relative_to(environment.folder) for file in (said[0], said[2]))
    assert environment.run("thalweg", "--version").split() == ["thalweg", VERSION]
    environment.run("python", "-m", "pip", "check", "--disable-pip-version-check")


def test_every_command_has_what_it_needs(environment: Environment) -> None:
    listed = environment.run("thalweg", "--help")
    verbs = re.findall(r"^│ ([a-z]+) ", listed, flags=re.MULTILINE)
    assert {"run", "emulate", "send", "ndn", "plot", "doctor"} <= set(verbs)
    for verb in verbs:
        assert environment.run("thalweg", verb, "--help").strip()
    assert "simulate" in environment.run("thalweg", "doctor")
    assert '"$defs"' in environment.run("thalweg", "schema")


def test_completion_and_the_manual_page_are_installed(environment: Environment) -> None:
    page = environment.folder / "share" / "man" / "man1" / "thalweg.1"
    assert page.read_bytes() == (ROOT / "packaging/data/share/man/man1/thalweg.1").read_bytes()
    said = environment.run("thalweg", "--install-completion", "--shell", "bash", "--json")
    script = Path(json.loads(said)["file"])
    assert script.is_relative_to(environment.folder / "home")
    assert "reproduce" in script.read_text("utf-8")
    assert str(script) in (environment.folder / "home" / ".bashrc").read_text("utf-8")


def test_the_command_works_without_libraries_for_pictures(environment: Environment) -> None:
    environment.run("python", "-m", "pip", "uninstall", "--quiet", "--yes", "matplotlib")
    try:
        environment.run("thalweg", "run", "first.toml", "--out", "second")
        environment.run("thalweg", "plot", "second", "rate", ends=2)
        assert "time_s" in environment.run("thalweg", "plot", "second", "rate", "--csv")
    finally:
        environment.pip("matplotlib")


def test_a_scheme_is_judged_and_broken(environment: Environment) -> None:
    words = ["--quick", "--row", "background", "--out", "card", "--json"]
    record = json.loads(environment.run("thalweg", "evaluate", "cvihis", *words))
    assert record["counts"]["pass"] + record["counts"]["fail"] + record["counts"]["undecided"] > 10
    page = (environment.folder / "card" / "report.html").read_text("utf-8")
    assert "Tolerates an offset of the clocks" in page
    # LEDBAT yields to Reno, as it should: the shortest network in which it starves
    words = ["--property", "starve", "--against", "reno", "--trials", "16", "--out", "broken", "--json"]
    [finding] = json.loads(environment.run("thalweg", "break", "ledbat", *words))["findings"]
    assert finding["lines"] <= 15
    assert environment.run("thalweg", "run", finding["file"])
    assert (environment.folder / "broken" / "starve.svg").is_file()


def test_the_papers_are_a_wheel_of_their_own(environment: Environment) -> None:
    environment.pip(only(f"thalweg_papers-{VERSION}-*.whl"))
    names = environment.run("python", "-c", "from thalweg import papers; print(*papers.names())").split()
    assert {"mca", "cvihis", "mircc", "ndnsieve", "srmcc"} <= set(names)
    environment.run("thalweg", "reproduce", "mircc", "--figure", "explanation", "--quick", "--out", "mircc")
    assert list((environment.folder / "mircc").rglob("*.html"))


def test_a_wheel_is_small_and_fits_every_python_from_the_oldest() -> None:
    assert wheel().stat().st_size < LIMIT_BYTES
    assert only(f"thalweg_papers-{VERSION}-*.whl").stat().st_size < LIMIT_BYTES / 10
    _, _, python, abi, platform = wheel().stem.split("-")
    assert (python, abi) == ("cp311", "abi3")
    if sys.platform == "linux":
        assert "manylinux_" in platform, "a plain Linux wheel works on the host that built it only"
    if sys.platform == "darwin":
        assert platform.startswith("macosx_")


def test_a_wheel_has_what_the_package_has_and_nothing_else() -> None:
    with zipfile.ZipFile(wheel()) as archive:
        names = set(archive.namelist())
    listed = subprocess.run(
        ["git", "ls-files", "python/thalweg"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    package = {name.removeprefix("python/") for name in listed.stdout.split()}
    inside = {name for name in names if name.startswith("thalweg/")}
    natives = {name for name in inside if name.startswith("thalweg/_native.")} - package
    assert len(natives) == 1
    assert inside - natives - {"thalweg/_sources.txt"} == package
    about = f"thalweg-{VERSION}"
    others = {name for name in names - inside if not name.startswith(f"{about}.dist-info/")}
    assert others == {f"{about}.data/data/share/man/man1/thalweg.1"}
    notices = {f"python/{name}" for name in package if name.endswith(".licenses.md")}
    assert len(notices) == 2, "of the libraries in the charts and in the studio"
    licenses = {"LICENSE-APACHE", "LICENSE-MIT", "licenses/crates.md", *notices}
    place = f"{about}.dist-info/licenses/"
    assert {name.removeprefix(place) for name in names if name.startswith(place)} == licenses


def test_the_source_distribution_is_complete(tmp_path: Path) -> None:
    # The workflow for wheels builds from it. Here cargo resolves it with its lock file, and every file that a Rust
    # source names exists.
    with tarfile.open(only(f"thalweg-{VERSION}.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    root = tmp_path / f"thalweg-{VERSION}"
    assert {"Cargo.lock", "README.md", "pyproject.toml", "PKG-INFO"} <= set(os.listdir(root))
    assert (root / "packaging/data/share/man/man1/thalweg.1").is_file()
    assert (root / "licenses/crates.md").is_file()
    assert (root / "python/thalweg/report/assets/charts.licenses.md").is_file()
    assert (root / "python/thalweg/starters/tcp.toml").is_file()
    told = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version=1", "--manifest-path", root / "Cargo.toml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    for file in [*root.glob("crates/**/*.rs"), *root.glob("schemes/**/*.rs")]:
        if "tests" in file.relative_to(root).parts:
            continue
        text = file.read_text("utf-8")
        for name in re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', text):
            assert (file.parent / name).is_file(), f"{file.relative_to(root)} includes {name}"
