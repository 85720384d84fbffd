"""Outputs of notebooks: scenarios, plans, runs and sweeps as HTML with pictures, in the style of pages, without a script."""

from __future__ import annotations

import base64
import hashlib
import io
from typing import TYPE_CHECKING, Any

from markupsafe import escape

from .. import plots
from .._points import extent
from ..errors import ScenarioError
from ..event_labels import event_marks, seconds
from ..quantities import KINDS, quantity
from . import _run, sweep_rows
from ._page import cell, render
from ._topology import drawing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..result import Result
    from ..scenario import Plan, Scenario
    from ..sweep import Sweep, SweepResult

MAX_ROWS = 40
"""Maximum rows of a table."""

MAX_POINTS = 20_000
"""A series with more points is a picture of pixels, which is smaller."""

MAX_PICTURES = 2
"""Maximum number of metrics of a sweep that are drawn."""

Content = dict[str, Any]


def of_scenario(scenario: Scenario) -> str:
    """A scenario: its network and its flows, or its mistakes."""
    try:
        plan = scenario.plan()
        listed = [f"{problem.key}: {problem.message}" for problem in scenario.warnings]
    except ScenarioError as error:
        return _rendered("Scenario", scenario.title or "A scenario with mistakes", "", problems=error.picture)
    grid = scenario.tree.get("sweep", {})
    points, seeds = extent(grid)
    listed_seeds = f" and {seeds} seeds" if seeds else ""
    lead = (
        f"{_about(plan)}; a sweep over {', '.join(grid)}: {points} point{'s' if points > 1 else ''}{listed_seeds}"
        if grid
        else _about(plan)
    )
    return _rendered("Scenario", plan.title or "A scenario", f"{lead}.", warnings=listed, **_of_plan(plan))


def of_plan(plan: Plan) -> str:
    """A plan: its network and its flows."""
    return _rendered("Plan", plan.title or "A plan", f"{_about(plan)}, seed {plan.seed}.", **_of_plan(plan))


def of_run(run: Result) -> str:
    """A run: its main results, its network, and its rates over time."""
    warnings = (
        [] if run.complete else [f"Interrupted: the results are those until {cell(run.record['ended_s'])} s."]
    )
    if not run.valid:
        warnings.append("Not valid: the machine could not keep up.")
    pictures = [
        _picture(
            run.trace_hash,
            "network",
            _run.network(run),
            "A link is as thick as its rate (logarithmic) and as strongly coloured as its fuller direction is used.",
        )
    ]
    recorded = run.series["series"].unique().sort().to_list()
    if recorded:
        name = "rate" if "rate" in recorded else recorded[0]
        title = run.title_of(name)
        figure = plots.series(
            run.drawn_series, name, colours=run.colours, marks=event_marks(run.plan), title=title
        )
        height = run.series.filter(run.series["series"] == name).height
        drawn = plots.svg(figure, name) if height <= MAX_POINTS else _pixels(figure, title)
        others = [other for other in recorded if other != name]
        more = f" Also recorded: {', '.join(others)}." if others else ""
        pictures.append(_picture(run.trace_hash, name, drawn, f"{title} over time.{more}"))
    flows = _run.flows_table(run)
    return _rendered(
        "Run",
        run.heading or "A run",
        _run.lead(run),
        warnings=warnings,
        overview=_run.overview(run),
        expect=_run.expectations(run),
        pictures=pictures,
        tables=[_table("flow", flows["columns"], flows["rows"])],
    )


def of_sweep(sweep: Sweep) -> str:
    """A sweep that has not run: its grid."""
    rows = [
        {"key": key, "values": ", ".join(map(str, values)), "n": len(values)}
        for key, values in sweep.grid.items()
    ]
    columns = [("key", "key"), ("values", "values"), ("n", "number")]
    title = sweep.plans[0][1].title if sweep.plans else ""
    points, seeds = len(sweep.cells), len(sweep.seeds)
    lead = f"{points} point{'s' * (points != 1)}, {seeds} seed{'s' * (seeds != 1)} each: {len(sweep)} runs."
    return _rendered("Sweep", title or "A sweep", lead, tables=[_table("key", columns, rows)] if rows else [])


def of_sweep_result(done: SweepResult) -> str:
    """The results of a sweep: means over seeds, drawn over the first key."""
    if not done.runs:
        return _rendered("Sweep", "A sweep without a finished run", "")
    summary = done.summary.to_dicts()
    metric_keys = sweep_rows.key_metrics(done.runs[0].result)
    rows = sweep_rows.points(summary, done.keys, metric_keys)
    metrics = [metric for metric in metric_keys if any(metric in row for row in rows)]
    columns, listed = sweep_rows.means_table(rows, done.keys, metrics)
    digest = hashlib.sha256("".join(run.result.trace_hash for run in done.runs).encode()).hexdigest()
    pictures = []
    if done.keys and len(rows) > 1:
        same = sweep_rows.same_everywhere(rows, metrics)
        for metric in [metric for metric in metrics if metric not in same][:MAX_PICTURES]:
            figure = plots.grid(rows, done.keys, metric, sweep_rows.axis_label(metric))
            caption = f"{metric}, mean and 95 % interval" if sweep_rows.has_intervals(rows) else metric
            pictures.append(_picture(digest, metric, plots.svg(figure, metric), f"{caption}."))
    missing = done.planned - len(done.runs)
    warnings = [f"{missing} of {done.planned} runs are missing."] if missing else []
    return _rendered(
        "Sweep",
        done.runs[0].result.title or "A sweep",
        f"{len(rows)} points of a grid over {', '.join(done.keys) or 'nothing but seeds'}, {len(done.runs)} runs.",
        warnings=[*warnings, *done.notes],
        pictures=pictures,
        tables=[_table("point", columns, listed)],
    )


