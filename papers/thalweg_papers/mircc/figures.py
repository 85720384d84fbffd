"""Figures 3 and 4, the grid that the paper did not run, what decides between two explanations, and what is not stated.

The curves are those of one run (phase 0, start at C), as the paper shows one; tables and captions speak of all eight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _plot
from .._base import Figure, FigureSpec, Sample, Samples, Scale, Table, take
from .._common import columns, series_table, short, table
from . import measures, others, scenarios
from .keys import Key
from .scenarios import CLOCKS_MS, FAIR_PER_S

DRAWN = scenarios.RUNS[0]
TOP_PER_S = 1150.0


def figure_3(samples: Samples, _scale: Scale) -> Figure:
    """Generated rates when consumers and routers have the same clock."""
    late = measures.converged(samples, Key.EQUAL_CLOCKS, "250")["convergence_s"]
    return _four_panels(
        samples,
        "figure-3",
        Key.EQUAL_CLOCKS,
        "Equal clocks: up to 250 ms both share, from 500 ms on neither hears of the other",
        lambda ms: f"tick = T = {ms} ms",
        "The paper: around 1000 and then 600 packets/s at 100 ms; the same at 250 ms, with about 2 s to converge; at 500 "
        f"and 750 ms both keep 1000. Here convergence at 250 ms takes {late.mean:.1f} s in the mean of eight runs; "
        f"{_sentence(samples, Key.EQUAL_CLOCKS)}",
    )


def figure_4(samples: Samples, _scale: Scale) -> Figure:
    """Generated rates when consumers tick every 100 ms."""
    return _four_panels(
        samples,
        "figure-4",
        Key.FINE_CONSUMER_CLOCK,
        "Consumers tick every 100 ms: both share, whatever the routers' interval",
        lambda ms: f"tick = 100 ms, T = {ms} ms",
        "The paper: (a) is Figure 3(a), (b) is like Figure 3(b), and (c) and (d) work well, completely different from "
        f"Figures 3(c) and 3(d). Here {_sentence(samples, Key.FINE_CONSUMER_CLOCK)}",
    )


def _sentence(samples: Samples, experiment: Key) -> str:
    """The mean rates of a figure's four panels."""
    words = [
        f"{measures.each(samples, experiment, str(ms), measures.mean_of_both).mean:.0f} ({letter})"
        for ms, letter in zip(CLOCKS_MS, "abcd", strict=True)
    ]
    return f"the mean of both between 5.5 and 8 s is {', '.join(words[:-1])} and {words[-1]} packets/s."


