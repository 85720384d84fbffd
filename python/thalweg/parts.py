"""Builders of the parts of a scenario: a class for each table of a scenario file, which takes its keys.

A topology has a class for each kind. The first key of a table may go by position where the table needs it. A key
that Python reserves has an underscore behind it: `from_`, `class_`.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Required, TypedDict, Unpack

    class DumbbellKeys(TypedDict, total=False):
        """Keys of `Dumbbell`."""

        pairs: int | None
        edge: Mapping[str, Any] | None
        bottleneck: Mapping[str, Any] | None

    class ParkingLotKeys(TypedDict, total=False):
        """Keys of `ParkingLot`."""

        hops: int | None
        edge: Mapping[str, Any] | None
        bottleneck: Mapping[str, Any] | None

    class StarKeys(TypedDict, total=False):
        """Keys of `Star`."""

        leaves: int | None
        link: Mapping[str, Any] | None

    class ChainKeys(TypedDict, total=False):
        """Keys of `Chain`."""

        hops: int | None
        link: Mapping[str, Any] | None

    class TreeKeys(TypedDict, total=False):
        """Keys of `Tree`."""

        arity: int | None
        depth: int | None
        link: Mapping[str, Any] | None

    class FatTreeKeys(TypedDict, total=False):
        """Keys of `FatTree`."""

        k: int | None
        link: Mapping[str, Any] | None
        edge: Mapping[str, Any] | None

    class LeafSpineKeys(TypedDict, total=False):
        """Keys of `LeafSpine`."""

        spines: int | None
        leaves: int | None
        hosts: int | None
        link: Mapping[str, Any] | None
        edge: Mapping[str, Any] | None

    class RandomKeys(TypedDict, total=False):
        """Keys of `Random`."""

        nodes: int | Iterable[str | Mapping[str, Any]] | None
        degree: float | None
        edges: int | None
        seed: int | None
        link: Mapping[str, Any] | None

    class GraphMLKeys(TypedDict, total=False):
        """Keys of `GraphML`."""

        file: str | None
        delay_by_distance: bool | None
        link: Mapping[str, Any] | None

    class CustomKeys(TypedDict, total=False):
        """Keys of `Custom`."""

        nodes: int | Iterable[str | Mapping[str, Any]] | None
        links: Iterable[Mapping[str, Any]] | None

    class LinkKeys(TypedDict, total=False):
        """Keys of `Link`."""

        name: str | None
        ends: Iterable[str] | None
        like: str | None
        rate: str | None
        trace: str | Mapping[str, Any] | None
        delay: str | None
        loss: float | None
        impair: Mapping[str, Any] | None
        policer: Mapping[str, Any] | None
        shaper: Mapping[str, Any] | None
        buffer: str | None
        queue: str | Mapping[str, Any] | None
        mark_above: int | None
        classes: Iterable[int] | None
        backward: Mapping[str, Any] | None

    class ModelTraceKeys(TypedDict, total=False):
        """Keys of `ModelTrace`."""

        seed: int | None
        height_km: float | None
        min_elevation_deg: float | None

    class ImpairKeys(TypedDict, total=False):
        """Keys of `Impair`."""

        bursts: Mapping[str, Any] | None
        duplicate: float | None
        corrupt: float | None
        jitter: str | None
        keep_order: bool | None
        reorder: float | None
        gap: int | None
        release_every: str | None

    class BurstsKeys(TypedDict, total=False):
        """Keys of `Bursts`."""

        to_good: Required[float]
        loss_in_bad: float | None
        loss_in_good: float | None

    class BucketKeys(TypedDict, total=False):
        """Keys of `Bucket`."""

        rate: str | None
        burst: str | None

    class CakeQueueKeys(TypedDict, total=False):
        """Keys of `CakeQueue`."""

        target: str | None
        interval: str | None
        quantum: str | None
        mark: bool | None

    class CodelQueueKeys(TypedDict, total=False):
        """Keys of `CodelQueue`."""

        target: str | None
        interval: str | None
        mark: bool | None
        like: str | None

    class Dualpi2QueueKeys(TypedDict, total=False):
        """Keys of `Dualpi2Queue`."""

        target: str | None
        t_update: str | None
        alpha: float | None
        beta: float | None
        coupling: float | None
        native: str | None
        threshold: str | None
        min_qlen_step: int | None
        range: str | None
        classic_share: int | None
        drop_overload: bool | None
        packet: str | None

    class FqQueueKeys(TypedDict, total=False):
        """Keys of `FqQueue`."""

        quantum: str | None
        initial_quantum: str | None
        flow_limit: int | None
        refill_delay: str | None

    class FqCodelQueueKeys(TypedDict, total=False):
        """Keys of `FqCodelQueue`."""

        target: str | None
        interval: str | None
        flows: int | None
        quantum: str | None
        drop_batch: int | None
        mark: bool | None
        like: str | None

    class PieQueueKeys(TypedDict, total=False):
        """Keys of `PieQueue`."""

        target: str | None
        t_update: str | None
        alpha: float | None
        beta: float | None
        max_burst: str | None
        estimator: str | None
        mark: bool | None
        mark_below: float | None
        packet: str | None
        like: str | None

    class RedQueueKeys(TypedDict, total=False):
        """Keys of `RedQueue`."""

        min_th: float | None
        max_th: float | None
        max_p: float | None
        weight: float | None
        gentle: bool | None
        unit: str | None
        packet: str | None
        mark: bool | None
        adaptive: bool | None

    class PortKeys(TypedDict, total=False):
        """Keys of `Port`."""

        rate: str | None
        trace: str | Mapping[str, Any] | None
        delay: str | None
        loss: float | None
        impair: Mapping[str, Any] | None
        policer: Mapping[str, Any] | None
        shaper: Mapping[str, Any] | None
        buffer: str | None
        queue: str | Mapping[str, Any] | None
        mark_above: int | bool | None
        classes: Iterable[int] | None

    class NetworkNodeKeys(TypedDict, total=False):
        """Keys of `NetworkNode`."""

        x: float | None
        y: float | None

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

    class ClockKeys(TypedDict, total=False):
        """Keys of `Clock`."""

        offset: str | None
        drift: str | None

    class SdnKeys(TypedDict, total=False):
        """Keys of `Sdn`."""

        app: str | None
        app_params: Mapping[str, Any] | None
        controller: str | None
        out_of_band: bool | None
        link: Mapping[str, Any] | None
        nodes: Iterable[str] | None
        period: str | None
        phase: str | None
        message: str | None
        initial_rto: str | None
        max_age: str | None

    class ControlLinkKeys(TypedDict, total=False):
        """Keys of `ControlLink`."""

        rate: str | None
        delay: str | None
        loss: float | None
        buffer: str | None

    class FlowKeys(TypedDict, total=False):
        """Keys of `Flow`."""

        group: str | None
        count: int | None
        scheme: str | None
        params: Mapping[str, Any] | None
        stack: str | None
        controller: str | None
        encoder: Mapping[str, Any] | None
        kernel: str | None
        live: bool | None
        commands: Mapping[str, Any] | None
        source: Mapping[str, Any] | None
        from_: str | Iterable[str] | None
        to: str | Iterable[str | Mapping[str, Any]] | None
        multicast: bool | None
        network: str | None
        prefix: str | None
        consumer: Mapping[str, Any] | None
        start: str | None
        stop: str | None
        start_spread: str | None
        churn: Mapping[str, Any] | None
        receivers: Mapping[str, Any] | None
        class_: int | None
        size: str | None
        rate: str | None
        packet: str | None
        tcp: Mapping[str, Any] | None
        stream: Mapping[str, Any] | None
        player: Mapping[str, Any] | None
        arrivals: Mapping[str, Any] | None
        app: Mapping[str, Any] | None

    class EncoderKeys(TypedDict, total=False):
        """Keys of `Encoder`."""

        min: str | None
        start: str | None
        max: str | None
        frame_rate: int | None
        reaction: str | None
        variation: float | None
        key_ratio: float | None
        key_every: int | None
        drop_after: str | None

    class CommandsKeys(TypedDict, total=False):
        """Keys of `Commands`."""

        sender: str | None
        receiver: str | None

    class SourceKeys(TypedDict, total=False):
        """Keys of `Source`."""

        rate: str | None
        interests: float | None
        on: str | None
        off: str | None
        shape: float | None
        fixed: bool | None
        frame_rate: float | None
        pattern: str | None
        sizes: Iterable[float] | None
        variation: float | None
        file: str | None
        repeat: bool | None
        live: bool | None
        drop_after: str | None

    class MemberKeys(TypedDict, total=False):
        """Keys of `Member`."""

        start: str | None
        stop: str | None
        churn: Mapping[str, Any] | None

    class ChurnKeys(TypedDict, total=False):
        """Keys of `Churn`."""

        off: Required[str]
        shape: float | None
        fixed: bool | None

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

    class ReceiversKeys(TypedDict, total=False):
        """Keys of `Receivers`."""

        churn: Mapping[str, Any] | None
        always: Iterable[str] | None

    class TcpKeys(TypedDict, total=False):
        """Keys of `Tcp`."""

        like: str | None
        sack: bool | None
        limited_transmit: bool | None
        fast_recovery: bool | None
        recovery_timer: str | None
        loss_detection: str | None
        tail_probe: bool | None
        reduction: str | None
        undo: bool | None
        idle_restart: bool | None
        delayed_ack: bool | None
        ack_delay: str | None
        quick_acks: int | None
        sack_compression: str | None
        ecn: bool | None
        ecn_feedback: str | None
        l4s: bool | None
        initial_window: int | None
        initial_rto: str | None
        min_rto: str | None
        rto_floor: str | None
        max_rto: str | None
        receive_window: str | None
        receive_buffer: str | None
        send_buffer: str | None
        gso: bool | None
        pacing: str | None
        handshake: bool | None
        acks: str | None
        header: str | None

    class StreamKeys(TypedDict, total=False):
        """Keys of `Stream`."""

        jitter: float | None
        feedback: str | None
        reorder: int | None
        ecn: bool | None

    class PlayerKeys(TypedDict, total=False):
        """Keys of `Player`."""

        startup: str | None
        resume: str | None
        late: str | None
        depends: str | None
        modes: Iterable[str] | None
        low: str | None
        high: str | None

    class ArrivalsKeys(TypedDict, total=False):
        """Keys of `Arrivals`."""

        load: str | None
        count: int | None
        size: Required[str]
        size_shape: float | None
        size_variation: float | None
        sizes: str | Iterable[Iterable[float]] | None
        duration: str | None
        file: str | None

    class AppKeys(TypedDict, total=False):
        """Keys of `App`."""

        name: str | None
        kind: str | None
        count: int | None
        size: str | None
        size_shape: float | None
        size_variation: float | None
        sizes: str | Iterable[Iterable[float]] | None
        think: str | None
        think_shape: float | None
        think_fixed: bool | None
        request: str | None
        connections: int | None
        multiplex: bool | None
        objects: Iterable[Mapping[str, Any]] | None
        file: str | None
        weight: str | None
        number: int | None
        page_seed: int | None
        rates: Iterable[str] | None
        segment: str | None
        variation: float | None
        abr: str | None
        start_rate: str | None
        buffer: str | None
        buffer_at_top: str | None
        startup: str | None

    class ObjectKeys(TypedDict, total=False):
        """Keys of `Object`."""

        size: str | None
        after: Iterable[int] | None
        delay: str | None

    class EventKeys(TypedDict, total=False):
        """Keys of `Event`."""

        link: str | None
        rate: str | None
        delay: str | None
        loss: float | None
        up: bool | None
        flow: str | None
        action: str | None
        mode: str | None
        node: str | None
        route: Mapping[str, Any] | None

    class RecordKeys(TypedDict, total=False):
        """Keys of `Record`."""

        every: str | None
        series: Iterable[str] | None
        flows: Iterable[str] | None
        events: bool | None
        drops: bool | None
        distributions: bool | None
        packets: Mapping[str, Any] | None

    class WindowKeys(TypedDict, total=False):
        """Keys of `Window`."""

        from_: str | None
        to: str | None

    class EmulationKeys(TypedDict, total=False):
        """Keys of `Emulation`."""

        real: Iterable[str] | None
        max_lateness: str | None

    class FileKeys(TypedDict, total=False):
        """Keys of `File`."""

        title: str | None
        seed: int | None
        duration: str | None
        warmup: str | None
        slow: bool | None
        topology: Mapping[str, Any] | None
        routing: Mapping[str, Any] | None
        icn: Mapping[str, Any] | None
        ndn: Mapping[str, Any] | None
        producers: Iterable[Mapping[str, Any]] | None
        clocks: Iterable[Mapping[str, Any]] | None
        sdn: Mapping[str, Any] | None
        flows: Iterable[Mapping[str, Any]] | None
        events: Iterable[Mapping[str, Any]] | None
        record: Mapping[str, Any] | None
        emulation: Mapping[str, Any] | None
        expect: Mapping[str, Any] | None
        sweep: Mapping[str, Any] | None


class Dumbbell(Part):
    """Hosts, router, bottleneck, router, hosts.

    Nodes: `left1`, `left2` …, `router_left`, `router_right`, `right1`, `right2` … Links: `bottleneck`, and
    `left1`, `right1` …, named after their hosts.

    - `pairs` (whole number): Hosts on each side. Default: as many as the flows need.
    - `edge` (`Link`): Links between hosts and routers.
    - `bottleneck` (`Link`): The link between the routers.
    """

    def __init__(self, **keys: Unpack[DumbbellKeys]) -> None:
        super().__init__({"kind": "dumbbell", **keys})


class ParkingLot(Part):
    """A chain of routers with hosts at each.

    Nodes: `router1`, `router2` …, `left` and `right` at the ends, `in1` … before and `out1` … after each hop.
    Links: `hop1`, `hop2` …, and `left`, `right`, `in1`, `out1` …, named after their hosts.

    - `hops` (whole number): Links between routers or nodes in a row.
    - `edge` (`Link`): Links between hosts and routers.
    - `bottleneck` (`Link`): Each link between routers.
    """

    def __init__(self, **keys: Unpack[ParkingLotKeys]) -> None:
        super().__init__({"kind": "parking_lot", **keys})


class Star(Part):
    """Hosts around a hub.

    Nodes: `hub`, `leaf1`, `leaf2` … Each link is named after its leaf.

    - `leaves` (whole number): Hosts around the hub.
    - `link` (`Link`): Every link.
    """

    def __init__(self, **keys: Unpack[StarKeys]) -> None:
        super().__init__({"kind": "star", **keys})


class Chain(Part):
    """Nodes in a chain.

    Nodes: `node1`, `node2` … Links: `link1`, `link2` …

    - `hops` (whole number): Links between routers or nodes in a row.
    - `link` (`Link`): Every link.
    """

    def __init__(self, **keys: Unpack[ChainKeys]) -> None:
        super().__init__({"kind": "chain", **keys})


class Tree(Part):
    """A tree.

    Nodes: `root`, `inner1`, `inner2` … level by level, `leaf1`, `leaf2` … at the bottom. Each link is named
    after its lower node.

    - `arity` (whole number): Children of each inner node.
    - `depth` (whole number): Levels below the root.
    - `link` (`Link`): Every link.
    """

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
    """

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
    """

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
    """

    def __init__(self, **keys: Unpack[RandomKeys]) -> None:
        super().__init__({"kind": "random", **keys})


