"""Trains the policy of `learned.py` by proximal policy optimisation (PPO) in `thalweg.gym`, and writes `policy.json`.

    python examples/learned/train.py --updates 60 --seed 1

Source: J. Schulman, F. Wolski, P. Dhariwal, A. Radford, O. Klimov, Proximal Policy Optimization Algorithms, 2017: the
clipped objective (eq. 7), with generalised advantage estimates (eq. 11, 12). It needs NumPy and `thalweg[gym]`. The same
seed gives the same policy on the same host; another NumPy may round otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy

from thalweg import Scenario
from thalweg.gym import FEATURES, FlowEnv
from thalweg.observation import DELAY_TOLERANCE, LOSS_WEIGHT, Step

Array = numpy.ndarray[Any, numpy.dtype[numpy.float64]]

HIDDEN = 16
"""Rectified linear units of the hidden layer of both networks."""
EPISODES = 8
"""Episodes per update, each of 20 simulated seconds."""
EPOCHS = 8
"""Passes over the steps of an update."""
BATCH = 512
"""Steps of a batch."""
DISCOUNT = 0.95
"""γ of the returns."""
TRACE = 0.9
"""λ of the advantage estimates."""
CLIP = 0.2
"""ε of the clipped objective."""
RATE = 3e-3
"""Step size of Adam, which falls linearly to zero."""
SPREAD = 0.35
"""Standard deviation of actions at the start; it falls linearly to a half."""
BESIDE = 0.4
"""Share of the episodes with a CUBIC flow beside the agent."""


class Networks:
    """The networks of the training, one per episode, and the reward in them."""

    def __init__(self, duration_s: float = 20.0) -> None:
        self.duration_s = duration_s
        self.rate_bps = 0.0
        self.beside_s = math.inf
        """Start of the CUBIC flow of this episode."""

    def network(self, random: numpy.random.Generator) -> Scenario:
        """A bottleneck of 3 to 30 Mbit/s, 5 to 45 ms one way, a buffer of 0.3 to 3 times their product, log-uniform.

        In a share of the networks a CUBIC flow starts within the first half. None has random loss, a rate that changes,
        another queue discipline than a FIFO, or finite transfers.
        """
        rate, delay, buffer = (
            float(numpy.exp(random.uniform(numpy.log(low), numpy.log(high))))
            for low, high in ((3, 30), (5, 45), (0.3, 3))
        )
        beside, start = float(random.random()) < BESIDE, float(random.uniform(0, self.duration_s / 2))
        self.rate_bps, self.beside_s = rate * 1e6, start if beside else math.inf
        flows: list[dict[str, Any]] = [{"name": "agent", "scheme": "agent"}]
        if beside:
            flows.append({"name": "cubic", "scheme": "cubic", "start": f"{start:.3f} s"})
        return Scenario.from_tree(
            {
                "title": "Training",
                "duration": f"{self.duration_s:g} s",
                "topology": {
                    "kind": "dumbbell",
                    "edge": {"rate": "1 Gbit/s", "delay": "1 ms", "buffer": "10000 packets"},
                    "bottleneck": {
                        "rate": f"{rate:.3f} Mbit/s",
                        "delay": f"{delay:.3f} ms",
                        "buffer": f"{buffer:.3f} bdp",
                    },
                },
                "flows": flows,
            }
        )

    def reward(self, step: Step) -> float:
        """Throughput minus weighted losses as a share of an equal one, at most 1, over the round-trip time.

        As `thalweg.observation.power`, but relative to the link instead of the best so far: a flow that never tried more
        would otherwise be content. The policy does not see the rate of the link.
        """
        summary = step.summary
        if summary.rtt_mean_s is None or summary.rtt_base_s is None:
            return 0.0
        equal = self.rate_bps / (2 if summary.now_s > self.beside_s else 1)
        lost_bps = summary.lost_bytes * 8 / summary.duration_s
        share = min(summary.delivery_rate_bps / equal, 1.0) - LOSS_WEIGHT * lost_bps / equal
        delay = summary.rtt_mean_s / summary.rtt_base_s
        return max(share, -1.0) / (1.0 if delay <= DELAY_TOLERANCE else delay)


class Layers:
    """A network with one hidden layer, and its gradients."""

    def __init__(self, random: numpy.random.Generator) -> None:
        inputs = len(FEATURES)
        self.values: list[Array] = [
            random.normal(0, (2 / inputs) ** 0.5, (HIDDEN, inputs)),
            numpy.zeros(HIDDEN),
            random.normal(0, 0.01, (1, HIDDEN)),
            numpy.zeros(1),
        ]
        self.moments = [(numpy.zeros_like(value), numpy.zeros_like(value)) for value in self.values]
        self.steps = 0

    def forward(self, inputs: Array) -> tuple[Array, Array]:
        """Outputs and hidden units of a batch."""
        w1, b1, w2, b2 = self.values
        hidden = numpy.maximum(inputs @ w1.T + b1, 0)
        return (hidden @ w2.T + b2)[:, 0], hidden

    def descend(self, inputs: Array, hidden: Array, slope: Array, rate: float) -> None:
        """A step of Adam (Kingma, Ba 2015, algorithm 1); `slope` is the derivative of the loss by each output."""
        back = numpy.outer(slope, self.values[2][0]) * (hidden > 0)
        gradients = [back.T @ inputs, back.sum(0), (slope @ hidden)[None, :], slope.sum(keepdims=True)]
        self.steps += 1
        for value, (first, second), gradient in zip(self.values, self.moments, gradients, strict=True):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            mean, square = first / (1 - 0.9**self.steps), second / (1 - 0.999**self.steps)
            value -= rate * mean / (numpy.sqrt(square) + 1e-8)


def play(
    env: FlowEnv, policy: Layers, spread: float, random: numpy.random.Generator
) -> tuple[Array, Array, Array]:
    """Observations (one more than actions), actions and rewards of an episode."""
    seen, _ = env.reset(seed=int(random.integers(2**31)))
    observations, actions, rewards, over = [seen], [], [], False
    while not over:
        mean = policy.forward(observations[-1][None, :].astype(float))[0][0]
        action = mean + spread * random.standard_normal()
        seen, reward, _, over, _ = env.step(numpy.array([action], dtype=numpy.float32))
        observations.append(seen)
        actions.append(action)
        rewards.append(reward)
    return numpy.array(observations, dtype=float), numpy.array(actions), numpy.array(rewards)


def advantages(values: Array, rewards: Array) -> Array:
    """Generalised advantage estimates; the episode goes on after its last step, because it is only truncated."""
    deltas = rewards + DISCOUNT * values[1:] - values[:-1]
    found, running = numpy.empty_like(deltas), 0.0
    for at in range(len(deltas) - 1, -1, -1):
        running = deltas[at] + DISCOUNT * TRACE * running
        found[at] = running
    return found


def improve(
    policy: Layers,
    critic: Layers,
    runs: list[tuple[Array, Array, Array]],
    spread: float,
    rate: float,
    random: numpy.random.Generator,
) -> None:
    """One update of both networks."""
    inputs = numpy.concatenate([seen[:-1] for seen, _, _ in runs])
    actions = numpy.concatenate([acted for _, acted, _ in runs])
    values = [critic.forward(seen)[0] for seen, _, _ in runs]
    gains = [advantages(value, row[2]) for value, row in zip(values, runs, strict=True)]
    targets = numpy.concatenate([gain + value[:-1] for gain, value in zip(gains, values, strict=True)])
    gain = numpy.concatenate(gains)
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    before = policy.forward(inputs)[0]
    for _ in range(EPOCHS):
        order = random.permutation(len(actions))
        for at in range(0, len(order), BATCH):
            batch = order[at : at + BATCH]
            mean, hidden = policy.forward(inputs[batch])
            # logarithm of the ratio of two normal densities
            change = ((actions[batch] - before[batch]) ** 2 - (actions[batch] - mean) ** 2) / (2 * spread**2)
            ratio = numpy.exp(numpy.clip(change, -20, 20))
            # the clipped objective has no slope where the ratio is beyond its bound  [eq. 7]
            inside = numpy.where(gain[batch] > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
            slope = -gain[batch] * ratio * inside * (actions[batch] - mean) / spread**2 / len(batch)
            policy.descend(inputs[batch], hidden, slope, rate)
            value, hidden = critic.forward(inputs[batch])
            critic.descend(inputs[batch], hidden, (value - targets[batch]) / len(batch), rate)


def train(
    updates: int, seed: int, *, episodes: int = EPISODES, duration_s: float = 20.0
) -> Iterator[tuple[Layers, float, int]]:
    """The policy before the first update and after each, with the mean reward and the number of steps of its episodes."""
    random = numpy.random.default_rng(seed)
    policy, critic, networks = Layers(random), Layers(random), Networks(duration_s)
    env = FlowEnv(networks.network, reward=networks.reward)
    yield policy, numpy.nan, 0
    for update in range(updates):
        left = 1 - update / updates
        spread = SPREAD * (0.5 + 0.5 * left)
        runs = [play(env, policy, spread, random) for _ in range(episodes)]
        improve(policy, critic, runs, spread, RATE * left, random)
        rewards = numpy.concatenate([row[2] for row in runs])
        yield policy, float(rewards.mean()), len(rewards)


def save(policy: Layers, updates: int, seed: int, path: Path) -> None:
    """Writes a policy as `learned.py` reads it."""
    w1, b1, w2, b2 = policy.values
    layers = [
        {"weights": numpy.round(weights, 6).tolist(), "biases": numpy.round(biases, 6).tolist()}
        for weights, biases in ((w1, b1), (w2, b2))
    ]
    text = {
        "features": [feature.name for feature in FEATURES],
        "updates": updates,
        "seed": seed,
        "layers": layers,
    }
    path.write_text(json.dumps(text) + "\n", encoding="utf-8")


def main() -> int:
    """The command. After Ctrl-C the policy of the last update is written."""
    parser = argparse.ArgumentParser(description="Train the policy of learned.py.")
    parser.add_argument("--updates", type=int, default=60, help="number of updates (60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the training (1)")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("policy.json"))
    given = parser.parse_args()
    began, done, steps = time.perf_counter(), -1, 0
    policy: Layers | None = None
    try:
        for trained, reward, count in train(given.updates, given.seed):
            policy = trained
            done, steps = done + 1, steps + count
            if done:
                spent_s = time.perf_counter() - began
                print(
                    f"update {done} of {given.updates}: mean reward {reward:.3f}, {steps / spent_s:.0f} steps/s",
                    flush=True,
                )
    except KeyboardInterrupt:
        if policy is None or done < 1:
            return 130
    assert policy is not None, "a training begins with a policy"
    save(policy, done, given.seed, given.out)
    print(f"wrote {given.out}")
    return 0 if done == given.updates else 130


if __name__ == "__main__":
    raise SystemExit(main())
