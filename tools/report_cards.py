"""Writes docs/report-cards/ from what `thalweg evaluate` decided: `python tools/report_cards.py out/evaluate`.

The folder has a sub-folder per scheme, each with its `evaluation.json`. It needs no core.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARDS = ROOT / "docs" / "report-cards"
SIGNS = {"pass": "✓", "fail": "✗", "undecided": "◐"}
SHOWN = {"bit/s": (1e-6, " Mbit/s"), "s": (1e3, " ms"), "1": (1.0, "")}

INTRODUCTION = """<!-- Written by `python tools/report_cards.py out/evaluate`: change the program, not this file. -->

# Report cards

*Scope: for readers who want to know how schemes of the catalogue do by the criteria of RFC 9743, RFC 5166, RFC 6817,
RFC 8867 and RFC 8869, and in the batteries for multicast and named data. Limits: a card is of the simulator and of these
networks. A row that fails is a question, not a proof: most documents have no thresholds, and a band is then what CUBIC,
Reno and BBR get in the same networks. A reference scheme passes its own rows of this kind.*

<!-- run: skip it runs for a minute -->
```sh
thalweg evaluate vegas --quick      # a first look; without --quick as in the tables below
```

[The guide](../guide/8-evaluate.md) says how to read a card, and how verdicts are decided. In the overview, `45 ✓ 6 ✗ 2 ◐`
are rows that pass, fail, and are not decided by the seeds; – is a battery that does not apply.
"""


def words(value, unit):
    """A value in the unit of the page, with three digits."""
    factor, name = (1.0, " s") if unit == "s" and value >= 1 else SHOWN.get(unit, (1.0, f" {unit}"))
    return f"{value * factor:.3g}{name}"


def counts(rows):
    """`45 ✓ 6 ✗ 2 ◐`; a dash if no row applies."""
    found = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in SIGNS}
    return " ".join(f"{number} {SIGNS[verdict]}" for verdict, number in found.items() if number) or "–"


def card(record):
    """The section of a scheme: what it fails, and what is undecided."""
    lines = [
        f"## {record['scheme']}",
        "",
        f"{record['kind'][0].upper()}{record['kind'][1:]}. {record['runs']} runs, {record['seeds']} seeds.",
        "",
    ]
    rows = [(battery["id"], row) for battery in record["batteries"] for row in battery["rows"]]
    failed = [(battery, row) for battery, row in rows if row["verdict"] == "fail"]
    if failed:
        lines += ["| row | fails | source | measured | references |", "| --- | --- | --- | --- | --- |"]
        for battery, row in failed:
            references = ", ".join(
                f"{name} {words(found['mean'], row['unit'])}"
                for name, found in row["references"].items()
                if found
            )
            measured = words(row["measured"]["mean"], row["unit"])
            cells = (
                f"{battery}/{row['id']}",
                row["title"],
                row["source"],
                measured,
                references or row["band"],
            )
            lines.append(f"| {' | '.join(cells)} |")
    else:
        lines.append("No row fails.")
    undecided = [f"{battery}/{row['id']}" for battery, row in rows if row["verdict"] == "undecided"]
    if undecided:
        lines += ["", f"Undecided: {', '.join(undecided)}."]
    return [*lines, ""]


def main(folder):
    records = [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*/evaluation.json"))]
    if not records:
        sys.exit(f"{folder} has no evaluation: run `thalweg evaluate SCHEME` first")
    if quick := [record["scheme"] for record in records if record["quick"] or record["params"]]:
        sys.exit(f"{', '.join(quick)}: evaluated with --quick or --set; run `thalweg evaluate` without them")
    batteries = records[0]["batteries"]
    heads = ["scheme", *(battery["title"].partition(":")[0] for battery in batteries)]
    lines = [INTRODUCTION, f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for record in records:
        name = record["scheme"]
        cells = [f"[{name}](#{name})", *(counts(battery["rows"]) for battery in record["batteries"])]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"References of RFC 9743, RFC 5166, RFC 6817 and named data: {', '.join(records[0]['against'])}.",
        "",
    ]
    for record in records:
        lines += card(record)
    lines.append("Back to [the README](../../README.md).")
    CARDS.mkdir(exist_ok=True)
    (CARDS / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
