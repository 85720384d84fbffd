"""Runs a suite of steps, counts the tests of all of them together, and ends with `N passed, N failed`.

A step whose output holds a tally (of cargo, pytest or this script) counts its tests; any other step
counts as one. Every step runs, also after a failure; the exit code is 1 when anything failed.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ".venv/bin/python"
PYTEST = [PYTHON, "-m", "pytest"]

CHECK = [
    ("rust formatting", ["cargo", "fmt", "--all", "--check"]),
    (
        "clippy",
        [
            *["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--profile", "suite", "--quiet"],
            *["--", "-D", "warnings"],
        ],
    ),
    ("python formatting", [PYTHON, "-m", "ruff", "format", "--check", "--quiet"]),
    ("ruff", [PYTHON, "-m", "ruff", "check", "--quiet"]),
    ("types", [PYTHON, "-m", "mypy"]),
    ("dependencies", [PYTHON, "tools/dependencies.py"]),
    ("registry", [PYTHON, "tools/registry.py", "--check"]),
    ("citations", [PYTHON, "tools/citations.py"]),
    ("words", [PYTHON, "tools/words.py", "--check"]),
    ("catalogue", [PYTHON, "tools/catalogue.py", "--check"]),
]
TEST = [
    ("dependencies", [PYTHON, "tools/dependencies.py"]),
    ("registry", [PYTHON, "tools/registry.py", "--check"]),
    ("rust tests", ["cargo", "test", "--workspace", "--locked", "--profile", "suite", "--no-fail-fast"]),
    ("python tests", [*PYTEST, "-n", "auto", "--dist", "loadfile", "-m", "not processes and not wall_clock"]),
    ("tests of processes", [*PYTEST, "-n", "4", "-m", "processes"]),
    ("real-time tests", [*PYTEST, "-m", "wall_clock"]),
]
# CI runs the dependencies and the registry within `make test`, the catalogue by the installed package, and slow scenarios.
CI = [step for step in CHECK[:-1] if step not in TEST] + [
    ("catalogue", [*CHECK[-1][1], "--installed"]),
    ("tests", ["env", "THALWEG_SLOW=1", "make", "--no-print-directory", "test"]),
]
SUITES = {"check": CHECK, "test": TEST, "ci": CI}

CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed")
PYTEST = re.compile(r"^(=+ )?\d+ (passed|failed|errors?|skipped|deselected|warnings?).* in [\d.]+s")
OWN = re.compile(r"^(\d+) passed, (\d+) failed$")


def tally(line):
    """Passed and failed tests that a line of output reports, or nothing."""
    if found := CARGO.match(line) or OWN.match(line):
        return int(found[1]), int(found[2])
    if PYTEST.match(line):
        counts = {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) (\w+)", line)}
        return counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)
    return None


def run(argv):
    """Runs one step, showing what it writes; returns passed and failed."""
    passed = failed = 0
    counted = False
    total = None
    try:
        step = subprocess.Popen(
            argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except OSError as error:
        print(error)
        return 0, 1
    for line in step.stdout:
        found = tally(line.rstrip())
        if OWN.match(line):
            # this script's own last word already counts all the lines before it
            total = found
            continue
        if found:
            counted = True
            passed, failed = passed + found[0], failed + found[1]
        print(line, end="", flush=True)
    if total:
        counted, (passed, failed) = True, total
    if step.wait() != 0 and failed == 0:
        failed += 1
    elif not counted:
        passed += 1
    return passed, failed


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in SUITES:
        raise SystemExit(f"usage: count.py {' | '.join(SUITES)}")
    rows = []
    for name, argv in SUITES[sys.argv[1]]:
        print(f"── {name}", flush=True)
        start = time.monotonic()
        passed, failed = run(argv)
        rows.append((name, passed, failed, time.monotonic() - start))
    print("──")
    for name, passed, failed, seconds in rows:
        print(
            f"{'FAILED' if failed else 'ok':6}  {name:18} {passed:5} passed {failed:4} failed {seconds:7.1f} s"
        )
    passed, failed = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
