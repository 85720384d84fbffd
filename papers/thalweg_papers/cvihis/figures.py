"""Figures 3 to 9 and Table 2, and a table of the effects of the kind of TCP.

The curves are those of the first seed, in means over 5 s; tables and captions speak of all seeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _plot
from .._base import Figure, FigureSpec, Quantity, Sample, Samples, Scale, Table
from .._common import columns, inside, series_table, short, table
from . import measures, path_measures, scenarios
from .keys import Key

BACKGROUND, PUSHED = 3, 5
"""Colours of the background mode; the real-time mode, and a stream that changes, have the scheme's."""

COLOUR_OF = {"video": "cvihis", "tcp": "reno"}
"""Colours of a stream and a connection; where streams meet they are told apart by number."""

WINDOW = 5
"""Intervals of 1 s over which a curve is smoothed."""


def curve(sample: Sample, name: str) -> Any:
    """A flow's rate in Mbit/s, each value the mean of the last five."""
    values = np.nan_to_num(sample[f"rate {name}"]) / 1e6
    sums = np.cumsum(np.concatenate([[0.0], values]))
    counts = np.minimum(np.arange(1, len(values) + 1), WINDOW)
    last = np.arange(1, len(values) + 1)
    return (sums[last] - sums[last - counts]) / counts


def panel_of(
    panel: Any,
    sample: Sample,
    names: dict[str, str],
    title: str,
    top: float | None = None,
    colours: dict[str, int | str] | None = None,
) -> None:
    """Rates of a run over time, each flow a line; in the colours given, or by number."""
    for number, (name, label) in enumerate(names.items()):
        colour = number if colours is None else colours[name]
        _plot.steps(panel, sample["times_s"], curve(sample, name), label, colour=colour)
    _plot.finish(panel, title, "rate (Mbit/s)", top=top)
    panel.set_xlim(0, float(sample["times_s"][-1]))


def _columns(sample: Sample, names: dict[str, str]) -> dict[str, Any]:
    return {f"{name}_mbps": curve(sample, name) for name in names}


def figure_3(samples: Samples, _scale: Scale) -> Figure:
    """The background mode yields, with three round trips."""
    figure, axes = _plot.panels(1, 3, height=2.6)
    tables = {}
    names = {"video": "background", "tcp": "NewReno"}
    for panel, ms in zip(axes[0], scenarios.FIGURE_3_MS, strict=True):
        sample = samples[Key.FIGURE_3, ms][0]
        _plot.shade(panel, [scenarios.TCP_S])
        panel_of(panel, sample, names, f"{ms} ms", top=3.4, colours={**COLOUR_OF, "video": BACKGROUND})
        tables[f"{ms}-ms"] = series_table(
            f"Round trip of {ms} ms", sample["times_s"], _columns(sample, names)
        )
    found = measures.recovery(samples)
    times = ", ".join(f"{found[f'back_{ms}'].mean:.0f} s" for ms in scenarios.FIGURE_3_MS)
    return Figure(
        "The background mode yields to a connection and comes back, sooner with short round trips",
        "3 Mbit/s; the connection, 200 ms, is active in the shaded span. The paper: back-off in all cases, and "
        "CVIHIS increases its "
        f"rate faster if round trips are short. Here it is back at 90 % after {times} in the mean of all seeds.",
        _plot.svg(
            figure,
            "figure-3",
            "Rates of a background stream and a connection over time, for three round trips",
        ),
        tables,
    )


WORST_RATIO = 1.6
"""§4.3: "about 1.6 times as much" in the worst of the 26 tests."""


