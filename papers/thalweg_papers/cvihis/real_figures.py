"""Simulation above, emulation below: rates over time; shares of all tests; a table of every test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _plot
from .._base import Figure, Pair, PairFigureSpec, Sample, Table
from .._common import series_table, short, table
from . import measures, path_measures, scenarios
from .figures import curve, panel_of
from .keys import Key
from .real_measures import each, test_rates

NAMES = {
    "video": "stream",
    "tcp": "TCP",
    "one": "first",
    "other": "second",
    "yields": "background",
    "takes": "real-time",
    "v1": "stream 1",
    "v2": "stream 2",
    "v3": "stream 3",
    "v4": "stream 4",
}


def _flows(sample: Sample) -> dict[str, str]:
    found = [key.removeprefix("rate ") for key in sample if key.startswith("rate ")]
    return {name: NAMES.get(name, name) for name in found}


def _over_time(
    name: str,
    title: str,
    caption: str,
    experiment: Key,
    wanted: Sequence[str],
    heading: Callable[[str], str],
    spans: Sequence[tuple[float, float]] = (),
) -> PairFigureSpec:
    """Rates over time of up to three tests, in both worlds."""

    def draw(pair: Pair) -> Figure | None:
        variants = [v for v in pair.variants(experiment) if v in wanted]
        if not variants:
            return None
        figure, axes = _plot.panels(2, len(variants), height=2.4)
        tables = {}
        for column, variant in enumerate(variants):
            worlds = (("simulated", pair.simulated), ("emulated", pair.emulated))
            runs = {world: samples[experiment, variant][0] for world, samples in worlds}
            names = _flows(runs["simulated"])
            top = 1.1 * max(float(curve(run, name).max()) for run in runs.values() for name in names)
            for row, (world, run) in enumerate(runs.items()):
                _plot.shade(axes[row][column], list(spans))
                panel_of(axes[row][column], run, names, f"{world}, {heading(variant)}", top=top)
                tables[f"{world}-{variant.replace(' ', '-')}"] = series_table(
                    f"{world}, {heading(variant)}",
                    run["times_s"],
                    {f"{name}_mbps": curve(run, name) for name in names},
                )
        return Figure(
            title, caption, _plot.svg(figure, name, f"{title}: simulated above, emulated below"), tables
        )

    return PairFigureSpec(name, draw)


def figure_4(pair: Pair) -> Figure | None:
    """The stream's share over the round-trip time, both worlds."""
    variants = pair.variants(Key.FRIENDLINESS)
    if not variants:
        return None
    figure, axes = _plot.panels(1, 1, height=3.0)
    panel = axes[0][0]
    rows = []
    worlds = {"simulated": pair.simulated, "emulated": pair.emulated}
    for colour, (world, samples) in enumerate(worlds.items()):
        shares = each(samples, Key.FRIENDLINESS, lambda s, _: measures.share(s), variants)
        trips = [scenarios.FRIENDLY[v][1] + 4 * (2 * colour - 1) for v in variants]
        panel.plot(
            trips,
            shares,
            linestyle="",
            marker=_plot.MARKERS[colour],
            color=_plot.COLOURS[colour],
            markersize=5,
            label=world,
        )
        by_trip = {
            ms: [share for v, share in zip(variants, shares, strict=True) if scenarios.FRIENDLY[v][1] == ms]
            for ms in scenarios.FRIENDLY_MS
        }
        known = {ms: float(np.mean(values)) for ms, values in by_trip.items() if values}
        _plot.steps(panel, list(known), list(known.values()), colour=colour, linewidth=0.9, linestyle=":")
        rows.append(shares)
    panel.axhline(0.5, color=_plot.FAINT, linewidth=0.8)
    _plot.finish(panel, "share of the stream", "share", x="round-trip time (ms)", top=1.0, margin=0.05)
    tests = [
        {"test": v, "simulated": short(a), "emulated": short(b)}
        for v, a, b in zip(variants, *rows, strict=True)
    ]
    return Figure(
        "Beside NewReno of the kernel and of the simulation",
        f"{len(variants)} of the 26 tests; dotted, means. The paper: acceptable on average, less with short round trips, "
        "1.6 times as much in the worst case.",
        _plot.svg(figure, "figure-4", "Share of the stream over round-trip time, simulated and emulated"),
        {"tests": table("Shares", tests)},
    )


