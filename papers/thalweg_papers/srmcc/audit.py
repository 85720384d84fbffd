"""Table 1 held against the program's defaults and our scenarios; and the readings of what the paper leaves open."""

from __future__ import annotations

from functools import cache
from typing import Any

from .._base import Sample, Scale, Tree
from . import extracts, scenarios

READINGS: dict[str, tuple[dict[str, Any], str]] = {
    "chosen": ({}, "as chosen"),
    "same-queue": (
        {"o_min": "same"},
        "A1: the least occupancy is that of the most occupied queue; γ has no effect",
    ),
    "mcc": ({"sampling": "mcc"}, "A3: queues are sampled when a message passes, not at every packet"),
    "in-service": ({"in_service": True}, "A4: the packet in transmission counts as queued"),
    "static-rtt": ({"rtt": "static"}, "A10: the round-trip time stays 100 ms, queueing is not in it"),
    "clamped": ({"clamp_empty": True}, "A11: the fair share limits the doubling of state 0, too"),
    "sampled": ({"sampled": 0.1}, "A16: one packet in ten is looked at to count flows"),
}
"""Parameters that differ from what was chosen, and what they mean; numbers of the choices as in the catalogue of choices."""


def reading_case(variant: str, scale: Scale) -> Tree:
    """`2-clamped`: scenario 2 with SRMCC read in another way; `0-clamped`: one group alone, as in Figure 6b."""
    number, _, name = variant.partition("-")
    params = dict(READINGS[name][0])
    if number == "0":
        return scenarios.groups_case("1", scale, params=params)
    return scenarios.scenario(int(number), "srmcc", scale, params=params)


def keep_reading(result: Any, variant: str, scale: Scale) -> Sample:
    """Means only."""
    if variant.startswith("0"):
        return extracts.means(extracts.groups_case(result, "1", scale))
    return extracts.gamma_case(result, variant, scale)


@cache
def _defaults() -> dict[str, str]:
    from thalweg.catalogue import schemes

    found = next(scheme for scheme in schemes() if scheme["name"] == "srmcc")
    return {row["name"]: str(row["default"]) for row in found["params"]}


def rows() -> list[dict[str, Any]]:
    """Parameter, the paper's value, where ours is from and what it is, and whether they agree."""
    tree = scenarios.scenario(4, "srmcc", Scale())
    cbr = next(flow for flow in tree["flows"] if flow["name"] == "cbr")
    bottleneck = next(wire for wire in tree["topology"]["links"] if wire["name"] == "bottleneck")
    group = tree["flows"][0]
    defaults = _defaults()
    listed = [
        ("maximum queue length Qmax", "50 packets", "scenario", bottleneck["buffer"]),
        ("threshold Oth1", "0.25", "default oth1", defaults["oth1"]),
        ("threshold Oth2", "0.5", "default oth2", defaults["oth2"]),
        ("weighting factor α", "0.9", "default alpha", defaults["alpha"]),
        ("packet size", "1000 B", "scenario", group["packet"]),
        ("rate selection factor γ", "0.15", "default gamma", defaults["gamma"]),
        ("rate adaptation cycle", "4", "default cycle, in RTT", defaults["cycle"]),
        ("simulation time", "200 s", "scenario", tree["duration"]),
        ("rate of the CBR application", "0.6 Mbit/s", "scenario", cbr["source"]["rate"]),
        ("initial rate of multicast", "50 kbit/s", "default initial_rate", defaults["initial_rate"]),
    ]
    return [
        {"parameter": name, "paper": paper, "from": where, "here": here, "agrees": _same(paper, here)}
        for name, paper, where, here in listed
    ]


def _same(paper: str, here: str) -> bool:
    try:
        return float(paper) == float(here)
    except ValueError:
        return paper == here
