"""The page of a reproduced paper: verdicts, claims, figures, tables, choices, method. Reads the folder and nothing else.

A comparison of our own has the same page without claims.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from ._page import Page, badge, facts, figure, folded, head, number, prose, table, verdict_bar
from .columns import heading_of, with_intervals

if TYPE_CHECKING:
    from pathlib import Path

FILE = "reproduction.json"
"""What a folder of a reproduced paper holds: claims, captions, runs. Drawings and tables lie beside."""


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


def page(folder: Path) -> Page:
    """The page of a folder that `save` wrote."""
    record = json.loads((folder / FILE).read_text(encoding="utf-8"))
    counts = record["counts"]
    decided = sum(counts.values()) - counts.get("not testable", 0)
    # pages of the first format say nothing of it: they are of papers
    of_paper = record.get("of_paper", True)
    page = Page(f"{record['title']}{' · reproduced' if of_paper else ''}", footer=_footer(record))
    lead = (
        f"{len(record['claims'])} claims of the paper, each with what it says, what we measured, and the verdict. "
        f"{counts.get('reproduced', 0)} of the {decided} that can be tested are reproduced."
    )
    if not record["claims"]:
        lead = "Figures of the paper, or beside it; no claim rests on what was run."
    if record.get("emulated") and record["claims"]:
        lead = (
            f"{len(record['claims'])} claims of the paper that these tests can decide: what it says, what the simulation "
            "gives, and what the same scenarios give in real time with TCP of the kernel. Verdicts are the emulation's."
        )
    if not of_paper:
        lead = "A comparison of our own: no paper has it, and no claim rests on it."
    page.add(head("Paper, reproduced" if of_paper else "Comparison", record["title"], lead))
    if record["claims"]:
        page.section("Verdicts")
        page.add(verdict_bar(counts))
    for note in record["notes"]:
        page.add(f'<p class="{"warn" if record["quick"] else "note"}">{prose(note)}</p>')
    if record["claims"]:
        page.section("Claims")
        _claims(page, record["claims"])
    if record["figures"]:
        page.section("Figures")
    for entry in record["figures"]:
        page.subsection(_label(entry), entry["id"])
        drawing = (folder / entry["drawing"]).read_text(encoding="utf-8")
        data = [(row["name"], row["file"]) for row in entry["data"]] + [("drawing", entry["drawing"])]
        page.add(figure(entry["id"], drawing, prose(entry["caption"]), data))
    if record["tables"]:
        page.section("Tables")
    for entry in record["tables"]:
        page.subsection(_label(entry), entry["id"])
        page.add(_parquet(folder, entry["file"]))
    if record["choices"]:
        page.section("What the paper leaves open" if of_paper else "How it is compared")
        if of_paper:
            page.add("<p>Where the text allows several readings we took one, and each can be switched.</p>")
        rows = "".join(
            f"<dt>{escape(key)}</dt><dd>{prose(text)}</dd>" for key, text in record["choices"].items()
        )
        page.add(f'<dl class="choices">{rows}</dl>')
    _method(page, record)
    return page


def _claims(page: Page, claims: list[dict[str, Any]]) -> None:
    verdicts = [v for v in ("reproduced", "partly", "not reproduced", "not testable") if _having(claims, v)]
    buttons = '<button type="button" data-verdict="" aria-pressed="true">all ' + f"{len(claims)}</button>"
    for verdict in verdicts:
        buttons += (
            f'<button type="button" data-verdict="{verdict}" aria-pressed="false">{verdict} '
            f"{_having(claims, verdict)}</button>"
        )
    page.add(
        f'<div class="tools" data-filter="claims-table" role="group" aria-label="filter">{buttons}'
        '<input type="search" placeholder="search the claims" aria-label="search the claims"></div>'
    )
    rows = "".join(_claim(claim) for claim in claims)
    worlds = "<th>simulated</th><th>emulated</th>" if "simulated" in claims[0] else "<th>measured</th>"
    page.add(
        '<div class="scroll"><table class="claims" id="claims-table"><thead><tr><th>verdict</th><th>claim</th>'
        f"<th>expected</th>{worlds}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
    if any(claim.get("fitted") for claim in claims):
        page.add(
            '<p><span class="chip">fitted</span> marks rows that helped to choose between readings of the paper: '
            "that they come out is no independent evidence.</p>"
        )


def _having(claims: list[dict[str, Any]], verdict: str) -> int:
    return sum(claim["verdict"] == verdict for claim in claims)


def _claim(claim: dict[str, Any]) -> str:
    chips = ' <span class="chip">fitted</span>' if claim.get("fitted") else ""
    reason = f'<p class="reason">{escape(claim["reason"])}</p>' if claim.get("reason") else ""
    beside = ""
    if "simulated" in claim:
        simulated = claim["simulated"] or {}
        verdict = f"<small>{escape(simulated['verdict'])}</small>" if simulated else ""
        beside = f'<td class="value">{_measured(simulated)}{verdict}</td>'
    return (
        f'<tr data-verdict="{escape(claim["verdict"])}" id="{escape(claim["id"])}"><td>{badge(claim["verdict"])}</td>'
        f'<td class="statement">{escape(claim["statement"])}'
        f'<div class="where">{escape(claim["source"])} · {escape(claim["id"])}{chips}</div>{reason}</td>'
        f'<td class="expected">{escape(str(claim["expected"]))}</td>{beside}'
        f'<td class="value">{_measured(claim)}{_valid(claim)}</td></tr>'
    )


def _valid(claim: dict[str, Any]) -> str:
    """How many of an emulation's runs it rests on."""
    if "valid_runs" not in claim:
        return ""
    return f"<small>{claim['valid_runs']} of {claim['all_runs']} runs valid</small>"


