"""Figures 4 to 17 and Tables 4 to 8, with both profiles of ndnSieve, and what operations cost.

Curves are those of the first seed, as the paper shows one run; bars, boxes and tables speak of all seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _plot
from .._base import Figure, FigureSpec, Quantity, Sample, Samples, Scale, Table, take
from .._common import columns, plain, series_table, short, table
from . import measures, path_measures, scenarios
from .extracts import BIN_S, FACES, PERCENTILES
from .keys import Key
from .scenarios import CONSUMERS, DATA_BITS, DURATION_S, SETUPS

PRINTED: dict[str, dict[str, tuple[float, ...]]] = {
    "table-4": {
        "ndnsieve": (1.88, 1.88),
        "pcon": (13.19, 13.09),
        "coopcon": (19.68, 19.77),
        "flecom": (6.92, 6.94),
    },
    "table-6": {"ndnsieve": (6.90,), "pcon": (9.78,), "coopcon": (13.89,), "flecom": (5.24,)},
    "table-8": {
        "ndnsieve": (3.03, 37.39, 61.35),
        "pcon": (31.24, 31.69, 18.81),
        "coopcon": (55.78, 45.56, 31.44),
        "flecom": (21.02, 17.20, 23.52),
    },
}
"""Deviations of delay in ms, as published."""

PRINTED_JAIN: dict[str, dict[str, float]] = {
    "table-5": {"ndnsieve": 1.00, "pcon": 0.93, "coopcon": 0.98, "flecom": 1.00},
    "table-7": {"ndnsieve": 0.87, "pcon": 0.84, "flecom": 0.89},
}
"""Average Jain indices, as published; CoopCon's is not given in Table 7."""

SHOWN_JAIN = {"bins_1_s": "of 1 s", "bins_0_1_s": "of 0.1 s", "totals": "of totals"}
"""Ways to take an average Jain index that are drawn; all are tabulated."""

BOX_LINES: dict[str, Any] = {
    **{f"{part}props": {"color": _plot.INK} for part in ("box", "whisker", "cap")},
    "medianprops": {"color": _plot.COLOURS[1]},
}
"""Colours of box plots, of which a page knows the ink."""

MIN_MS = 30.0
"""Lower limit of logarithmic axes of delay: below every round-trip time."""

LOOKS = {"calibrated": "ndnsieve", "literal": "ndnsieve +"}
"""Colours of the two profiles; the others have their schemes'."""

TICKS_MS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000)

NUMBERS = {scene: number for number, scene in enumerate(scenarios.SCENES, 1)}
Draw = Callable[[Samples, Scale], Figure]
Tabulate = Callable[[Samples, Scale], Table]
Values = dict[str, Callable[[Sample], float]]


def _published(setup: str) -> str:
    """The paper's name of a scheme."""
    return "ndnsieve" if setup in ("calibrated", "literal") else setup


def _drawn(drawing: Any, name: str, title: str, words: str, claim: str, tables: dict[str, Table]) -> Figure:
    """A figure beside what the paper says of its own."""
    return Figure(title, f"{words} The paper: {claim}", _plot.svg(drawing, name, title), tables)


def _row(setup: str, consumer: int, values: dict[str, Any]) -> dict[str, Any]:
    """The published values of one consumer of a scheme."""
    return {"scheme": SETUPS[setup].label, "consumer": f"C{consumer + 1}", **values}


