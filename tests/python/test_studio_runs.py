"""What the studio runs, where that lands, and how it is watched and stopped."""

import json
import re
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

import thalweg as tw
from emulated import needs_namespaces
from studio_ends import LONG, SWEEP, address_of, fetched, started, until
from thalweg.cli import call

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from thalweg.studio.files import Folder
from thalweg.studio.work import Activity, Hub, RunActivity

REAL = """\
title = "A transfer by the kernel"
duration = "800 ms"
[topology]
kind = "dumbbell"
bottleneck = { rate = "8 Mbit/s", delay = "5 ms", buffer = "40 packets" }
[[flows]]
name = "file"
kernel = "reno"
size = "100 kB"
[record]
every = "100 ms"
series = ["goodput"]
[emulation]
max_lateness = "1000 s"
"""


def test_a_run_lands_where_that_of_the_command_does(client, small, tmp_path, monkeypatch):
    number = client.post("api/run", json={"file": "small.toml", "seed": 5}).json()["id"]
    ended = until(client, number)
    assert (ended["state"], ended["passed"]) == ("done", True)
    assert ended["command"] == "thalweg run small.toml --seed 5"
    folder = tmp_path / "out" / "small" / "seed=5"
    mine = tw.Result.load(folder)
    assert (folder / "report.html").is_file()
    assert client.get(f"activity/{number}/report.html").status_code == 200
    opened = client.post("api/open", json={"folder": "small/seed=5"}).json()
    assert opened == {"page": "results/small/seed=5/report.html", "title": mine.title}
    shutil.move(tmp_path / "out", tmp_path / "studio")
    monkeypatch.chdir(tmp_path)
    assert call(["run", "small.toml", "--seed", "5"]) == 0
    theirs = tw.Result.load(folder)
    assert mine.trace_hash == theirs.trace_hash
    names = {path.name for path in (tmp_path / "studio" / "small" / "seed=5").iterdir()}
    assert names == {path.name for path in folder.iterdir()} | {"report.html"}


def test_an_edited_text_is_saved_and_run_in_a_folder_of_its_own(client, small, tmp_path):
    until(client, client.post("api/run", json={"file": "small.toml"}).json()["id"])
    text = small.read_text().replace('"5 Mbit/s"', '"6 Mbit/s"')
    ended = until(client, client.post("api/run", json={"file": "small.toml", "text": text}).json()["id"])
    assert small.read_text() == text
    assert re.fullmatch(r".*small/seed=3,plan=[0-9a-f]{8}", ended["folder"])
    assert "another plan" in ended["note"]
    kinds = {(row["folder"], row["kind"]) for row in client.get("api/results").json()["results"]}
    assert ("small/seed=3", "run") in kinds
    assert len(kinds) == 2
    # a comparison says what differs, not the digest of the folder
    folders = ["small/seed=3", Path(ended["folder"]).relative_to(tmp_path / "out").as_posix()]
    page = client.get(client.post("api/compare", json={"folders": folders}).json()["page"]).text
    assert "rate = 6 Mbit/s" in page


def test_a_text_with_mistakes_does_not_run(client, small):
    answer = client.post("api/run", json={"file": "small.toml", "text": "title = 3"})
    assert answer.status_code == 422
    assert answer.json()["error"]["diagnostics"][0]["hint"]


def test_a_run_is_watched_and_stopped_and_keeps_what_it_measured(client, tmp_path):
    (tmp_path / "long.toml").write_text(LONG)
    number = client.post("api/run", json={"file": "long.toml"}).json()["id"]
    again = client.post("api/run", json={"file": "long.toml"})
    assert "running already" in again.json()["error"]["message"]
    going = until(client, number, over=False)
    assert 0 < going["progress"]["share"] < 1
    charts = client.get(f"api/charts/{number}").json()
    data = json.loads(charts["data"])
    assert {chart["name"] for chart in data["charts"]} == {"rate", "backlog"}
    assert [row["flow"] for row in charts["flows"]["rows"]] == ["reno", "cubic"]
    client.post("api/stop", json={"id": number})
    ended = until(client, number)
    assert ended["state"] == "stopped"
    kept = tw.Result.load(tmp_path / "out" / "long" / "seed=7")
    assert not kept.complete
    assert kept.record["ended_s"] > 0
    assert kept.series.height > 0


