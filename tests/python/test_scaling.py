"""Control from one place beyond ndnSieve's paper: its networks, what is said of a run, and a figure."""

from __future__ import annotations

import numpy as np
import pytest

import thalweg_papers as papers
from thalweg import Scenario
from thalweg_papers._base import Quantity, Samples, Scale
from thalweg_papers._common import columns
from thalweg_papers.scaling import STUDY, figures, networks, scenarios


def test_it_is_a_study_of_its_own():
    assert STUDY is papers.STUDIES["scaling"]
    drawn = {name for spec in STUDY.figure_specs() for name in spec.experiments}
    assert drawn == set(STUDY.experiments())


@pytest.mark.parametrize("experiment", ["far", "deaf", "death", "size"])
def test_every_scenario_is_accepted(experiment):
    runs = STUDY.experiments()[experiment]
    for variant in runs.variants:
        if "200" not in variant:
            Scenario.from_tree(runs.tree(variant, Scale())).plan(1)


# --- networks --------------------------------------------------------------------------------------------------------


def reached(count, edges):
    """How many routers the first one reaches."""
    known, new = {0}, {0}
    while new:
        new = {b for a, b in [*edges, *((b, a) for a, b in edges)] if a in new} - known
        known |= new
    return len(known & set(range(count)))


@pytest.mark.parametrize("count", [10, 50, 200])
def test_networks_are_connected_and_have_the_links_that_they_should(count):
    grown = networks.preferred(count, 2, 5)
    assert len(grown) == len(set(grown)) == 3 + 2 * (count - 3)
    assert reached(count, grown) == count
    near, places = networks.near(count, 4.0, 5)
    assert len(near) == len(set(near)) == 2 * count
    assert all(a > b for a, b in near)
    assert reached(count, near) == count == len(places)


def test_networks_are_the_same_for_the_same_numbers_and_differ_for_others():
    assert networks.preferred(50, 2, 5) == networks.preferred(50, 2, 5) != networks.preferred(50, 2, 6)
    assert networks.near(50, 4.0, 5) == networks.near(50, 4.0, 5)
    with pytest.raises(ValueError, match="2 routers"):
        networks.preferred(2, 2, 1)


def test_preference_makes_hubs_and_distance_makes_short_links():
    def degrees(edges):
        return np.bincount(np.array(edges).ravel())

    grown = degrees(networks.preferred(200, 2, 5))
    near, places = networks.near(200, 4.0, 5)
    assert grown.max() > 2 * degrees(near).max()
    lengths = [np.hypot(*np.subtract(places[a], places[b])) for a, b in near]
    # two points of a square are 0.52 apart in the mean
    assert np.mean(lengths) < 0.3


# --- measures --------------------------------------------------------------------------------------------------------


def sample(total=10.0, moves=()):
    """A run with the same total throughout, unless a row of 300 is given."""
    return {
        "total_mbps": np.resize(np.array(total, dtype=float), 300),
        "moves_s": np.array(moves),
        "delay_ms": 50.0,
    }


def test_swings_are_of_bins_of_half_a_second():
    # 5 and 15 by turns of 0.1 s are even within 0.5 s except for one bin in each; by turns of 0.5 s they are not
    assert figures.swings()(sample([5.0] * 5 + [15.0] * 5)) == pytest.approx(5.0)
    assert figures.swings()(sample()) == 0
    assert figures.throughput()(sample([0.0] * 50 + [10.0] * 250)) == pytest.approx(10.0)


def test_recovery_is_the_time_to_the_next_move_and_all_of_the_rest_without_one():
    assert figures.until(20.0)(sample(moves=(3.0, 20.0, 21.5, 25.0))) == pytest.approx(1.5)
    assert figures.until(20.0)(sample(moves=(3.0,))) == pytest.approx(10.0)
    assert figures.moves(0.0, 20.0)(sample(moves=(3.0, 20.0, 21.5))) == 2


def test_operations_by_period_follow_the_ports_and_those_by_packet_the_packets():
    """A real run of ten routers, with equation (6) computed from the network."""
    runs = STUDY.experiments()["size"]
    variant = "preference, 10: calibrated"
    tree = runs.tree(variant, Scale(0.2))
    found = runs.extract(Scenario.from_tree(tree).plan(1).run(), variant, Scale(0.2))
    ends = [end for link in tree["topology"]["links"] for end in link["ends"] if end.startswith("r")]
    # two periods a second except the last, whose end is not seen; three for each port, at most one more for a signal
    lowest = 3 * len(ends) * 3 / 2.0 / 10
    assert lowest <= found["by_period"] <= lowest * 4 / 3
    # one for each packet that leaves, one for each mark, and the ends of periods
    assert found["packets"] <= found["by_packet"] <= 2.5 * found["packets"]
    assert found["controller"] > 0
    assert found["routers"] == 10


def test_a_figure_is_drawn_from_a_quick_run():
    done = papers.reproduce("scaling", figure="death", quick=True)
    assert "<svg" in done.figures["death"].svg
    assert done.of_paper is False
    assert not done.claims


def test_a_row_has_a_mean_and_an_interval():
    samples = Samples({("far", "calibrated: 0"): [sample(1.0), sample(11.0), sample(21.0)]})
    values = {"throughput_mbps": figures.throughput()}
    row = figures._row(samples, "far", "calibrated: 0", values)
    assert row["throughput_mbps"] == 11.0
    # 11 ± 24.84, and no throughput is negative
    assert (row["throughput_mbps_low"], row["throughput_mbps_high"]) == (0, pytest.approx(35.84, abs=1e-2))
    assert scenarios.FAR_MS[0] == 0


def test_a_share_in_a_table_is_at_most_one():
    index = columns("jain", Quantity((0.6, 0.9, 0.8)))
    # 0.767 ± 0.379
    assert (index["jain_low"], index["jain_high"]) == (pytest.approx(0.387, abs=1e-3), 1)
    lost = columns("lost_percent", Quantity((60.0, 90.0, 80.0)))
    assert lost["lost_percent_high"] == 100
    fast = columns("throughput_mbps", Quantity((60.0, 90.0, 80.0)))
    assert fast["throughput_mbps_high"] == pytest.approx(114.6, abs=1)
