"""`thalweg emulate` and captures. What needs the right to make network namespaces says that it was skipped without it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import thalweg as tw
from emulated import needs_namespaces
from thalweg.cli import call

pytestmark = pytest.mark.wall_clock


TEXT = """
title = "a file"
duration = "1500 ms"

[topology]
kind = "dumbbell"
bottleneck = { rate = "8 Mbit/s", delay = "5 ms", buffer = "40 packets" }

[[flows]]
name = "file"
kernel = "reno"
size = "200 kB"

[record]
every = "100 ms"
series = ["window", "goodput"]

[emulation]
max_lateness = "1000 s"
"""


def written(folder: Path, text: str = TEXT) -> Path:
    path = folder / "file.toml"
    path.write_text(text, encoding="utf-8")
    return path


def names() -> set[str]:
    """Names of namespaces that this process has made."""
    folder = Path("/run/netns")
    found = folder.iterdir() if folder.is_dir() else []
    return {entry.name for entry in found if entry.name.startswith(f"thalweg-{os.getpid()}-")}


@needs_namespaces
def test_an_emulation_gives_the_tables_of_a_run_and_its_lateness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["emulate", str(written(tmp_path)), "--out", str(out), "--pcap", "bottleneck", "--json"]
    assert call(words) == 0
    answer = json.loads(capsys.readouterr().out)
    said = answer["emulation"]
    assert said["valid"]
    assert (said["packets_in"] > 100, said["overruns"]) == (True, 0)
    assert said["departures"]["p50_s"] <= said["departures"]["p99_s"] <= said["departures"]["max_s"]
    result = tw.Result.load(out)
    assert result.valid
    assert result["flow.file.goodput"] is not None
    assert result.flows["scheme"].to_list() == ["reno"]
    assert set(result.series["series"]) == {"window", "goodput"}
    assert (out / "capture.pcapng").stat().st_size > 200_000, "packets of programs are whole"
    assert call(["report", str(out)]) == 0
    assert "in real time" in (out / "report.html").read_text(encoding="utf-8")
    assert names() == set()


@needs_namespaces
def test_a_run_that_the_machine_could_not_keep_up_with_is_not_valid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, TEXT.replace("1000 s", "1 us"))
    assert call(["emulate", str(path), "--out", str(tmp_path / "out")]) == 3
    assert "not valid" in capsys.readouterr().out
    assert call(["report", str(tmp_path / "out")]) == 0
    assert "Not valid" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@needs_namespaces
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_run_leaves_no_namespace(tmp_path: Path, number: int) -> None:
    path = written(tmp_path, TEXT.replace("1500 ms", "60 s").replace('size = "200 kB"\n', ""))
    command = [
        sys.executable,
        "-m",
        "thalweg",
        "emulate",
        str(path),
        "--out",
        str(tmp_path / "out"),
        "--json",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    prefix = f"thalweg-{process.pid}-"
    folder = Path("/run/netns")

    def left() -> list[str]:
        return (
            [entry.name for entry in folder.iterdir() if entry.name.startswith(prefix)]
            if folder.is_dir()
            else []
        )

    patience = time.monotonic() + 60
    while len(left()) < 2 and time.monotonic() < patience and process.poll() is None:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["status"] == "interrupted"
    assert left() == []


def test_missing_permission_is_reported(tmp_path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can give rights away, by the program `setpriv`")
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-m", "thalweg"]
    done = subprocess.run(
        [*command, "emulate", str(written(tmp_path)), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "needs root" in done.stderr
    assert "hint:" in done.stderr
    assert "Traceback" not in done.stderr


def test_emulate_refuses_invalid_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(tmp_path))
    for words, message in [
        (["emulate"], "the scenario file is missing"),
        (["emulate", path, "--pcap", "bottlenek"], "did you mean `bottleneck`?"),
        (["emulate", path, "--spin-us", "-1"], "--spin-us -1"),
        (["emulate", path, "--poll-interval-us", "-1"], "--poll-interval-us -1"),
        (["emulate", path, "--grain-us", "5"], "--grain-us was renamed to --poll-interval-us"),
        (["run", path, "--pcap", "nowhere"], "there is no such link"),
        (["run", path, "--runs", "2", "--pcap", "bottleneck"], "--pcap is for one run"),
        (["run", path, "--runs", "2", "--qlog", "file"], "--qlog is for one run"),
        (["run", path, "--qlog", "fiel"], "did you mean `file`?"),
        (["emulate", path, "--qlog", "file"], "no flow of that name has a scheme here"),
    ]:
        assert call(words) == 2
        assert message in capsys.readouterr().err


SIMULATED = TEXT.split("[record]")[0].replace('kernel = "reno"', 'scheme = "reno"')


@pytest.mark.parametrize(
    ("scheme", "advice"),
    [
        ('scheme = "cubic"', ['kernel = "cubic"', "flow `file`", "--kernel"]),
        ('scheme = "ledbat"', ["live = true", "flow `file`"]),
        ('source = { kind = "constant", rate = "1 Mbit/s" }', ["commands = {", "flow `file`"]),
        ('stack = "quinn"\ncontroller = "newreno"', ["live = true", "flow `file`"]),
    ],
)
def test_a_scenario_without_a_real_endpoint_is_refused_with_the_keys_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scheme: str, advice: list[str]
) -> None:
    text = SIMULATED.replace('scheme = "reno"', scheme)
    if "source" in scheme:
        text = text.replace('size = "200 kB"\n', "")
    path = written(tmp_path, text)
    assert call(["emulate", str(path), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "no flow of this scenario has a real endpoint" in error
    assert all(word in error for word in advice), error
    with pytest.raises(tw.EmulationError, match="real endpoint") as refused:
        tw.load(path).emulate()
    assert refused.value.hint is not None
    assert not (tmp_path / "out").exists()


@needs_namespaces
def test_kernel_gives_flows_the_kernels_tcp_and_lists_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TEXT.replace('kernel = "reno"', 'scheme = "reno"') + (
        '\n[[flows]]\nname = "noise"\nsource = { kind = "poisson", rate = "100 kbit/s" }\n'
    )
    path = written(tmp_path, text)
    assert call(["emulate", str(path), "--kernel", "--out", str(tmp_path / "out"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["kernel"], answer["simulated"]) == (["file"], ["noise"])
    assert answer["emulation"]["packets_in"] > 100
    assert answer["warnings"] == []
    assert call(["emulate", str(path), "--kernel", "--out", str(tmp_path / "again")]) == 0
    error = capsys.readouterr().err
    assert "kernel TCP: file" in error
    assert "simulated: noise" in error


def test_kernel_is_refused_where_no_flow_or_no_kernel_has_such_a_scheme(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledbat = written(tmp_path, SIMULATED.replace('"reno"', '"ledbat"'))
    assert call(["emulate", str(ledbat), "--kernel"]) == 2
    error = capsys.readouterr().err
    assert "no flow has a scheme of the kernel's: reno, cubic, bbr" in error
    assert "live = true" in error
    monkeypatch.setattr("thalweg.real.kernel_has", lambda _: False)
    monkeypatch.setattr("thalweg.real._available", lambda: ["cubic"])
    path = written(tmp_path, SIMULATED)
    assert call(["emulate", str(path), "--kernel"]) == 2
    error = capsys.readouterr().err
    assert "the kernel of this host has no congestion control `reno`" in error
    assert "it has cubic" in error


@needs_namespaces
def test_commands_alone_are_emulated_and_send_nothing_in_a_simulation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "send.py").write_text(
        "import socket, sys, time\n"
        "link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "for _ in range(40):\n"
        "    link.sendto(b'x' * 50, (sys.argv[1], int(sys.argv[2])))\n"
        "    time.sleep(0.05)\n",
        encoding="utf-8",
    )
    (tmp_path / "receive.py").write_text(
        "import socket, sys\n"
        "link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "link.bind(('', int(sys.argv[1])))\n"
        "while True:\n"
        "    print('received', len(link.recv(99)), flush=True)\n",
        encoding="utf-8",
    )
    text = TEXT.split("[[flows]]")[0].replace("1500 ms", "3 s") + (
        f'[emulation]\nmax_lateness = "1000 s"\n[[flows]]\nname = "program"\n[flows.commands]\n'
        f'sender = "{sys.executable} {tmp_path}/send.py {{to}} {{port}}"\n'
        f'receiver = "{sys.executable} {tmp_path}/receive.py {{port}}"\n'
    )
    path = written(tmp_path, text)
    out = tmp_path / "out"
    assert call(["emulate", str(path), "--out", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["emulation"]["packets_in"] > 5
    assert "received 50" in (out / "commands" / "program-receiver.log").read_text(encoding="utf-8")
    assert [row["key"] for row in answer["warnings"]] == ["flows.program.commands"]
    assert call(["run", str(path), "--out", str(tmp_path / "simulated"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["flows"][0]["sent_packets"] == 0
    plan = tw.load(path).plan()
    assert tw.Scenario.from_toml(plan.toml).plan().toml == plan.toml


def records(path: Path) -> list[dict[str, Any]]:
    """The records of a qlog file: RFC 7464 §2.1."""
    return [json.loads(record) for record in path.read_text(encoding="utf-8").split("\x1e")[1:]]


def test_a_log_of_a_controller_has_what_it_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert call(["run", str(written(tmp_path)), "--out", str(out), "--qlog", "file", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    header, *events = records(out / "file.sqlog")
    assert header["trace"]["common_fields"]["protocol_type"] == ["TCP"]
    sent = [event for event in events if event["name"] == "transport:packet_sent"]
    # the opening of the connection is no affair of the controller
    assert len(sent) == answer["flows"][0]["sent_packets"] - 1
    assert sum(event["data"]["raw"]["length"] for event in sent) >= 200_000
    windows = [event["data"].get("congestion_window") for event in events]
    assert max(window for window in windows if window) > 10 * 1448


@needs_namespaces
def test_a_log_of_a_live_flow_has_its_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = TEXT.replace('kernel = "reno"', 'scheme = "cvihis"\nlive = true').replace('"window", ', "")
    out = tmp_path / "out"
    words = ["emulate", str(written(tmp_path, text.replace('size = "200 kB"\n', ""))), "--out", str(out)]
    assert call([*words, "--qlog", "file", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    _, *events = records(out / "file.sqlog")
    sent = [event for event in events if event["name"] == "transport:packet_sent"]
    assert abs(len(sent) - answer["flows"][0]["sent_packets"]) <= 1
    rates = {event["data"]["pacing_rate"] for event in events if "pacing_rate" in event["data"]}
    assert len(rates) > 3


def test_a_capture_of_a_simulation_is_read_by_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert call(["run", str(written(tmp_path)), "--out", str(out), "--pcap", "bottleneck", "--json"]) == 0
    capsys.readouterr()
    path = out / "capture.pcapng"
    assert path.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    tool = shutil.which("tshark")
    if tool is None:
        pytest.skip("there is no tshark to read the capture with")
    checked = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]

    def count(rule: str) -> int:
        command = [tool, "-r", str(path), *checked, "-Y", rule]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return len(done.stdout.splitlines())

    # 200 kB in segments of 1448 B are 139
    assert count("tcp.len > 0 && ip.src == 10.0.0.1") >= 139
    assert count("_ws.malformed") == 0
    assert count("ip.checksum.status == 0 || tcp.checksum.status == 0") == 0
    result = tw.Result.load(out)
    again = count(
        "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.out_of_order"
    )
    retransmits = result["flow.file.retransmits"]
    # what was lost before the link and is retransmitted last looks new to an observer of the link only
    assert retransmits is not None
    assert 0 < again <= retransmits
    sent = result.links.filter(result.links["link"] == "bottleneck")["sent_packets"].sum()
    assert count("tcp") == sent


@needs_namespaces
def test_a_counterexample_of_break_is_run_in_real_time() -> None:
    from thalweg.breaking import PROPERTIES, Finding, Space

    network = {"rate": 4.0, "delay": 20.0, "buffer": 1.0, "own": 1.0, "rivals": 1.0, "rival_scheme": "reno"}
    space = Space.of("cubic", ["reno"])
    found = Finding(space, PROPERTIES["starve"], network, 3.0, (0.05,), (1,)).in_emulation().emulated
    assert found is not None
    assert found.outcome != "not run", found.reason
    assert set(found.ends) == {"own", "rival"}
    assert found.value is not None, "both flows deliver something"
    assert 0 < found.value <= 1
