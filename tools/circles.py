"""Finds circles of files in a crate, a Python package and the web pages, and fails on any that is not allowed.

Files form a circle if each of them needs, directly or through others, every other. What a file needs is read from its
text: in Python every import, also one inside a function, but not one for type checkers only; in Rust every path to an
item that another file defines (`rust_paths.py`), but not one from a module to a module that contains it, because the
module contains the submodule that uses it; in TypeScript every import except imports of types.

It does not see what has no path in the text: the `__init__.py` that runs when a submodule is imported, `importlib`,
names from a module's `__getattr__`, and `$crate` in macros. Neither does it read the branch of `if not TYPE_CHECKING`,
needs between packages or crates, or modules that only `main.rs` declares.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from rust_paths import Crate

ROOT = Path(__file__).resolve().parent.parent

ALLOWED = {
    frozenset(
        {
            "crates/sim/src/hosts/any_node.rs",
            "crates/sim/src/hosts/clocks.rs",
            "crates/sim/src/hosts/endpoint.rs",
            "crates/sim/src/hosts/machines.rs",
        }
    ): "a state machine with a clock of its own contains the enum of all state machines, of which it is one",
}
"""Circles that stay, each with the reason. One that is gone or has other files fails, too."""

PYTHON = ["python/thalweg", "papers/thalweg_papers", "tests/python", "tests/oracle", "tools", "benches"]
"""Packages, and folders of modules that import each other by name."""
WEB = ["web/src", "web/studio"]


class Need(NamedTuple):
    """File `user` needs `used` in this line, for `name`."""

    user: str
    used: str
    line: int
    name: str


def circles(needs):
    """The files of each circle, each a sorted list, by Tarjan's algorithm without recursion."""
    after = defaultdict(set)
    for need in needs:
        if need.user != need.used:
            after[need.user].add(need.used)
    order, low, stack, held, found = {}, {}, [], set(), []
    for start in sorted(after):
        if start in order:
            continue
        work = [(start, iter(sorted(after[start])))]
        order[start] = low[start] = len(order)
        stack.append(start)
        held.add(start)
        while work:
            file, rest = work[-1]
            for used in rest:
                if used not in order:
                    order[used] = low[used] = len(order)
                    stack.append(used)
                    held.add(used)
                    work.append((used, iter(sorted(after[used]))))
                    break
                if used in held:
                    low[file] = min(low[file], order[used])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[file])
                if low[file] == order[file]:
                    members = []
                    while not members or members[-1] != file:
                        members.append(stack.pop())
                        held.discard(members[-1])
                    if len(members) > 1:
                        found.append(sorted(members))
    return sorted(found)


