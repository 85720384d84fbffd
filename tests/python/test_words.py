"""The check of banned words: what it finds, where it does not look, and that the repository passes it."""

from __future__ import annotations

import pytest

import words

LIST = """
[words]
greatest = { use = "maximum", text = '\\bgreatest\\b', names = '(^|_)greatest(_|$)' }
"said again" = { use = "retransmitted", text = '\\bsaid again\\b' }
ways = { use = "next hops", names = '^ways$', within = 'crates' }

[exempt]
"crates/live" = ["greatest"]
"""


def found(path: str, source: str) -> list[str]:
    known, _ = words.read(LIST)
    return [str(finding) for finding in words.findings(path, source, known)]


def test_a_finding_names_file_line_word_and_replacement() -> None:
    assert found("docs/a.md", "One.\n\nThe Greatest delay.\n") == ["docs/a.md:3: `Greatest`: write maximum"]


def test_a_phrase_is_found_across_the_end_of_a_line() -> None:
    assert found("a.rs", "/// It is said\n/// again.\nfn f() {}\n") == [
        "a.rs:1: `said again`: write retransmitted"
    ]
    assert found("a.md", "It is said\nagain.\n") == ["a.md:1: `said again`: write retransmitted"]


def test_code_in_text_is_not_text() -> None:
    assert found("a.md", "Call `greatest()` [here](greatest.md).\n\n```sh\ngreatest\n```\n") == []
    assert found("a.rs", "/// As `greatest` says.\nfn f() {}\n") == []


def test_names_and_text_are_checked_separately() -> None:
    assert found("a.py", "greatest_delay = 1\n") == ["a.py:1: `greatest_`: write maximum"]
    assert found("a.rs", "let greatest = 'x';\n") == ["a.rs:1: `greatest`: write maximum"]
    assert found("a.py", "greatestly = 1\n") == []


def test_strings_comments_and_raw_strings_are_text() -> None:
    assert len(found("a.rs", 'let a = "the greatest"; // greatest\nlet b = r#"greatest"#;\n')) == 3
    assert len(found("a.py", 'a = "the greatest"  # greatest\nb = f"greatest {a}"\n')) == 3


def test_a_word_of_one_folder_is_free_elsewhere() -> None:
    assert found("crates/sim/src/a.rs", "let ways = 1;\n") != []
    assert found("python/a.py", "ways = 1\n") == []


def test_exemptions_cover_their_folder_and_must_be_needed() -> None:
    known, exemptions = words.read(LIST)
    inside = list(words.findings("crates/live/src/a.rs", "// greatest\n", known))
    beside = list(words.findings("crates/lively/a.rs", "// greatest\n", known))
    assert words.evaluate(inside, exemptions) == ([], [])
    left, stale = words.evaluate(beside, exemptions)
    assert left == beside
    assert stale == ["tools/words.toml: crates/live no longer contains 'greatest': remove the exemption"]


def test_an_exemption_from_an_unknown_word_is_refused() -> None:
    with pytest.raises(ValueError, match="no word of the list"):
        words.read(LIST + '"docs" = ["dear"]\n')


TERMS = (
    "sans-IO",
    "keep-alive",
    "exponential backoff",
    "congestion window",
    "pacing",
    "goodput",
    "flow completion time",
    "head-of-line blocking",
    "bandwidth-delay product",
    "bufferbloat",
    "control loop",
    "southbound",
)
"""Terms that readers search for."""


@pytest.mark.parametrize("term", TERMS)
def test_a_search_finds_the_terms_of_the_field(term: str) -> None:
    glossary = words.ROOT / "docs" / "glossary.md"
    assert f"| {term.lower()}" in glossary.read_text(encoding="utf-8").lower()
    pages = [words.ROOT / "README.md", words.ROOT / "ARCHITECTURE.md", *words.ROOT.glob("docs/*/*.md")]
    assert any(term.lower() in page.read_text(encoding="utf-8").lower() for page in pages)


def test_the_repository_uses_none_of_the_words() -> None:
    known, exemptions = words.read(words.LIST.read_text(encoding="utf-8"))
    left, stale = words.evaluate(words.scan(known), exemptions)
    assert not left, "\n".join(map(str, left))
    assert not stale, "\n".join(stale)
