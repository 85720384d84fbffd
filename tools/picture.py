"""Draws the pictures of the docs. `make figures` calls it.

`first-run.svg` is the network and the rates of the README's scenario, `deep-buffer.svg` its second example.
`feedback-scaling.svg` is a figure of the reproduced SRMCC paper, `coarse-clocks.svg` of the MIRCC paper.
`named-data-*.svg` belong to the comparison of schemes for named data, whose page gets its tables too; so does the page
of `*-compared.svg`, of low-priority and real-time schemes. What `thalweg reproduce` has measured with this build
already is taken from its folder.
"""

import os
import re
import sys
from pathlib import Path

import thalweg as tw
import thalweg_papers as papers
from thalweg import plots
from thalweg.report import network
from thalweg.report._page import number
from thalweg.report.columns import column_heading, with_intervals

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"


def part(drawing, x, y, width, height):
    """A drawing as a part of another, at a place of its own."""
    return drawing.replace("<svg ", f'<svg x="{x}" y="{y}" width="{width}" height="{height}" ', 1)


def write_figure(name, width, height, parts):
    """Writes drawings on a white card, which can be read on dark pages too."""
    target = IMAGES / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width} {height}">\n'
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="12" fill="#ffffff" stroke="#e4e2da"/>\n'
        + plots.resolve_colours("\n".join(parts))
        + "\n</svg>\n",
        encoding="utf-8",
    )
    print(f"{target.relative_to(ROOT)} drawn")