class GraphML(Part):
    """Read from a GraphML file.

    A node is named after its label, with `_` for characters that names cannot contain; a link after its two
    nodes, with a hyphen.

    - `file` (text): Path of the file, relative to the scenario.
    - `delay_by_distance` (true or false): Compute the delay of each link from the great-circle distance of
      its ends, at two thirds of the speed of light.
    - `link` (`Link`): Every link.
    """

    def __init__(self, **keys: Unpack[GraphMLKeys]) -> None:
        super().__init__({"kind": "graphml", **keys})


class Custom(Part):
    """Nodes and links as listed, with their own names.

    - `nodes` (whole number or list of text or `NetworkNode`): The nodes, by name; default: those that the
      links name.
    - `links` (list of `Link`): The links.
    """

    def __init__(self, **keys: Unpack[CustomKeys]) -> None:
        super().__init__({"kind": "custom", **keys})


class Link(Part):
    """A link between two nodes, or a template for several.

    - `name` (text): custom: its name.
    - `ends` (list of text): custom: its two nodes.
    - `like` (text): custom: name of a link that supplies the keys that are not written here.
    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Rate of each direction. Required without
      `trace`; of `edge` 1 Gbit/s by default.
    - `trace` (such as `"lte_driving"`, `"traces/walk.up"`, `"traces/walk.csv"` or `ModelTrace`): The trace
      that the rate of each direction follows, instead of `rate`: a model of a kind of link, see ModelTrace;
      or the path of a file, relative to the scenario, which contains a dot or a slash. A file has the format
      of mahimahi: each line is a time in whole milliseconds at which 1500 bytes can leave, in one packet or
      several; a larger packet takes several such opportunities, and what no waiting packet uses is lost. Or
      it is CSV and ends in .csv: each line is a time in seconds and the rate from then on, `0.5,12 Mbit/s`,
      which can be 0; after a first line `time_s,rate_bps` rates are numbers of bit/s. A third column is a
      delay that is added to `delay`. The last line is the end. A trace begins with the run and repeats from
      its end. Its mean rate counts where a rate is needed, as for a buffer in bdp.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Propagation delay, each direction. Required; of
      `edge` 1 ms by default.
    - `loss` (number): Probability that a packet is lost at random after transmission.
    - `impair` (`Impair`): Impairments: bursty loss, corruption, jitter, reordering, duplication, release in
      bursts. Default: none.
    - `policer` (`Bucket`): Policer: a token bucket before the queue. Packets that exceed it are dropped.
      Default: none.
    - `shaper` (`Bucket`): Shaper: a token bucket behind the queue. A packet waits in the queue until the
      bucket has enough tokens, and then leaves at `rate`. Not with `trace`. Default: none.
    - `buffer` (such as `"100 packets"`, `"1 bdp"`, `"64 kB"`): Queue limit: packets, bytes, or multiples of
      the bandwidth-delay product. Default: 100 packets, of `edge` 10 000.
    - `queue` (`fifo`, `cake`, `codel`, `dualpi2`, `fq`, `fq_codel`, `pfifo_head_drop`, `pie`, `red` or
      `CakeQueue` or `CodelQueue` or `Dualpi2Queue` or `FqQueue` or `FqCodelQueue` or `PieQueue` or
      `RedQueue`): Queue discipline: `"fifo"` (drop-tail, the default), another by its name, or a table with
      its name as `kind` and its parameters.
    - `mark_above` (whole number): ECN threshold: an ECT packet is marked CE if, when it arrives, at least
      this many packets wait.
    - `classes` (list of whole number): Weights of traffic classes, served by deficit round robin; each class
      has its own buffer. The last class also takes the control packets that streams send out of band.
    - `backward` (`Port`): Settings that differ in the direction from the second end to the first.
    """

    def __init__(self, **keys: Unpack[LinkKeys]) -> None:
        super().__init__(keys)


