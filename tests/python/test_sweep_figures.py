"""Maps, distributions and LaTeX tables of sweeps and runs; labels; images for print."""

from __future__ import annotations

import re
import subprocess
from shutil import which

import numpy as np
import polars
import pytest

import thalweg as tw
from cli_calls import refused
from thalweg import latex, plots
from thalweg.cli import call

BUFFERS = ["0.25 bdp", "4 bdp", "1 bdp"]


@pytest.fixture(scope="module")
def scenario():
    return tw.Scenario(
        title="Short flows beside one",
        duration="4 s",
        warmup="500 ms",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="10 ms", buffer="1 bdp")),
        flows=[
            tw.Flow("long", scheme="reno", start_spread="200 ms"),
            tw.Flow("short", scheme="reno", arrivals={"rate": 10.0, "size": "20 kB"}),
        ],
        record=tw.Record(every="100 ms", series=["rate"]),
    )


@pytest.fixture(scope="module")
def sweep(scenario, tmp_path_factory):
    grid = {"topology.bottleneck.buffer": BUFFERS, "flows.long.scheme": ["reno", "cubic"]}
    return scenario.sweep(grid, runs=4).run(out=tmp_path_factory.mktemp("study"))


def mean_of(sweep, metric, **point):
    return sweep.estimate(metric, **point).mean


# --- maps ------------------------------------------------------------------------------------------------------------


def test_a_map_has_the_mean_of_each_cell_in_the_order_of_the_quantities(sweep):
    axes = sweep.heatmap("buffer", "scheme", "link.bottleneck.utilisation").axes[0]
    across = [label.get_text() for label in axes.get_xticklabels()]
    up = [label.get_text() for label in axes.get_yticklabels()]
    assert across == ["0.25 bdp", "1 bdp", "4 bdp"]
    assert up == ["reno", "cubic"]
    cells = np.asarray(axes.images[0].get_array())
    for row, scheme in enumerate(up):
        for column, buffer in enumerate(across):
            mean = mean_of(sweep, "link.bottleneck.utilisation", scheme=scheme, buffer=buffer)
            assert cells[row][column] == pytest.approx(100 * mean)
    written = {text.get_position(): float(text.get_text().replace("\u202f", "")) for text in axes.texts}
    assert len(written) == 6
    for (column, row), value in written.items():
        assert value == pytest.approx(cells[row][column], rel=5e-3)


def test_numbers_on_a_map_can_be_read(sweep):
    axes = sweep.heatmap("buffer", "scheme", "link.bottleneck.queue").axes[0]
    shades = axes.images[0]
    for text in axes.texts:
        column, row = text.get_position()
        ground = np.array(shades.cmap(shades.norm(shades.get_array()[int(row)][int(column)]))[:3])
        ink = np.array([1.0, 1, 1]) if text.get_color() == "#ffffff" else np.zeros(3)
        light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (ground, ink)]
        assert (max(light) + 0.05) / (min(light) + 0.05) > 2


def test_a_map_needs_two_keys_and_no_others(sweep):
    with pytest.raises(ValueError, match="two keys"):
        sweep.heatmap("buffer", "buffer", "flows.fairness")
    with pytest.raises(KeyError, match=r"did you mean .*flows\.fairness"):
        sweep.heatmap("buffer", "scheme", "flows.fairnes")


# --- distributions ---------------------------------------------------------------------------------------------------


def test_a_distribution_over_seeds_has_a_step_for_each(sweep):
    axes = sweep.cdf("flows.short.fct", by="scheme", where={"buffer": "1 bdp"}).axes[0]
    for line, scheme in zip(axes.lines, ("reno", "cubic"), strict=True):
        values = sorted(sweep.values("flows.short.fct", buffer="1 bdp", scheme=scheme))
        assert line.get_label() == scheme
        assert list(line.get_xdata())[1:] == pytest.approx(values)
        assert list(line.get_ydata()) == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert not axes.collections, "one value per run has no band"


