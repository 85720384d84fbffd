"""Completion of scenario files: what can stand at a place of the text, from the JSON Schema of scenarios."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..catalogue import schema, series

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Node = dict[str, Any]
Path = tuple[str, ...]
Kind = Literal["key", "value", "header", "nothing"]

_BARE = re.compile(r"[A-Za-z0-9_+:.-]+")
_ENTRY = re.compile(r"^[ \t]*([A-Za-z0-9_-]+)[ \t]*=[ \t]*(?:\"([^\"\n]*)\"|'([^'\n]*)')?", re.MULTILINE)
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass
class Frame:
    """A table, an inline table or a list that is open at a place of the text."""

    kind: Literal["table", "inline", "list"]
    path: Path
    key: Path | None = None
    """The key whose value follows; None where a key is expected."""
    seen: dict[str, str] = field(default_factory=dict)
    """Keys before the place, with the texts of those that have one."""


@dataclass
class Place:
    """A place in the text: what is expected there, and the beginning of it that is written already."""

    kind: Kind
    frames: list[Frame]
    written: str = ""
    lists: bool = False
    """In a header: the header of an entry of a list, `[[flows]]`."""

    @property
    def path(self) -> Path:
        """The keys that lead to the table, or to the value."""
        frame = self.frames[-1]
        return frame.path + (frame.key or ())


def cursor_position(before: str) -> Place:
    """The place after this text. The text may have mistakes."""
    scanner = _Scanner(before)
    return scanner.place()


class _Scanner:
    """Reads TOML from the start to the place, and keeps what is open."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.frames = [Frame("table", ())]
        self.words: list[str] = []

    def place(self) -> Place:
        text = self.text
        while self.at < len(text):
            letter = text[self.at]
            if letter in " \t\r":
                self.at += 1
            elif letter == "\n":
                self.at += 1
                self.end_of_line()
            elif letter == "#":
                end = text.find("\n", self.at)
                if end < 0:
                    return Place("nothing", self.frames)
                self.at = end
            elif letter in "\"'":
                if (found := self.string()) is not None:
                    return found
            elif letter == "[" and self.frames[-1].kind == "table" and self.frames[-1].key is None:
                if (found := self.header()) is not None:
                    return found
            elif bare := _BARE.match(text, self.at):
                self.at = bare.end()
                if self.at == len(text):
                    return self.expected(bare[0])
                self.word(bare[0], split=True)
            else:
                self.sign(letter)
                self.at += 1
        return self.expected("")

    def expected(self, written: str) -> Place:
        frame = self.frames[-1]
        if frame.kind == "list" or frame.key is not None:
            # a second word cannot follow a value
            return Place("nothing" if self.words and not written else "value", self.frames, written)
        if self.words:
            return Place("nothing", self.frames)
        head, dot, last = written.rpartition(".")
        if dot:
            inner = Frame(frame.kind, frame.path + tuple(head.split(".")))
            return Place("key", [*self.frames, inner], last)
        return Place("key", self.frames, written)

    def word(self, word: str, *, split: bool) -> None:
        frame = self.frames[-1]
        if frame.kind == "list":
            return
        if frame.key is None:
            self.words += [part for part in word.split(".") if part] if split else [word]
        else:
            frame.seen[frame.key[0]] = word
            self.words = [word]

    def sign(self, letter: str) -> None:
        frame = self.frames[-1]
        if letter == "=":
            frame.key, self.words = tuple(self.words), []
            if frame.key:
                frame.seen.setdefault(frame.key[0], "")
        elif letter in "{[":
            path = frame.path + (frame.key or ())
            self.frames.append(Frame("inline" if letter == "{" else "list", path))
            self.words = []
        elif letter in "}]" and len(self.frames) > 1:
            self.frames.pop()
            self.words = ["}"]
        elif letter == ",":
            if frame.kind == "inline":
                frame.key = None
            self.words = []

    def end_of_line(self) -> None:
        if self.frames[-1].kind == "table":
            self.frames[-1].key, self.words = None, []

    def string(self) -> Place | None:
        quote = self.text[self.at]
        mark = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        begin = end = self.at + len(mark)
        while end < len(self.text) and not self.text.startswith(mark, end):
            if len(mark) == 1 and self.text[end] == "\n":
                # not closed: a mistake that ends with the line
                self.at = end
                return None
            end += 2 if quote == '"' and self.text[end] == "\\" else 1
        if end >= len(self.text):
            frame = self.frames[-1]
            value = frame.kind == "list" or frame.key is not None
            return Place(
                "value" if value and len(mark) == 1 else "nothing", self.frames, self.text[self.at :]
            )
        self.word(self.text[begin:end], split=False)
        self.at = end + len(mark)
        return None

    def header(self) -> Place | None:
        end = self.text.find("\n", self.at)
        line = self.text[self.at :] if end < 0 else self.text[self.at : end]
        lists = line.startswith("[[")
        inside = line.lstrip("[")
        if end < 0 and "]" not in inside:
            return Place("header", [Frame("table", ())], inside.strip(), lists)
        name = inside.partition("]")[0]
        path = tuple(part.strip().strip("\"'") for part in name.split(".") if part.strip())
        self.frames = [Frame("table", path)]
        self.words = []
        self.at += len(line)
        return None


def complete(before: str, after: str = "") -> dict[str, Any]:
    """What can stand between two parts of a text: `{written, options}`.

    `written` is the part before the place that an option replaces. An option has `label`, `type`, `detail`, `info` and
    `apply`, the text to insert.
    """
    place = cursor_position(before)
    _see_after(place.frames, after)
    if place.kind == "header":
        return {"written": place.written, "options": list(_headers(place.lists))}
    if place.kind == "nothing":
        return {"written": "", "options": []}
    nodes = _nodes(place)
    if place.kind == "key":
        options = list(_keys(nodes, place))
    else:
        if place.path == ("record", "series"):
            # of the schema they are any text
            names, meanings = zip(*((row["name"], row["definition"]) for row in series()), strict=True)
            nodes.append({"enum": names, "enumDescriptions": meanings})
        options = list(_values(nodes, place.written[:1] if place.written[:1] in ("'", '"') else '"'))
    return {"written": place.written, "options": options}


