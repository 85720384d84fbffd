"""The record of every packet: its files are as the reference says, and its run is the same as without it."""

import json
import re
import subprocess
import sys

import polars
import pytest

import thalweg as tw
from conftest import ROOT

PAGE = (ROOT / "docs/reference/packet-record.md").read_text(encoding="utf-8")
TABLES = ("packets", "hops", "meters", "activity", "exchanges")


NETWORK = """
duration = "4 s"
warmup = "1 s"

[topology]
kind = "dumbbell"
edge = { rate = "100 Mbit/s", delay = "1 ms", buffer = "1000 packets" }
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", buffer = "30 packets", loss = 0.01 }

[[flows]]
name = "reno"
scheme = "reno"

[[flows]]
name = "talk"
source = { kind = "constant", rate = "1 Mbit/s" }
packet = "250 B"

[[events]]
at = "2 s"
link = "bottleneck"
rate = "2 Mbit/s"

[[events]]
at = "2.5 s"
link = "bottleneck"
up = false

[[events]]
at = "2.6 s"
link = "bottleneck"
up = true
"""


def network():
    """A TCP flow and a source over a link that loses, fails and changes."""
    return tw.Scenario.from_toml(NETWORK)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("record")
    plan = network().plan()
    return plan, plan.record(folder), folder


def sections():
    """The columns of each table on the page, with their types."""
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        name = part.split("\n", 1)[0]
        if name.endswith(".parquet"):
            rows = re.findall(
                r"^\| ((?:`\w+`(?:, )?)+) \| (u64|u32|i64|text|bool) \|", part, flags=re.MULTILINE
            )
            yield (
                name.removesuffix(".parquet"),
                {column: kind for words, kind in rows for column in re.findall(r"\w+", words)},
            )


def test_the_files_have_the_columns_of_the_page(recorded):
    _, _, folder = recorded
    kinds = {
        "u64": polars.UInt64,
        "u32": polars.UInt32,
        "i64": polars.Int64,
        "text": polars.String,
        "bool": polars.Boolean,
    }
    pages = dict(sections())
    assert tuple(pages) == TABLES
    for name, columns in pages.items():
        schema = polars.read_parquet_schema(folder / f"{name}.parquet")
        assert dict(schema) == {column: kinds[kind] for column, kind in columns.items()}, name
    names = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE.split("## record.json")[1], flags=re.MULTILINE)
    assert list(names) == [word for words in rows for word in re.findall(r"\w+", words)]
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*(f"{name}.parquet" for name in TABLES), "record.json"]
    )


def test_the_page_names_every_counter_and_every_event(recorded):
    _, _, folder = recorded
    for table, column in (
        ("meters", "counter"),
        ("activity", "event"),
        ("packets", "end"),
        ("packets", "kind"),
    ):
        words = polars.read_parquet(folder / f"{table}.parquet")[column].unique().to_list()
        part = PAGE.split(f"## {table}.parquet")[1].split("\n## ")[0]
        assert words
        assert [word for word in words if f"`{word}`" not in part] == []


def test_the_run_is_the_same_and_its_numbers_follow_from_the_record(recorded):
    plan, result, folder = recorded
    plain = plan.run()
    assert result.trace_hash == plain.trace_hash
    assert result.flows.equals(plain.flows)
    assert result.links.equals(plain.links)
    names = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    assert names["trace_hash"] == result.trace_hash
    warm, end = names["warmup_ns"], names["ended_ns"]
    assert (warm, end) == (1_000_000_000, 4_000_000_000)
    packets = polars.read_parquet(folder / "packets.parquet")
    ends = packets.group_by("end").len()
    assert dict(ends.iter_rows()).keys() == {"delivered", "dropped", "in_flight"}
    measured = packets.filter(polars.col("ended_ns") >= warm, polars.col("end") == "delivered")
    for flow, row in enumerate(names["flows"]):
        arrived = measured.filter(polars.col("taken_by") == row["receivers"][0])
        printed = result.receivers.row(flow, named=True)
        assert (arrived.height, arrived["size_bytes"].sum()) == (printed["packets"], printed["bytes"])
        owd_s = (arrived["ended_ns"] - arrived["sent_ns"]).mean() / 1e9
        assert printed["owd_s"] == pytest.approx(owd_s, rel=1e-12)
    hops = polars.read_parquet(folder / "hops.parquet")
    (port,) = (
        number
        for number, row in enumerate(names["ports"])
        if (row["link"], row["direction"]) == ("bottleneck", "forward")
    )
    # the time integral of the packets that wait, from the instants of each
    waits = hops.filter(polars.col("port") == port).select(
        polars.coalesce("started_ns", "dropped_ns", polars.lit(end)).clip(warm)
        - polars.col("offered_ns").clip(warm)
    )
    link = next(
        row
        for row in result.links.iter_rows(named=True)
        if (row["link"], row["direction"]) == ("bottleneck", "forward")
    )
    assert link["queue_packets"] == pytest.approx(waits.to_series().sum() / (end - warm), rel=1e-12)
    drops = hops.filter(polars.col("port") == port, polars.col("dropped_ns") >= warm)
    assert dict(drops.group_by("drop_reason").len().iter_rows()) == {
        name.removeprefix("drops_"): count
        for name, count in link.items()
        if name.startswith("drops_") and count
    }
    rates = polars.read_parquet(folder / "activity.parquet").filter(
        polars.col("port") == port, polars.col("event").is_in(["rate_bps", "up"])
    )
    assert list(rates.select("time_ns", "event", "value").iter_rows()) == [
        (0, "rate_bps", 5_000_000),
        (0, "up", 1),
        (2_000_000_000, "rate_bps", 2_000_000),
        (2_500_000_000, "up", 0),
        (2_600_000_000, "up", 1),
    ]


def test_a_longer_run_takes_no_more_memory(tmp_path):
    def peak_kib(seconds):
        """The memory of a process that records a run of this length."""
        program = (
            "import resource, sys, thalweg as tw\n"
            "tw.Scenario.from_toml(sys.stdin.read()).plan().record(sys.argv[1])\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        text = NETWORK.replace("4 s", f"{seconds} s").replace("up = false", "up = true")
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / str(seconds))],
            input=text.replace("2 Mbit/s", "50 Mbit/s"),
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stdout)

    short, long = peak_kib(60), peak_kib(240)
    hops = polars.scan_parquet(tmp_path / "240" / "hops.parquet").select(polars.len()).collect().item()
    # a row of a hop has 60 bytes, without the bytes of its packet
    assert 1024 * (long - short) < 20 * hops


def test_a_record_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        network().plan().record(tmp_path / "file")
