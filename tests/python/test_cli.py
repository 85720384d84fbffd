"""The `thalweg` command: exit codes, messages, signals, pipes, and what it does not import."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from cli_calls import asked, refused
from thalweg.cli import VERBS, call
from thalweg.cli.output import CommandError
from thalweg.cli.overrides import parse_params, parse_value

HEAVY = ("polars", "matplotlib", "numpy", "scipy")


def test_ctrl_c_during_start_up_is_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from thalweg import cli

    def early(_words: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "call", early)
    # a handler that we did not set stays
    monkeypatch.setattr(signal, "getsignal", lambda _number: None)
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"


def test_a_table_without_headings_begins_with_its_first_row(capsys: pytest.CaptureFixture[str]) -> None:
    from thalweg.cli.output import print_table

    print_table("", [("what", ""), ("value", "")], [{"what": "bytes", "value": "3 MB"}])
    assert [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()] == [
        ["bytes", "3", "MB"]
    ]


def test_messages_of_the_system_have_no_error_number(capsys: pytest.CaptureFixture[str]) -> None:
    from thalweg.cli.output import print_error

    assert print_error("x: No such file or directory (os error 2)", json=False) == 2
    assert capsys.readouterr().err == "error: x: No such file or directory\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("beta", "not KEY=VALUE"),
        ("=1", "not KEY=VALUE"),
        ("betta=0.7", "no such parameter"),
        ("beta=7", "not a value of `beta`"),
        ("beta=nan", "not a value of `beta`"),
        ("beta=true", "not a value of `beta`"),
        ("beta=much", "not a value of `beta`"),
        ("counting=pebbles", "acks"),
    ],
)
def test_invalid_parameters_are_refused_with_the_valid_ones(text: str, said: str) -> None:
    with pytest.raises(CommandError) as refusal:
        parse_params([text], "cubic", "beta=0.8")
    assert said in f"{refusal.value.message} {refusal.value.hint}"


def test_parameters_are_numbers_words_and_quantities() -> None:
    assert parse_params(["beta=0.8", "fast_convergence=false"], "cubic", "") == {
        "beta": 0.8,
        "fast_convergence": False,
    }
    assert parse_params(["mode=background", "initial_rate=1 Mbit/s"], "cvihis", "") == {
        "mode": "background",
        "initial_rate": "1 Mbit/s",
    }


@pytest.mark.parametrize(
    "words", [["--help"], *([verb, "--help"] for verb in VERBS), ["schemes"], ["--version"]]
)
def test_help_and_catalogue_load_no_heavy_library(words: list[str]) -> None:
    program = (
        "import sys\nfrom thalweg.cli import call\n"
        f"assert call({words!r}) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert done.stdout.strip()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ("1 bdp", "1 bdp"),
        ("[1, 2]", [1, 2]),
        ("reno", "reno"),
        ("2020-01-01", "2020-01-01"),
    ],
)
def test_values_of_set_are_read_as_toml_or_text(text: str, value: object) -> None:
    assert parse_value(text) == value


def test_every_help_text_begins_with_a_verb_and_exit_codes_are_stated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verbs = {
        *(
            "Check",
            "Compare",
            "Fetch",
            "Find",
            "Forward",
            "Give",
            "Ignore",
            "Import",
            "Judge",
            "Search",
            "Control",
            "Do",
            "Listen",
            "List",
            "Log",
        ),
        *("Measure", "Poll", "Print", "Read", "Remove", "Report", "Reproduce", "Run", "Serve", "Set", "Show"),
        *("Start", "Stop", "Study", "Use", "Watch", "Write"),
    }
    nouns = {"Path", "Name", "Address"}
    for module, name in (
        *(
            (verb, verb)
            for verb in ("check", "clock", "doctor", "emulate", "metrics", "new", "reproduce", "run")
        ),
        *((verb, verb) for verb in ("schema", "schemes", "trace")),
        *(("ndn", verb) for verb in ("get", "put")),
        ("ndn_control", "control"),
        ("ndn_forward", "forward"),
    ):
        function = getattr(importlib.import_module(f"thalweg.cli.{module}"), name)
        about, _, options = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
        assert about.split()[0] in verbs, (name, about)
        lines = options.splitlines()
        for option, line in pairwise(lines):
            if not option.startswith(" ") and line.startswith(" "):
                assert line.split()[0] in verbs | nouns, (name, option, line)
    ndn = (["ndn", verb] for verb in ("get", "put", "forward", "control"))
    for command in (["run"], ["check"], ["emulate"], ["reproduce"], ["doctor"], *ndn):
        assert call([*command, "--help"]) == 0
        assert "Exit codes" in capsys.readouterr().out


def test_a_broken_scenario_is_a_message_with_its_place(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write_text(small.read_text().replace('rate = "5 Mbit/s"', 'rte = "5 Mbit/s"'), encoding="utf-8")
    for verb in ("run", "check"):
        message = refused(capsys, verb, str(small))
        assert "rte" in message
        assert "rate" in message
        assert f"{small}:9:" in message or "small.toml:9" in message
    problems = asked(capsys, "run", str(small), code=2)["error"]["problems"]
    assert problems[0]["line"] == 9
    assert problems[0]["hint"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["check", "nowhere.toml"], "nowhere.toml"),
        (["rn"], "run"),
        (["run"], "SCENARIO"),
        (["schemes", "rno"], "did you mean `reno`?"),
        (["trace", "lte_drivin"], "did you mean `lte_driving`?"),
        (["trace", "leo", "--seed", "-1"], "out of range"),
        (["metrics", "througput_bps"], "did you mean `throughput_bps`?"),
        (["metrics", "orders_repeated"], "`orders_repeated` was renamed to `commands_retransmitted`"),
        (["reproduce", "mac"], "mca"),
        (["reproduce"], "--all"),
        (["reproduce", "mca", "--all"], "thalweg reproduce --all"),
        (["reproduce", "--all", "--figure", "8"], "thalweg reproduce --all"),
        (["reproduce", "mca", "--figure", "figure-99"], "figure-8"),
        (["reproduce", "named-dat"], "named-data"),
        (["reproduce", "mca", "--jobs", "0"], "at least one"),
        (["report", "nowhere"], "nowhere"),
        (["compare", "nowhere"], "two runs"),
        (["compare", "nowhere", "neither"], "nowhere"),
        (["doctor", "--jsn"], "Did you mean"),
    ],
)
def test_errors_of_users_are_messages_with_exit_code_2(
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, *words)
    error = asked(capsys, *words, code=2)["error"] if "--jsn" not in words else {"message": said}
    assert error["message"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "duration"], "KEY=VALUE"),
        (["--set", "flows.cubic.count=2"], "reno"),
        (["--set", "duration=5"], "unit"),
        (["--set", "topology.nodes=[2020-01-01]"], "not date"),
        (["--jobs", "0"], "at least one"),
        (["--runs", "0"], "at least one"),
        (["--seed", "first"], "first"),
        (["--seed", "-1"], "from 0"),
        (["--seed", "99999999999999999999999"], "from 0"),
    ],
)
def test_options_of_run_that_make_no_sense_are_refused(
    words: list[str], said: str, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capsys, "run", str(small), *words)


@pytest.mark.parametrize("name", ["run.json", "sweep.json", "reproduction.json"])
@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_folder_that_was_spoiled_is_refused(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert str(tmp_path) in refused(capsys, "report", str(tmp_path))


def test_ctrl_c_keeps_the_results_so_far(small: Path) -> None:
    text = small.read_text().replace('"4 s"', '"100000 s"').replace('"5 Mbit/s"', '"500 Mbit/s"')
    small.write_text(text, encoding="utf-8")
    out = small.parent / "results"
    words = [
        sys.executable,
        "-m",
        "thalweg",
        "run",
        str(small),
        "--out",
        str(out),
        "--set",
        'record.every="10 s"',
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        assert "real time" in run.stderr.readline()  # it is well under way
        run.send_signal(signal.SIGINT)
        shown, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    assert "Traceback" not in errors
    assert "interrupted" in shown
    assert json.loads((out / "run.json").read_text())["status"] == "interrupted"
    assert (out / "flows.parquet").is_file()


@pytest.mark.parametrize(
    "words",
    [["schemes"], ["schemes", "--json"], ["metrics"], ["schema"], ["--help"], ["run", "--help"], ["doctor"]],
)
def test_a_reader_that_closes_the_pipe_is_no_error(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "thalweg", *words], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("words", [[], ["--json"], ["--runs", "2", "--json"]])
def test_a_run_whose_output_is_not_read_to_its_end_keeps_its_results(words: list[str], small: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    out = small.parent / "results"
    done = subprocess.run(
        [sys.executable, "-m", "thalweg", "run", str(small), "--out", str(out), *words],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
    assert (out / ("sweep.json" if "--runs" in words else "run.json")).is_file()
