"""Tables of both comparisons, and a figure of each: every network in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import _plot
from .._base import Figure, FigureSpec, Quantity, Sample, Samples, Scale, Table
from .._common import columns, table
from . import measures as m
from . import scenarios as s
from .keys import Key

Cell = Callable[[str, str], Quantity]
"""A quantity of a scheme in a network."""


def _put(row: dict[str, Any], name: str, quantity: Quantity) -> None:
    row |= columns(name, quantity)


def network_label(case: str) -> str:
    """Round trip and room of a network, as tables have it."""
    rtt, buffer = case.split()
    return f"{rtt} ms, {buffer} ms"


def _by_network(title: str, setups: Mapping[str, s.SchemeSetup], cell: Cell) -> Table:
    """A row for each network, a column for each scheme."""
    rows = []
    for case in s.GRID:
        row: dict[str, Any] = {"round trip, room": network_label(case)}
        for name, setup in setups.items():
            _put(row, setup.label, cell(name, case))
        rows.append(row)
    return table(title, rows)


def _by_scheme(
    title: str, setups: Mapping[str, s.SchemeSetup], columns: Mapping[str, Callable[[str], Quantity]]
) -> Table:
    """A row for each scheme."""
    rows = []
    for name, setup in setups.items():
        row: dict[str, Any] = {"scheme": setup.label}
        for column, value in columns.items():
            _put(row, column, value(name))
        rows.append(row)
    return table(title, rows)


def _panel(
    axes: Any, setups: Mapping[str, s.SchemeSetup], cell: Cell, title: str, unit: str, top: float | None
) -> None:
    heights = {}
    for name, setup in setups.items():
        found = [cell(name, case) for case in s.GRID]
        heights[setup.label] = ([q.mean for q in found], [q.interval for q in found])
    _plot.bars(
        axes,
        [case.replace(" ", " / ") for case in s.GRID],
        heights,
        colours=[setup.scheme for setup in setups.values()],
    )
    _plot.finish(
        axes, title, unit, x="round trip / room of the queue (ms)", top=top, margin=0.01, legend=False
    )


# --- low priority ----------------------------------------------------------------------------------------------------


def _keeps(samples: Samples, scale: Scale, tcp: str) -> Cell:
    when = m.span(scale, s.MEASURED_S, s.END_S)
    return lambda name, case: m.quantity(m.kept(samples, name, tcp, case, when))


def _use(samples: Samples, scale: Scale) -> Cell:
    when = m.span(scale, s.MEASURED_S, s.END_S)
    return lambda name, case: m.quantity(
        m.each(samples, Key.ALONE, f"{name} {case}", lambda sample: m.use_percent(sample, "yields", when))
    )


def _wait(samples: Samples, scale: Scale) -> Cell:
    when = m.span(scale, s.MEASURED_S, s.END_S)
    return lambda name, case: m.quantity(
        m.each(samples, Key.ALONE, f"{name} {case}", lambda sample: m.wait_ms(sample, when))
    )


def _mean(cell: Cell) -> Callable[[str], Quantity]:
    return lambda name: m.over(cell(name, case).values for case in s.GRID)


def background(samples: Samples, scale: Scale) -> Figure:
    """The share that TCP keeps, the utilisation of an idle link, and its queue."""
    figure, axes = _plot.panels(4, 1, height=2.1)
    (first,), (second,), (third,), (fourth,) = axes
    _panel(first, s.LOW, _keeps(samples, scale, "reno"), "NewReno keeps (%)", "%", 110)
    _panel(second, s.LOW, _keeps(samples, scale, "cubic"), "CUBIC keeps (%)", "%", 110)
    _panel(third, s.LOW, _use(samples, scale), "Use of an idle link (%)", "%", 110)
    _panel(fourth, s.LOW, _wait(samples, scale), "Wait in the queue of that link (ms)", "ms", None)
    _plot.legend(figure, first)
    title = "Low priority: what TCP keeps, use of an idle link, and delay"
    return Figure(
        title,
        "Nine networks of 6 Mbit/s. What TCP keeps is of its throughput without the other flow. NewReno in the place of a "
        "low-priority scheme shows one that does not yield. Whiskers: 95 % intervals over seeds.",
        _plot.svg(figure, "background", title),
    )


def background_summary(samples: Samples, scale: Scale) -> Table:
    """One row per scheme, means over the nine networks."""
    when = m.span(scale, s.MEASURED_S, s.END_S)

    def added(name: str) -> Quantity:
        return m.over(
            m.added_ms(samples, name, tcp, case, when) for case in s.GRID for tcp in ("reno", "cubic")
        )

    return _by_scheme(
        "Low priority, means over nine networks",
        s.LOW,
        {
            "newreno_keeps_percent": _mean(_keeps(samples, scale, "reno")),
            "cubic_keeps_percent": _mean(_keeps(samples, scale, "cubic")),
            "delay_added_to_tcp_ms": added,
            "use_of_idle_link_percent": _mean(_use(samples, scale)),
            "delay_added_there_ms": _mean(_wait(samples, scale)),
        },
    )


def keeps_reno(samples: Samples, scale: Scale) -> Table:
    """The share that NewReno keeps, network by network."""
    return _by_network("NewReno keeps (%)", s.LOW, _keeps(samples, scale, "reno"))


def keeps_cubic(samples: Samples, scale: Scale) -> Table:
    """The share that CUBIC keeps, network by network."""
    return _by_network("CUBIC keeps (%)", s.LOW, _keeps(samples, scale, "cubic"))


def use(samples: Samples, scale: Scale) -> Table:
    """Use of an idle link, network by network."""
    return _by_network("Use of an idle link (%)", s.LOW, _use(samples, scale))


def wait(samples: Samples, scale: Scale) -> Table:
    """Wait in the queue of an idle link, network by network."""
    return _by_network("Wait in the queue of an idle link (ms)", s.LOW, _wait(samples, scale))


def _of(samples: Samples, experiment: Key, rest: str, value: m.Value) -> Callable[[str], Quantity]:
    """A value of each seed, of the variant that a scheme and the rest name."""
    return lambda name: m.quantity(m.each(samples, experiment, f"{name} {rest}", value))


def latecomer(samples: Samples, scale: Scale) -> Table:
    """The share of the second of two flows, and the queue."""
    when = m.span(scale, s.LATE_MEASURED_S, s.LATE_END_S)

    def share(sample: Sample) -> float:
        return m.share_percent(sample, "late", "first", when)

    def waits(sample: Sample) -> float:
        return m.wait_ms(sample, when)

    columns = {
        f"{words}, room {buffer} ms{ending}": _of(samples, Key.LATECOMER, str(buffer), value)
        for words, ending, value in (("latecomer", "_percent", share), ("wait", "_ms", waits))
        for buffer in s.BUFFERS_MS
    }
    return _by_scheme("Two of a kind: share of the latecomer, wait in the queue", s.LOW, columns)


def route(samples: Samples, scale: Scale) -> Table:
    """Use of the link and wait in the queue, a while after the route changed."""
    when = m.span(scale, s.CHANGED_S, s.CHANGE_END_S)

    def used(sample: Sample) -> float:
        return m.use_percent(sample, "yields", when)

    def waits(change: str) -> Callable[[str], Quantity]:
        return lambda name: m.over(
            m.each(samples, Key.ROUTE, f"{name} {change} {buffer}", lambda sample: m.wait_ms(sample, when))
            for buffer in s.BUFFERS_MS
        )

    changes = ("longer", "shorter")
    columns = {
        f"{change}, room {buffer} ms: use_percent": _of(samples, Key.ROUTE, f"{change} {buffer}", used)
        for change in changes
        for buffer in s.BUFFERS_MS
    }
    columns |= {f"{change}: wait, mean of rooms_ms": waits(change) for change in changes}
    return _by_scheme("After the route became 60 ms longer or shorter", s.LOW, columns)


def drift(samples: Samples, scale: Scale) -> Table:
    """Use, wait and what is given way, with a receiver's clock that is right, gains or loses."""
    when = m.span(scale, s.DRIFT_S, s.DRIFT_END_S)

    def used(sample: Sample) -> float:
        return m.use_percent(sample, "yields", when)

    def waits(sample: Sample) -> float:
        return m.wait_ms(sample, when)

    def part(sample: Sample) -> float:
        return m.share_percent(sample, "yields", "tcp", when)

    columns = {
        words.format(clock): _of(samples, Key.DRIFT, f"{clock} {where}", value)
        for words, where, value in (
            ("alone, {}: use_percent", "alone", used),
            ("alone, {}: wait_ms", "alone", waits),
            ("beside NewReno, {}: its part of both_percent", "beside", part),
        )
        for clock in s.CLOCKS
    }
    return _by_scheme("The receiver's clock is right, gains or loses 100 ppm", s.LOW, columns)


