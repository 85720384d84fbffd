"""Notices of the Rust crates that are compiled into the wheel: `licenses/crates.md`.

    python tools/licenses.py            writes the file, from the sources of the crates
    python tools/licenses.py --check    fails if it misses a crate, or has one that is no longer there

The crates are those that cargo compiles into `thalweg._native` for the hosts of the wheels; procedural macros and build
scripts leave nothing in it. Where a crate offers the MIT licence among others, its text is taken.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "licenses" / "crates.md"
HOSTS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
)
NOTICE = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)
HEADING = re.compile(r"^- (\S+) (\S+) \(", re.MULTILINE)
STANDARD = "The Rust standard library is compiled in too (MIT OR Apache-2.0, The Rust Project Contributors)."


def cargo(*argv):
    """What cargo prints."""
    command = ["cargo", *argv, "--locked"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"licenses.py: `{' '.join(command)}` failed:\n{done.stderr}")
    return done.stdout


def compiled():
    """Names and versions of the crates of others in the wheels."""
    found = set()
    for host in HOSTS:
        tree = cargo(
            *("tree", "--package", "python", "--edges", "normal,no-proc-macro", "--prefix", "none"),
            *("--target", host, "--format", "{p}"),
        )
        # a crate of the workspace has its folder behind its version
        found |= {
            (row[0], row[1].removeprefix("v"))
            for row in map(str.split, tree.splitlines())
            if len(row) == 2 or row[2] == "(*)"
        }
    return found


def terms(expression):
    """Licences of a crate, each of which suffices, from an SPDX expression."""
    return [term.strip(" ()") for term in re.split(r"\bOR\b|/", expression)]


def texts(package):
    """Licence texts of a crate: only the MIT licence if it suffices, otherwise all."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and NOTICE.match(path.name))
    if "MIT" in terms(package["license"] or ""):
        files = [path for path in files if "mit" in path.name.lower()] or files
    found = ["\n".join(map(str.rstrip, path.read_text("utf-8").strip().splitlines())) for path in files]
    return [text for text in found if text]


def standard_text(package):
    """The text of a crate that has no file of its own: MIT if it suffices, otherwise Apache."""
    expression = package["license"] or ""
    holders = (
        ", ".join(re.sub(r"\s*<.*?>", "", author) for author in package["authors"])
        or f"the authors of {package['name']}"
    )
    if "MIT" in terms(expression):
        mit = (ROOT / "LICENSE-MIT").read_text("utf-8")
        return re.sub(r"^Copyright.*$", f"Copyright (c) {holders}", mit, count=1, flags=re.MULTILINE).strip()
    if "Apache-2.0" in expression:
        return f"Copyright {holders}\n\n" + (ROOT / "LICENSE-APACHE").read_text("utf-8").strip()
    raise SystemExit(
        f"licenses.py: {package['name']} has no licence text, and {expression!r} is neither MIT nor Apache-2.0"
    )


def written():
    """The text of the file: crates with the same text are listed above it."""
    wanted = compiled()
    packages = json.loads(cargo("metadata", "--format-version", "1"))["packages"]
    by_text = {}
    for package in packages:
        if (package["name"], package["version"]) in wanted:
            for text in texts(package) or [standard_text(package)]:
                key = " ".join(text.split())
                by_text.setdefault(key, (text, []))[1].append(package)
    parts = [f"# Crates compiled into thalweg\n\nWritten by `tools/licenses.py`. {STANDARD}\n"]
    for text, of in sorted(by_text.values(), key=lambda entry: (entry[1][0]["name"], entry[1][0]["version"])):
        rows = [
            f"- {one['name']} {one['version']} ({one['license']}) {one['repository'] or ''}".rstrip()
            for one in of
        ]
        parts.append("\n".join(rows) + f"\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def listed(text):
    """Names and versions of the crates in the text of the file."""
    return set(HEADING.findall(text))


def differences(wanted, text):
    """What the text misses, and what it has without need."""
    there = listed(text)
    yield from (f"misses {name} {version}" for name, version in sorted(wanted - there))
    yield from (f"has {name} {version}, which is not compiled in" for name, version in sorted(there - wanted))


def main():
    if sys.argv[1:] == ["--check"]:
        problems = list(differences(compiled(), FILE.read_text("utf-8")))
        for problem in problems:
            print(f"{FILE.relative_to(ROOT)} {problem}: run `python tools/licenses.py`")
        return 1 if problems else 0
    if sys.argv[1:]:
        raise SystemExit("usage: licenses.py [--check]")
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(written(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
