"""What the tests of the oracle share: scenarios of the repository, and a check that says which numbers differ."""

from __future__ import annotations

import os
import re
from pathlib import Path

import thalweg as tw
from thalweg.scheme import load_schemes
from thalweg.verification import Verification, verify_plan

ROOT = Path(__file__).resolve().parent.parent.parent

SLOW = bool(os.environ.get("THALWEG_ORACLE"))
"""Whether the tests may take minutes."""

EXAMPLES = 300 if SLOW else 60 if os.environ.get("THALWEG_SLOW") else 20
"""Number of random scenarios: each takes half a second. `make ci` sets `THALWEG_SLOW`."""

LONGEST_S = 5.0
"""Duration of a shipped scenario, unless tests may be slow."""


NO_SOURCES = {"target", "out", "dist", "results", "node_modules"}
"""Folders of built files, beside those whose names begin with a dot."""

UNVERIFIED = {
    "crates/lab/tests/broken": "the loader refuses each of them: they test what it says",
    "schemes/_templates": "their schemes are built only once a new scheme is made of a template",
    "scenarios/rfc8867/5.1-str0m.toml": "the stack str0m is built with a feature that is off by default",
    "scenarios/rfc8867/5.4-str0m.toml": "the stack str0m is built with a feature that is off by default",
    "scenarios/webrtc": "the stack str0m is built with a feature that is off by default",
}
"""Scenarios and folders of scenarios that are not verified, and why."""

SCHEME_FILES = {"examples/learned/beside-cubic.toml": "learned.py"}
"""The files of schemes in Python that scenarios need, beside them."""


def scenario_files() -> list[Path]:
    """Every scenario of the repository: each TOML file with a topology."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in NO_SOURCES and not name.startswith("."))
        found += [Path(folder) / name for name in sorted(names) if name.endswith(".toml")]
    return [file for file in found if re.search(rb"(?m)^(\[topology\]|topology\b)", file.read_bytes())]


def shipped() -> list[Path]:
    """Every scenario of the repository that can be verified."""
    return [file for file in scenario_files() if reason_against(file) is None]


def reason_against(file: Path) -> str | None:
    """Why a scenario is not verified; None if it is."""
    place = file.relative_to(ROOT)
    for part in (place, *place.parents):
        if part.as_posix() in UNVERIFIED:
            return UNVERIFIED[part.as_posix()]
    return None


def folder_of(file: Path) -> Path:
    """The folder that a scenario names its files from: its own; the folder of the crate in tests of a crate."""
    place = file.relative_to(ROOT)
    return ROOT / "crates" / place.parts[1] if place.parts[0] == "crates" else file.parent


def loaded(file: Path) -> tw.Scenario:
    """A scenario of the repository, with the schemes that it needs. The working directory is to be its folder."""
    place = file.relative_to(ROOT).as_posix()
    if place in SCHEME_FILES:
        load_schemes(file.parent / SCHEME_FILES[place])
    scenario = tw.Scenario.from_toml(file.read_text(encoding="utf-8"), file.name)
    scenario.folder = folder_of(file)
    return scenario


def shortened(scenario: tw.Scenario) -> tw.Scenario:
    """A scenario without its sweep and of at most `LONGEST_S`, with a warm-up of at most a fifth."""
    scenario = scenario.without_sweep()
    length = scenario.plan().duration_s
    if SLOW or length <= LONGEST_S:
        return scenario
    tree = {key: value for key, value in scenario.tree.items() if key != "expect"}
    tree["duration"] = f"{LONGEST_S} s"
    if "warmup" in tree:
        tree["warmup"] = f"{LONGEST_S / 5} s"
    short = tw.Scenario.from_tree(tree)
    short.folder = scenario.folder
    return short


def assert_verified(scenario: tw.Scenario) -> Verification:
    """Every number of a run of the scenario is what its packets give, and no invariant is violated.

    With a record every packet takes the slow path, which is the definition of the others; the run itself takes the fast
    ones. If the two are not one run, packet by packet, their trace hashes differ.
    """
    plan, run = scenario.plan(), scenario.run()
    try:
        found = verify_plan(plan, run)
    except tw.ResultError as error:
        # its hint blames the version, but both runs are of this one
        if run.trace_hash not in str(error):
            raise
        raise AssertionError(f"the fast paths and the slow path are not one run: {error}") from error
    lines = [
        f"{each.table}, {each.row}, {each.column}: printed {each.printed!r}, recomputed {each.recomputed!r}"
        for each in found.differences[:20]
    ]
    assert not lines, "\n".join([f"{len(found.differences)} of {found.numbers} numbers differ", *lines])
    assert not found.violated, "\n".join(found.violated)
    assert found.numbers > 0
    return found