def background_figure_specs() -> list[FigureSpec]:
    """Everything that is drawn or tabulated."""
    return [
        FigureSpec("background", "Low priority, every network", (Key.ALONE, Key.BESIDE_TCP), background),
        FigureSpec(
            "summary", "Low priority, means over networks", (Key.ALONE, Key.BESIDE_TCP), background_summary
        ),
        FigureSpec("newreno-keeps", "What NewReno keeps", (Key.BESIDE_TCP,), keeps_reno),
        FigureSpec("cubic-keeps", "What CUBIC keeps", (Key.BESIDE_TCP,), keeps_cubic),
        FigureSpec("use", "Use of an idle link", (Key.ALONE,), use),
        FigureSpec("wait", "Wait in the queue of an idle link", (Key.ALONE,), wait),
        FigureSpec("latecomer", "Two of a kind", (Key.LATECOMER,), latecomer),
        FigureSpec("route", "After a change of route", (Key.ROUTE,), route),
        FigureSpec("drift", "Clocks that drift", (Key.DRIFT,), drift),
    ]


# --- real time -------------------------------------------------------------------------------------------------------


def _real_span(scale: Scale) -> m.Span:
    return m.span(scale, s.REAL_MEASURED_S, s.REAL_END_S)


def _shared(samples: Samples, other: str, value: m.Value) -> Cell:
    return lambda name, case: m.quantity(m.each(samples, Key.BESIDE_TCP, f"{name} {other} {case}", value))


