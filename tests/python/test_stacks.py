"""Flows over a QUIC stack: built in Python, swept, equal for any number of jobs."""

import pytest

import thalweg as tw


@pytest.fixture
def scenario() -> tw.Scenario:
    return tw.Scenario(
        duration="5 s",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="10 ms", buffer="1 bdp")),
        flows=[
            tw.Flow("upload", stack="quinn", start_spread="50 ms"),
            tw.Flow("tcp", scheme="cubic", start_spread="50 ms"),
        ],
    )


def test_a_sweep_over_controllers_runs_each_and_does_not_depend_on_the_number_of_jobs(scenario):
    grid = {"flows.upload.controller": ["cubic", "newreno"]}
    done = [scenario.sweep(grid, runs=2).run(jobs=jobs) for jobs in (1, 2)]
    hashes = [[run.result.trace_hash for run in sweep.runs] for sweep in done]
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == 4
    rows = [run.result.flows.row(0, named=True) for run in done[0].runs]
    assert [row["scheme"] for row in rows] == ["cubic", "cubic", "newreno", "newreno"]
    assert all(row["transport"] == "quinn" and row["goodput_bps"] > 1e6 for row in rows)


def test_a_sweep_over_schemes_plugs_each_into_the_stack(scenario):
    done = scenario.sweep({"flows.upload.scheme": ["cubic", "ledbat"]}).run()
    rows = [run.result.flows.row(0, named=True) for run in done.runs]
    assert [(row["transport"], row["scheme"]) for row in rows] == [("quinn", "cubic"), ("quinn", "ledbat")]


def test_a_controller_that_the_stack_lacks_is_refused_with_its_own(scenario):
    with pytest.raises(tw.ScenarioError, match="no controller `compound`") as refused:
        scenario.with_({"flows.upload.controller": "compound"})
    assert "the stack has cubic and newreno" in str(refused.value)
