"""The page of one run: expectations, network, flows, links, series, method. Reads the run's tables only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import plots
from .._points import value_text
from ..catalogue import series as known_series
from ..event_labels import event_labels, event_marks, seconds
from ..quantities import base_value
from . import _charts, _panels
from ._page import cell, render
from ._topology import drawing, rate_text, time_text
from ._width import NAMES, divided
from .columns import (
    by_importance,
    drops_by_reason,
    drops_text,
    expected_text,
    flows_shown,
    known,
    slowest_receivers,
    table_rows,
    unit_of,
)
from .numbers import number

if TYPE_CHECKING:
    from pathlib import Path

    import polars

    from ..plots import Drawing
    from ..result import Result


MAX_GROUPS = 3
"""Groups whose completion times are shown at the top."""

MIN_SAMPLES = 5
"""Minimum number of completion times of a distribution that is drawn."""

PLOT = """import polars as pl

import thalweg as tw
from thalweg import plots

run = tw.Result.load(".")  # the folder of the run
"""
"""Python before that of a picture."""

PICTURES = {
    "times": (
        "Completion times",
        """samples = {
    name: part[column].drop_nulls().to_list()
    for table, key, column in ((run.flows, "group", "fct_s"), (run.exchanges, "app", "duration_s"))
    for (name,), part in table.group_by(key, maintain_order=True)
}
plots.cdf(samples, "time (s)", logarithmic=True).savefig("times.svg")
""",
    ),
    "scatter": (
        "Throughput over queueing delay",
        """plots.scatter(run.flows, run.colours).savefig("scatter.svg")
""",
    ),
    "shares": (
        "Throughput",
        """rows = run.flows
colours = [run.colours[f"flow.{flow}"] for flow in rows["flow"]]
values = {"throughput": rows["throughput_bps"].fill_null(0.0) / 1e6}
chart = plots.bars(rows["flow"].to_list(), values, "throughput (Mbit/s)", colours=colours, x="flow")
chart.savefig("shares.svg")
""",
    ),
    "delays": (
        "Queueing delays",
        """rows = run.distributions.filter(pl.col("measure") == "queueing_delay")
