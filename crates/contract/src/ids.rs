//! Ids: `u32` newtypes, so that ids of different kinds cannot be confused.

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// The data of one sender for one receiver or group.
    FlowId;
    /// A face of an NDN forwarder: its links first, in the order of ports, then the endpoints on its node.
    FaceId;
    /// A multicast group.
    GroupId;
    /// A queue of Interests in a link part of an NDN forwarder.
    InterestQueueId;
    /// A link between two nodes, both directions.
    LinkId;
    /// A prefix: a node of the tree of name components, see [`crate::Names`].
    NameId;
    /// A host or a router.
    NodeId;
    /// A slot of the packet arena.
    PacketId;
    /// The bytes of a packet of a real program, which the driver stores.
    PayloadId;
    /// An endpoint.
    EndpointId;
    /// A port of a node: a queue and one direction of a link.
    PortId;
}

/// The address of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Its node.
    pub node: NodeId,
    /// The endpoint.
    pub endpoint: EndpointId,
}

/// The destination of a packet: an endpoint, or a group. It takes eight bytes, because every packet contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    node: NodeId,
    endpoint_or_group: u32,
}

const GROUP: NodeId = NodeId(u32::MAX);
/// No node has this number, so that routing finds no route and the driver delivers the packet within the node.
const OWN_NODE: NodeId = NodeId(u32::MAX - 1);

impl Destination {
    /// All members of `group`.
    pub const fn group(group: GroupId) -> Self {
        Self { node: GROUP, endpoint_or_group: group.0 }
    }

    /// The state machine of the sender's own node.
    pub const fn own_node() -> Self {
        Self { node: OWN_NODE, endpoint_or_group: 0 }
    }

    /// Whether it is the state machine of the sender's own node.
    #[inline]
    pub fn is_own_node(self) -> bool {
        self.node == OWN_NODE
    }

    /// Whether it is an endpoint with an address: neither a group nor the state machine of the own node.
    #[inline]
    pub fn is_address(self) -> bool {
        self.node < OWN_NODE
    }

    /// The node, or `None` for a group.
    #[inline]
    pub fn node(self) -> Option<NodeId> {
        if self.node == GROUP { None } else { Some(self.node) }
    }

    /// The endpoint; `None` for a group.
    #[inline]
    pub fn endpoint(self) -> Option<EndpointId> {
        if self.node == GROUP { None } else { Some(EndpointId(self.endpoint_or_group)) }
    }

    /// The group; `None` for an endpoint.
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
