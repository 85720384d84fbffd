//! The result of a run: counters of flows, receivers and ports, series, events. Append-only, and valid at any end of the run.

use contract::{DropReason, EndpointId, FlowId, Meter, NodeId, PortId};
use stack::ndn;
use units::{Duration, Time};

use crate::accounts::Delays;

/// Series that the engine measures itself, per interval: name, unit, subject, meaning.
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
    (
        "goodput",
        "bps",
        "receiver",
        "payload delivered in order for the first time in the interval, per second",
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
    ("drops", "packets", "port", "packets dropped in the interval"),
    (
        "queue_marks",
        "packets",
        "port",
        "packets marked in the interval, by the queue or by the node as they left the queue",
    ),
];

/// Names of the events that record drops, by [`DropReason`]: their value is the number of the flow, −1 for none.
pub const DROP_EVENTS: [&str; DropReason::ALL.len()] = [
    "dropped_queue_full",
    "dropped_early",
    "dropped_random_loss",
    "dropped_link_down",
    "dropped_no_route",
    "dropped_not_listening",
    "dropped_hop_limit",
];

/// The record of one run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Digest of every event in order: equal for equal runs.
    pub hash: u64,
    /// How far the run came.
    pub ended_at: Time,
    /// From here on counts go into the summaries.
    pub warmup: Time,
    /// Packets put on links.
    pub packet_hops: u64,
    /// Agenda entries handled.
    pub events_handled: u64,
    /// Per flow, by [`FlowId`].
    pub flows: Vec<FlowRecord>,
    /// Per receiver, flow by flow.
    pub receivers: Vec<ReceiverRecord>,
    /// Per node that does more than forward by address: routers of the name-based network, then its name resolution system, then
    /// forwarders of named data, other nodes with an agent of an SDN controller, and the controller.
    pub nodes: Vec<NodeRecord>,
    /// Per port: link `i` forward at `2 i`, backward at `2 i + 1`.
    pub ports: Vec<PortRecord>,
    /// Series, each with its subject.
    pub series: Vec<SeriesRecord>,
    /// Events that endpoints reported, and drops where they are recorded.
    pub events: Vec<EventRecord>,
    /// Where every packet went.
    pub balance: Balance,
}

/// Counters of a flow's sender. Counts are of the time after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct FlowRecord {
    /// Packets that the sender handed to the network.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets of the flow dropped anywhere, both directions, by [`DropReason`].
    pub drops: [u64; DropReason::ALL.len()],
    /// What reached the sender: Data where it is a consumer of named data, otherwise acknowledgements and feedback.
    pub arrived: Arrivals,
    /// How the one-way delays of what reached a consumer are distributed; none for other senders, and in plans of very many receivers.
    pub delays: Option<Box<Delays>>,
    /// What the sender reported of itself.
    pub meter: Meter,
    /// When it first started.
    pub started_at: Option<Time>,
    /// Time during which it was on, after the warm-up.
    pub active: Duration,
}

/// Packets that reached an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The part of them that is refusals.
    pub refused_bytes: u64,
    /// Sum of one-way delays, in nanoseconds; those of Data are from the producer or store that answered.
    pub delay_sum_ns: u64,
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
            refused_bytes: 0,
            delay_sum_ns: 0,
            delay_min: Duration::MAX,
            delay_max: Duration::ZERO,
        }
    }
}

/// Counters of one receiver. Counts are of the time after the warm-up.
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
    /// Minimum one-way delay; [`Duration::MAX`] before the first packet.
    pub delay_min: Duration,
    /// Maximum one-way delay.
    pub delay_max: Duration,
    /// How they are distributed; none in plans of very many receivers.
    pub delays: Option<Box<Delays>>,
    /// What the receiver reported of itself.
    pub meter: Meter,
    /// Time during which it was a member, after the warm-up.
    pub active: Duration,
}

/// Counters of a node that does more than forward by address. Counts are of the time after the warm-up.
#[derive(Clone, Debug)]
pub struct NodeRecord {
    /// The node.
    pub node: NodeId,
    /// What it does there.
    pub role: NodeRole,
    /// Groups in its tables at the end.
    pub groups: u64,
    /// Packets that it sent of itself: signals and feedback, not what it forwards.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that it forwarded to links: copies of groups' packets, Interests, Data and refusals.
    pub forwarded_packets: u64,
    /// What it counted: feedback received and sent, signals sent, messages ignored.
    pub meter: Meter,
    /// What a forwarder of named data counted.
    pub ndn: Option<ndn::Counters>,
}

/// What a node does beside forwarding by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// It routes by name and by address.
    Router,
    /// It is the name resolution system.
    Resolver,
    /// It forwards named data.
    Forwarder,
    /// It forwards by address, and an SDN controller has an agent there.
    Switch,
    /// It is the SDN controller.
    Controller,
}

/// Counters of one direction of a link. Counts are of the time after the warm-up.
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
    /// Drops, by [`DropReason`].
    pub drops: [u64; DropReason::ALL.len()],
    /// Integral over time of the packets waiting, in packet-nanoseconds.
    pub backlog_packet_ns: u128,
    /// Integral over time of the bytes waiting, in byte-nanoseconds.
    pub backlog_byte_ns: u128,
    /// Maximum number of packets that waited.
    pub backlog_max: u32,
    /// Bits that the link could have carried while up.
    pub capacity_bits: u128,
}

/// One value over time.
#[derive(Clone, Debug)]
pub struct SeriesRecord {
    /// Whose value.
    pub subject: Subject,
    /// Its name.
    pub name: &'static str,
    /// Ends of the intervals.
    pub times: Vec<Time>,
    /// The values.
    pub values: Vec<f64>,
}

/// Whom a series or an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A flow's sender.
    Flow(FlowId),
    /// A receiver, by index into [`Trace::receivers`].
    Receiver(u32),
    /// A port.
    Port(PortId),
    /// A router, or the name resolution system.
    Node(NodeId),
}

/// Something that an endpoint reported, or a drop.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// When.
    pub at: Time,
    /// By whom.
    pub subject: Subject,
    /// What.
    pub name: &'static str,
    /// With what number. Where it names an endpoint, its [`EndpointId`]: compare [`ReceiverRecord::peer`].
    pub value: f64,
}

/// Packet conservation over the whole run, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Packets that endpoints sent.
    pub sent: u64,
    /// Copies made by routers for the branches of trees.
    pub copied: u64,
    /// Packets that reached an endpoint.
    pub delivered: u64,
    /// Packets dropped, for any reason.
    pub dropped: u64,
    /// Packets still under way.
    pub in_flight: u64,
}

impl Balance {
    /// Sent and copied is delivered, dropped and in flight.
    pub const fn holds(&self) -> bool {
        self.sent + self.copied == self.delivered + self.dropped + self.in_flight
    }
}
