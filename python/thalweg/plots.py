"""Style of figures, and plots of a run's tables. All numbers come from tables.

Colours are safe for the colour-blind and legible on light and dark pages. Figures in files have explicit colours on
white, since few programs except browsers support CSS variables; in a page `use_page_colours` replaces those of text and
background by the page's.
"""

from __future__ import annotations

import io
import itertools
import math
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import styles
from ._legend import LABEL
from ._legend import legend_width as legend_width
from ._legend import place_legend as place_legend
from ._names import nearest, unknown_name
from .quantities import numbers
from .styles import COLOURS as COLOURS
from .styles import FAINT as FAINT
from .styles import GROUND as GROUND
from .styles import INK as INK
from .styles import MARKERS as MARKERS
from .styles import figure_class as figure_class
from .styles import in_style as in_style
from .styles import style as style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .styles import Style

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

MIN_AXIS_RANGE = 0.02
"""Minimum range of an axis as a share of its value, so that noise in the last digits does not look like a change."""

LOGARITHMIC_RATIO = 16.0
"""An axis of quantities whose largest is at least this many times the smallest is logarithmic."""

MAX_TICKS = 10
"""Maximum number of quantities that each have a tick."""

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


def series_title(series: str) -> str:
    """The label of a series."""
    return TITLES.get(series) or series.replace("_", " ").capitalize()


def unit_of(series: str) -> tuple[str, float]:
    """Unit and factor of a series in figures."""
    from .catalogue import series as known

    unit = next((row["unit"] for row in known() if row["name"] == series), "")
    return UNITS.get(unit, (unit, 1.0))


class Drawing(str):
    """An SVG document, and the figure that it shows."""

    figure: Figure

    def __new__(cls, text: str, figure: Figure) -> Drawing:
        """The text of the document, with the figure."""
        made = super().__new__(cls, text)
        made.figure = figure
        return made


def svg(figure: Figure, name: str = "figure", alt: str | None = None) -> Drawing:
    """The figure as an SVG document: it scales, and all its colours are explicit.

    `name` makes the ids of several figures in one page unique; `alt` is the text for screen readers. The same figure
    gives the same text. The figure is closed.
    """
    import matplotlib.pyplot as plt

    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return Drawing(prepare_svg(text.getvalue(), name, alt), figure)


def prepare_svg(drawing: str, name: str, alt: str | None = None) -> str:
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


def use_page_colours(drawing: str) -> str:
    """A figure for a page, light or dark: text, grid and background are the page's."""
    for colour, variable in ((INK, "--ink"), (FAINT, "--faint"), (GROUND, "--card")):
        drawing = re.sub(rf"(?<!, ){colour}\b", f"var({variable}, {colour})", drawing)
    return drawing


def resolve_colours(drawing: str) -> str:
    """A figure for a file: CSS variables and colour mixtures, which few programs but browsers support, become colours."""
    drawing = re.sub(r"var\(--\w+, (#[0-9a-f]+)\)", r"\1", drawing)
    return re.sub(
        r"color-mix\(in srgb, (#[0-9a-f]+) (\d+)%, (#[0-9a-f]+)\)",
        lambda mix: mix_colours(mix[1], mix[3], int(mix[2]) / 100),
        drawing,
    )


def mix_colours(one: str, other: str, share: float) -> str:
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
    look: Style | None = None,
) -> Figure:
    """One series over time, one line per subject: at most `limit` and none that stays near zero; the rest in one shade.

    `colours` gives the colour of each subject; `marks` are times, in seconds, at which a thin line with a label is drawn.
    `title` names the vertical axis, if the name of the series does not.

    Raises ``ValueError``, with the nearest names and the recorded series, if the series or a subject was not recorded.
    """
    import polars as pl
    from matplotlib import rc_context

    rows = series_rows(frame, name, subjects)
    look = look or styles.page()
    unit, factor = unit_of(name)
    title = title or series_title(name)
    means = rows.group_by("subject").agg(pl.col("value").abs().mean())
    drawn = means.filter(pl.col("value") >= NEAR_ZERO * pl.col("value").max())
    names = drawn.sort("value", "subject", descending=[True, False])["subject"].head(limit).sort().to_list()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        kept = colours or {}
        taken = {kept[subject] for subject in names if subject in kept}
        free = [colour for colour in COLOURS if colour not in taken] or list(COLOURS)
        others = [subject for subject in names if subject not in kept]
        given = {subject: free[index % len(free)] for index, subject in enumerate(others)}
        # what has one colour on a page has one kind of line in print, in every figure of the run
        order = list(dict.fromkeys([*(kept.values() if taken else ()), *given.values()]))
        for subject in names:
            part = rows.filter(pl.col("subject") == subject)
            colour = kept.get(subject) or given[subject]
            line = look.line(order.index(colour), colour, part.height)
            axes.plot(part["time_s"], part["value"] * factor, label=subject_name(subject), **line)
        rest = rows.filter(~pl.col("subject").is_in(names))
        for index, (_, part) in enumerate(rest.group_by("subject", maintain_order=True)):
            label = f"{rest['subject'].n_unique()} more" if index == 0 else None
            axes.plot(
                part["time_s"], part["value"] * factor, color=FAINT, linewidth=0.7, zorder=1, label=label
            )
        axes.set_xlabel("time (s)")
        label = f"{title[0].lower()}{title[1:]}" + (f" ({unit})" if unit else "")
        axes.set_ylabel(textwrap.fill(label, LABEL) if look.printed else label)
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
        _mark(axes, marks)
        place_legend(axes, rows=look.legend_rows)
    return figure


