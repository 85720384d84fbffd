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
    assert found.ci95 == pytest.approx(3.1824463 * math.sqrt(5 / 3) / 2, rel=1e-7)
    assert (found.low, found.high) == (found.mean - found.ci95, found.mean + found.ci95)
    assert str(found) == "2.5 ± 2.1"


def test_one_run_has_no_interval_and_none_has_no_mean():
    one = tw.estimate([5.0])
    assert (one.n, one.mean) == (1, 5.0)
    assert math.isnan(one.ci95)
    assert str(one) == "5"
    assert math.isnan(tw.estimate([]).mean)


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
