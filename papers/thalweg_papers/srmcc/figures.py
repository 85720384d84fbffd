"""Figures 5 to 11 and Table 1 of the paper. Lines and bars are means over seeds, bands and whiskers 95 % intervals."""

from __future__ import annotations

from typing import Any

from .. import _plot
from .._base import Figure, FigureSpec, Samples, Scale, Table
from .._common import columns, over_seeds, plain, series_table, short, table
from . import audit, beyond_figures, measures, ns2, scenarios
from .keys import Key
from .measures import mean_and_interval
from .scenarios import NAMES, RECONSTRUCTED, SCHEMES

STATED = {
    "mc": {"tfmcc": 2.530, "srmcc": 1.545, "asmp": 1.388},
    "tcp1": {"tfmcc": 1.210},
    "tcp2": {"tfmcc": 1.210},
}
"""Scenario 1, Mbit/s: what the text says, or what follows from what it says (rows S000-D1 to -D3)."""


def figure_5(samples: Samples, _scale: Scale) -> Figure:
    """The ratio of multicast to TCP throughput, and loss, against γ."""
    figure, axes = _plot.panels(1, 2, height=2.8)
    rows: list[dict[str, Any]] = []
    curves = {}
    for n in measures.STATIC:
        ratio = over_seeds(measures.gamma_curves(samples, n, measures.ratio))
        loss = over_seeds(measures.gamma_curves(samples, n, measures.loss_percent))
        curves[n] = (ratio, loss)
        for axis, (mean, low, high) in zip(axes[0], (ratio, loss), strict=True):
            ends = list(zip(low, high, strict=True))
            _plot.points(axis, scenarios.GAMMAS, mean, ends, f"scenario {n}", colour=n - 1)
    for i, gamma in enumerate(scenarios.GAMMAS):
        row: dict[str, Any] = {"gamma": gamma}
        for n, (ratio, loss) in curves.items():
            row |= columns(f"ratio_{n}", (ratio[0][i], ratio[1][i], ratio[2][i]))
            row |= columns(f"loss_percent_{n}", (loss[0][i], loss[1][i], loss[2][i]))
        rows.append(row)
    axes[0][0].axhline(1, color=_plot.FAINT, linewidth=0.9, zorder=0)
    for axis in axes[0]:
        axis.axvline(scenarios.GAMMA, color=_plot.FAINT, linewidth=0.9, linestyle="--", zorder=0)
    _plot.finish(axes[0][0], "(a) Multicast over TCP throughput", "ratio", x="γ", margin=0.03)
    _plot.finish(axes[0][1], "(b) Loss of the group", "% of packets", x="γ", margin=0.03)
    best = measures.best_gamma(samples)
    return Figure(
        "The rate selection factor γ",
        "The paper sees ratio and loss rise with γ, and at γ = 0.15 (dashed) a ratio closest to 1 with loss at or near 0. "
        f"Here the ratio, averaged over the three scenarios, is closest to 1 at γ = {best['overall'].mean:g} "
        f"({', '.join(format(best[f'scenario_{n}'].mean, 'g') for n in measures.STATIC)} in scenarios 1, 2 and 3)."
        + _seeds(samples, Key.GAMMA, measures.gamma_variant(1, 0.0)),
        _plot.svg(figure, "figure-5", "Throughput ratio and loss against the rate selection factor"),
        {"numbers": table("Figure 5", rows)},
    )