def _four_panels(
    samples: Samples, name: str, experiment: Key, title: str, words: Any, caption: str
) -> Figure:
    figure, axes = _plot.panels(2, 2, height=2.5)
    tables = {}
    for place, (ms, letter) in enumerate(zip(CLOCKS_MS, "abcd", strict=True)):
        sample = samples[experiment, f"{ms} {DRAWN}"][0]
        panel = axes[place // 2][place % 2]
        _plot.shade(panel, [(scenarios.SECOND_S, scenarios.LEAVES_S)])
        _curves(panel, sample)
        _plot.finish(
            panel, f"({letter}) {words(ms)}", "Interests (packets/s)", top=TOP_PER_S, legend=place == 0
        )
        panel.set_xlim(0, scenarios.END_S)
        tables[letter] = series_table(
            f"{title}, {words(ms)}",
            sample["times_s"],
            {f"c{i + 1}_packets_per_s": _active(sample, i) for i in (0, 1)},
        )
    return Figure(
        title,
        "Interests that each consumer generates, over 0.1 s; C2 is active in the shaded span; dotted, 600 packets/s. "
        + caption,
        _plot.svg(figure, name, f"Interest rates of both consumers over time: {title}"),
        tables,
    )


def _curves(panel: Any, sample: Sample) -> None:
    """Both consumers' rates and the fair one; the first is seen in the gaps of the second where they are equal."""
    for i, style in ((0, "-"), (1, (0, (3.0, 2.0)))):
        _plot.steps(
            panel,
            sample["times_s"],
            _active(sample, i),
            f"C{i + 1}",
            colour=i,
            linewidth=1.6,
            linestyle=style,
        )
    panel.axhline(FAIR_PER_S, color=_plot.COLOURS[2], linewidth=0.7, linestyle=":")


def _active(sample: Sample, consumer: int) -> Any:
    """Generated rate while the consumer is active, and nothing otherwise."""
    leaves = measures.leaves_s(sample)
    begin, end = ((scenarios.FIRST_S, leaves + 2.0), (scenarios.SECOND_S, leaves))[consumer]
    times = sample["times_s"]
    return np.where((times > begin + 1e-9) & (times <= end + 1e-9), sample["generated"][consumer], np.nan)


# --- the grid --------------------------------------------------------------------------------------------------------


def grid(samples: Samples, _scale: Scale) -> Figure:
    """Sixteen panels: consumer clock by row, router interval by column."""
    figure, axes = _plot.panels(4, 4, width=11.0, height=1.9)
    rows = []
    for i, tick in enumerate(CLOCKS_MS):
        for j, interval in enumerate(CLOCKS_MS):
            case = f"{tick},{interval}"
            sample = samples[Key.GRID, f"{case} {DRAWN}"][0]
            panel = axes[i][j]
            _plot.shade(panel, [(scenarios.SECOND_S, scenarios.LEAVES_S)])
            _curves(panel, sample)
            first, last = (i, j) == (0, 0), i == len(CLOCKS_MS) - 1
            _plot.finish(
                panel,
                f"tick {tick}, T {interval} ms",
                "packets/s" if j == 0 else "",
                x="time (s)" if last else "",
                top=TOP_PER_S,
                legend=first,
            )
            panel.set_xlim(0, scenarios.END_S)
            rows.append({"tick_ms": tick, "t_ms": interval, **_summary(samples, Key.GRID, case)})
    fails = [
        f"{r['tick_ms']} ms" for r in rows if r["t_ms"] == 100 and r["generated_mean"] > measures.FAILS_ABOVE
    ]
    return Figure(
        "Every consumer clock with every router interval: the consumers' clock decides",
        "As Figures 3 and 4; the diagonal is Figure 3 and the first row Figure 4, the other nine panels are new. "
        f"With T = 100 ms both keep their rate at a consumer clock of {', '.join(fails) or 'no value'}: a router that looks "
        "oftener than bursts come mostly sees none, and offers all again. With a clock of 100 ms they share at each T.",
        _plot.svg(figure, "grid", "Interest rates of both consumers for sixteen pairs of clocks"),
        {"grid": table("Consumer clock and router interval", rows)},
    )


def _summary(samples: Samples, experiment: Key, case: str) -> dict[str, Any]:
    """The results of a case over its runs, while both are active."""
    runs = measures.runs(samples, experiment, case)
    rates = [measures.rate(s, i, measures.both_s(s)) for s in runs for i in (0, 1)]
    settled = [measures.convergence_s(s) for s in runs]
    done = [t for t in settled if not np.isnan(t)]
    return {
        "runs": len(runs),
        "c1_alone": short(float(np.mean([measures.alone(s) for s in runs]))),
        "generated_mean": short(float(np.mean(rates))),
        "generated_min": short(min(rates)),
        "generated_max": short(max(rates)),
        "received_total": short(float(np.mean([measures.received_total(s) for s in runs]))),
        "policed": short(float(np.mean([np.sum(s["policed"]) for s in runs]))),
        "runs_converged": len(done),
        "convergence_s": short(float(np.mean(done))) if done else None,
    }


def cases(samples: Samples, _scale: Scale) -> Table:
    """All cases of the paper, with the ranges over their runs."""
    rows = []
    for experiment, figure, names in (
        (Key.EQUAL_CLOCKS, "3", scenarios.EQUAL),
        (Key.FINE_CONSUMER_CLOCK, "4", scenarios.FINE),
    ):
        for letter, case in zip("abcd", names, strict=True):
            what = names[case]
            rows.append(
                {
                    "figure": f"{figure}({letter})",
                    "tick_ms": what.tick_ms,
                    "t_ms": what.interval_ms,
                    **_summary(samples, experiment, case),
                    "c1_after": short(
                        measures.each(
                            samples, experiment, case, lambda s: measures.rate(s, 0, measures.AFTER_S)
                        ).mean
                    ),
                }
            )
    return table(
        "Figures 3 and 4 in numbers (packets/s; means over runs, minimum and maximum of a consumer)", rows
    )


# --- two explanations ------------------------------------------------------------------------------------------------


def explanation(samples: Samples, _scale: Scale) -> Figure:
    """Mean rate of both over the clock interval: by depth of the buckets, and by round-trip time."""
    figure, axes = _plot.panels(1, 2, height=3.4)
    tables: dict[str, Table] = {}
    by_depth, by_rtt = axes[0]
    for colour, depth in enumerate(scenarios.DEPTHS):
        name = "unlimited" if depth == 0 else f"{depth}"
        rows = _sweep(samples, Key.CLOCK_AND_DEPTH, f"{depth}")
        _line(by_depth, rows, name, colour)
        if depth:
            _bound(by_depth, 1e3 * 2 * depth / scenarios.CORE_PER_S, colour)
        tables[f"depth-{name}"] = table(f"Buckets of {name} packets", rows)
    for colour, rtt in enumerate(scenarios.CORES_MS):
        rows = _sweep(samples, Key.CLOCK_AND_RTT, f"{rtt:g}")
        _line(by_rtt, rows, f"{rtt:g} s", colour)
        _bound(by_rtt, 1e3 * rtt, colour)
        tables[f"rtt-{rtt:g}"] = table(f"Round-trip time {rtt:g} s", rows)
    top = 1.1 * scenarios.ACCESS_PER_S
    _plot.finish(
        by_depth,
        "Depth of the buckets (RTT 0.4 s)",
        "Interests per consumer (packets/s)",
        x="tick = T (ms)",
        top=top,
    )
    _plot.finish(
        by_rtt,
        "Round-trip time (buckets of 200)",
        "Interests per consumer (packets/s)",
        x="tick = T (ms)",
        top=top,
    )
    for panel in (by_depth, by_rtt):
        panel.set_xlim(0, max(scenarios.SWEEP_MS))
    found = measures.separation(samples)
    return Figure(
        "What fails is the bucket, not the interval against the round-trip time",
        "Mean rate of both consumers in the last 2.5 s of 25 s together; 600 is a fair share, 1000 as if alone. Dotted on "
        "the left, the clock interval above which two buckets let through less than the bottleneck carries, 2·depth/1200; "
        "on the right, the round-trip time, which is the bound that the paper suggests. Whether a run fails is foretold by "
        f"the bucket in {100 * found['right_by_bucket'].mean:.0f} % of all runs, by interval and round-trip time in "
        f"{100 * found['right_by_interval'].mean:.0f} %.",
        _plot.svg(
            figure,
            "explanation",
            "Mean rate over the clock interval, by depth of buckets and by round-trip time",
        ),
        tables,
    )


def _sweep(samples: Samples, experiment: Key, prefix: str) -> list[dict[str, Any]]:
    rows = []
    for ms in scenarios.SWEEP_MS:
        runs = measures.runs(samples, experiment, f"{prefix},{ms}", measures.SWEEP_RUNS)
        values = [measures.mean_of_both(s) for s in runs]
        rows.append(
            {
                "tick_ms": ms,
                "mean": short(float(np.mean(values))),
                "minimum": short(min(values)),
                "maximum": short(max(values)),
                "received_total": short(float(np.mean([measures.received_total(s) for s in runs]))),
            }
        )
    return rows


def _line(panel: Any, rows: list[dict[str, Any]], name: str, colour: int) -> None:
    ticks = [row["tick_ms"] for row in rows]
    _plot.steps(panel, ticks, [row["mean"] for row in rows], name, colour=colour, marker="o", markersize=2.5)


def _bound(panel: Any, ms: float, colour: int) -> None:
    if ms <= max(scenarios.SWEEP_MS):
        panel.axvline(ms, color=_plot.COLOURS[colour], linewidth=0.8, linestyle=":")


def one_thing_changed(samples: Samples, _scale: Scale) -> Table:
    """Cases in which the two explanations predict different results."""
    foretold = {
        "unlimited depth, 500 ms": ("fails", "works"),
        "unlimited depth, 750 ms": ("fails", "works"),
        "depth 50, 100 ms": ("works", "fails"),
        "depth 150, 250 ms": ("works", "fails"),
        "340 ms": ("works", "fails"),
        "360 ms": ("works", "fails"),
        "RTT 1.2 s, 500 ms": ("works", "fails"),
        "RTT 1.2 s, 500 ms, longer": ("works", "fails"),
        "RTT 1.2 s, 100 ms, longer": ("works", "works"),
    }
    rows = []
    for case, (interval, bucket) in foretold.items():
        summary = _summary(samples, Key.ONE_THING_CHANGED, case)
        rows.append(
            {
                "case": case,
                "if_interval_above_rtt": interval,
                "if_bucket_below_burst": bucket,
                "found": "fails" if summary["generated_mean"] > measures.FAILS_ABOVE else "works",
                **summary,
            }
        )
    return table("One thing changed at a time (packets/s while both are active)", rows)


def not_stated(samples: Samples, _scale: Scale) -> Table:
    """An exact clock, and the scheme without its cap."""
    rows = []
    for experiment, case in (
        *((Key.EXACT_CLOCK, case) for case in scenarios.EXACT),
        *((Key.NO_CAP, case) for case in scenarios.NO_CAP),
    ):
        runs = measures.runs(samples, experiment, case)
        rows.append(
            {
                "experiment": experiment,
                "case": case,
                **_summary(samples, experiment, case),
                "maximum_r_at_c1": short(float(np.mean([np.nanmax(s["stamping_rate"]) for s in runs]))),
            }
        )
    return table("An exact clock, and a rate without an upper bound (packets/s while both are active)", rows)


def methods(samples: Samples, _scale: Scale) -> Table:
    """Data that two consumers receive with each method, in the paper's duration and in five minutes."""
    rows = []
    for scheme in others.METHODS:
        row: dict[str, Any] = {"scheme": scheme}
        for length in others.LENGTHS:
            row |= _means(samples, Key.METHODS, f"{scheme} {length}", length)
        rows.append(row)
    return table("Other methods in the paper's set-up (Data/s of both, variation over time, delay)", rows)


def nack_clocks(samples: Samples, _scale: Scale) -> Table:
    """Data that two consumers receive with NACK, by their clock and by the form of the routers' limits."""
    rows = []
    for ms in others.CLOCKS_MS:
        row: dict[str, Any] = {"tick_ms": ms}
        for form in others.FORMS:
            row |= _means(samples, Key.NACK_CLOCKS, f"{form} {ms}", form)
        rows.append(row)
    return table("NACK under coarse clocks (Data/s of both, variation over time, delay)", rows)


def _means(samples: Samples, experiment: Key, variant: str, prefix: str) -> dict[str, Any]:
    """Means over seeds with their intervals."""
    found: dict[str, Any] = {}
    for key in ("total", "variation", "delay_ms"):
        quantity = samples.each(experiment, variant, take(key))
        found |= columns(f"{prefix}_{key}", quantity)
    return found


def figure_specs() -> list[FigureSpec]:
    """Everything that is drawn or tabulated, in the order of the paper."""
    return [
        FigureSpec("figure-3", "Equal clocks", (Key.EQUAL_CLOCKS,), figure_3),
        FigureSpec("figure-4", "Consumers tick every 100 ms", (Key.FINE_CONSUMER_CLOCK,), figure_4),
        FigureSpec("cases", "Figures 3 and 4 in numbers", (Key.EQUAL_CLOCKS, Key.FINE_CONSUMER_CLOCK), cases),
        FigureSpec("grid", "Every clock with every interval", (Key.GRID,), grid),
        FigureSpec(
            "explanation", "Interval or bucket", (Key.CLOCK_AND_DEPTH, Key.CLOCK_AND_RTT), explanation
        ),
        FigureSpec(
            "one-thing-changed", "One thing changed at a time", (Key.ONE_THING_CHANGED,), one_thing_changed
        ),
        FigureSpec(
            "not-stated", "An exact clock, and no upper bound", (Key.EXACT_CLOCK, Key.NO_CAP), not_stated
        ),
        FigureSpec("methods", "Other methods", (Key.METHODS,), methods),
        FigureSpec("nack-clocks", "NACK under coarse clocks", (Key.NACK_CLOCKS,), nack_clocks),
    ]
