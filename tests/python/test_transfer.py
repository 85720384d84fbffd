"""`thalweg send` and `thalweg recv` over the loopback interface: whole files whatever happens on the way."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from thalweg import transfers
from thalweg.errors import TransferError

pytestmark = pytest.mark.processes

LONGEST_S = 60
"""No wait of these tests is longer."""

HERE = transfers.Network(bind="127.0.0.1")

BLOCK_BYTES = 256 * 1270
"""A little less than a block of a file."""


def port(family: int = socket.AF_INET, host: str = "127.0.0.1") -> int:
    """One that nobody uses."""
    with socket.socket(family, socket.SOCK_DGRAM) as free:
        free.bind((host, 0))
        number: int = free.getsockname()[1]
        return number


def start(*words: Any, **more: Any) -> subprocess.Popen[bytes]:
    """The command, under way."""
    command = [sys.executable, "-m", "thalweg", *map(str, words)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **{**pipes, **more})


def end(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Waits for a command with `--json`; what it said, with its exit code as `code`."""
    out, err = process.communicate(timeout=LONGEST_S)
    assert out, err.decode()
    said: dict[str, Any] = json.loads(out)
    return {**said, "code": process.returncode}


def until(true: Any) -> None:
    """Waits until something is so."""
    last = time.monotonic() + LONGEST_S
    while not true():
        assert time.monotonic() < last, "it did not happen"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sides have the same, unless a test says another: they listen on all addresses."""
    monkeypatch.setenv("THALWEG_KEY", "known to both sides")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of a few blocks."""
    path = tmp_path / "film.bin"
    path.write_bytes(random.Random(7).randbytes(3_000_000))
    return path


@pytest.fixture
def into(tmp_path: Path) -> Path:
    """An empty folder."""
    path = tmp_path / "in"
    path.mkdir()
    return path


def blocks(into: Path, name: str = "film.bin") -> int:
    """Blocks of an unfinished file that are there: numbers of four bytes after a heading, which has the name."""
    try:
        return ((into / f"{name}.thalweg-state").stat().st_size - 136 - len(name)) // 4
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("scheme", ["cvihis", "tfrc", "ledbat", "cubic"])
def test_a_file_arrives_whole(file: Path, into: Path, scheme: str) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sent = end(start("send", file, f"127.0.0.1:{at}", "--scheme", scheme, "--json"))
    got = end(receiver)
    assert (sent["code"], got["code"], sent["whole"], got["whole"]) == (0, 0, True, True)
    assert (into / "film.bin").read_bytes() == file.read_bytes()
    assert [path.name for path in into.iterdir()] == ["film.bin"]
    assert got["path"] == str(into / "film.bin")
    assert sent["stats"]["packets"] * 1428 >= 3_000_000
    assert (sent["receivers"], sent["whole_receivers"]) == (1, 1)
    # the tables of the golden files are made of answers with the same keys
    recorded = json.loads((Path(__file__).parent / "golden" / "transfers.json").read_text(encoding="utf-8"))
    for answer, golden in ((sent, recorded["send-end"]), (got, recorded["recv-end"])):
        assert answer.keys() - {"code"} == golden.keys()
        assert answer["stats"].keys() == golden["stats"].keys()


def test_a_folder_that_is_not_there_is_made_and_a_file_is_none(file: Path, tmp_path: Path) -> None:
    with transfers.receive(str(port()), into=tmp_path / "a" / "b", network=HERE):
        assert (tmp_path / "a" / "b").is_dir()
    with pytest.raises(transfers.TransferError, match="film"):
        transfers.receive(str(port()), into=file, network=HERE)


