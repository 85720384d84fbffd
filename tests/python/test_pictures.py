"""Pictures: networks, series, their colours, legends and labels, and pictures in files."""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars
import pytest

import thalweg as tw
from conftest import ROOT
from thalweg import plots, report, styles
from thalweg.catalogue import schemes
from thalweg.plots._colours import GROUNDS
from thalweg.report import network, write
from thalweg.report._charts import _dashes
from thalweg.report._page import embed_svg
from thalweg.report._placement import Box
from thalweg.report._topology import _bar
from thalweg_papers import _plot


@pytest.mark.parametrize(
    "topology",
    [
        'kind = "star"\nleaves = 40\nlink = { rate = "1 Mbit/s", delay = "1 ms" }',
        'kind = "random"\nnodes = 200\ndegree = 3\nlink = { rate = "1 Mbit/s", delay = "1 ms" }',
        'kind = "chain"\nhops = 3\nlink = { rate = "1 Mbit/s", delay = "1 ms" }',
    ],
)
def test_every_kind_of_network_can_be_drawn(topology: str) -> None:
    text = f'title = "T"\nduration = "1 s"\n[topology]\n{topology}\n[[flows]]\nname = "a"\nscheme = "reno"\n'
    ends = {"star": ("leaf1", "leaf2"), "rand": ("n1", "n2"), "chai": ("node1", "node4")}[topology[8:12]]
    result = tw.Scenario.from_toml(f'{text}from = "{ends[0]}"\nto = "{ends[1]}"\n').run()
    drawing = network(result)
    assert drawing.count("<line") == result.links["link"].n_unique()
    assert drawing.count("<circle") == 2
    assert "nan" not in drawing


TEXT = re.compile(
    r'<text[^>]* x="(?P<x>[-\d.]+)" y="(?P<y>[-\d.]+)" text-anchor="(?P<anchor>\w+)" '
    r'font-size="(?P<size>[\d.]+)"[^>]*>(?P<words>[^<]*)<'
)

LINK = re.compile(
    r'<line [^>]*x1="([-\d.]+)" y1="([-\d.]+)" x2="([-\d.]+)" y2="([-\d.]+)" stroke-width="[\d.]+" (data-control)?'
)


@pytest.mark.parametrize(
    "name",
    [
        "does-a-controller-move-a-flow",
        "does-one-rate-suit-all",
        "does-tcp-fill-the-link",
        "does-the-long-way-lose",
        "does-traffic-find-the-other-way",
        "name-multicast",
        "which-receiver-of-a-group-is-heard",
    ],
)
@pytest.mark.parametrize("enlarged", [1.0, 1.5])
def test_labels_of_a_network_cover_neither_links_nor_each_other(name: str, enlarged: float) -> None:
    """Also where text is larger, in the small picture beside the studio's editor."""
    picture = report.network_of_plan(tw.load(ROOT / "scenarios" / f"{name}.toml").plan(), enlarged=enlarged)
    boxes = {
        (found["words"], number): Box.of_text(
            float(found["x"]), float(found["y"]), found["words"], float(found["size"]), found["anchor"]
        )
        for number, found in enumerate(TEXT.finditer(picture))
    }
    links = [tuple(map(float, found.groups()[:4])) for found in LINK.finditer(picture) if not found[5]]
    assert len(boxes) > 5
    assert len(links) > 3
    for one, other in itertools.combinations(boxes, 2):
        assert not boxes[one].overlaps(boxes[other]), (one, other)
    for words, box in boxes.items():
        assert not [link for link in links if box.crosses(*link)], words


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("does-a-controller-move-a-flow", {}),
        ("does-one-rate-suit-all", {"duration": "30 s", "warmup": "5 s"}),
        ("does-tcp-fill-the-link", {"duration": "10 s"}),
        ("does-traffic-find-the-other-way", {}),
        ("which-receiver-of-a-group-is-heard", {"duration": "30 s", "warmup": "5 s"}),
    ],
)
def test_labels_of_links_leave_room_for_the_bars_of_queues(name: str, changed: dict[str, Any]) -> None:
    scenario = tw.load(ROOT / "scenarios" / f"{name}.toml").without_sweep().with_(changed)
    run = scenario.run()
    waiting = run.series.filter((polars.col("series") == "backlog") & (polars.col("value") > 0))[
        "subject"
    ].unique()
    picture = network(run)
    places = {
        found[1]: (float(found[2]), float(found[3]), float(found[4]), float(found[5]))
        for found in re.finditer(
            r'<line data-link="([^"]+)" x1="([-\d.]+)" y1="([-\d.]+)" x2="([-\d.]+)" y2="([-\d.]+)"', picture
        )
    }
    bars = []
    for link, (x1, y1, x2, y2) in places.items():
        for subject, start, end in (
            (f"link.{link}", (x1, y1), (x2, y2)),
            (f"link.{link}.backward", (x2, y2), (x1, y1)),
        ):
            if subject in waiting:
                bars.append(_bar(start, end))
    assert bars
    labels = [found for found in TEXT.finditer(picture) if 'data-about="' in found[0]]
    assert labels
    for found in labels:
        box = Box.of_text(
            float(found["x"]), float(found["y"]), found["words"], float(found["size"]), found["anchor"]
        )
        assert not [bar for bar in bars if box.crosses(*bar)], found["words"]


