"""Values of the summary that come from the rate over time: coefficient of variation, convergence, fairness, recovery."""

from __future__ import annotations

from collections.abc import Sequence

from .record import Record

NOT_YET = "computed from the series `rate`, whose samples are not recomputed"


def of_group(record: Record, numbers: Sequence[int]) -> dict[str, tuple[str, float | None]]:
    """None."""
    del record, numbers
    return {}
