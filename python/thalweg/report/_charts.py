"""The data of a page's interactive charts: a header in JSON, and columns of 64-bit floats, compressed, in base64.

`web/src/data.ts` reads it; `assets/charts.js`, which `web/` builds, draws it. The values are those of `series.parquet`.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy
from markupsafe import Markup

from .. import plots
from ..event_labels import seconds
from ..stats import possible_range
from ..styles import MANY_LINES
from .columns import known_digits, unit_of
from .comparison import DASHES, lines, marks

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping, Sequence

    import polars

    from ..result import Result
    from .comparison import RunLine

FORMAT = 3
"""Version of the header, as in `web/src/data.ts`."""
GRID_FORMAT = 5
"""Version of the data of a grid, as in `web/src/grids.ts`."""


LOAD = 'import thalweg as tw\n\nrun = tw.Result.load(".")  # the folder of the run\n'
"""Python that loads the run of a page."""


NO_NETWORK: dict[str, Any] = {
    "ports": [],
    "flows": [],
    "trees": [],
    "orders": [],
    "packets": [],
    "window": None,
}
"""A page without a picture of a network that moves."""


def script_text() -> str:
    """The built script."""
    return files(__package__).joinpath("assets/charts.js").read_text(encoding="utf-8")


def script() -> Markup:
    """The built script, for a `<script>` element."""
    return Markup(script_text().replace("</script", "<\\/script"))


def data(
    run: Result, titles: Mapping[str, str], changes: Sequence[tuple[float, str]], *, load: str = LOAD
) -> Markup:
    """The content of the page's `<script id="thalweg-charts" type="application/json">`.

    `titles` are the titles of the series to draw, by name; `changes` are times in seconds with what the scenario
    changes then.
    `load` are the lines of Python before the plot of a chart.
    """
    columns = Columns()
    charts = [_chart(run, name, name, title, columns, load) for name, title in titles.items()]
    network, packets = _network(run, columns.length)
    columns.listed += packets
    header = {
        "format": FORMAT,
        "title": run.heading,
        "warmup_s": seconds(run.plan.get("warmup", "0 s")),
        "end_s": run.record["ended_s"],
        "marks": [list(change) for change in changes],
        "charts": charts,
        "network": network,
        "bytes": packed(columns.listed),
    }
    return as_element(header)


OVERLAY = """from thalweg.report import comparison

