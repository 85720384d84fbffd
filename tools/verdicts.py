"""Writes the verdicts of all papers into docs/papers.md.

Usage: thalweg reproduce --all --json | python tools/verdicts.py
"""

import json
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers.md"
BEGIN, END = "<!-- verdicts: tools/verdicts.py -->\n", "<!-- end of verdicts -->\n"
VERDICTS = ("reproduced", "partly", "not reproduced", "not testable")


def cell(by_evidence, *evidence):
    """Counts by verdict of some sorts of evidence, `24 / 2 / 5 / 14`."""
    rows = [by_evidence[name] for name in evidence if name in by_evidence]
    return " / ".join(str(sum(row[verdict] for row in rows)) for verdict in VERDICTS) if rows else "–"


def table(papers):
    """The lines of the table."""
    lines = [
        "| paper | independent | fitted | derived, literal | by construction | mutants rejected |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, counts in papers.items():
        by_evidence = counts["by_evidence"]
        cells = [
            cell(by_evidence, "independent"),
            cell(by_evidence, "fitted"),
            cell(by_evidence, "derived", "literal"),
        ]
        cells += [str(counts["by_construction"]), counts["mutants_killed"].replace("/", " of ")]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "".join(f"{line}\n" for line in lines)


def main():
    answer = json.load(sys.stdin)
    if answer["quick"]:
        sys.exit("tools/verdicts.py: verdicts of a quick run are indicative; run without --quick")
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(answer['papers'])}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
