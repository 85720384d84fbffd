"""Streams of programs: standard input and output, live streams with a deadline, datagrams of encoders."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from transfer_ends import LONGEST_S, end, port, start, until

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("key")]


@pytest.mark.parametrize("scheme", ["cvihis", "cubic"])
def test_standard_input_arrives_at_standard_output(file: Path, scheme: str) -> None:
    at = port()
    receiver = start("recv", at, "--into", "-")
    with file.open("rb") as source:
        sender = start("send", "-", f"127.0.0.1:{at}", "--scheme", scheme, "--json", stdin=source)
        out, err = receiver.communicate(timeout=LONGEST_S)
    assert (end(sender)["code"], receiver.returncode) == (0, 0), err.decode()
    assert out == file.read_bytes()
    assert "complete" in err.decode()


def test_a_live_stream_arrives_in_order(tmp_path: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", "-")
    lines = b"".join(b"%06d\n" % number for number in range(2000))
    sender = start("send", "-", f"127.0.0.1:{at}", "--deadline", "5 s", "--json", stdin=subprocess.PIPE)
    sent, _ = sender.communicate(lines, timeout=LONGEST_S)
    out, err = receiver.communicate(timeout=LONGEST_S)
    said = json.loads(sent)
    assert (sender.returncode, receiver.returncode, said["dropped"]) == (0, 0, 0), err.decode()
    assert out == lines


def test_a_live_stream_of_3_mbps_loses_nothing_and_starts_in_the_real_time_mode() -> None:
    at = port()
    receiver = start("recv", at, "--into", "-", stdout=subprocess.DEVNULL)
    words = ("send", "-", f"127.0.0.1:{at}", "--deadline", "2 s", "--json")
    sender = start(*words, stdin=subprocess.PIPE)
    assert sender.stdin is not None
    began, written = time.monotonic(), 0
    while written < 3 * 375_000:
        due = int((time.monotonic() - began) * 375_000)
        if due > written:
            sender.stdin.write(bytes(due - written))
            sender.stdin.flush()
            written = due
        time.sleep(0.005)
    sent, _ = sender.communicate(timeout=LONGEST_S)
    receiver.communicate(timeout=LONGEST_S)
    said = json.loads(sent)
    assert (said["dropped"], said["end"], said["mode"]) == (0, "complete", "real_time")


def test_datagrams_of_an_encoder_reach_a_player_as_they_were_sent(tmp_path: Path) -> None:
    """A program sends MPEG-TS to `udp://…`, seven packets in a datagram; at the other end a program receives the same."""
    at, encoder_at = port(), port()
    rates = tmp_path / "rates"
    player = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    player.bind(("127.0.0.1", 0))
    receiver = start("recv", at, "--into", f"udp://127.0.0.1:{player.getsockname()[1]}", "--json")
    told = ("--on-rate", f"cat > {rates}", "--patience", 2, "--json")
    sender = start("send", f"udp://127.0.0.1:{encoder_at}", f"127.0.0.1:{at}", "--deadline", "2 s", *told)
    sent = [
        b"".join(bytes([0x47, *divmod(number, 256), part]).ljust(188) for part in range(7))
        for number in range(300)
    ]
    received = []
    with player, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as encoder:
        encoder.connect(("127.0.0.1", encoder_at))

        def encode(datagram: bytes) -> bool:
            try:
                encoder.send(datagram)
            except ConnectionRefusedError:  # of the datagram before, while nobody listens yet
                return False
            return True

        # the first one until a program listens: two in a row that are not refused
        until(lambda: encode(sent[0]) and not time.sleep(0.1) and encode(sent[0]))
        player.settimeout(0.005)
        for datagram in sent[1:]:
            encoder.send(datagram)
            with suppress(TimeoutError):
                received.append(player.recv(65536))
        player.settimeout(LONGEST_S)
        while not received or received[-1] != sent[-1]:
            received.append(player.recv(65536))
    first = sum(datagram == sent[0] for datagram in received[:4])
    assert received[first - 1 :] == sent
    said = end(sender)
    assert (said["code"], said["end"], said["dropped"]) == (0, "complete", 0)
    assert end(receiver)["code"] == 0
    lines = [int(line) for line in rates.read_text(encoding="utf-8").splitlines()]
    assert lines
    assert all(10_000 < rate < 1e9 for rate in lines)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["send", "udp://127.0.0.1:5000", "127.0.0.1:9"], "datagrams have no end"),
        (["send", "udp://5000", "127.0.0.1:9", "--deadline", "1 s"], "no address and port"),
        (["recv", "9000", "--into", "udp://127.0.0.1"], "no address and port"),
    ],
)
def test_datagrams_need_an_address_and_a_deadline(words: list[str], message: str) -> None:
    _, err = start(*words).communicate(timeout=LONGEST_S)
    assert message in " ".join(err.decode().split())


def test_a_file_is_not_passed_on_in_datagrams(file: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", "udp://127.0.0.1:9", "--json")
    said = end(start("send", file, f"127.0.0.1:{at}", "--json"))
    assert said["code"] == 1
    assert "takes live streams only" in said["why"]
    receiver.send_signal(signal.SIGINT)
    receiver.communicate(timeout=LONGEST_S)


def test_a_live_stream_that_is_stopped_is_kept_beside_the_old_file(into: Path) -> None:
    (into / "stdin").write_bytes(b"the old one")
    at = port()
    receiver = start("recv", at, "--into", into, "--overwrite", "--json")
    words = ("send", "-", f"127.0.0.1:{at}", "--deadline", "30 s", "--json")
    sender = start(*words, stdin=subprocess.PIPE)
    assert sender.stdin is not None
    part = into / "stdin.thalweg-part"
    sender.stdin.write(b"beginning")
    sender.stdin.flush()
    until(lambda: part.exists() and part.stat().st_size == 9)
    assert (into / "stdin").read_bytes() == b"the old one"
    receiver.send_signal(signal.SIGINT)
    got = end(receiver)
    sender.stdin.close()
    sender.wait(LONGEST_S)
    assert got["code"] == 130
    assert part.read_bytes() == b"beginning"
    assert (into / "stdin").read_bytes() == b"the old one"
    assert any(str(part) in note for note in got["notes"])


def test_a_live_stream_replaces_the_old_file_when_it_has_ended(into: Path, tmp_path: Path) -> None:
    (into / "stdin").write_bytes(b"the old one")
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious")
    (into / "stdin.thalweg-part").hardlink_to(precious)
    at = port()
    receiver = start("recv", at, "--into", into, "--overwrite", "--json")
    sender = start("send", "-", f"127.0.0.1:{at}", "--deadline", "30 s", "--json", stdin=subprocess.PIPE)
    sender.communicate(b"the new one", timeout=LONGEST_S)
    got = end(receiver)
    assert (sender.returncode, got["code"]) == (0, 0)
    assert (into / "stdin").read_bytes() == b"the new one"
    assert [path.name for path in into.iterdir()] == ["stdin"]
    assert precious.read_bytes() == b"precious"
