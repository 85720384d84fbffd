"""Many runs: grids, jobs, resuming, stopping."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import thalweg as tw
from thalweg.scenario import Plan

GRID = {"topology.bottleneck.buffer": ["0.5 bdp", "1 bdp"], "flows.reno.count": [1, 2]}


@pytest.fixture
def short(built):
    return built(duration="4 s", record=None, expect=None)


def test_results_do_not_depend_on_the_number_of_jobs(short):
    hashes = [
        [run.result.trace_hash for run in short.sweep(GRID, runs=2).run(jobs=jobs).runs] for jobs in (1, 2, 3)
    ]
    assert hashes[0] == hashes[1] == hashes[2]
    assert len(set(hashes[0])) == 8


def test_a_sweep_goes_over_its_grid_the_last_key_fastest(short):
    sweep = short.sweep(GRID, runs=2)
    assert len(sweep) == 8
    assert sweep.seeds == [7, 8]
    assert [tuple(cell.values.values()) for cell in sweep.cells] == [
        ("0.5 bdp", 1),
        ("0.5 bdp", 2),
        ("1 bdp", 1),
        ("1 bdp", 2),
    ]
    told = []
    done = sweep.run(jobs=2, progress=lambda *news: told.append(news))
    assert [news[0] for news in told] == list(range(1, 9))
    assert {news[1] for news in told} == {8}
    assert "buffer 1 bdp, count 2, seed 8" in {news[2] for news in told}
    assert done.complete
    summary = done.summary
    assert summary.columns == [*GRID, "metric", "n", "mean", "sd", "low", "high"]
    row = summary.filter(
        (summary["metric"] == "flows.goodput")
        & (summary["topology.bottleneck.buffer"] == "1 bdp")
        & (summary["flows.reno.count"] == 2)
    ).row(0, named=True)
    values = done.values("flows.goodput", buffer="1 bdp", count=2)
    assert row["n"] == 2
    assert row["mean"] == pytest.approx(sum(values) / 2)
    flows = done.table("flows")
    assert flows.columns[:4] == [*GRID, "seed", "flow"]
    assert flows.height == 2 * (2 + 3 + 2 + 3)


def test_a_scenario_can_bring_its_own_grid(text):
    scenario = tw.Scenario.from_toml(
        text.replace('"10 s"', '"3 s"') + '\n[sweep]\n"flows.reno.count" = [1, 3]\n'
    )
    sweep = scenario.sweep()
    assert [cell.values for cell in sweep.cells] == [{"flows.reno.count": 1}, {"flows.reno.count": 3}]
    assert "sweep" not in sweep.cells[0].scenario.tree
    assert [run.result.flows.height for run in sweep.run().runs] == [2, 4]


def test_a_series_is_recorded_at_the_points_that_offer_it():
    scenario = tw.Scenario(
        duration="2 s",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="5 Mbit/s", delay="5 ms")),
        flows=[tw.Flow("one", scheme="reno")],
        record=tw.Record(every="500 ms", series=["window", "rate"]),
    )
    done = scenario.sweep({"flows.one.scheme": ["reno", "tfrc"]}).run()
    recorded = [run.result.series["series"].unique().sort().to_list() for run in done.runs]
    assert recorded == [["rate", "window"], ["rate"]]
    with pytest.raises(tw.ScenarioError, match="nothing here offers"):
        scenario.with_({"flows.one.scheme": "tfrc"})


def test_values_of_any_kind_fit_in_the_tables_of_a_sweep(short):
    grid = {"flows.reno.start": ["0 s", "never"], "flows.reno.tcp": [{"sack": False}, {"ecn": True}]}
    done = short.sweep(grid).run(jobs=2)
    summary = done.summary
    assert set(summary["flows.reno.tcp"]) == {"sack = false", "ecn"}
    assert set(summary["flows.reno.start"]) == {"0 s", "never"}
    never = summary.filter(
        (summary["flows.reno.start"] == "never") & (summary["metric"] == "flow.reno.1.goodput")
    )
    assert never["n"].to_list() == [0, 0]
    assert never["mean"].to_list() == [None, None]


def test_a_sweep_of_nothing_is_the_scenario_with_several_seeds(short):
    done = short.sweep(seeds=[3, 5]).run(jobs=2)
    assert [run.seed for run in done.runs] == [3, 5]
    assert done.runs[0].result.trace_hash == short.run(seed=3).trace_hash


@pytest.mark.parametrize("seeds", [[3, 3], [5, 3, 5, 3], [1, 2, 3, 2]])
def test_a_seed_that_a_grid_lists_twice_is_refused(short, seeds):
    with pytest.raises(ValueError, match=f"sweep.seed lists {sorted(seeds)[1]} more than once"):
        short.sweep({"seed": seeds})


def test_seeds_that_a_grid_lists_are_the_seeds_of_its_points(short):
    done = short.sweep({"flows.reno.count": [1, 2], "seed": [3, 5]}).run(jobs=2)
    assert [(run.values, run.seed) for run in done.runs] == [
        ({"flows.reno.count": count}, seed) for count in (1, 2) for seed in (3, 5)
    ]
    for run in done.runs:
        assert run.result.trace_hash == short.with_(run.values).run(seed=run.seed).trace_hash
    assert [row["n"] for row in done.summary.filter(metric="flows.throughput").rows(named=True)] == [2, 2]
    assert short.sweep({"seed": [4]}).seeds == [4]
    with pytest.raises(ValueError, match="lists the seeds"):
        short.sweep({"seed": [3, 5]}, runs=2)
    with pytest.raises(ValueError, match="lists the seeds"):
        short.sweep({"seed": [3, 5]}, seeds=[1])
    with pytest.raises(tw.ScenarioError, match="seed"):
        short.sweep({"seed": [-3]})


def test_a_point_that_is_no_scenario_is_refused_before_anything_runs(short):
    with pytest.raises(tw.ScenarioError, match="-1"):
        short.sweep({"flows.reno.count": [1, -1]})
    with pytest.raises(ValueError, match="runs"):
        short.sweep(runs=0)
    with pytest.raises(ValueError, match="jobs"):
        short.sweep().run(jobs=0)


def test_results_of_many_runs_are_in_the_order_of_the_scenarios(short, built):
    other = built(duration="3 s", record=None, expect=None)
    results = tw.run_many([(short, 4), (other, None), (short, 4)], jobs=3)
    assert [result.seed for result in results] == [4, 7, 4]
    assert results[0].trace_hash == results[2].trace_hash
    assert results[1]["run.ended"] == 3


def test_a_sweep_runs_only_what_is_missing(tmp_path, short, monkeypatch):
    first = short.sweep({"flows.reno.count": [1, 2]}).run(out=tmp_path)
    folders = sorted(path.parent for path in tmp_path.glob("*/*/run.json"))
    assert len(folders) == 2
    carried_out = []
    carry_out = Plan.carry_out
    monkeypatch.setattr(Plan, "carry_out", lambda *args: carried_out.append(args) or carry_out(*args))
    (folders[0] / "run.json").unlink()
    again = short.sweep({"flows.reno.count": [1, 2, 3]}).run(out=tmp_path)
    assert len(carried_out) == 2, "one was damaged, one is new"
    assert [run.result.trace_hash for run in again.runs[:2]] == [run.result.trace_hash for run in first.runs]
    assert again.summary.height > first.summary.height
    assert len(list(tmp_path.glob("*/*/run.json"))) == 3


def test_the_seeds_of_a_point_share_a_folder_and_more_can_be_added(tmp_path, short):
    short.sweep(runs=2).run(out=tmp_path)
    (point,) = [entry for entry in tmp_path.iterdir() if entry.is_dir()]
    assert sorted(folder.name for folder in point.iterdir()) == ["seed=7", "seed=8"]
    short.sweep(runs=3).run(out=tmp_path)
    assert sorted(folder.name for folder in point.iterdir()) == ["seed=7", "seed=8", "seed=9"]
    short.sweep({"duration": ["5 s"]}).run(out=tmp_path)
    assert len([entry for entry in tmp_path.iterdir() if entry.is_dir()]) == 2


def script(folder):
    """A sweep of runs that take a while each."""
    return textwrap.dedent(f"""
        import thalweg as tw
        wire = tw.Link(rate="100 Mbit/s", delay="5 ms", buffer="100 packets")
        scenario = tw.Scenario(title="Long enough", duration="200 s", topology=tw.Dumbbell(edge=wire, bottleneck=wire),
                               flows=[tw.Flow("f", scheme="reno", count=2)])
        def told(done, total, what):
            print("finished", done, flush=True)
        try:
            scenario.sweep(runs=12).run(jobs=2, out={str(folder)!r}, progress=told)
        except tw.Interrupted as stop:
            print("kept", len(stop.result.runs), stop.result.complete, flush=True)
    """)


def started(tmp_path):
    """The sweep in a process of its own, one run finished."""
    process = subprocess.Popen([sys.executable, "-c", script(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "finished 1\n"
    return process


def test_ctrl_c_stops_a_sweep_and_keeps_finished_runs(tmp_path):
    process = started(tmp_path)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    kept = int(rest.splitlines()[-1].split()[1])
    assert rest.splitlines()[-1] == f"kept {kept} False"
    assert 1 <= kept < 12
    assert len(list(tmp_path.glob("*/*/run.json"))) >= kept


def test_a_killed_sweep_loses_only_its_running_runs(tmp_path):
    process = started(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    whole = [path.parent for path in tmp_path.glob("*/*/run.json")]
    assert whole
    for folder in whole:
        result = tw.Result.load(folder)
        assert result.complete
        assert result.flows.height == 2
        assert json.loads((folder / "run.json").read_text())["status"] == "complete"


def test_ctrl_c_in_a_run_leaves_its_tables(tmp_path):
    program = textwrap.dedent(f"""
        import thalweg as tw
        wire = tw.Link(rate="100 Mbit/s", delay="5 ms", buffer="100 packets")
        scenario = tw.Scenario(title="Endless", duration="1000000 s", topology=tw.Dumbbell(edge=wire, bottleneck=wire),
                               flows=[tw.Flow("f", scheme="reno", count=2)])
        def told(at):
            if at.now_s > 0:
                print("under way", flush=True)
        try:
            scenario.run(progress=told, out={str(tmp_path / "run")!r})
        except tw.Interrupted as stop:
            print(stop.result.trace_hash, flush=True)
    """)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "under way\n"
    os.kill(process.pid, signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    result = tw.Result.load(tmp_path / "run")
    assert result.record["status"] == "interrupted"
    assert rest.split()[-1] == result.trace_hash
    assert result.flows["sent_packets"][0] > 0
