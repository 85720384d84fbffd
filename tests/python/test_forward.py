"""Our NDN forwarder as a process, and several of them together, over sockets of this machine."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from thalweg import _native, forward
from thalweg.cli import call, ndn_forward, progress
from thalweg.cli.output import CommandError
from thalweg_papers.mircc import live, scenarios

pytestmark = pytest.mark.processes

LONGEST_S = 120
"""What every process of a test is given at most."""

LINK = {"name": "core", "to": "127.0.0.1:9", "rate": "12 Mbit/s"}


def settings(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {"listen": {"unix": str(tmp_path / "ndn.sock")}, **more}


def test_a_forwarder_runs_until_it_is_stopped(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def on_status(stats: dict[str, Any]) -> bool:
        seen.append(stats)
        assert (tmp_path / "ndn.sock").exists()
        return len(seen) < 2

    table = settings(
        tmp_path,
        forwarder={"link": "mircc", "link_params": {"interval": "50 ms"}, "strategy": "weighted"},
        links=[LINK],
        routes=[{"prefix": "/video", "link": "core"}],
    )
    ended = forward.forward(table, on_status=on_status)
    assert (len(seen), ended["routes"], ended["pending"]) == (2, 1, 0)
    assert [face["name"] for face in ended["faces"]] == ["core"]
    assert not (tmp_path / "ndn.sock").exists()


def test_bounds_and_marks_can_be_set(tmp_path: Path) -> None:
    table = settings(
        tmp_path,
        forwarder={"store": {"policy": "lru", "size": 100_000}},
        programs={"marks": False},
        links=[{**LINK, "mark_above": "9 kB", "mark_interval": "50 ms"}],
        limits={
            "pending": 10,
            "pending_face": 3,
            "pending_strangers": 2,
            "store_bytes": 9000,
            "queue_bytes": 9000,
        },
    )
    ended = forward.forward(table, on_status=lambda _: False)
    assert (ended["queued_bytes"], ended["refused_for_share"], ended["names_too_long"]) == (0, 0, 0)
    face = ended["faces"][0]
    assert (face["interests_pending"], face["interests_refused"], face["packets_marked"]) == (0, 0, 0)


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

    def run(self, _settings: str, _control: Slow, _pcap: str | None) -> str:
        assert self.looked_at.wait(60)
        os.kill(os.getpid(), self.asked)
        assert self.stopped.wait(60)
        # a process that regards this thread as dead continues meanwhile
        threading.Event().wait(0.2)
        return json.dumps({"routes": 7})


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_forwarder_returns_its_final_status_on_sigterm(
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
        ({"limits": {"pending_face": 0}}, "`limits.pending_face`: from 1"),
        ({"limits": {"names": 1000}}, "`limits.names`: 1000 are too few; at least 34816"),
        ({"limits": {"pending_faces": 5}}, "`limits.pending_faces`: there is no such key"),
        ({"programs": {"marks": "no"}}, '`programs.marks`: "no" is neither true nor false'),
        ({"programs": {"mark_above": "64"}}, "`programs.mark_above`"),
        (
            {"links": [{"name": "a", "to": "127.0.0.1:9", "mark_above": "9 kB"}]},
            "without a rate nothing waits",
        ),
        ({"forwarder": {"store": {"policy": "arc"}}}, "none of none, lru, fifo"),
    ],
)
def test_errors_in_settings_have_their_place(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        forward.forward(settings(tmp_path, **change) | change)
    assert words in str(error.value)


def test_the_command_refuses_a_missing_settings_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["ndn", "forward", "--example"]) == 0
    example = capsys.readouterr().out
    path = tmp_path / "forward.toml"
    path.write_text(example)
    assert forward.read_settings(path)["routes"][0]["link"] == "core"
    # as editors of other systems save it
    marked = tmp_path / "marked.toml"
    marked.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert forward.read_settings(marked) == forward.read_settings(path)
    path.write_text("listen = [")
    with pytest.raises(CommandError, match=r"forward\.toml"):
        ndn_forward.forward(path)
    with pytest.raises(CommandError, match="settings file is missing"):
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


def test_values_of_pairs_are_reported_for_simulation_and_emulation() -> None:
    simulated = live.simulated(scenarios.Case(tick_ms=100, interval_ms=100))
    pair = live.Pair(100, simulated, simulated, 1e-4, 2e-3)
    rows = live.rows([pair])
    assert [row["world"] for row in rows] == ["simulated", "live"]
    assert rows[0]["c1_both"] == rows[1]["c1_both"] == pytest.approx(600, rel=0.1)
    assert (rows[0]["late_p99_ms"], rows[1]["late_p99_ms"]) == (None, 2.0)
    assert len(live.picture([pair]).axes) == 2


def port() -> int:
    """A port of the loopback device that nobody uses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


