"""Statistics over seeds: means with 95 % confidence intervals, paired differences, shares of runs, percentiles.

A number of a run is one observation, and seeds are independent, so that an interval is one of the mean over seeds. The name
of a metric says which interval it has (`is_skewed`) and which values are possible (`possible_range`):

- Means of rates, delays and counts have Student's t interval, exact for normal observations.
- Shares (fairness, utilisation, loss), percentiles, extremes and completion times have a skewed distribution over seeds.
  Their interval is Student's after a transformation that removes the skewness [H92]. With five seeds it covers the mean
  more often than Student's interval and than the bootstrap (BCa); `docs/concepts/statistics.md` has the measurements.
- No interval leaves the possible range of its metric, and the true mean is in that range, so that cutting it costs no
  coverage.
- A share of runs has the exact interval of the binomial distribution [CP34], a percentile of runs the exact interval of
  order statistics [DN03].

Sources: [AS64] Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, §26.7, Student's t. [CP34] Clopper and
Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934. [DN03] David and Nagaraja, Order Statistics, 3rd
ed., 2003, §7.1. [H92] Hall, On the removal of skewness by transformation, J. R. Statist. Soc. B 54, 1992, pages 221-228.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, islice
from typing import Any

LEVEL = 0.95
"""Confidence level of all intervals."""

FEW_SEEDS = 5
"""Fewer observations than this are too few for an interval to mean much."""

ROUNDING = 1e-12
"""Observations that differ by at most this share of the largest are equal: they differ by rounding only."""

MIN_SEEDS = 3
"""Fewer observations than this have no interval where one is printed."""

MANY = 1000
"""Degrees of freedom above which the quantile of Student's t is an expansion whose error is below 10⁻¹²."""

ANY = (-math.inf, math.inf)
"""The range of differences."""

SHARES = re.compile(r"(fairness|utilisation|share)(_\w+)?|(\w+_)?ratio(_\w+)?")
"""Last words of metrics from 0 to 1."""

SIGNED = frozenset({"qoe"})
"""Last words of metrics that may be negative."""

SKEWED = re.compile(
    r"\w+_(p\d+|min|max|worst|best|peak)|(fct|duration|startup|stalled|recovery|convergence)(_\w+)?"
)
"""Last words of metrics that, with the shares, have the interval without skewness."""


@dataclass(frozen=True)
class Estimate:
    """An estimate of one number from several runs, with its 95 % confidence interval."""

    n: int
    """Runs that measured it."""
    mean: float
    """Their mean, or the share or percentile that is estimated; not-a-number for none."""
    sd: float
    """Standard deviation (n − 1) of the observations; not-a-number below two runs."""
    low: float
    """Lower end of the interval; not-a-number without an interval."""
    high: float
    """Upper end of the interval; not-a-number without an interval."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the interval; None without an interval."""
        return None if math.isnan(self.low) or math.isnan(self.high) else (self.low, self.high)

    @property
    def few(self) -> bool:
        """Whether the runs are too few for the interval to mean much."""
        return self.n < FEW_SEEDS

    def __str__(self) -> str:
        return interval_text(self.mean, self.interval if self.n >= MIN_SEEDS else None)


def estimate(
    values: Iterable[float | None],
    metric: str | None = None,
    *,
    skewed: bool | None = None,
    within: tuple[float, float] | None = None,
) -> Estimate:
    """Mean, deviation and interval of one value per run; runs that could not measure it (None) are omitted.

    `metric` is a key of a result, such as ``flows.fairness``: its name decides the kind of the interval and the possible
    range. `skewed` (default: no) and `within` (default: all numbers) decide them without a name, or otherwise.
    """
    import numpy

    if metric is not None:
        skewed = is_skewed(metric) if skewed is None else skewed
        within = possible_range(metric) if within is None else within
    known = numpy.array([value for value in values if value is not None], dtype=float)
    n = len(known)
    if n == 0:
        return Estimate(0, math.nan, math.nan, math.nan, math.nan)
    mean = math.fsum(known) / n
    if n == 1:
        return Estimate(1, mean, math.nan, math.nan, math.nan)
    sd, skewness = 0.0, 0.0
    if numpy.ptp(known) > ROUNDING * numpy.abs(known).max():
        sd = math.sqrt(math.fsum((known - mean) ** 2) / (n - 1))
        skewness = math.fsum((known - mean) ** 3) / n / (sd * math.sqrt((n - 1) / n)) ** 3
    low, high = mean_interval(n, mean, sd, skewness if skewed else 0.0, within or ANY)
    return Estimate(n, mean, sd, float(low), float(high))


