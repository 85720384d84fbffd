"""Every command of the prose runs as it is printed: in a fresh folder, at 80 columns, with its exit code and its files.

What a page does not tell its readers stands in a comment before the block, which they do not see:

    <!-- run: makes out/first/seed=7/run.json; exit 1 -->

    skip WHY        nobody runs it here, and why
    exit N          the block ends with this code, not with 0
    makes PATH      this file is there afterwards, and was not before
    given NAME      a file that readers have; a folder with two files where the name has no ending
    share NAME      the same for each of several computers, where a block before made it
    beside COMMAND  this runs in another terminal beside each line that begins with `thalweg`
    terminals       each line has a terminal of its own, and all run at once
    last            with the last line all have ended: the other terminals get Ctrl-C, whatever their code is then
    computers N     the same, each in a folder of its own, which is called after its number; the last line runs N times (once
                    where no number is given)

Lines of `make` are left out: they build, and CI runs them. Commands run in a network of their own where only this
computer is, and go by the names of HOSTS. Scenarios and Python examples of the pages are in `test_prose.py`.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT

pytestmark = pytest.mark.wall_clock

COLUMNS = 80
PATIENCE_S = 180.0
"""More than any block needs on a busy machine."""
MOMENT_S = 5.0
"""After this time the next terminal is started also beside a program that shows nothing while all is well."""

FENCE = re.compile(
    r"^(?P<note><!-- run: (?P<said>[^\n]*) -->\n)?^(?P<indent> *)```(?P<language>\w*)(?P<name>[^\n]*)\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
LANGUAGES = {"sh", "toml", "python", "text", "rust", ""}
WORDS = {"skip", "exit", "makes", "given", "share", "beside", "terminals", "last", "computers"}
HOSTS = {"host:": "localhost:", "sender.example:": "localhost:"}
"""What stands for another computer in the prose, and what does here."""
STAND_INS = {
    "ffmpeg": "for n in 1 2 3 4 5 6 7 8 9 10; do head -c 2500 /dev/urandom; sleep 0.1; done",
    "ffplay": "cat > played",
    "wireshark": 'for file; do :; done; [ "$(od -An -tx4 -N4 "$file")" = " 0a0d0d0a" ]',
}
"""In place of programs that need a camera or a screen: a stream of 200 kbit/s, what keeps it, and what knows a capture."""
NETWORK = """
ip link set lo up
ip link add eth0 type veth peer name other
ip address add 192.0.2.1/24 dev eth0
ip address add 2001:db8::1/64 dev eth0 nodad
ip link set eth0 up
ip link set other up
ip route add 239.0.0.0/8 dev eth0
echo ready
exec sleep infinity
"""
"""A network without other computers, with an interface beside loopback for groups."""


class Wrong(Exception):
    """Something is not as a page has it."""


def demand(is_so: bool, else_say: str) -> None:
    """Goes on only if it is so."""
    if not is_so:
        raise Wrong(else_say)


@dataclass
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    name: str
    text: str
    notes: dict[str, list[str]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def commands(self) -> list[str]:
        """The lines that are run; one that ends with a backslash goes on."""
        joined = self.text.replace("\\\n", " ")
        lines = [line for line in joined.splitlines() if line.strip() and not line.startswith(("#", "make "))]
        return [re.sub(rf"\b({'|'.join(HOSTS)})", lambda found: HOSTS[found[0]], line) for line in lines]


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, with what its comment says."""
    text, found = page.read_text(encoding="utf-8"), []
    for match in FENCE.finditer(text):
        block = Block(
            page,
            text.count("\n", 0, match.start("indent")) + 1,
            match["language"],
            match["name"].strip(),
            match["text"],
        )
        for item in (match["said"] or "").split("; "):
            if item:
                word, _, rest = item.partition(" ")
                assert word in WORDS, f"{block.place}: `{word}` says nothing; there are {', '.join(WORDS)}"
                block.notes.setdefault(word, []).append(rest)
        found.append(block)
    return found