def a_tree(nodes: int, seed: int) -> tw.Scenario:
    """A group over a random tree with this number of nodes, whose links differ or are alike."""
    random = Random(seed)
    names = [
        f"{random.choice(['r', 'node', 'router_in_', 'receiver-in-the-north-'])}{number}"
        for number in range(nodes)
    ]
    parents = [
        random.randrange(max(0, number - random.choice([2, 5, 60])), number) for number in range(1, nodes)
    ]
    alike = random.random() < 0.4
    links = [
        {
            "name": f"link_{child}",
            "ends": [names[parent], names[child]],
            "rate": "10 Mbit/s" if alike else f"{random.randint(1, 100)} Mbit/s",
            "delay": "5 ms" if alike else f"{random.randint(1, 50)} ms",
        }
        for child, parent in enumerate(parents, 1)
    ]
    leaves = [names[child] for child in range(1, nodes) if child not in parents]
    return tw.Scenario.from_tree(
        {
            "duration": "1 s",
            "topology": {"kind": "custom", "links": links},
            "flows": [
                {
                    "name": "video",
                    "source": {"kind": "constant", "rate": "500 kbit/s"},
                    "from": names[0],
                    "to": leaves,
                }
            ],
        }
    )


TREES = [
    *(
        (f"random-{nodes}-{seed}", a_tree(nodes, seed))
        for nodes in (5, 8, 13, 20, 30, 40, 50, 60)
        for seed in (1, 2, 3)
    ),
    *(
        (
            f"regular-{arity}-{depth}",
            tw.Scenario(
                duration="1 s",
                topology=tw.Tree(arity=arity, depth=depth, link=tw.Link(rate="10 Mbit/s", delay="5 ms")),
                flows=[
                    tw.Flow(
                        name="video",
                        source={"kind": "constant", "rate": "500 kbit/s"},
                        **{"from": "root", "to": [f"leaf{leaf}" for leaf in range(1, arity**depth + 1)]},
                    )
                ],
            ),
        )
        for arity, depth in ((4, 1), (2, 2), (3, 2), (2, 4), (3, 3), (6, 2), (7, 2), (39, 1))
    ),
]


@pytest.mark.parametrize("scenario", [tree for _, tree in TREES], ids=[name for name, _ in TREES])
def test_no_label_of_a_group_s_tree_is_on_another(scenario: tw.Scenario) -> None:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    picture = network(scenario.run())
    font = FontProperties(family="DejaVu Sans")
    boxes = []
    for found in TEXT.finditer(picture):
        ink = TextPath(
            (0, 0), html.unescape(found["words"]), size=float(found["size"]), prop=font
        ).get_extents()
        left = float(found["x"]) - {"start": 0.0, "middle": 0.5, "end": 1.0}[found["anchor"]] * ink.width
        base = float(found["y"])
        boxes.append((found["words"], Box(left, base - ink.y1, left + ink.width, base - ink.y0)))
    for (one, box), (other, there) in itertools.combinations(boxes, 2):
        assert not box.overlaps(there), (one, other)
    # what has no label is named where the pointer is
    nodes = [node["name"] for node in scenario.plan().layout["nodes"]]
    assert all(f"<title>{node} (" in picture for node in nodes)
    if len(nodes) <= 40:
        assert len(boxes) >= 0.6 * len(nodes), "most nodes have their name"


def test_a_line_crosses_a_box_only_if_it_goes_through_it() -> None:
    box = Box(10, 10, 20, 20)
    assert box.crosses(0, 15, 30, 15)
    assert box.crosses(15, 0, 15, 30)
    assert box.crosses(0, 0, 30, 30)
    assert box.crosses(12, 12, 18, 18)
    assert not box.crosses(0, 15, 9, 15)
    assert not box.crosses(0, 25, 30, 25)
    assert not box.crosses(0, 15, 15, 35)


def test_a_series_that_was_not_recorded_is_refused_by_name(small: Path) -> None:
    result = tw.load(small).run()
    with pytest.raises(ValueError, match="recorded: backlog, rate, window"):
        plots.series(result.series, "rtt")