def _share(samples: Samples, scale: Scale, other: str) -> Cell:
    when = _real_span(scale)
    return _shared(samples, other, lambda sample: m.share_percent(sample, "stream", "tcp", when))


def _alone(samples: Samples, value: m.Value) -> Cell:
    return lambda name, case: m.quantity(m.each(samples, Key.ALONE, f"{name} {case}", value))


def real_time(samples: Samples, scale: Scale) -> Figure:
    """Shares beside the three connections, and smoothness."""
    when = _real_span(scale)
    figure, axes = _plot.panels(4, 1, height=2.1)
    for (panel,), (other, setup) in zip(axes[:3], s.BESIDE.items(), strict=True):
        _panel(panel, s.REAL, _share(samples, scale, other), f"Share beside {setup.label} (%)", "%", 100)
        panel.axhline(50, color=_plot.FAINT, linewidth=0.9)
    _panel(
        axes[3][0],
        s.REAL,
        _shared(samples, "reno", lambda sample: m.variation(sample, "stream", when)),
        "Variation of what arrives in 0.5 s, beside NewReno",
        "deviation over mean",
        None,
    )
    _plot.legend(figure, axes[0][0])
    title = "Real time: shares beside NewReno, CUBIC and BBR, and smoothness"
    return Figure(
        title,
        "Nine networks of 6 Mbit/s; half of both is fair. Whiskers: 95 % intervals over seeds.",
        _plot.svg(figure, "real-time", title),
    )


def real_summary(samples: Samples, scale: Scale) -> Table:
    """One row per scheme, means over the nine networks."""
    when = _real_span(scale)
    columns = {
        f"share_beside_{setup.label}_percent": _mean(_share(samples, scale, other))
        for other, setup in s.BESIDE.items()
    }
    columns |= {
        "lost_beside_NewReno_percent": _mean(
            _shared(samples, "reno", lambda sample: m.lost_percent(sample, "stream"))
        ),
        "wait_beside_NewReno_ms": _mean(_shared(samples, "reno", lambda sample: m.wait_ms(sample, when))),
        "variation_beside_NewReno": _mean(
            _shared(samples, "reno", lambda sample: m.variation(sample, "stream", when))
        ),
    }
    return _by_scheme("Real time beside TCP, means over nine networks", s.REAL, columns)


def real_alone(samples: Samples, scale: Scale) -> Table:
    """Alone: use, wait, loss, smoothness."""
    when = _real_span(scale)
    return _by_scheme(
        "Real time alone, means over nine networks",
        s.REAL,
        {
            "use_percent": _mean(_alone(samples, lambda sample: m.use_percent(sample, "stream", when))),
            "wait_ms": _mean(_alone(samples, lambda sample: m.wait_ms(sample, when))),
            "lost_percent": _mean(_alone(samples, lambda sample: m.lost_percent(sample, "stream"))),
            "variation": _mean(_alone(samples, lambda sample: m.variation(sample, "stream", when))),
        },
    )


def _shares(other: str) -> Callable[[Samples, Scale], Table]:
    def draw_table(samples: Samples, scale: Scale) -> Table:
        return _by_network(f"Share beside {s.BESIDE[other].label} (%)", s.REAL, _share(samples, scale, other))

    return draw_table


def real_wait(samples: Samples, scale: Scale) -> Table:
    """Wait in the queue alone, network by network."""
    when = _real_span(scale)
    return _by_network(
        "Wait in the queue, alone (ms)", s.REAL, _alone(samples, lambda sample: m.wait_ms(sample, when))
    )


def real_time_figure_specs() -> list[FigureSpec]:
    """Everything that is drawn or tabulated."""
    shares = [
        FigureSpec(
            f"beside-{setup.label.lower()}", f"Shares beside {setup.label}", (Key.BESIDE_TCP,), _shares(other)
        )
        for other, setup in s.BESIDE.items()
    ]
    return [
        FigureSpec("real-time", "Real time, every network", (Key.BESIDE_TCP,), real_time),
        FigureSpec("summary", "Real time beside TCP, means over networks", (Key.BESIDE_TCP,), real_summary),
        FigureSpec("alone", "Real time alone, means over networks", (Key.ALONE,), real_alone),
        *shares,
        FigureSpec("wait", "Wait in the queue, alone", (Key.ALONE,), real_wait),
    ]
