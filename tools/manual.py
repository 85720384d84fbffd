"""Writes the manual page `thalweg.1` from the help of the command; `make docs` runs it.

With `--check`, writes nothing and fails when the page is stale. It needs no core.
"""

import sys
import tomllib
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

PAGE = ROOT / "packaging" / "data" / "share" / "man" / "man1" / "thalweg.1"
"""The file of which `pip` installs a copy in `share/man` of the environment, where `man` finds it."""
FLAGS = {"--help", "--version"}
"""Options of every command, which the page describes once."""
WIDE = 100_000
"""Columns of the help's text before `man` fills it, so that a paragraph is one line."""

ESCAPES = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}


def escape(text):
    """Text as roff has it; characters outside ASCII by their numbers, as both groff and mandoc read them."""
    return "".join(
        ESCAPES.get(letter) or (letter if ord(letter) < 128 else f"\\[u{ord(letter):04X}]") for letter in text
    )


def lines_of(renderable, console):
    """The lines of a text of the help, words in code or bold type in bold type."""
    if renderable is None:
        return []
    parts = []
    for segment in console.render(renderable, console.options.update(width=WIDE)):
        bold = bool(segment.style and segment.style.bold) and segment.text.strip()
        parts.append(f"\\fB{escape(segment.text)}\\fR" if bold else escape(segment.text))
    lines = [line.replace("\\fR\\fB", "").strip() for line in "".join(parts).splitlines()]
    # a line that begins with a point would be a request
    return [f"\\&{line}" if line.startswith((".", "\\(aq")) else line for line in lines]


def paragraphs(renderable, console, begin=".PP"):
    """Paragraphs in roff, each after the request `begin`."""
    roff = []
    for line in lines_of(renderable, console):
        if line:
            roff += [begin, line]
    return roff


class Roff:
    """Collects the help of one command in roff, as a formatter of cyclopts does."""

    def __init__(self):
        self.usage = ""
        self.description = []
        self.options = []
        self.commands = []

    def render_usage(self, console, options, usage):
        """Takes the line that says how the command is called."""
        del options
        self.usage = " ".join(lines_of(usage, console)).removeprefix("Usage: ").strip()

    def render_description(self, console, options, description):
        """Takes the text before the options."""
        del options
        self.description = paragraphs(description, console)

    def __call__(self, console, options, panel):
        """Takes a table of options or commands."""
        del options
        for entry in panel.entries:
            if panel.format == "command":
                self.commands += [name for name in entry.all_options if not name.startswith("-")]
                # commands that look like options
                labels = [name for name in entry.all_options if name.startswith("-")]
                if not labels or not FLAGS.isdisjoint(labels):
                    continue
            else:
                labels = [entry.positional_label] if entry.positional_label else []
                labels += [*entry.positive_names, *entry.positive_shorts]
            value = entry.metavar if entry.positional_label is None else None
            head = ", ".join(f"\\fB{escape(label)}\\fR" for label in labels)
            lines = [line for line in lines_of(entry.description, console) if line]
            if entry.choices:
                lines.append(f"One of {', '.join(escape(choice) for choice in entry.choices)}.")
            if entry.default not in (None, "False"):
                lines.append(f"Default: {escape(str(entry.default))}.")
            self.options += [".TP", f"{head} \\fI{escape(value)}\\fR" if value else head, *lines]


def stub_core():
    """Puts a module in the place of the core, from which anything can be imported: help texts use nothing of it."""
    core = types.ModuleType("thalweg._native")
    core.__getattr__ = lambda name: type(name, (), {})
    sys.modules[core.__name__] = core


def collect_help(path):
    """The help of the command with these words."""
    from rich.console import Console

    from thalweg.cli import application

    app = application()
    roff = Roff()
    app.help_formatter = roff
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        app.help_print(path, console=Console(file=nowhere, width=WIDE, force_terminal=False))
    return roff


def sections(path):
    """The subsections of a command and of its own commands."""
    of = collect_help(path)
    if not of.commands:
        yield [f".SS {of.usage}", *of.description[1:], *of.options]
        return
    if path:
        yield [f".SS {of.usage}", *of.description[1:]]
    for name in of.commands:
        yield from sections([*path, name])


def split_exit_codes(lines):
    """Paragraphs of a description without the one on exit codes, and that one as a list."""
    prefix = "Exit codes: "
    (place,) = [number for number, line in enumerate(lines) if line.startswith(prefix)]
    codes = [code.split(" ", 1) for code in lines[place].removeprefix(prefix).rstrip(".").split("; ")]
    listed = [line for code, meaning in codes for line in (".TP", f"\\fB{code}\\fR", f"{meaning}.")]
    return lines[: place - 1] + lines[place + 1 :], listed


def page():
    """The whole page."""
    of = collect_help([])
    described, exits = split_exit_codes(of.description)
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"][
        "version"
    ]
    lines = [
        '.\\" Written by `make docs` from the help of the command: change the command, not this file.',
        f'.TH THALWEG 1 "" "thalweg {version}" "User Commands"',
        ".SH NAME",
        "thalweg \\- study congestion control, from a scenario to a report",
        ".SH SYNOPSIS",
        ".B thalweg",
        "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]",
        ".SH DESCRIPTION",
        *described[1:],
        ".SH OPTIONS",
        ".TP",
        "\\fB\\-\\-help\\fR, \\fB\\-h\\fR",
        "Print the help of the command, or of the command whose words stand before it.",
        ".TP",
        "\\fB\\-\\-version\\fR",
        "Print the version.",
        *of.options,
        ".SH COMMANDS",
        *(line for section in sections([]) for line in section),
        ".SH EXIT STATUS",
        *exits,
    ]
    return "\n".join(lines) + "\n"


def main():
    stub_core()
    text = page()
    if PAGE.is_file() and PAGE.read_text(encoding="ascii") == text:
        return 0
    if "--check" in sys.argv[1:]:
        print(f"{PAGE.relative_to(ROOT)} is stale: `make docs` writes it")
        return 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="ascii")
    print(f"written: {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
