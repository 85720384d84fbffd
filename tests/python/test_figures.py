"""Figures: of sweeps, for printed papers, and once in a notebook."""

from __future__ import annotations

import itertools
import math
import re
import shutil
import subprocess
import webbrowser
from typing import TYPE_CHECKING, Any

import numpy
import polars as pl
import pypdf
import pytest

import thalweg as tw
from conftest import SMALL
from thalweg import plots, quantities, styles
from thalweg.cli import call
from thalweg.errors import FigureError
from thalweg.plots._intervals import IntervalBars
from thalweg.report import runs_scatter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GRID = {"topology.bottleneck.buffer": ["2 bdp", "0.5 bdp"], "flows.reno.scheme": ["reno", "cubic"]}
UTILISATION = "link.bottleneck.utilisation"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Figures that tests have drawn are closed."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tw.Result:
    """Six flows of two schemes."""
    link = tw.Link(rate="5 Mbit/s", delay="10 ms", buffer="1 bdp")
    return tw.Scenario(
        title="100 % of a_link",
        duration="4 s",
        topology=tw.Dumbbell(bottleneck=link),
        flows=[
            tw.Flow("reno", scheme="reno", count=3, start_spread="100 ms"),
            tw.Flow("a_b", scheme="cubic", count=3),
        ],
        record=tw.Record(every="50 ms", series=["rate", "backlog"]),
    ).run()


@pytest.fixture(scope="module")
def sweep() -> tw.SweepResult:
    """Two buffers, two schemes, three seeds."""
    link = tw.Link(rate="5 Mbit/s", delay="10 ms", buffer="1 bdp")
    scenario = tw.Scenario(
        duration="3 s",
        topology=tw.Dumbbell(bottleneck=link),
        flows=[tw.Flow("reno", scheme="reno", count=2, start_spread="200 ms")],
    )
    return scenario.sweep(GRID, runs=3).run()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["10 Mbit/s", "2 Mbit/s"], ([10.0, 2.0], "Mbit/s")),
        (["500 kbit/s", "2 Mbit/s"], ([0.5, 2.0], "Mbit/s")),
        (["20 ms", "1.5 s"], ([0.02, 1.5], "s")),
        (["1 bdp", "0.5bdp"], ([1.0, 0.5], "bdp")),
        (["1_000 packets", "1 packet"], ([1000.0, 1.0], "packets")),
        (["1 MiB", "64 KiB"], ([1.0, 0.0625], "MiB")),
        ([1, 2.5], ([1.0, 2.5], "")),
        (["1 bdp", "50 packets"], None),
        (["0 s", "never"], None),
        (["cubic", "reno"], None),
        ([True, False], None),
        (["1 bdp", 3], None),
        ([], None),
    ],
)
def test_quantities_are_numbers_of_one_unit(values: list[Any], expected: Any) -> None:
    assert quantities.numbers(values) == expected


@pytest.mark.parametrize("unit", [unit for kind in quantities.KINDS[:3] for unit in kind])
def test_units_have_the_size_that_the_core_gives_them(unit: str) -> None:
    # 2 of a unit, as the core reads it, in the base unit of its kind
    kind, size = next((at, units[unit]) for at, units in enumerate(quantities.KINDS[:3]) if unit in units)
    link = {"rate": "1 Mbit/s", "delay": "1 ms", "buffer": "10 packets"}
    base = {0: "bit/s", 1: "ns", 2: "B"}[kind]
    times = size / quantities.KINDS[kind][base]
    if not float(2 * times).is_integer() or 2 * times > 1e13:
        pytest.skip("out of the range of a link's keys")
    key = ("rate", "delay", "buffer")[kind]

    def planned(text: str) -> Any:
        topology = tw.Dumbbell(bottleneck=tw.Link(**{**link, key: text}))
        return (
            tw.Scenario(duration="1 s", topology=topology, flows=[tw.Flow("f", scheme="reno")]).plan(1).toml
        )

    assert planned(f"2 {unit}") == planned(f"{2 * times:.0f} {base}")