@needs_namespaces
def test_an_emulation_is_watched_and_lands_where_that_of_the_command_does(client, tmp_path):
    (tmp_path / "real.toml").write_text(REAL)
    assert client.post("api/check", json={"file": "real.toml", "text": REAL}).json()["about"][
        "emulation"
    ] == {
        "possible": True,
        "reason": "",
    }
    number = client.post("api/run", json={"file": "real.toml", "emulate": True}).json()["id"]
    ended = until(client, number)
    assert (ended["kind"], ended["state"], ended["message"]) == ("emulation", "done", "")
    assert ended["command"] == "thalweg emulate real.toml"
    # it was told how far it is
    assert ended["progress"]["share"] > 0
    done = tw.Result.load(tmp_path / "out" / "real" / "emulated")
    assert done.complete
    assert done.flows["goodput_bps"][0] > 0
    assert "emulation" in done.record
    charts = client.get(f"api/charts/{number}").json()
    assert [chart["name"] for chart in json.loads(charts["data"])["charts"]] == ["goodput"]
    assert client.get(f"activity/{number}/report.html").status_code == 200


def test_the_checkpoints_of_a_watched_run_change_nothing(studio, small):
    scenario = tw.load(small)
    plan = scenario.with_({"duration": "400 s"}).plan()
    from thalweg.runs import execution

    location = execution.run_location(plan, studio.folder.out / "x")
    activity = RunActivity(plan, location, "", "small.toml")
    done = activity.simulate(lambda at: None)
    activity.publish()
    assert activity.state == "done"
    assert done.result.trace_hash == plan.run().trace_hash


def test_a_sweep_shows_its_cells_and_lands_where_that_of_the_command_does(client, tmp_path):
    (tmp_path / "sweep.toml").write_text(SWEEP)
    number = client.post("api/run", json={"file": "sweep.toml", "runs": 2}).json()["id"]
    ended = until(client, number)
    assert (ended["state"], ended["command"]) == ("done", "thalweg run sweep.toml --runs 2")
    cells = ended["cells"]
    assert len(cells) == 8
    assert {cell["state"] for cell in cells.values()} == {"done"}
    done = tw.SweepResult.load(tmp_path / "out" / "sweep")
    assert done.complete
    shown = {(tuple(cell["values"]), cell["seed"]): cell for cell in cells.values()}
    metric = ended["metrics"].index("link.bottleneck.utilisation (%)")
    for run in done.runs:
        cell = shown[tuple(run.values.values()), run.seed]
        assert cell["passed"] == run.result.passed
        value = 100 * run.result["link.bottleneck.utilisation"]
        assert float(cell["metrics"][metric]) == pytest.approx(value, rel=6e-3)
    assert (tmp_path / "out" / "sweep" / "report.html").is_file()
    once = until(client, client.post("api/run", json={"file": "sweep.toml", "once": True}).json()["id"])
    assert (once["kind"], once["command"]) == ("run", "thalweg run sweep.toml --no-sweep")


def test_a_sweep_that_is_stopped_keeps_its_finished_runs(client, tmp_path):
    text = SWEEP.replace('["10 packets", "100 packets"]', '["10 packets", "20 packets", "30 packets"]')
    (tmp_path / "sweep.toml").write_text(text.replace('"20 s"', '"4000 s"'))
    number = client.post("api/run", json={"file": "sweep.toml"}).json()["id"]
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not list(tmp_path.glob("out/sweep/*/*/run.json")):
        time.sleep(0.05)
    client.post("api/stop", json={"id": number})
    ended = until(client, number)
    assert ended["state"] in ("stopped", "done")
    states = [cell["state"] for cell in ended["cells"].values()]
    assert "running" not in states
    assert states.count("done") == len(tw.SweepResult.load(tmp_path / "out" / "sweep").runs) >= 1