def figure_4(samples: Samples, _scale: Scale) -> Figure:
    """The real-time mode's share beside NewReno, all 26 tests."""
    figure, axes = _plot.panels(1, 1, height=3.0)
    panel = axes[0][0]
    rows = []
    for number, kbps in enumerate(scenarios.FRIENDLY_KBPS):
        cases = [v for v, case in scenarios.FRIENDLY.items() if case[0] == kbps]
        # side by side, since points of six capacities lie on each other
        aside = 3.0 * (number - (len(scenarios.FRIENDLY_KBPS) - 1) / 2)
        x = [scenarios.FRIENDLY[v][1] + aside for v in cases]
        shares = [samples.each(Key.FRIENDLINESS, v, measures.share) for v in cases]
        panel.plot(
            x,
            [q.mean for q in shares],
            linestyle="",
            marker=_plot.MARKERS[number % len(_plot.MARKERS)],
            color=_plot.COLOURS[number % len(_plot.COLOURS)],
            markersize=5,
            label=f"{kbps / 1000:g} Mbit/s",
        )
        rows += [
            {"test": v, **columns("share", q), "ratio": short(q.mean / (1 - q.mean))}
            for v, q in zip(cases, shares, strict=True)
        ]
    trend = [float(measures.friendly_shares(samples, ms).mean()) for ms in scenarios.FRIENDLY_MS]
    _plot.steps(panel, scenarios.FRIENDLY_MS, trend, colour="cvihis", linewidth=1.3, linestyle=":")
    panel.axhline(0.5, color=_plot.FAINT, linewidth=0.8)
    for share in (WORST_RATIO / (1 + WORST_RATIO), 1 / (1 + WORST_RATIO)):
        panel.axhline(share, color=_plot.INK, linewidth=0.8, linestyle="--", zorder=0)
    _plot.finish(panel, "share of the stream", "share", x="round-trip time (ms)", top=1.0, margin=0.05)
    panel.set_xticks(scenarios.FRIENDLY_MS)
    ratios = measures.by_seed(
        samples, Key.FRIENDLINESS, scenarios.FRIENDLY, lambda s, _: measures.ratio(s, "video", "tcp")
    )
    return Figure(
        "Beside NewReno the real-time mode gets less with short round trips, more with long ones",
        "Each point is the mean over seeds of one of 26 tests; dotted, the mean; dashed, the paper's worst ratio. The "
        "paper: acceptable on "
        "average, 1.6 times as much "
        "in the worst case. Here ratios go "
        f"from {ratios.min(axis=1).mean():.2f} to {ratios.max(axis=1).mean():.2f}.",
        _plot.svg(figure, "figure-4", "Share of the stream over round-trip time"),
        {"tests": table("Shares of the 26 tests", rows)},
        marks=True,
    )


def tcp_variants(samples: Samples, _scale: Scale) -> Table:
    """The competing TCP has more influence than the round-trip time."""
    rows = []
    for kind in scenarios.TCP_VARIANTS:
        ratios = {}
        for rtt in scenarios.FRIENDLY_MS:
            wanted = [f"{kind} {kbps} {rtt}" for kbps in scenarios.VARIED_KBPS]
            logs = np.log(
                measures.by_seed(
                    samples, Key.TCP_VARIANTS, wanted, lambda s, _: measures.ratio(s, "video", "tcp")
                )
            )
            ratios[f"ratio_at_{rtt}_ms"] = short(float(np.exp(logs.mean())))
        share = measures.quantity(measures.varied_share(samples, kind))
        rows.append({"beside": kind, **ratios, **columns("share", share)})
    return table(
        "The real-time mode beside kinds of TCP: rate over the connection's, geometric mean of three capacities",
        rows,
    )


FIGURE_5_MBPS = (2.085, 1.935)
"""Caption of Fig. 5: mean rates with round trips of 60 and 180 ms."""


