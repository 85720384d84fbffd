"""Types of scenario keys, from the JSON Schema: as text for the reference page, as classes for Python."""

import json
import keyword
import re
import textwrap
from dataclasses import dataclass

MARK = "Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file."
HEAD = f'''"""Builders of the parts of a scenario: a class for each table of a scenario file, which takes its keys.

A topology has a class for each kind. The first key of a table may go by position where the table needs it. A key
that Python reserves has an underscore behind it: `from_`, `class_`.

{MARK}
"""
'''
MODULE_HEAD = f'''"""Builders: {{about}}.

{MARK}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from collections.abc import {{abstract}}
    from typing import {{typing}}
'''
MODULES = {
    "topologies": ("kinds of topologies, nodes and their clocks", "NetworkNode Clock"),
    "links": ("links and what they do to packets", "Link Port ModelTrace Impair Bursts Bucket"),
    "queues": (
        "queue disciplines",
        "CakeQueue CodelQueue Dualpi2Queue FqQueue FqCodelQueue PieQueue RedQueue",
    ),
    "routing": ("routes, and routing by group name", "Routing Route Icn"),
    "ndn": ("Named Data Networking", "Ndn Store NodeStore NameRoute Producer Consumer"),
    "sdn": ("software-defined networking", "Sdn ControlLink"),
    "flows": ("flows and their ends", "Flow Source Member Churn Receivers Tcp Quic Stream Commands"),
    "traffic": ("applications, arrivals and video", "App Object Arrivals Encoder Player"),
    "files": ("the file, events, and what is recorded", "File Event Record Window Emulation"),
}
"""What the modules of `thalweg.parts` are about, and the tables of each. Kinds of topologies are in the first."""
PLAIN = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "Mapping[str, Any]",
}
WIDTH = 110


