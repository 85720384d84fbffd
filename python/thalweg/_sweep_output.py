"""Figures and tables of a sweep that need more than its summary: maps, distributions, LaTeX, names of keys and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._names import unknown_name
from ._points import value_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from .styles import Style
    from .sweep import SweepResult


def several(done: SweepResult) -> list[str]:
    """The keys of the grid that have several values in these runs."""
    return [key for key in done.keys if len({value_text(run.values[key]) for run in done.runs}) > 1]


def rename(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], labels: Mapping[str, str]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and keys in which keys and values have the names that `labels` gives them.

    A key is named in full or by its last word, a value by its text.
    """
    names = {key: labels.get(key, labels.get(key.rsplit(".", 1)[-1], key)) for key in keys}
    renamed = [
        {
            names.get(key, key): labels.get(value_text(value), value) if key in names else value
            for key, value in row.items()
        }
        for row in rows
    ]
    return renamed, [names[key] for key in keys]


def known_metric(done: SweepResult, metric: str) -> str:
    """The metric. Raises ``KeyError`` with the nearest names if no run has it."""
    known = done.summary["metric"].unique(maintain_order=True).to_list() if done.runs else []
    if metric not in known:
        raise KeyError(unknown_name("result", metric, known))
    return metric


def heatmap(done: SweepResult, x: str, y: str, metric: str, labels: Mapping[str, str], look: Style) -> Figure:
    """See `SweepResult.heatmap`."""
    from . import plots
    from .report.numbers import number
    from .report.sweep_rows import axis_label, points

    if x == y:
        raise ValueError(f"a map has two keys, and both are {x}")
    if others := [key for key in several(done) if key not in (x, y)]:
        raise ValueError(f"{', '.join(others)} has several values: fix it by `where={{...}}`")
    rows = points(done.summary.to_dicts(), [x, y], [known_metric(done, metric)])
    named, keys = rename(rows, [x, y], labels)
    axis = labels.get(metric, axis_label(metric))
    return plots.heatmap(named, (keys[0], keys[1]), metric, axis, lambda mean: number(mean, 3), look=look)


def cdf(
    done: SweepResult,
    metric: str,
    by: Sequence[str],
    flows: str | None,
    labels: Mapping[str, str],
    look: Style,
    *,
    logarithmic: bool,
) -> Figure:
    """See `SweepResult.cdf`."""
    from . import plots
    from .report.columns import unit_of
    from .report.sweep_rows import axis_label

    if others := [key for key in several(done) if key not in by]:
        raise ValueError(
            f"{', '.join(others)} has several values: name it in `by`, or fix it by `where={{...}}`"
        )
    curves: dict[str, list[list[float]]] = {}
    column = of_flows(done, metric)
    factor = unit_of(metric)[1]
    for run in done._each_seed():
        texts = [value_text(run.values[key]) for key in by]
        name = ", ".join(labels.get(text, text) for text in texts) or "all runs"
        if column is None:
            value = run.result.get(metric)
            values = [] if value is None else [value]
        else:
            frame = run.result.flows
            if flows is not None:
                frame = frame.filter(frame["group"] == flows)
                if frame.is_empty():
                    raise KeyError(
                        unknown_name("group of flows", flows, run.result.flows["group"].unique().to_list())
                    )
            values = frame[column].drop_nulls().to_list()
        curves.setdefault(name, []).append([value * factor for value in values])
    if column is None:
        # a metric has one value per run: the distribution is over the seeds
        curves = {name: [[value for run in runs for value in run]] for name, runs in curves.items()}
    axis = labels.get(metric, axis_label(metric))
    return plots.cdf_bands(curves, axis, logarithmic=logarithmic, look=look)


def of_flows(done: SweepResult, metric: str) -> str | None:
    """The column of the flows for a name without dots, such as `fct`; None for a key of the summary.

    Raises ``KeyError`` with the nearest names.
    """
    if "." in metric:
        known_metric(done, metric)
        return None
    columns = done.runs[0].result.flows.columns if done.runs else []
    for ending in ("", "_s", "_bps"):
        if f"{metric}{ending}" in columns:
            return f"{metric}{ending}"
    raise KeyError(unknown_name("column of flows", metric, [name.removesuffix("_s") for name in columns]))


def latex(done: SweepResult, metrics: Sequence[str], labels: Mapping[str, str], digits: int) -> str:
    """See `SweepResult.latex`."""
    from .latex import tabular
    from .report.sweep_rows import heading, metric_text, points

    for metric in metrics:
        known_metric(done, metric)
    keys = several(done)
    rows, names = rename(points(done.summary.to_dicts(), keys, list(metrics)), keys, labels)
    headings = [*(name.removeprefix("topology.") for name in names)]
    headings += [labels.get(metric, heading(metric)) for metric in metrics]
    cells = [
        [
            *(_cell(row[name]) for name in names),
            *(metric_text(metric, row[metric], digits) if metric in row else "–" for metric in metrics),
        ]
        for row in rows
    ]
    return tabular(headings, cells, [False] * len(names) + [True] * len(metrics))


def _cell(value: Any) -> str:
    return value_text(value)
