"""Clocks of real hosts: how precisely this host sends packets at even intervals, for each method of waiting.

It answers the question of T. Kato et al. (A Study on Performance of Explicit Rate Report based Congestion Control under
Coarse-grained Clock Management): can ordinary hosts pace senders that have a rate and no window?
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.figure import Figure

INTERVALS_S = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""Scheduled intervals."""

INTEREST_BYTES = 50
"""Size of the datagrams: Interests."""


@dataclass(frozen=True)
class WaitMethod:
    """A method of waiting for the next departure."""

    name: str
    method: str
    """Its name in the core."""
    aside_s: float
    words: str


WAIT_METHODS = (
    WaitMethod(
        "sleep", "sleep", 0, "sleeps until each departure; the system may group its timers (50 µs on Linux)"
    ),
    WaitMethod("exact sleep", "exact", 0, "the same, with timers that are not grouped"),
    WaitMethod("spin", "spin", 0, "looks at the clock all the time"),
    WaitMethod("sleep, spin", "mixed", 100e-6, "sleeps until 100 µs before, then looks at the clock"),
    WaitMethod(
        "tick 1 ms", "tick", 1e-3, "wakes each millisecond and lets go all that is due, many by one call"
    ),
    WaitMethod("tick 100 ms", "tick", 100e-3, "the same each 100 ms, as the coarse clocks of the paper"),
)
"""All of them."""


@dataclass(frozen=True)
class Pacing:
    """Precision of departures: one interval, one method of waiting."""

    way: str
    interval_s: float
    wanted: int
    """Scheduled packets."""
    left: int
    """Packets that left before the next was due."""
    late_p50_s: float
    late_p99_s: float
    late_p999_s: float
    late_max_s: float
    gap_deviation_s: float
    """Standard deviation of the gaps between departures."""
    gap_max_s: float
    uneven: float
    """Share of gaps that deviate by more than half the interval."""
    cpu: float
    """Processor time as a share of a core."""
    cpu_per_packet_s: float
    calls: int
    """System calls that sent packets."""

    @property
    def kept(self) -> float:
        """Achieved share of the scheduled rate."""
        return self.left / self.wanted if self.wanted else 0.0


def pacing(
    *,
    seconds: float = 1.0,
    intervals_s: Sequence[float] | None = None,
    ways: Sequence[WaitMethod] = WAIT_METHODS,
    size: int | None = INTEREST_BYTES,
    on_start: Callable[[WaitMethod, float], None] | None = None,
) -> Iterator[Pacing]:
    """Measures every interval with every method of waiting; each takes `seconds`, or ten intervals if that is longer.

    A departure is a datagram of `size` bytes to an unread socket of this host; with None only the clock is read.
    """
    from . import _native

    for interval_s in INTERVALS_S if intervals_s is None else intervals_s:
        for way in ways:
            if on_start is not None:
                on_start(way, interval_s)
            span_s = max(seconds, 10 * interval_s)
            found = json.loads(
                _native.measure_pacing(
                    way.method, round(way.aside_s * 1e9), round(interval_s * 1e9), round(span_s * 1e9), size
                )
            )
            span, cpu = found.pop("span_s"), found.pop("cpu_s")
            yield Pacing(
                way=way.name,
                interval_s=interval_s,
                cpu=cpu / span,
                cpu_per_packet_s=cpu / max(found["left"], 1),
                **found,
            )


def host_info() -> dict[str, Any]:
    """The host of the measurement, and its load."""
    try:
        cpu = next(
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        )
    except (OSError, StopIteration):
        cpu = platform.processor() or platform.machine()
    return {
        "cpu": cpu,
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.release()}",
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def picture(rows: Sequence[Pacing]) -> Figure:
    """Lateness, achieved share of the rate, and processor time, by interval; one line per method of waiting."""
    import matplotlib.pyplot as plt
    from matplotlib import rc_context

    from .plots import COLOURS, MARKERS, figure_class, style

    panels: tuple[tuple[str, Callable[[Pacing], tuple[float, ...]]], ...] = (
        (
            "Late by (µs): half of the packets, 99 % dotted",
            lambda r: (r.late_p50_s * 1e6, r.late_p99_s * 1e6),
        ),
        ("Uneven gaps (share)", lambda r: (r.uneven,)),
        ("Processor (share of a core)", lambda r: (r.cpu,)),
    )
    with rc_context(style()):
        figure, axes = plt.subplots(1, len(panels), figsize=(11, 3.4), FigureClass=figure_class())
        for panel, (title, values) in zip(axes, panels, strict=True):
            for i, way in enumerate(dict.fromkeys(row.way for row in rows)):
                own = [row for row in rows if row.way == way]
                x = [row.interval_s * 1e6 for row in own]
                for j, column in enumerate(zip(*(values(row) for row in own), strict=True)):
                    panel.plot(
                        x,
                        column,
                        color=COLOURS[i],
                        marker=MARKERS[i],
                        linestyle="-" if j == 0 else ":",
                        label=way if j == 0 else None,
                    )
            panel.set_xscale("log")
            panel.set_title(title, fontsize=9.5)
            panel.set_xlabel("wanted interval (µs)")
        axes[0].set_yscale("log")
        # below all of them: lines cross every corner
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8)
    return figure


def table(rows: Sequence[Pacing]) -> list[dict[str, Any]]:
    """The rows as plain values."""
    return [{**asdict(row), "kept": row.kept} for row in rows]