def _rendered(kicker: str, heading: str, lead: str, **content: Any) -> str:
    empty: Content = {
        "warnings": [],
        "problems": "",
        "overview": [],
        "expect": [],
        "pictures": [],
        "tables": [],
    }
    return render("notebook.html", heading, **{**empty, **content}, kicker=kicker, heading=heading, lead=lead)


def _about(plan: Plan) -> str:
    flows, links = len(plan.tree.get("flows", [])), len(plan.layout["links"])
    return (
        f"{flows} flow{'s' * (flows != 1)} over {links} link{'s' * (links != 1)}, {cell(plan.duration_s)} s"
    )


def _of_plan(plan: Plan) -> Content:
    tree = plan.tree
    columns = [
        (key, key)
        for key in ("name", "scheme", "stack", "kernel", "from", "to", "prefix", "start", "stop", "size")
    ]
    rows = [{key: _short(flow[key]) for key, _ in columns if key in flow} for flow in tree.get("flows", [])]
    there = [(key, text) for key, text in columns if any(key in row for row in rows)]
    return {
        "pictures": [
            _picture(
                digest_of(plan),
                "network",
                network(plan, tree),
                "A link is as thick as its rate (logarithmic).",
            )
        ],
        "tables": [_table("flow", there, rows)] if rows else [],
    }


def digest_of(plan: Plan) -> str:
    """A name for the pictures of a plan."""
    return hashlib.sha256(plan.toml.encode()).hexdigest()[:12]


def network(plan: Plan, tree: Mapping[str, Any], *, enlarged: float = 1.0) -> str:
    """The network of a plan, with text that is larger than usual by `enlarged`; no link is used yet."""
    layout = plan.layout
    keys = {link["name"]: link for link in tree["topology"].get("links", [])}
    links = [
        {
            "link": link["name"],
            "from": link["from"],
            "to": link["to"],
            "rate_bps": _rate(keys.get(link["name"], {}).get("rate")),
            "delay_s": _delay(keys.get(link["name"], {}).get("delay")),
            "utilisation": None,
        }
        for link in layout["links"]
    ]
    sources: set[str] = {producer["node"] for producer in tree.get("producers", [])}
    sinks: set[str] = set()
    for flow in tree.get("flows", []):
        ends = flow.get("to", [])
        # a consumer of named data is where Data arrive
        (sources if ends else sinks).add(flow["from"])
        sinks |= {ends} if isinstance(ends, str) else set(ends)
    places = {node["name"]: (node["x"], node["y"]) for node in layout["nodes"]}
    sdn = tree.get("sdn") or {}
    controller = sdn.get("controller") if sdn.get("out_of_band") else None
    return drawing(places, links, sources, sinks, {}, controller, enlarged=enlarged)


def _rate(text: Any) -> float | None:
    found = quantity(text) if isinstance(text, str) else None
    return found[0] * KINDS[0][found[1]] if found else None


def _delay(text: Any) -> float | None:
    return seconds(text) if isinstance(text, str) and quantity(text) else None


def _short(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return text if len(text) <= MAX_ROWS else f"{text[: MAX_ROWS - 1]}…"


def _picture(digest: str, name: str, drawn: str, caption: str) -> Content:
    """A picture; its ids are unique among the outputs of a notebook, unless it is the same picture."""
    return {"anchor": f"t{digest[:12]}-{name}", "drawing": drawn, "caption": caption}


def _pixels(figure: Any, alt: str) -> str:
    """A figure as pixels, within an SVG."""
    import matplotlib.pyplot as plt

    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=144)
    plt.close(figure)
    width, height = (72 * inches for inches in figure.get_size_inches())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}"><title>{escape(alt)}</title>'
        f'<image width="{width:g}" height="{height:g}" href="data:image/png;base64,'
        f'{base64.b64encode(data.getvalue()).decode("ascii")}"/></svg>'
    )


def _table(what: str, columns: Sequence[tuple[str, str]], rows: Sequence[Content]) -> Content:
    shown = f"{len(rows)} {what}{'s' * (len(rows) != 1)}"
    if len(rows) > MAX_ROWS:
        shown = f"The first {MAX_ROWS} of {shown}"
    return {"title": shown, "columns": list(columns), "rows": list(rows)[:MAX_ROWS]}