def pages() -> list[Path]:
    """The pages with commands, the guide first."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    there = [ROOT / name for name in sorted(set(listed.stdout.split())) if (ROOT / name).is_file()]
    return [page for page in there if any(block.language == "sh" for block in blocks(page))]


class Terminal:
    """A shell with a terminal of 80 columns, from which all that it shows is kept."""

    def __init__(self, argv: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.shown = b""
        self.code: int | None = None
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(folder)
                os.execvpe(argv[0], argv, environment)
            finally:
                os._exit(127)
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))

    @property
    def text(self) -> str:
        """What it shows, without colours and what moves the cursor."""
        plain = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07", b"", self.shown)
        return plain.decode("utf-8", "replace").replace("\r", "\n").replace("\n\n", "\n")

    def end(self) -> None:
        """Ends what still runs."""
        if self.code is None:
            os.killpg(self.pid, signal.SIGKILL)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.screen)


def wait(terminals: list[Terminal], why: str, *, last: bool = False, shows: bool = False) -> None:
    """Reads what terminals show until all have ended (`last`: with the last of them), or until the last `shows` anything."""
    until, soon = time.monotonic() + PATIENCE_S, time.monotonic() + MOMENT_S
    open_ones = {terminal.screen: terminal for terminal in terminals if terminal.code is None}
    while open_ones:
        if shows and (terminals[-1].shown or terminals[-1].code is not None or time.monotonic() > soon):
            return
        if last and terminals[-1].code is not None:
            for screen in open_ones:
                os.write(screen, b"\x03")
            last = False
        left = until - time.monotonic()
        shown = "\n".join(terminal.text for terminal in terminals)
        demand(left > 0, f"{why}: not over after {PATIENCE_S:.0f} s\n{shown}")
        for screen in select.select(list(open_ones), [], [], MOMENT_S / 10 if shows else left)[0]:
            terminal = open_ones[screen]
            try:
                part = os.read(screen, 1 << 16)
            except OSError:
                part = b""
            terminal.shown += part
            if not part:
                del open_ones[screen]
                terminal.code = os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1])


@pytest.fixture(scope="module")
def network() -> Iterator[list[str]]:
    """How to get into a network of its own, as the beginning of a command; empty where the system has none to give."""
    holder = subprocess.Popen(
        ["unshare", "-Urn", "sh", "-e", "-c", NETWORK],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    ready = holder.stdout is not None and holder.stdout.readline() == "ready\n"
    enter = ["nsenter", "-t", str(holder.pid), "-U", "-n", "--preserve-credentials"]
    yield enter if ready else []
    holder.kill()
    holder.wait()


class Reader:
    """Who follows one page in a fresh clone."""

    def __init__(self, folder: Path, network: list[str]) -> None:
        self.folder, self.network = folder, network
        (folder / ".venv").symlink_to(ROOT / ".venv")
        shutil.copytree(ROOT / "scenarios", folder / "scenarios")
        tools = folder / ".stand-ins"
        tools.mkdir()
        for name, script in STAND_INS.items():
            (tools / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            (tools / name).chmod(0o755)
        dropped = {"VIRTUAL_ENV", "NO_COLOR", "FORCE_COLOR", "PYTEST_CURRENT_TEST"}
        self.environment = {key: value for key, value in os.environ.items() if key not in dropped} | {
            "COLUMNS": str(COLUMNS),
            "TERM": "xterm-256color",
            "PATH": f"{tools}:{folder / '.venv/bin'}:{os.environ['PATH']}",
        }

    def start(self, script: str, folder: Path) -> Terminal:
        """Runs a script in a terminal of its own."""
        return Terminal(
            [*self.network, "bash", "-e", "-o", "pipefail", "-c", script], folder, self.environment
        )

    def follow(self, block: Block) -> None:
        """Does what a block says, and looks at what comes of it."""
        for name in block.notes.get("given", []):
            give(self.folder / name)
        made = [self.folder / path for path in block.notes.get("makes", [])]
        there = [path for path in made if path.exists()]
        demand(not there, f"{block.place}: {there} had been there")
        began = time.monotonic()
        expected = int(block.notes.get("exit", ["0"])[0])
        for group in self.groups(block):
            terminals: list[Terminal] = []
            why = f"{block.place}: {' | '.join(script for script, _ in group)}"
            try:
                for script, folder in group:
                    terminals.append(self.start(script, folder))
                    if len(terminals) < len(group):
                        # who follows by hand starts the next when this one stands
                        wait(terminals, why, shows=True)
                wait(terminals, why, last="last" in block.notes)
            finally:
                for terminal in terminals:
                    terminal.end()
            for terminal in terminals:
                ended = "last" in block.notes and terminal is not terminals[-1]
                demand(
                    ended or terminal.code == expected, f"{why}: ended with {terminal.code}\n{terminal.text}"
                )
                errors = faults(terminal.text)
                demand(not errors, "\n".join([f"{why}:", *errors, terminal.text]))
        missing = [path for path in made if not path.exists()]
        demand(not missing, f"{block.place}: {missing} did not come")
        print(f"{block.place}: {time.monotonic() - began:.1f} s")

    def groups(self, block: Block) -> Iterator[list[tuple[str, Path]]]:
        """Scripts and their folders; scripts of one list run at once."""
        commands = block.commands()
        if "computers" in block.notes:
            last = int(block.notes["computers"][0] or 1)
            scripts = [*commands[:-1], *commands[-1:] * last]
            folders = [self.folder / str(number + 1) for number in range(len(scripts))]
            for folder in folders:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                for name in block.notes.get("share", []):
                    (folder / name).symlink_to(self.folder / name)
            for name in block.notes.get("given", []):
                for script, folder in zip(scripts, folders, strict=True):
                    if name in script.split():
                        (folder / name).symlink_to(self.folder / name)
            yield list(zip(scripts, folders, strict=True))
        elif "terminals" in block.notes:
            yield [(command, self.folder) for command in commands]
        elif "beside" in block.notes:
            for command in commands:
                ours = re.match(r"(\w+=\S+ )*thalweg ", command)
                other = block.notes["beside"] if ours else []
                yield [(script, self.folder) for script in (*other, command)]
        else:
            # what was put into the background ends with the terminal
            yield [("\n".join(["trap 'kill $(jobs -p) 2> /dev/null || true' EXIT", *commands]), self.folder)]


def give(path: Path) -> None:
    """A file, or a folder with two."""
    if path.exists():
        return
    if not path.suffix:
        path.mkdir()
        for name in ("one.jpg", "two.jpg"):
            (path / name).write_bytes(os.urandom(50_000))
    else:
        path.write_bytes(os.urandom(200_000))


@cache
def known_words() -> frozenset[str]:
    """Every word that stands whole somewhere in the prose, the sources or a scenario, in lower case."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md", "*.py", "*.rs", "*.toml", ":!tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    words: set[str] = set()
    for name in set(listed.stdout.split()):
        if (ROOT / name).is_file():
            words.update(re.findall(r"[^\W\d_]+", (ROOT / name).read_text("utf-8", "replace").lower()))
    return frozenset(words)


