"""The page of a run in a browser: what a reader does with pointer and keyboard, held against the tables of the run."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import thalweg as tw
from thalweg import report

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SCENARIO = """
title = "Reno and CUBIC share a link"
duration = "20 s"
warmup = "2 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "30 packets" }
[[flows]]
name = "reno"
scheme = "reno"
[[flows]]
name = "cubic"
scheme = "cubic"
start = "1 s"
[[events]]
at = "10 s"
link = "bottleneck"
rate = "5 Mbit/s"
[record]
series = ["rate", "window", "utilisation", "backlog", "drops"]
packets = { from = "5 s", to = "5.4 s" }
"""

pytestmark = pytest.mark.processes


SWEEP = """
title = "Buffers and schemes"
duration = "5 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }
[[flows]]
name = "a"
scheme = "reno"
count = 2
start_spread = "100 ms"
[sweep]
"topology.bottleneck.buffer" = ["10 packets", "100 packets"]
"flows.a.scheme" = ["reno", "cubic"]
"""


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    """Drives a page in a browser, and answers with what it saw."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser or not shutil.which("npm"):
        pytest.skip("Chromium or npm is missing")
    web = tmp_path_factory.mktemp("browser") / "web"
    shutil.copytree(ROOT / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--silent"], cwd=web, check=True)

    def drive(page):
        command = ["node", "browser/page.mjs", browser, str(page)]
        done = subprocess.run(command, cwd=web, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return drive


@pytest.fixture(scope="module")
def seen(drive, tmp_path_factory):
    """The run, and what the browser saw of its page."""
    run = tmp_path_factory.mktemp("page") / "run"
    tw.Scenario.from_toml(SCENARIO).run().save(run)
    return run, drive(report.write(run))


def series(run, name, subject):
    rows = pl.read_parquet(run / "series.parquet")
    return rows.filter((pl.col("series") == name) & (pl.col("subject") == subject)).sort("time_s")


def plain(text):
    """A number as the page writes it."""
    return float(text.replace("\u202f", "").replace("−", "-"))


def test_nothing_fails_and_nothing_is_loaded(seen):
    assert seen[1]["problems"] == []


def test_values_under_the_pointer_are_those_of_the_table(seen):
    run, saw = seen
    time = plain(re.search(r"at (\S+) s", saw["hover"])[1])
    for flow in ("reno", "cubic"):
        shown = plain(re.search(rf"{flow}\s+(\S+)", saw["hover"])[1])
        rows = series(run, "rate", f"flow.{flow}")
        value = rows.filter((pl.col("time_s") - time).abs() < 1e-3)["value"].item()
        assert shown == pytest.approx(value / 1e6, rel=1e-3), flow


def test_the_keyboard_zooms_all_charts(seen):
    _, saw = seen
    assert saw["whole"] == saw["again"] == "0 to 20 s"
    assert saw["zoomed"] != saw["whole"]


def test_the_legend_hides_and_isolates_lines(seen):
    _, saw = seen
    assert saw["hidden"] == "false"
    assert saw["alone"] == ["true", "false"]


def test_files_of_a_chart(seen):
    run, saw = seen
    header, *lines = saw["csv"].strip().splitlines()
    assert saw["svg"].startswith("<svg")
    assert saw["pdf"] == "%PDF-"
    assert saw["png"] == "PNG"
    columns = header.split(",")
    for number, name in enumerate(columns[1:], start=1):
        rows = series(run, "rate", name if name.startswith("flow.") else f"flow.{name}")
        values = [line.split(",")[number] for line in lines]
        assert [float(value) for value in values if value] == pytest.approx(rows["value"].to_list())


def test_the_network_shows_the_queue_of_its_time(seen):
    run, saw = seen
    assert saw["middle"] == 10
    rows = series(run, "backlog", "link.bottleneck").filter(pl.col("time_s") >= 10)
    assert float(saw["queue"]) == pytest.approx(rows["value"][0])
    assert saw["played"] > saw["middle"]


def test_packets_are_on_their_links(seen):
    run, saw = seen
    at = saw["packetTime"]
    packets = pl.read_parquet(run / "packets.parquet")
    links = pl.read_parquet(run / "links.parquet").select("link", "direction", "rate_bps", "delay_s")
    rows = packets.join(links, on=["link", "direction"]).with_columns(
        sent=pl.col("time_s") - pl.col("delay_s") - 8 * pl.col("bytes") / pl.col("rate_bps")
    )
    there = rows.filter((pl.col("event") == "arrived") & (pl.col("sent") <= at) & (pl.col("time_s") > at))
    assert there.height > 5
    # the time is read with five digits
    assert abs(saw["packets"] - there.height) <= 2


def test_a_link_that_is_chosen_has_its_values_and_its_charts(seen):
    _, saw = seen
    assert "link bottleneck" in saw["chosen"]
    assert "link.bottleneck.backward" in saw["chosen"]
    assert [text.split()[0] for text in saw["focused"]] == ["bottleneck", "bottleneck.backward"]


def test_the_network_can_be_played_without_a_pointer(seen):
    _, saw = seen
    assert saw["stepped"] > saw["packetTime"]


def test_a_page_is_accessible_in_light_and_dark_and_on_a_phone(seen):
    _, saw = seen
    assert (saw["light"], saw["dark"], saw["phone"]) == ([], [], [])
    assert saw["overflow"] <= 0


def test_the_page_of_a_sweep_has_the_values_of_its_table(drive, tmp_path):
    scenario = tmp_path / "sweep.toml"
    scenario.write_text(SWEEP, encoding="utf-8")
    folder = tmp_path / "swept"
    command = [sys.executable, "-m", "thalweg", "run", str(scenario), "--runs", "3", "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    saw = drive(report.write(folder))
    assert saw["problems"] == []
    assert (saw["light"], saw["dark"], saw["phone"]) == ([], [], [])
    rows = pl.read_parquet(folder / "summary.parquet").filter(pl.col("metric") == "flows.throughput_total")
    expected = {
        (row["topology.bottleneck.buffer"], row["flows.a.scheme"]): (row["mean"] / 1e6, row["ci95"] / 1e6)
        for row in rows.to_dicts()
    }
    assert len(saw["hovers"]) == len(expected) == 4
    for text in saw["hovers"]:
        found = re.fullmatch(r"(.+) · (\S+): (\S+) ± (\S+) \(n = 3\)", text)
        assert found, text
        mean, interval = expected[found[1], found[2]]
        assert plain(found[3]) == pytest.approx(mean, rel=1e-3)
        assert plain(found[4]) == pytest.approx(interval, rel=0.06)
    assert saw["drawn"] == [4, 2]
    lines = saw["csv"].strip().splitlines()[1:]
    assert {tuple(line.split(",")[:2]): float(line.split(",")[2]) for line in lines} == {
        point: pytest.approx(mean) for point, (mean, _) in expected.items()
    }
