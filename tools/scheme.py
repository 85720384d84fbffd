"""Tries one scheme: its own tests, the house tests, its experiments; says where their reports are."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THALWEG = ROOT / ".venv" / "bin" / "thalweg"


def run(*words):
    """Runs a command, showing what it writes; says whether it went well."""
    print("──", " ".join(str(word) for word in words), flush=True)
    return subprocess.run(words, cwd=ROOT, check=False).returncode == 0


def main():
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    folder = ROOT / "schemes" / name
    if not name or not (folder / "mod.rs").exists():
        known = sorted(path.parent.name for path in (ROOT / "schemes").glob("[a-z]*/README.md"))
        raise SystemExit(f"usage: make scheme NAME=…, one of {', '.join(known)}")
    passed = [
        run("cargo", "test", "--package", "schemes", "--lib", "--locked", "--quiet", f"{name}::"),
        run("cargo", "test", "--package", "schemes", "--tests", "--locked", "--quiet"),
    ]
    for experiment in sorted((folder / "experiments").glob("*.toml")):
        out = Path("out") / name / experiment.stem
        # a folder belongs to one plan, and a scheme that is being written changes
        shutil.rmtree(ROOT / out, ignore_errors=True)
        passed.append(run(THALWEG, "run", experiment.relative_to(ROOT), "--out", out))
        if (ROOT / out / "run.json").exists():
            passed.append(run(THALWEG, "report", out))
    failed = passed.count(False)
    print(f"{name}: all went well" if not failed else f"{name}: {failed} of {len(passed)} steps failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