def value_text(key):
    """The accepted values of a key, as text; `key` is its JSON Schema."""
    for part in key.get("allOf", []):
        return value_text(part)
    if "$ref" in key:
        name = key["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in key or "oneOf" in key:
        return " or ".join(dict.fromkeys(value_text(part) for part in key.get("anyOf") or key["oneOf"]))
    if "enum" in key:
        return ", ".join(f"`{word}`" for word in key["enum"])
    if "const" in key:
        return f"`{json.dumps(key['const'])}`"
    if key.get("type") == "array":
        return f"list of {value_text(key['items'])}" if isinstance(key.get("items"), dict) else "list"
    if "examples" in key:
        return "such as " + ", ".join(
            f"`{json.dumps(example, ensure_ascii=False)}`" for example in key["examples"]
        )
    return {"integer": "whole number", "object": "table", "string": "text", "boolean": "true or false"}.get(
        key.get("type"), key.get("type", "any value")
    )


def python_type(key):
    """The type of a key in Python; `key` is its JSON Schema. Words and quantities are texts, which the core reads."""
    for part in key.get("allOf", []):
        return python_type(part)
    if "anyOf" in key:
        return " | ".join(dict.fromkeys(python_type(part) for part in key["anyOf"]))
    if "const" in key:
        return type(key["const"]).__name__
    if key.get("type") == "array":
        return f"Iterable[{python_type(key['items'])}]"
    return PLAIN["object" if "$ref" in key else key["type"]]


def example(key):
    """A value of a key that takes texts only, such as a quantity; empty for any other."""
    if python_type(key) != "str":
        return ""
    for part in [*key.get("allOf", []), *key.get("anyOf", [])]:
        if found := example(part):
            return found
    values = key.get("examples") or key.get("enum") or [key.get("const", "")]
    return values[0]


def python_name(key):
    """The name of a key in Python."""
    return f"{key}_" if keyword.iskeyword(key) else key


def docstring(about, properties):
    """The description of a table and of its keys, as the lines of a docstring."""
    first, _, rest = about.partition(". ")
    yield f'    """{first.removesuffix(".")}.'
    yield ""
    if rest:
        yield from textwrap.wrap(rest, WIDTH, initial_indent="    ", subsequent_indent="    ")
        yield ""
    for key, row in properties.items():
        value = re.sub(r"\[(\w+)\]\(#\w+\)", r"`\1`", value_text(row))
        text = f"- `{python_name(key)}` ({value}): {row['description']}"
        yield from textwrap.wrap(
            text, WIDTH, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False
        )
    yield '    """'


@dataclass
class Builder:
    """A class of a module."""

    name: str
    about: str
    properties: dict
    required: tuple = ()
    kind: str | None = None
    """The value of the key `kind`, which the class sets by itself."""

    @property
    def lead(self):
        """The key that may go by position."""
        first = next(iter(self.properties))
        return first if first in self.required else None

    def typed(self):
        """The type of its keys."""
        yield from ("", f"    class {self.name}Keys(TypedDict, total=False):")
        yield from (f'        """Keys of `{self.name}`."""', "")
        for key, row in self.properties.items():
            if key != self.lead:
                of = f"Required[{python_type(row)}]" if key in self.required else f"{python_type(row)} | None"
                yield f"        {python_name(key)}: {of}"

    def accepted(self):
        """The keys with their types and, for texts, an example: for the signature and for messages."""
        yield "    KEYS: ClassVar = {"
        for key, row in self.properties.items():
            required = key in self.required
            of = python_type(row) if required else f"{python_type(row)} | None"
            yield f"        {json.dumps(python_name(key))}: {(of, example(row))!r},".replace("'", '"')
        yield "    }"

    def text(self):
        """The class."""
        head = fixed = ""
        if self.lead:
            head = f"{python_name(self.lead)}: {python_type(self.properties[self.lead])}, "
            fixed = f'"{self.lead}": {python_name(self.lead)}, '
        elif self.kind:
            fixed = f'"kind": "{self.kind}", '
        keys = f"{{{fixed}**keys}}" if fixed else "keys"
        yield from ("", "", f"class {self.name}(Part):")
        yield from docstring(self.about, self.properties)
        yield ""
        yield from self.accepted()
        yield from ("", f"    def __init__(self, {head}**keys: Unpack[{self.name}Keys]) -> None:")
        yield f"        super().__init__({keys})"


def kinds(table):
    """A class for each kind of a table whose keys depend on its kind."""
    kind = table["properties"]["kind"]
    meanings = dict(zip(kind["enum"], kind["enumDescriptions"], strict=True))
    for row in table["allOf"]:
        word = row["if"]["properties"]["kind"]["const"]
        keys = [key for key in row["then"]["propertyNames"]["enum"] if key != "kind"]
        name = "GraphML" if word == "graphml" else word.title().replace("_", "")
        properties = {key: kind_description(word, meanings, table["properties"][key]) for key in keys}
        yield Builder(name, meanings[word], properties, kind=word)


def kind_description(word, words, row):
    """A key of a table with what its description says of one kind: `star: hosts around the hub.`."""
    any_of = "|".join(words)
    _, *parts = re.split(rf"(?:^|(?<=\. ))((?:{any_of})(?:, (?:{any_of}))*): ", row["description"])
    descriptions = dict(zip(parts[::2], parts[1::2], strict=True))
    own = next(text for kinds, text in descriptions.items() if word in kinds.split(", ")).strip()
    return {**row, "description": own[0].upper() + own[1:]}


def module(about, builders):
    """The text of a module with these classes, each after its keys."""
    lines = [line for one in builders for line in one.typed()]
    lines += [line for one in builders for line in one.text()]
    code = "\n".join(
        line for line in lines if re.match(r"        \w+: |    def |    class |    KEYS: ", line)
    )
    used = [
        ", ".join(name for name in names if re.search(rf"\b{name}\b", code))
        for names in (("Iterable", "Mapping"), ("Any", "ClassVar", "Required", "TypedDict", "Unpack"))
    ]
    head = MODULE_HEAD.format(about=about, abstract=used[0], typing=used[1])
    return (
        (head if used[0] else head.replace("    from collections.abc import \n", ""))
        + "\n".join(lines)
        + "\n"
    )


def package(schema):
    """Names and texts of the modules of `thalweg.parts`."""
    homes = {name: module for module, (_, names) in MODULES.items() for name in names.split()}
    modules = {module: [] for module in MODULES}
    for name, table in schema["$defs"].items():
        if name == "Topology":
            modules["topologies"][:0] = kinds(table)
        elif name in homes:
            required = tuple(table.get("required", ()))
            modules[homes[name]].append(Builder(name, table["description"], table["properties"], required))
        else:
            raise SystemExit(f"tools/builders.py: add the table {name} to a module of MODULES")
    modules["files"].append(Builder("File", schema["description"], schema["properties"]))
    imports, exported = [], []
    for name, builders in sorted(modules.items()):
        yield f"_{name}.py", module(MODULES[name][0], builders)
        names = sorted(one.name for one in builders)
        exported += names
        line = f"from ._{name} import {', '.join(names)}"
        if len(line) > WIDTH:
            line = "\n".join((f"from ._{name} import (", *(f"    {one}," for one in names), ")"))
        imports.append(line)
    exported = "".join(f'    "{name}",\n' for name in sorted(exported))
    yield "__init__.py", HEAD + "\n" + "\n".join(imports) + f"\n\n__all__ = [\n{exported}]\n"