def figure_5(samples: Samples, _scale: Scale) -> Figure:
    """Two real-time streams."""
    figure, axes = _plot.panels(1, 2, height=2.6)
    tables = {}
    names = {"one": "first", "other": "second"}
    for panel, variant in zip(axes[0], (scenarios.FIGURE_5, scenarios.WORST), strict=True):
        sample = samples[Key.ITSELF, variant][0]
        first, second, _ = variant.split()
        panel_of(panel, sample, names, f"{first} and {second} ms")
        if variant == scenarios.FIGURE_5:
            _plot.printed(panel, [0.97 * float(sample["times_s"][-1])] * 2, FIGURE_5_MBPS)
            panel.legend(loc="lower right", frameon=False)
        tables[f"{first}-{second}-ms"] = series_table(
            f"{first} and {second} ms", sample["times_s"], _columns(sample, names)
        )
    rows = []
    for variant in scenarios.ITSELF:
        ratio = samples.each(Key.ITSELF, variant, lambda s: measures.ratio(s, "one", "other"))
        rows.append({"test": variant, **columns("ratio", ratio)})
    tables["tests"] = table("Rate of the first over that of the second, 30 tests", rows)
    found = measures.figure_5(samples)["ratio"].mean, measures.worst_pair(samples)["ratio"].mean
    return Figure(
        "Two real-time streams share, even with different round trips",
        "4 Mbit/s. The paper: 2.085 and 1.935 Mbit/s (1.08) at 60 and 180 ms, 1.7 at 10 and 180 ms. Here "
        f"{found[0]:.2f} and {found[1]:.2f}.",
        _plot.svg(figure, "figure-5", "Rates of two real-time streams over time"),
        tables,
        marks=True,
    )


FOUR = {f"v{i}": f"stream {i}" for i in range(1, 5)}


def figure_6(samples: Samples, _scale: Scale) -> Figure:
    """Four streams come and go."""
    figure, axes = _plot.panels(1, 1, height=2.8)
    sample = samples[Key.FOUR, "30"][0]
    panel_of(axes[0][0], sample, FOUR, "10 Mbit/s, 30 ms")
    found = measures.four(samples)["jain"]
    return Figure(
        "Four real-time streams come and go",
        "They join at 0, 40, 80 and 120 s and leave at 160, 200 and 240 s. The paper: acceptable, and slower "
        "with long round trips. "
        f"Here the minimum Jain index of the second half of a phase is {found.mean:.3f}.",
        _plot.svg(figure, "figure-6", "Rates of four real-time streams over time"),
        {"rates": series_table("Rates", sample["times_s"], _columns(sample, FOUR))},
    )


def figure_7(samples: Samples, _scale: Scale) -> Figure:
    """The share that a real-time stream leaves to a background stream."""
    figure, axes = _plot.panels(1, 2, height=2.8)
    panel, grid = axes[0]
    curves = {}
    for colour, (ms, variant) in enumerate(measures.FIGURE_7.items()):
        sample = samples[Key.MIXED, variant][0]
        curves[f"{ms}_ms"] = curve(sample, "yields")
        _plot.steps(panel, sample["times_s"], curves[f"{ms}_ms"], f"{ms} ms", colour=colour)
    _plot.finish(panel, "background, 50 ms, against real-time of", "rate (Mbit/s)")
    panel.set_xlim(0, measures.END_S)
    rows = []
    for colour, background in enumerate(scenarios.MIXED_MS):
        shares = []
        for real in scenarios.MIXED_MS:
            variants = [f"{kbps} {background} {real}" for kbps in (2000, 4000)]
            values = measures.by_seed(samples, Key.MIXED, variants, lambda s, v: measures.left(s, v, 200))
            found = measures.quantity(values.mean(axis=1))
            shares.append(found.mean)
            rows.append(
                {
                    "background_ms": background,
                    "real_time_ms": real,
                    **columns("share", found),
                }
            )
        _plot.steps(
            grid,
            scenarios.MIXED_MS,
            shares,
            f"{background} ms",
            colour=colour,
            marker=_plot.MARKERS[colour],
            markersize=4,
        )
    _plot.finish(
        grid,
        "share left after 150 s; background of",
        "share",
        x="round trip of the real-time stream (ms)",
        margin=0.03,
    )
    grid.set_xticks(scenarios.MIXED_MS)
    return Figure(
        "The background mode yields to the real-time mode, unless that has a much longer round trip",
        "The real-time stream comes at 50 s. Left: 4 Mbit/s; right: means of 2 and 4 Mbit/s and all seeds. The "
        "paper: as expected with equal "
        "round trips, slowly with longer ones of the real-time stream, not at all with ten times as long.",
        _plot.svg(figure, "figure-7", "Rates of a background stream beside a real-time stream"),
        {
            "rates": series_table(
                "Background stream at 50 ms", samples[Key.MIXED, measures.FIGURE_7[10]][0]["times_s"], curves
            ),
            "shares": table("Share that is left after 150 s", rows),
        },
    )


