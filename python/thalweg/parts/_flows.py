"""Builders: flows and their ends.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, Required, TypedDict, Unpack

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
        quic: Mapping[str, Any] | None
        stream: Mapping[str, Any] | None
        player: Mapping[str, Any] | None
        arrivals: Mapping[str, Any] | None
        app: Mapping[str, Any] | None

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

    class ReceiversKeys(TypedDict, total=False):
        """Keys of `Receivers`."""

        churn: Mapping[str, Any] | None
        always: Iterable[str] | None

    class TcpKeys(TypedDict, total=False):
        """Keys of `Tcp`."""

        like: str | None
        sack: bool | None
        dsack: bool | None
        limited_transmit: bool | None
        fast_recovery: bool | None
        recovery_timer: str | None
        loss_detection: str | None
        tail_probe: bool | None
        reduction: str | None
        undo: bool | None
        time_stamps: bool | None
        frto: bool | None
        idle_restart: bool | None
        idle_decay: bool | None
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
        unpaced: int | None
        timer_slack: str | None
        app_limited: str | None
        handshake: bool | None
        acks: str | None
        header: str | None

    class QuicKeys(TypedDict, total=False):
        """Keys of `Quic`."""

        receive_window: str | None
        send_window: str | None

    class StreamKeys(TypedDict, total=False):
        """Keys of `Stream`."""

        jitter: float | None
        feedback: str | None
        reorder: int | None
        reordering_window: bool | None
        ecn: bool | None


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
    - `quic` (`Quic`): QUIC: flow control, with stack = "quinn" or "noq".
    - `stream` (`Stream`): Settings of a stream.
    - `player` (`Player`): Streams with a `source` of frames: how the receivers play them.
    - `arrivals` (`Arrivals`): Flows that arrive one after the other, at random or as a file lists them,
      instead of one flow: short flows over TCP or QUIC, calls of streams.
    - `app` (`App`): An application at the receiver that requests data and waits for them, over TCP or QUIC: a
      closed loop.
    """

    KEYS: ClassVar = {
        "name": ("str", ""),
        "group": ("str | None", ""),
        "count": ("int | None", ""),
        "scheme": ("str | None", "aimd"),
        "params": ("Mapping[str, Any] | None", ""),
        "stack": ("str | None", "quinn"),
        "controller": ("str | None", ""),
        "encoder": ("Mapping[str, Any] | None", ""),
        "kernel": ("str | None", ""),
        "live": ("bool | None", ""),
        "commands": ("Mapping[str, Any] | None", ""),
        "source": ("Mapping[str, Any] | None", ""),
        "from_": ("str | Iterable[str] | None", ""),
        "to": ("str | Iterable[str | Mapping[str, Any]] | None", ""),
        "multicast": ("bool | None", ""),
        "network": ("str | None", "ip"),
        "prefix": ("str | None", "/video"),
        "consumer": ("Mapping[str, Any] | None", ""),
        "start": ("str | None", "60 s"),
        "stop": ("str | None", "60 s"),
        "start_spread": ("str | None", "60 s"),
        "churn": ("Mapping[str, Any] | None", ""),
        "receivers": ("Mapping[str, Any] | None", ""),
        "class_": ("int | None", ""),
        "size": ("str | None", "1500 B"),
        "rate": ("str | None", "50 Mbit/s"),
        "packet": ("str | None", "1500 B"),
        "tcp": ("Mapping[str, Any] | None", ""),
        "quic": ("Mapping[str, Any] | None", ""),
        "stream": ("Mapping[str, Any] | None", ""),
        "player": ("Mapping[str, Any] | None", ""),
        "arrivals": ("Mapping[str, Any] | None", ""),
        "app": ("Mapping[str, Any] | None", ""),
    }

    def __init__(self, name: str, **keys: Unpack[FlowKeys]) -> None:
        super().__init__({"name": name, **keys})


