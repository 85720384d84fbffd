"""What the terminal leaves out by default, and what `--full` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_calls import asked
from thalweg.cli import call

HEAD = """
title = "Tables"
duration = "4 s"
warmup = "500 ms"

[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "0.3 bdp" }
"""
LONG = '\n[[flows]]\nname = "long"\nscheme = "reno"\n'
SEVERAL = '\n[[flows]]\nname = "some"\nscheme = "cubic"\ncount = 3\nsize = "50 kB"\n'
MANY = '\n[[flows]]\nname = "short"\nscheme = "reno"\narrivals = { rate = 12.0, size = "10 kB" }\n'
ONE = '\n[[flows]]\nname = "one"\nscheme = "reno"\nsize = "200 kB"\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def printed(capsys: pytest.CaptureFixture[str], text: str, *words: str, code: int = 0) -> str:
    """The output of `thalweg run` for a scenario."""
    Path("tables.toml").write_text(text, encoding="utf-8")
    assert call(["run", "tables.toml", *words]) == code
    return capsys.readouterr().out


def part(output: str, title: str) -> list[str]:
    """The lines of a table, its heading included."""
    lines = output.splitlines()
    first = next(number for number, line in enumerate(lines) if title in line)
    return lines[first + 1 : next((n for n in range(first, len(lines)) if not lines[n]), len(lines))]


def test_of_many_flows_only_the_groups_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, HEAD + LONG + MANY)
    assert "short.1 " not in output
    groups = part(output, "groups of flows")
    assert [line.split()[0] for line in groups[2:4]] == ["long", "short"]
    assert "flows.parquet has each" in output
    full = printed(capsys, HEAD + LONG + MANY, "--full")
    assert "short.1 " in full
    assert "short.21 " in full


def test_of_few_flows_only_groups_of_several_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, HEAD + LONG + SEVERAL)
    groups = part(output, "groups of flows")
    assert [line.split()[0] for line in groups[2:]] == ["some"]
    assert "some.3 " in output
    assert "long" in "".join(
        line.split()[0] for line in part(printed(capsys, HEAD + LONG + SEVERAL, "--full"), "groups")[2:]
    )


def test_links_that_are_nearly_idle_are_counted_unless_they_drop(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, HEAD + LONG)
    links = part(output, "Links, by utilisation")
    assert len([line for line in links if line.startswith(("bottleneck", "left", "right"))]) == 1
    assert "5 directions of links are used below 5 % without drops" in output
    lossy = HEAD.replace('buffer = "0.3 bdp"', 'buffer = "0.3 bdp", backward = { loss = 0.05 }')
    drops = part(printed(capsys, lossy + LONG), "Links, by utilisation")
    assert any("backward" in line for line in drops), "it drops acknowledgements"
    full = part(printed(capsys, HEAD + LONG, "--full"), "Links, by utilisation")
    assert len([line for line in full if line.startswith(("bottleneck", "left", "right"))]) == 6


def test_reasons_of_drops_are_printed_unless_queues_were_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Dropped packets by reason" not in printed(capsys, HEAD + LONG)
    lossy = HEAD.replace('buffer = "0.3 bdp"', 'buffer = "0.3 bdp", loss = 0.01')
    assert "random loss" in printed(capsys, lossy + LONG)
    assert "Dropped packets by reason: " in printed(capsys, HEAD + LONG, "--full")


def test_percentiles_of_one_transfer_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    sweep = '\n[sweep]\n"topology.bottleneck.rate" = ["10 Mbit/s", "20 Mbit/s"]\n'
    output = printed(capsys, HEAD + ONE + sweep)
    assert "flows.one.fct (s)" in output
    assert "fct_p95" not in output
    assert "flows.some.fct_p95 (s)" in printed(capsys, HEAD + SEVERAL + sweep)


def test_a_sweep_counts_the_transfers_that_did_not_end(capsys: pytest.CaptureFixture[str]) -> None:
    slow = HEAD.replace('duration = "4 s"', 'duration = "1 s"') + SEVERAL.replace("50 kB", "500 kB")
    sweep = '\n[sweep]\n"topology.bottleneck.rate" = ["1 Mbit/s", "1 Gbit/s"]\n'
    Path("slow.toml").write_text(slow + sweep, encoding="utf-8")
    answer = asked(capsys, "run", "slow.toml")
    assert {"flows.some.transfers", "flows.some.unfinished"} <= set(answer["metrics"])
    counts = [run["summary"]["flows.some.unfinished"] for run in answer["runs"]]
    assert counts == [3, 0]


def test_no_column_has_a_power_of_ten_for_a_nearly_empty_queue(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, HEAD + LONG, "--full")
    assert "e-0" not in "".join(part(output, "Links, by utilisation"))


def test_default_tables_have_the_mean_wait_and_its_tail_only(capsys: pytest.CaptureFixture[str]) -> None:
    heading = part(printed(capsys, HEAD + LONG), "flows")[0]
    assert "queueing (ms)" in heading
    assert "queueing p95 (ms)" in heading
    assert not [word for word in ("p50", "p99", "from", "while active") if word in heading]
    full = printed(capsys, HEAD + LONG, "--full")
    assert all(word in full for word in ("queueing p50", "queueing p99", "from", "base delay"))


def test_a_sweep_says_where_an_expectation_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        HEAD
        + LONG.replace('scheme = "reno"', 'scheme = "reno"\nstart_spread = "100 ms"')
        + '\n[expect]\n"link.bottleneck.utilisation" = ">= 0.9"\n"flow.long.retransmits" = "<= 5000"\n'
        + '\n[sweep]\n"topology.bottleneck.buffer" = ["0.1 bdp", "2 bdp"]\n'
    )
    output = printed(capsys, text, "--runs", "2", code=1)
    listed = part(output, "Expectations that do not hold")
    (row,) = [line for line in listed if ">= 90 %" in line or "<= 5000" in line]
    assert row.split()[:3] == ["0.1", "bdp", "link.bottleneck.utilisation"]
    assert ">= 90 %" in row
    assert row.split()[-1] == "2"
    assert "2 of them did not meet" in output
    assert call(["run", "tables.toml", "--runs", "2", "--json"]) == 1
    failures = json.loads(capsys.readouterr().out)["failures"]
    assert [(row["topology.bottleneck.buffer"], row["seed"], row["key"]) for row in failures] == [
        ("0.1 bdp", 1, "link.bottleneck.utilisation"),
        ("0.1 bdp", 2, "link.bottleneck.utilisation"),
    ]
    assert all(0 < row["measured"] < 0.9 for row in failures)
    assert call(["report", "out/tables"]) == 0
    page = Path("out/tables/report.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "failed runs" in page
    assert "&gt;= 90 %" in page