def table(host: str, rates: dict[str, str], ports: dict[str, int], folder: Path) -> str:
    """Settings of a forwarder with PCON: a link to each neighbour, and routes over those that are nearer to the producer."""
    lines = [
        "[listen]",
        f'udp = "127.0.0.1:{ports[host]}"',
        f'unix = "{folder / host}.sock"',
        "[forwarder]",
        'strategy = "pcon"',
        'link = "pcon"',
    ]
    order = {"a": 0, "r1": 1, "r2": 1, "p": 2}
    for other, rate in rates.items():
        lines += ["[[links]]", f'name = "{other}"', f'to = "127.0.0.1:{ports[other]}"', f'rate = "{rate}"']
        lines += ['delay = "5 ms"', "buffer = 200"]
        if order[other] > order[host]:
            lines += ["[[routes]]", 'prefix = "/film"', f'link = "{other}"']
    return "\n".join(lines) + "\n"


def test_a_file_goes_through_a_network_of_processes_by_two_ways(tmp_path: Path) -> None:
    """Four forwarders, a producer and a consumer, each a process; from `a` to `p` two ways of 8 and 4 Mbit/s."""
    wires = {
        "a": {"r1": "8 Mbit/s", "r2": "4 Mbit/s"},
        "r1": {"a": "8 Mbit/s", "p": "50 Mbit/s"},
        "r2": {"a": "4 Mbit/s", "p": "50 Mbit/s"},
        "p": {"r1": "50 Mbit/s", "r2": "50 Mbit/s"},
    }
    ports = {host: port() for host in wires}
    file, copy = tmp_path / "film", tmp_path / "copy"
    file.write_bytes(random.Random(5).randbytes(3_000_000))
    running: list[subprocess.Popen[bytes]] = []

    def start(*words: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "thalweg", "ndn", *map(str, words)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running.append(process)
        return process

    def end(process: subprocess.Popen[bytes]) -> dict[str, Any]:
        out, err = process.communicate(timeout=LONGEST_S)
        assert out, err.decode()
        said: dict[str, Any] = json.loads(out)
        return said

    def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
        last = time.monotonic() + LONGEST_S
        while not path.exists():
            assert process.poll() is None, process.communicate()[1].decode()
            assert time.monotonic() < last, path
            time.sleep(0.02)

    try:
        forwarders = {}
        for host, rates in wires.items():
            settings_file = tmp_path / f"{host}.toml"
            settings_file.write_text(table(host, rates, ports, tmp_path))
            pcap = ["--pcap", tmp_path / "a.pcapng"] if host == "a" else []
            forwarders[host] = start("forward", settings_file, "--json", "--seconds", LONGEST_S, *pcap)
        for host, process in forwarders.items():
            wait_for(tmp_path / f"{host}.sock", process)
        producer = start(
            "put", "/film", file, "--face", f"unix://{tmp_path}/p.sock", "--segment", 1000, "--json"
        )
        assert producer.stderr is not None
        assert producer.stderr.readline().startswith(b"serving"), "it has registered"
        words = [
            "get",
            "/film",
            "-o",
            copy,
            "--face",
            f"unix://{tmp_path}/a.sock",
            "--scheme",
            "pcon",
            "--json",
        ]
        fetched = end(start(*words))
        for process in (producer, *forwarders.values()):
            process.send_signal(signal.SIGINT)
        served = end(producer)
        stood = {host: end(process) for host, process in forwarders.items()}
    finally:
        for process in running:
            process.kill()
            process.wait()
    assert fetched["complete"], fetched
    assert copy.read_bytes() == file.read_bytes()
    assert served["segments"] >= 3000
    faces = {face["name"]: face for face in stood["a"]["faces"]}
    near, far = faces["r1"]["frames_received_bytes"], faces["r2"]["frames_received_bytes"]
    assert near > far > 50_000, "both ways carry some of it"
    assert near + far > 3_000_000
    assert fetched["marks"] > 0, "queues stood, and said so"
    for host, stats in stood.items():
        assert stats["pending"] == stats["queued_bytes"] == stats["refused_for_room"] == 0, host
        assert [face["frames_malformed"] for face in stats["faces"]] == [0] * len(stats["faces"]), host
    frames = sum(
        face["frames_received"] + face["frames_sent"] - face["frames_dropped_here"]
        for face in stood["a"]["faces"]
    )
    assert [face["name"] for face in stood["a"]["faces"]] == ["r1", "r2", "ended"]
    assert stood["a"]["capture_failure"] is None
    assert stood["a"]["captured"] == frames > 12_000
    tool = shutil.which("tshark")
    if tool is None:
        pytest.skip("there is no tshark to read the capture with")
    lua = Path(forward.__file__).parent / "wireshark" / "ndn.lua"

    def count(rule: str) -> int:
        command = [tool, "-X", f"lua_script:{lua}", "-r", str(tmp_path / "a.pcapng")]
        command += ["-o", "udp.check_checksum:TRUE", "-d", f"udp.port=={ports['a']},ndn", "-Y", rule]
        return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())

    assert count("_ws.malformed || udp.checksum.status == 0") == 0
    for name in ("r1", "r2"):
        assert (
            count(f'frame.interface_name == "{name}"')
            == faces[name]["frames_received"] + faces[name]["frames_sent"]
        )
        received = f'frame.interface_name == "{name}" && frame.p2p_dir == 1'
        assert (
            count(received) == count(f'{received} && ndn.packet == "Data"') == faces[name]["frames_received"]
        )
    assert (
        count('frame.interface_name == "programs" && ndn.packet == "Interest" && udp.dstport == 6363') >= 3000
    )
    assert count('frame.interface_name == "strangers"') == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no such file"), (b"\xff\xfe", "no text"), (b"[listen\n", "settings.toml: Expected")],
)
def test_unreadable_settings_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, said: str
) -> None:
    path = tmp_path / "settings.toml"
    if content is not None:
        path.write_bytes(content)
    assert call(["ndn", "forward", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_status_is_shown_on_sigusr1_and_the_time_limit_ends_the_process() -> None:
    shown: list[dict[str, object]] = []
    before = signal.getsignal(signal.SIGUSR1)
    try:
        on_status = progress.status_callback(None, shown.append)
        assert on_status({"routes": 1})
        os.kill(os.getpid(), signal.SIGUSR1)
        assert on_status({"routes": 2})
        assert on_status({"routes": 3})
        assert shown == [{"routes": 2}]
        assert not progress.status_callback(1e-9, shown.append)({})
    finally:
        signal.signal(signal.SIGUSR1, before)
    with pytest.raises(CommandError, match="above 0"):
        progress.status_callback(0, shown.append)


def test_put_and_get_find_the_forwarder_of_the_example(tmp_path: Path) -> None:
    """The three commands of the guide, word by word, in a network of their own: the example listens at UDP port 6363."""
    file, copy = tmp_path / "film.bin", tmp_path / "copy.bin"
    file.write_bytes(random.Random(3).randbytes(100_000))
    command = f"{sys.executable} -m thalweg ndn"
    script = f"""
        cd {tmp_path}
        ip link set lo up
        {command} forward --example > forwarder.toml
        {command} forward forwarder.toml > forward.log 2>&1 &
        until [ -S thalweg-ndn.sock ]; do sleep 0.1; done
        {command} put /films/a film.bin > put.log 2>&1 &
        until grep -q serving put.log; do sleep 0.1; done
        {command} get /films/a -o copy.bin --json
        kill %1 %2
        wait
    """
    process = subprocess.run(
        ["unshare", "--net", "timeout", "50", "bash", "-ec", script],
        capture_output=True,
        timeout=60,
        check=False,
        env={
            **os.environ,
            "XDG_RUNTIME_DIR": str(tmp_path),
            "HOME": str(tmp_path),
            "NDN_CLIENT_TRANSPORT": "",
        },
    )
    if b"unshare failed" in process.stderr:
        pytest.skip("the right to make network namespaces is missing")
    logs = [path.read_text() for path in tmp_path.glob("*.log")]
    assert process.returncode != 124, ("it did not end", logs)
    assert copy.exists(), (process.stdout.decode(), process.stderr.decode(), logs)
    assert copy.read_bytes() == file.read_bytes()
