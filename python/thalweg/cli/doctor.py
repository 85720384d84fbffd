"""`thalweg doctor`: the features of this host, and what is missing for which task."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from .output import console, show_json

State = Literal["ok", "missing", "note"]


@dataclass(frozen=True)
class Finding:
    """One check."""

    area: str
    """The task that needs it."""
    name: str
    state: State
    value: str
    """The finding."""
    advice: str = ""
    """The missing feature, and the command that installs it."""
    needed: bool = False
    """Whether everything else needs it."""


def doctor(*, json: bool = False) -> int:
    """Check what this host can do, and list what is missing, with the command that installs it.

    Parameters
    ----------
    json
        Print one JSON object.
    """
    findings = run_checks()
    broken = [finding for finding in findings if finding.needed and finding.state == "missing"]
    if json:
        can = {
            area: _is_possible(findings, area) for area in dict.fromkeys(finding.area for finding in findings)
        }
        show_json({"can": can, "findings": [asdict(finding) for finding in findings]})
        return 1 if broken else 0
    from rich.markup import escape

    screen = console()
    marks = {"ok": "[green]✓[/green]", "missing": "[red]✗[/red]", "note": "[yellow]·[/yellow]"}
    area = ""
    for finding in findings:
        if finding.area != area:
            area = finding.area
            screen.print(f"\n[bold]{area}[/bold]")
        lines = _wrap(f"{finding.name:<14} {finding.value}", screen.width, first=4, others=19)
        screen.print(f"  {marks[finding.state]} {escape(lines.lstrip())}", soft_wrap=True)
        if finding.advice and finding.state != "ok":
            lines = _wrap(finding.advice, screen.width, first=6, others=6)
            screen.print(lines, style="dim", markup=False, soft_wrap=True)
    missing = [finding.name for finding in findings if finding.state == "missing"]
    screen.print(f"\nmissing: {', '.join(missing)}" if missing else "\nnothing is missing", style="bold")
    return 1 if broken else 0


def run_checks() -> list[Finding]:
    """All findings, area by area."""
    return [*_simulate(), *_build(), *_compare(), *_real()]


def _wrap(text: str, width: int, *, first: int, others: int) -> str:
    """Lines of at most `width`, indented by `first` and `others` spaces; words are not broken."""
    return textwrap.fill(
        text,
        width,
        initial_indent=" " * first,
        subsequent_indent=" " * others,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _is_possible(findings: list[Finding], area: str) -> bool:
    return all(finding.state != "missing" for finding in findings if finding.area == area)


def _simulate() -> list[Finding]:
    area = "simulate, draw, report"
    found = [
        Finding(
            area,
            "Python",
            "ok" if sys.version_info >= (3, 11) else "missing",
            f"{platform.python_version()} on {platform.system()} {platform.release()}, {platform.machine()}",
            "Python 3.11 or later is needed.",
            needed=True,
        ),
        _core(area),
    ]
    for package, use in {
        "polars": "tables",
        "numpy": "tables",
        "matplotlib": "plots and reports",
        "rich": "output on a terminal",
        "cyclopts": "command",
    }.items():
        found.append(_package(area, package, f"Needed for {use}: pip install {package}", needed=True))
    for package in ("pandas", "pyarrow", "duckdb"):
        there = _package(area, package, "Optional: tables can be converted for it.")
        found.append(
            there if there.state == "ok" else Finding(area, package, "note", there.value, there.advice)
        )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found.append(Finding(area, "cores", "ok", f"{cores}: `--jobs {cores}` uses all of them"))
    found.append(_memory(area))
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    state: State = "ok" if free > 1 else "missing"
    found.append(
        Finding(
            area, "disk", state, f"{free:.1f} GB free in this folder", "Results and builds need disk space."
        )
    )
    return found


def _core(area: str) -> Finding:
    try:
        from .. import __version__
        from ..catalogue import schemes

        count = len(schemes())
    except ImportError as error:
        return Finding(area, "compiled core", "missing", str(error), "Run `make setup`.", needed=True)
    return Finding(area, "compiled core", "ok", f"version {__version__}, {count} schemes", needed=True)


def _package(area: str, name: str, advice: str, *, needed: bool = False) -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Finding(area, name, "ok", version(name), advice, needed)
    except PackageNotFoundError:
        return Finding(area, name, "missing", "not installed", advice, needed)


def _memory(area: str) -> Finding:
    if "SC_AVPHYS_PAGES" not in os.sysconf_names:
        return Finding(area, "memory", "note", "unknown", "This system does not report free memory.")
    page = os.sysconf("SC_PAGE_SIZE") / 1e9
    free, total = os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    state: State = "ok" if free > 0.5 else "missing"
    return Finding(
        area, "memory", state, f"{free:.1f} of {total:.1f} GB free", "A report needs about 300 MB."
    )


def _build() -> list[Finding]:
    area = "build, add schemes"
    return [
        _program(area, "cc", ["--version"], "Links the core: apt-get install gcc."),
        _program(
            area,
            "cargo",
            ["--version"],
            "Compiles the core; rust-toolchain.toml has the version: https://rustup.rs.",
        ),
        _program(area, "make", ["--version"], "apt-get install make."),
        _program(area, "git", ["--version"], "apt-get install git."),
    ]


def _compare() -> list[Finding]:
    area = "measure speed against peers"
    return [
        _program(
            area,
            "ns",
            None,
            "ns-2, which `make bench` compares with: apt-get install ns2.",
        ),
        _program(
            area, "valgrind", ["--version"], "Counts instructions for `make bench`: apt-get install valgrind."
        ),
    ]


def _real() -> list[Finding]:
    area = "real kernels and networks"
    settings = Path("/proc/sys/net/ipv4")
    found = []
    try:
        known = (settings / "tcp_available_congestion_control").read_text().split()
        default = (settings / "tcp_congestion_control").read_text().strip()
        found.append(Finding(area, "kernel TCP", "ok", f"{', '.join(known)}; default {default}"))
    except OSError:
        found.append(
            Finding(area, "kernel TCP", "missing", "not Linux", "Comparisons with kernel TCP need Linux.")
        )
    found.append(_namespaces(area))
    tunnel = Path("/dev/net/tun")
    advice = "Emulation passes packets through TUN devices."
    if not tunnel.exists():
        found.append(Finding(area, "TUN", "missing", "/dev/net/tun does not exist", advice))
    elif not os.access(tunnel, os.R_OK | os.W_OK):
        found.append(Finding(area, "TUN", "missing", "no permission to open /dev/net/tun", advice))
    else:
        found.append(Finding(area, "TUN", "ok", "/dev/net/tun can be opened"))
    return found


def _namespaces(area: str) -> Finding:
    advice = "Emulation needs network namespaces: run it as root, or allow unprivileged user namespaces."
    tool = shutil.which("unshare")
    if tool is None:
        return Finding(
            area,
            "namespaces",
            "missing",
            "the program `unshare` is not installed",
            "apt-get install util-linux.",
        )
    try:
        done = subprocess.run([tool, "-Urn", "true"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(area, "namespaces", "missing", str(error), advice)
    if done.returncode:
        return Finding(area, "namespaces", "missing", done.stderr.strip() or "refused", advice)
    return Finding(area, "namespaces", "ok", "user and network namespaces can be created")


def _program(area: str, name: str, version: list[str] | None, advice: str) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding(area, name, "missing", "not found", advice)
    if version is None:
        return Finding(area, name, "ok", path, advice)
    try:
        done = subprocess.run([path, *version], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(area, name, "missing", str(error), advice)
    lines = (done.stdout or done.stderr).splitlines()
    return Finding(
        area, name, "ok" if done.returncode == 0 else "missing", lines[0] if lines else path, advice
    )