def test_keys_of_a_sweep_are_texts_as_before_and_numbers_on_demand(sweep: tw.SweepResult) -> None:
    key = "topology.bottleneck.buffer"
    assert sweep.units == {key: "bdp"}
    assert set(sweep.summary[key]) == {"0.5 bdp", "2 bdp"}
    numbers = sweep.numbers
    assert numbers.columns == sweep.summary.columns
    assert numbers[key].dtype == pl.Float64
    assert dict(zip(sweep.summary[key], numbers[key], strict=True)) == {"0.5 bdp": 0.5, "2 bdp": 2.0}
    assert set(sweep.table("flows", numbers=True)[key]) == {0.5, 2.0}
    assert set(sweep.table("flows")[key]) == {"0.5 bdp", "2 bdp"}


def test_a_plot_of_a_sweep_shows_means_and_intervals_at_their_quantities(sweep: tw.SweepResult) -> None:
    figure = sweep.plot("buffer", UTILISATION)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "bottleneck.buffer (bdp)"
    assert axes.get_ylabel() == "utilisation (%)"
    assert [tick.get_text() for tick in axes.get_legend().get_texts()] == ["reno", "cubic"]
    bars = [bars for bars in axes.collections if isinstance(bars, IntervalBars)]
    for line, bar, scheme in zip(axes.lines, bars, ("reno", "cubic"), strict=True):
        assert list(line.get_xdata()) == [0.5, 2.0]
        rows = sweep.summary.filter(
            (pl.col("metric") == UTILISATION) & (pl.col("flows.reno.scheme") == scheme)
        )
        rows = rows.sort("topology.bottleneck.buffer")
        assert list(line.get_ydata()) == pytest.approx([100 * mean for mean in rows["mean"]])
        assert [place for place, *_ in bar.intervals] == [0.5, 2.0]
        assert [low for _, low, _ in bar.intervals] == pytest.approx([100 * low for low in rows["low"]])
        assert [high for *_, high in bar.intervals] == pytest.approx([100 * high for high in rows["high"]])
        assert all(low < high <= 100 for _, low, high in bar.intervals)


def test_intervals_never_set_an_axis_and_end_at_its_edge_with_an_arrow(tmp_path: Path) -> None:
    rows = [
        {
            "rate": rate,
            "n": 2,
            "flows.x": (mean, mean - 80, mean + 80),
            "samples": {"flows.x": [mean - 1, mean + 1]},
        }
        for rate, mean in (("1 Mbit/s", 8.0), ("2 Mbit/s", 9.0))
    ]
    axes = plots.grid(rows, ["rate"], "flows.x", "x").axes[0]
    low, high = axes.get_ylim()
    assert low == 0
    assert 10 < high < 11
    (bars,) = (bars for bars in axes.collections if isinstance(bars, IntervalBars))
    assert bars.clipped() == [(1.0, low, high, True, True), (2.0, low, high, True, True)]
    drawn = tmp_path / "x.svg"
    axes.figure.savefig(drawn)
    assert axes.get_ylim() == (low, high)
    assert "NaN" not in drawn.read_text()
    assert "nan" not in drawn.read_text()


def test_an_interval_below_zero_ends_at_the_bottom_of_a_logarithmic_axis(tmp_path: Path) -> None:
    figure = plots.figure_class()()
    axes = figure.subplots()
    axes.plot([0, 1], [10.0, 400.0], "o")
    bars = plots.intervals(axes, [0, 1], [(9.0, 11.0), (-100.0, 900.0)])
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    assert bars.clipped() == [(0, 9.0, 11.0, False, False), (1, low, high, True, True)]
    figure.savefig(tmp_path / "x.svg")
    assert axes.get_ylim() == (low, high)
    points = [word for word in (tmp_path / "x.svg").read_text().lower().split() if "nan" in word]
    assert points == []


