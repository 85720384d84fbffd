"""`thalweg drill`: scripts in packetdrill's language, on our TCP in virtual time."""

from __future__ import annotations

import json as _json
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from .._files import read_text
from .output import CommandError, console, nearest, print_table, show_json
from .overrides import parse_params

STYLES = {"pass": "green", "fail": "bold red", "not expressible": "yellow", "invalid": "bold red"}
"""Colours of outcomes."""

SIGNS = {"right": "✓", "wrong": "✗", "done": "", "skipped": "·"}
"""Signs of lines."""

WHOLE = 400
"""Lines of a script that are printed; of more, those at its end."""


def drill(
    *files: Path,
    scheme: str | None = None,
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    like: Literal["linux", "standard"] = "linux",
    quiet: bool = False,
    json: bool = False,
) -> int:
    """Run scripts in packetdrill's language on TCP in virtual time, and print window and state beside each line.

    Parameters
    ----------
    files
        Script files, or folders with files that end in `.pkt`.
    scheme
        Use this scheme instead of the script's; `thalweg schemes` lists them.
    changes
        Set a parameter of the scheme, such as `--set beta=0.5`; needs `--scheme`; may be repeated.
    like
        Whose TCP it is where the script leaves that open: Linux or the RFCs.
    quiet
        Print no lines, only outcomes.
    json
        Print one JSON object: `outcomes` counts them, `scripts` has the report of each.
    """
    found = _files(files)
    params = _params(scheme, changes)
    reports = [_drill(path, scheme, params, standard=like == "standard") for path in found]
    counts = {name: sum(report["outcome"] == name for report in reports) for name in STYLES}
    if json:
        show_json({"outcomes": counts, "scripts": reports})
    else:
        for report in reports:
            if not quiet:
                _print_lines(report)
            if len(reports) == 1 or not quiet:
                _print_outcome(report)
        if len(reports) > 1:
            _print_outcomes(reports, counts)
    if counts["invalid"]:
        return 2
    return 0 if counts["pass"] == len(reports) else 1


def _files(given: tuple[Path, ...]) -> list[Path]:
    """The scripts; scripts of a folder in the order of their names."""
    if not given:
        raise CommandError("no script is given", "such as `thalweg drill loss.pkt`")
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            inside = sorted(path.rglob("*.pkt"))
            if not inside:
                raise CommandError(f"{path} has no files that end in .pkt")
            found.extend(inside)
        else:
            found.append(path)
    return found


def _params(scheme: str | None, changes: tuple[str, ...]) -> list[tuple[str, str]]:
    """Parameters as TOML text; refuses unknown schemes and parameters."""
    from ..catalogue import schemes

    if scheme is None:
        if changes:
            raise CommandError("--set sets a parameter of a scheme", "name it with --scheme")
        return []
    known = [row["name"] for row in schemes()]
    if scheme not in known:
        raise CommandError(f"--scheme {scheme}: there is no such scheme", nearest(scheme, known))
    return [(name, _json.dumps(value)) for name, value in parse_params(changes, scheme, "beta=0.5").items()]


def _drill(
    path: Path, scheme: str | None, params: list[tuple[str, str]], *, standard: bool
) -> dict[str, Any]:
    from .. import _native

    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is no text in UTF-8") from error
    report = _json.loads(_native.drill(text, scheme, params=params, standard=standard))
    return {"file": str(path), **report}


def _print_lines(report: dict[str, Any]) -> None:
    """Each line with its time, its result, window and state."""
    rows = []
    for line in report["lines"]:
        state = line["state"] or {}
        rows.append(
            {
                "line": line["line"],
                "at": f"{line['at_s']:.6f}",
                "text": " ".join(line["text"].split()),
                "judged": SIGNS[line["judged"]],
                "cwnd": state.get("cwnd"),
                "ssthresh": state.get("ssthresh"),
                "state": state.get("state"),
                "unacked": state.get("unacked"),
                "sacked": state.get("sacked"),
                "lost": state.get("lost"),
                "rtt": None if state.get("srtt_s") is None else f"{1e3 * state['srtt_s']:.6g}",
            }
        )
    columns = [
        ("line", "line"),
        ("at", "at (s)"),
        ("text", "what"),
        ("judged", ""),
        ("cwnd", "cwnd"),
        ("ssthresh", "ssthresh"),
        ("state", "state"),
        ("unacked", "unacked"),
        ("sacked", "sacked"),
        ("lost", "lost"),
        ("rtt", "srtt (ms)"),
    ]
    scheme = f", {report['scheme']}" if report["scheme"] else ""
    title = f"{report['file']}{scheme}: windows and counts in segments"
    if len(rows) > WHOLE:
        console().print(f"{len(rows) - WHOLE} lines before these are in `--json`", style="dim")
        rows = rows[-WHOLE:]
    print_table(title, columns, rows, first=("line", "text", "judged", "cwnd", "ssthresh", "state"))


def _print_outcome(report: dict[str, Any]) -> None:
    screen = console()
    outcome = report["outcome"].upper()
    judged = f"{_count(report['packets'], 'packet')} and {_count(report['assertions'], 'assertion')} judged"
    if report["outcome"] == "pass":
        text = f"{outcome}: {judged}"
    else:
        text = f"{outcome}: {report['file']}:{report['line']}: {report['message']}"
        if report["hint"]:
            text += f"\nhint: {report['hint']}"
    screen.print(text, style=STYLES[report["outcome"]], soft_wrap=True, markup=False)
    for note in report["notes"]:
        screen.print(f"note: {note}", style="dim", soft_wrap=True, markup=False)


def _print_outcomes(reports: list[dict[str, Any]], counts: dict[str, int]) -> None:
    rows = [
        {
            "file": report["file"],
            "outcome": report["outcome"],
            "packets": report["packets"],
            "assertions": report["assertions"],
            "why": "" if report["line"] is None else f"line {report['line']}: {report['message']}",
        }
        for report in reports
    ]
    columns = [
        ("file", "script"),
        ("outcome", "outcome"),
        ("packets", "packets"),
        ("assertions", "assertions"),
        ("why", "why"),
    ]
    print_table("Scripts", columns, rows, first=("file", "outcome", "why"), limit=None)
    said = [f"{count} {name}" for name, count in counts.items() if count]
    console().print(f"{_count(len(reports), 'script')}: {', '.join(said)}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