def first_run():
    readme = (ROOT / "README.md").read_text()
    text = re.search(r"^```toml first\.toml\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[1]
    result = tw.Scenario.from_toml(text, "README.md").run()
    rates = plots.svg(plots.series(result.series, "rate", size=(8.2, 2.4)), "rates", "Rates of the flows")
    backlog = plots.svg(
        plots.series(result.series, "backlog", size=(8.2, 2.0)), "backlog", "Queue of the bottleneck"
    )
    parts = [
        part(network(result), 20, 6, 860, 230),
        part(rates, 20, 240, 860, 252),
        part(backlog, 20, 494, 860, 210),
    ]
    write_figure("first-run.svg", 900, 712, parts)


def deep_buffer():
    """Backlog of a deep buffer under drop-tail and under CoDel: the second example of the README."""
    scenario = tw.load(ROOT / "scenarios" / "does-codel-tame-a-deep-buffer.toml")
    disciplines = {"fifo": "drop-tail", "codel": "CoDel"}
    with plots.in_style():
        figure = plots.figure_class()(figsize=(8.2, 2.6))
        axes = figure.subplots()
        for discipline, label in disciplines.items():
            run = scenario.with_({"topology.bottleneck.queue": discipline}).run()
            backlog = run.series.filter(series="backlog", subject="link.bottleneck")
            axes.plot(backlog["time_s"], backlog["value"], label=label)
        axes.set(xlabel="time (s)", ylabel="backlog (packets)", ylim=(0, None))
        axes.margins(x=0)
        plots.place_legend(axes)
    drawing = plots.svg(figure, "deep-buffer", "Backlog of the bottleneck with drop-tail and with CoDel")
    write_figure("deep-buffer.svg", 900, 290, [part(drawing, 20, 12, 860, 272)])


def feedback_scaling():
    kept = ROOT / "out" / "srmcc" / "measurements"
    done = papers.reproduce("srmcc", figure="feedback-scaling", jobs=os.cpu_count() or 1, out=kept)
    write_figure(
        "feedback-scaling.svg", 700, 390, [part(done.figures["feedback-scaling"].svg, 20, 12, 660, 366)]
    )


def coarse_clocks():
    kept = ROOT / "out" / "mircc" / "measurements"
    done = papers.reproduce("mircc", figure="explanation", jobs=os.cpu_count() or 1, out=kept)
    write_figure("coarse-clocks.svg", 800, 340, [part(done.figures["explanation"].svg, 20, 12, 760, 316)])


COMPARED = {
    "dumbbell": (
        "throughput_mbps",
        "delay_ms",
        "jain",
        "min_mbps",
        "lost_percent",
        "refused_percent",
        "longest_queue",
    ),
    "parking-lot": (
        "throughput_mbps",
        "delay_ms",
        "jain",
        "long_mbps",
        "short_mbps",
        "lost_percent",
        "refused_percent",
    ),
    "tree": (
        "throughput_mbps",
        "delay_ms",
        "jain",
        "lost_percent",
        "from_stores_percent",
        "router_hits_percent",
        "pit_peak",
    ),
    "settings": (
        "throughput_mbps",
        "delay_ms",
        "jain",
        "min_mbps",
        "lost_percent",
        "refused_percent",
        "longest_queue",
    ),
}
"""Tables of the comparison, and their columns on its page."""


def cached_study(study):
    """A study, with what it measured before with this build."""
    return papers.reproduce(study, jobs=os.cpu_count() or 1, out=ROOT / "out" / study / "measurements")


def draw_study(study, done):
    """Draws the figures of a study on cards of their own height."""
    for name, figure in done.figures.items():
        wide, high = svg_size(figure.svg)
        drawn = part(figure.svg, 20, 12, 860, 860 * high / wide)
        write_figure(f"{study}-{name}.svg", 900, round(860 * high / wide) + 24, [drawn])


def write_tables(page, tables, first, columns):
    """Fills a page with tables: the column ``first`` and those that ``columns`` names for each."""
    text = page.read_text(encoding="utf-8")
    for name, wanted in columns.items():
        rows = [
            {key: row[key] for key in row if re.sub("_(low|high)$", "", key) in (first, *wanted)}
            for row in tables(name).rows()
        ]
        text = fill_section(text, name, markdown(rows))
    page.write_text(text, encoding="utf-8")
    print(f"{page.relative_to(ROOT)} written")


def named_data():
    done = cached_study("named-data")
    draw_study("named-data", done)
    page = ROOT / "docs" / "named-data-comparison.md"
    write_tables(page, lambda name: done.tables.get(f"table-{name}") or done.tables[name], "scheme", COMPARED)


def background_and_real_time():
    page = ROOT / "docs" / "background-and-real-time.md"
    text = page.read_text(encoding="utf-8")
    for study in ("background", "real-time"):
        done = cached_study(study)
        for name, figure in done.figures.items():
            write_figure(f"{name}-compared.svg", 900, 809, [part(figure.svg, 20, 12, 860, 785)])
        for name, table in done.tables.items():
            text = fill_section(text, f"{study} {name}", markdown(list(table.rows())))
    page.write_text(text, encoding="utf-8")
    print(f"{page.relative_to(ROOT)} written")


SCALING = {
    "table-controller": ("throughput_mbps", "swings_mbps", "moves", "delay_ms", "commands", "retransmitted"),
    "table-death": ("before_mbps", "dead_mbps", "after_mbps", "swings_mbps", "moves", "recovery_s"),
    "table-sizes": (
        "throughput_mbps",
        "jain",
        "delay_ms",
        "lost_percent",
        "packets_per_router",
        "by_period",
        "by_packet",
        "controller",
        "messages",
        "moves",
    ),
}
"""Tables of ndnSieve beyond its paper, and their columns on its page."""


def scaling():
    done = cached_study("scaling")
    draw_study("scaling", done)
    write_tables(ROOT / "docs" / "named-data-control.md", done.tables.__getitem__, "case", SCALING)


def svg_size(svg):
    """Width and height of a drawing, by its view box."""
    _, _, wide, high = re.search(r'viewBox="([^"]+)"', svg)[1].split()
    return float(wide), float(high)


def fill_section(text, name, lines):
    """A page with lines between the marks of that name."""
    block = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    return block.sub(lambda found: f"{found[1]}{lines}\n{found[2]}", text)


def markdown(rows):
    """Rows as a table, means with their intervals."""
    shown = with_intervals(rows, lambda value: number(value, 3))
    heads = [column_heading(name) for name in shown[0]]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    lines += [
        [value if isinstance(value, str) else number(value, 3) for value in row.values()] for row in shown
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def controllers():
    page = ROOT / "docs" / "controllers.md"
    text, done = page.read_text(encoding="utf-8"), cached_study("controllers")
    for name in ("summary", "origins", "steps", "lines"):
        text = fill_section(text, f"controllers {name}", markdown(list(done.tables[name].rows())))
    page.write_text(text, encoding="utf-8")
    print(f"{page.relative_to(ROOT)} written")


def kernel():
    page = ROOT / "docs" / "kernel.md"
    text, done = page.read_text(encoding="utf-8"), cached_study("kernel")
    text = fill_section(text, "kernel summary", markdown(list(done.tables["summary"].rows())))
    text = fill_section(text, "kernel loads", markdown(list(done.tables["loads"].rows())))
    for section, table in (("kernel cells", "cells"), ("kernel loaded cells", "loaded-cells")):
        cells = [row for row in done.tables[table].rows() if row["ours_differs"] != "–"]
        text = fill_section(text, section, markdown(cells))
    page.write_text(text, encoding="utf-8")
    print(f"{page.relative_to(ROOT)} written")
    draw_study("kernel", done)


def l4s():
    page = ROOT / "docs" / "l4s.md"
    text, done = page.read_text(encoding="utf-8"), cached_study("l4s")
    for name, table in done.tables.items():
        text = fill_section(text, f"l4s {name}", markdown(list(table.rows())))
    page.write_text(text, encoding="utf-8")
    print(f"{page.relative_to(ROOT)} written")


def main():
    first_run()
    deep_buffer()
    named_data()
    background_and_real_time()
    controllers()
    kernel()
    l4s()
    scaling()
    coarse_clocks()
    feedback_scaling()
    return 0


if __name__ == "__main__":
    sys.exit(main())