def test_runs_without_chance_have_no_interval() -> None:
    link = tw.Link(rate="5 Mbit/s", delay="10 ms", buffer="1 bdp")
    still = tw.Scenario(
        duration="1 s", topology=tw.Dumbbell(bottleneck=link), flows=[tw.Flow("f", scheme="reno")]
    )
    done = still.sweep({"topology.bottleneck.rate": ["2 Mbit/s", "50 Mbit/s"]}, runs=3).run()
    axes = done.plot("rate", UTILISATION).axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "bottleneck.rate (Mbit/s)"
    (bars,) = (bars for bars in axes.collections if isinstance(bars, IntervalBars))
    assert bars.intervals == []


def test_a_plot_of_a_sweep_takes_lines_by_name_and_fixes_the_other_keys(sweep: tw.SweepResult) -> None:
    axes = sweep.plot("bottleneck.buffer", UTILISATION, where={"scheme": "cubic"}).axes[0]
    assert len(axes.lines) == 1
    axes = sweep.plot("scheme", UTILISATION, by="buffer").axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["2 bdp", "0.5 bdp"]
    with pytest.raises(ValueError, match=r"flows\.reno\.scheme has several values.*`by`.*where"):
        sweep.plot("buffer", UTILISATION, by=[])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda done: done.plot("bufer", UTILISATION), "no key 'bufer'; did you mean buffer"),
        (
            lambda done: done.plot("buffer", "link.botleneck.utilisation"),
            "did you mean .*link.bottleneck.utilisation",
        ),
        (lambda done: done.plot("buffer", UTILISATION, where={"scheme": "cubik"}), "did you mean cubic"),
        (lambda done: done.table("flow"), "no table 'flow'; did you mean flows"),
        (lambda done: done.values("link.bottleneck.utilization"), "did you mean .*utilisation"),
    ],
)
def test_wrong_names_of_a_sweep_are_answered_with_the_nearest(
    sweep: tw.SweepResult, call: Any, said: str
) -> None:
    with pytest.raises(KeyError, match=said):
        call(sweep)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda run: run.plot("rat"), ValueError, "no series 'rat' was recorded; did you mean `rate`"),
        (lambda run: run.plot("rate", ["flow.reno.9"]), ValueError, "did you mean flow.reno.3"),
        (lambda run: run.plot("rate", ["reno.1"]), ValueError, "did you mean flow.reno.1"),
        (lambda run: run.plot("rate", style="papper"), FigureError, "did you mean paper"),
        (
            lambda run: run.plot("rate", style="paper", width="acm-colum"),
            FigureError,
            "did you mean acm-column",
        ),
        (lambda run: run.plot("rate", style="paper", width=50), FigureError, "from 1 to 20"),
        (lambda run: run.plot("rate", width="acm-column"), FigureError, "for style 'paper'"),
        (lambda run: run.frame("link"), KeyError, "did you mean links"),
        (lambda run: run["flows.fairnes"], KeyError, "did you mean flows.fairness"),
    ],
)
def test_wrong_names_of_a_run_are_answered_with_the_nearest(
    run: tw.Result, call: Any, error: Any, said: str
) -> None:
    with pytest.raises(error, match=said):
        call(run)


def test_the_ellipse_of_runs_is_at_one_standard_deviation() -> None:
    points = [(10.0, 3.0), (12.0, 5.5), (17.0, 4.0), (11.0, 2.0), (14.0, 6.0)]
    outline = numpy.array(plots.ellipse(points))
    assert outline[0] == pytest.approx(outline[-1])
    aside = outline - numpy.mean(points, axis=0)
    inverse = numpy.linalg.inv(numpy.cov(numpy.transpose(points), bias=True))
    assert numpy.einsum("ij,jk,ik->i", aside, inverse, aside) == pytest.approx(numpy.ones(len(outline)))
    # all around: every quadrant
    assert len({tuple(signs) for signs in numpy.sign(aside)}) >= 4


def test_runs_without_a_spread_have_a_point_or_a_line_for_an_ellipse() -> None:
    assert plots.ellipse([(1.0, 2.0), (3.0, 4.0)]) == []
    assert set(plots.ellipse([(1.0, 2.0)] * 3)) == {(1.0, 2.0)}
    upright = plots.ellipse([(1.0, 2.0), (1.0, 4.0), (1.0, 6.0)])
    assert {x for x, _ in upright} == {1.0}
    assert max(y for _, y in upright) == pytest.approx(4.0 + math.sqrt(8 / 3))


