"""Figures 4 to 17 and Tables 4 to 8, with both profiles of ndnSieve, and what operations cost.

Curves are those of the first seed, as the paper shows one run; bars, boxes and tables speak of all seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _plot
from .._base import Figure, Plate, Quantity, Samples, Scale, Table, take
from .._common import plain, series_table, short, table
from . import measures, path_measures, scenarios
from .extracts import BIN_S, FACES, PERCENTILES
from .scenarios import CONSUMERS, DATA_BITS, DURATION_S, WAYS

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

LEAST_MS = 30.0
"""Where logarithmic axes of delay begin: below every round-trip time."""

LOOKS = {"calibrated": "ndnsieve", "literal": "ndnsieve +"}
"""Colours of the two profiles; the others have their schemes'."""

TICKS_MS = (30, 50, 100, 200, 500, 1000, 2000)

NUMBERS = {scene: number for number, scene in enumerate(scenarios.SCENES, 1)}
Draw = Callable[[Samples, Scale], Figure]
Tabulate = Callable[[Samples, Scale], Table]


def _published(way: str) -> str:
    """The paper's name of a scheme."""
    return "ndnsieve" if way in ("calibrated", "literal") else way


# --- curves ----------------------------------------------------------------------------------------------------------


def _sheet() -> tuple[Any, list[Any]]:
    """Six panels, of which the five schemes take all but the last."""
    figure, axes = _plot.panels(3, 2, height=2.1)
    flat = [panel for row in axes for panel in row]
    flat[-1].set_axis_off()
    return figure, flat[: len(WAYS)]


def throughput(scene: str, name: str, claim: str) -> Draw:
    """The total over time, and in scenario 3 each consumer's."""
    title = f"Scenario {NUMBERS[scene]}: total throughput of consumers"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        figure, axes = _sheet()
        tables = {}
        top = 1.1 * max(float(samples[scene, way][0]["throughput"].sum(axis=0).max()) for way in WAYS) / 1e6
        for panel, (way, scheme) in zip(axes, WAYS.items(), strict=True):
            sample = samples[scene, way][0]
            together = sample["throughput"].sum(axis=0) / 1e6
            _plot.steps(panel, sample["times_s"], together, colour=0)
            mean = samples.each(scene, way, measures.total(), "Mbit/s")
            _plot.finish(panel, f"{scheme.label}: {plain(mean)} Mbit/s", "Data (Mbit/s)", top=top)
            tables[way] = series_table(
                f"{title}, {scheme.label}",
                sample["times_s"],
                {
                    "total_mbps": together,
                    **{f"c{i + 1}_mbps": row / 1e6 for i, row in enumerate(sample["throughput"])},
                },
            )
        words = f"Data on the wire over {BIN_S:g} s in the first run; in titles the mean over 20 s with its 95 % interval."
        return Figure(title, f"{words} The paper: {claim}", _plot.svg(figure, name, title), tables)

    return draw


def interfaces(scene: str, name: str, claim: str) -> Draw:
    """What R1's two interfaces carry over time."""
    title = f"Scenario {NUMBERS[scene]}: throughput of R1's interfaces"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        figure, axes = _sheet()
        tables = {}
        for place, (panel, (way, scheme)) in enumerate(zip(axes, WAYS.items(), strict=True)):
            sample = samples[scene, way][0]
            for number, face in enumerate(FACES):
                _plot.steps(panel, sample["times_s"], sample["faces"][number] / 1e6, face, colour=number)
            part = samples.each(scene, way, path_measures.share(0.0))
            _plot.finish(
                panel,
                f"{scheme.label}: share of 261 {plain(part)}",
                "Data (Mbit/s)",
                top=11.0,
                legend=place == 0,
            )
            tables[way] = series_table(
                f"{title}, {scheme.label}",
                sample["times_s"],
                {f"face_{face}_mbps": sample["faces"][i] / 1e6 for i, face in enumerate(FACES)},
            )
        words = "Data that came to R1 from R2 (260) and R3 (261), in the first run; in titles the share over 20 s in all."
        return Figure(title, f"{words} The paper: {claim}", _plot.svg(figure, name, title), tables)

    return draw


