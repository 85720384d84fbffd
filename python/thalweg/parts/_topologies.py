"""Builders: kinds of topologies, nodes and their clocks.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, TypedDict, Unpack

    class DumbbellKeys(TypedDict, total=False):
        """Keys of `Dumbbell`."""

        pairs: int | None
        edge: Mapping[str, Any] | None
        bottleneck: Mapping[str, Any] | None
        links: Iterable[Mapping[str, Any]] | None

    class ParkingLotKeys(TypedDict, total=False):
        """Keys of `ParkingLot`."""

        hops: int | None
        edge: Mapping[str, Any] | None
        bottleneck: Mapping[str, Any] | None
        links: Iterable[Mapping[str, Any]] | None

    class StarKeys(TypedDict, total=False):
        """Keys of `Star`."""

        leaves: int | None
        link: Mapping[str, Any] | None
        links: Iterable[Mapping[str, Any]] | None

    class ChainKeys(TypedDict, total=False):
        """Keys of `Chain`."""

        hops: int | None
        link: Mapping[str, Any] | None
        links: Iterable[Mapping[str, Any]] | None

    class TreeKeys(TypedDict, total=False):
        """Keys of `Tree`."""

        arity: int | None
        depth: int | None
        link: Mapping[str, Any] | None
        links: Iterable[Mapping[str, Any]] | None

    class FatTreeKeys(TypedDict, total=False):
        """Keys of `FatTree`."""

        k: int | None
        link: Mapping[str, Any] | None
        edge: Mapping[str, Any] | None
        links: Iterable[Mapping[str, Any]] | None

    class LeafSpineKeys(TypedDict, total=False):
        """Keys of `LeafSpine`."""

        spines: int | None
        leaves: int | None
        hosts: int | None
        link: Mapping[str, Any] | None
        edge: Mapping[str, Any] | None
        links: Iterable[Mapping[str, Any]] | None

    class RandomKeys(TypedDict, total=False):
        """Keys of `Random`."""

        nodes: int | Iterable[str | Mapping[str, Any]] | None
        degree: float | None
        edges: int | None
        seed: int | None
        link: Mapping[str, Any] | None
        links: Iterable[Mapping[str, Any]] | None

    class GraphMLKeys(TypedDict, total=False):
        """Keys of `GraphML`."""

        file: str | None
        delay_by_distance: bool | None
        rate_from_file: bool | None
        link: Mapping[str, Any] | None
        links: Iterable[Mapping[str, Any]] | None

    class CustomKeys(TypedDict, total=False):
        """Keys of `Custom`."""

        nodes: int | Iterable[str | Mapping[str, Any]] | None
        links: Iterable[Mapping[str, Any]] | None

    class NetworkNodeKeys(TypedDict, total=False):
        """Keys of `NetworkNode`."""

        x: float | None
        y: float | None

    class ClockKeys(TypedDict, total=False):
        """Keys of `Clock`."""

        offset: str | None
        drift: str | None


class Dumbbell(Part):
    """Hosts, router, bottleneck, router, hosts.

    Nodes: `left1`, `left2` …, `router_left`, `router_right`, `right1`, `right2` … Links: `bottleneck`, and
    `left1`, `right1` …, named after their hosts.

    - `pairs` (whole number): Hosts on each side. Default: as many as the flows need.
    - `edge` (`Link`): Links between hosts and routers.
    - `bottleneck` (`Link`): The link between the routers.
    - `links` (list of `Link`): The links that differ from their template, each with its `name` and the keys
      that differ.
    """

    KEYS: ClassVar = {
        "pairs": ("int | None", ""),
        "edge": ("Mapping[str, Any] | None", ""),
        "bottleneck": ("Mapping[str, Any] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[DumbbellKeys]) -> None:
        super().__init__({"kind": "dumbbell", **keys})


class ParkingLot(Part):
    """A chain of routers with hosts at each.

    Nodes: `router1`, `router2` …, `left` and `right` at the ends, `in1` … before and `out1` … after each hop.
    Links: `hop1`, `hop2` …, and `left`, `right`, `in1`, `out1` …, named after their hosts.

    - `hops` (whole number): Links between routers or nodes in a row.
    - `edge` (`Link`): Links between hosts and routers.
    - `bottleneck` (`Link`): Each link between routers.
    - `links` (list of `Link`): The links that differ from their template, each with its `name` and the keys
      that differ.
    """

    KEYS: ClassVar = {
        "hops": ("int | None", ""),
        "edge": ("Mapping[str, Any] | None", ""),
        "bottleneck": ("Mapping[str, Any] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[ParkingLotKeys]) -> None:
        super().__init__({"kind": "parking_lot", **keys})


class Star(Part):
    """Hosts around a hub.

    Nodes: `hub`, `leaf1`, `leaf2` … Each link is named after its leaf.

    - `leaves` (whole number): Hosts around the hub.
    - `link` (`Link`): Every link.
    - `links` (list of `Link`): The links that differ from their template, each with its `name` and the keys
      that differ.
    """

    KEYS: ClassVar = {
        "leaves": ("int | None", ""),
        "link": ("Mapping[str, Any] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[StarKeys]) -> None:
        super().__init__({"kind": "star", **keys})


class Chain(Part):
    """Nodes in a chain.

    Nodes: `node1`, `node2` … Links: `link1`, `link2` …

    - `hops` (whole number): Links between routers or nodes in a row.
    - `link` (`Link`): Every link.
    - `links` (list of `Link`): The links that differ from their template, each with its `name` and the keys
      that differ.
    """

    KEYS: ClassVar = {
        "hops": ("int | None", ""),
        "link": ("Mapping[str, Any] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[ChainKeys]) -> None:
        super().__init__({"kind": "chain", **keys})


class Tree(Part):
    """A tree.

    Nodes: `root`, `inner1`, `inner2` … level by level, `leaf1`, `leaf2` … at the bottom. Each link is named
    after its lower node.

    - `arity` (whole number): Children of each inner node.
    - `depth` (whole number): Levels below the root.
    - `link` (`Link`): Every link.
    - `links` (list of `Link`): The links that differ from their template, each with its `name` and the keys
      that differ.
    """

    KEYS: ClassVar = {
        "arity": ("int | None", ""),
        "depth": ("int | None", ""),
        "link": ("Mapping[str, Any] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[TreeKeys]) -> None:
        super().__init__({"kind": "tree", **keys})


class FatTree(Part):
    """A fat tree of switches with k ports each (SIGCOMM 2008, doi 10.1145/1402958.1402967).

    Nodes: `core1` …, pod by pod `agg1` … and `edge1` … with k/2 of each per pod, and k/2 hosts `host1` … at
    each edge switch. Links: `core1-agg1`, `agg1-edge1` and so on; that of a host is named after it.

    - `k` (whole number): Ports of each switch, an even number. There are k pods of k switches, k²/4 core
      switches and k³/4 hosts.
    - `link` (`Link`): Links between switches.
    - `edge` (`Link`): Those between hosts and switches; default: as `link`.
    - `links` (list of `Link`): The links that differ from their template, each with its `name` and the keys
      that differ.
    """

    KEYS: ClassVar = {
        "k": ("int | None", ""),
        "link": ("Mapping[str, Any] | None", ""),
        "edge": ("Mapping[str, Any] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[FatTreeKeys]) -> None:
        super().__init__({"kind": "fat_tree", **keys})


class LeafSpine(Part):
    """Leaf switches, each with a link to every spine switch (two-tier Clos).

    Nodes: `spine1` …, `leaf1` …, and leaf by leaf `host1` … Links: `spine1-leaf1` and so on; that of a host
    is named after it.

    - `spines` (whole number): Spine switches, each with a link to every leaf switch.
    - `leaves` (whole number): Leaf switches.
    - `hosts` (whole number): Hosts at each leaf switch.
    - `link` (`Link`): Links between switches.
    - `edge` (`Link`): Those between hosts and switches; default: as `link`.
    - `links` (list of `Link`): The links that differ from their template, each with its `name` and the keys
      that differ.
    """

    KEYS: ClassVar = {
        "spines": ("int | None", ""),
        "leaves": ("int | None", ""),
        "hosts": ("int | None", ""),
        "link": ("Mapping[str, Any] | None", ""),
        "edge": ("Mapping[str, Any] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[LeafSpineKeys]) -> None:
        super().__init__({"kind": "leaf_spine", **keys})


class Random(Part):
    """A connected random graph.

    Nodes: `n1`, `n2` … A link is named after its two nodes, such as `n1-n4`.

    - `nodes` (whole number or list of text or `NetworkNode`): Number of nodes.
    - `degree` (number): Mean number of links per node.
    - `edges` (whole number): Number of links, instead of `degree`.
    - `seed` (whole number): Seed of the graph; the seed of the run does not change it. Default: 1.
    - `link` (`Link`): Every link.
    - `links` (list of `Link`): The links that differ from their template, each with its `name` and the keys
      that differ.
    """

    KEYS: ClassVar = {
        "nodes": ("int | Iterable[str | Mapping[str, Any]] | None", ""),
        "degree": ("float | None", ""),
        "edges": ("int | None", ""),
        "seed": ("int | None", ""),
        "link": ("Mapping[str, Any] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[RandomKeys]) -> None:
        super().__init__({"kind": "random", **keys})


class GraphML(Part):
    """Read from a GraphML file.

    A node is named after its label, with `_` for characters that names cannot contain; a link after its two
    nodes, with a hyphen.

    - `file` (text): Path of the file, relative to the scenario.
    - `delay_by_distance` (true or false): Compute the delay of each link from the great-circle distance of
      its ends, at two thirds of the speed of light. Links of nodes without latitude and longitude then have
      the `delay` of `link`.
    - `rate_from_file` (true or false): A link with `LinkSpeedRaw` in the file has that rate, in bit/s, and
      others have the one of `link`. Default: true if `link` has no `rate` and no `trace`; or else all links
      have those.
    - `link` (`Link`): Every link.
    - `links` (list of `Link`): The links that differ from their template, each with its `name` and the keys
      that differ.
    """

    KEYS: ClassVar = {
        "file": ("str | None", ""),
        "delay_by_distance": ("bool | None", ""),
        "rate_from_file": ("bool | None", ""),
        "link": ("Mapping[str, Any] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[GraphMLKeys]) -> None:
        super().__init__({"kind": "graphml", **keys})


class Custom(Part):
    """Nodes and links as listed, with their own names.

    - `nodes` (whole number or list of text or `NetworkNode`): The nodes, by name; default: those that the
      links name.
    - `links` (list of `Link`): The links.
    """

    KEYS: ClassVar = {
        "nodes": ("int | Iterable[str | Mapping[str, Any]] | None", ""),
        "links": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[CustomKeys]) -> None:
        super().__init__({"kind": "custom", **keys})


class NetworkNode(Part):
    """A node and its position in pictures.

    - `name` (text): Its name.
    - `x` (number): Horizontal position, from 0 (left) to 1 (right).
    - `y` (number): Vertical position, from 0 (top) to 1 (bottom).
    """

    KEYS: ClassVar = {
        "name": ("str", ""),
        "x": ("float | None", ""),
        "y": ("float | None", ""),
    }

    def __init__(self, name: str, **keys: Unpack[NetworkNodeKeys]) -> None:
        super().__init__({"name": name, **keys})


class Clock(Part):
    """The clock of a node, or of several alike.

    Endpoints on the node read this clock: it determines time stamps, measured delays and timers. Tables and
    series are in true time.

    - `node` (text): The node, or a pattern such as "s*".
    - `offset` (such as `"20 ms"`, `"-1 h"`): Clock offset at the start of the run; a negative offset is
      behind true time. Default: "0 s".
    - `drift` (such as `"100 ppm"`, `"-50 ppb"`): Clock drift; a clock with negative drift is slow. Default:
      "0 ppm".
    """

    KEYS: ClassVar = {
        "node": ("str", ""),
        "offset": ("str | None", "20 ms"),
        "drift": ("str | None", "100 ppm"),
    }

    def __init__(self, node: str, **keys: Unpack[ClockKeys]) -> None:
        super().__init__({"node": node, **keys})
