"""Style of figures, and plots of a run's tables. All numbers come from tables.

Colours are safe for the colour-blind and legible on light and dark pages. Figures in files have explicit colours on
white, since few programs except browsers support CSS variables; in a page `inked` uses the page's colours for text and
background.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

COLOURS = (
    "#3878c7",
    "#dd7a30",
    "#2a9d82",
    "#c2508f",
    "#8268c9",
    "#a98f12",
    "#d1495b",
    "#6f8f3a",
    "#3aa0c4",
    "#8d7b6b",
)
"""Colours of lines, in their order of use."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
"""Markers, in the same order."""

SCHEME_COLOURS = {
    "aimd": "#8268c9",
    "asmp": "#c2508f",
    "bbr": "#6b7885",
    "bic": "#a98f12",
    "cctcp": "#2cbf74",
    "chopcop": "#4b52e0",
    "coopcon": "#9c6b3f",
    "cubic": "#dd7a30",
    "cubic_ndn": "#e39a87",
    "cvihis": "#3a6cb3",
    "ecn_rate": "#d98fb0",
    "ecp": "#9fbf5a",
    "flecom": "#6a6a6a",
    "gcc": "#e39a87",
    "highspeed": "#2c8542",
    "his": "#3aa0c4",
    "hobhis": "#6f8f3a",
    "hr_icp": "#8c4450",
    "htcp": "#11a011",
    "hybla": "#0b3573",
    "icp": "#c2508f",
    "illinois": "#9019e5",
    "ledbat": "#b07cc6",
    "ledbat_pp": "#9b567c",
    "mca": "#3878c7",
    "mircc": "#3878c7",
    "mircc_multipath": "#7286a8",
    "nack": "#8d7b6b",
    "ndnsieve": "#b07cc6",
    "pcon": "#9b567c",
    "perif_ecn": "#8d7b6b",
    "pgmcc": "#6f8f3a",
    "raaqm": "#d1495b",
    "reno": "#2a9d82",
    "scalable": "#c01515",
    "srmcc": "#d1495b",
    "tcp_lp": "#8d7b6b",
    "tfmcc": "#3aa0c4",
    "tfrc": "#d98fb0",
    "vegas": "#54d916",
    "veno": "#d94ecd",
    "westwood": "#73240b",
    "yeah": "#5c0e8c",
}
"""One colour per scheme in all figures. Two schemes have the same colour only if no network has both."""

NO_SCHEME = "#9aa3ab"
"""Colour of a flow without a scheme, in a figure of schemes."""

SHADES = (0.0, 0.38, -0.3, 0.6)
"""Lightness steps of the flows of one scheme relative to the first of them."""

INK = "#1d2733"
"""Colour of text and axes; in a page `inked` replaces it by the page's."""

FAINT = "#b8c0c8"
"""Colour of grids; in a page `inked` replaces it by the page's."""

GROUND = "#ffffff"
"""Background of figures in files; in a page `inked` replaces it by the page's."""

LABEL = 30
"""Characters per line of a legend's label; a longer label is broken between words."""

STEADY = 0.02
"""Minimum range of an axis as a share of its value, so that noise in the last digits does not look like a change."""

NEAR_ZERO = 0.01
"""A line whose mean is below this share of the maximum is drawn in the common shade of such lines."""

TITLES = {
    "allowed_rate": "Allowed rate",
    "backlog_bytes": "Backlog",
    "in_flight": "In flight",
    "delay": "Delay from the first Interest",
    "generated": "Interests generated",
    "pit": "Pending Interests",
    "rtt": "Round-trip time",
    "srtt": "Smoothed round-trip time",
    "ssthresh": "Slow-start threshold",
}
"""Labels of series whose name is not sufficient."""

UNITS = {"bps": ("Mbit/s", 1e-6), "s": ("ms", 1e3), "bytes": ("kB", 1e-3), "1": ("", 1.0)}
"""Unit and factor of values of a unit in figures."""


