"""The second profile: TCP as stock ns-2 has it, and the rebuilt competitors set up for company of that kind.

The paper ran ns-2 and states no window. Its TCP at 72.6 % of a share of 5 Mbit/s is 1.21 Mbit/s, and stock ns-2's
window of 20 packets of 1000 bytes in 130 ms is 1.23: the window is inferred from one printed number, so verdicts in this
profile stand apart from the totals.
"""

from __future__ import annotations

from typing import Any

from .._base import Tree
from .._profiles import Profile
from .scenarios import TCP_HEADER_BYTES, TCP_PACKET_BYTES

WINDOW_PACKETS = 20
"""`Agent/TCP set window_` of ns-2 2.35."""

STOCK_TCP: dict[str, Any] = {
    "receive_window": f"{WINDOW_PACKETS * (TCP_PACKET_BYTES - TCP_HEADER_BYTES)} B",
    "initial_window": 2,
    "initial_rto": "3 s",
    "fast_recovery": False,
    "undo": False,
}
"""Differences of `Agent/TCP` of ns-2 2.35 from the connections of the first profile: Tahoe, and 20 packets."""

COMPETITORS: dict[str, dict[str, Any]] = {
    "asmp": {"calibration": "never"},
    "perif_ecn": {"threshold": 0.25},
}
"""Parameters of the reconstructions, by scheme. As in the first profile, each has what comes nearest to what the paper says.

Tried for ASMP: both ways to infer the round-trip time, with both estimators of loss (rows S000-22 to -24 and -31). Tried for
PerIfwithECN: thresholds of 0.5, 0.25 and 0.1, with five shares that are kept (row S000-36).
"""

FITTED = ("S000-22", "S000-23", "S000-24", "S000-31", "S000-36")
"""Rows by which they were chosen."""


def stock(tree: Tree) -> None:
    """Makes every TCP connection one of stock ns-2, and sets up the rebuilt competitors."""
    for flow in tree["flows"]:
        if "tcp" in flow:
            flow["tcp"] = {**flow["tcp"], **STOCK_TCP}
        own = COMPETITORS.get(flow.get("scheme", ""))
        if own is not None:
            flow["params"] = {**own, **flow.get("params", {})}


def all_profiles() -> list[Profile]:
    """All of them."""
    return [
        Profile(
            "stock ns-2",
            "TCP Tahoe with a window of 20 packets of 1000 bytes, as `Agent/TCP` of ns-2 2.35 is without settings. The "
            "paper ran ns-2 and states no window; 20 packets in 130 ms are 1.23 Mbit/s, and it prints 1.21 for TCP in "
            "scenario 1.",
            stock,
            FITTED,
        )
    ]