def paired(first: Iterable[float | None], second: Iterable[float | None]) -> Estimate:
    """The difference first − second of runs that share their seeds, in the same order (Student's t of the differences).

    Pairs with a missing value are omitted. `ValueError` if the numbers of values differ.
    """
    pairs = zip(first, second, strict=True)
    return estimate(
        0.0 if abs(a - b) <= ROUNDING * max(abs(a), abs(b)) else a - b
        for a, b in pairs
        if a is not None and b is not None
    )


def proportion(successes: int, n: int) -> Estimate:
    """The share of `n` runs that are successes, with its exact interval [CP34]: it covers with 95 % or more."""
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} runs")
    if n == 0:
        return estimate(())
    tail = (1 - LEVEL) / 2
    low = 0.0 if successes == 0 else _solve(lambda p: 1 - _binomial(successes - 1, n, p), tail)
    high = 1.0 if successes == n else 1 - _solve(lambda q: _binomial(successes, n, 1 - q), tail)
    share = successes / n
    sd = math.sqrt(share * (1 - share) * n / (n - 1)) if n > 1 else math.nan
    return Estimate(n, share, sd, low, high)


def percentile(values: Iterable[float | None], share: float) -> Estimate:
    """The percentile of a value over runs (nearest rank; `share` 0.5 is the median), with its exact interval [DN03].

    The ends of the interval are two of the values, whatever their distribution; it covers with 95 % or more. It is
    missing if the values are too few: a median needs six. `ValueError` if `share` is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise ValueError(f"a percentile is between 0 and 1, not {share}")
    known = sorted(float(value) for value in values if value is not None)
    found = estimate(known)
    n = found.n
    if n == 0:
        return found
    tail = (1 - LEVEL) / 2
    # probability that at most `rank` values are below the percentile
    cumulative = list(accumulate(_binomial_masses(n, share)))
    below = [rank for rank in range(n) if cumulative[rank] <= tail]
    above = [rank for rank in range(n) if 1 - cumulative[rank] <= tail]
    ends = (known[below[-1]], known[above[0]]) if below and above else (math.nan, math.nan)
    return Estimate(n, known[max(math.ceil(share * n), 1) - 1], found.sd, *ends)


def is_skewed(metric: str) -> bool:
    """Whether a metric has the interval for skewed observations: shares, percentiles, extremes, completion times."""
    word = metric.rsplit(".", 1)[-1]
    return bool(SHARES.fullmatch(word) or SKEWED.fullmatch(word))


def possible_range(metric: str) -> tuple[float, float]:
    """The smallest and the largest possible value of a metric in its unit in tables; for rates, times and counts from 0."""
    word = metric.rsplit(".", 1)[-1]
    if SHARES.fullmatch(word):
        return 0.0, 1.0
    return (-math.inf if word in SIGNED else 0.0), math.inf


def mean_interval(
    n: int, mean: Any, sd: Any, skewness: Any = 0.0, within: tuple[float, float] = ANY
) -> tuple[Any, Any]:
    """Ends of the 95 % confidence interval of a mean over `n` runs, from moments: numbers, or arrays of them.

    `sd` is the standard deviation (n − 1), `skewness` the third central moment over the cube of the deviation (n). With a
    skewness of 0 it is Student's interval. Otherwise its quantiles go through the inverse of the cubic transformation that
    removes the skewness of Student's statistic [H92]: t + g t² / 3 + g² t³ / 27 + g / 6n, where g is the skewness
    and t the statistic over √n. `within` is the possible range. Not-a-number below two runs.
    """
    import numpy

    if n < 2:
        nothing = numpy.full_like(numpy.asarray(mean, dtype=float), math.nan)
        return nothing, nothing
    g = numpy.asarray(skewness, dtype=float)
    steep = numpy.where(numpy.abs(g) < 1e-6, 1.0, g)
    quantile = _quantile(n - 1) / math.sqrt(n)
    ends = []
    for t in (quantile, -quantile):
        turned = numpy.where(
            numpy.abs(g) < 1e-6, t, 3 / steep * (numpy.cbrt(1 + steep * (t - steep / (6 * n))) - 1)
        )
        ends.append(numpy.clip(mean - sd * turned, *within))
    return ends[0], ends[1]


def half_width(n: int, sd: float) -> float:
    """Half width of Student's 95 % interval of a mean over `n` runs; not-a-number below two."""
    return _quantile(n - 1) * sd / math.sqrt(n) if n > 1 else math.nan


