"""Mutants: results that are wrong on purpose, which the checks of a claim must refuse. They test the judge.

Each check that holds is tried again with its quantity made wrong: doubled, halved, or with its sign or order turned. Only
changes towards what the check excludes are tried: a throughput that must be high is halved, a loss that must be low is
doubled, a difference that must be above zero changes its sign, a ratio that must be above one is inverted, a count of
violations that is zero becomes one. Where the experiments of a claim run several schemes, the samples of
two of them are exchanged, too, and the claim is measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ._base import Experiment, ExperimentKey, Measured, NothingMeasuredError, Quantity, Samples
from ._claims import Check, Claim
from ._judge import result

ORDER_TOLERANCE = 0.002
"""A limit within this distance of zero or one is treated as a relation of order."""


def run_mutants(
    claim: Claim,
    measured: Measured,
    samples: Samples,
    experiments: Mapping[ExperimentKey, Experiment],
) -> dict[str, Any]:
    """The number of mutants of the checks that hold, the number that make a check fail (killed), and the surviving ones."""
    satisfied = [check for check in claim.accept if result(claim, check, measured)["holds"]]
    found = [
        (f"{check.name} {name}", not result(claim, check, {**measured, check.name: wrong})["holds"])
        for check in satisfied
        for name, wrong in _wrong_values(check, measured[check.name])
    ]
    found += [
        (name, any(not result(claim, check, other)["holds"] for check in satisfied))
        for name, other in _exchanged(claim, satisfied, measured, samples, experiments)
    ]
    return {
        "killed": sum(killed for _, killed in found),
        "total": len(found),
        "survived": [name for name, killed in found if not killed],
    }


def _wrong_values(check: Check, quantity: Quantity) -> Iterator[tuple[str, Quantity]]:
    """Wrong values of the quantity, which the check should reject."""
    changes: dict[str, Callable[[float], float]]
    above, below = check.holds(1e300), check.holds(-1e300)
    one_sided = above != below
    step = -1.0 if above else 1.0
    if one_sided and check.holds(ORDER_TOLERANCE) != check.holds(-ORDER_TOLERANCE):
        changes = {"turned": lambda value: -value if value * step < 0 else step}
    elif one_sided and check.holds(0) and quantity.mean * step < 0:
        changes = {"turned": lambda value: -value}
    else:
        changes = {"doubled": lambda value: 2 * value, "halved": lambda value: value / 2}
        if one_sided and check.holds(1 + ORDER_TOLERANCE) != check.holds(1 - ORDER_TOLERANCE):
            changes["inverted"] = lambda value: 1 / value if value else value
        if not any(quantity.values):
            changes = {"one more": lambda _: step}
    for name, change in changes.items():
        wrong = Quantity(tuple(map(change, quantity.values)), quantity.unit)
        moved = wrong.mean - quantity.mean
        if moved * step > 0 or (not one_sided and moved):
            yield name, wrong


def _exchanged(
    claim: Claim,
    satisfied: list[Check],
    measured: Measured,
    samples: Samples,
    experiments: Mapping[ExperimentKey, Experiment],
) -> Iterator[tuple[str, Measured]]:
    """The claim measured again with the samples of two schemes exchanged, where that changes what is judged."""
    if claim.measure is None:
        return
    known = [experiments[key] for key in claim.measure.experiments]
    for pair in dict.fromkeys(pair for experiment in known for pair in experiment.schemes):
        try:
            other = claim.measure(samples.exchanged(pair, [e.name for e in known if pair in e.schemes]))
        except (KeyError, NothingMeasuredError):
            # the other scheme does not have what is measured
            continue
        if any(other[check.name].values != measured[check.name].values for check in satisfied):
            yield f"{pair[0]} and {pair[1]} exchanged", other