def series_rows(
    frame: polars.DataFrame, name: str, subjects: Sequence[str] | None = None
) -> polars.DataFrame:
    """The rows of a series, of these subjects. Raises ``ValueError`` with the nearest names if there are none."""
    import polars as pl

    from .catalogue import renamed

    rows = frame.filter(pl.col("series") == name)
    if rows.is_empty():
        there = sorted(frame["series"].unique())
        if new := renamed(name, there):
            raise ValueError(f"the series {name!r} was renamed to {new!r}")
        hint = nearest(name, there) if there else ""
        meant = f"; {hint}" if hint.startswith("did") else ""
        raise ValueError(f"no series {name!r} was recorded{meant}; recorded: {', '.join(there) or 'nothing'}")
    if subjects is None:
        return rows
    known = set(frame["subject"].unique())
    if unknown := [subject for subject in subjects if subject not in known]:
        raise ValueError(unknown_name("subject", unknown[0], sorted(rows["subject"].unique())))
    part = rows.filter(pl.col("subject").is_in(list(subjects)))
    if part.is_empty():
        raise ValueError(f"series {name!r} was not recorded for these subjects: {', '.join(subjects)}")
    return part


def cdf(
    samples: Mapping[str, Sequence[float]],
    axis: str,
    *,
    logarithmic: bool = False,
    limit: int = 10,
    size: tuple[float, float] = (8.2, 2.6),
    look: Style | None = None,
) -> Figure:
    """Cumulative distributions of samples, one line per name: at each value the share of samples that do not exceed it.

    At most `limit` lines, in their order. `logarithmic` is the horizontal axis. Raises ``ValueError`` without samples.
    """
    import polars as pl

    sorted_samples = {name: sorted(values) for name, values in samples.items() if len(values) > 0}
    if not sorted_samples:
        raise ValueError("there are no samples")
    frame = pl.DataFrame(
        [
            (name, value, (index + 1) / len(values))
            for name, values in list(sorted_samples.items())[:limit]
            for index, value in enumerate(values)
        ],
        schema={"subject": pl.String, "value_s": pl.Float64, "share": pl.Float64},
        orient="row",
    )
    return distributions(frame, axis, 1.0, logarithmic=logarithmic, size=size, look=look)


