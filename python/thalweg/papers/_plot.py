"""Panels of a paper's figures, in the style of the house."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..plots import COLOURS, FAINT, style, svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "finish", "panels", "shade", "steps", "svg"]


def panels(
    rows: int, columns: int, *, width: float = 9.2, height: float = 2.2
) -> tuple[Figure, list[list[Axes]]]:
    """A grid of panels, ``height`` inches a row."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_settings()):
        figure = Figure(figsize=(width, height * rows))
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [list(row) for row in axes]


def steps(
    axes: Axes, times_s: Any, values: Any, label: str | None = None, *, colour: int = 0, **more: Any
) -> None:
    """A line of interval means, drawn at the ends of the intervals."""
    axes.plot(times_s, values, color=COLOURS[colour], label=label, **{"linewidth": 1.1, **more})


def finish(axes: Axes, title: str, y: str, *, x: str = "time (s)", top: float | None = None) -> None:
    """Title, axes with units, limits that start at zero, and a legend below the title when lines have names."""
    from matplotlib import rc_context

    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0, top=top)
    axes.margins(x=0)
    names = axes.get_legend_handles_labels()[1]
    with rc_context(_settings()):
        axes.set_title(title, loc="left", pad=22 if len(names) > 1 else 6)
        if len(names) > 1:
            axes.legend(
                loc="lower left",
                bbox_to_anchor=(0, 1.0),
                borderaxespad=0.3,
                ncols=len(names),
                handlelength=1.2,
                columnspacing=1.2,
            )


def shade(axes: Axes, spans: Sequence[tuple[float, float]]) -> None:
    """Light background over some spans of time."""
    for start, end in spans:
        axes.axvspan(start, end, color=FAINT, alpha=0.2, zorder=0, linewidth=0)


def _settings() -> Any:
    return style()