# --- bars and boxes --------------------------------------------------------------------------------------------------


def delays(scene: str, name: str, claim: str) -> Draw:
    """Mean delay of each consumer."""
    title = f"Scenario {NUMBERS[scene]}: average delay"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        rows = []
        for way, scheme in WAYS.items():
            for i in range(CONSUMERS[scene]):
                found = samples.each(scene, way, measures.delay(i), "ms")
                rows.append(
                    {
                        "scheme": scheme.label,
                        "consumer": f"C{i + 1}",
                        "delay_ms": short(found.mean),
                        "ci95_ms": short(found.ci95),
                    }
                )
        figure = _bars(scene, rows, "delay_ms", "ci95_ms", "Delay (ms)", logarithmic=True)
        words = "Means over segments and seeds, with 95 % intervals; the axis is logarithmic."
        return Figure(
            title,
            f"{words} The paper: {claim}",
            _plot.svg(figure, name, title),
            {"delays": table(title, rows)},
        )

    return draw


def _bars(
    scene: str, rows: Sequence[dict[str, Any]], value: str, half: str, y: str, *, logarithmic: bool = False
) -> Any:
    """Schemes side by side at each consumer."""
    figure, axes = _plot.panels(1, 1, height=3.0)
    panel = axes[0][0]
    heights = {
        scheme.label: (
            [row[value] for row in rows if row["scheme"] == scheme.label],
            [row[half] or 0.0 for row in rows if row["scheme"] == scheme.label],
        )
        for scheme in WAYS.values()
    }
    places = [f"C{i + 1}" for i in range(CONSUMERS[scene])]
    if logarithmic:
        _plot.logarithmic(panel, "y")
    _plot.bars(panel, places, heights, colours=[LOOKS.get(way, way) for way in WAYS])
    _plot.finish(panel, "", y, x="", margin=0.02)
    if logarithmic:
        panel.set_ylim(bottom=LEAST_MS)
        _plot.whole_ticks(panel, TICKS_MS)
    return figure


def boxes(scene: str, name: str, claim: str) -> Draw:
    """Quartiles of each consumer's delay, with the 5th and 95th percentile as whiskers."""
    title = f"Scenario {NUMBERS[scene]}: delay, quartiles"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        count = CONSUMERS[scene]
        figure, axes = _plot.panels(1, count, height=3.2)
        rows = []
        for i in range(count):
            drawn = []
            for way, scheme in WAYS.items():
                found = np.mean([sample["boxes_ms"][i] for sample in samples[scene, way]], axis=0)
                drawn.append(_box(scheme.label.replace(", ", ",\n"), found))
                rows.append(
                    {
                        "scheme": scheme.label,
                        "consumer": f"C{i + 1}",
                        **{
                            f"p{percentile}_ms": short(float(value))
                            for percentile, value in zip(PERCENTILES, found, strict=True)
                        },
                    }
                )
            panel = axes[0][i]
            _plot.logarithmic(panel, "y")
            panel.bxp(drawn, showfliers=False, medianprops={"color": _plot.COLOURS[0]}, widths=0.6)
            panel.tick_params(axis="x", labelrotation=90)
            _plot.finish(panel, f"C{i + 1}", "Delay (ms)" if i == 0 else "", x="", margin=0.02)
            panel.set_ylim(bottom=LEAST_MS)
            _plot.whole_ticks(panel, TICKS_MS)
        words = (
            "Boxes from the first to the third quartile, whiskers to the 5th and 95th percentile, of the delays of all "
            "segments; means over seeds; the axis is logarithmic."
        )
        return Figure(
            title,
            f"{words} The paper: {claim}",
            _plot.svg(figure, name, title),
            {"boxes": table(title, rows)},
        )

    return draw


