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
TRIED = {"phase_dependent": "phases.toml", "not_specific": "substitution.toml"}
"""Counts that need runs of their own, and the file of a paper that has their outcome."""
NOT_TRIED = {
    "phase_dependent": "drawn delays and starts (phase-dependent)",
    "not_specific": "other schemes in the place of the paper's (not specific)",
}
"""What these runs try."""
STUDIES = Path(__file__).resolve().parent.parent / "papers" / "thalweg_papers"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers.md"
BEGIN, END = "<!-- verdicts: tools/verdicts.py -->\n", "<!-- end of verdicts -->\n"


def untried(name):
    """The counts that a paper does not have, because what they need was not tried: no file beside its claims says so."""
    return {key for key, file in TRIED.items() if not (STUDIES / name / file).exists()}


def cell(name, key, counts):
    """A count as a cell of the table; a dash where there is nothing to count."""
    text = str(counts[key])
    return "–" if text == "0/0" or (text == "0" and key in untried(name)) else text.replace("/", " of ")


def table(papers):
    """The lines of the table of papers: results by verdict, and how many of the other rows hold; then what was not tried."""
    lines = [f"| paper | {' | '.join(COLUMNS.values())} |", f"| --- |{' ---: |' * len(COLUMNS)}"]
    for name, counts in papers.items():
        cells = (cell(name, key, counts) for key in COLUMNS)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    parts = []
    for key, what in NOT_TRIED.items():
        if names := [f"`{name}`" for name in papers if key in untried(name)]:
            listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
            parts.append(f"{what} for {listed}")
    if parts:
        lines += ["", f"A dash means that there is nothing to count. Not tried: {'; '.join(parts)}."]
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
