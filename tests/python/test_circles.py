"""Circles between files: planted ones are found with their lines, and what is none is not reported."""

from __future__ import annotations

from pathlib import Path

import circles


def plant(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(root: Path, allowed: dict[frozenset[str], str] | None = None) -> list[str]:
    return list(circles.problems(root, allowed or {}))


def crate(root: Path, files: dict[str, str]) -> None:
    plant(root, {"crates/net/Cargo.toml": '[package]\nname = "net"\n'})
    plant(root / "crates/net/src", files)


def package(root: Path, files: dict[str, str]) -> None:
    plant(root / "python/thalweg", {"__init__.py": "", **files})


def test_an_import_inside_a_function_closes_a_circle(tmp_path: Path) -> None:
    package(tmp_path, {"a.py": "from .b import B\n", "b.py": "def f():\n    from . import a\n    return a\n"})
    (problem,) = found(tmp_path)
    assert problem.splitlines() == [
        "python/thalweg: circle of 2 files:",
        "  python/thalweg/a.py needs python/thalweg/b.py: B in line 1",
        "  python/thalweg/b.py needs python/thalweg/a.py: a in line 2",
    ]


def test_names_from_a_package_count_for_the_module_that_defines_them(tmp_path: Path) -> None:
    package(
        tmp_path,
        {
            "report/__init__.py": "from ._run import page\n",
            "report/_run.py": "from ..result import Result\n",
            "result.py": "def page():\n    from .report import page\n",
        },
    )
    (problem,) = found(tmp_path)
    assert "circle of 2 files" in problem
    assert "python/thalweg/result.py needs python/thalweg/report/_run.py: page in line 2" in problem


def test_imports_for_type_checkers_are_no_needs(tmp_path: Path) -> None:
    lines = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import A\n"
    package(tmp_path, {"a.py": "from .b import B\n", "b.py": lines})
    assert found(tmp_path) == []


def test_modules_of_a_folder_without_a_package_are_read(tmp_path: Path) -> None:
    plant(tmp_path / "tools", {"a.py": "import b\n", "b.py": "import a\n"})
    assert len(found(tmp_path)) == 1


def test_a_re_exported_item_of_rust_counts_for_the_file_that_defines_it(tmp_path: Path) -> None:
    crate(
        tmp_path,
        {
            "lib.rs": "mod queue;\nmod port;\npub use queue::Passage;\n",
            "queue/mod.rs": "mod kinds;\npub use kinds::Passage;\n",
            "queue/kinds.rs": "use crate::port::Port;\npub struct Passage(Port);\n",
            "port.rs": "use units::Time;\nuse crate::{Passage as P};\npub struct Port;\n",
        },
    )
    (problem,) = found(tmp_path)
    assert problem.splitlines() == [
        "crates/net: circle of 2 files:",
        "  crates/net/src/port.rs needs crates/net/src/queue/kinds.rs: crate::Passage in line 2",
        "  crates/net/src/queue/kinds.rs needs crates/net/src/port.rs: crate::port::Port in line 1",
    ]


def test_paths_in_code_and_globs_of_rust_are_needs(tmp_path: Path) -> None:
    crate(
        tmp_path,
        {
            "lib.rs": "mod a;\nmod b;\n",
            "a.rs": 'use super::b;\npub const STEP: u64 = 1;\npub fn f() -> u64 { b::g(r#"crate::b"#) }\n',
            "b.rs": "use super::a::*;\n// f is of a.rs\npub fn g(_: &'static str) -> u64 { STEP + u64::from(b'\"') }\n",
        },
    )
    (problem,) = found(tmp_path)
    assert "crates/net/src/a.rs needs crates/net/src/b.rs: b::g in line 3" in problem
    assert "crates/net/src/b.rs needs crates/net/src/a.rs: STEP in line 3" in problem


def test_items_of_a_module_that_contains_the_user_and_tests_are_no_needs(tmp_path: Path) -> None:
    crate(
        tmp_path,
        {
            "lib.rs": "mod a;\nmod b;\npub struct Limit;\n",
            "a.rs": "mod part;\nuse part::Part;\npub struct Params(Part);\n",
            "a/part.rs": "#[cfg(test)]\nmod tests {\n  use crate::b::B;\n}\npub struct Part(super::Params, crate::Limit);\n",
            "b.rs": "use crate::a::Params;\npub struct B;\n#[cfg(test)]\nmod tests;\n",
            "b/tests.rs": "use crate::a::Params;\n",
        },
    )
    assert found(tmp_path) == []


def test_imports_of_pages_are_needs_but_those_of_types(tmp_path: Path) -> None:
    plant(
        tmp_path / "web/src",
        {
            "scene.ts": 'import {\n  number,\n} from "./format";\nimport type { Box } from "./grids";\n',
            "grids.ts": 'import { svg } from "./scene";\n',
            "format.ts": 'import View from "./View.svelte";\n',
            "View.svelte": '<script lang="ts">\n  import { svg, type Scene } from "./scene";\n</script>\n',
        },
    )
    (problem,) = found(tmp_path)
    assert problem.splitlines() == [
        "web: circle of 3 files:",
        "  web/src/View.svelte needs web/src/scene.ts: scene in line 2",
        "  web/src/format.ts needs web/src/View.svelte: View.svelte in line 1",
        "  web/src/scene.ts needs web/src/format.ts: format in line 1",
    ]


def test_an_allowed_circle_passes_until_it_is_gone(tmp_path: Path) -> None:
    allowed = {frozenset({"python/thalweg/a.py", "python/thalweg/b.py"}): "two halves of one type"}
    package(tmp_path, {"a.py": "from . import b\n", "b.py": "from . import a\n"})
    assert found(tmp_path, allowed) == []
    package(tmp_path, {"b.py": ""})
    (problem,) = found(tmp_path, allowed)
    assert "no longer a circle" in problem
