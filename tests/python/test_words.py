"""The rules for sentences and the words that are not used: what is found, where, and that the repository passes."""

from __future__ import annotations

import pytest

import words
import wrap

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


RULES = """
[rules.opening]
says = "a doc comment begins with a noun or a verb"
kinds = ["doc"]
text = '\\A\\W*(the same|as \\[)'

[rules.pronoun]
says = "repeat the noun"
text = '\\bthat of\\b'

[rules.hint]
says = "a hint is an imperative"
kinds = ["hint"]
text = '\\A\\W*it\\b'

[rules.width]
says = "at most 120 columns"
columns = 120

[remaining]
"crates" = { pronoun = 1 }
"crates/lab" = { opening = 2 }

# The end.
[exempt]
"""


def breaks(path: str, source: str) -> list[tuple[str, int]]:
    rules, _ = words.read_rules(RULES)
    return [(finding.word, finding.line) for finding in words.broken(path, source, rules)]


def test_a_rule_applies_to_its_kinds_of_text() -> None:
    assert breaks("a.rs", "/// The same\n/// as ever.\nfn f() {}\n") == [("opening", 1)]
    assert breaks("a.rs", "/// As [`f`].\nfn g() {}\n") == [("opening", 1)]
    assert breaks("a.rs", '// The same.\nlet a = "The same";\n') == []
    assert breaks("a.py", '"""The same."""\n\nx = 1\n"""The same."""\n') == [("opening", 1), ("opening", 4)]
    assert breaks("a.py", 'x = "The same"  # The same\n') == []
    assert (
        breaks("a.rs", 'error.hint("it takes one"); error.hint(format!("it takes {n}"));\n')
        == [("hint", 1)] * 2
    )
    assert breaks("a.rs", 'error.hint("write one"); f("it takes one");\n') == []
    assert breaks("a.py", 'raise E("it is none", hint="it takes one")\n') == [("hint", 1)]


def test_a_rule_without_kinds_applies_to_all_text_but_not_to_code() -> None:
    assert breaks("a.md", "The rate is that\nof the link.\n") == [("pronoun", 2)]
    assert breaks("a.py", 'x = "that of"  # that of\n') == [("pronoun", 1)] * 2
    assert breaks("a.md", "Call `that of`.\n") == []


def test_long_lines_of_comments_are_found() -> None:
    assert breaks("a.rs", f"x;\n    // {'a' * 114}\n") == [("width", 2)]
    assert breaks("a.rs", f"    // {'a' * 113}\nlet x = {'a' * 200};\n") == []


def test_a_folder_has_at_most_as_many_sentences_as_its_number() -> None:
    rules, remaining = words.read_rules(RULES)
    several = "/// The same.\nfn f() {}\n/// The same as that of g.\nfn g() {}\n"
    found = list(words.broken("crates/lab/a.rs", several, rules))
    assert words.excess(words.tally(found, remaining), remaining) == [
        "crates/lab: 1 break the rule `pronoun`, 0 may: python tools/words.py --rule pronoun crates/lab"
    ]
    found = list(words.broken("crates/sim/a.rs", "// that of\n", rules))
    assert words.excess(words.tally(found, remaining), remaining) == []
    assert words.excess(words.tally(found * 2, remaining), remaining) != []
    counted = words.with_numbers(RULES, words.tally(found, {}))
    assert words.read_rules(counted)[1] == {"crates/sim": {"pronoun": 1}}
    assert counted.endswith("\n\n# The end.\n[exempt]\n")


LONG = "word " * 30


def test_long_comments_are_wrapped_by_paragraph() -> None:
    new = wrap.wrapped(f"    /// First {LONG}end.\n    /// Rest.\n    ///\n    /// Next.\n    fn f() {{}}\n")
    assert max(map(len, new.splitlines())) <= wrap.WIDTH
    assert " ".join(new.replace("///", " ").split()) == f"First {LONG}end. Rest. Next. fn f() {{}}"
    assert new.endswith("    ///\n    /// Next.\n    fn f() {}\n")
    assert wrap.wrapped(new) == new


def test_an_item_of_a_list_keeps_its_indentation() -> None:
    new = wrap.wrapped(f"//! - one\n//! - two {LONG}end\n//!   more\n").splitlines()
    assert [line.split()[1] for line in new] == ["-", "-", "word"]
    assert new[2].startswith("//!   word")
    assert new[2].endswith("end more")


@pytest.mark.parametrize(
    "kept",
    [
        f"// | {LONG} |\n",
        f"/// ```\n/// {LONG}{LONG}\n/// ```\n",
        f"// a = b      [{LONG}]\n",
        f"params! {{\n    /// {LONG}end.\n    a: u32 = 1;\n}}\n",
        f"let a = 1; // {LONG}\n",
    ],
)
def test_what_is_no_running_text_is_not_wrapped(kept: str) -> None:
    assert wrap.wrapped(kept) == kept


def test_code_in_a_comment_stays_on_one_line() -> None:
    code = "`a b c d e f g h i j k l m n o p`"
    for before in range(80, 120):
        assert code in wrap.wrapped(f"// {'x' * before} {code} end of the line that is long enough for it\n")


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


def test_no_folder_has_more_sentences_that_break_a_rule_than_its_number() -> None:
    rules, remaining = words.read_rules(words.LIST.read_text(encoding="utf-8"))
    assert len(rules) == 5
    more = words.excess(words.tally(words.scan_rules(rules), remaining), remaining)
    assert not more, "\n".join(more)
