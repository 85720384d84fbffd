"""Measures how long a frame of an interactive chart takes, with 200 lines of 10 000 samples: `python tools/frames.py`.

It simulates 200 flows, writes the page of the run, and drives it in Chromium while the visible time changes in every frame.
It prints the times between frames in milliseconds, and the processor time of the page per frame.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import thalweg as tw
from thalweg import report

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LINES, SAMPLES = 200, 10_000
SCENARIO = f"""
title = "{LINES} flows, {SAMPLES} samples"
duration = "100 s"
[topology]
kind = "dumbbell"
edge = {{ rate = "100 Mbit/s", delay = "1 ms", buffer = "1000 packets" }}
bottleneck = {{ rate = "100 Mbit/s", delay = "10 ms", buffer = "1 bdp" }}
[[flows]]
name = "a"
scheme = "reno"
count = {LINES}
start_spread = "1 s"
[record]
every = "{100_000 // SAMPLES} ms"
series = ["rate"]
"""


def main():
    """Makes the page, and prints what was measured."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser or not shutil.which("npm"):
        raise SystemExit("it needs Chromium and npm")
    if not (ROOT / "web" / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--silent"], cwd=ROOT / "web", check=True)
    with tempfile.TemporaryDirectory() as folder:
        run = tw.Scenario.from_toml(SCENARIO).run(out=Path(folder) / "run")
        assert run.series.height == LINES * SAMPLES, run.series.height
        page = report.write(Path(folder) / "run")
        size = page.stat().st_size
        argv = ["node", "browser/frames.mjs", browser, str(page)]
        told = subprocess.run(argv, cwd=ROOT / "web", stdout=subprocess.PIPE, text=True, check=True)
    print(json.dumps({"lines": LINES, "samples": SAMPLES, "page_bytes": size, **json.loads(told.stdout)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
