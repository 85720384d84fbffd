"""Scenarios: from a file, or built with keyword arguments.

Every builder here only assembles a plain dict with the keys of a scenario file. One loader, in the core, reads both and
says what is wrong with either; keys that a builder does not name are passed on to it.
"""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import Interrupted

if TYPE_CHECKING:
    from .result import Progress, Result
    from .sweep import Sweep

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

    `from_` is the scenario's key `from`, which Python reserves.
    """

    def __init__(
        self,
        name: str,
        *,
        group: str | None = None,
        count: int | None = None,
        scheme: str | None = None,
        params: Mapping[str, Any] | None = None,
        source: Mapping[str, Any] | None = None,
        from_: str | None = None,
        to: str | Sequence[str | Mapping[str, Any]] | None = None,
        multicast: bool | None = None,
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
                "source": source,
                "from": from_,
                "to": to if to is None or isinstance(to, str) else list(to),
                "multicast": multicast,
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
                "arrivals": arrivals,
                **more,
            }
        )


class Event(Part):
    """A change during the run: of a link, of a flow, or of a route."""

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


class Record(Part):
    """What is recorded beside the counters."""

    def __init__(
        self,
        *,
        every: str | None = None,
        series: Sequence[str] | None = None,
        events: bool | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            {"every": every, "series": None if series is None else list(series), "events": events, **more}
        )


class Scenario:
    """An experiment, not yet checked. `check`, `plan` and `run` raise `ScenarioError` with every mistake."""

    def __init__(
        self,
        *,
        title: str | None = None,
        seed: int | None = None,
        duration: str | None = None,
        warmup: str | None = None,
        slow: bool | None = None,
        topology: Mapping[str, Any] | None = None,
        routing: Mapping[str, Any] | None = None,
        flows: Iterable[Mapping[str, Any]] | None = None,
        events: Iterable[Mapping[str, Any]] | None = None,
        record: Mapping[str, Any] | None = None,
        expect: Mapping[str, str] | None = None,
        sweep: Mapping[str, Sequence[Any]] | None = None,
        **more: Any,
    ) -> None:
        keys = Part(
            {
                "title": title,
                "seed": seed,
                "duration": duration,
                "warmup": warmup,
                "slow": slow,
                "topology": topology,
                "routing": routing,
                "flows": None if flows is None else list(flows),
                "events": None if events is None else list(events),
                "record": record,
                "expect": expect,
                "sweep": sweep,
                **more,
            }
        )
        self._tree: Keys | None = _plain(keys)
        self._native: _native.Scenario | None = None

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Reads a scenario file. Raises `ScenarioError` for mistakes, `OSError` when there is no file."""
        with open(path, "rb"):  # an error of the system then names the file
            return cls._of(_native.Scenario.from_file(str(path)))

    @classmethod
    def from_toml(cls, text: str, name: str = "<text>") -> Scenario:
        """Reads the text of a scenario file; `name` stands for the file in messages."""
        return cls._of(_native.Scenario.from_text(text, name))

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Scenario:
        """Takes the keys of a scenario as nested dicts."""
        scenario = cls()
        scenario._tree = _plain(tree)
        return scenario

    @classmethod
    def _of(cls, native: _native.Scenario) -> Scenario:
        scenario = cls()
        scenario._tree, scenario._native = None, native
        return scenario

    @property
    def tree(self) -> Keys:
        """A copy of its keys, as nested dicts and lists."""
        return copy.deepcopy(self._keys)

    @property
    def _keys(self) -> Keys:
        if self._tree is None:
            self._tree = json.loads(self._checked.tree)
        return self._tree

    @property
    def title(self) -> str:
        """One line for people; empty when it has none."""
        return str(self._keys.get("title", ""))

    @property
    def toml(self) -> str:
        """The scenario as TOML: as given when it came from text. Raises `ScenarioError`."""
        return self._checked.text

    @property
    def _checked(self) -> _native.Scenario:
        if self._native is None:
            self._native = _native.Scenario.from_json(json.dumps(self._tree))
        return self._native

    def with_(self, changes: Mapping[str, Any]) -> Scenario:
        """A copy with some dotted keys set: `{"topology.bottleneck.buffer": "1 bdp", "flows.cubic.count": 3}`.

        An entry of a list goes by its `name`, or by its number from 0. Raises `ScenarioError`.
        """
        return self._of(self._checked.with_all([(key, _toml(value)) for key, value in changes.items()]))

    def without_sweep(self) -> Scenario:
        """A copy without its `[sweep]`."""
        return self._of(self._checked.without_sweep())

    def check(self) -> Keys:
        """The plan as nested dicts, with every default and every relative unit filled in."""
        return self.plan().tree

    def plan(self, seed: int | None = None) -> Plan:
        """What a run is made of; `seed` takes the place of the scenario's."""
        return Plan(self._checked.plan(seed), self)

    def run(
        self,
        *,
        seed: int | None = None,
        progress: Callable[[Progress], object] | None = None,
        out: str | Path | None = None,
    ) -> Result:
        """Runs it on one thread, with the interpreter lock released.

        `progress` is called about ten times a second in the caller's thread. With `out`, the tables are written to that
        folder. Ctrl-C raises `Interrupted`, whose `result` (written too) has what there was.
        """
        return self.plan(seed).run(progress=progress, out=out)

    def sweep(
        self,
        grid: Mapping[str, Sequence[Any]] | None = None,
        *,
        runs: int = 1,
        seeds: Sequence[int] | None = None,
    ) -> Sweep:
        """Runs over a grid of dotted keys, `runs` seeds each; the scenario's own `[sweep]` when no grid is given.

        Seeds are the scenario's and those that follow it, unless they are listed.
        """
        from .sweep import Sweep

        return Sweep(self, grid if grid is not None else self._keys.get("sweep", {}), runs=runs, seeds=seeds)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._keys == other._keys

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Scenario {self.title!r}>"


