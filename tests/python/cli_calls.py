"""Commands in the process of a test, and what they print."""

from __future__ import annotations

import json
from typing import Any

import pytest

from thalweg.cli import call


def asked(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """The one JSON object that a command prints."""
    assert call([*words, "--json"]) == code, capsys.readouterr()
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The message of a command that refuses, which must not be a traceback."""
    assert call(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    return shown.err


def refused_after(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """As `refused`, forgetting what was printed before."""
    capsys.readouterr()
    return refused(capsys, *words)
