"""Notebooks: what scenarios, plans, runs and sweeps show, the widget, and the gallery."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

import thalweg as tw
from conftest import ROOT
from thalweg.report import _charts

GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.ipynb"))
VOID = {"meta", "br", "wbr", "img", "input", "link", "hr"}


@pytest.fixture(scope="module")
def scenario() -> tw.Scenario:
    return tw.Scenario(
        title="Rates of <b>two</b> schemes",
        duration="3 s",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="5 Mbit/s", delay="10 ms", buffer="1 bdp")),
        flows=[
            tw.Flow("reno", scheme="reno", count=2, start_spread="100 ms"),
            tw.Flow("cubic", scheme="cubic"),
        ],
        record=tw.Record(every="50 ms", series=["rate", "backlog"]),
        expect={"link.bottleneck.utilisation": ">= 0.5"},
    )


@pytest.fixture(scope="module")
def shown(scenario: tw.Scenario) -> dict[str, str]:
    """The HTML of each kind of object."""
    sweep = scenario.sweep({"topology.bottleneck.buffer": ["0.5 bdp", "2 bdp"]}, runs=2)
    objects: dict[str, Any] = {
        "scenario": scenario,
        "plan": scenario.plan(),
        "run": scenario.run(),
        "sweep": sweep,
        "swept": sweep.run(),
        "mistakes": tw.Scenario.from_tree({"duraton": "3 s <i>"}),
    }
    return {name: one._repr_html_() for name, one in objects.items()}


class Outline(HTMLParser):
    """Checks that every element ends, and collects ids and addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["scenario", "plan", "run", "sweep", "swept", "mistakes"])
def test_an_output_is_small_well_formed_and_closed_in_itself(name: str, shown: dict[str, str]) -> None:
    text = shown[name]
    outline = Outline()
    outline.feed(text)
    assert not outline.open
    assert len(outline.ids) == len(set(outline.ids))
    assert "script" not in outline.seen
    assert not re.search(r'(src|href)="(https?:)?//', text)
    assert len(text) < 200_000
    # no rule is outside of the output's own element
    style = text[text.index("<style>") + 7 : text.index("</style>")]
    depth, outer = 0, ""
    for letter in style:
        depth += (letter == "{") - (letter == "}")
        outer += letter if depth == 0 and letter not in "{}" else " " * (letter == "}")
    assert all("thalweg" in rule or "@media" in rule for rule in re.split(r"\s{2,}|\n", outer.strip()))
    assert "<b>two</b>" not in text


def test_outputs_have_the_pictures_of_the_pages(shown: dict[str, str]) -> None:
    assert {name: text.count("<svg") for name, text in shown.items()} == {
        "scenario": 1,
        "plan": 1,
        "run": 2,
        "sweep": 0,
        "mistakes": 0,
        "swept": shown["swept"].count("<figure"),
    }
    assert shown["swept"].count("<figure") >= 1
    assert "5 Mbit/s · 10 ms" in shown["plan"]
    assert "used" not in shown["plan"]
    assert "holds" in shown["run"]
    assert "unknown key `duraton`" in shown["mistakes"]
    assert "4 runs" in shown["sweep"]


def test_the_same_object_gives_the_same_output(scenario: tw.Scenario, shown: dict[str, str]) -> None:
    assert scenario.run()._repr_html_() == shown["run"]
    assert scenario._repr_html_() == shown["scenario"]


def test_a_long_series_is_a_picture_of_pixels(scenario: tw.Scenario) -> None:
    run = scenario.with_({"record.every": "1 ms", "flows.reno.count": 8}).run()
    text = run._repr_html_()
    assert "data:image/png;base64," in text
    assert len(text) < 400_000


