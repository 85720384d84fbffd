"""Makes the ten pictures of docs/gallery/film.md, from the installation of a wheel to a network in motion.

`make film` runs it. It needs Chromium, npm, and a wheel in `dist` (`make wheel`), which it installs in a new environment.
The terminals show what the commands printed; what is in the browser is of the working copy. Pictures are indexed PNG files
of 128 colours.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

import thalweg as tw
from thalweg import report
from thalweg.studio.app import Studio
from thalweg.studio.files import Folder
from thalweg.studio.server import Served

ROOT = Path(__file__).resolve().parent.parent
FILM = ROOT / "docs" / "gallery" / "film"
STARTERS = ROOT / "python" / "thalweg" / "starters"
MOTION = ROOT / "scenarios" / "does-a-controller-move-a-flow.toml"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH, ROWS = 100, 54
COLOURS = 128
"""Enough for text, lines and the colours of flows."""

GREY, WHITE = (29, 39, 51), (238, 241, 244)
THEME = TerminalTheme(
    GREY,
    WHITE,
    [
        GREY,
        (227, 106, 106),
        (120, 190, 120),
        (222, 180, 90),
        (99, 163, 210),
        (190, 140, 200),
        (99, 195, 201),
        WHITE,
    ],
)
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 14px 18px; background: {background}; color: {foreground}; }}
pre {{ margin: 0; font: 14px/1.25 "DejaVu Sans Mono", monospace; }} {stylesheet}
</style><pre><code>{code}</code></pre>"""


def terminal(commands, folder, environment, html):
    """Runs commands on a terminal and writes what one would see; up to a paragraph where that is more than a screen."""
    shown = []
    for command in commands:
        done = subprocess.run(
            [
                "script",
                "--quiet",
                "--return",
                "--command",
                f"stty cols {WIDTH} rows {ROWS}; {command}",
                "/dev/null",
            ],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
        shown.append(f"\x1b[36m$\x1b[0m {command}")
        text = re.sub(r"\x1b\[\?\d+[hl]|\x1b\[\d*[AK]", "", done.stdout).replace("\r", "").strip("\n")
        lines = text.split("\n")
        # what a progress line overwrites is not seen
        last = max((row for row, line in enumerate(lines) if "━" in line), default=None)
        shown += [line for row, line in enumerate(lines) if "━" not in line or row == last]
    if len(shown) > ROWS:
        end = max(row for row in range(ROWS) if not shown[row].strip())
        # a paragraph that is longer than half a screen is cut
        shown = [*shown[: end if end > ROWS / 2 else ROWS - 1], "…"]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), legacy_windows=False)
    console.print(Text.from_ansi("\n".join(shown)), soft_wrap=True)
    html.write_text(console.export_html(theme=THEME, code_format=PAGE), encoding="utf-8")


def replaced(text, old, new):
    """A scenario with another value; fails where it is not there."""
    if old not in text:
        raise SystemExit(f"the scenario has no {old!r} any more")
    return text.replace(old, new)


def reduced(picture):
    """Writes a picture with fewer colours."""
    image = Image.open(picture).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)


def main():
    """Makes all pictures; returns the exit code."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    wheels = sorted((ROOT / "dist").glob("thalweg-*.whl"))
    if not browser or not shutil.which("npm") or not wheels:
        raise SystemExit("the film needs Chromium, npm, and a wheel in dist (`make wheel`)")
    if not (ROOT / "web" / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--silent"], cwd=ROOT / "web", check=True)
    FILM.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "dist").symlink_to(ROOT / "dist")
        subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
        path = f"{work / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environment = {
            **os.environ,
            "PATH": path,
            "TERM": "xterm-256color",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        environment.pop("NO_COLOR", None)
        wheel = f"dist/{wheels[-1].name}"
        terminal(
            [f"pip install --quiet --no-compile {wheel}", "thalweg --version", "thalweg --help"],
            work,
            environment,
            work / "1.html",
        )
        terminal(["thalweg new first.toml", "cat first.toml"], work, environment, work / "2.html")
        terminal(["thalweg run first.toml"], work, environment, work / "3.html")
        # the rest is of the working copy
        studio = work / "studio"
        studio.mkdir()
        for scenario in sorted((ROOT / "scenarios").glob("*.toml")):
            shutil.copy(scenario, studio)
        first = (work / "first.toml").read_text(encoding="utf-8")
        (studio / "first.toml").write_text(first, encoding="utf-8")
        # long enough to be watched
        long = replaced(replaced(first, '"30 s"', '"20000 s"'), '"100 ms"\nseries', '"50 s"\nseries')
        (studio / "long.toml").write_text(long, encoding="utf-8")
        grid = STARTERS.joinpath("sweep.toml").read_text(encoding="utf-8")
        (studio / "sweep.toml").write_text(replaced(grid, '"15 s"', '"2000 s"'), encoding="utf-8")
        pages = {}
        for key, scenario in {"page": work / "first.toml", "motion": MOTION}.items():
            tw.load(scenario).run(out=work / key)
            pages[key] = str(report.write(work / key))
        # folders are shown from here
        os.chdir(studio)
        served = Served(Studio(Folder(Path()), jobs=2))
        with served.in_background():
            told = {
                "terminals": [str(work / f"{number}.html") for number in (1, 2, 3)],
                "studio": served.address,
                **pages,
            }
            argv = ["node", "browser/film.mjs", browser, FILM, json.dumps(told)]
            subprocess.run(argv, cwd=ROOT / "web", check=True)
    os.chdir(ROOT)
    pictures = sorted(FILM.glob("*.png"))
    for picture in pictures:
        reduced(picture)
    print(
        json.dumps({"pictures": len(pictures), "bytes": sum(picture.stat().st_size for picture in pictures)})
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
