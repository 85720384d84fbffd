"""Figures 8, 10, 12 and 14, Table 1, the counts of §4.3 and the ten runs of §4.5. One run (the first seed) is drawn."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import _plot
from .._base import Figure, FigureSpec, Samples, Scale, Table, take
from .._common import columns, percent, plain, series_table, table
from . import measures, scenarios
from .keys import Key

DRAWN = "Drawn is the run of the first seed; the numbers in this text are means over all seeds."

BUFFERS = (("lossless", "w/o packet loss"), ("lossy", "w/ packet loss"))


def figure_8(samples: Samples, _scale: Scale) -> Figure:
    """One bottleneck: rates, queue and utilisation as 10, 20, 30, 20 and 10 flows share it."""
    figure, axes = _plot.panels(3, 2)
    tables = {}
    for column, (buffer, words) in enumerate(BUFFERS):
        sample = samples[Key.ONE_BOTTLENECK, buffer][0]
        times = sample["times_s"]
        for source in (1, 2, 3):
            rate = sample[f"rate_source{source}_bps"] / 1e6
            _plot.steps(axes[0][column], times, rate, f"source {source}", colour=source - 1)
        _plot.steps(axes[1][column], times, sample["backlog"])
        _plot.steps(axes[2][column], times, sample["utilisation"])
        _plot.finish(axes[0][column], f"Rate ({words})", "rate per flow (Mbit/s)", top=1.6)
        _plot.finish(
            axes[1][column], f"Average queue length ({words})", "packets", top=200 if column == 0 else 50
        )
        _plot.finish(axes[2][column], f"Bottleneck utilisation ({words})", "utilisation", top=1.05)
        tables[buffer] = series_table(
            f"Figure 8, {words}",
            times,
            {
                **{f"rate_source{i}_bps": sample[f"rate_source{i}_bps"] for i in (1, 2, 3)},
                "backlog_packets": sample["backlog"],
                "utilisation": sample["utilisation"],
            },
        )
    deviation = measures.one_bottleneck_rates(samples)["worst_phase_deviation"]
    used = measures.one_bottleneck_utilisation(samples)
    queue = measures.one_bottleneck_queue(samples)
    return Figure(
        "One bottleneck: MCA adapts, with high utilisation and a short queue",
        "10, 20, 30, 20 and 10 flows share 10 Mbit/s; each line is the mean of one source's ten flows, over 1 s. "
        "The paper sees rates that follow the fair share, short queues with spikes where ten flows join, and high "
        f"utilisation with both buffers (200 and 50 packets). Here: in the runs without packet loss the phase mean "
        f"that is furthest from its fair share is {percent(deviation)} away (mean over seeds), and the queue holds "
        f"{plain(queue['lowest_phase'])} to {plain(queue['highest_phase'])} packets per flow; the runs with loss are "
        f"not in these numbers. Utilisation is {plain(used['lossless'])} without and {plain(used['lossy'])} with loss. "
        f"{DRAWN}",
        _plot.svg(figure, "figure-8", "Rates, queue and utilisation of one bottleneck over time"),
        tables,
    )


def figure_10(samples: Samples, _scale: Scale) -> Figure:
    """Chain: average rates of the three classes, and one of the four bottlenecks."""
    figure, axes = _plot.panels(3, 2)
    tables = {}
    for column, (buffer, words) in enumerate(BUFFERS):
        sample = samples[Key.CHAIN, buffer][0]
        times = sample["times_s"]
        averages = {hops: _running(sample[f"rate_{hops}_bps"]) for hops in (1, 2, 4)}
        for colour, (hops, name) in enumerate(((1, "one hop"), (2, "two hops"), (4, "four hops"))):
            _plot.steps(axes[0][column], times, averages[hops] / 1e6, name, colour=colour)
            axes[0][column].axhline(
                FAIR_MBPS[hops], color=_plot.COLOURS[colour], linewidth=0.7, linestyle=":"
            )
        shown = CHAIN_SHOWN - 1
        _plot.steps(axes[1][column], times, sample["backlog"][shown])
        _plot.steps(axes[2][column], times, sample["utilisation"][shown])
        _plot.finish(axes[0][column], f"Average rate ({words})", "rate per flow (Mbit/s)", top=1.0)
        _plot.finish(
            axes[1][column], f"Average queue length ({words})", "packets", top=200 if column == 0 else 40
        )
        _plot.finish(axes[2][column], f"Bottleneck utilisation ({words})", "utilisation", top=1.05)
        tables[buffer] = series_table(
            f"Figure 10, {words}",
            times,
            {
                **{f"average_rate_{hops}_hop_bps": averages[hops] for hops in (1, 2, 4)},
                "backlog_packets": sample["backlog"][shown],
                "utilisation": sample["utilisation"][shown],
            },
        )
    first, second = measures.one_to_two_hop(samples), measures.two_to_four_hop(samples)
    return Figure(
        "Chain of four bottlenecks: close to proportional fairness",
        "Average rate at t is what was sent in [0, t] over t, mean of the flows of a class; dotted, the proportionally "
        f"fair rates. Queue and utilisation are those of bottleneck {CHAIN_SHOWN}. The paper reports about 2.5 between "
        f"one and two hops and almost 2 between two and four. Here: {plain(first['lossless'])} and "
        f"{plain(second['lossless'])} without loss, {plain(first['lossy'])} and {plain(second['lossy'])} with loss. "
        f"{DRAWN}",
        _plot.svg(figure, "figure-10", "Average rates, queue and utilisation in the chain over time"),
        tables,
    )


CHAIN_SHOWN = 2
FAIR_MBPS = {1: 4 / 7, 2: 2 / 7, 4: 1 / 7}


def figure_12(samples: Samples, scale: Scale) -> Figure:
    """Star: the multicast flow against 192 unicast flows, and one bottleneck."""
    figure, axes = _plot.panels(3, 2)
    tables = {}
    for column, (buffer, words) in enumerate(BUFFERS):
        sample = samples[Key.STAR, buffer][0]
        times = sample["times_s"]
        multicast = _running(sample["multicast_bps"])
        mean, interval = sample["unicast_mean_bps"], sample["unicast_ci95_bps"]
        rates = axes[0][column]
        rates.fill_between(
            times,
            (mean - interval) / 1e3,
            (mean + interval) / 1e3,
            color=_plot.COLOURS[0],
            alpha=0.3,
            linewidth=0,
        )
        _plot.steps(rates, times, mean / 1e3, "unicast, mean of 192", colour=0)
        _plot.steps(rates, times, multicast / 1e3, "multicast", colour=1)
        _plot.steps(axes[1][column], times, sample["backlog"])
        _plot.steps(axes[2][column], times, sample["utilisation"])
        _plot.finish(rates, f"Average rate ({words})", "rate (kbit/s)", top=500)
        _plot.finish(
            axes[1][column], f"Average queue length ({words})", "packets", top=None if column == 0 else 10
        )
        _plot.finish(axes[2][column], f"Bottleneck utilisation ({words})", "utilisation", top=1.05)
        tables[buffer] = series_table(
            f"Figure 12, {words}",
            times,
            {
                "multicast_average_rate_bps": multicast,
                "unicast_average_rate_bps": mean,
                "unicast_ci95_bps": interval,
                "backlog_packets": sample["backlog"],
                "utilisation": sample["utilisation"],
            },
        )
    without = measures.star_ratio("lossless")(samples)["ratio"]
    with_loss = measures.star_ratio("lossy")(samples)["ratio"]
    return Figure(
        "Star of 64 bottlenecks: no drop to zero",
        "Average sending rate at t of the multicast flow and of the 192 unicast flows: what was sent in [0, t] over t, as "
        f"the paper defines it in its footnote 6, although each flow starts at random within the first "
        f"{scale.seconds(scenarios.STAR_STARTS_S):g} s (band: 95 % confidence interval over flows). Below, the queue and "
        "the utilisation of bottleneck 1. The paper finds the two rates almost equal with both "
        f"buffers. Here the multicast flow gets {plain(without)} times the rate of a unicast flow without loss and "
        f"{plain(with_loss)} times with loss. {DRAWN}",
        _plot.svg(figure, "figure-12", "Average rates, queue and utilisation in the star over time"),
        tables,
    )


def figure_14(samples: Samples, scale: Scale) -> Figure:
    """Tracking: the rate of the multicast flow as the most congested link changes, and whose word is followed."""
    figure, axes = _plot.panels(2, 2, height=2.5)
    tables = {}
    for column, (buffer, words) in enumerate(BUFFERS):
        sample = samples[Key.TRACKING, buffer][0]
        times = sample["times_s"]
        bounds = [scale.seconds(t) for t in scenarios.TRACKING_TIMES_S]
        for row in (0, 1):
            _plot.shade(axes[row][column], list(zip(bounds[1::2], bounds[2::2], strict=False)))
        _plot.steps(axes[0][column], times, sample["multicast_bps"] / 1e3, "multicast", linewidth=0.8)
        levels = measures.unicast_on_worst_link(sample, scale)
        for number, (start, end) in enumerate(itertools.pairwise(bounds)):
            axes[0][column].plot(
                [start, end],
                [levels[number] / 1e3] * 2,
                color=_plot.COLOURS[1],
                linewidth=1.6,
                label="unicast on the worst link" if number == 0 else None,
            )
        followed = axes[1][column]
        when = np.append(sample["switch_s"], sample["end_s"])
        who = np.minimum(np.append(sample["switch_link"], sample["switch_link"][-1:]), ANOTHER)
        followed.step(when, who, where="post", color=_plot.COLOURS[0], linewidth=0.9, label="representative")
        worst = [*scenarios.TRACKING_LINKS, scenarios.TRACKING_LINKS[-1]]
        followed.step(
            bounds,
            worst,
            where="post",
            color=_plot.COLOURS[1],
            linestyle="--",
            label="most congested (Table 1)",
        )
        followed.set_yticks(range(ANOTHER + 1), ["none", "1", "2", "3", "4", "another"])
        _plot.finish(axes[0][column], f"Rate ({words})", "rate (kbit/s)", top=800)
        _plot.finish(followed, f"Representative ({words})", "receiver", top=ANOTHER + 0.3)
        tables[buffer] = series_table(
            f"Figure 14, {words}", times, {"multicast_bps": sample["multicast_bps"]}
        )
        tables[f"{buffer}-representative"] = Table(
            f"Figure 14, representative, {words}",
            {"time_s": sample["switch_s"].tolist(), "receiver": sample["switch_link"].tolist()},
        )
    shares = measures.tracking_share(samples)
    return Figure(
        "Tracking: the multicast rate follows the most congested link",
        "1-s means of the multicast rate; the bars are the mean rate of the unicast flow on the most congested link "
        f"in each period, {_left_out(scale)}. Below, the receiver that the source follows. The paper's Figure 14 "
        "shows the rate always tracking the most congested link, with more oscillation between 400 and 1000 s. "
        f"Here the representative is on the right link for {percent(shares['lossless_worst_period'])} (lossless) and "
        f"{percent(shares['lossy_worst_period'])} (lossy) of the worst period, {_left_out(scale)}. {DRAWN}",
        _plot.svg(figure, "figure-14", "Multicast rate and representative over time"),
        tables,
    )


ANOTHER = 5
"""Level of the receivers that are never behind the most congested link."""


def table_1(samples: Samples, scale: Scale) -> Table:
    """Table 1 with what we saw: how long the representative was on the most congested link."""
    columns: dict[str, list[Any]] = {"period_s": [], "most_congested_link": []}
    times = scenarios.TRACKING_TIMES_S
    columns["period_s"] = [f"{scale.seconds(a):g}–{scale.seconds(b):g}" for a, b in itertools.pairwise(times)]
    columns["most_congested_link"] = list(scenarios.TRACKING_LINKS)
    for buffer, _ in BUFFERS:
        shares = np.mean([measures.period_shares(s, scale) for s in samples[Key.TRACKING, buffer]], axis=0)
        switches = np.mean(
            [measures.period_switches(s, scale) for s in samples[Key.TRACKING, buffer]], axis=0
        )
        columns[f"share_of_time_{buffer}"] = [round(float(share), 3) for share in shares]
        columns[f"switches_per_100_s_{buffer}"] = [round(float(rate), 1) for rate in switches]
    title = "Table 1: the most congested link, and the time that the representative was on it"
    return Table(f"{title} ({_left_out(scale)}; switches are counted in whole periods)", columns)


def _left_out(scale: Scale) -> str:
    """What is left out of each period of Table 1."""
    times = scenarios.TRACKING_TIMES_S
    return (
        f"without the first {measures.after_periods(scale)} of each {scale.seconds(times[1] - times[0]):g} s"
    )


COUNTS: dict[str, tuple[int, int, int]] = {"lossless": (5605, 5135, 5147), "lossy": (5444, 4978, 5057)}
"""§4.3: CIs of the session, per receiver without suppression and per unicast flow, as published."""


def feedback_counts(samples: Samples, scale: Scale) -> Figure:
    """§4.3: CIs of the multicast session, of one receiver without suppression, and of a unicast flow."""
    keys = ("session_indications", "receiver_indications", "unicast_indications")
    names = (
        "sent by the multicast receivers",
        "per receiver without suppression",
        "sent by a unicast receiver",
    )
    rows: list[dict[str, Any]] = []
    for buffer, _ in BUFFERS:
        for number, (key, name) in enumerate(zip(keys, names, strict=True)):
            ours = samples.each(Key.STAR, buffer, take(key))
            rows.append(
                {
                    "buffer": buffer,
                    "congestion_indications": name,
                    "paper": COUNTS[buffer][number],
                    **columns("measured", ours),
                    "runs": len(ours.values),
                }
            )
    title = f"§4.3: congestion indications {scale.counted(scenarios.STAR_S)}"
    figure, axes = _plot.panels(1, 2, height=2.8)
    for panel, (buffer, words) in zip(axes[0], BUFFERS, strict=True):
        mine = [row for row in rows if row["buffer"] == buffer]
        ends: list[_plot.Ends] = [
            None if row["measured_low"] is None else (row["measured_low"], row["measured_high"])
            for row in mine
        ]
        heights = {"measured": ([row["measured"] for row in mine], ends)}
        places = ["session", "per receiver,\nno suppression", "unicast receiver"]
        _plot.bars(panel, places, heights, paper={"measured": COUNTS[buffer]})
        _plot.finish(panel, f"CIs ({words})", "congestion indications", x="", margin=0.02)
    return Figure(
        title,
        "Congestion indications (CIs) of the multicast session, of one of its receivers without suppression, and of a "
        "unicast receiver, means over runs with 95 % intervals, beside the paper's counts.",
        _plot.svg(figure, "feedback-counts", title),
        {"counts": table(title, rows)},
        marks=True,
    )


DYNAMIC_KBPS = (232.0, 10.0)
"""§4.5: mean and standard deviation of the throughput over ten runs, as published."""


def ten_runs(samples: Samples, _scale: Scale) -> Figure:
    """§4.5: throughput of the receivers, sending rate and feedback of each run, and their mean and deviation."""
    runs = samples[Key.DYNAMIC_TREE, "all"]
    columns: dict[str, list[Any]] = {
        "run": [str(number) for number in range(1, len(runs) + 1)],
        "throughput_kbps": [round(s["throughput_bps"] / 1e3, 1) for s in runs],
        "sending_kbps": [round(s["rate_bps"] / 1e3, 1) for s in runs],
        "feedback_packets": [float(round(s["feedback_packets"])) for s in runs],
        "feedback_per_s": [round(s["feedback_packets"] / s["duration_s"], 2) for s in runs],
    }
    for key in ("throughput_kbps", "sending_kbps", "feedback_packets", "feedback_per_s"):
        values = np.array(columns[key], dtype=float)
        columns[key] += [round(float(values.mean()), 2), round(float(values.std(ddof=1)), 2)]
    rates = columns["throughput_kbps"][: len(runs)]
    figure, axes = _plot.panels(1, 1, height=2.6)
    panel = axes[0][0]
    mean, deviation = DYNAMIC_KBPS
    panel.axhspan(mean - deviation, mean + deviation, color=_plot.FAINT, alpha=0.25, zorder=0, linewidth=0)
    panel.axhline(mean, color=_plot.FAINT, linewidth=0.9, linestyle="--", zorder=0, label=_plot.PRINTED)
    _plot.steps(panel, range(1, len(runs) + 1), rates, "run", marker="o", linestyle="", markersize=5)
    top = 1.1 * max(*rates, mean + deviation)
    _plot.finish(
        panel, "Throughput of the multicast flow's receivers", "kbit/s", x="run", margin=0.05, top=top
    )
    panel.set_xticks(range(1, len(runs) + 1))
    columns["run"] += ["mean", "standard deviation"]
    columns["run"].append("paper")
    columns["throughput_kbps"].append(mean)
    columns["sending_kbps"].append(None)
    columns["feedback_packets"].append(3009.0)
    columns["feedback_per_s"].append(None)
    title = "§4.5: the multicast flow in the dynamic tree"
    return Figure(
        title,
        "Each point is a run: the throughput of the receivers while they are in the session, as S004-38 has it. "
        "The paper prints 232 kbit/s with a standard deviation of 10 kbit/s over its ten runs (dashed, "
        "shaded), and 3009 ± 777 feedback packets.",
        _plot.svg(figure, "ten-runs", title),
        {"runs": Table(title, columns)},
        marks=True,
    )


def figure_specs() -> list[FigureSpec]:
    """Everything that is drawn or tabulated, in the order of the paper."""
    return [
        FigureSpec("figure-8", "One bottleneck", (Key.ONE_BOTTLENECK,), figure_8),
        FigureSpec("figure-10", "Chain", (Key.CHAIN,), figure_10),
        FigureSpec("figure-12", "Star", (Key.STAR,), figure_12),
        FigureSpec("feedback-counts", "Congestion indications of §4.3", (Key.STAR,), feedback_counts),
        FigureSpec("table-1", "The most congested link", (Key.TRACKING,), table_1),
        FigureSpec("figure-14", "Tracking", (Key.TRACKING,), figure_14),
        FigureSpec("ten-runs", "Dynamic tree", (Key.DYNAMIC_TREE,), ten_runs),
    ]


def _running(values: Any) -> Any:
    return np.cumsum(np.nan_to_num(values)) / np.arange(1, len(values) + 1)