def test_a_file_arrives_over_ipv6(file: Path, into: Path) -> None:
    try:
        at = port(socket.AF_INET6, "::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    receiver = start("recv", at, "--into", into, "--json")
    sent = end(start("send", file, f"[::1]:{at}", "--json"))
    assert (sent["code"], end(receiver)["code"]) == (0, 0)
    assert (into / "film.bin").read_bytes() == file.read_bytes()


def test_the_sender_may_listen_and_the_receiver_call(file: Path, into: Path) -> None:
    at = port()
    sender = start("send", file, f":{at}", "--json")
    got = end(start("recv", f"127.0.0.1:{at}", "--into", into, "--json"))
    assert (end(sender)["code"], got["code"]) == (0, 0)
    assert (into / "film.bin").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("scheme", ["cvihis", "cubic"])
def test_a_receiver_that_was_killed_goes_on_where_it_was(file: Path, into: Path, scheme: str) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sender = start("send", file, f"127.0.0.1:{at}", "--scheme", scheme, "--rate", "20 Mbit/s", "--json")
    until(lambda: blocks(into) >= 3)
    receiver.kill()
    receiver.wait(LONGEST_S)
    assert not (into / "film.bin").exists()
    got = end(start("recv", at, "--into", into, "--json"))
    sent = end(sender)
    assert (sent["code"], got["code"]) == (0, 0)
    assert got["resumed_bytes"] >= 3 * BLOCK_BYTES
    assert (into / "film.bin").read_bytes() == file.read_bytes()
    assert sent["stats"]["sessions"] == 2


def test_a_file_goes_to_a_group(file: Path, tmp_path: Path) -> None:
    at, group = port(), port()
    folders = [tmp_path / str(number) for number in range(3)]
    words = (
        "--group",
        f"239.255.77.7:{group}",
        "--receivers",
        3,
        "--interface",
        "127.0.0.1",
        "--scheme",
        "mca",
    )
    sender = start("send", file, f":{at}", "--bind", "127.0.0.1", *words, "--json")
    receivers = []
    for folder in folders:
        folder.mkdir()
        more = ("--into", folder, "--interface", "127.0.0.1", "--json")
        receivers.append(start("recv", f"127.0.0.1:{at}", *more))
    sent, got = end(sender), [end(receiver) for receiver in receivers]
    assert [sent["code"], *(said["code"] for said in got)] == [0, 0, 0, 0], sent["said"]
    assert all((folder / "film.bin").read_bytes() == file.read_bytes() for folder in folders)
    assert (sent["receivers"], sent["whole_receivers"], len(sent["members"])) == (3, 3, 3)
    # to all at once, not to each
    assert sent["stats"]["bytes"] < 2 * 3_000_000


def test_a_member_of_a_group_that_was_killed_comes_back_and_counts_once(file: Path, tmp_path: Path) -> None:
    at, group = port(), port()
    folders = [tmp_path / str(number) for number in range(2)]
    words = ("--group", f"239.255.77.8:{group}", "--receivers", 2, "--interface", "lo", "--scheme", "mca")
    sender = start("send", file, f":{at}", "--bind", "127.0.0.1", *words, "--rate", "20 Mbit/s", "--json")

    def receiver(folder: Path) -> subprocess.Popen[bytes]:
        return start("recv", f"127.0.0.1:{at}", "--into", folder, "--interface", "127.0.0.1", "--json")

    stays, killed = (receiver(folder) for folder in folders)
    until(lambda: blocks(folders[1]) >= 2)
    killed.kill()
    killed.wait(LONGEST_S)
    began = time.monotonic()
    again = receiver(folders[1])
    got, sent = [end(stays), end(again)], end(sender)
    assert [sent["code"], *(said["code"] for said in got)] == [0, 0, 0], sent["said"]
    assert all((folder / "film.bin").read_bytes() == file.read_bytes() for folder in folders)
    assert got[1]["resumed_bytes"] >= 2 * BLOCK_BYTES
    assert (sent["receivers"], sent["whole_receivers"]) == (2, 2)
    assert [member["end"] for member in sent["members"]] == ["complete", "complete"]
    assert sent["stats"]["sessions"] == 3
    # the one that it was is not waited for
    assert time.monotonic() - began < 50


def test_a_file_goes_to_a_group_of_ipv6(file: Path, tmp_path: Path) -> None:
    command = f"{sys.executable} -m thalweg"
    script = f"""
        ip link set lo up
        ip link add near type veth peer name far
        ip link set near addrgenmode none up
        ip link set far up
        ip addr add fd00:7::1/64 dev near nodad
        {command} recv [fd00:7::1]:9600 --into {tmp_path}/0 --interface near --json > {tmp_path}/got0 &
        {command} recv [fd00:7::1]:9600 --into {tmp_path}/1 --interface near --json > {tmp_path}/got1 &
        {command} send {file} :9600 --group '[ff12::7%near]:9601' --receivers 2 --scheme mca --json > {tmp_path}/sent
        wait
    """
    process = subprocess.run(
        ["unshare", "--net", "sh", "-ec", script], capture_output=True, timeout=LONGEST_S, check=False
    )
    if b"unshare failed" in process.stderr:
        pytest.skip("the right to make network namespaces is missing")
    assert process.returncode == 0, process.stderr.decode()
    said = [json.loads((tmp_path / name).read_text()) for name in ("sent", "got0", "got1")]
    assert [one["end"] for one in said] == ["complete"] * 3
    assert said[0]["whole_receivers"] == 2
    assert all((tmp_path / name / "film.bin").read_bytes() == file.read_bytes() for name in "01")


def test_a_sender_that_slept_goes_on(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sender = start("send", file, f"127.0.0.1:{at}", "--rate", "20 Mbit/s", "--json")
    until(lambda: blocks(into) >= 2)
    sender.send_signal(signal.SIGSTOP)
    # longer than a session waits for a word before it calls the other silent
    time.sleep(4)
    sender.send_signal(signal.SIGCONT)
    assert (end(sender)["code"], end(receiver)["code"]) == (0, 0)
    assert (into / "film.bin").read_bytes() == file.read_bytes()


def test_who_has_another_key_is_not_served(file: Path, into: Path, tmp_path: Path) -> None:
    (tmp_path / "right").write_bytes(b"right" * 8)
    (tmp_path / "wrong").write_bytes(b"wrong" * 8)
    at = port()
    receiver = start("recv", at, "--into", into, "--key", tmp_path / "right", "--json")
    began = time.monotonic()
    wrong = end(start("send", file, f"127.0.0.1:{at}", "--key", tmp_path / "wrong", "--json"))
    assert (wrong["code"], wrong["end"], wrong["whole"]) == (1, "refused", False)
    assert "seems to have another key" in wrong["said"]
    assert "the same `--key`" in wrong["hint"]
    assert time.monotonic() - began < 30, "long before the patience of a minute is over"
    assert list(into.iterdir()) == []
    sent = end(start("send", file, f"127.0.0.1:{at}", "--key", tmp_path / "right", "--json"))
    got = end(receiver)
    assert (sent["code"], got["code"]) == (0, 0)
    assert got["stats"]["refused"]["forged"] > 0


def test_who_only_heard_another_key_is_told_so(file: Path, into: Path, tmp_path: Path) -> None:
    (tmp_path / "right").write_bytes(b"right" * 8)
    at = port()
    words = ("--key", tmp_path / "right", "--bind", "127.0.0.1", "--patience", 10, "--json")
    receiver = start("recv", at, "--into", into, *words)
    sent = end(start("send", file, f"127.0.0.1:{at}", "--json"))
    assert (sent["code"], sent["end"]) == (1, "refused")
    assert "the same `--key`" in sent["hint"]
    receiver.send_signal(signal.SIGINT)
    got = end(receiver)
    assert (got["code"], got["said"]) == (130, "nothing came: it was stopped")
    assert "the same `--key`" in got["hint"]


@pytest.mark.parametrize("there", [b"precious", bytes(3_000_000)])
def test_a_file_that_is_there_stays_and_both_sides_say_so(file: Path, into: Path, there: bytes) -> None:
    (into / "film.bin").write_bytes(there)
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sent = end(start("send", file, f"127.0.0.1:{at}", "--json"))
    got = end(receiver)
    assert (sent["code"], got["code"]) == (1, 1)
    assert "is there already" in sent["said"]
    assert "is there already" in got["said"]
    assert "--overwrite" in got["hint"]
    assert (got["done_bytes"], got["resumed_bytes"]) == (0, 0)
    assert (into / "film.bin").read_bytes() == there


@pytest.mark.parametrize("scheme", ["cvihis", "cubic"])
def test_standard_input_arrives_at_standard_output(file: Path, scheme: str) -> None:
    at = port()
    receiver = start("recv", at, "--into", "-")
    with file.open("rb") as source:
        sender = start("send", "-", f"127.0.0.1:{at}", "--scheme", scheme, "--json", stdin=source)
        out, err = receiver.communicate(timeout=LONGEST_S)
    assert (end(sender)["code"], receiver.returncode) == (0, 0), err.decode()
    assert out == file.read_bytes()
    assert "whole" in err.decode()


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


def test_a_stream_into_a_folder_goes_on_where_it_was(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    with file.open("rb") as source:
        sender = start("send", "-", f"127.0.0.1:{at}", "--rate", "20 Mbit/s", "--json", stdin=source)
        until(lambda: blocks(into, "stdin") >= 3)
        receiver.kill()
        receiver.wait(LONGEST_S)
        got = end(start("recv", at, "--into", into, "--json"))
        sent = end(sender)
    assert (sent["code"], got["code"]) == (0, 0), sent["said"]
    assert got["resumed_bytes"] >= 3 * 64 * 1000
    assert (into / "stdin").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("scheme", ["cvihis", "cubic"])
def test_a_stream_into_a_pipe_that_is_gone_cannot_go_on_and_both_sides_say_so(
    file: Path, scheme: str
) -> None:
    at = port()
    receiver = start("recv", at, "--into", "-")
    words = ("--scheme", scheme, "--rate", "20 Mbit/s", "--json")
    with file.open("rb") as source:
        sender = start("send", "-", f"127.0.0.1:{at}", *words, stdin=source)
        assert receiver.stdout is not None
        assert len(receiver.stdout.read(1_000_000)) == 1_000_000
        receiver.kill()
        receiver.wait(LONGEST_S)
        again = start("recv", at, "--into", "-")
        out, err = again.communicate(timeout=LONGEST_S)
        sent = end(sender)
    assert (sent["code"], again.returncode) == (1, 1)
    assert out == b""
    assert "the beginning of the stream was gone, " in sent["said"]
    assert "the sender ended it, since the beginning of the stream is gone" in err.decode()


def test_a_live_stream_is_joined_where_it_is_and_what_is_missed_is_said(tmp_path: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", "-")
    words = ("--deadline", "30 s", "--json")
    sender = start("send", "-", f"127.0.0.1:{at}", *words, stdin=subprocess.PIPE)
    assert sender.stdin is not None
    assert receiver.stdout is not None
    lines = [b"%06d\n" % number for number in range(600)]
    # each line is a piece when it leaves before the next is written
    for number, line in enumerate(lines[:200]):
        sender.stdin.write(line)
        sender.stdin.flush()
        assert receiver.stdout.read(len(line)) == lines[number]
    receiver.kill()
    receiver.wait(LONGEST_S)
    again = start("recv", at, "--into", "-")
    # what leaves before the sender knows that nobody is there is lost
    for line in lines[200:]:
        sender.stdin.write(line)
        sender.stdin.flush()
        time.sleep(0.02)
    sent, _ = sender.communicate(timeout=LONGEST_S)
    out, err = again.communicate(timeout=LONGEST_S)
    assert (sender.returncode, again.returncode) == (0, 1), err.decode()
    missed = 600 - len(out) // len(lines[0])
    assert 200 <= missed < 600
    assert out == b"".join(lines[missed:])
    assert f"not whole: {missed} pieces had been sent before this receiver was there" in err.decode()
    assert json.loads(sent)["dropped"] == 0


def test_ctrl_c_stops_and_keeps_what_was_written(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sender = start("send", file, f"127.0.0.1:{at}", "--rate", "20 Mbit/s", "--json")
    until(lambda: blocks(into) >= 2)
    receiver.send_signal(signal.SIGINT)
    got, sent = end(receiver), end(sender)
    assert (got["code"], got["end"], sent["code"]) == (130, "stopped", 1)
    assert "it was stopped" in sent["said"]
    assert not (into / "film.bin").exists()
    assert blocks(into) >= 2
    receiver = start("recv", at, "--into", into, "--json")
    again = end(start("send", file, f"127.0.0.1:{at}", "--json"))
    got = end(receiver)
    assert (again["code"], got["code"]) == (0, 0)
    assert got["resumed_bytes"] >= 2 * BLOCK_BYTES


def test_the_mode_changes_while_it_runs(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    words = ("--mode", "background", "--rate", "20 Mbit/s", "--json")
    sender = start("send", file, f"127.0.0.1:{at}", *words)
    until(lambda: blocks(into) >= 1)
    sender.send_signal(signal.SIGUSR1)
    until(lambda: blocks(into) >= 3)
    sender.send_signal(signal.SIGUSR2)
    assert (end(sender)["code"], end(receiver)["code"]) == (0, 0)


def test_nobody_there_is_said(file: Path) -> None:
    sent = end(start("send", file, f"127.0.0.1:{port()}", "--patience", 0.5, "--json"))
    assert (sent["code"], sent["said"]) == (1, "nothing was sent: no receiver answered")
    assert "thalweg recv" in sent["hint"]


def test_a_sender_that_was_killed_is_told_when_it_can_go_on_and_does(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    words = ("send", file, f"127.0.0.1:{at}", "--json")
    killed = start(*words, "--rate", "10 Mbit/s")
    until(lambda: blocks(into) >= 2)
    killed.kill()
    killed.wait(LONGEST_S)
    # how soon this computer gets to it decides whether the receiver still waits for the other
    said = end(start(*words))
    if said["end"] == "refused":
        assert (said["code"], said["said"][:16]) == (1, "nothing was sent")
        assert "three seconds later" in said["hint"]
        time.sleep(4)
        said = end(start(*words))
    assert (said["code"], end(receiver)["code"]) == (0, 0)
    assert (into / "film.bin").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("words", [(), ("--bind", "127.0.0.1")])
def test_who_listens_with_patience_does_not_wait_for_ever(words: tuple[str, ...], into: Path) -> None:
    got = end(start("recv", port(), "--into", into, "--patience", 0.5, *words, "--json"))
    assert (got["code"], got["end"], got["said"]) == (1, "unanswered", "nothing came: no sender called")
    assert list(into.iterdir()) == []


def test_what_has_a_port_is_named_with_what_to_do(file: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("0.0.0.0", 0))
        process = start("recv", taken.getsockname()[1])
        _, err = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 2
    assert "Address already in use\nhint: another program" in err.decode()


GROUP = ("send", __file__, ":9", "--scheme", "mca", "--group")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("send", "missing.bin", "localhost:9"), "no such file"),
        (("send", os.devnull, "localhost:9"), "not a file"),
        (("send", __file__, "localhost"), "no port from 1 to 65535"),
        (("send", __file__, "::1:9"), "an IPv6 address stands in brackets"),
        (("send", __file__, "localhost:9", "--scheme", "cvihs"), "did you mean `cvihis`"),
        (("send", __file__, "localhost:9", "--scheme", "mircc"), "no scheme for transfers"),
        (("send", __file__, ":9", "--scheme", "cvihis", "--group", "239.1.2.3:9"), "no scheme for groups"),
        (("send", __file__, "localhost:9", "--scheme", "cubic", "--mode", "background"), "has no modes"),
        (("send", __file__, "localhost:9", "--set", "pushh=0.9"), "did you mean `push`"),
        (("send", __file__, "localhost:9", "--set", "push=9999"), "it takes 1 … 2"),
        (("send", __file__, "localhost:9", "--set", "mode=now"), "background | real_time"),
        (("send", __file__, "localhost:9", "--rate", "20"), '"20"'),
        (("send", __file__, "localhost:9", "--rate", "0 bit/s"), "sends nothing"),
        (("send", __file__, "localhost:9", "--patience", "-1"), "patience of -1 seconds"),
        (("send", __file__, "localhost:9", "--patience", "nan"), "patience of nan seconds"),
        (("send", __file__, "localhost:9", "--pcap", __file__), "would replace the file"),
        (("send", str(Path(__file__).parent), "localhost:9"), "thalweg send - localhost:9"),
        (("send", __file__, "255.255.255.255:9"), "no way leads there"),
        (("send", __file__, "localhost:9", "--scheme", "cubic", "--deadline", "1 s"), "needs one that paces"),
        (
            ("send", "-", "localhost:9", "--timely", "1 s"),
            '--timely was renamed to --deadline\nhint: --deadline "1 s"',
        ),
        (("send", __file__, "localhost:9", "--name", "../x"), "not the name of a file"),
        (("send", __file__, "[fe80::1]:9"), "a link-local address needs the interface"),
        (("recv", "[fe80::1]:9"), "[fe80::1%eth0]:9"),
        ((*GROUP, "ff15::7:9001"), "an IPv6 address stands in brackets"),
        ((*GROUP, "[ff12::7]:9001"), "a group of one link or one computer needs the interface"),
        ((*GROUP, "[ff12::7%none7]:9001"), "none7: there is no such interface"),
        ((*GROUP, "[ff15::7]"), "no port from 1 to 65535"),
        ((*GROUP, "[ff15::7]:9001", "--interface", "none7"), "none7: there is no such interface"),
        ((*GROUP, "239.1.2.3:9001", "-6"), "a group of the other kind of address"),
        ((*GROUP, "192.0.2.1:9001"), "the address of no group"),
        (("recv", "9", "--into", __file__), "not a folder"),
        (("recv", "9", "--name", "../x"), "not the name of a file"),
        (("recv", "9", "--patience", "0"), "more than 0"),
        (("recv", "9", "--into", "-", "--json"), "standard output"),
    ],
)
def test_mistakes_are_refused_in_words(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    process = start(*words, cwd=tmp_path)
    out, err = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 2
    assert said in (out + err).decode()


def packets(path: Path) -> list[tuple[int, bytes]]:
    """Interface and bytes of each packet in a capture, whose blocks have to be whole."""
    page, at, found = path.read_bytes(), 0, []
    while at < len(page):
        kind, length = struct.unpack_from("<II", page, at)
        assert struct.unpack_from("<I", page, at + length - 4) == (length,)
        if kind == 6:
            interface, _, _, kept = struct.unpack_from("<IIII", page, at + 8)
            found.append((interface, page[at + 28 : at + 28 + kept]))
        at += length
    return found


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_captures_of_both_ends_hold_the_same_datagrams(
    file: Path, into: Path, tmp_path: Path, host: str
) -> None:
    four = host == "127.0.0.1"
    try:
        at = port() if four else port(socket.AF_INET6, "::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    here, there = tmp_path / "here.pcapng", tmp_path / "there.pcapng"
    receiver = start("recv", at, "--into", into, "--pcap", there, "--json")
    sent = end(start("send", file, f"{host}:{at}", "--rate", "50 Mbit/s", "--pcap", here, "--json"))
    got = end(receiver)
    assert (sent["code"], got["code"]) == (0, 0)
    ours, theirs = packets(here), packets(there)
    assert (len(ours), len(theirs)) == (sent["captured"], got["captured"])
    assert len([1 for interface, _ in ours if interface == 0]) == sent["stats"]["sent_datagrams"]
    came = [packet for interface, packet in theirs if interface == 1]
    assert len(came) >= 3_000_000 // 1428
    # with headers and all: the receiver listens at every address and yet knows which one was called
    assert set(came) <= {packet for interface, packet in ours if interface == 0}
    tool = shutil.which("tshark")
    if tool is None:
        pytest.skip("there is no tshark to read the captures with")
    checked = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    wrong = "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 || frame.time_delta < 0"
    for path, rule, many in (
        (here, wrong, 0),
        (there, wrong, 0),
        (there, f'udp.dstport == {at} && frame.interface_name == "received"', len(came)),
        (here, "ip" if four else "ipv6", len(ours)),
    ):
        command = [tool, "-r", str(path), *checked, "-Y", rule]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert len(done.stdout.splitlines()) == many, rule


def test_a_capture_is_whole_after_ctrl_c_and_one_that_cannot_be_is_refused(
    file: Path, into: Path, tmp_path: Path
) -> None:
    at = port()
    path = tmp_path / "here.pcapng"
    receiver = start("recv", at, "--into", into, "--json")
    sender = start("send", file, f"127.0.0.1:{at}", "--rate", "5 Mbit/s", "--pcap", path, "--json")
    until(lambda: blocks(into) >= 1)
    sender.send_signal(signal.SIGINT)
    sent = end(sender)
    assert (sent["code"], end(receiver)["code"]) == (130, 1)
    assert len(packets(path)) == sent["captured"] > 100
    refused = start("recv", at, "--into", into, "--pcap", tmp_path / "nowhere" / "x")
    _, err = refused.communicate(timeout=LONGEST_S)
    assert refused.returncode == 2
    # however the lines are broken
    assert "nowhere/x:Nosuchfile" in "".join(err.decode().split())


def test_scheme_mode_rates_and_limit_are_said(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sender = start("send", file, f"127.0.0.1:{at}", "--rate", "8 Mbit/s")
    out, err = sender.communicate(timeout=LONGEST_S)
    got = end(receiver)
    assert sender.returncode == 0, err.decode()
    said, table = err.decode(), out.decode()
    assert "scheme cvihis, mode background: yields to other traffic" in said
    assert "--mode real-time" in said
    assert "background" in table
    assert "cvihis" in table
    assert "8 Mbit/s" in table
    assert got["scheme"] == "cvihis"


def test_the_allowed_rate_is_never_above_the_limit(file: Path, into: Path) -> None:
    at = port()
    with (
        transfers.receive(str(at), into=into, network=HERE) as receiver,
        transfers.send(file, f"127.0.0.1:{at}", congestion=transfers.Congestion(rate="20 Mbit/s")) as sender,
    ):
        states = list(sender.states())
        result = sender.result()
        receiver.result()
    assert result["mode"] == "background"
    limits = {state["limit_bps"] for state in states if state["phase"] == "open" and state["packets"]}
    assert limits == {20_000_000}
    assert max(state["allowed_bps"] for state in states) <= 20_000_000


def test_a_mode_that_was_changed_is_the_one_that_is_told(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sender = start("send", file, f"127.0.0.1:{at}", "--rate", "10 Mbit/s", "--json")
    until(lambda: blocks(into) >= 1)
    sender.send_signal(signal.SIGUSR1)
    sent, got = end(sender), end(receiver)
    assert (sent["code"], got["code"]) == (0, 0)
    assert (sent["mode"], got["mode"]) == ("real_time", "real_time")


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

        # the first one until somebody listens: two in a row that are not refused
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


def test_a_hard_link_in_place_of_an_unfinished_file_is_refused(file: Path, into: Path) -> None:
    precious = into / "precious"
    precious.write_bytes(b"precious")
    (into / "film.bin.thalweg-part").hardlink_to(precious)
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sent = end(start("send", file, f"127.0.0.1:{at}", "--json"))
    got = end(receiver)
    assert (sent["code"], got["code"]) == (1, 1)
    assert "hard link" in got["said"]
    assert precious.read_bytes() == b"precious"


def test_what_the_other_end_says_reaches_no_terminal_raw(file: Path, tmp_path: Path) -> None:
    into = tmp_path / "in\x1b]0;owned\x07\x9b31m\u202e\nwhole: every byte arrived"
    into.mkdir()
    (into / "film.bin").write_bytes(b"another")
    at = port()
    receiver = start("recv", at, "--into", into)
    sender = start("send", file, f"127.0.0.1:{at}")
    for process in (sender, receiver):
        out, err = process.communicate(timeout=LONGEST_S)
        said = (out + err).decode()
        assert "is there already" in " ".join(said.split())
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said)
        assert not any(line.startswith("whole") for line in said.splitlines())


def test_a_quiet_sender_does_not_keep_another_away(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--insecure", "--json")
    # a program that writes nothing
    quiet = start(
        "send", "-", f"127.0.0.1:{at}", "--name", "quiet", "--insecure", "--json", stdin=subprocess.PIPE
    )
    time.sleep(6)
    sent = end(start("send", file, f"127.0.0.1:{at}", "--insecure", "--json"))
    got = end(receiver)
    quiet.kill()
    quiet.wait(LONGEST_S)
    assert (sent["code"], got["code"]) == (0, 0), sent["said"]
    assert (into / "film.bin").read_bytes() == file.read_bytes()


def test_patience_counts_data_and_not_signs_of_life(into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--patience", 4, "--insecure", "--json")
    sender = start("send", "-", f"127.0.0.1:{at}", "--insecure", "--json", stdin=subprocess.PIPE)
    got = end(receiver)
    assert (got["code"], got["whole"]) == (1, False)
    assert got["end"] in ("unanswered", "quiet")
    sender.kill()
    sender.wait(LONGEST_S)


def test_a_group_that_carries_nothing_is_said_within_seconds(file: Path, tmp_path: Path) -> None:
    send = (
        f"{sys.executable} -m thalweg send {file} :9600 --bind 127.0.0.1 --group 239.1.2.3:9601 --scheme mca"
    )
    recv = f"{sys.executable} -m thalweg recv 127.0.0.1:9600 --into {tmp_path} --interface lo --patience 8"
    script = f"""
        ip link set lo up
        if {send} 2> {tmp_path}/none; then exit 1; fi
        ip link add near type veth peer name far
        ip link set near up
        ip link set far up
        ip addr add 10.7.0.1/24 dev near
        {recv} 2> {tmp_path}/got &
        {send} --interface near --patience 8 2> {tmp_path}/sent || true
        wait
    """
    process = subprocess.run(
        ["unshare", "--net", "sh", "-ec", script], capture_output=True, timeout=LONGEST_S, check=False
    )
    if b"unshare failed" in process.stderr:
        pytest.skip("the right to make network namespaces is missing")
    assert process.returncode == 0, process.stderr.decode()
    none, sent, got = ((tmp_path / name).read_text() for name in ("none", "sent", "got"))
    assert "no way leads to this group" in none
    assert "--interface" in none
    for said in (sent, got):
        assert "by the group for three seconds: does the network carry it?" in said
        assert "`--interface`" in said


@pytest.mark.parametrize(
    "words",
    [
        ("recv", "9000"),
        ("recv", "9000", "--bind", "0.0.0.0"),
        ("recv", "192.0.2.1:9000"),
        ("send", "FILE", "192.0.2.1:9000"),
        ("send", "FILE", ":9000"),
        ("send", "FILE", ":9000", "--bind", "127.0.0.1", "--scheme", "mca", "--group", "239.1.2.3:9001"),
    ],
)
def test_beyond_this_computer_a_key_is_required(
    words: tuple[str, ...], file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THALWEG_KEY")
    process = start(*(str(file) if word == "FILE" else word for word in words), cwd=tmp_path)
    out, err = process.communicate(timeout=LONGEST_S)
    said = " ".join((out + err).decode().split())
    assert process.returncode == 2, said
    for part in ("needs a key", "head -c 32 /dev/urandom > secret", "--insecure"):
        assert part in said
    listens = words[0] == "recv" and "192.0.2.1:9000" not in words
    assert ("--bind 127.0.0.1" in said) == (listens or words[2:] == (":9000",))


def test_on_this_computer_and_where_it_is_said_no_key_is_needed(
    file: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THALWEG_KEY")
    at = port()
    receiver = start("recv", at, "--into", into, "--insecure", "--json")
    sent = end(start("send", file, f"localhost:{at}", "-4", "--json"))
    assert (sent["code"], end(receiver)["code"]) == (0, 0)
    (into / "film.bin").unlink()
    receiver = start("recv", at, "--into", into, "--bind", "127.0.0.1", "--json")
    sent = end(start("send", file, f"127.0.0.1:{at}", "--json"))
    assert (sent["code"], end(receiver)["code"]) == (0, 0)


def test_a_key_may_be_in_the_environment(file: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THALWEG_KEY")
    monkeypatch.setenv("OURS", "in the environment")
    at = port()
    receiver = start("recv", at, "--into", into, "--key-env", "OURS", "--json")
    sent = end(start("send", file, f"127.0.0.1:{at}", "--key-env", "OURS", "--json"))
    assert (sent["code"], end(receiver)["code"]) == (0, 0)
    for words, said in (
        (("--key-env", "THEIRS"), "no such environment variable"),
        (("--key-env", "OURS", "--insecure"), "exclude each other"),
        (("--key", str(file), "--insecure"), "exclude each other"),
    ):
        process = start("recv", at, *words)
        _, err = process.communicate(timeout=LONGEST_S)
        assert (process.returncode, said in " ".join(err.decode().split())) == (2, True), err.decode()


def test_the_library_requires_a_key_too(file: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THALWEG_KEY")
    for begin in (
        lambda: transfers.receive("9000", into=into),
        lambda: transfers.send(file, ":9000"),
        lambda: transfers.send(file, "192.0.2.1:9000"),
    ):
        with pytest.raises(TransferError, match="needs a key"):
            begin()
    transfers.receive("9000", into=into, security=transfers.Security(insecure=True))
    transfers.send(file, "127.0.0.1:9000")


@pytest.mark.parametrize("scheme", ["cvihis", "cubic"])
def test_a_spoilt_part_is_found_and_a_resume_sends_the_rest(file: Path, into: Path, scheme: str) -> None:
    """The list of blocks is not believed: what is wrong on disk comes again, what is right does not."""
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sender = start("send", file, f"127.0.0.1:{at}", "--scheme", scheme, "--rate", "4 Mbit/s", "--json")
    until(lambda: blocks(into) >= 5)
    sender.send_signal(signal.SIGINT)
    assert (end(sender)["code"], end(receiver)["code"]) == (130, 1)
    part = into / "film.bin.thalweg-part"
    there = bytearray(part.read_bytes())
    there[1000] ^= 1
    part.write_bytes(there)
    receiver = start("recv", at, "--into", into, "--json")
    sent = end(start("send", file, f"127.0.0.1:{at}", "--scheme", scheme, "--rate", "40 Mbit/s", "--json"))
    got = end(receiver)
    assert (sent["code"], got["code"]) == (0, 0)
    assert (into / "film.bin").read_bytes() == file.read_bytes()
    assert got["spoilt_blocks"] == 1
    assert got["resumed_bytes"] >= 4 * BLOCK_BYTES
    lacking = 3_000_000 - got["resumed_bytes"]
    # headers, hashes, and what is coded while the last report is under way
    assert sent["stats"]["content_bytes"] < 1.5 * lacking + 100_000
