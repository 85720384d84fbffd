"""Why a flow got its share: its time in each phase and under each limit, its losses by queue, and who filled the queues.

The run is repeated with a log of the flow's congestion controller in qlog format and a record of all drops. A run is
deterministic, so the repetition is the same run.
"""

from __future__ import annotations

import math
import tempfile
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from . import invariants, styles
from ._names import unknown_name
from .errors import ResultError
from .event_labels import seconds
from .plots import COLOURS, INK, SCHEME_COLOURS
from .quantities import base_value
from .result import Result
from .scenario import Plan, Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PHASES = {
    "opening": "before the first acknowledgement",
    "slow_start": "slow start",
    "congestion_avoidance": "congestion avoidance",
    "recovery": "loss recovery",
    "application_limited": "application-limited",
    "none": "no phases: its controller sets a rate",
}
"""Phases of a congestion controller by RFC 9002 §7.3, and the time before it hears anything."""

LIMITS = {
    "window": "the congestion window",
    "pacing": "the pacing rate",
    "recovery": "the window of loss recovery",
    "receiver": "the receive window",
    "flow_control": "the receive window (QUIC flow control)",
    "application": "the application or the send buffer",
}
"""What keeps a sender from sending more, each at a time."""

BANDS = {"phase": -0.085, "limit": -0.205}
"""Rows below the plot of `Explanation.plot`, and the middle of each, as a share of the height of the plot."""

CAUSES = {
    "phase": PHASES,
    "limit": {name: f"limited by {words}" for name, words in LIMITS.items()}
    | {"recovery": PHASES["recovery"], "application": PHASES["application_limited"]},
}
"""Names of phases and limits in the figure. What is the same cause in both rows has the same name."""

GREY = "#8792a0"
"""Colour of the second share; no cause, phase or flow has either colour."""

CAUSE_COLOURS = {
    CAUSES["limit"]["window"]: COLOURS[0],
    PHASES["congestion_avoidance"]: COLOURS[4],
    PHASES["slow_start"]: COLOURS[3],
    PHASES["recovery"]: COLOURS[5],
    PHASES["application_limited"]: COLOURS[2],
    PHASES["opening"]: COLOURS[9],
    PHASES["none"]: COLOURS[7],
    CAUSES["limit"]["pacing"]: COLOURS[8],
    CAUSES["limit"]["receiver"]: COLOURS[6],
    # never in one flow with the one before
    CAUSES["limit"]["flow_control"]: COLOURS[6],
}
"""Colours of the causes, different from the colour of data in flight. The congestion window has the colour of its line."""

NAME = 20
"""Characters per line of a flow's name beside its bars."""

UNREPORTED = 0.75
"""Share of QUIC's receive window that is in flight when the window is exhausted: a receiver grants more only after it has
read a part of it, an eighth in quinn and noq, and what it has read is not in flight any more."""

MAX_HOLDERS = 8
"""Rows of flows in the figure."""

BAR_IN = 0.32
"""Height of a row of the figure, in inches."""

STATES = {"bbr": ("Startup", "Drain", "ProbeBW", "ProbeRTT")}
"""Names of the values of the event `state` of a scheme."""


COLUMNS = 1600
"""Columns of the figure over time; what changes more often is drawn as its range."""

