"""The compiled core: conversion only. What is made for programs to read travels as JSON text."""

from typing import Any, Self, TypedDict, final

__all__ = [
    "Ack",
    "Allowance",
    "Congestion",
    "Control",
    "Cut",
    "Delivery",
    "ForwardControl",
    "Lost",
    "NdnControl",
    "Plan",
    "Relation",
    "Run",
    "Scenario",
    "SdnControl",
    "Sent",
    "Simulation",
    "Summary",
    "Table",
    "Transfer",
    "__version__",
    "clean_emulations",
    "emulation_permitted",
    "identity",
    "measure_pacing",
    "metrics",
    "model_trace",
    "ndn_control",
    "ndn_face",
    "ndn_forward",
    "ndn_get",
    "ndn_name",
    "ndn_put",
    "ndn_together",
    "register_agent",
    "register_scheme",
    "renamed",
    "schema",
    "schemes",
    "series",
    "strategies",
    "trace_models",
]

__version__: str

def schemes() -> str:
    """The catalogue of schemes as JSON."""

def metrics() -> str:
    """Every column and key of a result as JSON."""

def series() -> str:
    """Every series that can be recorded as JSON."""

def trace_models() -> str:
    """The models of links whose rates follow a trace, as JSON."""

def model_trace(model: str, seed: int, opportunities: bool) -> str | None:
    """The trace of a model as text: CSV, or delivery opportunities in milliseconds; None if no model has this name."""

def strategies() -> str:
    """The strategies of forwarders that are no schemes, as JSON."""

def renamed() -> str:
    """Names of earlier versions as JSON: a list of `[old, new]`."""

def schema() -> str:
    """The JSON Schema of a scenario."""

def measure_pacing(method: str, aside_ns: int, interval_ns: int, span_ns: int, size: int | None) -> str:
    """Paces packets on this computer and says how exact that was, as JSON. Raises `ValueError`, or `OSError`."""

@final
class ForwardControl:
    """What another thread asks of a forwarder, and sees of it."""

    def __init__(self) -> None: ...
    @property
    def stats(self) -> str | None:
        """How it stood not long ago, as JSON; None before it began."""

    def stop(self) -> None:
        """Asks it to end soon."""

def ndn_forward(settings: str, control: ForwardControl, pcap: str | None = None) -> str:
    """Forwards as the settings say, in JSON, until it is told to stop; how it stood then. Frames are written to `pcap`."""

@final
class SdnControl:
    """What another thread asks of an SDN controller, and sees of it."""

    def __init__(self) -> None: ...
    @property
    def stats(self) -> str | None:
        """How it stood not long ago, as JSON; None before it began."""

    def stop(self) -> None:
        """Asks it to end soon."""

def ndn_control(plan: Plan, listen: str, key: bytes, control: SdnControl) -> str:
    """Controls forwarders as the plan says until it is told to stop; how it stood then, as JSON."""

def ndn_together(experiment: str, control: ForwardControl) -> str:
    """Runs forwarders with their endpoints on the loopback device for a while; what they did, as JSON."""

@final
class Scenario:
    """A scenario that was read without a mistake."""

    @staticmethod
    def from_file(path: str) -> Scenario:
        """Reads a file. Raises `ScenarioError`, or `OSError` when there is none."""

    @staticmethod
    def from_text(text: str, name: str) -> Scenario:
        """Reads TOML text; `name` stands for the file in messages."""

    @staticmethod
    def from_tree(tree: dict[str, Any]) -> Scenario:
        """Takes a tree of plain values."""

    @property
    def tree(self) -> dict[str, Any]:
        """The scenario as a tree of plain values."""

    @property
    def text(self) -> str:
        """The scenario as TOML: as given when it was text."""

    @property
    def warnings(self) -> str:
        """What it says that has no effect or cannot be measured: a list in JSON, as of a `ScenarioError`."""

    @property
    def warnings_picture(self) -> str:
        """The same, drawn over the text; empty where there is none."""

    @property
    def title(self) -> str:
        """One line for people; empty when it has none."""

    @property
    def slow(self) -> bool:
        """It says that it needs more than five CPU seconds."""

    def with_all(self, changes: dict[str, Any]) -> Scenario:
        """A copy with some dotted keys set, all at once."""

    def grid(self, axes: dict[str, list[Any]]) -> list[Scenario]:
        """Every cell of a grid of dotted keys, the last key varying fastest, without a sweep of its own."""

    def without_sweep(self) -> Scenario:
        """The same without its sweep."""

    def plan(self, seed: int | None = None) -> Plan:
        """Fills in every default and every relative unit."""

