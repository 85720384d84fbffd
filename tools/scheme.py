"""Tests one scheme: its own tests, the tests that every scheme gets, and its experiments. Needs no release build."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def steps(name):
    """Steps in order: arguments of `cargo test`, and arguments of the tests."""
    quiet = ["--locked", "--quiet"]
    return [
        (["--package", "schemes", "--lib", *quiet], [f"{name}::"]),
        (["--package", "schemes", "--test", "house", *quiet], []),
        (
            ["--package", "lab", "--test", "schemes", *quiet],
            ["worlds::", "clocks::", "experiments::", f"{name}::", "--show-output"],
        ),
    ]


def run_step(cargo, tests, name):
    """Runs a step and shows its output; returns whether it passed."""
    argv = ["cargo", "test", *cargo, "--", *tests]
    print("──", " ".join(argv), flush=True)
    env = {**os.environ, "THALWEG_SCHEME": name}
    return subprocess.run(argv, cwd=ROOT, env=env, check=False).returncode == 0


def main():
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    folder = ROOT / "schemes" / name
    if not name or not (folder / "mod.rs").exists():
        known = sorted(path.parent.name for path in (ROOT / "schemes").glob("[a-z]*/README.md"))
        raise SystemExit(f"usage: make scheme NAME=…, one of {', '.join(known)}")
    start = time.monotonic()
    passed = [run_step(cargo, tests, name) for cargo, tests in steps(name)]
    failed = passed.count(False)
    result = f"{failed} of {len(passed)} steps failed" if failed else "all tests passed"
    print(f"{name}: {result} in {time.monotonic() - start:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
