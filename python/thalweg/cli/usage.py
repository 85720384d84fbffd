"""What is said of a command whose words do not fit: what is missing or too much, how it is written, and what it may be.

A verb whose values are known only from its folder has a function `missing(parameter, words)` or `unused(words)`, which
returns the hint, or None for the general one; `words` are those after the verb.
"""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import CycloptsError


MAX_LISTED = 40
"""Maximum number of names in a hint."""


def explained(error: CycloptsError, words: Sequence[str]) -> tuple[str, str]:
    """Message and hint of a command that does not fit its parameters."""
    from cyclopts.exceptions import MissingArgumentError, UnusedCliTokensError

    verb = " ".join(error.command_chain or ())
    if not verb or error.target is None:
        return str(error), "`thalweg --help` lists the commands, `thalweg COMMAND --help` its options"
    module = importlib.import_module(error.target.__module__)
    rest = list(words)[len(error.command_chain or ()) :]
    message, hint = str(error), None
    if isinstance(error, MissingArgumentError) and error.argument is not None and not error.argument.tokens:
        message = f"`thalweg {verb}` needs {error.argument.name}"
        hint = _asked(module, "missing", error.argument.name, rest)
    elif isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        more = ", ".join(f"`{word}`" for word in error.unused_tokens)
        message = f"`thalweg {verb}` does not take {more} as well"
        hint = _asked(module, "unused", rest)
    return message, hint or f"`{usage(verb, error.target)}`; `thalweg {verb} --help` explains it"


def usage(verb: str, target: Any) -> str:
    """A command as it is written, with its arguments and required options: `thalweg plot FOLDER WHAT`."""
    parts = ["thalweg", verb]
    for name, parameter in inspect.signature(target).parameters.items():
        word = name.upper().replace("_", "-")
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            parts.append(f"{word.removesuffix('S')} …")
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            if parameter.default is inspect.Parameter.empty:
                parts.append(f"--{word.lower()} {word}")
        else:
            parts.append(word if parameter.default is inspect.Parameter.empty else f"[{word}]")
    return " ".join(parts)


def arguments(words: Sequence[str]) -> list[str]:
    """The words that are no options. The value of an option counts as one."""
    return [word for word in words if not word.startswith("-")]


def listed(names: Sequence[str]) -> str:
    """Names in a hint: all of them, or the first of many with the number of the others."""
    more = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def _asked(module: Any, question: str, *about: Any) -> str | None:
    answer = getattr(module, question, None)
    found: str | None = answer(*about) if answer else None
    return found