def drill(
    text: str,
    scheme: str | None = None,
    *,
    params: list[tuple[str, str]] = ...,
    standard: bool = False,
) -> str:
    """Drills TCP with a script in packetdrill's language; returns the report as JSON.

    `params` are parameters of the scheme, as TOML. With `standard` TCP follows the RFCs where the script leaves that
    open, otherwise Linux. Raises `ValueError` for values that are no parameters.
    """

class Files(TypedDict):
    """The files that a run writes while it runs."""

    capture: tuple[list[str], str] | None
    """Links, and the capture file of what passes them."""
    qlog: list[tuple[str, str]]
    """Flows, each with the qlog file of its congestion controller."""
    drill: tuple[str, str] | None
    """A flow over TCP, and the file of the script that its packets become; None in an emulation."""

@final
class Plan:
    """What a run is made of."""

    @property
    def title(self) -> str:
        """One line for people."""

    @property
    def seed(self) -> int:
        """Root of every random stream."""

    @property
    def duration_s(self) -> float:
        """Simulated length, in seconds."""

    @property
    def resolved(self) -> str:
        """The whole plan in the words of a scenario, as JSON."""

    @property
    def toml(self) -> str:
        """The same as TOML."""

    @property
    def layout(self) -> str:
        """Nodes with their places and links, as JSON, for drawing."""

    def run(
        self,
        control: Control,
        files: Files,
        folder: str | None = None,
    ) -> Run:
        """Runs to the end, or until `control` stops it. Releases the interpreter lock.

        Each time that `control` says `keep`, the tables as they are go to `folder`.
        """

    def record(self, control: Control, folder: str) -> Run:
        """Runs as `run`, and writes the record of every packet to `folder`. Releases the interpreter lock.

        Raises `OSError` if the record is not complete. `docs/reference/packet-record.md` defines its files.
        """

    def controlled(self, *, emulated: bool = False) -> list[str]:
        """Names of the flows with a congestion controller of this library; fewer in an emulation."""

    def drillable(self) -> list[str]:
        """Names of the flows of which a script for packetdrill can be written: those over TCP with one receiver."""

    def emulate(
        self,
        control: Control,
        files: Files,
        *,
        spin_us: int = 50,
        poll_interval_us: int = 0,
        urgent: bool = False,
        logs: str | None = None,
        began_ns: int = 0,
    ) -> Run:
        """Emulates it in real time, or until `control` stops it. Releases the interpreter lock. Raises `EmulationError`.

        `began_ns` is the time in a capture at which it begins.
        """

