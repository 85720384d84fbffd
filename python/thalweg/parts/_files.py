"""Builders: the file, events, and what is recorded.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, TypedDict, Unpack

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

    KEYS: ClassVar = {
        "at": ("str", "60 s"),
        "link": ("str | None", ""),
        "rate": ("str | None", "50 Mbit/s"),
        "delay": ("str | None", "60 s"),
        "loss": ("float | None", ""),
        "up": ("bool | None", ""),
        "flow": ("str | None", ""),
        "action": ("str | None", "start"),
        "mode": ("str | None", ""),
        "node": ("str | None", ""),
        "route": ("Mapping[str, Any] | None", ""),
    }

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

    KEYS: ClassVar = {
        "every": ("str | None", "60 s"),
        "series": ("Iterable[str] | None", ""),
        "flows": ("Iterable[str] | None", ""),
        "events": ("bool | None", ""),
        "drops": ("bool | None", ""),
        "distributions": ("bool | None", ""),
        "packets": ("Mapping[str, Any] | None", ""),
    }

    def __init__(self, **keys: Unpack[RecordKeys]) -> None:
        super().__init__(keys)


class Window(Part):
    """A time from its start up to and without its end.

    - `from_` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Its start.
    - `to` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Its end.
    """

    KEYS: ClassVar = {
        "from_": ("str | None", "60 s"),
        "to": ("str | None", "60 s"),
    }

    def __init__(self, **keys: Unpack[WindowKeys]) -> None:
        super().__init__(keys)


class Emulation(Part):
    """Settings of an emulation.

    - `real` (list of text): Nodes that are network namespaces of the host, or patterns such as "left*".
      Default: the endpoints of all flows with `kernel`, `live` or `commands`.
    - `max_lateness` (such as `"60 s"`, `"20 ms"`, `"500 us"`): A run is valid if at most 1 % of the packets
      left later than this after their scheduled time. Default: 2 ms.
    """

    KEYS: ClassVar = {
        "real": ("Iterable[str] | None", ""),
        "max_lateness": ("str | None", "60 s"),
    }

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

    KEYS: ClassVar = {
        "title": ("str | None", ""),
        "seed": ("int | None", ""),
        "duration": ("str | None", "60 s"),
        "warmup": ("str | None", "60 s"),
        "slow": ("bool | None", ""),
        "topology": ("Mapping[str, Any] | None", ""),
        "routing": ("Mapping[str, Any] | None", ""),
        "icn": ("Mapping[str, Any] | None", ""),
        "ndn": ("Mapping[str, Any] | None", ""),
        "producers": ("Iterable[Mapping[str, Any]] | None", ""),
        "clocks": ("Iterable[Mapping[str, Any]] | None", ""),
        "sdn": ("Mapping[str, Any] | None", ""),
        "flows": ("Iterable[Mapping[str, Any]] | None", ""),
        "events": ("Iterable[Mapping[str, Any]] | None", ""),
        "record": ("Mapping[str, Any] | None", ""),
        "emulation": ("Mapping[str, Any] | None", ""),
        "expect": ("Mapping[str, Any] | None", ""),
        "sweep": ("Mapping[str, Any] | None", ""),
    }

    def __init__(self, **keys: Unpack[FileKeys]) -> None:
        super().__init__(keys)
