"""Samples of the runs of §4.1 to §4.5: enough for every figure and claim, small enough to store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale
from . import scenarios

SETTLING_S = 20.0
"""Left out after each join, leave or change of the most congested link."""


def one_bottleneck(result: Any, _variant: str, scale: Scale) -> Sample:
    """1-s means of rate per flow and source, of the queue and of utilisation; means of each flow in each phase."""
    times = _read.times(result, "utilisation")
    rates = {
        source: np.stack(
            list(_on(_read.series(result, "rate", _copies(f"source{source}", 10)), result, times))
        )
        for source in (1, 2, 3)
    }
    subject = "link.bottleneck"
    phases, settled = phase_windows(times, scale)
    every_flow = np.concatenate([rates[1], rates[2], rates[3]])
    present = _present(scale)
    means = np.full((len(phases), 30), np.nan)
    for number, window in enumerate(settled):
        for flow in range(30):
            if number in present[flow // 10]:
                means[number, flow] = np.nanmean(every_flow[flow, window])
    sample: Sample = {
        "times_s": times,
        "backlog": _read.series(result, "backlog", [subject])[subject],
        "utilisation": _read.series(result, "utilisation", [subject])[subject],
        "drops": _read.series(result, "drops", [subject])[subject],
        "phase_means_bps": means,
        "missing": float(sum(row["missing"] for row in result.receivers.to_dicts())),
        "indications": float(
            result.receivers["feedback_packets"].sum() + result.receivers["suppressed"].sum()
        ),
    }
    for source in (1, 2, 3):
        active = next(_active(times, scenario_span, scale) for scenario_span in [SPANS_S[source]])
        mean = np.nanmean(rates[source], axis=0)
        mean[~active] = np.nan
        sample[f"rate_source{source}_bps"] = mean
    return sample


SPANS_S = {1: (0.0, 500.0), 2: (100.0, 400.0), 3: (200.0, 300.0)}
PHASES_S = ((0.0, 100.0), (100.0, 200.0), (200.0, 300.0), (300.0, 400.0), (400.0, 500.0))
PHASE_FLOWS = (10, 20, 30, 20, 10)


def phase_windows(times: Any, scale: Scale) -> tuple[list[Any], list[Any]]:
    """For each phase of §4.1 the intervals in it, and those of them after settling."""
    whole, settled = [], []
    for start, end in PHASES_S:
        begin, stop = scale.seconds(start), scale.seconds(end)
        inside = (times > begin + 1e-9) & (times <= stop + 1e-9)
        whole.append(inside)
        settled.append(inside & (times > begin + settling(stop - begin)))
    return whole, settled


def settling(length_s: float) -> float:
    """Left out at the start of a span, in whole seconds, as series have: 20 s, and no more than half of a short span."""
    return float(np.floor(min(SETTLING_S, 0.5 * length_s)))


def left_out_of(span_s: float) -> Callable[[Scale], str]:
    """What is left out at the start of a span of the paper, as a row prints it."""
    return lambda scale: f"{settling(scale.seconds(span_s)):g} s"


def settled_star_s(scale: Scale) -> float:
    """When what §4.3 measures begins: after the starts of its flows and the time after them."""
    return scale.seconds(scenarios.STAR_STARTS_S) + settling(scale.seconds(scenarios.STAR_S))


def chain(result: Any, _variant: str, scale: Scale) -> Sample:
    """Mean rate of each class of flows, and all four bottlenecks."""
    times = _read.times(result, "utilisation")
    sample: Sample = {"times_s": times}
    for hops, prefix in ((1, "one_hop"), (2, "two_hop"), (4, "four_hop")):
        rates = np.stack(list(_read.series(result, "rate", _starting(f"flow.{prefix}")).values()))
        sample[f"rate_{hops}_bps"] = np.nanmean(rates, axis=0)
    for name in ("backlog", "utilisation"):
        values = _read.series(result, name, [f"link.bottleneck{i}" for i in range(1, 5)])
        sample[name] = np.stack([values[f"link.bottleneck{i}"] for i in range(1, 5)])
    sample["drops"] = np.array([float(_read.link(result, f"bottleneck{i}")["drops"]) for i in range(1, 5)])
    sample["late_drops"] = float(_late_drops(result, settling(scale.seconds(scenarios.CHAIN_S))))
    sample["indications"] = float(
        result.receivers["feedback_packets"].sum() + result.receivers["suppressed"].sum()
    )
    return sample


def star(result: Any, _variant: str, scale: Scale) -> Sample:
    """Rates of the multicast and the unicast flows, the bottlenecks, and the counts of CIs."""
    times = _read.times(result, "utilisation")
    unicast = np.stack(list(_read.series(result, "rate", lambda s: s.startswith("flow.unicast")).values()))
    over_time = _running_mean(unicast, times)
    multicast = _read.flow(result, "multicast")
    receivers = [row for row in result.receivers.to_dicts() if row["flow"] == "multicast"]
    subjects = [f"link.bottleneck{i}" for i in range(1, 65)]
    backlog = _read.series(result, "backlog", subjects)
    utilisation = _read.series(result, "utilisation", subjects)
    settled_s = settled_star_s(scale)
    late = times > settled_s
    flows = [row for row in result.flows.to_dicts() if row["flow"] != "multicast"]
    return {
        "times_s": times,
        "multicast_bps": _read.series(result, "rate", ["flow.multicast"])["flow.multicast"],
        "unicast_mean_bps": over_time.mean(axis=0),
        "unicast_ci95_bps": 1.96 * over_time.std(axis=0, ddof=1) / np.sqrt(len(over_time)),
        "unicast_flows_bps": unicast.mean(axis=1),
        "backlog": backlog[subjects[0]],
        "utilisation": utilisation[subjects[0]],
        "backlogs": np.array([np.mean(backlog[s][late]) for s in subjects]),
        "utilisations": np.array([np.mean(utilisation[s][late]) for s in subjects]),
        "multicast_rate_bps": float(multicast["rate_bps"]),
        "unicast_rate_bps": float(np.mean([row["rate_bps"] for row in flows])),
        "session_indications": float(multicast["feedback_packets"]) / scale.factor,
        "session_suppressed": float(multicast["suppressed"]) / scale.factor,
        "receiver_indications": float(np.mean([r["feedback_packets"] + r["suppressed"] for r in receivers]))
        / scale.factor,
        "unicast_indications": float(np.mean([row["feedback_packets"] for row in flows])) / scale.factor,
        "late_drops": float(_late_drops(result, settled_s)),
        "indications": float(
            result.receivers["feedback_packets"].sum() + result.receivers["suppressed"].sum()
        ),
    }


def tracking(result: Any, _variant: str, scale: Scale) -> Sample:
    """Rate of the multicast flow and of a unicast flow on each of the four links; whose word the source follows."""
    times = _read.times(result, "rate")
    subjects = ["flow.multicast", *(f"flow.unicast{i}" for i in (1, 2, 3, 4))]
    rates = _read.series(result, "rate", subjects)
    when, who = representatives(result, "multicast")
    return {
        "times_s": times,
        "multicast_bps": rates["flow.multicast"],
        "unicast_bps": np.stack([rates[f"flow.unicast{i}"] for i in (1, 2, 3, 4)]),
        "switch_s": when,
        "switch_link": who,
        "end_s": scale.seconds(scenarios.TRACKING_S),
    }


def representatives(result: Any, flow: str) -> tuple[Any, Any]:
    """When the representative changed, and to the receiver of which number (of ``d1``, ``d2``, …; 0 for none)."""
    import polars

    rows = result.events.filter(
        (polars.col("event") == "representative") & (polars.col("subject") == f"flow.{flow}")
    ).to_dicts()
    who = [float(row["text"].rsplit("d", 1)[-1]) if row["value"] >= 0 else 0.0 for row in rows]
    return np.array([row["time_s"] for row in rows], dtype=float), np.array(who, dtype=float)


def dynamic_tree(result: Any, _variant: str, scale: Scale) -> Sample:
    """Throughput of the multicast flow, and the feedback its source received."""
    times = _read.times(result, "rate")
    row = _read.flow(result, "multicast")
    receivers = [r for r in result.receivers.to_dicts() if r["flow"] == "multicast"]
    staying = max(receivers, key=lambda r: r["active_s"])
    return {
        "times_s": times,
        "multicast_bps": _read.series(result, "rate", ["flow.multicast"])["flow.multicast"],
        "rate_bps": _read.active_rate(row),
        "throughput_bps": float(row["active_throughput_bps"]),
        "staying_throughput_bps": float(staying["active_throughput_bps"]),
        "feedback_packets": float(row["feedback_packets"]),
        "suppressed": float(row["suppressed"]),
        "duration_s": scale.seconds(scenarios.TREE_S),
    }


def _starting(words: str) -> Callable[[str], bool]:
    return lambda subject: subject.startswith(words)


def _copies(name: str, count: int) -> list[str]:
    return [f"flow.{name}.{i}" for i in range(1, count + 1)]


def _on(series: dict[str, Any], result: Any, times: Any) -> list[Any]:
    """Series of flows, on the times of the links' series: a flow that is not there has NaN."""
    own = _read.times(result, "rate")
    at = np.searchsorted(times, own - 1e-9)
    found = []
    for values in series.values():
        row = np.full(len(times), np.nan)
        row[at] = values
        found.append(row)
    return found


def _active(times: Any, span: tuple[float, float], scale: Scale) -> Any:
    return (times > scale.seconds(span[0]) + 1e-9) & (times <= scale.seconds(span[1]) + 1e-9)


def _present(scale: Scale) -> list[set[int]]:
    """For each source the phases in which its flows are on."""
    del scale
    return [
        {i for i, (start, end) in enumerate(PHASES_S) if start >= span[0] and end <= span[1]}
        for span in SPANS_S.values()
    ]


def _running_mean(values: Any, times: Any) -> Any:
    """Mean from 0 to t, for interval means of equal length."""
    del times
    return np.cumsum(np.nan_to_num(values), axis=-1) / np.arange(1, values.shape[-1] + 1)


def _late_drops(result: Any, after_s: float) -> float:
    """Packets dropped by any queue after a moment; each value is of the second that ends at its time."""
    import polars

    part = result.series.filter((polars.col("series") == "drops") & (polars.col("time_s") > after_s + 1e-9))
    return float(part["value"].sum())