@final
class Control:
    """Watches and stops a run from another thread."""

    def __init__(self) -> None: ...
    @property
    def now_s(self) -> float:
        """Simulated time reached, in seconds."""

    @property
    def events(self) -> int:
        """Agenda entries handled."""

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop."""

    def keep(self) -> None:
        """Asks the run to write down soon what it has, and to go on."""

    def stop(self) -> None:
        """Asks the run to end soon; it keeps what it has."""

@final
class Run:
    """What a run left."""

    @property
    def complete(self) -> bool:
        """It came to its end."""

    @property
    def trace_hash(self) -> str:
        """Digest of every event in order, 16 hexadecimal digits."""

    @property
    def packet_hops(self) -> int:
        """Packets put on links."""

    @property
    def events_handled(self) -> int:
        """Agenda entries handled."""

    @property
    def ended_s(self) -> float:
        """Simulated time that it reached, in seconds."""

    @property
    def emulation(self) -> str | None:
        """How well the machine kept up, as JSON; None for a simulation."""

    @property
    def script(self) -> str | None:
        """What became of the script of a flow, as JSON; None if none was asked for."""

    @property
    def tables(self) -> list[str]:
        """Names of its tables."""

    def table(self, name: str) -> Table:
        """One of them; `KeyError` for an unknown name."""

    @property
    def values(self) -> dict[str, float | None]:
        """The table `summary` as a dict: dotted key → value."""

    def value(self, key: str) -> float | None:
        """The value of a key of the table `summary`; `KeyError` for an unknown key."""

    def values_of(self, subject: str) -> dict[str, float | None]:
        """The values of a subject such as `flows.web`, by the last word of their keys; empty for an unknown subject."""

    def save(self, folder: str) -> None:
        """Writes every table to `folder` as Parquet."""

@final
class Relation:
    """A relation such as ``">= 0.9"`` or ``"in 1 .. 3"``, in the grammar of `[expect]`."""

    def __init__(self, text: str) -> None:
        """Raises ``ValueError`` for what is no relation."""

    def holds(self, value: float) -> bool:
        """Whether the value is accepted; never for not-a-number."""

@final
class Table:
    """One table of a run; any library that takes `__arrow_c_stream__` reads it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def columns(self) -> list[tuple[str, str, str]]:
        """Its columns as `(name, unit, definition)`."""

    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """An Arrow C stream, in a capsule."""

def emulation_permitted() -> str | None:
    """Why this process may not emulate; None when it may."""

def clean_emulations() -> list[str]:
    """Removes what emulations that were killed have left; the names of what was removed."""

def identity(path: str, seed: bytes) -> str:
    """The fingerprint of the identity in a key file, which is made from the seed if it does not exist. Raises `OSError`."""

@final
class Transfer:
    """A transfer: told what to do in one thread, watched and steered from others."""

    def __new__(cls) -> Transfer: ...
    def send(self, options: str) -> str:
        """Sends, and returns when that is over: what is left of it as JSON. Raises `ValueError`, or `OSError`."""

    def receive(self, options: str) -> str:
        """Receives, and returns when that is over: what is left of it as JSON. Raises `ValueError`, or `OSError`."""

    def stop(self) -> None:
        """Asks the transfer to say goodbye and end."""

    def change_mode(self, mode: str) -> None:
        """Asks both ends to change to this mode of the scheme."""

    def status(self) -> str:
        """Its status, as JSON."""

@final
class NdnControl:
    """What another thread asks of a fetch or a producer, and sees of it."""

    def __init__(self) -> None: ...
    @property
    def bytes(self) -> int:
        """Bytes that are there, in order; of a producer, bytes of content sent."""

    @property
    def total(self) -> int:
        """Total size in bytes; 0 while it is unknown."""

    @property
    def segments(self) -> int:
        """Segments that came; of a producer, Interests that came."""

    @property
    def again(self) -> int:
        """Segments asked for again."""

    @property
    def ready(self) -> bool:
        """The version is found, or the prefix is registered."""

    def stop(self) -> None:
        """Asks it to end soon."""

def ndn_name(text: str) -> str:
    """A name as it is written everywhere; `ValueError` for what is no name."""

def ndn_face(text: str) -> str:
    """Where a face leads, as it is written everywhere; `ValueError` for what is no face."""

def ndn_get(wanted: str, path: str | None, control: NdnControl) -> str:
    """Fetches a file; `wanted` is JSON. Writes to `path`, or to standard output where there is none. What came, as JSON."""

def ndn_put(wanted: str, path: str | None, content: bytes | None, control: NdnControl) -> str:
    """Serves the file at `path`, or `content`, until it is told to stop; `wanted` is JSON. What was served, as JSON."""

