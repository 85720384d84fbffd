"""The page of the studio: that it is what `web/` builds, and all of it in a browser."""

import json
import os
import re
import shutil
import subprocess

import pytest

import thalweg as tw
from conftest import ROOT
from studio_ends import LONG, SWEEP, address_of, started

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


PAGE = ROOT / "python" / "thalweg" / "studio" / "studio.html"

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A copy of `web/` with its libraries."""
    if not shutil.which("npm"):
        pytest.skip("npm is missing")
    copy = tmp_path_factory.mktemp("studio-web") / "web"
    shutil.copytree(ROOT / "web", copy, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--silent"], cwd=copy, check=True)
    return copy


@pytest.mark.processes
def test_the_page_is_what_web_builds(web):
    templates = web.parent / "python" / "thalweg" / "report" / "templates"
    templates.mkdir(parents=True)
    shutil.copy(ROOT / "python/thalweg/report/templates/style.html", templates)
    subprocess.run(
        ["npx", "vite", "build", "--config", "studio/vite.config.ts", "--logLevel", "error"],
        cwd=web,
        check=True,
    )
    built = web.parent / "python" / "thalweg" / "studio" / "studio.html"
    assert built.read_bytes() == PAGE.read_bytes(), "`npm run build` in web/ writes it"


@pytest.mark.processes
def test_a_newcomer_edits_mends_runs_watches_and_reads(web, tmp_path):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        pytest.skip("Chromium is missing")
    (tmp_path / "reno-and-cubic.toml").write_text(LONG)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "other.toml").write_text(LONG.replace("100000 s", "20 s").replace("200 s", "100 ms"))
    tw.load(tmp_path / "other.toml").run(out=tmp_path / "out" / "other" / "seed=7")
    pictures = os.environ.get("THALWEG_PICTURES", "")
    with started("studio", "--no-open", "--json", cwd=tmp_path) as process:
        address = address_of(iter(process.stdout.readline, ""))
        command = [
            "node",
            "browser/studio.mjs",
            browser,
            address,
            "reno-and-cubic.toml",
            *filter(None, [pictures]),
        ]
        done = subprocess.run(command, cwd=web, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    saw = json.loads(done.stdout)
    assert saw["problems"] == []
    violations = [f"{name}: {rule}" for name, found in saw["violations"].items() for rule in found]
    assert "\n".join(violations) == ""
    assert {name: pixels for name, pixels in saw["overflow"].items() if pixels > 0} == {}
    # Tab reaches every control and shows it, and opens and leaves the editor
    assert saw["keyboard"] == {"gallery": [], "editor": [], "results": [], "papers": []}
    assert saw["left"] == "#/results"
    assert "Reno and CUBIC at one bottleneck" in saw["cards"]
    # the mistake is told under its line, with the hint, and goes
    assert "renx" in saw["under"]
    assert "reno" in saw["under"]
    assert saw["wrongLine"].endswith('"renx"')
    assert "1 error" in saw["verdict"]
    assert saw["disabled"]
    assert saw["kept"] == [1, ["100\u202f000 s", "2", "5"], 1]
    assert saw["past"] == 0
    assert '"reno"' in saw["completed"]
    assert saw["mended"] == 0
    # both browsers see the run
    assert re.search(r"of 100.000 s · .+ × real time", saw["live"])
    assert re.search(r"of 100.000 s · .+ × real time", saw["liveElsewhere"])

    def first(words):
        return float(words.replace("\u202f", "").split(" of ")[0].split("to ")[-1].split()[0])

    assert saw["range"].startswith("0 to ")
    assert first(saw["range"]) <= 1.5 * first(saw["live"])
    assert saw["flows"] == ["reno", "cubic"]
    assert len(saw["charts"]) == 2
    assert saw["state"] == "stopped"
    assert saw["report"] == "Reno and CUBIC at one bottleneck"
    assert saw["heading"] == saw["report"]
    assert (saw["brand"], saw["repeated"], saw["bar"]) == (False, False, False)
    assert saw["here"] == ["Summary"]
    assert saw["opened"][0] == "Reno and CUBIC at one bottleneck"
    assert saw["opened"][1].startswith("out/")
    assert saw["folder"] == "out/reno-and-cubic/seed=7"
    assert tw.Result.load(tmp_path / saw["folder"]).record["status"] == "interrupted"
    assert saw["cells"] == 4
    assert saw["sweep"] == "Buffers and schemes"
    assert set(saw["results"]) == {"Reno and CUBIC at one bottleneck", "Buffers and schemes"}
    assert saw["compared"]
    assert saw["comparedShown"]
    assert saw["made"] == "#/edit/tcp.toml"
    assert (tmp_path / "tcp.toml").is_file()
    assert tw.load(tmp_path / "reno-and-cubic.toml").toml == LONG