def _box(label: str, percentiles: Any) -> dict[str, Any]:
    low, first, middle, third, high = (float(value) for value in percentiles)
    return {"label": label, "whislo": low, "q1": first, "med": middle, "q3": third, "whishi": high}


def losses(scene: str, name: str, claim: str) -> Draw:
    """Data that found queues full."""
    title = f"Scenario {NUMBERS[scene]}: loss"

    def draw(samples: Samples, _scale: Scale) -> Figure:
        rows: list[dict[str, Any]] = []
        for way, scheme in WAYS.items():
            found = samples.each(
                scene, way, lambda s: measures.loss(s) * DATA_BITS / DURATION_S / 1e6, "Mbit/s"
            )
            packets = samples.each(scene, way, measures.loss, "packets")
            rows.append(
                {
                    "scheme": scheme.label,
                    "loss_mbps": short(found.mean),
                    "ci95_mbps": short(found.ci95),
                    "packets": short(packets.mean),
                    "most_packets": max(packets.values),
                }
            )
        figure, axes = _plot.panels(1, 1, height=2.8)
        panel = axes[0][0]
        heights = {"loss": ([row["loss_mbps"] for row in rows], [row["ci95_mbps"] or 0.0 for row in rows])}
        _plot.bars(panel, [scheme.label for scheme in WAYS.values()], heights)
        top = 1.1 * max(mean + half for mean, half in zip(*heights["loss"], strict=True))
        _plot.finish(panel, "", "Loss (Mbit/s)", x="", margin=0.02, legend=False, top=max(top, 0.1))
        words = "Data that queues dropped because they were full, means over seeds."
        return Figure(
            title,
            f"{words} The paper: {claim}",
            _plot.svg(figure, name, title),
            {"losses": table(title, rows)},
        )

    return draw


# --- tables ----------------------------------------------------------------------------------------------------------


def deviations(scene: str, name: str) -> Tabulate:
    """Standard deviations of delay beside the published ones."""

    def tabulate(samples: Samples, _scale: Scale) -> Table:
        rows = []
        for way, scheme in WAYS.items():
            for i in range(CONSUMERS[scene]):
                found = samples.each(scene, way, measures.deviation(i), "ms")
                rows.append(
                    {
                        "scheme": scheme.label,
                        "consumer": f"C{i + 1}",
                        "published_ms": PRINTED[name][_published(way)][i],
                        **_spread(found, "deviation_ms"),
                    }
                )
        return table(f"Scenario {NUMBERS[scene]}: standard deviation of delay", rows)

    return tabulate


def _spread(found: Quantity, name: str) -> dict[str, Any]:
    """Mean, interval, median and range over seeds."""
    return {
        name: short(found.mean),
        "ci95": short(found.ci95),
        "median": short(measures.middle(found)),
        "least": short(min(found.values)),
        "most": short(max(found.values)),
    }


def fairness(scene: str, name: str) -> Tabulate:
    """Average Jain indices by every reading of `average`, beside the published ones."""
    readings = {
        "bins_1_s": measures.jain_in_bins(1.0),
        "bins_0_1_s": measures.jain_in_bins(0.1),
        "bins_1_s_from_2_s": measures.jain_in_bins(1.0, 2.0),
        "bins_1_s_of_10_s": measures.jain_in_bins(1.0, 0.0, 10.0),
        "bins_1_s_of_9_s": measures.jain_in_bins(1.0, 0.0, 9.0),
        "totals": measures.jain_of_totals(),
        "totals_of_10_s": measures.jain_of_totals(0.0, 10.0),
    }

    def tabulate(samples: Samples, _scale: Scale) -> Table:
        rows = [
            {
                "scheme": scheme.label,
                "published": PRINTED_JAIN[name].get(_published(way)),
                **{
                    reading: short(samples.each(scene, way, value).mean)
                    for reading, value in readings.items()
                },
            }
            for way, scheme in WAYS.items()
        ]
        return table(f"Scenario {NUMBERS[scene]}: average Jain index of consumers", rows)

    return tabulate


