"""Series of a run over time."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from .. import styles
from .._names import nearest, unknown_name
from ..styles import COLOURS, FAINT, INK
from ._axes import from_zero
from ._legend import LABEL, place_legend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..styles import Style

NEAR_ZERO = 0.01
"""A line whose mean is below this share of the maximum is drawn in the common shade of such lines."""

MAX_FLOWS = 12
"""Flows of a chart that are drawn even if they get nothing, which is a result; of more, those near zero are hidden too."""

TITLES = {
    "allowed_rate": "Allowed rate",
    "backlog_bytes": "Backlog",
    "in_flight": "In flight",
    "delay": "Delay from the first Interest",
    "generated": "Interests generated",
    "owd": "One-way delay",
    "pit": "Pending Interests",
    "rtt": "Round-trip time",
    "srtt": "Smoothed round-trip time",
    "ssthresh": "Slow-start threshold",
}
"""Labels of series whose name is not sufficient."""

UNITS = {"bps": ("Mbit/s", 1e-6), "s": ("ms", 1e3), "bytes": ("kB", 1e-3), "1": ("", 1.0)}
"""Unit and factor of values of a unit in figures."""


PERCENT = frozenset({"utilisation", "target_utilisation"})
"""Shares that figures show in percent, as tables do."""


def series_title(series: str) -> str:
    """The label of a series."""
    return TITLES.get(series) or series.replace("_", " ").capitalize()


def unit_of(series: str) -> tuple[str, float]:
    """Unit and factor of a series in figures."""
    from ..catalogue import series as known

    if series in PERCENT:
        return "%", 100.0
    unit = next((row["unit"] for row in known() if row["name"] == series), "")
    return UNITS.get(unit, (unit, 1.0))


def quiet_subjects(means: Mapping[str, float]) -> set[str]:
    """The subjects that a chart hides at first: those whose mean magnitude is near zero beside the largest.

    A flow that starves is a result: flows and their receivers are hidden only if there are more than `MAX_FLOWS` of them.
    Where all are zero the first one is shown for all.
    """
    highest = max(means.values(), default=0.0)
    flows = {subject for subject in means if subject.startswith(("flow.", "receiver."))}
    low = {subject for subject, mean in means.items() if mean < NEAR_ZERO * highest}
    if highest == 0.0:
        low = set(list(means)[1:])
    return low - flows if len(flows) <= MAX_FLOWS else low


def subject_name(subject: str) -> str:
    """`flow.cubic.1` in a label: `cubic.1`."""
    for kind in ("flow.", "flows.", "link.", "node.", "receiver."):
        if subject.startswith(kind):
            return subject[len(kind) :]
    return subject


def _label(subject: str, labels: Mapping[str, str]) -> str:
    name = subject_name(subject)
    return labels.get(subject, labels.get(name, name))


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
    labels: Mapping[str, str] | None = None,
    look: Style | None = None,
) -> Figure:
    """One series over time, one line per subject: at most `limit`, without `quiet_subjects`; the rest in one shade.

    `colours` gives the colour of each subject; `marks` are times, in seconds, at which a thin line with a label is drawn.
    `title` names the vertical axis, if the name of the series does not. `labels` renames subjects in the legend.

    Raises ``ValueError``, with the nearest names and the recorded series, if the series or a subject was not recorded.
    """
    import polars as pl
    from matplotlib import rc_context

    rows = series_rows(frame, name, subjects)
    look = look or styles.page()
    unit, factor = unit_of(name)
    title = title or series_title(name)
    means = rows.group_by("subject", maintain_order=True).agg(pl.col("value").abs().mean())
    known = dict(means.filter(pl.col("value").is_not_nan()).iter_rows())
    drawn = means.filter(pl.col("subject").is_in(known.keys() - quiet_subjects(known)))
    highest = set(drawn.sort("value", "subject", descending=[True, False])["subject"].head(limit))
    # in the order of the scenario, as in the charts of pages and of the studio
    names = [subject for subject in rows["subject"].unique(maintain_order=True) if subject in highest]
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
            line = look.line(order.index(colour), colour, part.height, lines=len(names))
            axes.plot(part["time_s"], part["value"] * factor, label=_label(subject, labels or {}), **line)
        rest = rows.filter(~pl.col("subject").is_in(names))
        for index, (_, part) in enumerate(rest.group_by("subject", maintain_order=True)):
            label = f"{rest['subject'].n_unique()} more" if index == 0 else None
            axes.plot(
                part["time_s"], part["value"] * factor, color=FAINT, linewidth=0.7, zorder=1, label=label
            )
        axes.set_xlabel("time (s)")
        label = f"{title[0].lower()}{title[1:]}" + (f" ({unit})" if unit else "")
        axes.set_ylabel(textwrap.fill(label, LABEL) if look.printed else label)
        from_zero(axes)
        axes.margins(x=0)
        _mark(axes, marks)
        place_legend(axes, rows=look.legend_rows)
    return figure


def series_rows(
    frame: polars.DataFrame, name: str, subjects: Sequence[str] | None = None
) -> polars.DataFrame:
    """The rows of a series, of these subjects. Raises ``ValueError`` with the nearest names if no row fits."""
    import polars as pl

    from ..catalogue import renamed

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
