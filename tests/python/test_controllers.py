"""The comparison of one controller in many stacks: its networks, its implementations, what its tables say."""

from __future__ import annotations

import pytest

from thalweg import Scenario
from thalweg_papers._base import Samples, Scale
from thalweg_papers.controllers import STUDY, experiments, figures, scenarios
from thalweg_papers.controllers.keys import Key


def test_there_are_24_networks_and_each_implementation_is_on_all():
    assert len(scenarios.NETWORKS) == len(set(scenarios.NETWORKS)) == 24
    for key, experiment in STUDY.experiments().items():
        assert len(experiment.variants) == 24 * len(scenarios.ways(Key(key)))
    assert "quinn" in scenarios.ways(Key.CUBIC)
    # its BBR cannot be repeated
    assert "quinn" not in scenarios.ways(Key.BBR)


@pytest.mark.parametrize("key", Key)
def test_every_scenario_is_accepted_and_has_the_reference(key):
    for way in scenarios.ways(key):
        tree = scenarios.tree(key, scenarios.variant(way, scenarios.NETWORKS[0]), Scale())
        assert tree["flows"][1]["scheme"] == "cubic"
        Scenario.from_tree(tree).plan(1)


def test_a_run_keeps_rates_delay_and_loss():
    tree = scenarios.tree(Key.CUBIC, "quinn 4 20 1 loss", Scale(0.25))
    kept = experiments.extract(Scenario.from_tree(tree).plan(1).run(), "", Scale())
    assert 0 < kept["goodput_bps"] < 4e6
    assert 3e6 < kept["goodput_bps"] + kept["reference_bps"] < 4e6
    # at most a bandwidth-delay product of 20 ms and one packet more
    assert 0 < kept["queueing_s"] < 0.025
    assert 0.0005 < kept["loss"] < 0.1


def made(goodputs: dict[str, float]) -> Samples:
    """Samples in which implementations differ in goodput alone; the reference has 5 Mbit/s."""
    cases = {}
    for key in Key:
        for way in scenarios.ways(key):
            sample = {
                "goodput_bps": goodputs.get(way, 5e6),
                "reference_bps": 5e6,
                "queueing_s": 0.01,
                "loss": 0.001,
            }
            for network in scenarios.NETWORKS:
                cases[key, scenarios.variant(way, network)] = [sample]
    return Samples(cases)


def test_differences_count_above_the_band_and_are_of_controller_or_transport():
    # shares of 50 %, of 60 % with our controller, and of 75 % with the stack's own
    samples = made({"quinn": 15e6, "quinn-plugged": 7.5e6, "noq": 5.5e6})
    rows = {
        (row["algorithm"], row["implementation"]): row for row in figures.summary(samples, Scale()).rows()
    }
    assert rows["CUBIC", "quinn"]["share_percent"] == 75
    assert rows["CUBIC", "quinn"]["share_differs"] == 24
    # 52.4 % of 50 %
    assert rows["CUBIC", "noq"]["share_differs"] == 0
    assert ("BBR", "quinn") not in rows
    found = [row for row in figures.differences(samples, Scale()).rows() if row["algorithm"] == "CUBIC"]
    assert len(found) == 24
    assert {row["quantity"] for row in found} == {"share"}
    first = found[0]
    assert (first["difference_percent"], first["of_controller_percent"]) == (50, 25)
    assert first["of_transport_percent"] == 20
    causes = next(figures.causes(samples, Scale()).rows())
    assert (causes["differences"], causes["mostly_controller"], causes["mostly_transport"]) == (24, 24, 0)


def test_losses_that_are_too_few_are_not_compared():
    assert figures.apart(0.009, 0.0, "loss_percent") is None
    assert figures.apart(0.02, 0.0, "loss_percent") == pytest.approx(1.0)
    assert figures.apart(0.0, 0.0, "queueing_delay_ms") is None
