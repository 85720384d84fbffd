"""Numbers over seeds, against values computed by hand."""

import math

import pytest

import thalweg as tw
from thalweg.stats import half_width


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
    assert str(share) == f"0.918 [{round(share.low, 2):g}, 1]"
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