def test_a_distribution_over_flows_is_the_mean_of_the_runs(sweep):
    axes = sweep.cdf("fct", "scheme", flows="short", where={"buffer": "1 bdp"}).axes[0]
    runs = [
        run.flows.filter(polars.col("group") == "short")["fct_s"].drop_nulls().to_numpy()
        for run in sweep.results({"buffer": "1 bdp", "scheme": "reno"})
    ]
    assert len(runs) == 4
    line, outline = axes.lines[0], axes.collections[0].get_paths()[0]
    places = list(line.get_xdata())
    for number in range(1, len(places) - 1, 7):
        x, after = places[number], (places[number] + places[number + 1]) / 2
        shares = [(run <= x * (1 + 1e-12)).mean() for run in runs]
        mean = np.mean(shares)
        assert line.get_ydata()[number] == pytest.approx(mean)
        half = (
            3.182446 * np.std(shares, ddof=1) / 2
        )  # Student's quantile of three degrees of freedom, four runs
        for end, outside in ((max(mean - half, 0), -1), (min(mean + half, 1), 1)):
            if half > 1e-3:
                assert outline.contains_point((after, end - 1e-4 * outside))
                assert not outline.contains_point((after, end + 1e-4 * outside))


def test_a_band_needs_three_runs():
    two = {"a": [[1.0, 2.0], [2.0, 3.0]]}
    three = {"a": [*two["a"], [1.0, 3.0]]}
    assert not plots.cdf_bands(two, "x").axes[0].collections
    assert plots.cdf_bands(three, "x").axes[0].collections
    with pytest.raises(ValueError, match="no samples"):
        plots.cdf_bands({"a": [[], []]}, "x")


def test_a_wrong_name_of_a_distribution_is_answered_with_the_nearest(sweep):
    with pytest.raises(KeyError, match="did you mean fct"):
        sweep.cdf("fctt")
    with pytest.raises(KeyError, match="did you mean short"):
        sweep.cdf("fct", flows="shrt")
    with pytest.raises(ValueError, match="has several values"):
        sweep.cdf("fct", by="scheme")


# --- labels, print ---------------------------------------------------------------------------------------------------


def test_keys_values_metrics_and_subjects_can_have_other_names(sweep):
    labels = {
        "buffer": "buffer size",
        "reno": "NewReno",
        "link.bottleneck.utilisation": "use (%)",
        "scheme": "rule",
    }
    axes = sweep.plot("buffer", "link.bottleneck.utilisation", labels=labels).axes[0]
    assert axes.get_xlabel() == "buffer size (bdp)"
    assert axes.get_ylabel() == "use (%)"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["NewReno", "cubic"]
    assert axes.get_legend().get_title().get_text() == "rule"
    chart = sweep.heatmap("buffer", "scheme", "link.bottleneck.utilisation", labels=labels)
    assert chart.axes[0].get_ylabel() == "rule"
    assert chart.axes[1].get_ylabel() == "use (%)"
    line = (
        sweep.cdf("link.bottleneck.utilisation", "scheme", where={"buffer": "1 bdp"}, labels=labels)
        .axes[0]
        .lines[0]
    )
    assert line.get_label() == "NewReno"
    run = sweep.results(seed=1)[0]
    axes = run.plot("rate", labels={"flow.long": "download", "rate": "sent"}).axes[0]
    assert "download" in [line.get_label() for line in axes.lines]
    assert axes.get_ylabel() == "sent"