comparison.overlay(runs, "{name}").savefig("{name}.svg")
"""
"""Python that draws a series of several runs."""


def compared(title: str, runs: Sequence[tuple[str, Result]], series: Mapping[str, str], load: str) -> Markup:
    """The same for a page that compares runs: a chart per series, with the lines of all runs.

    `series` are titles by name; `load` are the lines of Python that load the runs.
    """
    columns = Columns()
    charts = [_overlaid(runs, name, heading, columns, load) for name, heading in series.items()]
    header = {
        "format": FORMAT,
        "title": title,
        "warmup_s": _common_warmup(runs),
        "end_s": max(run.record["ended_s"] for _, run in runs),
        "marks": [list(mark) for mark in marks(runs)],
        "charts": charts,
        "network": NO_NETWORK,
        "bytes": packed(columns.listed),
    }
    return as_element(header)


def _common_warmup(runs: Sequence[tuple[str, Result]]) -> float:
    """The warm-up of all runs, which is shaded; 0 if they differ, because the shade would be wrong for some."""
    ends = {seconds(run.plan.get("warmup", "0 s")) for _, run in runs}
    return ends.pop() if len(ends) == 1 else 0.0


def _overlaid(
    runs: Sequence[tuple[str, Result]], name: str, title: str, columns: Columns, load: str
) -> dict[str, Any]:
    """A series of several runs as one chart; runs with other sample times than the rest have gaps between their points."""
    import polars as pl

    listed = lines(runs, name)
    groups = [
        dict(zip(run.flows["flow"], run.flows["group"], strict=True)) if not run.flows.is_empty() else {}
        for _, run in runs
    ]
    keys = [f"{runs[line.run][0]}/{line.subject}" for line in listed]
    rows = pl.concat(
        run.drawn_series.filter(pl.col("series") == name).select(
            "time_s", pl.format(f"{number}/{{}}", "subject").alias("subject"), "value"
        )
        for number, (_, run) in enumerate(runs)
    )
    wide = rows.pivot("subject", index="time_s", values="value").sort("time_s")
    wide = wide.select("time_s", *(f"{line.run}/{line.subject}" for line in listed))
    wide = wide.select(pl.all().cast(pl.Float64).fill_null(float("nan")))
    unit, factor = plots.unit_of(name)

    def group_of(line: RunLine) -> str | None:
        group = groups[line.run].get(line.subject.removeprefix("flow."))
        return None if group is None else f"{runs[line.run][0]}: {group}"

    return {
        "name": name,
        "title": title,
        "unit": unit,
        "factor": factor,
        "subjects": [
            {
                "name": key,
                "label": line.label,
                "colour": line.colour,
                "dash": list(line.dash),
                "group": group_of(line),
                "quiet": not line.shown,
            }
            for key, line in zip(keys, listed, strict=True)
        ],
        "columns": [columns.add(column) for column in wide],
        "python": load + OVERLAY.format(name=name),
    }


def sampled(
    title: str,
    times: Sequence[float],
    charts: Sequence[tuple[str, str, str, float, Mapping[str, Sequence[float]]]],
    quiet: Container[str] = (),
) -> Markup:
    """The same for samples of something that is no run, such as a transfer.

    A chart is its name, its title, the unit of its axis, the factor from values to that unit, and the values by line. The
    lines in `quiet` are hidden at first.
    """
    import polars as pl

    columns = Columns()
    at = columns.add(pl.Series(times, dtype=pl.Float64))
    header = {
        "format": FORMAT,
        "title": title,
        "warmup_s": 0,
        "end_s": times[-1] if times else 0,
        "marks": [],
        "charts": [
            {
                "name": name,
                "title": heading,
                "unit": unit,
                "factor": factor,
                "subjects": [
                    {
                        "name": line,
                        "label": line,
                        "colour": plots.COLOURS[index % len(plots.COLOURS)],
                        "group": None,
                        "quiet": line in quiet,
                    }
                    for index, line in enumerate(lines)
                ],
                "columns": [
                    at,
                    *(columns.add(pl.Series(values, dtype=pl.Float64)) for values in lines.values()),
                ],
                "python": "",
            }
            for name, heading, unit, factor, lines in charts
        ],
        "network": NO_NETWORK,
        "bytes": packed(columns.listed),
    }
    return as_element(header)


class Columns:
    """Columns of numbers, one after the other."""

    def __init__(self) -> None:
        self.listed: list[polars.Series] = []
        self.length = 0

    def add(self, column: polars.Series) -> list[int]:
        """Adds a column; returns its first place and its length."""
        self.listed.append(column)
        self.length += column.len()
        return [self.length - column.len(), column.len()]


def _chart(run: Result, name: str, chart: str, title: str, columns: Columns, load: str) -> dict[str, Any]:
    """The series `name` of a run as the chart `chart`, with its numbers in `columns`."""
    groups = dict(zip(run.flows["flow"], run.flows["group"], strict=True)) if not run.flows.is_empty() else {}
    wide = _wide(run, name)
    subjects = wide.columns[1:]
    means = {subject: mean for subject in subjects if (mean := _mean(wide[subject])) is not None}
    colours = _colours(subjects, run.colours)
    # a line without a value as well
    quiet = plots.quiet_subjects(means) | (set(subjects) - means.keys())
    dashes = _dashes(colours, run.colours, quiet)
    unit, factor = plots.unit_of(name)
    return {
        "name": chart,
        "title": title,
        "unit": unit,
        "factor": factor,
        "subjects": [
            {
                "name": subject,
                "label": plots.subject_name(subject),
                "colour": colours[subject],
                "dash": list(dashes[subject]),
                "group": groups.get(subject.removeprefix("flow.")),
                "quiet": subject in quiet,
            }
            for subject in subjects
        ],
        "columns": [columns.add(column) for column in wide],
        "python": f'{load}run.plot("{name}", out="{name}.svg")\n',
    }


def as_element(header: Mapping[str, Any]) -> Markup:
    """JSON as the content of a `<script>`: `<` is written so that no value can end the element."""
    return Markup(json.dumps(header, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


SWEEP = """import polars as pl