def figure_6(samples: Samples, _scale: Scale) -> Figure:
    """Several SRMCC groups: four rates over time; loss and utilisation against the number of groups."""
    figure, axes = _plot.panels(1, 3, height=2.6)
    runs = samples[Key.GROUPS, "4"]
    times = runs[0]["times_s"]
    lines: dict[str, Any] = {}
    for g in range(4):
        mean, low, high = over_seeds([s["rates_bps"][g] for s in runs])
        lines |= dict(
            zip((f"group_{g + 1}{end}_bps" for end in ("", "_low", "_high")), (mean, low, high), strict=True)
        )
        _plot.band(axes[0][0], times, mean / 1e6, low / 1e6, high / 1e6, f"group {g + 1}", colour=g)
    counts = scenarios.GROUPS
    of_counts = {}
    for axis, key in ((axes[0][1], "loss"), (axes[0][2], "utilisation")):
        points = [over_seeds([100 * s[key] for s in samples[Key.GROUPS, str(count)]]) for count in counts]
        of_counts[key] = points
        _plot.points(
            axis, counts, [float(p[0]) for p in points], [(float(p[1]), float(p[2])) for p in points]
        )
        axis.set_xticks(list(counts))
    _plot.finish(axes[0][0], "(a) Four groups", "throughput (Mbit/s)", legend=False)
    _plot.legend(figure, axes[0][0])
    _plot.finish(axes[0][1], "(b) Loss", "% of packets", x="groups", margin=0.05)
    _plot.finish(axes[0][2], "(c) Total utilisation", "%", x="groups", margin=0.05, top=105)
    rows = [
        {
            "groups": count,
            **{
                name: cell
                for key, points in of_counts.items()
                for name, cell in columns(f"{key}_percent", points[i]).items()
            },
        }
        for i, count in enumerate(counts)
    ]
    fair = measures.groups_fairness(samples)["jain"]
    lost = measures.groups_loss(samples)["highest"]
    drop = measures.groups_utilisation(samples)["drop_points"]
    return Figure(
        "Several SRMCC groups on 10 Mbit/s",
        "The paper's four groups become even after a short adjustment; loss stays low and total utilisation hardly falls as "
        f"groups are added. Here: Jain's index of four groups {plain(fair)}, at most {plain(lost)} % of packets lost, and "
        f"{plain(drop)} points less utilisation with ten groups than with one."
        + _seeds(samples, Key.GROUPS, "4"),
        _plot.svg(
            figure, "figure-6", "Rates of four groups; loss and utilisation against the number of groups"
        ),
        {"rates": series_table("Figure 6a", times, lines), "numbers": table("Figure 6b and 6c", rows)},
    )