def test_a_scatter_of_a_sweep_has_a_point_per_run_and_an_ellipse_per_point(
    sweep: tw.SweepResult, tmp_path: Path
) -> None:
    figure = sweep.scatter(out=tmp_path / "scatter.pdf")
    [axes] = figure.axes
    points = {line.get_label(): line.get_xydata() for line in axes.lines}
    expected: dict[str, list[tuple[float, float]]] = {}
    for run in sweep.runs:
        name = ", ".join(map(str, run.values.values()))
        pair = (
            run.result["flows.reno.queueing_delay"] * 1e3,
            run.result["flows.reno.throughput"] / 1e6,
        )
        expected.setdefault(name, []).append(pair)
    assert points.keys() == expected.keys()
    for name, pairs in expected.items():
        assert numpy.asarray(points[name]) == pytest.approx(numpy.array(pairs)), name
    assert len(axes.collections) == len(expected)
    assert axes.get_xlabel() == "queueing delay (ms)"
    assert (tmp_path / "scatter.pdf").read_bytes()[:5] == b"%PDF-"
    [only] = sweep.scatter(where={"scheme": "cubic"}, style="paper", width="acm-column").axes
    assert len(only.lines) == 2


@pytest.mark.parametrize("groups", [[""], ["long", "short"]])
def test_points_of_a_sweep_have_shades_of_the_colour_of_their_line(groups: list[str]) -> None:
    lines = ["reno", "cubic", "cubic, fq"]
    names = [
        ", ".join(filter(None, (group, buffer, line)))
        for group in groups
        for buffer in ("1 bdp", "4 bdp")
        for line in lines
    ]
    colours = runs_scatter.colours_of(names, lines)
    assert len(set(colours)) == len(colours) == len(names)
    for name, colour in zip(names, colours, strict=True):
        [line] = [at for at, _ in enumerate(lines) if colour in plots.shades(plots.COLOURS[at])]
        assert name.endswith(f" {lines[line]}")
        assert ("fq" in name) == (line == 2), "the longest label that fits"
    # without such a line, or with more names than shades, each has a colour of its own
    assert runs_scatter.colours_of(["1 bdp", "4 bdp"], [""]) == list(plots.COLOURS)
    many = [f"{number} bdp, reno" for number in range(9)]
    assert runs_scatter.colours_of(many, lines) == list(plots.COLOURS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"x": "queuing_delay"}, "did you mean queueing_delay"),
        ({"groups": ["rneo"]}, "no group of flows 'rneo'; did you mean reno"),
        ({"where": {"scheme": "cubik"}}, "did you mean cubic"),
    ],
)
def test_wrong_names_of_a_scatter_are_answered_with_the_nearest(
    sweep: tw.SweepResult, words: Any, said: str
) -> None:
    with pytest.raises(KeyError, match=said):
        sweep.scatter(**words)


def fonts_of(page: pypdf.PageObject) -> list[tuple[str, bool]]:
    """Kind of each font of a page, and whether it is embedded."""
    found = []
    for font in page["/Resources"]["/Font"].values():  # type: ignore[index]
        inner = font.get_object()
        inner = inner["/DescendantFonts"][0].get_object() if "/DescendantFonts" in inner else inner
        files = inner["/FontDescriptor"].get_object()
        found.append(
            (inner["/Subtype"], any(name in files for name in ("/FontFile", "/FontFile2", "/FontFile3")))
        )
    return found


