"""The trained example `examples/learned`: its policy runs without a library for learning, and training is repeatable."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest

import thalweg as tw
from conftest import ROOT
from thalweg.scheme import sources_digest

FOLDER = ROOT / "examples" / "learned"


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"learned_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


train = module("train")


def weights(updates: int, seed: int) -> list[list[Any]]:
    """All parameters of the policy, before the first update and after each."""
    rows = train.train(updates, seed, episodes=2, duration_s=2.0)
    return [[value.tolist() for value in policy.values] for policy, _, _ in rows]


def test_a_few_updates_change_the_parameters_and_depend_on_the_seed_alone() -> None:
    first = weights(2, seed=1)
    assert first == weights(2, seed=1)
    assert first[0] != first[1] != first[2]
    assert first != weights(2, seed=2)


def test_an_update_prefers_the_action_with_the_higher_reward() -> None:
    random = numpy.random.default_rng(1)
    policy, critic = train.Layers(random), train.Layers(random)
    seen = random.uniform(0, 1, (401, len(train.FEATURES)))
    for _ in range(20):
        before = policy.forward(seen[:-1])[0]
        actions = before + 0.3 * random.standard_normal(400)
        # the best action is 0.5
        train.improve(policy, critic, [(seen, actions, -((actions - 0.5) ** 2))], 0.3, 3e-3, random)
    assert float(policy.forward(seen)[0].mean()) == pytest.approx(0.5, abs=0.15)


def loops(layers: list[Any], values: list[float]) -> float:
    """The mean action of a network, term by term from left to right."""
    for depth, (weights, biases) in enumerate(layers):
        sums = []
        for row, bias in zip(weights, biases, strict=True):
            total = bias
            for weight, value in zip(row, values, strict=True):
                total += weight * value
            sums.append(total)
        values = sums if depth == len(layers) - 1 else [max(value, 0.0) for value in sums]
    return values[0]


def test_a_written_policy_acts_as_the_trained_one(tmp_path: Path) -> None:
    random = numpy.random.default_rng(3)
    policy = train.Layers(random)
    policy.values[2] = random.normal(0, 1, policy.values[2].shape)
    train.save(policy, 0, 3, tmp_path / "policy.json")
    network = module("learned").Network(tmp_path / "policy.json")
    features = random.uniform(0, 1, len(train.FEATURES))
    wanted = policy.forward(features[None, :])[0][0]
    assert network.action(tuple(features.tolist())) == pytest.approx(wanted, abs=1e-4)
    layers = [
        (layer["weights"], layer["biases"])
        for layer in json.loads((tmp_path / "policy.json").read_text("utf-8"))["layers"]
    ]
    for row in random.uniform(-1, 10, (50, len(train.FEATURES))).tolist():
        assert network.action(tuple(row)) == loops(layers, row), "the same bits as written out in loops"
    text = json.loads((tmp_path / "policy.json").read_text("utf-8"))
    (tmp_path / "other.json").write_text(json.dumps({**text, "features": ["rtt"]}), "utf-8")
    with pytest.raises(ValueError, match="other features"):
        module("learned").Network(tmp_path / "other.json")


def test_the_committed_policy_fills_a_link_and_kept_results_depend_on_it() -> None:
    assert tw.load_schemes(FOLDER / "learned.py") == ["learned"]
    scenario = tw.Scenario(
        duration="10 s",
        warmup="5 s",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="18 ms", buffer="1 bdp")),
        flows=[tw.Flow(name="flow", scheme="learned")],
    )
    first, again = scenario.run(seed=1), scenario.run(seed=1)
    assert first.trace_hash == again.trace_hash
    assert (first["link.bottleneck.utilisation"] or 0) > 0.8
    learned = tw.scheme.registered()["learned"]
    with pytest.MonkeyPatch.context() as patch:
        before = sources_digest()
        patch.setattr(learned, "files", ())
        assert sources_digest() != before
