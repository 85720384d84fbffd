"""Transfers to IP multicast groups."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from transfer_ends import GROUP_BLOCK_BYTES, LONGEST_S, blocks, end, port, start, until

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("key")]


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
    assert [sent["code"], *(said["code"] for said in got)] == [0, 0, 0, 0], sent["outcome"]
    assert all((folder / "film.bin").read_bytes() == file.read_bytes() for folder in folders)
    assert (sent["receivers"], sent["complete_receivers"], len(sent["members"])) == (3, 3, 3)
    # to all at once, not to each
    assert sent["stats"]["bytes"] < 2 * 3_000_000


def test_a_killed_and_restarted_member_of_a_group_counts_once(file: Path, tmp_path: Path) -> None:
    at, group = port(), port()
    folders = [tmp_path / str(number) for number in range(2)]
    words = ("--group", f"239.255.77.8:{group}", "--receivers", 2, "--interface", "lo", "--scheme", "mca")
    # so patient that this test would end first, if the one that was killed were waited for
    words = (*words, "--patience", 4 * LONGEST_S)
    sender = start("send", file, f":{at}", "--bind", "127.0.0.1", *words, "--rate", "20 Mbit/s", "--json")

    def receiver(folder: Path) -> subprocess.Popen[bytes]:
        return start("recv", f"127.0.0.1:{at}", "--into", folder, "--interface", "127.0.0.1", "--json")

    stays, killed = (receiver(folder) for folder in folders)
    until(lambda: blocks(folders[1]) >= 2)
    killed.kill()
    killed.wait(LONGEST_S)
    again = receiver(folders[1])
    got, sent = [end(stays), end(again)], end(sender)
    assert [sent["code"], *(said["code"] for said in got)] == [0, 0, 0], sent["outcome"]
    assert all((folder / "film.bin").read_bytes() == file.read_bytes() for folder in folders)
    assert got[1]["resumed_bytes"] >= 2 * GROUP_BLOCK_BYTES
    assert (sent["receivers"], sent["complete_receivers"]) == (2, 2)
    assert [member["end"] for member in sent["members"]] == ["complete", "complete"]
    # on a slow computer a receiver may lose its connection as well
    assert sent["stats"]["sessions"] >= 3


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
    assert said[0]["complete_receivers"] == 2
    assert all((tmp_path / name / "film.bin").read_bytes() == file.read_bytes() for name in "01")


def test_a_group_without_data_is_reported_within_seconds(file: Path, tmp_path: Path) -> None:
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
    assert "no route leads to this group" in none
    assert "--interface" in none
    for said in (sent, got):
        assert "of the group" in said
        assert "for three seconds: does the network carry it?" in said
        assert "`--interface`" in said