@pytest.mark.parametrize("width", [*styles.WIDTHS_IN, 2.5])
@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_a_figure_for_print_has_the_exact_width_and_outlined_fonts(
    run: tw.Result, sweep: tw.SweepResult, tmp_path: Path, width: str | float, kind: str
) -> None:
    file = tmp_path / "figure.pdf"
    if kind == "run":
        run.plot("rate", out=file, style="paper", width=width)
    else:
        sweep.plot("buffer", UTILISATION, out=file, style="paper", width=width)
    (page,) = pypdf.PdfReader(file).pages
    inches = styles.WIDTHS_IN[width] if isinstance(width, str) else width
    assert float(page.mediabox.width) == pytest.approx(72 * inches, abs=0.01)
    fonts = fonts_of(page)
    assert fonts
    # /CIDFontType2 is what PDF calls an embedded TrueType font: Type 42
    assert {kind for kind, _ in fonts} == {"/CIDFontType2"}
    assert all(embedded for _, embedded in fonts)
    assert b"/Type3" not in file.read_bytes()


def test_widths_are_those_of_the_classes_and_do_not_exceed_them() -> None:
    point, pica = 1 / 72.27, 12 / 72.27
    page = 8.5 - 2 * 54 * point
    exact = {
        "acm-page": page,
        "acm-column": (page - 2 * pica) / 2,
        "ieee-page": 7.16,
        "ieee-column": 3.5,
        "usenix-page": 7.0,
        "usenix-column": (7.0 - 0.33) / 2,
    }
    for name, width in styles.WIDTHS_IN.items():
        assert width <= exact[name] < width + 0.01


def test_all_parts_of_a_figure_for_print_are_inside_it(run: tw.Result, sweep: tw.SweepResult) -> None:
    for figure in (run.plot("rate", style="paper"), sweep.plot("buffer", UTILISATION, style="paper")):
        figure.draw_without_rendering()
        tight = figure.get_tightbbox()
        assert tight is not None
        assert tight.x0 >= -0.01
        assert tight.x1 <= figure.get_figwidth() + 0.01
        assert tight.y0 >= -0.01
        assert tight.y1 <= figure.get_figheight() + 0.01
        # there is room for the lines
        assert figure.axes[0].get_position().height > 0.35


def test_a_drawing_for_print_needs_no_font_and_no_variable(run: tw.Result, tmp_path: Path) -> None:
    run.plot("rate", out=tmp_path / "one.svg", style="paper")
    text = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert not re.search(r"var\(|color-mix|<text|font-family", text)
    assert 'width="239.76pt"' in text


