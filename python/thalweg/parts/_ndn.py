"""Builders: Named Data Networking.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, Required, TypedDict, Unpack

    class NdnKeys(TypedDict, total=False):
        """Keys of `Ndn`."""

        nodes: Iterable[str] | None
        store: Mapping[str, Any] | None
        stores: Iterable[Mapping[str, Any]] | None
        strategy: str | None
        strategy_params: Mapping[str, Any] | None
        link: str | None
        link_params: Mapping[str, Any] | None
        dead_nonces: int | None
        interest: str | None
        lifetime: str | None
        routes: Iterable[Mapping[str, Any]] | None

    class StoreKeys(TypedDict, total=False):
        """Keys of `Store`."""

        policy: str | None
        size: int | None

    class NodeStoreKeys(TypedDict, total=False):
        """Keys of `NodeStore`."""

        policy: str | None
        size: int | None

    class NameRouteKeys(TypedDict, total=False):
        """Keys of `NameRoute`."""

        prefix: Required[str]
        via: Required[str]
        cost: int | None

    class ProducerKeys(TypedDict, total=False):
        """Keys of `Producer`."""

        node: Required[str | Iterable[str]]
        payload: str | None
        data: str | None
        delay: str | None

    class ConsumerKeys(TypedDict, total=False):
        """Keys of `Consumer`."""

        pattern: str | None
        batch: int | None
        every: str | None
        contents: int | None
        segments: int | None
        exponent: float | None
        shift: float | None
        tick: str | None
        tick_phase: str | None
        jitter: str | None
        initial_window: int | None
        marks: bool | None
        episode: float | None
        episode_check: str | None
        retries: int | None
        initial_rto: str | None
        min_rto: str | None
        max_rto: str | None
        rto_backoff: int | None
        rto_scan: str | None
        lifetime: str | None
        interest: str | None


class Ndn(Part):
    """Named Data Networking.

    Nodes with a forwarder forward Interests towards producers, and Data back.

    - `nodes` (list of text): Nodes with a forwarder, or patterns such as "r*"; the nodes of consumers and
      producers must be among them. Default: all nodes except those of [icn].
    - `store` (`Store`): Content store of each forwarder. Default: none.
    - `stores` (list of `NodeStore`): Content stores of individual nodes, instead of `store`.
    - `strategy` (`asf`, `best_route`, `multicast`, `weighted`, `coopcon`, `ecn_rate`, `flecom`,
      `mircc_multipath`, `nack`, `pcon`, `raaqm`): Forwarding strategy: best_route, multicast, weighted, asf,
      or a scheme that has a strategy. Default: best_route.
    - `strategy_params` (table): Parameters of the strategy, where they differ from the default.
    - `link` (`cctcp`, `chopcop`, `coopcon`, `cubic_ndn`, `ecn_rate`, `ecp`, `flecom`, `his`, `hobhis`,
      `hr_icp`, `mircc`, `mircc_multipath`, `ndnsieve`, `pcon`, `raaqm`, `none`): A scheme's link part, which
      polices, shapes or stamps at the links of every forwarder; "none": no scheme. Default: "none".
    - `link_params` (table): Parameters of the link part, where they differ from the default.
    - `dead_nonces` (whole number): Size of the dead nonce list, by which a forwarder detects loops after
      Interests have ended. Default: 4096.
    - `interest` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size of an Interest on the wire. Default: 50 B.
    - `lifetime` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Interest lifetime: how long Interests stay
      pending. Default: 2 s.
    - `routes` (list of `NameRoute`): Static next hops, instead of those computed from the metric.
    """

    KEYS: ClassVar = {
        "nodes": ("Iterable[str] | None", ""),
        "store": ("Mapping[str, Any] | None", ""),
        "stores": ("Iterable[Mapping[str, Any]] | None", ""),
        "strategy": ("str | None", "asf"),
        "strategy_params": ("Mapping[str, Any] | None", ""),
        "link": ("str | None", "cctcp"),
        "link_params": ("Mapping[str, Any] | None", ""),
        "dead_nonces": ("int | None", ""),
        "interest": ("str | None", "1500 B"),
        "lifetime": ("str | None", "60 s"),
        "routes": ("Iterable[Mapping[str, Any]] | None", ""),
    }

    def __init__(self, **keys: Unpack[NdnKeys]) -> None:
        super().__init__(keys)


class Store(Part):
    """A content store.

    - `policy` (`lru`, `fifo`, `none`): Replacement policy. Default: lru.
    - `size` (whole number): Capacity in Data packets.
    """

    KEYS: ClassVar = {
        "policy": ("str | None", "lru"),
        "size": ("int | None", ""),
    }

    def __init__(self, **keys: Unpack[StoreKeys]) -> None:
        super().__init__(keys)


class NodeStore(Part):
    """The content store of individual nodes.

    - `node` (text): The node, or a pattern such as "r*".
    - `policy` (`lru`, `fifo`, `none`): Replacement policy. Default: lru.
    - `size` (whole number): Capacity in Data packets.
    """

    KEYS: ClassVar = {
        "node": ("str", ""),
        "policy": ("str | None", "lru"),
        "size": ("int | None", ""),
    }

    def __init__(self, node: str, **keys: Unpack[NodeStoreKeys]) -> None:
        super().__init__({"node": node, **keys})


class NameRoute(Part):
    """A static next hop: Interests at a node for a prefix may take the link to a neighbour.

    - `at` (text): The node.
    - `prefix` (such as `"/video"`, `"/isp/news"`): The prefix.
    - `via` (text): The next node.
    - `cost` (whole number): Cost of this next hop, compared with others of the node. Default: 0.
    """

    KEYS: ClassVar = {
        "at": ("str", ""),
        "prefix": ("str", "/video"),
        "via": ("str", ""),
        "cost": ("int | None", ""),
    }

    def __init__(self, at: str, **keys: Unpack[NameRouteKeys]) -> None:
        super().__init__({"at": at, **keys})


class Producer(Part):
    """A producer of a prefix.

    Several producers of one prefix serve the same content.

    - `prefix` (such as `"/video"`, `"/isp/news"`): The prefix that it serves, with all names below it.
    - `node` (text or list of text): Its node, or a list of nodes or patterns such as "p*": one producer per
      node.
    - `payload` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Payload of a Data packet. Default: 1024 B.
    - `data` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size of a Data packet on the wire. Default: payload +
      76 B.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Processing time from an Interest to its Data.
      Default: none.
    """

    KEYS: ClassVar = {
        "prefix": ("str", "/video"),
        "node": ("str | Iterable[str]", ""),
        "payload": ("str | None", "1500 B"),
        "data": ("str | None", "1500 B"),
        "delay": ("str | None", "60 s"),
    }

    def __init__(self, prefix: str, **keys: Unpack[ProducerKeys]) -> None:
        super().__init__({"prefix": prefix, **keys})


class Consumer(Part):
    """Settings of a consumer.

    All have defaults.

    - `pattern` (`sequential`, `batches`, `zipf`): Which segments it requests. Default: sequential.
    - `batch` (whole number): batches: segments per batch.
    - `every` (such as `"60 s"`, `"20 ms"`, `"500 us"`): batches: time between two batches.
    - `contents` (whole number): zipf: number of contents in the catalogue.
    - `segments` (whole number): zipf: segments per content. Default: 1.
    - `exponent` (number): zipf: exponent of the popularity, p(i) ∝ 1/(i + shift)^exponent. Default: 1.
    - `shift` (number): zipf: shift of the Zipf–Mandelbrot distribution. Default: 0.
    - `tick` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Tick of a coarse clock: Interests wait for the next
      tick and leave back to back. Default: 0 s, an exact clock.
    - `tick_phase` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Time of each tick after a multiple of `tick`;
      less than `tick`. Default: 0 s.
    - `jitter` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Maximum random delay that the node adds to
      departures of Interests; Interests generated in the meantime leave with the delayed one. Default: 0 s.
    - `initial_window` (whole number): Initial window in Data packets. Default: 1.
    - `marks` (true or false): Reacts to congestion marks. Default: true.
    - `episode` (number): Length of a congestion episode in windows of Data; all congestion events of an
      episode count as one. 0: every event is its own episode. Default: 1 (conservative window adaptation).
    - `episode_check` (`segment`, `highest`): Which segment must lie beyond the recovery point before the
      window is reduced again: `segment` or `highest`. Default: segment.
    - `retries` (whole number): Maximum retransmissions of the Interest for a segment; with 0 a segment is
      given up when its lifetime ends. Default: no limit; 0 for a source.
    - `initial_rto` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Retransmission timeout before the first
      round-trip time sample. Default: 1 s.
    - `min_rto` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Minimum retransmission timeout. Default: 200 ms.
    - `max_rto` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Maximum retransmission timeout. Default: 200 s.
    - `rto_backoff` (whole number): Maximum factor of exponential backoff. Default: 64.
    - `rto_scan` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Granularity of the retransmission timer, which
      expires at multiples of this; 0 s: an exact timer. Default: 50 ms.
    - `lifetime` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Lifetime of its Interests. Default: that of [ndn].
    - `interest` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size of its Interests on the wire. Default: that
      of [ndn].
    """

    KEYS: ClassVar = {
        "pattern": ("str | None", "sequential"),
        "batch": ("int | None", ""),
        "every": ("str | None", "60 s"),
        "contents": ("int | None", ""),
        "segments": ("int | None", ""),
        "exponent": ("float | None", ""),
        "shift": ("float | None", ""),
        "tick": ("str | None", "60 s"),
        "tick_phase": ("str | None", "60 s"),
        "jitter": ("str | None", "60 s"),
        "initial_window": ("int | None", ""),
        "marks": ("bool | None", ""),
        "episode": ("float | None", ""),
        "episode_check": ("str | None", "segment"),
        "retries": ("int | None", ""),
        "initial_rto": ("str | None", "60 s"),
        "min_rto": ("str | None", "60 s"),
        "max_rto": ("str | None", "60 s"),
        "rto_backoff": ("int | None", ""),
        "rto_scan": ("str | None", "60 s"),
        "lifetime": ("str | None", "60 s"),
        "interest": ("str | None", "1500 B"),
    }

    def __init__(self, **keys: Unpack[ConsumerKeys]) -> None:
        super().__init__(keys)
