"""Numbers that must not mislead, as people see them: totals, seeds without effect, consumers, completion times."""

import json
from pathlib import Path
from types import SimpleNamespace

import polars
import pytest

import thalweg as tw
from cli_calls import asked
from thalweg.cli import call
from thalweg.report import write
from thalweg.report.columns import table_rows
from thalweg.report.numbers import number
from thalweg.report.sweep_rows import key_metrics, mean_text, metric_text, points
from thalweg.sweep import Point, notes, sameness

SAME = """
title = "Nothing is random"
duration = "4 s"
warmup = "1 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "1 bdp" }
[[flows]]
name = "reno"
count = 2
scheme = "reno"
"""

RARE = """
title = "A transfer that rarely loses a packet"
duration = "10 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", buffer = "100 packets", loss = 0.01 }
[[flows]]
name = "f"
scheme = "cubic"
size = "30 kB"
"""

SHORT = """
title = "Short flows"
duration = "10 s"
warmup = "1 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "20 Mbit/s", delay = "20 ms", buffer = "1 bdp" }
[[flows]]
name = "long"
scheme = "reno"
[[flows]]
name = "short"
scheme = "reno"
arrivals = { rate = 20.0, size = "50 kB", size_shape = 1.3, count = 100 }
[expect]
"flows.short.count" = "== 100"
"flows.short.fct_p95" = "50 ms .. 5 s"
"flows.long.queueing_delay_p99" = "1 ms .. 60 ms"
"""

CONSUMER = """
title = "One consumer"
duration = "5 s"
warmup = "1 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "50 packets" }
[[producers]]
prefix = "/films"
node = "right1"
[[flows]]
name = "films"
network = "ndn"
scheme = "aimd"
from = "left1"
prefix = "/films"
[record]
every = "500 ms"
series = ["rate", "goodput"]
"""


