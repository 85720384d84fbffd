"""`thalweg clock`: how precisely this host paces packets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .output import CommandError, console, number, print_table, show_json
from .progress import Meter

if TYPE_CHECKING:
    from ..clocks import Pacing, WaitMethod

MIN_S, MAX_S = 0.01, 60.0


def clock(
    *, seconds: float = 1.0, out: Path = Path("out/clock"), bare: bool = False, json: bool = False
) -> int:
    """Measure how precisely this host sends packets at intervals of 1 µs to 100 ms, and how much CPU time that takes.

    Packets are Interests of 50 bytes, sent to a local socket. Other load on this host makes the results worse; it is
    printed with them.

    Parameters
    ----------
    seconds
        Measure each interval for this time, in seconds, with each method of waiting; from 0.01 to 60.
    out
        Write the picture to this folder.
    bare
        Read the clock only, without sending packets.
    json
        Print one JSON object.
    """
    from .. import clocks
    from ..plots import svg

    if not MIN_S <= seconds <= MAX_S:
        raise CommandError(f"--seconds {seconds:g}: from {MIN_S:g} to {MAX_S:g}")
    # first, so that an invalid folder costs no time
    out.mkdir(parents=True, exist_ok=True)
    host = clocks.host_info()
    rows: list[Pacing] = []
    total = len(clocks.INTERVALS_S) * len(clocks.WAIT_METHODS)
    with Meter("clock", quiet=json) as meter:

        def on_start(way: WaitMethod, interval_s: float) -> None:
            meter.show(len(rows), total, f"{_interval(interval_s)}, {way.name}")

        for row in clocks.pacing(
            seconds=seconds, size=None if bare else clocks.INTEREST_BYTES, on_start=on_start
        ):
            rows.append(row)
    picture = out / "pacing.svg"
    picture.write_text(svg(clocks.picture(rows), "pacing", "How precisely this host paces packets") + "\n")
    if json:
        show_json({"machine": host, "picture": str(picture), "rows": clocks.table(rows)})
        return 0
    for way in clocks.WAIT_METHODS:
        print_table(
            f"{way.name}: {way.words}",
            [
                ("interval", "interval"),
                ("p50", "lateness (µs): median"),
                ("p99", "p99"),
                ("p999", "p99.9"),
                ("max", "maximum"),
                ("deviation", "deviation of gaps (µs)"),
                ("uneven", "uneven gaps (%)"),
                ("kept", "achieved rate (%)"),
                ("cpu", "CPU (% of a core)"),
                ("each", "CPU per packet (µs)"),
            ],
            [_table_row(row) for row in rows if row.way == way.name],
        )
    screen = console()
    load = "" if host["load"] is None else f", load {host['load']:.1f}"
    screen.print(f"{host['cores']} cores of {host['cpu']}, {host['system']}{load}")
    screen.print(f"picture: {picture}")
    return 0


def _interval(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size * 0.999:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds / 1e-9)} ns"


def _table_row(row: Pacing) -> dict[str, str | float]:
    return {
        "interval": _interval(row.interval_s),
        "p50": row.late_p50_s * 1e6,
        "p99": row.late_p99_s * 1e6,
        "p999": row.late_p999_s * 1e6,
        "max": row.late_max_s * 1e6,
        "deviation": row.gap_deviation_s * 1e6,
        "uneven": 100 * row.uneven,
        "kept": 100 * row.kept,
        "cpu": 100 * row.cpu,
        "each": row.cpu_per_packet_s * 1e6,
    }