def profiles(samples: Samples, _scale: Scale) -> Table:
    """Both profiles of ndnSieve side by side, in all three scenarios, beside the others."""
    rows = []
    for scene in scenarios.SCENES:
        for way, scheme in WAYS.items():
            values: dict[str, Callable[[Any], float]] = {
                "throughput_mbps": measures.total(),
                "throughput_10_s_mbps": measures.total(0.0, 10.0),
                "unsteady_mbps": measures.unsteady(2.0),
                "delay_ms": lambda s: float(s["delay_ms"].mean()),
                "deviation_ms": lambda s: float(s["std_ms"].mean()),
                "jain_of_totals": measures.jain_of_totals(),
                "lost_packets": measures.loss,
                "moves": path_measures.moved(),
            }
            found = {key: samples.each(scene, way, value).mean for key, value in values.items()}
            rows.append(
                {
                    "scenario": NUMBERS[scene],
                    "scheme": scheme.label,
                    **{key: short(value) for key, value in found.items()},
                    "share_of_261": None
                    if scene == "dumbbell"
                    else short(samples.each(scene, way, path_measures.share(0.0)).mean),
                }
            )
    return table("Both profiles, and the others", rows)


def chance(samples: Samples, _scale: Scale) -> Table:
    """What the chance in Interests does: deviation of delay, and Jain's index, with it and without."""
    rows = []
    for scene in scenarios.SCENES:
        for way, scheme in WAYS.items():
            row: dict[str, Any] = {"scenario": NUMBERS[scene], "scheme": scheme.label}
            for name, value in {
                "throughput_mbps": measures.total(),
                "delay_ms": lambda s: float(s["delay_ms"].mean()),
                "deviation_ms": lambda s: float(s["std_ms"].mean()),
                "jain_bins_1_s": measures.jain_in_bins(1.0),
            }.items():
                row[name] = short(samples.each(scene, way, value).mean)
                row[f"{name}_exact"] = short(samples.each("exact", f"{scene}: {way}", value).mean)
            rows.append(row)
    return table("Interests up to 0.1 ms late by chance, and exact ones", rows)


def readings(samples: Samples, _scale: Scale) -> Table:
    """PCON with other windows, and with one of its reactions only."""
    rows = []
    for scene in scenarios.SCENES:
        cases = [("PCON, BIC 0.5", scene, "pcon")] + [
            (way.label, "readings", f"{scene}: {name}") for name, way in scenarios.READINGS.items()
        ]
        for label, experiment, variant in cases:
            found = {
                "throughput_mbps": samples.each(experiment, variant, measures.total()),
                "delay_ms": samples.each(experiment, variant, lambda s: float(s["delay_ms"].mean())),
                "deviation_ms": samples.each(experiment, variant, lambda s: float(s["std_ms"].mean())),
                "jain_of_totals": samples.each(experiment, variant, measures.jain_of_totals()),
                "lost_packets": samples.each(experiment, variant, measures.loss),
            }
            rows.append(
                {
                    "scenario": NUMBERS[scene],
                    "reading": label,
                    **{key: short(quantity.mean) for key, quantity in found.items()},
                }
            )
    return table("PCON otherwise", rows)