def test_an_image_for_print_has_300_dots_per_inch(sweep, tmp_path):
    from PIL import Image

    sweep.plot("buffer", "flows.fairness", style="paper", out=tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert image.size[0] == 999
        assert [round(dots) for dots in image.info["dpi"]] == [300, 300]


def test_a_legend_stays_within_its_figure(sweep):
    run = sweep.results(seed=1)[0]
    for style in ("page", "paper"):
        figure = run.plot("rate", style=style)
        figure.canvas.draw()
        box = figure.axes[0].get_legend().get_window_extent()
        assert box.x1 <= figure.bbox.width + 1
        assert box.x0 >= -1


# --- LaTeX -----------------------------------------------------------------------------------------------------------


def test_a_table_of_a_sweep_has_units_and_intervals(sweep):
    text = sweep.latex("link.bottleneck.utilisation", "flows.short.fct", labels={"scheme": "rule_1"})
    lines = text.splitlines()
    assert lines[:2] == [r"\begin{tabular}{llrr}", r"\toprule"]
    assert lines[2].startswith(r"bottleneck.buffer & rule\_1 & link.bottleneck.utilisation (\%)")
    assert len(lines) == 5 + 6 + 1
    mean = 100 * mean_of(sweep, "link.bottleneck.utilisation", buffer="0.25 bdp", scheme="reno")
    cell = lines[4].split(" & ")[2]
    assert float(re.match(r"[\d.]+", cell)[0]) == pytest.approx(mean, rel=5e-3)
    assert r"\ensuremath{\pm}" in cell or "[" in cell
    assert sweep.latex().count("\\\\") == 7
    with pytest.raises(KeyError, match="did you mean"):
        sweep.latex("flows.short.fctt")


def test_a_table_of_a_run_is_that_of_the_terminal(sweep):
    run = sweep.results(seed=1)[0]
    text = run.latex("links", labels={"bottleneck": "R1--R2"})
    assert "utilisation (\\%)" in text
    assert "R1--R2 & forward & 10 & 10" in text
    with pytest.raises(KeyError, match="did you mean links"):
        run.latex("link")


def test_texts_are_escaped():
    text = latex.tabular(["a_b", "50 %"], [["x&y", "2.4·10⁻⁶"]], [False, True])
    assert "a\\_b & 50 \\%" in text
    assert r"x\&y & 2.4\textperiodcentered{}10\textsuperscript{-}\textsuperscript{6}" in text


@pytest.mark.skipif(which("pdflatex") is None, reason="no LaTeX")
def test_latex_sets_the_table(sweep, tmp_path):
    head = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
    page = f"{head}{sweep.latex()}\\end{{document}}"
    (tmp_path / "t.tex").write_text(page, encoding="utf-8")
    subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True, capture_output=True)


# --- tables in Python ------------------------------------------------------------------------------------------------


def test_the_first_columns_are_those_that_are_used_first(sweep):
    run = sweep.results(seed=1)[0]
    assert run.flows.columns[:4] == ["flow", "scheme", "throughput_bps", "goodput_bps"]
    assert set(run.flows.columns) == set(run.frame("flows").columns)
    empty = [run.flows[name].null_count() == run.flows.height for name in run.flows.columns]
    assert any(empty)
    first = empty.index(True)
    assert all(empty[first + 1 :]) or all(
        empty[place] or set(run.flows[run.flows.columns[place]]) == {""} for place in range(first, len(empty))
    )


def test_a_table_has_no_column_without_values(sweep):
    run = sweep.results(seed=1)[0]
    short, full = run.table(), run.table(full=True)
    assert 4 < len(short.columns) < len(full.columns) < len(run.flows.columns)
    assert all(full[name].null_count() < full.height for name in full.columns)
    assert "queueing_delay_s" in short.columns
    assert "queueing_delay_p99_s" not in short.columns
    assert run.table("links").height == run.links.height
    assert run.table("summary").columns == ["metric", "value"]
    with pytest.raises(KeyError, match="did you mean"):
        run.table("flow")


def test_the_folder_of_a_cell_is_found(sweep):
    (found,) = sweep.results({"buffer": "4 bdp", "scheme": "cubic"}, seed=2)
    assert found.folder.is_dir()
    assert found.plan["seed"] == 2
    assert found.plan["flows"][0]["scheme"] == "cubic"
    assert len(sweep.results({"scheme": "reno"})) == 12
    with pytest.raises(KeyError, match="seed 9"):
        sweep.results(seed=9)


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_draws_maps_and_distributions(sweep, tmp_path, capsys):
    folder = str(sweep.results(seed=1)[0].folder.parents[1])
    for name, words in {
        "map.svg": ["link.bottleneck.queue", "--kind", "heatmap", "--x", "buffer", "--by", "scheme"],
        "cdf.svg": ["fct", "--kind", "cdf", "--flows", "short", "--by", "scheme", "--where", "buffer=1 bdp"],
        "plot.svg": ["flows.fairness", "--label", "flows.fairness=Jain", "--label", "reno=NewReno"],
        "named.pdf": ["flows.fairness", "--label", "reno=NewReno", "--style", "paper"],
    }.items():
        assert call(["plot", folder, *words, "--out", str(tmp_path / name)]) == 0, capsys.readouterr().err
        assert (tmp_path / name).stat().st_size > 1000
    capsys.readouterr()
    assert "has several values" in refused(capsys, "plot", folder, "fct", "--kind", "cdf", "--by", "scheme")
    assert "KEY=" in refused(capsys, "plot", folder, "fct", "--label", "nothing")
