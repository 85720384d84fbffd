"""The studio: who is answered, what the editor is told, what runs and where it lands, and all of it in a browser."""

import base64
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pytest

import thalweg as tw
import transfer_ends
from thalweg import _native
from thalweg.cli import call

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from thalweg.studio.app import Studio, application
from thalweg.studio.completion import complete
from thalweg.studio.files import Folder
from thalweg.studio.work import RunActivity

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "python" / "thalweg" / "studio" / "studio.html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TOKEN = "a-token"
HOST = "127.0.0.1:8123"
LONG = """\
# How do Reno and CUBIC share a bottleneck? It runs until it is stopped.
title    = "Reno and CUBIC at one bottleneck"
seed     = 7
duration = "100000 s"
warmup   = "5 s"

[topology]
kind       = "dumbbell"
edge       = { rate = "1 Gbit/s", delay = "1 ms", buffer = "10000 packets" }
bottleneck = { rate = "5 Mbit/s", delay = "20 ms", buffer = "1 bdp" }

[[flows]]
name   = "reno"
scheme = "reno"

[[flows]]
name   = "cubic"
scheme = "cubic"

[record]
every  = "200 s"
series = ["rate", "backlog"]
"""
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
NOT_PERMITTED = _native.emulation_permitted()
SWEEP = """\
title = "Buffers and schemes"
duration = "20 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }
[[flows]]
name = "a"
scheme = "reno"
[expect]
"link.bottleneck.utilisation" = ">= 0.5"
[sweep]
"topology.bottleneck.buffer" = ["10 packets", "100 packets"]
"flows.a.scheme" = ["reno", "cubic"]
"""


@pytest.fixture
def studio(tmp_path, small):
    """A studio in a folder with a scenario; what runs is stopped at the end."""
    made = Studio(Folder(tmp_path), jobs=2)
    yield made
    made.hub.close()


@pytest.fixture
def client(studio):
    """A browser with the token."""
    return TestClient(application(studio, TOKEN, {HOST}), base_url=f"http://{HOST}/{TOKEN}/")


def until(client, number, *, over=True, seconds=60):
    """The state of an activity when it is over, or when it has charts."""
    deadline = time.monotonic() + seconds
    with client.websocket_connect(f"/{TOKEN}/live", headers={"host": HOST}) as socket:
        cells = {}
        while time.monotonic() < deadline:
            for one in socket.receive_json()["activities"]:
                if one["id"] != number:
                    continue
                for index, cell in one.get("cells", {}).items():
                    cells[index] = {**cells.get(index, {}), **cell}
                ended = one["state"] not in ("running", "stopping")
                if ended if over else one.get("charts"):
                    return {**one, "cells": cells}
    raise AssertionError("it takes too long")


@pytest.mark.parametrize(
    "path", ["", "/", "/x/", "/a-toke/", "/a-token2/", "/x/api/gallery", "/api/gallery", "/live"]
)
def test_a_request_without_the_token_gets_nothing(client, path):
    answer = client.get(f"http://{HOST}{path}")
    assert (answer.status_code, answer.content) == (404, b"")
    assert set(answer.headers) == {"content-length"}


@pytest.mark.parametrize("path", ["/live", "/x/live", "/a-token2/live"])
def test_a_websocket_without_the_token_does_not_open(client, path):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(path, headers={"host": HOST}):
        pass


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8123"},
        {"host": "127.0.0.1:9"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
    ],
)
def test_another_site_gets_nothing_even_with_the_token(client, headers):
    for answer in (client.get("", headers=headers), client.post("api/run", json={}, headers=headers)):
        assert (answer.status_code, answer.content) == (404, b"")
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(f"/{TOKEN}/live", headers={"host": HOST} | headers),
    ):
        pass


def test_the_page_runs_only_its_own_scripts_and_tells_no_other_site_its_address(client):
    answer = client.get("", headers={"origin": f"http://{HOST}"})
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert not re.search(r"""(?:src|href)=["']https?:""", answer.text)


def test_a_scenario_of_a_gigabyte_is_refused_before_it_is_read(studio, tmp_path):
    from thalweg.studio.server import Served

    at = Served(studio)
    with at.in_background():
        _, host, path, *_ = urlsplit(at.address)
        name, port = host.split(":")
        with socket.create_connection((name, int(port)), timeout=10) as raw:
            head = f"POST {path}api/check HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000000000\r\n\r\n"
            raw.sendall(head.encode() + b'{"file": "a.toml"')
            # the answer comes although most of the body is missing, and the connection ends
            said = b"".join(iter(lambda: raw.recv(65536), b""))
    assert said.startswith(b"HTTP/1.1 413")
    assert b"1,000.0 MB: larger than a scenario may be in the studio, 1 MB" in said