def complexity(samples: Samples, _scale: Scale) -> Table:
    """Operations a second of nodes and controller, beside the packets that pass."""
    seconds = {"rates": DURATION_S, "sizes": scenarios.SIZES_S, **dict.fromkeys(scenarios.SCENES, DURATION_S)}
    cases = [
        *(
            (scene, way, f"scenario {NUMBERS[scene]}, {WAYS[way].label}")
            for scene in scenarios.SCENES
            for way in WAYS
        ),
        *(("rates", rate, f"scenario 1, links of {rate} Mbit/s") for rate in scenarios.RATES),
        *(("sizes", count, f"{count} routers in dumbbells") for count in scenarios.SIZES),
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
        row["orders"] = short(samples.each(experiment, variant, lambda s: s["controller_orders"]).mean)
        rows.append(row)
    return table("Operations a second, where Data are counted at each node that sends them on", rows)


def plates() -> list[Plate]:
    """Everything that is drawn or tabulated, in the order of the paper."""
    one, two, three = scenarios.SCENES
    return [
        Plate(
            "figure-4",
            "Scenario 1, throughput",
            (one,),
            throughput(one, "figure-4", "PCON jitters, the others do not."),
        ),
        Plate(
            "figure-5", "Scenario 1, delay", (one,), delays(one, "figure-5", "ndnSieve is lowest for both.")
        ),
        Plate("table-4", "Scenario 1, deviation of delay", (one,), deviations(one, "table-4")),
        Plate(
            "figure-6",
            "Scenario 1, boxes of delay",
            (one,),
            boxes(one, "figure-6", "as Table 4 and Figure 5."),
        ),
        Plate("table-5", "Scenario 1, fairness", (one,), fairness(one, "table-5")),
        Plate("figure-7", "Scenario 1, loss", (one,), losses(one, "figure-7", "none at all.")),
        Plate(
            "figure-8",
            "Scenario 2, throughput",
            (two,),
            throughput(
                two, "figure-8", "PCON is lowest and most unstable; ndnSieve fluctuates a little at 1 s."
            ),
        ),
        Plate(
            "figure-9",
            "Scenario 2, interfaces",
            (two,),
            interfaces(
                two, "figure-9", "ndnSieve moves all traffic to 261 at 1 s; the others hardly use it."
            ),
        ),
        Plate("figure-10", "Scenario 2, delay", (two,), delays(two, "figure-10", "ndnSieve is lowest.")),
        Plate("table-6", "Scenario 2, deviation of delay", (two,), deviations(two, "table-6")),
        Plate(
            "figure-11",
            "Scenario 2, boxes of delay",
            (two,),
            boxes(two, "figure-11", "those of FleCom and ndnSieve approximate a line."),
        ),
        Plate("figure-12", "Scenario 2, loss", (two,), losses(two, "figure-12", "none at all.")),
        Plate(
            "figure-13",
            "Scenario 3, throughput",
            (three,),
            throughput(
                three,
                "figure-13",
                "ndnSieve is steady and high with a switch at 4.1 s, PCON rises, CoopCon is low.",
            ),
        ),
        Plate(
            "figure-14",
            "Scenario 3, interfaces",
            (three,),
            interfaces(three, "figure-14", "all but CoopCon use both."),
        ),
        Plate("table-7", "Scenario 3, fairness", (three,), fairness(three, "table-7")),
        Plate(
            "figure-15",
            "Scenario 3, delay",
            (three,),
            delays(three, "figure-15", "ndnSieve is lowest for C1 and C2."),
        ),
        Plate(
            "figure-16",
            "Scenario 3, boxes of delay",
            (three,),
            boxes(three, "figure-16", "those of ndnSieve are consistently narrow."),
        ),
        Plate("table-8", "Scenario 3, deviation of delay", (three,), deviations(three, "table-8")),
        Plate("figure-17", "Scenario 3, loss", (three,), losses(three, "figure-17", "none at all.")),
        Plate("profiles", "Both profiles, and the others", scenarios.SCENES, profiles),
        Plate("readings", "PCON otherwise", (*scenarios.SCENES, "readings"), readings),
        Plate("chance", "With and without chance", (*scenarios.SCENES, "exact"), chance),
        Plate("complexity", "Operations", (*scenarios.SCENES, "rates", "sizes"), complexity),
    ]
