"""Our NDN forwarder as a process, and several of them together, over sockets of this machine."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from thalweg import _native, forward
from thalweg.cli import call, ndn_forward
from thalweg.cli.out import Refusal
from thalweg.papers.mircc import live, scenarios

LINK = {"name": "core", "to": "127.0.0.1:9", "rate": "12 Mbit/s"}


def settings(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {"listen": {"unix": str(tmp_path / "ndn.sock")}, **more}


def test_a_forwarder_stands_until_it_is_told_to_stop(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def told(stats: dict[str, Any]) -> bool:
        seen.append(stats)
        assert (tmp_path / "ndn.sock").exists()
        return len(seen) < 2

    table = settings(
        tmp_path,
        forwarder={"link": "mircc", "link_params": {"interval": "50 ms"}, "strategy": "weighted"},
        links=[LINK],
        routes=[{"prefix": "/video", "link": "core"}],
    )
    ended = forward.forward(table, told=told)
    assert (len(seen), ended["routes"], ended["pending"]) == (2, 1, 0)
    assert [face["name"] for face in ended["faces"]] == ["core"]
    assert not (tmp_path / "ndn.sock").exists()


class Slow:
    """A forwarder that asks its own process to end, is told to stop, and takes its time over it."""

    def __init__(self, asked: signal.Signals) -> None:
        self.asked = asked
        self.looked_at = threading.Event()
        self.stopped = threading.Event()

    @property
    def stats(self) -> None:
        self.looked_at.set()

    def stop(self) -> None:
        self.stopped.set()

    def run(self, _settings: str, _control: Slow) -> str:
        assert self.looked_at.wait(60)
        os.kill(os.getpid(), self.asked)
        assert self.stopped.wait(60)
        # whoever takes this thread for dead goes on meanwhile
        threading.Event().wait(0.2)
        return json.dumps({"routes": 7})


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_a_forwarder_that_is_asked_to_end_says_how_it_stood(
    monkeypatch: pytest.MonkeyPatch, asked: signal.Signals
) -> None:
    slow = Slow(asked)
    monkeypatch.setattr(_native, "ForwardControl", lambda: slow)
    monkeypatch.setattr(_native, "ndn_forward", slow.run)
    before = signal.signal(asked, signal.default_int_handler)
    try:
        assert forward.forward({}) == {"routes": 7}
    finally:
        signal.signal(asked, before)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"listen": {}}, "at `udp`, at `unix`, or at both"),
        ({"forwarder": {"strateggy": "asf"}}, "`forwarder.strateggy`: there is no such key; there are"),
        ({"forwarder": {"strategy": "asff"}}, "no strategy `asff`"),
        ({"forwarder": {"link": "reno"}}, "no scheme `reno` with a part at links"),
        ({"forwarder": {"link": "mircc"}, "links": [{"name": "a", "to": "127.0.0.1:9"}]}, "`a` has none"),
        ({"links": [{**LINK, "rate": "12"}]}, "`links[0].rate`"),
        ({"links": [{**LINK, "to": "nowhere"}]}, "`nowhere` is no address"),
        ({"links": [{"name": "a"}]}, "where does it lead"),
        ({"routes": [{"prefix": "/a", "link": "core"}]}, "`routes[0].link`: there is no link `core`"),
        ({"links": [LINK], "routes": [{"prefix": "/a%", "link": "core"}]}, "`routes[0].prefix`"),
        ({"limits": {"pending": 0}}, "`limits.pending`: from 1"),
        ({"forwarder": {"store": {"policy": "arc"}}}, "none of none, lru, fifo"),
    ],
)
def test_settings_that_are_wrong_say_where(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        forward.forward(settings(tmp_path, **change) | change)
    assert words in str(error.value)


def test_the_command_refuses_what_is_no_settings_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["ndn", "forward", "--example"]) == 0
    example = capsys.readouterr().out
    path = tmp_path / "forward.toml"
    path.write_text(example)
    assert forward.settings_of(path)["routes"][0]["link"] == "core"
    path.write_text("listen = [")
    with pytest.raises(Refusal, match=r"forward\.toml"):
        ndn_forward.forward(path)
    with pytest.raises(Refusal, match="which settings"):
        ndn_forward.forward()


def test_a_consumer_and_a_producer_meet_over_sockets() -> None:
    experiment = live.experiment(scenarios.Case(tick_ms=100))
    assert [host["name"] for host in experiment["hosts"]] == list(live.HOSTS)
    experiment["span"] = "800 ms"
    for host in experiment["hosts"]:
        for app in host["apps"]:
            if "scheme" in app:
                app |= {"start": "100 ms", "stop": "400 ms"}
    for wire in experiment["wires"]:
        wire["delay"] = "5 ms"
    done = json.loads(_native.ndn_together(json.dumps(experiment), _native.ForwardControl()))
    hosts = {host["name"]: host for host in done}
    for name in ("c1", "c2"):
        app = hosts[name]["apps"][0]
        assert 0 < len(app["received_s"]) <= len(app["generated_s"]) <= 310
        assert hosts[name]["packets"]["unsolicited"] == 0
    assert hosts["r1"]["packets"]["data_out"] > 0
    sample = live.sample_of(hosts)
    assert sample["generated"].shape == (2, len(sample["times_s"]))
    assert sample["generated"].sum() == pytest.approx(
        10 * sum(len(hosts[name]["apps"][0]["generated_s"]) for name in ("c1", "c2"))
    )


def test_what_is_measured_of_pairs_is_told_for_both_worlds() -> None:
    simulated = live.simulated(scenarios.Case(tick_ms=100, interval_ms=100))
    pair = live.Pair(100, simulated, simulated, 1e-4, 2e-3)
    rows = live.rows([pair])
    assert [row["world"] for row in rows] == ["simulated", "live"]
    assert rows[0]["c1_both"] == rows[1]["c1_both"] == pytest.approx(600, rel=0.1)
    assert (rows[0]["late_p99_ms"], rows[1]["late_p99_ms"]) == (None, 2.0)
    assert len(live.picture([pair]).axes) == 2