@final
class Ack:
    """New data were acknowledged."""

    @property
    def now_s(self) -> float:
        """Simulated time in seconds."""

    @property
    def bytes(self) -> int:
        """Newly delivered payload in bytes."""

    @property
    def packets(self) -> int:
        """Newly delivered packets."""

    @property
    def marked(self) -> bool:
        """It reports a congestion mark."""

    @property
    def marked_packets(self) -> int:
        """Newly marked packets that it reports."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight before this acknowledgement, in bytes."""

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time sample in seconds; None without a valid one."""

    @property
    def rtt_smoothed_s(self) -> float:
        """Smoothed round-trip time in seconds."""

    @property
    def rtt_min_s(self) -> float | None:
        """Minimum round-trip time so far in seconds; None before the first sample."""

    @property
    def delay_s(self) -> float | None:
        """One-way delay between two clocks in seconds: only its changes have a meaning. None if the transport lacks it."""

    @property
    def app_limited(self) -> bool:
        """The sender was application-limited at some time since the last acknowledgement."""

    @property
    def recovering(self) -> bool:
        """The transport is in loss recovery."""

    @property
    def round_ended(self) -> bool:
        """It ends a round trip."""

@final
class Congestion:
    """A loss, a mark, a timeout or a NACK."""

    @property
    def now_s(self) -> float:
        """Simulated time in seconds."""

    @property
    def cause(self) -> str:
        """`loss`, `mark`, `timeout` or `refused`."""

    @property
    def bytes(self) -> int:
        """Payload lost or marked, in bytes."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight at the detection, including lost data, in bytes."""

    @property
    def first(self) -> bool:
        """The first event of its episode: schemes with one reduction per round trip react to this only."""

@final
class Delivery:
    """The delivery-rate sample of an acknowledgement."""

    @property
    def now_s(self) -> float:
        """Simulated time in seconds."""

    @property
    def bytes(self) -> int:
        """Newly delivered payload in bytes."""

    @property
    def total_bytes(self) -> int:
        """Payload delivered in this connection so far, in bytes."""

    @property
    def total_when_sent_bytes(self) -> int:
        """Payload delivered before the newest of these packets was sent, in bytes."""

    @property
    def in_flight_when_sent_bytes(self) -> int:
        """Payload in flight when the newest of these packets was sent, including it, in bytes."""

    @property
    def lost_bytes(self) -> int:
        """Payload declared lost since the newest of these packets was sent, in bytes."""

    @property
    def rate_bps(self) -> float | None:
        """Payload delivered per time since then, in bit/s; None if that time is shorter than the minimum round-trip time."""

    @property
    def app_limited(self) -> bool:
        """The sender was application-limited when the newest of these packets was sent."""

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time of the newest of these packets in seconds; None if it was retransmitted."""

    @property
    def delay_s(self) -> float | None:
        """One-way delay of it in seconds, as in `Ack`."""

    @property
    def in_flight_before_bytes(self) -> int:
        """Payload in flight before this acknowledgement, in bytes."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight after it, without lost data, in bytes."""

    @property
    def recovering(self) -> bool:
        """The transport is in loss recovery, also after a timeout."""

@final
class Lost:
    """A packet was declared lost."""

    @property
    def now_s(self) -> float:
        """Simulated time in seconds."""

    @property
    def bytes(self) -> int:
        """Its payload in bytes."""

    @property
    def in_flight_when_sent_bytes(self) -> int:
        """Payload in flight when it was sent, including it, in bytes."""

    @property
    def lost_bytes(self) -> int:
        """Payload declared lost since it was sent, including it, in bytes."""

    @property
    def total_bytes(self) -> int:
        """Payload delivered in this connection so far, in bytes."""

    @property
    def app_limited(self) -> bool:
        """The sender was application-limited when it was sent."""

    @property
    def adjoins(self) -> bool:
        """It follows the packet of the last such call without a gap in the sequence."""

@final
class Sent:
    """A packet was sent."""

    @property
    def now_s(self) -> float:
        """Simulated time in seconds."""

    @property
    def bytes(self) -> int:
        """Its payload in bytes."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight after it, in bytes."""

    @property
    def retransmission(self) -> bool:
        """It is a retransmission."""

    @property
    def app_limited(self) -> bool:
        """The sender was application-limited at some time since the last acknowledgement."""

