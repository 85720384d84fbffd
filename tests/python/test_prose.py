"""Every complete scenario in the prose runs and meets its own expectations; every Python example runs.

A fenced block of TOML with a `[topology]` is a scenario. `toml first.toml` after the fence also puts it into the folder in
which the page's Python examples run, one after the other, sharing their names.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import thalweg as tw
from conftest import ROOT

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Every page of the docs, and the pages of schemes."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(
        ROOT / name for name in set(listed.stdout.split()) if "/_" not in name and (ROOT / name).is_file()
    )


def blocks(page: Path, language: str) -> list[tuple[str, str, int]]:
    """Name, text and line of each fenced block of a language."""
    text = page.read_text(encoding="utf-8")
    return [
        (found[2].strip(), found[3], text.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(text)
        if found[1] == language
    ]


SCENARIOS = [
    pytest.param(text, f"{page.relative_to(ROOT)}:{line}", id=f"{page.relative_to(ROOT)}:{line}")
    for page in pages()
    for _, text, line in blocks(page, "toml")
    if "[topology]" in text
]
EXAMPLES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages() if blocks(page, "python")]


@pytest.mark.parametrize(("text", "name"), SCENARIOS)
def test_a_scenario_of_the_prose_meets_its_expectations(text: str, name: str) -> None:
    scenario = tw.Scenario.from_toml(text, name)
    results = [scenario.run()]
    if "sweep" in scenario.tree:
        results = [run.result for run in scenario.sweep().run(jobs=os.cpu_count() or 1).runs]
    for result in results:
        failed = [row for row in result.expect.to_dicts() if not row["pass"]]
        assert not failed, f"{name}: {failed}"


def test_experiments_of_schemes_and_slow_scenarios_meet_their_expectations() -> None:
    # Those that say `slow = true` take more than 5 s of CPU and run where THALWEG_SLOW is set, as in `make ci`.
    failed = []
    for file in sorted([*ROOT.glob("schemes/[a-z]*/experiments/*.toml"), *ROOT.glob("scenarios/*.toml")]):
        scenario = tw.load(file)
        slow = bool(scenario.tree.get("slow"))
        if (slow and not os.environ.get("THALWEG_SLOW")) or (not slow and file.parent.name == "scenarios"):
            continue
        for run in scenario.sweep().run(jobs=os.cpu_count() or 1).runs:
            missed = [row for row in run.result.expect.to_dicts() if not row["pass"]]
            failed += [(file.name, run.values, row) for row in missed]
    assert not failed


@pytest.mark.parametrize("page", EXAMPLES)
def test_python_examples_of_a_page_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text, _ in blocks(page, "toml"):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
    names: dict[str, object] = {}
    for _, text, line in blocks(page, "python"):
        code = compile("\n" * line + text, str(page), "exec")
        exec(code, names)


def test_links_between_pages_have_targets() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages()
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert not broken


PATH = re.compile(r"`((?:crates|schemes|python|papers|docs|tests|tools|scenarios|benches|fuzz)/[\w./-]+)`")


def test_every_path_in_the_pages_for_developers_exists() -> None:
    pages_for_developers = [
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
    named = [
        (page.name, found[1])
        for page in pages_for_developers
        for found in PATH.finditer(page.read_text("utf-8"))
    ]
    assert len(named) > 50
    # NAME and VERB stand for names, and swift is the scheme that the recipe makes
    given = ("NAME", "VERB", "/swift/")
    missing = [
        row for row in named if not any(word in row[1] for word in given) and not (ROOT / row[1]).exists()
    ]
    assert not missing


FILE = re.compile(r"`([\w-]+\.(?:rs|py|tcl|toml))`")
SYMBOL = re.compile(r"`([A-Z]\w+)::(\w+)`")


def test_every_file_and_item_in_the_pages_about_the_code_exists() -> None:
    # files that a page names without their folder, and items as `Type::name`
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    names = {path.name for path in files}
    words = {
        word for path in files if path.suffix == ".rs" for word in re.findall(r"\w+", path.read_text("utf-8"))
    }
    missing, checked = [], 0
    for page in [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs/internals").glob("*.md")]:
        text = page.read_text("utf-8")
        found = [name for name in FILE.findall(text) if "NAME" not in name]
        items = SYMBOL.findall(text)
        checked += len(found) + len(items)
        missing += [(page.name, name) for name in found if name not in names]
        missing += [(page.name, "::".join(item)) for item in items if not words.issuperset(item)]
    assert checked > 50
    assert not missing


def test_the_release_notes_have_one_short_line_per_change() -> None:
    section = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1].splitlines()[1:]
    assert len(section) <= 130
    groups = [number for number, line in enumerate(section) if line.startswith("### ")]
    changes = [line for line in section[groups[0] :] if line and not line.startswith("### ")]
    assert changes
    assert [line for line in changes if not line.startswith("- ")] == []
    assert [line for line in changes if len(line) > 160] == []


def test_the_table_of_places_is_short_and_each_row_names_one_or_two_that_exist() -> None:
    section = (ROOT / "ARCHITECTURE.md").read_text("utf-8").split("\n## Where is …?\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
    assert 20 <= len(rows) <= 30
    for row in rows:
        named = [name for name in re.findall(r"`([^`]+)`", row) if "/" in name or "." in name]
        assert 1 <= len(named) <= 2, row
        for name in named:
            pattern = name.rstrip("/").replace("NAME", "*").replace("VERB", "*")
            found = [path for path in ROOT.glob(pattern) if path.is_dir() or not name.endswith("/")]
            assert found, f"{name} does not exist: {row}"


def test_one_page_has_the_table_of_where_to_go() -> None:
    having = [
        str(page.relative_to(ROOT)) for page in pages() if "\n| you want to |" in page.read_text("utf-8")
    ]
    assert having == ["docs/index.md"]
    last = (ROOT / "README.md").read_text("utf-8").split("\n## Where to go\n")[1]
    assert len([line for line in last.splitlines() if line.startswith("- ")]) <= 5
