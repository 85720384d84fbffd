"""Invariants of results: they hold in random runs, and a table that breaks one of them is found."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import polars
import pytest
from hypothesis import HealthCheck, assume, given, settings

import thalweg as tw
from cli_calls import asked
from oracle import SLOW
from random_scenarios import scenarios
from thalweg import invariants
from thalweg.cli import call
from thalweg.errors import InvariantWarning, ScenarioError
from thalweg.invariants import INVARIANTS, Identity, Order


@pytest.mark.filterwarnings("ignore::thalweg.errors.ScenarioWarning")
@settings(
    max_examples=300 if SLOW else 60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
@given(scenarios())
def test_no_random_run_violates_an_invariant(tree: dict[str, Any]) -> None:
    try:
        scenario = tw.Scenario.from_tree(tree)
        scenario.plan()
    except ScenarioError:
        assume(False)
    assert scenario.run().violated_invariants == []


class Tables:
    """The tables of a run, some of them changed."""

    def __init__(self, result: tw.Result, **changed: polars.DataFrame) -> None:
        self._result, self._changed = result, changed

    def frame(self, table: str) -> polars.DataFrame:
        """A table."""
        return self._changed.get(table, self._result.frame(table))


@pytest.fixture(scope="module")
def run() -> tw.Result:
    """A run with TCP beside a group, distributions and an application."""
    link = {"rate": "4 Mbit/s", "delay": "5 ms", "buffer": "30 packets", "loss": 0.01}
    return tw.Scenario.from_tree(
        {
            "duration": "6 s",
            "warmup": "1 s",
            "topology": {
                "kind": "custom",
                "links": [
                    {"name": "a", "ends": ["a", "r"], **link},
                    {"name": "b", "ends": ["r", "b"], **link},
                    {"name": "c", "ends": ["r", "c"], **link},
                ],
            },
            "flows": [
                {"name": "tcp", "group": "both", "scheme": "reno", "from": "a", "to": "b"},
                {"name": "more", "group": "both", "scheme": "cubic", "from": "a", "to": "c"},
                {"name": "group", "scheme": "mca", "from": "a", "to": ["b", "c"], "multicast": True},
                {
                    "name": "web",
                    "scheme": "reno",
                    "from": "a",
                    "to": "b",
                    "app": {"kind": "requests", "size": "9 kB"},
                },
            ],
            "record": {"distributions": True},
        }
    ).run()


def broken_by(run: tw.Result, **changed: polars.DataFrame) -> list[str]:
    """Invariants that the run breaks with changed tables."""
    texts = {"plan.toml": run.plan_toml, "scenario.toml": run.scenario_toml}
    changed_run = tw.Result(run.record, Tables(run, **changed), texts)
    return [broken.invariant for broken in invariants.check(changed_run)]


def test_the_run_violates_no_invariant(run: tw.Result) -> None:
    assert broken_by(run) == []


@pytest.mark.parametrize(
    "invariant", INVARIANTS, ids=lambda one: f"{one.table}-{'-'.join(one.columns())[:60]}"
)
def test_a_table_that_violates_an_invariant_is_found(run: tw.Result, invariant: Order | Identity) -> None:
    frame = run.frame(invariant.table)
    missing = set(invariant.columns()) - set(frame.columns)
    assert not missing, "an invariant of columns that no table has"
    if frame.is_empty():
        frame = polars.DataFrame([dict.fromkeys(frame.columns)], schema=frame.schema).with_columns(
            polars.col(polars.String).fill_null("made up")
        )
    first = polars.int_range(polars.len()) == 0
    if isinstance(invariant, Order):
        values = {invariant.low: 3.0 if isinstance(invariant.high, float) else 2.0}
        if isinstance(invariant.high, str):
            values[invariant.high] = 1.0
    else:
        values = dict.fromkeys(invariant.columns(), 1.0) | {invariant.left[0]: 50.0}
        if invariant.capped:
            values[invariant.right[0]] = 0.5
    changes = [
        polars.when(first)
        .then(polars.lit(value).cast(frame.schema[name]))
        .otherwise(polars.col(name))
        .alias(name)
        for name, value in values.items()
    ]
    assert invariant.invariant in broken_by(run, **{invariant.table: frame.with_columns(changes)})


def test_a_number_that_is_none_is_found(run: tw.Result) -> None:
    flows = run.flows.with_columns(rtt_s=polars.lit(math.nan))
    assert "a number is finite, or it was not measured" in broken_by(run, flows=flows)


def test_the_formula_of_little_and_sums_are_checked(run: tw.Result) -> None:
    links = run.links.with_columns(polars.col("queue_packets") * 1.001)
    assert any("Little" in invariant for invariant in broken_by(run, links=links))
    flows = run.flows.with_columns(polars.col("throughput_bps") * 1.001)
    assert "the value of a group is the sum over its flows" in broken_by(run, flows=flows)


def test_more_than_the_capacity_is_found(run: tw.Result) -> None:
    links = run.links.with_columns(utilisation=polars.lit(1.001))
    assert any("capacity" in invariant for invariant in broken_by(run, links=links))


def test_more_than_the_links_carry_is_found(run: tw.Result) -> None:
    receivers = run.receivers.with_columns(polars.col("bytes") * 2)
    assert any("what the links carry" in invariant for invariant in broken_by(run, receivers=receivers))


def test_a_drop_that_no_link_counts_is_found(run: tw.Result) -> None:
    first = polars.int_range(polars.len()) == 0
    for frame, change in (("flows", 1), ("links", 1)):
        more = [
            polars.when(first).then(polars.col(name) + change).otherwise(polars.col(name)).alias(name)
            for name in ("drops", "drops_random_loss")
        ]
        broken = broken_by(run, **{frame: run.frame(frame).with_columns(more)})
        assert (
            "drops of all flows for a reason = drops of all links for it, except messages of nodes" in broken
        )


def one_way(warmup: str) -> tw.Result:
    """A run of datagrams from one host to another."""
    link = {"name": "a", "ends": ["a", "b"], "rate": "1 Mbit/s", "delay": "20 ms", "buffer": "9 packets"}
    flow = {"name": "f", "from": "a", "to": "b", "source": {"kind": "poisson", "rate": "900 kbit/s"}}
    return tw.Scenario.from_tree(
        {
            "duration": "3 s",
            "warmup": warmup,
            "topology": {"kind": "custom", "links": [link]},
            "flows": [flow],
        }
    ).run()


@pytest.mark.parametrize("change", [-1, 1])
def test_packets_that_a_host_does_not_offer_are_found(change: int) -> None:
    run = one_way("1 s")
    assert broken_by(run) == []
    links = run.links.with_columns(polars.col("offered_packets") + change)
    assert any("a host offers to its link" in invariant for invariant in broken_by(run, links=links))


def test_more_arrivals_than_packets_are_found() -> None:
    run = one_way("0 s")
    assert broken_by(run) == []
    flows = run.flows.with_columns(arrived_packets=polars.col("sent_packets") - polars.col("data_drops") + 1)
    assert "sent = arrived + dropped + in flight, which is not negative" in broken_by(run, flows=flows)


def test_a_violation_is_said_loudly(
    run: tw.Result, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    broken = invariants.Violation("mean <= maximum", "flows", "tcp", "owd_s = 2, owd_max_s = 1")
    monkeypatch.setattr(invariants, "check", lambda _result: [broken])
    scenario = tmp_path / "one.toml"
    scenario.write_text(run.plan_toml, encoding="utf-8")
    assert call(["run", str(scenario), "--out", str(tmp_path / "out")]) == 1
    assert "WRONG NUMBER, an invariant is violated: flows, tcp: owd_s = 2" in capsys.readouterr().err
    words = ["run", str(scenario), "--out", str(tmp_path / "out")]
    assert asked(capsys, *words, code=1)["violated_invariants"] == [broken.sentence]
    assert call(["report", str(tmp_path / "out")]) == 0
    assert "owd_s = 2, owd_max_s = 1" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    with pytest.warns(InvariantWarning, match="owd_s = 2"):
        assert tw.Scenario.from_toml(run.plan_toml).run().flows.height == 4


READING = """
duration = "12 s"
warmup = "2 s"
topology.kind = "dumbbell"
topology.bottleneck = { rate = "20 Mbit/s", delay = "20 ms", buffer = "1 bdp", loss = 0.01 }
flows = [{ name = "q", stack = "STACK", controller = "cubic", arrivals = { rate = 10.0, size = "200 kB" } }]
"""
"""Bytes above a gap arrive during the warm-up, and are read when it closes."""

EMPTY_GROUPS = """
duration = "5 s"
topology = { kind = "star", leaves = 4, link = { rate = "10 Mbit/s", delay = "5 ms", buffer = "50 packets" } }
flows = [{ name = "g", OTHER, scheme = "tfmcc", from = "leaf1", to = [{ node = "leaf2", start = "1 s", stop = "3 s" }] }]
"""
"""What is sent to a group without members goes nowhere."""

DETOUR = """
duration = "5 s"
topology.kind = "custom"
topology.links = [
  { name = "l1", ends = ["a", "r1"], rate = "10 Mbit/s", delay = "10 ms" },
  { name = "l2", ends = ["r1", "c"], rate = "10 Mbit/s", delay = "10 ms" },
  { name = "l3", ends = ["r1", "b"], rate = "10 Mbit/s", delay = "10 ms" },
]
flows = [
  { name = "q", scheme = "cubic", from = "a", to = "b" },
  { name = "s", source = { kind = "constant", rate = "1 Mbit/s" }, from = "c", to = "a" },
]
events = [{ at = "1 s", route = { at = "r1", to = "b", via = "c" } }]
"""
"""A host with one link sends packets of others back."""


@pytest.mark.filterwarnings("ignore::thalweg.errors.ScenarioWarning")
@pytest.mark.parametrize(
    "text",
    [
        *(READING.replace("STACK", stack) for stack in ("quinn", "noq")),
        *(EMPTY_GROUPS.replace("OTHER", other) for other in ("count = 2", 'group = "w"')),
        DETOUR,
    ],
    ids=["quinn", "noq", "copies", "group", "detour"],
)
def test_right_numbers_that_look_wrong_violate_nothing(text: str) -> None:
    scenario = tw.Scenario.from_tree(tomllib.loads(text))
    for seed in range(1, 7):
        assert scenario.run(seed=seed).violated_invariants == []
