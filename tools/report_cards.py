"""Writes docs/report-cards/ from what `thalweg evaluate` decided: `python tools/report_cards.py out/evaluate`.

The folder has a sub-folder per scheme, transport stack or queue discipline, each with its `evaluation.json`. Cards on
the page that the folder lacks stay as they are; `--all` leaves them out. `--sources` prints the digest of the sources
that decide a card. It needs no core.
"""

import hashlib
import json
import re
import sys
from pathlib import Path

import wheels

ROOT = Path(__file__).resolve().parent.parent
CARDS = ROOT / "docs" / "report-cards"
SIGNS = {"pass": "✓", "fail": "✗", "undecided": "◐"}
SHOWN = {"bit/s": (1e-6, " Mbit/s"), "s": (1e3, " ms"), "share": (100.0, " %")}

INTRODUCTION = """<!-- Written by `python tools/report_cards.py out/evaluate`: change the program, not this file. -->

# Report cards

*Scope: for readers who want to know how the schemes of the catalogue, transport stacks with their own controllers and
queue disciplines do by the criteria of RFC 9743, RFC 5166, RFC 6817, RFC 7928, RFC 8867 and RFC 8869, in the TCP
Evaluation Suite, on ordinary networks, with packets that overtake, and in the batteries for multicast and named data.
Limits: a card is of the simulator and of these networks. A row that fails is a question, not a proof: most documents
have no thresholds, and a band is then what CUBIC, Reno and BBR get in the same networks. A reference
scheme passes every row that compares it with the worst reference for which it counts itself.*

<!-- run: skip it runs for a minute -->
```sh
thalweg evaluate vegas --quick      # as most cards below; without --quick twice the seeds, and longer runs
```

[Alone on forty networks](ordinary.md) has every network of the battery *ordinary networks*, of which `--quick` runs four.
[What changed](changes.md) since the cards of 26 November 2026, and why.
[The guide](../guide/8-evaluate.md) says how to read a card, and how verdicts are decided. In the overview, `45 ✓ 6 ✗ 2 ◐`
are rows that pass, fail, and are not decided by the seeds; – is a battery that does not apply. References in
parentheses do not count for the band. `learned` is the trained
example of [guide 7](../guide/7-schemes-in-python.md#train-one). `quinn:cubic` is the QUIC stack quinn with its own CUBIC:
the stack's code in [virtual time](../concepts/quic.md#a-quic-stack-as-a-flow). The references are schemes over Thalweg's
TCP, so that such a card judges the whole stack: packet sizes, acknowledgements, loss recovery, pacing and the handshake,
which TCP here leaves out by default, and not its controller alone. `str0m:gcc` needs a build with the feature `str0m`.
A card with 3 seeds is one of `--quick`, whose runs are half as long: the cards of all schemes without it would have
taken hours. *Sources* is the
digest of the simulator and the batteries with which a card was measured (`python tools/report_cards.py --sources` prints
the current one). On the site a click on a head sorts the table by that column, cells with counts by the share of rows
that pass.

![Rows per scheme and battery that pass, fail or are undecided](../images/report-cards.svg)
"""
PICTURE = ROOT / "docs" / "images" / "report-cards.svg"
COLOURS = {"pass": "#2e7d4f", "undecided": "#d9b13b", "fail": "#c0392b"}
SHORT = {
    "Ordinary networks": "Ordinary",
    "TCP Evaluation Suite": "TCP suite",
    "RFC 8867 and RFC 8869": "RFC 8867/9",
}
WIDTH, HEIGHT, LEFT, TOP = 96, 15, 116, 56
"""Of a bar with its gap, of a row, and of the names at the side and above."""
BATTERIES = ROOT / "python" / "thalweg" / "evaluation"


def sources():
    """Digest of the sources of the core and of the batteries, seven digits."""
    found = hashlib.sha256(wheels.digest().encode())
    for path in sorted(BATTERIES.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:7]


def present():
    """Cells of the overview and the section of each card that is on the page."""
    path = CARDS / "README.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    heads = re.search(r"^\| scheme \| (.*) \|$", text, re.MULTILINE)
    sections = {
        part.partition("\n")[0]: f"## {part}".partition("\nBack to ")[0].rstrip().splitlines()
        for part in text.split("\n## ")[1:]
    }
    found = {}
    for name, rest in re.findall(r"^\| \[([\w:]+)\]\(#\w+\) \| (.*) \|$", text, re.MULTILINE):
        named = dict(zip(heads[1].split(" | "), rest.split(" | "), strict=True))
        found[name] = (named, [*sections[name], ""])
    return found


def anchor(name):
    """The anchor of a card's head, which has no colons."""
    return name.replace(":", "")


def words(value, unit):
    """A value in the unit of the page, with three digits."""
    factor, name = (1.0, " s") if unit == "s" and value >= 1 else SHOWN.get(unit, (1.0, f" {unit}"))
    return f"{value * factor:.3g}{name}"


def counts(rows):
    """`45 ✓ 6 ✗ 2 ◐`; a dash if no row applies."""
    found = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in SIGNS}
    return " ".join(f"{number} {SIGNS[verdict]}" for verdict, number in found.items() if number) or "–"


