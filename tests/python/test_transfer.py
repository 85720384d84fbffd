"""`thalweg send` and `thalweg recv`: files over the loopback interface, and what is refused."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from thalweg import transfers
from transfer_ends import HERE, LONGEST_S, both, end, port, start

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("key")]


@pytest.mark.parametrize("scheme", ["cvihis", "tfrc", "ledbat", "cubic"])
def test_a_file_arrives_complete(file: Path, into: Path, scheme: str) -> None:
    sent, got = both(file, into, sending=("--scheme", scheme))
    assert (sent["code"], got["code"], sent["complete"], got["complete"]) == (0, 0, True, True)
    assert (into / "film.bin").read_bytes() == file.read_bytes()
    assert [path.name for path in into.iterdir()] == ["film.bin"]
    assert got["path"] == str(into / "film.bin")
    assert sent["stats"]["packets"] * 1428 >= 3_000_000
    assert (sent["receivers"], sent["complete_receivers"]) == (1, 1)
    # the tables of the golden files are made of answers with the same keys
    recorded = json.loads((Path(__file__).parent / "golden" / "transfers.json").read_text(encoding="utf-8"))
    for answer, golden in ((sent, recorded["send-end"]), (got, recorded["recv-end"])):
        assert answer.keys() - {"code"} == golden.keys()
        assert answer["stats"].keys() == golden["stats"].keys()


def test_a_missing_folder_is_created_and_a_file_is_refused(file: Path, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("there", [b"precious", bytes(3_000_000)])
def test_an_existing_file_is_kept_and_both_ends_report_it(file: Path, into: Path, there: bytes) -> None:
    (into / "film.bin").write_bytes(there)
    sent, got = both(file, into)
    assert (sent["code"], got["code"]) == (1, 1)
    assert "is there already" in sent["outcome"]
    assert "is there already" in got["outcome"]
    assert "--overwrite" in got["hint"]
    assert (got["done_bytes"], got["resumed_bytes"]) == (0, 0)
    assert (into / "film.bin").read_bytes() == there


def test_a_hard_link_in_place_of_an_unfinished_file_is_refused(file: Path, into: Path) -> None:
    precious = into / "precious"
    precious.write_bytes(b"precious")
    (into / "film.bin.thalweg-part").hardlink_to(precious)
    sent, got = both(file, into)
    assert (sent["code"], got["code"]) == (1, 1)
    assert "hard link" in got["outcome"]
    assert precious.read_bytes() == b"precious"


def test_text_of_the_other_end_is_escaped(file: Path, tmp_path: Path) -> None:
    into = tmp_path / "in\x1b]0;owned\x07\x9b31m\u202e\ncomplete: every byte arrived"
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
        assert not any(line.startswith("complete") for line in said.splitlines())


def test_a_missing_peer_is_reported(file: Path) -> None:
    sent = end(start("send", file, f"127.0.0.1:{port()}", "--patience", 0.5, "--json"))
    assert (sent["code"], sent["outcome"]) == (1, "nothing was sent: no receiver answered")
    assert "thalweg recv" in sent["hint"]


@pytest.mark.parametrize("words", [(), ("--bind", "127.0.0.1")])
def test_a_listener_with_patience_gives_up(words: tuple[str, ...], into: Path) -> None:
    got = end(start("recv", port(), "--into", into, "--patience", 0.5, *words, "--json"))
    assert (got["code"], got["end"], got["outcome"]) == (
        1,
        "unanswered",
        "nothing was received: no sender connected",
    )
    assert list(into.iterdir()) == []


def test_a_port_in_use_is_reported_with_a_hint(file: Path) -> None:
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
        (("send", os.devnull, "localhost:9"), "neither a file nor a folder"),
        (("send", __file__, "localhost"), "no port from 1 to 65535"),
        (("send", __file__, "::1:9"), "write an IPv6 address in brackets"),
        (("send", __file__, "localhost:9", "--scheme", "cvihs"), "did you mean `cvihis`"),
        (("send", __file__, "localhost:9", "--scheme", "mircc"), "no scheme for transfers"),
        (("send", __file__, "localhost:9", "--scheme", "srmcc"), "needs reports of routers"),
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
        (("send", str(Path(__file__).parent), ":9", "--deadline", "1 s"), "thalweg send - :9"),
        (("send", __file__, "255.255.255.255:9"), "there is no route to it"),
        (("send", __file__, "localhost:9", "--scheme", "cubic", "--deadline", "1 s"), "needs one that paces"),
        (
            ("send", "-", "localhost:9", "--timely", "1 s"),
            '--timely was renamed to --deadline\nhint: --deadline "1 s"',
        ),
        (("send", __file__, "localhost:9", "--name", "../x"), "which separate the parts of a path"),
        (("send", __file__, "[fe80::1]:9"), "a link-local address needs the interface"),
        (("recv", "[fe80::1]:9"), "[fe80::1%eth0]:9"),
        ((*GROUP, "ff15::7:9001"), "write an IPv6 address in brackets"),
        ((*GROUP, "[ff12::7]:9001"), "a group of one link or one computer needs the interface"),
        ((*GROUP, "[ff12::7%none7]:9001"), "none7: there is no such interface"),
        ((*GROUP, "[ff15::7]"), "no port from 1 to 65535"),
        ((*GROUP, "[ff15::7]:9001", "--interface", "none7"), "none7: there is no such interface"),
        ((*GROUP, "239.1.2.3:9001", "-6"), "different versions of IP"),
        ((*GROUP, "192.0.2.1:9001"), "the address of no group"),
        (("recv", "9", "--into", __file__), "not a folder"),
        (("recv", "9", "--name", "../x"), "which separate the parts of a path"),
        (("recv", "9", "--patience", "0"), "more than 0"),
        (("recv", "9", "--into", "-", "--json"), "standard output"),
    ],
)
def test_invalid_arguments_are_refused_with_a_message(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    process = start(*words, cwd=tmp_path)
    out, err = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 2
    assert said in (out + err).decode()


@pytest.mark.parametrize(
    ("former", "present"), [("is_whole", "is_complete"), ("words_for", "describe_outcome")]
)
def test_former_names_of_functions_are_answered_with_the_present_ones(former: str, present: str) -> None:
    with pytest.raises(AttributeError, match=f"`thalweg.transfers.{former}` was renamed to `{present}`"):
        getattr(transfers, former)


def test_the_hint_lists_no_scheme_that_is_refused(tmp_path: Path) -> None:
    _, err = start("send", __file__, "localhost:9", "--scheme", "mircc", cwd=tmp_path).communicate(
        timeout=LONGEST_S
    )
    offered = err.decode().split("there are:")[1].replace(",", " ").split()
    assert "cubic" in offered
    assert "srmcc" not in offered
