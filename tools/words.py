"""Finds sentences that break a rule and words that the project does not use: `tools/words.toml` has both.

    python tools/words.py            prints every finding outside the exemptions
    python tools/words.py --check    also fails on a finding, or on an exemption that is no longer needed
    python tools/words.py --rule opening crates/lab    prints the sentences of a folder or file that break a rule
    python tools/words.py --prune    removes exemptions and lowers numbers of sentences that are no longer needed
    python tools/words.py --record   counts the sentences of each folder of the list again
    python tools/words.py --count    findings per word or rule and directory, exempted ones included

A rule applies to the kinds of text that it names. A folder may have as many sentences that break it as `remaining` says,
none where it says nothing; the longest name that fits counts. A word is looked for in text (Markdown without code, comments,
doc comments, strings) or in names (identifiers of Rust and Python), as its entry says. An exemption lets a directory keep
words for the time being; when the last of them is gone, the exemption must go too.
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
class Rule:
    """A rule for sentences: what breaks it is matched by `text`, or is a line of a comment with more than `columns`."""

    name: str
    says: str
    kinds: frozenset[str]
    """Kinds of text to which it applies; all if empty."""
    text: re.Pattern[str] | None
    columns: int = 0


@dataclass(frozen=True)
class Finding:
    """A word, or a sentence that breaks a rule, in a file."""

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


def read_rules(text: str) -> tuple[list[Rule], dict[str, dict[str, int]]]:
    """Rules of the list, and for each folder how many sentences may still break which of them."""
    tree = tomllib.loads(text)
    rules = [
        Rule(
            name,
            entry["says"],
            frozenset(entry.get("kinds", ())),
            re.compile(entry["text"].replace(" ", r"\s+"), re.IGNORECASE) if "text" in entry else None,
            entry.get("columns", 0),
        )
        for name, entry in tree.get("rules", {}).items()
    ]
    remaining: dict[str, dict[str, int]] = tree.get("remaining", {})
    known = {rule.name for rule in rules}
    for folder, numbers in remaining.items():
        for name in numbers:
            if name not in known:
                raise ValueError(f"{folder} has a number for {name!r}, which is no rule of the list")
    return rules, remaining


def blank(text: str) -> str:
    """Spaces in place of a text, so that lines and columns stay."""
    return re.sub(r"[^\n]", " ", text)


HINT = re.compile(r"\b(?:hint|help)\s*[(=]\s*(?:&?format!\(\s*)?$")


def pieces(path: str, source: str) -> Iterator[tuple[str, int, str]]:
    """Text and names of a file, each with its line.

    The kind is `doc`, `comment`, `string`, `hint`, `prose` or `name`.
    """
    if path.endswith(".md"):
        prose = FENCED.sub(lambda found: blank(found[0]), source)
        yield "prose", 1, CODE.sub(lambda found: blank(found[0]), prose)
    elif path.endswith(".rs"):
        line, at = 1, 0
        for found in RUST.finditer(source):
            line, at = line + source.count("\n", at, found.start()), found.start()
            if found["comment"]:
                kind = "doc" if re.match(r"//[/!]|/\*[*!]", found[0]) else "comment"
                yield kind, line, strip_markup(found[0])
            elif found["string"] or found["raw"]:
                before = source[max(0, found.start() - 60) : found.start()]
                yield "hint" if HINT.search(before) else "string", line, strip_markup(found[0])
            elif found["name"]:
                yield "name", line, found[0]
    elif path.endswith(".py"):
        # a string that begins a statement is a docstring
        begins, before = True, ""
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield "comment", token.start[0], strip_markup(token.string)
            elif token.type == tokenize.STRING:
                kind = "doc" if begins else "hint" if HINT.search(before) else "string"
                yield kind, token.start[0], strip_markup(token.string)
            elif token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
                yield "string", token.start[0], strip_markup(token.string)
            elif token.type == tokenize.NAME:
                yield "name", token.start[0], token.string
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
                before = (before + token.string)[-60:]
    elif path.endswith(".toml"):
        yield "prose", 1, source


def strip_markup(text: str) -> str:
    """A comment or string without what is code in it, and without the marks of its lines: a phrase may go over two lines."""
    text = CODE.sub(lambda found: blank(found[0]), text)
    return re.sub(r"(?m)^(\s*)(//[/!]?|#)", lambda found: blank(found[0]), text)


def findings(path: str, source: str, words: Iterable[Word]) -> Iterator[Finding]:
    """Every word of the list in a file, line by line."""
    words = [word for word in words if path.startswith(word.within)]
    texts = [(word, word.text) for word in words if word.text]
    names = [(word, word.names) for word in words if word.names]
    clean: set[tuple[bool, str]] = set()
    for kind, first, piece in pieces(path, source):
        if (kind == "name", piece) in clean:
            continue
        is_clean = True
        for word, pattern in names if kind == "name" else texts:
            for found in pattern.finditer(piece):
                is_clean = False
                line = first + piece.count("\n", 0, found.start())
                yield Finding(path, line, word.name, " ".join(found[0].split()), word.use)
        if is_clean:
            clean.add((kind == "name", piece))


def broken(path: str, source: str, rules: Iterable[Rule]) -> Iterator[Finding]:
    """Every sentence of a file that breaks a rule."""
    for rule in rules:
        if rule.columns and path.endswith((".rs", ".py")):
            mark = "//" if path.endswith(".rs") else "#"
            for number, line in enumerate(source.splitlines(), 1):
                if len(line) > rule.columns and line.lstrip().startswith(mark):
                    yield Finding(path, number, rule.name, f"{len(line)} columns", rule.says)
    for kind, first, piece in pieces(path, source):
        for rule in rules:
            if rule.text and kind != "name" and (not rule.kinds or kind in rule.kinds):
                for found in rule.text.finditer(piece):
                    line = first + piece.count("\n", 0, found.end())
                    yield Finding(path, line, rule.name, " ".join(found[0].split()), rule.says)


def folder_of(path: str, remaining: Iterable[str]) -> str:
    """The longest of these names of folders and files in which a file is; its first two parts if no name fits."""
    fitting = [name for name in remaining if path == name or path.startswith(name.rstrip("/") + "/")]
    return max(fitting, key=len) if fitting else "/".join(path.split("/")[:2])


def tally(found: Iterable[Finding], remaining: dict[str, dict[str, int]]) -> Counter[tuple[str, str]]:
    """The number of sentences that break a rule, by folder and rule."""
    return Counter((folder_of(finding.path, remaining), finding.word) for finding in found)


def excess(numbers: Counter[tuple[str, str]], remaining: dict[str, dict[str, int]]) -> list[str]:
    """Messages about folders with more sentences that break a rule than they may have."""
    return [
        f"{folder}: {number} break the rule `{rule}`, {remaining.get(folder, {}).get(rule, 0)} may: "
        f"python tools/words.py --rule {rule} {folder}"
        for (folder, rule), number in sorted(numbers.items())
        if number > remaining.get(folder, {}).get(rule, 0)
    ]


def with_numbers(text: str, numbers: Counter[tuple[str, str]]) -> str:
    """The list with these numbers of sentences that may break a rule."""
    head, mark, rest = text.partition("[remaining]\n")
    _, gap, tail = rest.partition("\n#")
    rows = []
    for folder in sorted({folder for folder, _ in numbers}):
        row = [
            f"{rule} = {number}"
            for (place, rule), number in sorted(numbers.items())
            if place == folder and number
        ]
        if row:
            rows.append(f"{json.dumps(folder)} = {{ {', '.join(row)} }}\n")
    return head + mark + "".join(rows) + gap + tail


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


def sources() -> Iterator[tuple[str, str]]:
    """Name and text of every file that is scanned."""
    for name in files():
        yield name, (ROOT / name).read_text(encoding="utf-8", errors="replace")


def scan(words: list[Word]) -> list[Finding]:
    """Every word of the list in the repository."""
    return [finding for name, source in sources() for finding in findings(name, source, words)]


def scan_rules(rules: list[Rule]) -> list[Finding]:
    """Every sentence of the repository that breaks a rule."""
    return [finding for name, source in sources() for finding in broken(name, source, rules)]


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
    arguments = sys.argv[1:]
    text = LIST.read_text(encoding="utf-8")
    words, exemptions = read(text)
    rules, remaining = read_rules(text)
    if "--rule" in arguments:
        _, name, *folders = arguments
        for finding in scan_rules([rule for rule in rules if rule.name == name]):
            if not folders or folder_of(finding.path, folders) in folders:
                print(f"{finding.path}:{finding.line}: `{finding.found}`: {finding.use}")
        return 0
    found, sentences = scan(words), scan_rules(rules)
    numbers = tally(sentences, remaining)
    if "--count" in arguments:
        totals = Counter((finding.word, "/".join(finding.path.split("/")[:2])) for finding in found) + numbers
        for (word, place), number in sorted(totals.items()):
            print(f"{number:5} {word:24} {place}")
        return 0
    if "--record" in arguments:
        LIST.write_text(with_numbers(text, numbers), encoding="utf-8")
        return 0
    if "--prune" in arguments:
        lower: Counter[tuple[str, str]] = Counter()
        for key, number in numbers.items():
            lower[key] = min(number, remaining.get(key[0], {}).get(key[1], 0))
        LIST.write_text(prune(with_numbers(text, lower), found), encoding="utf-8")
        return 0
    left, stale = evaluate(found, exemptions)
    more = excess(numbers, remaining)
    for line in [*map(str, left), *stale, *more]:
        print(line)
    exempt = sum(len(exemption.words) for exemption in exemptions)
    print(
        f"{len(words)} words, {len(left)} findings, {exempt} exemptions, {len(found) - len(left)} findings in them; "
        f"{len(rules)} rules, {len(sentences)} sentences break one, {len(more)} folders have more than they may"
    )
    return 1 if "--check" in arguments and (left or stale or more) else 0


if __name__ == "__main__":
    sys.exit(main())