plots.distributions(rows, "queueing delay (ms)", 1e3, colours=run.colours).savefig("delays.svg")
""",
    ),
}
"""Pictures between the tables: title, and the Python that makes them."""

Content = dict[str, Any]


def page(run: Result, folder: Path) -> str:
    """The page of a run that was read from its folder."""
    series = _series(run)
    pictures = {
        "shares": _shares(run),
        "times": _times(run),
        "scatter": _scatter(run),
        "delays": _delays(run),
    }
    panels = _panels.interactive(
        {
            name: (picture, PICTURES[name][0], f"{PLOT}{PICTURES[name][1]}")
            for name, picture in pictures.items()
        }
    )
    return render(
        "run.html",
        f"{run.heading} · run",
        version=run.record["version"],
        heading=run.heading if len(run.heading) <= MAX_HEADING else run.title or "A run",
        overrides=overrides(run) if len(run.heading) > MAX_HEADING else [],
        lead=lead(run),
        interrupted_s=None if run.complete else run.record["ended_s"],
        violated_invariants=run.violated_invariants,
        faults=run.record.get("emulation", {}).get("faults", []),
        overview=overview(run),
        empty=[*run.empty_series.values(), *run.lost_connections],
        expect=expectations(run),
        network=network(run),
        roles=set(run.nodes["role"].to_list()),
        changes=[{"at": time_text(at), "what": words} for at, words in event_labels(run.plan)],
        **_flows(run),
        apps=None if run.apps.is_empty() else _listed(run.apps, "apps"),
        **pictures,
        answering={name: name for name in panels},
        panels=_panels.element(panels) if panels else None,
        links=_listed(
            run.links.filter(run.links["sent_packets"] > 0).sort(
                "utilisation", descending=True, nulls_last=True
            ),
            "links",
        ),
        nodes=None if run.nodes.is_empty() else _listed(run.nodes, "nodes"),
        control=_control(run),
        marked=bool(event_marks(run.plan)),
        series=series,
        charts=_charts.data(run, {one["name"]: one["title"] for one in series}, event_marks(run.plan))
        if series or run.packets.height or run.events.height
        else None,
        chart_script=_charts.script(),
        events=None if run.events.is_empty() else _events(run),
        method=[
            ("seed", str(run.seed), ""),
            ("simulated", time_text(run.record["ended_s"]), ""),
            ("packet-hops", number(float(run.packet_hops), 3), "packets put on links"),
            ("version", run.record["version"], ""),
            ("trace hash", run.trace_hash, ""),
        ],
        # a run of a dataset has no folder
        files=sorted(
            path.name
            for path in (folder.iterdir() if folder.is_dir() else ())
            if path.suffix in {".parquet", ".json", ".toml"}
        ),
        plan=json.dumps(run.plan, indent=2, ensure_ascii=False),
    )


MAX_HEADING = 72
"""Characters of a heading with the changed keys; longer ones have a line of their own."""

MAX_VALUE = 120
"""Characters of the value of a changed key on a page; the plan has all."""


def overrides(run: Result) -> list[tuple[str, str]]:
    """Keys that were changed for the run, with their values, long ones cut."""
    listed = [(key, value_text(value)) for key, value in run.overrides.items()]
    return [(key, text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…") for key, text in listed]


def lead(run: Result) -> str:
    """A sentence about the run."""
    flows = run.flows.height
    receivers = run.receivers.height
    text = f"{flows} flow{'s' * (flows != 1)}"
    if receivers > flows:
        text += f" to {receivers} receivers"
    how = "in real time" if "emulation" in run.record else "simulated"
    links = run.links.unique("link")
    control = (
        links.filter(links["from"].eq(node) | links["to"].eq(node)).height if (node := _apart(run)) else 0
    )
    text += f" over {_count(links.height - control, 'link')}"
    text += f" and {_count(control, 'link')} of the controller" if control else ""
    text += f", {cell(run.record['duration_s'])} s {how}"
    if has_warmup(run):
        text += f"; the first {run.plan['warmup']} are left out of every mean"
    return text + "."


def _count(number: int, what: str) -> str:
    return f"{cell(number)} {what}{'s' * (number != 1)}"


def _apart(run: Result) -> str | None:
    """The SDN controller whose links carry messages of its own only; None without one."""
    sdn = run.plan.get("sdn") or {}
    return sdn["controller"] if sdn.get("out_of_band") else None


def has_warmup(run: Result) -> bool:
    """Whether the first part of the run is left out of the means."""
    return not str(run.plan.get("warmup") or "0 s").startswith("0 ")


def overview(run: Result) -> list[tuple[str, str, str]]:
    """The main results: name, value, remark."""
    fullest = (
        run.links.sort("utilisation", descending=True, nulls_last=True).row(0, named=True)
        if run.links.height
        else None
    )
    rows = []
    if fullest:
        direction = ", backward" * (fullest["direction"] == "backward")
        used = f"{100 * (fullest['utilisation'] or 0):.1f} %"
        rows.append(("fullest link", used, f"{fullest['link']}{direction}"))
    total = run.get("flows.throughput")
    span = time_text(run.get("run.measured") or 0.0)
    consumers = not run.flows.is_empty() and bool((run.flows["transport"] == "ndn").all())
    rows.append(
        (
            f"throughput, all flows{', Data' * consumers}",
            rate_text(total or 0.0),
            f"bits received over {span}",
        )
    )
    rows += _extreme_receivers(run)
    fairness = run.get("flows.fairness")
    if fairness is not None:
        rows.append(("fairness", number(fairness), _scope_of_fairness(run)))
    rows += [
        (
            f"completion time, {group['group']}",
            f"{number(group['fct'])} s",
            f"mean of {group['completions']} of {group['count']}; p95 {number(group['fct_p95'])} s"
            if group["completions"] > 1
            else "the one transfer"
            if group["count"] == 1
            else f"one of {group['count']} transfers",
        )
        for group in run.groups.to_dicts()
        if group.get("completions")
    ][:MAX_GROUPS]
    by_reason = drops_by_reason(run)
    at_nodes = drops_at_nodes(run)
    reasons = drops_text(run)
    rows.append(
        (
            "dropped packets",
            cell(sum(by_reason.values())),
            f"{'on links and at nodes' if at_nodes else 'on all links'}"
            f"{_after_warmup(run)}" + (f"; by reason: {reasons}" if reasons else ""),
        )
    )
    rows.append(("trace hash", run.trace_hash, ""))
    return rows


def drops_at_nodes(run: Result) -> int:
    """The number of packets that nodes dropped in the measured time; they are in no series, which are of ports."""
    by_reason = drops_by_reason(run)
    return sum(by_reason.get(reason, 0) for reason in ("no_route", "hop_limit"))


NAMED = 4
"""Maximum number of flows or receivers that a fact names."""


def _scope_of_fairness(run: Result) -> str:
    """What the index of all flows is over: which flows, which of their rates, and which time."""
    import polars as pl

    finite = {flow["name"] for flow in run.plan.get("flows", []) if flow.get("size") is not None}
    flows = run.flows.filter(
        (pl.col("scheme") != "") & ~pl.col("flow").is_in(finite) & pl.col("active_goodput_bps").is_not_null()
    )["flow"].to_list()
    which = f"{', '.join(flows)}" if len(flows) <= NAMED else f"{len(flows)} flows with a scheme"
    return f"Jain's index of the goodputs of {which}, each while active{_after_warmup(run)}"


def _after_warmup(run: Result) -> str:
    return ", after the warm-up" * has_warmup(run)


def _extreme_receivers(run: Result) -> list[tuple[str, str, str]]:
    """The slowest receivers of the flow that has the slowest one, and the receiver with the longest queueing if they differ.

    Empty if no flow has several receivers.
    """
    import polars as pl

    several = pl.len().over("flow") > 1
    rows = run.receivers.filter(several & pl.col("throughput_bps").is_not_null())
    if rows.is_empty():
        return []
    flow = rows.sort("throughput_bps", "goodput_bps", maintain_order=True)["flow"][0]
    alike, count = slowest_receivers(run, flow)
    goodput = f"goodput {rate_text(alike[0]['goodput_bps'])}"
    best = rate_text(max(rows.filter(pl.col("flow") == flow)["goodput_bps"].to_list()))
    of_all = f"of {count} receivers of {flow}"
    names = [row["node"] for row in alike[:NAMED]] + [f"{len(alike) - NAMED} more"] * (len(alike) > NAMED)
    slowest = "all alike" if len(alike) == count else ", ".join(names)
    facts = [("slowest receiver", slowest, f"{goodput}; the best {of_all} has {best}")]
    waits = rows.filter((pl.col("flow") == flow) & pl.col("queueing_delay_s").is_not_null())
    waits = waits.sort("queueing_delay_s", descending=True, maintain_order=True)
    texts = [time_text(wait) for wait in waits["queueing_delay_s"]]
    if len(set(texts)) > 1:
        facts.append(("longest queueing", waits["node"][0], f"{texts[0]} in the mean, the longest {of_all}"))
    return facts


def expectations(run: Result) -> list[Content]:
    """The expectations of the scenario, with the measured values."""
    return [
        {**row, "expected": expected_text(row["key"], row["expected"]), "measured": _measured(row)}
        for row in run.expect.to_dicts()
    ]


def flows_table(run: Result) -> Content:
    """The table of flows."""
    return _listed(flows_shown(run), "flows")


def _measured(row: dict[str, Any]) -> str:
    unit, factor = unit_of(row["key"])
    return (
        "–"
        if row["measured"] is None
        else f"{number(known(row['key'], row['measured'] * factor))} {unit}".rstrip()
    )


def network(run: Result) -> str:
    """The network as SVG; empty for a large one, whose plan has no places."""
    nodes = run.plan["topology"].get("nodes")
    if not isinstance(nodes, list):
        return ""
    places = {node["name"]: (node["x"], node["y"]) for node in nodes}
    sources: set[str] = set()
    sinks: set[str] = set(run.receivers["node"].to_list())
    for transport, node in zip(run.flows["transport"], run.flows["from"], strict=True):
        # a consumer is the node where Data arrive
        (sinks if transport == "ndn" else sources).add(node)
    sources |= {producer["node"] for producer in run.plan.get("producers", [])}
    # hosts of named data forward as well, but this is not their role
    roles = {
        node: "router" if role == "forwarder" else role
        for node, role in zip(run.nodes["node"], run.nodes["role"], strict=True)
        if role != "forwarder" or node not in sources | sinks
    }
    planned = {link["name"]: link for link in run.plan["topology"]["links"]}
    backlog = not run.series.is_empty() and "backlog" in run.series["series"]
    links = [
        row
        | {
            "means": _means(row, planned.get(row["link"])),
            "waits": backlog and bool(row["queue_max_packets"]),
        }
        for row in run.links.to_dicts()
    ]
    return drawing(places, links, sources, sinks, roles, _apart(run))


def _means(row: dict[str, Any], planned: dict[str, Any] | None) -> list[str]:
    """The columns `rate_bps` and `delay_s` of a link that events or a trace changed: means that the plan does not have.

    Empty for a link that is not in the plan: its rate and delay are constant.
    """
    if planned is None:
        return []
    return [
        column
        for column, key, text in (("rate_bps", "rate", rate_text), ("delay_s", "delay", time_text))
        if key not in planned or text(row[column]) != text(base_value(planned[key]))
    ]


def _listed(frame: polars.DataFrame, table: str) -> Content:
    """A table of the run, in the units of the page; `first` are the columns that fit, `more` the others."""
    headings, rows = table_rows(frame, table)
    first, more = divided(headings, rows, by_importance(table))
    others = sum(key not in NAMES for key, _ in more)
    return {"columns": headings, "rows": rows, "first": first, "more": more, "others": others}


def _flows(run: Result) -> Content:
    receivers = run.receivers.sort("throughput_bps", maintain_order=True, nulls_last=True)
    return {
        "groups": _listed(run.groups, "summary") if run.groups.height < run.flows.height else None,
        "flows": flows_table(run),
        "consumers": (run.flows["transport"] == "ndn").any(),
        "other_samples": bool((run.flows["rtt_s"] < run.flows["owd_s"]).any()),
        "receivers": _listed(receivers, "receivers") if run.receivers.height > run.flows.height else None,
    }


def _shares(run: Result) -> Drawing | None:
    """Throughput of each flow; None for one flow or very many."""
    rows = flows_table(run)["rows"]
    if not 2 <= len(rows) <= 40:
        return None
    chart = plots.bars(
        [row["flow"] for row in rows],
        {"throughput": [(row.get("throughput_bps") or 0.0) for row in rows]},
        "throughput (Mbit/s)",
        colours=[run.colours[f"flow.{row['flow']}"] for row in rows],
        x="flow",
    )
    return plots.svg(chart, "shares")


def _times(run: Result) -> Drawing | None:
    """Completion times of finite transfers and of exchanges of applications, as distributions."""
    samples = {
        group: part["fct_s"].drop_nulls().to_list()
        for (group,), part in run.flows.group_by("group", maintain_order=True)
    } | {
        f"{app} (application)": part["duration_s"].drop_nulls().to_list()
        for (app,), part in run.exchanges.group_by("app", maintain_order=True)
    }
    several = {name: values for name, values in samples.items() if len(values) >= MIN_SAMPLES}
    if not several:
        return None
    return plots.svg(plots.cdf(several, "time (s)", logarithmic=True), "times")


def _scatter(run: Result) -> Drawing | None:
    """Throughput over queueing delay, a point per flow."""
    rows = run.flows.drop_nulls(["throughput_bps", "queueing_delay_s"])
    return plots.svg(plots.scatter(rows, run.colours), "scatter") if 2 <= rows.height <= 200 else None


def _delays(run: Result) -> Drawing | None:
    """Queueing delays of flows, as distributions."""
    rows = run.distributions.filter(run.distributions["measure"] == "queueing_delay")
    if rows.is_empty():
        return None
    chart = plots.distributions(rows, "queueing delay (ms)", 1e3, colours=run.colours)
    return plots.svg(chart, "delays")


def _meaning(name: str, subjects: list[str]) -> str:
    """The definition of a series for these subjects; one name can have different meanings for flows and nodes."""
    kinds = {subject.split(".", 1)[0].replace("link", "port") for subject in subjects}
    named = [row for row in known_series() if row["name"] == name]
    # a consumer of named data is a flow and a receiver in one
    rows = [row for row in named if row["subject"] in kinds] or named
    meanings: dict[str, str] = {}
    for row in rows:
        meanings.setdefault(row["subject"], row["definition"])
    if len(set(meanings.values())) <= 1:
        return next(iter(meanings.values()), "")
    return "; ".join(f"of a {kind}: {text}" for kind, text in meanings.items())


def _series(run: Result) -> list[Content]:
    event_times = event_marks(run.plan)
    listed = []
    for name in sorted(run.series["series"].unique()):
        title = run.title_of(name)
        chart = plots.series(run.drawn_series, name, colours=run.colours, marks=event_times, title=title)
        rows = run.series.filter(run.series["series"] == name)
        there = rows["subject"].unique().to_list()
        meaning = _meaning(name, there)
        listed.append(
            {
                "name": name,
                "title": title,
                "drawing": plots.svg(chart, name),
                "subjects": len(there),
                "meaning": meaning if meaning.lower() != title.lower() else "",
                "zero": len(there) > 1 and bool((rows["value"].drop_nans() == 0).all()),
                "beside": _beside(run) if name == "drops" else "",
            }
        )
    return listed


def _beside(run: Result) -> str:
    """A sentence about the drops that no series has; empty without any."""
    count = drops_at_nodes(run)
    after = " after the warm-up" * has_warmup(run)
    were = "was" if count == 1 else "were"
    return (
        f"{cell(count)} more {were} dropped at nodes{after}, which have no series of drops." if count else ""
    )


MAX_CONTROL = 200
"""Rows of the table of what an SDN controller did."""


def _control(run: Result) -> Content | None:
    """What the controller ordered and what nodes did by it, by time, with what the scenario changed; None without one.

    Orders in the warm-up are among them: they shape what is measured, and no count of the tables has them.
    """
    if not run.plan.get("sdn"):
        return None
    warmup = seconds(run.plan.get("warmup", "0 s"))
    orders = [
        (order["at_s"], "controller" if order["from"] else f"node {order['node']}", order["words"])
        for order in _charts.orders(run)
    ]
    changes = [(at, "scenario", words) for at, words in event_marks(run.plan)]
    rows = [
        {"time": f"{number(at)} s{' (warm-up)' * (at <= warmup)}", "who": who, "what": what}
        for at, who, what in sorted([*orders, *changes], key=lambda row: row[0])
    ]
    return {
        "commands": sum(who == "controller" for _, who, _ in orders),
        "moves": sum(who != "controller" for _, who, _ in orders),
        "recorded": bool(run.plan.get("record", {}).get("events")),
        "rerouted": any({"up", "delay", "route"} & set(event) for event in run.plan.get("events", [])),
        "rows": rows[:MAX_CONTROL],
        "all": len(rows),
    }


def _events(run: Result) -> Content:
    counts = (
        run.events.group_by("subject", "event")
        .len("count")
        .sort("count", "subject", descending=[True, False])
    )
    first = run.events.head(300)
    return {
        "counts": counts.head(40).to_dicts(),
        "title": f"The first {first.height} of {run.events.height}"
        if run.events.height > 300
        else f"All {first.height} in order",
        "columns": [
            (name, name.replace("_s", " (s)") if name == "time_s" else name) for name in first.columns
        ],
        "rows": first.to_dicts(),
    }