def title_of(series: str) -> str:
    """The label of a series."""
    return TITLES.get(series) or series.replace("_", " ").capitalize()


def unit_of(series: str) -> tuple[str, float]:
    """Unit and factor of a series in figures."""
    from .catalogue import series as known

    unit = next((row["unit"] for row in known() if row["name"] == series), "")
    return UNITS.get(unit, (unit, 1.0))


def style() -> Any:
    """Matplotlib settings of all figures: `with matplotlib.rc_context(plots.style()): …`."""
    return {
        "axes.axisbelow": True,
        "axes.edgecolor": INK,
        # plain numbers, not differences from an offset or multiples of a power
        "axes.formatter.useoffset": False,
        "axes.formatter.limits": (-99, 99),
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.linewidth": 0.7,
        "axes.prop_cycle": _cycle(),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlecolor": INK,
        **{f"boxplot.{part}props.color": INK for part in ("box", "whisker", "cap", "flier")},
        "boxplot.flierprops.markeredgecolor": INK,
        "boxplot.medianprops.color": COLOURS[0],
        "figure.constrained_layout.use": True,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": GROUND,
        "font.family": "sans-serif",
        "font.size": 9.5,
        "grid.color": FAINT,
        "grid.linewidth": 0.5,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "legend.labelcolor": INK,
        "lines.linewidth": 1.4,
        "lines.markersize": 4.5,
        "hatch.color": INK,
        "lines.color": INK,
        "patch.edgecolor": INK,
        # outlines that can be searched and scaled, and that printers and journals accept
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "thalweg",
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.major.width": 0.7,
        "ytick.major.width": 0.7,
    }


def in_style() -> Any:
    """Draws with these settings: `with plots.in_style(): …`."""
    from matplotlib import rc_context

    return rc_context(style())


@cache
def figure_class() -> type[Figure]:
    """The class of all figures: every way of saving uses the same settings."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Plain

    class Figure(Plain):
        def savefig(self, *args: Any, **more: Any) -> None:
            with rc_context(style()):
                super().savefig(*args, **more)

    return Figure


def svg(figure: Figure, name: str = "figure", alt: str | None = None) -> str:
    """The figure as an SVG document: it scales, and all its colours are explicit.

    `name` makes the ids of several figures in one page unique; `alt` is the text for screen readers. The same figure
    gives the same text. The figure is closed.
    """
    import matplotlib.pyplot as plt
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context(style()):
        figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return adopt(text.getvalue(), name, alt)


def adopt(drawing: str, name: str, alt: str | None = None) -> str:
    """Prepares an SVG document for a page with others: no prologue, unique ids, size from the page."""
    body = drawing[drawing.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    prefix = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    if f'id="{prefix}.' not in body:
        body = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}.\1"', body)
        body = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}.\1"', body)
        body = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}.\1)", body)
    # the view box keeps the proportions; the page sets the width
    body = re.sub(r'(<svg[^>]*?) width="[\d.]+(?:pt)?" height="[\d.]+(?:pt)?"', r"\1", body, count=1)
    body = re.sub(
        r'(<svg[^>]*?) height="[\d.]+(?:pt)?"([^>]*?) width="[\d.]+(?:pt)?"', r"\1\2", body, count=1
    )
    body = re.sub(r"font-family: '[^;\"]*", "font-family: sans-serif", body)
    body = re.sub(r"(font: [^;\"']*)'[^;\"]*", r"\1sans-serif", body)
    if alt and "<title>" not in body:
        end = body.index(">", body.index("<svg")) + 1
        body = f"{body[:end]}<title>{_escape(alt)}</title>{body[end:]}"
    return re.sub(r"<svg ", '<svg role="img" ', body, count=1) if 'role="img"' not in body else body


def inked(drawing: str) -> str:
    """A figure for a page, light or dark: text, grid and background are the page's."""
    for colour, variable in ((INK, "--ink"), (FAINT, "--faint"), (GROUND, "--card")):
        drawing = re.sub(rf"(?<!, ){colour}\b", f"var({variable}, {colour})", drawing)
    return drawing


