"""A Linux kernel as a program, in virtual time: builds it, boots it, runs one cell in it.

User-mode Linux with `time-travel=inf-cpu` has a clock of its own: computation takes no time, and idle time is skipped.
A run therefore does not depend on the load of the host or on its timers.

    python -m thalweg_papers.kernel.guest build
    python -m thalweg_papers.kernel.guest run CELL.json

`build` takes Debian's package linux-source-6.1 and makes two changes: timer ticks of 1 ms in place of 10 ms, and random
numbers from a seed in place of the host's, without which no run could be repeated. The result is in the cache folder,
outside the repository.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = "linux-source-6.1"
INSTALLED = Path(f"/usr/src/{PACKAGE}.tar.xz")
MEMORY = "512M"
LONGEST_S = 1800
"""A guest that has not finished by then is stopped."""
PYTHON = "/usr/bin/python3"
PROGRAMS = ("ip", "tc", "ethtool")
BUILD_PROGRAMS = ("make", "gcc", "flex", "bison", "bc", "xz", "tar")

CHANGES: tuple[tuple[str, str, str], ...] = (
    ("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n", "config HZ\n\tint\n\tdefault 1000\n"),
    (
        "arch/um/os-Linux/util.c",
        "\treturn getrandom(buf, len, flags);\n",
        "\tstatic unsigned long long state;\n"
        "\tunsigned char *bytes = buf;\n"
        "\tsize_t i;\n\n"
        "\tif (!state)\n"
        '\t\tstate = getenv("GUEST_SEED") ? strtoull(getenv("GUEST_SEED"), NULL, 10) + 1 : 1;\n'
        "\tfor (i = 0; i < len; i++) {\n"
        "\t\tstate = state * 6364136223846793005ULL + 1442695040888963407ULL;\n"
        "\t\tbytes[i] = state >> 56;\n"
        "\t}\n"
        "\treturn len;\n",
    ),
)
"""File of the kernel, text in it, and the text that replaces it."""


class GuestError(Exception):
    """The guest cannot be built or run; the text says what to do."""


def cache() -> Path:
    """The folder of the kernel."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "thalweg" / "kernel-guest"


def kernel() -> Path:
    """The kernel's program, which may not exist."""
    return cache() / "linux"


def missing() -> str | None:
    """Why no cell can be run here; None if one can."""
    if not kernel().exists():
        return "no guest kernel is built: `python -m thalweg_papers.kernel.guest build` builds one"
    absent = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    if absent:
        return f"{', '.join(absent)} not found: `apt-get install iproute2 ethtool` installs them"
    if not Path(PYTHON).exists():
        return f"{PYTHON} not found: `apt-get install python3` installs it"
    return None


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def build(jobs: int = 2) -> Path:
    """Builds the kernel in the cache folder and returns its program."""
    absent = [name for name in BUILD_PROGRAMS if shutil.which(name) is None]
    if absent:
        raise GuestError(
            f"{', '.join(absent)} not found: `apt-get install build-essential flex bison bc xz-utils` installs them"
        )
    folder = cache()
    tree = folder / "source"
    if not (tree / "Makefile").exists():
        tree.mkdir(parents=True, exist_ok=True)
        _run(["tar", "xf", str(_archive(folder)), "--strip-components=1", "-C", str(tree)])
    for name, text, other in CHANGES:
        file = tree / name
        content = file.read_text(encoding="utf-8")
        if other not in content:
            if content.count(text) != 1:
                raise GuestError(f"{file} is not that of Linux 6.1: delete {tree} and build again")
            file.write_text(content.replace(text, other), encoding="utf-8")
    make = ["nice", "-n", "10", "make", "-C", str(tree), "ARCH=um"]
    _run([*make, "allnoconfig"], {"KCONFIG_ALLCONFIG": str(HERE / "kernel.config")})
    _check_config(tree / ".config")
    _run([*make, f"-j{jobs}", "linux"])
    shutil.copy2(tree / "linux", kernel())
    return kernel()


