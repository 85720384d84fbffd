"""Wraps comments of Rust whose lines are too long: `python tools/wrap.py crates/lab schemes` rewrites files of folders.

Only paragraphs with a line of more than WIDTH columns change. Code, tables, headings and aligned formulas stay as they
are, and so do comments within the macros from whose doc comments the reference pages are made. Words in backquotes and
citations in brackets stay on one line. rustfmt does not wrap comments.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 120

COMMENT = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>//[/!]?)(?: (?P<text>.*))?$")
ITEM = re.compile(r"(?:[-*+]|\d+[.)]) +")
WHOLE = re.compile(r"`[^`]*`|\[[^\[\]]{1,60}\]")
KEPT = re.compile(r"^(?:\||#|>|    )|\S {3,}\S|\\$| {2}$")
"""Lines that are no running text: tables, headings, quotations, code, aligned formulas, lines with a break at the end."""
MARKER = re.compile(r"(?:[-*+#>|=]|\d+[.)]|//.*|```.*)$")
"""A word that must not begin a line, because Markdown would take it for a mark."""
GENERATED = re.compile(r"\b[a-z_]+!\s*[{]|\b(?:params|tables|words|choice)!\s*[(]")


def generated_lines(source: str) -> set[int]:
    """Numbers of the lines in macros with a block: reference pages are made from doc comments in some of them."""
    found: set[int] = set()
    for macro in GENERATED.finditer(source):
        begin, depth = macro.end() - 1, 0
        closing = {"{": "}", "(": ")"}[source[begin]]
        for end in range(begin, len(source)):
            depth += {source[begin]: 1, closing: -1}.get(source[end], 0)
            if depth == 0:
                break
        found |= set(range(source.count("\n", 0, macro.start()), source.count("\n", 0, end) + 1))
    return found


def fill(text: str, first: str, rest: str) -> list[str]:
    """The words of a paragraph in lines of at most WIDTH columns, with these beginnings."""
    words = [word.replace("\0", " ") for word in WHOLE.sub(lambda m: m[0].replace(" ", "\0"), text).split()]
    lines = [first + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= WIDTH or MARKER.fullmatch(word):
            lines[-1] += " " + word
        else:
            lines.append(rest + word)
    return lines


def paragraphs(texts: list[str]) -> Iterator[tuple[int, int]]:
    """First line and one past the last line of each paragraph or item of running text."""
    begin, fenced = 0, False
    for number, text in enumerate([*texts, ""]):
        fence = text.lstrip().startswith("```")
        if not text.strip() or fence or fenced or ITEM.match(text.lstrip()):
            if begin < number:
                yield begin, number
            begin = number if text.strip() and not (fence or fenced) else number + 1
        fenced ^= fence


def wrapped(source: str) -> str:
    """A Rust file with wrapped comments."""
    lines, generated = source.split("\n"), generated_lines(source)
    out: list[str] = []
    at = 0
    while at < len(lines):
        here = COMMENT.match(lines[at])
        if here is None or at in generated:
            out.append(lines[at])
            at += 1
            continue
        last = at
        while last < len(lines) and last not in generated:
            other = COMMENT.match(lines[last])
            if other is None or (other["indent"], other["mark"]) != (here["indent"], here["mark"]):
                break
            last += 1
        block = lines[at:last]
        texts = [line[len(here["indent"]) + len(here["mark"]) :].removeprefix(" ") for line in block]
        begin = here["indent"] + here["mark"] + " "
        new: list[str] = list(block)
        for first, end in reversed(list(paragraphs(texts))):
            part = texts[first:end]
            if not any(len(line) > WIDTH for line in block[first:end]) or any(KEPT.search(t) for t in part):
                continue
            lead = part[0][: len(part[0]) - len(part[0].lstrip())]
            item = ITEM.match(part[0].lstrip())
            hang = lead + " " * (len(item[0]) if item else 0)
            new[first:end] = fill(" ".join(part), begin + lead, begin + hang)
        out += new
        at = last
    return "\n".join(out)


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *(sys.argv[1:] or ["*.rs"])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    changed = 0
    for name in sorted(set(listed.stdout.split())):
        path = ROOT / name
        if not name.endswith(".rs") or not path.is_file():
            continue
        source = path.read_text(encoding="utf-8")
        new = wrapped(source)
        if new != source:
            path.write_text(new, encoding="utf-8")
            changed += 1
    print(f"{changed} files changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
