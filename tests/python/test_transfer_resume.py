"""Transfers that are interrupted: ends that are killed, stopped or sleep, and what is there from before."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from transfer_ends import BLOCK_BYTES, LONGEST_S, blocks, end, port, start, until

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("key")]


@pytest.mark.parametrize("scheme", ["cvihis", "cubic"])
def test_a_killed_receiver_resumes(file: Path, into: Path, scheme: str) -> None:
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
    # a loaded machine may need a second attempt to join again
    assert sent["stats"]["sessions"] >= 2


def test_a_suspended_sender_resumes(file: Path, into: Path) -> None:
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


def test_a_restarted_sender_is_told_when_it_can_resume_and_resumes(file: Path, into: Path) -> None:
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
        assert (said["code"], said["outcome"][:16]) == (1, "nothing was sent")
        assert "three seconds later" in said["hint"]
        time.sleep(4)
        said = end(start(*words))
    assert (said["code"], end(receiver)["code"]) == (0, 0)
    assert (into / "film.bin").read_bytes() == file.read_bytes()


def test_ctrl_c_stops_and_keeps_written_data(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sender = start("send", file, f"127.0.0.1:{at}", "--rate", "20 Mbit/s", "--json")
    until(lambda: blocks(into) >= 2)
    receiver.send_signal(signal.SIGINT)
    got, sent = end(receiver), end(sender)
    assert (got["code"], got["end"], sent["code"]) == (130, "stopped", 1)
    assert "it was stopped" in sent["outcome"]
    assert not (into / "film.bin").exists()
    assert blocks(into) >= 2
    receiver = start("recv", at, "--into", into, "--json")
    again = end(start("send", file, f"127.0.0.1:{at}", "--json"))
    got = end(receiver)
    assert (again["code"], got["code"]) == (0, 0)
    assert got["resumed_bytes"] >= 2 * BLOCK_BYTES


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


def test_a_stream_into_a_folder_resumes(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    with file.open("rb") as source:
        sender = start("send", "-", f"127.0.0.1:{at}", "--rate", "20 Mbit/s", "--json", stdin=source)
        until(lambda: blocks(into, "stdin") >= 3)
        receiver.kill()
        receiver.wait(LONGEST_S)
        got = end(start("recv", at, "--into", into, "--json"))
        sent = end(sender)
    assert (sent["code"], got["code"]) == (0, 0), sent["outcome"]
    assert got["resumed_bytes"] >= 3 * 64 * 1000
    assert (into / "stdin").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("scheme", ["cvihis", "cubic"])
def test_a_stream_into_a_closed_pipe_cannot_resume_and_both_ends_report_it(file: Path, scheme: str) -> None:
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
    assert "the beginning of the stream was gone, " in sent["outcome"]
    assert "the sender closed the session: the beginning of the stream is gone" in err.decode()


def test_a_receiver_joins_a_live_stream_at_its_present_and_reports_the_missed_pieces(tmp_path: Path) -> None:
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
    # on a busy machine two lines may leave as one piece
    said = re.search(r"incomplete: (\d+) pieces had been sent before this receiver connected", err.decode())
    assert said is not None
    assert 200 <= int(said[1]) <= missed
    assert json.loads(sent)["dropped"] == 0


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
    assert (sent["code"], got["code"]) == (0, 0), sent["outcome"]
    assert (into / "film.bin").read_bytes() == file.read_bytes()


def test_patience_counts_data_and_not_signs_of_life(into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--patience", 4, "--insecure", "--json")
    sender = start("send", "-", f"127.0.0.1:{at}", "--insecure", "--json", stdin=subprocess.PIPE)
    got = end(receiver)
    assert (got["code"], got["complete"]) == (1, False)
    assert got["end"] in ("unanswered", "quiet")
    sender.kill()
    sender.wait(LONGEST_S)
