"""`thalweg schemes`: the catalogue, and one scheme's parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .out import Refusal, cell, console, nearest, print_table, show_json

if TYPE_CHECKING:
    from collections.abc import Mapping


def schemes(name: str | None = None, /, *, json: bool = False) -> int:
    """List the congestion-control schemes, or show one: its sources and parameters.

    Parameters
    ----------
    name
        The scheme to show; without it the catalogue is listed.
    json
        Print one JSON object.
    """
    from ..catalogue import schemes as catalogue
    from ..catalogue import strategies

    listed = catalogue()
    if name is None:
        if json:
            show_json({"schemes": listed, "strategies": strategies()})
        else:
            _list(listed)
        return 0
    scheme = next((row for row in listed if row["name"] == name), None)
    if scheme is None:
        raise Refusal(f"there is no scheme `{name}`", nearest(name, [row["name"] for row in listed]))
    if json:
        show_json({"scheme": scheme})
    else:
        _show(scheme)
    return 0


def range_text(parameter: Mapping[str, Any]) -> str:
    """`0 … 1`; a dash when every value of its kind is allowed."""
    if parameter["range"] is None:
        return "–"
    low, high = parameter["range"]
    return f"{cell(low)} … {cell(high)}"


def _list(listed: list[dict[str, Any]]) -> None:
    rows = [
        {
            **row,
            "families": ", ".join(row["families"]),
            "params": len(row["params"]),
            "sources": ", ".join(source["key"] for source in row["sources"]),
        }
        for row in listed
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
    print_table("", columns, rows)
    console().print("`thalweg schemes NAME` shows a scheme's parameters and sources.", style="dim")


def _show(scheme: dict[str, Any]) -> None:
    screen = console()
    screen.print(f"[bold]{scheme['name']}[/bold]  {scheme['title']}")
    screen.print(
        f"for {', '.join(scheme['families'])} networks, on {scheme['transport']}; documented: {scheme['documented']}\n"
    )
    print_table("Sources", [("key", "key"), ("text", "text")], scheme["sources"])
    rows = [{**parameter, "range": range_text(parameter)} for parameter in scheme["params"]]
    columns = [
        ("name", "parameter"),
        ("kind", "kind"),
        ("default", "default"),
        ("range", "range"),
        ("doc", "what it does"),
        ("source", "from"),
    ]
    if rows:
        print_table("Parameters", columns, rows)
    else:
        screen.print("It has no parameters.")
