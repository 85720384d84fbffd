"""Writes the generated pages of the docs about schemes, metrics and scenario keys.

That is schemes/README.md, in each scheme's README the table under *Parameters* and the list of experiments under *Try it*,
docs/reference/, and the builders in python/thalweg/parts/.
With `--check`, writes nothing and fails when one of them is stale.
With `--installed`, the program is the installed package and not a build of the working copy.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from builders import package, value_text

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = "Experiments, each with what its source says of the result, run by `make scheme`:"
MARK = "<!-- Written by `make docs`: change the program, not this file. -->"


def query_catalogue():
    """The catalogue of the program."""
    if "--installed" in sys.argv[1:]:
        from thalweg import _native

        parts = ("schemes", "strategies", "metrics", "series", "schema")
        return {part: json.loads(getattr(_native, part)()) for part in parts}
    argv = [
        "cargo",
        "run",
        "--quiet",
        "--locked",
        "--profile",
        "suite",
        "--package",
        "lab",
        "--bin",
        "describe",
    ]
    answer = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(answer.stdout)


def toml_text(value):
    """A value in TOML syntax, except that texts have no quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}" if value == 0 or 1e-4 <= abs(value) < 1e7 else f"{value:e}"
    return str(value)


def table(headings, rows):
    """A table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return (
        "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
        + "\n"
    )


def range_text(parameter):
    """Allowed values of a parameter, in words."""
    if parameter["range"] is not None:
        low, high = parameter["range"]
        return f"{toml_text(low)} … {toml_text(high)}"
    return parameter["kind"].replace(" | ", ", ") if parameter["kind"] != "switch" else "true, false"


def parameters(scheme):
    """The table of a scheme's parameters."""
    if not scheme["params"]:
        return "None.\n"
    rows = [
        [p["name"], toml_text(p["default"]), range_text(p), p["doc"], p["source"]] for p in scheme["params"]
    ]
    return table(["name", "default", "range", "meaning", "source"], rows)


def experiments(folder):
    """The experiments of a scheme's folder: file and title."""
    for path in sorted((folder / "experiments").glob("*.toml")):
        yield path, tomllib.loads(path.read_text())["title"]


def scheme_readme(text, scheme, folder):
    """A scheme's README with its table of parameters and its list of experiments renewed."""
    text = re.sub(
        r"(^## Parameters\n\n).*?(?=^## )",
        lambda found: f"{found[1]}{parameters(scheme)}\n",
        text,
        count=1,
        flags=re.MULTILINE | re.DOTALL,
    )
    listed = "".join(f"- [{title}](experiments/{path.name})\n" for path, title in experiments(folder))
    return text.partition(EXPERIMENTS)[0].rstrip("\n") + f"\n\n{EXPERIMENTS}\n\n{listed}"


def systems():
    """The table of the systems that the papers name and that are not implemented."""
    rows = tomllib.loads((ROOT / "python" / "thalweg" / "systems.toml").read_text())["system"]
    keys = ["name", "text", "named_by", "known", "missing"]
    heads = ["system", "text", "named by", "what is known", "what is missing"]
    return table(heads, [[row[key] for key in keys] for row in rows])


def catalogue(schemes, strategies):
    """The page that lists all schemes, systems without one, and the forwarding strategies that belong to no scheme."""
    rows = [
        [
            f"[{s['name']}]({s['name']}/README.md)",
            s["title"],
            ", ".join(s["families"]),
            s["transport"],
            len(s["params"]),
            sum(1 for _ in experiments(ROOT / "schemes" / s["name"])),
            s["documented"],
            ", ".join(source["key"] for source in s["sources"]),
        ]
        for s in schemes
    ]
    head = ["scheme", "title", "networks", "transport", "parameters", "experiments", "documented", "sources"]
    return (
        f"{MARK}\n\n# Schemes\n\nThis page is for everyone who chooses a scheme. It lists all schemes, one folder each. "
        "`thalweg schemes NAME` prints the same with its parameters; "
        "[CONTRIBUTING](../CONTRIBUTING.md) says how to add one, and the "
        "[glossary](../docs/glossary.md) defines the terms.\n\n"
        f"{table(head, rows)}\n"
        "*Documented* says how complete the sources are: `full`, every rule is published; `partial`, some rules are "
        "reconstructed, each marked and with a parameter; `reconstruction`, reconstructed from a summary.\n\n"
        "## Systems without a scheme\n\nThe papers name these systems, too. They are not implemented: most because their "
        "rules could not be read. A date says when titles, authors and terms were last searched in public pages, "
        f"documentation, code and issues.\n\n{systems()}\n"
        "## Strategies\n\nForwarding strategies that belong to no scheme: `strategy` under `[ndn]`.\n\n"
        + table(["strategy", "next hops"], [[s["name"], s["title"]] for s in strategies])
        + "".join(f"\n### {s['name']}\n\n{parameters(s)}" for s in strategies)
    )


