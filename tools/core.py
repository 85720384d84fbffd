"""Installs the core of the tests' profile in place of a release build, so that tests need no second build of everything.

The core and the test programs come from one build (`make test-programs`). This script copies the core into the package, and
installs the metadata of the package, its command and its manual page; the package itself is imported from the working copy.
`make setup` installs the core of a wheel over it, by the same way (`tools/wheels.py`).
"""

import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = {"linux": "lib_native.so", "darwin": "lib_native.dylib", "win32": "_native.dll"}
PACKAGE = ROOT / "python" / "thalweg"
MANUAL = ROOT / "packaging" / "data" / "share" / "man" / "man1" / "thalweg.1"
RELEASE = ROOT / ".venv" / ".installed"
"""The file that `make setup` leaves; if it is missing, `make setup` builds the release."""


def wheel(folder):
    """Writes a wheel whose only content is the path of the package, with its metadata; returns the file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    name, version = project["name"], cargo["workspace"]["package"]["version"]
    about = f"{name}-{version}.dist-info"
    lines = [f"{command} = {function}" for command, function in project["scripts"].items()]
    requires = "".join(f"Requires-Dist: {one}\n" for one in project["dependencies"])
    files = {
        f"{name}.pth": f"{PACKAGE.parent}\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: thalweg\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "\n".join(["[console_scripts]", *lines, ""]),
        f"{name}-{version}.data/data/share/man/man1/{MANUAL.name}": MANUAL.read_text(encoding="ascii"),
    }
    files[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{about}/RECORD"])
    target = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return target


def install(core):
    """Writes a core into the package, and installs the metadata of both packages."""
    target = PACKAGE / ("_native.pyd" if sys.platform == "win32" else "_native.abi3.so")
    # not in place: a running program may have the file open
    target.unlink(missing_ok=True)
    target.write_bytes(core)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-index",
        "--no-deps",
    ]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*pip, "--force-reinstall", wheel(Path(folder))], check=True)
    subprocess.run([*pip, "--no-build-isolation", "-e", ROOT / "papers"], check=True)


def main():
    built = ROOT / "target" / "suite" / BUILT[sys.platform]
    if not built.exists():
        raise SystemExit(f"{built} is missing: `make test-programs` builds it")
    RELEASE.unlink(missing_ok=True)
    install(built.read_bytes())


if __name__ == "__main__":
    main()
