"""Exceptions for users, one class per kind of error, with fields."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One error or one warning of a scenario."""

    message: str
    """Text of the error or warning."""
    key: str
    """Dotted key of the value, with entries of lists by their names; empty for the file as a whole."""
    file: str
    """The file, or the name that stands for it."""
    line: int | None
    """Line, from 1; None for the file as a whole."""
    column: int | None
    """Column in characters, from 1."""
    hint: str | None
    """Suggested correction."""


class ScenarioError(ValueError):
    """A scenario was refused. The text shows every mistake with its place."""

    def __init__(self, picture: str, problems: str | list[Problem] = "[]") -> None:
        super().__init__(picture)
        self.picture = picture
        self.problems = to_problems(json.loads(problems)) if isinstance(problems, str) else problems
        """Every mistake, in the order of their places."""

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[str, list[Problem]]]:
        return type(self), (self.picture, self.problems)

    @property
    def line(self) -> int | None:
        """Line of the first mistake."""
        return self.problems[0].line if self.problems else None

    @property
    def column(self) -> int | None:
        """Column of the first mistake."""
        return self.problems[0].column if self.problems else None

    @property
    def key(self) -> str:
        """Key of the first mistake."""
        return self.problems[0].key if self.problems else ""

    @property
    def hint(self) -> str | None:
        """Hint of the first mistake."""
        return self.problems[0].hint if self.problems else None


class ScenarioWarning(UserWarning):
    """A part of a scenario has no effect, or an expectation cannot be measured. The scenario runs nevertheless."""


class InvariantWarning(UserWarning):
    """A number of a run violates an invariant that holds in every run: it is wrong. See `thalweg.invariants`."""


class ResultWarning(UserWarning):
    """A file of earlier results is damaged, so that what it held is run or written again."""


class ResultError(ValueError):
    """A folder holds no readable result, or a result cannot be written."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """The remedy, if known."""


class FigureError(ValueError):
    """A figure cannot be drawn as asked: its style or width is unknown, LaTeX is missing, or it cannot write such files."""


class EmulationError(RuntimeError):
    """Emulation is impossible: a permission is missing, or the kernel lacks a feature."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """The remedy, if known."""


class ClusterError(RuntimeError):
    """Other machines cannot be used: no scheduler answers, a library is missing, or a worker has another version."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """The remedy, if known."""

    def __reduce__(self) -> tuple[type[ClusterError], tuple[str, str | None]]:
        return type(self), (str(self), self.hint)


class SchemeError(RuntimeError):
    """A scheme written in Python raised, or its file cannot be loaded. `__cause__` is the exception, with its traceback."""

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        *,
        scheme: str | None = None,
        method: str | None = None,
        flow: str | None = None,
        time_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.hint = hint
        """The remedy, if known."""
        self.scheme = scheme
        """The name of the scheme; None for a file."""
        self.method = method
        """Class and method that raised."""
        self.flow = flow
        """The flow; None before its first event."""
        self.time_s = time_s
        """Simulated time in seconds; None before the first event."""


class TransferError(RuntimeError):
    """A transfer cannot start."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """The remedy, if known."""


class NdnError(RuntimeError):
    """A file was not fetched completely, or could not be served."""

    def __init__(self, message: str, hint: str | None = None, result: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """The remedy, if known."""
        self.result = result or {}
        """The status at that time, as returned by `ndn.get` and `ndn.put`."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run or a sweep early. Its results so far are kept."""

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result = result
        """The results so far: a `Result`, a list of them, or a `SweepResult`."""


def without_number(message: str) -> str:
    """The message of the system, without the number that Rust appends: ` (os error 28)`."""
    return re.sub(r" \(os error \d+\)", "", message)


def to_problems(rows: list[dict[str, Any]]) -> list[Problem]:
    """Errors or warnings of the core as diagnostics."""
    return [
        Problem(
            message=row["message"],
            key=row["key"],
            file=row["file"],
            line=row["line"],
            column=row["column"],
            hint=row["hint"],
        )
        for row in rows
    ]
