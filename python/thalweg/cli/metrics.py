"""`thalweg metrics`: what the columns and keys of a result mean."""

from __future__ import annotations

from .output import CommandError, nearest, print_table, show_json


def metrics(name: str | None = None, /, *, json: bool = False) -> int:
    """Show what the columns and keys of a result mean: unit, definition, and where it is measured.

    Parameters
    ----------
    name
        Show this table, column or series only, such as `flows` or `throughput_bps`.
    json
        Print one JSON object.
    """
    from ..catalogue import metrics as all_metrics
    from ..catalogue import series as all_series

    columns, series = all_metrics(), all_series()
    if name is not None:
        known = {word for row in columns for word in (row["table"], row["name"])} | {
            row["name"] for row in series
        }
        if name not in known:
            raise CommandError(f"no table, column or series is called `{name}`", nearest(name, sorted(known)))
        columns = [row for row in columns if name in (row["table"], row["name"])]
        series = [row for row in series if name in (row["name"], "series")]
    if json:
        show_json({"metrics": columns, "series": series})
        return 0
    headings = [("name", "name"), ("unit", "unit"), ("definition", "definition")]
    for table in dict.fromkeys(row["table"] for row in columns):
        rows = [row for row in columns if row["table"] == table]
        print_table(f"Table {table}", [*headings, ("measured", "measured at")], rows)
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
    return 0
