//! The messages of a controller and its agents.

use units::Rate;

use crate::{NameId, NodeId, PortId};

/// Loads and occupancies are in millionths: a link whose offered traffic equals its capacity has this load.
pub const MILLION: u32 = 1_000_000;

/// A message between the controller and an agent over the southbound channel. Its sender is the packet's source, its
/// time the packet's `sent_at`. A numbered message has its number in the first word of the label; later commands have
/// larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Agent: the status of a port in the last period. The label has the first [`Share`](super::Share)s of its traffic.
    Status(Status),
    /// Agent, after a status with too many shares for one packet: more of them, `count` in the label.
    Shares {
        /// The port.
        port: PortId,
        /// Number of shares in this packet.
        count: u8,
    },
    /// Agent: the load of a port is above the threshold of the app.
    Signal {
        /// The port.
        port: PortId,
    },
    /// Controller: a command. Repeated until it is acknowledged.
    Command(Command),
    /// Agent: acknowledgement of the command with this number.
    Ack,
    /// Controller: start without state; request for the commands in force. Repeated until it is answered. Its number is
    /// the controller's time.
    Hello,
    /// Agent: one command in force.
    Installed(Command),
    /// Agent: the end of the answer. It repeats the number of the request, from which the controller computes the clock
    /// offset of the agent.
    StateComplete {
        /// Number of commands in force.
        installed: u32,
    },
}

/// The status of a port after a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The port.
    pub port: PortId,
    /// Present capacity of the link; zero if it is down.
    pub rate: Rate,
    /// Bytes offered to the queue in the period, including drops, relative to the capacity in the period, in
    /// millionths.
    pub load: u32,
    /// Present occupancy of the queue, in millionths of its limit.
    pub occupancy: u32,
    /// Present backlog in packets.
    pub backlog: u32,
    /// Total number of shares, in this packet and those that follow.
    pub shares: u16,
}

/// A command to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Interests under a prefix use these next hops, ordered by cost; the order of equal ones is kept. Other next hops
    /// of the node remain behind them.
    NextHops {
        /// The prefix.
        prefix: NameId,
        /// The next hops.
        hops: Hops,
    },
    /// Packets for a node use a port.
    Route {
        /// The destination.
        to: NodeId,
        /// The port.
        via: PortId,
    },
    /// Limit and marking threshold of a queue.
    Queue {
        /// The port.
        port: PortId,
        /// Queue limit in packets; `u32::MAX` keeps the limit.
        limit: u32,
        /// ECT packets are marked at this backlog or more; `u32::MAX` for never.
        mark_above: u32,
    },
    /// Rate limit of a port, below the capacity of its link.
    Cap {
        /// The port.
        port: PortId,
        /// The maximum rate; unlimited removes the limit.
        rate: Rate,
    },
}

/// The object of a command: a later command for the same object replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Next hops of a prefix.
    Prefix(NameId),
    /// The route to a node.
    Route(NodeId),
    /// The queue of a port.
    Queue(PortId),
    /// The rate limit of a port.
    Cap(PortId),
}

impl Command {
    /// The object of the command.
    pub const fn subject(&self) -> Subject {
        match *self {
            Self::NextHops { prefix, .. } => Subject::Prefix(prefix),
            Self::Route { to, .. } => Subject::Route(to),
            Self::Queue { port, .. } => Subject::Queue(port),
            Self::Cap { port, .. } => Subject::Cap(port),
        }
    }
}

/// A next hop in a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// The port.
    pub port: PortId,
    /// Cost of this next hop relative to others of the node; the unit is the app's.
    pub cost: u32,
}

/// Next hops of a command: at most [`Hops::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hops {
    /// Entries behind the last are marked as unused.
    list: [Hop; Self::MAX],
}

impl Hops {
    /// Maximum number of next hops in one command.
    pub const MAX: usize = 4;

    /// The first [`Hops::MAX`] of `hops`.
    pub fn new(hops: &[Hop]) -> Self {
        let mut list = [NO_HOP; Self::MAX];
        list.iter_mut().zip(hops).for_each(|(place, hop)| *place = *hop);
        Self { list }
    }

    /// The next hops.
    pub fn list(&self) -> &[Hop] {
        let count = self.list.iter().take_while(|hop| **hop != NO_HOP).count();
        &self.list[..count]
    }
}

const NO_HOP: Hop = Hop { port: PortId(u32::MAX), cost: u32::MAX };

/// A class of traffic at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Traffic {
    /// Data under a prefix of a producer.
    Prefix(NameId),
    /// Packets for a node.
    Node(NodeId),
}
