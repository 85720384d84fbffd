"""What other hosts, programs and files said reaches no terminal raw."""

from __future__ import annotations

import io
import json

import pytest

from thalweg._text import json_printable, printable
from thalweg.cli import output
from thalweg.cli.progress import Meter

BAD = "no room\x1b]0;owned\x07\x1b[31m\x9b2J\u202egpj.exe\u2028\u200b\x7f\ncomplete: every byte arrived"
"""A title, a colour, C1, a mark of writing direction, a line separator, a message of its own."""


def controls(text: str) -> list[str]:
    """Characters that a terminal obeys, line feeds apart."""
    return [letter for letter in text if letter != "\n" and printable(letter) != letter]


def test_control_characters_become_escapes_and_all_else_stays() -> None:
    assert printable("größe 数据 😀 \\ [bold]") == "größe 数据 😀 \\ [bold]"
    assert printable("a\x1b[0m\n\x9b\u202e") == r"a\x1b[0m\n\x9b\u202e"
    assert printable("a\nb\x1b", lines=True) == "a\nb\\x1b"
    assert not controls(printable(BAD))


def test_tables_messages_and_json_pass_none(capsys: pytest.CaptureFixture[str]) -> None:
    output.console().print(BAD, style="red", markup=False)
    output.console().print(f"receiver: {BAD}", style="yellow")
    output.console(error=True).print(BAD)
    output.print_table(BAD, [("what", BAD)], [{"what": BAD}])
    output.show_json({BAD: [BAD]})
    output.print_error(BAD, hint=BAD, json=False)
    output.print_error(BAD, hint=BAD, json=True)
    said = "".join(capsys.readouterr())
    assert "owned" in said
    assert controls(said) == []


def test_a_table_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table("", [("what", "what")], [{"what": BAD}, {"what": "next"}])
    lines = [line for line in capsys.readouterr().out.splitlines() if "complete" in line or "next" in line]
    assert len(lines) == 2


def test_escaped_json_has_the_same_value() -> None:
    told = {"said": BAD, "list": ["größe"]}
    text = json_printable(json.dumps(told, indent=1, ensure_ascii=False))
    assert json.loads(text) == told
    assert controls(text) == []


def test_a_bar_passes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with Meter(BAD) as meter:
        meter.show(1, 2, f"{BAD} [red]")
        assert meter._bar is not None
        meter._bar.refresh()
    said = screen.getvalue()
    assert r"\x1b]0;owned" in said
    assert "\x1b]0;" not in said
    assert not {"\x07", "\x9b", "\u202e"} & set(said)