def test_a_browser_misses_no_change():
    """It looks all the time, also while a change gets its number, and in the end has the last state."""

    class Slow(Activity):
        kind = "run"

        def __setattr__(self, name, value):
            if name == "version":
                time.sleep(0.001)
            super().__setattr__(name, value)

        def work(self):
            self.changed()

        def write_page(self):
            pass

    hub = Hub()
    for number in range(1, 21):
        activity = hub.add(Slow("", "", "", Path(str(number)), Path(str(number))))
        thread = threading.Thread(target=activity.carry_out)
        seen, shown, over = 0, {}, False
        thread.start()
        while not over:
            over = not thread.is_alive()
            seen, changed = hub.changes(seen)
            shown |= {one["id"]: one["state"] for one in changed}
        assert shown == dict.fromkeys(range(1, number + 1), "done")


def test_runs_are_compared_as_the_command_does(client, tmp_path):
    for seed in (1, 2):
        until(client, client.post("api/run", json={"file": "small.toml", "seed": seed}).json()["id"])
    said = client.post("api/compare", json={"folders": ["small/seed=1", "small/seed=2"]}).json()
    assert said["page"] == "results/compare.html"
    assert "seed=2" in client.get(said["page"]).text
    assert client.post("api/compare", json={"folders": ["small/seed=1"]}).status_code == 400
    assert client.post("api/compare", json={"folders": ["small/seed=1", "../.."]}).status_code == 400


def test_papers_are_listed_and_one_at_a_time_is_reproduced(client):
    listed = client.get("api/papers").json()["papers"]
    names = [row["name"] for row in listed if row["paper"]]
    if not names:
        pytest.skip("no papers are installed")
    number = client.post("api/reproduce", json={"paper": "mca", "quick": True}).json()["id"]
    second = client.post("api/reproduce", json={"paper": "srmcc", "quick": True})
    assert "a paper is being reproduced" in second.json()["error"]["message"]
    client.post("api/stop", json={"id": number})
    assert until(client, number, seconds=120)["state"] in ("stopped", "done")
    assert client.post("api/reproduce", json={"paper": "none"}).status_code == 400


@pytest.mark.processes
def test_ctrl_c_loses_nothing(tmp_path):
    (tmp_path / "long.toml").write_text(LONG)
    with started("studio", "--no-open", cwd=tmp_path) as process:
        address = address_of(iter(process.stdout.readline, ""))
        fetched(address, "api/check", {"file": "long.toml", "text": LONG + "# typed\n"})
        fetched(address, "api/run", {"file": "long.toml"})
        part = tmp_path / "out" / "long" / "seed=7" / "run.json.part"
        deadline = time.monotonic() + 30
        while not part.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopped: Reno and CUBIC at one bottleneck; its results are in out/long/seed=7" in said
    kept = tw.Result.load(tmp_path / "out" / "long" / "seed=7")
    assert kept.record["status"] == "interrupted"
    assert Folder(tmp_path).open("long.toml")["text"] == LONG + "# typed\n"


@pytest.mark.processes
def test_a_run_of_the_command_can_be_watched(tmp_path):
    (tmp_path / "long.toml").write_text(LONG)
    with started("run", "long.toml", "--live", "--out", "here", cwd=tmp_path) as process:
        address = address_of(iter(process.stderr.readline, ""))
        assert fetched(address, "api/gallery")["scenarios"][0]["file"] == "long.toml"
        fetched(address, "api/stop", {"id": 1})
        deadline = time.monotonic() + 60
        while not (tmp_path / "here" / "report.html").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Reno and CUBIC at one bottleneck: flows" in out
    assert tw.Result.load(tmp_path / "here").record["status"] == "interrupted"