def test_a_body_that_does_not_say_its_size_is_refused_at_the_limit(client):
    def parts():
        while True:
            yield b" " * 100_000

    taken = []
    answer = client.post(
        "api/check", content=(taken.append(1) or part for _, part in zip(range(30), parts(), strict=False))
    )
    assert answer.status_code == 413


def test_a_file_of_a_gigabyte_is_refused_before_it_is_read(client, tmp_path):
    huge = tmp_path / "huge.toml"
    with huge.open("wb") as file:
        file.truncate(1_000_000_000)
    for answer in (
        client.get("api/scenario", params={"file": "huge.toml"}),
        client.get("api/picture", params={"file": "huge.toml"}),
        client.post("api/run", json={"file": "huge.toml"}),
    ):
        assert answer.status_code == 413
        assert "1,000.0 MB" in answer.json()["error"]["message"]
    rows = {row["file"]: row for row in client.get("api/gallery").json()["scenarios"]}
    assert "larger than" in rows["huge.toml"]["fault"]
    assert rows["small.toml"]["title"] == "One Reno flow"


@pytest.mark.parametrize(
    "name",
    ["../out.toml", "/etc/passwd", "a.txt", "", ".hidden.toml", "out/x/scenario.toml", "a/../../b.toml"],
)
def test_only_scenarios_below_the_folder_are_read_and_written(client, tmp_path, name):
    for answer in (
        client.get("api/scenario", params={"file": name}),
        client.post("api/save", json={"file": name, "text": "title = 1"}),
        client.post("api/check", json={"file": name, "text": "title = 1"}),
        client.post("api/run", json={"file": name, "text": "title = 1"}),
    ):
        assert answer.status_code == 400
        assert "error" in answer.json()
    assert not (tmp_path.parent / "out.toml").exists()


def test_results_are_served_from_their_folder_only_and_may_do_nothing(client, tmp_path):
    (tmp_path / "out" / "a").mkdir(parents=True)
    (tmp_path / "out" / "a" / "report.html").write_text("<script>1</script>")
    answer = client.get("results/a/report.html")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in answer.headers["content-security-policy"]
    for path in (
        "results/%2e%2e/small.toml",
        "results/../small.toml",
        "results//etc/passwd",
        "results/none.html",
    ):
        assert client.get(f"http://{HOST}/{TOKEN}/{path}").status_code == 404


def test_diagnostics_are_those_of_the_command_with_their_places(client, small):
    text = small.read_text().replace('scheme = "reno"', 'scheme = "ren"').replace("[record]", "[recrd]")
    said = client.post("api/check", json={"file": "small.toml", "text": text}).json()
    with pytest.raises(tw.ScenarioError) as refused:
        tw.Scenario.from_toml(text, "small.toml").plan()
    found = [(one["line"], one["column"], one["message"], one["hint"]) for one in said["diagnostics"]]
    assert found == [(one.line, one.column, one.message, one.hint) for one in refused.value.problems]
    assert len(found) == 2
    assert {one["severity"] for one in said["diagnostics"]} == {"error"}
    assert said["about"] is None


def test_a_valid_text_is_described(client, small):
    said = client.post("api/check", json={"file": "small.toml", "text": small.read_text()}).json()
    assert said["diagnostics"] == []
    about = said["about"]
    assert (about["title"], about["flows"], about["duration_s"], about["points"]) == (
        "One Reno flow",
        1,
        4.0,
        0,
    )
    assert about["network"].startswith("<svg")
    assert not about["emulation"]["possible"]


def test_warnings_are_told_as_such(client, small):
    text = small.read_text().replace("[expect]", '[expect]\n"flow.reno.fct" = "<= 1 s"')
    said = client.post("api/check", json={"file": "small.toml", "text": text}).json()
    assert [one["severity"] for one in said["diagnostics"]] == ["warning"]
    assert said["about"] is not None


