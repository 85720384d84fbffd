"""Writes the verdicts of all papers into docs/papers.md.

Usage: thalweg reproduce --all --json | python tools/verdicts.py
"""

import json
import sys
from pathlib import Path

COLUMNS = {
    "reproduced": "confirmed",
    "partly": "partly",
    "not": "contradicted",
    "untestable": "not testable",
    "phase_dependent": "phase-dependent",
    "fitted": "fitted",
    "conformance": "conformance",
    "derived": "derived",
    "literal": "literal",
    "set_up": "set-up",
    "not_specific": "not specific",
    "by_construction": "by construction",
    "mutants_killed": "mutants rejected",
}
"""Counts of a paper and their headings."""
PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers.md"
BEGIN, END = "<!-- verdicts: tools/verdicts.py -->\n", "<!-- end of verdicts -->\n"


def table(papers):
    """The lines of the table of papers: results by verdict, and how many of the other rows hold."""
    lines = [f"| paper | {' | '.join(COLUMNS.values())} |", f"| --- |{' ---: |' * len(COLUMNS)}"]
    for name, counts in papers.items():
        cells = ("–" if (one := str(counts[key])) == "0/0" else one.replace("/", " of ") for key in COLUMNS)
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