@pytest.mark.parametrize(("idle", "listed"), [(2, ["a", "b", "idle1", "idle2"]), (12, ["a", "b", "12 more"])])
def test_lines_near_zero_are_drawn_in_one_shade_if_there_are_many(idle: int, listed: list[str]) -> None:
    values = {"flow.a": 100.0, "flow.b": 90.0, **{f"flow.idle{number}": 0.1 for number in range(1, idle + 1)}}
    frame = polars.DataFrame(
        [
            {"time_s": time, "subject": subject, "series": "backlog", "value": value}
            for subject, value in values.items()
            for time in (0.0, 1.0)
        ]
    )
    figure = plots.series(frame, "backlog")
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == listed


def test_subjects_are_labelled_by_their_names() -> None:
    subjects = ["flow.cubic.1", "receiver.video@d1", "link.shared.backward", "node.r1", "r1"]
    assert [plots.subject_name(subject) for subject in subjects] == [
        "cubic.1",
        "video@d1",
        "shared.backward",
        "r1",
        "r1",
    ]


def test_flows_of_one_scheme_and_schemes_have_different_colours() -> None:
    some = plots.flow_colours(["a.1", "a.2", "b.1", "b.2", "c"], ["reno", "reno", "cubic", "cubic", "mca"])
    assert (some["a.1"], some["b.1"], some["c"]) == tuple(
        plots.SCHEME_COLOURS[scheme] for scheme in ("reno", "cubic", "mca")
    )
    many = plots.flow_colours([f"a.{n}" for n in range(30)], ["reno"] * 30)
    assert (len(set(some.values())), len(set(many.values()))) == (5, 30)


@pytest.mark.parametrize("colour", sorted({*plots.SCHEME_COLOURS.values(), *styles.COLOURS}))
def test_lines_can_be_seen_on_light_and_dark_pages(colour: str) -> None:
    found = plots.shades(colour)
    assert len(set(found)) == len(found)
    for one in found:
        # relative luminance by hand: the weights of WCAG 2.2
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in (int(one[at : at + 2], 16) / 255 for at in (1, 3, 5))
        ]
        light = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
        assert 1.05 / (light + 0.05) >= 3, f"{one} on white"
        # #182027, the card of dark pages, has a luminance of 0.01374
        assert (light + 0.05) / (0.01374 + 0.05) >= 3, f"{one} on the card of dark pages"


def test_the_card_of_dark_pages_is_a_ground_of_the_colours() -> None:
    style = (Path(plots.__file__).parents[1] / "report" / "templates" / "style.html").read_text(
        encoding="utf-8"
    )
    assert re.findall(r"--card: (#\w+)", style) == list(GROUNDS)


@pytest.mark.parametrize("count", [2, 4, 5, 8, 12])
def test_many_lines_differ_by_their_dashes_too(count: int) -> None:
    names = [f"flow.{number:02}" for number in range(count)]
    frame = polars.DataFrame(
        [
            {"time_s": time, "subject": name, "series": "rate", "value": 1e6}
            for name in names
            for time in (0.0, 1.0)
        ]
    )
    axes = plots.series(frame, "rate", limit=20).axes[0]
    dashes = {
        line.get_linestyle() if line.get_linestyle() == "-" else str(line._dash_pattern)
        for line in axes.lines
    }
    assert len(dashes) == (1 if count < 5 else min(count, 5))
    given = _dashes(
        dict.fromkeys(names, "") | {name: styles.COLOURS[at % 10] for at, name in enumerate(names)}, {}
    )
    assert len({(styles.COLOURS[at % 10], given[name]) for at, name in enumerate(names)}) == count
    assert len(set(given.values())) == (1 if count < 5 else 4)


def test_schemes_that_can_meet_have_colours_of_their_own() -> None:
    rows = {row["name"]: row["families"] for row in schemes()}
    for family in ("ip", "multicast", "icn", "ndn"):
        given = [colour for name, colour in plots.SCHEME_COLOURS.items() if family in rows[name]]
        assert len(set(given)) == len(given), family
        channels = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in given]
        apart = [math.dist(one, other) for one, other in itertools.combinations(channels, 2)]
        assert min(apart) >= 20, family


