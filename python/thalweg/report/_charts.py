"""The data of a page's interactive charts: a header in JSON, and columns of 64-bit floats, compressed, in base64.

`web/src/data.ts` reads it; `assets/charts.js`, which `web/` builds, draws it. The values are those of `series.parquet`.
"""

from __future__ import annotations

import base64
import gzip
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy
from markupsafe import Markup

from .. import plots
from ..event_labels import seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars

    from ..result import Result

FORMAT = 2
"""Version of the header, as in `web/src/data.ts`."""


LOAD = 'import thalweg as tw\n\nrun = tw.Result.load(".")  # the folder of the run\n'
"""Python that loads the run of a page."""


def script_text() -> str:
    """The built script."""
    return files(__package__).joinpath("assets/charts.js").read_text(encoding="utf-8")


def script() -> Markup:
    """The built script, for a `<script>` element."""
    return Markup(script_text().replace("</script", "<\\/script"))


def data(
    run: Result, titles: Mapping[str, str], marks: Sequence[tuple[float, str]], *, load: str = LOAD
) -> Markup:
    """The content of the page's `<script id="thalweg-charts" type="application/json">`.

    `titles` are the titles of the series to draw, by name; `marks` are times in seconds with what the scenario changes then.
    `load` are the lines of Python before the plot of a chart.
    """
    groups = dict(zip(run.flows["flow"], run.flows["group"], strict=True)) if not run.flows.is_empty() else {}
    columns: list[polars.Series] = []
    length = 0
    charts = []
    for name, title in titles.items():
        wide = _wide(run, name)
        places = []
        for column in wide:
            places.append([length, column.len()])
            columns.append(column)
            length += column.len()
        subjects = wide.columns[1:]
        means = {subject: _mean(wide[subject]) for subject in subjects}
        highest = max(means.values(), default=0.0)
        colours = _colours(subjects, run.colours)
        unit, factor = plots.unit_of(name)
        charts.append(
            {
                "name": name,
                "title": title,
                "unit": unit,
                "factor": factor,
                "subjects": [
                    {
                        "name": subject,
                        "label": plots.subject_name(subject),
                        "colour": colours[subject],
                        "group": groups.get(subject.removeprefix("flow.")),
                        "quiet": means[subject] < plots.NEAR_ZERO * highest,
                    }
                    for subject in subjects
                ],
                "columns": places,
                "python": f'{load}run.plot("{name}", out="{name}.svg")\n',
            }
        )
    network, packets = _network(run, length)
    columns += packets
    header = {
        "format": FORMAT,
        "title": run.heading,
        "warmup_s": seconds(run.plan.get("warmup", "0 s")),
        "end_s": run.record["ended_s"],
        "marks": [list(mark) for mark in marks],
        "charts": charts,
        "network": network,
        "bytes": _packed(columns),
    }
    # `<` is written so that no value can end the element
    return Markup(json.dumps(header, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


def grids(
    name: str, rows: Sequence[Mapping[str, Any]], keys: Sequence[str], metrics: Mapping[str, str]
) -> Markup:
    """The content of a sweep page's `<script id="thalweg-grids" type="application/json">`.

    `rows` are those of `sweeps.points`; `metrics` are the labels of the vertical axes, by metric.
    """
    across = plots.GridAxis.of(rows, keys[0])
    others = [key.removeprefix("topology.") for key in keys[1:]]
    charts = []
    for metric, label in metrics.items():
        lines = []
        for index, (rest, part) in enumerate(plots.group_lines(rows, keys, metric).items()):
            points = sorted(
                ([across.places[row[keys[0]]], str(row[keys[0]]), *row[metric], row["n"]] for row in part),
                key=lambda point: point[0],
            )
            lines.append(
                {
                    "label": ", ".join(map(str, rest)),
                    "colour": plots.COLOURS[index % len(plots.COLOURS)],
                    "points": points,
                }
            )
        python = (
            'import polars as pl\n\nrows = pl.read_parquet("summary.parquet")  # of the folder of the sweep\n'
            f'rows = rows.filter(pl.col("metric") == "{metric}")\n'
            f'print(rows.select({json.dumps(list(keys))[1:-1]}, "mean", "ci95", "n"))\n'
        )
        charts.append({"name": metric, "label": label, "lines": lines, "python": python})
    header = {
        "format": FORMAT,
        "title": name,
        "x": {
            "label": across.label,
            "key": keys[0],
            "numeric": across.numeric,
            "joined": across.joined,
            "logarithmic": across.logarithmic,
        },
        "others": ", ".join(others),
        "charts": charts,
    }
    return Markup(json.dumps(header, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


MAX_PACKETS = 100_000
"""Packets that a page draws; later ones are in the table only."""


def _network(run: Result, length: int) -> tuple[dict[str, Any], list[polars.Series]]:
    """The directions of links, and the recorded packets, with their columns after the first `length` numbers.

    The columns of packets: arrival or drop in seconds, departure in seconds, number of the direction (−1: a drop
    at a node), number of the flow (−1: none), bytes, 1 for a drop. A packet departs a propagation delay and its
    own transmission time before it arrives.
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
    flows = run.flows["flow"].to_list() if not run.flows.is_empty() else []
    network: dict[str, Any] = {"ports": ports, "flows": [], "packets": [], "window": None}
    if run.packets.is_empty() or run.packets.height == 0:
        return network, []
    rows = (
        run.packets.head(MAX_PACKETS)
        .join(links, on=["link", "direction"], how="left", maintain_order="left")
        .join(
            pl.DataFrame({"flow": flows}).with_row_index("number"),
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
    ).get_columns()
    network["flows"] = [{"name": flow, "colour": run.colours[f"flow.{flow}"]} for flow in flows]
    network["packets"] = [[length + index * rows.height, rows.height] for index in range(len(columns))]
    network["window"] = [rows["time_s"].min(), rows["time_s"].max()]
    return network, columns


def _wide(run: Result, name: str) -> polars.DataFrame:
    """One series: `time_s`, and a column per subject in order of falling means, with NaN where nothing was recorded."""
    import polars as pl

    rows = run.series.filter(pl.col("series") == name)
    wide = rows.pivot("subject", index="time_s", values="value").sort("time_s")
    means = rows.group_by("subject").agg(pl.col("value").abs().mean())
    order = means.sort("value", "subject", descending=[True, False])["subject"].to_list()
    return wide.select("time_s", *order).select(pl.all().cast(pl.Float64).fill_null(float("nan")))


def _mean(column: polars.Series) -> float:
    """The mean magnitude of a column; 0 for a column without a value."""
    values = column.to_numpy()
    known = values[~numpy.isnan(values)]
    return float(numpy.abs(known).mean()) if known.size else 0.0


def _colours(subjects: Sequence[str], kept: Mapping[str, str]) -> dict[str, str]:
    """The colour that a subject has on the page; the others take those that are left in turn."""
    taken = {kept[subject] for subject in subjects if subject in kept}
    free = [colour for colour in plots.COLOURS if colour not in taken] or list(plots.COLOURS)
    others = [subject for subject in subjects if subject not in kept]
    given = {subject: free[index % len(free)] for index, subject in enumerate(others)}
    return {subject: kept.get(subject) or given[subject] for subject in subjects}


def _packed(columns: Sequence[polars.Series]) -> str:
    """The columns one after the other: little-endian, compressed with gzip, in base64; deterministic."""
    numbers = [column.to_numpy().astype("<f8", copy=False) for column in columns]
    raw = b"".join(column.tobytes() for column in numbers)
    return base64.b64encode(gzip.compress(raw, mtime=0)).decode("ascii")
