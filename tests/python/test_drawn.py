"""What the charts of every kind of page draw, in a browser: held against the tables of the runs, and against the pixels.

`web/browser/charts.mjs` opens each page at 1300, 768 and 390 pixels, light and dark. It looks for lines that have values and
are not on the screen, points outside of their axes, axes without a title, NaN in drawings, legends that are too tall, text
that is cut or runs into other text, and what scrolls sideways without a sign. Here the values come from Parquet tables.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import thalweg as tw
from thalweg import plots, report
from thalweg.report.columns import unit_of
from thalweg_papers import _plot

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

pytestmark = pytest.mark.processes

Seen = dict[str, Any]

COMING_AND_GOING = """
title = "Flows that come and go"
duration = "16 s"
warmup = "2 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "1 bdp" }
[[flows]]
name = "late"
scheme = "cubic"
start = "10 s"
[[flows]]
name = "early"
scheme = "SCHEME"
stop = "7 s"
[[events]]
at = "5 s"
link = "bottleneck"
rate = "5 Mbit/s"
[record]
every = "100 ms"
series = ["rate", "rtt", "srtt", "throughput", "goodput", "window", "ssthresh", "in_flight", "utilisation", "backlog"]
"""

GROUP = """
title = "A group with a slow member"
duration = "8 s"
warmup = "1 s"
[topology]
kind = "custom"
links = [
  { name = "up", ends = ["source", "r0"], rate = "10 Mbit/s", delay = "1 ms", buffer = "50 packets" },
  { name = "near", ends = ["r0", "near"], like = "up" },
  { name = "far", ends = ["r0", "far"], rate = "1 Mbit/s", delay = "20 ms", buffer = "20 packets" },
]
[[flows]]
name = "video"
source = { kind = "constant", rate = "2 Mbit/s" }
from = "source"
to = ["near", "far"]
[[events]]
at = "6 s"
flow = "video"
node = "far"
action = "leave"
[record]
every = "100 ms"
series = ["rate", "throughput", "utilisation", "backlog"]
events = true
"""

SWEEP = """
title = "Load, buffers and queues"
duration = "6 s"
warmup = "1 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }
[[flows]]
name = "short"
scheme = "cubic"
arrivals = { load = "3 Mbit/s", size = "30 kB" }
[[flows]]
name = "bulk"
scheme = "reno"
start_spread = "100 ms"
[sweep]
"flows.short.arrivals.load" = ["2 Mbit/s", "5 Mbit/s", "8 Mbit/s"]
"topology.bottleneck.buffer" = ["20 packets", "100 packets"]
"topology.bottleneck.queue" = ["fifo", "codel", "pie", "fq_codel"]
"""


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[Path, Seen]]:
    """Looks at pages, and answers with what is wrong and what is drawn, by page."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser or not shutil.which("npm"):
        pytest.skip("Chromium or npm is missing")
    web = tmp_path_factory.mktemp("drawn") / "web"
    shutil.copytree(ROOT / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--silent"], cwd=web, check=True)

    def look(*pages: Path) -> dict[Path, Seen]:
        command = ["node", "browser/charts.mjs", str(browser), *map(str, pages)]
        done = subprocess.run(command, cwd=web, capture_output=True, text=True, timeout=1800, check=False)
        assert done.returncode == 0, done.stderr
        return {Path(page): seen for page, seen in json.loads(done.stdout).items()}

    return look


def charts_of(seen: Seen, name: str) -> list[Seen]:
    return [chart for chart in seen["drawn"] if chart["name"] == name]


STATES = {"window", "srtt", "rtt", "ssthresh", "in_flight", "allowed_rate", "waiting"}
"""Series of the state of a sender that are recorded here; the others are zero when it has stopped."""


def end_of(run: tw.Result, subject: str) -> float:
    """When a flow has stopped or is complete."""
    flow = subject.removeprefix("flow.")
    [completed] = run.flows.filter(flow=flow)["completed_s"]
    [stop] = [one.get("stop", "never") for one in run.plan["flows"] if one["name"] == flow]
    ends = [float(stop.removesuffix(" s"))] if stop != "never" else []
    return min([math.inf, *ends, *([] if completed is None else [completed])])


def points_of(run: tw.Result, series: str, subject: str) -> list[tuple[float, float]]:
    """The recorded points of a line, in the unit of its axis: of a sender's state those until its end."""
    rows = run.series.filter((pl.col("series") == series) & (pl.col("subject") == subject)).sort("time_s")
    if series in STATES:
        rows = rows.filter(pl.col("time_s") <= end_of(run, subject))
    rows = rows.drop_nulls("value").filter(pl.col("value").is_not_nan())
    factor = plots.unit_of(series)[1]
    return [(time, value * factor) for time, value in rows.select("time_s", "value").iter_rows()]


def expected_lines(run: tw.Result, series: str) -> dict[str, list[tuple[float, float]]]:
    """The lines that a chart of a series must show: of each subject whose mean is not near zero."""
    subjects = run.series.filter(pl.col("series") == series)["subject"].unique(maintain_order=True).to_list()
    points = {subject: points_of(run, series, subject) for subject in subjects}
    means = {
        subject: math.fsum(abs(value) for _, value in listed) / len(listed)
        for subject, listed in points.items()
        if listed
    }
    highest = max(means.values(), default=0.0)
    if highest == 0:
        # the first in the order of the scenario stands for all
        means = dict(list(means.items())[:1])
    return {subject: points[subject] for subject, mean in means.items() if mean >= 0.01 * highest}


def has_title_and_unit(chart: Seen, unit: str) -> None:
    assert chart["yLabel"], chart["name"]
    if unit:
        assert chart["yLabel"].endswith(f"({unit})"), chart["yLabel"]


def same(drawn: list[list[float]], expected: list[tuple[float, float]], what: object) -> None:
    assert len(drawn) == len(expected), what
    for (x, y), (there, value) in zip(drawn, expected, strict=True):
        assert x == pytest.approx(there), what
        assert y == pytest.approx(value), what


def runs_are_drawn(run: tw.Result, seen: Seen) -> None:
    """Every series of a run is a chart with all its lines and all their points."""
    for series in run.series["series"].unique():
        [chart] = charts_of(seen, series)
        expected = expected_lines(run, series)
        assert {line["name"] for line in chart["lines"]} == set(expected), series
        assert (
            len(chart["lines"]) + chart["hidden"]
            == run.series.filter(pl.col("series") == series)["subject"].n_unique()
        )
        for line in chart["lines"]:
            same(line["points"], expected[line["name"]], (series, line["name"]))
        assert chart["xLabel"] == "time (s)"
        has_title_and_unit(chart, plots.unit_of(series)[0])
        values = [value for listed in expected.values() for _, value in listed]
        if values and max(values) > 0:
            assert max(values) <= chart["y"][1] <= 1.2 * max(values), series
        assert chart["x"] == [0, pytest.approx(run.record["ended_s"])]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of each kind."""
    folder = tmp_path_factory.mktemp("runs")
    scenarios = {
        "cubic": tw.Scenario.from_toml(COMING_AND_GOING.replace("SCHEME", "cubic")),
        "bbr": tw.Scenario.from_toml(COMING_AND_GOING.replace("SCHEME", "bbr")),
        "group": tw.Scenario.from_toml(GROUP),
        **{
            name: tw.load(ROOT / "scenarios" / f"{scenario}.toml")
            for name, scenario in {
                "sdn": "does-a-controller-move-a-flow",
                "page": "how-fast-does-a-page-load",
                "player": "does-a-film-stall",
                "video": "can-video-share-with-tcp",
                "names": "what-do-stores-save",
                "multicast": "does-one-rate-suit-all",
            }.items()
        },
    }
    for name, scenario in scenarios.items():
        scenario.run().save(folder / name)
    return {name: folder / name for name in scenarios}


@pytest.fixture(scope="module")
def run_pages(
    look: Callable[..., dict[Path, Seen]], runs: dict[str, Path]
) -> dict[str, tuple[tw.Result, Seen]]:
    pages = {name: report.write(folder) for name, folder in runs.items()}
    seen = look(*pages.values())
    return {name: (tw.Result.load(runs[name]), seen[page]) for name, page in pages.items()}


@pytest.mark.parametrize(
    "name", ["cubic", "bbr", "group", "sdn", "page", "player", "video", "names", "multicast"]
)
def test_a_page_of_a_run_draws_every_value(run_pages: dict[str, tuple[tw.Result, Seen]], name: str) -> None:
    run, seen = run_pages[name]
    assert seen["problems"] == []
    runs_are_drawn(run, seen)


def test_flows_and_their_delays_are_those_of_the_table(run_pages: dict[str, tuple[tw.Result, Seen]]) -> None:
    run, seen = run_pages["cubic"]
    [bars] = charts_of(seen, "shares")
    drawn = [y for line in bars["lines"] for _, y in line["points"]]
    assert sorted(drawn) == pytest.approx(sorted(run.flows["throughput_bps"] / 1e6))
    [scatter] = charts_of(seen, "scatter")
    assert {line["label"]: line["points"] for line in scatter["lines"]} == {
        row["flow"]: [
            [pytest.approx(1e3 * row["queueing_delay_s"]), pytest.approx(row["throughput_bps"] / 1e6)]
        ]
        for row in run.flows.to_dicts()
    }


def test_a_page_of_a_group_begins_with_the_slowest_receiver(runs: dict[str, Path]) -> None:
    page = report.write(runs["group"]).read_text(encoding="utf-8")
    table = page[page.index("the slowest first</h3>") :]
    rows = re.findall(r"<tr>\s*<td[^>]*>.*?</tr>", table[: table.index("</table>")], re.DOTALL)
    assert [re.findall(r">(near|far)<", row) for row in rows] == [["far"], ["near"]]
    assert "<details>" not in table[: table.index("<table")]
    receivers = pl.read_parquet(runs["group"] / "receivers.parquet").sort("throughput_bps")
    assert receivers["node"].to_list() == ["far", "near"]


def test_a_page_of_sdn_says_what_the_controller_did(runs: dict[str, Path]) -> None:
    page = report.write(runs["sdn"]).read_text(encoding="utf-8")
    section = page[page.index("What the controller did</h2>") :]
    section = section[: section.index("</table>")]
    events = pl.read_parquet(runs["sdn"] / "events.parquet")
    commands = events.filter(pl.col("event") == "command_sent")
    moves = events.filter(pl.col("event").is_in(["prefix_moved", "route_moved"]))
    assert f"gave {commands.height} command" in section
    assert f"moved traffic {moves.height} time" in section
    for node in commands["text"]:
        assert f"controller commands {node.removeprefix('node.')}" in section
    for row in moves.to_dicts():
        assert f"{row['subject'].removeprefix('node.')} moves {row['text']}" in section
    assert "The diamond is the SDN controller" in page
    assert ">Nodes</h2>" in page


def test_a_comparison_draws_every_run_in_its_colour(
    look: Callable[..., dict[Path, Seen]], runs: dict[str, Path], tmp_path: Path
) -> None:
    named = {name: tw.Result.load(runs[name]) for name in ("cubic", "bbr", "group")}
    page = report.compare(list(named.items()), tmp_path / "compare.html")
    seen = look(page)[page]
    assert seen["problems"] == []
    assert ">cubic, bbr and group compared</h1>" in page.read_text(encoding="utf-8")
    [bars] = charts_of(seen, "throughput-of-groups")
    colours = {line["label"]: line["colour"] for line in bars["lines"]}
    assert len(set(colours.values())) == 3
    both = set.intersection(*(set(run.series["series"].unique()) for run in named.values()))
    assert both == {"rate", "throughput", "utilisation", "backlog"}
    for series in both:
        [chart] = charts_of(seen, series)
        drawn = {line["name"]: line for line in chart["lines"]}
        for name, run in named.items():
            subjects = [key.partition("/")[2] for key in drawn if key.startswith(f"{name}/")]
            assert subjects, (series, name)
            for subject in subjects:
                line = drawn[f"{name}/{subject}"]
                same(line["points"], points_of(run, series, subject), (series, name, subject))
                assert line["colour"] == colours[name]
                assert line["label"].startswith(name)
        has_title_and_unit(chart, plots.unit_of(series)[0])
        values = [y for line in chart["lines"] for _, y in line["points"]]
        assert max(values) <= chart["y"][1] <= 1.2 * max(values)


def test_the_change_of_two_runs_is_in_sight_on_a_phone(
    look: Callable[..., dict[Path, Seen]], runs: dict[str, Path], tmp_path: Path
) -> None:
    named = {
        f"bottleneck.buffer={size}packets,scheme={name}": tw.Result.load(runs[name])
        for size, name in ((1000, "cubic"), (10, "bbr"))
    }
    page = report.compare(list(named.items()), tmp_path / "compare.html")
    assert 'class="compared"' in page.read_text(encoding="utf-8")
    assert look(page)[page]["problems"] == []


def test_a_series_that_is_zero_all_the_time_is_seen(
    look: Callable[..., dict[Path, Seen]], tmp_path: Path
) -> None:
    scenario = tw.Scenario(
        duration="4 s",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="10 ms")),
        flows=[tw.Flow(name="a", source={"kind": "constant", "rate": "1 Mbit/s"})],
        record=tw.Record(series=["backlog", "drops", "rate"]),
    )
    scenario.run(out=tmp_path / "run")
    page = report.write(tmp_path / "run")
    seen = look(page)[page]
    assert seen["problems"] == []
    [chart] = charts_of(seen, "drops")
    assert chart["lines"]
    assert all(y == 0 for line in chart["lines"] for _, y in line["points"])
    assert chart["y"] == [pytest.approx(-0.03), 1]
    [chart] = charts_of(seen, "rate")
    assert chart["y"][0] == 0


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over three keys with three seeds."""
    folder = tmp_path_factory.mktemp("swept")
    (folder / "load.toml").write_text(SWEEP, encoding="utf-8")
    words = ["run", str(folder / "load.toml"), "--runs", "3", "--out", str(folder / "study")]
    subprocess.run([sys.executable, "-m", "thalweg", *words], check=True, capture_output=True)
    return folder / "study"


def test_a_page_of_a_sweep_draws_its_means_and_its_distributions(
    look: Callable[..., dict[Path, Seen]], swept: Path
) -> None:
    page = report.write(swept)
    seen = look(page)[page]
    assert seen["problems"] == []
    record = json.loads((swept / "sweep.json").read_text(encoding="utf-8"))
    keys = record["keys"]
    summary = pl.read_parquet(swept / "summary.parquet")
    for metric in record["metrics"]:
        [chart] = charts_of(seen, metric)
        factor = unit_of(metric)[1]
        rows = summary.filter(pl.col("metric") == metric).to_dicts()
        expected = {f"{row[keys[0]]}, {row[keys[1]]}, {row[keys[2]]}": row["mean"] * factor for row in rows}
        # eight lines are a heat map first
        drawn = {line["label"]: line["values"][0] for line in chart["lines"]}
        assert drawn == {label: pytest.approx(value) for label, value in expected.items()}, metric
        assert [chart["x"], chart["y"]] == [[-0.5, 2.5], [-0.5, 7.5]]
    # completion times: the median over the seeds at each share
    done = tw.SweepResult.load(swept)
    charts = charts_of(seen, "times-short")
    assert sum(len(chart["lines"]) for chart in charts) == 24
    assert {chart["xLabel"] for chart in charts} == {"flow completion time (s)"}
    checked = 0
    # eight lines in each of three panels; twelve in one of two would be too many
    for panel, load in enumerate(("2 Mbit/s", "5 Mbit/s", "8 Mbit/s")):
        for line in charts[panel]["lines"]:
            buffer, queue = line["label"].split(", ")
            point = {keys[0]: load, keys[1]: buffer, keys[2]: queue}
            seeds = [
                sorted(run.result.flows.filter(pl.col("group") == "short")["fct_s"].drop_nulls())
                for run in done.runs
                if run.values == point
            ]
            assert len(seeds) == 3
            for time, share in line["points"]:
                percentiles = sorted(times[math.ceil(round(share * len(times), 9)) - 1] for times in seeds)
                assert time == pytest.approx(percentiles[1]), (point, share)
                checked += 1
    assert checked > 500


def test_lines_of_a_sweep_differ(swept: Path) -> None:
    text = report.write(swept).read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="thalweg-grids">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    for chart in data["charts"]:
        kinds = [(line["colour"], tuple(line["dash"])) for line in chart["lines"]]
        assert len(set(kinds)) == len(kinds) == 8


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reproduced paper, with figures as papers draw them, also with errors below a logarithmic axis."""
    folder = tmp_path_factory.mktemp("paper") / "mca"
    times = [0.5 * step for step in range(40)]
    over_time, axes = _plot.panels(1, 2)
    for number in (0, 1):
        _plot.steps(axes[0][number], times, [20.0 - time for time in times], "second", colour=1)
        _plot.finish(
            axes[0][number],
            f"({'ab'[number]}) A title that is longer than its panel",
            "rate (Mbit/s)" * (number == 0),
        )
    bars, axes = _plot.panels(1, 1)
    heights = {
        "Reno": ([2.0, 30.0], [(-3.0, 7.0), (29.5, 30.5)]),
        "CUBIC": ([4.0, 500.0], [(3.5, 4.5), (499.5, 500.5)]),
    }
    names = ["a buffer of half a product", "a buffer of four products"]
    _plot.bars(axes[0][0], names, heights, paper={"Reno": [2.5, None]})
    axes[0][0].set_yscale("log")
    axes[0][0].set_ylim(1, 1000)
    _plot.finish(axes[0][0], "Throughput", "throughput (Mbit/s)", x="buffer")
    drawn = {
        name: SimpleNamespace(title=f"About {name}", caption="", svg=_plot.svg(figure, name, name), tables={})
        for name, figure in {"figure-1": over_time, "figure-2": bars}.items()
    }
    done = SimpleNamespace(figures=drawn, tables={})
    claims = [
        {
            "id": f"S004-0{number}",
            "statement": "CUBIC is faster than Reno.",
            "source": "Section 4",
            "evidence": evidence,
            "verdict": verdict,
            "expected": "above 1",
            "measured": 1.05,
            "ci95": 0.1,
            "low": 0.95,
            "high": 1.15,
            "n": 3,
            "unit": "1",
            "reason": "It is not.",
            "ratios": {"CUBIC over Reno": 1.05},
        }
        for number, (evidence, verdict) in enumerate(
            [("independent", "reproduced"), ("fitted", "not reproduced"), ("derived", "reproduced")]
        )
    ]
    verdicts = ("reproduced", "partly", "not reproduced", "not testable")
    done.as_dict = lambda: {
        "paper": "mca",
        "title": "A paper",
        "quick": True,
        "seed": 1,
        "counts": {"fitted": 0},
        "by_evidence": {
            evidence: {
                verdict: sum(
                    claim["evidence"] == evidence and claim["verdict"] == verdict for claim in claims
                )
                for verdict in verdicts
            }
            for evidence in ("independent", "fitted", "derived")
        },
        "notes": [],
        "choices": {},
        "claims": claims,
        "figures": [
            {"id": name, "title": one.title, "caption": "Two flows.", "marks": name == "figure-2"}
            for name, one in drawn.items()
        ],
        "tables": [],
        "runs": [],
    }
    report.save_reproduction(done, folder)
    return folder


def test_pages_of_papers_draw_their_figures_and_agree_in_their_counts(
    look: Callable[..., dict[Path, Seen]], paper: Path
) -> None:
    own, overview = report.write(paper), report.save_papers(["mca"], paper.parent)
    seen = look(own, overview)
    assert [seen[page]["problems"] for page in (own, overview)] == [[], []]
    left, right = charts_of(seen[own], "figure-1")
    assert left["yLabel"] == right["yLabel"] == "rate (Mbit/s)"
    for panel in (left, right):
        same(panel["lines"][0]["points"], [(0.5 * step, 20.0 - 0.5 * step) for step in range(40)], panel)
    [bars] = charts_of(seen[own], "figure-2")
    heights = {
        line["label"]: [y for _, y in line["points"]] for line in bars["lines"] if line["name"] == "bar"
    }
    assert heights == {"Reno": pytest.approx([2.0, 30.0]), "CUBIC": pytest.approx([4.0, 500.0])}
    # the bar and the buttons count the same rows, the others are in a table of their own
    text = own.read_text(encoding="utf-8")
    assert '"reproduced" aria-pressed="false">reproduced 1<' in text
    assert 'title="1 reproduced"' in text
    assert "1 row that is no result of the paper" in text
    # the overview leads to claims and figures, and does not repeat them
    text = overview.read_text(encoding="utf-8")
    assert 'href="mca/report.html#S004-01"' in text
    assert 'href="mca/report.html#figure-2"' in text
    assert "measured / printed" in text
    assert "A red dot in the shade" in text
    assert "It is not." not in text


def test_a_report_card_has_bars_of_what_applies_and_names_its_references(
    look: Callable[..., dict[Path, Seen]], tmp_path: Path
) -> None:
    rows = [word for row in ("rfc9743/6.3-wired", "rfc9743/5.3.1") for word in ("--row", row)]
    words = ["evaluate", "vegas", "--quick", *rows, "--against", "cubic,reno", "--out", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "thalweg", *words], check=True, capture_output=True)
    page = tmp_path / "report.html"
    assert look(page)[page]["problems"] == []
    text = page.read_text(encoding="utf-8")
    assert 'data-label="references"' in text
    assert "measured / paper" not in text
    bars = re.findall(r'<div class="bar".*?</div>', text, re.DOTALL)
    assert bars
    assert all("not applicable" not in bar for bar in bars)


FAULTS = {
    "a canvas without its lines": (
        "for (const one of document.querySelectorAll('canvas')) one.getContext('2d').clearRect(0, 0, 9999, 9999);",
        "points of late are not on the screen",
    ),
    "a coordinate that is NaN": (
        "document.querySelector('[data-chart=shares] svg polyline').setAttribute('points', '397.55,NaN 3,4');",
        "has points=",
    ),
    "a legend that is too tall": (
        "document.querySelector('[data-chart=rate] .legend').style.height = '900px';",
        "the legend takes",
    ),
    "a table that is cut": (
        "document.querySelector('main table').parentElement.style.cssText = 'width: 90px; overflow: hidden';",
        "hides",
    ),
    "a scroller without a sign": (
        "document.querySelector('main table').parentElement.style.cssText = 'width: 90px; background: none';",
        "scrolls sideways without a sign",
    ),
    "text that is cut": (
        "document.querySelector('[data-chart=shares] svg text').setAttribute('transform', 'translate(-400 40)');",
        "is cut",
    ),
}


def test_the_check_finds_what_is_wrong(
    look: Callable[..., dict[Path, Seen]], runs: dict[str, Path], tmp_path: Path
) -> None:
    text = report.write(runs["cubic"]).read_text(encoding="utf-8")
    # repeatedly, since charts are redrawn
    wait = "setInterval(() => { if (document.documentElement.dataset.charts) { SCRIPT } }, 5);"
    pages = {}
    for name, (script, _) in FAULTS.items():
        pages[name] = tmp_path / f"{name}.html"
        pages[name].write_text(
            text.replace("</body>", f"<script>{wait.replace('SCRIPT', script)}</script></body>"),
            encoding="utf-8",
        )
    seen = look(*pages.values())
    for name, (_, words) in FAULTS.items():
        assert any(words in problem for problem in seen[pages[name]]["problems"]), (
            name,
            seen[pages[name]]["problems"][:3],
        )