def drawn(name: str) -> Any:
    """A figure of each kind that has a legend, with few and with many, short and long labels."""
    keys = ["topology.bottleneck.buffer", "flows.*.scheme"]
    schemes = {
        "few": ["cubic", "bbr"],
        "long": [
            "a-scheme-with-a-rather-long-name",
            "another one of which the name has many words",
            *"abcdef",
        ],
        "many": [f"scheme number {number}" for number in range(30)],
    }
    if name == "bars":
        groups = {"seed=1": [1.0, 2.0], "bottleneck.buffer=0.2bdp,flows.reno.count=12,seed=1": [2.0, 3.0]}
        return plots.bars(["reno", "cubic"], groups, "mean throughput of a flow (Mbit/s)")
    if name == "series":
        rows = [
            (time, f"flow.a flow with a long name.{flow}", "rate", 1e6 * flow)
            for flow in range(1, 9)
            for time in (0.0, 1.0)
        ]
        return plots.series(
            polars.DataFrame(rows, ["time_s", "subject", "series", "value"], orient="row"), "rate"
        )
    if name == "panels":
        with plots.in_style():
            figure, axes = _plot.panels(2, 3, height=3)
            for row in axes:
                for panel in row:
                    for number in range(5):
                        panel.plot([0, 1], [1, number], label=f"a line with a name {number}")
                    _plot.finish(panel, "A panel", "Delay (ms)")
            _plot.legend(figure, axes[0][0])
        return figure
    grid = [
        {
            keys[0]: buffer,
            keys[1]: scheme,
            "n": 3,
            "m": (mean := 19.99 + 0.0001 * number, mean - 2e-5, mean + 2e-5),
        }
        for number, (buffer, scheme) in enumerate((b, s) for b in ("0.5 bdp", "1 bdp") for s in schemes[name])
    ]
    return plots.grid(grid, keys, "m", "utilisation (%)")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Figures that tests have drawn are closed."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


DRAWN = ["few", "long", "many", "bars", "series", "panels"]


@pytest.mark.parametrize("name", DRAWN)
def test_legends_stay_within_the_picture(name: str) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = drawn(name)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    box = figure.bbox
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    assert legends
    for legend in legends:
        extent = legend.get_window_extent(canvas.get_renderer())
        assert box.x0 - 1 <= extent.x0 <= extent.x1 <= box.x1 + 1
        assert box.y0 - 1 <= extent.y0 <= extent.y1 <= box.y1 + 1


def test_the_legend_of_a_sweep_has_values_and_names_their_key_once() -> None:
    legend = drawn("few").axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["cubic", "bbr"]
    assert legend.get_title().get_text() == "flows.*.scheme"


@pytest.mark.parametrize("name", DRAWN)
def test_tick_labels_are_plain_numbers(name: str) -> None:
    figure = drawn(name)
    figure.draw_without_rendering()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            assert axis.get_offset_text().get_text() == ""
    low, high = drawn("few").axes[0].get_ylim()
    assert high - low > 0.3, "values that are nearly the same look so"


@pytest.mark.parametrize("name", DRAWN)
def test_drawings_in_files_have_their_colours_written_out_and_those_in_pages_the_pages(name: str) -> None:
    saved = plots.svg(drawn(name), name)
    assert "var(" not in saved
    assert plots.INK in saved
    assert plots.GROUND in saved
    shown = embed_svg(saved, name)
    assert f"var(--ink, {plots.INK})" in shown
    assert f"var(--card, {plots.GROUND})" in shown
    assert not re.search(rf"(?<!, )({plots.INK}|{plots.FAINT}|{plots.GROUND})", shown)


def test_boxes_and_words_have_the_ink_of_the_page() -> None:
    with plots.in_style():
        figure, axes = _plot.panels(1, 1)
        box = {"label": "a", "whislo": 1, "q1": 2, "med": 3, "q3": 4, "whishi": 9, "fliers": [12]}
        axes[0][0].bxp([box])
        axes[0][0].text(1, 8, "a word")
        _plot.finish(axes[0][0], "Delays", "Delay (ms)")
    saved = plots.svg(figure)
    assert "#000" not in saved
    assert "black" not in saved
    # what names no colour would be black
    assert all("fill: " in text for text in re.findall(r"<text [^>]*>", saved))
    lines = re.findall(r'id="figure\.line2d_[^"]*">\s*<path [^>]*style="([^"]*)"', saved)
    assert lines
    assert all("stroke: " in line for line in lines)


def test_the_network_in_a_file_has_its_colours_written_out(result: tw.Result, tmp_path: Path) -> None:
    assert not re.search(r"var\(|color-mix", network(result))
    assert (plots.mix_colours("#000000", "#ffffff", 0.5), plots.mix_colours("#fff", "#102030", 0)) == (
        "#808080",
        "#102030",
    )
    result.save(tmp_path)
    assert "color-mix(in srgb, var(--water" in write(tmp_path).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "docs" / "images").glob("*.svg")))
def test_pictures_of_the_docs_can_be_read_by_any_reader(name: str) -> None:
    text = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
    assert not re.search(r"var\(|color-mix", text)


def test_fonts_in_pdf_files_are_outlines_that_can_be_searched(small: Path, tmp_path: Path) -> None:
    figure = tw.load(small).run().plot("rate", out=tmp_path / "one.pdf")
    # as people do it, without Thalweg's style
    figure.savefig(tmp_path / "two.pdf")
    for name in ("one", "two"):
        data = (tmp_path / f"{name}.pdf").read_bytes()
        assert b"/Type3" not in data
        assert b"/CIDFontType2" in data