rows = pl.read_parquet("summary.parquet")  # of the folder of the sweep
rows = rows.filter(pl.col("metric") == "{metric}")
print(rows.select({keys}, "mean", "low", "high", "n"))
"""
"""Python that prints the points of a chart of a sweep."""


def grids(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    metrics: Mapping[str, str],
    *,
    boxes: bool = False,
    python: str = SWEEP,
) -> Markup:
    """The content of a sweep page's `<script id="thalweg-grids" type="application/json">`.

    `rows` are those of `sweep_rows.points`; the key `samples` of a row has the values over seeds, by metric. `metrics` are
    the labels of the vertical axes, by metric. `boxes` draws box plots first, not means. `python` has `{metric}` and
    `{keys}`.
    """
    across = plots.GridAxis.of(rows, keys[0])
    others = [key.removeprefix("topology.") for key in keys[1:]]
    charts = []
    for metric, label in metrics.items():
        lines = []
        groups = plots.group_lines(rows, keys, metric)
        for index, (rest, part) in enumerate(groups.items()):
            again = index // len(plots.COLOURS)
            points = sorted(
                (
                    [
                        *(across.places[row[keys[0]]], str(row[keys[0]])),
                        *(*row[metric], row["n"], row.get("samples", {}).get(metric, [])),
                    ]
                    for row in part
                ),
                key=lambda point: point[0],
            )
            lines.append(
                {
                    "label": ", ".join(map(str, rest)),
                    "colour": plots.COLOURS[index % len(plots.COLOURS)],
                    "dash": list(DASHES[(again + index * (len(groups) >= MANY_LINES)) % len(DASHES)]),
                    "points": points,
                }
            )
        code = python.format(metric=metric, keys=json.dumps(list(keys))[1:-1])
        charts.append(
            {
                "name": metric,
                "label": label,
                "lines": lines,
                "limits": _limits(metric),
                "digits": known_digits(metric),
                "python": code,
            }
        )
    header = {
        "format": GRID_FORMAT,
        "title": name,
        "x": {
            "label": across.label,
            "key": keys[0],
            "numeric": across.numeric,
            "joined": across.joined,
            "logarithmic": across.logarithmic,
        },
        "others": ", ".join(others),
        "boxes": boxes,
        "charts": charts,
    }
    return as_element(header)


def _limits(metric: str) -> list[float | None]:
    """The minimum and the maximum possible value of a metric in the unit of its axis; None where there is none."""
    factor = unit_of(metric)[1]
    return [end * factor if math.isfinite(end) else None for end in possible_range(metric)]


MAX_PACKETS = 100_000
"""Packets that a page draws; later ones are in the table only."""


def _network(run: Result, length: int) -> tuple[dict[str, Any], list[polars.Series]]:
    """The directions of links, and the recorded packets, with their columns after the first `length` numbers.

    The columns of packets: arrival or drop in seconds, departure in seconds, number of the direction (−1: a drop
    at a node), number of the flow (−1: none), bytes, 1 for a drop, 1 for a mark. A packet departs a propagation
    delay and its own transmission time before it arrives.
    """
    import polars as pl

    links = run.links.select("link", "direction", "from", "to", "rate_bps", "delay_s").with_row_index("port")
    ports = [
        {
            "link": row["link"],
            "from": row["from"],
            "to": row["to"],
            "subject": f"link.{row['link']}{'.backward' * (row['direction'] == 'backward')}",
            "rate_bps": row["rate_bps"],
        }
        for row in links.to_dicts()
    ]
    limits = _queue_limits(run)
    for port in ports:
        port["queue_packets"] = limits.get(port["link"])
    nodes = _nodes_of_flows(run)
    numbers = {port["subject"]: number for number, port in enumerate(ports)}
    network: dict[str, Any] = {
        "ports": ports,
        "flows": [
            {"name": flow, "colour": run.colours[f"flow.{flow}"], "nodes": ends}
            for flow, ends in nodes.items()
        ],
        "trees": _trees(run, numbers),
        "orders": orders(run),
        "packets": [],
        "window": None,
    }
    if run.packets.is_empty() or run.packets.height == 0:
        return network, []
    rows = (
        run.packets.head(MAX_PACKETS)
        .join(links, on=["link", "direction"], how="left", maintain_order="left")
        .join(
            pl.DataFrame({"flow": list(nodes)}, schema={"flow": pl.String}).with_row_index("number"),
            on="flow",
            how="left",
            maintain_order="left",
        )
    )
    transmission = (8.0 * pl.col("bytes") / pl.col("rate_bps")).fill_null(0.0)
    columns = rows.select(
        pl.col("time_s"),
        (pl.col("time_s") - pl.col("delay_s").fill_null(0.0) - transmission).alias("sent_s"),
        pl.col("port").cast(pl.Float64).fill_null(-1.0),
        pl.col("number").cast(pl.Float64).fill_null(-1.0),
        pl.col("bytes").cast(pl.Float64),
        (pl.col("event") != "arrived").cast(pl.Float64).alias("dropped"),
        pl.col("marked").cast(pl.Float64),
    ).get_columns()
    network["packets"] = [[length + index * rows.height, rows.height] for index in range(len(columns))]
    network["window"] = [rows["time_s"].min(), rows["time_s"].max()]
    return network, columns


def _queue_limits(run: Result) -> dict[str, float]:
    """The limit of each link's queue in packets, as the plan has it; not of links without one, or with one in bytes."""
    links = run.plan["topology"].get("links")
    found: dict[str, float] = {}
    for link in links if isinstance(links, list) else ():
        number, _, unit = str(link.get("buffer", "")).partition(" ")
        if unit in {"packet", "packets"}:
            found[link["name"]] = float(number)
    return found


