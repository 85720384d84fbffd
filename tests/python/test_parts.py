"""Every queue discipline, impairment, model of links and traffic, and scheme of an IP network is in a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import thalweg as tw
from thalweg import catalogue

ROOT = Path(__file__).resolve().parents[2]


def pairs(tree: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every key of a scenario, dotted keys of sweeps taken apart, with its texts; `""` for a value that is no text."""
    if isinstance(tree, dict):
        for dotted, value in tree.items():
            for part in dotted.split("."):
                yield part, ""
            yield from pairs(value, dotted.rsplit(".", 1)[-1])
    elif isinstance(tree, list):
        for value in tree:
            yield from pairs(value, key)
    else:
        yield key, tree if isinstance(tree, str) else ""


@cache
def used() -> frozenset[tuple[str, str]]:
    """The keys and values of all scenarios of the folder; files of `broken` are no examples."""
    files = [
        file
        for file in (ROOT / "scenarios").rglob("*.toml")
        # a feature that is off by default
        if "broken" not in file.parts and 'stack = "str0m"' not in file.read_text(encoding="utf-8")
    ]
    assert len(files) >= 40
    return frozenset(pair for file in files for pair in pairs(tw.Scenario.load(file).tree))


def words(part: Any) -> set[str]:
    """The words that a part of the schema allows."""
    if isinstance(part, list):
        return set().union(*map(words, part))
    if not isinstance(part, dict):
        return set()
    if "$ref" in part:
        return words(catalogue.schema()["$defs"][part["$ref"].rsplit("/", 1)[-1]])
    own = {word for word in [*part.get("enum", []), part.get("const")] if isinstance(word, str)}
    return own | words([part.get(key, []) for key in ("anyOf", "oneOf", "allOf")])


def values(table: str, key: str) -> list[str]:
    """The words that a key of a table can have."""
    found = sorted(words(catalogue.schema()["$defs"][table]["properties"][key]))
    assert found
    return found


def parts() -> list[tuple[str, str]]:
    """Keys and values that scenarios must have."""
    keys = [
        *catalogue.schema()["$defs"]["Impair"]["properties"],
        "loss",
        "policer",
        "shaper",
        "trace",
        "mark_above",
    ]
    keys += ["churn", "encoder", "think", "sizes", "size_shape", "size_variation", "file", "load", "duration"]
    found = [(key, "") for key in keys]
    found += [("queue", word) for word in values("Link", "queue")]
    for table, key in (("App", "kind"), ("App", "abr"), ("Source", "kind")):
        found += [(key, word) for word in values(table, key)]
    found += [("trace", row["name"]) for row in catalogue.trace_models()]
    found += [("sizes", word) for word in ("web_search", "data_mining")]
    # other tests register schemes in Python
    own = [row for row in catalogue.schemes() if (ROOT / "schemes" / row["name"]).is_dir()]
    found += [("scheme", row["name"]) for row in own if "ip" in row["families"]]
    return found


@pytest.mark.parametrize(("key", "value"), parts())
def test_a_part_is_in_a_scenario(key: str, value: str) -> None:
    # a queue discipline with parameters is a table with its name as `kind`, a trace model one with `model`
    names = {"queue": ("queue", "kind"), "trace": ("trace", "model")}.get(key, (key,))
    assert any((name, value) in used() for name in names), f'no scenario has {key} = "{value}"'


def test_every_scheme_has_an_experiment() -> None:
    folders = [
        page.parent
        for page in (ROOT / "schemes").glob("[a-z]*/mod.rs")
        if "SCHEME" in page.read_text(encoding="utf-8")
    ]
    assert len(folders) >= 48
    assert [folder.name for folder in folders if not list(folder.glob("experiments/*.toml"))] == []
