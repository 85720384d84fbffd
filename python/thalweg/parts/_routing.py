"""Builders: routes, and routing by group name.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, Required, TypedDict, Unpack

    class RoutingKeys(TypedDict, total=False):
        """Keys of `Routing`."""

        metric: str | None
        ecmp_seed: int | None
        routes: Iterable[Mapping[str, Any]] | None

    class RouteKeys(TypedDict, total=False):
        """Keys of `Route`."""

        to: Required[str]
        via: Required[str]

    class IcnKeys(TypedDict, total=False):
        """Keys of `Icn`."""

        resolver: str | None
        routers: Iterable[str] | None
        refresh: str | None
        lifetime: int | None
        initial_rto: str | None
        signal: str | None
        probe: str | None
        probe_packets: int | None


class Routing(Part):
    """How routes are computed, and routes that override them.

    - `metric` (`delay`, `hops`): What shortest paths minimise. Default: the delay.
    - `ecmp_seed` (whole number): Seed of the choice among paths of equal cost (ECMP): each flow keeps to one
      of them at each node, by a hash of flow, node and this seed. The seed of the run does not change it.
      Default: 0.
    - `routes` (list of `Route`): Routes that override the shortest path.
    """

    KEYS: ClassVar = {
        "metric": ("str | None", "delay"),
        "ecmp_seed": ("int | None", ""),
        "routes": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[RoutingKeys]) -> None:
        super().__init__(keys)


class Route(Part):
    """A static route: packets at a node for a destination take the link to a neighbour.

    - `at` (text): The node.
    - `to` (text): The destination.
    - `via` (text): The next node.
    """

    KEYS: ClassVar = {
        "at": ("str", ""),
        "to": ("str", ""),
        "via": ("str", ""),
    }

    def __init__(self, at: str, **keys: Unpack[RouteKeys]) -> None:
        super().__init__({"at": at, **keys})


class Icn(Part):
    """Routing by group name, in addition to addresses.

    Sources and members of groups register with the nearest name router.

    - `resolver` (text): The node that runs the name resolution system. It must not be a router or an endpoint
      of a flow that is sent by name. Default: a new node `nrs`, with a link of 1 Gbit/s and 1 ms to the first
      router.
    - `routers` (list of text): Nodes that also route by name, or patterns such as "r*"; other nodes forward
      by address only. Default: all nodes with more than one link that are neither the resolver nor an
      endpoint of a flow sent by name.
    - `refresh` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Refresh interval of soft state. Default: 5 s.
    - `lifetime` (whole number): Soft state expires after this many refresh intervals without a refresh.
      Default: 3.
    - `initial_rto` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Retransmission timeout of requests; exponential
      backoff up to four times this value. Default: 500 ms.
    - `signal` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size on the wire of a signalling message. Default:
      64 B.
    - `probe` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size on the wire of the packets that measure a
      receiver's access link. Default: 1000 B.
    - `probe_packets` (whole number): Number of these packets, sent back to back; with fewer than 2 nothing is
      measured. Default: 5.
    """

    KEYS: ClassVar = {
        "resolver": ("str | None", ""),
        "routers": ("Iterable[str] | None", ""),
        "refresh": ("str | None", "60 s"),
        "lifetime": ("int | None", ""),
        "initial_rto": ("str | None", "60 s"),
        "signal": ("str | None", "1500 B"),
        "probe": ("str | None", "1500 B"),
        "probe_packets": ("int | None", ""),
    }

    def __init__(self, **keys: Unpack[IcnKeys]) -> None:
        super().__init__(keys)
