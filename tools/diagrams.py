"""Draws the mermaid blocks of the docs as SVG files in docs/images/diagrams.

The site then needs no script and no network. A file is named by a digest of its block. Run it after a block has changed:
`tools/docsite.py` names the block whose drawing is missing. It needs Chromium and npm, and installs mermaid in
`target/diagrams`.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRAWN = ROOT / "docs" / "images" / "diagrams"
WORK = ROOT / "target" / "diagrams"
LIBRARIES = ("mermaid@12.3.0", "playwright-core@1.65.1")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BLOCK = re.compile(r"^```mermaid\n(?P<text>.*?)^```[^\n]*$", re.MULTILINE | re.DOTALL)

DRAW = """
import { readFileSync, writeFileSync } from "node:fs";
import { chromium } from "playwright-core";
const [executablePath, told] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
await page.setContent("<!doctype html><div id='place'></div>");
await page.addScriptTag({ content: readFileSync("node_modules/mermaid/dist/mermaid.min.js", "utf8") });
for (const [file, text] of Object.entries(JSON.parse(readFileSync(told, "utf8")))) {
  const svg = await page.evaluate(async (text) => {
    // text as SVG, which every reader shows; without random names
    const labels = { htmlLabels: false };
    const look = { theme: "neutral", fontFamily: "sans-serif", ...labels, flowchart: labels };
    mermaid.initialize({ startOnLoad: false, deterministicIds: true, ...look });
    const { svg } = await mermaid.render("diagram", text, document.getElementById("place"));
    const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    // a tenth of a pixel is enough for curves
    const rounded = (number) => String(Math.round(10 * number) / 10);
    for (const path of drawn.querySelectorAll("[d]"))
      path.setAttribute("d", path.getAttribute("d").replace(/-?\\d+\\.\\d+/g, rounded));
    // an image has the size of its drawing, and a ground of its own on a dark page
    const [, , width, height] = drawn.getAttribute("viewBox").split(" ");
    drawn.setAttribute("width", Math.ceil(Number(width)));
    drawn.setAttribute("height", Math.ceil(Number(height)));
    drawn.setAttribute("style", "background: #fff");
    return new XMLSerializer().serializeToString(drawn);
  }, text);
  writeFileSync(file, `${svg}\\n`);
}
await browser.close();
"""


def place(text):
    """The file of a block's drawing."""
    return DRAWN / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.svg"


def blocks():
    """All blocks, by the file of their drawing."""
    argv = ["git", "ls-files", "-co", "--exclude-standard", "*.md"]
    names = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    texts = [
        found["text"] for name in names for found in BLOCK.finditer((ROOT / name).read_text(encoding="utf-8"))
    ]
    return {place(text): text for text in texts}


def main():
    """Draws what is missing and removes what no block has any more; returns the exit code."""
    wanted = blocks()
    DRAWN.mkdir(parents=True, exist_ok=True)
    for file in set(DRAWN.glob("*.svg")) - set(wanted):
        file.unlink()
    missing = {str(file): text for file, text in wanted.items() if not file.exists()}
    if missing:
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if not browser or not shutil.which("npm"):
            raise SystemExit("drawing needs Chromium and npm")
        WORK.mkdir(parents=True, exist_ok=True)
        (WORK / "draw.mjs").write_text(DRAW, encoding="utf-8")
        (WORK / "blocks.json").write_text(json.dumps(missing), encoding="utf-8")
        subprocess.run(["npm", "install", "--silent", "--no-save", *LIBRARIES], cwd=WORK, check=True)
        subprocess.run(["node", "draw.mjs", browser, "blocks.json"], cwd=WORK, check=True)
    print(json.dumps({"drawings": len(wanted), "drawn": len(missing)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
