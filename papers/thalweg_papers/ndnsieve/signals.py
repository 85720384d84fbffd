"""Signals and commands of the controller, with the queues and marks of the ports that they are about."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from .. import _read
from .._base import Measured, Sample, Samples, measure
from .keys import Key
from .measures import each, profiled
from .scenarios import EVERY_S, PERIOD_S, QUEUE_PACKETS, SCENES, wires

SIEVES = ("calibrated", "literal")
"""Schemes that have a sieve."""


def level(params: Mapping[str, Any]) -> int:
    """Packets in a queue up to which congestion is not severe, by the parameters of the part at links."""
    reference = params["level"]
    if reference == "profile":
        reference = "packets" if params["profile"] == "calibrated" else "limit"
    return int(params["severe"] if reference == "packets" else round(params["th2"] * QUEUE_PACKETS))


def read(result: Any, scene: Key, setup: str) -> Sample:
    """For each signal the queue and the result of the filter, for each command the metrics, and the marks."""
    if setup not in SIEVES or result.plan["ndn"].get("link") != "ndnsieve":
        return {}
    threshold = level(result.plan["ndn"]["link_params"])
    signals = _rows(result, ("signal_mild", "signal_sieved"))
    passed = np.array([event == "signal_mild" for _, event, _ in signals], dtype=bool)
    times = np.array([time for time, _, _ in signals])
    ports = [_port(scene, int(value)) for _, _, value in signals]
    loads = np.array([value for _, _, value in _rows(result, ("signal_load",))])
    queue_packets = np.array([value for _, _, value in _rows(result, ("signal_occupancy",))]) * QUEUE_PACKETS
    present = _rows(result, ("metric_present",))
    metrics = np.array([value for _, _, value in _rows(result, ("metric_present", "metric_taken"))])
    ordered = [_latest(signals, time) for time, _, _ in present]
    followed = [index for index in ordered if index is not None and ports[index] is not None]
    return {
        "signal_error": _error(result, times, ports, queue_packets),
        "metric_error": _metric_error(
            [
                (metric, loads[index], queue_packets[index])
                for index, (_, _, metric) in zip(ordered, present, strict=True)
                if index is not None
            ]
        ),
        "load_min": float(loads.min()) if len(loads) else float("nan"),
        "mild_over": float(queue_packets[passed].max() if passed.any() else 0.0) - threshold,
        "sieved_over": float(queue_packets[~passed].min() if (~passed).any() else QUEUE_PACKETS) - threshold,
        "commands_without": float(sum(index is None for index in ordered)),
        "metric_min": float(metrics.min()) if len(metrics) else float("nan"),
        "metric_max": float(metrics.max()) if len(metrics) else float("nan"),
        "worse": float(_worse(result)),
        "orders": float(len(followed)),
        "both": float(sum(_marked(result, ports[index], times[index]) > 0 for index in followed)),
        "both_at_end": float(
            sum(_marked(result, ports[index], times[index], EVERY_S) > 0 for index in followed)
        ),
        **_marks(result, threshold),
    }


def _rows(result: Any, names: tuple[str, ...]) -> list[tuple[float, str, float]]:
    """Time, name and number of some events, in the order in which they happened."""
    import polars

    part = result.events.filter(polars.col("event").is_in(list(names)))
    return list(zip(part["time_s"].to_list(), part["event"].to_list(), part["value"].to_list(), strict=True))


def _port(scene: Key, number: int) -> str | None:
    """A port by the name that its series have; none for those of control links."""
    links = wires(scene)
    if number // 2 >= len(links):
        return None
    return f"link.{links[number // 2]['name']}" + (".backward" if number % 2 else "")


def _latest(signals: list[tuple[float, str, float]], time: float) -> int | None:
    """The signal that an order followed: one of the same instant that passed."""
    found = [
        index
        for index, (at, name, _) in enumerate(signals)
        if name == "signal_mild" and abs(at - time) < 1e-9
    ]
    return found[-1] if found else None


def _error(result: Any, times: Any, ports: list[str | None], queue_packets: Any) -> float:
    """Packets by which what was reported differs from the mean queue of the same 20 ms, in the mean."""
    errors = []
    for time, port, packets in zip(times, ports, queue_packets, strict=True):
        if port is None:
            continue
        grid, backlog = _read.one(result, "backlog", port)
        # the status left at the end of the period, and what was recorded ends there
        end = PERIOD_S * np.floor(time / PERIOD_S)
        errors.append(abs(packets - backlog[np.argmin(np.abs(grid - end))]))
    return float(np.mean(errors)) if errors else 0.0


def _metric_error(orders: list[tuple[float, float, float]]) -> float:
    """Packets by which the queue in an order's metric 10 β e^(q/Q) differs from the queue of its signal, in the mean."""
    errors = [abs(QUEUE_PACKETS * np.log(metric / (10 * load)) - packets) for metric, load, packets in orders]
    return float(np.mean(errors)) if errors else float("nan")


