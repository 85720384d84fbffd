"""The interactive charts of a run's page: their data equal the tables, and their script is what `web/` builds."""

import base64
import gzip
import json
import re
import shutil
import struct
import subprocess
from pathlib import Path

import polars as pl
import pytest

import thalweg as tw
from thalweg import cli, report

ROOT = Path(__file__).resolve().parents[2]
ASSET = ROOT / "python" / "thalweg" / "report" / "assets" / "charts.js"
SCENARIO = """
title = "A </script> in the title"
duration = "4 s"
warmup = "1 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", buffer = "20 packets" }
[[flows]]
name = "reno"
scheme = "reno"
count = 2
[[flows]]
name = "late"
scheme = "cubic"
start = "2 s"
[record]
every = "100 ms"
series = ["rate", "window"]
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A run folder and the header of its page's charts."""
    folder = tmp_path_factory.mktemp("charts")
    file = folder / "charts.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    run = folder / "run"
    tw.load(file).run().save(run)
    text = report.write(run).read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="thalweg-charts">(.*?)</script>', text, re.DOTALL)
    assert found
    return run, json.loads(found[1]), text


def decoded(header):
    raw = gzip.decompress(base64.b64decode(header["bytes"]))
    return struct.unpack(f"<{len(raw) // 8}d", raw)


def test_the_data_are_those_of_the_table(page):
    run, header, _ = page
    numbers = decoded(header)
    series = pl.read_parquet(run / "series.parquet")
    assert {chart["name"] for chart in header["charts"]} == set(series["series"].unique())
    for chart in header["charts"]:
        times, *columns = [numbers[first : first + length] for first, length in chart["columns"]]
        seen = {
            (subject["name"], time): value
            for subject, column in zip(chart["subjects"], columns, strict=True)
            for time, value in zip(times, column, strict=True)
            if value == value
        }
        rows = series.filter(pl.col("series") == chart["name"])
        assert seen == {(row["subject"], row["time_s"]): row["value"] for row in rows.to_dicts()}


def test_flows_have_their_group_and_the_warmup_is_included(page):
    _, header, _ = page
    rate = next(chart for chart in header["charts"] if chart["name"] == "rate")
    groups = {subject["label"]: subject["group"] for subject in rate["subjects"]}
    assert groups["reno.1"] == groups["reno.2"] == "reno"
    assert header["warmup_s"] == 1.0


def test_a_page_contains_its_pictures_and_loads_nothing_from_the_network(page):
    _, _, text = page
    assert re.findall(r'<div [^>]*data-chart="(\w+)"', text) == ["rate", "window", "shares", "scatter"]
    assert text.count("<svg") >= 3
    assert not re.search(r'(src|href)="(https?:)?//', text)
    assert "A \\u003c/script>" in text


def test_the_script_is_small():
    assert ASSET.stat().st_size < 400_000


