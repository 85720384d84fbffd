"""What the command prints on a terminal of 80 and of 160 columns: golden files, and no word or number is broken.

`UPDATE_GOLDEN=1` rewrites the golden files; read the diff.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from conftest import DATA, SMALL
from thalweg.cli.tables import is_prose, layout, shorten, wrap_heading

GOLDEN = Path(__file__).parent / "golden"

STREAM = """
title    = "One stream to three receivers"
duration = "20 s"
warmup   = "2 s"

[topology]
kind  = "tree"
arity = 2
depth = 2
link  = { rate = "2 Mbit/s", delay = "5 ms", buffer = "50 packets" }

[[flows]]
name   = "video"
scheme = "tfmcc"
from   = "leaf1"
to     = ["leaf2", "leaf3", "leaf4"]

[expect]
"flow.video.throughput" = ">= 0.5 Mbit/s"
"""

SHORT = SMALL.replace('title    = "One Reno flow"', 'title    = "Short flows beside one long flow"').replace(
    "[record]",
    """[[flows]]
name     = "a-flow-with-a-long-name"
scheme   = "cubic"
size     = "100 kB"
count    = 3

[record]""",
)

SWEEP = (
    SMALL
    + """
[sweep]
"topology.bottleneck.buffer" = ["0.5 bdp", "2 bdp"]
"flows.reno.scheme" = ["reno", "cubic"]
"""
)

FAILS = SWEEP.replace('">= 0.5"', '">= 0.95"')

FILES = {"tcp": SMALL, "stream": STREAM, "ndn": DATA, "short": SHORT, "sweep": SWEEP, "fails": FAILS}

COMMANDS = {
    "run-tcp": ["run", "tcp.toml"],
    "run-set": ["run", "tcp.toml", "--set", "topology.bottleneck.buffer=0.2 bdp"],
    "run-stream": ["run", "stream.toml"],
    "run-ndn": ["run", "ndn.toml"],
    "run-short-flows": ["run", "short.toml"],
    "sweep": ["run", "sweep.toml", "--runs", "2", "--jobs", "1"],
    "compare": ["compare", "out/tcp/seed=3", "out/tcp/bottleneck.buffer=0.2bdp,seed=3"],
    "check": ["check", "tcp.toml"],
    "doctor": ["doctor"],
    "scheme": ["schemes", "aimd"],
    "run-full": ["run", "stream.toml", "--full"],
    "sweep-fails": ["run", "fails.toml", "--runs", "2", "--jobs", "1"],
    "metric": ["metrics", "throughput_bps"],
    "new-list": ["new", "--list"],
    "reproduce": ["reproduce", "mca", "--figure", "figure-8", "--quick", "--jobs", "1"],
}
"""Commands with a golden file; they are run one after the other in one folder."""

ENDS: dict[str, Any] = json.loads((GOLDEN / "transfers.json").read_text(encoding="utf-8"))
"""What transfers answered at their end, whose table `send` and `recv` print."""

LONG = {"schemes": ["schemes"], "metrics": ["metrics"]}
"""Commands whose output changes with the catalogue, and has no golden file."""

PROGRAM = """
import json, sys
from contextlib import redirect_stderr
from thalweg.cli import call, doctor, transfer
from thalweg.result import Result

# what a machine and its clock decide
of = Result.of
Result.of = classmethod(lambda cls, plan, native, wall_s, cpu_s: of(plan, native, 0.5, 0.5))
area = "real kernels and networks"
doctor.run_checks = lambda: [
    doctor.Finding("simulate, draw, report", "Python", "ok", "3.11.7 on Linux 6.1, x86_64", needed=True),
    doctor.Finding(area, "kernel TCP", "ok", "reno, cubic, bbr, dctcp, vegas, westwood, illinois, bic; default cubic"),
    doctor.Finding(
        area, "namespaces", "missing", "unshare: unshare failed: Operation not permitted",
        "Emulation builds its network in namespaces of its own: allow unprivileged user namespaces, or be root."
    ),
]
for name, words in json.loads(sys.argv[1]).items():
    print(f"@@@ {name}", flush=True)
    if isinstance(words, dict):
        with redirect_stderr(sys.stdout):
            transfer._print_result(words, words["outcome"], words["hint"], sending=name == "send-end", table=True)
        continue
    code = call(words)
    print(f"exit code {code}", flush=True)