def metrics_page(answer):
    """The page that says what every column and key of a result means."""
    parts = [
        f"{MARK}\n\n# Metrics\n\n"
        "This page is for everyone who reads results. It lists every column of every table of a run, with its unit and "
        "where it is measured. Numbers are decimal: 1 Mbit/s is 10⁶ bit/s. An empty cell is *not measured*, never zero. "
        "[Concepts](../concepts/metrics.md) says how to read them; the [glossary](../glossary.md) defines the terms.\n"
    ]
    for name in dict.fromkeys(row["table"] for row in answer["metrics"]):
        rows = [
            [f"`{m['name']}`", m["unit"], m["definition"], m["measured"]]
            for m in answer["metrics"]
            if m["table"] == name
        ]
        parts.append(f"## {name}\n\n{table(['column', 'unit', 'definition', 'measured at'], rows)}")
    rows = [
        [f"`{s['name']}`", s["unit"], s["subject"], s["definition"], s["offered_by"]]
        for s in answer["series"]
    ]
    parts.append(
        "## Series\n\nWhat `[record]` can name. *Offered by*: any run, the flows of a transport, forwarders of named data, "
        "or the flows or routers of a scheme.\n\n"
        + table(["series", "unit", "subject", "definition", "offered by"], rows)
    )
    return "\n".join(parts)


def word_table(name, key):
    """A table of the words that a key takes, where the schema says what each means."""
    for part in key.get("allOf", []):
        return word_table(name, part)
    if "enumDescriptions" not in key:
        return ""
    rows = [
        [f"`{word}`", meaning] for word, meaning in zip(key["enum"], key["enumDescriptions"], strict=True)
    ]
    return "\n" + table([f"`{name}`", "meaning"], rows)


def scenario_page(schema):
    """The page that lists every key of a scenario."""
    parts = [
        f"{MARK}\n\n# Scenario files\n\nThis page is for authors of scenarios. It lists every key of a scenario file. "
        "[Guide 2](../guide/2-own-scenario.md) shows one; `thalweg schema` prints the same as JSON Schema, for editors. "
        "In Python, `thalweg.parts` has a class for each table. "
        "The [glossary](../glossary.md) defines the terms.\n"
    ]
    for name, part in {"The file": schema, **schema["$defs"]}.items():
        about = "" if part is schema else part.get("description", "") + "\n\n"
        needed = set(part.get("required", []))
        rows = [
            [f"`{key}`" + (" *" if key in needed else ""), value_text(row), row.get("description", "")]
            for key, row in part.get("properties", {}).items()
        ]
        body = table(["key", "value", "meaning"], rows) if rows else f"{value_text(part)}\n"
        words = "".join(word_table(key, row) for key, row in part.get("properties", {}).items())
        parts.append(f"## {name}\n\n{about}{body}{words}")
    return "\n".join(parts)


def pages():
    """Path and text of everything that is written."""
    answer = query_catalogue()
    schemes = answer["schemes"]
    yield ROOT / "schemes" / "README.md", catalogue(schemes, answer["strategies"])
    for scheme in schemes:
        path = ROOT / "schemes" / scheme["name"] / "README.md"
        if path.exists():
            yield path, scheme_readme(path.read_text(), scheme, path.parent)
    yield ROOT / "docs" / "reference" / "metrics.md", metrics_page(answer)
    yield ROOT / "docs" / "reference" / "scenario.md", scenario_page(answer["schema"])
    for name, text in package(answer["schema"]):
        yield ROOT / "python" / "thalweg" / "parts" / name, text


def main():
    check = "--check" in sys.argv[1:]
    stale = []
    for path, text in pages():
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.relative_to(ROOT))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in stale:
        print(f"{path} is stale: run `make docs`" if check else f"{path} written")
    if not stale:
        print("the catalogue is up to date")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