def test_the_widget_has_the_script_and_the_data_of_the_page(scenario: tw.Scenario) -> None:
    run = scenario.run()
    widget = run.charts(["rate"])
    assert widget._esm.startswith(_charts.script_text())
    header = json.loads(widget.data)
    assert [chart["name"] for chart in header["charts"]] == ["rate"]
    assert header["charts"][0]["python"] == 'run.plot("rate", out="rate.svg")\n'
    assert [chart["name"] for chart in json.loads(run.charts().data)["charts"]] == ["backlog", "rate"]
    assert ".thalweg" in widget._css
    with pytest.raises(ValueError, match="did you mean rate"):
        run.charts(["rat"])


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.processes
@pytest.mark.skipif(not CHROMIUM, reason="Chromium is missing")
def test_the_widget_draws_its_charts_in_a_browser(scenario: tw.Scenario, tmp_path: Path) -> None:
    widget = scenario.run().charts()
    module = widget._esm.replace("export default", "const widget =").replace("</script", "<\\/script")
    data = json.dumps(widget.data).replace("</", "<\\/")
    (tmp_path / "page.html").write_text(
        f'<style>{widget._css}</style><body data-jp-theme-light="true"><div id="out" style="width: 800px"></div>'
        f'<script type="module">{module}\nconst data = {data};\n'
        "widget.render({ model: { get: () => data }, el: document.getElementById('out') })"
        ".then(() => (document.title = 'drawn'), (error) => (document.title = String(error)));</script>",
        encoding="utf-8",
    )
    assert CHROMIUM
    words = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000"]
    done = subprocess.run(
        [*words, f"--user-data-dir={tmp_path}/profile", "--dump-dom", f"file://{tmp_path}/page.html"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "<title>drawn</title>" in done.stdout, done.stderr[-2000:]
    assert done.stdout.count("<canvas") == 2
    assert all(f"flow.{name}" not in done.stdout.split("<script")[0] for name in ("reno.1", "cubic"))
    buttons = re.findall(r"<button[^>]*aria-pressed[^>]*>(.*?)</button>", done.stdout, re.DOTALL)
    legend = {re.sub(r"<[^>]*>", "", button).split()[0] for button in buttons if "<" in button}
    assert {"reno.1", "reno.2", "cubic"} <= legend


def texts(notebook: Any) -> list[str]:
    """What the cells print, without pictures."""
    return [
        output["text"] if output.output_type == "stream" else output["data"].get("text/plain", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]


def executed(notebook: Any, folder: Path) -> Any:
    """The notebook after a run in a fresh kernel."""
    client = nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    return client.execute()


def plain(text: str) -> str:
    """Without places in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", text)


@pytest.mark.processes
@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_a_notebook_of_the_gallery_runs_and_prints_its_stored_outputs(file: Path, tmp_path: Path) -> None:
    kept = nbformat.read(file, as_version=4)
    fresh = nbformat.read(file, as_version=4)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    done = executed(fresh, tmp_path)
    if os.environ.get("UPDATE_GOLDEN"):
        for cell in done.cells:
            cell.metadata = {}
            for output in cell.get("outputs", []):
                # widgets need a running kernel
                output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
                if "text/plain" in output.get("data", {}):
                    output["data"]["text/plain"] = plain(output["data"]["text/plain"])
        done.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        nbformat.write(done, file)
        kept = done
    assert [plain(text) for text in texts(done)] == [plain(text) for text in texts(kept)]
    for cell in done.cells:
        if cell.cell_type == "code":
            images = [one for one in cell.outputs if "image/png" in one.get("data", {})]
            assert len(images) <= 1, "a figure appears once"


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_a_notebook_of_the_gallery_is_a_question_few_cells_and_an_answer(file: Path) -> None:
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].cell_type == "markdown"
    assert "?" in notebook.cells[0].source.splitlines()[0]
    assert notebook.cells[-1].cell_type == "markdown"
    assert "**Answer**" in notebook.cells[-1].source
    assert 3 <= len(notebook.cells) <= 9
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|work|tmp|Users|usr)/", text)
    assert file.stat().st_size < 400_000


def test_the_gallery_has_five_notebooks() -> None:
    assert len(GALLERY) >= 5


def test_a_figure_appears_once_in_a_notebook(tmp_path: Path) -> None:
    cells = [
        "import thalweg as tw\nlink = tw.Link(rate='1 Mbit/s', delay='5 ms')\n"
        "run = tw.Scenario(duration='1 s', topology=tw.Dumbbell(bottleneck=link), flows=[tw.Flow('f', scheme='reno')],"
        " record=tw.Record(every='100 ms', series=['rate'])).run()",
        "run.plot('rate')",
        "figure = run.plot('rate')",
        "run.plot('rate', style='paper')",
        "run",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    done = executed(notebook, tmp_path)
    kinds = [[sorted(output.get("data", {})) for output in cell.outputs] for cell in done.cells]
    image = ["image/png", "text/plain"]
    assert kinds == [[], [image], [], [image], [["text/html", "text/plain"]]]
