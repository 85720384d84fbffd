"""Statistics over seeds: mean, standard deviation, confidence interval; paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Estimate:
    """Statistics of one number over several runs."""

    n: int
    """Runs that measured it."""
    mean: float
    """Their mean; not-a-number for none."""
    sd: float
    """Standard deviation (n − 1); not-a-number below two runs."""
    ci95: float
    """Half width of the 95 % confidence interval of the mean (Student t); not-a-number below two runs."""

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.ci95

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.ci95

    def __str__(self) -> str:
        return f"{self.mean:.6g}" if math.isnan(self.ci95) else f"{self.mean:.6g} ± {self.ci95:.2g}"


def estimate(values: Iterable[float | None]) -> Estimate:
    """Mean, deviation and interval of one value per run; runs that could not measure it (None) are omitted."""
    known = [float(value) for value in values if value is not None]
    n = len(known)
    if n == 0:
        return Estimate(0, math.nan, math.nan, math.nan)
    mean = math.fsum(known) / n
    if n == 1:
        return Estimate(1, mean, math.nan, math.nan)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (n - 1))
    return Estimate(n, mean, sd, half_width(n, sd))


def paired(first: Iterable[float | None], second: Iterable[float | None]) -> Estimate:
    """The difference first − second of runs that share their seeds, in the same order.

    Pairs with a missing value are omitted. `ValueError` if the numbers of values differ.
    """
    pairs = zip(first, second, strict=True)
    return estimate(a - b for a, b in pairs if a is not None and b is not None)


def half_width(n: int, sd: float) -> float:
    """Half width of the 95 % confidence interval of a mean over `n` runs; not-a-number below two."""
    return _quantile(n - 1) * sd / math.sqrt(n) if n > 1 else math.nan


@cache
def _quantile(degrees: int) -> float:
    """Two-sided 95 % quantile of Student's t."""
    from scipy import stats

    return float(stats.t.ppf(0.975, degrees))
