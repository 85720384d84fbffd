"""A learned scheme: once per round trip a small neural network multiplies the window by a factor from a half to double.

`train.py` in this folder trains it and writes `policy.json`. Its network has rectified linear units, so that it consists
of additions and multiplications only and gives the same result on all hosts. It needs no other library.
"""

from __future__ import annotations

import json
from operator import mul
from pathlib import Path

import thalweg as tw
from thalweg.observation import FEATURES, Observer, next_window

POLICY = Path(__file__).with_name("policy.json")


class Network:
    """A policy as `train.py` writes it: layers of weights and biases, with rectified linear units between them."""

    def __init__(self, path: Path) -> None:
        text = json.loads(path.read_text(encoding="utf-8"))
        if text["features"] != [feature.name for feature in FEATURES]:
            raise ValueError(f"{path} was trained with other features: run train.py again")
        self.layers: list[tuple[list[list[float]], list[float]]] = [
            (layer["weights"], layer["biases"]) for layer in text["layers"]
        ]

    def action(self, features: tuple[float, ...]) -> float:
        """The mean action."""
        values = list(features)
        last = len(self.layers) - 1
        for number, (weights, biases) in enumerate(self.layers):
            sums = [sum(map(mul, row, values), bias) for row, bias in zip(weights, biases, strict=True)]
            values = sums if number == last else [value if value > 0.0 else 0.0 for value in sums]
        return values[0]


class Learned(tw.CongestionControl):
    """A window that a small neural network changes once per round trip."""

    interval = "rtt"
    files = (POLICY,)
    network: Network | None = None

    def __init__(self) -> None:
        if Learned.network is None:
            Learned.network = Network(POLICY)
        self.policy = Learned.network
        self.observer = Observer()

    def on_interval(self, summary: tw.scheme.Summary) -> None:
        """Changes the window."""
        step = self.observer.observe(summary, self.window)
        self.window = next_window(self.window, self.policy.action(step.features), self.segment_bytes)
