"""The page of a run in a browser: what a reader does with pointer and keyboard, held against the tables of the run."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import thalweg as tw
from thalweg import report
from thalweg_papers import _plot

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


GROUP = """
title = "A group whose members come and go"
duration = "8 s"
[topology]
kind = "custom"
links = [
  { name = "up", ends = ["source", "r0"], rate = "10 Mbit/s", delay = "1 ms", buffer = "50 packets" },
  { name = "r1", ends = ["r0", "r1"], like = "up" },
  { name = "near", ends = ["r1", "near"], like = "up" },
  { name = "far", ends = ["r1", "far"], like = "up" },
]
[[flows]]
name = "video"
source = { kind = "constant", rate = "1 Mbit/s" }
from = "source"
to = ["near", "far"]
[[events]]
at = "4 s"
flow = "video"
node = "far"
action = "leave"
[[events]]
at = "6 s"
flow = "video"
node = "far"
action = "join"
[[events]]
at = "6 s"
flow = "video"
node = "near"
action = "leave"
[record]
every = "100 ms"
series = ["rate", "throughput", "utilisation"]
events = true
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

    def drive(page, *what):
        command = ["node", "browser/page.mjs", browser, str(page), *what]
        done = subprocess.run(command, cwd=web, capture_output=True, text=True, timeout=1800)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return drive


@pytest.fixture(scope="module")
def seen(drive, tmp_path_factory):
    """The run, and what the browser saw of its page."""
    run = tmp_path_factory.mktemp("page") / "run"
    tw.Scenario.from_toml(SCENARIO).run().save(run)
    return run, drive(report.write(run))


def everybody_can_use(saw):
    """Nothing fails; axe-core finds nothing in light and dark and on a phone; the keyboard reaches and shows every stop."""
    assert saw["problems"] == []
    assert {kind: saw[kind] for kind in ("light", "dark", "phone", "keyboard") if saw[kind]} == {}
    assert saw["overflow"] <= 0


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


def test_nodes_are_arranged_and_dragged_with_their_neighbours(seen):
    _, saw = seen
    at_rest = dict.fromkeys(saw["arranged"], "translate(0.00 0.00)")
    assert len(at_rest) > 2
    assert saw["restored"] == at_rest
    assert all(saw["arranged"][node] != where for node, where in at_rest.items())
    assert all(saw["dragged"][node] != where for node, where in at_rest.items())


POINT = re.compile(r"(.+), (?:mean )?queueing delay \(ms\) (\S+): (\S+) (?:mean )?throughput.*\(Mbit/s\)")
"""What a chart of throughput over delay says of a point: name, milliseconds, megabits per second."""


def told(scatter):
    """The points of a scatter, in the order of their drawing: name, milliseconds, megabits per second."""
    found = [POINT.fullmatch(text) for text in scatter["said"]]
    assert all(found), scatter["said"]
    return [(one[1], plain(one[2]), plain(one[3])) for one in found]


def test_the_throughput_and_delay_of_each_flow_are_those_of_the_table(seen):
    run, saw = seen
    rows = pl.read_parquet(run / "flows.parquet").to_dicts()
    assert saw["scatter"]["ellipses"] == 0
    for row, (name, delay, throughput) in zip(rows, told(saw["scatter"]), strict=True):
        assert name == row["flow"]
        assert delay == pytest.approx(1e3 * row["queueing_delay_s"], rel=1e-3)
        assert throughput == pytest.approx(row["throughput_bps"] / 1e6, rel=1e-3)


def test_a_controller_moves_a_flow_before_the_eyes_of_the_reader(drive, tmp_path):
    scenario = ROOT / "scenarios" / "does-a-controller-move-a-flow.toml"
    tw.load(scenario).run().save(tmp_path / "run")
    saw = drive(report.write(tmp_path / "run"), "watch", "r1")
    everybody_can_use(saw)
    events = pl.read_parquet(tmp_path / "run" / "events.parquet")
    commands = events.filter(pl.col("event") == "command_sent")
    moves = events.filter(pl.col("event") == "prefix_moved")
    assert commands.height == moves.height == 1
    [moment] = saw["moments"]
    assert moment["at"] == pytest.approx(moves["time_s"][0], abs=1e-3)
    assert f"controller commands {commands['text'][0].removeprefix('node.')}" in moment["words"]
    assert f"r1 moves {moves['text'][0]} to long1" in moment["words"]
    # the command on its way, and the link that the prefix takes now
    assert moment["orders"] == 2
    # the picture has the sample of the nearest time
    pending = series(tmp_path / "run", "pit", "node.r1")
    near = pending.filter((pl.col("time_s") - moment["at"]).abs() <= 0.1 + 1e-9)
    assert moment["pending"]["r1"] in near["value"].to_list()
    assert near["value"].min() > 0
    assert "Pending Interests" in saw["node"]


