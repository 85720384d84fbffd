"""`thalweg metrics`: what the columns and keys of a result mean."""

from __future__ import annotations

import re
from typing import Any

from .output import CommandError, nearest, print_table, show_json

Rows = list[dict[str, Any]]


def metrics(*name: str, json: bool = False) -> int:
    """Show what the columns and keys of a result mean: unit, definition, and where it is measured.

    Parameters
    ----------
    name
        Show this table, column, series or key only, such as `flows`, `throughput_bps` or `flows.short.fct_p95`; or what a
        printed heading means, such as `one-way delay`, or a fact of a page, such as `fullest link`. Several words are one
        name.
    json
        Print one JSON object.
    """
    from ..catalogue import metrics as all_metrics
    from ..catalogue import series as all_series

    columns, series = all_metrics(), all_series()
    if name:
        columns, series = _find(" ".join(name), columns, series)
    if json:
        show_json({"metrics": columns, "series": series})
        return 0
    _print(columns, series)
    return 0


def _find(name: str, columns: Rows, series: Rows) -> tuple[Rows, Rows]:
    """The table, columns and series of a name, of a key of the summary, or of a printed heading."""
    from ..report.columns import TABLES, columns_called, words_of
    from ..report.facts import FACTS, facts_called

    exact = [row for row in columns if name in (row["table"], row["name"])]
    of_series = [row for row in series if name in (row["name"], "series")]
    called = [] if exact or of_series else _of_key(name, columns)
    is_table = any(row["table"] == name for row in columns)
    if not called and not is_table and (headed := columns_called(name, exactly=bool(exact))):
        called = [row for table, column in headed for row in _definitions(table, column, columns)]
    called = [*called, *facts_called(name)]
    if not exact and not of_series and (not called or re.fullmatch(r"p\d+", name.lower())):
        # one heading is `p95` alone, but all percentiles are meant
        called = [*called, *_by_words(name, columns)]
    if not exact and not of_series and not called:
        known = {word for row in columns for word in (row["table"], row["name"])}
        known |= {row["name"] for row in series}
        known |= {words_of(column.heading) for shown in TABLES.values() for column in shown} | set(FACTS)
        raise CommandError(
            f"no table, column, series or heading is called `{name}`", nearest(name, sorted(known))
        )
    unique = {(row["table"], row["name"]): _complete(row, columns) for row in [*exact, *called]}
    return list(unique.values()), of_series


def _by_words(name: str, columns: Rows) -> Rows:
    """Columns by a name without its unit, such as `queueing_delay_p95`, or by words of names and headings in any order.

    Percentiles are found as `p95` and as `95th percentile`.
    """
    from ..report.columns import TABLES, word_of

    bare = [row for row in columns if word_of(row["name"]) == name]
    if bare:
        return bare
    headings: dict[tuple[str, str], str] = {}
    for table, shown in TABLES.items():
        for column in shown:
            headings[table, column.key] = f"{headings.get((table, column.key), '')} {column.heading}"
    wanted = _words(PERCENTILE.sub(r"p\1", name.lower()))
    known = [
        _words(f"{row['name']} {headings.get((row['table'], row['name']), '')}".lower()) for row in columns
    ]
    return [row for row, words in zip(columns, known, strict=True) if wanted and wanted <= words]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text)) - {"of", "the"}


PERCENTILE = re.compile(r"\b(\d+)(?:st|nd|rd|th)?[ -]?percentile\b")

OF_WAITS = re.compile(r"(queueing_delay|queue)_p\d+(_s)?$")
"""Percentiles that are read from a histogram; the definition of the first of a table says more."""

PART = re.compile(r"(?:\d+th percentile|median|minimum|maximum|first quartile|third quartile)(?=$|[;,])")
"""Definitions that say nothing without the column before them."""


def _complete(row: dict[str, Any], columns: Rows) -> dict[str, Any]:
    """A row whose definition names what it is a percentile of, as it is shown without the rows before it."""
    precision = ". Exact to 0.4 %: three digits are printed" if OF_WAITS.match(row["name"]) else ""
    part = PART.match(row["definition"])
    base = re.sub(r"_(p\d+|min|max)(?=_|$)", "", row["name"])
    other = next((one for one in columns if (one["table"], one["name"]) == (row["table"], base)), None)
    if part is None or other is None or base == row["name"]:
        return {**row, "definition": row["definition"] + precision}
    rest = row["definition"][part.end() :]
    return {**row, "definition": f"{part[0]} of {base}{rest}. {base}: {other['definition']}{precision}"}


def _of_key(key: str, columns: Rows) -> Rows:
    """The meaning of a key of the summary, such as `flow.video.goodput` or `link.bottleneck.queue_p95`."""
    # a heading of a sweep is a key with its unit
    kind, dot, rest = re.sub(r" \([^()]*\)$", "", key).partition(".")
    tables = {"flow": "flows", "receiver": "receivers", "link": "links", "node": "nodes", "app": "apps"}
    if not dot or kind not in {*tables, "flows"}:
        return []
    return _definitions(tables.get(kind, "summary"), rest.rpartition(".")[2], columns)


def _definitions(table: str, column: str, columns: Rows) -> Rows:
    """The rows of a column; a key of the summary without a row of its own has the meaning of the flows' column."""
    units = ("", "_bps", "_s")
    for place in dict.fromkeys((table, "flows" if table == "summary" else table)):
        found = [
            row
            for row in columns
            if row["table"] == place and row["name"] in [f"{column}{unit}" for unit in units]
        ]
        if found:
            return found
    return []


def _print(columns: Rows, series: Rows) -> None:
    from ..report.facts import WHERE

    headings = [("name", "name"), ("unit", "unit"), ("definition", "definition")]
    for table in dict.fromkeys(row["table"] for row in columns):
        rows = [row for row in columns if row["table"] == table]
        title = "Facts of pages" if table == WHERE else f"Table {table}"
        print_table(title, [*headings, ("measured", "measured at")], rows)
    if series:
        print_table(
            "Series",
            [
                ("name", "name"),
                ("unit", "unit"),
                ("subject", "subject"),
                ("definition", "definition"),
                ("offered_by", "offered by"),
            ],
            series,
        )
