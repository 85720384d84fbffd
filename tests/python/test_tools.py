"""The tools of the repository: dependencies, registry, citations, counting, new schemes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import citations
import count
import dependencies
import docsite
import licenses
import new_scheme
import registry
import requirements
import thalweg
import wheels
from conftest import ROOT


def package(tmp_path: Path, name: str, *uses: tuple[str, str | None]) -> dict[str, Any]:
    """A package as `cargo metadata` describes it."""
    manifest = tmp_path / f"{name}.toml"
    manifest.write_text("[lints]\nworkspace = true\n", encoding="utf-8")
    return {
        "name": name,
        "manifest_path": str(manifest),
        "dependencies": [{"name": used, "kind": kind} for used, kind in uses],
    }


@pytest.mark.parametrize(
    ("crate", "uses", "said"),
    [
        ("units", ("contract", None), "`units` must not use `contract`"),
        ("stack", ("schemes", None), "`stack` must not use `schemes`"),
        ("schemes", ("stack", None), "`schemes` must not use `stack`"),
        ("sim", ("serde_json", None), "`sim` must not use `serde_json`"),
        ("contract", ("rand", None), "below `lab`"),
        ("lab", ("pyo3", None), "only python may"),
        ("lab", ("arrow-array", None), "only python, tables may"),
        ("sim", ("lab", "dev"), "`sim` must not use `lab` (dev)"),
    ],
)
def test_a_dependency_outside_the_table_is_refused(
    crate: str, uses: tuple[str, str | None], said: str, tmp_path: Path
) -> None:
    packages = [package(tmp_path, name) for name in dependencies.ALLOWED if name != crate]
    problems = list(dependencies.wrong_dependencies([*packages, package(tmp_path, crate, uses)]))
    assert len(problems) == 1
    assert said in problems[0]


@pytest.mark.parametrize(
    ("crate", "uses"),
    [
        ("sim", ("stack", None)),
        ("lab", ("serde", None)),
        ("stack", ("schemes", "dev")),
        ("units", ("proptest", "dev")),
    ],
)
def test_a_dependency_in_the_table_is_allowed(
    crate: str, uses: tuple[str, str | None], tmp_path: Path
) -> None:
    packages = [package(tmp_path, name) for name in dependencies.ALLOWED if name != crate]
    assert not list(dependencies.wrong_dependencies([*packages, package(tmp_path, crate, uses)]))


def test_a_crate_without_a_row_is_refused(tmp_path: Path) -> None:
    assert "not in the table" in next(dependencies.wrong_dependencies([package(tmp_path, "attic")]))


def test_the_library_imports_no_paper_and_papers_import_public_modules_only(tmp_path: Path) -> None:
    for name, text in {
        "python/thalweg/a.py": "from thalweg_papers import mca\nfrom . import _native\n",
        "papers/thalweg_papers/b.py": "import thalweg._worker\nfrom thalweg import Scenario\nfrom ._base import Study\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert list(dependencies.wrong_imports(tmp_path)) == [
        "python/thalweg/a.py must not import `thalweg_papers.mca`: papers are found by their entry points",
        "papers/thalweg_papers/b.py must not import `thalweg._worker`: it is not public",
    ]


def test_the_studio_and_the_runs_do_not_import_the_commands(tmp_path: Path) -> None:
    package = tmp_path / "python" / "thalweg"
    texts = {
        "cli/studio.py": "from ..studio.app import Studio\n",
        "studio/app.py": "from ..runs import execution\nfrom ..cli.output import quoted\n",
        "runs/execution.py": "def run():\n    from thalweg.studio import app\n",
        "runs/folders.py": "from .. import result\nfrom . import clients\n",
    }
    for name, text in texts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    (tmp_path / "papers").mkdir()
    problems = list(dependencies.wrong_imports(tmp_path))
    assert len(problems) == 2
    assert "runs/execution.py must not import `thalweg.studio.app`" in problems[0]
    assert "studio/app.py must not import `thalweg.cli.output.quoted`" in problems[1]


def test_every_place_has_the_version_of_the_workspace() -> None:
    def text(name: str) -> str:
        return (ROOT / name).read_text(encoding="utf-8")

    version = tomllib.loads(text("Cargo.toml"))["workspace"]["package"]["version"]
    assert re.findall(r"^## (\d\S*)", text("CHANGELOG.md"), re.MULTILINE)[0] == version
    assert re.findall(r"^version: (.*)", text("CITATION.cff"), re.MULTILINE) == [version]
    assert tomllib.loads(text("papers/pyproject.toml"))["project"]["version"] == version
    assert f'"thalweg {version}"' in text("packaging/data/share/man/man1/thalweg.1")
    named = re.findall(r"thalweg(?:_papers)?-(\d[\d.]*\d)-", text("docs/guide/1-first-run.md"))
    assert set(named) == {version}
    for lock in ("Cargo.lock", "fuzz/Cargo.lock"):
        packages = tomllib.loads(text(lock))["package"]
        ours = {p["name"]: p["version"] for p in packages if "source" not in p and p["name"] != "fuzz"}
        assert len(ours) > 10
        assert set(ours.values()) == {version}


def test_the_papers_have_the_version_of_the_library() -> None:
    project = tomllib.loads((ROOT / "papers/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == thalweg.__version__
    assert f"thalweg=={thalweg.__version__}" in project["dependencies"]


def scheme_folder(root: Path, name: str, function: str) -> Path:
    """A folder with a title page."""
    folder = root / "schemes" / name
    folder.mkdir(parents=True)
    (folder / "mod.rs").write_text(
        f'pub const SCHEME: Scheme = Scheme {{ sources: &[Source {{ key: "RFC1" }}] }};\n{function}',
        encoding="utf-8",
    )
    return folder


def test_the_registry_is_written_from_the_folders(tmp_path: Path) -> None:
    scheme_folder(tmp_path, "fast_tcp", "pub fn control(params: &Params) -> Control {}\n")
    scheme_folder(tmp_path, "mca", "pub use endpoints::{receiver, sender};\n")
    (tmp_path / "schemes" / "shared").mkdir()
    (tmp_path / "schemes" / "shared" / "mod.rs").write_text("mod classic;\n", encoding="utf-8")
    catalogue = tmp_path / "schemes" / "lib.rs"
    catalogue.write_text(
        "// registry: begin (written by `make registry` from the folders)\n// registry: end\n",
        encoding="utf-8",
    )
    assert registry.refresh(tmp_path, check=True)
    assert registry.refresh(tmp_path)
    assert not registry.refresh(tmp_path, check=True)
    text = catalogue.read_text(encoding="utf-8")
    assert "pub mod fast_tcp;\npub mod mca;\n" in text
    assert "control {\n        fast_tcp: FastTcp,\n    }" in text
    assert "stream {\n        mca: Mca,\n    }" in text


def test_window_schemes_over_ip_that_need_no_marks_are_schemes_of_quic(tmp_path: Path) -> None:
    for name, entry in (
        ("fast_tcp", "families: &[Family::Ndn, Family::Ip], needs: &[Need::Rack]"),
        ("marked", "families: &[Family::Ip], needs: &[Need::Ecn(EcnUse { l4s: false })]"),
        ("named", "families: &[Family::Ndn], needs: &[]"),
    ):
        folder = scheme_folder(tmp_path, name, "pub fn control(params: &Params) -> Control {}\n")
        page = folder / "mod.rs"
        page.write_text(page.read_text("utf-8").replace("sources:", f"{entry}, sources:"), "utf-8")
    marks = f"{registry.BEGIN}// registry: end\n"
    (tmp_path / "schemes" / "lib.rs").write_text(marks, "utf-8")
    with_quic = tmp_path / "crates" / "quic" / "src" / "lib.rs"
    with_quic.parent.mkdir(parents=True)
    with_quic.write_text(marks, "utf-8")
    assert registry.refresh(tmp_path)
    assert not registry.refresh(tmp_path, check=True)
    assert (
        with_quic.read_text("utf-8")
        == f"{registry.BEGIN}        fast_tcp: FastTcp,\n        // registry: end\n"
    )
    assert registry.BEGIN in (ROOT / "crates" / "quic" / "src" / "lib.rs").read_text("utf-8")


README = "\n".join(f"## {heading}\n\ntext\n" for heading in citations.HEADINGS)


@pytest.mark.parametrize(
    ("code", "readme", "said"),
    [
        ("// W grows [RFC9 §2]\n", README, "[RFC9] is not in the scheme's sources"),
        ("", README.replace("## Idea", "## Thought"), "headings"),
        ("", README, "Sources and SCHEME.sources differ in RFC1"),
        ("", README.replace("## Sources\n", "## Sources\n\n- [RFC1] One.\n"), "Try it has no scenario"),
    ],
)
def test_errors_in_a_scheme_are_reported(
    code: str, readme: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(citations, "ROOT", tmp_path)
    folder = scheme_folder(tmp_path, "mine", code)
    (folder / "README.md").write_text(readme, encoding="utf-8")
    assert any(said in problem for problem in citations.problems(tmp_path / "schemes"))


def test_a_numbered_equation_must_be_cited_in_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(citations, "ROOT", tmp_path)
    folder = scheme_folder(tmp_path, "mine", "// W ← W + 1/W [RFC1 §3, eq. 3]\n")
    readme = README.replace("## Sources\n", "## Sources\n\n- [RFC1] One.\n").replace(
        "## Try it\n", "## Try it\n\n```toml\n"
    )
    for equations, wrong in (("W (eq. 3)", []), ("W (eq. 3), V (eq. 4)", ["4"])):
        (folder / "README.md").write_text(readme.replace("## Equations\n", f"## Equations\n\n{equations}\n"))
        problems = list(citations.problems(tmp_path / "schemes"))
        assert [
            number for number in ("3", "4") for problem in problems if f"equation {number} " in problem
        ] == wrong


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            (12, 0),
        ),
        (
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.0s",
            (3, 2),
        ),
        ("84 passed in 21.50s", (84, 0)),
        ("2 failed, 82 passed, 1 skipped in 9.65s", (82, 2)),
        ("=== 1 failed, 3 passed, 2 errors in 0.12s ===", (3, 3)),
        ("120 passed, 1 failed", (120, 1)),
        ("test units::time::tests::one ... ok", None),
    ],
)
def test_tallies_of_cargo_and_pytest_are_read(line: str, expected: tuple[int, int] | None) -> None:
    assert count.tally(line) == expected


def test_a_step_that_fails_without_a_tally_counts_as_one_failure() -> None:
    assert count.run(["false"]) == (0, 1)
    assert count.run(["true"]) == (1, 0)
    assert count.run(["no-such-program"]) == (0, 1)
    assert count.run(["sh", "-c", "echo '5 passed in 0.10s'; exit 1"]) == (5, 1)
    assert count.run(["sh", "-c", "echo '5 passed in 0.10s'; echo '5 passed, 0 failed'"]) == (5, 0)


def test_what_failed_in_real_time_runs_once_more() -> None:
    cargo = [*count.CARGO_TEST, *count.WALL_CLOCK]
    lines = [
        "test wall_clock::a ... ok",
        "test wall_clock::b ... FAILED",
        "test result: FAILED. 1 passed; 1 failed;",
    ]
    assert count.repeated(cargo, lines) == [*cargo, "--", "--exact", "wall_clock::b"]
    lines = ["FAILED tests/python/test_x.py::test_a[1-2] - assert 0", "ERROR tests/python/test_x.py::test_b"]
    assert count.repeated([*count.PYTEST, "-m", "wall_clock"], lines) == [
        *count.PYTEST,
        "tests/python/test_x.py::test_a[1-2]",
        "tests/python/test_x.py::test_b",
    ]
    assert count.repeated(cargo, ["error: could not compile `sim`"]) is None
    assert count.repeated(cargo, [f"test t{n} ... FAILED" for n in range(count.MAX_REPEATED + 1)]) is None


def test_a_failure_counts_if_it_returns(tmp_path: Path) -> None:
    script = tmp_path / "step.sh"

    def row(again: str) -> tuple[str, int, int]:
        first = "test a ... FAILED\\ntest result: FAILED. 4 passed; 1 failed;\\n"
        script.write_text(f"if [ $1 ]; then echo '{again}'; else printf '{first}'; fi\n", encoding="utf-8")
        return count.timed_in_real_time("step", ["sh", str(script)], lambda *_, **__: None)[:3]

    assert row("test result: ok. 1 passed; 0 failed;") == ("step", 5, 0)
    assert row("test result: FAILED. 0 passed; 1 failed;") == ("step", 4, 1)


def test_a_suite_within_a_suite_is_counted_once() -> None:
    assert count.run(["printf", "5 passed in 0.10s\\n7 passed in 0.10s\\n12 passed, 0 failed\\n"]) == (12, 0)


def test_dependencies_of_both_projects_are_locked_with_hashes_and_without_a_registry() -> None:
    projects = [tomllib.loads((ROOT / name / "pyproject.toml").read_text("utf-8")) for name in ("", "papers")]
    needed = {re.split(r"[<>=]", row)[0].replace("_", "-") for row in requirements.requirements(projects)}
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert {"maturin", "msgspec", "polars", "pytest", "ruff"} <= needed
    assert needed <= set(re.findall(r"^([a-z0-9-]+)==", lock, flags=re.MULTILINE))
    assert lock.count("==") <= lock.count("--hash=sha256:")
    assert "://" not in lock


def packed(folder: Path, name: str, sources: str | None) -> Path:
    """A wheel of this name that was built from these sources."""
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("thalweg/__init__.py", "")
        if sources is not None:
            archive.writestr("thalweg/_sources.txt", f"{sources}\n")
    return folder / name


def test_a_wheel_is_at_hand_if_it_fits_and_has_the_same_sources(tmp_path: Path) -> None:
    name = f"thalweg-{wheels.version()}"
    assert wheels.at_hand(tmp_path) is None
    packed(tmp_path, f"{name}-cp311-abi3-win_arm64.whl", wheels.digest())
    packed(tmp_path, f"{name}-py3-none-any.whl", "0123")
    packed(tmp_path, "thalweg-9.9.9-py3-none-any.whl", wheels.digest())
    assert wheels.at_hand(tmp_path) is None
    packed(tmp_path, f"{name}-py3-none-any.whl", None)
    assert wheels.at_hand(tmp_path) is None
    fits = packed(tmp_path, f"{name}-py3-none-any.whl", wheels.digest())
    assert wheels.at_hand(tmp_path) == fits


def test_the_digest_of_the_sources_is_that_of_what_is_compiled(tmp_path: Path) -> None:
    for name in (
        "Cargo.toml",
        "Cargo.lock",
        "rust-toolchain.toml",
        "crates/a/src/lib.rs",
        "schemes/b/mod.rs",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    before = wheels.digest(tmp_path)
    for name in ("crates/a/tests/one.rs", "schemes/b/experiments/two.toml", "schemes/b/README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("other", encoding="utf-8")
    assert wheels.digest(tmp_path) == before
    (tmp_path / "schemes/b/mod.rs").write_text("other", encoding="utf-8")
    assert wheels.digest(tmp_path) != before


def test_only_what_a_package_needs_is_taken_from_the_lock() -> None:
    rows = [
        "a==1 \\",
        "    --hash=sha256:1",
        "b-c==2 ; python_version < '4' \\",
        "    --hash=sha256:2",
        "d==3",
    ]
    lock = "\n".join(rows)
    assert wheels.locked({"b-c", "d"}, lock) == "\n".join(rows[2:])
    assert {"polars", "numpy", "scipy", "matplotlib"} <= wheels.needed("thalweg-papers")
    assert not {"pytest", "topohub", "maturin"} & wheels.needed("thalweg-papers")


@pytest.mark.parametrize(
    ("name", "link", "expected"),
    [
        ("docs/papers.md", "[a](../schemes/mca/README.md#idea)", "[a](schemes/mca.md#idea)"),
        (
            "docs/concepts/video.md",
            "[`b`](../../scenarios/rfc8867/a.toml)",
            "[`b`](../gallery/scenarios/rfc8867/a.md)",
        ),
        ("ARCHITECTURE.md", "[c](docs/internals/interest.md)", "[c](interest.md)"),
        ("schemes/reno/README.md", "[d](../README.md)", "[d](index.md)"),
        ("docs/concepts/video.md", "[`e`](../../scenarios/rfc8867)", "`e` (`scenarios/rfc8867`)"),
        ("docs/glossary.md", "[f](https://example.org/a)", "[f](https://example.org/a)"),
        ("docs/glossary.md", "```text\n[g](../README.md)\n```", "```text\n[g](../README.md)\n```"),
    ],
)
def test_links_of_pages_lead_to_their_places_on_the_site(name: str, link: str, expected: str) -> None:
    assert docsite.relinked(link, name) == expected


def test_scenarios_of_a_stack_that_is_off_have_no_page_on_the_site() -> None:
    assert docsite.place_of("scenarios/rfc8867/5.1-str0m.toml") is None
    usual = "scenarios/rfc8867/5.1-variable-capacity"
    assert docsite.place_of(f"{usual}.toml") == f"gallery/{usual}.md"


def test_pictures_of_the_gallery_are_of_papers_that_there_are() -> None:
    from thalweg import papers

    assert set(docsite.PICTURES) <= set(papers.names())
    for picture in docsite.PICTURES.values():
        assert (
            not picture or picture.startswith("figure ") or (docsite.ROOT / "docs/images" / picture).is_file()
        )


@pytest.mark.parametrize("name", ["Swift", "fast-tcp", "9lives", "shared", "reno", ""])
def test_reserved_and_invalid_names_are_refused(name: str) -> None:
    assert new_scheme.refuse(name, ROOT)


def test_a_kind_of_scheme_without_a_template_is_refused() -> None:
    assert "window, stream, router, forwarder, controller" in (
        new_scheme.refuse("swift", ROOT, "queue") or ""
    )


KEPT = ("reno", "ndnsieve")
"""Schemes that stand beside the new ones: `shared` is tested with Reno, and ndnSieve has the parts that no template has."""


def cut_tree(tree: Path, crates: list[str]) -> None:
    """Copies these crates, and the schemes of KEPT."""
    tree.mkdir(parents=True)
    kept = "|".join((*KEPT, "shared", "tests", "_templates"))
    wanted = re.compile(
        rf"Cargo\.lock|clippy\.toml|crates/({'|'.join(crates)})/.*|schemes/({kept})/.*|schemes/[^/]*"
    )
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in set(listed.stdout.split()):
        if wanted.fullmatch(name) and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    # Another version: cargo would otherwise take these crates for the crates of this tree, which have the same paths
    # below their roots.
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    text = re.sub(r'^version = ".*"', 'version = "0.0.1"', text, count=1, flags=re.MULTILINE)
    members = ", ".join(f'"crates/{name}"' for name in crates)
    text = re.sub(r"^members = .*", f'members = [{members}, "schemes"]', text, count=1, flags=re.MULTILINE)
    # profiles of packages that are not built here
    text = re.sub(r"^\[profile\.dev\.package\].*?(?=^\[)", "", text, count=1, flags=re.MULTILINE | re.DOTALL)
    (tree / "Cargo.toml").write_text(text, encoding="utf-8")
    lab = tree / "crates" / "lab" / "Cargo.toml"
    if lab.is_file():
        # QUIC stacks need schemes that are not here
        text = re.sub(r"^stacks = .*\n", "", lab.read_text(encoding="utf-8"), flags=re.MULTILINE)
        lab.write_text(re.sub(r"^(\w+) = \[.*\]$", r"\1 = []", text, flags=re.MULTILINE), encoding="utf-8")


def test_a_new_scheme_of_each_kind_builds_and_passes() -> None:
    # A tree of its own, built where the others are, so that libraries are not compiled again. Whole scenarios need a
    # build of `lab`, and are left to CI.
    whole = "THALWEG_SLOW" in os.environ
    tree = ROOT / "target" / "new-scheme"
    below = dependencies.ALLOWED["lab"] | dependencies.ALLOWED["sim"]
    lab = below - {"schemes", "stacks"} | {"lab"}
    shutil.rmtree(tree, ignore_errors=True)
    cut_tree(tree, sorted(lab if whole else dependencies.ALLOWED["schemes"]))
    names = {f"new_{kind}": kind for kind in new_scheme.FILES}
    for name, kind in names.items():
        assert new_scheme.refuse(name, tree, kind) is None
        new_scheme.copy(name, tree, kind)
    registry.refresh(tree)

    def tests(*argv: str, scheme: str = "") -> str:
        done = subprocess.run(
            ["cargo", "test", "--offline", "--profile", "suite", *argv],
            cwd=tree,
            env={
                **os.environ,
                "CARGO_TARGET_DIR": str(ROOT / "target"),
                **({"THALWEG_SCHEME": scheme} if scheme else {}),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    passed = tests("--package", "schemes", "--lib", "--test", "house")
    for name in names:
        own = re.findall(rf"^test {name}::tests::\w+ \.\.\. ok$", passed, flags=re.MULTILINE)
        assert len(own) >= 2, passed
        readme = (tree / "schemes" / name / "README.md").read_text(encoding="utf-8")
        assert f"# {registry.variant(name)}" in readme
        assert f'"{name}"' in readme
        if whole:
            tests("--package", "lab", "--test", "schemes", "--", "worlds::", "experiments::", scheme=name)
    assert not [found for found in citations.problems(tree / "schemes") if "schemes/new_" in found]


def test_the_verdicts_of_all_papers_are_a_table_by_evidence():
    import verdicts

    counts = {"reproduced": 3, "partly": 1, "not": 0, "untestable": 2, "phase_dependent": 6}
    counts |= {"fitted": "2/5", "conformance": "4/4"}
    counts |= {
        "derived": "0/0",
        "literal": "0/0",
        "set_up": "1/1",
        "not_specific": 6,
        "by_construction": 4,
        "mutants_killed": "9/10",
    }
    table = verdicts.table({"mca": counts})
    none = verdicts.table(
        dict.fromkeys(("cvihis", "mca", "srmcc"), counts | {"phase_dependent": 0, "not_specific": 0})
    )
    assert "| `cvihis` | 3 | 1 | 0 | 2 | – | 2 of 5 | 4 of 4 | – | – | 1 of 1 | 0 | 4 | 9 of 10 |" in none
    assert "| `srmcc` | 3 | 1 | 0 | 2 | 0 | 2 of 5 | 4 of 4 | – | – | 1 of 1 | – | 4 | 9 of 10 |" in none
    assert "| `mca` | 3 | 1 | 0 | 2 | – | 2 of 5 | 4 of 4 | – | – | 1 of 1 | – | 4 | 9 of 10 |" in none
    assert "(phase-dependent) for `cvihis` and `mca`; " in none
    assert "(not specific) for `mca` and `srmcc`.\n" in none
    assert "| `mca` | 3 | 1 | 0 | 2 | 6 | 2 of 5 | 4 of 4 | – | – | 1 of 1 | 6 | 4 | 9 of 10 |" in table
    assert verdicts.PAGE.read_text(encoding="utf-8").count(verdicts.BEGIN) == 1


def test_papers_that_were_not_tried_have_no_count_on_a_page():
    import reproductions
    import verdicts

    for page in (verdicts.PAGE, reproductions.PAGE):
        text = page.read_text(encoding="utf-8")
        heading = f"| paper | {' | '.join(verdicts.COLUMNS.values())} |"
        rows, papers = text[text.index(heading) :].partition("\n\n")[0].splitlines()[2:], {}
        for row in rows:
            name, *cells = [cell.strip(" `") for cell in row.strip("|").split("|")]
            cells = [cell.replace(" of ", "/").replace("–", "0/0") for cell in cells]
            papers[name] = dict(zip(verdicts.COLUMNS, cells, strict=True))
            papers[name] |= dict.fromkeys(verdicts.untried(name), 0)
        assert verdicts.table(papers) in text


def test_crates_without_a_notice_are_found() -> None:
    text = licenses.FILE.read_text(encoding="utf-8")
    crates = licenses.listed(text)
    assert list(licenses.differences(crates, text)) == []
    assert list(licenses.differences(crates | {("new", "1.0.0")}, text)) == ["misses new 1.0.0"]
    name, version = sorted(crates)[0]
    gone = list(licenses.differences(crates - {(name, version)}, text))
    assert gone == [f"has {name} {version}, which is not compiled in"]


def test_every_crate_in_the_wheel_has_its_notice() -> None:
    assert list(licenses.differences(licenses.compiled(), licenses.FILE.read_text(encoding="utf-8"))) == []


def test_a_crate_without_a_licence_file_has_the_text_of_its_licence(tmp_path: Path) -> None:
    crate = {
        "name": "bare",
        "manifest_path": str(tmp_path / "Cargo.toml"),
        "license": "MIT OR Apache-2.0",
        "authors": ["A Person <a@example.org>"],
    }
    assert licenses.texts(crate) == []
    assert "Copyright (c) A Person\n" in licenses.standard_text(crate)
    with pytest.raises(SystemExit, match="bare has no licence text"):
        licenses.standard_text({**crate, "license": "GPL-3.0"})


SIGNED_COLUMNS = re.compile(r"added|difference|change")
"""Headings of tables whose values can be negative."""

OLDER = {"reproductions.md"}
"""Pages of a release of all papers, whose tables are made with the next one."""


def test_no_interval_of_a_page_leaves_what_is_possible() -> None:
    number = r"(−?\d[\d\u202f]*(?:\.\d+)?)"
    seen = 0
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.name in OLDER:
            continue
        headings: list[str] = []
        for line in page.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
            if not cells or len(cells) != len(headings):
                headings = cells
            for heading, cell in zip(headings, cells, strict=True):
                found = re.fullmatch(rf"{number} ± {number}", cell)
                if found is None or SIGNED_COLUMNS.search(heading):
                    continue
                mean, half = found[1], found[2]
                seen += 1
                where = f"{page.name}: {cells[0]}, {heading}: {cell}"
                assert len(mean.partition(".")[2]) == len(half.partition(".")[2]), where
                assert float(half.replace("\u202f", "")) <= float(mean.replace("\u202f", "")), where
    assert seen > 200
