"""`thalweg reproduce PAPER --substitute`: a paper's results with other schemes in the place of its scheme."""

from __future__ import annotations

import json as _json
import time
from typing import TYPE_CHECKING, Any

from .._lock import locked
from .output import CommandError, console, print_table, quoted, show_json
from .progress import Meter
from .readings import result

if TYPE_CHECKING:
    from pathlib import Path

FILE = "substitution.toml"
DATA = "substitution.json"


def substitute_schemes(name: str, folder: Path, *, settings: dict[str, Any], json: bool) -> int:
    """Runs the other schemes and prints what they pass. Writes `substitution.toml` unless one claim is requested."""
    from .. import papers

    paper = papers.with_substitutes(name)
    if paper is None:
        able = [other for other in papers.names() if papers.with_substitutes(other) is not None]
        raise CommandError(
            f"`{name}` names no schemes to put in the place of its own",
            f"these do: {', '.join(able) or 'none'}",
        )
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with Meter(f"{name}, other schemes", quiet=json) as meter, locked(folder):
        try:
            done = paper.substitute_schemes(
                **settings,
                out=folder / "measurements",
                progress=lambda ready, total, what: meter.show(
                    ready, total, f"{ready} of {total} runs, {what}"
                ),
            )
        except KeyError as error:
            raise CommandError(str(error.args[0])) from error
        except KeyboardInterrupt:
            raise CommandError(
                "interrupted", "the same command again runs only what is missing", code=130
            ) from None
        if settings.get("claim") is None:
            (folder / FILE).write_text(done.substitution.toml(name), encoding="utf-8")
            text = _json.dumps(done.as_dict(), indent=1, ensure_ascii=False)
            (folder / DATA).write_text(text + "\n", encoding="utf-8")
    if json:
        show_json({**done.as_dict(), "folder": str(folder)})
        return 0
    _print(done, folder if settings.get("claim") is None else None, time.monotonic() - began)
    return 0


def _print(done: Any, folder: Path | None, seconds: float) -> None:
    """Each row that was tried, by scheme, and the rows that all of them pass."""
    screen, found = console(), done.substitution
    rows = [
        {
            "claim": claim["id"],
            "statement": claim["statement"],
            "default": result(claim),
            **{name: result(one) for name, one in claim["substitutes"].items()},
        }
        for claim in done.claims
    ]
    columns = [("claim", "claim"), ("statement", "statement"), ("default", "the paper's scheme")]
    columns += [(name, name) for name in found.schemes]
    if rows:
        title = f"{done.title}: other schemes in the place of the paper's"
        first = ("claim", "default", *found.schemes)
        print_table(title, columns, rows, first=first, all_in=f"`{DATA}` has all")
    confirmed = [row for row in done.claims if row["verdict"] == "reproduced"]
    lines = [
        *(f"{name}: {title}" for name, title in found.schemes.items()),
        f"not specific, confirmed under each of them: {len(done.not_specific)} of {len(confirmed)} confirmed rows: "
        + (", ".join(done.not_specific) or "none"),
    ]
    if found.untried:
        lines.append(f"not tried: {len(found.untried)} rows, with their reasons in the data")
    for line in lines:
        screen.print(line, markup=False)
    for note in done.notes:
        screen.print(f"note: {note}", style="yellow" if found.quick else "dim")
    where = "" if folder is None else f" The verdicts: {quoted(folder / FILE)}"
    screen.print(f"{done.runs} runs in {seconds:.0f} s.{where}")