class Plan:
    """A checked scenario with one seed, every default and every relative unit filled in."""

    def __init__(self, native: _native.Plan, scenario: Scenario) -> None:
        self._native = native
        self.scenario = scenario
        """The scenario that it was made of."""

    @property
    def title(self) -> str:
        """One line for people."""
        return self._native.title

    @property
    def seed(self) -> int:
        """Root of every random stream."""
        return self._native.seed

    @property
    def duration_s(self) -> float:
        """Simulated length, in seconds."""
        return self._native.duration_s

    @property
    def tree(self) -> Keys:
        """The plan in the words of a scenario, as nested dicts."""
        keys: Keys = json.loads(self._native.resolved)
        return keys

    @property
    def toml(self) -> str:
        """The plan in the words of a scenario, as TOML."""
        return self._native.toml

    @property
    def layout(self) -> Keys:
        """`{"nodes": [{"name", "x", "y"}], "links": [{"name", "from", "to"}]}`, places within 0 and 1."""
        keys: Keys = json.loads(self._native.layout)
        return keys

    def run(
        self,
        *,
        progress: Callable[[Progress], object] | None = None,
        out: str | Path | None = None,
    ) -> Result:
        """See `Scenario.run`."""
        control = _native.Control()
        done: list[Result] = []
        failed: list[BaseException] = []
        ended = (
            threading.Event()
        )  # a thread's own word on its end is wrong after Ctrl-C came in `join` (Python 3.11)

        def work() -> None:
            try:
                done.append(self.carry_out(control))
            except BaseException as error:  # a panic of the core is raised again in the caller's thread
                failed.append(error)
            finally:
                ended.set()

        thread = threading.Thread(target=work, name="thalweg-run", daemon=True)
        interrupted = False
        began = time.monotonic()
        thread.start()
        while not ended.is_set():
            try:
                if not ended.wait(0.1) and progress is not None:
                    progress(self._progress(control, began))
            except KeyboardInterrupt:
                interrupted = True
                control.stop()
            except BaseException:
                control.stop()
                ended.wait()
                raise
        if failed:
            raise failed[0]
        result = done[0]
        if out is not None:
            result.save(out)
        if interrupted:
            raise Interrupted(result)
        if progress is not None:
            progress(self._progress(control, began))
        return result

    def _progress(self, control: _native.Control, began: float) -> Progress:
        from .result import Progress

        return Progress(control.now_s, self.duration_s, control.events, time.monotonic() - began)

    def carry_out(self, control: _native.Control) -> Result:
        """Runs in this thread; `control` may stop it from another."""
        from .result import Result

        wall, cpu = time.perf_counter(), time.thread_time()
        native = self._native.run(control)
        return Result.of(self, native, time.perf_counter() - wall, time.thread_time() - cpu)


def load(path: str | Path) -> Scenario:
    """Reads a scenario file. Raises `ScenarioError` for mistakes, `OSError` when there is no file."""
    return Scenario.load(path)


def _plain(value: Any) -> Any:
    """A deep copy made of dicts, lists and plain values only."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _toml(value: Any) -> str:
    """A plain value as TOML on one line."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(
                f"{_toml(str(key))} = {_toml(item)}" for key, item in value.items() if item is not None
            )
            + "}"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        # TOML has the escapes of JSON, except for halves of characters, which are not written here, and DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (bool, int, float)):
        return json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")
    raise TypeError(f"a scenario has text, numbers, switches, lists and tables; not {type(value).__name__}")
