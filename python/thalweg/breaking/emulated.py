"""A counterexample in emulation: the same scenario in real time, with the kernel's TCP or live endpoints at its ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import catalogue
from ..errors import EmulationError
from ..real import KERNEL_SCHEMES, kernel_has
from ..scenario import Scenario
from ..scheme import registered
from .bounds import Network
from .properties import Property, finite

if TYPE_CHECKING:
    from .._part import Keys
    from ..result import Result

Emulate = Callable[[Scenario, int], "Result"]


@dataclass(frozen=True)
class Emulated:
    """The result of the emulation of a counterexample."""

    outcome: str
    """`holds`, `does not hold`, `not decided` or `not run`."""
    reason: str = ""
    """Why it did not run, or is not decided."""
    value: float | None = None
    """The measured value."""
    ends: Mapping[str, str] = field(default_factory=dict)
    """What each flow with real endpoints had: `kernel` or `live`."""

    def words(self, unit: str) -> str:
        """A sentence for readers."""
        which = ", ".join(f"{flow} {kind}" for flow, kind in self.ends.items())
        if self.outcome == "not run":
            return f"Not run in emulation: {self.reason}."
        measured = "nothing measured" if self.value is None else f"{self.value:.3g} {unit}".strip()
        because = f", because {self.reason}" if self.reason else ""
        return f"In emulation ({which}): {measured}; the failure {self._verb}{because}."

    @property
    def _verb(self) -> str:
        return "is not decided" if self.outcome == "not decided" else self.outcome

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "outcome": self.outcome,
            "reason": self.reason,
            "value": self.value,
            "ends": dict(self.ends),
        }


def real_ends(tree: Keys) -> tuple[Keys, dict[str, str]]:
    """The scenario with real endpoints wherever a flow of the network can have them, and what each of these flows has.

    A scheme that the kernel of this host has runs there, other schemes over IP run live. Raises `EmulationError` if
    a flow without an end cannot have any.
    """
    over_ip = {row["name"] for row in catalogue.schemes() if "ip" in row["families"]}
    flows, ends = [], {}
    for flow in tree["flows"]:
        scheme = flow.get("scheme")
        kind = None
        if scheme is not None and "arrivals" not in flow:
            if flow.get("network") == "ndn":
                raise EmulationError("named data cannot be emulated with real endpoints")
            if scheme in registered():
                raise EmulationError(f"`{scheme}` is written in Python, which runs in simulations only")
            if scheme in KERNEL_SCHEMES and kernel_has(scheme):
                kind = "kernel"
            elif scheme in over_ip:
                kind = "live"
        if kind is not None:
            ends[flow["name"]] = kind
            flow = {**flow, kind: scheme if kind == "kernel" else True}
        flows.append(flow)
    return {**tree, "flows": flows}, ends


def emulate(
    wanted: Property, network: Network, tree: Keys, seed: int, run: Emulate | None = None
) -> Emulated:
    """Emulates the scenario `tree` of a network with this seed, for as long as it lasts, and measures the property.

    `run` runs a scenario with a seed, instead of the emulation: for tests.
    """
    if wanted.name == "panic":
        return Emulated("not run", "a panic would end this process")
    try:
        real, ends = real_ends(tree)
        result = (run or _emulate)(Scenario.from_tree(real), seed)
    except EmulationError as error:
        return Emulated("not run", str(error))
    if not result.complete:
        return Emulated("not decided", "the run was interrupted", None, ends)
    value = finite(wanted.measure(result, network))
    if not result.valid:
        return Emulated("not decided", "this host did not keep up", value, ends)
    if value is None:
        return Emulated("not decided", "the emulation does not measure it", None, ends)
    return Emulated("holds" if wanted.margin(value) > 0 else "does not hold", "", value, ends)


def _emulate(scenario: Scenario, seed: int) -> Result:
    from ..real import emulation_refusal

    if (refusal := emulation_refusal()) is not None:
        raise EmulationError(refusal)
    return scenario.plan(seed).emulate()
