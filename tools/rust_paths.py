"""Which file of a Rust crate uses items of which other file, read from its paths without a compiler.

A path such as `crate::fabric::Port` or `super::ratio` counts for the file that defines the item, through any `use` that
re-exports it; a module declaration and a `use` of a module alone do not count. Code under `#[cfg(test)]` is left out.
What a macro defines without naming it is taken to be in the file of its module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

TOKEN = re.compile(
    r"""
    (?P<skip>//[^\n]*|/\*)
  | (?P<string>b?r(?P<hashes>\#*)"(?:.|\n)*?"(?P=hashes)|[bc]?"(?:[^"\\]|\\(?:.|\n))*")
  | (?P<char>b?'(?:[^'\\\n]|\\[^\n]{1,10}?)')
  | (?P<life>'\w+)
  | (?P<name>(?:r\#)?[A-Za-z_]\w*)
  | (?P<number>\d\w*)
  | (?P<sign>::|=>|[^\s])
    """,
    re.VERBOSE,
)
DEFINES = {"struct", "enum", "trait", "union", "type", "const", "static", "fn"}
NOT_NAMES = {"_", "fn", "mut", "unsafe", "extern", "async", "ref"}
CLOSING = {"{": "}", "(": ")", "[": "]"}


class Token(NamedTuple):
    """One word or sign, and its line."""

    text: str
    line: int
    kind: str


class Use(NamedTuple):
    """A name that a `use` brings in, `*` for all of them, with the path that it stands for."""

    name: str
    path: tuple[str, ...]
    line: int


@dataclass
class Module:
    """A module: where it stands and what its names mean."""

    file: Path
    folder: Path
    """Where its submodules are."""
    parent: Module | None = None
    children: dict[str, Module] = field(default_factory=dict)
    items: dict[str, Path] = field(default_factory=dict)
    """The file that defines an item. It is another one only for an exported macro."""
    uses: dict[str, Use] = field(default_factory=dict)
    globs: list[Use] = field(default_factory=list)
    paths: list[tuple[tuple[str, ...], int]] = field(default_factory=list)
    """Paths in code, with their lines."""
    names: dict[str, int] = field(default_factory=dict)
    """Names in code that are no part of a path, with the line of the first."""


class Edge(NamedTuple):
    """File `user` uses `name`, which `used` defines."""

    user: Path
    used: Path
    line: int
    name: str
    above: bool
    """Whether the module of `used` contains the module of `user`."""


def tokens(text: str) -> list[Token]:
    """All tokens but comments."""
    found, line, end, place = [], 1, 0, 0
    while match := TOKEN.search(text, place):
        line += text.count("\n", end, match.start())
        end = match.start()
        place = match.end()
        if match["skip"] == "/*":
            depth = 1
            for mark in re.compile(r"/\*|\*/").finditer(text, place):
                depth += 1 if mark[0] == "/*" else -1
                if depth == 0:
                    place = mark.end()
                    break
        elif match.lastgroup != "skip":
            kind = "string" if match["string"] else match.lastgroup or ""
            found.append(Token(match[0].removeprefix("r#") if kind == "name" else match[0], line, kind))
    return found


class Crate:
    """The modules of a crate, from its root file."""

    def __init__(self, root: Path) -> None:
        self.files: set[Path] = set()
        self.root = Module(root, root.parent)
        self._read(self.root)

    def edges(self) -> list[Edge]:
        """Every use of an item by another file, once for each line."""
        found = set()
        for module in self._all(self.root):
            for use in [*module.uses.values(), *module.globs]:
                self._add(found, module, use.path, use.line, glob=use.name == "*")
            for path, line in module.paths:
                self._add(found, module, path, line)
            for use in module.globs:
                target = self.resolve(module, use.path)
                if isinstance(target, Module):
                    for name, line in module.names.items():
                        file = self._member(target, name, set())
                        if isinstance(file, Path) and name not in module.items and name not in module.uses:
                            self._note(found, module, file, line, name)
        return sorted(found)

    def resolve(self, module: Module, path: tuple[str, ...]) -> Module | Path | None:
        """What a path in `module` leads to: a module, the file that defines an item, or nothing of this crate."""
        return self._resolve(module, path, set())

    def _resolve(self, module: Module, path: tuple[str, ...], seen: set) -> Module | Path | None:
        key = (id(module), path)
        if key in seen:
            return None
        seen.add(key)
        here: Module | Path | None = module
        names = list(path)
        rooted = False
        while names and names[0] in ("crate", "self", "super"):
            assert isinstance(here, Module)
            first = names.pop(0)
            here = {"crate": self.root, "self": here, "super": here.parent}[first]
            rooted = True
            if here is None:
                return None
        for index, name in enumerate(names):
            assert isinstance(here, Module)
            last = index == len(names) - 1
            if last and name in here.items:
                return here.items[name]
            found = self._member(here, name, seen)
            if found is None and not rooted and index == 0:
                return None
            if not isinstance(found, Module):
                return found or here.file
            here = found
        return here

    def _member(self, module: Module, name: str, seen: set) -> Module | Path | None:
        if name in module.children:
            return module.children[name]
        if name in module.items:
            return module.items[name]
        if name in module.uses:
            path = module.uses[name].path
            return None if path == (name,) else self._resolve(module, path, seen)
        for use in module.globs:
            target = self._resolve(module, use.path, set(seen))
            if isinstance(target, Module) and target is not module:
                key = (id(target), "*", name)
                if key in seen:
                    continue
                seen.add(key)
                if found := self._member(target, name, seen):
                    return found
        return None

    def _add(self, found: set, module: Module, path: tuple[str, ...], line: int, glob: bool = False) -> None:
        target = self.resolve(module, path)
        if isinstance(target, Path):
            self._note(found, module, target, line, "::".join(path) + ("::*" if glob else ""))

    @staticmethod
    def _note(found: set, module: Module, file: Path, line: int, name: str) -> None:
        if file != module.file:
            above = module.parent
            while above and above.file != file:
                above = above.parent
            found.add(Edge(module.file, file, line, name, above is not None))

    def _all(self, module: Module) -> list[Module]:
        return [module, *(below for child in module.children.values() for below in self._all(child))]

    def _read(self, module: Module) -> None:
        self.files.add(module.file)
        self._scan(module, tokens(module.file.read_text(encoding="utf-8")), items=True)

    def _scan(self, module: Module, code: list[Token], items: bool) -> None:
        """Reads what `code` defines and uses; `items`: it stands at the level of the module."""
        place, path = 0, None
        while place < len(code):
            token = code[place]
            following = code[place + 1].text if place + 1 < len(code) else ""
            if token.text == "#" and following in ("[", "!"):
                end = closing(code, place + 1 + (following == "!"))
                words = [each.text for each in code[place:end]]
                if words == ["#", "[", "cfg", "(", "test", ")"]:
                    place = item_end(code, end + 1)
                    path = None
                    continue
                if words[:4] == ["#", "[", "path", "="]:
                    path = words[4].strip('"')
                self._scan(module, code[place + 2 : end], items=False)
                place = end + 1
            elif token.text == "use" and token.kind == "name" and following not in ("<", ">", ","):
                end = next(at for at in range(place, len(code)) if code[at].text == ";")
                for use in use_tree(code[place + 1 : end]):
                    if use.name == "*":
                        module.globs.append(use)
                    elif use.name != "_" or use.path:
                        name = use.name if use.name != "_" else f"_{use.line}_{use.path[-1]}"
                        module.uses[name] = use
                place = end + 1
            elif token.text == "mod" and items and place + 2 < len(code) and code[place + 1].kind == "name":
                place = self._module(module, code, place, path)
                path = None
            elif token.text == "macro_rules" and following == "!":
                name, end = code[place + 2].text, closing(code, place + 3)
                module.items[name] = module.file
                words = [each.text for each in code[max(0, place - 20) : place]]
                if "macro_export" in words:
                    self.root.items.setdefault(name, module.file)
                self._paths(module, code[place + 4 : end])
                place = end + 1
            elif items and token.text in DEFINES and following not in NOT_NAMES and is_name(code, place + 1):
                module.items.setdefault(following, module.file)
                place += 2
            elif items and token.text in ("{", "(", "["):
                end = closing(code, place)
                # what an invoked macro defines is of the module; a body of a function or `impl` is not
                invoked = place > 1 and (code[place - 1].text == "!" or code[place - 2].text == "!")
                self._scan(module, code[place + 1 : end], items=invoked)
                place = end + 1
            else:
                place += self._path(module, code, place)

    def _module(self, module: Module, code: list[Token], place: int, path: str | None) -> int:
        name = code[place + 1].text
        inline = code[place + 2].text == "{"
        if inline:
            child = Module(module.file, module.folder / (path or name), module)
            module.children[name] = child
            end = closing(code, place + 2)
            self._scan(child, code[place + 3 : end], items=True)
            return end + 1
        if path:
            file = (module.file.parent / path).resolve()
            module.children[name] = Module(
                file, file.parent if file.stem == "mod" else file.with_suffix(""), module
            )
        else:
            file = module.folder / f"{name}.rs"
            file = file if file.exists() else module.folder / name / "mod.rs"
            module.children[name] = Module(file, module.folder / name, module)
        if file.exists():
            self._read(module.children[name])
        return place + 3

    def _paths(self, module: Module, code: list[Token]) -> None:
        place = 0
        while place < len(code):
            place += self._path(module, code, place)

    @staticmethod
    def _path(module: Module, code: list[Token], place: int) -> int:
        """Notes the path or name that begins at `place`; returns how many tokens it has."""
        token = code[place]
        before = code[place - 1].text if place else ""
        if token.kind != "name" or before in (".", "::", "$"):
            return 1
        names, at = [token.text], place + 1
        while at + 1 < len(code) and code[at].text == "::" and code[at + 1].kind == "name":
            names.append(code[at + 1].text)
            at += 2
        if len(names) > 1:
            module.paths.append((tuple(names), token.line))
        else:
            module.names.setdefault(token.text, token.line)
        return at - place


def is_name(code: list[Token], place: int) -> bool:
    """Whether a name stands there."""
    return place < len(code) and code[place].kind == "name"


def closing(code: list[Token], place: int) -> int:
    """Where the bracket that opens at `place` closes."""
    depth = 0
    for at in range(place, len(code)):
        if code[at].kind == "sign" and code[at].text in "{([":
            depth += 1
        elif code[at].kind == "sign" and code[at].text in "})]":
            depth -= 1
            if depth == 0:
                return at
    return len(code)


def item_end(code: list[Token], place: int) -> int:
    """Where the item that begins at `place` ends, with its other attributes before it."""
    use = False
    while place < len(code):
        text = code[place].text
        if text == "#":
            place = closing(code, place + 1)
        elif text == "use":
            use = True
        elif text == ";":
            return place + 1
        elif text in CLOSING and code[place].kind == "sign":
            place = closing(code, place)
            if text == "{" and not use:
                return place + 1
        place += 1
    return place


def use_tree(code: list[Token], prefix: tuple[str, ...] = ()) -> list[Use]:
    """The names that a `use` brings in."""
    path, place = prefix, 0
    while place < len(code):
        token = code[place]
        if token.text == "{":
            end = closing(code, place)
            found, start, depth = [], place + 1, 0
            for at in range(place + 1, end + 1):
                depth += (code[at].text == "{") - (code[at].text == "}")
                if at == end or (code[at].text == "," and depth == 0):
                    found += use_tree(code[start:at], path)
                    start = at + 1
            return found
        if token.text == "*":
            return [Use("*", path, token.line)]
        if token.text == "as":
            return [Use(code[place + 1].text, path, token.line)]
        if token.text == "self" and path:
            return [Use(path[-1], path, token.line)]
        if token.kind == "name":
            path = (*path, token.text)
        place += 1
    return [Use(path[-1], path, code[-1].line)] if code and path else []
