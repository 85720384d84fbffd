"""Every number of the shipped scenarios, recomputed from packets; and no column is without a second way or a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle import (
    ROOT,
    UNVERIFIED,
    assert_verified,
    folder_of,
    loaded,
    reason_against,
    scenario_files,
    shipped,
    shortened,
)
from thalweg import catalogue
from thalweg.errors import ScenarioError
from thalweg.verification.tables import TABLES

pytestmark = pytest.mark.filterwarnings("ignore::thalweg.errors.ScenarioWarning")


@pytest.mark.parametrize("file", shipped(), ids=lambda file: str(file.relative_to(ROOT)))
def test_every_number_of_a_shipped_scenario(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder_of(file))
    assert_verified(shortened(loaded(file)))


def test_what_is_not_verified_cannot_be_run() -> None:
    assert {place for place in UNVERIFIED if not (ROOT / place).exists()} == set()
    listed = [file for file in scenario_files() if reason_against(file) is not None]
    # a build with the stack str0m runs those that have it
    for file in [file for file in listed if b'"str0m"' not in file.read_bytes()]:
        with pytest.raises((ScenarioError, UnicodeDecodeError)):
            loaded(file).plan()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.name))
def test_every_column_is_recomputed_or_says_why_not(table: object) -> None:
    known = next(each for each in TABLES if each is table)
    columns = {row["name"] for row in catalogue.metrics() if row["table"] == known.name}
    assert columns - set(known.columns) - set(known.without) - set(known.keys) == set()
    assert set(known.columns) & set(known.without) == set()
    for column in known.columns.values():
        assert column.formula, column.name
