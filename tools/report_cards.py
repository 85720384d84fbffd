"""Writes docs/report-cards/ from what `thalweg evaluate` decided: `python tools/report_cards.py out/evaluate`.

The folder has a sub-folder per scheme or queue discipline, each with its `evaluation.json`. It needs no core.
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

*Scope: for readers who want to know how the schemes of the catalogue and its queue disciplines do by the criteria of
RFC 9743, RFC 5166, RFC 6817, RFC 7928, RFC 8867 and RFC 8869, in the TCP Evaluation Suite, and in the batteries for
multicast and named data. Limits: a card is of the simulator and of these networks. A row that fails is a question, not a
proof: most documents have no thresholds, and a band is then what CUBIC, Reno and BBR get in the same networks. A reference
scheme cannot fail a row that compares it with the worst reference.*

<!-- run: skip it runs for a minute -->
```sh
thalweg evaluate vegas --quick      # as most cards below; without --quick twice the seeds, and longer runs
```

[The guide](../guide/8-evaluate.md) says how to read a card, and how verdicts are decided. In the overview, `45 ✓ 6 ✗ 2 ◐`
are rows that pass, fail, and are not decided by the seeds; – is a battery that does not apply. A card with 3 seeds is one
of `--quick`, whose runs are half as long: the cards of all schemes without it would have taken hours. On the site a click
on a head sorts the table by that column, cells with counts by the share of rows that pass.

![Rows per scheme and battery that pass, fail or are undecided](../images/report-cards.svg)
"""
PICTURE = ROOT / "docs" / "images" / "report-cards.svg"
COLOURS = {"pass": "#2e7d4f", "undecided": "#d9b13b", "fail": "#c0392b"}
SHORT = {"TCP Evaluation Suite": "TCP suite", "RFC 8867 and RFC 8869": "RFC 8867, 8869"}
WIDTH, HEIGHT, LEFT, TOP = 96, 15, 116, 34
"""Of a bar with its gap, of a row, and of the names at the side and above."""


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
        f"{record['kind'][0].upper()}{record['kind'][1:]}. {record['runs']} runs, {record['seeds']} seeds"
        f"{', shorter runs (`--quick`)' if record['quick'] else ''}.",
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


def picture(records, heads):
    """Bars of the verdicts: a row per scheme, a column per battery."""
    marks = []
    for column, head in enumerate(heads):
        marks.append(f'<text x="{LEFT + column * WIDTH}" y="{TOP - 12}" font-weight="bold">{head}</text>')
    for line, record in enumerate(records):
        y = TOP + line * HEIGHT
        marks.append(f'<text x="{LEFT - 8}" y="{y + 9}" text-anchor="end">{record["scheme"]}</text>')
        for column, battery in enumerate(record["batteries"]):
            found = [sum(row["verdict"] == verdict for row in battery["rows"]) for verdict in COLOURS]
            x = LEFT + column * WIDTH
            for number, colour in zip(found, COLOURS.values(), strict=True):
                width = (WIDTH - 12) * number / max(sum(found), 1)
                marks.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT - 5}" fill="{colour}"/>'
                )
                x += width
    size = f'width="{LEFT + len(heads) * WIDTH}" height="{TOP + len(records) * HEIGHT + 8}"'
    style = 'font-family="sans-serif" font-size="10.5"'
    body = "\n".join(mark for mark in marks if 'width="0.0"' not in mark)
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n{paper}\n{body}\n</svg>\n'


def main(folder):
    records = [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*/evaluation.json"))]
    if not records:
        sys.exit(f"{folder} has no evaluation: run `thalweg evaluate SCHEME` first")
    if other := [record["scheme"] for record in records if record["params"]]:
        sys.exit(f"{', '.join(other)}: evaluated with --set; run `thalweg evaluate` without it")
    batteries = records[0]["batteries"]
    if other := [record["scheme"] for record in records if len(record["batteries"]) != len(batteries)]:
        sys.exit(f"{', '.join(other)}: evaluated with --row; run `thalweg evaluate` without it")
    heads = [battery["title"].partition(":")[0] for battery in batteries]
    lines = [INTRODUCTION, f"| scheme | seeds | {' | '.join(heads)} |", f"|{' --- |' * (len(heads) + 2)}"]
    for record in records:
        name = record["scheme"]
        cells = [f"[{name}](#{name})", str(record["seeds"])]
        cells += [counts(battery["rows"]) for battery in record["batteries"]]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"References of RFC 9743, RFC 5166, RFC 6817, the TCP Evaluation Suite and named data: "
        f"{', '.join(records[0]['against'])}.",
        "",
    ]
    PICTURE.write_text(picture(records, [SHORT.get(head, head) for head in heads]), encoding="utf-8")
    for record in records:
        lines += card(record)
    lines.append("Back to [the README](../../README.md).")
    CARDS.mkdir(exist_ok=True)
    (CARDS / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
