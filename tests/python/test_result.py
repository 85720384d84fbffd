"""The tables of a run, and who can read them."""

import json
import subprocess
import sys
import threading
import time

import polars
import pytest

import thalweg as tw
from thalweg import plots
from thalweg import result as results
from thalweg.scenario import Plan


def test_a_run_has_every_table_with_the_documented_columns(result):
    for table in results.TABLES:
        wanted = [row["name"] for row in tw.metrics() if row["table"] == table]
        columns = result.frame(table).columns
        assert columns == wanted[: len(columns)], table
    assert result.flows["flow"].to_list() == ["reno.1", "reno.2", "talk"]
    assert result.flows["group"].to_list() == ["reno", "reno", "talk"]
    assert result.units("flows")["rate_bps"] == "bps"


def test_numbers_agree_between_tables_and_the_summary(result):
    link = result.links.row(0, named=True)
    assert link["link"] == "bottleneck"
    assert result["link.bottleneck.utilisation"] == link["utilisation"]
    assert result["flow.talk.goodput"] == result.flows.row(2, named=True)["goodput_bps"]
    assert result["run.measured"] == 8
    total = sum(result.flows["throughput_bps"])
    assert result["flows.throughput"] == pytest.approx(total)
    assert total <= 10e6


def test_an_unknown_key_names_the_nearest(result):
    with pytest.raises(KeyError, match=r"link\.bottleneck\.utilisation"):
        result["link.botleneck.utilisation"]
    with pytest.raises(KeyError, match="flows"):
        result.frame("flow")


def test_single_values_need_no_dict_of_all(tmp_path, result):
    loaded = tw.Result.load(result.save(tmp_path / "run"))
    fresh = built_again(result)
    for run in (fresh, loaded):
        for key, value in result.values.items():
            assert run[key] == value
            assert run.get(key, 7.0) == value
        assert run.get("flow.nobody.goodput") is None
        assert run.get("flow.nobody.goodput", 7.0) == 7.0
    assert "values" not in vars(fresh)


def test_groups_are_the_same_in_memory_and_from_a_folder(tmp_path, result):
    loaded = tw.Result.load(result.save(tmp_path / "run"))
    groups = result.groups
    assert groups["group"].to_list() == ["reno", "talk"]
    assert groups["count"].to_list() == [2, 1]
    assert groups["goodput"].to_list() == [result["flows.reno.goodput"], result["flows.talk.goodput"]]
    assert loaded.groups.equals(groups)


def built_again(result):
    """A result of the same run that has computed nothing yet."""
    return tw.Result(result.record, result.source, result.texts)


def test_expectations_have_their_measured_values(result):
    assert result.expect["pass"].to_list() == [True, False]
    assert not result.passed
    assert result.expect["measured"][0] == result["link.bottleneck.utilisation"]


def test_a_run_that_expects_nothing_passes(built):
    assert built(expect=None, duration="3 s").run().passed


def test_recorded_series_are_long_tables_by_subject(result):
    rates = result.series.filter(polars.col("series") == "rate")
    assert set(rates["subject"]) == {"flow.reno.1", "flow.reno.2", "flow.talk"}
    assert rates.filter(polars.col("subject") == "flow.talk")["time_s"].to_list() == [
        n / 2 for n in range(1, 21)
    ]
    assert {"link.bottleneck", "link.bottleneck.backward"} <= set(result.series["subject"])
    tree = result.events.filter(polars.col("event") == "branch_added")
    assert sorted(tree["subject"]) == ["link.bottleneck", "link.left3", "link.right3"]
    others = result.events.filter(polars.col("event") != "branch_added")
    assert set(others["subject"]) <= {"flow.talk", "receiver.talk@right3"}
    named = result.events.filter(polars.col("event") == "representative")
    assert set(named["text"]) <= {"receiver.talk@right3", ""}


def test_nodes_that_route_by_name_have_a_table(named, result):
    nodes = named.nodes
    assert nodes["node"].to_list() == ["root", "inner1", "inner2", "nrs"]
    assert nodes["role"].to_list() == ["router"] * 3 + ["resolver"]
    assert nodes["groups"].to_list() == [1] * 4, "and the router that forgot knows its group again"
    assert nodes.schema["signals"] == polars.UInt64
    assert named["node.inner1.signals"] == nodes["signals"][1] > 0
    assert named.passed
    assert result.nodes.is_empty(), "all is routed by address"
    assert result.nodes.schema == nodes.schema