DATA = pl.Struct(
    {
        "congestion_window": pl.Float64,
        "bytes_in_flight": pl.Float64,
        "pacing_rate": pl.Float64,
        "new": pl.String,
        "cause": pl.String,
        "raw": pl.Struct({"length": pl.Float64}),
    }
)
EVENTS = pl.Schema([("time", pl.Float64()), ("name", pl.String()), ("data", DATA)])
"""What is read of the events of a qlog file; times are in milliseconds."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a flow got its share."""

    flow: str
    result: Result
    """The repeated run."""
    spans: pl.DataFrame
    """The time from the first packet to the end of the flow: a row for each part in which nothing of the sender's state
    changed, in order, with `begin_s`, `end_s`, `phase`, `limit`, `window` (congestion window in bytes; none for a
    controller without one), `in_flight` (bytes), `rate_bps` (pacing rate in bit/s; none if the controller sets none)."""
    congestion: dict[str, int]
    """Congestion events that the controller saw, by cause."""
    spurious: int = 0
    """Congestion episodes that the controller undid, because nothing was lost: packets had been overtaken or delayed."""

    @cached_property
    def _times(self) -> dict[tuple[str, str], float]:
        """Time in each phase under each limit."""
        lengths = self.spans.group_by("phase", "limit", maintain_order=True).agg(
            pl.col("end_s") - pl.col("begin_s")
        )
        return {(phase, limit): math.fsum(spans) for phase, limit, spans in lengths.rows()}

    @property
    def active_s(self) -> float:
        """Time from the first packet to the end of the flow."""
        return math.fsum(self._times.values())

    def phases(self) -> dict[str, float]:
        """Share of the time in each phase, the largest first."""
        return _shares((phase, time) for (phase, _), time in self._times.items())

    def limits(self) -> dict[str, float]:
        """Share of the time under each limit, the largest first."""
        return _shares((limit, time) for (_, limit), time in self._times.items())

    def limits_by_phase(self) -> dict[str, dict[str, float]]:
        """Share of each phase under each limit; phases and limits with the largest first."""
        return {
            phase: _shares((limit, time) for (where, limit), time in self._times.items() if where == phase)
            for phase in self.phases()
        }

    def states(self) -> dict[str, float]:
        """Share of the time in each state that the scheme itself reports by the event `state`; empty if it reports none."""
        events = self.result.events
        rows = events.filter((events["subject"] == f"flow.{self.flow}") & (events["event"] == "state")).rows(
            named=True
        )
        if not rows or self.spans.is_empty():
            return {}
        names = STATES.get(self._row(self.flow)["scheme"], ())
        changes = [(self.spans["begin_s"][0], 0.0), *((row["time_s"], row["value"]) for row in rows)]
        ends = [*(time_s for time_s, _ in changes[1:]), self.spans["end_s"][-1]]
        times: dict[str, float] = defaultdict(float)
        for (begin_s, value), end_s in zip(changes, ends, strict=True):
            number = int(value)
            name = names[number] if number < len(names) else f"state {number}"
            times[name] += max(end_s - begin_s, 0.0)
        whole = self.active_s or 1.0
        return _descending({name: time / whole for name, time in times.items()})

    def losses(self, since_s: float = 0.0) -> list[dict[str, Any]]:
        """Dropped packets of the flow, acknowledgements included: `place`, `reason`, `packets`, the most first.

        In the whole run, or from an instant on.
        """
        events = self.result.events
        rows = events.filter(
            (events["text"] == f"flow.{self.flow}")
            & events["event"].str.starts_with("dropped_")
            & (events["time_s"] >= since_s)
        )
        counts = Counter(zip(rows["subject"], rows["event"], strict=True))
        return [
            {"place": place, "reason": event.removeprefix("dropped_"), "packets": packets}
            for (place, event), packets in sorted(counts.items(), key=lambda row: (-row[1], row[0]))
        ]

    def reordering(self) -> dict[str, int]:
        """Reordering that was seen, and the part of it that was taken for loss.

        `reordered`: packets of a stream that arrived after one sent later, and `late`: the ones among them that had
        been declared lost, both after the warm-up. `spurious`: episodes that a controller over TCP undid.
        """
        row = self._row(self.flow)
        return {"reordered": row["reordered"] or 0, "late": row["late"] or 0, "spurious": self.spurious}

    def reordering_sentence(self) -> str | None:
        """Reordering in words; None if nothing was reordered."""
        found = self.reordering()
        words = []
        if found["reordered"]:
            words.append(
                f"{found['reordered']:,} of its packets were overtaken, {found['late']:,} of them taken for lost"
            )
        if found["spurious"]:
            words.append(
                f"{found['spurious']:,} of its congestion episodes were spurious and undone: "
                "packets were overtaken or late, not lost"
            )
        return "; ".join(words) or None

    def queue_shares(self) -> dict[str, float]:
        """Share of each flow in all bytes that waited in queues, by Little's law: throughput × mean queueing delay."""
        waiting = {
            row["flow"]: (row["throughput_bps"] or 0.0) * (row["queueing_delay_s"] or 0.0)
            for row in self.result.flows.to_dicts()
        }
        whole = math.fsum(waiting.values())
        return _descending({name: value / whole for name, value in waiting.items()}) if whole > 0 else {}

    def goodputs(self) -> dict[str, float]:
        """Goodput of each flow in bit/s, the highest first."""
        rows = self.result.flows.select("flow", "goodput_bps").rows()
        return dict(sorted(((name, value or 0.0) for name, value in rows), key=lambda row: -row[1]))

    def _row(self, flow: str) -> dict[str, Any]:
        return next(row for row in self.result.flows.to_dicts() if row["flow"] == flow)

    @property
    def sentence(self) -> str:
        """The main reason, in one sentence."""
        goodputs = self.goodputs()
        total = math.fsum(goodputs.values())
        limits, held = self.limits(), self.queue_shares()
        words = [f"{self.flow} gets {goodputs[self.flow] / 1e6:.3g} Mbit/s"]
        if total > 0:
            words[0] += f", {_percent(goodputs[self.flow] / total)} of all goodput"
        if limits:
            name, share = next(iter(limits.items()))
            words.append(f"{_percent(share)} of its time it is limited by {LIMITS[name]}")
        if held:
            name, share = next(iter(held.items()))
            whose = "its own packets are" if name == self.flow else f"packets of {name} are"
            words.append(f"{whose} {_percent(share)} of the bytes in queues")
        lost = sum(row["packets"] for row in self.losses())
        if lost:
            early = lost - sum(row["packets"] for row in self.losses(base_value(self.result.plan["warmup"])))
            words.append(
                f"{lost} of its packets are dropped" + f", {early} of them in the warm-up" * bool(early)
            )
        if reordering := self.reordering_sentence():
            words.append(reordering)
        return "; ".join(words) + "."

    def as_json(self) -> dict[str, Any]:
        """The explanation for programs."""
        return {
            "flow": self.flow,
            "sentence": self.sentence,
            "active_s": self.active_s,
            "goodput_bps": self.goodputs(),
            "phases": self.phases(),
            "states": self.states(),
            "limits": self.limits(),
            "limits_by_phase": self.limits_by_phase(),
            "congestion": self.congestion,
            "losses": self.losses(),
            "reordering": self.reordering(),
            "queue_shares": self.queue_shares(),
        }

    def plot(self, *, out: str | Path | None = None) -> Figure:
        """Window and data in flight, or the allowed rate, over time, above bands of phases and limits; drops are marks.

        Below, the share of each flow in the bytes in queues beside its share of the goodput.
        """
        from matplotlib import rc_context

        from .plots import place_legend

        look = styles.page()
        holders = self.holders()
        height = BAR_IN * len(holders) + 1.0 if holders else 0.0
        with rc_context(look.settings):
            figure, axes = styles.new_figure((8.2, 3.4 + height), look)
            if holders:
                grid = figure.add_gridspec(2, 1, height_ratios=(3.4, height))
                axes.set_subplotspec(grid[0])
                self._draw_holders(figure.add_subplot(grid[1]), holders)
            drawn = _thinned(self.spans)
            times = drawn["begin_s"].to_list()
            windowed = bool((self.spans["window"].is_not_null() | (self.spans["in_flight"] > 0)).any())
            if windowed:
                heights = (drawn["in_flight"] / 1e3).to_list()
                axes.fill_between(
                    times,
                    heights,
                    step="post",
                    label="in flight",
                    facecolor=(COLOURS[1], 0.35),
                    edgecolor=COLOURS[1],
                    linewidth=0.8,
                )
                named = "window and data in flight (kB)"
            else:
                # a scheme that sets a rate and knows of no data in flight
                heights = (drawn["rate_bps"].fill_null(0.0) / 1e6).to_list()
                axes.step(times, heights, where="post", label="allowed rate", color=COLOURS[0], linewidth=1.2)
                named = "allowed rate (Mbit/s)"
            window = (drawn["window"] / 1e3).fill_null(math.nan).to_list()
            if not all(map(math.isnan, window)):
                # in front of the packets in flight, which a full window covers
                axes.step(
                    times, window, where="post", label="congestion window", color=COLOURS[0], linewidth=1.2
                )
            top = max([*heights, *(height for height in window if not math.isnan(height)), 1e-3])
            axes.set_ylim(-0.3 * top, 1.08 * top)
            named_causes: set[str] = set()
            for column, level in BANDS.items():
                by_cause: dict[str, list[tuple[float, float]]] = {}
                for name, begin_s, end_s in self._bands(column):
                    by_cause.setdefault(CAUSES[column][name], []).append((begin_s, end_s - begin_s))
                for cause, bands in by_cause.items():
                    axes.broken_barh(
                        bands,
                        ((level - 0.045) * top, 0.09 * top),
                        facecolors=CAUSE_COLOURS[cause],
                        linewidth=0,
                        label=None if cause in named_causes else cause,
                    )
                named_causes |= by_cause.keys()
            drops = self._drop_times()
            if drops:
                axes.plot(
                    drops,
                    [1.03 * top] * len(drops),
                    "|",
                    color=SCHEME_COLOURS["scalable"],
                    markersize=5,
                    label="drop",
                )
            ticks = [tick for tick in axes.get_yticks() if 0 <= tick <= top]
            axes.set_yticks(
                [level * top for level in BANDS.values()] + ticks, [*BANDS, *(f"{tick:g}" for tick in ticks)]
            )
            for tick in axes.yaxis.get_major_ticks()[: len(BANDS)]:
                # a row has a name, but no line of the grid
                tick.gridline.set_visible(False)
                tick.tick1line.set_visible(False)
            axes.set_xlabel("time (s)")
            axes.set_ylabel(named)
            place_legend(axes, rows=look.legend_rows)
            figure.suptitle(f"What limited {self.flow}", x=0.01, ha="left", fontweight="bold")
        if out is not None:
            figure.savefig(out)
        return figure

    def holders(self) -> list[tuple[str, float, float]]:
        """Flow, share of the bytes in queues and share of all goodput, the largest share of queues first.

        At most `MAX_HOLDERS` flows, this one among them; the others are one row. Empty if nothing waited.
        """
        held, goodputs = self.queue_shares(), self.goodputs()
        if not held:
            return []
        total = math.fsum(goodputs.values()) or 1.0
        shares = {name: (held.get(name, 0.0), goodput / total) for name, goodput in goodputs.items()}
        names = sorted(shares, key=lambda name: (-shares[name][0], name))
        if len(names) > MAX_HOLDERS:
            names = [self.flow, *(name for name in names if name != self.flow)][: MAX_HOLDERS - 1]
            names.sort(key=lambda name: (-shares[name][0], name))
        rows = [(name, *shares[name]) for name in names]
        if others := [share for name, share in shares.items() if name not in names]:
            waiting, got = (math.fsum(column) for column in zip(*others, strict=True))
            rows.append((f"{len(others)} others", waiting, got))
        return rows

    def _draw_holders(self, axes: Axes, holders: list[tuple[str, float, float]]) -> None:
        """Two bars per flow; the flow that is explained is in bold."""
        from .plots import place_legend

        columns = (("share of the bytes in queues", INK), ("share of the goodput", GREY))
        for number, (label, colour) in enumerate(columns):
            places = [place - 0.2 + 0.4 * number for place in range(len(holders))]
            axes.barh(places, [100 * row[1 + number] for row in holders], 0.36, color=colour, label=label)
        names = [_label(name) for name, _, _ in holders]
        axes.set_yticks(range(len(holders)), names)
        for tick, (name, _, _) in zip(axes.get_yticklabels(), holders, strict=True):
            tick.set_fontweight("bold" if name == self.flow else "normal")
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("share (%)")
        place_legend(axes)

    def _drop_times(self) -> list[float]:
        events = self.result.events
        rows = events.filter(
            (events["text"] == f"flow.{self.flow}") & events["event"].str.starts_with("dropped_")
        )
        return list(rows["time_s"])

    def _bands(self, column: str) -> Iterator[tuple[str, float, float]]:
        """Phases or limits with their beginning and end, neighbouring ones as one; in a column of the figure the longest."""
        if self.spans.is_empty():
            return
        spans = self.spans.select(column, "end_s", "begin_s", at=_column(self.spans))
        longest = (
            spans.group_by("at", column, maintain_order=True)
            .agg(
                pl.col("begin_s").first(),
                pl.col("end_s").last(),
                (pl.col("end_s") - pl.col("begin_s")).sum().alias("time"),
            )
            .sort("at", "time", "begin_s", descending=[False, True, False])
            .group_by("at", maintain_order=True)
            .first()
        )
        runs = longest.group_by(pl.col(column).rle_id().alias("run"), maintain_order=True).first()
        begins = runs["begin_s"].to_list()
        yield from zip(runs[column], begins, [*begins[1:], spans["end_s"][-1]], strict=True)


