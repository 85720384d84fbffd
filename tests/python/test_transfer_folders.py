"""`thalweg send FOLDER`: the files of a folder, resumption, and what is not sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from transfer_ends import both, port, start

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("key")]

FILES = {
    "a.txt": b"a" * 300_000,
    "sub/b.bin": bytes(range(256)) * 1000,
    "sub/deeper/empty": b"",
    "z": b"last",
    ".hidden": b"h",
    "--help": b"option",
    "-rf/.config": b"both",
    f"{'d' * 251}.one/{'ö' * 125}.txt": b"long",
    f"{'d' * 251}.two/{'ö' * 125}.txt": b"longer",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of usual, unusual and long names, and what is not sent."""
    top = tmp_path / "photos"
    for name, content in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(content)
    return top


@pytest.fixture
def mixed(folder: Path) -> Path:
    """A folder with a link, and with names that mean something else on other systems."""
    (folder / "link").symlink_to("/etc/passwd")
    for name in ("a:b", "c\\d", "e\u202ef"):
        (folder / name).write_bytes(b"not sent")
    return folder


def contents(top: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()
    }


@pytest.mark.parametrize("scheme", ["cvihis", "cubic"])
def test_all_files_arrive(folder: Path, into: Path, scheme: str) -> None:
    sent, got = both(folder, into, sending=("--scheme", scheme))
    assert (sent["code"], got["code"], sent["complete"], got["complete"]) == (0, 0, True, True)
    assert contents(into / "photos") == FILES
    count = len(FILES)
    assert sent["files"] == {"complete": count, "total": count, "omitted": 0}
    assert got["files"] == {"complete": count, "total": None, "omitted": 0}
    size = sum(map(len, FILES.values()))
    assert (sent["total_bytes"], sent["done_bytes"], got["done_bytes"]) == (size, size, size)
    assert not sent["notes"]


def test_what_is_not_sent_is_listed_and_both_ends_say_that_something_is_missing(
    mixed: Path, into: Path
) -> None:
    sent, got = both(mixed, into)
    assert (sent["code"], got["code"], sent["complete"], got["complete"]) == (1, 1, False, False)
    assert contents(into / "photos") == FILES
    assert (sent["files"]["omitted"], got["files"]["omitted"]) == (4, 4)
    assert sent["outcome"] == "incomplete: 4 files or folders in the folder cannot be sent"
    assert got["outcome"] == f"{sent['outcome']}, says the sender"
    names = [note.partition("photos/")[2].partition(": ")[0] for note in sent["notes"]]
    assert names == ["a:b", "c\\d", "e\\u{202e}f", "link"]


@pytest.mark.parametrize("name", [".profile", "-rf", "~"])
def test_a_name_that_would_be_hidden_or_an_option_beside_other_files_needs_another(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"x")
    process = start("send", tmp_path / name, f"127.0.0.1:{port()}")
    _, error = process.communicate(timeout=20)
    assert "begins with a dot, a dash or a tilde; `--name` sets another name" in " ".join(
        error.decode().split()
    )
    assert process.returncode in (1, 2)


def test_existing_files_are_not_retransmitted_and_a_different_one_ends_the_transfer(
    folder: Path, into: Path
) -> None:
    there = into / "album"
    (there / "sub").mkdir(parents=True)
    for name in ("a.txt", "sub/b.bin"):
        (there / name).write_bytes(FILES[name])
    sent, got = both(folder, into, receiving=("--name", "album"))
    assert (sent["code"], got["code"]) == (0, 0)
    assert contents(there) == FILES
    assert got["resumed_bytes"] == len(FILES["a.txt"]) + len(FILES["sub/b.bin"])
    assert sent["stats"]["content_bytes"] < len(FILES["a.txt"])

    (there / "sub" / "b.bin").write_bytes(b"another")
    sent, got = both(folder, into, receiving=("--name", "album"))
    assert (sent["code"], got["code"]) == (1, 1)
    assert "b.bin is there already" in got["outcome"]
    assert (there / "sub" / "b.bin").read_bytes() == b"another"


def test_a_link_in_place_of_a_folder_is_not_followed(folder: Path, into: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (into / "photos").symlink_to(elsewhere)
    sent, got = both(folder, into)
    assert (sent["code"], got["code"]) == (1, 1)
    assert "no folder" in got["outcome"]
    assert not any(elsewhere.iterdir())


def test_folders_that_cannot_be_sent_are_refused_at_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    cases = {
        ("empty",): "there is no file in it",
        ("photos", "--deadline", "500 ms"): "a folder cannot be sent with a deadline",
    }
    for (name, *more), said in cases.items():
        process = start("send", tmp_path / name, f"127.0.0.1:{port()}", *more)
        _, error = process.communicate(timeout=20)
        assert said in " ".join(error.decode().split())
        assert process.returncode in (1, 2)