@pytest.mark.processes
def test_the_script_equals_the_build_of_web(tmp_path):
    if not shutil.which("npm"):
        pytest.skip("npm is missing")
    web = tmp_path / "web"
    shutil.copytree(ROOT / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--silent"], cwd=web, check=True)
    for command in (
        ("npm", "run", "--silent", "check"),
        ("npm", "run", "--silent", "test"),
        ("npx", "vite", "build"),
    ):
        done = subprocess.run(command, cwd=web, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    built = tmp_path / "python" / "thalweg" / "report" / "assets"
    for name in ("charts.js", "charts.licenses.md"):
        same = (built / name).read_bytes() == (ASSET.parent / name).read_bytes()
        assert same, f"{name}: run `npm ci && npm run build` in web/"


def test_every_bundled_library_has_its_notice():
    package = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    everywhere = set()
    for place, page in (("report/assets/charts", "js"), ("studio/studio", "html")):
        notices = ROOT / "python" / "thalweg" / f"{place}.licenses.md"
        found = {
            (section.split()[0], section.split()[2]): section
            for section in re.split(r"^## ", notices.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        }
        for (name, version), text in found.items():
            assert lock[f"node_modules/{name}"]["version"] == version
            assert "copyright" in text.lower(), name
            assert "permission" in text.lower(), name
        # who passes on a page passes on the notices
        text = notices.with_name(f"{notices.name.split('.')[0]}.{page}").read_text(encoding="utf-8")
        assert notices.read_text(encoding="utf-8").strip() in text
        # svelte is compiled in although it is a tool
        assert {"svelte", "uplot"} <= {name for name, _ in found}
        everywhere |= {name for name, _ in found}
    assert set(package["dependencies"]) <= everywhere


def test_a_page_has_the_notices_of_its_libraries(page):
    _, _, text = page
    assert (ASSET.parent / "charts.licenses.md").read_text(encoding="utf-8").strip() in text


FINITE = """
title = "Transfers and their delays"
duration = "6 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "5 ms", buffer = "30 packets" }
[[flows]]
name = "short"
scheme = "reno"
count = 6
start_spread = "1 s"
size = "200 kB"
[[flows]]
name = "long"
scheme = "cubic"
start_spread = "100 ms"
[record]
every = "200 ms"
series = ["rate"]
distributions = true
[sweep]
"flows.long.scheme" = ["cubic", "reno"]
"""


def answering(text):
    """The charts of a page, each with the Python that makes it."""
    found = {}
    for kind in ("charts", "panels", "grids"):
        if part := re.search(
            rf'<script type="application/json" id="thalweg-{kind}">(.*?)</script>', text, re.DOTALL
        ):
            header = json.loads(part[1])
            listed = header["figures"] if kind == "panels" else header["charts"]
            found |= {one.get("id") or one["name"]: one["python"] for one in listed}
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A sweep of three seeds and two schemes, a run of it, and their comparison, with the charts of their pages."""
    folder = tmp_path_factory.mktemp("pages")
    scenario = folder / "finite.toml"
    scenario.write_text(FINITE, encoding="utf-8")
    sweep = folder / "sweep"
    assert cli.call(["run", str(scenario), "--runs", "3", "--out", str(sweep)]) == 0
    runs = sorted(file.parent for file in sweep.rglob("run.json"))
    compared = [(place.relative_to(sweep).as_posix(), tw.Result.load(place)) for place in runs]
    written = {
        "run": (runs[0], report.write(runs[0])),
        "sweep": (sweep, report.write(sweep)),
        "comparison": (sweep, report.compare(compared, sweep / "compare.html")),
    }
    return {
        kind: (place, answering(page.read_text(encoding="utf-8"))) for kind, (place, page) in written.items()
    }


@pytest.mark.parametrize("kind", ["run", "sweep", "comparison"])
def test_a_page_without_its_data_has_less_than_400_kilobytes(kind, pages):
    folder, _ = pages[kind]
    text = (folder / ("compare.html" if kind == "comparison" else "report.html")).read_text(encoding="utf-8")
    # the values, their pictures and their tables
    data = r'<script type="application/json".*?</script>|<svg.*?</svg>|<table.*?</table>'
    rest = re.sub(data, "", text, flags=re.DOTALL)
    assert ASSET.read_text(encoding="utf-8")[:1000] in rest
    assert len(rest.encode()) < 400_000


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("run", {"rate", "shares", "times", "scatter", "delays"}),
        ("sweep", {"flows.short.fct", "throughput-over-delay", "times-short"}),
        ("comparison", {"rate", "throughput-of-groups", "throughput-over-delay"}),
    ],
)
def test_the_python_of_every_chart_makes_it(kind, expected, pages, tmp_path, monkeypatch, capsys):
    folder, charts = pages[kind]
    assert expected <= charts.keys()
    place = tmp_path / "copy"
    shutil.copytree(folder, place)
    monkeypatch.chdir(place)
    for name, python in charts.items():
        exec(compile(python, name, "exec"), {})
        for file in re.findall(r'"([^"]+\.svg)"', python):
            assert "<svg" in (place / file).read_text(encoding="utf-8"), name
        if "print(" in python:
            assert capsys.readouterr().out.strip(), name
        else:
            assert ".svg" in python, name


def test_utilisation_has_one_scale_in_tables_and_charts() -> None:
    from thalweg import plots
    from thalweg.report import columns

    heading = next(column for column in columns.TABLES["links"] if column.key == "utilisation")
    assert (heading.heading, heading.factor) == ("utilisation (%)", 100.0)
    assert columns.unit_of("link.bottleneck.utilisation") == ("%", 100.0)
    assert plots.unit_of("utilisation") == ("%", 100.0)
    frame = pl.DataFrame(
        {"time_s": [1.0, 2.0], "subject": "link.a", "series": "utilisation", "value": [0.25, 0.5]}
    )
    axes = plots.series(frame, "utilisation").axes[0]
    assert axes.get_ylabel() == "utilisation (%)"
    assert axes.lines[0].get_ydata().tolist() == [25, 50]


def test_the_kinds_of_lines_of_a_figure_stay_apart() -> None:
    from matplotlib.figure import Figure

    from thalweg.report._panels import panels

    figure = Figure()
    axes = figure.subplots()
    for style in ("-", "--", ":", (0, (9.0, 3.0))):
        axes.plot([0.0, 1.0], [0.0, 1.0], linestyle=style)
    axes.axhline(0.5, linestyle=":")
    (panel,) = panels(figure)
    solid, dashed, dotted, given, rule = [part["dash"] for part in panel["parts"]]
    assert solid == []
    assert dashed[0] > dotted[0] > 0
    assert given == [9.0, 3.0]
    assert rule == dotted


def test_lines_that_are_not_shown_at_first_make_no_dashes() -> None:
    from thalweg.report._charts import _dashes

    colours = {f"link.{number}": f"#{number:06x}" for number in range(12)}
    quiet = set(list(colours)[2:])
    given = _dashes(colours, {}, quiet)
    assert given["link.0"] == given["link.1"] == ()
    assert len(set(_dashes(colours, {}).values())) == 4


def test_a_legend_has_the_order_of_the_scenario_while_a_run_grows() -> None:
    from thalweg import plots
    from thalweg.report import _charts

    scenario = tw.Scenario(
        duration="6 s",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="10 ms")),
        flows=[
            tw.Flow(name="slow", source={"kind": "constant", "rate": "500 kbit/s"}, count=11),
            tw.Flow(name="fast", source={"kind": "constant", "rate": "3 Mbit/s"}, start="3 s"),
        ],
        record=tw.Record(series=["rate"]),
    )
    order = [*(f"slow.{number}" for number in range(1, 12)), "fast"]
    for duration in ("2 s", "6 s"):
        run = scenario.with_({"duration": duration, "flows.fast.start": "1 s"}).run()
        assert run.flows["flow"].to_list() == order
        chart = json.loads(_charts.data(run, {"rate": "Rate"}, []))["charts"][0]
        assert [subject["label"] for subject in chart["subjects"]] == order
        drawn = plots.series(run.series, "rate", limit=12).axes[0].get_legend_handles_labels()[1]
        assert drawn == order
