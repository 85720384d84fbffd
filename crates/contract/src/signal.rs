//! Signalling of a name-based network: joins, leaves, and locations of groups. Sources and members send signals to their access router, routers to
//! each other and to the name resolution system.

use crate::{Address, GroupId};

/// An entity's identifier: a group's is its globally unique multicast group identifier (GUMGID) [SRMCC §3.1].
///
/// It says what, never where; the name resolution system binds it to network addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Eid(pub u64);

impl Eid {
    /// The identifier of the entity called `name`: FNV-1a of its bytes, the same on every platform.
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

/// A tree node that the name resolution system knows of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// The tree node's router.
    pub at: Address,
    /// Cost of the path from the source's access router to it, by the network's routing metric (nanoseconds of delay, or
    /// links), and one more for each tree node that was joined on the way.
    pub cost: u64,
}

/// Maximum number of tree nodes in one answer of the name resolution system.
pub const RESOLVED: usize = 2;

/// A signal of the network. Routers interpret it; it is no flow's data.
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
    /// The sender of this wants the group's packets. Repeated before it expires. Every router of the name-based network on
    /// the way takes it, whomever it is addressed to.
    Join {
        /// The group.
        group: GroupId,
        /// Its name.
        gumgid: Eid,
    },
    /// The sender of this no longer wants them.
    Leave {
        /// The group.
        group: GroupId,
    },
    /// `Publish` or `Join` took effect here.
    Accepted {
        /// The group.
        group: GroupId,
    },
    /// To the name resolution system: this tree node has the group. Repeated before it expires.
    Register {
        /// The group's name.
        gumgid: Eid,
        /// The tree node, and what its path costs.
        node: Registration,
    },
    /// To the name resolution system: the sender of this has the group no longer.
    Withdraw {
        /// The group's name.
        gumgid: Eid,
    },
    /// To the name resolution system: where is the group?
    Resolve {
        /// The group, as the asker numbers it.
        group: GroupId,
        /// Its name.
        gumgid: Eid,
    },
    /// Its answer: the first `count` of `nodes`.
    Resolved {
        /// The group, as the asker numbers it.
        group: GroupId,
        /// How many tree nodes are known here, at most [`RESOLVED`].
        count: u8,
        /// They, the nearest to the root first.
        nodes: [Registration; RESOLVED],
    },
    /// A member to its access router: send me packets back to back, that I may measure my access link.
    Probe {
        /// The group.
        group: GroupId,
        /// How many.
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
