"""A check from outside: the connections of scenario 1 without the group, here and in ns-2 2.35.

What ns-2 gave stands in `ns2.toml`; the script that gave it is `benches/ns2_srmcc.tcl`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from .. import _read
from .._base import Quantity, Sample, Samples, Scale, Table, Tree, take
from .._common import columns, custom, link, mean_between, recording, table
from .keys import Key
from .profiles import STOCK_TCP
from .scenarios import BOTTLENECK_BPS, DURATION_S, LEAF_BPS, PACKET, SENDER, dumbbell, mbps, tcp, wire

FROM_S = 50.0
KINDS: dict[str, dict[str, Any]] = {
    "stock": STOCK_TCP,
    "tahoe": {key: value for key, value in STOCK_TCP.items() if key != "receive_window"},
    "newreno": {
        key: value for key, value in STOCK_TCP.items() if key not in ("receive_window", "fast_recovery")
    },
}
"""Settings of connections that differ from the scenarios: as in ns-2; without a limit by the window; with recovery."""
COMPANY_BPS = (0, 1_545_000, 2_530_000)
"""Nothing, what the paper's SRMCC has in scenario 1, and what its TFMCC has there."""
VARIANTS = tuple(f"{kind}-{company}" for kind in KINDS for company in COMPANY_BPS)


def case(variant: str, scale: Scale) -> Tree:
    """`tahoe-1545000`: two Tahoe connections beside so much Poisson traffic."""
    kind, _, company = variant.partition("-")
    links = dumbbell(BOTTLENECK_BPS[1], LEAF_BPS[1], members=0)
    flows = []
    for i in (1, 2):
        flow = tcp(f"tcp{i}", f"t{i}", f"u{i}")
        flows.append({**flow, "tcp": {**flow["tcp"], **KINDS[kind]}})
    if int(company):
        links += [link("c_access", "c", "r0", **SENDER), wire("c_leaf", "r1", "v", LEAF_BPS[1], 3)]
        source = {"kind": "poisson", "rate": mbps(int(company))}
        flows.append({"name": "company", "from": "c", "to": "v", "packet": PACKET, "source": source})
    return custom(
        f"SRMCC §5.1, the connections of scenario 1 alone, {variant}",
        scale.seconds(DURATION_S),
        # the source of the group has nothing to send
        [one for one in links if one["name"] != "access"],
        flows,
        record=recording("1 s", "throughput", "utilisation"),
    )


def keep(result: Any, _variant: str, scale: Scale) -> Sample:
    """Throughput of both connections and utilisation after a quarter of the run; drops at the bottleneck in all of it."""
    times = _read.times(result, "utilisation")
    begin, end = scale.seconds(FROM_S), scale.seconds(DURATION_S)
    arrived = _read.series(result, "throughput")
    used = _read.series(result, "utilisation", ["link.bottleneck"])["link.bottleneck"]
    return {
        **{
            f"tcp{i}_mbps": mean_between(times, arrived[f"receiver.tcp{i}@u{i}"], begin, end) / 1e6
            for i in (1, 2)
        },
        "utilisation": mean_between(times, used, begin, end),
        "drops": float(_read.link(result, "bottleneck")["drops"]) / scale.factor,
    }


def measured() -> dict[str, list[dict[str, Any]]]:
    """Results of ns-2, by variant: one run per seed."""
    text = Path(__file__).with_name("ns2.toml").read_text(encoding="utf-8")
    runs: dict[str, list[dict[str, Any]]] = tomllib.loads(text)["runs"]
    return runs


QUANTITIES = ("tcp_mbps", "utilisation", "drops")


def beside(samples: Samples, scale: Scale) -> Table:
    """Our runs and those of ns-2, side by side."""
    rows = []
    for variant in VARIANTS:
        kind, _, company = variant.partition("-")
        row: dict[str, Any] = {"tcp": kind, "company_mbps": int(company) / 1e6}
        ours = [_mean_of_two(sample) for sample in samples[Key.NS2, variant]]
        theirs = [_mean_of_two(run) for run in measured()[variant]]
        for key in QUANTITIES:
            for name, runs in (("", ours), ("_ns2", theirs)):
                quantity = Quantity(tuple(map(take(key), runs)))
                row |= columns(f"{key}{name}", quantity)
        rows.append(row)
    title = "TCP on the paper's scenario 1 without a group: here, and in ns-2 2.35; drops "
    return table(title + scale.counted(DURATION_S), rows)


def _mean_of_two(run: Sample) -> Sample:
    return {**run, "tcp_mbps": 0.5 * (run["tcp1_mbps"] + run["tcp2_mbps"])}
