//! The record of every packet of a run: rows that a [`PacketLog`] takes while the run proceeds.
//!
//! What the columns mean is in `docs/reference/packet-record.md`.

use contract::{Address, DropReason, EndpointId, FlowId, Packet, PortId};
use units::Time;

use crate::trace::{NodeRole, Subject};

/// Takes the rows of a record. Instants are by true time.
pub trait PacketLog: Send {
    /// The endpoints and the state machines of nodes, by [`EndpointId`]. Called once, before all rows.
    fn begin(&mut self, endpoints: &[EndpointRow]);

    /// A packet that has ended, or is in the network at the end of the run.
    fn packet(&mut self, row: &PacketRow);

    /// A packet that has left a port, was dropped there, or is there or on its link at the end of the run.
    fn hop(&mut self, row: &HopRow);

    /// The change of a counter.
    fn meter(&mut self, row: &MeterRow);

    /// The change of an endpoint's or a link's activity.
    fn activity(&mut self, row: &ActivityRow);
}

/// An endpoint or the state machine of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointRow {
    /// Its address.
    pub address: Address,
    /// Its role.
    pub role: EndpointRole,
    /// The flow of a sender or receiver.
    pub flow: Option<FlowId>,
}

/// The role of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointRole {
    /// The sender of a flow; for named data, the consumer.
    Sender,
    /// A receiver of a flow.
    Receiver,
    /// A producer of named data.
    Producer,
    /// The state machine of a node.
    Node(NodeRole),
}

/// The life of a packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow {
    /// Its number, from 1; unique in the run.
    pub number: u64,
    /// The number of the packet that it is a copy of, 0 if that is not known; `None` if it was sent.
    pub copy_of: Option<u64>,
    /// The packet as it was at the end.
    pub packet: Packet,
    /// When the original was sent.
    pub sent_at: Time,
    /// When it was sent, or the copy made.
    pub created_at: Time,
    /// When it ended.
    pub ended_at: Option<Time>,
    /// How.
    pub end: PacketEnd,
}

/// The end of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEnd {
    /// An endpoint or the state machine of a node took it.
    Delivered(EndpointId),
    /// It was dropped at a port or a node.
    Dropped(DropReason, Subject),
    /// None: it is in the network at the end of the run.
    InFlight,
}

/// A packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopRow {
    /// Number of the packet.
    pub packet: u64,
    /// The port.
    pub port: PortId,
    /// When it was offered to the queue; `None` for a copy that the link made.
    pub offered_at: Option<Time>,
    /// When its transmission started.
    pub started_at: Option<Time>,
    /// When its last bit left, or will leave if its transmission has started.
    pub departed_at: Option<Time>,
    /// When it reached the other end of the link.
    pub arrived_at: Option<Time>,
    /// When and why it was dropped.
    pub dropped: Option<(Time, DropReason)>,
    /// When it was marked, by the queue or the node.
    pub marked_at: Option<Time>,
}

/// The change of a counter of an endpoint or of the state machine of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterRow {
    /// When.
    pub at: Time,
    /// Whose.
    pub endpoint: EndpointId,
    /// Its name.
    pub counter: &'static str,
    /// By how much, in the unit of the counter.
    pub change: i64,
    /// The number of samples that a sum of samples has more.
    pub samples: Option<u32>,
}

/// The start or stop of an endpoint, or the change of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivityRow {
    /// When.
    pub at: Time,
    /// What changes.
    pub subject: ActivitySubject,
    /// What happens.
    pub event: &'static str,
    /// The value of a link from now on.
    pub value: Option<i64>,
}

/// What starts, stops or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivitySubject {
    /// An endpoint.
    Endpoint(EndpointId),
    /// The link of a port.
    Port(PortId),
}
