"""`thalweg drill`, and flows that become scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_calls import asked, refused, refused_after
from thalweg.cli import call

HEAD = """`sysctl -q net.ipv4.tcp_congestion_control=reno`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 1000
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 4000) = 4000
+0 > P. 1:4001(4000) ack 1
"""

LOSS = """+.1 < . 1:1(0) ack 1 win 1000 <sack 1001:4001,nop,nop>
+0 > . 1:1001(1000) ack 1
+0 %{ assert tcpi_ca_state == TCP_CA_Recovery and tcpi_snd_ssthresh == 5, tcpi_snd_ssthresh }%
"""

FLOW = """
duration = "2 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", buffer = "20 packets" }
[[flows]]
name = "bulk"
scheme = "cubic"
tcp = { like = "linux", send_buffer = "unlimited" }
[[flows]]
name = "short"
scheme = "reno"
size = "100 kB"
"""


def script(folder: Path, text: str, name: str = "loss") -> str:
    file = folder / f"{name}.pkt"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_script_that_holds_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked(capsys, "drill", script(tmp_path, HEAD + LOSS))
    (report,) = answer["scripts"]
    assert answer["outcomes"] == {"pass": 1, "fail": 0, "not expressible": 0, "invalid": 0}
    assert (report["outcome"], report["scheme"]) == ("pass", "reno")
    # SYN-ACK, the data, the retransmission; one assertion
    assert (report["packets"], report["assertions"]) == (3, 1)
    state = report["lines"][-1]["state"]
    assert (state["ssthresh"], state["state"], state["sacked"], state["lost"]) == (5, "recovery", 3, 1)
    # SRTT of one sample of 100 ms
    assert state["srtt_s"] == 0.1


def test_another_scheme_fails_with_what_came_instead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["drill", script(tmp_path, HEAD + LOSS), "--scheme", "cubic"]) == 1
    shown = capsys.readouterr().out
    assert "FAIL" in shown
    # CUBIC keeps 0.7 of 10 segments
    assert "tcpi_snd_ssthresh is 7" in shown


def test_a_parameter_of_the_scheme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--scheme", "cubic", "--set", "beta=0.5", "--quiet")
    assert call(["drill", script(tmp_path, HEAD + LOSS), *options]) == 0
    assert "PASS: 3 packets and 1 assertion judged" in capsys.readouterr().out


def test_what_is_not_expressible_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = {
        "icmp": ("+.1 < [1:1461(1460)] icmp unreachable frag_needed mtu 1200\n", "ICMP"),
        "cork": ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n", "TCP_CORK"),
        "info": ("+0 %{ assert tcpi_rcv_rtt == 0 }%\n", "tcpi_rcv_rtt"),
        "if": ("+0 %{ if tcpi_rtt > 1: pass }%\n", "if"),
        "mid": ("+0 `sysctl -q net.ipv4.tcp_sack=0`\n+0 %{ assert tcpi_rtt > 1 }%\n", "setting"),
    }
    for name, (line, feature) in cases.items():
        answer = asked(capsys, "drill", script(tmp_path, HEAD + line, name), code=1)
        (report,) = answer["scripts"]
        assert report["outcome"] == "not expressible", (name, report["message"])
        assert feature in report["message"]
        assert report["line"] == 10


def test_an_invalid_script_says_where_and_what_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = {
        "sysctl": ("`sysctl -q net.ipv4.tcp_sacks=1`\n", 1, "tcp_sacks", "tcp_sack"),
        "name": (HEAD + "+0 %{ assert tcpi_snd_cwn == 10 }%\n", 10, "tcpi_snd_cwn", "tcpi_snd_cwnd"),
        "flags": (HEAD + "+0 > X. 1:1001(1000) ack 1\n", 10, "X", "flags are"),
        "bytes": (HEAD + "+0 > . 1:1001(999) ack 1\n", 10, "999", "first"),
        "time": (HEAD + "0,5 > . 1:1001(1000) ack 1\n", 10, ",5", "after the time"),
    }
    for name, (text, line, wrong, hint) in cases.items():
        answer = asked(capsys, "drill", script(tmp_path, text, name), code=2)
        (report,) = answer["scripts"]
        assert (report["outcome"], report["line"]) == ("invalid", line), (name, report)
        assert wrong in report["message"]
        assert hint in report["hint"]


def test_folders_and_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    script(tmp_path, HEAD + LOSS, "a")
    script(tmp_path, HEAD + "+0 > . 9:10(1) ack 1\n", "b")
    assert call(["drill", str(tmp_path), "--quiet"]) == 1
    shown = capsys.readouterr().out
    assert "2 scripts: 1 pass, 1 fail" in shown
    assert "nothing left" in shown


def test_mistakes_in_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = script(tmp_path, HEAD)
    assert "no script is given" in refused(capsys, "drill")
    assert "cubic" in refused_after(capsys, "drill", file, "--scheme", "cubik")
    assert "--scheme" in refused_after(capsys, "drill", file, "--set", "beta=0.5")
    assert "No such file" in refused_after(capsys, "drill", str(tmp_path / "none.pkt"))
    (tmp_path / "empty").mkdir()
    assert ".pkt" in refused_after(capsys, "drill", str(tmp_path / "empty"))


def test_after_a_timer_times_of_a_script_are_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kernel's timers are late by a tick, and what follows is as late."""
    monkeypatch.chdir(tmp_path)
    outage = "".join(
        f'[[events]]\nat = "{at}"\nlink = "bottleneck"\nup = {up}\n'
        for at, up in (("200 ms", "false"), ("900 ms", "true"))
    )
    (tmp_path / "one.toml").write_text(FLOW + outage, encoding="utf-8")
    asked(capsys, "run", "one.toml", "--export-drill", "bulk", "--out", "made")
    lines = (tmp_path / "made" / "bulk.pkt").read_text(encoding="utf-8").splitlines()
    packets = [line for line in lines if (line[:1] in "+0123456789" and " > " in line) or " < " in line]
    kinds = [line.startswith("+") for line in packets]
    first = kinds.index(True)
    assert " > " in packets[first]
    assert all(kinds[first:])
    asked(capsys, "drill", "made/bulk.pkt")


