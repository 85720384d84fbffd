"""The lines of a flow's state end with the flow, in every figure, and begin again where it starts again."""

from __future__ import annotations

import json
import math
import re

import polars as pl
import pytest

import thalweg as tw
from thalweg import report
from thalweg._drawn_series import idle_spans
from thalweg.report import comparison

SCENARIO = """
duration = "12 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "20 packets" }
[[flows]]
name = "sized"
scheme = "reno"
size = "300 kB"
[[flows]]
name = "pair"
scheme = "cubic"
count = 2
[[flows]]
name = "stream"
scheme = "tfrc"
stop = "8 s"
[[flows]]
name = "whole"
scheme = "reno"
[[events]]
at = "3 s"
flow = "pair"
action = "stop"
[[events]]
at = "6 s"
flow = "pair.1"
action = "start"
[record]
every = "500 ms"
series = ["window", "srtt", "allowed_rate", "rate", "throughput", "backlog"]
events = true
"""
STATES = ("window", "srtt", "allowed_rate")


@pytest.fixture(scope="module")
def run() -> tw.Result:
    return tw.Scenario.from_toml(SCENARIO).run()


def active(run: tw.Result) -> dict[str, list[tuple[float, float]]]:
    """When each flow is active."""
    [completed] = run.flows.filter(flow="sized")["completed_s"]
    assert 0.2 < completed < 8
    return {
        "flow.sized": [(0, completed)],
        "flow.pair.1": [(0, 3), (6, math.inf)],
        "flow.pair.2": [(0, 3)],
        "flow.stream": [(0, 8)],
        "flow.whole": [(0, math.inf)],
    }


def test_states_are_drawn_while_the_flow_is_active_and_all_else_always(run: tw.Result) -> None:
    spans = active(run)
    drawn = run.drawn_series
    assert drawn.drop("value").equals(run.series.drop("value"))
    nothing = 0
    for before, row in zip(run.series.to_dicts(), drawn.to_dicts(), strict=True):
        times = spans.get(row["subject"], [])
        if row["series"] not in STATES or any(begin <= row["time_s"] <= end for begin, end in times):
            assert row["value"] == before["value"] or math.isnan(row["value"]), row
        else:
            assert row["value"] is None, row
            nothing += 1
    assert nothing > 50


def test_charts_pictures_and_comparisons_end_the_lines(run: tw.Result, tmp_path) -> None:
    kept = run.drawn_series.filter(pl.col("series") == "window", pl.col("value").is_not_null())
    last = dict(kept.group_by("subject").agg(pl.col("time_s").max()).iter_rows())
    assert last["flow.pair.2"] == 3
    assert last["flow.pair.1"] == last["flow.whole"] == 12
    for figure in (run.plot("window"), comparison.overlay([("one", run), ("two", run)], "window")):
        lines = {line.get_label().removeprefix("one: "): line for line in figure.axes[0].lines}
        for subject, time in last.items():
            line = lines[subject.removeprefix("flow.")]
            known = [x for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True) if not math.isnan(y)]
            assert max(known) == time
    run.save(tmp_path / "run")
    text = report.write(tmp_path / "run").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="thalweg-charts">(.*?)</script>', text, re.DOTALL)
    assert found
    [chart] = [one for one in json.loads(found[1])["charts"] if one["name"] == "window"]
    assert not any(subject["quiet"] for subject in chart["subjects"])


def test_a_series_whose_flows_end_before_the_first_sample_keeps_its_values() -> None:
    text = SCENARIO.replace('every = "500 ms"', 'every = "5 s"').replace(
        '["window", "srtt", ', '["ssthresh", '
    )
    first = text.index('[[flows]]\nname = "pair"')
    run = tw.Scenario.from_toml(
        text[:first] + text[text.index("[record]") :].replace('"allowed_rate", ', "")
    ).run()
    assert run.drawn_series.equals(run.series)
    assert run.series.filter(pl.col("series") == "ssthresh").height


@pytest.mark.parametrize(
    ("flow", "events", "completed", "spans"),
    [
        ({}, [], None, []),
        ({"stop": "never"}, [], None, []),
        ({"stop": "7 s"}, [], None, [(7, math.inf)]),
        ({"stop": "7 s"}, [], 2.5, [(2.5, math.inf)]),
        ({"stop": "7 s"}, [{"at": "500 ms", "action": "stop"}], None, [(0.5, math.inf)]),
        ({}, [{"at": "9 s", "action": "start"}, {"at": "4 s", "action": "stop"}], None, [(4, 9)]),
        ({}, [{"at": "2 s", "action": "mode"}, {"at": "1 s", "action": "start"}], None, []),
    ],
)
def test_times_between_a_stop_and_the_next_start(flow, events, completed, spans) -> None:
    assert idle_spans(flow, events, completed) == spans