def figure_7(samples: Samples, scale: Scale) -> Figure:
    """Throughput of the group over time, four scenarios, five schemes."""
    figure, axes = _plot.panels(2, 2, height=2.7)
    tables = {}
    for n in measures.ALL:
        axis = axes[(n - 1) // 2][(n - 1) % 2]
        lines: dict[str, Any] = {}
        times = measures.case(samples, n, "srmcc")[0]["times_s"]
        for scheme in SCHEMES:
            mean, low, high = over_seeds([s["mc_bps"] for s in measures.case(samples, n, scheme)])
            lines |= {f"{scheme}_bps": mean, f"{scheme}_low_bps": low, f"{scheme}_high_bps": high}
            _plot.band(
                axis,
                times,
                mean / 1e6,
                low / 1e6,
                high / 1e6,
                NAMES[scheme],
                colour=scheme,
                linewidth=1.6 if scheme == "srmcc" else 0.9,
            )
        if n == 4:
            bounds = [scale.seconds(t) for t in measures.CHANGES_S]
            _plot.shade(axis, [(bounds[0], bounds[1]), (bounds[2], bounds[3])])
        _plot.finish(axis, f"({'abcd'[n - 1]}) Scenario {n}", "throughput (Mbit/s)", legend=False)
        tables[f"scenario-{n}"] = series_table(f"Figure 7{'abcd'[n - 1]}", times, lines)
    _plot.legend(figure, axes[0][0])
    waited = measures.response(samples)
    times_s = ", ".join(f"{NAMES[s]} {plain(waited[f'{s}_s'])} s" for s in scenarios.PAPER_SCHEMES)
    return Figure(
        "Throughput of the group over time",
        "Means over the group's receivers, 1 s each. In scenario 4 traffic comes or goes where the shade changes "
        f"({scale.moments(*measures.CHANGES_S)}). The paper sees the highest throughput with TFMCC and the fastest response "
        "with SRMCC. Here, mean "
        f"time until within 20 % of the new level: {times_s}." + RECONSTRUCTED,
        _plot.svg(figure, "figure-7", "Throughput of five schemes over time in four scenarios"),
        tables,
    )


def figure_8(samples: Samples, scale: Scale) -> Figure:
    """Average throughput of the group and of each TCP connection."""
    figure, axes = _plot.panels(2, 2, height=2.7)
    rows: list[dict[str, Any]] = []
    flows = (("mc", "multicast"), ("tcp1", "TCP 1"), ("tcp2", "TCP 2"))
    for n in measures.ALL:
        axis = axes[(n - 1) // 2][(n - 1) % 2]
        heights: dict[str, tuple[list[float], list[_plot.Ends]]] = {}
        for key, label in flows:
            numbers = [
                mean_and_interval(measures.case(samples, n, scheme), measures.mbps(f"{key}_mean_bps"))
                for scheme in SCHEMES
            ]
            heights[label] = ([mean for mean, *_ in numbers], [(low, high) for _, low, high in numbers])
        paper = {
            label: [STATED.get(key, {}).get(s) if n == 1 else None for s in SCHEMES] for key, label in flows
        }
        _plot.bars(axis, [NAMES[s] for s in SCHEMES], heights, colours=(0, "reno", "reno +"), paper=paper)
        axis.tick_params(axis="x", labelsize=7.5)
        fair = scenarios.BOTTLENECK_BPS[n] / (4 if n == 4 else 3) / 1e6
        axis.axhline(fair, color=_plot.FAINT, linewidth=0.9, linestyle="--", zorder=0)
        _plot.finish(
            axis, f"({'abcd'[n - 1]}) Scenario {n}", "throughput (Mbit/s)", x="", margin=0.02, legend=False
        )
        rows += [_shares_row(samples, n, scheme) for scheme in SCHEMES]
    _plot.legend(figure, axes[0][0])
    mine = measures.ratios("srmcc", measures.ALL)(samples)
    took = measures.share("tfmcc", "mc_mean_bps")(samples)["share_percent"]
    left = measures.share("tfmcc", "tcp_mean_bps")(samples)["share_percent"]
    listed = ", ".join(plain(mine[f"scenario_{n}"]) for n in measures.ALL)
    return Figure(
        "Average throughput of the group and of TCP",
        f"Means over {scale.span(*scenarios.AVERAGED_S[1])}, in scenario 4 over "
        f"{scale.span(*scenarios.AVERAGED_S[4])}; dashed, an equal share; diamonds, what the paper's text says or "
        "implies. The paper says of scenario 1 that TFMCC "
        f"takes 151.8 % of its share and leaves TCP 72.6 %; here {plain(took)} and {plain(left)} %. It sees SRMCC below TCP "
        f"everywhere; here the ratio is {listed} in scenarios 1 to 4. With a little random traffic TFMCC takes no more than "
        "TCP: see the table of phase effects." + RECONSTRUCTED,
        _plot.svg(figure, "figure-8", "Average throughput of multicast and TCP for five schemes"),
        {"numbers": table("Figure 8", rows)},
        marks=True,
    )


def _shares_row(samples: Samples, n: int, scheme: str) -> dict[str, Any]:
    runs = measures.case(samples, n, scheme)
    row: dict[str, Any] = {"scenario": n, "scheme": NAMES[scheme]}
    for key in ("mc", "tcp1", "tcp2"):
        row |= columns(f"{key}_mbps", mean_and_interval(runs, measures.mbps(f"{key}_mean_bps")))
    row |= columns("ratio", mean_and_interval(runs, measures.ratio))
    row["whole_run_mc_mbps"] = short(mean_and_interval(runs, measures.mbps("mc_whole_bps"))[0])
    row["whole_run_tcp1_mbps"] = short(mean_and_interval(runs, measures.mbps("tcp1_whole_bps"))[0])
    stated = {} if n != 1 else STATED
    row["paper_mc_mbps"] = stated.get("mc", {}).get(scheme)
    row["paper_tcp_mbps"] = stated.get("tcp1", {}).get(scheme)
    return row


def _scheme_bars(
    samples: Samples, axis: Any, value_of: Any, title: str, y: str, **more: Any
) -> list[dict[str, Any]]:
    """Bars of the schemes at each scenario, and their numbers."""
    heights: dict[str, tuple[list[float], list[_plot.Ends]]] = {}
    rows: list[dict[str, Any]] = [{"scenario": n} for n in measures.ALL]
    for scheme in SCHEMES:
        numbers = [mean_and_interval(measures.case(samples, n, scheme), value_of(n)) for n in measures.ALL]
        heights[NAMES[scheme]] = ([mean for mean, *_ in numbers], [(low, high) for _, low, high in numbers])
        for row, found in zip(rows, numbers, strict=True):
            row |= columns(scheme, found)
    _plot.bars(axis, [str(n) for n in measures.ALL], heights, colours=SCHEMES)
    _plot.finish(axis, title, y, x="scenario", margin=0.02, **more)
    return rows


def figure_9(samples: Samples, scale: Scale) -> Figure:
    """Utilisation of the bottleneck by the group, and by all traffic."""
    figure, axes = _plot.panels(2, 1, height=2.5)
    own = _scheme_bars(
        samples,
        axes[0][0],
        measures.group_utilisation,
        "(a) By the group",
        "% of the bottleneck",
        legend=False,
    )
    everything = _scheme_bars(
        samples,
        axes[1][0],
        lambda _n: measures.total_utilisation,
        "(b) By all traffic",
        "% of the bottleneck",
        legend=False,
        top=105,
    )
    _plot.legend(figure, axes[0][0])
    over = measures.total_over_asmp(samples)
    above = [plain(measures.tfmcc_above(n)(samples)["points"]) for n in measures.STATIC]
    return Figure(
        "Utilisation of the bottleneck",
        f"Scenario 4: {scale.span(*scenarios.AVERAGED_S[4])}. "
        "The paper's TFMCC uses 19.7, 3.8 and 7.8 points more than SRMCC in scenarios 1 to 3; here "
        f"{', '.join(above)}. Its totals with SRMCC are 7.1 to 9.5 % above those with ASMP; here "
        f"{plain(over['mean_percent'])} % in the mean." + RECONSTRUCTED,
        _plot.svg(figure, "figure-9", "Utilisation by the group and by all traffic"),
        {"group": table("Figure 9a", own), "all": table("Figure 9b", everything)},
    )


def figure_10(samples: Samples, _scale: Scale) -> Figure:
    """Loss of the group's packets."""
    figure, axes = _plot.panels(1, 1, height=2.6)
    rows = _scheme_bars(
        samples, axes[0][0], lambda _n: measures.loss_percent, "Loss of the group", "% of packets"
    )
    return Figure(
        "Packet loss",
        "Share of the group's packets that a receiver missed, mean over receivers, whole run. The paper's SRMCC and "
        "PerIfwithECN lose almost nothing, its ASMP about 2 % except in scenario 1." + RECONSTRUCTED,
        _plot.svg(figure, "figure-10", "Loss of five schemes in four scenarios"),
        {"numbers": table("Figure 10", rows)},
    )


def figure_11(samples: Samples, scale: Scale) -> Figure:
    """Feedback packets that reached the source in the paper's time."""
    figure, axes = _plot.panels(1, 1, height=2.6)
    _plot.logarithmic(axes[0][0], "y")
    rows = _scheme_bars(
        samples,
        axes[0][0],
        lambda _n: measures.feedback,
        "Feedback packets at the source",
        f"packets {scale.counted(scenarios.DURATION_S)}",
    )
    fewer = [
        plain(measures.fewer_than(scheme)(samples)["reduction_percent"])
        for scheme in ("tfmcc", "asmp", "perif_ecn")
    ]
    return Figure(
        "Feedback packets at the source",
        "Logarithmic. The paper's SRMCC needs 82.4, 50.8 and 94.1 % less than TFMCC, ASMP and PerIfwithECN in the mean over "
        f"its scenarios; here {', '.join(fewer)} % less, with {scenarios.MEMBERS} receivers." + RECONSTRUCTED,
        _plot.svg(figure, "figure-11", "Feedback packets of five schemes in four scenarios"),
        {"numbers": table("Figure 11", rows)},
    )


def table_1(_samples: Samples, scale: Scale) -> Table:
    """Table 1 against what the program and the scenarios say."""
    return table("Table 1: the paper's parameters, and what runs here", audit.rows(scale))


def phase_effects(samples: Samples, _scale: Scale) -> Table:
    """Effect of a little random traffic: without it, ack-clocked senders synchronise at drop-tail queues (phase effects)."""
    rows: list[dict[str, Any]] = []
    for n in measures.STATIC:
        for scheme in SCHEMES:
            row: dict[str, Any] = {"scenario": n, "scheme": NAMES[scheme]}
            for name, experiment in (("as_published", Key.SCENARIOS), ("with_noise", Key.NOISE)):
                runs = samples[experiment, f"{n}-{scheme}"]
                for key, value in (
                    ("share_percent", measures.share_percent(n)),
                    ("ratio", measures.ratio),
                    ("loss_percent", measures.loss_percent),
                ):
                    row |= columns(f"{key}_{name}", mean_and_interval(runs, value))
            rows.append(row)
    return table(
        "Phase effects: scenarios 1 to 3 as published, and with 100 kbit/s of random traffic",
        rows,
    )


def figure_specs() -> list[FigureSpec]:
    """Everything that is drawn or tabulated, in the order of the paper."""
    four = (Key.SCENARIOS,)
    return [
        FigureSpec("table-1", "Parameters", (), table_1),
        FigureSpec("figure-5", "The rate selection factor", (Key.GAMMA,), figure_5),
        FigureSpec("figure-6", "Several groups", (Key.GROUPS,), figure_6),
        FigureSpec("figure-7", "Throughput over time", four, figure_7),
        FigureSpec("figure-8", "Average throughput", four, figure_8),
        FigureSpec("figure-9", "Utilisation", four, figure_9),
        FigureSpec("figure-10", "Loss", four, figure_10),
        FigureSpec("figure-11", "Feedback", four, figure_11),
        FigureSpec("phase-effects", "Phase effects", (Key.SCENARIOS, Key.NOISE), phase_effects),
        FigureSpec("ns-2", "TCP here and in ns-2", (Key.NS2,), ns2.beside),
        *beyond_figures.figure_specs(),
    ]


def _seeds(samples: Samples, experiment: Key, variant: str) -> str:
    return f" Means and 95 % intervals over {len(samples[experiment, variant])} seeds."