def _label(name: str) -> str:
    """A flow's name on at most two lines; of a long one the middle is left out, because names differ at their ends."""
    lines = textwrap.wrap(name, NAME)
    return "\n".join(lines if len(lines) <= 2 else (name[:NAME], f"…{name[1 - NAME :]}"))


def _column(spans: pl.DataFrame) -> pl.Expr:
    """The column of the figure in which each span begins."""
    begin_s, end_s = float(spans["begin_s"][0]), float(spans["end_s"][-1])
    return ((pl.col("begin_s") - begin_s) * (COLUMNS / max(end_s - begin_s, 1e-12))).floor()


def _thinned(spans: pl.DataFrame) -> pl.DataFrame:
    """The spans at which a curve in the figure has its first, last, lowest and highest value of a column.

    The curves look the same as with all of them (Jugel, Jerzak, Hackenbroich, Markl: M4, VLDB 7(10), 2014).
    """
    if spans.is_empty():
        return spans
    curves = [pl.col(name).fill_null(0.0) for name in ("window", "in_flight", "rate_bps")]
    extremes = [extreme for curve in curves for extreme in (curve.arg_min(), curve.arg_max())]
    row = pl.col("row")
    places = (
        spans.with_row_index("row")
        .group_by(_column(spans).alias("at"), maintain_order=True)
        .agg(
            row.first().alias("first"),
            row.last().alias("last"),
            *(row.get(at).alias(str(n)) for n, at in enumerate(extremes)),
        )
        .drop("at")
    )
    chosen = pl.concat([places[name] for name in places.columns]).unique().sort()
    return spans[chosen]


