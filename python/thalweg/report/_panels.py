"""The data of a figure for its interactive form: panels with lines, bars, bands and marks, read from a matplotlib figure.

`save` writes them beside the figure's SVG, and `element` puts those of a page into it; `web/src/panels.ts` reads them.
A figure with anything that is not among these parts stays a picture.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from ._charts import FORMAT, Columns, as_element, packed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from ..plots import Drawing
    from ..plots._intervals import IntervalBars

Panel = dict[str, Any]


class UnknownPartError(ValueError):
    """A part of a figure that has no interactive form."""


def panels(figure: Figure) -> list[Panel] | None:
    """The panels of a figure that was drawn, row by row; None if it stays a picture."""
    found = [axes for axes in figure.axes if axes.get_visible() and axes.axison]
    try:
        listed = [_panel(axes) for axes in found]
    except UnknownPartError:
        return None
    # panels side by side share the title of the first axis; below each other, as on a narrow page, each needs it
    titles: dict[float, str] = {}
    for panel in sorted(listed, key=lambda panel: panel["place"][0]):
        panel["y"]["label"] = panel["y"]["label"] or titles.get(panel["place"][1], "")
        titles[panel["place"][1]] = panel["y"]["label"]
    return listed or None


def interactive(figures: Mapping[str, tuple[Drawing | None, str, str]]) -> dict[str, dict[str, Any]]:
    """Figures with an interactive form, for `element`. By name: the drawing, its title, the Python that makes it."""
    found = {
        name: {"title": title, "python": python, "panels": panels(drawing.figure)}
        for name, (drawing, title, python) in figures.items()
        if drawing is not None
    }
    return {name: figure for name, figure in found.items() if figure["panels"]}


def element(figures: Mapping[str, Mapping[str, Any]]) -> Markup:
    """The content of a page's `<script id="thalweg-panels" type="application/json">`.

    By id of the figure: `panels`, `title` and `python`.
    """
    columns = Columns()

    def placed(values: list[float | None]) -> list[int]:
        import polars

        return columns.add(polars.Series(values, dtype=polars.Float64).fill_null(math.nan))

    listed = [
        {
            "id": name,
            **figure,
            "panels": [
                {
                    **panel,
                    "parts": [
                        {
                            **part,
                            **{key: placed(part[key]) for key in ("x", "y", "low", "high") if key in part},
                        }
                        for part in panel["parts"]
                    ],
                }
                for panel in figure["panels"]
            ],
        }
        for name, figure in figures.items()
    ]
    return as_element({"format": FORMAT, "figures": listed, "bytes": packed(columns.listed)})


def _panel(axes: Axes) -> Panel:
    """One panel. The parts are in the order in which they are drawn."""
    from matplotlib.collections import PolyCollection
    from matplotlib.container import BarContainer
    from matplotlib.patches import Polygon, Rectangle

    from ..plots._intervals import IntervalBars

    if axes.images or axes.texts or axes.artists or axes.tables or axes.child_axes:
        raise UnknownPartError
    parts: list[dict[str, Any]] = []
    seen: set[int] = set()
    for container in axes.containers:
        if isinstance(container, BarContainer):
            seen |= {id(one) for one in container.patches}
            by_colour: dict[str, list[Any]] = {}
            for patch in container.patches:
                if math.isfinite(patch.get_height()):
                    by_colour.setdefault(_hex(patch.get_facecolor()), []).append(patch.get_bbox())
            parts += [
                {
                    "kind": "bar",
                    "label": _label(container.get_label()),
                    "colour": colour,
                    "width": max(box.width for box in boxes),
                    "x": [(box.x0 + box.x1) / 2 for box in boxes],
                    "low": [box.y0 for box in boxes],
                    "y": [box.y1 for box in boxes],
                }
                for colour, boxes in by_colour.items()
            ]
    for line in axes.lines:
        if id(line) in seen:
            continue
        if line.get_transform() == axes.transData:
            parts.append(_line(line, _label(line.get_label())))
        else:
            parts.append(_rule(line))
    for shape in axes.patches:
        if id(shape) in seen:
            continue
        if not isinstance(shape, Rectangle | Polygon):
            raise UnknownPartError
        parts.insert(0, _span(shape, axes))
    for collection in axes.collections:
        if id(collection) in seen:
            continue
        if isinstance(collection, IntervalBars):
            if collection.intervals:
                parts.append(_intervals(collection, parts))
            continue
        if not isinstance(collection, PolyCollection):
            raise UnknownPartError
        parts = [*map(_band, [collection] * bool(collection.get_paths())), *parts]
    box = axes.get_position()
    return {
        "title": axes.get_title(loc="left") or axes.get_title(),
        "place": [round(value, 4) for value in (box.x0, 1 - box.y1, box.width, box.height)],
        "x": _axis(axes, "x"),
        "y": _axis(axes, "y"),
        "parts": parts,
    }


def _axis(axes: Axes, name: str) -> dict[str, Any]:
    axis = axes.xaxis if name == "x" else axes.yaxis
    low, high = map(float, axis.get_view_interval())
    scale = axis.get_scale()
    if scale not in ("linear", "log"):
        raise UnknownPartError
    texts = [(float(tick.get_loc()), tick.label1.get_text()) for tick in axis.get_major_ticks()]
    shown = [(at, text) for at, text in texts if min(low, high) <= at <= max(low, high) and text]
    # words and numbers that the figure chose; others are computed for what is visible
    fixed = type(axis.get_major_formatter()).__name__ in ("FixedFormatter", "FuncFormatter")
    return {
        "label": axis.get_label_text(),
        "range": [low, high],
        "logarithmic": scale == "log",
        "ticks": [[at, text] for at, text in shown if "$" not in text] if fixed else None,
        "words": fixed and any(_is_word(text) for _, text in shown),
    }


def _is_word(text: str) -> bool:
    try:
        float(text.replace("−", "-"))
    except ValueError:
        return True
    return False


def _line(line: Line2D, label: str) -> dict[str, Any]:
    """A line, or its marks where no line joins them. A hollow diamond is a value that the paper prints."""
    x, y = _list(line.get_xdata(orig=False)), _list(line.get_ydata(orig=False))
    style, marker = line.get_linestyle(), line.get_marker()
    steps = line.get_drawstyle()
    if steps == "steps-post":
        x = [value for pair in zip(x, x[1:] + x[-1:], strict=True) for value in pair]
        y = [value for value in y for _ in (0, 1)]
    elif steps != "default":
        raise UnknownPartError
    joined = style not in ("None", "", " ")
    hollow = not joined and line.get_markerfacecolor() in ("none", "None")
    colour = line.get_markeredgecolor() if hollow else line.get_color()
    return {
        "kind": "mark" if hollow else "line",
        "label": label,
        "colour": _hex(colour),
        "width": float(line.get_linewidth()) if joined else 0.0,
        "dash": _dash(line) if joined else [],
        "marker": marker not in (None, "None", "", " "),
        "x": x,
        "y": y,
    }


def _dash(line: Line2D) -> list[float]:
    """Lengths of dashes and gaps in turn, in widths of the line; empty for a solid one."""
    # no method gives the lengths
    _, lengths = vars(line)["_unscaled_dash_pattern"]
    return [float(length) for length in lengths or ()]


def _rule(line: Line2D) -> dict[str, Any]:
    """A line across the panel: `axhline` or `axvline`."""
    x, y = _list(line.get_xdata(orig=False)), _list(line.get_ydata(orig=False))
    if x == [0.0, 1.0] and y[0] == y[-1]:
        where = {"y": y[:1], "x": [None]}
    elif y == [0.0, 1.0] and x[0] == x[-1]:
        where = {"x": x[:1], "y": [None]}
    else:
        raise UnknownPartError
    shape = {"width": float(line.get_linewidth()), "dash": _dash(line), "colour": _hex(line.get_color())}
    return {"kind": "rule", "label": _label(line.get_label()), **shape, **where}


def _span(patch: Any, axes: Axes) -> dict[str, Any]:
    """A shaded range of one axis: `axvspan` or `axhspan`."""
    corners = patch.get_path().transformed(patch.get_patch_transform()).vertices
    placed = patch.get_data_transform()
    if placed == axes.get_xaxis_transform(which="grid"):
        along, ends = "x", corners[:, 0]
    elif placed == axes.get_yaxis_transform(which="grid"):
        along, ends = "y", corners[:, 1]
    else:
        raise UnknownPartError
    none: list[float | None] = [None]
    span = {"low": [float(ends.min())], "high": [float(ends.max())]}
    return {"kind": "span", "label": "", "along": along, "x": none, **span}


def _intervals(bars: IntervalBars, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Confidence intervals, with the label of the points or bars at their places."""
    if bars.along != "y":
        raise UnknownPartError
    places = [place for place, *_ in bars.intervals]
    at = {round(place, 9) for place in places}
    owners = [
        part["label"]
        for part in parts
        if part["kind"] in ("bar", "line") and at and at <= {round(x, 9) for x in part["x"] if x is not None}
    ]
    same = [part["label"] for part in parts if part["kind"] == "line" and part["colour"] == _hex(bars.colour)]
    return {
        "kind": "error",
        "label": (same or owners or [""])[0],
        "colour": _hex(bars.colour),
        "x": _list(places),
        "low": _list(low for _, low, _ in bars.intervals),
        "high": _list(high for *_, high in bars.intervals),
    }


def _band(collection: Any) -> dict[str, Any]:
    """The area between two lines, as `fill_between` makes it."""
    paths = collection.get_paths()
    *colour, opacity = map(float, collection.get_facecolor()[0])
    # a gap begins a new outline
    outline = [row for path in paths for row in [*path.vertices.tolist(), [math.nan, math.nan]]][:-1]
    label = _label(collection.get_label())
    return {
        "kind": "band",
        "label": label,
        "colour": _hex(colour),
        "opacity": round(opacity, 3),
        "x": _list(row[0] for row in outline),
        "y": _list(row[1] for row in outline),
    }


def _list(values: Any) -> list[float | None]:
    """Numbers, with None where there is none."""
    plain: Any = numpy.ma.filled(numpy.ma.asarray(list(values), dtype=float), math.nan)
    return [float(value) if math.isfinite(value) else None for value in plain]


def _label(label: object) -> str:
    """A label for a legend; those that begin with an underscore are matplotlib's."""
    return "" if str(label).startswith("_") else str(label)


def _hex(colour: Any) -> str:
    from matplotlib.colors import to_hex

    return str(to_hex(colour))
