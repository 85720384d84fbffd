//! Ids: `u32` newtypes, so that ids of different kinds cannot be confused.

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// One sender's data for one receiver or group.
    FlowId;
    /// A face of an NDN forwarder: its links first, in the order of ports, then the endpoints on its node.
    FaceId;
    /// A multicast group.
    GroupId;
    /// A line of Interests that a link part of an NDN forwarder holds.
    LaneId;
    /// A wire between two nodes, both directions.
    LinkId;
    /// A prefix: a node of the tree of name components, see [`crate::Names`].
    NameId;
    /// A host or a router.
    NodeId;
    /// A slot of the packet arena.
    PacketId;
    /// The bytes of a packet of a real program, which the driver keeps.
    PayloadId;
    /// An endpoint.
    EndpointId;
    /// A node's way out: a queue and one direction of a link.
    PortId;
}

/// Where an endpoint lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The host.
    pub node: NodeId,
    /// The endpoint on it.
    pub endpoint: EndpointId,
}

/// Where a packet goes: an endpoint, or a group. Eight bytes, because every packet carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    node: NodeId,
    endpoint_or_group: u32,
}

const GROUP: NodeId = NodeId(u32::MAX);
/// No node has this number, so that routing finds no way and the driver hands the packet over on the spot.
const OWN_NODE: NodeId = NodeId(u32::MAX - 1);

impl Destination {
    /// To every member of `group`.
    pub const fn group(group: GroupId) -> Self {
        Self { node: GROUP, endpoint_or_group: group.0 }
    }

    /// To the state machine of the sender's own node.
    pub const fn own_node() -> Self {
        Self { node: OWN_NODE, endpoint_or_group: 0 }
    }

    /// Whether it is for the state machine of the sender's own node.
    #[inline]
    pub fn is_own_node(self) -> bool {
        self.node == OWN_NODE
    }

    /// The node, or `None` for a group.
    #[inline]
    pub fn node(self) -> Option<NodeId> {
        if self.node == GROUP { None } else { Some(self.node) }
    }

    /// The endpoint, where it is one.
    #[inline]
    pub fn endpoint(self) -> Option<EndpointId> {
        if self.node == GROUP { None } else { Some(EndpointId(self.endpoint_or_group)) }
    }

    /// The group, where it is one.
    #[inline]
    pub fn as_group(self) -> Option<GroupId> {
        if self.node == GROUP { Some(GroupId(self.endpoint_or_group)) } else { None }
    }
}

impl From<Address> for Destination {
    fn from(address: Address) -> Self {
        Self { node: address.node, endpoint_or_group: address.endpoint.0 }
    }
}