def test_a_text_that_is_not_saved_survives_the_studio(client, studio, small):
    draft = small.read_text() + "# more\n"
    client.post("api/check", json={"file": "small.toml", "text": draft})
    assert small.read_text() != draft
    later = Studio(Folder(studio.folder.root))
    opened = later.folder.open("small.toml")
    assert (opened["text"], opened["saved"], opened["draft"]) == (draft, small.read_text(), True)
    client.post("api/save", json={"file": "small.toml", "text": draft})
    assert small.read_text() == draft
    assert later.folder.open("small.toml")["draft"] is False


def test_a_new_scenario_never_replaces_a_file(client, tmp_path):
    (tmp_path / "tcp.toml").write_text("mine")
    opened = client.get("api/starter", params={"name": "tcp"}).json()
    assert opened["file"] == "tcp2.toml"
    refused = client.post("api/save", json={"file": "tcp.toml", "text": "x", "starter": "tcp"})
    assert "exists already" in refused.json()["error"]["message"]
    assert (tmp_path / "tcp.toml").read_text() == "mine"
    client.post("api/check", json={"file": "tcp2.toml", "text": "# draft", "starter": "tcp"})
    assert client.get("api/starter", params={"name": "tcp"}).json()["text"] == "# draft"
    client.post("api/save", json={"file": "tcp2.toml", "text": opened["text"], "starter": "tcp"})
    assert (tmp_path / "tcp2.toml").read_text() == opened["text"]
    assert client.get("api/starter", params={"name": "tcp"}).json()["text"] == opened["text"]


def labels(before, after=""):
    return [option["label"] for option in complete(before, after)["options"]]


@pytest.mark.parametrize(
    ("before", "there", "missing"),
    [
        ("", ["title", "topology", "flows"], ["kind"]),
        ("[", ["topology", "record", "expect"], ["flows"]),
        ("[[", ["flows", "events"], ["topology"]),
        ("[topology]\n", ["kind", "bottleneck"], ["title"]),
        ('[topology]\nkind = "', ['"dumbbell"', '"star"'], []),
        ('[topology]\nkind = "star"\n', ["leaves", "link"], ["bottleneck", "kind", "hops"]),
        ("[topology]\nbottleneck = { ", ["rate", "delay", "buffer"], ["kind"]),
        ('[topology]\nbottleneck = { rate = "1 Mbit/s", ', ["delay"], ["rate"]),
        ("[topology.bottleneck]\n", ["rate", "delay"], ["kind"]),
        ("[topology]\nbottleneck.", ["rate", "delay"], ["kind"]),
        ("[topology]\nbottleneck = { queue = ", ['"codel"', '"fifo"'], []),
        ('[[flows]]\nname = "a"\n', ["scheme", "count"], ["name", "title"]),
        ('[[flows]]\nscheme = "', ['"reno"', '"cubic"'], []),
        ('[[flows]]\nscheme = "aimd"\nparams = { ', ["a", "b"], ["name"]),
        ('[topology]\nkind = "custom"\nlinks = [\n  { ', ["ends", "rate"], ["kind"]),
        ('[record]\nseries = ["rate", "', ['"backlog"'], []),
        ("[[flows]]\nmulticast = ", ["true", "false"], []),
        ("# a comment [", [], ["topology"]),
        ('title = "a" ', [], ["seed"]),
        ('title = "an [unclosed\n', ["seed"], []),
        ('title = """\nscheme = ', [], ["seed", '"reno"']),
    ],
)
def test_completion_offers_what_can_stand_there(before, there, missing):
    found = labels(before)
    assert set(there) <= set(found)
    assert not set(missing) & set(found)


def test_completion_knows_the_keys_after_the_place():
    assert "scheme" not in labels("[[flows]]\n", '\nscheme = "reno"\n[record]\nevery = "1 s"\n')
    assert "every" in labels("[record]\n", '\n[[flows]]\nevery = "1 s"\n')


def test_completion_says_what_a_key_means_and_what_it_replaces(client):
    said = client.post("api/complete", json={"before": "[[flows]]\nsche", "after": ""}).json()
    assert said["written"] == "sche"
    option = next(one for one in said["options"] if one["label"] == "scheme")
    assert option["apply"] == "scheme = "
    assert option["info"]


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml"))[::6], ids=lambda path: path.stem)
def test_completion_offers_every_key_of_a_scenario_at_its_place(file):
    text = file.read_text(encoding="utf-8")
    for entry in re.finditer(r"^([a-z_0-9]+)[ \t]*=", text, re.MULTILINE):
        header = re.findall(r"^\[+([\w.]+)\]", text[: entry.start()], re.MULTILINE)
        if (header and header[-1].split(".")[0] in ("expect", "sweep")) or (
            header and "params" in header[-1]
        ):
            continue
        # the rest of the line is not written yet
        found = complete(text[: entry.start()], text[text.index("\n", entry.start()) :])
        assert entry[1] in [one["label"] for one in found["options"]], (file.name, entry[0])


