"""Builds wheels and the source distribution in `dist/`, and gives the working copy the core of a wheel.

    python tools/wheels.py build     both wheels and the source distribution: `make wheel`
    python tools/wheels.py install   a wheel's core into the working copy, built where none is at hand: `make setup`
    python tools/wheels.py source    the source distribution and the wheel of the papers only
    python tools/wheels.py gather    what the wheels need, as requirements.txt locks it, for `make wheel-test`

A wheel is at hand if it is in `dist/`, has the version of the working copy, fits this interpreter and host, and was built
from the same Rust sources: `thalweg/_sources.txt` in it has their digest. Its Python files may be others, because the
working copy uses its own.
"""

import hashlib
import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import core

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
STAMP = ROOT / "python" / "thalweg" / "_sources.txt"
NEEDED = ROOT / "target" / "needed"
"""Wheels of other projects, for tests that install without a network."""


def digest(root=ROOT):
    """SHA-256 over the names and contents of all files that the core is compiled from."""
    found = hashlib.sha256()
    files = [root / name for name in ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml")]
    for folder in ("crates", "schemes"):
        files += [path for path in (root / folder).rglob("*") if path.suffix in (".rs", ".toml", ".der")]
    for path in sorted(files):
        name = path.relative_to(root)
        if not {"tests", "experiments", "target"} & set(name.parts[:-1]):
            found.update(f"{name.as_posix()}\n{path.stat().st_size}\n".encode() + path.read_bytes())
    return found.hexdigest()


def stamp():
    """Writes the digest into the package, from where the next wheel takes it."""
    STAMP.write_text(digest() + "\n", encoding="ascii")


def version():
    """The version of the working copy."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return cargo["workspace"]["package"]["version"]


def at_hand(folder=DIST):
    """A wheel that has the core of this working copy for this interpreter and host, or None."""
    from packaging.tags import sys_tags
    from packaging.utils import parse_wheel_filename

    tags = set(sys_tags())
    for file in sorted(folder.glob(f"thalweg-{version()}-*.whl")):
        if tags.isdisjoint(parse_wheel_filename(file.name)[3]):
            continue
        with zipfile.ZipFile(file) as archive:
            try:
                built_from = archive.read("thalweg/_sources.txt").decode().strip()
            except KeyError:
                continue
        if built_from == digest():
            return file
    return None


def packed(*argv):
    """Runs maturin, whose output is shown only if it fails."""
    maturin = Path(sys.executable).with_name("maturin")
    done = subprocess.run(
        [maturin, *argv, "--out", DIST],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        sys.stderr.buffer.write(done.stdout)
        raise SystemExit(f"maturin {argv[0]} failed")


def build_wheel():
    """The wheel of this host."""
    cleared(f"thalweg-{version()}-*.whl")
    stamp()
    packed("build", "--release", "--locked", "--interpreter", sys.executable)


def source():
    """The source distribution, and the wheel of the papers, which fits all hosts."""
    cleared(f"thalweg-{version()}.tar.gz", f"thalweg_papers-{version()}-*.whl")
    stamp()
    packed("sdist")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, *offline, "--wheel-dir", DIST, ROOT / "papers"], check=True)


def cleared(*patterns):
    """Removes files of earlier builds."""
    DIST.mkdir(exist_ok=True)
    for pattern in patterns:
        for old in DIST.glob(pattern):
            old.unlink()


def build():
    """Both wheels and the source distribution."""
    build_wheel()
    source()
    for file in sorted(DIST.glob(f"thalweg*-{version()}[-.]*")):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1e6:.1f} MB")


def install():
    """Gives the working copy the core of a wheel."""
    wheel = at_hand()
    if wheel:
        print(f"taking the core from {wheel.relative_to(ROOT)}")
    else:
        print("building the core in release mode (the first time takes some minutes)", flush=True)
        build_wheel()
        wheel = at_hand()
    with zipfile.ZipFile(wheel) as archive:
        name = next(
            name for name in archive.namelist() if name.startswith("thalweg/_native.") and "pyi" not in name
        )
        core.install(archive.read(name))


def locked(names, lock):
    """Rows of a lock file for these projects."""
    rows = re.split(r"\n(?=\S)", lock)
    return "\n".join(row for row in rows if re.match(r"[\w.-]+", row)[0] in names)


def needed(name):
    """Names of all projects that an installed one needs here, without extras, as the lock file writes them."""
    from packaging.requirements import Requirement

    found, left = set(), [name]
    while left:
        for text in importlib.metadata.requires(left.pop()) or []:
            row = Requirement(text)
            project = re.sub(r"[-_.]+", "-", row.name).lower()
            if project not in found and (row.marker is None or row.marker.evaluate({"extra": ""})):
                found.add(project)
                left.append(project)
    return found


def gather():
    """Downloads what the wheels need, or takes it from pip's cache."""
    rows = locked(needed("thalweg-papers"), (ROOT / "requirements.txt").read_text(encoding="utf-8"))
    NEEDED.mkdir(parents=True, exist_ok=True)
    (NEEDED / "requirements.txt").write_text(rows + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    options = ["--require-hashes", "--only-binary", ":all:", "--no-deps", "--dest", NEEDED]
    subprocess.run([*pip, *options, "--find-links", NEEDED, "-r", NEEDED / "requirements.txt"], check=True)


def main():
    verbs = {"build": build, "install": install, "source": source, "gather": gather}
    if len(sys.argv) != 2 or sys.argv[1] not in verbs:
        raise SystemExit(f"usage: wheels.py {' | '.join(verbs)}")
    verbs[sys.argv[1]]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