def explain(run: Result | Scenario, flow: str) -> Explanation:
    """Why a flow of a run, or of a scenario, got its share.

    Raises `ResultError` for an emulation, which cannot be repeated, for an unknown flow with the nearest names, and for a
    flow without a congestion controller of this library.
    """
    plan = _logging_plan(run)
    names = [row["name"] for row in plan.tree["flows"]]
    known = plan.controlled()
    if flow not in known:
        if flow in names:
            raise ResultError(f"flow {flow!r} has no congestion controller whose decisions can be logged")
        raise ResultError(unknown_name("flow", flow, known))
    with tempfile.TemporaryDirectory(prefix="thalweg-explain-") as folder:
        result = plan.run(out=folder, qlog=[flow])
        log = (Path(folder) / f"{flow}.sqlog").read_bytes()
        given = run.violated_invariants if isinstance(run, Result) else []
        invariants.warn([(plan.title or "the run", [*given, *result.violated_invariants])])
    spec = next((row for row in plan.tree["flows"] if row["name"] == flow), None) or plan.tree["flows"][0]
    spans, congestion, spurious = _read(log, result, flow, spec)
    return Explanation(flow, result, spans, congestion, spurious)


def explainable(run: Result | Scenario) -> list[str]:
    """The flows that `explain` can explain: those with a congestion controller of this library.

    Raises `ResultError` for an emulation, which cannot be repeated.
    """
    return list(_logging_plan(run).controlled())