def _by_consumer(scene: Key, values: Callable[[str, int], dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each consumer of each scheme."""
    return [_row(setup, i, values(setup, i)) for setup in SETUPS for i in range(CONSUMERS[scene])]


def _means(samples: Samples, experiment: Key, variant: str, values: Values) -> dict[str, Any]:
    """Means over seeds."""
    return {key: short(samples.each(experiment, variant, value).mean) for key, value in values.items()}


# --- curves ----------------------------------------------------------------------------------------------------------


def _sheet() -> tuple[Any, list[Any]]:
    """Six panels, of which the five schemes take all but the last."""
    figure, axes = _plot.panels(3, 2, height=2.1)
    flat = [panel for row in axes for panel in row]
    flat[-1].set_axis_off()
    return figure, flat[: len(SETUPS)]


def throughput(scene: Key, name: str, claim: str) -> Draw:
    """The total over time, and in scenario 3 each consumer's."""
    title = f"Scenario {NUMBERS[scene]}: total throughput of consumers"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        figure, axes = _sheet()
        tables = {}
        top = (
            1.1
            * max(float(samples[scene, setup][0]["throughput"].sum(axis=0).max()) for setup in SETUPS)
            / 1e6
        )
        for panel, (setup, scheme) in zip(axes, SETUPS.items(), strict=True):
            sample = samples[scene, setup][0]
            together = sample["throughput"].sum(axis=0) / 1e6
            _plot.steps(panel, sample["times_s"], together, colour=0)
            mean = samples.each(scene, setup, measures.total(), "Mbit/s")
            _plot.finish(panel, f"{scheme.label}: {plain(mean)} Mbit/s", "Data (Mbit/s)", top=top)
            tables[setup] = series_table(
                f"{title}, {scheme.label}",
                sample["times_s"],
                {
                    "total_mbps": together,
                    **{f"c{i + 1}_mbps": row / 1e6 for i, row in enumerate(sample["throughput"])},
                },
            )
        words = f"Data on the wire over {BIN_S:g} s in the first run; in titles the mean over 20 s with its 95 % interval."
        return _drawn(figure, name, title, words, claim, tables)

    return draw


def interfaces(scene: Key, name: str, claim: str) -> Draw:
    """Traffic of R1's two interfaces over time."""
    title = f"Scenario {NUMBERS[scene]}: throughput of R1's interfaces"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        figure, axes = _sheet()
        tables = {}
        for place, (panel, (setup, scheme)) in enumerate(zip(axes, SETUPS.items(), strict=True)):
            sample = samples[scene, setup][0]
            for number, face in enumerate(FACES):
                _plot.steps(panel, sample["times_s"], sample["faces"][number] / 1e6, face, colour=number)
            part = samples.each(scene, setup, path_measures.share(0.0))
            _plot.finish(
                panel,
                f"{scheme.label}: {plain(part)} by 261",
                "Data (Mbit/s)",
                top=11.0,
                legend=place == 0,
            )
            tables[setup] = series_table(
                f"{title}, {scheme.label}",
                sample["times_s"],
                {f"face_{face}_mbps": sample["faces"][i] / 1e6 for i, face in enumerate(FACES)},
            )
        words = "Data that came to R1 from R2 (260) and R3 (261), in the first run; in titles the share over 20 s in all."
        return _drawn(figure, name, title, words, claim, tables)

    return draw


# --- bars and boxes --------------------------------------------------------------------------------------------------


def delays(scene: Key, name: str, claim: str) -> Draw:
    """Mean delay of each consumer."""
    title = f"Scenario {NUMBERS[scene]}: average delay"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        def values(setup: str, consumer: int) -> dict[str, Any]:
            found = samples.each(scene, setup, measures.delay(consumer), "ms")
            return columns("delay_ms", found)

        rows = _by_consumer(scene, values)
        figure = _bars(scene, rows, "delay_ms", "Delay (ms)", minimum=MIN_MS)
        words = "Means over segments and seeds, with 95 % intervals; the axis is logarithmic."
        return _drawn(figure, name, title, words, claim, {"delays": table(title, rows)})

    return draw


def _bars(
    scene: Key,
    rows: Sequence[dict[str, Any]],
    value: str,
    y: str,
    *,
    minimum: float | None = None,
    paper: str | None = None,
) -> Any:
    """Schemes side by side at each consumer; with a minimum, on a logarithmic axis that begins there."""
    figure, axes = _plot.panels(1, 1, height=3.0)
    panel = axes[0][0]
    heights = {
        scheme.label: (
            [row[value] for row in rows if row["scheme"] == scheme.label],
            [_ends(row, value) for row in rows if row["scheme"] == scheme.label],
        )
        for scheme in SETUPS.values()
    }
    places = [f"C{i + 1}" for i in range(CONSUMERS[scene])]
    if minimum is not None:
        _plot.logarithmic(panel, "y")
    marks = {
        scheme.label: [row[paper] if paper else None for row in rows if row["scheme"] == scheme.label]
        for scheme in SETUPS.values()
    }
    _plot.bars(panel, places, heights, colours=[LOOKS.get(setup, setup) for setup in SETUPS], paper=marks)
    _plot.finish(panel, "", y, x="", margin=0.02)
    if minimum is not None:
        panel.set_ylim(bottom=minimum)
        _plot.whole_ticks(panel, TICKS_MS)
    return figure


def _ends(row: dict[str, Any], name: str) -> _plot.Ends:
    """The interval of a column of a row; None without one."""
    return None if row[f"{name}_low"] is None else (row[f"{name}_low"], row[f"{name}_high"])


def boxes(scene: Key, name: str, claim: str) -> Draw:
    """Quartiles of each consumer's delay, with the 5th and 95th percentile as whiskers."""
    title = f"Scenario {NUMBERS[scene]}: delay, quartiles"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        count = CONSUMERS[scene]
        figure, axes = _plot.panels(1, count, height=3.2)
        rows = []
        for i in range(count):
            drawn = []
            for setup, scheme in SETUPS.items():
                found = np.mean([sample["boxes_ms"][i] for sample in samples[scene, setup]], axis=0)
                drawn.append(_box(scheme.label.replace(", ", ",\n"), found))
                values = {
                    f"p{percentile}_ms": short(float(value))
                    for percentile, value in zip(PERCENTILES, found, strict=True)
                }
                rows.append(_row(setup, i, values))
            panel = axes[0][i]
            _plot.logarithmic(panel, "y")
            panel.bxp(drawn, showfliers=False, widths=0.6, **BOX_LINES)
            panel.tick_params(axis="x", labelrotation=90)
            _plot.finish(panel, f"C{i + 1}", "Delay (ms)" if i == 0 else "", x="", margin=0.02)
            panel.set_ylim(bottom=MIN_MS)
            _plot.whole_ticks(panel, TICKS_MS)
        words = (
            "Boxes from the first to the third quartile, whiskers to the 5th and 95th percentile, of the delays of all "
            "segments; means over seeds; the axis is logarithmic."
        )
        return _drawn(figure, name, title, words, claim, {"boxes": table(title, rows)})

    return draw


def _box(label: str, percentiles: Any) -> dict[str, Any]:
    low, first, middle, third, high = (float(value) for value in percentiles)
    return {"label": label, "whislo": low, "q1": first, "med": middle, "q3": third, "whishi": high}


def losses(scene: Key, name: str, claim: str) -> Draw:
    """Data that found queues full."""
    title = f"Scenario {NUMBERS[scene]}: loss"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        rows: list[dict[str, Any]] = []
        for setup, scheme in SETUPS.items():
            found = samples.each(
                scene, setup, lambda s: measures.loss(s) * DATA_BITS / DURATION_S / 1e6, "Mbit/s"
            )
            packets = samples.each(scene, setup, measures.loss, "packets")
            rows.append(
                {
                    "scheme": scheme.label,
                    **columns("loss_mbps", found),
                    "packets": short(packets.mean),
                    "max_packets": max(packets.values),
                }
            )
        figure, axes = _plot.panels(1, 1, height=2.8)
        panel = axes[0][0]
        heights = {"loss": ([row["loss_mbps"] for row in rows], [_ends(row, "loss_mbps") for row in rows])}
        _plot.bars(panel, [scheme.label for scheme in SETUPS.values()], heights)
        top = 1.1 * max(row["loss_mbps"] for row in rows)
        _plot.finish(panel, "", "Loss (Mbit/s)", x="", margin=0.02, legend=False, top=max(top, 0.1))
        words = "Data that queues dropped because they were full, means over seeds."
        return _drawn(figure, name, title, words, claim, {"losses": table(title, rows)})

    return draw


# --- tables ----------------------------------------------------------------------------------------------------------


def deviations(scene: Key, name: str) -> Draw:
    """Standard deviations of delay beside the published ones."""
    title = f"Scenario {NUMBERS[scene]}: standard deviation of delay"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        def values(setup: str, consumer: int) -> dict[str, Any]:
            found = samples.each(scene, setup, measures.deviation(consumer), "ms")
            published = PRINTED[name][_published(setup)][consumer]
            return {"published_ms": published, **_spread(found, "deviation_ms")}

        rows = _by_consumer(scene, values)
        figure = _bars(
            scene, rows, "deviation_ms", "standard deviation (ms)", minimum=1.0, paper="published_ms"
        )
        return Figure(
            title,
            "Means over seeds with 95 % intervals, beside the values of the paper's table; the axis is logarithmic.",
            _plot.svg(figure, name, title),
            {"deviations": table(title, rows)},
            marks=True,
        )

    return draw


def _spread(found: Quantity, name: str) -> dict[str, Any]:
    """Mean, interval, median and range over seeds."""
    return {
        **columns(name, found),
        "median": short(measures.middle(found)),
        "minimum": short(min(found.values)),
        "most": short(max(found.values)),
    }


def fairness(scene: Key, name: str) -> Draw:
    """Average Jain indices by every reading of `average`, beside the published ones."""
    readings: Values = {
        "bins_1_s": measures.jain_in_bins(1.0),
        "bins_0_1_s": measures.jain_in_bins(0.1),
        "bins_1_s_from_2_s": measures.jain_in_bins(1.0, 2.0),
        "bins_1_s_of_10_s": measures.jain_in_bins(1.0, 0.0, 10.0),
        "bins_1_s_of_9_s": measures.jain_in_bins(1.0, 0.0, 9.0),
        "totals": measures.jain_of_totals(),
        "totals_of_10_s": measures.jain_of_totals(0.0, 10.0),
    }

    title = f"Scenario {NUMBERS[scene]}: average Jain index of consumers"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        rows = [
            {
                "scheme": scheme.label,
                "published": PRINTED_JAIN[name].get(_published(setup)),
                **_means(samples, scene, setup, readings),
            }
            for setup, scheme in SETUPS.items()
        ]
        figure, axes = _plot.panels(1, 1, height=2.8)
        panel = axes[0][0]
        heights = {words: [row[key] for row in rows] for key, words in SHOWN_JAIN.items()}
        _plot.bars(
            panel,
            [row["scheme"] for row in rows],
            {words: (values, [None] * len(values)) for words, values in heights.items()},
            paper={next(iter(heights)): [row["published"] for row in rows]},
        )
        _plot.finish(panel, "", "Jain index", x="", margin=0.02, top=1.2)
        return Figure(
            title,
            "The paper does not say over which intervals it averages: means over seeds for three ways, beside the values of "
            "its table; all ways are in the data.",
            _plot.svg(figure, name, title),
            {"fairness": table(title, rows)},
            marks=True,
        )

    return draw


def _delay(sample: Sample) -> float:
    return float(sample["delay_ms"].mean())


def _deviation(sample: Sample) -> float:
    return float(sample["std_ms"].mean())


def profiles(samples: Samples, _scale: Scale) -> Table:
    """Both profiles of ndnSieve side by side, in all three scenarios, beside the others."""
    values: Values = {
        "throughput_mbps": measures.total(),
        "throughput_10_s_mbps": measures.total(0.0, 10.0),
        "unsteady_mbps": measures.unsteady(2.0),
        "delay_ms": _delay,
        "deviation_ms": _deviation,
        "jain_of_totals": measures.jain_of_totals(),
        "lost_packets": measures.loss,
        "moves": path_measures.moved(),
    }
    share = {"share_of_261": path_measures.share(0.0)}
    rows = [
        {
            "scenario": NUMBERS[scene],
            "scheme": scheme.label,
            **_means(samples, scene, setup, values),
            **(dict.fromkeys(share) if scene == Key.DUMBBELL else _means(samples, scene, setup, share)),
        }
        for scene in scenarios.SCENES
        for setup, scheme in SETUPS.items()
    ]
    return table("Both profiles, and the others", rows)


def chance(samples: Samples, _scale: Scale) -> Table:
    """Effect of the random jitter of Interests: deviation of delay, and Jain's index, with and without it."""
    values: Values = {
        "throughput_mbps": measures.total(),
        "delay_ms": _delay,
        "deviation_ms": _deviation,
        "jain_bins_1_s": measures.jain_in_bins(1.0),
    }
    rows = []
    for scene in scenarios.SCENES:
        for setup, scheme in SETUPS.items():
            usual = _means(samples, scene, setup, values)
            exact = _means(samples, Key.EXACT, f"{scene}: {setup}", values)
            both: dict[str, Any] = {}
            for name in values:
                both |= {name: usual[name], f"{name}_exact": exact[name]}
            rows.append({"scenario": NUMBERS[scene], "scheme": scheme.label, **both})
    return table("Interests with a random delay of up to 0.1 ms, and exact ones", rows)


def readings(samples: Samples, _scale: Scale) -> Table:
    """PCON with other windows, and with one of its reactions only."""
    values: Values = {
        "throughput_mbps": measures.total(),
        "delay_ms": _delay,
        "deviation_ms": _deviation,
        "jain_of_totals": measures.jain_of_totals(),
        "lost_packets": measures.loss,
    }
    rows = []
    for scene in scenarios.SCENES:
        cases = [("PCON, BIC 0.5", scene, "pcon")] + [
            (setup.label, Key.READINGS, f"{scene}: {name}") for name, setup in scenarios.READINGS.items()
        ]
        for label, experiment, variant in cases:
            found = _means(samples, experiment, variant, values)
            rows.append({"scenario": NUMBERS[scene], "reading": label, **found})
    return table("PCON otherwise", rows)


def complexity(samples: Samples, _scale: Scale) -> Table:
    """Operations a second of nodes and controller, beside the packets that pass."""
    seconds = dict.fromkeys((*scenarios.SCENES, Key.RATES), DURATION_S) | {Key.SIZES: scenarios.SIZES_S}
    cases = [
        *(
            (scene, setup, f"scenario {NUMBERS[scene]}, {SETUPS[setup].label}")
            for scene in scenarios.SCENES
            for setup in SETUPS
        ),
        *((Key.RATES, rate, f"scenario 1, links of {rate} Mbit/s") for rate in scenarios.RATES),
        *((Key.SIZES, count, f"{count} routers in dumbbells") for count in scenarios.SIZES),
    ]
    rows = []
    for experiment, variant, label in cases:
        row: dict[str, Any] = {"case": label}
        for column, key in {
            "data_per_s": "data",
            "interests_per_s": "interests",
            "statuses_per_s": "statuses",
            "signals_per_s": "signals",
            "node_operations_per_s": "operations",
            "controller_operations_per_s": "controller_operations",
            "filter_per_s": "controller_filter_operations",
            "search_per_s": "controller_search_operations",
            "switch_per_s": "controller_switch_operations",
        }.items():
            found = samples.each(experiment, variant, take(key))
            row[column] = short(found.mean / seconds[experiment])
        row["commands"] = short(samples.each(experiment, variant, lambda s: s["controller_commands"]).mean)
        rows.append(row)
    return table("Operations a second, where Data are counted at each node that sends them on", rows)


def _spec(
    name: str,
    scene: Key,
    words: str,
    make: Callable[..., Callable[[Samples, Scale], Figure | Table]],
    *claim: str,
) -> FigureSpec:
    """What is made of one scenario; `claim` is what the paper says of it."""
    return FigureSpec(name, f"Scenario {NUMBERS[scene]}, {words}", (scene,), make(scene, name, *claim))


def figure_specs() -> list[FigureSpec]:
    """Everything that is drawn or tabulated, in the order of the paper."""
    one, two, three = scenarios.SCENES
    return [
        _spec("figure-4", one, "throughput", throughput, "PCON jitters, the others do not."),
        _spec("figure-5", one, "delay", delays, "ndnSieve is lowest for both."),
        _spec("table-4", one, "deviation of delay", deviations),
        _spec("figure-6", one, "boxes of delay", boxes, "as Table 4 and Figure 5."),
        _spec("table-5", one, "fairness", fairness),
        _spec("figure-7", one, "loss", losses, "none at all."),
        _spec(
            "figure-8",
            two,
            "throughput",
            throughput,
            "PCON is lowest and most unstable; ndnSieve fluctuates a little at 1 s.",
        ),
        _spec(
            "figure-9",
            two,
            "interfaces",
            interfaces,
            "ndnSieve moves all traffic to 261 at 1 s; the others hardly use it.",
        ),
        _spec("figure-10", two, "delay", delays, "ndnSieve is lowest."),
        _spec("table-6", two, "deviation of delay", deviations),
        _spec("figure-11", two, "boxes of delay", boxes, "those of FleCom and ndnSieve approximate a line."),
        _spec("figure-12", two, "loss", losses, "none at all."),
        _spec(
            "figure-13",
            three,
            "throughput",
            throughput,
            "ndnSieve is steady and high with a switch at 4.1 s, PCON rises, CoopCon is low.",
        ),
        _spec("figure-14", three, "interfaces", interfaces, "all but CoopCon use both."),
        _spec("table-7", three, "fairness", fairness),
        _spec("figure-15", three, "delay", delays, "ndnSieve is lowest for C1 and C2."),
        _spec("figure-16", three, "boxes of delay", boxes, "those of ndnSieve are consistently narrow."),
        _spec("table-8", three, "deviation of delay", deviations),
        _spec("figure-17", three, "loss", losses, "none at all."),
        FigureSpec("profiles", "Both profiles, and the others", scenarios.SCENES, profiles),
        FigureSpec("readings", "PCON otherwise", (*scenarios.SCENES, Key.READINGS), readings),
        FigureSpec("chance", "With and without chance", (*scenarios.SCENES, Key.EXACT), chance),
        FigureSpec("complexity", "Operations", (*scenarios.SCENES, Key.RATES, Key.SIZES), complexity),
    ]
