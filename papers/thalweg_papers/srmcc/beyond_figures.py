"""Pictures of experiments beyond the paper: a tree with three bottlenecks, large groups, feedback and cost by size."""

from __future__ import annotations

from typing import Any

from .. import _plot
from .._base import Figure, FigureSpec, Sample, Samples, Scale, take
from .._common import columns, over_seeds, plain, series_table, short, table
from . import beyond, measures
from .keys import Key
from .measures import mean_and_interval
from .scenarios import NAMES, RECONSTRUCTED, SCHEMES

TREE, LARGE, COST = Key.TREE, Key.LARGE_GROUPS, Key.COST


def tree_figure(samples: Samples, _scale: Scale) -> Figure:
    """64 receivers behind three bottlenecks: the group's rate, and how it leaves TCP and the links."""
    figure, axes = _plot.panels(2, 2, height=2.8)
    times, rates = _rates(samples, TREE, lambda scheme: scheme, axes[0][0])
    lowest = min(beyond.fair_bps(name) for name in beyond.SUBTREES) / 1e6
    axes[0][0].axhline(lowest, color=_plot.FAINT, linewidth=0.9, linestyle="--", zorder=0)
    _plot.finish(axes[0][0], "(a) Rate of the group", "Mbit/s", legend=False)
    _plot.legend(figure, axes[0][0])
    rows: list[dict[str, Any]] = [{"scheme": NAMES[scheme]} for scheme in SCHEMES]
    group = [mean_and_interval(samples[TREE, scheme], measures.mbps("mean_rate_bps")) for scheme in SCHEMES]
    feedback = [
        mean_and_interval(samples[TREE, scheme], lambda s: s["feedback"] / s["seconds"]) for scheme in SCHEMES
    ]
    for row, rate, messages in zip(rows, group, feedback, strict=True):
        row |= columns("rate_mbps", rate)
        row |= columns("feedback_per_s", messages)
    panels = (
        (axes[0][1], "tcp_{}_bps", "(b) A TCP connection over its share", "ratio"),
        (axes[1][0], "utilisation_{}", "(c) Utilisation of the bottleneck", "share"),
        (axes[1][1], "loss_{}", "(d) Loss of the group", "% of packets"),
    )
    for axis, key, title, unit in panels:
        heights = {}
        for scheme, row in zip(SCHEMES, rows, strict=True):
            numbers = []
            for name in beyond.SUBTREES:
                factor = {"tcp_{}_bps": 1 / beyond.fair_bps(name), "loss_{}": 100.0}.get(key, 1.0)
                numbers.append(mean_and_interval(samples[TREE, scheme], take(key.format(name), factor)))
                column = key.format(name).replace("_bps", "_share").replace("loss_", "loss_percent_")
                row |= columns(column, numbers[-1])
            heights[NAMES[scheme]] = (
                [mean for mean, *_ in numbers],
                [(low, high) for _, low, high in numbers],
            )
        _plot.bars(axis, [_words(name) for name in beyond.SUBTREES], heights, colours=SCHEMES)
        _plot.finish(axis, title, unit, x="bottleneck", margin=0.02, legend=False)
    return Figure(
        "Not in the paper: 64 receivers behind three bottlenecks",
        "A tree with bottlenecks of 6, 4 and 3 Mbit/s and 10, 20 and 40 ms, shared with 3, 1 and 2 TCP connections; a "
        f"single rate can use the minimum of the three equal shares, {lowest:g} Mbit/s (dashed). Utilisation of the first "
        "two is then what their TCP connections make of the rest. "
        + " · ".join(
            f"{NAMES[scheme]} {plain(rate)} Mbit/s" for scheme, rate in zip(SCHEMES, group, strict=True)
        )
        + "."
        + RECONSTRUCTED,
        _plot.svg(figure, "beyond-a", "Rate, company, utilisation and loss in a tree with three bottlenecks"),
        {
            "rates": series_table("Rate of the group in the tree", times, rates),
            "numbers": table("Tree", rows),
        },
    )


def _words(name: str) -> str:
    rate_bps, delay_ms, tcps, _ = beyond.SUBTREES[name]
    return f"{rate_bps / 1e6:g} Mbit/s\n{delay_ms:g} ms, {tcps} TCP"


