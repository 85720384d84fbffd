//! The result of a run: counters of flows, receivers and ports, series, events. It is append-only, and valid whenever
//! the run ends.

use contract::{DropReason, EndpointId, FlowId, Meter, NodeId, PortId};
use stack::app::{Exchange, Playback};
use stack::ndn;
use units::{Duration, Time};

use crate::delays::Delays;

/// Series that the engine measures, per interval: name, unit, subject, meaning.
pub const SERIES: &[(&str, &str, &str, &str)] = &[
    (
        "rate",
        "bps",
        "flow",
        "bits that the sender sent in the interval, headers included, per second; for a consumer of named data, of its Interests",
    ),
    (
        "throughput",
        "bps",
        "receiver",
        "bits that arrived at the receiver in the interval, headers included, per second",
    ),
    ("goodput", "bps", "receiver", "payload that arrived for the first time in the interval, per second"),
    (
        "owd",
        "s",
        "receiver",
        "mean one-way delay of the packets that arrived in the interval; of a consumer of named data, of Data; empty if none arrived",
    ),
    (
        "queueing_delay",
        "s",
        "receiver",
        "mean time that these packets waited in the queues of all links on their way; empty if none arrived",
    ),
    (
        "backlog",
        "packets",
        "port",
        "time average over the interval of the packets in the queue, the packet in transmission excluded",
    ),
    ("backlog_bytes", "bytes", "port", "time average over the interval of the bytes in the queue"),
    (
        "utilisation",
        "1",
        "port",
        "bits transmitted in the interval / bits that the link could have transmitted",
    ),
    (
        "drops",
        "packets",
        "port",
        "packets dropped there in the interval; those that a node drops, for lack of a route, are in no series",
    ),
    (
        "queue_marks",
        "packets",
        "port",
        "packets marked in the interval, by the queue or by the node as they left the queue",
    ),
];

/// Names of the events that record drops, by [`DropReason`]. Their value is the number of the flow, −1 for none.
pub const DROP_EVENTS: [&str; DropReason::ALL.len()] = [
    "dropped_queue_full",
    "dropped_early",
    "dropped_random_loss",
    "dropped_link_down",
    "dropped_no_route",
    "dropped_not_listening",
    "dropped_hop_limit",
    "dropped_policed",
    "dropped_corrupted",
];

/// Names of the events of ports that record the trees of multicast groups: from this sample on, a group's packets take
/// the direction of a link, or no longer do. Their value is the number of the flow.
pub const TREE_EVENTS: [&str; 2] = ["branch_added", "branch_removed"];

/// The record of one run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Digest of every event in order; equal runs have equal digests.
    pub hash: u64,
    /// When the run ended.
    pub ended_at: Time,
    /// Counters exclude the time before this.
    pub warmup: Time,
    /// Packets put on links.
    pub packet_hops: u64,
    /// Agenda entries handled.
    pub events_handled: u64,
    /// Per flow, by [`FlowId`].
    pub flows: Vec<FlowRecord>,
    /// Per application.
    pub apps: Vec<AppRecord>,
    /// Per receiver, flow by flow.
    pub receivers: Vec<ReceiverRecord>,
    /// Per node with a state machine: routers of the name-based network, its name resolution system, forwarders of
    /// named data, other nodes with an SDN agent, and the controller.
    pub nodes: Vec<NodeRecord>,
    /// Per port: link `i` forward at `2 i`, backward at `2 i + 1`.
    pub ports: Vec<PortRecord>,
    /// Per port, the distribution of the times that packets waited, if it was recorded.
    pub queueing_delays: Vec<Option<Box<Delays>>>,
    /// Series, each with its subject.
    pub series: Vec<SeriesRecord>,
    /// Events of endpoints, and drops if they are recorded; lost connections always.
    pub events: Vec<EventRecord>,
    /// Why connections were lost; the value of an event [`CONNECTION_LOST`] is an index.
    pub reasons: Vec<String>,
    /// Packets at the end of each link, and drops, if they are recorded; at most [`MAX_PACKETS`].
    pub packets: Vec<PacketRecord>,
    /// Conservation of packets.
    pub balance: Balance,
}

/// Name of the event that an end of a connection lost it.
pub const CONNECTION_LOST: &str = "connection_lost";

/// Maximum number of [`PacketRecord`]s of a run; later packets are not recorded.
pub const MAX_PACKETS: usize = 1_000_000;

/// A packet that reached the end of a link, or was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// When.
    pub at: Time,
    /// The port of the link; the port or node of a drop.
    pub place: Subject,
    /// Its flow; `None` for control messages.
    pub flow: Option<FlowId>,
    /// Size on the wire.
    pub size_bytes: u32,
    /// What it is, see [`contract::Header::name`].
    pub kind: &'static str,
    /// It is marked: congestion experienced.
    pub is_marked: bool,
    /// Why it was dropped; `None` if it reached the end of the link.
    pub dropped: Option<DropReason>,
}

/// Counters of a flow's sender after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct FlowRecord {
    /// Packets that the sender handed to the network.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets of the flow that were dropped anywhere in either direction, by [`DropReason`].
    pub drops: [u64; DropReason::ALL.len()],
    /// Of these, packets with data that the network dropped; [`DropReason::NotListening`] is no drop of the network.
    pub data_drops: u64,
    /// Packets that reached the sender: Data at a consumer, otherwise acknowledgements and feedback.
    pub arrived: Arrivals,
    /// Distribution of the times that Data waited which arrived at a consumer; `None` for other senders and in large
    /// networks, see [`crate::MANY_RECEIVERS`].
    pub waits: Option<Box<Delays>>,
    /// Counters of the sender itself.
    pub meter: Meter,
    /// Its first start.
    pub started_at: Option<Time>,
    /// Active time after the warm-up.
    pub active: Duration,
}

