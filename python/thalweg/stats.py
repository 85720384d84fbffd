"""Statistics over seeds: mean, standard deviation, confidence interval; paired differences.

Sources: [AS64] Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, §26.7, Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

MANY = 1000
"""Degrees of freedom above which the quantile of Student's t is an expansion whose error is below 10⁻¹²."""


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
    """Two-sided 95 % quantile of Student's t, for a whole number of degrees of freedom, to twelve digits."""
    if degrees > MANY:
        from statistics import NormalDist

        x = NormalDist().inv_cdf(0.975)
        # [AS64 26.7.5], the expansion around the quantile x of the normal distribution
        terms = (
            x,
            (x**3 + x) / 4,
            (5 * x**5 + 16 * x**3 + 3 * x) / 96,
            (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
            (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
        )
        return math.fsum(term / degrees**power for power, term in enumerate(terms))
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _student_t_probability(middle, degrees) < 0.95 else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def _student_t_probability(angle: float, degrees: int) -> float:
    """The probability that |t| is below √degrees · tan(angle), in closed form."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    # [AS64 26.7.3] for odd degrees, [AS64 26.7.4] for even ones: powers of the cosine up to degrees − 2
    term = cosine if odd else 1.0
    terms = [] if degrees == 1 else [term]
    for power in range(2 + odd, degrees - 1, 2):
        term *= (power - 1) / power * cosine**2
        terms.append(term)
    total = sine * math.fsum(terms)
    return 2 / math.pi * (angle + total) if odd else total