def test_consumers_and_forwarders_have_columns_of_their_own(data, result):
    flows = {row["flow"]: row for row in data.flows.to_dicts()}
    viewer, steady = flows["viewer"], flows["steady"]
    assert (viewer["transport"], viewer["prefix"], viewer["receivers"]) == ("ndn", "/films/new", 0)
    assert 0.03 < viewer["delay_min_s"] <= viewer["delay_s"] <= viewer["delay_max_s"]
    assert steady["retransmits"] == 0
    assert steady["arrived_packets"] > 0
    assert viewer["goodput_bps"] / viewer["throughput_bps"] == pytest.approx(1024 / 1100, rel=0.01)
    assert data["node.router_left.hits"] > 50
    assert 0 < data["node.router_left.hit_ratio"] < 1
    nodes = data.nodes
    assert set(nodes["role"]) == {"forwarder"}
    assert nodes.height == 6
    generated = data.series.filter(
        polars.col("series") == "generated", polars.col("subject") == "flow.steady"
    )
    assert generated["value"].is_sorted()
    # requests of the warm-up count here; a request for Data that are under way is not generated
    assert steady["sent_packets"] < generated["value"][-1] <= 1000 - steady["suppressed"]
    assert {"flow.viewer", "flow.steady"} <= set(
        data.series.filter(polars.col("series") == "goodput")["subject"]
    )
    assert data.passed
    assert result.flows["prefix"].to_list() == [""] * 3
    assert result.flows["delay_s"].null_count() == 3


def test_a_folder_of_the_first_format_has_no_nodes(tmp_path, result, named):
    folder = result.save(tmp_path / "old")
    (folder / "nodes.parquet").unlink()
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(record | {"format": 1}))
    old = tw.Result.load(folder)
    assert old.nodes.is_empty()
    assert old.nodes.schema == named.nodes.schema
    assert tw.Result.load(old.save(tmp_path / "copy")).nodes.is_empty()
    (folder / "run.json").write_text(json.dumps(record))
    with pytest.raises(tw.ResultError, match="nodes"):
        tw.Result.load(folder).frame("nodes")


def test_old_names_are_answered_with_the_present_ones(data):
    with pytest.raises(KeyError, match=r"renamed to 'flow\.viewer\.nacks'"):
        data["flow.viewer.refusals"]
    with pytest.raises(KeyError, match=r"no result 'flow\.viewer\.held'"):
        data["flow.viewer.held"]
    frame = data.series.with_columns(series=polars.lit("shaper_queue"))
    with pytest.raises(ValueError, match="'held' was renamed to 'shaper_queue'"):
        plots.series(frame, "held")


def test_a_folder_of_an_earlier_format_has_the_present_names(tmp_path, data):
    folder = data.save(tmp_path / "old")
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(record | {"format": 2}))
    path = folder / "nodes.parquet"
    polars.read_parquet(path).rename({"delayed": "held", "nacked": "refused"}).write_parquet(path)
    path = folder / "summary.parquet"
    old = polars.col("metric").str.replace(r"\.nacks$", ".refusals").str.replace(r"\.delayed$", ".held")
    polars.read_parquet(path).with_columns(old).write_parquet(path)
    again = tw.Result.load(folder)
    assert again.nodes.columns == data.nodes.columns
    assert again.values == data.values


def test_tables_go_to_other_libraries_as_arrow_streams(result):
    for source in (result.arrow("flows"), result.arrow("series"), result.arrow("events")):
        assert "arrow_array_stream" in repr(source.__arrow_c_stream__())
    frame = polars.DataFrame(result.arrow("flows"))
    assert frame.schema["sent_packets"] == polars.UInt64
    assert frame.schema["fct_s"] == polars.Float64
    assert frame.schema["flow"] == polars.String
    assert frame["fct_s"].null_count() == 3, "not measured is null, never zero"


def test_fields_of_arrow_tables_carry_their_unit_and_definition(result):
    pyarrow = pytest.importorskip("pyarrow")
    schema = pyarrow.table(result.arrow("flows")).schema
    metadata = schema.field("goodput_bps").metadata
    assert metadata[b"unit"] == b"bps"
    assert b"receivers" in metadata[b"definition"]


def test_tables_become_pandas_frames(result):
    pandas = pytest.importorskip("pandas")
    frame = result.to_pandas("links")
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == result.links.columns
    assert frame["utilisation"].iloc[0] == result["link.bottleneck.utilisation"]


def test_a_saved_run_reads_back_as_it_was(tmp_path, result, text):
    folder = result.save(tmp_path / "run")
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["plan.toml", "run.json", "scenario.toml", *(f"{name}.parquet" for name in results.TABLES)]
    )
    again = tw.Result.load(folder)
    assert again.record == result.record
    assert again.plan == result.plan
    for table in results.TABLES:
        assert again.frame(table).equals(result.frame(table)), table
    assert again["flows.fairness"] == result["flows.fairness"]
    assert polars.DataFrame(again.arrow("links")).equals(result.frame("links"))
    copied = tw.Result.load(again.save(tmp_path / "copy"))
    assert copied.flows.equals(result.flows)
    record = json.loads((folder / "run.json").read_text())
    assert record["format"] == results.FORMAT
    assert record["status"] == "complete"
    assert record["trace_hash"] == result.trace_hash
    assert tw.load(folder / "plan.toml").run().trace_hash == result.trace_hash
    assert tw.load(folder / "scenario.toml").run().trace_hash == result.trace_hash


def test_parquet_files_keep_units(tmp_path, result):
    parquet = pytest.importorskip("pyarrow.parquet")
    result.save(tmp_path)
    assert parquet.read_schema(tmp_path / "links.parquet").field("queue_s").metadata[b"unit"] == b"s"


