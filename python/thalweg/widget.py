"""The interactive charts of a run as a widget of a notebook: the same script as in the page of a run.

It needs anywidget: `pip install thalweg[notebook]`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ._names import unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .result import Result

RENDER = """
export default {
  async render({ model, el }) {
    el.classList.add("thalweg");
    const host = document.createElement("div");
    el.append(host);
    return ThalwegCharts.draw(host, model.get("data"));
  },
};
"""
"""Source that makes the script of the pages, which defines `ThalwegCharts`, a module for anywidget."""


def charts(run: Result, series: Sequence[str] | None = None) -> Any:
    """The widget with the charts of these series, by default of all that were recorded.

    Raises ``ValueError`` with the nearest name for a series that was not recorded, and `ImportError` without anywidget.
    """
    from .event_labels import event_marks
    from .report import _charts

    recorded = sorted(run.series["series"].unique())
    for name in series or ():
        if name not in recorded:
            raise ValueError(unknown_name("series", name, recorded))
    if not recorded:
        raise ValueError("no series was recorded: the scenario needs `record`")
    titles = {name: run.title_of(name) for name in (recorded if series is None else series)}
    return _widget()(data=str(_charts.data(run, titles, event_marks(run.plan), load="")))


@cache
def _widget() -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError("the widget needs anywidget: `pip install thalweg[notebook]`") from error
    from .report import _charts
    from .report._page import template_macro

    class Charts(anywidget.AnyWidget):
        """The interactive charts of a run."""

        _esm = _charts.script_text() + RENDER
        _css = template_macro("style.html", "notebook")
        data = traitlets.Unicode().tag(sync=True)

    return Charts
