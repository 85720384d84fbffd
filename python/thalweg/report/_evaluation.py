"""The page of an evaluation: the report card of a scheme. Reads the folder only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .._stored import check_keys, read_record
from ..errors import ResultError
from ..evaluation.rows import printed
from ..evaluation.runner import FORMAT
from ..stats import few_seeds
from ._page import render
from .numbers import number

if TYPE_CHECKING:
    from pathlib import Path

    from ..evaluation.runner import Card

FILE = "evaluation.json"
"""The file of an evaluation in its folder."""

WIDTH = 150.0
"""Width of the picture of a row."""

MARGIN = 6.0
"""Free space at both sides of it."""


def save(card: Card, folder: Path) -> None:
    """Writes `evaluation.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(card.as_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def page(folder: Path) -> str:
    """The page of a folder that `save` wrote."""
    record = read_record(folder / FILE)
    check_keys(record, folder / FILE, {"format": int, "version": str})
    if record["format"] != FORMAT:
        raise ResultError(
            f"{folder / FILE} was written by version {record['version']}, and cannot be read by this one",
            f"the command writes it again: {_command(record)}",
        )
    batteries = [
        {
            **battery,
            "counts": applying(count(battery["rows"])),
            "rest": count(battery["rows"])["not applicable"],
            "rows": [{**row, "strip": _strip(row)} for row in battery["rows"]],
        }
        for battery in record["batteries"]
    ]
    for battery in batteries:
        battery["applies"] = any(row["verdict"] != "not applicable" for row in battery["rows"])
    label = " ".join([record["scheme"], *(f"{key}={value}" for key, value in record["params"].items())])
    return render(
        "evaluation.html",
        f"{label} · report card",
        version=record["version"],
        record=record,
        only=record.get("only"),
        pictures=any(row["strip"] for battery in batteries for row in battery["rows"]),
        counts=applying(record["counts"]),
        label=label,
        lead=_lead(record),
        batteries=batteries,
        file=FILE,
        measured=measured,
        references=references,
        few=few_seeds(record["seeds"]),
        method=[
            ("scheme", label, ""),
            ("kind", record["kind"], ""),
            ("references", ", ".join(record["against"]), ""),
            (
                "seeds",
                f"{record['seed']} … {record['seed'] + record['seeds'] - 1}",
                f"{record['seeds']} seeds" if record["seeds"] > 1 else "one seed",
            ),
            ("runs", number(float(record["runs"])), "different ones"),
            ("version", record["version"], ""),
        ],
        again=_command(record),
    )


def count(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Rows per verdict."""
    verdicts = [row["verdict"] for row in rows]
    return {verdict: verdicts.count(verdict) for verdict in ("pass", "undecided", "fail", "not applicable")}


def applying(counts: dict[str, int]) -> dict[str, int]:
    """Verdicts of the rows that apply to the scheme, of which the bars are."""
    return {verdict: number for verdict, number in counts.items() if verdict != "not applicable"}


def measured(row: dict[str, Any]) -> str:
    """The mean over seeds with its unit; what did not happen before the end of the run is said instead."""
    found = row["measured"]
    if found is None:
        return "–"
    return row["unfinished"].get("") or printed(found["mean"], row["unit"])


def references(row: dict[str, Any]) -> str:
    """The means of the references with their unit; those that do not count for the band are in parentheses."""
    words = []
    for name, found in row["references"].items():
        if found is not None:
            value = row["unfinished"].get(name) or printed(found["mean"], row["unit"])
            text = f"{name} {value}"
            words.append(text if name in row["counting"] else f"({text})")
    return ", ".join(words)


def _lead(record: dict[str, Any]) -> str:
    counts = record["counts"]
    decided = counts["pass"] + counts["fail"] + counts["undecided"]
    equal = sum(
        row["verdict"] == "pass" and (row.get("comparison") or {}).get("relation") == "equal to"
        for battery in record["batteries"]
        for row in battery["rows"]
    )
    beside = f" ({equal} equal to a reference, not better)" if equal else ""
    return (
        f"{counts['pass']} of the {decided} rows that apply pass{beside}, {counts['fail']} fail, and {counts['undecided']} "
        f"are not decided by {record['seeds']} seeds. {_rows(counts['not applicable'])} not apply to the scheme."
    )


def _rows(number: int) -> str:
    return "1 row does" if number == 1 else f"{number} rows do"


def _strip(row: dict[str, Any]) -> dict[str, Any] | None:
    """Places of the measured value with its interval, and of the references; the interval does not set the axis."""
    measured = row["measured"]
    references = {name: found for name, found in row["references"].items() if found is not None}
    if measured is None or not references:
        return None
    known = [measured["mean"], *(found["mean"] for found in references.values())]
    low, high = min(known), max(known)
    if high <= low:
        return None
    scale = (WIDTH - 4 * MARGIN) / (high - low)

    def place(value: float) -> float:
        return float(round(min(max(2 * MARGIN + (value - low) * scale, 0.0), WIDTH), 1))

    ends = [measured["mean"] if measured[end] is None else measured[end] for end in ("low", "high")]

    return {
        "width": WIDTH,
        "at": place(measured["mean"]),
        "from": place(ends[0]),
        "to": place(ends[1]),
        "references": [(name, place(found["mean"])) for name, found in references.items()],
    }


def _command(record: dict[str, Any]) -> str:
    """The command that makes the page."""
    words = [f"thalweg evaluate {record['scheme']}"]
    words += [f"--set {key}={value}" for key, value in record["params"].items()]
    words += [f"--against {','.join(record['against'])}", f"--seed {record['seed']}"]
    words += [f"--row {row}" for row in record.get("only") or []]
    return " ".join(words + ["--quick"] * record["quick"])