def test_an_exported_flow_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.toml").write_text(FLOW, encoding="utf-8")
    answer = asked(capsys, "run", "one.toml", "--export-drill", "bulk", "--out", "made")
    plain = asked(capsys, "run", "one.toml", "--out", "plain")
    assert answer["trace_hash"] == plain["trace_hash"]
    assert answer["drill"]["packets"] > 100
    drilled = asked(capsys, "drill", "made/bulk.pkt", "--scheme", "cubic")
    assert drilled["scripts"][0]["assertions"] > 10
    # for a packetdrill of a kernel: no question before there is a socket, no names that it lacks, segments of one MSS
    lines = (tmp_path / "made" / "bulk.pkt").read_text(encoding="utf-8").splitlines()
    wrote = next(number for number, line in enumerate(lines) if " write(4" in line)
    assert not any("%{" in line for line in lines[:wrote])
    assert not any("SO_SNDBUFFORCE" in line or "ethtool" in line for line in lines)
    assert any("gso_max_segs 1" in line for line in lines[:wrote])
    # without the option: the scheme of the script
    asked(capsys, "drill", "made/bulk.pkt")
    # without a handshake there is no script, and the run is kept
    other = asked(capsys, "run", "one.toml", "--export-drill", "short", "--out", "other", code=1)
    assert "handshake" in other["drill"]["error"]
    assert "short" in refused_after(capsys, "run", "one.toml", "--export-drill", "shirt")
    assert "--export-drill" in refused_after(
        capsys, "run", "one.toml", "--export-drill", "bulk", "--runs", "2"
    )
