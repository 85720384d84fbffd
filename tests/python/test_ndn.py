"""`thalweg ndn`: files from and to forwarders. What needs ndnd or a namespace says that it was skipped without it."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import thalweg as tw
from thalweg import _native, ndn
from thalweg.cli import call
from thalweg.errors import NdnError

ROOT = Path(__file__).resolve().parents[2]


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """What is said about a mistake."""
    assert call(["ndn", *words]) == code
    return capsys.readouterr().err


class Pipe(threading.Thread):
    """A forwarder with one route: it carries frames between a producer and a consumer, and answers the first command."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(str(path))
        self.listening.listen(2)
        self.face = f"unix://{path}"
        self.start()

    def run(self) -> None:
        producer, _ = self.listening.accept()
        # the producer's command is the first that comes; it is answered with a success under its name
        frame = b""
        while b"rib" not in frame or len(frame) < 2 + frame[1]:
            frame += producer.recv(65536)
        name = frame[frame.index(b"\x07") :]
        name = name[: 2 + name[1]]
        content = bytes([0x65, 7, 0x66, 1, 200, 0x67, 2]) + b"OK"
        body = name + bytes([0x15, len(content)]) + content + bytes([0x16, 3, 0x1B, 1, 0])
        whole = body + bytes([0x17, 32]) + hashlib.sha256(body).digest()
        producer.sendall(bytes([0x06, *self.length(len(whole))]) + whole)
        consumer, _ = self.listening.accept()
        threading.Thread(target=self.run_transfer, args=(consumer, producer), daemon=True).start()
        self.run_transfer(producer, consumer)

    @staticmethod
    def length(count: int) -> bytes:
        return bytes([count]) if count < 253 else bytes([253, count >> 8, count & 255])

    @staticmethod
    def run_transfer(source: socket.socket, target: socket.socket) -> None:
        try:
            while some := source.recv(65536):
                target.sendall(some)
        except OSError:
            pass


def test_a_file_is_served_and_fetched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, copy = tmp_path / "file", tmp_path / "copy"
    file.write_bytes(bytes(range(256)) * 2000)
    pipe = Pipe(tmp_path / "nfd.sock")
    stop, served = threading.Event(), {}
    ready = threading.Event()

    def serve() -> None:
        served.update(
            ndn.put(
                "/test/f",
                file,
                face=pipe.face,
                pcap=tmp_path / "put.pcapng",
                stop=stop,
                progress=lambda at: at.ready and ready.set(),
            )
        )

    producer = threading.Thread(target=serve)
    producer.start()
    assert ready.wait(20)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    words = [
        "ndn",
        "get",
        "/test/f",
        "-o",
        str(copy),
        "--face",
        pipe.face,
        "--scheme",
        "aimd",
        "--json",
        "--sha256",
        digest,
    ]
    assert call([*words, "--pcap", str(tmp_path / "get.pcapng")]) == 0
    told = json.loads(capsys.readouterr().out)
    stop.set()
    producer.join(20)
    assert copy.read_bytes() == file.read_bytes()
    assert told["complete"]
    assert told["error"] is None
    assert (told["bytes"], told["segments"], told["segments_written"]) == (512_000, 64, 64)
    assert told["name"].startswith("/test/f/v=")
    assert told["sha256"] == digest
    assert told["goodput_bps"] > 0
    assert told["rtt_min_s"] > 0
    assert served["segments"] >= 64
    assert served["metadata"] == 1
    assert list(tmp_path.glob(".copy*")) == [], "no part is left"
    traffic = told["traffic"]
    assert told["captured"] == traffic["frames_sent"] + traffic["frames_received"]
    tool = shutil.which("tshark")
    if tool is None:
        pytest.skip("there is no tshark to read the captures with")
    lua = Path(tw.__file__).parent / "wireshark" / "ndn.lua"

    def column(path: str, rule: str, field: str) -> list[str]:
        words = [tool, "-X", f"lua_script:{lua}", "-r", str(tmp_path / path)]
        words += ["-o", "udp.check_checksum:TRUE", "-Y", rule, "-T", "fields", "-e", field]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()

    came = 'ndn.packet == "Data" && frame.interface_name == "received"'
    names = column("get.pcapng", came, "ndn.name")
    assert {f"{told['name']}/seg={n}" for n in range(64)} <= set(names)
    assert set(names) <= set(column("put.pcapng", came.replace("received", "sent"), "ndn.name"))
    for path in ("get.pcapng", "put.pcapng"):
        assert column(path, "_ws.malformed || udp.checksum.status == 0", "frame.number") == []


