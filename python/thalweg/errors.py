"""What can go wrong for a user, one class per kind, with fields."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One error or one warning of a scenario."""

    message: str
    """What is wrong."""
    key: str
    """Dotted key of the value, entries of lists by their names; empty for the file as a whole."""
    file: str
    """The file, or what stands for it."""
    line: int | None
    """From 1; None for the file as a whole."""
    column: int | None
    """In characters, from 1."""
    hint: str | None
    """What to write instead."""


class ScenarioError(ValueError):
    """A scenario was refused. Its text is a picture of every mistake."""

    def __init__(self, picture: str, problems: str | list[Problem] = "[]") -> None:
        super().__init__(picture)
        self.picture = picture
        self.problems = problems_of(json.loads(problems)) if isinstance(problems, str) else problems
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
    """A scenario says something that has no effect, or expects what cannot be measured. It runs nevertheless."""


class ResultError(ValueError):
    """A folder does not hold a result that can be read, or one cannot be written."""


class EmulationError(RuntimeError):
    """There can be no emulation: a right is missing, or the kernel cannot do what is asked of it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """What to do, where that is known."""


class TransferError(RuntimeError):
    """A real transfer cannot begin."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """What to do, where that is known."""


class NdnError(RuntimeError):
    """A file was not fetched whole, or could not be served."""

    def __init__(self, message: str, hint: str | None = None, told: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        """What to do, where that is known."""
        self.told = told or {}
        """What there was until then, as `ndn.get` and `ndn.put` tell it."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run or a sweep early. What it had is kept."""

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result = result
        """What there was: a `Result`, a list of them, or a `SweepResult`."""


def without_number(message: str) -> str:
    """What the system said, without the number that Rust adds: ` (os error 28)`."""
    return re.sub(r" \(os error \d+\)", "", message)


def problems_of(rows: list[dict[str, Any]]) -> list[Problem]:
    """Errors or warnings as the core lists them."""
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