def test_the_tree_of_a_group_is_shown_as_members_come_and_go(drive, tmp_path):
    tw.Scenario.from_toml(GROUP).run().save(tmp_path / "run")
    saw = drive(report.write(tmp_path / "run"), "watch", "far")
    everybody_can_use(saw)
    assert "Throughput" in saw["node"]
    whole = {"link.up", "link.r1", "link.near", "link.far"}
    trees = {moment["at"]: set(moment["tree"]) for moment in saw["moments"]}
    assert trees == {4: whole - {"link.far"}, 6: {"link.up", "link.r1", "link.far"}}


def test_changes_of_a_tree_are_events_of_its_links(tmp_path):
    tw.Scenario.from_toml(GROUP).run().save(tmp_path / "run")
    events = pl.read_parquet(tmp_path / "run" / "events.parquet")
    changes = events.filter(pl.col("event").str.starts_with("branch_")).select(
        "time_s", "subject", "event", "text"
    )
    assert set(changes["text"]) == {"flow.video"}
    added = changes.filter(pl.col("event") == "branch_added")
    assert added.filter(pl.col("time_s") < 1)["subject"].to_list() == [
        "link.up",
        "link.r1",
        "link.near",
        "link.far",
    ]
    assert changes.filter(pl.col("time_s") >= 1).rows() == [
        (4.0, "link.far", "branch_removed", "flow.video"),
        (6.0, "link.near", "branch_removed", "flow.video"),
        (6.0, "link.far", "branch_added", "flow.video"),
    ]


def test_the_network_can_be_played_without_a_pointer(seen):
    _, saw = seen
    assert saw["stepped"] > saw["packetTime"]


def test_everybody_can_use_the_page_of_a_run(seen):
    _, saw = seen
    everybody_can_use(saw)


def test_many_lines_move_as_a_picture_and_are_drawn_when_they_rest(drive, tmp_path):
    text = SCENARIO.replace('name = "reno"\n', 'name = "reno"\ncount = 40\nstart_spread = "1 s"\n')
    text = re.sub(r"series = .*", 'series = ["rate"]', text).replace('"20 s"', '"12 s"')
    tw.Scenario.from_toml(text).run().save(tmp_path / "run")
    saw = drive(report.write(tmp_path / "run"), "move")
    assert saw["problems"] == []
    # each key changes the visible time
    assert len({span for span, _ in saw["moving"]}) >= 4
    # none draws more of the 41 lines than two ends without a value
    assert max(points for _, points in saw["moving"]) <= 2 * 41
    assert saw["resting"] > 41 * 20