def test_errors_have_plain_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    nowhere = f"unix://{tmp_path}/nfd.sock"
    said = refused(capsys, "get", "/a", "-o", out, "--face", nowhere, code=1)
    assert f"no forwarder at {nowhere}" in said
    assert "ndnd fw run" in said
    said = refused(capsys, "put", "/a", str(ROOT / "README.md"), "--face", nowhere, code=1)
    assert f"no forwarder at {nowhere}" in said
    assert "such as unix://" in refused(capsys, "get", "/a", "-o", out, "--face", "tcp://localhost")
    assert "hexadecimal" in refused(capsys, "get", "/a%2", "-o", out, "--face", nowhere)
    assert "64 hexadecimal" in refused(capsys, "get", "/a", "-o", out, "--sha256", "12")
    assert "lifetime" in refused(capsys, "get", "/a", "-o", out, "--lifetime", "4")
    assert "no such folder" in refused(capsys, "get", "/a", "-o", str(tmp_path / "no" / "out"))
    assert f"-o {tmp_path / 'film'}" in refused(capsys, "get", "/a/film", "-o", str(tmp_path))
    assert "did you mean `cubic`" in refused(capsys, "get", "/a", "-o", out, "--scheme", "cubik")
    assert "consumers of named data" in refused(capsys, "get", "/a", "-o", out, "--scheme", "mca")
    assert "did you mean `beta`" in refused(capsys, "get", "/a", "-o", out, "--set", "betta=1")
    assert call(["ndn", "get", "/a", "-o", "-", "--json"]) == 2
    assert "cannot both" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert "from 1 to 8400" in refused(capsys, "put", "/a", "x", "--segment", "9000")
    assert "No such file" in refused(capsys, "put", "/a", str(tmp_path / "none"), "--face", nowhere, code=1)
    assert not Path(out).exists()


def test_a_scheme_that_is_not_for_consumers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nfd.sock"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(path))
    listening.listen(1)
    with pytest.raises(NdnError, match=r"`bbr` is no scheme of consumers.*aimd"):
        ndn.get("/a", tmp_path / "out", face=f"unix://{path}", consumer=ndn.Consumer(scheme="bbr"))


def test_names_and_faces_are_written_in_one_way() -> None:
    assert _native.ndn_name("ndn:/a//b/54=%07") == "/a/b/v=7"
    assert _native.ndn_face("udp4://10.0.0.1") == "udp://10.0.0.1:6363"
    with pytest.raises(ValueError, match="a number from 1 to 65535"):
        _native.ndn_name("/a=b")


def test_files_go_through_the_go_forwarder_both_ways() -> None:
    words = [sys.executable, str(ROOT / "tools" / "interop.py"), "check", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    answer = json.loads(done.stdout)
    if "skipped" in answer:
        pytest.skip(answer["skipped"])
    assert done.returncode == 0, answer
    rows = answer["rows"]
    ways = {(row["producer"], row["client"]) for row in rows}
    assert ways == {("ndnd", "ndnd"), ("ndnd", "cubic"), ("thalweg", "ndnd"), ("thalweg", "cubic")}
    assert all(row["complete"] for row in rows), rows


SCENARIO = """
title = "two segments a second"
duration = "3 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "1 Mbit/s", delay = "5 ms", buffer = "20 packets" }

[[producers]]
prefix = "/films"
node = "right1"

[[flows]]
name = "film"
network = "ndn"
from = "left1"
prefix = "/films/a"
scheme = "aimd"
"""


def test_a_capture_of_named_data_holds_packets_of_ndn(tmp_path: Path) -> None:
    tool = shutil.which("tshark")
    if tool is None:
        pytest.skip("there is no tshark to read the capture with")
    file = tmp_path / "film.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    plan = tw.load(file).plan()
    result = plan.run(out=tmp_path / "out", capture=["bottleneck"])
    lua = Path(tw.__file__).parent / "wireshark" / "ndn.lua"
    path = tmp_path / "out" / "capture.pcapng"

    def column(rule: str, field: str) -> list[str]:
        words = [tool, "-X", f"lua_script:{lua}", "-r", str(path), "-Y", rule, "-T", "fields", "-e", field]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()

    names = column('ndn.packet == "Data"', "ndn.name")
    assert names[0] == "/films/a/seg=0"
    assert len(names) > 100
    assert set(column('ndn.packet == "Data"', "ndn.signature")) == {"0"}
    assert len(column('ndn.packet == "Interest"', "ndn.nonce")) >= len(names)
    assert column("_ws.malformed", "frame.number") == []
    sent = result.links.filter(result.links["link"] == "bottleneck")["sent_packets"].sum()
    # one in each direction may be under way when it ends
    assert 0 <= sent - len(column("ndn", "frame.number")) <= 2
