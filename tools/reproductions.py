"""Writes docs/reproductions.md from what `thalweg reproduce --all` measured: `python tools/reproductions.py out/papers`.

Every number of the page comes from the folder; the page says which runs it rests on.
"""

import json
import sys
from pathlib import Path

import verdicts
from catalogue import table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reproductions.md"
MARK = "<!-- Written by `python tools/reproductions.py` from a run of all papers: change the claims, not this file. -->"

HEAD = """# Reproducibility report

*Scope: for each of the five papers what is confirmed, what is contradicted, and what its text leaves open, with the
command for each number. Limits: no paper published its code or data; all programs here were written from the papers'
texts.*

By the terms of the ACM
([Artifact Review and Badging 1.1](https://www.acm.org/publications/policies/artifact-review-and-badging-current)) this is
a **replication**: another team, with programs of its own. *Confirmed* means that the measured values lie in the band of
the claim in the mean and in four seeds of five; *partly*, that some of its statements do. How a claim is judged is in
[papers](papers.md#verdicts). The first table counts independent results by verdict. Rows by which we chose how
to read a paper where it leaves something open (*fitted*) are no independent evidence, and rows that say whether the program
follows the paper's rules (*conformance*) say nothing of its results; both are counted apart, with how many hold of how many.
Results that three other schemes give in the place of the paper's as well are *not specific*, and apart, too.

A row is *phase-dependent* if its verdict changes where the delay of each link (± 5 %, at least ± 1 ms) and each start
(within a round trip) are drawn for each seed, or if it is confirmed and a check then holds for fewer than nine seeds of ten.
It counts neither as confirmed nor as contradicted.

A *mutant* is a result that is made wrong on purpose, such as doubled or with two schemes exchanged; a check that does not
refuse it is too weak.
"""

SECTIONS = (
    ("reproduced", "Confirmed"),
    ("partly", "Confirmed in part"),
    ("not reproduced", "Contradicted"),
    ("phase-dependent", "Dependent on phases"),
)
"""What rows count as, and the titles of their tables."""

RESULTS = ("independent", "fitted")
"""Kinds of evidence of a paper's results."""


def number(value):
    """A number in four significant digits; a dash for none."""
    return "–" if value is None else f"{value:.4g}"


def measured_text(claim):
    """The numbers that decide, with their intervals, limits and units; those that do not hold first."""
    checks = sorted(claim["checks"], key=lambda check: check["holds"])
    return "; ".join(check["text"] for check in checks if check["mean"] is not None) or "–"


def ratio(claim):
    """Measured over printed, of each printed number."""
    return ", ".join("–" if one is None else f"{one:.2f}" for one in claim["ratios"].values()) or "–"


def statement(claim):
    """The statement, with a mark if it is no independent evidence, and the change of its check."""
    text = claim["statement"]
    if claim["evidence"] == "fitted":
        text += " *(fitted)*"
    if claim.get("not_specific"):
        text += " *(not specific)*"
    if claim.get("changed"):
        text += f" *Check changed after a measurement:* {claim['changed']}"
    if (found := claim.get("phases")) and found["dependent"]:
        text += (
            f" *Here {found['usual']}; with drawn delays and starts {found['verdict']}:* {found['measured']}"
        )
    return text


def table_rows(claims, reasons):
    """The table of some claims; with their reasons where they are not confirmed."""
    headings = ["claim", "where", "statement", "expected", "measured", "measured / printed"]
    rows = [
        [
            claim["id"],
            claim["source"],
            statement(claim),
            claim["expected"],
            measured_text(claim),
            ratio(claim),
        ]
        + ([claim["reason"] or "–"] if reasons else [])
        for claim in claims
    ]
    return table([*headings, "cause"] if reasons else headings, rows)


def profiles(record):
    """The other set-ups of a paper, such as its joint readings: what they are, and the rows that they judge otherwise."""
    parts = []
    for one in record["profiles"]:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in one["counts"].items() if count)
        parts.append(f"### Profile {one['name']}\n\n{one['what']}\n\nApart from the totals: {counts}.\n")
        rows = []
        for claim in record["claims"]:
            other = claim["profiles"][one["name"]]
            if claim["evidence"] in RESULTS and claim["verdict"] != other["verdict"]:
                mark = f" *({other['mark']})*" if other["mark"] else ""
                results = [f"{row['verdict']}: {measured_text(row)}" for row in (claim, other)]
                rows.append([claim["id"], claim["statement"], results[0], results[1] + mark])
        if rows:
            parts.append(table(["claim", "statement", "default", one["name"]], rows))
    return parts


def section(record):
    """All that there is to say of one paper."""
    name = record["paper"]
    claims = [claim for claim in record["claims"] if claim["evidence"] in RESULTS]
    seeds = sorted({run["seed"] for run in record["runs"]})
    parts = [
        f"## {record['title']}\n",
        "".join(f"- {line}\n" for line in record["summary"]),
        f"{len(record['runs'])} runs, seeds {seeds[0]} to {seeds[-1]}. All of it: `thalweg reproduce {name}`; one row: "
        f"`thalweg reproduce {name} --claim ID`, such as `--claim {claims[0]['id']}`.\n",
    ]
    for verdict, title in SECTIONS:
        some = [claim for claim in claims if claim.get("standing", claim["verdict"]) == verdict]
        if some:
            parts += [f"### {title}\n", table_rows(some, reasons=verdict != "reproduced")]
    untestable = [
        claim for claim in record["claims"] if claim["verdict"] == "not testable" and "standing" not in claim
    ]
    if untestable or record["choices"]:
        parts.append("### Missing in the text\n")
    if record["choices"]:
        parts.append("Left open, with our choice:\n")
        parts.append("\n".join(f"- **{key}**: {text}" for key, text in record["choices"].items()) + "\n")
    if untestable:
        parts.append("Not testable:\n")
        rows = [[claim["id"], claim["source"], claim["statement"], claim["reason"]] for claim in untestable]
        parts.append(table(["claim", "where", "statement", "why"], rows))
    other = [
        claim
        for claim in record["claims"]
        if claim["evidence"] not in RESULTS and claim["verdict"] != "not testable"
    ]
    if other:
        parts.append("### No results of the paper\n")
        rows = [
            [claim["id"], claim["evidence"], claim["statement"], measured_text(claim), claim["verdict"]]
            for claim in other
        ]
        parts.append(table(["claim", "evidence", "statement", "measured", "verdict"], rows))
    return "\n".join([*parts, *profiles(record)])


def page(folder):
    """The whole page."""
    names = json.loads((folder / "papers.json").read_text())["papers"]
    records = [json.loads((folder / name / "reproduction.json").read_text()) for name in names]
    if any(record["quick"] for record in records):
        raise SystemExit(
            f"{folder} holds a quick run: `thalweg reproduce --all` without --quick makes what the page needs"
        )
    counts = verdicts.table({record["paper"]: record["counts"] for record in records})
    summary = (
        f"Version {records[0].get('version', '')} of Thalweg; all of it again: `thalweg reproduce --all`.\n"
    )
    return "\n".join([MARK, HEAD, summary, counts, *map(section, records)])


def main():
    """Writes the page from the folder named on the command line."""
    if len(sys.argv) != 2:
        raise SystemExit(
            "usage: python tools/reproductions.py FOLDER, a folder that `thalweg reproduce --all` wrote"
        )
    PAGE.write_text(page(Path(sys.argv[1])), encoding="utf-8")


if __name__ == "__main__":
    main()
