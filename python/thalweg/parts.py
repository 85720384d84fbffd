"""The parts of a scenario, built with keyword arguments.

Every builder only assembles a plain dict with the keys of a scenario file, and passes on keys that it does not name: one
loader, in the core, reads all scenarios and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Keys = dict[str, Any]
"""A part of a scenario: the keys of a scenario file with plain values."""


class Part(Keys):
    """A plain dict that was built by name. Keys that are None are left out."""

    def __init__(self, keys: Mapping[str, Any]) -> None:
        super().__init__((key, value) for key, value in keys.items() if value is not None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.items())})"


class Link(Part):
    """A link, or the settings of a kind of links in a generated topology.

    `like` takes over what another link says; `backward` holds what differs from the second end to the first.
    """

    def __init__(
        self,
        *,
        name: str | None = None,
        ends: Sequence[str] | None = None,
        like: str | None = None,
        rate: str | None = None,
        delay: str | None = None,
        buffer: str | None = None,
        queue: str | Mapping[str, Any] | None = None,
        mark_above: int | None = None,
        loss: float | None = None,
        classes: Sequence[int] | None = None,
        backward: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            {
                "name": name,
                "ends": None if ends is None else list(ends),
                "like": like,
                "rate": rate,
                "delay": delay,
                "buffer": buffer,
                "queue": queue,
                "mark_above": mark_above,
                "loss": loss,
                "classes": None if classes is None else list(classes),
                "backward": backward,
                **more,
            }
        )


class Topology(Part):
    """A network. The class fixes its `kind`."""

    kind = "custom"

    def __init__(self, **keys: Any) -> None:
        super().__init__({"kind": self.kind, **keys})


class Custom(Topology):
    """The links that are listed, and the nodes that they name."""

    def __init__(
        self,
        *,
        links: Iterable[Mapping[str, Any]],
        nodes: Sequence[str | Mapping[str, Any]] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(nodes=None if nodes is None else list(nodes), links=list(links), **more)


class Dumbbell(Topology):
    """Pairs of hosts, `left1` … and `right1` …, on both sides of one link, `bottleneck`."""

    kind = "dumbbell"

    def __init__(
        self,
        *,
        bottleneck: Mapping[str, Any],
        edge: Mapping[str, Any] | None = None,
        pairs: int | None = None,
        **more: Any,
    ) -> None:
        super().__init__(pairs=pairs, edge=edge, bottleneck=bottleneck, **more)


class ParkingLot(Topology):
    """Routers in a row, `hops` bottlenecks between them, hosts at each."""

    kind = "parking_lot"

    def __init__(
        self,
        *,
        bottleneck: Mapping[str, Any],
        hops: int | None = None,
        edge: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(hops=hops, edge=edge, bottleneck=bottleneck, **more)


class Star(Topology):
    """Hosts around a hub, `leaves` of them."""

    kind = "star"

    def __init__(self, *, link: Mapping[str, Any], leaves: int | None = None, **more: Any) -> None:
        super().__init__(leaves=leaves, link=link, **more)


class Chain(Topology):
    """Nodes in a row with `hops` links between them."""

    kind = "chain"

    def __init__(self, *, link: Mapping[str, Any], hops: int | None = None, **more: Any) -> None:
        super().__init__(hops=hops, link=link, **more)


class Tree(Topology):
    """A root, `arity` children of each inner node, `depth` levels below the root."""

    kind = "tree"

    def __init__(
        self, *, link: Mapping[str, Any], arity: int | None = None, depth: int | None = None, **more: Any
    ) -> None:
        super().__init__(arity=arity, depth=depth, link=link, **more)


class Random(Topology):
    """A connected random graph with a mean `degree`, or so many `edges`. Its `seed` is apart from that of the run."""

    kind = "random"

    def __init__(
        self,
        *,
        nodes: int,
        link: Mapping[str, Any],
        degree: float | None = None,
        edges: int | None = None,
        seed: int | None = None,
        **more: Any,
    ) -> None:
        super().__init__(nodes=nodes, degree=degree, edges=edges, seed=seed, link=link, **more)


class GraphML(Topology):
    """A graph read from a GraphML file, such as those of the Topology Zoo."""

    kind = "graphml"

    def __init__(
        self,
        *,
        file: str,
        link: Mapping[str, Any] | None = None,
        delay_by_distance: bool | None = None,
        **more: Any,
    ) -> None:
        super().__init__(file=file, delay_by_distance=delay_by_distance, link=link, **more)


class Flow(Part):
    """One sender's data for one receiver or group, or `count` of them.

    `from_` is the scenario's key `from`, which Python reserves. With `network="icn"` the receivers are a group that is known
    by name and joined over the network; see `Icn`. With `network="ndn"` it is a consumer of named data: it asks for segments
    of `prefix`, as a law (`scheme`) or a `source` says, has no `to`, and its settings are those of a `Consumer`; see `Ndn`.
    Beside the scheme of a stream, `source` is the video that it carries, and `player` says how its receivers play it.

    `arrivals={"rate": 20.0, "size": "50 kB", "count": 1000}` are short TCP flows that arrive at random, at most `count` of
    them.

    In an emulation, `kernel="cubic"` is TCP of the Linux kernel, `live=True` is the scheme over real sockets,
    and `commands` are programs at its ends.
    """

    def __init__(
        self,
        name: str,
        *,
        group: str | None = None,
        count: int | None = None,
        scheme: str | None = None,
        params: Mapping[str, Any] | None = None,
        kernel: str | None = None,
        live: bool | None = None,
        commands: Mapping[str, str] | None = None,
        source: Mapping[str, Any] | None = None,
        from_: str | None = None,
        to: str | Sequence[str | Mapping[str, Any]] | None = None,
        multicast: bool | None = None,
        network: str | None = None,
        prefix: str | None = None,
        consumer: Mapping[str, Any] | None = None,
        start: str | None = None,
        stop: str | None = None,
        start_spread: str | None = None,
        churn: Mapping[str, Any] | None = None,
        receivers: Mapping[str, Any] | None = None,
        class_: int | None = None,
        size: str | None = None,
        rate: str | None = None,
        packet: str | None = None,
        tcp: Mapping[str, Any] | None = None,
        stream: Mapping[str, Any] | None = None,
        player: Mapping[str, Any] | None = None,
        arrivals: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            {
                "name": name,
                "group": group,
                "count": count,
                "scheme": scheme,
                "params": params,
                "kernel": kernel,
                "live": live,
                "commands": commands,
                "source": source,
                "from": from_,
                "to": to if to is None or isinstance(to, str) else list(to),
                "multicast": multicast,
                "network": network,
                "prefix": prefix,
                "consumer": consumer,
                "start": start,
                "stop": stop,
                "start_spread": start_spread,
                "churn": churn,
                "receivers": receivers,
                "class": class_,
                "size": size,
                "rate": rate,
                "packet": packet,
                "tcp": tcp,
                "stream": stream,
                "player": player,
                "arrivals": arrivals,
                **more,
            }
        )


class Event(Part):
    """A change during the run: of a link, of a flow, of a route, or of a node.

    `Event(at="30 s", node="r1", action="reset")` empties the tables of a router that knows names, or of a forwarder of
    named data.
    """

    def __init__(
        self,
        *,
        at: str,
        link: str | None = None,
        rate: str | None = None,
        delay: str | None = None,
        loss: float | None = None,
        up: bool | None = None,
        flow: str | None = None,
        action: str | None = None,
        mode: str | None = None,
        node: str | None = None,
        route: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            {
                "at": at,
                "link": link,
                "rate": rate,
                "delay": delay,
                "loss": loss,
                "up": up,
                "flow": flow,
                "action": action,
                "mode": mode,
                "node": node,
                "route": route,
                **more,
            }
        )


class Routing(Part):
    """How routes are found: `metric` is `delay` or `hops`; `routes` are pinned."""

    def __init__(
        self, *, metric: str | None = None, routes: Iterable[Mapping[str, str]] | None = None, **more: Any
    ) -> None:
        super().__init__({"metric": metric, "routes": None if routes is None else list(routes), **more})


class Icn(Part):
    """A network that routes by name as well as by address, for flows with `network="icn"`.

    `resolver` is the node of the name resolution system; when not given, a node `nrs` is added beside the first router.
    `routers` are the nodes, or patterns such as `"r*"`, that know names; when not given, all nodes with more than one link
    that are no end of a group. State is refreshed every `refresh`, and expires after `lifetime` intervals without a refresh.
    Requests are retransmitted after `initial_rto`, with exponential backoff. `signal` is the size of a message on the wire;
    `probe_packets` packets of the size `probe` measure a receiver's access link.
    """

    def __init__(
        self,
        *,
        resolver: str | None = None,
        routers: Sequence[str] | None = None,
        refresh: str | None = None,
        lifetime: int | None = None,
        initial_rto: str | None = None,
        signal: str | None = None,
        probe: str | None = None,
        probe_packets: int | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            {
                "resolver": resolver,
                "routers": None if routers is None else list(routers),
                "refresh": refresh,
                "lifetime": lifetime,
                "initial_rto": initial_rto,
                "signal": signal,
                "probe": probe,
                "probe_packets": probe_packets,
                **more,
            }
        )


class Ndn(Part):
    """Forwarding of named data, for flows with `network="ndn"`.

    Forwarders are on `nodes`, or on all when not given; those of consumers and producers must be among them. `store` is
    what each keeps of the Data that pass, such as `{"policy": "lru", "size": 1000}`; `stores` are those of single nodes.
    `strategy` chooses next hops, `link` is a scheme's part at the links, which polices, shapes or stamps. `routes` replace
    the next hops that the metric gives. `interest` and `lifetime` are those of consumers that do not say their own.
    """

    def __init__(
        self,
        *,
        nodes: Sequence[str] | None = None,
        store: Mapping[str, Any] | None = None,
        stores: Iterable[Mapping[str, Any]] | None = None,
        strategy: str | None = None,
        strategy_params: Mapping[str, Any] | None = None,
        link: str | None = None,
        link_params: Mapping[str, Any] | None = None,
        dead_nonces: int | None = None,
        interest: str | None = None,
        lifetime: str | None = None,
        routes: Iterable[Mapping[str, Any]] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            {
                "nodes": None if nodes is None else list(nodes),
                "store": store,
                "stores": None if stores is None else list(stores),
                "strategy": strategy,
                "strategy_params": strategy_params,
                "link": link,
                "link_params": link_params,
                "dead_nonces": dead_nonces,
                "interest": interest,
                "lifetime": lifetime,
                "routes": None if routes is None else list(routes),
                **more,
            }
        )


class Producer(Part):
    """Who serves a `prefix` of named data and those below, at `node` or at each of several: then whoever is nearest answers.

    `payload` is what a Data packet carries, `data` its size on the wire, `delay` the time from an Interest to its Data.
    """

    def __init__(
        self,
        prefix: str,
        *,
        node: str | Sequence[str],
        payload: str | None = None,
        data: str | None = None,
        delay: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            {
                "prefix": prefix,
                "node": node if isinstance(node, str) else list(node),
                "payload": payload,
                "data": data,
                "delay": delay,
                **more,
            }
        )


class Consumer(Part):
    """Settings of a consumer of named data: what it asks for, by which clock, and when it asks again.

    `pattern` is `sequential`; `batches` of `batch` segments `every` so often; or `zipf` over a catalogue of so many
    `contents` of `segments` each. With a `tick` its clock is coarse: Interests wait for the next tick, `tick_phase` after
    each multiple, and leave back to back; with `jitter` they leave up to so long later, by
    chance. Windows start at `initial_window` Data packets; an `episode` lasts so many windows, and
    `episode_check` says what belongs to it. A segment is asked for again
    `retries` times, after timeouts between `min_rto` and `max_rto`, `initial_rto` at first, lengthened by expiries up to
    `rto_backoff` times, looked at each `rto_scan`.
    """

    def __init__(
        self,
        *,
        pattern: str | None = None,
        batch: int | None = None,
        every: str | None = None,
        contents: int | None = None,
        segments: int | None = None,
        exponent: float | None = None,
        shift: float | None = None,
        tick: str | None = None,
        tick_phase: str | None = None,
        jitter: str | None = None,
        initial_window: int | None = None,
        marks: bool | None = None,
        episode: float | None = None,
        episode_check: str | None = None,
        retries: int | None = None,
        initial_rto: str | None = None,
        min_rto: str | None = None,
        max_rto: str | None = None,
        rto_backoff: int | None = None,
        rto_scan: str | None = None,
        lifetime: str | None = None,
        interest: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            {
                "pattern": pattern,
                "batch": batch,
                "every": every,
                "contents": contents,
                "segments": segments,
                "exponent": exponent,
                "shift": shift,
                "tick": tick,
                "tick_phase": tick_phase,
                "jitter": jitter,
                "initial_window": initial_window,
                "marks": marks,
                "episode": episode,
                "episode_check": episode_check,
                "retries": retries,
                "initial_rto": initial_rto,
                "min_rto": min_rto,
                "max_rto": max_rto,
                "rto_backoff": rto_backoff,
                "rto_scan": rto_scan,
                "lifetime": lifetime,
                "interest": interest,
                **more,
            }
        )


class Clock(Part):
    """The clock of a node, or of all nodes that match a pattern such as `"s*"`.

    `offset` is how far it is ahead when the run starts, or behind, such as `"-1 h"`; `drift` how much too fast it runs,
    such as `"100 ppm"`.
    """

    def __init__(
        self,
        node: str,
        *,
        offset: str | None = None,
        drift: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__({"node": node, "offset": offset, "drift": drift, **more})


class Record(Part):
    """What is recorded beside the counters."""

    def __init__(
        self,
        *,
        every: str | None = None,
        series: Sequence[str] | None = None,
        events: bool | None = None,
        distributions: bool | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            {
                "every": every,
                "series": None if series is None else list(series),
                "events": events,
                "distributions": distributions,
                **more,
            }
        )


def plain(value: Any) -> Any:
    """A deep copy made of dicts, lists and plain values only."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
