"""Draws docs/images/first-run.svg: the network and the rates of the README's scenario. `make docs` calls it."""

import re
import sys
from pathlib import Path

import thalweg as tw
from thalweg import plots
from thalweg.report import network

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "images" / "first-run.svg"


def part(drawing, x, y, width, height):
    """A drawing as a part of another, at a place of its own."""
    return drawing.replace("<svg ", f'<svg x="{x}" y="{y}" width="{width}" height="{height}" ', 1)


def main():
    readme = (ROOT / "README.md").read_text()
    text = re.search(r"^```toml first\.toml\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[1]
    result = tw.Scenario.from_toml(text, "README.md").run()
    rates = plots.svg(plots.series(result.series, "rate", size=(8.2, 2.4)), "rates", "Rates of the flows")
    backlog = plots.svg(
        plots.series(result.series, "backlog", size=(8.2, 2.0)), "backlog", "Queue of the bottleneck"
    )
    parts = [
        part(network(result), 20, 6, 860, 230),
        part(rates, 20, 240, 860, 252),
        part(backlog, 20, 494, 860, 210),
    ]
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 900 712">\n'
        '<rect x="0.5" y="0.5" width="899" height="711" rx="12" fill="#ffffff" stroke="#e4e2da"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n",
        encoding="utf-8",
    )
    print(f"{TARGET.relative_to(ROOT)} drawn")
    return 0


if __name__ == "__main__":
    sys.exit(main())