def _marked(result: Any, port: str | None, time: float, last_s: float = PERIOD_S) -> float:
    """Packets that a port marked in the period that a signal at `time` was about, or in its last seconds."""
    if port is None:
        return 0.0
    grid, marks = _read.one(result, "queue_marks", port)
    end = PERIOD_S * np.floor(time / PERIOD_S)
    inside = (grid > end - last_s + EVERY_S / 2) & (grid < end + EVERY_S / 2)
    return float(marks[inside].sum())


def _worse(result: Any) -> int:
    """Moves to a way whose metric was above that of the way that was left."""
    rows = _rows(result, ("metric_present", "metric_taken"))
    pairs = pairwise(rows)
    return sum(
        taken > present + 1e-3
        for (_, first, present), (_, second, taken) in pairs
        if (first, second) == ("metric_present", "metric_taken")
    )


def _marks(result: Any, threshold: int) -> Sample:
    """Marks of queues that never passed a level, and all."""
    rows = [row for row in result.links.to_dicts() if not row["link"].startswith("control")]
    below = sum(row["marked_packets"] for row in rows if row["queue_max_packets"] <= threshold)
    return {"marks_below": float(below), "marks_all": float(sum(row["marked_packets"] for row in rows))}


# --- measures --------------------------------------------------------------------------------------------------------


def _by_scene(samples: Samples, setup: str, key: str, unit: str = "") -> Measured:
    return {
        f"{key}_{i}": each(samples, scene, setup, lambda s: s[key], unit) for i, scene in enumerate(SCENES, 1)
    }


@measure(*SCENES)
def occupancy(samples: Samples) -> Measured:
    """Difference of reported and recorded queues; in scenario 2, of queues in the metrics of orders and in their signals.

    There the link that a signal is about has the maximum of the path; in scenario 3 it may be another.
    """
    in_metric = each(samples, Key.TWO_WAYS, "calibrated", lambda s: s["metric_error"], "packets")
    return {**_by_scene(samples, "calibrated", "signal_error", "packets"), "metric_error_2": in_metric}


@measure(*SCENES)
def metrics(samples: Samples) -> Measured:
    """The minimum and maximum metric of any command, where there are commands: scenarios 2 and 3."""
    found: Measured = {}
    for i, scene in ((2, Key.TWO_WAYS), (3, Key.THREE_FLOWS)):
        for key in ("metric_min", "metric_max"):
            found[f"{key}_{i}"] = each(samples, scene, "calibrated", lambda s, key=key: s[key])  # type: ignore[misc]
    return found


@measure(*SCENES)
def choices(samples: Samples) -> Measured:
    """Moves to a path of higher cost; periods of scenario 2 with a way that had not the lowest metric in the one before."""
    found: Measured = {}
    for setup, ending in (("calibrated", ""), ("literal", "L")):
        for name, quantity in _by_scene(samples, setup, "worse", "moves").items():
            found[f"{name}{ending}"] = quantity
        found[f"not_lowest_2{ending}"] = each(samples, Key.TWO_WAYS, setup, _not_lowest, "periods")
    return found


def _not_lowest(sample: Sample) -> float:
    """Periods of T_p after which most Data do not come by the interface of R1 that was used less."""
    used = sample["faces"].reshape(2, -1, round(PERIOD_S / 0.1)).mean(axis=2)
    before, after = used[:, :-1], used[:, 1:]
    return float(np.sum(np.argmin(before, axis=0) != np.argmax(after, axis=0)))


@profiled(*SCENES)
def sieve(samples: Samples, setup: str) -> Measured:
    """By how much queues of signals that passed, and of those that did not, exceed the level; commands without a signal."""
    return {
        **_by_scene(samples, setup, "mild_over", "packets"),
        **_by_scene(samples, setup, "sieved_over", "packets"),
        **_by_scene(samples, setup, "commands_without", "commands"),
    }


@profiled(*SCENES)
def severe_marks(samples: Samples, setup: str) -> Measured:
    """Marks of queues that were never severe, and all marks."""
    return {
        **_by_scene(samples, setup, "marks_below", "packets"),
        **_by_scene(samples, setup, "marks_all", "packets"),
    }


@profiled(*SCENES)
def both_reactions(samples: Samples, setup: str) -> Measured:
    """Orders for a port that marked in the same period, or still did in its last 20 ms; all orders."""
    return {
        **_by_scene(samples, setup, "both", "periods"),
        **_by_scene(samples, setup, "both_at_end", "periods"),
        **_by_scene(samples, setup, "orders", "orders"),
    }
