"""The page of one run: what was expected, the network, flows, links, series, method. Reads the run's tables only."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from .. import plots
from ..catalogue import series as known_series
from ..changes import changes, marks
from ._page import Page, badge, cell, facts, figure, folded, head, number, table
from ._topology import drawing, rate_text, time_text
from .columns import FLOWS, GROUPS, LINKS, NODES, RECEIVERS, rows_of, unit_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..result import Result


MOST_GROUPS = 3
"""Groups whose completion times stand at the top."""


def page(run: Result, folder: Path) -> Page:
    """The page of a run that was read from its folder."""
    made = Page(f"{run.heading} · run", footer=_footer(run))
    made.add(head("Run", run.heading, _lead(run)))
    _overview(made, run)
    made.section("Network")
    _network(made, run)
    made.section("Flows")
    _flows(made, run)
    made.section("Links")
    _links(made, run)
    if not run.nodes.is_empty():
        made.section("Names")
        _nodes(made, run)
    if not run.series.is_empty():
        made.section("Over time")
        _series(made, run)
    if not run.events.is_empty():
        made.section("Events")
        _events(made, run)
    _method(made, run, folder)
    return made


def _lead(run: Result) -> str:
    flows = run.flows.height
    receivers = run.receivers.height
    text = f"{flows} flow{'s' * (flows != 1)}"
    if receivers > flows:
        text += f" to {receivers} receivers"
    how = "in real time" if "emulation" in run.record else "simulated"
    text += f" over {run.links['link'].n_unique()} links, {cell(run.record['duration_s'])} s {how}"
    warmup = run.plan.get("warmup")
    if warmup and not str(warmup).startswith("0 "):
        text += f"; the first {warmup} are left out of every mean"
    return escape(text + ".")


def _overview(made: Page, run: Result) -> None:
    made.section("Summary")
    if not run.complete:
        made.add(
            '<p class="warn">The run was interrupted: what follows covers the time up to '
            f"{cell(run.record['ended_s'])} s.</p>"
        )
    for fault in run.record.get("emulation", {}).get("faults", []):
        made.add(f'<p class="warn">Not valid: the machine could not keep up; {escape(fault)}.</p>')
    fullest = (
        run.links.sort("utilisation", descending=True, nulls_last=True).row(0, named=True)
        if run.links.height
        else None
    )
    rows = []
    if fullest:
        rows.append(("fullest link", f"{100 * (fullest['utilisation'] or 0):.1f} %", fullest["link"]))
    total = run.values.get("flows.throughput_total")
    span = time_text(run.values.get("run.measured") or 0.0)
    consumers = not run.flows.is_empty() and bool((run.flows["transport"] == "ndn").all())
    rows.append(
        (
            f"throughput, all flows{', Data' * consumers}",
            rate_text(total or 0.0),
            f"bits received over {span}",
        )
    )
    fairness = run.values.get("flows.fairness")
    if fairness is not None:
        rows.append(("fairness", number(fairness), "Jain's index"))
    rows += [
        (
            f"completion time, {group['group']}",
            f"{number(group['fct'])} s",
            f"mean of {group['completions']} of {group['count']}; p95 {number(group['fct_p95'])} s",
        )
        for group in run.groups.to_dicts()
        if group.get("completions")
    ][:MOST_GROUPS]
    dropped = int(run.links["drops"].sum() or 0) if run.links.height else 0
    rows.append(("dropped packets", cell(dropped), "on all links"))
    rows.append(("trace hash", run.trace_hash, ""))
    made.add(facts(rows))
    if run.expect.height:
        held = int(run.expect["pass"].sum())
        made.subsection(f"What was expected: {held} of {run.expect.height} hold")
        lines = "".join(
            f"<tr><td>{badge('holds' if row['pass'] else 'fails')}</td><td><code>{escape(row['key'])}</code></td>"
            f'<td class="number">{escape(row["expected"])}</td><td class="number">{_measured(row)}</td></tr>'
            for row in run.expect.to_dicts()
        )
        made.add(
            '<div class="scroll"><table><thead><tr><th>verdict</th><th>key</th><th class="number">expected</th>'
            f'<th class="number">measured</th></tr></thead><tbody>{lines}</tbody></table></div>'
        )


def _measured(row: dict[str, Any]) -> str:
    unit, factor = unit_of(row["key"])
    return "–" if row["measured"] is None else f"{number(row['measured'] * factor)} {unit}".rstrip()


def network(run: Result) -> str:
    """The network as SVG."""
    places = {node["name"]: (node["x"], node["y"]) for node in run.plan["topology"]["nodes"]}
    sources: set[str] = set()
    sinks: set[str] = set(run.receivers["node"].to_list())
    for transport, node in zip(run.flows["transport"], run.flows["from"], strict=True):
        # a consumer is where Data arrive
        (sinks if transport == "ndn" else sources).add(node)
    sources |= {producer["node"] for producer in run.plan.get("producers", [])}
    # hosts of named data forward as well, but that is not what they are there for
    roles = {
        node: "router" if role == "forwarder" else role
        for node, role in zip(run.nodes["node"], run.nodes["role"], strict=True)
        if role != "forwarder" or node not in sources | sinks
    }
    return drawing(places, run.links.to_dicts(), sources, sinks, roles)


def _network(made: Page, run: Result) -> None:
    caption = (
        "Filled circles send, hollow ones receive, squares are routers. A link is as thick as its rate (logarithmic) and as "
        "dark as its fuller direction is used; its tooltip has the numbers."
    )
    roles = set(run.nodes["role"].to_list())
    if "router" in roles:
        caption += " Shaded squares route by name as well; the diamond is the name resolution system."
    if "forwarder" in roles:
        caption += (
            " Shaded squares forward named data; so do producers, which send, and consumers, which receive."
        )
    made.add(figure("network", network(run), caption))
    happens = changes(run.plan)
    if happens:
        made.subsection("What changes")
        content = table(
            [("at", "at"), ("what", "what")],
            [{"at": time_text(at), "what": words} for at, words in happens],
            names="at",
        )
        made.add(content if len(happens) <= 20 else folded(f"All {len(happens)} changes", content))


def _flows(made: Page, run: Result) -> None:
    groups = run.groups
    if groups.height < run.flows.height:
        columns, rows = rows_of(groups, GROUPS)
        made.subsection("Groups")
        made.add(table(columns, rows, names="group"))
        made.add(
            "<p>Totals are bits received over the measured span. FCT is the flow completion time, of the transfers that "
            "were completed. Percentiles are over all packets, or transfers, of the group.</p>"
        )
        made.subsection("Each flow")
    columns, rows = rows_of(run.flows, FLOWS)
    content = table(columns, rows, names="flow")
    made.add(content if len(rows) <= 60 else folded(f"All {len(rows)} flows", content))
    if 2 <= len(rows) <= 40:
        values = [(row.get("throughput_bps") or 0.0) for row in rows]
        chart = plots.bars(
            [row["flow"] for row in rows],
            {"throughput": values},
            "throughput (Mbit/s)",
            colours=[run.colours[f"flow.{row['flow']}"] for row in rows],
        )
        caption = "Throughput of each flow, headers included, while it was on. A flow keeps its colour on this page."
        if (run.flows["transport"] == "ndn").any():
            caption += " Of a consumer of named data it is the Data that it received."
        made.add(figure("shares", plots.svg(chart, "shares"), caption))
    if run.receivers.height > run.flows.height:
        columns, rows = rows_of(run.receivers, RECEIVERS)
        made.subsection("Receivers")
        content = table(columns, rows, names="node")
        made.add(content if len(rows) <= 20 else folded(f"All {len(rows)} receivers", content))


def _links(made: Page, run: Result) -> None:
    busy = run.links.filter(run.links["sent_packets"] > 0).sort(
        "utilisation", descending=True, nulls_last=True
    )
    columns, rows = rows_of(busy, LINKS)
    most = 8
    made.add(table(columns, rows[:most], names="link"))
    if len(rows) > most:
        made.add(
            folded(f"The other {len(rows) - most} directions", table(columns, rows[most:], names="link"))
        )


def _nodes(made: Page, run: Result) -> None:
    columns, rows = rows_of(run.nodes, NODES)
    content = table(columns, rows, names="node")
    made.add(content if len(rows) <= 20 else folded(f"All {len(rows)} nodes", content))


def _meaning(name: str, subjects: list[str]) -> str:
    """What a series says of these subjects; one word may mean something of flows and something else of nodes."""
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


def _series(made: Page, run: Result) -> None:
    told = marks(run.plan)
    if told:
        made.add("<p>Dashed lines: what the scenario changes.</p>")
    for name in sorted(run.series["series"].unique()):
        title = run.title_of(name)
        chart = plots.series(run.series, name, colours=run.colours, marks=told, title=title)
        there = run.series.filter(run.series["series"] == name)["subject"].unique().to_list()
        subjects = len(there)
        meaning = _meaning(name, there)
        made.add(
            figure(
                f"series-{name}",
                plots.svg(chart, name),
                f"<strong>{escape(title)}</strong>, {subjects} subject{'s' * (subjects != 1)}"
                + (f": {escape(meaning)}." if meaning.lower() != title.lower() else "."),
                [(f"series.parquet ({name})", "series.parquet")],
            )
        )


def _events(made: Page, run: Result) -> None:
    counts = (
        run.events.group_by("subject", "event")
        .len("count")
        .sort("count", "subject", descending=[True, False])
    )
    made.add(
        table(
            [("event", "event"), ("subject", "by"), ("count", "count")],
            counts.head(40).to_dicts(),
            names="event",
        )
    )
    first = run.events.head(300)
    columns = [(name, name.replace("_s", " (s)") if name == "time_s" else name) for name in first.columns]
    title = (
        f"The first {first.height} of {run.events.height}"
        if run.events.height > 300
        else f"All {first.height} in order"
    )
    made.add(folded(title, table(columns, first.to_dicts())))


def _method(made: Page, run: Result, folder: Path) -> None:
    made.section("Method")
    made.add(
        facts(
            [
                ("seed", str(run.seed), ""),
                ("simulated", time_text(run.record["ended_s"]), ""),
                ("packet-hops", number(float(run.packet_hops), 3), "packets put on links"),
                ("version", run.record["version"], ""),
                ("trace hash", run.trace_hash, ""),
            ]
        )
    )
    made.add(
        "<p>The trace hash is a digest of every event in order. The same plan and seed give the same hash on every machine, "
        "from the command and from Python.</p>"
    )
    files = sorted(path.name for path in folder.iterdir() if path.suffix in {".parquet", ".json", ".toml"})
    links = ", ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in files)
    made.add(f"<p>Beside this page: {links}.</p>")
    plan = json.dumps(run.plan, indent=2, ensure_ascii=False)
    made.add(folded("The plan, with every default filled in", f"<pre>{escape(plan)}</pre>"))


def _footer(run: Result) -> str:
    return (
        f"Made by Thalweg {escape(run.record['version'])}. Every number comes from the Parquet tables beside this page; "
        "nothing here is loaded from elsewhere."
    )
