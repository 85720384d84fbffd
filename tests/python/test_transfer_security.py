"""Who is accepted at the other end of a transfer: keys, fingerprints, loopback addresses."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from thalweg import transfers
from thalweg.errors import TransferError
from transfer_ends import LONGEST_S, end, port, start

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("key")]


def test_a_client_with_another_key_is_not_served(file: Path, into: Path, tmp_path: Path) -> None:
    (tmp_path / "right").write_bytes(b"right" * 8)
    (tmp_path / "wrong").write_bytes(b"wrong" * 8)
    at = port()
    receiver = start("recv", at, "--into", into, "--key", tmp_path / "right", "--json")
    wrong = end(start("send", file, f"127.0.0.1:{at}", "--key", tmp_path / "wrong", "--json"))
    assert (wrong["code"], wrong["end"], wrong["complete"]) == (1, "failed", False)
    assert "seems to have another key" in wrong["outcome"]
    assert "the same `--key`" in wrong["hint"]
    assert list(into.iterdir()) == []
    sent = end(start("send", file, f"127.0.0.1:{at}", "--key", tmp_path / "right", "--json"))
    got = end(receiver)
    assert (sent["code"], got["code"]) == (0, 0)
    assert got["stats"]["refused"]["forged"] > 0


def test_a_listener_that_met_only_other_keys_is_told(file: Path, into: Path, tmp_path: Path) -> None:
    (tmp_path / "right").write_bytes(b"right" * 8)
    at = port()
    words = ("--key", tmp_path / "right", "--bind", "127.0.0.1", "--patience", 10, "--json")
    receiver = start("recv", at, "--into", into, *words)
    sent = end(start("send", file, f"127.0.0.1:{at}", "--json"))
    assert (sent["code"], sent["end"]) == (1, "failed")
    assert "the same `--key`" in sent["hint"]
    receiver.send_signal(signal.SIGINT)
    got = end(receiver)
    assert (got["code"], got["outcome"]) == (130, "nothing was received: it was stopped")
    assert "the same `--key`" in got["hint"]


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


def test_loopback_and_insecure_transfers_need_no_key(
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


def test_pinned_fingerprints_of_both_ends_are_accepted(
    file: Path, into: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THALWEG_KEY")
    keys = {name: tmp_path / f"{name}.pem" for name in ("sender", "receiver", "stranger")}
    prints = {name: end(start("identity", path, "--json"))["fingerprint"] for name, path in keys.items()}
    assert all(len(one) == len("sha256:") + 64 for one in prints.values())
    assert {path.stat().st_mode & 0o777 for path in keys.values()} == {0o600}
    at = port()

    def transfer(sender: str, accepted: str) -> tuple[dict[str, Any], dict[str, Any]]:
        accepts = ("--peer", prints["sender"], "--patience", 3, "--json")
        receiver = start("recv", at, "--into", into, "--identity", keys["receiver"], *accepts)
        shows = ("--identity", keys[sender], "--peer", prints[accepted], "--json")
        sent = end(start("send", file, f"127.0.0.1:{at}", *shows))
        return sent, end(receiver)

    sent, got = transfer("stranger", "receiver")
    assert (sent["code"], got["code"]) == (1, 1)
    assert prints["stranger"] in str(sent["hint"]), "what the other side can name"
    assert list(into.iterdir()) == []
    sent, got = transfer("sender", "stranger")
    assert (sent["code"], got["code"]) == (1, 1)
    assert {prints["stranger"], prints["receiver"]} <= set(
        str(sent["hint"]).replace(".", " ").replace(",", " ").split()
    )
    sent, got = transfer("sender", "receiver")
    assert (sent["code"], got["code"], sent["security"], got["security"]) == (0, 0, "pinned", "pinned")
    assert (into / "film.bin").read_bytes() == file.read_bytes()


def test_the_security_of_a_transfer_is_reported_at_its_start(
    file: Path, into: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THALWEG_KEY")
    at = port()
    own = tmp_path / "own.pem"
    receiver = start("recv", at, "--into", into, "--identity", own, "--insecure")
    _, err = start("send", file, f"127.0.0.1:{at}").communicate(timeout=LONGEST_S)
    assert "security: the other end is not authenticated, and is on this computer" in " ".join(
        err.decode().split()
    )
    _, err = receiver.communicate(timeout=LONGEST_S)
    said = "".join(err.decode().split())
    _, fingerprint = said.split("thisendis")
    assert fingerprint.startswith(end(start("identity", own, "--json"))["fingerprint"])
    assert "theotherendisnotauthenticated" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--identity", "own.pem"), "needs `--peer`"),
        (("--peer", "sha256:12"), "not a fingerprint"),
        (("--peer", "sha256:" + 32 * "ab", "--insecure"), "exclude each other"),
        (("--identity", "own.pem", "--key", "secret"), "exclude each other"),
        (("--identity", "open.pem", "--insecure"), "chmod 600"),
        (("--identity", "secret", "--insecure"), "not an Ed25519 private key"),
    ],
)
def test_mistakes_about_identities_are_refused(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THALWEG_KEY")
    (tmp_path / "secret").write_bytes(bytes(range(32)))
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "open.pem").write_text("-----BEGIN PRIVATE KEY-----\n", encoding="utf-8")
    process = start("recv", 9, *words, cwd=tmp_path)
    _, err = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 2
    assert message in " ".join(err.decode().split())


def test_secrets_for_wireshark_are_written_to_sslkeylogfile(
    file: Path, into: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = tmp_path / "secrets"
    monkeypatch.setenv("SSLKEYLOGFILE", str(secrets))
    at = port()
    receiver = start("recv", at, "--into", into, "--json")
    sent = end(start("send", file, f"127.0.0.1:{at}", "--json"))
    assert (sent["code"], end(receiver)["code"]) == (0, 0)
    kinds = [line.split()[0] for line in secrets.read_text(encoding="utf-8").splitlines()]
    assert {"CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"} <= set(kinds)