def table_2(samples: Samples, _scale: Scale) -> Figure:
    """Six rows, the printed values beside ours."""
    rows: list[dict[str, Any]] = []
    for row, printed in path_measures.PRINTED_KBPS.items():
        first, second, _ = scenarios.TABLE_2[row]
        for i, (rate, sd) in enumerate(printed, 1):
            runs = samples[Key.TWO_QUEUES, row]
            here = Quantity(tuple(measures.rate(s, f"v{i}") / 1e3 for s in runs))
            spread = Quantity(tuple(measures.deviation(s, f"v{i}") / 1e3 for s in runs))
            rows.append(
                {
                    "row": row,
                    "links_kbps": f"{first}/{second}",
                    "stream": i,
                    "paper_kbps": rate,
                    **columns("here_kbps", here),
                    "paper_sd_kbps": sd,
                    "here_sd_kbps": round(spread.mean),
                }
            )
    title = "Rates and standard deviations of real-time streams over two queues"
    figure, axes = _plot.panels(1, 2, height=2.8)
    places = list(path_measures.PRINTED_KBPS)
    for panel, key, words in zip(axes[0], ("kbps", "sd_kbps"), ("rate", "standard deviation"), strict=True):
        heights: dict[str, tuple[list[float], list[_plot.Ends]]] = {}
        paper: dict[str, list[float | None]] = {}
        for stream in (1, 2, 3):
            found = {row["row"]: row for row in rows if row["stream"] == stream}
            name = f"stream {stream}"
            heights[name] = (
                [found[place][f"here_{key}"] if place in found else 0 for place in places],
                [
                    (found[place]["here_kbps_low"], found[place]["here_kbps_high"])
                    if place in found and key == "kbps" and found[place]["here_kbps_low"] is not None
                    else None
                    for place in places
                ],
            )
            paper[name] = [found[place][f"paper_{key}"] if place in found else None for place in places]
        _plot.bars(panel, places, heights, paper=paper)
        _plot.finish(panel, words, "kbit/s", x="row of Table 2", margin=0.02)
    return Figure(
        title,
        "Means over seeds beside the values of the paper's Table 2; rates with 95 % intervals.",
        _plot.svg(figure, "table-2", title),
        {"rates": table(title, rows)},
        marks=True,
    )


def figure_8(samples: Samples, _scale: Scale) -> Figure:
    """A second queue for a while."""
    figure, axes = _plot.panels(1, 1, height=2.8)
    sample = samples[Key.FIGURE_8, "4000"][0]
    names = {f"v{i}": f"stream {i}" for i in (1, 2, 3)}
    _plot.shade(axes[0][0], [scenarios.FIGURE_8_S])
    panel_of(axes[0][0], sample, names, "4 and 6 Mbit/s, queues of 40 packets")
    found = path_measures.figure_8(samples)["ratio"]
    return Figure(
        "With two queues rates vary more",
        "The third stream, over the second link only, is there in the shaded span. The paper: the others vary "
        "more then. Here their "
        f"standard deviation is at least {found.mean:.2f} times that before.",
        _plot.svg(figure, "figure-8", "Rates of three real-time streams over time"),
        {"rates": series_table("Rates", sample["times_s"], _columns(sample, names))},
    )


def _mode(name: str) -> str:
    """A variant of the routes as a legend has it."""
    return name.removeprefix("wide ").replace("_", "-").replace(" pushed", ", pushed")


