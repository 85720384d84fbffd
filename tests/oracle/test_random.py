"""Every number of random scenarios, recomputed from packets. `make ci` takes 60 of them, `THALWEG_ORACLE=1` 300."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

import thalweg as tw
from oracle import EXAMPLES, assert_verified
from random_scenarios import scenarios
from thalweg.errors import ScenarioError


@pytest.mark.filterwarnings("ignore::thalweg.errors.ScenarioWarning")
@settings(
    max_examples=EXAMPLES,
    # a smaller network is another network: shrinking takes minutes and seldom ends at one that is easier to read
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
@given(scenarios())
def test_every_number_of_a_random_scenario(tree: dict[str, Any]) -> None:
    try:
        scenario = tw.Scenario.from_tree(tree)
        scenario.plan()
    except ScenarioError:
        # a combination that the loader refuses, about one in twenty
        assume(False)
    assert_verified(scenario)
