"""Mutants of the metrics: faults planted in the source on purpose, each of which the oracle or an invariant must find.

    python tools/mutants.py                     every mutant of tests/oracle/mutants.toml
    python tools/mutants.py NAME NAME           some of them
    python tools/mutants.py --check             no build: every `old`, with what is `after`, is once in its file
    python tools/mutants.py --target FOLDER     build there; a copy of `target` saves the first build

A mutant is an expression of a file and what replaces it. The working copy is not touched: the tracked files are copied to a
folder, all mutants are planted there, each behind its name, and the core is built once in the profile of the tests. Then the
first seconds of the scenarios of the list, and the random networks of the tests, are verified with each mutant, named by
`THALWEG_MUTANT`: every number from the packets, and every invariant. A mutant that changes nothing that is printed
survives, and the command then fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "oracle" / "mutants.toml"
BUILT = {"linux": "lib_native.so", "darwin": "lib_native.dylib", "win32": "_native.dll"}
CORE = "_native.pyd" if sys.platform == "win32" else "_native.abi3.so"

JUDGE = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, "tests/oracle")
import conftest, oracle, test_random
import thalweg
try:
    for file in sys.argv[1:]:
        where = file
        oracle.assert_verified(oracle.shortened(thalweg.load(file)))
    where = "a random network"
    test_random.test_every_number_of_a_random_scenario()
except AssertionError as error:
    lines = str(error).splitlines()
    print(f"{where}: {lines[min(1, len(lines) - 1)]}")
    sys.exit(1)
"""


@dataclass(frozen=True, order=True)
class Mutant:
    """A fault, and where it is planted."""

    name: str
    about: str
    file: str
    old: str
    new: str
    after: str = ""
    """Text that stands in the file once, right before the expression; without it the expression itself does."""

    def place(self, text: str) -> int:
        """Where the expression begins in the text of the file."""
        whole = self.after + self.old
        if text.count(whole) != 1:
            raise SystemExit(f"{self.name}: {self.file} has `{whole}` {text.count(whole)} times, not once")
        return text.index(whole) + len(self.after)


CHOICE = """
/// The fault that this process has, by `THALWEG_MUTANT`.
pub fn mutant() -> &'static str {
    static NAME: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    NAME.get_or_init(|| std::env::var("THALWEG_MUTANT").unwrap_or_default())
}
"""
CHOOSER = "crates/units/src/lib.rs"


def plant(tree: Path, mutants: list[Mutant]) -> None:
    """Plants all mutants, each of which has an effect only where it is named."""
    for file in sorted({mutant.file for mutant in mutants}):
        text = (ROOT / file).read_text(encoding="utf-8")
        here = sorted((mutant.place(text), mutant) for mutant in mutants if mutant.file == file)
        for place, mutant in reversed(here):
            choice = (
                f'(match units::mutant() {{ "{mutant.name}" => {{ {mutant.new} }} _ => {{ {mutant.old} }} }})'
            )
            text = text[:place] + choice + text[place + len(mutant.old) :]
        (tree / file).write_text(text, encoding="utf-8")
    chooser = (ROOT / CHOOSER).read_text(encoding="utf-8")
    (tree / CHOOSER).write_text(chooser + CHOICE, encoding="utf-8")


def load(file: Path) -> tuple[list[Mutant], list[str]]:
    """The mutants of a list, and the scenarios by which they are judged."""
    tree = tomllib.loads(file.read_text(encoding="utf-8"))
    return [Mutant(**entry) for entry in tree["mutant"]], tree["scenarios"]


def copy_tree(target: Path) -> Path:
    """Copies the tracked files, with their times, so that a build repeats little."""
    tree = target / "tree"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        source, copy = ROOT / name, tree / name
        if not name or not source.is_file():
            continue
        if copy.exists() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)
    return tree


def build(tree: Path, target: Path) -> str | None:
    """Builds the core into the package of the copy; the end of the messages if it fails."""
    command = ["cargo", "build", "--quiet", "--profile", "suite", "-p", "python"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr[-2000:]
    core = tree / "python" / "thalweg" / CORE
    core.unlink(missing_ok=True)
    shutil.copy2(target / "suite" / BUILT[sys.platform], core)
    return None


def judge(tree: Path, scenarios: list[str], mutant: str = "") -> str | None:
    """What the oracle or an invariant finds; None if all numbers are equal and all invariants hold."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "python"), "THALWEG_MUTANT": mutant}
    command = [sys.executable, "-c", JUDGE, *scenarios]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else (done.stdout + done.stderr).strip().splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", type=Path, default=LIST)
    parser.add_argument("--target", type=Path, default=ROOT / "target" / "mutants")
    options = parser.parse_args()
    mutants, scenarios = load(options.list)
    for mutant in mutants:
        mutant.place((ROOT / mutant.file).read_text(encoding="utf-8"))
    if options.check:
        print(f"{len(mutants)} mutants can be planted")
        return
    chosen = [mutant for mutant in mutants if not options.names or mutant.name in options.names]
    tree = copy_tree(options.target)
    plant(tree, mutants)
    if (trouble := build(tree, options.target)) is not None:
        raise SystemExit(f"the core cannot be built:\n{trouble}")
    if (found := judge(tree, scenarios)) is not None:
        raise SystemExit(f"the core without a mutant is not verified: {found}")
    survivors = []

    def judged(mutant: Mutant) -> tuple[str | None, float]:
        began = time.monotonic()
        return judge(tree, scenarios, mutant.name), time.monotonic() - began

    with ThreadPoolExecutor(os.cpu_count()) as judges:
        for mutant, (found, spent) in zip(chosen, judges.map(judged, chosen), strict=True):
            if found is None:
                survivors.append(mutant.name)
            verdict = "SURVIVED" if found is None else "killed"
            print(f"{verdict:>10}  {mutant.name} ({spent:.0f} s)  {found or mutant.about}", flush=True)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants killed")
    if survivors:
        raise SystemExit("not killed: " + ", ".join(survivors))


if __name__ == "__main__":
    main()