"""


def printed(commands: dict[str, Any], folder: Path, width: int) -> dict[str, str]:
    """What commands print on a terminal of this width."""
    for name, text in FILES.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**environment, "TERM": "xterm"},
    ) as program:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            pieces.append(piece)
        assert program.stderr is not None
        errors = program.stderr.read().decode()
    os.close(ours)
    assert program.returncode == 0, errors
    text = re.sub(r"\x1b\[[0-9;]*m", "", b"".join(pieces).decode().replace("\r\n", "\n"))
    text = re.sub(r"(\d runs) in \d+ s", r"\1 in 1 s", text)
    parts = re.split(r"^@@@ (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, str]]:
    """What all commands print, by width. The widest breaks nothing."""
    return {
        width: printed(COMMANDS | ENDS | LONG, tmp_path_factory.mktemp(f"width-{width}"), width)
        for width in (80, 160, 1000)
    }


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", [*COMMANDS, *ENDS])
def test_output_equals_the_golden_file(name: str, width: int, shown: dict[int, dict[str, str]]) -> None:
    file = GOLDEN / f"{name}.{width}.txt"
    text = "".join(f"{line.rstrip()}\n" for line in shown[width][name].splitlines())
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def words_of(text: str) -> set[str]:
    """Words, names and numbers, apart at dots, slashes and commas, after which headings may be broken."""
    text = re.sub(
        r"^Not shown at this width: .*?(?:`--json`|report|parquet)\s+has\s+all\.$",
        "",
        text,
        flags=re.M | re.S,
    )
    return set(re.findall(r"[^\s./,─]+", text))


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", [*COMMANDS, *ENDS, *LONG])
def test_no_line_is_too_long_and_no_word_is_broken(
    name: str, width: int, shown: dict[int, dict[str, str]]
) -> None:
    text = shown[width][name]
    if name != "check":  # whose lines stay whole, for the terminal to wrap
        tables = [line for line in text.splitlines() if not line.startswith(("Results: ", "Page of them: "))]
        assert max(map(len, tables)) <= width
    assert words_of(text) <= words_of(shown[1000][name])


def test_columns_in_the_environment_sets_the_width_without_a_terminal(tmp_path: Path) -> None:
    for said, width in ((None, 160), ("72", 72)):
        environment: dict[str, Any] = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
        if said:
            environment["COLUMNS"] = said
        words = [sys.executable, "-m", "thalweg", "schemes", "cubic"]
        done = subprocess.run(
            words, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
        )
        longest = max(map(len, done.stdout.splitlines()))
        assert width - 20 < longest <= width


def test_columns_are_left_out_by_importance() -> None:
    columns = [("name", "name"), ("a", "first"), ("b", "second"), ("c", "third")]
    cells = {"name": ["x" * 8], "a": ["1" * 6], "b": ["2" * 6], "c": ["3" * 6]}
    assert layout(columns, cells, 80, first=("name", "c")).omitted == []
    assert layout(columns, cells, 25, first=("name", "c")).columns == ["name", "a", "c"]
    assert layout(columns, cells, 20, first=("name", "c")).columns == ["name", "c"]
    assert layout(columns, cells, 20, first=("name", "c")).omitted == ["a", "b"]


def test_any_table_fits_and_its_cells_are_not_broken() -> None:
    dice = random.Random(1)
    for _ in range(500):
        names = [f"c{number}" for number in range(dice.randint(1, 12))]
        cells = {
            name: [
                " ".join("x" * dice.randint(1, 14) for _ in range(dice.choice([1, 1, 2, 9])))
                for _ in range(3)
            ]
            for name in names
        }
        headings = [
            (name, ".".join("h" * dice.randint(1, 12) for _ in range(dice.randint(1, 4)))) for name in names
        ]
        width = dice.choice([20, 40, 80, 200])
        found = layout(headings, cells, width, first=dice.sample(names, len(names) // 2))
        assert sum(found.widths.values()) + 2 * (len(found.columns) - 1) <= width
        assert sorted([*found.columns, *found.omitted]) == sorted(names)
        for name in found.columns if len(found.columns) > 1 else ():
            pieces = [
                word for text in cells[name] for word in (text.split() if is_prose(cells[name]) else [text])
            ]
            assert max(map(len, pieces)) <= found.widths[name]
            lines = found.headings[name].split("\n")
            assert "".join(lines) == dict(headings)[name]
            assert max(map(len, lines)) <= found.widths[name]


def test_prose_is_broken_and_names_are_not() -> None:
    cells = {
        "name": ["a-long-name-that-stays-whole"],
        "text": ["words that can be put on several lines, as here"],
    }
    found = layout([("name", "name"), ("text", "text")], cells, 60)
    assert found.widths == {"name": 28, "text": 30}


def test_names_are_shortened_in_the_middle_only_where_they_exceed_the_whole_width() -> None:
    assert shorten("bottleneck", 10) == "bottleneck"
    assert shorten("left-and-a-long-way-right", 11) == "left-…right"
    found = layout([("name", "name"), ("n", "n")], {"name": ["x" * 50], "n": ["1"]}, 40)
    assert (found.columns, found.widths, found.omitted) == (["name"], {"name": 40}, ["n"])


@pytest.mark.parametrize(
    ("heading", "width", "lines"),
    [
        ("throughput (Mbit/s)", 19, ["throughput (Mbit/s)"]),
        ("throughput (Mbit/s)", 12, ["throughput", "(Mbit/s)"]),
        ("link.bottleneck.utilisation (%)", 16, ["link.bottleneck.", "utilisation (%)"]),
        ("out/buffers/seed=1", 12, ["out/buffers/", "seed=1"]),
        ("buffer=0.25bdp,seed=1", 16, ["buffer=0.25bdp,", "seed=1"]),
    ],
)
def test_headings_are_broken_between_words(heading: str, width: int, lines: list[str]) -> None:
    assert wrap_heading(heading, width).split("\n") == lines


@pytest.mark.parametrize(
    ("value", "text"),
    [(19.9942, "20"), (0.98765, "0.988"), (12345.6, "12346"), (0.000123456, "0.000123"), (2.5e9, "2.50e+09")],
)
def test_numbers_on_a_terminal_have_three_significant_digits(value: float, text: str) -> None:
    from thalweg.cli.output import number

    assert number(value) == text
