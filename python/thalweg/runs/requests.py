"""What can be wrong with a request of a user, of the commands and of the studio."""

from __future__ import annotations


class CommandError(Exception):
    """The command cannot be executed; the user can correct it."""

    def __init__(self, message: str, hint: str | None = None, *, code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


def check_seed(seed: int | None) -> None:
    """Refuses invalid seeds."""
    if seed is not None and not 0 <= seed < 2**64:
        raise CommandError(f"--seed {seed}: a whole number from 0 to 2⁶⁴ − 1")


def check_minimum(option: str, value: int | None) -> None:
    """Refuses counts below one."""
    if value is not None and value < 1:
        raise CommandError(f"{option} {value}: at least one")