def test_a_folder_without_its_last_file_is_no_run(tmp_path, result):
    folder = result.save(tmp_path / "run")
    (folder / "run.json").unlink()
    with pytest.raises(tw.ResultError, match=r"run\.json"):
        tw.Result.load(folder)
    with pytest.raises(tw.ResultError):
        tw.Result.load(tmp_path / "nowhere")


def test_the_error_for_a_damaged_folder_names_the_reason(tmp_path, result):
    folder = result.save(tmp_path / "run")
    (folder / "flows.parquet").write_bytes(b"not a table")
    with pytest.raises(tw.ResultError, match=r"flows\.parquet"):
        tw.Result.load(folder).frame("flows")
    (folder / "run.json").write_text('{"format": 99}')
    with pytest.raises(tw.ResultError, match="format 99"):
        tw.Result.load(folder)
    (folder / "run.json").write_text("[]")
    with pytest.raises(tw.ResultError):
        tw.Result.load(folder)


def test_an_unwritable_folder_is_a_separate_error(tmp_path, result):
    (tmp_path / "file").write_text("")
    with pytest.raises(tw.ResultError, match="cannot be written"):
        result.save(tmp_path / "file")


def test_a_run_reports_progress_while_python_continues(long):
    """Nothing of this thread would run before the end if the interpreter lock were held."""
    seen = []

    class EnoughError(Exception):
        pass

    def watch(at):
        seen.append(at)
        if len({at.now_s for at in seen}) == 3:
            raise EnoughError

    with pytest.raises(EnoughError):
        long.run(progress=watch)
    times = [at.now_s for at in seen]
    assert times == sorted(times)
    assert 0 < times[-1] < 100_000
    assert all(0 <= at.share < 1 for at in seen)
    assert seen[-1].events > seen[0].events
    assert seen[-1].speed > 0
    assert seen[-1].left_s > 0


def test_a_run_that_is_stopped_leaves_its_tables(tmp_path, long):
    from thalweg import _native

    control = _native.Control()
    plan: Plan = long.plan()
    done = []
    thread = threading.Thread(target=lambda: done.append(plan.carry_out(control)))
    thread.start()
    deadline = time.monotonic() + 60
    while control.now_s == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    control.stop()
    thread.join(60)
    stopped = done[0]
    assert control.stopped
    assert not stopped.complete
    assert 0 < stopped["run.ended"] < 100_000
    assert stopped.flows["sent_packets"][0] > 0
    again = tw.Result.load(stopped.save(tmp_path / "run"))
    assert again.record["status"] == "interrupted"
    assert again.flows.equals(stopped.flows)


def test_a_killed_run_loses_only_the_data_after_its_last_checkpoint(tmp_path, long):
    (tmp_path / "long.toml").write_text(long.toml)
    program = (
        f"import thalweg as tw; tw.load({str(tmp_path / 'long.toml')!r})"
        f".run(out={str(tmp_path / 'run')!r}, keep_s=0)"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "expect.parquet").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait(60)
    kept = tw.Result.load(tmp_path / "run")
    assert kept.record["status"] == "unfinished"
    assert not kept.complete
    assert kept.seed == 7
    assert kept.flows["sent_packets"][0] > 0
    assert 0 < kept["run.ended"] < 100_000
    assert kept.plan["duration"] == "100000 s"


def test_a_finished_run_replaces_the_content_of_its_folder(tmp_path, scenario):
    first = scenario.run(out=tmp_path, seed=1)
    second = scenario.run(out=tmp_path, seed=2, keep_s=0)
    assert tw.Result.load(tmp_path).trace_hash == second.trace_hash != first.trace_hash
    assert not list(tmp_path.glob("*.part"))


def test_a_plot_is_one_call(tmp_path, result):
    for name in ("rate.svg", "rate.pdf"):
        figure = result.plot("rate", out=tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert len(figure.axes[0].lines) == 3
    with pytest.raises(ValueError, match="backlog"):
        result.plot("window")


@pytest.mark.parametrize(
    ("overrides", "title"),
    [
        ({"topology.bottleneck.buffer": "0.2 bdp"}, "T · bottleneck.buffer = 0.2 bdp"),
        (
            {"events": [{"at": "0 s", "link": "n1-n31", "rate": "1 Mbit/s"}], "flows.group.scheme": "mca"},
            "T · events = 1 entry, flows.group.scheme = mca",
        ),
        ({"topology.bottleneck.queue": {"kind": "red", "adaptive": True}}, "T · bottleneck.queue = red"),
        (
            {f"flows.a.params.key{n}": n for n in range(6)},
            "T · flows.a.params.key0 = 0, flows.a.params.key1 = 1, 4 more",
        ),
        ({"title": "x" * 99}, f"T · title = {'x' * 23}…"),
        ({}, "T"),
    ],
)
def test_a_title_names_what_was_changed_in_a_few_words(overrides, title):
    found = results.with_overrides("T", overrides)
    assert found == title
    assert len(found) <= 100
