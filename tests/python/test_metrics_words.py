"""`thalweg metrics` knows every word that is printed: columns, keys of sweeps, and headings with and without unit."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import thalweg as tw
from cli_calls import asked, refused
from thalweg import catalogue, report
from thalweg.cli import call
from thalweg.report import columns, sweep_rows
from thalweg.report._topology import rate_text
from thalweg.report.columns import flows_shown, table_rows
from thalweg.report.numbers import number

HEADINGS = [(table, one.key, one.heading) for table, shown in columns.TABLES.items() for one in shown]


@pytest.mark.parametrize(("table", "key", "heading"), HEADINGS, ids=lambda value: str(value))
def test_every_printed_heading_is_explained(table, key, heading, capsys) -> None:
    lower = columns.words_of(heading)
    # a table comes before a heading of the same name
    for words in (heading.upper(), lower.upper(), *([] if lower in columns.TABLES else [heading, lower])):
        found = {row["name"] for row in asked(capsys, "metrics", words)["metrics"]}
        assert found & {key, f"{key}_bps", f"{key}_s"}, f"{heading}: {found}"


@pytest.mark.parametrize("heading", sorted({heading for _, _, heading in HEADINGS if " " in heading}))
def test_a_heading_of_several_words_needs_no_quotes(heading, capsys) -> None:
    assert asked(capsys, "metrics", *heading.split()) == asked(capsys, "metrics", heading)


def test_every_printed_column_is_a_column_of_its_table() -> None:
    known = {(row["table"], row["name"]) for row in catalogue.metrics()}
    for table, key, heading in HEADINGS:
        if table != "summary":
            assert (table, key) in known, f"{heading}: no column {key} in {table}"


def test_every_key_of_a_sweep_is_explained(capsys) -> None:
    scenario = tw.Scenario(
        duration="3 s",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="10 ms")),
        flows=[
            tw.Flow(name="long", scheme="reno"),
            tw.Flow(name="short", scheme="cubic", size="20 kB", count=3),
        ],
    )
    keys = sweep_rows.key_metrics(scenario.run())
    assert len(keys) > 3
    for key in keys:
        assert asked(capsys, "metrics", key)["metrics"], key


SWEPT = """
title = "A group beside short flows"
duration = "3 s"
[topology]
kind = "custom"
links = [
  { name = "up", ends = ["source", "r0"], rate = "10 Mbit/s", delay = "1 ms" },
  { name = "near", ends = ["r0", "near"], like = "up" },
  { name = "far", ends = ["r0", "far"], like = "up" },
]
[[flows]]
name = "video"
source = { kind = "constant", rate = "2 Mbit/s" }
from = "source"
to = ["near", "far"]
[[flows]]
name = "short"
scheme = "cubic"
from = "source"
to = "near"
size = "20 kB"
count = 3
[[flows]]
name = "long"
scheme = "reno"
from = "source"
to = "far"
count = 2
[expect]
"link.up.utilisation" = "<= 0.01"
[sweep]
"flows.short.size" = ["20 kB", "40 kB"]
"""


def printed(page: str) -> set[str]:
    """The names of the facts of a page."""
    return {html.unescape(name) for name in re.findall(r"<dt>(.*?)</dt>", page)}


def test_every_fact_of_a_page_and_every_heading_of_a_sweep_is_explained(tmp_path, capsys) -> None:
    scenario = tmp_path / "swept.toml"
    scenario.write_text(SWEPT, encoding="utf-8")
    call(["run", str(scenario), "--runs", "2", "--out", str(tmp_path / "study")])
    done = tw.SweepResult.load(tmp_path / "study")
    run = done.runs[0].result
    words = printed(report.write(tmp_path / "study").read_text(encoding="utf-8"))
    of_run = printed(report.write(run.folder).read_text(encoding="utf-8"))
    assert {"points", "seeds", "distinct runs", "packet-hops"} <= words
    assert {"fullest link", "slowest receiver", "throughput, all flows", "fairness"} <= of_run
    assert any(word.startswith("completion time, short") for word in of_run)
    keys = done.keys
    metrics = sweep_rows.key_metrics(run)
    rows = sweep_rows.points(done.summary.to_dicts(), keys, metrics)
    headings = [*sweep_rows.means_table(rows, keys, metrics)[0], *sweep_rows.failure_columns(keys)]
    # a key of the grid is one of the scenario
    words |= of_run | {heading for key, heading in headings if key not in keys}
    # the table of runs, and the facts of report cards
    words |= {"folder", "trace hash", "scheme", "kind", "references", "version"}
    assert "seeds" in words
    capsys.readouterr()
    for word in sorted(words):
        assert asked(capsys, "metrics", word)["metrics"], word


def test_a_page_of_a_group_names_its_slowest_receiver(tmp_path) -> None:
    slow = SWEPT.replace('{ name = "far", ends = ["r0", "far"], like = "up" }', SLOW)
    run = tw.Scenario.from_toml(slow[: slow.index("[sweep]")]).run()
    run.save(tmp_path)
    page = report.write(tmp_path).read_text(encoding="utf-8").replace("\u00a0", " ")
    receivers = run.receivers.filter(run.receivers["flow"] == "video").sort("throughput_bps")
    assert receivers["node"].to_list() == ["far", "near"]
    goodput, best = (rate_text(goodput) for goodput in receivers["goodput_bps"])
    said = f"far <small>goodput {goodput}; the best of 2 receivers of video has {best}</small>"
    assert f"<dt>slowest receiver</dt><dd>{said}" in page


ALIKE = """
title = "Equal receivers, and one that waits"
duration = "4 s"
[topology]
kind = "custom"
links = [
  { name = "up", ends = ["source", "r0"], rate = "10 Mbit/s", delay = "1 ms", buffer = "50 packets" },
  { name = "near", ends = ["r0", "near"], like = "up" },
  { name = "far", ends = ["r0", "far"], like = "up" },
  { name = "last", ends = ["r0", "last"], rate = "LAST", delay = "1 ms", buffer = "50 packets" },
]
[[flows]]
name = "video"
source = { kind = "constant", rate = "1 Mbit/s" }
from = "source"
to = ["near", "far", "last"]
[[flows]]
name = "call"
source = { kind = "constant", rate = "100 kbit/s" }
from = "source"
to = "last"
"""


@pytest.mark.parametrize(
    ("rate", "slowest", "waits"),
    [
        ("10 Mbit/s", "all alike", False),
        # the packets of both flows wait, but all arrive
        ("1.2 Mbit/s", "all alike", True),
        # it receives less than 1 % less than the others, because it loses some
        ('1.2 Mbit/s", loss = 0.01, queue = "fifo', "last", True),
        ("0.9 Mbit/s", "last", True),
    ],
)
def test_receivers_that_are_as_slow_as_the_slowest_are_not_called_the_worst(
    rate, slowest, waits, tmp_path
) -> None:
    run = tw.Scenario.from_toml(ALIKE.replace("LAST", rate)).run()
    run.save(tmp_path)
    page = report.write(tmp_path).read_text(encoding="utf-8")
    assert f"<dt>slowest receiver</dt><dd>{slowest} <small>goodput " in page
    assert ("<dt>longest queueing</dt><dd>last <small>" in page) is waits
    rows = flows_shown(run).to_dicts()
    losses = run.receivers.filter(run.receivers["flow"] == "video").sort("node")["loss_ratio"].to_list()
    assert (losses[1] > losses[0] == losses[2]) is (slowest == "last"), "of far, last and near"
    assert [row["worst_receiver"] for row in rows] == [slowest, None]
    assert rows[1]["throughput_worst_bps"] is None, "a flow with one receiver has no worst one"
    shown = dict(table_rows(flows_shown(run), "flows")[0])
    assert (shown.get("queueing_delay_worst_s") == "queueing, longest (ms)") is waits


def test_a_page_says_which_flows_are_fair_to_each_other(tmp_path) -> None:
    flows = [tw.Flow(name=name, scheme="reno", start=start) for name, start in (("a", "0 s"), ("b", "3 s"))]
    flows.append(tw.Flow(name="short", scheme="cubic", size="20 kB"))
    flows.append(tw.Flow(name="call", source={"kind": "constant", "rate": "100 kbit/s"}))
    network = tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="10 ms"))
    run = tw.Scenario(duration="8 s", warmup="1 s", topology=network, flows=flows).run()
    run.save(tmp_path)
    page = html.unescape(report.write(tmp_path).read_text(encoding="utf-8"))
    goodputs = run.flows.filter(run.flows["flow"].is_in(["a", "b"]))["active_goodput_bps"]
    index = goodputs.sum() ** 2 / (2 * (goodputs**2).sum())
    scope = "Jain's index of the goodputs of a, b, each while active, after the warm-up"
    assert f"<dt>fairness</dt><dd>{number(index)} <small>{scope}</small>" in page


SLOW = '{ name = "far", ends = ["r0", "far"], rate = "1 Mbit/s", delay = "1 ms", buffer = "20 packets" }'


@pytest.mark.parametrize(
    ("words", "column"),
    [
        ("queueing", "queueing_delay_s"),
        ("one-way delay", "owd_s"),
        ("wait", "queue_s"),
        ("throughput", "throughput_bps"),
        ("Jain", "fairness"),
        ("flow.video.goodput", "goodput_bps"),
        ("link.bottleneck.backward.queue_p95", "queue_p95_s"),
        ("flows.fairness", "fairness"),
        # without the unit, and by words in any order
        ("queueing_delay_p95", "queueing_delay_p95_s"),
        ("queueing delay p95", "queueing_delay_p95_s"),
        ("p95 of queueing", "queueing_delay_p95_s"),
        ("95th percentile queueing delay", "queueing_delay_p95_s"),
        ("active goodput", "active_goodput_bps"),
    ],
)
def test_words_of_the_terminal_are_found(words, column, capsys) -> None:
    assert column in {row["name"] for row in asked(capsys, "metrics", words)["metrics"]}


def test_names_come_before_headings(capsys) -> None:
    found = asked(capsys, "metrics", "throughput")
    assert {row["name"] for row in found["series"]} == {"throughput"}
    assert {row["name"] for row in asked(capsys, "metrics", "delay_s")["metrics"]} == {"delay_s"}


def test_unknown_words_are_answered_with_the_nearest(capsys) -> None:
    assert re.search(r"did you mean .*queueing", refused(capsys, "metrics", "quueing"))
    assert "no table, column, series or heading" in refused(capsys, "metrics", "nonsense-that-nobody-prints")


def test_every_series_that_a_scenario_records_is_explained() -> None:
    known = {row["name"] for row in catalogue.series()}
    for file in sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml")):
        recorded = tw.load(file).tree.get("record", {}).get("series", [])
        assert set(recorded) <= known, file.name


def test_every_column_is_found_without_its_unit_and_by_its_words(capsys) -> None:
    for row in catalogue.metrics():
        bare = re.sub(r"_(s|bps)$", "", row["name"])
        for words in (bare, bare.replace("_", " ")):
            answer = asked(capsys, "metrics", words)
            assert answer["metrics"] or answer["series"], words


@pytest.mark.parametrize("words", ["p95", "95th percentile"])
def test_a_percentile_alone_finds_all_columns_of_it(words, capsys) -> None:
    found = {row["name"] for row in asked(capsys, "metrics", words)["metrics"]}
    known = {row["name"] for row in catalogue.metrics() if re.search(r"_p95(_s)?$", row["name"])}
    assert found == known
    assert len(known) > 4


def test_a_percentile_says_of_what_it_is_one(capsys) -> None:
    (row, *_) = asked(capsys, "metrics", "queueing_delay_p95")["metrics"]
    assert row["definition"].startswith("95th percentile of queueing_delay_s. queueing_delay_s: mean over")