def faults(text: str) -> list[str]:
    """What must not be seen: tracebacks, panics, tables that cut words or numbers."""
    found = [word for word in ("Traceback (most recent call last)", "panicked at") if word in text]
    for table in tables(text):
        for above, line in zip(["", *table], table, strict=False):
            # words with digits are hashes and names
            words = re.findall(r"(?<![^\W_])[^\W\d_]{3,}(?![^\W_])", line.lower())
            pieces = [word for word in words if word not in known_words()]
            found += [f"`{piece}` is cut in a table: {line.strip()}" for piece in pieces]
            # the rest of a number stands below it, and ends where it ends
            ends = {cell.end() for cell in re.finditer(r"(?<!\S)\d*\.?\d+(?!\S)", above)}
            rest = [cell for cell in re.finditer(r"\S+", line) if cell[0].isdecimal() and cell.end() in ends]
            if rest and len(rest) == len(line.split()):
                found.append(f"a number is cut in a table: {line.strip()}")
    return found


def tables(text: str) -> Iterator[list[str]]:
    """The lines of each table: around a rule, up to the empty lines before and after. Bars of progress are none."""
    lines = ["" if "━" in line else line for line in text.splitlines()]
    for place, line in enumerate(lines):
        if re.fullmatch(r" *─{8,} *", line):
            first, last = place, place
            while first > 0 and lines[first - 1].strip():
                first -= 1
            while last + 1 < len(lines) and lines[last + 1].strip():
                last += 1
            yield [*lines[first:place], *lines[place + 1 : last + 1]]


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages()])
def test_every_command_of_a_page_runs_as_it_is_printed(
    page: Path, tmp_path: Path, network: list[str]
) -> None:
    reader, failed = Reader(tmp_path, network), []
    for block in blocks(page):
        if block.language in ("toml", "text") and block.name:
            (tmp_path / block.name).write_text(block.text, encoding="utf-8")
        if block.language == "sh" and "skip" not in block.notes and block.commands():
            try:
                reader.follow(block)
            except Wrong as error:
                failed.append(str(error))
    if failed:
        pytest.fail("\n\n".join(failed), pytrace=False)


def test_every_block_of_the_guide_is_of_a_tested_kind() -> None:
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/guide/*.md"))]:
        for block in blocks(page):
            assert block.language in LANGUAGES - {""}, f"{block.place}: who tests ```{block.language}?"
            assert block.notes.get("skip") != [""], f"{block.place}: skip why?"


def test_cut_words_and_numbers_are_seen() -> None:
    whole = "\n flow    throughput\n                   \n ───────────────────\n reno.1       9.088\n\n"
    assert faults(whole.replace("\n                   \n", "\n")) == []
    cut = "\n flow    throu\n         ghput\n ─────────────\n reno.1  9.088\n             3\n\n"
    assert len(faults(cut)) == 3
    wrapped = "\n claim     means\n ───────────────\n S004-17   back within\n           20\n           s\n\n"
    assert faults(wrapped) == []