class Modules:
    """The modules of a Python package, or of a folder without one, by their dotted names."""

    def __init__(self, root, folder):
        base = root / folder
        self.package = base.name if (base / "__init__.py").exists() else ""
        self.files, self.trees = {}, {}
        for path in sorted(base.rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            name = ".".join([self.package, *parts] if self.package else parts)
            self.files[name] = path.relative_to(root).as_posix()
            self.trees[name] = ast.parse(path.read_text(encoding="utf-8"))
        self.exports = {name: self._exports(name) for name in self.files if self._is_package(name)}

    def needs(self):
        """Every import of another of these files."""
        for name, tree in self.trees.items():
            for node in imports(tree):
                for target, wanted in self._targets(name, node):
                    file = self._home(target, wanted)
                    if file and file != self.files[name]:
                        yield Need(self.files[name], file, node.lineno, wanted or target)

    def _is_package(self, name):
        return self.files[name].endswith("/__init__.py")

    def _targets(self, name, node):
        """Modules that an import names, each with the name taken from it, if any."""
        if isinstance(node, ast.Import):
            return [(alias.name, None) for alias in node.names]
        module = node.module or ""
        if node.level:
            above = name.split(".") if self._is_package(name) else name.split(".")[:-1]
            above = above[: len(above) - node.level + 1]
            module = ".".join([*above, *([module] if module else [])])
        return [(module, alias.name) for alias in node.names]

    def _home(self, module, name, seen=()):
        """The file of a module, or the one that defines a name in it, through the imports of packages."""
        if name and f"{module}.{name}" in self.files:
            return self.files[f"{module}.{name}"]
        if module not in self.files:
            return None
        if name and name in self.exports.get(module, {}) and (module, name) not in seen:
            return self._home(*self.exports[module][name], (*seen, (module, name))) or self.files[module]
        return self.files[module]

    def _exports(self, name):
        """What a package imports, also for type checkers only, by the names that it has there."""
        found = {}
        for node in ast.walk(self.trees[name]):
            if isinstance(node, ast.ImportFrom):
                for alias, target in zip(node.names, self._targets(name, node), strict=True):
                    found[alias.asname or alias.name] = target
        return found


def imports(tree):
    """Every import of a file that runs, wherever it is: those for type checkers only do not."""
    if isinstance(tree, ast.Import | ast.ImportFrom):
        yield tree
    elif isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.dump(tree.test):
        for node in tree.orelse:
            yield from imports(node)
    else:
        for node in ast.iter_child_nodes(tree):
            yield from imports(node)


def rust(root, manifest):
    """Every need between the files of a crate."""
    folder = manifest.parent
    lib = next((path for path in [folder / "src/lib.rs", folder / "lib.rs"] if path.exists()), None)
    for use in Crate(lib).edges() if lib else []:
        if not use.above:
            yield Need(named(root, use.user), named(root, use.used), use.line, use.name)


WEB_IMPORT = re.compile(
    r"""\b(?:import|export)\b(?!\s*type\b)(?P<what>[^;'"]*?)(?:\bfrom\s*)?["'](?P<path>\.[^"']*)["']"""
    r"""|\bimport\(\s*["'](?P<lazy>\.[^"']*)["']\s*\)"""
)
TYPES_ONLY = re.compile(r"\s*\{(\s*type\s[^,}]*,?)+\s*\}\s*")


def web(root, folder):
    """Every need between files of TypeScript and Svelte."""
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".ts", ".svelte", ".mjs") or "node_modules" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        for match in WEB_IMPORT.finditer(text):
            if match["what"] and TYPES_ONLY.fullmatch(match["what"]):
                continue
            target = (path.parent / (match["path"] or match["lazy"]).split("?")[0]).resolve()
            forms = [target, Path(f"{target}.ts"), target / "index.ts"]
            if file := next((form for form in forms if form.is_file()), None):
                line = text.count("\n", 0, match.start()) + 1
                yield Need(named(root, path), named(root, file), line, target.name)


def named(root, path):
    """A path as it is printed."""
    return path.resolve().relative_to(root.resolve()).as_posix()


def places(root):
    """Each crate, package and folder of pages by name, with the needs between its files."""
    for manifest in sorted(root.glob("*/Cargo.toml")) + sorted(root.glob("crates/**/Cargo.toml")):
        yield named(root, manifest.parent), list(rust(root, manifest))
    for folder in PYTHON:
        if (root / folder).is_dir():
            yield folder, list(Modules(root, folder).needs())
    pages = [need for folder in WEB for need in web(root, folder)]
    if pages:
        yield "web", pages


def described(files, needs):
    """The lines that describe a circle: its files, and which line of which needs what of which."""
    uses = defaultdict(dict)
    for need in sorted(needs, key=lambda need: (need.user, need.used, need.line)):
        if need.user in files and need.used in files and need.user != need.used:
            first = need.name.split("::")[0]
            named = uses[need.user, need.used]
            # `Time::new` says nothing new after `use crate::clock::Time`
            if not any(name.split("::")[-1] == first for name in named):
                named.setdefault(need.name, need.line)
    yield f"circle of {len(files)} files:"
    for (user, used), lines in sorted(uses.items()):
        what = ", ".join(f"{name} in line {line}" for name, line in lines.items())
        yield f"  {user} needs {used}: {what}"


def problems(root, allowed):
    """One entry per circle that is not allowed, and per allowed one that no longer exists."""
    remaining = dict(allowed)
    for place, needs in places(root):
        for files in circles(needs):
            if remaining.pop(frozenset(files), None) is None:
                yield f"{place}: " + "\n".join(described(files, needs))
    for files in remaining:
        yield f"no longer a circle, remove it from ALLOWED in tools/circles.py: {', '.join(sorted(files))}"


def main():
    found = list(problems(ROOT, ALLOWED))
    for problem in found:
        print(problem)
    if not found:
        print(
            f"no circle between files but {len(ALLOWED)} that {'is' if len(ALLOWED) == 1 else 'are'} allowed"
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