@final
class Cut:
    """A reduction of the window."""

    @property
    def now_s(self) -> float:
        """Simulated time in seconds."""

    @property
    def cause(self) -> str:
        """`loss`, `mark`, `timeout` or `refused`."""

    @property
    def flight(self) -> float:
        """Payload in flight at the detection, including lost data, in segments."""

@final
class Summary:
    """What happened in a round trip or an interval."""

    @property
    def now_s(self) -> float:
        """Simulated time at its end, in seconds."""

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""

    @property
    def acked_bytes(self) -> int:
        """Payload delivered in it, in bytes."""

    @property
    def acked_packets(self) -> int:
        """Packets delivered in it."""

    @property
    def marked_packets(self) -> int:
        """Packets that were reported as marked in it."""

    @property
    def lost_bytes(self) -> int:
        """Payload that was declared lost in it, in bytes."""

    @property
    def timeouts(self) -> int:
        """Retransmission timeouts in it."""

    @property
    def sent_bytes(self) -> int:
        """Payload sent in it, retransmissions included, in bytes."""

    @property
    def rtt_min_s(self) -> float | None:
        """Minimum of its round-trip time samples in seconds; None without one."""

    @property
    def rtt_mean_s(self) -> float | None:
        """Mean of its round-trip time samples in seconds; None without one."""

    @property
    def rtt_last_s(self) -> float | None:
        """Its last round-trip time sample in seconds; None without one."""

    @property
    def rtt_smoothed_s(self) -> float | None:
        """Smoothed round-trip time of the transport at its last acknowledgement, in seconds; None before the first."""

    @property
    def rtt_base_s(self) -> float | None:
        """Minimum round-trip time of the connection so far in seconds; None before the first sample."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight at its last event, in bytes."""

    @property
    def delivery_rate_bps(self) -> float:
        """Payload delivered per time, in bit/s."""

    @property
    def sending_rate_bps(self) -> float:
        """Payload sent per time, in bit/s."""

class Allowance:
    """The window and the rate that a scheme has set."""

    def __new__(cls, *args: object, **keys: object) -> Self: ...
    @property
    def window(self) -> float:
        """Maximum payload in flight in bytes; `math.inf` for no limit. At least one segment is allowed."""

    @window.setter
    def window(self, value: float) -> None: ...
    @property
    def rate(self) -> float:
        """Pacing rate in bit/s, headers included; `math.inf` for no pacing."""

    @rate.setter
    def rate(self, value: float) -> None: ...
    @property
    def ssthresh(self) -> float:
        """Slow-start threshold in bytes, for the trace; `math.inf` without one."""

    @ssthresh.setter
    def ssthresh(self, value: float) -> None: ...

def register_scheme(
    scheme: type,
    *,
    name: str,
    title: str,
    families: list[str],
    params: list[tuple[str, str, Any, Any, Any, list[str], str]],
    callbacks: list[str],
    update: bool,
    interval: str | None = None,
    ecn: str | None = None,
    rack: bool = False,
    integer_cwnd: bool = False,
) -> None:
    """Adds a class to the catalogue of this process. Raises `ValueError`."""

def register_agent() -> None:
    """Adds the scheme `agent`, which environments steer, to the catalogue of this process."""

@final
class Simulation:
    """A running network whose flows with the scheme `agent` are steered from outside."""

    def __init__(self, plan: Plan) -> None:
        """Builds the network of a plan. Raises `SchemeError`."""

    @property
    def agents(self) -> list[str]:
        """Names of the flows that are steered, in the order of the plan."""

    @property
    def now_s(self) -> float:
        """Simulated time reached, in seconds."""

    @property
    def setups(self) -> list[tuple[int, int] | None]:
        """Segment and initial window of each agent in bytes; None before its flow starts."""

    def step(
        self, actions: list[tuple[float, float] | None], span_s: float
    ) -> tuple[bool, list[Summary | None]]:
        """Sets window (bytes) and rate (bit/s) of each agent (None keeps them), and runs for `span_s` seconds.

        Returns whether the run is over, and what each agent saw: None before its flow starts. Raises `ValueError`, or
        `SchemeError`.
        """

    def finish(self) -> Run:
        """Ends the simulation; its result."""
