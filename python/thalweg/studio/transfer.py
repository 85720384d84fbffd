"""A transfer of `thalweg send` or `recv` that browsers watch: samples of its status as charts, its counts as a table."""

from __future__ import annotations

import itertools
import math
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..quantities import format_rate, format_size
from ..report import _charts
from .work import Activity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..transfers import Transfer

SAMPLE_S = 0.2
"""Seconds between two samples at first."""

MAX_SAMPLES = 3000
"""With more samples every second one is dropped, and the time between two is doubled. Counts are cumulative, so that no byte
is lost."""

CHARTS_S = 1.0
"""Minimum seconds between two versions of the charts."""

QUIET = 10.0
"""The allowed rate is hidden at first where its mean is more than this many times the sent rate."""

KEPT = ("bytes", "done_bytes", "lost", "allowed_bps", "limit_bps", "rtt_s")
"""Of a status, what a sample has."""


class TransferActivity(Activity):
    """A transfer of this process. It is carried out elsewhere, and reported by `look` and `finish`."""

    kind = "transfer"

    def __init__(self, transfer: Transfer, title: str, command: str, *, sending: bool) -> None:
        super().__init__(title, command, "", Path(), Path())
        self._transfer, self._sending = transfer, sending
        self._progress = {"share": None}
        self._samples: list[tuple[float, dict[str, float]]] = []
        self._interval_s = SAMPLE_S
        self._rows: list[tuple[str, str]] = []
        self._charts, self._drawn_s = 0, -math.inf
        self._lock = threading.Lock()

    def work(self) -> None:
        """Not here: the command that shows the transfer runs it."""
        raise NotImplementedError

    def stop(self) -> None:
        """Closes the session, as Ctrl-C does; received data are kept."""
        super().stop()
        self._transfer.stop()

    def snapshot(self, since: int = 0) -> dict[str, Any]:
        """Adds the number of the current charts to what every activity reports; a transfer has no folder of results."""
        return {**super().snapshot(since), "folder": "", "charts": self._charts}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """The transfer takes place in the block: what ends the block ends the activity."""
        with self._told():
            yield
        if not self.wait(0):
            self._end("stopped")

    def look(self, state: Mapping[str, Any], now_s: float, line: str) -> None:
        """Takes a status, `now_s` seconds after the start, and the line that the terminal shows of it."""
        total = state["total_bytes"]
        self._progress = {"share": state["done_bytes"] / total if total else None, "label": line}
        with self._lock:
            if not self._samples or now_s - self._samples[-1][0] >= self._interval_s:
                self._samples.append((now_s, {key: float(state[key] or 0) for key in KEPT}))
            if len(self._samples) > MAX_SAMPLES:
                self._samples = self._samples[::2]
                self._interval_s *= 2
            self._rows = self._counts(state)
        if now_s - self._drawn_s >= CHARTS_S and len(self._samples) > 1:
            self._charts += 1
            self._drawn_s = now_s
        self.changed()

    def finish(
        self,
        result: Mapping[str, Any],
        now_s: float,
        outcome: str,
        hint: str | None,
        rows: Sequence[tuple[str, str]],
    ) -> None:
        """Takes the end: the final status, the outcome in words, and the rows of the table that the terminal shows."""
        with self._lock:
            if self._samples and now_s > self._samples[-1][0]:
                self._samples.append((now_s, {key: float(result[key] or 0) for key in KEPT}))
            self._rows = list(rows) or self._rows
        complete = bool(result["complete"])
        share = 1.0 if complete else self._progress["share"]
        self._progress = {"share": share, "label": outcome}
        self._said |= {"passed": complete, "note": "" if complete else outcome, "hint": hint}
        self._charts += 1
        self._end("done" if complete else "stopped" if result["end"] == "stopped" else "failed")

    def _counts(self, state: Mapping[str, Any]) -> list[tuple[str, str]]:
        total = state["total_bytes"]
        moved = "sent" if self._sending else "received"
        rows = [
            ("delivered", format_size(state["done_bytes"]) + (f" of {format_size(total)}" if total else "")),
            (f"{moved}, with headers and repairs", format_size(state["bytes"])),
            ("packets", f"{state['packets']:,}"),
        ]
        if self._sending:
            rows.append(("packets lost", f"{state['lost']:,}"))
        if allowed := _allowed(state):
            rows.append(("allowed rate", format_rate(allowed)))
        if state["rtt_s"]:
            rows.append(("round-trip time", f"{1e3 * state['rtt_s']:.3g} ms"))
        if state["scheme"]:
            rows.append(("scheme", state["scheme"]))
        if state["mode"]:
            rows.append(("mode", str(state["mode"]).replace("_", "-")))
        return rows

    def charts(self) -> dict[str, Any]:
        """The charts so far, in the format of the page of a run, and the table of counts."""
        with self._lock:
            samples, rows = list(self._samples), list(self._rows)
        return {
            "data": str(self._charts_of(samples)) if len(samples) > 1 else None,
            "flows": {
                "heading": "Outcome" if self.wait(0) else "So far",
                "columns": [("what", "what"), ("value", "value")],
                "rows": [{"what": what, "value": value} for what, value in rows],
                "more": 0,
            },
        }

    def _charts_of(self, samples: Sequence[tuple[float, Mapping[str, float]]]) -> str:
        times = [at for at, _ in samples]

        def rates(key: str) -> list[float]:
            return [
                math.nan,
                *(
                    8 * (after[key] - before[key]) / (later - earlier)
                    for (earlier, before), (later, after) in itertools.pairwise(samples)
                ),
            ]

        moved = "sent" if self._sending else "received"
        lines = {f"{moved}, with headers and repairs": rates("bytes"), "delivered": rates("done_bytes")}
        allowed = [_allowed(state) for _, state in samples]
        quiet: set[str] = set()
        if any(allowed):
            lines["allowed by the scheme"] = allowed
            mean = 8 * samples[-1][1]["bytes"] / (times[-1] or 1.0)
            if sum(allowed) / len(allowed) > QUIET * mean:
                quiet.add("allowed by the scheme")
        charts = [
            ("rate", "Rate", "Mbit/s", 1e-6, lines),
            (
                "rtt",
                "Round-trip time",
                "ms",
                1e3,
                {"smoothed": [state["rtt_s"] or math.nan for _, state in samples]},
            ),
        ]
        if self._sending:
            charts.append(
                ("lost", "Packets lost so far", "", 1.0, {"lost": [state["lost"] for _, state in samples]})
            )
        return str(_charts.sampled(self.title, times, charts, quiet))


def _allowed(state: Mapping[str, Any]) -> float:
    """The rate that the scheme and `--rate` allow, in bit/s; 0 if it is not known, as at a receiver."""
    return float(min(state["allowed_bps"], state["limit_bps"] or math.inf))