def linear(colour: str) -> Any:
    """Linear red, green and blue of a colour (IEC 61966-2-1)."""
    parts = numpy.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return numpy.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour: Any) -> Any:
    """CIE L*a*b* of linear red, green and blue, D65."""
    to_xyz = numpy.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    scaled = to_xyz @ numpy.clip(colour, 0, 1) / numpy.array([0.95047, 1.0, 1.08883])
    x, y, z = numpy.where(scaled > 0.008856, numpy.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return numpy.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


SIGHT = {
    "normal": numpy.eye(3),
    # Machado, Oliveira, Fernandes 2009, severity 1.0
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


@pytest.mark.parametrize("sight", SIGHT)
def test_printed_colours_differ_for_every_kind_of_sight(sight: str) -> None:
    seen = [lab(numpy.array(SIGHT[sight]) @ linear(colour)) for colour in styles.PRINT_COLOURS]
    # a just noticeable difference is about 2.3
    assert min(math.dist(one, other) for one, other in itertools.combinations(seen, 2)) > 10


def test_printed_lines_differ_in_greyscale() -> None:
    lines = [styles.paper().line(index, "#000000") for index in range(10)]
    forms = [(str(line["linestyle"]), line["marker"]) for line in lines]
    assert len(set(forms)) == len(forms)
    # neighbours differ in dashes, not in markers alone
    assert all(one[0] != other[0] for one, other in itertools.pairwise(forms))
    pairs = {
        (line["color"], str(line["linestyle"]))
        for line in map(styles.paper().line, range(35), ["#000000"] * 35)
    }
    assert len(pairs) == 35


def test_a_flow_has_one_kind_of_line_in_every_figure_for_print(run: tw.Result) -> None:
    def line_of(figure: Any, label: str) -> tuple[Any, ...]:
        line = next(line for line in figure.axes[0].lines if line.get_label() == label)
        return line.get_color(), str(line._unscaled_dash_pattern), line.get_marker()

    whole = run.plot("rate", style="paper")
    alone = run.plot("rate", ["flow.a_b.2"], style="paper")
    assert line_of(whole, "a_b.2") == line_of(alone, "a_b.2")
    # a single line is solid
    assert line_of(run.plot("backlog", ["link.bottleneck"], style="paper"), "bottleneck")[1] == "(0, None)"


def test_without_latex_the_error_says_what_is_missing(
    run: tw.Result, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(FigureError, match="LaTeX is missing: none of pdflatex, xelatex, lualatex is on PATH"):
        run.plot("rate", out=tmp_path / "one.pdf", style="paper", latex=True)


def test_latex_writes_no_other_files(run: tw.Result, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: program)
    with pytest.raises(FigureError, match=r"LaTeX writes \.pdf and \.pgf, not \.svg"):
        run.plot("rate", out=tmp_path / "one.svg", style="paper", latex=True)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="LaTeX is missing")
def test_latex_sets_names_with_special_letters(run: tw.Result, tmp_path: Path) -> None:
    run.plot("rate", out=tmp_path / "one.pdf", style="paper", latex=True)
    (page,) = pypdf.PdfReader(tmp_path / "one.pdf").pages
    assert float(page.mediabox.width) == pytest.approx(239.76, abs=0.5)
    assert b"/Type3" not in (tmp_path / "one.pdf").read_bytes()
    # its old fonts draw an underscore as a line
    assert re.search(r"a[ _]?b\.1", page.extract_text())
    run.plot("rate", out=tmp_path / "one.pgf", style="paper", latex=True)
    paper = r"\documentclass{article}\usepackage{pgf}\begin{document}\input{one.pgf}\end{document}"
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_figure_is_written_as_any_kind_of_file(run: tw.Result, tmp_path: Path) -> None:
    for name in ("one.svg", "one.pdf", "one.png"):
        run.plot("rate", out=tmp_path / name, style="paper")
        assert (tmp_path / name).stat().st_size > 1000
    assert plots.svg(run.plot("rate", style="paper")).startswith("<svg")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders of a run and of a sweep, as the command writes them."""
    folder = tmp_path_factory.mktemp("plot")
    text = SMALL + '\n[sweep]\n"topology.bottleneck.buffer" = ["0.5 bdp", "2 bdp"]\n'
    (folder / "small.toml").write_text(text, encoding="utf-8")
    assert (
        call(["run", str(folder / "small.toml"), "--no-sweep", "--out", str(folder / "run"), "--json"]) == 0
    )
    words = [
        "run",
        str(folder / "small.toml"),
        "--runs",
        "2",
        "--jobs",
        "1",
        "--out",
        str(folder / "sweep"),
        "--json",
    ]
    assert call(words) == 0
    return folder / "run", folder / "sweep"


def test_the_command_draws_a_run_and_a_sweep(folders: tuple[Path, Path], capsys: Any) -> None:
    run, sweep = map(str, folders)
    assert call(["plot", run, "rate"]) == 0
    assert (folders[0] / "rate.svg").is_file()
    assert "rate.svg" in capsys.readouterr().out
    assert call(["plot", sweep, UTILISATION, "--style", "paper", "--width", "ieee-column"]) == 0
    (page,) = pypdf.PdfReader(folders[1] / f"{UTILISATION}.pdf").pages
    assert float(page.mediabox.width) == pytest.approx(252, abs=0.01)
    assert (
        call(["plot", run, "rate", "--style", "paper", "--width", "4", "--out", f"{run}/four.pdf", "--json"])
        == 0
    )
    (page,) = pypdf.PdfReader(folders[0] / "four.pdf").pages
    assert float(page.mediabox.width) == pytest.approx(288, abs=0.01)


def test_the_command_prints_the_drawn_numbers_as_csv(folders: tuple[Path, Path], capsys: Any) -> None:
    run, sweep = map(str, folders)
    capsys.readouterr()
    assert call(["plot", run, "rate", "--csv"]) == 0
    printed = pl.read_csv(capsys.readouterr().out.encode())
    series = tw.Result.load(run).series.filter(pl.col("series") == "rate")
    assert printed["time_s"].to_list() == series["time_s"].unique().sort().to_list()
    one = series.filter(pl.col("subject") == "flow.reno").sort("time_s")
    assert printed["flow.reno"].to_list() == pytest.approx(one["value"].to_list())
    assert call(["plot", sweep, UTILISATION, "--csv"]) == 0
    printed = pl.read_csv(capsys.readouterr().out.encode())
    assert printed.columns[0] == "topology.bottleneck.buffer (bdp)"
    assert printed[printed.columns[0]].to_list() == [0.5, 2.0]
    summary = tw.SweepResult.load(sweep).summary
    assert printed["mean"].to_list() == pytest.approx(
        summary.filter(pl.col("metric") == UTILISATION)["mean"].to_list()
    )


@pytest.mark.parametrize(
    ("which", "words", "said"),
    [
        (0, ["rat"], "did you mean `rate`"),
        (0, ["rate", "--only", "flow.ren"], "did you mean flow.reno"),
        (0, ["rate", "--x", "buffer"], "--x is for sweeps"),
        (0, ["rate", "--style", "papr"], "did you mean paper"),
        (0, ["rate", "--style", "paper", "--width", "acm-colum"], "acm-column"),
        (0, ["rate", "--width", "3"], "is for style 'paper'"),
        (0, ["rate", "--csv", "--json"], "--csv prints numbers"),
        (1, ["link.bottleneck.utilization"], "did you mean link.bottleneck.utilisation"),
        (1, [UTILISATION, "--x", "bufer"], "did you mean"),
        (1, [UTILISATION, "--only", "x"], "--only is for runs"),
    ],
)
def test_the_command_refuses_unknown_folders_and_series(
    which: int, words: list[str], said: str, folders: tuple[Path, Path], capsys: Any
) -> None:
    assert call(["plot", str(folders[which]), *words]) == 2
    printed = capsys.readouterr()
    assert said in printed.out + printed.err


def test_a_page_is_opened_on_demand(folders: tuple[Path, Path], monkeypatch: Any) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert call(["report", str(folders[0])]) == 0
    assert opened == []
    assert call(["report", str(folders[0]), "--open"]) == 0
    assert opened == [(folders[0] / "report.html").resolve().as_uri()]


def test_a_linear_axis_of_values_begins_at_zero_unless_values_are_below() -> None:
    def axis(*means: float) -> tuple[float, float]:
        rows = [{"x": place, "n": 1, "m": (mean, None, None)} for place, mean in enumerate(means)]
        return plots.grid(rows, ["x"], "m", "m").axes[0].get_ylim()

    assert axis(95.0, 96.0)[0] == 0, "a difference of a hundredth looks like one"
    assert axis(95.0, 96.0)[1] > 96
    assert axis(-1.0, 3.0)[0] < -1
    low, high = plots.boxes({"a": [9.0, 9.1, 9.2], "b": [9.3, 9.4, 9.5]}, "m").axes[0].get_ylim()
    assert low == 0
    assert high > 9.5
    runs = {"a": [(1.0, 9.0), (1.1, 9.1), (1.2, 9.3)]}
    assert plots.scatter_runs(runs, "x", "y").axes[0].get_ylim()[0] == 0


@pytest.mark.parametrize("values", [{"a": 0.0}, {"a": 5.0, "b": 0.0}])
def test_a_line_that_is_zero_all_the_time_is_above_the_edge_of_its_axis(values: dict[str, float]) -> None:
    frame = pl.DataFrame(
        [
            {"time_s": float(at), "series": "backlog", "subject": f"link.{name}", "value": value}
            for name, value in values.items()
            for at in range(5)
        ]
    )
    low, high = plots.series(frame, "backlog").axes[0].get_ylim()
    assert low < 0, "on the edge it is under the line of the axis"
    assert -low == pytest.approx(0.03 * high, rel=0.1)
    # the axis of values that are never zero all the time begins at zero
    frame = frame.with_columns(value=pl.lit(1.0))
    assert plots.series(frame, "backlog").axes[0].get_ylim()[0] == 0