class Commands(Part):
    """Shell commands that produce a flow's traffic in an emulation.

    `{from}` and `{to}` are replaced by the addresses of its endpoints (`{to}` by that of its group, if it has
    one), `{here}` by the address of the node where the command runs, and `{port}` by the flow's port.

    - `sender` (text): Runs at the sender's node, from the flow's start until its stop.
    - `receiver` (text): Runs at each receiver's node, from the start of the run to its end.
    """

    KEYS: ClassVar = {
        "sender": ("str | None", ""),
        "receiver": ("str | None", ""),
    }

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
    - `pattern` (text): frames: frame types of a group of pictures. Default: IBBPBBPBBPBB.
    - `sizes` (list of number): frames: relative mean sizes of I, P and B frames. Default: [5, 3, 1].
    - `variation` (number): frames: coefficient of variation (standard deviation / mean) of the sizes of one
      frame type, which are log-normal. Default: 0.
    - `file` (text): trace: path of a text file, relative to the scenario. Each line is a frame: its size in
      bytes; its number, type and size, with its time before the size or without; or its size and type, as
      ffprobe writes CSV.
    - `repeat` (true or false): trace: repeat the file after its last frame. Default: false.
    - `live` (true or false): Streams: each frame becomes available when it has been encoded; false: all
      frames are available at the start. Default: true.
    - `drop_after` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Streams: maximum time that a frame waits at the
      sender before it is dropped. Default: no limit.
    """

    KEYS: ClassVar = {
        "kind": ("str", "constant"),
        "rate": ("str | None", "50 Mbit/s"),
        "interests": ("float | None", ""),
        "on": ("str | None", "60 s"),
        "off": ("str | None", "60 s"),
        "shape": ("float | None", ""),
        "fixed": ("bool | None", ""),
        "frame_rate": ("float | None", ""),
        "pattern": ("str | None", ""),
        "sizes": ("Iterable[float] | None", ""),
        "variation": ("float | None", ""),
        "file": ("str | None", ""),
        "repeat": ("bool | None", ""),
        "live": ("bool | None", ""),
        "drop_after": ("str | None", "60 s"),
    }

    def __init__(self, kind: str, **keys: Unpack[SourceKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class Member(Part):
    """A receiver of a group with its own join and leave times.

    - `node` (text): Its node, or a pattern such as "leaf*".
    - `start` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Join time. Default: 0 s.
    - `stop` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Leave time. Default: the end of the run.
    - `churn` (`Churn`): It leaves and joins at random times.
    """

    KEYS: ClassVar = {
        "node": ("str", ""),
        "start": ("str | None", "60 s"),
        "stop": ("str | None", "60 s"),
        "churn": ("Mapping[str, Any] | None", ""),
    }

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

    KEYS: ClassVar = {
        "on": ("str", "60 s"),
        "off": ("str", "60 s"),
        "shape": ("float | None", ""),
        "fixed": ("bool | None", ""),
    }

    def __init__(self, on: str, **keys: Unpack[ChurnKeys]) -> None:
        super().__init__({"on": on, **keys})


class Receivers(Part):
    """Churn of the members of a group.

    - `churn` (`Churn`): Times between joining and leaving.
    - `always` (list of text): Receivers that never leave.
    """

    KEYS: ClassVar = {
        "churn": ("Mapping[str, Any] | None", ""),
        "always": ("Iterable[str] | None", ""),
    }

    def __init__(self, **keys: Unpack[ReceiversKeys]) -> None:
        super().__init__(keys)


class Tcp(Part):
    """Settings of TCP.

    All have defaults.

    - `like` (`standard`, `linux`): The TCP that supplies the defaults of this table and of the parameters of
      `reno`, `cubic`, `bbr` and `tcp_lp`. Default: `linux` with `kernel`, otherwise `standard`.
    - `sack` (true or false): Selective acknowledgements. Default: true.
    - `dsack` (true or false): Report data that arrived twice (D-SACK, RFC 2883). The sender then undoes a
      recovery in which nothing was lost, and RACK waits longer for reordered segments. Requires `sack`.
      Default: false; Linux: true.
    - `limited_transmit` (true or false): Send new data on the first two duplicate acknowledgements. Default:
      true.
    - `fast_recovery` (true or false): Fast recovery after three duplicate acknowledgements (RFC 6582).
      Without it, and with `sack = false`: TCP Tahoe, whose window is then one segment, in slow start, as in
      `Agent/TCP` of ns-2. Default: true.
    - `recovery_timer` (`impatient`, `steady`): When the retransmission timer restarts in NewReno recovery
      without SACK (RFC 6582 §4). Default: impatient.
    - `loss_detection` (`count`, `time`): How losses are detected with SACK. Default: count; Linux, and
      schemes that are defined with RACK-TLP (`bbr3`, `prague`): time.
    - `tail_probe` (true or false): Send a tail loss probe (TLP) after two round-trip times without an
      acknowledgement. Requires `loss_detection = "time"`. Default: false; Linux, and schemes that are defined
      with RACK-TLP: true.
    - `reduction` (`halt`, `proportional`): How the data in flight are reduced to the new window after losses
      and marks. Default: halt; Linux: proportional.
    - `undo` (true or false): Detect spurious retransmissions by timestamps (Eifel) and undo the reduction of
      the window. Default: true.
    - `time_stamps` (true or false): Time stamps (RFC 7323), which tell a retransmission from the first
      transmission. Without them an acknowledgement of retransmitted data has no round-trip time, and `undo`
      needs `dsack` or `frto`. They do not change `header`. Default: true.
    - `frto` (true or false): Forward RTO recovery (F-RTO, RFC 5682): after a timeout, new data are sent
      before lost data once an acknowledgement advances, and the timeout is undone if data arrive that were
      never retransmitted. Requires `sack`. Default: false; Linux: true.
    - `idle_restart` (true or false): Inform the congestion controller when the connection resumes sending
      after an idle period. Default: true.
    - `idle_decay` (true or false): After an idle period, halve the window once per retransmission timeout
      rather than restart at the initial window, and let a window shrink of which the application uses only a
      part (RFC 2861). Requires `idle_restart`. Default: false; Linux: true.
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
    - `unpaced` (whole number): Number of segments at the start that leave without pacing. Above 0, a segment
      that leaves late is charged less for it, as in Linux. Default: 0; Linux: 10.
    - `timer_slack` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Time added to the deadlines of loss detection
      by time and of tail loss probes. Default: 0 s; Linux: 2 ms.
    - `app_limited` (`at_end`, `at_write`): When a delivery rate counts as that of an application that had no
      more data, which schemes such as `bbr` ignore unless it is higher. Default: at_end; Linux: at_write.
    - `handshake` (true or false): Open the connection with SYN and SYN-ACK. Default: false; Linux: true.
    - `acks` (`honest`, `divided`, `repeated`, `optimistic`): How the receiver acknowledges: honestly, or such
      that a sender that believes it sends faster. Default: honest.
    - `header` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Header of every packet, and size of an
      acknowledgement. Default: 40 B; 52 B with `kernel`, which has timestamps; 76 B with `live`.
    """

    KEYS: ClassVar = {
        "like": ("str | None", "standard"),
        "sack": ("bool | None", ""),
        "dsack": ("bool | None", ""),
        "limited_transmit": ("bool | None", ""),
        "fast_recovery": ("bool | None", ""),
        "recovery_timer": ("str | None", "impatient"),
        "loss_detection": ("str | None", "count"),
        "tail_probe": ("bool | None", ""),
        "reduction": ("str | None", "halt"),
        "undo": ("bool | None", ""),
        "time_stamps": ("bool | None", ""),
        "frto": ("bool | None", ""),
        "idle_restart": ("bool | None", ""),
        "idle_decay": ("bool | None", ""),
        "delayed_ack": ("bool | None", ""),
        "ack_delay": ("str | None", "60 s"),
        "quick_acks": ("int | None", ""),
        "sack_compression": ("str | None", "60 s"),
        "ecn": ("bool | None", ""),
        "ecn_feedback": ("str | None", "classic"),
        "l4s": ("bool | None", ""),
        "initial_window": ("int | None", ""),
        "initial_rto": ("str | None", "60 s"),
        "min_rto": ("str | None", "60 s"),
        "rto_floor": ("str | None", "timeout"),
        "max_rto": ("str | None", "60 s"),
        "receive_window": ("str | None", "1500 B"),
        "receive_buffer": ("str | None", "1500 B"),
        "send_buffer": ("str | None", "1500 B"),
        "gso": ("bool | None", ""),
        "pacing": ("str | None", "off"),
        "unpaced": ("int | None", ""),
        "timer_slack": ("str | None", "60 s"),
        "app_limited": ("str | None", "at_end"),
        "handshake": ("bool | None", ""),
        "acks": ("str | None", "honest"),
        "header": ("str | None", "1500 B"),
    }

    def __init__(self, **keys: Unpack[TcpKeys]) -> None:
        super().__init__(keys)


class Quic(Part):
    """Flow control of QUIC (RFC 9000 §4), for flows with `stack`.

    All keys have defaults, those of quinn and noq.

    - `receive_window` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Receive window: how much the receiver lets
      the sender send beyond what it has read; a flow cannot exceed it per round-trip time. quinn and noq
      close a connection with more than 1024 gaps in its stream, which a window above what the path and its
      queue hold permits. Default: 1.25 MB.
    - `send_window` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Send window: how much the sender takes from
      its application beyond what is acknowledged. Default: eight times `receive_window`, from 10 MB to 1 GB.
    """

    KEYS: ClassVar = {
        "receive_window": ("str | None", "1500 B"),
        "send_window": ("str | None", "1500 B"),
    }

    def __init__(self, **keys: Unpack[QuicKeys]) -> None:
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
    - `reordering_window` (true or false): Once a packet was overtaken, a missing packet is waited for in time
      as well, a quarter longer than the longest time by which one came late, as in RACK (RFC 8985). Default:
      true.
    - `ecn` (true or false): Explicit congestion notification. Default: false.
    """

    KEYS: ClassVar = {
        "jitter": ("float | None", ""),
        "feedback": ("str | None", "1500 B"),
        "reorder": ("int | None", ""),
        "reordering_window": ("bool | None", ""),
        "ecn": ("bool | None", ""),
    }

    def __init__(self, **keys: Unpack[StreamKeys]) -> None:
        super().__init__(keys)
