"""The page of a reproduced paper: verdicts, claims, figures, tables, choices, method. Reads the folder only.

A comparison without a paper has the same page without claims.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from .._stored import read_json, read_record, read_table
from ..plots import Drawing
from . import _charts, _panels
from ._page import render
from ._panels import panels
from .columns import column_heading, with_intervals
from .numbers import number

if TYPE_CHECKING:
    from pathlib import Path

VERDICTS = ("reproduced", "partly", "not reproduced", "not testable", "phase-dependent")
RESULTS = ("independent", "fitted")
"""Kinds of evidence of a paper's results; only the first is counted."""

FILE = "reproduction.json"
"""The file of a reproduced paper in its folder: claims, captions, runs. Figures and tables are beside it."""


PYTHON = """from thalweg import papers

done = papers.find("{paper}").reproduce(figure="{figure}", quick={quick}, seed={seed}{changes})
print(done.figures["{figure}"].svg)
"""
"""Python that makes a figure."""


def save(done: Any, folder: Path) -> None:
    """Writes a reproduction: `reproduction.json`, `figures/*.svg`, `tables/*.parquet`."""
    from .. import __version__

    for name in ("figures", "tables"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    record = {"format": 1, "version": __version__, **done.as_dict()}
    for entry in record["figures"]:
        plate = done.figures[entry["id"]]
        (folder / "figures" / f"{entry['id']}.svg").write_text(plate.svg, encoding="utf-8")
        entry["drawing"] = f"figures/{entry['id']}.svg"
        found = panels(plate.svg.figure) if isinstance(plate.svg, Drawing) else None
        if found:
            entry["panels"] = f"figures/{entry['id']}.json"
            text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
            (folder / entry["panels"]).write_text(text + "\n", encoding="utf-8")
        entry["data"] = []
        for name, rows in plate.tables.items():
            path = f"tables/{entry['id']}.{name}.parquet"
            rows.frame().write_parquet(folder / path)
            entry["data"].append({"name": rows.title or name, "file": path})
    for entry in record["tables"]:
        path = f"tables/{entry['id']}.parquet"
        done.tables[entry["id"]].frame().write_parquet(folder / path)
        entry["file"] = path
        del entry["rows"]
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def page(folder: Path) -> str:
    """The page of a folder that `save` wrote."""
    record = read_record(folder / FILE)
    claims, runs = record["claims"], record["runs"]
    charts = interactive(record, folder)
    # pages of the first format have no such field: they are of papers
    of_paper = record.get("of_paper", True)
    return render(
        "paper.html",
        f"{record['title']}{' · reproduced' if of_paper else ''}",
        version=record["version"],
        file=FILE,
        name=record["title"],
        lead=_lead(record, of_paper),
        of_paper=of_paper,
        quick=record["quick"],
        emulated=record.get("emulated", False),
        notes=record["notes"],
        counts=verdict_counts(record),
        evidence=list(record.get("by_evidence", {}).items()),
        summary=record.get("summary", []),
        substitutes=record.get("substitutes", {}),
        claims=claims,
        **by_kind(record),
        two_worlds=bool(claims) and "simulated" in claims[0],
        figures=paper_figures(record, folder),
        panels=_panels.element(charts) if charts else None,
        chart_script=_charts.script(),
        tables=[
            {**entry, "label": label(entry), **_parquet(folder, entry["file"])} for entry in record["tables"]
        ],
        choices=record["choices"],
        profiles=record.get("profiles", []),
        method=_method(record),
        runs=runs,
        run_columns=[(key, key.replace("_", " ")) for key in runs[0]] if runs else [],
        again=_command(record),
    )


def paper_figures(record: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Figures with their drawings, and names and files of their data below the folder."""
    return [
        {
            **entry,
            "panels": "panels" in entry,
            "label": label(entry),
            "drawing": (folder / entry["drawing"]).read_text(encoding="utf-8"),
            "data": [(row["name"].removeprefix(f"{entry['title']}, "), row["file"]) for row in entry["data"]]
            + [("drawing", entry["drawing"])],
        }
        for entry in record["figures"]
    ]


def interactive(record: dict[str, Any], folder: Path, prefix: str = "") -> dict[str, dict[str, Any]]:
    """The figures that have an interactive form, for `_panels.element`; `prefix` begins their names on the page."""
    return {
        f"{prefix}{entry['id']}": {
            "title": label(entry),
            "python": PYTHON.format(
                paper=record["paper"],
                figure=entry["id"],
                quick=record["quick"],
                seed=record["seed"],
                changes=f", changes={record['changes']!r}" if record.get("changes") else "",
            ),
            "panels": read_json(folder / entry["panels"]),
        }
        for entry in record["figures"]
        if "panels" in entry
    }


def verdict_counts(record: dict[str, Any]) -> dict[str, int]:
    """Verdicts of the independent results of the paper."""
    by_evidence = record.get("by_evidence")
    if by_evidence is None:
        # pages of the first format count all claims alike
        return dict(record["counts"])
    return dict(by_evidence.get("independent", dict.fromkeys(VERDICTS, 0)))


def by_kind(record: dict[str, Any]) -> dict[str, list[Any]]:
    """Claims about results of the paper, and the others."""
    all_count = record.get("by_evidence") is None
    kinds: dict[str, list[Any]] = {"results": [], "others": []}
    for claim in record["claims"]:
        counts = all_count or claim.get("evidence", "independent") in RESULTS
        kinds["results" if counts else "others"].append(claim)
    return kinds


def killed_mutants(record: dict[str, Any]) -> str | None:
    """Mutants killed over all; None where none were tried, as in an emulation."""
    found = record["counts"].get("mutants_killed")
    return None if found in (None, "0/0") else rejected_words(str(found))


def rejected_words(killed: str) -> str:
    """`7 of 8 mutants (results made wrong on purpose)`, for the `7/8` of a record."""
    rejected, tried = killed.split("/")
    return f"{rejected} of {tried} mutants (results made wrong on purpose)"


def _lead(record: dict[str, Any], of_paper: bool) -> str:
    """The subject of the page, in a sentence or two."""
    claims, counts = record["claims"], verdict_counts(record)
    if not of_paper:
        return "A comparison of our own: no paper has it, and no claim rests on it."
    if not claims:
        return "Figures of the paper, or beside it; no claim rests on what was run."
    if record.get("emulated"):
        return (
            f"{len(claims)} claims of the paper that these tests can decide: what it says, what the simulation "
            "gives, and what the same scenarios give in real time with TCP of the kernel. Verdicts are the emulation's."
        )
    decided = sum(counts.values()) - counts.get("not testable", 0)
    phases = counts.get("phase-dependent")
    return (
        f"{len(claims)} rows, each with what the paper says, what we measured, and the verdict. "
        f"{counts.get('reproduced', 0)} of the {decided} statements of the paper that can be tested are reproduced"
        + (f"; {phases} depend on the phases of packets." if phases else ".")
    )


def _parquet(folder: Path, file: str) -> dict[str, Any]:
    frame = read_table(folder / file)
    rows = with_intervals(frame.to_dicts(), number)
    columns = [(name, column_heading(name)) for name in rows[0]] if rows else []
    return {"columns": columns, "rows": rows, "names": frame.columns[0]}


def label(entry: dict[str, Any]) -> str:
    """`Figure 8: one bottleneck`; the number is in the id."""
    kind, _, number = str(entry["id"]).partition("-")
    name = f"{kind.capitalize()} {number}"
    if kind not in ("figure", "table") or not number.isdigit() or str(entry["title"]).startswith(name):
        return str(entry["title"])
    return f"{name}: {entry['title']}"


def _method(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    runs = record["runs"]
    seeds = sorted({run["seed"] for run in runs})
    several = f"{len(seeds)} of them" if len(seeds) > 1 else ""
    hops = sum(run.get("packet_hops") or 0 for run in runs)
    return [
        ("runs", number(float(len(runs))), ""),
        (
            "seeds" if several else "seed",
            " … ".join(map(str, dict.fromkeys(seeds[:1] + seeds[-1:]))) or "–",
            several,
        ),
        ("packet-hops", number(float(hops), 3), "packets put on links"),
        ("version", record["version"], ""),
    ]


def _command(record: dict[str, Any]) -> str:
    """The command that makes the page."""
    command = f"thalweg reproduce {record['paper']} --seed {record['seed']}"
    if record.get("figure"):
        command += f" --figure {record['figure']}"
    if record.get("claim"):
        command += f" --claim {record['claim']}"
    for key, value in record.get("changes", {}).items():
        command += f" --set {shlex.quote(f'{key}={value if isinstance(value, str) else json.dumps(value)}')}"
    for text in record.get("readings", []):
        command += f" --with {shlex.quote(text)}"
    if record.get("jitter"):
        command += " --jitter"
    if record.get("emulated"):
        return command + (" --emulate" if record["quick"] else " --emulate --full")
    return command + (" --quick" if record["quick"] else "")