def written_out(drawing: str) -> str:
    """A figure for a file: CSS variables and colour mixtures, which few programs but browsers support, become colours."""
    drawing = re.sub(r"var\(--\w+, (#[0-9a-f]+)\)", r"\1", drawing)
    return re.sub(
        r"color-mix\(in srgb, (#[0-9a-f]+) (\d+)%, (#[0-9a-f]+)\)",
        lambda mix: mixed(mix[1], mix[3], int(mix[2]) / 100),
        drawing,
    )


def mixed(one: str, other: str, share: float) -> str:
    """A mixture of two colours, with this share of the first."""
    pairs = zip(_parts(one), _parts(other), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _parts(colour: str) -> list[int]:
    """Red, green and blue, 0 to 255."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    return [int(digits[at : at + 2], 16) for at in (0, 2, 4)]


def subject_name(subject: str) -> str:
    """`flow.cubic.1` in a label: `cubic.1`."""
    for kind in ("flow.", "flows.", "link.", "node.", "receiver."):
        if subject.startswith(kind):
            return subject[len(kind) :]
    return subject


def series(
    frame: polars.DataFrame,
    name: str,
    subjects: Sequence[str] | None = None,
    *,
    limit: int = 10,
    colours: Mapping[str, str] | None = None,
    marks: Sequence[tuple[float, str]] = (),
    size: tuple[float, float] = (8.2, 2.6),
    title: str | None = None,
) -> Figure:
    """One series over time, one line per subject: at most `limit` and none that stays near zero; the rest in one shade.

    `colours` gives the colour of each subject; `marks` are times, in seconds, at which a thin line with a label is drawn.
    `title` names the vertical axis, if the name of the series does not.

    Raises ``ValueError``, with the recorded series, if the series was not recorded.
    """
    import matplotlib.pyplot as plt
    import polars as pl
    from matplotlib import rc_context

    from .catalogue import renamed

    rows = frame.filter(pl.col("series") == name)
    if subjects is not None:
        rows = rows.filter(pl.col("subject").is_in(list(subjects)))
    if rows.is_empty():
        recorded = sorted(frame["series"].unique())
        if new := renamed(name, recorded):
            raise ValueError(f"the series {name!r} was renamed to {new!r}")
        known = ", ".join(recorded) or "nothing"
        raise ValueError(f"no series {name!r} was recorded for these subjects; recorded: {known}")
    unit, factor = unit_of(name)
    title = title or title_of(name)
    means = rows.group_by("subject").agg(pl.col("value").abs().mean())
    loud = means.filter(pl.col("value") >= NEAR_ZERO * pl.col("value").max())
    names = loud.sort("value", "subject", descending=[True, False])["subject"].head(limit).sort().to_list()
    with rc_context(style()):
        figure, axes = plt.subplots(figsize=size, FigureClass=figure_class())
        kept = colours or {}
        taken = {kept[subject] for subject in names if subject in kept}
        free = [colour for colour in COLOURS if colour not in taken] or list(COLOURS)
        others = [subject for subject in names if subject not in kept]
        given = {subject: free[index % len(free)] for index, subject in enumerate(others)}
        for subject in names:
            part = rows.filter(pl.col("subject") == subject)
            colour = kept.get(subject) or given[subject]
            axes.plot(part["time_s"], part["value"] * factor, color=colour, label=subject_name(subject))
        rest = rows.filter(~pl.col("subject").is_in(names))
        for index, (_, part) in enumerate(rest.group_by("subject", maintain_order=True)):
            label = f"{rest['subject'].n_unique()} more" if index == 0 else None
            axes.plot(
                part["time_s"], part["value"] * factor, color=FAINT, linewidth=0.7, zorder=1, label=label
            )
        axes.set_xlabel("time (s)")
        axes.set_ylabel(f"{title[0].lower()}{title[1:]}" + (f" ({unit})" if unit else ""))
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
        _mark(axes, marks)
        place_legend(axes)
    return figure


def cdf(
    samples: Mapping[str, Sequence[float]],
    axis: str,
    *,
    logarithmic: bool = False,
    limit: int = 10,
    size: tuple[float, float] = (8.2, 2.6),
) -> Figure:
    """Cumulative distributions of samples, one line per name: at each value the share of samples that do not exceed it.

    At most `limit` lines, in their order. `logarithmic` is the horizontal axis. Raises ``ValueError`` without samples.
    """
    import polars as pl

    told = {name: sorted(values) for name, values in samples.items() if len(values) > 0}
    if not told:
        raise ValueError("there are no samples")
    frame = pl.DataFrame(
        [
            (name, value, (index + 1) / len(values))
            for name, values in list(told.items())[:limit]
            for index, value in enumerate(values)
        ],
        schema={"subject": pl.String, "value_s": pl.Float64, "share": pl.Float64},
        orient="row",
    )
    return distributions(frame, axis, 1.0, logarithmic=logarithmic, size=size)


def distributions(
    frame: polars.DataFrame,
    axis: str,
    factor: float = 1.0,
    *,
    colours: Mapping[str, str] | None = None,
    logarithmic: bool = False,
    limit: int = 10,
    size: tuple[float, float] = (8.2, 2.6),
) -> Figure:
    """Rows of the table `distributions` as lines, one per subject, at most `limit`; values are multiplied by `factor`."""
    import matplotlib.pyplot as plt
    from matplotlib import rc_context
    from matplotlib.ticker import LogLocator

    with rc_context(style()):
        figure, axes = plt.subplots(figsize=size, FigureClass=figure_class())
        parts = list(frame.group_by("subject", maintain_order=True))[:limit]
        for index, ((subject,), part) in enumerate(parts):
            colour = (colours or {}).get(str(subject)) or COLOURS[index % len(COLOURS)]
            values = [value * factor for value in part["value_s"]]
            # a step begins at its first value
            axes.step(
                [values[0], *values],
                [0.0, *part["share"]],
                where="post",
                color=colour,
                label=subject_name(str(subject)),
            )
        if logarithmic:
            axes.set_xscale("log")
            # plain numbers, also where the values span less than a power of ten
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("")
        else:
            axes.set_xlim(left=0)
        axes.set_ylim(0, 1)
        axes.set_xlabel(axis)
        axes.set_ylabel("share")
        place_legend(axes)
    return figure


def scatter(
    flows: polars.DataFrame,
    colours: Mapping[str, str] | None = None,
    *,
    delay: str = "queueing_delay_s",
    limit: int = 10,
    size: tuple[float, float] = (8.2, 3.6),
) -> Figure:
    """Throughput over delay, one point per flow of the table `flows`; `delay` is a column of it, in seconds.

    With more than `limit` flows the points have no names.
    """
    import matplotlib.pyplot as plt
    from matplotlib import rc_context

    with rc_context(style()):
        figure, axes = plt.subplots(figsize=size, FigureClass=figure_class())
        for index, row in enumerate(flows.drop_nulls([delay, "throughput_bps"]).to_dicts()):
            axes.plot(
                row[delay] * 1e3,
                row["throughput_bps"] / 1e6,
                linestyle="none",
                marker=MARKERS[index % len(MARKERS)] if flows.height <= limit else "o",
                color=(colours or {}).get(f"flow.{row['flow']}") or COLOURS[index % len(COLOURS)],
                label=row["flow"] if flows.height <= limit else None,
            )
        axes.margins(x=0.06)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(f"{delay.removesuffix('_s').replace('_', ' ')} (ms)")
        axes.set_ylabel("throughput (Mbit/s)")
        place_legend(axes)
    return figure


def bars(
    labels: Sequence[str],
    groups: Mapping[str, Iterable[float]],
    axis: str,
    *,
    colours: Sequence[str] | None = None,
    size: tuple[float, float] = (8.2, 2.4),
) -> Figure:
    """One bar per label and group, side by side; `colours` are of the labels, if there is one group."""
    import matplotlib.pyplot as plt
    from matplotlib import rc_context

    with rc_context(style()):
        figure, axes = plt.subplots(figsize=size, FigureClass=figure_class())
        width = min(0.8, 0.08 * max(len(labels), 4)) / max(len(groups), 1)
        for index, (group, values) in enumerate(groups.items()):
            at = [place + (index - (len(groups) - 1) / 2) * width for place in range(len(labels))]
            axes.bar(
                at, list(values), width * 0.92, color=colours or COLOURS[index % len(COLOURS)], label=group
            )
        axes.set_xticks(range(len(labels)), labels, rotation=0 if len(labels) <= 8 else 60)
        edge = max(0.6, 2.4 - len(labels) / 2)
        axes.set_xlim(-edge, len(labels) - 1 + edge)
        axes.set_ylabel(axis)
        axes.grid(visible=False, axis="x")
        place_legend(axes)
    return figure


def grid(
    rows: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    metric: str,
    axis: str,
    *,
    size: tuple[float, float] = (8.2, 2.6),
) -> Figure:
    """A metric over the first key of a grid, one line per combination of the others; `rows` hold `(mean, ci95)`.

    Words have no order, so that no line joins them; their points are side by side.
    """
    import matplotlib.pyplot as plt
    from matplotlib import rc_context

    across = list(dict.fromkeys(row[keys[0]] for row in rows))
    words_across = any(isinstance(value, str) and not value[:1].isdigit() for value in across)
    lines: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        if metric in row and row[metric][0] is not None:
            lines.setdefault(tuple(row[key] for key in keys[1:]), []).append(row)
    with rc_context(style()):
        figure, axes = plt.subplots(figsize=size, FigureClass=figure_class())
        for index, (rest, part) in enumerate(lines.items()):
            aside = min(0.12, 0.6 / len(lines)) * (index - (len(lines) - 1) / 2) if words_across else 0.0
            axes.errorbar(
                [across.index(row[keys[0]]) + aside for row in part],
                [row[metric][0] for row in part],
                [row[metric][1] or 0.0 for row in part],
                color=COLOURS[index % len(COLOURS)],
                marker=MARKERS[index % len(MARKERS)],
                linestyle="none" if words_across else "-",
                capsize=3,
                label=", ".join(map(str, rest)) or None,
            )
        turned = sum(len(str(value)) for value in across) > 80
        axes.set_xticks(range(len(across)), [str(value) for value in across], rotation=60 if turned else 0)
        axes.margins(x=0.06)
        axes.set_xlabel(keys[0].removeprefix("topology."))
        axes.set_ylabel(textwrap.fill(axis, LABEL))
        steady(axes)
        # tick labels are the values; their keys are above them
        place_legend(axes, ", ".join(key.removeprefix("topology.") for key in keys[1:]))
    return figure


def steady(axes: Axes) -> None:
    """Extends the axis of values that are almost equal."""
    low, high = axes.get_ylim()
    span = STEADY * max(abs(low), abs(high))
    if high - low < span:
        middle = (low + high) / 2
        axes.set_ylim(middle - span / 2, middle + span / 2)


def scheme_colours(schemes: Iterable[str]) -> dict[str, str]:
    """A colour for each scheme: its own if it has one, and the next unused one for the others."""
    wanted = list(dict.fromkeys(schemes))
    free = [
        colour for colour in COLOURS if colour not in {SCHEME_COLOURS.get(scheme) for scheme in wanted}
    ] or COLOURS
    others = [scheme for scheme in wanted if scheme not in SCHEME_COLOURS]
    given = {scheme: free[number % len(free)] for number, scheme in enumerate(others)}
    return {scheme: SCHEME_COLOURS.get(scheme) or given[scheme] for scheme in wanted}


def flow_colours(flows: Sequence[str], schemes: Sequence[str]) -> dict[str, str]:
    """A colour for each flow, the same in every figure of a run.

    A flow that is the only one of its scheme has the scheme's colour. If several schemes have a few flows each, those of
    one scheme are shades of its colour; otherwise flows use colours in turn.
    """
    of_scheme = scheme_colours(schemes)
    by_scheme: dict[str, list[str]] = {}
    for flow, scheme in zip(flows, schemes, strict=True):
        by_scheme.setdefault(scheme, []).append(flow)
    shaded = len(by_scheme) > 1 and all(len(listed) <= len(SHADES) for listed in by_scheme.values())
    given: dict[str, str] = {}
    alone = {of_scheme[scheme] for scheme, listed in by_scheme.items() if len(listed) == 1}
    free = [colour for colour in COLOURS if colour not in alone]
    turn = 0
    for scheme, listed in by_scheme.items():
        for index, flow in enumerate(listed):
            if len(listed) == 1 or shaded:
                given[flow] = shade(of_scheme[scheme], SHADES[index])
            else:
                given[flow] = shade(free[turn % len(free)], SHADES[turn // len(free) % len(SHADES)])
                turn += 1
    return {flow: given[flow] for flow in flows}


def shade(colour: str, share: float) -> str:
    """A colour that is lighter by `share`, or darker if `share` is negative."""
    goal = 255 if share > 0 else 0
    return "#" + "".join(f"{round(part + (goal - part) * abs(share)):02x}" for part in _parts(colour))


def _mark(axes: Axes, marks: Sequence[tuple[float, str]]) -> None:
    """Thin lines with labels at the times of events; overlapping labels are omitted."""
    low, high = axes.get_xlim()
    last = low - (high - low)
    for at, words in marks:
        if not low <= at <= high:
            continue
        axes.axvline(at, color=INK, linewidth=0.7, linestyle=(0, (2, 2)), zorder=1.5)
        if at - last > 0.02 * (high - low):
            near_end = at > high - 0.03 * (high - low)
            axes.annotate(
                words,
                (at, 1),
                xycoords=("data", "axes fraction"),
                xytext=(-2 if near_end else 2, -2),
                textcoords="offset points",
                rotation=90,
                ha="right" if near_end else "left",
                va="top",
                fontsize=7.5,
                color=INK,
            )
            last = at


def place_legend(axes: Axes, title: str = "", *, rows: int = 2) -> int:
    """A legend above the plot if that takes at most this number of rows, otherwise beside it; none for a single entry.

    It stays within the figure: a row has as many entries as fit. Returns the rows above the plot.
    """
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) <= 1:
        return 0
    labels = [textwrap.fill(label, LABEL, break_long_words=False) for label in labels]
    words: dict[str, Any] = {
        "handlelength": 1.4,
        "columnspacing": 1.4,
        "alignment": "left",
        **({"title": title, "title_fontsize": 9} if title else {}),
    }
    across = axes.get_subplotspec()
    room = axes.figure.bbox.width / (across.get_gridspec().ncols if across else 1) * 0.94
    for columns in range(min(len(labels), 8), 0, -1):
        lines = math.ceil(len(labels) / columns)
        if lines > rows:
            break
        legend = axes.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=columns,
            borderaxespad=0.2,
            **words,
        )
        if width_of(legend) <= room:
            return lines + bool(title)
    legend = axes.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, **words
    )
    high = axes.figure.bbox.height * 0.9
    lines = max(int(len(labels) * high / max(_height(legend), 1.0)), 1)
    if lines < len(labels):
        columns = math.ceil(len(labels) / lines)
        axes.legend(
            handles,
            labels,
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0,
            ncols=columns,
            **words,
        )
    return 0


def width_of(legend: Legend) -> float:
    """The width of a legend, in pixels of its figure."""
    return float(legend.get_window_extent(_renderer(legend)).width)


def _height(legend: Legend) -> float:
    return float(legend.get_window_extent(_renderer(legend)).height)


def _renderer(legend: Legend) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(legend.get_figure(root=True))
    return canvas.get_renderer()


def _cycle() -> Any:
    from cycler import cycler

    return cycler(color=list(COLOURS))


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
