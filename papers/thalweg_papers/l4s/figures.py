"""Rates beside the published ones, and the checks of the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base import FigureSpec, Sample, Samples, Scale, Table
from .._common import short, table
from . import scenarios
from .keys import Key


def mean(samples: Sequence[Sample], key: str) -> float:
    """Mean over the runs."""
    return float(np.mean([sample[key] for sample in samples]))


def beside(variant: str, samples: Sequence[Sample]) -> dict[str, Any]:
    """A pair of the testbed: published and simulated goodputs, and which of sum and share differ."""
    mbps, flows = scenarios.parts(variant)
    published = scenarios.PUBLISHED[variant]
    ours = [mean(samples, f"{name}_bps") / 1e6 for name in ("first", "second")]
    share = 100 * ours[0] / sum(ours)
    published_share = 100 * published[0] / sum(published)
    out = {
        "sum": abs(sum(ours) / sum(published) - 1) > scenarios.SUM_BAND,
        "share": abs(share - published_share) > 100 * scenarios.SHARE_BAND,
    }
    return {
        "rate_mbps": mbps,
        "first": f"{flows[0][0]}, {flows[0][1]:g} ms",
        "second": f"{flows[1][0]}, {flows[1][1]:g} ms",
        "sum_published_mbps": short(sum(published)),
        "sum_ours_mbps": short(sum(ours)),
        "share_published_percent": short(published_share),
        "share_ours_percent": short(share),
        "differs": ", ".join(name for name, differs in out.items() if differs) or "–",
    }


def kind(row: dict[str, Any]) -> str:
    """What a pair of the testbed is about."""
    (first, first_rtt), (second, second_rtt) = (row[name].split(", ") for name in ("first", "second"))
    schemes = "same scheme" if first == second else "Prague and CUBIC"
    return f"{schemes}, {'equal' if first_rtt == second_rtt else 'unequal'} round-trip times"


def _pairs(samples: Samples) -> list[dict[str, Any]]:
    variants = samples.variants(Key.TESTBED)
    return [beside(variant, samples[Key.TESTBED, variant]) for variant in variants]


def testbed(samples: Samples, _scale: Scale) -> Table:
    """Every pair of the testbed."""
    return table("Pairs of the testbed, published and simulated", _pairs(samples))


def testbed_summary(samples: Samples, _scale: Scale) -> Table:
    """How many pairs of the testbed agree, by what they are about."""
    rows = _pairs(samples)
    kinds = dict.fromkeys(map(kind, rows))
    lines = []
    for name in [*kinds, "all"]:
        here = [row for row in rows if name in (kind(row), "all")]
        counts = {f"{key}_agrees": sum(key not in row["differs"] for row in here) for key in ("sum", "share")}
        lines.append({"pairs_of": name, "pairs": len(here), **counts})
    return table("Pairs of the testbed that agree", lines)


def checked(variant: str, samples: Sequence[Sample]) -> dict[str, Any]:
    """A cell of the matrix, with the checks that fail."""
    mbps, ((_, rtt), _) = scenarios.parts(variant)
    prague, cubic = (mean(samples, f"{name}_bps") for name in ("first", "second"))
    ratio = prague / cubic
    p99, classic = mean(samples, "first_delay_p99_s"), mean(samples, "second_delay_s")
    loss, utilisation = mean(samples, "first_loss"), mean(samples, "utilisation")
    target = scenarios.TARGET_S
    held = {
        "ratio": 1 / scenarios.RATIO_BAND <= ratio <= scenarios.RATIO_BAND,
        "utilisation": utilisation >= scenarios.UTILISATION,
        "L4S delay": mbps < scenarios.L4S_DELAY_MBPS or p99 <= scenarios.L4S_DELAY_S,
        "L4S loss": loss == 0.0,
        "classic delay": abs(classic - target) <= scenarios.TARGET_BAND * target,
    }
    return {
        "rate_mbps": mbps,
        "rtt_ms": rtt,
        "prague_mbps": short(prague / 1e6),
        "cubic_mbps": short(cubic / 1e6),
        "prague_over_cubic": short(ratio),
        "utilisation_percent": short(100 * utilisation),
        "prague_delay_p99_ms": short(1e3 * p99),
        "prague_loss_percent": short(100 * loss),
        "cubic_delay_ms": short(1e3 * classic),
        "fails": ", ".join(name for name, holds in held.items() if not holds) or "–",
    }


def matrix(samples: Samples, _scale: Scale) -> Table:
    """Every cell of the matrix."""
    variants = samples.variants(Key.MATRIX)
    return table(
        "Prague beside CUBIC", [checked(variant, samples[Key.MATRIX, variant]) for variant in variants]
    )


def figure_specs() -> tuple[FigureSpec, ...]:
    """The tables."""
    return (
        FigureSpec("testbed-summary", "Pairs of the testbed that agree", (Key.TESTBED,), testbed_summary),
        FigureSpec("testbed", "Pairs of the testbed", (Key.TESTBED,), testbed),
        FigureSpec("matrix", "Prague beside CUBIC", (Key.MATRIX,), matrix),
    )
