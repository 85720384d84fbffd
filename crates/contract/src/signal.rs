//! Signalling of a name-based network: joins, leaves, and locations of groups. Sources and members send signals to
//! their access router, routers to each other and to the name resolution system.

use crate::{Address, GroupId};

/// An entity's identifier: a group's is its globally unique multicast group identifier (GUMGID) [SRMCC §3.1].
///
/// It contains no location; the name resolution system maps it to network addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Eid(pub u64);

impl Eid {
    /// The identifier of the entity with this `name`: FNV-1a of its bytes, equal on every platform.
    pub const fn of(name: &str) -> Self {
        let bytes = name.as_bytes();
        let (mut hash, mut i) = (0xcbf2_9ce4_8422_2325_u64, 0);
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
            i += 1;
        }
        Self(hash)
    }
}

/// A tree node in the name resolution system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// The tree node's router.
    pub at: Address,
    /// Cost of the path from the source's access router to it, by the network's routing metric (nanoseconds of delay,
    /// or links), plus one for each tree node on the path.
    pub cost: u64,
}

/// Maximum number of tree nodes in one answer of the name resolution system.
pub const RESOLVED: usize = 2;

/// A signal of the name-based network. Routers process it; it is no data of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A source will send to the group through this access router. Repeated before it expires.
    Publish {
        /// The group.
        group: GroupId,
        /// Its name.
        gumgid: Eid,
    },
    /// The source stops.
    Unpublish {
        /// The group.
        group: GroupId,
    },
    /// The sender requests the group's packets. Repeated before it expires. Every router of the name-based network on
    /// the path intercepts it, with any destination.
    Join {
        /// The group.
        group: GroupId,
        /// Its name.
        gumgid: Eid,
    },
    /// The sender leaves the group.
    Leave {
        /// The group.
        group: GroupId,
    },
    /// Acknowledgement of `Publish` or `Join`.
    Accepted {
        /// The group.
        group: GroupId,
    },
    /// To the name resolution system: registration of this tree node for the group. Repeated before it expires.
    Register {
        /// The group's name.
        gumgid: Eid,
        /// The tree node, and the cost of its path.
        node: Registration,
    },
    /// To the name resolution system: the sender is no longer a tree node of the group.
    Withdraw {
        /// The group's name.
        gumgid: Eid,
    },
    /// To the name resolution system: request for the tree nodes of the group.
    Resolve {
        /// The group, by the number of the requester.
        group: GroupId,
        /// Its name.
        gumgid: Eid,
    },
    /// The answer: the first `count` of `nodes`.
    Resolved {
        /// The group, by the number of the requester.
        group: GroupId,
        /// Number of tree nodes, at most [`RESOLVED`].
        count: u8,
        /// The tree nodes, the nearest to the root first.
        nodes: [Registration; RESOLVED],
    },
    /// A member to its access router: request for back-to-back packets, by which it measures the capacity of its access
    /// link.
    Probe {
        /// The group.
        group: GroupId,
        /// Number of packets.
        packets: u8,
    },
    /// One of them.
    Probed {
        /// The group.
        group: GroupId,
        /// Its number, from 0.
        index: u8,
    },
}