def test_seeds_without_effect_are_one_run_and_have_no_interval(tmp_path: Path, capsys) -> None:
    file = tmp_path / "same.toml"
    file.write_text(SAME)
    assert call(["run", str(file), "--runs", "3", "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "3 seeds, 1 distinct run: nothing in this scenario is random." in " ".join(text.split())
    assert 'start_spread = "100 ms"' in " ".join(text.split())
    assert "±" not in text
    page = write(tmp_path / "out").read_text(encoding="utf-8")
    assert "3 seeds, 1 distinct run: nothing in this scenario is random." in page
    assert "±" not in page
    assert "95 %" not in page
    assert "all seeds gave the same run" in text
    assert call(["run", str(file), "--runs", "3", "--out", str(tmp_path / "out"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["seeds"] == [{"values": {}, "seeds": 3, "distinct_runs": 1}]
    assert len(told["notes"]) == 1
    assert told["notes"][0].startswith("3 seeds, 1 distinct run")
    rows = {row["metric"]: row for row in told["summary"]}
    assert rows["flows.throughput"]["n"] == 3
    assert rows["flows.throughput"]["sd"] == 0
    assert rows["flows.throughput"]["low"] is rows["flows.throughput"]["high"] is None


def test_seeds_with_random_starts_are_runs_of_their_own(tmp_path: Path, capsys) -> None:
    file = tmp_path / "spread.toml"
    file.write_text(SAME + 'start_spread = "100 ms"\n')
    assert call(["run", str(file), "--runs", "3", "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "±" in text
    assert "distinct run:" not in text
    done = tw.Scenario.from_toml(SAME + 'start_spread = "100 ms"\n').sweep({}, runs=3).run()
    assert done.points == [Point({}, 3, 3)]
    assert done.sameness is None
    assert set(done.summary["n"]) <= {0, 3}
    assert done.notes == ["3 seeds: too few for an interval to mean much."]
    assert done.notes[0] in text
    assert done.notes[0].removesuffix(".") in write(tmp_path / "out").read_text(encoding="utf-8")


def test_every_seed_counts_where_a_scenario_is_random(tmp_path: Path, capsys) -> None:
    file = tmp_path / "rare.toml"
    file.write_text(RARE)
    assert call(["run", str(file), "--runs", "40", "--jobs", "2", "--out", str(tmp_path / "out")]) == 0
    text = " ".join(capsys.readouterr().out.split())
    done = tw.SweepResult.load(tmp_path / "out")
    (point,) = done.points
    assert 1 < point.distinct < point.seeds == 40, "most runs lose nothing, and are equal"
    assert f"40 seeds, {point.distinct} distinct runs: every seed counts." in text
    times = [run.result["flows.f.fct"] for run in done.runs]
    row = done.summary.row(by_predicate=polars.col("metric") == "flows.f.fct", named=True)
    assert row["n"] == 40
    assert row["mean"] == pytest.approx(sum(times) / 40, rel=1e-12)
    # as if the runs that are equal were one, the rare losses would count more
    distinct = {run.result.trace_hash: run.result["flows.f.fct"] for run in done.runs}.values()
    assert sum(distinct) / len(distinct) > row["high"]
    found = done.estimate("flows.f.fct")
    assert (found.n, found.mean) == (40, pytest.approx(row["mean"]))
    assert (found.low, found.high) == (pytest.approx(row["low"]), pytest.approx(row["high"]))
    samples = json.loads((tmp_path / "out" / "sweep.json").read_text())["runs"]
    assert len(samples) == 40


def test_a_seed_that_is_dropped_changes_the_mean() -> None:
    done = tw.Scenario.from_toml(RARE).sweep({"flows.f.size": ["30 kB", "60 kB"]}, runs=20).run(jobs=2)
    for size in ("30 kB", "60 kB"):
        values = [value for value in done.values("flows.f.fct", size=size) if value is not None]
        row = done.summary.row(
            by_predicate=(polars.col("metric") == "flows.f.fct") & (polars.col("flows.f.size") == size),
            named=True,
        )
        exact = tw.estimate(values, "flows.f.fct")
        assert (row["n"], row["mean"], row["low"], row["high"]) == (
            20,
            pytest.approx(exact.mean, rel=1e-12),
            pytest.approx(exact.low, rel=1e-9),
            pytest.approx(exact.high, rel=1e-9),
        )


def test_points_of_a_grid_are_distinguished() -> None:
    assert sameness([Point({}, 1, 1)]) is None, "one seed has nothing to be the same as"
    assert sameness([Point({"a": 1}, 2, 2), Point({"a": 2}, 2, 2)]) is None
    everywhere = sameness([Point({"a": 1}, 2, 1), Point({"a": 2}, 2, 1)])
    assert everywhere is not None
    assert everywhere.startswith("2 seeds, 1 distinct run at each point: nothing in this scenario is random.")
    some = sameness([Point({"a": 1}, 2, 1), Point({"a": 2}, 2, 2)])
    assert some is not None
    assert some.startswith("At 1 of 2 points all seeds gave 1 distinct run")
    part = sameness([Point({"a": 1}, 3, 2), Point({"a": 2}, 3, 3)])
    assert part == "At 1 of 2 points some seeds gave the same run; every seed counts."


def test_too_few_seeds_are_said_where_there_is_an_interval() -> None:
    few = "4 seeds: too few for an interval to mean much."
    assert notes([Point({}, 1, 1)]) == []
    assert notes([Point({}, 4, 4)]) == [few]
    assert notes([Point({}, 5, 5)]) == []
    assert len(notes([Point({}, 4, 1)])) == 1, "nothing is random, so that there is no interval"
    assert notes([Point({}, 4, 3)])[1] == few


def test_a_repeated_seed_does_not_make_an_interval_narrower() -> None:
    scenario = tw.Scenario.from_toml(SAME + 'start_spread = "100 ms"\n')
    twice = scenario.sweep({}, seeds=[1, 2, 2, 2]).run()
    once = scenario.sweep({}, seeds=[1, 2]).run()
    assert twice.points == [Point({}, 2, 2)]
    assert twice.summary.equals(once.summary)


def test_groups_have_totals_completion_times_and_percentiles(tmp_path: Path, capsys) -> None:
    file = tmp_path / "short.toml"
    file.write_text(SHORT)
    assert call(["run", str(file), "--out", str(tmp_path / "out")]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "groups of flows" in text
    result = tw.Result.load(tmp_path / "out")
    assert result.passed
    assert 15e6 < result["flows.throughput"] <= 20e6 * 1.01, "what the link carries"
    groups = {row["group"]: row for row in result.groups.to_dicts()}
    assert list(groups) == ["long", "short"]
    short = groups["short"]
    times = result.flows.filter(polars.col("group") == "short")["fct_s"].drop_nulls().sort().to_list()
    assert short["completions"] == len(times) > 50
    assert short["fct"] == pytest.approx(sum(times) / len(times))
    # nearest rank
    for percent in (50, 95, 99):
        assert short[f"fct_p{percent}"] == times[-(-len(times) * percent // 100) - 1]
    assert short["queueing_delay_p50"] <= short["queueing_delay_p95"] <= short["queueing_delay_p99"]
    assert result["flows.fairness"] is None, "one flow without end: nobody to be fair to"
    headings = dict(table_rows(result.groups, "summary")[0])
    assert {"throughput", "fct", "fct_p50", "fct_p95", "fct_p99", "queueing_delay_p95"} <= set(headings)
    page = write(tmp_path / "out").read_text(encoding="utf-8")
    summary = page.split("<h2")[1]
    assert "completion time, short" in summary
    assert "fairness" not in summary
    assert "FCT p95" in page
    assert "queueing p95" in page
    assert call(["run", str(file), "--out", str(tmp_path / "out"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["group"] for row in told["groups"]] == ["long", "short"]
    assert told["groups"][1]["fct_p99"] == short["fct_p99"]
    assert told["summary"]["flows.short.fct_p99"] == short["fct_p99"]
    assert {"flows.short.fct", "flows.short.fct_p95"} <= set(key_metrics(result))
    assert "flows.fairness" not in key_metrics(result)


def test_consumers_send_interests_in_headings(tmp_path: Path) -> None:
    result = tw.Scenario.from_toml(CONSUMER).run(out=tmp_path)
    flow = result.flows.row(0, named=True)
    assert flow["rate_bps"] is None
    assert 0 < flow["interests_bps"] < 0.1 * flow["throughput_bps"]
    headings = dict(table_rows(result.flows, "flows")[0])
    assert headings["throughput_bps"] == "throughput of Data (Mbit/s)"
    assert headings["goodput_bps"] == "goodput of Data (Mbit/s)"
    assert headings["interests_bps"] == "Interests sent (Mbit/s)"
    assert result.title_of("rate") == "Rate of Interests sent"
    assert result.plot("rate").axes[0].get_ylabel() == "rate of Interests sent (Mbit/s)"
    page = write(tmp_path).read_text(encoding="utf-8")
    assert "throughput, all flows, Data" in page
    assert "Rate of Interests sent" in page
    assert "Interests sent" in page


def test_a_point_without_an_interval_shows_its_mean_alone() -> None:
    row = {"metric": "flows.count", "n": 1, "mean": 2.0, "low": None, "high": None}
    rows = points([row], [], ["flows.count"])
    assert rows == [{"n": 1, "flows.count": (2.0, None, None)}]
    assert mean_text(rows[0]["flows.count"]) == "2"
    assert mean_text((2.0, 1.5, 2.5)) == "2.0 ± 0.5"
    assert mean_text((0.98, 0.9123, 1.0)) == "0.980 [0.912, 1.000]"


PERCENTILE = "flows.a.queueing_delay_p95"


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        (PERCENTILE, (17.1834, None, None), "17.2"),
        (PERCENTILE, (1234.5, None, None), "1\u202f230"),
        (PERCENTILE, (17.1834, 17.0, 17.3668), "17.2 ± 0.2"),
        # the interval is narrower than what the histogram knows
        (PERCENTILE, (17.1834, 17.1812, 17.1856), "17.2"),
        ("link.b.queue_p50", (0.4567, None, None), "0.457"),
        # percentiles of completion times are exact, and means are
        ("flows.a.fct_p95", (17.1834, None, None), "17.18"),
        ("flows.a.queueing_delay", (17.1834, None, None), "17.18"),
    ],
)
def test_percentiles_of_histograms_are_printed_with_three_digits(metric, value, text) -> None:
    assert metric_text(metric, value) == text


@pytest.mark.parametrize(
    ("key", "one", "two", "change"),
    [
        # 36.0 and 34.8 are printed
        ("flows.a.queueing_delay_p95", 0.036_04, 0.034_75, "-3.3 %"),
        ("flows.a.queueing_delay_p95", 0.036_04, 0.036_01, "same"),
        ("flows.a.queueing_delay_p95", 0.036, 0.0674, "+87 %"),
        ("flows.a.queueing_delay_p95", 0.036, 0.36, "× 10"),
        ("flows.a.queueing_delay_p95", 0.0, 0.036, "from 0"),
        ("flows.a.queueing_delay", 0.036, 0.0674, "+87.2 %"),
        ("flows.a.queueing_delay", 0.036, 0.036_001, "0.0 %"),
        ("flows.a.queueing_delay", 0.036, None, None),
    ],
)
def test_a_change_is_that_of_the_printed_values(key, one, two, change) -> None:
    from thalweg.report import comparison

    runs = [SimpleNamespace(values={key: one}), SimpleNamespace(values={key: two})]
    rows = comparison.metrics([("one", runs[0]), ("two", runs[1])])
    assert [row["change"] for row in rows] == [change]


def test_no_output_has_more_digits_of_a_percentile_than_are_known(tmp_path, capsys) -> None:
    from thalweg.report import comparison
    from thalweg.report._run import expectations

    scenario = tw.Scenario(
        duration="5 s",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="20 ms")),
        flows=[tw.Flow(name="a", scheme="cubic"), tw.Flow(name="b", scheme="reno", start="1 s")],
        expect={"flow.a.queueing_delay_p95": "<= 500 ms"},
        record=tw.Record(distributions=True),
    )
    runs = [scenario.run(seed=seed, out=tmp_path / str(seed)) for seed in (1, 2)]
    exact = runs[0].flows["queueing_delay_p95_s"][0] * 1e3
    assert f"{exact:.4g}" != f"{exact:.3g}", "three digits are all of it"
    for frame, columns, key, value in (
        (runs[0].flows, "flows", "queueing_delay_p95_s", exact),
        (runs[0].links, "links", "queue_p95_s", None),
    ):
        for row in table_rows(frame, columns)[1]:
            assert row[key] is None or row[key] == pytest.approx(float(f"{row[key]:.3g}"), rel=1e-12)
        if value is not None:
            assert number(table_rows(frame, columns)[1][0][key]) == f"{float(f'{value:.3g}'):g}"
    assert expectations(runs[0])[0]["measured"] == f"{float(f'{exact:.3g}'):g} ms"
    row = next(
        row
        for row in comparison.metrics([("one", runs[0]), ("two", runs[1])])
        if row["metric"] == "flows.a.queueing_delay_p95"
    )
    assert row["values"]["one"] == pytest.approx(exact), "`--json` has all digits"
    assert number(comparison.known_values(row)["one"]) == f"{float(f'{exact:.3g}'):g}"
    assert row["change"] == "same"
    assert f"{exact:.4g}" not in runs[0].latex("flows", digits=6)
    for words, said in (("queueing p95", True), ("wait p99", True), ("FCT p95", False)):
        rows = asked(capsys, "metrics", words)["metrics"]
        assert rows
        assert all(("three digits are printed" in row["definition"]) is said for row in rows)