def _nodes_of_flows(run: Result) -> dict[str, list[str]]:
    """The node of each flow's sender, and that of its receiver if it has only one."""
    if run.flows.is_empty():
        return {}
    nodes = {row["flow"]: [row["from"]] for row in run.flows.select("flow", "from").to_dicts()}
    alone = run.flows.filter(run.flows["receivers"] == 1)["flow"].implode()
    for row in run.receivers.filter(run.receivers["flow"].is_in(alone)).select("flow", "node").to_dicts():
        nodes[row["flow"]].append(row["node"])
    return nodes


def _trees(run: Result, numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    """The directions of links that each multicast group takes, with the times at which they join its tree and leave it."""
    if run.events.is_empty():
        return []
    rows = run.events.filter(run.events["event"].is_in(["branch_added", "branch_removed"]))
    return [
        {
            "flow": flow.removeprefix("flow."),
            "colour": run.colours[flow],
            "ports": [
                [numbers[port], changes["time_s"].to_list()]
                for (port,), changes in part.group_by("subject", maintain_order=True)
            ],
        }
        for (flow,), part in rows.group_by("text", maintain_order=True)
    ]


MAX_ORDERS = 2000
"""Commands and reroutes that a page draws; later ones are in the table only."""


def orders(run: Result) -> list[dict[str, Any]]:
    """Commands as an SDN controller sends them, and the traffic that nodes move by them."""
    if run.events.is_empty():
        return []
    names = ["command_sent", "prefix_moved", "route_moved", "moved_to"]
    orders: list[dict[str, Any]] = []
    for row in run.events.filter(run.events["event"].is_in(names)).head(MAX_ORDERS).to_dicts():
        node = row["subject"].removeprefix("node.")
        order = {"at_s": row["time_s"], "from": None, "node": node, "subject": None}
        match row["event"]:
            case "command_sent":
                to = row["text"].removeprefix("node.")
                orders.append(order | {"from": node, "node": to, "words": f"{node} commands {to}"})
            case "moved_to":
                # it follows what was moved
                orders[-1] |= {"subject": row["text"]}
                orders[-1]["words"] += f" to {row['text'].removeprefix('link.')}"
            case _:
                what = row["text"].removeprefix("node.")
                orders.append(order | {"words": f"{node} moves {what}"})
    return orders


def _wide(run: Result, name: str) -> polars.DataFrame:
    """One series: `time_s`, and a column per subject in the order of the scenario, with NaN where nothing was recorded.

    The order does not change while a run grows, so that the studio's charts and those of the page have the same legends.
    """
    import polars as pl

    rows = run.drawn_series.filter(pl.col("series") == name)
    wide = rows.pivot("subject", index="time_s", values="value").sort("time_s")
    order = rows["subject"].unique(maintain_order=True).to_list()
    return wide.select("time_s", *order).select(pl.all().cast(pl.Float64).fill_null(float("nan")))


def _mean(column: polars.Series) -> float | None:
    """The mean magnitude of a column; None for a column without a value."""
    values = column.to_numpy()
    known = values[~numpy.isnan(values)]
    return float(numpy.abs(known).mean()) if known.size else None


def _colours(subjects: Sequence[str], kept: Mapping[str, str]) -> dict[str, str]:
    """The colour that a subject has on the page; the others take those that are left in turn."""
    taken = {kept[subject] for subject in subjects if subject in kept}
    free = [colour for colour in plots.COLOURS if colour not in taken] or list(plots.COLOURS)
    others = [subject for subject in subjects if subject not in kept]
    given = {subject: free[index % len(free)] for index, subject in enumerate(others)}
    return {subject: kept.get(subject) or given[subject] for subject in subjects}


def _dashes(
    colours: Mapping[str, str], kept: Mapping[str, str], quiet: Collection[str] = ()
) -> dict[str, tuple[float, ...]]:
    """A kind of line per subject: solid if they are few, and others for those whose colour is taken.

    From `styles.MANY_LINES` on, lines differ by their dashes too; the colours that are `kept` on the page have the same ones
    in each of its charts. Lines that are `quiet` are not shown at first, and do not count.
    """
    order = list(dict.fromkeys([*kept.values(), *colours.values()]))
    many = sum(subject not in quiet for subject in colours) >= MANY_LINES
    taken: dict[str, int] = {}
    given = {}
    for subject, colour in sorted(colours.items(), key=lambda item: item[0] in quiet):
        first = order.index(colour) if many else 0
        given[subject] = DASHES[(first + taken.get(colour, 0)) % len(DASHES)]
        taken[colour] = taken.get(colour, 0) + 1
    return given


def packed(columns: Sequence[polars.Series]) -> str:
    """The columns one after the other: little-endian, compressed with gzip, in base64; deterministic."""
    numbers = [column.to_numpy().astype("<f8", copy=False) for column in columns]
    raw = b"".join(column.tobytes() for column in numbers)
    return base64.b64encode(gzip.compress(raw, mtime=0)).decode("ascii")