def test_the_page_of_a_sweep_has_the_values_of_its_table(drive, tmp_path):
    scenario = tmp_path / "sweep.toml"
    scenario.write_text(SWEEP, encoding="utf-8")
    folder = tmp_path / "swept"
    command = [sys.executable, "-m", "thalweg", "run", str(scenario), "--runs", "3", "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    saw = drive(report.write(folder))
    everybody_can_use(saw)
    rows = pl.read_parquet(folder / "summary.parquet").filter(pl.col("metric") == "flows.throughput")
    expected = {
        (row["topology.bottleneck.buffer"], row["flows.a.scheme"]): (
            row["mean"] / 1e6,
            (row["high"] - row["low"]) / 2e6,
        )
        for row in rows.to_dicts()
    }
    assert len(saw["hovers"]) == len(expected) == 4
    for text in saw["hovers"]:
        found = re.fullmatch(r"(.+) · (\S+): (\S+) ± (\S+) \(n = 3\)", text)
        assert found, text
        mean, interval = expected[found[1], found[2]]
        # to the digits of the half width, which has one or two
        assert plain(found[3]) == pytest.approx(mean, rel=1e-3, abs=0.05 * interval)
        assert plain(found[4]) == pytest.approx(interval, rel=0.5)
    assert saw["drawn"] == [4, 2]
    # box plots over the three seeds of each point
    assert len(saw["boxes"]) == 4
    record = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
    for text in saw["boxes"]:
        found = re.fullmatch(
            r"(.+) · (\S+): median (\S+), quartiles \S+ to \S+, values (\S+) to (\S+) \(n = 3\)", text
        )
        assert found, text
        point = {"topology.bottleneck.buffer": found[1], "flows.a.scheme": found[2]}
        values = sorted(
            run["metrics"]["flows.throughput"] / 1e6 for run in record["runs"] if run["values"] == point
        )
        assert [plain(found[number]) for number in (4, 3, 5)] == pytest.approx(values, rel=1e-3)
    # throughput over delay: three runs of each point, in an ellipse
    assert saw["scatter"]["ellipses"] == 4
    names = [name for name, _, _ in told(saw["scatter"])]
    assert names == [", ".join(point) for point in expected for _ in range(3)]
    lines = saw["csv"].strip().splitlines()[1:]
    assert {tuple(line.split(",")[:2]): float(line.split(",")[2]) for line in lines} == {
        point: pytest.approx(mean) for point, (mean, _) in expected.items()
    }


@pytest.fixture(scope="module")
def compared(drive, tmp_path_factory):
    """Three runs of each of two schemes, which differ by their seeds, and what the browser saw of their comparison."""
    folder = tmp_path_factory.mktemp("compared")
    runs = {}
    for scheme in ("reno", "cubic"):
        text = SCENARIO.replace('name = "cubic"\nscheme = "cubic"', f'name = "other"\nscheme = "{scheme}"')
        text = text.replace('"20 s"', '"12 s"').replace('start = "1 s"', 'start_spread = "1 s"')
        for seed in (1, 2, 3):
            place = folder / scheme / f"seed={seed}"
            tw.Scenario.from_toml(text).run(seed=seed).save(place)
            runs[f"{scheme}/seed={seed}"] = tw.Result.load(place)
    return runs, drive(report.compare(list(runs.items()), folder / "compare.html"))


def test_the_charts_of_a_comparison_have_the_values_of_their_runs(compared):
    runs, saw = compared
    assert saw["problems"] == []
    assert saw["charts"] == 5
    said = re.search(r"at (\S+) s", saw["hover"])
    time = plain(said[1])
    rows = runs["cubic/seed=1"].series.filter(
        (pl.col("series") == "rate")
        & (pl.col("subject") == "flow.other")
        & ((pl.col("time_s") - time).abs() < 1e-3)
    )
    shown = plain(re.search(r"cubic/seed=1: other\s+(\S+)", saw["hover"])[1])
    assert shown == pytest.approx(rows["value"].item() / 1e6, rel=1e-3)
    # the pointer is over one chart; the others show the same time
    assert said[0] in saw["hoverOther"]
    assert saw["whole"] == saw["again"] == "0 to 12 s"
    assert saw["zoomed"] != saw["whole"]
    assert '"cubic/seed=1": "cubic/seed=1"' in saw["python"]
    assert 'comparison.overlay(runs, "rate")' in saw["python"]
    assert saw["csv"].startswith("time_s,")


def test_a_comparison_has_a_box_per_scenario_over_its_seeds(compared):
    runs, saw = compared
    assert len(saw["boxes"]) == 2
    for scheme, text in zip(("reno", "cubic"), saw["boxes"], strict=True):
        values = sorted(run.values["flows.fairness"] for name, run in runs.items() if name.startswith(scheme))
        found = re.fullmatch(
            rf"{scheme}: median (\S+), quartiles \S+ to \S+, values (\S+) to (\S+) \(n = 3\)", text
        )
        assert found, text
        assert [plain(found[number]) for number in (2, 1, 3)] == pytest.approx(values, rel=1e-3)


def test_a_comparison_has_an_ellipse_per_group_and_scenario(compared):
    runs, saw = compared
    assert saw["scatter"]["ellipses"] == 4
    expected = {}
    for name, run in runs.items():
        for group in ("reno", "other"):
            pair = (run[f"flows.{group}.queueing_delay"] * 1e3, run[f"flows.{group}.throughput"] / 1e6)
            expected.setdefault(f"{group}, {name.partition('/')[0]}", []).append(pair)
    shown = {}
    for name, *pair in told(saw["scatter"]):
        shown.setdefault(name, []).append(pair)
    assert shown.keys() == expected.keys()
    for name, pairs in expected.items():
        assert np.array(sorted(shown[name])) == pytest.approx(np.array(sorted(pairs)), rel=1e-3), name


def test_everybody_can_use_a_comparison(compared):
    _, saw = compared
    everybody_can_use(saw)


TIMES = np.arange(0.0, 20.0, 0.5)


def paper_figures():
    """Figures as papers draw them: lines over time in two panels, bars beside printed values, and one that is a picture."""
    over_time, axes = _plot.panels(2, 1)
    for number in (0, 1):
        _plot.shade(axes[number][0], [(5.0, 10.0)])
        mean = TIMES + number
        _plot.band(axes[number][0], TIMES, mean, mean - 0.5, mean + 0.5, "first", colour=0)
        _plot.steps(axes[number][0], TIMES, 20.0 - TIMES, "second", colour=1)
        axes[number][0].axhline(3.0, color=_plot.FAINT, linestyle="--")
        _plot.finish(axes[number][0], f"({'ab'[number]}) Rates", "rate (Mbit/s)")
    bars, axes = _plot.panels(1, 1)
    heights = {
        "Reno": ([2.0, 3.0], [(1.75, 2.25), (2.5, 3.5)]),
        "CUBIC": ([4.0, 5.0], [(3.5, 4.5), (4.5, 5.5)]),
    }
    _plot.bars(axes[0][0], ["small", "large"], heights, paper={"Reno": [2.5, None]})
    _plot.finish(axes[0][0], "Throughput", "throughput (Mbit/s)", x="buffer")
    words, axes = _plot.panels(1, 1)
    _plot.steps(axes[0][0], TIMES, TIMES, "line")
    axes[0][0].text(5.0, 5.0, "a word in the panel")
    _plot.finish(axes[0][0], "With words", "rate (Mbit/s)")
    return {"figure-1": over_time, "figure-2": bars, "words": words}


@pytest.fixture(scope="module")
def paper(drive, tmp_path_factory):
    """A paper's page and what the browser saw of it."""
    folder = tmp_path_factory.mktemp("paper")
    drawn = {
        name: SimpleNamespace(title=f"About {name}", caption="", svg=_plot.svg(figure, name, name), tables={})
        for name, figure in paper_figures().items()
    }
    done = SimpleNamespace(figures=drawn, tables={})
    done.as_dict = lambda: {
        "paper": "mca",
        "title": "A paper",
        "quick": True,
        "seed": 1,
        "counts": {},
        "notes": [],
        "choices": {},
        "claims": [],
        "figures": [{"id": name, "title": one.title, "caption": "Two flows."} for name, one in drawn.items()],
        "tables": [],
        "runs": [],
    }
    report.save_reproduction(done, folder)
    return folder, drive(report.write(folder))


def test_the_figures_of_a_paper_have_their_values_and_the_printed_ones(paper):
    folder, saw = paper
    assert saw["problems"] == []
    # the one with words in it stays a picture
    assert saw["charts"] == 2
    assert not (folder / "figures" / "words.json").exists()
    found = re.search(r"(first|second), time \(s\) (\S+): (\S+)", saw["hover"])
    expected = plain(found[2]) + 1.0 if found[1] == "first" else 20.0 - plain(found[2])
    assert plain(found[3]) == pytest.approx(expected, abs=1e-3)
    assert any("Reno, buffer small: 2.00 ± 0.25" in text for text in saw["bars"])
    assert any("CUBIC, buffer large: 5.0 ± 0.5" in text for text in saw["bars"])
    assert any("2.5" in text and "printed in the paper" in text for text in saw["printed"])
    rows = [line.split(",") for line in saw["csv"].strip().splitlines()[1:]]
    first = [row for row in rows if row[:3] == ["(b) Rates", "line", "first"]]
    assert [float(row[4]) for row in first] == pytest.approx((TIMES + 1).tolist())
    assert saw["svg"].startswith("<svg")
    assert saw["pdf"] == "%PDF-"
    assert 'papers.find("mca")' in saw["python"]


def test_the_panels_of_a_figure_are_zoomed_together(paper):
    _, saw = paper
    assert saw["ticksBefore"][0] == saw["ticksBefore"][1]
    assert saw["ticksZoomed"][0] == saw["ticksZoomed"][1] != saw["ticksBefore"][0]
    assert saw["ticksKey"][0] != saw["ticksBefore"][0]
    assert saw["ticksAgain"] == saw["ticksBefore"]


def test_the_legend_of_a_figure_hides_a_line_in_all_panels(paper):
    _, saw = paper
    assert saw["lines"][1] < saw["lines"][0]
    # with the line goes its band, in both panels
    assert saw["areas"] == [2, 0]


def test_everybody_can_use_the_page_of_a_paper(paper):
    folder, saw = paper
    everybody_can_use(saw)
    assert (folder / "report.html").stat().st_size < 400_000


def test_a_long_page_folds_what_is_settled_and_opens_it_for_links_filters_and_paper(drive, paper, tmp_path):
    folder, _ = paper
    shutil.copytree(folder, tmp_path / "long")
    file = tmp_path / "long" / "reproduction.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    verdicts = ["reproduced"] * 9 + ["not reproduced", "not testable", "partly"]
    record["claims"] = [
        {
            "id": f"S-{number:02}",
            "statement": f"Statement number {number}.",
            "source": "Section 4",
            "verdict": verdict,
            "expected": "above 1",
            "checks": [],
        }
        for number, verdict in enumerate(reversed(verdicts))
    ]
    counts = {verdict: verdicts.count(verdict) for verdict in verdicts}
    record["counts"] = counts
    record["figures"] += [{**record["figures"][2], "id": "more"}]
    record["choices"] = {f"key{number}": "this reading" for number in range(4)}
    file.write_text(json.dumps(record), encoding="utf-8")
    saw = drive(report.write(tmp_path / "long"), "fold")
    everybody_can_use(saw)
    names = ["not reproduced 1 row", "partly 1 row", "not testable 1 row", "reproduced 9 rows"]
    names += [
        "Figure 1: About figure-1",
        "Figure 2: About figure-2",
        "About words",
        "About words",
        "4 choices",
    ]

    def pieces(claims, figures=("open", *["folded"] * 3)):
        return [list(pair) for pair in zip(names, [*claims, *figures, "folded"], strict=True)]

    at_first = pieces(["open", "open", "folded", "folded"])
    found = saw["pieces"]
    assert found["first"] == at_first
    assert found["filtered"] == pieces(["hidden", "hidden", "hidden", "open"])
    assert found["unfiltered"] == at_first
    # the last of the reversed rows is one of those that are reproduced
    assert found["searched"] == pieces(["hidden", "hidden", "hidden", "open"])
    assert saw["rows"] == 1
    assert found["unsearched"] == at_first
    assert saw["printed"]
    assert found["afterPrint"] == at_first
    assert found["linked"] == pieces(
        ["open", "open", "folded", "folded"], ["open", "open", "folded", "folded"]
    )
    assert saw["width"] > 300, "a figure that was folded has the width of the page"
    assert saw["inView"]
    assert saw["word"] == "unfold all 4 figures"
    claims = ["open", "open", "folded", "open"]
    assert found["unfolded"] == pieces(claims, ["open"] * 4)
    assert found["foldedAgain"] == pieces(claims, ["folded"] * 4)


def test_everybody_can_use_the_page_of_all_papers(drive, paper, tmp_path):
    folder, _ = paper
    shutil.copytree(folder, tmp_path / "mca")
    file = tmp_path / "mca" / "reproduction.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    for entry in record["figures"]:
        entry["marks"] = entry["id"] != "figure-1"
    claim = {
        "id": "S004-01",
        "statement": "CUBIC is faster than Reno.",
        "source": "Section 4",
        "evidence": "independent",
        "verdict": "reproduced",
        "expected": "above 1",
        "measured": 1.6,
        "low": 1.5,
        "high": 1.7,
        "limit": ">= 1",
        "checks": [{"check": "ratio >= 1", "mean": 1.6, "holds": True, "text": "ratio 1.6 ± 0.1, limit ≥ 1"}],
        "n": 3,
        "unit": "1",
        "ratios": {"CUBIC over Reno": 1.06},
    }
    file.write_text(
        json.dumps({**record, "counts": {"reproduced": 1, "fitted": 0}, "claims": [claim]}), encoding="utf-8"
    )
    saw = drive(report.save_papers(["mca"], tmp_path), "read")
    everybody_can_use(saw)
    # figures are on the papers' own pages
    assert saw["interactive"] == []


def test_everybody_can_use_a_report_card(drive, tmp_path):
    rows = [word for row in ("rfc9743/6.3-wired", "rfc9743/5.3.1") for word in ("--row", row)]
    words = ["evaluate", "vegas", "--quick", *rows, "--against", "cubic,reno", "--out", str(tmp_path)]
    command = [sys.executable, "-m", "thalweg", *words]
    subprocess.run(command, check=True, capture_output=True)
    everybody_can_use(drive(tmp_path / "report.html", "read"))