def _rates(samples: Samples, experiment: Key, variant: Any, axis: Any) -> tuple[Any, dict[str, Any]]:
    """Draws the group's rate with each scheme."""
    lines: dict[str, Any] = {}
    times = samples[experiment, variant(SCHEMES[0])][0]["times_s"]
    for scheme in SCHEMES:
        mean, low, high = over_seeds([s["rate_bps"] for s in samples[experiment, variant(scheme)]])
        lines |= {f"{scheme}_bps": mean, f"{scheme}_low_bps": low, f"{scheme}_high_bps": high}
        _plot.band(
            axis, times, mean / 1e6, low / 1e6, high / 1e6, NAMES[scheme], colour=scheme, linewidth=0.9
        )
    return times, lines


def large_figure(samples: Samples, _scale: Scale) -> Figure:
    """A thousand receivers behind one bottleneck."""
    figure, axes = _plot.panels(1, 2, height=2.9)
    size = beyond.SIZES[-1]
    times, rates = _rates(samples, LARGE, lambda scheme: f"{scheme}-{size}", axes[0][0])
    fair = beyond.LARGE_BPS / 3 / 1e6
    axes[0][0].axhline(fair, color=_plot.FAINT, linewidth=0.9, linestyle="--", zorder=0)
    _plot.finish(axes[0][0], "(a) Rate of the group", "Mbit/s")
    heights = {}
    rows: list[dict[str, Any]] = []
    for key, label in (("mean_rate_bps", "group"), ("mean_tcp_bps", "a TCP connection")):
        numbers = [
            mean_and_interval(samples[LARGE, f"{scheme}-{size}"], measures.mbps(key)) for scheme in SCHEMES
        ]
        heights[label] = ([mean for mean, *_ in numbers], [(low, high) for _, low, high in numbers])
    for scheme in SCHEMES:
        for count in beyond.SIZES:
            row: dict[str, Any] = {"scheme": NAMES[scheme], "receivers": count}
            for name, value in (
                ("rate_mbps", measures.mbps("mean_rate_bps")),
                ("tcp_mbps", measures.mbps("mean_tcp_bps")),
                ("loss_percent", measures.loss_percent),
                ("feedback_per_s", take("feedback_per_s")),
                ("signals", take("signals")),
                ("delivered", take("delivered")),
            ):
                row |= columns(name, mean_and_interval(samples[LARGE, f"{scheme}-{count}"], value))
            rows.append(row)
    _plot.bars(axes[0][1], [NAMES[scheme] for scheme in SCHEMES], heights, colours=(0, "reno"))
    axes[0][1].axhline(fair, color=_plot.FAINT, linewidth=0.9, linestyle="--", zorder=0)
    axes[0][1].tick_params(axis="x", labelsize=7.5)
    _plot.finish(axes[0][1], "(b) Beside two TCP connections", "Mbit/s", x="", margin=0.02)
    ratios = " · ".join(
        f"{NAMES[scheme]} {plain((heights['group'][0][i], *heights['group'][1][i]))} Mbit/s"
        for i, scheme in enumerate(SCHEMES)
    )
    return Figure(
        "Not in the paper: a group of a thousand receivers",
        "Ten edge routers with a hundred receivers each, behind a bottleneck of 5 Mbit/s that two TCP connections share; "
        f"dashed, an equal share. {ratios}." + RECONSTRUCTED,
        _plot.svg(figure, "beyond-b", "Rates of a group of a thousand receivers with five schemes"),
        {
            "rates": series_table("Rate of a group of a thousand", times, rates),
            "numbers": table("Groups of 10, 100 and 1000 receivers", rows),
        },
    )


def feedback_figure(samples: Samples, _scale: Scale) -> Figure:
    """Feedback packets that reach the source, against the size of the group."""
    figure, axes = _plot.panels(1, 1, width=6.6, height=3.6)
    rows: list[dict[str, Any]] = [{"receivers": size} for size in beyond.SIZES]
    axis = axes[0][0]
    _plot.logarithmic(axis, "x", "y")
    growth = []
    for number, scheme in enumerate(SCHEMES):
        points = [
            mean_and_interval(samples[LARGE, f"{scheme}-{size}"], take("feedback_per_s"))
            for size in beyond.SIZES
        ]
        _plot.points(
            axis,
            beyond.SIZES,
            [mean for mean, *_ in points],
            [(low, high) for _, low, high in points],
            NAMES[scheme],
            colour=scheme,
            marker=_plot.MARKERS[number],
            linewidth=1.2,
        )
        for row, found in zip(rows, points, strict=True):
            row |= columns(f"{scheme}_per_s", found)
        growth.append(f"{NAMES[scheme]} {points[-1][0] / points[0][0]:.3g}")
    axis.set_xticks(beyond.SIZES, [f"{size}" for size in beyond.SIZES])
    axis.minorticks_off()
    _plot.finish(
        axis,
        "Feedback at the source against the size of the group",
        "packets per second",
        x="receivers",
        margin=0.05,
    )
    return Figure(
        "Not in the paper: feedback at the source by size of the group",
        "Both axes logarithmic; the groups of beyond-b. Growth from 10 to 1000 receivers, times: "
        + ", ".join(growth)
        + "."
        + RECONSTRUCTED,
        _plot.svg(figure, "feedback-scaling", "Feedback packets per second against group size, five schemes"),
        {"numbers": table("Feedback packets per second at the source", rows)},
    )


