"""Applications in results, on pages and in figures."""

import matplotlib.pyplot as plt
import polars
import pytest

import thalweg as tw
from thalweg import plots

SCENARIO = """
duration = "20 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "8 Mbit/s", delay = "10 ms", buffer = "1 bdp" }
[[flows]]
name = "page"
scheme = "reno"
app = { kind = "page", think = "200 ms", weight = "200 kB", number = 10 }
[[flows]]
name = "video"
scheme = "reno"
app = { kind = "player", rates = ["500 kbit/s", "1 Mbit/s"], segment = "1 s" }
[record]
distributions = true
series = ["fairness"]
[expect]
"app.page.exchanges" = ">= 10"
"app.video.stalls" = "== 0"
"""


@pytest.fixture(scope="module")
def result():
    return tw.Scenario.from_toml(SCENARIO, "traffic").run()


def test_applications_have_tables_and_keys(result):
    assert result.passed
    apps = {row["app"]: row for row in result.apps.to_dicts()}
    assert apps["page"]["connections"] == 6
    assert apps["page"]["stalls"] is None
    done = result.exchanges.filter(polars.col("app") == "page")["duration_s"].drop_nulls().sort()
    assert apps["page"]["exchanges"] == len(done)
    # the nearest rank
    assert apps["page"]["duration_p50_s"] == done[(len(done) + 1) // 2 - 1]
    assert result["app.page.duration_p50"] == apps["page"]["duration_p50_s"]
    video = result.exchanges.filter(polars.col("app") == "video")
    assert set(video["quality"].drop_nulls()) <= {1, 2}


def test_a_distribution_ends_at_one(result):
    for (subject,), part in result.distributions.group_by("subject"):
        assert part["share"][-1] == 1.0, subject
        assert part["value_s"].is_sorted(), subject


def test_distributions_and_points_are_drawn(result):
    figure = plots.cdf({"a": [3.0, 1.0, 2.0, 4.0]}, "time (s)")
    line = figure.axes[0].lines[0]
    assert list(line.get_xdata()) == [1, 1, 2, 3, 4]
    assert list(line.get_ydata()) == [0, 0.25, 0.5, 0.75, 1]
    points = plots.scatter(result.flows, result.colours)
    assert len(points.axes[0].lines) == result.flows.height
    assert plots.series(result.series, "fairness").axes[0].lines
    with pytest.raises(ValueError, match="no samples"):
        plots.cdf({"a": []}, "time (s)")
    plt.close("all")


def test_the_page_shows_applications(result, tmp_path):
    folder = result.save(tmp_path / "run")
    from thalweg import report

    page = report.write(folder).read_text(encoding="utf-8")
    assert "Applications" in page
    assert "page load time" in page
    assert "Cumulative distribution" in page
