"""The networks that are searched for a scheme. The search sees a network as one number from 0 to 1 per parameter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from .. import catalogue
from .._part import Keys
from .bounds import BOUNDS, Bound, Network, digits
from .scenario import HOST_DELAY_MS, Scenario

PACKET_BYTES = 1500
"""Size of a packet, for the minimum of buffers."""

MIN_BUFFER_PACKETS = 10
"""Smallest buffer: a multiple of a bandwidth-delay product that is a few packets is no network."""

RATE_MBPS = 10.0
"""Rate of a link whose trace is taken away."""

POLICED = frozenset({"mircc", "mircc_multipath"})
"""Schemes with leaky buckets: parameters of other schemes that have the same name mean something else."""


def has_app(scheme: str) -> bool:
    """Whether a scheme has a part in an SDN controller."""
    return scheme in catalogue.schema()["$defs"]["Sdn"]["properties"]["app"]["enum"]


def part_params(scheme: str) -> frozenset[str]:
    """Names of the parameters of a scheme."""
    row = next(row for row in catalogue.schemes() if row["name"] == scheme)
    return frozenset(parameter["name"] for parameter in row["params"])


@dataclass(frozen=True)
class Space:
    """The networks for one scheme, and their scenarios."""

    scheme: str
    family: str
    """ip or ndn."""
    against: tuple[str, ...] = ()
    """Schemes of the competitors; with one, every network has competitors."""
    without: frozenset[str] = frozenset()
    """Parameters that no network has."""
    always: frozenset[str] = frozenset()
    """Parameters that every network has."""
    groups: bool = False
    """Flows of the scheme can have several receivers."""
    bounds: tuple[Bound, ...] = field(init=False)

    def __post_init__(self) -> None:
        listed = [
            self._fitted(bound)
            for bound in BOUNDS
            if ({self.family, "multicast"} if self.groups else {self.family}) & set(bound.families)
            and bound.name not in self.without
            and (not bound.app or has_app(self.scheme))
            and (not bound.part or (self.scheme in POLICED and bound.part in part_params(self.scheme)))
        ]
        object.__setattr__(self, "bounds", tuple(listed))

    def _fitted(self, bound: Bound) -> Bound:
        """A bound as this space has it."""
        from dataclasses import replace

        if bound.name == "rival_scheme" and self.against:
            bound = replace(bound, choices=self.against)
        if bound.name in self.always or (bound.name == "rivals" and self.against):
            bound = replace(bound, absent=0.0)
        return bound

    @classmethod
    def of(
        cls,
        scheme: str,
        against: Sequence[str] = (),
        without: Collection[str] = (),
        always: Collection[str] = (),
    ) -> Space:
        """The space of a scheme of the catalogue. `ValueError` for schemes of families that are not searched."""
        families = next(row["families"] for row in catalogue.schemes() if row["name"] == scheme)
        family = next((family for family in ("ip", "ndn") if family in families), None)
        if family is None:
            raise ValueError(f"networks of the family {families[0]} are not searched")
        groups = family == "ip" and "multicast" in families
        return cls(scheme, family, tuple(against), frozenset(without), frozenset(always), groups)

    def network(self, shares: Sequence[float]) -> Network:
        """The network at a point of the unit cube, one coordinate per bound."""
        values = {
            bound.name: bound.value(min(max(share, 0.0), 1.0))
            for bound, share in zip(self.bounds, shares, strict=True)
        }
        return self.normal({name: value for name, value in values.items() if value is not None})

    def normal(self, network: Mapping[str, float | str]) -> Network:
        """The network without parameters that have no effect."""
        useless = {
            bound.name for bound in self.bounds if any(need not in network for need in bound.needs)
        } | ({"rate", "rate_step"} if "trace" in network else set())
        kept = {name: value for name, value in network.items() if name not in useless}
        if "rate" not in kept and "trace" not in kept:
            # a trace was taken away
            kept["rate"] = RATE_MBPS
        if "cross" in kept:
            kept["cross"] = min(float(kept["cross"]), float(kept["routers"]) - 1)
        if "jitter" in kept:
            kept["jitter"] = min(float(kept["jitter"]), float(kept["delay"]))
        if "rate" in kept:
            packets = (
                float(kept["rate"]) * 1e3 * 2 * (float(kept["delay"]) + 2 * HOST_DELAY_MS) / 8 / PACKET_BYTES
            )
            if float(kept["buffer"]) * packets < MIN_BUFFER_PACKETS:
                kept["buffer"] = digits(MIN_BUFFER_PACKETS / packets + 5e-4, 3)
        return kept

    def scenario(
        self, network: Mapping[str, float | str], duration_s: float, record: Keys | None = None
    ) -> Keys:
        """The scenario of a network as a tree. The second half of the run is measured.

        `flows` of `record` are first words of names: the other flows, such as thousands of short ones, have no series.
        """
        tree = Scenario(self.scheme, self.family, self.bounds, dict(network), duration_s).tree()
        if not record:
            return tree
        names = [flow["name"] for flow in tree["flows"]]
        wanted = [name for name in names if name.startswith(tuple(record.get("flows", names)))]
        kept = {key: value for key, value in record.items() if key != "flows"}
        return {**tree, "record": kept if wanted == names else {**kept, "flows": wanted}}