def beside(pair: Pair) -> Table | None:
    """NewReno and CUBIC as Linux has them."""
    variants = pair.variants(Key.BESIDE)
    if not variants:
        return None
    rows = []
    for variant in variants:
        kind, kbps, rtt = variant.split()
        shares = {
            world: each(samples, Key.BESIDE, lambda s, _: measures.share(s), [variant])[0]
            for world, samples in (("simulated", pair.simulated), ("emulated", pair.emulated))
        }
        rows.append(
            {
                "beside": {"linux": "NewReno", "cubic": "CUBIC"}[kind],
                "link_kbps": int(kbps),
                "rtt_ms": int(rtt),
                **{world: short(share) for world, share in shares.items()},
            }
        )
    return table(
        "Share of the real-time mode beside TCP as Linux has it: SACK, delayed acknowledgements", rows
    )


def table_2(pair: Pair) -> Table | None:
    """The printed rates beside ours."""
    rows = []
    for row in pair.variants(Key.TWO_QUEUES):
        first, second, _ = scenarios.TABLE_2[row]
        simulated, emulated = (
            {name: rates.mean for name, rates in test_rates(samples[Key.TWO_QUEUES, row][0]).items()}
            for samples in (pair.simulated, pair.emulated)
        )
        for i, (printed, _) in enumerate(path_measures.PRINTED_KBPS[row], 1):
            rows.append(
                {
                    "row": row,
                    "links_kbps": f"{first}/{second}",
                    "stream": i,
                    "paper_kbps": printed,
                    "simulated_kbps": round(simulated[f"v{i}"]),
                    "emulated_kbps": round(emulated[f"v{i}"]),
                }
            )
    return table("Table 2: rates of real-time streams over two queues", rows) if rows else None


def tests(pair: Pair) -> Table | None:
    """Mean rates of all flows of every test, from 50 s on."""
    rows: list[dict[str, Any]] = []
    for (experiment, variant), runs in pair.emulated.by_case.items():
        simulated = test_rates(pair.simulated[experiment, variant][0])
        for name, rates in test_rates(runs[0]).items():
            rows.append(
                {
                    "test": f"{experiment}, {variant}",
                    "flow": NAMES.get(name, name),
                    "simulated_kbps": round(simulated[name].mean),
                    "emulated_kbps": round(rates.mean),
                    "emulated_over_simulated": short(rates.mean / max(simulated[name].mean, 1.0)),
                }
            )
    return table("Mean rates from 50 s on, test by test", rows) if rows else None


def figure_specs() -> tuple[PairFigureSpec, ...]:
    """In the order of the paper."""
    return (
        _over_time(
            "figure-3",
            "The background mode yields to a connection and comes back",
            "3 Mbit/s; the connection, 200 ms, is active in the shaded span. The paper: back-off in all cases, faster "
            "increase with short round trips.",
            Key.FIGURE_3,
            scenarios.FIGURE_3_MS,
            lambda v: f"{v} ms",
            (scenarios.TCP_S,),
        ),
        PairFigureSpec("figure-4", figure_4),
        _over_time(
            "cubic",
            "Beside NewReno and CUBIC as Linux has them",
            "3 Mbit/s, 50 packets. The paper: CUBIC is somewhat more aggressive than NewReno.",
            Key.BESIDE,
            ("linux 3000 20", "cubic 3000 20", "cubic 3000 200"),
            lambda v: f"{'CUBIC' if v.startswith('cubic') else 'NewReno'}, {v.split()[2]} ms",
        ),
        _over_time(
            "figure-5",
            "Two real-time streams share, even with different round trips",
            "4 Mbit/s. The paper: 2.085 and 1.935 Mbit/s at 60 and 180 ms, 1.7 times as much at 10 and 180 ms.",
            Key.ITSELF,
            (scenarios.FIGURE_5, scenarios.WORST),
            lambda v: " and ".join(v.split()[:2]) + " ms",
        ),
        _over_time(
            "figure-6",
            "Four real-time streams come and go",
            "10 Mbit/s, 30 ms. The paper: acceptable.",
            Key.FOUR,
            ("30",),
            lambda v: f"{v} ms",
        ),
        _over_time(
            "figure-7",
            "The background mode yields to the real-time mode, unless that has a much longer round trip",
            "4 Mbit/s; the background stream has 50 ms, the real-time stream comes at 50 s.",
            Key.MIXED,
            tuple(measures.FIGURE_7.values()),
            lambda v: f"{v.split()[2]} ms",
        ),
        PairFigureSpec("table-2", table_2),
        _over_time(
            "figure-8",
            "With two queues rates vary more",
            "4 and 6 Mbit/s; the third stream, over the second link only, is there in the shaded span.",
            Key.FIGURE_8,
            ("4000",),
            lambda _: "queues of 40 packets",
            (scenarios.FIGURE_8_S,),
        ),
        PairFigureSpec("beside", beside),
        PairFigureSpec("tests", tests),
    )