def figure_9(samples: Samples, _scale: Scale) -> Figure:
    """The way becomes longer and narrower, twice."""
    figure, axes = _plot.panels(1, 2, height=2.6)
    tables = {}
    networks = (
        (("real_time", "background"), "Figure 9", 1000),
        (("wide background", "wide background pushed"), "4 Mbit/s, 100 ms more", 4600),
    )
    for panel, (names, title, top) in zip(axes[0], networks, strict=True):
        _plot.shade(panel, list(scenarios.OFF_S))
        for name in names:
            sample = samples[Key.ROUTES, name][0]
            kbps = curve(sample, "video") * 1e3
            colour = PUSHED if "pushed" in name else BACKGROUND if "background" in name else "cvihis"
            _plot.steps(panel, sample["times_s"], kbps, _mode(name), colour=colour)
            tables[name.replace(" ", "-")] = series_table(name, sample["times_s"], {"rate_kbps": kbps})
        _plot.finish(panel, title, "rate (kbit/s)", top=top)
        panel.set_xlim(0, 400)
    found = path_measures.longer_in_background(samples)
    return Figure(
        "The real-time mode follows a longer route; the background mode may need a push",
        "The direct route is off in the shaded spans. Left, Fig. 9: 700 kbit/s, and 400 on a longer way round. The paper "
        "shows the real-time mode; the background mode follows too, since a full queue takes longer than the detour. Right, "
        f"4 Mbit/s and 100 ms more: the background mode has {found['plain'].mean:.0%} of that route, and "
        f"{found['pushed'].mean:.0%} with a push of 1.001, only slightly over one, as the paper suggests.",
        _plot.svg(figure, "figure-9", "Rates over time while routes change"),
        tables,
    )


def modes(samples: Samples, _scale: Scale) -> Figure:
    """The mode changes while data flow."""
    figure, axes = _plot.panels(1, 3, height=2.6)
    tables = {}
    for panel, (variant, span) in zip(axes[0], scenarios.MODE_S.items(), strict=True):
        sample = samples[Key.MODES, variant][0]
        times = np.arange(1.0, measures.END_S + 0.5)
        rates = {
            name: np.array(
                [np.mean(sample[f"rate {name}"][inside(sample["times_s"], t - 1, t)]) for t in times]
            )
            / 1e6
            for name in ("video", "tcp")
        }
        _plot.shade(panel, [span])
        for name, label in (("video", "stream"), ("tcp", "NewReno")):
            _plot.steps(panel, times, rates[name], label, colour=COLOUR_OF[name])
        _plot.finish(
            panel,
            f"back at {span[1]:g} s{variant.removeprefix('soon').removeprefix('late')}",
            "rate (Mbit/s)",
            top=4.6,
        )
        tables[variant.replace(", ", "-").replace(" ", "-")] = series_table(
            variant, times, {f"{k}_mbps": v for k, v in rates.items()}
        )
    return Figure(
        "The mode changes on the fly; who has yielded for long may not come back",
        "4 Mbit/s, 60 ms; in background mode in the shaded span. The rate never jumps. A stream that was driven "
        "to its minimum rate of one packet per "
        "second measures too little of the queue to compete again; with ten packets per second it comes back. The "
        "paper has no such test.",
        _plot.svg(figure, "modes", "Rates of a stream that changes its mode, and of a connection"),
        tables,
    )


def figure_specs() -> tuple[FigureSpec, ...]:
    """All of them, in the order of the paper."""
    return (
        FigureSpec("figure-3", "Back-off of the background mode", (Key.FIGURE_3,), figure_3),
        FigureSpec("figure-4", "Real-time mode against NewReno", (Key.FRIENDLINESS,), figure_4),
        FigureSpec("tcp-variants", "Real-time mode against kinds of TCP", (Key.TCP_VARIANTS,), tcp_variants),
        FigureSpec("figure-5", "Real-time mode against itself", (Key.ITSELF,), figure_5),
        FigureSpec("figure-6", "Four real-time streams", (Key.FOUR,), figure_6),
        FigureSpec("figure-7", "Background against real-time mode", (Key.MIXED,), figure_7),
        FigureSpec("table-2", "Two queues", (Key.TWO_QUEUES,), table_2),
        FigureSpec("figure-8", "A second queue for a while", (Key.FIGURE_8,), figure_8),
        FigureSpec("figure-9", "Rerouting", (Key.ROUTES,), figure_9),
        FigureSpec("modes", "The mode changes on the fly", (Key.MODES,), modes),
    )
