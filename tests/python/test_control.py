"""An SDN controller and forwarders as processes of this machine, and what the simulator says of the same scenario."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from thalweg import forward, load
from thalweg.cli import call
from thalweg.errors import TransferError

pytestmark = pytest.mark.processes

SCENARIO = """
title = "A film at two places"
seed = 1
duration = "10 s"

[topology]
kind = "custom"
links = [
    { name = "first", ends = ["r1", "r2"], rate = "4 Mbit/s", delay = "5 ms", buffer = "100 packets" },
    { name = "second", ends = ["r1", "r3"], rate = "4 Mbit/s", delay = "5 ms", buffer = "100 packets" },
]

[ndn]
link = "ndnsieve"

[sdn]
app = "ndnsieve"

[[producers]]
prefix = "/film"
node = ["r2", "r3"]

[[flows]]
name = "film"
network = "ndn"
scheme = "ndnsieve"
from = "r1"
prefix = "/film"

[record]
events = true
"""
"""The controller is set up with this, and the simulator runs it."""

FILE_BYTES = 4_000_000
"""Eight seconds of one link."""
LINKS = {"r1": {"first": "r2", "second": "r3"}, "r2": {"first": "r1"}, "r3": {"second": "r1"}}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "film.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_bytes(os.urandom(32))
    return path


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Process:
    """`thalweg` with these words, until it is asked to end."""

    def __init__(self, *words: object) -> None:
        command = [sys.executable, "-m", "thalweg", *map(str, words)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self) -> dict[str, Any]:
        """What it says when it is asked to end."""
        self.process.send_signal(signal.SIGTERM)
        out, error = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, error
        on_status: dict[str, Any] = json.loads(out)
        return on_status

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until, f"{path} is not there"
        time.sleep(0.05)


def test_forwarders_move_a_prefix_as_a_controller_in_another_process_orders(
    tmp_path: Path, scenario: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    film = tmp_path / "film"
    film.write_bytes(os.urandom(FILE_BYTES))
    ports = {name: free_port() for name in [*LINKS, "controller"]}
    running: list[Process] = []
    everybody, over = threading.Event(), threading.Event()
    controlled: list[dict[str, Any]] = []

    def on_status(stats: dict[str, Any]) -> bool:
        # every port has been reported
        if sum(len(node["loads"]) for node in stats["nodes"]) == 4:
            everybody.set()
        return not over.is_set()

    def control() -> None:
        controlled.append(
            forward.control(load(scenario), f"127.0.0.1:{ports['controller']}", key, on_status=on_status)
        )

    controller = threading.Thread(target=control)
    controller.start()
    try:
        forwarders = {}
        for name, links in LINKS.items():
            rows = "".join(
                f'[[links]]\nname = "{link}"\nto = "127.0.0.1:{ports[to]}"\n'
                'rate = "4 Mbit/s"\ndelay = "5 ms"\nbuffer = 100\n'
                for link, to in links.items()
            )
            settings = tmp_path / f"{name}.toml"
            # no routes: the controller says them
            settings.write_text(
                f'[listen]\nudp = "127.0.0.1:{ports[name]}"\nunix = "{tmp_path}/{name}.sock"\n'
                f'[forwarder]\nlink = "ndnsieve"\n{rows}'
            )
            at = f"127.0.0.1:{ports['controller']}"
            words = ["ndn", "forward", settings, "--controller", at, "--key", key, "--node", name, "--json"]
            forwarders[name] = Process(*words)
            running.append(forwarders[name])
        for name in ("r2", "r3"):
            wait_for(tmp_path / f"{name}.sock")
            face = f"unix://{tmp_path}/{name}.sock"
            words = ["ndn", "put", "/film", film, "--face", face, "--version", 1, "--segment", 1000, "--json"]
            running.append(Process(*words))
        wait_for(tmp_path / "r1.sock")
        assert everybody.wait(60)
        words = ["ndn", "get", "/film", "-o", tmp_path / "copy", "--face", f"unix://{tmp_path}/r1.sock"]
        assert call([str(word) for word in [*words, "--scheme", "ndnsieve", "--json"]]) == 0
        fetched = json.loads(capsys.readouterr().out)
        ended = {name: process.end() for name, process in forwarders.items()}
    finally:
        for process in running:
            process.kill()
        over.set()
        controller.join(30)
    (central,) = controlled
    assert (tmp_path / "copy").read_bytes() == film.read_bytes()
    assert fetched["complete"]
    # it asked at `r2`, since the link to there comes first, until it was moved
    frames = {face["name"]: face["frames_received"] for face in ended["r1"]["faces"]}
    assert min(frames["first"], frames["second"]) > 100
    assert ended["r1"]["controller"]["reroutes"] >= 1
    assert central["reroutes"] >= ended["r1"]["controller"]["reroutes"]
    assert (central["begun"], central["unknown_nodes"]) == (1, 0)
    for stats in ended.values():
        assert stats["controller"]["connected"]
        assert stats["controller"]["statuses"] > 4
        assert stats["controller"]["refused"] == dict.fromkeys(central["refused"], 0)
    assert [node["name"] for node in central["nodes"]] == ["r1", "r2", "r3"]


def test_the_simulator_moves_the_same_prefix_at_the_same_node_to_the_same_link(scenario: Path) -> None:
    events = load(scenario).run().events.to_dicts()
    moved = [event for event in events if event["event"] in ("prefix_moved", "moved_to")]
    assert [event["text"] for event in moved] == ["/film", "link.second"]
    assert {event["subject"] for event in moved} == {"node.r1"}


def test_a_controller_runs_until_it_is_stopped(scenario: Path, key: Path) -> None:
    seen: list[dict[str, Any]] = []

    def on_status(stats: dict[str, Any]) -> bool:
        seen.append(stats)
        return len(seen) < 2

    ended = forward.control(load(scenario), "127.0.0.1:0", key, on_status=on_status)
    assert len(seen) == 2
    assert [(node["name"], node["at"]) for node in ended["nodes"]] == [
        ("r1", None),
        ("r2", None),
        ("r3", None),
    ]
    assert (ended["commands"], ended["begun"]) == (0, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[sdn]\n", "[record.none]\n"), "no controller"),
        (('prefix = "/film"\nnode', 'prefix = "/fi%lm"\nnode'), "prefix `/fi%lm`"),
    ],
)
def test_scenarios_without_a_controller_are_refused(
    tmp_path: Path, key: Path, change: tuple[str, str], words: str
) -> None:
    text = SCENARIO.replace(*change).replace('[record.none]\napp = "ndnsieve"\n', "")
    text = text.replace(
        'prefix = "/film"\n\n[record]', f'prefix = "{"/fi%lm" if "%" in change[1] else "/film"}"\n\n[record]'
    )
    path = tmp_path / "other.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r".") as error:
        forward.control(load(path), "127.0.0.1:0", key)
    assert words in str(error.value)


def test_invalid_keys_and_addresses_are_refused(
    tmp_path: Path, scenario: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = tmp_path / "short"
    short.write_bytes(b"short")
    assert call(["ndn", "control", str(scenario), "--key", str(short)]) == 2
    assert "16 to 4096 bytes" in capsys.readouterr().err
    assert call(["ndn", "control", str(scenario), "--key", str(key), "--listen", "nowhere"]) == 2
    assert "`nowhere` is no address" in capsys.readouterr().err
    assert call(["ndn", "control", str(scenario), "--key", str(key), "--seconds", "0"]) == 2
    settings = {"listen": {"unix": str(tmp_path / "ndn.sock")}}
    for controller, words in [
        ({"key": str(key), "node": "r1"}, "`controller.at`: is missing"),
        ({"at": "127.0.0.1:9", "key": str(key)}, "`controller.node`: is missing"),
        ({"at": "127.0.0.1:9", "node": "r1"}, "`controller.key`: is missing"),
        ({"at": "127.0.0.1:9", "node": "r1", "key": str(key), "period": 1}, "there is no such key"),
    ]:
        with pytest.raises(ValueError, match=r".") as error:
            forward.forward({**settings, "controller": controller})
        assert words in str(error.value)
    assert (
        call(
            [
                "ndn",
                "control",
                str(scenario),
                "--key",
                str(key),
                "--listen",
                "127.0.0.1:0",
                "--seconds",
                "0.5",
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "0 commands" in said
    assert "not connected" in said
    with pytest.raises(TransferError, match="16 to 4096 bytes"):
        forward.forward({**settings, "controller": {"at": "127.0.0.1:9", "node": "r1", "key": str(short)}})
