"""`thalweg reproduce mircc --live`: Figure 3 with live endpoints beside the simulation."""

from __future__ import annotations

from pathlib import Path

from .out import console, print_table, show_json
from .progress import Meter


def live_figure(folder: Path, *, full: bool, json: bool) -> int:
    """Runs some clock intervals, or all of the figure, in both worlds; prints a table and writes the picture."""
    from ..papers.mircc import live, scenarios
    from ..plots import svg

    ticks_ms = scenarios.CLOCKS_MS if full else live.TICKS_MS
    folder.mkdir(parents=True, exist_ok=True)
    with Meter("mircc, live", quiet=json) as meter:
        found = live.pairs(
            ticks_ms,
            told=lambda ms: meter.show(ticks_ms.index(ms), len(ticks_ms), f"clocks of {ms} ms, 10 s each"),
        )
    picture = folder / "figure-3-live.svg"
    alt = "Interest rates of both consumers, simulated and live"
    picture.write_text(svg(live.picture(found), "figure-3-live", alt) + "\n")
    rows = live.rows(found)
    if json:
        show_json({"rows": rows, "picture": str(picture)})
        return 0
    print_table(
        "Figure 3, simulated and live (packets/s)",
        [
            ("tick_ms", "tick = T (ms)"),
            ("world", ""),
            ("c1_alone", "C1 alone"),
            ("c1_both", "C1, both active"),
            ("c2_both", "C2, both active"),
            ("received_both", "Data, both"),
            ("late_p50_ms", "lateness of event loops (ms): median"),
            ("late_p99_ms", "p99"),
        ],
        rows,
    )
    console().print(f"picture: {picture}")
    return 0
