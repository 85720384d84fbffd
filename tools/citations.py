"""Checks that what a scheme's code cites stands in its sources, and that its README says what every README must.

- A key in brackets in a comment, such as `[RFC5681 §3.1]`, is a key of the scheme's `SCHEME.sources`; in `shared`, where
  no scheme is at home, it is a key of any scheme or an RFC.
- The README has the fixed headings in their order, lists the same sources, and has a scenario under *Try it*.
- Every equation that the README numbers, such as `(eq. 3)`, is cited in code, unless *Limitations* names it.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADINGS = [
    "Idea",
    "Sources",
    "Equations",
    "Parameters",
    "Limitations",
    "Differences from the sources",
    "Validation",
    "Try it",
]
KEY = re.compile(r"\[([A-Z]{2,}[A-Za-z0-9]*|[A-Z]+[0-9]+)(?:[ ,][^\]`]*)?\](?![(\[])")
EQUATION = re.compile(r"\beqs?\. ?\(?(\d+[a-z]?)\)?", re.IGNORECASE)
DECLARED = re.compile(r'\bkey:\s*"([^"]+)"')
LISTED = re.compile(r"^- \[([^\]]+)\]", re.MULTILINE)


def comments(path):
    """Number and text of each comment of a Rust file."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if "//" in line:
            yield number, line[line.index("//") :]


def sections(text):
    """Heading and body of each section of a README."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def problems(schemes):
    """One sentence per fault."""
    declared, code = {}, {}
    for title_page in sorted([*schemes.glob("*/mod.rs"), *schemes.glob("_templates/*/mod.rs")]):
        folder = title_page.parent
        declared[folder] = set(DECLARED.findall(title_page.read_text()))
        code[folder] = [(path, *found) for path in sorted(folder.rglob("*.rs")) for found in comments(path)]
    anywhere = set().union(*declared.values())
    common = " ".join(text for folder, lines in code.items() if not declared[folder] for _, _, text in lines)
    for folder, lines in code.items():
        keys = declared[folder] or anywhere
        for path, number, text in lines:
            for key in KEY.findall(text):
                if key not in keys and (declared[folder] or not key.startswith("RFC")):
                    yield f"{path.relative_to(ROOT)}:{number}: [{key}] is not in the scheme's sources"
        if declared[folder]:
            cited = common + " ".join(text for _, _, text in lines)
            yield from readme_problems(folder, declared[folder], cited)


def readme_problems(folder, keys, cited):
    """Errors in a scheme's README; `cited` is the text of the comments of its code."""
    path = folder / "README.md"
    name = path.relative_to(ROOT)
    if not path.exists():
        yield f"{name} is missing"
        return
    parts = sections(path.read_text())
    if list(parts) != HEADINGS:
        yield f"{name}: the headings must be {', '.join(HEADINGS)}; they are {', '.join(parts)}"
        return
    listed = set(LISTED.findall(parts["Sources"]))
    if listed != keys:
        differing = ", ".join(sorted(listed ^ keys))
        yield f"{name}: Sources and SCHEME.sources differ in {differing}"
    if "```toml" not in parts["Try it"]:
        yield f"{name}: Try it has no scenario"
    left_out = set(EQUATION.findall(parts["Limitations"]))
    for number in EQUATION.findall(parts["Equations"]):
        if number not in EQUATION.findall(cited) and number not in left_out:
            yield f"{name}: equation {number} is cited nowhere in the code; cite it, or name it under Limitations"


def main():
    found = list(problems(ROOT / "schemes"))
    for problem in found:
        print(problem)
    if not found:
        print("every citation has its source")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
