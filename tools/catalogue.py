"""Writes what the docs say about schemes and metrics from what the program says about itself.

That is schemes/README.md, the table under *Parameters* in each scheme's README, and docs/reference/.
With `--check`, writes nothing and fails when one of them is stale.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THALWEG = ROOT / ".venv" / "bin" / "thalweg"
MARK = "<!-- Written by `make docs`: change the program, not this file. -->"


def ask(*words):
    """What the command answers, as an object."""
    answer = subprocess.run([THALWEG, *words, "--json"], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def text_of(value):
    """A value as TOML writes it, except that texts have no quotes."""
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


def range_of(parameter):
    """Allowed values of a parameter, in words."""
    if parameter["range"] is not None:
        low, high = parameter["range"]
        return f"{text_of(low)} … {text_of(high)}"
    return parameter["kind"].replace(" | ", ", ") if parameter["kind"] != "switch" else "true, false"


def parameters(scheme):
    """The table of a scheme's parameters."""
    if not scheme["params"]:
        return "None.\n"
    rows = [[p["name"], text_of(p["default"]), range_of(p), p["doc"], p["source"]] for p in scheme["params"]]
    return table(["name", "default", "range", "meaning", "source"], rows)


def scheme_readme(text, scheme):
    """A scheme's README with its table of parameters renewed."""
    return re.sub(
        r"(^## Parameters\n\n).*?(?=^## )",
        lambda found: f"{found[1]}{parameters(scheme)}\n",
        text,
        count=1,
        flags=re.MULTILINE | re.DOTALL,
    )


def catalogue(schemes):
    """The page that lists all schemes."""
    rows = [
        [
            f"[{s['name']}]({s['name']}/README.md)",
            s["title"],
            ", ".join(s["families"]),
            s["transport"],
            len(s["params"]),
            s["documented"],
            ", ".join(source["key"] for source in s["sources"]),
        ]
        for s in schemes
    ]
    head = ["scheme", "title", "networks", "transport", "parameters", "documented", "sources"]
    return (
        f"{MARK}\n\n# Schemes\n\nOne folder a scheme. `thalweg schemes NAME` prints the same with its parameters; "
        "[CONTRIBUTING](../CONTRIBUTING.md) says how to add one.\n\n"
        f"{table(head, rows)}\n"
        "*Documented* says how far the sources go: `full`, every rule is published; `partial`, some rules are rebuilt, "
        "each marked and switchable; `reconstruction`, rebuilt from a summary.\n"
    )


def metrics_page(answer):
    """The page that says what every column and key of a result means."""
    parts = [
        f"{MARK}\n\n# Metrics\n\n"
        "Every column of every table of a run, with its unit and where it is measured. Numbers are decimal: "
        "1 Mbit/s is 10⁶ bit/s. An empty cell is *not measured*, never zero. "
        "[Concepts](../concepts/metrics.md) says how to read them.\n"
    ]
    for name in dict.fromkeys(row["table"] for row in answer["metrics"]):
        rows = [
            [f"`{m['name']}`", m["unit"], m["definition"], m["measured"]]
            for m in answer["metrics"]
            if m["table"] == name
        ]
        parts.append(f"## {name}\n\n{table(['column', 'unit', 'definition', 'measured at'], rows)}")
    rows = [[f"`{s['name']}`", s["unit"], s["subject"], s["definition"]] for s in answer["series"]]
    parts.append(
        f"## Series that any run can record\n\n{table(['series', 'unit', 'subject', 'definition'], rows)}"
    )
    parts.append(
        "Senders add their own: TCP `window`, `ssthresh`, `in_flight` (bytes), `rtt`, `srtt` (s); streams `allowed_rate` "
        "(bit/s), `srtt` (s).\n"
    )
    return "\n".join(parts)


def pages():
    """Path and text of everything that is written."""
    schemes = ask("schemes")["schemes"]
    yield ROOT / "schemes" / "README.md", catalogue(schemes)
    for scheme in schemes:
        path = ROOT / "schemes" / scheme["name"] / "README.md"
        if path.exists():
            yield path, scheme_readme(path.read_text(), scheme)
    yield ROOT / "docs" / "reference" / "metrics.md", metrics_page(ask("metrics"))


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