class ModelTrace(Part):
    """A trace by a model, with its seed.

    - `model` (`lte_stationary`, `lte_walking`, `lte_driving`, `lte_tunnel`, `lte_train`, `nr_driving`,
      `nr_mmwave`, `wifi_home`, `wifi_crowded`, `leo`, `leo_pass`, `dsl`, `cable`): The model.
    - `seed` (whole number): Seed of the trace. The seed of the run does not change it, so all runs see the
      same link. Default: 1.
    - `height_km` (number): leo_pass: height of the orbit in km. Default: 550.
    - `min_elevation_deg` (number): leo_pass: lowest elevation in degrees at which a satellite is used.
      Default: 25.
    """

    def __init__(self, model: str, **keys: Unpack[ModelTraceKeys]) -> None:
        super().__init__({"model": model, **keys})


class Impair(Part):
    """Impairments of a link or of one of its directions.

    They add to its delay and its independent loss, as those of netem in Linux.

    - `bursts` (`Bursts`): Loss in bursts, in addition to `loss`.
    - `duplicate` (number): Probability that a packet arrives twice.
    - `corrupt` (number): Probability that a packet arrives damaged. The checksum at the end of the link finds
      it, and the packet is dropped.
    - `jitter` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Jitter: maximum difference of the propagation delay
      of a packet from `delay`, in both directions; uniform and independent per packet. At most `delay`.
    - `keep_order` (true or false): With `jitter`: a packet that would overtake another arrives with it.
      Default: false, packets are reordered.
    - `reorder` (number): Probability that a packet arrives without propagation delay, before those ahead of
      it.
    - `gap` (whole number): With `reorder`: a packet can be reordered if it is at least this many packets
      after the last reordered one. Default: 1.
    - `release_every` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Packets arrive only at multiples of this
      time, those that were to arrive since the last one together: aggregation, as of acknowledgements by
      Wi-Fi. Default: none.
    """

    def __init__(self, **keys: Unpack[ImpairKeys]) -> None:
        super().__init__(keys)


class Bursts(Part):
    """The loss model of Gilbert and Elliott.

    The link is in a good or a bad state; the state decides about a packet, then it may change.

    - `to_bad` (number): Probability of a change from good to bad, per packet (`p` of netem).
    - `to_good` (number): Probability of a change from bad to good, per packet (`r`). A burst has 1 / to_good
      packets on average.
    - `loss_in_bad` (number): Probability of loss in the bad state (`1-h`). Default: 1.
    - `loss_in_good` (number): Probability of loss in the good state (`1-k`). Default: 0.
    """

    def __init__(self, to_bad: float, **keys: Unpack[BurstsKeys]) -> None:
        super().__init__({"to_bad": to_bad, **keys})


class Bucket(Part):
    """A token bucket.

    It is full at the start, tokens for `rate` flow in up to `burst`, and a packet takes as many as it has
    bytes. An empty table: none.

    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Rate at which tokens flow in.
    - `burst` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Capacity. A larger packet never passes.
    """

    def __init__(self, **keys: Unpack[BucketKeys]) -> None:
        super().__init__(keys)