def test_a_run_lands_where_that_of_the_command_does(client, small, tmp_path, monkeypatch):
    number = client.post("api/run", json={"file": "small.toml", "seed": 5}).json()["id"]
    ended = until(client, number)
    assert (ended["state"], ended["passed"]) == ("done", True)
    assert ended["command"] == "thalweg run small.toml --seed 5"
    folder = tmp_path / "out" / "small" / "seed=5"
    mine = tw.Result.load(folder)
    assert (folder / "report.html").is_file()
    assert client.get(f"activity/{number}/report.html").status_code == 200
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


@pytest.mark.skipif(NOT_PERMITTED is not None, reason=str(NOT_PERMITTED))
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
    from thalweg.cli import execute

    location = execute.run_location(plan, studio.folder.out / "x")
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


def test_without_the_extra_the_command_says_what_to_install(capsys, monkeypatch):
    from thalweg.cli import studio as verb

    monkeypatch.setattr(verb, "LIBRARIES", ("starlette", "a_library_that_is_missing"))
    assert call(["studio"]) == 1
    said = capsys.readouterr().err
    assert "a_library_that_is_missing, which is not installed" in said
    assert "pip install thalweg[studio]" in said


def test_a_live_view_is_for_one_run(capsys, tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    assert call(["run", str(file), "--live"]) == 2
    assert "--live is for one run" in capsys.readouterr().err


@contextlib.contextmanager
def started(*words, cwd):
    """The studio in a process of its own, and its address."""
    environment = {**os.environ, "BROWSER": "true"}
    command = [sys.executable, "-m", "thalweg", *words]
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def address_of(lines):
    """The address in what a command prints."""
    for line in lines:
        if found := re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", line):
            return found[0]
    raise AssertionError("it prints no address")


def fetched(address, path, given=None):
    """An answer of a studio in another process."""
    from urllib.request import Request, urlopen

    body = None if given is None else json.dumps(given).encode()
    with urlopen(Request(address + path, data=body), timeout=300) as answer:
        return json.loads(answer.read())


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


def status(done, sent, *, lost=0, total=10_000_000):
    """A status as the core reports it."""
    return {
        "phase": "open",
        "bytes": sent,
        "done_bytes": done,
        "total_bytes": total,
        "packets": sent // 1400,
        "lost": lost,
        "allowed_bps": 20_000_000,
        "limit_bps": 0,
        "rtt_s": 0.025,
        "scheme": "cvihis",
        "mode": "background",
    }


def columns_of(data):
    """The columns of the charts of a page, by chart and line; the times are those of `time_s`."""
    header = json.loads(data)
    numbers = np.frombuffer(gzip.decompress(base64.b64decode(header["bytes"])), dtype="<f8")
    return {
        chart["name"]: {
            name: numbers[first : first + length]
            for name, (first, length) in zip(
                ["time_s", *(one["label"] for one in chart["subjects"])], chart["columns"], strict=True
            )
        }
        for chart in header["charts"]
    }


def test_the_charts_of_a_transfer_have_every_byte_however_long_it_is():
    from thalweg.studio.transfer import MAX_SAMPLES, TransferActivity

    activity = TransferActivity(SimpleNamespace(stop=lambda: None), "film to host", "", sending=True)
    last = 5 * MAX_SAMPLES
    for step in range(last + 1):
        activity.look(status(500 * step, 700 * step, lost=step // 10, total=500 * last), 0.2 * step, "line")
    assert activity.snapshot()["progress"] == {"share": 1.0, "label": "line"}
    charts = activity.charts()
    rate = columns_of(charts["data"])["rate"]
    assert set(rate) == {"time_s", "sent, with headers and repairs", "delivered", "allowed by the scheme"}
    assert MAX_SAMPLES / 4 < len(rate["time_s"]) <= MAX_SAMPLES
    steps = np.diff(rate["time_s"])
    for line, bytes_per_step in (("sent, with headers and repairs", 700), ("delivered", 500)):
        moved = np.sum(rate[line][1:] * steps) / 8
        assert moved == pytest.approx(bytes_per_step * rate["time_s"][-1] / 0.2)
    assert columns_of(charts["data"])["lost"]["lost"][-1] == pytest.approx(rate["time_s"][-1] / 2, abs=1)
    assert {"what": "round-trip time", "value": "25 ms"} in charts["flows"]["rows"]


def test_a_transfer_without_an_end_has_no_share_and_a_failed_one_says_why():
    from thalweg.studio.transfer import TransferActivity

    activity = TransferActivity(SimpleNamespace(stop=lambda: None), "stream", "", sending=False)
    activity.look(status(10, 20, total=0), 0.0, "10 B")
    assert activity.snapshot()["progress"] == {"share": None, "label": "10 B"}
    ended = {**status(30, 50, total=0), "complete": False, "end": "silent"}
    with activity.watched():
        activity.finish(ended, 1.0, "incomplete: the sender stopped answering", "start it again", [])
    said = activity.snapshot()
    assert (said["state"], said["note"]) == ("failed", "incomplete: the sender stopped answering")
    assert said["hint"] == "start it again"


def test_the_folder_of_a_transfer_is_not_served(client, studio, small):
    from thalweg.studio.transfer import TransferActivity

    studio.hub.add(TransferActivity(SimpleNamespace(stop=lambda: None), "film", "", sending=True))
    assert client.get("activity/1/small.toml").status_code == 404
    with client.websocket_connect(f"/{TOKEN}/live", headers={"host": HOST}) as socket:
        [shown] = socket.receive_json()["activities"]
    assert (shown["kind"], shown["folder"], shown["page"]) == ("transfer", "", False)
    studio.hub.find(1).finish(
        {**status(1, 2), "complete": True, "end": "complete"}, 1.0, "complete", None, []
    )


@pytest.mark.processes
def test_a_transfer_is_watched_and_stopped_from_the_browser(tmp_path):
    (tmp_path / "film.bin").write_bytes(bytes(range(256)) * 40_000)
    at = f"127.0.0.1:{transfer_ends.port()}"
    receiver = transfer_ends.start(
        "recv", at.rpartition(":")[2], "--bind", "127.0.0.1", "--into", tmp_path / "in", "--json"
    )
    words = ("send", "film.bin", at, "--rate", "2 Mbit/s", "--live", "--json")
    with started(*words, cwd=tmp_path) as process:
        address = address_of(iter(process.stderr.readline, ""))
        deadline = time.monotonic() + 300
        charts = {"data": None}
        while charts["data"] is None or np.nansum(columns_of(charts["data"])["rate"]["delivered"]) == 0:
            assert time.monotonic() < deadline, "nothing is shown"
            time.sleep(0.1)
            charts = fetched(address, "api/charts/1")
        assert charts["flows"]["heading"] == "So far"
        fetched(address, "api/stop", {"id": 1})
        while charts["flows"]["heading"] != "Outcome":
            assert time.monotonic() < deadline + 300, "it does not end"
            time.sleep(0.1)
            charts = fetched(address, "api/charts/1")
        rate = columns_of(charts["data"])["rate"]
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=300)
    said = json.loads(out)
    assert (process.returncode, said["end"]) == (130, "stopped")
    delivered = np.nansum(rate["delivered"][1:] * np.diff(rate["time_s"])) / 8
    assert delivered == pytest.approx(said["done_bytes"])
    assert transfer_ends.end(receiver)["code"] == 1


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
    assert '"reno"' in saw["completed"]
    assert saw["mended"] == 0
    # both browsers see the run
    assert re.search(r"of 100.000 s · .+ × real time", saw["live"])
    assert re.search(r"of 100.000 s · .+ × real time", saw["liveElsewhere"])
    assert saw["flows"] == ["reno", "cubic"]
    assert len(saw["charts"]) == 2
    assert saw["state"] == "stopped"
    assert saw["report"] == "Reno and CUBIC at one bottleneck"
    assert saw["folder"] == "out/reno-and-cubic/seed=7"
    assert tw.Result.load(tmp_path / saw["folder"]).record["status"] == "interrupted"
    assert saw["cells"] == 4
    assert saw["sweep"] == "Buffers and schemes"
    assert set(saw["results"]) == {"Reno and CUBIC at one bottleneck", "Buffers and schemes"}
    assert saw["compared"]
    assert saw["made"] == "#/edit/tcp.toml"
    assert (tmp_path / "tcp.toml").is_file()
    assert tw.load(tmp_path / "reno-and-cubic.toml").toml == LONG