def counted(cell):
    """Rows that pass, are undecided and fail, of a cell of the overview."""
    found = {sign: int(number) for number, sign in re.findall(r"(\d+) (\S)", cell)}
    return [found.get(SIGNS[verdict], 0) for verdict in COLOURS]


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
        lines += [
            "| row | fails | source | what decides | measured, references |",
            "| --- | --- | --- | --- | --- |",
        ]
        for battery, row in failed:
            shown = [words(row["measured"]["mean"], row["unit"])]
            for name, found in row["references"].items():
                if found:
                    text = f"{name} {words(found['mean'], row['unit'])}"
                    shown.append(text if name in row["counting"] else f"({text})")
            cells = (
                f"{battery}/{row['id']}",
                row["title"],
                row["source"],
                row["decision"],
                ", ".join(shown),
            )
            lines.append(f"| {' | '.join(cells)} |")
    else:
        lines.append("No row fails.")
    undecided = [f"{battery}/{row['id']}" for battery, row in rows if row["verdict"] == "undecided"]
    if undecided:
        lines += ["", f"Undecided: {', '.join(undecided)}."]
    return [*lines, ""]


def picture(cells, heads):
    """Bars of the verdicts, with their legend: a row per scheme, a column per battery."""
    marks = []
    x = LEFT
    for verdict, colour in COLOURS.items():
        word = f"{verdict} {SIGNS[verdict]}"
        marks.append(f'<rect x="{x}" y="10" width="10" height="10" fill="{colour}"/>')
        marks.append(f'<text x="{x + 15}" y="19">{word}</text>')
        x += 28 + 7 * len(word)
    marks.append(f'<text x="{x}" y="19">the length is the share of the rows of a battery</text>')
    for column, head in enumerate(heads):
        marks.append(
            f'<text x="{LEFT + column * WIDTH}" y="{TOP - 12}" font-weight="bold">{SHORT.get(head, head)}</text>'
        )
    for line, (name, row) in enumerate(cells.items()):
        y = TOP + line * HEIGHT
        marks.append(f'<text x="{LEFT - 8}" y="{y + 9}" text-anchor="end">{name}</text>')
        for column, head in enumerate(heads):
            found = counted(row[head])
            x = LEFT + column * WIDTH
            for number, colour in zip(found, COLOURS.values(), strict=True):
                width = (WIDTH - 12) * number / max(sum(found), 1)
                marks.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT - 5}" fill="{colour}"/>'
                )
                x += width
    size = f'width="{LEFT + len(heads) * WIDTH}" height="{TOP + len(cells) * HEIGHT + 8}"'
    style = 'font-family="sans-serif" font-size="10.5"'
    body = "\n".join(mark for mark in marks if 'width="0.0"' not in mark)
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n{paper}\n{body}\n</svg>\n'


def main(folder, *options):
    if folder == "--sources":
        print(sources())
        return
    records = [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*/evaluation.json"))]
    if not records:
        sys.exit(f"{folder} has no evaluation: run `thalweg evaluate SCHEME` first")
    if other := [record["scheme"] for record in records if record["params"]]:
        sys.exit(f"{', '.join(other)}: evaluated with --set; run `thalweg evaluate` without it")
    whole = max(records, key=lambda record: len(record["batteries"]))["batteries"]
    sizes = {battery["id"]: len(battery["rows"]) for battery in whole}
    for record in records:
        if any(len(battery["rows"]) != sizes.get(battery["id"]) for battery in record["batteries"]):
            sys.exit(f"{record['scheme']}: evaluated with --row; run `thalweg evaluate` with whole batteries")
    titles = {battery["id"]: battery["title"].partition(":")[0] for battery in whole}
    heads = list(titles.values())
    cards = {} if "--all" in options else present()
    digest = sources()
    for record in records:
        row = {"seeds": str(record["seeds"]), "sources": digest} | dict.fromkeys(heads, "not run")
        row |= {titles[battery["id"]]: counts(battery["rows"]) for battery in record["batteries"]}
        cards[record["scheme"]] = (row, card(record))
    columns = ["seeds", "sources", *heads]
    # a card of an earlier page has no cell of a battery that is new
    cards = {
        name: (dict.fromkeys(columns, "not run") | row, section)
        for name, (row, section) in sorted(cards.items())
    }
    lines = [INTRODUCTION, f"| scheme | {' | '.join(columns)} |", f"|{' --- |' * (len(columns) + 1)}"]
    for name, (row, _) in cards.items():
        lines.append(f"| [{name}](#{anchor(name)}) | {' | '.join(row[column] for column in columns)} |")
    lines += [
        "",
        f"References of RFC 9743, RFC 5166, RFC 6817, the TCP Evaluation Suite and named data: "
        f"{', '.join(records[0]['against'])}.",
        "",
    ]
    rows = {name: row for name, (row, _) in cards.items()}
    PICTURE.write_text(picture(rows, heads), encoding="utf-8")
    for _, section in cards.values():
        lines += section
    lines.append("Back to [the README](../../README.md).")
    CARDS.mkdir(exist_ok=True)
    (CARDS / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
