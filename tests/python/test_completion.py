"""Completion by Tab, and the manual page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from thalweg.cli import VERBS, application, call

PAGE = ROOT / "packaging" / "data" / "share" / "man" / "man1" / "thalweg.1"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without startup files."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ZSH", "ZSH_CUSTOM"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def completed(home: Path, *words: str) -> list[str]:
    """What Tab offers in a new bash for the last of these words."""
    typed = " ".join(f"'{word}'" for word in ("thalweg", *words))
    program = f'. ~/.bashrc; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _thalweg; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        ["bash", "--norc", "-c", program],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_a_new_shell_completes_commands_and_options(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert call(["--install-completion", "--shell", "bash"]) == 0
    assert "in new shells" in capsys.readouterr().out
    assert (home / ".bashrc").read_text().count("thalweg") == 3, (
        "the comment and one line that names the file twice"
    )
    assert set(completed(home, "re")) == {"recv", "report", "reproduce"}
    assert set(VERBS) <= set(completed(home, ""))
    assert completed(home, "run", "--see") == ["--seed"]
    assert set(completed(home, "ndn", "")) >= {"get", "put", "forward", "control"}
    assert set(completed(home, "send", "a", ":1", "--mode", "")) == {"real-time", "background"}


def test_a_script_in_a_file_of_the_user_leaves_startup_files_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for shell in ("bash", "zsh", "fish", "powershell"):
        file = home / "scripts" / shell
        assert call(["--install-completion", "--shell", shell, "--out", str(file), "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"shell": shell, "file": str(file)}
        assert "reproduce" in file.read_text()
        if shell in ("bash", "zsh", "fish") and shutil.which(shell):
            subprocess.run([shell, "-n", file], check=True)
    assert [path.name for path in home.iterdir()] == ["scripts"]


def test_an_unknown_shell_must_be_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cyclopts.completion import detect

    def unknown() -> str:
        raise detect.ShellDetectionError("none")

    monkeypatch.setattr(detect, "detect_shell", unknown)
    assert call(["--install-completion"]) == 2
    assert "hint: name it: --shell bash" in capsys.readouterr().err
    assert not list(home.iterdir())


def test_the_manual_page_has_every_command_and_option() -> None:
    app, page = application(), PAGE.read_text(encoding="ascii").replace("\\-", "-")
    for verb in VERBS:
        words = [[verb, name] for name in app[verb] if not name.startswith("-")] or [[verb]]
        for path in words:
            start = page.index(f".SS thalweg {' '.join(path)}")
            section = page[start : page.index("\n.S", start + 1)]
            command = app[path[0]] if len(path) == 1 else app[path[0]][path[1]]
            with app.app_stack([app, command]):
                for argument in command.assemble_argument_collection():
                    if argument.show and argument.names[0].startswith("--"):
                        assert f"\\fB{argument.names[0]}\\fR" in section, path


@pytest.mark.parametrize(
    ("program", "options"), [("groff", ["-man", "-Tutf8", "-ww", "-z"]), ("mandoc", ["-Tlint", "-Wwarning"])]
)
def test_formatters_read_the_manual_page_without_a_warning(program: str, options: list[str]) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    done = subprocess.run([program, *options, PAGE], capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if not re.search(r"missing date", line)]
    assert said == []
