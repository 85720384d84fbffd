"""`thalweg reproduce PAPER --search`: the readings of a paper that together satisfy the most rows."""

from __future__ import annotations

import json as _json
import time
from typing import TYPE_CHECKING, Any

from .._lock import locked
from .output import CommandError, console, print_table, quoted, show_json
from .progress import Meter
from .readings import paper_with_readings, result

if TYPE_CHECKING:
    from pathlib import Path

FILE = "joint.toml"
DATA = "search.json"


def search_readings(name: str, folder: Path, *, settings: dict[str, Any], json: bool) -> int:
    """Searches, writes `joint.toml` and `search.json`, and prints what was found on the seeds that were not used."""
    paper = paper_with_readings(name)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with Meter(f"{name}, search", quiet=json) as meter, locked(folder):
        try:
            found = paper.search_readings(
                **settings,
                out=folder / "measurements",
                progress=lambda ready, total, what: meter.show(ready, total, what, estimate=False),
            )
        except KeyError as error:
            raise CommandError(str(error.args[0])) from error
        except KeyboardInterrupt:
            raise CommandError(
                "interrupted", "the same command again goes on with the runs that it has", code=130
            ) from None
        (folder / FILE).write_text(found.joint.toml(name), encoding="utf-8")
        text = _json.dumps(found.as_dict(), indent=1, ensure_ascii=False)
        (folder / DATA).write_text(text + "\n", encoding="utf-8")
    if json:
        show_json({**found.as_dict(), "folder": str(folder)})
        return 0
    _print(found, folder, time.monotonic() - began)
    return 0


def _print(found: Any, folder: Path, seconds: float) -> None:
    """The counts of both halves, and the rows of the held-out half whose verdict changes."""
    screen, joint = console(), found.joint
    facts = joint.search
    rows = [
        {
            "claim": claim["id"],
            "statement": claim["statement"],
            "paper": claim["expected"],
            "default": result(claim),
            "joint": result(claim["joint"]).append(" (fitted jointly)"),
        }
        for claim in found.changed
    ]
    columns = [("claim", "claim"), ("statement", "statement"), ("paper", "paper")]
    columns += [("default", "default"), ("joint", "joint")]
    if rows:
        title = f"{found.title}: rows that change on the seeds that the search did not use"
        print_table(title, columns, rows, first=("claim", "default", "joint"), all_in=f"`{DATA}` has all")
    else:
        screen.print(found.title, style="bold", soft_wrap=True)
    lines = [f"{reading}: {option}" for reading, option in joint.settings.items()]
    lines += [
        f"{len(joint.settings)} of {facts.readings} readings changed, {facts.combinations} combinations seen, "
        f"{facts.starts} start{'' if facts.starts == 1 else 's'}"
        + ("" if facts.exhausted else "; cut off by --combinations"),
        f"rows that a reading can change: {facts.rows}",
        f"half of the seeds that was searched: {joint.training.joint}; by default {joint.training.default}",
        f"the other half: {joint.held_out.joint}; by default {joint.held_out.default}",
        f"better there: {', '.join(joint.held_out.gained) or 'none'}",
        f"worse there: {', '.join(joint.held_out.lost) or 'none'}",
    ]
    if facts.one_run:
        lines.append(f"without chance, so that both halves are one run: {', '.join(facts.one_run)}")
        lines.append(f"rows that rest on such runs alone: {joint.held_out.shared()}")
    for line in lines:
        screen.print(line, markup=False)
    for note in found.notes:
        screen.print(f"note: {note}", style="yellow" if facts.quick else "dim")
    screen.print(f"{found.runs} runs in {seconds:.0f} s. The joint profile: {quoted(folder / FILE)}")