def _logging_plan(run: Result | Scenario) -> Plan:
    """The plan of the run, with drops and events recorded."""
    if isinstance(run, Result):
        if "emulation" in run.record:
            raise ResultError("an emulation cannot be repeated: explain a simulated run")
        scenario, seed = Scenario.from_toml(run.plan_toml, "plan.toml"), run.seed
    else:
        scenario, seed = run, None
    tree = scenario.tree
    tree["record"] = {**tree.get("record", {}), "drops": True, "events": True}
    return Scenario.from_tree({key: value for key, value in tree.items() if key != "sweep"}).plan(seed)


def _read(
    log: bytes, result: Result, flow: str, spec: dict[str, Any]
) -> tuple[pl.DataFrame, dict[str, int], int]:
    """Spans, congestion events and spurious episodes of a qlog file."""
    row = next(row for row in result.flows.to_dicts() if row["flow"] == flow)
    end_s = min(
        float(result.record["ended_s"]),
        row["completed_s"] if row["completed_s"] is not None else math.inf,
        seconds(spec["stop"]) if spec.get("stop", "never") != "never" else math.inf,
    )
    # records are separated by RS (RFC 7464), and the first is a heading
    _, _, lines = log.replace(b"\x1e", b"").partition(b"\n")
    events = pl.read_ndjson(lines, schema=EVENTS).unnest("data")
    name = pl.col("name")
    counted = events.filter(name == "thalweg:congestion").group_by("cause", maintain_order=True).len()
    spurious = events.filter(name == "thalweg:spurious").height
    # a scheme that sets a rate has no phases, but its source may have nothing to send
    windowed = b'"congestion_window"' in log
    phase = (
        pl.col("new")
        if windowed
        else pl.when(pl.col("new") == "application_limited").then("new").otherwise(pl.lit("none"))
    )
    opening = "opening" if windowed and b"congestion_state_updated" in log else "none"
    state = events.select(
        begin_s=pl.col("time") / 1e3,
        phase=pl.when(pl.col("new").is_not_null()).then(phase).forward_fill().fill_null(pl.lit(opening)),
        window=pl.col("congestion_window").forward_fill(),
        # a congestion event has it as well, before what it lost is gone
        in_flight=pl.when(name == "recovery:metrics_updated")
        .then("bytes_in_flight")
        .forward_fill()
        .fill_null(0.0),
        rate_bps=pl.col("pacing_rate").forward_fill(),
        packet=pl.col("raw").struct["length"].cum_max().forward_fill().fill_null(0.0),
    )
    # what several events at one time leave
    state = state.group_by("begin_s", maintain_order=True).last()
    spans = state.with_columns(
        end_s=pl.col("begin_s").shift(-1).fill_null(end_s).clip(upper_bound=end_s)
    ).filter(pl.col("end_s") > pl.col("begin_s"))
    spans = spans.select(
        "begin_s", "end_s", "phase", _limit(spec).alias("limit"), "window", "in_flight", "rate_bps"
    )
    return spans, dict(counted.rows()), spurious