def _measured(claim: dict[str, Any]) -> str:
    if claim.get("measured") is None:
        return "–"
    unit = f" {escape(claim['unit'])}" if claim.get("unit") and claim["unit"] != "1" else ""
    text = f"{number(claim['measured'])}{unit}"
    remarks = []
    if claim.get("ci95") is not None:
        remarks.append(f"± {number(claim['ci95'], 2)}")
    if claim.get("n"):
        remarks.append(f"n = {claim['n']}")
    return text + (f"<small>{', '.join(remarks)}</small>" if remarks else "")


def _parquet(folder: Path, file: str) -> str:
    import polars

    frame = polars.read_parquet(folder / file)
    rows = with_intervals(frame.to_dicts(), number)
    columns = [(name, heading_of(name)) for name in rows[0]] if rows else []
    return table(columns, rows, names=frame.columns[0]) + (
        f'<p><small>Data: <a href="{escape(file)}">{escape(file)}</a></small></p>'
    )


def _label(entry: dict[str, Any]) -> str:
    """`Figure 8: one bottleneck`; the number is in the id."""
    kind, _, number = str(entry["id"]).partition("-")
    name = f"{kind.capitalize()} {number}"
    if kind not in ("figure", "table") or not number.isdigit() or str(entry["title"]).startswith(name):
        return str(entry["title"])
    return f"{name}: {entry['title']}"


def _method(page: Page, record: dict[str, Any]) -> None:
    page.section("Method")
    runs = record["runs"]
    seeds = sorted({run["seed"] for run in runs})
    several = f"{len(seeds)} of them" if len(seeds) > 1 else ""
    hops = sum(run.get("packet_hops") or 0 for run in runs)
    page.add(
        facts(
            [
                ("runs", number(float(len(runs))), ""),
                (
                    "seeds" if several else "seed",
                    " … ".join(map(str, dict.fromkeys(seeds[:1] + seeds[-1:]))) or "–",
                    several,
                ),
                ("packet-hops", number(float(hops), 3), "packets put on links"),
                ("version", record["version"], ""),
            ]
        )
    )
    emulated = record.get("emulated", False)
    if emulated:
        page.add(
            "<p>Runs are those of the emulation, in real time: their numbers differ from time to time. One is valid "
            "when 99 % of what passed between the network and the kernel was in time; others were tried twice and decide "
            "nothing. The simulation of each test takes several seeds.</p>"
        )
    else:
        page.add(
            "<p>Means are over seeds; ± is the half width of the 95 % confidence interval of the mean (Student t, n runs). "
            "A run is decided by its scenario and its seed alone: its trace hash is the same on every machine and with any "
            "number of jobs.</p>"
        )
    if runs:
        columns = [(key, key.replace("_", " ")) for key in runs[0]]
        what = "how late they were" if emulated else "their trace hashes"
        page.add(folded(f"All {len(runs)} runs with {what}", table(columns, runs)))
    shorter = "--quick" if record["quick"] else ""
    if emulated:
        shorter = "--emulate" if record["quick"] else "--emulate --full"
    page.add(
        f"<p>Again: <code>thalweg reproduce {escape(record['paper'])} --seed {record['seed']}"
        f"{' --figure ' + escape(record['figure']) if record.get('figure') else ''}"
        f"{' ' + shorter if shorter else ''}</code></p>"
    )


def _footer(record: dict[str, Any]) -> str:
    return (
        f"Made by Thalweg {escape(record['version'])}. The numbers are in <code>{FILE}</code> and in the Parquet files "
        "beside this page; nothing here is loaded from elsewhere."
    )
