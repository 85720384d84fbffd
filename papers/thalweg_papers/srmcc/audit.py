"""Table 1 held against the program's defaults and our scenarios."""

from __future__ import annotations

from functools import cache
from typing import Any

from .._base import Scale
from . import scenarios


@cache
def _defaults() -> dict[str, str]:
    from thalweg.catalogue import schemes

    found = next(scheme for scheme in schemes() if scheme["name"] == "srmcc")
    return {row["name"]: str(row["default"]) for row in found["params"]}


def rows(scale: Scale | None = None) -> list[dict[str, Any]]:
    """Parameter, the paper's value, where ours is from and what it is, and whether they agree.

    The scenario is that of a run of this length; without one, of the paper's.
    """
    tree = scenarios.scenario(4, "srmcc", scale or Scale())
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
