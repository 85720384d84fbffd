"""What the tests of the oracle share: scenarios of the repository, and a check that says which numbers differ."""

from __future__ import annotations

import os
from pathlib import Path

import thalweg as tw
from thalweg.verification import Verification, verify_plan

ROOT = Path(__file__).resolve().parent.parent.parent

SLOW = bool(os.environ.get("THALWEG_ORACLE"))
"""Whether the tests may take minutes."""

LONGEST_S = 5.0
"""Duration of a shipped scenario, unless tests may be slow."""


def shipped() -> list[Path]:
    """Every scenario of the repository that is no experiment of a paper."""
    places = ("scenarios/*.toml", "schemes/*/experiments/*.toml", "tests/oracle/scenarios/*.toml")
    return sorted(file for place in places for file in ROOT.glob(place))


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
    """Every number of a run of the scenario is what its packets give, and no invariant is violated."""
    found = verify_plan(scenario.plan())
    lines = [
        f"{each.table}, {each.row}, {each.column}: printed {each.printed!r}, recomputed {each.recomputed!r}"
        for each in found.differences[:20]
    ]
    assert not lines, "\n".join([f"{len(found.differences)} of {found.numbers} numbers differ", *lines])
    assert not found.violated, "\n".join(found.violated)
    assert found.numbers > 0
    return found