/// Packets that reached an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// Packets, without NACKs.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// NACKs.
    pub refused_packets: u64,
    /// Their bytes.
    pub refused_bytes: u64,
    /// Sum of one-way delays, in nanoseconds; for Data from the producer or store that answered.
    pub delay_sum_ns: u64,
    /// Sum of the times that the packets waited in queues on their way, in nanoseconds.
    pub wait_sum_ns: u64,
    /// Minimum one-way delay; [`Duration::MAX`] before the first packet.
    pub delay_min: Duration,
    /// Maximum one-way delay.
    pub delay_max: Duration,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            packets: 0,
            bytes: 0,
            refused_packets: 0,
            refused_bytes: 0,
            delay_sum_ns: 0,
            wait_sum_ns: 0,
            delay_min: Duration::MAX,
            delay_max: Duration::ZERO,
        }
    }
}

/// Counters of one receiver after the warm-up.
#[derive(Clone, Debug)]
pub struct ReceiverRecord {
    /// Its flow.
    pub flow: FlowId,
    /// Its node.
    pub node: NodeId,
    /// Its endpoint.
    pub endpoint: EndpointId,
    /// Packets that arrived.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of one-way delays, in nanoseconds.
    pub delay_sum_ns: u64,
    /// Sum of the times that the packets waited in queues on their way, in nanoseconds.
    pub wait_sum_ns: u64,
    /// Minimum one-way delay; [`Duration::MAX`] before the first packet.
    pub delay_min: Duration,
    /// Maximum one-way delay.
    pub delay_max: Duration,
    /// Distribution of the times that packets waited in all queues on their way; `None` in large networks, see
    /// [`crate::MANY_RECEIVERS`].
    pub waits: Option<Box<Delays>>,
    /// Counters of the receiver itself.
    pub meter: Meter,
    /// Time of membership after the warm-up.
    pub active: Duration,
}

/// Counters of a node with a state machine, after the warm-up.
#[derive(Clone, Debug)]
pub struct NodeRecord {
    /// The node.
    pub node: NodeId,
    /// Its role.
    pub role: NodeRole,
    /// Groups in its tables at the end of the run.
    pub groups: u64,
    /// Packets that it originated: signals and feedback, not forwarded packets.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that it forwarded to links: copies of group packets, Interests, Data and NACKs.
    pub forwarded_packets: u64,
    /// Counters of the state machine: feedback received and sent, signals sent, messages ignored.
    pub meter: Meter,
    /// Counters of a forwarder of named data.
    pub ndn: Option<ndn::Counters>,
}

/// The role of a node with a state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// A router of a name-based network.
    Router,
    /// The name resolution system.
    Resolver,
    /// A forwarder of named data.
    Forwarder,
    /// A node that forwards by address and has an SDN agent.
    Switch,
    /// The SDN controller.
    Controller,
}

/// Counters of one direction of a link, after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct PortRecord {
    /// Packets offered to the queue.
    pub offered_packets: u64,
    /// Packets transmitted.
    pub sent_packets: u64,
    /// Bytes transmitted.
    pub sent_bytes: u64,
    /// Packets marked.
    pub marked_packets: u64,
    /// Drops at this port, by [`DropReason`].
    pub drops: [u64; DropReason::ALL.len()],
    /// Integral of the waiting packets over time, in packet-nanoseconds.
    pub backlog_packet_ns: u128,
    /// Integral of the waiting bytes over time, in byte-nanoseconds.
    pub backlog_byte_ns: u128,
    /// Maximum number of waiting packets.
    pub backlog_max: u32,
    /// Bits that the link could have carried while up.
    pub capacity_bits: u128,
}

/// One value over time.
#[derive(Clone, Debug)]
pub struct SeriesRecord {
    /// Its subject.
    pub subject: Subject,
    /// Its name.
    pub name: &'static str,
    /// Ends of the intervals.
    pub times: Vec<Time>,
    /// The values.
    pub values: Vec<f64>,
}

/// The subject of a series or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A flow's sender.
    Flow(FlowId),
    /// A receiver, by index into [`Trace::receivers`].
    Receiver(u32),
    /// A port.
    Port(PortId),
    /// A node with a state machine.
    Node(NodeId),
}

/// An event of an endpoint or a node, or a drop.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// When it happened.
    pub at: Time,
    /// Its subject.
    pub subject: Subject,
    /// Its name.
    pub name: &'static str,
    /// Its value. If it identifies an endpoint, it is the [`EndpointId`]: compare [`ReceiverRecord::peer`].
    pub value: f64,
}

/// The record of an application, warm-up included.
#[derive(Clone, Debug, PartialEq)]
pub struct AppRecord {
    /// Its exchanges in the order of their start, unfinished ones included.
    pub exchanges: Vec<Exchange>,
    /// What was played, if it is a player.
    pub playback: Option<Playback>,
}

/// Conservation of packets over the whole run, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Packets that endpoints sent.
    pub sent: u64,
    /// Copies made by routers for the branches of trees, and by links that duplicate packets.
    pub copied: u64,
    /// Packets that reached an endpoint.
    pub delivered: u64,
    /// Packets dropped, for any reason.
    pub dropped: u64,
    /// Packets in flight.
    pub in_flight: u64,
}

impl Balance {
    /// Whether sent + copied = delivered + dropped + in flight.
    pub const fn holds(&self) -> bool {
        self.sent + self.copied == self.delivered + self.dropped + self.in_flight
    }
}
