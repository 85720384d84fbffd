"""The `thalweg` command: one file per verb. Heavy libraries are imported by the verb that needs them, when it runs.

Exit codes: 0 done; 1 done, but an expectation failed, or something needed is missing; 2 an error in the command or its
files; 3 done, but this host was too slow for an emulation; 130 interrupted; 141 the reader of the output closed the pipe.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import App

PIPE_CLOSED = 141
"""Exit code of a command whose output is not read to its end, as in `thalweg schemes | head -1`: 128 and SIGPIPE."""

PICTURES = {"matplotlib"}
"""Libraries that only figures and pages need; without them every other command works."""

HELP = """Study congestion control, from a scenario to a report.

Every command takes `--json` and then prints one JSON object and nothing else.

Exit codes: 0 done; 1 an expectation failed, or something needed is missing; 2 an error in the command or its files;
3 this host was too slow for an emulation; 130 interrupted; 141 the reader of the output closed the pipe.
"""

VERBS = {
    "run": "Run a scenario, or every cell of its sweep.",
    "emulate": "Run a scenario in real time, with the kernel's TCP and real programs.",
    "send": "Send a file, a folder or standard input over QUIC, by any scheme.",
    "recv": "Receive a file, a folder or a stream of `thalweg send`.",
    "identity": "Print the fingerprint by which the other end of a transfer authenticates this one.",
    "reproduce": "Reproduce a paper: its experiments, figures and claims.",
    "evaluate": "Evaluate a scheme: its report card by the criteria of RFC 9743 and other documents.",
    "ndn": "Fetch, serve and forward named data over real networks, or control forwarders.",
    "check": "Check a scenario and print its plan, every default and relative unit filled in.",
    "break": "Search for the networks in which a scheme fails.",
    "drill": "Run scripts in packetdrill's language on TCP in virtual time.",
    "explain": "Explain why a flow of a run got its share.",
    "verify": "Verify the numbers of a run: recompute each from its packets.",
    "report": "Write an HTML page about a run, a sweep or a reproduced paper.",
    "studio": "Edit, run and watch scenarios in the browser.",
    "plot": "Draw a series of a run or a metric of a sweep: a picture, a figure for print, or CSV.",
    "query": "Query the runs of a sweep, or one run, with SQL.",
    "compare": "Compare the metrics of two or more runs.",
    "schemes": "List the schemes, or show one with its parameters.",
    "trace": "List the models of links whose rate varies, or write the trace of one.",
    "metrics": "Show what the columns and keys of a result mean.",
    "new": "Write a first scenario file, or a first scheme in Python.",
    "schema": "Print the JSON Schema of scenario files.",
    "clock": "Measure how precisely this host paces packets.",
    "doctor": "Check what this host can do: simulate, build, emulate, transfer.",
}
"""Commands, in the order of the help; each is a function of the module of its name, or of `MODULES`."""

MODULES = {"break": "break_"}
"""Module and function of commands whose name is a word of Python."""

MORE = {
    "run": (
        "Warnings go to standard error. Exit codes: 0 done; 1 an expectation of the scenario failed, a number violates an"
        " invariant and is wrong, or a scheme in Python raised; 2 an error in the scenario or the command; 130 "
        "interrupted, and what was measured is kept."
    ),
    "check": (
        "Warnings go to standard error. Exit codes: 0 the scenario is valid, with or without warnings; 2 it has "
        "errors."
    ),
    "emulate": (
        "Exit codes: 0 done; 1 an expectation of the scenario failed, a number violates an invariant and is wrong, or a "
        "permission is missing; 2 an error in the scenario or the command, or no flow has a real endpoint; 3 this host "
        "was too slow, so the results are not valid; 130 interrupted, and what was measured is kept."
    ),
    "reproduce": (
        "Exit codes: 0 done, whatever the verdicts; 1 a number of a run violates an invariant and is wrong, or a "
        "permission is missing; 2 an error in the command; 3 this host was too slow for an emulation; 130 interrupted, "
        "and the same command continues."
    ),
    "evaluate": (
        "Exit codes: 0 done, whatever the verdicts; 1 a number of a run violates an invariant and is wrong; 2 an error in"
        " the command; 130 interrupted, and the same command continues."
    ),
    "break": (
        "Exit codes: 0 done, whatever was found; 1 a number of a run violates an invariant and is wrong; 2 an error in "
        "the command; 130 interrupted, and the same command continues."
    ),
    "explain": (
        "Exit codes: 0 done; 1 a number of the run violates an invariant and is wrong; 2 an error in the command or its "
        "files."
    ),
    "compare": (
        "Exit codes: 0 done; 1 a number of a run violates an invariant and is wrong; 2 an error in the command or its "
        "files."
    ),
    "verify": (
        "Exit codes: 0 all numbers are equal and no invariant is violated; 1 some differ, or an invariant is "
        "violated; 2 an error in the command or its files; 130 interrupted."
    ),
    "drill": (
        "Exit codes: 0 all scripts pass; 1 one fails, or is not expressible; 2 one is invalid, or an error in the command."
    ),
    "query": (
        "The views have the rows of all runs, with the keys of the sweep and the seed before their columns: `runs` (one row "
        "per run), `flows`, `receivers`, `links`, `nodes`, `apps`, `exchanges`, `series`, `events`, `packets`, "
        "`distributions`, `summary`, `expect`. `thalweg metrics` lists the columns. An example: "
        '`thalweg query out/buffers "select seed, avg(goodput_bps) from flows group by seed"`.'
    ),
    "doctor": ("Exit codes: 0 simulations can run; 1 something that every simulation needs is missing."),
}
"""The help of a command after its first line."""


def application() -> App:
    """The command with its verbs. No verb is imported."""
    from cyclopts import App, Parameter

    app = App(
        name="thalweg",
        help=HELP,
        help_format="markdown",
        version=_version,
        default_parameter=Parameter(negative=()),
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for place, (verb, line) in enumerate(VERBS.items()):
        text = f"{line}\n\n{MORE[verb]}" if verb in MORE else line
        module = MODULES.get(verb, verb)
        app.command(f"thalweg.cli.{module}:{module}", name=verb, help=text, sort_key=place)
    app.command(
        "thalweg.cli.completion:install_completion",
        name="--install-completion",
        help="Install completion of commands and options by Tab for bash, zsh, fish or PowerShell.",
        sort_key=len(VERBS),
    )
    return app


def main(words: Sequence[str] | None = None) -> None:
    """Entry point of the command; leaves by `SystemExit` with the exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # SIGTERM and SIGHUP act as Ctrl-C does, so that everything is cleaned up
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        code = call(sys.argv[1:] if words is None else words)
        sys.stdout.flush()
    except BrokenPipeError:
        code = _pipe_closed()
    except SystemExit as end:
        # rich turns a closed pipe into exit code 1
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        code = _pipe_closed()
    except KeyboardInterrupt:
        # during imports or output
        sys.stderr.write("error: interrupted\n")
        code = 130
    sys.exit(code)