def _limit(spec: Mapping[str, Any]) -> pl.Expr:
    """What keeps the sender of this flow from sending another packet in a state."""
    receive_window = _bytes(spec.get("tcp", {}).get("receive_window"))
    flow_control = _bytes(spec.get("quic", {}).get("receive_window"))
    # stacks for QUIC pace, whether or not they report a rate
    quic = "quic" in spec
    in_flight, window, packet, phase = (pl.col(name) for name in ("in_flight", "window", "packet", "phase"))
    exhausted = in_flight > UNREPORTED * flow_control
    # what is in flight is reported after an acknowledgement and before what that releases: two packets in QUIC
    full = in_flight + (3 if quic else 1) * packet > window
    recovers = phase == "recovery"
    paced = pl.lit(value=True) if quic else pl.col("rate_bps").is_not_null() | window.is_null()
    return (
        pl.when(in_flight + packet > receive_window)
        .then(pl.lit("receiver"))
        .when(phase == "application_limited")
        .then(pl.when(exhausted).then(pl.lit("flow_control")).otherwise(pl.lit("application")))
        .when(full)
        .then(pl.when(recovers).then(pl.lit("recovery")).otherwise(pl.lit("window")))
        .when(exhausted)
        .then(pl.lit("flow_control"))
        .when(paced)
        .then(pl.lit("pacing"))
        .otherwise(pl.when(recovers).then(pl.lit("recovery")).otherwise(pl.lit("application")))
    )


def _bytes(text: str | None) -> float:
    """A size in the format of plans; infinite for none."""
    if text is None or text == "unlimited":
        return math.inf
    number, _, unit = text.partition(" ")
    return float(number) * {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}.get(unit, math.inf)


def _shares(times: Iterator[tuple[str, float]]) -> dict[str, float]:
    """Shares of times of names, of which some have several."""
    found: dict[str, list[float]] = defaultdict(list)
    for name, time in times:
        found[name].append(time)
    whole = math.fsum(time for parts in found.values() for time in parts) or 1.0
    return _descending({name: math.fsum(parts) / whole for name, parts in found.items()})


def _descending(shares: dict[str, float]) -> dict[str, float]:
    """Shares above zero, the largest first."""
    return {name: share for name, share in sorted(shares.items(), key=lambda row: -row[1]) if share > 0}


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
