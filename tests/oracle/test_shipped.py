"""Every number of the shipped scenarios, recomputed from packets; and no column is without a second way or a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

import thalweg as tw
from oracle import ROOT, assert_verified, shipped, shortened
from thalweg import catalogue
from thalweg.verification.tables import TABLES

pytestmark = pytest.mark.filterwarnings("ignore::thalweg.errors.ScenarioWarning")


@pytest.mark.parametrize("file", shipped(), ids=lambda file: str(file.relative_to(ROOT)))
def test_every_number_of_a_shipped_scenario(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # files that a scenario names are beside it
    monkeypatch.chdir(file.parent)
    assert_verified(shortened(tw.load(file.name)))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.name))
def test_every_column_is_recomputed_or_says_why_not(table: object) -> None:
    known = next(each for each in TABLES if each is table)
    columns = {row["name"] for row in catalogue.metrics() if row["table"] == known.name}
    assert columns - set(known.columns) - set(known.without) - set(known.keys) == set()
    assert set(known.columns) & set(known.without) == set()
    for column in known.columns.values():
        assert column.formula, column.name