def call(words: Sequence[str]) -> int:
    """Runs the command with these words and returns its exit code; mistakes of users are messages, not tracebacks."""
    from cyclopts import CycloptsError

    from ..errors import (
        ClusterError,
        Interrupted,
        InvariantWarning,
        ResultError,
        ScenarioError,
        ScenarioWarning,
        SchemeError,
    )
    from .output import CommandError, print_error, print_warning

    json = "--json" in words
    wrong: list[Warning | str] = []

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, InvariantWarning):
            wrong.append(message)
        print_warning(message, category, filename, lineno, file, line)

    try:
        with warnings.catch_warnings():
            # commands print the warnings of a scenario themselves, with their lines of the text
            warnings.simplefilter("ignore", ScenarioWarning)
            warnings.simplefilter("always", InvariantWarning)
            warnings.showwarning = show
            code = application()(list(words))
    except CycloptsError as error:
        from .usage import explained

        message, hint = explained(error, words)
        return print_error(message, hint=hint, json=json)
    except ScenarioError as error:
        problems = [vars(problem) for problem in error.problems]
        return print_error(error.picture, problems=problems, json=json, framed=True)
    except CommandError as error:
        return print_error(error.message, hint=error.hint, json=json, code=error.code)
    except ClusterError as error:
        return print_error(str(error), hint=error.hint, json=json, code=1)
    except SchemeError as error:
        if error.__cause__ is not None and not json:
            sys.stderr.write("".join(traceback.format_exception(error.__cause__)))
        return print_error(str(error), hint=error.hint, json=json, code=1 if error.scheme else 2)
    except ResultError as error:
        return print_error(str(error), hint=error.hint, json=json)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in PICTURES:
            raise
        return print_error(
            f"pictures need {library}, which is not installed", hint=f"pip install {library}", json=json
        )
    except BrokenPipeError:
        raise
    except OSError as error:
        return print_error(f"{error.filename}: {error.strerror}" if error.filename else str(error), json=json)
    except Interrupted as error:
        return print_error(str(error), json=json, code=130)
    except KeyboardInterrupt:
        return print_error("interrupted", json=json, code=130)
    # a number that breaks an invariant is not to be trusted, nor is what was computed from it
    return int(code or bool(wrong))


def _pipe_closed() -> int:
    """Discards buffered output, so that the interpreter does not report it when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return PIPE_CLOSED


def _version() -> str:
    from .. import __version__

    return f"thalweg {__version__}"