class CakeQueue(Part):
    """CAKE without its shaper (Linux, sch_cake): fair queueing of flows in a set-associative table, COBALT for each.

    - `kind` (`"cake"`): Queue discipline.
    - `target` (such as `"5 ms"`): Acceptable standing queueing delay. Default: 5 ms. Source: Linux: 5 ms.
    - `interval` (such as `"100 ms"`): About the maximum usual round-trip time: how long the delay may exceed
      `target` before COBALT acts. Default: 100 ms. Source: Linux: 100 ms (rtt).
    - `quantum` (such as `"1514 B"`): Bytes that a flow may send per round. Default: 1514 B. Source: Linux:
      1514 B without a shaper.
    - `mark` (true or false): Mark ECT packets instead of dropping them, except for drops by BLUE. Default:
      true. Source: HTM18 §III; Linux: always.
    """

    def __init__(self, kind: str, **keys: Unpack[CakeQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class CodelQueue(Part):
    """CoDel (RFC 8289): drops or marks packets while the queueing delay stays above its target.

    - `kind` (`"codel"`): Queue discipline.
    - `target` (such as `"5 ms"`): TARGET, the acceptable standing queueing delay. Default: 5 ms. Source:
      RFC8289 §4.4.
    - `interval` (such as `"100 ms"`): INTERVAL, how long the queueing delay may exceed `target` before CoDel
      acts: about the maximum usual round-trip time. Default: 100 ms. Source: RFC8289 §4.3.
    - `mark` (true or false): Mark ECT packets instead of dropping them. Default: true. Source: our choice: a
      mark signals the same congestion without a loss.
    - `like` (`rfc`, `linux`): Whose details apply where RFC 8289 and Linux differ. Default: rfc. Source: our
      choice: the specification.
    """

    def __init__(self, kind: str, **keys: Unpack[CodelQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class Dualpi2Queue(Part):
    """DualPI2 (RFC 9332): a queue of its own for L4S flows, marked early, coupled with a PI controller for all others.

    - `kind` (`"dualpi2"`): Queue discipline.
    - `target` (such as `"15 ms"`): Target of the queueing delay of classic flows. Default: 15 ms. Source:
      RFC9332 §A.1; Linux 6.17: 15 ms.
    - `t_update` (such as `"16 ms"`): Tupdate, the time between updates of the probability; `alpha` and `beta`
      are for this one. Default: 16 ms. Source: RFC9332 §A.1; Linux 6.17: 16 ms.
    - `alpha` (number): α, integral gain: increase of the probability per update and second of delay above
      `target`. Default: 0.16. Source: RFC9332 §A.1: 0.1·Tupdate/RTT_max², RTT_max = 100 ms; Linux 6.17: 0.16.
    - `beta` (number): β, proportional gain: increase of the probability per update and second by which the
      delay has grown since the last one. Default: 3.2. Source: Linux 6.17: 3.2; RFC9332 §A.1: 0.3/RTT_max,
      which is 3.
    - `coupling` (number): k, the coupling factor: the marking probability of scalable flows is k times that
      of which the square is the classic one. Default: 2. Source: RFC9332 §A.1: 2; Linux 6.17: 2.
    - `native` (`step`, `ramp`): How the queue of scalable flows is marked by its own delay. Default: step.
      Source: Linux 6.17: step; RFC9332 §A.1: ramp.
    - `threshold` (such as `"1 ms"`): Queueing delay above which packets of scalable flows are marked; with
      `ramp`, minTh, above which some are. Default: 1 ms. Source: Linux 6.17: 1 ms; RFC9332 §A.1: 0.8 ms with
      a range of 0.4 ms.
    - `min_qlen_step` (whole number): Packets of scalable flows that must wait already when a packet arrives
      for its own delay to mark it. At low rates a packet then does not exceed `threshold` only because it
      waits for one other. Default: 0. Source: Linux 6.17: 0; kernels of the L4S project to 6.1: 2; RFC9332
      §A.1: Th_len, 1 that stays at the departure.
    - `range` (such as `"400 us"`): Width of the ramp. Default: 400 us. Source: RFC9332 §A.1: 400 us.
    - `classic_share` (whole number): Share of the link, in percent, that classic flows get if scalable ones
      want all of it. Default: 10. Source: Linux 6.17: 10; RFC9332 §A.1: a weight of 1/16 with WRR.
    - `drop_overload` (true or false): Drop packets of scalable flows, too, where marks are not enough: where
      their probability would exceed 1. Default: true. Source: RFC9332 §A.2; Linux 6.17: true.
    - `packet` (such as `"1514 B"`): Size of a full packet: a backlog of less than two is neither dropped from
      nor marked by the controller. Default: 1514 B. Source: Linux 6.17: the MTU with the Ethernet header.
    """

    def __init__(self, kind: str, **keys: Unpack[Dualpi2QueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class FqQueue(Part):
    """FQ (Linux, sch_fq without pacing): fair queueing of flows; new flows are served first.

    - `kind` (`"fq"`): Queue discipline.
    - `quantum` (such as `"3028 B"`): Bytes that a flow may send per round. Default: 3028 B. Source: Linux:
      two MTUs with the Ethernet header.
    - `initial_quantum` (such as `"15140 B"`): Bytes that a flow may send in its first round. Default: 15140
      B. Source: Linux: ten MTUs with the Ethernet header.
    - `flow_limit` (whole number): Packets that may wait per flow, within the limit of the queue. Default:
      100. Source: Linux: 100.
    - `refill_delay` (such as `"40 ms"`): A flow that had no packet for longer has at least a quantum at its
      next packet. Default: 40 ms. Source: Linux: 40 ms.
    """

    def __init__(self, kind: str, **keys: Unpack[FqQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class FqCodelQueue(Part):
    """FQ-CoDel (RFC 8290): fair queueing of flows, with CoDel for each; new flows are served first.

    - `kind` (`"fq_codel"`): Queue discipline.
    - `target` (such as `"5 ms"`): TARGET of CoDel, the acceptable standing queueing delay. Default: 5 ms.
      Source: RFC8290 §5.2; Linux: 5 ms.
    - `interval` (such as `"100 ms"`): INTERVAL of CoDel, about the maximum usual round-trip time. Default:
      100 ms. Source: RFC8290 §5.2; Linux: 100 ms.
    - `flows` (whole number): Queues to which flows are hashed. Default: 1024. Source: RFC8290 §5.2; Linux:
      1024.
    - `quantum` (such as `"1514 B"`): Bytes that a queue may send per round. Default: 1514 B. Source: RFC8290
      §5.2; Linux: the MTU with the Ethernet header.
    - `drop_batch` (whole number): When the limit is exceeded: the largest number of packets to drop at once.
      At most half of the bytes of the longest queue are dropped. Default: 64. Source: RFC8290 §4.1; Linux:
      64.
    - `mark` (true or false): Mark ECT packets instead of dropping them. Default: true. Source: RFC8290 §5.2;
      Linux: true.
    - `like` (`rfc`, `linux`): Whose details of CoDel apply where RFC 8289 and Linux differ. Default: rfc.
      Source: our choice: the specification.
    """

    def __init__(self, kind: str, **keys: Unpack[FqCodelQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class PieQueue(Part):
    """PIE (RFC 8033): drops or marks packets with a probability that follows the queueing delay and its trend.

    - `kind` (`"pie"`): Queue discipline.
    - `target` (such as `"15 ms"`): QDELAY_REF, the queueing delay at which the controller aims. Default: 15
      ms. Source: RFC8033 §4.2; Linux: 15 ms.
    - `t_update` (such as `"15 ms"`): T_UPDATE, the time between updates of the probability; `alpha` and
      `beta` are for this one. Default: 15 ms. Source: RFC8033 §4.2; Linux: 15 ms in whole ticks.
    - `alpha` (number): α: increase of the probability per update and second of delay above `target`. Default:
      0.125. Source: RFC8033 §4.2; Linux: 2/16.
    - `beta` (number): β: increase of the probability per update and second by which the delay has grown since
      the last one. Default: 1.25. Source: RFC8033 §4.2; Linux: 20/16.
    - `max_burst` (such as `"150 ms"`): MAX_BURST: how long a queue that builds up is not dropped from.
      Default: 150 ms. Source: RFC8033 §4.4; Linux: 150 ms.
    - `estimator` (`timestamps`, `dequeue_rate`): How the queueing delay is known. Default: timestamps.
      Source: RFC8033 appendix A and Linux; dequeue_rate: RFC8033 §5.2.
    - `mark` (true or false): Mark ECT packets instead of dropping them, as long as the probability is below
      `mark_below`. Default: true. Source: RFC8033 §5.1; Linux: false.
    - `mark_below` (number): mark_ecnth: probability from which ECT packets are dropped, too. Default: 0.1.
      Source: RFC8033 §5.1; Linux: 0.1.
    - `packet` (such as `"1514 B"`): MEAN_PKTSIZE: a backlog of two such packets is not dropped from. Default:
      1514 B. Source: Linux: the MTU with the Ethernet header; RFC8033 §4.1 has no number.
    - `like` (`rfc`, `linux`): Whose details apply where RFC 8033 and Linux differ. Default: rfc. Source: our
      choice: the specification.
    """

    def __init__(self, kind: str, **keys: Unpack[PieQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class RedQueue(Part):
    """RED (Floyd and Jacobson, 1993): drops or marks packets with a probability that grows with the average queue length.

    - `kind` (`"red"`): Queue discipline.
    - `min_th` (number): Average queue length, in packets, below which nothing is dropped. Default: 5. Source:
      FJ93 §5.
    - `max_th` (number): Average queue length, in packets, at which the probability reaches `max_p`. Default:
      15. Source: FJ93 §5.
    - `max_p` (number): Probability of a drop at `max_th`. Default: 0.02. Source: FJ93 §5.
    - `weight` (number): w_q, the weight of the present queue length in the average, per arriving packet.
      Default: 0.002. Source: FJ93 §5.
    - `gentle` (true or false): From `max_th` to twice that the probability grows from `max_p` to 1; false:
      there it is 1 at once. Default: true. Source: F00; false in FJ93.
    - `unit` (`packets`, `bytes`): What the queue is measured in; with bytes, packets are dropped in
      proportion to their size. Default: packets. Source: FJ93 §4.
    - `packet` (such as `"500 B"`): Mean packet size: the packet of the thresholds where the unit is bytes,
      and of those that an idle link could have sent. Default: 500 B. Source: ns-2: mean_pktsize_.
    - `mark` (true or false): Mark ECT packets instead of dropping them, as long as the probability is below
      1. Default: true. Source: FJ93 §4.
    - `adaptive` (true or false): Adapt `max_p` each 0.5 s, so that the average stays near the middle between
      the thresholds; `max_p` is the first value. Default: false. Source: FGS01 §4; Linux: the flag
      adaptative.
    """

    def __init__(self, kind: str, **keys: Unpack[RedQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class Port(Part):
    """One direction of a link.

    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Rate.
    - `trace` (such as `"lte_driving"`, `"traces/walk.up"`, `"traces/walk.csv"` or `ModelTrace`): The trace
      that the rate follows, instead of `rate`.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Propagation delay.
    - `loss` (number): Probability that a packet is lost at random after transmission.
    - `impair` (`Impair`): Impairments; an empty table: none.
    - `policer` (`Bucket`): Policer; an empty table: none.
    - `shaper` (`Bucket`): Shaper; an empty table: none.
    - `buffer` (such as `"100 packets"`, `"1 bdp"`, `"64 kB"`): Queue limit.
    - `queue` (`fifo`, `cake`, `codel`, `dualpi2`, `fq`, `fq_codel`, `pfifo_head_drop`, `pie`, `red` or
      `CakeQueue` or `CodelQueue` or `Dualpi2Queue` or `FqQueue` or `FqCodelQueue` or `PieQueue` or
      `RedQueue`): Queue discipline.
    - `mark_above` (whole number or `false`): ECN threshold: an ECT packet is marked CE if, when it arrives,
      at least this many packets wait; `false`: never.
    - `classes` (list of whole number): Weights of traffic classes, served by deficit round robin; an empty
      list: no classes.
    """

    def __init__(self, **keys: Unpack[PortKeys]) -> None:
        super().__init__(keys)


class NetworkNode(Part):
    """A node and its position in pictures.

    - `name` (text): Its name.
    - `x` (number): Horizontal position, from 0 (left) to 1 (right).
    - `y` (number): Vertical position, from 0 (top) to 1 (bottom).
    """

    def __init__(self, name: str, **keys: Unpack[NetworkNodeKeys]) -> None:
        super().__init__({"name": name, **keys})


class Routing(Part):
    """How routes are computed, and routes that override them.

    - `metric` (`delay`, `hops`): What shortest paths minimise. Default: the delay.
    - `ecmp_seed` (whole number): Seed of the choice among paths of equal cost (ECMP): each flow keeps to one
      of them at each node, by a hash of flow, node and this seed. The seed of the run does not change it.
      Default: 0.
    - `routes` (list of `Route`): Routes that override the shortest path.
    """

    def __init__(self, **keys: Unpack[RoutingKeys]) -> None:
        super().__init__(keys)


class Route(Part):
    """A static route: packets at a node for a destination take the link to a neighbour.

    - `at` (text): The node.
    - `to` (text): The destination.
    - `via` (text): The next node.
    """

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

    def __init__(self, **keys: Unpack[IcnKeys]) -> None:
        super().__init__(keys)


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

    def __init__(self, **keys: Unpack[NdnKeys]) -> None:
        super().__init__(keys)


class Store(Part):
    """A content store.

    - `policy` (`lru`, `fifo`, `none`): Replacement policy. Default: lru.
    - `size` (whole number): Capacity in Data packets.
    """

    def __init__(self, **keys: Unpack[StoreKeys]) -> None:
        super().__init__(keys)


class NodeStore(Part):
    """The content store of individual nodes.

    - `node` (text): The node, or a pattern such as "r*".
    - `policy` (`lru`, `fifo`, `none`): Replacement policy. Default: lru.
    - `size` (whole number): Capacity in Data packets.
    """

    def __init__(self, node: str, **keys: Unpack[NodeStoreKeys]) -> None:
        super().__init__({"node": node, **keys})


class NameRoute(Part):
    """A static next hop: Interests at a node for a prefix may take the link to a neighbour.

    - `at` (text): The node.
    - `prefix` (such as `"/video"`, `"/isp/news"`): The prefix.
    - `via` (text): The next node.
    - `cost` (whole number): Cost of this next hop, compared with others of the node. Default: 0.
    """

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

    def __init__(self, prefix: str, **keys: Unpack[ProducerKeys]) -> None:
        super().__init__({"prefix": prefix, **keys})


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

    def __init__(self, node: str, **keys: Unpack[ClockKeys]) -> None:
        super().__init__({"node": node, **keys})


class Sdn(Part):
    """An SDN controller, its app, and the agents on nodes.

    - `app` (`least_loaded`, `ndnsieve`): The control app: a scheme with a part in the controller.
    - `app_params` (table): Parameters of the app, where they differ from the default.
    - `controller` (text): The node that runs the controller. It must not be the end of a flow or run anything
      else. Default: a new node `controller`, with its own link to every node of `nodes`.
    - `out_of_band` (true or false): The links of the controller carry only control messages, and no route
      uses them. Default: true if no `controller` is given; otherwise false, and control messages share links
      with all packets.
    - `link` (`ControlLink`): The southbound links that are added if no `controller` is given.
    - `nodes` (list of text): Nodes with an SDN agent, or patterns such as "r*". Default: all nodes that
      forward named data, and all nodes with more than one link.
    - `period` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Time between two status reports of a port. Default:
      500 ms.
    - `phase` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Start of the first period, after the start of the
      run. Default: 0 s.
    - `message` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size of a control message on the wire. Default:
      100 B.
    - `initial_rto` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Retransmission timeout of commands; exponential
      backoff up to eight times this value. Default: 100 ms.
    - `max_age` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Maximum age on arrival of status reports and
      signals; older ones are ignored. Default: 1 s.
    """

    def __init__(self, **keys: Unpack[SdnKeys]) -> None:
        super().__init__(keys)


class ControlLink(Part):
    """A southbound link, between the controller and a node; both directions.

    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Rate of each direction. Default: 1 Gbit/s.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Propagation delay. Default: 0 s.
    - `loss` (number): Probability that a message is lost. Default: 0.
    - `buffer` (such as `"100 packets"`, `"1 bdp"`, `"64 kB"`): Queue limit: packets or bytes. Default: 1000
      packets.
    """

    def __init__(self, **keys: Unpack[ControlLinkKeys]) -> None:
        super().__init__(keys)


class Flow(Part):
    """One sender and its receivers, or several alike.

    - `name` (text): Its name.
    - `group` (text): Name of the group under which reports list it. Default: its own name.
    - `count` (whole number): Number of copies, which are called name.1, name.2 and so on; 0: no flow.
    - `scheme` (`aimd`, `asmp`, `bbr`, `bbr3`, `bic`, `cctcp`, `chopcop`, `coopcon`, `copa`, `cubic`,
      `cubic_ndn`, `cvihis`, `dctcp`, `ecn_rate`, `ecp`, `flecom`, `gcc`, `highspeed`, `his`, `hobhis`,
      `hr_icp`, `htcp`, `hybla`, `icp`, `illinois`, `least_loaded`, `ledbat`, `ledbat_pp`, `mca`, `mircc`,
      `mircc_multipath`, `nack`, `nada`, `ndnsieve`, `pcon`, `perif_ecn`, `pgmcc`, `prague`, `raaqm`, `reno`,
      `scalable`, `scream`, `srmcc`, `tcp_lp`, `tfmcc`, `tfrc`, `vegas`, `veno`, `westwood`, `yeah`): The
      congestion-control scheme, by its name in the catalogue.
    - `params` (table): Parameters of the scheme, where they differ from the default.
    - `stack` (`quinn`, `noq`, `str0m`): The transport stack that sends and receives, instead of Thalweg's TCP
      or streams: its real code in virtual time. `scheme` is then plugged into the stack.
    - `controller` (text): With `stack`: the stack's own congestion control, instead of `scheme`: "cubic" or
      "newreno" of quinn and noq (default: "cubic"), "gcc" of str0m.
    - `encoder` (`Encoder`): A live video encoder that follows the target rate of a stream's scheme, or the
      bandwidth estimate of stack = "str0m".
    - `kernel` (text): Emulation: use TCP of the Linux kernel with this congestion control, such as "reno",
      "cubic" or "bbr". The endpoints are `real` nodes. A simulation uses Thalweg's TCP with the scheme of the
      same name, or with `scheme`.
    - `live` (true or false): Emulation: run the endpoints of the simulation over UDP sockets, by the system's
      clock. The endpoints are `real` nodes. Flows with `stack` send its datagrams. Not for named data.
    - `commands` (`Commands`): Emulation: run commands at the endpoints, which are `real` nodes. A simulation
      uses `scheme` or `source`, and sends nothing if neither is given.
    - `source` (`Source`): A source without congestion control, instead of a scheme; or, in addition to the
      scheme of a stream, the frames that the stream carries.
    - `from_` (text or list of text): The sender's node. With a list of nodes, or a pattern such as "leaf*",
      each copy takes the next node; the default of `count` is then the number of nodes.
    - `to` (text or list of text or `Member`): The receiver's node; or a group: a list of nodes or patterns
      such as "leaf*". Not with `network = "ndn"`.
    - `multicast` (true or false): Send to a group along a multicast tree. Default: true if `to` is a list or
      `network = "icn"`.
    - `network` (`ip`, `icn`, `ndn`): Routing of its packets. With "ndn" the sender is a consumer of named
      data, and the producers of its `prefix` answer. Default: ip.
    - `prefix` (such as `"/video"`, `"/isp/news"`): ndn: the prefix that it requests.
    - `consumer` (`Consumer`): ndn: settings of the consumer.
    - `start` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Start time; "never": an event starts it. Default: 0
      s.
    - `stop` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Stop time. Default: the end of the run.
    - `start_spread` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Each copy starts at a random time up to this
      long after `start`, drawn from the seed. Default: none. Set it, for instance to "100 ms", where several
      flows share a queue: flows that start together stay in phase at a drop-tail queue, and the phase decides
      which flow loses packets, not the scheme (Floyd and Jacobson, On Traffic Phase Effects in
      Packet-Switched Gateways, 1992). If nothing in a scenario is random, all seeds give the same run.
    - `churn` (`Churn`): The sender stops and restarts at random times.
    - `receivers` (`Receivers`): The receivers leave and join at random times.
    - `class_` (whole number): Traffic class in queues with classes, from 0.
    - `size` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): TCP and QUIC: payload to send; the flow then ends.
      ndn: payload to request, rounded up to whole segments.
    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): TCP: rate at which the application
      produces payload.
    - `packet` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size on the wire of a full data packet. With
      `stack`: the largest packet that the path carries (path MTU). Default: 1500 B for TCP and `stack`,
      otherwise 1000 B.
    - `tcp` (`Tcp`): Settings of TCP.
    - `stream` (`Stream`): Settings of a stream.
    - `player` (`Player`): Streams with a `source` of frames: how the receivers play them.
    - `arrivals` (`Arrivals`): Flows that arrive one after the other, at random or as a file lists them,
      instead of one flow: short flows over TCP or QUIC, calls of streams.
    - `app` (`App`): An application at the receiver that requests data and waits for them, over TCP or QUIC: a
      closed loop.
    """

    def __init__(self, name: str, **keys: Unpack[FlowKeys]) -> None:
        super().__init__({"name": name, **keys})


class Encoder(Part):
    """A live video encoder.

    Its rate follows the target rate of the stream's scheme, or the bandwidth that a stack for media
    estimates.

    - `min` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Lowest rate. Default: 150 kbit/s; with
      `stack` 100 kbit/s.
    - `start` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): stack: estimate at the start, from `min`
      to `max`. Default: 300 kbit/s. A scheme has a parameter for its initial rate.
    - `max` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Highest rate. A stack probes for as much.
      Default: 1.5 Mbit/s; with `stack` 2.5 Mbit/s.
    - `frame_rate` (whole number): Frames per second. Default: 30.
    - `reaction` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Reaction time, the minimum time between two
      changes of the encoder's rate (RFC 8593 §4.1). Default: 200 ms.
    - `variation` (number): Variation of frame sizes, the scale of a Laplace distribution as a share of the
      mean size (RFC 8593 §4.3). Default: 0.15.
    - `key_ratio` (number): Size of a key frame relative to the mean size (RFC 8593 §4.2). The seven frames
      after it are smaller. Default: 3.237.
    - `key_every` (whole number): Number of frames from one key frame to the next. Default: only the first
      frame is a key frame.
    - `drop_after` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Streams: drop frames that have waited at the
      sender for longer than this. Default: never.
    """

    def __init__(self, **keys: Unpack[EncoderKeys]) -> None:
        super().__init__(keys)


class Commands(Part):
    """Shell commands that produce a flow's traffic in an emulation.

    `{from}` and `{to}` are replaced by the addresses of its endpoints (`{to}` by that of its group, if it has
    one), `{here}` by the address of the node where the command runs, and `{port}` by the flow's port.

    - `sender` (text): Runs at the sender's node, from the flow's start until its stop.
    - `receiver` (text): Runs at each receiver's node, from the start of the run to its end.
    """

    def __init__(self, **keys: Unpack[CommandsKeys]) -> None:
        super().__init__(keys)


class Source(Part):
    """A datagram source or a consumer of named data without congestion control; or the encoder of a stream.

    Rates include headers.

    - `kind` (`constant`, `poisson`, `on_off`, `frames`, `trace`): The departure process of datagrams; for a
      consumer, of Interests (constant or poisson); for a stream, of frames (constant, frames or trace).
    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Mean rate. on_off: the rate while on. ndn:
      the rate of the requested Data. trace: all sizes are scaled to this mean; default: not scaled.
    - `interests` (number): ndn: mean number of Interests per second, instead of `rate`.
    - `on` (such as `"60 s"`, `"20 ms"`, `"500 us"`): on_off: mean length of an on period.
    - `off` (such as `"60 s"`, `"20 ms"`, `"500 us"`): on_off: mean length of an off period.
    - `shape` (number): on_off: shape of Pareto-distributed times, above 1. Default: exponential times.
    - `fixed` (true or false): on_off: all times have their mean length.
    - `frame_rate` (number): Streams: frames per second. Default: 25.
    - `pattern` (text): frames: frame types of a group of pictures. Default: "IBBPBBPBBPBB".
    - `sizes` (list of number): frames: relative mean sizes of I, P and B frames. Default: [5, 3, 1].
    - `variation` (number): frames: coefficient of variation (standard deviation / mean) of the sizes of one
      frame type, which are log-normal. Default: 0.
    - `file` (text): trace: path of a text file, relative to the scenario. Each line is a frame: its size in
      bytes, or its number, type and size.
    - `repeat` (true or false): trace: repeat the file after its last frame. Default: false.
    - `live` (true or false): Streams: each frame becomes available when it has been encoded; false: all
      frames are available at the start. Default: true.
    - `drop_after` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Streams: maximum time that a frame waits at the
      sender before it is dropped. Default: no limit.
    """

    def __init__(self, kind: str, **keys: Unpack[SourceKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class Member(Part):
    """A receiver of a group with its own join and leave times.

    - `node` (text): Its node, or a pattern such as "leaf*".
    - `start` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Join time. Default: 0 s.
    - `stop` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Leave time. Default: the end of the run.
    - `churn` (`Churn`): It leaves and joins at random times.
    """

    def __init__(self, node: str, **keys: Unpack[MemberKeys]) -> None:
        super().__init__({"node": node, **keys})


class Churn(Part):
    """Random on and off periods in turn.

    Their lengths are exponentially distributed unless a shape is given.

    - `on` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Mean length of an on period.
    - `off` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Mean length of an off period.
    - `shape` (number): Shape of Pareto-distributed periods, above 1.
    - `fixed` (true or false): All periods have their mean length.
    """

    def __init__(self, on: str, **keys: Unpack[ChurnKeys]) -> None:
        super().__init__({"on": on, **keys})


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

    def __init__(self, **keys: Unpack[ConsumerKeys]) -> None:
        super().__init__(keys)


class Receivers(Part):
    """Churn of the members of a group.

    - `churn` (`Churn`): Times between joining and leaving.
    - `always` (list of text): Receivers that never leave.
    """

    def __init__(self, **keys: Unpack[ReceiversKeys]) -> None:
        super().__init__(keys)


class Tcp(Part):
    """Settings of TCP.

    All have defaults.

    - `like` (`standard`, `linux`): The TCP that supplies the defaults of this table and of the parameters of
      `reno`, `cubic`, `bbr` and `tcp_lp`. Default: `linux` with `kernel`, otherwise `standard`.
    - `sack` (true or false): Selective acknowledgements. Default: true.
    - `limited_transmit` (true or false): Send new data on the first two duplicate acknowledgements. Default:
      true.
    - `fast_recovery` (true or false): Fast recovery after three duplicate acknowledgements (RFC 6582).
      Without it, and with `sack = false`: TCP Tahoe, whose window is then one segment, in slow start, as in
      `Agent/TCP` of ns-2. Default: true.
    - `recovery_timer` (`impatient`, `steady`): When the retransmission timer restarts in NewReno recovery
      without SACK (RFC 6582 §4). Default: impatient.
    - `loss_detection` (`count`, `time`): How losses are detected with SACK. Default: count; Linux: time.
    - `tail_probe` (true or false): Send a tail loss probe (TLP) after two round-trip times without an
      acknowledgement. Requires `loss_detection = "time"`. Default: false; Linux: true.
    - `reduction` (`halt`, `proportional`): How the data in flight are reduced to the new window after losses
      and marks. Default: halt; Linux: proportional.
    - `undo` (true or false): Detect spurious retransmissions by timestamps (Eifel) and undo the reduction of
      the window. Default: true.
    - `idle_restart` (true or false): Inform the congestion controller when the connection resumes sending
      after an idle period. Default: true.
    - `delayed_ack` (true or false): Acknowledge every second segment. Default: true.
    - `ack_delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Maximum delay of a delayed acknowledgement.
      Default: 40 ms.
    - `quick_acks` (whole number): Number of acknowledgements that are not delayed at the start, after an idle
      period longer than `min_rto`, and after duplicate data. Default: 0; Linux: 16.
    - `sack_compression` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Hold acknowledgements of segments above a
      gap back, after the first three, for 5 % of the round-trip time of the handshake and at most this long,
      as Linux does (`net.ipv4.tcp_comp_sack_delay_ns`). Requires `handshake`. Default: 0 s; Linux: 1 ms.
    - `ecn` (true or false): Explicit congestion notification. Default: false; true for schemes that need it
      (`dctcp`).
    - `ecn_feedback` (`classic`, `dctcp`, `accurate`): How the receiver reports congestion marks. Default:
      classic, or what the scheme needs.
    - `l4s` (true or false): Mark data packets as those of a scalable sender (L4S, RFC 9331): ECT(1) in place
      of ECT(0). Default: false, or what the scheme needs.
    - `initial_window` (whole number): Initial window in segments. Default: 10.
    - `initial_rto` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Retransmission timeout before the first
      round-trip time sample. Default: 1 s.
    - `min_rto` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Minimum retransmission timeout. Default: 200 ms.
    - `rto_floor` (`timeout`, `variation`): What `min_rto` is the minimum of. Default: timeout; Linux:
      variation.
    - `max_rto` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Maximum retransmission timeout. Default: 60 s.
    - `receive_window` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Receive window. Default: unlimited.
    - `receive_buffer` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Memory of the receive buffer. The window is
      at most half of it, begins at 65535 B, and grows by two segments with each segment, as in Linux, where
      segments are acknowledged at once in that time. The buffer itself does not grow. Default: unlimited,
      without growth of the window.
    - `send_buffer` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Memory of the send buffer at the start. It
      counts segments with the overhead of the kernel, and grows with the congestion window. Default:
      unlimited; Linux: 16384 B.
    - `gso` (true or false): Send new segments in batches of at least two, as far as the window allows, as
      Linux does with segmentation offload. The last one has PSH and is acknowledged at once; a batch that is
      not full may wait for the next acknowledgement. Default: false.
    - `pacing` (`off`, `quic`, `linux`): The rate at which the segments of a window leave. A scheme with a
      rate of its own, such as `bbr`, keeps it. Default: off, also in Linux, where the queue discipline `fq`
      turns it on.
    - `handshake` (true or false): Open the connection with SYN and SYN-ACK. Default: false; Linux: true.
    - `acks` (`honest`, `divided`, `repeated`, `optimistic`): How the receiver acknowledges: honestly, or such
      that a sender that believes it sends faster. Default: honest.
    - `header` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Header of every packet, and size of an
      acknowledgement. Default: 40 B; 52 B with `kernel`, which has timestamps; 76 B with `live`.
    """

    def __init__(self, **keys: Unpack[TcpKeys]) -> None:
        super().__init__(keys)


class Stream(Part):
    """Settings of a stream.

    All have defaults.

    - `jitter` (number): Random variation of each interval between packets, as a share of the interval.
      Default: 0.01.
    - `feedback` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size on the wire of a feedback packet. Default:
      40 B; 100 B with `live`, the size of a real datagram.
    - `reorder` (whole number): Reordering threshold: number of later packets after which a missing packet is
      lost. Default: that of the scheme, 1 for most.
    - `ecn` (true or false): Explicit congestion notification. Default: false.
    """

    def __init__(self, **keys: Unpack[StreamKeys]) -> None:
        super().__init__(keys)


class Player(Part):
    """Playback of frames by the receivers of a stream.

    - `startup` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Playback starts when this much video is buffered.
      Default: 1 s.
    - `resume` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Playback resumes after a stall when this much video
      is buffered. Default: as `startup`.
    - `late` (`wait`, `skip`): What to do with a frame that is due and has not arrived. Default: wait.
    - `depends` (`nothing`, `intra`, `references`): Which other frames a frame needs to be shown. Default:
      intra if frames have types, otherwise nothing.
    - `modes` (list of text): Two modes of the scheme: the first while the buffer fills, the second once it is
      full.
    - `low` (such as `"60 s"`, `"20 ms"`, `"500 us"`): modes: switch to the first mode when the buffer holds
      less than this. Default: 5 s.
    - `high` (such as `"60 s"`, `"20 ms"`, `"500 us"`): modes: switch to the second mode when the buffer holds
      this. Default: 20 s.
    """

    def __init__(self, **keys: Unpack[PlayerKeys]) -> None:
        super().__init__(keys)


class Arrivals(Part):
    """Flows that arrive as a Poisson process, from `start` until `stop`; or at the times that a file lists.

    - `rate` (number): Mean number of new flows per second.
    - `load` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Offered load instead of `rate`: mean
      payload that the new flows bring per second.
    - `count` (whole number): Maximum number of flows; fewer arrive if `stop` or the end of the run comes
      first. Default: no limit.
    - `size` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): TCP and QUIC: mean payload of a flow; without a shape
      or variation every flow has this size.
    - `size_shape` (number): Shape of Pareto-distributed sizes, above 1.
    - `size_variation` (number): Coefficient of variation (standard deviation / mean) of log-normal sizes.
    - `sizes` (such as `"web_search"`, `"data_mining"` or list of list of number): Distribution of the sizes,
      instead of `size`: "web_search" (Alizadeh et al., DCTCP, SIGCOMM 2010), "data_mining" (Greenberg et al.,
      VL2, SIGCOMM 2009); or the path of a text file, relative to the scenario, of which each line is a size
      in bytes and the share of flows up to this size, from 0 to 1 or to 100; or these pairs as a list.
      Between two sizes the distribution is uniform.
    - `duration` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Streams and datagrams: mean duration of a flow,
      such as a call; durations are exponentially distributed.
    - `file` (text): Path of a CSV file of flows, relative to the scenario, instead of random arrivals. Each
      line is a start in seconds after `start` and a payload in bytes, `0.5,20000`; or a start, the sender's
      node, the receiver's node and a payload, `0.5,h1,h2,20000`, and then `from` and `to` are left out.
    """

    def __init__(self, rate: float, **keys: Unpack[ArrivalsKeys]) -> None:
        super().__init__({"rate": rate, **keys})


class App(Part):
    """An application at the receiver.

    It asks the sender for data by requests of one packet each, which are repeated after 1 s, 2 s and so on
    while nothing arrives, and waits for the answers. The first request opens the connection. Connections stay
    open.

    - `name` (text): Its name in results. Flows whose application has one name are its connections. Default:
      the name of the entry; with `requests` and `player`, of the flow.
    - `kind` (`requests`, `incast`, `page`, `player`): What it does.
    - `count` (whole number): Number of rounds, of loads of the page, or of segments of the video. Default:
      until `stop` or the end of the run.
    - `size` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): requests, incast: mean size of an answer; without a
      shape or variation every answer has this size.
    - `size_shape` (number): requests, incast: shape of Pareto-distributed sizes, above 1.
    - `size_variation` (number): requests, incast: coefficient of variation of log-normal sizes.
    - `sizes` (such as `"web_search"`, `"data_mining"` or list of list of number): requests, incast:
      distribution of the sizes, as in `arrivals`.
    - `think` (such as `"60 s"`, `"20 ms"`, `"500 us"`): requests, incast, page: mean think time from the end
      of a round or load to the start of the next one, exponentially distributed. Default: none.
    - `think_shape` (number): Shape of Pareto-distributed think times, above 1.
    - `think_fixed` (true or false): All think times have their mean length.
    - `request` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size on the wire of a request. Default: 400 B.
    - `connections` (whole number): page: number of connections. Default: 6; with `multiplex` 1.
    - `multiplex` (true or false): page: a connection can have several unanswered requests, as in HTTP/2 and
      HTTP/3; they are answered in order. Default: false, one at a time, as in HTTP/1.1.
    - `objects` (list of `Object`): page: its objects. Default: those of a model of a median page of the HTTP
      Archive, which `weight`, `number` and `page_seed` set.
    - `file` (text): page: path of a CSV file of objects, relative to the scenario. Each line is the size of
      an object in bytes, the delay before its request in milliseconds, and the numbers of the objects that it
      waits for, from 1, with spaces between them: `20000,5,1 3`.
    - `weight` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): page: mean size of all objects of the model.
      Default: 2652 kB.
    - `number` (whole number): page: number of objects of the model. Default: 71.
    - `page_seed` (whole number): page: seed of the model; the seed of the run does not change the page.
      Default: 1.
    - `rates` (list of such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): player: rates of the qualities,
      ascending.
    - `segment` (such as `"60 s"`, `"20 ms"`, `"500 us"`): player: duration of a segment. Default: 4 s.
    - `variation` (number): player: coefficient of variation of the sizes of segments, which are log-normal
      and vary alike in all qualities. Default: 0.
    - `abr` (`throughput`, `bola`, `dynamic`): player: how the quality of the next segment is chosen. Default:
      dynamic.
    - `start_rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): player: the first segment has the
      highest quality up to this rate. Default: 1 Mbit/s.
    - `buffer` (such as `"60 s"`, `"20 ms"`, `"500 us"`): player: level up to which the buffer is filled.
      Default: 18 s.
    - `buffer_at_top` (such as `"60 s"`, `"20 ms"`, `"500 us"`): player: the same at the highest quality.
      Default: 30 s, or `buffer` if that is longer.
    - `startup` (such as `"60 s"`, `"20 ms"`, `"500 us"`): player: playback starts, and resumes after a stall,
      when this much video is buffered. Default: `segment`.
    """

    def __init__(self, **keys: Unpack[AppKeys]) -> None:
        super().__init__(keys)


class Object(Part):
    """An object of a web page.

    - `size` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Its size.
    - `after` (list of whole number): Numbers of the objects that must have arrived before it is requested,
      from 1, each before it. Default: none.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Time that the browser computes before the request.
      Default: 0 s.
    """

    def __init__(self, **keys: Unpack[ObjectKeys]) -> None:
        super().__init__(keys)


class Event(Part):
    """A change during the run: of a link, of a flow, of a route, or of a node.

    - `at` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Time of the event.
    - `link` (text): The link that changes, both directions.
    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Its new rate. Not of a link that follows a
      trace.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Its new propagation delay.
    - `loss` (number): Its new probability of loss, which then is independent from packet to packet.
    - `up` (true or false): Whether the link is up.
    - `flow` (text): The flow, or all flows of an entry.
    - `action` (`start`, `stop`, `mode`, `join`, `leave`, `reset`): The action on the flow or the node.
    - `mode` (text): action = "mode": name of the mode.
    - `node` (text): action = "join" or "leave": the receiver's node. action = "reset", without a flow: the
      node that loses its state; it routes by name, runs the name resolution system, or forwards named data.
      action = "stop" or "start", without a flow: the SDN controller, which stops, or restarts without state.
    - `route` (`Route`): A static route that takes effect.
    """

    def __init__(self, at: str, **keys: Unpack[EventKeys]) -> None:
        super().__init__({"at": at, **keys})


class Record(Part):
    """What is recorded in addition to the counters.

    - `every` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Sampling interval of the series.
    - `series` (list of text): Names of series.
    - `flows` (list of text): Names of flows, or of `[[flows]]` with several: of senders and receivers only
      theirs have series. The series `rate` and `fairness` are those of all flows, because results of all are
      computed from them. Default: all flows.
    - `events` (true or false): Record the events that endpoints report. Default: false.
    - `drops` (true or false): Record every dropped packet in the table `events`: when, on which link or at
      which node, why, and of which flow. Default: false.
    - `distributions` (true or false): Record distributions: of the times that packets wait in each queue, of
      the queueing delays of flows also in large networks, of the delays of a consumer's segments; for
      percentiles and the table `distributions`. Default: false.
    - `packets` (`Window`): The time in which every packet is recorded in the table `packets`: when it reached
      the end of each link, or was dropped. At most 1 000 000 rows; the report draws them one by one. Default:
      none.
    """

    def __init__(self, **keys: Unpack[RecordKeys]) -> None:
        super().__init__(keys)


class Window(Part):
    """A time from its start up to and without its end.

    - `from_` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Its start.
    - `to` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Its end.
    """

    def __init__(self, **keys: Unpack[WindowKeys]) -> None:
        super().__init__(keys)


class Emulation(Part):
    """Settings of an emulation.

    - `real` (list of text): Nodes that are network namespaces of the host, or patterns such as "left*".
      Default: the endpoints of all flows with `kernel`, `live` or `commands`.
    - `max_lateness` (such as `"60 s"`, `"20 ms"`, `"500 us"`): A run is valid if at most 1 % of the packets
      left later than this after their scheduled time. Default: 2 ms.
    """

    def __init__(self, **keys: Unpack[EmulationKeys]) -> None:
        super().__init__(keys)


class File(Part):
    """A scenario: a network, the flows in it, what changes, what is recorded and expected.

    - `title` (text): Title of the scenario, one line.
    - `seed` (whole number): Seed of all random streams. Default: 1.
    - `duration` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Simulated time. Default: 60 s.
    - `warmup` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Start of the run that summaries leave out. Default:
      none.
    - `slow` (true or false): Takes more than five CPU seconds; quick tests skip it.
    - `topology` (`Topology`): Nodes and links.
    - `routing` (`Routing`): How routes are computed, and routes that override them.
    - `icn` (`Icn`): Routing by group name, in addition to addresses. Default: all defaults, where a flow has
      `network = "icn"`.
    - `ndn` (`Ndn`): Named Data Networking. Default: all defaults, where there are producers.
    - `producers` (list of `Producer`): Producers of named data.
    - `clocks` (list of `Clock`): Clocks of nodes with an offset or a drift.
    - `sdn` (`Sdn`): An SDN controller and the nodes that it controls.
    - `flows` (list of `Flow`): Senders and their receivers.
    - `events` (list of `Event`): What changes during the run.
    - `record` (`Record`): What is recorded in addition to the counters.
    - `emulation` (`Emulation`): Settings of an emulation. A simulation ignores them.
    - `expect` (table): Expected results: dotted key of a result, and a relation such as ">= 0.9" or "0.9 ..
      0.95".
    - `sweep` (table): Dotted keys of this file and the values of each; every combination is run.
    """

    def __init__(self, **keys: Unpack[FileKeys]) -> None:
        super().__init__(keys)
