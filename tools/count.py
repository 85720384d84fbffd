"""Runs a suite of steps, counts the tests of all of them together, and ends with `N passed, N failed`.

A step whose output holds a tally (of cargo, pytest or this script) counts its tests; any other step
counts as one. Every step runs, also after a failure; the exit code is 1 when anything failed.

Tests that wait for real time run beside tests that compute, tests of Python beside tests of Rust, and in CI all other
checks beside the tests: steps that compute have a lower priority, so that they take the time that waiting leaves. Only
the tests of Rust show their output at once, the others when they have ended. Of the tests that wait, a few that fail
run once more by themselves: another program may have taken the processor from them. Tests that compute run once.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

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
    ("circles of files", [PYTHON, "tools/circles.py"]),
    ("licences", [PYTHON, "tools/licenses.py", "--check"]),
    ("registry", [PYTHON, "tools/registry.py", "--check"]),
    ("citations", [PYTHON, "tools/citations.py"]),
    ("words", [PYTHON, "tools/words.py", "--check"]),
    ("mutants", [PYTHON, "tools/mutants.py", "--check"]),
    ("manual page", [PYTHON, "tools/manual.py", "--check"]),
    ("catalogue", [PYTHON, "tools/catalogue.py", "--check"]),
]
CARGO_TEST = ["cargo", "test", "--workspace", "--locked", "--profile", "suite", "--no-fail-fast"]
WALL_CLOCK = ["--test", "forwarders", "--test", "programs", "--test", "testbed", "--test", "transfers"]
"""Test programs of Rust with a module `wall_clock`."""
TEST = [
    ("dependencies", [PYTHON, "tools/dependencies.py"]),
    ("registry", [PYTHON, "tools/registry.py", "--check"]),
    ("rust tests", [*CARGO_TEST, "--", "--skip", "wall_clock::"]),
    # for a feature that is off by default: the tests before cover the other crates
    ("tests of str0m", [*CARGO_TEST, "--features", "lab/str0m", "--test", "str0m"]),
]
COMPUTING = [
    ("python tests", [*PYTEST, "-n", "auto", "--dist", "loadfile", "-m", "not processes and not wall_clock"]),
]
"""Steps of `test` that compute beside the steps of Rust: where these wait for one long test, a processor is free."""
WAITING = [
    ("tests of processes", [*PYTEST, "-n", "4", "-m", "processes"]),
    ("real-time tests", [*PYTEST, "-m", "wall_clock"]),
    ("real-time tests (Rust)", [*CARGO_TEST, *WALL_CLOCK]),
]
"""Steps of `test` that wait for real time most of the time, and must not wait for a processor."""
MAX_REPEATED = 5
"""Failed tests of such a step that are repeated: if there are more, the cause is not another program."""
# Beside the tests in CI: the catalogue by the installed package, and clippy last, because it and the tests' last build
# wait for each other. The dependencies and the registry are checked by the tests.
CLIPPY = CHECK[1]
CI = [
    *(step for step in CHECK[:-1] if step not in [CLIPPY, *TEST]),
    ("catalogue", [*CHECK[-1][1], "--installed"]),
    ("wheel", ["make", "--no-print-directory", "wheel-test"]),
    ("site", [PYTHON, "tools/docsite.py", "--quick"]),
    CLIPPY,
]
ALL_TESTS = ("tests", ["env", "THALWEG_SLOW=1", "make", "--no-print-directory", "test"])


class Suite(NamedTuple):
    """Steps that run one after the other, and what runs beside them."""

    steps: Sequence
    computing: Sequence = ()
    """Steps that compute, one after the other, at a lower priority."""
    waiting: Sequence = ()
    """Steps that wait for real time, one after the other. If there are some, `steps` have a lower priority too."""


SUITES = {"check": Suite(CHECK), "test": Suite(TEST, COMPUTING, WAITING), "ci": Suite([ALL_TESTS], CI)}

CARGO_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed")
PYTEST_RESULT = re.compile(r"^(=+ )?\d+ (passed|failed|errors?|skipped|deselected|warnings?).* in [\d.]+s")
OWN_RESULT = re.compile(r"^(\d+) passed, (\d+) failed$")
CARGO_FAILED = re.compile(r"^test (\S+) \.\.\. FAILED$")
PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$")


def tally(line):
    """Passed and failed tests that a line of output reports, or nothing."""
    if found := CARGO_RESULT.match(line) or OWN_RESULT.match(line):
        return int(found[1]), int(found[2])
    if PYTEST_RESULT.match(line):
        counts = {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) (\w+)", line)}
        return counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)
    return None


def run(argv, show=print, started=None):
    """Runs one step, showing each line that it writes; returns passed and failed. `started` is called with its process."""
    passed = failed = 0
    counted = False
    total = None
    try:
        step = subprocess.Popen(
            argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except OSError as error:
        show(error)
        return 0, 1
    if started:
        started(step)
    for line in step.stdout:
        found = tally(line.rstrip())
        if OWN_RESULT.match(line):
            # this script's own last word already counts all the lines before it
            total = found
            continue
        if found:
            counted = True
            passed, failed = passed + found[0], failed + found[1]
        show(line.rstrip("\n"), flush=True)
    if total:
        counted, (passed, failed) = True, total
    if step.wait() != 0 and failed == 0:
        failed += 1
    elif not counted:
        passed += 1
    return passed, failed


def timed(name, argv, show=print, started=None):
    """Runs one step; returns its row of the summary."""
    show(f"── {name}", flush=True)
    start = time.monotonic()
    passed, failed = run(argv, show, started)
    return name, passed, failed, time.monotonic() - start


def repeated(argv, lines):
    """The command for the tests that failed by these lines of a step, or nothing without such tests or with too many."""
    pattern = PYTEST_FAILED if argv[:3] == PYTEST else CARGO_FAILED
    failed = sorted({found[1] for line in lines if (found := pattern.match(line.rstrip()))})
    if not 0 < len(failed) <= MAX_REPEATED:
        return None
    return [*PYTEST, *failed] if argv[:3] == PYTEST else [*argv, "--", "--exact", *failed]


def timed_in_real_time(name, argv, show=print, started=None):
    """Runs one step of tests that wait for real time, and its failed tests once more; returns its row."""
    lines = []

    def keep(line, **how):
        lines.append(str(line))
        show(line, **how)

    row = timed(name, argv, keep, started)
    again = repeated(argv, lines) if row[2] else None
    if again is None:
        return row
    _, passed, failed, seconds = timed(f"{name}: once more what failed", again, show, started)
    return name, row[1] + passed, failed, row[3] + seconds


class ParallelSteps:
    """Steps that run one after the other in a thread, each by `timed`, beside the main thread's; their output is kept."""

    def __init__(self, steps, timed):
        self._steps = steps
        self._timed = timed
        self._lines = []
        self._rows = []
        self._step = None
        self._stopped = False
        self._thread = threading.Thread(target=self._run_steps)
        self._thread.start()

    def rows(self):
        """Waits for the end, shows the output and returns the rows of the summary."""
        self._thread.join()
        if self._lines:
            print(*self._lines, sep="\n", flush=True)
        return self._rows

    def stop(self):
        """Ends the current step as Ctrl-C does."""
        self._stopped = True
        with contextlib.suppress(AttributeError, ProcessLookupError):
            self._step.send_signal(signal.SIGINT)
        self._thread.join()

    def _run_steps(self):
        for name, argv in self._steps:
            if not self._stopped:
                self._rows.append(self._timed(name, argv, self._show, self._started))

    def _started(self, step):
        self._step = step

    def _show(self, line, **_):
        self._lines.append(line)


def low_priority(argv):
    """The command at a lower priority, where the system has `nice`."""
    return ["nice", "-n", "19", *argv] if shutil.which("nice") else argv


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in SUITES:
        raise SystemExit(f"usage: count.py {' | '.join(SUITES)}")
    suite = SUITES[sys.argv[1]]
    # where there is one processor only, or no priorities, nothing runs beside anything else
    if (os.cpu_count() or 1) < 2 or os.name != "posix":
        rows = [timed(*step) for step in [*suite.steps, *suite.computing]]
        rows += [timed_in_real_time(*step) for step in suite.waiting]
    else:
        computing = [(name, low_priority(argv)) for name, argv in suite.computing]
        beside = [ParallelSteps(computing, timed), ParallelSteps(suite.waiting, timed_in_real_time)]
        try:
            rows = [timed(name, low_priority(argv) if suite.waiting else argv) for name, argv in suite.steps]
        except BaseException:
            for steps in beside:
                steps.stop()
            raise
        rows += [row for steps in beside for row in steps.rows()]
    print("──")
    for name, passed, failed, seconds in rows:
        print(
            f"{'FAILED' if failed else 'ok':6}  {name:22} {passed:5} passed {failed:4} failed {seconds:7.1f} s"
        )
    passed, failed = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