def _archive(folder: Path) -> Path:
    """The archive of the source, from the installed package or from Debian's."""
    if INSTALLED.exists():
        return INSTALLED
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise GuestError(f"apt-get not found: put {INSTALLED.name} of Debian's {PACKAGE} at {INSTALLED}")
    _run(["apt-get", "download", PACKAGE], folder=folder)
    (package,) = folder.glob(f"{PACKAGE}_*.deb")
    _run(["dpkg-deb", "-x", str(package), str(folder / "package")])
    return folder / "package" / INSTALLED.relative_to("/")


def version() -> str:
    """The version of the guest's kernel, such as 6.1.192."""
    done = subprocess.run([kernel(), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _check_config(file: Path) -> None:
    """Raises if the kernel did not accept an option."""
    found = set(file.read_text(encoding="utf-8").splitlines())
    wanted = (HERE / "kernel.config").read_text(encoding="utf-8").splitlines()
    refused = [line for line in wanted if re.match(r"CONFIG_\w+=(?!n$)", line) and line not in found]
    if refused:
        raise GuestError(f"this kernel has no {', '.join(refused)}")


def _run(argv: Sequence[str], environment: dict[str, str] | None = None, folder: Path | None = None) -> None:
    done = subprocess.run(argv, env={**os.environ, **(environment or {})}, cwd=folder)
    if done.returncode:
        raise GuestError(f"`{' '.join(argv)}` failed; its messages are above")


def run(cell: dict[str, Any], seed: int = 1, program: str = "inside.py") -> dict[str, Any]:
    """Boots the guest, runs a cell in it by a program of this folder, and returns what its `run` returns.

    The seed is that of the kernel's random numbers.
    """
    if (why := missing()) is not None:
        raise GuestError(why)
    with tempfile.TemporaryDirectory(prefix="thalweg-guest-") as name:
        folder = Path(name)
        (folder / "cell.json").write_text(json.dumps(cell), encoding="utf-8")
        # the program is copied with the file that it imports, so that the guest needs no more of this package
        for name in {"inside.py", program}:
            shutil.copyfile(HERE / name, folder / name)
        init = folder / "init"
        init.write_text(
            "#!/bin/sh\n"
            "export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PYTHONHASHSEED=0 LC_ALL=C.UTF-8\n"
            "mount -t proc none /proc; mount -t sysfs none /sys; mount -t tmpfs none /run\n"
            "ip link set lo up\n"
            f"exec {PYTHON} -I -S -B {folder}/{program} {folder}/cell.json {folder}/result.json\n",
            encoding="utf-8",
        )
        init.chmod(0o755)
        argv = [
            *(str(kernel()), f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw"),
            *(f"init={init}", "time-travel=inf-cpu", "time-travel-start=1000000000000000000"),
            *("con=null", "con0=fd:0,fd:1", "quiet", "panic=-1", "random.trust_cpu=on", "norandmaps"),
        ]
        environment = {"HOME": str(folder), "PATH": _path(), "GUEST_SEED": str(seed)}
        try:
            done = subprocess.run(
                argv,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LONGEST_S,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired as error:
            raise GuestError(f"the guest did not finish within {LONGEST_S} s") from error
        result = folder / "result.json"
        if not result.exists():
            raise GuestError(f"the guest wrote no result; its last messages: {done.stdout[-2000:]}")
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    if "error" in found:
        raise GuestError(f"the cell failed in the guest: {found['error']}; {done.stdout[-2000:]}")
    return found


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    try:
        match arguments:
            case ["build"]:
                print(f"{build(os.cpu_count() or 1)} built")
            case ["run", file]:
                print(json.dumps(run(json.loads(Path(file).read_text(encoding="utf-8"))), indent=1))
            case _:
                print("usage: python -m thalweg_papers.kernel.guest build | run CELL.json", file=sys.stderr)
                return 2
    except GuestError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
