"""Measures of rules, constants and counters."""

from __future__ import annotations

import numpy as np

from .._base import Measured, Quantity, Sample, Samples, measure
from .._common import jain
from . import scenarios
from .keys import Key
from .measures import each
from .scenarios import DURATION_S, PERIOD_S, SCENES


@measure()
def table_3(_: Samples) -> Measured:
    """The constants as the scenarios and the scheme have them."""
    import re

    def number(text: str) -> Quantity:
        return Quantity((float(re.split(r"\s", text)[0]),))

    return {
        "queue_packets": number(scenarios.BUFFER),
        "payload_bytes": number(scenarios.DATA["payload"]),
        "period_s": Quantity((PERIOD_S,)),
        **_defaults(),
    }


def _defaults() -> Measured:
    from thalweg import schemes

    scheme = next(row for row in schemes() if row["name"] == "ndnsieve")
    known = {row["name"]: row["default"] for row in scheme["params"]}
    return {name: Quantity((float(known[name]),)) for name in ("th1", "th2")}


def _signals_over_loaded(sample: Sample) -> float:
    """Not-a-number where no link was ever used that much."""
    return float(sample["signals"] / sample["loaded"]) if sample["loaded"] else float("nan")


@measure(*SCENES)
def loaded(samples: Samples) -> Measured:
    """Signals over ports and periods whose link was used for more than th1: free and mild in a running network."""
    found = [each(samples, scene, "calibrated", _signals_over_loaded) for scene in SCENES]
    return {f"signals_over_loaded_{i}": quantity for i, quantity in enumerate(found, 1)}


@measure(Key.TWO_WAYS)
def rise(samples: Samples) -> Measured:
    """In the literal profile, packets by which the window differs from 1 + the Data that arrived, before it first falls."""
    return {"rise_error": each(samples, Key.TWO_WAYS, "literal", lambda s: s["rise_error"], "packets")}


@measure(*SCENES)
def reports(samples: Samples) -> Measured:
    """Statuses for each port and each 0.5 s whose end is heard of."""
    periods = round(DURATION_S / PERIOD_S) - 1
    return {
        f"scenario_{i}": each(samples, scene, "calibrated", lambda s: s["statuses"] / (s["ports"] * periods))
        for i, scene in enumerate(SCENES, 1)
    }


@measure(*SCENES)
def detection(samples: Samples) -> Measured:
    """Operations for each port and period, at the node that has most."""
    return {
        f"scenario_{i}": each(samples, scene, "calibrated", lambda s: s["max_per_port"], "operations")
        for i, scene in enumerate(SCENES, 1)
    }


@measure(*SCENES)
def filtering(samples: Samples) -> Measured:
    """Operations of the filter over ports and periods."""
    return {
        f"scenario_{i}": each(
            samples, scene, "calibrated", lambda s: s["controller_filter_operations"] / s["statuses"]
        )
        for i, scene in enumerate(SCENES, 1)
    }


@measure(*SCENES)
def calculating(samples: Samples) -> Measured:
    """Operations of the controller beyond filter, search and switch; and mild signals over ports and periods."""

    def beyond(s: dict[str, float]) -> float:
        parts = sum(s[f"controller_{part}_operations"] for part in ("filter", "search", "switch"))
        return s["controller_operations"] - parts

    return {
        **{
            f"beyond_{i}": each(samples, scene, "calibrated", beyond, "operations")
            for i, scene in enumerate(SCENES, 1)
        },
        **{
            f"signals_{i}": each(samples, scene, "calibrated", lambda s: s["signals"] / s["statuses"])
            for i, scene in enumerate(SCENES, 1)
        },
    }


@measure(Key.RATES)
def twice_the_rate(samples: Samples) -> Measured:
    """Effect of twice the rate of all links: messages, operations, and Data.

    `passed` are the signals that the filter passes, `per_passed` the operations beyond the filter for each.
    """

    def ratio(key: str) -> Quantity:
        slow, fast = (each(samples, Key.RATES, rate, lambda s: s[key]) for rate in scenarios.RATES)
        return Quantity(tuple(b / a for a, b in zip(slow.values, fast.values, strict=True)))

    def passed(sample: Sample) -> float:
        return float(sample["controller_switch_operations"])

    runs = [s for rate in scenarios.RATES for s in samples[Key.RATES, rate] if passed(s)]
    beyond = [s["controller_operations"] - s["controller_filter_operations"] for s in runs]
    return {
        "controller_operations": ratio("controller_operations"),
        "statuses": ratio("statuses"),
        "node_operations": ratio("operations"),
        "filter_operations": ratio("controller_filter_operations"),
        "data": ratio("data"),
        **{f"passed_{rate}": each(samples, Key.RATES, rate, passed, "signals") for rate in scenarios.RATES},
        "per_passed": Quantity(tuple(b / passed(s) for b, s in zip(beyond, runs, strict=True)), "operations"),
    }


@measure(Key.SIZES)
def per_router(samples: Samples) -> Measured:
    """Operations for each port and period at the node that has most, in networks of three sizes."""
    return {
        f"of_{count}": each(samples, Key.SIZES, count, lambda s: s["max_per_port"], "operations")
        for count in scenarios.SIZES
    }


@measure(Key.SIZES)
def small_networks(samples: Samples) -> Measured:
    """Operations of the controller, a second, in networks of three sizes: how they grow."""
    found = {
        count: each(
            samples,
            Key.SIZES,
            count,
            lambda s: s["controller_operations"] / scenarios.SIZES_S,
            "operations/s",
        )
        for count in scenarios.SIZES
    }
    few, some, many = (found[count].mean for count in scenarios.SIZES)
    return {
        **{f"of_{count}": quantity for count, quantity in found.items()},
        "growth_to_20": Quantity((some / few,)),
        "growth_to_200": Quantity((many / some,)),
    }


@measure()
def index(_: Samples) -> Measured:
    """Jain's index of rates, computed by hand."""
    return {
        "equal": Quantity((jain(np.array([3.0, 3.0, 3.0])),)),
        "one_of_three": Quantity((jain(np.array([5.0, 0.0, 0.0])),)),
        "ten_five_five": Quantity((jain(np.array([10.0, 5.0, 5.0])),)),
    }


@measure(Key.LOST_PACKETS)
def first_interest(samples: Samples) -> Measured:
    """Longest delay where packets are lost: it begins with the first Interest, so a timeout of 200 ms is in it."""
    return {
        "longest_ms": each(samples, Key.LOST_PACKETS, "1 %", lambda s: s["longest_ms"], "ms"),
        "again": each(samples, Key.LOST_PACKETS, "1 %", lambda s: s["again"], "segments"),
    }