def few_seeds(n: int) -> str | None:
    """A sentence about too few seeds for an interval; None if they are enough, or one, which has none."""
    return f"{n} seeds: too few for an interval to mean much" if 1 < n < FEW_SEEDS else None


def interval_text(
    mean: float,
    interval: tuple[float, float] | None,
    number: Callable[[float, int], str] = lambda value, digits: f"{value:.{digits}g}",
    digits: int = 6,
) -> str:
    """`0.95 ± 0.01`, or `0.95 [0.91, 0.97]` for an interval with unequal sides; the mean alone without an interval.

    All numbers have as many decimals as the half width, which has two significant digits, or one where two would
    give the mean more than `digits`. No `a ± b` that is printed leaves a range that the interval keeps: it has b ≤ a if no
    part of the interval is negative, and a + b ≤ 1 (100 in percent) if none is above. `number` writes a number with so many
    significant digits; it writes a mean without an interval.
    """
    if interval is None or math.isnan(mean):
        return number(mean, digits)
    low, high = interval
    half = (high - low) / 2
    # of equal values the ends differ from the mean by rounding
    if half <= 1e-12 * abs(mean):
        text = number(mean, digits)
        return f"{text} ± 0" if "e" in text or "·" in text else f"{text} ± {0:.{_decimals(text)}f}"
    exponent = _exponent(max(abs(mean), abs(low), abs(high)), digits)
    if not -4 <= exponent < 9:
        scale = 10.0**-exponent
        inner = interval_text(mean * scale, (low * scale, high * scale), number, digits)
        return f"({inner})·10{raised(exponent)}"
    equal = abs((high - mean) - (mean - low)) <= 0.02 * half
    of_mean = digits - 1 - _exponent(max(abs(mean), half), digits)
    places = 1 - _exponent(half, 2)
    if places > of_mean:
        places = -_exponent(half, 1)
    if places > of_mean + 2:
        # too narrow for these digits: it is rounded outwards
        places = of_mean + 2
        scale = 10.0**places
        half = math.ceil(half * scale) / scale
        low, high = math.floor(low * scale) / scale, math.ceil(high * scale) / scale
    middle, width = round(mean, places), round(half, places)
    rounding = 1e-9 * 10.0**-places
    below = low >= 0 and width > middle + rounding
    above = any(high <= limit < middle + width - rounding for limit in (1, 100))
    if equal and not below and not above:
        return " ± ".join(_same_decimals((middle, width), places))
    texts = _same_decimals((middle, round(low, places), round(high, places)), places)
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def raised(exponent: int) -> str:
    """A whole number as a superscript: `⁻⁵`."""
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _exponent(value: float, digits: int) -> int:
    """The power of ten of the first digit of a positive number that is rounded to so many digits."""
    return int(f"{value:.{digits - 1}e}".split("e")[1])


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def _same_decimals(values: Iterable[float], places: int) -> list[str]:
    """Numbers with the same decimals, at most `places`, and narrow spaces between thousands."""
    texts = [f"{value + 0.0:,.{max(places, 0)}f}" for value in values]
    while "." in texts[0] and all(text.endswith("0") for text in texts):
        texts = [text[:-1].removesuffix(".") for text in texts]
    return [text.replace(",", "\u202f").replace("-", "−") for text in texts]


def _binomial_masses(n: int, p: float) -> Iterator[float]:
    """Probabilities of 0, 1, … n successes of `n` with probability `p` each, 0 < p < 1."""
    for k in range(n + 1):
        choices = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        yield math.exp(choices + k * math.log(p) + (n - k) * math.log1p(-p))


def _binomial(successes: int, n: int, p: float) -> float:
    """Probability of at most `successes` of `n` with probability `p` each, 0 < p < 1."""
    return math.fsum(islice(_binomial_masses(n, p), successes + 1))


def _solve(rising: Callable[[float], float], value: float) -> float:
    """Where a function that rises from 0 to 1 on [0, 1] has this value."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < value else (low, middle)
    return low


@cache
def _quantile(degrees: int) -> float:
    """Two-sided 95 % quantile of Student's t, for a whole number of degrees of freedom, to twelve digits."""
    if degrees > MANY:
        from statistics import NormalDist

        x = NormalDist().inv_cdf((1 + LEVEL) / 2)
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
        low, high = (middle, high) if _student_t_probability(middle, degrees) < LEVEL else (low, middle)
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
