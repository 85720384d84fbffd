"""Numbers over seeds, against values computed by hand."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw
from thalweg.report.numbers import number
from thalweg.report.sweep_rows import points
from thalweg.stats import half_width, interval_text


def test_an_estimate_has_students_interval():
    found = tw.estimate([1.0, 2.0, 3.0, 4.0, None])
    assert (found.n, found.mean) == (4, 2.5)
    # squares 2.25 + 0.25 + 0.25 + 2.25 = 5, / 3; t(0.975, 3) = 3.1824463
    assert found.sd == pytest.approx(math.sqrt(5 / 3))
    half = 3.1824463 * math.sqrt(5 / 3) / 2
    assert (found.low, found.high) == (
        pytest.approx(2.5 - half, rel=1e-7),
        pytest.approx(2.5 + half, rel=1e-7),
    )
    assert found.few
    assert str(found) == "2.5 ± 2.1"


def test_one_run_has_no_interval_and_none_has_no_mean():
    one = tw.estimate([5.0])
    assert (one.n, one.mean) == (1, 5.0)
    assert one.interval is None
    assert math.isnan(one.low)
    assert str(one) == "5"
    assert math.isnan(tw.estimate([]).mean)


def test_the_range_and_the_kind_of_a_metric_change_its_interval():
    values = [0.7, 0.9, 1.0, 1.0, 0.99]
    plain, share = tw.estimate(values), tw.estimate(values, "flows.fairness")
    # mean 0.918, squares 0.06648, / 4, deviation 0.128919, error 0.0576541, t(0.975, 4) = 2.7764451
    assert plain.high == pytest.approx(0.918 + 2.7764451 * 0.0576541, rel=1e-6)
    assert plain.high > 1
    assert share.high == 1
    assert share.low < plain.low, "the tail is below the mean"
    assert str(share) == f"0.92 [{share.low:.2f}, 1.00]"
    bounded = tw.estimate(values, within=(0, 1))
    assert (bounded.low, bounded.high) == (plain.low, 1)
    assert tw.estimate(values, skewed=True).low == share.low


def test_an_interval_without_skewness_is_that_of_halls_transformation():
    """Its ends, put into the cubic, are the quantiles of Student's t."""
    values = [1.0, 1.1, 1.2, 1.4, 3.0]
    found = tw.estimate(values, skewed=True)
    n, mean = 5, sum(values) / 5
    # Hall's g is the third moment over the cube of the deviation, both with n
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / n)
    g = sum((value - mean) ** 3 for value in values) / n / deviation**3
    for end, sign in ((found.low, 1), (found.high, -1)):
        t = (mean - end) / found.sd
        cubic = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / (6 * n)
        assert math.sqrt(n) * cubic == pytest.approx(sign * 2.7764451, rel=1e-6)


def test_runs_that_share_their_seeds_are_compared_in_pairs():
    found = tw.paired([10.0, 20.0, None, 40.0], [9.0, 19.0, 5.0, 39.0])
    assert (found.n, found.mean, found.sd) == (3, 1.0, 0.0)
    with pytest.raises(ValueError, match="zip"):
        tw.paired([1.0], [1.0, 2.0])


@pytest.mark.parametrize("runs", [*range(2, 42), 101, 1000, 1001, 1002, 1003, 100_000])
def test_the_interval_is_that_of_scipy(runs: int):
    from scipy import stats

    expected = float(stats.t.ppf(0.975, runs - 1)) / math.sqrt(runs)
    assert half_width(runs, 1.0) == pytest.approx(expected, rel=1e-11)


def printed_numbers(text: str) -> list[str]:
    """The mean and the half width, or the mean and both ends, as they are printed."""
    inner = text.removeprefix("(").partition(")")[0].replace("\u202f", "")
    return re.sub(r"[\[\]±,]", " ", inner).split()


@settings(max_examples=2000)
@given(
    values=st.lists(st.integers(0, 10**6).map(lambda value: value / 10**6), min_size=3, max_size=8),
    top=st.sampled_from([1.0, 100.0, math.inf]),
    size=st.integers(-12, 12),
    digits=st.integers(2, 6),
    skewed=st.booleans(),
)
def test_a_printed_interval_stays_in_the_possible_range(values, top, size, digits, skewed):
    if top is math.inf:
        values, within = [value * 10.0**size for value in values], (0.0, math.inf)
    else:
        values, within = [value * top for value in values], (0.0, top)
    found = tw.estimate(values, within=within, skewed=skewed)
    text = interval_text(found.mean, found.interval, number, digits)
    if not found.sd:
        assert text.endswith(("± 0", *(f"± 0.{'0' * places}" for places in range(1, 7))))
        return
    shown = printed_numbers(text)
    parts = [float(part) for part in shown]
    assert len({len(part.partition(".")[2]) for part in shown}) == 1, "the same decimals"
    if "±" in text:
        mean, half = parts
        assert 0 < half <= mean
        assert "·" in text or mean + half <= top * (1 + 1e-9)
        assert len(shown[1].replace(".", "").strip("0")) <= 2
    else:
        mean, low, high = parts
        assert 0 <= low <= mean <= high
        assert "·" in text or high <= top


@pytest.mark.parametrize(
    ("mean", "low", "high", "digits", "expected"),
    [
        (20.0, 19.97, 20.03, 3, "20.00 ± 0.03"),
        (0.9512, 0.9389, 0.9635, 4, "0.951 ± 0.012"),
        (1023.2, 723.2, 1323.2, 4, "1\u202f020 ± 300"),
        (0.141, 0.0, 0.321, 3, "0.14 [0.00, 0.32]"),
        # 1.0 ± 1.1 would be printed, although the interval begins at 0
        (1.045, 0.0, 2.11, 4, "1.0 [0.0, 2.1]"),
        (-0.24, -1.24, 0.76, 3, "−0.2 ± 1.0"),
        (0.5, 0.499_999_999, 0.500_000_001, 4, "0.500000 ± 0.000001"),
        (1.0, 0.999_999_99, 1.0, 4, "1.00000 [0.99999, 1.00000]"),
        (2.34e-5, 2.22e-5, 2.46e-5, 4, "(2.34 ± 0.12)·10⁻⁵"),
        (0.0996, 0.0, 0.1992, 4, "0.1 ± 0.1"),
    ],
)
def test_a_mean_and_its_interval_have_the_same_decimals(mean, low, high, digits, expected):
    assert interval_text(mean, (low, high), number, digits) == expected


def test_two_seeds_have_no_printed_interval():
    two = tw.estimate([1.0, 3.0], within=(0, math.inf))
    assert (two.n, str(two)) == (2, "2")
    assert two.interval is not None
    summary = [{"metric": "flows.fairness", "n": 2, "mean": 0.9, "low": 0.1, "high": 1.0}]
    assert points(summary, [], ["flows.fairness"]) == [{"n": 2, "flows.fairness": (0.9, None, None)}]
