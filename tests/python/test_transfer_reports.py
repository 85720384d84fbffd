"""What a transfer says and records: captures, schemes, modes, rates."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from thalweg import transfers
from transfer_ends import HERE, LONGEST_S, blocks, end, port, start, until

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("key")]


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


def test_logs_of_both_ends_have_the_datagrams_that_were_counted(
    file: Path, into: Path, tmp_path: Path
) -> None:
    at, logs = port(), tmp_path / "logs"
    receiver = start("recv", at, "--into", into, "--qlog", logs, "--json")
    words = ("--scheme", "cubic", "--rate", "50 Mbit/s", "--qlog", logs, "--json")
    sent = end(start("send", file, f"127.0.0.1:{at}", *words))
    got = end(receiver)
    assert (sent["code"], got["code"]) == (0, 0)
    for outcome, name, kind in ((sent, "send-1.sqlog", "client"), (got, "recv-1.sqlog", "server")):
        assert outcome["qlog"]["files"] == [str(logs / name)]
        # a JSON text sequence [RFC7464]
        header, *events = map(json.loads, (logs / name).read_text().split("\x1e")[1:])
        assert len(events) == outcome["qlog"]["events"]
        assert header["trace"]["vantage_point"]["type"] == kind
        assert abs(header["trace"]["common_fields"]["reference_time"] / 1e3 - time.time()) < 3600
        names = Counter(event["name"] for event in events)
        # connections that the receiver, still starting, did not answer have no log
        unanswered = outcome["stats"]["sent_datagrams"] - names["transport:packet_sent"]
        assert 0 <= unanswered < 20
        assert names["transport:packet_received"] > 10
        assert all(first["time"] <= second["time"] for first, second in pairwise(events))
        if kind == "client":
            assert any("congestion_window" in event["data"] for event in events)
    refused = start("send", file, ":9", "--group", "239.1.2.3:9", "--qlog", logs, "--insecure")
    _, err = refused.communicate(timeout=LONGEST_S)
    assert refused.returncode == 2
    assert "group" in err.decode()


def test_a_capture_is_complete_after_ctrl_c_and_an_impossible_one_is_refused(
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


def test_scheme_mode_rates_and_limit_are_reported(file: Path, into: Path) -> None:
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


def test_a_changed_mode_is_the_one_that_is_reported(file: Path, into: Path) -> None:
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sender = start("send", file, f"127.0.0.1:{at}", "--rate", "10 Mbit/s", "--json")
    until(lambda: blocks(into) >= 1)
    sender.send_signal(signal.SIGUSR1)
    sent, got = end(sender), end(receiver)
    assert (sent["code"], got["code"]) == (0, 0)
    assert (sent["mode"], got["mode"]) == ("real_time", "real_time")
