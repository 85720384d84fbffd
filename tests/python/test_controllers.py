"""The comparison of one controller in many stacks: its networks, its implementations, its steps, what its tables say."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from thalweg import Scenario
from thalweg_papers._base import Pair, Samples, Scale
from thalweg_papers.controllers import STUDY, experiments, figures, measures, origins, scenarios, steps
from thalweg_papers.controllers.keys import Key


def test_there_are_24_networks_and_each_implementation_is_on_all():
    assert len(scenarios.NETWORKS) == len(set(scenarios.NETWORKS)) == 24
    for key in Key:
        assert len(STUDY.experiments()[key].variants) == 24 * len(scenarios.implementations(key))
    assert "quinn" in scenarios.implementations(Key.CUBIC)
    # its BBR cannot be repeated
    assert "quinn" not in scenarios.implementations(Key.BBR)


@pytest.mark.parametrize("key", Key)
def test_every_scenario_is_accepted_and_has_the_reference(key):
    for implementation in scenarios.implementations(key):
        tree = scenarios.tree(key, scenarios.variant(implementation, scenarios.NETWORKS[0]), Scale())
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
        for implementation in scenarios.implementations(key):
            sample = {
                "goodput_bps": goodputs.get(implementation, 5e6),
                "reference_bps": 5e6,
                "queueing_s": 0.01,
                "loss": 0.001,
            }
            for network in scenarios.NETWORKS:
                cases[key, scenarios.variant(implementation, network)] = [sample]
        for case in steps.cases(key) if key in steps.STEPS else ():
            sample = sample | {"goodput_bps": goodputs.get(case, 5e6)}
            for network in scenarios.NETWORKS:
                cases[steps.STEPS[key], scenarios.variant(case, network)] = [sample]
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


def test_losses_that_are_too_few_are_not_compared():
    assert measures.apart(0.009, 0.0, "loss_percent") is None
    assert measures.apart(0.02, 0.0, "loss_percent") == pytest.approx(1.0)
    assert measures.apart(0.0, 0.0, "queueing_delay_ms") is None


@pytest.mark.parametrize("key", steps.STEPS)
def test_a_step_is_the_baseline_with_another_flow(key):
    network = scenarios.NETWORKS[0]
    baseline = scenarios.tree(key, scenarios.variant(scenarios.BASELINE, network), Scale())
    seen = []
    for case in steps.cases(key):
        tree = steps.tree(key, scenarios.variant(case, network), Scale())
        Scenario.from_tree(tree).plan(1)
        measured, *others = tree["flows"]
        assert others == baseline["flows"][1:]
        assert measured not in (*seen, baseline["flows"][0])
        seen.append(measured)
    # each step of TCP keeps those before it
    assert seen[3]["tcp"] == {
        "like": "linux",
        "reduction": "halt",
        "header": "62 B",
        "quick_acks": 0,
        "ack_delay": "25 ms",
        "pacing": "quic",
    }


def test_a_plugged_controller_has_the_parameters_that_linux_sets():
    for key in steps.STEPS:
        tree = scenarios.tree(key, scenarios.variant(scenarios.BASELINE, scenarios.NETWORKS[0]), Scale())
        flow = Scenario.from_tree(tree).plan(1).tree["flows"][0]
        for name, value in steps.PARAMS[key].items():
            assert flow["params"][name] == value


def test_a_difference_is_of_the_step_that_makes_most_of_it():
    # shares of 52.4, 60, 60.8 and 75 %
    shares = {
        "noq-linux": 5.5e6,
        "quinn-linux": 7.5e6,
        "quinn-plugged": 7.5e6,
        "quinn-no-hystart": 7.75e6,
        "quinn": 15e6,
    }
    rows = {
        (row["algorithm"], row["implementation"], row["quantity"]): row
        for row in origins.origins(made(shares), Scale()).rows()
    }
    row = rows["CUBIC", "quinn", "share"]
    assert (row["differences"], row["growth"], row["bursts_rate_undo"]) == (24, 24, 0)
    row = rows["BBR", "quinn, our controller", "share"]
    assert (row["differences"], row["bursts_rate_undo"]) == (24, 24)
    # 52.4 % of 50 %
    assert ("BBR", "noq, our controller", "share") not in rows
    walk = [row for row in origins.walk(made(shares), Scale()).rows() if row["algorithm"] == "CUBIC"]
    # towards quinn the baseline, four steps of TCP, both transports, slow start, growth; then noq's slow start, growth
    assert [row["share_changes"] for row in walk] == [None, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0]


def test_differences_within_the_spread_of_seeds_are_not_significant():
    def samples(*goodputs):
        return [{"goodput_bps": rate, "reference_bps": 5e6, "queueing_s": 0, "loss": 0} for rate in goodputs]

    assert origins._not_significant(samples(4e6, 9e6, 5e6), samples(5e6, 5e6, 5e6), "share_percent")
    assert not origins._not_significant(samples(9e6, 9.1e6, 9.2e6), samples(5e6, 5e6, 5e6), "share_percent")


def test_lines_of_source_are_those_of_the_locked_versions():
    root = Path(__file__).resolve().parents[2]
    locked = tomllib.loads((root / "Cargo.lock").read_text())["package"]
    versions = {(package["name"], package["version"]) for package in locked}
    assert set(steps.VERSIONS.values()) <= versions
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    for lines in steps.LINES:
        crate, version = steps.VERSIONS[lines.stack]
        for source in cargo.glob(f"registry/src/*/{crate}-{version}/{lines.file}"):
            text = source.read_text().splitlines()
            assert lines.about in text[lines.first - 1], lines
            assert lines.last <= len(text)
    assert {lines.step for lines in steps.LINES} == set(origins.SHORT)


def test_the_kernel_is_on_the_same_networks_beside_the_baseline():
    for key, experiment in experiments.KERNEL.items():
        assert experiment.variants == scenarios.NETWORKS
        network = scenarios.NETWORKS[0]
        tree = experiment.tree(network, Scale())
        baseline = scenarios.tree(Key(key), scenarios.variant(scenarios.BASELINE, network), Scale())
        assert tree["flows"][0].pop("kernel") == tree["flows"][0]["scheme"]
        baseline["flows"][0].pop("tcp")
        assert {**tree, "title": ""} == {**baseline, "title": ""}
    assert len(scenarios.KERNEL_CASES) == 72


def test_rows_of_the_kernel_count_differences_from_the_baseline():
    sample = {"goodput_bps": 6e6, "reference_bps": 4e6, "queueing_s": 0.02, "loss": 0.002}
    first, second = scenarios.NETWORKS[:2]
    simulated = Samples({(Key.BBR, network): [sample] for network in (first, second)})
    emulated = Samples({(Key.BBR, first): [{**sample, "goodput_bps": 12e6}], (Key.BBR, second): [sample]})
    (row,) = figures.kernel(Pair(simulated, emulated)).rows()
    assert (row["algorithm"], row["networks"], row["share_percent"]) == ("BBR", 2, 67.5)
    assert (row["share_differs"], row["loss_differs"]) == (1, 0)
    (difference,) = figures.kernel_differences(Pair(simulated, emulated)).rows()
    assert (difference["network"], difference["difference_percent"]) == (first, 25)
    assert figures.kernel(Pair(Samples({}), Samples({}))) is None