def cost_figure(samples: Samples, _scale: Scale) -> Figure:
    """Processor time against packets delivered, a simulated second, for groups of three sizes."""
    figure, axes = _plot.panels(1, 2, height=3.1)
    rows: list[dict[str, Any]] = []
    _plot.logarithmic(axes[0][0], "x", "y")
    _plot.logarithmic(axes[0][1], "x")
    for number, scheme in enumerate(SCHEMES):
        style: dict[str, Any] = {
            "color": _plot.colour_of(scheme),
            "marker": _plot.MARKERS[number],
            "label": NAMES[scheme],
        }
        points = []
        for size in beyond.SIZES:
            runs = samples[COST, f"{scheme}-{size}"]
            # The minimum of the runs: whatever else the machine does only adds.
            run = min(runs, key=_ns_per_delivered)
            point = {
                "scheme": NAMES[scheme],
                "receivers": size,
                "delivered_per_s": short(run["delivered"] / run["simulated_s"]),
                "cpu_ms_per_s": short(1e3 * run["cpu_s"] / run["simulated_s"]),
                "ns_per_delivered": short(_ns_per_delivered(run)),
                "highest_ns_per_delivered": short(max(map(_ns_per_delivered, runs))),
                "runs": len(runs),
            }
            points.append(point)
        rows += points
        axes[0][0].plot(*_columns(points, "delivered_per_s", "cpu_ms_per_s"), linewidth=1.1, **style)
        axes[0][1].plot(*_columns(points, "receivers", "ns_per_delivered"), linewidth=1.1, **style)
    axes[0][1].set_xticks(beyond.SIZES, [f"{size}" for size in beyond.SIZES])
    axes[0][1].minorticks_off()
    _plot.finish(
        axes[0][0],
        "(a) Processor time",
        "ms per simulated second",
        x="packets delivered per simulated second",
        margin=0.05,
        legend=False,
    )
    _plot.finish(axes[0][1], "(b) Per packet delivered", "ns", x="receivers", margin=0.05, legend=False)
    _plot.legend(figure, axes[0][0])
    largest = rows[len(beyond.SIZES) - 1]
    return Figure(
        "Cost of large groups",
        "Groups of 10, 100 and 1000 receivers alone on 1 Mbit/s, so that all sizes send the same; processor time of the "
        "program on the machine that drew this, in a process of its own for each point, the minimum of the runs. Time grows "
        f"with the packets delivered: {largest['ns_per_delivered']:.0f} ns each with SRMCC at a thousand receivers. At ten, "
        "where every edge router has one receiver, a packet delivered is 2.2 packets put on links; at a thousand it is one."
        + RECONSTRUCTED,
        _plot.svg(figure, "cost", "Processor time against packets delivered, for three sizes of groups"),
        {"numbers": table("Cost by size of the group", rows)},
    )


def _ns_per_delivered(run: Sample) -> float:
    return float(1e9 * run["cpu_s"] / run["delivered"])


def _columns(points: list[dict[str, Any]], *names: str) -> list[list[Any]]:
    return [[point[name] for point in points] for name in names]


def figure_specs() -> list[FigureSpec]:
    """In the order in which they are shown."""
    return [
        FigureSpec("beyond-a", "A tree with three bottlenecks", (TREE,), tree_figure),
        FigureSpec("beyond-b", "A group of a thousand", (LARGE,), large_figure),
        FigureSpec("feedback-scaling", "Feedback by size of the group", (LARGE,), feedback_figure),
        FigureSpec("cost", "Cost by size of the group", (COST,), cost_figure),
    ]
