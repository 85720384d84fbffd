"""Finds words that the project does not use, and says what to write instead: `tools/words.toml` lists both.

    python tools/words.py            prints every finding outside the exemptions
    python tools/words.py --check    the same, and fails on a finding or on an exemption that is no longer needed
    python tools/words.py --prune    removes the exemptions that are no longer needed from the list
    python tools/words.py --count    findings per word and directory, exempted ones included

A word is looked for in text (Markdown without code, comments, doc comments, strings) or in names (identifiers of Rust and
Python), as its entry says. An exemption lets a directory keep words for the time being; when the last of them is gone,
the exemption must go too.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "words.toml"

RUST = re.compile(
    r"""(?P<comment>//[^\n]*(?:\n[ \t]*//[^\n]*)*|/\*.*?\*/)
      | (?P<raw>b?r(?P<fence>\#*)"(?P<inside>.*?)"(?P=fence))
      | (?P<string>b?"(?:\\.|[^"\\])*")
      | (?P<letter>b?'(?:\\[^\n]+?|[^\\'\n])')
      | (?P<name>[A-Za-z_]\w*)""",
    re.DOTALL | re.VERBOSE,
)
FENCED = re.compile(r"^ *```.*?^ *```[^\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)|<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Word:
    """A word that is not used."""

    name: str
    use: str
    text: re.Pattern[str] | None
    names: re.Pattern[str] | None
    within: str = ""
    """The folder to which it belongs, where it means something else elsewhere."""


@dataclass(frozen=True)
class Finding:
    """A word in a file."""

    path: str
    line: int
    word: str
    found: str
    use: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: `{self.found}`: write {self.use}"


@dataclass(frozen=True)
class Exemption:
    """A directory or file that may keep some words."""

    path: str
    words: tuple[str, ...]

    def covers(self, finding: Finding) -> bool:
        """Whether it lets this finding pass."""
        inside = finding.path == self.path or finding.path.startswith(self.path.rstrip("/") + "/")
        return inside and finding.word in self.words


def read(text: str) -> tuple[list[Word], list[Exemption]]:
    """Words and exemptions of the list; a space in an expression is any white space, so that a phrase may go over two lines.

    Raises ``ValueError`` where an exemption names a word that is not in the list, or a word is listed twice.
    """
    tree = tomllib.loads(text)
    words = [
        Word(
            name,
            entry["use"],
            re.compile(entry["text"].replace(" ", r"\s+"), re.IGNORECASE) if "text" in entry else None,
            re.compile(entry["names"]) if "names" in entry else None,
            entry.get("within", ""),
        )
        for name, entry in tree["words"].items()
    ]
    exemptions = [Exemption(path, tuple(kept)) for path, kept in tree.get("exempt", {}).items()]
    known = {word.name for word in words}
    for exemption in exemptions:
        for name in exemption.words:
            if name not in known:
                raise ValueError(f"{exemption.path} is exempt from {name!r}, which is no word of the list")
        if len(set(exemption.words)) < len(exemption.words):
            raise ValueError(f"{exemption.path} is exempt from a word twice")
    return words, exemptions


def blank(text: str) -> str:
    """Spaces in place of a text, so that lines and columns stay."""
    return re.sub(r"[^\n]", " ", text)


def pieces(path: str, source: str) -> Iterator[tuple[str, int, str]]:
    """Text and names of a file: `text` or `name`, the line, and what stands there."""
    if path.endswith(".md"):
        prose = FENCED.sub(lambda found: blank(found[0]), source)
        yield "text", 1, CODE.sub(lambda found: blank(found[0]), prose)
    elif path.endswith(".rs"):
        line, at = 1, 0
        for found in RUST.finditer(source):
            line, at = line + source.count("\n", at, found.start()), found.start()
            if found["comment"] or found["string"] or found["raw"]:
                yield "text", line, strip_markup(found[0])
            elif found["name"]:
                yield "name", line, found[0]
    elif path.endswith(".py"):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING) or token.type == getattr(
                tokenize, "FSTRING_MIDDLE", -1
            ):
                yield "text", token.start[0], strip_markup(token.string)
            elif token.type == tokenize.NAME:
                yield "name", token.start[0], token.string
    elif path.endswith(".toml"):
        yield "text", 1, source


def strip_markup(text: str) -> str:
    """A comment or string without what is code in it, and without the marks of its lines: a phrase may go over two lines."""
    text = CODE.sub(lambda found: blank(found[0]), text)
    return re.sub(r"(?m)^(\s*)(//[/!]?|#)", lambda found: blank(found[0]), text)


def findings(path: str, source: str, words: Iterable[Word]) -> Iterator[Finding]:
    """Every word of the list in a file, line by line."""
    words = [word for word in words if path.startswith(word.within)]
    patterns = {
        "text": [(word, word.text) for word in words if word.text],
        "name": [(word, word.names) for word in words if word.names],
    }
    clean: set[tuple[str, str]] = set()
    for kind, first, piece in pieces(path, source):
        if (kind, piece) in clean:
            continue
        is_clean = True
        for word, pattern in patterns[kind]:
            for found in pattern.finditer(piece):
                is_clean = False
                line = first + piece.count("\n", 0, found.start())
                yield Finding(path, line, word.name, " ".join(found[0].split()), word.use)
        if is_clean:
            clean.add((kind, piece))


def files() -> list[str]:
    """Every file that is scanned: Markdown, Rust, Python and TOML of the repository, except the list and its test."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md", "*.rs", "*.py", "*.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    left_out = {"tools/words.toml", "tests/python/test_words.py"}
    return sorted(
        name for name in set(listed.stdout.split()) if name not in left_out and (ROOT / name).is_file()
    )


def scan(words: list[Word]) -> list[Finding]:
    """All findings in the repository."""
    found = []
    for name in files():
        found += findings(name, (ROOT / name).read_text(encoding="utf-8", errors="replace"), words)
    return found


def evaluate(found: list[Finding], exemptions: list[Exemption]) -> tuple[list[Finding], list[str]]:
    """Findings outside the exemptions, and messages about exemptions that nothing needs."""
    needed: set[tuple[str, str]] = set()
    left = []
    for finding in found:
        covering = [exemption for exemption in exemptions if exemption.covers(finding)]
        needed |= {(exemption.path, finding.word) for exemption in covering}
        if not covering:
            left.append(finding)
    stale = [
        f"tools/words.toml: {exemption.path} no longer contains {word!r}: remove the exemption"
        for exemption in exemptions
        for word in exemption.words
        if (exemption.path, word) not in needed
    ]
    return left, stale


def prune(text: str, found: list[Finding]) -> str:
    """The list without exemptions that no finding needs."""
    _, exemptions = read(text)
    head, mark, _ = text.partition("[exempt]\n")
    rows = []
    for exemption in exemptions:
        inside = {finding.word for finding in found if exemption.covers(finding)}
        kept = [word for word in exemption.words if word in inside]
        if kept:
            rows.append(f"{json.dumps(exemption.path)} = {json.dumps(kept)}\n")
    return head + mark + "".join(rows)


def main() -> int:
    words, exemptions = read(LIST.read_text(encoding="utf-8"))
    found = scan(words)
    if "--count" in sys.argv[1:]:
        totals = Counter((finding.word, "/".join(finding.path.split("/")[:2])) for finding in found)
        for (word, place), number in sorted(totals.items()):
            print(f"{number:5} {word:24} {place}")
        return 0
    left, stale = evaluate(found, exemptions)
    if "--prune" in sys.argv[1:]:
        LIST.write_text(prune(LIST.read_text(encoding="utf-8"), found), encoding="utf-8")
        return 0
    for line in [*map(str, left), *stale]:
        print(line)
    exempt = sum(len(exemption.words) for exemption in exemptions)
    print(
        f"{len(words)} words, {len(left)} findings, {exempt} exemptions, {len(found) - len(left)} findings in them"
    )
    return 1 if "--check" in sys.argv[1:] and (left or stale) else 0


if __name__ == "__main__":
    sys.exit(main())