def distributions(
    frame: polars.DataFrame,
    axis: str,
    factor: float = 1.0,
    *,
    colours: Mapping[str, str] | None = None,
    logarithmic: bool = False,
    limit: int = 10,
    size: tuple[float, float] = (8.2, 2.6),
    look: Style | None = None,
) -> Figure:
    """Rows of the table `distributions` as lines, one per subject, at most `limit`; values are multiplied by `factor`."""
    from matplotlib import rc_context
    from matplotlib.ticker import LogLocator

    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        parts = list(frame.group_by("subject", maintain_order=True))[:limit]
        for index, ((subject,), part) in enumerate(parts):
            colour = (colours or {}).get(str(subject)) or COLOURS[index % len(COLOURS)]
            values = [value * factor for value in part["value_s"]]
            # a step begins at its first value
            axes.step(
                [values[0], *values],
                [0.0, *part["share"]],
                where="post",
                label=subject_name(str(subject)),
                **look.line(index, colour, len(values) + 1),
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
        place_legend(axes, rows=look.legend_rows)
    return figure


def scatter(
    flows: polars.DataFrame,
    colours: Mapping[str, str] | None = None,
    *,
    delay: str = "queueing_delay_s",
    limit: int = 10,
    size: tuple[float, float] = (8.2, 3.6),
    look: Style | None = None,
) -> Figure:
    """Throughput over delay, one point per flow of the table `flows`; `delay` is a column of it, in seconds.

    With more than `limit` flows the points have no names.
    """
    from matplotlib import rc_context

    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        for index, row in enumerate(flows.drop_nulls([delay, "throughput_bps"]).to_dicts()):
            axes.plot(
                row[delay] * 1e3,
                row["throughput_bps"] / 1e6,
                linestyle="none",
                marker=MARKERS[index % len(MARKERS)] if flows.height <= limit else "o",
                color=(colours or {}).get(f"flow.{row['flow']}") or COLOURS[index % len(COLOURS)],
                label=row["flow"] if flows.height <= limit else None,
            )
        # from 0, with room beyond the last point, however near to each other all are
        for limits, ends in (
            (axes.set_xlim, axes.dataLim.intervalx),
            (axes.set_ylim, axes.dataLim.intervaly),
        ):
            if flows.height and ends[1] > 0:
                limits(0, 1.08 * ends[1])
        axes.set_xlabel(f"{delay.removesuffix('_s').replace('_', ' ')} (ms)")
        axes.set_ylabel("throughput (Mbit/s)")
        place_legend(axes, rows=look.legend_rows)
    return figure


def scatter_runs(
    samples: Mapping[str, Sequence[tuple[float, float]]],
    x: str,
    y: str,
    *,
    size: tuple[float, float] = (8.2, 3.6),
    look: Style | None = None,
) -> Figure:
    """Two numbers of runs against each other: a point per run, a colour per name, and the ellipse of the runs of a name.

    `x` and `y` are the labels of the axes. A name with fewer than three runs has no ellipse.
    """
    from matplotlib import rc_context
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        for index, (name, points) in enumerate(samples.items()):
            dots = look.points(index, COLOURS[index % len(COLOURS)]) | {"linestyle": "none"}
            axes.plot(*zip(*points, strict=True), label=name, **dots)
            if outline := ellipse(points):
                colour = dots["color"]
                axes.add_collection(
                    PolyCollection(
                        [outline], facecolors=[to_rgba(colour, 0.16)], edgecolors=[colour], linewidths=0.8
                    )
                )
        axes.margins(0.08)
        axes.autoscale_view()
        axes.set_xlim(left=max(axes.get_xlim()[0], 0.0))
        axes.set_ylim(bottom=max(axes.get_ylim()[0], 0.0))
        axes.set_xlabel(x)
        axes.set_ylabel(textwrap.fill(y, LABEL) if look.printed else y)
        place_legend(axes, rows=look.legend_rows)
    return figure


MIN_ELLIPSE = 3
"""Minimum number of points of an ellipse."""


def ellipse(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Outline of the ellipse of points, closed; empty for fewer than three.

    It is the contour at one standard deviation of the normal distribution of two dimensions that fits the points best
    (maximum likelihood), as in Winstein and Balakrishnan, "TCP ex Machina", SIGCOMM 2013.
    """
    n = len(points)
    if n < MIN_ELLIPSE:
        return []
    centre = [math.fsum(point[axis] for point in points) / n for axis in (0, 1)]
    aside = [(x - centre[0], y - centre[1]) for x, y in points]
    xx, xy, yy = (
        math.fsum(one[first] * one[second] for one in aside) / n for first, second in ((0, 0), (0, 1), (1, 1))
    )
    # the triangular root of the covariance takes a circle to the contour
    across = math.sqrt(xx)
    slant = xy / across if across > 0 else 0.0
    along = math.sqrt(max(yy - slant * slant, 0.0))
    angles = [2 * math.pi * step / 72 for step in range(73)]
    return [
        (
            centre[0] + across * math.cos(angle),
            centre[1] + slant * math.cos(angle) + along * math.sin(angle),
        )
        for angle in angles
    ]


def bars(
    labels: Sequence[str],
    groups: Mapping[str, Iterable[float]],
    axis: str,
    *,
    colours: Sequence[str] | None = None,
    size: tuple[float, float] = (8.2, 2.4),
) -> Figure:
    """One bar per label and group, side by side; `colours` are of the labels, if there is one group."""
    from matplotlib import rc_context

    look = styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
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


def boxes(
    samples: Mapping[str, Sequence[float]],
    axis: str,
    *,
    size: tuple[float, float] = (8.2, 2.6),
    look: Style | None = None,
) -> Figure:
    """Box plots of samples, one box per name: median, quartiles, whiskers to the last value within 1.5 interquartile ranges.

    Values beyond the whiskers are dots.
    """
    from matplotlib import rc_context

    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        for index, (name, values) in enumerate(samples.items()):
            colour = COLOURS[index % len(COLOURS)]
            line: dict[str, Any] = {"color": colour, "linewidth": 1.2}
            axes.boxplot(
                [list(values)],
                positions=[index],
                tick_labels=[name],
                widths=0.34,
                boxprops=line,
                whiskerprops=line,
                capprops=line,
                medianprops={"color": colour, "linewidth": 2.2},
                flierprops={"marker": "o", "markersize": 3.5, "markeredgecolor": colour},
            )
        axes.set_xlim(-0.6, len(samples) - 0.4)
        axes.set_ylabel(textwrap.fill(axis, LABEL))
        axes.grid(visible=False, axis="x")
        widen_axis(axes)
    return figure


def grid(
    rows: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    metric: str,
    axis: str,
    *,
    size: tuple[float, float] = (8.2, 2.6),
    look: Style | None = None,
) -> Figure:
    """A metric over the first key of a grid, one line per combination of the others; `rows` hold `(mean, ci95)`.

    Quantities have their places on an axis with their unit, which is logarithmic over a wide range. Words have no order, so
    that no line joins them; their points are side by side.
    """
    from matplotlib import rc_context

    axis_x = GridAxis.of(rows, keys[0])
    lines = group_lines(rows, keys, metric)
    look = look or styles.page()
    with rc_context(look.settings):
        figure, axes = styles.new_figure(size, look)
        for index, (rest, part) in enumerate(lines.items()):
            aside = 0.0 if axis_x.joined else min(0.12, 0.6 / len(lines)) * (index - (len(lines) - 1) / 2)
            part.sort(key=lambda row: axis_x.places[row[keys[0]]])
            axes.errorbar(
                [axis_x.places[row[keys[0]]] + aside for row in part],
                [row[metric][0] for row in part],
                [row[metric][1] or 0.0 for row in part],
                capsize=2 if look.printed else 3,
                label=", ".join(map(str, rest)) or None,
                **look.points(index, COLOURS[index % len(COLOURS)])
                | ({} if axis_x.joined else {"linestyle": "none"}),
            )
        axes.set_xlabel(axis_x.label)
        if axis_x.numeric:
            _set_axis(axes, list(axis_x.places.values()), axis_x.logarithmic)
        else:
            # characters that have room between two values
            room = max(int(80 * figure.get_figwidth() / 8.2 / max(len(axis_x.places), 1)), 8)
            words = [textwrap.fill(str(value), room, break_long_words=False) for value in axis_x.places]
            longest = [max(map(len, word.splitlines()), default=0) for word in words]
            turned = any(before + after > 2 * room for before, after in itertools.pairwise(longest))
            axes.set_xticks(range(len(words)), words, rotation=60 if turned else 0)
        axes.margins(x=0.06)
        axes.set_ylabel(textwrap.fill(axis, LABEL))
        widen_axis(axes)
        # tick labels are the values; their keys are above them
        place_legend(
            axes, ", ".join(key.removeprefix("topology.") for key in keys[1:]), rows=look.legend_rows
        )
    return figure


@dataclass(frozen=True)
class GridAxis:
    """The horizontal axis of a grid."""

    places: dict[Any, float]
    """The place of each value of the key: its number, or how many values come before it."""
    label: str
    numeric: bool
    """The values are numbers or quantities."""
    joined: bool
    """The values have an order, so that lines join their points."""
    logarithmic: bool

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], key: str) -> GridAxis:
        """The axis for a key of these rows."""
        values = list(dict.fromkeys(row[key] for row in rows))
        name = key.removeprefix("topology.")
        if found := numbers(values):
            low, high = min(found[0]), max(found[0])
            places = dict(zip(values, found[0], strict=True))
            return cls(
                places,
                f"{name} ({found[1]})" if found[1] else name,
                True,
                True,
                low > 0 and high / low >= LOGARITHMIC_RATIO,
            )
        ordered = not any(isinstance(value, str) and not value[:1].isdigit() for value in values)
        return cls({value: float(place) for place, value in enumerate(values)}, name, False, ordered, False)


def group_lines(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], metric: str
) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    """The rows that have the metric, by the values of all keys but the first."""
    lines: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        if metric in row and row[metric][0] is not None:
            lines.setdefault(tuple(row[key] for key in keys[1:]), []).append(row)
    return lines


def _set_axis(axes: Axes, places: Sequence[float], logarithmic: bool) -> None:
    """The horizontal axis for these quantities, with a tick at each if they are few."""
    from matplotlib.ticker import NullLocator

    low, high = min(places), max(places)
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")
    ordered = sorted(places)
    gaps = [after - before for before, after in itertools.pairwise(ordered)]
    if len(places) <= MAX_TICKS and (logarithmic or min(gaps, default=1.0) >= 0.04 * (high - low)):
        axes.set_xticks(places, [f"{place:g}" for place in places])


def widen_axis(axes: Axes) -> None:
    """Extends the axis of values that are almost equal."""
    low, high = axes.get_ylim()
    span = MIN_AXIS_RANGE * max(abs(low), abs(high))
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
    from matplotlib import rcParams

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
                fontsize=round(rcParams["font.size"] * 0.79, 1),
                color=INK,
            )
            last = at


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
