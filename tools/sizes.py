"""Fails on source files of more than 600 lines without their tests, unless they state why at their top.

A file states it with a line `// long: reason` (`# long: reason` in Python) among its first twenty.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 600
TESTS = re.compile(r"^#\[cfg\(test\)\]\s*$")
REASON = re.compile(r"^\s*(//!?|#)\s*long:\s*\S")


def lines_without_tests(path):
    """Lines up to the tests at the bottom; a file of tests counts none."""
    if "tests" in path.relative_to(ROOT).parts or path.name == "tests.rs":
        return 0
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        if TESTS.match(line):
            return number
    return len(lines)


def main():
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.rs", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    too_long = 0
    for name in sorted(set(tracked.stdout.split())):
        path = ROOT / name
        if not path.exists():
            continue
        count = lines_without_tests(path)
        stated = any(REASON.match(line) for line in path.read_text().splitlines()[:20])
        if count > LIMIT and not stated:
            print(
                f"{name}: {count} lines without tests, {LIMIT} allowed: split it, or say `long: reason` at its top"
            )
            too_long += 1
    if not too_long:
        print(f"no file is over {LIMIT} lines")
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