def _see_after(frames: list[Frame], after: str) -> None:
    """Adds the keys that follow in the table of the last header."""
    rest = after[after.index("\n") :] if "\n" in after else ""
    if found := _HEADER.search(rest):
        rest = rest[: found.start()]
    for entry in _ENTRY.finditer(rest):
        frames[0].seen.setdefault(entry[1], entry[2] or entry[3] or "")


def _nodes(place: Place) -> list[Node]:
    """The parts of the schema that describe the table, or the value, at a place."""
    nodes = [schema()]
    # what is written beside a key selects its schema, such as the parameters of a scheme
    beside = {frame.path: frame.seen for frame in place.frames}
    for depth, key in enumerate(place.path):
        level = _expanded(nodes, beside.get(place.path[:depth], {}))
        nodes = [node["properties"][key] for node in level if key in node.get("properties", {})]
    return list(_expanded(nodes, place.frames[-1].seen))


def _expanded(nodes: Iterable[Node], seen: Mapping[str, str]) -> Iterator[Node]:
    """The schemas with all that they refer to; for a list, the schemas of its entries."""
    for node in nodes:
        yield node
        if "$ref" in node:
            yield from _expanded([schema()["$defs"][node["$ref"].rsplit("/", 1)[-1]]], seen)
        for part in node.get("allOf", ()):
            if "if" not in part:
                yield from _expanded([part], seen)
            elif _holds(part["if"], seen):
                yield from _expanded([part["then"]], seen)
        for word in ("anyOf", "oneOf"):
            yield from _expanded(node.get(word, ()), seen)
        if isinstance(node.get("items"), dict):
            yield from _expanded([node["items"]], seen)


def _holds(condition: Node, seen: Mapping[str, str]) -> bool:
    properties = condition.get("properties", {})
    return all(seen.get(key) == node.get("const") for key, node in properties.items())


def _keys(nodes: list[Node], place: Place) -> Iterator[dict[str, Any]]:
    allowed = [
        set(node["propertyNames"]["enum"]) for node in nodes if "enum" in node.get("propertyNames", {})
    ]
    required = {key for node in nodes for key in node.get("required", ())}
    given = set(place.frames[-1].seen) - {place.written}
    told: set[str] = set()
    for node in nodes:
        for key, inner in node.get("properties", {}).items():
            if key in given or key in told or any(key not in names for names in allowed):
                continue
            told.add(key)
            kind = _kind(inner)
            # the first key of a table that must be there comes first
            yield {
                "label": key,
                "type": "property",
                "detail": f"{kind}, required" if key in required else kind,
                "info": _about(inner),
                "apply": f"{key} = ",
                "boost": 1 if key in required else 0,
            }


def _values(nodes: list[Node], quote: str) -> Iterator[dict[str, Any]]:
    told: set[str] = set()
    for node in nodes:
        meanings = node.get("enumDescriptions", [])
        found: list[tuple[Any, str, str]] = [
            (value, "enum", meanings[index] if index < len(meanings) else "")
            for index, value in enumerate(node.get("enum", []))
        ]
        found += [(node["const"], "enum", "")] if "const" in node else []
        found += [(value, "text", "example") for value in node.get("examples", [])]
        found += [(value, "keyword", "") for value in (True, False) if node.get("type") == "boolean"]
        for value, kind, meaning in found:
            text = f"{quote}{value}{quote}" if isinstance(value, str) else json.dumps(value)
            if text not in told:
                told.add(text)
                yield {
                    "label": text,
                    "type": kind,
                    "detail": "" if kind == "enum" else meaning,
                    "info": meaning if kind == "enum" else "",
                    "apply": text,
                    "boost": 0,
                }


def _headers(lists: bool) -> Iterator[dict[str, Any]]:
    """Names of tables, or of lists of tables."""
    for key, node in schema()["properties"].items():
        is_list = any(inner.get("type") == "array" for inner in _shallow(node))
        is_table = any(inner.get("type") == "object" for inner in _shallow(node))
        if is_list if lists else is_table and not is_list:
            yield {
                "label": key,
                "type": "namespace",
                "detail": _kind(node),
                "info": _about(node),
                "apply": key,
                "boost": 0,
            }


def _shallow(node: Node) -> Iterator[Node]:
    """A schema and those that it refers to, without the entries of lists."""
    yield node
    if "$ref" in node:
        yield from _shallow(schema()["$defs"][node["$ref"].rsplit("/", 1)[-1]])
    for word in ("allOf", "anyOf", "oneOf"):
        for part in node.get(word, ()):
            if "if" not in part:
                yield from _shallow(part)


def _kind(node: Node) -> str:
    """The kind of a value in a word or two."""
    parts = list(_shallow(node))
    if any("enum" in part for part in parts):
        return "choice"
    examples = [example for part in parts for example in part.get("examples", [])]
    if examples:
        return f"such as {json.dumps(examples[0], ensure_ascii=False)}"
    words = {
        "string": "text",
        "boolean": "true or false",
        "integer": "whole number",
        "number": "number",
        "array": "list",
        "object": "table",
    }
    types = [part.get("type") for part in parts]
    return " or ".join(dict.fromkeys(words[kind] for kind in types if isinstance(kind, str))) or "value"


def _about(node: Node) -> str:
    return str(next((part["description"] for part in _shallow(node) if "description" in part), ""))
