"""A learned scheme: once per round trip a small neural network multiplies the window by a factor from a half to double.

`train.py` in this folder trains it and writes `policy.json`. Its network has rectified linear units, so that it consists
of additions and multiplications only and gives the same result on all hosts. It needs no other library.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

import thalweg as tw
from thalweg.observation import FEATURES, Observer, next_window

if TYPE_CHECKING:
    from collections.abc import Callable

POLICY = Path(__file__).with_name("policy.json")


class Network:
    """A policy as `train.py` writes it: layers of weights and biases, with rectified linear units between them."""

    def __init__(self, path: Path) -> None:
        text = json.loads(path.read_text(encoding="utf-8"))
        if text["features"] != [feature.name for feature in FEATURES]:
            raise ValueError(f"{path} was trained with other features: run train.py again")
        names: dict[str, object] = {}
        # loops over 16 rows of 7 numbers take five times as long as the sums that they add up
        exec(_function([(layer["weights"], layer["biases"]) for layer in text["layers"]]), names)
        self.action = cast("Callable[[tuple[float, ...]], float]", names["action"])
        """The mean action of features."""


def _function(layers: list[tuple[list[list[float]], list[float]]]) -> str:
    """The network as a Python function of its features without loops: one line per unit, and a term per weight."""
    values = [f"x{number}" for number in range(len(layers[0][0][0]))]
    lines = ["def action(features):", f"    {', '.join(values)} = features"]
    for depth, (weights, biases) in enumerate(layers):
        units = [f"y{depth}_{number}" for number in range(len(biases))]
        for unit, row, bias in zip(units, weights, biases, strict=True):
            # from left to right: the same result on all hosts
            terms = [f"{float(weight)!r} * {value}" for weight, value in zip(row, values, strict=True)]
            lines.append(f"    {unit} = {' + '.join([repr(float(bias)), *terms])}")
            if depth < len(layers) - 1:
                lines.append(f"    if not {unit} > 0.0: {unit} = 0.0")
        values = units
    return "\n".join([*lines, f"    return {values[0]}"])


class Learned(tw.CongestionControl):
    """A window that a small neural network changes once per round trip."""

    interval = "rtt"
    files = (POLICY,)
    network: Network | None = None

    def __init__(self) -> None:
        if Learned.network is None:
            Learned.network = Network(POLICY)
        self.action = Learned.network.action
        self.features = Observer().features

    def on_interval(self, summary: tw.scheme.Summary) -> None:
        """Changes the window."""
        window = self.window
        action = self.action(self.features(summary, window))
        self.window = next_window(window, action, self.segment_bytes)
