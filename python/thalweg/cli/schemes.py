"""`thalweg schemes`: the catalogue, and one scheme's parameters."""

from __future__ import annotations

from typing import Any

from .options import SchemeFiles, load_scheme_files
from .output import CommandError, console, exact, nearest, print_table, range_text, show_json


def schemes(name: str | None = None, /, *, scheme_file: SchemeFiles = (), json: bool = False) -> int:
    """List the congestion-control schemes, or show one: its sources, parameters and series.

    Parameters
    ----------
    name
        Show this scheme, or this forwarding strategy for named data, with its parameters.
    scheme_file
        Import this Python file and add its schemes to the catalogue; may be repeated. It runs with your rights.
    json
        Print one JSON object.
    """
    from ..catalogue import schemes as catalogue
    from ..catalogue import strategies, systems

    load_scheme_files(scheme_file)
    catalogued, forwarding, absent = catalogue(), strategies(), systems()
    if name is None:
        if json:
            show_json({"schemes": catalogued, "strategies": forwarding, "systems": absent})
        else:
            _list(catalogued, forwarding, absent)
        return 0
    scheme = next((row for row in catalogued if row["name"] == name), None)
    strategy = next((row for row in forwarding if row["name"] == name), None)
    if scheme is None and strategy is None:
        raise CommandError(
            f"no scheme is called `{name}`", nearest(name, [row["name"] for row in catalogued + forwarding])
        )
    if json:
        show_json({"scheme": scheme} if scheme else {"strategy": strategy})
    elif scheme:
        _show(scheme)
    elif strategy:
        console().print(f"[bold]{strategy['name']}[/bold]  {strategy['title']}")
        console().print(f'forwarding strategy for named data: strategy = "{strategy["name"]}" under \\[ndn]')
        _show_parameters(strategy["params"])
    return 0


def _list(
    catalogued: list[dict[str, Any]], strategies: list[dict[str, Any]], absent: list[dict[str, str]]
) -> None:
    rows = [
        {
            **row,
            "families": ", ".join(row["families"]),
            "params": len(row["params"]),
            "sources": ", ".join(source["key"] for source in row["sources"]),
        }
        for row in catalogued
    ]
    columns = [
        ("name", "scheme"),
        ("title", "title"),
        ("families", "networks"),
        ("transport", "transport"),
        ("params", "parameters"),
        ("documented", "documented"),
        ("sources", "sources"),
    ]
    print_table("", columns, rows, first=("name", "title", "families", "transport", "documented"))
    print_table(
        "Forwarding strategies for named data",
        [("name", "strategy"), ("title", "title"), ("params", "parameters")],
        [{**row, "params": len(row["params"])} for row in strategies],
    )
    print_table(
        "Named in the papers and not implemented: what is known, and what is missing",
        [("name", "system"), ("known", "what is known"), ("missing", "what is missing")],
        absent,
    )
    console().print("`thalweg schemes NAME` shows the parameters, sources and series of one.", style="dim")


def _show(scheme: dict[str, Any]) -> None:
    from ..catalogue import series

    screen = console()
    screen.print(f"[bold]{scheme['name']}[/bold]  {scheme['title']}")
    transport = f"{scheme['transport']} with RACK-TLP" if scheme["rack"] else scheme["transport"]
    screen.print(
        f"for {', '.join(scheme['families'])} networks, on {transport}; documented: {scheme['documented']}"
    )
    print_table("Sources", [("key", "key"), ("text", "text")], scheme["sources"])
    _show_parameters(scheme["params"])
    offered = [row for row in series() if row["offered_by"] == scheme["name"]]
    if offered:
        columns = [("name", "series"), ("unit", "unit"), ("subject", "subject"), ("definition", "definition")]
        print_table(
            f"Series, beside the series of {scheme['transport']}", columns, offered, first=("name", "unit")
        )


def _show_parameters(parameters: list[dict[str, Any]]) -> None:
    rows = [
        {**parameter, "range": range_text(parameter), "default": exact(parameter["default"])}
        for parameter in parameters
    ]
    columns = [
        ("name", "parameter"),
        ("kind", "kind"),
        ("default", "default"),
        ("range", "range"),
        ("doc", "meaning"),
        ("source", "source"),
    ]
    if rows:
        print_table("Parameters", columns, rows, first=("name", "default", "range", "doc"))
    else:
        console().print("no parameters")
